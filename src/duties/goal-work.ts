import { CallReader } from "../failures/index.ts";
import { isHeldBack, isWorthShowing } from "../lessons/index.ts";
import { type Event, type Goal, getSessionId, type Kept, type WorkFacts } from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { readEvents, type SessionView, viewSessions } from "../transcripts/index.ts";
import { readStretches, readWork, type Stretch } from "./work.ts";

/** The events of a goal's session that are the goal's, with what else the session shows. */
export interface GoalWork {
  readonly session: SessionView;
  readonly events: readonly Event[];
  readonly own: readonly Event[];
  readonly facts: WorkFacts;
}

/** The events of a goal in its session; null where there is none, or they were purged. */
export async function readGoalWork(store: Store, goal: Goal): Promise<GoalWork | null> {
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

/** The lessons of a goal that are shown, or that a person accepted. */
export async function findShownLessons(store: Store, { session, own }: GoalWork): Promise<Kept[]> {
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
