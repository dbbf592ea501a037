import { isObject, type JsonObject, listOf, objectOf, parseObject, textOf } from "../core/json.ts";
import { normaliseRemote } from "../core/project.ts";
import { plainText } from "./claude-code.ts";
import type { DocumentReader } from "./reader.ts";
import { taskIn } from "./task-text.ts";
import type { Call, Result, Thread } from "./thread.ts";
import type { Threads } from "./threads.ts";
import { resultOf } from "./tool-call.ts";

/** SWE-agent: `<instance>.traj`. A step is what the agent thought and did, and what it saw; its key is its index. */
export const sweAgent: DocumentReader = {
  format: "swe-agent",
  recognises: (document) => {
    if (!isObject(document)) return false;
    const steps = listOf(document.trajectory);
    if (steps.length > 0) return steps.every(mayBeStep) && steps.some(isStep);
    const history = listOf(document.history);
    return (
      history.length > 0 &&
      history.every(isMessage) &&
      history.some((one) => isObject(one) && "action" in one)
    );
  },
  read: (document, threads) => {
    if (isObject(document)) readTrajectory(document, threads);
  },
};

function mayBeStep(value: unknown): boolean {
  return isObject(value) && "action" in value && "observation" in value;
}

function isStep(value: unknown): boolean {
  return isObject(value) && typeof value.action === "string" && typeof value.observation === "string";
}

function isMessage(value: unknown): boolean {
  return isObject(value) && typeof value.role === "string" && ("agent" in value || "message_type" in value);
}

function readTrajectory(document: JsonObject, threads: Threads): void {
  const history = listOf(document.history).filter(isObject);
  const told = listOf(document.trajectory).filter(isObject);
  const steps = told.length > 0 ? told.map(stepOf) : stepsIn(history);
  const thread = threads.named("", { cwd: steps[0]?.cwd ?? null, remote: remoteIn(document) });
  const task = taskText(history.length > 0 ? history : listOf(told[0]?.query ?? told[0]?.messages));
  if (task !== "") thread.prompt(placeOf(0, thread.facts.cwd), task);
  for (const [index, step] of steps.entries()) takeStep(thread, step, index);
}

interface Step {
  readonly thought: string;
  readonly action: string;
  readonly observation: string;
  readonly cwd: string | null;
  readonly file: string | null;
}

function stepOf(step: JsonObject): Step {
  const state = objectOf(step.state) ?? parseObject(textOf(step.state) ?? "");
  return {
    thought: textOf(step.thought) ?? "",
    action: textOf(step.action) ?? "",
    observation: textOf(step.observation) ?? "",
    cwd: known(textOf(state?.working_dir)),
    file: known(textOf(state?.open_file)),
  };
}

function known(path: string | null): string | null {
  return path === null || path === "" || path === "n/a" ? null : path;
}

/** Files that hold the messages alone: an action, and in the next message what came of it. */
function stepsIn(history: readonly JsonObject[]): Step[] {
  const own = history.filter((message) => !isDemo(message));
  return own.flatMap((message, at) => {
    if (message.role !== "assistant") return [];
    const next = own[at + 1];
    const seen = next === undefined || next.role === "assistant" ? "" : plainText(next.content);
    const thought = textOf(message.thought) ?? plainText(message.content);
    return [{ thought, action: textOf(message.action) ?? "", ...screenOf(seen) }];
  });
}

/** An observation as the agent reads it ends with where it stands. */
function screenOf(seen: string): Pick<Step, "observation" | "cwd" | "file"> {
  const foot = seen.lastIndexOf("\n(Open file: ");
  const [observation, status] = foot < 0 ? [seen, ""] : [seen.slice(0, foot), seen.slice(foot)];
  return {
    observation,
    cwd: known(/\(Current directory: ([^\n]*)\)/.exec(status)?.[1] ?? null),
    file: known(/\(Open file: ([^\n]*)\)/.exec(status)?.[1] ?? null),
  };
}

/** What the agent was asked: the first words of the user that are no demonstration. */
function taskText(messages: readonly unknown[]): string {
  const asked = messages.find((one) => isObject(one) && one.role === "user" && !isDemo(one));
  return taskIn(screenOf(plainText(objectOf(asked)?.content)).observation);
}

function isDemo({ is_demo, message_type }: JsonObject): boolean {
  return is_demo === true || message_type === "demonstration";
}

function takeStep(thread: Thread, step: Step, index: number): void {
  const place = placeOf(index, step.cwd ?? thread.facts.cwd);
  if (step.thought.trim() !== "") thread.reply(place, step.thought.trim());
  const action = step.action.trim();
  if (action === "") return;
  const call = callOf(action, step.file);
  thread.settle(thread.call(place, call), judge(call, step.observation), place);
}

function placeOf(index: number, cwd: string | null) {
  return { key: String(index), at: null, cwd, origin: null, sidechain: false };
}

/** An action is a shell command, or one of the agent's own commands in the same words. */
function callOf(action: string, open: string | null): Call {
  const word = /^[\w-]+/.exec(action)?.[0] ?? "";
  if (!own.has(word))
    return { id: null, tool: "bash", input: { command: action }, command: action, files: [] };
  const named = opens.has(word)
    ? /^[\w-]+ +(?:(?:view|create|str_replace|insert|undo_edit) +)?["']?([^\s"']+)/.exec(action)?.[1]
    : undefined;
  const file = named ?? (edits.has(word) ? open : null);
  return { id: null, tool: word, input: { action }, command: null, files: file === null ? [] : [file] };
}

const opens = new Set(["open", "create", "str_replace_editor"]);
const edits = new Set(["edit", "insert", "append", "undo_edit"]);
const own = new Set([
  ...opens,
  ...edits,
  ..."goto scroll_up scroll_down search_file search_dir find_file filemap submit exit_forfeit view_image".split(
    " ",
  ),
]);

function judge({ command }: Call, observation: string): Result {
  const done = /\/{3}PROCESS-DONE:(-?\d+):PROCESS-DONE\/{3}\s*$/.exec(observation);
  const text = (done === null ? observation : observation.slice(0, done.index)).replaceAll("\r\n", "\n");
  if (done !== null) return resultOf(command, text, { exitCode: Number(done[1]) });
  return resultOf(command, text, {
    failed: refused.test(text.slice(0, 400)) || /EXECUTION TIMED OUT/.test(text.slice(-400)),
  });
}

/** How the agent's own commands, and the harness, say that nothing was done. */
const refused =
  /^\s*(?:Your (?:proposed )?edit (?:has introduced|was not applied|contained)|Your edit was not applied|No replacement was performed|Text not found|Usage: |Error: |ERROR: |File .{1,200} (?:not found|already exists)|No file open|Operation .{1,80} is not supported|The command .{1,200} was cancelled|Your (?:last )?(?:output|command) (?:was not formatted|timed out|failed)|EXECUTION TIMED OUT|invalid line_number|Invalid `path` parameter|Invalid function name)/i;

/** The repository, where the file says how its run can be repeated. */
function remoteIn(document: JsonObject): string | null {
  const config = objectOf(document.replay_config) ?? parseObject(textOf(document.replay_config) ?? "");
  const repo = objectOf(objectOf(config?.env)?.repo);
  return normaliseRemote(textOf(repo?.github_url) ?? "");
}
