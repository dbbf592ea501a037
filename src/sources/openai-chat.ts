import { isObject, type JsonObject, listOf, objectOf, parseObject, textOf } from "../core/json.ts";
import type { ReadingState, Resume } from "../engine/ports.ts";
import { plainText } from "./claude-code.ts";
import { miniSweAgent } from "./mini-swe-agent.ts";
import { type DocumentReader, type Reader, type Reading, timeOf } from "./reader.ts";
import type { Place, Thread } from "./thread.ts";
import { Threads } from "./threads.ts";
import { callOf, folderOf, resultOf, Waiting } from "./tool-call.ts";

/** Messages of the OpenAI chat API: a list, or a document that holds one. The key is the index of the message. */
export const openaiChat: DocumentReader = {
  format: "openai-chat",
  recognises: (document) => isConversation(isObject(document) ? document.messages : document),
  read: (document, threads) => {
    const named = isObject(document) ? document : {};
    const conversation = new Conversation(threads.named("", factsOf(named)));
    for (const [index, message] of listOf(named.messages ?? document).entries())
      conversation.take(message, String(index));
  },
};

/** The same as lines: a conversation each, as for fine-tuning, and a session each; or a message each, of one session. */
export const openaiChatLines: Reader = {
  format: "openai-chat",
  recognises: (record) => {
    if (!isObject(record)) return false;
    // A document of another agent may be written as one line.
    return "messages" in record
      ? isConversation(record.messages) && !miniSweAgent.recognises(record)
      : isMessage(record);
  },
  passesOver: () => false,
  open: (_, resume) => new ChatReading(resume),
};

class ChatReading implements Reading {
  readonly threads: Threads;
  private readonly waiting: Waiting;

  constructor(resume: Resume | null) {
    this.threads = new Threads("transcript", resume);
    this.waiting = new Waiting(
      listOf(resume?.state.rest).filter((id): id is string => typeof id === "string"),
    );
  }

  take(record: unknown, line: number): void {
    if (!isObject(record)) return;
    if (!("messages" in record)) {
      new Conversation(this.threads.named(""), this.waiting).take(record, String(line));
      return;
    }
    const thread = this.threads.named(String(line), factsOf(record));
    const conversation = new Conversation(thread);
    for (const [index, message] of listOf(record.messages).entries())
      conversation.take(message, String(index));
    thread.nameByBeginning();
  }

  state(): ReadingState {
    return { threads: this.threads.states(), rest: this.waiting.list() };
  }
}

function factsOf(named: JsonObject) {
  const id = named.session_id ?? named.conversation_id ?? named.id;
  return { sessionId: textOf(id), cwd: folderOf(named) };
}

/** Messages of a person and of a model, and nothing else: lists of messages are common, conversations are not. */
function isConversation(value: unknown): boolean {
  const messages = listOf(value);
  const has = (role: string) => messages.some((one) => isObject(one) && one.role === role);
  return has("user") && has("assistant") && messages.every(isMessage);
}

function isMessage(value: unknown): boolean {
  if (!isObject(value) || "message" in value || !roles.has(textOf(value.role) ?? "")) return false;
  const { content } = value;
  if (typeof content === "string") return true;
  if (Array.isArray(content)) return content.every((part) => isObject(part) && typeof part.type === "string");
  return value.role === "assistant" && (Array.isArray(value.tool_calls) || isObject(value.function_call));
}

const roles = new Set(["system", "developer", "user", "assistant", "tool", "function"]);

/** One conversation being read, message by message. */
class Conversation {
  private readonly thread: Thread;
  private readonly waiting: Waiting;

  constructor(thread: Thread, waiting = new Waiting()) {
    this.thread = thread;
    this.waiting = waiting;
  }

  take(message: unknown, key: string): void {
    if (!isObject(message)) return;
    const at = timeOf(message.timestamp ?? message.created_at);
    const place = { key, at, cwd: this.thread.facts.cwd, origin: null, sidechain: false };
    const text = plainText(message.content);
    switch (message.role) {
      case "user":
        if (text.trim() !== "") this.thread.prompt(place, text.trim());
        return;
      case "assistant":
        return this.takeReply(message, withoutThinking(text), place);
      case "tool":
      case "function":
        return this.takeResult(message, text, place);
      default:
        return;
    }
  }

  private takeReply(message: JsonObject, text: string, place: Place): void {
    if (text !== "") this.thread.reply(place, text);
    const older = objectOf(message.function_call);
    const calls = listOf(message.tool_calls).filter(isObject);
    for (const call of calls) this.takeCall(textOf(call.id), objectOf(call.function) ?? call, place);
    if (older !== null) this.takeCall(null, older, place);
  }

  /** The arguments of a call are JSON in a string; a model may have cut or spoilt it. */
  private takeCall(id: string | null, called: JsonObject, place: Place): void {
    const raw = textOf(called.arguments);
    const input =
      objectOf(called.arguments) ?? (raw === null ? null : (parseObject(raw) ?? { arguments: raw }));
    const name = textOf(called.name) ?? "unknown";
    const folder = folderOf(input);
    const known = this.waiting.add(id, place);
    this.thread.call(folder === null ? place : { ...place, cwd: folder }, callOf(known, name, input));
  }

  private takeResult(message: JsonObject, text: string, place: Place): void {
    const id = this.waiting.take(textOf(message.tool_call_id));
    const draft = id === null ? undefined : this.thread.answer(id);
    if (draft) this.thread.settle(draft, resultOf(draft.command, text), place);
  }
}

/** What some models think stands in tags before what they say. */
function withoutThinking(text: string): string {
  if (!text.includes("<think>")) return text.trim();
  return text.replace(/<think>[\s\S]*?(?:<\/think>|$)/g, "").trim();
}
