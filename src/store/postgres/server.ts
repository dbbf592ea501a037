export { openQueue } from "./queue.ts";
export { openPostgres } from "./store.ts";
export { openTeamDatabase } from "./team.ts";
