import { CompiledQuery, type Kysely, type RawBuilder, sql } from "kysely";
import { type Event, numberOf, refOf } from "../core/event.ts";
import type { EntryOf, LedgerEntry, ProjectFold } from "../core/ledger.ts";
import type { Outlined } from "../core/outline.ts";
import { policy } from "../core/policy.ts";
import type { Session } from "../core/session.ts";
import type { Clock, Reading, Store } from "../engine/ports.ts";
import { createLearning } from "./learning.ts";
import { bytesOf, columnsOf, inSlices, parsed, projectColumns, rowOf } from "./rows.ts";
import type {
  EventTable,
  LeaseTable,
  LedgerTable,
  ProjectTable,
  ReadingTable,
  SessionTable,
  Tables,
} from "./schema.ts";

/** Room for the events of one session in the events' keys: more than a transcript of any size has. */
const eventsPerSession = 2 ** 24;
/** The Store over any Kysely database that has the tables. */
export function createStore(db: Kysely<Tables>, clock: Clock): Store {
  return {
    ledger: ledger(db, clock),
    readings: readings(db),
    sessions: sessions(db),
    events: events(db),
    projects: projects(db),
    learning: createLearning(db),
    leases: leases(db),
    transaction: (work) => db.transaction().execute((tx) => work(createStore(tx, clock))),
    check: async () => findingsOf((await sql`pragma integrity_check(20)`.execute(db)).rows),
    close: () => db.destroy(),
  };
}

/** What SQLite's own check found, without its "ok". */
export function findingsOf(rows: readonly unknown[]): string[] {
  return rows.flatMap((row) => Object.values(row as object)).filter((text) => text !== "ok");
}

function ledger(db: Kysely<Tables>, clock: Clock): Store["ledger"] {
  return {
    append: async (entries) => {
      const recorded_at = clock.now();
      const added = await inSlices(entries, (some) =>
        db
          .insertInto("ledger")
          .values(some.map((entry) => ({ ...entry, data: JSON.stringify(entry.data), recorded_at })))
          .onConflict((conflict) => conflict.column("key").doNothing())
          .returning("key")
          .execute(),
      );
      const keys = new Set(added.map(({ key }) => key));
      return entries.filter(({ key }) => keys.has(key));
    },
    all: async () => {
      const rows = await db
        .selectFrom("ledger")
        .select(columnsOf("ledger"))
        .orderBy("at")
        .orderBy("session")
        .orderBy("key")
        .execute();
      return rows.map((row) => entryFromRow(rowOf<LedgerTable>(row)));
    },
    has: async (keys) => {
      const rows = await inSlices(keys, (some) =>
        db.selectFrom("ledger").select(bytesOf("key")).where("key", "in", some).execute(),
      );
      return new Set(rows.map((row) => rowOf<LedgerTable>(row).key));
    },
    get: async (keys) => {
      const rows = await inSlices(keys, (some) =>
        db.selectFrom("ledger").select(columnsOf("ledger")).where("key", "in", some).execute(),
      );
      return rows.map((row) => entryFromRow(rowOf<LedgerTable>(row)));
    },
    count: async () =>
      (await db.selectFrom("ledger").select(sql<number>`count(*)`.as("count")).executeTakeFirstOrThrow())
        .count,
    since: async (type, at) => {
      const rows = await db
        .selectFrom("ledger")
        .select(columnsOf("ledger"))
        .where("type", "=", type)
        .where("at", ">=", at)
        .orderBy("at")
        .orderBy("key")
        .execute();
      return rows.map((row) => entryFromRow(rowOf<LedgerTable>(row)) as EntryOf<typeof type>);
    },
    lastNoted: async (type) => {
      const row = await db
        .selectFrom("ledger")
        .select((each) => each.fn.max("recorded_at").as("at"))
        .where("type", "=", type)
        .executeTakeFirst();
      return row?.at ?? null;
    },
  };
}

function leases(db: Kysely<Tables>): Store["leases"] {
  return {
    holder: async (name) => {
      const row = await db
        .selectFrom("lease")
        .select(columnsOf("lease"))
        .where("name", "=", name)
        .executeTakeFirst();
      if (!row) return null;
      const { holder, until } = rowOf<LeaseTable>(row);
      return { holder, until };
    },
    take: async (name, { holder, now, until, insteadOf }) => {
      const taken = await db
        .insertInto("lease")
        .values({ name, holder, until })
        .onConflict((conflict) =>
          conflict
            .column("name")
            .doUpdateSet({ holder, until })
            .where((where) =>
              where.or([
                where("lease.until", "<=", now),
                where("lease.holder", "in", insteadOf === undefined ? [holder] : [holder, insteadOf]),
              ]),
            ),
        )
        .returning("until")
        .execute();
      return taken.length > 0;
    },
    release: async (name, holder) => {
      await db.deleteFrom("lease").where("name", "=", name).where("holder", "=", holder).execute();
    },
  };
}

