import { cp, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Program } from "./claude-plugin.ts";
import { isThere } from "./settings-file.ts";

/** Where Knack keeps copies of itself. */
function appFolder(knackHome: string): string {
  return join(knackHome, "app");
}

/** The program where it will stay, and what has to be copied for that: npx keeps packages in a cache that may be emptied. */
export interface Settled {
  readonly program: Program;
  readonly copy: { readonly from: string; readonly to: string } | null;
}

export function settle(program: Program, knackHome: string): Settled {
  const parts = program.cli.split(sep);
  const packages = parts.lastIndexOf("node_modules");
  if (!parts.includes("_npx") || packages === -1) return { program, copy: null };
  const from = parts.slice(0, packages + 1).join(sep);
  const to = join(appFolder(knackHome), program.version);
  const moved = (path: string) => join(to, "node_modules", relative(from, path));
  return {
    program: {
      ...program,
      cli: moved(program.cli),
      hook: moved(program.hook),
      template: moved(program.template),
    },
    copy: { from, to },
  };
}

/** Makes the copy, whole or not at all; one that is there stays. */
export async function copyApp({ from, to }: { readonly from: string; readonly to: string }): Promise<void> {
  if (await isThere(to)) return;
  const staged = `${to}.new-${process.pid}`;
  await mkdir(staged, { recursive: true });
  try {
    await cp(from, join(staged, "node_modules"), { recursive: true, verbatimSymlinks: true });
    await rename(staged, to).catch(async (error: unknown) => {
      // Another process was first.
      if (!(await isThere(to))) throw error;
    });
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

export async function removeStaleApps(program: Program, knackHome: string): Promise<void> {
  for (const path of await staleApps(program, knackHome)) await rm(path, { recursive: true, force: true });
}

/** The copies that this program does not run from, and that no session which is still open was started with. */
export async function staleApps(program: Program, knackHome: string): Promise<string[]> {
  const folder = appFolder(knackHome);
  const names = await readdir(folder).catch(() => []);
  const others = names
    .map((name) => join(folder, name))
    .filter((path) => !program.hook.startsWith(path + sep));
  const ages = await Promise.all(others.map(async (path) => Date.now() - (await stat(path)).mtimeMs));
  return others.filter((_, at) => (ages[at] ?? 0) > longestSession);
}

const longestSession = 7 * 86_400_000;

/** Removes all copies. */
export async function removeApps(knackHome: string): Promise<void> {
  await rm(appFolder(knackHome), { recursive: true, force: true });
}

export async function hasApps(knackHome: string): Promise<boolean> {
  return isThere(appFolder(knackHome));
}
