import { isObject, type Json, type JsonObject, listOf, objectOf, textOf } from "../core/json.ts";
import { outcomeOfExit } from "../core/outcome.ts";
import type { ReadingState, Resume } from "../engine/ports.ts";
import { type Reader, type Reading, timeOf } from "./reader.ts";
import type { Call, Place, Result, Thread } from "./thread.ts";
import { Threads } from "./threads.ts";

/** pi: `~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl`. */
export const pi: Reader = {
  format: "pi",
  recognises: (record) => {
    if (!isObject(record)) return false;
    if (record.type === "session") return typeof record.id === "string" && typeof record.cwd === "string";
    return record.type === "message" && typeof objectOf(record.message)?.role === "string";
  },
  passesOver: (text) => text.startsWith('{"type":"custom",'),
  open: (_, resume) => new PiReading(resume),
};

interface Rest {
  /** The record that came last: the next one says what it follows. */
  readonly last: string | null;
  /** From here on another agent gives the orders. */
  readonly delegated: boolean;
}

class PiReading implements Reading {
  readonly threads: Threads;
  private readonly thread: Thread;
  private last: string | null;
  private delegated: boolean;

  constructor(resume: Resume | null) {
    this.threads = new Threads("transcript", resume);
    this.thread = this.threads.named("");
    const rest = resume?.state.rest as unknown as Rest | undefined;
    this.last = rest?.last ?? null;
    this.delegated = rest?.delegated ?? false;
  }

  state(): ReadingState {
    const rest: Rest = { last: this.last, delegated: this.delegated };
    return { threads: this.threads.states(), rest: rest as unknown as Json };
  }

  take(record: unknown, line: number): void {
    if (!isObject(record)) return;
    if (record.type === "session") return this.takeHeader(record);
    const place = this.place(record, line);
    if (this.thread.repeats(place.origin)) return;
    this.follow(record, place);
    switch (record.type) {
      case "message":
        return this.takeMessage(objectOf(record.message) ?? {}, place);
      case "session_info":
        if (textOf(record.name)?.startsWith("subagent-")) this.delegate();
        return;
      case "compaction":
        return this.thread.mark(place, "Conversation compacted");
      default:
        // Settings, and what extensions keep or tell the model.
        return;
    }
  }

  private takeHeader(header: JsonObject): void {
    const { facts } = this.thread;
    if (facts.sessionId !== null) return;
    facts.sessionId = textOf(header.id);
    facts.cwd = textOf(header.cwd);
    this.thread.reach(timeOf(header.timestamp));
  }

  /** The records are a tree: one that does not follow the latest begins where the person went back to. */
  private follow(record: JsonObject, place: Place): void {
    const parent = textOf(record.parentId);
    if (this.last !== null && parent !== null && parent !== this.last)
      this.thread.mark({ ...place, origin: null }, "Went back to an earlier message");
    this.last = textOf(record.id) ?? this.last;
  }

  private delegate(): void {
    this.delegated = true;
    // A session that goes on from what a person said stays theirs up to there.
    if (this.thread.counts.prompts === 0) this.thread.facts.subagent = true;
  }

  private takeMessage(message: JsonObject, place: Place): void {
    switch (message.role) {
      case "user":
        return this.takeWords(textIn(message.content).trim(), place);
      case "assistant":
        return this.takeReply(message, place);
      case "toolResult":
        return this.takeResult(message, place);
      case "bashExecution":
        // The person's own command, typed with a "!" before it.
        return this.thread.mark(place, textOf(message.output) ?? "", textOf(message.command));
      default:
        return;
    }
  }

  private takeWords(text: string, place: Place): void {
    if (isOrder(text)) this.delegate();
    if (text === "" || this.delegated) return;
    const skill = /^<skill name="([^"\n]+)"[^>\n]*>[\s\S]*?<\/skill>\s*([\s\S]*)$/.exec(text);
    if (!skill) return this.thread.prompt(place, text);
    const called = { ...place, skill: skill[1] as string };
    if (skill[2]) this.thread.prompt(called, skill[2]);
    else this.thread.mark(called, `/skill:${skill[1]}`);
  }

  private takeReply(message: JsonObject, place: Place): void {
    const text = textIn(message.content);
    if (text.trim() !== "") this.thread.reply(place, text);
    for (const block of listOf(message.content))
      if (isObject(block) && block.type === "toolCall") this.thread.call(place, callOf(block));
    if (message.stopReason === "aborted") this.thread.mark(place, "Interrupted");
    else if (message.stopReason === "error")
      this.thread.mark(place, textOf(message.errorMessage) ?? "The model did not answer");
  }

  private takeResult(message: JsonObject, place: Place): void {
    const id = textOf(message.toolCallId);
    const draft = id === null ? undefined : this.thread.answer(id);
    if (draft) this.thread.settle(draft, judge(draft.command, message), place);
  }

  private place(record: JsonObject, line: number): Place {
    const at = timeOf(record.timestamp);
    this.thread.reach(at);
    const id = textOf(record.id);
    return {
      key: String(line),
      at,
      cwd: this.thread.facts.cwd,
      origin: id === null || id.toUpperCase().includes("REDACT") ? null : `${id} ${at}`,
      sidechain: false,
    };
  }
}

/** What the extension for subagents writes in the person's place. */
function isOrder(text: string): boolean {
  return /^Task: (?:\[Read from: |[\s\S]*\nYou are a delegated subagent )/.test(text);
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .flatMap((block) => (isObject(block) && block.type === "text" ? (textOf(block.text) ?? []) : []))
    .join("\n");
}

function callOf(block: JsonObject): Call {
  const tool = textOf(block.name) ?? "unknown";
  const input = objectOf(block.arguments);
  const file = textOf(input?.path) ?? textOf(input?.file_path);
  return {
    id: textOf(block.id),
    tool,
    input,
    command: tool === "bash" ? textOf(input?.command) : null,
    files: file === null ? [] : [file],
  };
}

function judge(command: string | null, message: JsonObject): Result {
  const raw = textIn(message.content);
  const failed = message.isError === true;
  const end = command === null ? null : /\n*Command (exited with code (-?\d+)|aborted)\s*$/.exec(raw);
  const text = end ? raw.slice(0, end.index) : raw;
  if (end?.[1] === "aborted") return { outcome: "cancelled", exitCode: null, text };
  if (end?.[2] !== undefined) {
    const exitCode = Number(end[2]);
    return { outcome: outcomeOfExit(command, exitCode, text), exitCode, text };
  }
  if (failed)
    return { outcome: /^Operation aborted/.test(raw) ? "cancelled" : "failed", exitCode: null, text };
  return { outcome: "ok", exitCode: command === null ? null : 0, text };
}
