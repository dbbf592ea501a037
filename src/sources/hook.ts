import { isObject, type JsonObject, listOf, objectOf, pruned, textOf } from "../core/json.ts";
import type { ReadingState, Resume } from "../engine/ports.ts";
import { commandIn, judge as judgeClaude, plainText, rejectionWords, takeCommand } from "./claude-code.ts";
import { type Reader, type Reading, timeOf } from "./reader.ts";
import type { Call, Draft, Place, Result, Thread } from "./thread.ts";
import { Threads } from "./threads.ts";

/**
 * The payloads that Claude Code and Codex hand to hooks, one a line, in the order they came: a session too, for
 * agents that leave no transcript. A file may hold several sessions.
 */
export const hook: Reader = {
  format: "hook",
  recognises: (record) =>
    isObject(record) && typeof record.hook_event_name === "string" && typeof record.session_id === "string",
  passesOver: () => false,
  open: (_, resume) => new HookReading(resume),
};

class HookReading implements Reading {
  readonly threads: Threads;

  constructor(resume: Resume | null) {
    this.threads = new Threads("hook", resume);
  }

  state(): ReadingState {
    return { threads: this.threads.states(), rest: null };
  }

  take(payload: unknown, line: number): void {
    if (!isObject(payload) || typeof payload.session_id !== "string") return;
    const thread = this.threadOf(payload, payload.session_id);
    const at = timeOf(payload.recorded_at ?? payload.timestamp);
    const place = { key: String(line), at, cwd: textOf(payload.cwd), origin: null, sidechain: false };
    thread.reach(at);
    switch (payload.hook_event_name) {
      case "UserPromptSubmit":
        return takePrompt(thread, place, payload);
      case "PreToolUse":
        if (!thread.repeats(originOf(payload)))
          thread.call({ ...place, origin: originOf(payload) }, callOf(payload));
        return;
      case "PostToolUse":
        return takeResult(thread, place, payload, judgeResponse);
      case "PostToolUseFailure":
        return takeResult(thread, place, payload, judgeError);
      case "PostToolBatch":
        return takeBatch(thread, place, payload);
      case "Stop":
      case "SubagentStop":
        return takeReply(thread, place, payload);
      case "PreCompact":
        return thread.mark(place, "Conversation compacted");
      case "SessionStart":
        return thread.mark(place, `Session started: ${textOf(payload.source) ?? "startup"}`);
      case "SessionEnd":
        return thread.mark(place, `Session ended: ${textOf(payload.reason) ?? "other"}`);
      default:
        return;
    }
  }

  /** What a subagent does is a session of its own, as its transcript is. */
  private threadOf(payload: JsonObject, sessionId: string): Thread {
    const agentId = textOf(payload.agent_id);
    return this.threads.named(agentId === null ? sessionId : `${sessionId}/${agentId}`, {
      sessionId,
      agentId,
      subagent: agentId !== null,
      cwd: textOf(payload.cwd),
      transcriptPath: textOf(payload.agent_transcript_path) ?? textOf(payload.transcript_path),
    });
  }
}

function takePrompt(thread: Thread, place: Place, payload: JsonObject): void {
  const text = (textOf(payload.prompt) ?? "").trim();
  // Background tasks report through the same door as people; subagents are told by their parent.
  if (
    text === "" ||
    /^<(task-notification|teammate-message|scheduled-task)/.test(text) ||
    thread.facts.subagent
  )
    return;
  const command = /^(\/[a-z][\w:-]*)(?:\s+([\s\S]*))?$/.exec(text);
  if (command) takeCommand(thread, place, command[1] ?? "", command[2] ?? "");
  else thread.prompt(place, text);
}

function takeReply(thread: Thread, place: Place, payload: JsonObject): void {
  const text = textOf(payload.last_assistant_message) ?? "";
  if (text.trim() !== "") thread.reply(place, text);
}

/** The result of a call, whether or not its beginning was seen. */
function takeResult(
  thread: Thread,
  place: Place,
  payload: JsonObject,
  judge: (draft: Draft, payload: JsonObject) => Result,
): void {
  const draft = answered(thread, place, payload);
  if (draft) thread.settle(draft, judge(draft, payload), place);
}

/** The call that a result is for; undefined for one that had its result. */
function answered(thread: Thread, place: Place, payload: JsonObject): Draft | undefined {
  const id = callIdOf(payload);
  const origin = originOf(payload);
  if (id !== null && !thread.waitsFor(id)) {
    if (thread.repeats(origin)) return undefined;
    thread.call({ ...place, origin }, callOf(payload));
  }
  return id === null ? thread.call(place, callOf(payload)) : thread.answer(id);
}

/** All calls of one answer, as the model sees them: the only word of calls that were refused or never began. */
function takeBatch(thread: Thread, place: Place, payload: JsonObject): void {
  for (const call of listOf(payload.tool_calls)) {
    if (!isObject(call) || callIdOf(call) === null) continue;
    const words = typeof call.tool_response === "string" ? rejectionWords(call.tool_response) : "";
    takeResult(thread, place, call, (draft, { tool_response: response }) => {
      const text = typeof response === "string" ? response : responseText(response, objectOf(response));
      return judgeClaude(
        draft.command,
        /^<tool_use_error>|^The user doesn't want to/.test(text),
        text,
        objectOf(response),
      );
    });
    const origin = `words:${callIdOf(call)}`;
    if (words !== "" && !thread.facts.subagent && !thread.repeats(origin))
      thread.prompt({ ...place, origin }, words);
  }
}

/** A call is told of by several events; this is how it is known again. */
function originOf(payload: JsonObject): string | null {
  const id = callIdOf(payload);
  return id === null ? null : `call:${id}`;
}

function callIdOf(payload: JsonObject): string | null {
  return textOf(payload.tool_use_id);
}

function callOf(payload: JsonObject): Call {
  const tool = textOf(payload.tool_name) ?? "unknown";
  const input = objectOf(payload.tool_input);
  const file = textOf(input?.file_path) ?? textOf(input?.notebook_path);
  return {
    id: callIdOf(payload),
    tool,
    input,
    command: commandIn(tool, input),
    files: file === null ? [] : [file],
  };
}

function judgeResponse(draft: Draft, payload: JsonObject): Result {
  const response = payload.tool_response;
  // Codex answers a shell command with bare text for success and failure alike.
  if (draft.command !== null && typeof response === "string")
    return { outcome: "unknown", exitCode: null, text: response };
  const details = objectOf(response);
  return judgeClaude(draft.command, false, responseText(response, details), details);
}

function judgeError(draft: Draft, payload: JsonObject): Result {
  const text = textOf(payload.error) ?? "";
  if (payload.is_interrupt === true) return { outcome: "cancelled", exitCode: null, text };
  return judgeClaude(draft.command, true, text, null);
}

function responseText(response: unknown, details: JsonObject | null): string {
  if (typeof response === "string") return response;
  if (details === null) return plainText(response);
  const streams = [textOf(details.stdout), textOf(details.stderr)].filter(
    (text) => text !== null && text !== "",
  );
  if (streams.length > 0 || "stdout" in details) return streams.join("\n");
  return plainText(details.content) || JSON.stringify(pruned(details));
}
