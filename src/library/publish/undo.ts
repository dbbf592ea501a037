import { decisionEntry } from "../../lessons/index.ts";
import {
  artifactKey,
  type Change,
  findUndoable,
  isMadeByKnack,
  type LedgerEntry,
  type Origin,
  type StoredChange,
} from "../../records/index.ts";
import { findRejectedGaps, rejectedForGood } from "../gaps/list-gaps.ts";
import { isProjectHere } from "../lifecycle/archive.ts";
import {
  accept,
  type ChangeHistory,
  diffArtifact,
  mainText,
  makeChange,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planRemove,
  projectMissing,
  readFiles,
  readHistory,
  refuse,
} from "./changes.ts";
import { originDecision, type PublishedItem, readRule } from "./published.ts";

/** What undoing the latest changes made in one go would do, of one name or of all. A person's later edit stays. */
export async function planUndo(deps: PublishDeps, name: string | null): Promise<Plan> {
  const history = await readHistory(deps.store);
  const latest = findLatest(history);
  const [newest] = latest
    .filter(({ change }) => name === null || change.name === name)
    .sort((a, b) => b.at - a.at);
  const isTogether = ({ change, at }: StoredChange) =>
    at === newest?.at && causeId(change) === causeId(newest.change);
  return planUndoOf(deps, latest.filter(isTogether), history);
}

/** What undoing everything that was archived or curated in the latest go would do. */
export async function planUndoCuration(deps: PublishDeps): Promise<Plan> {
  const history = await readHistory(deps.store);
  // One that was restored by hand is not put away again; what a cluster replaced comes back with the cluster's undo.
  const curated = findLatest(history).filter(
    ({ change: { because, why, replacedBy } }) =>
      because !== undefined && why !== "restore" && replacedBy?.kind !== "cluster",
  );
  const at = Math.max(...curated.map((one) => one.at));
  return planUndoOf(
    deps,
    curated.filter((one) => one.at === at),
    history,
  );
}

/** The latest change of each place that was not undone. */
function findLatest({ changes }: ChangeHistory): StoredChange[] {
  const places = new Map<string, StoredChange[]>();
  for (const one of changes.filter(({ state }) => state === "made")) {
    const key = artifactKey(one.change);
    places.set(key, [...(places.get(key) ?? []), one]);
  }
  return [...places.values()].flatMap((own) => {
    const last = findUndoable(own.map(({ change }) => change));
    return own.filter(({ change }) => change === last);
  });
}

/** What a change was made for. */
function causeId({ origin, replacedBy }: Change): string {
  return (replacedBy ?? origin).id;
}

async function planUndoOf(
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
    const there = await readContent(deps, change);
    if (there !== null && there !== change.before && there !== change.after)
      return refuse(`${change.path} was changed by hand meanwhile`);
  }
  // Whoever takes a gap's skill back has no use for its draft either.
  const closing = new Set(listClosedGaps(steps).map(({ id }) => id));
  const isClosed = await findRejectedGaps(
    deps,
    steps.map(({ change }) => change),
  );
  const left = steps.filter(
    ({ change: { after, origin } }) => after === null || !(closing.has(origin.id) || isClosed(origin)),
  );
  const [first] = steps;
  return first && left.length === 0 ? refuse(`${first.change.name} ${rejectedForGood}`) : accept(left);
}

async function planReverse(
  { versions }: PublishDeps,
  taken: Change,
  history: ChangeHistory,
): Promise<PlannedChange> {
  const { before, after, because } = taken;
  const change = makeChange(taken, after, before, "undo", history, because);
  if (change.kind === "rule") return { change, files: null, diff: diffArtifact(change, after, before) };
  const [now, next] = [after && (await versions.restore(after)), before && (await versions.restore(before))];
  const diff = diffArtifact(change, now ? mainText(now) : null, next ? mainText(next) : null);
  return { change, files: next || null, diff };
}

/** What is at the place of a change: a package's hash, a rule's line. */
async function readContent(deps: PublishDeps, change: Change): Promise<string | null> {
  if (change.kind !== "rule") return (await readFiles(deps, change))?.hash ?? null;
  const read = await readRule(deps, change);
  return read.found === "rule" ? read.line : null;
}

/** The gaps whose skill or draft goes. Undoing a curation closes none. */
function listClosedGaps(steps: readonly PlannedChange[]): Origin[] {
  return steps.flatMap(({ change: { origin, before, after, because } }) =>
    origin.kind === "gap" && before !== null && after === null && because === undefined ? origin : [],
  );
}

/** The decisions about lessons and gaps that undoing these changes stands for. */
export function undoDecisions(steps: readonly PlannedChange[], at: number): LedgerEntry[] {
  // Curation says nothing about a lesson, and neither does undoing it.
  const own = steps.filter(({ change }) => change.because === undefined && change.origin.kind !== "gap");
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

/** What removing published items would do; a person's words in a draft are kept as a version. */
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
    const found = one.kind === "rule" ? null : await readFiles(deps, one);
    steps.push(planRemove(one, found?.hash ?? one.content, history, one.text));
  }
  return accept(steps);
}

/** What adopting a person's edits would do: they stay, and count as published. */
export async function planAdopt(deps: PublishDeps, edited: readonly PublishedItem[]): Promise<Plan> {
  const history = await readHistory(deps.store);
  const steps: PlannedChange[] = [];
  for (const one of edited) {
    const found = one.kind === "rule" ? null : await readFiles(deps, one);
    const after = found?.hash ?? (one.kind === "rule" ? one.text : null);
    if (after === null) return refuse(`${one.path} is gone`);
    const change = makeChange(one, one.content, after, "update", history);
    steps.push({ change, files: found?.files ?? null, diff: diffArtifact(one, one.written, one.text) });
  }
  return accept(steps);
}
