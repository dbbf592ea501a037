import { compareCourses } from "../../recall/index.ts";

/** A run as evidence: whether its goal was met, and which share of its criteria. */
export interface GradedRun {
  readonly at: number;
  readonly met: boolean;
  readonly score: number;
}

/** The runs of a kind before a change took effect, the nearest first, and those since, in the order of time. */
export interface EvidenceArms {
  readonly before: readonly GradedRun[];
  readonly after: readonly GradedRun[];
}

export interface EvidenceLimits {
  /** Runs on each side before shares are compared. */
  readonly minSamplesPerArm: number;
  /** Runs on each side before scores are ranked. */
  readonly minGradedPerArm: number;
  readonly alpha: number;
  /** Runs on each side that are looked at, the nearest to the change. */
  readonly recentAttemptsWindow: number;
}

/** What runs say about a change. */
export interface ChangeEvidence {
  /** By the sequential test alone, which holds at any number of looks. */
  readonly verdict: "worse" | "better" | "no-difference" | "too-few";
  readonly pairs: number;
  readonly needed: number;
  readonly low: number;
  readonly high: number;
  readonly before: ArmFigures;
  readonly after: ArmFigures;
  /** The tests for a sample of fixed size: a second opinion, which changes nothing by itself. */
  readonly provisional: ProvisionalVerdict;
}

interface ArmFigures {
  readonly runs: number;
  readonly met: number;
  readonly meanScore: number | null;
}

interface ProvisionalVerdict {
  readonly test: "two-proportion" | "mann-whitney" | null;
  readonly p: number | null;
  readonly reason:
    | "significant_regression"
    | "not_significant"
    | "no_regression"
    | "insufficient_samples"
    | "graded_regression_provisional"
    | "binary_graded_disagree";
}

/** Weighs the runs since a change against those before it. */
export function weighChange(arms: EvidenceArms, limits: EvidenceLimits): ChangeEvidence {
  const { recentAttemptsWindow: window } = limits;
  const [before, after] = [arms.before.slice(0, window), arms.after.slice(0, window)];
  const compared = compareCourses([
    {
      before: before.map(({ score }) => score),
      after: after.map(({ at, score }) => ({ at, value: score })),
    },
  ]);
  const { pairs, needed, low, high } = compared;
  const verdicts = { less: "worse", more: "better" } as const;
  return {
    verdict:
      compared.verdict in verdicts ? verdicts[compared.verdict as "less"] : (compared.verdict as "too-few"),
    ...{ pairs, needed, low, high, before: countArm(before), after: countArm(after) },
    provisional: testRegression(before, after, limits),
  };
}

function countArm(runs: readonly GradedRun[]): ArmFigures {
  const total = runs.reduce((sum, { score }) => sum + score, 0);
  return {
    runs: runs.length,
    met: runs.filter(({ met }) => met).length,
    meanScore: runs.length === 0 ? null : total / runs.length,
  };
}

/** Whether runs became worse: by shares where there are enough, else by the ranks of scores. */
function testRegression(
  before: readonly GradedRun[],
  after: readonly GradedRun[],
  { minSamplesPerArm, minGradedPerArm, alpha }: EvidenceLimits,
): ProvisionalVerdict {
  const fewest = Math.min(before.length, after.length);
  const graded = rankSum(
    before.map(({ score }) => score),
    after.map(({ score }) => score),
  );
  if (fewest >= minSamplesPerArm) {
    const [a, b] = [countArm(before), countArm(after)];
    const isLess = b.met / b.runs < a.met / a.runs;
    const p = compareShares(a, b);
    const decide = (): ProvisionalVerdict["reason"] => {
      if (!isLess) return "no_regression";
      if (p >= alpha) return "not_significant";
      return graded.direction > 0 && graded.p < alpha ? "binary_graded_disagree" : "significant_regression";
    };
    return { test: "two-proportion", p, reason: decide() };
  }
  if (fewest < minGradedPerArm) return { test: null, p: null, reason: "insufficient_samples" };
  const isWorse = graded.direction < 0;
  const reason = !isWorse
    ? "no_regression"
    : graded.p < alpha
      ? "graded_regression_provisional"
      : "not_significant";
  return { test: "mann-whitney", p: graded.p, reason };
}

/** The two-sided p of a difference between two shares, pooled. */
function compareShares(a: ArmFigures, b: ArmFigures): number {
  const pooled = (a.met + b.met) / (a.runs + b.runs);
  const spread = Math.sqrt(pooled * (1 - pooled) * (1 / a.runs + 1 / b.runs));
  return spread === 0 ? 1 : doubleTail((b.met / b.runs - a.met / a.runs) / spread);
}

/** The Mann-Whitney test of whether the second values tend to be larger (1) or smaller (-1), with ties in its spread. */
function rankSum(first: readonly number[], second: readonly number[]): { direction: number; p: number } {
  const [m, n] = [first.length, second.length];
  const u = second
    .flatMap((b) => first.map((a) => (b > a ? 1 : b === a ? 0.5 : 0)))
    .reduce<number>((sum, one) => sum + one, 0);
  const counts = new Map<number, number>();
  for (const value of [...first, ...second]) counts.set(value, (counts.get(value) ?? 0) + 1);
  const ties = [...counts.values()].reduce((sum, t) => sum + t ** 3 - t, 0);
  const all = m + n;
  const spread = Math.sqrt(((m * n) / 12) * (all + 1 - ties / (all * (all - 1) || 1)));
  const distance = u - (m * n) / 2;
  const corrected = Math.max(0, Math.abs(distance) - 0.5);
  return { direction: Math.sign(distance), p: spread === 0 ? 1 : doubleTail(corrected / spread) };
}

/** The share of a normal distribution that lies at least so far from its middle, on both sides. */
function doubleTail(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const poly =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return poly * Math.exp(-x * x);
}
