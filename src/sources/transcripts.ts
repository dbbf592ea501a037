import { closeSync, fstatSync, openSync, readdirSync, type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { policy as defaults, type Policy } from "../core/policy.ts";
import type { Diagnostic, DiagnosticCode } from "../core/session.ts";
import type { FoundFile, Piece, Position, Resume, Transcripts } from "../engine/ports.ts";
import { databaseDigest, piecesIn } from "./database.ts";
import { folderAmong } from "./gemini.ts";
import { databases, documents, readers, texts } from "./index.ts";
import { digestOf, type LineLimits, LineReader, type LineTaker, newDigest } from "./lines.ts";
import type { Database, DatabaseReader, DocumentReader, Reader, Reading, TextReader } from "./reader.ts";
import { asItWas, beginsJson, parsed, piecesOf, spreads, wholeOf } from "./whole.ts";

interface Options {
  readonly readers: readonly Reader[];
  readonly documents: readonly DocumentReader[];
  readonly texts: readonly TextReader[];
  readonly databases: readonly DatabaseReader[];
  /** Opens a database of another program to be looked at. Without it databases are not read. */
  readonly openDatabase: ((path: string) => Database) | null;
  readonly policy: Policy;
  /** Whether positions carry a digest, so that a rewritten file is noticed later. */
  readonly digests: boolean;
  /** The folders of projects that are known: some transcripts name theirs by its hash alone. */
  readonly roots: () => Promise<readonly string[]>;
  /** Folders that are not entered on the way: Knack must not read itself. */
  readonly passOver: readonly string[];
}

const usual: Options = {
  readers,
  documents,
  texts,
  databases,
  openDatabase: null,
  policy: defaults,
  digests: true,
  roots: async () => [],
  passOver: [],
};

/** Transcripts on this machine's disk. */
export function createTranscripts(options: Partial<Options> = {}): Transcripts {
  const all = { ...usual, ...options };
  return {
    find: (paths) => find(paths, all),
    unchanged: async (path, position) => unchanged(path, position),
    read: (path, resume) => read(path, resume, all),
  };
}

function unchanged(path: string, position: Position): boolean {
  const { offset, digest } = position;
  // What is new in a database is told by the sessions in it.
  if (isOfDatabase(position)) return true;
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    // What cannot be opened is not known to have changed; reading it says why.
    if (isSystemError(error)) return true;
    throw error;
  }
  try {
    return digestOf(file, offset)?.digest("hex") === digest;
  } finally {
    closeSync(file);
  }
}

async function* read(path: string, resume: Resume | null, options: Options): AsyncGenerator<Piece> {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    yield nothing({ path, line: null, code: "unreadable", message: `cannot be opened: ${reasonOf(error)}` });
    return;
  }
  try {
    for await (const piece of pieces(file, path, resume, options)) yield await placed(piece, options);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    yield nothing({ path, line: null, code: "unreadable", message: `cannot be read: ${reasonOf(error)}` });
  } finally {
    closeSync(file);
  }
}

/** A piece whose sessions have the folder that the known ones tell. */
async function placed(piece: Piece, { roots }: Options): Promise<Piece> {
  if (!piece.threads.some(({ facts }) => facts.cwd === null && facts.remote !== null)) return piece;
  const known = await roots();
  const threads = piece.threads.map((thread) => {
    const cwd = folderAmong(thread.facts, known);
    return cwd === null ? thread : { ...thread, facts: { ...thread.facts, cwd, remote: null } };
  });
  return { ...piece, threads };
}

/** A file that gave no session. */
function nothing(diagnostic: Diagnostic): Piece {
  const position = { offset: 0, line: 0, digest: "" };
  return {
    format: null,
    threads: [],
    position,
    state: { threads: [], rest: null },
    diagnostics: [diagnostic],
    last: true,
    anew: false,
  };
}

async function* pieces(
  file: number,
  path: string,
  known: Resume | null,
  options: Options,
): AsyncGenerator<Piece> {
  const { policy, digests } = options;
  const isWhole = known?.position.line === 0;
  const isSame = isWhole && known.position.offset === fstatSync(file).size;
  if (isSame && !isOfDatabase(known.position)) return yield asItWas(known);
  const resume = isWhole ? null : known;
  const from = resume?.position ?? { offset: 0, line: 0 };
  const hash = digests ? (digestOf(file, from.offset) ?? newDigest()) : null;
  const lines = new LineReader(file, fitting(file, policy), from, hash);
  const content = new Content(path, resume, options);
  let more = lines.fill();
  const whole = new WholeFile(file, path, lines.waiting, options);
  if (resume === null) {
    const wrong = whole.isDatabase ? null : notText(path, lines.waiting);
    const pieces = wrong ? [nothing(wrong)] : whole.atFirstSight(known);
    if (pieces) return yield* pieces;
  }
  let sent = from.offset;
  for (; ; more = lines.fill()) {
    lines.take(content);
    if (content.unknown || !more) break;
    if (lines.skipping || lines.offset - sent < policy.read.pieceBytes) continue;
    const piece = pieceOf(content, lines, false);
    if (piece) yield piece;
    sent = lines.offset;
  }
  if (!content.unknown) lines.finish(content);
  const piece = pieceOf(content, lines, true);
  if (piece) yield piece;
  else yield* whole.afterAll(content.isOne) ?? [nothing(unknownFormat(path, options))];
}

