import { asArray, asObject, asString, isObject, type JsonObject, limitDepth } from "../../base/index.ts";
import {
  type CallResult,
  joinText,
  type LineReader,
  LineReading,
  parseTime,
  plainResult,
  type RecordedCall,
  type RecordPosition,
  type SessionBuilder,
} from "../reader.ts";
import { claudeCalls, readClaudeFailure } from "./claude-code.ts";

/**
 * The payloads that Claude Code and Codex hand to hooks, one a line, in the order they came: a session too, for
 * agents that leave no transcript. A file may hold several sessions.
 */
export const hook: LineReader = {
  format: "hook",
  recognises: (record) => typeof record.hook_event_name === "string" && typeof record.session_id === "string",
  open: (path, resume) => new HookReading(path, resume, {}, "hook"),
};

class HookReading extends LineReading {
  take(payload: JsonObject, line: number): void {
    if (typeof payload.session_id !== "string") return;
    const session = this.openSession(payload, payload.session_id);
    const at = parseTime(payload.recorded_at ?? payload.timestamp);
    const position = { key: String(line), at, cwd: asString(payload.cwd) };
    session.reach(at);
    switch (payload.hook_event_name) {
      case "UserPromptSubmit":
        return takePrompt(session, position, payload);
      case "PreToolUse": {
        const origin = identifyCall(payload);
        if (!session.repeats(origin)) session.call({ ...position, origin }, readPayloadCall(payload));
        return;
      }
      case "PostToolUse":
        return takeResult(session, position, payload, judgeResponse);
      case "PostToolUseFailure":
        return takeResult(session, position, payload, judgeFailure);
      case "PostToolBatch":
        return takeBatch(session, position, payload);
      case "Stop":
      case "SubagentStop":
        return session.reply(position, asString(payload.last_assistant_message) ?? "");
      case "PreCompact":
        return session.mark(position, "Conversation compacted");
      case "SessionStart":
        return session.mark(position, `Session started: ${asString(payload.source) ?? "startup"}`);
      case "SessionEnd":
        return session.mark(position, `Session ended: ${asString(payload.reason) ?? "other"}`);
      default:
        return;
    }
  }

  /** A subagent has a session of its own, as it has a transcript of its own. */
  private openSession(payload: JsonObject, sessionId: string): SessionBuilder {
    const agentId = asString(payload.agent_id);
    return this.sessions.named(agentId === null ? sessionId : `${sessionId}/${agentId}`, {
      sessionId,
      agentId,
      subagent: agentId !== null,
      cwd: asString(payload.cwd),
      transcriptPath: asString(payload.agent_transcript_path) ?? asString(payload.transcript_path),
    });
  }
}

function takePrompt(session: SessionBuilder, position: RecordPosition, payload: JsonObject): void {
  const text = (asString(payload.prompt) ?? "").trim();
  // Background tasks report the same way as people; subagents are told by their parent.
  const isReport = /^<(task-notification|teammate-message|scheduled-task)/.test(text);
  // Anybody can hand over a payload: only the agent's own record shows that a person typed the words.
  if (text !== "" && !isReport && !session.facts.subagent)
    session.typed({ ...position, given: "program" }, text);
}

/** The result of a call, whether or not its beginning was seen; a second result is ignored. */
function takeResult(
  session: SessionBuilder,
  position: RecordPosition,
  payload: JsonObject,
  judge: (command: string | null, payload: JsonObject) => CallResult,
): void {
  const call = readPayloadCall(payload);
  if (call.id === null)
    return session.settle(session.call(position, call), judge(call.command, payload), position);
  if (!session.waitsFor(call.id)) {
    const origin = identifyCall(payload);
    if (session.repeats(origin)) return;
    session.call({ ...position, origin }, call);
  }
  session.settleCall(call.id, position, (command) => judge(command, payload));
}

/** All calls of one answer, as the model sees them: the only record of calls that were refused or never began. */
function takeBatch(session: SessionBuilder, position: RecordPosition, payload: JsonObject): void {
  for (const call of asArray(payload.tool_calls)) {
    if (!isObject(call) || typeof call.tool_use_id !== "string") continue;
    const response = call.tool_response;
    const text = readResponse(response);
    const isError = /^<tool_use_error>|^The user doesn't want to/.test(text);
    takeResult(session, position, call, (command) =>
      claudeCalls.judge(command, isError, text, asObject(response)),
    );
  }
}

/** A call is told of by several events; this is how it is recognised. */
function identifyCall(payload: JsonObject): string | null {
  const id = asString(payload.tool_use_id);
  return id === null ? null : `call:${id}`;
}

function readPayloadCall(payload: JsonObject): RecordedCall {
  return claudeCalls.read(payload.tool_use_id, payload.tool_name, payload.tool_input);
}

function judgeResponse(command: string | null, { tool_response: response }: JsonObject): CallResult {
  // Codex answers a shell command with bare text for success and failure alike.
  if (command !== null && typeof response === "string") return plainResult("unknown", response);
  return claudeCalls.judge(command, false, readResponse(response), asObject(response));
}

function judgeFailure(command: string | null, payload: JsonObject): CallResult {
  const text = asString(payload.error) ?? "";
  if (payload.is_interrupt === true) return plainResult("cancelled", text);
  return claudeCalls.judge(command, true, text, null);
}

/** The call that a `PostToolUseFailure` event is about, and what came of it. */
export function readFailedCall(payload: JsonObject): RecordedCall & CallResult {
  const { tool_use_id: id, tool_name: tool, tool_input: input } = payload;
  const failed = readClaudeFailure([id, tool, input], asString(payload.error) ?? "");
  return payload.is_interrupt === true ? { ...failed, outcome: "cancelled" } : failed;
}

function readResponse(response: unknown): string {
  if (typeof response === "string") return response;
  if (!isObject(response)) return joinText(response);
  const streams = [response.stdout, response.stderr].flatMap((text) => asString(text) || []);
  if (streams.length > 0 || "stdout" in response) return streams.join("\n");
  return joinText(response.content) || JSON.stringify(limitDepth(response));
}
