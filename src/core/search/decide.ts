import { policy } from "../policy.ts";
import { type Card, fields } from "./entry.ts";
import type { Query } from "./query.ts";
import type { Hit, Ranked, Signs } from "./rank.ts";

/** A ranked entry with how likely it is right, and why in words. */
export interface Match extends Ranked {
  readonly probability: number;
  readonly because: string;
}

/** What becomes of what was found: one is given whole, some are named, or nothing is said. */
export interface Decision {
  readonly load: Match | null;
  readonly offers: readonly Match[];
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

export type Gate = { readonly [Sign in keyof GateSigns | "always"]: number };

export interface DecideOptions {
  /** Entries of the library. */
  readonly size: number;
  /** What each sign counts, where not as the policy says. */
  readonly gate?: Gate;
  /** Somebody asked: less sure answers are welcome too. */
  readonly asked?: boolean;
}

/** Loads the best match where it is likely enough to be right, offers what may be, and is silent about the rest. */
export function decide(
  ranked: readonly Ranked[],
  query: Query,
  { size, gate = policy.search.gate, asked = false }: DecideOptions,
): Decision {
  const { offerFrom, askedFrom, offers } = policy.search;
  const from = asked ? askedFrom : offerFrom;
  const likely = ranked
    .slice(0, offers + 1)
    .map((found, at): Match => {
      const probability = probabilityOf(gateSigns(ranked, at, size), gate);
      return { ...found, probability, because: reasonFor(found, query) };
    })
    .filter((match) => match.probability >= from && saysEnough(match));
  const load = likely.find((match) => match.card.load === "always") ?? loadable(likely[0], ranked, size);
  return { load, offers: likely.filter((match) => match !== load).slice(0, offers) };
}

/** A single word is met by chance, unless it is what the skill is called; and any text has words that its skill is not about. */
function saysEnough({ words, signs }: Ranked): boolean {
  if (words.some(({ field }) => fields[field] === "name")) return true;
  return wordsIn(words) >= policy.search.loadWords && signs.told >= policy.search.toldLeast;
}

function isUnspaced(term: string): boolean {
  return term.charCodeAt(0) >= 0x0e00;
}

function loadable(match: Match | undefined, ranked: readonly Ranked[], size: number): Match | null {
  if (!match || match.entry !== ranked[0]?.entry || !mayLoad(match.card)) return null;
  const { loadFrom, loadSize, loadCare, loadUpTo, loadWords, unfitMost, provenUses } = policy.search;
  if (wordsIn(match.words) < loadWords || match.signs.unfit > unfitMost) return null;
  if (size > loadUpTo && match.card.uses < provenUses) return null;
  const care = loadCare * Math.max(0, Math.log10(size / loadSize));
  return match.probability >= loadFrom + care ? match : null;
}

function mayLoad({ load }: Card): boolean {
  return load === "fit" || load === "always";
}

/** What a match is judged by; `at` is its rank. */
export function gateSigns(ranked: readonly Ranked[], at: number, size: number): GateSigns {
  const own = (ranked[at] as Ranked).signs;
  const other = ranked[at === 0 ? 1 : 0]?.signs ?? nothing;
  return {
    base: own.base,
    covered: own.covered,
    named: own.named,
    quoted: own.quoted,
    baseLead: own.base - other.base,
    coveredLead: own.covered - other.covered,
    namedLead: own.named - other.named,
    crowd: Math.max(0, Math.log(size / policy.search.crowd)),
  };
}

/** What a match that stands alone is compared with. */
const nothing: Pick<Signs, "base" | "covered" | "named"> = { base: 0, covered: 0, named: 0 };

export function probabilityOf(signs: GateSigns, gate: Gate): number {
  let odds = gate.always;
  for (const sign of Object.keys(signs) as (keyof GateSigns)[]) odds += gate[sign] * signs[sign];
  return 1 / (1 + Math.exp(-odds));
}

/** Why it matched, as a person would say it. */
function reasonFor({ words }: Ranked, { text }: Query): string {
  const share = words.reduce((sum, { mass }) => sum + mass, 0);
  const typed = text.toLowerCase();
  // The whole of a compound is a term beside its parts, and means nothing to a reader.
  const isTyped = ({ term }: Hit) => !isAscii(term) || typed.includes(term.slice(0, -1));
  const places = new Map<number, string[]>();
  for (const { term, field } of joined(words.filter(isTyped)).slice(0, policy.search.reasons))
    places.set(field, [...(places.get(field) ?? []), `"${asWritten(term, text)}"`]);
  const where = [...places]
    .sort(([a], [b]) => a - b)
    .map(([field, terms]) => `${terms.join(", ")} in its ${inWords(field)}`);
  return [...where, `covers ${Math.round(share * 100)} % of what you asked`].join("; ");
}

function isAscii(term: string): boolean {
  return term.charCodeAt(0) < 0x80;
}

/** Terms have lost their plural; a reader looks for the word that was typed. */
function asWritten(term: string, text: string): string {
  const at = text.toLowerCase().indexOf(`${term}s`);
  return at < 0 || text.toLowerCase().includes(`${term} `) ? term : text.slice(at, at + term.length + 1);
}

function inWords(field: number): string {
  const name = fields[field] ?? "body";
  if (name === "when") return "when-to-use";
  return name === "prompts" ? "earlier prompts" : name;
}

/** How many words were met. Where none are parted by spaces, two signs of Han are about one, and so is a run of others. */
function wordsIn(words: readonly Hit[]): number {
  return joined(words).reduce(
    (sum, { term }) => sum + (isAscii(term) ? 1 : Math.max(1, term.match(unspacedWord)?.length ?? 0)),
    0,
  );
}

const unspacedWord = /[\u3400-\u9fff]{2}|[\u30a1-\u30fc]{2,}|[\uac00-\ud7a3]{2,}/g;

/** Pairs of characters that overlap are one word to a reader. */
function joined(words: readonly Hit[]): Hit[] {
  const all: Hit[] = [];
  for (const hit of words) {
    const isPair = hit.term.length === 2 && isUnspaced(hit.term);
    const at = isPair
      ? all.findIndex(({ term }) => term.endsWith(hit.term.slice(0, 1)) || term.startsWith(hit.term.slice(1)))
      : -1;
    const before = all[at];
    if (!before) all.push(hit);
    else {
      const term = before.term.endsWith(hit.term.slice(0, 1))
        ? before.term + hit.term.slice(1)
        : hit.term.slice(0, 1) + before.term;
      all[at] = { ...before, term };
    }
  }
  return all;
}
