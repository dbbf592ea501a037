import { isObject, type Json, type JsonObject, listOf, objectOf, parseObject, textOf } from "../core/json.ts";
import { outcomeOfExit } from "../core/outcome.ts";
import { policy } from "../core/policy.ts";
import { normaliseRemote } from "../core/project.ts";
import type { ReadingState, Resume } from "../engine/ports.ts";
import { type Reader, type Reading, timeOf } from "./reader.ts";
import type { Call, Draft, Place, Result, Thread } from "./thread.ts";
import { Threads } from "./threads.ts";

/** Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`; in the oldest files a line is the payload itself. */
export const codex: Reader = {
  format: "codex",
  recognises: (record) => {
    if (!isObject(record)) return false;
    if (isObject(record.payload)) return typeof record.type === "string" && kinds.has(record.type);
    if (record.record_type === "state") return true;
    const header =
      typeof record.id === "string" && typeof record.timestamp === "string" && "instructions" in record;
    return header || (typeof record.type === "string" && bare.has(record.type) && !("sessionId" in record));
  },
  passesOver: (text) => {
    const type = text.indexOf('"payload":{"type":"') + 19;
    return (
      type > 18 &&
      (text.startsWith('token_count"', type) ||
        text.startsWith('agent_message"', type) ||
        text.startsWith('reasoning"', type))
    );
  },
  open: (_, resume) => new CodexReading(resume),
};

const kinds = new Set(["session_meta", "response_item", "event_msg", "turn_context", "compacted"]);
const bare = new Set([
  "function_call",
  "function_call_output",
  "local_shell_call",
  "local_shell_call_output",
]);

interface Rest {
  /** The file records what the person typed as such; until it does, user messages are taken for it. */
  readonly typed: boolean;
  /** A user message that no record of typing has confirmed yet. */
  readonly unconfirmed: { readonly line: number; readonly at: number | null; readonly text: string } | null;
  readonly cwd: string | null;
  readonly exits: readonly (readonly [string, number])[];
  readonly faulted: readonly string[];
}

class CodexReading implements Reading {
  readonly threads: Threads;
  private readonly thread: Thread;
  private typed: boolean;
  private unconfirmed: Rest["unconfirmed"];
  private cwd: string | null;
  /** Exit codes that came ahead of a call's output. */
  private readonly exits: Map<string, number>;
  /** Calls of which it came ahead of their output that they failed. */
  private readonly faulted: Set<string>;

  constructor(resume: Resume | null) {
    this.threads = new Threads("transcript", resume);
    this.thread = this.threads.named("");
    const rest = resume?.state.rest as unknown as Rest | undefined;
    this.typed = rest?.typed ?? false;
    this.unconfirmed = rest?.unconfirmed ?? null;
    this.cwd = rest?.cwd ?? null;
    this.exits = new Map(rest?.exits);
    this.faulted = new Set(rest?.faulted);
  }

  take(record: unknown, line: number): void {
    if (!isObject(record)) return;
    const payload = objectOf(record.payload);
    const at = timeOf(record.timestamp);
    if (payload === null) return this.takeBare(record, line, at);
    switch (record.type) {
      case "session_meta":
        return this.takeMeta(payload, line, at);
      case "turn_context":
        this.cwd = textOf(payload.cwd) ?? this.cwd;
        return;
      case "event_msg":
        return this.takeMessage(payload, line, at);
      case "response_item":
        return this.takeItem(payload, line, at, record.metadata);
      case "compacted":
        return this.markOnce(line, at, "Conversation compacted");
      default:
        return;
    }
  }

  state(): ReadingState {
    const { typed, unconfirmed, cwd } = this;
    const rest: Rest = { typed, unconfirmed, cwd, exits: [...this.exits], faulted: [...this.faulted] };
    return { threads: this.threads.states(), rest: rest as unknown as Json };
  }

  private takeBare(record: JsonObject, line: number, at: number | null): void {
    if ("instructions" in record || (typeof record.id === "string" && isObject(record.git)))
      this.takeMeta(record, line, at);
    else if (typeof record.type === "string") this.takeItem(record, line, at);
  }

  /** The first header names the session; each further one is a resume. */
  private takeMeta(meta: JsonObject, line: number, at: number | null): void {
    const { facts } = this.thread;
    this.cwd = textOf(meta.cwd) ?? this.cwd;
    if (facts.sessionId !== null) return this.thread.mark(this.place(line, at, null), "Session resumed");
    facts.sessionId = textOf(meta.id);
    facts.cwd = textOf(meta.cwd);
    facts.remote = normaliseRemote(textOf(objectOf(meta.git)?.repository_url) ?? "");
    facts.subagent = isObject(meta.source) || meta.thread_source === "subagent";
    this.thread.reach(timeOf(meta.timestamp) ?? at);
  }

