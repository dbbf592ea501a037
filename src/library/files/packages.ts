import { createHash } from "node:crypto";
import { closeSync, constants, type Dirent, fstatSync, openSync, readFileSync } from "node:fs";
import { chmod, lstat, mkdir, opendir, readdir, readlink, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { errorMessage, KnackError } from "../../base/index.ts";
import { isSafePath } from "../../trust/index.ts";
import { findSkillProblems, isSkillName, parseSkill, skillFile, skillOwner } from "../skill.ts";
import {
  asidePrefix,
  exists,
  explainFailure,
  getErrorCode,
  ifMissing,
  inWorkFolder,
  isInside,
  isMissing,
  isWorkName,
  moveFolder,
  sweepWork,
  syncFolder,
  writeNew,
} from "./disk.ts";
import type {
  BrokenPackage,
  Expecting,
  FolderSize,
  Listing,
  PackageFile,
  PackageFiles,
  SkillFolder,
  SkillPackage,
  Written,
} from "./library.ts";

/*
 * A package is replaced in three renames: the old one aside, the new one in, the old one away. The first fails while
 * something is aside already, so it is both the lock and, when the writer is killed, the backup: no lock file is needed.
 */

/** Tries before a package that keeps changing is given up. */
const mostReads = 20;
/** Files that are read before other work gets a turn. */
const filesPerTurn = 100;

/** Every package in a folder, by name, with the broken ones beside the good ones. Never throws. */
export async function listPackages({ folder }: SkillFolder): Promise<Listing> {
  const names = await readNames(folder);
  if (!Array.isArray(names)) return names;
  const system = names.includes(".system") ? await readNames(join(folder, ".system")) : [];
  const asides = names
    .filter((name) => name.startsWith(asidePrefix))
    .map((name) => name.slice(asidePrefix.length))
    .filter((name) => isSkillName(name) && !names.includes(name));
  const paths = [
    ...[...names.filter((name) => !name.startsWith(".")), ...asides].map((name) => [
      name,
      join(folder, name),
    ]),
    ...(Array.isArray(system) ? system : []).map((name) => [name, join(folder, ".system", name)]),
  ] as [name: string, path: string][];
  const skills: SkillPackage[] = [];
  const broken: BrokenPackage[] = [];
  for (const [name, path] of paths.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const found = await findPackage(path, join(folder, asidePrefix + name), name);
    if (found !== null) "hash" in found ? skills.push(found) : broken.push(found);
  }
  if (!Array.isArray(system) && system.found === "unreadable") {
    const path = join(folder, ".system");
    broken.push({ name: ".system", path, unreadable: true, problems: [system.message] });
  }
  return { found: "skills", skills, broken };
}

async function readNames(folder: string): Promise<string[] | Exclude<Listing, { found: "skills" }>> {
  try {
    const names = new Set(await readdir(folder));
    // readdir can miss a name that is being renamed, so while somebody works there it is read again.
    for (let again = 0; again < 5 && [...names].some(isWorkName); again++)
      for (const name of await readdir(folder)) names.add(name);
    return [...names];
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return { found: "missing" };
    return { found: "unreadable", message: `${folder}: ${errorMessage(error)}` };
  }
}

/** A package, even while it is being replaced; null where there is none. */
async function findPackage(
  path: string,
  aside: string,
  name: string,
): Promise<SkillPackage | BrokenPackage | null> {
  // Each look may fall between two renames, so a package that is in neither place is looked for again.
  for (let look = 0; look < 10; look++) {
    const found = await parsePackage(path, name);
    if (found !== "gone") return found;
    const old = await parsePackage(aside, name);
    if (old !== "gone") return old;
    await sleep(look);
  }
  return null;
}

/** The package in a folder; null where there is something else. */
async function parsePackage(
  path: string,
  name: string,
): Promise<SkillPackage | BrokenPackage | null | "gone"> {
  try {
    const before = await identify(path);
    if (before === null) return "gone";
    if (!(await stat(path)).isDirectory()) return null;
    // A folder without a SKILL.md may be of any size, so it is not read.
    if (!(await exists(join(path, skillFile)))) return (await identify(path)) === before ? null : "gone";
    const contents = await readContents(path);
    if (contents === null) return "gone";
    const main = contents.files.find((file) => file.path === skillFile);
    if (main === undefined) return null;
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(main.bytes);
    const { skill, problems } = parseSkill(text);
    const all = skill === null ? problems : [...problems, ...findSkillProblems(skill, name)];
    if (skill === null || skill.description.trim() === "")
      return { name, path, unreadable: false, problems: all.map(({ message }) => message) };
    const { description } = skill;
    const owner = skillOwner(path, skill);
    return { name, description, path, hash: contents.hash, owner, text, skill, problems: all };
  } catch (error) {
    if (isMissing(error)) return "gone";
    return { name, path, unreadable: true, problems: [errorMessage(error)] };
  }
}

/** All files of the package at a path, even while it is being replaced; null when there is none. */
export async function readPackage(path: string): Promise<PackageFiles | null> {
  const aside = join(dirname(path), asidePrefix + basename(path));
  return explainFailure(
    `read ${path}`,
    async () => (await readContents(path)) ?? (await readContents(aside)) ?? (await readContents(path)),
  );
}

/** Everything in a package as it was at one time; null when there is no folder. */
async function readContents(folder: string): Promise<PackageFiles | null> {
  for (let attempt = 1; ; attempt++) {
    const before = await identify(folder);
    if (before === null) return null;
    const contents = await walkFolder(folder).catch((error: unknown) => {
      if (!isMissing(error) || attempt === mostReads) throw error;
      return null;
    });
    // A package is replaced as a whole: files of two packages are no package.
    if (contents !== null && (await identify(folder)) === before) return contents;
    if (attempt === mostReads) throw new Error(`${folder} keeps changing`);
  }
}

/** Differs between a folder and another that takes its place; null when there is none. */
async function identify(folder: string): Promise<string | null> {
  const found = await stat(folder, { bigint: true }).catch(ifMissing(null));
  return found && `${found.dev} ${found.ino}`;
}

async function walkFolder(folder: string): Promise<PackageFiles> {
  const files: PackageFile[] = [];
  const links: PackageFile[] = [];
  const walk = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await walk(path);
      else if (entry.isFile()) files.push(readPackageFile(folder, path));
      else links.push(await describeLink(folder, path, entry));
      if (files.length % filesPerTurn === 0) await setImmediate();
    }
  };
  await walk("");
  return {
    files: sortByPath(files),
    hash: hashFiles([...files, ...links]),
    links: links.map(({ path }) => path.slice(0, -linkMark.length)).sort(),
  };
}

