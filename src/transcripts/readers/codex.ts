import { asArray, asObject, asString, isObject, type JsonObject, parseObject } from "../../base/index.ts";
import { readOutcome } from "../../failures/index.ts";
import { type ContextUse, eventChars, normaliseRemote } from "../../records/index.ts";
import { dropPrivate } from "../../trust/index.ts";
import { readContextUse } from "../context-use.ts";
import {
  type CallResult,
  exitResult,
  findPatchedFiles,
  joinText,
  type LineReader,
  LineReading,
  type PendingEvent,
  parseTime,
  plainResult,
  type RecordedCall,
  type RecordPosition,
} from "../reader.ts";

/** Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`. */
export const codex: LineReader = {
  format: "codex",
  recognises: (record) => isObject(record.payload) && recordTypes.has(asString(record.type) ?? ""),
  skips: (text) => {
    const type = text.indexOf('"payload":{"type":"') + 19;
    return type > 18 && passedOver.some((name) => text.startsWith(name, type));
  },
  open: (path, resume) =>
    new CodexReading(path, resume, {
      typed: false,
      unconfirmed: null,
      cwd: null,
      exits: [],
      faulted: [],
      headless: false,
      branch: null,
      context: null,
    }),
};

const recordTypes = new Set(["session_meta", "response_item", "event_msg", "turn_context", "compacted"]);
const passedOver = ['agent_message"', 'reasoning"'];

/** When and where a line stands. */
interface LineTime {
  readonly line: number;
  readonly at: number | null;
}

interface CodexRest {
  /** The file records what the person typed as such; until it does, user messages are taken for it. */
  typed: boolean;
  /** A user message that no record of typing has confirmed yet. */
  unconfirmed: (LineTime & { readonly text: string }) | null;
  cwd: string | null;
  /** Exit codes that came ahead of a call's output. */
  exits: [call: string, exitCode: number][];
  /** Calls that were reported as failed ahead of their output. */
  faulted: string[];
  /** A header of the session says that a program runs it. */
  headless: boolean;
  branch: string | null;
  /** How full the window was when the client last counted. */
  context: ContextUse | null;
}

class CodexReading extends LineReading<CodexRest> {
  take(record: JsonObject, line: number): void {
    const payload = asObject(record.payload);
    const time = { line, at: parseTime(record.timestamp) };
    if (payload === null) return;
    switch (record.type) {
      case "session_meta":
        return this.takeMeta(payload, time);
      case "turn_context":
        this.rest.cwd = asString(payload.cwd) ?? this.rest.cwd;
        return;
      case "event_msg":
        return this.takeMessage(payload, time);
      case "response_item":
        // The summary that a compaction makes repeats what was said.
        if (payload.role === "assistant" && asObject(record.metadata)?.compaction_output === true)
          return this.session.reach(time.at);
        return this.takeItem(payload, time);
      case "compacted":
        // What was counted before is no more there.
        this.rest.context = null;
        return this.markOnce(time, "Conversation compacted");
      default:
        return;
    }
  }

  /** The first header names the session; each further one is a resume. */
  private takeMeta(meta: JsonObject, time: LineTime): void {
    const { facts } = this.session;
    this.rest.cwd = asString(meta.cwd) ?? this.rest.cwd;
    this.rest.headless ||= isHeadless(meta);
    if (facts.sessionId !== null) return this.session.mark(this.place(time, null), "Session resumed");
    facts.sessionId = asString(meta.id);
    facts.cwd = asString(meta.cwd);
    facts.remote = normaliseRemote(asString(asObject(meta.git)?.repository_url) ?? "");
    this.rest.branch = asString(asObject(meta.git)?.branch);
    facts.subagent = isObject(meta.source) || meta.thread_source === "subagent";
    this.session.reach(parseTime(meta.timestamp) ?? time.at);
  }

