import { isMade, type Kept } from "../core/change.ts";
import { type Judged, verdictsOf } from "../core/credit.ts";
import { isEvolvedId } from "../core/evolve.ts";
import { goesBy, isGapId } from "../core/gap.ts";
import type { Item } from "../core/item.ts";
import { policy as defaults } from "../core/policy.ts";
import { isWrittenId } from "../core/protocol.ts";
import { demotionSteps, pinnedPlaces } from "./archive.ts";
import { creditEntries, namingOf } from "./credit.ts";
import { type AsksRoom, withRoom } from "./curate.ts";
import { gaps } from "./gap.ts";
import { perform } from "./keep.ts";
import { originsOf } from "./learnings.ts";
import { planAccept } from "./plan.ts";
import type { Store } from "./ports.ts";
import { type History, historyOf, isTakingBack, latestOf, no, type Plan, type PublishDeps } from "./step.ts";

/** A skill that moved by what it was worth in use. */
export interface Moved {
  readonly name: string;
  readonly instinct: string;
  readonly to: "live" | "draft";
  readonly because: string;
}

export interface ProbationOptions {
  readonly items: readonly Item[];
  /** Whether there is room for one more skill, and what would go for it. */
  readonly roomFor: AsksRoom;
  /** Why nothing is done for a project, if there is a reason. */
  readonly refuses?: (root: string | null, id: string) => Promise<string | null>;
}

/**
 * What nobody was asked about earns its place: a draft that did well in distinct sessions goes live, and one that then
 * does harm is a draft again. What a person said yes to, changed or took back is theirs. May be called again: what
 * counts is what was judged since the skill was last put where it is.
 */
export async function probation(deps: PublishDeps, options: ProbationOptions): Promise<Moved[]> {
  const entries = await creditEntries(deps.store);
  const verdicts = verdictsOf(entries, await namingOf(deps.store, entries, options.items));
  const moved: Moved[] = [];
  for (const { kept, since } of await onProbation(deps, options)) {
    const judged = (verdicts.get(kept.instinct) ?? []).filter(({ at }) => at >= since);
    const move = moveFor(kept, judged);
    if (move === null) continue;
    const done = await perform(
      deps,
      () =>
        move.to === "live"
          ? planPromotion(deps, kept, options)
          : planDemotion(deps, kept, `harmful: ${move.because}`),
      "knack",
      () => [],
    );
    if (done.kept && done.outcomes.some((outcome) => outcome.done && !outcome.already)) moved.push(move);
  }
  return moved;
}

/** What becomes of a skill that was judged so. */
function moveFor({ name, instinct, reach }: Kept, judged: readonly Judged[]): Moved | null {
  const { goodSessions, badSessions } = defaults.credit;
  const good = judged.filter(({ verdict }) => verdict === "helpful").length;
  const bad = judged.length - good;
  if (reach === "draft")
    return good >= goodSessions && bad < good
      ? { name, instinct, to: "live", because: `it helped in ${good} sessions` }
      : null;
  return bad >= badSessions
    ? { name, instinct, to: "draft", because: `it did harm in ${bad} sessions` }
    : null;
}

/** The skills that stand where they stand by Knack's word alone, and since when. */
async function onProbation(
  deps: PublishDeps,
  { refuses = async () => null }: ProbationOptions,
): Promise<{ kept: Kept; since: number }[]> {
  const { projects } = deps.store;
  const history = await historyOf(deps.store);
  const roots = new Map((await projects.list()).map(({ id, root }) => [id, root]));
  const pinned = await pinnedPlaces(deps.store, history.kept);
  const ofGap = await unsaidGaps(deps.store);
  const accepted = await acceptedClusters(deps.store);
  const ofLesson = (kept: Kept) => unsaidLesson(deps.store, kept, accepted);
  const found: { kept: Kept; since: number }[] = [];
  for (const kept of history.kept) {
    if (pinned.has(kept.path)) continue;
    if (kept.kind !== "skill" || kept.proposal || latestOf(history, kept.instinct).some(isTakingBack))
      continue;
    const project = isGapId(kept.instinct) ? await ofGap(kept) : await ofLesson(kept);
    if (project === null || (await refuses(roots.get(project) ?? null, project)) !== null) continue;
    const there = await deps.library.read(kept.path);
    if (there?.hash !== kept.content) continue;
    found.push({ kept, since: placedAt(history, kept) });
  }
  return found;
}

