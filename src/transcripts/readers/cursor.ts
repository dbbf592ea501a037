import { basename, extname } from "node:path";
import { asArray, asObject, asString, isObject, type JsonObject } from "../../base/index.ts";
import {
  joinText,
  type LineReader,
  LineReading,
  parseTime,
  readCall,
  type TextReader,
  textResult,
} from "../reader.ts";
import type {
  PendingEvent,
  RecordedCall,
  RecordPosition,
  Resume,
  SessionBuilder,
} from "../session-builder.ts";

// Both forms were written from documentation and published descriptions; neither was tried with the client itself.

/** Cursor: `~/.cursor/projects/<project>/agent-transcripts/<id>.txt`. The key is the line at which something begins. */
export const cursorText: TextReader = {
  format: "cursor",
  recognises: (head) => opening.test(head),
  read: (text, sessions, path) => {
    const session = sessions.named("", readFacts(path));
    const open: PendingEvent[] = [];
    for (const section of splitSections(text)) takeSection(session, section, open);
  },
};

/** Cursor's newer versions: a message a line, `agent-transcripts/<id>/<id>.jsonl`. */
export const cursor: LineReader = {
  format: "cursor",
  recognises: (record) => {
    if ("type" in record || !isObject(record.message)) return false;
    const { content } = record.message;
    const isBlocks = Array.isArray(content) && content.every((block) => isObject(block) && "type" in block);
    const isMessage = record.role === "user" || record.role === "assistant";
    return isMessage && (isBlocks || typeof content === "string");
  },
  open: (path, resume) => new CursorReading(path, resume),
};

/** A first turn with what the editor puts into it, or a turn of the agent that thinks or calls. */
const opening =
  /^\uFEFF?\s*(?:user:[ \t]*\r?\n\s*<(?:user_query|user_info|attached_files|open_and_recently_viewed_files|cursor_commands|system_reminder|external_links|image_files|rules|git_status|timestamp)\b|assistant:[ \t]*\r?\n\[(?:Thinking|Tool call)\])/;

function readFacts(path: string) {
  const isHome = path.includes("/agent-transcripts/");
  return {
    sessionId: isHome ? basename(path, extname(path)) : null,
    subagent: path.includes("/subagents/"),
  };
}

/** Adds the person's words, without all that the editor sends with them. */
function addWords(session: SessionBuilder, position: RecordPosition, text: string): void {
  const asked = [...text.matchAll(/<user_query>([\s\S]*?)(?:<\/user_query>|$)/g)].map(([, one]) => one ?? "");
  const bare = text.trimStart().startsWith("<") ? "" : text.trim();
  const words = asked.length > 0 ? asked.join("\n").trim() : bare;
  // What a subagent is told comes from its parent.
  if (words !== "" && !session.facts.subagent) session.prompt(position, words);
}

function addReply(session: SessionBuilder, position: RecordPosition, text: string): void {
  session.reply(position, text.replaceAll("[REDACTED]", "").trim());
}

/** Adds a call. The folder it says it runs in is all that a transcript tells of the project. */
function addCall(session: SessionBuilder, position: RecordPosition, call: RecordedCall): PendingEvent {
  const folder = asString(call.input?.working_directory) || null;
  session.facts.cwd ??= folder;
  return session.call({ ...position, cwd: folder }, call);
}

function readCursorCall(id: string | null, tool: string | null, input: JsonObject | null): RecordedCall {
  const shell = ["Shell", "run_terminal_cmd", "run_terminal_command"];
  return readCall(id, tool, input, { shell, files: ["path", "target_file", "file_path"] });
}

class CursorReading extends LineReading<{ unnamed: string[] }> {
  private readonly session: SessionBuilder;

  constructor(path: string, resume: Resume | null) {
    super(resume, { unnamed: [] });
    this.session = this.sessions.named("", readFacts(path));
  }

  take(record: JsonObject, line: number): void {
    const content = asObject(record.message)?.content;
    const position = { key: String(line), at: parseTime(record.timestamp) };
    if (record.role === "user") addWords(this.session, position, joinText(content));
    else if (typeof content === "string" && record.role === "assistant")
      addReply(this.session, position, content);
    for (const block of asArray(content).filter(isObject)) this.takeBlock(block, record.role, position);
  }

