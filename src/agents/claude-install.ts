import { createHash } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { access, rmdir } from "node:fs/promises";
import { delimiter, dirname, join, relative } from "node:path";
import { KnackError } from "../core/errors.ts";
import type { Library } from "../engine/ports.ts";
import { copyApp, removeApps, removeStaleApps, settle, staleApps } from "./app-copy.ts";
import { readNotes } from "./claude-notes.ts";
import { generatePlugin, marketplaceFolder, type Program } from "./claude-plugin.ts";
import { type Installed, readRecord, recordPath, recordText, type Touched } from "./claude-record.ts";
import { isSwitchedOff, type Setting, withPlugin } from "./claude-settings.ts";
import { type Act, actOf, type Deed } from "./deed.ts";
import { claudeHome, type Surroundings } from "./index.ts";
import { isSame, whyNotEditable } from "./json-text.ts";
import { isWritten, readTemplate, removePlugin, writePlugin } from "./plugin-files.ts";
import { isThere, put, readSettings, refuseUnwritable } from "./settings-file.ts";

export interface InstallDeps extends Surroundings {
  readonly library: Pick<Library, "readText" | "writeText" | "removeText" | "excludeFromGit" | "unexclude">;
  /** Where Knack keeps its things. */
  readonly knackHome: string;
  readonly program: Program;
}

/** For whom: for the person in this repository's folder, or null for them in every project. */
export type For = string | null;

/** What an install does, or would do. */
export interface Installation {
  readonly acts: readonly Act[];
  /** The person had switched the plugin off, and this switches it on. */
  readonly overrules: boolean;
  readonly settings: string;
  /** The program that is installed. */
  readonly program: Program;
}

/** What of Claude Code is on this machine: its folder, and its program; null for what was not found. */
export async function findClaude(
  surroundings: Surroundings,
): Promise<{ config: string | null; program: string | null }> {
  const config = claudeHome(surroundings);
  const names = process.platform === "win32" ? ["claude.exe", "claude.cmd"] : ["claude"];
  const folders = (surroundings.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const path of folders.flatMap((folder) => names.map((name) => join(folder, name))))
    if (await canRun(path)) return { config: (await isThere(config)) ? config : null, program: path };
  return { config: (await isThere(config)) ? config : null, program: null };
}

/** What installing would do. */
export async function planInstall(deps: InstallDeps, whom: For): Promise<Installation> {
  return (await prepare(deps, whom)).installation;
}

/** Installs the plugin; what is there already stays untouched. */
export async function install(deps: InstallDeps, whom: For): Promise<Installation> {
  const { installation, deeds } = await prepare(deps, whom);
  const isFirst = !(await isThere(marketplaceFolder(deps.knackHome)));
  try {
    for (const deed of deeds) await deed.perform();
  } catch (error) {
    if (isFirst) {
      await removePlugin(deps.knackHome);
      await removeApps(deps.knackHome);
      await rmdir(deps.knackHome).catch(() => {});
    }
    throw error;
  }
  return installation;
}

/** The file in which the plugin is switched on. */
export function settingsPath(surroundings: Surroundings, whom: For): string {
  return whom === null
    ? join(claudeHome(surroundings), "settings.json")
    : // The repository's own settings are everybody's, and paths are one person's.
      join(whom, ".claude", "settings.local.json");
}

export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Everything that could be refused is looked at before anything is done. */
async function prepare(deps: InstallDeps, whom: For): Promise<{ installation: Installation; deeds: Deed[] }> {
  const { library, knackHome, program } = deps;
  const settled = settle(program, knackHome);
  const settings = await settingsDeeds(deps, whom);
  const files = generatePlugin(await readTemplate(library, program.template), settled.program, knackHome);
  const deeds: Deed[] = [];
  const { copy } = settled;
  if (copy && !(await isThere(copy.to)))
    deeds.push({
      path: copy.to,
      what: "write",
      says: "a copy of Knack, since npx may clean up the one that runs now",
      perform: () => copyApp(copy),
    });
  if (!(await isWritten(library, knackHome, files)))
    deeds.push({
      path: marketplaceFolder(knackHome),
      what: "write",
      says: "the plugin, generated for this machine: its hooks, its commands and its tools",
      perform: () => writePlugin(library, knackHome, files),
    });
  deeds.push(...settings.deeds);
  if ((await staleApps(settled.program, knackHome)).length > 0)
    deeds.push({
      path: join(knackHome, "app"),
      what: "remove",
      says: "copies of Knack that are not used any more",
      perform: () => removeStaleApps(settled.program, knackHome),
    });
  const { path, overrules } = settings;
  return {
    installation: { acts: deeds.map(actOf), overrules, settings: path, program: settled.program },
    deeds,
  };
}

