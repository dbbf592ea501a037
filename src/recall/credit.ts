import { type Clock, makeId } from "../base/index.ts";
import { CallReader } from "../failures/index.ts";
import type { LearnOptions, ReadSession } from "../learning/index.ts";
import { type Credit, foldCredits, type Naming, ratedItemId, recordEntries } from "../lessons/index.ts";
import {
  type EntryOf,
  type Event,
  getSessionId,
  type Item,
  isUse,
  type LedgerEntry,
  shorten,
  type UseVerdict,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { getReadMark, readEvents, type SessionView } from "../transcripts/index.ts";
import { redact } from "../trust/index.ts";
import { measureSession } from "./report.ts";
import { findUsage, type ShownItem, type Usage } from "./usage.ts";

/** Sessions in which a call was made without anybody having been told: from there on it is no sign of having been. */
const familiarSessions = 3;
/** Milliseconds before the first record of a session in which it may have been told something. */
const aheadMs = 86_400_000;
/** Characters of a reason. */
const reasonChars = 1_000;

interface CreditOptions extends Pick<LearnOptions, "refuses" | "until"> {
  /** What there is in the library; asked for once there is a session to look at. */
  readonly library: () => Promise<LibraryContents>;
  /** Of sessions that were just read, what was read. */
  readonly seen?: readonly ReadSession[];
}

/** The library as it could be read: what is not whole may hold what a session used. */
interface LibraryContents {
  readonly items: readonly Item[];
  readonly whole: boolean;
}

/** What was looked at, and what came of it. */
export interface Credited {
  readonly sessions: number;
  /** Uses and ratings that were not known before. */
  readonly used: number;
  readonly rated: number;
  /** How many sessions there was no time for. */
  readonly left: number;
}

/**
 * Looks at what sessions used of what they were shown and had, and how that went. May be called again, in any order, and
 * be killed at any point: a session is looked at once as it is, and once more when it has grown or more is known of what
 * it was shown.
 */
export async function creditSessions(
  store: Store,
  sessions: readonly SessionView[],
  { library, refuses = async () => null, until = () => false, seen: atHand = [] }: CreditOptions,
): Promise<Credited> {
  const unseen = await listDue(store, sessions);
  if (unseen.length === 0) return { sessions: 0, used: 0, rated: 0, left: 0 };
  const { items, whole } = await library();
  const due = whole ? unseen : await markPartial(store, unseen);
  const [tellings, told] = [await loadShown(store, due), lookUpTold(store)];
  const known = new Map(atHand.map((one) => [one.session.id, one]));
  let [seen, looked, used, rated] = [0, 0, 0, 0];
  for (let from = 0; from < due.length && !until(); from += sessionsAtOnce) {
    const some = due.slice(from, from + sessionsAtOnce);
    const corrections = await loadCorrections(store, some);
    const entries: LedgerEntry[] = [];
    for (const { session, key } of some) {
      if (until()) break;
      seen++;
      const { events, calls } = known.get(session.id) ?? {
        events: await readEvents(store, session),
        calls: new CallReader(),
      };
      // Events are only a cache: of those that are gone nothing new can be told.
      if (events.length === 0 || (await refuses(session)) !== null) continue;
      const shown = tellings.get(getSessionId(session)) ?? [];
      const found = await readUsage(store, session, events, { items, tellings: shown }, told);
      const own = corrections.get(session.id) ?? [];
      entries.push(...(await buildEntries(store, session, { key, events, calls, found, corrections: own })));
      looked++;
    }
    const added = await store.transaction((tx) => recordEntries(tx, entries));
    used += added.filter(({ type }) => type === "skill.used").length;
    rated += added.filter(({ type }) => type === "use.rated").length;
  }
  return { sessions: looked, used, rated, left: due.length - seen };
}

/**
 * The same for sessions that were just read, but for those that were told something: what they did about it is judged by
 * what earlier sessions did, and not all of those may have been looked at.
 */
export async function creditUntold(
  store: Store,
  seen: readonly ReadSession[],
  options: CreditOptions,
): Promise<void> {
  const sessions = seen.map(({ session }) => session);
  const told = await countShown(store, sessions);
  const untold = sessions.filter((session) => !told.has(getSessionId(session)));
  await creditSessions(store, untold, { ...options, seen });
}

/** Sessions noted in one transaction. */
const sessionsAtOnce = 20;

/** When people corrected the agent in these sessions, in the order of time. */
async function loadCorrections(
  { learning }: Store,
  due: readonly DueSession[],
): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  for (const { session, finding, at } of await learning.findings.ofSessions(due.map((one) => one.session.id)))
    if (finding.kind === "user-correction") times.set(session, [...(times.get(session) ?? []), at]);
  for (const own of times.values()) own.sort((a, b) => a - b);
  return times;
}

