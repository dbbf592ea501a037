import { findAliases, tokenize, translateWords } from "../text/index.ts";
import { fields, type LibraryCard } from "./entry.ts";
import type { LibraryIndex } from "./library-index.ts";

type TokenPostings = NonNullable<ReturnType<LibraryIndex["postings"]>>;

/** An entry that was found, and by what. */
interface RankedEntry {
  readonly entry: number;
  readonly card: LibraryCard;
  /** Higher is better, for the same query. */
  readonly score: number;
  readonly signs: MatchSigns;
  /** The prompt's words that it has, those that say most first. */
  readonly words: readonly WordHit[];
}

/** Evidence for an entry; shares are of the query, weighted by how rare its words are. */
interface MatchSigns {
  /** The root of what its words add up to, since long prompts add up to much. */
  readonly base: number;
  /** Share that it has anywhere. */
  readonly covered: number;
  /** Share in its name, its description, when to use it, and prompts it helped in. */
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
}

/** A word of the prompt in an entry. */
interface WordHit {
  readonly term: string;
  /** How much of what was asked it is. */
  readonly mass: number;
  /** The number of the field that counts most. */
  readonly field: number;
}

/**
 * Weight of each sign in the score: fitted to queries with known answers and held near the first of them, so that no
 * sign can turn the order around. One is set by hand: what an entry says it is not for counts against it, though who
 * refuses something is often near it.
 */
const signWeights: MatchSigns = {
  base: 2.3,
  covered: 2,
  told: 1.5,
  body: 1.65,
  opening: 2.3,
  named: 1.1,
  quoted: 4,
  pointed: 3.6,
  rarest: 0.3,
  unfit: -1,
};

/** Terms of a query that are looked up, those that say most. */
const mostTerms = 60;
/** An implied word that more entries have than this share, and more than so many, is ignored. */
const impliedMost = { share: 0.1, entries: 100 };
/** The power of a term's rarity: below 1, a rare word that is there by chance does not outvote the rest. */
const rarityPower = 0.75;
/** Occurrences, weighted by field, at which a term counts half of what it can. */
const saturation = 6;
/** Weight of body and headings on their own, beside all fields together. */
const textWeight = 0.3;
/** Weight of an occurrence in each field, and how strongly it is normalized by the field's length. */
const fieldWeights: Readonly<Record<(typeof fields)[number], { weight: number; length: number }>> = {
  name: { weight: 6, length: 0.3 },
  description: { weight: 4, length: 0.3 },
  when: { weight: 3, length: 0.2 },
  unfit: { weight: 0, length: 0 },
  headings: { weight: 1, length: 0.2 },
  body: { weight: 0.5, length: 0.75 },
  tags: { weight: 3, length: 0.1 },
  prompts: { weight: 4, length: 0.1 },
};
/** Entries that are looked at closely unless the caller says otherwise, and how many of their descriptions are read. */
const mostEntries = 50;
const mostDescribed = 20;
/** A prompt of fewer unseen words counts as this many: who says little asks little. */
const leastTerms = 2.5;
/** Share of a quoted phrase from which it was said. */
const phraseShare = 0.6;

interface RankOptions {
  /** Words for what the project is: its languages and tools. */
  readonly context?: readonly string[];
  /** Scopes to search; all by default. */
  readonly scopeIds?: ReadonlySet<string>;
  /** How many are looked at closely, and found at most. */
  readonly most?: number;
}

/** The entries that fit a prompt, best first, whatever order they were indexed in. */
export function rank(
  index: LibraryIndex,
  prompt: string,
  { context = [], scopeIds, most = mostEntries }: RankOptions = {},
): { readonly query: SearchQuery; readonly entries: RankedEntry[] } {
  const query = readQuery(prompt, context);
  const sought = lookUpTerms(index, query);
  const bases = sumBases(index, sought);
  const numbers = pickBest(bases, most, index, scopeIds);
  const cards = numbers.map((entry) => index.card(entry));
  const entries = readSigns(sought, numbers, cards, measureRarity(index, null) ** rarityPower)
    .map(({ signs: read, words }, at): RankedEntry => {
      const entry = numbers[at] as number;
      const signs = { ...read, base: Math.sqrt(bases[entry] as number) };
      return { entry, card: cards[at] as LibraryCard, score: scoreSigns(signs), signs, words };
    })
    .sort((a, b) => b.score - a.score || (a.card.id < b.card.id ? -1 : 1));
  return { query, entries };
}

function scoreSigns(signs: MatchSigns): number {
  let score = 0;
  for (const sign of Object.keys(signWeights) as (keyof MatchSigns)[])
    score += signWeights[sign] * signs[sign];
  return score;
}

