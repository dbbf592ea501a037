import { createTwoFilesPatch } from "diff";

/** Words as one line, as a person sees them. */
export function oneLine(text: string): string {
  return stripHidden(text).replace(/\s+/g, " ").trim();
}

/** Words with an end, as a sentence has one. */
export function asSentence(text: string): string {
  return /[.!?…。]$/.test(text) ? text : `${text}.`;
}

/** At most so many characters, ending with a whole word; `…` says that there was more. */
export function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text;
  const room = text.slice(0, most - 1);
  const space = /\s/.test(text[most - 1] ?? "") ? room.length : room.search(/\s\S*$/);
  // Scripts without spaces end a word anywhere, but not inside a character.
  const end = space > 0 ? space : isUnspaced(room) ? wholeCharacters(room) : 0;
  const kept = room.slice(0, end).replace(/[\s,;:([{–—-]+$/, "");
  return kept === "" ? "" : closed(`${kept}…`);
}

/** Rarely used, slow to compile. */
function isUnspaced(text: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(text);
}

function wholeCharacters(text: string): number {
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
}

/** The text without an unclosed backtick. */
function closed(text: string): string {
  if ((text.split("`").length - 1) % 2 === 0) return text;
  const open = text.lastIndexOf("`");
  return text.slice(0, open) + text.slice(open + 1);
}

/** Inline code; the text may contain backticks. */
export function inlineCode(text: string, most = 160): string {
  const code = cutAnywhere(oneLine(text), most);
  const mark = "`".repeat(longestRun(code) + 1);
  const pad = code.startsWith("`") || code.endsWith("`") ? " " : "";
  return `${mark}${pad}${code}${pad}${mark}`;
}

/** An indented fenced code block; the text may contain fences. */
export function codeBlock(text: string, { language = "", indent = "", most = 1_000 } = {}): string {
  const code = cutAnywhere(stripHidden(text).replace(/\r\n?/g, "\n").toWellFormed().trim(), most);
  const fence = "`".repeat(Math.max(3, longestRun(code) + 1));
  return [`${fence}${language}`, ...code.split("\n"), fence]
    .map((line) => (line === "" ? "" : `${indent}${line}`))
    .join("\n");
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

function cutAnywhere(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, wholeCharacters(text.slice(0, most - 1)))}…`;
}

/** Where a section's own lines are: after its heading, up to the next heading of its rank or above. */
interface SectionLines {
  readonly from: number;
  readonly to: number;
}

/** The lines of the first `## title` section; headings inside code fences are code. */
export function findSection(lines: readonly string[], title: string): SectionLines | null {
  let fence: string | null = null;
  let from: number | null = null;
  for (const [at, line] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== null) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
    } else if (mark !== undefined) fence = mark;
    else if (/^##? /.test(line)) {
      if (from !== null) return { from, to: at };
      if (line.trim().toLowerCase() === `## ${title.toLowerCase()}`) from = at + 1;
    }
  }
  return from === null ? null : { from, to: lines.length };
}

/** YAML in double quotes: JSON's string, with the characters escaped that YAML does not print. */
export function quoteYaml(value: string): string {
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Characters that a person does not see and a model reads: zero width, direction controls, tag characters, controls.
 * Joiners are left out: emoji and several scripts are written with them.
 */
export const hiddenCharacters =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ufe00-\ufe0f]{2,}|[\u{e0100}-\u{e01ef}]{2,}/gu;

/**
 * Joiners where no script needs them: after ASCII or at the start of a text, where they join nothing; before an ASCII
 * letter, where they only split words; and several in a row.
 */
export const strayJoiners =
  /(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?=[\dA-Za-z])|[\u200c\u200d]{2,}/gu;

/** Whether a hidden character is legitimate in a line: marks and separators of its script, soft hyphens. */
export function isExpectedCharacter(character: string, line: string): boolean {
  // Patterns with scripts take a millisecond to make, so nobody makes them who does not ask.
  const homes: readonly (readonly [RegExp, RegExp])[] = [
    [/[\u200e\u200f\u061c]/, /(?=\p{L})[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}]/u],
    [/\u180e/, /(?=\p{L})\p{sc=Mongolian}/u],
    [/\u00ad/, /\p{L}\u00ad\p{L}/u],
  ];
  return homes.some(([some, script]) => some.test(character) && script.test(line));
}

/** Characters that corrupt output: a lone carriage return overwrites its line, a lone surrogate is invalid. */
export const unwritable = /\r(?!\n)|[\ud800-\udfff]/gu;

/** Colour and cursor sequences of a terminal. */
const terminalSequences = /\u001b\[[0-9;?]{0,20}[A-Za-z]|\u001b\][^\u0007\u001b]{0,500}(?:\u0007|\u001b\\)/g;

/** The text as a person sees it. */
export function stripHidden(text: string): string {
  // Patterns for letters of all scripts take long to prepare, and most texts have nothing for them.
  if (!/[^\t\n\r -~]/.test(text)) return text;
  return text
    .replace(terminalSequences, "")
    .replace(regionFlags, "$1")
    .replace(hiddenCharacters, "")
    .replace(strayJoiners, "");
}

/** Flags of regions are spelt with tag characters after a black flag. */
export const regionFlags = /(\u{1f3f4})[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{2,6}\u{e007f}/gu;

/** A name for a file or a package: a few words in kebab-case; empty when the text has none in Latin letters. */
export function slugify(text: string, most = 48): string {
  const words = text
    .normalize("NFKD")
    .toLowerCase()
    // An accent is no end of a word.
    .replace(/['’\p{M}]/gu, "")
    .match(/[a-z0-9]+/g);
  let name = "";
  for (const word of words ?? []) {
    const longer = name === "" ? word : `${name}-${word}`;
    if (longer.length > most) break;
    name = longer;
  }
  return name;
}

/** A count with its noun: `1 call`, `2 calls`, `1,200 calls`. */
export function several(count: number, noun: string, plural = `${noun}s`): string {
  // By hand: a language's own form would load tables of all languages first.
  const digits = `${count}`.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return `${digits} ${count === 1 ? noun : plural}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** Decodes bytes, keeping a byte order mark; null if they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** A change of a file as a unified diff; empty if nothing changes. */
export function renderDiff(path: string, before: string | null, after: string | null): string {
  if (before === after) return "";
  const from = before === null ? "/dev/null" : `a/${path}`;
  const to = after === null ? "/dev/null" : `b/${path}`;
  // Two long texts with nothing in common would take minutes; they are shown as one replaced by the other.
  const limits = { context: 3, maxEditLength: 5_000 };
  const patch = createTwoFilesPatch(from, to, before ?? "", after ?? "", undefined, undefined, limits);
  if (patch !== undefined) return patch.replace(/^=+\n/, "");
  const [old, fresh] = [markLines("-", before), markLines("+", after)];
  const range = `@@ -1,${old.length} +1,${fresh.length} @@`;
  return [`--- ${from}`, `+++ ${to}`, range, ...old, ...fresh, ""].join("\n");
}

function markLines(sign: string, text: string | null): string[] {
  const lines = text ? text.replace(/\n$/, "").split("\n") : [];
  return lines.map((line) => sign + line);
}
