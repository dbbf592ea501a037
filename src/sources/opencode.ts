import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isObject, type JsonObject, listOf, objectOf, parseObject, textOf } from "../core/json.ts";
import { outcomeOfExit } from "../core/outcome.ts";
import { patchedFiles } from "./codex.ts";
import { type DatabaseReader, type DocumentReader, timeOf } from "./reader.ts";
import type { Call, Draft, Place, Result, Thread } from "./thread.ts";

/** What `opencode export` writes: one session. */
export const opencodeExport: DocumentReader = {
  format: "opencode",
  recognises: (document) => {
    if (!isObject(document) || !isObject(document.info) || !Array.isArray(document.messages)) return false;
    const first = document.messages[0];
    const isSession =
      typeof document.info.directory === "string" || typeof document.info.projectID === "string";
    return first === undefined
      ? isSession
      : isObject(first) && isObject(first.info) && Array.isArray(first.parts);
  },
  read: (document, threads) => {
    const { info, messages } = objectOf(document) ?? {};
    takeSession(threads.named(""), objectOf(info) ?? {}, listOf(messages).map(messageOf));
  },
};

/**
 * The folder `storage` of OpenCode before it had a database: a session is found by its own file, and told in those of
 * its messages and of their parts.
 */
export const opencodeStorage: DocumentReader = {
  format: "opencode",
  recognises: (document) =>
    isObject(document) &&
    typeof document.id === "string" &&
    typeof document.projectID === "string" &&
    isObject(document.time) &&
    !("messages" in document),
  beside: (path) => {
    const storage = storageOf(path);
    return storage === null ? [] : filesIn(join(storage, "message", basename(path, ".json")));
  },
  read: (document, threads, path) => {
    const thread = threads.named("");
    const storage = storageOf(path);
    const files = storage === null ? [] : filesIn(join(storage, "message", basename(path, ".json")));
    const messages = files.flatMap((file) => {
      const info = parseObject(textIn(file));
      if (info === null) return [];
      const parts = filesIn(join(storage as string, "part", basename(file, ".json")));
      return { info, parts: parts.flatMap((part) => parseObject(textIn(part)) ?? []) };
    });
    takeSession(thread, objectOf(document) ?? {}, messages);
  },
};

/** OpenCode's database, `opencode.db`. */
export const opencodeDatabase: DatabaseReader = {
  format: "opencode",
  recognises: (tables) => ["session", "message", "part"].every((name) => tables.has(name)),
  sessions: (database) =>
    [
      ...database.query(
        `select s.id as name, s.time_updated as touched, count(m.id) as messages, max(m.time_updated) as latest
         from session s left join message m on m.session_id = s.id
         group by s.id order by s.time_created, s.id`,
      ),
    ].map(({ name, touched, messages, latest }) => ({
      name: String(name),
      stamp: [touched, messages, latest].join(","),
    })),
  read: (database, session, thread) => {
    const [row] = database.query("select * from session where id = ?", session);
    const parts = new Map<string, JsonObject[]>();
    for (const { message_id, data } of database.query(
      "select message_id, data from part where session_id = ? order by id",
      session,
    )) {
      const known = parts.get(String(message_id));
      const part = parseObject(String(data)) ?? {};
      if (known) known.push(part);
      else parts.set(String(message_id), [part]);
    }
    const messages = [
      ...database.query(
        "select id, data from message where session_id = ? order by time_created, id",
        session,
      ),
    ].map(({ id, data }) => ({
      info: { ...parseObject(String(data)), id: String(id) },
      parts: parts.get(String(id)) ?? [],
    }));
    const info = {
      id: session,
      parentID: textOf(row?.parent_id),
      directory: textOf(row?.directory),
      time: { created: typeof row?.time_created === "number" ? row.time_created : null },
    };
    takeSession(thread, info, messages);
  },
};

interface Message {
  readonly info: JsonObject;
  readonly parts: readonly unknown[];
}

function messageOf(message: unknown): Message {
  const record = objectOf(message);
  return { info: objectOf(record?.info) ?? {}, parts: listOf(record?.parts) };
}

/** The folder of which a file is a session: `storage/session/<project>/<session>.json`. */
function storageOf(path: string): string | null {
  const sessions = dirname(dirname(path));
  return basename(sessions) === "session" && basename(dirname(sessions)) === "storage"
    ? dirname(sessions)
    : null;
}

/** The files in a folder by name: the names rise with time. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** What a file holds; nothing where it went away since it was seen. */
function textIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Puts a session into a thread. The key of an event is `message.part`, both counted from 0. */
function takeSession(thread: Thread, info: JsonObject, messages: readonly Message[]): void {
  const { facts } = thread;
  facts.sessionId = textOf(info.id);
  facts.subagent = (textOf(info.parentID) ?? "") !== "";
  facts.cwd = textOf(info.directory);
  thread.reach(timeOf(objectOf(info.time)?.created));
  let own = false;
  for (const [at, message] of messages.entries()) {
    if (message.info.role === "user") own = takeUser(thread, message, at);
    else if (message.info.role === "assistant") {
      takeAssistant(thread, message, at, own);
      own = false;
    }
  }
}

