import { type Clock, makeId } from "../../base/index.ts";
import { recordEntries } from "../../lessons/index.ts";
import { describeDaySpend, formatUsd, readModelUse } from "../../models/index.ts";
import {
  type EntryOf,
  getThreadId,
  type LedgerEntry,
  type NudgeCause,
  type NudgeDecided,
  type NudgeHold,
  type ReviewCounters,
  type ReviewMode,
  type ReviewWindow,
  type Session,
  type SessionStretch,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { several } from "../../text/index.ts";
import { groupRecordings } from "../../transcripts/index.ts";
import { listOpenSignals } from "../signals/derive.ts";
import { type CountedEntry, lastEventNumber } from "../signals/signal.ts";
import {
  countSince,
  findFailurePause,
  findNewSignals,
  findReviewedEnd,
  type ReviewProgress,
  sumProgress,
} from "./progress.ts";

/** Sessions in one window, the latest; the others wait for the next review. */
export const maxSessions = 30;
const dayMs = 86_400_000;

/** What a person allows. */
export interface ReviewLimits {
  readonly mode: ReviewMode;
  readonly calls: number;
  readonly apartMs: number;
  readonly perDay: number;
  /** For one review, for one call, and for a day, in US dollars. */
  readonly usd: number;
  readonly usdPerCall: number;
  readonly usdPerDay: number;
  /** Why no model can be asked; null where one can. */
  readonly unset: string | null;
}

/** What a review would need. */
export interface ReviewEstimate {
  /** Why the library cannot be read; null where it can. */
  readonly unread: string | null;
  /** The most that its first question costs. */
  readonly usd: number;
}

/** Everything that decides about a review. */
export interface NudgeFacts {
  readonly counters: ReviewCounters;
  readonly window: ReviewWindow;
  readonly limits: ReviewLimits;
  /** Whether a person asks for it. */
  readonly asked: boolean;
  readonly running: boolean;
  readonly now: number;
  /** Reviews of all projects in the last day, and when the latest began. */
  readonly today: number;
  readonly latestAt: number | null;
  /** What models cost in the last day, and the part of it that is dated ahead. */
  readonly spent: number;
  readonly spentAhead: number;
  readonly estimate: ReviewEstimate;
  /** Until when no model is asked, after failures. */
  readonly openUntil: number | null;
}

/** Whether a review is worth its cost, and allowed; of several reasons against it, the first is given. */
export function decideNudge(facts: NudgeFacts): NudgeDecided {
  const { counters, window } = facts;
  const hold = findHold(facts);
  if (hold !== null) return { run: false, ...hold, counters, window };
  const because = findCause(facts) ?? "asked";
  return { run: true, because, message: causes[because](counters), counters, window };
}

const causes: Readonly<Record<NudgeCause, (counters: ReviewCounters) => string>> = {
  "skill-issue": ({ hints }) => `${several(hints, "sign")} that a skill is wrong`,
  signal: ({ signals }) => `${several(signals, "thing")} worth a skill, and not written down`,
  threshold: ({ calls }) => `${several(calls, "tool call")} that no review has looked at`,
  asked: () => "you asked for it",
};

function findCause({ asked, counters, limits }: NudgeFacts): NudgeCause | null {
  if (asked) return "asked";
  if (counters.hints > 0) return "skill-issue";
  if (counters.signals > 0) return "signal";
  return counters.calls >= limits.calls ? "threshold" : null;
}

type NudgeRefusal = Pick<NudgeDecided, "message"> & { readonly because: NudgeHold };

function refuse(because: NudgeHold, message: string): NudgeRefusal {
  return { because, message };
}

/** A person who asks waits for no interval and needs no reason; the limits of money and number hold for them too. */
function findHold(facts: NudgeFacts): NudgeRefusal | null {
  const { limits, asked, running, window, counters, estimate } = facts;
  if (limits.mode === "off" && !asked) return refuse("off", "reviews are off");
  if (limits.unset !== null) return refuse("no-model", `no model can be asked: ${limits.unset}`);
  if (window.stretches.length === 0) return refuse("nothing-new", describeNothingNew(counters));
  if (findCause(facts) === null)
    return refuse("nothing-new", `${counters.calls} of ${limits.calls} tool calls, and no signal`);
  if (running) return refuse("running", "another review is running");
  const pace = findPaceHold(facts);
  if (pace !== null) return pace;
  if (estimate.unread !== null)
    return refuse("library-unread", `the library could not be read: ${estimate.unread}`);
  return findCostHold(facts);
}

export function describeNothingNew({ lastReviewAt }: Pick<ReviewCounters, "lastReviewAt">): string {
  return lastReviewAt === null
    ? "this project has no session to review yet"
    : "nothing has happened since the last review";
}

/** Whether the number of reviews, and the time between two, forbid another. */
export function findPaceHold(
  facts: Pick<NudgeFacts, "asked" | "now" | "today" | "latestAt" | "limits">,
): NudgeRefusal | null {
  const { asked, now, today, latestAt, limits } = facts;
  const wait = latestAt === null || latestAt > now ? 0 : latestAt + limits.apartMs - now;
  if (wait > 0 && !asked)
    return refuse("too-soon", `too soon after the last review; the next in ${Math.ceil(wait / 60_000)} min`);
  if (today < limits.perDay) return null;
  return refuse(
    "too-many-today",
    `${several(today, "review")} in the last day, of ${limits.perDay} (review.perDay)`,
  );
}

function findCostHold({
  limits,
  spent,
  spentAhead,
  estimate,
  openUntil,
  now,
}: NudgeFacts): NudgeRefusal | null {
  const { usd, usdPerCall, usdPerDay } = limits;
  const cost = `a review could cost ${formatUsd(estimate.usd)}`;
  if (spent >= usdPerDay || spent + estimate.usd > usdPerDay)
    return refuse("budget-spent", `${describeDaySpend(spent, spentAhead, usdPerDay)}, and ${cost}`);
  if (usd <= 0 || estimate.usd > usd)
    return refuse("too-dear", `${cost}, more than ${formatUsd(usd)} (review.budget)`);
  if (estimate.usd > usdPerCall)
    return refuse("call-too-dear", `${cost}, more than ${formatUsd(usdPerCall)} (model.budgetCall)`);
  if (openUntil === null) return null;
  return refuse("breaker-open", `the model failed; next try in ${Math.ceil((openUntil - now) / 60_000)} min`);
}

/**
 * How many reviews began in the last day, in any project, and when the latest did. A skipped review looked at nothing
 * and cost nothing: it does not count, but the next one keeps its distance.
 */
export function measurePace(
  reviews: readonly EntryOf<"review.begun" | "review.ended">[],
  now: number,
): Pick<NudgeFacts, "today" | "latestAt"> {
  // An entry from a clock that was more than a day ahead says nothing about this day.
  const recent = reviews.filter(
    ({ type, at }) => type === "review.begun" && Math.abs((at ?? 0) - now) < dayMs,
  );
  // A review that a killed process began and another continues is one.
  const begun = new Set(recent.map(({ data }) => data.review));
  for (const { type, data } of reviews)
    if (type === "review.ended" && data.outcome === "skipped") begun.delete(data.review);
  const times = recent.map(({ at }) => at ?? 0);
  return { today: begun.size, latestAt: times.length > 0 ? Math.max(...times) : null };
}

// --- With the store ---

export interface NudgeDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Why a session is not reviewed, such as Knack's own work; null where it is. */
  readonly passesOver?: (session: Session) => Promise<string | null>;
}

