import { makeId } from "../base/index.ts";
import type { GoalId, LedgerEntry, SessionId } from "../records/index.ts";
import { type Home, readDutySetting } from "../settings/index.ts";
import type { SessionView } from "../transcripts/index.ts";
import type { GoalInput } from "./goal-input.ts";
import { cleanWords, record } from "./record.ts";
import type { SessionEnd, TrackedGoal } from "./track.ts";
import { type GoalCaller, type GoalReply, type GoalVerb, verbs } from "./verbs.ts";
import type { DutyDeps } from "./view.ts";

interface OpenDeps extends DutyDeps {
  readonly home: Home;
}

/** A search of an agent, as far as it is a fact for its duties. */
export interface Search {
  readonly by: "skill_search" | "skill_load" | "recall";
  readonly query: string;
  readonly found: readonly string[];
}

/** Goals and their duties. */
export function openDuties(deps: OpenDeps) {
  const { store, clock, home } = deps;
  return {
    /** Does something with a goal: opens it, notes or keeps something, checks or closes it. */
    goal: async (verb: GoalVerb, caller: GoalCaller, input: Partial<GoalInput>): Promise<GoalReply> =>
      verbs[verb].run({ deps, caller, input: input as GoalInput, text: await cleanWords(input.text) }),
    /** Opens and closes the goals of these sessions, where the person's setting says so. */
    trackGoals: async (
      sessions: readonly SessionView[],
      findEnd: (session: SessionView) => Pick<SessionEnd, "over">,
    ): Promise<{ readonly session: SessionView; readonly verdict: GoalVerdict }[]> => {
      const tracked = [];
      for (const session of sessions) {
        const setting = readDutySetting(home, session.project);
        if (setting === "off") continue;
        const { trackSession } = await import("./track.ts");
        const last = await trackSession(deps, session, { ...findEnd(session), mayHold: setting === "block" });
        if (last) tracked.push({ session, verdict: describeVerdict(last) });
      }
      return tracked;
    },
    /** Records what an agent searched for and was shown. */
    noteSearch: async (
      session: SessionId | null,
      project: string,
      { by, query, found }: Search,
    ): Promise<void> => {
      const at = clock.now();
      const entry: LedgerEntry = {
        ...{ at, project, session, actor: "agent", type: "library.searched" },
        key: `searched:${session}:${makeId("q", `${at} ${by} ${query}`)}`,
        data: { by, query: (await cleanWords(query)).slice(0, 300), found },
      };
      await store.transaction((tx) => record(tx, [entry]));
    },
    /** Every goal in short, of all projects, in the order in which they were opened. */
    goalBriefs: () => store.goals.briefs(null),
    goalsOfSession: (session: SessionId) => store.goals.ofSession(session),
    goalsById: (ids: readonly GoalId[]) => store.goals.get(ids),
  };
}

/** Open duties at the end of a turn, for readers without a database. */
type GoalVerdict = ReturnType<typeof describeVerdict>;

function describeVerdict({ goal, check, owes }: TrackedGoal) {
  const blocking = check.duties.filter((one) => one.blocking);
  return {
    ...{ goal, text: check.text, blocked: check.blocked, owes },
    repairs: blocking.flatMap(({ repairs }) => repairs),
  };
}
