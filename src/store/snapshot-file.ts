import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { faultIn, layOut, openTable, type ReadAt, type Table } from "../core/table.ts";
import type { SnapshotFile, SnapshotFound } from "../engine/ports.ts";
import type { SnapshotHead } from "../engine/snapshot.ts";
import { writeWhole } from "./whole-file.ts";

/** The snapshot on disk: one file, which hooks look into while it is replaced. */
export function snapshotAt(path: string): SnapshotFile {
  return {
    head: () => withTable(path, async ({ head }) => head as SnapshotHead).catch(() => null),
    look: () => lookAt(path),
    save: (head, entries) => writeWhole(path, layOut(head, entries)),
  };
}

function lookAt(path: string): SnapshotFound {
  try {
    const bytes = readFileSync(path);
    const because = faultIn(bytes);
    if (because !== null) return { found: "damaged", because };
    const { head } = openTable((at, length) => bytes.subarray(at, at + length));
    return { found: "snapshot", head: head as SnapshotHead };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? { found: "nothing" } : { found: "damaged", because: message };
  }
}

/** Lets something look into a table on disk. Throws for a file that is none. */
export async function withTable<Result>(
  path: string,
  look: (table: Table) => Promise<Result>,
): Promise<Result> {
  const file = openSync(path, "r");
  try {
    const table = openTable(readerOf(file, fstatSync(file).size));
    return await look(table);
  } finally {
    closeSync(file);
  }
}

/** Reads an open file of some size at any place. */
export function readerOf(file: number, size: number): ReadAt {
  return (at, length) => {
    // A damaged file may ask for gigabytes that it does not have.
    // The small ones, which are most, share what is set aside for such.
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - at)));
    const read = readSync(file, bytes, 0, bytes.length, at);
    return read === bytes.length ? bytes : bytes.subarray(0, read);
  };
}
