import { cp, mkdir, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { KnackError } from "../base/index.ts";
import type { Library } from "../library/index.ts";
import { exists, type TextFiles, writeText } from "./text-files.ts";

/** This Knack, as others are to start it. */
export interface Program {
  readonly version: string;
  readonly node: string;
  readonly cli: string;
  readonly hook: string;
  /** The folder of the plugin's template. */
  readonly template: string;
}

/** A file below a folder, with `/` between its names. */
interface PluginFile {
  readonly path: string;
  readonly text: string;
}

/** What the marketplace, the plugin and the two together are called: the same wherever they come from, so that no two run at once. */
export const pluginName = "knack";
export const pluginId = "knack@knack";

/** The skills that come with it: nobody's to change, and not among those that sessions are credited with. */
export const pluginSkills: readonly string[] = ["learn-skill"];

/** Where a plugin names its MCP servers. */
export const serversFile = ".mcp.json";

/** Where an install is recorded, beside the plugin. */
export const recordName = "installed.json";

/** Copies of Knack older than this are no longer used by any open session. */
const longestSessionMs = 7 * 86_400_000;

/** The generated marketplace, which the settings name. */
export function marketplaceFolder(knackHome: string): string {
  return join(knackHome, "agents", "claude");
}

/**
 * The marketplace, with the plugin in it, for one machine. Hooks and the server name this node and this program in full,
 * because a bare `knack` is not found by an agent that was started from a menu, under another node, or when npx has
 * cleaned up.
 */
export async function generatePlugin(
  library: Pick<Library, "readText">,
  program: Program,
  knackHome: string,
  template = program.template,
): Promise<PluginFile[]> {
  const { version, node, hook, cli } = program;
  const files = await readTemplate(library, template);
  const manifest = files.find(({ path }) => path === manifestFile)?.text ?? "{}";
  const { description, author } = JSON.parse(manifest) as Record<string, unknown>;
  const listing = { name: pluginName, source: `./${pluginName}`, description };
  const marketplace = { name: pluginName, description, owner: author, plugins: [listing] };
  return [
    { path: ".claude-plugin/marketplace.json", text: toJson(marketplace) },
    ...files
      .filter(({ path }) => !finders.has(path))
      .map((file) => ({ path: `${pluginName}/${file.path}`, text: bindFile(file, program, knackHome) })),
    { path: "paths.json", text: toJson({ version, node, hook, cli }) },
  ];
}

const manifestFile = ".claude-plugin/plugin.json";
/** Scripts that look for Knack where nothing says where it is. */
const finders: ReadonlySet<string> = new Set(["hooks/knack.cjs", "mcp/knack.cjs"]);

async function readTemplate(library: Pick<Library, "readText">, folder: string): Promise<PluginFile[]> {
  const files: PluginFile[] = [];
  for (const path of await listFilesBelow(folder)) {
    const read = await library.readText(join(folder, path));
    if (read.found === "text") files.push({ path, text: read.text });
  }
  if (files.length > 0) return files;
  throw new KnackError("LIBRARY_UNAVAILABLE", `The plugin's template is missing from ${folder}.`, {
    hint: "Reinstall Knack: npm install -g knack-cli",
  });
}

function bindFile({ path, text }: PluginFile, program: Program, knackHome: string): string {
  if (path === "hooks/hooks.json") return toJson(bindHooks(text, program, knackHome));
  if (path === serversFile) return toJson(bindServers(text, program, knackHome));
  return path === manifestFile ? toJson({ ...JSON.parse(text), version: program.version }) : text;
}

function bindServers(text: string, { node, cli }: Program, knackHome: string): object {
  const all = JSON.parse(text) as { readonly mcpServers: Readonly<Record<string, object>> };
  const bound = Object.entries(all.mcpServers).map(([name, server]) => [
    name,
    { ...server, command: node, args: [cli, "mcp"], env: { KNACK_HOME: knackHome } },
  ]);
  return { ...all, mcpServers: Object.fromEntries(bound) };
}

interface HooksFile {
  readonly hooks: Readonly<
    Record<string, readonly { readonly hooks: readonly { readonly args?: readonly string[] }[] }[]>
  >;
}

/** Without a shell, so that no character in a path means anything, and none is needed. */
function bindHooks(text: string, { node, hook }: Program, knackHome: string): object {
  const all = JSON.parse(text) as HooksFile;
  const bound = Object.entries(all.hooks).map(([event, groups]) => [
    event,
    groups.map((group) => ({
      ...group,
      // What follows the script in the template says which part a hook does.
      hooks: group.hooks.map((one) => ({
        ...one,
        command: node,
        args: [hook, "--home", knackHome, ...(one.args ?? []).slice(1)],
      })),
    })),
  ]);
  return { ...all, hooks: Object.fromEntries(bound) };
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Whether the generated plugin is on disk, and nothing else. */
export async function isPluginWritten(
  library: Pick<Library, "readText">,
  knackHome: string,
  files: readonly PluginFile[],
): Promise<boolean> {
  const folder = marketplaceFolder(knackHome);
  for (const { path, text } of files) {
    const read = await library.readText(join(folder, path));
    if (read.found !== "text" || read.text !== text) return false;
  }
  return (await listStrays(folder, files)).length === 0;
}

/** Writes what differs, and removes what another version has left. */
export async function writePlugin(
  library: TextFiles,
  knackHome: string,
  files: readonly PluginFile[],
): Promise<void> {
  const folder = marketplaceFolder(knackHome);
  // Knack's home is its person's alone.
  await mkdir(knackHome, { recursive: true, mode: 0o700 });
  for (const path of await listStrays(folder, files)) await rm(join(folder, path), { force: true });
  for (const { path, text } of files) await writeText(library, join(folder, path), text);
}

/** Removes the generated plugin, and the folder around it if it holds nothing else. */
export async function removePlugin(knackHome: string): Promise<void> {
  const folder = marketplaceFolder(knackHome);
  await rm(folder, { recursive: true, force: true });
  await rmdir(dirname(folder)).catch(() => {});
}

async function listStrays(folder: string, files: readonly PluginFile[]): Promise<string[]> {
  const known = new Set([...files.map(({ path }) => path), recordName]);
  // What another Knack is writing just now is no stray.
  return (await listFilesBelow(folder)).filter((path) => !known.has(path) && !path.includes(".knack-"));
}

/** Files below a folder, as paths with `/`. */
async function listFilesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .map((path) => path.split(sep).join("/"))
    .sort();
}

// --- Copies of Knack: npx keeps packages in a cache that may be emptied ---

/** Where Knack keeps copies of itself. */
export function appFolder(knackHome: string): string {
  return join(knackHome, "app");
}

/** The program where it will stay, and what has to be copied for that. */
export interface SettledProgram {
  readonly program: Program;
  readonly copy: { readonly from: string; readonly to: string } | null;
}

export function settleProgram(program: Program, knackHome: string): SettledProgram {
  const parts = program.cli.split(sep);
  const packages = parts.lastIndexOf("node_modules");
  if (!parts.includes("_npx") || packages === -1) return { program, copy: null };
  const from = parts.slice(0, packages + 1).join(sep);
  const to = join(appFolder(knackHome), program.version);
  const moved = (path: string) => join(to, "node_modules", relative(from, path));
  const { cli, hook, template } = program;
  return {
    program: { ...program, cli: moved(cli), hook: moved(hook), template: moved(template) },
    copy: { from, to },
  };
}

/** Makes the copy, whole or not at all; one that is there stays. */
export async function copyApp({ from, to }: { readonly from: string; readonly to: string }): Promise<void> {
  if (await exists(to)) return;
  const staged = `${to}.new-${process.pid}`;
  await mkdir(staged, { recursive: true });
  try {
    await cp(from, join(staged, "node_modules"), { recursive: true, verbatimSymlinks: true });
    await rename(staged, to).catch(async (error: unknown) => {
      // Another process was first.
      if (!(await exists(to))) throw error;
    });
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

/** The copies that this program does not run from, and that no open session was started with. */
export async function listStaleApps(program: Program, knackHome: string): Promise<string[]> {
  const folder = appFolder(knackHome);
  const names = await readdir(folder).catch(() => []);
  const others = names
    .map((name) => join(folder, name))
    .filter((path) => !program.hook.startsWith(path + sep));
  const ages = await Promise.all(others.map(async (path) => Date.now() - (await stat(path)).mtimeMs));
  return others.filter((_, at) => (ages[at] ?? 0) > longestSessionMs);
}
