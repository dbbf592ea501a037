import { existsSync, readFileSync } from "node:fs";
import { type SnapshotHead, withTable } from "../recall/index.ts";
import { identifyProject, type Project } from "../records/index.ts";
import type { Table } from "../search/index.ts";
import { projectConfig } from "../settings/index.ts";
import { findCheckout } from "../transcripts/index.ts";
import type { HookEvent } from "./event.ts";

/** The snapshot that the worker wrote last, and the current project. */
export interface OpenSnapshot {
  readonly head: SnapshotHead;
  readonly table: Table;
  readonly project: string;
}

/** Reads from the snapshot; null if there is none or the project is muted. Throws if it is damaged. */
export async function withSnapshot<Result>(
  call: HookEvent,
  look: (known: OpenSnapshot) => Promise<Result>,
): Promise<Result | null> {
  const { snapshot } = call.home;
  // There is none until the first worker has finished.
  if (!existsSync(snapshot)) return null;
  return withTable(snapshot, async (table) => {
    const head = table.head as SnapshotHead;
    const project = identifyHere(call);
    return isAllowed(head, project) ? look({ head, table, project: project.id }) : null;
  });
}

export function identifyHere({ cwd }: Pick<HookEvent, "cwd">): Project {
  return identifyProject(cwd, null, cwd === null ? null : findCheckout(cwd));
}

/** Whether agents are told anything in a project: its own setting overrides the user's. */
function isAllowed({ show, exceptions }: SnapshotHead, { id, root }: Project): boolean {
  const own = root === null ? null : readProjectChoice(projectConfig(root));
  if (own !== null) return own;
  const isException = exceptions.includes(id) || (root !== null && exceptions.includes(root));
  return show !== isException;
}

/** The project's own `show` setting, or null. An unreadable file counts as "no". */
function readProjectChoice(path: string): boolean | null {
  if (!existsSync(path)) return null;
  try {
    const { show } = JSON.parse(readFileSync(path, "utf8"));
    return typeof show === "boolean" ? show : null;
  } catch {
    return false;
  }
}
