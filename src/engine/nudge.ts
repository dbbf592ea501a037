import { openUntil, spendOf, spentAhead } from "../core/budget.ts";
import { idOf } from "../core/ids.ts";
import type { EntryOf, LedgerEntry } from "../core/ledger.ts";
import {
  countersOf,
  decide,
  failingUntil,
  lookedTo,
  type NudgeDecided,
  newSignals,
  type Prospect,
  paceOf,
  type ReviewedSoFar,
  type ReviewLimits,
  reviewedSoFar,
  type Stretch,
  type Window,
} from "../core/nudge.ts";
import { policy as defaults } from "../core/policy.ts";
import { type Session, threadOf } from "../core/session.ts";
import { type CountedEntry, lastNumber } from "../core/signal.ts";
import { tellingsOf } from "./inspect.ts";
import { note } from "./note.ts";
import type { Clock, Store } from "./ports.ts";
import { openSignals } from "./signal.ts";

export type { ReviewLimits } from "../core/nudge.ts";

export interface NudgeDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Why a session is nothing to review, if there is a reason: Knack's own work. */
  readonly passesOver?: (session: Session) => Promise<string | null>;
}

export interface NudgeOptions {
  readonly limits: ReviewLimits;
  /** A person asks for it: only what nobody may exceed holds it back. */
  readonly asked: boolean;
  readonly running: boolean;
  /** What a review of a window would meet; looked at only where nothing else is in the way. */
  readonly ahead?: (project: string, window: Window) => Promise<Prospect>;
  /** Notes nothing. */
  readonly dryRun?: boolean;
}

/** Whether a review of a project is worth its cost now; a no is noted, with what it would have looked at. */
export async function nudge(deps: NudgeDeps, project: string, options: NudgeOptions): Promise<NudgeDecided> {
  const sessions = await sessionsIn(deps.store, project);
  const decided = (await decideOn(deps, new Map([[project, sessions]]), options)).get(project);
  if (decided === undefined) throw new Error(`nothing was decided about ${project}`);
  if (!options.dryRun) await noteDecision(deps, project, decided);
  return decided;
}

/** The same for every project in which something is new, the latest first, without noting anything. */
export async function nudges(
  deps: NudgeDeps,
  options: Omit<NudgeOptions, "dryRun">,
): Promise<{ readonly project: string; readonly decision: NudgeDecided }[]> {
  const byProject = new Map<string, Session[]>();
  for (const session of onceEach(await deps.store.sessions.list()))
    byProject.set(session.project.id, [...(byProject.get(session.project.id) ?? []), session]);
  return [...(await decideOn(deps, byProject, options))]
    .map(([project, decision]) => ({ project, decision }))
    .filter(({ decision }) => decision.window.stretches.length > 0)
    .sort((a, b) => b.decision.window.until - a.decision.window.until);
}

/** Decides about projects; what the ledger has is read once for all of them. */
async function decideOn(
  deps: NudgeDeps,
  projects: ReadonlyMap<string, readonly Session[]>,
  { limits, asked, running, ahead = async () => clear }: NudgeOptions,
): Promise<Map<string, NudgeDecided>> {
  const now = deps.clock.now();
  const reviews = await reviewsOf(deps.store);
  const signals = await signalsOf(deps.store);
  const news = new Map<string, News>();
  for (const [project, sessions] of projects)
    news.set(project, await newsIn(deps, project, sessions, reviews, signals));
  const entries = [...(await measuredSince(deps.store, news.values())), ...signals];
  const common = { limits, asked, running, now, ...(await spentSoFar(deps.store, reviews, now)) };
  const decided = new Map<string, NudgeDecided>();
  for (const [project, { reviewed, window }] of news) {
    const ground = { ...common, counters: countersOf(entries, project, reviewed, window), window };
    const first = decide({ ...ground, prospect: clear });
    decided.set(project, first.run ? decide({ ...ground, prospect: await ahead(project, window) }) : first);
  }
  return decided;
}

/** What is new in a project, and since when. */
interface News {
  readonly reviewed: ReviewedSoFar;
  readonly window: Window;
  readonly startedAt: number | null;
}

async function newsIn(
  deps: NudgeDeps,
  project: string,
  sessions: readonly Session[],
  reviews: readonly ReviewEntry[],
  signals: readonly LedgerEntry[],
): Promise<News> {
  const reviewed = reviewedSoFar(reviews, project);
  const own = signals.filter((entry) => entry.project === project);
  return { reviewed, ...(await newIn(deps, sessions, reviewed, newSignals(own, reviewed))) };
}

/** What sessions came to; only those that have grown can have said more. */
async function measuredSince({ ledger }: Store, news: Iterable<News>): Promise<LedgerEntry[]> {
  const starts = [...news].flatMap(({ startedAt }) => startedAt ?? []);
  return starts.length > 0 ? ledger.since("session.measured", Math.min(...starts)) : [];
}

/** What reviews and calls came to, for all projects. */
async function spentSoFar(store: Store, reviews: readonly ReviewEntry[], now: number) {
  const calls = await callsIn(store, now);
  const ended = reviews.filter((entry) => entry.type === "review.ended");
  return {
    ...paceOf(reviews, now),
    spent: spendOf(calls, now).usd,
    spentAhead: spentAhead(calls, now),
    openUntil: openUntil(calls, now) ?? failingUntil(ended, now),
  };
}

/** The calls of models in the last day. */
async function callsIn({ ledger }: Store, now: number): Promise<LedgerEntry[]> {
  const since = now - defaults.model.dayMs;
  return [...(await ledger.since("model.asked", since)), ...(await ledger.since("model.called", since))];
}

/** The signals that were given, and what makes some of them none. */
async function signalsOf(store: Store): Promise<EntryOf<"signal.given" | "learning.finished">[]> {
  return [...(await openSignals(store)), ...(await store.ledger.since("learning.finished", 0))];
}

