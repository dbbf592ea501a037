import { errorMessage, groupBy, KnackError } from "../base/index.ts";
import type { StoredTeamEntry } from "../records/index.ts";
import {
  type EntryQuery,
  openTeamDatabase,
  type PostgresAddress,
  type SignedEntry,
  type TeamDatabase,
} from "../store/index.ts";
import { admitEntries } from "./admit.ts";
import { readDigest, type TeamDigest } from "./digest.ts";
import type { openTeamFolder, TeamState } from "./machine.ts";
import { type TeamDeps, takeShares } from "./received.ts";
import type { MachineKey } from "./signing.ts";
import { listNews, sealAll } from "./spoken.ts";
import { Trust } from "./trust.ts";

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
  const pulled = await pullEntries(deps, state, database, key, until);
  const took = await takeShares(deps, pulled.state, { taken: before.taken, heard: pulled.heard }, until);
  const { received, refused } = pulled;
  const { offered, accepted, withdrawn } = took;
  let { more } = pulled;
  state = { ...pulled.state, left: took.left, taken: took.taken };
  // A reader only reads.
  const mayWrite = state.members.some(({ id, role }) => id === state.self && role !== "reader");
  const news = mayWrite ? await listNews(deps, state, key) : [];
  await store.transaction(async (tx) =>
    tx.team.append(
      (await sealAll({ store: tx }, news, state, key)).map((entry) => ({ ...entry, recordedAt: null })),
    ),
  );
  const sent = mayWrite ? await pushEntries(deps, database, key, until) : 0;
  if (sent > 0) {
    // The database's own times of what was just sent, and what others said meanwhile.
    const back = await pullEntries(deps, state, database, key, until);
    const heard = { taken: took.taken, heard: back.heard };
    const { left, taken } = await takeShares(deps, back.state, heard, until);
    state = { ...back.state, left, taken };
    more ||= back.more;
  }
  folder.writeState({ ...state, syncedAt: clock.now(), failed: null });
  return { ...{ busy: false, sent, received, refused }, ...{ offered, accepted, withdrawn, more } };
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

/** One stream of entries to be read: how far it was, how to keep how far it is by now, and which entries are in it. */
interface Stream extends Pick<EntryQuery, "after" | "repositories" | "withoutCounts"> {
  keep(state: TeamState, cursor: number): TeamState;
  /** How far it reaches at least once nothing is left to read. */
  readonly end: number;
}

/**
 * What is to be read: what is said about the repositories of this machine and about none, each from where it was last
 * read. Where the team has workers that sum up what machines count, the counts are left out.
 */
async function listStreams(
  { store }: SyncDeps,
  { team, cursors }: TeamState,
  database: TeamDatabase,
  { machine }: MachineKey,
): Promise<Stream[]> {
  const withoutCounts = await database.isSummed(team);
  const head = await database.readHead(team);
  // What this machine says itself comes back with the time at which it arrived.
  const said = (await store.team.unsent(machine)).flatMap(({ repository }) => repository ?? []);
  const known = new Set(["", ...(await store.projects.list()).map(({ id }) => id), ...said]);
  return [...groupBy(known, (repository) => cursors[repository] ?? 0)].map(([after, own]) => ({
    ...{ after, withoutCounts, repositories: own.filter((repository) => repository !== "") },
    // Entries up to the head were there when reading began, so that all repositories go on together from there.
    end: head,
    keep: (state, reached) => {
      const reads = Object.fromEntries(own.map((repository) => [repository, reached]));
      return { ...state, cursors: { ...state.cursors, ...reads } };
    },
  }));
}

async function pullEntries(
  deps: SyncDeps,
  before: TeamState,
  database: TeamDatabase,
  key: MachineKey,
  until: () => boolean,
) {
  const { store, folder } = deps;
  let state = before;
  let [received, refused, more] = [0, 0, false];
  const heard = new Set<string>();
  const trust = new Trust(state.trust);
  const sizes = await store.team.sizes();
  for (const { keep, end, ...stream } of await listStreams(deps, state, database, key)) {
    for (let { after } = stream; ; ) {
      more ||= until();
      if (more) break;
      const { entries, cursor } = await database.read(state.team, { ...stream, after, most: atOnce });
      if (entries.length === 0) {
        state = keep(state, Math.max(after, end));
        break;
      }
      const admission = admitEntries(entries, { team: state.team, trust, sizes });
      await store.team.append(admission.admitted);
      received += admission.admitted.length;
      for (const { subject } of admission.admitted) heard.add(subject);
      refused += admission.refused.length;
      state = {
        ...state,
        trust: trust.state,
        ...(admission.admitted.length > 0 ? { taken: "" } : {}),
        refused: countRefused(state.refused, admission.refused),
      };
      after = cursor;
      state = keep(state, cursor);
      // With each page: what was read is not read again, however this ends.
      folder.writeState(state);
    }
  }
  return { state: await pullDigests(deps, state, database), heard, received, refused, more };
}

/** Fetches what the team's workers computed anew for the repositories of this machine. */
async function pullDigests(
  { store, folder }: SyncDeps,
  state: TeamState,
  database: TeamDatabase,
): Promise<TeamState> {
  const repositories = (await store.projects.list()).map(({ id }) => id);
  const digests = await database.digests(state.team, { since: state.digestsAt, repositories });
  if (digests.length === 0) return state;
  const name = ({ repository, kind }: TeamDigest) => `${repository ?? ""} ${kind}`;
  const known = new Map(folder.readDigests().map((digest) => [name(digest), digest]));
  for (const signed of digests) {
    const digest = readDigest(signed, state);
    if (digest !== null) known.set(name(digest), digest);
  }
  folder.writeDigests([...known.values()]);
  return { ...state, digestsAt: Math.max(...digests.map(({ madeAt }) => madeAt)) };
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
