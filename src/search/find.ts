import { asSentence, cutAtWord, oneLine } from "../text/index.ts";
import { type Card, fields, type LibraryCard } from "./entry.ts";
import type { LibraryIndex } from "./library-index.ts";
import { readQuery, type SearchQuery } from "./query.ts";
import { type MatchSigns, type RankedEntry, rank, type WordHit } from "./rank.ts";

/** At most so many things are offered for one text, beside the one that is loaded. */
const mostOffers = 3;
/** Probability from which a match is offered, unasked and to somebody who asks. */
const offerFrom = 0.35;
const askedFrom = 0.15;
/** Probability from which a skill is loaded of a library of `loadSize`, and how much more for ten times as many. */
const loadFrom = 0.68;
const loadSize = 200;
const loadCare = 0.05;
/** In a larger library a skill is loaded only if it helped in so many sessions before. */
const loadUnprovenUpTo = 3_000;
const provenUses = 2;
/** Words of a prompt that a match must have: one may be met by chance. */
const leastWords = 2;
/** Share of what was asked that may stand in what a loaded skill says it is not for. */
const mostUnfit = 0.15;
/** Share of what was asked that a match must have in its name, description or when-to-use to be spoken of at all. */
const leastTold = 0.12;
/** Entries from which a library is a crowd, where what fits well is more often one of several. */
const crowdSize = 2_000;
/** Entries that are looked at closely where only the best few are wanted. */
const mostRanked = 10;
/** Words that say why something matched. */
const mostReasons = 4;
/** Characters of a description in an offer, and of a text that is loaded. */
const offerChars = 240;
const loadChars = 4_000;

/** Something of the library that fits a text. */
export interface FoundItem {
  readonly card: LibraryCard;
  /** Whether it fits so well that it is given whole. */
  readonly how: "load" | "offer";
  /** How likely it is the right one. */
  readonly chance: number;
  /** Why it matched, for a person. */
  readonly why: string;
}

export interface FindOptions {
  readonly project: string;
  /** Words for what the project is: its languages and tools. */
  readonly context: readonly string[];
  /** Somebody asked, and is not interrupted. */
  readonly asked?: boolean;
  /** How alike the text and an entry are in meaning, by its id; 0 where that is not known. */
  readonly likeness?: (id: string) => number;
}

/** What the library has for a text: the best few, the best first, or nothing rather than something weak. */
export function find(index: LibraryIndex, text: string, options: FindOptions): FoundItem[] {
  const query = readQuery(text, options.context);
  const { asked = false } = options;
  const size = index.sizeFor(listScopes(options));
  const { load, offers } = decide(rankFor(index, query, options), query, { size, asked });
  const toFound = (match: DecidedMatch, how: FoundItem["how"]): FoundItem => {
    const card = match.card as LibraryCard;
    // A command is the person's to call and an agent is given work: neither is a text to follow.
    const isText = card.kind === "skill" && card.harmless;
    return { card, how: isText ? how : "offer", chance: match.probability, why: match.because };
  };
  return [
    ...(load === null ? [] : [toFound(load, "load")]),
    ...offers.map((match) => toFound(match, "offer")),
  ];
}

function rankFor(index: LibraryIndex, query: SearchQuery, options: FindOptions): RankedEntry[] {
  const { project, asked = false, likeness } = options;
  const alike = likeness && ((cards: readonly Card[]) => cards.map(({ id }) => likeness(id)));
  const ranked = rank(index, query, {
    scopeIds: listScopes(options),
    most: mostRanked,
    ...(alike ? { likeness: alike } : {}),
  });
  return ranked.filter(({ card }) => {
    const { hiddenIn, load } = card as LibraryCard;
    // What only a person may call is not put before an agent.
    return !hiddenIn.includes(project) && (asked || load !== "person");
  });
}

function listScopes({ project }: FindOptions): ReadonlySet<string> {
  return new Set([project, "user"]);
}

/** Turns texts into vectors of what they mean, all of one length. None is built in. */
export interface Embedder {
  embed(texts: readonly string[]): Promise<readonly ArrayLike<number>[]>;
}