/** A term of the query, as the index has it. */
interface SoughtTerm {
  readonly term: string;
  /** How much having it counts. */
  readonly value: number;
  readonly postings: TokenPostings | null;
  readonly isAsked: boolean;
}

/** The terms that say most, and no more than can be looked up in time. */
function lookUpTerms(index: LibraryIndex, query: SearchQuery): SoughtTerm[] {
  const sought: SoughtTerm[] = [];
  const mostImplied = Math.max(impliedMost.entries, index.size * impliedMost.share);
  const look = (isAsked: boolean, terms: SearchQuery["asked"]) => {
    for (const { term, weight } of terms) {
      const postings = index.postings(term);
      if (!isAsked && (!postings || postings.size > mostImplied)) continue;
      sought.push({
        term,
        postings,
        isAsked,
        value: weight * measureRarity(index, postings) ** rarityPower,
      });
    }
  };
  look(true, query.asked);
  look(false, query.implied);
  return sought.sort((a, b) => b.value - a.value || (a.term < b.term ? -1 : 1)).slice(0, mostTerms);
}

function measureRarity(index: LibraryIndex, postings: TokenPostings | null): number {
  const having = postings?.size ?? 0;
  return Math.log(1 + (index.size - having + 0.5) / (having + 0.5));
}

const wide = fields.length;
const bodyAt = fields.indexOf("body");
const headingsAt = fields.indexOf("headings");

/**
 * BM25F: a word counts by its field, less the longer the field is, and each further one less than the one before. Body
 * and headings count once more on their own: a body would else say nothing beside a description with the same word.
 */
function sumBases(index: LibraryIndex, sought: readonly SoughtTerm[]): Float64Array {
  const bases = new Float64Array(index.numbers);
  const means = index.totals.map((total) => Math.max(1, total / Math.max(1, index.size)));
  const weights = fields.map((field) => fieldWeights[field].weight);
  // What a frequency is divided by: something, and more for each word that the field has.
  const steady = fields.map((field) => 1 - fieldWeights[field].length);
  const growing = fields.map((field, at) => fieldWeights[field].length / (means[at] as number));
  const lengths = index.lengths();
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
        const length = lengths[entry * wide + field] as number;
        const often =
          (counts[at * wide + field] as number) /
          ((steady[field] as number) + (growing[field] as number) * length);
        all += (weights[field] as number) * often;
        if (field === bodyAt || field === headingsAt) inText += often;
      }
      bases[entry] =
        (bases[entry] as number) + value * (all / (saturation + all) + (textWeight * inText) / (1 + inText));
    }
  }
  return bases;
}

/** The numbers of the entries with the highest values, in the order of their ids where values are equal. */
function pickBest(
  values: Float64Array,
  most: number,
  index: LibraryIndex,
  scopeIds: ReadonlySet<string> | undefined,
): number[] {
  const some = scopeIds && !index.isAllFor(scopeIds) ? scopeIds : undefined;
  const kept: number[] = [];
  let least = 0;
  const compare = (a: number, b: number) => {
    const difference = (values[b] as number) - (values[a] as number);
    return difference !== 0 ? difference : index.card(a).id < index.card(b).id ? -1 : 1;
  };
  const cut = () => {
    kept.sort(compare);
    kept.length = Math.min(kept.length, most);
    if (kept.length === most) least = values[kept[most - 1] as number] as number;
  };
  for (let entry = 0; entry < values.length; entry++) {
    const value = values[entry] as number;
    if (value <= 0 || value < least || (some && !some.has(index.scopeId(entry)))) continue;
    kept.push(entry);
    if (kept.length >= most * 4) cut();
  }
  cut();
  return kept;
}

/** Signs for each entry beside the sum of its words; `unseen` is the value of a word that no entry has. */
function readSigns(
  sought: readonly SoughtTerm[],
  entries: readonly number[],
  cards: readonly LibraryCard[],
  unseen: number,
): { signs: Omit<MatchSigns, "base">; words: WordHit[] }[] {
  const asked = new Map(sought.filter(({ isAsked }) => isAsked).map(({ term, value }) => [term, value]));
  const mass = sumMass(asked.keys(), asked);
  const rarest = Math.max(0, ...asked.values());
  const whole = Math.max(mass, leastTerms * unseen);
  // What descriptions say of those far behind changes nothing.
  const described = cards.slice(0, mostDescribed);
  const pointed = findPointers(described, asked);
  return entries.map((entry, at) => {
    const hits = collectHits(sought, entry);
    const of = described[at]?.reading;
    const named = new Set(cards[at]?.reading.name);
    return {
      signs: {
        covered: Math.min(1, hits.covered / whole),
        told: Math.min(1, hits.told / whole),
        body: Math.min(1, hits.body / whole),
        opening: of ? sumMass(of.opening, asked) / whole : 0,
        named: named.size === 0 ? 0 : countAsked(named, asked) / named.size,
        quoted: of ? findBestPhrase(of.phrases, asked) / whole : 0,
        pointed: (pointed[at] ?? 0) / whole,
        rarest: rarest === 0 ? 0 : hits.rarest / rarest,
        unfit: Math.min(1, hits.unfit / whole),
      },
      words: hits.words.map((hit) => ({ ...hit, mass: hit.mass / mass })),
    };
  });
}

