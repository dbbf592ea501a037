import { asArray, asObject, asString, isObject, type JsonObject, parseObject } from "../../base/index.ts";
import { normaliseRemote } from "../../records/index.ts";
import {
  type CallResult,
  type DocumentReader,
  exitResult,
  joinText,
  type PendingEvent,
  parseTime,
  plainResult,
  type RecordedCall,
  type SessionBuilder,
  type SessionBuilders,
  textResult,
} from "../reader.ts";

/** SWE-agent: `<instance>.traj`. A step is what the agent thought and did, and what it saw; its key is its index. */
const trajectory: DocumentReader = {
  format: "swe-agent",
  recognises: (document) => {
    if (!isObject(document)) return false;
    const steps = asArray(document.trajectory);
    const history = asArray(document.history);
    if (steps.length > 0)
      return (
        steps.every((step) => isObject(step) && "action" in step && "observation" in step) &&
        steps.some(isStep)
      );
    return history.every(isMessage) && history.some((one) => isObject(one) && "action" in one);
  },
  read: (document, sessions) => {
    if (isObject(document)) readTrajectory(document, sessions);
  },
};

/**
 * mini-swe-agent: `*.traj.json`, a list of chat messages or, later, such a list in a document that names its format.
 * Every call is a shell command, and the user's place holds what came of it. The key is the index of the message.
 */
const mini: DocumentReader = {
  format: "mini-swe-agent",
  recognises: (document) => {
    const messages = readMessages(document);
    if (messages.length === 0) return false;
    if (isObject(document) && asString(document.trajectory_format)?.startsWith("mini-swe-agent")) return true;
    return messages.every(isObject) && messages.some(hasMark);
  },
  read: (document, sessions) => {
    const info = isObject(document) ? asObject(document.info) : null;
    const environment = asObject(asObject(info?.config)?.environment);
    const session = sessions.named("", { cwd: asString(environment?.cwd) || null });
    addMessages(
      session,
      readMessages(document).map((message) => asObject(message) ?? {}),
    );
  },
};

export const sweAgent = { trajectory, mini };

/** The task a harness was given, without the instructions it puts around every task. */
function extractTask(text: string): string {
  for (const [start, end] of taskFrames) {
    const from = text.indexOf(start);
    const to = from < 0 ? -1 : text.indexOf(end, from + start.length);
    const task = to < 0 ? "" : text.slice(from + start.length, to).trim();
    if (task !== "") return task.replace(/^Consider the following PR description:\s*/, "");
  }
  return text.trim();
}

/** The text before and after the task in the templates of both agents. */
const taskFrames = [
  ["<pr_description>", "</pr_description>"],
  ["<issue_description>", "</issue_description>"],
  ["ISSUE:\n", "\nINSTRUCTIONS:"],
  ["We're currently solving the following ", "\nINSTRUCTIONS:"],
  ["Please solve this issue:", "\nYou can execute bash commands"],
] as const;

function isStep(value: unknown): boolean {
  return isObject(value) && typeof value.action === "string" && typeof value.observation === "string";
}

function isMessage(value: unknown): boolean {
  return isObject(value) && typeof value.role === "string" && ("agent" in value || "message_type" in value);
}

function readTrajectory(document: JsonObject, sessions: SessionBuilders): void {
  const history = asArray(document.history).filter(isObject);
  const told = asArray(document.trajectory).filter(isObject);
  const steps = told.length > 0 ? told.map(readStep) : readSteps(history);
  const session = sessions.named("", { cwd: steps[0]?.cwd ?? null, remote: readRemote(document) });
  const messages = history.length > 0 ? history : asArray(told[0]?.query ?? told[0]?.messages);
  const asked = messages.find((one) => isObject(one) && one.role === "user" && !isDemo(one));
  const task = extractTask(splitScreen(joinText(asObject(asked)?.content)).observation);
  if (task !== "") session.prompt({ key: "0", at: null }, task);
  for (const [index, step] of steps.entries()) addStep(session, step, index);
}

interface TrajectoryStep {
  readonly thought: string;
  readonly action: string;
  readonly observation: string;
  readonly cwd: string | null;
  readonly file: string | null;
}

function readStep(step: JsonObject): TrajectoryStep {
  const state = asObject(step.state) ?? parseObject(asString(step.state) ?? "");
  return {
    thought: asString(step.thought) ?? "",
    action: asString(step.action) ?? "",
    observation: asString(step.observation) ?? "",
    cwd: readPath(state?.working_dir),
    file: readPath(state?.open_file),
  };
}

