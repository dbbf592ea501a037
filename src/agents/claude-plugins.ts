import { readdir, readFile, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import { asObject, asString } from "../base/index.ts";
import { type ItemRoot, skillFile } from "../library/index.ts";
import type { ItemProblem } from "../records/index.ts";
import { pluginId } from "./claude-plugin.ts";

/** A plugin that Claude Code loads for somebody. */
interface LoadedPlugin {
  /** `plugin@marketplace`. */
  readonly id: string;
  readonly scopeId: string;
  readonly folder: string;
}

/** The folders of the plugins that Claude Code loads, as far as its own files tell which these are. */
export async function findPluginRoots(
  home: string,
  projects: readonly { readonly id: string; readonly root: string }[],
  rank: number,
): Promise<{ roots: ItemRoot[]; problems: ItemProblem[] }> {
  const problems: ItemProblem[] = [];
  const installed = await readInstalled(home, problems);
  const everywhere = await readEnabled([join(home, "settings.json")], problems);
  const loaded = await findLoaded("user", null, installed, everywhere, home);
  for (const { id, root } of projects) {
    const files = ["settings.json", "settings.local.json"].map((name) => join(root, ".claude", name));
    const here = await readEnabled(files, problems);
    // What the person has everywhere is the person's; a project adds to it.
    const own = here && new Set([...here].filter((plugin) => !everywhere?.has(plugin)));
    if (own && own.size > 0) loaded.push(...(await findLoaded(id, root, installed, own, home)));
  }
  const roots = await Promise.all(
    loaded.filter(({ id }) => id !== pluginId).map((plugin) => listPluginRoots(plugin, rank, problems)),
  );
  return { roots: roots.flat(), problems };
}

/** Where each plugin is installed, and for which project; null for everywhere. */
type InstalledPlugins = ReadonlyMap<
  string,
  readonly { readonly path: string; readonly project: string | null }[]
>;

/** What is installed, by plugin; null where Claude Code's list says nothing. */
async function readInstalled(home: string, problems: ItemProblem[]): Promise<InstalledPlugins | null> {
  const list = asObject(await readJson(join(home, "plugins", "installed_plugins.json"), problems));
  const plugins = asObject(list?.plugins);
  if (!plugins) return null;
  return new Map(
    Object.entries(plugins).map(([id, said]) => {
      // The list's first form had one entry for each, not several.
      const entries = (Array.isArray(said) ? said : [said]).map(asObject);
      const installs = entries.flatMap((entry) => {
        const path = asString(entry?.installPath);
        return path === null ? [] : [{ path, project: asString(entry?.projectPath) }];
      });
      return [id, installs];
    }),
  );
}

/** The plugins that settings switch on, later files over earlier ones; null where one cannot be read. */
async function readEnabled(paths: readonly string[], problems: ItemProblem[]): Promise<Set<string> | null> {
  const enabled = new Set<string>();
  for (const path of paths) {
    const read = await readJson(path, problems);
    if (read === unreadable) return null;
    for (const [id, on] of Object.entries(asObject(asObject(read)?.enabledPlugins) ?? {}))
      on === false ? enabled.delete(id) : enabled.add(id);
  }
  return enabled;
}

/** Where each plugin that is on lies. Where it cannot be told which are on, that is all there are. */
async function findLoaded(
  scopeId: string,
  root: string | null,
  installed: InstalledPlugins | null,
  enabled: ReadonlySet<string> | null,
  home: string,
): Promise<LoadedPlugin[]> {
  const cache = join(home, "plugins", "cache");
  const ids = enabled ?? new Set(installed?.keys() ?? (await listCached(cache)));
  const loaded: LoadedPlugin[] = [];
  for (const id of [...ids].sort()) {
    const installs = installed?.get(id) ?? [];
    // The list goes before the cache: that also holds versions that were replaced.
    if (installed && installs.length === 0) continue;
    const meant =
      installs.find(({ project }) => project === root) ??
      installs.find(({ project }) => project === null) ??
      installs[0];
    const isThere = meant && (await stat(meant.path).catch(() => null))?.isDirectory();
    const folder = isThere ? meant.path : await findNewest(cache, id);
    if (folder) loaded.push({ id, scopeId, folder });
  }
  return loaded;
}

/** The plugins that the cache has: `marketplace/plugin/version`. */
async function listCached(cache: string): Promise<string[]> {
  const ids: string[] = [];
  for (const marketplace of await listFolders(cache))
    for (const plugin of await listFolders(join(cache, marketplace))) ids.push(`${plugin}@${marketplace}`);
  return ids;
}

async function findNewest(cache: string, id: string): Promise<string | null> {
  const at = id.lastIndexOf("@");
  const [plugin, marketplace] = [id.slice(0, at), id.slice(at + 1)];
  if (![plugin, marketplace].every(isPlainName)) return null;
  const folder = join(cache, marketplace, plugin);
  const versions = (await listFolders(folder)).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const newest = versions.at(-1);
  return newest === undefined ? null : join(folder, newest);
}

/** The folders of a plugin: the usual ones, and those that its manifest names. */
async function listPluginRoots(
  { id, scopeId, folder }: LoadedPlugin,
  rank: number,
  problems: ItemProblem[],
): Promise<ItemRoot[]> {
  const manifest = asObject(await readJson(join(folder, ".claude-plugin", "plugin.json"), problems)) ?? {};
  const prefix = `${id.slice(0, id.lastIndexOf("@"))}:`;
  const roots: ItemRoot[] = [];
  for (const kind of ["skill", "command", "agent"] as const)
    for (const path of [join(folder, `${kind}s`), ...resolveWithin(folder, manifest[`${kind}s`])]) {
      const isPackage = (await stat(join(path, skillFile)).catch(() => null))?.isFile();
      const form = kind !== "skill" ? "markdown" : isPackage ? "package" : "packages";
      roots.push({ path, kind, form, scopeId, rank, prefix, owner: "core", draft: false });
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

async function listFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory() && isPlainName(entry.name)).map(({ name }) => name);
}

function isPlainName(name: string): boolean {
  return name !== "" && !name.startsWith(".") && !/[\\/]/.test(name);
}

/** Stands for a file that is there and cannot be read. */
const unreadable = Symbol("unreadable");

/** What a JSON file says; null where there is none. */
async function readJson(path: string, problems: ItemProblem[]): Promise<unknown> {
  try {
    return JSON.parse((await readFile(path, "utf8")).replace(/^\ufeff/, ""));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    problems.push({
      path,
      severity: "warning",
      message: `It cannot be read: ${message}.`,
      hint: "Fix it; until then Knack cannot tell which plugins are on.",
    });
    return unreadable;
  }
}
