import { type Moment, momentsOf } from "../core/backtest.ts";
import { findingsIn } from "../core/detect/index.ts";
import { sceneOf } from "../core/detect/scene.ts";
import type { Event } from "../core/event.ts";
import { compare } from "../core/order.ts";
import { policy as defaults, type Policy } from "../core/policy.ts";
import { homeIn } from "../core/recall.ts";
import { readCalls } from "../core/recovery.ts";
import { usesOf } from "../core/use.ts";
import { foundEntry, type IngestDeps } from "./ingest.ts";
import { eventsOf, type SessionView } from "./inspect.ts";
import { entriesOf, purgedOf, readAgain, withoutOtherAgents } from "./learn.ts";
import type { Store } from "./ports.ts";
import { type Account, type Hit, type Lived, type Repeat, Replay, type Wrong } from "./replay.ts";

/** What a history would have gained, had what it teaches been known at each point of it. */
export interface Backtest {
  readonly sessions: readonly (Readonly<Lived> & { readonly session: SessionView })[];
  /** Failures that had been met and overcome in an earlier session; in a session, each once. */
  readonly repeats: readonly Repeat[];
  /** How often something would have been shown. */
  readonly shown: number;
  readonly hits: readonly Hit[];
  readonly wrongs: readonly Wrong[];
  readonly skipped: readonly { readonly what: string; readonly because: string }[];
}

export interface BacktestOptions {
  readonly refuses?: (session: SessionView) => Promise<string | null>;
  readonly onProgress?: (done: number, all: number) => void;
  /** When to stop looking at further sessions, the newest having been looked at first; what was looked at is replayed. */
  readonly until?: () => boolean;
  /** When to stop replaying: sessions that were not come to by then are left out. */
  readonly stop?: () => boolean;
}

/**
 * Replays sessions in the order of time: at each prompt, call and failure only what sessions taught that had ended by
 * then is known. The store has the sessions' events; `scratch` is empty and gets what is learned.
 */
export async function backtest(
  deps: IngestDeps & { readonly scratch: Store },
  sessions: readonly SessionView[],
  {
    refuses = async () => null,
    onProgress = () => {},
    until = () => false,
    stop = () => false,
  }: BacktestOptions = {},
): Promise<Backtest> {
  const { store, scratch, policy = defaults } = deps;
  const skipped: { what: string; because: string }[] = [];
  const accounts: Account[] = [];
  for (const [done, session] of [...sessions].sort(newestFirst).entries()) {
    if (until()) {
      skipped.push({ what: session.path, because: outOfTime });
      continue;
    }
    const because = session.startedAt === null ? "its transcript has no times" : await refuses(session);
    if (because !== null) skipped.push({ what: session.path, because });
    else {
      await readAgain(deps, await purgedOf(store, session));
      accounts.push(accountOf(session, await eventsOf(store, session), policy));
    }
    onProgress(done + 1, sessions.length);
  }
  const replay = new Replay(scratch, policy);
  const begun = new Set<Account>();
  for (const { account, moment, order } of timelineOf(accounts)) {
    if (stop()) break;
    begun.add(account);
    if (moment === null) replay.learn(account);
    else await replay.live(account, moment, order);
  }
  const { tally } = replay;
  for (const account of accounts)
    if (!begun.has(account)) skipped.push({ what: account.session.path, because: outOfTime });
  return { sessions: [...begun].map(({ session, lived }) => ({ session, ...lived })), ...tally, skipped };
}

function accountOf(session: SessionView, all: readonly Event[], policy: Policy): Account {
  const events = withoutOtherAgents(session, all);
  const calls = readCalls();
  const scene = sceneOf(events, calls);
  const heard = session.counts.events >= policy.learn.fewestEvents;
  const findings = heard ? findingsIn(scene) : [];
  const deciding = new Set(findings.map(({ refs }) => refs[0]));
  const startedAt = session.startedAt ?? 0;
  const moments = momentsOf(scene, findings, startedAt);
  const endedAt = all.reduce((last, { at, endedAt: end }) => Math.max(last, at ?? 0, end ?? 0), startedAt);
  const look = { session, mark: "", pass: 1, findings, uses: heard ? usesOf(events, calls) : [] };
  return {
    session,
    home: homeIn(session.cwd ?? session.project.root ?? ""),
    moments,
    keys: new Map(events.flatMap(({ ref, key }) => (deciding.has(ref) ? [[ref, key] as const] : []))),
    entries: [foundEntry(session), ...entriesOf(look, endedAt, [])],
    endedAt,
    teaches: heard,
    lived: { prompts: 0, failures: 0, correctionsRepeated: 0 },
  };
}

interface Point {
  readonly account: Account;
  readonly at: number;
  /** Null for the end of the session, when it has taught what it teaches. */
  readonly moment: Moment | null;
  /** Its number in the session. */
  readonly order: number;
}

function newestFirst(a: SessionView, b: SessionView): number {
  return (b.startedAt ?? 0) - (a.startedAt ?? 0) || compare(a.id, b.id);
}

/** Why a session was left out when there was no time for more. */
export const outOfTime = "there was no time for it";

/** Everything that happened, in the order of time; what a session teaches comes after all else of that time. */
function timelineOf(accounts: readonly Account[]): Point[] {
  const points = accounts.flatMap((account): Point[] => [
    ...account.moments.map((moment, order) => ({ account, at: moment.at, moment, order })),
    { account, at: account.endedAt, moment: null, order: Number.POSITIVE_INFINITY },
  ]);
  return points.sort(
    (a, b) =>
      a.at - b.at ||
      Number(a.moment === null) - Number(b.moment === null) ||
      compare(a.account.session.id, b.account.session.id) ||
      a.order - b.order,
  );
}
