import * as z from "zod";
import { type Clock, type JsonObject, makeId } from "../base/index.ts";
import type { Store } from "../store/index.ts";
import { type Redactor, scrubAll } from "../trust/index.ts";
import { agentExtraUsd, computeCost, estimateMaxCost, type findPrice, type ModelLimits } from "./budget.ts";
import type { Model, ModelReply, ModelRequest, NoReply } from "./model.ts";
import { type AskedFor, type CallEnd, recordSpend, reserveSpend, type SharedBudget } from "./spend.ts";

/** Everything that is needed to ask a model. */
export interface Asker {
  readonly store: Store;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly model: Model;
  readonly limits: ModelLimits;
  /** The price of the model's tokens; null if unknown. */
  readonly price: ReturnType<typeof findPrice>;
  /** A second budget from which calls are paid: that of the person who works for a team. */
  readonly alsoPaying?: Pick<Asker, "store" | "limits">;
}

/** The form of an answer: JSON Schema for the model, and a parser that gives null for what does not have the form. */
export interface AnswerForm<Answer> {
  readonly json: JsonObject;
  parse(value: unknown): Answer | null;
}

/** A question to a model. A second round is another question with the same purpose and budget. */
interface ModelQuestion<Answer> extends Omit<ModelRequest, "id" | "schema" | "maxUsd"> {
  readonly schema: AnswerForm<Answer>;
  /** Limits what all questions of this purpose cost together. */
  readonly budget?: Omit<SharedBudget, "purpose">;
}

/** `answer` has no secrets; `original` is the same as it came, to tell which parts had some. */
export type ModelAnswer<Answer> =
  | { readonly ok: true; readonly answer: Answer; readonly original: Answer }
  | { readonly ok: false; readonly because: NoReply; readonly message: string };

/**
 * Asks a model: the one way in which Knack does. Secrets are taken out of the question and of the answer. What the call
 * may cost is set aside on the ledger before it is made, so that neither a killed process nor two at once overspend;
 * what it did cost is recorded as soon as it is known. An answer without the form counts as a failure.
 */
export async function askModel<Answer>(
  asker: Asker,
  { schema, budget, ...question }: ModelQuestion<Answer>,
  who: AskedFor,
): Promise<ModelAnswer<Answer>> {
  const { clock, model, redactor, price } = asker;
  const [prompt = ""] = await redactor.scrub([{ label: "", text: question.prompt }]);
  const id = makeId("q", JSON.stringify([question.system, prompt, schema.json]));
  const request = { ...question, id, prompt, schema: schema.json };
  const ask = async (maxUsd: number) => checkReply(await model.ask({ ...request, maxUsd }), schema);
  let reply: ModelReply;
  // A model that sends nothing needs no budget.
  if (!model.isLive) reply = await ask(0);
  else {
    const at = clock.now();
    const call = { call: makeId("m", `${id} ${at}`), model: model.name, purpose: request.purpose };
    const together = budget ? { ...budget, purpose: request.purpose } : null;
    const extraUsd = model.isAgent ? agentExtraUsd : 0;
    const wanted = { call, at, together, extraUsd, estimate: estimateMaxCost(request, price) };
    const reserved = await reserveSpend(asker, wanted, who);
    if ("hold" in reserved) return { ok: false, because: "not-asked", message: reserved.hold };
    const own = asker.alsoPaying && { ...asker, ...asker.alsoPaying };
    const ownReserved = own ? await reserveSpend(own, wanted, who) : reserved;
    if ("hold" in ownReserved) {
      await recordSpend(asker, call, unspent, who);
      return { ok: false, because: "not-asked", message: ownReserved.hold };
    }
    const usdAtMost = Math.min(reserved.usdAtMost, ownReserved.usdAtMost);
    reply = await ask(usdAtMost);
    const end = measureReply(reply, usdAtMost, price);
    for (const payer of own ? [asker, own] : [asker]) await recordSpend(payer, call, end, who);
  }
  if (!reply.ok) return { ok: false, because: reply.because, message: reply.message };
  const original = schema.parse(reply.value);
  const answer = schema.parse((await scrubAll(redactor, { value: reply.value })).value);
  return original === null || answer === null
    ? { ok: false, because: "unusable", message: wrongForm }
    : { ok: true, answer, original };
}

/** What a call cost. One of unknown usage is assumed to have cost the most it could. */
function measureReply(reply: ModelReply, usdAtMost: number, price: Asker["price"]): CallEnd {
  const { inputTokens = 0, outputTokens = 0, costUsd = null } = reply.usage ?? {};
  const estimate = reply.usage === null ? usdAtMost : computeCost(reply.usage, price);
  return {
    ...{ inputTokens, outputTokens, usd: costUsd ?? estimate, estimated: costUsd === null, ms: reply.ms },
    ...{ ok: reply.ok, because: reply.ok ? null : `${reply.because}: ${reply.message}` },
  };
}

/** What was set aside and not needed. */
const unspent: CallEnd = {
  ...{ inputTokens: 0, outputTokens: 0, usd: 0, estimated: false, ms: 0, ok: true, because: null },
};

const wrongForm = "the answer does not have the requested form";

/** An answer that cannot be used is a failure, so that the breaker notices a model that only gives such ones. */
function checkReply(reply: ModelReply, schema: AnswerForm<unknown>): ModelReply {
  if (!reply.ok || schema.parse(reply.value) !== null) return reply;
  return { ok: false, because: "unusable", message: wrongForm, usage: reply.usage, ms: reply.ms };
}

/** JSON Schema of a zod schema, in the narrow form that all endpoints take: every property is required. */
export function toJsonSchema(schema: z.ZodType): JsonObject {
  const { $schema: _, ...json } = z.toJSONSchema(schema);
  return json as JsonObject;
}