const clear: Prospect = { unread: null, least: 0, call: 0 };

type ReviewEntry = EntryOf<"review.begun" | "review.ended">;

export async function reviewsOf({ ledger }: Store): Promise<ReviewEntry[]> {
  return [...(await ledger.since("review.begun", 0)), ...(await ledger.since("review.ended", 0))];
}

async function sessionsIn({ sessions }: Store, project: string): Promise<Session[]> {
  return onceEach((await sessions.list()).filter((session) => session.project.id === project));
}

/** Sessions, each by its transcript. */
function onceEach(sessions: readonly Session[]): Session[] {
  return tellingsOf(sessions).map(([main]) => main);
}

/**
 * What is new in sessions since they were reviewed, by the numbers of their events: as many sessions as one review looks
 * at, first those that a new signal is about, then the latest. Events that are gone cannot be looked at. Of what other
 * agents did for a session, the session itself has the result: they are looked at where a signal is about them.
 */
async function newIn(
  deps: NudgeDeps,
  sessions: readonly Session[],
  reviewed: Pick<ReviewedSoFar, "ends">,
  signals: readonly CountedEntry[],
): Promise<{ readonly window: Window; readonly startedAt: number | null }> {
  const needed = needsOf(signals);
  const isSignalled = (session: Session) =>
    session.counts.events >=
    (needed.get(session.id) ?? needed.get(threadOf(session)) ?? Number.POSITIVE_INFINITY);
  const hasGrown = ({ id, subagent, counts: { events } }: Session) =>
    !subagent && events > lookedTo(reviewed, id, events);
  const grown = sessions
    .filter((one) => isSignalled(one) || hasGrown(one))
    .sort((a, b) => Number(isSignalled(b)) - Number(isSignalled(a)) || latestFirst(a, b));
  const looked = (await thereIn(deps, grown, defaults.nudge.sessions)).sort(latestFirst).reverse();
  // Where nothing but a signal is new, the stretch is empty: what the signal points to is told beside it.
  const stretches = looked.map((session): Stretch => {
    const to = session.counts.events;
    return { session: session.id, run: threadOf(session), from: lookedTo(reviewed, session.id, to) + 1, to };
  });
  if (stretches.length === 0) return { window: { stretches, since: 0, until: 0 }, startedAt: null };
  const begins = await Promise.all(
    looked.map(async ({ id, startedAt }, at) => {
      const [first] = await deps.store.events.page(id, (stretches[at]?.from ?? 1) - 1, 1);
      return first?.at ?? startedAt ?? 0;
    }),
  );
  return {
    window: { stretches, since: Math.min(...begins), until: Math.max(...looked.map(endOf)) },
    startedAt: Math.min(...looked.map(({ startedAt }) => startedAt ?? 0)),
  };
}

/** The first few of some sessions whose events are still there, and that are a person's own. */
async function thereIn(
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

/** By their sessions, the events that have to be there for one of some signals to be looked at. */
function needsOf(signals: readonly CountedEntry[]): Map<string, number> {
  const needed = new Map<string, number>();
  for (const { file, signal } of signals) {
    const last = lastNumber(signal);
    if (last > 0) needed.set(file, Math.min(last, needed.get(file) ?? last));
  }
  return needed;
}

function latestFirst(a: Session, b: Session): number {
  return endOf(b) - endOf(a) || (a.id < b.id ? -1 : 1);
}

function endOf({ endedAt, startedAt }: Session): number {
  return endedAt ?? startedAt ?? 0;
}

/** A reason is noted once for a window: not again whenever a session of it has grown. */
async function noteDecision({ store, clock }: NudgeDeps, project: string, data: NudgeDecided): Promise<void> {
  const begins = data.window.stretches.map(({ session, from }) => [session, from]);
  const key = `nudge:${idOf("n", JSON.stringify([project, data.because, begins]))}`;
  const common = { at: clock.now(), project, session: null, actor: "knack" as const };
  await store.transaction((tx) => note(tx, [{ ...common, type: "nudge.decided", key, data }]));
}

/** What reviews, and what they rest on, have come to. */
export interface ReviewsSoFar {
  /** In the last day; money is what all calls of models cost, since one budget holds for all. */
  readonly today: { readonly reviews: number; readonly usd: number };
  readonly last: EntryOf<"review.ended"> | null;
  /** Those that count and that no review has seen; and those that were refused, of all time. */
  readonly signals: { readonly counted: number; readonly refused: number };
}

export async function reviewsSoFar({ store, clock }: NudgeDeps): Promise<ReviewsSoFar> {
  const now = clock.now();
  const reviews = await reviewsOf(store);
  return {
    today: { reviews: paceOf(reviews, now).today, usd: spendOf(await callsIn(store, now), now).usd },
    last: reviews.findLast((entry) => entry.type === "review.ended") ?? null,
    signals: signalsSoFar(await signalsOf(store), reviews),
  };
}

function signalsSoFar(
  signals: readonly EntryOf<"signal.given" | "learning.finished">[],
  reviews: readonly ReviewEntry[],
): ReviewsSoFar["signals"] {
  const given = signals.flatMap((entry) => (entry.type === "signal.given" ? entry.data : []));
  const accepted = new Set(given.flatMap(({ id, refusal }) => (refusal === null ? id : [])));
  const refused = new Set(given.flatMap(({ id }) => (accepted.has(id) ? [] : id)));
  const unseen = [...new Set(signals.map(({ project }) => project))].flatMap((project) => {
    const own = signals.filter((entry) => entry.project === project);
    return newSignals(own, reviewedSoFar(reviews, project ?? ""));
  });
  return { counted: unseen.length, refused: refused.size };
}
