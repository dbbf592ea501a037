import type { Learned } from "../../../learning/index.ts";
import type { ChangeOutcome, LeftOut, Suggestion } from "../../../library/index.ts";
import type { NoReply } from "../../../models/index.ts";
import type { Knack } from "../../../open.ts";
import { type Backtest, outOfTime } from "../../../recall/index.ts";
import type { Change, Lesson, LiveReach, StoredFinding } from "../../../records/index.ts";
import { several } from "../../../text/index.ts";
import { redact } from "../../../trust/index.ts";
import type { AnyCall } from "../../command.ts";
import { changeJson, isNews } from "../../screen/changes.ts";
import { describeSuggestion, excerptJson, lessonJson } from "../../screen/lesson.ts";
import { canAsk } from "../../screen/prompt.ts";
import type { Screen } from "../../screen/screen.ts";
import { countReasons, iso, quotePath } from "../../screen/text.ts";
import { computeFigures } from "../backtest/figures.ts";
import { askAboutLessons, describeKeeping } from "./keep.ts";

export interface LearnScreenOptions {
  readonly json: boolean;
  readonly yes: boolean;
  readonly where: LiveReach | null;
  /** The folder that requests to a model are written to. */
  readonly modelDump: string | null;
  readonly print: (lines: readonly string[]) => void;
}

/** What was learned from: the paths that were named (null for this machine's sessions), and their replay. */
interface LearnSource {
  readonly paths: readonly string[] | null;
  readonly replayed: Backtest | null;
}

/** One run of learning: what it works with, and what became of the suggestions. */
interface LearnRun {
  readonly call: AnyCall;
  readonly knack: Knack;
  readonly options: LearnScreenOptions;
  readonly paths: readonly string[] | null;
  /** What was written, or would be. */
  readonly changes: Change[];
  readonly refused: LeftOut[];
}

/** Shows what was learned, and keeps what the person says yes to. */
export async function presentLearned(
  call: AnyCall,
  knack: Knack,
  learned: Learned,
  { paths, replayed }: LearnSource,
  options: LearnScreenOptions,
): Promise<number> {
  const { screen } = call;
  const { json, modelDump: folder, print } = options;
  const ids = new Set([
    ...learned.findings.map(({ lessonId }) => lessonId),
    ...learned.promoted.map(({ id }) => id),
  ]);
  // Whoever names sessions wants their lessons, however old: at time 0 nothing has faded.
  const scope = paths ? { only: ids, now: 0 } : { now: Date.now() };
  const { suggestions, leftOut } = await knack.suggest(scope);
  if (!json)
    print([
      ...(replayed ? describeReplay(replayed, screen) : []),
      ...describeReading(learned, suggestions.length, leftOut, screen),
    ]);
  const run: LearnRun = { call, knack, options, paths, changes: [], refused: [] };
  const mayPublish = await keepSuggestions(run, suggestions);
  // Drafts, and new evidence in what is kept, need nobody's yes.
  const own = { ...scope, asked: new Set(suggestions.map(({ lesson }) => lesson.id)) };
  if (call.dryRun)
    for (const { plan } of await knack.planOwn(own))
      run.changes.push(...(plan.ok ? plan.steps.map(({ change }) => change) : []));
  else if (mayPublish) {
    const outcomes = await knack.publishOwn({ ...own, sessions: learned.sessions });
    const changes = outcomes.filter(isNews).map(({ change }) => change);
    run.changes.push(...changes);
    if (!json && changes.length > 0) screen.print(describeOwn(changes, screen));
  }
  const requests = folder === null ? null : { folder, written: knack.requestsWritten() };
  if (requests && !json) print(describeRequests(requests, paths, screen));
  if (json) {
    const lessons = (await knack.lessons()).filter(({ id }) => ids.has(id));
    const written = run.changes.filter((change) => isNews({ change }));
    screen.json({
      ...learnedJson(learned, lessons, written, [...leftOut, ...run.refused]),
      ...(requests ? { requests } : {}),
      ...(replayed ? { backtest: computeFigures(replayed) } : {}),
    });
  }
  return 0;
}

/** Keeps suggestions as asked for: after a question, all, or none. Returns whether Knack may go on by itself. */
async function keepSuggestions(run: LearnRun, suggestions: readonly Suggestion[]): Promise<boolean> {
  const { call, knack, options } = run;
  if (call.dryRun || options.yes) {
    for (const suggestion of suggestions)
      await (call.dryRun ? planSuggestion : keepSuggestion)(
        run,
        suggestion,
        options.where ?? (suggestion.reaches[0] as LiveReach),
      );
    if (call.dryRun && !options.json && suggestions.length > 0)
      call.screen.print([`${nothingIs(options)} was written (--dry-run).`]);
    return options.yes;
  }
  if (options.json) return false;
  if (canAsk()) return !(await askAboutLessons(call, knack, suggestions));
  options.print(listSuggestions(run, suggestions));
  return false;
}

