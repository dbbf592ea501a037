import {
  applyDecay,
  decisionEntry,
  isSharedLesson,
  loadFindings,
  rankSuggestions,
  recordEntries,
} from "../../lessons/index.ts";
import type {
  Artifact,
  Lesson,
  LessonDecision,
  LiveReach,
  Reach,
  StoredFinding,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { extractTerms, measureSimilarity } from "../../text/index.ts";
import { findArchivedLessons, findPinnedPaths } from "../lifecycle/archive.ts";
import {
  type ChangeHistory,
  findLatestChanges,
  isTakeBack,
  type KeepOptions,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  readHistory,
} from "./changes.ts";
import { planLesson } from "./plan-lesson.ts";
import { type PublishResult, publishPlan } from "./publish.ts";

/** Two suggestions whose words overlap this much are shown once. */
const sameSuggestionFrom = 0.5;

/** A lesson worth a person's yes or no, with its evidence. */
export interface Suggestion {
  readonly lesson: Lesson;
  /** The surest first. */
  readonly findings: readonly StoredFinding[];
  readonly project: { readonly id: string; readonly name: string; readonly root: string | null };
  /** Where it may be kept, the usual place first. */
  readonly reaches: readonly LiveReach[];
  /** What keeping it in the usual place would do. */
  readonly plan: Extract<Plan, { ok: true }>;
}

/** A lesson that is not suggested, and why. */
export interface LeftOut {
  readonly what: string;
  readonly because: string;
}

export interface SuggestOptions {
  /** Only these lessons. */
  readonly only?: ReadonlySet<string>;
  readonly now: number;
  /** How many are shown. */
  readonly most: number;
  /** Why nothing is suggested for a project, if there is a reason. */
  readonly refuses?: (root: string | null, id: string) => Promise<string | null>;
}

/** The lessons worth asking a person about, best first; of similar ones, one. */
export async function suggestLessons(
  deps: PublishDeps,
  { only, now, most, refuses = async () => null }: SuggestOptions,
): Promise<{ suggestions: Suggestion[]; leftOut: LeftOut[] }> {
  const { store } = deps;
  const all = (await store.learning.lessons.list()).filter(({ id }) => !only || only.has(id));
  const history = await readHistory(store);
  const isAway = findArchivedLessons(history);
  const candidates = rankSuggestions(all, listPublishedLessons(history), now).filter((one) => !isAway(one));
  const suggestions: Suggestion[] = [];
  const leftOut: LeftOut[] = [];
  const projects = new Map((await store.projects.list()).map((row) => [row.id, row]));
  for (const lesson of candidates) {
    if (await isCovered(store, history, lesson.id)) continue;
    const { id, name, root } = projects.get(lesson.project) ?? {
      ...{ id: lesson.project, name: lesson.project, root: null },
    };
    const twin = suggestions.find((other) => isSimilar(other.lesson, lesson));
    const next =
      (await refuses(root, id)) ??
      (twin ? `much like ${twin.lesson.name}` : null) ??
      (isProposalTakenBack(history, lesson.id) ? "its proposal was taken back" : null) ??
      (suggestions.length >= most
        ? `more than ${most} at once; it is suggested another time`
        : await makeSuggestion(deps, lesson, { id, name, root }));
    if (typeof next === "string") leftOut.push({ what: lesson.name, because: next });
    else suggestions.push(next);
  }
  return { suggestions, leftOut };
}

async function makeSuggestion(
  deps: PublishDeps,
  lesson: Lesson,
  project: Suggestion["project"],
): Promise<Suggestion | string> {
  const reaches = listReaches(deps, lesson, project.root);
  const plan = await planLesson(deps, lesson, { reach: reaches[0] as Reach, actor: "person" });
  if (!plan.ok) return plan.because;
  if (plan.steps.length === 0) return "it is said already";
  return { lesson, findings: await loadFindings(deps.store, lesson), project, reaches, plan };
}

function isSimilar(a: Lesson, b: Lesson): boolean {
  const words = ({ name, lesson }: Lesson) => extractTerms(`${name} ${lesson}`);
  return a.name === b.name || measureSimilarity(words(a), words(b)) >= sameSuggestionFrom;
}

function listReaches({ places }: PublishDeps, { scope }: Lesson, root: string | null): Suggestion["reaches"] {
  if (places.skills("me", root, []) === null) return ["everywhere"];
  return scope === "user" ? ["everywhere", "me", "repository"] : ["me", "repository", "everywhere"];
}

/** The lessons behind what is live or proposed. */
function listPublishedLessons({ kept }: ChangeHistory): Set<string> {
  return new Set(
    kept
      .filter(({ reach, proposal }) => reach !== "draft" || proposal)
      .flatMap(({ origin, members = [], changes }) => [
        origin.id,
        ...members,
        ...changes.map((change) => change.origin.id),
      ]),
  );
}

/** A proposal that was taken back is not made again, though its lesson is not refused. */
function isProposalTakenBack(history: ChangeHistory, id: string): boolean {
  return findLatestChanges(history, { id }).some((change) => change.proposal && isTakeBack(change));
}

/** Whether a person's yes changed nothing, because something else said it already. */
async function isCovered(store: Store, { changes }: ChangeHistory, id: string): Promise<boolean> {
  if (changes.some(({ change }) => change.origin.id === id)) return false;
  const decisions = await store.learning.decisions.ofLesson(id);
  const byPerson = decisions.filter(({ decision }) => decision !== "promoted" && decision !== "demoted");
  return byPerson.sort((a, b) => a.at - b.at).at(-1)?.decision === "accepted";
}

/** Publishes a lesson, and records the person's yes. */
export async function keepLesson(
  deps: PublishDeps,
  lesson: Lesson,
  options: KeepOptions,
): Promise<PublishResult> {
  const { actor, reach } = options;
  const isPerson = actor === "person";
  const result = await publishPlan(
    deps,
    () => (isPerson ? planLesson : planOwnUpdate)(deps, lesson, options),
    actor,
    () => (isPerson ? [decisionEntry(lesson.id, "accepted", deps.clock.now(), reach === "everywhere")] : []),
  );
  if (!result.kept || result.outcomes.length > 0) return result;
  const { kept, changes } = await readHistory(deps.store);
  // Another run may be about to record that it is made.
  const intended = changes.flatMap(({ change, state }) => (state === "intended" ? change : []));
  const isLive = (one: Artifact) => one.origin.id === lesson.id && one.reach !== "draft";
  return { ...result, already: [...kept, ...intended].some(isLive) };
}

/** Records a person's decision by itself. */
export async function recordDecision(
  { store, clock }: PublishDeps,
  lessonId: string,
  decision: LessonDecision,
): Promise<void> {
  await store.transaction((tx) => recordEntries(tx, [decisionEntry(lessonId, decision, clock.now())]));
}

/** A plan that Knack makes without being asked. */
export interface OwnUpdate {
  readonly lesson: Lesson;
  readonly choice: KeepOptions;
  readonly plan: Plan;
}

/**
 * What Knack does unasked: published skills get their new evidence, and active lessons that nobody was asked about
 * become drafts. Where a person took something back, nothing is done until they keep or accept something there.
 */
export async function planOwnUpdates(
  deps: PublishDeps,
  options: Pick<SuggestOptions, "only" | "now" | "refuses"> & { readonly asked: ReadonlySet<string> },
): Promise<OwnUpdate[]> {
  const { only, now, asked, refuses = async () => null } = options;
  const history = await readHistory(deps.store);
  const roots = new Map((await deps.store.projects.list()).map(({ id, root }) => [id, root]));
  const { library, versions } = deps;
  // Planning changes nothing, and a stored version never changes.
  const cached = {
    ...deps,
    library: { ...library, list: callOnce(library.list, ({ folder }) => folder) },
    versions: { ...versions, restore: callOnce(versions.restore, (hash) => hash) },
  };
  const isAway = findArchivedLessons(history);
  const clustered = new Set(history.kept.flatMap(({ members = [] }) => members));
  const plans: OwnUpdate[] = [];
  for (const lesson of await deps.store.learning.lessons.list()) {
    if ((only && !only.has(lesson.id)) || asked.has(lesson.id) || lesson.artifact !== "skill") continue;
    const own = history.kept.filter(
      ({ kind, changes }) => kind === "skill" && changes.some((one) => one.origin.id === lesson.id),
    );
    // The cluster's skill says it already.
    if (own.length === 0 && clustered.has(lesson.id)) continue;
    const live = own.find(({ reach }) => reach !== "draft");
    const { status } = applyDecay(lesson.state, now);
    const isOpen =
      status === "active" || (status === "promoted" && (live !== undefined || isSharedLesson(lesson)));
    if (!isOpen || isAway(lesson) || findLatestChanges(history, lesson).some(isTakeBack)) continue;
    if ((await refuses(roots.get(lesson.project) ?? null, lesson.project)) !== null) continue;
    const choice: KeepOptions = { reach: live?.reach ?? "draft", actor: "knack" };
    plans.push({ lesson, choice, plan: await planOwnUpdate(cached, lesson, choice) });
  }
  return plans.filter(({ plan }) => plan.ok && plan.steps.length > 0);
}

/** A plan without what a person pinned, and without what they deleted by hand, which is not made again unasked. */
async function planOwnUpdate(deps: PublishDeps, lesson: Lesson, choice: KeepOptions): Promise<Plan> {
  const planned = await planLesson(deps, lesson, choice);
  if (!planned.ok) return planned;
  const { kept } = await readHistory(deps.store);
  const paths = new Set(kept.map(({ path }) => path));
  const pinned = await findPinnedPaths(deps.store, kept);
  const isAllowed = ({ change: { path, before } }: PlannedChange) =>
    !pinned.has(path) && !(before === null && paths.has(path));
  return { ...planned, steps: planned.steps.filter(isAllowed) };
}

/** The same function, called once for each key. */
function callOnce<In, Out>(work: (given: In) => Out, toKey: (given: In) => string): (given: In) => Out {
  const known = new Map<string, Out>();
  return (given) => {
    const key = toKey(given);
    const result = known.has(key) ? (known.get(key) as Out) : work(given);
    known.set(key, result);
    return result;
  };
}
