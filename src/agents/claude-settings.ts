import { marketplaceFolder, pluginId, pluginName } from "./claude-plugin.ts";
import type { Touched, TouchedKey } from "./claude-record.ts";
import {
  type Edit,
  isSame,
  type KeyPath,
  undone,
  valueAt,
  withKey,
  withoutKey,
  withWritten,
  writtenAt,
} from "./json-text.ts";

/** The two keys that make Claude Code load the plugin. */
const marketplaceKey: KeyPath = ["extraKnownMarketplaces", pluginName];
const enabledKey: KeyPath = ["enabledPlugins", pluginId];

function wanted(knackHome: string): readonly { readonly path: KeyPath; readonly value: unknown }[] {
  const source = { source: "directory", path: marketplaceFolder(knackHome) };
  return [
    { path: marketplaceKey, value: { source } },
    { path: enabledKey, value: true },
  ];
}

/** What installing makes of the settings. */
export type Setting =
  | {
      readonly ok: true;
      readonly text: string;
      readonly edits: readonly Edit[];
      readonly keys: readonly TouchedKey[];
    }
  | { readonly ok: false; readonly because: string };

/** The settings with Knack's plugin in them. */
export function withPlugin(before: string, knackHome: string): Setting {
  let text = before;
  const edits: Edit[] = [];
  const keys: TouchedKey[] = [];
  for (const { path, value } of wanted(knackHome)) {
    const isAround = valueAt(text, [path[0]]) === undefined;
    const replaced = writtenAt(text, path);
    const set = withKey(text, path, value);
    if (!set.ok) return set;
    if (set.edit) {
      edits.push(set.edit);
      keys.push({ path, replaced, isAround });
    }
    text = set.text;
  }
  return { ok: true, text, edits, keys };
}

/** Whether somebody has switched the plugin off. */
export function isSwitchedOff(text: string): boolean {
  return valueAt(text, enabledKey) === false;
}

/** Whether the settings name this Knack's marketplace. */
export function namesPlugin(text: string, knackHome: string): boolean {
  return wanted(knackHome).some(
    ({ path, value }) => path === marketplaceKey && isSame(valueAt(text, path), value),
  );
}

/** The settings as they were before an install, when nobody else has changed them since. */
export function undoneIn(text: string, edits: readonly Edit[]): string | null {
  return edits.reduceRight<string | null>((now, edit) => (now !== null ? undone(now, edit) : null), text);
}

/** The settings without what an install put in, when somebody else has changed them since; the rest stays. */
export function withoutPlugin(text: string, keys: Touched["keys"], knackHome: string): string {
  const marketplace = valueAt(text, marketplaceKey);
  // A marketplace of this name from another place is not Knack's to take away, nor is the plugin from there.
  if (marketplace !== undefined && !namesPlugin(text, knackHome)) return text;
  return keys.reduce((now, { path, replaced, isAround }) => {
    if (valueAt(now, path) === undefined) return now;
    if (replaced !== null) return withWritten(now, path, replaced);
    const without = withoutKey(now, path);
    return isAround && isSame(valueAt(without, [path[0]]), {}) ? withoutKey(without, [path[0]]) : without;
  }, text);
}

/** The keys by which a plugin is known where nothing was noted about its install. */
export const usualKeys: readonly TouchedKey[] = [marketplaceKey, enabledKey].map((path) => ({
  path,
  replaced: null,
  isAround: false,
}));
