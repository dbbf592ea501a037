import { messageIn } from "./errors.ts";
/**
 * A table of values in one run of bytes, for a reader that starts anew each time and wants two or three of many
 * thousand: an index sorted by the hash of each key, searched where it lies, then the values one after the other.
 * Head, index and values have a sum, so that bytes which a disk has changed are never taken for what was written.
 */

/** What was read is not what was written. */
export class Damaged extends Error {}

/** Reads bytes from a place; fewer than asked where the file ends. */
export type ReadAt = (at: number, length: number) => Uint8Array;

export interface Table {
  /** What was noted beside the entries. */
  readonly head: unknown;
  /** The value of a key; undefined when there is none. */
  get(key: string): unknown;
  /** The same for a value that is a run of bytes. */
  bytes(key: string): Uint8Array | undefined;
  /** Every key with the bytes of its value. */
  entries(): Iterable<readonly [string, Uint8Array]>;
}

const magic = "knack-table-2\n";
/** The magic line, then how many bytes the head has, their sum, how many entries the index has, and its sum. */
const preamble = magic.length + 16;
/** The hash of a key, where its entry stands, how many bytes it has, and their sum. */
const slotBytes = 16;
/** Before the bytes of a value stands its key, and before that how many bytes the key has. */
const keySize = 4;
/** Slots that are read at once. */
const page = 1_024;

/** The bytes of a table. A value is anything that JSON knows, or a run of bytes. */
export function layOut(head: unknown, entries: ReadonlyMap<string, unknown>): Uint8Array[] {
  const encoder = new TextEncoder();
  const encode = (text: string) => encoder.encode(text);
  const headBytes = encode(JSON.stringify(head));
  const rows = [...entries].map(([key, value]) => ({ hash: hashOf(key), bytes: rowOf(key, value, encode) }));
  rows.sort((a, b) => a.hash - b.hash);
  const index = new DataView(new ArrayBuffer(rows.length * slotBytes));
  let at = preamble + headBytes.length + index.byteLength;
  rows.forEach(({ hash, bytes }, n) => {
    index.setUint32(n * slotBytes, hash);
    index.setUint32(n * slotBytes + 4, at);
    index.setUint32(n * slotBytes + 8, bytes.length);
    index.setUint32(n * slotBytes + 12, sumOf(bytes));
    at += bytes.length;
  });
  const slots = new Uint8Array(index.buffer);
  const start = new Uint8Array(preamble);
  start.set(encode(magic));
  const sizes = new DataView(start.buffer, magic.length);
  sizes.setUint32(0, headBytes.length);
  sizes.setUint32(4, sumOf(headBytes));
  sizes.setUint32(8, rows.length);
  sizes.setUint32(12, sumOf(slots));
  return [start, headBytes, slots, ...rows.map(({ bytes }) => bytes)];
}

function rowOf(key: string, value: unknown, encode: (text: string) => Uint8Array): Uint8Array {
  const name = encode(JSON.stringify(key));
  const content = value instanceof Uint8Array ? value : encode(JSON.stringify(value));
  const row = new Uint8Array(keySize + name.length + content.length);
  new DataView(row.buffer).setUint32(0, name.length);
  row.set(name, keySize);
  row.set(content, keySize + name.length);
  return row;
}

/** What is wrong with the bytes of a table, one and all; null when they are as they were laid out. */
export function faultIn(bytes: Uint8Array): string | null {
  try {
    const { entries } = openTable((at, length) => bytes.subarray(at, at + length));
    const sizes = viewOf(bytes.subarray(magic.length, preamble));
    const [headLength, count] = [sizes.getUint32(0), sizes.getUint32(8)];
    const slots = bytes.subarray(preamble + headLength, preamble + headLength + count * slotBytes);
    if (sumOf(slots) !== sizes.getUint32(12)) return damaged;
    for (const _ of entries());
    const last = viewOf(slots).byteLength - slotBytes;
    const end = count === 0 ? preamble + headLength : endOf(viewOf(slots), last);
    return end === bytes.length ? null : damaged;
  } catch (error) {
    return messageIn(error);
  }
}

const damaged = "the table is damaged";

function endOf(slots: DataView, at: number): number {
  return slots.getUint32(at + 4) + slots.getUint32(at + 8);
}

