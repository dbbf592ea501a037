import { constants, existsSync, statSync } from "node:fs";
import { access, cp, lstat, mkdir, readdir, realpath, rename, rm, rmdir, stat } from "node:fs/promises";
import { delimiter, dirname, join, relative, sep } from "node:path";
import { asArray, isObject, KnackError, listFilesBelow, parseObject, sha256 } from "../../base/index.ts";
import type { Library } from "../../library/index.ts";
import { type ConfigFormat, JsonText, openConfigText, sameJson, type TextEdit } from "../../text/index.ts";
import { type AgentId, type AgentSurroundings, findAgent } from "../agents.ts";
import {
  type AgentChange,
  type AgentSetup,
  type Blocker,
  type ConfigChange,
  type ConfigEntry,
  type FileChange,
  type GeneratedFile,
  type Machine,
  type Program,
  toJson,
} from "./setup.ts";
import { findSetup } from "./setups.ts";

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
  readonly agent: AgentId;
  readonly acts: readonly InstallAction[];
  /** The person had switched Knack off in the agent, and this switches it on. */
  readonly overrules: boolean;
  /** The file that switches Knack on. */
  readonly settings: string;
  /** The step that the person has to take once, before the agent runs Knack; null for none. */
  readonly afterwards: string | null;
  /** The program that is installed. */
  readonly program: Program;
}

/** Installs Knack in an agent and removes it: `root` is the repository for the person in one project, null for every project. */
export function openInstaller(deps: InstallDeps, agent: AgentId) {
  const setup = findSetup(agent);
  const open = (root: string | null) => new Installer(deps, setup, root);
  return {
    /** Whether it can be installed for one repository. */
    isPerProject: setup.inProject !== null,
    find: () => findInstalledAgent(setup, deps),
    /** Why the agent does not run Knack although it is installed; null if it does, as far as can be told. */
    findBlocker: () => open(null).findBlocker(),
    /** Installs Knack; what is there already stays untouched. A dry run answers with what it would do. */
    install: (root: string | null, { dryRun = false } = {}) => install(open(root), dryRun),
    /**
     * Removes Knack and leaves every file as it was; what was learned stays. Answers with what it does, nothing
     * where nothing is installed, and with the settings that still switch it on.
     */
    uninstall: (root: string | null, { dryRun = false } = {}) => uninstall(open(root), dryRun),
  };
}

/** An agent's folder and program on this machine; null for what was not found. */
async function findInstalledAgent(
  { id, programs }: AgentSetup,
  surroundings: AgentSurroundings,
): Promise<{ config: string | null; program: string | null }> {
  const folder = findAgent(id).home(surroundings);
  const config = existsSync(folder) ? folder : null;
  const names =
    process.platform === "win32" ? programs.flatMap((name) => [`${name}.exe`, `${name}.cmd`]) : programs;
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
  return { acts: listActs(steps), remaining };
}

/** A record of installs for undo. Of settings, only the parts that Knack added or removed are kept. */
interface InstallRecord {
  readonly changed: readonly ChangedFile[];
  /** How the agent's own notes were before, in each of its folders. */
  readonly notes: readonly NotesBefore[];
}

/** A file among the agent's own that an install wrote. */
interface ChangedFile {
  readonly path: string;
  /** Settings in a format, or a file that is Knack's as a whole. */
  readonly format: ConfigFormat | "own";
  /** The agent's folder at the time. */
  readonly config: string;
  /** The repository it belongs to; null for the person's own. */
  readonly root: string | null;
  /** The hash of what Knack wrote; empty if what stood before cannot be told from it. */
  readonly after: string;
  /** Whether there was no such file. */
  readonly isNew: boolean;
  /** Edits of the text, in order. */
  readonly edits: readonly TextEdit[];
  readonly keys: readonly ChangedKey[];
  /** Folders and files that were made beside it, the outermost first. */
  readonly made: readonly string[];
}

/** A value that an install set. */
interface ChangedKey extends ConfigEntry {
  /** The previous text; null if there was none. */
  readonly replaced: string | null;
  /** How many of the objects and lists around it are Knack's too. */
  readonly around: number;
}