const unfitBit = toBits("unfit");
const bodyBit = toBits("body");
/** The fields that say what an entry is for. */
const tellingBits = toBits("name", "description", "when", "prompts");
const speakingBits = toBits(...fields) & ~unfitBit;

function toBits(...some: readonly (typeof fields)[number][]): number {
  return some.reduce((bits, field) => bits | (1 << fields.indexOf(field)), 0);
}

function collectHits(sought: readonly SoughtTerm[], entry: number) {
  const hits = { covered: 0, told: 0, body: 0, unfit: 0, rarest: 0, words: [] as WordHit[] };
  for (const { term, value, postings, isAsked } of sought) {
    const at = postings ? findEntry(postings, entry) : -1;
    if (!postings || at < 0) continue;
    const mask = postings.masks[at] as number;
    const isTold = (mask & tellingBits) !== 0;
    // A word on both sides says nothing: "find flaky tests; not for slow tests".
    if (isAsked && (mask & unfitBit) !== 0 && !isTold) hits.unfit += value;
    if ((mask & speakingBits) === 0) continue;
    hits.covered += value;
    if (isAsked)
      hits.words.push({
        term,
        mass: value,
        field: 31 - Math.clz32(mask & speakingBits & -(mask & speakingBits)),
      });
    if ((mask & bodyBit) !== 0) hits.body += value;
    if (!isTold) continue;
    hits.told += value;
    if (isAsked) hits.rarest = Math.max(hits.rarest, value);
  }
  return hits;
}

function findEntry({ entries, size }: TokenPostings, entry: number): number {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle] as number) < entry) low = middle + 1;
    else high = middle;
  }
  return low < size && entries[low] === entry ? low : -1;
}

function sumMass(terms: Iterable<string>, asked: ReadonlyMap<string, number>): number {
  let mass = 0;
  for (const term of terms) mass += asked.get(term) ?? 0;
  return mass;
}

function countAsked(terms: Iterable<string>, asked: ReadonlyMap<string, number>): number {
  let found = 0;
  for (const term of terms) if (asked.has(term)) found++;
  return found;
}

/** The score of the best quoted phrase of which the query has most words. */
function findBestPhrase(
  phrases: LibraryCard["reading"]["phrases"],
  asked: ReadonlyMap<string, number>,
): number {
  let most = 0;
  for (const phrase of phrases) {
    const share = phrase.length === 0 ? 0 : countAsked(phrase, asked) / phrase.length;
    if (share >= phraseShare) most = Math.max(most, share * sumMass(phrase, asked));
  }
  return most;
}

/** How much of what was asked the others say each one is for: "for backlinks, see seo-audit". */
function findPointers(described: readonly LibraryCard[], asked: ReadonlyMap<string, number>): number[] {
  const pointed = described.map(() => 0);
  const written = described.map(({ name }) => name.toLowerCase());
  for (const [from, { reading }] of described.entries())
    for (const clause of reading.clauses) {
      let mass = -1;
      for (const [at, to] of described.entries()) {
        const name = written[at] as string;
        if (!clause.includes(name) || !isNamed(clause, name, written[from] as string)) continue;
        if (mass < 0) mass = sumMass(new Set(tokenize(clause)), asked);
        pointed[at] = Math.max(pointed[at] as number, mass - sumMass(new Set(to.reading.name), asked));
      }
    }
  return pointed;
}

