import type { Credit } from "../core/credit.ts";
import { idOf } from "../core/ids.ts";
import type { Item, ItemFile } from "../core/item.ts";
import { policy as defaults } from "../core/policy.ts";
import type { Filed } from "../core/search/segment.ts";
import { type CatalogDeps, catalog } from "./catalog.ts";
import { credits } from "./credit.ts";
import type { IndexFiles } from "./ports.ts";
import { marksIn, type Reindexed, reindex } from "./reindex.ts";

/** What was read of the library's files, kept beside the index: a file that is the same needs no reading. */
export interface ItemCache {
  load(): readonly ItemFile[];
  save(files: readonly ItemFile[]): void;
}

export interface StockDeps extends Omit<CatalogDeps, "known"> {
  readonly index: IndexFiles;
  readonly cache: ItemCache;
}

/** Brings the index up to what is in the library and to what became of it. May be called again and be killed at any point. */
export async function stock({ index, cache, ...deps }: StockDeps): Promise<Reindexed> {
  const earned = await credits(deps.store);
  const before = cache.load();
  const reading = await catalog({ ...deps, known: knownIn(before) });
  const hiding = hidingOf(reading.items);
  const wanted = reading.items.map((item) => filedOf(item, earned.get(item.id), hiding(item)));
  // What nobody could look at is as it was.
  const stays = reading.unread.length === 0 ? new Set<string>() : idsBelow(index, reading.unread);
  const done = reindex(index, wanted, (id) => stays.has(id));
  const left = before.filter(({ path }) => isUnread(path, reading.unread));
  const now = [...reading.files, ...left];
  if (stampsOf(now) !== stampsOf(before)) cache.save(now);
  return done;
}

/** Whether something of that name is among what can be found. */
export function isStocked(index: IndexFiles, { kind, name }: Pick<Item, "kind" | "name">): boolean {
  if (marksIn(index) === null) return false;
  const found = index.look((parts) =>
    parts.some(({ segment, gone }) => {
      for (let n = 0; n < segment.entries; n++) {
        const card = gone.has(n) ? null : segment.card(n);
        if (card?.kind === kind && card.name === name && !card.draft) return true;
      }
      return false;
    }),
  );
  return found ?? false;
}

/** Tells in which projects something of the person is hidden by one of the same name. */
function hidingOf(items: readonly Item[]): (item: Item) => string[] {
  const realms = new Map<string, string[]>();
  for (const { kind, name, realm } of items) {
    if (realm === "user") continue;
    const called = `${kind} ${name}`;
    realms.set(called, [...(realms.get(called) ?? []), realm]);
  }
  return ({ kind, name, realm }) => (realm === "user" ? (realms.get(`${kind} ${name}`) ?? []) : []);
}

/** The ids of what the index has from these files and folders. */
function idsBelow(index: IndexFiles, unread: readonly string[]): Set<string> {
  const ids = new Set<string>();
  if (marksIn(index) === null) return ids;
  index.look((parts) => {
    for (const { segment, gone } of parts)
      for (let n = 0; n < segment.entries; n++) {
        if (gone.has(n)) continue;
        const { id, path } = segment.card(n);
        if (isUnread(path, unread)) ids.add(id);
      }
  });
  return ids;
}

/** What was read before, by its path. */
export function knownIn(files: readonly ItemFile[]): (path: string) => ItemFile | undefined {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return (path) => byPath.get(path);
}

function isUnread(path: string, unread: readonly string[]): boolean {
  return unread.some((part) => path === part || path.startsWith(`${part}/`));
}

function stampsOf(files: readonly ItemFile[]): string {
  return files
    .map(({ path, stamp, item }) => `${path} ${stamp} ${item?.source}`)
    .sort()
    .join("\n");
}

/** Something of the library as it is indexed, with the prompts in which it was of use. */
export function filedOf(item: Item, credit: Credit | undefined, hiddenIn: readonly string[] = []): Filed {
  const { id, name, description, when, tags, body } = item;
  const { kind, realm, draft, source, path, changedAt, harmless, load } = item;
  const uses = credit ? credit.used - credit.harmful : 0;
  const prompts = (credit?.prompts ?? []).slice(0, defaults.library.prompts);
  const card = { id, name, description, load, uses: Math.max(0, uses) };
  return {
    entry: { id, name, description, when, tags, body, prompts },
    card: { ...card, kind, realm, draft, source, path, changedAt, harmless, hiddenIn },
    mark: idOf(
      "m",
      JSON.stringify([item.hash, card, when, tags, draft, source, path, changedAt, hiddenIn, prompts]),
    ),
  };
}
