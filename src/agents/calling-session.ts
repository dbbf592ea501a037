import { closeSync, type Dirent, readdirSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { CallTrace, FoundSession, HostCall, MadeCall } from "../authoring/index.ts";
import {
  asArray,
  asObject,
  asString,
  isObject,
  type JsonObject,
  openPlainFile,
  parseObject,
  sha256,
} from "../base/index.ts";
import type { Format } from "../records/index.ts";
import { openForeignDatabase } from "../transcripts/index.ts";
import { type AgentSurroundings, agents } from "./agents.ts";

type RunningSession = Extract<FoundSession, object>;

/** Milliseconds to wait for a call to be written down, and between two looks. */
const [waitMs, lookMs] = [2_000, 25];
/** Milliseconds in which no other session may record the same call: agents write a tenth of a second late. */
const settleMs = 300;
/** Milliseconds by which the time of a file's last change may be early: some disks count in seconds. */
const clockToleranceMs = 2_000;
/** Folders of projects, and files of sessions, that are searched for a call: the latest. */
const [searchedFolders, searchedFiles] = [5, 12];
/** Sessions in a database that are searched, the latest, and the last messages of each. */
const [searchedSessions, searchedMessages] = [20, 5];
/** Bytes at the end of a file that are searched for a call, and how many where much was written after it. */
const [endBytes, furtherBytes] = [512_000, 64_000_000];
/** Folders below the agent's own in which a transcript that is named after its session may lie. */
const deepestFolder = 4;

/** Where a call is looked for. */
interface SearchArea {
  /** Where the agent keeps its sessions. */
  readonly folders: readonly string[];
  /** The folder that is worked in. */
  readonly cwd: string;
  /** How far back from the end of a file. */
  readonly bytes: number;
}

/** How an agent's own files tell which of its sessions makes a call. */
interface CallFinder {
  /** Whether a call is written down at about the time it is made, so that it is worth waiting for. */
  readonly isPrompt: boolean;
  /** The sessions that may be making the call. */
  find(trace: CallTrace, area: SearchArea): readonly RunningSession[];
}

/** The session that makes a call, by what its host says; null where none is found, or where several make the same. */
export async function findCallingSession(
  host: HostCall,
  surroundings: AgentSurroundings,
): Promise<FoundSession> {
  const candidates = agents.filter(({ format }) => host.format === null || host.format === format);
  const folders = candidates.flatMap((agent) => agent.sessionFolders(surroundings));
  if (host.trace === undefined) return findTranscript(host, folders);
  const format = candidates[0]?.format;
  const finder = format && callFinders[format];
  return finder ? findOnly(finder, host.trace, { folders, cwd: host.cwd, bytes: endBytes }) : null;
}

/** The session that makes a call, where only one can be. */
async function findOnly(
  { isPrompt, find }: CallFinder,
  trace: CallTrace,
  area: SearchArea,
): Promise<RunningSession | null> {
  const further = { ...area, bytes: furtherBytes };
  if (isPrompt) await waitFor(() => find(trace, area)[0]);
  const [one, ...others] = find(trace, further);
  if (one === undefined || others.length > 0) return null;
  if (!isPrompt) return one;
  // Another session may make the same call at this moment, and be slower to write it down.
  await sleep(settleMs);
  return isDeepStrictEqual(find(trace, further), [one]) ? one : null;
}

async function waitFor<Thing>(find: () => Thing | undefined): Promise<Thing | undefined> {
  let found = find();
  for (let waited = 0; found === undefined && waited < waitMs; waited += lookMs) {
    await sleep(lookMs);
    found = find();
  }
  return found;
}

// --- Hosts that name their session or the call ---

async function findTranscript(host: HostCall, folders: readonly string[]): Promise<FoundSession> {
  const { session, callId, format, cwd } = host;
  const at = (path: string | null) => (path === null ? null : { path, session, model: null });
  const isNamed = session !== null && /^[\w.-]{4,128}$/.test(session);
  const findNamed = () =>
    isNamed ? findFirst(folders, (folder) => findFileNamed(session, folder, 0)) : null;
  if (format !== "claude-code" || callId === null) return at(findNamed());
  const find = (bytes: number) =>
    listNewest(folders, cwd, session).find((path) => makesCall(callId, path, bytes));
  const making = (await waitFor(() => find(endBytes))) ?? find(furtherBytes);
  if (making !== undefined) return at(making);
  // Where the call is nowhere, the session that the environment names is it unless another one was written since.
  const named = findNamed();
  if (named === null) return null;
  const isLatest = listTranscripts(dirname(named)).every(
    (one) => readChangeTime(one) <= readChangeTime(named),
  );
  return isLatest ? at(named) : "unsure";
}

/** The transcripts that were written last: those of the folder that is worked in first, and in it the session's own. */
function listNewest(folders: readonly string[], cwd: string, session: string | null): string[] {
  const own = cwd.replace(/[^A-Za-z0-9]/g, "-");
  const ownFirst = (paths: readonly string[], name: string) =>
    sortByChange(paths).sort((a, b) => Number(basename(b) === name) - Number(basename(a) === name));
  const projects = folders.flatMap((folder) => listEntries(folder).map(({ name }) => join(folder, name)));
  const latest = ownFirst(projects, own).slice(0, searchedFolders).flatMap(listTranscripts);
  return ownFirst(latest, `${session}.jsonl`).slice(0, searchedFiles);
}

/** The sessions of a project, and those of their subagents. */
function listTranscripts(project: string): string[] {
  return listTwoLevels(project, "subagents").filter((path) => path.endsWith(".jsonl"));
}

/** Whether a file records a call, beyond mentioning it; a subagent's progress is also in its parent's file. */
function makesCall(callId: string, path: string, bytes: number): boolean {
  for (const line of readLinesWith(JSON.stringify(callId), path, bytes)) {
    const record = parseObject(line);
    const said = record?.type === "assistant" ? asArray(asObject(record.message)?.content) : [];
    if (said.some((block) => isObject(block) && block.type === "tool_use" && block.id === callId))
      return true;
  }
  return false;
}

/** The file whose name ends with a session's id (`rollout-…-<session>.jsonl`, `<session>.jsonl`), in the newest folder. */
function findFileNamed(session: string, folder: string, depth: number): string | null {
  const entries = listEntries(folder);
  const isNamed = (name: string) => /\.jsonl?$/.test(name) && `-${name}`.includes(`-${session}.json`);
  const file = entries.find((entry) => isNamed(entry.name) && !entry.isDirectory());
  if (file) return join(folder, file.name);
  if (depth === deepestFolder) return null;
  const below = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort((a, b) => Number(b === session) - Number(a === session) || (a < b ? 1 : -1));
  return findFirst(below, (name) => findFileNamed(session, join(folder, name), depth + 1));
}

/** The first that is found; later ones are not looked for. */
function findFirst<Thing>(list: readonly Thing[], find: (one: Thing) => string | null): string | null {
  for (const one of list) {
    const found = find(one);
    if (found !== null) return found;
  }
  return null;
}

/** The model that answered last in a transcript of Claude Code; null where none says so. */
export function readLatestModel(path: string): string | null {
  const said = readEnd(path, endBytes)
    .toString("utf8")
    .matchAll(/"message":\{(?:"(?:id|type|role)":"[^"]{0,200}",){0,3}"model":"([\w.:@/-]{1,80})"/g);
  return [...said].at(-1)?.[1] ?? null;
}

// --- Hosts that name nothing: their files tell which session makes the call ---

/**
 * Gemini CLI writes a call down once it is answered, and what its model said before it makes one. So the session that
 * made the call before this one is known; and if no other session of the project was written since, that one makes this
 * call, too. After `/clear`, or with another session at work in the project, it takes another call to know.
 */
const gemini: CallFinder = {
  isPrompt: false,
  find: ({ before }, { folders, cwd, bytes }) => {
    if (before === null) return [];
    const since = before.answeredAt - clockToleranceMs;
    const written = folders
      .flatMap((folder) => listGeminiProjects(folder, cwd))
      .flatMap((project) => listTwoLevels(join(project, "chats")))
      .filter((path) => readChangeTime(path) >= since);
    const [only, ...others] = written;
    return only === undefined || others.length > 0 ? [] : findAnswered(only, before, bytes);
  },
};

/** The folders that Gemini CLI has for a project: named after it, or, before it wrote lines, after its hash. */
function listGeminiProjects(folder: string, cwd: string): string[] {
  const hashes = [cwd, resolveLinks(cwd)].map((path) => sha256(path));
  return listEntries(folder)
    .map(({ name }) => join(folder, name))
    .filter((project) => {
      const root = readEnd(join(project, ".project_root"), 4_096).toString("utf8").trim();
      return hashes.includes(basename(project)) || (root !== "" && isSameFolder(root, cwd));
    });
}

/** The session of a file, if the answered call is in it. */
function findAnswered(path: string, call: MadeCall, bytes: number): RunningSession[] {
  let model: string | null = null;
  for (const line of readLinesWith('"type":"gemini"', path, bytes)) {
    const record = parseObject(line);
    if (record?.type !== "gemini") continue;
    model ??= asString(record.model);
    const calls = asArray(record.toolCalls).filter(isObject);
    const isAnswer = (made: JsonObject) =>
      readTime(made.timestamp) >= call.at && isSameCall(call, made.name, made.args);
    if (calls.some(isAnswer)) return [{ path, session: null, model }];
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
    const id = asString(data?.toolCallId);
    if (record?.type === "tool.execution_complete") ended.add(id);
    if (record?.type !== "tool.execution_start" || data === null || ended.has(id)) continue;
    const isCall = isSameCall(trace.call, data.mcpToolName ?? data.toolName, data.arguments);
    if (isCall && mayBegin(trace, readTime(record.timestamp)))
      return [{ path, session: null, model: asString(data.model) }];
  }
  return [];
}

/** Whether a session works in a folder: the one that it was started in last, or one that it has gone to since. */
function isCopilotIn(cwd: string, path: string): boolean {
  for (const line of readLinesWith('{"type":"session.', path, furtherBytes)) {
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

/** OpenCode records that a tool runs before it calls it. It has one server for all sessions of a folder. */
const opencode: CallFinder = {
  isPrompt: true,
  find: (trace, { folders, cwd }) => folders.flatMap((path) => findRunning(path, trace, cwd)),
};

const callFinders: Partial<Record<Format, CallFinder>> = { gemini, opencode, "copilot-cli": copilot };

/** The sessions of a database that work in the folder and run the call; empty if it cannot be read now. */
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
  const begun = asObject(state?.time)?.start;
  if (part?.type !== "tool" || state?.status !== "running" || typeof begun !== "number") return false;
  return mayBegin(trace, begun) && isSameCall(trace.call, part.tool, state.input);
}

/** Whether what was begun at a time can be the call. */
function mayBegin(trace: CallTrace, at: number): boolean {
  return at >= findEarliest(trace) && at <= trace.call.at + clockToleranceMs;
}

/** The earliest time of the call: one begun before is another, though its end may not be recorded yet. */
function findEarliest({ startedAt, call, before }: CallTrace): number {
  const since = before !== null && isSameCall(call, before.tool, before.args) ? before.answeredAt : startedAt;
  // What lies after the call says nothing: the clock was set back, or both came at once.
  return since <= call.at ? since : call.at - clockToleranceMs;
}

/** Whether a call in a transcript matches one that reached the server. Hosts prefix a tool with the server's name. */
function isSameCall({ tool, args }: MadeCall, name: unknown, input: unknown): boolean {
  if (typeof name !== "string" || !name.endsWith(tool)) return false;
  const isTool = name === tool || /\W|_/.test(name.at(-tool.length - 1) ?? "");
  const written = (value: unknown) => JSON.parse(JSON.stringify(value ?? {}));
  return isTool && isDeepStrictEqual(written(args), written(input));
}

function readTime(value: unknown): number {
  return Date.parse(asString(value) ?? "");
}

// --- Files that may not be there ---

/** The lines of a file that have a mark in them, the last first, as far as they are within so many bytes of its end. */
function* readLinesWith(mark: string, path: string, bytes: number): Generator<string> {
  const text = readEnd(path, bytes);
  for (let end = text.length; end > 0; ) {
    const at = text.lastIndexOf(mark, end - 1);
    if (at < 0) return;
    const next = text.indexOf("\n", at);
    end = text.lastIndexOf("\n", at) + 1;
    yield text.toString("utf8", end, next < 0 ? text.length : next);
  }
}

/** The last bytes of a file; empty if it cannot be read. */
function readEnd(path: string, most: number): Buffer {
  let file: number | null = null;
  try {
    const { handle, stats } = openPlainFile(path);
    file = handle;
    const { size } = stats;
    const bytes = Buffer.alloc(Math.min(size, most));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes;
  } catch {
    return Buffer.alloc(0);
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** The files in a folder, and those of the folders in it, or of the one of that name in each of them. */
function listTwoLevels(folder: string, inner = ""): string[] {
  return listEntries(folder).flatMap((entry) => {
    const path = join(folder, entry.name, entry.isDirectory() ? inner : "");
    return entry.isDirectory() ? listEntries(path).map(({ name }) => join(path, name)) : [path];
  });
}

/** The entries of a folder; empty if it cannot be read. */
function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** When a file was changed last, in milliseconds; 0 where it is not there. */
function readChangeTime(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

/** Paths, the latest changed first. */
function sortByChange(paths: readonly string[]): string[] {
  const times = new Map(paths.map((path) => [path, readChangeTime(path)]));
  return [...paths].sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0));
}

/** Whether two paths lead to one folder: agents record the path that they were started with. */
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