/** The project of a lesson that nobody said yes to; null for what was joined with something else, which is no lesson. */
async function unsaidLesson(store: Store, kept: Kept, accepted: ReadonlySet<string>): Promise<string | null> {
  const { learning } = store;
  if (isEvolvedId(kept.instinct)) {
    const [member] = await learning.instincts.get([...(kept.members ?? [])]);
    return accepted.has(kept.instinct) ? null : (member?.project ?? null);
  }
  if (isWrittenId(kept.instinct)) {
    const { project = null } = (await originsOf(store, [kept.instinct])).get(kept.instinct) ?? {};
    return accepted.has(kept.instinct) || !isMade(kept) ? null : project;
  }
  const [instinct] = await learning.instincts.get([kept.instinct]);
  if (!instinct) return null;
  const decisions = await learning.decisions.ofInstinct(instinct.id);
  return decisions.at(-1)?.decision === "accepted" ? null : instinct.project;
}

/** What grew of several lessons, or an agent wrote, and a person said yes to. */
async function acceptedClusters({ ledger }: Store): Promise<Set<string>> {
  const decided = (await ledger.since("instinct.decided", 0)).filter(
    ({ data }) => isEvolvedId(data.instinct) || isWrittenId(data.instinct),
  );
  const last = new Map(decided.map(({ data }) => [data.instinct, data.decision]));
  return new Set([...last].flatMap(([id, decision]) => (decision === "accepted" ? id : [])));
}

/** The same for what was made of gaps and is live; their drafts go live by being asked for. */
async function unsaidGaps(store: Store): Promise<(kept: Kept) => string | null> {
  const decided = (await store.ledger.since("gap.decided", 0)).map(({ data }) => data.gap);
  const all = (await gaps({ store })).filter((gap) => !decided.some((id) => goesBy(gap, id)));
  return ({ reach, instinct }) =>
    reach === "draft" ? null : (all.find((gap) => goesBy(gap, instinct))?.project ?? null);
}

/** When something was last put where it is. */
function placedAt({ changes }: History, { path }: Kept): number {
  const placing = changes.filter(
    ({ change, state }) => state === "made" && change.path === path && change.before === null,
  );
  return placing.at(-1)?.at ?? 0;
}

/** What making a live skill a draft again would do: it is taken out of the agents' folders, and its text waits with Knack. */
async function planDemotion(deps: PublishDeps, kept: Kept, because: string): Promise<Plan> {
  const steps = await demotionSteps(deps, [kept], because, await historyOf(deps.store));
  return steps
    ? { ok: true, steps, concerns: [], belongsTo: null }
    : no(`${kept.name} was changed meanwhile`);
}

/** What letting a draft go live would do; where there is no room, something that nobody would miss goes for it. */
async function planPromotion(deps: PublishDeps, kept: Kept, { roomFor }: ProbationOptions): Promise<Plan> {
  const planned = await planAccept(deps, kept, "me");
  return planned.ok ? withRoom(planned, roomFor, await realmOf(deps, kept)) : planned;
}

async function realmOf({ store }: PublishDeps, { instinct: id, members }: Kept): Promise<string> {
  const [instinct] = await store.learning.instincts.get([...(members ?? [id])]);
  const { project } = (await originsOf(store, [id])).get(id) ?? {};
  return instinct?.scope === "user" ? "user" : (instinct?.project ?? project ?? "user");
}
