import { basename } from "node:path";
import { isObject, type Json, type JsonObject, listOf, objectOf, textOf } from "../core/json.ts";
import { outcomeOfExit } from "../core/outcome.ts";
import type { ReadingState, Resume } from "../engine/ports.ts";
import { type Reader, type Reading, timeOf } from "./reader.ts";
import type { Call, Place, Result, Thread } from "./thread.ts";
import { Threads } from "./threads.ts";

/** Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and its subagents' files. */
export const claudeCode: Reader = {
  format: "claude-code",
  recognises: (record) => {
    if (!isObject(record) || typeof record.type !== "string" || "payload" in record) return false;
    // A log of who wrote what has such records too; this agent's messages say whose they are, or have content.
    if (record.type === "user" || record.type === "assistant")
      return isObject(record.message) && ("role" in record.message || "content" in record.message);
    return typeof record.sessionId === "string" || bookkeeping.has(record.type);
  },
  passesOver: (text) => {
    const type = text.indexOf('"type":"') + 8;
    return type > 7 && (text.startsWith('progress"', type) || text.startsWith("file-history-", type));
  },
  open: (path, resume) => new ClaudeReading(path, resume),
};

const bookkeeping = new Set(["summary", "file-history-snapshot"]);

/** A message typed while the agent worked, waiting in its queue. */
interface Queued {
  readonly line: number;
  readonly at: number | null;
  readonly text: string;
}

interface Rest {
  readonly queue: readonly Queued[];
  readonly heard: readonly string[];
}

class ClaudeReading implements Reading {
  readonly threads: Threads;
  private readonly thread: Thread;
  private readonly fileName: string;
  private queue: Queued[];
  /** Queued words that were counted when they reached the agent: some versions record them again. */
  private readonly heard: Set<string>;

  constructor(path: string, resume: Resume | null) {
    this.threads = new Threads("transcript", resume);
    this.thread = this.threads.named("");
    this.fileName = basename(path, ".jsonl");
    const rest = resume?.state.rest as unknown as Rest | undefined;
    this.queue = [...(rest?.queue ?? [])];
    this.heard = new Set(rest?.heard);
  }

