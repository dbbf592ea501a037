import type { Clock } from "../base/index.ts";
import { CallReader } from "../failures/index.ts";
import { isHeldBack, isWorthShowing } from "../lessons/index.ts";
import {
  briefGoal,
  type Event,
  type Goal,
  type GoalBrief,
  type GoalId,
  getSessionId,
  type Item,
  isPublished,
  type Kept,
  type Project,
  type WorkFacts,
  type Zone,
} from "../records/index.ts";
import { type BackgroundWork, isClaimed, type Store } from "../store/index.ts";
import { readEvents, type SessionView, viewSessions } from "../transcripts/index.ts";
import { type Cadence, cadences, type DutyView, listWorthKeeping } from "./checks.ts";
import { countSince, explainDepth, foldGoals, type GoalHistory, isOneTooMany, readHistory } from "./folds.ts";
import { readStretches, readWork, type Stretch } from "./work.ts";
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

export interface DutyDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** A project's pages; null where it has none. */
  readonly pages: (project: Pick<Project, "id" | "root">) => Promise<KeepInto | null>;
  /** The names of what Knack has that fits a text. */
  readonly findFitting: (text: string, root: string | null) => Promise<readonly string[]>;
  /** Everything in the library. */
  readonly items: () => Promise<readonly Item[]>;
  /** Leases on background work. */
  readonly claim: BackgroundWork["claim"];
  readonly giveBack: BackgroundWork["giveBack"];
}

/** The events of a goal's session that are the goal's, with what else the session shows. */
export interface GoalWork {
  readonly session: SessionView;
  readonly events: readonly Event[];
  readonly own: readonly Event[];
  readonly facts: WorkFacts;
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
  const pages = await deps.pages({ id: goal.project, root: goal.root });
  const { depth, because } = deriveDepth(goal, facts, history);
  const overdue = await readOverdue(store, briefs, now);
  return {
    ...{ goal, facts, now, session, batch, workBeganAt, retrievedAt, overdue, depth, deepBecause: because },
    zone: readZone(goal, work),
    keptElsewhere: await findKept(store, goal, work),
    pages: await namePages(pages, goal),
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

/** The events of a goal in its session; null where there is none, or they were purged. */
export async function findWork(store: Store, goal: Goal): Promise<GoalWork | null> {
  if (goal.session === null || goal.closed !== null) return null;
  const paths = (await store.sessions.list())
    .filter((one) => getSessionId(one) === goal.session && !one.subagent)
    .map(({ path }) => path);
  const views = (await viewSessions(store, [...new Set(paths)])).filter(
    (view) => getSessionId(view) === goal.session && !view.subagent,
  );
  const view = views.find(({ id }) => id === goal.transcript) ?? views[0];
  if (view === undefined) return null;
  const events = await readEvents(store, view);
  return events.length === 0 ? null : selectWork(view, events, goal);
}

/** The part of a session's events that is a goal's. */
export function selectWork(
  session: SessionView,
  events: readonly Event[],
  goal: Goal,
  stretches?: readonly Stretch[],
): GoalWork {
  const calls = new CallReader();
  const stretch =
    goal.ref === null
      ? undefined
      : (stretches ?? readStretches(events, calls)).find(({ prompt }) => prompt.ref === goal.ref);
  if (stretch) return { session, events, own: stretch.events, facts: stretch.facts };
  const own = events.filter(({ at, sidechain }) => !sidechain && at !== null && at >= goal.openedAt);
  return { session, events, own, facts: readWork(own, calls) };
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
  return [...written, ...(work === null ? [] : await findShownLessons(store, work))];
}

async function findShownLessons(store: Store, { session, own }: GoalWork): Promise<Kept[]> {
  const refs = new Set(own.map(({ ref }) => ref));
  const found = (await store.learning.findings.ofSessions([session.id])).filter(({ finding }) =>
    refs.has(finding.refs[0] ?? ""),
  );
  const lessons = await store.learning.lessons.get([...new Set(found.map(({ lessonId }) => lessonId))]);
  return lessons.flatMap((lesson) => {
    const isTaken = lesson.state.acceptedAt !== undefined;
    if (!isTaken && (!isWorthShowing(lesson) || isHeldBack(lesson))) return [];
    const how = isTaken ? "yes" : "lesson";
    return { observation: null, how, name: lesson.name, insight: lesson.lesson } as const;
  });
}

/** How much earlier something may have been shown in the same session. */
const sessionMs = 12 * 3_600_000;

async function findRetrieved({ ledger }: Store, goal: Goal): Promise<number | null> {
  const since = goal.openedAt - sessionMs;
  const isHere = ({ session }: { readonly session: string | null }) =>
    goal.session !== null && session === goal.session;
  const shown = [
    ...(await ledger.since("lesson.shown", since)),
    ...(await ledger.since("skill.shown", since)),
    ...(await ledger.since("library.searched", since)),
  ].filter(isHere);
  const times = [...shown.map(({ at }) => at ?? 0), ...goal.retrieved.map(({ at }) => at)];
  return times.length === 0 ? null : Math.min(...times);
}

async function namePages(pages: KeepInto | null, goal: Goal): Promise<ReadonlyMap<string, string>> {
  const named = new Map<string, string>();
  if (pages === null || goal.kept.length > 0) return named;
  for (const { observation, text } of listWorthKeeping(goal)) {
    const [first] = await pages.find(text, { limit: 1 });
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
