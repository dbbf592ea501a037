import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { KnackError, readPlainText, writeFileAtomically } from "../base/index.ts";
import type { Home } from "../settings/index.ts";
import type { StoredRun } from "./record.ts";
import { copyState } from "./state/candidates.ts";
import { digestState, findViolation, restoreSnapshot, takeSnapshot } from "./state/digest.ts";
import { StateRepository } from "./state/repository.ts";

/**
 * Sees to it that a run which must not change the state folder in force does not: a copy is taken before, in Knack's
 * own home, and afterwards the folder is compared with it and put back. Null in train mode, which may.
 */
export async function openFence(
  { folder }: Pick<Home, "folder">,
  { begun, n }: Pick<StoredRun, "begun" | "n">,
  searchPath: string | undefined,
) {
  const { mode, active, state, setup, run } = begun;
  if (mode === "train") return null;
  const [copy, finding] = listFenceFiles(folder, run);
  const digest = setup.stateDigest;
  if (!existsSync(copy) || digestState(copy) !== digest) {
    if (findViolation(active, digest) !== null) throw refuseOther(begun, n);
    takeSnapshot(active, copy);
    // What another run learned since this one was stopped is not undone.
  } else if (
    findViolation(active, digest) !== null &&
    (await new StateRepository(active, searchPath).hasMovedOn(setup.stateSha))
  )
    throw refuseOther(begun, n);
  if (mode === "candidate" && !existsSync(state)) {
    const draft = `${state}.new`;
    rmSync(draft, { recursive: true, force: true });
    copyState(active, draft);
    renameSync(draft, state);
  }
  return {
    /** How the folder was changed, after it was put back; null where it is as it was. */
    enforce: (): string | null => {
      // Whoever is killed while the folder is put back finds nothing wrong with it the next time.
      const because = readPlainText(finding) ?? findViolation(active, digest);
      if (because === null) return null;
      writeFileAtomically(finding, [Buffer.from(because)]);
      restoreSnapshot(active, copy, digest);
      return because;
    },
  };
}

/** The copy of a run's state folder, and how that was found changed. */
function listFenceFiles(home: string, run: string): readonly [copy: string, finding: string] {
  return [join(home, "loop", run), join(home, "loop", `${run}.violation`)];
}

/** Removes what a fence kept, and what a killed process was about to write of it, when the run has ended. */
export function closeFence({ folder }: Pick<Home, "folder">, run: string): void {
  const [copy] = listFenceFiles(folder, run);
  const kept = existsSync(dirname(copy)) ? readdirSync(dirname(copy)) : [];
  for (const name of kept.filter((one) => one === run || one.startsWith(`${run}.`)))
    rmSync(join(dirname(copy), name), { recursive: true, force: true });
}

function refuseOther({ active, run }: StoredRun["begun"], n: number): KnackError {
  return new KnackError("WRONG_USAGE", `The state folder ${active} changed since the run ${run} began.`, {
    hint: n === 0 ? "Start it again." : "Start it again: what it did so far was with another state.",
  });
}