  /** Takes the client's reports of typed text and ended calls. The rest copies response items, or is progress. */
  private takeMessage(payload: JsonObject, time: LineTime): void {
    const item = asObject(payload.item);
    switch (payload.type) {
      case "user_message":
        return this.takeTyped(asString(payload.message) ?? "", time);
      case "item_completed":
        // Newer clients.
        if (item?.type === "UserMessage") this.takeTyped(joinText(item.content), time);
        else if (item?.type === "CommandExecution") this.takeExit(asString(item.id), item, time);
        return;
      case "token_count":
        // A count of the account alone says nothing of the window.
        if (isObject(payload.info)) this.rest.context = readContext(payload.info);
        return;
      case "turn_aborted":
        return this.markOnce(time, `Turn aborted: ${asString(payload.reason) ?? "interrupted"}`);
      case "patch_apply_end":
        return payload.success === false ? this.fault(payload) : undefined;
      case "mcp_tool_call_end": {
        const result = asObject(payload.result);
        if (result && ("Err" in result || asObject(result.Ok)?.isError === true)) this.fault(payload);
        return;
      }
      case "exec_command_end":
        return this.takeExit(asString(payload.call_id), payload, time);
      default:
        return;
    }
  }

  private fault(payload: JsonObject): void {
    const id = asString(payload.call_id);
    if (id !== null && this.session.waitsFor(id)) this.rest.faulted.push(id);
  }

  private takeTyped(message: string, time: LineTime): void {
    this.rest.typed = true;
    this.rest.unconfirmed = null;
    this.say(time, extractRequest(message));
  }

  /** How a command ended, told ahead of its output; a person's own command is told of only here. */
  private takeExit(id: string | null, ended: JsonObject, time: LineTime): void {
    if (typeof ended.exit_code !== "number") return;
    if (ended.source === "user_shell")
      this.markOnce(time, asString(ended.aggregated_output) ?? "", readShellWords(ended.command));
    else if (id !== null && this.session.waitsFor(id)) this.rest.exits.push([id, ended.exit_code]);
  }

  private takeItem(item: JsonObject, time: LineTime): void {
    const id = asString(item.call_id) ?? asString(item.id);
    const size = (asString(item.arguments) ?? asString(item.input) ?? asString(item.output))?.length ?? 0;
    const position = this.place(time, `${item.type}|${time.at}|${id}|${size}`);
    switch (item.type) {
      case "message":
        return this.takeText(item, time);
      case "function_call":
      case "custom_tool_call":
      case "local_shell_call":
      case "tool_search_call":
        return this.takeCall(readCodexCall(item, id), position);
      case "web_search_call": {
        const call = { id: null, tool: "web_search", input: asObject(item.action), command: null, files: [] };
        return this.takeCall(call, position, item.status === "failed" ? "failed" : "ok");
      }
      case "function_call_output":
      case "custom_tool_call_output":
      case "local_shell_call_output":
      case "tool_search_output":
        return this.takeOutput(item, id, position);
      default:
        return;
    }
  }

  private takeCall(call: RecordedCall, position: RecordPosition, outcome?: "ok" | "failed"): void {
    this.confirm();
    if (this.session.repeats(position.origin)) return;
    const cwd = asString(call.input?.workdir) ?? asString(call.input?.working_directory) ?? position.cwd;
    const event = this.session.call({ ...position, cwd: cwd ?? null }, call);
    if (outcome) this.session.settle(event, plainResult(outcome, ""), position);
  }

  private takeText(item: JsonObject, time: LineTime): void {
    const text = joinText(item.content);
    if (text.trim() === "") return;
    if (item.role === "assistant") {
      this.confirm();
      const position = this.place(time, `${item.role}|${time.at}|${text.length}`);
      if (!this.session.repeats(position.origin)) this.session.reply(position, text);
    } else if (item.role === "user" && agentsFile.test(text)) {
      this.session.instructions(this.place(time, null), "AGENTS.md", text.replace(agentsFile, ""));
    } else if (item.role === "user" && !this.rest.typed && !injected.test(text)) {
      this.confirm();
      this.rest.unconfirmed = { ...time, text: extractRequest(text) };
    }
  }

  /** The agent goes to work: what stood in the user's place, and no record of typing has replaced, was typed. */
  private confirm(): void {
    const { unconfirmed, typed } = this.rest;
    this.rest.unconfirmed = null;
    if (unconfirmed !== null && !typed) this.say(unconfirmed, unconfirmed.text);
  }

  private say(time: LineTime, text: string): void {
    const position = this.place(time, `user|${time.at}`);
    // What a subagent is told comes from its parent.
    if (this.session.facts.subagent || text === "" || this.session.repeats(position.origin)) return;
    this.session.prompt({ ...position, ...(this.rest.headless ? { given: "program" } : {}) }, text);
  }

