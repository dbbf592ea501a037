import { type Clock, makeId } from "../base/index.ts";
import { CallReader, causeGroups } from "../failures/index.ts";
import type { LearnConsent, ReadSession } from "../learning/index.ts";
import { ratedItemId, recordEntries } from "../lessons/index.ts";
import {
  type EntryOf,
  type Event,
  getSessionId,
  type Item,
  isUse,
  type LedgerEntry,
  type SessionMeasurement,
  type Symptom,
  shorten,
  type UseVerdict,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { divideSession, getReadMark, namePart, readEvents, type SessionView } from "../transcripts/index.ts";
import { redact } from "../trust/index.ts";
import { findUsage, namesItems, type ShownItem } from "./usage.ts";

/** Sessions in which a call was made without anybody having been told: from there on it is no sign of having been. */
const familiarSessions = 3;
/** Milliseconds before the first record of a session in which it may have been told something. */
const aheadMs = 86_400_000;
/** Characters of a reason. */
const reasonChars = 1_000;
/** Sessions recorded in one transaction. */
const sessionsAtOnce = 20;
/** Prompts, and failures, of a session that are kept to compare it with others; further prompts are added up in groups. */
const mostTurns = 200;
const mostFailures = 100;
const turnsTogether = 20;

interface CreditOptions {
  /** Why a session is not learned from, if there is a reason. */
  readonly refuses?: LearnConsent["isRefused"];
  readonly until?: () => boolean;
  /** Reads the library, only if a session is due; `whole` is false if part of it is unreadable. */
  readonly library: () => Promise<{ readonly items: readonly Item[]; readonly whole: boolean }>;
  /** Sessions just read, with their events. */
  readonly seen?: readonly ReadSession[];
}

/**
 * Looks at what sessions used of what they were shown and had, and how that went; `left` counts those there was no time
 * for. May be called again, in any order, and be killed at any point: a session is looked at once as it is, and once more
 * when it has grown or more is known of what it was shown.
 */
export async function creditSessions(
  store: Store,
  sessions: readonly SessionView[],
  { library, refuses = async () => null, until = () => false, seen = [] }: CreditOptions,
): Promise<{ sessions: number; used: number; rated: number; left: number }> {
  const shown = await loadShown(store, sessions);
  const due = await listDue(store, sessions, shown);
  if (due.length === 0) return { sessions: 0, used: 0, rated: 0, left: 0 };
  const read = readOnce(library);
  const [tellings, told] = [await listShown(store, shown), lookUpTold(store)];
  const atHand = new Map(seen.map((one) => [namePart(one.session), one]));
  let [passed, looked, used, rated] = [0, 0, 0, 0];
  for (let from = 0; from < due.length && !until(); from += sessionsAtOnce) {
    const some = due.slice(from, from + sessionsAtOnce);
    const corrections = await loadCorrections(store, some);
    const entries: LedgerEntry[] = [];
    for (const { session, key: wholeKey } of some) {
      if (until()) break;
      passed++;
      const known = atHand.get(namePart(session));
      const events = known?.events ?? (await readEvents(store, session));
      // Events are only a cache: of those that are gone nothing new can be told.
      if (events.length === 0 || (await refuses(session)) !== null) continue;
      const { items, whole } = namesItems(events) ? await read() : { items: [], whole: true };
      // Looked at once more when the whole library can be read.
      const key = whole ? wholeKey : `${wholeKey}:part`;
      if (!whole && (await store.ledger.has([key])).has(key)) continue;
      const found = await readUsage(store, session, events, {
        items,
        tellings: tellings.get(getSessionId(session)) ?? [],
        told,
      });
      const own = {
        ...{ run: getSessionId(session), startedAt: session.startedAt ?? 0 },
        ...(session.part ? { part: session.part.n, file: makeId("v", session.id) } : {}),
      };
      const measured = measureSession(events, known?.calls ?? new CallReader(), {
        ...own,
        corrections: corrections.get(session.id) ?? [],
      });
      entries.push(...(await buildEntries(store, session, key, measured, found)));
      looked++;
    }
    const added = await store.transaction((tx) => recordEntries(tx, entries));
    used += added.filter(({ type }) => type === "skill.used").length;
    rated += added.filter(({ type }) => type === "use.rated").length;
  }
  return { sessions: looked, used, rated, left: due.length - passed };
}

/**
 * Does this for sessions that were just read, but for those that were told something: what they did about it is judged by
 * what earlier sessions did, and not all of those may have been looked at.
 */
export async function creditUntold(
  store: Store,
  seen: readonly ReadSession[],
  options: CreditOptions,
): Promise<void> {
  const sessions = seen.map(({ session }) => session);
  const told = new Set((await loadShown(store, sessions)).map(({ session }) => session));
  const untold = sessions.filter((session) => !told.has(getSessionId(session)));
  await creditSessions(store, untold, { ...options, seen });
}

/** When people corrected the agent in these sessions, in the order of time. */
async function loadCorrections(
  { learning }: Store,
  due: readonly DueSession[],
): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  for (const { session, finding, at } of await learning.findings.ofSessions(due.map((one) => one.session.id)))
    if (finding.kind === "user-correction")
      times.set(
        session,
        [...(times.get(session) ?? []), at].sort((a, b) => a - b),
      );
  return times;
}

