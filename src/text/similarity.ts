/** Words, each once or each with how much it counts. */
export type WordBag = ReadonlySet<string> | ReadonlyMap<string, number>;

/**
 * How much two bags of words have in common: 0 nothing, 1 everything (the weighted Jaccard index). The one measure
 * behind every "are these two the same"; each rule names its own threshold.
 */
export function measureSimilarity(a: WordBag, b: WordBag): number {
  const shared = sharedWeight(a, b);
  return shared === 0 ? 0 : shared / (totalWeight(a) + totalWeight(b) - shared);
}

/** The weight of the words that are in both bags. */
export function sharedWeight(a: WordBag, b: WordBag): number {
  let shared = 0;
  for (const word of a.keys()) if (b.has(word)) shared += Math.min(weigh(a, word), weigh(b, word));
  return shared;
}

export function totalWeight(bag: WordBag): number {
  if (!("get" in bag)) return bag.size;
  let total = 0;
  for (const weight of bag.values()) total += weight;
  return total;
}

function weigh(bag: WordBag, word: string): number {
  return "get" in bag ? (bag.get(word) ?? 0) : 1;
}
