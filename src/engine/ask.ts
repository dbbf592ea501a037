import { holdOf, type ModelAsked, type ModelCalled, type ModelLimits, setAsideFor } from "../core/budget.ts";
import { idOf } from "../core/ids.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import { costOf, type Price, requestId, tokensIn } from "../core/model.ts";
import { policy as defaults, type Policy } from "../core/policy.ts";
import { note } from "./note.ts";
import type { Clock, Model, ModelReply, ModelRequest, Store } from "./ports.ts";

export interface AskDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly model: Model;
  readonly limits: ModelLimits;
  /** What the model's tokens cost; null where nobody knows. */
  readonly price: Price | null;
  readonly policy?: Policy;
}

/** For whom a model is asked. */
export interface AskedFor {
  readonly project: string | null;
  readonly session: string | null;
}

/** What a model is asked; what it may cost is up to the budget. */
export type Inquiry = Omit<ModelRequest, "maxUsd">;

/**
 * Asks a model within the budget. What the call may cost is set aside before it is made, so that neither a killed
 * process nor two at once spend more than is allowed; what it did cost is noted as soon as it is known. An answer
 * that cannot be used counts as a failure.
 */
export async function ask(
  deps: AskDeps,
  inquiry: Inquiry,
  who: AskedFor,
  isUsable: (value: unknown) => boolean,
): Promise<ModelReply> {
  const { clock, model, price, policy = defaults } = deps;
  // What sends nothing needs no budget.
  if (!model.isLive) return checked(await model.ask({ ...inquiry, maxUsd: 0 }), isUsable);
  const askedAt = clock.now();
  const call = {
    call: idOf("m", `${requestId(inquiry)} ${askedAt}`),
    ...{ model: model.name, purpose: inquiry.purpose },
  };
  const set = await setAside(deps, call, askedAt, mostUsd(inquiry, price, policy), who);
  if ("hold" in set) return { ok: false, because: "not-asked", message: set.hold, usage: null, ms: 0 };
  const reply = checked(await model.ask({ ...inquiry, maxUsd: set.usdAtMost }), isUsable);
  await settle(deps, call, reply, set.usdAtMost, who);
  return reply;
}

type Call = Pick<ModelAsked, "call" | "model" | "purpose">;

/** Notes what a call may cost at the most, if that much is left; or why it is not made. */
async function setAside(
  { store, model, limits, policy = defaults }: AskDeps,
  call: Call,
  at: number,
  reckoned: number,
  who: AskedFor,
): Promise<{ readonly usdAtMost: number } | { readonly hold: string }> {
  return store.transaction(async (tx) => {
    // A clock may have gone back since a purpose was begun.
    const since = Math.min(at, limits.together?.since ?? at) - policy.model.dayMs;
    const entries: LedgerEntry[] = [
      ...(await tx.ledger.since("model.asked", since)),
      ...(await tx.ledger.since("model.called", since)),
    ];
    const held = holdOf(entries, at, reckoned, limits, policy);
    if (held) return { hold: held.message };
    const { isAgent } = model;
    const usdAtMost = setAsideFor(entries, at, { reckoned, isAgent }, limits, policy);
    const key = `asked:${call.call}`;
    const data = { ...call, usdAtMost };
    const added = await note(tx, [{ ...who, actor: "knack", at, type: "model.asked", key, data }]);
    return added.length === 0 ? { hold: "another process asks the same" } : { usdAtMost };
  });
}

/** Notes what a call came to. */
async function settle(
  { store, clock, price, policy = defaults }: AskDeps,
  call: Call,
  reply: ModelReply,
  usdAtMost: number,
  who: AskedFor,
): Promise<void> {
  const { inputTokens = 0, outputTokens = 0, costUsd = null } = reply.usage ?? {};
  // Whoever answered, or may have, is paid: a call of which nobody knows what it used cost what it could.
  const reckoned = reply.usage === null ? usdAtMost : costOf(reply.usage, price, policy);
  const data: ModelCalled = {
    ...{ ...call, inputTokens, outputTokens },
    // What a model says of itself never refills a budget.
    usd: Math.max(0, costUsd ?? reckoned),
    estimated: costUsd === null,
    ms: reply.ms,
    ok: reply.ok,
    because: reply.ok ? null : `${reply.because}: ${reply.message}`,
  };
  const common = { ...who, actor: "knack" as const, at: clock.now() };
  const entry: LedgerEntry = { ...common, type: "model.called", key: `called:${call.call}`, data };
  await store.transaction((tx) => note(tx, [entry]));
}

/** An answer that has not the form is none, and a model that gives only such ones is not asked for long. */
function checked(reply: ModelReply, isUsable: (value: unknown) => boolean): ModelReply {
  if (!reply.ok || isUsable(reply.value)) return reply;
  const { usage, ms } = reply;
  return { ok: false, because: "unusable", message: "the answer does not have the form", usage, ms };
}

/** The most that a call may cost, reckoned before it is made. */
export function mostUsd(
  {
    system,
    prompt,
    schema,
    maxOutputTokens,
  }: Pick<ModelRequest, "system" | "prompt" | "schema" | "maxOutputTokens">,
  price: Price | null,
  policy: Policy = defaults,
): number {
  const inputTokens = tokensIn(system + prompt + JSON.stringify(schema), policy);
  return costOf({ inputTokens, outputTokens: maxOutputTokens }, price, policy);
}