/** Most sessions name nothing of the library, which may be large. */
function readOnce(library: CreditOptions["library"]): CreditOptions["library"] {
  let read: ReturnType<typeof library> | null = null;
  return () => {
    read ??= library();
    return read;
  };
}

interface DueSession {
  readonly session: SessionView;
  /** Stands for the session as it is, and what it is known to have been shown. */
  readonly key: string;
}

/** The sessions that have something to say which was not looked at. */
async function listDue(
  store: Store,
  sessions: readonly SessionView[],
  shown: readonly ShownEntry[],
): Promise<DueSession[]> {
  const listFiles = (session: SessionView) => [session, ...session.alsoFrom];
  const paths = new Set(sessions.flatMap((session) => listFiles(session).map(({ path }) => path)));
  const readings = new Map((await store.readings.of([...paths])).map((row) => [row.path, row]));
  const times = new Map<string | null, number>();
  for (const { session } of shown) times.set(session, (times.get(session) ?? 0) + 1);
  const parts: SessionView[] = [];
  for (const session of sessions)
    parts.push(...(await divideSession(store, session, readings.get(session.path))));
  const all = parts.map((session) => {
    const digests = listFiles(session).map(({ id, path }) => {
      const reading = readings.get(path);
      return reading ? getReadMark(reading, id, session.part) : "";
    });
    const mark = makeId("m", JSON.stringify([digests, times.get(getSessionId(session)) ?? 0]));
    return { session, key: `measured:${namePart(session)}:${mark}` };
  });
  const done = await store.ledger.has(all.map(({ key }) => key));
  return all.filter(({ key }) => !done.has(key));
}

type ShownEntry = EntryOf<"lesson.shown" | "skill.shown">;

/** Everything shown since a day before the first of these sessions: start messages precede its first record. */
async function loadShown({ ledger }: Store, sessions: readonly SessionView[]): Promise<ShownEntry[]> {
  if (sessions.length === 0) return [];
  const since = Math.min(...sessions.map(({ startedAt }) => startedAt ?? 0)) - aheadMs;
  return [...(await ledger.since("lesson.shown", since)), ...(await ledger.since("skill.shown", since))];
}

/** Items shown, by the agent's session id. */
async function listShown(store: Store, shown: readonly ShownEntry[]): Promise<Map<string, ShownItem[]>> {
  const told = shown.flatMap((entry) => (entry.type === "lesson.shown" ? entry.data.lessonId : []));
  const known = await loadToldLessons(store, told);
  const describe = (entry: ShownEntry): ShownItem => {
    const at = entry.at ?? 0;
    if (entry.type === "skill.shown") {
      const { skill: id, name, text } = entry.data;
      return { kind: "skill", id, name, call: null, occasion: "prompt", text, at };
    }
    const { lessonId: id, occasion, text } = entry.data;
    const { name = id, call = null } = known.get(id) ?? {};
    return { kind: "lesson", id, name, call, occasion, text, at };
  };
  const bySession = new Map<string, ShownItem[]>();
  for (const entry of shown)
    bySession.set(entry.session ?? "", [...(bySession.get(entry.session ?? "") ?? []), describe(entry)]);
  return bySession;
}

/** Lessons as they are now, by the ids under which they were told. */
export async function loadToldLessons({ learning }: Store, told: readonly string[]) {
  const findings = await learning.findings.get([...new Set(told)]);
  const lessons = await learning.lessons.get([...new Set(findings.map(({ lessonId }) => lessonId))]);
  const byId = new Map(lessons.map((lesson) => [lesson.id, lesson]));
  const pairs = findings.map(({ id, lessonId }) => [id, byId.get(lessonId)] as const);
  return new Map(pairs.flatMap(([id, lesson]) => (lesson ? [[id as string, lesson]] : [])));
}

