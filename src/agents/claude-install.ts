import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, lstat, readdir, realpath, rm, rmdir, stat } from "node:fs/promises";
import { delimiter, dirname, join, relative, sep } from "node:path";
import { KnackError } from "../core/errors.ts";
import type { Library } from "../engine/ports.ts";
import { copyApp, hasApps, hasStaleApps, removeApps, removeStaleApps, settle } from "./app-copy.ts";
import { missingNotes, removeNotes } from "./claude-notes.ts";
import { type FileText, generatePlugin, marketplaceFolder, type Program, pluginId } from "./claude-plugin.ts";
import { type Installed, readRecord, recordPath, recordText, type Touched } from "./claude-record.ts";
import {
  isSwitchedOff,
  namesPlugin,
  type Setting,
  undoneIn,
  usualKeys,
  withoutPlugin,
  withPlugin,
} from "./claude-settings.ts";
import { claudeHome, type Surroundings } from "./index.ts";
import { isSame, whyNotEditable } from "./json-text.ts";

export interface InstallDeps extends Surroundings {
  readonly library: Pick<Library, "readText" | "writeText" | "removeText" | "excludeFromGit" | "unexclude">;
  /** Where Knack keeps its things. */
  readonly knackHome: string;
  readonly program: Program;
}

/** For whom: a repository's folder, or null for the person, in every project. */
export type For = string | null;

/** One thing that is done, or would be. */
export interface Act {
  readonly path: string;
  readonly what: "write" | "remove";
  readonly says: string;
}

export interface Installation {
  readonly acts: readonly Act[];
  /** The person had switched the plugin off, and this switches it on. */
  readonly overrules: boolean;
  readonly settings: string;
  readonly program: Program;
}

/** What of Claude Code is on this machine: its folder, and its program; null for what was not found. */
export async function findClaude(
  surroundings: Surroundings,
): Promise<{ config: string | null; program: string | null }> {
  const config = claudeHome(surroundings);
  const names = process.platform === "win32" ? ["claude.exe", "claude.cmd"] : ["claude"];
  const candidates = (surroundings.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => (folder === "" ? [] : names.map((name) => join(folder, name))));
  let program: string | null = null;
  for (const path of candidates)
    if (
      program === null &&
      (await access(path, constants.X_OK).then(
        () => true,
        () => false,
      ))
    )
      program = path;
  return { config: (await isThere(config)) ? config : null, program };
}

/** What installing would do. */
export async function planInstall(deps: InstallDeps, whom: For): Promise<Installation> {
  return (await prepare(deps, whom)).installation;
}

/** Installs the plugin; what is there already stays untouched. */
export async function install(deps: InstallDeps, whom: For): Promise<Installation> {
  const { library, knackHome } = deps;
  const prepared = await prepare(deps, whom);
  const { installation, files, settled, settings } = prepared;
  if (installation.acts.length === 0) return installation;
  const isFirst = !(await isThere(marketplaceFolder(knackHome)));
  try {
    if (settled.copy) await copyApp(settled.copy);
    await writePlugin(deps, files);
    if (settings.change) {
      // Noted before it is done: what was only meant is no trouble to take back.
      await put(
        library,
        recordPath(knackHome),
        recordText(await recordWith(deps, prepared, settings.change)),
      );
      await put(library, settings.path, settings.change.text, settings.hash);
      if (whom !== null && settings.hash === null) await library.excludeFromGit(whom, settings.path);
    }
    await removeStaleApps(settled.program, knackHome);
  } catch (error) {
    if (isFirst) await removeGenerated(knackHome);
    throw error;
  }
  return installation;
}

