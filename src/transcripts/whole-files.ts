import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import Database from "libsql";
import { readPlainFile } from "../base/index.ts";
import type { Diagnostic, DiagnosticCode, Format, ReadingState, ReadPosition } from "../records/index.ts";
import {
  type DatabaseReader,
  parseJson,
  type Resume,
  type SessionBatch,
  SessionBuilder,
  SessionBuilders,
} from "./reader.ts";
import { formats, readers } from "./readers/readers.ts";

/** Bytes of a transcript that are redacted and written in one go: enough for secretlint's fixed cost, little memory. */
export const pieceBytes = 1 << 20;
/** Megabytes of a document that is read: it has to be in memory as a whole. */
const documentMegabytes = 200;

/** A part of a transcript: what is new or changed in its sessions, and where to go on from. */
export interface Piece {
  /** Null for a file that no reader knows. */
  readonly format: Format | null;
  readonly threads: readonly SessionBatch[];
  readonly position: ReadPosition;
  readonly state: ReadingState;
  readonly diagnostics: readonly Diagnostic[];
  /** It reaches the end of the file. */
  readonly last: boolean;
  /** It replaces all that was read of the file: a document is read again whenever it has changed. */
  readonly anew: boolean;
}

const noState: ReadingState = { threads: [], rest: null };

/** Why a file gave no session, where no reason of its own is given. */
const usualMessages: Partial<Record<DiagnosticCode, string>> = {
  "unknown-format": `is not a session in a format that Knack reads (${formats.join(", ")})`,
  "invalid-json": "is a JSON document that is cut or broken; it is read again when it changes",
  "too-large": `is one document of more than ${documentMegabytes} MB; leave long tool outputs out of it, or split it by session`,
};

/** A file that gave no session. */
export function emptyPiece(path: string, code: DiagnosticCode, message = usualMessages[code] ?? code): Piece {
  return {
    format: null,
    threads: [],
    position: { offset: 0, line: 0, digest: "" },
    state: noState,
    diagnostics: [{ path, line: null, code, message }],
    last: true,
    anew: false,
  };
}

/** The pieces of a file that is one JSON document, or why it is none. */
export function readDocument(path: string): Iterable<Piece> | "broken" | "too large" {
  if (statSync(path).size > documentMegabytes << 20) return "too large";
  const bytes = readPlainFile(path, { maxBytes: documentMegabytes << 20 });
  const document = parseJson(bytes.toString("utf8").replace(/^\uFEFF/, ""));
  if (document === undefined) return "broken";
  const reader = readers.documents.find((one) => one.recognises(document));
  if (!reader) return [emptyPiece(path, "unknown-format")];
  const sessions = new SessionBuilders("transcript", null);
  reader.read(document, sessions, path);
  const digest = createHash("sha1").update(bytes).digest("hex");
  const position = { offset: bytes.length, line: 0, digest };
  const message = "has bytes that are not UTF-8; they were replaced";
  const diagnostics: Diagnostic[] = isUtf8(bytes) ? [] : [{ path, line: null, code: "encoding", message }];
  const threads = [...sessions].map(([name, session]) => {
    session.nameByBeginning();
    return session.drainBatch(name);
  });
  return [{ format: reader.format, threads, position, state: noState, diagnostics, last: true, anew: true }];
}

// --- Databases ---

/** Milliseconds to wait for the program that owns a database. */
const busyTimeout = 2_000;

/** Opens another program's database read-only, without blocking its writers. */
export function openForeignDatabase(path: string): Parameters<DatabaseReader["sessions"]>[0] {
  // Only as a URL can a database be opened read-only. One that no process has open would still get two files beside it,
  // unless it is called immutable; a log or a journal shows that a process has it open.
  const isOpen = ["-wal", "-journal"].some((end) => existsSync(path + end));
  const how = isOpen ? "mode=ro" : "mode=ro&immutable=1";
  const database = new Database(`${pathToFileURL(path).href}?${how}`, { timeout: busyTimeout });
  return {
    query: (sql, ...values) => database.prepare(sql).all(...values) as Record<string, unknown>[],
    close: () => database.close(),
  };
}

export function* readDatabase(path: string, known: Resume | null): Generator<Piece> {
  let database: ReturnType<typeof openForeignDatabase> | null = null;
  try {
    database = openForeignDatabase(path);
    const rows = database.query("select name from sqlite_master where type = 'table'");
    const tables = new Set(rows.map(({ name }) => String(name)));
    const reader = readers.databases.find((one) => one.recognises(tables));
    if (reader) yield* readDatabaseSessions(reader, database, path, known);
    else yield emptyPiece(path, "unknown-format");
  } catch (error) {
    // A file that another program is writing may be locked, and one that was cut cannot be read.
    if (!isDatabaseError(error)) throw error;
    yield emptyPiece(path, "unreadable", `cannot be read as a database: ${error.message}`);
  } finally {
    database?.close();
  }
}

/** New content of a database since the last reading, session by session; all of it where something was removed. */
function* readDatabaseSessions(
  reader: DatabaseReader,
  database: ReturnType<typeof openForeignDatabase>,
  path: string,
  resume: Resume | null,
): Generator<Piece> {
  const sessions = reader.sessions(database);
  const names = new Set(sessions.map(({ name }) => name));
  const known = new Map(resume?.state.marks?.map(([name, mark]) => [name, parseMark(mark)]));
  let anew = resume === null;
  if ([...known.keys()].some((name) => !names.has(name))) {
    known.clear();
    anew = true;
  }
  const makePiece = (threads: readonly SessionBatch[], last: boolean): Piece => {
    const marks = [...known].map(([name, { stamp, events }]) => [name, `${stamp} ${events}`] as const);
    // Its bytes say nothing; the marks tell what was read.
    const digest = `database ${createHash("sha1").update(marks.join()).digest("hex")}`;
    const position = { offset: statSync(path).size, line: 0, digest };
    const state = { ...noState, marks };
    return { format: reader.format, threads, position, state, diagnostics: [], last, anew };
  };
  let [waiting, bytes]: [SessionBatch[], number] = [[], 0];
  for (const { name, stamp } of sessions.filter((one) => known.get(one.name)?.stamp !== one.stamp)) {
    const session = new SessionBuilder("transcript");
    reader.read(database, name, session);
    const { events } = session.counts;
    // What was taken back has to be forgotten, and only reading from the beginning does that.
    if (events < (known.get(name)?.events ?? 0))
      return yield* readDatabaseSessions(reader, database, path, null);
    known.set(name, { stamp, events });
    const batch = session.drainBatch(name);
    waiting.push(batch);
    bytes += batch.events.reduce(
      (sum, { text, input }) => sum + text.length + JSON.stringify(input).length,
      0,
    );
    if (bytes < pieceBytes) continue;
    yield makePiece(waiting, false);
    [waiting, bytes, anew] = [[], 0, false];
  }
  yield makePiece(waiting, true);
}

/** A session as it was when it was read: its stamp, and how many events it had. */
function parseMark(mark: string): { readonly stamp: string; readonly events: number } {
  const at = mark.lastIndexOf(" ");
  return { stamp: mark.slice(0, at), events: Number(mark.slice(at)) };
}

function isDatabaseError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const code = String((error as NodeJS.ErrnoException).code ?? "");
  return code.startsWith("SQLITE_") || error.message.startsWith("ConnectionFailed");
}
