/**
 * A table of JSON values in one run of bytes, for a reader that starts anew each time and wants two or three of many
 * thousand: an index sorted by the hash of each key, searched where it lies, then the values one after the other, and
 * a sum of all that, for whoever has the time to look at the whole.
 */

/** Reads bytes from a place; fewer than asked where the file ends. */
export type ReadAt = (at: number, length: number) => Uint8Array;

export interface Table {
  /** What was noted beside the entries. */
  readonly head: unknown;
  /** The value of a key; undefined when there is none. */
  get(key: string): unknown;
}

const magic = "knack-table-1\n";
/** The magic line, then how many bytes the head has and how many entries the index has. */
const preamble = magic.length + 8;
/** The hash of a key, where its value stands, and how many bytes it has. */
const slotBytes = 12;
const sumBytes = 4;

/** The bytes of a table. */
export function layOut(head: unknown, entries: ReadonlyMap<string, unknown>): Uint8Array[] {
  const encoder = new TextEncoder();
  const headBytes = encoder.encode(JSON.stringify(head));
  const values = [...entries].map(([key, value]) => ({
    hash: hashOf(key),
    bytes: encoder.encode(JSON.stringify([key, value])),
  }));
  values.sort((a, b) => a.hash - b.hash);
  const index = new DataView(new ArrayBuffer(values.length * slotBytes));
  let at = preamble + headBytes.length + index.byteLength;
  values.forEach(({ hash, bytes }, n) => {
    index.setUint32(n * slotBytes, hash);
    index.setUint32(n * slotBytes + 4, at);
    index.setUint32(n * slotBytes + 8, bytes.length);
    at += bytes.length;
  });
  const start = new Uint8Array(preamble);
  start.set(encoder.encode(magic));
  const sizes = new DataView(start.buffer, magic.length);
  sizes.setUint32(0, headBytes.length);
  sizes.setUint32(4, values.length);
  const parts = [start, headBytes, new Uint8Array(index.buffer), ...values.map(({ bytes }) => bytes)];
  const sum = new Uint8Array(sumBytes);
  viewOf(sum).setUint32(0, sumOf(parts));
  return [...parts, sum];
}

/** What is wrong with the bytes of a table; null when they are as they were laid out. */
export function faultIn(bytes: Uint8Array): string | null {
  const end = bytes.length - sumBytes;
  const isTable = end >= preamble && new TextDecoder().decode(bytes.subarray(0, magic.length)) === magic;
  if (!isTable) return "it is no table";
  const sum = viewOf(bytes.subarray(end)).getUint32(0);
  return sum === sumOf([bytes.subarray(0, end)]) ? null : "its bytes are not those that were written";
}

/** Opens a table that can be read at any place. Throws for what is no table, or is cut short. */
export function openTable(read: ReadAt): Table {
  const decoder = new TextDecoder();
  const exactly = (at: number, length: number): Uint8Array => {
    const bytes = read(at, length);
    if (bytes.length !== length) throw new Error("the table is cut short");
    return bytes;
  };
  const start = exactly(0, preamble);
  if (decoder.decode(start.subarray(0, magic.length)) !== magic) throw new Error("this is no table");
  const sizes = viewOf(start.subarray(magic.length));
  const [headLength, count] = [sizes.getUint32(0), sizes.getUint32(4)];
  const indexAt = preamble + headLength;
  const slot = (n: number) => viewOf(exactly(indexAt + n * slotBytes, slotBytes));
  return {
    head: JSON.parse(decoder.decode(exactly(preamble, headLength))),
    get: (key) => {
      const hash = hashOf(key);
      for (let n = firstAtLeast(hash, count, (one) => slot(one).getUint32(0)); n < count; n++) {
        const found = slot(n);
        if (found.getUint32(0) !== hash) return undefined;
        // Two keys may have one hash.
        const [name, value] = JSON.parse(decoder.decode(exactly(found.getUint32(4), found.getUint32(8))));
        if (name === key) return value;
      }
      return undefined;
    },
  };
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

/** FNV-1a over the characters, 32 bits. */
function hashOf(key: string): number {
  let hash = basis;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), prime);
  return hash >>> 0;
}

/** The same over bytes. */
function sumOf(parts: readonly Uint8Array[]): number {
  let hash = basis;
  for (const part of parts)
    for (let at = 0; at < part.length; at++) hash = Math.imul(hash ^ (part[at] as number), prime);
  return hash >>> 0;
}

const basis = 0x811c9dc5;
const prime = 0x01000193;
