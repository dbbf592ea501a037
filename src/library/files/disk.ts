import { createHash } from "node:crypto";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
} from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage, isInsideFolder, isRunning, KnackError, readPlainFile } from "../../base/index.ts";

export function getErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(getErrorCode(error));
}

/** For `catch`: a fallback for a missing file; any other error is thrown on. */
function ifMissing<T>(fallback: T): (error: unknown) => T {
  return (error) => {
    if (isMissing(error)) return fallback;
    throw error;
  };
}

/** Whether something has this path; a link counts, wherever it leads. */
export async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(ifMissing(null))) !== null;
}

export function hashBytes(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Bytes of one file of a package, or of an instruction file, that are read. */
const mostBytes = 20 << 20;

/** A file's bytes, null if it is missing; `within` is where links must not lead out of. */
async function readBytes(path: string, within?: string): Promise<Buffer | null> {
  try {
    return readPlainFile(path, { within, maxBytes: mostBytes });
  } catch (error) {
    return ifMissing(null)(error);
  }
}

async function writeNew(path: string, bytes: Uint8Array | string, mode?: number): Promise<void> {
  const handle = await open(path, "wx", mode ?? 0o666);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (mode !== undefined) await chmod(path, mode);
}

/** Makes renames in a folder survive a loss of power; Windows cannot sync folders. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => null);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/** Renames a folder to where nothing is, or an empty folder; false when something is there or the folder is gone. */
async function moveFolder(from: string, to: string): Promise<boolean> {
  const there = await lstat(to).catch(ifMissing(null));
  if (there !== null && !there.isDirectory()) return false;
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (["ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR", "EPERM"].includes(getErrorCode(error))) return false;
    throw error;
  }
}

/** Where a package waits while another takes its place. */
export const asidePrefix = ".knack-aside-";
/** Hidden folders that a process works in, followed by its id, so that others can clean up after it. */
const workPrefix = ".knack-work-";

