import { policy as defaults, type Policy } from "../policy.ts";
import { aliasesOf, translationsIn } from "./aliases.ts";
import { tokensOf } from "./tokens.ts";

/** What is looked for: terms with how much each says of what is asked. */
export interface Query {
  /** As much of the prompt as was read. */
  readonly text: string;
  /** The prompt's own terms, each once, in the order they are met. */
  readonly asked: readonly Weighted[];
  /** Other words for them, and what is known of where they are asked: evidence, but not part of what is asked. */
  readonly implied: readonly Weighted[];
}

export interface Weighted {
  readonly term: string;
  readonly weight: number;
}

/** Reads a prompt; `context` names the project's languages and files. */
export function queryOf(
  prompt: string,
  context: readonly string[] = [],
  { search }: Policy = defaults,
): Query {
  const text = capped(prompt, search);
  const said = new Map<string, { most: number; times: number }>();
  let met = 0;
  for (const { words, weight } of piecesOf(text, search))
    for (const token of tokensOf(words)) {
      // What is asked comes first more often than not.
      const early = Math.max(search.laterLeast, 1 / (1 + met / search.laterBy));
      const known = said.get(token);
      said.set(token, { most: Math.max(known?.most ?? 0, weight * early), times: (known?.times ?? 0) + 1 });
      met++;
    }
  // What is said twice counts a little more than what is said once.
  const asked = Array.from(said, ([term, { most, times }]) => ({
    term,
    weight: most * (1 + search.again * Math.min(times - 1, search.agains)),
  }));
  return { text, asked, implied: impliedBy(text, asked, context, search) };
}

type Numbers = Policy["search"];

/** The beginning and the end of a long prompt: what is pasted stands between them. */
function capped(prompt: string, { promptChars }: Numbers): string {
  if (prompt.length <= promptChars) return prompt;
  const head = Math.round((promptChars * 2) / 3);
  return `${prompt.slice(0, head)}\n${prompt.slice(head - promptChars)}`;
}

interface Piece {
  readonly words: string;
  readonly weight: number;
}

/** The sentences of a prompt: those that ask count in full, what is told beside them less, what is pasted least. */
function piecesOf(text: string, { told, pasted }: Numbers): Piece[] {
  const code: Piece[] = [];
  const prose = text.replace(/```[\s\S]*?(?:```|$)/g, (words) => {
    code.push({ words, weight: pasted });
    return "\n";
  });
  const sentences = prose.split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/).filter((words) => words.trim() !== "");
  const anyAsks = sentences.some(asks);
  const pieces = sentences.map((words) => {
    if (looksPasted(words)) return { words, weight: pasted };
    return { words, weight: !anyAsks || asks(words) ? 1 : told };
  });
  return [...pieces, ...code];
}

function asks(sentence: string): boolean {
  return (
    /[?？]/.test(sentence) || /^\W*(?:please\b|帮|请|幫|請)/i.test(sentence) || opensAsking.test(sentence)
  );
}

/** An order or a wish opens a sentence; in Japanese and Korean it ends one. */
const opensAsking =
  /^\W*(?:can|could|how|what|why|which|help|write|create|build|make|add|fix|set|generate|implement|review|design|draft|give|show|find|analy[sz]e|convert|update|check|plan|debug|deploy|explain|i (?:want|need|would)|i'd|we (?:want|need)|i'm (?:trying|looking))\b|(?:してください|して|したい|てほしい|해줘|해주세요)\W*$/i;

/** A line of a log, a stack, a difference, a table or a quotation. */
function looksPasted(line: string): boolean {
  return /^\s*(?:>|\||at \S+[(:]|\d{4}-\d\d-\d\d|\[[\w:. -]+\]|[+-]{3} |@@|[{}$]|\S+:\d+[:)]|Traceback|Caused by)/.test(
    line,
  );
}

function impliedBy(
  text: string,
  asked: readonly Weighted[],
  context: readonly string[],
  { alias, translated, context: around, promptHead }: Numbers,
): Weighted[] {
  const own = new Set(asked.map(({ term }) => term));
  const weights = new Map<string, number>();
  const imply = (term: string, weight: number) => {
    if (!own.has(term)) weights.set(term, Math.max(weights.get(term) ?? 0, weight));
  };
  for (const { term, weight } of asked) for (const other of aliasesOf(term)) imply(other, weight * alias);
  if (hasUnspaced(text))
    for (const { terms } of translationsIn(text.slice(0, promptHead)))
      for (const token of tokensOf(terms.join(" "))) imply(token, translated);
  for (const token of tokensOf(context.join(" "))) imply(token, around);
  return Array.from(weights, ([term, weight]) => ({ term, weight }));
}

/** Whether a text has characters of scripts that part no words. */
export function hasUnspaced(text: string): boolean {
  return /[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]/.test(text);
}
