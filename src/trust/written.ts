import type { Doubt, Event, Provenance } from "../records/index.ts";
import { findDanger } from "./danger.ts";
import { ownWords } from "./own-words.ts";
import { readProvenance } from "./provenance.ts";
import { findHosts, findMention, listTellingWords, type TellingWord, traceWord } from "./taint.ts";

/** Words of a sentence from which it is no chance that two texts have it. */
const copiedWords = 8;
/** Characters from which a word of a command says something by itself. */
const tellingChars = 5;

/** A file of a package, or another text that an agent or a model wrote. */
export interface WrittenText {
  readonly path: string;
  readonly text: string;
}

/** The sessions in which something was written, and what is known of their project. */
export interface WritingFacts {
  /** Everything that the author had read when it wrote, session by session, in order. */
  readonly sessions: readonly (readonly Event[])[];
  /** The events that it gives as evidence. */
  readonly cited: readonly Event[];
  readonly root: string | null;
  /** Programs that the project used in earlier sessions: no strangers to it. */
  readonly programs: ReadonlySet<string>;
}

/**
 * Why what an agent or a model wrote waits for a person: it has a step that can do harm, rests on somebody else's
 * text, or has words that it had from one. Texts that were read and left no word in it do not matter.
 * `before` is what it replaces, which somebody answers for already.
 */
export function findWrittenDoubt(
  texts: readonly WrittenText[],
  before: readonly WrittenText[],
  facts: WritingFacts,
): Doubt | null {
  const { root, cited } = facts;
  const commands = listNew(texts, before, listCommands);
  const danger = findDanger(commands, { root });
  if (danger !== null) return { kind: "dangerous", from: "agent", words: danger.words };
  for (const event of cited) {
    const from = readSource(event, root);
    if (isForeign(from)) return { kind: "foreign", from, words: event.ref };
  }
  const quotes = listNew(texts, before, listQuotes);
  const telling = [
    ...listNew(texts, before, listShellTexts)
      .flatMap((shell) => listTellingWords(shell, root))
      .filter(({ kind }) => kind === "program"),
    ...[...commands, ...quotes]
      .flatMap((command) => listTellingWords(command, root))
      .filter(({ kind }) => kind !== "program"),
    ...listNew(texts, before, listHosts).map((word): TellingWord => ({ kind: "host", word })),
  ];
  for (const one of telling) {
    const from = traceInAll(one, facts);
    if (from !== null) return { kind: "foreign", from, words: one.word };
  }
  const operands = [...commands, ...quotes].flatMap(listOperands);
  const copied = [...new Set([...operands, ...listNew(texts, before, listSentences)])];
  return findCopied(copied, facts);
}

/** The programs that some texts call and not every machine has. */
export function listPrograms(texts: readonly WrittenText[], root: string | null): string[] {
  const words = texts.flatMap(listShellTexts).flatMap((shell) => listTellingWords(shell, root));
  return [...new Set(words.flatMap(({ kind, word }) => (kind === "program" ? word : [])))];
}

/** The parts of some texts that their earlier version does not have. */
function listNew(
  texts: readonly WrittenText[],
  before: readonly WrittenText[],
  list: (text: WrittenText) => string[],
): string[] {
  const old = new Set(before.flatMap(list));
  return [...new Set(texts.flatMap(list))].filter((part) => !old.has(part));
}

// --- What a text has ---

/** The lines of a text that may be commands: those of a script, and of what is fenced or indented. */
function listCommands(written: WrittenText): string[] {
  const { path, text } = written;
  const blocks = isScript(path)
    ? [text]
    : [...text.matchAll(fence), ...text.matchAll(indented)].map(([, , code = ""]) => code);
  return blocks
    .flatMap((block) => block.replace(/\\\n\s*/g, " ").split("\n"))
    .map((line) => line.trim().replace(/^(?:[$%>#]|PS>)\s+(?=\S)/, ""))
    .filter((line) => line !== "" && !line.startsWith("#"));
}

/** Text that is surely for a shell, whole: only there the first word of a line is a program. */
function listShellTexts({ path, text }: WrittenText): string[] {
  if (isScript(path)) return shellFile.test(path) || /^#!.*sh\b/.test(text) ? [text] : [];
  return [...text.matchAll(fence)].flatMap(([, language = "", code = ""]) => {
    if (!shellLanguage.test(language)) return [];
    // In a record of a terminal the rest is what programs printed.
    const typed = code.split("\n").flatMap((line) => /^\s*[$%]\s+(.*)/.exec(line)?.[1] ?? []);
    return [typed.length > 0 ? typed.join("\n") : code];
  });
}

function isScript(path: string): boolean {
  return path.startsWith("scripts/") || shellFile.test(path);
}

const shellFile = /\.(?:sh|bash|zsh|ps1|bat)$/;
const shellLanguage = /^(?:(?:ba|z|fi)?sh|shell|console|terminal|powershell|pwsh|ps1|bat|cmd)$/i;
const fence = /^[ \t]*(?:`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n([\s\S]*?)^[ \t]*(?:`{3,}|~{3,})/gm;
const indented = /(^|\n)\n((?: {4}|\t)\S[^\n]*(?:\n(?: {4}|\t)[^\n]*)*)/g;

/** Text between backticks: often a command, often a name. */
function listQuotes({ text }: WrittenText): string[] {
  return [...text.matchAll(/`([^`\n]{2,300})`/g)].map(([, code = ""]) => code);
}

/** Machines that any part of a text names, also its prose and its code. */
function listHosts({ text }: WrittenText): string[] {
  return [...new Set(text.split(/[\s()<>[\]"'`|]+/).flatMap(findHosts))];
}

