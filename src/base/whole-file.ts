import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** Replaces a file atomically: a reader sees either the old content or the new. A link at the path is replaced too. */
export function writeFileAtomically(path: string, parts: readonly Uint8Array[], mode = 0o600): void {
  // One folder at most: a home deleted meanwhile is not recreated.
  makeFolder(dirname(path));
  const draft = `${path}.${process.pid}.new`;
  try {
    rmSync(draft, { force: true });
    // Only a file that is new: somebody may have put a link there.
    const file = openSync(draft, "wx", mode);
    try {
      // Some hundred at a time: an operating system takes about a thousand.
      for (let at = 0; at < parts.length; at += 500) {
        const bytes = Buffer.concat(parts.slice(at, at + 500));
        for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
      }
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Like `writeFileAtomically`, for derived data: removes a folder at the path first. */
export function writeDerivedFile(path: string, parts: readonly Uint8Array[]): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) rmSync(path, { recursive: true });
  writeFileAtomically(path, parts);
}

/** Removes temporary files left in a folder by interrupted writers. */
export function removeStaleDrafts(folder: string, now: number): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const [, pid] = /\.(\d+)\.new$/.exec(name) ?? [];
    if (pid === undefined) continue;
    const path = join(folder, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    // The pid may have been reused.
    if (!isRunning(Number(pid)) || now - changed > 86_400_000) rmSync(path, { force: true });
  }
}

/** Whether a process runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists but belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Takes a folder from everybody but its owner; true if it was open to others. A folder that everybody shares, such as
 * /tmp, is left alone.
 */
export function keepPrivate(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  const isShared = found === undefined || (found.mode & 0o1000) !== 0 || found.uid !== process.getuid?.();
  if (isShared || (found.mode & 0o077) === 0) return false;
  chmodSync(folder, 0o700);
  return true;
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

export function jsonBytes(value: unknown): Uint8Array[] {
  return [Buffer.from(`${JSON.stringify(value)}\n`)];
}
