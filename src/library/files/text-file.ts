import { lstat, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "../../base/index.ts";
import {
  explainFailure,
  getErrorCode,
  hashBytes,
  ifMissing,
  inWorkFolder,
  isInside,
  readBytes,
  sweepWork,
  syncFolder,
  writeNew,
} from "./disk.ts";
import type { Expecting, TextRead, Written } from "./library.ts";

/** A text file. Bytes that are not UTF-8 make it unreadable, since they could not be written back. Never throws. */
export async function readTextFile(path: string): Promise<TextRead> {
  try {
    const bytes = await readBytes(path);
    if (bytes === null) return { found: "missing" };
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { found: "text", text, hash: hashBytes(bytes) };
  } catch (error) {
    return { found: "unreadable", message: `${path}: ${errorMessage(error)}` };
  }
}

/** Replaces the expected text with one rename and keeps its mode; a link is followed if it stays within `root`. */
export async function writeTextFile(
  path: string,
  text: string,
  { expecting, root }: Expecting & { readonly root?: string },
): Promise<Written> {
  return explainFailure(`change ${path}`, async () => {
    const real = await followLink(path);
    if (real === null) return { written: false, because: "link", found: null };
    if (root !== undefined && !(await isInside(real, root)))
      return { written: false, because: "outside", found: null };
    const folder = dirname(real);
    await mkdir(folder, { recursive: true });
    await sweepWork(folder);
    return inWorkFolder(folder, async (work) => {
      const staged = join(work, "new");
      const mode = (await stat(real).catch(() => null))?.mode;
      await writeNew(staged, text, mode === undefined ? undefined : mode & 0o7777);
      return changeIfExpected(real, expecting, async () => {
        await rename(staged, real);
        await syncFolder(folder);
        return hashBytes(text);
      });
    });
  });
}

export async function removeTextFile(
  path: string,
  { expecting }: { readonly expecting: string },
): Promise<Written> {
  return explainFailure(`change ${path}`, async () => {
    const there = await lstat(path).catch(() => null);
    if (there?.isSymbolicLink()) return { written: false, because: "link", found: null };
    return changeIfExpected(path, expecting, async () => {
      await rm(path);
      return null;
    });
  });
}

/** The file itself, or what a link leads to; null for a link to nothing. */
async function followLink(path: string): Promise<string | null> {
  const there = await lstat(path).catch(ifMissing(null));
  return there?.isSymbolicLink() ? realpath(path).catch(() => null) : path;
}

async function changeIfExpected(
  path: string,
  expecting: string | null,
  change: () => Promise<string | null>,
): Promise<Written> {
  return withLock(join(dirname(path), `.knack-lock-${basename(path)}.lock`), async () => {
    const bytes = await readBytes(path);
    const found = bytes === null ? null : hashBytes(bytes);
    if (found !== expecting) return { written: false, because: "changed", found };
    return { written: true, hash: await change() };
  });
}

/**
 * Excludes other Knack processes for one hash and one rename. A lock that stays for a second was left by a killed
 * process. That is too short for the heartbeats of a locking library to be of use, so none is used.
 */
async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  let seen: { readonly id: string; readonly times: number } = { id: "", times: 0 };
  while (!(await takeLock(path))) {
    const found = await stat(path).catch(() => null);
    const id = found ? `${found.ino} ${found.mtimeMs}` : "";
    seen = { id, times: id === seen.id ? seen.times + 1 : 0 };
    if (seen.times > 100) await rm(path, { force: true });
    await sleep(10);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function takeLock(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx")).close();
    return true;
  } catch (error) {
    if (getErrorCode(error) === "EEXIST") return false;
    throw error;
  }
}