/** How the agent's notes about plugins were before Knack came. */
interface NotesBefore {
  readonly config: string;
  /** The files that were there, and what was written in them about a plugin of this name; null for nothing. */
  readonly files: readonly { readonly path: string; readonly written: string | null }[];
  /** The folders that were not there. */
  readonly missing: readonly string[];
}

/** A settings file after an install. */
interface ConfigEdits {
  readonly text: string;
  readonly edits: readonly TextEdit[];
  readonly keys: readonly ChangedKey[];
  /** A value of an earlier install was replaced. */
  readonly isUpdate: boolean;
}

class Installer {
  /** The generated files, which the agent's settings name. */
  readonly folder: string;
  private readonly library: InstallDeps["library"];
  private readonly deps: InstallDeps;
  private readonly setup: AgentSetup;
  private readonly root: string | null;
  /** The agent's folder. */
  private readonly config: string;
  private readonly agentName: string;
  private readonly recordPath: string;
  /** Where Knack keeps copies of itself: npx keeps packages in a cache that may be emptied. */
  private readonly apps: string;

  constructor(deps: InstallDeps, setup: AgentSetup, root: string | null) {
    const agent = findAgent(setup.id);
    this.deps = deps;
    this.setup = setup;
    this.library = deps.library;
    this.root = root;
    this.config = agent.home(deps);
    this.agentName = agent.name;
    this.folder = join(deps.knackHome, "agents", setup.id);
    this.recordPath = join(this.folder, "installed.json");
    this.apps = join(deps.knackHome, "app");
  }

  async findBlocker(): Promise<Blocker | null> {
    return (await this.setup.findBlocker?.(this.describeMachine(this.deps.program))) ?? null;
  }

  async planInstall(): Promise<{ plan: InstallPlan; steps: InstallStep[] }> {
    const { setup } = this;
    if (this.root !== null && setup.inProject === null)
      throw new KnackError("WRONG_USAGE", `${this.agentName} cannot have Knack for one project alone.`, {
        hint: `knack install ${setup.id}`,
      });
    const { program, copy } = this.settleProgram();
    const machine = this.describeMachine(program);
    const record = await this.readRecord();
    const changes = await setup.changes(machine);
    const planned: InstallStep[] = [];
    for (const change of changes) planned.push(...(await this.planChange(change, record)));
    const files = await this.generate(machine);
    const steps: InstallStep[] = [];
    if (copy && !existsSync(copy.to)) {
      const says = "a copy of Knack, since npx may clean up the one that runs now";
      steps.push({ path: copy.to, what: "write", says, perform: () => copyApp(copy) });
    }
    if (!(await this.isWritten(files))) {
      const says = setup.generates;
      steps.push({ path: this.folder, what: "write", says, perform: () => this.writeGenerated(files) });
    }
    steps.push(...planned);
    const stale = await this.listStaleApps(program);
    if (stale.length > 0) {
      const says = "copies of Knack that are no longer used";
      steps.push({ path: this.apps, what: "remove", says, perform: () => removeAll(stale) });
    }
    const [first] = changes;
    const overrules = first?.kind === "config" && (await this.isSwitchedOff(first));
    const { id: agent, inProject } = setup;
    const afterwards = (this.root === null ? setup.afterwards : inProject) ?? null;
    const settings = first?.path ?? this.folder;
    return {
      plan: { agent, acts: steps.map(describeStep), overrules, settings, afterwards, program },
      steps,
    };
  }