/** A file that may be one document, one text, or one database. Each question is answered with null where it is none. */
class WholeFile {
  readonly isDatabase: boolean;
  private readonly file: number;
  private readonly path: string;
  private readonly head: string;
  private readonly options: Options;
  /** It was parsed, and nobody knew it. */
  private isOther = false;

  constructor(file: number, path: string, head: Buffer, options: Options) {
    this.file = file;
    this.path = path;
    this.head = head.toString("utf8", 0, headBytes);
    this.options = options;
    this.isDatabase = options.openDatabase !== null && this.head.startsWith("SQLite format 3\0");
  }

  /** What the head alone gives away: a database, or a document over many lines. */
  atFirstSight(known: Resume | null): Iterable<Piece> | null {
    if (this.isDatabase) return this.database(known && isOfDatabase(known.position) ? known : null);
    return spreads(this.head) && this.fits ? this.document() : null;
  }

  /** What is left when no record of a line is known; `isOne` when there were no two of them. */
  afterAll(isOne: boolean): Iterable<Piece> | null {
    const text = this.options.texts.find((one) => one.recognises(this.head));
    if (text) return this.fits ? this.text(text) : [nothing(this.tooLarge())];
    if (!beginsJson(this.head) || !(isOne || spreads(this.head))) return null;
    if (!this.fits) return [nothing(this.tooLarge())];
    return this.document() ?? (this.isOther ? null : [{ ...nothing(this.cut()), anew: true }]);
  }

  private get fits(): boolean {
    return fstatSync(this.file).size <= this.options.policy.read.documentBytes;
  }

  private document(): Iterable<Piece> | null {
    if (this.isOther) return null;
    const whole = wholeOf(this.file);
    const found = parsed(whole.text);
    if (!found) return null;
    const reader = this.options.documents.find((one) => one.recognises(found.value));
    this.isOther = !reader;
    if (!reader) return null;
    const { digest, ...position } = whole.position;
    return piecesOf(
      reader.format,
      (threads) => reader.read(found.value, threads, this.path),
      { ...position, digest: joined(digest, reader.beside?.(this.path) ?? []) },
      this.options.policy.read,
      this.problems(whole.isUtf8),
    );
  }

  private text(reader: TextReader): Iterable<Piece> {
    const { text, position, isUtf8 } = wholeOf(this.file);
    return piecesOf(
      reader.format,
      (threads) => reader.read(text, threads, this.path),
      position,
      this.options.policy.read,
      this.problems(isUtf8),
    );
  }

  private *database(known: Resume | null): Generator<Piece> {
    const { databases, openDatabase, policy } = this.options;
    let database: Database | undefined;
    try {
      database = openDatabase?.(this.path);
      if (!database) return;
      const names = [...database.query("select name from sqlite_master where type = 'table'")];
      const tables = new Set(names.map(({ name }) => String(name)));
      const reader = databases.find((one) => one.recognises(tables));
      if (reader) yield* piecesIn(reader, database, this.file, known, policy);
      else yield nothing(unknownFormat(this.path, this.options));
    } catch (error) {
      // A file that another program is at may be locked, and one that was cut is none that can be read.
      if (!isDatabaseError(error)) throw error;
      yield nothing(this.problem("unreadable", `cannot be read as a database: ${error.message}`));
    } finally {
      database?.close();
    }
  }

  private problems(isUtf8: boolean): Diagnostic[] {
    return isUtf8 ? [] : [this.problem("encoding", "has bytes that are not UTF-8; they were replaced")];
  }

  private tooLarge(): Diagnostic {
    const [size, most] = [fstatSync(this.file).size, this.options.policy.read.documentBytes].map((bytes) =>
      Math.round(bytes / 2 ** 20),
    );
    return this.problem(
      "too-large",
      `is one document of ${size} MB, and Knack reads those up to ${most} MB; leave long tool outputs out of it, or split it by session`,
    );
  }

