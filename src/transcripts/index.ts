export { findCheckout } from "./checkout.ts";
export { type FoundFile, Transcripts } from "./files.ts";
export {
  getReadMark,
  type IngestDeps,
  type IngestOptions,
  type IngestProgress,
  ingest,
  isCurrent,
  makeFoundEntry,
  purge,
} from "./ingest.ts";
export { divideSession, isInPart, isLong, namePart } from "./parts.ts";
export { readGeminiOutput } from "./readers/gemini.ts";
export { readFailedCall } from "./readers/hook.ts";
export { formats } from "./readers/readers.ts";
export { recordPath } from "./recorder.ts";
export {
  groupRecordings,
  openSessions,
  readEvents,
  readEventsByRef,
  rebuild,
  type SessionView,
  viewSessions,
} from "./sessions.ts";
export { openForeignDatabase } from "./whole-files.ts";
