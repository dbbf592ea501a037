import { bindAll } from "../base/index.ts";
import { promoteDue } from "../lessons/index.ts";
import type {
  ImportedSkill,
  KeptArtifact,
  LessonDecision,
  LiveReach,
  Origin,
  Project,
} from "../records/index.ts";
import { currentFolder, type Home, resolveSettings, whyNotLearn } from "../settings/index.ts";
import type { Store } from "../store/index.ts";
import { findCheckout, type IngestDeps, type SessionView } from "../transcripts/index.ts";
import { type Redactor, redact } from "../trust/index.ts";
import type { Stock } from "./catalog/stock.ts";
import { type EvolveOptions, evolve, evolveDrafts, planEvolutions } from "./evolve/evolve.ts";
import type { Bundle, CarriedLesson } from "./exchange/bundle.ts";
import { renderEccFiles } from "./exchange/ecc.ts";
import {
  carryIn,
  decideImports,
  exportLessons,
  exportSkills,
  type ImportOptions,
  importDecision,
  listImports,
  planAcceptImport,
  planImport,
  type Selection,
  withdrawLatest,
} from "./exchange/exchange.ts";
import { type AgentFolders, createLibrary } from "./files/library.ts";
import { createVersions } from "./files/versions.ts";
import { type AdvanceOptions, gapVerbs } from "./gaps/gaps.ts";
import { listArchived, planRestore } from "./lifecycle/archive.ts";
import { type AskForRoom, curate, makeRoom, pinNamed, planCuration } from "./lifecycle/curate.ts";
import { probation } from "./lifecycle/probation.ts";
import type { Plan, PublishDeps } from "./publish/changes.ts";
import { planAcceptDrafts, planLesson } from "./publish/plan-lesson.ts";
import { publishPlan } from "./publish/publish.ts";
import { listPublished, originDecision, type PublishedItem } from "./publish/published.ts";
import {
  keepLesson,
  planOwnUpdates,
  recordDecision,
  type SuggestOptions,
  suggestLessons,
} from "./publish/suggest.ts";
import { planAdopt, planRemoval, planUndo, planUndoCuration, undoDecisions } from "./publish/undo.ts";

interface LibraryVerbDeps extends IngestDeps {
  readonly home: Home;
  readonly publishing: PublishDeps;
  readonly stock: Stock;
  readonly projectAt: (cwd: string) => Promise<Project>;
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  readonly learnable: (sessions: readonly SessionView[]) => Promise<SessionView[]>;
}

/** What publishing needs, over this machine's disk. */
export function createPublishDeps(
  { home, store, redactor, clock }: IngestDeps & { readonly home: Home; readonly store: Store },
  places: AgentFolders,
  stock: Stock,
): PublishDeps {
  return {
    ...{ store, redactor, clock, places, library: createLibrary() },
    versions: createVersions(home.versions),
    prefixOf: async (root) => resolveSettings(home, root).prefix,
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
  const { publishing, stock, refuses } = deps;
  const library = openItems(deps);
  const { roomFor } = library;
  const gaps = gapVerbs({ ...deps, ...publishing, isMatched: stock.covers, roomFor });
  const checkProbation = async () => probation(publishing, { items: await stock.items(), refuses, roomFor });
  return {
    ...library,
    ...openPublishing(deps, gaps.advanceGaps, checkProbation),
    ...gaps,
    ...openExchange(deps),
    /** Makes drafts live that did well, and takes back those that then did harm. */
    probation: checkProbation,
  };
}

/** Everything that agents can be given by name: found, and kept small and true. */
function openItems({ home, publishing, stock, projectAt }: LibraryVerbDeps) {
  const planUncurate = () => planUndoCuration(publishing);
  const planRestored = (name: string) => planRestore(publishing, new Set([name]));
  const byPerson = (plan: () => Promise<Plan>) => publishPlan(publishing, plan, "person");
  /** Whether one more skill that nobody accepted may go live, and what would be archived for it. */
  const roomFor: AskForRoom = async (scopeId, wanted) =>
    makeRoom(publishing, await stock.items(), scopeId, wanted);
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
    /** What should be archived, merged or shortened, and what that would change. */
    curation: async () => planCuration(publishing, await stock.items()),
    /** Does that, all of it or for these names; each change can be undone. */
    curate: async (only?: ReadonlySet<string> | null) => curate(publishing, await stock.items(), only),
    planUncurate,
    /** Undoes the latest curation. */
    uncurate: () => byPerson(planUncurate),
    /** What was archived and can be restored, the latest first. */
    archived: () => listArchived(publishing),
    planRestore: planRestored,
    /** Restores it byte for byte. */
    restore: (name: string) => byPerson(() => planRestored(name)),
    /** Pins or unpins everything of a name, so that Knack leaves it alone. */
    pin: async (name: string, pinned: boolean) => pinNamed(publishing, await stock.items(), name, pinned),
    roomFor,
  };
}

