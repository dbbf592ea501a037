export { maskStart } from "./assignments.ts";
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
export { SessionSecrets } from "./known.ts";
export { findSecrets, redact } from "./redact.ts";
export {
  cleanEvents,
  createRedactor,
  type Redactor,
  redactJson,
  scrubAll,
  scrubEvents,
  scrubJson,
  scrubSessions,
  shortScrubber,
} from "./redactor.ts";
export {
  type Concern,
  type ConcernCode,
  isSafePath,
  maxBodyChars,
  mayBeWritten,
  mostScanned,
  scan,
  scanSince,
} from "./scan.ts";
export { createThreadRedactor } from "./thread.ts";
