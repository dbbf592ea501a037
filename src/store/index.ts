export type { Gist, Learning, WordSearch } from "./learning.ts";
export { keepInMemory } from "./memory.ts";
export { openCopy, openScratch, openSqlite, readLedger } from "./sqlite.ts";
export { type BackgroundWork, createBackgroundWork, isClaimed, type Store } from "./store.ts";