type FoundUsage = ReturnType<typeof findUsage>[number];

async function readUsage(
  store: Store,
  session: SessionView,
  events: readonly Event[],
  { told, ...shown }: { items: readonly Item[]; tellings: readonly ShownItem[]; told: ToldIn },
): Promise<FoundUsage[]> {
  const asked = new Map<string, { call: readonly string[]; id: string }>();
  const familiar = new Set<string>();
  const known = {
    ...shown,
    project: session.project.id,
    isFamiliar: (call: readonly string[], id: string) => {
      const key = JSON.stringify([call, id]);
      asked.set(key, { call, id });
      return familiar.has(key);
    },
  };
  const first = findUsage(events, known);
  // What is usual in a project matters only where something was told and done.
  if (first.length === 0) return first;
  for (const [key, { call, id }] of asked)
    if (await isFamiliar(store, session, call, await told(id))) familiar.add(key);
  return familiar.size === 0 ? first : findUsage(events, known);
}

/** Whether enough earlier sessions of the project made a call without having been told. */
async function isFamiliar(
  { learning }: Store,
  session: SessionView,
  call: readonly string[],
  told: ReadonlySet<string>,
): Promise<boolean> {
  const uses = await learning.uses.of(call[0] ?? "", session.project.id);
  const runs = uses.flatMap((use) =>
    use.at < (session.startedAt ?? 0) && !told.has(use.run) && isUse(use, call) ? use.run : [],
  );
  return new Set(runs).size >= familiarSessions;
}

/** The sessions in which something was told or used. */
type ToldIn = (id: string) => Promise<ReadonlySet<string>>;

/** Read when first asked for: few sessions need it. */
function lookUpTold({ ledger }: Store): ToldIn {
  let sessions: Promise<Map<string, Set<string>>> | null = null;
  const read = async () => {
    const byId = new Map<string, Set<string>>();
    for (const type of ["skill.shown", "lesson.shown", "skill.used"] as const)
      for (const entry of await ledger.since(type, 0)) {
        const id = ratedItemId(entry) ?? "";
        byId.set(id, (byId.get(id) ?? new Set()).add(entry.session ?? ""));
      }
    return byId;
  };
  return async (id) => {
    sessions ??= read();
    return (await sessions).get(id) ?? new Set();
  };
}

/** A session in numbers, from its events and from when it was corrected. */
function measureSession(
  events: readonly Event[],
  calls: CallReader,
  about: Pick<SessionMeasurement, "run" | "startedAt" | "corrections" | "part" | "file">,
): SessionMeasurement {
  const { startedAt, corrections, ...own } = about;
  const turns: [number, number][] = [];
  let at = startedAt;
  for (const event of events) {
    at = event.at ?? at;
    const last = turns.at(-1);
    if (event.kind === "prompt") turns.push([at, 0]);
    else if (event.kind === "call" && last) last[1]++;
  }
  const failures = calls
    .failures(events)
    .filter(({ error }) => !causeGroups.inWork.has(error.cause))
    .map(({ subject, failed, error: { signature } }) => {
      return [nameFailure({ head: subject, signature }), failed.at ?? startedAt] as const;
    });
  const beyond = turns.slice(mostTurns);
  return {
    ...{ ...own, events: events.length, startedAt, turns: turns.slice(0, mostTurns) },
    ...(beyond.length > 0 ? { beyond: sumTurns(beyond) } : {}),
    corrections,
    failures: failures.slice(0, mostFailures),
  };
}

/** A failure by a name that is the same in every session. */
export function nameFailure({ head, signature }: Pick<Symptom, "head" | "signature">): string {
  return makeId("f", `${head} ${signature}`);
}

/** Prompts in groups, each as one sum. */
function sumTurns(turns: readonly (readonly [at: number, calls: number])[]) {
  return Array.from({ length: Math.ceil(turns.length / turnsTogether) }, (_, n) => {
    const group = turns.slice(n * turnsTogether, (n + 1) * turnsTogether);
    const calls = group.reduce((sum, [, count]) => sum + count, 0);
    return [group.at(-1)?.[0] ?? 0, group.length, calls] as const;
  });
}

