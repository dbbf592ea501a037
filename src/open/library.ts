import type { Item } from "../core/item.ts";
import { archived, type PutAway, planRestore } from "../engine/archive.ts";
import type { CatalogReading } from "../engine/catalog.ts";
import { type Curation, curate, pinNamed, planCuration, type RoomFor, roomFor } from "../engine/curate.ts";
import type { Found } from "../engine/find.ts";
import { type Keeping, perform } from "../engine/keep.ts";
import type { IndexFound, Listing } from "../engine/ports.ts";
import type { Reindexed } from "../engine/reindex.ts";
import { planTakeBackTidying } from "../engine/shelf.ts";
import type { Plan } from "../engine/step.ts";
import type { Parts } from "./parts.ts";

/** Everything that agents can be given by name: found, and kept small and true. */
export interface LibraryVerbs {
  /** What there is, here, in the latest projects and everywhere, and Knack's drafts. */
  catalog(options?: { cwd?: string }): Promise<CatalogReading>;
  items(): Promise<readonly Item[]>;
  /** The skills in the agents' folders, for this project and for the person. */
  skills(root?: string | null): Promise<{ folder: string; listing: Listing }[]>;
  /** What there is for a text, asked in this folder: the best few, the best first. */
  find(text: string, cwd?: string): Promise<Found[]>;
  /** Brings the index of the library up to date; null while another process is at it. */
  stock(options?: { readonly anew?: boolean; readonly cwd?: string }): Promise<Reindexed | null>;
  /** What is in the place of that index. */
  index(): IndexFound;
  /** What is worth a look in the library, and what could be done about it. */
  curation(): Promise<Curation>;
  /** Does that, all of it or for these names; each of it can be taken back. */
  curate(only?: ReadonlySet<string> | null): Promise<Keeping>;
  planUncurate(): Promise<Plan>;
  /** Takes back all that was tidied up in the latest go. */
  uncurate(): Promise<Keeping>;
  /** What was put away and can be brought back, the latest first. */
  archived(): Promise<PutAway[]>;
  planRestore(name: string): Promise<Plan>;
  /** Brings it back, byte for byte. */
  restore(name: string): Promise<Keeping>;
  /** Leaves what goes by a name as it is, or no longer; answers with whose it is. */
  pin(name: string, pinned: boolean): Promise<{ readonly name: string; readonly realm: string }[]>;
  /** Whether there is room for one more skill that nobody said yes to, and what would go for it. */
  roomFor(realm: string, wanted: Parameters<typeof roomFor>[3]): Promise<RoomFor>;
}

export function libraryVerbs({ home, stock, library, places, publishing, projectAt }: Parts): LibraryVerbs {
  const planUncurate = () => planTakeBackTidying(publishing);
  const planRestored = (name: string) => planRestore(publishing, new Set([name]));
  const byPerson = (plan: () => Promise<Plan>) => perform(publishing, plan, "person", () => []);
  return {
    catalog: ({ cwd } = {}) => stock.catalog(cwd),
    items: stock.items,
    skills: async (root = null) => {
      const all = places.all(root).filter(({ folder }) => folder !== home.drafts);
      return Promise.all(
        all.map(async (place) => ({ folder: place.folder, listing: await library.list(place) })),
      );
    },
    find: async (text, cwd = process.cwd()) => {
      const { id: project } = await projectAt(cwd);
      return stock.find(text, { project, folder: cwd, asked: true });
    },
    stock: ({ anew, cwd } = {}) => stock.restockAt(cwd, anew),
    index: () => stock.index.check(),
    curation: async () => planCuration(publishing, await stock.items()),
    curate: async (only) => curate(publishing, await stock.items(), only),
    planUncurate,
    uncurate: () => byPerson(planUncurate),
    archived: () => archived(publishing),
    planRestore: planRestored,
    restore: (name) => byPerson(() => planRestored(name)),
    pin: async (name, pinned) => pinNamed(publishing, await stock.items(), name, pinned),
    roomFor: async (realm, wanted) => roomFor(publishing, await stock.items(), realm, wanted),
  };
}
