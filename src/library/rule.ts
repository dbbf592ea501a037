import { maxRuleChars } from "../records/index.ts";
import { cutAtWord, oneLine } from "../text/index.ts";
import { isSkillName } from "./skill.ts";

/** One line among an agent's instructions, and the id by which it can be found again. */
interface Rule {
  readonly id: string;
  readonly line: string;
}

const begin = "<!-- knack:begin - lines that Knack learned; change or delete any of them -->";
const end = "<!-- knack:end -->";
const markStart = "<!-- knack:rule ";

/** The rules in Knack's block of an instructions file, and what is wrong with the block. */
export function parseRules(text: string): { rules: Rule[]; damage: string | null } {
  const lines = splitLines(text);
  const block = findBlock(lines);
  const damage = typeof block === "string" ? block : null;
  const inside =
    block === null ? [] : typeof block === "string" ? lines : lines.slice(block.begin, block.end);
  return { rules: inside.flatMap((line) => parseRule(line) ?? []), damage };
}

/**
 * The file with a rule at the end of Knack's block, with other words for a rule that is there, or, for null, without
 * it; or why not. With the last rule goes the block, unless a person wrote something into it: then the file is as it
 * was before the block was made.
 */
export function setRule(
  text: string,
  id: string,
  words: string | null,
): { text: string } | { because: string } {
  const lines = splitLines(text);
  const block = findBlock(lines);
  if (typeof block === "string") return { because: `${block}; mend it by hand` };
  const at = lines.findIndex(
    (line, n) => block && n > block.begin && n < block.end && parseRule(line)?.id === id,
  );
  if (words === null) return { text: at === -1 || !block ? text : removeRule(lines, at, block) };
  const line = ruleLine(words);
  if (!isSkillName(id) || line === "")
    return { because: line === "" ? "the rule is empty" : "the rule has no proper name" };
  const there = lines[at];
  const written = `- ${line} ${markStart}${id} -->`;
  const before = there === undefined ? "" : (parseRule(there)?.line ?? "");
  if (there !== undefined)
    return {
      text: lines
        .with(
          at,
          there.replace(before, () => words),
        )
        .join(""),
    };
  if (block === null) return { text: addBlock(text, written) };
  return { text: lines.toSpliced(block.end, 0, written + readLineEnd(lines[block.begin])).join("") };
}

function removeRule(lines: readonly string[], at: number, { begin, end }: RuleBlock): string {
  const rest = lines.toSpliced(at, 1);
  const isKept = rest.slice(begin + 1, end - 1).some((line) => line.trim() !== "");
  return isKept ? rest.join("") : removeBlock(rest, { begin, end: end - 1 });
}

/** A rule as one line without Knack's own marks, cut to its maximum length. */
export function ruleLine(line: string): string {
  let clean = oneLine(line.slice(0, 10 * maxRuleChars));
  // Taking a mark out may join the pieces of another.
  for (let before = ""; before !== clean; ) {
    before = clean;
    const unmarked = clean.replace(/<!-*|-->|--!>/g, "");
    clean = unmarked.replace(/^(?:[-*+>#]+ )+/, "").trim();
  }
  return cutAtWord(clean.replace(/\s+/g, " "), maxRuleChars);
}

/** The lines with their ends, so that joining them gives the text back. */
function splitLines(text: string): string[] {
  return text.split(/(?<=\n)/);
}

interface RuleBlock {
  readonly begin: number;
  readonly end: number;
}

/** The lines of Knack's block, or what is wrong with it; null when there is none. */
function findBlock(lines: readonly string[]): RuleBlock | string | null {
  let found: RuleBlock | null = null;
  let open: number | null = null;
  for (const [at, line] of lines.entries()) {
    const mark = line.trim();
    if (/^<!-- knack:begin\b.*-->$/.test(mark)) {
      if (open !== null) return notClosed;
      if (found !== null) return "there are several Knack blocks";
      open = at;
    } else if (mark === end) {
      if (open === null) return "Knack's block has an end without a beginning";
      found = { begin: open, end: at };
      open = null;
    }
  }
  return open === null ? found : notClosed;
}

const notClosed = "Knack's block is not closed";

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
  const atEnd = !lines[end]?.endsWith("\n");
  if (atEnd) return before.endsWith(eol + eol) ? before.slice(0, -2 * eol.length) : before;
  const parted = before.endsWith(eol) && before.slice(0, -eol.length).endsWith("\n");
  return (parted ? before.slice(0, -eol.length) : before) + lines.slice(end + 1).join("");
}

function readLineEnd(line: string | undefined): string {
  return line?.endsWith("\r\n") ? "\r\n" : "\n";
}
