import type { Dirent, Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { errorMessage } from "../../base/index.ts";
import { type Item, type ItemFile, type ItemProblem, itemId } from "../../records/index.ts";
import { asidePrefix, exists, getErrorCode, hashBytes, isMissing } from "../files/disk.ts";
import { skillFile, skillOwner } from "../skill.ts";
import type { ItemRoot } from "./catalog.ts";
import { isItemName, type Remark, readItem } from "./item-text.ts";

/** Part of every stamp: raise it when files are read differently, so that cached readings no longer count. */
const readerVersion = 1;
/** Longer files are reported and not read: no agent is given more. */
const mostBytes = 1_000_000;

type KnownFiles = (path: string) => ItemFile | undefined;

/** Reads every file in these roots; one that `known` has with the same stamp is not read again. Never throws. */
export async function readRoots(
  roots: readonly ItemRoot[],
  known: KnownFiles = () => undefined,
): Promise<{
  readonly files: readonly ItemFile[];
  /** What is wrong besides the files: folders, links. */
  readonly problems: readonly ItemProblem[];
  readonly unread: readonly string[];
}> {
  const found = await mapConcurrently(roots, findFiles);
  const read = await mapConcurrently(
    found.flatMap(({ files }) => files),
    (file) => readFile(file, known),
  );
  const refused = read.filter((one) => one !== null && "hint" in one);
  return {
    files: read.filter((one) => one !== null && "stamp" in one),
    problems: [...found.flatMap(({ problems }) => problems), ...refused],
    unread: [...found.flatMap(({ unread }) => unread), ...refused.map(({ path }) => path)],
  };
}

/** One file; a problem where the disk refuses it, null where it is gone. */
async function readFile(file: RootFile, known: KnownFiles): Promise<ItemFile | ItemProblem | null> {
  const { root, path } = file;
  try {
    const place = { path, real: await realpath(path), rank: root.rank };
    const before = known(path);
    if (before?.stamp === makeStamp(await stat(path), file)) return { ...before, ...place };
    const handle = await open(path);
    try {
      // One handle for both, so that the stamp belongs to the text.
      const stats = await handle.stat();
      const { item, remarks } = buildItem(await readText(handle, stats), stats, file);
      const problems = remarks.map((remark) => ({ path, ...remark }));
      return { ...place, stamp: makeStamp(stats, file), item, problems };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return isMissing(error) ? null : describeUnreadable(path, error);
  }
}

/** Changes whenever the file does, or what is made of it. */
function makeStamp({ mtimeMs, ctimeMs, size, ino }: Stats, { root, name }: RootFile): string {
  const { kind, form, scopeId, prefix, owner, draft } = root;
  return JSON.stringify([
    ...[readerVersion, mtimeMs, ctimeMs, size, ino],
    ...[kind, form, scopeId, prefix, owner, draft, name],
  ]);
}

async function readText(handle: FileHandle, { size }: Stats): Promise<string | Remark> {
  if (size > mostBytes)
    return {
      severity: "error",
      message: `It has ${size} bytes; ${mostBytes} are read.`,
      hint: "Move long parts into files beside it.",
    };
  // A file that grows meanwhile is not read beyond the size in its stamp.
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await handle.read(bytes, 0, size, 0);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, bytesRead));
  } catch {
    return { severity: "error", message: "It is not UTF-8.", hint: "Save it as UTF-8." };
  }
}

function buildItem(
  text: string | Remark,
  stats: Stats,
  file: RootFile,
): { item: Item | null; remarks: readonly Remark[] } {
  if (typeof text !== "string") return { item: null, remarks: [text] };
  const { root, path } = file;
  const folder = basename(dirname(path));
  const read = readItem(root.kind, text, { toml: root.form === "toml", folder });
  if (read.text === null) return { item: null, remarks: read.remarks };
  const { origin, name: ownName, ...told } = read.text;
  // Skills go by their folder and commands by their path; an agent by the name it gives itself.
  const isAgent = root.kind === "agent";
  const called = isAgent ? (ownName ?? file.name.slice(file.name.lastIndexOf(":") + 1)) : file.name;
  const name = root.prefix + called;
  if (!isItemName(name)) return { item: null, remarks: [...read.remarks, badName] };
  const item: Item = {
    ...told,
    id: itemId(root.scopeId, root.kind, name),
    kind: root.kind,
    name,
    scopeId: root.scopeId,
    owner: root.owner ?? skillOwner(path, origin === null ? null : { metadata: { origin } }),
    draft: root.draft,
    source: null,
    path,
    copies: [],
    hash: hashBytes(text),
    changedAt: stats.mtimeMs,
  };
  return { item, remarks: read.remarks };
}

