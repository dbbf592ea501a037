import { CompiledQuery, type Kysely, type RawBuilder, sql } from "kysely";
import type { Clock } from "../base/index.ts";
import {
  type EntryOf,
  type Event,
  type EventOutline,
  formatRef,
  type LedgerEntry,
  outlinedCommandChars,
  type ProjectFold,
  parseRef,
  type Reading,
  type Session,
} from "../records/index.ts";
import { createLearning } from "./learning.ts";
import type { Store } from "./port.ts";
import {
  decodeRow,
  inSlices,
  parseJson,
  readColumn,
  readColumns,
  selectRows,
  type TableName,
  type Tables,
} from "./schema.ts";

/** Room for the events of one session in the events' keys: more than a transcript of any size has. */
const eventsPerSession = 2 ** 24;

/** The tables whose rows follow from the ledger. */
const foldTables: readonly TableName[] = [
  ...(["project", "learned", "finding", "withdrawn", "term", "term_count", "cue"] as const),
  ...(["opposition", "use", "decision", "imported", "lesson", "change"] as const),
];

/** The Store over any Kysely database that has the tables. */
export function createStore(db: Kysely<Tables>, clock: Clock): Store {
  return {
    ledger: createLedger(db, clock),
    readings: createReadings(db),
    sessions: createSessions(db),
    events: createEvents(db),
    projects: createProjects(db),
    learning: createLearning(db),
    leases: createLeases(db),
    clearFolds: async () => {
      for (const table of foldTables) await db.deleteFrom(table).execute();
    },
    transaction: (work) => db.transaction().execute((tx) => work(createStore(tx, clock))),
    check: async () => listFaults((await sql`pragma integrity_check(20)`.execute(db)).rows),
    close: () => db.destroy(),
  };
}

/** What SQLite's own check found, without its "ok". */
export function listFaults(rows: readonly unknown[]): string[] {
  return rows.flatMap((row) => Object.values(row as object)).filter((text) => text !== "ok");
}

function createLedger(db: Kysely<Tables>, clock: Clock): Store["ledger"] {
  const read = (row: Record<string, unknown>) => entryFromRow(decodeRow(row));
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
      const query = db.selectFrom("ledger").select(readColumns("ledger"));
      return (await query.orderBy("at").orderBy("session").orderBy("key").execute()).map(read);
    },
    has: async (keys) => {
      const rows = await inSlices(keys, (some) =>
        db.selectFrom("ledger").select(readColumn("ledger", "key")).where("key", "in", some).execute(),
      );
      return new Set(rows.map((row) => decodeRow<{ key: string }>(row).key));
    },
    get: async (keys) => (await selectRows(db, "ledger", "key", keys)).map(entryFromRow),
    count: async () =>
      (await db.selectFrom("ledger").select(sql<number>`count(*)`.as("count")).executeTakeFirstOrThrow())
        .count,
    since: async (type, at) => {
      const query = db.selectFrom("ledger").select(readColumns("ledger"));
      const found = query.where("type", "=", type).where("at", ">=", at);
      return (await found.orderBy("at").orderBy("key").execute()).map(read) as EntryOf<typeof type>[];
    },
    lastNoted: async (type) => {
      const query = db.selectFrom("ledger").select((each) => each.fn.max("recorded_at").as("at"));
      return (await query.where("type", "=", type).executeTakeFirst())?.at ?? null;
    },
  };
}

function entryFromRow({ recorded_at: _, data, ...row }: Tables["ledger"]): LedgerEntry {
  return { ...row, data: parseJson(data) } as LedgerEntry;
}

