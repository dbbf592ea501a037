import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, isObject, jsonBytes, makeId, writeDerivedFile } from "../../base/index.ts";
import { type Credit, foldCredits } from "../../lessons/index.ts";
import { readCredits } from "../../recall/index.ts";
import type { Artifact, Item, ItemFile, Project } from "../../records/index.ts";
import { type FoundItem, type IndexItem, openIndexFiles } from "../../search/index.ts";
import { currentFolder, type Home } from "../../settings/index.ts";
import type { Store } from "../../store/index.ts";
import { findCheckout } from "../../transcripts/index.ts";
import { type FindRoots, mergeFiles, readCatalog, stampCatalog } from "./catalog.ts";
import { findItems, type ItemQuery } from "./find-items.ts";

/** How long one process may update the index, and how long another waits for it. */
const leaseMs = 60_000;
const waitMs = 3_000;
/** Prompts in which an item was of use that it is found by: the latest. */
const indexedPrompts = 12;

interface StockDeps {
  readonly home: Pick<Home, "snapshot" | "cache">;
  /** Keep nothing: the index is in memory. */
  readonly dryRun: boolean;
  readonly store: Store;
  readonly clock: Clock;
  readonly roots: FindRoots;
  /** Background work that one process does at a time. */
  claim(work: string, until: number): Promise<boolean>;
  giveBack(work: string): Promise<void>;
  readonly projectAt: (cwd: string) => Promise<Project>;
}

export type Stock = ReturnType<typeof openStock>;

