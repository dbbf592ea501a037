export type { Backtest } from "./backtest.ts";
export { type ChronicFailure, describeChronic } from "./chronic.ts";
export { nameFailure, readCredits } from "./credit.ts";
export { compareCourses, type TrialDifference } from "./experiment.ts";
export { type HookNote, isHeldBack, openRecall, unmatchedKey } from "./open-recall.ts";
export {
  describeCure,
  findAlternative,
  findHome,
  readFailure,
  readQuestion,
} from "./recall.ts";
export { type BenefitReport, type CountedFailure, loadLived, mostCallsPerPrompt } from "./report.ts";
export {
  formatDay,
  readSnapshot,
  recallFromSnapshot,
  renderFailureFact,
  renderPromptFact,
  type Snapshot,
  type SnapshotRows,
} from "./snapshot.ts";
export type { Telling } from "./tellings.ts";
export { findToldCalls, makesCall } from "./usage.ts";
export {
  concludeMeasure,
  describeMeasure,
  describeWorth,
  formatMeasured,
  formatShare,
  reportMeasures,
} from "./worth.ts";