  async planUninstall(): Promise<{ steps: InstallStep[]; remaining: string[] }> {
    const record = await this.readRecord();
    const machine = this.describeMachine(this.settleProgram().program);
    const changes = await this.setup.changes(machine);
    const isOwn = (one: ChangedFile) =>
      changes.some(({ path }) => path === one.path) || (one.root === this.root && one.config === this.config);
    const own = record.changed.filter(isOwn);
    // With a project's folder went what was changed in it.
    const isGone = (one: ChangedFile) => one.root !== null && !existsSync(one.root);
    const changed = record.changed.filter((one) => !isOwn(one) && !isGone(one));
    const remaining = changed.map(({ path }) => path);
    const steps: InstallStep[] = [];
    for (const one of own) steps.push(...(await this.restore(one, machine)));
    // What is there without a record: Knack's home was removed, or came from elsewhere.
    for (const change of changes.filter(({ path }) => !own.some((one) => one.path === path)))
      steps.push(...(await this.restoreUnrecorded(change, machine)));
    const hasGone = record.changed.some((one) => !isOwn(one) && isGone(one));
    if (own.length === 0 && steps.length === 0 && !hasGone) return { steps: [], remaining };
    const config = own[0]?.config ?? this.config;
    const isLast = !changed.some((one) => one.config === config);
    const before = isLast ? record.notes.find((one) => one.config === config) : undefined;
    const notes = record.notes.filter((one) => !isLast || one.config !== config);
    const rewrite: InstallStep = {
      ...{ path: this.recordPath, what: "write", says: "what is installed elsewhere stays" },
      perform: () => this.writeRecord({ changed, notes }),
    };
    // Innermost folders first: one is empty when those in it are gone.
    const depth = ({ made }: ChangedFile) => made[0]?.length ?? 0;
    for (const one of [...own].sort((a, b) => depth(b) - depth(a))) steps.push(...this.restoreAround(one));
    if (before) steps.push(...(await this.restoreNotes(before, machine)));
    steps.push(...(changed.length > 0 ? [rewrite] : this.removeProgram()));
    return { steps, remaining };
  }

  /** Knack's own folder holds nothing when nothing was learned. */
  removeEmptyHome(): Promise<void> {
    return removeEmpty([this.deps.knackHome]);
  }

  /** Removes what was generated, and the copies of Knack that no other agent runs. */
  removeProgram(): InstallStep[] {
    const agents = dirname(this.folder);
    const perform = async () => {
      await removeAll([this.folder]);
      await removeEmpty([agents]);
    };
    const steps: InstallStep[] = [];
    if (existsSync(this.folder))
      steps.push({ path: this.folder, what: "remove", says: "what was generated for it", perform });
    const isShared = listFilesBelow(agents).some(
      (path) => /[\\/]installed\.json$/.test(path) && join(agents, path) !== this.recordPath,
    );
    if (isShared || !existsSync(this.apps)) return steps;
    const says = "the copy of Knack that it ran";
    return [...steps, { path: this.apps, what: "remove", says, perform: () => removeAll([this.apps]) }];
  }

  private describeMachine(program: Program): Machine {
    const { home, env, knackHome } = this.deps;
    const { library, config, folder, root } = this;
    // The template is read where this Knack runs now: a copy of it may not be made yet.
    const { template } = this.deps.program;
    return { home, env, library, knackHome, program: { ...program, template }, config, folder, root };
  }

  // --- Settings and other files of the agent ---

  private async planChange(change: AgentChange, record: InstallRecord): Promise<InstallStep[]> {
    const known = record.changed.find(({ path }) => path === change.path);
    return change.kind === "file" ? this.planFile(change, known) : this.planConfig(change, known);
  }

  private async planFile(
    { path, text, says }: FileChange,
    known: ChangedFile | undefined,
  ): Promise<InstallStep[]> {
    const read = await this.readOwn(path);
    if (read?.text === text) return [];
    if (read !== null && known?.after !== read.hash)
      throw new KnackError("CONFIG_BROKEN", `${path} is there already, and not from Knack.`, {
        hint: "Remove it, and try again; nothing was changed.",
      });
    const hash = read?.hash ?? null;
    const own = { format: "own", after: sha256(text), edits: [], keys: [] } as const;
    const perform = async () => {
      await this.remember({ ...this.describeFile(path, hash === null), ...known, ...own });
      await this.write(path, text, hash);
    };
    return [{ path, what: "write", says, perform }];
  }