/** The library's items and their search index. */
export function openStock(deps: StockDeps) {
  const { home, dryRun, store, clock, projectAt, roots } = deps;
  const index = openIndexFiles(dryRun ? null : dirname(home.snapshot));
  // What was read of the files before; it may be deleted at any time.
  const cacheFile = dryRun ? null : join(home.cache, "library.json");
  const loadFiles = () => (cacheFile === null ? [] : readCache(cacheFile));
  // What the index was last made of.
  const markFile = dryRun ? null : join(home.cache, "library.mark");
  const readMark = () => (markFile && existsSync(markFile) ? readFileSync(markFile, "utf8") : null);
  const locate = async (cwd: string) => {
    const { id, root } = await projectAt(cwd);
    return root === null ? undefined : { id, root };
  };
  /** Updates the index and the cache from the files and from what the items earned. Safe to repeat or kill at any point. */
  const update = async (here: { readonly id: string; readonly root: string } | undefined) => {
    const { entries, nameOf } = await readCredits(store);
    const earned = foldCredits(entries, nameOf);
    const stamp = await stampCatalog({ store, roots, here });
    const mark = stamp && makeId("l", JSON.stringify([stamp, [...earned]]));
    if (mark !== null && mark === readMark() && index.isSound()) return unchanged;
    const known = loadFiles();
    const reading = await readCatalog({ store, roots, here, known });
    // What could not be read stays as it was, and is tried again the next time.
    const unread = known.filter(({ path }) =>
      reading.unread.some((part) => path === part || path.startsWith(`${part}/`)),
    );
    const files = [...reading.files, ...unread];
    const { items } = unread.length === 0 ? reading : mergeFiles(files);
    const listShadowed = findShadowed(items);
    const done = index.update(items.map((item) => toEntry(item, earned.get(item.id), listShadowed(item))));
    if (cacheFile !== null && fingerprint(files) !== fingerprint(known))
      writeDerivedFile(cacheFile, jsonBytes(files));
    // Only what was whole: the rest is tried again the next time. It was looked at before it was read.
    if (markFile !== null && unread.length + reading.unread.length === 0)
      writeDerivedFile(markFile, [Buffer.from(mark ?? "")]);
    return done;
  };
  /** Updates the index; null while another process does. */
  const restock = async (here: Parameters<typeof update>[0], anew = false) => {
    const giveUp = clock.now() + waitMs;
    while (!(await deps.claim("library", clock.now() + leaseMs))) {
      if (clock.now() > giveUp) return null;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    try {
      if (anew) {
        if (markFile !== null) rmSync(markFile, { force: true });
        index.markDamaged();
      }
      return await update(here);
    } finally {
      await deps.giveBack("library");
    }
  };
  const restockAt = async (cwd = currentFolder(), anew = false) => restock(await locate(cwd), anew);
  /** Everything that agents can be given by name, seen from a folder. */
  const catalog = async (cwd = currentFolder()) => {
    const place = await locate(cwd);
    // An agent in a worktree has the skills of that worktree.
    const worktree = place && findCheckout(cwd)?.worktree;
    const here = place && worktree !== undefined ? { ...place, root: worktree } : place;
    return readCatalog({ store, roots, here, known: loadFiles() });
  };
  /** The items that match a text, best first. */
  const search = async (text: string, query: ItemQuery): Promise<FoundItem[]> => {
    const first = findItems(index, text, query);
    if (first !== null) return first;
    await restockAt();
    return findItems(index, text, query) ?? [];
  };
  return {
    index,
    restock,
    restockAt,
    catalog,
    items: async () => (await catalog()).items,
    /** The items, and whether all files could be read. */
    whole: async () => {
      const { items, unread } = await catalog();
      return { items, whole: unread.length === 0 };
    },
    find: search,
    /** Whether a live item matches a prompt of a project. */
    covers: async (text: string, project: string) => {
      const root = (await store.projects.get([project]))[0]?.root ?? null;
      return (await search(text, { project, folder: root, asked: false })).some(({ card }) => !card.draft);
    },
    /** Whether the index has a live item of this name. */
    has: ({ kind, name }: Pick<Artifact, "kind" | "name">) =>
      index.read((library) => {
        for (const card of library.cards())
          if (card.kind === kind && card.name === name && !card.draft) return true;
        return false;
      }) ?? false,
  };
}

const unchanged: ReturnType<ReturnType<typeof openIndexFiles>["update"]> = {
  ...{ added: 0, removed: 0, rebuilt: false },
};

/** The cached library files; empty when the cache is missing, damaged or from another release. */
function readCache(path: string): readonly ItemFile[] {
  try {
    const files: unknown = JSON.parse(readFileSync(path, "utf8"));
    return Array.isArray(files) && files.every(isItemFile) ? files : [];
  } catch {
    // Without a cache the files are read again.
    return [];
  }
}

function isItemFile(value: unknown): value is ItemFile {
  if (!isObject(value)) return false;
  const { path, stamp, item, problems } = value;
  const hasTexts = typeof path === "string" && typeof stamp === "string";
  return hasTexts && Array.isArray(problems) && (item === null || isObject(item));
}

/** Tells in which projects an item of the person is hidden by one of the same name. */
function findShadowed(items: readonly Item[]): (item: Item) => string[] {
  const scopeIds = new Map<string, string[]>();
  for (const { kind, name, scopeId } of items) {
    if (scopeId === "user") continue;
    const key = `${kind} ${name}`;
    scopeIds.set(key, [...(scopeIds.get(key) ?? []), scopeId]);
  }
  return ({ kind, name, scopeId }) => (scopeId === "user" ? (scopeIds.get(`${kind} ${name}`) ?? []) : []);
}

function fingerprint(files: readonly ItemFile[]): string {
  return files
    .map(({ path, stamp, item }) => `${path} ${stamp} ${item?.source}`)
    .sort()
    .join("\n");
}

/** An item as it is indexed, with the prompts in which it was of use. */
function toEntry(item: Item, credit: Credit | undefined, hiddenIn: readonly string[]): IndexItem {
  const { id, name, description, when, tags, body } = item;
  const { kind, scopeId, draft, source, path, checkout, hash, told } = item;
  // Only a person, or what they accepted, says that something is always to be loaded.
  const load = item.load === "always" && told !== "whole" ? "fit" : item.load;
  const uses = Math.max(0, credit ? credit.used - credit.harmful : 0);
  const prompts = (credit?.prompts ?? []).slice(0, indexedPrompts);
  const card = { id, name, description, load, uses };
  const mark = [hash, card, when, tags, draft, source, path, checkout, told, hiddenIn, prompts];
  return {
    entry: { id, name, description, when, tags, body, prompts },
    card: { ...card, kind, scopeId, draft, source, path, checkout, hash, told, hiddenIn },
    mark: makeId("m", JSON.stringify(mark)),
  };
}
