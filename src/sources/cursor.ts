import { basename, extname } from "node:path";
import { isObject, type JsonObject, listOf, objectOf, textOf } from "../core/json.ts";
import type { ReadingState, Resume } from "../engine/ports.ts";
import { plainText } from "./claude-code.ts";
import { type Reader, type Reading, type TextReader, timeOf } from "./reader.ts";
import type { Draft, Place, Thread } from "./thread.ts";
import { Threads } from "./threads.ts";
import { callOf, folderOf, resultOf, Waiting } from "./tool-call.ts";

/** Cursor: `~/.cursor/projects/<project>/agent-transcripts/<id>.txt`. The key is the line at which something begins. */
export const cursorText: TextReader = {
  format: "cursor",
  recognises: (head) => opening.test(head),
  read: (text, threads, path) => {
    const reading = new TextReading(threads.named("", factsOf(path)));
    for (const section of sectionsOf(text)) reading.take(section);
  },
};

/** The same in newer versions: a message a line, `agent-transcripts/<id>/<id>.jsonl`. */
export const cursor: Reader = {
  format: "cursor",
  recognises: (record) => {
    if (!isObject(record) || "type" in record || !isObject(record.message)) return false;
    const { content } = record.message;
    const blocks = Array.isArray(content) && content.every((block) => isObject(block) && "type" in block);
    return (record.role === "user" || record.role === "assistant") && (blocks || typeof content === "string");
  },
  passesOver: () => false,
  open: (path, resume) => new LineReading(path, resume),
};

/** A first turn with what the editor puts into it, or a turn of the agent that thinks or calls. */
const opening =
  /^\uFEFF?\s*(?:user:[ \t]*\r?\n\s*<(?:user_query|user_info|attached_files|open_and_recently_viewed_files|cursor_commands|system_reminder|external_links|image_files|rules|git_status|timestamp)\b|assistant:[ \t]*\r?\n\[(?:Thinking|Tool call)\])/;

function factsOf(path: string) {
  const isHome = path.includes("/agent-transcripts/");
  return {
    sessionId: isHome ? basename(path, extname(path)) : null,
    subagent: path.includes("/subagents/"),
  };
}

/** The person's words out of all that the editor sends with them. */
function wordsIn(text: string): string {
  const asked = [...text.matchAll(/<user_query>([\s\S]*?)(?:<\/user_query>|$)/g)].map(
    ([, words]) => words ?? "",
  );
  if (asked.length > 0) return asked.join("\n").trim();
  return text.trimStart().startsWith("<") ? "" : text.trim();
}

function hear(thread: Thread, text: string, place: Place): void {
  const words = wordsIn(text);
  // What a subagent is told comes from its parent.
  if (words !== "" && !thread.facts.subagent) thread.prompt(place, words);
}

function reply(thread: Thread, text: string, place: Place): void {
  const words = text.replaceAll("[REDACTED]", "").trim();
  if (words !== "") thread.reply(place, words);
}

/** Where a call says it runs is all that a transcript tells of the project. */
function placeOfCall(thread: Thread, input: JsonObject | null, place: Place): Place {
  const folder = folderOf(input);
  if (folder === null) return place;
  thread.facts.cwd ??= folder;
  return { ...place, cwd: folder };
}

class LineReading implements Reading {
  readonly threads: Threads;
  private readonly thread: Thread;
  private readonly waiting: Waiting;

  constructor(path: string, resume: Resume | null) {
    this.threads = new Threads("transcript", resume);
    this.thread = this.threads.named("", factsOf(path));
    this.waiting = new Waiting(
      listOf(resume?.state.rest).filter((id): id is string => typeof id === "string"),
    );
  }

  state(): ReadingState {
    return { threads: this.threads.states(), rest: this.waiting.list() };
  }

  take(record: unknown, line: number): void {
    if (!isObject(record)) return;
    const content = objectOf(record.message)?.content;
    const at = timeOf(record.timestamp);
    const place = { key: String(line), at, cwd: this.thread.facts.cwd, origin: null, sidechain: false };
    if (record.role === "user") hear(this.thread, plainText(content), place);
    else if (typeof content === "string" && record.role === "assistant") reply(this.thread, content, place);
    for (const block of listOf(content)) if (isObject(block)) this.takeBlock(block, record.role, place);
  }