  private takeMessage(payload: JsonObject, line: number, at: number | null): void {
    switch (payload.type) {
      case "user_message":
        return this.takeTyped(textOf(payload.message) ?? "", line, at);
      case "item_completed":
        return this.takeCompleted(objectOf(payload.item) ?? {}, line, at);
      case "turn_aborted": {
        const reason = textOf(payload.reason) ?? "interrupted";
        return this.markOnce(line, at, `Turn aborted: ${reason}`);
      }
      case "patch_apply_end":
        if (payload.success === false) this.fault(payload);
        return;
      case "mcp_tool_call_end": {
        const result = objectOf(payload.result);
        if (result && ("Err" in result || objectOf(result.Ok)?.isError === true)) this.fault(payload);
        return;
      }
      case "exec_command_end":
        return this.takeExit(textOf(payload.call_id), payload, line, at);
      default:
        // Copies of what response items say, token counts, and the client's own progress.
        return;
    }
  }

  private fault(payload: JsonObject): void {
    const id = textOf(payload.call_id);
    if (id !== null && this.thread.waitsFor(id)) this.faulted.add(id);
  }

  private takeTyped(message: string, line: number, at: number | null): void {
    const text = requestOf(message);
    this.typed = true;
    this.unconfirmed = null;
    this.say(this.place(line, at, at === null ? null : `user|${at}`), text);
  }

  /** Newer clients record what was typed, and how commands ended, as completed items. */
  private takeCompleted(item: JsonObject, line: number, at: number | null): void {
    if (item.type === "UserMessage") return this.takeTyped(plainText(item.content), line, at);
    if (item.type === "CommandExecution") this.takeExit(textOf(item.id), item, line, at);
  }

  /** How a command ended, told ahead of its output; a person's own command is told of only here. */
  private takeExit(id: string | null, ended: JsonObject, line: number, at: number | null): void {
    if (typeof ended.exit_code !== "number") return;
    if (ended.source === "user_shell") {
      const output = textOf(ended.aggregated_output) ?? "";
      return this.markOnce(line, at, output, shellText(ended.command));
    }
    if (id !== null && this.thread.waitsFor(id)) this.exits.set(id, ended.exit_code);
  }

  private takeItem(item: JsonObject, line: number, at: number | null, metadata?: unknown): void {
    const id = textOf(item.call_id) ?? textOf(item.id);
    const size = (textOf(item.arguments) ?? textOf(item.input) ?? textOf(item.output))?.length ?? 0;
    const place = this.place(line, at, at === null ? null : `${item.type}|${at}|${id}|${size}`);
    switch (item.type) {
      case "message":
        return this.takeText(item, place, line, objectOf(metadata)?.compaction_output === true);
      case "function_call":
      case "custom_tool_call":
      case "local_shell_call":
      case "tool_search_call":
        return this.takeCall(item, id, place);
      case "web_search_call": {
        this.confirm();
        if (this.thread.repeats(place.origin)) return;
        const call = { id: null, tool: "web_search", input: objectOf(item.action), command: null, files: [] };
        const outcome = item.status === "failed" ? "failed" : "ok";
        return this.thread.settle(
          this.thread.call(place, call),
          { outcome, exitCode: null, text: "" },
          place,
        );
      }
      case "function_call_output":
      case "custom_tool_call_output":
      case "local_shell_call_output":
      case "tool_search_output":
        return this.takeOutput(item, id, place);
      default:
        return;
    }
  }

  private takeCall(item: JsonObject, id: string | null, place: Place): void {
    this.confirm();
    if (this.thread.repeats(place.origin)) return;
    const call = callOf(item, id);
    const folder = textOf(call.input?.workdir) ?? textOf(call.input?.working_directory);
    this.thread.call(folder === null ? place : { ...place, cwd: folder }, call);
  }

  private takeText(item: JsonObject, place: Place, line: number, compacts: boolean): void {
    const text = plainText(item.content);
    if (text.trim() === "") return;
    const origin = place.at === null ? null : `${item.role}|${place.at}|${text.length}`;
    if (item.role === "assistant") {
      // The summary that a compaction makes repeats what was said.
      if (compacts) return;
      this.confirm();
      if (!this.thread.repeats(origin)) this.thread.reply({ ...place, origin }, text);
    } else if (item.role === "user" && !this.typed && !injected.test(text)) {
      this.confirm();
      this.unconfirmed = { line, at: place.at, text: requestOf(text) };
    }
  }