/** The same sessions, to be looked at again once the library can be read whole. */
async function markPartial(store: Store, unseen: readonly DueSession[]): Promise<DueSession[]> {
  const parts = unseen.map(({ session, key }) => ({ session, key: `${key}:part` }));
  const done = await store.ledger.has(parts.map(({ key }) => key));
  return parts.filter(({ key }) => !done.has(key));
}

interface DueSession {
  readonly session: SessionView;
  /** Stands for the session as it is, and what it is known to have been shown. */
  readonly key: string;
}

/** The sessions that have something to say which was not looked at. */
async function listDue(store: Store, sessions: readonly SessionView[]): Promise<DueSession[]> {
  const pathsOf = ({ path, alsoFrom }: SessionView) => [path, ...alsoFrom.map((other) => other.path)];
  const readings = new Map(
    (await store.readings.of([...new Set(sessions.flatMap(pathsOf))])).map((row) => [row.path, row]),
  );
  const shown = await countShown(store, sessions);
  const all = sessions.map((session) => {
    const digests = [session, ...session.alsoFrom].map(({ id, path }) => {
      const reading = readings.get(path);
      return reading ? getReadMark(reading, id) : "";
    });
    const mark = makeId("m", JSON.stringify([digests, shown.get(getSessionId(session)) ?? 0]));
    return { session, key: `measured:${session.id}:${mark}` };
  });
  const done = await store.ledger.has(all.map(({ key }) => key));
  return all.filter(({ key }) => !done.has(key));
}

/** How often something was shown, by the agent's session. */
async function countShown(store: Store, sessions: readonly SessionView[]): Promise<Map<string, number>> {
  const lessons = await since(store, "lesson.shown", sessions);
  const skills = await since(store, "skill.shown", sessions);
  const counts = new Map<string, number>();
  for (const { session } of [...lessons, ...skills])
    if (session !== null) counts.set(session, (counts.get(session) ?? 0) + 1);
  return counts;
}

/** The entries of a type since before the first of these sessions began: what is told at the start is told ahead of it. */
async function since<Type extends "lesson.shown" | "skill.shown">(
  store: Store,
  type: Type,
  sessions: readonly SessionView[],
): Promise<EntryOf<Type>[]> {
  const first = Math.min(...sessions.map(({ startedAt }) => startedAt ?? 0));
  return sessions.length === 0 ? [] : store.ledger.since(type, first - aheadMs);
}

/** What each session was shown, by the agent's session. */
async function loadShown(store: Store, due: readonly DueSession[]): Promise<Map<string, ShownItem[]>> {
  const sessions = due.map(({ session }) => session);
  const lessons = await since(store, "lesson.shown", sessions);
  const told = lessons.map(({ data }) => data.lessonId);
  const known = await loadToldLessons(store, told);
  const bySession = new Map<string, ShownItem[]>();
  const add = (session: string | null, shown: ShownItem) =>
    bySession.set(session ?? "", [...(bySession.get(session ?? "") ?? []), shown]);
  for (const { session, at, data } of lessons) {
    const { lessonId: id, occasion, text } = data;
    const { name = id, call = null } = known.get(id) ?? {};
    add(session, { kind: "lesson", id, name, call, occasion, text, at: at ?? 0 });
  }
  for (const { session, at, data } of await since(store, "skill.shown", sessions)) {
    const { skill: id, name, text } = data;
    add(session, { kind: "skill", id, name, call: null, occasion: "prompt", text, at: at ?? 0 });
  }
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

async function readUsage(
  store: Store,
  session: SessionView,
  events: readonly Event[],
  shown: { readonly items: readonly Item[]; readonly tellings: readonly ShownItem[] },
  told: ToldIn,
): Promise<Usage[]> {
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
    const take = (id: string, session: string | null) =>
      byId.set(id, (byId.get(id) ?? new Set()).add(session ?? ""));
    for (const { session, data } of await ledger.since("skill.shown", 0)) take(data.skill, session);
    for (const { session, data } of await ledger.since("lesson.shown", 0)) take(data.lessonId, session);
    for (const { session, data } of await ledger.since("skill.used", 0)) take(data.skill, session);
    return byId;
  };
  return async (id) => {
    sessions ??= read();
    return (await sessions).get(id) ?? new Set();
  };
}

