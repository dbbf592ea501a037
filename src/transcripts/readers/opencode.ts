import {
  asArray,
  asObject,
  asString,
  groupBy,
  isObject,
  type JsonObject,
  parseObject,
} from "../../base/index.ts";
import { readOutcome } from "../../failures/index.ts";
import type { ContextUse, Event } from "../../records/index.ts";
import { isNativeTool } from "../../trust/index.ts";
import { findWindow, readContextUse } from "../context-use.ts";
import {
  type CallResult,
  type DatabaseReader,
  type DocumentReader,
  exitResult,
  findPatchedFiles,
  parseJson,
  parseTime,
  plainResult,
  type RecordedCall,
  type RecordPosition,
  readCall,
  readId,
  type SessionBuilder,
} from "../reader.ts";

/** The output of `opencode export`: one session. */
const exported: DocumentReader = {
  format: "opencode",
  recognises: (document) => {
    if (!isObject(document) || !isObject(document.info) || !Array.isArray(document.messages)) return false;
    const { directory, projectID } = document.info;
    const first = document.messages[0];
    if (first === undefined) return typeof directory === "string" || typeof projectID === "string";
    return isObject(first) && isObject(first.info) && Array.isArray(first.parts);
  },
  read: (document, sessions) => {
    const { info, messages } = asObject(document) ?? {};
    const read = asArray(messages).map((message) => ({
      info: asObject(asObject(message)?.info) ?? {},
      parts: asArray(asObject(message)?.parts),
    }));
    addSession(sessions.named(""), asObject(info) ?? {}, read);
  },
};

/** OpenCode's database, `opencode.db`. */
const database: DatabaseReader = {
  format: "opencode",
  recognises: (tables) => ["session", "message", "part"].every((name) => tables.has(name)),
  sessions: (opened) =>
    opened
      .query(
        `select s.id as name, s.time_updated as touched, count(m.id) as messages, max(m.time_updated) as latest
         from session s left join message m on m.session_id = s.id
         group by s.id order by s.time_created, s.id`,
      )
      .map(({ name, touched, messages, latest }) => ({
        name: String(name),
        stamp: [touched, messages, latest].join(","),
      })),
  read: (opened, id, session) => {
    const [row] = opened.query("select * from session where id = ?", id);
    const parts = groupBy(
      opened.query("select message_id, data from part where session_id = ? order by id", id),
      ({ message_id }) => message_id,
      ({ data }) => parseObject(String(data)) ?? {},
    );
    const messages = opened
      .query("select id, data from message where session_id = ? order by time_created, id", id)
      .map((message) => ({
        info: { ...parseObject(String(message.data)), id: String(message.id) },
        parts: parts.get(message.id) ?? [],
      }));
    const info = {
      id,
      parentID: asString(row?.parent_id),
      directory: asString(row?.directory),
      permission: parseJson(String(row?.permission ?? "null")) ?? null,
      time: { created: typeof row?.time_created === "number" ? row.time_created : null },
    };
    addSession(session, info, messages);
  },
};

export const opencode = { exported, database };

interface OpenCodeMessage {
  readonly info: JsonObject;
  readonly parts: readonly unknown[];
}

/** Adds a session's events. The key of an event is `message.part`, both counted from 0. */
function addSession(session: SessionBuilder, info: JsonObject, messages: readonly OpenCodeMessage[]): void {
  const { facts } = session;
  facts.sessionId = asString(info.id);
  facts.subagent = (asString(info.parentID) ?? "") !== "";
  facts.cwd = asString(info.directory);
  session.reach(parseTime(asObject(info.time)?.created));
  const who = isHeadless(info) ? ({ given: "program" } as const) : {};
  let isOwn = false;
  for (const [at, message] of messages.entries()) {
    if (message.info.role === "user") isOwn = addUser(session, message, at, who);
    else if (message.info.role === "assistant") {
      addAssistant(session, message, at, isOwn);
      isOwn = false;
    }
  }
}

/** `opencode run` makes a session in which nobody can be asked. */
function isHeadless({ permission }: JsonObject): boolean {
  return asArray(permission).some(
    (rule) => isObject(rule) && rule.permission === "question" && rule.action === "deny",
  );
}

/** Answers whether the person ran a command themselves, which the next message then holds. */
function addUser(
  session: SessionBuilder,
  { info, parts }: OpenCodeMessage,
  at: number,
  who: Pick<RecordPosition, "given">,
): boolean {
  const said: { readonly position: RecordPosition; readonly text: string }[] = [];
  let isOwn = false;
  for (const [index, part] of parts.entries()) {
    if (!isObject(part)) continue;
    const position = locate(session, info, part, `${at}.${index}`);
    const text = asString(part.text) ?? "";
    if (part.type === "compaction") session.mark(position, "Conversation compacted");
    else if (part.type === "subtask" && typeof part.command === "string")
      session.mark(position, `/${part.command}`);
    else if (part.type !== "text" || text.trim() === "") continue;
    else if (isInjected(part)) isOwn ||= text.startsWith("The following tool was executed by the user");
    else said.push({ position, text });
  }
  const words = said.map(({ text }) => text).join("\n");
  // What a subagent is told comes from its parent.
  if (said[0] && !session.facts.subagent) session.prompt({ ...said[0].position, ...who }, words.trim());
  return isOwn;
}

