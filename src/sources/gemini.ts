import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { isObject, type Json, type JsonObject, listOf, objectOf, parseObject, textOf } from "../core/json.ts";
import { outcomeOfExit } from "../core/outcome.ts";
import type { SessionFacts } from "../core/session.ts";
import type { ReadingState, Resume } from "../engine/ports.ts";
import { takeCommand } from "./claude-code.ts";
import { type DocumentReader, type Reader, type Reading, timeOf } from "./reader.ts";
import type { Call, Place, Result, Thread } from "./thread.ts";
import { Threads } from "./threads.ts";

/** Gemini CLI until early 2026: `~/.gemini/tmp/<project>/chats/session-*.json`, one document. */
export const geminiDocument: DocumentReader = {
  format: "gemini",
  recognises: (document) => isHeader(document) && Array.isArray(document.messages),
  read: (document, threads, path) => {
    const session = new GeminiSession(threads.named(""), path);
    session.takeHeader(objectOf(document) ?? {});
  },
};

/**
 * Gemini CLI since: the same records, one a line. A message is written again whenever something about it changes,
 * `$set` changes the header, `$rewindTo` goes back to before a message.
 */
export const gemini: Reader = {
  format: "gemini",
  recognises: (record) => {
    // A header that has messages is the older form, unless others follow it.
    if (isHeader(record)) return listOf(record.messages).length === 0;
    if (!isObject(record)) return false;
    const isMessage = record.type === "user" || record.type === "gemini";
    return isObject(record.$set) || (isMessage && typeof record.id === "string" && "content" in record);
  },
  passesOver: () => false,
  open: (path, resume) => new GeminiReading(path, resume),
};

function isHeader(record: unknown): record is JsonObject {
  return isObject(record) && typeof record.sessionId === "string" && typeof record.projectHash === "string";
}

class GeminiReading implements Reading {
  readonly threads: Threads;
  private readonly session: GeminiSession;

  constructor(path: string, resume: Resume | null) {
    this.threads = new Threads("transcript", resume);
    this.session = new GeminiSession(this.threads.named(""), path, resume?.state.rest ?? null);
  }

  take(record: unknown): void {
    if (!isObject(record)) return;
    if (typeof record.$rewindTo === "string") this.session.rewind();
    else if (isObject(record.$set)) this.session.takeContext(record.$set);
    else if (typeof record.id === "string") this.session.takeMessage(record, false);
    else this.session.takeHeader(record);
  }

  state(): ReadingState {
    return { threads: this.threads.states(), rest: this.session.rest() };
  }
}

/** A session in either form. The key of an event is the index of its message, counted from 0. */
class GeminiSession {
  private readonly thread: Thread;
  private readonly path: string;
  /** The messages that came, by id, in the order in which they first did. */
  private readonly indexes: Map<string, number>;
  /** How many messages came, those without an id too. */
  private count: number;
  /** Messages have come on lines of their own; then `$set` only repeats them, or sums them up. */
  private plain: boolean;
  private hash: string;
  private readonly tried = new Set<string>();

  constructor(thread: Thread, path: string, rest: Json = null) {
    this.thread = thread;
    this.path = path;
    const known = objectOf(rest);
    this.indexes = new Map((known?.indexes ?? []) as unknown as [string, number][]);
    this.count = typeof known?.count === "number" ? known.count : 0;
    this.plain = known?.plain === true;
    this.hash = textOf(known?.hash) ?? "";
  }

  rest(): Json {
    const { count, plain, hash } = this;
    return { indexes: [...this.indexes], count, plain, hash };
  }

  /** What a session says of itself, and the messages that may stand there with it. */
  takeHeader(header: JsonObject): void {
    this.takeFacts(header);
    for (const message of listOf(header.messages)) if (isObject(message)) this.takeMessage(message, true);
  }

  /** A change of the header. Messages in it are what the model is given from then on, under new ids after a summary. */
  takeContext(changes: JsonObject): void {
    this.takeFacts(changes);
    if (this.plain) return;
    for (const message of listOf(changes.messages)) if (isObject(message)) this.takeMessage(message, true);
  }

  rewind(): void {
    this.thread.mark(this.place(Math.max(0, this.count - 1), null, null), "Went back to an earlier message");
  }

  takeMessage(message: JsonObject, listed: boolean): void {
    if (!listed) this.plain = true;
    const at = timeOf(message.timestamp);
    const id = idOf(message);
    const index = (id === null ? undefined : this.indexes.get(id)) ?? this.count++;
    if (id !== null) this.indexes.set(id, index);
    const place = (what: string) => this.place(index, at, id === null ? null : `${what} ${id}`);
    switch (message.type) {
      case "user":
        return this.takeUser(message, place);
      case "gemini":
        return this.takeModel(message, place, at);
      case "info":
      case "warning":
      case "error": {
        const text = wordsOf(message.content);
        const where = place("note");
        if (/^Request cancelled|compressed from/i.test(text) && !this.thread.repeats(where.origin))
          this.thread.mark(where, text);
        return;
      }
      default:
        return;
    }
  }

