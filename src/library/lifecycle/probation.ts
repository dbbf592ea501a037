import type { Item, Origin } from "../../records/index.ts";
import { hasGapId } from "../gaps/gap.ts";
import { listGaps } from "../gaps/list-gaps.ts";
import {
  accept,
  findLatestChanges,
  isTakeBack,
  type Plan,
  type PublishDeps,
  readHistory,
  refuse,
} from "../publish/changes.ts";
import { planAcceptDraft } from "../publish/plan-lesson.ts";
import { publishPlan } from "../publish/publish.ts";
import type { PublishedItem } from "../publish/published.ts";
import { planDemotion } from "./archive.ts";
import { type AskForRoom, withRoom } from "./curate.ts";
import { listOwnItems, type StockedItem } from "./inventory.ts";
import { isHarmful, isProven } from "./proposals.ts";

/** A skill that moved by what it was worth in use. */
export interface ProbationMove {
  readonly name: string;
  readonly origin: Origin;
  readonly to: "live" | "draft";
  readonly because: string;
}

export interface ProbationOptions {
  readonly items: readonly Item[];
  readonly roomFor: AskForRoom;
  /** Why nothing is done for a project; null where something may be. */
  readonly refuses?: (root: string | null, id: string) => Promise<string | null>;
}

/**
 * Lets drafts go live that helped two sessions, and demotes live skills that harmed two. What a person accepted,
 * pinned, edited or took back is left alone. Only ratings since the skill was put where it is count.
 */
export async function probation(deps: PublishDeps, options: ProbationOptions): Promise<ProbationMove[]> {
  const moves: ProbationMove[] = [];
  for (const item of await listOnProbation(deps, options)) {
    const move = decideMove(item);
    if (move === null) continue;
    const [first] = item.kept as [PublishedItem];
    const done = await publishPlan(
      deps,
      async () => {
        if (move.to === "draft") return planReturn(deps, item, `harmful: ${move.because}`);
        const planned = await planAcceptDraft(deps, first, "me");
        return planned.ok ? withRoom(planned, options.roomFor, item.scopeId) : planned;
      },
      "knack",
    );
    if (done.kept && done.outcomes.some((outcome) => outcome.done && !outcome.already)) moves.push(move);
  }
  return moves;
}

function decideMove(item: StockedItem): ProbationMove | null {
  const [{ name, origin }] = item.kept as [PublishedItem];
  if (item.reach !== "draft")
    return isHarmful(item)
      ? { name, origin, to: "draft", because: `it did harm in ${item.harmed} sessions` }
      : null;
  return isProven(item)
    ? { name, origin, to: "live", because: `it helped in ${item.helped} sessions` }
    : null;
}

/** The skills that are where they are by Knack's word alone. */
async function listOnProbation(
  deps: PublishDeps,
  { items, refuses = async () => null }: ProbationOptions,
): Promise<StockedItem[]> {
  const { store } = deps;
  const history = await readHistory(store);
  const roots = new Map((await store.projects.list()).map(({ id, root }) => [id, root]));
  const found: StockedItem[] = [];
  for (const item of await listOwnItems(deps, items, history)) {
    const [first] = item.kept as [PublishedItem];
    if (item.kind !== "skill" || item.pinned || item.edited || item.approved) continue;
    if (findLatestChanges(history, first.origin).some(isTakeBack)) continue;
    // A gap's draft goes live by being asked for.
    if (first.origin.kind === "gap" && (item.reach === "draft" || (await isDecided(deps, first.origin))))
      continue;
    const project = await findProject(deps, first);
    if (project === null || (await refuses(roots.get(project) ?? null, project)) !== null) continue;
    found.push(item);
  }
  return found;
}

/** Whether a person promoted or rejected the gap. */
async function isDecided({ store }: PublishDeps, { id }: Origin): Promise<boolean> {
  const gap = (await listGaps({ store })).find((one) => hasGapId(one, id));
  const decided = await store.ledger.since("gap.decided", 0);
  return gap === undefined || decided.some(({ data }) => hasGapId(gap, data.gap));
}

/** The project that it comes from; null where its lesson is gone. */
async function findProject({ store }: PublishDeps, one: PublishedItem): Promise<string | null> {
  if (one.askedIn !== null) return one.askedIn;
  const [lesson] = await store.learning.lessons.get([...(one.members ?? [one.origin.id])]);
  return lesson?.project ?? null;
}

async function planReturn(deps: PublishDeps, { kept, skill }: StockedItem, because: string): Promise<Plan> {
  const steps = await planDemotion(deps, kept, because, await readHistory(deps.store));
  return steps ? accept(steps) : refuse(`${skill.name} was changed meanwhile`);
}
