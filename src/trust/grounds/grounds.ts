import type { Event, Provenance } from "../../records/index.ts";
import { wordSet } from "../../text/index.ts";
import { ownWords } from "../own-words.ts";
import { readProvenance } from "../provenance.ts";
import { isHeavyWord, isPlainWord } from "./plain-words.ts";

/*
 * What an agent wrote may be used at once only where each part of it is known to do nothing but what was done already:
 * words that anybody may use or that the session heard, and steps that ran in it or that the person typed. This is a
 * list of what may pass. Whatever it cannot read waits for a person.
 */

/** A file of what was written. */
interface Text {
  readonly path: string;
  readonly text: string;
}

export interface GroundFacts {
  /** Everything that the author had read when it wrote, session by session, in order. */
  readonly sessions: readonly (readonly Event[])[];
  readonly root: string | null;
  /** Programs that the project used in earlier sessions. */
  readonly programs: ReadonlySet<string>;
}

/** The first part of some texts that nothing vouches for, shortened; null where all of them rest on something. */
export function findUngrounded(
  texts: readonly Text[],
  before: readonly Text[],
  facts: GroundFacts,
): string | null {
  const grounds = new Grounds(facts, texts);
  const old = new Set(before.flatMap(({ text }) => text.split("\n")));
  const known = new Set(before.map(({ path }) => path));
  for (const { path, text } of texts) {
    const found = (known.has(path) ? null : checkPath(path, grounds)) ?? checkText(path, text, old, grounds);
    if (found !== null) return found.replace(/\s+/g, " ").trim().slice(0, 80);
  }
  return null;
}

// --- What the session has ---

/** One thing that was said or done. */
interface Source {
  /** What ran, or what the person typed. */
  readonly done: string;
  /** That, and what came back. */
  readonly whole: string;
  readonly doneWords: ReadonlySet<string>;
  readonly allWords: ReadonlySet<string>;
}

class Grounds {
  readonly sources: readonly Source[];
  readonly programs: ReadonlySet<string>;
  /** Words of the person, with single blanks. */
  private readonly spoken: string;
  private readonly heard: ReadonlySet<string>;
  private readonly paths: ReadonlySet<string>;

  constructor({ sessions, root, programs }: GroundFacts, texts: readonly Text[]) {
    const main = texts.find(({ path }) => path === "SKILL.md")?.text ?? "";
    const name = /^name: ([\w-]{1,64})$/m.exec(main.slice(0, 2000))?.[1] ?? "";
    const paths = texts.map(({ path }) => path);
    const events = sessions.flat();
    this.programs = programs;
    this.sources = events.flatMap((event) => toSource(event, root) ?? []);
    const typed = events.filter((event) => isTyped(event)).map(({ text }) => ownWords(text));
    this.spoken = ` ${listWords(typed.join("\n")).join(" ")} `;
    const replies = events.filter(({ kind }) => kind === "reply").map(({ text }) => text);
    const heard = [...this.sources.map(({ whole }) => whole), ...replies];
    // Its own name is plain, as far as it reaches for nothing.
    this.heard = new Set([...heard, name].flatMap(listWords));
    this.paths = new Set(paths.map((path) => path.toLowerCase()));
  }

  /** Whether a word may stand in a sentence between two others: one that reaches for something only as the person said it. */
  mayStand(word: string, previous: string, next: string): boolean {
    if (!isHeavyWord(word) || freeForms.has(word)) return !starters.has(previous) || this.isKnown(word);
    return this.spoken.includes(` ${`${previous} ${word} ${next}`.trim()} `);
  }

  /** Whether most words of a sentence are known: of one in another language nobody could say what it reaches for. */
  canRead(words: readonly string[]): boolean {
    return words.filter((word) => this.isKnown(word)).length * 2 >= words.length;
  }

  private isKnown(word: string): boolean {
    return word.length < 2 || isPlainWord(word) || this.heard.has(word);
  }

  /** Whether a name of something was met, or is one of the package's files. */
  isMet(name: string): boolean {
    return isFree(name) || this.paths.has(name) || this.sources.some(({ allWords }) => allWords.has(name));
  }

  /** Whether one thing that was said or done has all of some words. */
  isTogether(words: readonly string[], kind: "doneWords" | "allWords"): boolean {
    const open = words.filter((word) => !isFree(word) && !this.paths.has(word));
    return open.length === 0 || this.sources.some((source) => open.every((word) => source[kind].has(word)));
  }

  /** Whether a text stands in one thing that was said or done as it is. */
  isQuoted(text: string, kind: "done" | "whole"): boolean {
    const wanted = simplify(text);
    return wanted !== "" && this.sources.some((source) => ` ${source[kind]} `.includes(` ${wanted} `));
  }
}

const freeForms = wordSet("says said");
/** What may stand before the name of a program. */
const starters = wordSet("run rerun start call launch invoke install open use");

function isTyped(event: Event): boolean {
  return event.kind === "prompt" && event.given !== "program" && !event.sidechain;
}

