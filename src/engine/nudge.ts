import type { NudgeDecided, Window } from "../core/nudge.ts";
import type { ReviewMode } from "../core/review.ts";
import type { Clock, Store } from "./ports.ts";

export interface NudgeDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** What a person allows. */
export interface ReviewLimits {
  readonly mode: ReviewMode;
  readonly calls: number;
  readonly apartMs: number;
  readonly perDay: number;
  readonly usd: number;
  readonly usdPerDay: number;
  /** Why no model can be asked; null where one can. */
  readonly unset: string | null;
}

/** What came since the last successful review of a project. */
export async function windowOf(_deps: NudgeDeps, _project: string): Promise<Window> {
  throw new Error("to be built");
}

/** Whether a review of a project is worth its cost now; a no is noted, with what it would have looked at. */
export async function nudge(
  _deps: NudgeDeps,
  _project: string,
  _options: {
    readonly limits: ReviewLimits;
    /** A person asks for it: only what nobody may exceed holds it back. */
    readonly asked: boolean;
    readonly running: boolean;
    /** Notes nothing. */
    readonly dryRun?: boolean;
  },
): Promise<NudgeDecided> {
  throw new Error("to be built");
}
