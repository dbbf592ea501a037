import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { isDisabled } from "../config.ts";
import type { LiveReach } from "../core/change.ts";
import { KnackError } from "../core/errors.ts";
import { policy } from "../core/policy.ts";
import { several } from "../core/words.ts";
import { type Backtest, outOfTime } from "../engine/backtest.ts";
import type { Keeping, LeftOut, Suggestion } from "../engine/keep.ts";
import type { Learned } from "../engine/learn.ts";
import type { Settled } from "../engine/publish.ts";
import type { Step } from "../engine/step.ts";
import { type Knack, type KnackOptions, openKnack } from "../open.ts";
import { createThreadRedactor } from "../redaction/thread.ts";
import { replayAloud } from "./backtest.ts";
import { figuresOf } from "./backtest-on-wire.ts";
import { showExamples } from "./examples.ts";
import { judgedLines } from "./judged.ts";
import { askAll, canAsk, tellKeeping } from "./keep.ts";
import { learnedOnWire, type Writing, writingOf } from "./learned-on-wire.ts";
import { defineVerb, type Env, type Surroundings } from "./main.ts";
import { isWritten, tellOutcomes, tellSuggestion } from "./telling.ts";
import {
  calledAs,
  countingOn,
  type Paint,
  paintFor,
  printJson,
  printLines,
  progressOn,
  quoted,
} from "./terminal.ts";
import { transcripts } from "./transcripts.ts";

/** How `knack learn` and its like are told what to do. */
const learnArgs = {
  json: { type: "boolean", description: "print one JSON object; asks nothing" },
  "dry-run": { type: "boolean", description: "write nothing anywhere; say what would be" },
  yes: { type: "boolean", description: "keep what is suggested without asking" },
  where: { type: "string", description: "with --yes: me, repository or everywhere" },
} as const;

export const learn = defineVerb({
  about: "Find what is worth keeping in sessions, and keep what you say yes to.",
  args: {
    paths: {
      type: "positional",
      required: false,
      description: "files and folders to learn from (default: the agents' own folders)",
    },
    ...learnArgs,
    all: {
      type: "boolean",
      description: "read everything, however long it takes (default: a minute, newest first)",
    },
    "min-session-length": {
      type: "string",
      description: `learn from sessions with at least so many events (default: ${policy.learn.fewestEvents})`,
    },
    observer: { type: "string", description: "who looks: heuristic (rules alone) or model (a model judges)" },
    "model-dump": {
      type: "string",
      description: "write what a model would be asked into this folder, and send nothing",
    },
    "model-answers": {
      type: "string",
      description: "take a model's answers from this folder, and send nothing",
    },
    again: { type: "boolean", description: "look again at sessions in which nothing is new" },
  },
  run: async ({ args, ...surroundings }) => {
    if (args._.includes("")) throw new KnackError("WRONG_USAGE", "A path is empty.");
    const paths = args._.length > 0 ? args._ : null;
    // Whoever names sessions wants all of them.
    const boxed = paths === null && args.all !== true;
    const flags = {
      ...flagsOf(args),
      fewestEvents: fewestOf(args["min-session-length"]),
      looking: lookingOf(args),
    };
    return learnFrom(paths, flags, boxed ? timeBox(Date.now()) : noBox, surroundings);
  },
});

export interface LearnFlags {
  readonly json: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly where: LiveReach | null;
  /** How a person is told. */
  readonly print: (lines: readonly string[]) => void;
  readonly looking?: Looking;
}

