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
import { messageIn } from "../core/errors.ts";
import { policy } from "../core/policy.ts";
import type { ModelReply, ModelRequest, ModelUsage } from "../engine/ports.ts";
import { noReply, unserved, usageSaid } from "./reply.ts";

/** A model behind an HTTP interface. */
export interface Endpoint {
  readonly via: "anthropic" | "openai";
  readonly id: string;
  readonly url: string;
  /** Null for one that wants none. */
  readonly key: string | null;
}

/** Asks once: no second try, no redirect, no other address than the given one. */
export async function askApi(endpoint: Endpoint, request: ModelRequest): Promise<ModelReply> {
  const begun = performance.now();
  const since = () => Math.round(performance.now() - begun);
  const { system, prompt, schema, maxOutputTokens, timeoutMs } = request;
  // What the library would print about settings that a model does not know is no news to a person.
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
    return { ok: true, value: output, usage: usageOf(usage), ms: since() };
  } catch (error) {
    return failureOf(error, timeoutMs, since());
  }
}

function languageModel({ via, id, url, key }: Endpoint): LanguageModel {
  // A key must not follow a redirect to somebody else.
  const straight: typeof fetch = async (input, init) =>
    bounded(await fetch(input, { ...init, redirect: "error" }));
  if (via === "anthropic") return createAnthropic({ baseURL: url, apiKey: key ?? "", fetch: straight })(id);
  return createOpenAICompatible({
    name: "openai",
    baseURL: url,
    ...(key === null ? {} : { apiKey: key }),
    supportsStructuredOutputs: true,
    fetch: straight,
    // Its maker's own newer models refuse the name that all others know.
    ...(new URL(url).hostname === "api.openai.com"
      ? {
          transformRequestBody: ({ max_tokens, ...body }) => ({ ...body, max_completion_tokens: max_tokens }),
        }
      : {}),
  })(id);
}

/** An answer that ends in an error where it is longer than any that was asked for. */
function bounded(response: Response): Response {
  let room: number = policy.model.answerBytes;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, control) => {
      room -= chunk.length;
      if (room < 0) control.error(new TooLong());
      else control.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return response.body
    ? new Response(response.body.pipeThrough(limit), { status, statusText, headers })
    : response;
}

class TooLong extends Error {}

function isTooLong(error: unknown): boolean {
  return (
    error instanceof TooLong ||
    (error instanceof Error && error.cause !== undefined && isTooLong(error.cause))
  );
}

function failureOf(error: unknown, timeoutMs: number, ms: number): ModelReply {
  if (isTooLong(error)) return noReply("unusable", "the answer is too long", ms);
  if (NoObjectGeneratedError.isInstance(error))
    return noReply("unusable", "the answer does not have the form", ms, usageOf(error.usage));
  if (APICallError.isInstance(error) && error.statusCode !== undefined) {
    const { statusCode, message } = error;
    const busy = statusCode === 429 || statusCode >= 500;
    // An answer that the interface could not read came with a good status.
    if (statusCode < 300) return noReply("unusable", `${message}`, ms);
    return noReply(busy ? "overloaded" : "refused", `${statusCode} ${message}`, ms, unserved);
  }
  const isLate = error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError");
  if (isLate) return noReply("time-out", `no answer in ${timeoutMs} ms`, ms);
  return noReply("unreachable", messageIn(error), ms, isNeverSent(error) ? unserved : null);
}

/** What there is no connection by, and so nothing was sent: no address, nobody there, or not who they say they are. */
const unconnected =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_(?:TLS|SSL|INVALID)_\w+|\w*CERT\w*|UNABLE_TO_VERIFY\w+)$/;

/** What has no code: a port that is none of the web's, and somebody who sends on elsewhere, and so does not serve. */
const unserving: ReadonlySet<string> = new Set(["bad port", "unexpected redirect"]);

/** Whether a request was surely not served. One that was cut off may have been: nobody knows. */
function isNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, message, cause } = error as NodeJS.ErrnoException;
  return unconnected.test(code ?? "") || unserving.has(message) || isNeverSent(cause);
}

function usageOf(used?: LanguageModelUsage): ModelUsage | null {
  return usageSaid({ input: [used?.inputTokens], output: used?.outputTokens });
}
