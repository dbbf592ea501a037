/** Finds the items that share words with a text, among many, without looking at all of them. */
export class WordIndex<Item> {
  private readonly items = new Map<string, Item[]>();

  add(item: Item, words: Iterable<string>): void {
    for (const word of words) {
      const known = this.items.get(word);
      if (known) known.push(item);
      else this.items.set(word, [item]);
    }
  }

  /** Every item that has one of these words, with how many of them it has; words are given once. */
  sharing(words: Iterable<string>): Map<Item, number> {
    const shared = new Map<Item, number>();
    for (const word of words)
      for (const item of this.items.get(word) ?? []) shared.set(item, (shared.get(item) ?? 0) + 1);
    return shared;
  }
}
