import { fields, type IndexItem, type LibraryCard, readEntry } from "../../src/search/entry.ts";
import type { LibraryIndex } from "../../src/search/library-index.ts";

type Postings = NonNullable<ReturnType<LibraryIndex["postings"]>>;

/** An entry with what a person and its history say about it. */
export interface Indexed {
  readonly entry: IndexItem["entry"];
  readonly scopeId: string;
  readonly load: LibraryCard["load"];
  readonly uses: number;
}

/** The plainest index there could be, of entries numbered in the order they are given in. */
export function indexOf(items: readonly Indexed[]): LibraryIndex {
  const terms = new Map<string, { entry: number; counts: Uint8Array }[]>();
  const all = items.map(({ entry }) => readEntry(entry));
  for (const [entry, { counts }] of all.entries())
    for (const [term, of] of counts) terms.set(term, [...(terms.get(term) ?? []), { entry, counts: of }]);
  return {
    size: items.length,
    numbers: items.length,
    totals: fields.map((_, field) => all.reduce((sum, { lengths }) => sum + (lengths[field] ?? 0), 0)),
    postings: (term) => {
      const found = terms.get(term);
      return found ? postingsOf(found) : null;
    },
    lengths: () => Uint16Array.from(all.flatMap(({ lengths }) => lengths)),
    scopeId: (number) => items[number]?.scopeId ?? "",
    isAllFor: (scopeIds) => items.every(({ scopeId }) => scopeIds.has(scopeId)),
    sizeFor: (scopeIds) => items.filter(({ scopeId }) => scopeIds.has(scopeId)).length,
    card: (number) => cardOf(items[number] as Indexed),
    cards: () => items.map(cardOf),
  };
}

function postingsOf(found: readonly { entry: number; counts: Uint8Array }[]): Postings {
  return {
    size: found.length,
    entries: Uint32Array.from(found, ({ entry }) => entry),
    masks: Uint8Array.from(found, ({ counts }) =>
      counts.reduce((mask, count, field) => mask | (count > 0 ? 1 << field : 0), 0),
    ),
    counts: Uint8Array.from(found.flatMap(({ counts }) => [...counts])),
  };
}

function cardOf({ entry, load, uses, scopeId }: Indexed): LibraryCard {
  const { id, name, description } = entry;
  return {
    ...{ id, name, description, load, uses, scopeId, kind: "skill", draft: false, source: null },
    ...{ path: `/skills/${name}/SKILL.md`, checkout: null, hash: "h", told: "whole", hiddenIn: [] },
    reading: readEntry(entry).reading,
  };
}
