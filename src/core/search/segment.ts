import { idOf } from "../ids.ts";
import type { ItemKind } from "../item.ts";
import { Damaged, type Table } from "../table.ts";
import { type Card, type Entry, fields, type Index, lowest, type Postings } from "./entry.ts";
import { readingOf } from "./reading.ts";
import { termCounts } from "./texts.ts";

/** What an index says of something in the library, without its text. */
export interface LibraryCard extends Card {
  readonly kind: ItemKind;
  readonly realm: string;
  readonly draft: boolean;
  /** What Knack made it of; null for what others made. */
  readonly source: string | null;
  readonly path: string;
  /** When its file was last changed before it was indexed: changed since, it may say something else. */
  readonly changedAt: number;
  /** Whether its text may be put before an agent unasked. */
  readonly harmless: boolean;
  /** Projects that have something of their own by its name, which goes before it there. */
  readonly hiddenIn: readonly string[];
}

/** Something that is put into an index. */
export interface Filed {
  readonly entry: Entry;
  readonly card: Omit<LibraryCard, "reading">;
  /** What it is made from: the same mark, the same entry. */
  readonly mark: string;
}

/** What a segment says of itself. */
export interface SegmentHead {
  readonly entries: number;
  readonly realms: readonly string[];
  /** How many entries are for each of them. */
  readonly sizes: readonly number[];
  /** How many terms each field of all entries has together. */
  readonly totals: readonly number[];
}

/**
 * A part of an index that is written once and never changed: for each term where it stands, and for each entry its
 * card. Rows of a table, so that a process which starts anew reads the few that it needs.
 */
export interface Laid {
  /** The same for the same entries. */
  readonly id: string;
  readonly head: SegmentHead;
  readonly rows: ReadonlyMap<string, unknown>;
}

/** A segment of these entries. */
export function segmentOf(filed: readonly Filed[]): Laid {
  const writer = postingsWriter();
  const lengths = new Uint16Array(filed.length * fields.length);
  filed.forEach(({ entry }, n) => {
    const { counts, lengths: own } = termCounts(entry);
    lengths.set(own, n * fields.length);
    for (const [term, of] of counts) writer.add(term, n, of, 0);
  });
  return laid(
    filed.map(({ card, mark }) => ({
      card: { ...card, reading: readingOf(card.name, card.description) },
      mark,
    })),
    lengths,
    writer.rows(),
  );
}

/** One segment in the place of several, without what is gone from them. */
export function merged(parts: readonly Part[]): Laid {
  const writer = postingsWriter();
  const cards: { card: LibraryCard; mark: string }[] = [];
  const lengths: number[] = [];
  for (const { segment, gone } of parts) {
    const numbers = new Int32Array(segment.entries).fill(-1);
    const own = segment.lengths();
    segment.marks().forEach(([, mark], n) => {
      if (gone.has(n)) return;
      numbers[n] = cards.length;
      cards.push({ card: segment.card(n), mark });
      lengths.push(...own.subarray(n * fields.length, (n + 1) * fields.length));
    });
    for (const [term, { size, entries, counts }] of segment.terms())
      for (let at = 0; at < size; at++) {
        const n = numbers[entries[at] as number] as number;
        if (n >= 0) writer.add(term, n, counts, at * fields.length);
      }
  }
  return laid(cards, Uint16Array.from(lengths), writer.rows());
}

function laid(
  cards: readonly { readonly card: LibraryCard; readonly mark: string }[],
  lengths: Uint16Array,
  postings: Iterable<readonly [string, Uint8Array]>,
): Laid {
  const realms = [...new Set(cards.map(({ card }) => card.realm))];
  const number = new Map(realms.map((realm, n) => [realm, n]));
  const rows = new Map<string, unknown>([
    ["marks", cards.map(({ card, mark }) => [card.id, mark])],
    ["lengths", bytesOf(lengths)],
    ["realms", bytesOf(Uint16Array.from(cards, ({ card }) => number.get(card.realm) as number))],
  ]);
  for (const [n, { card }] of cards.entries()) rows.set(`card ${n}`, card);
  for (const [term, bytes] of postings) rows.set(termKey + term, bytes);
  const totals = fields.map((_, field) => {
    let total = 0;
    for (let at = field; at < lengths.length; at += fields.length) total += lengths[at] as number;
    return total;
  });
  const id = idOf("x", cards.map(({ card, mark }) => `${card.id} ${mark}`).join("\n"));
  const sizes = realms.map((realm) => cards.filter(({ card }) => card.realm === realm).length);
  return { id, head: { entries: cards.length, realms, sizes, totals }, rows };
}

const termKey = "term ";

function bytesOf(numbers: Uint16Array): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(numbers.length * 2));
  for (const [at, value] of numbers.entries()) bytes.setUint16(at * 2, value, true);
  return new Uint8Array(bytes.buffer);
}

