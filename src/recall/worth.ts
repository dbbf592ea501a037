import { several } from "../text/index.ts";
import { type BenefitReport, mostCallsPerPrompt } from "./report.ts";

type ReportMeasure = keyof BenefitReport["withheld"];
type MeasureComparison = BenefitReport["withheld"][ReportMeasure];

/** Differences of shares are in percentage points, so that nobody reads them as relative changes. */
const described: Readonly<Record<ReportMeasure, { readonly name: string; readonly unit: string }>> = {
  failedAgain: { name: "sessions in which a known failure happened again", unit: "points" },
  corrections: { name: "corrections per prompt", unit: "points" },
  calls: { name: "calls per prompt", unit: "calls" },
};

export const reportMeasures = Object.keys(described) as readonly ReportMeasure[];

export function describeMeasure(measure: ReportMeasure): string {
  return described[measure].name;
}

/** A measured value as people read it: a share, or a number of calls. */
export function formatMeasured(measure: ReportMeasure, value: number): string {
  return measure === "calls" ? (value * mostCallsPerPrompt).toFixed(1) : formatShare(value);
}

export function formatShare(share: number): string {
  return `${formatPoints(share)}%`;
}

function formatPoints(share: number): string {
  return (share * 100).toFixed(Math.abs(share) < 0.1 && share !== 0 ? 1 : 0);
}

/** The conclusion that a comparison supports. */
export function concludeMeasure(
  measure: ReportMeasure,
  { verdict, low, high, pairs, needed }: MeasureComparison,
): string {
  const { unit } = described[measure];
  const size = (value: number) =>
    measure === "calls" ? formatMeasured(measure, value) : formatPoints(value);
  const signed = (value: number) => `${value < 0 ? "−" : "+"}${size(Math.abs(value))}`;
  const between = `${signed(low)} to ${signed(high)} ${unit}`;
  switch (verdict) {
    case "less":
      return `fewer: ${between}`;
    case "more":
      return `more: ${between}`;
    case "no-difference":
      return `no difference larger than ${size(Math.max(Math.abs(low), Math.abs(high)))} ${unit}`;
    case "too-few":
      return pairs === 0
        ? `too few samples: none on one side, about ${needed} are needed on each`
        : `too few samples: ${several(pairs, "pair")} of sessions, about ${Math.max(needed, pairs + 1)} are needed (${between})`;
  }
}

/** Whether Knack pays here, in a sentence: what is proved by holding back, or why nothing is yet. */
export function describeWorth({ withheld }: BenefitReport, holdout: number): string {
  const { had, hadNot, verdict, low, high, pairs, needed } = withheld.failedAgain;
  const sides = `in ${formatShare(had.mean ?? 0)} of the sessions that were shown something, and in ${formatShare(hadNot.mean ?? 0)} of those in which it was held back`;
  const [least, most] = [Math.abs(low), Math.abs(high)].sort((a, b) => a - b) as [number, number];
  const between = `${formatPoints(least)} to ${formatPoints(most)} points`;
  switch (verdict) {
    case "less":
      return `Knack pays here: a known failure happened again ${sides} (${between} fewer, wrong at most once in twenty).`;
    case "more":
      return `Knack does harm here: a known failure happened again ${sides} (${between} more, wrong at most once in twenty).`;
    case "no-difference":
      return `Knack makes no difference larger than ${formatPoints(most)} points here: a known failure happened again ${sides}.`;
    case "too-few":
      if (hadNot.sessions === 0 && holdout === 0)
        return "Whether Knack pays here is not measured: nothing is held back to compare with.";
      return `It is too early to say whether Knack pays here: ${several(pairs, "pair")} of sessions can be compared, about ${Math.max(needed, pairs + 1)} are needed.`;
  }
}
