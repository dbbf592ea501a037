import { readdir, readFile, rmdir, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { KnackError } from "../core/errors.ts";
import type { Written } from "../engine/ports.ts";
import { isSame } from "./folders.ts";
import { ifMissing, isThere } from "./packages.ts";
import { readTextFile, removeTextFile, writeTextFile } from "./text.ts";

/** Says that the next line is Knack's; git has comments on lines of their own only. */
const mark = "# knack: only me";
/** Say at the head of a list that it was made for such lines, and its folder with it. */
const madeList = "# knack: this list\n";
const madeFolder = "# knack: this list and its folder\n";

/** Keeps a path out of git for this person alone; false where there is no repository. */
export function exclude(repository: string, path: string): Promise<boolean> {
  return edit(repository, path, withPattern);
}

/** Undoes that, unless another worktree has something there: all of them go by one list. */
export async function unexclude(repository: string, path: string): Promise<boolean> {
  const git = await sharedGitFolder(join(repository, ".git"));
  const below = relative(resolve(repository), resolve(repository, path));
  // One that cannot be looked at may have something there.
  for (const other of git === null ? [] : await checkoutsOf(git))
    if (!(await isSame(other, repository)) && (await isThere(join(other, below)).catch(() => true)))
      return true;
  return edit(repository, path, withoutPattern);
}

/** The folders that a repository is checked out in. */
async function checkoutsOf(git: string): Promise<string[]> {
  const names = await readdir(join(git, "worktrees")).catch(ifMissing([]));
  const files = await Promise.all(
    names.map((name) => readFile(join(git, "worktrees", name, "gitdir"), "utf8").catch(ifMissing(null))),
  );
  const worktrees = files.flatMap((file) => (file === null ? [] : dirname(resolve(git, file.trim()))));
  return basename(git) === ".git" ? [dirname(git), ...worktrees] : worktrees;
}

type Edit = (text: string, pattern: string) => string;

async function edit(repository: string, path: string, change: Edit): Promise<boolean> {
  const git = await sharedGitFolder(join(repository, ".git"));
  const pattern = patternFor(repository, path);
  if (git === null || pattern === null) return false;
  const file = join(git, "info", "exclude");
  // Another process may write between reading and writing; then it is done on what that one wrote.
  for (let attempt = 0; attempt < 20; attempt++) {
    const before = await readTextFile(file);
    if (before.found === "unreadable")
      throw new KnackError("LIBRARY_UNAVAILABLE", `Cannot read ${before.message}`);
    const [text, expecting] = before.found === "text" ? [before.text, before.hash] : ["", null];
    const after = change(text, pattern);
    if (after === text) return true;
    const head = expecting === null ? await headFor(file) : "";
    if ((await replace(file, head + after, expecting)).written) return true;
  }
  throw new KnackError("LIBRARY_UNAVAILABLE", `${file} keeps changing.`, { hint: "Try again." });
}

async function headFor(file: string): Promise<string> {
  return (await isThere(dirname(file))) ? madeList : madeFolder;
}

/** A list that was made for such lines goes with the last of them. */
async function replace(file: string, text: string, expecting: string | null): Promise<Written> {
  if (expecting === null || (text !== madeList && text !== madeFolder))
    return writeTextFile(file, text, { expecting });
  const removed = await removeTextFile(file, { expecting });
  // Somebody may have put something else there.
  if (removed.written && text === madeFolder) await rmdir(dirname(file)).catch(() => {});
  return removed;
}

/** The text with a line for the pattern, unless it has one; whether the file ends with a line end stays as it was. */
export function withPattern(text: string, pattern: string): string {
  if (text.split(/\r?\n/).includes(pattern)) return text;
  return text === "" || text.endsWith("\n") ? `${text}${mark}\n${pattern}\n` : `${text}\n${mark}\n${pattern}`;
}

/** The text without Knack's line for the pattern. */
export function withoutPattern(text: string, pattern: string): string {
  const lines = text.split("\n");
  const at = lines.findIndex((line, index) => line === mark && lines[index + 1] === pattern);
  return at === -1 ? text : lines.toSpliced(at, 2).join("\n");
}

/** The path below the repository as git reads it; null for one outside. */
export function patternFor(repository: string, path: string): string | null {
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
async function sharedGitFolder(path: string): Promise<string | null> {
  const found = await stat(path).catch(ifMissing(null));
  if (found === null) return null;
  const target = found.isDirectory() ? path : /^gitdir:\s*(.+)$/m.exec(await readFile(path, "utf8"))?.[1];
  if (target === undefined) return null;
  const git = resolve(dirname(path), target.trim());
  const common = await readFile(join(git, "commondir"), "utf8").catch(ifMissing(null));
  return common === null ? git : resolve(git, common.trim());
}