  /** The agent goes to work: what stood in the user's place, and no record of typing has replaced, was typed. */
  private confirm(): void {
    if (this.unconfirmed === null) return;
    const { line, at, text } = this.unconfirmed;
    this.unconfirmed = null;
    if (!this.typed) this.say(this.place(line, at, at === null ? null : `user|${at}`), text);
  }

  private say(place: Place, text: string): void {
    // What a subagent is told comes from its parent.
    if (this.thread.facts.subagent || text === "" || this.thread.repeats(place.origin)) return;
    this.thread.prompt(place, text);
  }

  private takeOutput(item: JsonObject, id: string | null, place: Place): void {
    const draft = id === null ? undefined : this.thread.answer(id);
    if (!draft || id === null) return;
    const read = readOutput(item, this.exits.get(id) ?? null);
    const output = this.faulted.delete(id) ? { ...read, fault: true } : read;
    this.exits.delete(id);
    const name = runningName(draft);
    const running = name === null ? undefined : this.thread.running.get(name);
    if (name !== null && running) {
      this.goOn(name, running, output, place);
      this.thread.settle(draft, { outcome: "ok", exitCode: null, text: output.text }, place);
      return;
    }
    this.thread.settle(draft, judge(draft, output), place);
    if (output.running !== null) this.thread.running.set(output.running, draft);
  }

  /** What a later call says of a command that was still running belongs to the command. */
  private goOn(name: string, draft: Draft, output: Output, place: Place): void {
    const result = judge(draft, output);
    // The whole output while it is short, then its latest part: the same whether or not the reading was left between.
    const text =
      draft.text.length + output.text.length < policy.keep.eventChars
        ? draft.text + output.text
        : output.text;
    this.thread.settle(draft, { ...result, text }, place);
    if (output.running === null) this.thread.running.delete(name);
  }

  private markOnce(line: number, at: number | null, text: string, command: string | null = null): void {
    const place = this.place(line, at, at === null ? null : `mark|${at}|${command ?? text}`);
    if (!this.thread.repeats(place.origin)) this.thread.mark(place, text, command);
  }

  private place(line: number, at: number | null, origin: string | null): Place {
    this.thread.reach(at);
    return { key: String(line), at, cwd: this.cwd ?? this.thread.facts.cwd, origin, sidechain: false };
  }
}

const injected =
  /^\s*(# AGENTS\.md instructions for|<(environment_context|turn_aborted|skill|recommended_plugins|user_instructions|INSTRUCTIONS|user_shell_command|subagent_notification)\b)/;

/** A person's words out of the desktop client's wrapper around them. */
function requestOf(text: string): string {
  const request = /^\s*# [\s\S]*?\n## My request for Codex:\s*\n([\s\S]*)$/.exec(text);
  return (request?.[1] ?? text).trim();
}

function callOf(item: JsonObject, id: string | null): Call {
  const name =
    textOf(item.name) ?? (item.type === "local_shell_call" ? "shell" : textOf(item.type)) ?? "unknown";
  const namespace = textOf(item.namespace);
  const raw = textOf(item.arguments) ?? textOf(item.input);
  const input = objectOf(item.action) ?? (raw === null ? null : (parseObject(raw) ?? { input: raw }));
  return {
    id,
    tool: namespace === null ? name : `${namespace}__${name}`,
    input,
    command: commandOf(name, input),
    files: name === "apply_patch" || raw?.includes("*** Begin Patch") ? patchedFiles(raw ?? "") : [],
  };
}

function commandOf(name: string, input: JsonObject | null): string | null {
  if (input === null || name === "apply_patch") return null;
  if (name === "exec") return scriptedCommand(textOf(input.input) ?? "");
  return textOf(input.cmd) ?? shellText(input.command);
}

/** The shell text of `["bash", "-lc", text]`, or the words of another program. */
function shellText(command: unknown): string | null {
  if (typeof command === "string") return command;
  const words = listOf(command).filter((word): word is string => typeof word === "string");
  if (words.length === 0) return null;
  return words.length === 3 && /^-l?i?c$/.test(words[1] ?? "") ? (words[2] ?? null) : words.join(" ");
}

/** The commands of a script that calls the shell tool; its string literals are JavaScript's. */
function scriptedCommand(script: string): string | null {
  const literals = script.matchAll(/\bcmd\s*:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)/g);
  const commands = [...literals].map(([, literal]) => unquote(literal ?? ""));
  return commands.length === 0 ? null : commands.join("\n");
}

