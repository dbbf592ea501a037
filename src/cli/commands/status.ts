import { existsSync } from "node:fs";
import { KnackError } from "../../base/index.ts";
import type { ModelState } from "../../learning/index.ts";
import type { PublishedItem } from "../../library/index.ts";
import { formatUsd } from "../../models/index.ts";
import type { Knack } from "../../open.ts";
import type { Lesson } from "../../records/index.ts";
import { findBrokenSettings, isDisabled, resolveHome, whyNotLearn } from "../../settings/index.ts";
import { readWorkerState } from "../../spool/index.ts";
import { several } from "../../text/index.ts";
import { type AnyCall, type CommandCall, defineCommand, jsonArg } from "../command.ts";
import { withKnack } from "../knack.ts";
import { changedFile } from "../screen/changes.ts";
import { countStatuses, describeCounts } from "../screen/lesson.ts";
import type { Screen } from "../screen/screen.ts";
import { formatCount, formatTime, iso, oneLine, wrapColumn } from "../screen/text.ts";
import { listSessionFolders } from "../transcript-files.ts";
import { describeReviews, type ReviewStatus, readReviewStatus } from "./review/status.ts";
import { shelfStates } from "./skills/list.ts";

type Status = Awaited<ReturnType<typeof readStatus>>;
type Week = Awaited<ReturnType<typeof readWeek>>;

const args = { ...jsonArg } as const;