/** Gathers where terms stand; entries of a term must come in ascending order. */
function postingsWriter() {
  const lists = new Map<string, { bytes: Uint8Array; used: number; last: number; size: number }>();
  return {
    add: (term: string, entry: number, counts: Uint8Array, from: number) => {
      let list = lists.get(term);
      if (!list) {
        list = { bytes: new Uint8Array(8), used: 0, last: 0, size: 0 };
        lists.set(term, list);
      }
      if (list.bytes.length - list.used < mostOfOne) list.bytes = grown(list.bytes);
      list.used = writeNumber(list.bytes, list.used, entry - list.last);
      const maskAt = list.used++;
      let mask = 0;
      for (let field = 0; field < fields.length; field++) {
        const count = counts[from + field] as number;
        if (count === 0) continue;
        mask |= 1 << field;
        list.bytes[list.used++] = count;
      }
      list.bytes[maskAt] = mask;
      list.last = entry;
      list.size++;
    },
    rows: function* (): Generator<readonly [string, Uint8Array]> {
      for (const [term, { bytes, used, size }] of lists) {
        const row = new Uint8Array(used + 5);
        const start = writeNumber(row, 0, size);
        row.set(bytes.subarray(0, used), start);
        yield [term, row.subarray(0, start + used)];
      }
    },
  };
}

/** Bytes that one entry of a list may take: its number, which fields have the term, and how often each. */
const mostOfOne = 5 + 1 + fields.length;

function grown(bytes: Uint8Array): Uint8Array {
  const more = new Uint8Array(bytes.length * 2 + mostOfOne);
  more.set(bytes);
  return more;
}

/** Seven bits a byte, the lowest first; the highest bit says that more follow. */
function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  let [place, rest] = [at, value];
  while (rest > 0x7f) {
    bytes[place++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[place++] = rest;
  return place;
}

/** A list as it was written; most are asked for their size alone, so the rest is read when it is wanted. */
function readPostings(bytes: Uint8Array): Postings {
  const [size, start] = readNumber(bytes, 0);
  return lazily(size, () => readList(bytes, start, size));
}

type List = Omit<Postings, "size">;

function lazily(size: number, read: () => List): Postings {
  let list: List | null = null;
  const known = () => (list ??= read());
  return {
    size,
    get entries() {
      return known().entries;
    },
    get masks() {
      return known().masks;
    },
    get counts() {
      return known().counts;
    },
  };
}

function readNumber(bytes: Uint8Array, from: number): readonly [value: number, end: number] {
  let [value, shift, at] = [0, 0, from];
  for (;;) {
    const byte = bytes[at++] as number;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return [value, at];
    shift += 7;
  }
}

function readList(bytes: Uint8Array, start: number, size: number): List {
  const entries = new Uint32Array(size);
  const masks = new Uint8Array(size);
  const counts = new Uint8Array(size * fields.length);
  let [at, entry] = [start, 0];
  for (let n = 0; n < size; n++) {
    // As in `readNumber`, without the pair that it would make for each: a hook runs this before it is compiled.
    let byte = bytes[at++] as number;
    let gap = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = bytes[at++] as number;
      gap |= (byte & 0x7f) << shift;
    }
    entry += gap;
    entries[n] = entry;
    const mask = bytes[at++] as number;
    masks[n] = mask;
    for (let rest = mask; rest !== 0; rest &= rest - 1)
      counts[n * fields.length + lowest(rest)] = bytes[at++] as number;
  }
  return { entries, masks, counts };
}

/** A segment that was written. Throws where it is damaged. */
export interface Segment {
  readonly entries: number;
  readonly totals: readonly number[];
  /** The id and the mark of each entry. */
  marks(): readonly (readonly [id: string, mark: string])[];
  postings(term: string): Postings | null;
  /** Every term with where it stands. */
  terms(): Iterable<readonly [string, Postings]>;
  lengths(): Uint16Array;
  realm(entry: number): string;
  /** Whether all of it is for these people, and how many entries are. */
  isAllFor(realms: ReadonlySet<string>): boolean;
  sizeFor(realms: ReadonlySet<string>): number;
  card(entry: number): LibraryCard;
}

export function openSegment(table: Table): Segment {
  const { entries, realms, sizes, totals } = table.head as SegmentHead;
  const lengths = column(table, "lengths", entries * fields.length);
  const realmOf = column(table, "realms", entries);
  return {
    entries,
    totals,
    marks: () => table.get("marks") as [string, string][],
    postings: (term) => {
      const bytes = table.bytes(termKey + term);
      return bytes === undefined ? null : readPostings(bytes);
    },
    terms: function* () {
      for (const [key, bytes] of table.entries())
        if (key.startsWith(termKey)) yield [key.slice(termKey.length), readPostings(bytes)];
    },
    lengths,
    realm: (entry) => realms[realmOf()[entry] ?? -1] ?? "",
    isAllFor: (some) => realms.every((realm) => some.has(realm)),
    sizeFor: (some) => realms.reduce((sum, realm, n) => sum + (some.has(realm) ? (sizes[n] ?? 0) : 0), 0),
    card: (entry) => table.get(`card ${entry}`) as LibraryCard,
  };
}

