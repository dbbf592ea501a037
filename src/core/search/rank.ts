import { type Policy, policy } from "../policy.ts";
import { type Card, fields, type Index, type Postings } from "./entry.ts";
import type { Query } from "./query.ts";
import { signsOf } from "./signs.ts";

/** An entry that was found, and by what. */
export interface Ranked {
  readonly entry: number;
  readonly card: Card;
  /** Higher is better, for the same query. */
  readonly score: number;
  readonly signs: Signs;
  /** The prompt's words that it has, those that say most first. */
  readonly words: readonly Hit[];
}

/** What speaks for an entry; shares are of what was asked, weighed by how rare the words are. */
export interface Signs {
  /** What its words add up to, field by field; its root, since long prompts add up to much. */
  readonly base: number;
  /** Share that it has anywhere. */
  readonly covered: number;
  /** Share in its name, its description, what it says about when to use it, and prompts it was of use in. */
  readonly told: number;
  /** Share in its body. */
  readonly body: number;
  /** Share in the first sentence of its description. */
  readonly opening: number;
  /** Share of its name that was asked. */
  readonly named: number;
  /** How well a phrase that it quotes as what people say is met. */
  readonly quoted: number;
  /** Share that another entry says this one is for. */
  readonly pointed: number;
  /** How rare its rarest word is beside the rarest that was asked. */
  readonly rarest: number;
  /** Share in what it says it is not for, and not in what it says it is for. */
  readonly unfit: number;
  /** Likeness in meaning, where there is an embedder. */
  readonly likeness: number;
}

/** A word of the prompt in an entry. */
export interface Hit {
  readonly term: string;
  /** How much of what was asked it is. */
  readonly mass: number;
  /** The number of the field that says most. */
  readonly field: number;
}

/** A term of the query, as the index has it. */
export interface Sought {
  readonly term: string;
  /** How much having it counts. */
  readonly value: number;
  readonly postings: Postings | null;
  readonly isAsked: boolean;
}

export interface RankOptions {
  /** Whose entries may be found; none given: everybody's. */
  readonly realms?: ReadonlySet<string>;
  /** How many are looked at closely, and found at most. */
  readonly most?: number;
  /** How alike the prompt and each of these are in meaning, from 0 to 1. */
  readonly likeness?: (cards: readonly Card[]) => readonly number[];
  /** What each sign counts, where not as the policy says. */
  readonly weights?: Weights;
}

/** The entries that fit a query, best first. What order they were indexed in changes nothing. */
export function rank(
  index: Index,
  query: Query,
  { realms, most, likeness, weights = policy.search.weights }: RankOptions = {},
): Ranked[] {
  const sought = soughtIn(index, query, policy);
  const bases = basesOf(index, sought, policy);
  const entries = best(bases, most ?? policy.search.entries, index, realms);
  const cards = entries.map((entry) => index.card(entry));
  const alike = likeness?.(cards) ?? [];
  const read = signsOf(sought, entries, cards, rarity(index, null) ** policy.search.rarity, policy);
  return read
    .map(({ signs, words }, at): Ranked => {
      const all = {
        ...signs,
        base: Math.sqrt(bases[entries[at] as number] as number),
        likeness: alike[at] ?? 0,
      };
      return {
        entry: entries[at] as number,
        card: cards[at] as Card,
        score: scoreOf(all, weights),
        signs: all,
        words,
      };
    })
    .sort((a, b) => b.score - a.score || (a.card.id < b.card.id ? -1 : 1));
}

export type Weights = { readonly [Sign in keyof Signs]: number };

export function scoreOf(signs: Signs, weights: Weights): number {
  let score = 0;
  for (const sign of Object.keys(weights) as (keyof Signs)[]) score += weights[sign] * signs[sign];
  return score;
}

