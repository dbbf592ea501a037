import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Library } from "../engine/ports.ts";
import { marketplaceFolder, pluginId, pluginName } from "./claude-plugin.ts";
import type { Deed } from "./deed.ts";
import { type KeyPath, valueAt, whyNotEditable, withoutKey, withWritten, writtenAt } from "./json-text.ts";
import { isThere, put, remove } from "./settings-file.ts";

/** What Claude Code itself writes down about a plugin once it has loaded it, below its own folder. */
const files = [
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
export interface NotesBefore {
  readonly config: string;
  /** The files that were there, and what was written in them about a plugin of this name; null for nothing. */
  readonly files: readonly { readonly path: string; readonly written: string | null }[];
  /** The folders that were not there. */
  readonly missing: readonly string[];
}

type Files = Pick<Library, "readText" | "writeText" | "removeText">;

export async function readNotes(library: Pick<Library, "readText">, config: string): Promise<NotesBefore> {
  const there: { path: string; written: string | null }[] = [];
  for (const { path, key } of files) {
    const read = await library.readText(join(config, path));
    if (read.found === "missing") continue;
    there.push({ path, written: read.found === "text" ? writtenAt(read.text, key) : null });
  }
  const missing: string[] = [];
  for (const path of [...ownFolders, ...sharedFolders])
    if (!(await isThere(join(config, path)))) missing.push(path);
  return { config, files: there, missing };
}

/** Puts these notes back as they were, but for what they say of others. */
export async function restoreNotes(library: Files, before: NotesBefore, knackHome: string): Promise<Deed[]> {
  const { config, missing } = before;
  if (await isElsewhere(library, config, knackHome)) return [];
  const deeds: Deed[] = [];
  for (const { path, key, empty } of files) {
    const full = join(config, path);
    const read = await library.readText(full);
    if (read.found !== "text" || whyNotEditable(read.text) !== null) continue;
    const was = before.files.find((one) => one.path === path);
    const text = was?.written ? withWritten(read.text, key, was.written) : withoutKey(read.text, key);
    if (was === undefined && empty.test(text))
      deeds.push({ path: full, what: "remove", says, perform: () => remove(library, full, read.hash) });
    else if (text !== read.text)
      deeds.push({ path: full, what: "write", says, perform: () => put(library, full, text, read.hash) });
  }
  for (const path of ownFolders.filter((one) => missing.includes(one)).map((one) => join(config, one)))
    if (await isThere(path))
      deeds.push({ path, what: "remove", says, perform: () => rm(path, { recursive: true, force: true }) });
  const made = sharedFolders.filter((one) => missing.includes(one)).map((one) => join(config, one));
  const outermost = made.at(-1);
  if (outermost !== undefined && (await isThere(outermost)))
    deeds.push({
      path: outermost,
      what: "remove",
      says: `${says}; it stays if something else is in it`,
      perform: async () => {
        for (const folder of made) await rmdir(folder).catch(() => {});
      },
    });
  return deeds;
}

const says = "what Claude Code noted about Knack";

/** A marketplace of this name that somebody has since added from another place is theirs, and so is its plugin. */
async function isElsewhere(
  library: Pick<Library, "readText">,
  config: string,
  knackHome: string,
): Promise<boolean> {
  const read = await library.readText(join(config, files[0].path));
  const place = read.found === "text" && valueAt(read.text, [...files[0].key, "installLocation"]);
  return typeof place === "string" && place !== marketplaceFolder(knackHome);
}
