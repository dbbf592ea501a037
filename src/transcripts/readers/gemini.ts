import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import {
  asArray,
  asObject,
  asString,
  isObject,
  type JsonObject,
  parseObject,
  readPlainText,
  sha256,
} from "../../base/index.ts";
import {
  type ContextUse,
  findHashedFolder,
  nameHashedProject,
  type ReadingState,
  type SessionFacts,
} from "../../records/index.ts";
import { findWindow, readContextUse } from "../context-use.ts";
import {
  type CallResult,
  type DocumentReader,
  exitResult,
  type LineReader,
  LineReading,
  parseTime,
  plainResult,
  type RecordPosition,
  readCall,
  readId,
  type SessionBuilder,
} from "../reader.ts";

/** Gemini CLI until early 2026: `~/.gemini/tmp/<project>/chats/session-*.json`, one document. */
const document: DocumentReader = {
  format: "gemini",
  recognises: (content) => isObject(content) && isHeader(content) && Array.isArray(content.messages),
  read: (content, sessions, path) =>
    new GeminiSession(sessions.named(""), path, beginRest()).takeHeader(asObject(content) ?? {}),
};

/**
 * Gemini CLI since: the same records, one a line. A message is written again whenever something about it changes,
 * `$set` changes the header, `$rewindTo` goes back to before a message.
 */
const lines: LineReader = {
  format: "gemini",
  recognises: (record) => {
    // A header that has messages is the older form, unless others follow it.
    if (isHeader(record)) return asArray(record.messages).length === 0;
    const isMessage = record.type === "user" || record.type === "gemini";
    return isObject(record.$set) || (isMessage && typeof record.id === "string" && "content" in record);
  },
  open: (path, resume) => new GeminiReading(path, resume, beginRest()),
};

export const gemini = { document, lines, findFolderAmong };

function isHeader(record: JsonObject): boolean {
  return typeof record.sessionId === "string" && typeof record.projectHash === "string";
}

interface GeminiRest {
  /** The index of each message by its id, in the order in which they first came. */
  indexes: [id: string, index: number][];
  /** How many messages came, those without an id too. */
  count: number;
  /** Messages have come on lines of their own; then `$set` only repeats them, or sums them up. */
  plain: boolean;
  /** The hash of the project's folder, which is all that most files say of it. */
  hash: string;
}

function beginRest(): GeminiRest {
  return { indexes: [], count: 0, plain: false, hash: "" };
}

class GeminiReading extends LineReading<GeminiRest> {
  private readonly messages = new GeminiSession(this.session, this.path, this.rest);

  take(record: JsonObject): void {
    const { messages, rest } = this;
    const key = String(Math.max(0, rest.count - 1));
    if (typeof record.$rewindTo === "string")
      this.session.mark({ key, at: null }, "Went back to an earlier message");
    else if (isObject(record.$set)) {
      // Messages in it are what the model is given from then on, under new ids after a summary.
      if (rest.plain) messages.takeFacts(record.$set);
      else messages.takeHeader(record.$set);
    } else if (typeof record.id === "string") {
      rest.plain = true;
      messages.takeMessage(record);
    } else messages.takeHeader(record);
  }

  override state(): ReadingState {
    this.rest.indexes = [...this.messages.indexes];
    return super.state();
  }
}

/** A session in either form. The key of an event is the index of its message, counted from 0. */
class GeminiSession {
  readonly indexes: Map<string, number>;
  private readonly session: SessionBuilder;
  private readonly path: string;
  private readonly rest: GeminiRest;
  private readonly hashedFolders = new Set<string>();

  constructor(session: SessionBuilder, path: string, rest: GeminiRest) {
    this.session = session;
    this.path = path;
    this.rest = rest;
    this.indexes = new Map(rest.indexes);
  }

  /** Takes a session's header, and the messages that may be in it. */
  takeHeader(header: JsonObject): void {
    this.takeFacts(header);
    for (const message of asArray(header.messages).filter(isObject)) this.takeMessage(message);
  }

