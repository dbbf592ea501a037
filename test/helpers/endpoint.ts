import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** What a scripted endpoint was asked. */
export interface Question {
  readonly path: string;
  readonly key: string | undefined;
  readonly model: string;
  /** Everything that was sent. */
  readonly body: string;
  readonly prompt: string;
}

/** What it does: answers with a value, and says what that took; says something else, fails, hangs up, or keeps silent. */
export type Act =
  | { readonly value: unknown; readonly usage?: unknown }
  | { readonly text: string }
  | { readonly status: number }
  | "hang-up"
  | "silence";

export interface Endpoint {
  readonly url: string;
  readonly asked: readonly Question[];
}

/** An endpoint on this machine that speaks the Anthropic Messages API and the OpenAI Chat Completions API. */
export async function anEndpoint(
  act: (question: Question, number: number) => Act | Promise<Act>,
): Promise<Endpoint> {
  const asked: Question[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const sent = JSON.parse(body) as Sent;
    const path = request.url ?? "";
    const key = request.headers["x-api-key"] ?? request.headers.authorization;
    const last = sent.messages?.at(-1)?.content ?? "";
    const prompt = typeof last === "string" ? last : last.map(({ text }) => text ?? "").join("\n");
    const question = { path, key: key?.toString(), model: sent.model, body, prompt };
    asked.push(question);
    const does = await act(question, asked.length);
    if (does === "silence") return;
    if (does === "hang-up") return void request.socket.destroy();
    response.setHeader("content-type", "application/json");
    if ("status" in does) {
      response
        .writeHead(does.status)
        .end(JSON.stringify({ type: "error", error: { type: "e", message: "scripted" } }));
      return;
    }
    const text = "text" in does ? does.text : JSON.stringify(does.value);
    const whole = path.endsWith("/messages") ? message(sent, text) : completion(sent, text);
    response.end(JSON.stringify("usage" in does ? { ...whole, usage: does.usage } : whole));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

interface Sent {
  readonly model: string;
  /** Codex has none: it speaks another API, in which this endpoint can only fail. */
  readonly messages?: readonly { readonly content: string | readonly { readonly text?: string }[] }[];
  readonly tools?: readonly { readonly name: string }[];
}

/** Where a client asks for the answer as a tool's input, that is how it comes. */
function message({ model, tools }: Sent, text: string) {
  const tool = tools?.[0]?.name;
  const asTool = tool !== undefined && text.startsWith("{");
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content: asTool
      ? [{ type: "tool_use", id: "toolu_1", name: tool, input: JSON.parse(text) }]
      : [{ type: "text", text }],
    stop_reason: asTool ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 2_000, output_tokens: 300 },
  };
}

function completion({ model }: Sent, text: string) {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 0,
    model,
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: text } }],
    usage: { prompt_tokens: 2_000, completion_tokens: 300, total_tokens: 2_300 },
  };
}