/** Numbers of two bytes, read when they are first asked for. */
function column(table: Table, key: string, size: number): () => Uint16Array {
  let numbers: Uint16Array | null = null;
  return () => {
    if (numbers !== null) return numbers;
    const bytes = table.bytes(key);
    if (bytes?.length !== size * 2) throw new Damaged("the index is damaged");
    numbers = numbersIn(bytes);
    return numbers;
  };
}

function numbersIn(bytes: Uint8Array): Uint16Array {
  // As nearly every machine has them in memory; a copy, because they must begin at an even place.
  if (isLittleEndian) return new Uint16Array(new Uint8Array(bytes).buffer);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint16Array.from({ length: bytes.length / 2 }, (_, n) => view.getUint16(n * 2, true));
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** A segment, and the entries of it that have been taken out or replaced since. */
export interface Part {
  readonly segment: Segment;
  readonly gone: ReadonlySet<number>;
}

/** An index of the library: several segments as one. */
export interface LibraryIndex extends Index {
  card(entry: number): LibraryCard;
  /** How many entries there are for these people. */
  sizeFor(realms: ReadonlySet<string>): number;
}

export function indexOver(parts: readonly Part[]): LibraryIndex {
  let lengths: Uint16Array | null = null;
  let numbers = 0;
  const placed = parts.map((part) => {
    const from = numbers;
    numbers += part.segment.entries;
    return { ...part, from };
  });
  const at = (entry: number) => {
    let last = placed.length - 1;
    while (last > 0 && (placed[last]?.from ?? 0) > entry) last--;
    const { segment, from } = placed[last] as (typeof placed)[number];
    return { segment, n: entry - from };
  };
  return {
    size: numbers - parts.reduce((sum, { gone }) => sum + gone.size, 0),
    numbers,
    totals: fields.map((_, field) => parts.reduce((sum, part) => sum + totalOf(part, field), 0)),
    postings: (term) => {
      const found = placed.flatMap(({ segment, gone, from }) => {
        const postings = segment.postings(term);
        return postings === null ? [] : there(postings, gone, from);
      });
      const [only = null] = found;
      return found.length < 2 ? only : joined(found);
    },
    lengths: () => (lengths ??= parts.length === 1 ? (parts[0] as Part).segment.lengths() : lengthsOf(parts)),
    realm: (entry) => {
      const { segment, n } = at(entry);
      return segment.realm(n);
    },
    isAllFor: (realms) => parts.every(({ segment }) => segment.isAllFor(realms)),
    sizeFor: (realms) =>
      parts.reduce((sum, { segment, gone }) => {
        const left = [...gone].filter((n) => realms.has(segment.realm(n))).length;
        return sum + segment.sizeFor(realms) - left;
      }, 0),
    card: (entry) => {
      const { segment, n } = at(entry);
      return segment.card(n);
    },
  };
}

function totalOf({ segment, gone }: Part, field: number): number {
  let total = segment.totals[field] ?? 0;
  for (const n of gone) total -= segment.lengths()[n * fields.length + field] as number;
  return total;
}

function lengthsOf(parts: readonly Part[]): Uint16Array {
  const all = parts.map(({ segment }) => segment.lengths());
  const joined = new Uint16Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const own of all) {
    joined.set(own, at);
    at += own.length;
  }
  return joined;
}

/** What is there of a list, with the numbers of the whole index. */
function there(list: Postings, gone: ReadonlySet<number>, from: number): Postings[] {
  if (gone.size === 0)
    return from === 0
      ? [list]
      : [
          lazily(list.size, () => ({
            entries: list.entries.map((entry) => entry + from),
            masks: list.masks,
            counts: list.counts,
          })),
        ];
  const { size, entries, masks, counts } = list;
  let kept = 0;
  for (let n = 0; n < size; n++) {
    const entry = entries[n] as number;
    if (gone.has(entry)) continue;
    entries[kept] = entry + from;
    masks[kept] = masks[n] as number;
    counts.copyWithin(kept * fields.length, n * fields.length, (n + 1) * fields.length);
    kept++;
  }
  if (kept === 0) return [];
  return [
    {
      size: kept,
      entries: entries.subarray(0, kept),
      masks: masks.subarray(0, kept),
      counts: counts.subarray(0, kept * fields.length),
    },
  ];
}

function joined(lists: readonly Postings[]): Postings {
  const size = lists.reduce((sum, list) => sum + list.size, 0);
  return lazily(size, () => {
    const entries = new Uint32Array(size);
    const [masks, counts] = [new Uint8Array(size), new Uint8Array(size * fields.length)];
    let from = 0;
    for (const list of lists) {
      entries.set(list.entries, from);
      masks.set(list.masks, from);
      counts.set(list.counts, from * fields.length);
      from += list.size;
    }
    return { entries, masks, counts };
  });
}
