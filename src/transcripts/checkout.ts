import { statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { readPlainText } from "../base/index.ts";
import type { Checkout } from "../records/index.ts";

/** Bytes of a file of git's that are read. */
const gitBytes = 256 << 10;

/**
 * The repository that a folder is in, read from its files: asking git would cost a process. Null for a folder that is
 * gone or in no repository. Never throws.
 */
export function findCheckout(cwd: string): Checkout | null {
  // Published transcripts write `~` for the home folder, which is not a folder on this machine.
  if (!isAbsolute(cwd)) return null;
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const git = findGitFolder(join(folder, ".git"));
    if (git) return readCheckout(folder, git);
    if (folder === dirname(folder)) return null;
  }
}

function readCheckout(folder: string, git: string): Checkout {
  // The folder that all worktrees of a repository share.
  const common = readPlainText(join(git, "commondir"), { within: git, maxBytes: gitBytes });
  const shared = common === null ? git : resolve(git, common.trim());
  // The worktrees of a bare repository share the repository itself.
  const root = basename(shared) === ".git" ? dirname(shared) : shared === git ? folder : shared;
  const config = readPlainText(join(shared, "config"), { within: shared, maxBytes: gitBytes }) ?? "";
  const section = /^\[remote "origin"\]([^[]*)/m.exec(config)?.[1] ?? "";
  const remote = /^\s*url\s*=\s*(.+?)\s*$/m.exec(section)?.[1] ?? null;
  return {
    root,
    ...(folder === root ? {} : { worktree: folder }),
    ...readBranch(git),
    remote: remote?.startsWith(".") ? resolve(root, remote) : remote,
  };
}

/** The branch of a worktree; none where a commit is checked out. */
function readBranch(git: string): Pick<Checkout, "branch"> {
  const head = readPlainText(join(git, "HEAD"), { within: git, maxBytes: gitBytes }) ?? "";
  const branch = /^ref: refs\/heads\/(\S+)\s*$/.exec(head)?.[1];
  return branch === undefined ? {} : { branch };
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
  const target = /^gitdir:\s*(.+)$/m.exec(
    readPlainText(path, { within: dirname(path), maxBytes: gitBytes }) ?? "",
  )?.[1];
  return target === undefined ? null : resolve(dirname(path), target.trim());
}
