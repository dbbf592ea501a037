import { asArray, asObject, asString, isObject, type JsonObject } from "../../base/index.ts";
import type { ContextUse } from "../../records/index.ts";
import { findWindow, readContextUse } from "../context-use.ts";
import {
  type CallResult,
  exitResult,
  joinText,
  type LineReader,
  LineReading,
  parseTime,
  plainResult,
  type RecordPosition,
  readCall,
} from "../reader.ts";

/** pi: `~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl`. */
export const pi: LineReader = {
  format: "pi",
  recognises: (record) => {
    if (record.type === "session") return typeof record.id === "string" && typeof record.cwd === "string";
    return record.type === "message" && typeof asObject(record.message)?.role === "string";
  },
  skips: (text) => text.startsWith('{"type":"custom",'),
  open: (path, resume) => new PiReading(path, resume, { last: null, delegated: false }),
};

interface PiRest {
  /** The last record: the next one says which record it follows. */
  last: string | null;
  /** From here on another agent gives the orders. */
  delegated: boolean;
}

class PiReading extends LineReading<PiRest> {
  take(record: JsonObject, line: number): void {
    if (record.type === "session") return this.takeHeader(record);
    const position = this.locate(line, { time: record.timestamp, id: record.id });
    if (this.session.repeats(position.origin)) return;
    this.follow(record, position);
    // Settings, and what extensions keep or tell the model, are left out.
    if (record.type === "message") this.takeMessage(asObject(record.message) ?? {}, position);
    else if (record.type === "compaction") this.session.mark(position, "Conversation compacted");
    else if (record.type === "session_info" && asString(record.name)?.startsWith("subagent-"))
      this.delegate();
  }

  private takeHeader(header: JsonObject): void {
    const { facts } = this.session;
    if (facts.sessionId !== null) return;
    facts.sessionId = asString(header.id);
    facts.cwd = asString(header.cwd);
    this.session.reach(parseTime(header.timestamp));
  }

  /** The records are a tree: one that does not follow the latest begins where the person went back to. */
  private follow(record: JsonObject, position: RecordPosition): void {
    const parent = asString(record.parentId);
    if (this.rest.last !== null && parent !== null && parent !== this.rest.last)
      this.session.mark({ ...position, origin: null }, "Went back to an earlier message");
    this.rest.last = asString(record.id) ?? this.rest.last;
  }

  private delegate(): void {
    this.rest.delegated = true;
    // A session that goes on from what a person said stays theirs up to there.
    if (this.session.counts.prompts === 0) this.session.facts.subagent = true;
  }

  private takeMessage(message: JsonObject, position: RecordPosition): void {
    switch (message.role) {
      case "user":
        return this.takeWords(joinText(message.content).trim(), position);
      case "assistant":
        return this.takeReply(message, position);
      case "toolResult":
        return this.session.settleCall(message.toolCallId, position, (command) => judge(command, message));
      case "bashExecution":
        // The person's own command, typed with a "!" before it.
        return this.session.mark(position, asString(message.output) ?? "", asString(message.command));
      default:
        return;
    }
  }

  private takeWords(text: string, position: RecordPosition): void {
    // What the extension for subagents writes in the person's place.
    if (/^Task: (?:\[Read from: |[\s\S]*\nYou are a delegated subagent )/.test(text)) this.delegate();
    if (text === "" || this.rest.delegated) return;
    const skill = /^<skill name="([^"\n]+)"[^>\n]*>[\s\S]*?<\/skill>\s*([\s\S]*)$/.exec(text);
    if (!skill) return this.session.prompt(position, text);
    const called = { ...position, skill: skill[1] as string };
    if (skill[2]) this.session.prompt(called, skill[2]);
    else this.session.mark(called, `/skill:${skill[1]}`);
  }

  private takeReply(message: JsonObject, position: RecordPosition): void {
    const tools = { shell: ["bash"], files: ["path", "file_path"] };
    const counted = { ...position, context: readContext(message) };
    this.session.reply(counted, joinText(message.content));
    for (const block of asArray(message.content).filter(isObject))
      if (block.type === "toolCall")
        this.session.call(counted, readCall(block.id, block.name, block.arguments, tools));
    if (message.stopReason === "aborted") this.session.mark(position, "Interrupted");
    else if (message.stopReason === "error")
      this.session.mark(position, asString(message.errorMessage) ?? "The model did not answer");
  }
}

function readContext({ usage, provider, model }: JsonObject): ContextUse | null {
  const { input, output, cacheRead, cacheWrite, totalTokens: total } = asObject(usage) ?? {};
  const window = findWindow(asString(provider) ?? "", asString(model) ?? "");
  return readContextUse({ input, output, cached: [cacheRead, cacheWrite], total }, window);
}

function judge(command: string | null, message: JsonObject): CallResult {
  const raw = joinText(message.content);
  const end = command === null ? null : /\n*Command (?:exited with code (-?\d+)|aborted)\s*$/.exec(raw);
  const text = end ? raw.slice(0, end.index) : raw;
  if (end?.[1] !== undefined) return exitResult(command, Number(end[1]), text);
  if (end || (message.isError === true && /^Operation aborted/.test(raw)))
    return plainResult("cancelled", text);
  if (message.isError === true) return plainResult("failed", text);
  return command === null ? plainResult("ok", text) : exitResult(command, 0, text);
}
