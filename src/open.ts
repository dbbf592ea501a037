import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { pluginSkills } from "./agents/claude-plugin.ts";
import { agents, sessionsOn } from "./agents/index.ts";
import { createPlaces } from "./agents/places.ts";
import { rootsOn } from "./agents/roots.ts";
import { modelIn, transcriptOf } from "./agents/running.ts";
import { type Home, homeOf, userHome } from "./config.ts";
import { openUntil, type Spend, spendOf } from "./core/budget.ts";
import { type Bundle, bundleOf, type CarriedSkill } from "./core/bundle.ts";
import type { Carried } from "./core/carried.ts";
import type { Kept, LiveReach } from "./core/change.ts";
import { eccFilesOf } from "./core/ecc.ts";
import { KnackError } from "./core/errors.ts";
import type { Event } from "./core/event.ts";
import type { HostWord } from "./core/host.ts";
import type { Import, ImportedSkill } from "./core/imported.ts";
import type { Decision, Instinct } from "./core/instinct.ts";
import type { Item } from "./core/item.ts";
import type { Judged } from "./core/judgement.ts";
import type { EntryOf, LedgerEntry, Maintained, ProjectFold } from "./core/ledger.ts";
import { modelChoice, priceOf } from "./core/model.ts";
import type { NudgeDecided } from "./core/nudge.ts";
import { isObserver, type ObserverName, observerNames } from "./core/observer.ts";
import { policy } from "./core/policy.ts";
import { identify } from "./core/project.ts";
import type { Shared } from "./core/promote.ts";
import type { Answer, LearningFinish, LearningStart } from "./core/protocol.ts";
import type { Question } from "./core/question.ts";
import { homeIn, type Match } from "./core/recall.ts";
import { redact } from "./core/redact.ts";
import type { ProposalView, ReviewMode } from "./core/review.ts";
import { contextOf } from "./core/search/context.ts";
import type { Diagnostic } from "./core/session.ts";
import type { Claim, SignalGiven } from "./core/signal.ts";
import { Damaged } from "./core/table.ts";
import { isUseOf } from "./core/use.ts";
import { archived, type PutAway, planRestore } from "./engine/archive.ts";
import type { AskDeps } from "./engine/ask.ts";
import { type Backtest, type BacktestOptions, backtest } from "./engine/backtest.ts";
import { type Present, present as presentOf } from "./engine/caller.ts";
import { type Capture, captured } from "./engine/captured.ts";
import { type CatalogReading, catalog as catalogue } from "./engine/catalog.ts";
import { type Credited, credit, creditUntold, type Rated, rate } from "./engine/credit.ts";
import { type Curation, curate, pinNamed, planCuration, type RoomFor, roomFor } from "./engine/curate.ts";
import {
  type Evolution,
  type EvolveOptions,
  type Evolving,
  evolutions,
  evolve,
  evolveOwn,
} from "./engine/evolve.ts";
import {
  carryIn,
  decideImports,
  exportLessons,
  exportSkills,
  type ImportOptions,
  type ImportPlan,
  imports,
  planAcceptImport,
  planImport,
  type Selection,
  skillAccepted,
  withdrawLatest,
} from "./engine/exchange.ts";
import { candidatesFor, type Found, find, likenessBy } from "./engine/find.ts";
import { type Finished, finishLearning } from "./engine/finish-learning.ts";
import type { ForegroundDeps } from "./engine/foreground.ts";
import { type GapDeps, type GapView, gaps } from "./engine/gap.ts";
import {
  type Advanced,
  type AdvanceOptions,
  advanceGaps,
  planGapRejection,
  planPromotion,
  promoteGap,
  rejectGap,
  whyNoDraft,
} from "./engine/gap-advance.ts";
import { hear, type Word } from "./engine/hear.ts";
import { diagnosticsOf, type IngestOptions, ingest } from "./engine/ingest.ts";
import {
  type Drift,
  eachEvent,
  eventsOf,
  findDrift,
  rebuild,
  type SessionView,
  unreadableRows,
  viewSessions,
} from "./engine/inspect.ts";
import {
  decide,
  decidedOn,
  findingsOf,
  type Keeping,
  keep,
  type LeftOut,
  type OwnPlan,
  perform,
  planOwn,
  type Suggestion,
  type SuggestOptions,
  suggest,
} from "./engine/keep.ts";
import { type Learned, type LearnOptions, learn } from "./engine/learn.ts";
import { homesOfKept } from "./engine/learnings.ts";
import { expandEvents, type LookDeps, loadSkill } from "./engine/look.ts";
import { maintain } from "./engine/maintain.ts";
import { note } from "./engine/note.ts";
import { nudges, type ReviewLimits, reviewsSoFar } from "./engine/nudge.ts";
import { type Observer, observers } from "./engine/observe.ts";
import { plan } from "./engine/plan.ts";
import { planAccepted } from "./engine/plan-proposal.ts";
import type {
  Catalog,
  Clock,
  Embedder,
  IndexFound,
  IndexPart,
  KeptChange,
  KeptDecision,
  KeptFinding,
  Listing,
  Model,
  Redactor,
  Store,
} from "./engine/ports.ts";
import { type Moved, probation } from "./engine/probation.ts";
import { demoteByHand, promoteByHand, promoteDue, sharedBy, sharedLessons } from "./engine/promote.ts";
import { acceptProposal, proposalDiff, proposals, rejectProposal } from "./engine/proposal.ts";
import { prunable, prune, unprune } from "./engine/prune.ts";
import { repair, type Settled } from "./engine/publish.ts";
import { recall } from "./engine/recall.ts";
import type { Reindexed } from "./engine/reindex.ts";
import { type Report, type ReportOptions, report } from "./engine/report.ts";
import {
  previewReview,
  type ReviewDeps,
  type Reviewed,
  type ReviewPreview,
  review,
  unfinished,
  waitingFor,
} from "./engine/review.ts";
import { prospectAtLeast } from "./engine/review-cost.ts";
import {
  decidedByUndo,
  planAccepts,
  planAdopt,
  planRemoval,
  planTakeBack,
  planTakeBackTidying,
  type Shelved,
  shelf,
} from "./engine/shelf.ts";
import { deriveSignals, giveSignal, type ReplyTaken, takeReply } from "./engine/signal.ts";
import { inspect, renew, type SnapshotState } from "./engine/snapshot.ts";
import { sweepStaging } from "./engine/staging.ts";
import { type Started, startLearning } from "./engine/start-learning.ts";
import type { Choice, Plan, PublishDeps } from "./engine/step.ts";
import { type ItemCache, isStocked, knownIn, stock } from "./engine/stock.ts";
import { type Tally, tally } from "./engine/tally.ts";
import { useSkill } from "./engine/use-skill.ts";
import { readRoots } from "./library/catalog.ts";
import { createLibrary } from "./library/index.ts";
import { createVersions } from "./library/versions.ts";
import { modelFor, unsetModel } from "./models/index.ts";
import { replayModel } from "./models/replay.ts";
import { createRecorder, type Recorder, type RecorderOptions, recordOf } from "./recorder.ts";
import { createRedactor } from "./redaction/secretlint.ts";
import { modelSettings, reviewSettings, settingsFor, tellingOf, whyNotLearn } from "./settings.ts";
import { createCheckouts } from "./sources/checkouts.ts";
import { createTranscripts } from "./sources/transcripts.ts";
import { lookInto } from "./store/foreign.ts";
import { indexFilesIn, indexInMemory } from "./store/index-files.ts";
import { itemCacheAt } from "./store/item-cache.ts";
import { snapshotAt } from "./store/snapshot-file.ts";
import { ledgerAt, openCopy, openScratch, openSqlite } from "./store/sqlite.ts";

