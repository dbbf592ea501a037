import { idOf } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import { policy as defaults, type Policy } from "./policy.ts";

/** Which model is asked, and through what. */
export type ModelChoice =
  | { readonly via: "off" }
  /** The agent's own command line, with what it has signed in with; the model it would take itself where none is named. */
  | { readonly via: "claude" | "codex"; readonly id: string | null }
  | { readonly via: "anthropic" | "openai"; readonly id: string };

export const modelForms =
  "off, anthropic/<model>, openai/<model>, claude, claude/<model>, codex, or codex/<model> (for requests as files: knack learn --model-dump <folder>)";

/** What a person's word for a model means; null for one that means none. */
export function modelChoice(word: string): ModelChoice | null {
  const [via = "", ...rest] = word.split("/");
  const id = rest.join("/");
  if (id !== "" && !/^[\w.:@/-]{1,120}$/.test(id)) return null;
  switch (via) {
    case "off":
      return rest.length === 0 ? { via } : null;
    case "claude":
    case "codex":
      return rest.length === 0 ? { via, id: null } : id === "" || id.startsWith("-") ? null : { via, id };
    case "anthropic":
    case "openai":
      return id === "" ? null : { via, id };
    default:
      return null;
  }
}

/** US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/**
 * By parts of names, the list prices of families of models, rather the dearest of a family; the first that fits holds.
 * They change, and not everybody pays them: a person's own go first (model.inputUsd, model.outputUsd).
 */
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
  // What codex takes where no model is named is of this family too.
  [/\bgpt-5\b|^codex$/, { input: 5, output: 30 }],
];

/** What a model's tokens cost; null where nobody knows. */
export function priceOf(name: string): Price | null {
  return prices.find(([family]) => family.test(name))?.[1] ?? null;
}

/** The tokens that a text may be for a model. Letters beyond ASCII are rarely joined to longer ones. */
export function tokensIn(text: string, { model }: Policy = defaults): number {
  const beyond = text.replace(/\p{ASCII}+/gu, "").length;
  return Math.ceil((text.length - beyond) / model.charsPerToken + beyond / model.otherCharsPerToken);
}

/** What tokens cost; at a price that nobody knows, rather too much. */
export function costOf(
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
  price: Price | null,
  { model }: Policy = defaults,
): number {
  const { input, output } = price ?? model.unknownPrice;
  return (inputTokens * input + outputTokens * output) / 1_000_000;
}

/** The name that a request goes by, also in files: the same words, the same name, whoever is asked. */
export function requestId({
  system,
  prompt,
  schema,
}: {
  readonly system: string;
  readonly prompt: string;
  readonly schema: JsonObject;
}): string {
  return idOf("q", JSON.stringify([system, prompt, schema]));
}
