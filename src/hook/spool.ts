import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Word } from "../engine/hear.ts";
import { fileName, type Note } from "./note.ts";

/** Puts a note into the spool: in one move, so that the worker never meets half of one. */
export function spool(folder: string, note: Note): void {
  const unique = note.type === "place" ? "" : `-${note.at}-${process.pid}-${fileName(subjectOf(note))}`;
  const name = `${note.type}-${fileName(note.session)}${unique}`;
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

/** What tells a note from others of its kind that one hook leaves at once. */
function subjectOf(word: Word): string {
  switch (word.type) {
    case "offered":
      return word.skill;
    case "withheld":
      return word.id;
    case "unmatched":
      return "prompt";
    case "asked":
      return `${word.instinct}${word.over ? "-over" : ""}`;
    default:
      return word.instinct;
  }
}
