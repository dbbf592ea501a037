import { closeSync, existsSync, fstatSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errorMessage, makeId, writeDerivedFile } from "../base/index.ts";
import { fields, type IndexItem, type LibraryCard, readEntry } from "./entry.ts";
import { DamagedError, encodeTable, findTableFault, openTable, readFileAt, type Table } from "./table.ts";

type ByteReader = Parameters<typeof openTable>[0];

/** Where a token stands, entry by entry in ascending order. */
interface Postings {
  /** How many entries have it. */
  readonly size: number;
  readonly entries: Uint32Array;
  /** The fields in which each has it: one bit for each, the first field the lowest. */
  readonly masks: Uint8Array;
  /** How often each has it, field by field: `fields.length` numbers for each entry, none above 255. */
  readonly counts: Uint8Array;
}

/** An index as it is read. Entries have numbers below `numbers`; some may be gone. */
export interface LibraryIndex {
  /** How many entries there are. */
  readonly size: number;
  readonly numbers: number;
  /** How many tokens each field of all entries has together. */
  readonly totals: readonly number[];
  /** Null where no entry has the token. */
  postings(token: string): Postings | null;
  /** How many tokens the fields of each entry have: `fields.length` numbers for each, none above 65,535. */
  lengths(): Uint16Array;
  /** Whom an entry is for: a project, or "user". */
  scopeId(entry: number): string;
  /** Whether every entry is for one of these. */
  isAllFor(scopeIds: ReadonlySet<string>): boolean;
  /** How many entries are for one of these scopeIds. */
  sizeFor(scopeIds: ReadonlySet<string>): number;
  card(entry: number): LibraryCard;
  cards(): Iterable<LibraryCard>;
}

interface IndexHead {
  readonly version: string;
  /** Identical for identical entries. */
  readonly id: string;
  readonly entries: number;
  readonly scopeIds: readonly string[];
  /** How many entries are for each scopeId. */
  readonly sizes: readonly number[];
  readonly totals: readonly number[];
  /** For an index of changes: the id of the index that it changes, and the numbers of the entries removed from it. */
  readonly changes: { readonly of: string; readonly gone: readonly number[] } | null;
}

/** Increase the first number when the encoding changes, the second when a text gets other tokens or other fields. */
const indexVersion = "4.1";

const tokenKey = "term ";

/**
 * The bytes of an index: rows of a table, so that a cold process reads only the few that it needs. Their order does
 * not depend on how the items were found.
 */
function encodeIndex(items: readonly IndexItem[], changes: IndexHead["changes"] = null): Uint8Array[] {
  const sorted = items.toSorted((a, b) => (a.entry.id < b.entry.id ? -1 : 1));
  const lists = new Map<string, PostingsWriter>();
  const cards: LibraryCard[] = [];
  const lengths = new Uint16Array(sorted.length * fields.length);
  for (const [n, { entry, card }] of sorted.entries()) {
    const { counts, lengths: own, reading } = readEntry(entry);
    cards.push({ ...card, reading });
    lengths.set(own, n * fields.length);
    for (const [token, perField] of counts) {
      const list = lists.get(token) ?? new PostingsWriter();
      lists.set(token, list);
      list.add(n, perField);
    }
  }
  const scopeIds = [...new Set(sorted.map(({ card }) => card.scopeId))];
  const numbers = new Map(scopeIds.map((scopeId, n) => [scopeId, n]));
  const marks = sorted.map(({ card, mark }) => [card.id, mark]);
  const rows = new Map<string, unknown>([
    ["marks", marks],
    ["lengths", toBytes(lengths)],
    ["scopeIds", toBytes(Uint16Array.from(sorted, ({ card }) => numbers.get(card.scopeId) as number))],
  ]);
  for (const [n, card] of cards.entries()) rows.set(`card ${n}`, card);
  for (const [token, list] of lists) rows.set(tokenKey + token, list.finish());
  const head: IndexHead = {
    ...{ version: indexVersion, id: makeId("x", JSON.stringify([indexVersion, marks])) },
    ...{ entries: sorted.length, scopeIds, changes },
    sizes: scopeIds.map((scopeId) => sorted.filter(({ card }) => card.scopeId === scopeId).length),
    totals: fields.map((_, field) =>
      lengths.reduce((sum, length, at) => sum + (at % fields.length === field ? length : 0), 0),
    ),
  };
  return encodeTable(head, rows);
}

function toBytes(numbers: Uint16Array): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(numbers.length * 2));
  for (const [at, value] of numbers.entries()) bytes.setUint16(at * 2, value, true);
  return new Uint8Array(bytes.buffer);
}

/** Bytes that one posting may take: its entry, which fields have the token, and how often each. */
const postingBytes = 5 + 1 + fields.length;

