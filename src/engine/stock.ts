import { type Credit, creditsOf } from "../core/credit.ts";
import { idOf } from "../core/ids.ts";
import type { Item, ItemFile } from "../core/item.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import { policy as defaults } from "../core/policy.ts";
import type { Filed } from "../core/search/segment.ts";
import { type CatalogDeps, catalog } from "./catalog.ts";
import type { IndexFiles, Store } from "./ports.ts";
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
  const credits = await creditsFrom(deps.store);
  const marks = marksIn(index);
  const before = marks === null ? [] : cache.load();
  const files = new Map(before.map((file) => [file.path, file]));
  const markOf = (item: Item) => filedOf(item, credits.get(item.id)).mark;
  const known = (path: string) => {
    const file = files.get(path);
    // Its text is not kept here: where the index has to be told of it anew, it is read anew.
    return file && (file.item === null || marks?.get(file.item.id) === markOf(file.item)) ? file : undefined;
  };
  const reading = await catalog({ ...deps, known });
  const unread = (path: string) =>
    reading.unread.some((part) => path === part || path.startsWith(`${part}/`));
  // What nobody could look at is as it was.
  const stays = new Set(before.flatMap(({ path, item }) => (item && unread(path) ? item.id : [])));
  const wanted = reading.items.map((item) => filedOf(item, credits.get(item.id)));
  const done = reindex(index, wanted, (id) => stays.has(id));
  const now = [...reading.files, ...before.filter(({ path }) => unread(path))].map(withoutText);
  if (JSON.stringify(now) !== JSON.stringify(before)) cache.save(now);
  return done;
}

/** What became of everything in the library and of every lesson. */
export async function creditsFrom({ ledger }: Store): Promise<Map<string, Credit>> {
  const entries: LedgerEntry[] = [];
  for (const type of told) entries.push(...(await ledger.since(type, 0)));
  return creditsOf(entries);
}

const told = ["lesson.shown", "skill.shown", "match.withheld", "skill.used", "use.rated"] as const;

function withoutText(file: ItemFile): ItemFile {
  return file.item === null ? file : { ...file, item: { ...file.item, body: "" } };
}

/** Something of the library as it is indexed, with the prompts in which it was of use. */
export function filedOf(item: Item, credit: Credit | undefined): Filed {
  const { id, name, description, when, tags, body } = item;
  const { kind, realm, draft, source, path, changedAt, harmless, load } = item;
  const uses = credit ? credit.used - credit.harmful : 0;
  const prompts = (credit?.prompts ?? []).slice(0, defaults.library.prompts);
  const card = { id, name, description, load, uses: Math.max(0, uses) };
  return {
    entry: { id, name, description, when, tags, body, prompts },
    card: { ...card, kind, realm, draft, source, path, changedAt, harmless },
    mark: idOf("m", JSON.stringify([item.hash, card, when, tags, draft, source, path, changedAt, prompts])),
  };
}
