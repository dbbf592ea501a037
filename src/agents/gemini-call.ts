import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MadeCall } from "../core/host.ts";
import { isObject, listOf, parseObject, textOf } from "../core/json.ts";
import { policy } from "../core/policy.ts";
import type { Running } from "../engine/caller.ts";
import { changedAt, entriesIn, isSameFolder, linesWith, realOf } from "./files.ts";
import { isSameCall, type Maker } from "./maker.ts";

/**
 * Gemini CLI writes a call down once it is answered, and what its model said before it makes one. So the session that
 * made the call before this one is known; and if no other session of the project was written since, that one makes this
 * call, too. After `/clear`, or with somebody else at work in the project, it takes another call to know.
 */
export const geminiMaker: Maker = {
  atOnce: false,
  find: ({ before }, { folders, cwd, bytes }) => {
    if (before === null) return [];
    const since = before.answeredAt - policy.protocol.stampMs;
    const written = folders
      .flatMap((folder) => projectsIn(folder, cwd))
      .flatMap((project) => sessionsIn(join(project, "chats")))
      .filter((path) => changedAt(path) >= since);
    const [only, ...others] = written;
    return only === undefined || others.length > 0 ? [] : holding(only, before, bytes);
  },
};

/** The folders that Gemini CLI has for a project: named after it, or, before it wrote lines, after its hash. */
function projectsIn(folder: string, cwd: string): string[] {
  const hashes = [cwd, realOf(cwd)].map((path) => createHash("sha256").update(path).digest("hex"));
  return entriesIn(folder)
    .map(({ name }) => ({ name, path: join(folder, name) }))
    .filter(({ name, path }) => hashes.includes(name) || isRootOf(cwd, path))
    .map(({ path }) => path);
}

function isRootOf(cwd: string, project: string): boolean {
  try {
    return isSameFolder(readFileSync(join(project, ".project_root"), "utf8").trim(), cwd);
  } catch {
    return false;
  }
}

/** The sessions of a project, and those of their subagents. */
function sessionsIn(chats: string): string[] {
  return entriesIn(chats).flatMap((entry) => {
    const path = join(chats, entry.name);
    if (entry.isDirectory()) return entriesIn(path).map(({ name }) => join(path, name));
    return [path];
  });
}

/** The session of a file, if the call is in it. */
function holding(path: string, call: MadeCall, bytes: number): Running[] {
  let model: string | null = null;
  for (const line of linesWith('"type":"gemini"', path, bytes)) {
    const record = parseObject(line);
    if (record?.type !== "gemini") continue;
    model ??= textOf(record.model);
    if (listOf(record.toolCalls).some((made) => isAnswered(call, made)))
      return [{ path, session: null, model }];
  }
  return [];
}

function isAnswered(call: MadeCall, made: unknown): boolean {
  return (
    isObject(made) &&
    Date.parse(textOf(made.timestamp) ?? "") >= call.at &&
    isSameCall(call, textOf(made.name), made.args)
  );
}
