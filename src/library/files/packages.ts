import { createHash } from "node:crypto";
import { closeSync } from "node:fs";
import {
  chmod,
  lstat,
  mkdir,
  opendir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  stat,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import {
  errorMessage,
  isInsideFolder,
  KnackError,
  openPlainFile,
  PlainFileError,
  readPlainHandle,
} from "../../base/index.ts";
import type { Owner, Skill, SkillProblem } from "../../records/index.ts";
import { isSafePath } from "../../trust/index.ts";
import { findSkillProblems, isSkillName, parseSkill, skillFile, skillOwner } from "../skill.ts";
import { asidePrefix, disk, exists, getErrorCode, isMissing } from "./disk.ts";

const { ifMissing, inWorkFolder, moveFolder, readBytes, sweepWork, syncFolder, writeNew } = disk;

/*
 * A package is replaced in three renames: the old one aside, the new one in, the old one away. The first fails while
 * something is aside already, so it is both the lock and, when the writer is killed, the backup: no lock file is needed.
 */

/** Bytes of one file of a package, and of all of them. */
const mostBytes = 20 << 20;
const mostPackageBytes = 100 << 20;
/** Tries before a package that keeps changing is given up. */
const mostReads = 20;
/** Files that are read before other work gets a turn. */
const filesPerTurn = 100;

export interface SkillFolder {
  readonly folder: string;
  /** The repository or home folder it belongs to: links that lead out of it are not followed. */
  readonly root: string;
  /** Files written there are readable by the person alone, whatever the umask. */
  readonly isPrivate?: boolean;
}

/** One file of a package: its path below the package, with `/` on every system, and its permission bits. */
export interface PackageFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mode: number;
}

export type PackageFileList = readonly PackageFile[];

export interface PackageContent {
  readonly files: PackageFileList;
  readonly hash: string;
}

/** Links and other things are not files, and a copy would lose them. */
type PackageFiles = PackageContent & { readonly links: readonly string[] };

export interface SkillPackage {
  readonly name: string;
  readonly description: string;
  readonly path: string;
  /** Of all its files: their paths, bytes, and whether they are executable. */
  readonly hash: string;
  readonly owner: Owner;
  readonly text: string;
  readonly skill: Skill;
  /** Departures from the format; agents may read it all the same. */
  readonly problems: readonly SkillProblem[];
}

/** A package that cannot be used. `unreadable`: the disk refused, so nothing is known about it. */
type BrokenPackage = {
  readonly name: string;
  readonly path: string;
  readonly unreadable: boolean;
  readonly problems: readonly string[];
};

type Unlisted = { readonly found: "missing" } | { readonly found: "unreadable"; readonly message: string };

/** The contents of a folder. Only `missing` means no skills; `unreadable` means unknown. */
type Listing =
  | Unlisted
  | {
      readonly found: "skills";
      readonly skills: readonly SkillPackage[];
      readonly broken: readonly BrokenPackage[];
    };

/** Whether a change was made, and if not, why. */
type TextWritten = Awaited<ReturnType<typeof disk.texts.writeText>>;

type Expecting = {
  /** The hash that the caller expects there; null for nothing. */
  readonly expecting: string | null;
  /** Replace a package although links in it are lost. */
  readonly dropLinks?: boolean;
};

/**
 * Skills and instruction files on disk. A change happens completely or not at all, even if the process is killed: then
 * the next change of that name, or `repair`, brings the old state back. Of several writers that expect the same, one
 * succeeds and the others get `changed`. A bad name or path, and whatever else the disk refuses, throws a `KnackError`.
 */
export type Library = ReturnType<typeof createLibrary>;

export function createLibrary() {
  return {
    ...{ list, read, write, remove, repair },
    ...{
      makeFolder,
      clearFolder,
      dropEmpty,
      dropEmptyUpTo,
      findMissingFolder,
      entryKind,
      listNames,
      measureFolder,
    },
    ...disk.texts,
  };
}

/** Every package in a folder, by name, with the broken ones beside the good ones. Never throws. */
async function list({ folder, root }: SkillFolder): Promise<Listing> {
  const names = await readNames(folder);
  if (!Array.isArray(names)) return names;
  // What came with the agent; nothing depends on it, so a folder that cannot be read has nothing.
  const system = await readdir(join(folder, ".system")).catch(() => []);
  const shown = new Set(names.map((name) => (isAside(name) ? name.slice(asidePrefix.length) : name)));
  const paths = [
    ...[...shown].filter((name) => !name.startsWith(".")).map((name) => [name, join(folder, name)] as const),
    ...system.map((name) => [name, join(folder, ".system", name)] as const),
  ];
  const skills: SkillPackage[] = [];
  const broken: BrokenPackage[] = [];
  for (const [name, path] of paths.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const outside = findLinkOut(path, root);
    if (outside !== null) {
      broken.push({ name, path, unreadable: false, problems: [outside] });
      continue;
    }
    const found = await findPackage(path, join(folder, asidePrefix + name), name);
    if (found !== null) "hash" in found ? skills.push(found) : broken.push(found);
  }
  return { found: "skills", skills, broken };
}

