import { KnackError } from "../../base/index.ts";
import type { Lesson } from "../../records/index.ts";
import type { SignedEntry } from "../../store/index.ts";
import { several } from "../../text/index.ts";
import { arg, type CommandCall, defineCommand, wrongUsage } from "../command.ts";
import { withKnack } from "../knack.ts";
import { notDone } from "../screen/changes.ts";
import { type Lines, oneLine } from "../screen/text.ts";
import { findNamed, matchesProject, nameProjects } from "../select.ts";
import type { OpenCall } from "../subcommands.ts";

const args = {
  words: arg.words("lessons and skills, by id or name; without words: what you share"),
  in: arg.option("all kept lessons of projects whose name or id contains this"),
  undo: arg.flag("take back what you share"),
  later: arg.flag("put it down for the next sync, and do not connect now"),
  ...arg.dryRun,
  ...arg.json,
};

type ShareCall = OpenCall<CommandCall<typeof args>>;

export const share = defineCommand({
  about: "Share lessons that you kept, and learned skills, with your team. --dry-run shows every byte.",
  args,
  run: (call: CommandCall<typeof args>) => {
    const words = call.args._;
    const isList = words.length === 0 && call.args.in === undefined;
    if (isList && call.args.undo)
      throw wrongUsage("knack share --undo takes the lesson.", "knack share lists them.");
    const run = isList ? listShares : call.args.undo ? takeBack : shareNamed;
    return withKnack(call, (knack) => run({ ...call, knack }), { dryRun: false });
  },
});

async function listShares(call: ShareCall): Promise<number> {
  const { knack, screen } = call;
  const shared = await knack.sharedThings();
  const lessons = new Map((await knack.lessons()).map((lesson) => [lesson.id as string, lesson]));
  const things = [...shared].map(([thing, share]) => ({
    thing,
    share,
    says: lessons.get(thing)?.lesson ?? thing,
  }));
  return call.answer({ shared: things }, [
    things.length === 0
      ? ["You share nothing yet.", `  ${screen.knack} share <lesson>; ${screen.knack} lessons lists them.`]
      : things.map(({ thing, says }) => `${thing}  ${oneLine(says, 160)}`),
    things.length > 0 && ["", `Take one back: ${screen.knack} share --undo <id>`],
  ]);
}

async function shareNamed(call: ShareCall): Promise<number> {
  const { knack, screen, dryRun } = call;
  const { lessons, skills } = await chooseThings(call);
  const plan = await knack.planShare(lessons, skills);
  const left = plan.left.map(({ name, because }) => `Not shared: ${oneLine(name, 60)}: ${because}.`);
  if (plan.shares.length === 0) {
    const because = left.length > 0 ? "nothing of it can be shared" : "no kept lesson matches";
    return call.refuse({ done: false, because, entries: [], left: plan.left }, [
      notDone(because),
      left.map((line) => `  ${line}`),
      left.some((line) => line.includes("not kept")) && `  Keep it first: ${screen.knack} lessons keep <id>`,
    ]);
  }
  if (dryRun)
    return call.answer({ done: false, entries: plan.entries, left: plan.left }, [
      describeEntries(plan.entries, knack.teamAddress().shown),
      left,
      "Nothing was sent (--dry-run).",
    ]);
  await knack.shareThings(plan);
  const problem = call.args.later ? "it was put down for later" : await trySync(call);
  return call.answer({ done: true, sent: problem === null, entries: plan.entries, left: plan.left }, [
    plan.shares.map(({ name }) => `Shared ${oneLine(name, 80)}.`),
    left,
    problem !== null && `It is sent with the next sync: ${problem}`,
    `To take it back: ${screen.knack} share --undo ${plan.shares[0]?.thing}`,
  ]);
}

async function takeBack(call: ShareCall): Promise<number> {
  const { knack, dryRun } = call;
  const shared = await knack.sharedThings();
  const { lessons, skills } = await chooseThings(call);
  const things = [...lessons.map(({ id }) => id as string), ...skills.map((name) => `skill ${name}`)];
  const meant = things.filter((thing) => shared.has(thing));
  if (meant.length === 0)
    return call.refuse({ done: false, withdrawn: [] }, [
      notDone("you do not share it"),
      "  knack share lists what you share.",
    ]);
  if (!dryRun) await knack.unshareThings(meant);
  const problem = dryRun || call.args.later ? null : await trySync(call);
  return call.answer({ done: !dryRun, withdrawn: meant }, [
    `${dryRun ? "Would take back" : "Took back"} ${several(meant.length, "share")}. Each machine takes it away with its next sync.`,
    problem !== null && `The team learns of it with the next sync: ${problem}`,
  ]);
}

/** Syncs at once; where that fails, what was put down waits. */
async function trySync({ knack }: ShareCall): Promise<string | null> {
  try {
    return (await knack.syncTeam()).busy ? "another process is syncing." : null;
  } catch (error) {
    if (error instanceof KnackError) return error.message;
    throw error;
  }
}

async function chooseThings(call: ShareCall): Promise<{ lessons: Lesson[]; skills: string[] }> {
  const { knack, args: given } = call;
  const lessons: Lesson[] = [];
  const skills: string[] = [];
  if (given.in !== undefined) {
    const nameProject = await nameProjects(knack);
    const isMeant = ({ project, state }: Lesson) =>
      state.acceptedAt !== undefined && matchesProject(given.in, nameProject(project), project);
    lessons.push(...(await knack.lessons()).filter(isMeant));
  }
  for (const word of given._) {
    const { kept, lesson, name } = await findNamed(knack, word);
    const isSkill = kept.some((one) => one.kind === "skill" && one.reach !== "draft" && one.name === word);
    // A lesson goes as what it says; the package that was made of it here, only by the package's own name.
    if (isSkill && lesson?.name !== word) skills.push(name);
    else if (lesson) lessons.push(lesson);
  }
  return { lessons, skills };
}

/** Entries exactly as they are sent. */
export function describeEntries(entries: readonly SignedEntry[], where: string): Lines {
  const bytes = entries.reduce(
    (sum, { id, content, signature }) => sum + Buffer.byteLength(id + content + signature),
    0,
  );
  return [
    `Would send ${several(entries.length, "entry", "entries")} to ${where}, ${bytes} bytes:`,
    "",
    entries.map(({ id, content, signature }) => [
      `id         ${id}`,
      `content    ${content}`,
      `signature  ${signature}`,
      "",
    ]),
  ];
}
