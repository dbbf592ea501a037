import { basename } from "node:path";
import { asArray, asObject, asString, isObject, type JsonObject } from "../../base/index.ts";
import {
  joinText,
  type LineReader,
  LineReading,
  type RecordPosition,
  readCall,
  textResult,
} from "../reader.ts";

/**
 * Cursor: `~/.cursor/projects/<project>/agent-transcripts/<id>/<id>.jsonl`, a message a line. Written from
 * documentation and published descriptions; it was not tried with the client itself.
 */
export const cursor: LineReader = {
  format: "cursor",
  recognises: (record) => {
    if ("type" in record || !isObject(record.message)) return false;
    const { content } = record.message;
    const isBlocks = Array.isArray(content) && content.every((block) => isObject(block) && "type" in block);
    const isMessage = record.role === "user" || record.role === "assistant";
    return isMessage && (isBlocks || typeof content === "string");
  },
  open: (path, resume) => new CursorReading(path, resume, { unnamed: [] }),
};

const tools = {
  shell: ["Shell", "run_terminal_cmd", "run_terminal_command"],
  files: ["path", "target_file", "file_path"],
};

/** `unnamed` are calls without an id; they are answered in their order. */
class CursorReading extends LineReading<{ unnamed: string[] }> {
  take(record: JsonObject, line: number): void {
    const { facts } = this.session;
    if (this.path.includes("/agent-transcripts/")) facts.sessionId = basename(this.path, ".jsonl");
    facts.subagent = this.path.includes("/subagents/");
    const content = asObject(record.message)?.content;
    const position = this.locate(line, { time: record.timestamp, id: null });
    if (record.role === "user") this.takeWords(joinText(content), position);
    else if (typeof content === "string" && record.role === "assistant") this.takeReply(content, position);
    for (const block of asArray(content).filter(isObject)) this.takeBlock(block, record.role, position);
  }

  /** The person's words, without all that the editor sends with them. */
  private takeWords(text: string, position: RecordPosition): void {
    const asked = [...text.matchAll(/<user_query>([\s\S]*?)(?:<\/user_query>|$)/g)].map(
      ([, one]) => one ?? "",
    );
    const bare = text.trimStart().startsWith("<") ? "" : text.trim();
    const words = asked.length > 0 ? asked.join("\n").trim() : bare;
    // What a subagent is told comes from its parent.
    if (words !== "" && !this.session.facts.subagent) this.session.prompt(position, words);
  }

  private takeReply(text: string, position: RecordPosition): void {
    this.session.reply(position, text.replaceAll("[REDACTED]", "").trim());
  }

  private takeBlock(block: JsonObject, role: unknown, position: RecordPosition): void {
    const { unnamed } = this.rest;
    if (block.type === "text" && role === "assistant") this.takeReply(asString(block.text) ?? "", position);
    else if (block.type === "tool_use") {
      const id = asString(block.id) ?? `#${position.key}.${unnamed.length}`;
      if (id.startsWith("#")) unnamed.push(id);
      const call = readCall(id, block.name, block.input, tools);
      // The folder a call says it runs in is all that a transcript tells of the project.
      const folder = asString(call.input?.working_directory) || null;
      this.session.facts.cwd ??= folder;
      this.session.call({ ...position, cwd: folder }, call);
    } else if (block.type === "tool_result") {
      const text = joinText(block.content);
      this.session.settleCall(block.tool_use_id ?? unnamed.shift(), position, (command) =>
        textResult(command, text, block.is_error === true),
      );
    }
  }
}