/** What the ledger says of a session that was looked at. */
async function buildEntries(
  store: Store,
  session: SessionView,
  seen: {
    readonly key: string;
    readonly events: readonly Event[];
    readonly calls: CallReader;
    readonly found: readonly Usage[];
    readonly corrections: readonly number[];
  },
): Promise<LedgerEntry[]> {
  const { key, events, calls, found, corrections } = seen;
  const run = getSessionId(session);
  const startedAt = session.startedAt ?? 0;
  const common = { project: session.project.id, session: run, actor: "knack" as const };
  const measured = measureSession(events, { run, startedAt, corrections }, calls);
  // Several files may tell of one session: what one of them says of a use is its own to take back.
  const file = makeId("v", session.id);
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
    const pass = events.length;
    const data = { kind, id, name, verdict, because, pass };
    ratings.push({ ...common, at, type: "use.rated", key: `rated:${run}:${id}:${file}:${pass}`, data });
  }
  return [...uses, ...ratings, { ...common, at: startedAt, type: "session.measured", key, data: measured }];
}

/** What was thought last of each thing in a session, when this file of it was looked at before. */
async function loadEarlierRatings({ ledger }: Store, run: string, file: string, startedAt: number) {
  const rated = (await ledger.since("use.rated", startedAt)).filter(
    ({ session, actor, key, data }) =>
      session === run && actor === "knack" && key.startsWith(`rated:${run}:${data.id}:${file}:`),
  );
  const inOrder = rated.sort((a, b) => (a.data.pass ?? 0) - (b.data.pass ?? 0));
  return new Map(inOrder.map(({ data }) => [data.id, data.verdict]));
}

/** A person's word on what something was worth, or an agent's. */
export interface Rated {
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
 * Notes what a person says; it goes before whatever Knack thinks of that session. An agent's word counts where neither
 * the person nor what happened says anything, and for its own session alone: of another one's it knows nothing.
 */
export async function recordRating(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { session, project, by = "person", because: said, ...about }: Rated,
): Promise<{ session: string | null; because: string }> {
  const at = clock.now();
  const because = shorten(redact(said), reasonChars);
  // The latest thing that happened with it in a session.
  const latest = (await listCreditEntries(store))
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

/** What became of everything that was shown, used or rated, by the id it goes by now. */
export async function loadCredits(store: Store, items: readonly Item[] = []): Promise<Map<string, Credit>> {
  const entries = await listCreditEntries(store);
  return foldCredits(entries, await resolveNames(store, entries, items));
}

/** Everything on the ledger that tells what something was worth. */
export async function listCreditEntries({ ledger }: Store): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  for (const type of ["lesson.shown", "skill.shown", "match.withheld", "skill.used", "use.rated"] as const)
    entries.push(...(await ledger.since(type, 0)));
  return entries;
}

/** Lessons that grew together go by one id; the skills given count for the lessons they were made of. */
export async function resolveNames(
  { learning }: Store,
  entries: readonly LedgerEntry[],
  items: readonly Item[],
): Promise<Naming> {
  const sources = new Map(items.flatMap(({ id, source }) => (source === null ? [] : [[id, source]])));
  const told = entries.flatMap((entry) => ratedItemId(entry) ?? []);
  const findings = await learning.findings.get([...new Set([...told, ...sources.values()])]);
  const lessonIds = new Map(findings.map(({ id, lessonId }) => [id, lessonId]));
  return (id) => {
    const source = sources.get(id) ?? id;
    return lessonIds.get(source) ?? source;
  };
}
