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
import { isInsideFolder } from "./base/index.ts";
import { type GoalNeeds, openDuties } from "./duties/index.ts";
import { createConsent, createJudgeSource, openJudging, openLearning } from "./learning/index.ts";
import { openLessons } from "./lessons/index.ts";
import {
  createPublishDeps,
  listPublished,
  maintain,
  openLibrary,
  openStock,
  repairChanges,
} from "./library/index.ts";
import { type KnackOptions, openBase } from "./open-base.ts";
import { openPages } from "./pages/index.ts";
import { openRecall } from "./recall/index.ts";
import type { EntryOf, Project } from "./records/index.ts";
import { userHome } from "./settings/index.ts";
import { openTeam, openTeamWork, type TeamLibrary } from "./team/index.ts";
import { openSessions, rebuild, Transcripts } from "./transcripts/index.ts";
import { createRedactor } from "./trust/index.ts";

export type { KnackOptions } from "./open-base.ts";

/** Knack, opened on one home. Close it when done. */
export type Knack = Awaited<ReturnType<typeof openKnack>>;

export async function openKnack(options: KnackOptions = {}) {
  const { work, env, ...base } = await openBase(options);
  const { home, store, clock, dryRun } = base;
  const { redactor = createRedactor() } = options;
  const surroundings = { home: userHome(env), env };
  const shared = {
    ...{ ...base, redactor },
    ...work,
    ...createConsent(home, store),
    transcripts: new Transcripts({
      exclude: [home.folder],
      roots: async () => (await store.projects.list()).flatMap(({ root }) => root ?? []),
    }),
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
  const forGoals: GoalNeeds = {
    items: stock.items,
    // A project without pages keeps its lessons with the goals.
    pages: async (project) => (await pagesWherever(project))?.forGoals() ?? null,
    findFitting: async (text, root) => {
      const pages = root === null ? null : pagesOf(await shared.projectAt(root));
      return [
        ...(await library.find(text, root ?? undefined)).map(({ card }) => card.name),
        ...((await pages?.find(text)) ?? []).map(({ page }) => page),
      ];
    },
  };
  const duties = openDuties({ ...deps, ...forGoals });
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
    forGoals,
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
