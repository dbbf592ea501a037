import { basename } from "node:path";
import { asArray, asObject, asString, isObject, type JsonObject } from "../../base/index.ts";
import { readOutcome } from "../../failures/index.ts";
import {
  addSlashCommand,
  exitResult,
  joinText,
  type LineReader,
  LineReading,
  parseTime,
  readCall,
  readId,
  readSkillName,
} from "../reader.ts";
import type { CallResult, RecordedCall, RecordPosition, Resume, SessionBuilder } from "../session-builder.ts";

/** Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and its subagents' files. */
export const claudeCode: LineReader = {
  format: "claude-code",
  recognises: (record) => {
    if (typeof record.type !== "string" || "payload" in record) return false;
    // Other logs have records of these types too; Claude Code's messages have a role or content.
    if (record.type === "user" || record.type === "assistant")
      return isObject(record.message) && ("role" in record.message || "content" in record.message);
    return typeof record.sessionId === "string" || bookkeeping.has(record.type);
  },
  skips: (text) => {
    const type = text.indexOf('"type":"') + 8;
    return type > 7 && (text.startsWith('progress"', type) || text.startsWith("file-history-", type));
  },
  open: (path, resume) => new ClaudeReading(path, resume),
};

const bookkeeping = new Set(["summary", "file-history-snapshot"]);

interface ClaudeRest {
  /** Messages typed while the agent worked, which wait in its queue. */
  queue: { readonly line: number; readonly at: number | null; readonly text: string }[];
  /** Queued words that were counted when they reached the agent: some versions record them again. */
  heard: string[];
}

class ClaudeReading extends LineReading<ClaudeRest> {
  private readonly session: SessionBuilder;
  private readonly fileName: string;

  constructor(path: string, resume: Resume | null) {
    super(resume, { queue: [], heard: [] });
    this.session = this.sessions.named("");
    this.fileName = basename(path, ".jsonl");
  }

  take(record: JsonObject, line: number): void {
    switch (record.type) {
      case "user":
        return this.takeUser(record, line);
      case "assistant":
        return this.takeAssistant(record, line);
      case "attachment":
        return this.takeAttachment(record, line);
      case "system":
        return this.takeSystem(record, line);
      case "queue-operation":
        return this.takeQueue(record, line);
      default:
        // Progress copies what subagents' own files hold; the rest is the client's bookkeeping.
        return;
    }
  }

  private takeUser(record: JsonObject, line: number): void {
    const position = this.locate(record, line);
    if (this.session.repeats(position.origin)) return;
    const said: string[] = [];
    for (const block of readBlocks(record)) {
      if (block.type === "tool_result") this.takeResult(record, block, position);
      else if (block.type === "text" && typeof block.text === "string") said.push(block.text);
    }
    if (said.length > 0) this.takeWords(record, said.join("\n"), position);
  }

  /** Text in the user's place: words of a person, or one of the many things the client puts there. */
  private takeWords(record: JsonObject, raw: string, position: RecordPosition): void {
    const text = dropInjected(raw);
    if (record.isCompactSummary === true || record.isVisibleInTranscriptOnly === true || text === "") return;
    if (isNotification(text)) return this.takeNotification(text, position);
    if (text.startsWith("[Request interrupted")) return this.session.mark(position, text);
    if (record.isMeta === true || record.promptSource === "system" || position.sidechain) return;
    if (!isHuman(record.origin)) return;
    if ("planContent" in record || text.startsWith("Implement the following plan:")) return;
    if (text.startsWith("<bash-input>"))
      return this.session.mark(position, "", extractTag(text, "bash-input"));
    if (text.startsWith("<command-")) {
      const [name, args] = [extractTag(text, "command-name"), extractTag(text, "command-args")];
      return addSlashCommand(this.session, position, name, args);
    }
    if (notTyped.some((start) => text.startsWith(start)) || isBareCommand(text)) return;
    if (!this.wasHeard(text)) this.session.prompt(position, text);
  }

  private takeAssistant(record: JsonObject, line: number): void {
    const position = this.locate(record, line);
    if (this.session.repeats(position.origin)) return;
    // Text that the client wrote in the model's place, such as an API error.
    const isLocal = record.isApiErrorMessage === true || asObject(record.message)?.model === "<synthetic>";
    for (const block of readBlocks(record)) {
      if (block.type === "tool_use")
        this.session.call(position, readClaudeCall(block.id, block.name, block.input));
      else if (block.type === "text" && typeof block.text === "string" && block.text.trim() !== "") {
        if (isLocal) this.session.mark(position, block.text);
        else this.session.reply(position, block.text);
      }
    }
  }

