import type { Artifact, LiveReach, Reach } from "../core/change.ts";
import { KnackError } from "../core/errors.ts";
import { isGapId } from "../core/gap.ts";
import { type Decision, type Instinct, isTold, standingAt } from "../core/instinct.ts";
import type { Actor, LedgerEntry } from "../core/ledger.ts";
import { policy as defaults } from "../core/policy.ts";
import { suggestionsOf } from "../core/suggest.ts";
import { overlap, termsOf } from "../core/words.ts";
import { isPutAway, pinnedPlaces } from "./archive.ts";
import { note } from "./note.ts";
import { plan } from "./plan.ts";
import type { KeptFinding, Library, Store, Versions } from "./ports.ts";
import { carryOut, type Settled } from "./publish.ts";
import {
  type Choice,
  type History,
  historyOf,
  isTakingBack,
  latestOf,
  type Plan,
  type PublishDeps,
  type Step,
} from "./step.ts";

/** A lesson worth a person's yes or no, with what speaks for it. */
export interface Suggestion {
  readonly instinct: Instinct;
  /** The surest first. */
  readonly findings: readonly KeptFinding[];
  readonly project: { readonly id: string; readonly name: string; readonly root: string | null };
  /** Where it may be kept, the usual place first. */
  readonly reaches: readonly LiveReach[];
  /** What keeping it in the usual place would do. */
  readonly plan: Extract<Plan, { ok: true }>;
}

/** Something that was left out, and why. */
export interface LeftOut {
  readonly what: string;
  readonly because: string;
}

export interface SuggestOptions {
  /** Only these instincts. */
  readonly only?: ReadonlySet<string>;
  /** As of when they are looked at. */
  readonly now: number;
  /** How many are shown. */
  readonly most: number;
  /** Why nothing is suggested for a project, if there is a reason. */
  readonly refuses?: (root: string | null, id: string) => Promise<string | null>;
}

/** The lessons worth asking a person about, best first; of those that are much alike, one. */
export async function suggest(
  deps: PublishDeps,
  { only, now, most, refuses = async () => null }: SuggestOptions,
): Promise<{ suggestions: Suggestion[]; leftOut: LeftOut[] }> {
  const { store } = deps;
  const all = (await store.learning.instincts.list()).filter(({ id }) => !only || only.has(id));
  const history = await historyOf(store);
  const isAway = isPutAway(history);
  const candidates = suggestionsOf(all, madeOf(history), now).filter((instinct) => !isAway(instinct));
  const suggestions: Suggestion[] = [];
  const leftOut: LeftOut[] = [];
  const projects = new Map((await store.projects.list()).map((row) => [row.id, row]));
  for (const instinct of candidates) {
    if (await isCovered(store, history, instinct.id)) continue;
    const { id, name, root } = projects.get(instinct.project) ?? {
      id: instinct.project,
      name: instinct.project,
      root: null,
    };
    const twin = suggestions.find((other) => isTwin(other.instinct, instinct));
    const because =
      (await refuses(root, id)) ??
      (twin ? `much like ${twin.instinct.name}` : null) ??
      (isProposalTakenBack(history, instinct.id) ? "its proposal was taken back" : null);
    const next =
      because ??
      (suggestions.length >= most
        ? `more than ${most} at once; it is suggested another time`
        : await suggestionOf(deps, instinct, { id, name, root }));
    if (typeof next === "string") leftOut.push({ what: instinct.name, because: next });
    else suggestions.push(next);
  }
  return { suggestions, leftOut };
}

/** A suggestion, or why there is nothing to ask. */
async function suggestionOf(
  deps: PublishDeps,
  instinct: Instinct,
  project: Suggestion["project"],
): Promise<Suggestion | string> {
  const reaches = reachesOf(deps, instinct, project.root);
  const planned = await plan(deps, instinct, { reach: reaches[0] as Reach, actor: "person" });
  if (!planned.ok) return planned.because;
  if (planned.steps.length === 0) return "it is said already";
  return { instinct, findings: await findingsOf(deps.store, instinct), project, reaches, plan: planned };
}

/** The findings of an instinct, the surest first. */
export async function findingsOf(store: Store, { id }: Instinct): Promise<KeptFinding[]> {
  const findings = await store.learning.findings.ofInstincts([id]);
  return findings.sort((a, b) => b.finding.confidence - a.finding.confidence || a.at - b.at);
}

function isTwin(a: Instinct, b: Instinct): boolean {
  const words = ({ name, lesson }: Instinct) => termsOf(`${name} ${lesson}`);
  return a.name === b.name || overlap(words(a), words(b)) >= defaults.learn.same;
}

