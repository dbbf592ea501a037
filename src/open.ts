import { join } from "node:path";
import {
  createAgentFolders,
  createRootFinder,
  createSessionFilter,
  findCallingSession,
  findSessionFolders,
  pluginSkills,
  readLatestModel,
} from "./agents/index.ts";
import { openAuthoring, openReviews } from "./authoring/index.ts";
import { type Clock, isInsideFolder, keepPrivate } from "./base/index.ts";
import { type KeepInto, openDuties } from "./duties/index.ts";
import { createConsent, createJudgeSource, openJudging, openLearning } from "./learning/index.ts";
import { openLessons, recordEntries } from "./lessons/index.ts";
import {
  createPublishDeps,
  listPublished,
  maintain,
  openLibrary,
  openStock,
  repairChanges,
} from "./library/index.ts";
import { openPages } from "./pages/index.ts";
import { openRecall } from "./recall/index.ts";
import { type EntryOf, identifyProject, type Project, resolveProjectIds } from "./records/index.ts";
import { type Home, resolveHome, userHome } from "./settings/index.ts";
import {
  createBackgroundWork,
  openCopy,
  openScratch,
  openSqlite,
  readLedger,
  rememberReads,
  type Store,
} from "./store/index.ts";
import { openTeam, openTeamWork, type TeamLibrary } from "./team/index.ts";
import { findCheckout, openSessions, rebuild, Transcripts } from "./transcripts/index.ts";
import { createRedactor, type Redactor } from "./trust/index.ts";

export interface KnackOptions {
  /** The environment that decides where things are; this process's by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** Removes secrets; by default on this thread. */
  readonly redactor?: Redactor;
  /** Keep nothing: work in a database that is gone at the end. */
  readonly dryRun?: boolean;
  /** With `dryRun`: start empty, not with what is known. */
  readonly blank?: boolean;
  /** Work in this store instead of the home's own. */
  readonly store?: Store;
  /** Read a copy of the database, where the home cannot be written. */
  readonly copy?: boolean;
  /** A word that changes whenever the database does: lessons and entries are read again only then. */
  readonly mark?: () => string;
  /** Who judges sessions, whatever the settings say. */
  readonly judge?: string;
  /** The folder of the plugin's template, for Knack's own skills. */
  readonly template?: string;
  /** Where requests to a model are written, and where its answers are: with either, nothing is sent anywhere. */
  readonly modelDump?: string;
  readonly modelAnswers?: string;
}

/** Knack, opened on one home. Close it when done. */
export type Knack = Awaited<ReturnType<typeof openKnack>>;

