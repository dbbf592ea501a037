import type { Kept } from "../core/change.ts";
import { type Catalogued, type ItemFile, itemsOf } from "../core/item.ts";
import { policy } from "../core/policy.ts";
import type { Catalog, ItemRoot, Store } from "./ports.ts";
import { historyOf } from "./step.ts";

export interface CatalogDeps {
  readonly store: Store;
  readonly catalog: Catalog;
  /** What was read of a file before: as long as the file is the same, it is not read again. */
  readonly known?: (path: string) => ItemFile | undefined;
  /** The project that somebody is in, which belongs to it though nothing was learned there yet. */
  readonly here?: Place | undefined;
}

interface Place {
  readonly id: string;
  readonly root: string;
}

/** A reading of the library, with the files it was made of, for the next reading to begin with. */
export interface CatalogReading extends Catalogued {
  readonly files: readonly ItemFile[];
  /** The project that was asked about. */
  readonly here: string | null;
}

/** Everything that agents can be given by name: the person's, that of the latest projects, and Knack's drafts. */
export async function catalog({ store, catalog, known, here }: CatalogDeps): Promise<CatalogReading> {
  const projects = await latestProjects(store, here);
  const { kept } = await historyOf(store);
  const places = await catalog.roots(projects);
  const {
    files,
    problems: besides,
    unread,
  } = await catalog.read([...places.roots, ...(await draftRoots(store, kept))], known);
  const { items, problems } = itemsOf(files);
  const makers = new Map(kept.filter(isSkill).map(({ path, instinct }) => [path, instinct]));
  return {
    files,
    here: here?.id ?? null,
    items: items.map((item) => {
      const source = [item.path, ...item.copies].map((path) => makers.get(folderOf(path))).find(Boolean);
      return source === undefined ? item : { ...item, source, owner: "learned" };
    }),
    problems: [...places.problems, ...besides, ...problems],
    unread: [...places.unread, ...unread],
  };
}

/** Where somebody is, and the projects that were worked in last. */
async function latestProjects(store: Store, here: Place | undefined): Promise<Place[]> {
  const known = (await store.projects.list())
    .sort((a, b) => b.lastAt - a.lastAt || (a.id < b.id ? -1 : 1))
    .flatMap(({ id, root }) => (root === null || id === here?.id ? [] : [{ id, root }]));
  return [...(here ? [here] : []), ...known].slice(0, policy.library.projects);
}

/** Drafts, each for those whom what it was made of is for. A proposal waits for a person, so it is none. */
async function draftRoots(store: Store, kept: readonly Kept[]): Promise<ItemRoot[]> {
  const drafts = kept.filter((one) => isSkill(one) && one.reach === "draft" && !one.proposal);
  const instincts = await store.learning.instincts.get([...new Set(drafts.map(({ instinct }) => instinct))]);
  const realms = new Map(
    instincts.map(({ id, scope, project }) => [id, scope === "user" ? "user" : project]),
  );
  return drafts.map(({ path, instinct }) => ({
    path,
    kind: "skill",
    form: "package",
    realm: realms.get(instinct) ?? "user",
    // What anybody put into an agent's folder goes before what only Knack has.
    rank: Number.MAX_SAFE_INTEGER,
    prefix: "",
    owner: "learned",
    draft: true,
  }));
}

function isSkill({ kind }: Kept): boolean {
  return kind === "skill";
}

function folderOf(path: string): string {
  return path.replace(/[\\/][^\\/]*$/, "");
}
