import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Note } from "../spool/index.ts";

const mostTries = 3;

/** A note that a worker has taken; its file stays until it is handled, even if the worker dies. */
export interface TakenNote {
  readonly note: Note;
  readonly path: string;
  /** A worker took it before and did not finish, so it may be the cause: to be handled alone. */
  readonly suspect: boolean;
  /** How often it was tried alone. */
  readonly tries: number;
}

/** The notes in the spool, for the one worker that may take them. */
export function openInbox(spool: string) {
  const taken = join(spool, "taken");
  const aside = join(spool, "aside");
  const setAside = (path: string, name: string) => {
    mkdirSync(aside, { recursive: true, mode: 0o700 });
    rmSync(join(aside, name), { recursive: true, force: true });
    renameSync(path, join(aside, name));
  };
  const readName = ({ path }: TakenNote) => parseTries(path.slice(taken.length + 1)).name;
  const countTry = (one: TakenNote, tries: number): TakenNote => {
    const path = join(taken, `${tries}~${readName(one)}`);
    renameSync(one.path, path);
    return { ...one, path, tries };
  };
  // A note that failed is left to the next worker: the problem may have passed by then.
  const met = new Set<string>();
  return {
    /** Takes all notes, least tried first; the first time also those that other workers left. Sets unreadable ones aside. */
    take: (): TakenNote[] => {
      mkdirSync(taken, { recursive: true, mode: 0o700 });
      const kept = listNames(taken).filter((file) => /^\d+~/.test(file));
      const left = new Map(kept.map(parseTries).map(({ name, tries }) => [name, tries]));
      // The latest note of a session replaces the one before and inherits its tries.
      const pathOf = (name: string) => join(taken, `${left.get(name) ?? 0}~${name}`);
      const fresh = listNotes(spool).filter((name) => move(join(spool, name), pathOf(name)));
      const names = new Set([...[...left.keys()].filter((name) => !met.has(name)), ...fresh]);
      return [...names]
        .flatMap((name) => {
          met.add(name);
          const note = readNote(pathOf(name));
          const tries = left.get(name) ?? 0;
          if (note !== null) return { note, path: pathOf(name), tries, suspect: left.has(name) };
          setAside(pathOf(name), name);
          return [];
        })
        .sort((a, b) => a.tries - b.tries);
    },
    isEmpty: () => listNotes(spool).length === 0,
    /** Counts a try, which survives this process. After too many the note is set aside, and this returns null. */
    begin: (one: TakenNote): TakenNote | null => {
      if (one.tries < mostTries) return countTry(one, one.tries + 1);
      setAside(one.path, readName(one));
      return null;
    },
    done: ({ path }: TakenNote) => rmSync(path, { force: true }),
    /** Uncounts the try: it succeeded, or there was no time for it. */
    giveBack: (one: TakenNote) => countTry(one, one.tries - 1),
  };
}

/** The notes in a spool, oldest first. */
function listNotes(spool: string): string[] {
  return listNames(spool)
    .filter((name) => name.endsWith(".json"))
    .map((name) => ({ name, at: statSync(join(spool, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

function listNames(folder: string): string[] {
  return ifThere(() => readdirSync(folder)) ?? [];
}

/** False if the file no longer exists. */
function move(from: string, to: string): boolean {
  return ifThere(() => renameSync(from, to) ?? true) ?? false;
}

/** Null where the file or folder is gone. */
function ifThere<Value>(use: () => Value): Value | null {
  try {
    return use();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** The tries are in the file's name, so that those that killed a worker count too. */
function parseTries(file: string): { name: string; tries: number } {
  const at = file.indexOf("~");
  return { name: file.slice(at + 1), tries: Number(file.slice(0, at)) };
}

function readNote(path: string): Note | null {
  try {
    const note: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isNote(note) ? note : null;
  } catch {
    return null;
  }
}

/** Only the hook writes here; this checks that the file is complete and of this version. */
function isNote(value: unknown): value is Note {
  if (typeof value !== "object" || value === null) return false;
  const note = value as Partial<Record<string, unknown>>;
  if (typeof note.session !== "string" || typeof note.at !== "number") return false;
  if (note.type === "asked" && typeof note.over !== "boolean") return false;
  if (note.type === "offer" && !(isTexts(note.lessons) && (note.kept === null || isTexts(note.kept))))
    return false;
  return requiredTexts[String(note.type)]?.every((name) => typeof note[name] === "string") ?? false;
}

const requiredTexts: Readonly<Record<string, readonly string[]>> = {
  place: ["transcript"],
  shown: ["lessonId", "text"],
  offered: ["skill", "text"],
  withheld: ["id"],
  unmatched: ["text"],
  asked: ["lessonId"],
  held: ["goal"],
  offer: [],
};

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
