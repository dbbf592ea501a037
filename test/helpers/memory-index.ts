import { type Card, type Entry, fields, type Index, type Postings } from "../../src/core/search/entry.ts";
import { readingOf } from "../../src/core/search/reading.ts";
import { termCounts } from "../../src/core/search/texts.ts";

/** An entry with what a person and its history say about it. */
export interface Indexed {
  readonly entry: Entry;
  readonly realm: string;
  readonly load: Card["load"];
  readonly uses: number;
}

/** An index in memory, of entries numbered in the order they are given in. */
export function indexOf(items: readonly Indexed[]): Index {
  const wide = fields.length;
  const lengths = new Uint16Array(items.length * wide);
  const totals = fields.map(() => 0);
  const places = new Map<string, number[]>();
  const pool = new Pool();
  for (const [number, { entry }] of items.entries()) {
    const of = termCounts(entry);
    for (const [field, length] of of.lengths.entries()) {
      lengths[number * wide + field] = length;
      totals[field] = (totals[field] as number) + length;
    }
    for (const [term, counts] of of.counts) {
      const place = pool.add(number, counts);
      const known = places.get(term);
      if (known) known.push(place);
      else places.set(term, [place]);
    }
  }
  const terms = pool.inOrderOf(places);
  const at = (number: number): Indexed => items[number] as Indexed;
  return {
    size: items.length,
    numbers: items.length,
    totals,
    postings: (term) => terms.get(term) ?? null,
    lengths: () => lengths,
    realm: (number) => at(number).realm,
    card: (number) => cardOf(at(number)),
  };
}

/** All counts in one piece: millions of small arrays would take longer to collect than to fill. */
class Pool {
  private readonly entries: number[] = [];
  private counts = new Uint8Array(1 << 16);

  add(entry: number, counts: Uint8Array): number {
    const place = this.entries.push(entry) - 1;
    const start = place * fields.length;
    if (start + fields.length > this.counts.length) {
      const larger = new Uint8Array(this.counts.length * 2);
      larger.set(this.counts);
      this.counts = larger;
    }
    this.counts.set(counts, start);
    return place;
  }

  /** What was added, term after term. */
  inOrderOf(places: ReadonlyMap<string, readonly number[]>): Map<string, Postings> {
    const wide = fields.length;
    const entries = new Uint32Array(this.entries.length);
    const counts = new Uint8Array(this.entries.length * wide);
    const terms = new Map<string, Postings>();
    let end = 0;
    for (const [term, of] of places) {
      const start = end;
      for (const place of of) {
        entries[end] = this.entries[place] as number;
        for (let field = 0; field < wide; field++)
          counts[end * wide + field] = this.counts[place * wide + field] as number;
        end++;
      }
      terms.set(term, {
        size: of.length,
        entries: entries.subarray(start, end),
        counts: counts.subarray(start * wide, end * wide),
      });
    }
    return terms;
  }
}

function cardOf({ entry, load, uses }: Indexed): Card {
  const { id, name, description } = entry;
  return { id, name, description, load, uses, reading: readingOf(name, description) };
}
