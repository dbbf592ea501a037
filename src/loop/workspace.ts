import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readPlainText } from "../base/index.ts";
import type { RunBegun, RunId } from "../records/index.ts";
import { openGit } from "./state/git.ts";
import { dropLocks } from "./state/repository.ts";

type Workspace = Pick<RunBegun, "workspace" | "branch" | "run" | "goal">;

/** The branch for a run's changes to a repository; null where the folder is in none, or it has no commit. */
export async function findRepository(
  folder: string | null,
  run: RunId,
  searchPath: string | undefined,
): Promise<RunBegun["branch"]> {
  if (folder === null || !existsSync(folder)) return null;
  const git = openGit(folder, searchPath);
  const repository = (await git.ask(["rev-parse", "--show-toplevel"]))?.trim();
  const base = (await git.ask(["rev-parse", "--verify", "--quiet", "HEAD"]))?.trim();
  return repository && base ? { name: `knack/loop-${run}`, repository, base } : null;
}

/** How many files of the repository are not as its last commit has them, so that a run does not see them. */
export async function countUncommitted(
  { branch }: Pick<Workspace, "branch">,
  searchPath: string | undefined,
): Promise<number> {
  if (branch === null) return 0;
  const status = await openGit(branch.repository, searchPath).ask(["status", "--porcelain"]);
  return status?.split("\n").filter(Boolean).length ?? 0;
}

/** Makes the folder in which steps work: a worktree of the repository on a branch of its own, or an empty folder. */
export async function prepareWorkspace(
  { workspace, branch }: Workspace,
  searchPath: string | undefined,
): Promise<void> {
  const isFilled = existsSync(workspace) && readdirSync(workspace).length > 0;
  if (branch === null && !isFilled) mkdirSync(workspace, { recursive: true, mode: 0o700 });
  if (branch === null || (isFilled && !(await isHalfMade(workspace, searchPath)))) return;
  rmSync(workspace, { recursive: true, force: true });
  const { repository, name, base } = branch;
  const git = openGit(repository, searchPath);
  await git.run(["worktree", "prune"]);
  const isThere = (await git.ask(["rev-parse", "--verify", "--quiet", `refs/heads/${name}`])) !== null;
  await git.run([
    ...["worktree", "add", "--quiet", "--force", "--force"],
    ...(isThere ? [workspace, name] : ["-b", name, workspace, base]),
  ]);
}

/** Whether git was killed while it made a worktree, which is locked until all of its files are there. */
async function isHalfMade(workspace: string, searchPath: string | undefined): Promise<boolean> {
  const own = await findGitFolder(workspace, searchPath);
  return own !== null && readPlainText(join(own, "locked"))?.trim() === "initializing";
}

/** What git keeps about a worktree, below the repository's own. */
async function findGitFolder(workspace: string, searchPath: string | undefined): Promise<string | null> {
  return (await openGit(workspace, searchPath).ask(["rev-parse", "--absolute-git-dir"]))?.trim() ?? null;
}

/** Commits what a run changed in the repository, on its branch. */
export async function keepResult(
  { workspace, branch, run, goal }: Workspace,
  at: number,
  searchPath: string | undefined,
): Promise<void> {
  if (branch === null || !existsSync(workspace)) return;
  const git = openGit(workspace, searchPath);
  // A worker's git may have been stopped, and so may Knack's own.
  const own = await findGitFolder(workspace, searchPath);
  if (own !== null) {
    dropLocks(own, "index", "HEAD");
    dropLocks(join(own, "../.."), `refs/heads/${branch.name}`);
  }
  await git.run(["add", "--all"]);
  if ((await git.run(["status", "--porcelain"])).trim() === "") return;
  const subject = goal.replace(/\s+/g, " ").slice(0, 68);
  await git.run(["commit", "--quiet", "--no-verify", "--message", `${subject}\n\nKnack-Run: ${run}`], at);
}

/** Takes a run's branch and worktree away: its result counts for nothing. */
export async function dropResult(
  { workspace, branch }: Workspace,
  searchPath: string | undefined,
): Promise<void> {
  if (branch === null) return;
  const git = openGit(branch.repository, searchPath);
  await git.ask(["worktree", "remove", "--force", workspace]);
  await git.ask(["branch", "--quiet", "-D", branch.name]);
}

/**
 * Removes the work folder of a run that has ended; its branch stays. Says why not where something would be lost that is
 * nowhere else: of a run without a repository also what lies in its workspace, unless it was asked for by name.
 */
export async function pruneWork(
  { work, workspace, branch }: Pick<RunBegun, "work" | "workspace" | "branch">,
  { isNamed, apply }: { readonly isNamed: boolean; readonly apply: boolean },
  searchPath: string | undefined,
): Promise<string | null> {
  const isFilled = existsSync(workspace) && readdirSync(workspace).length > 0;
  if (isFilled && branch === null && !isNamed) return "its result lies only there";
  if (isFilled && branch !== null) {
    const status = await openGit(workspace, searchPath).ask(["status", "--porcelain"]);
    if (status?.trim() !== "") return `${workspace} has changes that are in no commit`;
    if (apply) await openGit(branch.repository, searchPath).ask(["worktree", "remove", "--force", workspace]);
  }
  if (apply) rmSync(work, { recursive: true, force: true });
  return null;
}

/** How much a run changed, in git's words; empty where it changed nothing. */
export async function measureResult({ branch }: Workspace, searchPath: string | undefined): Promise<string> {
  if (branch === null) return "";
  const { repository, base, name } = branch;
  return (
    (await openGit(repository, searchPath).ask(["diff", "--shortstat", `${base}..${name}`]))?.trim() ?? ""
  );
}
