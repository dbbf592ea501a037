import { lstatSync, readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { errorMessage, readPlainText } from "../../base/index.ts";
import { digestState } from "../state/digest.ts";
import { openGit } from "../state/git.ts";
import { dropLocks } from "../state/repository.ts";
import type { Harness, WorkerOutcome, WorkerTask } from "./harness.ts";

/** What workers must leave as it is, but for where a task lets them write. */
export interface Watched {
  /** Every file in it is looked at. */
  readonly work: string;
  /** Files in it that Knack itself writes, or looks at, while workers are at it; by their absolute paths. */
  readonly isOwn: (path: string) => boolean;
  /**
   * No worker may write here, and Knack does not while one is at it: what changes is taken back. Null for a folder that
   * a frozen run must leave as it is: its fence must find the change, as it withholds the result.
   */
  readonly state: string | null;
  /**
   * The person's repository; null for none. The person may be at work in it too, so that a change is told and no
   * worker fails for it.
   */
  readonly repository: string | null;
  /** Where git is looked for. */
  readonly searchPath: string | undefined;
}

/** What there is, with what changes when it does. */
interface FileTraces {
  readonly files: ReadonlyMap<string, string>;
  readonly repository: string | null;
}

/**
 * A harness whose workers fail when something was written outside of where they may write, as far as that can be seen.
 * Workers that are at it at the same time cannot be told apart: what one of them may write, none is blamed for, and for
 * what none may write each is.
 */
export function confineHarness(harness: Harness, watched: Watched): Harness {
  const shifts = new Map<WorkerTask, Set<WorkerTask>>();
  // Those that were at it when the state folder was found changed, which is put back before they are done.
  const suspects = new Set<WorkerTask>();
  let stateAtRest = readState(watched);
  const run = async (task: WorkerTask, signal: AbortSignal): Promise<WorkerOutcome> => {
    if (shifts.size === 0) stateAtRest = readState(watched);
    const beside = new Set([task, ...shifts.keys()]);
    for (const others of shifts.values()) others.add(task);
    shifts.set(task, beside);
    try {
      const before = await readTraces(watched, task);
      const outcome = await harness.run(task, signal);
      const after = await readTraces(watched, task);
      const strays = findStrays(before.files, after.files, [...beside], watched);
      if (watched.state !== null && readState(watched).digest !== stateAtRest.digest) {
        for (const other of shifts.keys()) suspects.add(other);
        await takeBack(watched.state, stateAtRest.head, watched.searchPath);
      }
      if (watched.state !== null && suspects.has(task)) strays.unshift(watched.state);
      const isChanged = before.repository !== after.repository;
      return judgeStrays(outcome, strays, isChanged ? watched.repository : null);
    } finally {
      shifts.delete(task);
      suspects.delete(task);
    }
  };
  return { name: harness.name, run };
}

function judgeStrays(
  outcome: WorkerOutcome,
  strays: readonly string[],
  repository: string | null,
): WorkerOutcome {
  if (outcome.kind === "failed") return outcome;
  if (strays.length > 0) {
    const detail = `while it worked, this changed where it may not write: ${strays.slice(0, 3).join(", ")}`;
    return { kind: "failed", reason: "outside", detail, usd: outcome.usd };
  }
  if (repository === null) return outcome;
  return { ...outcome, summary: `${outcome.summary} (meanwhile ${repository} changed)` };
}

function findStrays(
  before: FileTraces["files"],
  after: FileTraces["files"],
  tasks: readonly WorkerTask[],
  { isOwn }: Watched,
): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  return paths.filter(
    (path) =>
      before.get(path) !== after.get(path) && !isOwn(path) && !tasks.some((one) => mayWrite(one, path)),
  );
}

function mayWrite({ outputs, writable }: WorkerTask, path: string): boolean {
  return outputs.includes(path) || writable.some((folder) => path.startsWith(folder + sep));
}

/** Puts the state folder back to the commit that it was at. */
async function takeBack(state: string, head: string | null, searchPath: string | undefined): Promise<void> {
  const git = openGit(state, searchPath);
  dropLocks(join(state, ".git"), "index", "HEAD", "refs/heads/main");
  if (head !== null) await git.ask(["reset", "--quiet", "--hard", head]);
  await git.ask(["clean", "-dffxq"]);
}

async function readTraces({ work, repository, searchPath }: Watched, task: WorkerTask): Promise<FileTraces> {
  const files = new Map<string, string>();
  traceFolder(work, files);
  // Whoever only reads has no shell to change it with.
  if (repository === null || task.tools === "read") return { files, repository: null };
  const status = ["status", "--porcelain=v2", "--branch", "--untracked-files=normal"];
  return { files, repository: await openGit(repository, searchPath).ask(status) };
}

function readState({ state }: Watched): { readonly digest: string | null; readonly head: string | null } {
  if (state === null) return { digest: null, head: null };
  const head = readPlainText(join(state, ".git/refs/heads/main"));
  return { digest: describeState(state), head: head?.trim() ?? null };
}

function describeState(folder: string): string {
  try {
    return digestState(folder);
  } catch (error) {
    return errorMessage(error);
  }
}

/** Git refreshes what it keeps whenever somebody only looks, and installed packages are too many. */
const skipped = [".git", "node_modules"];

/** Files with their times and sizes: when something is written to one, the system changes them, whatever it is. */
function traceFolder(folder: string, files: Map<string, string>): void {
  for (const name of listNames(folder)) {
    if (skipped.includes(name)) continue;
    const path = join(folder, name);
    const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
    if (stats?.isDirectory()) traceFolder(path, files);
    else if (stats)
      files.set(path, `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.mode}`);
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
