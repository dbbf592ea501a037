import { existsSync } from "node:fs";
import { identify } from "../core/project.ts";
import type { Table } from "../core/table.ts";
import type { SnapshotHead } from "../engine/snapshot.ts";
import { checkoutAt } from "../sources/checkouts.ts";
import { withTable } from "../store/snapshot-file.ts";
import type { Call } from "./call.ts";

/** What is known, as it was when the worker last looked, and the project it is asked for. */
export interface Known {
  readonly head: SnapshotHead;
  readonly table: Table;
  readonly project: string;
}

/** Lets something look into the snapshot; null where nothing is to be told. Throws for one that is damaged. */
export async function withSnapshot<Result>(
  { home, cwd }: Call,
  look: (known: Known) => Promise<Result>,
): Promise<Result | null> {
  // Before the first worker is through there is none, and that is as it should be.
  if (!existsSync(home.snapshot)) return null;
  return withTable(home.snapshot, async (table) => {
    const head = table.head as SnapshotHead;
    const { id } = identify(cwd, null, cwd === null ? null : checkoutAt(cwd));
    if (head.silent.includes("*") || head.silent.includes(id)) return null;
    return look({ head, table, project: id });
  });
}