/** What taking it out again would do, or does. Answers with nothing where nothing is installed. */
export async function uninstall(
  deps: InstallDeps,
  whom: For,
  { dryRun }: { readonly dryRun: boolean },
): Promise<{ acts: Act[]; remaining: string[] }> {
  const { library, knackHome } = deps;
  const path = settingsPath(deps, whom);
  const record = await readRecord(library, knackHome);
  const noted = record.settings.find((one) => one.path === path);
  const acts: Act[] = [];
  const read = await library.readText(path);
  if (read.found === "unreadable") throw unreadable(read.message);
  const isNamed =
    read.found === "text" && whyNotEditable(read.text) === null && namesPlugin(read.text, knackHome);
  if (!noted && !isNamed) return { acts, remaining: othersOf(record, path) };
  if (read.found === "text") {
    const text = takenOut(read.text, noted, path, knackHome);
    if (text !== read.text) {
      await refuseUnwritable(path);
      const says = `without ${pluginId}${text === null ? "; nothing else is in it" : ""}`;
      acts.push({ path, what: text === null ? "remove" : "write", says });
      if (!dryRun && text === null) await remove(library, path, read.hash);
      else if (!dryRun && text !== null) await put(library, path, text, read.hash);
    }
  }
  if (noted) acts.push(...(await includeAgain(library, noted, dryRun)));
  const rest = { ...record, settings: record.settings.filter((one) => one.path !== path) };
  const config = noted?.config ?? claudeHome(deps);
  if (!rest.settings.some((one) => one.config === config)) {
    const missing = record.notes.find((one) => one.config === config)?.missing ?? [];
    const notes = await removeNotes(library, config, new Set(missing), { knackHome, dryRun });
    acts.push(
      ...notes.map((one): Act => ({ path: one, what: "write", says: "without its notes about Knack" })),
    );
  }
  if (rest.settings.length > 0) {
    if (!dryRun) await put(library, recordPath(knackHome), recordText(rest));
    return { acts, remaining: othersOf(record, path) };
  }
  acts.push({ path: marketplaceFolder(knackHome), what: "remove", says: "the generated plugin" });
  if (await hasApps(knackHome))
    acts.push({
      path: join(knackHome, "app"),
      what: "remove",
      says: "the copy of Knack that the plugin ran",
    });
  if (!dryRun) {
    await removeGenerated(knackHome);
    await removeApps(knackHome);
    await rmdir(knackHome).catch(() => {}); // there is nothing in it when nothing was learned
  }
  return { acts, remaining: [] };
}

/** Takes back what was done for a settings file besides writing it. */
async function includeAgain(
  library: InstallDeps["library"],
  { path, root, excluded, excludes, folders }: Touched,
  dryRun: boolean,
): Promise<Act[]> {
  const isRepository = excluded && root !== null && (await isThere(join(root, ".git")));
  if (!dryRun) {
    if (isRepository) await library.unexclude(root, path);
    if (excludes !== null && (await stat(excludes).catch(() => null))?.size === 0) await rm(excludes);
    for (const folder of [...folders].reverse()) await rmdir(folder).catch(() => {});
  }
  if (!isRepository) return [];
  return [{ path: join(root, ".git"), what: "write", says: `info/exclude: without ${relative(root, path)}` }];
}

// --- What is there, and what is to be ---

interface Prepared {
  readonly installation: Installation;
  readonly settled: ReturnType<typeof settle>;
  readonly files: readonly FileText[];
  readonly whom: For;
  readonly settings: {
    readonly path: string;
    readonly hash: string | null;
    readonly change: Extract<Setting, { ok: true }> | null;
  };
}

async function prepare(deps: InstallDeps, whom: For): Promise<Prepared> {
  const { library, knackHome, program } = deps;
  const settled = settle(program, knackHome);
  const files = generatePlugin(await readTemplate(library, program.template), settled.program, knackHome);
  const path = settingsPath(deps, whom);
  const read = await library.readText(path);
  if (read.found === "unreadable") throw unreadable(read.message);
  const text = read.found === "text" ? read.text : "";
  const set = editable(text, path, knackHome);
  if (set.edits.length > 0) await refuseUnwritable(path);
  const acts: Act[] = [];
  if (settled.copy && !(await isThere(settled.copy.to)))
    acts.push({
      path: settled.copy.to,
      what: "write",
      says: "a copy of Knack, since npx may clean up the one that runs now",
    });
  if (!(await isWritten(deps, files)))
    acts.push({
      path: marketplaceFolder(knackHome),
      what: "write",
      says: "the plugin, generated for this machine: its hooks and its commands",
    });
  if (set.edits.length > 0)
    acts.push({ path, what: "write", says: set.keys.map((key) => saysOf(key)).join(", ") });
  if (
    whom !== null &&
    set.edits.length > 0 &&
    read.found === "missing" &&
    (await isThere(join(whom, ".git")))
  )
    acts.push({
      path: join(whom, ".git"),
      what: "write",
      says: `info/exclude: keeps ${relative(whom, path)} out of git`,
    });
  if (await hasStaleApps(settled.program, knackHome))
    acts.push({
      path: join(knackHome, "app"),
      what: "remove",
      says: "copies of Knack that are not used any more",
    });
  return {
    installation: { acts, overrules: isSwitchedOff(text), settings: path, program: settled.program },
    settled,
    files,
    whom,
    settings: {
      path,
      hash: read.found === "text" ? read.hash : null,
      change: set.edits.length > 0 ? set : null,
    },
  };
}

