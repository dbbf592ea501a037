export { type Inbox, openInbox, type TakenNote } from "./inbox.ts";
export { makeFileName, type Note, type TranscriptNote, writeNote } from "./notes.ts";
export {
  loadChildProcess,
  readWorkerState,
  type WorkerSign,
  type WorkerState,
  wakeWorker,
  workerStateFile,
} from "./worker-process.ts";
