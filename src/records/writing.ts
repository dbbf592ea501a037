import { makeId } from "../base/index.ts";
import type { Format, Project, SessionId, TranscriptId } from "./session.ts";

// biome-ignore format: a list of names reads better in rows
export const triggers = [
  "explicit_user_request", "multi_step_workflow", "recovered_surprise", "user_correction",
  "repeated_tool_pattern",
] as const;
export type Trigger = (typeof triggers)[number];

// biome-ignore format: a list of names reads better in rows
export const issues = [
  "missing_step", "stale_command", "wrong_api_assumption", "overbroad_activation", "broken_script",
  "unsafe_instruction",
] as const;
export type Issue = (typeof issues)[number];

// biome-ignore format: a list of names reads better in rows
type FaultCode =
  | "invalid_argument" | "skill_core_readonly" | "skill_already_exists" | "skill_package_missing"
  | "skill_package_invalid" | "skill_near_duplicate" | "learning_unavailable" | "learning_not_started"
  | "evidence_unresolved" | "signal_refused" | "skill_unknown" | "skill_not_accepted" | "publish_failed";

/** A refusal that an agent can act on: what is wrong, each thing of it, and what to do next. */
export interface AuthoringFault {
  readonly code: FaultCode;
  readonly message: string;
  readonly next: string;
  readonly details: readonly string[];
}

/** The caller as the host identifies it, never as a model claims. */
export interface Caller {
  /** The agent's own id of the session; null where the host does not tell. */
  readonly session: SessionId | null;
  /** One turn of a session: from a prompt to the end of the answer. */
  readonly invocation: string;
  readonly kind: "foreground" | "background";
  readonly project: Project;
  /** The worktree it works in, if not the project's root: the agent reads its skills there. */
  readonly worktree?: string;
  /** The agent's format, for the folders that it reads; null where it is not known. */
  readonly format: Format | null;
  /** The model that does the work, where the host tells. */
  readonly model: string | null;
}

/** An agent's request to write a skill. */
export interface WritingStart {
  readonly action: "create" | "update";
  readonly skill: string;
  readonly reason: Trigger | Issue;
  readonly refs: readonly string[];
  /** The notice to the person, localized. */
  readonly message: string;
}

/** The ledger entry for the start of a writing. */
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
  /** The hash of the package placed there; null for none. */
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
  readonly action: WritingStart["action"];
  readonly skill: string;
  readonly status: "created" | "updated" | "aborted" | "failed" | "refused";
  readonly summary: string | null;
  /** The events that it names, and Knack's id of the session that has them. */
  readonly refs: readonly string[];
  readonly file: string;
  readonly changes: readonly string[];
  readonly fault: AuthoringFault | null;
  /** Where it waits for a person's yes: the reason, and what accepts it. */
  readonly held?: HeldWriting;
}

/** Something written that no agent is given before a person accepts it. */
export interface HeldWriting {
  readonly because: string;
  /** The command that accepts it, after `knack`. */
  readonly accept: string;
}

/** Proof that something learned was created, changed or used, in the words that a person is shown. */
export interface Receipt {
  readonly kind: "learned" | "updated" | "used" | "held";
  readonly skill: string;
  readonly text: string;
  readonly invocation: string;
}

export function isPublished({ status }: Pick<WritingFinished, "status">): boolean {
  return status === "created" || status === "updated";
}

/** The id of what an agent or a review wrote, which what was made of it goes by. */
export function authoredId(by: "agent" | "review", text: string): string {
  return makeId(by === "agent" ? "l" : "w", text);
}

export function createFault(
  code: FaultCode,
  message: string,
  next: string,
  details: readonly string[] = [],
): AuthoringFault {
  return { code, message, next, details };
}

/** Activity in a project since the last successful review. */
export interface ReviewCounters {
  readonly calls: number;
  readonly turns: number;
  /** Things that are worth a skill by signals that count, and signs that something is wrong with one. */
  readonly signals: number;
  readonly hints: number;
  /** When the last successful review ended, and until which moment of the sessions it looked; null before the first. */
  readonly lastReviewAt: number | null;
  readonly reviewedUntil: number | null;
}

/** Why a review is worth its cost. */
export type NudgeCause = "signal" | "skill-issue" | "threshold" | "asked";

/** Why there is none. */
// biome-ignore format: a list of names reads better in rows
export type NudgeHold =
  | "off" | "not-learned" | "no-model" | "nothing-new" | "running" | "too-soon" | "too-many-today"
  | "budget-spent" | "too-dear" | "call-too-dear" | "library-unread" | "breaker-open";

/** Part of a session: events by their numbers, both included. */
export interface SessionStretch {
  /** Knack's id of the session, and the agent's own, with a subagent's where it is one's. */
  readonly session: TranscriptId;
  readonly run: SessionId;
  readonly from: number;
  readonly to: number;
}

/** The events that a review covers: all since the last one, across sessions. */
export interface ReviewWindow {
  readonly stretches: readonly SessionStretch[];
  /** When the first and the last of its events happened. */
  readonly since: number;
  readonly until: number;
}

/** The ledger entry for a review decision. */
export interface NudgeDecided {
  readonly run: boolean;
  readonly because: NudgeCause | NudgeHold;
  readonly message: string;
  readonly counters: ReviewCounters;
  readonly window: ReviewWindow;
}

/** Review modes: none, proposals only, or publish changes that need no approval. */
export const reviewModes = ["off", "suggest", "auto"] as const;
export type ReviewMode = (typeof reviewModes)[number];

