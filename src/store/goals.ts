import { type Kysely, type SqlBool, sql } from "kysely";
import {
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
    const briefs = parseJson(row.all) as GoalBrief[];
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
          ...{ brief: goal === null ? "" : JSON.stringify(briefGoal(goal)), entries: JSON.stringify(all) },
        };
      });
      await inSlices(rows, (some) => db.replaceInto("goal").values(some).execute());
    },
  };
}

function isGoalEntry(entry: LedgerEntry): entry is GoalEntry {
  return entry.type.startsWith("goal.");
}
