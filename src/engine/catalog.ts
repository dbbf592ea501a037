import { isMade, type Kept } from "../core/change.ts";
import { type Catalogued, type ItemFile, type ItemKind, itemsOf } from "../core/item.ts";
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
  /** The projects of gaps, learnings and proposals, by their ids: their drafts are for those who asked. */
  readonly gaps?: ReadonlyMap<string, string>;
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
export async function catalog(deps: CatalogDeps): Promise<CatalogReading> {
  const { store, catalog, known, here } = deps;
  const { kept } = await historyOf(store);
  const skills = kept.filter(({ kind }) => kind !== "rule");
  const places = await catalog.roots(await latestProjects(deps));
  const read = await catalog.read([...places.roots, ...(await draftRoots(deps, skills))], known);
  const files = withSources(read.files, skills);
  const { items, problems } = itemsOf(files);
  return {
    files,
    here: here?.id ?? null,
    items,
    problems: [...places.problems, ...read.problems, ...problems],
    unread: [...new Set([...places.unread, ...read.unread])],
  };
}

/** Where somebody is, and the projects that were worked in last. */
async function latestProjects({ store, here }: CatalogDeps): Promise<Place[]> {
  const known = (await store.projects.list())
    .sort((a, b) => b.lastAt - a.lastAt || (a.id < b.id ? -1 : 1))
    .flatMap(({ id, root }) => (root === null || id === here?.id ? [] : [{ id, root }]));
  return [...(here ? [here] : []), ...known].slice(0, policy.library.projects);
}

/** Drafts, each for those whom what it was made of is for. A proposal waits for a person, so it is none. */
async function draftRoots({ store, gaps }: CatalogDeps, skills: readonly Kept[]): Promise<ItemRoot[]> {
  const drafts = skills.filter(({ reach, proposal }) => reach === "draft" && !proposal);
  const ids = drafts.flatMap(({ instinct, members = [] }) => [instinct, ...members]);
  const instincts = await store.learning.instincts.get([...new Set(ids)]);
  const realms = new Map(
    instincts.map(({ id, scope, project }) => [id, scope === "user" ? "user" : project]),
  );
  return drafts.map(({ kind, path, instinct, members = [] }) => ({
    path,
    kind: kind as ItemKind,
    form: kind === "skill" ? "package" : "file",
    realm: [instinct, ...members].map((id) => realms.get(id)).find(isKnown) ?? gaps?.get(instinct) ?? "user",
    // What anybody put into an agent's folder goes before what only Knack has.
    rank: Number.MAX_SAFE_INTEGER,
    prefix: "",
    owner: "learned",
    draft: true,
  }));
}

function isKnown(realm: string | undefined): boolean {
  return realm !== undefined;
}

/** Says of each file that Knack wrote what it was made of: the ledger knows better than the file. */
function withSources(files: readonly ItemFile[], skills: readonly Kept[]): ItemFile[] {
  const sources = new Map(skills.map((kept) => [kept.path, kept]));
  return files.map((file) => {
    const places = [file.path, folderOf(file.path), file.real, folderOf(file.real)];
    const kept = places.map((place) => sources.get(place)).find((one) => one !== undefined);
    const { item } = file;
    const source = kept?.instinct ?? null;
    if (item === null || item.source === source) return file;
    // A person's skill that was only changed is still theirs.
    const owner = kept && isMade(kept) ? "learned" : item.owner;
    return { ...file, item: { ...item, source, owner } };
  });
}

function folderOf(path: string): string {
  return path.replace(/[\\/][^\\/]*$/, "");
}
