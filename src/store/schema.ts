import { type AliasedRawBuilder, type Kysely, type RawBuilder, sql } from "kysely";
import { KnackError } from "../base/index.ts";

/** Databases of another version are refused. Raise it with every change below. */
export const schemaVersion = 12;

/**
 * Tables as they are on disk: a name and a type of SQLite's for each column, with "?" where it may be null. Times are
 * milliseconds since 1970; lists and objects are JSON.
 */
const tables = {
  /**
   * Chained by hashes: `link` covers `prev`, which is the link before, the entry, and the digest of its data as it was
   * written. Data and salt are outside the chain, so that words can be masked later; nothing else ever changes.
   */
  ledger: {
    columns: `n integer, at integer?, project text?, session text?, actor text, type text, key text, data text,
      recorded_at integer, salt text, digest text, prev text, link text`,
    keys: "primary key (n), unique (key)",
  },
  reading: {
    columns: `path text, format text?, size integer, modified_at real, offset integer, line integer, digest text,
      state text, diagnostics text, cached_at integer?`,
    keys: "primary key (path)",
  },
  /** `n` is a small stand-in for the id in the keys of events. */
  session: {
    columns: `n integer, id text, path text, format text, session_id text?, agent_id text?, subagent integer,
      cwd text?, remote text?, transcript_path text?, started_at integer?, ended_at integer?, project_id text,
      project_name text, project_root text?, events integer, prompts integer, calls integer, failed integer,
      rejected integer`,
    keys: "primary key (n), unique (id)",
  },
  /**
   * The id is the session's `n` and the event's number in one, so that a session's events lie together and need no
   * index. What queries ask for has columns; the rest is one JSON, because each value bound costs time.
   */
  event: {
    columns: "id integer, kind text, outcome text?, origin text?, text text, facts text",
    keys: "primary key (id)",
  },
  project: {
    columns: "id text, name text, root text?, first_at integer, last_at integer, sessions integer",
    keys: "primary key (id)",
  },
  /** How far a session was learned from. */
  learned: {
    columns:
      "session text, part integer, run text, project text, at integer, pass integer, mark text, troubles text, leads text, waiting integer, size integer, judged text?",
    keys: "primary key (session, part)",
  },
  finding: {
    columns: `n integer, id text, pass integer, session text, run text, project text, scope_id text, lesson_id text,
      at integer, found_at integer, origin text?, kind text, confidence real, trigger_text text, action_text text,
      data text`,
    keys: "primary key (n), unique (id)",
  },
  /** Findings that no longer hold, so that an older entry for them has no effect. */
  withdrawn: { columns: "id text, pass integer", keys: "primary key (id)" },
  /** The words by which lessons that are alike find each other; `finding` is the finding's `n`. */
  term: {
    columns: "scope_id text, word text, finding integer, in_trigger integer",
    keys: "primary key (scope_id, word, finding)",
  },
  /** In how many findings each word is. */
  term_count: {
    columns: "scope_id text, word text, findings integer",
    keys: "primary key (scope_id, word)",
  },
  /** The names under which recall looks findings up. */
  cue: { columns: "cue text, finding integer", keys: "primary key (cue, finding)" },
  /** Two findings that say opposite things, both ways round. */
  opposition: { columns: "finding text, by text", keys: "primary key (finding, by)" },
  /** Words about two findings, whether or not those are there. */
  link: {
    columns: "key text, finding text, other text, type text, at integer, words text?",
    keys: "primary key (key)",
  },
  use: {
    columns: `session text, part integer, run text, project text, head text, parts text, at integer, ok integer,
      failed integer`,
    keys: "",
  },
  decision: {
    columns: `key text, finding text, at integer, decision text, everywhere integer, lesson text?, actor text`,
    keys: "primary key (key)",
  },
  /** `head` is the program of the call that a lesson recommends; `forbids` is 1 for a person's prohibition. */
  lesson: {
    columns: `id text, scope_id text, project text, head text?, forbids integer, status text, confidence real,
      last_at integer, data text`,
    keys: "primary key (id)",
  },
  /**
   * `brief` is what is known of it where many are looked through, and stands in the index of projects; `entries` is all
   * that the ledger says of it.
   */
  goal: {
    columns: `id text, project text, session text?, opened_at integer, closed_at integer?, brief text, entries text`,
    keys: "primary key (id)",
  },
  change: { columns: "id text, path text, state text, at integer, data text", keys: "primary key (id)" },
  /** Ledger records of imports. */
  imported: { columns: "key text, id text, at integer, data text", keys: "primary key (key)" },
  /** The entries of a team's ledger that are known here; those without a time of recording were not sent yet. */
  team_entry: {
    columns: `id text, repository text?, machine text, author text, sequence integer, kind text, subject text,
      content text, signature text, recorded_at integer?`,
    keys: "primary key (id)",
  },
  /** Leases on background work. */
  lease: { columns: "name text, holder text, until integer", keys: "primary key (name)" },
} as const;

