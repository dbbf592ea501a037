import { existsSync, realpathSync } from "node:fs";
import { join, resolve, sep } from "node:path";

/** Where Knack keeps its things, below its home. */
const places = {
  database: "knack.db",
  /** Notes from hooks and programs, waiting for the worker. */
  spool: "spool",
  /** Skills not yet accepted. */
  drafts: "drafts",
  /** Every version of a skill that Knack replaced. */
  versions: "versions",
  config: "config.json",
  /** The hook's lookup table: one file, replaced atomically. */
  snapshot: `snapshot${sep}knack.table`,
  /** Records of what each session was shown. */
  seen: "seen",
  /** The generated plugins by which agents call Knack. */
  agents: "agents",
  /** Data rebuilt on demand. */
  cache: "cache",
  /** Logs of the hook and the worker. */
  log: "log",
  /** Working folder of agents run as models: sessions below the home are never learned from. */
  models: "models",
  /** This machine's part in a team: its key, the address of the team's database, and what is known of the members. */
  team: "team",
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

/** Whether hooks stay silent: Knack is disabled, or this is a CI run. */
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
