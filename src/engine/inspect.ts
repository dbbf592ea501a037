import { KnackError } from "../core/errors.ts";
import { type Counts, countEvents, type Event, numberOf } from "../core/event.ts";
import { foldProjects } from "../core/ledger.ts";
import { mergeEvents } from "../core/merge.ts";
import { type Diagnostic, type Session, threadOf } from "../core/session.ts";
import { absorb } from "./absorb.ts";
import type { Store } from "./ports.ts";

/** A session with everything that was told about it: its transcript, and what hooks and programs saw. */
export interface SessionView extends Session {
  readonly diagnostics: readonly Diagnostic[];
  /** The other tellings that are merged into it. */
  readonly alsoFrom: readonly Session[];
}

/** The sessions of these files, or all, newest first; tellings of one session are one. */
export async function viewSessions(store: Store, paths?: readonly string[]): Promise<SessionView[]> {
  const sessions = await store.sessions.list(paths);
  const readings = await store.readings.of([...new Set(sessions.map(({ path }) => path))]);
  const byPath = new Map(readings.map((reading) => [reading.path, reading]));
  const views: SessionView[] = [];
  for (const [main, ...alsoFrom] of tellingsOf(sessions)) {
    const tellings = [main, ...alsoFrom];
    const diagnostics = tellings.flatMap(({ path }) => byPath.get(path)?.diagnostics ?? []);
    const view: SessionView = { ...main, ...spanOf(tellings), diagnostics, alsoFrom };
    // Without its events a session has the counts that its transcript had.
    const cached = tellings.every(({ path }) => byPath.get(path)?.cachedAt != null);
    const merged = alsoFrom.length > 0 && cached;
    views.push(merged ? { ...view, counts: countEvents(await eventsOf(store, view)) } : view);
  }
  return views.sort((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0) || (a.id < b.id ? -1 : 1));
}

/** Every event of a session, from all tellings, in order. */
export async function eventsOf(store: Store, { id, alsoFrom }: SessionView): Promise<Event[]> {
  const events = await store.events.of(id);
  if (alsoFrom.length === 0) return events;
  return mergeEvents(events, await Promise.all(alsoFrom.map((other) => store.events.of(other.id))));
}

/** Those of a session's events that refs name. What only another telling knows is asked of all of them together. */
export async function eventsNamed(
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
  return (await eventsOf(store, session)).filter(({ ref }) => wanted.has(ref));
}

/** Every event of a session, a few at a time: a transcript may be long. */
export async function* eachEvent(store: Store, session: SessionView): AsyncGenerator<Event> {
  if (session.alsoFrom.length > 0) return yield* await eventsOf(store, session);
  for (let after = 0; ; ) {
    const page = await store.events.page(session.id, after, eventsAtOnce);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = numberOf(last.ref);
  }
}

const eventsAtOnce = 1_000;

/** Puts the tellings of one session together, the one to follow first. */
export function tellingsOf(sessions: readonly Session[]): [Session, ...Session[]][] {
  const groups: [Session, ...Session[]][] = [];
  const bySession = new Map<string, [Session, ...Session[]][]>();
  for (const session of [...sessions].sort((a, b) => trust(a) - trust(b) || (a.id < b.id ? -1 : 1))) {
    const key = session.sessionId === null ? null : threadOf(session);
    const known = key === null ? undefined : bySession.get(key);
    // A resumed or forked session may have several transcripts; each is a session of its own.
    if (known && trust(session) > 0) {
      (known.find(([main]) => main.path === session.transcriptPath) ?? (known[0] as [Session])).push(session);
      continue;
    }
    const made: [Session] = [session];
    groups.push(made);
    if (key !== null) bySession.set(key, [...(known ?? []), made]);
  }
  return groups;
}

function trust({ format }: Session): number {
  return format === "hook" ? 1 : format === "program" ? 2 : 0;
}

function spanOf(tellings: readonly Session[]): Pick<Session, "startedAt" | "endedAt"> {
  const starts = tellings.flatMap(({ startedAt }) => startedAt ?? []);
  const ends = tellings.flatMap(({ endedAt }) => endedAt ?? []);
  return {
    startedAt: starts.length ? Math.min(...starts) : null,
    endedAt: ends.length ? Math.max(...ends) : null,
  };
}

/** What cannot be read back of what is stored, in words. */
export async function unreadableRows(store: Store): Promise<string[]> {
  const found: string[] = [];
  for (const session of await store.sessions.list()) {
    try {
      for await (const _ of eachEvent(store, { ...session, diagnostics: [], alsoFrom: [] }));
    } catch (error) {
      if (!(error instanceof KnackError)) throw error;
      found.push(`events of ${session.id}: ${error.message}`);
    }
  }
  return found;
}

/** Where a row does not say what it should, and what it should say. */
export interface Drift {
  readonly what: string;
  readonly is: string;
  readonly shouldBe: string;
}

/** Compares every row that follows from something else with what it follows from. */
export async function findDrift(store: Store): Promise<Drift[]> {
  const undone = new Error("only looking");
  let drift: Drift[] = [];
  try {
    await store.transaction(async (tx) => {
      drift = await computeAnew(tx);
      throw undone;
    });
  } catch (error) {
    if (error !== undone) throw error;
  }
  return drift;
}

/** Computes those rows anew. */
export async function rebuild(store: Store): Promise<Drift[]> {
  return store.transaction(computeAnew);
}

async function computeAnew(tx: Store): Promise<Drift[]> {
  const before = await followingRows(tx);
  const ledger = await tx.ledger.all();
  await tx.projects.replace([...foldProjects(ledger).values()]);
  await tx.sessions.save((await recount(tx)).map(({ session, counts }) => ({ ...session, counts })));
  await tx.learning.clear();
  await absorb(tx, ledger);
  const after = await followingRows(tx);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((what) => {
    const [is, shouldBe] = [before.get(what) ?? "missing", after.get(what) ?? "missing"];
    return is === shouldBe ? [] : [{ what, is, shouldBe }];
  });
}

/** Every row that follows from something else, by what it is about. */
async function followingRows(store: Store): Promise<Map<string, string>> {
  const { instincts, changes } = store.learning;
  return new Map([
    ...(await store.projects.list()).map((row) => [`project ${row.id}`, JSON.stringify(row)] as const),
    ...(await store.sessions.list()).map(
      ({ id, counts }) => [`counts of ${id}`, JSON.stringify(counts)] as const,
    ),
    ...(await instincts.list()).map((row) => [`instinct ${row.id}`, JSON.stringify(row)] as const),
    ...(await changes.list()).map((row) => [`change ${row.change.id}`, JSON.stringify(row)] as const),
  ]);
}

/** What the cached events of each session add up to; sessions whose events were purged keep the counts they have. */
async function recount(store: Store): Promise<{ session: Session; counts: Counts }[]> {
  const sessions = await store.sessions.list();
  const readings = await store.readings.of([...new Set(sessions.map(({ path }) => path))]);
  const cached = new Set(readings.flatMap(({ path, cachedAt }) => (cachedAt === null ? [] : path)));
  const counted = [];
  for (const session of sessions) {
    if (cached.has(session.path)) counted.push({ session, counts: await store.events.count(session.id) });
  }
  return counted;
}