function readPath(value: unknown): string | null {
  return value === "n/a" ? null : asString(value) || null;
}

/** Files that hold the messages alone: an action, and in the next message what came of it. */
function readSteps(history: readonly JsonObject[]): TrajectoryStep[] {
  const own = history.filter((message) => !isDemo(message));
  return own.flatMap((message, at) => {
    if (message.role !== "assistant") return [];
    const next = own[at + 1];
    const seen = next === undefined || next.role === "assistant" ? "" : joinText(next.content);
    const thought = asString(message.thought) ?? joinText(message.content);
    return [{ thought, action: asString(message.action) ?? "", ...splitScreen(seen) }];
  });
}

/** An observation as the agent reads it ends with where it stands. */
function splitScreen(seen: string): Pick<TrajectoryStep, "observation" | "cwd" | "file"> {
  const foot = seen.lastIndexOf("\n(Open file: ");
  const [observation, status] = foot < 0 ? [seen, ""] : [seen.slice(0, foot), seen.slice(foot)];
  return {
    observation,
    cwd: readPath(/\(Current directory: ([^\n]*)\)/.exec(status)?.[1]),
    file: readPath(/\(Open file: ([^\n]*)\)/.exec(status)?.[1]),
  };
}

function isDemo({ is_demo, message_type }: JsonObject): boolean {
  return is_demo === true || message_type === "demonstration";
}

function addStep(session: SessionBuilder, step: TrajectoryStep, index: number): void {
  const position = { key: String(index), at: null, cwd: step.cwd };
  session.reply(position, step.thought.trim());
  const action = step.action.trim();
  if (action === "") return;
  const call = readAction(action, step.file);
  session.settle(session.call(position, call), judgeStep(call.command, step.observation), position);
}