async function keepSuggestion(run: LearnRun, suggestion: Suggestion, reach: LiveReach): Promise<void> {
  const { screen } = run.call;
  const { lesson } = suggestion;
  const keeping = await run.knack.keep(lesson, { reach, actor: "person" });
  // What another run did at the same time is reported by that one.
  const isOwn = ({ done, already }: ChangeOutcome) => done && !already;
  if (keeping.kept) run.changes.push(...keeping.outcomes.filter(isOwn).map(({ change }) => change));
  else run.refused.push({ what: lesson.name, because: keeping.because });
  if (run.options.json) return;
  screen.print([
    ...describeSuggestion(suggestion, screen, { preview: false }),
    ...describeKeeping(keeping, suggestion, screen),
    "",
  ]);
}

async function planSuggestion(run: LearnRun, suggestion: Suggestion, reach: LiveReach): Promise<void> {
  const { screen } = run.call;
  const isUsual = reach === suggestion.reaches[0];
  const plan = isUsual
    ? suggestion.plan
    : await run.knack.plan(suggestion.lesson, { reach, actor: "person" });
  if (plan.ok) run.changes.push(...plan.steps.map(({ change }) => change));
  if (run.options.json) return;
  const lines = plan.ok
    ? describeSuggestion({ ...suggestion, plan }, screen)
    : [
        ...describeSuggestion(suggestion, screen, { preview: false }),
        `  Would not be kept: ${plan.because}.`,
      ];
  screen.print([...lines, ""]);
}

// --- Lines ---

/** The person's own figures. */
function describeReplay(replayed: Backtest, screen: Screen): string[] {
  const { failures, repeats, answered, sessions } = computeFigures(replayed);
  if (failures === 0) return [];
  const late = replayed.skipped.filter(({ because }) => because === outOfTime).length;
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
): string[] {
  const { sessions, looked, skipped, promoted } = learned;
  const projects = new Set(sessions.map(({ project }) => project.id)).size;
  const news = looked === sessions.length - skipped.length ? "" : `, ${looked} new or grown`;
  const isLater = ({ because }: LeftOut) => because.startsWith("more than");
  const later = leftOut.filter(isLater).length;
  return [
    `Read ${several(sessions.length, "session")} in ${several(projects, "project")}${news}.`,
    ...describeUnread(learned, screen),
    ...describeJudged(learned.judged, screen),
    ...promoted.map(({ name }) => `Used in every project from now on, because several learned it: ${name}`),
    ...describeReasons(skipped).map(([because, times]) => `Skipped ${several(times, "session")}: ${because}`),
    ...describeReasons(leftOut.filter((one) => !isLater(one))).map(
      ([because, times]) => `Not suggested: ${several(times, "lesson")}, ${because}`,
    ),
    ...(count === 0
      ? [
          "No new lessons to suggest: each is kept, rejected, or not sure enough yet.",
          `Everything that was found: ${screen.knack} lessons`,
        ]
      : [`${several(count, "lesson")} worth keeping${later > 0 ? ` (${later} more after these)` : ""}:`, ""]),
  ];
}

/** What there was no time for. */
export function describeUnread(
  { unread, unlooked }: Pick<Learned, "unread" | "unlooked">,
  { knack }: Screen,
): string[] {
  const parts = [
    ...(unread > 0 ? [`${several(unread, "older transcript")} not read yet`] : []),
    ...(unlooked > 0 ? [`${several(unlooked, "session")} not searched for lessons yet`] : []),
  ];
  return parts.length > 0 ? [`${parts.join(", ")}: ${knack} learn --all continues.`] : [];
}

/** Reasons without the details that only --json has: where in a text, and like which other lesson. */
function describeReasons(leftOut: readonly LeftOut[]): [string, number][] {
  return countReasons(
    leftOut.map(({ because }) => ({
      because: because
        .replace(/^(it may not be written: .*) \([^)]*\)$/s, "$1")
        .replace(/^much like .*$/s, "much like another one"),
    })),
  );
}

function listSuggestions(
  { call: { screen }, paths, options }: LearnRun,
  all: readonly Suggestion[],
): string[] {
  if (all.length === 0) return [];
  return [
    ...all.flatMap((suggestion) => [...describeSuggestion(suggestion, screen), ""]),
    `${nothingIs(options)} was written.`,
    `  keep all of these:  ${repeatCall(paths, screen)} --yes`,
    `  one by one:         run ${screen.knack.replace(/ --$/, "")} in a terminal`,
  ];
}

/** With --model-dump, requests were written. */
function nothingIs({ modelDump }: LearnScreenOptions): string {
  return modelDump === null ? "Nothing" : "Nothing else";
}

function repeatCall(paths: readonly string[] | null, { knack }: Screen): string {
  return [`${knack} learn`, ...(paths ?? []).map(quotePath)].join(" ");
}

