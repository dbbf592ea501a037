export type { Gist, Learning, WordSearch } from "./learning.ts";
export type { ChainFault, LedgerInspection } from "./ledger.ts";
export { keepInMemory } from "./memory.ts";
export { describeBefore, openCopy, openScratch, openSqlite, readLedger } from "./sqlite.ts";
export { type BackgroundWork, createBackgroundWork, isClaimed, type Store } from "./store.ts";
