import { type Kysely, sql } from "kysely";
import type { StoredTeamEntry, TeamEntryKind } from "../records/index.ts";
import { inSlices, parseJson, selectRows, type Tables } from "./schema.ts";

/** A machine's chain as far as it is known here. */
export interface TeamChain {
  readonly machine: string;
  readonly author: string;
  readonly entries: number;
  /** Places in the chain that are taken: more entries than that is a fork. */
  readonly places: number;
}

/** The union of a team's ledgers on this machine. */
export function createTeamEntries(db: Kysely<Tables>) {
  const select = async (query: Parameters<typeof selectRows<"team_entry">>[2]) =>
    (await selectRows(db, "team_entry", { orderBy: ["machine", "sequence", "id"], ...query })).map(
      entryFromRow,
    );
  return {
    /** Appends what is not there yet; what comes back from the team's database has the time at which it was taken. */
    append: async (entries: readonly StoredTeamEntry[]): Promise<void> => {
      await inSlices(entries.map(entryToRow), (some) =>
        db
          .insertInto("team_entry")
          .values(some)
          .onConflict((conflict) =>
            conflict
              .column("id")
              .doUpdateSet({ recorded_at: sql`excluded.recorded_at` })
              .where("team_entry.recorded_at", "is", null),
          )
          .execute(),
      );
    },
    /** The last entry of a machine's chain; null where there is none. */
    head: async (machine: string): Promise<StoredTeamEntry | null> =>
      (
        await select({
          where: "machine",
          in: [machine],
          and: sql`and sequence = (select max(sequence) from team_entry where machine = ${machine})`,
        })
      ).at(-1) ?? null,
    /** Entries of a machine that were not sent yet, in the order of its chain. */
    unsent: (machine: string) =>
      select({ where: "machine", in: [machine], and: sql`and recorded_at is null` }),
    /** All that a machine said, in the order of its chain. */
    ofMachine: (machine: string) => select({ where: "machine", in: [machine] }),
    about: (subjects: readonly string[]) => select({ where: "subject", in: subjects }),
    ofKind: (...kinds: readonly TeamEntryKind[]) => select({ where: "kind", in: kinds }),
    /** What is shared for these repositories, and for everywhere. */
    shares: (repositories: readonly string[]) =>
      select({ where: "kind", in: sharedKinds, and: isFor(repositories) }),
    /** The names of that. */
    sharedSubjects: async (repositories: readonly string[]): Promise<string[]> => {
      const rows = await sql<{ subject: string }>`select distinct subject from team_entry
        where kind in (${sql.join(sharedKinds)}) ${isFor(repositories)} order by subject`.execute(db);
      return rows.rows.map(({ subject }) => subject);
    },
    /** The repositories that things are shared for; null for everywhere. */
    repositories: async (subjects: readonly string[]): Promise<Map<string, string | null>> => {
      const rows = await inSlices(subjects, (some) =>
        db
          .selectFrom("team_entry")
          .select(["subject", "repository"])
          .distinct()
          .where("subject", "in", some)
          .where("kind", "in", sharedKinds)
          .execute(),
      );
      return new Map(rows.map(({ subject, repository }) => [subject, repository]));
    },
    /** All of them, each machine's chain in order. */
    all: () => select({}),
    /** Characters of each author's entries. */
    sizes: async (): Promise<Map<string, number>> => {
      const sizes = sql<number>`sum(length(content))`.as("size");
      const rows = await db.selectFrom("team_entry").select(["author", sizes]).groupBy("author").execute();
      return new Map(rows.map(({ author, size }) => [author, Number(size)]));
    },
    chains: async (): Promise<TeamChain[]> => {
      const rows = await db
        .selectFrom("team_entry")
        .select(["machine", "author"])
        .select((each) => [
          each.fn.countAll<number>().as("entries"),
          sql<number>`count(distinct sequence)`.as("places"),
        ])
        .groupBy(["machine", "author"])
        .orderBy("author")
        .orderBy("machine")
        .execute();
      return rows.map(({ entries, places, ...row }) => ({
        ...{ ...row, entries: Number(entries), places: Number(places) },
      }));
    },
    /** Forgets the team's ledger on this machine. */
    clear: async (): Promise<void> => {
      await db.deleteFrom("team_entry").execute();
    },
  };
}

const sharedKinds = ["lesson.shared", "skill.shared"];

function isFor(repositories: readonly string[]) {
  return sql`and (repository is null or repository in (${sql.join(repositories.length > 0 ? repositories : [""])}))`;
}

function entryFromRow({ recorded_at, content, ...row }: Tables["team_entry"]): StoredTeamEntry {
  const { team, previous, at, body } = parseJson(content);
  const signed = { ...row, content, kind: row.kind as TeamEntryKind };
  return { ...signed, team, previous, at, body: JSON.stringify(body), recordedAt: recorded_at };
}

function entryToRow(entry: StoredTeamEntry): Tables["team_entry"] {
  const { id, repository, machine, author, sequence, kind, subject, content, signature, recordedAt } = entry;
  const place = { repository, machine, author, sequence, kind, subject };
  return { id, ...place, content, signature, recorded_at: recordedAt };
}
