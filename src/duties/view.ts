import type { Clock } from "../base/index.ts";
import {
  briefGoal,
  type Goal,
  type GoalBrief,
  type GoalId,
  type Item,
  isPublished,
  type Kept,
  type Project,
  type WorkFacts,
  type Zone,
} from "../records/index.ts";
import { type BackgroundWork, isClaimed, type Store } from "../store/index.ts";
import { type Cadence, cadences, type DutyView, listWorthKeeping } from "./checks.ts";
import { countSince, explainDepth, foldGoals, type GoalHistory, isOneTooMany, readHistory } from "./folds.ts";
import type { GoalWork } from "./goal-work.ts";
import { measureZone } from "./zone.ts";

/**
 * Where kept insights go beside the ledger: a project's pages. `keep` writes one to three sentences, or says why it
 * did not.
 */
export interface KeepInto {
  find(
    text: string,
    options: { readonly limit: number },
  ): Promise<readonly { page: string; score: number }[]>;
  keep(kept: {
    readonly page: string | null;
    readonly insight: string;
    readonly goal: GoalId;
    readonly evidence: string;
    readonly confidence: number;
  }): Promise<
    { readonly page: string; readonly change: string } | { readonly page: null; readonly why: string }
  >;
  debts(): Promise<readonly { readonly page: string; readonly reason: string }[]>;
}

/** Everything that goals take from the rest of Knack. */
export interface GoalNeeds {
  /** A project's pages; null where it has none. */
  readonly pages: (project: Pick<Project, "id" | "root">) => Promise<KeepInto | null>;
  /** The names of what Knack has that fits a text. */
  readonly findFitting: (text: string, root: string | null) => Promise<readonly string[]>;
  /** Everything in the library. */
  readonly items: () => Promise<readonly Item[]>;
}

export interface DutyDeps extends GoalNeeds {
  readonly store: Store;
  readonly clock: Clock;
  /** Leases on background work. */
  readonly claim: BackgroundWork["claim"];
  readonly giveBack: BackgroundWork["giveBack"];
}

const noWork: WorkFacts = {
  ...{ calls: 0, failed: 0, outputChars: 0, overcome: 0, corrections: 0, retries: 0, reverted: 0 },
  ...{ dependencies: 0, tiers: [], end: "none", excerpt: "" },
};

/** Everything that the duties of a goal are decided by. */
export async function readView(deps: DutyDeps, goal: Goal, known?: GoalWork | null): Promise<DutyView> {
  const { store, clock } = deps;
  const now = clock.now();
  const briefs = await store.goals.briefs(goal.project);
  const history = readHistory(briefs);
  const work = known === undefined ? await findWork(store, goal) : known;
  const facts = goal.closed?.facts ?? work?.facts ?? noWork;
  const session = goal.session === null ? [goal] : await store.goals.ofSession(goal.session);
  const batch =
    goal.batch === null
      ? []
      : await store.goals.get(briefs.filter((one) => one.batch === goal.batch).map(({ id }) => id));
  const workBeganAt = work?.own.find(({ kind }) => kind === "call")?.at ?? null;
  const retrievedAt = await findRetrieved(store, goal);
  const { depth, because } = deriveDepth(goal, facts, history);
  const overdue = await readOverdue(store, briefs, now);
  return {
    ...{ goal, facts, now, session, batch, workBeganAt, retrievedAt, overdue, depth, deepBecause: because },
    zone: readZone(goal, work),
    keptElsewhere: await findKept(store, goal, work),
    pages: await namePages(deps, goal),
    fitting:
      goal.closed === null
        ? await deps.findFitting(goal.text, goal.root ?? (await findRoot(store, goal.project)))
        : [],
    folds: foldGoals(history),
    since: await readCadences(store, goal.project, history, now),
    reflecting: (await isClaimed(store, leaseName(goal.project), now)) ? "another process" : null,
    cited: await readCited(store, session),
  };
}

/** The lease that a full reflection of a project holds. */
export const leaseName = (project: string) => `full-reflection ${project}`;

async function findRoot(store: Store, project: string): Promise<string | null> {
  return (await store.projects.get([project]))[0]?.root ?? null;
}