/** A name of one plain word is a name only where it is marked as one. */
function isNamed(clause: string, name: string, own: string): boolean {
  if (name.length < 3 || own.includes(name)) return false;
  const at = clause.indexOf(name);
  const before = clause[at - 1] ?? " ";
  const after = clause[at + name.length] ?? " ";
  if (/[\w-]/.test(before) || /[\w-]/.test(after)) return false;
  return name.includes("-") || /[`"'*→/]/.test(before) || /(?:use|see|prefer) $/.test(clause.slice(0, at));
}

/** A parsed query: its terms and their weights. */
interface SearchQuery {
  /** As much of the prompt as was read. */
  readonly text: string;
  /** The prompt's own terms, each once, in the order they are met. */
  readonly asked: readonly WeightedTerm[];
  /** Aliases of the terms, and words for the project: evidence, but not part of the query. */
  readonly implied: readonly WeightedTerm[];
}

interface WeightedTerm {
  readonly term: string;
  readonly weight: number;
}

/** Characters of a prompt that are read, its beginning and its end; and of which words are translated. */
const promptChars = 6_000;
const translatedChars = 400;
/** Weights of a sentence that asks nothing where another one does, and of pasted text. */
const toldWeight = 0.5;
const pastedWeight = 0.3;
/** After so many terms one counts half as much as the first; and what any counts at least. */
const halfAfterTerms = 25;
const leastEarliness = 0.4;
/** Bonus for each repetition of a term, and the number of repetitions that count. */
const repeatBonus = 0.25;
const mostRepeats = 2;
/** Weights of a term's aliases, a word's translations, and the project's words. */
const aliasWeight = 0.15;
const translationWeight = 0.5;
const contextWeight = 0.15;

/** Reads a prompt; `context` names the project's languages and tools. */
function readQuery(prompt: string, context: readonly string[]): SearchQuery {
  const text = capPrompt(prompt);
  const said = new Map<string, { most: number; times: number }>();
  let met = 0;
  for (const { words, weight } of splitPrompt(text))
    for (const token of tokenize(words)) {
      // The request usually comes first.
      const early = Math.max(leastEarliness, 1 / (1 + met / halfAfterTerms));
      const known = said.get(token);
      said.set(token, { most: Math.max(known?.most ?? 0, weight * early), times: (known?.times ?? 0) + 1 });
      met++;
    }
  const asked = Array.from(said, ([term, { most, times }]) => ({
    term,
    weight: most * (1 + repeatBonus * Math.min(times - 1, mostRepeats)),
  }));
  return { text, asked, implied: implyTerms(text, asked, context) };
}

/** The beginning and the end of a long prompt: what is pasted stands between them. */
function capPrompt(prompt: string): string {
  if (prompt.length <= promptChars) return prompt;
  const head = Math.round((promptChars * 2) / 3);
  return `${prompt.slice(0, head)}\n${prompt.slice(head - promptChars)}`;
}

/** The sentences of a prompt: those that ask count in full, the others less, what is pasted least. */
function splitPrompt(text: string): { words: string; weight: number }[] {
  const code: string[] = [];
  const prose = text.replace(/```[\s\S]*?(?:```|$)/g, (words) => {
    code.push(words);
    return "\n";
  });
  const sentences = prose.split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/).filter((words) => words.trim() !== "");
  const anyAsks = sentences.some(asks);
  const weigh = (words: string) =>
    looksPasted(words) ? pastedWeight : !anyAsks || asks(words) ? 1 : toldWeight;
  return [
    ...sentences.map((words) => ({ words, weight: weigh(words) })),
    ...code.map((words) => ({ words, weight: pastedWeight })),
  ];
}

function asks(sentence: string): boolean {
  return (
    /[?？]/.test(sentence) || /^\W*(?:please\b|帮|请|幫|請)/i.test(sentence) || opensAsking.test(sentence)
  );
}

/** An order or a wish opens a sentence; in Japanese and Korean it ends one. */
const opensAsking =
  /^\W*(?:can|could|how|what|why|which|help|write|create|build|make|add|fix|set|generate|implement|review|design|draft|give|show|find|analy[sz]e|convert|update|check|plan|debug|deploy|explain|i (?:want|need|would)|i'd|we (?:want|need)|i'm (?:trying|looking))\b|(?:してください|して|したい|てほしい|해줘|해주세요)\W*$/i;

/** A line of a log, a stack, a diff, a table or a quotation. */
function looksPasted(line: string): boolean {
  return /^\s*(?:>|\||at \S+[(:]|\d{4}-\d\d-\d\d|\[[\w:. -]+\]|[+-]{3} |@@|[{}$]|\S+:\d+[:)]|Traceback|Caused by)/.test(
    line,
  );
}

function implyTerms(
  text: string,
  asked: readonly WeightedTerm[],
  context: readonly string[],
): WeightedTerm[] {
  const own = new Set(asked.map(({ term }) => term));
  const weights = new Map<string, number>();
  const imply = (term: string, weight: number) => {
    if (!own.has(term)) weights.set(term, Math.max(weights.get(term) ?? 0, weight));
  };
  for (const { term, weight } of asked)
    for (const other of findAliases(term)) imply(other, weight * aliasWeight);
  if (/[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]/.test(text))
    for (const { terms } of translateWords(text.slice(0, translatedChars)))
      for (const token of tokenize(terms.join(" "))) imply(token, translationWeight);
  for (const token of tokenize(context.join(" "))) imply(token, contextWeight);
  return Array.from(weights, ([term, weight]) => ({ term, weight }));
}
