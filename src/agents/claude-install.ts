import { createHash } from "node:crypto";
import { constants, existsSync, statSync } from "node:fs";
import { access, cp, lstat, mkdir, readdir, realpath, rename, rm, rmdir, stat } from "node:fs/promises";
import { delimiter, dirname, join, relative, sep } from "node:path";
import { asArray, isObject, KnackError, listFilesBelow, parseObject } from "../base/index.ts";
import type { Library } from "../library/index.ts";
import { JsonText, type KeyPath, sameJson, type TextEdit } from "../text/index.ts";
import { type AgentSurroundings, claudeHome } from "./agents.ts";
import { generatePlugin, type PluginFile, type Program, pluginId, pluginName } from "./claude-plugin.ts";

/** Copies of Knack older than this are no longer used by any open session. */
const longestSessionMs = 7 * 86_400_000;

interface InstallDeps extends AgentSurroundings {
  readonly library: Pick<Library, "readText" | "writeText" | "removeText" | "excludeFromGit" | "unexclude">;
  /** Where Knack keeps its things. */
  readonly knackHome: string;
  readonly program: Program;
}

/** One thing that installing or uninstalling does to the disk, as a person is told of it. */
interface InstallAction {
  readonly path: string;
  readonly what: "write" | "remove";
  readonly says: string;
}

/** An action, and how it is done. */
interface InstallStep extends InstallAction {
  perform(): Promise<unknown>;
}

/** The actions of an install. */
export interface InstallPlan {
  readonly acts: readonly InstallAction[];
  /** The person had switched the plugin off, and this switches it on. */
  readonly overrules: boolean;
  readonly settings: string;
  /** The program that is installed. */
  readonly program: Program;
}

/** Installs and removes the plugin: `root` is the repository for the person in one project, null for every project. */
export function openInstaller(deps: InstallDeps) {
  return {
    find: () => findClaude(deps),
    /** Installs the plugin; what is there already stays untouched. A dry run answers with what it would do. */
    install: (root: string | null, { dryRun = false } = {}) => install(new Installer(deps, root), dryRun),
    /**
     * Removes the plugin and leaves every file as it was; what was learned stays. Answers with what it does, nothing
     * where nothing is installed, and with the settings that still switch the plugin on.
     */
    uninstall: (root: string | null, { dryRun = false } = {}) => uninstall(new Installer(deps, root), dryRun),
  };
}

/** Claude Code's folder and program on this machine; null for what was not found. */
async function findClaude(
  surroundings: AgentSurroundings,
): Promise<{ config: string | null; program: string | null }> {
  const folder = claudeHome(surroundings);
  const config = existsSync(folder) ? folder : null;
  const names = process.platform === "win32" ? ["claude.exe", "claude.cmd"] : ["claude"];
  const folders = (surroundings.env.PATH ?? "").split(delimiter).filter((one) => one !== "");
  for (const path of folders.flatMap((one) => names.map((name) => join(one, name))))
    if (await isAllowed(path, constants.X_OK)) return { config, program: path };
  return { config, program: null };
}

/** Everything that could be refused is looked at before anything is done. */
async function install(installer: Installer, dryRun: boolean): Promise<InstallPlan> {
  const { plan, steps } = await installer.planInstall();
  if (dryRun) return plan;
  const isFirst = !existsSync(installer.folder);
  try {
    for (const step of steps) await step.perform();
  } catch (error) {
    if (isFirst) for (const step of installer.removeProgram()) await step.perform();
    if (isFirst) await installer.removeEmptyHome();
    throw error;
  }
  return plan;
}

async function uninstall(
  installer: Installer,
  dryRun: boolean,
): Promise<{ readonly acts: readonly InstallAction[]; readonly remaining: readonly string[] }> {
  const { steps, remaining } = await installer.planUninstall();
  if (!dryRun) for (const step of steps) await step.perform();
  if (!dryRun && steps.length > 0) await installer.removeEmptyHome();
  return { acts: steps.map(describeStep), remaining };
}

