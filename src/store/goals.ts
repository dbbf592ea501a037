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
  const listBriefs = async (condition: ReturnType<typeof sql<SqlBool>>, project: string | null) => {
    // One row for all, and one list for each column: there may be thousands, and each value fetched costs time.
    const row = await db
      .selectFrom("goal")
      .select([
        listOf(sql`json_quote(id)`).as("ids"),
        listOf(project === null ? sql`json_quote(project)` : sql`'0'`).as("projects"),
        listOf(sql`cast(opened_at as text)`).as("opened"),
        listOf(sql`cast(coalesce(closed_at, 0) as text)`).as("closed"),
        listOf(sql`'[' || brief || ']'`).as("briefs"),
      ])
      .where("brief", "<>", "")
      .where(condition)
      .executeTakeFirstOrThrow();
    const [ids, projects] = [parseJson(row.ids) as GoalId[], parseJson(row.projects) as string[]];
    const [opened, closed] = [parseJson(row.opened) as number[], parseJson(row.closed) as number[]];
    const briefs = (parseJson(row.briefs) as PackedBrief[]).map((packed, at) =>
      unpackBrief(ids[at] ?? "", project ?? projects[at] ?? "", opened[at] ?? 0, closed[at] ?? 0, packed),
    );
    return briefs.sort((a, b) => a.openedAt - b.openedAt || (a.id < b.id ? -1 : 1));
  };
  return {
    get: (ids: readonly GoalId[]) => select("id", ids),
    ofSession: (session: SessionId) => select("session", [session]),
    /** Of a project, or of all, in the order in which they were opened. */
    briefs: (project: string | null) =>
      listBriefs(project === null ? sql<SqlBool>`true` : sql<SqlBool>`project = ${project}`, project),
    /** Those of a project that are open. */
    open: (project: string) => listBriefs(sql<SqlBool>`project = ${project} and closed_at is null`, project),
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
            brief: goal === null ? "" : JSON.stringify(packBrief(briefGoal(goal))).slice(1, -1),
            entries: JSON.stringify(all),
          },
        };
      });
      await inSlices(rows, (some) => db.replaceInto("goal").values(some).execute());
    },
  };
}

/** The values of all rows as a list in JSON. */
function listOf(value: ReturnType<typeof sql>) {
  return readText(sql`'[' || coalesce(group_concat(${value}, ','), '') || ']'`);
}

/** A brief without the names of its fields, and without what has columns: of twenty thousand that is most of it. */
type PackedBrief = ReturnType<typeof packBrief>;

function packBrief({ facts, ...brief }: GoalBrief) {
  const { text, category, by, outcome, lesson, keptAt, best, batch, recheckAt, claim, openDebts } = brief;
  // Facts stand in the same list: another one in each brief would take as long to read as all else.
  // biome-ignore format: a list of names reads better in rows
  return [
    text, category, by, outcome, lesson, keptAt, best, batch, recheckAt, claim, openDebts,
    facts?.calls ?? null, facts?.failed ?? 0, facts?.overcome ?? 0, facts?.corrections ?? 0, facts?.retries ?? 0,
    facts?.reverted ?? 0, facts?.dependencies ?? 0,
  ] as const;
}

/** By its places, into a plain literal: taken apart or spread, so many would take several times as long. */
function unpackBrief(
  id: GoalId,
  project: string,
  openedAt: number,
  closedAt: number,
  packed: PackedBrief,
): GoalBrief {
  return {
    id,
    project,
    openedAt,
    closedAt: closedAt === 0 ? null : closedAt,
    text: packed[0],
    category: packed[1],
    by: packed[2],
    outcome: packed[3],
    lesson: packed[4],
    keptAt: packed[5],
    best: packed[6],
    batch: packed[7],
    recheckAt: packed[8],
    claim: packed[9],
    openDebts: packed[10],
    facts:
      packed[11] === null
        ? null
        : {
            calls: packed[11],
            failed: packed[12],
            overcome: packed[13],
            corrections: packed[14],
            retries: packed[15],
            reverted: packed[16],
            dependencies: packed[17],
          },
  };
}

function isGoalEntry(entry: LedgerEntry): entry is GoalEntry {
  return entry.type.startsWith("goal.");
}
