import { basename } from "node:path";
import { asArray, asObject, asString, isObject, type JsonObject } from "../../base/index.ts";
import { findShellComplaint, readExit, readOutcome } from "../../failures/index.ts";
import type { ContextUse } from "../../records/index.ts";
import { dropPrivate } from "../../trust/index.ts";
import { findWindow, readContextUse } from "../context-use.ts";
import {
  type CallResult,
  exitResult,
  joinText,
  type LineReader,
  LineReading,
  parseTime,
  plainResult,
  type RecordedCall,
  type RecordPosition,
  readCall,
} from "../reader.ts";

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
  open: (path, resume) => new ClaudeReading(path, resume, { queue: [], heard: [], headless: false }),
};

/** How Claude Code tells of calls, which its hooks and the recorder share. */
export const claudeCalls = { read: readClaudeCall, judge: judgeResult };

/** A call that a hook is told failed, and as much of its outcome as the exit status and the shell's own words tell. */
export function readClaudeFailure(
  [id, tool, input]: readonly [id: unknown, tool: unknown, input: unknown],
  text: string,
): RecordedCall & CallResult {
  const call = readClaudeCall(id, tool, input);
  const exit = exitStatus.exec(text)?.[1];
  const exitCode = exit === undefined ? null : Number(exit);
  const told = exitCode === null ? "failed" : readExit(call.command, exitCode, text);
  const ended = told ?? (findShellComplaint(text) === null ? "ok" : "failed");
  const outcome = isStop(text) ? "cancelled" : ended;
  return { ...call, outcome, exitCode, text };
}

const bookkeeping = new Set(["summary", "file-history-snapshot"]);

interface ClaudeRest {
  /** Messages typed while the agent worked, which wait in its queue. */
  queue: { readonly line: number; readonly at: number | null; readonly text: string }[];
  /** Queued words that were counted when they reached the agent: some versions record them again. */
  heard: string[];
  /** The client runs for a program, as the latest record says. */
  headless: boolean;
}

class ClaudeReading extends LineReading<ClaudeRest> {
  take(record: JsonObject, line: number): void {
    if (record.type === "queue-operation") return this.takeQueue(record, line);
    const attachment = asObject(record.attachment);
    const isWanted =
      record.type === "user" ||
      record.type === "assistant" ||
      (record.type === "attachment" && /^(?:queued_command|nested_memory)$/.test(String(attachment?.type))) ||
      (record.type === "system" && record.subtype === "compact_boundary");
    // Progress copies what subagents' own files hold; the rest is the client's bookkeeping.
    if (!isWanted) return;
    const position = this.place(record, line);
    if (this.session.repeats(position.origin)) return;
    if (record.type === "user") this.takeUser(record, position);
    else if (record.type === "assistant") this.takeAssistant(record, position);
    else if (record.type === "system") this.session.mark(position, "Conversation compacted");
    else if (attachment?.type === "nested_memory") this.takeMemory(attachment, position);
    else if (attachment) this.takeQueued(attachment, position);
  }

  /** A CLAUDE.md, or a rule, that the client put before the agent. */
  private takeMemory(attachment: JsonObject, position: RecordPosition): void {
    const text = asString(asObject(attachment.content)?.content);
    if (text !== null)
      this.session.instructions(position, basename(asString(attachment.path) ?? "CLAUDE.md"), text);
  }

  private takeUser(record: JsonObject, position: RecordPosition): void {
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
    const [head, skill] = skillHead.exec(text) ?? [];
    if (head !== undefined && skill !== undefined)
      return this.session.instructions(position, `${basename(skill)}/SKILL.md`, text.slice(head.length));
    if (record.isMeta === true || record.promptSource === "system" || position.sidechain) return;
    const said = { ...position, ...(isGiven(record) ? { given } : {}) };
    if (!isHuman(record.origin)) return;
    if ("planContent" in record || text.startsWith("Implement the following plan:")) return;
    if (text.startsWith("<bash-input>"))
      return this.session.mark(position, "", extractTag(text, "bash-input"));
    if (text.startsWith("<command-")) {
      const [name, args] = [extractTag(text, "command-name"), extractTag(text, "command-args")];
      return this.session.slashCommand(said, name, args);
    }
    if (!notTyped.test(text) && !this.wasHeard(text)) this.session.prompt(said, text);
  }

  private takeAssistant(record: JsonObject, place: RecordPosition): void {
    const position = { ...place, context: readContext(asObject(record.message)) };
    // Text that the client wrote in the model's place, such as an API error.
    const isLocal = record.isApiErrorMessage === true || asObject(record.message)?.model === "<synthetic>";
    for (const block of readBlocks(record)) {
      const text = block.type === "text" ? (asString(block.text) ?? "") : "";
      if (block.type === "tool_use")
        this.session.call(position, readClaudeCall(block.id, block.name, block.input));
      else if (!isLocal) this.session.reply(position, text);
      else if (text.trim() !== "") this.session.mark(position, text);
    }
  }

