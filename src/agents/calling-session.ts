import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { CallTrace, FoundSession, HostCall, RunningSession } from "../authoring/index.ts";
import { asArray, asObject, isObject, parseObject } from "../base/index.ts";
import { type AgentSurroundings, agents } from "./agents.ts";
import {
  type CallFinder,
  callFinders,
  listEntries,
  readChangeTime,
  readEnd,
  readLinesWith,
  type SearchArea,
  searchedFiles,
  sortByChange,
} from "./call-finders.ts";

/** Milliseconds to wait for a call to be written down, and between two looks. */
const [waitMs, lookMs] = [2_000, 25];
/** Milliseconds in which no other session may turn up that makes the same call: agents write down what they do a tenth of a second late. */
const settleMs = 300;
/** Folders of projects that are searched for a call: the latest. */
const searchedFolders = 5;
/** Bytes at the end of a file that are searched for a call, and how many where much was written after it. */
const [endBytes, furtherBytes] = [512_000, 64_000_000];
/** Folders below the agent's own in which a transcript that is named after its session may lie. */
const deepestFolder = 4;

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

async function findTranscript(host: HostCall, folders: readonly string[]): Promise<FoundSession> {
  const { session, callId, format, cwd } = host;
  const at = (path: string | null) => (path === null ? null : { path, session, model: null });
  const findNamed = () => findTranscriptNamed(session, folders);
  if (format !== "claude-code" || callId === null) return at(findNamed());
  const find = (bytes: number) =>
    listNewest(folders, cwd, session).find((path) => makesCall(callId, path, bytes));
  const making = (await waitFor(() => find(endBytes))) ?? find(furtherBytes);
  if (making !== undefined) return at(making);
  // Where the call is nowhere, the session that the environment names is it unless another one was written since.
  const named = findNamed();
  return named === null || isLatest(named) ? at(named) : "unsure";
}

/** Whether no other transcript of a project was written since this one. */
function isLatest(path: string): boolean {
  const at = readChangeTime(path);
  return listTranscripts(dirname(path)).every((other) => readChangeTime(other) <= at);
}

/** The transcripts that were written last: those of the folder that is worked in first, and in it the session's own. */
function listNewest(folders: readonly string[], cwd: string, session: string | null): string[] {
  const own = cwd.replace(/[^A-Za-z0-9]/g, "-");
  const ownFirst = (paths: readonly string[], isOwn: (path: string) => boolean) =>
    sortByChange(paths).sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)));
  const projects = folders.flatMap((folder) => listEntries(folder).map(({ name }) => join(folder, name)));
  const transcripts = ownFirst(projects, (path) => basename(path) === own)
    .slice(0, searchedFolders)
    .flatMap(listTranscripts);
  return ownFirst(transcripts, (path) => session !== null && basename(path) === `${session}.jsonl`).slice(
    0,
    searchedFiles,
  );
}

/** The sessions of a project, and those of their subagents. */
function listTranscripts(project: string): string[] {
  return listEntries(project)
    .flatMap((entry) => {
      const path = join(project, entry.name);
      if (!entry.isDirectory()) return [path];
      const below = join(path, "subagents");
      return listEntries(below).map(({ name }) => join(below, name));
    })
    .filter((path) => path.endsWith(".jsonl"));
}

/** The model that answered last in a transcript of Claude Code; null where none says so. */
export function readLatestModel(path: string): string | null {
  const said = readEnd(path, endBytes)
    .toString("utf8")
    .matchAll(/"message":\{(?:"(?:id|type|role)":"[^"]{0,200}",){0,3}"model":"([\w.:@/-]{1,80})"/g);
  return [...said].at(-1)?.[1] ?? null;
}

/** Whether a call is made in a file. What only speaks of it does not make it; a subagent's progress stands with its parent, too. */
function makesCall(callId: string, path: string, bytes: number): boolean {
  for (const line of readLinesWith(JSON.stringify(callId), path, bytes)) {
    const record = parseObject(line);
    const said = record?.type === "assistant" ? asArray(asObject(record.message)?.content) : [];
    if (said.some((block) => isObject(block) && block.type === "tool_use" && block.id === callId))
      return true;
  }
  return false;
}

function findTranscriptNamed(session: string | null, folders: readonly string[]): string | null {
  if (session === null || !/^[\w.-]{4,128}$/.test(session)) return null;
  for (const folder of folders) {
    const found = findFileNamed(session, folder, 0);
    if (found !== null) return found;
  }
  return null;
}

/** The file whose name ends with a session's id, the latest folders first. */
function findFileNamed(session: string, folder: string, depth: number): string | null {
  const entries = listEntries(folder);
  const file = entries.find(({ name }) => isNamedAfter(name, session));
  if (file && !file.isDirectory()) return join(folder, file.name);
  if (depth === deepestFolder) return null;
  const below = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort((a, b) => Number(b === session) - Number(a === session) || (a < b ? 1 : -1));
  for (const name of below) {
    const found = findFileNamed(session, join(folder, name), depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** `rollout-…-<session>.jsonl`, `<session>.jsonl`. */
function isNamedAfter(name: string, session: string): boolean {
  const stem = name.replace(/\.jsonl?$/, "");
  return stem !== name && (stem === session || stem.endsWith(`-${session}`));
}
