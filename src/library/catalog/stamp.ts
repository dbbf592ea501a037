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

function stampRoot(hash: Hash, { path, form }: ItemRoot): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  hash.update(`\n${realpathSync(path)}`);
  if (form === "file") stampFile(hash, found);
  else if (form === "package") stampPackage(hash, path);
  else stampFolder(hash, path, form === "packages", 0);
}

function stampFolder(hash: Hash, folder: string, isOfPackages: boolean, depth: number): void {
  if (depth >= mostDepth) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    hash.update(`\n${entry.name}`);
    if (entry.isFile() ? isOfPackages : entry.name.startsWith(".") && entry.name !== ".system") continue;
    stampEntry(hash, join(folder, entry.name), entry, isOfPackages, depth);
  }
}

function stampEntry(hash: Hash, path: string, entry: Dirent, isOfPackages: boolean, depth: number): void {
  if (isOfPackages && stampPackage(hash, path)) {
    // Where a link leads may change, and the file there be the same.
    if (entry.isSymbolicLink()) hash.update(realpathSync(path));
    return;
  }
  const found = entry.isDirectory() ? null : statSync(path, { throwIfNoEntry: false });
  if (entry.isDirectory() || found?.isDirectory()) stampFolder(hash, path, isOfPackages, depth + 1);
  else if (found) stampFile(hash, found);
}

/** False where there is no skill. */
function stampPackage(hash: Hash, path: string): boolean {
  const found = statSync(join(path, skillFile), { throwIfNoEntry: false });
  if (found) stampFile(hash, found);
  return found !== undefined;
}

function stampFile(hash: Hash, { mtimeMs, ctimeMs, size, ino }: Stats): void {
  hash.update(` ${mtimeMs} ${ctimeMs} ${size} ${ino}`);
}