  private takeOutput(item: JsonObject, id: string | null, position: RecordPosition): void {
    const event = this.session.answer(id);
    if (!event) return;
    const { exits, faulted } = this.rest;
    const { running } = this.session;
    const read = readOutput(item, exits.findLast(([call]) => call === id)?.[1] ?? null);
    const output = faulted.includes(id ?? "") ? { ...read, fault: true } : read;
    this.rest.exits = exits.filter(([call]) => call !== id);
    this.rest.faulted = faulted.filter((call) => call !== id);
    const name = readProcessName(event);
    const earlier = running.get(name);
    if (earlier) {
      // What a later call says of a command that was still running belongs to the command. All of the output while
      // it is short, then its latest part: the same wherever the reading was interrupted.
      const all = earlier.text + output.text;
      const text = all.length < eventChars ? all : output.text;
      this.session.settle(earlier, { ...judge(earlier, output), text }, position);
      if (output.running === null) running.delete(name);
      return this.session.settle(event, plainResult("ok", output.text), position);
    }
    this.session.settle(event, judge(event, output), position);
    if (output.running !== null) running.set(output.running, event);
  }

  private markOnce(time: LineTime, text: string, command: string | null = null): void {
    const position = this.place(time, `mark|${time.at}|${command ?? text}`);
    if (!this.session.repeats(position.origin)) this.session.mark(position, text, command);
  }

  /** A record without a time has nothing to tell it from others. */
  private place({ line, at }: LineTime, origin: string | null): RecordPosition {
    this.session.reach(at);
    const { cwd, branch, context } = this.rest;
    return { key: String(line), at, cwd, branch, context, origin: at === null ? null : origin };
  }
}

function readContext({ last_token_usage: last, model_context_window: window }: JsonObject) {
  const { input_tokens: input, output_tokens: output, total_tokens: total } = asObject(last) ?? {};
  if (typeof total !== "number") return null;
  return readContextUse({ input, output, total }, typeof window === "number" && window > 0 ? window : null);
}

/** Whether a header is of `codex exec`, of an SDK, or of Codex as another agent's server. */
function isHeadless({ source, originator }: JsonObject): boolean {
  return source === "exec" || source === "mcp" || /exec|sdk|mcp/i.test(asString(originator) ?? "");
}

const agentsFile = /^\s*# AGENTS\.md instructions for[^\n]*\n/;

const injected =
  /^\s*(<(environment_context|turn_aborted|skill|recommended_plugins|user_instructions|INSTRUCTIONS|user_shell_command|subagent_notification)\b)/;

/** A person's words out of the desktop client's wrapper around them. */
function extractRequest(text: string): string {
  const request = /^\s*# [\s\S]*?\n## My request for Codex:\s*\n([\s\S]*)$/.exec(text);
  return dropPrivate((request?.[1] ?? text).trim());
}

function readCodexCall(item: JsonObject, id: string | null): RecordedCall {
  const fallback = item.type === "local_shell_call" ? "shell" : (asString(item.type) ?? "unknown");
  const name = asString(item.name) ?? fallback;
  const namespace = asString(item.namespace);
  const raw = asString(item.arguments) ?? asString(item.input);
  const given = asObject(item.action) ?? (raw === null ? null : (parseObject(raw) ?? { input: raw }));
  const script = name === "exec" && raw !== null ? readScript(raw) : null;
  const input = script === null ? given : { ...given, ...script.options };
  return {
    id,
    tool: namespace === null ? name : `${namespace}__${name}`,
    input,
    command: script === null ? readCommand(name, input) : script.commands.join("\n") || null,
    files: name === "apply_patch" || raw?.includes("*** Begin Patch") ? findPatchedFiles(raw ?? "") : [],
  };
}

function readCommand(name: string, input: JsonObject | null): string | null {
  if (input === null || name === "apply_patch") return null;
  return asString(input.cmd) ?? readShellWords(input.command);
}

/** The shell text of `["bash", "-lc", text]`, or the words of another program. */
function readShellWords(command: unknown): string | null {
  if (typeof command === "string") return command;
  const words = asArray(command).filter((word): word is string => typeof word === "string");
  if (words.length === 0) return null;
  return words.length === 3 && /^-l?i?c$/.test(words[1] ?? "") ? (words[2] ?? null) : words.join(" ");
}