  take(record: unknown, line: number): void {
    if (!isObject(record)) return;
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

  state(): ReadingState {
    return {
      threads: this.threads.states(),
      rest: { queue: this.queue, heard: [...this.heard] } as unknown as Json,
    };
  }

  private takeUser(record: JsonObject, line: number): void {
    const place = this.place(record, line);
    if (this.thread.repeats(place.origin)) return;
    const content = contentOf(record);
    const said: string[] = [];
    for (const block of typeof content === "string" ? [{ type: "text", text: content }] : content) {
      if (!isObject(block)) continue;
      if (block.type === "tool_result") this.takeResult(record, block, place);
      else if (block.type === "text" && typeof block.text === "string") said.push(block.text);
    }
    if (said.length > 0) this.takeWords(record, said.join("\n"), place);
  }

  /** Text in the user's place: words of a person, or one of the many things the client puts there. */
  private takeWords(record: JsonObject, raw: string, place: Place): void {
    const text = withoutInjected(raw);
    if (record.isCompactSummary === true || record.isVisibleInTranscriptOnly === true || text === "") return;
    const origin = textOf(objectOf(record.origin)?.kind);
    if (isNotification(text)) return this.takeNotification(text, place);
    if (text.startsWith("[Request interrupted")) return this.thread.mark(place, text);
    if (record.isMeta === true || record.promptSource === "system" || place.sidechain) return;
    if (origin !== null && origin !== "human") return;
    if ("planContent" in record || text.startsWith("Implement the following plan:")) return;
    if (text.startsWith("<bash-input>")) return this.thread.mark(place, "", tagged(text, "bash-input"));
    if (text.startsWith("<command-")) {
      return takeCommand(this.thread, place, tagged(text, "command-name"), tagged(text, "command-args"));
    }
    if (notTyped.some((start) => text.startsWith(start)) || isBareCommand(text)) return;
    if (this.heard.delete(text)) return;
    this.thread.prompt(place, text);
  }

  private takeAssistant(record: JsonObject, line: number): void {
    const place = this.place(record, line);
    if (this.thread.repeats(place.origin)) return;
    const content = contentOf(record);
    const local = record.isApiErrorMessage === true || objectOf(record.message)?.model === "<synthetic>";
    for (const block of typeof content === "string" ? [{ type: "text", text: content }] : content) {
      if (!isObject(block)) continue;
      if (block.type === "tool_use") this.thread.call(place, callOf(block));
      else if (block.type === "text" && typeof block.text === "string" && block.text.trim() !== "") {
        // Text that the client wrote in the model's place, such as an API error.
        if (local) this.thread.mark(place, block.text);
        else this.thread.reply(place, block.text);
      }
    }
  }

  private takeResult(record: JsonObject, block: JsonObject, place: Place): void {
    const id = textOf(block.tool_use_id);
    const draft = id === null ? undefined : this.thread.answer(id);
    if (!draft || id === null) return;
    const text = withoutReminders(plainText(block.content));
    const details = objectOf(record.toolUseResult);
    const denied = typeof record.toolDenialKind === "string";
    const result = judge(draft.command, block.is_error === true, text, details);
    this.thread.settle(draft, denied ? { ...result, outcome: "rejected" } : result, place);
    if (typeof details?.backgroundTaskId === "string")
      this.thread.running.set(details.backgroundTaskId, draft);
    const words = block.is_error === true ? rejectionWords(text) : "";
    if (words !== "" && !place.sidechain) this.thread.prompt(place, words);
  }

  private takeAttachment(record: JsonObject, line: number): void {
    const attachment = objectOf(record.attachment);
    if (attachment?.type !== "queued_command") return;
    const place = this.place(record, line);
    if (this.thread.repeats(place.origin)) return;
    const text = withoutInjected(plainText(attachment.prompt));
    if (isNotification(text)) return this.takeNotification(text, place);
    const origin = textOf(objectOf(attachment.origin)?.kind);
    const typed = attachment.commandMode === undefined || attachment.commandMode === "prompt";
    if (
      !typed ||
      attachment.isMeta === true ||
      place.sidechain ||
      text === "" ||
      (origin !== null && origin !== "human")
    )
      return;
    if (this.heard.delete(text)) return;
    this.thread.prompt(place, text);
  }

  private takeSystem(record: JsonObject, line: number): void {
    if (record.subtype !== "compact_boundary") return;
    const place = this.place(record, line);
    if (!this.thread.repeats(place.origin)) this.thread.mark(place, "Conversation compacted");
  }

  /**
   * A queued message reaches the agent in one of three ways: `dequeue` and a user record, `remove` with its text
   * and an attachment, or, in versions between, `remove` alone, and then the words stand only here.
   */
  private takeQueue(record: JsonObject, line: number): void {
    const content = textOf(record.content);
    const at = timeOf(record.timestamp);
    if (record.operation === "enqueue" && content !== null) this.queue.push({ line, at, text: content });
    else if (record.operation === "popAll") this.queue = [];
    else if (record.operation === "dequeue") this.queue.shift();
    else if (record.operation === "remove") {
      const found = content === null ? -1 : this.queue.findIndex((queued) => queued.text === content);
      const [queued] = this.queue.splice(Math.max(found, 0), 1);
      if (queued && content === null && isTyped(queued.text)) this.hear(queued);
    }
  }

  private hear({ line, at, text }: Queued): void {
    const place = {
      key: String(line),
      at,
      cwd: this.thread.facts.cwd,
      origin: `queue:${line}:${at}`,
      sidechain: false,
    };
    if (this.thread.repeats(place.origin)) return;
    this.heard.add(text);
    this.thread.prompt(place, text);
  }

  /** The end of a command that was sent to the background. */
  private takeNotification(text: string, place: Place): void {
    const id = tagged(text, "task-id") || tagged(text, "shell-id");
    const draft = this.thread.running.get(id);
    if (!draft) return;
    const summary = tagged(text, "summary");
    const exit = /exit(?:ed with)? code (\d+)/.exec(summary)?.[1];
    const exitCode = exit === undefined ? null : Number(exit);
    const status = tagged(text, "status");
    if (status !== "completed" && status !== "failed" && status !== "killed") return;
    this.thread.running.delete(id);
    const ended =
      exitCode === null
        ? status === "completed"
          ? "ok"
          : "failed"
        : outcomeOfExit(draft.command, exitCode, "");
    const outcome = status === "killed" ? "cancelled" : ended;
    this.thread.settle(draft, { outcome, exitCode, text: summary || draft.text }, place);
  }

  private place(record: JsonObject, line: number): Place {
    const { facts } = this.thread;
    const cwd = textOf(record.cwd);
    const sidechain = record.isSidechain === true;
    const sessionId = textOf(record.sessionId);
    if (facts.cwd === null && cwd !== null) facts.cwd = cwd;
    if (facts.sessionId === null && sessionId !== null) {
      facts.sessionId = sessionId;
      facts.subagent = sidechain;
      facts.agentId = sidechain ? textOf(record.agentId) : null;
    } else if (sessionId === this.fileName) facts.sessionId = sessionId;
    const at = timeOf(record.timestamp);
    this.thread.reach(at);
    const uuid = textOf(record.uuid);
    // Published transcripts blank out ids; a blanked one tells no two records apart.
    const origin = uuid === null || uuid.toUpperCase().includes("REDACT") ? null : `${uuid} ${at}`;
    const skill = nameIn(record.attributionSkill);
    const place = { key: String(line), at, cwd: cwd ?? facts.cwd, origin, sidechain };
    return skill === null ? place : { ...place, skill };
  }
}

/** The name of a skill, a command or an agent; null for what is none. */
function nameIn(value: unknown): string | null {
  const name = textOf(value)?.replace(/^\//, "") ?? "";
  return /^[\p{L}\p{N}][\p{L}\p{N}_.:-]{0,127}$/u.test(name) ? name : null;
}

function contentOf(record: JsonObject): string | readonly unknown[] {
  const message = record.message;
  const content = isObject(message) ? message.content : message;
  return typeof content === "string" ? content : listOf(content);
}

function callOf(block: JsonObject): Call {
  const tool = textOf(block.name) ?? "unknown";
  const input = objectOf(block.input);
  const file = textOf(input?.file_path) ?? textOf(input?.notebook_path);
  return {
    id: textOf(block.id),
    tool,
    input,
    command: commandIn(tool, input),
    files: file === null ? [] : [file],
  };
}

/** The shell command of a call, for the tools that run one. */
export function commandIn(tool: string, input: JsonObject | null): string | null {
  return tool === "Bash" || tool === "PowerShell" ? textOf(input?.command) : null;
}

/** What came of a call, from its result's flag, its text and the structured copy beside it. */
export function judge(
  command: string | null,
  isError: boolean,
  text: string,
  details: JsonObject | null,
): Result {
  const exit = /^(?:Error: )?Exit code (\d+)/.exec(text)?.[1] ?? details?.exit_code ?? details?.exitCode;
  const result = (outcome: Result["outcome"], exitCode: number | null = null): Result => ({
    outcome,
    exitCode,
    text,
  });
  if (isError && refusals.some((start) => text.startsWith(start))) return result("rejected");
  if (isError && collateral.test(text)) return result("cancelled");
  if (details?.interrupted === true) return result("cancelled");
  if (typeof exit === "string" || typeof exit === "number") {
    return result(outcomeOfExit(command, Number(exit), text), Number(exit));
  }
  if (isError) return result("failed");
  if (typeof details?.backgroundTaskId === "string") return result("unknown");
  const answered = typeof details?.returnCodeInterpretation === "string";
  return result("ok", command === null || answered ? null : 0);
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
export function rejectionWords(text: string): string {
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

/** Commands to the client whose words are not for the agent. */
const settings = new Set(
  "model effort theme color config output-style permissions add-dir mcp plugin vim fast rename export ide statusline".split(
    " ",
  ),
);

/** A slash command: its template is not the person's, the words after its name are; a name alone or a setting is a mark. */
export function takeCommand(thread: Thread, place: Place, name: string, words: string): void {
  const skill = nameIn(name);
  const isSetting = settings.has(name.replace("/", ""));
  const called = skill === null || isSetting ? place : { ...place, skill };
  if (words === "" || isSetting) thread.mark(called, `${name} ${words}`.trim());
  else thread.prompt(called, words);
}

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
function withoutInjected(text: string): string {
  let rest = text.trim();
  for (const tag of injectedTags) {
    if (rest.includes(`<${tag}>`))
      rest = rest.replace(new RegExp(`<${tag}>[\\s\\S]*?(</${tag}>|$)`, "g"), "").trim();
  }
  return rest;
}

function withoutReminders(text: string): string {
  if (!text.includes("<system-reminder>")) return text;
  return text.replace(/<system-reminder>[\s\S]*?(<\/system-reminder>|$)/g, "").trimEnd();
}

function tagged(text: string, tag: string): string {
  const start = text.indexOf(`<${tag}>`);
  if (start < 0) return "";
  const from = start + tag.length + 2;
  const end = text.indexOf(`</${tag}>`, from);
  return text.slice(from, end < 0 ? undefined : end).trim();
}

/** The text of a string or a list of text parts. */
export function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = listOf(content).flatMap((part) =>
    isObject(part) && typeof part.text === "string" ? [part.text] : [],
  );
  return parts.join("\n");
}