async function inWorkFolder<T>(beside: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(beside, `${workPrefix}${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    await removeWork(folder);
  }
}

/** Removes the work folders of processes that ended. */
async function sweepWork(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = name.startsWith(workPrefix) ? Number.parseInt(name.slice(workPrefix.length), 10) : 0;
    if (pid > 0 && !isRunning(pid)) await removeWork(join(folder, name));
  }
}

/** Best effort: files of another user may stay, without an error. */
async function removeWork(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

/** Turns what the disk refuses into an error that names the path and the next step. */
async function explainFailure<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof KnackError) throw cause;
    throw new KnackError("LIBRARY_UNAVAILABLE", `Cannot ${action}: ${errorMessage(cause)}`, {
      hint: "Check that you may read and write there and that the disk has room.",
      cause,
    });
  }
}

type Written =
  | { readonly written: true; readonly hash: string | null }
  | {
      readonly written: false;
      /** `changed`: not what the caller expected. `link`: it is or holds a link. `outside`: a link leads out of the root. */
      readonly because: "changed" | "link" | "outside";
      /** The hash of what is there; null for nothing, or when it was not read. */
      readonly found: string | null;
    };

type TextRead =
  | { readonly found: "text"; readonly text: string; readonly hash: string }
  | { readonly found: "missing" }
  | { readonly found: "unreadable"; readonly message: string };

/** A text file. Bytes that are not UTF-8 make it unreadable, since they could not be written back. Never throws. */
async function readText(path: string, within?: string): Promise<TextRead> {
  try {
    const bytes = await readBytes(path, within);
    if (bytes === null) return { found: "missing" };
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { found: "text", text, hash: hashBytes(bytes) };
  } catch (error) {
    return { found: "unreadable", message: `${path}: ${errorMessage(error)}` };
  }
}

type ExpectedText = {
  /** The hash that the caller expects there; null for nothing. */
  readonly expecting: string | null;
  /** The folder that links must not lead out of. */
  readonly root?: string | undefined;
  /** A new file is the person's alone, whatever the umask. */
  readonly isPrivate?: boolean;
};

/** Replaces the expected text with one rename and keeps its mode; a link is followed if it stays within `root`. */
async function writeText(
  path: string,
  text: string,
  { expecting, root, isPrivate = false }: ExpectedText,
): Promise<Written> {
  return explainFailure(`change ${path}`, async () => {
    const isLink = (await lstat(path).catch(ifMissing(null)))?.isSymbolicLink() === true;
    const real = isLink ? await realpath(path).catch(() => null) : path;
    if (real === null) return { written: false, because: "link", found: null };
    if (root !== undefined && !isInsideFolder(real, root))
      return { written: false, because: "outside", found: null };
    const folder = dirname(real);
    await mkdir(folder, { recursive: true, ...(isPrivate ? { mode: 0o700 } : {}) });
    await sweepWork(folder);
    return inWorkFolder(folder, async (work) => {
      const staged = join(work, "new");
      const mode = isPrivate ? 0o600 : (await stat(real).catch(ifMissing(null)))?.mode;
      await writeNew(staged, text, mode === undefined ? undefined : mode & 0o7777);
      return changeIfExpected(real, expecting, async () => {
        await rename(staged, real);
        await syncFolder(folder);
        return hashBytes(text);
      });
    });
  });
}

async function removeText(path: string, { expecting, root }: ExpectedText): Promise<Written> {
  return explainFailure(`change ${path}`, async () => {
    if (root !== undefined && !isInsideFolder(dirname(path), root))
      return { written: false, because: "outside", found: null };
    const there = await lstat(path).catch(ifMissing(null));
    if (there?.isSymbolicLink()) return { written: false, because: "link", found: null };
    return changeIfExpected(path, expecting, async () => {
      await rm(path);
      return null;
    });
  });
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
  const isTaken = (error: unknown) => {
    if (getErrorCode(error) === "EEXIST") return null;
    throw error;
  };
  let seen = { id: "", times: 0 };
  const take = () => open(path, "wx", 0o600).catch(isTaken);
  let lock = await take();
  for (; lock === null; lock = await take()) {
    const found = await stat(path).catch(ifMissing(null));
    const id = found ? `${found.ino} ${found.mtimeMs}` : "";
    seen = { id, times: id === seen.id ? seen.times + 1 : 0 };
    if (seen.times > 100) await rm(path, { force: true });
    await sleep(10);
  }
  await lock.close();
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** Marks the next line of `.git/info/exclude` as Knack's; git has comments only on lines of their own. */
const mark = "# knack: only me";
/** Heads of a list that Knack created, without and with its folder. */
const createdList = "# knack: this list\n";
const createdFolder = "# knack: this list and its folder\n";

/** Adds a path to `.git/info/exclude`; false where there is no repository. */
function excludeFromGit(repository: string, path: string): Promise<boolean> {
  return editExcludes(repository, path, (text, pattern) => {
    if (text.split(/\r?\n/).includes(pattern)) return text;
    // A missing line end at the end stays missing.
    const [before, after] = text === "" || text.endsWith("\n") ? ["", "\n"] : ["\n", ""];
    return `${text}${before}${mark}\n${pattern}${after}`;
  });
}

/** Removes Knack's line for a path, unless another worktree has something there: all worktrees share one list. */
async function unexclude(repository: string, path: string): Promise<boolean> {
  const git = await findGitFolder(join(repository, ".git"));
  const below = relative(resolve(repository), resolve(repository, path));
  // A worktree that cannot be read may have something there.
  for (const other of git === null ? [] : await listCheckouts(git))
    if (!(await samePath(other, repository)) && (await exists(join(other, below)).catch(() => true)))
      return true;
  return editExcludes(repository, path, (text, pattern) => {
    const lines = text.split("\n");
    const at = lines.findIndex((line, index) => line === mark && lines[index + 1] === pattern);
    return at === -1 ? text : lines.toSpliced(at, 2).join("\n");
  });
}

async function samePath(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => realpath(path).catch(() => null)));
  return a !== null && a === b;
}

async function listCheckouts(git: string): Promise<string[]> {
  const names = await readdir(join(git, "worktrees")).catch(ifMissing([]));
  const files = await Promise.all(
    names.map((name) => readBytes(join(git, "worktrees", name, "gitdir"), git)),
  );
  const worktrees = files.flatMap((file) => (file ? dirname(resolve(git, String(file).trim())) : []));
  return basename(git) === ".git" ? [dirname(git), ...worktrees] : worktrees;
}

async function editExcludes(
  repository: string,
  path: string,
  change: (text: string, pattern: string) => string,
): Promise<boolean> {
  const git = await findGitFolder(join(repository, ".git"));
  const pattern = toPattern(relative(resolve(repository), resolve(repository, path)));
  if (git === null || pattern === null) return false;
  const file = join(git, "info", "exclude");
  // Another process may write between reading and writing; then try again.
  for (let attempt = 0; attempt < 20; attempt++) {
    const before = await readText(file, git);
    if (before.found === "unreadable" || !isInsideFolder(file, git))
      throw new KnackError("LIBRARY_UNAVAILABLE", `Cannot change ${file}: ${explainUnread(before)}.`, {
        hint: "Make it a file of its own in the repository's .git folder, and try again.",
      });
    const [text, expecting] = before.found === "text" ? [before.text, before.hash] : ["", null];
    const after = change(text, pattern);
    if (after === text) return true;
    const head = expecting !== null ? "" : (await exists(dirname(file))) ? createdList : createdFolder;
    if ((await writeExcludes(file, head + after, { expecting, root: git })).written) return true;
  }
  throw new KnackError("LIBRARY_UNAVAILABLE", `${file} keeps changing.`, { hint: "Try again." });
}

function explainUnread(read: TextRead): string {
  return read.found === "unreadable" ? read.message : "a link leads out of the repository";
}

/** A list that Knack created is deleted with its last pattern. */
async function writeExcludes(file: string, text: string, expected: ExpectedText): Promise<Written> {
  const { expecting } = expected;
  if (expecting === null || (text !== createdList && text !== createdFolder))
    return writeText(file, text, expected);
  const removed = await removeText(file, expected);
  // The folder stays if something else is in it by now.
  if (removed.written && text === createdFolder) await rmdir(dirname(file)).catch(() => {});
  return removed;
}

/** A path below the repository as a git pattern; null for one outside. */
function toPattern(below: string): string | null {
  const leadsOut = below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below);
  if (below === "" || leadsOut || /[\r\n]/.test(below)) return null;
  const path = below.replaceAll(sep, "/");
  return `/${path.replace(/[\\*?[]/g, "\\$&").replace(/ $/, "\\ ")}`;
}

/**
 * `.git` is a folder, or in a worktree or submodule a file that names one; worktrees share their `info`. Null where it
 * leads to a folder that is another repository's: what is written there must be meant for this one.
 */
async function findGitFolder(path: string): Promise<string | null> {
  const found = await stat(path).catch(ifMissing(null));
  if (found === null || !isInsideFolder(path, dirname(path))) return null;
  const pointer = found.isDirectory() ? null : await readBytes(path, dirname(path));
  const target = pointer === null ? path : /^gitdir:\s*(.+)$/m.exec(String(pointer))?.[1];
  if (target === undefined) return null;
  const git = resolve(dirname(path), target.trim());
  if (pointer !== null && !(await pointsBack(git, path))) return null;
  const common = await readBytes(join(git, "commondir"), git);
  if (common === null) return git;
  const shared = resolve(git, String(common).trim());
  return isInsideFolder(git, join(shared, "worktrees")) ? shared : null;
}

/** Whether a folder of git names the checkout that names it, as those of worktrees and submodules do. */
async function pointsBack(git: string, path: string): Promise<boolean> {
  const worktree = await readBytes(join(git, "gitdir"), git);
  if (worktree !== null) return samePath(resolve(git, String(worktree).trim()), path);
  const config = String((await readBytes(join(git, "config"), git)) ?? "");
  const folder = /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(config)?.[1];
  return folder !== undefined && samePath(resolve(git, folder), dirname(path));
}

/** Disk operations for packages and versions. */
export const disk = {
  ...{ ifMissing, readBytes, writeNew, syncFolder, moveFolder, explainFailure },
  ...{ inWorkFolder, sweepWork, isWork: (name: string) => name.startsWith(workPrefix) },
  /** Text files that Knack shares with people, and git's list of what it leaves out. */
  texts: { readText, writeText, removeText, excludeFromGit, unexclude },
};
