import type { JsonObject } from "../base/index.ts";
import { redact } from "../trust/index.ts";

/** One call of a model. */
export interface ModelRequest {
  /** Equal words have the same id, whichever model is asked. */
  readonly id: string;
  readonly purpose: string;
  readonly system: string;
  readonly prompt: string;
  /** JSON Schema of the answer. */
  readonly schema: JsonObject;
  readonly maxOutputTokens: number;
  /** The most the call may cost, for models that accept a limit. */
  readonly maxUsd: number;
  readonly timeoutMs: number;
}

interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null where the model does not report it. */
  readonly costUsd: number | null;
}

export type ModelReply =
  | { readonly ok: true; readonly value: unknown; readonly usage: ModelUsage | null; readonly ms: number }
  | {
      readonly ok: false;
      readonly because: NoReply;
      readonly message: string;
      /** Null where the usage is unknown; zero only where the call was certainly not served. */
      readonly usage: ModelUsage | null;
      readonly ms: number;
    };

/** Why there is no answer. With `unset` and `not-asked` nothing was sent. */
export type NoReply =
  | "unset"
  | "not-asked"
  | "time-out"
  | "refused"
  | "overloaded"
  | "unreachable"
  | "unusable";

/**
 * A model. Failures of a model, a network or a program are replies, never exceptions, and nothing it started outlives
 * the reply. Its answers are untrusted.
 */
export interface Model {
  /** As in the settings: `anthropic/<id>`, `claude`. */
  readonly name: string;
  /** Where a request goes: an address or a command. */
  readonly to: string;
  /** Whether asking may cost something, so that it needs a budget. */
  readonly isLive: boolean;
  /** Whether it is an agent's program, which may use more tokens than the request has. */
  readonly isAgent: boolean;
  /** Why it cannot be asked; null when it can. */
  readonly unset: string | null;
  ask(request: ModelRequest): Promise<ModelReply>;
}

/** The usage of a call that was certainly not served. */
export const unserved: ModelUsage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

/** Bytes of an answer that are read. */
export const maxAnswerBytes = 4_000_000;

const failureChars = 200;

/** The usage that a model reports; null where the report is incomplete or impossible. */
export function readUsage(report: {
  readonly input: readonly unknown[];
  readonly output: unknown;
  readonly usd?: unknown;
}): ModelUsage | null {
  const { input, output, usd } = report;
  const costUsd = isAmount(usd) ? usd : null;
  if (input.every(isAmount) && isAmount(output))
    return { inputTokens: input.reduce((sum, one) => sum + one, 0), outputTokens: output, costUsd };
  return costUsd === null ? null : { ...unserved, costUsd };
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** A reply without an answer. The message goes onto the ledger, so it is short and has no secrets. */
export function noReply(
  because: NoReply,
  message: string,
  ms: number,
  usage: ModelUsage | null = null,
): ModelReply {
  const flat = redact(message).replace(/\s+/g, " ").trim();
  return { ok: false, because, message: flat.slice(0, failureChars), usage, ms };
}

/** The answer in a text that should be JSON; it may be in a code fence, or have words around it. */
export function parseReply(text: string, ms: number, usage: ModelUsage | null): ModelReply {
  const fenced = /```(?:json)?\s*\n(.*?)\n\s*```/s.exec(text)?.[1] ?? "";
  const braced = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  for (const one of [text, fenced, braced]) {
    try {
      return { ok: true, value: JSON.parse(one), usage, ms };
    } catch {
      // The next reading may be JSON.
    }
  }
  return noReply("unusable", "the answer is not JSON", ms, usage);
}
