import { errorMessage } from "../../base/index.ts";
import { explainDoubt } from "../../lessons/index.ts";
import type { Knack } from "../../open.ts";
import type { FoundItem } from "../../search/index.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import { arg, defineCommand, wrongUsage } from "../command.ts";
import { withKnack } from "../knack.ts";
import { describeExcerpt } from "../screen/lesson.ts";
import type { Screen } from "../screen/screen.ts";
import { formatDay, type Lines, oneLine } from "../screen/text.ts";
import { readInput } from "../select.ts";

export const recall = defineCommand({
  about: "Show what worked before and which skill fits: for a failure, or for what you are about to do.",
  args: {
    text: arg.words("what you are about to do, or a command"),
    error: arg.flag("look up a failure: --command and --output, or standard input"),
    command: arg.option("the command that failed"),
    output: arg.option("what it printed"),
    "exit-code": arg.option("its exit code"),
    ...arg.json,
  },
  run: async (call) => {
    const { args, screen } = call;
    const asked = args.error ? await parseFailure(args, args._) : parseText(args, args._);
    return withKnack(call, async (knack) => {
      // A skill that was written a minute ago should be found.
      if (asked.text !== null) await knack.stock({ cwd: process.cwd() });
      const started = performance.now();
      const { matches, about } = await knack.recall(asked.text ?? asked.failure);
      const found = asked.text === null ? [] : await knack.find(asked.text);
      const pages = asked.text === null ? [] : await knack.findPages(asked.text);
      const tookMs = round(performance.now() - started);
      const session = call.env.KNACK_SESSION ?? call.env.CLAUDE_CODE_SESSION_ID;
      // Only what an agent looks for is a fact about its session.
      if (session)
        await knack.noteSearch(session, await knack.projectOf(process.cwd()), {
          ...{ by: "recall", query: about },
          found: [
            ...matches.map(({ lesson }) => lesson.name),
            ...found.map(({ card }) => card.name),
            ...pages.map(({ page }) => page),
          ],
        });
      const isKnown = matches.length + found.length + pages.length > 0;
      return call.answer(
        {
          matches: matches.map(matchJson),
          skills: found.map(({ card, how, chance, why }) => {
            const { kind, name, description, path, draft, id } = card;
            return { kind, name, description, how, chance: round(chance), why, path, draft, id };
          }),
          pages: pages.map(({ page, topic, score, why }) => ({ page, topic, chance: round(score), why })),
          gap: isKnown ? null : about,
          tookMs,
        },
        args.json ? [] : await describeAnswer(knack, { matches, found, pages }, about, screen),
        isKnown ? 0 : 1,
      );
    });
  },
});

// --- What is looked up ---

interface RecallArgs {
  readonly command?: string | undefined;
  readonly output?: string | undefined;
  readonly "exit-code"?: string | undefined;
}

type Recalled = Awaited<ReturnType<Knack["recall"]>>;
type RecalledMatch = Recalled["matches"][number];

/** A task for which the library may have a skill; or a command that failed. */
type RecallQuestion =
  | { readonly text: string }
  | { readonly text: null; readonly failure: Exclude<Parameters<Knack["recall"]>[0], string> };

const usage =
  'knack recall "run the tests", or: some-command 2>&1 | knack recall --error --command some-command';

function parseText({ command, output }: RecallArgs, typed: readonly string[]): RecallQuestion {
  if (command !== undefined || output !== undefined)
    throw wrongUsage("--command and --output need --error.", usage);
  const text = redact(typed.join(" ").trim());
  if (text === "") throw wrongUsage("knack recall needs a text to look up.", usage);
  return { text };
}

/** A longer command is a script, which is not compared by its words. */
const longestCommand = 5_000;

async function parseFailure(args: RecallArgs, typed: readonly string[]): Promise<RecallQuestion> {
  if (typed.length > 0)
    throw wrongUsage(`knack recall --error takes no text, got "${typed.join(" ")}".`, usage);
  const code = args["exit-code"];
  if (code !== undefined && !/^\d{1,3}$/.test(code))
    throw wrongUsage(`Invalid --exit-code "${code}".`, "Use a number from 0 to 999.");
  const failed = await readFailure(args);
  // Redacted like the transcripts that lessons come from; shortened text would hide a secret from the redaction.
  const command = failed.command && failed.command.length < longestCommand ? redact(failed.command) : null;
  const output = redact(failed.output);
  if (output.trim() === "" && command === null)
    throw wrongUsage("There is no failure to look up: the input is empty.", usage);
  return { text: null, failure: { command, output, exitCode: code === undefined ? null : Number(code) } };
}

async function readFailure({ command, output }: RecallArgs) {
  if (output !== undefined) return { command: command ?? null, output };
  const input = await readPiped();
  if (command !== undefined) return { command, output: input };
  // As a terminal shows it: the command after its prompt sign, then what it printed.
  const [first = "", ...rest] = input.trimStart().split("\n");
  const [sign = ""] = promptSign.exec(first.slice(0, longestSign)) ?? [];
  const typed = first.slice(sign.length);
  return sign === "" || typed.trim() === ""
    ? { command: null, output: input }
    : { command: typed, output: rest.join("\n") };
}

