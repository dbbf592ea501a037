import { createHash, type Hash } from "node:crypto";
import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { skillFile } from "../skill.ts";
import { type ItemRoot, mostDepth } from "./read-files.ts";

/**
 * A stamp of everything that agents' folders hold, which changes when a file in them does: its time, size or place. It
 * is taken after each turn, and most turns change no skill, so nothing is opened and nothing waits for a thread. Null
 * where something cannot be looked at.
 */
export function stampRoots(roots: readonly ItemRoot[]): string | null {
  const hash = createHash("sha1").update(JSON.stringify(roots));
  try {
    for (const root of roots) stampRoot(hash, root);
    return hash.digest("hex");
  } catch {
    return null;
  }
}

/** How a root is stamped: as packages or single files, and packages of a repository with all that is in them. */
interface Depth {
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

function stampFolder(hash: Hash, folder: string, how: Depth, depth: number): void {
  if (depth >= mostDepth) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    hash.update(`\n${entry.name}`);
    if (entry.isFile() ? how.isOfPackages : entry.name.startsWith(".") && entry.name !== ".system") continue;
    stampEntry(hash, join(folder, entry.name), entry, how, depth);
  }
}

function stampEntry(hash: Hash, path: string, entry: Dirent, how: Depth, depth: number): void {
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
function stampPackage(hash: Hash, path: string, { isWhole }: Depth): boolean {
  const found = statSync(join(path, skillFile), { throwIfNoEntry: false });
  if (found) stampFile(hash, found);
  if (found && isWhole) stampFolder(hash, path, { isOfPackages: false, isWhole }, 0);
  return found !== undefined;
}

function stampFile(hash: Hash, { mtimeMs, ctimeMs, size, ino }: Stats): void {
  hash.update(` ${mtimeMs} ${ctimeMs} ${size} ${ino}`);
}
