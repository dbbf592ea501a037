import { closeSync, openSync, readSync } from "node:fs";
import { identify } from "../core/project.ts";
import { openTable, type Table } from "../core/table.ts";
import type { SnapshotHead } from "../engine/snapshot.ts";
import { checkoutAt } from "../sources/checkouts.ts";
import type { Call } from "./call.ts";

/** What is known, as it was when the worker last looked, and the project it is asked for. */
export interface Known {
  readonly head: SnapshotHead;
  readonly table: Table;
  readonly project: string;
}

/** Lets something look into the snapshot; null where there is none, or where nothing is to be told. */
export async function withSnapshot<Result>(
  { home, cwd }: Call,
  look: (known: Known) => Promise<Result>,
): Promise<Result | null> {
  const file = openSync(home.snapshot, "r");
  try {
    const table = openTable((at, length) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, at));
    });
    const head = table.head as SnapshotHead;
    const { id } = identify(cwd, null, cwd === null ? null : checkoutAt(cwd));
    if (head.silent.includes("*") || head.silent.includes(id)) return null;
    return await look({ head, table, project: id });
  } finally {
    closeSync(file);
  }
}
