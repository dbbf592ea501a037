import { closeSync, existsSync, fstatSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errorMessage, writeDerivedFile } from "../base/index.ts";
import type { IndexItem } from "./entry.ts";
import { combineTables, encodeIndex, IndexTable, indexVersion, type LibraryIndex } from "./library-index.ts";
import { DamagedError, encodeTable, findTableFault, openTable, type ReadAt, readFileAt } from "./table.ts";

/**
 * The index of the library: a main file, and a file of what changed since it was written, which names the main file it
 * belongs to. Each is replaced whole, so a reader sees the index as it was before a change or after it.
 */
export interface LibraryIndexFiles {
  /** Lets `look` read the index; null where there is none, or where it is damaged, which the next update mends. */
  read<Result>(look: (index: LibraryIndex) => Result): Result | null;
  /** Makes the index hold these items and no others. May be called again and be killed at any point. */
  update(items: readonly IndexItem[]): IndexUpdate;
  /** Reads every byte. */
  check(): IndexCheck;
  /** Makes the next update rebuild everything. */
  markDamaged(): void;
}

export interface IndexUpdate {
  readonly added: number;
  readonly removed: number;
  readonly rebuilt: boolean;
}

export type IndexCheck =
  | { readonly found: "index"; readonly entries: number }
  | { readonly found: "nothing" }
  | { readonly found: "damaged"; readonly because: string };

/** The main index is rebuilt once more than this share of it, and more than so many entries, have changed. */
const mostChanged = { share: 0.02, entries: 50 };

const mainFile = "library.index";
const changesFile = "library-changes.index";
const damageMark = "library.damaged";

/** Where the files are. */
interface IndexStorage {
  /** Null where there is no such file. */
  open(name: string): { readonly read: ReadAt; close(): void } | null;
  readAll(name: string): Uint8Array;
  write(name: string, bytes: readonly Uint8Array[]): void;
  remove(name: string): void;
  exists(name: string): boolean;
}

/** The index in a folder. */
export function openIndexFiles(folder: string): LibraryIndexFiles {
  return indexIn({
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
  });
}

/** An index that is gone with the process, for a run that may not write. */
export function openMemoryIndex(): LibraryIndexFiles {
  const files = new Map<string, Uint8Array>();
  return indexIn({
    open: (name) => {
      const bytes = files.get(name);
      return bytes ? { read: (at, length) => bytes.subarray(at, at + length), close: () => {} } : null;
    },
    readAll: (name) => files.get(name) ?? new Uint8Array(),
    write: (name, bytes) => files.set(name, Buffer.concat(bytes)),
    remove: (name) => files.delete(name),
    exists: (name) => files.has(name),
  });
}

function openOrDamaged(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw new DamagedError(`the index cannot be read: ${errorMessage(error)}`);
  }
}

function indexIn(storage: IndexStorage): LibraryIndexFiles {
  const withTables = <Result>(look: (main: IndexTable, changes: IndexTable | null) => Result) => {
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
  };
  const readWhole: LibraryIndexFiles["read"] = (look) =>
    withTables((main, changes) =>
      main.head.version === indexVersion ? look(combineTables(main, changes)) : null,
    );
  const markDamaged = () => storage.write(damageMark, []);
  const rebuild = (items: readonly IndexItem[], removed: number): IndexUpdate => {
    const { head, rows } = encodeIndex(items);
    storage.write(mainFile, encodeTable(head, rows));
    storage.remove(changesFile);
    storage.remove(damageMark);
    return { added: items.length, removed, rebuilt: true };
  };
  const isMarkedDamaged = () => storage.exists(damageMark);
  return {
    markDamaged,
    read: (look) => unlessDamaged(() => readWhole(look), markDamaged),
    update: (items) => {
      const known = isMarkedDamaged() ? null : unlessDamaged(() => withTables(readMarks));
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
      const { head, rows } = encodeIndex(changed, { of: mainId, gone });
      storage.write(changesFile, encodeTable(head, rows));
      return { added, removed, rebuilt: false };
    },
    check: () => {
      try {
        const entries = readWhole(({ size }) => size);
        if (entries === null) return { found: "nothing" };
        for (const name of [mainFile, changesFile].filter((file) => storage.exists(file))) {
          const because = findTableFault(storage.readAll(name));
          if (because !== null) return { found: "damaged", because };
        }
        return isMarkedDamaged()
          ? { found: "damaged", because: "a hook could not read it" }
          : { found: "index", entries };
      } catch (error) {
        return { found: "damaged", because: errorMessage(error) };
      }
    },
  };
}

/** The tables of both files; changes to another main file than the one that is there do not count. */
function pairTables(main: ReadAt, changes: ReadAt | null): [IndexTable, IndexTable | null] {
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