/** Words of a command beside programs, packages and options that say something by themselves: `deploy-all`. */
function listOperands(command: string): string[] {
  return command
    .split(/[\s"'`;|&()<>]+/)
    .filter((word) => word.length >= tellingChars && /^[^-]/.test(word) && /[-_./:@=\d]/.test(word));
}

function listSentences({ text }: WrittenText): string[] {
  return text
    .split(/(?<=[.!?。！？])\s+|\n+/)
    .map(normalize)
    .filter((sentence) => sentence.split(" ").length >= copiedWords);
}

function normalize(text: string): string {
  return text
    .toLowerCase()
    .replace(/^[\s>*#\d.-]+/, "")
    .replace(/[`*_"“”]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

// --- Where it came from ---

function isForeign(from: Provenance): boolean {
  return from === "file" || from === "web" || from === "mcp" || from === "import";
}

/** Whose words an event brings; a prompt that a program gave may be anybody's. */
function readSource(event: Event, root: string | null): Provenance {
  const source = readProvenance(event, root);
  return event.kind === "prompt" && source !== "person" ? "import" : source;
}

/** Where a word came from, where that speaks against it, in the sessions in which it was met. */
function traceInAll(telling: TellingWord, { sessions, root, programs }: WritingFacts): Provenance | null {
  for (const events of sessions) {
    const from =
      traceWord(telling, events, { failed: undefined, root }) ?? traceUnseen(telling, events, root);
    const isKnown = from === "program" || from === "repository";
    if (from !== null && !(isKnown && programs.has(telling.word))) return from;
  }
  return null;
}

/** A word that the agent was first to say may stand in the part of somebody's text that was not kept. */
function traceUnseen(
  { kind, word }: TellingWord,
  events: readonly Event[],
  root: string | null,
): Provenance | null {
  if (kind === "option") return null;
  const said = events.map((event) => findMention(event, word, root));
  if (said.includes("person")) return null;
  const first = said.findIndex((source) => source !== null);
  const cut = events
    .slice(0, first < 0 ? events.length : first)
    .find((event) => isForeign(readSource(event, root)) && leftOut.test(event.text));
  return cut === undefined ? null : readSource(cut, root);
}

const leftOut = /…\[\d+ characters left out\]…/;

/** The first of some words and sentences that was met in somebody else's text before anybody here said it. */
function findCopied(parts: readonly string[], { sessions, root }: WritingFacts): Doubt | null {
  const wanted = [...new Set(parts.map(normalize))].filter((part) => part !== "");
  for (const events of sessions) {
    const said = normalize(
      events.flatMap((event) => (isTyped(event, root) ? ownWords(event.text) : [])).join("\n"),
    );
    let open = wanted.filter((part) => !said.includes(part));
    for (const event of events) {
      if (open.length === 0) break;
      const called =
        event.kind === "call" ? `${event.command ?? ""}\n${JSON.stringify(event.input ?? "")}` : "";
      const [own, text] = [normalize(called), normalize(event.text)];
      // What the agent said in the call itself was there before its answer.
      open = open.filter((part) => !own.includes(part));
      // What a person pasted is not what they said.
      const from = isTyped(event, root) ? "import" : readSource(event, root);
      const [first] = open.filter((part) => text.includes(part));
      if (first !== undefined && isForeign(from)) return { kind: "foreign", from, words: first };
      open = open.filter((part) => !text.includes(part));
    }
  }
  return null;
}

function isTyped(event: Event, root: string | null): boolean {
  return event.kind === "prompt" && readSource(event, root) === "person";
}

/** Says why something waits for a person, as the end of "it waits because". */
export function describeDoubt({ kind, from, words }: Doubt): string {
  if (kind === "dangerous") return `it ${words}`;
  if (kind === "branch") return `it was learned on ${words}`;
  const shown = words.length > 60 ? `${words.slice(0, 60)}…` : words;
  return `"${shown}" came from ${sources[from]}`;
}

const sources: Record<Provenance, string> = {
  person: "the person",
  agent: "the agent",
  program: "a program's output",
  repository: "a file of this repository",
  file: "a file from elsewhere",
  web: "a web page",
  mcp: "a tool server",
  import: "a text that nobody here typed",
};
