export type { AuthorWord } from "./consent.ts";
export { openTeam } from "./open-team.ts";
export { openTeamWork } from "./open-work.ts";
export type { TeamReport } from "./proof.ts";
export type { ReceivedShare } from "./received.ts";
export type { TeamSync } from "./sync.ts";
export type { TeamLibrary } from "./work.ts";