  private cut(): Diagnostic {
    return this.problem(
      "invalid-json",
      "is a JSON document that is cut or broken; it is read again when it changes",
    );
  }

  private problem(code: DiagnosticCode, message: string): Diagnostic {
    return { path: this.path, line: null, code, message };
  }
}

/** Bytes of a file's beginning that tell what it may be. */
const headBytes = 4_096;

/** No more room than the file needs: most are small, and room costs. */
function fitting(file: number, { read }: Policy): LineLimits {
  const { size } = fstatSync(file);
  return { ...read, chunkBytes: Math.max(64, Math.min(read.chunkBytes, size + 1)) };
}

/** What a file holds: the first records tell which reader takes all of them. */
class Content implements LineTaker {
  source: { readonly reader: Reader; readonly reading: Reading } | null = null;
  readonly problems: Problems;
  private readonly path: string;
  private readonly readers: readonly Reader[];
  /** Records that no reader knows, until one is known: a transcript may begin with a few of those. */
  private readonly early: { readonly record: object; readonly line: number }[] = [];
  private tried = 0;

  constructor(path: string, resume: Resume | null, { readers, policy }: Options) {
    this.path = path;
    this.readers = readers;
    this.problems = new Problems(path, policy.keep.diagnostics);
    const reader = resume && readers.find(({ format }) => format === resume.format);
    if (reader) this.source = { reader, reading: reader.open(path, resume) };
  }

  /** Enough was seen to say that no reader knows this file. */
  get unknown(): boolean {
    return this.source === null && this.tried > mostTried;
  }

  /** It is not known to have more than one line. */
  get isOne(): boolean {
    return this.tried <= 1;
  }

  problem(code: DiagnosticCode, message: string, line: number): void {
    this.problems.add(code, message, line);
  }

  line(text: string, line: number): void {
    if (this.unknown || this.source?.reader.passesOver(text)) return;
    let record: unknown;
    try {
      record = JSON.parse(text);
    } catch {
      return this.takeBroken(text, line);
    }
    if (typeof record !== "object" || record === null || Array.isArray(record)) {
      this.tried++;
      this.problem("not-an-object", "holds no record; it was passed over", line);
    } else if (this.source) this.source.reading.take(record, line);
    else this.recognise(record, line);
  }

  private takeBroken(text: string, line: number): void {
    // The mark that some editors put before UTF-8.
    if (text.charCodeAt(0) === 0xfeff) return this.line(text.slice(1), line);
    this.tried++;
    if (text.trim() !== "") this.problem("invalid-json", "is not JSON; it was passed over", line);
  }

  private recognise(record: object, line: number): void {
    this.early.push({ record, line });
    this.tried++;
    const reader = this.readers.find((one) => one.recognises(record, this.path));
    if (!reader) return;
    const reading = reader.open(this.path, null);
    for (const one of this.early.splice(0)) reading.take(one.record, one.line);
    this.source = { reader, reading };
  }
}

/** Lines looked at before a file is given up as unknown. */
const mostTried = 200;

function pieceOf({ source, problems }: Content, lines: LineReader, last: boolean): Piece | null {
  if (source === null) return null;
  const { reader, reading } = source;
  return {
    format: reader.format,
    threads: [...reading.threads].map(([name, thread]) => ({
      name,
      facts: { ...thread.facts },
      counts: { ...thread.counts },
      events: thread.drain(),
    })),
    position: { offset: lines.offset, line: lines.line, digest: lines.digest() },
    state: reading.state(),
    diagnostics: problems.drain(),
    last,
    anew: false,
  };
}

/** What went wrong in a file: the first so many, and how many more. */
class Problems {
  private readonly path: string;
  private readonly most: number;
  private readonly kept: Diagnostic[] = [];
  private count = 0;

  constructor(path: string, most: number) {
    this.path = path;
    this.most = most;
  }

  add(code: DiagnosticCode, message: string, line: number): void {
    if (++this.count <= this.most)
      this.kept.push({ path: this.path, line, code, message: `line ${line} ${message}` });
    else if (this.count === this.most + 1) {
      this.kept.push({
        path: this.path,
        line,
        code: "more",
        message: `more lines like these follow line ${line}`,
      });
    }
  }

  drain(): Diagnostic[] {
    return this.kept.splice(0);
  }
}

/** Why a file that begins like this holds no text to read; null when it may. */
function notText(path: string, head: Buffer): Diagnostic | null {
  const because = (code: DiagnosticCode, message: string): Diagnostic => ({
    path,
    line: null,
    code,
    message,
  });
  if (head.length === 0) return because("empty", "is empty");
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) {
    return because("encoding", "is UTF-16; transcripts are UTF-8");
  }
  return head.subarray(0, 4_096).includes(0) ? because("binary", "is not text") : null;
}

