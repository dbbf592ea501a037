import { aboutOf, type Credit, creditsOf, type Naming, type Verdict } from "../core/credit.ts";
import { type Event, shorten } from "../core/event.ts";
import type { Calls } from "../core/failure.ts";
import { idOf } from "../core/ids.ts";
import type { Item } from "../core/item.ts";
import type { EntryOf, LedgerEntry } from "../core/ledger.ts";
import { measure } from "../core/measure.ts";
import { policy as defaults } from "../core/policy.ts";
import { readCalls } from "../core/recovery.ts";
import { redact } from "../core/redact.ts";
import { runOf } from "../core/session.ts";
import { type Telling, type Usage, usageIn } from "../core/usage.ts";
import { isUseOf } from "../core/use.ts";
import { markOf } from "./ingest.ts";
import { eventsOf, type SessionView } from "./inspect.ts";
import type { LearnOptions, Seen } from "./learn.ts";
import { note } from "./note.ts";
import type { Clock, Store } from "./ports.ts";

export interface CreditOptions extends Pick<LearnOptions, "refuses" | "until"> {
  /** What there is in the library; asked for once there is a session to look at. */
  readonly library: () => Promise<LibraryView>;
  /** Of sessions that were just read, what was read. */
  readonly seen?: readonly Seen[];
}

/** The library as it could be read: what is not whole may hold what a session used. */
export interface LibraryView {
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
export async function credit(
  store: Store,
  sessions: readonly SessionView[],
  { library, refuses = async () => null, until = () => false, seen: atHand = [] }: CreditOptions,
): Promise<Credited> {
  const unseen = await dueOf(store, sessions);
  if (unseen.length === 0) return { sessions: 0, used: 0, rated: 0, left: 0 };
  const { items, whole } = await library();
  const due = whole ? unseen : await inPart(store, unseen);
  const [tellings, told] = [await tellingsFor(store, due), toldIn(store)];
  const known = new Map(atHand.map((one) => [one.session.id, one]));
  let [seen, looked, used, rated] = [0, 0, 0, 0];
  for (let from = 0; from < due.length && !until(); from += sessionsAtOnce) {
    const some = due.slice(from, from + sessionsAtOnce);
    const corrections = await correctionsIn(store, some);
    const entries: LedgerEntry[] = [];
    for (const { session, key } of some) {
      if (until()) break;
      seen++;
      const { events, calls } = known.get(session.id) ?? {
        events: await eventsOf(store, session),
        calls: readCalls(),
      };
      // Events are only a cache: of those that are gone nothing new can be told.
      if (events.length === 0 || (await refuses(session)) !== null) continue;
      const found = await usageOf(store, session, events, items, tellings.get(runOf(session)) ?? [], told);
      const own = corrections.get(session.id) ?? [];
      entries.push(...(await entriesFor(store, session, { key, events, calls, found, corrections: own })));
      looked++;
    }
    const added = await store.transaction((tx) => note(tx, entries));
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
  seen: readonly Seen[],
  options: CreditOptions,
): Promise<void> {
  const sessions = seen.map(({ session }) => session);
  const told = countBy([
    ...(await since(store, "lesson.shown", sessions)),
    ...(await since(store, "skill.shown", sessions)),
  ]);
  const untold = sessions.filter((session) => !told.has(runOf(session)));
  await credit(store, untold, { ...options, seen });
}

/** Sessions noted in one transaction. */
const sessionsAtOnce = 20;

/** When people corrected the agent in these sessions, in the order of time. */
async function correctionsIn({ learning }: Store, due: readonly Due[]): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  for (const { session, finding, at } of await learning.findings.ofSessions(due.map((one) => one.session.id)))
    if (finding.kind === "user-correction") times.set(session, [...(times.get(session) ?? []), at]);
  for (const own of times.values()) own.sort((a, b) => a - b);
  return times;
}

/** The same sessions, to be looked at again once the library can be read whole. */
async function inPart(store: Store, unseen: readonly Due[]): Promise<Due[]> {
  const parts = unseen.map(({ session, key }) => ({ session, key: `${key}:part` }));
  const done = await store.ledger.has(parts.map(({ key }) => key));
  return parts.filter(({ key }) => !done.has(key));
}

interface Due {
  readonly session: SessionView;
  /** Stands for the session as it is, and what it is known to have been shown. */
  readonly key: string;
}

/** The sessions that have something to say which was not looked at. */
async function dueOf(store: Store, sessions: readonly SessionView[]): Promise<Due[]> {
  const pathsOf = ({ path, alsoFrom }: SessionView) => [path, ...alsoFrom.map((other) => other.path)];
  const readings = new Map(
    (await store.readings.of([...new Set(sessions.flatMap(pathsOf))])).map((row) => [row.path, row]),
  );
  const shown = countBy([
    ...(await since(store, "lesson.shown", sessions)),
    ...(await since(store, "skill.shown", sessions)),
  ]);
  const all = sessions.map((session) => {
    const digests = [session, ...session.alsoFrom].map(({ id, path }) => {
      const reading = readings.get(path);
      return reading ? markOf(reading, id) : "";
    });
    const mark = idOf("m", JSON.stringify([digests, shown.get(runOf(session)) ?? 0]));
    return { session, key: `measured:${session.id}:${mark}` };
  });
  const done = await store.ledger.has(all.map(({ key }) => key));
  return all.filter(({ key }) => !done.has(key));
}

function countBy(entries: readonly LedgerEntry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { session } of entries)
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
  return sessions.length === 0 ? [] : store.ledger.since(type, first - defaults.credit.aheadMs);
}

