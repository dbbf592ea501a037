import { policy } from "../core/policy.ts";
import { redact } from "../core/redact.ts";
import type { ModelReply, ModelUsage, NoReply } from "../engine/ports.ts";

/** What a call has used that was surely not served. */
export const unserved: ModelUsage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

/** What a call has used, by what is said of it; null where nothing is said that can be so. */
export function usageSaid({
  input,
  output,
  usd,
}: {
  readonly input: readonly unknown[];
  readonly output: unknown;
  readonly usd?: unknown;
}): ModelUsage | null {
  const costUsd = isAmount(usd) ? usd : null;
  if (input.every(isAmount) && isAmount(output))
    return { inputTokens: input.reduce((sum, one) => sum + one, 0), outputTokens: output, costUsd };
  return costUsd === null ? null : { ...unserved, costUsd };
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** No answer, with the reason in few words and without secrets: it goes onto the ledger. */
export function noReply(
  because: NoReply,
  message: string,
  ms: number,
  usage: ModelUsage | null = null,
): ModelReply {
  const flat = redact(message).replace(/\s+/g, " ").trim();
  return { ok: false, because, message: flat.slice(0, policy.model.failureChars), usage, ms };
}

/** The answer in a text that ought to be JSON, and may have a fence around it. */
export function replyIn(text: string, ms: number, usage: ModelUsage | null): ModelReply {
  const bare = /^\s*```(?:json)?\s*\n(.*)\n\s*```\s*$/s.exec(text)?.[1] ?? text;
  try {
    return { ok: true, value: JSON.parse(bare), usage, ms };
  } catch {
    return noReply("unusable", "the answer is no JSON", ms, usage);
  }
}
