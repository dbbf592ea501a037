import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { asArray, asObject, isObject } from "../base/index.ts";
import type { Library } from "../library/index.ts";
import {
  explainNotEditable,
  type KeyPath,
  readKey,
  readWritten,
  removeKey,
  sameJson,
  setKey,
  setWritten,
  type TextEdit,
  undoEdit,
} from "../text/index.ts";
import { marketplaceFolder, pluginId, pluginName, recordName } from "./claude-plugin.ts";
import { exists, removeText, type TextFiles, writeText } from "./text-files.ts";

/** One thing that installing or uninstalling does to the disk, as a person is told of it. */
export interface InstallAction {
  readonly path: string;
  readonly what: "write" | "remove";
  readonly says: string;
}

/** An action, and how it is done. */
export interface InstallStep extends InstallAction {
  perform(): Promise<void>;
}

// --- The two keys that make Claude Code load the plugin ---

const marketplaceKey: KeyPath = ["extraKnownMarketplaces", pluginName];
const enabledKey: KeyPath = ["enabledPlugins", pluginId];

function describeMarketplace(knackHome: string): object {
  return { source: { source: "directory", path: marketplaceFolder(knackHome) } };
}

/** A key that an install set. */
export interface ChangedKey {
  readonly path: KeyPath;
  /** What was written there before; null where there was nothing. */
  readonly replaced: string | null;
  /** Whether the object around it is Knack's too. */
  readonly isAround: boolean;
}

/** Settings with Knack's plugin in them, or why that cannot be. */
export type AddedPlugin =
  | {
      readonly ok: true;
      readonly text: string;
      readonly edits: readonly TextEdit[];
      readonly keys: readonly ChangedKey[];
    }
  | { readonly ok: false; readonly because: string };

export function addPlugin(before: string, knackHome: string): AddedPlugin {
  const because = explainNotEditable(before) ?? explainNotRead(before);
  if (because !== null) return { ok: false, because };
  let text = before;
  const edits: TextEdit[] = [];
  const keys: ChangedKey[] = [];
  for (const [path, value] of [
    [marketplaceKey, describeMarketplace(knackHome)],
    [enabledKey, true],
  ] as const) {
    const isAround = readKey(text, [path[0]]) === undefined;
    const replaced = readWritten(text, path);
    const set = setKey(text, path, value);
    if (!set.ok) return set;
    if (set.edit) {
      edits.push(set.edit);
      keys.push({ path, replaced, isAround });
    }
    text = set.text;
  }
  return { ok: true, text, edits, keys };
}

/** Claude Code ignores settings that are not strictly JSON, and says nothing. */
function explainNotRead(text: string): string | null {
  const body = text.replace(/^\ufeff/, "");
  if (body.trim() === "") return null;
  try {
    JSON.parse(body);
    return null;
  } catch {
    return "it has comments or extra commas, so Claude Code does not read it either";
  }
}

/** Whether somebody has switched the plugin off. */
export function isSwitchedOff(text: string): boolean {
  return readKey(text, enabledKey) === false;
}

/** Whether the settings name this Knack's marketplace. */
export function namesPlugin(text: string, knackHome: string): boolean {
  return sameJson(readKey(text, marketplaceKey), describeMarketplace(knackHome));
}

/** Settings as they were before an install, when nobody else has changed them since; null where that cannot be. */
export function undoEdits(text: string, edits: readonly TextEdit[]): string | null {
  return edits.reduceRight<string | null>((now, edit) => (now === null ? null : undoEdit(now, edit)), text);
}

/** Settings without what an install put in, when somebody else has changed them since; the rest stays. */
export function removePluginKeys(text: string, keys: readonly ChangedKey[], knackHome: string): string {
  // A marketplace of this name from another place is not Knack's to remove, nor is the plugin from there.
  if (readKey(text, marketplaceKey) !== undefined && !namesPlugin(text, knackHome)) return text;
  return keys.reduce((now, { path, replaced, isAround }) => {
    if (readKey(now, path) === undefined) return now;
    if (replaced !== null) return setWritten(now, path, replaced);
    const without = removeKey(now, path);
    return isAround && sameJson(readKey(without, [path[0]]), {}) ? removeKey(without, [path[0]]) : without;
  }, text);
}

/** The keys of a plugin whose install is not on record. */
export const usualKeys: readonly ChangedKey[] = [marketplaceKey, enabledKey].map((path) => ({
  path,
  replaced: null,
  isAround: false,
}));

// --- The record of what an install did, so that it can be undone ---

/** What installs did. Of the settings only what Knack put in or took out is kept. */
export interface InstallRecord {
  readonly settings: readonly ChangedSettings[];
  /** How Claude Code's own notes were before, in each of its folders. */
  readonly notes: readonly NotesBefore[];
}

/** A settings file with Knack's keys in it. */
export interface ChangedSettings {
  readonly path: string;
  /** Claude Code's folder at the time. */
  readonly config: string;
  /** The repository it belongs to; null for the person's own. */
  readonly root: string | null;
  /** The hash of what Knack wrote. */
  readonly after: string;
  /** Whether there was no such file. */
  readonly isNew: boolean;
  /** What was done to the text, in this order. */
  readonly edits: readonly TextEdit[];
  readonly keys: readonly ChangedKey[];
  /** Folders that were made for it, the outermost first. */
  readonly folders: readonly string[];
  /** Whether it was kept out of git. */
  readonly excluded: boolean;
  /** The exclude file that was made for that; null where there was one. */
  readonly excludes: string | null;
}

function recordFile(knackHome: string): string {
  return join(marketplaceFolder(knackHome), recordName);
}

