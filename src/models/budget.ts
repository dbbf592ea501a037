import type { EntryOf } from "../records/index.ts";
import type { Store } from "../store/index.ts";
import type { ModelRequest } from "./model.ts";

/** The cost of model calls in the last 24 hours. */
interface Spend {
  readonly calls: number;
  readonly failed: number;
  readonly usd: number;
}

/** The limits on spending. */
export interface ModelLimits {
  readonly usdPerDay: number;
  readonly usdPerCall: number;
  /** The settings that they come from. A loop's workers have a day of their own: a person starts them. */
  readonly from?: "judge" | "loop";
}

const loopPurpose = /^loop:/;

/** The limit on all calls for one purpose since it began, and the setting it comes from. */
interface PurposeBudget {
  readonly purpose: string;
  readonly usd: number;
  readonly since: number;
  readonly setting: string;
}

/** The cost of models in the last day, and whether one may be asked now. */
export interface ModelUse {
  readonly spent: Spend;
  /** Until when no model is asked, after repeated failures; null when one may be asked. */
  readonly openUntil: number | null;
  readonly lastFailure: { readonly at: number; readonly because: string } | null;
  /** When the failures began that no answer has followed; null after an answer. */
  readonly failingSince: number | null;
}

const dayMs = 86_400_000;
/** Allowance for an agent's program beyond the estimate: it adds words, thoughts and turns of its own. */
export const agentExtraUsd = 0.15;
/** Calls in a day, whatever they cost: models without a price are bounded too. */
const callsPerDay = 200;
const failuresToOpenBreaker = 5;
const breakerMs = 60 * 60_000;

type Ledger = Pick<Store, "ledger">;
type ModelEntry = EntryOf<"model.asked" | "model.called">;

/** Calls on the ledger since a time. A call may be there twice: before it was made, and after. */
async function readCalls(
  { ledger }: Ledger,
  since: number,
  from: ModelLimits["from"] = "judge",
): Promise<ModelEntry[]> {
  const all = [...(await ledger.since("model.asked", since)), ...(await ledger.since("model.called", since))];
  return all.filter(({ data }) => loopPurpose.test(data.purpose) === (from === "loop"));
}

export async function readModelUse(store: Ledger, now: number): Promise<ModelUse> {
  const entries = await readCalls(store, now - dayMs);
  const calls = sortCalls(entries);
  const failure = calls.findLast(({ data }) => !data.ok);
  const failing = calls.slice(calls.findLastIndex(({ data }) => data.ok) + 1);
  return {
    spent: sumSince(entries, now - dayMs),
    openUntil: findBreakerEnd(entries, now),
    lastFailure: failure ? { at: failure.at ?? 0, because: failure.data.because ?? "" } : null,
    failingSince: failing[0]?.at ?? null,
  };
}

/** The amount spent for one purpose since it began; the clock may have gone back since. */
export async function readPurposeSpend(store: Ledger, purpose: string, since: number, now: number) {
  const from = loopPurpose.test(purpose) ? "loop" : "judge";
  return sumForPurpose(await readCalls(store, Math.min(since, now) - dayMs, from), purpose);
}

function sumForPurpose(entries: readonly ModelEntry[], purpose: string): Spend {
  const own = entries.filter(({ data }) => data.purpose === purpose);
  return sumSince(own, Number.NEGATIVE_INFINITY);
}

