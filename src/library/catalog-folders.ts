import type { Dirent } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { messageIn } from "../core/errors.ts";
import type { ItemProblem } from "../core/item.ts";
import { policy } from "../core/policy.ts";
import { skillFile } from "../core/skill.ts";
import type { ItemRoot } from "../engine/ports.ts";
import { codeOf, isMissing } from "./packages.ts";
import { asidePrefix } from "./skills.ts";

/** A file that a root has, and the name that its place gives it. */
export interface RootFile {
  readonly root: ItemRoot;
  readonly path: string;
  readonly name: string;
}

/** What looking through folders brings. */
export interface Found {
  readonly files: readonly RootFile[];
  readonly problems: readonly ItemProblem[];
  readonly unread: readonly string[];
}

interface Looking {
  readonly root: ItemRoot;
  readonly files: RootFile[];
  readonly problems: ItemProblem[];
  readonly unread: string[];
  /** Folders that were looked into, by their real paths: links may lead in circles. */
  readonly visited: Set<string>;
}

/** The files in a root. A root that is not there has none. */
export async function filesIn(root: ItemRoot): Promise<Found> {
  const looking: Looking = { root, files: [], problems: [], unread: [], visited: new Set() };
  if (root.form === "package") await lookAtPackage(looking, root.path);
  else if (root.form === "file") await lookAtFile(looking, root.path);
  else if (root.form === "packages") await lookForPackages(looking, root.path, 0);
  else await lookForFiles(looking, root.path, "", 0);
  return looking;
}

/** What is in a folder by name; null where nothing can be told. */
async function entriesOf(looking: Looking, folder: string, depth: number): Promise<Dirent[] | null> {
  try {
    const real = await realpath(folder);
    if (looking.visited.has(real)) return null;
    looking.visited.add(real);
    const entries = await readdir(folder, { withFileTypes: true });
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    if (entries.length > policy.library.entries)
      looking.problems.push({
        path: folder,
        severity: "warning",
        message: `It has ${entries.length} entries; the first ${policy.library.entries} are looked at.`,
        hint: "Take out what no agent needs.",
      });
    return entries.slice(0, policy.library.entries);
  } catch (error) {
    if (depth > 0 || codeOf(error) !== "ENOENT") leaveUnread(looking, folder, error);
    return null;
  }
}

async function lookForPackages(looking: Looking, folder: string, depth: number): Promise<void> {
  const entries = await entriesOf(looking, folder, depth);
  if (entries === null) return;
  // A package that Knack is replacing at this moment is neither there nor gone.
  for (const { name } of entries)
    if (name.startsWith(asidePrefix)) looking.unread.push(join(folder, name.slice(asidePrefix.length)));
  const folders = entries.filter((entry) => mayBeFolder(entry, depth)).map(({ name }) => join(folder, name));
  const states = await inTurn(folders, packageAt);
  for (const [index, state] of states.entries()) {
    const path = folders[index] as string;
    if (state === "package") addPackage(looking, path);
    else if (state === "folder") await lookBelow(looking, path, depth);
    else if (state !== "other") await tell(looking, path, state);
  }
}

function mayBeFolder(entry: Dirent, depth: number): boolean {
  const { name } = entry;
  if (entry.isFile() || name === "node_modules") return false;
  // Codex keeps its own skills there.
  return !name.startsWith(".") || (name === ".system" && depth === 0);
}

type State = "package" | "folder" | "other" | { readonly error: unknown };

/** What a path is: a package, another folder, or something else. */
async function packageAt(path: string): Promise<State> {
  try {
    if ((await stat(join(path, skillFile))).isFile()) return "package";
    return { error: new Error(`${skillFile} is no file`) };
  } catch (error) {
    if (codeOf(error) === "ENOTDIR") return "other";
    if (codeOf(error) !== "ENOENT") return { error };
    return stat(path).then(
      (found) => (found.isDirectory() ? "folder" : "other"),
      (why: unknown) => ({ error: why }),
    );
  }
}

