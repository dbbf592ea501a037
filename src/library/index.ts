export type { CatalogReading, FindRoots } from "./catalog/catalog.ts";
export { findItems } from "./catalog/find-items.ts";
export type { ItemRoot } from "./catalog/read-files.ts";
export { openStock, type Stock } from "./catalog/stock.ts";
export { importKind, sharedImportId } from "./exchange/exchange.ts";
export {
  createLibrary,
  type Library,
  type PackageFile,
  type SkillFolder,
  type SkillPackage,
} from "./files/packages.ts";
export { type GapView, gapThresholds, rejectedForGood } from "./gaps/gap.ts";
export { foldPins } from "./lifecycle/archive.ts";
export { maintain } from "./lifecycle/maintain.ts";
export { curationLimits } from "./lifecycle/proposals.ts";
export { createPublishDeps, openLibrary } from "./open-library.ts";
export { findWritingEnd, isWritten, listWritings, type SkillWriting } from "./origins.ts";
export { packageLimits, packageText, type SubmittedFiles } from "./package.ts";
export { type ChangeOutcome, type PublishResult, publishPlan, repairChanges } from "./publish/apply.ts";
export {
  type AgentFolders,
  type ChangeHistory,
  changedFile,
  describeRefusal,
  diffPackage,
  encodeText,
  isNews,
  mainText,
  nullIfDamaged,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planChange,
  projectMissing,
  type RulesFile,
  readFiles,
  readHistory,
  toPageContent,
} from "./publish/changes.ts";
export { findHold, type WrittenPackage } from "./publish/hold.ts";
export {
  countShelf,
  type LeftOut,
  listPublished,
  type PublishedItem,
  type Suggestion,
} from "./publish/lessons.ts";
export { findSkillFolder, openPackages, type PackageToPublish } from "./publish/plan-package.ts";
export { maxDescriptionChars, renderRule } from "./publish/render.ts";
export {
  isSkillName,
  measureSkillSimilarity,
  parseSkill,
  prefixName,
  skillFile,
  skillNameForm,
  skillOwner,
} from "./skill.ts";
