import { mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { KnackError } from "../core/errors.ts";
import type { Library } from "../engine/ports.ts";
import { type FileText, marketplaceFolder } from "./claude-plugin.ts";
import { put } from "./settings-file.ts";

type Files = Pick<Library, "readText" | "writeText" | "removeText">;

/** The files of the plugin's template. */
export async function readTemplate(library: Files, folder: string): Promise<FileText[]> {
  const files: FileText[] = [];
  for (const path of await filesBelow(folder)) {
    const read = await library.readText(join(folder, path));
    if (read.found === "text") files.push({ path, text: read.text });
  }
  if (files.length > 0) return files;
  throw new KnackError("LIBRARY_UNAVAILABLE", `The plugin's template is missing from ${folder}.`, {
    hint: "Install Knack anew: npm install -g knack-cli",
  });
}

/** Whether the generated plugin is on disk, and nothing else. */
export async function isWritten(
  library: Files,
  knackHome: string,
  files: readonly FileText[],
): Promise<boolean> {
  const folder = marketplaceFolder(knackHome);
  for (const { path, text } of files) {
    const read = await library.readText(join(folder, path));
    if (read.found !== "text" || read.text !== text) return false;
  }
  return (await strays(folder, files)).length === 0;
}

/** Writes what differs, and removes what another version has left. */
export async function writePlugin(
  library: Files,
  knackHome: string,
  files: readonly FileText[],
): Promise<void> {
  const folder = marketplaceFolder(knackHome);
  // Knack's home is its person's alone.
  await mkdir(knackHome, { recursive: true, mode: 0o700 });
  for (const path of await strays(folder, files)) await rm(join(folder, path), { force: true });
  for (const { path, text } of files) await put(library, join(folder, path), text);
}

/** Removes the generated plugin, and the folder around it if it holds nothing else. */
export async function removePlugin(knackHome: string): Promise<void> {
  const folder = marketplaceFolder(knackHome);
  await rm(folder, { recursive: true, force: true });
  await rmdir(dirname(folder)).catch(() => {});
}

async function strays(folder: string, files: readonly FileText[]): Promise<string[]> {
  const known = new Set([...files.map(({ path }) => path), "installed.json"]);
  // What another Knack is writing just now is no stray.
  return (await filesBelow(folder)).filter((path) => !known.has(path) && !path.includes(".knack-"));
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
