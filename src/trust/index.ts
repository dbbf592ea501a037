export { maskStart } from "./assignments.ts";
export type { Concern, ConcernCode } from "./concern.ts";
export { type Danger, type DangerKind, findDanger } from "./danger.ts";
export {
  cutToFit,
  type FenceFrame,
  fence,
  fencedSize,
  fitOneLine,
  separatorChars,
  takeFitting,
  withoutHome,
} from "./fence.ts";
export { findSecrets, redact, redactNamed } from "./redact.ts";
export {
  createRedactor,
  type Redactor,
  scrubAll,
  scrubEvents,
  scrubJson,
  shortScrubber,
} from "./redactor.ts";
export {
  isSafePath,
  maxBodyChars,
  mayBeWritten,
  mostScanned,
  needsPerson,
  scan,
  scanFiles,
  scanSince,
} from "./scan.ts";
export { createThreadRedactor } from "./thread.ts";
