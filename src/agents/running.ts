import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { HostWord, Trace } from "../core/host.ts";
import { isObject, listOf, objectOf, parseObject } from "../core/json.ts";
import { policy } from "../core/policy.ts";
import type { Found, Running } from "../engine/caller.ts";
import { changedAt, endOf, entriesIn, linesWith } from "./files.ts";
import { agents, type Surroundings } from "./index.ts";
import type { Ground, Look, Maker } from "./maker.ts";

/** The session that makes a call, by its host's word; null where none is found, or where several make the same. */
export async function runningSession(word: HostWord, surroundings: Surroundings, look: Look): Promise<Found> {
  const ways = agents.filter(({ format }) => word.format === null || word.format === format);
  const folders = ways.flatMap((agent) => agent.sessionFolders(surroundings));
  const { trace, cwd } = word;
  const maker = ways[0]?.maker;
  const bytes = policy.protocol.endBytes;
  if (trace !== undefined) return maker ? makerOf(maker, trace, { folders, cwd, look, bytes }) : null;
  return transcriptOf(word, folders);
}

/** The session that makes a call, where one alone may be meant. */
async function makerOf({ atOnce, find }: Maker, trace: Trace, ground: Ground): Promise<Running | null> {
  const { settleMs, furtherBytes } = policy.protocol;
  const further = { ...ground, bytes: furtherBytes };
  if (atOnce) await awaited(() => find(trace, ground)[0]);
  const [one, ...others] = find(trace, further);
  if (one === undefined || others.length > 0) return null;
  if (!atOnce) return one;
  // Another session may make the same call at this moment, and be slower to write it down.
  await sleep(settleMs);
  return isDeepStrictEqual(find(trace, further), [one]) ? one : null;
}

/** What turns up within a moment: agents write a call down at about the time at which they make it. */
async function awaited<Thing>(find: () => Thing | undefined): Promise<Thing | undefined> {
  const { waitMs, lookMs } = policy.protocol;
  let found = find();
  for (let waited = 0; found === undefined && waited < waitMs; waited += lookMs) {
    await sleep(lookMs);
    found = find();
  }
  return found;
}

async function transcriptOf(word: HostWord, folders: readonly string[]): Promise<Found> {
  const { session, callId, format } = word;
  const at = (path: string | null) => (path === null ? null : { path, session, model: null });
  if (format !== "claude-code" || callId === null) return at(transcriptNamed(session, folders));
  const making = await holding(callId, word, folders);
  if (making !== undefined) return at(making);
  // Where the call is nowhere, the environment's word holds unless somebody else was at work since.
  const named = transcriptNamed(session, folders);
  return named === null || isLatest(named) ? at(named) : "unsure";
}

function transcriptNamed(session: string | null, folders: readonly string[]): string | null {
  if (session === null || !/^[\w.-]{4,128}$/.test(session)) return null;
  for (const folder of folders) {
    const found = namedAfter(session, folder, 0);
    if (found !== null) return found;
  }
  return null;
}

/** The file in which a call of Claude Code is made. */
async function holding(
  callId: string,
  { session, cwd }: HostWord,
  folders: readonly string[],
): Promise<string | undefined> {
  const { endBytes, furtherBytes } = policy.protocol;
  const within = (bytes: number) => newest(folders, cwd, session).find((path) => makes(callId, path, bytes));
  return (await awaited(() => within(endBytes))) ?? within(furtherBytes);
}

/** Whether no other transcript of a project was written since this one. */
function isLatest(path: string): boolean {
  const at = changedAt(path);
  return transcriptsIn(dirname(path)).every((other) => changedAt(other) <= at);
}

/** The transcripts that were written last: those of the folder that is worked in first, and in it the session's own. */
function newest(folders: readonly string[], cwd: string, session: string | null): string[] {
  const own = cwd.replace(/[^A-Za-z0-9]/g, "-");
  const isOwn = (path: string) => session !== null && basename(path) === `${session}.jsonl`;
  const projects = folders
    .flatMap((folder) => entriesIn(folder).map((entry) => join(folder, entry.name)))
    .sort((a, b) => Number(basename(b) === own) - Number(basename(a) === own) || changedAt(b) - changedAt(a))
    .slice(0, policy.protocol.foldersSearched);
  return projects
    .flatMap((project) => transcriptsIn(project))
    .map((path) => ({ path, at: changedAt(path) }))
    .sort((a, b) => Number(isOwn(b.path)) - Number(isOwn(a.path)) || b.at - a.at)
    .slice(0, policy.protocol.filesSearched)
    .map(({ path }) => path);
}

/** The sessions of a project, and those of their subagents. */
function transcriptsIn(project: string): string[] {
  return entriesIn(project).flatMap((entry) => {
    const path = join(project, entry.name);
    if (!entry.isDirectory()) return isLines(path) ? [path] : [];
    const below = join(path, "subagents");
    return entriesIn(below).flatMap(({ name }) => (isLines(name) ? [join(below, name)] : []));
  });
}

function isLines(path: string): boolean {
  return path.endsWith(".jsonl");
}

/** The model that answered last in a transcript of Claude Code; null where none says so. */
export function modelIn(path: string): string | null {
  const said = endOf(path, policy.protocol.endBytes)
    .toString("utf8")
    .matchAll(/"message":\{(?:"(?:id|type|role)":"[^"]{0,200}",){0,3}"model":"([\w.:@/-]{1,80})"/g);
  return [...said].at(-1)?.[1] ?? null;
}

/** Whether a call is made in a file. What only speaks of it does not make it; a subagent's progress stands with its parent, too. */
function makes(callId: string, path: string, bytes: number): boolean {
  for (const line of linesWith(JSON.stringify(callId), path, bytes)) {
    const record = parseObject(line);
    const said = record?.type === "assistant" ? listOf(objectOf(record.message)?.content) : [];
    if (said.some((block) => isObject(block) && block.type === "tool_use" && block.id === callId))
      return true;
  }
  return false;
}

/** The file or folder's file whose name ends with a session's id, the latest folders first. */
function namedAfter(session: string, folder: string, depth: number): string | null {
  const entries = entriesIn(folder);
  const file = entries.find(({ name }) => isNamedAfter(name, session));
  if (file && !file.isDirectory()) return join(folder, file.name);
  if (depth === policy.protocol.foldersDeep) return null;
  const below = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort((a, b) => Number(b === session) - Number(a === session) || (a < b ? 1 : -1));
  for (const name of below) {
    const found = namedAfter(session, join(folder, name), depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** `rollout-…-<session>.jsonl`, `<session>.jsonl`. */
function isNamedAfter(name: string, session: string): boolean {
  const stem = name.replace(/\.jsonl?$/, "");
  return stem !== name && (stem === session || stem.endsWith(`-${session}`));
}
