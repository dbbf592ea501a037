import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  NoObjectGeneratedError,
  Output,
} from "ai";
import { errorMessage } from "../base/index.ts";
import { type ModelReply, type ModelRequest, maxAnswerBytes, noReply, readUsage, unserved } from "./model.ts";

/** A model behind an HTTP interface. */
interface Endpoint {
  readonly via: "anthropic" | "openai";
  readonly id: string;
  readonly url: string;
  /** Null for one that wants none. */
  readonly key: string | null;
}

/** Asks once: no retry, no redirect, no other address. */
export async function askApi(endpoint: Endpoint, request: ModelRequest): Promise<ModelReply> {
  const startedAt = performance.now();
  const elapsed = () => Math.round(performance.now() - startedAt);
  const { system, prompt, schema, maxOutputTokens, timeoutMs } = request;
  // Keeps the library from printing warnings about unknown model settings.
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  try {
    const { output, usage } = await generateText({
      model: languageModel(endpoint),
      system,
      prompt,
      output: Output.object({ schema: jsonSchema(schema as Parameters<typeof jsonSchema>[0]) }),
      maxOutputTokens,
      maxRetries: 0,
      abortSignal: AbortSignal.timeout(timeoutMs),
    });
    return { ok: true, value: output, usage: convertUsage(usage), ms: elapsed() };
  } catch (error) {
    return describeFailure(error, timeoutMs, elapsed());
  }
}

function languageModel({ via, id, url, key }: Endpoint): LanguageModel {
  // A key must not follow a redirect to somebody else.
  const straight: typeof fetch = async (input, init) =>
    limitBody(await fetch(input, { ...init, redirect: "error" }));
  if (via === "anthropic") return createAnthropic({ baseURL: url, apiKey: key ?? "", fetch: straight })(id);
  return createOpenAICompatible({
    name: "openai",
    baseURL: url,
    ...(key === null ? {} : { apiKey: key }),
    supportsStructuredOutputs: true,
    fetch: straight,
    // OpenAI's newer models refuse max_tokens, which all other endpoints know.
    ...(new URL(url).hostname === "api.openai.com"
      ? {
          transformRequestBody: ({ max_tokens, ...body }) => ({ ...body, max_completion_tokens: max_tokens }),
        }
      : {}),
  })(id);
}

/** Fails while reading an answer that is too long. */
function limitBody(response: Response): Response {
  let room: number = maxAnswerBytes;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, control) => {
      room -= chunk.length;
      if (room < 0) control.error(tooLong);
      else control.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return response.body
    ? new Response(response.body.pipeThrough(limit), { status, statusText, headers })
    : response;
}

const tooLong = new Error("the answer is too long");

function isTooLong(error: unknown): boolean {
  return error === tooLong || (error instanceof Error && isTooLong(error.cause));
}

function describeFailure(error: unknown, timeoutMs: number, ms: number): ModelReply {
  if (isTooLong(error)) return noReply("unusable", tooLong.message, ms);
  if (NoObjectGeneratedError.isInstance(error))
    return noReply("unusable", "the answer does not have the requested form", ms, convertUsage(error.usage));
  if (APICallError.isInstance(error) && error.statusCode !== undefined) {
    const { statusCode, message } = error;
    const busy = statusCode === 429 || statusCode >= 500;
    // A good status with an answer that could not be parsed.
    if (statusCode < 300) return noReply("unusable", message, ms);
    return noReply(busy ? "overloaded" : "refused", `${statusCode} ${message}`, ms, unserved);
  }
  const isLate = error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError");
  if (isLate) return noReply("time-out", `no answer in ${timeoutMs} ms`, ms);
  return noReply("unreachable", errorMessage(error), ms, isNeverSent(error) ? unserved : null);
}

/** Codes of errors before a connection was made, so that nothing was sent. */
const unconnected =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_(?:TLS|SSL|INVALID)_\w+|\w*CERT\w*|UNABLE_TO_VERIFY\w+)$/;

/** Messages of such errors that have no code. */
const unserving: ReadonlySet<string> = new Set(["bad port", "unexpected redirect"]);

/** Whether a request was certainly not served; one that was cut off may have been. */
function isNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, message, cause } = error as NodeJS.ErrnoException;
  return unconnected.test(code ?? "") || unserving.has(message) || isNeverSent(cause);
}

function convertUsage(used?: LanguageModelUsage): ReturnType<typeof readUsage> {
  return readUsage({ input: [used?.inputTokens], output: used?.outputTokens });
}
