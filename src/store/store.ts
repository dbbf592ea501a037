import { randomUUID } from "node:crypto";
import { CompiledQuery, type Kysely, type RawBuilder, sql } from "kysely";
import { type Clock, isRunning } from "../base/index.ts";
import {
  type Counts,
  type Event,
  type EventOutline,
  formatRef,
  outlinedCommandChars,
  type ProjectFold,
  type ProjectPlace,
  parseRef,
  type Reading,
  type Session,
  type TranscriptId,
} from "../records/index.ts";
import { createGoals } from "./goals.ts";
import { createLearning } from "./learning.ts";
import { type ChainAnchor, createLedger } from "./ledger.ts";
import {
  inSlices,
  parseJson,
  readColumn,
  readText,
  selectRows,
  type TableName,
  type Tables,
} from "./schema.ts";
import { createTeamEntries } from "./team-entries.ts";

/** Room for the events of one session in the events' keys: more than a transcript of any size has. */
const eventsPerSession = 2 ** 24;

/** The tables whose rows follow from the ledger. */
const foldTables: readonly TableName[] = [
  ...(["project", "learned", "finding", "withdrawn", "term", "term_count", "cue"] as const),
  ...(["opposition", "link", "use", "decision", "imported", "lesson", "change", "goal"] as const),
];

/**
 * Knack's memory, over any Kysely database that has the tables. Every method may be called inside or outside a
 * transaction; inside one, nothing is seen by others before it ends, and an error undoes all of it. A transaction holds
 * the only writer: keep it short, and let nothing slow happen in it. `save` replaces what has the same key.
 */
export interface Store extends ReturnType<typeof createParts> {
  /** `durable`: it survives a power loss from the moment it ends, which costs a wait for the disk. */
  transaction<T>(work: (store: Store) => Promise<T>, how?: { readonly durable: boolean }): Promise<T>;
  close(): Promise<void>;
}

/** What differs between databases beyond the words of their queries. */
export interface StoreEngine {
  /** Runs a transaction that survives a power loss from the moment it ends. */
  durably<T>(db: Kysely<Tables>, transaction: () => Promise<T>): Promise<T>;
  check(db: Kysely<Tables>): Promise<string[]>;
  /** The statement that inserts or replaces so many rows of these columns of `event`. */
  replaceEvents(columns: readonly string[], rows: number): string;
}

interface StoreSource {
  readonly db: Kysely<Tables>;
  readonly engine: StoreEngine;
  readonly clock: Clock;
  readonly anchor: ChainAnchor;
  readonly onClose?: () => void;
}

export function createStore(source: StoreSource): Store {
  const { db, engine, onClose } = source;
  return {
    ...createParts(source),
    transaction: (work, how) => {
      const run = () => db.transaction().execute((tx) => work(createStore({ ...source, db: tx })));
      return how?.durable ? engine.durably(db, run) : run();
    },
    close: async () => {
      await db.destroy();
      onClose?.();
    },
  };
}

function createParts({ db, engine, clock, anchor }: StoreSource) {
  return {
    ledger: createLedger(db, clock, anchor),
    readings: createReadings(db),
    sessions: createSessions(db),
    events: createEvents(db, engine, clock),
    projects: createProjects(db),
    learning: createLearning(db),
    goals: createGoals(db),
    team: createTeamEntries(db),
    leases: createLeases(db),
    /**
     * The time by which things age: that of the third-latest session, and never ahead of the clock. A clock that is
     * wrong in one session ages nothing, and neither does a time in which nobody worked.
     */
    eventNow: async (): Promise<number> => {
      const ended = sql<number>`coalesce(ended_at, started_at)`.as("at");
      const query = db.selectFrom("session").select(ended).where("subagent", "=", 0);
      const latest = (await query.orderBy("at", "desc").limit(3).execute()).flatMap(({ at }) => at ?? []);
      return Math.min(clock.now(), latest.at(-1) ?? Number.POSITIVE_INFINITY);
    },
    /** Forgets every row that follows from the ledger, to be folded anew. */
    clearFolds: async () => {
      for (const table of foldTables) await db.deleteFrom(table).execute();
    },
    /** Errors from the database's own check; empty if there are none. */
    check: () => engine.check(db),
  };
}

