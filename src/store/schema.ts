import { isUtf8 } from "node:buffer";
import { type AliasedRawBuilder, type Kysely, sql } from "kysely";
import { KnackError } from "../base/index.ts";

/** Databases of another version are refused. Raise it with every change below. */
export const schemaVersion = 7;

/** A type of SQLite's, with "?" where a value may be null. */
type ColumnType = "text" | "text?" | "integer" | "integer?" | "real";

interface TableShape {
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** Keys and other constraints. */
  readonly keys: string;
  readonly withoutRowid?: true;
}

const sessionCounts = {
  ...({ events: "integer", prompts: "integer", calls: "integer" } as const),
  ...({ failed: "integer", rejected: "integer" } as const),
};

/** Tables as they are on disk. Times are milliseconds since 1970; lists and objects are JSON. */
const tables = {
  ledger: {
    columns: {
      ...({ at: "integer?", project: "text?", session: "text?", actor: "text", type: "text" } as const),
      ...({ key: "text", data: "text", recorded_at: "integer" } as const),
    },
    keys: "unique (key)",
  },
  reading: {
    columns: {
      ...({
        path: "text",
        format: "text?",
        size: "integer",
        modified_at: "real",
        offset: "integer",
      } as const),
      ...({
        line: "integer",
        digest: "text",
        state: "text",
        diagnostics: "text",
        cached_at: "integer?",
      } as const),
    },
    keys: "primary key (path)",
  },
  /** `n` is a small stand-in for the id in the keys of events. */
  session: {
    columns: {
      ...({ n: "integer", id: "text", path: "text", format: "text", session_id: "text?" } as const),
      ...({ agent_id: "text?", subagent: "integer", cwd: "text?", remote: "text?" } as const),
      ...({ transcript_path: "text?", started_at: "integer?", ended_at: "integer?" } as const),
      ...({ project_id: "text", project_name: "text", project_root: "text?" } as const),
      ...sessionCounts,
    },
    keys: "primary key (n), unique (id)",
  },
  /**
   * The id is the session's `n` and the event's number in one, so that a session's events lie together and need no
   * index. What queries ask for has columns; the rest is one JSON, because each value bound costs time.
   */
  event: {
    columns: { id: "integer", kind: "text", outcome: "text?", origin: "text?", text: "text", facts: "text" },
    keys: "primary key (id)",
  },
  project: {
    columns: {
      ...({ id: "text", name: "text", root: "text?" } as const),
      ...({ first_at: "integer", last_at: "integer", sessions: "integer" } as const),
    },
    keys: "primary key (id)",
  },
  /** How far a session was learned from. */
  learned: { columns: { session: "text", pass: "integer", mark: "text" }, keys: "primary key (session)" },
  finding: {
    columns: {
      ...({
        n: "integer",
        id: "text",
        pass: "integer",
        session: "text",
        run: "text",
        project: "text",
      } as const),
      ...({
        scope_id: "text",
        lesson_id: "text",
        at: "integer",
        found_at: "integer",
        origin: "text?",
      } as const),
      ...({
        kind: "text",
        confidence: "real",
        trigger_text: "text",
        action_text: "text",
        data: "text",
      } as const),
    },
    keys: "primary key (n), unique (id)",
  },
  /** Findings that no longer hold, so that an older entry for them has no effect. */
  withdrawn: { columns: { id: "text", pass: "integer" }, keys: "primary key (id)" },
  /** The words by which lessons that are alike find each other; `finding` is the finding's `n`. */
  term: {
    columns: { scope_id: "text", word: "text", finding: "integer", in_trigger: "integer" },
    keys: "primary key (scope_id, word, finding)",
    withoutRowid: true,
  },
  /** In how many findings each word is. */
  term_count: {
    columns: { scope_id: "text", word: "text", findings: "integer" },
    keys: "primary key (scope_id, word)",
    withoutRowid: true,
  },
  /** The names under which recall looks findings up. */
  cue: {
    columns: { cue: "text", finding: "integer" },
    keys: "primary key (cue, finding)",
    withoutRowid: true,
  },
  /** Two findings that say opposite things, both ways round. */
  opposition: {
    columns: { finding: "text", by: "text" },
    keys: "primary key (finding, by)",
    withoutRowid: true,
  },
  use: {
    columns: {
      ...({ session: "text", run: "text", project: "text", head: "text", parts: "text" } as const),
      ...({ at: "integer", ok: "integer", failed: "integer" } as const),
    },
    keys: "",
  },
  decision: {
    columns: {
      ...({ key: "text", finding: "text", at: "integer", decision: "text" } as const),
      ...({ everywhere: "integer", lesson: "text?", actor: "text" } as const),
    },
    keys: "primary key (key)",
  },
  /** `head` is the program of the call that a lesson recommends. */
  lesson: {
    columns: {
      ...({ id: "text", scope_id: "text", project: "text", head: "text?", status: "text" } as const),
      ...({ confidence: "real", last_at: "integer", data: "text" } as const),
    },
    keys: "primary key (id)",
  },
  change: {
    columns: { id: "text", path: "text", state: "text", at: "integer", data: "text" },
    keys: "primary key (id)",
  },
  /** What the ledger says of things that were imported. */
  imported: {
    columns: { key: "text", id: "text", at: "integer", data: "text" },
    keys: "primary key (key)",
  },
  /** Who does a piece of background work, and until when. */
  lease: { columns: { name: "text", holder: "text", until: "integer" }, keys: "primary key (name)" },
} as const satisfies Record<string, TableShape>;

