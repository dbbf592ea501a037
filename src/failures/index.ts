export { saysNothing } from "./call-error.ts";
export { type Chronic, findChronic, isOver, isSameTrouble, listTroubles } from "./chronic.ts";
export { findFileNames, isOwnCall, parseCommand } from "./command.ts";
export { classifyRun, writeTemplate } from "./command-form.ts";
export { causeGroups } from "./error-line.ts";
export { complains } from "./error-text.ts";
export { findShellComplaint, readExit } from "./exit.ts";
export { readOutcome } from "./outcome.ts";
export { findDropped, isProved, whiteSpace } from "./proof.ts";
export { CallReader, callText, findPath, isEdit, Recovery, repairs } from "./recovery.ts";
export { isLayoutRule, isRule } from "./rules.ts";
export { Run } from "./run.ts";
export { findQuirk } from "./shell-quirks.ts";
export {
  areOppositeFixes,
  compareSymptoms,
  fileFamily,
  findLeftOut,
  generalizeError,
  isSameFix,
  listTellingWords,
  readQuotedError,
  readSymptom,
} from "./symptom.ts";
