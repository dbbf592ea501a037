export { openTeam } from "./open-team.ts";
export { openTeamWork } from "./open-work.ts";
export { describeShare, type ReceivedShare } from "./received.ts";
export type { TeamLibrary } from "./work.ts";
