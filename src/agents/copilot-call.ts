import { join } from "node:path";
import type { Trace } from "../core/host.ts";
import { type JsonObject, objectOf, parseObject, textOf } from "../core/json.ts";
import { policy } from "../core/policy.ts";
import type { Running } from "../engine/caller.ts";
import { changedAt, entriesIn, isSameFolder, linesWith } from "./files.ts";
import { earliest, isSameCall, type Maker, mayBegin } from "./maker.ts";

/**
 * Copilot CLI writes down that a tool is begun, a moment after it was. The session that its environment names is the one
 * in which the server was started, which `/clear` leaves behind.
 */
export const copilotMaker: Maker = {
  atOnce: true,
  find: (trace, { folders, cwd, bytes }) => {
    const { filesSearched, stampMs } = policy.protocol;
    const since = earliest(trace) - stampMs;
    return folders
      .flatMap((folder) => entriesIn(folder).map(({ name }) => join(folder, name, "events.jsonl")))
      .map((path) => ({ path, at: changedAt(path) }))
      .filter(({ at }) => at >= since)
      .sort((a, b) => b.at - a.at)
      .slice(0, filesSearched)
      .flatMap(({ path }) => openIn(path, trace, bytes))
      .filter(({ path }) => worksIn(cwd, path));
  },
};

/** The session of a file in which the call is begun and not ended. */
function openIn(path: string, trace: Trace, bytes: number): Running[] {
  const ended = new Set<string | null>();
  for (const line of linesWith('{"type":"tool.execution_', path, bytes)) {
    const record = parseObject(line);
    const data = objectOf(record?.data);
    if (record === null || data === null) continue;
    const id = textOf(data.toolCallId);
    if (record.type === "tool.execution_complete") ended.add(id);
    else if (record.type === "tool.execution_start" && !ended.has(id) && begins(record, data, trace))
      return [{ path, session: null, model: textOf(data.model) }];
  }
  return [];
}

function begins(record: JsonObject, data: JsonObject, trace: Trace): boolean {
  return (
    mayBegin(trace, Date.parse(textOf(record.timestamp) ?? "")) &&
    isSameCall(trace.call, textOf(data.mcpToolName) ?? textOf(data.toolName), data.arguments)
  );
}

/** Whether a session works in a folder: the one that it was started in last, or one that it has gone to since. */
function worksIn(cwd: string, path: string): boolean {
  for (const line of linesWith('{"type":"session.', path, policy.protocol.furtherBytes)) {
    const record = parseObject(line);
    const data = objectOf(record?.data);
    const isStart = record?.type === "session.start" || record?.type === "session.resume";
    if (!isStart && record?.type !== "session.context_changed") continue;
    const folder = textOf((isStart ? objectOf(data?.context) : data)?.cwd);
    if (folder !== null && isSameFolder(folder, cwd)) return true;
    if (isStart) return false;
  }
  return false;
}
