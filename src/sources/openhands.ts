import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isObject, type Json, type JsonObject, listOf, objectOf, parseObject, textOf } from "../core/json.ts";
import type { ReadingState, Resume } from "../engine/ports.ts";
import { plainText } from "./claude-code.ts";
import { type DocumentReader, type Reader, type Reading, timeOf } from "./reader.ts";
import { taskIn } from "./task-text.ts";
import type { Call, Place, Result, Thread } from "./thread.ts";
import { Threads } from "./threads.ts";
import { callOf, resultOf, Waiting } from "./tool-call.ts";

/**
 * OpenHands: its events as a list, bare or under `trajectory` or `history`, or as a file each in a folder `events`.
 * Before version 1 an event is an `action` or an `observation`, from then on its `kind` says what it is. The key is the
 * index of the event.
 */
export const openhands: DocumentReader = {
  format: "openhands",
  recognises: (document) => {
    if (isEvent(document)) return true;
    const events = eventsOf(document);
    return events.some(isEvent) && events.every((event) => isEvent(event) || isStray(event));
  },
  read: (document, threads, path) => {
    // The folder beside the events holds copies of them.
    if (basename(dirname(path)) === "event_cache") return;
    if (isEvent(document) && ofFolder.test(path)) return readFolder(threads, path);
    const log = new EventLog(threads.named("", factsOf(path)));
    const events = isEvent(document) ? [document] : eventsOf(document);
    for (const [index, event] of events.entries()) log.take(event, String(index));
  },
  beside: (path) => (firstOfFolder.test(path) ? filesBeside(path).filter((file) => file !== path) : []),
};

const ofFolder = /[\\/]events[\\/](?:event-)?\d+(?:-[^\\/]*)?\.json$/;
const firstOfFolder = /[\\/]events[\\/](?:event-)?0+(?:-[^\\/]*)?\.json$/;

/** The first event stands for the conversation; the files of the others give no session of their own. */
function readFolder(threads: Threads, path: string): void {
  if (!firstOfFolder.test(path)) return;
  const state = parseObject(textAt(join(dirname(dirname(path)), "base_state.json")));
  const cwd = textOf(objectOf(state?.workspace)?.working_dir);
  const log = new EventLog(threads.named("", { ...factsOf(path), cwd }));
  for (const file of filesBeside(path)) log.take(parseObject(textAt(file)), String(numberOf(file)));
}

/** The events of a folder, in order. */
function filesBeside(path: string): string[] {
  const folder = dirname(path);
  const files = readdirSync(folder).map((name) => join(folder, name));
  return files.filter((file) => ofFolder.test(file)).sort((a, b) => numberOf(a) - numberOf(b));
}

function numberOf(file: string): number {
  return Number(/\d+/.exec(basename(file))?.[0] ?? 0);
}

