import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from "kysely";
import Database from "libsql";
import { type Clock, errorMessage, KnackError } from "../base/index.ts";
import type { LedgerEntry } from "../records/index.ts";
import type { Store } from "./port.ts";
import { createStatements, schemaVersion, type Tables } from "./schema.ts";
import { createStore, listFaults } from "./store.ts";

interface Options {
  /** A file, or ":memory:". */
  readonly path: string;
  readonly clock: Clock;
}

/** How long to wait for another process that is writing. */
const patience = 60_000;
/** Up to this size the whole file is checked when it is opened: a tenth of a second at most. */
const checkedBytes = 64 << 20;

const shared = [
  "page_size = 16384",
  "journal_mode = wal",
  "synchronous = normal",
  "wal_autocheckpoint = 2000",
];

/** Opens Knack's database, and makes it if there is none. */
export async function openSqlite({ path, clock }: Options): Promise<Store> {
  const file = path === ":memory:" ? null : path;
  const opened = open(path);
  const database = guardErrors(opened, path);
  try {
    if (file !== null && fileSize(file) > 0) refuseDamaged(database, file);
    applyPragmas(database, shared);
    createTables(database, path);
  } catch (error) {
    opened.close();
    throw error;
  }
  const dialect = new ImmediateDialect({ database });
  return createStore(new Kysely<Tables>({ dialect }), clock);
}

/**
 * An empty database that nobody else sees and of which nothing is left, however the process ends: a file without a
 * name, so that a large history needs little memory.
 */
export async function openScratch(clock: Clock): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), "knack-scratch-"));
  const path = join(folder, "scratch.db");
  const opened = open(path);
  const database = guardErrors(opened, path);
  const pragmas = [
    "page_size = 16384",
    "journal_mode = memory",
    "synchronous = off",
    "locking_mode = exclusive",
  ];
  applyPragmas(database, pragmas);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // As soon as it is open; where a file in use cannot lose its name, it goes when it is closed.
  if (process.platform !== "win32") remove();
  createTables(database, path);
  const store = createStore(new Kysely<Tables>({ dialect: new ImmediateDialect({ database }) }), clock);
  const close = async () => {
    await store.close();
    remove();
  };
  return { ...store, close };
}

/** The ledger of a database, read from a copy: even opening the file itself would leave traces beside it. */
export async function readLedger(path: string, clock: Clock): Promise<LedgerEntry[]> {
  if (!existsSync(path)) return [];
  for (let attempt = 1; ; attempt++) {
    try {
      return await readCopiedLedger(path, clock);
    } catch (error) {
      // A copy that was taken while somebody wrote may be of two times.
      if (!(error instanceof KnackError) || attempt === 3) throw error;
      await new Promise((done) => setTimeout(done, 100 * attempt));
    }
  }
}

