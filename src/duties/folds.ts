import { compareText } from "../base/index.ts";
import type { BriefFacts, GoalBrief } from "../records/index.ts";
import { keepScore } from "./weigh.ts";

export type Depth = "routine" | "deep";

/** So many times the same routine in a row is no routine any more. */
const routinesInRow = 5;
/** Goals that failed in a row until the same one needs a reason to be tried again. */
const failuresUntilBrake = 3;

interface DepthFacts extends Pick<GoalBrief, "by" | "best"> {
  readonly facts: BriefFacts | null;
}

/** Why a goal is deep, by what its work shows; empty for a routine. Nobody declares it. */
export function explainDepth({ by, best, facts }: DepthFacts): string[] {
  const reasons: string[] = [];
  const count = (name: keyof typeof signs) => {
    const n = facts?.[name] ?? 0;
    if (n > 0) reasons.push(`${n} ${n === 1 ? signs[name][0] : signs[name][1]}`);
  };
  for (const name of ["overcome", "corrections", "retries", "reverted", "dependencies"] as const) count(name);
  if (best >= keepScore) reasons.push(`an observation scored ${best.toFixed(2)}`);
  if (by === "prompt" || facts === null)
    return reasons.length === 0 && facts === null ? ["no recorded steps"] : reasons;
  if (facts.calls === 0) reasons.push("no recorded steps");
  else if (facts.failed > 0) reasons.push(`${facts.failed} of ${facts.calls} steps failed`);
  return reasons;
}

/** Whether `explainDepth` has a reason, without its words. */
function isDeep({ by, best, facts }: DepthFacts): boolean {
  if (facts === null || best >= keepScore) return true;
  const { overcome, corrections, retries, reverted, dependencies, calls, failed } = facts;
  if (overcome + corrections + retries + reverted + dependencies > 0) return true;
  return by !== "prompt" && (calls === 0 || failed > 0);
}

const signs = {
  overcome: ["failure overcome", "failures overcome"],
  corrections: ["correction", "corrections"],
  retries: ["retry", "retries"],
  reverted: ["edit taken back", "edits taken back"],
  dependencies: ["new dependency", "new dependencies"],
} as const;

/** The counters of a project, computed from its goals each time: none is stored, so none can go back. */
export interface Folds {
  readonly closed: number;
  /** Goals that were done and no routine. */
  readonly productive: number;
  readonly unlearned: number;
  /** How often in a row each routine came, for those that came last. */
  readonly routineStreaks: Readonly<Record<string, number>>;
  readonly goalsSinceKept: number;
  readonly consecutiveFailures: number;
  readonly lastFailed: string | null;
  /** Whether the goal that failed last may be tried again only with a reason. */
  readonly brake: boolean;
}

/** A closed goal with its depth; goals come by the ten thousand, so it is not copied. */
interface ClosedGoal {
  readonly goal: GoalBrief;
  readonly closedAt: number;
  readonly depth: Depth;
}

/** The closed goals of a project in the order in which they ended, and how often in a row each routine came last. */
export interface GoalHistory {
  readonly closed: readonly ClosedGoal[];
  readonly streaks: ReadonlyMap<string, number>;
}

export function readHistory(goals: readonly GoalBrief[]): GoalHistory {
  const ended: ClosedGoal[] = [];
  for (const goal of goals)
    if (goal.closedAt !== null) ended.push({ goal, closedAt: goal.closedAt, depth: "deep" });
  ended.sort((a, b) => a.closedAt - b.closedAt || compareText(a.goal.id, b.goal.id));
  const streaks = new Map<string, number>();
  const closed = ended.map((one): ClosedGoal => {
    if (isDeep(one.goal)) {
      // A key is made of words, which takes longer than all else here.
      if (streaks.size > 0) streaks.delete(routineKey(one.goal));
      return one;
    }
    const key = routineKey(one.goal);
    const streak = (streaks.get(key) ?? 0) + 1;
    // The row begins anew after the goal that was looked at.
    if (streak >= routinesInRow) streaks.delete(key);
    else streaks.set(key, streak);
    return streak >= routinesInRow ? one : { ...one, depth: "routine" };
  });
  return { closed, streaks };
}

export function foldGoals({ closed, streaks }: GoalHistory): Folds {
  const keptAt = closed.findLastIndex(({ goal }) => goal.keptAt !== null);
  const ended = closed.filter(({ goal: { outcome } }) => outcome === "done" || outcome === "failed");
  const lastDone = ended.findLastIndex(({ goal }) => goal.outcome === "done");
  const failed = ended.slice(lastDone + 1);
  return {
    closed: closed.length,
    productive: closed.filter(isProductive).length,
    unlearned: closed.filter(({ goal }) => goal.lesson === "unlearned").length,
    routineStreaks: Object.fromEntries(streaks),
    goalsSinceKept: closed.length - 1 - keptAt,
    consecutiveFailures: failed.length,
    lastFailed: ended.findLast(({ goal }) => goal.outcome === "failed")?.goal.id ?? null,
    brake: failed.length >= failuresUntilBrake,
  };
}

function isProductive({ goal: { outcome }, depth }: ClosedGoal): boolean {
  return outcome === "done" && depth === "deep";
}

/** Whether a goal that is still open would be the routine that is one too many. */
export function isOneTooMany(goal: GoalBrief, { streaks }: GoalHistory): boolean {
  return (streaks.get(routineKey(goal)) ?? 0) >= routinesInRow - 1;
}

/** Counts since a recurring duty was last done, by which it falls due again. */
export interface Since {
  readonly goals: number;
  readonly productive: number;
  readonly ms: number;
}

/** How much happened since a moment; where it never was, since the first goal. */
export function countSince({ closed }: GoalHistory, doneAt: number | null, now: number): Since {
  const later =
    doneAt === null ? closed : closed.slice(closed.findLastIndex((one) => one.closedAt <= doneAt) + 1);
  const from = doneAt ?? closed[0]?.goal.openedAt ?? now;
  return { goals: later.length, productive: later.filter(isProductive).length, ms: Math.max(0, now - from) };
}

/** Words by which a routine is known again: the same ask, whatever its numbers and the order of its words. */
export function routineKey({ text, category }: { readonly text: string; readonly category: string }): string {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  return `${category} ${words.sort().join(" ")}`;
}
