import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { messageIn } from "../core/errors.ts";
import { indexOver, type Laid, openSegment } from "../core/search/segment.ts";
import { termsVersion } from "../core/search/texts.ts";
import { Damaged, faultIn, layOut, openTable } from "../core/table.ts";
import type { IndexFiles, IndexPart } from "../engine/ports.ts";
import { readerOf } from "./snapshot-file.ts";
import { jsonBytes, writeDerived } from "./whole-file.ts";

/** What stands in the file that says which segments count. */
interface Contents {
  readonly version: string;
  readonly parts: readonly {
    readonly file: string;
    readonly bytes: number;
    readonly gone: readonly number[];
  }[];
}

/** Another when segments change their form or their terms: an index of another version is made anew. */
const version = `2.${termsVersion}`;

/** The index of the library in a folder. */
export function indexFilesIn(folder: string): IndexFiles {
  const list = join(folder, "library.json");
  const condemned = join(folder, "library.damaged");
  const sizeOf = (file: string) => statSync(join(folder, file)).size;
  const contents = (): Contents | null => {
    const there = jsonAt(list);
    return isContents(there) ? there : null;
  };
  const files: IndexFiles = {
    look: (look) => {
      const there = contents();
      if (there === null) return null;
      const open: number[] = [];
      try {
        const parts = there.parts.map(({ file, bytes, gone }): IndexPart => {
          const handle = openOrDamaged(join(folder, file));
          open.push(handle);
          const { size } = fstatSync(handle);
          if (size !== bytes) throw new Damaged("the index is cut short");
          return { file, segment: openSegment(openTable(readerOf(handle, size))), gone: new Set(gone) };
        });
        return look(parts);
      } finally {
        for (const handle of open) closeSync(handle);
      }
    },
    save: (parts) => {
      const next = parts.map((part) => {
        if (!("laid" in part)) return { file: part.file, bytes: sizeOf(part.file), gone: [...part.gone] };
        const file = fileOf(part.laid);
        const bytes = layOut(part.laid.head, part.laid.rows);
        writeDerived(join(folder, file), bytes);
        return { file, bytes: bytes.reduce((sum, one) => sum + one.length, 0), gone: [] };
      });
      writeDerived(list, jsonBytes({ version, parts: next } satisfies Contents));
      rmSync(condemned, { force: true, recursive: true });
    },
    check: () => {
      try {
        const entries = files.look((parts) => indexOver(parts).size);
        if (entries === null) return { found: "nothing" };
        for (const { file } of contents()?.parts ?? []) {
          const because = faultIn(readFileSync(join(folder, file)));
          if (because !== null) return { found: "damaged", because };
        }
        return files.isCondemned()
          ? { found: "damaged", because: "a hook could not read it" }
          : { found: "index", entries };
      } catch (error) {
        return { found: "damaged", because: messageIn(error) };
      }
    },
    sweep: (now) => {
      if (!existsSync(folder)) return;
      const there = contents();
      // Where it cannot be told what counts, nothing is taken away.
      if (there === null) return;
      const counted = new Set(there.parts.map(({ file }) => file));
      for (const name of readdirSync(folder)) {
        if (!segmentName.test(name) || counted.has(name)) continue;
        const changed = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? now;
        // Another writer may be about to say that it counts.
        if (now - changed > patienceMs) rmSync(join(folder, name), { force: true });
      }
    },
    condemn: () => writeDerived(condemned, []),
    isCondemned: () => existsSync(condemned),
  };
  return files;
}

const segmentName = /^library-\w+\.table$/;
const patienceMs = 600_000;

function fileOf({ id }: Laid): string {
  return `library-${id}.table`;
}

/** A segment that counts and is not there is damage like any other. */
function openOrDamaged(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw new Damaged(`the index cannot be read: ${(error as Error).message}`);
  }
}

/** What a file says; null where it is not there, or not whole: then nothing counts. */
function jsonAt(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}

function isContents(value: unknown): value is Contents {
  if (typeof value !== "object" || value === null) return false;
  const { version: of, parts } = value as Partial<Contents>;
  return of === version && Array.isArray(parts);
}

/** An index that nobody else sees and that is gone with the process, for who may not write. */
export function indexInMemory(): IndexFiles {
  let parts: readonly IndexPart[] | null = null;
  return {
    look: (look) => (parts === null ? null : look(parts)),
    save: (next) => {
      const before = parts ?? [];
      parts = next.flatMap((part): IndexPart[] => {
        if (!("laid" in part)) {
          const same = before.find(({ file }) => file === part.file);
          return same ? [{ ...same, gone: part.gone }] : [];
        }
        const bytes = Buffer.concat(layOut(part.laid.head, part.laid.rows));
        const table = openTable((at, length) => bytes.subarray(at, at + length));
        return [{ file: fileOf(part.laid), segment: openSegment(table), gone: new Set() }];
      });
    },
    check: () => (parts === null ? { found: "nothing" } : { found: "index", entries: indexOver(parts).size }),
    sweep: () => {},
    condemn: () => {
      parts = null;
    },
    isCondemned: () => false,
  };
}