  private takeResult(record: JsonObject, block: JsonObject, position: RecordPosition): void {
    const event = this.session.answer(asString(block.tool_use_id));
    if (!event) return;
    const isError = block.is_error === true;
    const text = dropBlocks(joinText(block.content), "system-reminder");
    const details = asObject(record.toolUseResult);
    const result = judgeResult(event.command, isError, text, details);
    const isRefused = isError && isRefusedByPerson(record, event.tool, text);
    const isDenied = isRefused || deniedByRule.has(asString(record.toolDenialKind) ?? "");
    this.session.settle(event, isDenied ? { ...result, outcome: "rejected" } : result, position);
    const task = asString(details?.backgroundTaskId);
    if (task !== null) this.session.running.set(task, event);
    const words = isRefused ? extractRefusalWords(text) : "";
    if (words !== "" && !position.sidechain) this.session.prompt(position, words);
  }

  /** A message that was typed while the agent worked. */
  private takeQueued(attachment: JsonObject, position: RecordPosition): void {
    const text = dropInjected(joinText(attachment.prompt));
    if (isNotification(text)) return this.takeNotification(text, position);
    const isPrompt = (attachment.commandMode ?? "prompt") === "prompt" && attachment.isMeta !== true;
    if (!isPrompt || position.sidechain || text === "") return;
    if (isHuman(attachment.origin) && !this.wasHeard(text)) this.session.prompt(position, text);
  }

  /**
   * A queued message reaches the agent in one of three ways: `dequeue` and a user record, `remove` with its text
   * and an attachment, or, in versions between, `remove` alone, and then the words stand only here.
   */
  private takeQueue(record: JsonObject, line: number): void {
    const { queue } = this.rest;
    const said = asString(record.content);
    const content = said && dropPrivate(said);
    if (record.operation === "enqueue" && content !== null)
      queue.push({ line, at: parseTime(record.timestamp), text: content });
    else if (record.operation === "popAll") this.rest.queue = [];
    else if (record.operation === "dequeue") queue.shift();
    else if (record.operation === "remove") {
      const found = content === null ? -1 : queue.findIndex(({ text }) => text === content);
      const [queued] = queue.splice(Math.max(found, 0), 1);
      if (queued && content === null) this.hear(queued);
    }
  }

