import { createHash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { CallTrace, MadeCall, RunningSession } from "../authoring/index.ts";
import { asArray, asObject, asString, isObject, type JsonObject, parseObject } from "../base/index.ts";
import type { Format } from "../records/index.ts";
import { openForeignDatabase } from "../transcripts/index.ts";

/** Files of sessions that are searched for a call: the latest. */
export const searchedFiles = 12;
/** Sessions in a database that are searched, the latest, and the last messages of each. */
const searchedSessions = 20;
const searchedMessages = 5;
/** Bytes at the end of a file, where the head of the file may be needed too. */
const wholeFileBytes = 64_000_000;
/** Milliseconds by which the time of a file's last change may be early: some disks count in seconds. */
const clockToleranceMs = 2_000;

/** Where a call is looked for. */
export interface SearchArea {
  /** Where the agent keeps its sessions. */
  readonly folders: readonly string[];
  /** The folder that is worked in. */
  readonly cwd: string;
  /** How far back from the end of a file. */
  readonly bytes: number;
}

/** How an agent's own files tell which of its sessions makes a call. */
export interface CallFinder {
  /** Whether a call is written down at about the time it is made, so that it is worth waiting for. */
  readonly isPrompt: boolean;
  /** The sessions that may be making the call. */
  find(trace: CallTrace, area: SearchArea): readonly RunningSession[];
}

/**
 * Gemini CLI writes a call down once it is answered, and what its model said before it makes one. So the session that
 * made the call before this one is known; and if no other session of the project was written since, that one makes this
 * call, too. After `/clear`, or with somebody else at work in the project, it takes another call to know.
 */
const gemini: CallFinder = {
  isPrompt: false,
  find: ({ before }, { folders, cwd, bytes }) => {
    if (before === null) return [];
    const since = before.answeredAt - clockToleranceMs;
    const written = folders
      .flatMap((folder) => listGeminiProjects(folder, cwd))
      .flatMap((project) => listGeminiChats(join(project, "chats")))
      .filter((path) => readChangeTime(path) >= since);
    const [only, ...others] = written;
    return only === undefined || others.length > 0 ? [] : findAnswered(only, before, bytes);
  },
};

/** The folders that Gemini CLI has for a project: named after it, or, before it wrote lines, after its hash. */
function listGeminiProjects(folder: string, cwd: string): string[] {
  const hashes = [cwd, resolveLinks(cwd)].map((path) => createHash("sha256").update(path).digest("hex"));
  return listEntries(folder)
    .filter(({ name }) => hashes.includes(name) || isGeminiRoot(cwd, join(folder, name)))
    .map(({ name }) => join(folder, name));
}

function isGeminiRoot(cwd: string, project: string): boolean {
  try {
    return isSameFolder(readFileSync(join(project, ".project_root"), "utf8").trim(), cwd);
  } catch {
    return false;
  }
}

/** The sessions of a project, and those of their subagents. */
function listGeminiChats(chats: string): string[] {
  return listEntries(chats).flatMap((entry) => {
    const path = join(chats, entry.name);
    return entry.isDirectory() ? listEntries(path).map(({ name }) => join(path, name)) : [path];
  });
}

/** The session of a file, if the answered call is in it. */
function findAnswered(path: string, call: MadeCall, bytes: number): RunningSession[] {
  let model: string | null = null;
  for (const line of readLinesWith('"type":"gemini"', path, bytes)) {
    const record = parseObject(line);
    if (record?.type !== "gemini") continue;
    model ??= asString(record.model);
    const isAnswered = asArray(record.toolCalls)
      .filter(isObject)
      .some(
        (made) => readTime(made.timestamp) >= call.at && isSameCall(call, asString(made.name), made.args),
      );
    if (isAnswered) return [{ path, session: null, model }];
  }
  return [];
}

/**
 * Copilot CLI writes down that a tool is begun, a moment after it was. The session that its environment names is the one
 * in which the server was started, which `/clear` leaves behind.
 */
const copilot: CallFinder = {
  isPrompt: true,
  find: (trace, { folders, cwd, bytes }) => {
    const since = findEarliest(trace) - clockToleranceMs;
    const files = folders.flatMap((folder) =>
      listEntries(folder).map(({ name }) => join(folder, name, "events.jsonl")),
    );
    return sortByChange(files)
      .filter((path) => readChangeTime(path) >= since)
      .slice(0, searchedFiles)
      .flatMap((path) => findBegun(path, trace, bytes))
      .filter(({ path }) => isCopilotIn(cwd, path));
  },
};

/** The session of a file in which the call is begun and not ended. */
function findBegun(path: string, trace: CallTrace, bytes: number): RunningSession[] {
  const ended = new Set<string | null>();
  for (const line of readLinesWith('{"type":"tool.execution_', path, bytes)) {
    const record = parseObject(line);
    const data = asObject(record?.data);
    if (record === null || data === null) continue;
    const id = asString(data.toolCallId);
    if (record.type === "tool.execution_complete") ended.add(id);
    else if (record.type === "tool.execution_start" && !ended.has(id) && isBeginning(record, data, trace))
      return [{ path, session: null, model: asString(data.model) }];
  }
  return [];
}

function isBeginning(record: JsonObject, data: JsonObject, trace: CallTrace): boolean {
  const tool = asString(data.mcpToolName) ?? asString(data.toolName);
  return mayBegin(trace, readTime(record.timestamp)) && isSameCall(trace.call, tool, data.arguments);
}

/** Whether a session works in a folder: the one that it was started in last, or one that it has gone to since. */
function isCopilotIn(cwd: string, path: string): boolean {
  for (const line of readLinesWith('{"type":"session.', path, wholeFileBytes)) {
    const record = parseObject(line);
    const data = asObject(record?.data);
    const isStart = record?.type === "session.start" || record?.type === "session.resume";
    if (!isStart && record?.type !== "session.context_changed") continue;
    const folder = asString((isStart ? asObject(data?.context) : data)?.cwd);
    if (folder !== null && isSameFolder(folder, cwd)) return true;
    if (isStart) return false;
  }
  return false;
}

/** OpenCode writes down that a tool runs before it calls it. It has one server for all sessions of a folder, started in it. */
const opencode: CallFinder = {
  isPrompt: true,
  find: (trace, { folders, cwd }) =>
    folders.filter((path) => path.endsWith(".db")).flatMap((path) => findRunning(path, trace, cwd)),
};

/** The sessions of a database in which the call runs, of those that work in the folder; none where it cannot be read now. */
function findRunning(path: string, trace: CallTrace, cwd: string): RunningSession[] {
  const sessions = `select id from session where directory = ? order by time_updated desc limit ${searchedSessions}`;
  const messages = `select id, data from message where session_id = ? order by time_created desc, id desc limit ${searchedMessages}`;
  try {
    const database = openForeignDatabase(path);
    try {
      const folders = database.query("select distinct directory from session");
      const here = folders.map((row) => String(row.directory)).filter((one) => isSameFolder(one, cwd));
      const latest = here.flatMap((folder) => database.query(sessions, folder));
      return latest.flatMap(({ id: session }) => {
        const making = database.query(messages, String(session)).find(({ id }) => {
          const parts = database.query("select data from part where message_id = ?", String(id));
          return parts.some(({ data }) => isRunningPart(data, trace));
        });
        if (making === undefined) return [];
        const model = asString(parseObject(String(making.data))?.modelID);
        return { path, session: String(session), model };
      });
    } finally {
      database.close();
    }
  } catch {
    return [];
  }
}

function isRunningPart(data: unknown, trace: CallTrace): boolean {
  const part = parseObject(String(data));
  const state = asObject(part?.state);
  if (part?.type !== "tool" || state?.status !== "running") return false;
  const begun = asObject(state.time)?.start;
  return (
    typeof begun === "number" &&
    mayBegin(trace, begun) &&
    isSameCall(trace.call, asString(part.tool), state.input)
  );
}

export const callFinders: Partial<Record<Format, CallFinder>> = { gemini, opencode, "copilot-cli": copilot };

// --- Whether two calls are the same ---

/** Whether what was begun at a time can be the call. */
function mayBegin(trace: CallTrace, at: number): boolean {
  return at >= findEarliest(trace) && at <= trace.call.at + clockToleranceMs;
}

/** Since when the call can have been made: what is begun before is not it, though its end may not be written down yet. */
function findEarliest({ startedAt, call, before }: CallTrace): number {
  const since = before !== null && isSameCall(call, before.tool, before.args) ? before.answeredAt : startedAt;
  // What lies after the call says nothing: the clock was set back, or both came at once.
  return since <= call.at ? since : call.at - clockToleranceMs;
}

/** Whether a call that an agent wrote down is one that came to the server. Hosts put the server's name before a tool's. */
function isSameCall({ tool, args }: MadeCall, name: string | null, input: unknown): boolean {
  const isTool =
    name === tool || (name?.endsWith(tool) === true && /\W|_/.test(name.at(-tool.length - 1) ?? ""));
  const written = (value: unknown) => JSON.parse(JSON.stringify(value ?? {}));
  return isTool && isDeepStrictEqual(written(args), written(input));
}

function readTime(value: unknown): number {
  return Date.parse(asString(value) ?? "");
}

// --- Files that may not be there ---

/** The lines of a file that have a mark in them, the last first, as far as they are within so many bytes of its end. */
export function* readLinesWith(mark: string, path: string, bytes: number): Generator<string> {
  const text = readEnd(path, bytes);
  for (let end = text.length; end > 0; ) {
    const at = text.lastIndexOf(mark, end - 1);
    if (at < 0) return;
    const next = text.indexOf("\n", at);
    end = text.lastIndexOf("\n", at) + 1;
    yield text.toString("utf8", end, next < 0 ? text.length : next);
  }
}

/** The last bytes of a file; none where it cannot be read. */
export function readEnd(path: string, most: number): Buffer {
  let file: number | null = null;
  try {
    file = openSync(path, "r");
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, most));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes;
  } catch {
    return Buffer.alloc(0);
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** What is in a folder; nothing where it cannot be read. */
export function listEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** When a file was changed last, in milliseconds; 0 where it is not there. */
export function readChangeTime(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

/** Paths, the latest changed first. */
export function sortByChange(paths: readonly string[]): string[] {
  const times = new Map(paths.map((path) => [path, readChangeTime(path)]));
  return [...paths].sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0));
}

/** Whether two paths lead to one folder: agents write down the one that they were started by. */
function isSameFolder(one: string, other: string): boolean {
  return resolveLinks(one) === resolveLinks(other);
}

/** A path without links; as it is where it leads nowhere. */
function resolveLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