/** Who looks at sessions, and at which. */
/** Before anything is read: who names a place that cannot be written hears of it at once. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    throw new KnackError("WRONG_USAGE", `Nothing can be written to ${folder}.`, {
      hint: "Name a folder that is yours, or one that is not there yet.",
      cause,
    });
  }
}

interface Looking {
  readonly again: boolean;
  readonly who: Pick<KnackOptions, "observer" | "modelDump" | "modelAnswers">;
}

function lookingOf(args: {
  readonly observer?: string | undefined;
  readonly "model-dump"?: string | undefined;
  readonly "model-answers"?: string | undefined;
  readonly again?: boolean | undefined;
}): Looking {
  const { observer, "model-dump": modelDump, "model-answers": modelAnswers } = args;
  for (const [flag, folder] of Object.entries({ "model-dump": modelDump, "model-answers": modelAnswers }))
    if (folder === "") throw new KnackError("WRONG_USAGE", `--${flag} needs a folder.`);
  if (modelAnswers !== undefined && modelAnswers !== modelDump && !existsSync(modelAnswers))
    throw new KnackError("WRONG_USAGE", `There is no folder ${modelAnswers}.`, {
      hint: "Answers are files named <id>.answer.json, for the requests that --model-dump writes.",
    });
  if (modelDump !== undefined) makeFolder(modelDump);
  if (observer === "heuristic" && (modelDump ?? modelAnswers) !== undefined)
    throw new KnackError(
      "WRONG_USAGE",
      "Rules alone ask no model, so there is nothing to write or to answer.",
      {
        hint: "Leave out --observer, or the folders.",
      },
    );
  const who = {
    ...(observer === undefined ? {} : { observer }),
    ...(modelDump === undefined ? {} : { modelDump }),
    ...(modelAnswers === undefined ? {} : { modelAnswers }),
  };
  return { again: args.again === true, who };
}

/** The flags, checked. */
export function flagsOf(args: {
  readonly json?: boolean | undefined;
  readonly "dry-run"?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly where?: string | undefined;
}): LearnFlags {
  return {
    json: args.json === true,
    dryRun: args["dry-run"] === true,
    yes: args.yes === true,
    where: whereOf(args.where),
    print: printLines,
  };
}

/** Where a person wants something. */
export function whereOf(word: string | undefined): LiveReach | null {
  if (word === undefined) return null;
  const found = (["me", "repository", "everywhere"] as const).find((one) => one === word);
  if (found) return found;
  throw new KnackError("WRONG_USAGE", `"${word}" is no place.`, {
    hint: "--where me, --where repository, or --where everywhere",
  });
}

/** How many events a session needs to be learned from. */
function fewestOf(word: string | undefined): number | undefined {
  if (word === undefined) return undefined;
  if (/^\d{1,9}$/.test(word)) return Number(word);
  throw new KnackError("WRONG_USAGE", `"${word}" is no number of events.`, {
    hint: `--min-session-length ${policy.learn.fewestEvents}, or another whole number`,
  });
}

/** Learns from these paths, or from all sessions of this machine, and asks what to keep. */
async function learnFrom(
  paths: readonly string[] | null,
  flags: LearnFlags & { readonly fewestEvents: number | undefined },
  box: Box,
  surroundings: Surroundings,
): Promise<number> {
  const { env, redactionThread } = surroundings;
  if (isDisabled(env)) return sayOff(flags);
  // Before anything is opened: a newcomer's home stays as it is.
  if (paths === null && transcripts(env).size === 0) return showExamples(flags, surroundings);
  const redactor = createThreadRedactor(redactionThread);
  const { looking = { again: false, who: {} } } = flags;
  const knack = await openKnack({ env, redactor, dryRun: flags.dryRun, ...looking.who });
  try {
    if (!flags.dryRun) await repairAloud(knack, env);
    const learned = await learnAloud(knack, paths, box, {
      fewestEvents: flags.fewestEvents,
      again: looking.again,
    });
    if (learned.sessions.length > 0) {
      const gained =
        paths === null
          ? await replayAloud(knack, learned.sessions, { until: box.look, stop: box.replay })
          : null;
      return await present(knack, learned, { paths, gained }, flags, env);
    }
    if (paths === null) return await showExamples(flags, surroundings);
    if (flags.json) printJson(learnedOnWire(learned, [], [], [], Date.now()));
    throw new KnackError("NOTHING_READABLE", `No session could be read in ${paths.join(", ")}.`, {
      hint: "Give transcripts of an agent, or folders that hold them; docs/agents.md has the formats.",
    });
  } finally {
    if (!flags.dryRun) await knack.renewSnapshot();
    await knack.close();
  }
}

function sayOff({ json }: LearnFlags): number {
  const off = "KNACK_DISABLE is set";
  if (json) printJson({ sessions: 0, findings: [], instincts: [], skills: [], skipped: [], off });
  else printLines([`Learning is off: ${off}. Nothing was read or written.`]);
  return 0;
}