/** A permitted result of a review: a new skill or a patch of one. Others are refused. */
export type ReviewLead =
  | { readonly do: "create"; readonly hint: string; readonly why: string; readonly refs: readonly string[] }
  | { readonly do: "patch"; readonly skill: string; readonly why: string; readonly refs: readonly string[] };

interface ProposedFile {
  readonly path: string;
  readonly text: string;
}

/** Some words of a file that are to become others. */
export interface SkillEdit {
  readonly path: string;
  readonly find: string;
  readonly replace: string;
}

interface DraftReason {
  readonly refs: readonly string[];
  readonly because: string;
}

/** A reviewer's proposal. In a patch, `files` are new files and `removed` the paths of deleted ones. */
export type SkillDraft = DraftReason & { readonly files: readonly ProposedFile[] } & (
    | { readonly do: "create"; readonly name: string; readonly description: string; readonly body: string }
    | {
        readonly do: "patch";
        readonly skill: string;
        readonly base: string;
        readonly edits: readonly SkillEdit[];
        readonly removed: readonly string[];
      }
  );

/** A reviewer's answer: its drafts, mostly none; or the events and skill files it needs to see first. */
interface ReviewAnswer {
  readonly because: string;
  readonly expand: readonly string[];
  readonly drafts: readonly SkillDraft[];
}

/** The ledger entry for a review's start. */
export interface ReviewBegun {
  readonly review: string;
  readonly window: ReviewWindow;
  readonly cause: NudgeCause;
  readonly mode: Exclude<ReviewMode, "off">;
  readonly model: string;
  /** Attempts: a review restarts if its process was killed. */
  readonly tries: number;
}

/** The leads and the reviewer's answer. */
export interface ReviewAnswered {
  readonly review: string;
  readonly model: string;
  readonly leads: readonly ReviewLead[];
  readonly answer: ReviewAnswer;
  /** Rejected parts, with reasons. */
  readonly refused: readonly string[];
  /** Skills with evidence that were no leads because they cannot be changed, with reasons. */
  readonly without?: readonly string[];
}

export interface ReviewEnded {
  readonly review: string;
  /** After `failed` or `skipped` the window is reviewed again; after repeated failures it is `given-up`. */
  readonly outcome: "nothing" | "proposed" | "published" | "refused" | "failed" | "given-up" | "skipped";
  readonly because: string;
  readonly proposals: readonly string[];
  readonly window: ReviewWindow;
  /** The part of the window that failed review too often; the rest is reviewed again. */
  readonly givenUp?: ReviewWindow;
  readonly calls: number;
}

/** The ledger entry for a review's proposal; its files are among the kept versions. */
export interface SkillProposal {
  readonly id: string;
  readonly review: string;
  readonly do: SkillDraft["do"];
  readonly name: string;
  readonly project: string;
  /** The package it changes, or the path of its draft; and the present hash. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
  readonly because: string;
  /** Why it waits for a person whatever the settings say; absent where nothing speaks against it. */
  readonly held?: string;
  readonly model: string;
  /** The events it rests on, by the agent's session. */
  readonly evidence: readonly { readonly run: SessionId; readonly ref: string }[];
}

/** An agent's report of a lesson that it did not write down. */
export type Signal = CreateSignal | UpdateSignal;

interface CreateSignal extends SignalBase {
  readonly kind: "create";
  readonly nameHint: string;
  readonly trigger: Trigger;
  readonly summary: string;
}

interface UpdateSignal extends SignalBase {
  readonly kind: "update";
  readonly skill: string;
  readonly issue: Issue;
  /** How it showed. */
  readonly effect: (typeof effects)[number];
  readonly hint: string;
}

interface SignalBase {
  readonly refs: readonly string[];
  /** Why it was not written down when it was noticed. */
  readonly deferred: (typeof deferReasons)[number];
}

/** Why a signal does not count. */
// biome-ignore format: a list of names reads better in rows
export type SignalRefusal =
  | "no-form" | "both-signals" | "already-learned" | "too-few-refs" | "refs-unresolved" | "bad-name"
  | "no-prefix" | "skill-exists" | "unknown-skill" | "core-skill" | "no-summary";

export type SignalGiven = CountedSignal | RefusedSignal;

interface SignalSource {
  readonly id: string;
  /** The agent's tool call, the agent's structured reply, or what the transcript shows. */
  readonly from: "agent" | "reply" | "transcript";
  readonly invocation: string;
  /** Knack's id of the session whose events it names: a run may have several files, each with numbers of its own. */
  readonly file?: string;
  readonly finding?: string;
}

export interface CountedSignal extends SignalSource {
  readonly signal: Signal;
  readonly refusal: null;
  readonly message: null;
}

export interface RefusedSignal extends SignalSource {
  /** Null if the input is malformed. */
  readonly signal: Signal | null;
  readonly refusal: SignalRefusal;
  readonly message: string;
  /** The malformed input, possibly shortened. */
  readonly words?: string;
}

// biome-ignore format: a list of names reads better in rows
export const effects = [
  "retry_after_tool_error", "retry_after_user_correction", "manual_override", "verified_alternative",
] as const;

// biome-ignore format: a list of names reads better in rows
export const deferReasons = [
  "conversation_still_evolving", "needs_full_context_review", "write_or_publish_failed",
  "needs_existing_skill_diff",
] as const;
