import { holdOf, type ModelLimits } from "../core/budget.ts";
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

/**
 * Asks a model within the budget. What the call may cost is set aside before it is made, so that neither a killed
 * process nor two at once spend more than is allowed; what it did cost is noted as soon as it is known. An answer
 * that cannot be used counts as a failure.
 */
export async function ask(
  deps: AskDeps,
  request: ModelRequest,
  who: AskedFor,
  isUsable: (value: unknown) => boolean,
): Promise<ModelReply> {
  const { store, clock, model, limits, price, policy = defaults } = deps;
  // What sends nothing needs no budget.
  if (!model.isLive) return checked(await model.ask(request), isUsable);
  const askedAt = clock.now();
  const call = idOf("m", `${requestId(request)} ${askedAt}`);
  const common = { ...who, actor: "knack" as const };
  const purpose = request.purpose;
  const usdAtMost = mostUsd(request, price, policy);
  const hold = await store.transaction(async (tx) => {
    // A clock may have gone back since a purpose was begun.
    const since = Math.min(askedAt, limits.together?.since ?? askedAt) - policy.model.dayMs;
    const entries: LedgerEntry[] = [
      ...(await tx.ledger.since("model.asked", since)),
      ...(await tx.ledger.since("model.called", since)),
    ];
    const held = holdOf(entries, askedAt, usdAtMost, limits, policy);
    if (held) return held.message;
    const data = { call, model: model.name, purpose, usdAtMost };
    const added = await note(tx, [
      { ...common, at: askedAt, type: "model.asked", key: `asked:${call}`, data },
    ]);
    return added.length === 0 ? "another process asks the same" : null;
  });
  if (hold !== null) return { ok: false, because: "not-asked", message: hold, usage: null, ms: 0 };
  const reply = checked(await model.ask(request), isUsable);
  const usage = reply.usage ?? { inputTokens: 0, outputTokens: 0, costUsd: null };
  // Of a call that failed without a word nobody knows what it cost: one that was refused cost nothing.
  // Whoever answered, or may have, is paid, whatever came through.
  const unknown =
    reply.usage === null && !reply.ok && (reply.because === "time-out" || reply.because === "unusable");
  await store.transaction((tx) =>
    note(tx, [
      {
        ...common,
        at: clock.now(),
        type: "model.called",
        key: `called:${call}`,
        data: {
          call,
          model: model.name,
          purpose,
          inputTokens: usage.inputTokens,
          outputTokens: usage.outputTokens,
          usd: usage.costUsd ?? (unknown ? usdAtMost : costOf(usage, price, policy)),
          estimated: usage.costUsd === null,
          ms: reply.ms,
          ok: reply.ok,
          because: reply.ok ? null : `${reply.because}: ${reply.message}`,
        },
      },
    ]),
  );
  return reply;
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