/** A record of installs for undo. Of the settings, only the parts that Knack added or removed are kept. */
interface InstallRecord {
  readonly settings: readonly ChangedSettings[];
  /** How Claude Code's own notes were before, in each of its folders. */
  readonly notes: readonly NotesBefore[];
}

/** A settings file with Knack's keys in it. */
interface ChangedSettings {
  readonly path: string;
  /** Claude Code's folder at the time. */
  readonly config: string;
  /** The repository it belongs to; null for the person's own. */
  readonly root: string | null;
  /** The hash of what Knack wrote. */
  readonly after: string;
  /** Whether there was no such file. */
  readonly isNew: boolean;
  /** Edits of the text, in order. */
  readonly edits: readonly TextEdit[];
  readonly keys: readonly ChangedKey[];
  /** Folders and files that were made beside it, the outermost first. */
  readonly made: readonly string[];
}

/** A key that an install set. */
interface ChangedKey {
  readonly path: KeyPath;
  /** The previous text; null if there was none. */
  readonly replaced: string | null;
  /** Whether the object around it is Knack's too. */
  readonly isAround: boolean;
}

/** How Claude Code's notes about plugins were before Knack came. */
interface NotesBefore {
  readonly config: string;
  /** The files that were there, and what was written in them about a plugin of this name; null for nothing. */
  readonly files: readonly { readonly path: string; readonly written: string | null }[];
  /** The folders that were not there. */
  readonly missing: readonly string[];
}

/** The two keys that make Claude Code load the plugin. */
const marketplaceKey: KeyPath = ["extraKnownMarketplaces", pluginName];
const enabledKey: KeyPath = ["enabledPlugins", pluginId];

/** Claude Code's own records of a plugin that it has loaded; the last, of a server that did not start. */
const noteFiles: readonly { readonly path: string; readonly key: KeyPath }[] = [
  { path: "plugins/known_marketplaces.json", key: [pluginName] },
  { path: "plugins/installed_plugins.json", key: ["plugins", pluginId] },
  { path: "mcp-needs-auth-cache.json", key: [`plugin:${pluginName}:knack`] },
];
/** An empty file of notes. */
const emptyNotes = /^\s*\{\s*(?:"version":\s*\d+,\s*"plugins":\s*\{\s*\}\s*)?\}\s*$/;
/** Folders that are Knack's alone, and then those that Claude Code makes for any plugin. */
const ownFolders = [`plugins/cache/${pluginName}`, `plugins/data/${pluginName}-${pluginName}`];
const sharedFolders = ["plugins/cache", "plugins/data", "plugins/marketplaces", "plugins"];

class Installer {
  /** The generated marketplace, which the settings name. */
  readonly folder: string;
  private readonly library: InstallDeps["library"];
  private readonly deps: InstallDeps;
  private readonly root: string | null;
  /** Claude Code's folder, and the file in it or in the repository that switches the plugin on. */
  private readonly config: string;
  private readonly settings: string;
  /** The value of the marketplace's key. */
  private readonly marketplace: object;
  private readonly recordPath: string;
  /** Where Knack keeps copies of itself: npx keeps packages in a cache that may be emptied. */
  private readonly apps: string;

  constructor(deps: InstallDeps, root: string | null) {
    this.deps = deps;
    this.library = deps.library;
    this.root = root;
    this.config = claudeHome(deps);
    // The repository's own settings are everybody's, and paths are one person's.
    this.settings =
      root === null ? join(this.config, "settings.json") : join(root, ".claude", "settings.local.json");
    this.folder = join(deps.knackHome, "agents", "claude");
    this.recordPath = join(this.folder, "installed.json");
    this.apps = join(deps.knackHome, "app");
    this.marketplace = { source: { source: "directory", path: this.folder } };
  }