export interface OwnUpdateOptions {
  only?: ReadonlySet<string>;
  now?: number;
  asked?: ReadonlySet<string>;
}

/** What lessons become: skills, commands, agents and rules, written, changed and taken back. */
function openPublishing(
  deps: LibraryVerbDeps,
  advanceGaps: ReturnType<typeof gapVerbs>["advanceGaps"],
  checkProbation: () => Promise<unknown>,
) {
  const { home, store, clock, publishing, refuses, stock } = deps;
  const preview = { ...publishing, redactor: patternRedactor };
  const growing = { library: stock.catalog, refuses };
  const planOwn = (options?: OwnUpdateOptions) =>
    planOwnUpdates(publishing, { now: clock.now(), asked: new Set(), refuses, ...options });
  const publish = (plan: () => Promise<Plan>, decided: Parameters<typeof publishPlan>[3] = () => []) =>
    publishPlan(publishing, plan, "person", decided);
  /** What is rejected or undone in one project is not shown in the others. */
  const thenPromote = async <Result>(work: Promise<Result>): Promise<Result> => {
    const done = await work;
    await promoteDue(publishing);
    return done;
  };
  return {
    /** The lessons worth asking a person about, best first. */
    suggest: async (options?: Partial<Omit<SuggestOptions, "refuses">>) => {
      const here = findCheckout(process.cwd())?.root ?? null;
      // A project whose settings cannot be read is passed over; the others are not its concern.
      const readable = here !== null && whyNotLearn(home, here, here) === null;
      const most = options?.most ?? resolveSettings(home, readable ? here : null).suggestions;
      return suggestLessons(preview, { now: clock.now(), refuses, ...options, most });
    },
    /** `plan` says what keeping a lesson would write; `keep` writes it. */
    ...bindAll(publishing, { plan: planLesson, keep: keepLesson }),
    /** Records what a person decided about a lesson, without writing anything else. */
    decide: (lessonId: string, decision: LessonDecision) =>
      thenPromote(recordDecision(publishing, lessonId, decision)),
    /** What Knack would write without being asked: new evidence, and drafts. */
    planOwn,
    /**
     * Writes what needs nobody's yes: drafts of lessons and of what these sessions asked for in vain, and new evidence
     * in what is kept. Makes drafts live that have earned it, and takes back what did harm.
     */
    publishOwn: async ({
      sessions = [],
      until = () => false,
      ...options
    }: OwnUpdateOptions & Pick<AdvanceOptions, "sessions" | "until"> = {}) => {
      // First what lessons have grown into together: those need no drafts of their own.
      const outcomes = await evolveDrafts(publishing, growing);
      for (const { lesson, choice } of await planOwn(options)) {
        const result = await keepLesson(publishing, lesson, choice);
        if (result.kept) outcomes.push(...result.outcomes);
      }
      outcomes.push(...(await advanceGaps({ sessions, until })).outcomes);
      await checkProbation();
      return outcomes.filter(({ done, already }) => done && !already);
    },
    /** What lessons have grown into together, and what would be done about it. */
    evolutions: (options: Pick<EvolveOptions, "choice" | "kind">) =>
      planEvolutions(preview, { ...growing, ...options }),
    /** Does that, all of it or for these names. */
    evolve: (
      options: Pick<EvolveOptions, "choice" | "kind"> & { readonly only?: ReadonlySet<string> | null },
    ) => evolve(publishing, { ...growing, ...options }),
    /** Everything that is kept, and how it is on disk. */
    shelf: () => listPublished(publishing),
    ...bindAll(publishing, { planAccept: planAcceptDrafts, planAdopt, planReject: planRemoval, planUndo }),
    accept: (drafts: readonly KeptArtifact[], reach: KeptArtifact["reach"]) =>
      publish(
        () => planAcceptDrafts(publishing, drafts, reach),
        () => decideOrigins(drafts, "accepted", clock.now(), reach === "everywhere"),
      ),
    /** Takes over what a person changed by hand: from now on it is what is kept. */
    adopt: (edited: readonly PublishedItem[]) => publish(() => planAdopt(publishing, edited)),
    /** Removes things, and never suggests them again. */
    reject: (kept: readonly PublishedItem[]) =>
      thenPromote(
        publish(
          () => planRemoval(publishing, kept),
          () => decideOrigins(kept, "rejected", clock.now()),
        ),
      ),
    /** Undoes the latest change, of this name or of all. */
    undo: (name: string | null) =>
      thenPromote(
        publish(
          () => planUndo(publishing, name),
          (changes) => undoDecisions(changes, clock.now()),
        ),
      ),
    /** Every change that was intended, made or dropped. */
    changes: () => store.learning.changes.list(),
  };
}

