import { recordEntries } from "../lessons/index.ts";
import type { EntryOf } from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { decideBudget, type ModelLimits } from "./budget.ts";

/** For whom a model is asked. */
export interface AskedFor {
  readonly project: string | null;
  readonly session: string | null;
}

interface Spender {
  readonly store: Store;
  readonly clock: { now(): number };
  readonly limits: ModelLimits;
}

type BudgetRequest = Parameters<typeof decideBudget>[2];
export type SharedBudget = NonNullable<BudgetRequest["together"]>;

type CallName = Pick<EntryOf<"model.asked">["data"], "call" | "model" | "purpose">;
export type CallEnd = Omit<EntryOf<"model.called">["data"], keyof CallName>;

/** Records what a call may cost at most, if that much is left; or says why it is not made. */
export function reserveSpend(
  { store, limits }: Pick<Spender, "store" | "limits">,
  { call, at, ...wanted }: BudgetRequest & { readonly call: CallName; readonly at: number },
  who: AskedFor,
): Promise<{ readonly usdAtMost: number } | { readonly hold: string }> {
  const setAside = async (tx: Store) => {
    const decided = await decideBudget(tx, at, wanted, limits);
    if ("hold" in decided) return decided;
    const data = { ...call, usdAtMost: decided.usdAtMost };
    const key = `asked:${call.call}`;
    const added = await recordEntries(tx, [{ ...who, actor: "knack", at, type: "model.asked", key, data }]);
    return added.length === 0 ? { hold: "another process is asking the same" } : decided;
  };
  // Money is on the disk before it is spent.
  return store.transaction(setAside, { durable: true });
}

/** Records what a call did cost. */
export async function recordSpend(
  { store, clock }: Pick<Spender, "store" | "clock">,
  call: CallName,
  end: CallEnd,
  who: AskedFor,
): Promise<void> {
  // A negative cost reported by a model must not refill a budget.
  const data = { ...call, ...end, usd: Math.max(0, end.usd) };
  const common = { ...who, actor: "knack" as const, at: clock.now() };
  const key = `called:${call.call}`;
  await store.transaction((tx) => recordEntries(tx, [{ ...common, type: "model.called", key, data }]));
}