type Trim<Text> = Text extends `${" " | "\n"}${infer Rest}` ? Trim<Rest> : Text;
type ColumnValue<Type> =
  | (Type extends `text${string}` ? string : number)
  | (Type extends `${string}?` ? null : never);
type ColumnRecord<Text> = Text extends `${infer Name} ${infer Type}`
  ? { [_ in Name]: ColumnValue<Type> }
  : never;
type Columns<Text> = Text extends `${infer First},${infer Rest}`
  ? ColumnRecord<Trim<First>> & Columns<Rest>
  : ColumnRecord<Trim<Text>>;

type Rows<Text> = { [Name in keyof Columns<Text>]: Columns<Text>[Name] };

export type TableName = keyof typeof tables;
/** The rows of each table. */
export type Tables = { [Table in TableName]: Rows<(typeof tables)[Table]["columns"]> };

/** The type of each column, by table. */
const columnTypes = new Map(
  Object.entries(tables).map(([table, { columns }]) => [
    table,
    new Map(columns.split(",").map((column) => column.trim().split(" ") as [name: string, type: string])),
  ]),
);

/** Tables whose rows are little more than their key. */
const withoutRowid: ReadonlySet<string> = new Set(["term", "term_count", "cue", "opposition"]);

/** The same for every database. */
export const createIndexes: readonly string[] = [
  "create index ledger_of_type on ledger (type, at)",
  "create index session_of_path on session (path)",
  "create index finding_of_lesson on finding (lesson_id)",
  "create index finding_of_session on finding (session)",
  "create index term_of_finding on term (finding)",
  "create index cue_of_finding on cue (finding)",
  "create index link_of_finding on link (finding)",
  "create index link_of_other on link (other)",
  "create index use_of_head on use (head, project)",
  "create index use_of_session on use (session)",
  "create index decision_of_finding on decision (finding)",
  "create index lesson_of_head on lesson (head) where head is not null",
  "create index lesson_forbidding on lesson (scope_id) where forbids = 1",
  "create index lesson_promoted on lesson (scope_id) where status = 'promoted'",
  "create index goal_of_project on goal (project, closed_at, opened_at, id, brief)",
  "create index goal_of_session on goal (session)",
  "create index imported_by_id on imported (id)",
  "create index team_entry_chain on team_entry (machine, sequence)",
  "create index team_entry_subject on team_entry (subject)",
  "create index team_entry_kind on team_entry (kind, repository)",
];

/** The columns of a table with their types of SQLite's, "?" where one may be null, and the keys of the table. */
export interface TableShape {
  readonly name: TableName;
  readonly columns: ReadonlyMap<string, string>;
  readonly keys: string;
}

export const tableShapes: readonly TableShape[] = Object.entries(tables).map(([name, { keys }]) => ({
  name: name as TableName,
  columns: columnTypes.get(name) ?? new Map(),
  keys,
}));

