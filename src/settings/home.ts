import { existsSync, realpathSync } from "node:fs";
import { join, resolve, sep } from "node:path";

/** Where Knack keeps its things. */
export interface Home {
  readonly folder: string;
  readonly database: string;
  /** What hooks and programs hand over before anybody has time for it. */
  readonly spool: string;
  /** Skills that nobody said yes to yet. */
  readonly drafts: string;
  /** Every version of a skill that Knack replaced. */
  readonly versions: string;
  readonly config: string;
  /** What the hook looks things up in: one file, replaced whole. */
  readonly snapshot: string;
  /** What each session of an agent was told already. */
  readonly seen: string;
  /** What the agents were given to call Knack: the generated plugins. */
  readonly agents: string;
  /** What can be made anew at any time. */
  readonly cache: string;
  /** What the hook and the worker have to say about themselves. */
  readonly log: string;
  /** Where agents that are asked as models work: what happens below the home is never learned from. */
  readonly models: string;
  /** Says that a worker runs, and until when at most. */
  readonly worker: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The folders under `KNACK_HOME`, or under `~/.knack`. */
export function resolveHome(env: Env): Home {
  const folder = resolve(env.KNACK_HOME || join(userHome(env), ".knack"));
  // Each hook does this, and the folder is in order already.
  const below = folder.endsWith(sep) ? folder : `${folder}${sep}`;
  return {
    folder,
    database: `${below}knack.db`,
    spool: `${below}spool`,
    drafts: `${below}drafts`,
    versions: `${below}versions`,
    config: `${below}config.json`,
    snapshot: `${below}snapshot${sep}knack.table`,
    seen: `${below}seen`,
    agents: `${below}agents`,
    cache: `${below}cache`,
    log: `${below}log`,
    models: `${below}models`,
    worker: `${below}worker.json`,
  };
}

/** Where a project keeps its own settings. */
export function projectConfig(root: string): string {
  return join(root, ".knack", "config.json");
}

/** Whether Knack is switched off for this process. */
export function isDisabled(env: Env): boolean {
  return isOn(env.KNACK_DISABLE);
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false", "no"].includes(value.toLowerCase());
}

/** Whether hooks stay silent: switched off, or nobody is there to learn from. */
export function isSilent(env: Env): boolean {
  return isOn(env.KNACK_DISABLE) || isOn(env.CI);
}

/** The user's home folder, from the given environment and not the process's own. */
export function userHome(env: Env): string {
  return env.HOME || env.USERPROFILE || process.getBuiltinModule("node:os").homedir();
}

export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Whether something lies in Knack's own home, by its name or by where links lead: agents record the real path. */
export function isBelowHome({ folder }: Home, path: string): boolean {
  if (isWithin(folder, path)) return true;
  return existsSync(folder) && isWithin(realpathSync(folder), path);
}

/** The working folder of this process; the root where it is gone. */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "/";
  }
}
