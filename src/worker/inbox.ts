import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Note } from "../hook/note.ts";

/** A note that a worker has taken on; it lies there until it is handled, whoever dies before that. */
export interface Taken {
  readonly note: Note;
  readonly path: string;
  /** A worker had it before and did not come through, so it may be what ended that one: to be handled by itself. */
  readonly suspect: boolean;
  /** How often somebody has begun to handle it by itself. */
  readonly tries: number;
}

/** The notes in the spool, for the one worker that may take them. */
export interface Inbox {
  /** Takes on what lies there, the first time also what others left, the least tried first; unreadable ones are put aside. */
  take(): Taken[];
  isEmpty(): boolean;
  /** Counts a try, which stays counted whatever becomes of this process. Null, and put aside, after too many. */
  begin(taken: Taken): Taken | null;
  done(taken: Taken): void;
  /** The try does not count: it came through, or there was no time for it. */
  giveBack(taken: Taken): Taken;
}

export function inboxAt(spool: string, { tries: most }: { readonly tries: number }): Inbox {
  const taken = join(spool, "taken");
  const aside = join(spool, "aside");
  const putAside = (path: string, name: string) => {
    mkdirSync(aside, { recursive: true, mode: 0o700 });
    rmSync(join(aside, name), { recursive: true, force: true });
    renameSync(path, join(aside, name));
  };
  const tried = (one: Taken, tries: number): Taken => {
    const path = join(taken, `${tries}~${nameOf(one)}`);
    renameSync(one.path, path);
    return { ...one, path, tries };
  };
  const nameOf = ({ path }: Taken) => triesIn(path.slice(taken.length + 1)).name;
  // What did not come through is for the next worker: the trouble may have passed until then.
  const met = new Set<string>();
  return {
    take: () => {
      mkdirSync(taken, { recursive: true, mode: 0o700 });
      const left = new Map(
        namesIn(taken)
          .filter((file) => /^\d+~/.test(file))
          .map(triesIn)
          .map(({ name, tries }) => [name, tries]),
      );
      // The latest about a session takes the place of the one before, and how that one fared is remembered.
      const pathOf = (name: string) => join(taken, `${left.get(name) ?? 0}~${name}`);
      const fresh = notesIn(spool).filter((name) => move(join(spool, name), pathOf(name)));
      const names = new Set([...[...left.keys()].filter((name) => !met.has(name)), ...fresh]);
      for (const name of names) met.add(name);
      return [...names]
        .flatMap((name) => {
          const note = noteIn(pathOf(name));
          const tries = left.get(name) ?? 0;
          if (note !== null) return { note, path: pathOf(name), tries, suspect: left.has(name) };
          putAside(pathOf(name), name);
          return [];
        })
        .sort((a, b) => a.tries - b.tries);
    },
    isEmpty: () => notesIn(spool).length === 0,
    begin: (one) => {
      if (one.tries < most) return tried(one, one.tries + 1);
      putAside(one.path, nameOf(one));
      return null;
    },
    done: ({ path }) => rmSync(path, { force: true }),
    giveBack: (one) => tried(one, one.tries - 1),
  };
}

/** The notes that lie in a spool, oldest first. */
export function notesIn(spool: string): string[] {
  return namesIn(spool)
    .filter((name) => name.endsWith(".json"))
    .map((name) => ({ name, at: statSync(join(spool, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** Moves a file; false when it is not there any more. */
function move(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** The number of tries is in the file's name, so that it also counts those that ended a worker. */
function triesIn(file: string): { name: string; tries: number } {
  const at = file.indexOf("~");
  return { name: file.slice(at + 1), tries: Number(file.slice(0, at)) };
}

/** What a file says; null for one that cannot be read or is no note. */
function noteIn(path: string): Note | null {
  try {
    const note: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isNote(note) ? note : null;
  } catch {
    return null;
  }
}

/** Only the hook writes here; what is checked is that the file is whole and of this version. */
function isNote(value: unknown): value is Note {
  if (typeof value !== "object" || value === null) return false;
  const note = value as Partial<Record<string, unknown>>;
  if (typeof note.session !== "string" || typeof note.at !== "number") return false;
  switch (note.type) {
    case "place":
      return typeof note.transcript === "string";
    case "shown":
      return typeof note.instinct === "string" && typeof note.text === "string";
    case "offered":
      return typeof note.skill === "string" && typeof note.text === "string";
    case "withheld":
      return typeof note.id === "string";
    case "unmatched":
      return typeof note.text === "string";
    case "asked":
      return typeof note.instinct === "string" && typeof note.over === "boolean";
    default:
      return false;
  }
}