/** The process that a call waits on or writes to; empty for none. */
function readProcessName({ tool, input }: PendingEvent): string {
  if (tool === "write_stdin") return `session ${input?.session_id}`;
  return tool === "wait" && input?.cell_id !== undefined ? `cell ${input.cell_id}` : "";
}

interface CodexOutput {
  readonly text: string;
  readonly exitCode: number | null;
  /** The name of the process, when it goes on. */
  readonly running: string | null;
  /** The tool layer itself reports a failure. */
  readonly fault: boolean;
  /** The result of each command of a script, if the script prints it. */
  readonly results?: readonly ScriptResult[];
}

function readOutput(item: JsonObject, knownExit: number | null): CodexOutput {
  const raw = item.output ?? item.tools;
  const parsed = typeof raw === "string" && raw.startsWith('{"') ? parseObject(raw) : asObject(raw);
  if (parsed && typeof parsed.output === "string") {
    const exit = asObject(parsed.metadata)?.exit_code;
    const exitCode = typeof exit === "number" ? exit : knownExit;
    return { text: parsed.output, exitCode, running: null, fault: false };
  }
  const text = typeof raw === "string" ? raw : joinText(parsed?.content ?? raw);
  return { ...readHeader(text, knownExit), ...(parsed?.success === false ? { fault: true } : {}) };
}

/** Splits `Chunk ID …\nProcess exited with code 1\nOutput:\n…` into what it says and the output itself. */
function readHeader(text: string, knownExit: number | null): CodexOutput {
  const lead =
    /^(?:Exit code: |Chunk ID|Wall time|Script (?:completed|failed|running|terminated)|Process (?:exited|running))/;
  if (!lead.test(text)) return { text, exitCode: knownExit, running: null, fault: false };
  const end = /(?:^|\n)Output:\s?\n?/.exec(text);
  const header = end ? text.slice(0, end.index) : text;
  const body = end
    ? text.slice(end.index + end[0].length)
    : text.replace(/^(?:Chunk ID|Wall time).*\n/gm, "");
  const results = header.startsWith("Script ") ? readScriptResults(body) : [];
  const exit = /(?:Exit code: |exited with code )(-?\d+)/.exec(header)?.[1] ?? readScriptExit(header, body);
  const running = /(?:Process running with (session)|Script running with (cell)) ID (\S+)/.exec(header);
  return {
    text: results.length > 0 ? results.map(({ text }) => text).join("\n") : body,
    results,
    exitCode: exit === undefined ? knownExit : Number(exit),
    running: running && `${running[1] ?? running[2]} ${running[3]}`,
    fault: /^Script (?:failed|terminated)/.test(header),
  };
}

/** A script reports the exit codes of its commands as JSON; the first that is not zero is the one that matters. */
function readScriptExit(header: string, body: string): string | undefined {
  if (!header.startsWith("Script ")) return undefined;
  // Scripts that print texts of their own often name the code in a line: `exit=1`.
  const told = body.matchAll(/"exit_code"\s*:\s*(-?\d+)|^exit(?:[ _]?code)?[=:] ?(\d+)$/gm);
  const codes = [...told].map(([, code, line]) => code ?? (line as string));
  return codes.find((code) => code !== "0") ?? codes[0];
}

function judge(
  { command, input, tool }: Pick<PendingEvent, "command" | "input" | "tool">,
  { text, exitCode, running, fault, results = [] }: CodexOutput,
): CallResult {
  if (running !== null) return plainResult("unknown", text);
  const commands = results.length > 1 ? readScript(asString(input?.input) ?? "").commands : [];
  if (commands.length > 0 && commands.length === results.length) {
    // Each command has an exit code of its own, which the ones after it do not hide.
    const outcomes = results.map((each, at) => readOutcome(commands[at] ?? "", each.exitCode, each.text));
    const outcome =
      (["failed", "cancelled", "masked"] as const).find((bad) => outcomes.includes(bad)) ?? "ok";
    return { outcome, exitCode, text };
  }
  if (exitCode !== null) return exitResult(command, exitCode, text);
  const start = text.slice(0, 300);
  // A server's tool may say so too; a command of the client's own always has an exit code, unless it never ran.
  if (refusal.test(start)) return plainResult(isServers(tool) ? "cancelled" : "rejected", text);
  if (/^aborted by user|^\s*aborted\b/i.test(start)) return plainResult("cancelled", text);
  if (fault || faults.test(start)) return plainResult("failed", text);
  return plainResult(command === null ? "ok" : readOutcome(command, null, text), text);
}

