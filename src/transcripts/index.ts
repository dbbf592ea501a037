export { findCheckout } from "./checkout.ts";
export { createTranscripts, type FoundFile } from "./files.ts";
export { openForeignDatabase } from "./foreign-database.ts";
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
export { openSessions } from "./open-sessions.ts";
export { readFailedCall } from "./readers/hook.ts";
export { formats } from "./readers/readers.ts";
export { findDrift, findUnreadableRows, rebuild } from "./rebuild.ts";
export { type Recorder, type RecorderOptions, recordPath } from "./recorder.ts";
export { groupRecordings, readEvents, readEventsByRef, type SessionView, viewSessions } from "./sessions.ts";