  private takeBlock(block: JsonObject, role: unknown, position: RecordPosition): void {
    const { unnamed } = this.rest;
    if (block.type === "text" && role === "assistant")
      addReply(this.session, position, asString(block.text) ?? "");
    else if (block.type === "tool_use") {
      // Calls without an id are answered in their order.
      const id = asString(block.id) ?? `#${position.key}.${unnamed.length}`;
      if (id.startsWith("#")) unnamed.push(id);
      addCall(this.session, position, readCursorCall(id, asString(block.name), asObject(block.input)));
    } else if (block.type === "tool_result") {
      const event = this.session.answer(asString(block.tool_use_id) ?? unnamed.shift() ?? null);
      const text = joinText(block.content);
      if (event)
        this.session.settle(event, textResult(event.command, text, block.is_error === true), position);
    }
  }
}

/** A stretch of the text form under one heading. */
interface TextSection {
  readonly heading: "user" | "assistant" | "[Thinking]" | "[Tool call]" | "[Tool result]";
  /** What stands beside the heading: the name of a tool, the first line of a thought. */
  readonly beside: string;
  readonly lines: string[];
  readonly line: number;
}

const heading = /^(?:(user|assistant|A):[ \t]*$|(\[(?:Thinking|Tool call|Tool result)\])[ \t]?(.*)$)/;

function splitSections(text: string): TextSection[] {
  const sections: TextSection[] = [];
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  // Where a block ends that the editor sent along: it may quote a transcript, and so may a person.
  let ends = -1;
  const closings = new Map<string, number>();
  for (const [at, line] of lines.entries()) {
    const found = at <= ends ? null : heading.exec(line);
    const tag = at > ends && sections.at(-1)?.heading === "user" ? /^<([a-z_]+)>/.exec(line)?.[1] : undefined;
    if (tag !== undefined) ends = findClosing(tag, lines, at, closings);
    if (found) {
      const [, role, mark, beside = ""] = found;
      const named = (mark ?? (role === "user" ? "user" : "assistant")) as TextSection["heading"];
      sections.push({ heading: named, beside: beside.trim(), lines: [], line: at + 1 });
    } else sections.at(-1)?.lines.push(line);
  }
  return sections;
}

/** The line that closes a tag; -1 when none does. `last` remembers where each tag is closed last: most are never. */
function findClosing(tag: string, lines: readonly string[], from: number, last: Map<string, number>): number {
  const end = `</${tag}>`;
  const latest = last.get(tag) ?? lines.findLastIndex((line) => line.includes(end));
  last.set(tag, latest);
  if (latest < from) return -1;
  let at = from;
  while (!lines[at]?.includes(end)) at++;
  return at;
}

function takeSection(session: SessionBuilder, section: TextSection, open: PendingEvent[]): void {
  const position = { key: String(section.line), at: null };
  const text = section.lines.join("\n");
  switch (section.heading) {
    case "user":
      return addWords(session, position, text);
    case "assistant":
      return addReply(session, position, text);
    case "[Thinking]":
      return addReply(session, position, dropThought(section));
    case "[Tool call]": {
      const call = readCursorCall(null, section.beside || null, readInput(section.lines));
      open.push(addCall(session, position, call));
      return;
    }
    case "[Tool result]": {
      const at = open.findIndex((event) => event.tool === section.beside);
      const [event] = at < 0 ? [] : open.splice(at, 1);
      if (!event) return;
      // Most results are left out of the text; then nobody knows what came of the call.
      const output = text.trim();
      const unknown = { outcome: "unknown", exitCode: null, text: "" } as const;
      return session.settle(event, output === "" ? unknown : textResult(event.command, output), position);
    }
  }
}

/** `  name: value` a line; what follows without a name belongs to the value before it. */
function readInput(lines: readonly string[]): JsonObject {
  const input: Record<string, string> = {};
  let last: string | null = null;
  for (const line of lines) {
    const [, name, value] = /^ {2}([A-Za-z_]\w*):(?: (.*))?$/.exec(line) ?? [];
    if (name !== undefined) {
      last = name;
      input[name] = value ?? "";
    } else if (last !== null) input[last] += `\n${line}`;
  }
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, value.trimEnd()]));
}

/**
 * What the agent says after it thought. Nothing marks where that begins: the paragraphs of a thought stand apart, and
 * the answer follows the last of them without a blank line.
 */
function dropThought({ beside, lines }: TextSection): string {
  const at = lines.findIndex((line, index) => {
    const before = index === 0 ? beside : (lines[index - 1] ?? "");
    return before.trim() !== "" && line.trim() !== "" && !/^\s|^(?:[-*•]|\d+[.)])\s/.test(line);
  });
  return at < 0 ? "" : lines.slice(at).join("\n");
}
