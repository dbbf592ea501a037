import { stripHidden } from "./hidden.ts";

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

/** Asked seldom, and dear to prepare. */
function isUnspaced(text: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(text);
}

function wholeCharacters(text: string): number {
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
}

/** The same without a code mark that was opened and not closed. */
function closed(text: string): string {
  if ((text.split("`").length - 1) % 2 === 0) return text;
  const open = text.lastIndexOf("`");
  return text.slice(0, open) + text.slice(open + 1);
}

/** Code within a line, whatever marks it holds. */
export function inlineCode(text: string, most = 160): string {
  const code = cutAnywhere(oneLine(text), most);
  const mark = "`".repeat(longestRun(code) + 1);
  const pad = code.startsWith("`") || code.endsWith("`") ? " " : "";
  return `${mark}${pad}${code}${pad}${mark}`;
}

/** Code on lines of its own, whatever fences it holds, each line after an indent. */
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
export interface SectionLines {
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
