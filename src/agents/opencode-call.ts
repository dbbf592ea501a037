import type { Trace } from "../core/host.ts";
import { objectOf, parseObject, textOf } from "../core/json.ts";
import { policy } from "../core/policy.ts";
import type { Running } from "../engine/caller.ts";
import { isSameFolder } from "./files.ts";
import { type Ground, isSameCall, type Look, type Maker, mayBegin } from "./maker.ts";

/** OpenCode writes down that a tool runs before it calls it. It has one server for all sessions of a folder, started in it. */
export const opencodeMaker: Maker = {
  atOnce: true,
  find: (trace, ground) =>
    ground.folders.filter((path) => path.endsWith(".db")).flatMap((path) => openIn(path, trace, ground)),
};

/** The sessions of a database in which the call runs, of those that work in the folder. */
function openIn(path: string, trace: Trace, { cwd, look }: Ground): Running[] {
  const { sessionsSearched, messagesSearched } = policy.protocol;
  const sessions = `select id from session where directory = ? order by time_updated desc limit ${sessionsSearched}`;
  const messages = `select id, data from message where session_id = ? order by time_created desc, id desc limit ${messagesSearched}`;
  return looked(path, look, (query) => {
    const folders = query("select distinct directory from session").map(({ directory }) => String(directory));
    const here = folders.filter((folder) => isSameFolder(folder, cwd));
    const latest = here.flatMap((folder) => query(sessions, folder));
    return latest.flatMap(({ id: session }) => {
      const making = query(messages, String(session)).find(({ id }) =>
        query("select data from part where message_id = ?", String(id)).some(({ data }) => runs(data, trace)),
      );
      if (making === undefined) return [];
      return { path, session: String(session), model: textOf(parseObject(String(making.data))?.modelID) };
    });
  });
}

type Row = Readonly<Record<string, unknown>>;

/** What is found in a database; nothing where it cannot be read at this moment. */
function looked(
  path: string,
  look: Look,
  find: (query: (sql: string, ...values: string[]) => Row[]) => Running[],
): Running[] {
  try {
    const database = look(path);
    try {
      return find((sql, ...values) => [...database.query(sql, ...values)]);
    } finally {
      database.close();
    }
  } catch {
    return [];
  }
}

function runs(data: unknown, trace: Trace): boolean {
  const part = parseObject(String(data));
  const state = objectOf(part?.state);
  if (part?.type !== "tool" || state?.status !== "running") return false;
  const begun = objectOf(state.time)?.start;
  return (
    typeof begun === "number" &&
    mayBegin(trace, begun) &&
    isSameCall(trace.call, textOf(part.tool), state.input)
  );
}
