import { idOf } from "../core/ids.ts";
import { type Instinct, waitedInVain } from "../core/instinct.ts";
import type { Actor, LedgerEntry } from "../core/ledger.ts";
import { policy as defaults } from "../core/policy.ts";
import { decided } from "./keep.ts";
import { note } from "./note.ts";
import type { Clock, Store } from "./ports.ts";

export interface PruneDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** Instincts that nothing came of within so many days. */
export async function prunable({ store, clock }: PruneDeps, days: number): Promise<Instinct[]> {
  return waitedInVain(await store.learning.instincts.list(), clock.now(), days);
}

/** Retires them; new evidence, or a person, brings each back. Answers with those that it retired. */
export async function prune(
  deps: PruneDeps,
  { days = defaults.learn.pendingDays, actor }: { readonly days?: number; readonly actor: Actor },
): Promise<Instinct[]> {
  const { store, clock } = deps;
  return store.transaction(async (tx) => {
    const old = await prunable({ store: tx, clock }, days);
    if (old.length === 0) return [];
    const instincts = old.map(({ id }) => id).sort();
    const entry: LedgerEntry = {
      at: clock.now(),
      project: null,
      session: null,
      actor,
      type: "instinct.retired",
      key: `retired:${idOf("", instincts.join(" "))}:${clock.now()}`,
      data: { instincts, days },
    };
    await note(tx, [entry]);
    return old;
  });
}

/** Brings back what was retired in the latest go, and answers with it. */
export async function unprune({ store, clock }: PruneDeps): Promise<Instinct[]> {
  return store.transaction(async (tx) => {
    const latest = (await tx.ledger.since("instinct.retired", 0)).findLast(
      ({ data }) => data.instincts.length > 0,
    );
    const named = await tx.learning.findings.instinctsOf(latest?.data.instincts ?? []);
    const all = await tx.learning.instincts.get([...new Set(named.values())]);
    const retired = all.filter(({ standing }) => standing.status === "retired");
    await note(
      tx,
      retired.map(({ id }) => decided(id, "unskipped", clock.now())),
    );
    return retired;
  });
}