function createLeases(db: Kysely<Tables>): Store["leases"] {
  return {
    holder: async (name) => {
      const [row] = await selectRows(db, "lease", "name", [name]);
      return row ? { holder: row.holder, until: row.until } : null;
    },
    take: async (name, { holder, now, until, insteadOf }) => {
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
    release: async (name, holder) => {
      await db.deleteFrom("lease").where("name", "=", name).where("holder", "=", holder).execute();
    },
  };
}

function createReadings(db: Kysely<Tables>): Store["readings"] {
  const select = async (paths: readonly string[]) =>
    (await selectRows(db, "reading", "path", paths)).map(readingFromRow);
  return {
    get: async (path) => (await select([path]))[0] ?? null,
    of: select,
    save: async (all) => {
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

function createSessions(db: Kysely<Tables>): Store["sessions"] {
  return {
    list: async (paths) => {
      const rows = paths
        ? await selectRows(db, "session", "path", paths)
        : (await db.selectFrom("session").select(readColumns("session")).execute()).map((row) =>
            decodeRow<Tables["session"]>(row),
          );
      return rows.map(sessionFromRow);
    },
    save: async (all) => {
      await inSlices(all, (some) =>
        db
          .insertInto("session")
          .values(some.map(sessionToRow) as Tables["session"][])
          .onConflict((conflict) => conflict.column("id").doUpdateSet(sessionUpdate))
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

function createEvents(db: Kysely<Tables>): Store["events"] {
  const findBase = async (transcript: string): Promise<number> => {
    const row = await db.selectFrom("session").select("n").where("id", "=", transcript).executeTakeFirst();
    return (row?.n ?? 0) * eventsPerSession;
  };
  const selectAfter = (base: number, after = 0) =>
    db
      .selectFrom("event")
      .where("id", ">", base + after)
      .where("id", "<", base + eventsPerSession);
  return {
    of: async (transcript) => {
      const base = await findBase(transcript);
      const rows = await selectAfter(base).select(eventParts).orderBy("id").execute();
      return rows.map((row) => eventFromRow(row, base));
    },
    page: async (transcript, after, most) => {
      const base = await findBase(transcript);
      const rows = await selectAfter(base, after).select(eventParts).orderBy("id").limit(most).execute();
      return rows.map((row) => eventFromRow(row, base));
    },
    some: async (transcript, refs) => {
      const base = await findBase(transcript);
      // A number beyond these would name an event of another session.
      const isOwn = (n: number) => Number.isInteger(n) && n > 0 && n < eventsPerSession;
      const numbers = refs.map(parseRef).filter(isOwn);
      const rows = await inSlices(numbers, (some) => {
        const ids = some.map((n) => base + n);
        return db.selectFrom("event").select(eventParts).where("id", "in", ids).execute();
      });
      return rows.map((row) => eventFromRow(row, base));
    },
    outline: async (transcript, from, to) => {
      const base = await findBase(transcript);
      const last = await selectAfter(base)
        .select((each) => each.fn.max("id").as("id"))
        .executeTakeFirst();
      const end = Math.min(base + to, last?.id ?? 0);
      const found: EventOutline[] = [];
      for (let at = base + from; at <= end; at += outlinedAtOnce) {
        const until = Math.min(end, at + outlinedAtOnce - 1);
        // Only these two bounds: given more, the database would begin at the widest each time.
        const query = db.selectFrom("event").select(outlineRows(base));
        const row = await query.where("id", ">=", at).where("id", "<=", until).executeTakeFirstOrThrow();
        const rows: OutlineRow[] = parseJson(decodeRow<{ rows: string }>(row).rows);
        for (const one of rows) found.push(outlineFromRow(one));
      }
      return found;
    },
    origins: async (transcript) => {
      const query = selectAfter(await findBase(transcript)).select(readColumn("event", "origin"));
      const rows = await query.where("origin", "is not", null).execute();
      return rows.map((row) => decodeRow<{ origin: string }>(row).origin);
    },
    count: async (transcript) => {
      const count = (condition: RawBuilder<unknown>) => sql<number>`count(case when ${condition} then 1 end)`;
      const row = await selectAfter(await findBase(transcript))
        .select([
          sql<number>`count(*)`.as("events"),
          count(sql`kind = 'prompt'`).as("prompts"),
          count(sql`kind = 'call'`).as("calls"),
          count(sql`outcome = 'failed'`).as("failed"),
          count(sql`outcome = 'rejected'`).as("rejected"),
        ])
        .executeTakeFirstOrThrow();
      return { ...row };
    },
    save: async (batches) => {
      const sessions = await selectRows(
        db,
        "session",
        "id",
        batches.map(({ session }) => session),
      );
      const bases = new Map(sessions.map(({ id, n }) => [id, n * eventsPerSession]));
      const rows = batches.flatMap(({ session, events }) => {
        const base = bases.get(session);
        if (base === undefined) throw new Error(`events of a session that is not saved: ${session}`);
        return events.map((event) => eventToRow(event, base));
      });
      for (let from = 0; from < rows.length; from += insertedAtOnce) {
        const some = rows.slice(from, from + insertedAtOnce);
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

/** Outlines in one row: a row for each costs more than all that is read of them. */
const outlinedAtOnce = 5_000;

/** The outlines as one text: the database need not make objects of what is not asked for. */
function outlineRows(base: number) {
  const always = sql`id - ${base}, kind, facts ->> 'sidechain'`;
  const ofCall = sql`outcome, facts ->> 'tool', substr(facts ->> 'command', 1, ${outlinedCommandChars}), facts ->> '$.files[0]'`;
  const row = sql`case kind when 'call' then json_array(${always}, ${ofCall}) else json_array(${always}) end`;
  return sql<string>`cast(json_group_array(${row}) as blob)`.as("rows");
}

type OutlineRow = readonly [
  n: number,
  kind: EventOutline["kind"],
  sidechain: number,
  outcome?: EventOutline["outcome"],
  tool?: string | null,
  head?: string | null,
  file?: string | null,
];

function outlineFromRow(row: OutlineRow): EventOutline {
  const [n, kind, sidechain, outcome = null, tool = null, head = null, file = null] = row;
  return { n, kind, sidechain: sidechain === 1, outcome, tool, head, file };
}

async function dropEvents(db: Kysely<Tables>, n: number): Promise<number> {
  const base = n * eventsPerSession;
  const query = db.deleteFrom("event").where("id", ">", base);
  return Number((await query.where("id", "<", base + eventsPerSession).executeTakeFirst()).numDeletedRows);
}

const insertedAtOnce = 100;

/** Written out because events come by the hundred thousand, and building a query costs more than running it. */
function insertEvents(rows: number): string {
  const values = Array(rows).fill("(?,?,?,?,?,?)").join(",");
  return `insert or replace into event (id,kind,outcome,origin,text,facts) values ${values}`;
}

function eventToRow({ ref, kind, outcome, origin, text, ...facts }: Event, base: number): unknown[] {
  return [base + parseRef(ref), kind, outcome, origin, text, JSON.stringify(facts)];
}

/** An event's text, and all the rest as one JSON: each value of a row costs time to fetch. */
const eventParts = [
  sql<number>`id`.as("id"),
  readColumn("event", "text"),
  sql`cast('[' || json_quote(kind) || ',' || json_quote(outcome) || ',' || json_quote(origin) || ',' || facts || ']' as blob)`.as(
    "rest",
  ),
];

function eventFromRow(row: Record<string, unknown>, base: number): Event {
  const { id, text, rest } = decodeRow<{ id: number; text: string; rest: string }>(row);
  const [kind, outcome, origin, facts] = parseJson(rest);
  return { ref: formatRef(id - base), kind, outcome, origin, text, ...facts } as Event;
}

function createProjects(db: Kysely<Tables>): Store["projects"] {
  return {
    list: async () => {
      const rows = await db.selectFrom("project").select(readColumns("project")).orderBy("id").execute();
      return rows.map((row) => projectFromRow(decodeRow(row)));
    },
    get: async (ids) => (await selectRows(db, "project", "id", ids)).map(projectFromRow),
    save: async (rows) => {
      await inSlices(rows, (some) =>
        db
          .replaceInto("project")
          .values(some.map(({ firstAt, lastAt, ...row }) => ({ ...row, first_at: firstAt, last_at: lastAt })))
          .execute(),
      );
    },
  };
}

function projectFromRow({ first_at, last_at, ...row }: Tables["project"]): ProjectFold {
  return { ...row, firstAt: first_at, lastAt: last_at };
}