/** Opens a table that can be read at any place. Throws for what is no table, is cut short or damaged; so does `get`. */
export function openTable(read: ReadAt): Table {
  const decoder = new TextDecoder();
  const exactly = (at: number, length: number): Uint8Array => {
    const bytes = read(at, length);
    if (bytes.length !== length) throw new Damaged("the table is cut short");
    return bytes;
  };
  const summed = (at: number, length: number, sum: number) => {
    const bytes = exactly(at, length);
    if (sumOf(bytes) !== sum) throw new Damaged(damaged);
    return bytes;
  };
  const start = exactly(0, preamble);
  if (decoder.decode(start.subarray(0, magic.length)) !== magic) throw new Damaged("this is no table");
  const sizes = viewOf(start.subarray(magic.length));
  const [headLength, headSum, count] = [sizes.getUint32(0), sizes.getUint32(4), sizes.getUint32(8)];
  const slotsAt = preamble + headLength;
  const pages = new Map<number, DataView>();
  const pageAt = (n: number): DataView => {
    const known = pages.get(n);
    if (known) return known;
    const from = n * page;
    const some = viewOf(exactly(slotsAt + from * slotBytes, Math.min(page, count - from) * slotBytes));
    pages.set(n, some);
    return some;
  };
  const rowBytesAt = (slot: DataView, at: number): Uint8Array =>
    summed(slot.getUint32(at + 4), slot.getUint32(at + 8), slot.getUint32(at + 12));
  const rowAt = (slot: DataView, at: number): readonly [string, Uint8Array] => {
    const row = rowBytesAt(slot, at);
    const end = keySize + viewOf(row).getUint32(0);
    return [JSON.parse(decoder.decode(row.subarray(keySize, end))), row.subarray(end)];
  };
  // Two keys may have one hash.
  const bytes = (key: string): Uint8Array | undefined => {
    let found: Uint8Array | undefined;
    findSlot(hashOf(key), count, pageAt, (slots, at) => {
      const [name, content] = rowAt(slots, at);
      if (name === key) found = content;
      return found !== undefined;
    });
    return found;
  };
  const text = (key: string): string | undefined => {
    const name = JSON.stringify(key);
    let found: string | undefined;
    findSlot(hashOf(key), count, pageAt, (slots, at) => {
      // Where a key ends is seen from itself, so that it can be decoded together with its value.
      const row = decoder.decode(rowBytesAt(slots, at).subarray(keySize));
      if (row.startsWith(name)) found = row.slice(name.length);
      return found !== undefined;
    });
    return found;
  };
  return {
    head: JSON.parse(decoder.decode(summed(preamble, headLength, headSum))),
    bytes,
    get: (key) => {
      const content = text(key);
      return content === undefined ? undefined : JSON.parse(content);
    },
    entries: function* () {
      for (let n = 0; n * page < count; n++) {
        const some = pageAt(n);
        for (let at = 0; at < some.byteLength; at += slotBytes) yield rowAt(some, at);
      }
    },
  };
}

/** Calls for the slots with a hash, each a page of the index and a place in it, until one is the right one. */
function findSlot(
  hash: number,
  count: number,
  pageAt: (n: number) => DataView,
  isRight: (slots: DataView, at: number) => boolean,
): void {
  const pages = Math.ceil(count / page);
  // Hashes are spread evenly, so the first guess is mostly right or next to it.
  let n = Math.max(0, Math.min(pages - 1, Math.floor(((hash / 2 ** 32) * count) / page)));
  while (n > 0 && pageAt(n).getUint32(0) >= hash) n--;
  for (; n < pages; n++) {
    const some = pageAt(n);
    const first = firstAtLeast(hash, some.byteLength / slotBytes, (at) => some.getUint32(at * slotBytes));
    for (let at = first * slotBytes; at < some.byteLength; at += slotBytes)
      if (some.getUint32(at) !== hash || isRight(some, at)) return;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The first of so many ascending numbers that is not below one. */
function firstAtLeast(wanted: number, count: number, numberAt: (n: number) => number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numberAt(middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** FNV-1a over the bytes, four at a time, 32 bits: one changed byte always changes it. */
function sumOf(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  const whole = bytes.length - (bytes.length % 4);
  const { imul } = Math;
  let sum = 0x811c9dc5;
  let at = 0;
  // A process that has just started interprets this: the fewer steps, the better.
  for (; at + 16 <= whole; at += 16) {
    sum = imul(imul(sum ^ view.getInt32(at), prime) ^ view.getInt32(at + 4), prime);
    sum = imul(imul(sum ^ view.getInt32(at + 8), prime) ^ view.getInt32(at + 12), prime);
  }
  for (; at < whole; at += 4) sum = imul(sum ^ view.getInt32(at), prime);
  for (; at < bytes.length; at++) sum = imul(sum ^ view.getUint8(at), prime);
  return sum >>> 0;
}

const prime = 0x01000193;

/** The same over the characters. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), prime);
  return hash >>> 0;
}