/** Ends what a killed process began, and says so. */
export async function repairAloud(knack: Knack, env: Env): Promise<void> {
  const outcomes = await knack.repair();
  if (outcomes.length === 0) return;
  printLines(
    ["Ended what an interrupted run had begun:", ...tellOutcomes(outcomes, env), ""],
    process.stderr,
  );
}

/** When each part of the work gives way to the next, so that there is something to read within a minute. */
export interface Box {
  readonly read: () => boolean;
  readonly learn: () => boolean;
  readonly look: () => boolean;
  readonly replay: () => boolean;
}

const noBox: Box = { read: () => false, learn: () => false, look: () => false, replay: () => false };

export function timeBox(started: number): Box {
  const { box } = policy;
  const after = (ms: number) => () => Date.now() - started > ms;
  return { read: after(box.read), learn: after(box.learn), look: after(box.look), replay: after(box.replay) };
}

/** Reads and learns, with its progress on standard error. */
export async function learnAloud(
  knack: Knack,
  paths: readonly string[] | null,
  box: Box,
  {
    fewestEvents,
    again = false,
  }: { readonly fewestEvents?: number | undefined; readonly again?: boolean } = {},
): Promise<Learned> {
  const reading = progressOn(process.stderr);
  const looking = countingOn(process.stderr, "Looking for lessons in sessions");
  try {
    return await knack.learn(paths ?? undefined, {
      onProgress: reading.report,
      until: box.read,
      onLook: (done, all) => looking.report({ done, all }),
      lookUntil: box.learn,
      fewestEvents,
      again,
    });
  } finally {
    reading.end();
    looking.end();
  }
}

/** Shows what was learned and does what is said about it. */
export async function present(
  knack: Knack,
  learned: Learned,
  {
    paths,
    gained,
  }: {
    /** The sessions that were named; null for all of this machine. */
    readonly paths: readonly string[] | null;
    /** What this history would have gained from what it teaches. */
    readonly gained: Backtest | null;
  },
  flags: LearnFlags,
  env: Env,
): Promise<number> {
  const ids = new Set([
    ...learned.findings.map(({ instinct }) => instinct),
    ...learned.promoted.map(({ id }) => id),
  ]);
  // Who names sessions wants to hear what they teach, however long ago that was: nothing has faded at the start of time.
  const now = paths ? 0 : Date.now();
  const scope = paths ? { only: ids, now } : { now };
  const { suggestions, leftOut } = await knack.suggest(scope);
  const asking = !flags.json && !flags.yes && !flags.dryRun && canAsk();
  if (!flags.json) {
    flags.print([
      ...(gained ? gainedLines(gained, paintFor(process.stdout, env), env) : []),
      ...readingLines(learned, suggestions.length, leftOut, env),
    ]);
  }
  let writings: Writing[] = [];
  const refused: LeftOut[] = [];
  const asked = new Set(suggestions.map(({ instinct }) => instinct.id));
  if (asking) {
    const { left } = await askAll(knack, suggestions, env);
    if (!left) writings = await publishOwn(knack, { ...scope, asked, sessions: learned.sessions }, env, true);
  } else if (flags.dryRun) {
    writings = [
      ...(await wouldKeep(knack, suggestions, flags, env)),
      ...(await knack.planOwn({ ...scope, asked })).flatMap(({ plan }) =>
        plan.ok ? plan.steps.map(writingOf) : [],
      ),
    ];
  } else if (flags.yes) {
    for (const suggestion of suggestions) {
      const keeping = await keepAs(knack, suggestion, flags, env);
      if (keeping.kept) writings.push(...keeping.outcomes.filter(isOwn).map(writingOf));
      else refused.push({ what: suggestion.instinct.name, because: keeping.because });
    }
    writings.push(
      ...(await publishOwn(knack, { ...scope, asked, sessions: learned.sessions }, env, !flags.json)),
    );
  } else if (!flags.json) flags.print(listLines(suggestions, paths, flags, env));
  const folder = flags.looking?.who.modelDump;
  const requests = folder === undefined ? null : { folder, written: knack.requestsWritten() };
  if (requests && !flags.json) flags.print(requestLines(requests, paths, env));
  if (flags.json) {
    const instincts = (await knack.instincts()).filter(({ id }) => ids.has(id));
    const wire = learnedOnWire(
      learned,
      instincts,
      writings.filter(isWritten),
      [...leftOut, ...refused],
      Date.now(),
    );
    printJson({
      ...wire,
      ...(requests ? { requests } : {}),
      ...(gained ? { backtest: figuresOf(gained) } : {}),
    });
  }
  return 0;
}

