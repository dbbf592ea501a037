import { accessSync, constants, existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KnackError } from "../../base/index.ts";
import type { Learned } from "../../learning/index.ts";
import type { ChangeOutcome, LeftOut, PublishedItem, Suggestion } from "../../library/index.ts";
import type { Knack, KnackOptions } from "../../open.ts";
import type { Backtest } from "../../recall/index.ts";
import type { Change, Lesson, LiveReach } from "../../records/index.ts";
import { isDisabled } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import { type AnyCall, arg, defineCommand, wrongUsage } from "../command.ts";
import { withKnack } from "../knack.ts";
import { changeJson, isNews } from "../screen/changes.ts";
import {
  describeKeeping,
  describeNoReply,
  describeSuggestion,
  findingJson,
  judgedJson,
  lessonJson,
} from "../screen/lesson.ts";
import {
  type CliEnv,
  canAsk,
  createScreen,
  type Screen,
  showCounting,
  showReading,
} from "../screen/screen.ts";
import { countReasons, type Lines, quotePath, textLines } from "../screen/text.ts";
import { parsePaths, parseWhere } from "../select.ts";
import { describeNoSessions, listTranscripts, noReadableSession } from "../transcript-files.ts";
import { computeFigures } from "./backtest.ts";
import { askAboutLessons } from "./keep.ts";

export const learn = defineCommand({
  about: "Find lessons in your agents' sessions, and keep the ones you say yes to.",
  args: {
    paths: arg.words("files and folders to learn from (default: the agents' own folders)"),
    json: arg.flag("print one JSON object; ask nothing"),
    ...arg.dryRun,
    yes: arg.flag("keep every suggested lesson without asking"),
    where: arg.option("with --yes: keep them for me, repository or everywhere"),
    all: arg.flag("read everything, however long it takes (default: one minute, newest first)"),
    "min-session-length": arg.option("skip sessions with fewer events (default: 10)"),
    observer: arg.option(
      "who judges: heuristic (rules alone) or model (a model judges what the rules found)",
    ),
    "model-dump": arg.option("write the requests to a model into this folder instead of sending them"),
    "model-answers": arg.option("read a model's answers from this folder instead of asking one"),
    again: arg.flag("also look through sessions with nothing new"),
  },
  more: [
    "Examples:",
    "  knack learn",
    "  knack learn ~/.codex/sessions --yes --where me",
    "  knack learn --json --dry-run",
  ],
  run: async (call) => {
    const { args, env, wantsJson, screen } = call;
    const paths = parsePaths(args._);
    const options = {
      paths,
      yes: args.yes === true,
      where: parseWhere(args.where),
      modelDump: args["model-dump"] ?? null,
      print: wantsJson ? () => {} : screen.print,
    };
    const looking = {
      fewestEvents: parseEventCount(args["min-session-length"]),
      again: args.again === true,
    };
    const models = parseModelOptions(args.observer, args["model-dump"], args["model-answers"]);
    if (isDisabled(env)) return answerDisabled(call);
    // Checked before anything is opened, so that a newcomer's home stays as it is.
    if (paths === null && listTranscripts(env).size === 0) return showExamples(call);
    // Named sessions are all learned from.
    const box = timeBox(paths === null && args.all !== true);
    return withKnack(
      call,
      async (knack) => {
        try {
          const learned = await learnAloud(knack, paths, box, looking);
          if (learned.sessions.length === 0) {
            if (paths === null) return await showExamples(call);
            if (wantsJson) screen.json(learnedJson(learned, [], [], []));
            throw noReadableSession(paths);
          }
          const replaying = showCounting("Replaying sessions");
          const limits = { until: box("replay"), stop: box("end"), onProgress: replaying.report };
          const replayed =
            paths === null ? await knack.backtest(learned.sessions, limits).finally(replaying.end) : null;
          return await presentLearned({ ...options, call, knack, replayed }, learned);
        } finally {
          if (!call.dryRun) await knack.renewSnapshot();
        }
      },
      { create: true, reads: true, ...models },
    );
  },
});

function answerDisabled(call: AnyCall): number {
  const off = "KNACK_DISABLE is set";
  return call.answer({ sessions: 0, findings: [], lessons: [], skills: [], skipped: [], off }, [
    `Learning is off: ${off}. Nothing was read or written.`,
  ]);
}