function reachesOf({ places }: PublishDeps, instinct: Instinct, root: string | null): Suggestion["reaches"] {
  if (places.skills("me", root, []) === null) return ["everywhere"];
  return instinct.scope === "user" ? ["everywhere", "me", "repository"] : ["me", "repository", "everywhere"];
}

/** The instincts that something live, or a proposal, was made of. */
function madeOf({ kept }: History): Set<string> {
  return new Set(
    kept
      .filter(({ reach, proposal }) => reach !== "draft" || proposal)
      .flatMap(({ instinct, members = [], changes }) => [
        instinct,
        ...members,
        ...changes.map((change) => change.instinct),
      ]),
  );
}

/** A proposal that was taken back is not made again, though its lesson is not refused. */
function isProposalTakenBack(history: History, id: string): boolean {
  return latestOf(history, id).some((change) => change.proposal && isTakingBack(change));
}

/** Whether a person's yes changed nothing, because something else said it already. */
async function isCovered(store: Store, { changes }: History, id: string): Promise<boolean> {
  if (changes.some(({ change }) => change.instinct === id)) return false;
  const decisions = await store.learning.decisions.ofInstinct(id);
  const byPerson = decisions.filter(({ decision }) => decision !== "promoted" && decision !== "demoted");
  return byPerson.sort((a, b) => a.at - b.at).at(-1)?.decision === "accepted";
}

/** What came of keeping something. */
export type Keeping =
  | {
      readonly kept: true;
      readonly outcomes: readonly Settled[];
      readonly steps: readonly Step[];
      readonly belongsTo: string | null;
      /** Another run did all of it before this one could. */
      readonly already: boolean;
    }
  | { readonly kept: false; readonly because: string };

/** Keeps an instinct, and notes that a person decided so. */
export async function keep(deps: PublishDeps, instinct: Instinct, choice: Choice): Promise<Keeping> {
  const keeping = await perform(
    deps,
    () => (choice.actor === "person" ? plan(deps, instinct, choice) : planMore(deps, instinct, choice)),
    choice.actor,
    () =>
      choice.actor === "person"
        ? [decided(instinct.id, "accepted", deps.clock.now(), choice.reach === "everywhere")]
        : [],
  );
  if (!keeping.kept || keeping.outcomes.length > 0) return keeping;
  const { kept, changes } = await historyOf(deps.store);
  // The other run may be about to note that it is made.
  const meant = changes.flatMap(({ change, state }) => (state === "intended" ? change : []));
  const isIts = (one: Artifact) => one.instinct === instinct.id && one.reach !== "draft";
  return { ...keeping, already: [...kept, ...meant].some(isIts) };
}

/** Carries a plan out; when the ground moved under it, it is planned once more. */
export async function perform(
  deps: PublishDeps,
  planning: () => Promise<Plan>,
  actor: Actor,
  deciding: (steps: readonly Step[]) => readonly LedgerEntry[],
): Promise<Keeping> {
  for (let tries = 1; ; tries++) {
    const planned = await planning().catch(ifUnreadable);
    if (!planned.ok) return { kept: false, because: planned.because };
    const { steps, belongsTo } = planned;
    const outcomes = await carryOut(deps, steps, actor, deciding(steps));
    const moved =
      outcomes === null || (outcomes.length > 0 && outcomes.every(({ done, disk }) => !done && !disk));
    if (moved && tries < 3) continue;
    if (outcomes === null) return { kept: false, because: "another Knack is changing the same files" };
    const failed = outcomes.find(({ done }) => !done);
    if (failed && outcomes.every(({ done }) => !done))
      return { kept: false, because: failed.because ?? "it could not be written" };
    const already = outcomes.length > 0 && outcomes.every((one) => one.already);
    return { kept: true, outcomes, steps, belongsTo, already };
  }
}

/** A package that the disk refuses is a reason to leave that one, not to stop all work. */
function ifUnreadable(error: unknown): Extract<Plan, { ok: false }> {
  if (error instanceof KnackError && error.code === "LIBRARY_UNAVAILABLE")
    return { ok: false, because: error.message };
  throw error;
}

/** The ledger's word that a person decided about an instinct. */
export function decided(instinct: string, decision: Decision, at: number, everywhere = false): LedgerEntry {
  return {
    at,
    project: null,
    session: null,
    actor: "person",
    type: "instinct.decided",
    key: `decided:${instinct}:${decision}:${at}`,
    data: { instinct, decision, everywhere },
  };
}

