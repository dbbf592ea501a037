import { breakUntil } from "../../models/index.ts";
import type {
  EntryOf,
  LedgerEntry,
  ReviewCounters,
  ReviewEnded,
  ReviewWindow,
  SessionMeasurement,
  SessionStretch,
} from "../../records/index.ts";
import { type CountedEntry, countSignals, lastEventNumber } from "../signals/signal.ts";

/** How far a project was reviewed. */
export interface ReviewProgress {
  /** When the last successful review began and ended, and until when it looked; null before the first. */
  readonly begunAt: number | null;
  readonly endedAt: number | null;
  readonly until: number | null;
  /** Where reviews of a session ended, by the id of its transcript. */
  readonly ends: ReadonlyMap<string, readonly number[]>;
  /** How far each session was reviewed, by the id of its transcript and by the agent's id. */
  readonly sessions: ReadonlyMap<string, SessionProgress>;
}

/** The last event that was reviewed, when such a review last began, and until when it looked. */
interface SessionProgress {
  readonly to: number;
  readonly begunAt: number;
  readonly until: number;
}

/** Prompts in a session, and calls for them. */
export interface SessionWork {
  readonly run: string;
  readonly turns: number;
  readonly calls: number;
}

type EndedEntry = EntryOf<"review.ended">;

/** Reviews of a window that fail after which it is given up. */
export const maxTries = 3;

/** Whether a review is done with its window, so that it is not looked at again. */
function isReviewed({ outcome }: Pick<ReviewEnded, "outcome">): boolean {
  return outcome !== "failed" && outcome !== "skipped";
}

function isFailure({ outcome }: Pick<ReviewEnded, "outcome">): boolean {
  return outcome === "failed" || outcome === "given-up";
}

/** Adds up the reviews of a project. */
export function sumProgress(entries: Iterable<LedgerEntry>, project: string): ReviewProgress {
  const begun = new Map<string, number>();
  const ended: EndedEntry[] = [];
  for (const entry of entries) {
    if (entry.project !== project) continue;
    if (entry.type === "review.begun")
      begun.set(entry.data.review, Math.max(begun.get(entry.data.review) ?? 0, entry.at ?? 0));
    if (entry.type === "review.ended") ended.push(entry);
  }
  ended.sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
  const beginning = ({ at, data }: EndedEntry) => begun.get(data.review) ?? at ?? 0;
  const looks = ended.flatMap((entry, n) =>
    isReviewed(entry.data) ? listLooks(entry, ended.slice(0, n), beginning) : [],
  );
  const latest = (times: readonly number[]) => (times.length > 0 ? Math.max(...times) : null);
  return {
    begunAt: latest(looks.map(({ begunAt }) => begunAt)),
    endedAt: latest(ended.flatMap(({ at, data }) => (isReviewed(data) ? (at ?? 0) : []))),
    until: latest(looks.map(({ until }) => until)),
    ...groupLooks(looks),
  };
}

type ReviewLook = Pick<SessionProgress, "begunAt" | "until"> & Pick<ReviewWindow, "stretches">;

/** Of a stretch that was given up, the first failed look counts: what was said after it was looked at less often. */
function listLooks(
  entry: EndedEntry,
  before: readonly EndedEntry[],
  beginning: (entry: EndedEntry) => number,
): ReviewLook[] {
  const { until, stretches } = finishedPart(entry.data);
  // Nothing that was looked at happened after the look began, whatever its time says.
  const look = (begunAt: number, some: ReviewWindow["stretches"]): ReviewLook => ({
    ...{ begunAt, until: Math.min(until, begunAt), stretches: some },
  });
  if (entry.data.givenUp === undefined) return [look(beginning(entry), stretches)];
  return stretches.map((one) => look(beginning(listFailedLooks(before, one)[0] ?? entry), [one]));
}

function groupLooks(looks: readonly ReviewLook[]): Pick<ReviewProgress, "ends" | "sessions"> {
  const [ends, sessions] = [new Map<string, number[]>(), new Map<string, SessionProgress>()];
  for (const { begunAt, until, stretches } of looks)
    for (const { session, run, to } of stretches) {
      ends.set(session, [...(ends.get(session) ?? []), to]);
      for (const id of [session, run]) {
        const known = sessions.get(id) ?? { to, begunAt, until };
        sessions.set(id, {
          to: Math.max(known.to, to),
          begunAt: Math.max(known.begunAt, begunAt),
          until: Math.max(known.until, until),
        });
      }
    }
  return { ends, sessions };
}

/** The last reviewed event of a session. An end behind its last event belongs to a transcript that was rewritten since. */
export function findReviewedEnd(
  { ends }: Pick<ReviewProgress, "ends">,
  session: string,
  events: number,
): number {
  return Math.max(0, ...(ends.get(session) ?? []).filter((end) => end <= events));
}

