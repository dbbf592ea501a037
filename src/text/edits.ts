import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";

/** A key in a JSON text, from the outermost object inward. */
export type KeyPath = readonly [string, ...string[]];

/** One change of a text: what stood at a place, and what stands there after it. */
export interface TextEdit {
  readonly offset: number;
  readonly removed: string;
  readonly inserted: string;
}

/** The result of setting a value in a text; no edit if the value is there already. */
export type KeyEdit =
  | { readonly ok: true; readonly text: string; readonly edit: TextEdit | null }
  | { readonly ok: false; readonly because: string };

/**
 * A JSON text in which keys are set and removed while every other byte stays. Comments and trailing commas are
 * allowed, since people write them; nothing at all counts as an empty object.
 */
export class JsonText {
  private readonly text: string;
  /** A byte order mark, before the document. */
  private readonly mark: string;
  private readonly body: string;
  private readonly root: Node | undefined;
  private readonly errors: ParseError[] = [];

  constructor(text: string) {
    this.text = text;
    this.mark = text.startsWith("\ufeff") ? "\ufeff" : "";
    this.body = text.slice(this.mark.length);
    this.root = parseTree(this.body, this.errors, { allowTrailingComma: true });
  }

  /** Why the text cannot be edited; null when it can. */
  get problem(): string | null {
    if (this.body.trim() === "") return null;
    const [first] = this.errors;
    if (first === undefined) return this.root?.type === "object" ? null : "it is no JSON object";
    const line = this.body.slice(0, first.offset).split(/\r\n|\r|\n/).length;
    return `it is no JSON (${printParseErrorCode(first.error)} on line ${line})`;
  }

  /** The value of a key; undefined if missing. */
  read(path: KeyPath): unknown {
    const value = this.find(path);
    return value && getNodeValue(value);
  }

  /** The raw source of a key's value; null if missing. */
  readWritten(path: KeyPath): string | null {
    const value = this.find(path);
    return value ? this.body.slice(value.offset, value.offset + value.length) : null;
  }

  /** The text with a key set to a value. */
  set(path: KeyPath, value: unknown): KeyEdit {
    if (!this.root) return this.edited(0, this.body, `${JSON.stringify(nestValue(path, value), null, 2)}\n`);
    let holder = this.root;
    for (const [at, key] of path.entries()) {
      if (holder.type !== "object")
        return { ok: false, because: `${path.slice(0, at).join(".")} is no JSON object` };
      const found = findProperty(holder, key)?.children?.[1];
      if (!found) {
        const inserted = this.printFirstKey(this.root, holder, key, nestValue(path.slice(at + 1), value));
        return this.edited(holder.offset + 1, "", inserted);
      }
      holder = found;
    }
    if (sameJson(getNodeValue(holder), value)) return { ok: true, text: this.text, edit: null };
    const removed = this.body.slice(holder.offset, holder.offset + holder.length);
    const flat = this.isOnOneLine(this.root);
    return this.edited(holder.offset, removed, this.print(value, this.readIndent(holder.offset), flat));
  }

  /** The text with what is written at a key replaced by another piece of JSON, as it is. */
  setWritten(path: KeyPath, written: string): string {
    const value = this.find(path);
    if (!value) return this.text;
    const { offset, length } = value;
    return `${this.mark}${this.body.slice(0, offset)}${written}${this.body.slice(offset + length)}`;
  }

  /** The text without a key, and without the comma that it no longer needs. */
  remove(path: KeyPath): string {
    const holder = this.find(path.slice(0, -1));
    const property = holder && findProperty(holder, path.at(-1) as string);
    return property ? this.cut(holder, property) : this.text;
  }

  /** The text with one more value at the end of a list, or in the place of one that is there. */
  setItem(path: KeyPath, value: unknown, at: number | null): KeyEdit {
    const list = this.find(path);
    if (!list) return this.set(path, [value]);
    if (list.type !== "array") return { ok: false, because: `${path.join(".")} is no list` };
    const there = at === null ? undefined : list.children?.[at];
    if (there && sameJson(getNodeValue(there), value)) return { ok: true, text: this.text, edit: null };
    const flat = this.root !== undefined && this.isOnOneLine(this.root);
    if (there) {
      const removed = this.body.slice(there.offset, there.offset + there.length);
      return this.edited(there.offset, removed, this.print(value, this.readIndent(there.offset), flat));
    }
    const last = list.children?.at(-1);
    if (!last) return this.set(path, [value]);
    const before = list.children?.at(-2);
    const from = before ? before.offset + before.length : list.offset + 1;
    const isFlat = !/[\r\n]/.test(this.body.slice(from, last.offset));
    const indent = this.readIndent(last.offset);
    const gap = isFlat ? (flat && this.root && isTight(this.root) ? "" : " ") : `${this.lineEnd}${indent}`;
    return this.edited(last.offset + last.length, "", `,${gap}${this.print(value, indent, flat)}`);
  }