export interface NudgeOptions {
  readonly limits: ReviewLimits;
  readonly asked: boolean;
  readonly running: boolean;
  /** What a review of a window would need; computed only where nothing else is in the way. */
  readonly estimate?: (window: ReviewWindow) => Promise<ReviewEstimate>;
}

type ReviewEntry = EntryOf<"review.begun" | "review.ended">;

const noCost: ReviewEstimate = { unread: null, usd: 0 };

/** Decides whether a review of each project is worth its cost now. The ledger is read once for all. */
export async function decideNudges(
  deps: NudgeDeps,
  { limits, asked, running, estimate = async () => noCost }: NudgeOptions,
  only: string | null = null,
): Promise<Map<string, NudgeDecided>> {
  const { store } = deps;
  const now = deps.clock.now();
  const [reviews, signals] = [await listReviews(store), await listSignals(store)];
  const news = new Map<string, News>();
  for (const [project, sessions] of await groupSessions(store, only)) {
    const progress = sumProgress(reviews, project);
    const own = signals.filter((entry) => entry.project === project);
    news.set(project, {
      progress,
      ...(await findWindow(deps, sessions, progress, findNewSignals(own, progress))),
    });
  }
  // Only sessions that have grown can have more to say.
  const starts = [...news.values()].flatMap(({ startedAt }) => startedAt ?? []);
  const measured = starts.length > 0 ? await store.ledger.since("session.measured", Math.min(...starts)) : [];
  const use = await readModelUse(store, now);
  const ended = reviews.filter((entry) => entry.type === "review.ended");
  const common = {
    ...{ limits, asked, running, now, ...measurePace(reviews, now) },
    ...{ spent: use.spent.usd, spentAhead: use.spentAhead },
    openUntil: use.openUntil ?? findFailurePause(ended, now),
  };
  const decided = new Map<string, NudgeDecided>();
  for (const [project, { progress, window }] of news) {
    const counters = countSince([...measured, ...signals], project, progress, window);
    const facts = { ...common, counters, window };
    const first = decideNudge({ ...facts, estimate: noCost });
    decided.set(project, first.run ? decideNudge({ ...facts, estimate: await estimate(window) }) : first);
  }
  return decided;
}