/** A person's own numbers, in two lines. */
function gainedLines(gained: Backtest, paint: Paint, env: Env): string[] {
  const { failures, repeats, answered, sessions } = figuresOf(gained);
  if (failures === 0) return [];
  const late = gained.skipped.filter(({ because }) => because === outOfTime).length;
  const share = `${repeats} of ${several(failures, "failure")} ${repeats === 1 ? "was a repeat" : "were repeats"}`;
  const known = repeats === 0 ? "" : `; ${answered} had a known fix`;
  const within = late > 0 ? ` (in ${sessions} of your newest ${sessions + late} sessions)` : "";
  return [
    paint.bold(`${share}${known}${within}.`),
    paint.dim(`  Which, and what it would have saved: ${calledAs(env)} backtest`),
    "",
  ];
}

function readingLines(learned: Learned, count: number, leftOut: readonly LeftOut[], env: Env): string[] {
  const { sessions, looked, skipped, unread, unlooked, promoted } = learned;
  const projects = new Set(sessions.map(({ project }) => project.id)).size;
  const news = looked === sessions.length - skipped.length ? "" : `, ${looked} new or grown`;
  const isMore = ({ because }: LeftOut) => because.startsWith("more than");
  const more = leftOut.filter(isMore).length;
  return [
    `Read ${several(sessions.length, "session")} in ${several(projects, "project")}${news}.`,
    ...(unread + unlooked > 0 ? [leftLine(unread, unlooked, env)] : []),
    ...judgedLines(learned.judged, env),
    ...promoted.map(
      ({ name }) => `Told in every project from now on, since several have learned it: ${name}`,
    ),
    ...byReason(skipped).map(([because, times]) => `Passed over ${several(times, "session")}: ${because}`),
    ...byReason(leftOut.filter((one) => !isMore(one))).map(
      ([because, times]) => `Not suggested: ${several(times, "lesson")}, ${because}`,
    ),
    count === 0
      ? "Nothing to suggest: what they teach is kept, refused, or not sure enough yet."
      : `${several(count, "lesson")} worth keeping${more > 0 ? ` (${more} more after these)` : ""}:`,
    ...(count === 0 ? [`See everything that was noticed: ${calledAs(env)} instincts`] : [""]),
  ];
}

function leftLine(unread: number, unlooked: number, env: Env): string {
  const parts = [
    ...(unread > 0 ? [`${several(unread, "older transcript")} not read yet`] : []),
    ...(unlooked > 0 ? [`${several(unlooked, "session")} read but not looked through yet`] : []),
  ];
  return `${parts.join(", ")}: ${calledAs(env)} learn --all goes on.`;
}

/** How many were left out for each reason; where in a text it was, and like which other, is for `--json`. */
function byReason(leftOut: readonly LeftOut[]): [string, number][] {
  const times = new Map<string, number>();
  for (const { because } of leftOut) {
    const reason = because
      .replace(/^(it may not be written: .*) \([^)]*\)$/s, "$1")
      .replace(/^much like .*$/s, "much like another one");
    times.set(reason, (times.get(reason) ?? 0) + 1);
  }
  return [...times];
}

/** Whether this run did it: what another did at the same time is that one's news. */
function isOwn({ done, already }: Settled): boolean {
  return done && !already;
}

/** For a reader that cannot answer. */
function listLines(
  suggestions: readonly Suggestion[],
  paths: readonly string[] | null,
  flags: LearnFlags,
  env: Env,
): string[] {
  if (suggestions.length === 0) return [];
  const paint = paintFor(process.stdout, env);
  return [
    ...suggestions.flatMap((suggestion) => [...tellSuggestion(suggestion, paint, env), ""]),
    `${nothing(flags)} was written.`,
    `  keep all of these:  ${learnCall(paths, env)} --yes`,
    `  one by one:         run ${calledAs(env).replace(/ --$/, "")} in a terminal`,
  ];
}

