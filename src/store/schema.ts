/** Tables as they are on disk. Times are milliseconds since 1970; lists and objects are JSON. */
export interface Tables {
  ledger: LedgerTable;
  reading: ReadingTable;
  session: SessionTable;
  event: EventTable;
  project: ProjectTable;
}

export interface LedgerTable {
  at: number | null;
  project: string | null;
  session: string | null;
  actor: string;
  type: string;
  key: string;
  data: string;
  recorded_at: number;
}

export interface ReadingTable {
  path: string;
  format: string | null;
  size: number;
  modified_at: number;
  offset: number;
  line: number;
  digest: string;
  state: string;
  diagnostics: string;
  cached_at: number | null;
}

export interface SessionTable {
  /** Small stand-in for the id in the events' keys. */
  n: number;
  id: string;
  path: string;
  format: string;
  session_id: string | null;
  agent_id: string | null;
  subagent: number;
  cwd: string | null;
  remote: string | null;
  transcript_path: string | null;
  started_at: number | null;
  ended_at: number | null;
  project_id: string;
  project_name: string;
  project_root: string | null;
  events: number;
  prompts: number;
  calls: number;
  failed: number;
  rejected: number;
}

/** What queries ask for has columns; the rest of an event is one, because each value bound costs time. */
export interface EventTable {
  /** The session's `n` and the event's number in one, so that a session's events lie together and need no index. */
  id: number;
  kind: string;
  outcome: string | null;
  origin: string | null;
  text: string;
  facts: string;
}

export interface ProjectTable {
  id: string;
  name: string;
  root: string | null;
  first_at: number;
  last_at: number;
  sessions: number;
}

/** Each step brings a database from the version that is its index to the next. Steps are only ever added. */
export const migrations: readonly (readonly string[])[] = [
  [
    `create table ledger (
      id integer primary key, at integer, project text, session text, actor text not null, type text not null,
      key text not null unique, data text not null, recorded_at integer not null)`,
    `create trigger ledger_stays before update on ledger begin select raise(abort, 'the ledger is only appended to'); end`,
    `create trigger ledger_keeps before delete on ledger begin select raise(abort, 'the ledger is only appended to'); end`,
    `create table reading (
      path text primary key, format text, size integer not null, modified_at real not null, offset integer not null,
      line integer not null, digest text not null, state text not null, diagnostics text not null, cached_at integer)`,
    `create table session (
      n integer primary key, id text not null unique, path text not null, format text not null, session_id text,
      agent_id text, subagent integer not null, cwd text, remote text, transcript_path text, started_at integer,
      ended_at integer, project_id text not null, project_name text not null, project_root text, events integer not null,
      prompts integer not null, calls integer not null, failed integer not null, rejected integer not null)`,
    `create index session_of_path on session (path)`,
    `create table event (
      id integer primary key, kind text not null, outcome text, origin text, text text not null, facts text not null)`,
    `create table project (
      id text primary key, name text not null, root text, first_at integer not null, last_at integer not null,
      sessions integer not null)`,
  ],
];
