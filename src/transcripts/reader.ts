import { asArray, asString, isObject, type Json, type JsonObject } from "../base/index.ts";
import { readOutcome } from "../failures/index.ts";
import type { EventSource, Format, ReadingState } from "../records/index.ts";
import {
  type CallResult,
  type RecordedCall,
  type RecordPosition,
  type Resume,
  type SessionBuilder,
  SessionBuilders,
} from "./session-builder.ts";

/** Reads a format whose files hold one JSON record a line. */
export interface LineReader {
  readonly format: Format;
  /** Whether a record from the head of a file is of this format. */
  recognises(record: JsonObject): boolean;
  /** Whether a line, by how it begins, holds nothing for this reader: most need no parsing to be skipped. */
  skips?(text: string): boolean;
  open(path: string, resume: Resume | null): LineReading;
}

/** A file of lines being read. `rest` is what the reader needs beside the sessions to go on later; it must be JSON. */
export abstract class LineReading<Rest extends object = object> {
  readonly sessions: SessionBuilders;
  protected readonly rest: Rest;

  constructor(resume: Resume | null, rest: Rest, source: EventSource = "transcript") {
    this.sessions = new SessionBuilders(source, resume);
    this.rest = { ...rest, ...structuredClone(resume?.state.rest as Rest | undefined) };
  }

  abstract take(record: JsonObject, line: number): void;

  state(): ReadingState {
    return { threads: this.sessions.states(), rest: structuredClone(this.rest) as Json };
  }
}

/** Reads a format whose file is one JSON document: read whole, and again whenever it has changed. */
export interface DocumentReader {
  readonly format: Format;
  recognises(document: Json): boolean;
  /** Adds the sessions that a document holds: `sessions.named("")` where it is one. */
  read(document: Json, sessions: SessionBuilders, path: string): void;
  /** Other files that belong to the document at this path: when one changes, the document has changed. */
  beside?(path: string): readonly string[];
}

/** Reads a format that is plain text: read whole, and again whenever it has changed. */
export interface TextReader {
  readonly format: Format;
  /** Whether a text that begins like this is of this format. */
  recognises(head: string): boolean;
  read(text: string, sessions: SessionBuilders, path: string): void;
}

/** A database of another program, opened for reading only. */
export interface ForeignDatabase {
  query(sql: string, ...values: readonly string[]): Readonly<Record<string, unknown>>[];
  close(): void;
}

/** Reads a format that is a database of many sessions. Each is read whole, and again when it has changed. */
export interface DatabaseReader {
  readonly format: Format;
  /** Whether a database with tables of these names is of this format. */
  recognises(tables: ReadonlySet<string>): boolean;
  /** The sessions in it, each with a stamp that changes when the session does. */
  sessions(database: ForeignDatabase): readonly { readonly name: string; readonly stamp: string }[];
  read(database: ForeignDatabase, session: string, builder: SessionBuilder): void;
}

/** No agent wrote a transcript before or after these. */
const [earliest, latest] = [Date.UTC(2000), Date.UTC(2200)];

/** Milliseconds of an ISO time or a number; null for what cannot be when something happened. */
export function parseTime(value: unknown): number | null {
  const at = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return at >= earliest && at < latest ? Math.trunc(at) : null;
}

/** An id that tells records apart; null where there is none, or a published transcript has blanked it out. */
export function readId(value: unknown): string | null {
  const id = asString(value);
  return id === null || id.toUpperCase().includes("REDACT") ? null : id;
}

/** The text of a string or of a list of text parts. */
export function joinText(content: unknown): string {
  if (typeof content === "string") return content;
  return asArray(content)
    .flatMap((part) => (isObject(part) ? (asString(part.text) ?? []) : []))
    .join("\n");
}

/** A tool call; `shell` names the tools that run a command, `files` the arguments that name a file, the first found. */
export function readCall(
  id: string | null,
  tool: string | null,
  input: JsonObject | null,
  { shell, files }: { readonly shell: readonly string[]; readonly files: readonly string[] },
): RecordedCall {
  const named = files.flatMap((name) => asString(input?.[name]) ?? []);
  return {
    id,
    tool: tool ?? "unknown",
    input,
    command: tool !== null && shell.includes(tool) ? asString(input?.command) : null,
    files: named.slice(0, 1),
  };
}

/** The shell text of `["bash", "-lc", text]`, or the words of another program. */
export function readShellWords(command: unknown): string | null {
  if (typeof command === "string") return command;
  const words = asArray(command).filter((word): word is string => typeof word === "string");
  if (words.length === 0) return null;
  return words.length === 3 && /^-l?i?c$/.test(words[1] ?? "") ? (words[2] ?? null) : words.join(" ");
}

/** The files that a patch in Codex's format touches. */
export function findPatchedFiles(patch: string): string[] {
  return [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(([, file]) =>
    (file ?? "").trim(),
  );
}

/** The result of a call that ended with an exit code. */
export function exitResult(command: string | null, exitCode: number, text: string): CallResult {
  return { outcome: readOutcome(command, exitCode, text), exitCode, text };
}

/** The result of a call whose exit code stands in its text, if anywhere; else what the text shows. */
export function textResult(command: string | null, text: string, failed = false): CallResult {
  const head = /^\s*(?:Error: )?(?:Exit code:? |<returncode>)(-?\d+)/i.exec(text.slice(0, 200));
  const said = head ?? ended.exec(text.slice(0, 400)) ?? ended.exec(text.slice(-400));
  // Asked about a command that is still running, agents answer -1.
  if (said?.[1] === "-1" && !failed) return { outcome: "unknown", exitCode: null, text };
  if (said) return exitResult(command, Number(said[1]), text);
  return { outcome: failed ? "failed" : readOutcome(command, null, text), exitCode: null, text };
}

const ended =
  /(?:^|\n|\[)(?:The )?(?:command|process) (?:finished|completed|exited|executed|ended|failed) with (?:exit )?(?:code|status) (-?\d+)/i;

/** Commands to the client whose words are not for the agent. */
const clientCommands = new Set(
  "model effort theme color config output-style permissions add-dir mcp plugin vim fast rename export ide statusline".split(
    " ",
  ),
);

/** Adds what a person typed: a prompt, or a slash command with the words after it. */
export function addTyped(session: SessionBuilder, position: RecordPosition, text: string): void {
  const command = /^(\/[a-z][\w:-]*)(?:\s+([\s\S]*))?$/.exec(text);
  if (command) addSlashCommand(session, position, command[1] ?? "", command[2] ?? "");
  else session.prompt(position, text);
}

/** Adds a slash command: the words after its name are the person's; a name alone, or a setting, is a mark. */
export function addSlashCommand(
  session: SessionBuilder,
  position: RecordPosition,
  name: string,
  words: string,
): void {
  const skill = readSkillName(name);
  const isSetting = clientCommands.has(name.replace("/", ""));
  const called = skill === null || isSetting ? position : { ...position, skill };
  if (words === "" || isSetting) session.mark(called, `${name} ${words}`.trim());
  else session.prompt(called, words);
}

/** The name of a skill, a command or an agent; null for anything else. */
export function readSkillName(value: unknown): string | null {
  const name = asString(value)?.replace(/^\//, "") ?? "";
  return /^[\p{L}\p{N}][\p{L}\p{N}_.:-]{0,127}$/u.test(name) ? name : null;
}
