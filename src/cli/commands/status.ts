import { KnackError } from "../../base/index.ts";
import type { JudgeState } from "../../learning/index.ts";
import { changedFile, countShelf, type PublishedItem } from "../../library/index.ts";
import { formatUsd } from "../../models/index.ts";
import type { Knack } from "../../open.ts";
import { type ProjectFold, resolveProjectIds } from "../../records/index.ts";
import { findBrokenSettings, isDisabled, resolveHome, whyNotLearn } from "../../settings/index.ts";
import { readWorkerState } from "../../spool/index.ts";
import { several } from "../../text/index.ts";
import { type AnyCall, arg, defineCommand } from "../command.ts";
import { withKnack } from "../knack.ts";
import { findNewerInstall } from "../newer.ts";
import { shelfStates } from "../screen/changes.ts";
import { describeJudge, findMissingModel } from "../screen/judge.ts";
import { chronicJson, countStatuses, describeCounts } from "../screen/lesson.ts";
import { describeBudget, describeSize, type ReviewStatus, readReviewStatus } from "../screen/review.ts";
import type { Screen } from "../screen/screen.ts";
import { formatTime, joinParts, oneLine, wrapColumn } from "../screen/text.ts";
import { describeUnvouched, readUnvouched } from "../screen/trust.ts";
import { listTranscripts } from "../transcript-files.ts";

type Status = Awaited<ReturnType<typeof readStatus>>;

export const status = defineCommand({
  about:
    "One page: what Knack learned, what waits for you, what is off or broken. Exit 1 when something is broken.",
  args: { ...arg.json },
  run: async (call) =>
    withKnack(
      call,
      async (knack) => {
        const state = await readStatus(knack, call);
        return call.answer(state, describeStatus(state, call.screen), state.broken.length > 0 ? 1 : 0);
      },
      // What is unfinished is shown, not finished.
      { repair: false },
    ),
});

// --- What there is ---

async function readStatus(knack: Knack, { env, screen, program }: AnyCall) {
  const home = resolveHome(env);
  const projects = await knack.projects();
  const shelf = await knack.shelf();
  const lessons = await knack.lessons();
  const { suggestions } = await knack.suggest({ most: Number.POSITIVE_INFINITY });
  const counts = { ...countShelf(shelf), suggestions: suggestions.length };
  const learnedAt = await knack.learnedAt();
  const roots = projects.map(({ root }) => root);
  const settings = findBrokenSettings(home, roots);
  const failing = describeFailingWorker(home);
  const found = settings.length > 0 ? null : await readJudge(knack);
  const judge = typeof found === "string" ? null : found;
  const broken = [
    ...(typeof found === "string" ? [found] : []),
    ...settings,
    ...failing,
    ...(await findBroken(knack, shelf)),
  ];
  const off = projects.flatMap(({ id, name, root }) => {
    const because = whyNotLearn(home, root, id);
    return because === null || settings.includes(because) ? [] : [`${name}: ${because}`];
  });
  const hasSessions = listTranscripts(env).size > 0;
  return {
    home: home.folder,
    sessions: projects.reduce((sum, { sessions }) => sum + sessions, 0),
    projects: countProjects(projects),
    lessons: countStatuses(lessons),
    ...counts,
    /** Pairs of lessons that cannot both be followed, for the person to decide. */
    contradictions: (await knack.contradictions()).length,
    /** Failures that three sessions or more met and none overcame. */
    chronic: (await knack.chronic()).map(chronicJson),
    suggested: suggestions.slice(0, namedItems).map(({ lesson }) => lesson.name),
    off: [...(isDisabled(env) ? ["KNACK_DISABLE is set: Knack does not learn"] : []), ...off],
    broken,
    /** A newer Knack on this machine than the one that answers. */
    newer: findNewerInstall(env, program),
    learnedAt,
    /** Untrusted items: held drafts, and the repository's own skills. */
    unvouched: await readUnvouched(knack, shelf, process.cwd()),
    next: chooseNext({ ...counts, settings, failing, broken, learnedAt, hasSessions }, screen),
    /** Who judges sessions, and what that came to in the last day; null where that cannot be read. */
    judge,
    /** Sessions with leads that nobody judged. */
    unjudged: await knack.waiting(),
    reviews: judge === null ? null : await readReviewStatus(knack, projects),
    week: await readWeek(knack, Date.now()),
  };
}

/** Clones and worktrees of one repository are one project. */
function countProjects(projects: readonly ProjectFold[]): number {
  const findHome = resolveProjectIds(projects);
  return new Set(projects.map(({ id }) => findHome(id))).size;
}

/** Who judges sessions, or what is wrong with the setting. */
async function readJudge(knack: Knack): Promise<JudgeState | string> {
  try {
    return await knack.judge();
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    return `${error.message} ${error.hint ?? ""}`.trim();
  }
}

/** Failures of the worker in a row after which learning counts as stopped. */
const stoppedAfter = 3;

