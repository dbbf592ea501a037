import { isUtf8 } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import { readSync } from "node:fs";
import type { DiagnosticCode } from "../core/session.ts";

export interface LineLimits {
  readonly chunkBytes: number;
  readonly lineBytes: number;
}

/** What is done with each line, and with what is wrong with one. */
export interface LineTaker {
  line(text: string, line: number): void;
  problem(code: DiagnosticCode, message: string, line: number): void;
}

const newline = 0x0a;

/**
 * Reads a file line by line from a place in it, a chunk at a time; the offset is always that of a line's start.
 * Chunks are read synchronously: the trip to a thread and back costs more than the chunk, and small files are many.
 */
export class LineReader {
  offset: number;
  line: number;
  /** Of all bytes up to the offset; null when nobody asks for it. */
  private readonly hash: Hash | null;
  private buffer: Buffer;
  private filled = 0;
  private scanned = 0;
  /** Bytes of the line at the offset that are no longer in the buffer. */
  private skipped = 0;
  private passing = false;
  private readonly file: number;
  private readonly limits: LineLimits;

  constructor(file: number, limits: LineLimits, from: { offset: number; line: number }, hash: Hash | null) {
    this.file = file;
    this.limits = limits;
    this.offset = from.offset;
    // A last line that was taken without its newline: what is left of it does not count as another.
    this.line = endsLine(file, from.offset) ? from.line : from.line - 1;
    this.hash = hash;
    this.buffer = Buffer.allocUnsafe(limits.chunkBytes);
  }

  /** Fetches one more chunk; false when the file has no more. */
  fill(): boolean {
    if (this.filled === this.buffer.length) this.makeRoom();
    const room = this.buffer.length - this.filled;
    const bytesRead = readSync(
      this.file,
      this.buffer,
      this.filled,
      room,
      this.offset + this.skipped + this.filled,
    );
    this.filled += bytesRead;
    // Only the end of a file answers with less than was asked for.
    return bytesRead === room;
  }

  /** What was fetched and not yet taken. */
  get waiting(): Buffer {
    return this.buffer.subarray(0, this.filled);
  }

  /** In the middle of a line that is passed over: no place to stop at. */
  get skipping(): boolean {
    return this.passing;
  }

  digest(): string {
    return this.hash?.copy().digest("hex") ?? "";
  }

  /** Takes every whole line that was fetched. */
  take(taker: LineTaker): void {
    let start = 0;
    let end = this.buffer.indexOf(newline, this.scanned);
    while (end >= 0 && end < this.filled) {
      this.line++;
      if (this.passing) this.endSkipping(taker);
      else this.takeLine(start, end, taker);
      start = end + 1;
      end = this.buffer.indexOf(newline, start);
    }
    this.consume(start);
  }

  private takeLine(start: number, end: number, taker: LineTaker): void {
    const text = this.buffer.toString("utf8", start, end);
    if (text.includes("\uFFFD") && !isUtf8(this.buffer.subarray(start, end))) {
      taker.problem("encoding", "has bytes that are not UTF-8; they were replaced", this.line);
    }
    taker.line(text, this.line);
  }

  private consume(bytes: number): void {
    if (bytes > 0) {
      this.hash?.update(this.buffer.subarray(0, bytes));
      this.buffer.copyWithin(0, bytes, this.filled);
      this.filled -= bytes;
      this.offset += this.skipped + bytes;
      this.skipped = 0;
    }
    this.scanned = this.filled;
  }

  /** A line longer than the buffer: a larger one up to the limit, then the line is passed over piece by piece. */
  private makeRoom(): void {
    if (!this.passing && this.buffer.length < this.limits.lineBytes) {
      const larger = Buffer.allocUnsafe(Math.min(this.buffer.length * 2, this.limits.lineBytes));
      this.buffer.copy(larger, 0, 0, this.filled);
      this.buffer = larger;
      return;
    }
    this.hash?.update(this.buffer.subarray(0, this.filled));
    this.passing = true;
    this.skipped += this.filled;
    this.filled = 0;
    this.scanned = 0;
    if (this.buffer.length > this.limits.chunkBytes) this.buffer = Buffer.allocUnsafe(this.limits.chunkBytes);
  }

  private endSkipping(taker: LineTaker): void {
    this.passing = false;
    const limit = Math.round(this.limits.lineBytes / 2 ** 20);
    taker.problem("line-too-long", `is longer than ${limit} MB; it was passed over`, this.line);
  }

  /** What stands after the last newline: a whole record, or one that the agent is still writing. */
  finish(taker: LineTaker): void {
    if (this.passing) {
      this.line++;
      this.endSkipping(taker);
      this.hash?.update(this.waiting);
      this.offset += this.skipped + this.filled;
      [this.skipped, this.filled, this.scanned] = [0, 0, 0];
      return;
    }
    const text = this.buffer.toString("utf8", 0, this.filled);
    if (text.trim() === "") return this.consume(this.filled);
    if (!isJson(text)) {
      taker.problem(
        "cut-line",
        "ends in the middle of a record; it is read again when the file grows",
        this.line + 1,
      );
      return;
    }
    this.line++;
    this.takeLine(0, this.filled, taker);
    this.consume(this.filled);
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

/** A digest to which the bytes of a file are added as they are read. */
export function newDigest(): Hash {
  return createHash("sha1");
}

/** The digest of a file's first bytes; null when it has fewer. */
export function digestOf(file: number, bytes: number): Hash | null {
  const hash = newDigest();
  const buffer = Buffer.allocUnsafe(1 << 20);
  let at = 0;
  while (at < bytes) {
    const bytesRead = readSync(file, buffer, 0, Math.min(buffer.length, bytes - at), at);
    if (bytesRead === 0) return null;
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash;
}