function createReadings(db: Kysely<Tables>) {
  const select = async (paths: readonly string[]): Promise<Reading[]> =>
    (await selectRows(db, "reading", { where: "path", in: paths })).map(readingFromRow);
  return {
    get: async (path: string) => (await select([path]))[0] ?? null,
    of: select,
    save: async (all: readonly Reading[]): Promise<void> => {
      await inSlices(all, (some) => db.replaceInto("reading").values(some.map(readingToRow)).execute());
    },
  };
}

function readingFromRow(found: Tables["reading"]): Reading {
  const { offset, line, digest, modified_at, cached_at, format, state, diagnostics, ...row } = found;
  return {
    ...row,
    format: format as Reading["format"],
    modifiedAt: modified_at,
    position: { offset, line, digest },
    state: parseJson(state),
    diagnostics: parseJson(diagnostics),
    cachedAt: cached_at,
  };
}

function readingToRow({ position, modifiedAt, cachedAt, state, diagnostics, ...reading }: Reading) {
  return {
    ...{ ...reading, ...position, modified_at: modifiedAt, cached_at: cachedAt },
    state: JSON.stringify(state),
    diagnostics: JSON.stringify(diagnostics),
  };
}

function createSessions(db: Kysely<Tables>) {
  return {
    /** The sessions of these files, or all; in no promised order. */
    list: async (paths?: readonly string[]): Promise<Session[]> =>
      (await selectRows(db, "session", paths ? { where: "path", in: paths } : {})).map(sessionFromRow),
    /** Every project with each of the folders that it was met in. */
    places: async (): Promise<ProjectPlace[]> => {
      const spoken = sql<number>`count(distinct case when prompts > 0 then coalesce(session_id, id) end)`;
      const rows = await db
        .selectFrom("session")
        .select(["project_id", "project_root", spoken.as("spoken")])
        .select((each) => each.fn.min("started_at").as("first_at"))
        .groupBy(["project_id", "project_root"])
        .execute();
      return rows.map(({ project_id: id, project_root: root, spoken, first_at }) => ({
        ...{ id, root, spoken },
        firstAt: first_at,
      }));
    },
    save: async (all: readonly Session[]): Promise<void> => {
      await inSlices(all, (some) =>
        db
          .insertInto("session")
          .values(some.map(sessionToRow) as Tables["session"][])
          .onConflict((conflict) => conflict.column("id").doUpdateSet(sessionUpdate))
          .execute(),
      );
    },
    /** Forgets a file's sessions with their events. */
    forget: async (path: string): Promise<void> => {
      const found = await db.selectFrom("session").select("n").where("path", "=", path).execute();
      for (const { n } of found) await dropEvents(db, n);
      await db.deleteFrom("session").where("path", "=", path).execute();
    },
  };
}

const projectColumns = ["project_id", "project_name", "project_root"] as const;
const ownColumns = [
  ...["path", "format", "session_id", "agent_id", "subagent", "cwd", "remote", "transcript_path"],
  ...["started_at", "ended_at", "events", "prompts", "calls", "failed", "rejected"],
];

/** Everything is replaced but the project a session was found in: the ledger has it, and a remote may come later. */
const sessionUpdate = Object.fromEntries([
  ...ownColumns.map((name) => [name, sql.ref(`excluded.${name}`)]),
  ...projectColumns.map((name) => [
    name,
    sql`case when session.project_id = 'unknown' then ${sql.ref(`excluded.${name}`)} else ${sql.ref(`session.${name}`)} end`,
  ]),
]);

function sessionFromRow(row: Tables["session"]): Session {
  const { id, path, cwd, remote, events, prompts, calls, failed, rejected } = row;
  return {
    ...{ id, path, cwd, remote },
    format: row.format as Session["format"],
    sessionId: row.session_id,
    agentId: row.agent_id,
    subagent: row.subagent === 1,
    transcriptPath: row.transcript_path,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    project: { id: row.project_id, name: row.project_name, root: row.project_root },
    counts: { events, prompts, calls, failed, rejected },
  };
}

function sessionToRow({ project, counts, ...session }: Session): Omit<Tables["session"], "n"> {
  const { id, path, format, cwd, remote } = session;
  return {
    ...{ id, path, format, cwd, remote },
    session_id: session.sessionId,
    agent_id: session.agentId,
    subagent: session.subagent ? 1 : 0,
    transcript_path: session.transcriptPath,
    started_at: session.startedAt,
    ended_at: session.endedAt,
    ...{ project_id: project.id, project_name: project.name, project_root: project.root },
    ...counts,
  };
}

