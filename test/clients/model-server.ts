import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One thing the model does: say something, call a tool, or (Codex) call a tool that takes free text. */
export type Step =
  | { readonly text: string }
  | { readonly tool: string; readonly input: object; readonly namespace?: string }
  | { readonly custom: string; readonly input: string };

/**
 * What the model answers to one request. A function is given what came since the model's last answer, as JSON,
 * for an answer that must name something in it, such as the id of a command that still runs.
 */
export type Turn = readonly Step[] | ((news: string) => readonly Step[]);

export interface Script {
  /** The answers of one conversation, in order, through all of its prompts. */
  readonly turns: readonly Turn[];
  /** Other conversations, such as a subagent's, known by words that stand before the model's first answer. */
  readonly branches?: readonly { readonly says: string; readonly turns: readonly Turn[] }[];
  /** The answer to requests that offer no tools: titles, summaries, Codex as a judge. A function is given the request. */
  readonly side?: string | ((asked: string) => string);
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

export interface ModelServer {
  /** Without a path, as `http://127.0.0.1:4711`. */
  readonly url: string;
  /** Everything that was asked, oldest first. Grows while clients work. */
  readonly requests: readonly RecordedRequest[];
  /** How many turns ended: answers with words for somebody, and no call. */
  answered(): number;
  close(): Promise<void>;
}

/**
 * A model that says what the script says, to clients of the Anthropic Messages API, of the OpenAI Responses
 * API and of the Gemini API alike. It keeps no state: the turn follows from what the request holds, so a session can be resumed,
 * and any number of clients can share one server.
 */
export async function startModelServer(script: Script): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  let answered = 0;
  const play = { ...script, ends: () => void answered++ };
  const server = createServer((request, response) => {
    answer(play, requests, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answered: () => answered,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Play extends Script {
  /** Called with each answer that ends a turn. */
  ends(): void;
}

async function answer(
  script: Play,
  requests: RecordedRequest[],
  request: IncomingMessage,
  response: ServerResponse,
) {
  const path = new URL(request.url ?? "/", "http://localhost").pathname;
  const body = await readJson(request);
  requests.push({ method: request.method ?? "", path, body });
  if (request.method !== "POST") return reply(response, request.method === "HEAD" ? 200 : 404, notScripted);
  if (path.endsWith("/messages/count_tokens")) return reply(response, 200, { input_tokens: 100 });
  if (path.endsWith("/messages")) return answerMessages(script, body as MessagesRequest, response);
  if (path.endsWith("/responses")) return answerResponses(script, body as ResponsesRequest, response);
  if (path.endsWith(":countTokens")) return reply(response, 200, { totalTokens: 100 });
  if (/:(?:streamG|g)enerateContent$/.test(path))
    return answerGenerate(script, body as GenerateRequest, path.includes(":stream"), response);
  return reply(response, 404, notScripted);
}

const notScripted = { type: "error", error: { type: "not_found_error", message: "not scripted" } };

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? undefined : JSON.parse(text);
}

function reply(response: ServerResponse, status: number, value: unknown) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

/** Server-sent events, each named by its own type. */
function streamer(response: ServerResponse) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  return (event: { type: string }) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

// --- Which turn it is ---

/**
 * Each run of model-made entries is one earlier answer: between two answers there is always a tool's result or
 * a prompt. This holds through resumed sessions, parallel calls and refused calls; after a compaction, which takes
 * answers away, the count begins anew.
 */
function turnOf<Entry>(entries: readonly Entry[], isModels: (entry: Entry) => boolean): number {
  return entries.filter((entry, i) => isModels(entry) && (i === 0 || !isModels(entries[i - 1] as Entry)))
    .length;
}

function pick<Entry>(
  script: Play,
  { tools }: { readonly tools?: readonly unknown[] },
  entries: readonly Entry[],
  isModels: (entry: Entry) => boolean,
): readonly Step[] {
  if (!tools?.length) {
    const { side = "ok" } = script;
    return [{ text: typeof side === "string" ? side : side(JSON.stringify(entries)) }];
  }
  const firstAnswer = entries.findIndex(isModels);
  const opening = JSON.stringify(firstAnswer < 0 ? entries : entries.slice(0, firstAnswer));
  const branch = script.branches?.find(({ says }) => opening.includes(says));
  const number = turnOf(entries, isModels);
  const turn = (branch ?? script).turns[number];
  // Words, not the last turn again: a last turn that calls a tool would go on forever.
  const steps =
    typeof turn === "function"
      ? turn(JSON.stringify(entries.slice(entries.findLastIndex(isModels) + 1)))
      : (turn ?? [{ text: `The script has no turn ${number + 1}.` }]);
  if (steps.every((step) => "text" in step)) script.ends();
  return steps;
}

// Never used twice, as a real API's ids: readers pair and count by them, also across sessions.
function newId(kind: string): string {
  return `${kind}_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

// --- Anthropic Messages API ---

interface MessagesRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

function answerMessages(script: Play, body: MessagesRequest, response: ServerResponse) {
  const content = pick(script, body, body.messages, ({ role }) => role === "assistant").map((step) =>
    "text" in step
      ? { type: "text" as const, text: step.text }
      : { type: "tool_use" as const, id: newId("toolu"), ...called(step) },
  );
  const message = {
    id: newId("msg"),
    type: "message",
    role: "assistant",
    model: body.model,
    content,
    stop_reason: content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: 10,
      output_tokens: 10,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
  };
  if (!body.stream) return reply(response, 200, message);
  const send = streamer(response);
  send({ type: "message_start", message: { ...message, content: [], stop_reason: null } } as Event);
  for (const [index, block] of content.entries()) {
    const [empty, delta] =
      block.type === "text"
        ? [
            { ...block, text: "" },
            { type: "text_delta", text: block.text },
          ]
        : [
            { ...block, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
          ];
    send({ type: "content_block_start", index, content_block: empty } as Event);
    send({ type: "content_block_delta", index, delta } as Event);
    send({ type: "content_block_stop", index } as Event);
  }
  const { stop_reason, usage } = message;
  send({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage } as Event);
  send({ type: "message_stop" });
  response.end();
}

type Event = { type: string };

function called(step: Exclude<Step, { text: string }>) {
  return { name: "tool" in step ? step.tool : step.custom, input: step.input };
}

// --- OpenAI Responses API ---

interface ResponsesRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
  readonly input: string | readonly ResponsesItem[];
}

interface ResponsesItem {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
}

function answerResponses(script: Play, body: ResponsesRequest, response: ServerResponse) {
  const input = typeof body.input === "string" ? [{ role: "user", content: body.input }] : body.input;
  const output = pick(script, body, input, isModelsItem).map(responsesItem);
  const answered = {
    id: newId("resp"),
    object: "response",
    created_at: 0,
    model: body.model,
    status: "completed",
    output,
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 20,
    },
  };
  if (!body.stream) return reply(response, 200, answered);
  const send = streamer(response);
  let sequence_number = 0;
  const sendNext = (event: Event & Record<string, unknown>) =>
    send({ ...event, sequence_number: sequence_number++ } as Event);
  sendNext({
    type: "response.created",
    response: { ...answered, status: "in_progress", output: [], usage: null },
  });
  for (const [output_index, item] of output.entries()) {
    const begun =
      item.type === "message"
        ? { ...item, content: [], status: "in_progress" }
        : { ...item, status: "in_progress" };
    sendNext({ type: "response.output_item.added", output_index, item: begun });
    if (item.type === "message") {
      const delta = item.content[0]?.text;
      const at = { item_id: item.id, output_index, content_index: 0 };
      sendNext({ type: "response.output_text.delta", ...at, delta });
    }
    sendNext({ type: "response.output_item.done", output_index, item });
  }
  sendNext({ type: "response.completed", response: answered });
  response.end();
}

function isModelsItem({ type, role }: ResponsesItem): boolean {
  return role === "assistant" || type === "reasoning" || Boolean(type?.endsWith("_call"));
}

function responsesItem(step: Step) {
  const status = "completed";
  if ("text" in step) {
    const content = [{ type: "output_text", text: step.text, annotations: [] }];
    return { type: "message" as const, id: newId("msg"), role: "assistant", status, content };
  }
  const call = { id: newId("fc"), call_id: newId("call"), status };
  if ("custom" in step) {
    return { type: "custom_tool_call" as const, ...call, name: step.custom, input: step.input };
  }
  const namespace = step.namespace === undefined ? {} : { namespace: step.namespace };
  const { tool: name, input } = step;
  return { type: "function_call" as const, ...call, name, ...namespace, arguments: JSON.stringify(input) };
}

// --- Gemini API ---

interface GenerateRequest {
  readonly contents: readonly { readonly role?: string; readonly parts?: readonly unknown[] }[];
  readonly tools?: readonly unknown[];
  readonly generationConfig?: { readonly responseMimeType?: string };
}

function answerGenerate(script: Play, body: GenerateRequest, isStream: boolean, response: ServerResponse) {
  // A request for JSON, such as which model should answer, is never the conversation's.
  const isJson = body.generationConfig?.responseMimeType === "application/json";
  const steps = isJson ? [{ text: "{}" }] : pick(script, body, body.contents, ({ role }) => role === "model");
  const parts = steps.map((step) => {
    if ("text" in step) return { text: step.text };
    const { name, input } = called(step);
    return { functionCall: { name, args: input } };
  });
  const answered = {
    candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts } }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
  };
  if (!isStream) return reply(response, 200, answered);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`data: ${JSON.stringify(answered)}\n\n`);
}