const refusal =
  /^(?:\w+ failed for [^\n]{0,200}|(?:exec |patch |tool )?(?:command |call )?|err: )?\W*(?:Rejected\W+)?(?:rejected by user|denied by user|user rejected|not approved by the user)/i;

/** Codex names the tools of servers and apps with their namespace. */
function isServers(tool: string | null): boolean {
  return tool?.includes("__") === true;
}

const faults =
  /^(?:apply_patch verification failed|exec_command failed|write_stdin failed|failed to parse|unsupported call|execution error|(?:tool call |MCP )?error\b|err:|patch failed|sandbox)/i;

// --- Scripts of the `exec` tool ---

/** The shell commands that a script of Codex's `exec` tool runs, and how: the folder of the first, rights that all have. */
interface ScriptCommands {
  readonly commands: readonly string[];
  readonly options: Readonly<Record<string, string>>;
}

/** Reads `await tools.exec_command({cmd: "…", workdir: "…"})`, several of them, and lists that are gone through. */
function readScript(script: string): ScriptCommands {
  if (!script.includes("exec_command")) return { commands: [], options: {} };
  const strings = new Map(
    [...script.matchAll(namedStrings)].map(([, name = "", literal = ""]) => [name, readLiteral(literal)]),
  );
  const given = [...script.matchAll(commandArgument)].flatMap(([, literal, name]) =>
    literal === undefined ? (strings.get(name ?? "") ?? []) : readLiteral(literal),
  );
  const commands = given.length > 0 ? given : readLists(script);
  return { commands, options: readOptions(script, given.length) };
}

/** The folder, and the rights that were asked for where they are those of every command. */
function readOptions(script: string, commands: number): Record<string, string> {
  const options: Record<string, string> = {};
  for (const name of ["workdir", "sandbox_permissions", "justification"]) {
    const found = [...script.matchAll(new RegExp(`["']?\\b${name}["']?\\s*:\\s*${literalSource}`, "gs"))];
    const value = found[0]?.[1];
    if (value !== undefined && (name === "workdir" || found.length >= commands))
      options[name] = readLiteral(value);
  }
  return options;
}

const literalSource = "(\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`)";
const namedStrings = new RegExp(`\\b(?:const|let|var)\\s+(\\w+)\\s*=\\s*${literalSource}`, "gs");
const commandArgument = new RegExp(
  `[{,\\s]["']?cmd["']?\\s*:\\s*(?:${literalSource}|([A-Za-z_$]\\w*))`,
  "gs",
);

/** `for (const cmd of ["a", "b"])`, `["a", "b"].map((cmd) => …)`. */
function readLists(script: string): string[] {
  const lists = script.matchAll(
    /\[\s*((?:(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)\s*(?:,\s*)?)+)\]/gs,
  );
  return [...lists].flatMap(([, list = ""]) =>
    [...list.matchAll(new RegExp(literalSource, "gs"))].map(([literal]) => readLiteral(literal)),
  );
}

/** A string of JavaScript, without its quotes. What a template fills in stays as it is written. */
function readLiteral(literal: string): string {
  return literal
    .slice(1, -1)
    .replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r?\n)|(.))/gs, (_, long, short, line, character) => {
      if (line !== undefined) return "";
      const code = long ?? short;
      return code === undefined
        ? (escapes[character] ?? character)
        : String.fromCharCode(Number.parseInt(code, 16));
    });
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  0: "\0",
};

/** The result of one command of a script. */
interface ScriptResult {
  readonly exitCode: number | null;
  readonly text: string;
}

/** The results that a script prints as JSON, one on a line; empty where it prints anything else. */
function readScriptResults(body: string): ScriptResult[] {
  if (!body.includes('"output"')) return [];
  const results = body
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => (line.startsWith("{") ? parseObject(line) : null));
  return results.flatMap((result) =>
    typeof result?.output === "string"
      ? { exitCode: typeof result.exit_code === "number" ? result.exit_code : null, text: result.output }
      : [],
  );
}