export interface KnackOptions {
  /** The environment that decides where things are; this process's by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** What takes secrets out; by default on this thread. */
  readonly redactor?: Redactor;
  /** Tells how alike texts are in meaning, for `find`; none by default, and hooks ask none. */
  readonly embedder?: Embedder;
  /** Keep nothing: work in a place that is gone at the end. */
  readonly dryRun?: boolean;
  /** With `dryRun`: begin with nothing, not with what is known. */
  readonly blank?: boolean;
  /** Look at a copy of what is kept, where nothing can be written. */
  readonly copy?: boolean;
  /** Who looks at sessions, whatever the settings say. */
  readonly observer?: string;
  /** The folder of the plugin's template, for Knack's own skills. */
  readonly template?: string;
  /** Where requests to a model are written, and where its answers are: with either, nothing is sent anywhere. */
  readonly modelDump?: string;
  readonly modelAnswers?: string;
}

/** Who looks at sessions, and what asking a model came to. */
export interface ModelState {
  readonly observer: ObserverName;
  readonly model: string;
  /** Where requests go. */
  readonly to: string;
  /** Why none can be asked; null when one can. */
  readonly unset: string | null;
  /** In the last day. */
  readonly spent: Spend;
  readonly budget: { readonly usdPerDay: number; readonly usdPerCall: number };
  /** Until when none is asked, after failures. */
  readonly openUntil: number | null;
  /** The latest call that failed, in the last day. */
  readonly failure: { readonly at: number; readonly because: string } | null;
}

