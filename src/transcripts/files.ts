import { closeSync, fstatSync, openSync, readdirSync, type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isObject, type JsonObject } from "../base/index.ts";
import type { Diagnostic, DiagnosticCode, ReadPosition } from "../records/index.ts";
import { FileLines, hashStart, type LineTaker } from "./file-lines.ts";
import type { LineReader, LineReading } from "./reader.ts";
import { findFolderAmong } from "./readers/gemini.ts";
import { documentReaders, lineReaders } from "./readers/readers.ts";
import type { Resume } from "./session-builder.ts";
import {
  emptyPiece,
  fits,
  isDatabasePosition,
  type Piece,
  parseJson,
  pieceBytes,
  readDatabase,
  readDocument,
  readWholeFile,
  spansLines,
  unknownPiece,
} from "./whole-files.ts";

/** Diagnostics kept for one transcript; the rest are counted. */
const mostDiagnostics = 50;
/** Lines looked at before a file is given up as unknown. */
const mostTried = 200;
/** Bytes of a file's beginning that tell what it may be. */
const headBytes = 4_096;

export interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: number;
}

/** Transcripts on disk. What cannot be read becomes a diagnostic; nothing here throws for what a file holds. */
export interface Transcripts {
  /** The files at and below these paths, newest first. */
  find(paths: readonly string[]): Promise<{ files: FoundFile[]; diagnostics: Diagnostic[] }>;
  /** Whether the bytes up to a position are the ones that were read. */
  unchanged(path: string, position: ReadPosition): Promise<boolean>;
  /** The rest of a transcript in pieces, in order. */
  read(path: string, resume: Resume | null): AsyncIterable<Piece>;
}

interface TranscriptsOptions {
  /** The folders of known projects: some transcripts name theirs by its hash alone. */
  readonly roots?: () => Promise<readonly string[]>;
  /** Folders that are not entered: Knack must not read itself. */
  readonly exclude?: readonly string[];
}

export function createTranscripts({
  roots = async () => [],
  exclude = [],
}: TranscriptsOptions = {}): Transcripts {
  return {
    find: async (paths) => findFiles(paths, exclude),
    unchanged: async (path, position) => isUnchanged(path, position),
    read: async function* (path, resume) {
      for (const piece of readFile(path, resume)) yield await withFolders(piece, roots);
    },
  };
}

/** A piece whose sessions have the folders that known projects tell. */
async function withFolders(piece: Piece, roots: () => Promise<readonly string[]>): Promise<Piece> {
  if (!piece.threads.some(({ facts }) => facts.cwd === null && facts.remote !== null)) return piece;
  const known = await roots();
  const threads = piece.threads.map((session) => {
    const cwd = findFolderAmong(session.facts, known);
    return cwd === null ? session : { ...session, facts: { ...session.facts, cwd, remote: null } };
  });
  return { ...piece, threads };
}

function isUnchanged(path: string, position: ReadPosition): boolean {
  // What is new in a database is told by the sessions in it.
  if (isDatabasePosition(position)) return true;
  try {
    return withFile(path, (file) => hashStart(file, position.offset)?.digest("hex") === position.digest);
  } catch (error) {
    // What cannot be opened is not known to have changed; reading it says why.
    if (isSystemError(error)) return true;
    throw error;
  }
}

function withFile<Result>(path: string, use: (file: number) => Result): Result {
  const file = openSync(path, "r");
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}

// --- Reading one file ---

