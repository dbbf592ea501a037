import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { KnackError } from "../base/index.ts";
import type { Home } from "../settings/index.ts";
import type { StoredRun } from "./record.ts";
import { copyState } from "./state/candidates.ts";
import { digestState, enforceSnapshot, takeSnapshot } from "./state/digest.ts";

/**
 * Sees to it that a run which must not change the state folder in force does not: a copy is taken before, in Knack's
 * own home, and afterwards the folder is compared with it and put back. Null in train mode, which may.
 */
export function openFence({ folder }: Pick<Home, "folder">, { begun, n }: Pick<StoredRun, "begun" | "n">) {
  const { mode, active, state, setup, run } = begun;
  if (mode === "train") return null;
  const copy = join(folder, "loop", run);
  const digest = setup.stateDigest;
  if (!existsSync(copy) || digestState(copy) !== digest) {
    if (digestState(active) !== digest) throw refuseOther(begun, n);
    takeSnapshot(active, copy);
  }
  if (mode === "candidate" && !existsSync(state)) {
    const draft = `${state}.${process.pid}.new`;
    rmSync(draft, { recursive: true, force: true });
    copyState(active, draft);
    renameSync(draft, state);
  }
  return {
    /** How the folder was changed, after it was put back; null where it is as it was. */
    enforce: (): string | null => enforceSnapshot(active, { folder: copy, digest })?.because ?? null,
    close: () => rmSync(copy, { recursive: true, force: true }),
  };
}

function refuseOther({ active, run }: StoredRun["begun"], n: number): KnackError {
  return new KnackError("WRONG_USAGE", `The state folder ${active} changed since the run ${run} began.`, {
    hint: n === 0 ? "Start it again." : "Start it again: what it did so far was with another state.",
  });
}
