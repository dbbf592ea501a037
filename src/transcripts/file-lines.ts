import { isUtf8 } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import { fstatSync, readSync } from "node:fs";
import type { DiagnosticCode, ReadPosition } from "../records/index.ts";

/** Bytes fetched from a file at a time. */
const chunkBytes = 1 << 20;
/** A longer line is reported and skipped: no agent writes one, and holding it would cost the memory of thousands. */
const lineBytes = 16 << 20;

/** What is done with each line, and with a problem in one. */
export interface LineTaker {
  line(text: string, line: number): void;
  problem(code: DiagnosticCode, message: string, line: number): void;
}

const newline = 0x0a;

/**
 * Reads a file line by line from a position, a chunk at a time; the offset is always that of a line's start.
 * Chunks are read synchronously: the trip to a thread and back costs more than the chunk, and small files are many.
 */
export class FileLines {
  offset: number;
  line: number;
  /** The rest of a line that is too long is being skipped: no place to stop at. */
  skipping = false;
  private readonly file: number;
  /** Of all bytes up to the offset. */
  private readonly hash: Hash;
  private buffer: Buffer;
  private filled = 0;
  private scanned = 0;
  /** Bytes of the line at the offset that are no longer in the buffer. */
  private skipped = 0;

  constructor(file: number, from: ReadPosition | null) {
    this.file = file;
    this.offset = from?.offset ?? 0;
    this.line = from?.line ?? 0;
    // A last line that was taken without its newline: what is left of it does not count as another.
    if (!endsLine(file, this.offset)) this.line--;
    this.hash = hashStart(file, this.offset) ?? createHash("sha1");
    // No more room than the file needs: most are small, and room costs.
    this.buffer = Buffer.allocUnsafe(Math.max(64, Math.min(chunkBytes, fstatSync(file).size + 1)));
  }

  /** Fetches one more chunk; false when the file has no more. */
  fill(): boolean {
    if (this.filled === this.buffer.length) this.makeRoom();
    const room = this.buffer.length - this.filled;
    const from = this.offset + this.skipped + this.filled;
    const bytesRead = readSync(this.file, this.buffer, this.filled, room, from);
    this.filled += bytesRead;
    // Only the end of a file answers with less than was asked for.
    return bytesRead === room;
  }

  /** The first bytes that were fetched and not yet taken. */
  peek(bytes: number): Buffer {
    return this.buffer.subarray(0, Math.min(bytes, this.filled));
  }

  position(): ReadPosition {
    return { offset: this.offset, line: this.line, digest: this.hash.copy().digest("hex") };
  }

  /** Takes every whole line that was fetched. */
  take(taker: LineTaker): void {
    let start = 0;
    let end = this.buffer.indexOf(newline, this.scanned);
    while (end >= 0 && end < this.filled) {
      this.line++;
      if (this.skipping) this.endSkipping(taker);
      else this.takeLine(start, end, taker);
      start = end + 1;
      end = this.buffer.indexOf(newline, start);
    }
    this.consume(start);
  }

  /** What stands after the last newline: a whole record, or one that the agent is still writing. */
  finish(taker: LineTaker): void {
    if (this.skipping) {
      this.line++;
      this.endSkipping(taker);
      this.offset += this.skipped;
      this.skipped = 0;
      return this.consume(this.filled);
    }
    const text = this.buffer.toString("utf8", 0, this.filled);
    if (text.trim() !== "") {
      if (!isJson(text)) {
        const message = "ends in the middle of a record; it is read again when the file grows";
        return taker.problem("cut-line", message, this.line + 1);
      }
      this.line++;
      this.takeLine(0, this.filled, taker);
    }
    this.consume(this.filled);
  }

  private takeLine(start: number, end: number, taker: LineTaker): void {
    const text = this.buffer.toString("utf8", start, end);
    if (text.includes("\uFFFD") && !isUtf8(this.buffer.subarray(start, end)))
      taker.problem("encoding", "has bytes that are not UTF-8; they were replaced", this.line);
    taker.line(text, this.line);
  }

  private consume(bytes: number): void {
    if (bytes > 0) {
      this.hash.update(this.buffer.subarray(0, bytes));
      this.buffer.copyWithin(0, bytes, this.filled);
      this.filled -= bytes;
      this.offset += this.skipped + bytes;
      this.skipped = 0;
    }
    this.scanned = this.filled;
  }

  /** A line longer than the buffer: a larger buffer up to the limit, then the line is skipped chunk by chunk. */
  private makeRoom(): void {
    if (!this.skipping && this.buffer.length < lineBytes) {
      const larger = Buffer.allocUnsafe(Math.min(this.buffer.length * 2, lineBytes));
      this.buffer.copy(larger, 0, 0, this.filled);
      this.buffer = larger;
      return;
    }
    this.hash.update(this.buffer.subarray(0, this.filled));
    this.skipping = true;
    this.skipped += this.filled;
    [this.filled, this.scanned] = [0, 0];
    if (this.buffer.length > chunkBytes) this.buffer = Buffer.allocUnsafe(chunkBytes);
  }

  private endSkipping(taker: LineTaker): void {
    this.skipping = false;
    taker.problem("line-too-long", "is longer than 16 MB; it was skipped", this.line);
  }
}

function endsLine(file: number, offset: number): boolean {
  const before = Buffer.alloc(1, newline);
  if (offset > 0) readSync(file, before, 0, 1, offset - 1);
  return before[0] === newline;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The hash of a file's first bytes, to which more can be added; null when it has fewer. */
export function hashStart(file: number, bytes: number): Hash | null {
  const hash = createHash("sha1");
  const buffer = Buffer.allocUnsafe(Math.min(bytes, chunkBytes));
  for (let at = 0; at < bytes; ) {
    const bytesRead = readSync(file, buffer, 0, Math.min(buffer.length, bytes - at), at);
    if (bytesRead === 0) return null;
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash;
}
