import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { Json } from "../base/index.ts";
import {
  type Counts,
  countEvents,
  type Diagnostic,
  type DiagnosticCode,
  type Event,
  type Format,
  noCounts,
  type ReadingState,
  type ReadPosition,
  type SessionFacts,
} from "../records/index.ts";
import { openForeignDatabase } from "./foreign-database.ts";
import type { DatabaseReader, ForeignDatabase } from "./reader.ts";
import { databaseReaders, documentReaders, formats, textReaders } from "./readers/readers.ts";
import { type Resume, SessionBuilder, SessionBuilders } from "./session-builder.ts";

/** Bytes of a transcript that are redacted and written in one go: enough for secretlint's fixed cost, little memory. */
export const pieceBytes = 1 << 20;
/** A larger file that is one document is reported and not read: it has to be in memory as a whole. */
const documentBytes = 200 << 20;

/** New or changed events of one session. */
interface SessionBatch {
  /** The session's name within the file; "" where the file is one session. */
  readonly name: string;
  readonly facts: SessionFacts;
  readonly counts: Counts;
  readonly events: readonly Event[];
}

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

/** A file of whose lines no reader knows any. */
export function* readWholeFile(path: string, head: string, isOneLine: boolean): Generator<Piece> {
  const text = textReaders.find((one) => one.recognises(head));
  const mayBeDocument = beginsJson(head) && (isOneLine || spansLines(head));
  if (!text && !mayBeDocument) return yield unknownPiece(path);
  if (!fits(path)) return yield tooLargePiece(path);
  if (text) {
    const sessions = new SessionBuilders("transcript", null);
    const content = readContent(path);
    text.read(content.text, sessions, path);
    return yield* splitSessions(text.format, sessions, content);
  }
  const found = readDocument(path);
  if (found === "unknown") return yield unknownPiece(path);
  if (found !== "broken") return yield* found;
  const message = "is a JSON document that is cut or broken; it is read again when it changes";
  yield { ...emptyPiece(path, "invalid-json", message), anew: true };
}

export function readDocument(path: string): Iterable<Piece> | "unknown" | "broken" {
  const content = readContent(path);
  const document = parseJson(content.text);
  if (document === undefined) return "broken";
  const reader = documentReaders.find((one) => one.recognises(document));
  if (!reader) return "unknown";
  const sessions = new SessionBuilders("transcript", null);
  reader.read(document, sessions, path);
  const digest = joinDigests(content.position.digest, reader.beside?.(path) ?? []);
  return splitSessions(reader.format, sessions, { ...content, position: { ...content.position, digest } });
}

interface WholeContent {
  readonly text: string;
  readonly position: ReadPosition;
  readonly diagnostics: readonly Diagnostic[];
}

function readContent(path: string): WholeContent {
  const bytes = readFileSync(path);
  const text = bytes.toString("utf8");
  const digest = createHash("sha1").update(bytes).digest("hex");
  const message = "has bytes that are not UTF-8; they were replaced";
  return {
    text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text,
    position: { offset: bytes.length, line: 0, digest },
    diagnostics: isUtf8(bytes) ? [] : [{ path, line: null, code: "encoding", message }],
  };
}

/** The digest of a document that other files belong to: its own bytes do not tell whether it has changed. */
function joinDigests(digest: string, beside: readonly string[]): string {
  if (beside.length === 0) return digest;
  const hash = createHash("sha1").update(digest);
  for (const path of beside) {
    const found = statSync(path, { throwIfNoEntry: false });
    hash.update(`${path} ${found?.size} ${found?.mtimeMs}`);
  }
  return `joined ${hash.digest("hex")}`;
}

/** What was read of a whole file, in pieces that can be redacted and written soon. */
function* splitSessions(
  format: Format,
  sessions: SessionBuilders,
  { position, diagnostics }: Omit<WholeContent, "text">,
): Generator<Piece> {
  for (const session of sessions.values()) session.nameByBeginning();
  const batches = [...sessions].flatMap(([name, session]) => splitEvents(name, session));
  const state = { threads: [], rest: null };
  let [waiting, room, parts]: [SessionBatch[], number, number] = [[], pieceBytes, 0];
  for (const { batch, size } of batches) {
    waiting.push(batch);
    room -= size;
    if (room > 0) continue;
    // Nobody can go on from within a document, so the position says only which part this is.
    const within = { offset: 0, line: 0, digest: `part ${++parts}` };
    yield {
      format,
      threads: waiting,
      position: within,
      state,
      diagnostics: [],
      last: false,
      anew: parts === 1,
    };
    [waiting, room] = [[], pieceBytes];
  }
  yield { format, threads: waiting, position, state, diagnostics, last: true, anew: parts === 0 };
}

interface SizedBatch {
  readonly batch: SessionBatch;
  readonly size: number;
  readonly isLast: boolean;
}

