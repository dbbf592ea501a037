import { chmod, lstat, mkdir, readdir, rename, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { KnackError, messageIn } from "../core/errors.ts";
import { isSkillName, ownerOf, parse, problemsOf, skillFile } from "../core/skill.ts";
import type {
  BrokenPackage,
  Expecting,
  Library,
  Listing,
  PackageFile,
  Place,
  SkillPackage,
  Written,
} from "../engine/ports.ts";
import {
  type Contents,
  checkFiles,
  checkName,
  codeOf,
  contentsOf,
  hashOf,
  identityOf,
  ifMissing,
  isMissing,
  isThere,
  syncFolder,
  writeFiles,
} from "./packages.ts";
import { inWorkFolder, isWithin, isWork, sweep } from "./work.ts";

/**
 * A package is replaced in three moves: the old one aside, the new one in, the old one away. Moving aside fails while
 * something is there, so at most one writer is between the first move and the last; and it is what brings the old
 * package back when that writer is killed.
 */
export const asidePrefix = ".knack-aside-";

/** Every package in a place. */
export async function listPackages({ folder }: Place): Promise<Listing> {
  const names = await namesIn(folder);
  if (!Array.isArray(names)) return names;
  const system = names.includes(".system") ? await namesIn(join(folder, ".system")) : [];
  const paths = [
    ...names.filter((name) => !name.startsWith(".")).map((name) => ({ name, path: join(folder, name) })),
    ...asides(names).map((name) => ({ name, path: join(folder, name) })),
    ...(Array.isArray(system) ? system : []).map((name) => ({ name, path: join(folder, ".system", name) })),
  ];
  const skills: SkillPackage[] = [];
  const broken: BrokenPackage[] = [];
  for (const { name, path } of paths.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const found = await packageOf(path, join(folder, asidePrefix + name), name);
    if (found !== null) "hash" in found ? skills.push(found) : broken.push(found);
  }
  if (!Array.isArray(system) && system.found === "unreadable")
    broken.push({
      name: ".system",
      path: join(folder, ".system"),
      unreadable: true,
      problems: [system.message],
    });
  return { found: "skills", skills, broken };
}

async function namesIn(folder: string): Promise<string[] | Exclude<Listing, { found: "skills" }>> {
  try {
    const names = new Set(await readdir(folder));
    // Reading a folder can miss a name that is being changed, so while somebody works there it is read again.
    for (let again = 0; again < 5 && [...names].some(isWork); again++)
      for (const name of await readdir(folder)) names.add(name);
    return [...names];
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { found: "missing" };
    return { found: "unreadable", message: `${folder}: ${messageIn(error)}` };
  }
}

/** Names of packages that only stand aside. */
function asides(names: readonly string[]): string[] {
  return names
    .filter((name) => name.startsWith(asidePrefix))
    .map((name) => name.slice(asidePrefix.length))
    .filter((name) => isSkillName(name) && !names.includes(name));
}

/** A package wherever it is while somebody replaces it; null where there is none. */
async function packageOf(
  path: string,
  aside: string,
  name: string,
): Promise<SkillPackage | BrokenPackage | null> {
  // Each look may fall between two moves, so what is gone from both places is looked for again.
  for (let look = 0; look < 10; look++) {
    const found = await packageAt(path, name);
    if (found !== "gone") return found;
    const old = await packageAt(aside, name);
    if (old !== "gone") return old;
    await sleep(look);
  }
  return null;
}

/** The package in a folder; null where there is something else. */
async function packageAt(path: string, name: string): Promise<SkillPackage | BrokenPackage | null | "gone"> {
  try {
    const before = await identityOf(path);
    if (before === null) return "gone";
    if (!(await stat(path)).isDirectory()) return null;
    // What is no skill may be anything, of any size: it is not read.
    if (!(await isThere(join(path, skillFile)))) return (await identityOf(path)) === before ? null : "gone";
    const contents = await contentsOf(path);
    const main = contents?.files.find((file) => file.path === skillFile);
    if (contents === null) return "gone";
    if (main === undefined) return null;
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(main.bytes);
    const { skill, problems } = parse(text);
    if (skill === null || skill.description.trim() === "") {
      const all = skill === null ? problems : [...problems, ...problemsOf(skill, name)];
      return { name, path, unreadable: false, problems: all.map(({ message }) => message) };
    }
    return {
      name,
      description: skill.description,
      path,
      hash: contents.hash,
      owner: ownerOf(path, skill),
      text,
      skill,
      problems: [...problems, ...problemsOf(skill, name)],
    };
  } catch (error) {
    if (isMissing(error)) return "gone";
    return { name, path, unreadable: true, problems: [messageIn(error)] };
  }
}

/** All files of a package, also while somebody replaces it. */
export async function readPackage(path: string): ReturnType<Library["read"]> {
  try {
    const aside = join(dirname(path), asidePrefix + basename(path));
    const found = (await contentsOf(path)) ?? (await contentsOf(aside)) ?? (await contentsOf(path));
    return found;
  } catch (cause) {
    throw new KnackError("LIBRARY_UNAVAILABLE", `Cannot read ${path}: ${messageIn(cause)}`, {
      hint: "See that the folder may be read by you.",
      cause,
    });
  }
}

/** Puts a package in a place, over the expected one. */
export async function writePackage(
  place: Place,
  name: string,
  files: readonly PackageFile[],
  { expecting, dropLinks = false }: Expecting,
): Promise<Written> {
  checkName(name);
  checkFiles(name, files);
  return refusing(place, async () => {
    if (!(await isWithin(place.folder, place.root)))
      return { written: false, because: "outside", found: null };
    await mkdir(place.folder, { recursive: true });
    const known = await knownState(place, name, expecting, dropLinks);
    if (known !== null) return known;
    return inWorkFolder(place.folder, async (work) => {
      await writeFiles(join(work, "new"), files);
      const moved =
        expecting === null
          ? await moveOverEmpty(join(work, "new"), join(place.folder, name))
          : await replace(place, name, expecting, work, join(work, "new"));
      return moved ? { written: true, hash: hashOf(files) } : changed(place, name);
    });
  });
}

/** Takes the expected package away. */
export async function removePackage(
  place: Place,
  name: string,
  { expecting, dropLinks = false }: Expecting & { readonly expecting: string },
): Promise<Written> {
  checkName(name);
  return refusing(place, async () => {
    if (!(await isWithin(place.folder, place.root)))
      return { written: false, because: "outside", found: null };
    const known = await knownState(place, name, expecting, dropLinks);
    if (known !== null) return known;
    return inWorkFolder(place.folder, async (work) =>
      (await replace(place, name, expecting, work, null))
        ? { written: true, hash: null }
        : changed(place, name),
    );
  });
}

/** What speaks against a change before anything is moved; null when the package is as expected. */
async function knownState(
  place: Place,
  name: string,
  expecting: string | null,
  dropLinks: boolean,
): Promise<Written | null> {
  await settle(place, name);
  const target = join(place.folder, name);
  const there = await lstat(target).catch(ifMissing(null));
  if (there === null) return expecting === null ? null : { written: false, because: "changed", found: null };
  if (!there.isDirectory()) return { written: false, because: "link", found: null };
  const contents = await contentsOf(target);
  if (expecting === null && contents !== null && isEmpty(contents)) return null;
  if (contents === null || contents.hash !== expecting)
    return { written: false, because: "changed", found: contents?.hash ?? null };
  return dropLinks || contents.links.length === 0
    ? null
    : { written: false, because: "link", found: contents.hash };
}

/** The three moves; false when somebody else was quicker. */
async function replace(
  place: Place,
  name: string,
  expecting: string,
  work: string,
  staged: string | null,
): Promise<boolean> {
  const [target, aside] = [join(place.folder, name), join(place.folder, asidePrefix + name)];
  // Before the moves, between which others wait only so long.
  if (staged !== null && !(await keepModes(target, staged).then(() => true, ifMissing(false)))) return false;
  if (!(await moveIn(target, aside))) return false;
  // The package may have changed between the look at it and the move.
  const taken = await contentsOf(aside).catch(() => null);
  if (taken?.hash !== expecting) {
    await moveIn(aside, target);
    return false;
  }
  if (staged !== null && !(await moveIn(staged, target))) {
    await moveIn(aside, target);
    return false;
  }
  await syncFolder(place.folder);
  // Removing file by file can be cut short; a move cannot, so nobody takes half a package for a whole one.
  await moveIn(aside, join(work, "old"));
  return true;
}

/**
 * What was there keeps who may read and write it, file or folder, and empty folders stay: no version tells of them, and
 * whoever closed something wants it closed. Whether a file can be run is what the new one says.
 */
async function keepModes(old: string, fresh: string): Promise<void> {
  const entries = await readdir(old, { withFileTypes: true });
  if (entries.length === 0) await mkdir(fresh, { recursive: true }).catch(ifFileThere);
  for (const entry of entries) {
    const [from, to] = [join(old, entry.name), join(fresh, entry.name)];
    if (entry.isDirectory()) await keepModes(from, to);
    else if (entry.isFile()) await keepMode(from, to);
  }
  const now = await lstat(fresh).catch(ifMissing(null));
  // Its owner may move and replace it all the same.
  if (now?.isDirectory()) await chmod(fresh, ((await stat(old)).mode & 0o7777) | 0o700);
}

/** Where a file took the place of a folder, the folder is not missed. */
function ifFileThere(error: unknown): void {
  if (!["EEXIST", "ENOTDIR"].includes(codeOf(error))) throw error;
}

async function keepMode(old: string, fresh: string): Promise<void> {
  const now = await lstat(fresh).catch(ifMissing(null));
  if (!now?.isFile()) return;
  const mode = (await stat(old)).mode & 0o7777;
  const isRun = (now.mode & 0o111) !== 0;
  // Who may read it may run it then.
  const run = (mode & 0o111) === 0 ? mode | 0o100 | ((mode & 0o444) >> 2) : mode;
  await chmod(fresh, isRun ? run : mode & ~0o111);
}

/** Moves a folder to where nothing is; false when something is there, or the folder is gone. */
async function moveIn(from: string, to: string): Promise<boolean> {
  // A folder moved onto an empty folder takes its place, so only what is not a folder is asked for.
  const there = await lstat(to).catch(ifMissing(null));
  if (there !== null && !there.isDirectory()) return false;
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (["ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR", "EPERM"].includes(codeOf(error))) return false;
    throw error;
  }
}