function saysOf({ path, replaced }: Touched["keys"][number]): string {
  const key = path
    .map((name, at) => (/^\w+$/.test(name) ? (at === 0 ? name : `.${name}`) : `["${name}"]`))
    .join("");
  return replaced === null ? `adds ${key}` : `sets ${key}, which was ${replaced.replace(/\s+/g, " ")}`;
}

function settingsPath(surroundings: Surroundings, whom: For): string {
  return whom === null
    ? join(claudeHome(surroundings), "settings.json")
    : // The repository's own settings are everybody's, and paths are one person's.
      join(whom, ".claude", "settings.local.json");
}

function editable(text: string, path: string, knackHome: string): Extract<Setting, { ok: true }> {
  const why = whyNotEditable(text);
  const set: Setting = why === null ? withPlugin(text, knackHome) : { ok: false, because: why };
  if (set.ok) return set;
  throw new KnackError(
    "CONFIG_BROKEN",
    `Claude Code's settings in ${path} cannot be changed: ${set.because}.`,
    {
      hint: "Mend the file; nothing was changed.",
    },
  );
}

function unreadable(message: string): KnackError {
  return new KnackError("CONFIG_BROKEN", `Claude Code's settings cannot be read: ${message}.`, {
    hint: "Mend the file; nothing was changed.",
  });
}

/** Who made a file read-only, or a link to nothing, meant it. */
async function refuseUnwritable(path: string): Promise<void> {
  const there = await lstat(path).catch(() => null);
  if (!there) return;
  const real = await realpath(path).catch(() => null);
  if (real === null)
    throw new KnackError("LIBRARY_UNAVAILABLE", `${path} is a link to a file that is not there.`, {
      hint: "Make the file it names, or remove the link; nothing was changed.",
    });
  const { mode } = await stat(real);
  const may =
    (mode & 0o222) !== 0 &&
    (await access(real, constants.W_OK).then(
      () => true,
      () => false,
    ));
  if (may) return;
  throw new KnackError("LIBRARY_UNAVAILABLE", `${real} is read-only.`, {
    hint: `Make it writable (chmod u+w), or put the keys in where the file is made; nothing was changed.`,
  });
}

// --- The plugin on disk ---

async function readTemplate(library: InstallDeps["library"], folder: string): Promise<FileText[]> {
  const paths = await filesBelow(folder);
  const files: FileText[] = [];
  for (const path of paths) {
    const read = await library.readText(join(folder, path));
    if (read.found === "text") files.push({ path, text: read.text });
  }
  if (files.length > 0) return files;
  throw new KnackError("LIBRARY_UNAVAILABLE", `The plugin's template is missing from ${folder}.`, {
    hint: "Install Knack anew: npm install -g knack-cli",
  });
}

/** Files below a folder, as paths with `/`. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      relative(folder, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join("/"),
    )
    .sort();
}

async function isWritten({ library, knackHome }: InstallDeps, files: readonly FileText[]): Promise<boolean> {
  const folder = marketplaceFolder(knackHome);
  for (const { path, text } of files) {
    const read = await library.readText(join(folder, path));
    if (read.found !== "text" || read.text !== text) return false;
  }
  return (await strays(folder, files)).length === 0;
}

/** What another version has left there. */
async function strays(folder: string, files: readonly FileText[]): Promise<string[]> {
  const known = new Set([...files.map(({ path }) => path), "installed.json"]);
  return (await filesBelow(folder)).filter((path) => !known.has(path));
}

async function writePlugin({ library, knackHome }: InstallDeps, files: readonly FileText[]): Promise<void> {
  const folder = marketplaceFolder(knackHome);
  for (const path of await strays(folder, files)) await rm(join(folder, path), { force: true });
  for (const { path, text } of files) await put(library, join(folder, path), text);
}

