import { readFile, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { Checkout } from "../core/project.ts";
import type { Checkouts } from "../engine/ports.ts";

/** Repositories on this machine, read from their files: asking git would cost a process for each folder. */
export function createCheckouts(): Checkouts {
  const known = new Map<string, Promise<Checkout | null>>();
  return {
    of: async (cwd) => {
      // Published transcripts write `~` for the home folder; that is no place on this machine.
      if (!isAbsolute(cwd)) return null;
      const asked = known.get(cwd) ?? checkoutOf(cwd);
      known.set(cwd, asked);
      return asked;
    },
  };
}

async function checkoutOf(cwd: string): Promise<Checkout | null> {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const git = await gitFolder(join(folder, ".git"));
    if (git) {
      const shared = await sharedFolder(git);
      // The worktrees of a bare repository share the repository itself.
      const root = basename(shared) === ".git" ? dirname(shared) : shared === git ? folder : shared;
      const remote = await originOf(shared);
      return { root, remote: remote?.startsWith(".") ? resolve(root, remote) : remote };
    }
    if (folder === dirname(folder)) return null;
  }
}

/** `.git` is a folder, or in a worktree or submodule a file that names one. */
async function gitFolder(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  if (found.isDirectory()) return path;
  const target = /^gitdir:\s*(.+)$/m.exec((await textIn(path)) ?? "")?.[1];
  return target === undefined ? null : resolve(dirname(path), target.trim());
}

/** The folder that all worktrees of a repository share. */
async function sharedFolder(git: string): Promise<string> {
  const common = await textIn(join(git, "commondir"));
  return common === null ? git : resolve(git, common.trim());
}

async function originOf(git: string): Promise<string | null> {
  const config = (await textIn(join(git, "config"))) ?? "";
  const section = /^\[remote "origin"\]([^[]*)/m.exec(config)?.[1] ?? "";
  return /^\s*url\s*=\s*(.+?)\s*$/m.exec(section)?.[1] ?? null;
}

async function textIn(path: string): Promise<string | null> {
  return readFile(path, "utf8").catch(() => null);
}
