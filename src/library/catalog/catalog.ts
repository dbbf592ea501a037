import { dirname } from "node:path";
import { groupBy, makeId } from "../../base/index.ts";
import {
  type Item,
  type ItemFile,
  type ItemKind,
  type ItemProblem,
  isMadeByKnack,
  type KeptArtifact,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { resolveScopes } from "../lifecycle/archive.ts";
import { readHistory } from "../publish/changes.ts";
import { type ItemRoot, readRoots, stampRoots } from "./read-files.ts";
import { decideTold, findTrusted, hashItem, readTrusted } from "./trust.ts";

/** Projects whose skills are read: those that were worked in last. */
const mostProjects = 40;

/** Finds the folders in which agents look for items of the person and of these projects. Never throws. */
export type FindRoots = (projects: readonly ProjectFolder[]) => Promise<{
  readonly roots: readonly ItemRoot[];
  readonly problems: readonly ItemProblem[];
  /** Paths that could not be read; their state is unknown. */
  readonly unread: readonly string[];
}>;

interface ProjectFolder {
  readonly id: string;
  readonly root: string;
}

interface CatalogDeps {
  readonly store: Store;
  readonly roots: FindRoots;
  /** Files from an earlier reading; unchanged ones are reused. */
  readonly known?: readonly ItemFile[];
  /** The current project, which counts even if nothing was learned there yet. */
  readonly here?: ProjectFolder | undefined;
}

/** One reading of the library, with its files, so that the next reading can reuse them. */
export interface CatalogReading {
  readonly items: readonly Item[];
  readonly problems: readonly ItemProblem[];
  /** Files and folders that could not be read: what was known of anything at or below them still holds. */
  readonly unread: readonly string[];
  readonly files: readonly ItemFile[];
  /** The id of the current project. */
  readonly here: string | null;
}

/** Reads every skill, command and agent of the person and of the latest projects, and Knack's drafts. */
export async function readCatalog(deps: CatalogDeps): Promise<CatalogReading> {
  const { store, known, here } = deps;
  const { published, found, roots } = await findCatalogRoots(deps);
  const read = await readRoots(roots, known);
  const files = await markFiles(store, read.files, published);
  const { items, problems } = mergeFiles(files);
  return {
    files,
    here: here?.id ?? null,
    items,
    problems: [...found.problems, ...read.problems, ...problems],
    unread: [...new Set([...found.unread, ...read.unread])],
  };
}

async function findCatalogRoots(deps: CatalogDeps) {
  const { kept } = await readHistory(deps.store);
  const published = kept.filter(({ kind }) => kind !== "rule");
  const found = await deps.roots(await listLatestProjects(deps));
  return { published, found, roots: [...found.roots, ...(await listDraftRoots(deps.store, published))] };
}

/** A stamp of all that a reading would be made of; null where part of it cannot be looked at. */
export async function stampCatalog(deps: CatalogDeps): Promise<string | null> {
  const { published, found, roots } = await findCatalogRoots(deps);
  const files = found.unread.length > 0 ? null : stampRoots(roots);
  const made = published.map((kept) => [
    kept.path,
    kept.origin.id,
    kept.content,
    kept.held,
    isMadeByKnack(kept),
  ]);
  const trusted = [...(await readTrusted(deps.store))].map(([root, skills]) => [root, ...skills]);
  return files && makeId("c", JSON.stringify([files, made, trusted, found.problems]));
}

async function listLatestProjects({ store, here }: CatalogDeps): Promise<ProjectFolder[]> {
  const known = (await store.projects.list())
    .sort((a, b) => b.lastAt - a.lastAt || (a.id < b.id ? -1 : 1))
    .flatMap(({ id, root }) => (root === null || id === here?.id ? [] : [{ id, root }]));
  return [...(here ? [here] : []), ...known].slice(0, mostProjects);
}

/** Drafts, each for the project or person that it was learned from. A proposal waits for a person, so it is none. */
async function listDraftRoots(store: Store, published: readonly KeptArtifact[]): Promise<ItemRoot[]> {
  const drafts = published.filter(({ reach, proposal }) => reach === "draft" && !proposal);
  const resolveScope = await resolveScopes(store, drafts);
  return drafts.map((one) => ({
    ...{ path: one.path, kind: one.kind as ItemKind, form: one.kind === "skill" ? "package" : "file" },
    ...{
      scopeId: resolveScope(one),
      prefix: "",
      within: null,
      checkout: null,
      owner: "learned",
      draft: true,
    },
    // Whatever is in an agent's own folder wins over a draft.
    rank: Number.MAX_SAFE_INTEGER,
  }));
}

/**
 * Marks each item with what Knack made it of, as the ledger knows better than the file, and with who vouches for its
 * files, and so with how much of it agents are told. Only what a checkout brings along and somebody may vouch for is
 * hashed as a whole: the rest is not worth the reading.
 */
async function markFiles(
  store: Store,
  files: readonly ItemFile[],
  published: readonly KeptArtifact[],
): Promise<ItemFile[]> {
  const trusted = await readTrusted(store);
  const byPath = new Map(published.map((kept) => [kept.path, kept]));
  const marked: ItemFile[] = [];
  for (const file of files) {
    const { path, real } = file;
    const places = [path, dirname(path), real, dirname(real)];
    const kept = places.map((one) => byPath.get(one)).find((one) => one !== undefined);
    const item = file.item && markSource(file.item, kept);
    const expected = item?.checkout ? [kept?.content, findTrusted(trusted, item) ?? undefined] : [];
    const hash = item !== null && expected.some((one) => one !== undefined) ? await hashItem(item) : null;
    const accepted = hash !== null && expected.includes(hash) ? hash : null;
    const told = item && decideTold({ ...item, accepted }, kept?.held !== undefined);
    marked.push(item === null || told === null ? file : { ...file, item: { ...item, accepted, told } });
  }
  return marked;
}

function markSource(item: Item, kept: KeptArtifact | undefined): Item {
  const source = kept?.origin.id ?? null;
  if (item.source === source) return item;
  // A person's skill that Knack only changed is still theirs.
  return { ...item, source, owner: kept && isMadeByKnack(kept) ? "learned" : item.owner };
}

/** A file with an item. */
interface FileWithItem extends ItemFile {
  readonly item: Item;
  /** Other ways to the same file. */
  readonly links: readonly string[];
}

/** The items of many files: per name, the file with precedence. Independent of input order. */
export function mergeFiles(files: readonly ItemFile[]): Pick<CatalogReading, "items" | "problems"> {
  const groups = groupFiles(mergeLinks(files), ({ item }) => item.id).map((all) => all.sort(compareFiles));
  const items = groups.map(([first, ...rest]): Item => {
    const others = [...first.links, ...rest.flatMap(({ path, links }) => [path, ...links])];
    const copies = [...new Set(others)].filter((path) => path !== first.path).sort();
    return { ...first.item, copies };
  });
  const problems = [...files.flatMap((file) => file.problems), ...groups.flatMap(findSecondTexts)];
  return {
    items: items.sort((a, b) => (a.id < b.id ? -1 : 1)),
    problems: problems.sort((a, b) =>
      a.path === b.path ? (a.message < b.message ? -1 : 1) : a.path < b.path ? -1 : 1,
    ),
  };
}

/** A file that links lead to from several places counts once; where one of them is the person's, it is for everywhere. */
function mergeLinks(files: readonly ItemFile[]): FileWithItem[] {
  const found = files.flatMap((file) => (file.item === null ? [] : { ...file, item: file.item, links: [] }));
  return groupFiles(found, ({ item, real }) => `${item.kind} ${real}`).flatMap((all) => {
    const personal = all.filter(({ item }) => item.scopeId === "user");
    return personal.length > 0
      ? [pickLeading(personal, all)]
      : groupFiles(all, ({ item }) => item.scopeId).map((own) => pickLeading(own, own));
  });
}

function pickLeading(some: readonly FileWithItem[], all: readonly FileWithItem[]): FileWithItem {
  const [first] = some.toSorted(compareFiles) as [FileWithItem];
  const paths = new Set(all.map(({ path }) => path));
  return { ...first, links: [...paths].filter((path) => path !== first.path) };
}

/** By rank, then the file itself before links to it, then by path. */
function compareFiles(a: ItemFile, b: ItemFile): number {
  const isLink = ({ path, real }: ItemFile) => Number(path !== real);
  return a.rank - b.rank || isLink(a) - isLink(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
}

function findSecondTexts([first, ...rest]: readonly [FileWithItem, ...FileWithItem[]]): ItemProblem[] {
  // A draft waits for a person to say which it is to be.
  return rest
    .filter(({ item }) => item.hash !== first.item.hash && !item.draft)
    .map(({ path, item }) => ({
      path,
      severity: "warning",
      message: `There are two texts of the ${item.kind} "${item.name}": ${first.path} goes before this one.`,
      hint: "Make them one, or give one of them another name.",
    }));
}

function groupFiles(all: readonly FileWithItem[], keyOf: (one: FileWithItem) => string) {
  return [...groupBy(all, keyOf).values()];
}