/** Encodes where a token stands; entries must come in ascending order. */
class PostingsWriter {
  private bytes = new Uint8Array(8);
  private used = 0;
  private last = 0;
  private size = 0;

  add(entry: number, counts: Uint8Array): void {
    if (this.bytes.length - this.used < postingBytes) {
      const more = new Uint8Array(this.bytes.length * 2 + postingBytes);
      more.set(this.bytes);
      this.bytes = more;
    }
    this.used = writeNumber(this.bytes, this.used, entry - this.last);
    const maskAt = this.used++;
    let mask = 0;
    for (let field = 0; field < fields.length; field++) {
      const count = counts[field] as number;
      if (count === 0) continue;
      mask |= 1 << field;
      this.bytes[this.used++] = count;
    }
    this.bytes[maskAt] = mask;
    this.last = entry;
    this.size++;
  }

  finish(): Uint8Array {
    const row = new Uint8Array(this.used + 5);
    const start = writeNumber(row, 0, this.size);
    row.set(this.bytes.subarray(0, this.used), start);
    return row.subarray(0, start + this.used);
  }
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

/** Most postings are asked for their size alone, so the rest is decoded when it is wanted. */
function lazyPostings(size: number, decode: () => Omit<Postings, "size">): Postings {
  let decoded: Omit<Postings, "size"> | null = null;
  const lists = () => (decoded ??= decode());
  return {
    size,
    get entries() {
      return lists().entries;
    },
    get masks() {
      return lists().masks;
    },
    get counts() {
      return lists().counts;
    },
  };
}

function decodePostings(bytes: Uint8Array): Postings {
  let [size, start] = [0, 0];
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[start++] as number;
    size |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return lazyPostings(size, () => decodeLists(bytes, start, size));
}

/** A hook runs this before it is compiled, so it allocates nothing for a posting. */
function decodeLists(bytes: Uint8Array, start: number, size: number): Omit<Postings, "size"> {
  const entries = new Uint32Array(size);
  const masks = new Uint8Array(size);
  const counts = new Uint8Array(size * fields.length);
  let [at, entry] = [start, 0];
  for (let n = 0; n < size; n++) {
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
      counts[n * fields.length + lowestBit(rest)] = bytes[at++] as number;
  }
  return { entries, masks, counts };
}

/** The number of the lowest bit of a mask that is set. */
function lowestBit(mask: number): number {
  return 31 - Math.clz32(mask & -mask);
}

/** A table that holds an index. */
class IndexTable {
  readonly head: IndexHead;
  private readonly table: Table;
  private readonly columns = new Map<string, Uint16Array>();

  constructor(table: Table) {
    this.table = table;
    this.head = table.head as IndexHead;
  }

  marks(): (readonly [id: string, mark: string])[] {
    return this.table.get("marks") as [string, string][];
  }

  postings(token: string): Postings | null {
    const bytes = this.table.bytes(tokenKey + token);
    return bytes === undefined ? null : decodePostings(bytes);
  }

  lengths(): Uint16Array {
    return this.column("lengths", this.head.entries * fields.length);
  }

  scopeId(entry: number): string {
    return this.head.scopeIds[this.column("scopeIds", this.head.entries)[entry] ?? -1] ?? "";
  }

  card(entry: number): LibraryCard {
    return this.table.get(`card ${entry}`) as LibraryCard;
  }

