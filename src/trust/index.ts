export {
  cutToFit,
  cutWithoutHome,
  type FenceFrame,
  fence,
  fencedSize,
  fitOneLine,
  separatorChars,
  takeFitting,
  withoutHome,
} from "./fence.ts";
export { findSecrets, redact, redactNamed } from "./redact/redact.ts";
export { maskStart } from "./redact/span.ts";
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
export { scrubAll, scrubEvents, scrubJson, shortScrubber } from "./scrub.ts";
export { createRedactor, type Redactor } from "./secretlint.ts";
export { createThreadRedactor } from "./thread.ts";
