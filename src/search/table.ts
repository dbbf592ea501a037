import { readSync } from "node:fs";
import { errorMessage } from "../base/index.ts";

/**
 * A key-value table in one run of bytes, for a process that starts anew each time and wants a few of many thousand
 * values: an index sorted by the hash of each key and searched on disk, then the values. Head, index and values have
 * checksums, so that bytes which a disk has changed are never taken for what was written.
 */

/** A table or index on disk is not as it was written. */
export class DamagedError extends Error {}

/** Reads bytes from an offset; fewer than asked where the file ends. */
type ReadAt = (offset: number, length: number) => Uint8Array;

export interface Table {
  /** The value stored beside the entries. */
  readonly head: unknown;
  /** The value of a key; undefined when there is none. Throws where it is damaged. */
  get(key: string): unknown;
  /** Like `get`, for a value stored as bytes. */
  bytes(key: string): Uint8Array | undefined;
}

const magic = "knack-table-3\n";
/** The magic line, then the length of the head, its checksum, how many slots the index has, and its checksum. */
const preamble = magic.length + 16;
/** The hash of a key, the offset of its row, the row's length, and its checksum. */
const slotBytes = 16;
/** A row is the length of its key, the key, and the value. */
const keySize = 4;
/** Slots that are read at once. */
const pageSlots = 1_024;
const damaged = "the table is damaged";

/** The bytes of a table. A value is anything that JSON knows, or bytes. */
export function encodeTable(head: unknown, entries: Iterable<readonly [string, unknown]>): Uint8Array[] {
  const encoder = new TextEncoder();
  const headBytes = encoder.encode(JSON.stringify(head));
  // One by one: all values at once may be several times as large as their bytes.
  const byKey = new Map<string, { readonly hash: number; readonly bytes: Uint8Array }>();
  for (const [key, value] of entries)
    byKey.set(key, { hash: hashKey(key), bytes: encodeRow(key, value, (text) => encoder.encode(text)) });
  const rows = [...byKey.values()];
  rows.sort((a, b) => a.hash - b.hash);
  const index = new DataView(new ArrayBuffer(rows.length * slotBytes));
  let offset = preamble + headBytes.length + index.byteLength;
  rows.forEach(({ hash, bytes }, n) => {
    setNumbers(index, n * slotBytes, [hash, offset, bytes.length, checksum(bytes)]);
    offset += bytes.length;
  });
  const slots = new Uint8Array(index.buffer);
  const start = new Uint8Array(preamble);
  start.set(encoder.encode(magic));
  const sizes = new DataView(start.buffer, magic.length);
  setNumbers(sizes, 0, [headBytes.length, checksum(headBytes), rows.length, checksum(slots)]);
  return [start, headBytes, slots, ...rows.map(({ bytes }) => bytes)];
}

function setNumbers(view: DataView, offset: number, numbers: readonly number[]): void {
  for (const [at, number] of numbers.entries()) view.setUint32(offset + at * 4, number);
}

function encodeRow(key: string, value: unknown, encode: (text: string) => Uint8Array): Uint8Array {
  const name = encode(JSON.stringify(key));
  const content = value instanceof Uint8Array ? value : encode(JSON.stringify(value));
  const row = new Uint8Array(keySize + name.length + content.length);
  new DataView(row.buffer).setUint32(0, name.length);
  row.set(name, keySize);
  row.set(content, keySize + name.length);
  return row;
}

