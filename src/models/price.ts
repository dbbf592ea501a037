import type { ModelRequest } from "./model.ts";

/** US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** List prices by model family, the highest of each family; the first match holds. People can set their own. */
const prices: readonly (readonly [RegExp, Price])[] = [
  [/\bhaiku\b/, { input: 1, output: 5 }],
  [/\bsonnet\b/, { input: 6, output: 22.5 }],
  [/\b3-opus\b|\bopus-4(?:[-.][01])?\b(?![-.]\d{1,2}\b)/, { input: 15, output: 75 }],
  [/\bopus\b/, { input: 5, output: 25 }],
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
  // Codex without a named model uses this family too.
  [/\bgpt-5\b|^codex$/, { input: 5, output: 30 }],
];

/** What a large model costs: the assumption where the price is unknown. */
const unknownPrice: Price = { input: 6, output: 30 };

/** Characters per token, at least: before a call, the estimate errs on the expensive side. */
const charsPerToken = 3;

/** The price of a model: the person's own (model.inputUsd, model.outputUsd) first; null where it is unknown. */
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
