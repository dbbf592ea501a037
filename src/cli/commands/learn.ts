import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import type { Judging, JudgingPlan, Learned } from "../../learning/index.ts";
import { type ChangeOutcome, isNews, type LeftOut, type Suggestion } from "../../library/index.ts";
import { formatUsd } from "../../models/index.ts";
import type { Knack, KnackOptions } from "../../open.ts";
import {
  type Backtest,
  type ChronicFailure,
  describeChronic,
  findAlternative,
  renderFailureFact,
} from "../../recall/index.ts";
import type { Change, Lesson, LiveReach } from "../../records/index.ts";
import { isDisabled, judgeForms } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import { type AnyCall, arg, defineCommand, wrongUsage } from "../command.ts";
import { withKnack } from "../knack.ts";
import { changeJson, describePlan } from "../screen/changes.ts";
import { describeJudging } from "../screen/judge.ts";
import { askAboutLessons } from "../screen/keep.ts";
import {
  chronicJson,
  describeKeeping,
  describeNoReply,
  describeSuggestion,
  explainNoPlace,
  findingJson,
  judgedJson,
  leadJson,
  lessonJson,
} from "../screen/lesson.ts";
import { canAsk, type Screen, showCounting, showReading } from "../screen/screen.ts";
import { countReasons, type Lines, quotePath, wrapColumn } from "../screen/text.ts";
import { describeUnvouched, readUnvouched } from "../screen/trust.ts";
import { parsePaths, parseWhere } from "../select.ts";
import { listTranscripts, noReadableSession } from "../transcript-files.ts";
import { computeFigures } from "./backtest.ts";

