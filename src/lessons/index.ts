export { type Credit, foldCredits, foldVerdicts, type Naming, ratedItemId } from "./credit.ts";
export {
  failedProgram,
  foresees,
  isGeneral,
  lessonCues,
  type Question,
  questionCues,
  type UpcomingCall,
} from "./cues.ts";
export {
  decisionEntry,
  type LessonEvidence,
  loadEvidence,
  loadFindings,
  prunable,
  prune,
  unprune,
} from "./decisions.ts";
export { classifyDomain, type Domain, domains } from "./domain.ts";
export {
  applyEntries,
  findSimilarFindings,
  foldImports,
  type Import,
  recordEntries,
  refoldLedger,
} from "./fold.ts";
export {
  demoteByHand,
  findPromotable,
  promoteByHand,
  promoteDue,
  type SharedLesson,
  sharedBy,
  sharedLessons,
} from "./promote.ts";
export { areContrary, contrary, extractGist, isSameLesson } from "./similarity.ts";
export {
  applyDecay,
  classifyBand,
  isSharedLesson,
  isUnconfirmed,
  isWorthShowing,
  lessonScopeId,
  rankSuggestions,
  sharedLessonId,
} from "./state.ts";