/** What each session was shown, by the agent's session. */
async function tellingsFor(store: Store, due: readonly Due[]): Promise<Map<string, Telling[]>> {
  const sessions = due.map(({ session }) => session);
  const lessons = await since(store, "lesson.shown", sessions);
  const known = await lessonsTold(
    store,
    lessons.map(({ data }) => data.instinct),
  );
  const tellings = [
    ...lessons.map(({ session, at, data: { instinct, occasion, text } }) => ({
      session,
      telling: {
        kind: "lesson" as const,
        id: instinct,
        name: known.get(instinct)?.name ?? instinct,
        call: known.get(instinct)?.call ?? null,
        ...{ occasion, text, at: at ?? 0 },
      },
    })),
    ...(await since(store, "skill.shown", sessions)).map(({ session, at, data: { skill, name, text } }) => ({
      session,
      telling: {
        kind: "skill" as const,
        id: skill,
        call: null,
        occasion: "prompt" as const,
        ...{ name, text, at: at ?? 0 },
      },
    })),
  ];
  const byRun = new Map<string, Telling[]>();
  for (const { session, telling } of tellings)
    byRun.set(session ?? "", [...(byRun.get(session ?? "") ?? []), telling]);
  return byRun;
}

/** Lessons as they are now, by the ids under which they were told. */
export async function lessonsTold({ learning }: Store, told: readonly string[]) {
  const findings = await learning.findings.get([...new Set(told)]);
  const instincts = await learning.instincts.get([...new Set(findings.map(({ instinct }) => instinct))]);
  const byId = new Map(instincts.map((instinct) => [instinct.id, instinct]));
  return new Map(
    findings.flatMap(({ id, instinct }) => {
      const lesson = byId.get(instinct);
      return lesson ? [[id, lesson] as const] : [];
    }),
  );
}

async function usageOf(
  store: Store,
  session: SessionView,
  events: readonly Event[],
  items: readonly Item[],
  tellings: readonly Telling[],
  told: ToldIn,
): Promise<Usage[]> {
  const asked = new Map<string, { call: readonly string[]; id: string }>();
  const known = { project: session.project.id, items, tellings };
  const first = usageIn(events, {
    ...known,
    isFamiliar: (call, id) => {
      asked.set(JSON.stringify([call, id]), { call, id });
      return false;
    },
  });
  // What is usual in a project matters only where something was told and done.
  if (first.length === 0 || asked.size === 0) return first;
  const familiar = new Set<string>();
  for (const [key, { call, id }] of asked)
    if (await isFamiliar(store, session, call, await told(id))) familiar.add(key);
  if (familiar.size === 0) return first;
  return usageIn(events, { ...known, isFamiliar: (call, id) => familiar.has(JSON.stringify([call, id])) });
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
    use.at < (session.startedAt ?? 0) && !told.has(use.run) && isUseOf(use, call) ? use.run : [],
  );
  return new Set(runs).size >= defaults.credit.familiar;
}

/** The sessions in which something was told or used. */
type ToldIn = (id: string) => Promise<ReadonlySet<string>>;

/** Read when first asked for: few sessions need it. */
function toldIn({ ledger }: Store): ToldIn {
  let sessions: Promise<Map<string, Set<string>>> | null = null;
  const read = async () => {
    const byId = new Map<string, Set<string>>();
    const take = (id: string, session: string | null) =>
      byId.set(id, (byId.get(id) ?? new Set()).add(session ?? ""));
    for (const { session, data } of await ledger.since("skill.shown", 0)) take(data.skill, session);
    for (const { session, data } of await ledger.since("lesson.shown", 0)) take(data.instinct, session);
    for (const { session, data } of await ledger.since("skill.used", 0)) take(data.skill, session);
    return byId;
  };
  return async (id) => {
    sessions ??= read();
    return (await sessions).get(id) ?? new Set();
  };
}

