/** Tables as they are on disk. Times are milliseconds since 1970; lists and objects are JSON. */
export interface Tables {
  ledger: LedgerTable;
  reading: ReadingTable;
  session: SessionTable;
  event: EventTable;
  project: ProjectTable;
  learned: LearnedTable;
  finding: FindingTable;
  withdrawn: WithdrawnTable;
  term: TermTable;
  term_count: TermCountTable;
  cue: CueTable;
  opposition: OppositionTable;
  use: UseTable;
  decision: DecisionTable;
  instinct: InstinctTable;
  change: ChangeTable;
  lease: LeaseTable;
  imported: ImportedTable;
}

/** What the ledger says of things that came from elsewhere. */
export interface ImportedTable {
  key: string;
  id: string;
  at: number;
  data: string;
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

/** How far a session was learned from. */
export interface LearnedTable {
  session: string;
  pass: number;
  mark: string;
}

export interface FindingTable {
  n: number;
  id: string;
  pass: number;
  session: string;
  run: string;
  project: string;
  realm: string;
  instinct: string;
  at: number;
  noticed_at: number;
  origin: string | null;
  kind: string;
  confidence: number;
  trigger_text: string;
  action_text: string;
  data: string;
}

/** Findings that no longer hold, so that an older word for them has no effect. */
export interface WithdrawnTable {
  id: string;
  pass: number;
}

/** The words by which lessons that are alike find each other. */
export interface TermTable {
  realm: string;
  word: string;
  /** The finding's row number: shorter than its id, and there are many. */
  finding: number;
  /** The word stands in the trigger. */
  in_trigger: number;
}

/** In how many findings each word is. */
export interface TermCountTable {
  realm: string;
  word: string;
  findings: number;
}

/** The names under which recall looks findings up. */
export interface CueTable {
  cue: string;
  finding: number;
}

/** Two findings that tell opposite things; kept both ways round. */
export interface OppositionTable {
  finding: string;
  by: string;
}

export interface UseTable {
  session: string;
  run: string;
  project: string;
  head: string;
  parts: string;
  at: number;
  ok: number;
  failed: number;
}

export interface DecisionTable {
  key: string;
  finding: string;
  at: number;
  decision: string;
  everywhere: number;
  lesson: string | null;
  actor: string;
}

export interface InstinctTable {
  id: string;
  realm: string;
  project: string;
  /** The program of the call it recommends. */
  head: string | null;
  status: string;
  confidence: number;
  last_at: number;
  data: string;
}

export interface ChangeTable {
  id: string;
  path: string;
  state: string;
  at: number;
  data: string;
}

/** Who does a piece of background work, and until when. */
export interface LeaseTable {
  name: string;
  holder: string;
  until: number;
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
  [
    `create table learned (session text primary key, pass integer not null, mark text not null)`,
    `create table finding (
      n integer primary key, id text not null unique, pass integer not null, session text not null, run text not null, project text not null,
      realm text not null, instinct text not null, at integer not null, noticed_at integer not null, origin text,
      kind text not null,      confidence real not null, trigger_text text not null, action_text text not null, data text not null)`,
    `create index finding_of_instinct on finding (instinct)`,
    `create index finding_of_session on finding (session)`,
    `create table withdrawn (id text primary key, pass integer not null)`,
    `create table term (
      realm text not null, word text not null, finding integer not null, in_trigger integer not null,
      primary key (realm, word, finding)) without rowid`,
    `create index term_of_finding on term (finding)`,
    `create table term_count (
      realm text not null, word text not null, findings integer not null, primary key (realm, word)) without rowid`,
    `create table opposition (finding text not null, by text not null, primary key (finding, by)) without rowid`,
    `create table use (
      session text not null, run text not null, project text not null, head text not null, parts text not null,
      at integer not null, ok integer not null, failed integer not null)`,
    `create index use_of_head on use (head, project)`,
    `create index use_of_session on use (session)`,
    `create table decision (
      key text primary key, finding text not null, at integer not null, decision text not null,
      everywhere integer not null)`,
    `create index decision_of_finding on decision (finding)`,
    `create table instinct (
      id text primary key, realm text not null, project text not null, head text, status text not null,
      confidence real not null, last_at integer not null, data text not null)`,
    `create index instinct_of_head on instinct (head) where head is not null`,
    `create table change (
      id text primary key, path text not null, state text not null, at integer not null, data text not null)`,
  ],
  [
    `create table cue (cue text not null, finding integer not null, primary key (cue, finding)) without rowid`,
    `create index cue_of_finding on cue (finding)`,
  ],
  [
    `create table lease (name text primary key, holder text not null, until integer not null)`,
    `create index ledger_of_type on ledger (type, at)`,
  ],
  [
    `alter table decision add column lesson text`,
    `alter table decision add column actor text not null default 'person'`,
    `create table imported (key text primary key, id text not null, at integer not null, data text not null)`,
    `create index imported_by_id on imported (id)`,
  ],
  [`create index instinct_promoted on instinct (realm) where status = 'promoted'`],
];