/** Verifies every byte of a table; returns what is damaged, or null. */
export function findTableFault(bytes: Uint8Array): string | null {
  try {
    openTable((at, length) => bytes.subarray(at, at + length));
    const sizes = viewOf(bytes.subarray(magic.length, preamble));
    const [headLength, count] = [sizes.getUint32(0), sizes.getUint32(8)];
    const start = preamble + headLength;
    const slots = bytes.subarray(start, start + count * slotBytes);
    if (slots.length !== count * slotBytes || checksum(slots) !== sizes.getUint32(12)) return damaged;
    const view = viewOf(slots);
    let end = start + slots.length;
    for (let at = 0; at < view.byteLength; at += slotBytes) {
      const row = bytes.subarray(end, end + view.getUint32(at + 8));
      if (view.getUint32(at + 4) !== end || checksum(row) !== view.getUint32(at + 12)) return damaged;
      end += view.getUint32(at + 8);
    }
    return end === bytes.length ? null : damaged;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Opens a table that can be read at any offset. Throws if it is not a table, is truncated or damaged. */
export function openTable(read: ReadAt): Table {
  const decoder = new TextDecoder();
  const readExactly = (at: number, length: number): Uint8Array => {
    const bytes = read(at, length);
    if (bytes.length !== length) throw new DamagedError("the table is cut short");
    return bytes;
  };
  const readChecked = (at: number, length: number, sum: number) => {
    const bytes = readExactly(at, length);
    if (checksum(bytes) !== sum) throw new DamagedError(damaged);
    return bytes;
  };
  const start = readExactly(0, preamble);
  if (decoder.decode(start.subarray(0, magic.length)) !== magic) throw new DamagedError("this is no table");
  const sizes = viewOf(start.subarray(magic.length));
  const [headLength, headSum, count] = [sizes.getUint32(0), sizes.getUint32(4), sizes.getUint32(8)];
  const pages = new Map<number, DataView>();
  const pageAt = (n: number): DataView => {
    const from = n * pageSlots;
    const offset = preamble + headLength + from * slotBytes;
    const page = pages.get(n) ?? viewOf(readExactly(offset, Math.min(pageSlots, count - from) * slotBytes));
    pages.set(n, page);
    return page;
  };
  const bytes = (key: string): Uint8Array | undefined => {
    let found: Uint8Array | undefined;
    // Two keys may have one hash.
    findSlot(hashKey(key), count, pageAt, (slots, at) => {
      const row = readChecked(slots.getUint32(at + 4), slots.getUint32(at + 8), slots.getUint32(at + 12));
      const end = keySize + viewOf(row).getUint32(0);
      if (JSON.parse(decoder.decode(row.subarray(keySize, end))) === key) found = row.subarray(end);
      return found !== undefined;
    });
    return found;
  };
  return {
    head: JSON.parse(decoder.decode(readChecked(preamble, headLength, headSum))),
    bytes,
    get: (key) => {
      const content = bytes(key);
      return content === undefined ? undefined : JSON.parse(decoder.decode(content));
    },
  };
}

/** Calls for the slots with a hash, each a page of the index and an offset in it, until one is the right one. */
function findSlot(
  hash: number,
  count: number,
  pageAt: (n: number) => DataView,
  isRight: (slots: DataView, at: number) => boolean,
): void {
  const pages = Math.ceil(count / pageSlots);
  // Hashes are spread evenly, so the first guess is mostly right or next to it.
  let n = Math.max(0, Math.min(pages - 1, Math.floor(((hash / 2 ** 32) * count) / pageSlots)));
  while (n > 0 && pageAt(n).getUint32(0) >= hash) n--;
  for (; n < pages; n++) {
    const page = pageAt(n);
    let [low, high] = [0, page.byteLength / slotBytes];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (page.getUint32(middle * slotBytes) < hash) low = middle + 1;
      else high = middle;
    }
    for (let at = low * slotBytes; at < page.byteLength; at += slotBytes)
      if (page.getUint32(at) !== hash || isRight(page, at)) return;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * The rest of the bytes, taken as one number, divided by a prime: one changed byte always changes it. A process that has
 * just started interprets its code, or compiles it when a loop is hot; this has no loop of its own.
 */
function checksum(bytes: Uint8Array): number {
  return Number(readNumber(bytes) % prime);
}

/** Spread evenly over 32 bits: keys that differ in a letter lie far apart. */
function hashKey(key: string): number {
  return Number((readNumber(Buffer.from(key)) * spread) % prime);
}

/** A leading one keeps the zeros at the beginning apart. */
function readNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x1${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`);
}

/** The largest prime of 32 bits, and a number that has nothing to do with it. */
const prime = 4_294_967_291n;
const spread = 2_654_435_769n;

/** Reads an open file of some size at any offset. */
export function readFileAt(file: number, size: number): ReadAt {
  return (at, length) => {
    // A damaged file may ask for gigabytes that it does not have.
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - at)));
    const read = readSync(file, bytes, 0, bytes.length, at);
    return read === bytes.length ? bytes : bytes.subarray(0, read);
  };
}