/** Answers whether the person ran a command by themselves, which the next message then holds. */
function takeUser(thread: Thread, { info, parts }: Message, at: number): boolean {
  const said: { readonly place: Place; readonly text: string }[] = [];
  let own = false;
  for (const [index, part] of parts.entries()) {
    if (!isObject(part)) continue;
    const place = placeOf(thread, info, part, `${at}.${index}`);
    const text = textOf(part.text) ?? "";
    if (part.type === "compaction") thread.mark(place, "Conversation compacted");
    else if (part.type === "subtask" && typeof part.command === "string")
      thread.mark(place, `/${part.command}`);
    else if (part.type !== "text" || text.trim() === "") continue;
    else if (isInjected(part)) own ||= text.startsWith("The following tool was executed by the user");
    else said.push({ place, text });
  }
  const first = said[0];
  // What a subagent is told comes from its parent.
  if (first && !thread.facts.subagent)
    thread.prompt(
      first.place,
      said
        .map(({ text }) => text)
        .join("\n")
        .trim(),
    );
  return own;
}

function takeAssistant(thread: Thread, { info, parts }: Message, at: number, own: boolean): void {
  for (const [index, part] of parts.entries()) {
    if (!isObject(part)) continue;
    const place = placeOf(thread, info, part, `${at}.${index}`);
    const text = textOf(part.text) ?? "";
    if (part.type === "tool") takeTool(thread, part, place, own);
    // A summary repeats what was said.
    else if (part.type === "text" && text.trim() !== "" && !isInjected(part) && info.summary !== true)
      thread.reply(place, text);
  }
  const error = objectOf(info.error);
  if (!error) return;
  const place = placeOf(thread, info, {}, `${at}.${Math.max(0, parts.length - 1)}`);
  const isAborted = error.name === "MessageAbortedError";
  thread.mark(
    place,
    isAborted
      ? "Interrupted"
      : (textOf(objectOf(error.data)?.message) ?? textOf(error.name) ?? "The model did not answer"),
  );
}

function isInjected(part: JsonObject): boolean {
  return part.synthetic === true || part.ignored === true;
}

function takeTool(thread: Thread, part: JsonObject, place: Place, own: boolean): void {
  const call = callOf(part);
  const state = objectOf(part.state) ?? {};
  if (own && call.command !== null) return thread.mark(place, textOf(state.output) ?? "", call.command);
  const draft = thread.call(place, call);
  if (state.status !== "completed" && state.status !== "error") return;
  // The result stands with its call, so that calls of one id are told apart by where they are.
  if (call.id !== null) thread.answer(call.id);
  const result = judge(draft, state);
  thread.settle(draft, result, { key: place.key, at: timeOf(objectOf(state.time)?.end) ?? place.at });
  const words = result.outcome === "rejected" ? feedbackIn(result.text) : "";
  if (words !== "" && !thread.facts.subagent) thread.prompt({ ...place, origin: null }, words);
}

function callOf(part: JsonObject): Call {
  const tool = textOf(part.tool) ?? "unknown";
  const input = objectOf(objectOf(part.state)?.input);
  const file = textOf(input?.filePath) ?? textOf(input?.path);
  const patch = textOf(input?.patchText);
  return {
    id: textOf(part.callID),
    tool,
    input,
    command: tool === "bash" || tool === "shell" ? textOf(input?.command) : null,
    files: patch !== null ? patchedFiles(patch) : file === null ? [] : [file],
  };
}

function judge({ command }: Draft, state: JsonObject): Result {
  if (state.status === "error") {
    const text = textOf(state.error) ?? "";
    const outcome = refusal.test(text) ? "rejected" : aborted.test(text) ? "cancelled" : "failed";
    return { outcome, exitCode: null, text };
  }
  const text = textOf(state.output) ?? "";
  const exit = objectOf(state.metadata)?.exit;
  if (command === null) return { outcome: "ok", exitCode: null, text };
  if (typeof exit === "number") return { outcome: outcomeOfExit(command, exit, text), exitCode: exit, text };
  return { outcome: /User aborted the command/.test(text) ? "cancelled" : "ok", exitCode: null, text };
}

const refusal =
  /^(?:\w*Error: )?(?:The user rejected permission|The user has specified a rule which prevents|The user dismissed)/;
const aborted =
  /^(?:\w*Error: )?(?:Tool execution (?:was )?(?:aborted|interrupted)|The operation was aborted)/;

/** What a person wrote when turning a call down. */
function feedbackIn(text: string): string {
  return /with the following feedback:\s*([\s\S]*)$/.exec(text)?.[1]?.trim() ?? "";
}

function placeOf(thread: Thread, info: JsonObject, part: JsonObject, key: string): Place {
  const time = objectOf(objectOf(part.state)?.time) ?? objectOf(part.time);
  const at = timeOf(time?.start) ?? timeOf(objectOf(info.time)?.created);
  thread.reach(at);
  const id = textOf(part.id);
  const folder = textOf(objectOf(objectOf(part.state)?.input)?.workdir) ?? textOf(objectOf(info.path)?.cwd);
  return {
    key,
    at,
    cwd: folder ?? thread.facts.cwd,
    // Published transcripts blank out ids.
    origin: id === null || id.toUpperCase().includes("REDACT") ? null : id,
    sidechain: false,
  };
}
