export type { Gist, Learning, WordSearch } from "./learning.ts";
export type { ChainFault, LedgerInspection } from "./ledger.ts";
export { keepInMemory } from "./memory.ts";
export { type PostgresAddress, parseAddress, readAddressFile } from "./postgres/address.ts";
export { openPostgres } from "./postgres/store.ts";
export {
  type ArrivedEntry,
  computeEntryId,
  openTeamDatabase,
  type SignedEntry,
  type TeamDatabase,
  type TeamMember,
} from "./postgres/team.ts";
export type { TeamRole } from "./postgres/team-schema.ts";
export { describeBefore, openCopy, openScratch, openSqlite, readLedger } from "./sqlite.ts";
export { type BackgroundWork, createBackgroundWork, isClaimed, type Store } from "./store.ts";
