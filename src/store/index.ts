export { type BackgroundWork, createBackgroundWork, isClaimed } from "./leases.ts";
export { type Gist, type Learning, promotedScopeId, type Store, type WordSearch } from "./port.ts";
export { openCopy, openScratch, openSqlite, readLedger } from "./sqlite.ts";