/** Knack, opened on one home. Close it when done. */
export interface Knack {
  /** Reads these files and folders, or the sessions of all agents on this machine, and answers with what they hold. */
  sessions(
    paths?: readonly string[],
    options?: IngestOptions,
  ): Promise<{ sessions: SessionView[]; diagnostics: Diagnostic[]; unread: number }>;
  /** Reads the same and keeps what is worth keeping as instincts; no skill or rule is written. */
  learn(
    paths?: readonly string[],
    options?: IngestOptions &
      Pick<LearnOptions, "fewestEvents"> & {
        onLook?: LearnOptions["onProgress"];
        lookUntil?: LearnOptions["until"];
        /** Also sessions in which nothing is new. */
        again?: boolean;
      },
  ): Promise<Learned>;
  /** Who looks at sessions, and what models cost. */
  model(): Promise<ModelState>;
  /** How many requests went into files. */
  requestsWritten(): number;
  /** US dollars that models cost since a time. */
  modelUsd(since: number): Promise<number>;
  /** What models thought of sessions, each session's latest word, the latest first. */
  judged(): Promise<(Judged & { readonly session: string })[]>;
  /** What is known about a failure, a call or a text, asked in this folder. */
  recall(question: Question, cwd?: string): Promise<Match[]>;
  /** What the library has for a text, asked in this folder: the best few, the best first. */
  find(text: string, cwd?: string): Promise<Found[]>;
  /** Brings the index of the library up to date; null while another process is at it. */
  stock(options?: { readonly anew?: boolean; readonly cwd?: string }): Promise<Reindexed | null>;
  /** What is in the place of that index. */
  index(): IndexFound;
  /** What a history of sessions would have gained from what it teaches; nothing of it is kept. */
  backtest(
    sessions: readonly SessionView[],
    options?: Pick<BacktestOptions, "onProgress" | "until" | "stop">,
  ): Promise<Backtest>;
  /** Everything learned, the surest first. */
  instincts(): Promise<Instinct[]>;
  /** What speaks for an instinct, and what was seen of the use of its advice, for and against. */
  evidence(instinct: Instinct): Promise<InstinctEvidence>;
  projects(): Promise<ProjectFold[]>;
  /** When something was last learned; null when nothing was. */
  learnedAt(): Promise<number | null>;
  /** Ends what a killed process began to write. */
  repair(): Promise<Settled[]>;
  /** The lessons worth asking a person about, best first. */
  suggest(
    options?: Partial<Omit<SuggestOptions, "refuses">>,
  ): Promise<{ suggestions: Suggestion[]; leftOut: LeftOut[] }>;
  /** What keeping a lesson would write. */
  plan(instinct: Instinct, choice: Choice): Promise<Plan>;
  /** Keeps a lesson: the files are there when this returns. */
  keep(instinct: Instinct, choice: Choice): Promise<Keeping>;
  /** What Knack would write without being asked: new evidence, and drafts. */
  planOwn(options?: {
    only?: ReadonlySet<string>;
    now?: number;
    asked?: ReadonlySet<string>;
  }): Promise<OwnPlan[]>;
  /** Notes what a person decided about a lesson, without writing anything else. */
  decide(instinct: string, decision: Decision): Promise<void>;
  /** Everything that is kept, and how it is on disk. */
  shelf(): Promise<Shelved[]>;
  planAccept(drafts: readonly Kept[], reach: Kept["reach"]): Promise<Plan>;
  accept(drafts: readonly Kept[], reach: Kept["reach"]): Promise<Keeping>;
  planAdopt(edited: readonly Shelved[]): Promise<Plan>;
  /** Takes over what a person changed by hand: from now on it is what is kept. */
  adopt(edited: readonly Shelved[]): Promise<Keeping>;
  planReject(kept: readonly Shelved[]): Promise<Plan>;
  /** Takes things away, and never suggests them again. */
  reject(kept: readonly Shelved[]): Promise<Keeping>;
  planUndo(name: string | null): Promise<Plan>;
  /** Takes back the latest change, of this name or of all. */
  undo(name: string | null): Promise<Keeping>;
  /**
   * Writes what needs nobody's yes: drafts of lessons and of what these sessions asked for in vain, new evidence in
   * what is kept; and lets drafts go live that have earned it, and back what did harm.
   */
  publishOwn(
    options?: Parameters<Knack["planOwn"]>[0] & Pick<Partial<AdvanceOptions>, "sessions" | "until">,
  ): Promise<Settled[]>;
  /** What instincts have grown into together, and what would be done about it. */
  evolutions(options: Pick<EvolveOptions, "choice" | "kind">): Promise<Evolution[]>;
  /** Does that, all of it or for these names. */
  evolve(
    options: Pick<EvolveOptions, "choice" | "kind"> & { readonly only?: ReadonlySet<string> | null },
  ): Promise<Evolving[]>;
  /** What people keep asking for that nothing in the library is for, the latest asked for first. */
  gaps(): Promise<GapView[]>;
  /** Why nothing is made of a gap that is due; null where nothing is in the way. */
  whyNoDraft(gap: GapView): Promise<string | null>;
  /** Brings gaps forward: notes, drafts, and lets go live what is due. */
  advanceGaps(options?: Partial<Pick<AdvanceOptions, "sessions" | "isMatched" | "until">>): Promise<Advanced>;
  planPromotion(gap: GapView): Promise<Plan>;
  /** Makes a gap's skill live. */
  promoteGap(gap: GapView): Promise<Keeping>;
  planGapRejection(gap: GapView): Promise<Plan>;
  /** Takes away what was made of a gap, for good. */
  rejectGap(gap: GapView): Promise<Keeping>;
  /** The lessons that several projects have, and what becomes of each. */
  sharedLessons(): Promise<Shared[]>;
  /** What one instinct shares with others. */
  sharedBy(instinct: Instinct): Promise<Shared>;
  /** Has a lesson told in all projects because a person says so, or no longer. */
  promote(shared: Shared, lesson: Instinct): Promise<void>;
  demote(lesson: Instinct): Promise<void>;
  /** What was learned, in a form for others: lessons and, for a bundle, skills. */
  carried(
    selection: Omit<Selection, "here" | "aliasOf">,
    cwd?: string,
  ): Promise<{ lessons: Carried[]; withheld: number; skills: CarriedSkill[]; leftOut: string[] }>;
  /** The same as a bundle's bytes, and as files of ECC's by their paths. */
  bundle(carried: Pick<Bundle, "instincts" | "skills">, path: string): Promise<Uint8Array>;
  eccFiles(lessons: readonly Carried[]): Promise<ReadonlyMap<string, string>>;
  /** What taking a file or a folder in would do; nothing is taken in. */
  planImport(
    path: string,
    options: Pick<ImportOptions, "scope" | "minConf" | "domain">,
    cwd?: string,
  ): Promise<ImportPlan & { readonly from: string; readonly problems: readonly string[] }>;
  carryIn(plan: ImportPlan): Promise<void>;
  /** Everything that came from elsewhere, and what became of it. */
  imports(): Promise<Import[]>;
  decideImports(ids: readonly string[], word: "accepted" | "rejected"): Promise<void>;
  /** Takes back what came in the latest go. */
  withdrawImport(): Promise<Import[]>;
  planAcceptImport(skill: ImportedSkill, reach: LiveReach): Promise<Plan>;
  /** Writes a skill that came from elsewhere: exactly the files that waited. */
  acceptImport(skill: Import & ImportedSkill, reach: LiveReach): Promise<Keeping>;
  /** Pending instincts that nothing came of within so many days. */
  prunable(days: number): Promise<Instinct[]>;
  /** Retires them, and answers with them. */
  prune(days: number): Promise<Instinct[]>;
  /** Brings back what was retired in the latest go. */
  unprune(): Promise<Instinct[]>;
  /** Does what is to be done once a day; null where it was done already. */
  maintain(options?: { readonly again?: boolean }): Promise<Maintained | null>;
  /** When that was last done, and what came of it. */
  maintained(): Promise<EntryOf<"maintained"> | null>;
  /** Takes on what the hooks say was shown and asked. */
  hear(notes: readonly Word[]): Promise<void>;
  /** Renews what the hooks look things up in; false when nothing has changed. */
  renewSnapshot(): Promise<boolean>;
  /** What is in the place of that, and whether it says what is known. */
  snapshot(): Promise<SnapshotState>;
  /** The agents' transcripts, and what of them was read and looked through. */
  captured(): Promise<Capture[]>;
  /** What agents were told since a time, in its order. */
  shown(since: number): Promise<EntryOf<"lesson.shown">[]>;
  /** The same added up, with what came of it. */
  tally(since: number): Promise<Tally>;
  /** What there is in the library. */
  items(): Promise<readonly Item[]>;
  /** Notes what sessions used of it, and of what they were told, and how that went. */
  credit(sessions: readonly SessionView[], options?: Pick<LearnOptions, "until">): Promise<Credited>;
  /** Notes what a person says that something was worth. */
  rate(rating: Rated): Promise<{ readonly session: string | null }>;
  /** Lets drafts that did well go live, and takes back those that then did harm. */
  probation(): Promise<Moved[]>;
  /** What showing things was worth since a time. */
  report(since: number, compares?: ReportOptions["compares"]): Promise<Report>;
  /** How often a match is held back, at random. */
  holdout(): Promise<number>;
  /** The project that a folder belongs to. */
  projectOf(cwd: string): Promise<string>;
  /** The agents' own ids of all sessions. */
  runs(): Promise<string[]>;
  /** Takes a piece of background work on, until a time; false while another process, which lives, has it. */
  claim(work: string, until: number): Promise<boolean>;
  giveBack(work: string): Promise<void>;
  /** Who calls, by the host's word, with its session as it is by now. */
  present(word: HostWord): Promise<Present>;
  /** An agent begins to write a skill, and ends it. */
  startLearning(present: Present, start: LearningStart): Promise<Answer<Started>>;
  finishLearning(present: Present, finish: LearningFinish): Promise<Answer<Finished>>;
  /** An agent says that a learned skill guided its work. */
  useSkill(...of: Rest<typeof useSkill>): ReturnType<typeof useSkill>;
  /** An agent says what it should have learned, by a call or in its structured reply. */
  giveSignal(present: Present, signal: Claim): Promise<Answer<SignalGiven>>;
  takeReply(present: Present, reply: unknown): Promise<ReplyTaken>;
  /** Notes what sessions show that they should have learned. */
  deriveSignals(sessions: readonly SessionView[]): Promise<SignalGiven[]>;
  /** A skill, or one of its files, for an agent. */
  loadSkill(...of: Rest<typeof loadSkill>): ReturnType<typeof loadSkill>;
  /** More of some events of the session that calls. */
  expandEvents(...of: Rest<typeof expandEvents>): ReturnType<typeof expandEvents>;
  /** What reviews may do and did, and whether one is due in each project that has something new. */
  reviews(): Promise<ReviewState>;
  /** Reviews these projects or all, as far as it is due, after what waits elsewhere; or these alone because a person asks. */
  review(options?: { readonly projects?: readonly string[]; readonly asked?: boolean }): Promise<Reviewed[]>;
  /** What a review of a project would be given, and what it would cost. */
  previewReview(project: string): Promise<ReviewPreview>;
  /** What reviews proposed. */
  proposals(): Promise<ProposalView[]>;
  planProposal(proposal: ProposalView, where?: LiveReach | null): Promise<Plan>;
  proposalDiff(proposal: ProposalView): Promise<string>;
  acceptProposal(proposal: ProposalView, where?: LiveReach | null): Promise<Keeping>;
  rejectProposal(proposal: ProposalView): Promise<void>;
  /** Every change that was meant, made or dropped. */
  changes(): Promise<KeptChange[]>;
  /** The skills in the agents' folders, for this project and for the person. */
  skills(root?: string | null): Promise<{ folder: string; listing: Listing }[]>;
  /** Everything that agents can be given by name, here, in the latest projects and everywhere, and Knack's drafts. */
  catalog(options?: { cwd?: string }): Promise<CatalogReading>;
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
  events(session: SessionView): Promise<Event[]>;
  /** The same, a few at a time. */
  eachEvent(session: SessionView): AsyncIterable<Event>;
  /** Hands the events of one session over from a program. */
  recorder(options?: RecorderOptions): Recorder;
  /** What is wrong with Knack's own state. */
  check(): Promise<{ damage: string[]; drift: Drift[]; entries: number }>;
  rebuild(): Promise<Drift[]>;
  close(): Promise<void>;
}