function readings(db: Kysely<Tables>): Store["readings"] {
  return {
    get: async (path) => {
      const row = await db
        .selectFrom("reading")
        .select(columnsOf("reading"))
        .where("path", "=", path)
        .executeTakeFirst();
      return row ? readingFromRow(rowOf(row)) : null;
    },
    of: async (paths) => {
      const rows = await inSlices(paths, (some) =>
        db.selectFrom("reading").select(columnsOf("reading")).where("path", "in", some).execute(),
      );
      return rows.map((row) => readingFromRow(rowOf(row)));
    },
    save: async (all) => {
      await inSlices(all, (some) => db.replaceInto("reading").values(some.map(readingToRow)).execute());
    },
  };
}

function sessions(db: Kysely<Tables>): Store["sessions"] {
  return {
    list: async (paths) => {
      const rows = paths
        ? await inSlices(paths, (some) =>
            db.selectFrom("session").select(columnsOf("session")).where("path", "in", some).execute(),
          )
        : await db.selectFrom("session").select(columnsOf("session")).execute();
      return rows.map((row) => sessionFromRow(rowOf(row)));
    },
    save: async (all) => {
      await inSlices(all, (some) =>
        db
          .insertInto("session")
          .values(some.map(sessionToRow) as SessionTable[])
          .onConflict((conflict) => conflict.column("id").doUpdateSet((row) => updated(row.ref)))
          .execute(),
      );
    },
    forget: async (path) => {
      const found = await db.selectFrom("session").select("n").where("path", "=", path).execute();
      for (const { n } of found) await dropEvents(db, n);
      await db.deleteFrom("session").where("path", "=", path).execute();
    },
  };
}

/** Everything is replaced but the project a session was found in: the ledger has it, and a remote may come later. */
function updated(ref: (name: `excluded.${keyof SessionTable}`) => unknown) {
  const kept: readonly string[] = projectColumns;
  const columns = sessionColumns
    .filter((name) => !kept.includes(name))
    .map((name) => [name, ref(`excluded.${name}`)]);
  const projects = projectColumns.map((name) => [
    name,
    sql`case when session.project_id = 'unknown' then ${sql.ref(`excluded.${name}`)} else ${sql.ref(`session.${name}`)} end`,
  ]);
  return Object.fromEntries([...columns, ...projects]);
}