const badName: Remark = {
  severity: "error",
  message: "Its name has characters that agents cannot call it by.",
  hint: "Use lower-case letters, digits and hyphens.",
};

/** Levels of folders below a root that are searched: agents' trees are shallow. */
const mostDepth = 4;
/** Entries of one folder that are looked at. */
const mostEntries = 50_000;
/** Files that are read at the same time. */
const concurrency = 16;

/** A file in a root, and the name that its path gives it. */
interface RootFile {
  readonly root: ItemRoot;
  readonly path: string;
  readonly name: string;
}

interface RootSearch {
  readonly root: ItemRoot;
  readonly files: RootFile[];
  readonly problems: ItemProblem[];
  readonly unread: string[];
  /** Real paths of the folders that were searched: links may form circles. */
  readonly visited: Set<string>;
}

/** The files in a root; none where it does not exist. */
async function findFiles(root: ItemRoot): Promise<Omit<RootSearch, "visited">> {
  const search: RootSearch = { root, files: [], problems: [], unread: [], visited: new Set() };
  if (root.form === "package") await checkPackage(search, root.path);
  else if (root.form === "file") await checkFile(search, root.path);
  else if (root.form === "packages") await searchPackages(search, root.path, 0);
  else await searchFiles(search, root.path, "", 0);
  return search;
}

/** The entries of a folder by name; null where it was searched already or cannot be read. */
async function listEntries(search: RootSearch, folder: string, depth: number): Promise<Dirent[] | null> {
  try {
    const real = await realpath(folder);
    if (search.visited.has(real)) return null;
    search.visited.add(real);
    const entries = await readdir(folder, { withFileTypes: true });
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    if (entries.length > mostEntries)
      search.problems.push({
        path: folder,
        severity: "warning",
        message: `It has ${entries.length} entries; only the first ${mostEntries} are read.`,
        hint: "Move out what no agent needs.",
      });
    return entries.slice(0, mostEntries);
  } catch (error) {
    if (depth > 0 || getErrorCode(error) !== "ENOENT") addUnread(search, folder, error);
    return null;
  }
}

async function searchPackages(search: RootSearch, folder: string, depth: number): Promise<void> {
  const entries = await listEntries(search, folder, depth);
  if (entries === null) return;
  // A package that is being replaced at this moment is neither there nor gone.
  for (const { name } of entries)
    if (name.startsWith(asidePrefix)) search.unread.push(join(folder, name.slice(asidePrefix.length)));
  const paths = entries.filter((entry) => mayBeFolder(entry, depth)).map(({ name }) => join(folder, name));
  const kinds = await mapConcurrently(paths, classify);
  for (const [index, kind] of kinds.entries()) {
    const path = paths[index] as string;
    if (kind === "package") addPackage(search, path);
    else if (kind === "folder") await searchCollection(search, path, depth);
    else if (kind !== "other") await addBroken(search, path, kind.error);
  }
}

function mayBeFolder(entry: Dirent, depth: number): boolean {
  const { name } = entry;
  if (entry.isFile() || name === "node_modules") return false;
  // Codex keeps its own skills in `.system`.
  return !name.startsWith(".") || (name === ".system" && depth === 0);
}

type PathKind = "package" | "folder" | "other" | { readonly error: unknown };

async function classify(path: string): Promise<PathKind> {
  try {
    if ((await stat(join(path, skillFile))).isFile()) return "package";
    return { error: new Error(`${skillFile} is not a file`) };
  } catch (error) {
    if (getErrorCode(error) === "ENOTDIR") return "other";
    if (getErrorCode(error) !== "ENOENT") return { error };
    return stat(path).then(
      (found) => (found.isDirectory() ? "folder" : "other"),
      (why: unknown) => ({ error: why }),
    );
  }
}

