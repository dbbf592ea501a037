import {
  type ItemFile,
  type ItemKind,
  type ItemProblem,
  isMadeByKnack,
  type KeptArtifact,
  type Owner,
} from "../../records/index.ts";
import { type Catalogued, itemsOf } from "../../search/index.ts";
import type { Store } from "../../store/index.ts";
import { resolveScopes } from "../lifecycle/archive.ts";
import { readHistory } from "../publish/changes.ts";
import { readRoots } from "./read-files.ts";

/** Projects whose skills are read: those that were worked in last. */
const mostProjects = 40;

/** A folder or file in which an agent looks for things of one kind. */
export interface ItemRoot {
  /** A folder; with the forms `package` and `file` the item itself. */
  readonly path: string;
  readonly kind: ItemKind;
  /** `packages`: folders with a `SKILL.md`. `markdown` and `toml`: files, also in subfolders. `file`: one such file. */
  readonly form: "packages" | "package" | "markdown" | "toml" | "file";
  /** Whom its items are for: a project id, or "user". */
  readonly scopeId: string;
  /** Of two items of one name in a scopeId, the one with the lower rank wins. */
  readonly rank: number;
  /** What agents put before the names: `plugin:`, mostly nothing. */
  readonly prefix: string;
  /** Who made what is in it; null where the files themselves say. */
  readonly owner: Owner | null;
  readonly draft: boolean;
}

/** Finds the folders in which agents look for items of the person and of these projects. Never throws. */
export type FindRoots = (projects: readonly ProjectFolder[]) => Promise<{
  readonly roots: readonly ItemRoot[];
  readonly problems: readonly ItemProblem[];
  /** What could not be read, so that nothing is known about it. */
  readonly unread: readonly string[];
}>;

export interface ProjectFolder {
  readonly id: string;
  readonly root: string;
}

export interface CatalogDeps {
  readonly store: Store;
  readonly roots: FindRoots;
  /** What was read of a file before; an unchanged file is not read again. */
  readonly known?: (path: string) => ItemFile | undefined;
  /** The current project, which counts even if nothing was learned there yet. */
  readonly here?: ProjectFolder | undefined;
}

/** One reading of the library, with its files, so that the next reading can reuse them. */
export interface CatalogReading extends Catalogued {
  readonly files: readonly ItemFile[];
  /** The id of the current project. */
  readonly here: string | null;
}

/** Reads every skill, command and agent of the person and of the latest projects, and Knack's drafts. */
export async function readCatalog(deps: CatalogDeps): Promise<CatalogReading> {
  const { store, known, here } = deps;
  const { kept } = await readHistory(store);
  const published = kept.filter(({ kind }) => kind !== "rule");
  const found = await deps.roots(await listLatestProjects(deps));
  const read = await readRoots([...found.roots, ...(await listDraftRoots(store, published))], known);
  const files = markSources(read.files, published);
  const { items, problems } = itemsOf(files);
  return {
    files,
    here: here?.id ?? null,
    items,
    problems: [...found.problems, ...read.problems, ...problems],
    unread: [...new Set([...found.unread, ...read.unread])],
  };
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
  if (drafts.length === 0) return [];
  const scopeOf = await resolveScopes(store, drafts);
  return drafts.map((one) => ({
    path: one.path,
    kind: one.kind as ItemKind,
    form: one.kind === "skill" ? "package" : "file",
    scopeId: scopeOf(one),
    // Whatever is in an agent's own folder wins over a draft.
    rank: Number.MAX_SAFE_INTEGER,
    prefix: "",
    owner: "learned",
    draft: true,
  }));
}

/** Marks each file that Knack wrote with what it was made of: the ledger knows better than the file. */
function markSources(files: readonly ItemFile[], published: readonly KeptArtifact[]): ItemFile[] {
  const byPath = new Map(published.map((kept) => [kept.path, kept]));
  return files.map((file) => {
    const paths = [file.path, getFolder(file.path), file.real, getFolder(file.real)];
    const kept = paths.map((path) => byPath.get(path)).find((one) => one !== undefined);
    const { item } = file;
    const source = kept?.origin.id ?? null;
    if (item === null || item.source === source) return file;
    // A person's skill that Knack only changed is still theirs.
    const owner = kept && isMadeByKnack(kept) ? "learned" : item.owner;
    return { ...file, item: { ...item, source, owner } };
  });
}

function getFolder(path: string): string {
  return path.replace(/[\\/][^\\/]*$/, "");
}