function deriveDepth(goal: Goal, facts: WorkFacts, history: GoalHistory) {
  const brief = { ...briefGoal(goal), facts };
  const because = explainDepth(brief);
  if (because.length > 0) return { depth: "deep" as const, because };
  const isTooMany =
    goal.closed === null
      ? isOneTooMany(brief, history)
      : history.closed.find((one) => one.goal.id === goal.id)?.depth === "deep";
  return isTooMany
    ? { depth: "deep" as const, because: ["the same routine five times in a row"] }
    : { depth: "routine" as const, because };
}

// --- The work that a goal is ---

/** The work of a goal that is open in a session; null where there is none, or it was purged. */
export async function findWork(store: Store, goal: Goal): Promise<GoalWork | null> {
  if (goal.session === null || goal.closed !== null) return null;
  const { readGoalWork } = await import("./goal-work.ts");
  return readGoalWork(store, goal);
}

function readZone(goal: Goal, work: GoalWork | null): Zone {
  if (work !== null) return measureZone(work.events);
  const unknown = { zone: "unknown", usedTokens: null, windowTokens: null } as const;
  const because = goal.closed === null ? "no transcript of it is known" : "nothing told while it was open";
  return goal.measured.at(-1) ?? { ...unknown, because };
}

// --- What the ledger says beside the goal ---

/** Things that the rest of Knack kept of a goal: a finished skill, an accepted lesson, a shown lesson. */
export async function findKept(store: Store, goal: Goal, work: GoalWork | null): Promise<Kept[]> {
  if (goal.session === null) return [];
  const until = goal.closed?.at ?? Number.POSITIVE_INFINITY;
  const written = (await store.ledger.since("writing.finished", goal.openedAt))
    .filter((one) => one.session === goal.session && (one.at ?? 0) <= until && isPublished(one.data))
    .map(({ data }): Kept => {
      return { observation: null, how: "skill", name: data.skill, insight: data.summary ?? "" };
    });
  if (work === null) return written;
  const { findShownLessons } = await import("./goal-work.ts");
  return [...written, ...(await findShownLessons(store, work))];
}

/** How much earlier something may have been shown in the same session. */
const sessionMs = 12 * 3_600_000;

async function findRetrieved({ ledger }: Store, goal: Goal): Promise<number | null> {
  const since = goal.openedAt - sessionMs;
  const own = goal.session;
  const shown =
    own === null
      ? []
      : [
          ...(await ledger.since("lesson.shown", since)),
          ...(await ledger.since("skill.shown", since)),
          ...(await ledger.since("library.searched", since)),
        ].filter(({ session }) => session === own);
  const times = [...shown.map(({ at }) => at ?? 0), ...goal.retrieved.map(({ at }) => at)];
  return times.length === 0 ? null : Math.min(...times);
}

async function namePages(deps: DutyDeps, goal: Goal): Promise<ReadonlyMap<string, string>> {
  const named = new Map<string, string>();
  const worth = goal.kept.length > 0 ? [] : listWorthKeeping(goal);
  const pages = worth.length === 0 ? null : await deps.pages({ id: goal.project, root: goal.root });
  for (const { observation, text } of worth) {
    const [first] = (await pages?.find(text, { limit: 1 })) ?? [];
    if (first) named.set(observation, first.page);
  }
  return named;
}

/** The conclusions of a project that block something and are past their recheck. */
export async function readOverdue({ goals }: Store, briefs: readonly GoalBrief[], now: number) {
  const ids = briefs.filter(({ recheckAt }) => recheckAt !== null && recheckAt <= now).map(({ id }) => id);
  return (await goals.get(ids)).flatMap(({ id, conclusions }) =>
    conclusions
      .filter((one) => one.blocks.length > 0 && one.outcome !== "wrong" && one.recheckAt <= now)
      .map((one) => ({ ...one, goal: id })),
  );
}

async function readCited({ ledger }: Store, session: readonly Goal[]) {
  const keys = session.flatMap(({ waivers }) => waivers.map(({ cites }) => cites));
  return new Map((await ledger.get(keys)).map((entry) => [entry.key, entry]));
}

async function readCadences({ ledger }: Store, project: string, history: GoalHistory, now: number) {
  const kept = (await ledger.since("cadence.kept", 0)).filter((one) => one.project === project);
  const last = new Map(kept.map(({ data, at }) => [data.duty, at] as const));
  const names = Object.keys(cadences) as Cadence[];
  return Object.fromEntries(
    names.map((name) => [name, countSince(history, last.get(name) ?? null, now)]),
  ) as DutyView["since"];
}
