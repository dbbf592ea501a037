import { createHash, type Hash } from "node:crypto";
import { closeSync, type Dirent, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import {
  errorMessage,
  isInsideFolder,
  openPlainFile,
  PlainFileError,
  readPlainHandle,
} from "../../base/index.ts";
import {
  type Item,
  type ItemFile,
  type ItemKind,
  type ItemProblem,
  itemId,
  type Owner,
} from "../../records/index.ts";
import { asidePrefix, exists, getErrorCode, hashBytes, isMissing } from "../files/disk.ts";
import { skillFile, skillOwner } from "../skill.ts";
import { isItemName, readItem } from "./item-text.ts";

/** Part of every stamp: raise it when files are read differently, so that cached readings no longer count. */
const readerVersion = 2;
/** Longer files are reported and not read: no agent is given more. */
const mostBytes = 1_000_000;
/** Levels of folders below a root that are searched: agents' trees are shallow. */
const mostDepth = 4;
/** Entries of one folder that are looked at. */
const mostEntries = 50_000;
/** Files that are read at the same time. */
const concurrency = 16;

/** A folder or file in which an agent looks for things of one kind. */
export interface ItemRoot {
  /** A folder; with the forms `package` and `file` the item itself. */
  readonly path: string;
  readonly kind: ItemKind;
  /** `packages`: folders with a `SKILL.md`. `markdown` and `toml`: files, also in subfolders. `file`: one such file. */
  readonly form: "packages" | "package" | "markdown" | "toml" | "file";
  /** Whom its items are for: a project id, or "user". */
  readonly scopeId: string;
  /** Of two items of one name in a scopeId, the one with the lower rank wins. */
  readonly rank: number;
  /** Prefix agents add to names: `plugin:`; usually empty. */
  readonly prefix: string;
  /** The folder that links must not lead out of; null for what a person keeps in their own home. */
  readonly within: string | null;
  /** The owner of its items; null if each file declares its own. */
  readonly owner: Owner | null;
  readonly draft: boolean;
  /** Names of folders in it that are left out. */
  readonly except?: readonly string[];
  /** The checkout whose files these are; null for those of the person. */
  readonly checkout: string | null;
}

/** Reads every file in these roots; one that `known` has with the same stamp is not read again. Never throws. */
export async function readRoots(
  roots: readonly ItemRoot[],
  known: readonly ItemFile[] = [],
): Promise<{
  readonly files: readonly ItemFile[];
  /** Problems with folders, links and failed reads. */
  readonly problems: readonly ItemProblem[];
  readonly unread: readonly string[];
}> {
  const before = new Map(known.map((file) => [file.path, file]));
  const searches = roots.map((root) => new RootSearch(root));
  await mapConcurrently(searches, (search) => search.run());
  const read = await mapConcurrently(
    searches.flatMap(({ files }) => files),
    (file) => readFile(file, before.get(file.path)),
  );
  const failed = read.filter((one) => one !== null && "problem" in one);
  const unknown = failed.flatMap(({ problem, isKnown }) => (isKnown ? [] : problem.path));
  return {
    files: read.filter((one) => one !== null && "stamp" in one),
    problems: [...searches.flatMap(({ problems }) => problems), ...failed.map(({ problem }) => problem)],
    unread: [...searches.flatMap(({ unread }) => unread), ...unknown],
  };
}

/** A file in a root, and the name that its path gives it. */
interface RootFile {
  readonly root: ItemRoot;
  readonly path: string;
  readonly name: string;
}

type FileRemark = Omit<ItemProblem, "path">;

/** A file that was not read; `isKnown` where no agent should read it either, so that nothing of it holds any more. */
type FailedRead = { readonly problem: ItemProblem; readonly isKnown: boolean };

/** Reads one file: a problem if the read fails, null if it is gone. */
async function readFile(file: RootFile, before: ItemFile | undefined): Promise<ItemFile | FailedRead | null> {
  const { root, path } = file;
  try {
    const place = { path, real: await realpath(path), rank: root.rank };
    const isInside = root.within === null || isInsideFolder(place.real, root.within);
    if (isInside && before?.stamp === makeStamp(await stat(path), file)) return { ...before, ...place };
    // One handle for both, so that the stamp belongs to the text.
    const { handle, stats } = openPlainFile(path, { within: root.within ?? undefined });
    try {
      const { item, remarks } = buildItem(readText(handle, stats), stats, file);
      const problems = remarks.map((remark) => ({ path, ...remark }));
      return { ...place, stamp: makeStamp(stats, file), item, problems };
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    if (isMissing(error)) return null;
    return { problem: describeUnreadable(path, error), isKnown: error instanceof PlainFileError };
  }
}

/** Changes whenever the file does, or what is made of it. */
function makeStamp({ mtimeMs, ctimeMs, size, ino }: Stats, { root, name }: RootFile): string {
  const { kind, form, scopeId, prefix, owner, draft, checkout } = root;
  return JSON.stringify([
    ...[readerVersion, mtimeMs, ctimeMs, size, ino],
    ...[kind, form, scopeId, prefix, owner, draft, checkout, name],
  ]);
}

function readText(handle: number, stats: Stats): string | FileRemark {
  const { size } = stats;
  if (size > mostBytes)
    return {
      severity: "error",
      message: `It has ${size} bytes; ${mostBytes} are read.`,
      hint: "Move long parts into files beside it.",
    };
  const bytes = readPlainHandle(handle, stats, { maxBytes: mostBytes });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { severity: "error", message: "It is not UTF-8.", hint: "Save it as UTF-8." };
  }
}

function buildItem(
  text: string | FileRemark,
  stats: Stats,
  file: RootFile,
): { item: Item | null; remarks: readonly FileRemark[] } {
  if (typeof text !== "string") return { item: null, remarks: [text] };
  const { root, path } = file;
  const { kind, scopeId, draft, checkout } = root;
  const read = readItem(kind, text, { toml: root.form === "toml", folder: basename(dirname(path)) });
  if (read.text === null) return { item: null, remarks: read.remarks };
  const { origin, name: ownName, ...told } = read.text;
  // Skills go by their folder and commands by their path; an agent by the name it gives itself.
  const agentName = ownName ?? file.name.slice(file.name.lastIndexOf(":") + 1);
  const name = root.prefix + (kind === "agent" ? agentName : file.name);
  if (!isItemName(name)) return { item: null, remarks: [...read.remarks, badName] };
  const item: Item = {
    ...{ ...told, id: itemId(scopeId, kind, name), kind, name, scopeId, draft },
    owner: root.owner ?? skillOwner(path, origin === null ? null : { metadata: { origin } }),
    ...{ source: null, path, copies: [], hash: hashBytes(text), changedAt: stats.mtimeMs },
    // The ledger says later who vouches for it.
    ...{ checkout, accepted: null, told: "name" },
  };
  return { item, remarks: read.remarks };
}

const badName: FileRemark = {
  severity: "error",
  message: "Its name has characters that agents cannot call it by.",
  hint: "Use lower-case letters, digits and hyphens.",
};

/** Finds the files of one root; none if it is missing. */
class RootSearch {
  readonly files: RootFile[] = [];
  readonly problems: ItemProblem[] = [];
  readonly unread: string[] = [];
  private readonly root: ItemRoot;
  /** Real paths of the folders that were searched: links may form circles. */
  private readonly visited = new Set<string>();

  constructor(root: ItemRoot) {
    this.root = root;
  }

  async run(): Promise<void> {
    const { form, path } = this.root;
    if (form === "package") await this.checkPackage(path);
    else if (form === "file") await this.checkFile(path);
    else if (form === "packages") await this.searchPackages(path, 0);
    else await this.searchFiles(path, "", 0);
  }

  /** A folder's entries by name; empty if already searched or unreadable. */
  private async listEntries(folder: string, depth: number): Promise<Dirent[]> {
    try {
      const real = await realpath(folder);
      if (this.visited.has(real)) return [];
      this.visited.add(real);
      const { within } = this.root;
      if (within !== null && !isInsideFolder(real, within)) {
        const hint = "Copy what it leads to into the repository, or remove the link.";
        this.report(folder, `It is not read: a link leads out of ${within}.`, hint, "warning");
        return [];
      }
      const entries = await readdir(folder, { withFileTypes: true });
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      if (entries.length > mostEntries) {
        const message = `It has ${entries.length} entries; only the first ${mostEntries} are read.`;
        this.report(folder, message, "Move out what no agent needs.", "warning");
      }
      return entries.slice(0, mostEntries);
    } catch (error) {
      if (depth > 0 || getErrorCode(error) !== "ENOENT") this.addUnread(folder, error);
      return [];
    }
  }

  private async searchPackages(folder: string, depth: number): Promise<void> {
    const { except = [] } = this.root;
    const entries = (await this.listEntries(folder, depth)).filter(({ name }) => !except.includes(name));
    // A package that is being replaced at this moment is neither there nor gone.
    for (const { name } of entries)
      if (name.startsWith(asidePrefix)) this.unread.push(join(folder, name.slice(asidePrefix.length)));
    const paths = entries.filter((entry) => mayBeFolder(entry, depth)).map(({ name }) => join(folder, name));
    const kinds = await mapConcurrently(paths, classify);
    for (const [index, kind] of kinds.entries()) {
      const path = paths[index] as string;
      if (kind === "package") this.addPackage(path);
      else if (kind === "folder") await this.searchCollection(path, depth);
      else if (kind !== "other") await this.addBroken(path, kind.error);
    }
  }

  /** A folder without a `SKILL.md` may be a collection of packages. */
  private async searchCollection(path: string, depth: number): Promise<void> {
    const count = () => this.files.length + this.unread.length + this.problems.length;
    const before = count();
    if (depth + 1 < mostDepth) await this.searchPackages(path, depth + 1);
    if (count() > before || depth > 0 || basename(path) === ".system") return;
    const names = await readdir(path).catch(() => []);
    const other = names.find((name) => name.toLowerCase() === skillFile.toLowerCase());
    if (other)
      this.report(
        path,
        `The file is called ${other}; on most machines agents look for ${skillFile} only.`,
        `Rename it to ${skillFile}.`,
      );
    else
      this.report(
        path,
        `There is no ${skillFile} in it.`,
        `Add a ${skillFile}, or move the folder elsewhere.`,
      );
  }

  /** Commands and agents: files with the right ending; those in subfolders are called `folder:name`. */
  private async searchFiles(folder: string, prefix: string, depth: number): Promise<void> {
    const ending = this.root.form === "toml" ? ".toml" : ".md";
    for (const entry of await this.listEntries(folder, depth)) {
      const path = join(folder, entry.name);
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const target = entry.isSymbolicLink() ? await this.followLink(path) : entry;
      if (target?.isDirectory() && depth + 1 < mostDepth)
        await this.searchFiles(path, `${prefix}${entry.name}:`, depth + 1);
      else if (target?.isFile() && extname(entry.name) === ending)
        this.files.push({ root: this.root, path, name: prefix + dropEnding(entry.name) });
    }
  }

  private followLink(path: string): Promise<Stats | null> {
    return stat(path).catch(async (error: unknown) => {
      await this.addBroken(path, error);
      return null;
    });
  }

  private async checkPackage(path: string): Promise<void> {
    const kind = await classify(path);
    if (kind === "package") return this.addPackage(path);
    if (await exists(join(path, "..", asidePrefix + basename(path)))) this.unread.push(path);
    else if (typeof kind === "object" && !isMissing(kind.error)) this.addUnread(path, kind.error);
  }

  private async checkFile(path: string): Promise<void> {
    const found = await stat(path).catch((error: unknown) => {
      if (!isMissing(error)) this.addUnread(path, error);
      return null;
    });
    if (found?.isFile()) this.files.push({ root: this.root, path, name: dropEnding(basename(path)) });
  }

  private addPackage(path: string): void {
    this.files.push({ root: this.root, path: join(path, skillFile), name: basename(path) });
  }

  /** A link to nothing is broken; anything else that cannot be read is unknown. */
  private async addBroken(path: string, error: unknown): Promise<void> {
    if (getErrorCode(error) !== "ENOENT") this.addUnread(path, error);
    else if ((await lstat(path).catch(() => null)) !== null)
      this.report(
        path,
        "It is a link to something that does not exist.",
        "Install it again, or remove the link.",
      );
  }

  private addUnread(path: string, error: unknown): void {
    this.unread.push(path);
    this.problems.push(describeUnreadable(path, error));
  }

  private report(
    path: string,
    message: string,
    hint: string,
    severity: FileRemark["severity"] = "error",
  ): void {
    this.problems.push({ path, severity, message, hint });
  }
}

function mayBeFolder(entry: Dirent, depth: number): boolean {
  const { name } = entry;
  if (entry.isFile() || name === "node_modules") return false;
  // Codex keeps its own skills in `.system`.
  return !name.startsWith(".") || (name === ".system" && depth === 0);
}

async function classify(path: string): Promise<"package" | "folder" | "other" | { readonly error: unknown }> {
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

function describeUnreadable(path: string, error: unknown): ItemProblem {
  return {
    path,
    severity: "error",
    message: `It cannot be read: ${errorMessage(error)}.`,
    hint: "Check its type and permissions; until then Knack uses what it read before.",
  };
}

/** A file's name without its ending, of which some agents have two. */
function dropEnding(name: string): string {
  return name.replace(/(?:\.(?:prompt|agent|chatmode))?\.[^.]+$/, "");
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

// --- Whether anything has changed ---

/**
 * A stamp of everything that agents' folders hold, which changes when a file in them does: its time, size or place. It
 * is taken after each turn, and most turns change no skill, so nothing is opened and nothing waits for a thread. Null
 * where something cannot be looked at.
 */
export function stampRoots(roots: readonly ItemRoot[]): string | null {
  const hash = createHash("sha1").update(JSON.stringify([readerVersion, roots]));
  try {
    for (const root of roots) stampRoot(hash, root);
    return hash.digest("hex");
  } catch {
    return null;
  }
}

/** How a root is stamped: as packages or single files, and packages of a repository with all that is in them. */
interface StampScope {
  readonly isOfPackages: boolean;
  readonly isWhole: boolean;
}

function stampRoot(hash: Hash, { path, form, checkout }: ItemRoot): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  hash.update(`\n${realpathSync(path)}`);
  // What a person accepted of a repository is the whole package.
  const how = { isOfPackages: form === "packages", isWhole: checkout !== null };
  if (form === "file") stampFile(hash, found);
  else if (form === "package") stampPackage(hash, path, how);
  else stampFolder(hash, path, how, 0);
}

function stampFolder(hash: Hash, folder: string, how: StampScope, depth: number): void {
  if (depth >= mostDepth) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    hash.update(`\n${entry.name}`);
    if (entry.isFile() ? how.isOfPackages : entry.name.startsWith(".") && entry.name !== ".system") continue;
    stampEntry(hash, join(folder, entry.name), entry, how, depth);
  }
}

function stampEntry(hash: Hash, path: string, entry: Dirent, how: StampScope, depth: number): void {
  if (how.isOfPackages && stampPackage(hash, path, how)) {
    // Where a link leads may change, and the file there be the same.
    if (entry.isSymbolicLink()) hash.update(realpathSync(path));
    return;
  }
  const found = entry.isDirectory() ? null : statSync(path, { throwIfNoEntry: false });
  if (entry.isDirectory() || found?.isDirectory()) stampFolder(hash, path, how, depth + 1);
  else if (found) stampFile(hash, found);
}

/** False where there is no skill. */
function stampPackage(hash: Hash, path: string, { isWhole }: StampScope): boolean {
  const found = statSync(join(path, skillFile), { throwIfNoEntry: false });
  if (found) stampFile(hash, found);
  if (found && isWhole) stampFolder(hash, path, { isOfPackages: false, isWhole }, 0);
  return found !== undefined;
}

function stampFile(hash: Hash, { mtimeMs, ctimeMs, size, ino }: Stats): void {
  hash.update(` ${mtimeMs} ${ctimeMs} ${size} ${ino}`);
}
