import { KnackError, messageIn } from "../core/errors.ts";
import { policy } from "../core/policy.ts";
import { failureIn, type Question, questionIn } from "../core/question.ts";
import type { Distance, Match, Sign } from "../core/recall.ts";
import { redact } from "../core/redact.ts";
import { several } from "../core/words.ts";
import type { InstinctEvidence } from "../engine/evidence.ts";
import type { Found } from "../engine/find.ts";
import type { Knack } from "../open.ts";
import { defineVerb, type Env } from "./main.ts";
import { withKnack } from "./opening.ts";
import { calledAs, day, iso, onOneLine, type Paint, paintFor, printJson, printLines } from "./terminal.ts";

export const recall = defineVerb({
  about: "What worked before, and which skill fits: for a failure, or for what you are about to do.",
  args: {
    text: { type: "positional", required: false, description: "what you are about to do, or a command" },
    error: { type: "boolean", description: "a failure: from --command and --output, or from standard input" },
    command: { type: "string", description: "the command that failed" },
    output: { type: "string", description: "what it printed" },
    "exit-code": { type: "string", description: "how it ended" },
    json: { type: "boolean", description: "print one JSON object" },
  },
  run: async ({ args, env }) => {
    const asked = args.error ? await askedOfError(args, args._) : askedOfText(args, args._);
    return withKnack(env, {}, async (knack) => {
      // A skill that was written a minute ago is there for who asks.
      if (asked.text !== null) await knack.stock({ cwd: process.cwd() });
      const started = performance.now();
      const matches = await knack.recall(asked.question);
      const found = asked.text === null ? [] : await knack.find(asked.text);
      const tookMs = performance.now() - started;
      if (args.json) printJson(onWire({ matches, found }, asked, tookMs));
      else printLines(await tell(knack, { matches, found }, asked, env));
      return matches.length + found.length > 0 ? 0 : 1;
    });
  },
});

interface Flags {
  readonly command?: string | undefined;
  readonly output?: string | undefined;
  readonly "exit-code"?: string | undefined;
}

interface Asked {
  readonly question: Question;
  /** What was recognised in it, in a line. */
  readonly about: string;
  /** What somebody is about to do, which the library may have something for; null for a failure. */
  readonly text: string | null;
}

interface Answers {
  readonly matches: readonly Match[];
  readonly found: readonly Found[];
}

function askedOfText(flags: Flags, words: readonly string[]): Asked {
  if (flags.command !== undefined || flags.output !== undefined)
    throw new KnackError("WRONG_USAGE", "--command and --output go with --error.", { hint: usage });
  const text = redact(words.join(" ").trim());
  if (text === "")
    throw new KnackError("WRONG_USAGE", "knack recall needs something to look for.", { hint: usage });
  return { question: questionIn(text), about: text, text };
}

const usage =
  'knack recall "run the tests", or: some-command 2>&1 | knack recall --error --command some-command';

async function askedOfError(flags: Flags, words: readonly string[]): Promise<Asked> {
  if (words.length > 0)
    throw new KnackError("WRONG_USAGE", `knack recall --error takes no "${words.join(" ")}".`, {
      hint: usage,
    });
  const exitCode = exitCodeOf(flags["exit-code"]);
  // As what is known was read, without secrets; and once it is shortened to its gist, no secret would be recognised.
  const { command, output } = withoutSecrets(await failureOf(flags));
  if (output.trim() === "" && command === null)
    throw new KnackError("WRONG_USAGE", "There is no failure to look for: nothing was given.", {
      hint: usage,
    });
  const question = failureIn(command, output, exitCode);
  const { head, signature } = question.symptom;
  return { question, about: [head, signature].filter((part) => part !== "").join(": "), text: null };
}

interface Failed {
  readonly command: string | null;
  readonly output: string;
}

function withoutSecrets({ command, output }: Failed): Failed {
  // A longer command is a script, of which nothing is known by its words.
  const short = command !== null && command.length < policy.keep.eventChars;
  return { command: short ? redact(command) : null, output: redact(output) };
}

function exitCodeOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw new KnackError("WRONG_USAGE", `"${text}" is no exit code.`);
}

async function failureOf({
  command = null,
  output,
}: {
  command?: string | null | undefined;
  output?: string | undefined;
}): Promise<Failed> {
  if (output !== undefined) return { command, output };
  const input = await standardInput();
  if (command !== null) return { command, output: input };
  // As a terminal shows it: the command after its prompt sign, then what it printed.
  const [first = "", ...rest] = input.trimStart().split("\n");
  const [sign = ""] = promptSign.exec(first.slice(0, signChars)) ?? [];
  const typed = first.slice(sign.length);
  return sign === "" || typed.trim() === ""
    ? { command: null, output: input }
    : { command: typed, output: rest.join("\n") };
}