/** Why a package is not read though it is there. */
function findLinkOut(path: string, root: string): string | null {
  try {
    return isInsideFolder(path, root) ? null : `A link leads out of ${root}, or nowhere.`;
  } catch {
    return null; // Reading it says why it cannot be read.
  }
}

function isAside(name: string): boolean {
  return name.startsWith(asidePrefix) && isSkillName(name.slice(asidePrefix.length));
}

async function readNames(folder: string): Promise<string[] | Unlisted> {
  try {
    const names = new Set(await readdir(folder));
    // readdir can miss a name that is being renamed, so it is read again during a change.
    for (let again = 0; again < 5 && [...names].some(disk.isWork); again++)
      for (const name of await readdir(folder)) names.add(name);
    return [...names];
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return { found: "missing" };
    return { found: "unreadable", message: `${folder}: ${errorMessage(error)}` };
  }
}

/** A package, even while it is being replaced; null if missing. */
async function findPackage(
  path: string,
  aside: string,
  name: string,
): Promise<SkillPackage | BrokenPackage | null> {
  // Each look may fall between two renames, so a package that is in neither place is looked for again.
  for (let look = 0; look < 10; look++) {
    for (const place of [path, aside]) {
      const found = await parsePackage(place, name);
      if (found !== "gone") return found;
    }
    await sleep(look);
  }
  return null;
}

/** The package in a folder; null if it is not one. */
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
    const isRefused = error instanceof PlainFileError;
    return { name, path, unreadable: !isRefused, problems: [errorMessage(error)] };
  }
}

/** All files of the package at a path, even while it is being replaced; null when there is none. */
async function read(path: string): Promise<PackageFiles | null> {
  const aside = join(dirname(path), asidePrefix + basename(path));
  return disk.explainFailure(
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
  let room = mostPackageBytes;
  const walk = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = `${below}${entry.name}`;
      if (entry.isDirectory()) await walk(`${path}/`);
      else if (entry.isFile()) {
        const file = readPackageFile(folder, path, Math.min(room, mostBytes));
        room -= file.bytes.length;
        files.push(file);
      } else {
        // A link counts by its target; nothing is read through it.
        const target = entry.isSymbolicLink() ? await readlink(join(folder, path)) : "";
        links.push({ path, bytes: Buffer.from(target), mode: 0 });
      }
      if (files.length % filesPerTurn === 0) await setImmediate();
    }
  };
  await walk("");
  // No path of a file ends so.
  const marked = links.map((link) => ({ ...link, path: `${link.path}\0link` }));
  return {
    files: sortByPath(files),
    hash: hashFiles([...files, ...marked]),
    links: links.map(({ path }) => path).sort(),
  };
}

/** Synchronous: awaiting each of many small files takes ten times as long as reading it. */
function readPackageFile(folder: string, path: string, maxBytes: number): PackageFile {
  // One handle, so that bytes and mode belong to one file.
  const { handle, stats } = openPlainFile(join(folder, path));
  try {
    return { path, bytes: readPlainHandle(handle, stats, { maxBytes }), mode: stats.mode & 0o777 };
  } finally {
    closeSync(handle);
  }
}

/** One hash of a package's files: paths, bytes, and whether they are executable. */
function hashFiles(files: PackageFileList): string {
  const hash = createHash("sha256");
  for (const { path, bytes, mode } of sortByPath(files))
    hash.update(`${path}\0${bytes.length}\0${(mode & 0o111) === 0 ? "" : "x"}\0`).update(bytes);
  return hash.digest("hex");
}

export function toContent(files: PackageFileList): PackageContent {
  return { files, hash: hashFiles(files) };
}

