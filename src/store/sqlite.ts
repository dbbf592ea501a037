import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  sql,
} from "kysely";
import Database from "libsql";
import {
  type Clock,
  errorMessage,
  jsonBytes,
  KnackError,
  readPlainText,
  writeFileAtomically,
} from "../base/index.ts";
import type { LedgerEntry } from "../records/index.ts";
import { findLost, type LedgerHead, removedHead } from "./ledger.ts";
import { createStatements, damagedRow, schemaVersion, type Tables } from "./schema.ts";
import { createStore, type Store, type StoreEngine } from "./store.ts";

interface Options {
  /** A file, or ":memory:". */
  readonly path: string;
  readonly clock: Clock;
}

/** How long to wait for another process that is writing. */
const patience = 60_000;
/** Up to this size the whole file is checked when it is opened: a tenth of a second at most. */
const checkedBytes = 64 << 20;
/** Prepared statements that are kept. */
const statementsKept = 200;

// What is masked or purged must be gone from the file, not only from its tables.
const sharedPragmas = [
  "journal_mode = wal",
  "synchronous = normal",
  "wal_autocheckpoint = 2000",
  "secure_delete = on",
];
const scratchPragmas = ["journal_mode = memory", "synchronous = off", "locking_mode = exclusive"];

/** Opens Knack's database, and makes it if there is none. */
export async function openSqlite({ path, clock }: Options): Promise<Store> {
  const isFile = path !== ":memory:";
  if (isFile && !existsSync(path)) setHeadAside(path);
  return prepareDatabase(open(path), { path, clock, pragmas: sharedPragmas, keepsHead: isFile });
}

/**
 * An empty database that nobody else sees and of which nothing is left, however the process ends: a file without a
 * name, so that a large history needs little memory.
 */
export async function openScratch(clock: Clock): Promise<Store> {
  const path = join(tmpdir(), `knack-scratch-${randomUUID()}.db`);
  const remove = () => rmSync(path, { force: true });
  const opened = open(path);
  // Before anything is written to it; where a file in use cannot lose its name, it goes when it is closed.
  if (process.platform !== "win32") remove();
  return prepareDatabase(opened, { path, clock, pragmas: scratchPragmas, onClose: remove });
}

/** The ledger of a database, read from a copy: even opening the file itself would leave traces beside it. */
export async function readLedger(path: string, clock: Clock): Promise<LedgerEntry[]> {
  if (!existsSync(path)) return [];
  for (let attempt = 1; ; attempt++) {
    try {
      const store = await openCopy({ path, clock });
      const entries = await store.ledger.all().finally(store.close);
      return entries;
    } catch (error) {
      // A copy that was taken while somebody wrote may be of two times.
      if (!(error instanceof KnackError) || attempt === 3) throw error;
      await new Promise((done) => setTimeout(done, 100 * attempt));
    }
  }
}

/** A copy of a database, for a place in which nothing can be written; it is gone when it is closed. */
export async function openCopy({ path, clock }: Options): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), "knack-look-"));
  const copy = join(folder, "copy.db");
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    for (const part of ["", "-wal"])
      if (existsSync(path + part)) {
        copyFileSync(path + part, copy + part, constants.COPYFILE_FICLONE);
        chmodSync(copy + part, 0o600);
      }
    return prepareDatabase(open(copy), { path: copy, clock, pragmas: sharedPragmas, onClose: remove });
  } catch (error) {
    remove();
    if (!(error instanceof KnackError)) throw error;
    const { code, message, hint = "" } = error;
    throw new KnackError(code, message.replaceAll(copy, path), { hint, cause: error });
  }
}

interface Preparation extends Options {
  readonly pragmas: readonly string[];
  /** Whether the ledger's head is kept beside the file when it is closed. */
  readonly keepsHead?: boolean;
  readonly onClose?: () => void;
}

function prepareDatabase(opened: Database.Database, preparation: Preparation): Store {
  const { path, clock, pragmas, onClose, keepsHead = false } = preparation;
  const database = guardErrors(opened, path, keepsHead);
  try {
    if (path !== ":memory:") refuseDamaged(database, path);
    // Several processes may open a new database at once, and the switch to write-ahead does not wait its turn by itself.
    for (const pragma of ["page_size = 16384", ...pragmas])
      withPatience(() => database.prepare(`pragma ${pragma}`).all([]));
    createTables(database, path);
    if (keepsHead) noteRemovedHead(database, path);
  } catch (error) {
    opened.close();
    throw error;
  }
  const anchor = {
    begin: () => beginChain(path),
    readHead: () => (keepsHead ? readHead(headFile(path)) : null),
  };
  const db = new Kysely<Tables>({ dialect: new ImmediateDialect({ database }) });
  return createStore({ db, engine: sqliteEngine, clock, anchor, ...(onClose && { onClose }) });
}