function toSource(event: Event, root: string | null): Source | null {
  const done = isTyped(event) ? ownWords(event.text) : event.kind === "call" ? (event.command ?? "") : "";
  const cameBack = event.kind === "call" || event.kind === "mark" ? event.text : "";
  const isClean = isOwn(readProvenance(event, root));
  const whole = [done, ...(isClean ? [cameBack, ...event.files] : [])].join("\n");
  if (whole.trim() === "") return null;
  return {
    ...{ done: simplify(done), whole: simplify(whole) },
    ...{ doneWords: new Set(listNames(done)), allWords: new Set(listNames(whole)) },
  };
}

function isOwn(from: Provenance): boolean {
  return from === "person" || from === "agent" || from === "program" || from === "repository";
}

function simplify(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}

function listWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}]+/gu) ?? [];
}

/** The words of a command or of a message, with the signs that are part of names. */
function listNames(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s"'`=,;()|&<>[\]{}]+/)
    .map((word) => word.replace(/[.:!?]+$/, ""))
    .filter((word) => word !== "");
}

/** Numbers, versions, blanks to fill in, and this machine's own address. */
function isFree(word: string): boolean {
  return /^(?:v?\d+(?:[.,:]\d+)*%?|[-–—*+|:.…/]{1,3}|https?:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?(?:\/[\w./-]{0,80})?)$/.test(
    word,
  );
}

// --- Files ---