function sortByPath(files: PackageFileList): PackageFile[] {
  return [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Refuses a name that could lead elsewhere. */
function checkName(name: string): void {
  if (!isSkillName(name))
    throw new KnackError("BAD_PACKAGE", `"${name}" cannot be the name of a skill.`, {
      hint: "Use up to 64 lower-case letters, digits and single hyphens.",
    });
}

function checkFiles(name: string, files: PackageFileList): void {
  const bad = files.find(({ path }) => !isSafePath(path));
  if (bad) throw new KnackError("BAD_PACKAGE", `Skill "${name}" has a file with a bad path: "${bad.path}".`);
  if (new Set(files.map(({ path }) => path.toLowerCase())).size < files.length)
    throw new KnackError("BAD_PACKAGE", `Skill "${name}" has two files with one path.`);
  if (!files.some(({ path }) => path === skillFile))
    throw new KnackError("BAD_PACKAGE", `Skill "${name}" has no ${skillFile}.`);
}

/** Writes files into a folder that nobody else knows yet, and syncs them to the disk. */
async function writeFiles(folder: string, files: PackageFileList, isPrivate = false): Promise<void> {
  const options = { recursive: true, mode: isPrivate ? 0o700 : 0o777 };
  await mkdir(folder, options);
  const folders = new Set([folder]);
  for (const { path, bytes, mode } of files) {
    const target = join(folder, path);
    await mkdir(dirname(target), options);
    for (let above = dirname(target); above !== folder; above = dirname(above)) folders.add(above);
    await writeNew(target, bytes, isPrivate ? mode & 0o700 : mode);
  }
  for (const one of folders) await syncFolder(one);
}

async function write(
  place: SkillFolder,
  name: string,
  files: PackageFileList,
  options: Expecting,
): Promise<TextWritten> {
  checkName(name);
  checkFiles(name, files);
  return change(place, name, options, async (work) => {
    const [staged, target] = [join(work, "new"), join(place.folder, name)];
    await writeFiles(staged, files, place.isPrivate);
    if (options.expecting === null) await removeEmptyFolders(target);
    const moved = await (options.expecting === null
      ? moveFolder(staged, target)
      : replace(place, name, options.expecting, work, staged));
    return moved ? hashFiles(files) : undefined;
  });
}

async function remove(
  place: SkillFolder,
  name: string,
  options: Expecting & { readonly expecting: string },
): Promise<TextWritten> {
  checkName(name);
  return change(place, name, options, async (work) =>
    (await replace(place, name, options.expecting, work, null)) ? null : undefined,
  );
}

/** Changes a package that is as expected; `work` returns the new hash, or undefined if it lost a race. */
async function change(
  place: SkillFolder,
  name: string,
  options: Expecting,
  work: (folder: string) => Promise<string | null | undefined>,
): Promise<TextWritten> {
  return changeIn(place, { written: false, because: "outside", found: null }, async () => {
    if (options.expecting === null)
      await mkdir(place.folder, { recursive: true, mode: place.isPrivate ? 0o700 : 0o777 });
    const objection = await findObjection(place, name, options);
    if (objection !== null) return objection;
    const hash = await inWorkFolder(place.folder, work);
    if (hash !== undefined) return { written: true, hash };
    const now = await readContents(join(place.folder, name)).catch(() => null);
    return { written: false, because: "changed", found: now?.hash ?? null };
  });
}

/** The reason to refuse a change before moving anything; null if the package is as expected. */
async function findObjection(
  place: SkillFolder,
  name: string,
  { expecting, dropLinks = false }: Expecting,
): Promise<TextWritten | null> {
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

/** The three renames; false if another process won. */
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
    await removeEmptyFolders(join(folder, entry.name));
    // If something appears in it meanwhile, the rename is refused.
    await rmdir(join(folder, entry.name)).catch(() => {});
  }
}

/** Finishes what killed processes left half done; answers with the packages that came back. */
async function repair(place: SkillFolder): Promise<string[]> {
  return changeIn(place, [], async () => {
    const back: string[] = [];
    for (const aside of (await readdir(place.folder).catch(ifMissing([]))).filter(isAside)) {
      const name = aside.slice(asidePrefix.length);
      if (await finishReplace(place, name)) back.push(name);
    }
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
async function makeFolder(place: SkillFolder, name: string): Promise<boolean> {
  checkName(name);
  const folder = join(place.folder, name);
  return changeIn({ ...place, folder }, false, async () => {
    await mkdir(folder, { recursive: true });
    // A link may have appeared meanwhile.
    return isInsideFolder(folder, place.root);
  });
}

/** Deletes a folder with everything in it, without following links; false where a link leads outside. */
async function clearFolder(place: SkillFolder, name: string): Promise<boolean> {
  checkName(name);
  return changeIn(place, false, async () => {
    await rm(join(place.folder, name), { recursive: true, force: true });
    return true;
  });
}

/** Deletes an empty folder; false where something is in it, or a link leads outside. */
async function dropEmpty(place: SkillFolder): Promise<boolean> {
  const drop = () => rmdir(place.folder).then(() => true);
  return changeIn(place, false, () => drop().catch(() => false));
}

/** Deletes the empty folders of a path, up to the given one. */
async function dropEmptyUpTo(top: string, { folder, root }: SkillFolder): Promise<void> {
  for (let path = folder; `${path}/`.startsWith(`${top}/`); path = dirname(path))
    if (!(await dropEmpty({ folder: path, root }))) return;
}

/** The topmost missing folder of a path below its root; null when all exist. */
async function findMissingFolder({ folder, root }: SkillFolder): Promise<string | null> {
  let top: string | null = null;
  for (let path = folder; path.startsWith(`${root}/`); path = dirname(path)) {
    if ((await entryKind({ folder: dirname(path), root }, basename(path))) !== "nothing") break;
    top = path;
  }
  return top;
}

/** The kind of entry with this name; "else" is a file, a link or something outside. */
async function entryKind(place: SkillFolder, name: string): Promise<"folder" | "nothing" | "else"> {
  return changeIn(place, "else", async () => {
    const there = await lstat(join(place.folder, name)).catch(ifMissing(null));
    return there === null ? "nothing" : there.isDirectory() ? "folder" : "else";
  });
}

async function listNames(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(ifMissing([]));
  return names.filter((name) => !disk.isWork(name)).sort();
}

type FolderSize = { readonly files: number; readonly bytes: number };

/** Files, folders and bytes, counted until a limit is passed; zero where there is no folder. */
async function measureFolder(folder: string, limit: FolderSize): Promise<FolderSize> {
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

/** Works in a folder, unless a link leads out of its root. */
function changeIn<T>({ folder, root }: SkillFolder, outside: T, work: () => Promise<T>): Promise<T> {
  return disk.explainFailure(`change skills in ${folder}`, async () =>
    isInsideFolder(folder, root) ? work() : outside,
  );
}

type FileMode = readonly [path: string, mode: number];

/** The list of a version's files and their modes, beside its files. */
const modesFile = "files.json";

/** Every version of a package that Knack ever replaced, as folders named by their hash; kept versions never change. */
export function createVersions(folder: string) {
  return {
    hashOf: hashFiles,
    keep: async (files: PackageFileList): Promise<string> => {
      const bad = files.find(({ path }) => !isSafePath(path));
      if (bad) throw new KnackError("BAD_PACKAGE", `Cannot keep a file with the path "${bad.path}".`);
      const hash = hashFiles(files);
      const version = join(folder, hash);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await sweepWork(folder);
      await inWorkFolder(folder, async (work) => {
        const staged = join(work, "new");
        // Modes are in the list: an unreadable copy could not be restored.
        const readable = files.map((file) => ({ ...file, mode: 0o600 }));
        await writeFiles(join(staged, "files"), readable, true);
        const modes = narrowModes(files, await readModes(version));
        await writeNew(join(staged, modesFile), JSON.stringify(modes), 0o600);
        await syncFolder(staged);
        if (!(await moveFolder(staged, version)))
          await rename(join(staged, modesFile), join(version, modesFile));
        await syncFolder(folder);
      });
      return hash;
    },
    /** The files as they were; null when that version was not kept. Throws when the copy is damaged. */
    restore: async (hash: string): Promise<PackageFile[] | null> => {
      const version = join(folder, hash);
      const modes = /^[0-9a-f]{64}$/.test(hash) ? await readBytes(join(version, modesFile)) : null;
      if (modes === null) return null;
      const files = await readVersion(version, String(modes)).catch((cause: unknown) => {
        throw damaged(hash, errorMessage(cause), cause);
      });
      if (hashFiles(files) !== hash) throw damaged(hash, "its files were changed");
      return files;
    },
  };
}

/** A hash may be kept with several modes; only what all of them allow is restored, never more. */
function narrowModes(files: PackageFileList, known: ReadonlyMap<string, number>): FileMode[] {
  return files.map(({ path, mode }) => {
    const both = mode & (known.get(path) ?? mode);
    const runsAlike = ((both & 0o111) === 0) === ((mode & 0o111) === 0);
    return [path, runsAlike && both & 0o400 ? both : mode];
  });
}

async function readModes(version: string): Promise<ReadonlyMap<string, number>> {
  const modes = await readBytes(join(version, modesFile));
  try {
    return new Map(modes === null ? [] : (JSON.parse(String(modes)) as FileMode[]));
  } catch {
    // A damaged list is replaced by the new one.
    return new Map();
  }
}

async function readVersion(version: string, modes: string): Promise<PackageFile[]> {
  return Promise.all(
    (JSON.parse(modes) as FileMode[]).map(async ([path, mode]) => {
      if (!isSafePath(path)) throw new Error(`bad path ${path}`);
      return { path, mode, bytes: await readFile(join(version, "files", path)) };
    }),
  );
}

function damaged(hash: string, why: string, cause?: unknown): KnackError {
  return new KnackError("VERSION_DAMAGED", `The kept version ${hash.slice(0, 12)} cannot be read: ${why}`, {
    hint: "Write the skill again, or restore it from a backup.",
    cause,
  });
}
