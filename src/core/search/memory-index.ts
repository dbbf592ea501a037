import { type Card, type Entry, fields, type Index, type Postings } from "./entry.ts";
import { termCounts } from "./texts.ts";

/** An entry with what a person and its history say about it. */
export interface Indexed {
  readonly entry: Entry;
  readonly realm: string;
  readonly load: Card["load"];
  readonly uses: number;
}

/** An index in memory, of entries numbered in the order they are given in. */
export function indexOf(items: readonly Indexed[]): Index {
  const lengths = new Uint16Array(items.length * fields.length);
  const totals = fields.map(() => 0);
  const terms = new Map<string, number[]>();
  const pool = new Pool();
  for (const [number, { entry }] of items.entries()) {
    const of = termCounts(entry);
    for (const [field, length] of of.lengths.entries()) {
      lengths[number * fields.length + field] = length;
      totals[field] = (totals[field] as number) + length;
    }
    for (const [term, counts] of of.counts) {
      const places = terms.get(term);
      const place = pool.add(number, counts);
      if (places) places.push(place);
      else terms.set(term, [place]);
    }
  }
  const at = (number: number): Indexed => items[number] as Indexed;
  return {
    size: items.length,
    numbers: items.length,
    totals,
    postings: (term) => {
      const places = terms.get(term);
      return places ? pool.postings(places) : null;
    },
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

  postings(places: readonly number[]): Postings {
    const entries = new Uint32Array(places.length);
    const counts = new Uint8Array(places.length * fields.length);
    for (const [at, place] of places.entries()) {
      entries[at] = this.entries[place] as number;
      const start = place * fields.length;
      counts.set(this.counts.subarray(start, start + fields.length), at * fields.length);
    }
    return { size: places.length, entries, counts };
  }
}

function cardOf({ entry, load, uses }: Indexed): Card {
  return { id: entry.id, name: entry.name, description: entry.description, load, uses };
}
