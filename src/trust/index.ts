export { findForeignBranches, findMergedBranches } from "./branch.ts";
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
export { findUngrounded } from "./grounds/grounds.ts";
export { SessionSecrets } from "./known.ts";
export { ownWords } from "./own-words.ts";
export { dropPrivate } from "./private.ts";
export { isFromOutside, isNativeTool } from "./provenance.ts";
export { quoteError } from "./quote.ts";
export { findSecrets, redact, redactPrompt } from "./redact.ts";
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
export type { Concern, ConcernCode } from "./scan/concern.ts";
export {
  isSafePath,
  maxBodyChars,
  mayBeWritten,
  mostScanned,
  needsPerson,
  scan,
  scanFiles,
  scanSince,
} from "./scan/scan.ts";
export { findDoubt, listTracedWords } from "./taint.ts";
export { mayHoldSecret } from "./telling.ts";
export { createThreadRedactor } from "./thread.ts";
export { maskLikely, maskStart } from "./values.ts";
export {
  describeDoubt,
  findWrittenDoubt,
  listPrograms,
  type WrittenText,
} from "./written.ts";
