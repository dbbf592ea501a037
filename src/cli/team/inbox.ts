import { describeShare, type ReceivedShare } from "../../team/index.ts";
import { type AnyCall, unknownName, wrongUsage } from "../command.ts";
import { describeExcerpt } from "../screen/lesson.ts";
import { joinParts, type Lines, oneLine } from "../screen/text.ts";
import { matchesId } from "../select.ts";
import type { OpenCall } from "../subcommands.ts";

/** Things that are listed without --json, those that helped most people first. */
const mostListed = 20;

/** What waits for the person's decision, with everything that they may want to know first. */
export async function listInbox(call: OpenCall): Promise<number> {
  const { knack, screen } = call;
  const waiting = (await knack.received())
    .filter(({ status }) => status === "waiting")
    .sort((a, b) => rateShare(b) - rateShare(a) || a.sharedAt - b.sharedAt);
  const more = waiting.slice(mostListed);
  return call.answer({ waiting: waiting.map(shareJson) }, [
    waiting.length === 0 && "Nothing of others waits for your decision.",
    waiting.slice(0, mostListed).map((one) => [showShare(call, one), ""]),
    more.length > 0 &&
      `and ${more.length} more, from ${oneLine([...new Set(more.flatMap(({ by }) => by))].join(", "), 100)}: ${screen.knack} team inbox --json`,
    waiting.length > 0 &&
      `Accept: ${screen.knack} team accept <id>, or @member for all of theirs. Reject: ${screen.knack} team reject <id>`,
  ]);
}

function rateShare({ helpedPeople, yes, no }: ReceivedShare): number {
  return helpedPeople + yes.length - no.length;
}

function shareJson({ evidence, consent, ...share }: ReceivedShare) {
  return { ...share, evidence, waits: consent.because };
}

function showShare({ screen }: AnyCall, share: ReceivedShare): Lines {
  const { id, kind, name, says, by, replaces, evidence, opposed, consent } = share;
  return [
    `${screen.bold(id)}  ${oneLine(says, 300)}`,
    screen.dim(
      `  ${joinParts(", ", [
        `${kind} ${oneLine(name, 60)}`,
        `from ${oneLine(by.join(" and "), 80)}`,
        ...describeShare(share).map((words) => oneLine(words, 80)),
      ])}`,
    ),
    replaces !== null && `  in place of: ${oneLine(replaces, 160)}`,
    evidence && describeExcerpt({ excerpt: evidence }, "  ", 160),
    opposed.map(
      ({ id: other, says: text, by: whose }) =>
        `  the opposite of ${whose === null ? "yours" : `what ${oneLine(whose, 40)} shares`}: ${oneLine(text, 160)} (${other})`,
    ),
    consent.because !== "each person decides" && screen.dim(`  waits: ${oneLine(consent.because, 160)}`),
  ];
}

/** Accepts some of what waits, or all that a member shares now and later. What says the opposite here is rejected. */
export async function acceptShares(call: OpenCall, words: string): Promise<number> {
  const { knack, screen, dryRun } = call;
  const { chosen, authors } = await chooseShares(call, words);
  const skills = chosen.filter(({ kind }) => kind === "skill");
  const lessons = chosen.filter(({ kind }) => kind === "lesson");
  const rejected: string[] = [];
  if (!dryRun) {
    for (const { id } of authors) await knack.decideAuthor(id, "accepted");
    await knack.decideImports(
      lessons.map(({ id }) => id),
      "accepted",
    );
    for (const { id } of lessons)
      for (const one of await knack.rejectOpposed({ id })) rejected.push(one.lesson);
  }
  const done = dryRun ? "Would accept" : "Accepted";
  return call.answer(
    { done: !dryRun, accepted: lessons.map(({ id }) => id), authors: authors.map(({ id }) => id) },
    [
      lessons.map(({ says }) => `${done}: ${oneLine(says, 160)}`),
      rejected.map((says) => `Rejected, because it says the opposite: ${oneLine(says, 160)}`),
      authors.map(
        ({ name }) => `What ${name} shares from now on is accepted too, unless something speaks against it.`,
      ),
      skills.map(
        ({ name }) => `A skill is accepted by itself: ${screen.knack} skills accept ${oneLine(name, 60)}`,
      ),
      dryRun ? "Nothing was changed (--dry-run)." : lessons.length > 0 && "Agents are told from now on.",
    ],
  );
}

export async function rejectShares(call: OpenCall, words: string): Promise<number> {
  const { knack, dryRun } = call;
  const { chosen, authors } = await chooseShares(call, words, ["waiting", "accepted"]);
  if (!dryRun) {
    for (const { id } of authors) await knack.decideAuthor(id, "rejected");
    await knack.decideImports(
      chosen.map(({ id }) => id),
      "rejected",
    );
  }
  return call.answer(
    { done: !dryRun, rejected: chosen.map(({ id }) => id), authors: authors.map(({ id }) => id) },
    [
      chosen.map(({ says }) => `${dryRun ? "Would reject" : "Rejected"}: ${oneLine(says, 160)}`),
      authors.map(({ name }) => `Nothing of ${name} is offered to you any more.`),
    ],
  );
}

/** From now on each thing of a member is put to the person. */
export async function askAuthor(call: OpenCall, words: string): Promise<number> {
  const { authors } = await chooseShares(call, words);
  if (authors.length === 0)
    throw wrongUsage("knack team ask takes @ with a member's name.", "knack team ask @ana");
  if (!call.dryRun) for (const { id } of authors) await call.knack.decideAuthor(id, "asked");
  return call.answer(
    { done: !call.dryRun, authors: authors.map(({ id }) => id) },
    authors.map(({ name }) => `What ${name} shares is put to you, one by one.`),
  );
}

async function chooseShares(
  { knack }: OpenCall,
  words: string,
  open: readonly ReceivedShare["status"][] = ["waiting"],
) {
  const received = (await knack.received()).filter(({ status }) => open.includes(status));
  const members = knack.team()?.members ?? [];
  const chosen: ReceivedShare[] = [];
  const authors: typeof members = [];
  for (const word of words.split(" ")) {
    if (word.startsWith("@")) {
      const member = members.find(({ id, name }) => `@${id}` === word || `@${name}` === word);
      if (!member)
        throw unknownName(
          `No member is called "${word.slice(1)}".`,
          `Members: ${members.map(({ name }) => name).join(", ")}`,
        );
      authors.push(member);
      chosen.push(...received.filter(({ by }) => by.includes(member.name)));
      continue;
    }
    const found = received.filter(({ id, name }) => matchesId(id, word) || name === word);
    const [first] = found;
    if (first === undefined || found.length > 1)
      throw unknownName(
        `"${word}" is the name of ${found.length} things that came from the team.`,
        "knack team inbox lists what waits.",
      );
    chosen.push(first);
  }
  return { chosen: [...new Set(chosen)], authors };
}
