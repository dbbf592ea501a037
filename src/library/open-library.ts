import type { Project } from "../records/index.ts";
import { type Home, resolveSettings } from "../settings/index.ts";
import type { Store } from "../store/index.ts";
import type { IngestDeps, SessionView } from "../transcripts/index.ts";
import type { Stock } from "./catalog/stock.ts";
import { openTrust } from "./catalog/trust.ts";
import { openEvolution } from "./evolve/evolve.ts";
import { openExchange } from "./exchange/exchange.ts";
import { createLibrary, createVersions } from "./files/packages.ts";
import { gapVerbs } from "./gaps/gaps.ts";
import { listArchived, planRestore } from "./lifecycle/archive.ts";
import { openCurator } from "./lifecycle/curate.ts";
import { publishPlan } from "./publish/apply.ts";
import type { AgentFolders, PublishDeps } from "./publish/changes.ts";
import { patternRedactor } from "./publish/lessons.ts";
import { openPublishing } from "./publish/open-publishing.ts";

interface LibraryVerbDeps extends IngestDeps {
  readonly home: Home;
  readonly publishing: PublishDeps;
  readonly stock: Stock;
  readonly projectAt: (cwd: string) => Promise<Project>;
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  readonly learnable: (sessions: readonly SessionView[]) => Promise<SessionView[]>;
}

/** Publishing dependencies over the local disk. */
export function createPublishDeps(
  { home, store, redactor, clock }: IngestDeps & { readonly home: Home; readonly store: Store },
  places: AgentFolders,
  stock: Stock,
): PublishDeps {
  return {
    ...{ store, redactor, clock, places, library: createLibrary() },
    versions: createVersions(home.versions),
    prefixOf: async () => resolveSettings(home, null).prefix,
    isFound: async ({ kind, name, root }) => {
      const known = (await store.projects.list()).find((project) => project.root === root);
      // While another process looks through the library, that one finds it.
      if ((await stock.restock({ id: known?.id ?? root, root })) === null) return true;
      return stock.has({ kind, name });
    },
  };
}

/** Everything that can be done with the library. */
export function openLibrary(deps: LibraryVerbDeps) {
  const { home, publishing, stock, refuses, projectAt } = deps;
  const curator = openCurator(publishing, { items: stock.items, refuses });
  const gaps = gapVerbs({ ...deps, ...publishing, isMatched: stock.covers, makeRoom: curator.makeRoom });
  const verbs = openPublishing(publishing, refuses);
  const library = { library: stock.catalog, refuses };
  const { evolve, evolveDrafts } = openEvolution(publishing, library);
  return {
    ...openItems(deps),
    ...openTrust({
      ...publishing,
      projectAt,
      catalog: stock.catalog,
      restock: (cwd) => stock.restockAt(cwd),
    }),
    ...curator,
    ...verbs,
    ...gaps,
    evolve,
    evolutions: openEvolution({ ...publishing, redactor: patternRedactor }, library).evolutions,
    ...openExchange(publishing, { projectAt, items: async (cwd) => (await stock.catalog(cwd)).items }),
    /** The lessons worth asking a person about, best first; as many as the settings say. */
    suggest: async (options: Partial<Parameters<typeof verbs.suggest>[0]> = {}) => {
      const most = options.most ?? resolveSettings(home, null).suggestions;
      return verbs.suggest({ ...options, most });
    },
    /**
     * Writes what needs no approval: drafts of lessons and of unmet requests in these sessions, and new evidence in
     * published items. Makes drafts live that have earned it, and takes back harmful items.
     */
    publishOwn: async (
      options: Parameters<typeof verbs.planOwn>[0] & Parameters<typeof gaps.advanceGaps>[0] = {},
    ) => {
      const { sessions = [], until = () => false, ...own } = options;
      // First what lessons have grown into together: those need no drafts of their own.
      const outcomes = await evolveDrafts();
      for (const { lesson, choice } of await verbs.planOwn(own)) {
        const result = await verbs.keep(lesson, choice);
        if (result.kept) outcomes.push(...result.outcomes);
      }
      outcomes.push(...(await gaps.advanceGaps({ sessions, until })).outcomes);
      await curator.probation();
      return outcomes.filter(({ done, already }) => done && !already);
    },
  };
}

/** Everything that agents can be given by name: found, and kept small and true. */
function openItems({ home, publishing, stock, projectAt }: LibraryVerbDeps) {
  return {
    /** Every item, here, in the latest projects and everywhere, and Knack's drafts. */
    catalog: ({ cwd }: { cwd?: string } = {}) => stock.catalog(cwd),
    items: stock.items,
    /** The skills in the agents' folders, for this project and for the person. */
    skills: (root: string | null = null) => {
      const all = publishing.places.all(root).filter(({ folder }) => folder !== home.drafts);
      return Promise.all(
        all.map(async (one) => ({ folder: one.folder, listing: await publishing.library.list(one) })),
      );
    },
    /** The items that match a text in this folder, best first. */
    find: async (text: string, cwd = process.cwd()) => {
      const { id: project } = await projectAt(cwd);
      return stock.find(text, { project, folder: cwd, asked: true });
    },
    /** Updates the index of the library; null while another process does. */
    stock: ({ anew, cwd }: { readonly anew?: boolean; readonly cwd?: string } = {}) =>
      stock.restockAt(cwd, anew),
    /** The state of the index file. */
    index: () => stock.index.check(),
    /** Archived items that can be restored, latest first. */
    archived: () => listArchived(publishing),
    planRestore: (name: string) => planRestore(publishing, name),
    /** Restores it byte for byte. */
    restore: (name: string) => publishPlan(publishing, () => planRestore(publishing, name), "person"),
  };
}