/** What a verb takes beside its dependencies. */
type Rest<Verb extends (...all: never[]) => unknown> =
  Parameters<Verb> extends [unknown, ...infer Others] ? Others : never;

/** Background reviews, as a person sees them. */
export interface ReviewState {
  readonly mode: ReviewMode;
  readonly model: string;
  /** Why no model can be asked; null where one can. */
  readonly unset: string | null;
  readonly today: { readonly reviews: number; readonly usd: number };
  readonly limits: Pick<ReviewLimits, "perDay" | "usd" | "usdPerDay">;
  readonly last: EntryOf<"review.ended"> | null;
  /** The projects in which something is new, and what was decided there last. */
  readonly projects: readonly { readonly project: string; readonly decision: NudgeDecided }[];
  readonly signals: { readonly counted: number; readonly refused: number };
  readonly waiting: number;
  /** When those began that have not ended. */
  readonly begun: readonly number[];
}

/** What was seen of an instinct. */
export interface InstinctEvidence {
  /** The surest first. */
  readonly findings: readonly KeptFinding[];
  /** Findings that say the opposite, with the instincts they belong to. */
  readonly against: readonly { readonly instinct: string; readonly run: string; readonly at: number }[];
  readonly uses: readonly {
    readonly run: string;
    readonly at: number;
    readonly ok: number;
    readonly failed: number;
  }[];
  readonly decisions: readonly Pick<KeptDecision, "at" | "decision" | "actor">[];
}

type Environment = NonNullable<KnackOptions["env"]>;

/** Who is to look at sessions, and the model that a person chose, whether or not it is asked. */
interface Chosen {
  readonly name: ObserverName;
  readonly model: Model;
  readonly settings: ReturnType<typeof modelSettings>;
}

/** Who looks at sessions, and the model that is really asked, with what it may cost. */
interface Observing extends Chosen, Pick<AskDeps, "limits" | "price"> {
  readonly observer: Observer;
  /** Another model by a person's word for it; where nothing is sent anywhere, the same. */
  readonly modelOf: (word: string) => Pick<AskDeps, "model" | "price">;
}

/** By what was asked for, the environment and the settings, in this order. */
function chosenOn(home: Home, env: Environment, asked: string | null): Chosen {
  const settings = modelSettings(home);
  const name = asked ?? (env.KNACK_OBSERVER || settings.observer);
  if (!isObserver(name))
    throw new KnackError("WRONG_USAGE", `There is no observer "${name}".`, {
      hint: `Known: ${observerNames.join(", ")}`,
    });
  return { name, settings, model: modelNamed(home, env, settings, settings.model) };
}

function modelNamed(home: Home, env: Environment, settings: Chosen["settings"], word: string): Model {
  return modelFor({
    choice: modelChoice(word) ?? { via: "off" },
    url: settings["model.url"],
    keyEnv: settings["model.keyEnv"],
    env,
    folder: home.models,
  });
}

/** Who looks at sessions where nothing was opened, and so no model was asked. */
export function modelUnasked(env: Environment): ModelState {
  return unasked(chosenOn(homeOf(env), env, null));
}

function unasked({ name, model, settings }: Chosen): ModelState {
  return {
    observer: name,
    model: model.name,
    to: model.to,
    unset: model.unset,
    spent: { calls: 0, failed: 0, usd: 0 },
    budget: { usdPerDay: settings["model.budgetDay"], usdPerCall: settings["model.budgetCall"] },
    openUntil: null,
    failure: null,
  };
}

