/** What happened in a project since the last successful review. */
export interface Counters {
  /** Tool calls, and prompts of people. */
  readonly calls: number;
  readonly turns: number;
  /** Signals that count: of something worth a skill, and of something wrong with one. */
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
  | "no-model"
  | "nothing-new"
  | "running"
  | "too-soon"
  | "too-many-today"
  | "budget-spent"
  | "too-dear"
  | "breaker-open";

/** Part of a session: events by their numbers, both included. */
export interface Stretch {
  /** Knack's id of the session, and the agent's own. */
  readonly session: string;
  readonly run: string;
  readonly from: number;
  readonly to: number;
}

/** What one review looks at: what came since the last one, in however many sessions. */
export interface Window {
  readonly stretches: readonly Stretch[];
  /** When the first and the last of its events happened. */
  readonly since: number;
  readonly until: number;
}

/** A decision about a review, as the ledger has it. */
export interface NudgeDecided {
  readonly run: boolean;
  readonly because: NudgeCause | NudgeHold;
  readonly message: string;
  readonly counters: Counters;
  /** What is, or would be, looked at. */
  readonly window: Window;
}