  /** Puts Knack's values into settings; nothing where they are there. */
  private async planConfig(change: ConfigChange, known: ChangedFile | undefined): Promise<InstallStep[]> {
    const { path } = change;
    const read = await this.readOwn(path);
    const [text, hash] = [read?.text ?? "", read?.hash ?? null];
    this.refuseUnreadable(change, text);
    // Where nobody wrote since, an install starts from what stood there before the first one.
    const before =
      known && hash !== null && sha256(text) === known.after ? undoEdits(text, known.edits) : null;
    const edited = this.setEntries(change, before ?? text, before === null ? known : undefined);
    if (edited.text === text) return [];
    await refuseUnwritable(path);
    const isNew = before === null ? hash === null : (known?.isNew ?? false);
    const changed: ChangedFile = {
      ...this.describeFile(path, isNew),
      ...(before === null ? {} : { made: known?.made ?? [] }),
      ...{ format: change.format, after: sha256(edited.text), edits: edited.edits, keys: edited.keys },
    };
    const write: InstallStep = {
      ...{ path, what: "write", says: describeSettings(change, edited.keys) },
      perform: async () => {
        await this.remember(
          before === null && known ? combineChanges(known, changed, edited.isUpdate) : changed,
        );
        await this.write(path, edited.text, hash);
      },
    };
    const { root } = this;
    if (root === null || hash !== null || !existsSync(join(root, ".git"))) return [write];
    const says = `info/exclude: keeps ${relative(root, path)} out of git`;
    const perform = () => this.library.excludeFromGit(root, path);
    return [write, { path: join(root, ".git"), what: "write", says, perform }];
  }

  private refuseUnreadable({ path, format }: ConfigChange, text: string): void {
    const because =
      openConfigText(format, text).problem ?? (format === "json" ? this.explainNotRead(text) : null);
    if (because !== null) throw this.refuseConfig(path, because, "Fix the file; nothing was changed.");
  }

  /** Agents ignore settings that are not strictly JSON, and say nothing. */
  private explainNotRead(text: string): string | null {
    const body = text.replace(/^\ufeff/, "");
    if (body.trim() === "" || parseObject(body) !== null) return null;
    return `it has comments or extra commas, so ${this.agentName} does not read it either`;
  }

  private setEntries(change: ConfigChange, before: string, known: ChangedFile | undefined): ConfigEdits {
    const { format, path: file } = change;
    let text = before;
    const edits: TextEdit[] = [];
    const keys: ChangedKey[] = [];
    let hasUpdate = false;
    for (const entry of change.entries) {
      const { path, value, mark } = entry;
      const config = openConfigText(format, text);
      const found = config.read(path);
      if (entry.isShared && found !== undefined) continue;
      const at = mark === undefined ? null : findItem(found, mark);
      const set = mark === undefined ? config.set(path, value) : config.setItem(path, value, at);
      if (!set.ok) throw this.refuseConfig(file, set.because, "Fix the file; nothing was changed.");
      if (!set.edit) continue;
      edits.push(set.edit);
      const isOwn = (one: ChangedKey) => sameJson(one.path, path) && sameJson(one.value, found);
      // What an earlier install of Knack set is not what stood there before.
      const isUpdate = at !== null || known?.keys.some(isOwn) === true;
      hasUpdate ||= isUpdate;
      const replaced = mark === undefined && !isUpdate ? config.readWritten(path) : null;
      keys.push({ ...entry, replaced, around: countMissing(config, entry) });
      text = set.text;
    }
    return { text, edits, keys, isUpdate: hasUpdate };
  }

  private refuseConfig(path: string, because: string, hint: string): KnackError {
    return new KnackError("CONFIG_BROKEN", `Settings in ${path} cannot be changed: ${because}.`, { hint });
  }

  private async isSwitchedOff({ path, format }: ConfigChange): Promise<boolean> {
    const text = (await this.readOwn(path))?.text ?? "";
    return this.setup.isSwitchedOff?.(openConfigText(format, text)) ?? false;
  }

  private async readOwn(path: string) {
    const read = await this.library.readText(path, this.root ?? undefined);
    if (read.found === "unreadable")
      throw new KnackError("CONFIG_BROKEN", `Settings cannot be read: ${read.message}.`, {
        hint: "Fix the file; nothing was changed.",
      });
    return read.found === "text" ? read : null;
  }

  // --- Undo ---

  private async restore(changed: ChangedFile, machine: Machine): Promise<InstallStep[]> {
    const { path, format } = changed;
    const read = await this.readOwn(path);
    if (read === null) return [];
    const remove: InstallStep = {
      ...{ path, what: "remove", says: "it was made for Knack, and nothing else is in it" },
      perform: () => this.remove(path, read.hash),
    };
    // A file of Knack's that somebody else has changed is theirs by now.
    if (format === "own") return sha256(read.text) === changed.after ? [remove] : [];
    const text = await this.removeOwnKeys(path, format, read.text, machine);
    const before = sha256(text) === changed.after ? undoEdits(text, changed.edits) : null;
    const isGuarded = (await this.setup.changes(machine)).some(
      (one) => one.path === path && one.kind === "config" && one.isGuarded === true,
    );
    const restored = before ?? this.removeKeys({ path, format, isGuarded }, text, changed.keys);
    if (restored === read.text) return [];
    await refuseUnwritable(path);
    if (changed.isNew && (before !== null || isEmptyConfig(format, restored))) return [remove];
    const rest = "without Knack's keys; it has changed since, and the rest stays";
    const says = before === null ? rest : "as it was before";
    return [{ path, what: "write", says, perform: () => this.write(path, restored, read.hash) }];
  }

