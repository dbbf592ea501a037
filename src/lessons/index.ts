export { type Contradiction, decisionEntry, openLessons, type SharedLesson } from "./decisions.ts";
export {
  applyEntries,
  type Credit,
  findSimilarFindings,
  foldCredits,
  foldImports,
  ratedItemId,
  recordEntries,
  refold,
} from "./fold.ts";
export {
  areContrary,
  compareFailure,
  contrary,
  createOpposedSearch,
  extractGist,
  failedProgram,
  foresees,
  isSameLesson,
  lessonCues,
  type Question,
  questionCues,
  type UpcomingCall,
} from "./similarity.ts";
export {
  applyDecay,
  explainDoubt,
  explainHeldBack,
  importPrefix,
  isHeldBack,
  isSharedLesson,
  isUnconfirmed,
  isWorthShowing,
  type LessonMove,
  rateCure,
  readCureConfidence,
  readShownConfidence,
  sharedLessonId,
} from "./state.ts";
export { classifyDomain, domains } from "./topic.ts";
