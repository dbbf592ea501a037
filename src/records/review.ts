import type { SessionId, TranscriptId } from "./session.ts";
/** What happened in a project since the last successful review. */
export interface ReviewCounters {
  /** Tool calls, and prompts of people. */
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
export type NudgeHold =
  | "off"
  | "not-learned"
  | "no-model"
  | "nothing-new"
  | "running"
  | "too-soon"
  | "too-many-today"
  | "budget-spent"
  | "too-dear"
  | "call-too-dear"
  | "library-unread"
  | "breaker-open";

/** Part of a session: events by their numbers, both included. */
export interface SessionStretch {
  /** Knack's id of the session, and the agent's own, with a subagent's where it is one's. */
  readonly session: TranscriptId;
  readonly run: SessionId;
  readonly from: number;
  readonly to: number;
}

/** What one review looks at: what came since the last one, in however many sessions. */
export interface ReviewWindow {
  readonly stretches: readonly SessionStretch[];
  /** When the first and the last of its events happened. */
  readonly since: number;
  readonly until: number;
}

/** A decision about a review, as the ledger has it. */
export interface NudgeDecided {
  readonly run: boolean;
  readonly because: NudgeCause | NudgeHold;
  readonly message: string;
  readonly counters: ReviewCounters;
  /** What is, or would be, looked at. */
  readonly window: ReviewWindow;
}

/** What reviews may do: nothing, leave proposals, or publish what needs nobody's yes. */
export const reviewModes = ["off", "suggest", "auto"] as const;

export type ReviewMode = (typeof reviewModes)[number];

/** What a review may come to: something new, or a change of one skill. Nothing else is taken from it. */
export type ReviewLead =
  | { readonly do: "create"; readonly hint: string; readonly why: string; readonly refs: readonly string[] }
  | { readonly do: "patch"; readonly skill: string; readonly why: string; readonly refs: readonly string[] };

/** A file of a proposed package. */
export interface ProposedFile {
  readonly path: string;
  readonly text: string;
}

/** Some words of a file that are to become others. */
export interface SkillEdit {
  readonly path: string;
  readonly find: string;
  readonly replace: string;
}

/** What a reviewer proposes. */
export type SkillDraft =
  | {
      readonly do: "create";
      readonly name: string;
      readonly description: string;
      readonly body: string;
      readonly files: readonly ProposedFile[];
      readonly refs: readonly string[];
      readonly because: string;
    }
  | {
      readonly do: "patch";
      readonly skill: string;
      readonly base: string;
      readonly edits: readonly SkillEdit[];
      /** Those that are new. */
      readonly files: readonly ProposedFile[];
      /** The paths of those that go. */
      readonly removed: readonly string[];
      readonly refs: readonly string[];
      readonly because: string;
    };

/** A reviewer's answer: what it proposes, mostly nothing; or which events, and files of skills, it wants to see before. */
export interface ReviewAnswer {
  readonly because: string;
  readonly expand: readonly string[];
  readonly drafts: readonly SkillDraft[];
}

/** A review that began, as the ledger has it. */
export interface ReviewBegun {
  readonly review: string;
  readonly window: ReviewWindow;
  readonly cause: NudgeCause;
  readonly mode: Exclude<ReviewMode, "off">;
  readonly model: string;
  /** How often it was begun: what a killed process began is begun again. */
  readonly tries: number;
}

/** What its gate and its reviewer said. */
export interface ReviewAnswered {
  readonly review: string;
  /** Who said it. */
  readonly model: string;
  readonly leads: readonly ReviewLead[];
  readonly answer: ReviewAnswer;
  /** What of it was not taken, and why. */
  readonly refused: readonly string[];
  /** Which skills were no leads, though something spoke for it, and why: no change of them could be written. */
  readonly without?: readonly string[];
}

export interface ReviewEnded {
  readonly review: string;
  /** `failed` and `skipped` leave the window to be looked at again; after some failures it is `given-up`. */
  readonly outcome: "nothing" | "proposed" | "published" | "refused" | "failed" | "given-up" | "skipped";
  readonly because: string;
  readonly proposals: readonly string[];
  readonly window: ReviewWindow;
  /** What of the window was looked at in vain too often; the rest of it is looked at again. */
  readonly givenUp?: ReviewWindow;
  /** How many calls of models it took. */
  readonly calls: number;
}

/** Something that a review proposes, as the ledger has it; its files are among the kept versions. */
export interface SkillProposal {
  readonly id: string;
  readonly review: string;
  readonly do: SkillDraft["do"];
  readonly name: string;
  readonly project: string;
  /** The package it is for, or the place it would have as a draft; and what is there. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
  readonly because: string;
  readonly model: string;
  /** The events it rests on, by the agent's session. */
  readonly evidence: readonly { readonly run: SessionId; readonly ref: string }[];
}
