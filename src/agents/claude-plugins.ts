import { readdir, readFile, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import type { ItemProblem } from "../core/item.ts";
import { objectOf, textOf } from "../core/json.ts";
import { skillFile } from "../core/skill.ts";
import type { ItemRoot } from "../engine/ports.ts";
import { pluginId } from "./claude-plugin.ts";

interface Project {
  readonly id: string;
  readonly root: string;
}

/** A plugin that Claude Code loads for somebody. */
interface Loaded {
  /** `plugin@marketplace`. */
  readonly id: string;
  readonly realm: string;
  readonly folder: string;
}

/** The folders of the plugins that Claude Code loads, as far as its own files tell which these are. */
export async function pluginRoots(
  home: string,
  projects: readonly Project[],
  rank: number,
): Promise<{ roots: ItemRoot[]; problems: ItemProblem[] }> {
  const problems: ItemProblem[] = [];
  const installed = await installedIn(home, problems);
  const everywhere = await enabledBy([join(home, "settings.json")], problems);
  const loaded = await loadedFor("user", null, installed, everywhere, home);
  for (const { id, root } of projects) {
    const folder = join(root, ".claude");
    const here = await enabledBy(
      [join(folder, "settings.json"), join(folder, "settings.local.json")],
      problems,
    );
    // What the person has everywhere is the person's; a project adds to it.
    const own = here && new Set([...here].filter((plugin) => !everywhere?.has(plugin)));
    if (own && own.size > 0) loaded.push(...(await loadedFor(id, root, installed, own, home)));
  }
  const roots = await Promise.all(
    loaded.filter(({ id }) => id !== pluginId).map((plugin) => rootsOf(plugin, rank, problems)),
  );
  return { roots: roots.flat(), problems };
}

type Installs = ReadonlyMap<string, readonly Install[]>;

interface Install {
  readonly path: string;
  /** The project it is installed for; null for everywhere. */
  readonly project: string | null;
}

/** What is installed, by plugin; null where Claude Code's list says nothing. */
async function installedIn(home: string, problems: ItemProblem[]): Promise<Installs | null> {
  const list = objectOf(await jsonAt(join(home, "plugins", "installed_plugins.json"), problems));
  const plugins = objectOf(list?.plugins);
  if (!plugins) return null;
  return new Map(
    Object.entries(plugins).map(([id, said]) => {
      // The list's first form had one entry for each, not several.
      const entries = (Array.isArray(said) ? said : [said]).map(objectOf);
      return [
        id,
        entries.flatMap((entry) =>
          typeof entry?.installPath === "string"
            ? [{ path: entry.installPath, project: textOf(entry.projectPath) }]
            : [],
        ),
      ];
    }),
  );
}

/** The plugins that settings switch on, a later file's word over an earlier one's; null where one cannot be read. */
async function enabledBy(paths: readonly string[], problems: ItemProblem[]): Promise<Set<string> | null> {
  const enabled = new Set<string>();
  for (const path of paths) {
    const read = await jsonAt(path, problems);
    if (read === unknown) return null;
    for (const [id, on] of Object.entries(objectOf(objectOf(read)?.enabledPlugins) ?? {}))
      on === false ? enabled.delete(id) : enabled.add(id);
  }
  return enabled;
}

/** Where each plugin that is on lies. Where it cannot be told which are on, that is all there are. */
async function loadedFor(
  realm: string,
  root: string | null,
  installed: Installs | null,
  enabled: ReadonlySet<string> | null,
  home: string,
): Promise<Loaded[]> {
  const cache = join(home, "plugins", "cache");
  const ids = enabled ?? new Set(installed?.keys() ?? (await cachedIn(cache)));
  const loaded: Loaded[] = [];
  for (const id of [...ids].sort()) {
    const installs = installed?.get(id) ?? [];
    // The list goes before the cache: that also holds versions that were replaced.
    if (installed && installs.length === 0) continue;
    const meant =
      installs.find(({ project }) => project === root) ??
      installs.find(({ project }) => project === null) ??
      installs[0];
    const folder = meant && (await isFolder(meant.path)) ? meant.path : await newestOf(cache, id);
    if (folder) loaded.push({ id, realm, folder });
  }
  return loaded;
}

/** The plugins that the cache has: `marketplace/plugin/version`. */
async function cachedIn(cache: string): Promise<string[]> {
  const ids: string[] = [];
  for (const marketplace of await namesIn(cache))
    for (const plugin of await namesIn(join(cache, marketplace))) ids.push(`${plugin}@${marketplace}`);
  return ids;
}

async function newestOf(cache: string, id: string): Promise<string | null> {
  const [plugin = "", marketplace = ""] = [
    id.slice(0, id.lastIndexOf("@")),
    id.slice(id.lastIndexOf("@") + 1),
  ];
  if (![plugin, marketplace].every(isPlainName)) return null;
  const folder = join(cache, marketplace, plugin);
  const versions = (await namesIn(folder)).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const newest = versions.at(-1);
  return newest === undefined ? null : join(folder, newest);
}

/** The folders of a plugin: the usual ones, and those that its manifest names. */
async function rootsOf(
  { id, realm, folder }: Loaded,
  rank: number,
  problems: ItemProblem[],
): Promise<ItemRoot[]> {
  const manifest = objectOf(await jsonAt(join(folder, ".claude-plugin", "plugin.json"), problems)) ?? {};
  const prefix = `${id.slice(0, id.lastIndexOf("@"))}:`;
  const roots: ItemRoot[] = [];
  for (const { kind, name } of parts)
    for (const path of [join(folder, name), ...namedIn(manifest[name], folder)]) {
      const form = kind !== "skill" ? "markdown" : (await isPackage(path)) ? "package" : "packages";
      roots.push({ path, kind, form, realm, rank, prefix, owner: "core", draft: false });
    }
  return [...new Map(roots.map((root) => [`${root.kind} ${root.path}`, root])).values()];
}

const parts = [
  { kind: "skill", name: "skills" },
  { kind: "command", name: "commands" },
  { kind: "agent", name: "agents" },
] as const;

/** Paths in a manifest are within the plugin; anything else is not followed. */
function namedIn(said: unknown, folder: string): string[] {
  const paths = (Array.isArray(said) ? said : [said]).filter((one) => typeof one === "string");
  return paths
    .map((path) => resolve(folder, path))
    .filter((path) => {
      const way = relative(folder, path);
      return !way.startsWith("..") && !isAbsolute(way) && !/\.\w+$/.test(way);
    });
}

async function isPackage(path: string): Promise<boolean> {
  return stat(join(path, skillFile)).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory() && isPlainName(entry.name)).map(({ name }) => name);
}

function isPlainName(name: string): boolean {
  return name !== "" && !name.startsWith(".") && !/[\\/]/.test(name);
}

/** Says that a file is there and cannot be read. */
const unknown = Symbol("unknown");

/** What a JSON file says; null where there is none. */
async function jsonAt(path: string, problems: ItemProblem[]): Promise<unknown> {
  try {
    return JSON.parse((await readFile(path, "utf8")).replace(/^\ufeff/, ""));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    problems.push({
      path,
      severity: "warning",
      message: `It cannot be read: ${message}.`,
      hint: "Mend it; until then Knack cannot tell which plugins are on.",
    });
    return unknown;
  }
}