/** Empty for a file that is gone again. */
function textAt(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The same as lines, an event each. */
export const openhandsLines: Reader = {
  format: "openhands",
  // A file of the folder may be one line; it is read with the others.
  recognises: (record, path = "") => isEvent(record) && !ofFolder.test(path),
  passesOver: () => false,
  open: (path, resume) => new OpenHandsReading(path, resume),
};

class OpenHandsReading implements Reading {
  readonly threads: Threads;
  private readonly log: EventLog;

  constructor(path: string, resume: Resume | null) {
    this.threads = new Threads("transcript", resume);
    const rest = listOf(resume?.state.rest).filter((id): id is string => typeof id === "string");
    this.log = new EventLog(this.threads.named("", factsOf(path)), new Waiting(rest));
  }

  take(record: unknown, line: number): void {
    this.log.take(record, String(line));
  }

  state(): ReadingState {
    return { threads: this.threads.states(), rest: this.log.waiting.list() };
  }
}

/** A conversation has a folder of its own; that of a subagent lies in its parent's. */
function factsOf(path: string) {
  const folder = basename(dirname(path)) === "events" ? basename(dirname(dirname(path))) : null;
  return { sessionId: folder, subagent: path.includes("/subagents/") };
}

/** The events of a document; evaluations keep the older ones as pairs of action and observation. */
function eventsOf(document: Json): readonly unknown[] {
  const list = isObject(document) ? listOf(document.trajectory ?? document.history) : listOf(document);
  return list.every(Array.isArray) ? list.flat() : list;
}

function isEvent(value: unknown): boolean {
  if (!isObject(value)) return false;
  const isOurs = parties.has(textOf(value.source) ?? "");
  if (typeof value.kind === "string")
    return kinds.has(value.kind) && (isOurs || isObject(value[bodies[value.kind] ?? ""]));
  if (!isOurs || !(typeof value.id === "number" || typeof value.timestamp === "string")) return false;
  if (typeof value.action === "string") return isObject(value.args);
  return typeof value.observation === "string" && typeof value.content === "string" && isObject(value.extras);
}

/** An event that this reader does not know, among those it knows. */
function isStray(value: unknown): boolean {
  return isObject(value) && parties.has(textOf(value.source) ?? "");
}

const parties = new Set(["user", "agent", "environment"]);
const bodies: Record<string, string> = {
  MessageEvent: "llm_message",
  ActionEvent: "action",
  ObservationEvent: "observation",
};
const kinds = new Set([
  ...Object.keys(bodies),
  "AgentErrorEvent",
  "UserRejectObservation",
  "SystemPromptEvent",
  "Condensation",
  "PauseEvent",
  "ConversationStateUpdateEvent",
]);

/** The events of one conversation being read, in order. */
class EventLog {
  readonly waiting: Waiting;
  private readonly thread: Thread;

  constructor(thread: Thread, waiting = new Waiting()) {
    this.thread = thread;
    this.waiting = waiting;
  }

  take(event: unknown, key: string): void {
    if (!isObject(event)) return;
    const at = timeOf(event.timestamp);
    this.thread.reach(at);
    const place = { key, at, cwd: this.thread.facts.cwd, origin: null, sidechain: false };
    if (typeof event.kind === "string") this.takeKind(event, place);
    else if (typeof event.action === "string")
      this.takeAction(event, event.action, objectOf(event.args) ?? {}, place);
    else if (typeof event.observation === "string") this.takeObservation(event, event.observation, place);
  }

  private takeKind(event: JsonObject, place: Place): void {
    switch (event.kind) {
      case "MessageEvent":
        return this.say(event.source, plainText(objectOf(event.llm_message)?.content), place);
      case "ActionEvent":
        return this.takeToolCall(event, place);
      case "ObservationEvent":
        return this.takeToolResult(event, objectOf(event.observation) ?? {}, place);
      case "AgentErrorEvent":
        return this.answer(event, place, () => failure(textOf(event.error) ?? ""));
      case "UserRejectObservation":
        return this.takeRejection(event, textOf(event.rejection_reason) ?? "", place);
      case "Condensation":
        return this.thread.mark(place, "Conversation compacted");
      case "PauseEvent":
        return this.thread.mark(place, "Paused by the user");
      default:
        return;
    }
  }

  private takeToolCall(event: JsonObject, place: Place): void {
    const action = objectOf(event.action);
    const thought = plainText(event.thought).trim();
    if (thought !== "") this.thread.reply(place, thought);
    const tool = textOf(event.tool_name) ?? textOf(action?.kind) ?? "unknown";
    if (tool === "think") return;
    if (tool === "finish") return this.say("agent", textOf(action?.message) ?? "", place);
    const written = parseObject(textOf(objectOf(event.tool_call)?.arguments) ?? "");
    this.call(event, callOf(null, tool, action ?? written), place);
  }

  private takeToolResult(event: JsonObject, seen: JsonObject, place: Place): void {
    const metadata = objectOf(seen.metadata);
    this.stand(textOf(metadata?.working_dir));
    const text = plainText(seen.content ?? seen.output) || (textOf(seen.error) ?? "");
    const exit = seen.exit_code ?? metadata?.exit_code;
    const failed = seen.is_error === true || typeof seen.error === "string" || seen.timeout === true;
    this.answer(event, place, (command) => resultOf(command, text, { exitCode: exitOf(exit), failed }));
  }

  /** What a person gives as the reason is their own words, unless it is what the client says for them. */
  private takeRejection(event: JsonObject, reason: string, place: Place): void {
    this.answer(event, place, () => ({ outcome: "rejected", exitCode: null, text: reason }));
    if (reason.trim() !== "" && !/^User rejected/.test(reason)) this.say("user", reason, place);
  }

  private takeAction(event: JsonObject, action: string, args: JsonObject, place: Place): void {
    const { source } = event;
    if (action === "message")
      return this.say(source, textOf(args.content) ?? textOf(event.message) ?? "", place);
    if (action === "condensation") return this.thread.mark(place, "Conversation compacted");
    if (bookkeeping.has(action) || args.hidden === true) return;
    if (source === "user") return this.thread.mark(place, "", textOf(args.command));
    const thought = textOf(args.thought) ?? textOf(objectOf(args.thought)?.text) ?? "";
    if (thought.trim() !== "") this.thread.reply(place, thought.trim());
    if (action === "finish" || action === "reject")
      return this.say(
        "agent",
        textOf(args.final_thought) ?? textOf(objectOf(args.outputs)?.reason) ?? "",
        place,
      );
    this.call(event, toolOf(action, args), place);
  }

  private takeObservation(event: JsonObject, observation: string, place: Place): void {
    const extras = objectOf(event.extras);
    const metadata = objectOf(extras?.metadata);
    const text = textOf(event.content) ?? "";
    this.stand(textOf(metadata?.working_dir));
    if (passedOver.has(observation)) return;
    if (observation === "user_rejected") return this.takeRejection(event, "", place);
    if (observation === "error") return this.answer(event, place, () => failure(text));
    const exitCode = exitOf(metadata?.exit_code ?? extras?.exit_code);
    const failed = event.success === false && exitCode === null;
    this.answer(event, place, (command) => resultOf(command, text, { exitCode, failed }));
  }

  /** A task is put into words by the harness; what the environment says in the user's place is nobody's. */
  private say(source: unknown, text: string, place: Place): void {
    const words = source === "user" ? taskIn(text) : text.trim();
    if (words === "") return;
    if (source === "agent") this.thread.reply(place, words);
    else if (source === "user" && !this.thread.facts.subagent) this.thread.prompt(place, words);
  }

  private call(event: JsonObject, call: Call, place: Place): void {
    this.thread.call(place, { ...call, id: this.waiting.add(callId(event), place) });
  }

  private answer(event: JsonObject, place: Place, judge: (command: string | null) => Result): void {
    const id = this.waiting.take(event.cause === undefined ? callId(event) : idText(event.cause));
    const draft = id === null ? undefined : this.thread.answer(id);
    if (draft) this.thread.settle(draft, judge(draft.command), place);
  }

  private stand(folder: string | null): void {
    if (folder !== null && folder !== "") this.thread.facts.cwd ??= folder;
  }
}

/** Newer events name the call; older ones are numbered, and a result names the number of its cause. */
function callId(event: JsonObject): string | null {
  return typeof event.kind === "string" ? textOf(event.tool_call_id) : idText(event.id);
}

function idText(id: unknown): string | null {
  return typeof id === "number" || typeof id === "string" ? String(id) : null;
}

function toolOf(action: string, args: JsonObject): Call {
  if (action === "call_tool_mcp" || action === "mcp")
    return callOf(null, textOf(args.name) ?? action, objectOf(args.arguments));
  return callOf(null, action, args);
}

/** The command goes on when the code is -1. */
function exitOf(exit: unknown): number | null {
  return typeof exit === "number" && Number.isInteger(exit) ? exit : null;
}

function failure(text: string): Result {
  return { outcome: "failed", exitCode: null, text };
}

const bookkeeping = new Set([
  "system",
  "null",
  "start",
  "recall",
  "think",
  "change_agent_state",
  "pause",
  "resume",
  "stop",
  "condensation_request",
]);
const passedOver = new Set([
  "agent_state_changed",
  "recall",
  "think",
  "condense",
  "null",
  "server_ready",
  "loop_detection",
]);
