import { KnackError } from "../../base/index.ts";
import { copyFolder, digestState } from "./digest.ts";
import { openGit } from "./git.ts";
import type { StateFolder } from "./state-folder.ts";

/** What a candidate is: a copy of a state with changes, and where they come from. It has no score. */
export interface CandidateManifest {
  readonly runId: string;
  readonly treeDir: string;
  readonly parentSha: string;
  readonly parentTreeDigest: string;
  readonly candidateSha: string;
  readonly candidateTreeDigest: string;
  readonly changes: readonly {
    readonly sha: string;
    readonly summary: string;
    readonly files: readonly string[];
  }[];
}

/** Copies a state for a run that may change the copy alone. */
export function copyState(active: string, to: string): void {
  const digest = digestState(active);
  copyFolder(active, to);
  if (digestState(to) !== digest)
    throw new KnackError("STORE_UNAVAILABLE", `${active} changed while it was copied.`, {
      hint: "Another run changed it: try again.",
    });
}

/** Describes a candidate for adoption; null where the run changed nothing. */
export async function sealCandidate(
  run: string,
  parent: { readonly sha: string; readonly digest: string },
  candidate: StateFolder,
): Promise<CandidateManifest | null> {
  const changes = (await candidate.listChanges()).filter((change) => change.run === run);
  if (changes.length === 0) return null;
  return {
    ...{ runId: run, treeDir: candidate.path, parentSha: parent.sha, parentTreeDigest: parent.digest },
    candidateSha: await candidate.readHead(),
    candidateTreeDigest: digestState(candidate.path),
    changes: changes.map(({ sha, summary, files }) => ({ sha, summary, files })),
  };
}

/** Makes a candidate the active state. Its commits stay as they are. */
export async function adoptCandidate(
  active: StateFolder,
  manifest: CandidateManifest,
  searchPath: string | undefined,
): Promise<void> {
  const { treeDir, parentSha, candidateSha, candidateTreeDigest } = manifest;
  const head = await active.readHead();
  if (head === candidateSha) return;
  if (head !== parentSha)
    throw new KnackError("WRONG_USAGE", "The active state changed since this candidate was made.", {
      hint: "Run the goal again with --mode candidate, on top of what is active now.",
    });
  if (digestState(treeDir) !== candidateTreeDigest)
    throw new KnackError("STORE_DAMAGED", `The candidate in ${treeDir} is not what the run left.`, {
      hint: "It is not adopted. Run the goal again with --mode candidate.",
    });
  await active.dropStrayWrites();
  const git = openGit(active.path, searchPath);
  await git.run(["fetch", "--quiet", "--no-tags", treeDir, candidateSha]);
  await git.run(["merge", "--quiet", "--ff-only", candidateSha]);
}