  takeMessage(message: JsonObject): void {
    const at = parseTime(message.timestamp);
    const id = readId(message.id);
    const index = (id === null ? undefined : this.indexes.get(id)) ?? this.rest.count++;
    if (id !== null) this.indexes.set(id, index);
    const locate = (what: string): RecordPosition => ({
      key: String(index),
      at,
      origin: id === null ? null : `${what} ${id}`,
    });
    if (message.type === "user") this.takeUser(message, locate);
    else if (message.type === "gemini") this.takeModel(message, locate);
    else if (["info", "warning", "error"].includes(asString(message.type) ?? "")) {
      const [text, position] = [joinWords(message.content), locate("note")];
      if (/^Request cancelled|compressed from/i.test(text) && !this.session.repeats(position.origin))
        this.session.mark(position, text);
    }
  }

  takeFacts(header: JsonObject): void {
    const { facts } = this.session;
    facts.sessionId = asString(header.sessionId) ?? facts.sessionId;
    if (header.kind === "subagent") facts.subagent = true;
    this.session.reach(parseTime(header.startTime));
    this.rest.hash = asString(header.projectHash) ?? this.rest.hash;
    if (facts.cwd !== null) return;
    const folder = asString(asArray(header.directories)[0]) ?? findFolderBeside(this.path, this.rest.hash);
    if (folder !== null) facts.cwd = folder;
    // Until something tells which folder it was, the project is named after its hash.
    else if (this.rest.hash !== "") facts.remote = nameHashedProject(this.rest.hash);
  }

  private takeUser(message: JsonObject, locate: (what: string) => RecordPosition): void {
    for (const response of readResponses(message.content))
      this.session.settleCall(readId(response.id), locate("result"), (command) =>
        judge(command, null, response),
      );
    const text = readTyped(message);
    const position = locate("user");
    // What a subagent is told comes from its parent.
    if (text === "" || this.session.facts.subagent || this.session.repeats(position.origin)) return;
    const ran = /^I ran the following shell command:\s*```\w*\n([\s\S]*?)\n```/.exec(text)?.[1];
    if (ran !== undefined) this.session.mark(position, "", ran);
    else this.session.typed(position, text);
  }

  private takeModel(message: JsonObject, locate: (what: string) => RecordPosition): void {
    const text = joinWords(message.content);
    const context = readContext(message);
    const said = { ...locate("reply"), context };
    if (text.trim() !== "" && !this.session.repeats(said.origin)) this.session.reply(said, text);
    const calls = asArray(message.toolCalls);
    const asked = asArray(message.content).map((part) => (isObject(part) ? part.functionCall : null));
    for (const [at, call] of (calls.length > 0 ? calls : asked).entries())
      if (isObject(call)) this.takeCall(call, { ...locate(`call ${at}`), context });
    this.session.reach(said.at);
  }

  /** A call, when it is first told of; its result, when it is told of with one. */
  private takeCall(record: JsonObject, position: RecordPosition): void {
    const files = ["file_path", "absolute_path"];
    const call = readCall(readId(record.id), record.name, record.args, { shell: [shell], files });
    const cwd = this.findFolder(record, call.input);
    const isNew = !this.session.repeats(position.origin);
    const made = isNew ? this.session.call({ ...position, cwd }, call) : undefined;
    const status = asString(record.status) ?? "";
    if (!["success", "error", "cancelled"].includes(status)) return;
    const event = call.id === null ? made : this.session.answer(call.id);
    const told = readResponses(record.result)[0] ?? record;
    const at = parseTime(record.timestamp) ?? position.at;
    if (event) this.session.settle(event, judge(event.command, status, told), { ...position, at });
  }

  /** The folder of a call. The transcript has only a hash of the project's folder; the call's input may reveal it. */
  private findFolder(record: JsonObject, input: JsonObject | null): string | null {
    const { facts } = this.session;
    const description = asString(record.description) ?? "";
    const said = /\[(?:current working directory|in) ([^\]\n]+)\]/.exec(description)?.[1];
    const folder = asString(input?.dir_path) ?? asString(input?.directory);
    if (facts.cwd === null) {
      const named = folder ?? asString(input?.file_path);
      const found = [said, named].flatMap((path) => this.findRoot(path ?? "") ?? [])[0];
      if (found !== undefined) [facts.cwd, facts.remote] = [found, null];
    }
    if (said !== undefined && isAbsolute(said)) return said;
    return folder !== null && facts.cwd !== null && record.name === shell ? resolve(facts.cwd, folder) : null;
  }

  /** The folder, of this one and those above it, whose hash is the project's. */
  private findRoot(path: string): string | null {
    if (this.rest.hash === "" || !isAbsolute(path)) return null;
    const known = this.hashedFolders;
    for (let folder = path; !known.has(folder) && known.size < mostHashed; folder = dirname(folder)) {
      known.add(folder);
      if (sha256(folder) === this.rest.hash) return folder;
    }
    return null;
  }
}

