import { asArray, asObject, asString, isObject, type JsonObject } from "../../base/index.ts";
import { readOutcome } from "../../failures/index.ts";
import { normaliseRemote } from "../../records/index.ts";
import {
  type CallResult,
  exitResult,
  type LineReader,
  LineReading,
  parseTime,
  plainResult,
  type RecordedCall,
  type RecordPosition,
  readCall,
} from "../reader.ts";

/** GitHub Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`. */
export const copilotCli: LineReader = {
  format: "copilot-cli",
  recognises: (record) =>
    isObject(record.data) &&
    /^(?:session|user|assistant|tool|hook|system)\.[a-z_]+$/.test(asString(record.type) ?? "") &&
    "timestamp" in record,
  skips: (text) => text.startsWith('{"type":"hook.') || text.startsWith('{"type":"assistant.turn_'),
  open: (path, resume) => new CopilotReading(path, resume, { cwd: null, requests: [], denied: [], own: [] }),
};

interface CopilotRest {
  cwd: string | null;
  /** Permissions that were asked for: the request and the call. */
  requests: [request: string, call: string][];
  /** Calls that were turned down. */
  denied: string[];
  /** Calls that the person made themselves. */
  own: string[];
}

class CopilotReading extends LineReading<CopilotRest> {
  take(record: JsonObject, line: number): void {
    const data = asObject(record.data);
    if (data === null) return;
    const position = this.locate(
      line,
      { time: record.timestamp, id: record.id },
      {
        cwd: this.rest.cwd,
        // What a subagent does stands in its parent's file.
        sidechain: typeof record.agentId === "string" || typeof data.parentToolCallId === "string",
      },
    );
    if (!this.session.repeats(position.origin)) this.takeData(record.type, data, position);
  }

  private takeData(type: unknown, data: JsonObject, position: RecordPosition): void {
    switch (type) {
      case "session.start":
        return this.takeStart(data);
      case "session.resume":
        this.takeContext(data);
        return this.session.mark(position, "Session resumed");
      case "session.context_changed":
        this.rest.cwd = asString(data.cwd) ?? this.rest.cwd;
        return;
      case "session.compaction_complete":
        return data.success === false ? undefined : this.session.mark(position, "Conversation compacted");
      case "session.error":
        return this.session.mark(position, asString(data.message) ?? "The session failed");
      case "abort":
        return this.session.mark(position, `Interrupted: ${asString(data.reason) ?? "by the person"}`);
      case "user.message":
        return this.takePrompt(data, position);
      case "assistant.message":
        return this.session.reply(position, asString(data.content) ?? "");
      case "tool.user_requested":
        return this.takeOwn(data, position);
      case "tool.execution_start":
        if (!this.rest.own.includes(asString(data.toolCallId) ?? ""))
          this.session.call(position, readToolCall(data));
        return;
      case "tool.execution_complete":
        return this.takeResult(data, position);
      case "permission.requested": {
        const request = asString(data.requestId);
        const call = asString(asObject(data.permissionRequest)?.toolCallId);
        if (request !== null && call !== null) this.rest.requests.push([request, call]);
        return;
      }
      case "permission.completed":
        return this.takePermission(data, position);
      case "system.notification":
        return this.takeNotification(data, position);
      default:
        // What hooks did, usage, progress, and the client's own words to the model.
        return;
    }
  }

  private takeStart(data: JsonObject): void {
    const { facts } = this.session;
    facts.sessionId = asString(data.sessionId);
    this.takeContext(data);
    facts.cwd = this.rest.cwd;
    this.session.reach(parseTime(data.startTime));
  }

  private takeContext(data: JsonObject): void {
    const context = asObject(data.context);
    this.rest.cwd = asString(context?.cwd) ?? this.rest.cwd;
    const repository = asString(context?.repository) ?? "";
    const isGitHub = (context?.hostType ?? "github") === "github";
    if (isGitHub && /^[\w.-]+\/[\w.-]+$/.test(repository))
      this.session.facts.remote = normaliseRemote(`https://github.com/${repository}`);
  }

  private takePrompt(data: JsonObject, position: RecordPosition): void {
    const text = (asString(data.content) ?? "").trim();
    // Skills, autopilot and the like write messages in the person's place.
    const isPerson = (asString(data.source) ?? "user") === "user";
    if (text !== "" && !position.sidechain && isPerson) this.session.typed(position, text);
  }

  /** A command that the person ran in the client. */
  private takeOwn(data: JsonObject, position: RecordPosition): void {
    const { id, command } = readToolCall(data);
    if (id !== null) this.rest.own.push(id);
    if (command !== null) this.session.mark(position, "", command);
  }

