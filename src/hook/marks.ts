import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFileName } from "../spool/index.ts";

/** What already happened in a session. Each mark is a file that only one of several concurrent hooks can create. */
export interface SessionMarks {
  /** Marks something as told; true if the agent does not have it in context yet. */
  tells(what: string): boolean;
  /** Marks something that may happen once in a session, with a note; true the first time. */
  once(what: string, note?: string): boolean;
  /** The note stored with a mark. */
  readNote(what: string): string | null;
  has(what: string): boolean;
  /** Removes a mark; true if it existed. */
  take(what: string): boolean;
  /** Clears what was told: the agent has lost its context. */
  forget(): void;
}

export function openMarks(folder: string, session: string): SessionMarks {
  const own = join(folder, makeFileName(session));
  const told = join(own, "told");
  const fileFor = (what: string) => join(own, makeFileName(what));
  const has = (what: string) => existsSync(fileFor(what));
  return {
    tells: (what) => createFile(join(told, makeFileName(what))),
    once: (what, note) => createFile(fileFor(what), note),
    readNote: (what) => (has(what) ? readFileSync(fileFor(what), "utf8") : null),
    has,
    take: (what) => {
      const existed = has(what);
      rmSync(fileFor(what), { force: true });
      return existed;
    },
    forget: () => rmSync(told, { recursive: true, force: true }),
  };
}

/** False if the file exists already. */
function createFile(file: string, content = ""): boolean {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, content, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