/** `$ `, `dev@box:~/app$ `, `dev@box ~/app % `, `PS C:\\app> `. */
const promptSign =
  /^(?:(?:PS )?(?:[\w.-]+@[\w.-]+[: ]?)?(?:(?:[~/]|[A-Za-z]:\\)[^\s$%#>❯]*)? ?|\S{1,60})[$%#>❯] /;

/** Characters within which it stands. */
const signChars = 300;

async function standardInput(): Promise<string> {
  if (process.stdin.isTTY)
    throw new KnackError("WRONG_USAGE", "The failure is read from standard input, or from --output.", {
      hint: usage,
    });
  // Not all at once: what fails may take its time before it does.
  const parts: Buffer[] = [];
  try {
    for await (const part of process.stdin) parts.push(part as Buffer);
  } catch (cause) {
    const why = messageIn(cause);
    throw new KnackError("WRONG_USAGE", `Standard input cannot be read: ${why}.`, { hint: usage, cause });
  }
  return Buffer.concat(parts).toString("utf8");
}

/** The object that `knack recall --json` prints. */
function onWire({ matches, found }: Answers, { about }: Asked, tookMs: number) {
  return {
    matches: matches.map((match) => ({
      kind: match.kind,
      name: match.instinct.name,
      lesson: redact(match.best.finding.lesson),
      score: match.score,
      load: match.load,
      why: why(match),
      evidence: match.from.map(({ session, finding, at }) => ({
        session: redact(session),
        ref: finding.refs[0],
        at: iso(at),
      })),
      id: match.instinct.id,
      action: redact(match.best.finding.action),
      failed: textOrNull(match.best.finding.excerpt.failed),
      worked: textOrNull(match.best.finding.excerpt.worked),
      distance: match.distance,
      sessions: match.instinct.standing.sessions,
    })),
    skills: found.map(({ card, how, chance, why }) => ({
      kind: card.kind,
      name: card.name,
      description: redact(card.description),
      how,
      chance: Math.round(chance * 1_000) / 1_000,
      why: redact(why),
      path: card.path,
      draft: card.draft,
      id: card.id,
    })),
    gap: matches.length + found.length === 0 ? redact(about) : null,
    tookMs: Math.round(tookMs * 1_000) / 1_000,
  };
}

function textOrNull(text: string | null): string | null {
  return text === null ? null : redact(text);
}

const signs: Record<Sign, string> = {
  error: "the same error",
  call: "the same call failed before",
  words: "it speaks of the same",
};
const distances: Record<Distance, string> = {
  here: "in this project",
  anywhere: "on this machine",
  elsewhere: "in another of your projects",
};

function why({ by, distance, from, instinct }: Match): string {
  const { sessions } = instinct.standing;
  const last = Math.max(...from.map(({ at }) => at));
  return `${signs[by]}, ${distances[distance]}, in ${several(sessions, "session")}, last on ${day(last)}`;
}

async function tell(knack: Knack, answers: Answers, { about }: Asked, env: Env): Promise<string[]> {
  const { matches, found } = answers;
  const paint = paintFor(process.stdout, env);
  if (matches.length + found.length === 0) {
    const none = (await knack.instincts()).length === 0;
    return [
      `Nothing known about: ${onOneLine(redact(about), 160)}`,
      ...(none ? [`Nothing was learned yet. ${calledAs(env)} learn reads your agents' sessions.`] : []),
    ];
  }
  const told: string[] = [];
  for (const match of matches)
    told.push(...tellMatch(match, await knack.evidence(match.instinct), paint), "");
  for (const one of found) told.push(...tellFound(one, paint), "");
  return told.slice(0, -1);
}

function tellFound({ card, how, chance, why }: Found, paint: Paint): string[] {
  const sure = `${Math.round(chance * 100)} % sure, ${how === "load" ? "an agent would be given it whole" : "an agent would be told of it"}`;
  return [
    `${paint.bold(card.name)}  ${paint.dim(`${card.draft ? "draft " : ""}${card.kind}, ${sure}`)}`,
    `  ${onOneLine(redact(card.description), 400)}`,
    `  Why: ${onOneLine(redact(why), 300)}`,
    paint.dim(`  ${card.path}`),
  ];
}

function tellMatch(match: Match, { uses }: InstinctEvidence, paint: Paint): string[] {
  const { best, instinct, score, from } = match;
  const { lesson, excerpt } = best.finding;
  const line = (label: string, text: string | null) =>
    text === null ? [] : [`    ${label} ${onOneLine(redact(text), 200)}`];
  const [ok, failed] = [sum(uses.map((use) => use.ok)), sum(uses.map((use) => use.failed))];
  return [
    `${paint.bold(onOneLine(redact(best.finding.action), 200))}  ${paint.dim(`${Math.round(score * 100)} % sure, ${instinct.name}`)}`,
    `  ${onOneLine(redact(lesson), 400)}`,
    ...line("failed:", excerpt.failed),
    ...line("  with:", excerpt.error),
    ...line("worked:", excerpt.worked),
    ...line("  said:", excerpt.said),
    `  Why: ${why(match)}`,
    ...(ok + failed > 0
      ? [`  Since then its advice was followed ${times(ok + failed)}: ${ok} ok, ${failed} failed`]
      : []),
    ...from
      .slice(-shownEvidence)
      .reverse()
      .map(({ at, session, finding }) =>
        paint.dim(`  ${day(at)}  ${onOneLine(redact(session), 160)}  ${finding.refs[0]}`),
      ),
  ];
}

/** Pieces of evidence that are shown with an answer, the latest first. */
const shownEvidence = 3;

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
