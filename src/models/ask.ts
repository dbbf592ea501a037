import * as z from "zod";
import { type Clock, type JsonObject, makeId } from "../base/index.ts";
import { recordEntries } from "../lessons/index.ts";
import type { EntryOf } from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { type Redactor, scrubAll } from "../trust/index.ts";
import { computeCost, decideBudget, estimateMaxCost, type findPrice, type ModelLimits } from "./budget.ts";
import type { Model, ModelReply, ModelRequest, NoReply } from "./model.ts";

type SharedBudget = NonNullable<Parameters<typeof decideBudget>[2]["together"]>;

/** Everything that is needed to ask a model. */
export interface Asker {
  readonly store: Store;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly model: Model;
  readonly limits: ModelLimits;
  /** The price of the model's tokens; null if unknown. */
  readonly price: ReturnType<typeof findPrice>;
}

/** For whom a model is asked. */
export interface AskedFor {
  readonly project: string | null;
  readonly session: string | null;
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
    const reserved = await reserve(asker, call, at, estimateMaxCost(request, price), together, who);
    if ("hold" in reserved) return { ok: false, because: "not-asked", message: reserved.hold };
    reply = await ask(reserved.usdAtMost);
    await recordReply(asker, call, reply, reserved.usdAtMost, who);
  }
  if (!reply.ok) return { ok: false, because: reply.because, message: reply.message };
  const original = schema.parse(reply.value);
  const answer = schema.parse((await scrubAll(redactor, { value: reply.value })).value);
  return original === null || answer === null
    ? { ok: false, because: "unusable", message: wrongForm }
    : { ok: true, answer, original };
}

const wrongForm = "the answer does not have the requested form";

type CallName = Pick<EntryOf<"model.asked">["data"], "call" | "model" | "purpose">;

/** Records what a call may cost at most, if that much is left; or says why it is not made. */
function reserve(
  { store, model, limits }: Asker,
  call: CallName,
  at: number,
  estimate: number,
  together: SharedBudget | null,
  who: AskedFor,
): Promise<{ readonly usdAtMost: number } | { readonly hold: string }> {
  const setAside = async (tx: Store) => {
    const decided = await decideBudget(tx, at, { estimate, isAgent: model.isAgent, together }, limits);
    if ("hold" in decided) return decided;
    const data = { ...call, usdAtMost: decided.usdAtMost };
    const key = `asked:${call.call}`;
    const added = await recordEntries(tx, [{ ...who, actor: "knack", at, type: "model.asked", key, data }]);
    return added.length === 0 ? { hold: "another process is asking the same" } : decided;
  };
  // Money is on the disk before it is spent.
  return store.transaction(setAside, { durable: true });
}

async function recordReply(
  { store, clock, price }: Asker,
  call: CallName,
  reply: ModelReply,
  usdAtMost: number,
  who: AskedFor,
): Promise<void> {
  const { inputTokens = 0, outputTokens = 0, costUsd = null } = reply.usage ?? {};
  // A call of unknown usage is assumed to have cost the most it could.
  const estimate = reply.usage === null ? usdAtMost : computeCost(reply.usage, price);
  const data: EntryOf<"model.called">["data"] = {
    ...{ ...call, inputTokens, outputTokens },
    // A negative cost reported by a model must not refill a budget.
    usd: Math.max(0, costUsd ?? estimate),
    estimated: costUsd === null,
    ms: reply.ms,
    ok: reply.ok,
    because: reply.ok ? null : `${reply.because}: ${reply.message}`,
  };
  const common = { ...who, actor: "knack" as const, at: clock.now() };
  const key = `called:${call.call}`;
  await store.transaction((tx) => recordEntries(tx, [{ ...common, type: "model.called", key, data }]));
}

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