/** The part of a project that no review has looked at, and when its first session began. */
interface News {
  readonly progress: ReviewProgress;
  readonly window: ReviewWindow;
  readonly startedAt: number | null;
}

/** Signals, and the finished writings that make some of them void. */
async function listSignals(store: Store): Promise<EntryOf<"signal.given" | "writing.finished">[]> {
  return [...(await listOpenSignals(store)), ...(await store.ledger.since("writing.finished", 0))];
}

export async function listReviews({ ledger }: Pick<Store, "ledger">): Promise<ReviewEntry[]> {
  return [...(await ledger.since("review.begun", 0)), ...(await ledger.since("review.ended", 0))];
}

/** Sessions by project, each once. */
async function groupSessions({ sessions }: Store, only: string | null): Promise<Map<string, Session[]>> {
  const groups = new Map<string, Session[]>(only === null ? [] : [[only, []]]);
  const wanted = (await sessions.list()).filter(({ project }) => only === null || project.id === only);
  for (const [session] of groupRecordings(wanted))
    groups.set(session.project.id, [...(groups.get(session.project.id) ?? []), session]);
  return groups;
}

/**
 * What is new in sessions since they were reviewed: first those with a new signal, then the latest. A subagent's work is
 * in the session that it works for, so its own session is only looked at for a signal.
 */
async function findWindow(
  deps: NudgeDeps,
  sessions: readonly Session[],
  progress: Pick<ReviewProgress, "ends">,
  signals: readonly CountedEntry[],
): Promise<Omit<News, "progress">> {
  const needed = findNeededEvents(signals);
  const isSignalled = (session: Session) =>
    session.counts.events >=
    (needed.get(session.id) ?? needed.get(getThreadId(session)) ?? Number.POSITIVE_INFINITY);
  const hasGrown = ({ id, subagent, counts: { events } }: Session) =>
    !subagent && events > findReviewedEnd(progress, id, events);
  const grown = sessions
    .filter((one) => isSignalled(one) || hasGrown(one))
    .sort((a, b) => Number(isSignalled(b)) - Number(isSignalled(a)) || compareLatestFirst(a, b));
  const found = (await takeReadable(deps, grown, maxSessions)).sort(compareLatestFirst).reverse();
  if (found.length === 0) return { window: { stretches: [], since: 0, until: 0 }, startedAt: null };
  // With nothing new but a signal the stretch is empty; the events of the signal are shown beside it.
  const stretches = found.map((session): SessionStretch => {
    const to = session.counts.events;
    const from = findReviewedEnd(progress, session.id, to) + 1;
    return { session: session.id, run: getThreadId(session), from, to };
  });
  const begins = await Promise.all(
    found.map(async ({ id, startedAt }, at) => {
      const [first] = await deps.store.events.page(id, (stretches[at]?.from ?? 1) - 1, 1);
      return first?.at ?? startedAt ?? 0;
    }),
  );
  return {
    window: { stretches, since: Math.min(...begins), until: Math.max(...found.map(endTime)) },
    startedAt: Math.min(...found.map(({ startedAt }) => startedAt ?? 0)),
  };
}

