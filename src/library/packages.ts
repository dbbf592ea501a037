import { createHash } from "node:crypto";
import { closeSync, constants, type Dirent, fstatSync, openSync, readFileSync } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, readFile, readlink, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { KnackError } from "../core/errors.ts";
import { isSafePath } from "../core/scan.ts";
import { isSkillName, skillFile } from "../core/skill.ts";
import type { PackageFile } from "../engine/ports.ts";

/** The files of a package, and the links and other things among them, which a copy would lose. */
export interface Contents {
  readonly files: readonly PackageFile[];
  readonly hash: string;
  readonly links: readonly string[];
}

/** Everything in a package as it was at one time; null when there is no folder. */
export async function contentsOf(folder: string): Promise<Contents | null> {
  for (let attempt = 1; ; attempt++) {
    const before = await identityOf(folder);
    if (before === null) return null;
    const contents = await walkThrough(folder).catch((error: unknown) => {
      if (!isMissing(error) || attempt === mostAttempts) throw error;
      return null;
    });
    // A package is replaced as a whole; what was read of two belongs to none.
    if (contents !== null && (await identityOf(folder)) === before) return contents;
    if (attempt === mostAttempts) throw new Error(`${folder} keeps changing`);
  }
}

const mostAttempts = 20;

/** What tells a folder from another that takes its place; null when there is none. */
export async function identityOf(folder: string): Promise<string | null> {
  try {
    const { dev, ino } = await stat(folder, { bigint: true });
    return `${dev} ${ino}`;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function walkThrough(folder: string): Promise<Contents> {
  const files: PackageFile[] = [];
  const others: PackageFile[] = [];
  const walk = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await walk(path);
      else if (entry.isFile()) files.push(fileAt(folder, path));
      else others.push(await otherAt(folder, path, entry));
      if (files.length % filesAtOnce === 0) await setImmediate();
    }
  };
  await walk("");
  const links = others.map(({ path }) => path.slice(0, -linkMark.length)).sort();
  return { files: byPath(files), hash: hashOf([...files, ...others]), links };
}

/** Files that are read before others get a turn. */
const filesAtOnce = 100;

/** Read at once: of many small files, waiting for each takes ten times as long as reading it. */
function fileAt(folder: string, path: string): PackageFile {
  // One handle for both, so that they tell of one file.
  // What is no file by now must not be waited for.
  const handle = openSync(join(folder, path), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return { path, bytes: readFileSync(handle), mode: fstatSync(handle).mode & 0o777 };
  } finally {
    closeSync(handle);
  }
}

/** A link counts by where it points; nothing is read through it. */
async function otherAt(folder: string, path: string, entry: Dirent): Promise<PackageFile> {
  const target = entry.isSymbolicLink() ? await readlink(join(folder, path)) : "";
  return { path: `${path}${linkMark}`, bytes: Buffer.from(target), mode: 0 };
}

/** No path of a file ends so. */
const linkMark = "\0link";

/** One hash of a package's files: paths, bytes, and whether they may be run. */
export function hashOf(files: readonly PackageFile[]): string {
  const hash = createHash("sha256");
  for (const { path, bytes, mode } of byPath(files))
    hash.update(`${path}\0${bytes.length}\0${(mode & 0o111) === 0 ? "" : "x"}\0`).update(bytes);
  return hash.digest("hex");
}

export function digestOf(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function byPath(files: readonly PackageFile[]): PackageFile[] {
  return [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Refuses a name or a path that could lead elsewhere. */
export function checkName(name: string): void {
  if (!isSkillName(name))
    throw new KnackError("BAD_PACKAGE", `"${name}" cannot be the name of a skill.`, {
      hint: "Use up to 64 small letters, digits and single hyphens.",
    });
}

export function checkFiles(name: string, files: readonly PackageFile[]): void {
  const bad = files.find(({ path }) => !isSafePath(path));
  if (bad) throw new KnackError("BAD_PACKAGE", `Skill "${name}" has a file with a bad path: "${bad.path}".`);
  if (new Set(files.map(({ path }) => path.toLowerCase())).size < files.length)
    throw new KnackError("BAD_PACKAGE", `Skill "${name}" has two files with one path.`);
  if (!files.some(({ path }) => path === skillFile))
    throw new KnackError("BAD_PACKAGE", `Skill "${name}" has no ${skillFile}.`);
}

/** Writes a package into a folder that nobody else knows yet, down to the disk. */
export async function writeFiles(folder: string, files: readonly PackageFile[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const folders = new Set([folder]);
  for (const { path, bytes, mode } of files) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    for (let above = dirname(target); above !== folder; above = dirname(above)) folders.add(above);
    await writeDown(target, bytes, mode);
  }
  for (const one of folders) await syncFolder(one);
}

/** Writes a new file, with this mode if one is given, down to the disk. */
export async function writeDown(path: string, bytes: Uint8Array | string, mode?: number): Promise<void> {
  const handle = await open(path, "wx");
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (mode !== undefined) await chmod(path, mode);
}

/** Makes what was moved in a folder outlast a loss of power, where the system can. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => null);
  // Windows has no such thing for folders.
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error));
}

export async function bytesAt(path: string): Promise<Buffer | null> {
  return readFile(path).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
}

/** Whether something has this path; a link counts, wherever it leads. */
export async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(ifMissing(null))) !== null;
}

/** Takes a missing file for something else; any other error goes on. */
export function ifMissing<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (isMissing(error)) return instead;
    throw error;
  };
}