/** What the ledger says of a session that was looked at. */
async function entriesFor(
  store: Store,
  session: SessionView,
  seen: {
    readonly key: string;
    readonly events: readonly Event[];
    readonly calls: Calls;
    readonly found: readonly Usage[];
    readonly corrections: readonly number[];
  },
): Promise<LedgerEntry[]> {
  const { key, events, calls, found, corrections } = seen;
  const run = runOf(session);
  const startedAt = session.startedAt ?? 0;
  const common = { project: session.project.id, session: run, actor: "knack" as const };
  const measured = measure(events, { run, startedAt, corrections }, calls);
  // Several files may tell of one session: what one of them says of a use is its own to take back.
  const file = idOf("v", session.id);
  const before = found.length > 0 ? await ratedBefore(store, run, file, startedAt) : new Map();
  return [
    ...found.map(
      ({ used, at }): LedgerEntry => ({
        ...common,
        at: at ?? startedAt,
        type: "skill.used",
        key: `used:${run}:${used.skill}`,
        data: used,
      }),
    ),
    ...found.flatMap(({ kind, used: { skill: id, name }, at, rating }): LedgerEntry[] => {
      const known = before.get(id) ?? null;
      const { verdict, because } = rating ?? { verdict: null, because: "it went otherwise later" };
      if (verdict === known) return [];
      const pass = events.length;
      return [
        {
          ...common,
          // When it was used, however late that showed what it was worth.
          at: at ?? startedAt,
          type: "use.rated",
          key: `rated:${run}:${id}:${file}:${pass}`,
          data: { kind, id, name, verdict, because, pass },
        },
      ];
    }),
    { ...common, at: startedAt, type: "session.measured", key, data: measured },
  ];
}

/** What was thought last of each thing in a session, when this file of it was looked at before. */
async function ratedBefore({ ledger }: Store, run: string, file: string, startedAt: number) {
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
  readonly verdict: Verdict;
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
export async function rate(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { session, project, by = "person", because: said, ...about }: Rated,
): Promise<{ session: string | null; because: string }> {
  const at = clock.now();
  const because = shorten(redact(said), defaults.protocol.summaryChars);
  const latest = await latestOf(store, about.id);
  const meant = session ?? (by === "person" ? latest?.session : null) ?? null;
  const entry: LedgerEntry = {
    ...{ at, project: project ?? latest?.project ?? null, session: meant, actor: by },
    ...{ type: "use.rated", key: `rated:${by}:${about.id}:${meant ?? ""}:${at}` },
    data: { ...about, because },
  };
  await store.transaction((tx) => note(tx, [entry]));
  return { session: meant, because };
}

/** The latest thing that happened with something in a session. */
async function latestOf(store: Store, id: string): Promise<LedgerEntry | undefined> {
  const entries = (await creditEntries(store)).filter(
    (entry) => entry.session !== null && entry.type !== "match.withheld" && aboutOf(entry) === id,
  );
  return entries.sort((a, b) => (a.at ?? 0) - (b.at ?? 0)).at(-1);
}

/** What became of everything that was shown, used or rated, by the id it goes by now. */
export async function credits(store: Store, items: readonly Item[] = []): Promise<Map<string, Credit>> {
  const entries = await creditEntries(store);
  return creditsOf(entries, await namingOf(store, entries, items));
}

/** Everything on the ledger that tells what something was worth. */
export async function creditEntries({ ledger }: Store): Promise<LedgerEntry[]> {
  return [
    ...(await ledger.since("lesson.shown", 0)),
    ...(await ledger.since("skill.shown", 0)),
    ...(await ledger.since("match.withheld", 0)),
    ...(await ledger.since("skill.used", 0)),
    ...(await ledger.since("use.rated", 0)),
  ];
}

/** Lessons that grew together go by one id; the skills given count for the lessons they were made of. */
export async function namingOf(
  { learning }: Store,
  entries: readonly LedgerEntry[],
  items: readonly Item[],
): Promise<Naming> {
  const sources = new Map(
    items.flatMap(({ id, source }) => (source === null ? [] : [[id, source] as const])),
  );
  const told = entries.flatMap((entry) => {
    if (entry.type === "lesson.shown") return entry.data.instinct;
    if (entry.type === "match.withheld" || entry.type === "use.rated") return entry.data.id;
    return entry.type === "skill.used" ? entry.data.skill : [];
  });
  const findings = await learning.findings.get([...new Set([...told, ...sources.values()])]);
  const instincts = new Map(findings.map(({ id, instinct }) => [id, instinct]));
  return (id) => {
    const source = sources.get(id) ?? id;
    return instincts.get(source) ?? source;
  };
}