/** A session's events in batches of about a piece; the last one may be empty. */
function splitEvents(name: string, session: SessionBuilder): SizedBatch[] {
  const batches: SizedBatch[] = [];
  const counts = { ...noCounts };
  let [events, size]: [Event[], number] = [[], 0];
  const close = (isLast: boolean) => {
    const added = countEvents(events);
    for (const key of Object.keys(counts) as (keyof Counts)[]) (counts[key] as number) += added[key];
    const batch = { name, facts: { ...session.facts }, counts: { ...counts }, events };
    batches.push({ batch, size, isLast });
    [events, size] = [[], 0];
  };
  for (const event of session.drain()) {
    events.push(event);
    size += event.text.length + (event.input === null ? 0 : JSON.stringify(event.input).length);
    if (size >= pieceBytes) close(false);
  }
  close(true);
  return batches;
}

// --- Databases ---

/** What the position of a database begins with: its bytes say nothing, its state tells what was read. */
const databaseDigest = "database ";

export function isDatabasePosition({ digest }: ReadPosition): boolean {
  return digest.startsWith(databaseDigest);
}

export function* readDatabase(path: string, known: Resume | null): Generator<Piece> {
  let database: ForeignDatabase | null = null;
  try {
    database = openForeignDatabase(path);
    const rows = database.query("select name from sqlite_master where type = 'table'");
    const tables = new Set(rows.map(({ name }) => String(name)));
    const reader = databaseReaders.find((one) => one.recognises(tables));
    if (reader) yield* readDatabaseSessions(reader, database, path, known);
    else yield unknownPiece(path);
  } catch (error) {
    // A file that another program is writing may be locked, and one that was cut cannot be read.
    if (!isDatabaseError(error)) throw error;
    yield emptyPiece(path, "unreadable", `cannot be read as a database: ${error.message}`);
  } finally {
    database?.close();
  }
}

/** What is new in a database since it was read, session by session; all of it where something went away. */
function* readDatabaseSessions(
  reader: DatabaseReader,
  database: ForeignDatabase,
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
    const digest = databaseDigest + createHash("sha1").update(marks.join()).digest("hex");
    const position = { offset: statSync(path).size, line: 0, digest };
    const state = { threads: [], rest: null, marks };
    return { format: reader.format, threads, position, state, diagnostics: [], last, anew };
  };
  let [waiting, room]: [SessionBatch[], number] = [[], pieceBytes];
  for (const { name, stamp } of sessions.filter((one) => known.get(one.name)?.stamp !== one.stamp)) {
    const session = new SessionBuilder("transcript");
    reader.read(database, name, session);
    const { events } = session.counts;
    // What was taken back has to be forgotten, and only reading from the beginning does that.
    if (events < (known.get(name)?.events ?? 0))
      return yield* readDatabaseSessions(reader, database, path, null);
    for (const { batch, size, isLast } of splitEvents(name, session)) {
      waiting.push(batch);
      room -= size;
      if (isLast) known.set(name, { stamp, events });
      if (room > 0) continue;
      // Left in the middle of a session, it has to be read again.
      if (!isLast) known.set(name, { stamp: `half ${batch.counts.events}`, events: 0 });
      yield makePiece(waiting, false);
      [waiting, room, anew] = [[], pieceBytes, false];
    }
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

// --- What a file may be ---

/** Whether a text that begins like this could be JSON. */
function beginsJson(head: string): boolean {
  return /^\uFEFF?\s*[{[]\s*(?:["{[\]}]|$)/.test(head);
}

/** Whether a text that begins like this could be JSON that goes over more than one line. */
export function spansLines(head: string): boolean {
  const text = head.trimStart();
  const line = text.slice(0, Math.max(0, text.indexOf("\n"))).trimEnd();
  return beginsJson(head) && line !== "" && (line.length === 1 || !/[}\]]$/.test(line));
}

export function fits(path: string): boolean {
  return statSync(path).size <= documentBytes;
}

export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** A file that gave no session. */
export function emptyPiece(path: string, code: DiagnosticCode, message: string): Piece {
  return {
    format: null,
    threads: [],
    position: { offset: 0, line: 0, digest: "" },
    state: { threads: [], rest: null },
    diagnostics: [{ path, line: null, code, message }],
    last: true,
    anew: false,
  };
}

export function unknownPiece(path: string): Piece {
  const message = `is not a session in a format that Knack reads (${formats.join(", ")})`;
  return emptyPiece(path, "unknown-format", message);
}

function tooLargePiece(path: string): Piece {
  const [size, most] = [statSync(path).size, documentBytes].map((bytes) => Math.round(bytes / 2 ** 20));
  const message = `is one document of ${size} MB, and Knack reads those up to ${most} MB; leave long tool outputs out of it, or split it by session`;
  return emptyPiece(path, "too-large", message);
}
