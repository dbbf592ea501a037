import type { EntryOf, LedgerEntry } from "../records/index.ts";
import type { Store } from "../store/index.ts";

/** What calls of models cost in the last 24 hours. */
export interface Spend {
  readonly calls: number;
  readonly failed: number;
  readonly usd: number;
}

/** What may be spent. */
export interface ModelLimits {
  readonly usdPerDay: number;
  readonly usdPerCall: number;
}

/** What all calls for one purpose may cost together since it began, and the setting that says so. */
export interface PurposeBudget {
  readonly purpose: string;
  readonly usd: number;
  readonly since: number;
  readonly setting: string;
}

/** What models cost in the last day, and whether one may be asked now. */
export interface ModelUse {
  readonly spent: Spend;
  /** The part of it that was recorded by a clock more than a day ahead: it counts until that time has come. */
  readonly spentAhead: number;
  /** Until when no model is asked, after repeated failures; null when one may be asked. */
  readonly openUntil: number | null;
  readonly lastFailure: { readonly at: number; readonly because: string } | null;
}

export const dayMs = 86_400_000;
/** What an agent's program may cost beyond the estimate: it adds words, thoughts and turns of its own. */
export const agentExtraUsd = 0.15;
/** Calls in a day, whatever they cost: models without a price are bounded too. */
const callsPerDay = 200;
const failuresToOpenBreaker = 5;
const breakerMs = 60 * 60_000;

/** Calls on the ledger since a time. A call may be there twice: before it was made, and after. */
export async function readModelCalls(
  { ledger }: Pick<Store, "ledger">,
  since: number,
): Promise<EntryOf<"model.asked" | "model.called">[]> {
  return [...(await ledger.since("model.asked", since)), ...(await ledger.since("model.called", since))];
}

export async function readModelUse(store: Pick<Store, "ledger">, now: number): Promise<ModelUse> {
  const entries = await readModelCalls(store, now - dayMs);
  const failure = entries.findLast((entry) => entry.type === "model.called" && !entry.data.ok);
  return {
    spent: sumSince(entries, now - dayMs),
    spentAhead: sumSince(entries, now + dayMs).usd,
    openUntil: findBreakerEnd(entries, now),
    lastFailure:
      failure?.type === "model.called" ? { at: failure.at ?? 0, because: failure.data.because ?? "" } : null,
  };
}

/** What was spent for one purpose, whatever the clock said then. */
export function sumForPurpose(entries: readonly LedgerEntry[], purpose: string): Spend {
  const own = entries.filter(
    (entry) =>
      (entry.type === "model.asked" || entry.type === "model.called") && entry.data.purpose === purpose,
  );
  return sumSince(own, Number.NEGATIVE_INFINITY);
}

/** A call whose end is unknown counts with the most it could cost. */
function sumSince(entries: readonly LedgerEntry[], since: number): Spend {
  const costs = new Map<string, number>();
  let failed = 0;
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

function findBreakerEnd(entries: readonly LedgerEntry[], now: number): number | null {
  const called = entries
    .flatMap((entry) => (entry.type === "model.called" ? [entry] : []))
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || (a.key < b.key ? -1 : 1));
  return breakUntil(
    called.map(({ at, data }) => ({ at: at ?? 0, ok: data.ok })),
    now,
  );
}

/** Until when nothing is tried after five failures in a row, given in order; null while something may be tried. */
export function breakUntil(
  tries: readonly { readonly at: number; readonly ok: boolean }[],
  now: number,
): number | null {
  // An entry from further ahead (a wrong clock) would keep the breaker open until that time.
  const known = tries.filter(({ at }) => at <= now + breakerMs);
  const failures = known.slice(known.findLastIndex(({ ok }) => ok) + 1);
  if (failures.length < failuresToOpenBreaker) return null;
  // After the pause there is one try; if it fails too, the pause begins again.
  const until = Math.min(now, failures.at(-1)?.at ?? 0) + breakerMs;
  return until > now ? until : null;
}

/** What may be set aside for a call that is estimated to cost so much; or why it is not made. */
export function decideBudget(
  entries: readonly LedgerEntry[],
  now: number,
  call: { readonly estimate: number; readonly isAgent: boolean; readonly together?: PurposeBudget },
  limits: ModelLimits,
): { readonly usdAtMost: number } | { readonly hold: string } {
  const { estimate, isAgent, together } = call;
  const until = findBreakerEnd(entries, now);
  if (until !== null)
    return {
      hold: `the model failed ${failuresToOpenBreaker} times in a row; next try in ${Math.ceil((until - now) / 60_000)} min`,
    };
  const cost = `a call could cost ${formatUsd(estimate)}`;
  if (estimate > limits.usdPerCall)
    return { hold: `${cost}, more than ${formatUsd(limits.usdPerCall)} (model.budgetCall)` };
  const own = together ? sumForPurpose(entries, together.purpose).usd : 0;
  if (together && own + estimate > together.usd)
    return {
      hold: `${formatUsd(own)} of ${formatUsd(together.usd)} are spent (${together.setting}), and ${cost}`,
    };
  const { calls, usd } = sumSince(entries, now - dayMs);
  if (calls >= callsPerDay) return { hold: `${calls} calls of models in the last day` };
  if (usd + estimate > limits.usdPerDay) {
    const ahead = sumSince(entries, now + dayMs).usd;
    return { hold: `${describeDaySpend(usd, ahead, limits.usdPerDay)}, and ${cost}` };
  }
  if (!isAgent) return { usdAtMost: estimate };
  const day = limits.usdPerDay - usd;
  const left = Math.min(
    estimate + agentExtraUsd,
    limits.usdPerCall,
    together ? together.usd - own : day,
    day,
  );
  return { usdAtMost: Math.max(estimate, left) };
}

export function describeDaySpend(usd: number, ahead: number, usdPerDay: number): string {
  const why = ahead > 0 ? `, ${formatUsd(ahead)} of it dated days ahead` : "";
  return `${formatUsd(usd)} of ${formatUsd(usdPerDay)} for a day are spent (model.budgetDay)${why}`;
}

export function formatUsd(amount: number): string {
  return `${amount.toFixed(amount > 0 && amount < 0.1 ? 3 : 2)} USD`;
}