export const status = defineCommand({
  about:
    "One page: what Knack learned, what waits for you, what is off or broken. Exit 1 when something is broken.",
  args,
  run: async (call: CommandCall<typeof args>) =>
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

async function readStatus(knack: Knack, { env, screen }: AnyCall) {
  const home = resolveHome(env);
  const projects = await knack.projects();
  const shelf = await knack.shelf();
  const lessons = await knack.lessons();
  const counts = { ...countShelf(shelf), ...(await countSuggestions(knack)) };
  const learnedAt = await knack.learnedAt();
  const settings = findBrokenSettings(
    home,
    projects.map(({ root }) => root),
  );
  const failing = describeFailingWorker(readWorkerState(home));
  const observer = settings.length > 0 ? null : await readObserver(knack);
  const model = typeof observer === "string" ? null : observer;
  const broken = [
    ...(typeof observer === "string" ? [observer] : []),
    ...settings,
    ...failing,
    ...(await findUnfinished(knack)),
    ...findBrokenFiles(shelf),
    ...(await findUnreadable(knack)),
  ];
  const off = projects.flatMap(({ id, name, root }) => {
    const because = whyNotLearn(home, root, id);
    return because === null || settings.includes(because) ? [] : [`${name}: ${because}`];
  });
  return {
    home: home.folder,
    sessions: projects.reduce((sum, { sessions }) => sum + sessions, 0),
    projects: projects.length,
    lessons: countStatuses(lessons),
    ...counts,
    off: [...(isDisabled(env) ? ["KNACK_DISABLE is set: Knack does not learn"] : []), ...off],
    broken,
    learnedAt: iso(learnedAt),
    next: chooseNext({ ...counts, settings, failing, broken, learnedAt }, listSessionFolders(env), screen),
    /** Who judges sessions, and what models cost in the last day; null where that cannot be read. */
    observer: model,
    reviews: model === null ? null : await readReviewStatus(knack, projects),
    week: await readWeek(knack, lessons, Date.now()),
  };
}

/** How many things of each kind Knack keeps. */
export function countShelf(shelf: readonly PublishedItem[]) {
  const count = (isCounted: (one: PublishedItem) => boolean) =>
    new Set(shelf.filter(isCounted).map(({ name }) => name)).size;
  const countLive = (wanted: PublishedItem["kind"]) =>
    count(({ kind, reach }) => kind === wanted && reach !== "draft");
  return {
    skills: countLive("skill"),
    commands: countLive("command"),
    agents: countLive("agent"),
    rules: count(({ kind }) => kind === "rule"),
    drafts: count(({ reach, proposal }) => reach === "draft" && !proposal),
    proposals: count(({ proposal }) => proposal === true),
  };
}

/** Lessons that nobody has decided about, and the names of the first. */
async function countSuggestions(knack: Knack) {
  const { suggestions } = await knack.suggest({ most: Number.POSITIVE_INFINITY });
  return {
    suggestions: suggestions.length,
    suggested: suggestions.slice(0, 3).map(({ lesson }) => lesson.name),
  };
}

/** Who judges sessions, or what is wrong with the setting. */
async function readObserver(knack: Knack): Promise<ModelState | string> {
  try {
    return await knack.model();
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    return `${error.message} ${error.hint ?? ""}`.trim();
  }
}

const weekMs = 7 * 86_400_000;
/** Lessons and skills that are named. */
const namedItems = 3;
/** Characters that make about one token. */
const tokenChars = 4;

async function readWeek(knack: Knack, lessons: readonly Lesson[], now: number) {
  const since = now - weekMs;
  const fresh = lessons
    .filter(({ state }) => state.foundAt >= since && state.status !== "rejected")
    .sort((a, b) => b.state.foundAt - a.state.foundAt);
  const tally = await knack.tally(since);
  const { shown, characters, offered, followable, followed } = tally;
  return {
    since: iso(since),
    learned: {
      lessons: fresh.length,
      newest: fresh.slice(0, namedItems).map(({ name }) => name),
      /** Skills that agents and reviews wrote or changed. */
      skills: tally.skillsWritten,
    },
    used: {
      /** How often something was shown: lessons by occasion, and things from the library. */
      times: shown.start + shown.prompt + shown.failure + offered,
      at: shown,
      sessions: tally.sessions,
      offered,
      loaded: tally.loaded,
      skills: tally.used,
      /** How often an agent said that a learned skill guided it. */
      guided: tally.guided,
      helpful: tally.helpful,
      harmful: tally.harmful,
      /** Lessons shown that recommend a call, once per session, and those whose call then worked. */
      followable,
      followed,
    },
    /** Failures at which a known fix was shown, and those after which it came next and worked. */
    saved: { failures: shown.failure, calls: tally.saved },
    cost: {
      characters,
      tokens: Math.ceil(characters / tokenChars),
      /** US dollars for Knack's own model calls. */
      model: await knack.modelUsd(since),
      /** Turns in which an agent was asked to write a lesson down. */
      asked: tally.asked,
    },
  };
}

/** Failures of the worker in a row after which learning counts as stopped. */
const stoppedAfter = 3;

function describeFailingWorker({ failures, error }: ReturnType<typeof readWorkerState>): string[] {
  return failures >= stoppedAfter
    ? [`learning has stopped: the worker failed ${failures} times (${oneLine(error ?? "", 200)})`]
    : [];
}

async function findUnfinished(knack: Knack): Promise<string[]> {
  return (await knack.changes())
    .filter(({ state }) => state === "intended")
    .map(({ change }) => `unfinished change: ${change.why} ${change.name} in ${changedFile(change)}`);
}

function findBrokenFiles(shelf: readonly PublishedItem[]): string[] {
  return shelf
    .filter(({ state }) => ["edited", "missing", "unreadable"].includes(state))
    .map((one) => `${one.name} is ${shelfStates[one.state]}: ${changedFile(one)}`);
}

async function findUnreadable(knack: Knack): Promise<string[]> {
  return (await knack.skills()).flatMap(({ folder, listing }) =>
    listing.found === "unreadable" ? [`cannot read ${folder}: ${listing.message}`] : [],
  );
}

interface NextInput {
  readonly drafts: number;
  readonly proposals: number;
  readonly suggestions: number;
  readonly broken: readonly string[];
  readonly settings: readonly string[];
  readonly failing: readonly string[];
  readonly learnedAt: number | null;
}

function chooseNext(state: NextInput, folders: readonly string[], { knack }: Screen): string {
  if (state.settings.length > 0) return "fix the settings file, or delete it";
  if (state.failing.length > 0) return `${knack} doctor`;
  if (state.broken.length > 0)
    return `${knack} skills diff <name> shows an edit; skills accept <name> keeps it, skills reject <name> removes what is missing`;
  if (state.learnedAt === null)
    return folders.some((folder) => existsSync(folder))
      ? `${knack} learn`
      : "use an agent, then run this again";
  if (state.drafts + state.proposals > 0)
    return `${knack} skills list, then skills accept <name> or skills reject <name>`;
  return state.suggestions > 0
    ? `${knack} skills accept <name> or skills reject <name>; or ${knack} in a terminal, which asks about each`
    : `${knack} learn, after your next session`;
}

// --- The page ---

/** Lines about what is off and what is broken, so that the page fits on one screen. */
const mostLines = 3;

function describeStatus(state: Status, screen: Screen): string[] {
  const kept = [
    several(state.skills, "skill"),
    ...(state.commands > 0 ? [several(state.commands, "command")] : []),
    ...(state.agents > 0 ? [several(state.agents, "agent")] : []),
    several(state.rules, "rule"),
  ];
  const learned =
    state.learnedAt === null
      ? "not learned from yet"
      : `last learned from ${formatTime(Date.parse(state.learnedAt))}`;
  const rows: [string, string][] = [
    ["home", screen.path(state.home)],
    ["read", `${several(state.sessions, "session")} in ${several(state.projects, "project")}, ${learned}`],
    ["lessons", describeCounts(state.lessons) || "none yet"],
    ...describeObserver(state.observer),
    ["kept", kept.join(", ")],
    ...describeReviews(state.reviews, screen),
    ["", ""],
    ["This week", ""],
    ...describeWeek(state.week),
    ["", ""],
    ["waiting", describeWaiting(state)],
    ...describeFew("off", state.off, screen),
    ...describeFew("broken", state.broken, screen),
    ["next", state.next],
  ];
  return rows.map(([name, text]) => {
    const label = name.padEnd(8);
    return wrapColumn(`${name === "broken" ? screen.red(label) : screen.dim(label)} `, text, screen.columns);
  });
}

/** Who judges, where that is not rules alone. */
function describeObserver(state: ModelState | null): [string, string][] {
  if (state === null || state.observer === "heuristic") return [];
  const { unset, model, openUntil } = state;
  if (unset !== null) return [["judged", `by rules alone: ${unset}`]];
  const paused = openUntil === null ? "" : "; paused after failures";
  return [["judged", `by ${model}, ${describeSpending(state)}${paused}`]];
}

/** What models cost in the last day. */
export function describeSpending({ spent, budget }: ModelState): string {
  return spent.calls === 0
    ? "not asked in the last day"
    : `${several(spent.calls, "call")} in the last day, ${formatUsd(spent.usd)} of ${formatUsd(budget.usdPerDay)}`;
}

function describeWaiting({ suggestions, suggested, drafts, proposals, reviews }: Status): string {
  const more = suggestions > suggested.length ? ", …" : "";
  const reviewed = (reviews as ReviewStatus | null)?.waiting ?? 0;
  const waiting = [
    ...(suggestions > 0
      ? [`${several(suggestions, "lesson")} to decide (${suggested.join(", ")}${more})`]
      : []),
    ...(drafts > 0 ? [several(drafts, "draft")] : []),
    ...(proposals > 0 ? [several(proposals, "proposal")] : []),
    ...(reviewed > 0 ? [`${several(reviewed, "proposal")} from reviews (knack review inbox)`] : []),
  ];
  return waiting.join(", ") || "nothing";
}

function describeWeek({ learned, used, saved, cost }: Week): [string, string][] {
  const { start, prompt, failure } = used.at;
  const occasions = [
    ...(start > 0 ? [`${start} at the start`] : []),
    ...(prompt > 0 ? [`${prompt} at a prompt`] : []),
    ...(failure > 0 ? [`${failure} at a failure`] : []),
    ...(used.offered > 0 ? [`${several(used.offered, "skill")} (${used.loaded} in full)`] : []),
  ];
  const models = cost.model > 0 ? `models ${formatUsd(cost.model)}` : "no model called";
  const turns = cost.asked > 0 ? `, ${several(cost.asked, "turn")} asked for` : "";
  return [
    ["learned", describeLearned(learned)],
    [
      "used",
      used.times === 0
        ? "nothing was shown to an agent"
        : `shown ${several(used.times, "time")} in ${several(used.sessions, "session")}: ${occasions.join(", ")}`,
    ],
    ...describeUse(used),
    [
      "saved",
      saved.failures === 0
        ? "nothing yet: no failure had a known fix"
        : `${several(saved.calls, "call")}: the fix was shown at ${several(saved.failures, "failure")}; counted where it came next and worked`,
    ],
    [
      "cost",
      `${formatCount(cost.characters)} characters shown (about ${several(cost.tokens, "token")}), ${models}${turns}`,
    ],
  ];
}

function describeLearned({ lessons, newest, skills }: Week["learned"]): string {
  const list = (count: number, noun: string, names: readonly string[]) => {
    const more = count - names.length;
    return count === 0 ? [] : [`${noun}: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`];
  };
  const written = `${several(skills.length, "skill")} written by agents or reviews`;
  const parts = [
    ...list(lessons, several(lessons, "lesson"), newest),
    ...list(skills.length, written, skills.slice(0, namedItems)),
  ];
  return parts.join("; ") || "nothing";
}

/** What came of what was shown, where there is something to say. */
function describeUse(used: Week["used"]): [string, string][] {
  const { skills, guided, helpful, harmful, followable, followed } = used;
  const parts = [
    ...(skills > 0 ? [`skills used: ${skills}`] : []),
    ...(guided > 0 ? [`reported by agents: ${guided}`] : []),
    ...(helpful + harmful > 0 ? [`${helpful} helpful, ${harmful} harmful`] : []),
  ];
  const rows = [
    ...(followable > 0 ? [`followed and worked: ${followed} of ${followable} that recommend a call`] : []),
    ...(parts.length > 0 ? [parts.join("; ")] : []),
  ];
  return rows.map((text) => ["", text]);
}

/** The first few of a list, each on a line. */
function describeFew(name: string, texts: readonly string[], { knack }: Screen): [string, string][] {
  const rest = texts.length - mostLines;
  const rows = [
    ...texts.slice(0, mostLines),
    ...(rest > 0 ? [`and ${rest} more: ${knack} status --json`] : []),
  ];
  return rows.map((text) => [name, text]);
}