  async planInstall(): Promise<{ plan: InstallPlan; steps: InstallStep[] }> {
    const { program, copy } = this.settleProgram();
    const read = await this.readSettings();
    const text = read?.text ?? "";
    const settings = await this.planSettings(text, read?.hash ?? null);
    const { template } = this.deps.program;
    const files = await generatePlugin(this.library, { ...program, template }, this.deps.knackHome);
    const steps: InstallStep[] = [];
    if (copy && !existsSync(copy.to)) {
      const says = "a copy of Knack, since npx may clean up the one that runs now";
      steps.push({ path: copy.to, what: "write", says, perform: () => copyApp(copy) });
    }
    if (!(await this.isPluginWritten(files))) {
      const says = "the plugin, generated for this machine: its hooks, its commands and its tools";
      steps.push({ path: this.folder, what: "write", says, perform: () => this.writePlugin(files) });
    }
    steps.push(...settings);
    const stale = await this.listStaleApps(program);
    if (stale.length > 0) {
      const says = "copies of Knack that are no longer used";
      steps.push({ path: this.apps, what: "remove", says, perform: () => removeAll(stale) });
    }
    const overrules = new JsonText(text).read(enabledKey) === false;
    return { plan: { acts: steps.map(describeStep), overrules, settings: this.settings, program }, steps };
  }

  async planUninstall(): Promise<{ steps: InstallStep[]; remaining: string[] }> {
    const record = await this.readRecord();
    const changed = record.settings.find((one) => one.path === this.settings);
    // With a project's folder went what was changed in it.
    const gone = record.settings.filter((one) => one.root !== null && !existsSync(one.root));
    const settings = record.settings.filter((one) => one !== changed && !gone.includes(one));
    const remaining = settings.map((one) => one.path);
    const own = await this.restoreSettings(changed);
    if (!changed && own.length === 0 && gone.length === 0) return { steps: [], remaining };
    const config = changed?.config ?? this.config;
    const isLast = !settings.some((one) => one.config === config);
    const before = isLast ? record.notes.find((one) => one.config === config) : undefined;
    const notes = record.notes.filter((one) => !isLast || one.config !== config);
    const rewrite: InstallStep = {
      ...{ path: this.recordPath, what: "write", says: "what is installed elsewhere stays" },
      perform: () => this.writeRecord({ settings, notes }),
    };
    const steps = [
      ...own,
      ...(changed ? this.restoreAround(changed) : []),
      ...(before ? await this.restoreNotes(before) : []),
      ...(settings.length > 0 ? [rewrite] : this.removeProgram()),
    ];
    return { steps, remaining };
  }

  /** Knack's own folder holds nothing when nothing was learned. */
  removeEmptyHome(): Promise<void> {
    return removeEmpty([this.deps.knackHome]);
  }

  /** Removes the generated plugin, and the copies of Knack that it ran. */
  removeProgram(): InstallStep[] {
    const perform = async () => {
      await removeAll([this.folder]);
      await removeEmpty([dirname(this.folder)]);
    };
    const plugin: InstallStep = { path: this.folder, what: "remove", says: "the generated plugin", perform };
    if (!existsSync(this.apps)) return [plugin];
    const says = "the copy of Knack that the plugin ran";
    return [plugin, { path: this.apps, what: "remove", says, perform: () => removeAll([this.apps]) }];
  }

  // --- Settings ---

  private async readSettings() {
    const read = await this.library.readText(this.settings, this.root ?? undefined);
    if (read.found === "unreadable")
      throw new KnackError("CONFIG_BROKEN", `Settings cannot be read: ${read.message}.`, {
        hint: "Fix the file; nothing was changed.",
      });
    return read.found === "text" ? read : null;
  }

  /** Puts the two keys into the settings; nothing where they are there. */
  private async planSettings(before: string, hash: string | null): Promise<InstallStep[]> {
    const { root, settings: path } = this;
    const change = this.addKeys(before);
    if (change.edits.length === 0) return [];
    await refuseUnwritable(path);
    const write: InstallStep = {
      ...{ path, what: "write", says: change.keys.map(describeKey).join(", ") },
      perform: async () => {
        // Recorded before it is done: undoing what was only intended does no harm.
        await this.writeRecord(await this.extendRecord(change, hash === null));
        await this.write(path, change.text, hash);
      },
    };
    if (root === null || hash !== null || !existsSync(join(root, ".git"))) return [write];
    const says = `info/exclude: keeps ${relative(root, path)} out of git`;
    const perform = () => this.library.excludeFromGit(root, path);
    return [write, { path: join(root, ".git"), what: "write", says, perform }];
  }

