import { existsSync, realpathSync } from "node:fs";
import { KnackError } from "../base/index.ts";
import { refold } from "../lessons/index.ts";
import {
  countEvents,
  type Diagnostic,
  type Event,
  getThreadId,
  isPersons,
  type Project,
  parseRef,
  resolveProjectIds,
  type Session,
} from "../records/index.ts";
import { isWithin } from "../settings/index.ts";
import type { ChainFault, Store } from "../store/index.ts";
import { type IngestDeps, type IngestOptions, ingest } from "./ingest.ts";
import { isInPart, mostPartEvents, type SessionPart } from "./parts.ts";
import { findFolderAmong } from "./readers/readers.ts";
import { createRecorder } from "./recorder.ts";

/** A session with all recordings of it: its transcript, and what hooks and programs saw. */
export interface SessionView extends Session {
  readonly diagnostics: readonly Diagnostic[];
  /** The other recordings that are merged into it. */
  readonly alsoFrom: readonly Session[];
  /** The part of it that is meant; all of it where none is named. */
  readonly part?: SessionPart;
}

/** The sessions of these files, or all, newest first; several recordings of one session are merged. */
export async function viewSessions(store: Store, paths?: readonly string[]): Promise<SessionView[]> {
  const identify = await openProjects(store);
  const sessions = (await store.sessions.list(paths)).map((one) => ({ ...one, project: identify(one) }));
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

/** One repository is one project, whichever of its folders, clones or agents a session is of. */
async function openProjects(store: Store): Promise<(session: Session) => Project> {
  const places = await store.sessions.places();
  const roots = places.flatMap(({ root }) => root ?? []);
  const resolve = resolveProjectIds(places);
  return ({ project, cwd, remote }) => {
    const root = project.root ?? findFolderAmong({ cwd, remote }, roots);
    const id = resolve(project.root === null && root !== null ? root : project.id);
    return id === project.id ? project : { id, name: id.split(/[/\\]/).pop() ?? id, root };
  };
}

/** A person's first words come after what a program puts in front of them. */
const openingEvents = 8;

/** Every event of a session or of a part of it, from all recordings, in order. */
export async function readEvents(store: Store, { id, alsoFrom, part }: SessionView): Promise<Event[]> {
  if (part) {
    const most = (part.until ?? part.after + mostPartEvents) - part.after;
    return (await store.events.page(id, part.after, most)).filter(({ ref }) => isInPart(ref, part));
  }
  const events = await store.events.of(id);
  if (alsoFrom.length === 0) return events;
  const others = await Promise.all(alsoFrom.map((other) => store.events.of(other.id)));
  return others.reduce<Event[]>(mergeEvents, events);
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
async function* eachEvent(store: Store, session: SessionView): AsyncGenerator<Event> {
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
 * One session from two recordings: the first is followed (a transcript, where there is one), and what only the other has
 * is inserted where it has it. Nothing is there twice, nothing is lost. What comes from another recording has its ref
 * there, with that recording's letter: `h3` is a hook's `e3`.
 */
function mergeEvents(followed: readonly Event[], other: readonly Event[]): Event[] {
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

interface SessionDeps extends IngestDeps {
  readonly spool: string;
  readonly agentSessions: AgentSessions;
}

/** Where the agents on this machine keep their sessions, and which of the files there are such. */
interface AgentSessions {
  folders(): string[];
  matcher(): (path: string) => boolean;
}

/** Sessions, their events, and the projects they were in. */
export function openSessions(deps: SessionDeps) {
  const { store, transcripts, clock, spool, agentSessions } = deps;
  return {
    /** Reads these files and folders, or the sessions of all agents on this machine, and returns what they hold. */
    sessions: async (
      paths?: readonly string[],
      options?: IngestOptions,
    ): Promise<{ sessions: SessionView[]; diagnostics: Diagnostic[]; unread: number }> => {
      const { files, diagnostics } = transcripts.find(
        paths ?? dropMissing([...agentSessions.folders(), spool]),
      );
      // Agents keep other files beside their sessions; only a person who names a folder wants to hear of them.
      const isSession = agentSessions.matcher();
      const found = paths ? files : files.filter(({ path }) => isWithin(spool, path) || isSession(path));
      const unread = await ingest(deps, found, options);
      const read = found.map(({ path }) => path);
      const sessions = await viewSessions(store, read);
      const told = new Set(sessions.flatMap((one) => [one, ...one.alsoFrom]).map(({ path }) => path));
      const rest = (await store.readings.of(read)).flatMap((one) => one.diagnostics);
      return {
        sessions,
        diagnostics: [...diagnostics, ...rest.filter(({ path }) => !told.has(path))],
        unread,
      };
    },
    /** The transcripts of agents on this machine. */
    agentTranscripts: async () => {
      const { files } = transcripts.find(dropMissing(agentSessions.folders()));
      const isSession = agentSessions.matcher();
      return files.filter(({ path }) => isSession(path));
    },
    /** The sessions that were read, newest first, as they were then: no transcript is looked at. */
    knownSessions: (paths?: readonly string[]) => viewSessions(store, paths),
    events: (session: SessionView) => readEvents(store, session),
    /** What a person asked for first; null where nobody did within the first events. */
    opening: async ({ id }: SessionView) =>
      (await store.events.page(id, 0, openingEvents)).find(isPersons)?.text ?? null,
    /** The events of a session, a few at a time. */
    eachEvent: (session: SessionView) => eachEvent(store, session),
    /** The agents' own ids of all sessions. */
    runs: async () => (await store.sessions.list()).map(({ sessionId, id }): string => sessionId ?? id),
    projects: () => store.projects.list(),
    /** Records the events of one session that a program hands over. */
    recorder: (options: Omit<Parameters<typeof createRecorder>[0], "spool" | "clock"> = {}) =>
      createRecorder({ spool, clock, ...options }),
    /** Checks Knack's own state. */
    check: async () => ({
      damage: [...(await store.check()), ...(await findUnreadableRows(store))],
      drift: await rebuild(store, { dryRun: true }),
      entries: await store.ledger.count(),
      chain: await store.ledger.inspect(),
    }),
    /** Goes on with a ledger that is not as it was written, by a person's word. */
    acceptLedger: (faults: readonly ChainFault[]) => store.ledger.accept(faults),
  };
}

/** The folders that exist, each once, though one may be a link to another. */
function dropMissing(folders: readonly string[]): string[] {
  const real = folders.filter(existsSync).map((folder) => [realpathSync(folder), folder] as const);
  return [...new Map(real.reverse()).values()];
}

// --- Rows that follow from others ---

/** A row that differs from what the ledger and the events add up to. */
type Drift = { readonly what: string; readonly is: string; readonly shouldBe: string };

/** Derives every row again that follows from others, and answers with what differed; a dry run changes nothing. */
export async function rebuild(store: Store, { dryRun = false } = {}): Promise<Drift[]> {
  const undone = new Error("only looking");
  let drift: Drift[] = [];
  try {
    await store.transaction(async (tx) => {
      const before = await describeRows(tx);
      await tx.sessions.save(await recount(tx));
      await refold(tx);
      const after = await describeRows(tx);
      drift = [...new Set([...before.keys(), ...after.keys()])].flatMap((what) => {
        const [is, shouldBe] = [before.get(what) ?? "missing", after.get(what) ?? "missing"];
        return is === shouldBe ? [] : [{ what, is, shouldBe }];
      });
      if (dryRun) throw undone;
    });
  } catch (error) {
    if (error !== undone) throw error;
  }
  return drift;
}

/** Every derived row as JSON, by what it is about. */
async function describeRows(store: Store): Promise<Map<string, string>> {
  const { lessons, changes } = store.learning;
  const rows: (readonly [what: string, row: object])[] = [
    ...(await store.projects.list()).map((row) => [`project ${row.id}`, row] as const),
    ...(await store.sessions.list()).map(({ id, counts }) => [`counts of ${id}`, counts] as const),
    ...(await lessons.list()).map((row) => [`lesson ${row.id}`, row] as const),
    ...(await changes.list()).map((row) => [`change ${row.change.id}`, row] as const),
    ...(await store.goals.briefs(null)).map((row) => [`goal ${row.id}`, row] as const),
  ];
  return new Map(rows.map(([what, row]) => [what, JSON.stringify(row)]));
}

/** Sessions with the counts of their cached events; those whose events were purged keep the counts they have. */
async function recount(store: Store): Promise<Session[]> {
  const sessions = await store.sessions.list();
  const readings = await store.readings.of([...new Set(sessions.map(({ path }) => path))]);
  const cached = new Set(readings.flatMap(({ path, cachedAt }) => (cachedAt === null ? [] : path)));
  const counted: Session[] = [];
  for (const session of sessions)
    if (cached.has(session.path)) counted.push({ ...session, counts: await store.events.count(session.id) });
  return counted;
}

/** The sessions whose stored events cannot be read back, in words. */
async function findUnreadableRows(store: Store): Promise<string[]> {
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
