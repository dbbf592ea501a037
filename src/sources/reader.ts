import type { Json } from "../core/json.ts";
import type { Format } from "../core/session.ts";
import type { ReadingState, Resume } from "../engine/ports.ts";
import type { Thread } from "./thread.ts";
import type { Threads } from "./threads.ts";

/** A file being read, record by record. */
export interface Reading {
  /** The sessions found so far, by their name within the file; a file of one session uses "". */
  readonly threads: ReadonlyMap<string, Thread>;
  take(record: unknown, line: number): void;
  state(): ReadingState;
}

/** Knows one transcript format. A new one is a file beside this one and a line in `index.ts`. */
export interface Reader {
  readonly format: Format;
  /** Whether a record from the head of a file is of this format. */
  recognises(record: unknown, path?: string): boolean;
  /** Whether a line, by how it begins, holds nothing for this reader: most need no parsing to be passed over. */
  passesOver(text: string): boolean;
  open(path: string, resume: Resume | null): Reading;
}

/** Knows a format whose file is one document: it is read whole, and anew whenever it has changed. */
export interface DocumentReader {
  readonly format: Format;
  recognises(document: Json): boolean;
  /** Puts the sessions that a document holds into threads: `threads.named("")` where it is one. */
  read(document: Json, threads: Threads, path: string): void;
  /** The files that a document of this path would be told in besides: when one changes, so has the document. */
  beside?(path: string): readonly string[];
}

/** Knows a format that is plain text: it is read whole, and anew whenever it has changed. */
export interface TextReader {
  readonly format: Format;
  /** Whether a text that begins like this is of this format. */
  recognises(head: string): boolean;
  read(text: string, threads: Threads, path: string): void;
}

/** A database of another program, opened to be looked at. */
export interface Database {
  query(sql: string, ...values: readonly string[]): Iterable<Readonly<Record<string, unknown>>>;
  close(): void;
}

/** Knows a format that is a database of many sessions. One of them is read whole, and anew when it has changed. */
export interface DatabaseReader {
  readonly format: Format;
  /** Whether a database with tables of these names is of this format. */
  recognises(tables: ReadonlySet<string>): boolean;
  /** The sessions that it holds, each with something that is another when the session has changed. */
  sessions(database: Database): readonly { readonly name: string; readonly stamp: string }[];
  read(database: Database, session: string, thread: Thread): void;
}

/** No agent wrote a transcript before or after these. */
const [earliest, latest] = [Date.UTC(2000), Date.UTC(2200)];

/** Milliseconds of an ISO time, or of a number that is one; null for what cannot be when something happened. */
export function timeOf(value: unknown): number | null {
  const at = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return at >= earliest && at < latest ? Math.trunc(at) : null;
}