/** What was not written: whoever has requests written has something. */
function nothing({ looking }: LearnFlags): string {
  return looking?.who.modelDump === undefined ? "Nothing" : "Nothing else";
}

function learnCall(paths: readonly string[] | null, env: Env): string {
  return [`${calledAs(env)} learn`, ...(paths ?? []).map(quoted)].join(" ");
}

/** What became of the requests that a model would get, and how they are answered. */
function requestLines(
  { folder, written }: { readonly folder: string; readonly written: number },
  paths: readonly string[] | null,
  env: Env,
): string[] {
  if (written === 0)
    return ["No requests to write: there is nothing in these sessions that a model has not judged."];
  return [
    `Wrote ${several(written, "request")} to ${folder}; put answers beside them as <id>.answer.json, then:`,
    `  ${learnCall(paths, env)} --model-answers ${quoted(folder)}`,
  ];
}

function reachFor({ reaches }: Suggestion, { where }: LearnFlags): LiveReach {
  return where ?? (reaches[0] as LiveReach);
}

async function keepAs(knack: Knack, suggestion: Suggestion, flags: LearnFlags, env: Env): Promise<Keeping> {
  const keeping = await knack.keep(suggestion.instinct, {
    reach: reachFor(suggestion, flags),
    actor: "person",
  });
  if (!flags.json) {
    const paint = paintFor(process.stdout, env);
    printLines([
      ...tellSuggestion(suggestion, paint, env, { preview: false }),
      ...tellKeeping(keeping, suggestion, env),
      "",
    ]);
  }
  return keeping;
}

/** What keeping the suggestions would write. */
async function wouldKeep(
  knack: Knack,
  suggestions: readonly Suggestion[],
  flags: LearnFlags,
  env: Env,
): Promise<Writing[]> {
  const paint = paintFor(process.stdout, env);
  const steps: Step[] = [];
  for (const suggestion of suggestions) {
    const reach = reachFor(suggestion, flags);
    const plan =
      reach === suggestion.reaches[0]
        ? suggestion.plan
        : await knack.plan(suggestion.instinct, { reach, actor: "person" });
    if (plan.ok) steps.push(...plan.steps);
    if (!flags.json)
      printLines([
        ...(plan.ok
          ? tellSuggestion({ ...suggestion, plan }, paint, env)
          : [
              ...tellSuggestion(suggestion, paint, env, { preview: false }),
              `  Would not be kept: ${plan.because}.`,
            ]),
        "",
      ]);
  }
  if (!flags.json && suggestions.length > 0) printLines([`${nothing(flags)} was written (--dry-run).`]);
  return steps.map(writingOf);
}

/** Writes what needs nobody's yes: drafts, and new evidence in what is kept. */
async function publishOwn(
  knack: Knack,
  options: Parameters<Knack["publishOwn"]>[0],
  env: Env,
  aloud: boolean,
): Promise<Writing[]> {
  const writings = (await knack.publishOwn(options)).filter(isWritten).map(writingOf);
  if (aloud && writings.length > 0) printLines(tellOwn(writings, env));
  return writings;
}

function tellOwn(writings: readonly Writing[], env: Env): string[] {
  const names = (of: readonly Writing[]) => of.map(({ change }) => change.name).join(", ");
  const proposals = writings.filter(({ change }) => change.proposal);
  const drafts = writings.filter(({ change }) => change.reach === "draft" && !change.proposal);
  const updated = writings.filter(({ change }) => change.reach !== "draft");
  return [
    ...(updated.length > 0 ? [`New evidence in ${names(updated)}.`] : []),
    ...proposals.map(
      ({ change: { name } }) =>
        `A proposal for a skill with your own words, which stays as it is: ${calledAs(env)} skills diff ${name}`,
    ),
    ...(drafts.length > 0
      ? [
          `Waiting as drafts, which agents are told of when they fit: ${names(drafts)}. Look: ${calledAs(env)} skills list`,
        ]
      : []),
  ];
}