  private takeBlock(block: JsonObject, role: unknown, place: Place): void {
    if (block.type === "text" && role === "assistant") reply(this.thread, textOf(block.text) ?? "", place);
    else if (block.type === "tool_use") {
      const input = objectOf(block.input);
      const call = callOf(textOf(block.id), textOf(block.name) ?? "unknown", input);
      const id = this.waiting.add(call.id, place);
      this.thread.call(placeOfCall(this.thread, input, place), { ...call, id });
    } else if (block.type === "tool_result") {
      const id = this.waiting.take(textOf(block.tool_use_id));
      const draft = id === null ? undefined : this.thread.answer(id);
      if (!draft) return;
      const result = resultOf(draft.command, plainText(block.content), { failed: block.is_error === true });
      this.thread.settle(draft, result, place);
    }
  }
}

/** A stretch of the text form under one heading. */
interface Section {
  readonly heading: "user" | "assistant" | "[Thinking]" | "[Tool call]" | "[Tool result]";
  /** What stands beside the heading: the name of a tool, the first line of a thought. */
  readonly beside: string;
  readonly lines: string[];
  readonly line: number;
}

const heading = /^(?:(user|assistant|A):[ \t]*$|(\[(?:Thinking|Tool call|Tool result)\])[ \t]?(.*)$)/;

function sectionsOf(text: string): Section[] {
  const sections: Section[] = [];
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  // Where a block ends that the editor sent along: it may quote a transcript, and so may a person.
  let ends = -1;
  const closings = new Map<string, number>();
  for (const [at, line] of lines.entries()) {
    const found = at <= ends ? null : heading.exec(line);
    const tag = at > ends && sections.at(-1)?.heading === "user" ? /^<([a-z_]+)>/.exec(line)?.[1] : undefined;
    if (tag !== undefined) ends = closingOf(tag, lines, at, closings);
    if (found) sections.push({ ...namedBy(found), lines: [], line: at + 1 });
    else sections.at(-1)?.lines.push(line);
  }
  return sections;
}

/** The line that closes a tag; -1 when none does. `last` remembers where each tag is closed last: most are never. */
function closingOf(tag: string, lines: readonly string[], from: number, last: Map<string, number>): number {
  const end = `</${tag}>`;
  const latest = last.get(tag) ?? lines.findLastIndex((line) => line.includes(end));
  last.set(tag, latest);
  if (latest < from) return -1;
  let at = from;
  while (!lines[at]?.includes(end)) at++;
  return at;
}

function namedBy([, role, mark, beside]: RegExpExecArray): Pick<Section, "heading" | "beside"> {
  const heading = (mark ?? (role === "user" ? "user" : "assistant")) as Section["heading"];
  return { heading, beside: (beside ?? "").trim() };
}

class TextReading {
  private readonly thread: Thread;
  private readonly open: Draft[] = [];

  constructor(thread: Thread) {
    this.thread = thread;
  }

  take(section: Section): void {
    const { cwd } = this.thread.facts;
    const place = { key: String(section.line), at: null, cwd, origin: null, sidechain: false };
    const text = section.lines.join("\n");
    switch (section.heading) {
      case "user":
        return hear(this.thread, text, place);
      case "assistant":
        return reply(this.thread, text, place);
      case "[Thinking]":
        return reply(this.thread, afterThought(section), place);
      case "[Tool call]":
        return this.takeCall(section, place);
      case "[Tool result]":
        return this.takeResult(section.beside, text.trim(), place);
    }
  }

  private takeCall({ beside, lines }: Section, place: Place): void {
    const input = inputIn(lines);
    const call = callOf(null, beside || "unknown", input);
    this.open.push(this.thread.call(placeOfCall(this.thread, input, place), call));
  }

  /** Most results are left out of the text; then nobody knows what came of the call. */
  private takeResult(tool: string, text: string, place: Place): void {
    const at = this.open.findIndex((draft) => draft.tool === tool);
    const [draft] = at < 0 ? [] : this.open.splice(at, 1);
    if (!draft) return;
    const unknown = { outcome: "unknown", exitCode: null, text } as const;
    this.thread.settle(draft, text === "" ? unknown : resultOf(draft.command, text), place);
  }
}

/** `  name: value` a line; what follows without a name belongs to the value before it. */
function inputIn(lines: readonly string[]): JsonObject {
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
function afterThought({ beside, lines }: Section): string {
  const at = lines.findIndex((line, index) => {
    const before = index === 0 ? beside : (lines[index - 1] ?? "");
    return before.trim() !== "" && line.trim() !== "" && !/^\s|^(?:[-*•]|\d+[.)])\s/.test(line);
  });
  return at < 0 ? "" : lines.slice(at).join("\n");
}
