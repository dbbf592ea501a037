import { errorMessage } from "../../base/index.ts";
import type { LessonEvidence, Question } from "../../lessons/index.ts";
import type { Knack } from "../../open.ts";
import {
  type Distance,
  type LessonMatch,
  type MatchedBy,
  readCommandFailure,
  readQuestion,
} from "../../recall/index.ts";
import type { FoundItem } from "../../search/index.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import { defineCommand, jsonArg, wrongUsage } from "../command.ts";
import { withKnack } from "../knack.ts";
import { describeExcerpt } from "../screen/lesson.ts";
import type { Screen } from "../screen/screen.ts";
import { formatDay, iso, oneLine } from "../screen/text.ts";
import { readInput } from "../select.ts";

export const recall = defineCommand({
  about: "Show what worked before and which skill fits: for a failure, or for what you are about to do.",
  args: {
    text: { type: "positional", required: false, description: "what you are about to do, or a command" },
    error: { type: "boolean", description: "look up a failure: --command and --output, or standard input" },
    command: { type: "string", description: "the command that failed" },
    output: { type: "string", description: "what it printed" },
    "exit-code": { type: "string", description: "its exit code" },
    ...jsonArg,
  },
  more: [
    "Examples:",
    '  knack recall "publish the package"',
    '  npm test 2>&1 | knack recall --error --command "npm test"',
  ],
  run: async (call) => {
    const { args, screen } = call;
    const asked = args.error ? await parseFailure(args, args._) : parseText(args, args._);
    return withKnack(call, async (knack) => {
      // A skill that was written a minute ago should be found.
      if (asked.text !== null) await knack.stock({ cwd: process.cwd() });
      const started = performance.now();
      const matches = await knack.recall(asked.question);
      const found = asked.text === null ? [] : await knack.find(asked.text);
      const tookMs = performance.now() - started;
      const lines = args.json ? [] : await describeAnswer(knack, matches, found, asked, screen);
      return call.answer(
        answerJson(matches, found, asked, tookMs),
        lines,
        matches.length + found.length > 0 ? 0 : 1,
      );
    });
  },
});

interface RecallArgs {
  readonly command?: string | undefined;
  readonly output?: string | undefined;
  readonly "exit-code"?: string | undefined;
}

interface RecallQuestion {
  readonly question: Question;
  /** What was recognised in it, on one line. */
  readonly about: string;
  /** What somebody is about to do, which the library may have a skill for; null for a failure. */
  readonly text: string | null;
}

const usage =
  'knack recall "run the tests", or: some-command 2>&1 | knack recall --error --command some-command';

function parseText({ command, output }: RecallArgs, words: readonly string[]): RecallQuestion {
  if (command !== undefined || output !== undefined)
    throw wrongUsage("--command and --output need --error.", usage);
  const text = redact(words.join(" ").trim());
  if (text === "") throw wrongUsage("knack recall needs a text to look up.", usage);
  return { question: readQuestion(text), about: text, text };
}

interface FailedCommand {
  readonly command: string | null;
  readonly output: string;
}

async function parseFailure(args: RecallArgs, words: readonly string[]): Promise<RecallQuestion> {
  if (words.length > 0)
    throw wrongUsage(`knack recall --error takes no text, got "${words.join(" ")}".`, usage);
  const exitCode = parseExitCode(args["exit-code"]);
  // Redacted like the transcripts that lessons come from; shortened text would hide a secret from the redaction.
  const { command, output } = redactFailure(await readFailure(args));
  if (output.trim() === "" && command === null)
    throw wrongUsage("There is no failure to look up: the input is empty.", usage);
  const question = readCommandFailure(command, output, exitCode);
  const { head, signature } = question.symptom;
  return { question, about: [head, signature].filter((part) => part !== "").join(": "), text: null };
}

/** A longer command is a script, which is not compared by its words. */
const longestCommand = 5_000;

function redactFailure({ command, output }: FailedCommand): FailedCommand {
  const isShort = command !== null && command.length < longestCommand;
  return { command: isShort ? redact(command) : null, output: redact(output) };
}

function parseExitCode(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw wrongUsage(`Invalid --exit-code "${text}".`, "Use a number from 0 to 999.");
}

