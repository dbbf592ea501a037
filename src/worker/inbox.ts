import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Note } from "../hook/note.ts";

/** A note that a worker has taken on; it lies there until it is handled, whoever dies before that. */
export interface Taken {
  readonly note: Note;
  readonly path: string;
  /** How often somebody has tried to handle it, this time included. */
  readonly tries: number;
}

/** The notes in the spool, for the one worker that may take them. */
export interface Inbox {
  /** Takes on what lies there, what a killed worker left included; unreadable ones are put aside. */
  take(): Taken[];
  isEmpty(): boolean;
  done(taken: Taken): void;
  /** Leaves it for another try, or after too many puts it aside. */
  failed(taken: Taken): void;
}

export function inboxAt(spool: string, { tries: most }: { readonly tries: number }): Inbox {
  const taken = join(spool, "taken");
  const aside = join(spool, "aside");
  const putAside = (path: string, name: string) => {
    mkdirSync(aside, { recursive: true, mode: 0o700 });
    renameSync(path, join(aside, name));
  };
  return {
    take: () => {
      mkdirSync(taken, { recursive: true, mode: 0o700 });
      const left = namesIn(taken).map((name) => ({ from: join(taken, name), ...triedOf(name) }));
      const fresh = notesIn(spool).map((name) => ({ from: join(spool, name), name, tried: 0 }));
      return [...left, ...fresh].flatMap(({ from, name, tried }) => {
        // The number of tries is in the name, so that it also counts those that ended a worker.
        const path = join(taken, `${tried + 1}~${name}`);
        renameSync(from, path);
        const note = noteIn(path);
        if (note !== null && tried < most) return { note, path, tries: tried + 1 };
        putAside(path, name);
        return [];
      });
    },
    isEmpty: () => notesIn(spool).length === 0,
    done: ({ path }) => rmSync(path, { force: true }),
    failed: ({ path, tries }) => {
      if (tries >= most) putAside(path, triedOf(path.slice(taken.length + 1)).name);
    },
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
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function triedOf(name: string): { name: string; tried: number } {
  const [, tries = "0", rest = name] = /^(\d+)~(.*)$/s.exec(name) ?? [];
  return { name: rest, tried: Number(tries) };
}

function noteIn(path: string): Note | null {
  try {
    const note: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isNote(note) ? note : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Only the hook writes here; what is checked is that the file is whole and of this version. */
function isNote(value: unknown): value is Note {
  if (typeof value !== "object" || value === null) return false;
  const { type, session, at } = value as Partial<Note>;
  return (
    (type === "place" || type === "shown" || type === "asked") &&
    typeof session === "string" &&
    typeof at === "number"
  );
}
