export {
  createObserverSource,
  type ModelState,
  type ObserverSource,
  readUnaskedModel,
} from "./choose-observer.ts";
export { createConsent, type LearnConsent } from "./consent.ts";
export { type Capture, restoreEvents } from "./due.ts";
export { isObjection } from "./leads/spoken.ts";
export { asksToRemember } from "./leads/turn-signs.ts";
export { readOwnSentences, readTurns, stripOpening } from "./leads/turns.ts";
export {
  findingId,
  type Learned,
  type LearnOptions,
  learnByRules,
  type ReadSession,
  type RuleLearning,
  selectOwnEvents,
  withoutUnconfirmed,
} from "./learn.ts";
export { openLearning } from "./open-learning.ts";
