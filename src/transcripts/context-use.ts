import type { ContextUse } from "../records/index.ts";

/** What a client counted of one answer, and all that the model was given for it. */
interface Counted {
  readonly input: unknown;
  readonly output: unknown;
  /** Parts of the input that a client counts on their own. */
  readonly cached?: readonly unknown[];
  /** Tokens of thoughts, which some clients count on top of the output. */
  readonly thoughts?: unknown;
  /** The client's own sum. */
  readonly total?: unknown;
}

/**
 * The tokens that an answer and all before it take. Without a window where nothing tells how large it is, or where the
 * client's own sum is of something else.
 */
export function readContextUse(counted: Counted, window: number | null): ContextUse | null {
  const { input, output, cached = [], thoughts, total } = counted;
  const sum = [input, output, ...cached].reduce((all: number, one) => all + toNumber(one), 0);
  const tokens = typeof total === "number" && total > 0 ? total : sum;
  if (tokens === 0) return null;
  const isSum = tokens === sum || tokens === sum + toNumber(thoughts);
  return { tokens, window: isSum ? window : null };
}

const toNumber = (value: unknown) => (typeof value === "number" ? value : 0);

const millionWindow = 1_000_000;
const claudeWindow = 200_000;
const geminiWindow = 1_048_576;

/** Makers whose models have one window wherever their own service answers. Others' resellers cut it as they like. */
const makers: Readonly<Record<string, RegExp>> = {
  anthropic: /^(?:[\w.-]*[./])?claude-/,
  google: /^(?:models\/)?gemini-[23]/,
};

/** The size of a model's window by its name; null where only the one who answers knows. */
export function findWindow(provider: string, model: string): number | null {
  if (makers[provider]?.test(model) !== true) return null;
  if (provider === "google") return geminiWindow;
  return /\[1m\]$/.test(model) ? millionWindow : claudeWindow;
}
