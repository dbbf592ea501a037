/**
 * A table of JSON values in one run of bytes, for a reader that starts anew each time and wants two or three of many
 * thousand: an index sorted by the hash of each key, searched where it lies, then the values one after the other.
 * Head and values have a sum, so that bytes which a disk has changed are never taken for what was written.
 */

/** Reads bytes from a place; fewer than asked where the file ends. */
export type ReadAt = (at: number, length: number) => Uint8Array;

export interface Table {
  /** What was noted beside the entries. */
  readonly head: unknown;
  /** The value of a key; undefined when there is none. */
  get(key: string): unknown;
  /** Every key with its value. */
  entries(): Iterable<readonly [string, unknown]>;
}

const magic = "knack-table-1\n";
/** The magic line, then how many bytes the head has, their sum, and how many entries the index has. */
const preamble = magic.length + 12;
/** The hash of a key, where its value stands, how many bytes it has, and their sum. */
const slotBytes = 16;

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
    index.setUint32(n * slotBytes + 12, sumOf(bytes));
    at += bytes.length;
  });
  const start = new Uint8Array(preamble);
  start.set(encoder.encode(magic));
  const sizes = new DataView(start.buffer, magic.length);
  sizes.setUint32(0, headBytes.length);
  sizes.setUint32(4, sumOf(headBytes));
  sizes.setUint32(8, values.length);
  return [start, headBytes, new Uint8Array(index.buffer), ...values.map(({ bytes }) => bytes)];
}

/** What is wrong with the bytes of a table, one and all; null when they are as they would be laid out. */
export function faultIn(bytes: Uint8Array): string | null {
  try {
    const { head, entries } = openTable((at, length) => bytes.subarray(at, at + length));
    let at = 0;
    for (const part of layOut(head, new Map(entries()))) {
      if (part.some((byte, n) => byte !== bytes[at + n])) return "the table is damaged";
      at += part.length;
    }
    return at === bytes.length ? null : "the table is damaged";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Opens a table that can be read at any place. Throws for what is no table, is cut short or damaged; so does `get`. */
export function openTable(read: ReadAt): Table {
  const decoder = new TextDecoder();
  const exactly = (at: number, length: number): Uint8Array => {
    const bytes = read(at, length);
    if (bytes.length !== length) throw new Error("the table is cut short");
    return bytes;
  };
  const jsonAt = (at: number, length: number, sum: number) => {
    const bytes = exactly(at, length);
    if (sumOf(bytes) !== sum) throw new Error("the table is damaged");
    return JSON.parse(decoder.decode(bytes));
  };
  const start = exactly(0, preamble);
  if (decoder.decode(start.subarray(0, magic.length)) !== magic) throw new Error("this is no table");
  const sizes = viewOf(start.subarray(magic.length));
  const [headLength, headSum, count] = [sizes.getUint32(0), sizes.getUint32(4), sizes.getUint32(8)];
  let index: DataView | null = null;
  // Read when something is looked for: who only wants the head needs none of it.
  const slots = () => (index ??= viewOf(exactly(preamble + headLength, count * slotBytes)));
  const field = (n: number, which: number) => slots().getUint32(n * slotBytes + 4 * which);
  const entryAt = (n: number): readonly [string, unknown] => jsonAt(field(n, 1), field(n, 2), field(n, 3));
  return {
    head: jsonAt(preamble, headLength, headSum),
    get: (key) => {
      const hash = hashOf(key);
      const hashAt = (n: number) => field(n, 0);
      for (let n = firstAtLeast(hash, count, hashAt); n < count && hashAt(n) === hash; n++) {
        // Two keys may have one hash.
        const [name, value] = entryAt(n);
        if (name === key) return value;
      }
      return undefined;
    },
    entries: function* () {
      for (let n = 0; n < count; n++) yield entryAt(n);
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

/** FNV-1a over the bytes, four at a time, 32 bits: one changed byte always changes it. */
function sumOf(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  const whole = bytes.length - (bytes.length % 4);
  let sum = 0x811c9dc5;
  for (let at = 0; at < whole; at += 4) sum = Math.imul(sum ^ view.getUint32(at), 0x01000193);
  for (let at = whole; at < bytes.length; at++) sum = Math.imul(sum ^ view.getUint8(at), 0x01000193);
  return sum >>> 0;
}

/** The same over the characters. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
