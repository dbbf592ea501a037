import { join } from "node:path";
import { isObject, listOf, objectOf } from "../core/json.ts";
import type { Library } from "../engine/ports.ts";
import type { NotesBefore } from "./claude-notes.ts";
import { marketplaceFolder } from "./claude-plugin.ts";
import type { Edit, KeyPath } from "./json-text.ts";

/** What an install did, so that it can be taken back. Of the settings only what Knack put in or took out is kept. */
export interface Installed {
  readonly settings: readonly Touched[];
  /** How the notes in each of Claude Code's folders were before. */
  readonly notes: readonly NotesBefore[];
}

/** A settings file with Knack's keys in it. */
export interface Touched {
  readonly path: string;
  /** Claude Code's folder at the time. */
  readonly config: string;
  /** The repository it belongs to; null for the person's own. */
  readonly root: string | null;
  /** The hash of what Knack wrote; what has it still is as Knack left it. */
  readonly after: string;
  /** Whether there was no such file. */
  readonly isNew: boolean;
  /** What was done to the text, in this order. */
  readonly edits: readonly Edit[];
  readonly keys: readonly TouchedKey[];
  /** Folders that were made for it, the outermost first. */
  readonly folders: readonly string[];
  /** Whether it was kept out of git. */
  readonly excluded: boolean;
  /** The file that was made for that; null where there was one. */
  readonly excludes: string | null;
}

export interface TouchedKey {
  readonly path: KeyPath;
  /** What was written there before; null where there was nothing. */
  readonly replaced: string | null;
  /** Whether the object around it is Knack's too. */
  readonly isAround: boolean;
}

const nothingInstalled: Installed = { settings: [], notes: [] };

export function recordPath(knackHome: string): string {
  return join(marketplaceFolder(knackHome), "installed.json");
}

/** What was noted at installs; a note that cannot be read is as good as none. */
export async function readRecord(library: Pick<Library, "readText">, knackHome: string): Promise<Installed> {
  const read = await library.readText(recordPath(knackHome));
  if (read.found !== "text") return nothingInstalled;
  try {
    return fromJson(JSON.parse(read.text));
  } catch {
    return nothingInstalled;
  }
}

export function recordText(record: Installed): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

function fromJson(value: unknown): Installed {
  const record = objectOf(value);
  return {
    settings: listOf(record?.settings).filter(isTouched),
    notes: listOf(record?.notes).filter(isNotes),
  };
}

function isTouched(value: unknown): value is Touched {
  return (
    isObject(value) &&
    [value.path, value.config, value.after].every((one) => typeof one === "string") &&
    [value.edits, value.keys, value.folders].every(Array.isArray)
  );
}

function isNotes(value: unknown): value is NotesBefore {
  return (
    isObject(value) && typeof value.config === "string" && [value.files, value.missing].every(Array.isArray)
  );
}