function describeRequests(
  { folder, written }: { readonly folder: string; readonly written: number },
  paths: readonly string[] | null,
  screen: Screen,
): string[] {
  if (written === 0) return ["No requests to write: a model has judged everything in these sessions."];
  return [
    `Wrote ${several(written, "request")} to ${folder}. Put the answers beside them as <id>.answer.json, then:`,
    `  ${repeatCall(paths, screen)} --model-answers ${quotePath(folder)}`,
  ];
}

function describeOwn(changes: readonly Change[], { knack }: Screen): string[] {
  const names = (some: readonly Change[]) => some.map(({ name }) => name).join(", ");
  const proposals = changes.filter(({ proposal }) => proposal);
  const drafts = changes.filter(({ reach, proposal }) => reach === "draft" && !proposal);
  const updated = changes.filter(({ reach }) => reach !== "draft");
  return [
    ...(updated.length > 0 ? [`Added new evidence to ${names(updated)}.`] : []),
    ...proposals.map(
      ({ name }) => `Proposed a change to a skill that you wrote or edited: ${knack} skills diff ${name}`,
    ),
    ...(drafts.length > 0
      ? [`Wrote drafts, which agents are offered where they fit: ${names(drafts)}. See ${knack} skills list`]
      : []),
  ];
}

// --- What a model judged ---

type JudgedSession = Learned["judged"][number];

export function judgedJson(judged: readonly JudgedSession[], findPath: (session: string) => string) {
  return {
    sessions: judged.length,
    kept: judged.reduce((sum, { kept }) => sum + kept.length, 0),
    own: judged.reduce((sum, { own }) => sum + own.length, 0),
    dropped: judged.flatMap(({ session, dropped }) =>
      dropped.map(({ kind, lesson, because }) => ({
        session: findPath(session),
        kind,
        lesson: redact(lesson),
        because: redact(because),
      })),
    ),
    fellBack: judged.flatMap(({ session, fellBack }) =>
      fellBack === null ? [] : [{ session: findPath(session), because: redact(fellBack) }],
    ),
  };
}

function describeJudged(judged: readonly JudgedSession[], { knack }: Screen): string[] {
  const { kept, own, dropped, fellBack } = judgedJson(judged, (session) => session);
  const models = [...new Set(judged.map(({ model }) => (model === "replay" ? "answers in files" : model)))];
  const reasons = countReasons(fellBack.map(({ because }) => ({ because: describeNoReply(because) })));
  const added = own > 0 ? `, ${own} added` : "";
  const why = dropped.length > 0 ? ` (why: ${knack} lessons --dropped)` : "";
  return [
    ...(kept + own + dropped.length > 0
      ? [`Judged by ${models.join(", ")}: ${kept} kept, ${dropped.length} dropped${added}${why}.`]
      : []),
    ...reasons.map(
      ([because, times]) =>
        `No model judged ${several(times, "session")}, so the rules' result stands: ${because}.`,
    ),
  ];
}

/** What a code for a missing answer means, where the text after it does not say so. */
const noReplies: Readonly<Record<NoReply, string>> = {
  unset: "",
  "not-asked": "",
  "time-out": "",
  unusable: "",
  refused: "the model refused: ",
  overloaded: "the model is overloaded or failing: ",
  unreachable: "the model could not be reached: ",
};

/** Why a model gave no answer, without the code and the file names that programs need. */
export function describeNoReply(because: string): string {
  const [code = ""] = /^[a-z-]+(?=: )/.exec(because) ?? [];
  if (!Object.hasOwn(noReplies, code)) return because;
  const rest = because.slice(code.length + 2).replace(/\bq\w+\.answer\.json\b/, "answer in the folder");
  return `${noReplies[code as NoReply]}${rest.replace(/\.$/, "")}`;
}

// --- As JSON ---

/** The object that `knack learn --json` prints. */
export function learnedJson(
  { sessions, findings, skipped, unread, unlooked, promoted, judged }: Learned,
  lessons: readonly Lesson[],
  changes: readonly Change[],
  leftOut: readonly LeftOut[],
) {
  const paths = new Map(sessions.map(({ id, path }) => [id, path]));
  const findPath = (session: string) => paths.get(session) ?? session;
  return {
    sessions: sessions.length,
    findings: findings.map((kept) => findingJson(kept, findPath)),
    instincts: lessons.map(lessonJson),
    skills: changes.map(changeJson),
    promoted,
    skipped: [...skipped, ...leftOut],
    unread,
    unlooked,
    judged: judgedJson(judged, findPath),
  };
}

function findingJson(
  { id, finding, session, lessonId }: StoredFinding,
  findPath: (session: string) => string,
) {
  const { kind, keywords, confidence, name, scope, artifact, refs, keys } = finding;
  return {
    id,
    kind,
    session: findPath(session),
    events: keys,
    refs,
    at: iso(finding.at || null),
    lesson: redact(finding.lesson),
    trigger: redact(finding.trigger),
    action: redact(finding.action),
    keywords: keywords.map(redact),
    confidence,
    name,
    scope,
    artifact,
    instinct: lessonId,
    excerpt: excerptJson(finding),
  };
}
