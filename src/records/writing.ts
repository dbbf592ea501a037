import { makeId } from "../base/index.ts";
import type { Project } from "./project.ts";
import type { Format, SessionId } from "./session.ts";

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

export const writingActions = ["create", "update"] as const;

export type WritingAction = (typeof writingActions)[number];

/** How an agent says that its learning ended. */
export const writingStatuses = ["created", "updated", "aborted", "failed"] as const;

export type WritingStatus = (typeof writingStatuses)[number];

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
export interface AuthoringFault {
  readonly code: FaultCode;
  readonly message: string;
  readonly next: string;
  readonly details: readonly string[];
}

/** Who calls, by the host's word; nothing of it is ever taken from what a model says. */
export interface Caller {
  /** The agent's own id of the session; null where the host does not tell. */
  readonly session: SessionId | null;
  /** One turn of a session: from a prompt to the end of the answer. */
  readonly invocation: string;
  readonly kind: "foreground" | "background";
  readonly project: Project;
  /** The worktree of the project that it works in, where that is another than the project's root: there its agent has its skills. */
  readonly worktree?: string;
  /** The agent's format, for the folders that it reads; null where it is not known. */
  readonly format: Format | null;
  /** The model that does the work, where the host tells. */
  readonly model: string | null;
}

/** What an agent says before it writes a skill. */
export interface WritingStart {
  readonly action: WritingAction;
  readonly skill: string;
  readonly reason: Trigger | Issue;
  readonly refs: readonly string[];
  /** What to tell the person, in their language. */
  readonly message: string;
}

/** A learning that began, as the ledger has it. */
export interface WritingStarted extends WritingStart {
  readonly writing: string;
  readonly invocation: string;
  readonly by: Caller["kind"];
  readonly format: Format | null;
  readonly model: string | null;
  /** Knack's id of the session whose events it names: a run may have several files, each with numbers of its own. */
  readonly file: string;
  /** The folder in which the package is written, named as the skill. */
  readonly staging: string;
  /** The worktree that this is in, where that is another than the project's root. */
  readonly worktree?: string;
  /** Of what was put there: a package's hash; null for nothing. */
  readonly seed: string | null;
  /** The live package that is to be changed, or the place of the one to be: its folder, and its hash before. */
  readonly target: string;
  readonly before: string | null;
  /** The topmost folder on the way there, its own among them, that was not there yet. */
  readonly missing?: string;
}

/** How it ended; one that was refused may be ended again. */
export interface WritingFinished {
  readonly writing: string;
  readonly invocation: string;
  readonly action: WritingAction;
  readonly skill: string;
  readonly status: WritingStatus | "refused";
  readonly summary: string | null;
  /** The events that it names, and Knack's id of the session that has them. */
  readonly refs: readonly string[];
  readonly file: string;
  /** The changes that were made. */
  readonly changes: readonly string[];
  readonly fault: AuthoringFault | null;
}

/** Proof that something learned was created, changed or used, in the words that a person is shown. */
export interface Receipt {
  readonly kind: "learned" | "updated" | "used";
  readonly skill: string;
  readonly text: string;
  readonly invocation: string;
}

/** Whether a learning came to something. */
export function isPublished({ status }: Pick<WritingFinished, "status">): boolean {
  return status === "created" || status === "updated";
}

/** The id of a learning, and of what a review proposes, which what was made of it goes by. */
export function writingId(text: string): string {
  return makeId("l", text);
}

export function proposalId(text: string): string {
  return makeId("w", text);
}

/** Whether an id means something that an agent or a review wrote, not a lesson. */
export function isAuthoredId(id: string): boolean {
  return /^[lw][0-9a-z]{11}$/.test(id);
}

export function createFault(
  code: FaultCode,
  message: string,
  next: string,
  details: readonly string[] = [],
): AuthoringFault {
  return { code, message, next, details };
}
