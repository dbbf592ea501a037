import type { PostgresAddress } from "./postgres/address.ts";
import type * as server from "./postgres/server.ts";
import type { TeamDatabase } from "./postgres/team.ts";
import type { Store } from "./store.ts";

/** What speaks to PostgreSQL is loaded when it is asked for: no other command should wait for it. */
const load = (): Promise<typeof server> => import("./postgres/server.ts");

/** Opens a store in a PostgreSQL database, and makes it if there is none. */
export async function openPostgres(...how: Parameters<typeof server.openPostgres>): Promise<Store> {
  return (await load()).openPostgres(...how);
}

/** Connects to a team's database, and brings its tables to this release's where the login owns them. */
export async function openTeamDatabase(address: PostgresAddress): Promise<TeamDatabase> {
  return (await load()).openTeamDatabase(address);
}

/** Opens the queue of a team's jobs. */
export async function openQueue(
  ...how: Parameters<typeof server.openQueue>
): ReturnType<typeof server.openQueue> {
  return (await load()).openQueue(...how);
}