function describeFailingWorker(home: Parameters<typeof readWorkerState>[0]): string[] {
  const { failures, error } = readWorkerState(home);
  if (failures < stoppedAfter) return [];
  return [`learning has stopped: the worker failed ${failures} times (${oneLine(error ?? "", 200)})`];
}

/** Changes that were not finished, files that are not as Knack left them, and folders that cannot be read. */
async function findBroken(knack: Knack, shelf: readonly PublishedItem[]): Promise<string[]> {
  return [
    ...(await knack.changes()).flatMap(({ state, change }) =>
      state === "intended" ? `unfinished change: ${change.why} ${change.name} in ${changedFile(change)}` : [],
    ),
    ...shelf.flatMap((one) =>
      ["edited", "missing", "unreadable"].includes(one.state)
        ? `${one.name} is ${shelfStates[one.state]}: ${changedFile(one)}`
        : [],
    ),
    ...(await knack.skills()).flatMap(({ folder, listing }) =>
      listing.found === "unreadable" ? `cannot read ${folder}: ${listing.message}` : [],
    ),
  ];
}

interface NextInput extends Readonly<Record<"drafts" | "proposals" | "suggestions", number>> {
  readonly broken: readonly string[];
  readonly settings: readonly string[];
  readonly failing: readonly string[];
  readonly learnedAt: number | null;
  readonly hasSessions: boolean;
}

function chooseNext(state: NextInput, { knack }: Screen): string {
  if (state.settings.length > 0) return "fix the settings file, or delete it";
  if (state.failing.length > 0) return `${knack} doctor`;
  if (state.broken.length > 0)
    return `${knack} skills diff <name> shows an edit; ${knack} skills accept <name> keeps it, ${knack} skills reject <name> removes what is missing`;
  if (state.learnedAt === null)
    return state.hasSessions ? `${knack} learn` : "use an agent, then run this again";
  if (state.suggestions > 0)
    return `${knack} learn, which asks about ${state.suggestions === 1 ? "the lesson" : `each of the ${state.suggestions} lessons`}`;
  if (state.drafts + state.proposals > 0)
    return `${knack} skills list, then ${knack} skills accept <name> or ${knack} skills reject <name>`;
  return `${knack} learn, after your next session`;
}

const weekMs = 7 * 86_400_000;
/** Lessons and skills that are named. */
const namedItems = 3;

async function readWeek(knack: Knack, now: number) {
  const { fresh, skills, ...week } = await knack.week(now - weekMs);
  const newest = fresh.slice(0, namedItems).map(({ name }) => name);
  return { ...week, learned: { lessons: fresh.length, newest, skills } };
}

// --- The page ---

type StatusRow = readonly [label: string, text: string];

function describeStatus(state: Status, screen: Screen): string[] {
  const { learnedAt, reviews } = state;
  const learned = learnedAt === null ? "not learned from yet" : `last learned from ${formatTime(learnedAt)}`;
  const kept = joinParts(", ", [
    several(state.skills, "skill"),
    state.commands > 0 && several(state.commands, "command"),
    state.agents > 0 && several(state.agents, "agent"),
    several(state.rules, "rule"),
  ]);
  const [reviewed, ...due] = reviews ? describeReviews(reviews, screen) : [];
  const rows: StatusRow[] = [
    ["home", screen.path(state.home)],
    ["read", `${several(state.sessions, "session")} in ${several(state.projects, "project")}, ${learned}`],
    ["lessons", describeCounts(state.lessons) || "none yet"],
    ...describeJudgeRow(state, screen),
    ["kept", kept],
    ...(reviewed === undefined ? [] : [["reviews", reviewed] as const]),
    ...due.map((text): StatusRow => ["", text]),
    ["", ""],
    ["This week", ""],
    ...describeWeek(state.week),
    ["", ""],
    ["waiting", describeWaiting(state, screen)],
    ...describeUnvouched(state.unvouched, screen)
      .slice(0, mostLines)
      .map((text): StatusRow => ["", text]),
    ...describeFew("off", state.off, screen),
    ...describeFew("broken", state.broken, screen),
    ...(state.newer === null
      ? []
      : [
          [
            "newer",
            `Knack ${state.newer.version} is installed too: ${screen.path(state.newer.cli)}`,
          ] as const,
        ]),
    ["next", state.next],
    ["", `or look at all of it in the browser: ${screen.knack} open`],
  ];
  return rows.map(([name, text]) => {
    const label = name.padEnd(8);
    return wrapColumn(`${name === "broken" ? screen.red(label) : screen.dim(label)} `, text, screen.columns);
  });
}

function describeJudgeRow({ judge, unjudged }: Status, screen: Screen): StatusRow[] {
  if (judge === null) return [];
  const { says, next } = describeJudge(judge, unjudged, screen, Date.now());
  return [["judge", next === null ? says : `${says}: ${next}`]];
}

