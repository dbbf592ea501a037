import { errorMessage, KnackError } from "../base/index.ts";
import type { StoredTeamEntry } from "../records/index.ts";
import {
  openTeamDatabase,
  type PostgresAddress,
  type SignedEntry,
  type TeamDatabase,
} from "../store/index.ts";
import { admitEntries } from "./admit.ts";
import type { openTeamFolder, TeamState } from "./machine.ts";
import { type TeamDeps, takeShares } from "./received.ts";
import type { MachineKey } from "./signing.ts";
import { listNews, sealAll } from "./spoken.ts";

/** Entries that travel at once, either way. */
const atOnce = 500;
/** How long one sync may take before another may begin. */
const longestMs = 10 * 60_000;

interface SyncDeps extends TeamDeps {
  readonly folder: ReturnType<typeof openTeamFolder>;
}

interface SyncOptions {
  readonly address: PostgresAddress;
  /** Whether time is up: what is left follows with the next sync. */
  readonly until?: () => boolean;
}

/** What a sync did. */
export interface TeamSync {
  /** Another process was at it. */
  readonly busy: boolean;
  readonly received: number;
  readonly refused: number;
  readonly sent: number;
  readonly offered: number;
  readonly accepted: number;
  readonly withdrawn: number;
  /** There was no time for the rest. */
  readonly more: boolean;
}

const nothing: TeamSync = {
  ...{ busy: false, received: 0, refused: 0, sent: 0, offered: 0, accepted: 0, withdrawn: 0, more: false },
};

/**
 * Makes this machine's ledger and the team's one: reads what others appended, takes it in, and sends what happened here.
 * It may end anywhere and be repeated: what was read is kept with the cursor, and what was not sent waits.
 */
export async function syncTeam(deps: SyncDeps, state: TeamState, options: SyncOptions): Promise<TeamSync> {
  if (!(await deps.claim("team", deps.clock.now() + longestMs))) return { ...nothing, busy: true };
  try {
    return await withTeamDatabase(options.address, (database) =>
      exchangeEntries(deps, state, database, options),
    );
  } catch (error) {
    const at = deps.clock.now();
    const kept = deps.folder.readState() ?? state;
    deps.folder.writeState({ ...kept, failed: { at, because: errorMessage(error) } });
    throw error;
  } finally {
    await deps.giveBack("team");
  }
}

export async function withTeamDatabase<Result>(
  address: PostgresAddress,
  work: (database: TeamDatabase) => Promise<Result>,
): Promise<Result> {
  const database = await openTeamDatabase(address);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function exchangeEntries(
  deps: SyncDeps,
  before: TeamState,
  database: TeamDatabase,
  { until = () => false }: SyncOptions,
): Promise<TeamSync> {
  const { store, folder, clock } = deps;
  let state = await refreshMembers(before, database);
  const key = folder.key();
  const pulled = await pullEntries(deps, state, database, until);
  state = pulled.state;
  const { left, taken, ...done } = await takeShares(deps, state, until);
  state = { ...state, left, taken };
  const news = await listNews(deps, state, key);
  await store.transaction(async (tx) =>
    tx.team.append(
      (await sealAll({ store: tx }, news, state, key)).map((entry) => ({ ...entry, recordedAt: null })),
    ),
  );
  const sent = await pushEntries(deps, database, key, until);
  // The database's own times of what was just sent.
  const back = sent > 0 ? await pullEntries(deps, state, database, until) : { ...pulled, state };
  folder.writeState({ ...back.state, syncedAt: clock.now(), failed: null });
  return {
    ...{ ...done, busy: false, sent, refused: pulled.refused, more: pulled.more || back.more },
    received: pulled.received,
  };
}

/** Who is in the team by now, if this login still is. */
async function refreshMembers(state: TeamState, database: TeamDatabase): Promise<TeamState> {
  const self = await database.me();
  if (self === null || self.team !== state.team || self.id !== state.self)
    throw new KnackError("TEAM_REFUSED", `Your login is no longer ${state.name}'s.`, {
      hint: "Ask a maintainer for a new invitation, or leave the team: knack team leave",
    });
  const members = await database.members(state.team);
  return {
    ...state,
    members: members.map(({ id, name, role, removedAt }) => ({ id, name, role, removedAt })),
  };
}

async function pullEntries(
  { store, folder }: SyncDeps,
  before: TeamState,
  database: TeamDatabase,
  until: () => boolean,
) {
  let state = before;
  let [received, refused, more] = [0, 0, false];
  const machines = new Map(Object.entries(state.machines));
  const sizes = await store.team.sizes();
  for (;;) {
    if (until()) {
      more = true;
      break;
    }
    const { entries, cursor } = await database.read(state.team, { after: state.cursor, most: atOnce });
    if (entries.length === 0) break;
    const admission = admitEntries(entries, { team: state.team, machines, sizes });
    await store.team.append(admission.admitted);
    received += admission.admitted.length;
    refused += admission.refused.length;
    state = {
      ...state,
      ...{ cursor, machines: Object.fromEntries(machines) },
      ...(admission.admitted.length > 0 ? { taken: "" } : {}),
      refused: countRefused(state.refused, admission.refused),
    };
    // With each page: what was read is not read again, however this ends.
    folder.writeState(state);
  }
  return { state, received, refused, more };
}

function countRefused(
  before: TeamState["refused"],
  refused: ReturnType<typeof admitEntries>["refused"],
): TeamState["refused"] {
  const counts: Record<string, Record<string, number>> = structuredClone(before);
  for (const { author, because } of refused) {
    const own = counts[author] ?? {};
    counts[author] = { ...own, [because]: (own[because] ?? 0) + 1 };
  }
  return counts;
}

/** Sends what was not sent yet, in the order of the chain. */
async function pushEntries(
  { store }: SyncDeps,
  database: TeamDatabase,
  { machine }: MachineKey,
  until: () => boolean,
): Promise<number> {
  const unsent = await store.team.unsent(machine);
  let sent = 0;
  for (let from = 0; from < unsent.length && !until(); from += atOnce) {
    const some = unsent.slice(from, from + atOnce);
    await database.append(some.map(toSigned));
    sent += some.length;
  }
  return sent;
}

/** Exactly what travels of an entry. */
export function toSigned({ id, content, signature }: StoredTeamEntry | SignedEntry): SignedEntry {
  return { id, content, signature };
}