  private hear({ line, at, text }: ClaudeRest["queue"][number]): void {
    const origin = `queue:${line}:${at}`;
    const isTyped = !/^[</]|^\{"task_id"/.test(text.trimStart());
    if (!isTyped || this.session.repeats(origin)) return;
    this.rest.heard.push(text);
    const who = this.rest.headless ? { given } : {};
    this.session.prompt({ key: String(line), at, origin, ...who }, text);
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

  private place(record: JsonObject, line: number): RecordPosition {
    const { facts } = this.session;
    const sidechain = record.isSidechain === true;
    const sessionId = asString(record.sessionId);
    facts.cwd ??= asString(record.cwd);
    if (facts.sessionId === null && sessionId !== null) {
      facts.sessionId = sessionId;
      facts.subagent = sidechain;
      facts.agentId = sidechain ? asString(record.agentId) : null;
    } else if (sessionId === basename(this.path, ".jsonl")) facts.sessionId = sessionId;
    const { timestamp: time, uuid: id, attributionSkill: skill } = record;
    if (typeof record.entrypoint === "string") this.rest.headless = headless.test(record.entrypoint);
    const who = this.rest.headless ? { given } : {};
    const where = { cwd: asString(record.cwd), sidechain, branch: asString(record.gitBranch) };
    return this.locate(line, { time, id, skill }, { ...where, ...who });
  }
}

/** The transcript names the model and not the size of its window. */
function readContext(message: JsonObject | null): ContextUse | null {
  const usage = asObject(message?.usage) ?? {};
  const window = findWindow("anthropic", asString(message?.model) ?? "");
  const { input_tokens: input, output_tokens: output } = usage;
  const cached = [usage.cache_creation_input_tokens, usage.cache_read_input_tokens];
  return readContextUse({ input, output, cached }, window);
}

const given = "program" as const;

/** Ways to start the client in which no person sits before it: `claude -p`, the SDKs, an action, another agent. */
const headless = /^(?:sdk\b|mcp$|claude-code-github-action$)/;

/** Whether the client says of a prompt that nobody typed it. */
function isGiven({ promptSource, turnOrigin, textNotTyped }: JsonObject): boolean {
  return (
    promptSource === "sdk" ||
    promptSource === "suggestion_accepted" ||
    turnOrigin === "sdk" ||
    textNotTyped === true
  );
}

/**
 * Whether the client records that a person refused a call: any tool can print the words of a refusal, and a hook may give
 * them as its reason. The first versions recorded nothing but those words; there the refused tool must be the client's
 * own, because a server's errors read like the client's.
 */
function isRefusedByPerson(record: JsonObject, tool: string | null, text: string): boolean {
  const { toolDenialKind: kind, toolUseResult: copy, version } = record;
  if (typeof kind === "string") return kind === "user-rejected";
  if (copy === "User rejected tool use") return true;
  return isOlder(version) && !tool?.startsWith("mcp__") && refusals.test(text) && copy === `Error: ${text}`;
}

/** The person's settings said no, or the client that decides in their place. */
const deniedByRule = new Set(["permission-rule", "automode-blocked"]);

/** Whether a version is one that recorded no reason for a refusal: before 2.1.198. */
function isOlder(version: unknown): boolean {
  const [major = 9, minor = 0, patch = 0] = (asString(version) ?? "").split(".").map(Number);
  return major * 1e6 + minor * 1e3 + patch < 2_001_198;
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
function readClaudeCall(id: unknown, tool: unknown, input: unknown): RecordedCall {
  return readCall(id, tool, input, { shell: ["Bash", "PowerShell"], files: ["file_path", "notebook_path"] });
}

/** The outcome of a call, from its result's flag, its text and the structured copy beside it. */
function judgeResult(
  command: string | null,
  isError: boolean,
  text: string,
  details: JsonObject | null,
): CallResult {
  if (isError && isStop(text)) return plainResult("cancelled", text);
  if (details?.interrupted === true) return plainResult("cancelled", text);
  const exit = exitStatus.exec(text)?.[1] ?? details?.exit_code ?? details?.exitCode;
  if (typeof exit === "string" || typeof exit === "number") return exitResult(command, Number(exit), text);
  if (isError) return plainResult("failed", text);
  if (typeof details?.backgroundTaskId === "string") return plainResult("unknown", text);
  const isAnswer = typeof details?.returnCodeInterpretation === "string";
  const outcome = command === null ? "ok" : readOutcome(command, 0, text);
  return { outcome, exitCode: command === null || isAnswer ? null : 0, text };
}

const exitStatus = /^(?:Error: )?Exit code (\d+)/;

/** Whether an error says that a call was refused or given up: then it tells nothing about the call. */
function isStop(text: string): boolean {
  return refusals.test(text) || collateral.test(text);
}

const refusals =
  /^(?:The user (?:doesn't want to|wants to clarify)|Permission (?:for this action|to use)|<tool_use_error>File is in a directory that is denied|Claude requested permissions)/;
const collateral =
  /^(?:<tool_use_error>)?(?:Sibling tool call errored|Cancelled: parallel tool call)|^\[Request interrupted/;

/** The words with which a person refused a call, without the client's own sentences around them. */
function extractRefusalWords(text: string): string {
  if (!text.startsWith("The user doesn't want to")) return "";
  const said = /the user said:\s*\n?([\s\S]*)$/.exec(text)?.[1] ?? "";
  const words = said.replace(/\n\nNote: The user's next message may contain[\s\S]*$/, "").trim();
  return words.includes("The user wants to clarify these questions") ? "" : words;
}

/** The text of a skill, as the client hands it to the agent. */
const skillHead = /^Base directory for this skill: (.+)\n+/;

/** Messages that the client writes as the user; it queues some commands, by their names alone, by itself. */
const notTyped =
  /^(?:<(?:local-command-|bash-stdout>|bash-stderr>|teammate-message|scheduled-task|user-prompt-submit-hook>)|Caveat: The messages below|This session is being continued|Base directory for this skill|Stop hook feedback|Unknown (?:skill|slash command):|Operation stopped by hook|(?:\/[a-z][\w:-]*\s*)+$)/;

function isNotification(text: string): boolean {
  return text.startsWith("<task-notification>") || text.startsWith("<bash-notification>");
}

/** A person's text without the blocks that the client and its editor put before and after it. */
function dropInjected(text: string): string {
  const tags = ["system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics"];
  return tags.reduce((rest, tag) => dropBlocks(rest, tag).trim(), dropPrivate(text.trim()));
}

function dropBlocks(text: string, tag: string): string {
  if (!text.includes(`<${tag}>`)) return text;
  return text.replace(new RegExp(`<${tag}>[\\s\\S]*?(</${tag}>|$)`, "g"), "").trimEnd();
}

function extractTag(text: string, tag: string): string {
  const start = text.indexOf(`<${tag}>`);
  if (start < 0) return "";
  const from = start + tag.length + 2;
  const end = text.indexOf(`</${tag}>`, from);
  return text.slice(from, end < 0 ? undefined : end).trim();
}
