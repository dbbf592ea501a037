import { join } from "node:path";
import { KnackError, listFilesBelow } from "../base/index.ts";
import type { Library } from "../library/index.ts";

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
export interface PluginFile {
  readonly path: string;
  readonly text: string;
}

/** Names of the plugin and its marketplace: identical for every source, so that no two run at once. */
export const pluginName = "knack";
export const pluginId = "knack@knack";

/** The skills that come with the plugin: read-only, and never credited with sessions. */
export const pluginSkills: readonly string[] = ["learn-skill"];

/** Where a plugin names its MCP servers. */
export const serversFile = ".mcp.json";

const manifestFile = ".claude-plugin/plugin.json";
/** Scripts that look for Knack where nothing says where it is. */
const finders: ReadonlySet<string> = new Set(["hooks/knack.cjs", "mcp/knack.cjs"]);

/**
 * The marketplace, with the plugin in it, for one machine. Hooks and the server name this node and this program in full,
 * because a bare `knack` is not found by an agent that was started from a menu, under another node, or when npx has
 * cleaned up.
 */
export async function generatePlugin(
  library: Pick<Library, "readText">,
  program: Program,
  knackHome: string,
): Promise<PluginFile[]> {
  const { version, node, hook, cli } = program;
  const files = await readTemplate(library, program.template);
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

async function readTemplate(library: Pick<Library, "readText">, folder: string): Promise<PluginFile[]> {
  const files: PluginFile[] = [];
  for (const path of listFilesBelow(folder)) {
    const read = await library.readText(join(folder, path));
    if (read.found === "text") files.push({ path, text: read.text });
  }
  if (files.length > 0) return files;
  throw new KnackError("LIBRARY_UNAVAILABLE", `The plugin's template is missing from ${folder}.`, {
    hint: "Reinstall Knack: npm install -g knack-cli",
  });
}

interface HooksFile {
  readonly hooks: Readonly<
    Record<string, readonly { readonly hooks: readonly { args?: readonly string[] }[] }[]>
  >;
}

function bindFile({ path, text }: PluginFile, program: Program, knackHome: string): string {
  const { node, hook, cli, version } = program;
  if (path === manifestFile) return toJson({ ...JSON.parse(text), version });
  if (path === serversFile) {
    const all = JSON.parse(text) as { readonly mcpServers: Readonly<Record<string, object>> };
    const bound = { command: node, args: [cli, "mcp"], env: { KNACK_HOME: knackHome } };
    return toJson({ ...all, mcpServers: mapValues(all.mcpServers, (server) => ({ ...server, ...bound })) });
  }
  if (path !== "hooks/hooks.json") return text;
  const all = JSON.parse(text) as HooksFile;
  // Without a shell, so that no character in a path means anything, and none is needed. What follows the script in the
  // template says which part a hook does.
  const bind = (one: { args?: readonly string[] }) => ({
    ...one,
    command: node,
    args: [hook, "--home", knackHome, ...(one.args ?? []).slice(1)],
  });
  const bindGroups = (groups: HooksFile["hooks"][string]) =>
    groups.map((group) => ({ ...group, hooks: group.hooks.map(bind) }));
  return toJson({ ...all, hooks: mapValues(all.hooks, bindGroups) });
}

function mapValues<From, To>(all: Readonly<Record<string, From>>, change: (value: From) => To): object {
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, change(value)]));
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
