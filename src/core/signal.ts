import type { DeferReason, Effect, Issue, Trigger } from "./protocol.ts";

/** What an agent says it should have learned, and did not write down. */
export type Signal = CreateSignal | UpdateSignal;

/** Something that is worth a skill. */
export interface CreateSignal {
  readonly kind: "create";
  readonly nameHint: string;
  readonly trigger: Trigger;
  readonly deferred: DeferReason;
  readonly refs: readonly string[];
  readonly summary: string;
}

/** Something that is wrong with a skill. */
export interface UpdateSignal {
  readonly kind: "update";
  readonly skill: string;
  readonly issue: Issue;
  readonly deferred: DeferReason;
  readonly effect: Effect;
  readonly refs: readonly string[];
  readonly hint: string;
}

/** Why a signal does not count. */
export type SignalRefusal =
  | "no-form"
  | "both-signals"
  | "already-learned"
  | "unknown-trigger"
  | "unknown-issue"
  | "unknown-effect"
  | "unknown-defer-reason"
  | "too-few-refs"
  | "refs-unresolved"
  | "bad-name"
  | "no-prefix"
  | "skill-exists"
  | "unknown-skill"
  | "core-skill"
  | "no-summary";

/** A signal as the ledger has it. */
export interface SignalGiven {
  readonly id: string;
  /** Null where what was given has not the form of one. */
  readonly signal: Signal | null;
  /** The agent's tool call, the agent's structured reply, or what the transcript shows. */
  readonly from: "agent" | "reply" | "transcript";
  readonly invocation: string;
  /** Null when it counts. */
  readonly refusal: SignalRefusal | null;
  /** Why, in words. */
  readonly message: string | null;
}