function createEvents(db: Kysely<Tables>, engine: StoreEngine, clock: Clock) {
  const findBase = async (transcript: TranscriptId): Promise<number> => {
    const row = await db.selectFrom("session").select("n").where("id", "=", transcript).executeTakeFirst();
    return (row?.n ?? 0) * eventsPerSession;
  };
  const selectAfter = (base: number, after = 0) =>
    db
      .selectFrom("event")
      .where("id", ">", base + after)
      .where("id", "<", base + eventsPerSession);
  const findLast = async (base: number): Promise<number | undefined> =>
    (
      await selectAfter(base)
        .select((each) => each.fn.max("id").as("id"))
        .executeTakeFirst()
    )?.id;
  const page = async (transcript: TranscriptId, after: number, most: number): Promise<Event[]> => {
    const base = await findBase(transcript);
    const rows = await selectAfter(base, after).select(eventParts).orderBy("id").limit(most).execute();
    return rows.map((row) => eventFromRow(row, base));
  };
  return {
    /** Of one session, in order. */
    of: (transcript: TranscriptId) => page(transcript, 0, eventsPerSession),
    /** Of one session, in order, those after a number, at most so many. */
    page,
    some: async (transcript: TranscriptId, refs: readonly string[]): Promise<Event[]> => {
      const base = await findBase(transcript);
      // A number beyond these would name an event of another session.
      const isOwn = (n: number) => Number.isInteger(n) && n > 0 && n < eventsPerSession;
      const rows = await inSlices(refs.map(parseRef).filter(isOwn), (some) => {
        const ids = some.map((n) => base + n);
        return db.selectFrom("event").select(eventParts).where("id", "in", ids).execute();
      });
      return rows.map((row) => eventFromRow(row, base));
    },
    /** Of one session, in order, those between two numbers, both included, without their words. */
    outline: async (transcript: TranscriptId, from: number, to: number): Promise<EventOutline[]> => {
      const base = await findBase(transcript);
      const end = Math.min(base + to, (await findLast(base)) ?? 0);
      const found: EventOutline[] = [];
      for (let at = base + from; at <= end; at += outlinedAtOnce) {
        const until = Math.min(end, at + outlinedAtOnce - 1);
        // Only these two bounds: given more, the database would begin at the widest each time.
        const query = db.selectFrom("event").select(outlineRows(base));
        const { rows } = await query.where("id", ">=", at).where("id", "<=", until).executeTakeFirstOrThrow();
        for (const one of parseJson(rows) as OutlineRow[]) found.push(outlineFromRow(one));
      }
      return found;
    },
    /** The number of a session's last event. */
    last: async (transcript: TranscriptId): Promise<number> => {
      const base = await findBase(transcript);
      return Math.max(0, ((await findLast(base)) ?? 0) - base);
    },
    /** Of one session, in order, those up to a number that have one of some words in them, at most so many. */
    mentioning: async (transcript: TranscriptId, to: number, words: readonly string[], most: number) => {
      if (words.length === 0) return [];
      const base = await findBase(transcript);
      const rows = await selectAfter(base)
        .select(eventParts)
        .where("id", "<=", base + to)
        .where((each) =>
          each.or(words.map((word) => sql<boolean>`instr(text, ${word}) > 0 or instr(facts, ${word}) > 0`)),
        )
        .orderBy("id")
        .limit(most)
        .execute();
      return rows.map((row) => eventFromRow(row, base));
    },
    /** The number of a session's first prompt between two numbers, both included; null where there is none. */
    firstPrompt: async (transcript: TranscriptId, from: number, to: number): Promise<number | null> => {
      const base = await findBase(transcript);
      const query = db.selectFrom("event").select("id").where("kind", "=", "prompt").orderBy("id").limit(1);
      const found = query.where("id", ">=", base + from).where("id", "<=", base + to);
      const row = await found.executeTakeFirst();
      return row === undefined ? null : row.id - base;
    },
    origins: async (transcript: TranscriptId): Promise<string[]> => {
      const query = selectAfter(await findBase(transcript)).where("origin", "is not", null);
      // One row for all: there may be a hundred thousand.
      const all = readText(sql`json_group_array(origin)`).as("all");
      return parseJson((await query.select(all).executeTakeFirstOrThrow()).all) as string[];
    },
    count: async (transcript: TranscriptId): Promise<Counts> => {
      const count = (condition: RawBuilder<unknown>) => sql<number>`count(case when ${condition} then 1 end)`;
      const row = await selectAfter(await findBase(transcript))
        .select([
          sql<number>`count(*)`.as("events"),
          count(sql`kind = 'prompt' and facts ->> 'given' is null and not facts ->> 'sidechain'`).as(
            "prompts",
          ),
          count(sql`kind = 'call'`).as("calls"),
          count(sql`outcome = 'failed'`).as("failed"),
          count(sql`outcome = 'rejected'`).as("rejected"),
        ])
        .executeTakeFirstOrThrow();
      return { ...row };
    },
    /** Of sessions that are saved. */
    save: async (
      batches: readonly { readonly session: TranscriptId; readonly events: readonly Event[] }[],
    ): Promise<void> => {
      const ids = batches.map(({ session }) => session);
      const sessions = await selectRows(db, "session", { where: "id", in: ids });
      const bases = new Map(sessions.map(({ id, n }) => [id, n * eventsPerSession]));
      const rows = batches.flatMap(({ session, events }) => {
        const base = bases.get(session);
        if (base === undefined) throw new Error(`events of a session that is not saved: ${session}`);
        return events.map((event) => eventToRow(event, base));
      });
      for (let from = 0; from < rows.length; from += insertedAtOnce) {
        const some = rows.slice(from, from + insertedAtOnce);
        // Written out: events come by the hundred thousand, and building a query costs more than running it.
        await db.executeQuery(
          CompiledQuery.raw(engine.replaceEvents(eventColumns, some.length), some.flat()),
        );
      }
    },
    /** Replaces values in the events of these sessions that are saved already. */
    mask: async (
      transcripts: readonly TranscriptId[],
      values: readonly { readonly value: string; readonly mask: string }[],
    ): Promise<void> => {
      for (const transcript of values.length === 0 ? [] : transcripts) {
        const base = await findBase(transcript);
        for (const { value, mask } of values) {
          const quoted = JSON.stringify(value).slice(1, -1);
          const text = sql<string>`replace(text, ${value}, ${mask})`;
          const query = db
            .updateTable("event")
            .set({ text, facts: sql<string>`replace(facts, ${quoted}, ${mask})` });
          const holds = sql<boolean>`(instr(text, ${value}) > 0 or instr(facts, ${quoted}) > 0)`;
          await query
            .where("id", ">", base)
            .where("id", "<", base + eventsPerSession)
            .where(holds)
            .execute();
        }
      }
    },
    /** Forgets the events of files last cached before a time, and answers with how many; sessions and counts stay. */
    purge: async (before: number): Promise<number> => {
      const old = db.selectFrom("reading").select("path").where("cached_at", "<", before);
      const found = await db.selectFrom("session").select("n").where("path", "in", old).execute();
      let dropped = 0;
      for (const { n } of found) dropped += await dropEvents(db, n);
      // What a clock wrote that was ahead would stay until that time.
      await db
        .updateTable("reading")
        .set({ cached_at: clock.now() })
        .where("cached_at", ">", clock.now())
        .execute();
      await db.updateTable("reading").set({ cached_at: null }).where("cached_at", "<", before).execute();
      return dropped;
    },
  };
}