  /** Takes out what stands there without a record, if it is this Knack's. */
  private async restoreUnrecorded(change: AgentChange, machine: Machine): Promise<InstallStep[]> {
    const { path } = change;
    const read = await this.readOwn(path);
    if (read === null) return [];
    if (change.kind === "file") {
      if (read.text !== change.text) return [];
      const says = "it is Knack's";
      return [{ path, what: "remove", says, perform: () => this.remove(path, read.hash) }];
    }
    const config = openConfigText(change.format, read.text);
    const [first] = change.entries;
    if (!first || config.problem !== null || !isThere(config.read(first.path), first)) return [];
    const text = await this.removeOwnKeys(path, change.format, read.text, machine);
    const keys = change.entries.map((entry) => ({ ...entry, replaced: null, around: 0 }));
    const restored = this.removeKeys({ ...change, isGuarded: change.isGuarded === true }, text, keys);
    if (restored === read.text) return [];
    await refuseUnwritable(path);
    const says = "without Knack's keys; it has changed since, and the rest stays";
    return [{ path, what: "write", says, perform: () => this.write(path, restored, read.hash) }];
  }

  /** Settings without what the agent itself noted about Knack. */
  private async removeOwnKeys(
    path: string,
    format: ConfigFormat,
    text: string,
    machine: Machine,
  ): Promise<string> {
    const config = openConfigText(format, text);
    if (config.problem !== null) return text;
    const keys = (await this.setup.findOwnKeys?.(machine, path, config)) ?? [];
    return keys.reduce((now, key) => openConfigText(format, now).remove(key), text);
  }

  /** Settings without the values of an install, when they were changed since; the rest stays. */
  private removeKeys(
    { path: file, format, isGuarded }: { path: string; format: ConfigFormat; isGuarded: boolean },
    text: string,
    keys: readonly ChangedKey[],
  ): string {
    const config = openConfigText(format, text);
    if (config.problem !== null)
      throw this.refuseConfig(
        file,
        config.problem,
        `Fix the file, or remove ${nameKeys(keys)} by hand; nothing was changed.`,
      );
    const [first] = keys;
    const there = first && config.read(first.path);
    if (isGuarded && first && there !== undefined && !sameJson(there, first.value)) return text;
    const own = keys.filter((key) => key.isShared !== true);
    const rest = own.reduce((now, key) => removeKey(format, now, key), text);
    return keys
      .filter((key) => key.isShared === true)
      .reduce((now, key) => {
        const without = removeKey(format, now, key);
        return isEmptyConfig(format, without) ? without : now;
      }, rest);
  }

