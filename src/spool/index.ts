export { noteRequest, type Offer, openRequests, readOffer, writeOffer } from "./offers.ts";
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
export { readVerdict, type TurnVerdict, writeVerdict } from "./verdicts.ts";
