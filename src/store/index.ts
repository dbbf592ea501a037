export type { Gist, Learning, WordSearch } from "./learning.ts";
export type { ChainFault, LedgerInspection } from "./ledger.ts";
export { keepInMemory, rememberReads } from "./memory.ts";
export { type PostgresAddress, parseAddress, readAddressFile } from "./postgres/address.ts";
export {
  type ArrivedEntry,
  computeEntryId,
  type EntryQuery,
  type SignedDigest,
  type SignedEntry,
  type TeamMember,
  type TeamRole,
} from "./postgres/entry.ts";
export type { HeldJob, JobKind, JobQueue } from "./postgres/queue.ts";
export type { TeamDatabase } from "./postgres/team.ts";
export { openPostgres, openQueue, openTeamDatabase } from "./remote.ts";
export { describeBefore, openCopy, openScratch, openSqlite, readLedger } from "./sqlite.ts";
export { type BackgroundWork, createBackgroundWork, isClaimed, type Store } from "./store.ts";
