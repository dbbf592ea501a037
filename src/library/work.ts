import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { isMissing } from "./packages.ts";

/**
 * A folder beside what is to be changed, on its file system, for work that nobody may see half done. Its name has the
 * process in it, so that others know when it was left behind.
 */
export async function inWorkFolder<T>(beside: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(beside, `${workPrefix}${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    await drop(folder);
  }
}

const workPrefix = ".knack-work-";

export function isWork(name: string): boolean {
  return name.startsWith(workPrefix);
}

/** Removes the work folders of processes that are gone. */
export async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = isWork(name) ? Number.parseInt(name.slice(workPrefix.length), 10) : Number.NaN;
    if (pid > 0 && !isRunning(pid)) await drop(join(folder, name));
  }
}

/** What was taken out of a package may be somebody else's and refuse to go. It waits here, and stops no other work. */
async function drop(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Whether a path, or the nearest folder above that exists, really is within a root. */
export async function isWithin(path: string, root: string): Promise<boolean> {
  const [real, top] = [await realPathOf(path), await realPathOf(root)];
  const way = relative(top, real);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && way !== real);
}

/** The path with links resolved as far as it exists. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) throw error;
    return join(await realPathOf(dirname(path)), path.slice(dirname(path).length).replace(/^[\\/]+/, ""));
  }
}