function open(path: string): Database.Database {
  try {
    if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const database = new Database(path, { timeout: patience });
    // Nobody else's business; the files beside it take its mode.
    if (path !== ":memory:" && fileSize(path) === 0 && existsSync(path)) chmodSync(path, 0o600);
    return database;
  } catch (cause) {
    throw new KnackError(
      "STORE_UNAVAILABLE",
      `Knack's database ${path} cannot be opened: ${errorMessage(cause)}.`,
      {
        hint: "Set KNACK_HOME to a folder that you can write to.",
        cause,
      },
    );
  }
}

/** The part of libsql that Knack uses, with the errors of a broken file put into words. */
interface Connection {
  prepare(sql: string): Statement;
  close(): void;
}

interface Statement {
  readonly reader: boolean;
  all(parameters: readonly unknown[]): unknown[];
  run(parameters: readonly unknown[]): { changes: number; lastInsertRowid: number };
  iterate(parameters: readonly unknown[]): IterableIterator<unknown>;
}

function guardErrors(database: Database.Database, path: string, keepsHead: boolean): Connection {
  const guard = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      throw explainError(cause, path);
    }
  };
  const prepare = (sql: string): Statement => {
    const statement = guard(() => database.prepare(sql));
    const all: Statement["all"] = (parameters) => guard(() => statement.all(parameters)).map(decodeRow);
    return {
      reader: statement.reader,
      all,
      run: (parameters) => guard(() => statement.run(parameters)) as ReturnType<Statement["run"]>,
      iterate: (parameters) => all(parameters).values(),
    };
  };
  // The same few statements run over and over, and the long ones cost more to prepare than to run. Those that were not
  // run for longest make room.
  const prepared = new Map<string, Statement>();
  return {
    close: () => {
      try {
        if (database.open && foldLog(database) && keepsHead) keepHead(database, path);
      } catch {
        // The disk is full or gone: what was committed is in the log, and the next process to open it replays that.
      }
      database.close();
    },
    prepare: (sql) => {
      const statement = prepared.get(sql) ?? prepare(sql);
      prepared.delete(sql);
      prepared.set(sql, statement);
      if (prepared.size > statementsKept) prepared.delete(prepared.keys().next().value ?? "");
      return statement;
    },
  };
}

/** A row as it was read, with its bytes as text again. */
function decodeRow(row: unknown): Record<string, unknown> {
  const read = row as Record<string, unknown>;
  for (const name in read) {
    const value = read[name];
    if (!(value instanceof ArrayBuffer)) continue;
    const bytes = Buffer.from(value);
    if (!isUtf8(bytes)) throw damagedRow("text that is not UTF-8");
    read[name] = bytes.toString("utf8");
  }
  return read;
}

/** SQLite's result codes; the driver names only some of their many extended forms. */
const sqlite = { busy: 5, locked: 6, corrupt: 11, full: 13, notADatabase: 26 };
/** No permission, busy, read-only, a failing disk, cannot be opened. */
const outsideFaults = new Set([3, 5, 8, 10, 14]);

function readCode(error: unknown): number {
  return ((error as { rawCode?: number }).rawCode ?? 0) & 0xff;
}

function explainError(cause: unknown, path: string): unknown {
  const code = readCode(cause);
  const message = errorMessage(cause);
  if (code === sqlite.full)
    return new KnackError("DISK_FULL", `No space is left on the disk for Knack's database ${path}.`, {
      hint: "Make room and run the command again: what was kept before is not lost.",
      cause,
    });
  if (outsideFaults.has(code))
    return new KnackError("STORE_UNAVAILABLE", `Knack's database ${path} cannot be written: ${message}.`, {
      hint: "Make room or set KNACK_HOME to a folder that you can write to.",
      cause,
    });
  // Tables or rows that are not what this version made.
  const isForeign = /no such (table|column)|has no column|malformed JSON/.test(message);
  const isBroken = code === sqlite.corrupt || code === sqlite.notADatabase || isForeign;
  return isBroken ? damagedFile(path, message, cause) : cause;
}

const readAnew = "run knack again: sessions are read again from the agents' transcripts.";
const decisionsLost = "What you accepted or rejected is only in that file.";

