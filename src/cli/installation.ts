import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { claudeHome } from "../agents/index.ts";
import { type Home, userHome } from "../config.ts";
import { messageIn } from "../core/errors.ts";
import { isObject, type JsonObject, listOf, objectOf, textOf } from "../core/json.ts";
import type { Env } from "./main.ts";

/** What Claude Code's settings and Knack's own folder say of Knack in Claude Code. Nothing here changes anything. */
export interface Installation {
  /** Claude Code's folder; null where it is not on this machine. */
  readonly config: string | null;
  /** Where Knack generates its plugin, and what it noted there. */
  readonly folder: string;
  readonly paths: Paths | null;
  /** When it was installed; null where it is not. */
  readonly at: number | null;
  /** The settings that may have to do with it, the person's own first. */
  readonly files: readonly SettingsFile[];
}

/** The programs that the plugin was generated for. */
export interface Paths {
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
  /** Where the marketplace called `knack` is; a folder, or words for another source. */
  readonly marketplace: { readonly folder: string | null; readonly says: string } | null;
  /** Whether the plugin is switched on or off; null where nothing is said. */
  readonly isOn: boolean | null;
  /** Other plugins called `knack` that are switched on. */
  readonly others: readonly string[];
  /** Whether it has hooks of its own that start Knack. */
  readonly hasHooks: boolean;
  readonly disablesHooks: boolean;
  /** The variable by which it keeps Knack silent. */
  readonly silencedBy: string | null;
}

/** Reads what there is about Knack in Claude Code, for the person and in these projects. */
export function installationOf(home: Home, roots: readonly (string | null)[], env: Env): Installation {
  const config = claudeFolder(env);
  const folder = join(home.agents, "claude");
  const noted = readJson(join(folder, "installed.json"));
  const touched = listOf(objectOf(noted)?.settings).flatMap((one) => textOf(objectOf(one)?.root) ?? []);
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
    paths: pathsOf(readJson(join(folder, "paths.json"))),
    at: changedAt(join(folder, "installed.json")) ?? changedAt(join(folder, "paths.json")),
    files: [...distinct.values()].reverse().flatMap(({ path, root }) => readSettings(path, root) ?? []),
  };
}

/** Where Claude Code keeps its things. */
function claudeFolder(env: Env): string {
  return claudeHome({ home: userHome(env), env });
}

/** The settings that switch the plugin on. */
export function switchedOn({ files }: Installation): SettingsFile[] {
  return files.filter(({ isOn }) => isOn === true);
}

/** Whether Knack is in Claude Code: for the person, or for these projects. */
export function reachOf(installation: Installation): "nobody" | "everywhere" | readonly string[] {
  const on = switchedOn(installation);
  if (on.length === 0) return "nobody";
  const roots = on.flatMap(({ root }) => root ?? []);
  return roots.length < on.length ? "everywhere" : roots;
}

/** Whether two paths are one place. */
export function isSamePlace(one: string, another: string): boolean {
  return realOf(one) === realOf(another);
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function readSettings(path: string, root: string | null): SettingsFile | null {
  const nothing = {
    path,
    root,
    problem: null,
    marketplace: null,
    isOn: null,
    others: [],
    hasHooks: false,
    disablesHooks: false,
    silencedBy: null,
  };
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? null : { ...nothing, problem: message };
  }
  let settings: unknown;
  try {
    settings = JSON.parse(text.replace(/^\ufeff/, "") || "{}");
  } catch (error) {
    return { ...nothing, problem: messageIn(error) };
  }
  if (!isObject(settings)) return { ...nothing, problem: "it is no object" };
  const plugins = objectOf(settings.enabledPlugins) ?? {};
  const isOn = plugins[pluginId];
  return {
    ...nothing,
    marketplace: marketplaceIn(settings),
    isOn: typeof isOn === "boolean" ? isOn : null,
    others: Object.keys(plugins).filter(
      (id) => id.startsWith("knack@") && id !== pluginId && plugins[id] === true,
    ),
    hasHooks: JSON.stringify(settings.hooks ?? {}).includes("hook.cjs"),
    disablesHooks: settings.disableAllHooks === true,
    silencedBy: silencedBy(objectOf(settings.env) ?? {}),
  };
}

const pluginId = "knack@knack";

function marketplaceIn(settings: JsonObject): SettingsFile["marketplace"] {
  const source = objectOf(objectOf(objectOf(settings.extraKnownMarketplaces)?.knack)?.source);
  if (!source) return null;
  const folder = source.source === "directory" ? textOf(source.path) : null;
  return { folder, says: folder ?? textOf(source.repo) ?? textOf(source.url) ?? String(source.source) };
}

function silencedBy(variables: JsonObject): string | null {
  const isSet = (name: string) =>
    variables[name] !== undefined &&
    !["", "0", "false", "no"].includes(String(variables[name]).toLowerCase());
  return ["KNACK_DISABLE", "CI"].find(isSet) ?? null;
}

function pathsOf(value: unknown): Paths | null {
  const noted = objectOf(value);
  const [version, node, hook] = ["version", "node", "hook"].map((name) => textOf(noted?.[name]));
  return version && node && hook ? { version, node, hook } : null;
}

/** What a file of JSON says; undefined where there is none, or it is broken. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

function changedAt(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
