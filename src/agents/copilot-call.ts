import { join } from "node:path";
import type { MadeCall } from "../core/host.ts";
import { objectOf, parseObject, textOf } from "../core/json.ts";
import { policy } from "../core/policy.ts";
import type { Running } from "../engine/caller.ts";
import { changedAt, endOf, entriesIn } from "./files.ts";
import { earliest, isSameCall, type Maker } from "./maker.ts";

/**
 * Copilot CLI writes down that a tool is begun, a moment after it was. The session that its environment names is the one
 * in which the server was started, which `/clear` leaves behind.
 */
export const copilotMaker: Maker = {
  atOnce: true,
  find: (trace, { folders }) => {
    const { filesSearched, stampMs } = policy.protocol;
    const since = earliest(trace);
    return folders
      .flatMap((folder) => entriesIn(folder).map(({ name }) => join(folder, name, "events.jsonl")))
      .map((path) => ({ path, at: changedAt(path) }))
      .filter(({ at }) => at >= since - stampMs)
      .sort((a, b) => b.at - a.at)
      .slice(0, filesSearched)
      .flatMap(({ path }) => openIn(path, trace.call, since));
  },
};

/** The session of a file in which the call is begun and not ended. */
function openIn(path: string, call: MadeCall, since: number): Running[] {
  const begun = new Map<string | null, string | null>();
  for (const line of endOf(path).toString("utf8").split("\n")) {
    if (!line.startsWith('{"type":"tool.execution_')) continue;
    const record = parseObject(line);
    const data = objectOf(record?.data);
    if (record === null || data === null) continue;
    const id = textOf(data.toolCallId);
    if (record.type === "tool.execution_complete") begun.delete(id);
    else if (
      record.type === "tool.execution_start" &&
      Date.parse(textOf(record.timestamp) ?? "") >= since &&
      isSameCall(call, textOf(data.mcpToolName) ?? textOf(data.toolName), data.arguments)
    )
      begun.set(id, textOf(data.model));
  }
  const [model] = begun.values();
  return model === undefined ? [] : [{ path, session: null, model }];
}