/** The statements that make an empty database of SQLite. */
export const createStatements: readonly string[] = [
  ...tableShapes.map(({ name, columns, keys }) => {
    const typed = [...columns].map(([column, type]) =>
      type.endsWith("?") ? `${column} ${type.slice(0, -1)}` : `${column} ${type} not null`,
    );
    const all = [...typed, ...(keys === "" ? [] : [keys])].join(", ");
    return `create table ${name} (${all})${withoutRowid.has(name) ? " without rowid" : ""}`;
  }),
  "create trigger ledger_stays before update of n, at, project, session, actor, type, key, recorded_at, digest, prev, link on ledger begin select raise(abort, 'the ledger is only appended to'); end",
  "create trigger ledger_keeps before delete on ledger begin select raise(abort, 'the ledger is only appended to'); end",
  ...createIndexes,
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
export function readColumn<Table extends TableName, Name extends keyof Tables[Table] & string>(
  table: Table,
  name: Name,
): AliasedRawBuilder<Tables[Table][Name], Name> {
  const column = sql<Tables[Table][Name]>`${sql.ref(`${table}.${name}`)}`;
  const isText = columnTypes.get(table)?.get(name)?.startsWith("text");
  return (isText ? readText<Tables[Table][Name]>(column) : column).as(name);
}

/** Several columns to be read. */
export function readColumns<Table extends TableName, Name extends keyof Tables[Table] & string>(
  table: Table,
  names: readonly Name[],
): { [One in Name]: AliasedRawBuilder<Tables[Table][One], One> }[Name][] {
  return names.map((name) => readColumn(table, name));
}

/** A text to be read as bytes. */
export function readText<Value = string>(text: RawBuilder<unknown>): RawBuilder<Value> {
  return sql<Value>`cast(${text} as blob)`;
}

/** Which rows of a table are wanted, and in which order. */
interface RowQuery<Row> {
  /** The column that has one of the values in `in`. */
  readonly where?: keyof Row & string;
  readonly in?: readonly (string | number)[];
  /** A further condition, with its `and`. */
  readonly and?: RawBuilder<unknown>;
  readonly orderBy?: readonly (keyof Row & string)[];
}

/** Rows of a table: those that are asked for, or all, with some of their columns, or all. */
export async function selectRows<
  Table extends TableName,
  Name extends keyof Tables[Table] & string = keyof Tables[Table] & string,
>(
  db: Kysely<Tables>,
  table: Table,
  { where, in: values = [], and = sql``, orderBy = [] }: RowQuery<Tables[Table]>,
  names = [...(columnTypes.get(table)?.keys() ?? [])] as Name[],
): Promise<Pick<Tables[Table], Name>[]> {
  const select = sql`select ${sql.join(readColumns(table, names))} from ${sql.table(table)}`;
  const order =
    orderBy.length === 0 ? sql`` : sql`order by ${sql.join(orderBy.map((name) => orderRows(table, name)))}`;
  const run = async (condition: RawBuilder<unknown>) =>
    (await sql<Pick<Tables[Table], Name>>`${select} ${condition} ${order}`.execute(db)).rows;
  if (where === undefined) return run(sql``);
  return inSlices(values, (some) => run(sql`where ${sql.ref(where)} in (${sql.join(some)}) ${and}`));
}

/** Rows without a value come first in every database. */
function orderRows(table: TableName, name: string): RawBuilder<unknown> {
  const isNullable = columnTypes.get(table)?.get(name)?.endsWith("?");
  return isNullable ? sql`${sql.ref(name)} nulls first` : sql.ref(name);
}

export function parseJson(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    // The row's content is no part of the message: it may be anything.
    throw damagedRow("a value that is not JSON");
  }
}

export function damagedRow(finding: string): KnackError {
  return new KnackError("STORE_DAMAGED", `Knack's database is damaged: it holds ${finding}.`, {
    hint: "Run knack doctor, which says what is damaged and what to do.",
  });
}
