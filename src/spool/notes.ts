import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeId } from "../base/index.ts";
import type { HookNote } from "../recall/index.ts";

/** What the hook hands to the worker: a small file in the spool, written atomically and handled once. */
export type Note = TranscriptNote | HookNote;

/** A transcript has something new. The latest note of a session replaces the one before. */
export interface TranscriptNote {
  readonly type: "place";
  readonly session: string;
  readonly transcript: string;
  readonly cwd: string | null;
  readonly event: string;
  readonly at: number;
}

/** A unique file name for a text, safe in any file system. */
export function makeFileName(text: string): string {
  if (/^\w[\w-]{0,99}$/.test(text)) return text;
  const readable = text.slice(0, 60).replace(/[^\w-]/g, "_");
  return `${readable}.${makeId("n", text)}`;
}

/** Adds a note to the spool, renamed into place so that the worker never reads half of one. */
export function writeNote(folder: string, note: Note): void {
  const unique =
    note.type === "place" ? "" : `-${note.at}-${process.pid}-${makeFileName(describeSubject(note))}`;
  const name = `${note.type}-${makeFileName(note.session)}${unique}`;
  const draft = join(folder, `${name}.${process.pid}.new`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, JSON.stringify(note), { mode: 0o600 });
    renameSync(draft, join(folder, `${name}.json`));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Distinguishes notes of one kind that a hook writes at the same time. */
function describeSubject(note: HookNote): string {
  switch (note.type) {
    case "offered":
      return note.skill;
    case "withheld":
      return note.id;
    case "unmatched":
      return "prompt";
    case "asked":
      return `${note.lessonId}${note.over ? "-over" : ""}`;
    default:
      return note.lessonId;
  }
}
