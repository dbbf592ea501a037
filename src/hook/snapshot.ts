import { existsSync, readFileSync } from "node:fs";
import { projectConfig } from "../config.ts";
import { identify, type Project } from "../core/project.ts";
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
  call: Call,
  look: (known: Known) => Promise<Result>,
): Promise<Result | null> {
  const { snapshot } = call.home;
  // Before the first worker is through there is none, and that is as it should be.
  if (!existsSync(snapshot)) return null;
  return withTable(snapshot, async (table) => {
    const head = table.head as SnapshotHead;
    const project = projectOf(call);
    return mayTell(head, project) ? look({ head, table, project: project.id }) : null;
  });
}

export function projectOf({ cwd }: Pick<Call, "cwd">): Project {
  return identify(cwd, null, cwd === null ? null : checkoutAt(cwd));
}

/** Whether agents are told anything in a project: its own word goes before the person's. */
function mayTell({ show, exceptions }: SnapshotHead, { id, root }: Project): boolean {
  const own = root === null ? null : ownWord(projectConfig(root));
  if (own !== null) return own;
  const isException = exceptions.includes(id) || (root !== null && exceptions.includes(root));
  return show !== isException;
}

/** What a project says itself; null where it says nothing. What cannot be read may say "no". */
function ownWord(path: string): boolean | null {
  if (!existsSync(path)) return null;
  try {
    const { show } = JSON.parse(readFileSync(path, "utf8"));
    return typeof show === "boolean" ? show : null;
  } catch {
    return false;
  }
}
