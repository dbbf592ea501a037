import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { showControls } from "../../base/index.ts";
import { hiddenCharacters, stripHidden, unwritable } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";

/** Lines to print: what is false, null or undefined is left out, and a list stands for its lines. */
export type Lines = readonly (string | false | null | undefined | Lines)[];

export function flatLines(lines: Lines): string[] {
  return lines.flatMap((line) => (typeof line === "string" ? line : line ? flatLines(line) : []));
}

/** The parts that there are, on one line. */
export function joinParts(separator: string, parts: Lines): string {
  return flatLines(parts)
    .filter((part) => part !== "")
    .join(separator);
}

/** Lines below a heading; nothing where there are none. */
export function titled(title: string, lines: Lines): Lines {
  return flatLines(lines).length > 0 ? [title, lines] : [];
}

/** Text from elsewhere on one line: redacted, without hidden and control characters, cut to this width. */
export function oneLine(text: string, width = 100): string {
  return cutToWidth(redact(text), width);
}

/** Text of Knack's own on one line, cut to this width. */
export function cutToWidth(text: string, width: number): string {
  const plain = stripHidden(text).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");
  if (measure(plain) <= width) return plain;
  if (isOneColumnEach(plain)) return `${plain.slice(0, width - 1)}…`;
  // A character is rarely wider than two columns, and combining characters have none.
  const [first] = wrapAnsi(plain.slice(0, width * 4), width - 1, { hard: true, trim: false }).split("\n");
  return `${first}…`;
}

/** Text from elsewhere, line by line: redacted as a whole, so that a secret over several lines is seen. */
export function textLines(text: string, indent = "", width = 400): string[] {
  return redact(text)
    .replace(/\r\n/g, "\n")
    .split("\n")
    .map((line) => cutToWidth(line.replace(/\t/g, "  "), width))
    .map((line) => (line === "" ? "" : `${indent}${line}`));
}

function measure(text: string): number {
  return isOneColumnEach(text) ? text.length : stringWidth(text);
}

/** ASCII, letters of Latin scripts, dashes, quotation marks, arrows and bars: asking `stringWidth` for the first time takes long. */
function isOneColumnEach(text: string): boolean {
  return /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2580-\u259f]*$/.test(text);
}

/**
 * Rows with every column as wide as its widest cell; cells that start with a digit are right-aligned if asked, and
 * lines end in their last column's full width where something follows.
 */
export function alignColumns(
  rows: readonly (readonly string[])[],
  { numbersRight = false, keepWidth = false } = {},
): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => measure(row[at] ?? ""))));
  const pad = (cell: string, at: number) => {
    const space = " ".repeat((widths[at] ?? 0) - measure(cell));
    return numbersRight && /^\d+\s/.test(cell) ? space + cell : cell + space;
  };
  const lines = rows.map((row) => row.map(pad).join("  "));
  return keepWidth ? lines : lines.map((line) => line.trimEnd());
}

/** A column of text is not narrower than this. */
const narrowestText = 30;
/** The margin of a text that stands below its label, where there is too little room beside it. */
const marginBelow = 6;

/** A label and its text, which continues below itself where the terminal is too narrow. */
export function wrapColumn(label: string, text: string, columns: number | null): string {
  const indent = measure(label.replace(ownColours, ""));
  if (columns === null || columns < narrowestText) return `${label}${text}`.trimEnd();
  const isBeside = columns - indent >= narrowestText || measure(text) <= columns - indent;
  const margin = " ".repeat(isBeside ? indent : marginBelow);
  // At the end of a line wrapAnsi ends a colour and begins it again, in codes that `visible` would show. It goes on anyway.
  const lines = wrapAnsi(text, columns - margin.length, { hard: true, trim: true }).split(
    /(?:\u001b\[\d+m)*\n(?:\u001b\[\d+m)*/,
  );
  const head = isBeside ? label : `${label.trimEnd()}\n${margin}`;
  return `${head}${lines.join(`\n${margin}`)}`.trimEnd();
}

/** A line as the terminal has room for it: it continues below its own indentation, a word that is too long anywhere. */
export function wrapLine(line: string, columns: number | null): string {
  const [indent = ""] = /^ */.exec(line) ?? [];
  if (columns === null || columns - indent.length < 20 || measure(line) <= columns) return line;
  const text = wrapAnsi(line.slice(indent.length), columns - indent.length, { hard: true, trim: true });
  return text.replace(/^/gm, indent);
}

/** A column of a table is not cut below this width. */
const narrowest = 11;

/** Rows whose widest columns are cut until they fit; null where that would cut too much. */
export function fitRows(
  rows: readonly (readonly string[])[],
  columns: number | null,
): readonly (readonly string[])[] | null {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => measure(row[at] ?? ""))));
  let over = columns === null ? 0 : widths.reduce((sum, one) => sum + one + 2, -2) - columns;
  if (over <= 0) return rows;
  for (; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= narrowest) return null;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  const cut = (cell: string, width: number) => (measure(cell) <= width ? cell : cutToWidth(cell, width));
  return rows.map((row) => row.map((cell, at) => cut(cell, widths[at] ?? 0)));
}

/** Rows of a table that is too wide: texts of the last column come first, then one cell after the other with its head. */
export function stackRows(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const hasText = rows.some((row) => measure(row.at(-1) ?? "") >= narrowestText);
  return rows.flatMap(([first = "", ...rest]) => {
    const text = hasText ? [`  ${rest.pop()}`] : [];
    return [first, ...text, `  ${rest.map((cell, at) => `${head[at + 1]} ${cell}`).join(" · ")}`];
  });
}

/** Number in the screen's own colours. Texts cannot know it, so that no escape of theirs passes for one of these. */
const ownColour = Math.floor(1e9 * Math.random()) + 1_000;
const ownColours = new RegExp(`\\u001b\\[(\\d+);${ownColour}m`, "g");

/** A style of the terminal for a text; `visible` lets it through. */
export function paint(text: string, on: number, off: number): string {
  return `\u001b[${on};${ownColour}m${text}\u001b[${off};${ownColour}m`;
}

/** Whatever is printed: controls of the terminal are shown, other hidden characters left out, own colours sent. */
export function visible(text: string): string {
  const [first = "", ...rest] = text.split(ownColours);
  // After a text comes the number of the colour that follows it.
  return rest.reduce((all, part, at) => all + (at % 2 === 0 ? `\u001b[${part}m` : show(part)), show(first));
}

function show(text: string): string {
  return showControls(text).replace(hiddenCharacters, "").replace(unwritable, " ");
}

export function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** The day; evidence from a transcript without times has none. */
export function formatDay(at: number): string {
  return at > 0 ? new Date(at).toISOString().slice(0, 10) : "undated";
}

/** The day and the time of it, in the person's time zone. */
export function formatTime(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function formatSpan(from: number, to: number): string {
  return formatDay(from) === formatDay(to) ? formatDay(to) : `${formatDay(from)} to ${formatDay(to)}`;
}

/** A number with thousands separated. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** A path as a shell takes it. */
export function quotePath(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** How many times each reason occurs, the most frequent first. */
export function countReasons(items: readonly { readonly because: string | null }[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { because } of items) counts.set(because ?? "", (counts.get(because ?? "") ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** Items that share a key, in the order in which the keys first appear. */
export function groupItems<Item>(items: readonly Item[], key: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}