  private takeResult(record: JsonObject, block: JsonObject, position: RecordPosition): void {
    const event = this.session.answer(asString(block.tool_use_id));
    if (!event) return;
    const text = dropReminders(joinText(block.content));
    const details = asObject(record.toolUseResult);
    const isDenied = typeof record.toolDenialKind === "string";
    const result = judgeResult(event.command, block.is_error === true, text, details);
    this.session.settle(event, isDenied ? { ...result, outcome: "rejected" } : result, position);
    if (typeof details?.backgroundTaskId === "string")
      this.session.running.set(details.backgroundTaskId, event);
    const words = block.is_error === true ? extractRefusalWords(text) : "";
    if (words !== "" && !position.sidechain) this.session.prompt(position, words);
  }

  private takeAttachment(record: JsonObject, line: number): void {
    const attachment = asObject(record.attachment);
    if (attachment?.type !== "queued_command") return;
    const position = this.locate(record, line);
    if (this.session.repeats(position.origin)) return;
    const text = dropInjected(joinText(attachment.prompt));
    if (isNotification(text)) return this.takeNotification(text, position);
    const { commandMode, isMeta, origin } = attachment;
    if ((commandMode ?? "prompt") !== "prompt" || isMeta === true || position.sidechain || text === "")
      return;
    if (isHuman(origin) && !this.wasHeard(text)) this.session.prompt(position, text);
  }

  private takeSystem(record: JsonObject, line: number): void {
    if (record.subtype !== "compact_boundary") return;
    const position = this.locate(record, line);
    if (!this.session.repeats(position.origin)) this.session.mark(position, "Conversation compacted");
  }

  /**
   * A queued message reaches the agent in one of three ways: `dequeue` and a user record, `remove` with its text
   * and an attachment, or, in versions between, `remove` alone, and then the words stand only here.
   */
  private takeQueue(record: JsonObject, line: number): void {
    const { queue } = this.rest;
    const content = asString(record.content);
    const at = parseTime(record.timestamp);
    if (record.operation === "enqueue" && content !== null) queue.push({ line, at, text: content });
    else if (record.operation === "popAll") this.rest.queue = [];
    else if (record.operation === "dequeue") queue.shift();
    else if (record.operation === "remove") {
      const found = content === null ? -1 : queue.findIndex(({ text }) => text === content);
      const [queued] = queue.splice(Math.max(found, 0), 1);
      if (queued && content === null && isTyped(queued.text)) this.hear(queued);
    }
  }

  private hear({ line, at, text }: ClaudeRest["queue"][number]): void {
    const origin = `queue:${line}:${at}`;
    if (this.session.repeats(origin)) return;
    this.rest.heard.push(text);
    this.session.prompt({ key: String(line), at, origin }, text);
  }

  private wasHeard(text: string): boolean {
    const at = this.rest.heard.indexOf(text);
    if (at >= 0) this.rest.heard.splice(at, 1);
    return at >= 0;
  }

  /** The end of a command that was sent to the background. */
  private takeNotification(text: string, position: RecordPosition): void {
    const id = extractTag(text, "task-id") || extractTag(text, "shell-id");
    const event = this.session.running.get(id);
    const status = extractTag(text, "status");
    if (!event || !["completed", "failed", "killed"].includes(status)) return;
    this.session.running.delete(id);
    const summary = extractTag(text, "summary");
    const exit = /exit(?:ed with)? code (\d+)/.exec(summary)?.[1];
    const exitCode = exit === undefined ? null : Number(exit);
    const byStatus = status === "completed" ? "ok" : "failed";
    const ended = exitCode === null ? byStatus : readOutcome(event.command, exitCode, "");
    const outcome = status === "killed" ? "cancelled" : ended;
    this.session.settle(event, { outcome, exitCode, text: summary || event.text }, position);
  }

  private locate(record: JsonObject, line: number): RecordPosition {
    const { facts } = this.session;
    const sidechain = record.isSidechain === true;
    const sessionId = asString(record.sessionId);
    facts.cwd ??= asString(record.cwd);
    if (facts.sessionId === null && sessionId !== null) {
      facts.sessionId = sessionId;
      facts.subagent = sidechain;
      facts.agentId = sidechain ? asString(record.agentId) : null;
    } else if (sessionId === this.fileName) facts.sessionId = sessionId;
    const at = parseTime(record.timestamp);
    this.session.reach(at);
    const id = readId(record.uuid);
    const skill = readSkillName(record.attributionSkill);
    const origin = id === null ? null : `${id} ${at}`;
    const position = { key: String(line), at, cwd: asString(record.cwd), origin, sidechain };
    return skill === null ? position : { ...position, skill };
  }
}

