import { existsSync, realpathSync } from "node:fs";
import { join, resolve, sep } from "node:path";

/** Where Knack keeps its things, below its home. */
const places = {
  database: "knack.db",
  /** What hooks and programs hand over before anybody has time for it. */
  spool: "spool",
  /** Skills that nobody said yes to yet. */
  drafts: "drafts",
  /** Every version of a skill that Knack replaced. */
  versions: "versions",
  config: "config.json",
  /** What the hook looks things up in: one file, replaced whole. */
  snapshot: `snapshot${sep}knack.table`,
  /** What each session of an agent was told already. */
  seen: "seen",
  /** What the agents were given to call Knack: the generated plugins. */
  agents: "agents",
  /** What can be made anew at any time. */
  cache: "cache",
  /** What the hook and the worker have to say about themselves. */
  log: "log",
  /** Where agents that are asked as models work: what happens below the home is never learned from. */
  models: "models",
  /** Says that a worker runs, and until when at most. */
  worker: "worker.json",
};

export type Home = { readonly [Name in keyof typeof places | "folder"]: string };

export type Env = Readonly<Record<string, string | undefined>>;

/** The folders under `KNACK_HOME`, or under `~/.knack`. */
export function resolveHome(env: Env): Home {
  const folder = resolve(env.KNACK_HOME || join(userHome(env), ".knack"));
  const paths = Object.entries(places).map(([name, below]) => [name, join(folder, below)]);
  return { folder, ...Object.fromEntries(paths) };
}

/** Where a project keeps its own settings. */
export function projectConfig(root: string): string {
  return join(root, ".knack", "config.json");
}

/** Whether Knack is switched off for this process. */
export function isDisabled(env: Env): boolean {
  return isOn(env.KNACK_DISABLE);
}

/** Whether hooks stay silent: switched off, or nobody is there to learn from. */
export function isSilent(env: Env): boolean {
  return isOn(env.KNACK_DISABLE) || isOn(env.CI);
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false", "no"].includes(value.toLowerCase());
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
  return isWithin(folder, path) || (existsSync(folder) && isWithin(realpathSync(folder), path));
}

/** The working folder of this process; the root where it is gone. */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "/";
  }
}
