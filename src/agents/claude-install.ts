import { createHash } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { rm, rmdir, stat } from "node:fs/promises";
import { delimiter, dirname, join, relative } from "node:path";
import { KnackError } from "../base/index.ts";
import type { Library } from "../library/index.ts";
import { explainNotEditable, sameJson } from "../text/index.ts";
import { type AgentSurroundings, claudeHome } from "./agents.ts";
import {
  appFolder,
  copyApp,
  generatePlugin,
  isPluginWritten,
  listStaleApps,
  marketplaceFolder,
  type Program,
  pluginId,
  removePlugin,
  settleProgram,
  writePlugin,
} from "./claude-plugin.ts";
import {
  type AddedPlugin,
  addPlugin,
  type ChangedKey,
  type ChangedSettings,
  type InstallAction,
  type InstallRecord,
  type InstallStep,
  isSwitchedOff,
  namesPlugin,
  readNotes,
  readRecord,
  removeIfEmpty,
  removePluginKeys,
  restoreNotes,
  undoEdits,
  usualKeys,
  writeRecord,
} from "./claude-settings.ts";
import { exists, isAllowed, readSettings, refuseUnwritable, removeText, writeText } from "./text-files.ts";

export interface InstallDeps extends AgentSurroundings {
  readonly library: Pick<Library, "readText" | "writeText" | "removeText" | "excludeFromGit" | "unexclude">;
  /** Where Knack keeps its things. */
  readonly knackHome: string;
  readonly program: Program;
}

/** What an install does, or would do. */
export interface InstallPlan {
  readonly acts: readonly InstallAction[];
  /** The person had switched the plugin off, and this switches it on. */
  readonly overrules: boolean;
  readonly settings: string;
  /** The program that is installed. */
  readonly program: Program;
}

/** What of Claude Code is on this machine: its folder, and its program; null for what was not found. */
export async function findClaude(
  surroundings: AgentSurroundings,
): Promise<{ config: string | null; program: string | null }> {
  const folder = claudeHome(surroundings);
  const config = (await exists(folder)) ? folder : null;
  const names = process.platform === "win32" ? ["claude.exe", "claude.cmd"] : ["claude"];
  const folders = (surroundings.env.PATH ?? "").split(delimiter).filter((one) => one !== "");
  for (const path of folders.flatMap((one) => names.map((name) => join(one, name))))
    if (await isAllowed(path, constants.X_OK)) return { config, program: path };
  return { config, program: null };
}

/** What installing would do; `root` is the repository for the person in one project, null for every project. */
export async function planInstall(deps: InstallDeps, root: string | null): Promise<InstallPlan> {
  return (await prepareInstall(deps, root)).installation;
}

/** Installs the plugin; what is there already stays untouched. */
export async function install(deps: InstallDeps, root: string | null): Promise<InstallPlan> {
  const { installation, steps } = await prepareInstall(deps, root);
  const isFirst = !(await exists(marketplaceFolder(deps.knackHome)));
  try {
    for (const step of steps) await step.perform();
  } catch (error) {
    if (isFirst) {
      await removePlugin(deps.knackHome);
      await rm(appFolder(deps.knackHome), { recursive: true, force: true });
      await rmdir(deps.knackHome).catch(() => {});
    }
    throw error;
  }
  return installation;
}

/** Everything that could be refused is looked at before anything is done. */
async function prepareInstall(
  deps: InstallDeps,
  root: string | null,
): Promise<{ installation: InstallPlan; steps: InstallStep[] }> {
  const { library, knackHome } = deps;
  const { program, copy } = settleProgram(deps.program, knackHome);
  const settings = await changeSettings(deps, root);
  const files = await generatePlugin(library, program, knackHome, deps.program.template);
  const steps: InstallStep[] = [];
  if (copy && !(await exists(copy.to)))
    steps.push({
      path: copy.to,
      what: "write",
      says: "a copy of Knack, since npx may clean up the one that runs now",
      perform: () => copyApp(copy),
    });
  if (!(await isPluginWritten(library, knackHome, files)))
    steps.push({
      path: marketplaceFolder(knackHome),
      what: "write",
      says: "the plugin, generated for this machine: its hooks, its commands and its tools",
      perform: () => writePlugin(library, knackHome, files),
    });
  steps.push(...settings.steps);
  if ((await listStaleApps(program, knackHome)).length > 0)
    steps.push({
      path: appFolder(knackHome),
      what: "remove",
      says: "copies of Knack that are no longer used",
      perform: async () => {
        for (const path of await listStaleApps(program, knackHome))
          await rm(path, { recursive: true, force: true });
      },
    });
  const { path, overrules } = settings;
  return {
    installation: { acts: steps.map(describeStep), overrules, settings: path, program },
    steps,
  };
}

/** The file in which the plugin is switched on. */
function settingsFile(surroundings: AgentSurroundings, root: string | null): string {
  return root === null
    ? join(claudeHome(surroundings), "settings.json")
    : // The repository's own settings are everybody's, and paths are one person's.
      join(root, ".claude", "settings.local.json");
}

