import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";

/** A key in a JSON text, from the outermost object inward. */
export type KeyPath = readonly [string, ...string[]];

/** One change of a text: what stood at a place, and what stands there after it. */
export interface TextEdit {
  readonly offset: number;
  readonly removed: string;
  readonly inserted: string;
}

/** What a key came to. */
type KeyEdit =
  | { readonly ok: true; readonly text: string; readonly edit: TextEdit | null }
  | { readonly ok: false; readonly because: string };

/** The text of a document, taken apart; comments and trailing commas are allowed, since people write them. */
interface Document {
  /** What stands before the document: a byte order mark. */
  readonly mark: string;
  readonly body: string;
  readonly root: Node | undefined;
}

/** Why a text cannot be edited; null when it can. Nothing at all counts as an empty object. */
export function explainNotEditable(text: string): string | null {
  const errors: ParseError[] = [];
  const { body, root } = documentOf(text, errors);
  if (body.trim() === "") return null;
  const [first] = errors;
  if (first) {
    const line = body.slice(0, first.offset).split(/\r\n|\r|\n/).length;
    return `it is no JSON (${printParseErrorCode(first.error)} on line ${line})`;
  }
  return root?.type === "object" ? null : "it is no JSON object";
}

/** What a key holds; undefined where it is missing. */
export function readKey(text: string, path: KeyPath): unknown {
  const { root } = documentOf(text);
  const value = root && nodeAt(root, path);
  return value && getNodeValue(value);
}

/** What is written at a key, as it is; null where it is missing. */
export function readWritten(text: string, path: KeyPath): string | null {
  const { body, root } = documentOf(text);
  const value = root && nodeAt(root, path);
  return value ? body.slice(value.offset, value.offset + value.length) : null;
}

/** The text with a key set to a value; every other byte stays. */
export function setKey(text: string, path: KeyPath, value: unknown): KeyEdit {
  const { mark, body, root } = documentOf(text);
  if (!root) {
    const inserted = `${JSON.stringify(nested(path, value), null, 2)}\n`;
    return edited(text, { offset: mark.length, removed: body, inserted });
  }
  let holder = root;
  for (const [at, key] of path.entries()) {
    if (holder.type !== "object")
      return { ok: false, because: `${path.slice(0, at).join(".")} is no JSON object` };
    const found = propertyOf(holder, key)?.children?.[1];
    if (!found) {
      const edit = insertion(body, root, holder, key, nested(path.slice(at + 1), value));
      return edited(text, { ...edit, offset: edit.offset + mark.length });
    }
    holder = found;
  }
  if (sameJson(getNodeValue(holder), value)) return { ok: true, text, edit: null };
  const style = styleOf(body, root);
  const inserted = printed(value, style, indentAt(body, holder.offset), isOnOneLine(body, root));
  const removed = body.slice(holder.offset, holder.offset + holder.length);
  return edited(text, { offset: holder.offset + mark.length, removed, inserted });
}

/** The text with what is written at a key replaced by another piece of JSON, as it is. */
export function setWritten(text: string, path: KeyPath, written: string): string {
  const { mark, body, root } = documentOf(text);
  const value = root && nodeAt(root, path);
  if (!value) return text;
  return `${mark}${body.slice(0, value.offset)}${written}${body.slice(value.offset + value.length)}`;
}

/** The text without a key; every other byte stays, but for the comma that it no longer needs. */
export function removeKey(text: string, path: KeyPath): string {
  const { mark, body, root } = documentOf(text);
  const holder = root && nodeAt(root, path.slice(0, -1));
  const property = holder && propertyOf(holder, path.at(-1) as string);
  if (!property) return text;
  const siblings = holder.children ?? [];
  const before = siblings[siblings.indexOf(property) - 1];
  const end = property.offset + property.length;
  const comma = commaAfter(body, end);
  let start = property.offset;
  while (/\s/.test(body.charAt(start - 1))) start--;
  // What stands on the line above may be a comment, which must not swallow what follows.
  const rest = body.slice(comma === null ? end : comma + 1);
  if (/[\r\n]/.test(body.slice(start, property.offset)) && !/^[ \t]*[\r\n]/.test(rest))
    start = property.offset;
  const between = comma === null ? "" : body.slice(end, comma);
  let head = body.slice(0, start);
  if (comma === null && before) {
    const lone = commaAfter(body, before.offset + before.length);
    if (lone !== null) head = head.slice(0, lone) + head.slice(lone + 1);
  }
  return `${mark}${head}${between}${rest}`;
}