async function settingsDeeds(
  deps: InstallDeps,
  whom: For,
): Promise<{ path: string; overrules: boolean; deeds: Deed[] }> {
  const { library, knackHome } = deps;
  const path = settingsPath(deps, whom);
  const read = await readSettings(library, path);
  const text = read?.text ?? "";
  const change = changed(text, path, knackHome);
  const overrules = isSwitchedOff(text);
  if (change.edits.length === 0) return { path, overrules, deeds: [] };
  await refuseUnwritable(path);
  const write: Deed = {
    path,
    what: "write",
    says: change.keys.map(inWords).join(", "),
    perform: async () => {
      // Noted before it is done: what was only meant is no trouble to take back.
      const record = await recordWith(deps, whom, read === null, change);
      await put(library, recordPath(knackHome), recordText(record));
      await put(library, path, change.text, read?.hash ?? null);
    },
  };
  if (whom === null || read !== null || !(await isThere(join(whom, ".git"))))
    return { path, overrules, deeds: [write] };
  const exclude: Deed = {
    path: join(whom, ".git"),
    what: "write",
    says: `info/exclude: keeps ${relative(whom, path)} out of git`,
    perform: async () => void (await library.excludeFromGit(whom, path)),
  };
  return { path, overrules, deeds: [write, exclude] };
}

function changed(text: string, path: string, knackHome: string): Extract<Setting, { ok: true }> {
  const why = whyNotEditable(text) ?? whyNotRead(text);
  const setting: Setting = why === null ? withPlugin(text, knackHome) : { ok: false, because: why };
  if (setting.ok) return setting;
  throw new KnackError("CONFIG_BROKEN", `Settings in ${path} cannot be changed: ${setting.because}.`, {
    hint: "Mend the file; nothing was changed.",
  });
}

/** Claude Code passes over settings that are not strictly JSON, and says nothing. */
function whyNotRead(text: string): string | null {
  const body = text.replace(/^\ufeff/, "");
  if (body.trim() === "") return null;
  try {
    JSON.parse(body);
    return null;
  } catch {
    return "it has comments or commas too many, so Claude Code does not read it either";
  }
}

function inWords({ path, replaced }: Touched["keys"][number]): string {
  const [first, ...rest] = path;
  const key = first + rest.map((name) => (/^\w+$/.test(name) ? `.${name}` : `["${name}"]`)).join("");
  return replaced === null ? `adds ${key}` : `sets ${key}, which was ${replaced.replace(/\s+/g, " ")}`;
}

// --- What was done ---

async function recordWith(
  deps: InstallDeps,
  whom: For,
  isNew: boolean,
  { text, edits, keys }: Extract<Setting, { ok: true }>,
): Promise<Installed> {
  const { library, knackHome } = deps;
  const record = await readRecord(library, knackHome);
  const config = claudeHome(deps);
  const path = settingsPath(deps, whom);
  const excluded = whom !== null && isNew;
  const excludes = excluded ? await missingExclude(whom) : null;
  const touched: Touched = {
    path,
    config,
    root: whom,
    after: digestOf(text),
    isNew,
    edits,
    keys,
    folders: [path, ...(excludes === null ? [] : [excludes])].flatMap((file) =>
      missingFolders(dirname(file)),
    ),
    excluded,
    excludes,
  };
  const known = record.settings.find((one) => one.path === path);
  return {
    settings: [...record.settings.filter((one) => one !== known), known ? together(known, touched) : touched],
    notes: record.notes.some((one) => one.config === config)
      ? record.notes
      : [...record.notes, await readNotes(library, config)],
  };
}

/** Of two installs the first knows how it was before; unless all of that is gone, and the second begins anew. */
function together(first: Touched, second: Touched): Touched {
  const isIn = (keys: Touched["keys"], path: unknown) => keys.some((one) => isSame(one.path, path));
  if (first.keys.every(({ path }) => isIn(second.keys, path))) return second;
  const own = second.keys.filter(({ path }) => !isIn(first.keys, path));
  return { ...first, keys: [...first.keys, ...own], after: "", edits: [] };
}

/** The repository's list of what git passes over, if it has to be made. */
async function missingExclude(repository: string): Promise<string | null> {
  // Where `.git` is a file, as in a worktree, the folder it names has had its list since it was made.
  const path = join(repository, ".git", "info", "exclude");
  return (await isThere(join(repository, ".git", "HEAD"))) && !(await isThere(path)) ? path : null;
}

/** The folders that have to be made for a file, the outermost first. */
function missingFolders(folder: string): string[] {
  if (existsSync(folder) || folder === dirname(folder)) return [];
  return [...missingFolders(dirname(folder)), folder];
}

async function canRun(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