function decideOrigins(
  kept: readonly KeptArtifact[],
  decision: "accepted" | "rejected",
  at: number,
  everywhere = false,
) {
  const origins: Origin[] = [...new Map(kept.map(({ origin }) => [origin.id, origin])).values()];
  return origins.map((origin) => originDecision(origin, decision, at, everywhere));
}

/** For what is only shown of what was scrubbed when it was read: the patterns alone, without waiting for secretlint. */
const patternRedactor: Redactor = {
  scrub: async (fields) => fields.map(({ text }) => redact(text)),
  close: async () => {},
};

/** What goes to others, and what comes from them. */
function openExchange({ store, clock, publishing, stock, projectAt }: LibraryVerbDeps) {
  const planAccept = async (skill: ImportedSkill, reach: LiveReach) =>
    planAcceptImport(publishing, skill, reach, (await projectAt(currentFolder())).root);
  return {
    /** What was learned, in a form for others: lessons and, for a bundle, skills. */
    carried: async (selection: Omit<Selection, "here">, cwd = process.cwd()) => {
      const meant = { ...selection, here: await projectAt(cwd) };
      return { ...(await exportLessons(publishing, meant)), ...(await exportSkills(publishing, meant)) };
    },
    bundle: async (carried: Pick<Bundle, "instincts" | "skills">, path: string): Promise<Uint8Array> => {
      const { makeBundle, packBundle } = await import("./exchange/bundle.ts");
      return packBundle(makeBundle(carried, clock.now()), path);
    },
    /** The files of ECC's format, by their paths. */
    eccFiles: async (lessons: readonly CarriedLesson[]) => renderEccFiles(lessons),
    /** What importing a file or a folder would do; nothing is imported. */
    planImport: async (
      path: string,
      options: Pick<ImportOptions, "scope" | "minConf" | "domain">,
      cwd = process.cwd(),
    ) => {
      // Loaded on demand: it needs a schema library that nothing else waits for.
      const { readExchange } = await import("./exchange/files.ts");
      const incoming = await readExchange(path);
      const here = await projectAt(cwd);
      const { items } = await stock.catalog(cwd);
      const skillNamed: ImportOptions["skillNamed"] = async (name, kind) => {
        const known = items.find((item) => item.kind === kind && item.name === name);
        const read = known ? await publishing.library.readText(known.path) : null;
        return known && read?.found === "text" ? { path: known.path, text: read.text } : null;
      };
      const plan = await planImport(publishing, incoming, { ...options, here, skillNamed });
      return { ...plan, from: incoming.from, problems: incoming.problems };
    },
    ...bindAll(publishing, { carryIn, decideImports, withdrawImport: withdrawLatest }),
    /** Everything that was imported, and what became of it. */
    imports: () => listImports(store),
    planAcceptImport: planAccept,
    /** Writes an imported skill: exactly the files that waited. */
    acceptImport: (skill: ImportedSkill, reach: LiveReach) =>
      publishPlan(
        publishing,
        () => planAccept(skill, reach),
        "person",
        () => [importDecision([skill.id], "accepted", clock.now())],
      ),
  };
}