function parseEventCount(word: string | undefined): number | undefined {
  if (word === undefined || /^\d{1,9}$/.test(word)) return word === undefined ? undefined : Number(word);
  throw wrongUsage(
    `Invalid --min-session-length "${word}".`,
    "Use a number of events: --min-session-length 10",
  );
}

function parseModelOptions(
  observer: string | undefined,
  modelDump: string | undefined,
  modelAnswers: string | undefined,
): Pick<KnackOptions, "observer" | "modelDump" | "modelAnswers"> {
  if (modelDump === "" || modelAnswers === "")
    throw wrongUsage("--model-dump and --model-answers need a folder.");
  if (modelAnswers !== undefined && modelAnswers !== modelDump && !existsSync(modelAnswers))
    throw wrongUsage(
      `There is no folder ${modelAnswers}.`,
      "It should contain answers named <id>.answer.json, for the requests that --model-dump writes.",
    );
  if (modelDump !== undefined) makeFolder(modelDump);
  const given = Object.entries({ observer, modelDump, modelAnswers }).filter(
    ([, word]) => word !== undefined,
  );
  return Object.fromEntries(given);
}

/** Made before anything is read, so that a folder that cannot be written is reported at once. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    throw wrongUsage(`Cannot write to ${folder}.`, "Choose a folder that you own, or a new one.", cause);
  }
}

// --- Reading and learning ---

/** Seconds after which each part of the work stops for the next one, so that there is something to read in a minute. */
const seconds = { read: 15, learn: 30, replay: 36, end: 46 };

type TimeBox = (part: keyof typeof seconds) => () => boolean;

function timeBox(isLimited: boolean): TimeBox {
  const started = Date.now();
  return (part) => () => isLimited && Date.now() - started > seconds[part] * 1_000;
}

async function learnAloud(
  knack: Knack,
  paths: readonly string[] | null,
  box = timeBox(true),
  options: { readonly fewestEvents?: number | undefined; readonly again?: boolean } = {},
): Promise<Learned> {
  const reading = showReading();
  const looking = showCounting("Looking for lessons in sessions");
  try {
    return await knack.learn(paths ?? undefined, {
      onProgress: reading.report,
      until: box("read"),
      onLook: looking.report,
      lookUntil: box("learn"),
      ...options,
    });
  } finally {
    reading.end();
    looking.end();
  }
}

/** Learns for `knack init` and reports the result; a failure is reported and does not stop the setup. */
export async function learnRecent(call: AnyCall, paths: readonly string[]): Promise<Learned | null> {
  const { screen, wantsJson } = call;
  const learnNow = async (knack: Knack) => {
    const learned = await learnAloud(knack, paths);
    const { sessions, findings } = learned;
    await knack.publishOwn({ sessions });
    const { length } = (await knack.suggest({ most: Number.POSITIVE_INFINITY })).suggestions;
    if (!wantsJson)
      screen.print([
        `Learned from ${several(sessions.length, "session")}: ${several(findings.length, "finding")}.`,
        describeUnread(learned, screen),
        length > 0 && `${several(length, "lesson")} worth keeping. To go through them: ${screen.knack} learn`,
        "",
      ]);
    return learned;
  };
  try {
    return await withKnack(call, learnNow, { create: true, reads: true, changes: true });
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    screen.warn([`Learning failed: ${error.message}`, error.hint && `  ${error.hint}`]);
    return null;
  }
}

// --- What was learned, and what becomes of it ---

/** One run of learning: what it works with, and how its suggestions are kept. */
interface LearnRun {
  readonly call: AnyCall;
  readonly knack: Knack;
  /** The paths that were named; null for this machine's sessions. */
  readonly paths: readonly string[] | null;
  readonly replayed: Backtest | null;
  readonly yes: boolean;
  readonly where: LiveReach | null;
  /** The folder that requests to a model are written to. */
  readonly modelDump: string | null;
  readonly print: (lines: Lines) => void;
  /** Fields that --json has besides. */
  readonly json?: object;
}