  /** Undoes what was done around a settings file: its folders, and the line that keeps it out of git. */
  private restoreAround({ path, root, isNew, made }: ChangedFile): InstallStep[] {
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
      changed: asArray(record?.changed).filter(isObject) as unknown as ChangedFile[],
      notes: asArray(record?.notes).filter(isObject) as unknown as NotesBefore[],
    };
  }

  private writeRecord(record: InstallRecord): Promise<void> {
    return this.write(this.recordPath, toJson(record));
  }

  /** Recorded before it is done: undoing what was only intended does no harm. */
  private async remember(changed: ChangedFile): Promise<void> {
    const { changed: all, notes } = await this.readRecord();
    const isNoted = this.setup.notes === undefined || notes.some(({ config }) => config === this.config);
    await this.writeRecord({
      changed: [...all.filter(({ path }) => path !== changed.path), changed],
      notes: isNoted ? notes : [...notes, await this.readNotes()],
    });
  }

  private describeFile(path: string, isNew: boolean): ChangedFile {
    const { root, config } = this;
    // Where `.git` is a file, as in a worktree, the folder it names has had its list since it was made.
    const exclude =
      root !== null && isNew && existsSync(join(root, ".git", "HEAD")) ? excludeFile(root) : path;
    const made = [...listMissing(dirname(path)), ...(exclude === path ? [] : listMissing(exclude))];
    return { ...{ path, config, root, isNew, made }, format: "own", after: "", edits: [], keys: [] };
  }

  // --- What the agent notes ---

  private async readNotes(): Promise<NotesBefore> {
    const { config, setup } = this;
    const { files: known = [], ownFolders = [], sharedFolders = [] } = setup.notes ?? {};
    const files: { path: string; written: string | null }[] = [];
    for (const { path, key } of known) {
      const read = await this.library.readText(join(config, path));
      if (read.found === "missing") continue;
      files.push({ path, written: read.found === "text" ? new JsonText(read.text).readWritten(key) : null });
    }
    const missing = [...ownFolders, ...sharedFolders].filter((path) => !existsSync(join(config, path)));
    return { config, files, missing };
  }

  /** Puts these notes back as they were, except for what they say of others. */
  private async restoreNotes(
    { config, files, missing }: NotesBefore,
    machine: Machine,
  ): Promise<InstallStep[]> {
    const { notes } = this.setup;
    if (notes === undefined) return [];
    const says = `what ${this.agentName} noted about Knack`;
    const steps: InstallStep[] = [];
    for (const [at, { path: name, key }] of notes.files.entries()) {
      const path = join(config, name);
      const read = await this.library.readText(path);
      const json = new JsonText(read.found === "text" ? read.text : "");
      if (notes.isForeign(at, json.read(key), machine)) return [];
      if (read.found !== "text" || json.problem !== null) continue;
      const was = files.find((one) => one.path === name);
      const text = was?.written ? json.setWritten(key, was.written) : json.remove(key);
      if (was === undefined && notes.empty.test(text))
        steps.push({ path, what: "remove", says, perform: () => this.remove(path, read.hash) });
      else if (text !== read.text)
        steps.push({ path, what: "write", says, perform: () => this.write(path, text, read.hash) });
    }
    const resolve = (folders: readonly string[]) =>
      folders.filter((one) => missing.includes(one)).map((one) => join(config, one));
    for (const path of resolve(notes.ownFolders).filter(existsSync))
      steps.push({ path, what: "remove", says, perform: () => removeAll([path]) });
    const shared = resolve(notes.sharedFolders).reverse();
    return [...steps, ...planRemoveEmpty(shared, `${says}; it stays if something else is in it`)];
  }

  // --- What is generated, and the program that the agent runs ---

  /** The generated files; and where the program is, for whoever else looks for it. */
  private async generate(machine: Machine): Promise<GeneratedFile[]> {
    const { version, node, hook, cli } = machine.program;
    const files = await this.setup.generate(machine);
    return [...files, { path: "paths.json", text: toJson({ version, node, hook, cli }) }];
  }

  /** Whether the generated files are on disk, and nothing else. */
  private async isWritten(files: readonly GeneratedFile[]): Promise<boolean> {
    for (const { path, text } of files) {
      const read = await this.library.readText(join(this.folder, path));
      if (read.found !== "text" || read.text !== text) return false;
    }
    return (await this.listStrays(files)).length === 0;
  }

  /** Writes what differs, and removes what another version has left. */
  private async writeGenerated(files: readonly GeneratedFile[]): Promise<void> {
    // Knack's home is its person's alone.
    await mkdir(this.deps.knackHome, { recursive: true, mode: 0o700 });
    await removeAll(await this.listStrays(files));
    for (const { path, text } of files) await this.write(join(this.folder, path), text);
  }

  private async listStrays(files: readonly GeneratedFile[]): Promise<string[]> {
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
      root: this.root !== null && path.startsWith(this.root + sep) ? this.root : undefined,
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

function describeStep({ path, what, says }: InstallStep): InstallAction {
  return { path, what, says };
}

/** The actions taken, each once: a folder that was made for several files is checked after each of them. */
function listActs(steps: readonly InstallStep[]): InstallAction[] {
  const acts = new Map(
    steps.map((step) => [[step.path, step.what, step.says].join("\n"), describeStep(step)]),
  );
  return [...acts.values()];
}

/** A change to settings, with its keys; where a list grows, a key says nothing. */
function describeSettings({ says, entries }: ConfigChange, keys: readonly ChangedKey[]): string {
  if (entries.some(({ mark }) => mark !== undefined)) return says;
  return `${says}: ${keys.map(describeKey).join(", ")}`;
}

function describeKey({ path, replaced }: ChangedKey): string {
  const [first, ...rest] = path;
  const key = first + rest.map((name) => (/^\w+$/.test(name) ? `.${name}` : `["${name}"]`)).join("");
  return replaced === null ? `adds ${key}` : `sets ${key}, which was ${replaced.replace(/\s+/g, " ").trim()}`;
}

/** Lines that a person would search for to remove Knack from settings. */
function nameKeys(keys: readonly ChangedKey[]): string {
  return keys.findLast(({ path }) => path.at(-1)?.includes("knack"))?.path.at(-1) ?? "what names knack";
}

/** Where in a list the value with these words is; null where it is in none. */
function findItem(list: unknown, mark: string): number | null {
  const at = asArray(list).findIndex((one) => JSON.stringify(one).includes(mark));
  return at === -1 ? null : at;
}

function isThere(found: unknown, { value, mark }: ConfigEntry): boolean {
  return mark === undefined ? sameJson(found, value) : findItem(found, mark) !== null;
}

/** How many of the objects and lists around an entry are not there yet. */
function countMissing(config: ReturnType<typeof openConfigText>, { path, mark }: ConfigEntry): number {
  const holders = path.map((_, at) => path.slice(0, at + 1) as [string, ...string[]]);
  const outer = mark === undefined ? holders.slice(0, -1) : holders;
  return outer.filter((holder) => config.read(holder) === undefined).length;
}

/** A text without a value that was set in it, and without what was made around it and holds nothing now. */
function removeKey(format: ConfigFormat, text: string, { path, replaced, around, mark }: ChangedKey): string {
  const config = openConfigText(format, text);
  const found = config.read(path);
  if (found === undefined) return text;
  if (replaced !== null) return config.setWritten(path, replaced);
  const at = mark === undefined ? null : findItem(found, mark);
  if (mark !== undefined && at === null) return text;
  let now = at === null ? config.remove(path) : config.removeItem(path, at);
  const holders = path.map((_, depth) => path.slice(0, depth + 1) as [string, ...string[]]).reverse();
  for (const holder of (mark === undefined ? holders.slice(1) : holders).slice(0, around)) {
    const rest = openConfigText(format, now).read(holder);
    if (!sameJson(rest, {}) && !sameJson(rest, [])) break;
    now = openConfigText(format, now).remove(holder);
  }
  return now;
}

function isEmptyConfig(format: ConfigFormat, text: string): boolean {
  return format === "json" ? /^\s*\{\s*\}\s*$/.test(text) : text.trim() === "";
}

/** Settings as they were before an install, if they have not been changed since; null otherwise. */
function undoEdits(text: string, edits: readonly TextEdit[]): string | null {
  return edits.reduceRight<string | null>((now, { offset, removed, inserted }) => {
    if (now === null || now.slice(offset, offset + inserted.length) !== inserted) return null;
    return now.slice(0, offset) + removed + now.slice(offset + inserted.length);
  }, text);
}

/** Of two installs the first knows how it was before; unless all of that is gone, and the second starts over. */
function combineChanges(first: ChangedFile, second: ChangedFile, isUpdate: boolean): ChangedFile {
  const find = (keys: readonly ChangedKey[], { path, mark }: ChangedKey) =>
    keys.find((one) => sameJson(one.path, path) && one.mark === mark);
  if (!isUpdate && first.keys.every((one) => find(second.keys, one))) return second;
  const kept = first.keys.map((one) => ({ ...one, value: find(second.keys, one)?.value ?? one.value }));
  const own = second.keys.filter((one) => !find(first.keys, one));
  return { ...first, keys: [...kept, ...own], after: "", edits: [] };
}

function excludeFile(repository: string): string {
  return join(repository, ".git", "info", "exclude");
}

/** The missing folders of a path, outermost first. */
function listMissing(path: string): string[] {
  return existsSync(path) || path === dirname(path) ? [] : [...listMissing(dirname(path)), path];
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
