import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { claudeHome } from "../../agents/index.ts";
import { asArray, asObject, asString, errorMessage, isObject, type JsonObject } from "../../base/index.ts";
import { type Home, userHome } from "../../settings/index.ts";
import type { CliEnv } from "../command.ts";

/** What Claude Code's settings and Knack's own folder say about Knack in Claude Code. */
export interface PluginInstallation {
  /** Claude Code's folder; null where it is not on this machine. */
  readonly config: string | null;
  /** Where Knack generates its plugin, and the programs it was generated for. */
  readonly folder: string;
  readonly paths: PluginPrograms | null;
  /** When it was installed; null where it is not. */
  readonly at: number | null;
  /** The settings files that may mention it, the person's own first. */
  readonly files: readonly SettingsFile[];
}

interface PluginPrograms {
  readonly version: string;
  readonly node: string;
  readonly hook: string;
}

export interface SettingsFile {
  readonly path: string;
  /** The project it is for; null for the person's own. */
  readonly root: string | null;
  /** Why it cannot be read. */
  readonly problem: string | null;
  /** Where the marketplace called `knack` is: a folder, or the name of another source. */
  readonly marketplace: { readonly folder: string | null; readonly says: string } | null;
  /** Whether the plugin is enabled; null where the file does not say. */
  readonly isOn: boolean | null;
  /** Other plugins called `knack` that are enabled. */
  readonly others: readonly string[];
  /** Whether it has hooks that start Knack besides the plugin's. */
  readonly hasHooks: boolean;
  readonly disablesHooks: boolean;
  /** The environment variable by which it disables Knack. */
  readonly silencedBy: string | null;
}

/** Reads the settings about Knack in Claude Code, for the person and in these projects. */
export function readInstallation(
  home: Home,
  roots: readonly (string | null)[],
  env: CliEnv,
): PluginInstallation {
  const config = claudeHome({ home: userHome(env), env });
  const folder = join(home.agents, "claude");
  const noted = readJson(join(folder, "installed.json"));
  const touched = asArray(asObject(noted)?.settings).flatMap((one) => asString(asObject(one)?.root) ?? []);
  const projects = [...new Set([...roots, ...touched].flatMap((root) => root ?? []))];
  const places = [
    { path: join(config, "settings.json"), root: null },
    ...projects.flatMap((root) =>
      ["settings.json", "settings.local.json"].map((name) => ({ path: join(root, ".claude", name), root })),
    ),
  ];
  const distinct = new Map(places.reverse().map((place) => [place.path, place]));
  return {
    config: existsSync(config) ? config : null,
    folder,
    paths: readPrograms(readJson(join(folder, "paths.json"))),
    at: changedAt(join(folder, "installed.json")) ?? changedAt(join(folder, "paths.json")),
    files: [...distinct.values()].reverse().flatMap(({ path, root }) => readSettings(path, root) ?? []),
  };
}

/** The settings files that enable the plugin. */
export function listEnabling({ files }: PluginInstallation): SettingsFile[] {
  return files.filter(({ isOn }) => isOn === true);
}

/** Where Knack is enabled in Claude Code: nowhere, everywhere, or in these projects. */
export function findReach(installation: PluginInstallation): "nowhere" | "everywhere" | readonly string[] {
  const on = listEnabling(installation);
  if (on.length === 0) return "nowhere";
  const roots = on.flatMap(({ root }) => root ?? []);
  return roots.length < on.length ? "everywhere" : roots;
}

/** Whether two paths lead to the same file or folder. */
export function isSamePath(one: string, another: string): boolean {
  return resolvePath(one) === resolvePath(another);
}

function resolvePath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function readSettings(path: string, root: string | null): SettingsFile | null {
  let settings: unknown = {};
  let problem: string | null = null;
  try {
    settings = JSON.parse(readFileSync(path, "utf8").replace(/^\ufeff/, "") || "{}");
    if (!isObject(settings)) problem = "it is not a JSON object";
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR"].includes(code)) return null;
    problem = errorMessage(error);
  }
  const own = asObject(settings) ?? {};
  const plugins = asObject(own.enabledPlugins) ?? {};
  const isOn = plugins[pluginId];
  return {
    path,
    root,
    problem,
    marketplace: readMarketplace(own),
    isOn: typeof isOn === "boolean" ? isOn : null,
    others: Object.keys(plugins).filter(
      (id) => id.startsWith("knack@") && id !== pluginId && plugins[id] === true,
    ),
    hasHooks: JSON.stringify(own.hooks ?? {}).includes("hook.cjs"),
    disablesHooks: own.disableAllHooks === true,
    silencedBy: findSilencer(asObject(own.env) ?? {}),
  };
}

const pluginId = "knack@knack";

function readMarketplace(settings: JsonObject): SettingsFile["marketplace"] {
  const source = asObject(asObject(asObject(settings.extraKnownMarketplaces)?.knack)?.source);
  if (!source) return null;
  const folder = source.source === "directory" ? asString(source.path) : null;
  return { folder, says: folder ?? asString(source.repo) ?? asString(source.url) ?? String(source.source) };
}

function findSilencer(variables: JsonObject): string | null {
  const isSet = (name: string) =>
    variables[name] !== undefined &&
    !["", "0", "false", "no"].includes(String(variables[name]).toLowerCase());
  return ["KNACK_DISABLE", "CI"].find(isSet) ?? null;
}

function readPrograms(value: unknown): PluginPrograms | null {
  const noted = asObject(value);
  const [version, node, hook] = ["version", "node", "hook"].map((name) => asString(noted?.[name]));
  return version && node && hook ? { version, node, hook } : null;
}

/** The value in a JSON file; undefined where there is none, or it is broken. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** When a file was last written; null where there is none. */
export function changedAt(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
