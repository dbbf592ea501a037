import { type Clock, groupBy } from "../../base/index.ts";
import { readModelUse } from "../../models/index.ts";
import {
  type EntryOf,
  type EventKind,
  getThreadId,
  type NudgeDecided,
  type ReviewWindow,
  type Session,
  type SessionStretch,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { groupRecordings } from "../../transcripts/index.ts";
import { listOpenSignals } from "../give-signals.ts";
import { lastEventNumber } from "../signals.ts";
import { decideNudge, foldProgress, measurePace } from "./nudge.ts";

type NudgeInput = Parameters<typeof decideNudge>[0];
type ReviewProgress = ReturnType<typeof foldProgress>;

/** Sessions in one window, the latest; the others wait for the next review. */
const maxSessions = 30;

interface ScheduleDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Why a session is not reviewed, such as Knack's own work; null where it is. */
  readonly passesOver?: (session: Session) => Promise<string | null>;
}

interface NudgeOptions extends Pick<NudgeInput, "limits" | "asked" | "running"> {
  /** The cost of reviewing a window; computed only where nothing else prevents a review. */
  readonly estimate?: (window: ReviewWindow) => Promise<NudgeInput["estimate"]>;
}

const noCost = { unread: null, usd: 0 };

/** Decides whether a review of each project, or of one, is worth its cost now. The ledger is read once for all. */
export async function decideNudges(
  deps: ScheduleDeps,
  { estimate = async () => noCost, ...options }: NudgeOptions,
  only: string | null = null,
): Promise<Map<string, NudgeDecided>> {
  const { store } = deps;
  const now = deps.clock.now();
  const reviews = await listReviews(store);
  const entries = [...reviews, ...(await listSignals(store))];
  const { spent, openUntil } = await readModelUse(store, now);
  const pace = measurePace(reviews, now);
  const common = {
    ...{ ...options, now, spent: spent.usd, ...pace },
    pausedUntil: openUntil ?? pace.pausedUntil,
  };
  const decided = new Map<string, NudgeDecided>();
  for (const [project, sessions] of await groupSessions(store, only)) {
    const progress = foldProgress(entries, project);
    const window = await findWindow(deps, sessions, progress);
    const counters = progress.count(await measureWork(store, sessions, window), window);
    const facts = { ...common, window, counters };
    const first = decideNudge({ ...facts, estimate: noCost });
    decided.set(project, first.run ? decideNudge({ ...facts, estimate: await estimate(window) }) : first);
  }
  return decided;
}

/** Signals, and the finished writings that make some of them void. */
async function listSignals(store: Store): Promise<EntryOf<"signal.given" | "writing.finished">[]> {
  return [...(await listOpenSignals(store)), ...(await store.ledger.since("writing.finished", 0))];
}

export async function listReviews({
  ledger,
}: Pick<Store, "ledger">): Promise<EntryOf<"review.begun" | "review.ended">[]> {
  return [...(await ledger.since("review.begun", 0)), ...(await ledger.since("review.ended", 0))];
}

/** Sessions by project, each once. */
async function groupSessions({ sessions }: Store, only: string | null): Promise<Map<string, Session[]>> {
  const wanted = (await sessions.list()).filter(({ project }) => only === null || project.id === only);
  const distinct = groupRecordings(wanted).map(([session]) => session);
  const none: [string, Session[]][] = only === null ? [] : [[only, []]];
  return new Map([...none, ...groupBy(distinct, ({ project }) => project.id)]);
}

/**
 * Unreviewed work in sessions: first those with a new signal, then the latest. A subagent's work is
 * in the session that it works for, so its own session is only looked at for a signal.
 */