export async function openKnack(options: KnackOptions = {}) {
  const {
    env = process.env,
    clock = { now: Date.now },
    redactor = createRedactor(),
    dryRun = false,
  } = options;
  const home = resolveHome(env);
  const surroundings = { home: userHome(env), env };
  const opened = options.store ?? (await openStore(home, clock, options));
  const store = options.mark ? rememberReads(opened, options.mark) : opened;
  // A person may have made the folder, or copied it, with a wider mode. Only with a database is it Knack's for certain.
  if (!dryRun && !options.copy) keepPrivate(home.folder);
  const work = createBackgroundWork(store, clock);
  const shared = {
    ...{ home, store, clock, redactor, dryRun },
    ...work,
    ...createConsent(home, store),
    transcripts: new Transcripts({
      exclude: [home.folder],
      roots: async () => (await store.projects.list()).flatMap(({ root }) => root ?? []),
    }),
    projectAt: async (cwd: string) => {
      const project = identifyProject(cwd, null, findCheckout(cwd));
      return { ...project, id: resolveProjectIds(await store.sessions.places())(project.id) };
    },
  };
  const agentSessions = {
    folders: () => findSessionFolders(surroundings),
    matcher: () => createSessionFilter(surroundings),
  };
  const { agentTranscripts, ...sessions } = openSessions({ ...shared, spool: home.spool, agentSessions });
  const { judge, modelDump, modelAnswers } = options;
  const judges = createJudgeSource({ ...shared, env }, { judge, modelDump, modelAnswers });
  const stock = openStock({ ...shared, roots: createRootFinder(surroundings) });
  const places = createAgentFolders({ ...surroundings, drafts: { folder: home.drafts, root: home.folder } });
  const publishing = createPublishDeps(shared, places, stock);
  const deps = { ...shared, ...sessions, agentTranscripts, judges, stock, publishing };
  const { creditSeen, ...recall } = openRecall({
    ...deps,
    items: stock.items,
    readLibrary: stock.whole,
    updateIndex: stock.restockAt,
    published: () => listPublished(publishing),
  });
  const { sweepStaging, ...authoring } = openAuthoring({
    ...deps,
    runningSession: (call) => findCallingSession(call, surroundings),
    modelIn: readLatestModel,
    ownSkills: pluginSkills,
    template: options.template,
  });
  const library = openLibrary(deps);
  const pagesIn = openPages(deps);
  /** The pages of a project; null where its folder is not on this machine, or its `.knack` is Knack's own home. */
  const pagesOf = ({ root, ...project }: Project) =>
    root === null || isInsideFolder(join(root, ".knack"), home.folder) ? null : pagesIn({ ...project, root });
  /** Where a project is may have changed since a goal of it was opened. */
  const pagesWherever = async ({ id, root }: Pick<Project, "id" | "root">) => {
    const [known] = await store.projects.get([id]);
    return pagesOf({ id, name: known?.name ?? id, root: known?.root ?? root });
  };
  const duties = openDuties({
    ...deps,
    items: stock.items,
    // A project without pages keeps its lessons with the goals.
    pages: async (project): Promise<KeepInto | null> => (await pagesWherever(project))?.forGoals() ?? null,
    findFitting: async (text, root) => {
      const pages = root === null ? null : pagesOf(await shared.projectAt(root));
      return [
        ...(await library.find(text, root ?? undefined)).map(({ card }) => card.name),
        ...((await pages?.find(text)) ?? []).map(({ page }) => page),
      ];
    },
  });
  return {
    ...sessions,
    /** The project that a folder belongs to, and its id. */
    projectAt: shared.projectAt,
    projectOf: async (cwd: string) => (await shared.projectAt(cwd)).id,
    ...openJudging(deps),
    ...openLearning(deps, { ...recall, ...authoring, creditSeen }),
    ...openLessons(deps),
    ...library,
    ...duties,
    pages: pagesOf,
    /** The pages of the project here that fit a text, as the library's search would rank them. */
    findPages: async (text: string, cwd = process.cwd()) =>
      (await pagesOf(await shared.projectAt(cwd))?.find(text, { limit: 3 })) ?? [],
    /** The learning loop, which most commands do not need. */
    loop: async () => {
      const { openLoop } = await import("./loop/index.ts");
      return openLoop({ ...deps, env, template: options.template, goal: duties.goal });
    },
    ...recall,
    ...authoring,
    ...openReviews({ ...deps, catalog: () => stock.catalog() }),
    ...openTeam({ ...deps, env, library }),
    ...openTeamWork({
      ...{ ...deps, env, library },
      openLibrary: (teamStore) => openTeamLibrary({ ...options, env, clock, redactor, store: teamStore }),
    }),
    ...work,
    /** Does the daily maintenance; null where it was done already. */
    maintain: (again: { readonly again?: boolean } = {}) =>
      maintain(deps, { ...again, ...(dryRun ? {} : { sweep: sweepStaging }) }),
    /** When that was last done, and what came of it. */
    maintained: async (): Promise<EntryOf<"maintained"> | null> =>
      (await store.ledger.since("maintained", 0)).at(-1) ?? null,
    /** Finishes or undoes what a killed process began to write. */
    repair: () => repairChanges(publishing),
    /** The time by which things age. */
    eventNow: store.eventNow,
    rebuild: () => rebuild(store),
    close: async () => {
      await store.close();
      await redactor.close();
    },
  };
}

/** The part of Knack that a team's jobs need, over the team's store. */
async function openTeamLibrary(options: KnackOptions): Promise<TeamLibrary> {
  return openKnack(options);
}

async function openStore({ database }: Home, clock: Clock, options: KnackOptions): Promise<Store> {
  const path = { path: database, clock };
  if (!options.dryRun) return options.copy ? openCopy(path) : openSqlite(path);
  const store = await openScratch(clock);
  // A dry run must know what is kept and rejected already.
  if (!options.blank) {
    const entries = await readLedger(database, clock);
    await store.transaction((tx) => recordEntries(tx, entries));
  }
  return store;
}
