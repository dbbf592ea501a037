import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import { asArray, asObject, asString, readPlainFile } from "../base/index.ts";
import { type FindRoots, type ItemRoot, skillFile } from "../library/index.ts";
import type { ItemKind, ItemProblem } from "../records/index.ts";
import { type AgentSurroundings, claudeHome, codexHome, copilotHome, geminiHome, piHome } from "./agents.ts";
import { pluginId } from "./install/claude.ts";
import { skillFolders } from "./install/setup.ts";

type FindHome = (surroundings: AgentSurroundings) => string;

/** A folder that an agent looks into: in a repository, and in a person's home. Null where it has none there. */
interface RootRow {
  readonly kind: ItemKind;
  readonly form: ItemRoot["form"];
  readonly project: string | null;
  readonly user: readonly [FindHome, string] | null;
  /** The agent's prefix for the names. */
  readonly prefix?: string;
}

const userHome: FindHome = ({ home }) => home;
const openCodeHome: FindHome = ({ home, env }) =>
  env.OPENCODE_CONFIG_DIR || join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");

/**
 * Every folder that an agent looks into. Of two things of one kind and name, for the same people, the one whose row
 * is further up goes before.
 */
const table: readonly RootRow[] = [
  // Claude Code; OpenCode reads these skills as well.
  { kind: "skill", form: "packages", project: ".claude/skills", user: [claudeHome, "skills"] },
  { kind: "command", form: "markdown", project: ".claude/commands", user: [claudeHome, "commands"] },
  { kind: "agent", form: "markdown", project: ".claude/agents", user: [claudeHome, "agents"] },
  // Codex, Gemini CLI, Qwen Code, OpenCode, pi, Cursor, Copilot.
  { kind: "skill", form: "packages", project: ".agents/skills", user: [userHome, ".agents/skills"] },
  // Codex.
  { kind: "skill", form: "packages", project: ".codex/skills", user: [codexHome, "skills"] },
  {
    kind: "command",
    form: "markdown",
    project: ".codex/prompts",
    user: [codexHome, "prompts"],
    prefix: "prompts:",
  },
  { kind: "agent", form: "toml", project: ".codex/agents", user: [codexHome, "agents"] },
  // Gemini CLI.
  { kind: "skill", form: "packages", project: ".gemini/skills", user: [geminiHome, "skills"] },
  { kind: "command", form: "toml", project: ".gemini/commands", user: [geminiHome, "commands"] },
  { kind: "agent", form: "markdown", project: ".gemini/agents", user: [geminiHome, "agents"] },
  // OpenCode, which has two names for each folder.
  ...["skills", "skill"].map((name) => openCodeRow("skill", "packages", name)),
  ...["commands", "command"].map((name) => openCodeRow("command", "markdown", name)),
  ...["agents", "agent"].map((name) => openCodeRow("agent", "markdown", name)),
  // Qwen Code, whose commands are of two forms.
  { kind: "skill", form: "packages", project: ".qwen/skills", user: [userHome, ".qwen/skills"] },
  { kind: "command", form: "markdown", project: ".qwen/commands", user: [userHome, ".qwen/commands"] },
  { kind: "command", form: "toml", project: ".qwen/commands", user: [userHome, ".qwen/commands"] },
  { kind: "agent", form: "markdown", project: ".qwen/agents", user: [userHome, ".qwen/agents"] },
  // pi.
  { kind: "skill", form: "packages", project: ".pi/skills", user: [piHome, "skills"] },
  { kind: "command", form: "markdown", project: ".pi/prompts", user: [piHome, "prompts"] },
  // Copilot.
  { kind: "skill", form: "packages", project: ".github/skills", user: [copilotHome, "skills"] },
  { kind: "command", form: "markdown", project: ".github/prompts", user: null },
  { kind: "agent", form: "markdown", project: ".github/agents", user: [copilotHome, "agents"] },
  // Cursor.
  { kind: "skill", form: "packages", project: ".cursor/skills", user: [userHome, ".cursor/skills"] },
  { kind: "command", form: "markdown", project: ".cursor/commands", user: [userHome, ".cursor/commands"] },
  { kind: "agent", form: "markdown", project: ".cursor/agents", user: [userHome, ".cursor/agents"] },
];

