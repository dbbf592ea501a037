import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./knack.ts";

/** What `knack install claude` leaves behind, for a test that breaks it. */
export interface Installed {
  /** Where the plugin is generated. */
  readonly folder: string;
  readonly settings: string;
  readonly hooks: string;
  readonly paths: string;
}

export interface InstallOptions {
  /** For one project, not for the person. */
  readonly project?: string;
  readonly hook?: string;
  readonly node?: string;
  readonly version?: string;
}

const events = [
  "SessionStart",
  "UserPromptSubmit",
  "PostToolUseFailure",
  "Stop",
  "SubagentStop",
  "PreCompact",
  "SessionEnd",
];

/** Puts Knack into the Claude Code of a home, as the installer does. */
export function installed(home: string, options: InstallOptions = {}): Installed {
  const {
    project,
    node = process.execPath,
    hook = join(root, "dist/hook.cjs"),
    version = ownVersion(),
  } = options;
  const knackHome = join(home, ".knack");
  const folder = join(knackHome, "agents/claude");
  const hooks = join(folder, "knack/hooks/hooks.json");
  const paths = join(folder, "paths.json");
  const settings = project
    ? join(project, ".claude/settings.local.json")
    : join(home, ".claude/settings.json");
  const listing = { name: "knack", source: "./knack", description: "Knack" };
  write(join(folder, ".claude-plugin/marketplace.json"), {
    name: "knack",
    owner: { name: "Knack" },
    plugins: [listing],
  });
  write(join(folder, "knack/.claude-plugin/plugin.json"), { name: "knack", description: "Knack", version });
  const command = { type: "command", command: node, args: [hook, "--home", knackHome], timeout: 10 };
  write(hooks, { hooks: Object.fromEntries(events.map((event) => [event, [{ hooks: [command] }]])) });
  for (const name of ["status", "learn", "undo", "forget"])
    write(join(folder, `knack/commands/${name}.md`), `---\ndescription: ${name}\n---\nKnack answers.\n`);
  write(paths, { version, node, hook, cli: join(dirname(hook), "cli.js") });
  write(settings, {
    extraKnownMarketplaces: { knack: { source: { source: "directory", path: folder } } },
    enabledPlugins: { "knack@knack": true },
  });
  write(join(folder, "installed.json"), {
    settings: [{ path: settings, config: join(home, ".claude"), root: project ?? null }],
    notes: [],
  });
  return { folder, settings, hooks, paths };
}

/** Changes a file of JSON. */
export function edit(path: string, change: (value: Record<string, unknown>) => object): void {
  write(path, change(JSON.parse(readFileSync(path, "utf8"))));
}

function write(path: string, value: object | string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === "string" ? value : `${JSON.stringify(value, null, 2)}\n`);
}

function ownVersion(): string {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
}
