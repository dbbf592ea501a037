import { lstat, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { KnackError, messageIn } from "../core/errors.ts";
import type { Expecting, TextRead, Written } from "../engine/ports.ts";
import { bytesAt, codeOf, digestOf, isMissing, syncFolder, writeDown } from "./packages.ts";
import { inWorkFolder, isWithin, sweep } from "./work.ts";

/** A text file with its hash. */
export async function readTextFile(path: string): Promise<TextRead> {
  try {
    const bytes = await bytesAt(path);
    if (bytes === null) return { found: "missing" };
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { found: "text", text, hash: digestOf(bytes) };
  } catch (error) {
    return { found: "unreadable", message: `${path}: ${messageIn(error)}` };
  }
}

/** Replaces the expected text in one move. */
export async function writeTextFile(
  path: string,
  text: string,
  { expecting, root }: Expecting & { readonly root?: string },
): Promise<Written> {
  return refusing(path, async () => {
    const real = await targetOf(path);
    if (real === null) return { written: false, because: "link", found: null };
    if (root !== undefined && !(await isWithin(real, root)))
      return { written: false, because: "outside", found: null };
    const folder = dirname(real);
    await mkdir(folder, { recursive: true });
    await sweep(folder);
    return inWorkFolder(folder, async (work) => {
      const staged = join(work, "new");
      const mode = (await stat(real).catch(() => null))?.mode;
      await writeDown(staged, text, mode === undefined ? undefined : mode & 0o7777);
      return ifExpected(real, expecting, async () => {
        await rename(staged, real);
        await syncFolder(folder);
        return digestOf(text);
      });
    });
  });
}

/** Removes a text file, if it is the expected one. */
export async function removeTextFile(
  path: string,
  { expecting }: { readonly expecting: string },
): Promise<Written> {
  return refusing(path, async () => {
    const there = await lstat(path).catch(() => null);
    if (there?.isSymbolicLink()) return { written: false, because: "link", found: null };
    return ifExpected(path, expecting, async () => {
      await rm(path);
      return null;
    });
  });
}

/** The file that a path means: itself, or what a link names; null for a link that names nothing. */
async function targetOf(path: string): Promise<string | null> {
  const there = await lstat(path).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (!there?.isSymbolicLink()) return path;
  return realpath(path).catch(() => null);
}

/** Does the change if the file is as expected, while no other Knack changes it. */
async function ifExpected(
  path: string,
  expecting: string | null,
  change: () => Promise<string | null>,
): Promise<Written> {
  return locked(join(dirname(path), `.knack-lock-${basename(path)}.lock`), async () => {
    const bytes = await bytesAt(path);
    const found = bytes === null ? null : digestOf(bytes);
    if (found !== expecting) return { written: false, because: "changed", found };
    return { written: true, hash: await change() };
  });
}

/** A lock is held for a look and a move; one that stays for a second was left by a process that was killed. */
async function locked<T>(path: string, work: () => Promise<T>): Promise<T> {
  let seen: { readonly id: string; times: number } = { id: "", times: 0 };
  while (!(await take(path))) {
    const id = await stat(path).then(
      ({ ino, mtimeMs }) => `${ino} ${mtimeMs}`,
      () => "",
    );
    seen = id === seen.id ? { id, times: seen.times + 1 } : { id, times: 0 };
    if (seen.times > 100) await rm(path, { force: true });
    await sleep(10);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx")).close();
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

async function refusing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof KnackError) throw cause;
    throw new KnackError("LIBRARY_UNAVAILABLE", `Cannot change ${path}: ${messageIn(cause)}`, {
      hint: "See that the file and its folder may be written by you and that the disk has room.",
      cause,
    });
  }
}