function checkPath(path: string, grounds: Grounds): string | null {
  const isKnownKind = /^(?:SKILL\.md|references\/[\w./-]+\.(?:md|txt)|scripts\/[\w./-]+)$/.test(path);
  if (!isKnownKind && !/^[\w-]+\.md$/.test(path)) return path;
  const words = listWords(path.replace(/\.\w+$/, "").replace(/^(?:scripts|references)\//, ""));
  return words.some((word) => word !== "skill" && !grounds.mayStand(word, "", "")) ? path : null;
}

function checkText(path: string, text: string, old: ReadonlySet<string>, grounds: Grounds): string | null {
  const unread = unreadable.exec(text)?.[0];
  if (unread !== undefined && !old.has(text.split("\n").find((line) => line.includes(unread)) ?? ""))
    return `${path}: ${JSON.stringify(unread.slice(0, 20))}`;
  const lines = path.startsWith("scripts/") ? readScript(path, text) : readMarkdown(text);
  for (const { line, as } of lines) {
    if (old.has(line)) continue;
    const found = checks[as](line, grounds);
    if (found !== null) return found;
  }
  return null;
}

/** Signs that may stand for others or are not seen, markup that hides, and text that is out of sight. */
const unreadable =
  /[^\n\t\x20-\x7e\u00a1-\u00ac\u00ae-\u017f–—‘’“”…→←⇒✓✔✗×≥≤•·]|<!--|<[a-z][^<>\n]{0,200}=|\S[ \t]{20,}\S|\n(?:[ \t]*\n){8}/;

interface ReadLine {
  readonly line: string;
  readonly as: "prose" | "step" | "sample" | "setting";
}

function readScript(path: string, text: string): ReadLine[] {
  const isShell = /\.(?:sh|bash)$/.test(path);
  return text
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^#!\/[\w/]{1,30}(?: \w{1,10})?$/.test(line))
    .map((line) =>
      isShell && /^\s*#/.test(line)
        ? { line, as: "prose" }
        : { line, as: isShell || prints.test(line) ? "step" : "sample" },
    );
}

/** A line of a script that prints a few words and does nothing else. */
const prints = /^\s*(?:console\.log|print|puts|echo)\s?\(?(["'])[\w .,:!-]{0,200}\1\)?;?\s*$/;

function readMarkdown(text: string): ReadLine[] {
  const front = /^---\n([\s\S]*?)\n---(?:\n|$)/.exec(text);
  const lines: ReadLine[] = (front?.[1] ?? "").split("\n").map((line) => ({ line, as: "setting" }));
  let fence: { readonly mark: string; readonly as: "step" | "sample" } | null = null;
  for (const line of text.slice(front?.[0].length ?? 0).split("\n")) {
    const [, mark = "", language = ""] = /^[ \t>]*(`{3,}|~{3,})[ \t]*(\S*)/.exec(line) ?? [];
    if (fence === null && mark !== "")
      fence = { mark, as: /^(?:(?:ba|z)?sh|shell|console)$/.test(language) ? "step" : "sample" };
    else if (fence !== null && mark.startsWith(fence.mark)) fence = null;
    else if (line.trim() !== "") lines.push({ line, as: fence?.as ?? "prose" });
  }
  return lines;
}

const checks: Record<ReadLine["as"], (line: string, grounds: Grounds) => string | null> = {
  prose: checkProse,
  step: checkStep,
  sample: (line, grounds) =>
    grounds.isQuoted(line, "whole") || checkStep(line, grounds) === null ? null : line,
  setting: (line, grounds) => {
    const [, key, value = ""] = /^(name|description):\s{0,4}(.{0,2000})$/.exec(line) ?? [];
    if (line.trim() === "") return null;
    if (key === undefined) return line;
    if (key === "description") return checkProse(value.replace(/^["']|["']$/g, ""), grounds);
    return listWords(value).some(isHeavyWord) ? line : null;
  },
};

// --- Sentences ---

function checkProse(line: string, grounds: Grounds): string | null {
  for (const [, span = ""] of line.matchAll(/`([^`\n]+)`/g)) if (!isSpanGrounded(span, grounds)) return span;
  const said = line
    .replace(/`[^`\n]+`/g, " … ")
    .replace(/<[\w -]{1,40}>/g, " … ")
    .replace(askedFor, " ");
  const words = said
    .toLowerCase()
    .split(/[\s()[\]"“”|!?…→←⇒✓✔✗×≥≤•·]+/)
    .map((word) => word.replace(/^['‘*_#>~]+|[.,:;'’*_~]+$/g, ""))
    .filter((word) => word !== "");
  const names = words.filter((word) => !/^\p{L}+(?:[-/'’–—]\p{L}+)*$/u.test(word));
  if (!grounds.isTogether(names, "allWords")) return line;
  const parts = words.flatMap((word) =>
    names.includes(word) ? "" : word.replace(/['’]\p{L}{1,2}$/u, "").split(/[-/'’–—]/),
  );
  if (!grounds.canRead(parts.filter((word) => word !== ""))) return line;
  const at = parts.findIndex(
    (word, n) => word !== "" && !grounds.mayStand(word, parts[n - 1] ?? "", parts[n + 1] ?? ""),
  );
  return at < 0 ? null : parts.slice(Math.max(0, at - 3), at + 4).join(" ");
}

/** The usual words about when a skill is for use. */
const askedFor =
  /\b(?:when|if)(?: (?:the|a|your))? (?:user|person|developer|somebody|someone) (?:asks|wants|needs|requests)(?: for| about| how| to)?\b|\b(?:is|are|when) asked(?: for| about| how| to)?\b/gi;

function isSpanGrounded(span: string, grounds: Grounds): boolean {
  const words = listNames(span.replace(/<[\w -]{1,40}>/g, " "));
  if (words.length < 2) return words.every((word) => grounds.isMet(word) || isPlainWord(word));
  return checkStep(span, grounds) === null || grounds.isQuoted(span, "whole");
}

// --- Steps ---

function checkStep(line: string, grounds: Grounds): string | null {
  const [, typed = ""] = /^\s*(?:[$%>] )?(.*)$/.exec(line) ?? [];
  if (prints.test(typed))
    return checkProse(typed.replace(/^[\w. ]+?\(?(?=["'])/, "").replace(/["');]/g, " "), grounds);
  if (grounds.isQuoted(typed, "done")) return null;
  const filled = typed.replace(/<[\w -]{1,40}>/g, " ").trim();
  // What is put together in another way than it ran may do something else.
  if (/[|<>`$;\\*~]|&(?!&)|^\w+=|\.\./.test(filled.replaceAll("&&", ""))) return line;
  return filled.split("&&").every((run) => isRunGrounded(run.trim(), grounds)) ? null : line;
}

function isRunGrounded(run: string, grounds: Grounds): boolean {
  const [program = "", ...args] = listNames(run);
  if (program === "") return true;
  if (grounds.isTogether([program, ...args], "doneWords")) return true;
  const [verb = "", ...rest] = args;
  const verbs = safeVerbs[program];
  if (verbs !== undefined) {
    if (!verbs.has(verb)) return false;
    return namesTarget.test(`${program} ${verb}`) && rest.length === 1
      ? isTarget(rest[0] ?? "", grounds)
      : grounds.isTogether(rest, "allWords");
  }
  if (/^(?:make|just|task)$/.test(program)) return args.length < 2 && isTarget(verb, grounds);
  if (readers.has(program) || grounds.programs.has(program))
    return grounds.isTogether(
      args.filter((arg) => !/^-[a-z]$/.test(arg)),
      "allWords",
    );
  return false;
}

/** A task of the project, which is the repository's own. */
function isTarget(word: string, grounds: Grounds): boolean {
  return /^[a-z][\w:-]*$|^$/.test(word) && (grounds.isMet(word) || !listWords(word).some(isHeavyWord));
}

const namesTarget = /^(?:npm|pnpm|yarn|bun) run$/;
const packageVerbs = wordSet("test run start build ci install i add lint");
const safeVerbs: Readonly<Record<string, { has: (word: string) => boolean }>> = {
  ...{ npm: packageVerbs, pnpm: packageVerbs, yarn: packageVerbs, bun: packageVerbs },
  git: wordSet("status diff log add commit show branch switch"),
  cargo: wordSet("build test check fmt clippy"),
  go: wordSet("build test vet fmt"),
};
const readers = wordSet("true cd ls pwd cat head tail wc grep rg diff pytest vitest jest tsc");