  private takeFacts(header: JsonObject): void {
    const { facts } = this.thread;
    facts.sessionId = textOf(header.sessionId) ?? facts.sessionId;
    if (header.kind === "subagent") facts.subagent = true;
    this.thread.reach(timeOf(header.startTime));
    this.hash = textOf(header.projectHash) ?? this.hash;
    if (facts.cwd !== null) return;
    const folder = textOf(listOf(header.directories)[0]) ?? folderBeside(this.path, this.hash);
    if (folder !== null) facts.cwd = folder;
    // Until something tells which folder it was, the project goes by the name that its hash gives it.
    else if (this.hash !== "") facts.remote = nameOf(this.hash);
  }

  private takeUser(message: JsonObject, place: (what: string) => Place): void {
    for (const response of responsesIn(message.content)) {
      const id = idOf(response);
      const draft = id === null ? undefined : this.thread.answer(id);
      if (draft) this.thread.settle(draft, resultOf(draft.command, null, response), place("result"));
    }
    const text = typedIn(message);
    const where = place("user");
    // What a subagent is told comes from its parent.
    if (text === "" || this.thread.facts.subagent || this.thread.repeats(where.origin)) return;
    const ran = /^I ran the following shell command:\s*```\w*\n([\s\S]*?)\n```/.exec(text)?.[1];
    const command = /^(\/[a-z][\w:-]*)(?:\s+([\s\S]*))?$/.exec(text);
    if (ran !== undefined) this.thread.mark(where, "", ran);
    else if (command) takeCommand(this.thread, where, command[1] ?? "", command[2] ?? "");
    else this.thread.prompt(where, text);
  }

  private takeModel(message: JsonObject, place: (what: string) => Place, at: number | null): void {
    const text = wordsOf(message.content);
    const said = place("reply");
    if (text.trim() !== "" && !this.thread.repeats(said.origin)) this.thread.reply(said, text);
    const calls = listOf(message.toolCalls);
    const asked = listOf(message.content).map((part) => (isObject(part) ? part.functionCall : null));
    for (const [at, call] of (calls.length > 0 ? calls : asked).entries())
      if (isObject(call)) this.takeCall(call, place(`call ${at}`));
    this.thread.reach(at);
  }

  /** A call, when it is first told of; its result, when it is told of with one. */
  private takeCall(record: JsonObject, place: Place): void {
    const call = callOf(record);
    const { id } = call;
    const cwd = this.folderOf(record, call) ?? place.cwd;
    const isNew = !this.thread.repeats(place.origin);
    const made = isNew ? this.thread.call({ ...place, cwd }, call) : undefined;
    if (!["success", "error", "cancelled"].includes(textOf(record.status) ?? "")) return;
    const draft = id === null ? made : this.thread.answer(id);
    const told = responsesIn(record.result)[0] ?? record;
    const at = timeOf(record.timestamp) ?? place.at;
    if (draft)
      this.thread.settle(draft, resultOf(draft.command, textOf(record.status), told), { ...place, at });
  }

  /** Where a call was made. The transcript has only a hash of the project's folder; what a call says may tell which it is. */
  private folderOf(record: JsonObject, { input }: Call): string | null {
    const { facts } = this.thread;
    const said = /\[(?:current working directory|in) ([^\]\n]+)\]/.exec(
      textOf(record.description) ?? "",
    )?.[1];
    const named = textOf(input?.dir_path) ?? textOf(input?.directory) ?? textOf(input?.file_path);
    if (facts.cwd === null) {
      const found = [said, named].flatMap((path) => this.rootAbove(path ?? "") ?? [])[0];
      if (found !== undefined) [facts.cwd, facts.remote] = [found, null];
    }
    if (said !== undefined && isAbsolute(said)) return said;
    const folder = textOf(input?.dir_path) ?? textOf(input?.directory);
    return folder !== null && facts.cwd !== null && record.name === shell ? resolve(facts.cwd, folder) : null;
  }

  /** The folder, of this one and those above it, whose hash is the project's. */
  private rootAbove(path: string): string | null {
    if (this.hash === "" || !isAbsolute(path)) return null;
    for (
      let folder = path;
      !this.tried.has(folder) && this.tried.size < mostTried;
      folder = dirname(folder)
    ) {
      this.tried.add(folder);
      if (hashOf(folder) === this.hash) return folder;
      if (folder === dirname(folder)) return null;
    }
    return null;
  }

  private place(index: number, at: number | null, origin: string | null): Place {
    return { key: String(index), at, cwd: this.thread.facts.cwd, origin, sidechain: false };
  }
}