export async function openKnack({
  env = process.env,
  clock = { now: Date.now },
  dryRun = false,
  blank = false,
  copy = false,
  redactor = createRedactor(),
  embedder,
  observer,
  template,
  modelDump,
  modelAnswers,
}: KnackOptions = {}): Promise<Knack> {
  const home = homeOf(env);
  const open = copy ? openCopy : openSqlite;
  const store = dryRun ? await openScratch(clock) : await open({ path: home.database, clock });
  const transcripts = createTranscripts({
    passOver: [home.folder],
    openDatabase: lookInto,
    roots: async () => (await store.projects.list()).flatMap(({ root }) => root ?? []),
  });
  const checkouts = createCheckouts();
  const deps = { store, transcripts, redactor, checkouts, clock };
  if (dryRun && !blank) {
    // What is kept and refused already must be known, also to somebody who only looks.
    const entries = await ledgerAt(home.database, clock);
    await store.transaction((tx) => note(tx, entries));
  }
  const library = createLibrary();
  const places = createPlaces({
    home: userHome(env),
    env,
    drafts: { folder: home.drafts, root: home.folder },
  });
  const publishing: PublishDeps = {
    store,
    library,
    versions: createVersions(home.versions),
    places,
    redactor,
    clock,
    prefixOf: async (root) => settingsFor(home, root).prefix,
    isFound: async ({ kind, name, root }) => {
      const known = (await store.projects.list()).find((project) => project.root === root);
      // While another process looks through the library, that one finds it.
      if ((await restock({ id: known?.id ?? root, root })) === null) return true;
      return kind !== "rule" && isStocked(index, { kind, name });
    },
  };
  const gapping: GapDeps = { ...deps, ...publishing };
  const catalog: Catalog = { roots: rootsOn({ home: userHome(env), env }), read: readRoots };
  const index = dryRun ? indexInMemory() : indexFilesIn(dirname(home.snapshot));
  const cache = dryRun ? noCache : itemCacheAt(join(home.cache, "library.json"));
  const self = `${process.pid} ${randomUUID()}`;
  const refuses = async (root: string | null, id: string) => whyNotLearn(home, root, id);
  const isRefused = async ({ cwd, project }: Pick<SessionView, "cwd" | "project">) =>
    cwd !== null && (isWithin(home.folder, cwd) || isWithin(realOf(home.folder), cwd))
      ? "Knack's own work"
      : refuses(project.root, project.id);
  const isReplayed = modelDump !== undefined || modelAnswers !== undefined;
  const written = new Set<string>();
  /** Who looks at sessions, and the model that is really asked. */
  const observing = (): Observing => {
    const { name, settings, model: chosen } = chosenOn(home, env, observer ?? (isReplayed ? "model" : null));
    const model = isReplayed
      ? replayModel({
          dump: modelDump ?? null,
          answers: modelAnswers ?? null,
          onWritten: (id) => written.add(id),
          instead: chosen,
        })
      : dryRun && chosen.unset === null
        ? unsetModel(chosen.name, chosen.to, "nothing is sent in a dry run")
        : chosen;
    const { "model.inputUsd": input, "model.outputUsd": output } = settings;
    const known = priceOf(model.name);
    const limits = { usdPerDay: settings["model.budgetDay"], usdPerCall: settings["model.budgetCall"] };
    const price =
      input === null && output === null
        ? known
        : {
            input: input ?? known?.input ?? policy.model.unknownPrice.input,
            output: output ?? known?.output ?? policy.model.unknownPrice.output,
          };
    const timeoutMs = settings["model.timeoutMs"];
    return {
      ...{ name, settings, model, limits, price },
      modelOf: (word) => {
        if (model !== chosen) return { model, price };
        const other = modelNamed(home, env, settings, word);
        return { model: other, price: priceOf(other.name) };
      },
      observer: observers[name]({ store, clock, redactor, model, timeoutMs, limits, price }),
    };
  };
  const findFor = async (
    text: string,
    project: string,
    { folder, asked }: { folder: string | null; asked: boolean },
  ): Promise<Found[]> => {
    const around = { project, asked, context: folder === null ? [] : contextOf(namesIn(folder)) };
    const look = <Result>(into: (parts: readonly IndexPart[]) => Result): Result | null => {
      try {
        return index.look(into);
      } catch (error) {
        if (!(error instanceof Damaged)) throw error;
        index.condemn();
        return null;
      }
    };
    if (look((parts) => parts.length) === null) await knack.stock();
    const cards = embedder ? (look((parts) => candidatesFor(parts, text, around)) ?? []) : [];
    const likeness = embedder ? await likenessBy(embedder, text, cards) : () => 0;
    const found = () => look((parts) => find(parts, text, { ...around, likeness }));
    const first = found();
    if (first !== null) return first;
    await knack.stock();
    return found() ?? [];
  };
  /** Whether something live is for a text: a draft reaches nobody where no hook is. */
  const isMatched = async (text: string, id: string) => {
    const [project] = await store.projects.get([id]);
    const folder = project?.root != null && existsSync(project.root) ? project.root : null;
    return (await findFor(text, id, { folder, asked: false })).some(({ card }) => !card.draft);
  };
  const placeOf = async (cwd: string) => {
    const { id, root } = identify(cwd, null, await checkouts.of(cwd));
    return root === null ? undefined : { id, root };
  };
  /** Brings the index of the library up to date, seen from a project; null while another process is at it. */
  const restock = async (here: { id: string; root: string } | undefined, anew = false) => {
    const giveUp = clock.now() + policy.library.waitMs;
    while (!(await knack.claim("library", clock.now() + policy.library.leaseMs))) {
      if (clock.now() > giveUp) return null;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    try {
      if (anew) index.condemn();
      index.sweep(clock.now());
      return await stock({ store, catalog, index, cache, here, gaps: await homesOfKept(store) });
    } finally {
      await knack.giveBack("library");
    }
  };
  const foregrounding: ForegroundDeps = {
    ...publishing,
    // A database that was taken away under a running server can be written to, and is gone all the same.
    refuses: async (root, id) =>
      dryRun || existsSync(home.database)
        ? refuses(root, id)
        : `${home.database} is not there any more; Knack must be started again`,
    inLibrary: async (name) => {
      if (pluginSkills.includes(name.replace(/^knack:/, ""))) return "core";
      const { items } = await knack.catalog();
      const isCalled = (one: string) => one === name || one.endsWith(`:${name}`);
      return items.find((item) => item.kind === "skill" && isCalled(item.name))?.owner ?? null;
    },
    staging: (root) => ({
      folder: root === null ? join(home.folder, "staging") : join(root, ".knack", "staging"),
      root: root ?? home.folder,
    }),
  };
  const looking: LookDeps = {
    ...foregrounding,
    catalog: (cwd) => knack.catalog(cwd === null ? {} : { cwd }),
    own: template === undefined ? [] : pluginSkills.map((name) => join(template, "skills", name)),
  };
  /** The file of the session that calls: an agent's transcript, or what a program records. */
  const fileOf = async (word: HostWord): Promise<string | null> => {
    const recorded =
      word.format === null && word.session !== null ? recordOf(home.spool, word.session) : null;
    if (recorded !== null && existsSync(recorded)) return recorded;
    return transcriptOf(word, { home: userHome(env), env });
  };
  /** What reviews need, by the settings of this moment. */
  const reviewing = (): ReviewDeps => {
    const { model, settings, limits, price, modelOf } = observing();
    const own = reviewSettings(home);
    const gate = own["review.gate"] === null ? { model, price } : modelOf(own["review.gate"]);
    return {
      ...publishing,
      model,
      price,
      limits,
      gate,
      timeoutMs: own["review.timeoutMs"],
      allowed: {
        mode: own.review,
        calls: own["review.calls"],
        apartMs: own["review.minutes"] * 60_000,
        perDay: own["review.perDay"],
        usd: own["review.budget"],
        usdPerCall: settings["model.budgetCall"],
        usdPerDay: settings["model.budgetDay"],
        unset: model.unset,
      },
      catalog: () => knack.catalog(),
      refuses: async (root, id) =>
        [root ?? id, id].some((place) => isWithin(home.folder, place) || isWithin(realOf(home.folder), place))
          ? "it is Knack's own work"
          : refuses(root, id),
      passesOver: isRefused,
      claim: (until) => knack.claim("review", until),
      giveBack: () => knack.giveBack("review"),
    };
  };
  const wholeOrNot = async () => {
    const { items, unread } = await knack.catalog();
    return { items, whole: unread.length === 0 };
  };
  const knack: Knack = {
    sessions: async (paths, options) => {
      const { files, diagnostics } = await transcripts.find(
        paths ?? present([...sessionFolders(env), home.spool]),
      );
      // Beside their sessions agents keep other files; only a person who names a folder wants to hear of them.
      const isSession = sessionsOn({ home: userHome(env), env });
      const found = paths ? files : files.filter(({ path }) => isWithin(home.spool, path) || isSession(path));
      const unread = await ingest(deps, found, options);
      const sessions = await viewSessions(
        store,
        found.map(({ path }) => path),
      );
      const told = new Set(
        sessions.flatMap(({ path, alsoFrom }) => [path, ...alsoFrom.map((other) => other.path)]),
      );
      const rest = (await diagnosticsOf(store, found)).filter(({ path }) => !told.has(path));
      return { sessions, diagnostics: [...diagnostics, ...rest], unread };
    },
    learn: async (paths, { onLook, lookUntil, fewestEvents, again = false, ...options } = {}) => {
      // A file that may say "off" is read before anything else.
      settingsFor(home, null);
      const looks = observing().observer;
      const { sessions, unread } = await knack.sessions(paths, options);
      const stop = lookUntil ? { until: lookUntil } : {};
      const library = once(wholeOrNot);
      const before = await store.learning.instincts.mark();
      const fresh: SessionView[] = [];
      const learned = await learn(deps, sessions, {
        refuses: isRefused,
        onNoted: async (seen) => {
          fresh.push(...seen.map(({ session }) => session));
          await creditUntold(store, seen, { library, refuses: isRefused, ...stop });
        },
        fewestEvents,
        observer: looks,
        // Who asks for files of what would be sent wants those of sessions that rules have looked at, too.
        again: again ? "all" : isReplayed ? "unjudged" : "none",
        ...(onLook ? { onProgress: onLook } : {}),
        ...stop,
      });
      // Comparing projects is for when one of them has something new.
      const isNews = learned.looked > 0 && (await store.learning.instincts.mark()) !== before;
      const shared = isNews ? await promoteDue(publishing) : [];
      const promoted = shared.flatMap(({ lesson: { id, name }, verdict }) =>
        verdict.do === "promote" ? { id, name } : [],
      );
      const { left } = await knack.credit(sessions, stop);
      await knack.deriveSignals(fresh);
      return { ...learned, promoted, uncredited: left, unread };
    },
    model: async () => {
      const chosen = observing();
      const now = clock.now();
      const since = now - policy.model.dayMs;
      const called = await store.ledger.since("model.called", since);
      const entries: LedgerEntry[] = [...(await store.ledger.since("model.asked", since)), ...called];
      const failure = called.findLast(({ data }) => !data.ok);
      return {
        ...unasked(chosen),
        spent: spendOf(entries, now),
        openUntil: openUntil(entries, now),
        failure: failure ? { at: failure.at ?? 0, because: failure.data.because ?? "" } : null,
      };
    },
    requestsWritten: () => written.size,
    modelUsd: async (since) =>
      (await store.ledger.since("model.called", since)).reduce((sum, { data }) => sum + data.usd, 0),
    judged: async () => {
      const entries = await store.ledger.since("session.judged", 0);
      const latest = new Map(entries.map(({ session, data }) => [session ?? "", data]));
      return [...latest].map(([session, data]) => ({ ...data, session })).reverse();
    },
    recall: async (question, cwd = process.cwd()) => {
      const project = await knack.projectOf(cwd);
      return recall(store, question, { project, home: homeIn(cwd), unasked: false, now: clock.now() });
    },
    find: async (text, cwd = process.cwd()) => {
      const { id } = identify(cwd, null, await checkouts.of(cwd));
      return findFor(text, id, { folder: cwd, asked: true });
    },
    stock: async ({ anew = false, cwd = whereWeAre() } = {}) => restock(await placeOf(cwd), anew),
    index: () => index.check(),
    backtest: async (sessions, options) => {
      const scratch = await openScratch(clock);
      try {
        return await backtest({ ...deps, scratch }, sessions, { refuses: isRefused, ...options });
      } finally {
        await scratch.close();
      }
    },
    instincts: () => store.learning.instincts.list(),
    evidence: (instinct) => evidenceOf(store, instinct),
    projects: () => store.projects.list(),
    learnedAt: () => store.ledger.lastNoted("session.learned"),
    repair: () => repair(publishing),
    suggest: async (options) => {
      const here = (await checkouts.of(process.cwd()))?.root ?? null;
      // A project whose settings cannot be read is passed over; the others are not its concern.
      const readable = here !== null && whyNotLearn(home, here, here) === null;
      const most = options?.most ?? settingsFor(home, readable ? here : null).suggestions;
      return suggest({ ...publishing, redactor: lightly }, { now: clock.now(), refuses, ...options, most });
    },
    plan: (instinct, choice) => plan(publishing, instinct, choice),
    keep: (instinct, choice) => keep(publishing, instinct, choice),
    planOwn: (options) => planOwn(publishing, { now: clock.now(), asked: new Set(), refuses, ...options }),
    decide: async (instinct, decision) => {
      await decide(publishing, instinct, decision);
      // What is refused in one project is not told in the others.
      await promoteDue(publishing);
    },
    shelf: () => shelf(publishing),
    planAccept: (drafts, reach) => planAccepts(publishing, drafts, reach),
    accept: (drafts, reach) =>
      perform(
        publishing,
        () => planAccepts(publishing, drafts, reach),
        "person",
        () => idsOf(drafts).map((id) => decidedOn(id, "accepted", clock.now(), reach === "everywhere")),
      ),
    planAdopt: (edited) => planAdopt(publishing, edited),
    adopt: (edited) =>
      perform(
        publishing,
        () => planAdopt(publishing, edited),
        "person",
        () => [],
      ),
    planReject: (kept) => planRemoval(publishing, kept),
    reject: async (kept) => {
      const keeping = await perform(
        publishing,
        () => planRemoval(publishing, kept),
        "person",
        () => idsOf(kept).map((id) => decidedOn(id, "rejected", clock.now())),
      );
      await promoteDue(publishing);
      return keeping;
    },
    planUndo: (name) => planTakeBack(publishing, name),
    undo: async (name) => {
      const keeping = await perform(
        publishing,
        () => planTakeBack(publishing, name),
        "person",
        (steps) => decidedByUndo(steps, clock.now()),
      );
      await promoteDue(publishing);
      return keeping;
    },
    publishOwn: async ({ sessions = [], until = () => false, ...options } = {}) => {
      // First what lessons have grown into together: those need no drafts of their own.
      const outcomes = await evolveOwn(publishing, { library: knack.catalog, refuses });
      for (const { instinct, choice } of await knack.planOwn(options)) {
        const keeping = await knack.keep(instinct, choice);
        if (keeping.kept) outcomes.push(...keeping.outcomes);
      }
      outcomes.push(...(await knack.advanceGaps({ sessions, until })).outcomes);
      await knack.probation();
      return outcomes.filter(({ done, already }) => done && !already);
    },
    evolutions: (options) =>
      evolutions({ ...publishing, redactor: lightly }, { library: knack.catalog, refuses, ...options }),
    evolve: (options) => evolve(publishing, { library: knack.catalog, refuses, ...options }),
    gaps: () => gaps(publishing),
    whyNoDraft: (gap) => whyNoDraft(gapping, gap, { isMatched, refuses, roomFor: knack.roomFor }),
    advanceGaps: async ({ sessions = [], ...options } = {}) => {
      const heard: SessionView[] = [];
      for (const session of sessions) if ((await isRefused(session)) === null) heard.push(session);
      return advanceGaps(gapping, {
        isMatched,
        ...options,
        sessions: heard,
        refuses,
        roomFor: knack.roomFor,
      });
    },
    planPromotion: (gap) => planPromotion(gapping, gap),
    promoteGap: (gap) => promoteGap(gapping, gap),
    planGapRejection: (gap) => planGapRejection(gapping, gap),
    rejectGap: (gap) => rejectGap(gapping, gap),
    sharedLessons: () => sharedLessons(publishing, { all: true }),
    sharedBy: (instinct) => sharedBy(publishing, instinct),
    promote: (shared, lesson) => promoteByHand(publishing, shared, lesson),
    demote: (lesson) => demoteByHand(publishing, lesson),
    carried: async (selection, cwd = process.cwd()) => {
      const { eccProjectId } = await import("./library/exchange.ts");
      const here = identify(cwd, null, await checkouts.of(cwd));
      const meant = { ...selection, here, aliasOf: eccProjectId };
      return { ...(await exportLessons(publishing, meant)), ...(await exportSkills(publishing, meant)) };
    },
    bundle: async (carried, path) => {
      const { bundleBytes, sha256 } = await import("./library/exchange.ts");
      return bundleBytes(bundleOf(carried, clock.now(), sha256), path);
    },
    eccFiles: async (lessons) => {
      const { eccProjectId } = await import("./library/exchange.ts");
      return eccFilesOf(lessons, eccProjectId);
    },
    planImport: async (path, options, cwd = process.cwd()) => {
      const { eccProjectId, readExchange } = await import("./library/exchange.ts");
      const incoming = await readExchange(path);
      const here = identify(cwd, null, await checkouts.of(cwd));
      const { items } = await knack.catalog({ cwd });
      const skillNamed: ImportOptions["skillNamed"] = async (name, kind) => {
        const known = items.find((item) => item.kind === kind && item.name === name);
        const read = known ? await library.readText(known.path) : null;
        return known && read?.found === "text" ? { path: known.path, text: read.text } : null;
      };
      const plan = await planImport(publishing, incoming, {
        ...options,
        here,
        aliasOf: eccProjectId,
        skillNamed,
      });
      return { ...plan, from: incoming.from, problems: incoming.problems };
    },
    carryIn: (plan) => carryIn(publishing, plan),
    imports: () => imports(store),
    decideImports: (ids, word) => decideImports(publishing, ids, word),
    withdrawImport: () => withdrawLatest(publishing),
    planAcceptImport: async (skill, reach) => {
      const root = (await placeOf(whereWeAre()))?.root ?? null;
      return planAcceptImport(publishing, skill, reach, root);
    },
    acceptImport: (skill, reach) =>
      perform(
        publishing,
        () => knack.planAcceptImport(skill, reach),
        "person",
        () => [skillAccepted(skill, clock.now())],
      ),
    prunable: (days) => prunable(publishing, days),
    prune: (days) => prune(publishing, { days, actor: "person" }),
    unprune: () => unprune(publishing),
    maintain: (options) =>
      maintain(deps, { ...options, ...(dryRun ? {} : { sweep: () => sweepStaging(foregrounding) }) }),
    maintained: async () => (await store.ledger.since("maintained", 0)).at(-1) ?? null,
    hear: (notes) => hear(store, notes),
    renewSnapshot: async () => {
      await knack.stock();
      return renew({ ...publishing, file: snapshotAt(home.snapshot) }, tellingOf(home));
    },
    snapshot: async () => inspect({ store, file: snapshotAt(home.snapshot) }, tellingOf(home)),
    captured: async () => {
      const { files } = await transcripts.find(present(sessionFolders(env)));
      const isSession = sessionsOn({ home: userHome(env), env });
      const sessions = files.filter(({ path }) => isSession(path));
      return captured(store, sessions, { refuses: isRefused });
    },
    shown: (since) => store.ledger.since("lesson.shown", since),
    tally: (since) => tally(store, since),
    items: async () => (await knack.catalog()).items,
    credit: (sessions, options) =>
      credit(store, sessions, { library: wholeOrNot, refuses: isRefused, ...options }),
    rate: (rating) => rate({ store, clock }, rating),
    probation: async () =>
      probation(publishing, { items: await knack.items(), refuses, roomFor: knack.roomFor }),
    report: async (since, compares = () => false) =>
      report(store, { since, items: await knack.items(), compares }),
    holdout: async () => tellingOf(home).holdout,
    projectOf: async (cwd) => identify(cwd, null, await checkouts.of(cwd)).id,
    runs: async () => (await store.sessions.list()).map(({ sessionId, id }) => sessionId ?? id),
    claim: async (work, until) => {
      const held = await store.leases.holder(work);
      const dead = held && !isAlive(held.holder) ? held.holder : undefined;
      return store.leases.take(work, { holder: self, now: clock.now(), until, insteadOf: dead });
    },
    giveBack: (work) => store.leases.release(work, self),
    present: (word) =>
      presentOf(
        {
          store,
          fileOf,
          modelIn,
          sessionsIn: async (path) => (await knack.sessions([path], { refresh: true })).sessions,
          projectOf: async (cwd) => identify(cwd, null, await checkouts.of(cwd)),
        },
        word,
      ),
    startLearning: (present, start) => startLearning(foregrounding, present, start),
    finishLearning: (present, finish) => finishLearning(foregrounding, present, finish),
    useSkill: (present, used) => useSkill(foregrounding, present, used),
    giveSignal: (present, signal) => giveSignal(foregrounding, present, signal),
    takeReply: (present, reply) => takeReply(foregrounding, present, reply),
    deriveSignals: async (sessions) => {
      const heard: SessionView[] = [];
      for (const session of sessions) if ((await isRefused(session)) === null) heard.push(session);
      return deriveSignals(foregrounding, heard);
    },
    loadSkill: (present, wanted) => loadSkill(looking, present, wanted),
    expandEvents: (present, refs) => expandEvents(looking, present, refs),
    reviews: async () => {
      const own = reviewing();
      const { model, allowed } = own;
      const { mode, unset, perDay, usd, usdPerDay } = allowed;
      const held = await store.leases.holder("review");
      const running = held !== null && held.until > clock.now() && isAlive(held.holder);
      const deps = { store, clock, passesOver: isRefused };
      return {
        ...{ mode, unset, model: model.name, limits: { perDay, usd, usdPerDay } },
        ...(await reviewsSoFar(deps)),
        waiting: (await knack.proposals()).filter(({ status }) => status === "waiting").length,
        begun: (await unfinished(store)).map(({ at }) => at),
        projects: await nudges(deps, {
          ...{ limits: allowed, asked: false, running },
          ahead: async () => prospectAtLeast(own),
        }),
      };
    },
    review: async ({ projects, asked = false } = {}) => {
      const deps = reviewing();
      const wanted = projects ?? (await store.projects.list()).map(({ id }) => id);
      const waiting = asked ? [] : await waitingFor(deps);
      const done: Reviewed[] = [];
      for (const one of new Set([...waiting, ...wanted])) done.push(await review(deps, one, { asked }));
      return done;
    },
    previewReview: (project) => previewReview(reviewing(), project),
    proposals: () => proposals(publishing),
    planProposal: (proposal, where = null) => planAccepted(publishing, proposal, where),
    proposalDiff: (proposal) => proposalDiff(publishing, proposal),
    acceptProposal: (proposal, where = null) => acceptProposal(publishing, proposal, where),
    rejectProposal: (proposal) => rejectProposal(publishing, proposal),
    changes: () => store.learning.changes.list(),
    skills: async (root = null) => {
      const all = places.all(root).filter(({ folder }) => folder !== home.drafts);
      return Promise.all(
        all.map(async (place) => ({ folder: place.folder, listing: await library.list(place) })),
      );
    },
    catalog: async ({ cwd = whereWeAre() } = {}) => {
      return catalogue({
        store,
        catalog,
        here: await placeOf(cwd),
        gaps: await homesOfKept(store),
        known: knownIn(cache.load()),
      });
    },
    curation: async () => planCuration(publishing, (await knack.catalog()).items),
    curate: async (only) => curate(publishing, (await knack.catalog()).items, only),
    planUncurate: () => planTakeBackTidying(publishing),
    uncurate: () =>
      perform(
        publishing,
        () => planTakeBackTidying(publishing),
        "person",
        () => [],
      ),
    archived: () => archived(publishing),
    planRestore: (name) => planRestore(publishing, new Set([name])),
    restore: (name) =>
      perform(
        publishing,
        () => planRestore(publishing, new Set([name])),
        "person",
        () => [],
      ),
    pin: async (name, pinned) => pinNamed(publishing, (await knack.catalog()).items, name, pinned),
    roomFor: async (realm, wanted) => roomFor(publishing, (await knack.catalog()).items, realm, wanted),
    events: (session) => eventsOf(store, session),
    eachEvent: (session) => eachEvent(store, session),
    recorder: (options) => createRecorder({ spool: home.spool, clock, ...options }),
    check: async () => ({
      damage: [...(await store.check()), ...(await unreadableRows(store))],
      drift: await findDrift(store),
      entries: (await store.ledger.all()).length,
    }),
    rebuild: () => rebuild(store),
    close: async () => {
      await store.close();
      await redactor.close();
    },
  };
  return knack;
}

/** Asks once, however often the answer is wanted. */
function once<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | null = null;
  return () => {
    answer ??= ask();
    return answer;
  };
}

