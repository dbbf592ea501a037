import type { Policy } from "../policy.ts";
import { type Card, type FieldName, fields, lowest, type Reading } from "./entry.ts";
import type { Hit, Signs, Sought } from "./rank.ts";
import { tokensOf } from "./tokens.ts";

type Read = { signs: Omit<Signs, "base" | "likeness">; words: Hit[] };

/** What speaks for each entry beside the sum of its words, the best first; `unseen` is the value of a word that none has. */
export function signsOf(
  sought: readonly Sought[],
  entries: readonly number[],
  cards: readonly Card[],
  unseen: number,
  { search }: Policy,
): Read[] {
  const asked = new Map<string, number>();
  let mass = 0;
  let rarest = 0;
  for (const { term, value, isAsked } of sought) {
    if (!isAsked) continue;
    asked.set(term, value);
    mass += value;
    rarest = Math.max(rarest, value);
  }
  // A word or two say little, even where all of them are found.
  const whole = Math.max(mass, search.leastTerms * unseen);
  // What descriptions say of those far behind changes nothing.
  const described = cards.slice(0, search.described);
  const pointed = pointers(described, asked);
  return entries.map((entry, at) => {
    const hits = hitsOf(sought, entry);
    const of = described[at]?.reading;
    const named = new Set(cards[at]?.reading.name);
    return {
      signs: {
        covered: Math.min(1, hits.covered / whole),
        told: Math.min(1, hits.told / whole),
        body: Math.min(1, hits.body / whole),
        opening: of ? massOf(of.opening, asked) / whole : 0,
        named: named.size === 0 ? 0 : count(named, asked) / named.size,
        quoted: of ? bestPhrase(of.phrases, asked, search) / whole : 0,
        pointed: (pointed[at] ?? 0) / whole,
        rarest: rarest === 0 ? 0 : hits.rarest / rarest,
        unfit: Math.min(1, hits.unfit / whole),
      },
      words: hits.words.map((hit) => ({ ...hit, mass: hit.mass / mass })),
    };
  });
}

interface Hits {
  covered: number;
  told: number;
  body: number;
  unfit: number;
  rarest: number;
  words: Hit[];
}

/** Fields as bits: what says what an entry is not for, what its text says, what says what it is for, and all that speaks for it. */
const unfitBit = bitsOf("unfit");
const bodyBit = bitsOf("body");
const tellingBits = bitsOf("name", "description", "when", "prompts");
const speakingBits = bitsOf(...fields) & ~unfitBit;

function bitsOf(...some: readonly FieldName[]): number {
  return some.reduce((bits, field) => bits | (1 << fields.indexOf(field)), 0);
}

function hitsOf(sought: readonly Sought[], entry: number): Hits {
  const hits: Hits = { covered: 0, told: 0, body: 0, unfit: 0, rarest: 0, words: [] };
  for (const { term, value, postings, isAsked } of sought) {
    const at = postings ? placeOf(postings.entries, postings.size, entry) : -1;
    if (!postings || at < 0) continue;
    const mask = postings.masks[at] as number;
    const isTold = (mask & tellingBits) !== 0;
    // What stands on both sides, what it is about, tells nothing: "find flaky tests; not for slow tests".
    if (isAsked && (mask & unfitBit) !== 0 && !isTold) hits.unfit += value;
    if ((mask & speakingBits) === 0) continue;
    hits.covered += value;
    if (isAsked) hits.words.push({ term, mass: value, field: lowest(mask & speakingBits) });
    if ((mask & bodyBit) !== 0) hits.body += value;
    if (!isTold) continue;
    hits.told += value;
    if (isAsked) hits.rarest = Math.max(hits.rarest, value);
  }
  return hits;
}

function placeOf(entries: Uint32Array, size: number, entry: number): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle] as number) < entry) low = middle + 1;
    else high = middle;
  }
  return low < size && entries[low] === entry ? low : -1;
}

function massOf(terms: Iterable<string>, asked: ReadonlyMap<string, number>): number {
  let mass = 0;
  for (const term of terms) mass += asked.get(term) ?? 0;
  return mass;
}

function count(terms: Iterable<string>, asked: ReadonlyMap<string, number>): number {
  let found = 0;
  for (const term of terms) if (asked.has(term)) found++;
  return found;
}

/** What a quoted phrase adds where most of it was said. */
function bestPhrase(
  phrases: Reading["phrases"],
  asked: ReadonlyMap<string, number>,
  { phraseShare }: Policy["search"],
): number {
  let most = 0;
  for (const phrase of phrases) {
    const share = phrase.length === 0 ? 0 : count(phrase, asked) / phrase.length;
    if (share >= phraseShare) most = Math.max(most, share * massOf(phrase, asked));
  }
  return most;
}

/** How much of what was asked the others say each one is for: "for backlinks, see seo-audit". */
function pointers(described: readonly Card[], asked: ReadonlyMap<string, number>): number[] {
  const pointed = described.map(() => 0);
  const written = described.map(({ name }) => name.toLowerCase());
  for (const [from, { reading }] of described.entries())
    for (const clause of reading.clauses) {
      let mass = -1;
      for (const [at, to] of described.entries()) {
        const name = written[at] as string;
        if (!clause.includes(name) || !names(clause, name, written[from] as string)) continue;
        if (mass < 0) mass = massOf(new Set(tokensOf(clause)), asked);
        pointed[at] = Math.max(pointed[at] as number, mass - massOf(new Set(to.reading.name), asked));
      }
    }
  return pointed;
}

/** A name of one plain word is a name only where it is marked as one. */
function names(clause: string, name: string, own: string): boolean {
  if (name.length < 3 || own.includes(name)) return false;
  const at = clause.indexOf(name);
  const before = clause[at - 1] ?? " ";
  const after = clause[at + name.length] ?? " ";
  if (/[\w-]/.test(before) || /[\w-]/.test(after)) return false;
  return name.includes("-") || /[`"'*→/]/.test(before) || /(?:use|see|prefer) $/.test(clause.slice(0, at));
}