/** A folder without a `SKILL.md` may be a collection of packages. */
async function searchCollection(search: RootSearch, path: string, depth: number): Promise<void> {
  const before = search.files.length + search.unread.length;
  const problems = search.problems.length;
  if (depth + 1 < mostDepth) await searchPackages(search, path, depth + 1);
  const isEmpty = search.files.length + search.unread.length === before;
  if (!isEmpty || depth > 0 || search.problems.length > problems || basename(path) === ".system") return;
  const names = await readdir(path).catch(() => []);
  const other = names.find((name) => name.toLowerCase() === skillFile.toLowerCase());
  search.problems.push({
    path,
    severity: "error",
    message: other
      ? `The file is called ${other}; on most machines agents look for ${skillFile} only.`
      : `There is no ${skillFile} in it.`,
    hint: other ? `Rename it to ${skillFile}.` : `Add a ${skillFile}, or move the folder elsewhere.`,
  });
}

/** A link to nothing is broken; anything else that cannot be read is unknown. */
async function addBroken(search: RootSearch, path: string, error: unknown): Promise<void> {
  if (getErrorCode(error) !== "ENOENT") return addUnread(search, path, error);
  if ((await lstat(path).catch(() => null)) === null) return;
  search.problems.push({
    path,
    severity: "error",
    message: "It is a link to something that does not exist.",
    hint: "Install it again, or remove the link.",
  });
}

function addUnread(search: RootSearch, path: string, error: unknown): void {
  search.unread.push(path);
  search.problems.push(describeUnreadable(path, error));
}

function describeUnreadable(path: string, error: unknown): ItemProblem {
  return {
    path,
    severity: "error",
    message: `It cannot be read: ${errorMessage(error)}.`,
    hint: "Check its type and permissions; until then Knack uses what it read before.",
  };
}

async function checkPackage(search: RootSearch, path: string): Promise<void> {
  const kind = await classify(path);
  if (kind === "package") return addPackage(search, path);
  if (await exists(join(path, "..", asidePrefix + basename(path)))) search.unread.push(path);
  else if (typeof kind === "object" && !isMissing(kind.error)) addUnread(search, path, kind.error);
}

async function checkFile(search: RootSearch, path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    if (!isMissing(error)) addUnread(search, path, error);
    return null;
  });
  if (found?.isFile()) search.files.push({ root: search.root, path, name: dropEnding(basename(path)) });
}

function addPackage({ root, files }: RootSearch, path: string): void {
  files.push({ root, path: join(path, skillFile), name: basename(path) });
}

/** Commands and agents: files with the right ending; those in subfolders are called `folder:name`. */
async function searchFiles(search: RootSearch, folder: string, prefix: string, depth: number): Promise<void> {
  const ending = search.root.form === "toml" ? ".toml" : ".md";
  for (const entry of (await listEntries(search, folder, depth)) ?? []) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const target = entry.isSymbolicLink() ? await followLink(search, path) : entry;
    if (target?.isDirectory() && depth + 1 < mostDepth)
      await searchFiles(search, path, `${prefix}${entry.name}:`, depth + 1);
    else if (target?.isFile() && extname(entry.name) === ending)
      search.files.push({ root: search.root, path, name: prefix + dropEnding(entry.name) });
  }
}

/** A file's name without its ending, of which some agents have two. */
function dropEnding(name: string): string {
  return name.replace(/(?:\.(?:prompt|agent|chatmode))?\.[^.]+$/, "");
}

async function followLink(search: RootSearch, path: string): Promise<Stats | null> {
  return stat(path).catch(async (error: unknown) => {
    await addBroken(search, path, error);
    return null;
  });
}

/** Maps with a few at a time; the results are in order. */
async function mapConcurrently<From, To>(
  all: readonly From[],
  work: (one: From) => Promise<To>,
): Promise<To[]> {
  const results = new Array<To>(all.length);
  let next = 0;
  const runNext = async () => {
    for (let at = next++; at < all.length; at = next++) results[at] = await work(all[at] as From);
  };
  await Promise.all(Array.from({ length: concurrency }, runNext));
  return results;
}
