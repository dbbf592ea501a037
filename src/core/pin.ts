import type { EntryOf } from "./ledger.ts";

/** What a person wants left as it is, by the ids of items; the latest word about each counts. */
export function pinnedBy(entries: Iterable<EntryOf<"skill.pinned">>): Set<string> {
  const latest = new Map<string, EntryOf<"skill.pinned">>();
  for (const entry of entries) {
    const known = latest.get(entry.data.skill);
    if (!known || isLater(entry, known)) latest.set(entry.data.skill, entry);
  }
  return new Set([...latest].flatMap(([id, { data }]) => (data.pinned ? id : [])));
}

function isLater(a: EntryOf<"skill.pinned">, b: EntryOf<"skill.pinned">): boolean {
  const [aAt, bAt] = [a.at ?? 0, b.at ?? 0];
  return aAt > bAt || (aAt === bAt && a.key > b.key);
}