function* readFile(path: string, known: Resume | null): Generator<Piece> {
  let file: number | null = null;
  try {
    file = openSync(path, "r");
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
  if (isWhole && isDatabasePosition(known.position)) return yield* readDatabase(path, known);
  if (isWhole && known.position.offset === fstatSync(file).size) return yield unchangedPiece(known);
  const resume = isWhole ? null : known;
  const lines = new FileLines(file, resume?.position ?? null);
  const more = lines.fill();
  const head = Buffer.from(lines.peek(headBytes));
  if (resume === null) {
    const text = head.toString("utf8");
    if (text.startsWith("SQLite format 3\0")) return yield* readDatabase(path, null);
    const wrong = explainNoText(head);
    if (wrong) return yield emptyPiece(path, ...wrong);
    const found = spansLines(text) && fits(path) ? readDocument(path) : "broken";
    if (found !== "broken") return yield* found === "unknown" ? [unknownPiece(path)] : found;
  }
  const content = new LineContent(path, resume);
  yield* readLines(lines, more, content);
  if (content.reading === null) yield* readWholeFile(path, head.toString("utf8"), content.isOneLine);
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

/** What the lines of a file hold: the first records tell which reader takes all of them. */
class LineContent implements LineTaker {
  reading: LineReading | null = null;
  private reader: LineReader | null = null;
  private readonly path: string;
  /** Records that no reader knows, until one is known: a transcript may begin with a few of those. */
  private readonly early: (readonly [record: JsonObject, line: number])[] = [];
  private tried = 0;
  private readonly diagnostics: Diagnostic[] = [];
  private problems = 0;

  constructor(path: string, resume: Resume | null) {
    this.path = path;
    this.reader = (resume && lineReaders.find(({ format }) => format === resume.format)) ?? null;
    this.reading = this.reader?.open(path, resume) ?? null;
  }

  /** Enough was seen to say that no reader knows this file. */
  get isUnknown(): boolean {
    return this.reading === null && this.tried > mostTried;
  }

  get isOneLine(): boolean {
    return this.tried <= 1;
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
    if (record === undefined) return this.takeBroken(text, line);
    if (!isObject(record)) {
      this.tried++;
      this.problem("not-an-object", "holds no record; it was skipped", line);
    } else if (this.reading) this.reading.take(record, line);
    else {
      this.early.push([record, line]);
      this.tried++;
      this.reader = lineReaders.find((one) => one.recognises(record)) ?? null;
      this.reading = this.reader?.open(this.path, null) ?? null;
      if (this.reading) for (const one of this.early.splice(0)) this.reading.take(...one);
    }
  }

  /** What is new since the last piece. */
  *drain(lines: FileLines, last: boolean): Generator<Piece> {
    if (this.reading === null || this.reader === null) return;
    const threads = [...this.reading.sessions].map(([name, session]) => ({
      name,
      facts: { ...session.facts },
      counts: { ...session.counts },
      events: session.drain(),
    }));
    const { format } = this.reader;
    const [position, state] = [lines.position(), this.reading.state()];
    const diagnostics = this.diagnostics.splice(0);
    yield { format, threads, position, state, diagnostics, last, anew: false };
  }

  private takeBroken(text: string, line: number): void {
    // The mark that some editors put before UTF-8.
    if (text.charCodeAt(0) === 0xfeff) return this.line(text.slice(1), line);
    this.tried++;
    if (text.trim() !== "") this.problem("invalid-json", "is not JSON; it was skipped", line);
  }
}

/** Why a file that begins like this holds no text to read; null when it may. */
function explainNoText(head: Buffer): [DiagnosticCode, string] | null {
  if (head.length === 0) return ["empty", "is empty"];
  const mark = head.subarray(0, 2).toString("hex");
  if (mark === "fffe" || mark === "feff") return ["encoding", "is UTF-16; transcripts are UTF-8"];
  return head.includes(0) ? ["binary", "is not text"] : null;
}

function unchangedPiece({ format, position, state }: Resume): Piece {
  return { format, threads: [], position, state, diagnostics: [], last: true, anew: false };
}

// --- Finding files ---

const skippedNames = new Set(["node_modules", ".git", ".DS_Store"]);

function findFiles(
  paths: readonly string[],
  exclude: readonly string[],
): { files: FoundFile[]; diagnostics: Diagnostic[] } {
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
 * Whether what a file or folder holds is read with another one beside it: a part of a database, the messages of
 * OpenCode's sessions, a session of Gemini CLI that goes on in a file of the newer form.
 */
function isPartOfOther(name: string, names: ReadonlySet<string>): boolean {
  const database = /^(.+)-(?:wal|shm|journal)$/.exec(name)?.[1];
  if (database !== undefined && names.has(database)) return true;
  if (name.startsWith("session-") && name.endsWith(".json") && names.has(`${name}l`)) return true;
  return name !== "session" && ["session", "message", "part"].every((one) => names.has(one));
}

/** What tells that a file, or one that belongs to it, has changed. */
function stampFile(path: string, own: Stats): Pick<FoundFile, "size" | "modifiedAt"> {
  // The latest changes of a database wait in a file beside it.
  const beside = /\.(?:db|sqlite3?)$/.test(path)
    ? [`${path}-wal`]
    : documentReaders.flatMap((reader) => reader.beside?.(path) ?? []);
  const stats = [own, ...beside.flatMap((one) => statSync(one, { throwIfNoEntry: false }) ?? [])];
  return {
    size: stats.reduce((sum, { size }) => sum + size, 0),
    modifiedAt: stats.reduce((latest, { mtimeMs }) => Math.max(latest, mtimeMs), 0),
  };
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ELOOP: "too many links",
};

function explain(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return reasons[code] ?? (error instanceof Error ? error.message : String(error));
}