/** Shows what was learned, and keeps what the person says yes to. */
export async function presentLearned(run: LearnRun, learned: Learned): Promise<number> {
  const { call, knack, paths, replayed, modelDump: folder, print } = run;
  const { screen } = call;
  const ids = new Set<string>([
    ...learned.findings.map(({ lessonId }) => lessonId),
    ...learned.promoted.map(({ id }) => id),
  ]);
  // Lessons of named sessions count however old they are: at time 0 nothing has faded.
  const scope = paths ? { only: ids, now: 0 } : { now: Date.now() };
  const { suggestions, leftOut } = await knack.suggest(scope);
  print([
    replayed && describeReplay(replayed, screen),
    describeReading(learned, suggestions.length, leftOut, screen),
  ]);
  const { changes, refused, mayPublish } = await keepSuggestions(run, suggestions);
  // Drafts, and new evidence in kept items, need no approval.
  const own = { ...scope, asked: new Set(suggestions.map(({ lesson }) => lesson.id)) };
  if (call.dryRun)
    for (const { plan } of await knack.planOwn(own)) changes.push(...(plan.ok ? plan.steps : []));
  else if (mayPublish) {
    const outcomes = await knack.publishOwn({ ...own, sessions: learned.sessions });
    changes.push(...outcomes);
    print(describeOwn(toChanges(outcomes), screen));
  }
  const requests = folder === null ? null : { folder, written: knack.requestsWritten() };
  if (requests) print(describeRequests(requests, paths, screen));
  if (call.wantsJson) {
    const lessons = (await knack.lessons()).filter(({ id }) => ids.has(id));
    screen.json({
      ...learnedJson(learned, lessons, toChanges(changes), [...leftOut, ...refused]),
      ...(requests ? { requests } : {}),
      ...(replayed ? { backtest: computeFigures(replayed) } : {}),
      ...run.json,
    });
  }
  return 0;
}

function toChanges(some: readonly Pick<ChangeOutcome, "change">[]): Change[] {
  return some.filter(isNews).map(({ change }) => change);
}

/** The outcome of the suggestions: changes made or planned, those refused, and whether Knack may publish. */
interface KeptSuggestions {
  readonly changes: Pick<ChangeOutcome, "change">[];
  readonly refused: LeftOut[];
  readonly mayPublish: boolean;
}

/** Keeps suggestions as asked for: after a question, all, or none. */
async function keepSuggestions(run: LearnRun, suggestions: readonly Suggestion[]): Promise<KeptSuggestions> {
  const { call, knack, print } = run;
  const kept = { changes: [], refused: [], mayPublish: run.yes };
  if (call.dryRun || run.yes) {
    for (const suggestion of suggestions) await keepSuggestion(run, suggestion, kept);
    if (call.dryRun && suggestions.length > 0) print([`${nothingIs(run)} was written (--dry-run).`]);
    return kept;
  }
  if (call.wantsJson) return kept;
  if (canAsk()) return { ...kept, mayPublish: !(await askAboutLessons(call, knack, suggestions)) };
  print(listSuggestions(run, suggestions));
  return kept;
}

/** Keeps a suggestion, or with --dry-run shows what that would write. */
async function keepSuggestion(
  run: LearnRun,
  suggestion: Suggestion,
  { changes, refused }: KeptSuggestions,
): Promise<void> {
  const { knack, print } = run;
  const { screen, dryRun } = run.call;
  const { lesson, reaches } = suggestion;
  const choice = { reach: run.where ?? (reaches[0] as LiveReach), actor: "person" } as const;
  const without = describeSuggestion(suggestion, screen, { preview: false });
  if (dryRun) {
    const plan = choice.reach === reaches[0] ? suggestion.plan : await knack.plan(lesson, choice);
    if (plan.ok) changes.push(...plan.steps);
    return print([
      plan.ok
        ? describeSuggestion({ ...suggestion, plan }, screen)
        : [without, `  Would not be kept: ${plan.because}.`],
      "",
    ]);
  }
  const result = await knack.keep(lesson, choice);
  // What another run did at the same time is reported by that one.
  if (result.kept) changes.push(...result.outcomes.filter(({ done, already }) => done && !already));
  else refused.push({ what: lesson.name, because: result.because });
  print([without, describeKeeping(result, suggestion, screen), ""]);
}

// --- Lines ---

function describeReplay(replayed: Backtest, screen: Screen): Lines {
  const { failures, repeats, answered, sessions } = computeFigures(replayed);
  if (failures === 0) return [];
  const late = replayed.late;
  const share = `${repeats} of ${several(failures, "failure")} ${repeats === 1 ? "was a repeat" : "were repeats"}`;
  const known = repeats === 0 ? "" : `; ${answered} had a known fix`;
  const within = late > 0 ? ` (in ${sessions} of your newest ${sessions + late} sessions)` : "";
  return [
    screen.bold(`${share}${known}${within}.`),
    screen.dim(`  Details, and what a fix would have saved: ${screen.knack} backtest`),
    "",
  ];
}

