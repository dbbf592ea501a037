import { closeSync, fstatSync, openSync, readdirSync, readSync, realpathSync, statSync } from "node:fs";

/** The lines of a file that have a mark in them, the last first, as far as they are within so many bytes of its end. */
export function* linesWith(mark: string, path: string, bytes: number): Generator<string> {
  const text = endOf(path, bytes);
  for (let end = text.length; end > 0; ) {
    const at = text.lastIndexOf(mark, end - 1);
    if (at < 0) return;
    const next = text.indexOf("\n", at);
    end = text.lastIndexOf("\n", at) + 1;
    yield text.toString("utf8", end, next < 0 ? text.length : next);
  }
}

/** The last bytes of a file; none where it cannot be read. */
export function endOf(path: string, most: number): Buffer {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, most));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes;
  } catch {
    return Buffer.alloc(0);
  } finally {
    closeSync(file);
  }
}

/** What is in a folder; nothing where it cannot be read. */
export function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** When a file was changed last, in milliseconds; 0 where it is not there. */
export function changedAt(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

/** Whether two paths lead to one folder: agents write down the one that they were started by. */
export function isSameFolder(one: string, other: string): boolean {
  return realOf(one) === realOf(other);
}

/** A path without links; as it is where it leads nowhere. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
