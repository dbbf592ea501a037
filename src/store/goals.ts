import { type Kysely, type SqlBool, sql } from "kysely";
import {
  type BriefFacts,
  briefGoal,
  compareGoalEntries,
  foldGoal,
  type Goal,
  type GoalBrief,
  type GoalEntry,
  type GoalId,
  type LedgerEntry,
  type SessionId,
} from "../records/index.ts";
import { inSlices, parseJson, readText, selectRows, type Tables } from "./schema.ts";

/** Goals, each with its own entries of the ledger: adding one again, or out of order, changes nothing. */
export function createGoals(db: Kysely<Tables>) {
  const select = async (where: "id" | "session", values: readonly string[]): Promise<Goal[]> =>
    (await selectRows(db, "goal", { where, in: values, orderBy: ["opened_at", "id"] })).flatMap(
      ({ entries }) => foldGoal(parseJson(entries) as GoalEntry[]) ?? [],
    );
  const listBriefs = async (condition: ReturnType<typeof sql<SqlBool>>): Promise<GoalBrief[]> => {
    // One row for all: there may be thousands, and each value fetched costs time.
    const all = readText(sql`'[' || coalesce(group_concat(brief, ','), '') || ']'`).as("all");
    const row = await db
      .selectFrom("goal")
      .select(all)
      .where("brief", "<>", "")
      .where(condition)
      .executeTakeFirstOrThrow();
    const briefs = (parseJson(row.all) as PackedBrief[]).map(unpackBrief);
    return briefs.sort((a, b) => a.openedAt - b.openedAt || (a.id < b.id ? -1 : 1));
  };
  return {
    get: (ids: readonly GoalId[]) => select("id", ids),
    ofSession: (session: SessionId) => select("session", [session]),
    /** Of a project, or of all, in the order in which they were opened. */
    briefs: (project: string | null) =>
      listBriefs(project === null ? sql<SqlBool>`true` : sql<SqlBool>`project = ${project}`),
    /** Those of a project that are open. */
    open: (project: string) => listBriefs(sql<SqlBool>`project = ${project} and closed_at is null`),
    absorb: async (entries: readonly LedgerEntry[]): Promise<void> => {
      const added = new Map<GoalId, GoalEntry[]>();
      for (const entry of entries.filter(isGoalEntry))
        added.set(entry.data.goal, [...(added.get(entry.data.goal) ?? []), entry]);
      const known = await selectRows(db, "goal", { where: "id", in: [...added.keys()] });
      const before = new Map(known.map(({ id, entries: all }) => [id, parseJson(all) as GoalEntry[]]));
      const rows = [...added].map(([id, own]) => {
        const byKey = new Map([...(before.get(id) ?? []), ...own].map((entry) => [entry.key, entry]));
        const all = [...byKey.values()].sort(compareGoalEntries);
        const goal = foldGoal(all);
        const [first] = all;
        return {
          ...{ id, project: first?.project ?? "", session: goal?.session ?? null },
          ...{ opened_at: goal?.openedAt ?? first?.at ?? 0, closed_at: goal?.closed?.at ?? null },
          ...{
            brief: goal === null ? "" : JSON.stringify(packBrief(briefGoal(goal))),
            entries: JSON.stringify(all),
          },
        };
      });
      await inSlices(rows, (some) => db.replaceInto("goal").values(some).execute());
    },
  };
}

/** A brief without the names of its fields: of twenty thousand they are half of what is read. */
type PackedBrief = ReturnType<typeof packBrief>;

function packBrief({ facts, ...brief }: GoalBrief) {
  const { id, project, session, text, category, by, openedAt, closedAt, outcome, lesson } = brief;
  const { keptAt, best, batch, recheckAt, claim, openDebts } = brief;
  // biome-ignore format: a list of names reads better in rows
  return [
    id, project, session, text, category, by, openedAt, closedAt, outcome, lesson,
    keptAt, best, batch, recheckAt, claim, openDebts, facts === null ? null : packFacts(facts),
  ] as const;
}

/** By its places, into a plain literal: taken apart or spread, so many would take several times as long. */
function unpackBrief(packed: PackedBrief): GoalBrief {
  return {
    id: packed[0],
    project: packed[1],
    session: packed[2],
    text: packed[3],
    category: packed[4],
    by: packed[5],
    openedAt: packed[6],
    closedAt: packed[7],
    outcome: packed[8],
    lesson: packed[9],
    keptAt: packed[10],
    best: packed[11],
    batch: packed[12],
    recheckAt: packed[13],
    claim: packed[14],
    openDebts: packed[15],
    facts: packed[16] === null ? null : unpackFacts(packed[16]),
  };
}

function packFacts({ calls, failed, overcome, corrections, retries, reverted, dependencies }: BriefFacts) {
  return [calls, failed, overcome, corrections, retries, reverted, dependencies];
}

function unpackFacts(counts: readonly number[]): BriefFacts {
  return {
    calls: counts[0] ?? 0,
    failed: counts[1] ?? 0,
    overcome: counts[2] ?? 0,
    corrections: counts[3] ?? 0,
    retries: counts[4] ?? 0,
    reverted: counts[5] ?? 0,
    dependencies: counts[6] ?? 0,
  };
}

function isGoalEntry(entry: LedgerEntry): entry is GoalEntry {
  return entry.type.startsWith("goal.");
}