function responsesIn(parts: unknown): JsonObject[] {
  return listOf(parts)
    .map((part) => (isObject(part) ? objectOf(part.functionResponse) : null))
    .filter((response) => response !== null);
}

/** An id that tells things apart; published transcripts blank it out. */
function idOf(record: JsonObject): string | null {
  const id = textOf(record.id);
  return id === null || id.toUpperCase().includes("REDACT") ? null : id;
}

/** Folders whose hash is computed for a session, at the most. */
const mostTried = 400;

const shell = "run_shell_command";

function hashOf(folder: string): string {
  return createHash("sha256").update(folder).digest("hex");
}

/** What a project goes by of which only the hash is known. */
function nameOf(hash: string): string {
  return `gemini:project-${hash.slice(0, 12)}`;
}

/** The folder, among those that are known, of a session that has only its hash. */
export function folderAmong(
  { cwd, remote }: Pick<SessionFacts, "cwd" | "remote">,
  roots: readonly string[],
): string | null {
  if (cwd !== null || !remote?.startsWith(nameOf(""))) return null;
  return roots.find((root) => nameOf(hashOf(root)) === remote) ?? null;
}

/** The project's folder, from the files that Gemini CLI keeps beside its chats. */
function folderBeside(path: string, hash: string): string | null {
  const chats = dirname(path);
  const folder = [chats, dirname(chats)].find((one) => basename(one) === "chats");
  if (folder === undefined) return null;
  const project = dirname(folder);
  const root = textIn(join(project, ".project_root"))?.trim();
  if (root && isAbsolute(root)) return root;
  const text = textIn(join(dirname(dirname(project)), "projects.json"));
  const projects = text === null ? null : objectOf(parseObject(text)?.projects);
  const found = Object.entries(projects ?? {}).find(
    ([one, name]) => name === basename(project) || hashOf(one) === hash,
  );
  return found?.[0] ?? null;
}

function textIn(path: string): string | null {
  try {
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  } catch {
    return null;
  }
}

/** The words of a message, without what the model thought. */
function wordsOf(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .flatMap((part) => (isObject(part) && part.thought !== true ? (textOf(part.text) ?? []) : []))
    .join("\n");
}

/** What a person typed, without what was put before and after it: the files they named, the client's own words. */
function typedIn(message: JsonObject): string {
  const content = message.displayContent ?? message.content;
  const parts =
    typeof content === "string"
      ? [content]
      : listOf(content).flatMap((part) =>
          isObject(part) ? (textOf(part.text) ?? []) : (textOf(part) ?? []),
        );
  const files = parts.findIndex((part) => part.trimStart().startsWith("--- Content from referenced files"));
  const text = parts
    .slice(0, files < 0 ? undefined : files)
    .filter((part) => !injected.test(part))
    .join("\n")
    .trim();
  return text === "System: Please continue." ? "" : text;
}

const injected =
  /^\s*(?:<(?:session_context|hook_context|state_snapshot|system-reminder)>|This is the Gemini CLI\. We are setting up the context)/;

function callOf(record: JsonObject): Call {
  const tool = textOf(record.name) ?? "unknown";
  const input = objectOf(record.args);
  const file = textOf(input?.file_path) ?? textOf(input?.absolute_path);
  return {
    id: idOf(record),
    tool,
    input,
    command: tool === shell ? textOf(input?.command) : null,
    files: file === null ? [] : [file],
  };
}

function resultOf(command: string | null, status: string | null, record: JsonObject | null): Result {
  const response = objectOf(record?.response) ?? {};
  const error = textOf(response.error);
  const raw = error ?? textOf(response.output) ?? textOf(record?.resultDisplay) ?? "";
  if (status === "cancelled") return { outcome: "rejected", exitCode: null, text: raw };
  if (status === "error" || error !== null) return { outcome: "failed", exitCode: null, text: raw };
  if (command === null) return { outcome: "ok", exitCode: null, text: raw };
  const { exitCode, text } = readShell(raw);
  return { outcome: outcomeOfExit(command, exitCode, text), exitCode, text };
}

/** Takes the output of a command out of what is said around it; the exit code is named only where it is not 0. */
function readShell(raw: string): { readonly exitCode: number; readonly text: string } {
  const exit = [...raw.matchAll(/^Exit Code: (-?\d+)\s*$/gm)].at(-1)?.[1];
  const text = raw
    .replace(/^Command: [\s\S]*?\n(?=(?:Stdout|Output): )/, "")
    .replace(
      /(?:\n(?:Error: \(none\)|Stderr: \(empty\)|(?:Exit Code|Signal|Background PIDs|Process Group PGID): .*))+\s*$/,
      "",
    )
    .replace(/^(?:Stdout|Output): /, "");
  return { exitCode: exit === undefined ? 0 : Number(exit), text };
}