function describeReading(
  learned: Learned,
  count: number,
  leftOut: readonly LeftOut[],
  screen: Screen,
): Lines {
  const { sessions, looked, skipped, promoted } = learned;
  const projects = new Set(sessions.map(({ project }) => project.id)).size;
  const news = looked === sessions.length - skipped.length ? "" : `, ${looked} new or grown`;
  const isLater = ({ because }: LeftOut) => because.startsWith("more than");
  const later = leftOut.filter(isLater).length;
  return [
    `Read ${several(sessions.length, "session")} in ${several(projects, "project")}${news}.`,
    describeUnread(learned, screen),
    describeJudged(learned.judged, screen),
    promoted.map(({ name }) => `Used in every project from now on, because several learned it: ${name}`),
    countShortReasons(skipped).map(([because, times]) => `Skipped ${several(times, "session")}: ${because}`),
    countShortReasons(leftOut.filter((one) => !isLater(one))).map(
      ([because, times]) => `Not suggested: ${several(times, "lesson")}, ${because}`,
    ),
    count === 0
      ? [
          "No new lessons to suggest: each is kept, rejected, or not sure enough yet.",
          `Everything that was found: ${screen.knack} lessons`,
        ]
      : [`${several(count, "lesson")} worth keeping${later > 0 ? ` (${later} more after these)` : ""}:`, ""],
  ];
}

function describeUnread(
  { unread, unlooked }: Pick<Learned, "unread" | "unlooked">,
  { knack }: Screen,
): Lines {
  return [
    unread > 0 && `${several(unread, "older transcript")} not read yet: ${knack} learn --all continues.`,
    unlooked > 0 &&
      `${several(unlooked, "session")} not searched for lessons yet: ${knack} learn --all continues.`,
  ];
}

/** Reasons without the details that only --json has: where in a text, and like which other lesson. */
function countShortReasons(leftOut: readonly LeftOut[]): [string, number][] {
  const shorten = (because: string) =>
    because
      .replace(/^(it may not be written: .*) \([^)]*\)$/s, "$1")
      .replace(/^much like .*$/s, "much like another one");
  return countReasons(leftOut.map(({ because }) => ({ because: shorten(because) })));
}

function describeJudged(judged: Learned["judged"], { knack }: Screen): Lines {
  const { kept, own, dropped, fellBack } = judgedJson(judged);
  const models = [...new Set(judged.map(({ model }) => (model === "replay" ? "answers in files" : model)))];
  const reasons = countReasons(fellBack.map(({ because }) => ({ because: describeNoReply(because) })));
  const added = own > 0 ? `, ${own} added` : "";
  const why = dropped.length > 0 ? ` (why: ${knack} lessons --dropped)` : "";
  return [
    kept + own + dropped.length > 0 &&
      `Judged by ${models.join(", ")}: ${kept} kept, ${dropped.length} dropped${added}${why}.`,
    reasons.map(
      ([because, times]) =>
        `No model judged ${several(times, "session")}, so the rules' result stands: ${because}.`,
    ),
  ];
}

function listSuggestions(run: LearnRun, all: readonly Suggestion[]): Lines {
  const { screen } = run.call;
  if (all.length === 0) return [];
  return [
    all.map((suggestion) => [describeSuggestion(suggestion, screen), ""]),
    `${nothingIs(run)} was written.`,
    `  keep all of these:  ${repeatCall(run.paths, screen)} --yes`,
    `  one by one:         run ${screen.knack.replace(/ --$/, "")} in a terminal`,
  ];
}

/** With --model-dump, requests were written. */
function nothingIs({ modelDump }: LearnRun): string {
  return modelDump === null ? "Nothing" : "Nothing else";
}

function repeatCall(paths: readonly string[] | null, { knack }: Screen): string {
  return [`${knack} learn`, ...(paths ?? []).map(quotePath)].join(" ");
}

