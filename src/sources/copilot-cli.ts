import { isObject, type Json, type JsonObject, listOf, objectOf, parseObject, textOf } from "../core/json.ts";
import { outcomeOfExit } from "../core/outcome.ts";
import { normaliseRemote } from "../core/project.ts";
import type { ReadingState, Resume } from "../engine/ports.ts";
import { takeCommand } from "./claude-code.ts";
import { type Reader, type Reading, timeOf } from "./reader.ts";
import type { Call, Draft, Place, Result, Thread } from "./thread.ts";
import { Threads } from "./threads.ts";

/** GitHub Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`. */
export const copilotCli: Reader = {
  format: "copilot-cli",
  recognises: (record) =>
    isObject(record) &&
    isObject(record.data) &&
    typeof record.type === "string" &&
    /^(?:session|user|assistant|tool|hook|system)\.[a-z_]+$/.test(record.type) &&
    "timestamp" in record,
  passesOver: (text) => text.startsWith('{"type":"hook.') || text.startsWith('{"type":"assistant.turn_'),
  open: (_, resume) => new CopilotReading(resume),
};

interface Rest {
  readonly cwd: string | null;
  /** Permissions that were asked for: the request and the call. */
  readonly requests: readonly (readonly [string, string])[];
  /** Calls that were turned down. */
  readonly denied: readonly string[];
  /** Calls that the person made themselves. */
  readonly own: readonly string[];
}

class CopilotReading implements Reading {
  readonly threads: Threads;
  private readonly thread: Thread;
  private cwd: string | null;
  private readonly requests: Map<string, string>;
  private readonly denied: Set<string>;
  private readonly own: Set<string>;

  constructor(resume: Resume | null) {
    this.threads = new Threads("transcript", resume);
    this.thread = this.threads.named("");
    const rest = resume?.state.rest as unknown as Rest | undefined;
    this.cwd = rest?.cwd ?? null;
    this.requests = new Map(rest?.requests);
    this.denied = new Set(rest?.denied);
    this.own = new Set(rest?.own);
  }

  state(): ReadingState {
    const { cwd, requests, denied, own } = this;
    const rest: Rest = { cwd, requests: [...requests], denied: [...denied], own: [...own] };
    return { threads: this.threads.states(), rest: rest as unknown as Json };
  }

  take(record: unknown, line: number): void {
    const data = isObject(record) ? objectOf(record.data) : null;
    if (!isObject(record) || data === null) return;
    const place = this.place(record, data, line);
    if (this.thread.repeats(place.origin)) return;
    switch (record.type) {
      case "session.start":
        return this.takeStart(data);
      case "session.resume":
        this.takeContext(data);
        return this.thread.mark(place, "Session resumed");
      case "session.context_changed":
        this.cwd = textOf(data.cwd) ?? this.cwd;
        return;
      case "session.compaction_complete":
        return data.success === false ? undefined : this.thread.mark(place, "Conversation compacted");
      case "session.error":
        return this.thread.mark(place, textOf(data.message) ?? "The session failed");
      case "abort":
        return this.thread.mark(place, `Interrupted: ${textOf(data.reason) ?? "by the person"}`);
      case "user.message":
        return this.takePrompt(data, place);
      case "assistant.message": {
        const text = textOf(data.content) ?? "";
        if (text.trim() !== "") this.thread.reply(place, text);
        return;
      }
      case "tool.user_requested":
        return this.takeOwn(data, place);
      case "tool.execution_start":
        if (!this.own.has(textOf(data.toolCallId) ?? "")) this.thread.call(place, callOf(data));
        return;
      case "tool.execution_complete":
        return this.takeResult(data, place);
      case "permission.requested": {
        const [request, call] = [
          textOf(data.requestId),
          textOf(objectOf(data.permissionRequest)?.toolCallId),
        ];
        if (request !== null && call !== null) this.requests.set(request, call);
        return;
      }
      case "permission.completed":
        return this.takePermission(data, place);
      case "system.notification":
        return this.takeNotification(data, place);
      default:
        // What hooks did, usage, progress, and the client's own words to the model.
        return;
    }
  }

  private takeStart(data: JsonObject): void {
    const { facts } = this.thread;
    facts.sessionId = textOf(data.sessionId);
    this.takeContext(data);
    facts.cwd = this.cwd;
    this.thread.reach(timeOf(data.startTime));
  }

  private takeContext(data: JsonObject): void {
    const context = objectOf(data.context);
    this.cwd = textOf(context?.cwd) ?? this.cwd;
    const repository = textOf(context?.repository);
    const isHere = context?.hostType === undefined || context.hostType === "github";
    if (repository !== null && isHere && /^[\w.-]+\/[\w.-]+$/.test(repository))
      this.thread.facts.remote = normaliseRemote(`https://github.com/${repository}`);
  }