/** The first sessions whose events are still cached and that are not passed over. */
async function takeReadable(
  { store, passesOver = async () => null }: NudgeDeps,
  sessions: readonly Session[],
  most: number,
): Promise<Session[]> {
  const readings = await store.readings.of([...new Set(sessions.map(({ path }) => path))]);
  const cached = new Set(readings.flatMap(({ path, cachedAt }) => (cachedAt === null ? [] : path)));
  const found: Session[] = [];
  for (const session of sessions) {
    if (found.length === most) break;
    if (cached.has(session.path) && (await passesOver(session)) === null) found.push(session);
  }
  return found;
}

/** By session, the number of events it must have for one of its signals to be reviewed. */
function findNeededEvents(signals: readonly CountedEntry[]): Map<string, number> {
  const needed = new Map<string, number>();
  for (const { file, signal } of signals) {
    const last = lastEventNumber(signal);
    if (last > 0) needed.set(file, Math.min(last, needed.get(file) ?? last));
  }
  return needed;
}

function compareLatestFirst(a: Session, b: Session): number {
  return endTime(b) - endTime(a) || (a.id < b.id ? -1 : 1);
}

function endTime({ endedAt, startedAt }: Session): number {
  return endedAt ?? startedAt ?? 0;
}

/** Records a decision once for a window, not again whenever one of its sessions grows. */
export async function recordDecision(
  { store, clock }: NudgeDeps,
  project: string,
  data: NudgeDecided,
): Promise<void> {
  const begins = data.window.stretches.map(({ session, from }) => [session, from]);
  const key = `nudge:${makeId("n", JSON.stringify([project, data.because, begins]))}`;
  const entry: LedgerEntry = {
    ...{ at: clock.now(), project, session: null, actor: "knack", type: "nudge.decided", key, data },
  };
  await store.transaction((tx) => recordEntries(tx, [entry]));
}

/** Figures about reviews and signals. */
export interface ReviewSummary {
  /** In the last day; the money is for all calls of models, which share one budget. */
  readonly today: { readonly reviews: number; readonly usd: number };
  readonly last: EntryOf<"review.ended"> | null;
  /** Signals that count and that no review has seen; and all that were refused. */
  readonly signals: { readonly counted: number; readonly refused: number };
}

export async function summarizeReviews({ store, clock }: NudgeDeps): Promise<ReviewSummary> {
  const now = clock.now();
  const [reviews, signals] = [await listReviews(store), await listSignals(store)];
  const given = signals.flatMap((entry) => (entry.type === "signal.given" ? entry.data : []));
  const accepted = new Set(given.flatMap(({ id, refusal }) => (refusal === null ? id : [])));
  const refused = new Set(given.flatMap(({ id }) => (accepted.has(id) ? [] : id)));
  const unseen = [...new Set(signals.map(({ project }) => project))].flatMap((project) => {
    const own = signals.filter((entry) => entry.project === project);
    return findNewSignals(own, sumProgress(reviews, project ?? ""));
  });
  return {
    today: { reviews: measurePace(reviews, now).today, usd: (await readModelUse(store, now)).spent.usd },
    last: reviews.findLast((entry) => entry.type === "review.ended") ?? null,
    signals: { counted: unseen.length, refused: refused.size },
  };
}