/** The text as it was before an edit; null when the edit is not in it. */
export function undoEdit(text: string, { offset, removed, inserted }: TextEdit): string | null {
  if (text.slice(offset, offset + inserted.length) !== inserted) return null;
  return text.slice(0, offset) + removed + text.slice(offset + inserted.length);
}

/** Whether two values say the same, whatever the order of their keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [mine, theirs] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return mine.size === theirs.size && [...mine].every(([key, value]) => sameJson(value, theirs.get(key)));
}

function edited(text: string, edit: TextEdit): KeyEdit {
  const { offset, removed, inserted } = edit;
  return { ok: true, text: text.slice(0, offset) + inserted + text.slice(offset + removed.length), edit };
}

function documentOf(text: string, errors: ParseError[] = []): Document {
  const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
  const body = text.slice(mark.length);
  return { mark, body, root: parseTree(body, errors, { allowTrailingComma: true }) };
}

/** Where a key stands twice the last one counts, as it does to every reader of JSON. */
function propertyOf(object: Node, key: string): Node | undefined {
  return object.type === "object"
    ? object.children?.findLast((one) => one.children?.[0]?.value === key)
    : undefined;
}

function nodeAt(root: Node, path: readonly string[]): Node | undefined {
  return path.reduce<Node | undefined>((node, key) => node && propertyOf(node, key)?.children?.[1], root);
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value);
}

// --- How a text is laid out ---

interface Style {
  readonly lineEnd: string;
  /** One step inward. */
  readonly step: string;
}

/** A new first key: what follows it stays as it is, its comments and its trailing comma included. */
function insertion(body: string, root: Node, object: Node, key: string, value: unknown): TextEdit {
  const style = styleOf(body, root);
  const offset = object.offset + 1;
  const [first] = object.children ?? [];
  const outer = indentAt(body, object.offset);
  const property = (indent: string, flat: boolean) =>
    `${JSON.stringify(key)}:${isTight(root) ? "" : " "}${printed(value, style, indent, flat)}`;
  const insert = (inserted: string): TextEdit => ({ offset, removed: "", inserted });
  const inner = outer + style.step;
  const ownLine = `${style.lineEnd}${inner}${property(inner, false)}`;
  if (first) {
    const gap = body.slice(offset, first.offset);
    if (!/^\s*$/.test(gap)) return insert(`${ownLine},`);
    const isFlat = !/[\r\n]/.test(gap);
    return insert(`${gap}${property(isFlat ? outer : (gap.split(/[\r\n]/).at(-1) ?? ""), isFlat)},`);
  }
  if (object !== root && isOnOneLine(body, root)) return insert(property(outer, true));
  const rest = body.slice(offset, object.offset + object.length - 1);
  return insert(/[\r\n]/.test(rest) ? ownLine : `${ownLine}${style.lineEnd}${outer}`);
}

function printed(value: unknown, { lineEnd, step }: Style, indent: string, flat: boolean): string {
  if (flat) return JSON.stringify(value);
  return JSON.stringify(value, null, step).replaceAll("\n", `${lineEnd}${indent}`);
}

function styleOf(body: string, root: Node): Style {
  const first = root.children?.[0];
  const before = first ? body.slice(root.offset, first.offset) : "";
  return {
    lineEnd: /\r\n|\r|\n/.exec(body)?.[0] ?? "\n",
    step: /[\r\n]([ \t]+)$/.exec(before)?.[1] ?? "  ",
  };
}

function isOnOneLine(body: string, root: Node): boolean {
  return !/[\r\n]/.test(body.slice(root.offset, root.offset + root.length));
}

/** Whether there is no space after a colon, as where a program wrote the text. */
function isTight(root: Node): boolean {
  const [name, value] = root.children?.[0]?.children ?? [];
  return name !== undefined && value !== undefined && value.offset === name.offset + name.length + 1;
}

/** The white space that a line begins with. */
function indentAt(body: string, offset: number): string {
  const start = Math.max(body.lastIndexOf("\n", offset - 1), body.lastIndexOf("\r", offset - 1)) + 1;
  return /^[ \t]*/.exec(body.slice(start, offset))?.[0] ?? "";
}

/** Where the comma is that follows a value, behind any comments; null where the object ends. */
function commaAfter(body: string, end: number): number | null {
  const between = /^(?:\s|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/.exec(body.slice(end))?.[0] ?? "";
  const at = end + between.length;
  return body.charAt(at) === "," ? at : null;
}