function openCodeRow(kind: ItemKind, form: ItemRoot["form"], name: string): RootRow {
  return { kind, form, project: `.opencode/${name}`, user: [openCodeHome, name] };
}

/** Finds the folders in which the agents of this machine look for skills, commands and agents. */
export function createRootFinder(surroundings: AgentSurroundings): FindRoots {
  return async (projects) => {
    const states = await Promise.all(projects.map(async ({ root }) => readFolderState(root)));
    const here = projects.filter((_, at) => states[at] === "there");
    const refused = projects.flatMap(({ root: path }, at) => {
      const state = states[at];
      return typeof state === "object" ? [{ path, message: state.message }] : [];
    });
    const plugins = await findPluginRoots(claudeHome(surroundings), here, table.length);
    return {
      roots: [
        ...here.flatMap(({ id, root }) =>
          listRoots(id, root, ({ project }) => project && join(root, project)),
        ),
        ...listRoots("user", null, ({ user }) => user && join(user[0](surroundings), user[1])),
        ...plugins.roots,
      ],
      problems: [
        ...refused.map(({ path, message }) => ({
          path,
          severity: "error" as const,
          message: `The project's folder cannot be read: ${message}.`,
          hint: "Make it readable for you; what was known of it still holds.",
        })),
        ...plugins.problems,
      ],
      unread: refused.map(({ path }) => path),
    };
  };
}

function listRoots(
  scopeId: string,
  checkout: string | null,
  findFolder: (row: RootRow) => string | null,
): ItemRoot[] {
  return table.flatMap((row, rank) => {
    const path = findFolder(row);
    const { kind, form, prefix = "" } = row;
    if (path === null) return [];
    // Knack's own skills are no more a person's in one agent than in another.
    const from = { within: checkout, checkout, owner: null, draft: false, except: skillFolders };
    return [{ path, kind, form, scopeId, rank, prefix, ...from }];
  });
}

/** A deleted project has no items; those of an unreadable one are unknown. */
async function readFolderState(root: string): Promise<"there" | "gone" | { readonly message: string }> {
  try {
    return (await stat(root)).isDirectory() ? "there" : "gone";
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? "gone" : { message };
  }
}

/** A plugin that Claude Code loads. */
interface LoadedPlugin {
  /** `plugin@marketplace`. */
  readonly id: string;
  readonly scopeId: string;
  readonly folder: string;
}

/** Where each plugin is installed, and for which project; null for everywhere. */
type InstalledPlugins = ReadonlyMap<
  string,
  readonly { readonly path: string; readonly project: string | null }[]
>;

/** The folders of the plugins that Claude Code loads, as its own files tell which these are. */
async function findPluginRoots(
  home: string,
  projects: readonly { readonly id: string; readonly root: string }[],
  rank: number,
): Promise<{ roots: ItemRoot[]; problems: ItemProblem[] }> {
  const problems: ItemProblem[] = [];
  const list = asObject(await readJson(join(home, "plugins", "installed_plugins.json"), null, problems));
  const installed: InstalledPlugins = new Map(
    Object.entries(asObject(list?.plugins) ?? {}).map(([id, entries]) => [id, readInstalls(entries)]),
  );
  const everywhere = await readEnabled([join(home, "settings.json")], null, problems);
  const loaded = findLoaded("user", null, installed, everywhere);
  for (const { id, root } of projects) {
    const files = ["settings.json", "settings.local.json"].map((name) => join(root, ".claude", name));
    const here = await readEnabled(files, root, problems);
    // What the person has everywhere is the person's; a project adds to it.
    const own = [...(here ?? [])].filter((plugin) => !everywhere?.has(plugin));
    loaded.push(...findLoaded(id, root, installed, new Set(own)));
  }
  const roots = await Promise.all(loaded.map((plugin) => listPluginRoots(plugin, rank, problems)));
  return { roots: roots.flat(), problems };
}

