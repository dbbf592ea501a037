import { join } from "node:path";

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
export interface FileText {
  readonly path: string;
  readonly text: string;
}

/** What the marketplace, the plugin and the two together are called: the same wherever they come from, so that no two run at once. */
export const pluginName = "knack";
export const pluginId = "knack@knack";

/** The skills that come with it: nobody's to change, and not among those that sessions are credited with. */
export const pluginSkills: readonly string[] = ["learn-skill"];

/** Where the generated marketplace is, which the settings name. */
export function marketplaceFolder(knackHome: string): string {
  return join(knackHome, "agents", "claude");
}

/**
 * The marketplace, with the plugin in it, for one machine. Hooks and the server name this node and this program in full,
 * because a bare `knack` is not found by an agent that was started from a menu, under another node, or when npx has
 * cleaned up.
 */
export function generatePlugin(
  template: readonly FileText[],
  program: Program,
  knackHome: string,
): FileText[] {
  const { version, node, hook, cli } = program;
  const plugin = template
    .filter(({ path }) => !finders.has(path))
    .map(({ path, text }): FileText => {
      if (path === "hooks/hooks.json") return { path, text: json(boundHooks(text, program, knackHome)) };
      if (path === serversFile) return { path, text: json(boundServers(text, program, knackHome)) };
      if (path === ".claude-plugin/plugin.json")
        return { path, text: json({ ...JSON.parse(text), version }) };
      return { path, text };
    });
  const { description, author } = JSON.parse(
    template.find(({ path }) => path === ".claude-plugin/plugin.json")?.text ?? "{}",
  ) as Record<string, unknown>;
  const listing = { name: pluginName, source: `./${pluginName}`, description };
  return [
    {
      path: ".claude-plugin/marketplace.json",
      text: json({ name: pluginName, description, owner: author, plugins: [listing] }),
    },
    ...plugin.map(({ path, text }) => ({ path: `${pluginName}/${path}`, text })),
    { path: "paths.json", text: json({ version, node, hook, cli }) },
  ];
}

/** What looks for Knack where nothing says where it is. */
const finders: ReadonlySet<string> = new Set(["hooks/knack.cjs", "mcp/knack.cjs"]);

/** Where a plugin names its MCP servers. */
export const serversFile = ".mcp.json";

function boundServers(text: string, { node, cli }: Program, knackHome: string): object {
  const all = JSON.parse(text) as { readonly mcpServers: Readonly<Record<string, object>> };
  const bound = Object.entries(all.mcpServers).map(([name, server]) => [
    name,
    { ...server, command: node, args: [cli, "mcp"], env: { KNACK_HOME: knackHome } },
  ]);
  return { ...all, mcpServers: Object.fromEntries(bound) };
}

interface Hooks {
  readonly hooks: Readonly<
    Record<string, readonly { readonly hooks: readonly { readonly args?: readonly string[] }[] }[]>
  >;
}

/** Without a shell, so that no character in a path means anything, and none is needed. */
function boundHooks(text: string, { node, hook }: Program, knackHome: string): object {
  const all = JSON.parse(text) as Hooks;
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

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
