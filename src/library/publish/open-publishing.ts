import { bindAll, groupBy } from "../../base/index.ts";
import { decisionEntry, openLessons, recordEntries } from "../../lessons/index.ts";
import {
  artifactKey,
  type Change,
  findUndoable,
  type KeptArtifact,
  type LedgerEntry,
  type Lesson,
  type LessonDecision,
  type LiveReach,
  type Origin,
  type Reach,
  type StoredChange,
} from "../../records/index.ts";
import { mayBeWritten } from "../../trust/index.ts";
import { planAcceptCluster } from "../evolve/evolve.ts";
import { findRejectedGaps, rejectedForGood } from "../gaps/gap.ts";
import { planAcceptGap } from "../gaps/gaps.ts";
import { isProjectHere } from "../lifecycle/archive.ts";
import { isWritten, readAuthors } from "../origins.ts";
import { scanPackage } from "../package.ts";
import { parseSkill } from "../skill.ts";
import { type PublishResult, publishPlan } from "./apply.ts";
import {
  accept,
  type ChangeHistory,
  contentKey,
  describeRefusal,
  diffContent,
  mainText,
  nullIfDamaged,
  otherFiles,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planChange,
  projectMissing,
  readContent,
  readFiles,
  readHistory,
  refuse,
} from "./changes.ts";
import {
  chooseUsualReach,
  listPublished,
  openSuggestions,
  originDecision,
  type PublishedItem,
  planRemoval,
} from "./lessons.ts";
import { planJoin, planLesson, planPublication } from "./plan.ts";

/** Why publishing is off for a project; null when it is allowed. */
type Refuses = (root: string | null, project: string) => Promise<string | null>;

/** Publishing of lessons as skills, commands, agents and rules: write, change, undo. */
export function openPublishing(deps: PublishDeps, refuses: Refuses = async () => null) {
  const { store, clock } = deps;
  const publish = (plan: () => Promise<Plan>, decided?: Parameters<typeof publishPlan>[3]) =>
    publishPlan(deps, plan, "person", decided);
  const decideAll = (
    kept: readonly KeptArtifact[],
    decision: "accepted" | "rejected",
    everywhere = false,
  ) => {
    const origins = new Map(kept.map(({ origin }) => [origin.id, origin]));
    return [...origins.values()].map((origin) => originDecision(origin, decision, clock.now(), everywhere));
  };
  /** Reevaluates promotions after a rejection or an undo. */
  const thenPromote = async <Result>(work: Promise<Result>): Promise<Result> => {
    const done = await work;
    await openLessons(deps).promoteDue();
    return done;
  };
  const { planUndo, planUncurate, planAdopt, planAccept, planReject } = bindAll(deps, {
    planUndo: planUndoOf,
    planUncurate: planUndoCuration,
    planAdopt: planAdoption,
    planAccept: planAcceptDrafts,
    planReject: planRemoval,
  });
  const verbs = {
    ...openSuggestions(deps, refuses),
    shelf: () => listPublished(deps),
    /** Records what a person decided about a lesson, without writing anything else. */
    decide: (lessonId: string, decision: LessonDecision) => {
      const entry = decisionEntry(lessonId, decision, clock.now());
      return thenPromote(store.transaction((tx) => recordEntries(tx, [entry])));
    },
    ...{ planAccept, planAdopt, planReject, planUndo, planUncurate },
    accept: (drafts: readonly KeptArtifact[], reach: Reach) =>
      publish(
        () => planAccept(drafts, reach),
        () => decideAll(drafts, "accepted", reach === "everywhere"),
      ),
    /** Takes over what a person changed by hand: from now on it is what is kept. */
    adopt: (edited: readonly PublishedItem[]) => publish(() => planAdopt(edited)),
    /** Removes things, and never suggests them again. */
    reject: (kept: readonly PublishedItem[]) => {
      const decided = () => decideAll(kept, "rejected");
      return thenPromote(publish(() => planReject(kept), decided));
    },
    /** Undoes the latest change, of this name or of all. */
    undo: (name: string | null) => {
      const decided = (steps: readonly PlannedChange[]) => undoDecisions(steps, clock.now());
      return thenPromote(publish(() => planUndo(name), decided));
    },
    /** The lessons and gaps that an undo rejects for good. */
    rejectedBy: (steps: readonly PlannedChange[]) =>
      new Set(
        undoDecisions(steps, 0).flatMap(({ type, data }) => {
          if (type === "gap.decided") return data.gap;
          return type === "lesson.decided" && data.decision === "rejected" ? data.lessonId : [];
        }),
      ),
    /** Undoes the latest curation. */
    uncurate: () => publish(planUncurate),
    /** Every change that was intended, made or dropped. */
    changes: () => store.learning.changes.list(),
    /** The changes to what was made of one lesson, gap or draft, each with its diff, in order. */
    changeDiffs: (origin: string) => diffChanges(deps, origin),
  };
  return {
    ...verbs,
    /** What a person's yes to one thing comes to; null where its project is not on this machine and no place is named. */
    acceptance: async (
      { kept, lesson }: DecidedThing,
      where: LiveReach | null,
    ): Promise<PersonsYes | null> => {
      const drafts = kept.filter(({ reach }) => reach === "draft");
      const edited = kept.filter(({ reach, state }) => reach !== "draft" && state === "edited");
      if (drafts.length === 0 && edited.length > 0)
        return {
          ...{ does: "adopt", reach: null },
          ...{ plan: () => verbs.planAdopt(edited), apply: () => verbs.adopt(edited) },
        };
      const reach = where ?? (await chooseDraftReach(deps, drafts, lesson));
      if (reach === null) return null;
      if (kept.length > 0 || !lesson)
        return {
          ...{ does: "accept", reach },
          ...{ plan: () => verbs.planAccept(drafts, reach), apply: () => verbs.accept(drafts, reach) },
        };
      const choice = { reach, actor: "person", alongside: true } as const;
      return {
        ...{ does: "keep", reach },
        ...{ plan: () => verbs.plan(lesson, choice), apply: () => verbs.keep(lesson, choice) },
      };
    },
    /** What a person's no to published things removes: drafts where there are some, else what is live. */
    removal: (kept: readonly PublishedItem[]) => {
      const drafts = kept.filter(({ reach }) => reach === "draft");
      const removed = drafts.length > 0 ? drafts : kept;
      return {
        isGap: removed.some(({ origin }) => origin.kind === "gap"),
        ...{ plan: () => verbs.planReject(removed), apply: () => verbs.reject(removed) },
      };
    },
  };
}