/** A folder without a `SKILL.md` may hold packages, as a collection does. */
async function lookBelow(looking: Looking, path: string, depth: number): Promise<void> {
  const before = looking.files.length + looking.unread.length;
  const known = looking.problems.length;
  if (depth + 1 < policy.library.depth) await lookForPackages(looking, path, depth + 1);
  const nothing = looking.files.length + looking.unread.length === before;
  if (!nothing || depth > 0 || looking.problems.length > known || basename(path) === ".system") return;
  const names = await readdir(path).catch(() => []);
  const other = names.find((name) => name.toLowerCase() === skillFile.toLowerCase());
  looking.problems.push({
    path,
    severity: "error",
    message: other
      ? `The file is called ${other}; on most machines agents look for ${skillFile} only.`
      : `There is no ${skillFile} in it.`,
    hint: other ? `Call it ${skillFile}.` : `Add a ${skillFile}, or move the folder elsewhere.`,
  });
}

/** What could not be looked at: a link that leads nowhere is broken, anything else is not known. */
async function tell(looking: Looking, path: string, { error }: { readonly error: unknown }): Promise<void> {
  const link = await lstat(path).catch(() => null);
  if (codeOf(error) === "ENOENT" && link === null) return;
  if (codeOf(error) === "ENOENT")
    looking.problems.push({
      path,
      severity: "error",
      message: "It is a link that leads nowhere.",
      hint: "Install it again, or remove the link.",
    });
  else leaveUnread(looking, path, error);
}

function leaveUnread(looking: Looking, path: string, error: unknown): void {
  looking.unread.push(path);
  looking.problems.push(unreadable(path, error));
}

/** A path that the disk does not let one read. */
export function unreadable(path: string, error: unknown): ItemProblem {
  return {
    path,
    severity: "error",
    message: `It cannot be read: ${messageIn(error)}.`,
    hint: "See that it is what it should be and that you may read it; what was known of it still holds.",
  };
}

async function lookAtPackage(looking: Looking, path: string): Promise<void> {
  const state = await packageAt(path);
  if (state === "package") return addPackage(looking, path);
  const aside = join(path, "..", asidePrefix + basename(path));
  if (await isThere(aside)) looking.unread.push(path);
  else if (typeof state === "object" && !isMissing(state.error)) leaveUnread(looking, path, state.error);
}

async function lookAtFile(looking: Looking, path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    if (!isMissing(error)) leaveUnread(looking, path, error);
    return null;
  });
  if (found?.isFile()) looking.files.push({ root: looking.root, path, name: stem(basename(path)) });
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function addPackage({ root, files }: Looking, path: string): void {
  files.push({ root, path: join(path, skillFile), name: basename(path) });
}

/** Commands and agents: files with the right ending, those in folders by the folders' names and theirs. */
async function lookForFiles(looking: Looking, folder: string, above: string, depth: number): Promise<void> {
  const entries = await entriesOf(looking, folder, depth);
  for (const entry of entries ?? []) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const kind = entry.isSymbolicLink() ? await linked(looking, path) : entry;
    if (kind?.isDirectory() && depth + 1 < policy.library.depth)
      await lookForFiles(looking, path, `${above}${entry.name}:`, depth + 1);
    else if (kind?.isFile() && extname(entry.name) === endings[looking.root.form])
      looking.files.push({ root: looking.root, path, name: above + stem(entry.name) });
  }
}

const endings: Readonly<Record<ItemRoot["form"], string>> = {
  packages: "",
  package: "",
  file: ".md",
  markdown: ".md",
  toml: ".toml",
};

/** A file's name without its ending; some agents have two of them. */
function stem(name: string): string {
  return name.replace(/(?:\.(?:prompt|agent|chatmode))?\.[^.]+$/, "");
}

async function linked(
  looking: Looking,
  path: string,
): Promise<{ isFile(): boolean; isDirectory(): boolean } | null> {
  try {
    return await stat(path);
  } catch (error) {
    await tell(looking, path, { error });
    return null;
  }
}

/** The same for each, a few at once, the answers in order. */
export async function inTurn<From, To>(
  all: readonly From[],
  work: (one: From) => Promise<To>,
): Promise<To[]> {
  const answers = new Array<To>(all.length);
  let next = 0;
  const takeTurns = async () => {
    for (let at = next++; at < all.length; at = next++) answers[at] = await work(all[at] as From);
  };
  await Promise.all(Array.from({ length: policy.library.atOnce }, takeTurns));
  return answers;
}
