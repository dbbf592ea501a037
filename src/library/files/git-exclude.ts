import { readdir, readFile, rmdir, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { KnackError } from "../../base/index.ts";
import { exists, ifMissing, samePath } from "./disk.ts";
import type { Written } from "./library.ts";
import { readTextFile, removeTextFile, writeTextFile } from "./text-file.ts";

/** Marks the next line as Knack's; git has comments only on lines of their own. */
const mark = "# knack: only me";
/** Heads of a list that Knack created, without and with its folder. */
const createdList = "# knack: this list\n";
const createdFolder = "# knack: this list and its folder\n";

/** Adds a path to `.git/info/exclude`; false where there is no repository. */
export function excludeFromGit(repository: string, path: string): Promise<boolean> {
  return editList(repository, path, addPattern);
}

/** Removes it again, unless another worktree has something there: all worktrees share one list. */
export async function unexclude(repository: string, path: string): Promise<boolean> {
  const git = await findGitFolder(join(repository, ".git"));
  const below = relative(resolve(repository), resolve(repository, path));
  // A worktree that cannot be read may have something there.
  for (const other of git === null ? [] : await listCheckouts(git))
    if (!(await samePath(other, repository)) && (await exists(join(other, below)).catch(() => true)))
      return true;
  return editList(repository, path, removePattern);
}

async function listCheckouts(git: string): Promise<string[]> {
  const names = await readdir(join(git, "worktrees")).catch(ifMissing([]));
  const files = await Promise.all(
    names.map((name) => readFile(join(git, "worktrees", name, "gitdir"), "utf8").catch(ifMissing(null))),
  );
  const worktrees = files.flatMap((file) => (file === null ? [] : dirname(resolve(git, file.trim()))));
  return basename(git) === ".git" ? [dirname(git), ...worktrees] : worktrees;
}

async function editList(
  repository: string,
  path: string,
  change: (text: string, pattern: string) => string,
): Promise<boolean> {
  const git = await findGitFolder(join(repository, ".git"));
  const pattern = toPattern(repository, path);
  if (git === null || pattern === null) return false;
  const file = join(git, "info", "exclude");
  // Another process may write between reading and writing; then try again.
  for (let attempt = 0; attempt < 20; attempt++) {
    const before = await readTextFile(file);
    if (before.found === "unreadable")
      throw new KnackError("LIBRARY_UNAVAILABLE", `Cannot read ${before.message}`);
    const [text, expecting] = before.found === "text" ? [before.text, before.hash] : ["", null];
    const after = change(text, pattern);
    if (after === text) return true;
    const head = expecting !== null ? "" : (await exists(dirname(file))) ? createdList : createdFolder;
    if ((await writeList(file, head + after, expecting)).written) return true;
  }
  throw new KnackError("LIBRARY_UNAVAILABLE", `${file} keeps changing.`, { hint: "Try again." });
}

/** A list that Knack created is deleted with its last pattern. */
async function writeList(file: string, text: string, expecting: string | null): Promise<Written> {
  if (expecting === null || (text !== createdList && text !== createdFolder))
    return writeTextFile(file, text, { expecting });
  const removed = await removeTextFile(file, { expecting });
  // The folder stays if something else is in it by now.
  if (removed.written && text === createdFolder) await rmdir(dirname(file)).catch(() => {});
  return removed;
}

/** Adds a line for the pattern unless there is one; a missing line end at the end stays missing. */
export function addPattern(text: string, pattern: string): string {
  if (text.split(/\r?\n/).includes(pattern)) return text;
  return text === "" || text.endsWith("\n") ? `${text}${mark}\n${pattern}\n` : `${text}\n${mark}\n${pattern}`;
}

/** Removes Knack's line for the pattern; a line that a person wrote stays. */
export function removePattern(text: string, pattern: string): string {
  const lines = text.split("\n");
  const at = lines.findIndex((line, index) => line === mark && lines[index + 1] === pattern);
  return at === -1 ? text : lines.toSpliced(at, 2).join("\n");
}

/** The path below the repository as a git pattern; null for one outside. */
export function toPattern(repository: string, path: string): string | null {
  const below = relative(resolve(repository), resolve(repository, path));
  if (below === "" || below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below)) return null;
  if (/[\r\n]/.test(below)) return null;
  const escaped = below
    .split(sep)
    .join("/")
    .replace(/[\\*?[]/g, "\\$&")
    .replace(/ $/, "\\ ");
  return `/${escaped}`;
}

/** `.git` is a folder, or in a worktree or submodule a file that names one; worktrees share their `info`. */
async function findGitFolder(path: string): Promise<string | null> {
  const found = await stat(path).catch(ifMissing(null));
  if (found === null) return null;
  const target = found.isDirectory() ? path : /^gitdir:\s*(.+)$/m.exec(await readFile(path, "utf8"))?.[1];
  if (target === undefined) return null;
  const git = resolve(dirname(path), target.trim());
  const common = await readFile(join(git, "commondir"), "utf8").catch(ifMissing(null));
  return common === null ? git : resolve(git, common.trim());
}