function damagedFile(path: string, finding: string, cause?: unknown): KnackError {
  const message = `Knack's database ${path} is damaged (${finding}); it was left as it is.`;
  const hint = `Put it back from a backup. Or move ${basename(path)} and the files beside it (${basename(path)}-*) away and ${readAnew} ${decisionsLost}`;
  return new KnackError("STORE_DAMAGED", message, { hint, cause });
}

/** Refuses what is no sound database. SQLite replays its log first: until then the file may end anywhere. */
function refuseDamaged(database: Connection, file: string): void {
  const hasLog = () => fileSize(`${file}-wal`) > 0;
  const hadLog = hasLog();
  if (fileSize(file) === 0) return refuseEmptied(file, hadLog);
  const bytes = readPragma(database, "page_count") * readPragma(database, "page_size");
  // In this order: other processes write meanwhile. Pages that were only in the log when they were counted are still
  // there, or have reached the file by now.
  if (!hasLog() && fileSize(file) < bytes) throw damagedFile(file, "its end is missing");
  const [first] = bytes > checkedBytes ? [] : listFaults(database.prepare("pragma quick_check(1)").all([]));
  if (first !== undefined) throw damagedFile(file, first);
  refuseForeign(database, file);
}

/** An empty file is a new database, unless there was one; SQLite would take it for new and delete its log. */
function refuseEmptied(file: string, hasLog: boolean): void {
  const before = describeBefore(file);
  // Another process may have made it, written to it and gone since its size was read.
  if (!hasLog && fileSize(file) > 0) return;
  if (before !== null || hasLog)
    throw damagedFile(file, ["it is empty", ...(before === null ? [] : [before])].join("; "));
}

function readPragma(database: Connection, name: string): number {
  const [row] = database.prepare(`pragma ${name}`).all([]) as Record<string, number>[];
  return row?.[name] ?? 0;
}

