export { findFileNames, isOwnCall, parseCommand } from "./command.ts";
export { classifyRun, writeTemplate } from "./command-form.ts";

export { causeGroups } from "./error-line.ts";
export { complains, readOutcome } from "./outcome.ts";

export { CallReader, callText, isEdit, Recovery } from "./recovery.ts";
export { Run } from "./run.ts";
export {
  compareSymptoms,
  fileFamily,
  findLeftOut,
  generalizeError,
  isSameFix,
  readQuotedError,
  readSymptom,
} from "./symptom.ts";
