import { isObject, type JsonObject, listOf, objectOf, textOf } from "../core/json.ts";
import { plainText } from "./claude-code.ts";
import { type DocumentReader, timeOf } from "./reader.ts";
import { taskIn } from "./task-text.ts";
import type { Draft, Place, Thread } from "./thread.ts";
import type { Threads } from "./threads.ts";
import { callOf, folderOf, resultOf } from "./tool-call.ts";

/** Harbor's trajectories of any agent (ATIF): `trajectory.json`. The key of an event is the index of its step. */
export const atif: DocumentReader = {
  format: "atif",
  recognises: (document) => {
    if (!isObject(document) || !Array.isArray(document.steps)) return false;
    if (textOf(document.schema_version)?.startsWith("ATIF-")) return true;
    const steps = listOf(document.steps);
    return isObject(document.agent) && steps.length > 0 && steps.every(isStep);
  },
  read: (document, threads) => {
    if (isObject(document)) readTrajectory(document, threads, null);
  },
};

function isStep(value: unknown): boolean {
  return isObject(value) && "step_id" in value && sources.has(textOf(value.source) ?? "");
}

const sources = new Set(["system", "user", "agent"]);

/** `parent` is the session that sent a subagent off; what a subagent is told comes from it. */
function readTrajectory(document: JsonObject, threads: Threads, parent: Thread | null): void {
  const name = textOf(document.trajectory_id) ?? textOf(document.session_id) ?? `subagent ${threads.size}`;
  const thread = threads.named(parent === null ? "" : name, {
    sessionId: textOf(document.session_id) ?? parent?.facts.sessionId ?? null,
    agentId: parent === null ? null : name,
    subagent: parent !== null,
    cwd: folderOf(objectOf(objectOf(document.agent)?.extra)),
  });
  for (const [index, step] of listOf(document.steps).entries()) {
    // A trajectory that goes on from a summary repeats what came before it.
    if (isObject(step) && step.is_copied_context !== true) takeStep(thread, step, index);
  }
  for (const inner of listOf(document.subagent_trajectories)) {
    if (isObject(inner) && parent === null) readTrajectory(inner, threads, thread);
  }
}

function takeStep(thread: Thread, step: JsonObject, index: number): void {
  const at = timeOf(step.timestamp);
  const place = { key: String(index), at, cwd: thread.facts.cwd, origin: null, sidechain: false };
  const text = plainText(step.message).trim();
  if (step.source === "user") {
    const task = taskIn(text);
    if (task !== "" && !thread.facts.subagent) thread.prompt(place, task);
  } else if (step.source === "agent") {
    if (text !== "") thread.reply(place, text);
    const calls = listOf(step.tool_calls).flatMap((call) =>
      isObject(call) ? [takeCall(thread, call, place)] : [],
    );
    for (const result of listOf(objectOf(step.observation)?.results))
      if (isObject(result)) takeResult(thread, calls, result, place);
  }
}

function takeCall(thread: Thread, call: JsonObject, place: Place): Draft {
  const input = objectOf(call.arguments);
  const folder = folderOf(input);
  const made = callOf(textOf(call.tool_call_id), textOf(call.function_name) ?? "unknown", input);
  return thread.call(folder === null ? place : { ...place, cwd: folder }, made);
}

/** A result names its call; one that does not shows what the last of the calls left behind. */
function takeResult(thread: Thread, calls: readonly Draft[], result: JsonObject, place: Place): void {
  const id = textOf(result.source_call_id);
  const open = calls.filter(({ resultKey }) => resultKey === null);
  const draft =
    open.find(({ callId }) => callId === id && id !== null) ?? (id === null ? open.at(-1) : open[0]);
  if (!draft) return;
  const exit = objectOf(result.extra)?.exit_code ?? result.exit_code;
  const told = typeof exit === "number" ? { exitCode: exit } : {};
  thread.settle(draft, resultOf(draft.command, plainText(result.content), told), place);
}