function withPatience(work: () => void): void {
  const until = Date.now() + patience;
  for (;;) {
    try {
      return work();
    } catch (error) {
      const isBusy = [sqlite.busy, sqlite.locked].includes(readCode((error as Error).cause ?? error));
      if (!isBusy || Date.now() > until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

/** Makes the tables of a new database; refuses one of another version. */
function createTables(database: Connection, path: string): void {
  if (readPragma(database, "user_version") === schemaVersion) return;
  withPatience(() => database.prepare("begin immediate").run([]));
  try {
    const version = readPragma(database, "user_version");
    if (version === 0) {
      for (const sql of createStatements) database.prepare(sql).run([]);
      database.prepare(`pragma user_version = ${schemaVersion}`).all([]);
    } else if (version !== schemaVersion) throw otherVersion(path, version);
    database.prepare("commit").run([]);
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** A full disk makes SQLite roll back by itself; its complaint about a second time would hide why. */
function rollBack(database: Connection): void {
  try {
    database.prepare("rollback").run([]);
  } catch {
    // Nothing is left to take back.
  }
}

const whatIsThere =
  "select (select user_version from pragma_user_version) as version, (select count(*) from sqlite_master) as tables";

/** Nothing is added to a database that has other tables, or that stands where a ledger was. */
function refuseForeign(database: Connection, path: string): void {
  // In this order, and version and tables by one statement: another process may be making the same new database.
  const before = describeBefore(path);
  const [row] = database.prepare(whatIsThere).all([]) as { version: number; tables: number }[];
  const { version, tables } = row ?? { version: 0, tables: 0 };
  if (version === 0 && (before !== null || tables > 0))
    throw damagedFile(path, ["it has no ledger", ...(before === null ? [] : [before])].join("; "));
}

function otherVersion(path: string, version: number): KnackError {
  const message = `Knack's database ${path} has format ${version}, and this Knack reads format ${schemaVersion}.`;
  const isNewer = version > schemaVersion;
  return new KnackError("STORE_VERSION", message, {
    hint: isNewer
      ? "Update Knack: npm install -g knack-cli"
      : `Move knack.db and knack.db-* away and ${readAnew}`,
  });
}

function fileSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

// --- The ledger's head, in a file beside the database ---

/** Folds the write-ahead log into the file if nobody else is at it, and waits for the disk; false if it could not. */
function foldLog(database: Database.Database): boolean {
  // The driver leaves the log behind; folding it in keeps one file.
  database.exec("pragma busy_timeout = 0");
  const [row] = database.prepare("pragma wal_checkpoint(truncate)").all([]) as { busy: number }[];
  return row?.busy === 0;
}

/** Bytes of a head; a longer file is none. */
const headBytes = 100_000;

function headFile(path: string): string {
  return `${path}-head`;
}

function readHead(file: string): LedgerHead | null {
  try {
    const { entries, link, at, lost }: LedgerHead = JSON.parse(
      readPlainText(file, { maxBytes: headBytes }) ?? "",
    );
    return { entries, link, at, lost: lost ?? [] };
  } catch {
    return null;
  }
}

/** In words, the ledger that was last seen in a database; null where none was. */
export function describeBefore(path: string): string | null {
  const head = readHead(headFile(path));
  if (head === null) return null;
  const day = new Date(head.at).toISOString().slice(0, 10);
  return `on ${day} it had a ledger of ${head.entries} ${head.entries === 1 ? "entry" : "entries"}`;
}

/**
 * Keeps the number and the link of the newest entry, so that newest entries that vanish are noticed. Only what the disk
 * has for certain: a head that a power loss left ahead of the ledger would look as if somebody had removed entries.
 */
function keepHead(database: Database.Database, path: string): void {
  const select = (where: string) =>
    database.prepare(`select n, recorded_at, link from ledger ${where}`).all([]) as HeadRow[];
  // Read before the ledger: another process may write both meanwhile.
  const head = readHead(headFile(path));
  const [newest] = select(newestFirst);
  if (!newest || head?.link === newest.link) return;
  const atHead = head ? (select(`where n = ${head.entries}`)[0]?.link ?? null) : null;
  const now = { entries: newest.n, at: newest.recorded_at, link: atHead };
  const lost = head && findLost(head, now);
  const next: LedgerHead = {
    ...{ entries: newest.n, link: newest.link, at: newest.recorded_at },
    lost: [...(head?.lost ?? []), ...(lost ? [lost] : [])],
  };
  writeFileAtomically(headFile(path), jsonBytes(next));
  if (head !== null) return;
  // After it: a process may end in between.
  database.exec(`pragma application_id = ${headKept}`);
  foldLog(database);
}

const newestFirst = "order by n desc limit 1";

/** Marks a database whose head was kept once: from then on a missing head was removed. */
const headKept = 0x4b_6e_61_6b;

/** A head that somebody removed: whether newest entries went with it, nobody can tell. */
function noteRemovedHead(database: Connection, path: string): void {
  if (readHead(headFile(path)) !== null || readPragma(database, "application_id") !== headKept) return;
  const [newest] = database
    .prepare(`select n, recorded_at, link from ledger ${newestFirst}`)
    .all([]) as HeadRow[];
  const [entries, at] = [newest?.n ?? 0, newest?.recorded_at ?? 0];
  const lost = [{ entries, link: removedHead, at, left: entries, leftAt: at }];
  const next: LedgerHead = { entries, link: newest?.link ?? removedHead, at, lost };
  writeFileAtomically(headFile(path), jsonBytes(next));
}

type HeadRow = Pick<Tables["ledger"], "n" | "recorded_at" | "link">;

/** Where a person took the database away, a new one begins; its first entry says after which. */
function setHeadAside(path: string): void {
  if (existsSync(headFile(path))) renameSync(headFile(path), headBefore(path));
}

function headBefore(path: string): string {
  return `${headFile(path)}.before`;
}

/** The text that the first entry is linked to. */
function beginChain(path: string): string {
  return JSON.stringify({ chain: randomUUID(), after: readHead(headBefore(path)) });
}

const sqliteEngine: StoreEngine = {
  durably: async (db, transaction) => {
    await sql`pragma synchronous = full`.execute(db);
    try {
      return await transaction();
    } finally {
      await sql`pragma synchronous = normal`.execute(db);
    }
  },
  check: async (db) => listFaults((await sql`pragma integrity_check(20)`.execute(db)).rows),
  replaceEvents: (columns, rows) => {
    const row = `(${columns.map(() => "?").join(",")})`;
    return `insert or replace into event (${columns.join(",")}) values ${Array(rows).fill(row).join(",")}`;
  },
};

/** The messages of SQLite's check, without "ok". */
function listFaults(rows: readonly unknown[]): string[] {
  return rows.flatMap((row) => Object.values(row as object)).filter((text) => text !== "ok");
}

/** A transaction takes the write lock when it begins: one that reads first and writes later could find it taken. */
class ImmediateDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;

  constructor(config: SqliteDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateDriver(this.#config);
  }
}

class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // SQLite may have rolled back by itself, on a full disk: the reason must not be lost over this.
    await super.rollbackTransaction(connection).catch(() => {});
  }
}
