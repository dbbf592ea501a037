import { lstat, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Library } from "../engine/ports.ts";
import { marketplaceFolder, pluginId, pluginName } from "./claude-plugin.ts";
import { type KeyPath, valueAt, whyNotEditable, withoutKey } from "./json-text.ts";

/** What Claude Code itself writes down about a plugin once it has loaded it, below its own folder. */
const files = [
  { path: "plugins/known_marketplaces.json", key: [pluginName], empty: /^\s*\{\s*\}\s*$/ },
  {
    path: "plugins/installed_plugins.json",
    key: ["plugins", pluginId],
    empty: /^\s*\{\s*"version":\s*\d+,\s*"plugins":\s*\{\s*\}\s*\}\s*$/,
  },
] as const satisfies readonly { path: string; key: KeyPath; empty: RegExp }[];
/** Folders that are Knack's alone, and then those that Claude Code makes for any plugin. */
const ownFolders = [`plugins/cache/${pluginName}`, `plugins/data/${pluginName}-${pluginName}`];
const sharedFolders = ["plugins/cache", "plugins/data", "plugins/marketplaces", "plugins"];

/** What of these notes is not there yet: only that may be taken away later. */
export async function missingNotes(library: Pick<Library, "readText">, config: string): Promise<string[]> {
  const missing: string[] = [];
  for (const { path, key } of files) {
    const read = await library.readText(join(config, path));
    if (read.found === "missing") missing.push(path);
    if (read.found === "missing" || (read.found === "text" && valueAt(read.text, key) === undefined))
      missing.push(noteOf(path, key));
  }
  for (const path of [...ownFolders, ...sharedFolders])
    if (!(await isThere(join(config, path)))) missing.push(path);
  return missing;
}

/** Takes away what Claude Code noted about this plugin and what of it was missing before; answers with what it changed. */
export async function removeNotes(
  library: Pick<Library, "readText" | "writeText" | "removeText">,
  config: string,
  missing: ReadonlySet<string>,
  { knackHome, dryRun }: { readonly knackHome: string; readonly dryRun: boolean },
): Promise<string[]> {
  if (await isElsewhere(library, config, knackHome)) return [];
  const changed: string[] = [];
  for (const { path, key, empty } of files) {
    const full = join(config, path);
    const read = await library.readText(full);
    if (read.found !== "text" || whyNotEditable(read.text) !== null) continue;
    const text = missing.has(noteOf(path, key)) ? withoutKey(read.text, key) : read.text;
    const goes = missing.has(path) && empty.test(text);
    if (text === read.text && !goes) continue;
    changed.push(full);
    if (dryRun) continue;
    if (goes) await library.removeText(full, { expecting: read.hash });
    else await library.writeText(full, text, { expecting: read.hash });
  }
  for (const path of ownFolders.filter((one) => missing.has(one))) {
    if (!(await isThere(join(config, path)))) continue;
    changed.push(join(config, path));
    if (!dryRun) await rm(join(config, path), { recursive: true, force: true });
  }
  // A folder with something in it stays.
  if (!dryRun)
    for (const path of sharedFolders.filter((one) => missing.has(one)))
      await rmdir(join(config, path)).catch(() => {});
  return changed;
}

function noteOf(path: string, key: KeyPath): string {
  return `${path}#${key.at(-1)}`;
}

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

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