/** Removes what was generated, and the folder around it if it holds nothing else. */
async function removeGenerated(knackHome: string): Promise<void> {
  const folder = marketplaceFolder(knackHome);
  await rm(folder, { recursive: true, force: true });
  await rmdir(dirname(folder)).catch(() => {});
}

/** Writes a text where it is not there yet; `expecting` is the hash of what the caller has seen, if that matters. */
async function put(
  library: InstallDeps["library"],
  path: string,
  text: string,
  expecting?: string | null,
): Promise<void> {
  const read = await library.readText(path);
  if (read.found === "text" && read.text === text) return;
  const seen = expecting === undefined ? (read.found === "text" ? read.hash : null) : expecting;
  const done = await library.writeText(path, text, { expecting: seen });
  if (!done.written) throw changedMeanwhile(path);
}

async function remove(library: InstallDeps["library"], path: string, expecting: string): Promise<void> {
  const done = await library.removeText(path, { expecting });
  if (!done.written) throw changedMeanwhile(path);
}

function changedMeanwhile(path: string): KnackError {
  return new KnackError("LIBRARY_UNAVAILABLE", `${path} was changed by somebody else just now.`, {
    hint: "Try again.",
  });
}

// --- What was done ---

async function recordWith(
  deps: InstallDeps,
  { whom, settings: { path, hash } }: Prepared,
  change: Extract<Setting, { ok: true }>,
): Promise<Installed> {
  const { library, knackHome } = deps;
  const record = await readRecord(library, knackHome);
  const config = claudeHome(deps);
  // Where `.git` is a file, as in a worktree, the folder it names has had its file since it was made.
  const excludes =
    whom !== null && hash === null && (await isFolder(join(whom, ".git")))
      ? join(whom, ".git", "info", "exclude")
      : null;
  const touched: Touched = {
    path,
    config,
    root: whom,
    after: digestOf(change.text),
    isNew: hash === null,
    edits: change.edits,
    keys: change.keys,
    folders: [
      ...(await missingFolders(dirname(path))),
      ...(excludes === null ? [] : await missingFolders(dirname(excludes))),
    ],
    excluded: whom !== null && hash === null,
    excludes: excludes !== null && !(await isThere(excludes)) ? excludes : null,
  };
  const known = record.settings.find((one) => one.path === path);
  return {
    settings: [...record.settings.filter((one) => one !== known), known ? together(known, touched) : touched],
    notes: record.notes.some((one) => one.config === config)
      ? record.notes
      : [...record.notes, { config, missing: await missingNotes(library, config) }],
  };
}

/** Of two installs the first knows how it was before; unless all of that is gone, and the second begins anew. */
function together(first: Touched, second: Touched): Touched {
  const left = first.keys.filter(({ path }) => !second.keys.some((one) => isSame(one.path, path)));
  if (left.length === 0) return second;
  const own = second.keys.filter(({ path }) => !first.keys.some((one) => isSame(one.path, path)));
  return { ...first, keys: [...first.keys, ...own], after: "", edits: [] };
}

/** The folders that have to be made for a file, the outermost first. */
async function missingFolders(folder: string): Promise<string[]> {
  if ((await isThere(folder)) || folder === dirname(folder)) return [];
  return [...(await missingFolders(dirname(folder))), folder];
}

function othersOf({ settings }: Installed, path: string): string[] {
  return settings.filter((one) => one.path !== path).map((one) => one.path);
}

/** The settings without Knack: as they were, byte for byte, if nobody has touched them; null when the file was Knack's alone. */
function takenOut(text: string, noted: Touched | undefined, path: string, knackHome: string): string | null {
  const before = noted && digestOf(text) === noted.after ? undoneIn(text, noted.edits) : null;
  if (noted && before !== null) return noted.isNew ? null : before;
  const why = whyNotEditable(text);
  if (why !== null)
    throw new KnackError("CONFIG_BROKEN", `Claude Code's settings in ${path} cannot be changed: ${why}.`, {
      hint: `Mend the file, or take ${pluginId} out by hand; nothing was changed.`,
    });
  const rest = withoutPlugin(text, noted?.keys ?? usualKeys, knackHome);
  return noted?.isNew && /^\s*\{\s*\}\s*$/.test(rest) ? null : rest;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
