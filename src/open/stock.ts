import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { rootsOn } from "../agents/roots.ts";
import type { Artifact } from "../core/change.ts";
import type { Item } from "../core/item.ts";
import { policy } from "../core/policy.ts";
import { contextOf } from "../core/search/context.ts";
import { Damaged } from "../core/table.ts";
import { type CatalogReading, catalog as catalogue } from "../engine/catalog.ts";
import { cardsFor, type Found, find, likenessBy } from "../engine/find.ts";
import { homesOfKept } from "../engine/learnings.ts";
import type { Catalog, Embedder, IndexFiles, IndexPart } from "../engine/ports.ts";
import type { Reindexed } from "../engine/reindex.ts";
import { type ItemCache, isStocked, knownIn, stock } from "../engine/stock.ts";
import { readRoots } from "../library/catalog.ts";
import { indexFilesIn, indexInMemory } from "../store/index-files.ts";
import { itemCacheAt } from "../store/item-cache.ts";
import { type Opened, whereWeAre } from "./home.ts";

/** The library and its index: what there is, and what of it fits a text. */
export interface Stock {
  /** Everything that agents can be given by name, seen from a folder; from this process's where none is named. */
  readonly catalog: (cwd?: string) => Promise<CatalogReading>;
  readonly items: () => Promise<readonly Item[]>;
  /** The same, and whether nothing of it went unread. */
  readonly whole: () => Promise<{ readonly items: readonly Item[]; readonly whole: boolean }>;
  /** Brings the index up to date, seen from a project; null while another process is at it. */
  readonly restock: (
    here: { readonly id: string; readonly root: string } | undefined,
    anew?: boolean,
  ) => Promise<Reindexed | null>;
  /** The same, seen from a folder. */
  readonly restockAt: (cwd?: string, anew?: boolean) => Promise<Reindexed | null>;
  /** What fits a text, the best first. */
  readonly find: (text: string, asking: Asking) => Promise<Found[]>;
  /** Whether something of that name can be found. */
  readonly has: (artifact: Pick<Artifact, "kind" | "name">) => boolean;
  readonly index: IndexFiles;
}

export interface Asking {
  readonly project: string;
  /** Whose files say what the project is; null where nothing is there. */
  readonly folder: string | null;
  /** Somebody asked, and is not interrupted. */
  readonly asked: boolean;
}

export function stockOf(opened: Opened, embedder: Embedder | undefined): Stock {
  const { home, surroundings, dryRun, store, clock, claim, giveBack, checkouts, projectAt } = opened;
  const catalog: Catalog = { roots: rootsOn(surroundings), read: readRoots };
  const index = dryRun ? indexInMemory() : indexFilesIn(dirname(home.snapshot));
  const cache = dryRun ? noCache : itemCacheAt(join(home.cache, "library.json"));
  const placeOf = async (cwd: string) => {
    const { id, root } = await projectAt(cwd);
    return root === null ? undefined : { id, root };
  };
  /** An agent in a worktree has the skills of that one. */
  const checkoutOf = async (cwd: string) => {
    const place = await placeOf(cwd);
    const worktree = (await checkouts.of(cwd))?.worktree;
    return place && worktree !== undefined ? { ...place, root: worktree } : place;
  };
  const restock: Stock["restock"] = async (here, anew = false) => {
    const giveUp = clock.now() + policy.library.waitMs;
    while (!(await claim("library", clock.now() + policy.library.leaseMs))) {
      if (clock.now() > giveUp) return null;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    try {
      if (anew) index.condemn();
      index.sweep(clock.now());
      return await stock({ store, catalog, index, cache, here, gaps: await homesOfKept(store) });
    } finally {
      await giveBack("library");
    }
  };
  const restockAt: Stock["restockAt"] = async (cwd = whereWeAre(), anew = false) =>
    restock(await placeOf(cwd), anew);
  const catalogAt: Stock["catalog"] = async (cwd = whereWeAre()) =>
    catalogue({
      store,
      catalog,
      here: await checkoutOf(cwd),
      gaps: await homesOfKept(store),
      known: knownIn(cache.load()),
    });
  return {
    index,
    restock,
    restockAt,
    catalog: catalogAt,
    items: async () => (await catalogAt()).items,
    whole: async () => {
      const { items, unread } = await catalogAt();
      return { items, whole: unread.length === 0 };
    },
    find: async (text, { folder, ...asking }) => {
      const around = { ...asking, context: folder === null ? [] : contextOf(namesIn(folder)) };
      if (lookInto(index, (parts) => parts.length) === null) await restockAt();
      const cards = embedder ? (lookInto(index, (parts) => cardsFor(parts, text, around)) ?? []) : [];
      const likeness = embedder ? await likenessBy(embedder, text, cards) : () => 0;
      const found = () => lookInto(index, (parts) => find(parts, text, { ...around, likeness }));
      const first = found();
      if (first !== null) return first;
      await restockAt();
      return found() ?? [];
    },
    has: ({ kind, name }) => kind !== "rule" && isStocked(index, { kind, name }),
  };
}

/** Looks into an index; null where there is none, or where it is damaged, which is then known to whoever writes next. */
function lookInto<Result>(index: IndexFiles, look: (parts: readonly IndexPart[]) => Result): Result | null {
  try {
    return index.look(look);
  } catch (error) {
    if (!(error instanceof Damaged)) throw error;
    index.condemn();
    return null;
  }
}

/** For who keeps nothing. */
const noCache: ItemCache = { load: () => [], save: () => {} };

/** What lies in a folder; nothing where it cannot be told. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