function unknownFormat(path: string, { readers, documents, texts, databases }: Options): Diagnostic {
  const formats = [...readers, ...documents, ...texts, ...databases].map(({ format }) => format);
  const known = [...new Set(formats)].join(", ");
  return {
    path,
    line: null,
    code: "unknown-format",
    message: `is no session of a format that Knack reads (${known})`,
  };
}

/**
 * Whether a file or folder is told of by another one beside it: a part of a database, the messages of OpenCode's
 * sessions, a session of Gemini CLI that goes on in a file of the newer form.
 */
function isTold(name: string, names: ReadonlySet<string>): boolean {
  const database = /^(.+)-(?:wal|shm|journal)$/.exec(name)?.[1];
  if (database !== undefined && names.has(database)) return true;
  if (name.startsWith("session-") && name.endsWith(".json") && names.has(`${name}l`)) return true;
  return name !== "session" && ["session", "message", "part"].every((one) => names.has(one));
}

const passedOver = new Set(["node_modules", ".git", ".DS_Store"]);

async function find(
  paths: readonly string[],
  { passOver, documents }: Options,
): Promise<{ files: FoundFile[]; diagnostics: Diagnostic[] }> {
  const files = new Map<string, FoundFile>();
  const diagnostics: Diagnostic[] = [];
  const visit = (path: string): void => {
    try {
      const found = statSync(path);
      if (found.isFile()) files.set(path, { path, ...stampOf(path, found, documents) });
      else if (found.isDirectory()) visitFolder(path);
      else
        diagnostics.push({ path, line: null, code: "unreadable", message: "is neither a file nor a folder" });
    } catch (error) {
      diagnostics.push({
        path,
        line: null,
        code: "unreadable",
        message: `cannot be read: ${reasonOf(error)}`,
      });
    }
  };
  const visitFolder = (folder: string): void => {
    const entries = readdirSync(folder, { withFileTypes: true });
    const names = new Set(entries.map(({ name }) => name));
    for (const entry of entries) {
      // A link to a folder may lead back up.
      if (passedOver.has(entry.name) || entry.isSymbolicLink() || isTold(entry.name, names)) continue;
      if (passOver.includes(join(folder, entry.name))) continue;
      if (entry.isDirectory() || entry.isFile()) visit(join(folder, entry.name));
    }
  };
  for (const path of paths) visit(resolve(path));
  const newestFirst = [...files.values()].sort(
    (a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? -1 : 1),
  );
  return { files: newestFirst, diagnostics };
}

function isOfDatabase({ digest }: Position): boolean {
  return digest.startsWith(databaseDigest);
}

function isDatabaseError(error: unknown): error is Error {
  const code = error instanceof Error ? String((error as NodeJS.ErrnoException).code ?? "") : "";
  return (
    code.startsWith("SQLITE_") || (error instanceof Error && error.message.startsWith("ConnectionFailed"))
  );
}

/** What tells that a file has changed, and whatever else it is told in. */
function stampOf(
  path: string,
  { size, mtimeMs }: Stats,
  documents: readonly DocumentReader[],
): Pick<FoundFile, "size" | "modifiedAt"> {
  // What a database was last told waits in a file beside it.
  const beside = isDatabaseName(path)
    ? [`${path}-wal`]
    : documents.flatMap((reader) => reader.beside?.(path) ?? []);
  const stats = beside.flatMap((one) => statSync(one, { throwIfNoEntry: false }) ?? []);
  return stats.reduce(
    (sum, one) => ({ size: sum.size + one.size, modifiedAt: Math.max(sum.modifiedAt, one.mtimeMs) }),
    { size, modifiedAt: mtimeMs },
  );
}

/** The digest of a document that is told in other files too: its own bytes do not tell whether it has changed. */
function joined(digest: string, beside: readonly string[]): string {
  if (beside.length === 0) return digest;
  const hash = newDigest().update(digest);
  for (const path of beside) {
    const found = statSync(path, { throwIfNoEntry: false });
    hash.update(`${path} ${found?.size} ${found?.mtimeMs}`);
  }
  return `joined ${hash.digest("hex")}`;
}

function isDatabaseName(path: string): boolean {
  return /\.(?:db|sqlite3?)$/.test(path);
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  const sentences: Record<string, string> = {
    ENOENT: "there is no such file or folder",
    EACCES: "permission denied",
    EPERM: "permission denied",
    ELOOP: "too many links",
  };
  return sentences[code ?? ""] ?? (error instanceof Error ? error.message : String(error));
}
