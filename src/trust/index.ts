export { maskStart } from "./assignments.ts";
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
export { leastTrusted, type OriginFacts, readProvenance } from "./provenance.ts";
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
  type Concern,
  type ConcernCode,
  isDoubt,
  isSafePath,
  maxBodyChars,
  mayBeWritten,
  mostScanned,
  scan,
  scanSince,
} from "./scan.ts";
export { findDoubt } from "./taint.ts";
export { createThreadRedactor } from "./thread.ts";
export {
  describeDoubt,
  findWrittenDoubt,
  listPrograms,
  type WritingFacts,
  type WrittenText,
} from "./written.ts";