  private addKeys(before: string): { text: string; edits: TextEdit[]; keys: ChangedKey[] } {
    const refuse = (because: string) => this.refuseSettings(because, "Fix the file; nothing was changed.");
    const because = new JsonText(before).problem ?? explainNotRead(before);
    if (because !== null) throw refuse(because);
    let text = before;
    const edits: TextEdit[] = [];
    const keys: ChangedKey[] = [];
    for (const [path, value] of [
      [marketplaceKey, this.marketplace],
      [enabledKey, true],
    ] as const) {
      const json = new JsonText(text);
      const set = json.set(path, value);
      if (!set.ok) throw refuse(set.because);
      if (!set.edit) continue;
      edits.push(set.edit);
      keys.push({ path, replaced: json.readWritten(path), isAround: json.read([path[0]]) === undefined });
      text = set.text;
    }
    return { text, edits, keys };
  }

  private refuseSettings(because: string, hint: string): KnackError {
    const message = `Settings in ${this.settings} cannot be changed: ${because}.`;
    return new KnackError("CONFIG_BROKEN", message, { hint });
  }

  /** Whether settings name this Knack's marketplace. */
  private namesPlugin(text: string): boolean {
    return sameJson(new JsonText(text).read(marketplaceKey), this.marketplace);
  }

  /** Takes the keys out of the settings; nothing where they are not in them. */
  private async restoreSettings(changed: ChangedSettings | undefined): Promise<InstallStep[]> {
    const path = this.settings;
    const read = await this.readSettings();
    if (read === null) return [];
    const isNamed = new JsonText(read.text).problem === null && this.namesPlugin(read.text);
    if (!changed && !isNamed) return [];
    const before =
      changed && hashText(read.text) === changed.after ? undoEdits(read.text, changed.edits) : null;
    const text = before ?? this.removeKeys(read.text, changed?.keys ?? usualKeys);
    if (text === read.text) return [];
    await refuseUnwritable(path);
    if (changed?.isNew && (before !== null || /^\s*\{\s*\}\s*$/.test(text))) {
      const says = "it was made for Knack, and nothing else is in it";
      return [{ path, what: "remove", says, perform: () => this.remove(path, read.hash) }];
    }
    const rest = "without Knack's keys; it has changed since, and the rest stays";
    const says = before === null ? rest : "as it was before";
    return [{ path, what: "write", says, perform: () => this.write(path, text, read.hash) }];
  }

  /** Settings without the keys of an install, when they were changed since; the rest stays. */
  private removeKeys(text: string, keys: readonly ChangedKey[]): string {
    const { problem } = new JsonText(text);
    if (problem !== null)
      throw this.refuseSettings(problem, `Fix the file, or remove ${pluginId} by hand; nothing was changed.`);
    // A marketplace of this name from another place is not Knack's to remove, nor is the plugin from there.
    if (new JsonText(text).read(marketplaceKey) !== undefined && !this.namesPlugin(text)) return text;
    return keys.reduce((now, { path, replaced, isAround }) => {
      const json = new JsonText(now);
      if (json.read(path) === undefined) return now;
      if (replaced !== null) return json.setWritten(path, replaced);
      const without = new JsonText(json.remove(path));
      const isEmpty = isAround && sameJson(without.read([path[0]]), {});
      return isEmpty ? without.remove([path[0]]) : json.remove(path);
    }, text);
  }

  /** Undoes what was done around a settings file: its folders, and the line that keeps it out of git. */
  private restoreAround({ path, root, isNew, made }: ChangedSettings): InstallStep[] {
    const steps: InstallStep[] = [];
    if (isNew && root !== null && existsSync(join(root, ".git")))
      steps.push({
        ...{ path: join(root, ".git"), what: "write", says: `info/exclude: without ${relative(root, path)}` },
        perform: () => this.library.unexclude(root, path),
      });
    return [...steps, ...planRemoveEmpty(made, "it was made for Knack; it stays if something else is in it")];
  }