/** What is on record; a record that cannot be read counts as none. */
export async function readRecord(
  library: Pick<Library, "readText">,
  knackHome: string,
): Promise<InstallRecord> {
  const read = await library.readText(recordFile(knackHome));
  try {
    const record = asObject(JSON.parse(read.found === "text" ? read.text : "{}"));
    return {
      settings: asArray(record?.settings).filter(isChangedSettings),
      notes: asArray(record?.notes).filter(isNotes),
    };
  } catch {
    return { settings: [], notes: [] };
  }
}

export function writeRecord(library: TextFiles, knackHome: string, record: InstallRecord): InstallStep {
  const path = recordFile(knackHome);
  return {
    path,
    what: "write",
    says: "what is installed elsewhere stays",
    perform: () => writeText(library, path, `${JSON.stringify(record, null, 2)}\n`),
  };
}

function isChangedSettings(value: unknown): value is ChangedSettings {
  return (
    isObject(value) &&
    [value.path, value.config, value.after].every((one) => typeof one === "string") &&
    [value.edits, value.keys, value.folders].every(Array.isArray)
  );
}

function isNotes(value: unknown): value is NotesBefore {
  return (
    isObject(value) && typeof value.config === "string" && [value.files, value.missing].every(Array.isArray)
  );
}

// --- What Claude Code itself writes down about a plugin once it has loaded it ---

const noteFiles = [
  { path: "plugins/known_marketplaces.json", key: [pluginName], empty: /^\s*\{\s*\}\s*$/ },
  {
    path: "plugins/installed_plugins.json",
    key: ["plugins", pluginId],
    empty: /^\s*\{\s*"version":\s*\d+,\s*"plugins":\s*\{\s*\}\s*\}\s*$/,
  },
  // Of a server that did not start.
  { path: "mcp-needs-auth-cache.json", key: [`plugin:${pluginName}:knack`], empty: /^\s*\{\s*\}\s*$/ },
] as const satisfies readonly { path: string; key: KeyPath; empty: RegExp }[];
/** Folders that are Knack's alone, and then those that Claude Code makes for any plugin. */
const ownFolders = [`plugins/cache/${pluginName}`, `plugins/data/${pluginName}-${pluginName}`];
const sharedFolders = ["plugins/cache", "plugins/data", "plugins/marketplaces", "plugins"];

/** How these notes were before Knack came. */
interface NotesBefore {
  readonly config: string;
  /** The files that were there, and what was written in them about a plugin of this name; null for nothing. */
  readonly files: readonly { readonly path: string; readonly written: string | null }[];
  /** The folders that were not there. */
  readonly missing: readonly string[];
}

export async function readNotes(library: Pick<Library, "readText">, config: string): Promise<NotesBefore> {
  const there: { path: string; written: string | null }[] = [];
  for (const { path, key } of noteFiles) {
    const read = await library.readText(join(config, path));
    if (read.found === "missing") continue;
    there.push({ path, written: read.found === "text" ? readWritten(read.text, key) : null });
  }
  const missing: string[] = [];
  for (const path of [...ownFolders, ...sharedFolders])
    if (!(await exists(join(config, path)))) missing.push(path);
  return { config, files: there, missing };
}

/** Puts these notes back as they were, except for what they say of others. */
export async function restoreNotes(
  library: TextFiles,
  { config, files, missing }: NotesBefore,
  knackHome: string,
): Promise<InstallStep[]> {
  if (await isElsewhere(library, config, knackHome)) return [];
  const says = "what Claude Code noted about Knack";
  const steps: InstallStep[] = [];
  for (const { path, key, empty } of noteFiles) {
    const full = join(config, path);
    const read = await library.readText(full);
    if (read.found !== "text" || explainNotEditable(read.text) !== null) continue;
    const was = files.find((one) => one.path === path);
    const text = was?.written ? setWritten(read.text, key, was.written) : removeKey(read.text, key);
    if (was === undefined && empty.test(text))
      steps.push({ path: full, what: "remove", says, perform: () => removeText(library, full, read.hash) });
    else if (text !== read.text)
      steps.push({
        ...{ path: full, what: "write", says },
        perform: () => writeText(library, full, text, read.hash),
      });
  }
  for (const path of ownFolders.filter((one) => missing.includes(one)).map((one) => join(config, one)))
    if (await exists(path))
      steps.push({ path, what: "remove", says, perform: () => rm(path, { recursive: true, force: true }) });
  const made = sharedFolders.filter((one) => missing.includes(one)).map((one) => join(config, one));
  return [...steps, ...(await removeIfEmpty(made, `${says}; it stays if something else is in it`))];
}

/** Removes folders that hold nothing else, the innermost first. */
export async function removeIfEmpty(innermostFirst: readonly string[], says: string): Promise<InstallStep[]> {
  const outermost = innermostFirst.at(-1);
  if (outermost === undefined || !(await exists(outermost))) return [];
  const perform = async () => {
    for (const folder of innermostFirst) await rmdir(folder).catch(() => {});
  };
  return [{ path: outermost, what: "remove", says, perform }];
}

/** A marketplace of this name that somebody has since added from another place is theirs, and so is its plugin. */
async function isElsewhere(
  library: Pick<Library, "readText">,
  config: string,
  knackHome: string,
): Promise<boolean> {
  const read = await library.readText(join(config, noteFiles[0].path));
  const place = read.found === "text" && readKey(read.text, [...noteFiles[0].key, "installLocation"]);
  return typeof place === "string" && place !== marketplaceFolder(knackHome);
}
