import { homeOf } from "../config.ts";
import { type ModelLimits, openUntil, type Spend, spendOf } from "../core/budget.ts";
import type { Judged } from "../core/judgement.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import type { ObserverName } from "../core/observer.ts";
import { policy } from "../core/policy.ts";
import type { Environment } from "./home.ts";
import { type Chosen, chosenOn, type Observation } from "./observing.ts";
import type { Parts } from "./parts.ts";

/** Who looks at sessions, what they thought, and what models cost. */
export interface ModelVerbs extends Pick<Observation, "requestsWritten"> {
  /** Who looks at sessions, and what models cost. */
  model(): Promise<ModelState>;
  /** US dollars that models cost since a time. */
  modelUsd(since: number): Promise<number>;
  /** What models thought of sessions, each session's latest word, the latest first. */
  judged(): Promise<(Judged & { readonly session: string })[]>;
}

/** Who looks at sessions, and what asking a model came to. */
export interface ModelState {
  readonly observer: ObserverName;
  readonly model: string;
  /** Where requests go. */
  readonly to: string;
  /** Why none can be asked; null when one can. */
  readonly unset: string | null;
  /** In the last day. */
  readonly spent: Spend;
  readonly budget: Pick<ModelLimits, "usdPerDay" | "usdPerCall">;
  /** Until when none is asked, after failures. */
  readonly openUntil: number | null;
  /** The latest call that failed, in the last day. */
  readonly failure: { readonly at: number; readonly because: string } | null;
}

export function modelVerbs({ store, clock, observing, requestsWritten }: Parts): ModelVerbs {
  return {
    model: async () => {
      const now = clock.now();
      const since = now - policy.model.dayMs;
      const chosen = observing();
      const called = await store.ledger.since("model.called", since);
      const entries: LedgerEntry[] = [...(await store.ledger.since("model.asked", since)), ...called];
      const failure = called.findLast(({ data }) => !data.ok);
      return {
        ...unasked(chosen),
        spent: spendOf(entries, now),
        openUntil: openUntil(entries, now),
        failure: failure ? { at: failure.at ?? 0, because: failure.data.because ?? "" } : null,
      };
    },
    requestsWritten,
    modelUsd: async (since) =>
      (await store.ledger.since("model.called", since)).reduce((sum, { data }) => sum + data.usd, 0),
    judged: async () => {
      const entries = await store.ledger.since("session.judged", 0);
      const latest = new Map(entries.map(({ session, data }) => [session ?? "", data]));
      return [...latest].map(([session, data]) => ({ ...data, session })).reverse();
    },
  };
}

/** Who looks at sessions where nothing was opened, and so no model was asked. */
export function modelUnasked(env: Environment): ModelState {
  return unasked(chosenOn(homeOf(env), env, null));
}

function unasked({ name, model, settings }: Chosen): ModelState {
  return {
    observer: name,
    model: model.name,
    to: model.to,
    unset: model.unset,
    spent: { calls: 0, failed: 0, usd: 0 },
    budget: { usdPerDay: settings["model.budgetDay"], usdPerCall: settings["model.budgetCall"] },
    openUntil: null,
    failure: null,
  };
}