/** How alike a text and what may fit it are to an embedder, by id. */
export async function embedMatches(
  embedder: Embedder,
  index: <Result>(look: (index: LibraryIndex) => Result) => Result | null,
  text: string,
  options: FindOptions,
): Promise<(id: string) => number> {
  const query = readQuery(text, options.context);
  const cards = index((found) => rankFor(found, query, options).map(({ card }) => card)) ?? [];
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

/** A ranked entry with how likely it is right, and why in words. */
interface DecidedMatch extends RankedEntry {
  readonly probability: number;
  readonly because: string;
}

/** Signs by which a match is judged: its own, and how far it is ahead of the best of the others. */
export interface GateSigns {
  readonly base: number;
  readonly covered: number;
  readonly named: number;
  readonly quoted: number;
  readonly baseLead: number;
  readonly coveredLead: number;
  readonly namedLead: number;
  /** How much larger the library is than those that the numbers were fitted to. */
  readonly crowd: number;
}

export type GateWeights = { readonly [Sign in keyof GateSigns | "always"]: number };

/** What each sign adds to the log-odds that a match is right: fitted to libraries of 200 and of 2,000 skills. */
export const gateWeights: GateWeights = {
  always: -3.5,
  base: 0.42,
  covered: 2.7,
  named: 0.95,
  quoted: 3.25,
  baseLead: 2.07,
  coveredLead: 3.25,
  namedLead: 0.48,
  crowd: -0.63,
};

interface DecideOptions {
  /** Entries of the library. */
  readonly size: number;
  readonly gate?: GateWeights;
  /** Somebody asked: less sure answers are welcome too. */
  readonly asked?: boolean;
}

/** Loads the best match where it is likely enough to be right, offers what may be, and says nothing of the rest. */
export function decide(
  ranked: readonly RankedEntry[],
  query: SearchQuery,
  { size, gate = gateWeights, asked = false }: DecideOptions,
): { load: DecidedMatch | null; offers: DecidedMatch[] } {
  const likely = ranked
    .slice(0, mostOffers + 1)
    .map((found, at): DecidedMatch => {
      const probability = judgeSigns(readGateSigns(ranked, at, size), gate);
      return { ...found, probability, because: explainMatch(found, query) };
    })
    .filter((match) => match.probability >= (asked ? askedFrom : offerFrom) && saysEnough(match));
  const load = likely.find((match) => match.card.load === "always") ?? pickLoadable(likely[0], ranked, size);
  return { load, offers: likely.filter((match) => match !== load).slice(0, mostOffers) };
}

/** A single word is met by chance, unless it is the skill's name; and any text has words that its skill is not about. */
function saysEnough({ words, signs }: RankedEntry): boolean {
  if (words.some(({ field }) => fields[field] === "name")) return true;
  return countWords(words) >= leastWords && signs.told >= leastTold;
}

function pickLoadable(
  match: DecidedMatch | undefined,
  ranked: readonly RankedEntry[],
  size: number,
): DecidedMatch | null {
  if (!match || match.entry !== ranked[0]?.entry) return null;
  const { card, words, signs, probability } = match;
  if (card.load !== "fit" && card.load !== "always") return null;
  if (countWords(words) < leastWords || signs.unfit > mostUnfit) return null;
  if (size > loadUnprovenUpTo && card.uses < provenUses) return null;
  const care = loadCare * Math.max(0, Math.log10(size / loadSize));
  return probability >= loadFrom + care ? match : null;
}

/** What a match is judged by; `at` is its rank. */
export function readGateSigns(ranked: readonly RankedEntry[], at: number, size: number): GateSigns {
  const own = (ranked[at] as RankedEntry).signs;
  const other: Pick<MatchSigns, "base" | "covered" | "named"> = ranked[at === 0 ? 1 : 0]?.signs ?? {
    base: 0,
    covered: 0,
    named: 0,
  };
  return {
    base: own.base,
    covered: own.covered,
    named: own.named,
    quoted: own.quoted,
    baseLead: own.base - other.base,
    coveredLead: own.covered - other.covered,
    namedLead: own.named - other.named,
    crowd: Math.max(0, Math.log(size / crowdSize)),
  };
}

export function judgeSigns(signs: GateSigns, gate: GateWeights): number {
  let odds = gate.always;
  for (const sign of Object.keys(signs) as (keyof GateSigns)[]) odds += gate[sign] * signs[sign];
  return 1 / (1 + Math.exp(-odds));
}

/** Why it matched, as a person would say it. */
function explainMatch({ words }: RankedEntry, { text }: SearchQuery): string {
  const share = words.reduce((sum, { mass }) => sum + mass, 0);
  const typed = text.toLowerCase();
  // The whole of a compound is a term beside its parts, and means nothing to a reader.
  const isTyped = ({ term }: WordHit) => !isAscii(term) || typed.includes(term.slice(0, -1));
  const places = new Map<number, string[]>();
  for (const { term, field } of joinPairs(words.filter(isTyped)).slice(0, mostReasons))
    places.set(field, [...(places.get(field) ?? []), `"${restorePlural(term, text)}"`]);
  const where = [...places]
    .sort(([a], [b]) => a - b)
    .map(([field, terms]) => `${terms.join(", ")} in its ${nameField(field)}`);
  return [...where, `covers ${Math.round(share * 100)} % of what you asked`].join("; ");
}

function isAscii(term: string): boolean {
  return term.charCodeAt(0) < 0x80;
}

/** Terms have lost their plural; a reader looks for the word that was typed. */
function restorePlural(term: string, text: string): string {
  const at = text.toLowerCase().indexOf(`${term}s`);
  return at < 0 || text.toLowerCase().includes(`${term} `) ? term : text.slice(at, at + term.length + 1);
}

function nameField(field: number): string {
  const name = fields[field] ?? "body";
  if (name === "when") return "when-to-use";
  return name === "prompts" ? "earlier prompts" : name;
}

/** How many words were met. In scripts without spaces two Han characters are about one, and so is a run of others. */
function countWords(words: readonly WordHit[]): number {
  const unspacedWord = /[\u3400-\u9fff]{2}|[\u30a1-\u30fc]{2,}|[\uac00-\ud7a3]{2,}/g;
  return joinPairs(words).reduce(
    (sum, { term }) => sum + (isAscii(term) ? 1 : Math.max(1, term.match(unspacedWord)?.length ?? 0)),
    0,
  );
}

/** Overlapping pairs of characters are one word to a reader. */
function joinPairs(words: readonly WordHit[]): WordHit[] {
  const all: WordHit[] = [];
  for (const hit of words) {
    const [first = "", last = ""] = hit.term;
    const isPair = hit.term.length === 2 && hit.term.charCodeAt(0) >= 0x0e00;
    const at = isPair ? all.findIndex(({ term }) => term.endsWith(first) || term.startsWith(last)) : -1;
    const before = all[at];
    if (!before) all.push(hit);
    else
      all[at] = { ...before, term: before.term.endsWith(first) ? before.term + last : first + before.term };
  }
  return all;
}

/** One line about something that may fit: what it is, and how an agent gets at it. */
export function renderOffer(card: LibraryCard): string {
  // A description can give an agent orders as well as a text can.
  const about = card.harmless ? cutAtWord(oneLine(card.description), offerChars) : "";
  return `Knack: ${label(card)} may fit${about === "" ? "." : `: ${asSentence(about)}`} ${explainAccess(card)}`;
}

/** The whole text of something that fits. */
export function renderLoaded(card: LibraryCard, text: string): string {
  const body = text.replace(/^\ufeff?---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/, "").trim();
  const rest = body.length > loadChars ? `\n[cut; the rest is in ${card.path}]` : "";
  return `Knack: ${label(card)} fits what is asked (${card.path}):\n${body.slice(0, loadChars)}${rest}`;
}

function label({ kind, draft, name }: LibraryCard): string {
  return draft ? `the draft ${kind} ${name}, learned from earlier sessions,` : `the ${kind} ${name}`;
}

function explainAccess({ kind, draft, name, path, load }: LibraryCard): string {
  if (draft) return `Read ${path} before you begin.`;
  if (load === "person") return `It is for the person to call: /${name}.`;
  return {
    skill: `Load it with the Skill tool, or read ${path}.`,
    command: `The person can type /${name}; its text is in ${path}.`,
    agent: `Work can be given to the agent ${name}.`,
  }[kind];
}