/** Describes the review mode, and whether a review is due in the latest project. */
function describeReviews(status: ReviewStatus, screen: Screen): string[] {
  const { mode, last, signals, projects } = status;
  const missing = findMissingModel(status, screen);
  const how = missing ? `, but ${missing.because}` : `, by ${status.model}: ${describeBudget(status)}`;
  if (mode === "off") return [`off (to turn them on: ${screen.knack} config set review suggest)`];
  const lately = last === null ? "" : `; last ${formatTime(last.at ?? 0)}: ${oneLine(last.outcome, 40)}`;
  const refused = signals.refused > 0 ? ` and ${signals.refused} refused` : "";
  const waiting =
    signals.counted + signals.refused > 0 ? `; ${several(signals.counted, "signal")} waiting${refused}` : "";
  const [first, ...others] = projects;
  const more = others.length > 0 ? ` (and ${several(others.length, "more project")})` : "";
  return [`${mode}${how}${lately}${waiting}`, ...(first ? [`${describeDue(first)}${more}`] : [])];
}

function describeDue({ name, run, message, counters, ...size }: ReviewStatus["projects"][number]): string {
  const hints = counters.signals + counters.hints;
  const given = hints > 0 ? `, ${several(hints, "signal")}` : "";
  return `in ${oneLine(name, 40)} ${run ? "one" : "none"} is due: ${oneLine(message, 120)}; it ${run ? "will" : "would"} look at ${describeSize(size)}, ${several(counters.calls, "call")}${given}`;
}

function describeWaiting(status: Status, { knack }: Screen): string {
  const { chronic, contradictions, suggestions, suggested, drafts, proposals, reviews } = status;
  const more = suggestions > suggested.length ? ", …" : "";
  const reviewed = reviews?.waiting ?? 0;
  const parts = [
    chronic.length > 0 && `${several(chronic.length, "failure")} never solved (${knack} lessons --unsolved)`,
    contradictions > 0 && `${several(contradictions, "contradiction")} (${knack} lessons)`,
    suggestions > 0 && `${several(suggestions, "lesson")} to decide (${suggested.join(", ")}${more})`,
    drafts > 0 && several(drafts, "draft"),
    proposals > 0 && several(proposals, "proposal"),
    reviewed > 0 && `${several(reviewed, "proposal")} from reviews (${knack} review inbox)`,
  ];
  return joinParts(", ", parts) || "nothing";
}

function describeWeek({ learned, used, saved, cost }: Status["week"]): StatusRow[] {
  const { start, prompt, failure } = used.at;
  const occasions = joinParts(", ", [
    start > 0 && `${start} at the start`,
    prompt > 0 && `${prompt} at a prompt`,
    failure > 0 && `${failure} at a failure`,
    used.offered > 0 && `${several(used.offered, "skill")} (${used.loaded} in full)`,
  ]);
  const shown = `shown ${several(used.times, "time")} in ${several(used.sessions, "session")}: ${occasions}`;
  const calls = `${several(saved.calls, "call")}: the fix was shown at ${several(saved.failures, "failure")}; counted where it came next and worked`;
  const models = cost.model > 0 ? `models ${formatUsd(cost.model)}` : "no model called";
  const turns = cost.asked > 0 ? `, ${several(cost.asked, "turn")} asked for` : "";
  const shownText =
    cost.characters === 0
      ? "nothing shown"
      : `${several(cost.characters, "character")} shown (about ${several(cost.tokens, "token")})`;
  return [
    ["learned", describeLearned(learned)],
    ["used", used.times === 0 ? "nothing was shown to an agent" : shown],
    ...describeUse(used),
    ["saved", saved.failures === 0 ? "nothing yet: no known fix was shown at a failure" : calls],
    ["cost", `${shownText}, ${models}${turns}`],
  ];
}

function describeLearned({ lessons, newest, skills }: Status["week"]["learned"]): string {
  const list = (count: number, noun: string, names: readonly string[]) => {
    const more = count - names.length;
    return count > 0 && `${noun}: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  };
  const written = `${several(skills.length, "skill")} written by agents or reviews`;
  const parts = [
    list(lessons, several(lessons, "lesson"), newest),
    list(skills.length, written, skills.slice(0, namedItems)),
  ];
  return joinParts("; ", parts) || "nothing";
}

/** Outcomes of shown skills and lessons; empty if there are none. */
function describeUse(used: Status["week"]["used"]): StatusRow[] {
  const { skills, guided, helpful, harmful, followable, followed } = used;
  const advice = followable > 0 && `followed and worked: ${followed} of ${followable} that recommend a call`;
  const parts = joinParts("; ", [
    skills > 0 && `skills used: ${skills}`,
    guided > 0 && `reported by agents: ${guided}`,
    helpful + harmful > 0 && `${helpful} helpful, ${harmful} harmful`,
  ]);
  return [advice, parts].flatMap((text): StatusRow[] => (text ? [["", text]] : []));
}

/** Lines about what is off and what is broken, so that the page fits on one screen. */
const mostLines = 3;

/** The first few of a list, each on a line. */
function describeFew(name: string, texts: readonly string[], { knack }: Screen): StatusRow[] {
  const rest = texts.length - mostLines;
  const more = rest > 0 ? [`and ${rest} more: ${knack} status --json`] : [];
  return [...texts.slice(0, mostLines), ...more].map((text) => [name, text]);
}
