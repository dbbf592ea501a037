import { constants } from "node:fs";
import { access, lstat, realpath, stat } from "node:fs/promises";
import { KnackError } from "../core/errors.ts";
import type { Library, TextRead } from "../engine/ports.ts";

type Files = Pick<Library, "readText" | "writeText" | "removeText">;

/** The settings of an agent; null where there are none. */
export async function readSettings(
  library: Files,
  path: string,
): Promise<Extract<TextRead, { found: "text" }> | null> {
  const read = await library.readText(path);
  if (read.found === "unreadable")
    throw new KnackError("CONFIG_BROKEN", `Settings cannot be read: ${read.message}.`, {
      hint: "Mend the file; nothing was changed.",
    });
  return read.found === "text" ? read : null;
}

/** Refuses a file that is read-only, or a link to nothing: who made it so meant it. */
export async function refuseUnwritable(path: string): Promise<void> {
  const there = await lstat(path).catch(() => null);
  if (!there) return;
  const real = await realpath(path).catch(() => null);
  if (real === null)
    throw new KnackError("LIBRARY_UNAVAILABLE", `${path} is a link to a file that is not there.`, {
      hint: "Make the file it names, or remove the link; nothing was changed.",
    });
  const { mode } = await stat(real);
  if ((mode & 0o222) !== 0 && (await canWrite(real))) return;
  throw new KnackError("LIBRARY_UNAVAILABLE", `${real} is read-only.`, {
    hint: "Make it writable (chmod u+w), and try again; nothing was changed.",
  });
}

/** Writes a text where it is not there yet; `expecting` is the hash of what the caller has seen, if that matters. */
export async function put(
  library: Files,
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
  // Another Knack may have been at the same work.
  const now = await library.readText(path);
  if (now.found !== "text" || now.text !== text) throw changedMeanwhile(path);
}

/** Removes a file that is as the caller has seen it. */
export async function remove(library: Files, path: string, expecting: string): Promise<void> {
  const done = await library.removeText(path, { expecting });
  if (!done.written) throw changedMeanwhile(path);
}

export async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function changedMeanwhile(path: string): KnackError {
  return new KnackError("LIBRARY_UNAVAILABLE", `${path} was changed by somebody else just now.`, {
    hint: "Try again.",
  });
}

async function canWrite(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}