/** Synchronous: awaiting each of many small files takes ten times as long as reading it. */
function readPackageFile(folder: string, path: string): PackageFile {
  // One handle, so that bytes and mode belong to one file; non-blocking, because it may be a pipe by now.
  const handle = openSync(join(folder, path), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return { path, bytes: readFileSync(handle), mode: fstatSync(handle).mode & 0o777 };
  } finally {
    closeSync(handle);
  }
}

/** A link counts by its target; nothing is read through it. */
async function describeLink(folder: string, path: string, entry: Dirent): Promise<PackageFile> {
  const target = entry.isSymbolicLink() ? await readlink(join(folder, path)) : "";
  return { path: `${path}${linkMark}`, bytes: Buffer.from(target), mode: 0 };
}

/** No path of a file ends so. */
const linkMark = "\0link";

/** One hash of a package's files: paths, bytes, and whether they are executable. */
export function hashFiles(files: readonly PackageFile[]): string {
  const hash = createHash("sha256");
  for (const { path, bytes, mode } of sortByPath(files))
    hash.update(`${path}\0${bytes.length}\0${(mode & 0o111) === 0 ? "" : "x"}\0`).update(bytes);
  return hash.digest("hex");
}

function sortByPath(files: readonly PackageFile[]): PackageFile[] {
  return [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Refuses a name that could lead elsewhere. */
function checkName(name: string): void {
  if (!isSkillName(name))
    throw new KnackError("BAD_PACKAGE", `"${name}" cannot be the name of a skill.`, {
      hint: "Use up to 64 lower-case letters, digits and single hyphens.",
    });
}

function checkFiles(name: string, files: readonly PackageFile[]): void {
  const bad = files.find(({ path }) => !isSafePath(path));
  if (bad) throw new KnackError("BAD_PACKAGE", `Skill "${name}" has a file with a bad path: "${bad.path}".`);
  if (new Set(files.map(({ path }) => path.toLowerCase())).size < files.length)
    throw new KnackError("BAD_PACKAGE", `Skill "${name}" has two files with one path.`);
  if (!files.some(({ path }) => path === skillFile))
    throw new KnackError("BAD_PACKAGE", `Skill "${name}" has no ${skillFile}.`);
}

/** Writes files into a folder that nobody else knows yet, and syncs them to the disk. */
export async function writeFiles(folder: string, files: readonly PackageFile[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const folders = new Set([folder]);
  for (const { path, bytes, mode } of files) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    for (let above = dirname(target); above !== folder; above = dirname(above)) folders.add(above);
    await writeNew(target, bytes, mode);
  }
  for (const one of folders) await syncFolder(one);
}

/** Puts a package in a folder, over the expected one. */
export async function writePackage(
  place: SkillFolder,
  name: string,
  files: readonly PackageFile[],
  options: Expecting,
): Promise<Written> {
  checkName(name);
  checkFiles(name, files);
  const { expecting } = options;
  return changeIn(place, async () => {
    if (!(await isInside(place.folder, place.root))) return outside;
    await mkdir(place.folder, { recursive: true });
    const objection = await findObjection(place, name, options);
    if (objection !== null) return objection;
    return inWorkFolder(place.folder, async (work) => {
      await writeFiles(join(work, "new"), files);
      const target = join(place.folder, name);
      if (expecting === null) await removeEmptyFolders(target);
      const moved =
        expecting === null
          ? await moveFolder(join(work, "new"), target)
          : await replace(place, name, expecting, work, join(work, "new"));
      return moved ? { written: true, hash: hashFiles(files) } : describeChanged(place, name);
    });
  });
}

/** Removes the expected package. */
export async function removePackage(
  place: SkillFolder,
  name: string,
  options: Expecting & { readonly expecting: string },
): Promise<Written> {
  checkName(name);
  return changeIn(place, async () => {
    if (!(await isInside(place.folder, place.root))) return outside;
    const objection = await findObjection(place, name, options);
    if (objection !== null) return objection;
    return inWorkFolder(place.folder, async (work) =>
      (await replace(place, name, options.expecting, work, null))
        ? { written: true, hash: null }
        : describeChanged(place, name),
    );
  });
}

const outside: Written = { written: false, because: "outside", found: null };

/** What speaks against a change before anything is moved; null when the package is as expected. */
async function findObjection(
  place: SkillFolder,
  name: string,
  { expecting, dropLinks = false }: Expecting,
): Promise<Written | null> {
  await finishReplace(place, name);
  const target = join(place.folder, name);
  const there = await lstat(target).catch(ifMissing(null));
  if (there === null) return expecting === null ? null : { written: false, because: "changed", found: null };
  if (!there.isDirectory()) return { written: false, because: "link", found: null };
  const contents = await readContents(target);
  const isEmpty = contents !== null && contents.files.length + contents.links.length === 0;
  if (expecting === null && isEmpty) return null;
  if (contents === null || contents.hash !== expecting)
    return { written: false, because: "changed", found: contents?.hash ?? null };
  return dropLinks || contents.links.length === 0
    ? null
    : { written: false, because: "link", found: contents.hash };
}

/** The three renames; false when somebody else was faster. */
async function replace(
  place: SkillFolder,
  name: string,
  expecting: string,
  work: string,
  staged: string | null,
): Promise<boolean> {
  const [target, aside] = [join(place.folder, name), join(place.folder, asidePrefix + name)];
  // Before the renames, between which readers wait only briefly.
  if (staged !== null && !(await copyModes(target, staged).then(() => true, ifMissing(false)))) return false;
  if (!(await moveFolder(target, aside))) return false;
  // The package may have changed between the check and the rename.
  const taken = await readContents(aside).catch(() => null);
  if (taken?.hash !== expecting || (staged !== null && !(await moveFolder(staged, target)))) {
    await moveFolder(aside, target);
    return false;
  }
  await syncFolder(place.folder);
  // Deleting file by file can be interrupted, a rename cannot: nobody ever sees half a package.
  await moveFolder(aside, join(work, "old"));
  return true;
}

/** Copies permissions and empty folders, which no version keeps. The new file says whether it is executable. */
async function copyModes(old: string, fresh: string): Promise<void> {
  const entries = await readdir(old, { withFileTypes: true });
  if (entries.length === 0)
    await mkdir(fresh, { recursive: true }).catch((error: unknown) => {
      // A file has taken the place of the empty folder.
      if (!["EEXIST", "ENOTDIR"].includes(getErrorCode(error))) throw error;
    });
  for (const entry of entries) {
    const [from, to] = [join(old, entry.name), join(fresh, entry.name)];
    if (entry.isDirectory()) await copyModes(from, to);
    else if (entry.isFile()) await copyMode(from, to);
  }
  const now = await lstat(fresh).catch(ifMissing(null));
  // The owner must be able to replace it again.
  if (now?.isDirectory()) await chmod(fresh, ((await stat(old)).mode & 0o7777) | 0o700);
}

async function copyMode(old: string, fresh: string): Promise<void> {
  const now = await lstat(fresh).catch(ifMissing(null));
  if (!now?.isFile()) return;
  const mode = (await stat(old)).mode & 0o7777;
  // Whoever may read an executable may run it.
  const runnable = (mode & 0o111) === 0 ? mode | 0o100 | ((mode & 0o444) >> 2) : mode;
  await chmod(fresh, (now.mode & 0o111) !== 0 ? runnable : mode & ~0o111);
}

async function removeEmptyFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(ifMissing([]))) {
    if (!entry.isDirectory()) continue;
    const inner = join(folder, entry.name);
    await removeEmptyFolders(inner);
    // If something appears in it meanwhile, the rename is refused.
    await rmdir(inner).catch(() => {});
  }
}