function addAssistant(session: SessionBuilder, message: OpenCodeMessage, at: number, isOwn: boolean): void {
  const { info, parts } = message;
  const context = readContext(info);
  for (const [index, part] of parts.entries()) {
    if (!isObject(part)) continue;
    const position = { ...locate(session, info, part, `${at}.${index}`), context };
    if (part.type === "tool") addTool(session, part, position, isOwn);
    // A summary repeats what was said.
    else if (part.type === "text" && !isInjected(part) && info.summary !== true)
      session.reply(position, asString(part.text) ?? "");
  }
  const error = asObject(info.error);
  if (!error) return;
  const position = locate(session, info, {}, `${at}.${Math.max(0, parts.length - 1)}`);
  const said = asString(asObject(error.data)?.message) ?? asString(error.name) ?? "The model did not answer";
  session.mark(position, error.name === "MessageAbortedError" ? "Interrupted" : said);
}

function readContext({ tokens, providerID, modelID }: JsonObject): ContextUse | null {
  const { input, output, reasoning: thoughts, total, cache } = asObject(tokens) ?? {};
  const cached = Object.values(asObject(cache) ?? {});
  const window = findWindow(asString(providerID) ?? "", asString(modelID) ?? "");
  return readContextUse({ input, output, cached, thoughts, total }, window);
}

function isInjected(part: JsonObject): boolean {
  return part.synthetic === true || part.ignored === true;
}

function addTool(session: SessionBuilder, part: JsonObject, position: RecordPosition, isOwn: boolean): void {
  const call = readToolCall(part);
  const state = asObject(part.state) ?? {};
  if (isOwn && call.command !== null)
    return session.mark(position, asString(state.output) ?? "", call.command);
  const event = session.call(position, call);
  if (state.status !== "completed" && state.status !== "error") return;
  // The result stands with its call, so calls of one id are distinguished by position.
  session.answer(call.id);
  const result = judge(event, state);
  const at = parseTime(asObject(state.time)?.end) ?? position.at;
  session.settle(event, result, { key: position.key, at });
  // What a person wrote when turning the call down.
  const feedback = /with the following feedback:\s*([\s\S]*)$/.exec(result.text)?.[1]?.trim() ?? "";
  if (result.outcome === "rejected" && feedback !== "" && !session.facts.subagent)
    session.prompt({ ...position, origin: null }, feedback);
}

function readToolCall(part: JsonObject): RecordedCall {
  const call = readCall(part.callID, part.tool, asObject(asObject(part.state)?.input), {
    shell: ["bash", "shell"],
    files: ["filePath", "path"],
  });
  const patch = asString(call.input?.patchText);
  return patch === null ? call : { ...call, files: findPatchedFiles(patch) };
}

function judge({ command, tool }: Pick<Event, "command" | "tool">, state: JsonObject): CallResult {
  if (state.status === "error") {
    const text = asString(state.error) ?? "";
    // A server's tool can fail with the words of a refusal; only of the client's own tools it is known to be one.
    if (refusal.test(text)) return plainResult(isNativeTool(tool ?? "") ? "rejected" : "cancelled", text);
    return plainResult(aborted.test(text) ? "cancelled" : "failed", text);
  }
  const text = asString(state.output) ?? "";
  const exit = asObject(state.metadata)?.exit;
  if (command !== null && typeof exit === "number") return exitResult(command, exit, text);
  const isAborted = command !== null && /User aborted the command/.test(text);
  if (isAborted) return plainResult("cancelled", text);
  return plainResult(command === null ? "ok" : readOutcome(command, null, text), text);
}

const refusal =
  /^(?:\w*Error: )?(?:The user rejected permission|The user has specified a rule which prevents|The user dismissed)/;
const aborted =
  /^(?:\w*Error: )?(?:Tool execution (?:was )?(?:aborted|interrupted)|The operation was aborted)/;

function locate(session: SessionBuilder, info: JsonObject, part: JsonObject, key: string): RecordPosition {
  const state = asObject(part.state);
  const time = asObject(state?.time) ?? asObject(part.time);
  const at = parseTime(time?.start) ?? parseTime(asObject(info.time)?.created);
  session.reach(at);
  const cwd = asString(asObject(state?.input)?.workdir) ?? asString(asObject(info.path)?.cwd);
  return { key, at, cwd, origin: readId(part.id) };
}
