import { randomBytes } from "node:crypto";
import { CompiledQuery, Kysely, type SqlBool, sql } from "kysely";
import { makeScramVerifier, type PostgresAddress } from "./address.ts";
import { PooledDialect } from "./connect.ts";
import type { ArrivedEntry, EntryQuery, SignedDigest, SignedEntry, TeamMember } from "./entry.ts";
import { upgradeSchema } from "./migrate.ts";
import { isNoCount, type TeamTables, teamMigrations } from "./team-schema.ts";

/** A team's database, as the login of its address may use it. */
export type TeamDatabase = ReturnType<typeof createTeamDatabase>;

/** Connects, and brings the tables to this release's where the login owns them. */
export async function openTeamDatabase(address: PostgresAddress): Promise<TeamDatabase> {
  const db = new Kysely<TeamTables>({ dialect: new PooledDialect({ address, schema: "knack" }) });
  try {
    await upgradeSchema(db, {
      ...{ schema: "knack", version: teamMigrations.length, shown: address.shown },
      change: async (tx, from) => {
        await tx.executeQuery(CompiledQuery.raw(teamMigrations.slice(from).flat().join(";\n")));
      },
    });
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return createTeamDatabase(db);
}

/** Entries in one statement, and bytes of them that are read at once. */
const atOnce = 500;
const bytesAtOnce = 8_000_000;
const longestWriteMs = 120_000;

function createTeamDatabase(db: Kysely<TeamTables>) {
  const putDigest = async ({ content, signature }: Omit<SignedEntry, "id">): Promise<void> => {
    await db
      .insertInto("digest")
      .values({ content, signature } as never)
      .onConflict((conflict) =>
        conflict
          .columns(["team", "repository", "kind"])
          .doUpdateSet({ content: sql`excluded.content`, signature: sql`excluded.signature` }),
      )
      .execute();
  };
  return {
    /** Who the login is; null for one that is no member, such as the owner of the database. */
    me: async (): Promise<(TeamMember & { readonly team: string; readonly login: string }) | null> => {
      const { rows } = await sql<TeamTables["member"]>`select * from me() where id is not null`.execute(db);
      return rows[0] ? { ...memberFromRow(rows[0]), team: rows[0].team, login: rows[0].login } : null;
    },
    /** Makes a team; only the owner of the database does. */
    createTeam: async ({ id, name }: { readonly id: string; readonly name: string }): Promise<void> => {
      await sql`select create_team(${id}, ${name})`.execute(db);
    },
    team: async (id: string) =>
      (await db.selectFrom("team").select(["id", "name"]).where("id", "=", id).executeTakeFirst()) ?? null,
    members: async (team: string): Promise<TeamMember[]> => {
      const query = db.selectFrom("member").selectAll().where("team", "=", team);
      return (await query.orderBy("invited_at").orderBy("id").execute()).map(memberFromRow);
    },
    /** Makes a login for a new member, and answers with its name and password: they are kept nowhere else. */
    invite: async (
      team: string,
      member: Pick<TeamMember, "id" | "name" | "role" | "repositories">,
    ): Promise<{ readonly login: string; readonly password: string }> => {
      const login = `knack_${team}_${randomBytes(6).toString("hex")}`;
      const password = randomBytes(24).toString("base64url");
      const verifier = makeScramVerifier(password, randomBytes(16));
      const { id, name, role, repositories } = member;
      await sql`select invite(${team}, ${id}, ${name}, ${role}, ${repositories}, ${login}, ${verifier})`.execute(
        db,
      );
      return { login, password };
    },
    changeMember: async (
      team: string,
      { id, role, repositories }: Pick<TeamMember, "id" | "role" | "repositories">,
    ): Promise<void> => {
      await sql`select change_member(${team}, ${id}, ${role}, ${repositories})`.execute(db);
    },
    /** Ends a member's login: connections that are open see nothing from now on. What they shared stays. */
    removeMember: async (team: string, id: string): Promise<void> => {
      await sql`select remove_member(${team}, ${id})`.execute(db);
    },
    /** Removes a team with every entry and login; only the owner of the database does. */
    deleteTeam: async (team: string): Promise<void> => {
      await sql`select delete_team(${team})`.execute(db);
    },
    /** Adds those that are not there yet, and answers with how many those were. Each slice is there whole or not at all. */
    append: async (entries: readonly SignedEntry[]): Promise<number> => {
      let added = 0;
      for (let from = 0; from < entries.length; from += atOnce) {
        const some = entries.slice(from, from + atOnce);
        const result = await db
          .insertInto("entry")
          .values(some.map(({ id, content, signature }) => ({ id, content, signature })) as never)
          .onConflict((conflict) => conflict.column("id").doNothing())
          .executeTakeFirst();
        added += Number(result.numInsertedOrUpdatedRows ?? 0);
      }
      return added;
    },
    /** Entries in the order of arrival, and the cursor to go on from: the same as before when there are none. */
    read: async (
      team: string,
      { after, most, repositories, kinds, withoutCounts = false }: EntryQuery,
    ): Promise<{ readonly entries: ArrivedEntry[]; readonly cursor: number }> => {
      let query = db
        .selectFrom("entry")
        .select(["n", "id", "content", "signature", "received_at"])
        // Long entries come a few at a time.
        .select(
          sql<number>`sum(octet_length(content)) over (order by n) - octet_length(content)`.as("before"),
        )
        .where("team", "=", team)
        .where("n", ">", after);
      if (kinds !== undefined) query = query.where("kind", "in", kinds);
      if (withoutCounts) query = query.where(sql<SqlBool>`${sql.raw(isNoCount)}`);
      if (repositories !== undefined)
        query = query.where((where) =>
          where.or([
            where("repository", "is", null),
            ...(repositories.length > 0 ? [where("repository", "in", repositories)] : []),
          ]),
        );
      const page = query.orderBy("n").limit(most).as("page");
      const rows = await db
        .selectFrom(page)
        .selectAll()
        .where("before", "<", bytesAtOnce)
        .orderBy("n")
        .execute();
      return {
        entries: rows.map(({ n: _, before: __, received_at: receivedAt, ...entry }) => ({
          ...entry,
          receivedAt,
        })),
        cursor: rows.at(-1)?.n ?? after,
      };
    },
    /** The number of the last entry; whatever comes later has a larger one. */
    readHead: async (team: string): Promise<number> => {
      const query = db.selectFrom("entry").select((each) => each.fn.max("n").as("n"));
      return (await query.where("team", "=", team).executeTakeFirst())?.n ?? 0;
    },
    /** Whether a worker sums up what machines count, so that members need not. */
    isSummed: async (team: string): Promise<boolean> => {
      const query = db.selectFrom("digest").select("kind").where("team", "=", team);
      return (await query.where("kind", "=", "outcomes").limit(1).execute()).length > 0;
    },
    /** For which repositories which kinds of entries came since jobs were last planned, and how far that is. */
    readChanges: async (team: string) => {
      const planned = await db
        .selectFrom("digest")
        .select(sql<number>`(content::jsonb ->> 'through')::bigint`.as("through"))
        .where("team", "=", team)
        .where("kind", "=", "planned")
        .executeTakeFirst();
      const after = planned?.through ?? 0;
      const changes = await db
        .selectFrom("entry")
        .select(["repository", "kind"])
        .select((each) => each.fn.max("n").as("n"))
        .where("team", "=", team)
        .where("n", ">", after)
        .groupBy(["repository", "kind"])
        .execute();
      return { changes, through: changes.reduce((most, { n }) => Math.max(most, n), after) };
    },
    /** Keeps how far jobs were planned. */
    keepPlanned: ({ team, through }: { readonly team: string; readonly through: number }): Promise<void> =>
      putDigest({
        content: JSON.stringify({ team, repository: null, kind: "planned", through }),
        signature: "",
      }),
    /** Puts a digest in the place of the one before; only maintainers do. */
    putDigest,
    /** The digests for these repositories, and for none, that were made since a time. */
    digests: async (
      team: string,
      { since, repositories }: { readonly since: number; readonly repositories: readonly string[] },
    ): Promise<SignedDigest[]> => {
      const rows = await db
        .selectFrom("digest")
        .select(["content", "signature", "made_at"])
        .where("team", "=", team)
        // One that was begun earlier may be there later.
        .where("made_at", ">", since - longestWriteMs)
        .where("repository", "in", ["", ...repositories])
        .orderBy("made_at")
        .execute();
      return rows.map(({ made_at: madeAt, ...signed }) => ({ ...signed, madeAt }));
    },
    /** How much is there, by repository and kind. */
    count: async (team: string) =>
      db
        .selectFrom("entry")
        .select(["repository", "kind", sql<number>`count(*)`.as("entries")])
        .select(sql<number>`sum(octet_length(content))`.as("bytes"))
        .where("team", "=", team)
        .groupBy(["repository", "kind"])
        .orderBy("repository")
        .orderBy("kind")
        .execute(),
    close: () => db.destroy(),
  };
}

function memberFromRow(row: TeamTables["member"]): TeamMember {
  const { id, name, role, repositories, invited_at: invitedAt, removed_at: removedAt } = row;
  return { id, name, role, repositories, invitedAt, removedAt };
}