  private takeResult(data: JsonObject, position: RecordPosition): void {
    const id = asString(data.toolCallId);
    if (id === null || dropFrom(this.rest.own, id)) return;
    const event = this.session.answer(id);
    if (!event) return;
    const output = readOutput(data);
    const code = asObject(data.error)?.code;
    const isDenied = dropFrom(this.rest.denied, id) || code === "rejected" || code === "denied";
    const result = judge(event.command, output, data.success !== false);
    const { running } = this.session;
    const name = asString(event.input?.shellId) ?? "";
    const earlier = running.get(name);
    if (earlier && output.exitCode !== null) {
      // What is read later of a command that went on is the command's.
      running.delete(name);
      this.session.settle(earlier, judge(earlier.command, output, true), position);
      this.session.settle(event, plainResult("ok", result.text), position);
      return;
    }
    this.session.settle(event, isDenied ? { ...result, outcome: "rejected" } : result, position);
    if (output.running !== null && event.command !== null) running.set(output.running, event);
  }

  private takePermission(data: JsonObject, position: RecordPosition): void {
    const request = asString(data.requestId) ?? "";
    const result = asObject(data.result);
    const call = asString(data.toolCallId) ?? this.rest.requests.find(([one]) => one === request)?.[1];
    this.rest.requests = this.rest.requests.filter(([one]) => one !== request);
    const kind = asString(result?.kind) ?? "";
    if (!kind.startsWith("denied")) return;
    if (call !== undefined) this.rest.denied.push(call);
    const words = (asString(result?.feedback) ?? "").trim();
    // Rules and hooks deny too, with reasons that nobody typed.
    if (kind.includes("by-user") && words !== "" && !position.sidechain) this.session.prompt(position, words);
  }

  /** The end of a command that went on in the background. */
  private takeNotification(data: JsonObject, position: RecordPosition): void {
    const kind = asObject(data.kind);
    const name = asString(kind?.shellId) ?? "";
    const event = this.session.running.get(name);
    if (!event || typeof kind?.exitCode !== "number") return;
    this.session.running.delete(name);
    this.session.settle(event, exitResult(event.command, kind.exitCode, event.text), position);
  }
}

/** Takes an id off a list; false when it was not on it. */
function dropFrom(ids: string[], id: string): boolean {
  const at = ids.indexOf(id);
  if (at >= 0) ids.splice(at, 1);
  return at >= 0;
}

function readToolCall(data: JsonObject): RecordedCall {
  return readCall(data.toolCallId, data.toolName, data.arguments, {
    shell: ["bash", "powershell", "shell"],
    files: ["path", "filePath"],
  });
}

interface ShellOutput {
  readonly text: string;
  readonly exitCode: number | null;
  /** The name of the shell, when the command goes on. */
  readonly running: string | null;
}

/** Messages of hooks about a call, which follow its output. */
const guidance = /\n\nTool "[^"\n]*" (?:succeeded|failed)\. Additional guidance from \w+ hooks:\n[\s\S]*$/;

/** The output of a call, apart from the line in which a shell says how it ended. */
function readOutput(data: JsonObject): ShellOutput {
  const result = asObject(data.result);
  const said = asString(result?.content) ?? asString(asObject(data.error)?.message) ?? "";
  const raw = said.replace(guidance, "");
  const told = asArray(result?.contents).find((part) => isObject(part) && typeof part.exitCode === "number");
  const end = /\n?<[^<>\n]*exit(?:ed with)?(?: exit)? code:? (-?\d+)[^<>\n]*>\s*$/.exec(raw);
  const going =
    /<[^<>\n]*shellId:? "?([\w-]+)"?[^<>\n]*(?:still running|running in (?:the )?background)[^<>\n]*>\s*$/.exec(
      raw,
    );
  const started = /<command started in background with shellId:? "?([\w-]+)"?>/.exec(raw);
  const exit = isObject(told) ? told.exitCode : end?.[1];
  return {
    text: end ? raw.slice(0, end.index) : raw,
    exitCode: exit === undefined ? null : Number(exit),
    running: going?.[1] ?? started?.[1] ?? null,
  };
}

function judge(
  command: string | null,
  { text, exitCode, running }: ShellOutput,
  isDone: boolean,
): CallResult {
  if (exitCode !== null) return exitResult(command, exitCode, text);
  if (!isDone) return plainResult("failed", text);
  if (command === null) return plainResult("ok", text);
  return plainResult(running !== null ? "unknown" : readOutcome(command, null, text), text);
}
