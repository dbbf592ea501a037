import { JsonText, type KeyEdit, type KeyPath } from "./edits.ts";
import { TomlText } from "./toml-text.ts";

export type ConfigFormat = "json" | "toml";

/** A settings file in which values are set and removed while every other byte stays. */
export interface ConfigText {
  /** Why the text cannot be edited; null when it can. */
  readonly problem: string | null;
  read(path: KeyPath): unknown;
  /** The raw source of a key's value; null if missing. */
  readWritten(path: KeyPath): string | null;
  set(path: KeyPath, value: unknown): KeyEdit;
  setWritten(path: KeyPath, written: string): string;
  remove(path: KeyPath): string;
  /** The text with one more value at the end of a list, or in the place of one that is there. */
  setItem(path: KeyPath, value: unknown, at: number | null): KeyEdit;
  removeItem(path: KeyPath, at: number): string;
}

export function openConfigText(format: ConfigFormat, text: string): ConfigText {
  return format === "json" ? new JsonText(text) : new TomlText(text);
}