/** An action is a shell command, or one of the agent's own commands in the same words. */
function readAction(action: string, open: string | null): RecordedCall {
  const word = /^[\w-]+/.exec(action)?.[0] ?? "";
  if (!ownCommands.has(word)) return makeShellCall(null, action);
  const named = opens.has(word)
    ? /^[\w-]+ +(?:(?:view|create|str_replace|insert|undo_edit) +)?["']?([^\s"']+)/.exec(action)?.[1]
    : undefined;
  const file = named ?? (edits.has(word) ? open : null);
  return { id: null, tool: word, input: { action }, command: null, files: file === null ? [] : [file] };
}

function makeShellCall(id: string | null, command: string): RecordedCall {
  return { id, tool: "bash", input: { command }, command, files: [] };
}

const opens = new Set(["open", "create", "str_replace_editor"]);
const edits = new Set(["edit", "insert", "append", "undo_edit"]);
const others =
  "goto scroll_up scroll_down search_file search_dir find_file filemap submit exit_forfeit view_image";
const ownCommands = new Set([...opens, ...edits, ...others.split(" ")]);

function judgeStep(command: string | null, observation: string): CallResult {
  const done = /\/{3}PROCESS-DONE:(-?\d+):PROCESS-DONE\/{3}\s*$/.exec(observation);
  const text = (done === null ? observation : observation.slice(0, done.index)).replaceAll("\r\n", "\n");
  if (done?.[1] === "-1") return plainResult("unknown", text);
  if (done !== null) return exitResult(command, Number(done[1]), text);
  const isRefused = refused.test(text.slice(0, 400)) || /EXECUTION TIMED OUT/.test(text.slice(-400));
  return textResult(command, text, isRefused);
}

/** How the agent's own commands, and the harness, say that nothing was done. */
const refused =
  /^\s*(?:Your (?:proposed )?edit (?:has introduced|was not applied|contained)|Your edit was not applied|No replacement was performed|Text not found|Usage: |Error: |ERROR: |File .{1,200} (?:not found|already exists)|No file open|Operation .{1,80} is not supported|The command .{1,200} was cancelled|Your (?:last )?(?:output|command) (?:was not formatted|timed out|failed)|EXECUTION TIMED OUT|invalid line_number|Invalid `path` parameter|Invalid function name)/i;

/** The repository, where the file says how its run can be repeated. */
function readRemote(document: JsonObject): string | null {
  const config = asObject(document.replay_config) ?? parseObject(asString(document.replay_config) ?? "");
  const repo = asObject(asObject(config?.env)?.repo);
  return normaliseRemote(asString(repo?.github_url) ?? "");
}

// --- mini-swe-agent ---

function readMessages(document: unknown): readonly unknown[] {
  return asArray(isObject(document) ? document.messages : document);
}

/** Whether a message has this agent's marks: its fence for a command, or a result in its tags. */
function hasMark(message: unknown): boolean {
  if (!isObject(message) || typeof message.role !== "string") return false;
  const text = joinText(message.content);
  if (message.role === "assistant") return text.includes("```mswea_bash_command\n");
  return (message.role === "user" || message.role === "tool") && returned.test(text);
}

const returned = /^\s*<returncode>(-?\d+)<\/returncode>/;

/** `waiting` are the commands of the last reply whose results are still to come, in order. */
function addMessages(session: SessionBuilder, messages: readonly JsonObject[]): void {
  let [waiting, isAsked]: [PendingEvent[], boolean] = [[], false];
  for (const [index, message] of messages.entries()) {
    const extra = asObject(message.extra);
    // Python tells the time in seconds since 1970.
    const time = extra?.timestamp ?? message.timestamp;
    const at = parseTime(typeof time === "number" ? time * 1_000 : time);
    const position = { key: String(index), at };
    const text = joinText(message.content);
    if (message.role === "assistant") {
      const commands = readCommands(message, text);
      const words = commands.length > 0 ? text.replace(fenced, "") : text;
      session.reply(position, words.replace(/^THOUGHT:\s*/, "").trim());
      waiting = commands.map((call) => session.call(position, call));
    } else if (message.role === "user" && !isAsked) {
      isAsked = true;
      const task = extractTask(text);
      if (task !== "") session.prompt(position, task);
    } else if (message.role === "user" || message.role === "tool") {
      const named = waiting.findIndex(({ callId }) => callId !== null && callId === message.tool_call_id);
      const [event] = waiting.splice(Math.max(named, 0), 1);
      if (event) session.settle(event, judgeOutput(event.command, text, extra), position);
      // With nothing to answer it is the harness, that found no command in the reply.
      const words = toldWords.exec(text)?.[1]?.trim() ?? "";
      if (words !== "") session.prompt(position, words);
    }
  }
}

/** How a person who watches is quoted. */
const toldWords =
  /^(?:Command not executed[^\n]*?:|Interrupted by user:|The user added a new task:)\s*([\s\S]*)$/;

const fenced = /```(?:mswea_bash_command|bash)\s*\n([\s\S]*?)\n?```/;

/** The commands of a reply: as the harness took them, as the model called them, or in a fenced block. */
function readCommands(message: JsonObject, text: string): RecordedCall[] {
  const read = (calls: unknown) =>
    asArray(calls)
      .filter(isObject)
      .flatMap((call) => {
        const input = parseObject(asString(asObject(call.function)?.arguments) ?? "");
        const command = asString(call.command) ?? asString(input?.command);
        return command === null
          ? []
          : makeShellCall(asString(call.tool_call_id) ?? asString(call.id), command);
      });
  const taken = read(asObject(message.extra)?.actions);
  const named = taken.length > 0 ? taken : read(message.tool_calls);
  if (named.length > 0) return named;
  const block = fenced.exec(text)?.[1]?.trim() ?? "";
  return block === "" ? [] : [makeShellCall(null, block)];
}

function judgeOutput(command: string | null, raw: string, extra: JsonObject | null): CallResult {
  if (raw.startsWith("Command not executed")) return plainResult("rejected", raw);
  if (raw.startsWith("Interrupted by user")) return plainResult("cancelled", raw);
  const exitCode = Number(extra?.returncode ?? returned.exec(raw)?.[1] ?? Number.NaN);
  const text = asString(extra?.raw_output) ?? readTaggedOutput(raw);
  const isTimeout = /^The last command <command>[\s\S]{0,2000}<\/command> timed out/.test(raw);
  if (isTimeout || exitCode === -1) return plainResult("failed", text);
  return Number.isNaN(exitCode) ? textResult(command, text) : exitResult(command, exitCode, text);
}

/** The output without the tags around it. */
function readTaggedOutput(raw: string): string {
  const start = raw.indexOf("<output>");
  if (!returned.test(raw) || start < 0) return raw;
  const end = raw.lastIndexOf("</output>");
  return raw.slice(start + "<output>".length, end < start ? undefined : end).replace(/^\n|\n$/g, "");
}
