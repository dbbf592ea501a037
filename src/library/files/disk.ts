import { createHash } from "node:crypto";
import { chmod, lstat, mkdtemp, open, readdir, readFile, realpath, rename, rm } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { errorMessage, isRunning, KnackError } from "../../base/index.ts";

export function getErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(getErrorCode(error));
}

/** For `catch`: a fallback for a missing file; any other error is thrown on. */
export function ifMissing<T>(fallback: T): (error: unknown) => T {
  return (error) => {
    if (isMissing(error)) return fallback;
    throw error;
  };
}

/** Whether something has this path; a link counts, wherever it leads. */
export async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(ifMissing(null))) !== null;
}

/** Whether two paths lead to one folder; false where either does not exist. */
export async function samePath(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => realpath(path).catch(() => null)));
  return a !== null && a === b;
}

/** Whether a path, or its nearest existing parent, really is inside a root. */
export async function isInside(path: string, root: string): Promise<boolean> {
  const [real, top] = [await resolveExisting(path), await resolveExisting(root)];
  const way = relative(top, real);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && way !== real);
}

/** The path with links resolved as far as it exists. */
async function resolveExisting(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) throw error;
    return join(
      await resolveExisting(dirname(path)),
      path.slice(dirname(path).length).replace(/^[\\/]+/, ""),
    );
  }
}

export function hashBytes(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export async function readBytes(path: string): Promise<Buffer | null> {
  return readFile(path).catch(ifMissing(null));
}

/** Writes a new file and syncs it to the disk. */
export async function writeNew(path: string, bytes: Uint8Array | string, mode?: number): Promise<void> {
  const handle = await open(path, "wx");
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (mode !== undefined) await chmod(path, mode);
}

/** Makes renames in a folder survive a loss of power; Windows cannot sync folders. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => null);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/** Renames a folder to where nothing is, or an empty folder; false when something is there or the folder is gone. */
export async function moveFolder(from: string, to: string): Promise<boolean> {
  const there = await lstat(to).catch(ifMissing(null));
  if (there !== null && !there.isDirectory()) return false;
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (["ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR", "EPERM"].includes(getErrorCode(error))) return false;
    throw error;
  }
}

/** Where a package waits while another takes its place. */
export const asidePrefix = ".knack-aside-";
const workPrefix = ".knack-work-";

export function isWorkName(name: string): boolean {
  return name.startsWith(workPrefix);
}

/** Works in a hidden folder on the same file system; its name has the process id, so that others can clean up. */
export async function inWorkFolder<T>(beside: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(beside, `${workPrefix}${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    await removeWork(folder);
  }
}

/** Removes the work folders of processes that ended. */
export async function sweepWork(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = isWorkName(name) ? Number.parseInt(name.slice(workPrefix.length), 10) : Number.NaN;
    if (pid > 0 && !isRunning(pid)) await removeWork(join(folder, name));
  }
}

/** Files in it may belong to somebody else; what cannot be removed stays, and stops nothing. */
async function removeWork(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

/** Turns what the disk refuses into an error that names the path and the next step. */
export async function explainFailure<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof KnackError) throw cause;
    throw new KnackError("LIBRARY_UNAVAILABLE", `Cannot ${action}: ${errorMessage(cause)}`, {
      hint: "Check that you may read and write there and that the disk has room.",
      cause,
    });
  }
}