/** Outlines in one row: a row for each costs more than all that is read of them. */
const outlinedAtOnce = 5_000;

/** The outlines as one text: the database need not make objects of what is not asked for. */
function outlineRows(base: number) {
  const always = sql`id - ${base}, kind, facts ->> 'sidechain'`;
  const ofCall = sql`outcome, facts ->> 'tool', substr(facts ->> 'command', 1, ${outlinedCommandChars}), facts -> 'files' ->> 0`;
  const row = sql`case kind when 'call' then json_array(${always}, ${ofCall}) else json_array(${always}) end`;
  return readText(sql`json_group_array(${row})`).as("rows");
}

type OutlineRow = readonly [
  n: number,
  kind: EventOutline["kind"],
  sidechain: number | boolean,
  outcome?: EventOutline["outcome"],
  tool?: string | null,
  head?: string | null,
  file?: string | null,
];

function outlineFromRow(row: OutlineRow): EventOutline {
  const [n, kind, sidechain, outcome = null, tool = null, head = null, file = null] = row;
  return { n, kind, sidechain: Boolean(sidechain), outcome, tool, head, file };
}

async function dropEvents(db: Kysely<Tables>, n: number): Promise<number> {
  const base = n * eventsPerSession;
  const query = db.deleteFrom("event").where("id", ">", base);
  return Number((await query.where("id", "<", base + eventsPerSession).executeTakeFirst()).numDeletedRows);
}