/** A call whose end is unknown counts with the most it could cost. */
function sumSince(entries: readonly ModelEntry[], since: number): Spend {
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

function findBreakerEnd(entries: readonly ModelEntry[], now: number): number | null {
  const tries = sortCalls(entries).map(({ at, data }) => ({ at: at ?? 0, ok: data.ok }));
  return breakUntil(tries, now);
}

/** Calls that ended, in the order in which they did. */
function sortCalls(entries: readonly ModelEntry[]): EntryOf<"model.called">[] {
  return entries
    .flatMap((entry) => (entry.type === "model.called" ? [entry] : []))
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || (a.key < b.key ? -1 : 1));
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

/** The amount to reserve for a call with this estimated cost; or why it is not made. */
export async function decideBudget(
  store: Ledger,
  now: number,
  call: {
    readonly estimate: number;
    /** What may be set aside beyond the estimate, where there is room for it. */
    readonly extraUsd: number;
    readonly together: PurposeBudget | null;
  },
  limits: ModelLimits,
): Promise<{ readonly usdAtMost: number } | { readonly hold: string }> {
  const { estimate, extraUsd, together } = call;
  const from = limits.from ?? "judge";
  // The clock may have gone back since a purpose began.
  const entries = await readCalls(store, Math.min(now, together?.since ?? now) - dayMs, from);
  // A person who starts a loop sees its workers fail, and each of unknown cost counts as the most it could cost.
  const until = from === "loop" ? null : findBreakerEnd(entries, now);
  if (until !== null) {
    const minutes = Math.ceil((until - now) / 60_000);
    return { hold: `the model failed ${failuresToOpenBreaker} times in a row; next try in ${minutes} min` };
  }
  const cost = `a call could cost ${formatUsd(estimate)}`;
  if (estimate > limits.usdPerCall)
    return { hold: `${cost}, more than ${formatUsd(limits.usdPerCall)} (${from}.budgetCall)` };
  const own = together ? sumForPurpose(entries, together.purpose).usd : 0;
  if (together && own + estimate > together.usd) {
    const spent = `${formatUsd(own)} of ${formatUsd(together.usd)} are spent (${together.setting})`;
    return { hold: `${spent}, and ${cost}` };
  }
  const { calls, usd } = sumSince(entries, now - dayMs);
  if (calls >= callsPerDay && from === "judge") return { hold: `${calls} calls of models in the last day` };
  if (usd + estimate > limits.usdPerDay)
    return { hold: `${describeDaySpend(usd, limits.usdPerDay, from)}, and ${cost}` };
  const left = Math.min(limits.usdPerDay - usd, together ? together.usd - own : Number.POSITIVE_INFINITY);
  return { usdAtMost: Math.max(estimate, Math.min(estimate + extraUsd, limits.usdPerCall, left)) };
}

export function describeDaySpend(
  usd: number,
  usdPerDay: number,
  from: ModelLimits["from"] = "judge",
): string {
  return `${formatUsd(usd)} of ${formatUsd(usdPerDay)} for a day are spent (${from}.budgetDay)`;
}

export function formatUsd(amount: number): string {
  return `$${amount.toFixed(amount > 0 && amount < 0.1 ? 3 : 2)}`;
}

/** US dollars for a million tokens. */
interface Price {
  readonly input: number;
  readonly output: number;
}

/**
 * List prices of October 2026 by model family, the highest of each family; the first match holds. People can set their
 * own. Agents' names for their models (`claude/opus`, `gemini/flash`) match too.
 */
const prices: readonly (readonly [RegExp, Price])[] = [
  [/\bhaiku\b/, { input: 1, output: 5 }],
  [/\bsonnet\b/, { input: 6, output: 22.5 }],
  [/\b3-opus\b|\bopus-4(?:[-.][01])?\b(?![-.]\d{1,2}\b)/, { input: 15, output: 75 }],
  [/\bopus\b/, { input: 5, output: 25 }],
  [/\bfable\b|\bgpt-[\d.]+-astra\b/, { input: 10, output: 50 }],
  [/\bgpt-[\d.]+-luna\b/, { input: 0.2, output: 1.2 }],
  [/\bgpt-[\d.]+-terra\b/, { input: 2, output: 12 }],
  [/\bgpt-[\d.]+-sol\b/, { input: 4, output: 20 }],
  [/\bo1-pro\b/, { input: 150, output: 600 }],
  [/\b(?:gpt-[\d.]+|o\d)-pro\b/, { input: 30, output: 180 }],
  [/\bgpt-[\d.]+-nano\b/, { input: 0.4, output: 2 }],
  [/\bgpt-[\d.]+o?-mini\b/, { input: 1, output: 6 }],
  [/\bo\d-mini\b/, { input: 1.1, output: 4.4 }],
  [/\bgpt-4o\b/, { input: 5, output: 15 }],
  [/\bgpt-4\.1\b/, { input: 2, output: 8 }],
  [/\bgpt-(?:4|3\.5)\b/, { input: 30, output: 60 }],
  [/\bo1\b/, { input: 15, output: 60 }],
  [/\bo[34]\b/, { input: 10, output: 40 }],
  [/\bgpt-[56]\b/, { input: 5, output: 30 }],
  [/\bgemini\b.*\bflash-lite\b/, { input: 0.3, output: 2.5 }],
  [/\bgemini\b.*\bflash\b/, { input: 1.5, output: 9 }],
  [/\bgemini\b.*\bpro\b/, { input: 4, output: 18 }],
];

/** The price of a large model, assumed if the price is unknown. */
const unknownPrice: Price = { input: 6, output: 30 };

/** Characters per token, at least: before a call, the estimate errs on the expensive side. */
const charsPerToken = 3;

/** The price of a model: the person's own (judge.inputUsd, judge.outputUsd) first; null where it is unknown. */
export function findPrice(
  name: string,
  own: { readonly input: number | null; readonly output: number | null } = { input: null, output: null },
): Price | null {
  const known = prices.find(([family]) => family.test(name))?.[1] ?? null;
  if (own.input === null && own.output === null) return known;
  const { input, output } = known ?? unknownPrice;
  return { input: own.input ?? input, output: own.output ?? output };
}

export function computeCost(
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
  price: Price | null,
): number {
  const { input, output } = price ?? unknownPrice;
  return (inputTokens * input + outputTokens * output) / 1_000_000;
}

/** The estimated cost of requests of these sizes together. */
export function estimateCost(
  requests: readonly { readonly inputTokens: number; readonly outputTokens: number }[],
  price: Price | null,
): number {
  return requests.reduce((sum, one) => sum + computeCost(one, price), 0);
}

/** The most that a call may cost, estimated before it is made. */
export function estimateMaxCost(
  request: Pick<ModelRequest, "system" | "prompt" | "schema" | "maxOutputTokens">,
  price: Price | null,
): number {
  const inputTokens = estimateTokens(request.system + request.prompt + JSON.stringify(request.schema));
  return computeCost({ inputTokens, outputTokens: request.maxOutputTokens }, price);
}

/** Characters beyond ASCII are counted as one token each. */
function estimateTokens(text: string): number {
  const beyond = text.replace(/\p{ASCII}+/gu, "").length;
  return Math.ceil((text.length - beyond) / charsPerToken + beyond);
}
