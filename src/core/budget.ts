import type { LedgerEntry } from "./ledger.ts";
import { policy as defaults, type Policy } from "./policy.ts";

/** A call of a model that is about to be made, with the most that it may cost. */
export interface ModelAsked {
  readonly call: string;
  readonly model: string;
  readonly purpose: string;
  readonly usdAtMost: number;
}

/** A call of a model that was made. */
export interface ModelCalled {
  readonly call: string;
  readonly model: string;
  readonly purpose: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number;
  /** Whether the cost is reckoned from tokens at a price that Knack assumes, and not what the model says it was. */
  readonly estimated: boolean;
  readonly ms: number;
  readonly ok: boolean;
  /** Why it failed. */
  readonly because: string | null;
}

/** What calls of models came to in a day. */
export interface Spend {
  readonly calls: number;
  readonly failed: number;
  readonly usd: number;
}

/** What may be spent; a person may set other bounds. */
export interface ModelLimits {
  readonly usdPerDay: number;
  readonly usdPerCall: number;
  /** What all calls for one purpose may cost together, when it was begun, and the setting that says so. */
  readonly together?: {
    readonly purpose: string;
    readonly usd: number;
    readonly since: number;
    readonly setting: string;
  };
}

/** What was spent in the day before a time. A call of which nobody knows how it ended cost what it could. */
export function spendOf(entries: readonly LedgerEntry[], now: number, { model }: Policy = defaults): Spend {
  return spendSince(entries, now - model.dayMs);
}

/** What of it a clock noted that was more than a day ahead: it counts until that time has come. */
export function spentAhead(
  entries: readonly LedgerEntry[],
  now: number,
  { model }: Policy = defaults,
): number {
  return spendSince(entries, now + model.dayMs).usd;
}

/** What was spent in a day, in words. */
export function daySpent(usd: number, ahead: number, usdPerDay: number): string {
  const why = ahead > 0 ? `, ${inUsd(ahead)} of it by a clock that was days ahead` : "";
  return `${inUsd(usd)} of ${inUsd(usdPerDay)} for a day are spent (model.budgetDay)${why}`;
}

/** What was spent for one purpose, whatever the clock said then. */
export function spendFor(entries: readonly LedgerEntry[], purpose: string): Spend {
  const isFor = (entry: LedgerEntry) =>
    (entry.type === "model.asked" || entry.type === "model.called") && entry.data.purpose === purpose;
  return spendSince(entries.filter(isFor), Number.NEGATIVE_INFINITY);
}

function spendSince(entries: readonly LedgerEntry[], since: number): Spend {
  const costs = new Map<string, number>();
  let failed = 0;
  // What was noted by a clock that was ahead was spent all the same.
  const recent = entries.filter(({ at }) => (at ?? 0) > since);
  for (const entry of recent)
    if (entry.type === "model.asked") costs.set(entry.data.call, entry.data.usdAtMost);
  for (const entry of recent) {
    if (entry.type !== "model.called") continue;
    costs.set(entry.data.call, entry.data.usd);
    if (!entry.data.ok) failed++;
  }
  return { calls: costs.size, failed, usd: [...costs.values()].reduce((sum, usd) => sum + usd, 0) };
}

/** Whether failures have opened the breaker: until when no model is asked; null while one may be. */
export function openUntil(
  entries: readonly LedgerEntry[],
  now: number,
  policy: Policy = defaults,
): number | null {
  const called = entries
    .flatMap((entry) => (entry.type === "model.called" ? [entry] : []))
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || (a.key < b.key ? -1 : 1));
  return brokenUntil(
    called.map(({ at, data }) => ({ at: at ?? 0, ok: data.ok })),
    now,
    policy,
  );
}

/** Until when nothing is tried after so many tries in a row that failed; null while something may be. They come in their order. */
export function brokenUntil(
  tries: readonly { readonly at: number; readonly ok: boolean }[],
  now: number,
  { model }: Policy = defaults,
): number | null {
  const openMs = model.openMinutes * 60_000;
  // What a clock noted that was further ahead would keep it open until it is caught up with.
  const known = tries.filter(({ at }) => at <= now + openMs);
  const failures = known.slice(known.findLastIndex(({ ok }) => ok) + 1);
  if (failures.length < model.failuresToOpen) return null;
  // One try after the time is over; if it fails too, the time begins anew.
  const until = Math.min(now, failures.at(-1)?.at ?? 0) + openMs;
  return until > now ? until : null;
}

/** Why a model is not asked. */
export interface Hold {
  readonly because:
    | "day-budget-spent"
    | "call-too-dear"
    | "purpose-too-dear"
    | "too-many-calls"
    | "breaker-open";
  readonly message: string;
}

/** Whether a call that costs so much at the most may be made; null when it may. */
export function holdOf(
  entries: readonly LedgerEntry[],
  now: number,
  usdAtMost: number,
  limits: ModelLimits,
  policy: Policy = defaults,
): Hold | null {
  const until = openUntil(entries, now, policy);
  if (until !== null)
    return {
      because: "breaker-open",
      message: `the model failed ${policy.model.failuresToOpen} times in a row; it is asked again in ${Math.ceil((until - now) / 60_000)} min`,
    };
  if (usdAtMost > limits.usdPerCall)
    return {
      because: "call-too-dear",
      message: `a call could cost ${inUsd(usdAtMost)}, more than ${inUsd(limits.usdPerCall)} (model.budgetCall)`,
    };
  const { together } = limits;
  const own = together ? spendFor(entries, together.purpose).usd : 0;
  if (together && own + usdAtMost > together.usd)
    return {
      because: "purpose-too-dear",
      message: `${inUsd(own)} of ${inUsd(together.usd)} are spent for it (${together.setting}), and a call could cost ${inUsd(usdAtMost)}`,
    };
  const { calls, usd } = spendOf(entries, now, policy);
  if (calls >= policy.model.callsPerDay)
    return { because: "too-many-calls", message: `${calls} calls of models in a day` };
  if (usd + usdAtMost > limits.usdPerDay)
    return {
      because: "day-budget-spent",
      message: `${daySpent(usd, spentAhead(entries, now, policy), limits.usdPerDay)}, and a call could cost ${inUsd(usdAtMost)}`,
    };
  return null;
}

/**
 * What is set aside for a call that was reckoned at so much. An agent's program has words, thoughts and turns of its
 * own: it is given more, as far as the call, its purpose and the day allow, and told so.
 */
export function setAsideFor(
  entries: readonly LedgerEntry[],
  now: number,
  { reckoned, isAgent }: { readonly reckoned: number; readonly isAgent: boolean },
  { usdPerCall, usdPerDay, together }: ModelLimits,
  policy: Policy = defaults,
): number {
  if (!isAgent) return reckoned;
  const day = usdPerDay - spendOf(entries, now, policy).usd;
  const purpose = together ? together.usd - spendFor(entries, together.purpose).usd : day;
  return Math.max(reckoned, Math.min(reckoned + policy.model.agentUsd, usdPerCall, purpose, day));
}

/** An amount of money as people write it. */
export function inUsd(amount: number): string {
  return `${amount.toFixed(amount > 0 && amount < 0.1 ? 3 : 2)} USD`;
}
