import { isUtf8 } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import { closeSync, fstatSync, readdirSync, readSync, type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isObject, type JsonObject, openPlainFile, PlainFileError } from "../base/index.ts";
import type { Diagnostic, DiagnosticCode, ReadPosition } from "../records/index.ts";
import { type LineReader, type LineReading, parseJson, type Resume } from "./reader.ts";
import { findFolderAmong, readers } from "./readers/readers.ts";
import { emptyPiece, type Piece, pieceBytes, readDatabase, readDocument } from "./whole-files.ts";

/** Diagnostics kept for one transcript; the rest are counted. */
const mostDiagnostics = 50;
/** Lines looked at before a file is given up as unknown. */
const mostTried = 200;
/** Bytes of a file's beginning that tell what it may be. */
const headBytes = 4_096;
/** Bytes fetched from a file at a time, at most. */
const mostBytes = 1 << 20;
/** A longer line is reported and skipped: no agent writes one, and holding it would cost the memory of thousands. */
const lineBytes = 16 << 20;
const newline = 0x0a;

export interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: number;
}

interface TranscriptsOptions {
  /** The folders of known projects: some transcripts name theirs by its hash alone. */
  readonly roots?: () => Promise<readonly string[]>;
  /** Folders that are not entered: Knack must not read itself. */
  readonly exclude?: readonly string[];
}

/** Transcripts on disk. What cannot be read becomes a diagnostic; nothing here throws for what a file holds. */
export class Transcripts {
  private readonly options: TranscriptsOptions;

  constructor(options: TranscriptsOptions = {}) {
    this.options = options;
  }

  /** The files at and below these paths, newest first. */
  find(paths: readonly string[]): { files: FoundFile[]; diagnostics: Diagnostic[] } {
    return findFiles(paths, this.options.exclude ?? []);
  }

  /** The rest of a transcript in pieces, in order. */
  async *read(path: string, resume: Resume | null): AsyncGenerator<Piece> {
    const { roots } = this.options;
    for (const piece of readFile(path, resume)) {
      const isHashed = piece.threads.some(({ facts }) => facts.cwd === null && facts.remote !== null);
      yield isHashed && roots ? addFolders(piece, await roots()) : piece;
    }
  }

  /** Whether the bytes up to a position are unchanged since they were read. */
  isUnchanged(path: string, { position, state }: Pick<Resume, "position" | "state">): boolean {
    // What is new in a database is told by the sessions in it.
    if (state.marks) return true;
    let file: number | null = null;
    try {
      file = openPlainFile(path).handle;
      return isSameStart(file, position);
    } catch (error) {
      // What cannot be opened is not known to have changed; reading it says why.
      if (isSystemError(error)) return true;
      throw error;
    } finally {
      if (file !== null) closeSync(file);
    }
  }
}

/** A piece whose sessions have the folders that known projects tell. */
function addFolders(piece: Piece, known: readonly string[]): Piece {
  const threads = piece.threads.map((session) => {
    const cwd = findFolderAmong(session.facts, known);
    return cwd === null ? session : { ...session, facts: { ...session.facts, cwd, remote: null } };
  });
  return { ...piece, threads };
}

// --- Reading one file ---

function* readFile(path: string, known: Resume | null): Generator<Piece> {
  let file: number | null = null;
  try {
    file = openPlainFile(path).handle;
    yield* readOpenFile(file, path, known);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const what = file === null ? "opened" : "read";
    yield emptyPiece(path, "unreadable", `cannot be ${what}: ${explain(error)}`);
  } finally {
    if (file !== null) closeSync(file);
  }
}

function* readOpenFile(file: number, path: string, known: Resume | null): Generator<Piece> {
  // A position without lines is that of a file which is read whole.
  const isWhole = known?.position.line === 0;
  if (known?.state.marks) return yield* readDatabase(path, known);
  if (isWhole && known.position.offset === fstatSync(file).size) {
    const { format, position, state } = known;
    return yield { format, threads: [], position, state, diagnostics: [], last: true, anew: false };
  }
  const resume = isWhole ? null : known;
  const lines = new FileLines(file, resume?.position ?? null);
  const more = lines.fill();
  const head = lines.peek(headBytes);
  const text = head.toString("utf8");
  if (resume === null) {
    if (text.startsWith("SQLite format 3\0")) return yield* readDatabase(path, null);
    const wrong = explainNoText(head);
    if (wrong) return yield emptyPiece(path, ...wrong);
    // JSON over several lines; where it is broken, it may be lines after all.
    const document = spansLines(text) ? readDocument(path) : "broken";
    if (typeof document !== "string") return yield* document;
  }
  const content = new LineContent(path, resume);
  yield* readLines(lines, more, content);
  if (content.reading !== null) return;
  const isDocument = content.tried <= 1 ? beginsJson(text) : spansLines(text);
  const document = isDocument ? readDocument(path) : [emptyPiece(path, "unknown-format")];
  if (typeof document !== "string") return yield* document;
  yield {
    ...emptyPiece(path, document === "broken" ? "invalid-json" : "too-large"),
    anew: document === "broken",
  };
}

