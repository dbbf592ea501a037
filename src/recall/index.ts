export {
  type Backtest,
  type BacktestOptions,
  type Hit,
  outOfTime,
  type ReplayOccasion,
  type Showing,
  type TranscriptSpot,
  type Wrong,
} from "./backtest.ts";
export { listCreditEntries, loadCredits, type Rated, resolveNames } from "./credit.ts";
export type { TrialDifference } from "./experiment.ts";
export { formatDay, renderFailureFact, renderPromptFact } from "./fact.ts";
export { type HookNote, isHeldBack, unmatchedKey } from "./hook-notes.ts";
export { openRecall } from "./open-recall.ts";
export { promptChars, readCallFailure, readCommandFailure, readQuestion } from "./question.ts";
export { type Distance, findHome, type LessonMatch, type MatchedBy, recall } from "./recall.ts";
export {
  type BenefitReport,
  type Comparison,
  type ItemReport,
  measures,
  mostCallsPerPrompt,
  type ReportMeasure,
} from "./report.ts";
export type {
  MadeItem,
  SessionNews,
  SessionStart,
  SnapshotHead,
  StartLesson,
  StartReceipt,
} from "./snapshot.ts";
export { openMemory, withTable } from "./snapshot-file.ts";
export { findToldCalls, makesCall } from "./told-calls.ts";