async function describeChanged(place: SkillFolder, name: string): Promise<Written> {
  const now = await readContents(join(place.folder, name)).catch(() => null);
  return { written: false, because: "changed", found: now?.hash ?? null };
}

/** Finishes what killed processes left half done; answers with the packages that came back. */
export async function repairFolder(place: SkillFolder): Promise<string[]> {
  return changeIn(place, async () => {
    if (!(await isInside(place.folder, place.root))) return [];
    const names = (await readdir(place.folder).catch(ifMissing([])))
      .filter((name) => name.startsWith(asidePrefix))
      .map((name) => name.slice(asidePrefix.length));
    const back: string[] = [];
    for (const name of names) if (isSkillName(name) && (await finishReplace(place, name))) back.push(name);
    await sweepWork(place.folder);
    return back;
  });
}

/** Finishes an interrupted replacement; true when the old package came back. */
async function finishReplace(place: SkillFolder, name: string): Promise<boolean> {
  const [target, aside] = [join(place.folder, name), join(place.folder, asidePrefix + name)];
  // A live writer is between its renames for a moment only.
  for (let wait = 0; wait < 10 && (await exists(aside)); wait++) await sleep(20);
  if (!(await exists(aside))) return false;
  if (!(await exists(target))) return moveFolder(aside, target);
  await inWorkFolder(place.folder, (work) => moveFolder(aside, join(work, "old")));
  return false;
}

