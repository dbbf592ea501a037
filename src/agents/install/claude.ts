import { join } from "node:path";
import { type KeyPath, sameJson } from "../../text/index.ts";
import {
  type AgentSetup,
  type GeneratedFile,
  type Machine,
  readTemplate,
  serverCommand,
  toJson,
} from "./setup.ts";

/** Names of the plugin and its marketplace: identical for every source, so that no two run at once. */
const pluginName = "knack";
export const pluginId = "knack@knack";

/** Where a plugin names its MCP servers. */
export const serversFile = ".mcp.json";

const manifestFile = ".claude-plugin/plugin.json";
/** Scripts that look for Knack where nothing says where it is. */
const finders: ReadonlySet<string> = new Set(["hooks/knack.cjs", "mcp/knack.cjs"]);

/** The two keys that make Claude Code load the plugin. */
const marketplaceKey: KeyPath = ["extraKnownMarketplaces", pluginName];
const enabledKey: KeyPath = ["enabledPlugins", pluginId];

/** Claude Code loads a plugin: a marketplace that is generated for this machine, and read in place. */
export const claude: AgentSetup = {
  id: "claude",
  programs: ["claude"],
  inProject:
    "Claude Code loads it here once you trust this folder: it asks when you start it here without -p.",
  generates: "the plugin, generated for this machine: its hooks, its commands and its tools",
  generate: generatePlugin,
  changes: async ({ config, root, folder }) => [
    {
      kind: "config",
      // The repository's own settings are everybody's, and paths are one person's.
      path: root === null ? join(config, "settings.json") : join(root, ".claude", "settings.local.json"),
      format: "json",
      says: "switches Knack's plugin on",
      entries: [
        { path: marketplaceKey, value: { source: { source: "directory", path: folder } } },
        { path: enabledKey, value: true },
      ],
      isGuarded: true,
    },
  ],
  isSwitchedOff: (settings) => settings.read(enabledKey) === false,
  notes: {
    // The last is of a server that did not start.
    files: [
      { path: "plugins/known_marketplaces.json", key: [pluginName] },
      { path: "plugins/installed_plugins.json", key: ["plugins", pluginId] },
      { path: "mcp-needs-auth-cache.json", key: [`plugin:${pluginName}:knack`] },
    ],
    // A marketplace of this name that was since added from another source is the person's, and so is its plugin.
    isForeign: (at, noted, { folder }) => {
      const place = at === 0 ? (noted as { installLocation?: unknown } | undefined)?.installLocation : null;
      return typeof place === "string" && !sameJson(place, folder);
    },
    empty: /^\s*\{\s*(?:"version":\s*\d+,\s*"plugins":\s*\{\s*\}\s*)?\}\s*$/,
    ownFolders: [`plugins/cache/${pluginName}`, `plugins/data/${pluginName}-${pluginName}`],
    sharedFolders: ["plugins/cache", "plugins/data", "plugins/marketplaces", "plugins"],
  },
};

/**
 * The marketplace, with the plugin in it, for one machine. Hooks and the server name this node and this program in full,
 * because a bare `knack` is not found by an agent that was started from a menu, under another node, or when npx has
 * cleaned up.
 */
async function generatePlugin(machine: Machine): Promise<GeneratedFile[]> {
  const files = await readTemplate(machine);
  const manifest = files.find(({ path }) => path === manifestFile)?.text ?? "{}";
  const { description, author } = JSON.parse(manifest) as Record<string, unknown>;
  const listing = { name: pluginName, source: `./${pluginName}`, description };
  const marketplace = { name: pluginName, description, owner: author, plugins: [listing] };
  return [
    { path: ".claude-plugin/marketplace.json", text: toJson(marketplace) },
    ...files
      .filter(({ path }) => !finders.has(path))
      .map((file) => ({ path: `${pluginName}/${file.path}`, text: bindFile(file, machine) })),
  ];
}

interface HooksFile {
  readonly hooks: Readonly<
    Record<string, readonly { readonly hooks: readonly { args?: readonly string[] }[] }[]>
  >;
}

function bindFile({ path, text }: GeneratedFile, machine: Machine): string {
  const { program, knackHome } = machine;
  if (path === manifestFile) return toJson({ ...JSON.parse(text), version: program.version });
  if (path === serversFile) {
    const all = JSON.parse(text) as { readonly mcpServers: Readonly<Record<string, object>> };
    const bound = serverCommand(machine);
    return toJson({ ...all, mcpServers: mapValues(all.mcpServers, (server) => ({ ...server, ...bound })) });
  }
  if (path !== "hooks/hooks.json") return text;
  const all = JSON.parse(text) as HooksFile;
  // Without a shell, so that no character in a path means anything, and none is needed. What follows the script in the
  // template says which part a hook does.
  const bind = (one: { args?: readonly string[] }) => ({
    ...one,
    command: program.node,
    args: [program.hook, "--home", knackHome, ...(one.args ?? []).slice(1)],
  });
  const bindGroups = (groups: HooksFile["hooks"][string]) =>
    groups.map((group) => ({ ...group, hooks: group.hooks.map(bind) }));
  return toJson({ ...all, hooks: mapValues(all.hooks, bindGroups) });
}

function mapValues<From, To>(all: Readonly<Record<string, From>>, change: (value: From) => To): object {
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, change(value)]));
}
