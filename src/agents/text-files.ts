import { constants } from "node:fs";
import { access, lstat, realpath, stat } from "node:fs/promises";
import { KnackError } from "../base/index.ts";
import type { Library, TextRead } from "../library/index.ts";

export type TextFiles = Pick<Library, "readText" | "writeText" | "removeText">;

/** The settings of an agent; null where there are none. */
export async function readSettings(
  library: TextFiles,
  path: string,
): Promise<Extract<TextRead, { found: "text" }> | null> {
  const read = await library.readText(path);
  if (read.found === "unreadable")
    throw new KnackError("CONFIG_BROKEN", `Settings cannot be read: ${read.message}.`, {
      hint: "Fix the file; nothing was changed.",
    });
  return read.found === "text" ? read : null;
}

/** Refuses a file that is read-only, or a link to nothing: who made it so meant it. */
export async function refuseUnwritable(path: string): Promise<void> {
  if ((await lstat(path).catch(() => null)) === null) return;
  const real = await realpath(path).catch(() => null);
  if (real === null)
    throw new KnackError("LIBRARY_UNAVAILABLE", `${path} is a link to a file that is not there.`, {
      hint: "Create the file it names, or remove the link; nothing was changed.",
    });
  const { mode } = await stat(real);
  if ((mode & 0o222) !== 0 && (await isAllowed(real, constants.W_OK))) return;
  throw new KnackError("LIBRARY_UNAVAILABLE", `${real} is read-only.`, {
    hint: "Make it writable (chmod u+w), and try again; nothing was changed.",
  });
}

/** Writes a text where it is not there yet; `expecting` is the hash of what the caller has seen, if that matters. */
export async function writeText(
  library: TextFiles,
  path: string,
  text: string,
  expecting?: string | null,
): Promise<void> {
  const read = await library.readText(path);
  if (read.found === "text" && read.text === text) return;
  const found = read.found === "text" ? read.hash : null;
  const done = await library.writeText(path, text, {
    expecting: expecting === undefined ? found : expecting,
  });
  if (done.written) return;
  // Another Knack may have done the same work.
  const now = await library.readText(path);
  if (now.found !== "text" || now.text !== text) throw changedMeanwhile(path);
}

/** Removes a file that is as the caller has seen it. */
export async function removeText(library: TextFiles, path: string, expecting: string): Promise<void> {
  const done = await library.removeText(path, { expecting });
  if (!done.written) throw changedMeanwhile(path);
}

function changedMeanwhile(path: string): KnackError {
  return new KnackError("LIBRARY_UNAVAILABLE", `${path} was changed by another program just now.`, {
    hint: "Try again.",
  });
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Whether this process may use a file so: `constants.W_OK`, `constants.X_OK`. */
export async function isAllowed(path: string, how: number): Promise<boolean> {
  return access(path, how).then(
    () => true,
    () => false,
  );
}
