import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Where Knack keeps its things. */
export interface Home {
  readonly folder: string;
  readonly database: string;
  /** What hooks and programs hand over before anybody has time for it. */
  readonly spool: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The folders under `KNACK_HOME`, or under `~/.knack`. */
export function homeOf(env: Env): Home {
  const folder = resolve(env.KNACK_HOME || join(userHome(env), ".knack"));
  return { folder, database: join(folder, "knack.db"), spool: join(folder, "spool") };
}

/** The user's home folder, from the given environment and not the process's own. */
export function userHome(env: Env): string {
  return env.HOME || env.USERPROFILE || homedir();
}