/** Makes a folder for an agent to write in; false where a link leads outside. */
export async function makeFolder(place: SkillFolder, name: string): Promise<boolean> {
  checkName(name);
  const folder = join(place.folder, name);
  return changeIn(place, async () => {
    if (!(await isInside(folder, place.root))) return false;
    await mkdir(folder, { recursive: true });
    // A link may have appeared meanwhile.
    return isInside(folder, place.root);
  });
}

/** Deletes a folder with everything in it, without following links; false where a link leads outside. */
export async function clearFolder(place: SkillFolder, name: string): Promise<boolean> {
  checkName(name);
  return changeIn(place, async () => {
    if (!(await isInside(place.folder, place.root))) return false;
    const folder = join(place.folder, name);
    if (await exists(folder)) await rm(folder, { recursive: true, force: true });
    return true;
  });
}

/** Deletes an empty folder; false where something is in it, or a link leads outside. */
export async function dropEmpty(place: SkillFolder): Promise<boolean> {
  return changeIn(place, async () => {
    if (!(await isInside(place.folder, place.root))) return false;
    return rmdir(place.folder).then(
      () => true,
      () => false,
    );
  });
}

/** What has this name: a folder, nothing, or anything else (a file, a link, something outside). */
export async function entryKind(place: SkillFolder, name: string): Promise<"folder" | "nothing" | "else"> {
  return changeIn(place, async () => {
    if (!(await isInside(place.folder, place.root))) return "else";
    const there = await lstat(join(place.folder, name)).catch(ifMissing(null));
    if (there === null) return "nothing";
    return there.isDirectory() ? "folder" : "else";
  });
}

export async function listNames(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(ifMissing([]));
  return names.filter((name) => !isWorkName(name)).sort();
}

/** Files, folders and bytes, counted until a limit is passed; zero where there is no folder. */
export async function measureFolder(folder: string, limit: FolderSize): Promise<FolderSize> {
  let [files, bytes] = [0, 0];
  // Not `recursive`: on Node 20 an opendir with it leaves most entries out.
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for await (const entry of (await opendir(next).catch(ifMissing(null))) ?? []) {
      const path = join(next, entry.name);
      files++;
      if (entry.isDirectory()) folders.push(path);
      if (entry.isFile()) bytes += (await lstat(path)).size;
      if (files > limit.files || bytes > limit.bytes) return { files, bytes };
    }
  }
  return { files, bytes };
}

function changeIn<T>({ folder }: SkillFolder, work: () => Promise<T>): Promise<T> {
  return explainFailure(`change skills in ${folder}`, work);
}