/** What a person decides about: the files of one name, and the lesson behind them. */
export interface DecidedThing {
  readonly kept: readonly PublishedItem[];
  readonly lesson: Lesson | null;
}

/** An edit is taken over, drafts go live, or a lesson that has no files is written. */
export interface PersonsYes {
  readonly does: "adopt" | "accept" | "keep";
  readonly reach: Reach | null;
  readonly plan: () => Promise<Plan>;
  readonly apply: () => Promise<PublishResult>;
}

/** Default place of drafts: a project's request, or an agent's draft in a project, stays there. */
async function chooseDraftReach(
  deps: PublishDeps,
  drafts: readonly KeptArtifact[],
  lesson: Lesson | null,
): Promise<Reach | null> {
  if (drafts.some(({ origin }) => origin.kind === "gap" || isWritten(origin))) return "me";
  const members = [...new Set(drafts.flatMap((draft) => draft.members ?? []))];
  const owner = lesson ?? (await deps.store.learning.lessons.get(members))[0];
  if (!owner || owner.scope === "user") return "everywhere";
  return chooseUsualReach(deps, owner);
}

/** Plans accepting drafts and proposals of one name: each goes live, or into the skill it belongs to. */
export async function planAcceptDrafts(
  deps: PublishDeps,
  drafts: readonly KeptArtifact[],
  reach: Reach,
): Promise<Plan> {
  const steps: PlannedChange[] = [];
  let belongsTo: string | null = null;
  for (const draft of drafts) {
    const planned = await planAcceptDraft(deps, draft, reach);
    if (!planned.ok) return planned;
    steps.push(...planned.steps);
    belongsTo = planned.belongsTo ?? belongsTo;
  }
  return accept(steps, { belongsTo });
}

