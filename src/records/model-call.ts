import type { Finding, FindingKind } from "./finding.ts";

/** What was judged to be worth keeping, in better words. */
export interface KeptCandidate {
  readonly candidate: string;
  readonly kind: FindingKind;
  readonly lesson: string;
  readonly trigger: string;
  readonly action: string;
  readonly confidence: number;
  /** That a person said so is the model's word alone. */
  readonly by?: "model";
}

/** What was judged not to be. */
export interface DroppedCandidate {
  readonly candidate: string;
  readonly kind: FindingKind;
  readonly lesson: string;
  readonly because: string;
}

export interface Judgements {
  readonly kept: readonly KeptCandidate[];
  readonly dropped: readonly DroppedCandidate[];
  /** What a model found by itself. */
  readonly own: readonly Finding[];
}

/** What became of a session's candidates. */
export interface SessionJudgement extends Judgements {
  readonly pass: number;
  readonly model: string;
  /** Why some or all of them were not judged, so that what the rules say stands; null when all were. */
  readonly fellBack: string | null;
}

/** Who looks at sessions: rules alone, or rules that propose and a model that judges. */
export type ObserverName = "heuristic" | "model";

/** A call of a model that is about to be made, with the most that it may cost. */
export interface ModelAsked {
  readonly call: string;
  readonly model: string;
  readonly purpose: string;
  readonly usdAtMost: number;
}

/** A call of a model that was made. */
export interface ModelCalled {
  readonly call: string;
  readonly model: string;
  readonly purpose: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number;
  /** Whether the cost is reckoned from tokens at a price that Knack assumes, and not what the model says it was. */
  readonly estimated: boolean;
  readonly ms: number;
  readonly ok: boolean;
  /** Why it failed. */
  readonly because: string | null;
}