/** What happened in a project since its last successful review; signals outside the window do not count. */
export function countSince(
  entries: readonly LedgerEntry[],
  project: string,
  progress: ReviewProgress = sumProgress(entries, project),
  window: ReviewWindow | null = null,
): ReviewCounters {
  const own = entries.filter((entry) => entry.project === project);
  const work = listWork(listMeasurements(own), progress).map((one) => limitToWindow(one, window));
  const inWindow = window && new Set<string>(window.stretches.flatMap(({ session, run }) => [session, run]));
  const fresh = findNewSignals(own, progress).filter(({ file }) => inWindow === null || inWindow.has(file));
  return {
    calls: work.reduce((sum, { calls }) => sum + calls, 0),
    turns: work.reduce((sum, { turns }) => sum + turns, 0),
    // Several sessions that show the same thing count once.
    signals: new Set(fresh.flatMap(({ signal }) => (signal.kind === "create" ? signal.nameHint : []))).size,
    hints: fresh.filter(({ signal }) => signal.kind === "update").length,
    lastReviewAt: progress.endedAt,
    reviewedUntil: progress.until,
  };
}

/** The signals that no review has seen: given after the last review of their session began, or about later events. */
export function findNewSignals(
  entries: Iterable<LedgerEntry>,
  { begunAt, sessions }: Pick<ReviewProgress, "begunAt" | "sessions">,
): CountedEntry[] {
  return countSignals(entries).filter(({ at, file, signal }) => {
    const own = sessions.get(file);
    const since = own?.begunAt ?? begunAt;
    return since === null || at > since || lastEventNumber(signal) > (own?.to ?? 0);
  });
}

type SessionSize = Pick<SessionMeasurement, "run" | "events" | "turns" | "beyond">;

export function listMeasurements(entries: readonly LedgerEntry[]): SessionMeasurement[] {
  return entries.flatMap(({ type, data }) => (type === "session.measured" ? data : []));
}

/** The work in each session since it was reviewed. A session with several files counts by its longest one with a prompt. */
export function listWork(
  measured: readonly SessionSize[],
  progress: Pick<ReviewProgress, "sessions"> | null = null,
): SessionWork[] {
  const longest = new Map<string, SessionSize>();
  for (const one of measured)
    if (one.turns.length > 0 && (longest.get(one.run)?.events ?? 0) <= one.events) longest.set(one.run, one);
  return [...longest.values()].map(({ run, turns, beyond = [] }) => {
    const until = progress?.sessions.get(run)?.until ?? Number.NEGATIVE_INFINITY;
    const all = [...turns.map(([at, calls]) => [at, 1, calls] as const), ...beyond];
    const after = all.filter(([at]) => at > until);
    return {
      run,
      turns: after.reduce((sum, [, count]) => sum + count, 0),
      calls: after.reduce((sum, [, , calls]) => sum + calls, 0),
    };
  });
}

/** Times may be wrong, event numbers are not: a window has at most as much work as events. */
function limitToWindow({ run, turns, calls }: SessionWork, window: ReviewWindow | null): SessionWork {
  const own = window?.stretches.filter((stretch) => stretch.run === run);
  const most = own?.reduce((sum, { from, to }) => sum + to - from + 1, 0) ?? Number.POSITIVE_INFINITY;
  return { run, turns: Math.min(turns, most), calls: Math.min(calls, most) };
}

/** Until when there is no review, after five in a row failed. Reviews that asked nobody do not count. */
export function findFailurePause(ended: readonly EndedEntry[], now: number): number | null {
  const tried = ended.filter(({ data }) => isFailure(data) || (data.outcome !== "skipped" && data.calls > 0));
  return breakUntil(
    tried.map(({ at, data }) => ({ at: at ?? 0, ok: !isFailure(data) })),
    now,
  );
}

/**
 * The part of a window that failed review three times, this time included, and is abandoned; null where none did. What
 * joined the window later is looked at again.
 */
export function findGivenUp(
  ended: readonly EndedEntry[],
  project: string,
  window: ReviewWindow,
): ReviewWindow | null {
  const own = ended.filter((entry) => entry.project === project);
  const found = window.stretches.flatMap((stretch) => {
    const failed = listFailedLooks(own, stretch).map(({ data }) => ({
      to: findStretch(data.window, stretch.session)?.to ?? 0,
      until: data.window.until,
    }));
    const looks = [...failed, { to: stretch.to, until: window.until }].sort((a, b) => b.to - a.to);
    const last = looks[maxTries - 1];
    return last ? { stretch: { ...stretch, to: Math.min(stretch.to, last.to) }, until: last.until } : [];
  });
  if (found.length === 0) return null;
  return {
    stretches: found.map(({ stretch }) => stretch),
    since: window.since,
    until: Math.min(window.until, Math.max(...found.map(({ until }) => until))),
  };
}

/** The failed reviews of a stretch since its session was last finished: until then it begins at the same event. */
function listFailedLooks(ended: readonly EndedEntry[], { session, from }: SessionStretch): EndedEntry[] {
  const isFinished = ({ data }: EndedEntry) =>
    isReviewed(data) && findStretch(finishedPart(data), session) !== undefined;
  return ended
    .slice(ended.findLastIndex(isFinished) + 1)
    .filter(({ data }) => isFailure(data) && findStretch(data.window, session)?.from === from);
}

function findStretch({ stretches }: ReviewWindow, session: string): SessionStretch | undefined {
  return stretches.find((stretch) => stretch.session === session);
}

function finishedPart({ window, givenUp }: Pick<ReviewEnded, "window" | "givenUp">): ReviewWindow {
  return givenUp ?? window;
}