async function planAcceptDraft(deps: PublishDeps, draft: KeptArtifact, reach: Reach): Promise<Plan> {
  const found = await readFiles(deps, draft);
  const text = found ? mainText(found.files) : "";
  const { skill } = parseSkill(text);
  if (!skill || !found) return refuse(`the draft ${draft.name} is gone`);
  const target = skill.metadata["belongs-to"];
  if (target !== undefined) return planJoin(deps, draft, found, skill, target);
  const { origin } = draft;
  if (isWritten(origin)) return planAcceptPackage(deps, draft, found.files, reach);
  if (origin.kind === "cluster") return planAcceptCluster(deps, draft, reach);
  if (origin.kind === "gap") return planAcceptGap(deps, draft, text, reach);
  const [lesson] = await deps.store.learning.lessons.get([origin.id]);
  if (!lesson) return refuse(`the lesson behind ${draft.name} is gone`);
  const isEdited = found.hash !== draft.content;
  const options = { reach, actor: "person", alongside: true } as const;
  return planLesson(deps, lesson, { ...options, ...(isEdited && { text }) });
}

/** A draft that an agent or a review wrote goes live as it is. */
async function planAcceptPackage(
  deps: PublishDeps,
  { name, origin }: KeptArtifact,
  files: NonNullable<PlannedChange["files"]>,
  reach: Reach,
): Promise<Plan> {
  const author = (await readAuthors(deps.store, [{ origin }])).get(origin.id);
  const [project] = author ? await deps.store.projects.get([author.project]) : [];
  // The draft may have been edited since it was examined.
  const concerns = scanPackage(files);
  if (!mayBeWritten(concerns)) return refuse(describeRefusal(concerns));
  return planPublication(deps, {
    ...{ kind: "skill", name, text: mainText(files), others: otherFiles(files), origin, reach },
    ...{ root: project?.root ?? null, formats: author?.format ? [author.format] : [], similar: "ignore" },
  });
}

/** Plans undoing the latest batch of changes, of one name or of all. A person's later edit stays. */
async function planUndoOf(deps: PublishDeps, name: string | null): Promise<Plan> {
  const history = await readHistory(deps.store);
  const latest = findLatest(history);
  const [newest] = latest
    .filter(({ change }) => name === null || change.name === name)
    .sort((a, b) => b.at - a.at);
  const causeId = ({ change: { origin, replacedBy } }: StoredChange) => (replacedBy ?? origin).id;
  const together = latest.filter((one) => newest && one.at === newest.at && causeId(one) === causeId(newest));
  return planReversal(deps, together, history);
}

/** Plans undoing the latest curation batch. */
async function planUndoCuration(deps: PublishDeps): Promise<Plan> {
  const history = await readHistory(deps.store);
  // One that was restored by hand is not put away again; what a cluster replaced comes back with the cluster's undo.
  const curated = findLatest(history).filter(
    ({ change: { because, why, replacedBy } }) =>
      because !== undefined && why !== "restore" && replacedBy?.kind !== "cluster",
  );
  const at = Math.max(...curated.map((one) => one.at));
  const last = curated.filter((one) => one.at === at);
  return planReversal(deps, last, history);
}

/** The latest change of each place that was not undone. */
function findLatest({ changes }: ChangeHistory): StoredChange[] {
  const made = changes.filter(({ state }) => state === "made");
  const places = groupBy(made, ({ change }) => artifactKey(change));
  return [...places.values()].flatMap((own) => {
    const last = findUndoable(own.map(({ change }) => change));
    return own.filter(({ change }) => change === last);
  });
}

async function planReversal(
  deps: PublishDeps,
  changes: readonly StoredChange[],
  history: ChangeHistory,
): Promise<Plan> {
  const all: PlannedChange[] = [];
  for (const { change } of changes) all.push(await planReverse(deps, change, history));
  // A project that is gone is not made again for the sake of what was in it.
  const steps = all.filter(({ change }) => change.after === null || isProjectHere(deps, change));
  if (steps.length === 0 && all.length > 0) return refuse(projectMissing);
  for (const { change } of steps) {
    const there = contentKey(await readContent(deps, change));
    if (there !== null && there !== change.before && there !== change.after)
      return refuse(`${change.path} was changed by hand meanwhile`);
  }
  // Whoever takes a gap's skill back has no use for its draft either.
  const closing = new Set(listClosedGaps(steps).map(({ id }) => id));
  const undone = steps.map(({ change }) => change);
  const isClosed = await findRejectedGaps(deps, undone);
  const left = steps.filter(
    ({ change: { after, origin } }) => after === null || !(closing.has(origin.id) || isClosed(origin)),
  );
  const [first] = steps;
  return first && left.length === 0 ? refuse(`${first.change.name} ${rejectedForGood}`) : accept(left);
}

