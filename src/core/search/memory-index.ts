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
  const found = new Map<string, { entries: number[]; counts: Uint8Array[] }>();
  const lengths = new Uint16Array(items.length * fields.length);
  const totals = fields.map(() => 0);
  for (const [number, { entry }] of items.entries()) {
    const of = termCounts(entry);
    for (const [field, length] of of.lengths.entries()) {
      lengths[number * fields.length + field] = length;
      totals[field] = (totals[field] as number) + length;
    }
    for (const [term, counts] of of.counts) {
      const postings = found.get(term) ?? { entries: [], counts: [] };
      if (postings.entries.length === 0) found.set(term, postings);
      postings.entries.push(number);
      postings.counts.push(counts);
    }
  }
  const packed = new Map<string, Postings>();
  for (const [term, { entries, counts }] of found)
    packed.set(term, {
      size: entries.length,
      entries: Uint32Array.from(entries),
      counts: inOne(counts),
    });
  const at = (number: number): Indexed => items[number] as Indexed;
  return {
    size: items.length,
    numbers: items.length,
    totals,
    postings: (term) => packed.get(term) ?? null,
    length: (number, field) => lengths[number * fields.length + field] as number,
    realm: (number) => at(number).realm,
    card: (number) => cardOf(at(number)),
  };
}

function cardOf({ entry, load, uses }: Indexed): Card {
  return { id: entry.id, name: entry.name, description: entry.description, load, uses };
}

function inOne(counts: readonly Uint8Array[]): Uint8Array {
  const one = new Uint8Array(counts.length * fields.length);
  for (const [at, of] of counts.entries()) one.set(of, at * fields.length);
  return one;
}