  // --- The record ---

  private async readRecord(): Promise<InstallRecord> {
    const read = await this.library.readText(this.recordPath);
    const record = read.found === "text" ? parseObject(read.text) : null;
    return {
      settings: asArray(record?.settings).filter(isObject) as unknown as ChangedSettings[],
      notes: asArray(record?.notes).filter(isObject) as unknown as NotesBefore[],
    };
  }

  private writeRecord(record: InstallRecord): Promise<void> {
    return this.write(this.recordPath, `${JSON.stringify(record, null, 2)}\n`);
  }

  /** The record with what this install does. */
  private async extendRecord(
    { text, edits, keys }: { text: string; edits: TextEdit[]; keys: ChangedKey[] },
    isNew: boolean,
  ): Promise<InstallRecord> {
    const { settings, notes } = await this.readRecord();
    const { root, config, settings: path } = this;
    // Where `.git` is a file, as in a worktree, the folder it names has had its list since it was made.
    const exclude =
      root !== null && isNew && existsSync(join(root, ".git", "HEAD")) ? excludeFile(root) : path;
    const made = [...listMissing(dirname(path)), ...(exclude === path ? [] : listMissing(exclude))];
    const changed = { ...{ path, config, root, isNew, edits, keys, made }, after: hashText(text) };
    const known = settings.find((one) => one.path === path);
    const others = settings.filter((one) => one !== known);
    const isNoted = notes.some((one) => one.config === config);
    return {
      settings: [...others, known ? combineChanges(known, changed) : changed],
      notes: isNoted ? notes : [...notes, await this.readNotes()],
    };
  }

  // --- What Claude Code notes ---

  private async readNotes(): Promise<NotesBefore> {
    const { config } = this;
    const files: { path: string; written: string | null }[] = [];
    for (const { path, key } of noteFiles) {
      const read = await this.library.readText(join(config, path));
      if (read.found === "missing") continue;
      files.push({ path, written: read.found === "text" ? new JsonText(read.text).readWritten(key) : null });
    }
    const missing = [...ownFolders, ...sharedFolders].filter((path) => !existsSync(join(config, path)));
    return { config, files, missing };
  }

  /** Puts these notes back as they were, except for what they say of others. */
  private async restoreNotes({ config, files, missing }: NotesBefore): Promise<InstallStep[]> {
    const says = "what Claude Code noted about Knack";
    const steps: InstallStep[] = [];
    for (const [at, { path: name, key }] of noteFiles.entries()) {
      const path = join(config, name);
      const read = await this.library.readText(path);
      const json = new JsonText(read.found === "text" ? read.text : "");
      // A marketplace of this name that was since added from another source is the person's, and so is its plugin.
      const place = at === 0 ? json.read([...key, "installLocation"]) : undefined;
      if (typeof place === "string" && place !== this.folder) return [];
      if (read.found !== "text" || json.problem !== null) continue;
      const was = files.find((one) => one.path === name);
      const text = was?.written ? json.setWritten(key, was.written) : json.remove(key);
      if (was === undefined && emptyNotes.test(text))
        steps.push({ path, what: "remove", says, perform: () => this.remove(path, read.hash) });
      else if (text !== read.text)
        steps.push({ path, what: "write", says, perform: () => this.write(path, text, read.hash) });
    }
    const resolve = (folders: readonly string[]) =>
      folders.filter((one) => missing.includes(one)).map((one) => join(config, one));
    for (const path of resolve(ownFolders).filter(existsSync))
      steps.push({ path, what: "remove", says, perform: () => removeAll([path]) });
    const shared = resolve(sharedFolders).reverse();
    return [...steps, ...planRemoveEmpty(shared, `${says}; it stays if something else is in it`)];
  }

  // --- The plugin, and the program it runs ---