  private takePrompt(data: JsonObject, place: Place): void {
    const text = (textOf(data.content) ?? "").trim();
    const source = textOf(data.source) ?? "user";
    // Skills, autopilot and the like write messages in the person's place.
    if (text === "" || place.sidechain || source !== "user") return;
    const command = /^(\/[a-z][\w:-]*)(?:\s+([\s\S]*))?$/.exec(text);
    if (command) takeCommand(this.thread, place, command[1] ?? "", command[2] ?? "");
    else this.thread.prompt(place, text);
  }

  /** A command that the person ran in the client. */
  private takeOwn(data: JsonObject, place: Place): void {
    const call = callOf(data);
    if (call.id !== null) this.own.add(call.id);
    if (call.command !== null) this.thread.mark(place, "", call.command);
  }

  private takeResult(data: JsonObject, place: Place): void {
    const id = textOf(data.toolCallId);
    if (id === null || this.own.delete(id)) return;
    const draft = this.thread.answer(id);
    if (!draft) return;
    const output = readOutput(data);
    const isDenied = this.denied.delete(id) || refusals.has(textOf(objectOf(data.error)?.code) ?? "");
    const result = judge(draft, output, data.success !== false);
    const name = textOf(draft.input?.shellId) ?? "";
    const running = this.thread.running.get(name);
    if (running && output.exitCode !== null) {
      // What is read later of a command that went on is the command's.
      this.thread.running.delete(name);
      this.thread.settle(running, judge(running, output, true), place);
      this.thread.settle(draft, { ...result, outcome: "ok", exitCode: null }, place);
      return;
    }
    this.thread.settle(draft, isDenied ? { ...result, outcome: "rejected" } : result, place);
    if (output.running !== null && draft.command !== null) this.thread.running.set(output.running, draft);
  }

  private takePermission(data: JsonObject, place: Place): void {
    const request = textOf(data.requestId) ?? "";
    const result = objectOf(data.result);
    const call = textOf(data.toolCallId) ?? this.requests.get(request);
    this.requests.delete(request);
    if (!textOf(result?.kind)?.startsWith("denied")) return;
    if (call !== undefined) this.denied.add(call);
    const words = (textOf(result?.feedback) ?? "").trim();
    if (words !== "" && !place.sidechain) this.thread.prompt(place, words);
  }

  /** The end of a command that went on in the background. */
  private takeNotification(data: JsonObject, place: Place): void {
    const kind = objectOf(data.kind);
    const name = textOf(kind?.shellId) ?? "";
    const draft = this.thread.running.get(name);
    if (!draft || typeof kind?.exitCode !== "number") return;
    this.thread.running.delete(name);
    const outcome = outcomeOfExit(draft.command, kind.exitCode, draft.text);
    this.thread.settle(draft, { outcome, exitCode: kind.exitCode, text: draft.text }, place);
  }

  private place(record: JsonObject, data: JsonObject, line: number): Place {
    const at = timeOf(record.timestamp);
    this.thread.reach(at);
    const id = textOf(record.id);
    return {
      key: String(line),
      at,
      cwd: this.cwd,
      origin: id === null || id.toUpperCase().includes("REDACT") ? null : `${id} ${at}`,
      // What a subagent does stands in its parent's file.
      sidechain: typeof record.agentId === "string" || typeof data.parentToolCallId === "string",
    };
  }
}

const refusals = new Set(["rejected", "denied"]);

function callOf(data: JsonObject): Call {
  const tool = textOf(data.toolName) ?? "unknown";
  const input = typeof data.arguments === "string" ? parseObject(data.arguments) : objectOf(data.arguments);
  const file = textOf(input?.path) ?? textOf(input?.filePath);
  return {
    id: textOf(data.toolCallId),
    tool,
    input,
    command: tool === "bash" || tool === "powershell" || tool === "shell" ? textOf(input?.command) : null,
    files: file === null ? [] : [file],
  };
}

interface Output {
  readonly text: string;
  readonly exitCode: number | null;
  /** The name of the shell, when the command goes on. */
  readonly running: string | null;
}

/** The output of a call, apart from the line in which a shell says how it ended. */
function readOutput(data: JsonObject): Output {
  const result = objectOf(data.result);
  const raw = textOf(result?.content) ?? textOf(objectOf(data.error)?.message) ?? "";
  const told = listOf(result?.contents).find((part) => isObject(part) && typeof part.exitCode === "number");
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

function judge({ command }: Draft, { text, exitCode, running }: Output, success: boolean): Result {
  if (exitCode !== null) return { outcome: outcomeOfExit(command, exitCode, text), exitCode, text };
  if (!success) return { outcome: "failed", exitCode, text };
  return { outcome: running !== null && command !== null ? "unknown" : "ok", exitCode, text };
}
