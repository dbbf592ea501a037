import { bindAll, groupBy } from "../../base/index.ts";
import {
  applyDecay,
  decisionEntry,
  explainHeldBack,
  isHeldBack,
  isSharedLesson,
  isWorthShowing,
  openLessons,
} from "../../lessons/index.ts";
import {
  type Artifact,
  type ArtifactKind,
  isMadeByKnack,
  type KeptArtifact,
  type LedgerEntry,
  type Lesson,
  type LiveReach,
  type Origin,
  type Reach,
  type Skill,
  type StoredFinding,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { createOverlapSearch, extractTerms, measureSimilarity } from "../../text/index.ts";
import { type Redactor, redact } from "../../trust/index.ts";
import { hasGapId, listGaps } from "../gaps/gap.ts";
import { findArchivedLessons, findPinnedPaths } from "../lifecycle/archive.ts";
import { type Authorship, readAuthors } from "../origins.ts";
import { parseSkill } from "../skill.ts";
import { type PublishResult, publishPlan } from "./apply.ts";
import {
  accept,
  type ChangeHistory,
  contentKey,
  diffContent,
  findLatestChanges,
  isTakeBack,
  type KeepOptions,
  mainText,
  nullIfDamaged,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planChange,
  readContent,
  readHistory,
  refuse,
} from "./changes.ts";
import { listFormats, planLesson } from "./plan.ts";

/** Two suggestions whose words overlap this much are shown once. */
const sameSuggestionFrom = 0.5;

/** Something published, as it is on disk now. */
export interface PublishedItem extends KeptArtifact {
  readonly kind: ArtifactKind;
  /** `edited` and `missing`: a person changed or deleted it. */
  readonly state: "active" | "draft" | "proposal" | "edited" | "missing" | "unreadable";
  /** A skill's text, or a rule's line; null when nothing can be read. */
  readonly text: string | null;
  /** How it differs from what Knack wrote. */
  readonly edit: string;
  /** A skill that can be read. */
  readonly skill: Skill | null;
  /** The skill that a proposal is for. */
  readonly belongsTo: string | null;
  /** As of now; null without a lesson. */
  readonly confidence: number | null;
  readonly sessions: number;
  readonly evidence: number;
  /** The project of the gap, or of the agent or review that wrote it. */
  readonly askedIn: string | null;
  readonly author: Authorship | null;
}

/** Everything published that agents are given by name or as a rule, by name. Pages are listed by what they are about. */
export async function listPublished(deps: PublishDeps): Promise<PublishedItem[]> {
  const { store, clock } = deps;
  const kept = (await readHistory(store)).kept.flatMap((one) =>
    one.kind === "page" ? [] : [{ ...one, kind: one.kind }],
  );
  const listIds = ({ origin, members }: KeptArtifact) => members ?? [origin.id];
  const ids = [...new Set(kept.flatMap(listIds))];
  const lessons = new Map((await store.learning.lessons.get(ids)).map((one) => [one.id, one]));
  const findings = await store.learning.findings.ofLessons(ids);
  const gaps = kept.some(({ origin }) => origin.kind === "gap") ? await listGaps(deps) : [];
  const authors = await readAuthors(store, kept);
  const items: PublishedItem[] = [];
  for (const one of kept) {
    const own = listIds(one);
    const known = own.flatMap((id) => lessons.get(id) ?? []);
    const gap = gaps.find((each) => hasGapId(each, one.origin.id));
    const author = authors.get(one.origin.id) ?? null;
    const learnedIn = known.length === 0 ? null : Math.max(...known.map(({ state }) => state.sessions));
    items.push({
      ...one,
      ...(await readState(deps, one)),
      confidence: meanConfidence(known, clock.now()),
      sessions: learnedIn ?? gap?.state.asked.length ?? (author ? 1 : 0),
      evidence:
        gap?.asks.length ??
        author?.evidence ??
        findings.filter(({ lessonId }) => own.includes(lessonId)).length,
      askedIn: gap?.project ?? author?.project ?? null,
      author,
    });
  }
  const sortKey = ({ name, path }: PublishedItem) => `${name}\0${path}`;
  return items.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

function meanConfidence(lessons: readonly Lesson[], now: number): number | null {
  if (lessons.length === 0) return null;
  const sum = lessons.reduce((all, { state }) => all + applyDecay(state, now).confidence, 0);
  return Math.round((sum / lessons.length) * 1e6) / 1e6;
}

async function readState(
  deps: PublishDeps,
  kept: KeptArtifact,
): Promise<Pick<PublishedItem, "state" | "text" | "edit" | "skill" | "belongsTo">> {
  const nothing = { text: null, edit: "", skill: null, belongsTo: null };
  const found = await readContent(deps, kept).catch(() => undefined);
  if (found === undefined) return { ...nothing, state: "unreadable" };
  const isRule = kept.kind === "rule";
  // A damaged copy is reported when undo needs it; what is on disk can be shown without it.
  const restore = async () => deps.versions.restore(kept.content).catch(nullIfDamaged);
  const old = isRule ? kept.content : { hash: kept.content, files: await restore() };
  const isEdited = contentKey(found) !== kept.content;
  const edit = isEdited ? diffContent(kept, old, found) : "";
  if (found === null) return { ...nothing, edit, state: "missing" };
  const text = typeof found === "string" ? found : mainText(found.files ?? []);
  const { skill } = isRule ? { skill: null } : parseSkill(text);
  const asWritten = kept.reach !== "draft" ? "active" : kept.proposal ? "proposal" : "draft";
  return {
    ...{ text, edit, skill: kept.kind === "skill" ? skill : null, state: isEdited ? "edited" : asWritten },
    belongsTo: skill?.metadata["belongs-to"] ?? null,
  };
}

/** How many things there are of each kind, whatever the folders that have them. */
export function countShelf(shelf: readonly PublishedItem[]) {
  const count = (isCounted: (one: PublishedItem) => boolean) =>
    new Set(shelf.filter(isCounted).map(({ name }) => name)).size;
  const countLive = (wanted: PublishedItem["kind"]) =>
    count(({ kind, reach }) => kind === wanted && reach !== "draft");
  return {
    skills: countLive("skill"),
    commands: countLive("command"),
    agents: countLive("agent"),
    rules: count(({ kind }) => kind === "rule"),
    drafts: count(({ reach, proposal }) => reach === "draft" && !proposal),
    proposals: count(({ proposal }) => proposal === true),
  };
}

/** The ledger entry of a person's decision about what something was made of. */
export function originDecision(
  { kind, id }: Origin,
  decision: "accepted" | "rejected",
  at: number,
  everywhere = false,
): LedgerEntry {
  if (kind !== "gap") return decisionEntry(id, decision, at, everywhere);
  const common = { at, project: null, session: null, actor: "person" as const };
  const data = { gap: id, decision: decision === "accepted" ? "promoted" : decision } as const;
  return { ...common, type: "gap.decided", key: `gap:${id}:${data.decision}`, data };
}

/** A lesson worth a person's yes or no, with its evidence. */
export interface Suggestion {
  readonly lesson: Lesson;
  /** The surest first. */
  readonly findings: readonly StoredFinding[];
  readonly project: { readonly id: string; readonly name: string; readonly root: string | null };
  /** Where it may be kept, the usual place first. */
  readonly reaches: readonly LiveReach[];
  /** The plan to keep it in the usual place. */
  readonly plan: Extract<Plan, { ok: true }>;
}

export interface LeftOut {
  readonly what: string;
  readonly because: string;
}

interface SuggestOptions {
  readonly only?: ReadonlySet<string>;
  readonly now: number;
  readonly most: number;
  /** Why nothing is suggested for a project, if there is a reason. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
}

/**
 * What was suggested of each lesson, or why nothing was, and by which history of changes. A program that looks again and
 * again has the same object for a lesson that is as it was, and makes no plan for it again until something is published.
 */
type KnownSuggestions = WeakMap<
  Lesson,
  { readonly history: string; readonly project: string; readonly next: Suggestion | string }
>;

/** Opens lesson publishing: suggestions for a person, and automatic updates. */
export function openSuggestions(deps: PublishDeps, refuses: SuggestOptions["refuses"]) {
  const now = deps.clock.now;
  const preview = { ...deps, redactor: patternRedactor };
  const known: KnownSuggestions = new WeakMap();
  return {
    /** The lessons worth asking a person about, best first. */
    suggest: (options: { only?: ReadonlySet<string>; now?: number; most: number }) =>
      suggestLessons(preview, { now: now(), refuses, known, ...options }),
    /** Plans automatic updates: new evidence, and drafts. */
    planOwn: (options?: { only?: ReadonlySet<string>; now?: number; asked?: ReadonlySet<string> }) =>
      planOwnUpdates(deps, { now: now(), asked: new Set(), refuses, ...options }),
    /** `plan` says what keeping a lesson would write; `keep` writes it; `usualReach` is where, unless a person says another place. */
    ...bindAll(deps, { plan: planLesson, keep: keepLesson, usualReach: chooseUsualReach }),
  };
}

/** For what is only shown of what was scrubbed when it was read: the patterns alone, without waiting for secretlint. */
export const patternRedactor: Redactor = {
  scrub: async (fields) => fields.map(({ text }) => redact(text)),
  close: async () => {},
};

/** The lessons worth asking a person about, best first; of similar ones, one. */
async function suggestLessons(
  deps: PublishDeps,
  { only, now, most, refuses, known }: SuggestOptions & { readonly known: KnownSuggestions },
): Promise<{ suggestions: Suggestion[]; leftOut: LeftOut[] }> {
  const { store } = deps;
  const all = (await store.learning.lessons.list()).filter(({ id }) => !only || only.has(id));
  const history = await readHistory(store);
  const isAway = findArchivedLessons(history);
  const kept = listPublishedLessons(history);
  const ranked = openLessons(deps)
    .rankSuggestions(all, now)
    .filter((one) => !kept.has(one.id) && !isAway(one));
  const covered = await listCovered(store, history, ranked);
  const candidates = ranked.filter(({ id }) => !covered.has(id));
  const still = await holdStill(deps, candidates);
  const suggestions: Suggestion[] = [];
  const leftOut: LeftOut[] = all.flatMap((one) => {
    const because = isWorthShowing(one) && !kept.has(one.id) ? explainHeldBack(one, all) : null;
    return because === null ? [] : { what: one.name, because };
  });
  const projects = new Map((await store.projects.list()).map((row) => [row.id, row]));
  const opposed = await listUndecided(deps);
  const refuse = callOnce(
    ({ root, id }: Suggestion["project"]) => refuses(root, id),
    ({ root, id }) => JSON.stringify([root, id]),
  );
  const mark = history.changes.map(({ change, state }) => `${change.id} ${state}`).join();
  const suggest = async (lesson: Lesson, project: Suggestion["project"]) => {
    const about = { history: mark, project: JSON.stringify(project) };
    const before = known.get(lesson);
    if (before?.history === about.history && before.project === about.project) return before.next;
    const next = await makeSuggestion(still, lesson, project);
    known.set(lesson, { ...about, next });
    return next;
  };
  const findTwin = createTwinSearch(candidates);
  const shown = new Map<Lesson, Suggestion>();
  for (const lesson of candidates) {
    const row = projects.get(lesson.project);
    const project = { id: lesson.project, name: row?.name ?? lesson.project, root: row?.root ?? null };
    const twin = findTwin(lesson, shown);
    const next =
      (await refuse(project)) ??
      (opposed.has(lesson.id) ? "another lesson says the opposite: knack lessons" : null) ??
      (twin ? `much like ${twin.name}` : null) ??
      (isProposalTakenBack(history, lesson.id) ? "its proposal was taken back" : null) ??
      (await suggest(lesson, project));
    if (typeof next === "string") leftOut.push({ what: lesson.name, because: next });
    else {
      suggestions.push(next);
      shown.set(lesson, next);
    }
  }
  // All were looked at first, so that those for another time are counted as every screen counts them.
  const later = suggestions.splice(most).map(({ lesson }) => ({
    what: lesson.name,
    because: `more than ${most} at once; it is suggested another time`,
  }));
  return { suggestions, leftOut: [...leftOut, ...later] };
}

/** Finds the first lesson that is shown already and is much like another, without comparing it with each. */
function createTwinSearch(candidates: readonly Lesson[]) {
  const words = new Map(candidates.map((one) => [one, extractTerms(`${one.name} ${one.lesson}`)]));
  const wordsOf = (one: Lesson) => words.get(one) ?? new Set<string>();
  const findAlike = createOverlapSearch(candidates, wordsOf, sameSuggestionFrom);
  const named = groupBy(candidates, ({ name }) => name);
  const isSimilar = (a: Lesson, b: Lesson) =>
    a.name === b.name || measureSimilarity(wordsOf(a), wordsOf(b)) >= sameSuggestionFrom;
  const order = new Map(candidates.map((one, at) => [one, at]));
  return (lesson: Lesson, shown: ReadonlyMap<Lesson, unknown>): Lesson | undefined =>
    [...new Set([...findAlike(lesson), ...(named.get(lesson.name) ?? [])])]
      .filter((other) => shown.has(other) && isSimilar(other, lesson))
      .sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))[0];
}

/** What planning for many lessons reads, read once: nothing is changed meanwhile, and each would read all of it again. */
async function holdStill(deps: PublishDeps, lessons: readonly Lesson[]): Promise<PublishDeps> {
  const { store, library, versions } = deps;
  const { learning } = store;
  const ids = lessons.map(({ id }) => id);
  const findings = groupBy(await learning.findings.ofLessons(ids), ({ lessonId }) => lessonId);
  const paths = [...findings.values()].flat().map(({ session }) => session.replace(/#.*$/s, ""));
  const sessions = groupBy(await store.sessions.list([...new Set(paths)]), ({ path }) => path);
  const changes = await learning.changes.list();
  const projects = new Map((await store.projects.list()).map((row) => [row.id, row]));
  const held: Store = {
    ...store,
    projects: {
      ...store.projects,
      get: async (some) => some.flatMap((id) => projects.get(id) ?? []),
      list: async () => [...projects.values()],
    },
    sessions: {
      ...store.sessions,
      list: async (some = []) => some.flatMap((path) => sessions.get(path) ?? []),
    },
    learning: {
      ...learning,
      changes: { ...learning.changes, list: async () => [...changes] },
      findings: {
        ...learning.findings,
        ofLessons: async (some) => some.flatMap((id) => findings.get(id) ?? []),
        lessonIds: callOnce(learning.findings.lessonIds, (some) => some.join(" ")),
      },
    },
  };
  return {
    ...{ ...deps, store: held },
    library: { ...library, list: callOnce(library.list, ({ folder }) => folder) },
    versions: { ...versions, restore: callOnce(versions.restore, (hash) => hash) },
  };
}

/** The lessons that lose a contradiction unless the person decides otherwise. */
async function listUndecided(deps: PublishDeps): Promise<Set<string>> {
  const contradictions = await openLessons(deps).contradictions();
  return new Set(
    contradictions.flatMap(({ lessons, holds }) => lessons.flatMap(({ id }) => (id === holds ? [] : id))),
  );
}

async function makeSuggestion(
  deps: PublishDeps,
  lesson: Lesson,
  project: Suggestion["project"],
): Promise<Suggestion | string> {
  const reaches = await listReaches(deps, lesson, project.root);
  const plan = await planLesson(deps, lesson, { reach: reaches[0] as Reach, actor: "person" });
  if (!plan.ok) return plan.because;
  if (plan.steps.length === 0) return "it is said already";
  return { lesson, findings: await openLessons(deps).findings(lesson), project, reaches, plan };
}

/** Where a lesson may be kept, the usual place first; a project's lesson is in a file of all projects only on request. */
async function listReaches(
  deps: PublishDeps,
  lesson: Lesson,
  root: string | null,
): Promise<readonly LiveReach[]> {
  const isHere = deps.places.skills("me", root, []) !== null;
  if (!isHere) return ["everywhere"];
  if (lesson.scope === "user") return ["everywhere", "me", "repository"];
  const formats = await listFormats(deps.store, [lesson.id]);
  const own = lesson.artifact === "skill" ? [] : (deps.places.rules("me", root, formats) ?? []);
  // An agent without a file for one person in a repository reads theirs in every project.
  const isShared = own.some(({ named }) => named);
  return isShared ? ["repository", "me", "everywhere"] : ["me", "repository", "everywhere"];
}

/** Where a lesson is kept unless the person says another place; null for one whose project is not on this machine. */
export async function chooseUsualReach(deps: PublishDeps, lesson: Lesson): Promise<LiveReach | null> {
  const [project] = await deps.store.projects.get([lesson.project]);
  const [usual] = await listReaches(deps, lesson, project?.root ?? null);
  return lesson.scope === "project" && usual === "everywhere" ? null : (usual ?? null);
}

/** The lessons behind what is live or proposed. */
function listPublishedLessons({ kept }: ChangeHistory): Set<string> {
  const shown = kept.filter(({ reach, proposal }) => reach !== "draft" || proposal);
  return new Set(
    shown.flatMap(({ origin, members = [], changes }) => [
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

/** The lessons to which a person's yes changed nothing, because something else said it already. */
async function listCovered(
  store: Store,
  { changes }: ChangeHistory,
  lessons: readonly Lesson[],
): Promise<ReadonlySet<string>> {
  const written = new Set(changes.map(({ change }) => change.origin.id));
  const decisions = await store.learning.decisions.ofLessons(lessons.map(({ id }) => id));
  const isCovered = ({ id }: Lesson) => {
    const byPerson = (decisions.get(id) ?? []).filter(
      ({ decision }) => decision !== "promoted" && decision !== "demoted",
    );
    return !written.has(id) && byPerson.at(-1)?.decision === "accepted";
  };
  return new Set(lessons.filter(isCovered).map(({ id }) => id));
}

/** A plan that Knack makes without being asked. */
type OwnUpdate = {
  readonly lesson: Lesson;
  readonly choice: KeepOptions;
  readonly plan: Plan;
};

/**
 * Plans automatic updates: published skills get new evidence, and active lessons that no person was asked about become
 * drafts. After a person takes something back, nothing is done until they keep or accept something there.
 */
async function planOwnUpdates(
  deps: PublishDeps,
  options: Pick<SuggestOptions, "only" | "now" | "refuses"> & { readonly asked: ReadonlySet<string> },
): Promise<OwnUpdate[]> {
  const { only, now, asked, refuses } = options;
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
    if (
      !isOpen ||
      (isHeldBack(lesson) && !live) ||
      isAway(lesson) ||
      findLatestChanges(history, lesson).some(isTakeBack)
    )
      continue;
    if ((await refuses(roots.get(lesson.project) ?? null, lesson.project)) !== null) continue;
    // What is live does not change by words that nobody accepted.
    if (live && lesson.doubt !== undefined) continue;
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

function callOnce<In, Out>(work: (given: In) => Out, toKey: (given: In) => string): (given: In) => Out {
  const known = new Map<string, Out>();
  return (given) => {
    const key = toKey(given);
    const result = known.has(key) ? (known.get(key) as Out) : work(given);
    known.set(key, result);
    return result;
  };
}

/** Publishes a lesson, and records the person's yes. */
async function keepLesson(deps: PublishDeps, lesson: Lesson, options: KeepOptions): Promise<PublishResult> {
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

/** Plans removing published items; a person's edits to a draft are kept as a version. */
export async function planRemoval(deps: PublishDeps, items: readonly PublishedItem[]): Promise<Plan> {
  const history = await readHistory(deps.store);
  const steps: PlannedChange[] = [];
  for (const one of items) {
    const isLive = one.reach !== "draft";
    if (one.state === "unreadable") return refuse(`${one.path} cannot be read`);
    if (one.state === "edited" && isLive)
      return refuse(`${one.path} was changed by hand; delete it yourself`);
    if (isLive && one.kind !== "rule" && !isMadeByKnack(one))
      return refuse(`${one.name} is not Knack's, it was only changed (knack skills undo ${one.name})`);
    // What is gone already is recorded as gone.
    const gone = one.kind === "rule" ? one.content : { hash: one.content, files: null };
    steps.push(planChange(history, one, "remove", (await readContent(deps, one)) ?? gone, null));
  }
  return accept(steps);
}
