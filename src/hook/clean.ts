import { maskLikely, mayHoldSecret } from "../trust/index.ts";
import type { HookEvent } from "./event.ts";

/**
 * Text with its secrets masked. The patterns for secrets are large, so they are a script of their own, which is loaded
 * for the first text with a sign of a secret.
 */
export function clean(call: HookEvent, text: string): string {
  return mayHoldSecret(text) ? call.redaction().redact(text) : text;
}

/** The same for a prompt, which may be nothing but a password. */
export function cleanPrompt(call: HookEvent, text: string): string {
  const isOneWord = !/\s/.test(text.trim());
  return isOneWord || mayHoldSecret(text) ? call.redaction().redactPrompt(text) : text;
}

/** Clean text that is kept apart from its session, with every word masked that may be a password: those are long and have a digit. */
export function cleanForKeeping(text: string): string {
  return /(?=\S{8})[^\s\d]*\d/.test(text) ? maskLikely(text) : text;
}