function describeRequests(
  { folder, written }: { readonly folder: string; readonly written: number },
  paths: readonly string[] | null,
  screen: Screen,
): Lines {
  if (written === 0) return ["No requests to write: a model has judged everything in these sessions."];
  return [
    `Wrote ${several(written, "request")} to ${folder}. Put the answers beside them as <id>.answer.json, then:`,
    `  ${repeatCall(paths, screen)} --model-answers ${quotePath(folder)}`,
  ];
}

function describeOwn(changes: readonly Change[], { knack }: Screen): Lines {
  const names = (some: readonly Change[]) => some.map(({ name }) => name).join(", ");
  const drafts = names(changes.filter(({ reach, proposal }) => reach === "draft" && !proposal));
  const updated = names(changes.filter(({ reach }) => reach !== "draft"));
  return [
    updated !== "" && `Added new evidence to ${updated}.`,
    changes
      .filter(({ proposal }) => proposal)
      .map(
        ({ name }) => `Proposed a change to a skill that you wrote or edited: ${knack} skills diff ${name}`,
      ),
    drafts !== "" &&
      `Wrote drafts, which agents are offered where they fit: ${drafts}. See ${knack} skills list`,
  ];
}

// --- As JSON ---

function learnedJson(
  { sessions, findings, skipped, unread, unlooked, promoted, judged }: Learned,
  lessons: readonly Lesson[],
  changes: readonly Change[],
  leftOut: readonly LeftOut[],
) {
  const paths = new Map<string, string>(sessions.map(({ id, path }) => [id, path]));
  return {
    sessions: sessions.length,
    findings: findings.map((one) => findingJson(one, paths.get(one.session))),
    lessons: lessons.map(lessonJson),
    skills: changes.map(changeJson),
    promoted,
    skipped: [...skipped, ...leftOut],
    unread,
    unlooked,
    judged: judgedJson(judged, (session) => paths.get(session) ?? session),
  };
}

// --- The bundled examples ---

/**
 * Learns from the bundled sessions, so that a newcomer sees real results: in a home of its own below the system's
 * temporary folder, where every suggestion is kept. Nothing else is touched.
 */
async function showExamples(call: AnyCall): Promise<number> {
  const { env, examples, dryRun, screen, wantsJson } = call;
  const home = dryRun ? null : mkdtempSync(join(tmpdir(), "knack-example-"));
  const exampleEnv: CliEnv = {
    ...env,
    ...(home === null ? {} : { HOME: home, USERPROFILE: home, KNACK_HOME: join(home, ".knack") }),
    CLAUDE_CONFIG_DIR: undefined,
    CODEX_HOME: undefined,
  };
  const setting = env.KNACK_HOME ? `HOME=${home} KNACK_HOME=${exampleEnv.KNACK_HOME}` : `HOME=${home}`;
  const own =
    home === null ? {} : { knack: `${setting} ${screen.knack}`, path: createScreen(exampleEnv).path };
  const there = { ...call, env: exampleEnv, screen: { ...screen, ...own } };
  const print = wantsJson ? () => {} : screen.print;
  return withKnack(
    there,
    async (knack) => {
      print([
        describeNoSessions(env),
        "These are the bundled example sessions, and what Knack learns from them.",
      ]);
      const paths = existsSync(examples) ? [examples] : [];
      const run = { call: there, knack, paths, replayed: null, modelDump: null, print };
      const json = { examples: true, home };
      const learned = await knack.learn(paths);
      await presentLearned({ ...run, yes: home !== null, where: "everywhere", json }, learned);
      if (home !== null) print(describeExampleHome(home, await knack.shelf(), there.screen, screen));
      return 0;
    },
    // The examples come with their lessons: no model is paid for them.
    { create: true, observer: "heuristic" },
  );
}

function describeExampleHome(
  home: string,
  shelf: readonly PublishedItem[],
  there: Screen,
  screen: Screen,
): Lines {
  const skill = shelf.find(({ kind, reach }) => kind === "skill" && reach !== "draft");
  return [
    `These lessons were kept in a temporary home, ${home}.`,
    "Nothing else on this machine was changed. You can delete that folder at any time.",
    "",
    skill && ["One of them in full, as an agent reads it:", "", textLines(skill.text ?? "", "  "), ""],
    "Look around in it:",
    `  ${there.knack} skills list`,
    "See what such lessons are worth, with every hit and every miss:",
    `  ${screen.knack} backtest`,
    "Then use your agent as usual, and run this again: it learns from your own sessions.",
  ];
}
