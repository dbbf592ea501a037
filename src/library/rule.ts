import { cutAtWord, oneLine } from "../text/index.ts";
import { isSkillName } from "./skill.ts";

/** One line among an agent's instructions, and the id by which it can be found again. */
export interface Rule {
  readonly id: string;
  readonly line: string;
}

/** Why Knack's block in a file cannot be edited; a person has to mend it. */
type BlockDamage = "not-closed" | "not-opened" | "several-blocks";

export type RuleChange =
  | { readonly changed: true; readonly text: string }
  | {
      readonly changed: false;
      readonly because: BlockDamage | "bad-id" | "empty-line" | "exists" | "absent";
    };

const maxRuleChars = 300;

const begin = "<!-- knack:begin - lines that Knack learned; change or delete any of them -->";
const end = "<!-- knack:end -->";

/** The rules in Knack's block of an instructions file, and what is wrong with the block. */
export function parseRules(text: string): { rules: Rule[]; damage: BlockDamage | null } {
  const lines = splitLines(text);
  const block = findBlock(lines);
  if (typeof block === "string")
    return { rules: lines.flatMap((line) => parseRule(line) ?? []), damage: block };
  const inside = block === null ? [] : lines.slice(block.begin + 1, block.end);
  return { rules: inside.flatMap((line) => parseRule(line) ?? []), damage: null };
}

/** The file with a rule added at the end of Knack's block, which is made where there is none. */
export function addRule(text: string, rule: Rule): RuleChange {
  if (!isSkillName(rule.id)) return refuse("bad-id");
  const line = ruleLine(rule.line);
  if (line === "") return refuse("empty-line");
  const lines = splitLines(text);
  const block = findBlock(lines);
  if (typeof block === "string") return refuse(block);
  const written = `- ${line} ${renderMark(rule.id)}`;
  if (block === null) return { changed: true, text: addBlock(text, written) };
  if (lines.slice(block.begin + 1, block.end).some((other) => parseRule(other)?.id === rule.id))
    return refuse("exists");
  return {
    changed: true,
    text: lines.toSpliced(block.end, 0, written + readLineEnd(lines[block.begin])).join(""),
  };
}

/**
 * The file without a rule. With the last one goes the block, unless a person wrote something into it; what is left
 * is the file as it was before the block was made.
 */
export function removeRule(text: string, id: string): RuleChange {
  const lines = splitLines(text);
  const block = findBlock(lines);
  if (typeof block === "string") return refuse(block);
  if (block === null) return refuse("absent");
  const at = lines.findIndex(
    (line, index) => index > block.begin && index < block.end && parseRule(line)?.id === id,
  );
  if (at === -1) return refuse("absent");
  const rest = lines.toSpliced(at, 1);
  const inside = rest.slice(block.begin + 1, block.end - 1);
  return {
    changed: true,
    text: inside.some((line) => line.trim() !== "")
      ? rest.join("")
      : removeBlock(rest, { begin: block.begin, end: block.end - 1 }),
  };
}

/** The file with other words for a rule, where it stands. */
export function replaceRule(text: string, rule: Rule): RuleChange {
  const lines = splitLines(text);
  const block = findBlock(lines);
  if (typeof block === "string") return refuse(block);
  const at = lines.findIndex((line, index) => {
    const inside = block !== null && index > block.begin && index < block.end;
    return inside && parseRule(line)?.id === rule.id;
  });
  const there = lines[at];
  if (there === undefined) return refuse("absent");
  const written = parseRule(there)?.line ?? "";
  return {
    changed: true,
    text: lines
      .with(
        at,
        there.replace(written, () => rule.line),
      )
      .join(""),
  };
}

/** A rule as one line without Knack's own marks, cut to its maximum length. */
export function ruleLine(line: string): string {
  let clean = oneLine(line.slice(0, 10 * maxRuleChars));
  // Taking a mark out may join the pieces of another.
  for (let before = ""; before !== clean; ) {
    before = clean;
    clean = clean
      .replace(/<!-*|-->|--!>/g, "")
      .replace(/^(?:[-*+>#]+ )+/, "")
      .trim();
  }
  return cutAtWord(clean.replace(/\s+/g, " "), maxRuleChars);
}

function refuse(because: Exclude<RuleChange, { changed: true }>["because"]): RuleChange {
  return { changed: false, because };
}

/** The lines with their ends, so that joining them gives the text back. */
function splitLines(text: string): string[] {
  return text.split(/(?<=\n)/);
}

interface RuleBlock {
  readonly begin: number;
  readonly end: number;
}

function findBlock(lines: readonly string[]): RuleBlock | BlockDamage | null {
  let found: RuleBlock | null = null;
  let open: number | null = null;
  for (const [at, line] of lines.entries()) {
    const mark = line.trim();
    if (/^<!-- knack:begin\b.*-->$/.test(mark)) {
      if (open !== null) return "not-closed";
      if (found !== null) return "several-blocks";
      open = at;
    } else if (mark === end) {
      if (open === null) return "not-opened";
      found = { begin: open, end: at };
      open = null;
    }
  }
  return open === null ? found : "not-closed";
}

function renderMark(id: string): string {
  return `${markStart}${id} -->`;
}

const markStart = "<!-- knack:rule ";

function parseRule(line: string): Rule | null {
  const text = line.trim();
  const at = text.lastIndexOf(markStart);
  if (at === -1 || !/^[-*+] /.test(text)) return null;
  const id = /^([a-z0-9-]{1,64}) -->$/.exec(text.slice(at + markStart.length))?.[1];
  return id === undefined ? null : { id, line: text.slice(2, at).trim() };
}

/** A blank line parts the block from what is above; whether the file ends with a line end stays as it was. */
function addBlock(text: string, written: string): string {
  const eol = /\r?\n/.exec(text)?.[0] ?? "\n";
  const block = [begin, written, end].join(eol);
  if (text === "") return block + eol;
  return text.endsWith("\n") ? text + eol + block + eol : text + eol + eol + block;
}

/** Undoes `addBlock`, as far as a person has left the blank line and the end as they were. */
function removeBlock(lines: readonly string[], { begin, end }: RuleBlock): string {
  const eol = readLineEnd(lines[begin]);
  const before = lines.slice(0, begin).join("");
  const after = lines.slice(end + 1).join("");
  const atEnd = !lines[end]?.endsWith("\n");
  if (atEnd) return before.endsWith(eol + eol) ? before.slice(0, -2 * eol.length) : before;
  const parted = before.endsWith(eol) && before.slice(0, -eol.length).endsWith("\n");
  return (parted ? before.slice(0, -eol.length) : before) + after;
}

function readLineEnd(line: string | undefined): string {
  return line?.endsWith("\r\n") ? "\r\n" : "\n";
}

/** Why a rule cannot be put into a file, or taken out. */
export const ruleProblems = {
  "not-closed": "Knack's block is not closed; mend it by hand",
  "not-opened": "Knack's block has an end without a beginning; mend it by hand",
  "several-blocks": "there are several Knack blocks; mend it by hand",
  "bad-id": "the rule has no proper name",
  "empty-line": "the rule is empty",
  exists: "a rule of that name is there",
  absent: "the rule is gone",
};