const insertedAtOnce = 100;

const eventColumns = ["id", "kind", "outcome", "origin", "text", "facts"] as const;

function eventToRow({ ref, kind, outcome, origin, text, ...facts }: Event, base: number): unknown[] {
  return [base + parseRef(ref), kind, outcome, origin, text, JSON.stringify(facts)];
}

/** An event's text, and all the rest as one JSON: each value of a row costs time to fetch. */
const eventParts = [
  sql<number>`id`.as("id"),
  readColumn("event", "text"),
  readText(
    sql`'[' || json_quote(kind) || ',' || json_quote(outcome) || ',' || json_quote(origin) || ',' || facts || ']'`,
  ).as("rest"),
] as const;

function eventFromRow({ id, text, rest }: { id: number; text: string; rest: string }, base: number): Event {
  const [kind, outcome, origin, facts] = parseJson(rest);
  return { ref: formatRef(id - base), kind, outcome, origin, text, ...facts } as Event;
}

function createProjects(db: Kysely<Tables>) {
  const fromRow = ({ first_at, last_at, ...row }: Tables["project"]): ProjectFold => ({
    ...{ ...row, firstAt: first_at, lastAt: last_at },
  });
  return {
    list: async () => (await selectRows(db, "project", { orderBy: ["id"] })).map(fromRow),
    get: async (ids: readonly string[]) =>
      (await selectRows(db, "project", { where: "id", in: ids })).map(fromRow),
    save: async (rows: readonly ProjectFold[]): Promise<void> => {
      await inSlices(rows, (some) =>
        db
          .replaceInto("project")
          .values(some.map(({ firstAt, lastAt, ...row }) => ({ ...row, first_at: firstAt, last_at: lastAt })))
          .execute(),
      );
    },
  };
}

/** Leases on background work; each expires. */
function createLeases(db: Kysely<Tables>) {
  return {
    holder: async (name: string): Promise<{ readonly holder: string; readonly until: number } | null> => {
      const [row] = await selectRows(db, "lease", { where: "name", in: [name] });
      return row ? { holder: row.holder, until: row.until } : null;
    },
    /** Takes or renews a lease that is free, expired, already held, or held by `insteadOf`; true if now held. */
    take: async (
      name: string,
      lease: {
        readonly holder: string;
        readonly now: number;
        readonly until: number;
        readonly insteadOf?: string | undefined;
      },
    ): Promise<boolean> => {
      const { holder, now, until, insteadOf } = lease;
      const holders = insteadOf === undefined ? [holder] : [holder, insteadOf];
      const taken = await db
        .insertInto("lease")
        .values({ name, holder, until })
        .onConflict((conflict) =>
          conflict
            .column("name")
            .doUpdateSet({ holder, until })
            .where((where) =>
              where.or([where("lease.until", "<=", now), where("lease.holder", "in", holders)]),
            ),
        )
        .returning("until")
        .execute();
      return taken.length > 0;
    },
    /** Gives a lease back, if it is one's own. */
    release: async (name: string, holder: string): Promise<void> => {
      await db.deleteFrom("lease").where("name", "=", name).where("holder", "=", holder).execute();
    },
  };
}

// --- Background work, which one process does at a time ---

/** A lease that ends later than this was written by a clock that was ahead. */
const longestLeaseMs = 6 * 60 * 60_000;

export interface BackgroundWork {
  /** Takes a lease on a piece of work until a time; false while another running process has it. */
  claim(work: string, until: number): Promise<boolean>;
  giveBack(work: string): Promise<void>;
}

export function createBackgroundWork({ leases }: Store, clock: Clock): BackgroundWork {
  const self = `${process.pid} ${randomUUID()}`;
  return {
    claim: async (work, until) => {
      const held = await leases.holder(work);
      const isOver = held && (!isAlive(held.holder) || held.until > until + longestLeaseMs);
      const dead = isOver ? held.holder : undefined;
      return leases.take(work, { holder: self, now: clock.now(), until, insteadOf: dead });
    },
    giveBack: (work) => leases.release(work, self),
  };
}

/** Whether a running process is at a piece of work. */
export async function isClaimed({ leases }: Store, work: string, now: number): Promise<boolean> {
  const held = await leases.holder(work);
  const isCurrent = held !== null && held.until > now && held.until < now + longestLeaseMs;
  return isCurrent && isAlive(held.holder);
}

function isAlive(holder: string): boolean {
  return isRunning(Number.parseInt(holder, 10));
}