function events(db: Kysely<Tables>): Store["events"] {
  const baseOf = async (session: string): Promise<number> => {
    const row = await db.selectFrom("session").select("n").where("id", "=", session).executeTakeFirst();
    return (row?.n ?? 0) * eventsPerSession;
  };
  const within = (base: number) =>
    db
      .selectFrom("event")
      .where("id", ">", base)
      .where("id", "<", base + eventsPerSession);
  return {
    of: async (session) => {
      const base = await baseOf(session);
      return (await within(base).select(eventParts).orderBy("id").execute()).map((row) =>
        eventFromRow(row, base),
      );
    },
    page: async (session, after, most) => {
      const base = await baseOf(session);
      const rows = await db
        .selectFrom("event")
        .select(eventParts)
        .where("id", ">", base + after)
        .where("id", "<", base + eventsPerSession)
        .orderBy("id")
        .limit(most)
        .execute();
      return rows.map((row) => eventFromRow(row, base));
    },
    some: async (session, refs) => {
      const base = await baseOf(session);
      // A number beyond these would name an event of another session.
      const isOwn = (n: number) => Number.isInteger(n) && n > 0 && n < eventsPerSession;
      const ids = refs
        .map(numberOf)
        .filter(isOwn)
        .map((n) => base + n);
      const rows = await inSlices(ids, (some) =>
        db.selectFrom("event").select(eventParts).where("id", "in", some).execute(),
      );
      return rows.map((row) => eventFromRow(row, base));
    },
    outline: async (session, from, to) => {
      const base = await baseOf(session);
      const last = await within(base)
        .select((each) => each.fn.max("id").as("id"))
        .executeTakeFirst();
      const end = Math.min(base + to, last?.id ?? 0);
      const found: Outlined[] = [];
      for (let at = base + from; at <= end; at += outlinedAtOnce) {
        const until = Math.min(end, at + outlinedAtOnce - 1);
        // Only these two bounds: given more, the database would begin at the widest each time.
        const row = await db
          .selectFrom("event")
          .select(outlineOf(base))
          .where("id", ">=", at)
          .where("id", "<=", until)
          .executeTakeFirstOrThrow();
        const rows: OutlineRow[] = parsed(rowOf<{ rows: string }>(row).rows);
        for (const one of rows) found.push(outlineFromRow(one));
      }
      return found;
    },
    origins: async (session) => {
      const rows = await within(await baseOf(session))
        .select(bytesOf("origin"))
        .where("origin", "is not", null)
        .execute();
      return rows.map((row) => rowOf<{ origin: string }>(row).origin);
    },
    count: async (session) => {
      const when = (condition: RawBuilder<unknown>) => sql<number>`count(case when ${condition} then 1 end)`;
      const row = await within(await baseOf(session))
        .select([
          sql<number>`count(*)`.as("events"),
          when(sql`kind = 'prompt'`).as("prompts"),
          when(sql`kind = 'call'`).as("calls"),
          when(sql`outcome = 'failed'`).as("failed"),
          when(sql`outcome = 'rejected'`).as("rejected"),
        ])
        .executeTakeFirstOrThrow();
      return { ...row };
    },
    save: async (batches) => {
      const ids = batches.map(({ session }) => session);
      const found = await inSlices(ids, (some) =>
        db
          .selectFrom("session")
          .select(["n", bytesOf("id")])
          .where("id", "in", some)
          .execute(),
      );
      const rowsFound = found.map((row) => rowOf<Pick<SessionTable, "id" | "n">>(row));
      const bases = new Map(rowsFound.map(({ id, n }) => [id, n * eventsPerSession]));
      const rows = batches.flatMap(({ session, events }) => {
        const base = bases.get(session);
        if (base === undefined) throw new Error(`events of a session that is not saved: ${session}`);
        return events.map((event) => eventToRow(event, base));
      });
      for (let from = 0; from < rows.length; from += rowsAtOnce) {
        const some = rows.slice(from, from + rowsAtOnce);
        await db.executeQuery(CompiledQuery.raw(insertEvents(some.length), some.flat()));
      }
    },
    purge: async (before) => {
      const old = db.selectFrom("reading").select("path").where("cached_at", "<", before);
      const found = await db.selectFrom("session").select("n").where("path", "in", old).execute();
      let dropped = 0;
      for (const { n } of found) dropped += await dropEvents(db, n);
      await db.updateTable("reading").set({ cached_at: null }).where("cached_at", "<", before).execute();
      return dropped;
    },
  };
}

/** Events in one row: a row of its own for each costs more than all that is read of them. */
const outlinedAtOnce = 5_000;

/** The rows are made into one text by the database, which need not make objects of what is not asked for. */
function outlineOf(base: number) {
  const always = sql`id - ${base}, kind, facts ->> 'sidechain'`;
  const ofCall = sql`outcome, facts ->> 'tool', substr(facts ->> 'command', 1, ${policy.keep.headChars}), facts ->> '$.files[0]'`;
  const row = sql`case kind when 'call' then json_array(${always}, ${ofCall}) else json_array(${always}) end`;
  return sql<string>`cast(json_group_array(${row}) as blob)`.as("rows");
}

type OutlineRow = readonly [
  n: number,
  kind: Outlined["kind"],
  sidechain: number,
  outcome?: Outlined["outcome"],
  tool?: string | null,
  head?: string | null,
  file?: string | null,
];

function outlineFromRow([n, kind, sidechain, outcome, tool, head, file]: OutlineRow): Outlined {
  return {
    n,
    kind,
    sidechain: sidechain === 1,
    outcome: outcome ?? null,
    tool: tool ?? null,
    head: head ?? null,
    file: file ?? null,
  };
}