function readContext({ tokens, model }: JsonObject): ContextUse | null {
  // What was cached is part of the input.
  const { input, output, thoughts, total } = asObject(tokens) ?? {};
  return readContextUse({ input, output, thoughts, total }, findWindow("google", asString(model) ?? ""));
}

function readResponses(parts: unknown): JsonObject[] {
  return asArray(parts).flatMap((part) => asObject(asObject(part)?.functionResponse) ?? []) as JsonObject[];
}

/** Folders whose hash is computed for a session, at most. */
const mostHashed = 400;

const shell = "run_shell_command";

/** The folder, among those that are known, of a session that has only its hash. */
function findFolderAmong(
  { cwd, remote }: Pick<SessionFacts, "cwd" | "remote">,
  roots: readonly string[],
): string | null {
  return cwd !== null || remote === null ? null : findHashedFolder(remote, roots);
}

/** The project's folder, from the files that Gemini CLI keeps beside its chats. */
function findFolderBeside(path: string, hash: string): string | null {
  const chats = dirname(path);
  const folder = [chats, dirname(chats)].find((one) => basename(one) === "chats");
  if (folder === undefined) return null;
  const project = dirname(folder);
  const root = (readPlainText(join(project, ".project_root")) ?? "").trim();
  if (isAbsolute(root)) return root;
  const known = parseObject(readPlainText(join(dirname(dirname(project)), "projects.json")) ?? "");
  const found = Object.entries(asObject(known?.projects) ?? {}).find(
    ([one, name]) => name === basename(project) || sha256(one) === hash,
  );
  return found?.[0] ?? null;
}

/** The words of a message, without what the model thought. */
function joinWords(content: unknown): string {
  if (typeof content === "string") return content;
  return asArray(content)
    .flatMap((part) => (isObject(part) && part.thought !== true ? (asString(part.text) ?? []) : []))
    .join("\n");
}

/** The text that a person typed, without the named files and the client's own words around it. */
function readTyped(message: JsonObject): string {
  const content = message.displayContent ?? message.content;
  const parts = (typeof content === "string" ? [content] : asArray(content)).flatMap(
    (part) => asString(isObject(part) ? part.text : part) ?? [],
  );
  const files = parts.findIndex((part) => part.trimStart().startsWith("--- Content from referenced files"));
  const own = parts.slice(0, files < 0 ? undefined : files).filter((part) => !injected.test(part));
  const text = own.join("\n").trim();
  return text === "System: Please continue." ? "" : text;
}

const injected =
  /^\s*(?:<(?:session_context|hook_context|state_snapshot|system-reminder)>|This is the Gemini CLI\. We are setting up the context)/;

function judge(command: string | null, status: string | null, record: JsonObject): CallResult {
  const response = asObject(record.response) ?? {};
  const error = asString(response.error);
  const text = error ?? asString(response.output) ?? asString(record.resultDisplay) ?? "";
  if (status === "cancelled") return plainResult("rejected", text);
  if (status === "error" || error !== null) return plainResult("failed", text);
  return command === null ? plainResult("ok", text) : judgeShell(command, text);
}

function judgeShell(command: string, raw: string): CallResult {
  const { exitCode, text } = readGeminiOutput(raw);
  return exitResult(command, exitCode, text);
}

/** Takes the output of a command out of what is said around it; the exit code is named only where it is not 0. */
export function readGeminiOutput(raw: string): { readonly exitCode: number; readonly text: string } {
  const exit = [...raw.matchAll(/^Exit Code: (-?\d+)\s*$/gm)].at(-1)?.[1];
  const text = raw
    .replace(/^Command: [\s\S]*?\n(?=(?:Stdout|Output): )/, "")
    .replace(
      /(?:\n(?:Error: \(none\)|Stderr: \(empty\)|(?:Exit Code|Signal|Background PIDs|Process Group PGID): .*))+\s*$/,
      "",
    )
    .replace(/^(?:Stdout|Output): /, "");
  return { exitCode: Number(exit ?? 0), text };
}
