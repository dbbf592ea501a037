import { isObject, type JsonObject, listOf, objectOf, parseObject, textOf } from "../core/json.ts";
import { plainText } from "./claude-code.ts";
import { type DocumentReader, timeOf } from "./reader.ts";
import { taskIn } from "./task-text.ts";
import type { Draft, Place, Result, Thread } from "./thread.ts";
import { resultOf } from "./tool-call.ts";

/**
 * mini-swe-agent: `*.traj.json`, a list of chat messages or, later, such a list in a document that names its format.
 * Every call is a shell command, and the user's place holds what came of it. The key is the index of the message.
 */
export const miniSweAgent: DocumentReader = {
  format: "mini-swe-agent",
  recognises: (document) => {
    const messages = messagesOf(document);
    if (messages.length === 0) return false;
    if (isObject(document) && textOf(document.trajectory_format)?.startsWith("mini-swe-agent")) return true;
    return messages.every(isObject) && messages.some(hasMark);
  },
  read: (document, threads) => {
    const info = isObject(document) ? objectOf(document.info) : null;
    const environment = objectOf(objectOf(info?.config)?.environment);
    const thread = threads.named("", { cwd: textOf(environment?.cwd) || null });
    const reading = new MiniReading(thread);
    for (const [index, message] of messagesOf(document).entries()) {
      if (isObject(message)) reading.take(message, index);
    }
  },
};

function messagesOf(document: unknown): readonly unknown[] {
  return listOf(isObject(document) ? document.messages : document);
}

/** What only this agent writes: its name for a command, or a result in its tags. */
function hasMark(message: unknown): boolean {
  if (!isObject(message) || typeof message.role !== "string") return false;
  const text = plainText(message.content);
  return message.role === "assistant"
    ? text.includes("```mswea_bash_command\n")
    : (message.role === "user" || message.role === "tool") && returned.test(text);
}

const returned = /^\s*<returncode>-?\d+<\/returncode>/;

class MiniReading {
  private readonly thread: Thread;
  /** Commands whose results are still to come, in order. */
  private waiting: Draft[] = [];
  private asked = false;

  constructor(thread: Thread) {
    this.thread = thread;
  }

  take(message: JsonObject, index: number): void {
    const at = timeIn(message);
    const place = { key: String(index), at, cwd: this.thread.facts.cwd, origin: null, sidechain: false };
    const text = plainText(message.content ?? message.output);
    if (message.role === "assistant" || message.object === "response") this.takeReply(message, text, place);
    else if (message.role === "user" && !this.asked) {
      this.asked = true;
      const task = taskIn(text);
      if (task !== "") this.thread.prompt(place, task);
    } else if (message.role === "user" || message.role === "tool" || message.type === "function_call_output")
      this.takeResult(message, text, place);
  }

  private takeReply(message: JsonObject, text: string, place: Place): void {
    const commands = commandsOf(message, text);
    const words = (commands.length > 0 ? text.replace(fenced, "") : text).replace(/^THOUGHT:\s*/, "").trim();
    if (words !== "" && message.object !== "response") this.thread.reply(place, words);
    this.waiting = commands.map(({ id, command }) =>
      this.thread.call(place, { id, tool: "bash", input: { command }, command, files: [] }),
    );
  }

  private takeResult(message: JsonObject, text: string, place: Place): void {
    const words = toldWords.exec(text)?.[1]?.trim() ?? "";
    const id = textOf(message.tool_call_id) ?? textOf(message.call_id);
    const named = id === null ? -1 : this.waiting.findIndex(({ callId }) => callId === id);
    const [draft] = this.waiting.splice(Math.max(named, 0), 1);
    if (draft) this.thread.settle(draft, judge(draft, text, objectOf(message.extra)), place);
    // With nothing to answer it is the harness, that found no command in the reply.
    if (words !== "") this.thread.prompt(place, words);
  }
}

/** How a person who watches is quoted. */
const toldWords =
  /^(?:Command not executed[^\n]*?:|Interrupted by user:|The user added a new task:)\s*([\s\S]*)$/;

const fenced = /```(?:mswea_bash_command|bash)\s*\n([\s\S]*?)\n?```/;

/** The commands of a reply: as the harness took them, as the model called them, or in a fenced block. */
function commandsOf(message: JsonObject, text: string): { id: string | null; command: string }[] {
  const taken = listOf(objectOf(message.extra)?.actions).flatMap((action) => {
    const command = isObject(action) ? textOf(action.command) : null;
    return command === null ? [] : [{ id: idOf(action as JsonObject), command }];
  });
  if (taken.length > 0) return taken;
  const called = listOf(message.tool_calls).flatMap((call) => {
    const input = parseObject(textOf(objectOf(objectOf(call)?.function)?.arguments) ?? "");
    const command = textOf(input?.command);
    return command === null ? [] : [{ id: idOf(call as JsonObject), command }];
  });
  if (called.length > 0) return called;
  const block = fenced.exec(text)?.[1]?.trim() ?? "";
  return block === "" ? [] : [{ id: null, command: block }];
}

function idOf(call: JsonObject): string | null {
  return textOf(call.tool_call_id) ?? textOf(call.id);
}

function judge({ command }: Draft, raw: string, extra: JsonObject | null): Result {
  if (raw.startsWith("Command not executed")) return { outcome: "rejected", exitCode: null, text: raw };
  if (raw.startsWith("Interrupted by user")) return { outcome: "cancelled", exitCode: null, text: raw };
  const code = extra?.returncode ?? /^\s*<returncode>(-?\d+)<\/returncode>/.exec(raw)?.[1];
  const exitCode = code === undefined || code === null ? null : Number(code);
  const text = textOf(extra?.raw_output) ?? outputIn(raw);
  if (/^The last command <command>[\s\S]{0,2000}<\/command> timed out/.test(raw) || exitCode === -1)
    return { outcome: "failed", exitCode: null, text };
  return resultOf(command, text, exitCode === null || Number.isNaN(exitCode) ? {} : { exitCode });
}

/** The output without the tags around it. */
function outputIn(raw: string): string {
  const start = raw.indexOf("<output>");
  if (!returned.test(raw) || start < 0) return raw;
  const end = raw.lastIndexOf("</output>");
  return raw.slice(start + "<output>".length, end < start ? undefined : end).replace(/^\n|\n$/g, "");
}

/** Seconds since 1970, as Python tells the time. */
function timeIn(message: JsonObject): number | null {
  const seconds = objectOf(message.extra)?.timestamp ?? message.timestamp;
  return typeof seconds === "number" ? timeOf(seconds * 1_000) : timeOf(seconds);
}