async function readCopiedLedger(path: string, clock: Clock): Promise<LedgerEntry[]> {
  const store = await openCopy({ path, clock });
  try {
    return await store.ledger.all();
  } finally {
    await store.close();
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
    const store = await openSqlite({ path: copy, clock });
    const close = async () => {
      await store.close();
      remove();
    };
    return { ...store, close };
  } catch (error) {
    remove();
    if (!(error instanceof KnackError)) throw error;
    const { code, message, hint } = error;
    throw new KnackError(code, message.replaceAll(copy, path), {
      ...(hint === undefined ? {} : { hint }),
      cause: error,
    });
  }
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

function guardErrors(database: Database.Database, path: string): Connection {
  const guard = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      throw explainError(cause, path);
    }
  };
  const prepare = (sql: string): Statement => {
    const statement = guard(() => database.prepare(sql));
    return {
      reader: statement.reader,
      all: (parameters) => guard(() => statement.all(parameters)),
      run: (parameters) => guard(() => statement.run(parameters)) as ReturnType<Statement["run"]>,
      iterate: (parameters) => guard(() => statement.iterate(parameters)),
    };
  };
  // The same few statements run over and over, and the long ones cost more to prepare than to run. Those that were not
  // run for longest make room.
  const prepared = new Map<string, Statement>();
  return {
    close: () => {
      // The driver leaves the write-ahead log behind; folding it in, when nobody else is at it, keeps one file.
      if (database.open) database.exec("pragma busy_timeout = 0; pragma wal_checkpoint(truncate)");
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

const statementsKept = 200;

/** SQLite's result codes; the driver names only some of their many extended forms. */
const sqlite = {
  permission: 3,
  busy: 5,
  locked: 6,
  readonly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
};
const outsideFaults = new Set([
  sqlite.permission,
  sqlite.busy,
  sqlite.readonly,
  sqlite.io,
  sqlite.full,
  sqlite.cannotOpen,
]);

function sqliteCode(error: unknown): number {
  return ((error as { rawCode?: number }).rawCode ?? 0) & 0xff;
}

function explainError(cause: unknown, path: string): unknown {
  const code = sqliteCode(cause);
  if (code === sqlite.corrupt || code === sqlite.notADatabase)
    return damaged(path, errorMessage(cause), cause);
  if (outsideFaults.has(code)) {
    return new KnackError(
      "STORE_UNAVAILABLE",
      `Knack's database ${path} cannot be written: ${errorMessage(cause)}.`,
      {
        hint: "Make room or set KNACK_HOME to a folder that you can write to.",
        cause,
      },
    );
  }
  // Tables or rows that are not what this version made.
  return /no such (table|column)|has no column|malformed JSON/.test(errorMessage(cause))
    ? damaged(path, errorMessage(cause), cause)
    : cause;
}

function damaged(path: string, finding: string, cause?: unknown): KnackError {
  return new KnackError(
    "STORE_DAMAGED",
    `Knack's database ${path} is damaged (${finding}); it was left as it is.`,
    {
      hint: "Move the file away and run knack again: sessions are read anew from the agents' transcripts.",
      cause,
    },
  );
}

function refuseDamaged(database: Connection, file: string): void {
  const [{ page_count: pages = 0 } = {}] = database.prepare("pragma page_count").all([]) as {
    page_count?: number;
  }[];
  const [{ page_size: bytes = 0 } = {}] = database.prepare("pragma page_size").all([]) as {
    page_size?: number;
  }[];
  if (fileSize(file) % bytes !== 0) throw damaged(file, "it ends in the middle of a page");
  if (pages * bytes > checkedBytes) return;
  const [first] = listFaults(database.prepare("pragma quick_check(1)").all([]));
  if (first !== undefined) throw damaged(file, first);
}

/** Several processes may open a new database at once, and the switch to write-ahead does not wait its turn by itself. */
function applyPragmas(database: Connection, pragmas: readonly string[]): void {
  for (const pragma of pragmas) {
    withPatience(() => database.prepare(`pragma ${pragma}`).all([]));
  }
}

function withPatience(work: () => void): void {
  const until = Date.now() + patience;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || Date.now() > until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

function isBusy(error: unknown): boolean {
  return [sqlite.busy, sqlite.locked].includes(sqliteCode(error));
}

/** Makes the tables of a new database; refuses one of another version. */
function createTables(database: Connection, path: string): void {
  if (readVersion(database) === schemaVersion) return;
  withPatience(() => database.prepare("begin immediate").run([]));
  try {
    const version = readVersion(database);
    if (version === 0) {
      for (const sql of createStatements) database.prepare(sql).run([]);
      database.prepare(`pragma user_version = ${schemaVersion}`).all([]);
    } else if (version !== schemaVersion) throw otherVersion(path, version);
    database.prepare("commit").run([]);
  } catch (error) {
    database.prepare("rollback").run([]);
    throw error;
  }
}

function otherVersion(path: string, version: number): KnackError {
  const message = `Knack's database ${path} has format ${version}, and this Knack reads format ${schemaVersion}.`;
  return new KnackError("STORE_VERSION", message, {
    hint:
      version > schemaVersion
        ? "Update Knack: npm install -g knack-cli"
        : "Move the file away and run knack again: sessions are read anew from the agents' transcripts.",
  });
}

function readVersion(database: Connection): number {
  const [row] = database.prepare("pragma user_version").all([]) as { user_version: number }[];
  return row?.user_version ?? 0;
}

function fileSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
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
}
