import { policy } from "../core/policy.ts";
import { decide, type Match } from "../core/search/decide.ts";
import type { Card } from "../core/search/entry.ts";
import { type Query, queryOf } from "../core/search/query.ts";
import { type Ranked, rank } from "../core/search/rank.ts";
import { indexOver, type LibraryCard, type LibraryIndex, type Part } from "../core/search/segment.ts";
import type { Embedder } from "./ports.ts";

/** Something of the library that fits a text. */
export interface Found {
  readonly card: LibraryCard;
  /** Whether it fits so well that it is given whole. */
  readonly how: "load" | "offer";
  /** How likely it is the right one. */
  readonly chance: number;
  /** In words for a person. */
  readonly why: string;
}

export interface FindOptions {
  readonly project: string;
  /** What the project is, in the words of its languages and tools. */
  readonly context: readonly string[];
  /** Somebody asked, and is not interrupted. */
  readonly asked?: boolean;
  /** How alike the text and an entry are in meaning, by its id; 0 where that is not known. */
  readonly likeness?: (id: string) => number;
}

/** What the library has for a text: the best few, the best first, or nothing rather than something weak. */
export function find(parts: readonly Part[], text: string, options: FindOptions): Found[] {
  const index = indexOver(parts);
  const query = queryOf(text, options.context);
  const { asked = false } = options;
  const size = index.sizeFor(realmsOf(options));
  const { load, offers } = decide(rankedIn(index, query, options), query, { size, asked });
  return [
    ...(load === null ? [] : [foundOf(load, "load")]),
    ...offers.map((match) => foundOf(match, "offer")),
  ];
}

/** What may fit a text, before anything is decided: that of which an embedder says how alike it is. */
export function cardsFor(parts: readonly Part[], text: string, options: FindOptions): Card[] {
  const query = queryOf(text, options.context);
  return rankedIn(indexOver(parts), query, options).map(({ card }) => card);
}

/** How alike a text and some entries are to an embedder. */
export async function likenessBy(
  embedder: Embedder,
  text: string,
  cards: readonly Card[],
): Promise<(id: string) => number> {
  if (cards.length === 0) return () => 0;
  const texts = cards.map(({ name, description }) => `${name}: ${description}`);
  const [asked = [], ...others] = await embedder.embed([text, ...texts]);
  const alike = new Map(cards.map(({ id }, at) => [id, Math.max(0, cosine(asked, others[at] ?? []))]));
  return (id) => alike.get(id) ?? 0;
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, ofA, ofB] = [0, 0, 0];
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [one, other] = [a[at] as number, b[at] as number];
    dot += one * other;
    ofA += one * one;
    ofB += other * other;
  }
  return ofA === 0 || ofB === 0 ? 0 : dot / Math.sqrt(ofA * ofB);
}

function rankedIn(index: LibraryIndex, query: Query, options: FindOptions): Ranked[] {
  const { project, asked = false, likeness } = options;
  const alike = likeness && ((cards: readonly Card[]) => cards.map(({ id }) => likeness(id)));
  const realms = realmsOf(options);
  const most = policy.search.closely;
  return rank(index, query, { realms, most, ...(alike ? { likeness: alike } : {}) }).filter(({ card }) => {
    const { hiddenIn, load } = card as LibraryCard;
    // What only a person may call is not put before an agent.
    return !hiddenIn.includes(project) && (asked || load !== "person");
  });
}

function realmsOf({ project }: FindOptions): ReadonlySet<string> {
  return new Set([project, "user"]);
}

function foundOf(match: Match, how: Found["how"]): Found {
  // The card of a library's index.
  const card = match.card as LibraryCard;
  // A command is the person's to call, and an agent is somebody to give work to: neither is a text to follow.
  const isText = card.kind === "skill" && card.harmless;
  return { card, how: isText ? how : "offer", chance: match.probability, why: match.because };
}
