export type { CatalogReading, FindRoots, ItemRoot } from "./catalog/catalog.ts";
export { openStock, type Stock } from "./catalog/stock.ts";
export type { Evolution, EvolutionResult } from "./evolve/evolve.ts";
export { type ImportItem, type ImportVerdict, listed, type NamedFile } from "./exchange/exchange.ts";
export { importKind } from "./exchange/import-facts.ts";
export {
  type AgentFolders,
  createLibrary,
  type Library,
  type PackageFile,
  type RulesFile,
  type SkillFolder,
  type SkillPackage,
  type TextRead,
} from "./files/library.ts";
export { type GapStatus, gapThresholds } from "./gaps/gap.ts";
export { type GapView, rejectedForGood } from "./gaps/list-gaps.ts";
export { checks } from "./gaps/task.ts";
export { foldPins } from "./lifecycle/archive.ts";
export type { Curation, PlannedProposal } from "./lifecycle/curate.ts";
export { maintain } from "./lifecycle/maintain.ts";
export { curationLimits } from "./lifecycle/proposals.ts";
export { createPublishDeps, openLibrary } from "./open-library.ts";
export { findWritingEnd, isWritten, listWritings, type SkillWriting } from "./origins.ts";
export { examinePackage, packageLimits, packageOwner, packageText, type SubmittedFiles } from "./package.ts";
export {
  basename,
  type ChangeHistory,
  diffPackage,
  dirname,
  encodeText,
  mainText,
  nullIfDamaged,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  projectMissing,
  readHistory,
} from "./publish/changes.ts";
export { renderRule } from "./publish/lesson-text.ts";
export { listSkills } from "./publish/plan.ts";
export {
  findDuplicate,
  findSkillFolder,
  isSamePackage,
  type PackageToPublish,
  planPackage,
  stampPackage,
} from "./publish/plan-package.ts";
export {
  type ChangeOutcome,
  findMissingFolder,
  type PublishResult,
  publishPlan,
  removeEmptyFolders,
  repairChanges,
} from "./publish/publish.ts";
export { diffEdit, listPublishedSkills, type PublishedItem } from "./publish/published.ts";
export { maxDescriptionChars } from "./publish/render.ts";
export {
  findProposalOutcome,
  makeProposal,
  mayPublishUnasked,
  planReviewProposal,
  projectRoot,
  type ReviewContext,
  whyNotEditable,
} from "./publish/review-proposal.ts";
export { measureSkillSimilarity } from "./publish/similarity.ts";
export type { LeftOut, Suggestion } from "./publish/suggest.ts";
export { undoDecisions } from "./publish/undo.ts";
export { isSkillName, parseSkill, skillFile, skillNameForm, skillOwner, validateSkill } from "./skill.ts";