  private column(key: string, size: number): Uint16Array {
    const known = this.columns.get(key);
    if (known) return known;
    const bytes = this.table.bytes(key);
    if (bytes?.length !== size * 2) throw new DamagedError("the index is damaged");
    // A copy, because the numbers must begin at an even offset.
    const aligned = new Uint8Array(bytes);
    const view = new DataView(aligned.buffer);
    const numbers = isLittleEndian
      ? new Uint16Array(aligned.buffer)
      : Uint16Array.from({ length: size }, (_, n) => view.getUint16(n * 2, true));
    this.columns.set(key, numbers);
    return numbers;
  }
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** One index over a main table and the changes since it was written: those that are gone, and what is new. */
function combineTables(main: IndexTable, changes: IndexTable | null): LibraryIndex {
  const gone = new Set(changes?.head.changes?.gone ?? []);
  const first = main.head.entries;
  const parts = changes ? [main, changes] : [main];
  const locate = (entry: number) =>
    changes && entry >= first ? { part: changes, n: entry - first } : { part: main, n: entry };
  const card = (entry: number) => {
    const { part, n } = locate(entry);
    return part.card(n);
  };
  const numbers = first + (changes?.head.entries ?? 0);
  let lengths: Uint16Array | null = null;
  return {
    size: numbers - gone.size,
    numbers,
    totals: fields.map((_, field) => {
      let total = parts.reduce((sum, { head }) => sum + (head.totals[field] ?? 0), 0);
      for (const n of gone) total -= main.lengths()[n * fields.length + field] as number;
      return total;
    }),
    postings: (token) => {
      const all = main.postings(token);
      const kept = all && gone.size > 0 ? dropEntries(all, gone) : all;
      const added = changes?.postings(token) ?? null;
      return added ? joinPostings(kept, added, first) : kept;
    },
    lengths: () => {
      lengths ??= changes ? concat(main.lengths(), changes.lengths()) : main.lengths();
      return lengths;
    },
    scopeId: (entry) => {
      const { part, n } = locate(entry);
      return part.scopeId(n);
    },
    isAllFor: (scopeIds) =>
      parts.every(({ head }) => head.scopeIds.every((scopeId) => scopeIds.has(scopeId))),
    sizeFor: (scopeIds) => {
      const sizes = parts.flatMap(({ head }) =>
        head.scopeIds.map((scopeId, n) => (scopeIds.has(scopeId) ? (head.sizes[n] ?? 0) : 0)),
      );
      const left = [...gone].filter((n) => scopeIds.has(main.scopeId(n))).length;
      return sizes.reduce((sum, size) => sum + size, 0) - left;
    },
    card,
    cards: function* () {
      for (let n = 0; n < numbers; n++) if (!gone.has(n)) yield card(n);
    },
  };
}

function concat(a: Uint16Array, b: Uint16Array): Uint16Array {
  const all = new Uint16Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

function dropEntries({ size, entries, masks, counts }: Postings, gone: ReadonlySet<number>): Postings | null {
  let kept = 0;
  for (let n = 0; n < size; n++) {
    if (gone.has(entries[n] as number)) continue;
    entries[kept] = entries[n] as number;
    masks[kept] = masks[n] as number;
    counts.copyWithin(kept * fields.length, n * fields.length, (n + 1) * fields.length);
    kept++;
  }
  return kept === 0 ? null : { size: kept, entries, masks, counts };
}

function joinPostings(kept: Postings | null, added: Postings, from: number): Postings {
  const before = kept?.size ?? 0;
  const size = before + added.size;
  return lazyPostings(size, () => {
    const entries = new Uint32Array(size);
    const [masks, counts] = [new Uint8Array(size), new Uint8Array(size * fields.length)];
    if (kept) {
      entries.set(kept.entries.subarray(0, before));
      masks.set(kept.masks.subarray(0, before));
      counts.set(kept.counts.subarray(0, before * fields.length));
    }
    for (let n = 0; n < added.size; n++) entries[before + n] = (added.entries[n] as number) + from;
    masks.set(added.masks, before);
    counts.set(added.counts, before * fields.length);
    return { entries, masks, counts };
  });
}

/** The main index is rebuilt once more than this share of it, and more than so many entries, have changed. */
const mostChanged = { share: 0.02, entries: 50 };

const mainFile = "library.index";
const changesFile = "library-changes.index";
const damageMark = "library.damaged";

/** Where the files are. */
interface IndexStorage {
  /** Null if the file does not exist. */
  open(name: string): { readonly read: ByteReader; close(): void } | null;
  readAll(name: string): Uint8Array;
  write(name: string, bytes: readonly Uint8Array[]): void;
  remove(name: string): void;
  exists(name: string): boolean;
}

/** `read` of the index in a folder, without what a hook would carry along to write one. */
export function readIndexFiles<Result>(folder: string, look: (index: LibraryIndex) => Result): Result | null {
  return readUnlessDamaged(storeInFolder(folder), look);
}

function storeInFolder(folder: string): IndexStorage {
  return {
    open: (name) => {
      const path = join(folder, name);
      if (!existsSync(path)) return null;
      const file = openOrDamaged(path);
      const stats = fstatSync(file);
      const size = stats.isFile() ? stats.size : 0;
      return { read: readFileAt(file, size), close: () => closeSync(file) };
    },
    readAll: (name) => readFileSync(join(folder, name)),
    write: (name, bytes) => writeDerivedFile(join(folder, name), bytes),
    remove: (name) => rmSync(join(folder, name), { force: true, recursive: true }),
    exists: (name) => existsSync(join(folder, name)),
  };
}

function storeInMemory(): IndexStorage {
  const files = new Map<string, Uint8Array>();
  return {
    open: (name) => {
      const bytes = files.get(name);
      return bytes ? { read: (at, length) => bytes.subarray(at, at + length), close: () => {} } : null;
    },
    readAll: (name) => files.get(name) ?? new Uint8Array(),
    write: (name, bytes) => files.set(name, Buffer.concat(bytes)),
    remove: (name) => files.delete(name),
    exists: (name) => files.has(name),
  };
}

function openOrDamaged(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw new DamagedError(`the index cannot be read: ${errorMessage(error)}`);
  }
}

type Look<Result> = (main: IndexTable, changes: IndexTable | null) => Result;

function withTables<Result>(storage: IndexStorage, look: Look<Result>): Result | null {
  // Changes first: a main file that was replaced in between holds them already.
  const changes = storage.open(changesFile);
  try {
    const main = storage.open(mainFile);
    try {
      return main && look(...pairTables(main.read, changes?.read ?? null));
    } finally {
      main?.close();
    }
  } finally {
    changes?.close();
  }
}

function readWhole<Result>(storage: IndexStorage, look: (index: LibraryIndex) => Result): Result | null {
  return withTables(storage, (main, changes) =>
    main.head.version === indexVersion ? look(combineTables(main, changes)) : null,
  );
}

function readUnlessDamaged<Result>(
  storage: IndexStorage,
  look: (index: LibraryIndex) => Result,
): Result | null {
  return unlessDamaged(
    () => readWhole(storage, look),
    () => storage.write(damageMark, []),
  );
}

/**
 * The index in a folder; with null, one in memory, for a run that may not write. It is a main file, and a file of what
 * changed since it was written, which names the main file it belongs to. Each is replaced whole, so a reader sees the
 * index as it was before a change or after it.
 */
export function openIndexFiles(folder: string | null) {
  const storage = folder === null ? storeInMemory() : storeInFolder(folder);
  const rebuild = (items: readonly IndexItem[], removed: number) => {
    storage.write(mainFile, encodeIndex(items));
    storage.remove(changesFile);
    storage.remove(damageMark);
    return { added: items.length, removed, rebuilt: true };
  };
  const readKnown = () =>
    storage.exists(damageMark) ? null : unlessDamaged(() => withTables(storage, readMarks));
  return {
    /** Whether an update could go on from it: it is there, and neither it nor a mark says that it is damaged. */
    isSound: () => readKnown() !== null,
    /** Makes the next update rebuild everything. */
    markDamaged: () => storage.write(damageMark, []),
    /** Lets `look` read the index; null where there is none, or where it is damaged, which the next update mends. */
    read: <Result>(look: (index: LibraryIndex) => Result) => readUnlessDamaged(storage, look),
    /** Makes the index hold these items and no others. May be called again and be killed at any point. */
    update: (items: readonly IndexItem[]) => {
      const known = readKnown();
      if (known === null) return rebuild(items, 0);
      const { mainId, main, current } = known;
      const wanted = new Map(items.map(({ entry, mark }) => [entry.id, mark]));
      const added = items.filter(({ entry, mark }) => current.get(entry.id) !== mark).length;
      const removed = [...current.keys()].filter((id) => !wanted.has(id)).length;
      if (added + removed === 0) return { added, removed, rebuilt: false };
      const inMain = new Map(main);
      const changed = items.filter(({ entry, mark }) => inMain.get(entry.id) !== mark);
      const gone = main.flatMap(([id, mark], n) => (wanted.get(id) === mark ? [] : n));
      const most = Math.max(mostChanged.entries, main.length * mostChanged.share);
      if (Math.max(changed.length, gone.length) > most)
        return { ...rebuild(items, removed), added, rebuilt: false };
      storage.write(changesFile, encodeIndex(changed, { of: mainId, gone }));
      return { added, removed, rebuilt: false };
    },
    /** Reads every byte. */
    check: () => {
      const damaged = (because: string) => ({ found: "damaged", because }) as const;
      try {
        const entries = readWhole(storage, ({ size }) => size);
        if (entries === null) return { found: "nothing" } as const;
        for (const name of [mainFile, changesFile].filter((file) => storage.exists(file))) {
          const because = findTableFault(storage.readAll(name));
          if (because !== null) return damaged(because);
        }
        if (storage.exists(damageMark)) return damaged("a hook could not read it");
        return { found: "index", entries } as const;
      } catch (error) {
        return damaged(errorMessage(error));
      }
    },
  };
}

/** The tables of both files; changes made to a different main file are ignored. */
function pairTables(main: ByteReader, changes: ByteReader | null): [IndexTable, IndexTable | null] {
  const table = new IndexTable(openTable(main));
  const changed = changes && new IndexTable(openTable(changes));
  return [table, changed?.head.changes?.of === table.head.id ? changed : null];
}

/** The marks of the main table, and of the index as it is; null for another version. */
function readMarks(main: IndexTable, changes: IndexTable | null) {
  if (main.head.version !== indexVersion) return null;
  const marks = main.marks();
  const gone = new Set(changes?.head.changes?.gone ?? []);
  const current = new Map([...marks.filter((_, n) => !gone.has(n)), ...(changes?.marks() ?? [])]);
  return { mainId: main.head.id, main: marks, current };
}

/** Null where an index is damaged: everything it is made from is at hand. */
function unlessDamaged<Result>(look: () => Result | null, onDamage: () => void = () => {}): Result | null {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    onDamage();
    return null;
  }
}