/** For who keeps nothing. */
const noCache: ItemCache = { load: () => [], save: () => {} };

/** The folder of this process; the topmost where it is gone. */
function whereWeAre(): string {
  try {
    return process.cwd();
  } catch {
    return "/";
  }
}

/** What lies in a folder; nothing where it cannot be told. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Whether the process that holds a lease still runs. */
function isAlive(holder: string): boolean {
  try {
    process.kill(Number.parseInt(holder, 10), 0);
    return true;
  } catch (error) {
    // Somebody else's process cannot be asked, but it is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function idsOf(kept: readonly Kept[]): string[] {
  return [...new Set(kept.map(({ instinct }) => instinct))];
}

async function evidenceOf(store: Store, instinct: Instinct): Promise<InstinctEvidence> {
  const { learning } = store;
  const { id, call, scope, project } = instinct;
  const uses = call?.[0] ? await learning.uses.of(call[0], scope === "user" ? null : project) : [];
  return {
    findings: await findingsOf(store, instinct),
    against: (await learning.findings.opposing(id)).map(({ instinct: by, run, at }) => ({
      instinct: by,
      run,
      at,
    })),
    uses: uses
      .filter((use) => call && isUseOf(use, call) && use.at > instinct.standing.firstAt)
      .map(({ run, at, ok, failed }) => ({ run, at, ok, failed })),
    decisions: (await learning.decisions.ofInstinct(id)).map(({ at, decision, actor }) => ({
      at,
      decision,
      actor,
    })),
  };
}

/** For what is only shown, of what was scrubbed when it was read: the patterns alone, without waiting for secretlint. */
const lightly: Redactor = {
  scrub: async (fields) => fields.map(({ text }) => redact(text)),
  close: async () => {},
};

/** Where the agents of this machine leave their sessions. */
export function sessionFolders(env: Readonly<Record<string, string | undefined>>): string[] {
  return agents.flatMap((agent) => agent.sessionFolders({ home: userHome(env), env }));
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Where a path leads; agents note the real one. */
function realOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** The folders that are there, each once, though one may be a link to another. */
function present(folders: readonly string[]): string[] {
  const real = new Map(
    folders
      .filter(existsSync)
      .map((folder) => [realpathSync(folder), folder])
      .reverse() as [string, string][],
  );
  return [...real.values()];
}
