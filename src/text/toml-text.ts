import { parse, stringify, TomlError } from "smol-toml";
import { type KeyEdit, type KeyPath, sameJson } from "./edits.ts";

/** The lines of one table, from its header to its last value. */
interface Block {
  readonly start: number;
  readonly end: number;
}

/** A TOML text in which tables are set and removed while every other byte stays. Lists of it are left alone. */
export class TomlText {
  readonly problem: string | null;
  private readonly text: string;
  private readonly root: unknown;

  constructor(text: string) {
    this.text = text;
    const read = readToml(text);
    this.problem = read.ok ? null : read.because;
    this.root = read.ok ? read.value : {};
  }

  read(path: KeyPath): unknown {
    return path.reduce<unknown>((table, key) => readKey(table, key), this.root);
  }

  readWritten(path: KeyPath): string | null {
    const blocks = this.findBlocks(path);
    return blocks.length === 0 ? null : blocks.map(({ start, end }) => this.text.slice(start, end)).join("");
  }

  /** The text with a table set: in its place, or at the end. */
  set(path: KeyPath, value: unknown): KeyEdit {
    if (sameJson(this.read(path), value)) return { ok: true, text: this.text, edit: null };
    const { text, lineEnd } = this;
    const written = stringify(nestValue(path, value)).replace(/\n*$/, "\n").replaceAll("\n", lineEnd);
    const [first, ...more] = this.findBlocks(path);
    const gap = text === "" ? "" : `${/[\r\n]$/.test(text) ? "" : lineEnd}${lineEnd}`;
    const edit = first
      ? { offset: first.start, removed: text.slice(first.start, first.end), inserted: written }
      : { offset: text.length, removed: "", inserted: gap + written };
    const { offset, removed, inserted } = edit;
    const now = text.slice(0, offset) + inserted + text.slice(offset + removed.length);
    // Whoever wrote it in another form, as an inline table or with dotted keys, meant it so.
    const isSet = more.length === 0 && sameJson(new TomlText(now).read(path), value);
    return isSet
      ? { ok: true, text: now, edit }
      : { ok: false, because: `${path.join(".")} is no table of its own` };
  }

  setWritten(path: KeyPath, written: string): string {
    const [first] = this.findBlocks(path);
    if (!first) return this.text;
    const without = this.cut(this.findBlocks(path), false);
    return without.slice(0, first.start) + written + without.slice(first.start);
  }

  /** The text without a table and those below it; as it was where it is written in another form. */
  remove(path: KeyPath): string {
    const without = this.cut(this.findBlocks(path), true);
    const expected = structuredClone(this.root);
    const holder = path.slice(0, -1).reduce<unknown>((table, key) => readKey(table, key), expected);
    if (typeof holder === "object" && holder !== null)
      delete (holder as Record<string, unknown>)[path.at(-1) ?? ""];
    const read = readToml(without);
    return read.ok && sameJson(withoutEmpty(read.value), withoutEmpty(expected)) ? without : this.text;
  }

  setItem(path: KeyPath): KeyEdit {
    return { ok: false, because: `${path.join(".")} is a list in TOML, which is not edited` };
  }

  removeItem(): string {
    return this.text;
  }

  private get lineEnd(): string {
    return /\r\n|\n/.exec(this.text)?.[0] ?? "\n";
  }

  /** Without these lines, and without the empty line that set each apart. */
  private cut(blocks: readonly Block[], withGap: boolean): string {
    return blocks.reduceRight((text, { start, end }) => {
      const before = text.slice(0, start);
      const rest = text.slice(end);
      return (withGap ? before.replace(/(^|\n)\r?\n$/, "$1") : before) + rest;
    }, this.text);
  }

  /** The blocks of a table and of those below it. */
  private findBlocks(path: KeyPath): Block[] {
    const lines = this.text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    const blocks: Block[] = [];
    let [offset, start, end] = [0, -1, -1];
    const close = () => {
      if (start >= 0) blocks.push({ start, end });
      start = -1;
    };
    let quotes: string | null = null;
    for (const line of lines) {
      const header = quotes === null ? readHeader(line) : null;
      quotes = findOpenQuotes(line, quotes);
      if (header !== null) {
        close();
        if (path.every((key, at) => header[at] === key)) start = offset;
      }
      offset += line.length;
      // What stands after the last value may be about the next table.
      if (header !== null || !/^(?:#.*)?$/.test(line.trim())) end = offset;
    }
    close();
    return blocks;
  }
}

function readToml(text: string): { ok: true; value: unknown } | { ok: false; because: string } {
  try {
    return { ok: true, value: parse(text.replace(/^\ufeff/, "")) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { ok: false, because: `it is no TOML (line ${error.line})` };
  }
}

/** The names in a line that begins a table; null for any other line. */
function readHeader(line: string): string[] | null {
  if (!/^\s*\[.*\]\s*(?:#.*)?$/.test(line.trimEnd())) return null;
  const read = readToml(line);
  if (!read.ok) return null;
  const names: string[] = [];
  for (let table = read.value; ; ) {
    const inner = Array.isArray(table) ? table[0] : table;
    const [name] = Object.keys((inner ?? {}) as object);
    if (name === undefined) return names;
    names.push(name);
    table = (inner as Record<string, unknown>)[name];
  }
}

/** The quotes of a text that goes on after a line; null where none does. */
function findOpenQuotes(line: string, before: string | null): string | null {
  let open = before;
  for (const [quotes] of line.matchAll(/"""|'''/g))
    if (open === null) open = quotes;
    else if (open === quotes) open = null;
  return open;
}

function readKey(table: unknown, key: string): unknown {
  return typeof table === "object" && table !== null && Object.hasOwn(table, key)
    ? (table as Record<string, unknown>)[key]
    : undefined;
}

/** Tables with nothing in them are the same as none: `[a.b]` makes an `a`. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Date)
    return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, withoutEmpty(inner)] as const);
  return Object.fromEntries(entries.filter(([, inner]) => !sameJson(inner, {})));
}

function nestValue(path: KeyPath, value: unknown): Record<string, unknown> {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>;
}
