import type { Issue, Trigger } from "./writing.ts";

/** What an agent says it should have learned, and did not write down. */
export type Signal = CreateSignal | UpdateSignal;

/** Something that is worth a skill. */
interface CreateSignal {
  readonly kind: "create";
  readonly nameHint: string;
  readonly trigger: Trigger;
  readonly deferred: DeferReason;
  readonly refs: readonly string[];
  readonly summary: string;
}

/** Something that is wrong with a skill. */
interface UpdateSignal {
  readonly kind: "update";
  readonly skill: string;
  readonly issue: Issue;
  readonly deferred: DeferReason;
  readonly effect: ObservedEffect;
  readonly refs: readonly string[];
  readonly hint: string;
}

/** Why a signal does not count. */
export type SignalRefusal =
  | "no-form"
  | "both-signals"
  | "already-learned"
  | "too-few-refs"
  | "refs-unresolved"
  | "bad-name"
  | "no-prefix"
  | "skill-exists"
  | "unknown-skill"
  | "core-skill"
  | "no-summary";

/** A signal as the ledger has it. */
export type SignalGiven = CountedSignal | RefusedSignal;

export interface SignalSource {
  readonly id: string;
  /** The agent's tool call, the agent's structured reply, or what the transcript shows. */
  readonly from: "agent" | "reply" | "transcript";
  readonly invocation: string;
  /** Knack's id of the session whose events it names: a run may have several files, each with numbers of its own. */
  readonly file?: string;
  /** The finding that it was derived from. */
  readonly finding?: string;
}

/** One that counts. */
export interface CountedSignal extends SignalSource {
  readonly signal: Signal;
  readonly refusal: null;
  readonly message: null;
}

/** One that does not. */
export interface RefusedSignal extends SignalSource {
  /** Null where what was given has not the form of one. */
  readonly signal: Signal | null;
  readonly refusal: SignalRefusal;
  /** Why, in words. */
  readonly message: string;
  /** What was given, as far as it is kept, where it has not the form. */
  readonly words?: string;
}

/** By what that showed. */
export const effects = [
  "retry_after_tool_error",
  "retry_after_user_correction",
  "manual_override",
  "verified_alternative",
] as const;

export type ObservedEffect = (typeof effects)[number];

/** Why it was not written down when it was noticed. */
export const deferReasons = [
  "conversation_still_evolving",
  "needs_full_context_review",
  "write_or_publish_failed",
  "needs_existing_skill_diff",
] as const;

export type DeferReason = (typeof deferReasons)[number];
