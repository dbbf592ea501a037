import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { Checkout } from "../records/index.ts";

/**
 * The repository that a folder is in, read from its files: asking git would cost a process. Null for a folder that is
 * gone or in no repository. Never throws.
 */
export function findCheckout(cwd: string): Checkout | null {
  // Published transcripts write `~` for the home folder; that is no folder on this machine.
  if (!isAbsolute(cwd)) return null;
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const git = findGitFolder(join(folder, ".git"));
    if (git) return readCheckout(folder, git);
    if (folder === dirname(folder)) return null;
  }
}

function readCheckout(folder: string, git: string): Checkout {
  // The folder that all worktrees of a repository share.
  const common = readText(join(git, "commondir"));
  const shared = common === null ? git : resolve(git, common.trim());
  // The worktrees of a bare repository share the repository itself.
  const root = basename(shared) === ".git" ? dirname(shared) : shared === git ? folder : shared;
  const config = readText(join(shared, "config")) ?? "";
  const section = /^\[remote "origin"\]([^[]*)/m.exec(config)?.[1] ?? "";
  const remote = /^\s*url\s*=\s*(.+?)\s*$/m.exec(section)?.[1] ?? null;
  return {
    root,
    ...(folder === root ? {} : { worktree: folder }),
    remote: remote?.startsWith(".") ? resolve(root, remote) : remote,
  };
}

/** `.git` is a folder, or in a worktree or submodule a file that names one. */
function findGitFolder(path: string): string | null {
  try {
    // An error costs more to make than everything else here, and most folders have no such file.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isDirectory()) return found ? path : null;
  } catch {
    return null;
  }
  const target = /^gitdir:\s*(.+)$/m.exec(readText(path) ?? "")?.[1];
  return target === undefined ? null : resolve(dirname(path), target.trim());
}

function readText(path: string): string | null {
  try {
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  } catch {
    return null;
  }
}