  /** Whether the generated plugin is on disk, and nothing else. */
  private async isPluginWritten(files: readonly PluginFile[]): Promise<boolean> {
    for (const { path, text } of files) {
      const read = await this.library.readText(join(this.folder, path));
      if (read.found !== "text" || read.text !== text) return false;
    }
    return (await this.listStrays(files)).length === 0;
  }

  /** Writes what differs, and removes what another version has left. */
  private async writePlugin(files: readonly PluginFile[]): Promise<void> {
    // Knack's home is its person's alone.
    await mkdir(this.deps.knackHome, { recursive: true, mode: 0o700 });
    await removeAll(await this.listStrays(files));
    for (const { path, text } of files) await this.write(join(this.folder, path), text);
  }

  private async listStrays(files: readonly PluginFile[]): Promise<string[]> {
    const known = new Set([...files.map(({ path }) => join(this.folder, path)), this.recordPath]);
    const found = listFilesBelow(this.folder).map((path) => join(this.folder, path));
    // A copy that another Knack is writing now is not a leftover.
    return found.filter((path) => !known.has(path) && !path.includes(".knack-"));
  }

  /** The program where it will stay, and what has to be copied for that. */
  private settleProgram(): { program: Program; copy: { from: string; to: string } | null } {
    const { program } = this.deps;
    const parts = program.cli.split(sep);
    const packages = parts.lastIndexOf("node_modules");
    if (!parts.includes("_npx") || packages === -1) return { program, copy: null };
    const from = parts.slice(0, packages + 1).join(sep);
    const to = join(this.apps, program.version);
    const move = (path: string) => join(to, "node_modules", relative(from, path));
    const { cli, hook, template } = program;
    return {
      program: { ...program, cli: move(cli), hook: move(hook), template: move(template) },
      copy: { from, to },
    };
  }

  /** The copies that this program does not run from, and that no open session was started with. */
  private async listStaleApps({ hook }: Program): Promise<string[]> {
    if (!existsSync(this.apps)) return [];
    const copies = (await readdir(this.apps)).map((name) => join(this.apps, name));
    const isStale = (path: string) => Date.now() - statSync(path).mtimeMs > longestSessionMs;
    return copies.filter((path) => !hook.startsWith(path + sep) && isStale(path));
  }

  // --- Files ---

  /** Writes a text where it is not there yet; `expecting` is the hash of what the caller has seen, if that matters. */
  private async write(path: string, text: string, expecting?: string | null): Promise<void> {
    const read = await this.library.readText(path);
    if (read.found === "text" && read.text === text) return;
    const found = read.found === "text" ? read.hash : null;
    const done = await this.library.writeText(path, text, {
      expecting: expecting === undefined ? found : expecting,
      root: path === this.settings ? (this.root ?? undefined) : undefined,
      isPrivate: path.startsWith(this.deps.knackHome + sep),
    });
    if (done.written) return;
    if (done.because === "outside") throw leadsOut(path);
    // Another Knack may have done the same work.
    const now = await this.library.readText(path);
    if (now.found !== "text" || now.text !== text) throw changedMeanwhile(path);
  }

  /** Removes a file that is as the caller has seen it. */
  private async remove(path: string, expecting: string): Promise<void> {
    const done = await this.library.removeText(path, { expecting });
    if (!done.written) throw changedMeanwhile(path);
  }
}

/** The keys of a plugin whose install is not on record. */
const usualKeys: readonly ChangedKey[] = [marketplaceKey, enabledKey].map((path) => ({
  ...{ path, replaced: null, isAround: false },
}));

function describeStep({ path, what, says }: InstallStep): InstallAction {
  return { path, what, says };
}

function describeKey({ path, replaced }: ChangedKey): string {
  const [first, ...rest] = path;
  const key = first + rest.map((name) => (/^\w+$/.test(name) ? `.${name}` : `["${name}"]`)).join("");
  return replaced === null ? `adds ${key}` : `sets ${key}, which was ${replaced.replace(/\s+/g, " ")}`;
}

/** Claude Code ignores settings that are not strictly JSON, and says nothing. */
function explainNotRead(text: string): string | null {
  const body = text.replace(/^\ufeff/, "");
  if (body.trim() === "" || parseObject(body) !== null) return null;
  return "it has comments or extra commas, so Claude Code does not read it either";
}

