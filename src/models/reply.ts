import { policy } from "../core/policy.ts";
import { redact } from "../core/redact.ts";
import type { ModelReply, ModelUsage, NoReply } from "../engine/ports.ts";

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
export function replyIn(text: string, ms: number, usage: ModelUsage): ModelReply {
  const bare = /^\s*```(?:json)?\s*\n(.*)\n\s*```\s*$/s.exec(text)?.[1] ?? text;
  try {
    return { ok: true, value: JSON.parse(bare), usage, ms };
  } catch {
    return noReply("unusable", "the answer is no JSON", ms, usage);
  }
}
