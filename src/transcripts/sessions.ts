import {
  countEvents,
  type Diagnostic,
  type Event,
  getThreadId,
  parseRef,
  type Session,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";

/** A session with all recordings of it: its transcript, and what hooks and programs saw. */
export interface SessionView extends Session {
  readonly diagnostics: readonly Diagnostic[];
  /** The other recordings that are merged into it. */
  readonly alsoFrom: readonly Session[];
}

/** The sessions of these files, or all, newest first; several recordings of one session are merged. */
export async function viewSessions(store: Store, paths?: readonly string[]): Promise<SessionView[]> {
  const sessions = await store.sessions.list(paths);
  const readings = await store.readings.of([...new Set(sessions.map(({ path }) => path))]);
  const byPath = new Map(readings.map((reading) => [reading.path, reading]));
  const views: SessionView[] = [];
  for (const [main, ...alsoFrom] of groupRecordings(sessions)) {
    const recordings = [main, ...alsoFrom];
    const diagnostics = recordings.flatMap(({ path }) => byPath.get(path)?.diagnostics ?? []);
    const view: SessionView = { ...main, ...findSpan(recordings), diagnostics, alsoFrom };
    // Without its events a session has the counts that its transcript had.
    const isCached = recordings.every(({ path }) => byPath.get(path)?.cachedAt != null);
    const isMerged = alsoFrom.length > 0 && isCached;
    views.push(isMerged ? { ...view, counts: countEvents(await readEvents(store, view)) } : view);
  }
  return views.sort((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0) || (a.id < b.id ? -1 : 1));
}

/** Every event of a session, from all recordings, in order. */
export async function readEvents(store: Store, { id, alsoFrom }: SessionView): Promise<Event[]> {
  const events = await store.events.of(id);
  if (alsoFrom.length === 0) return events;
  return mergeEvents(events, await Promise.all(alsoFrom.map((other) => store.events.of(other.id))));
}

/** The events of a session with these refs. What only another recording has needs all of them merged. */
export async function readEventsByRef(
  store: Store,
  session: SessionView,
  refs: readonly string[],
): Promise<Event[]> {
  const wanted = new Set(refs);
  const own = await store.events.some(
    session.id,
    [...wanted].filter((ref) => ref.startsWith("e")),
  );
  const isAll = own.length === wanted.size && own.every(({ outcome }) => outcome !== "unknown");
  if (isAll || session.alsoFrom.length === 0) return own;
  return (await readEvents(store, session)).filter(({ ref }) => wanted.has(ref));
}

/** Events fetched at a time. */
const pageEvents = 1_000;

/** Every event of a session, a page at a time: a transcript may be long. */
export async function* eachEvent(store: Store, session: SessionView): AsyncGenerator<Event> {
  if (session.alsoFrom.length > 0) return yield* await readEvents(store, session);
  for (let after = 0; ; ) {
    const page = await store.events.page(session.id, after, pageEvents);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = parseRef(last.ref);
  }
}

/** Groups the recordings of one session, the one to follow first. */
export function groupRecordings(sessions: readonly Session[]): [Session, ...Session[]][] {
  const groups: [Session, ...Session[]][] = [];
  const bySession = new Map<string, [Session, ...Session[]][]>();
  for (const session of [...sessions].sort((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1))) {
    const key = session.sessionId === null ? null : getThreadId(session);
    const known = key === null ? undefined : bySession.get(key);
    // A resumed or forked session may have several transcripts; each is a session of its own.
    if (known && rank(session) > 0) {
      (known.find(([main]) => main.path === session.transcriptPath) ?? (known[0] as [Session])).push(session);
      continue;
    }
    const made: [Session] = [session];
    groups.push(made);
    if (key !== null) bySession.set(key, [...(known ?? []), made]);
  }
  return groups;
}

/** Transcripts know most, then hooks, then programs. */
function rank({ format }: Session): number {
  return format === "hook" ? 1 : format === "program" ? 2 : 0;
}

function findSpan(recordings: readonly Session[]): Pick<Session, "startedAt" | "endedAt"> {
  const starts = recordings.flatMap(({ startedAt }) => startedAt ?? []);
  const ends = recordings.flatMap(({ endedAt }) => endedAt ?? []);
  return {
    startedAt: starts.length > 0 ? Math.min(...starts) : null,
    endedAt: ends.length > 0 ? Math.max(...ends) : null,
  };
}

/**
 * One session from several recordings: the first is followed (a transcript, where there is one), and what only the
 * others have is inserted where they have it. Nothing is there twice, nothing is lost. What comes from another
 * recording has its ref there, with that recording's letter: `h3` is a hook's `e3`.
 */
export function mergeEvents(followed: readonly Event[], others: readonly (readonly Event[])[]): Event[] {
  return others.reduce<Event[]>(mergeTwo, [...followed]);
}

function mergeTwo(followed: readonly Event[], other: readonly Event[]): Event[] {
  const merged = followed.map((event) => [event]);
  const before: Event[] = [];
  const twins = new Map<string, number[]>();
  for (const [at, event] of followed.entries()) {
    const key = identify(event);
    const known = twins.get(key);
    if (known) known.push(at);
    else twins.set(key, [at]);
  }
  let at = -1;
  for (const event of other) {
    const twin = twins.get(identify(event))?.shift();
    if (twin === undefined) {
      const turn = followed[at]?.turn ?? event.turn;
      const ref = `${event.source === "tool-hook" ? "p" : "h"}${event.ref.slice(1)}`;
      (merged[at] ?? before).push({ ...event, ref, turn });
      continue;
    }
    at = twin;
    const known = followed[twin] as Event;
    if (known.outcome === "unknown" && event.outcome !== "unknown") {
      const { outcome, exitCode, text, endedAt } = event;
      (merged[twin] as Event[])[0] = { ...known, outcome, exitCode, text: text || known.text, endedAt };
    }
  }
  return [...before, ...merged.flat()];
}

/** How the same event in another recording is recognised: a call by its id, words by what they say. */
function identify(event: Event): string {
  if (event.kind === "call")
    return event.callId === null ? `call ${event.ref} ${event.source}` : `call ${event.callId}`;
  // Long texts are cut differently by the time they are kept; their beginning tells them apart.
  const beginning = event.text.slice(0, 2_000).replace(/\s+/g, " ").trim().slice(0, 1_000);
  return `${event.kind === "reply" ? "reply" : "said"} ${beginning}`;
}