function unquote(literal: string): string {
  const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r" };
  return literal.slice(1, -1).replace(/\\(.)/gs, (_, character: string) => escapes[character] ?? character);
}

/** The files that a patch touches. */
export function patchedFiles(patch: string): string[] {
  return [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(([, file]) =>
    (file ?? "").trim(),
  );
}

/** The process that a call waits on or writes to. */
function runningName({ tool, input }: Draft): string | null {
  if (tool === "write_stdin") return `session ${input?.session_id}`;
  return tool === "wait" && input?.cell_id !== undefined ? `cell ${input.cell_id}` : null;
}

interface Output {
  readonly text: string;
  readonly exitCode: number | null;
  /** The name of the process, when it goes on. */
  readonly running: string | null;
  /** What the tool layer itself says went wrong. */
  readonly fault: boolean;
}

function readOutput(item: JsonObject, knownExit: number | null): Output {
  const raw = item.output ?? item.tools;
  const parsed = typeof raw === "string" && raw.startsWith('{"') ? parseObject(raw) : objectOf(raw);
  const exit = objectOf(parsed?.metadata)?.exit_code;
  if (parsed && typeof parsed.output === "string") {
    return {
      text: parsed.output,
      exitCode: typeof exit === "number" ? exit : knownExit,
      running: null,
      fault: false,
    };
  }
  const text = typeof raw === "string" ? raw : plainText(parsed?.content ?? raw);
  return { ...readHeader(text, knownExit), ...(parsed?.success === false ? { fault: true } : {}) };
}

/** Splits `Chunk ID …\nProcess exited with code 1\nOutput:\n…` into what it says and the output itself. */
function readHeader(text: string, knownExit: number | null): Output {
  const lead =
    /^(?:Exit code: |Chunk ID|Wall time|Script (?:completed|failed|running|terminated)|Process (?:exited|running))/;
  if (!lead.test(text)) return { text, exitCode: knownExit, running: null, fault: false };
  const end = /(?:^|\n)Output:\s?\n?/.exec(text);
  const header = end ? text.slice(0, end.index) : text;
  const body = end
    ? text.slice(end.index + end[0].length)
    : text.replace(/^(?:Chunk ID|Wall time).*\n/gm, "");
  const exit = /(?:Exit code: |exited with code )(-?\d+)/.exec(header)?.[1] ?? scriptExit(header, body);
  const session = /Process running with session ID (\S+)/.exec(header)?.[1];
  const cell = /Script running with cell ID (\S+)/.exec(header)?.[1];
  return {
    text: body,
    exitCode: exit === undefined ? knownExit : Number(exit),
    running: session !== undefined ? `session ${session}` : cell !== undefined ? `cell ${cell}` : null,
    fault: /^Script (?:failed|terminated)/.test(header),
  };
}

/** A script reports the exit codes of its commands as JSON; the first that is not zero is the one that matters. */
function scriptExit(header: string, body: string): string | undefined {
  if (!header.startsWith("Script ")) return undefined;
  const codes = [...body.matchAll(/"exit_code"\s*:\s*(-?\d+)/g)].map(([, code]) => code as string);
  return codes.find((code) => code !== "0") ?? codes[0];
}

function judge({ command }: Draft, { text, exitCode, running, fault }: Output): Result {
  if (running !== null) return { outcome: "unknown", exitCode: null, text };
  if (exitCode !== null) return { outcome: outcomeOfExit(command, exitCode, text), exitCode, text };
  const start = text.slice(0, 300);
  if (/rejected by user|denied by user|user rejected|not approved by the user/i.test(start))
    return { outcome: "rejected", exitCode, text };
  if (/^aborted by user|^\s*aborted\b/i.test(start)) return { outcome: "cancelled", exitCode, text };
  return { outcome: fault || faults.test(start) ? "failed" : "ok", exitCode, text };
}

const faults =
  /^(?:apply_patch verification failed|exec_command failed|write_stdin failed|failed to parse|unsupported call|execution error|(?:tool call |MCP )?error\b|err:|patch failed|sandbox)/i;

function plainText(content: unknown): string {
  return listOf(content)
    .flatMap((part) => (isObject(part) && typeof part.text === "string" ? [part.text] : []))
    .join("\n");
}