/** The same to where a folder may be with nothing but folders in it. */
async function moveOverEmpty(from: string, to: string): Promise<boolean> {
  await dropEmptyIn(to);
  return moveIn(from, to);
}

async function dropEmptyIn(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(ifMissing([]))) {
    if (!entry.isDirectory()) continue;
    const inner = join(folder, entry.name);
    await dropEmptyIn(inner);
    // Where something has come into it, the move is refused.
    await rmdir(inner).catch(() => {});
  }
}

function isEmpty({ files, links }: Contents): boolean {
  return files.length + links.length === 0;
}

async function changed(place: Place, name: string): Promise<Written> {
  const now = await contentsOf(join(place.folder, name)).catch(() => null);
  return { written: false, because: "changed", found: now?.hash ?? null };
}

/** Ends what a killed process left half done in a place. */
export async function repairPlace(place: Place): Promise<string[]> {
  return refusing(place, async () => {
    if (!(await isWithin(place.folder, place.root))) return [];
    const names = await readdir(place.folder).catch(ifMissing([]));
    const back: string[] = [];
    for (const name of names.flatMap((entry) =>
      entry.startsWith(asidePrefix) ? entry.slice(asidePrefix.length) : [],
    ))
      if (isSkillName(name) && (await settle(place, name))) back.push(name);
    await sweep(place.folder);
    return back;
  });
}

/** Ends a change of one package that was cut short; true when the old one came back. */
async function settle(place: Place, name: string): Promise<boolean> {
  const [target, aside] = [join(place.folder, name), join(place.folder, asidePrefix + name)];
  // A writer at work is between its moves for a moment only.
  for (let wait = 0; wait < 10 && (await isThere(aside)); wait++) await sleep(20);
  if (!(await isThere(aside))) return false;
  if (!(await isThere(target))) return moveIn(aside, target);
  await inWorkFolder(place.folder, (work) => moveIn(aside, join(work, "old")));
  return false;
}

/** What the disk refuses, told with the place and the next step. */
export async function refusing<T>({ folder }: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof KnackError) throw cause;
    throw new KnackError("LIBRARY_UNAVAILABLE", `Cannot change skills in ${folder}: ${messageIn(cause)}`, {
      hint: "See that the folder may be written by you and that the disk has room.",
      cause,
    });
  }
}