/** Builds the ledger entries for one session. */
async function buildEntries(
  store: Store,
  session: SessionView,
  key: string,
  measured: SessionMeasurement,
  found: readonly FoundUsage[],
): Promise<LedgerEntry[]> {
  const { run, startedAt, events: pass } = measured;
  const common = { project: session.project.id, session: run, actor: "knack" as const };
  // Several files may tell of one session: what one of them says of a use is its own to take back.
  const file = makeId("v", namePart(session));
  const before = found.length > 0 ? await loadEarlierRatings(store, run, file, startedAt) : new Map();
  const uses: LedgerEntry[] = [];
  const ratings: LedgerEntry[] = [];
  for (const { kind, used, at: usedAt, rating } of found) {
    const { skill: id, name } = used;
    // A rating has the time of the use, however late it showed what that was worth.
    const at = usedAt ?? startedAt;
    uses.push({ ...common, at, type: "skill.used", key: `used:${run}:${id}`, data: used });
    const { verdict, because } = rating ?? { verdict: null, because: "it went otherwise later" };
    if (verdict === (before.get(id) ?? null)) continue;
    const data = { kind, id, name, verdict, because, pass };
    ratings.push({ ...common, at, type: "use.rated", key: `rated:${run}:${id}:${file}:${pass}`, data });
  }
  return [...uses, ...ratings, { ...common, at: startedAt, type: "session.measured", key, data: measured }];
}

/** The latest verdict on each item from earlier passes over this file of a session. */
async function loadEarlierRatings({ ledger }: Store, run: string, file: string, startedAt: number) {
  const rated = (await ledger.since("use.rated", startedAt)).filter(
    ({ session, actor, key, data }) =>
      session === run && actor === "knack" && key.startsWith(`rated:${run}:${data.id}:${file}:`),
  );
  const inOrder = rated.sort((a, b) => (a.data.pass ?? 0) - (b.data.pass ?? 0));
  return new Map(inOrder.map(({ data }) => [data.id, data.verdict]));
}

/** A person's word on what something was worth, or an agent's. */
interface Rated {
  readonly kind: "lesson" | "skill";
  readonly id: string;
  readonly name: string;
  readonly verdict: UseVerdict;
  readonly because: string;
  /** The agent's session that is meant; where a person names none, the latest that had to do with it. */
  readonly session: string | null;
  /** Where it is said; by default where that session was. */
  readonly project?: string;
  /** Who says so; the person by default. */
  readonly by?: "person" | "agent";
}

/**
 * Records what a person says; it goes before whatever Knack thinks of that session. An agent's word counts where neither
 * the person nor what happened says anything, and for its own session alone: of another one's it knows nothing.
 */
export async function recordRating(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { session, project, by = "person", because: said, ...about }: Rated,
): Promise<{ session: string | null; because: string }> {
  const at = clock.now();
  const because = shorten(redact(said), reasonChars);
  // The latest thing that happened with it in a session.
  const latest = (await listEntries(store))
    .filter((one) => one.session !== null && one.type !== "match.withheld" && ratedItemId(one) === about.id)
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
    .at(-1);
  const meant = session ?? (by === "person" ? latest?.session : null) ?? null;
  const entry: LedgerEntry = {
    ...{ at, project: project ?? latest?.project ?? null, session: meant, actor: by },
    ...{ type: "use.rated", key: `rated:${by}:${about.id}:${meant ?? ""}:${at}` },
    data: { ...about, because },
  };
  await store.transaction((tx) => recordEntries(tx, [entry]));
  return { session: meant, because };
}

/** Everything on the ledger that tells what something was worth. */
async function listEntries({ ledger }: Store): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  for (const type of ["lesson.shown", "skill.shown", "match.withheld", "skill.used", "use.rated"] as const)
    entries.push(...(await ledger.since(type, 0)));
  return entries;
}

/**
 * Everything that tells what something was worth, and the id that each thing goes by now: lessons that grew together have
 * one id, and the skills given count for the lessons they were made of.
 */
export async function readCredits(store: Store, items: readonly Item[] = []) {
  const entries = await listEntries(store);
  const sources = new Map(items.flatMap(({ id, source }) => (source === null ? [] : [[id, source]])));
  const told = entries.flatMap((entry) => ratedItemId(entry) ?? []);
  const findings = await store.learning.findings.get([...new Set([...told, ...sources.values()])]);
  const lessonIds = new Map<string, string>(findings.map(({ id, lessonId }) => [id, lessonId]));
  const nameOf = (id: string): string => {
    const source = sources.get(id) ?? id;
    return lessonIds.get(source) ?? source;
  };
  return { entries, nameOf };
}