function isHuman(origin: unknown): boolean {
  return (asString(asObject(origin)?.kind) ?? "human") === "human";
}

function readBlocks(record: JsonObject): JsonObject[] {
  const content = isObject(record.message) ? record.message.content : record.message;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return asArray(content).filter(isObject);
}

/** A call as Claude Code's transcripts and hooks tell it. */
export function readClaudeCall(id: unknown, tool: unknown, input: unknown): RecordedCall {
  return readCall(asString(id), asString(tool), asObject(input), {
    shell: ["Bash", "PowerShell"],
    files: ["file_path", "notebook_path"],
  });
}

/** What came of a call, from its result's flag, its text and the structured copy beside it. */
export function judgeResult(
  command: string | null,
  isError: boolean,
  text: string,
  details: JsonObject | null,
): CallResult {
  const result = (outcome: CallResult["outcome"]): CallResult => ({ outcome, exitCode: null, text });
  if (isError && refusals.some((start) => text.startsWith(start))) return result("rejected");
  if ((isError && collateral.test(text)) || details?.interrupted === true) return result("cancelled");
  const exit = /^(?:Error: )?Exit code (\d+)/.exec(text)?.[1] ?? details?.exit_code ?? details?.exitCode;
  if (typeof exit === "string" || typeof exit === "number") return exitResult(command, Number(exit), text);
  if (isError) return result("failed");
  if (typeof details?.backgroundTaskId === "string") return result("unknown");
  const answered = typeof details?.returnCodeInterpretation === "string";
  return { ...result("ok"), exitCode: command === null || answered ? null : 0 };
}

const refusals = [
  "The user doesn't want to",
  "Permission for this action",
  "Permission to use",
  "<tool_use_error>File is in a directory that is denied",
  "Claude requested permissions",
  "The user wants to clarify",
];
const collateral =
  /^(?:<tool_use_error>)?(?:Sibling tool call errored|Cancelled: parallel tool call)|^\[Request interrupted/;

/** What a person wrote when turning a call down, without the client's own sentences around it. */
export function extractRefusalWords(text: string): string {
  if (!text.startsWith("The user doesn't want to")) return "";
  const said = /the user said:\s*\n?([\s\S]*)$/.exec(text)?.[1] ?? "";
  const words = said.replace(/\n\nNote: The user's next message may contain[\s\S]*$/, "").trim();
  return words.includes("The user wants to clarify these questions") ? "" : words;
}

const notTyped = [
  "<local-command-",
  "<bash-stdout>",
  "<bash-stderr>",
  "<teammate-message",
  "<scheduled-task",
  "<user-prompt-submit-hook>",
  "Caveat: The messages below",
  "This session is being continued",
  "Base directory for this skill",
  "Stop hook feedback",
  "Unknown skill:",
  "Unknown slash command:",
  "Operation stopped by hook",
];

/** Nothing but the name of a command: the client queues some by itself. */
function isBareCommand(text: string): boolean {
  return /^(?:\/[a-z][\w:-]*\s*)+$/.test(text);
}

function isNotification(text: string): boolean {
  return text.startsWith("<task-notification>") || text.startsWith("<bash-notification>");
}

function isTyped(text: string): boolean {
  return !/^[</]|^\{"task_id"/.test(text.trimStart());
}

const injectedTags = ["system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics"];

/** A person's text without the blocks that the client and its editor put before and after it. */
function dropInjected(text: string): string {
  return injectedTags.reduce((rest, tag) => {
    if (!rest.includes(`<${tag}>`)) return rest;
    return rest.replace(new RegExp(`<${tag}>[\\s\\S]*?(</${tag}>|$)`, "g"), "").trim();
  }, text.trim());
}

function dropReminders(text: string): string {
  if (!text.includes("<system-reminder>")) return text;
  return text.replace(/<system-reminder>[\s\S]*?(<\/system-reminder>|$)/g, "").trimEnd();
}

function extractTag(text: string, tag: string): string {
  const start = text.indexOf(`<${tag}>`);
  if (start < 0) return "";
  const from = start + tag.length + 2;
  const end = text.indexOf(`</${tag}>`, from);
  return text.slice(from, end < 0 ? undefined : end).trim();
}
