import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileName } from "./note.ts";

/** What happened in a session already. Hooks run side by side, so each thing is a file that only one can make. */
export interface Seen {
  /** Marks something as told, and answers whether the agent does not have it in mind yet. */
  tells(what: string): boolean;
  /** Marks something that may happen once in a session, with a word about it, and answers whether this is the first time. */
  once(what: string, word?: string): boolean;
  /** The word that was left with a mark; null where there is none. */
  wordOf(what: string): string | null;
  /** Whether something is marked. */
  has(what: string): boolean;
  /** Takes a mark away, and answers whether it was there. */
  take(what: string): boolean;
  /** The agent has forgotten what it was told. */
  forget(): void;
}

export function seenBy(folder: string, session: string): Seen {
  const own = join(folder, fileName(session));
  const told = join(own, "told");
  return {
    tells: (what) => mark(join(told, fileName(what))),
    once: (what, word) => mark(join(own, fileName(what)), word),
    wordOf: (what) => {
      const file = join(own, fileName(what));
      return existsSync(file) ? readFileSync(file, "utf8") : null;
    },
    has: (what) => existsSync(join(own, fileName(what))),
    take: (what) => {
      const file = join(own, fileName(what));
      const there = existsSync(file);
      rmSync(file, { force: true });
      return there;
    },
    forget: () => rmSync(told, { recursive: true, force: true }),
  };
}

function mark(file: string, word = ""): boolean {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, word, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
