import { existsSync, readFileSync, type Stats, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { Checkout } from "../core/project.ts";
import type { Checkouts } from "../engine/ports.ts";

/** Repositories on this machine, each folder looked at once. */
export function createCheckouts(): Checkouts {
  const known = new Map<string, Checkout | null>();
  return {
    of: async (cwd) => {
      const found = known.get(cwd) ?? checkoutAt(cwd);
      known.set(cwd, found);
      return found;
    },
  };
}

/** The repository that a folder is in, read from its files: asking git would cost a process. Never throws. */
export function checkoutAt(cwd: string): Checkout | null {
  // Published transcripts write `~` for the home folder; that is no place on this machine.
  if (!isAbsolute(cwd)) return null;
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const git = gitFolder(join(folder, ".git"));
    if (git) {
      const shared = sharedFolder(git);
      // The worktrees of a bare repository share the repository itself.
      const root = basename(shared) === ".git" ? dirname(shared) : shared === git ? folder : shared;
      const remote = originOf(shared);
      return {
        root,
        ...(folder === root ? {} : { worktree: folder }),
        remote: remote?.startsWith(".") ? resolve(root, remote) : remote,
      };
    }
    if (folder === dirname(folder)) return null;
  }
}

/** `.git` is a folder, or in a worktree or submodule a file that names one. */
function gitFolder(path: string): string | null {
  const found = statOf(path);
  if (found === null) return null;
  if (found.isDirectory()) return path;
  const target = /^gitdir:\s*(.+)$/m.exec(textIn(path) ?? "")?.[1];
  return target === undefined ? null : resolve(dirname(path), target.trim());
}

/** The folder that all worktrees of a repository share. */
function sharedFolder(git: string): string {
  const common = textIn(join(git, "commondir"));
  return common === null ? git : resolve(git, common.trim());
}

function originOf(git: string): string | null {
  const config = textIn(join(git, "config")) ?? "";
  const section = /^\[remote "origin"\]([^[]*)/m.exec(config)?.[1] ?? "";
  return /^\s*url\s*=\s*(.+?)\s*$/m.exec(section)?.[1] ?? null;
}

function statOf(path: string): Stats | null {
  try {
    // An error costs more to make than everything else here, and most folders have no such file.
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function textIn(path: string): string | null {
  try {
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  } catch {
    return null;
  }
}