/** The ledger's word that it was decided about a gap. */
export function gapDecided(
  gap: string,
  decision: "promoted" | "rejected",
  actor: Actor,
  at: number,
): LedgerEntry {
  const common = { at, project: null, session: null, actor };
  return { ...common, type: "gap.decided", key: `gap:${gap}:${decision}`, data: { gap, decision } };
}

/** The ledger's word that a person decided about what something was made of, be that an instinct or a gap. */
export function decidedOn(
  id: string,
  decision: "accepted" | "rejected",
  at: number,
  everywhere = false,
): LedgerEntry {
  return isGapId(id)
    ? gapDecided(id, decision === "accepted" ? "promoted" : "rejected", "person", at)
    : decided(id, decision, at, everywhere);
}

/** Notes a person's decision by itself. */
export async function decide(
  { store, clock }: PublishDeps,
  instinct: string,
  decision: Decision,
): Promise<void> {
  await store.transaction((tx) => note(tx, [decided(instinct, decision, clock.now())]));
}

/** A plan that Knack makes without being asked. */
export interface OwnPlan {
  readonly instinct: Instinct;
  readonly choice: Choice;
  readonly plan: Plan;
}

/**
 * What Knack does by itself: what is kept gets its new evidence, and what turned active without anybody having been
 * asked becomes a draft. Where a person took something back, nothing is done until they keep or accept something there.
 */
export async function planOwn(
  deps: PublishDeps,
  {
    only,
    now,
    asked,
    refuses = async () => null,
  }: Pick<SuggestOptions, "only" | "now" | "refuses"> & { asked: ReadonlySet<string> },
): Promise<OwnPlan[]> {
  const instincts = await deps.store.learning.instincts.list();
  const history = await historyOf(deps.store);
  const roots = new Map((await deps.store.projects.list()).map(({ id, root }) => [id, root]));
  const looking = {
    ...deps,
    library: listingOnce(deps.library),
    versions: restoringOnce(deps.versions),
  };
  const isAway = isPutAway(history);
  const grown = new Set(history.kept.flatMap(({ members = [] }) => members));
  const plans: OwnPlan[] = [];
  for (const instinct of instincts) {
    if ((only && !only.has(instinct.id)) || asked.has(instinct.id) || instinct.artifact !== "skill") continue;
    const { status } = standingAt(instinct.standing, now);
    const own = history.kept.filter(
      ({ kind, changes }) => kind === "skill" && changes.some((one) => one.instinct === instinct.id),
    );
    // What it grew into, together with others, says it already.
    if (own.length === 0 && grown.has(instinct.id)) continue;
    const live = own.find(({ reach }) => reach !== "draft");
    const reach = live?.reach ?? "draft";
    const isOpen = status === "active" || (status === "promoted" && (live !== undefined || isTold(instinct)));
    if (!isOpen) continue;
    if (isAway(instinct) || latestOf(history, instinct.id).some(isTakingBack)) continue;
    if ((await refuses(roots.get(instinct.project) ?? null, instinct.project)) !== null) continue;
    const choice: Choice = { reach, actor: "knack" };
    plans.push({ instinct, choice, plan: await planMore(looking, instinct, choice) });
  }
  return plans.filter(({ plan: { ok, ...rest } }) => ok && "steps" in rest && rest.steps.length > 0);
}

/** A plan without what a person pinned, and without what they deleted by hand, which Knack does not make again unasked. */
async function planMore(deps: PublishDeps, instinct: Instinct, choice: Choice): Promise<Plan> {
  const planned = await plan(deps, instinct, choice);
  if (!planned.ok) return planned;
  const { kept } = await historyOf(deps.store);
  const places = new Set(kept.map(({ path }) => path));
  const pinned = await pinnedPlaces(deps.store, kept);
  const isMissing = ({ change }: Step) => change.before === null && places.has(change.path);
  const isPinned = ({ change }: Step) => pinned.has(change.path);
  return { ...planned, steps: planned.steps.filter((step) => !isMissing(step) && !isPinned(step)) };
}

/** Plans alone change nothing, so a folder has to be listed once for all of them. */
export function listingOnce(library: Library): Library {
  const listings = new Map<string, ReturnType<Library["list"]>>();
  return {
    ...library,
    list: (place) => {
      const listing = listings.get(place.folder) ?? library.list(place);
      listings.set(place.folder, listing);
      return listing;
    },
  };
}

/** What was kept never changes. */
export function restoringOnce(versions: Versions): Versions {
  const restored = new Map<string, ReturnType<Versions["restore"]>>();
  return {
    ...versions,
    restore: (hash) => {
      const files = restored.get(hash) ?? versions.restore(hash);
      restored.set(hash, files);
      return files;
    },
  };
}