async function dropEvents(db: Kysely<Tables>, n: number): Promise<number> {
  const base = n * eventsPerSession;
  const query = db
    .deleteFrom("event")
    .where("id", ">", base)
    .where("id", "<", base + eventsPerSession);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

function projects(db: Kysely<Tables>): Store["projects"] {
  const save = async (rows: readonly ProjectFold[]) => {
    await inSlices(rows, (some) => db.replaceInto("project").values(some.map(projectToRow)).execute());
  };
  return {
    list: async () =>
      (await db.selectFrom("project").select(columnsOf("project")).orderBy("id").execute()).map((row) =>
        projectFromRow(rowOf(row)),
      ),
    get: async (ids) =>
      (
        await inSlices(ids, (some) =>
          db.selectFrom("project").select(columnsOf("project")).where("id", "in", some).execute(),
        )
      ).map((row) => projectFromRow(rowOf(row))),
    save,
    replace: async (rows) => {
      await db.deleteFrom("project").execute();
      await save(rows);
    },
  };
}

function readingFromRow({ offset, line, digest, modified_at, cached_at, ...row }: ReadingTable): Reading {
  return {
    path: row.path,
    format: row.format as Reading["format"],
    size: row.size,
    modifiedAt: modified_at,
    position: { offset, line, digest },
    state: parsed(row.state),
    diagnostics: parsed(row.diagnostics),
    cachedAt: cached_at,
  };
}

function readingToRow({ position, modifiedAt, cachedAt, ...reading }: Reading): ReadingTable {
  return {
    path: reading.path,
    format: reading.format,
    size: reading.size,
    modified_at: modifiedAt,
    ...position,
    state: JSON.stringify(reading.state),
    diagnostics: JSON.stringify(reading.diagnostics),
    cached_at: cachedAt,
  };
}

function sessionFromRow(row: SessionTable): Session {
  return {
    id: row.id,
    path: row.path,
    format: row.format as Session["format"],
    sessionId: row.session_id,
    agentId: row.agent_id,
    subagent: row.subagent === 1,
    cwd: row.cwd,
    remote: row.remote,
    transcriptPath: row.transcript_path,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    project: { id: row.project_id, name: row.project_name, root: row.project_root },
    counts: {
      events: row.events,
      prompts: row.prompts,
      calls: row.calls,
      failed: row.failed,
      rejected: row.rejected,
    },
  };
}

const sessionColumns = [
  ...["id", "path", "format", "session_id", "agent_id", "subagent", "cwd", "remote", "transcript_path"],
  ...["started_at", "ended_at", ...projectColumns, "events", "prompts", "calls", "failed", "rejected"],
] as (keyof SessionTable)[];

function sessionToRow({ project, counts, ...session }: Session): Omit<SessionTable, "n"> {
  return {
    id: session.id,
    path: session.path,
    format: session.format,
    session_id: session.sessionId,
    agent_id: session.agentId,
    subagent: session.subagent ? 1 : 0,
    cwd: session.cwd,
    remote: session.remote,
    transcript_path: session.transcriptPath,
    started_at: session.startedAt,
    ended_at: session.endedAt,
    project_id: project.id,
    project_name: project.name,
    project_root: project.root,
    ...counts,
  };
}

const eventColumns = [
  "id",
  "kind",
  "outcome",
  "origin",
  "text",
  "facts",
] as const satisfies readonly (keyof EventTable)[];
const rowsAtOnce = 100;

/** Written out because events come by the hundred thousand, and building a query costs more than running it. */
function insertEvents(rows: number): string {
  const row = `(${eventColumns.map(() => "?").join(",")})`;
  return `insert or replace into event (${eventColumns.join(",")}) values ${Array(rows).fill(row).join(",")}`;
}

function eventToRow({ ref, kind, outcome, origin, text, ...facts }: Event, base: number): unknown[] {
  return [base + numberOf(ref), kind, outcome, origin, text, JSON.stringify(facts)];
}

/** An event's text, and all the rest as one JSON: each value of a row costs time to fetch. */
const eventParts = [
  sql<number>`id`.as("id"),
  bytesOf("text"),
  sql`cast('[' || json_quote(kind) || ',' || json_quote(outcome) || ',' || json_quote(origin) || ',' || facts || ']' as blob)`.as(
    "rest",
  ),
];

function eventFromRow(row: Record<string, unknown>, base: number): Event {
  const { id, text, rest } = rowOf<{ id: number; text: string; rest: string }>(row);
  const [kind, outcome, origin, facts] = parsed(rest);
  return { ref: refOf(id - base), kind, outcome, origin, text, ...facts } as Event;
}

function entryFromRow({ recorded_at: _, data, ...row }: LedgerTable): LedgerEntry {
  return { ...row, data: parsed(data) } as LedgerEntry;
}

function projectFromRow({ first_at, last_at, ...row }: ProjectTable): ProjectFold {
  return {
    id: row.id,
    name: row.name,
    root: row.root,
    firstAt: first_at,
    lastAt: last_at,
    sessions: row.sessions,
  };
}

function projectToRow({ firstAt, lastAt, ...row }: ProjectFold): ProjectTable {
  return {
    id: row.id,
    name: row.name,
    root: row.root,
    first_at: firstAt,
    last_at: lastAt,
    sessions: row.sessions,
  };
}
