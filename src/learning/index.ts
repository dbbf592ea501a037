export { asksToRemember, isObjection } from "./leads/spoken.ts";
export { readOwnSentences, readTurns, stripOpening } from "./leads/turns.ts";
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
export { createObserverSource, type ModelState, type ObserverSource, readUnaskedModel } from "./observer.ts";