function describeStep({ path, what, says }: InstallStep): InstallAction {
  return { path, what, says };
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function refuseSettings(path: string, because: string, hint: string): KnackError {
  return new KnackError("CONFIG_BROKEN", `Settings in ${path} cannot be changed: ${because}.`, { hint });
}

async function changeSettings(
  deps: InstallDeps,
  root: string | null,
): Promise<{ path: string; overrules: boolean; steps: InstallStep[] }> {
  const { library, knackHome } = deps;
  const path = settingsFile(deps, root);
  const read = await readSettings(library, path);
  const text = read?.text ?? "";
  const change = addPlugin(text, knackHome);
  if (!change.ok) throw refuseSettings(path, change.because, "Fix the file; nothing was changed.");
  const overrules = isSwitchedOff(text);
  if (change.edits.length === 0) return { path, overrules, steps: [] };
  await refuseUnwritable(path);
  const write: InstallStep = {
    path,
    what: "write",
    says: change.keys.map(describeKey).join(", "),
    perform: async () => {
      // Recorded before it is done: undoing what was only intended does no harm.
      const record = await extendRecord(deps, root, read === null, change);
      await writeRecord(library, knackHome, record).perform();
      await writeText(library, path, change.text, read?.hash ?? null);
    },
  };
  if (root === null || read !== null || !(await exists(join(root, ".git"))))
    return { path, overrules, steps: [write] };
  const exclude: InstallStep = {
    path: join(root, ".git"),
    what: "write",
    says: `info/exclude: keeps ${relative(root, path)} out of git`,
    perform: async () => void (await library.excludeFromGit(root, path)),
  };
  return { path, overrules, steps: [write, exclude] };
}

function describeKey({ path, replaced }: ChangedKey): string {
  const [first, ...rest] = path;
  const key = first + rest.map((name) => (/^\w+$/.test(name) ? `.${name}` : `["${name}"]`)).join("");
  return replaced === null ? `adds ${key}` : `sets ${key}, which was ${replaced.replace(/\s+/g, " ")}`;
}

/** The record with what this install does. */
async function extendRecord(
  deps: InstallDeps,
  root: string | null,
  isNew: boolean,
  { text, edits, keys }: Extract<AddedPlugin, { ok: true }>,
): Promise<InstallRecord> {
  const { library, knackHome } = deps;
  const { settings, notes } = await readRecord(library, knackHome);
  const [config, path] = [claudeHome(deps), settingsFile(deps, root)];
  const excludes = root !== null && isNew ? await findMissingExclude(root) : null;
  const made = [path, ...(excludes === null ? [] : [excludes])];
  const changed: ChangedSettings = {
    ...{ path, config, root, isNew, edits, keys, excludes },
    after: hashText(text),
    folders: made.flatMap((file) => listMissingFolders(dirname(file))),
    excluded: root !== null && isNew,
  };
  const known = settings.find((one) => one.path === path);
  const others = settings.filter((one) => one !== known);
  return {
    settings: [...others, known ? combineChanges(known, changed) : changed],
    notes: notes.some((one) => one.config === config) ? notes : [...notes, await readNotes(library, config)],
  };
}

/** Of two installs the first knows how it was before; unless all of that is gone, and the second starts over. */
function combineChanges(first: ChangedSettings, second: ChangedSettings): ChangedSettings {
  const isIn = (keys: readonly ChangedKey[], path: unknown) => keys.some((one) => sameJson(one.path, path));
  if (first.keys.every(({ path }) => isIn(second.keys, path))) return second;
  const own = second.keys.filter(({ path }) => !isIn(first.keys, path));
  return { ...first, keys: [...first.keys, ...own], after: "", edits: [] };
}

/** The repository's exclude file, if it has to be made. */
async function findMissingExclude(repository: string): Promise<string | null> {
  // Where `.git` is a file, as in a worktree, the folder it names has had its list since it was made.
  const path = join(repository, ".git", "info", "exclude");
  return (await exists(join(repository, ".git", "HEAD"))) && !(await exists(path)) ? path : null;
}

/** The folders that have to be made for a file, the outermost first. */
function listMissingFolders(folder: string): string[] {
  if (existsSync(folder) || folder === dirname(folder)) return [];
  return [...listMissingFolders(dirname(folder)), folder];
}

// --- Uninstalling ---

/** What uninstalling does, or would do. */
export interface UninstallPlan {
  /** Nothing where nothing is installed. */
  readonly acts: readonly InstallAction[];
  /** The settings that still switch the plugin on, for others. */
  readonly remaining: readonly string[];
}

/** What removing the plugin would do. */
export async function planUninstall(deps: InstallDeps, root: string | null): Promise<UninstallPlan> {
  return (await prepareUninstall(deps, root)).uninstallation;
}

/** Removes the plugin and leaves every file as it was; what was learned stays. */
export async function uninstall(deps: InstallDeps, root: string | null): Promise<UninstallPlan> {
  const { uninstallation, steps } = await prepareUninstall(deps, root);
  for (const step of steps) await step.perform();
  // Knack's own folder holds nothing when nothing was learned.
  if (steps.length > 0) await rmdir(deps.knackHome).catch(() => {});
  return uninstallation;
}

async function prepareUninstall(
  deps: InstallDeps,
  root: string | null,
): Promise<{ uninstallation: UninstallPlan; steps: InstallStep[] }> {
  const { library, knackHome } = deps;
  const path = settingsFile(deps, root);
  const record = await readRecord(library, knackHome);
  const changed = record.settings.find((one) => one.path === path);
  // With a project's folder went what was changed in it.
  const gone = record.settings.filter((one) => one.root !== null && !existsSync(one.root));
  const settings = record.settings.filter((one) => one !== changed && !gone.includes(one));
  const remaining = settings.map((one) => one.path);
  const own = await restoreSettings(deps, path, changed);
  if (!changed && !own && gone.length === 0) return { uninstallation: { acts: [], remaining }, steps: [] };
  const config = changed?.config ?? claudeHome(deps);
  const isLast = !settings.some((one) => one.config === config);
  const before = isLast ? record.notes.find((one) => one.config === config) : undefined;
  const notes = record.notes.filter((one) => !isLast || one.config !== config);
  const steps: InstallStep[] = [
    ...(own ? [own] : []),
    ...(changed ? await restoreAround(library, changed) : []),
    ...(before ? await restoreNotes(library, before, knackHome) : []),
    ...(settings.length > 0
      ? [writeRecord(library, knackHome, { settings, notes })]
      : await removeProgram(knackHome)),
  ];
  return { uninstallation: { acts: steps.map(describeStep), remaining }, steps };
}

/** Takes the keys out of the settings; null where they are not in them. */
async function restoreSettings(
  { library, knackHome }: InstallDeps,
  path: string,
  changed: ChangedSettings | undefined,
): Promise<InstallStep | null> {
  const read = await readSettings(library, path);
  if (read === null) return null;
  const isNamed = explainNotEditable(read.text) === null && namesPlugin(read.text, knackHome);
  if (!changed && !isNamed) return null;
  const { text, isRestored } = removeFromSettings(read.text, changed, path, knackHome);
  if (text === read.text) return null;
  await refuseUnwritable(path);
  if (text === null)
    return {
      path,
      what: "remove",
      says: "it was made for Knack, and nothing else is in it",
      perform: () => removeText(library, path, read.hash),
    };
  return {
    path,
    what: "write",
    says: isRestored ? "as it was before" : "without Knack's keys; it has changed since, and the rest stays",
    perform: () => writeText(library, path, text, read.hash),
  };
}

/** The settings without Knack: as they were, byte for byte, if nobody has touched them; null when the file was Knack's alone. */
function removeFromSettings(
  text: string,
  changed: ChangedSettings | undefined,
  path: string,
  knackHome: string,
): { readonly text: string | null; readonly isRestored: boolean } {
  const before = changed && hashText(text) === changed.after ? undoEdits(text, changed.edits) : null;
  if (changed && before !== null) return { text: changed.isNew ? null : before, isRestored: true };
  const because = explainNotEditable(text);
  if (because !== null) {
    const hint = `Fix the file, or remove ${pluginId} by hand; nothing was changed.`;
    throw refuseSettings(path, because, hint);
  }
  const rest = removePluginKeys(text, changed?.keys ?? usualKeys, knackHome);
  const isEmpty = changed?.isNew === true && /^\s*\{\s*\}\s*$/.test(rest);
  return { text: isEmpty ? null : rest, isRestored: false };
}

/** Undoes what was done around a settings file: its folders, and the line that keeps it out of git. */
async function restoreAround(
  library: InstallDeps["library"],
  { path, root, excluded, excludes, folders }: ChangedSettings,
): Promise<InstallStep[]> {
  const steps: InstallStep[] = [];
  if (excluded && root !== null && (await exists(join(root, ".git"))))
    steps.push({
      path: join(root, ".git"),
      what: "write",
      says: `info/exclude: without ${relative(root, path)}`,
      perform: async () => {
        await library.unexclude(root, path);
        if (excludes !== null && (await stat(excludes).catch(() => null))?.size === 0) await rm(excludes);
      },
    });
  const says = "it was made for Knack; it stays if something else is in it";
  return [...steps, ...(await removeIfEmpty([...folders].reverse(), says))];
}

async function removeProgram(knackHome: string): Promise<InstallStep[]> {
  const plugin: InstallStep = {
    path: marketplaceFolder(knackHome),
    what: "remove",
    says: "the generated plugin",
    perform: () => removePlugin(knackHome),
  };
  const app = appFolder(knackHome);
  if (!(await exists(app))) return [plugin];
  const says = "the copy of Knack that the plugin ran";
  const perform = () => rm(app, { recursive: true, force: true });
  return [plugin, { path: app, what: "remove", says, perform }];
}
