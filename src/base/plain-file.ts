import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { compareText } from "./ids.ts";

/** Milliseconds after which a slow disk is given up: between two chunks, since one read cannot be interrupted. */
const maxMs = 5_000;
const chunkBytes = 1 << 20;
/** Bytes of a file for people or of a manifest; no honest one is longer. */
const usualBytes = 1 << 20;

interface PlainFileOptions {
  /** The folder that links must not lead out of; without it they are followed anywhere. */
  readonly within?: string | undefined;
  /** A longer file is refused. */
  readonly maxBytes?: number;
  /** Return the beginning of a longer file instead of refusing it. */
  readonly cut?: boolean;
}

/** A path that is there and is not read: no plain file, elsewhere, too long or too slow. */
export class PlainFileError extends Error {
  readonly code: "NOT_PLAIN" | "LEADS_OUT" | "TOO_LARGE" | "TOO_SLOW";

  constructor(code: PlainFileError["code"], message: string) {
    super(message);
    this.name = "PlainFileError";
    this.code = code;
  }
}

/**
 * Opens a file that somebody else may have put there: never a pipe, which would block, nor a device, which may have no
 * end, nor what a link puts outside of `within`. The caller closes the handle.
 */
export function openPlainFile(
  path: string,
  { within }: Pick<PlainFileOptions, "within"> = {},
): { handle: number; stats: Stats } {
  const real = within === undefined ? path : resolveWithin(path, within);
  // Opening alone can do something to a device, so its kind is asked before and, because it may be exchanged, after.
  checkKind(statSync(real));
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
  const handle = openSync(real, O_RDONLY | O_NONBLOCK | (within === undefined ? 0 : O_NOFOLLOW));
  try {
    const stats = fstatSync(handle);
    checkKind(stats);
    return { handle, stats };
  } catch (error) {
    closeSync(handle);
    throw error;
  }
}

/** Whether a path, or as much of it as exists, is inside a folder wherever links lead; false where they lead nowhere. */
export function isInsideFolder(path: string, folder: string): boolean {
  const root = resolveExisting(folder);
  const real = resolveExisting(path);
  if (real === null || root === null) return false;
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The path with links resolved as far as it exists; null where a link leads nowhere or in a circle. */
function resolveExisting(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["ENOENT", "ENOTDIR", "ELOOP"].includes(code) || dirname(path) === path) throw error;
    // What is written through a link to nothing comes into being elsewhere; a folder may just have been made.
    if (code === "ELOOP" || isLink(path)) return null;
    const parent = resolveExisting(dirname(path));
    return parent === null ? null : join(parent, basename(path));
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false;
  }
}

function resolveWithin(path: string, folder: string): string {
  const real = realpathSync.native(path);
  if (isInsideFolder(real, folder)) return real;
  throw new PlainFileError("LEADS_OUT", `a link leads out of ${folder}`);
}

function checkKind(stats: Stats): void {
  if (stats.isFile()) return;
  throw new PlainFileError("NOT_PLAIN", stats.isDirectory() ? "it is a folder" : "it is not a plain file");
}

/** The bytes of a plain file; throws like `openPlainFile`, and for what is too long or too slow. */
export function readPlainFile(path: string, options: PlainFileOptions = {}): Buffer {
  const { handle, stats } = openPlainFile(path, options);
  try {
    return readPlainHandle(handle, stats, options);
  } finally {
    closeSync(handle);
  }
}

/** The bytes of an open plain file, from its beginning. */
export function readPlainHandle(
  handle: number,
  { size }: Pick<Stats, "size">,
  { maxBytes = usualBytes, cut = false }: PlainFileOptions,
): Buffer {
  if (size > maxBytes && !cut)
    throw new PlainFileError("TOO_LARGE", `it has ${size} bytes; at most ${maxBytes} are read`);
  const giveUp = performance.now() + maxMs;
  // A file that grows meanwhile is not read beyond its size; one that shrinks ends earlier.
  const bytes = Buffer.allocUnsafe(Math.min(size, maxBytes));
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(handle, bytes, length, Math.min(chunkBytes, bytes.length - length), length);
    if (read === 0) break;
    length += read;
    if (performance.now() > giveUp)
      throw new PlainFileError("TOO_SLOW", `reading takes more than ${maxMs} ms`);
  }
  return bytes.subarray(0, length);
}

/** The text of a plain file; null where there is none, or it cannot be read. */
export function readPlainText(path: string, options: PlainFileOptions = {}): string | null {
  // An error costs more to make than everything else here, and most files that are looked for do not exist.
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
    return readPlainFile(path, options).toString("utf8");
  } catch {
    return null;
  }
}

/** Entries below a folder that are looked at. */
const mostEntries = 500_000;

/**
 * The plain files below a folder, as sorted paths with `/`; a link is not followed. A folder that cannot be read has
 * none, and `onProblem` is told.
 */
export function listFilesBelow(
  folder: string,
  onProblem: (path: string, error: unknown) => void = () => {},
): string[] {
  const files: string[] = [];
  const folders = [""];
  for (let below = folders.pop(), seen = 0; below !== undefined; below = folders.pop()) {
    for (const entry of listEntries(join(folder, below), onProblem)) {
      if (++seen > mostEntries) return files.sort(compareText);
      const path = `${below}${entry.name}`;
      if (entry.isDirectory()) folders.push(`${path}/`);
      else if (entry.isFile()) files.push(path);
    }
  }
  return files.sort(compareText);
}

function listEntries(folder: string, onProblem: (path: string, error: unknown) => void): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    onProblem(folder, error);
    return [];
  }
}