function readInstalls(entries: unknown) {
  return asArray(entries).flatMap((entry) => {
    const path = asString(asObject(entry)?.installPath);
    return path === null ? [] : [{ path, project: asString(asObject(entry)?.projectPath) }];
  });
}

/** The plugins that settings switch on, later files over earlier ones; null where one cannot be read. */
async function readEnabled(
  paths: readonly string[],
  within: string | null,
  problems: ItemProblem[],
): Promise<Set<string> | null> {
  const enabled = new Set<string>();
  for (const path of paths) {
    const read = await readJson(path, within, problems);
    if (read === undefined) return null;
    for (const [id, on] of Object.entries(asObject(asObject(read)?.enabledPlugins) ?? {}))
      on === false ? enabled.delete(id) : enabled.add(id);
  }
  return enabled;
}

/** Paths of the enabled plugins, without Knack's own; of all plugins if it is not known which are enabled. */
function findLoaded(
  scopeId: string,
  root: string | null,
  installed: InstalledPlugins,
  enabled: ReadonlySet<string> | null,
): LoadedPlugin[] {
  const ids = [...(enabled ?? installed.keys())].filter((id) => id !== pluginId).sort();
  return ids.flatMap((id) => {
    const installs = installed.get(id) ?? [];
    const meant =
      installs.find(({ project }) => project === root) ??
      installs.find(({ project }) => project === null) ??
      installs[0];
    return meant && existsSync(meant.path) ? { id, scopeId, folder: meant.path } : [];
  });
}

/** The folders of a plugin: the usual ones, and those that its manifest names. */
async function listPluginRoots(
  { id, scopeId, folder }: LoadedPlugin,
  rank: number,
  problems: ItemProblem[],
): Promise<ItemRoot[]> {
  const file = join(folder, ".claude-plugin", "plugin.json");
  const manifest = asObject(await readJson(file, folder, problems)) ?? {};
  const prefix = `${id.slice(0, id.lastIndexOf("@"))}:`;
  const roots: ItemRoot[] = [];
  for (const kind of ["skill", "command", "agent"] as const)
    for (const path of [join(folder, `${kind}s`), ...resolveWithin(folder, manifest[`${kind}s`])]) {
      const isPackage = existsSync(join(path, skillFile));
      const form = kind !== "skill" ? "markdown" : isPackage ? "package" : "packages";
      // A plugin is on this machine because the person installed it.
      const from = { within: folder, checkout: null, owner: "core" as const, draft: false };
      roots.push({ path, kind, form, scopeId, rank, prefix, ...from });
    }
  return [...new Map(roots.map((root) => [`${root.kind} ${root.path}`, root])).values()];
}

/** Paths in a manifest are within the plugin; anything else is not followed. */
function resolveWithin(folder: string, said: unknown): string[] {
  const paths = (Array.isArray(said) ? said : [said]).filter((one) => typeof one === "string");
  return paths
    .map((path) => resolve(folder, path))
    .filter((path) => {
      const way = relative(folder, path);
      return !way.startsWith("..") && !isAbsolute(way) && !/\.\w+$/.test(way);
    });
}

/** The content of a JSON file; null if it does not exist, undefined if it cannot be read. */
async function readJson(path: string, within: string | null, problems: ItemProblem[]): Promise<unknown> {
  try {
    const bytes = readPlainFile(path, { within: within ?? undefined });
    return JSON.parse(bytes.toString("utf8").replace(/^\ufeff/, ""));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    problems.push({
      path,
      severity: "warning",
      message: `It cannot be read: ${message}.`,
      hint: "Fix it; until then Knack cannot tell which plugins are on.",
    });
    return undefined;
  }
}