async function readFailure({ command, output }: RecallArgs): Promise<FailedCommand> {
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

/** The object that `knack recall --json` prints. */
function answerJson(
  matches: readonly LessonMatch[],
  found: readonly FoundItem[],
  { about }: RecallQuestion,
  tookMs: number,
) {
  const clean = (text: string | null) => (text === null ? null : redact(text));
  const round = (value: number) => Math.round(value * 1_000) / 1_000;
  return {
    matches: matches.map((match) => ({
      kind: match.kind,
      name: match.lesson.name,
      lesson: redact(match.best.finding.lesson),
      score: match.score,
      load: match.load,
      why: describeReason(match),
      evidence: match.from.map(({ session, finding, at }) => ({
        session: redact(session),
        ref: finding.refs[0],
        at: iso(at),
      })),
      id: match.lesson.id,
      action: redact(match.best.finding.action),
      failed: clean(match.best.finding.excerpt.failed),
      worked: clean(match.best.finding.excerpt.worked),
      distance: match.distance,
      sessions: match.lesson.state.sessions,
    })),
    skills: found.map(({ card, how, chance, why }) => ({
      kind: card.kind,
      name: card.name,
      description: redact(card.description),
      how,
      chance: round(chance),
      why: redact(why),
      path: card.path,
      draft: card.draft,
      id: card.id,
    })),
    gap: matches.length + found.length === 0 ? redact(about) : null,
    tookMs: round(tookMs),
  };
}

const signs: Record<MatchedBy, string> = {
  error: "the same error",
  call: "the same call failed before",
  words: "about the same thing",
};
const distances: Record<Distance, string> = {
  here: "in this project",
  anywhere: "on this machine",
  elsewhere: "in another of your projects",
};

function describeReason({ by, distance, from, lesson }: LessonMatch): string {
  const last = Math.max(...from.map(({ at }) => at));
  return `${signs[by]}, ${distances[distance]}, in ${several(lesson.state.sessions, "session")}, last on ${formatDay(last)}`;
}

async function describeAnswer(
  knack: Knack,
  matches: readonly LessonMatch[],
  found: readonly FoundItem[],
  { about }: RecallQuestion,
  screen: Screen,
): Promise<string[]> {
  if (matches.length + found.length === 0) {
    const isNew = (await knack.lessons()).length === 0;
    return [
      `Nothing known about: ${oneLine(about, 160)}`,
      ...(isNew ? [`Knack has no lessons yet. ${screen.knack} learn reads your agents' sessions.`] : []),
    ];
  }
  const parts: string[][] = [];
  for (const match of matches) parts.push(describeMatch(match, await knack.evidence(match.lesson), screen));
  parts.push(...found.map((one) => describeFound(one, screen)));
  return parts.flatMap((lines, at) => (at === 0 ? lines : ["", ...lines]));
}

function describeFound({ card, how, chance, why }: FoundItem, screen: Screen): string[] {
  const sure = `${Math.round(chance * 100)} % sure, ${how === "load" ? "an agent would be given all of it" : "an agent would be told its name"}`;
  return [
    `${screen.bold(card.name)}  ${screen.dim(`${card.draft ? "draft " : ""}${card.kind}, ${sure}`)}`,
    `  ${oneLine(card.description, 400)}`,
    `  Why: ${oneLine(why, 300)}`,
    screen.dim(`  ${card.path}`),
  ];
}

/** Pieces of evidence shown with an answer, the latest first. */
const shownEvidence = 3;

function describeMatch(match: LessonMatch, { uses }: LessonEvidence, screen: Screen): string[] {
  const { best, lesson, score, from } = match;
  const ok = uses.reduce((sum, use) => sum + use.ok, 0);
  const failed = uses.reduce((sum, use) => sum + use.failed, 0);
  return [
    `${screen.bold(oneLine(best.finding.action, 200))}  ${screen.dim(`${Math.round(score * 100)} % sure, ${lesson.name}`)}`,
    `  ${oneLine(best.finding.lesson, 400)}`,
    ...describeExcerpt(best.finding, "    ", 200),
    `  Why: ${describeReason(match)}`,
    ...(ok + failed > 0
      ? [
          `  Since then its advice was followed ${several(ok + failed, "time")}: ${ok} worked, ${failed} failed`,
        ]
      : []),
    ...from
      .slice(-shownEvidence)
      .reverse()
      .map(({ at, session, finding }) =>
        screen.dim(`  ${formatDay(at)}  ${oneLine(session, 160)}  ${finding.refs[0]}`),
      ),
  ];
}