async function findWindow(
  deps: ScheduleDeps,
  sessions: readonly Session[],
  progress: ReviewProgress,
): Promise<ReviewWindow> {
  const needed = findNeededEvents(progress);
  const isSignalled = (session: Session) =>
    session.counts.events >=
    (needed.get(session.id) ?? needed.get(getThreadId(session)) ?? Number.POSITIVE_INFINITY);
  const hasGrown = ({ id, subagent, counts: { events } }: Session) =>
    !subagent && events > progress.findReviewedEnd(id, events);
  const grown = sessions
    .filter((one) => isSignalled(one) || hasGrown(one))
    .sort((a, b) => Number(isSignalled(b)) - Number(isSignalled(a)) || compareLatestFirst(a, b));
  const found = (await takeReadable(deps, grown)).sort(compareLatestFirst).reverse();
  if (found.length === 0) return { stretches: [], since: 0, until: 0 };
  const stretches: SessionStretch[] = [];
  let since = Number.POSITIVE_INFINITY;
  for (const session of found) {
    const to = session.counts.events;
    // With nothing new but a signal the stretch is empty; the events of the signal are shown beside it.
    const from = progress.findReviewedEnd(session.id, to) + 1;
    stretches.push({ session: session.id, run: getThreadId(session), from, to });
    const [first] = await deps.store.events.page(session.id, from - 1, 1);
    since = Math.min(since, first?.at ?? session.startedAt ?? 0);
  }
  return { stretches, since, until: Math.max(...found.map(endTime)) };
}

/** Prompts and calls in each stretch of a window. A subagent's work is in the session that it works for. */
export async function measureWork(
  { events }: Store,
  sessions: readonly Session[],
  { stretches }: ReviewWindow,
): Promise<{ readonly turns: number; readonly calls: number }[]> {
  const known = new Map(sessions.map((one) => [one.id, one]));
  const work = [];
  for (const { session, from, to } of stretches) {
    const { counts, subagent = true } = known.get(session) ?? {};
    if (subagent || counts === undefined) continue;
    const outline = from === 1 ? [] : await events.outline(session, from, to);
    const count = (wanted: EventKind) => outline.filter(({ kind }) => kind === wanted).length;
    const whole = { turns: counts.prompts, calls: counts.calls };
    work.push(from === 1 ? whole : { turns: count("prompt"), calls: count("call") });
  }
  return work;
}

/** The first sessions whose events are still cached and that are not skipped. */
async function takeReadable(
  { store, passesOver = async () => null }: ScheduleDeps,
  sessions: readonly Session[],
): Promise<Session[]> {
  const readings = await store.readings.of([...new Set(sessions.map(({ path }) => path))]);
  const cached = new Set(readings.flatMap(({ path, cachedAt }) => (cachedAt === null ? [] : path)));
  const found: Session[] = [];
  for (const session of sessions) {
    if (found.length === maxSessions) break;
    if (cached.has(session.path) && (await passesOver(session)) === null) found.push(session);
  }
  return found;
}

/** By session, the number of events it must have for one of its signals to be reviewed. */
function findNeededEvents({ newSignals }: ReviewProgress): Map<string, number> {
  const needed = new Map<string, number>();
  for (const { file, signal } of newSignals) {
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

/** Figures about reviews and signals. */
export async function summarizeReviews({ store, clock }: ScheduleDeps): Promise<{
  /** In the last day; the money is for all calls of models, which share one budget. */
  readonly today: { readonly reviews: number; readonly usd: number };
  readonly last: EntryOf<"review.ended"> | null;
  /** Signals that count and that no review has seen; and all that were refused. */
  readonly signals: { readonly counted: number; readonly refused: number };
}> {
  const now = clock.now();
  const [reviews, signals] = [await listReviews(store), await listSignals(store)];
  const given = signals.flatMap((entry) => (entry.type === "signal.given" ? entry.data : []));
  const accepted = new Set(given.flatMap(({ id, refusal }) => (refusal === null ? id : [])));
  const refused = new Set(given.flatMap(({ id }) => (accepted.has(id) ? [] : id)));
  const projects = [...new Set(signals.map(({ project }) => project ?? ""))];
  const unseen = projects.flatMap((project) => foldProgress([...reviews, ...signals], project).newSignals);
  return {
    today: { reviews: measurePace(reviews, now).today, usd: (await readModelUse(store, now)).spent.usd },
    last: reviews.findLast((entry) => entry.type === "review.ended") ?? null,
    signals: { counted: unseen.length, refused: refused.size },
  };
}
