import type { Project } from "./project.ts";
import type { Format } from "./session.ts";

/** Why something is worth a new skill. */
export const triggers = [
  "explicit_user_request",
  "multi_step_workflow",
  "recovered_surprise",
  "user_correction",
  "repeated_tool_pattern",
] as const;
export type Trigger = (typeof triggers)[number];

/** What is wrong with a skill that is there. */
export const issues = [
  "missing_step",
  "stale_command",
  "wrong_api_assumption",
  "overbroad_activation",
  "broken_script",
  "unsafe_instruction",
] as const;
export type Issue = (typeof issues)[number];

/** By what that showed. */
export const effects = [
  "retry_after_tool_error",
  "retry_after_user_correction",
  "manual_override",
  "verified_alternative",
] as const;
export type Effect = (typeof effects)[number];

/** Why it was not written down when it was noticed. */
export const deferReasons = [
  "conversation_still_evolving",
  "needs_full_context_review",
  "write_or_publish_failed",
  "needs_existing_skill_diff",
] as const;
export type DeferReason = (typeof deferReasons)[number];

export const learningActions = ["create", "update"] as const;
export type LearningAction = (typeof learningActions)[number];

/** How an agent says that its learning ended. */
export const learningStatuses = ["created", "updated", "aborted", "failed"] as const;
export type LearningStatus = (typeof learningStatuses)[number];

/** Why a call is refused. */
export type FaultCode =
  | "invalid_argument"
  | "skill_core_readonly"
  | "skill_already_exists"
  | "skill_package_missing"
  | "skill_package_invalid"
  | "skill_near_duplicate"
  | "learning_unavailable"
  | "learning_not_started"
  | "evidence_unresolved"
  | "signal_refused"
  | "skill_unknown"
  | "publish_failed";

/** A refusal that an agent can act on: what is wrong, each thing of it, and what to do next. */
export interface Fault {
  readonly code: FaultCode;
  readonly message: string;
  readonly next: string;
  readonly details: readonly string[];
}

/** What a call comes to. */
export type Answer<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: Fault };

/** Who calls, by the host's word; nothing of it is ever taken from what a model says. */
export interface Caller {
  /** The agent's own id of the session; null where the host does not tell. */
  readonly session: string | null;
  /** One turn of a session: from a prompt to the end of the answer. */
  readonly invocation: string;
  readonly kind: "foreground" | "background";
  readonly project: Project;
  /** The agent's format, for the folders that it reads; null where it is not known. */
  readonly format: Format | null;
  /** The model that does the work, where the host tells. */
  readonly model: string | null;
}

/** What an agent says before it writes a skill. */
export interface LearningStart {
  readonly action: LearningAction;
  readonly skill: string;
  readonly reason: Trigger | Issue;
  readonly refs: readonly string[];
  /** What to tell the person, in their language. */
  readonly message: string;
}

/** What it says when it has. */
export interface LearningFinish {
  readonly action: LearningAction;
  readonly skill: string;
  readonly status: LearningStatus;
  /** The receipt in the person's language, where the agent words it. */
  readonly message: string | null;
  readonly summary: string | null;
  readonly refs: readonly string[];
}

/** A learning that began, as the ledger has it. */
export interface LearningStarted extends LearningStart {
  readonly learning: string;
  readonly invocation: string;
  readonly by: Caller["kind"];
  readonly format: Format | null;
  readonly model: string | null;
  /** The folder in which the package is written, named as the skill. */
  readonly staging: string;
  /** Of what was put there: a package's hash; null for nothing. */
  readonly seed: string | null;
  /** The live package that is to be changed, or the place of the one to be: its folder, and its hash before. */
  readonly target: string;
  readonly before: string | null;
  /** The packages beside it, with the hashes they had: only this one may change. */
  readonly beside: readonly (readonly [path: string, hash: string])[];
}

/** How it ended; one that was refused may be ended again. */
export interface LearningFinished {
  readonly learning: string;
  readonly invocation: string;
  readonly action: LearningAction;
  readonly skill: string;
  readonly status: LearningStatus | "refused";
  readonly summary: string | null;
  readonly refs: readonly string[];
  /** The changes that were made. */
  readonly changes: readonly string[];
  readonly fault: Fault | null;
}

/** Proof that something learned was created, changed or used, in the words that a person is shown. */
export interface Receipt {
  readonly kind: "learned" | "updated" | "used";
  readonly skill: string;
  readonly text: string;
  readonly invocation: string;
}

/** Whether a learning came to something. */
export function isDone({ status }: Pick<LearningFinished, "status">): boolean {
  return status === "created" || status === "updated";
}