/** The terms that say most, and not more of them than can be looked at in time. */
function soughtIn(index: Index, query: Query, { search }: Policy): Sought[] {
  const sought: Sought[] = [];
  const mostImplied = Math.max(search.implied.atLeast, index.size * search.implied.share);
  const look = (isAsked: boolean, terms: Query["asked"]) => {
    for (const { term, weight } of terms) {
      const postings = index.postings(term);
      if (!isAsked && (!postings || postings.size > mostImplied)) continue;
      sought.push({ term, postings, isAsked, value: weight * rarity(index, postings) ** search.rarity });
    }
  };
  look(true, query.asked);
  look(false, query.implied);
  return sought.sort((a, b) => b.value - a.value || (a.term < b.term ? -1 : 1)).slice(0, search.terms);
}

function rarity(index: Index, postings: Postings | null): number {
  const having = postings?.size ?? 0;
  return Math.log(1 + (index.size - having + 0.5) / (having + 0.5));
}

/**
 * BM25F: a word counts by its field, less the longer the field is, and each further one less than the one before.
 * Body and headings count once more on their own: beside a description that has a word, a body that has it would else
 * say nothing.
 */
function basesOf(index: Index, sought: readonly Sought[], { search }: Policy): Float64Array {
  const bases = new Float64Array(index.numbers);
  const { weights, steady, growing } = fieldNumbers(index, search);
  const { saturation, text } = search;
  const own = index.lengths();
  // A hook runs this before anything is compiled, so it does as little as can be for each entry.
  for (const { postings, value } of sought) {
    if (!postings) continue;
    const { entries, masks, counts, size } = postings;
    for (let at = 0; at < size; at++) {
      const entry = entries[at] as number;
      let all = 0;
      let inText = 0;
      for (let rest = masks[at] as number; rest !== 0; rest &= rest - 1) {
        const field = 31 - Math.clz32(rest & -rest);
        const length = own[entry * wide + field] as number;
        const often =
          (counts[at * wide + field] as number) /
          ((steady[field] as number) + (growing[field] as number) * length);
        all += (weights[field] as number) * often;
        if (field === bodyAt || field === headingsAt) inText += often;
      }
      bases[entry] =
        (bases[entry] as number) + value * (all / (saturation + all) + (text * inText) / (1 + inText));
    }
  }
  return bases;
}

const wide = fields.length;
const bodyAt = fields.indexOf("body");
const headingsAt = fields.indexOf("headings");

/** For each field what a word in it counts, and what its frequency is divided by: something, and more for each word that the field has. */
function fieldNumbers(
  { totals, size }: Index,
  search: Policy["search"],
): { weights: number[]; steady: number[]; growing: number[] } {
  const means = totals.map((total) => Math.max(1, total / Math.max(1, size)));
  return {
    weights: fields.map((field) => search.fields[field].weight),
    steady: fields.map((field) => 1 - search.fields[field].length),
    growing: fields.map((field, at) => search.fields[field].length / (means[at] as number)),
  };
}

/** The numbers of the entries with the highest values, in the order of their ids where values are equal. */
function best(
  values: Float64Array,
  most: number,
  index: Index,
  realms: ReadonlySet<string> | undefined,
): number[] {
  const some = realms && !index.isAllFor(realms) ? realms : undefined;
  const kept: number[] = [];
  let least = 0;
  const better = (a: number, b: number) => {
    const difference = (values[b] as number) - (values[a] as number);
    return difference !== 0 ? difference : index.card(a).id < index.card(b).id ? -1 : 1;
  };
  const cut = () => {
    kept.sort(better);
    kept.length = Math.min(kept.length, most);
    if (kept.length === most) least = values[kept[most - 1] as number] as number;
  };
  for (let entry = 0; entry < values.length; entry++) {
    const value = values[entry] as number;
    if (value <= 0 || value < least || (some && !some.has(index.realm(entry)))) continue;
    kept.push(entry);
    if (kept.length >= most * 4) cut();
  }
  cut();
  return kept;
}
