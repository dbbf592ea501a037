import * as z from "zod";
import { type Clock, type JsonObject, makeId } from "../base/index.ts";
import { recordEntries } from "../lessons/index.ts";
import type { LedgerEntry, ModelAsked, ModelCalled } from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { type Redactor, scrubAll } from "../trust/index.ts";
import { dayMs, decideBudget, type ModelLimits, type PurposeBudget, readModelCalls } from "./budget.ts";
import type { Model, ModelReply, ModelRequest, NoReply } from "./model.ts";
import { computeCost, estimateMaxCost, type Price } from "./price.ts";

/** Everything that is needed to ask a model. */
export interface Asker {
  readonly store: Store;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly model: Model;
  readonly limits: ModelLimits;
  /** What the model's tokens cost; null where that is unknown. */
  readonly price: Price | null;
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
export interface ModelQuestion<Answer> {
  readonly purpose: string;
  readonly system: string;
  readonly prompt: string;
  readonly schema: AnswerForm<Answer>;
  readonly maxOutputTokens: number;
  readonly timeoutMs: number;
  /** Limits what all questions of this purpose cost together. */
  readonly budget?: Omit<PurposeBudget, "purpose">;
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
  const [prompt = ""] = await asker.redactor.scrub([{ label: "", text: question.prompt }]);
  const request = { ...question, prompt, schema: schema.json };
  const together = budget && { ...budget, purpose: question.purpose };
  const isUsable = (value: unknown) => schema.parse(value) !== null;
  const reply = await callModel(asker, request, together, who, isUsable);
  if (!reply.ok) return { ok: false, because: reply.because, message: reply.message };
  const original = schema.parse(reply.value);
  const answer = schema.parse((await scrubAll(asker.redactor, { value: reply.value })).value);
  return original === null || answer === null
    ? { ok: false, because: "unusable", message: wrongForm }
    : { ok: true, answer, original };
}

const wrongForm = "the answer does not have the requested form";

async function callModel(
  asker: Asker,
  request: Omit<ModelRequest, "maxUsd">,
  together: PurposeBudget | undefined,
  who: AskedFor,
  isUsable: (value: unknown) => boolean,
): Promise<ModelReply> {
  const { clock, model } = asker;
  // A model that sends nothing needs no budget.
  if (!model.isLive) return checkReply(await model.ask({ ...request, maxUsd: 0 }), isUsable);
  const at = clock.now();
  const call = {
    call: makeId("m", `${requestId(request)} ${at}`),
    ...{ model: model.name, purpose: request.purpose },
  };
  const reserved = await reserve(asker, call, at, request, together, who);
  if ("hold" in reserved)
    return { ok: false, because: "not-asked", message: reserved.hold, usage: null, ms: 0 };
  const reply = checkReply(await model.ask({ ...request, maxUsd: reserved.usdAtMost }), isUsable);
  await recordReply(asker, call, reply, reserved.usdAtMost, who);
  return reply;
}

/** The same words have the same id, whoever is asked. */
export function requestId({
  system,
  prompt,
  schema,
}: Pick<ModelRequest, "system" | "prompt" | "schema">): string {
  return makeId("q", JSON.stringify([system, prompt, schema]));
}

type CallName = Pick<ModelAsked, "call" | "model" | "purpose">;

/** Records what a call may cost at most, if that much is left; or says why it is not made. */
function reserve(
  { store, model, limits, price }: Asker,
  call: CallName,
  at: number,
  request: Omit<ModelRequest, "maxUsd">,
  together: PurposeBudget | undefined,
  who: AskedFor,
): Promise<{ readonly usdAtMost: number } | { readonly hold: string }> {
  return store.transaction(async (tx) => {
    // The clock may have gone back since a purpose began.
    const entries = await readModelCalls(tx, Math.min(at, together?.since ?? at) - dayMs);
    const estimate = estimateMaxCost(request, price);
    const asked = { estimate, isAgent: model.isAgent, ...(together ? { together } : {}) };
    const decided = decideBudget(entries, at, asked, limits);
    if ("hold" in decided) return decided;
    const data = { ...call, usdAtMost: decided.usdAtMost };
    const key = `asked:${call.call}`;
    const added = await recordEntries(tx, [{ ...who, actor: "knack", at, type: "model.asked", key, data }]);
    return added.length === 0 ? { hold: "another process is asking the same" } : decided;
  });
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
  const data: ModelCalled = {
    ...{ ...call, inputTokens, outputTokens },
    // A negative cost reported by a model must not refill a budget.
    usd: Math.max(0, costUsd ?? estimate),
    estimated: costUsd === null,
    ms: reply.ms,
    ok: reply.ok,
    because: reply.ok ? null : `${reply.because}: ${reply.message}`,
  };
  const common = { ...who, actor: "knack" as const, at: clock.now() };
  const entry: LedgerEntry = { ...common, type: "model.called", key: `called:${call.call}`, data };
  await store.transaction((tx) => recordEntries(tx, [entry]));
}

function checkReply(reply: ModelReply, isUsable: (value: unknown) => boolean): ModelReply {
  if (!reply.ok || isUsable(reply.value)) return reply;
  const { usage, ms } = reply;
  return { ok: false, because: "unusable", message: wrongForm, usage, ms };
}

/** JSON Schema of a zod schema, in the narrow form that all endpoints take: every property is required. */
export function toJsonSchema(schema: z.ZodType): JsonObject {
  const { $schema: _, ...json } = z.toJSONSchema(schema);
  return json as JsonObject;
}