export const learn = defineCommand({
  about: "Find lessons in your agents' sessions, and keep the ones you say yes to.",
  args: {
    paths: arg.words("files and folders to learn from (default: the agents' own folders)"),
    json: arg.flag("print one JSON object; ask nothing"),
    ...arg.dryRun,
    yes: arg.flag("keep every suggested lesson without asking"),
    where: arg.option("with --yes: keep them for me, repository or everywhere"),
    all: arg.flag("read everything, however long it takes (default: one minute, newest first)"),
    judge: arg.option(`who judges this time: ${judgeForms}`),
    "model-dump": arg.option(
      "write the requests to a model into this folder instead of sending them",
      "folder",
    ),
    "model-answers": arg.option("read a model's answers from this folder instead of asking one", "folder"),
    again: arg.flag("also look through sessions with nothing new"),
  },
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
    const looking = { again: args.again === true };
    const models = parseModelOptions(args.judge, args["model-dump"], args["model-answers"]);
    if (isDisabled(env)) return answerDisabled(call);
    // Checked before anything is opened, so that a newcomer's home stays as it is.
    if (paths === null && listTranscripts(env).size === 0) return showExamples(call);
    // Named sessions are all learned from.
    const box = timeBox(paths === null && args.all !== true);
    return withKnack(
      call,
      async (knack) => {
        try {
          const looked = await learnAloud(knack, paths, box, looking);
          const asksNow = paths !== null || Object.keys(models).length > 0;
          const learned = await judgeAloud(call, knack, paths, looked, { asksNow });
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

function parseModelOptions(
  judge: string | undefined,
  modelDump: string | undefined,
  modelAnswers: string | undefined,
): Pick<KnackOptions, "judge" | "modelDump" | "modelAnswers"> {
  if (modelDump === "" || modelAnswers === "")
    throw wrongUsage("--model-dump and --model-answers need a folder.");
  if (modelAnswers !== undefined && modelAnswers !== modelDump && !existsSync(modelAnswers))
    throw wrongUsage(
      `There is no folder ${modelAnswers}.`,
      "It should contain answers named <id>.answer.json, for the requests that --model-dump writes.",
    );
  if (modelDump !== undefined) makeFolder(modelDump);
  const given = Object.entries({ judge, modelDump, modelAnswers }).filter(([, word]) => word !== undefined);
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

export async function learnAloud(
  knack: Knack,
  paths: readonly string[] | null,
  box = timeBox(true),
  options: { readonly again?: boolean } = {},
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

/** The lessons, and the judge's reasons. */
interface JudgedLearning extends Learned {
  readonly judging: Judging;
}

/** Has the leads judged, if there is a judge. Control-C stops after the session at hand: the rest waits for another run. */
export async function judgeAloud(
  { screen, wantsJson }: AnyCall,
  knack: Knack,
  paths: readonly string[] | null,
  learned: Learned,
  { asksNow = paths !== null } = {},
): Promise<JudgedLearning> {
  const progress = showCounting("Judging sessions");
  const stop = watchInterrupt();
  try {
    const judging = await knack.judgeWaiting({
      sessions: learned.sessions,
      // Whoever names sessions, or a judge, wants them judged now, those that may go on too.
      evenBusy: asksNow,
      until: stop.isAsked,
      onPlan: (plan) => wantsJson || screen.print(describePlanned(plan)),
      onJudged: progress.report,
    });
    if (judging.judged.length === 0) return { ...learned, judging };
    return { ...learned, judging, findings: await knack.shownFindings(learned.sessions) };
  } finally {
    progress.end();
    stop.end();
  }
}

/** Notices Control-C once; a second one ends the process as usual. */
function watchInterrupt() {
  let asked = false;
  const onInterrupt = () => {
    asked = true;
  };
  process.once("SIGINT", onInterrupt);
  return { isAsked: () => asked, end: () => process.off("SIGINT", onInterrupt) };
}

function describePlanned({ judge, sessions, leads, usd }: JudgingPlan): Lines {
  const cost = usd < 0.005 ? "less than a cent" : `about ${formatUsd(usd)}`;
  const what = `${several(leads, "lead")} in ${several(sessions, "session")} to judge`;
  if (judge === "off") return [`${what}, by files: no model is asked, and nothing is paid.`];
  return [`${what} with ${judge}: ${cost}. Control-C stops; the rest waits.`];
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
}

/** Shows what was learned, and keeps what the person says yes to. */
export async function presentLearned(run: LearnRun, learned: JudgedLearning): Promise<number> {
  const { call, knack, paths, replayed, modelDump: folder, print } = run;
  const { screen } = call;
  const ids = new Set<string>([
    ...learned.findings.map(({ lessonId }) => lessonId),
    ...learned.promoted.map(({ id }) => id),
  ]);
  // Lessons of named sessions count however old they are: at time 0 nothing has faded.
  const scope = paths ? { only: ids, now: 0 } : { now: Date.now() };
  const { suggestions, leftOut } = await knack.suggest(scope);
  // Whoever reads JSON is given all of them, and nobody was told.
  const untold = call.wantsJson ? [] : await knack.tellChronic("screen");
  print([
    replayed && describeReplay(replayed, screen),
    describeReading(
      learned,
      leftOut.filter((one) => !isLater(one)),
      screen,
    ),
    describeWaiting(learned, screen),
    describeUnsolved(untold, screen),
    describeCount(suggestions.length, leftOut.filter(isLater).length, screen),
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
  if (!call.wantsJson)
    print(describeUnvouched(await readUnvouched(knack, await knack.shelf(), process.cwd()), screen));
  if (call.wantsJson) {
    const lessons = (await knack.lessons()).filter(({ id }) => ids.has(id));
    screen.json({
      ...learnedJson(learned, lessons, toChanges(changes), [...leftOut, ...refused]),
      chronic: (await knack.chronic()).map(chronicJson),
      ...(requests ? { requests } : {}),
      ...(replayed ? { backtest: computeFigures(replayed) } : {}),
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
  const noPlace = run.where === null ? explainNoPlace(suggestion) : null;
  const without = describeSuggestion(suggestion, screen, { preview: false });
  if (dryRun) {
    const plan = choice.reach === reaches[0] ? suggestion.plan : await knack.plan(lesson, choice);
    if (plan.ok) changes.push(...plan.steps);
    const refusal = noPlace ?? (plan.ok ? null : plan.because);
    if (refusal !== null) return print([without, describeNoPlace("Would not be kept", refusal), ""]);
    return print([without, plan.ok && describePlan(plan, screen), ""]);
  }
  if (noPlace !== null) {
    refused.push({ what: lesson.name, because: noPlace });
    return print([without, describeNoPlace("Not kept", noPlace), ""]);
  }
  const result = await knack.keep(lesson, choice);
  // What another run did at the same time is reported by that one.
  if (result.kept) changes.push(...result.outcomes.filter(({ done, already }) => done && !already));
  else refused.push({ what: lesson.name, because: result.because });
  print([without, describeKeeping(result, suggestion, screen), ""]);
}

// --- Lines ---

function describeNoPlace(says: string, because: string): Lines {
  const elsewhere = because.endsWith("not on this machine")
    ? " In all your projects: --where everywhere"
    : "";
  return [`  ${says}: ${because}.${elsewhere}`];
}

function describeReplay(replayed: Backtest, screen: Screen): Lines {
  const { failures, repeats, answered, sessions } = computeFigures(replayed);
  if (failures === 0) return [];
  const late = replayed.late;
  const share = `${repeats} of ${several(failures, "failure")} had been solved in an earlier session`;
  const known = repeats === 0 ? "" : `; Knack knew the fix for ${answered}`;
  const within = late > 0 ? ` (in ${sessions} of your newest ${sessions + late} sessions)` : "";
  return [
    screen.bold(`${share}${known}${within}.`),
    screen.dim(`  Details, and what a fix would have saved: ${screen.knack} backtest`),
    "",
  ];
}

/** Left out for want of room, not for good. */
function isLater({ because }: LeftOut): boolean {
  return because.startsWith("more than");
}

function describeReading(learned: JudgedLearning, leftOut: readonly LeftOut[], screen: Screen): Lines {
  const { sessions, looked, skipped, promoted } = learned;
  const projects = new Set(sessions.map(({ project }) => project.id)).size;
  const news = looked === sessions.length - skipped.length ? "" : `, ${looked} new or grown`;
  return [
    `Read ${several(sessions.length, "session")} in ${several(projects, "project")}${news}.`,
    describeUnread(learned, screen),
    describeJudged(learned.judging, screen),
    promoted.map(({ name }) => `Used in every project from now on, because several learned it: ${name}`),
    countShortReasons(skipped).map(([because, times]) => `Skipped ${several(times, "session")}: ${because}`),
    countShortReasons(leftOut).map(
      ([because, times]) => `Not suggested: ${several(times, "lesson")}, ${because}`,
    ),
  ];
}

/** Failures that nobody overcame, told this once. */
function describeUnsolved(untold: readonly ChronicFailure[], screen: Screen): Lines {
  if (untold.length === 0) return [];
  return [
    "",
    untold.map(describeChronic),
    screen.dim(`  The sessions: ${screen.knack} lessons --unsolved`),
    "",
  ];
}

/** The heading of the suggestions, so nothing may come between. */
function describeCount(count: number, later: number, { knack }: Screen): Lines {
  if (count > 0)
    return [
      `${several(count, "lesson")} worth keeping${later > 0 ? ` (${later} more after these)` : ""}:`,
      "",
    ];
  return [
    "No new lessons to suggest: each is kept, rejected, or not sure enough yet.",
    `Everything that was found: ${knack} lessons`,
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

function describeJudged({ judged, left, fellBack, consolidated }: Judging, { knack }: Screen): Lines {
  const merged = consolidated.reduce((sum, one) => sum + one.merged, 0);
  const opposed = consolidated.reduce((sum, one) => sum + one.contradictions, 0);
  const { lessons, aside, models } = judgedJson(judged);
  const why = aside.length > 0 ? ` (why: ${knack} lessons --dropped)` : "";
  const by = models.map((model) => (model === "replay" ? "answers in files" : model)).join(", ");
  return [
    judged.length > 0 &&
      `Judged ${several(judged.length, "session")} by ${by}: ${several(lessons, "lesson")}, ${aside.length} left aside${why}.`,
    merged > 0 && `${several(merged, "lesson")} joined with others that say the same.`,
    opposed > 0 && `${several(opposed, "contradiction")} to decide: ${knack} lessons`,
    fellBack !== null &&
      `${several(left, "session")} not judged: ${describeNoReply(fellBack)}. The rules' result stands for now.`,
  ];
}

/** Leads wait where there is no judge, or where a session is still at work. */
function describeWaiting({ leads, judging }: JudgedLearning, screen: Screen): Lines {
  const waiting = new Set(leads.flatMap(({ session, isJudged }) => (isJudged ? [] : session))).size;
  if (waiting === 0 || judging.fellBack !== null || judging.judged.length > 0) return [];
  return [
    `${several(waiting, "session")} may hold more lessons, which a judge finds: ${describeJudging(screen)}.`,
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
  { sessions, findings, leads, skipped, unread, unlooked, promoted, judging }: JudgedLearning,
  lessons: readonly Lesson[],
  changes: readonly Change[],
  leftOut: readonly LeftOut[],
) {
  const paths = new Map<string, string>(sessions.map(({ id, path }) => [id, path]));
  const byId = new Map<string, Lesson>(lessons.map((lesson) => [lesson.id, lesson]));
  return {
    sessions: sessions.length,
    findings: findings.map((one) => findingJson(one, paths.get(one.session), byId.get(one.lessonId))),
    leads: leads.map(({ session, lead }) => leadJson(lead, paths.get(session) ?? session)),
    lessons: lessons.map(lessonJson),
    skills: changes.map(changeJson),
    promoted,
    skipped: [...skipped, ...leftOut],
    unread,
    unlooked,
    judged: judgedJson(judging.judged, (session) => paths.get(session) ?? session),
    unjudged: { sessions: judging.left, because: judging.fellBack },
    consolidated: judging.consolidated,
  };
}

// --- The bundled examples ---

/** Tells one story from the bundled sessions to somebody who has none yet, in a database that is thrown away. */
async function showExamples(call: AnyCall): Promise<number> {
  const { examples, screen } = call;
  return withKnack(
    call,
    async (knack) => {
      const judging = { judged: [], left: 0, fellBack: null, consolidated: [] };
      const learned = { ...(await knack.learn(existsSync(examples) ? [examples] : [])), judging };
      const lessons = await knack.lessons();
      const { suggestions } = await knack.suggest({ now: 0 });
      return call.answer({ ...learnedJson(learned, lessons, [], []), chronic: [], examples: true }, [
        "No sessions of a coding agent on this machine yet. What Knack does, by a bundled example:",
        "",
        await describeStory(knack, suggestions, screen),
        "Go on (nothing was written):",
        wrapColumn(
          `  ${screen.knack} init                 `,
          "set Knack up, once an agent is on this machine",
          screen.columns,
        ),
        wrapColumn(
          `  ${screen.knack} backtest --examples  `,
          "every failure of the bundled sessions, and what Knack knew",
          screen.columns,
        ),
      ]);
    },
    { dryRun: true, blank: true },
  );
}

/** A failure and its fix in one session, and what the next session is told. */
async function describeStory(
  knack: Knack,
  suggestions: readonly Suggestion[],
  screen: Screen,
): Promise<Lines> {
  const stories = suggestions.flatMap(({ findings, project }) =>
    findings.flatMap(({ finding: { excerpt } }) =>
      excerpt.failed && excerpt.error && excerpt.worked ? [{ ...excerpt, project }] : [],
    ),
  );
  const [story] = stories;
  if (!story) return [];
  const { failed, error, worked, project } = story;
  const failure = { command: failed, output: error ?? "", exitCode: 1 };
  const { matches } = await knack.recall(failure, project.root ?? undefined, "agent");
  const [match] = matches;
  const line = (label: string, text: string) => wrapColumn(label, text, screen.columns);
  return [
    screen.bold(`In ${project.name}, a session fails and finds the fix:`),
    `  $ ${failed}`,
    line("  ", `${screen.red("failed:")} ${error}`),
    line("  ", `${screen.dim("… some tries later …")}`),
    line("  $ ", worked ?? ""),
    `  ${screen.green("worked")}`,
    "",
    screen.bold("The next session meets the same failure, and Knack tells it at once:"),
    `  $ ${failed}`,
    line("  ", `${screen.red("failed:")} ${error}`),
    match && line("  ", renderFailureFact(match, findAlternative(matches), Date.now())),
    line("  $ ", worked ?? ""),
    `  ${screen.green("worked")}`,
    "",
  ];
}
