import { type Counts, countEvents, type Event } from "../core/event.ts";
import { foldProjects, type ProjectFold } from "../core/ledger.ts";
import { mergeEvents } from "../core/merge.ts";
import type { Diagnostic, Session } from "../core/session.ts";
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
  const problems = new Map<string, readonly Diagnostic[]>();
  for (const { path, diagnostics } of await store.readings.of([
    ...new Set(sessions.map((session) => session.path)),
  ])) {
    problems.set(path, diagnostics);
  }
  const views = await Promise.all(
    group(sessions).map(async ([main, ...alsoFrom]) => {
      const diagnostics = [main, ...alsoFrom].flatMap(({ path }) => problems.get(path) ?? []);
      const view: SessionView = { ...main, diagnostics, alsoFrom };
      return alsoFrom.length === 0
        ? view
        : { ...view, counts: countEvents(await eventsOf(store, view)), ...spanOf(main, alsoFrom) };
    }),
  );
  return views.sort((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0) || (a.id < b.id ? -1 : 1));
}

/** Every event of a session, from all tellings, in order. */
export async function eventsOf(store: Store, { id, alsoFrom }: SessionView): Promise<Event[]> {
  const events = await store.events.of(id);
  if (alsoFrom.length === 0) return events;
  return mergeEvents(events, await Promise.all(alsoFrom.map((other) => store.events.of(other.id))));
}

/** Puts the tellings of one session together, the one to follow first. */
function group(sessions: readonly Session[]): [Session, ...Session[]][] {
  const groups: [Session, ...Session[]][] = [];
  const bySession = new Map<string, [Session, ...Session[]][]>();
  for (const session of [...sessions].sort((a, b) => trust(a) - trust(b) || (a.id < b.id ? -1 : 1))) {
    const key = session.sessionId === null ? null : `${session.sessionId}/${session.agentId ?? ""}`;
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

function spanOf(main: Session, others: readonly Session[]): Pick<Session, "startedAt" | "endedAt"> {
  const all = [main, ...others];
  const starts = all.flatMap(({ startedAt }) => startedAt ?? []);
  const ends = all.flatMap(({ endedAt }) => endedAt ?? []);
  return {
    startedAt: starts.length ? Math.min(...starts) : null,
    endedAt: ends.length ? Math.max(...ends) : null,
  };
}

/** Where a row does not say what it should, and what it should say. */
export interface Drift {
  readonly what: string;
  readonly is: string;
  readonly shouldBe: string;
}

/** Compares every row that follows from something else with what it follows from. */
export async function findDrift(store: Store): Promise<Drift[]> {
  const folded = foldProjects(await store.ledger.all());
  const rows = new Map((await store.projects.list()).map((row) => [row.id, row]));
  const drift: Drift[] = [];
  for (const id of new Set([...folded.keys(), ...rows.keys()])) {
    const [is, shouldBe] = [inWords(rows.get(id)), inWords(folded.get(id))];
    if (is !== shouldBe) drift.push({ what: `project ${id}`, is, shouldBe });
  }
  for (const { session, counts } of await recount(store)) {
    const [is, shouldBe] = [JSON.stringify(session.counts), JSON.stringify(counts)];
    if (is !== shouldBe) drift.push({ what: `counts of ${session.id}`, is, shouldBe });
  }
  return drift;
}

/** Computes those rows anew. */
export async function rebuild(store: Store): Promise<Drift[]> {
  return store.transaction(async (tx) => {
    const drift = await findDrift(tx);
    if (drift.length === 0) return drift;
    await tx.projects.replace([...foldProjects(await tx.ledger.all()).values()]);
    await tx.sessions.save((await recount(tx)).map(({ session, counts }) => ({ ...session, counts })));
    return drift;
  });
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

function inWords(row: ProjectFold | undefined): string {
  if (!row) return "missing";
  const { id, name, root, firstAt, lastAt, sessions } = row;
  return JSON.stringify({ id, name, root, firstAt, lastAt, sessions });
}
