import { fields } from "./entry.ts";
import type { rank } from "./rank.ts";

/** Maximum number of offers for one text, beside the item that is loaded. */
const mostOffers = 3;
/** Probability from which a match is offered: unasked, and in an explicit search. */
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
/** Share of the words of an explicit search that are enough, though only its body has them. */
const leastCovered = 0.8;
/** Entries from which a library is a crowd, where what fits well is more often one of several. */
const crowdSize = 2_000;
/** Words that say why something matched. */
const mostReasons = 4;

type RankedMatch = ReturnType<typeof rank>["entries"][number];

type MatchedWord = RankedMatch["words"][number];

/** A ranked entry with how likely it is right. */
interface JudgedEntry extends RankedMatch {
  readonly gate: GateSigns;
  readonly chance: number;
}

/** Signs by which a match is judged: its own, and how far it is ahead of the best of the others. */
interface GateSigns {
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

/** Weight of each sign in the log-odds that a match is right, fitted to libraries of 200 and of 2,000 skills. */
const gateWeights: GateSigns & { readonly always: number } = {
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

/** How likely each ranked entry is the right one, in a library of so many entries, and what to do about that. */
export function judge(entries: readonly RankedMatch[], size: number, weights = gateWeights) {
  const judged = entries.map((entry, at): JudgedEntry => {
    const own = entry.signs;
    const other = entries[at === 0 ? 1 : 0]?.signs ?? { base: 0, covered: 0, named: 0 };
    const gate: GateSigns = {
      ...{ base: own.base, covered: own.covered, named: own.named, quoted: own.quoted },
      baseLead: own.base - other.base,
      coveredLead: own.covered - other.covered,
      namedLead: own.named - other.named,
      crowd: Math.max(0, Math.log(size / crowdSize)),
    };
    let odds = weights.always;
    for (const sign of Object.keys(gate) as (keyof GateSigns)[]) odds += weights[sign] * gate[sign];
    return { ...entry, gate, chance: 1 / (1 + Math.exp(-odds)) };
  });
  return {
    entries: judged,
    /** `asked`: an explicit search, where less certain answers are welcome too. */
    decide: (asked = false) => decide(judged, size, asked),
    explain: explainMatch,
  };
}

/** Loads the best match where it is likely enough to be right, offers what may be, and says nothing of the rest. */
function decide(
  judged: readonly JudgedEntry[],
  size: number,
  asked: boolean,
): { load: JudgedEntry | null; offers: JudgedEntry[] } {
  const isLikely = (match: JudgedEntry) =>
    (match.chance >= (asked ? askedFrom : offerFrom) && saysEnough(match)) ||
    (asked && match.words.reduce((sum, { mass }) => sum + mass, 0) >= leastCovered);
  const likely = judged.slice(0, mostOffers + 1).filter(isLikely);
  const [first] = likely;
  const isBest = first !== undefined && first === judged[0] && saysEnough(first) && isLoadable(first, size);
  const load = likely.find((match) => match.card.load === "always") ?? (isBest ? first : null);
  return { load, offers: likely.filter((match) => match !== load).slice(0, mostOffers) };
}

/** One word may match by chance, unless it is the skill's name; and any text has words that its skill is not about. */
function saysEnough({ words, signs }: RankedMatch): boolean {
  if (words.some(({ field }) => fields[field] === "name")) return true;
  return countWords(words) >= leastWords && signs.told >= leastTold;
}

function isLoadable({ card, words, signs, chance }: JudgedEntry, size: number): boolean {
  if (card.load !== "fit" && card.load !== "always") return false;
  if (countWords(words) < leastWords || signs.unfit > mostUnfit) return false;
  if (size > loadUnprovenUpTo && card.uses < provenUses) return false;
  const care = loadCare * Math.max(0, Math.log10(size / loadSize));
  return chance >= loadFrom + care;
}

/** Why it matched, as a person would say it. */
function explainMatch({ words }: RankedMatch, text: string): string {
  const share = words.reduce((sum, { mass }) => sum + mass, 0);
  const typed = text.toLowerCase();
  // The whole of a compound is a term beside its parts, and means nothing to a reader.
  const isTyped = ({ term }: MatchedWord) => !isAscii(term) || typed.includes(term.slice(0, -1));
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
function countWords(words: RankedMatch["words"]): number {
  const unspacedWord = /[\u3400-\u9fff]{2}|[\u30a1-\u30fc]{2,}|[\uac00-\ud7a3]{2,}/g;
  return joinPairs(words).reduce(
    (sum, { term }) => sum + (isAscii(term) ? 1 : Math.max(1, term.match(unspacedWord)?.length ?? 0)),
    0,
  );
}

/** Overlapping pairs of characters are one word to a reader. */
function joinPairs(words: RankedMatch["words"]): MatchedWord[] {
  const all: MatchedWord[] = [];
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
