import { closeSync, fstatSync, openSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { policy as defaults, type Policy } from "../core/policy.ts";
import type { Diagnostic, DiagnosticCode } from "../core/session.ts";
import type { FoundFile, Piece, Position, Resume, Transcripts } from "../engine/ports.ts";
import { readers as allReaders } from "./index.ts";
import { digestOf, type LineLimits, LineReader, type LineTaker, newDigest } from "./lines.ts";
import type { Reader, Reading } from "./reader.ts";

interface Options {
  readonly readers: readonly Reader[];
  readonly policy: Policy;
  /** Whether positions carry a digest, so that a rewritten file is noticed later. */
  readonly digests: boolean;
  /** Folders that are not entered on the way: Knack must not read itself. */
  readonly passOver: readonly string[];
}

/** Transcripts on this machine's disk. */
export function createTranscripts(options: Partial<Options> = {}): Transcripts {
  const all = { readers: allReaders, policy: defaults, digests: true, passOver: [], ...options };
  return {
    find: (paths) => find(paths, all.passOver),
    unchanged: async (path, position) => unchanged(path, position),
    read: (path, resume) => read(path, resume, all),
  };
}

function unchanged(path: string, { offset, digest }: Position): boolean {
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
    yield* pieces(file, path, resume, options);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    yield nothing({ path, line: null, code: "unreadable", message: `cannot be read: ${reasonOf(error)}` });
  } finally {
    closeSync(file);
  }
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
  };
}

async function* pieces(
  file: number,
  path: string,
  resume: Resume | null,
  options: Options,
): AsyncGenerator<Piece> {
  const { policy, digests } = options;
  const from = resume?.position ?? { offset: 0, line: 0 };
  const hash = digests ? (digestOf(file, from.offset) ?? newDigest()) : null;
  const lines = new LineReader(file, fitting(file, policy), from, hash);
  const content = new Content(path, resume, options);
  let sent = from.offset;
  for (let first = true, more = true; more; first = false) {
    more = lines.fill();
    const wrong = first && resume === null ? notText(path, lines.waiting) : null;
    if (wrong) return yield nothing(wrong);
    lines.take(content);
    if (content.unknown) break;
    if (!more || lines.skipping || lines.offset - sent < policy.read.pieceBytes) continue;
    const piece = pieceOf(content, lines, false);
    if (piece) yield piece;
    sent = lines.offset;
  }
  if (!content.unknown) lines.finish(content);
  yield pieceOf(content, lines, true) ?? nothing(unknownFormat(path, options));
}

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
    const reader = this.readers.find((one) => one.recognises(record));
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

function unknownFormat(path: string, { readers }: Options): Diagnostic {
  const known = readers.map(({ format }) => format).join(", ");
  return {
    path,
    line: null,
    code: "unknown-format",
    message: `is no session of a format that Knack reads (${known})`,
  };
}

const passedOver = new Set(["node_modules", ".git", ".DS_Store"]);

async function find(
  paths: readonly string[],
  passOver: readonly string[],
): Promise<{ files: FoundFile[]; diagnostics: Diagnostic[] }> {
  const files = new Map<string, FoundFile>();
  const diagnostics: Diagnostic[] = [];
  const visit = (path: string): void => {
    try {
      const found = statSync(path);
      if (found.isFile()) files.set(path, { path, size: found.size, modifiedAt: found.mtimeMs });
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
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      // A link to a folder may lead back up.
      if (passedOver.has(entry.name) || entry.isSymbolicLink()) continue;
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