/** Settings as they were before an install, if they have not been changed since; null otherwise. */
function undoEdits(text: string, edits: readonly TextEdit[]): string | null {
  return edits.reduceRight<string | null>((now, { offset, removed, inserted }) => {
    if (now === null || now.slice(offset, offset + inserted.length) !== inserted) return null;
    return now.slice(0, offset) + removed + now.slice(offset + inserted.length);
  }, text);
}

/** Of two installs the first knows how it was before; unless all of that is gone, and the second starts over. */
function combineChanges(first: ChangedSettings, second: ChangedSettings): ChangedSettings {
  const isIn = (keys: readonly ChangedKey[], path: unknown) => keys.some((one) => sameJson(one.path, path));
  if (first.keys.every(({ path }) => isIn(second.keys, path))) return second;
  const own = second.keys.filter(({ path }) => !isIn(first.keys, path));
  return { ...first, keys: [...first.keys, ...own], after: "", edits: [] };
}

function excludeFile(repository: string): string {
  return join(repository, ".git", "info", "exclude");
}

/** The missing folders of a path, outermost first. */
function listMissing(path: string): string[] {
  return existsSync(path) || path === dirname(path) ? [] : [...listMissing(dirname(path)), path];
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Refuses a file that is read-only, or a link to nothing: who made it so meant it. */
async function refuseUnwritable(path: string): Promise<void> {
  if ((await lstat(path).catch(ignoreMissing)) === null) return;
  const real = await realpath(path).catch(ignoreMissing);
  if (real === null)
    throw new KnackError("LIBRARY_UNAVAILABLE", `${path} is a link to a file that is not there.`, {
      hint: "Create the file it names, or remove the link; nothing was changed.",
    });
  const { mode } = await stat(real);
  if ((mode & 0o222) !== 0 && (await isAllowed(real, constants.W_OK))) return;
  throw new KnackError("LIBRARY_UNAVAILABLE", `${real} is read-only.`, {
    hint: "Make it writable (chmod u+w), and try again; nothing was changed.",
  });
}

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
  throw error;
}

/** Whether this process may use a file so: `constants.W_OK`, `constants.X_OK`. */
async function isAllowed(path: string, how: number): Promise<boolean> {
  return access(path, how).then(
    () => true,
    () => false,
  );
}

function leadsOut(path: string): KnackError {
  return new KnackError("LIBRARY_UNAVAILABLE", `A link leads from ${path} out of the repository.`, {
    hint: "Remove the link, and try again.",
  });
}

function changedMeanwhile(path: string): KnackError {
  return new KnackError("LIBRARY_UNAVAILABLE", `${path} was changed by another program just now.`, {
    hint: "Try again.",
  });
}

/** Makes a copy of the program atomically; an existing copy stays. */
async function copyApp({ from, to }: { readonly from: string; readonly to: string }): Promise<void> {
  const staged = `${to}.new-${process.pid}`;
  await mkdir(staged, { recursive: true, mode: 0o700 });
  try {
    await cp(from, join(staged, "node_modules"), { recursive: true, verbatimSymlinks: true });
    await rename(staged, to);
  } catch (error) {
    // Another process may have been first.
    if (!existsSync(to)) throw error;
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

async function removeAll(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { recursive: true, force: true });
}

/** Removes folders and files that hold nothing, in this order. */
async function removeEmpty(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const found = await stat(path).catch(ignoreMissing);
    if (found?.isDirectory() && (await readdir(path)).length === 0) await rmdir(path);
    else if (found?.isFile() && found.size === 0) await rm(path);
  }
}

/** Removes what was made and holds nothing any more. */
function planRemoveEmpty(outermostFirst: readonly string[], says: string): InstallStep[] {
  const [path] = outermostFirst;
  if (path === undefined || !existsSync(path)) return [];
  const perform = () => removeEmpty([...outermostFirst].reverse());
  return [{ path, what: "remove", says, perform }];
}
