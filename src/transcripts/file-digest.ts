import { createHash, type Hash } from "node:crypto";
import { readSync } from "node:fs";
import type { ReadPosition } from "../records/index.ts";

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
export class FileDigest {
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
export function isSameStart(file: number, position: ReadPosition): boolean {
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