type ColumnValue<Type extends ColumnType> =
  | (Type extends `text${string}` ? string : number)
  | (Type extends `${string}?` ? null : never);

export type TableName = keyof typeof tables;

export type Tables = {
  [Table in TableName]: {
    -readonly [Column in keyof (typeof tables)[Table]["columns"]]: (typeof tables)[Table]["columns"][Column] extends ColumnType
      ? ColumnValue<(typeof tables)[Table]["columns"][Column]>
      : never;
  };
};

/** The statements that make an empty database. */
export const createStatements: readonly string[] = [
  ...Object.entries<TableShape>(tables).map(([name, { columns, keys, withoutRowid }]) => {
    const lines = Object.entries(columns).map(([column, type]) =>
      type.endsWith("?") ? `${column} ${type.slice(0, -1)}` : `${column} ${type} not null`,
    );
    const all = [...lines, ...(keys === "" ? [] : [keys])].join(", ");
    return `create table ${name} (${all})${withoutRowid ? " without rowid" : ""}`;
  }),
  "create trigger ledger_stays before update on ledger begin select raise(abort, 'the ledger is only appended to'); end",
  "create trigger ledger_keeps before delete on ledger begin select raise(abort, 'the ledger is only appended to'); end",
  "create index ledger_of_type on ledger (type, at)",
  "create index session_of_path on session (path)",
  "create index finding_of_lesson on finding (lesson_id)",
  "create index finding_of_session on finding (session)",
  "create index term_of_finding on term (finding)",
  "create index cue_of_finding on cue (finding)",
  "create index use_of_head on use (head, project)",
  "create index use_of_session on use (session)",
  "create index decision_of_finding on decision (finding)",
  "create index lesson_of_head on lesson (head) where head is not null",
  "create index lesson_promoted on lesson (scope_id) where status = 'promoted'",
  "create index imported_by_id on imported (id)",
];

/** Rows or keys in one statement: SQLite takes some 32,000 values, and a row has up to 20. */
const atOnce = 1_000;

/** Asks for many keys, some at a time. */
export async function inSlices<Key, Row>(
  keys: readonly Key[],
  ask: (some: readonly Key[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < keys.length; from += atOnce)
    rows.push(...(await ask(keys.slice(from, from + atOnce))));
  return rows;
}

/** A column to be read. Text is read as bytes: the driver ends the process on text that damage has made invalid. */
export function readColumn(table: TableName, name: string): AliasedRawBuilder<unknown, string> {
  const { columns }: TableShape = tables[table];
  const column = sql.ref(`${table}.${name}`);
  return (columns[name]?.startsWith("text") ? sql`cast(${column} as blob)` : sql`${column}`).as(name);
}

export function readColumns(table: TableName): AliasedRawBuilder<unknown, string>[] {
  return Object.keys(tables[table].columns).map((name) => readColumn(table, name));
}

/** The rows of a table whose column has one of these values. */
export async function selectRows<Table extends TableName>(
  db: Kysely<Tables>,
  table: Table,
  column: keyof Tables[Table] & string,
  values: readonly (string | number)[],
): Promise<Tables[Table][]> {
  return inSlices(values, async (some) => {
    const query = sql<Record<string, unknown>>`
      select ${sql.join(readColumns(table))} from ${sql.table(table)}
      where ${sql.ref(column)} in (${sql.join(some)})`;
    return (await query.execute(db)).rows.map((row) => decodeRow<Tables[Table]>(row));
  });
}

/** A row as it was read, with its bytes as text again. */
export function decodeRow<Row>(row: Record<string, unknown>): Row {
  const read: Record<string, unknown> = {};
  for (const name in row) {
    const value = row[name];
    read[name] = value instanceof ArrayBuffer ? decodeText(value) : value;
  }
  return read as Row;
}

function decodeText(bytes: ArrayBuffer): string {
  if (!isUtf8(bytes)) throw damagedRow("text that is not UTF-8");
  return Buffer.from(bytes).toString("utf8");
}

export function parseJson(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    // The row's content is no part of the message: it may be anything.
    throw damagedRow("a value that is not JSON");
  }
}

function damagedRow(finding: string): KnackError {
  return new KnackError("STORE_DAMAGED", `Knack's database is damaged: it holds ${finding}.`, {
    hint: "Move knack.db away and run knack again: sessions are read anew from the agents' transcripts.",
  });
}
