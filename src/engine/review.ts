import type { NudgeDecided } from "../core/nudge.ts";
import type { ReviewBundle, ReviewEnded } from "../core/review.ts";
import type { AskDeps } from "./ask.ts";
import type { CatalogReading } from "./catalog.ts";
import type { ReviewLimits } from "./nudge.ts";
import type { Model } from "./ports.ts";
import type { PublishDeps } from "./step.ts";

export interface ReviewDeps extends PublishDeps, Pick<AskDeps, "model" | "limits" | "price"> {
  /** Who is asked first whether there is anything to review. */
  readonly gate: Pick<AskDeps, "model" | "price">;
  readonly timeoutMs: number;
  readonly allowed: ReviewLimits;
  readonly catalog: () => Promise<CatalogReading>;
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  /** The one who reviews: takes the lease until a time, or is told that another has it. */
  readonly claim: (until: number) => Promise<boolean>;
  readonly giveBack: () => Promise<void>;
}

/** What came of looking whether to review a project. */
export interface Reviewed {
  readonly project: string;
  readonly decision: NudgeDecided;
  readonly ended: ReviewEnded | null;
  readonly usd: number;
}

/** What a review would be given, and what it would cost at the most. */
export interface ReviewPreview {
  readonly project: string;
  readonly decision: NudgeDecided;
  readonly bundle: ReviewBundle | null;
  readonly model: Model["name"];
  readonly usdAtMost: number;
  readonly characters: number;
}

/** Reviews a project if that is due, or because a person asks: ends what a killed process began first. */
export async function review(
  _deps: ReviewDeps,
  _project: string,
  _options: { readonly asked: boolean },
): Promise<Reviewed> {
  throw new Error("to be built");
}

/** The same without asking anybody, and without noting anything. */
export async function previewReview(_deps: ReviewDeps, _project: string): Promise<ReviewPreview> {
  throw new Error("to be built");
}