  /** The text without one of the values of a list. */
  removeItem(path: KeyPath, at: number): string {
    const list = this.find(path);
    const item = list?.type === "array" ? list.children?.[at] : undefined;
    return list && item ? this.cut(list, item) : this.text;
  }

  /** Without one of several values that follow each other. */
  private cut(holder: Node, one: Node): string {
    const { body } = this;
    const before = holder.children?.[holder.children.indexOf(one) - 1];
    const end = one.offset + one.length;
    const comma = findComma(body, end);
    const rest = body.slice(comma === null ? end : comma + 1);
    const blank = /\s*$/.exec(body.slice(0, one.offset))?.[0] ?? "";
    // What stands on the line above may be a comment, which must not swallow what follows.
    const keepsBlank = /[\r\n]/.test(blank) && !/^[ \t]*[\r\n]/.test(rest);
    let head = body.slice(0, one.offset - (keepsBlank ? 0 : blank.length));
    const lone = comma === null && before ? findComma(body, before.offset + before.length) : null;
    if (lone !== null) head = head.slice(0, lone) + head.slice(lone + 1);
    return `${this.mark}${head}${comma === null ? "" : body.slice(end, comma)}${rest}`;
  }

  private find(path: readonly string[]): Node | undefined {
    const inward = (node: Node | undefined, key: string) => node && findProperty(node, key)?.children?.[1];
    return path.reduce<Node | undefined>(inward, this.root);
  }

  private edited(at: number, removed: string, inserted: string): KeyEdit {
    const offset = at + this.mark.length;
    const text = this.text.slice(0, offset) + inserted + this.text.slice(offset + removed.length);
    return { ok: true, text, edit: { offset, removed, inserted } };
  }

  /** A new first key: what follows it stays as it is, its comments and its trailing comma included. */
  private printFirstKey(root: Node, object: Node, key: string, value: unknown): string {
    const offset = object.offset + 1;
    const [first] = object.children ?? [];
    const outer = this.readIndent(object.offset);
    const property = (indent: string, flat: boolean) =>
      `${JSON.stringify(key)}:${isTight(root) ? "" : " "}${this.print(value, indent, flat)}`;
    const inner = outer + this.step;
    const ownLine = `${this.lineEnd}${inner}${property(inner, false)}`;
    if (first) {
      const gap = this.body.slice(offset, first.offset);
      if (gap.trim() !== "") return `${ownLine},`;
      const isFlat = !/[\r\n]/.test(gap);
      return `${gap}${property(isFlat ? outer : (gap.split(/[\r\n]/).at(-1) ?? ""), isFlat)},`;
    }
    if (object !== root && this.isOnOneLine(root)) return property(outer, true);
    const rest = this.body.slice(offset, object.offset + object.length - 1);
    return /[\r\n]/.test(rest) ? ownLine : `${ownLine}${this.lineEnd}${outer}`;
  }

  private print(value: unknown, indent: string, flat: boolean): string {
    if (flat) return JSON.stringify(value);
    return JSON.stringify(value, null, this.step).replaceAll("\n", `${this.lineEnd}${indent}`);
  }

  private get lineEnd(): string {
    return /\r\n|\r|\n/.exec(this.body)?.[0] ?? "\n";
  }

  /** One step inward. */
  private get step(): string {
    const before = this.body.slice(this.root?.offset, this.root?.children?.[0]?.offset ?? 0);
    return /[\r\n]([ \t]+)$/.exec(before)?.[1] ?? "  ";
  }

  private isOnOneLine(root: Node): boolean {
    return !/[\r\n]/.test(this.body.slice(root.offset, root.offset + root.length));
  }

  /** The white space that the line of a place begins with. */
  private readIndent(offset: number): string {
    return /(?:^|[\r\n])([ \t]*)[^\r\n]*$/.exec(this.body.slice(0, offset))?.[1] ?? "";
  }
}

/** Whether two values are equal, ignoring the order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [mine, theirs] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return mine.size === theirs.size && [...mine].every(([key, value]) => sameJson(value, theirs.get(key)));
}

/** Where a key stands twice the last one counts, as it does to every reader of JSON. */
function findProperty(object: Node, key: string): Node | undefined {
  if (object.type !== "object") return undefined;
  return object.children?.findLast((one) => one.children?.[0]?.value === key);
}

function nestValue(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value);
}

/** Whether there is no space after a colon, as where a program wrote the text. */
function isTight(root: Node): boolean {
  const [name, value] = root.children?.[0]?.children ?? [];
  return name !== undefined && value !== undefined && value.offset === name.offset + name.length + 1;
}

/** Where the comma is that follows a value, behind any comments; null where the object ends. */
function findComma(body: string, end: number): number | null {
  const between = /^(?:\s|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/.exec(body.slice(end))?.[0] ?? "";
  return body.charAt(end + between.length) === "," ? end + between.length : null;
}
