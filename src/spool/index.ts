export {
  loadChildProcess,
  makeFileName,
  type Note,
  readWorkerState,
  type WorkerSign,
  wakeWorker,
  workerStateFile,
  writeNote,
} from "./spool.ts";
