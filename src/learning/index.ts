export { consolidateProjects } from "./consolidate.ts";
export { type Judging, type JudgingPlan, openJudging } from "./judge-waiting.ts";
export {
  createJudgeSource,
  type JudgeSource,
  type JudgeState,
  readUnaskedJudge,
} from "./judges.ts";
export { asksToRemember, mayAskToRemember } from "./leads/requests.ts";
export { isObjection } from "./leads/spoken.ts";
export { isBareRequest } from "./leads/spoken-turns.ts";
export { readOwnSentences, readTurns, stripOpening, type Turn } from "./leads/turns.ts";
export {
  type Capture,
  createConsent,
  findingId,
  type LearnConsent,
  type Learned,
  learnByRules,
  openLearning,
  type ReadSession,
  restoreEvents,
  selectOwnEvents,
  withoutUnconfirmed,
} from "./learn.ts";