/** Why a file that begins like this holds no text to read; null when it may. */
function explainNoText(head: Buffer): [DiagnosticCode, string] | null {
  if (head.length === 0) return ["empty", "is empty"];
  const mark = head.subarray(0, 2).toString("hex");
  if (mark === "fffe" || mark === "feff") return ["encoding", "is UTF-16; transcripts are UTF-8"];
  return head.includes(0) ? ["binary", "is not text"] : null;
}

/** Whether a text that begins like this could be JSON. */
function beginsJson(head: string): boolean {
  return /^\uFEFF?\s*[{[]\s*(?:["{[\]}]|$)/.test(head);
}

/** Whether a text that begins like this could be JSON that goes over more than one line. */
function spansLines(head: string): boolean {
  const text = head.trimStart();
  const line = text.slice(0, Math.max(0, text.indexOf("\n"))).trimEnd();
  return beginsJson(head) && line !== "" && (line.length === 1 || !/[}\]]$/.test(line));
}

function* readLines(lines: FileLines, first: boolean, content: LineContent): Generator<Piece> {
  let sent = lines.offset;
  for (let more = first; ; more = lines.fill()) {
    lines.take(content);
    if (content.isUnknown || !more) break;
    if (lines.skipping || lines.offset - sent < pieceBytes) continue;
    yield* content.drain(lines, false);
    sent = lines.offset;
  }
  if (!content.isUnknown) lines.finish(content);
  yield* content.drain(lines, true);
}

/** The content of a file of lines: the first records decide which reader takes all of them. */
class LineContent {
  reading: LineReading | null = null;
  /** Lines that no reader knows. */
  tried = 0;
  private reader: LineReader | null = null;
  private readonly path: string;
  /** Records that no reader knows, until one is known: a transcript may begin with a few of those. */
  private readonly early: (readonly [record: JsonObject, line: number])[] = [];
  private readonly diagnostics: Diagnostic[] = [];
  private problems = 0;

  constructor(path: string, resume: Resume | null) {
    this.path = path;
    this.reader = (resume && readers.lines.find(({ format }) => format === resume.format)) ?? null;
    this.reading = this.reader?.open(path, resume) ?? null;
  }

  /** Enough was seen to say that no reader knows this file. */
  get isUnknown(): boolean {
    return this.reading === null && this.tried > mostTried;
  }

  problem(code: DiagnosticCode, message: string, line: number): void {
    const { path, diagnostics } = this;
    if (++this.problems <= mostDiagnostics)
      diagnostics.push({ path, line, code, message: `line ${line} ${message}` });
    else if (this.problems === mostDiagnostics + 1)
      diagnostics.push({ path, line, code: "more", message: `more lines like these follow line ${line}` });
  }

  line(text: string, line: number): void {
    if (this.isUnknown || this.reader?.skips?.(text)) return;
    const record = parseJson(text);
    if (isObject(record))
      return this.reading ? this.reading.take(record, line) : this.recognise(record, line);
    // The mark that some editors put before UTF-8.
    if (record === undefined && text.charCodeAt(0) === 0xfeff) return this.line(text.slice(1), line);
    this.tried++;
    if (record !== undefined) this.problem("not-an-object", "holds no record; it was skipped", line);
    else if (text.trim() !== "") this.problem("invalid-json", "is not JSON; it was skipped", line);
  }

  /** Yields the new content since the last piece. */
  *drain(lines: FileLines, last: boolean): Generator<Piece> {
    if (this.reading === null || this.reader === null) return;
    const threads = [...this.reading.sessions].map(([name, session]) => session.drainBatch(name));
    const { format } = this.reader;
    const [position, state] = [lines.position(), this.reading.state()];
    const diagnostics = this.diagnostics.splice(0);
    yield { format, threads, position, state, diagnostics, last, anew: false };
  }

  private recognise(record: JsonObject, line: number): void {
    this.early.push([record, line]);
    this.tried++;
    this.reader = readers.lines.find((one) => one.recognises(record)) ?? null;
    this.reading = this.reader?.open(this.path, null) ?? null;
    if (this.reading) for (const one of this.early.splice(0)) this.reading.take(...one);
  }
}

/**
 * Reads a file line by line from a position, a chunk at a time; the offset is always that of a line's start.
 * Chunks are read synchronously: the trip to a thread and back costs more than the chunk, and small files are many.
 */
class FileLines {
  offset: number;
  /** The rest of a line that is too long is being skipped: no place to stop at. */
  skipping = false;
  private line: number;
  private readonly file: number;
  private readonly chunkBytes: number;
  /** Of all bytes up to the offset. */
  private readonly digest: FileDigest;
  /** Bytes fetched but not yet consumed. */
  private fetched = Buffer.alloc(0);
  /** Bytes of the line at the offset that were skipped. */
  private skipped = 0;

  constructor(file: number, from: ReadPosition | null) {
    this.file = file;
    this.offset = from?.offset ?? 0;
    this.line = from?.line ?? 0;
    // A last line that was taken without its newline: what is left of it does not count as another.
    const before = Buffer.alloc(1, newline);
    if (this.offset > 0) readSync(file, before, 0, 1, this.offset - 1);
    if (before[0] !== newline) this.line--;
    this.digest = from ? FileDigest.resume(file, from) : new FileDigest();
    // No more room than the file needs: most are small, and room costs.
    this.chunkBytes = Math.min(mostBytes, fstatSync(file).size + 1);
  }

  /** Fetches one more chunk; false when the file has no more. */
  fill(): boolean {
    if (this.skipping || this.fetched.length >= lineBytes) this.skip();
    const { length } = this.fetched;
    const larger = Buffer.allocUnsafe(length + this.chunkBytes);
    this.fetched.copy(larger);
    const from = this.offset + this.skipped + length;
    const bytes = readSync(this.file, larger, length, this.chunkBytes, from);
    this.fetched = larger.subarray(0, length + bytes);
    // Only the end of a file answers with less than was asked for.
    return bytes === this.chunkBytes;
  }

  /** The first bytes that were fetched and not yet taken. */
  peek(bytes: number): Buffer {
    return Buffer.from(this.fetched.subarray(0, bytes));
  }

  position(): ReadPosition {
    return { offset: this.offset, line: this.line, digest: this.digest.toString() };
  }

  /** Takes every whole line that was fetched. */
  take(content: LineContent): void {
    let start = 0;
    for (let end = this.fetched.indexOf(newline); end >= 0; end = this.fetched.indexOf(newline, start)) {
      this.takeLine(this.fetched.subarray(start, end), content);
      start = end + 1;
    }
    if (start > 0) this.consume(start);
  }

  /** Takes the text after the last newline: a whole record, or one that the agent is still writing. */
  finish(content: LineContent): void {
    const text = this.skipping ? "" : this.fetched.toString("utf8").trim();
    if (text !== "" && parseJson(text) === undefined) {
      const message = "ends in the middle of a record; it is read again when the file grows";
      return content.problem("cut-line", message, this.line + 1);
    }
    if (this.skipping || text !== "") this.takeLine(this.fetched, content);
    this.consume(this.fetched.length);
  }

  private takeLine(bytes: Buffer, content: LineContent): void {
    this.line++;
    if (this.skipping) {
      this.skipping = false;
      return content.problem("line-too-long", "is longer than 16 MB; it was skipped", this.line);
    }
    const text = bytes.toString("utf8");
    if (text.includes("\uFFFD") && !isUtf8(bytes))
      content.problem("encoding", "has bytes that are not UTF-8; they were replaced", this.line);
    content.line(text, this.line);
  }

  private consume(bytes: number): void {
    this.digest.update(this.fetched.subarray(0, bytes));
    this.fetched = this.fetched.subarray(bytes);
    this.offset += this.skipped + bytes;
    this.skipped = 0;
  }

  /** Drops what was fetched: it is part of a line that is too long. */
  private skip(): void {
    this.digest.update(this.fetched);
    this.skipping = true;
    this.skipped += this.fetched.length;
    this.fetched = Buffer.alloc(0);
  }
}

// --- Finding files ---

const skippedNames = new Set(["node_modules", ".git", ".DS_Store"]);

function findFiles(paths: readonly string[], exclude: readonly string[]): ReturnType<Transcripts["find"]> {
  const files = new Map<string, FoundFile>();
  const diagnostics: Diagnostic[] = [];
  const report = (path: string, message: string) =>
    diagnostics.push({ path, line: null, code: "unreadable", message });
  const visit = (path: string): void => {
    try {
      const found = statSync(path);
      if (found.isFile()) files.set(path, { path, ...stampFile(path, found) });
      else if (found.isDirectory()) visitFolder(path);
      else report(path, "is neither a file nor a folder");
    } catch (error) {
      report(path, `cannot be read: ${explain(error)}`);
    }
  };
  const visitFolder = (folder: string): void => {
    const entries = readdirSync(folder, { withFileTypes: true });
    const names = new Set(entries.map(({ name }) => name));
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (skippedNames.has(entry.name) || isPartOfOther(entry.name, names) || exclude.includes(path))
        continue;
      // A link to a folder may lead back up.
      if (!entry.isSymbolicLink() && (entry.isDirectory() || entry.isFile())) visit(path);
    }
  };
  for (const path of paths) visit(resolve(path));
  const newestFirst = [...files.values()].sort(
    (a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? -1 : 1),
  );
  return { files: newestFirst, diagnostics };
}

/**
 * Whether what a file holds is read with another one beside it: a part of a database, a session of Gemini CLI that goes
 * on in a file of the newer form.
 */
function isPartOfOther(name: string, names: ReadonlySet<string>): boolean {
  const database = /^(.+)-(?:wal|shm|journal)$/.exec(name)?.[1];
  if (database !== undefined && names.has(database)) return true;
  return name.startsWith("session-") && name.endsWith(".json") && names.has(`${name}l`);
}

/** A file's size and time for change detection. The latest changes of a database wait in a file beside it. */
function stampFile(path: string, own: Stats): Pick<FoundFile, "size" | "modifiedAt"> {
  const isText = /\.jsonl?$/.test(path);
  const log = isText ? undefined : statSync(`${path}-wal`, { throwIfNoEntry: false });
  return {
    size: own.size + (log?.size ?? 0),
    modifiedAt: Math.max(own.mtimeMs, log?.mtimeMs ?? 0),
  };
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  const isRefused = error instanceof PlainFileError;
  return (
    isRefused || (error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string")
  );
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ELOOP: "too many links",
  ENAMETOOLONG: "its path is too long",
};

function explain(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return reasons[code] ?? (error instanceof Error ? error.message : String(error));
}

// --- How a file is known again ---

const blockBytes = 1 << 22;
const chunkBytes = 1 << 20;

/** The digests of whole blocks: the first, the last, and one over all of them. */
interface Blocks {
  readonly first: string;
  readonly last: string;
  readonly all: string;
}

/**
 * A digest of a file's first bytes, to which more can be added. A file that grew is known by its first block and by its
 * last bytes, a block or two: to read a long transcript whole for each line that it gets would cost more than the line.
 * Text that was inserted, removed or cut before the end moves these bytes, so only what is changed in the middle of a
 * file of many megabytes, to something exactly as long, goes unseen.
 */
class FileDigest {
  private blocks: Blocks | null = null;
  private hash: Hash = createHash("sha1");
  private room = blockBytes;

  /** The digest of a file's bytes up to a position, as it was when they were read. */
  static resume(file: number, { offset, digest }: ReadPosition): FileDigest {
    const made = new FileDigest();
    made.blocks = parseBlocks(digest);
    const start = made.blocks === null ? 0 : offset - (offset % blockBytes);
    for (const bytes of readRange(file, start, offset) ?? []) made.update(bytes);
    return made;
  }

  update(bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0; ) {
      const some = rest.subarray(0, this.room);
      this.hash.update(some);
      this.room -= some.length;
      rest = rest.subarray(some.length);
      if (this.room === 0) this.endBlock();
    }
  }

  toString(): string {
    const rest = this.hash.copy().digest("hex");
    if (this.blocks === null) return rest;
    const { first, last, all } = this.blocks;
    return [first, last, all, rest].join("-");
  }

  private endBlock(): void {
    const last = this.hash.digest("hex");
    const { first = last, all = "" } = this.blocks ?? {};
    this.blocks = { first, last, all: createHash("sha1").update(`${all} ${last}`).digest("hex") };
    this.hash = createHash("sha1");
    this.room = blockBytes;
  }
}

/** Whether a file still begins with the bytes that were read of it. */
function isSameStart(file: number, position: ReadPosition): boolean {
  const { offset, digest } = position;
  const blocks = parseBlocks(digest);
  const end = blocks === null ? 0 : offset - (offset % blockBytes);
  return (
    digestRange(file, end, offset) === digest.slice(digest.lastIndexOf("-") + 1) &&
    (blocks === null ||
      (digestRange(file, 0, blockBytes) === blocks.first &&
        digestRange(file, end - blockBytes, end) === blocks.last))
  );
}

function parseBlocks(digest: string): Blocks | null {
  const [first = "", last, all] = digest.split("-");
  return last === undefined || all === undefined ? null : { first, last, all };
}

function digestRange(file: number, from: number, to: number): string | null {
  const chunks = readRange(file, from, to);
  if (chunks === null) return null;
  const hash = createHash("sha1");
  for (const bytes of chunks) hash.update(bytes);
  return hash.digest("hex");
}

/** A file's bytes between two places; null when it is shorter. */
function readRange(file: number, from: number, to: number): Buffer[] | null {
  const chunks: Buffer[] = [];
  for (let at = from; at < to; ) {
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, to - at));
    const bytesRead = readSync(file, buffer, 0, buffer.length, at);
    if (bytesRead === 0) return null;
    chunks.push(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return chunks;
}