async function diffChanges(deps: PublishDeps, origin: string) {
  const { changes } = await readHistory(deps.store);
  const own = changes.filter(
    ({ change }) => change.origin.id === origin || change.members?.includes(origin) === true,
  );
  const restore = async ({ kind }: Change, content: string | null) =>
    content === null || kind === "rule"
      ? content
      : { hash: content, files: await deps.versions.restore(content).catch(nullIfDamaged) };
  return Promise.all(
    own.map(async (stored) => {
      const { change } = stored;
      const [before, after] = [await restore(change, change.before), await restore(change, change.after)];
      return { ...stored, diff: diffContent(change, before, after) };
    }),
  );
}

async function planReverse(
  { versions }: PublishDeps,
  taken: Change,
  history: ChangeHistory,
): Promise<PlannedChange> {
  const restore = async (content: string | null) =>
    content === null || taken.kind === "rule"
      ? content
      : { hash: content, files: await versions.restore(content) };
  const [now, next] = [await restore(taken.after), await restore(taken.before)];
  return planChange(
    history,
    { ...taken, ...findReachBefore(taken, history) },
    "undo",
    now,
    next,
    taken.because,
  );
}

/** Taking a page into git is a change of its own, with the same text before and after. */
function findReachBefore(taken: Change, { changes }: ChangeHistory): Pick<Change, "reach"> {
  if (taken.kind !== "page") return taken;
  const at = changes.findIndex(({ change }) => change.id === taken.id);
  const before = changes
    .slice(0, at)
    .findLast(({ change, state }) => state === "made" && change.path === taken.path && change.after !== null);
  return { reach: before?.change.reach ?? taken.reach };
}

/** The gaps whose skill or draft goes. Undoing a curation closes none. */
function listClosedGaps(steps: readonly PlannedChange[]): Origin[] {
  return steps.flatMap(({ change: { origin, before, after, because } }) =>
    origin.kind === "gap" && before !== null && after === null && because === undefined ? origin : [],
  );
}

/** The decisions about lessons and gaps that undoing these changes stands for. */
function undoDecisions(steps: readonly PlannedChange[], at: number): LedgerEntry[] {
  // Curation says nothing about a lesson, and neither does undoing it. A page is made of many things.
  const own = steps.filter(
    ({ change: { because, origin } }) =>
      because === undefined && origin.kind !== "gap" && origin.kind !== "page",
  );
  const back = new Set(own.flatMap(({ change }) => (change.after === null ? [] : change.origin.id)));
  // A proposal only waits: without it, the lesson and what is live stay as they are.
  const lasting = own.flatMap(({ change }) => (change.proposal ? [] : change.origin.id));
  const gone = new Set(lasting.filter((id) => !back.has(id)));
  const closed = new Map(listClosedGaps(steps).map((gap) => [gap.id, gap]));
  return [
    ...[...closed.values()].map((gap) => originDecision(gap, "rejected", at)),
    ...[...gone].map((id) => decisionEntry(id, "rejected", at)),
    ...[...back].map((id) => decisionEntry(id, "unskipped", at)),
  ];
}

/** Plans adopting a person's edits as the published version. */
async function planAdoption(deps: PublishDeps, edited: readonly PublishedItem[]): Promise<Plan> {
  const history = await readHistory(deps.store);
  const steps: PlannedChange[] = [];
  for (const one of edited) {
    const found = await readContent(deps, one);
    if (found === null) return refuse(`${one.path} is gone`);
    const restored = async () => deps.versions.restore(one.content).catch(nullIfDamaged);
    const before = one.kind === "rule" ? one.content : { hash: one.content, files: await restored() };
    steps.push(planChange(history, one, "update", before, found));
  }
  return accept(steps);
}
