import { existsSync } from "node:fs";
import { rm, rmdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { KnackError } from "../core/errors.ts";
import { hasApps, removeApps } from "./app-copy.ts";
import { digestOf, type For, type InstallDeps, settingsPath } from "./claude-install.ts";
import { restoreNotes } from "./claude-notes.ts";
import { marketplaceFolder, pluginId } from "./claude-plugin.ts";
import { type Installed, readRecord, recordPath, recordText, type Touched } from "./claude-record.ts";
import { namesPlugin, undoneIn, usualKeys, withoutPlugin } from "./claude-settings.ts";
import { type Act, actOf, type Deed } from "./deed.ts";
import { claudeHome } from "./index.ts";
import { whyNotEditable } from "./json-text.ts";
import { removePlugin } from "./plugin-files.ts";
import { isThere, put, readSettings, refuseUnwritable, remove } from "./settings-file.ts";

export interface Uninstallation {
  /** Nothing where nothing is installed. */
  readonly acts: readonly Act[];
  /** The settings that still switch the plugin on, for others. */
  readonly remaining: readonly string[];
}

/** What taking the plugin out would do. */
export async function planUninstall(deps: InstallDeps, whom: For): Promise<Uninstallation> {
  return (await prepare(deps, whom)).uninstallation;
}

/** Takes the plugin out and leaves every file as it was; what was learned stays. */
export async function uninstall(deps: InstallDeps, whom: For): Promise<Uninstallation> {
  const { uninstallation, deeds } = await prepare(deps, whom);
  for (const deed of deeds) await deed.perform();
  // Knack's own folder holds nothing when nothing was learned.
  if (deeds.length > 0) await rmdir(deps.knackHome).catch(() => {});
  return uninstallation;
}

async function prepare(
  deps: InstallDeps,
  whom: For,
): Promise<{ uninstallation: Uninstallation; deeds: Deed[] }> {
  const { library, knackHome } = deps;
  const path = settingsPath(deps, whom);
  const record = await readRecord(library, knackHome);
  const noted = record.settings.find((one) => one.path === path);
  // With a project's folder went what was changed in it.
  const gone = record.settings.filter(({ root }) => root !== null && !existsSync(root));
  const settings = record.settings.filter((one) => one !== noted && !gone.includes(one));
  const remaining = settings.map((one) => one.path);
  const own = await settingsDeed(deps, path, noted);
  if (!noted && !own && gone.length === 0) return { uninstallation: { acts: [], remaining }, deeds: [] };
  const config = noted?.config ?? claudeHome(deps);
  const isLast = !settings.some((one) => one.config === config);
  const notes = record.notes.filter((one) => !isLast || one.config !== config);
  const deeds: Deed[] = [
    ...(own ? [own] : []),
    ...(noted ? await aroundDeeds(library, noted) : []),
    ...(isLast ? await notesDeeds(deps, record, config) : []),
    ...(settings.length > 0 ? [recordDeed(deps, { settings, notes })] : await programDeeds(knackHome)),
  ];
  return { uninstallation: { acts: deeds.map(actOf), remaining }, deeds };
}

/** Takes the keys out of the settings; null where they are not in them. */
async function settingsDeed(
  { library, knackHome }: InstallDeps,
  path: string,
  noted: Touched | undefined,
): Promise<Deed | null> {
  const read = await readSettings(library, path);
  if (read === null) return null;
  if (!noted && !(whyNotEditable(read.text) === null && namesPlugin(read.text, knackHome))) return null;
  const { text, isRestored } = takenOut(read.text, noted, path, knackHome);
  if (text === read.text) return null;
  await refuseUnwritable(path);
  if (text === null)
    return {
      path,
      what: "remove",
      says: "it was made for Knack, and nothing else is in it",
      perform: () => remove(library, path, read.hash),
    };
  return {
    path,
    what: "write",
    says: isRestored ? "as it was before" : "without Knack's keys; it has changed since, and the rest stays",
    perform: () => put(library, path, text, read.hash),
  };
}

/** The settings without Knack: as they were, byte for byte, if nobody has touched them; null when the file was Knack's alone. */
function takenOut(
  text: string,
  noted: Touched | undefined,
  path: string,
  knackHome: string,
): { readonly text: string | null; readonly isRestored: boolean } {
  const before = noted && digestOf(text) === noted.after ? undoneIn(text, noted.edits) : null;
  if (noted && before !== null) return { text: noted.isNew ? null : before, isRestored: true };
  const why = whyNotEditable(text);
  if (why !== null)
    throw new KnackError("CONFIG_BROKEN", `Settings in ${path} cannot be changed: ${why}.`, {
      hint: `Mend the file, or take ${pluginId} out by hand; nothing was changed.`,
    });
  const rest = withoutPlugin(text, noted?.keys ?? usualKeys, knackHome);
  const isEmpty = noted?.isNew === true && /^\s*\{\s*\}\s*$/.test(rest);
  return { text: isEmpty ? null : rest, isRestored: false };
}

/** What was done around a settings file: its folders, and the line that keeps it out of git. */
async function aroundDeeds(
  library: InstallDeps["library"],
  { path, root, excluded, excludes, folders }: Touched,
): Promise<Deed[]> {
  const deeds: Deed[] = [];
  if (excluded && root !== null && (await isThere(join(root, ".git"))))
    deeds.push({
      path: join(root, ".git"),
      what: "write",
      says: `info/exclude: without ${relative(root, path)}`,
      perform: async () => {
        await library.unexclude(root, path);
        if (excludes !== null && (await stat(excludes).catch(() => null))?.size === 0) await rm(excludes);
      },
    });
  const [outermost] = folders;
  if (outermost !== undefined)
    deeds.push({
      path: outermost,
      what: "remove",
      says: "it was made for Knack; it stays if something else is in it",
      perform: async () => {
        for (const folder of [...folders].reverse()) await rmdir(folder).catch(() => {});
      },
    });
  return deeds;
}

/** What Claude Code itself has noted. */
async function notesDeeds(
  { library, knackHome }: InstallDeps,
  record: Installed,
  config: string,
): Promise<Deed[]> {
  const before = record.notes.find((one) => one.config === config);
  return before ? restoreNotes(library, before, knackHome) : [];
}

function recordDeed({ library, knackHome }: InstallDeps, record: Installed): Deed {
  const path = recordPath(knackHome);
  return {
    path,
    what: "write",
    says: "what is installed elsewhere stays",
    perform: () => put(library, path, recordText(record)),
  };
}

async function programDeeds(knackHome: string): Promise<Deed[]> {
  const deeds: Deed[] = [
    {
      path: marketplaceFolder(knackHome),
      what: "remove",
      says: "the generated plugin",
      perform: () => removePlugin(knackHome),
    },
  ];
  if (await hasApps(knackHome))
    deeds.push({
      path: join(knackHome, "app"),
      what: "remove",
      says: "the copy of Knack that the plugin ran",
      perform: () => removeApps(knackHome),
    });
  return deeds;
}