/** `$ `, `dev@box:~/app$ `, `dev@box ~/app % `, `PS C:\\app> `. */
const promptSign =
  /^(?:(?:PS )?(?:[\w.-]+@[\w.-]+[: ]?)?(?:(?:[~/]|[A-Za-z]:\\)[^\s$%#>❯]*)? ?|\S{1,60})[$%#>❯] /;
const longestSign = 300;

async function readPiped(): Promise<string> {
  if (process.stdin.isTTY)
    throw wrongUsage("Pipe the failure to standard input, or give it with --output.", usage);
  try {
    return await readInput();
  } catch (cause) {
    throw wrongUsage(`Cannot read standard input: ${errorMessage(cause)}.`, usage, cause);
  }
}

// --- What is known ---

function matchJson(match: RecalledMatch) {
  const { kind, lesson, best, score, load, distance, from } = match;
  const { action, excerpt } = best.finding;
  return {
    ...{ kind, name: lesson.name, lesson: best.finding.lesson, score, load, why: describeReason(match) },
    evidence: from.map(({ session, finding, at }) => ({ session, ref: finding.refs[0], at })),
    ...{ id: lesson.id, action, failed: excerpt.failed, worked: excerpt.worked, distance },
    sessions: lesson.state.sessions,
    doubt: best.finding.doubt ?? null,
  };
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

const signs: Record<RecalledMatch["by"], string> = {
  error: "the same error",
  call: "the same call failed before",
  words: "about the same thing",
};
const distances: Record<RecalledMatch["distance"], string> = {
  here: "in this project",
  anywhere: "on this machine",
  elsewhere: "in another of your projects",
};

function describeReason({ by, distance, from, lesson }: RecalledMatch): string {
  const last = Math.max(...from.map(({ at }) => at));
  return `${signs[by]}, ${distances[distance]}, in ${several(lesson.state.sessions, "session")}, last on ${formatDay(last)}`;
}

interface Answers {
  readonly matches: readonly RecalledMatch[];
  readonly found: readonly FoundItem[];
  readonly pages: Awaited<ReturnType<Knack["findPages"]>>;
}

async function describeAnswer(
  knack: Knack,
  { matches, found, pages }: Answers,
  about: string,
  screen: Screen,
): Promise<Lines> {
  const parts: Lines[] = [];
  for (const match of matches) {
    const { uses } = await knack.evidence(match.lesson);
    parts.push(describeMatch(match, uses, screen));
  }
  parts.push(...found.map((one) => describeFound(one, screen)));
  parts.push(...pages.map((one) => describePage(one, screen)));
  if (parts.length > 0) return parts.map((lines, at) => [at > 0 && "", lines]);
  const isNew = (await knack.lessons()).length === 0;
  return [
    `Nothing known about: ${oneLine(about, 160)}`,
    isNew && `Knack has no lessons yet. ${screen.knack} learn reads your agents' sessions.`,
  ];
}

function describePage({ page, score, why }: Answers["pages"][number], screen: Screen): Lines {
  return [
    `${screen.bold(page)}  ${screen.dim(`page, ${Math.round(score * 100)} % sure`)}`,
    `  Why: ${oneLine(why, 300)}`,
    screen.dim(`  ${screen.knack} pages show ${page}`),
  ];
}

function describeFound({ card, how, chance, why }: FoundItem, screen: Screen): Lines {
  const given = how === "load" ? "an agent would be given all of it" : "an agent would be told its name";
  const facts = `${card.draft ? "draft " : ""}${card.kind}, ${Math.round(chance * 100)} % sure, ${given}`;
  return [
    `${screen.bold(card.name)}  ${screen.dim(facts)}`,
    `  ${oneLine(card.description, 400)}`,
    `  Why: ${oneLine(why, 300)}`,
    screen.dim(`  ${screen.path(card.path)}`),
  ];
}

/** Pieces of evidence shown with an answer, the latest first. */
const shownEvidence = 3;

function describeMatch(
  match: RecalledMatch,
  uses: readonly Readonly<Record<"ok" | "failed", number>>[],
  screen: Screen,
): Lines {
  const { best, lesson, score, from } = match;
  const ok = uses.reduce((sum, use) => sum + use.ok, 0);
  const failed = uses.reduce((sum, use) => sum + use.failed, 0);
  const doubt = explainDoubt(best.finding);
  return [
    `${screen.bold(oneLine(best.finding.action, 200))}  ${screen.dim(`${Math.round(score * 100)} % sure, ${lesson.name}`)}`,
    `  ${oneLine(best.finding.lesson, 400)}`,
    describeExcerpt(best.finding, "    ", 200),
    `  Why: ${describeReason(match)}`,
    doubt !== null &&
      lesson.state.acceptedAt === undefined &&
      `  Agents are not told before you keep it (${screen.knack} lessons keep ${lesson.id}): ${oneLine(doubt, 200)}`,
    ok + failed > 0 &&
      `  Since then its advice was followed ${several(ok + failed, "time")}: ${ok} worked, ${failed} failed`,
    from
      .slice(-shownEvidence)
      .reverse()
      .map(({ at, session, finding }) =>
        screen.dim(`  ${formatDay(at)}  ${oneLine(screen.path(session), 160)}  ${finding.refs[0]}`),
      ),
  ];
}
