import { type Kysely, sql } from "kysely";
import { KnackError } from "../../base/index.ts";

interface Upgrade<Tables> {
  readonly schema: string;
  readonly version: number;
  /** The database, for messages. */
  readonly shown: string;
  /** Brings the schema from a version, 0 for an empty one, to that of this release. It only adds. */
  readonly change: (tx: Kysely<Tables>, from: number) => Promise<void>;
}

/**
 * Brings a schema to the version of this release, one process at a time; others go on working meanwhile. A schema of a
 * later release is used as it is, because each version only adds to the one before.
 */
export async function upgradeSchema<Tables>(
  db: Kysely<Tables>,
  { schema, version, shown, change }: Upgrade<Tables>,
): Promise<void> {
  if ((await readVersion(db, schema)) >= version) return;
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext(${`knack.upgrade.${schema}`}))`.execute(tx);
    const from = await readVersion(tx, schema);
    if (from >= version) return;
    const { isThere } = await refuseStranger(tx, { schema, shown, version: from });
    if (from === 0) {
      if (!isThere) await sql`create schema ${sql.id(schema)}`.execute(tx);
      const columns = sql`version integer primary key, at timestamptz not null default now()`;
      await sql`create table migration (${columns})`.execute(tx);
    }
    await change(tx, from);
    await sql`insert into migration (version) values (${version})`.execute(tx);
  });
}

async function readVersion<Tables>(db: Kysely<Tables>, schema: string): Promise<number> {
  // Not to_regclass: within a transaction it may still know that there was none before.
  const table = await sql<{ found: boolean }>`
    select exists (select from pg_tables where schemaname = ${schema} and tablename = 'migration') as found`.execute(
    db,
  );
  if (!table.rows[0]?.found) return 0;
  const { rows } = await sql<{
    version: number | null;
  }>`select max(version) as version from migration`.execute(db);
  return rows[0]?.version ?? 0;
}

/** Only who owns a schema adds to it. */
async function refuseStranger<Tables>(
  db: Kysely<Tables>,
  { schema, shown, version }: { readonly schema: string; readonly shown: string; readonly version: number },
): Promise<{ readonly isThere: boolean }> {
  const { rows } = await sql<{ may: boolean; is_there: boolean; encoding: string }>`
    select coalesce(pg_has_role(max(nspowner), 'member'), has_database_privilege(current_database(), 'create')) as may,
      count(*) > 0 as is_there, current_setting('server_encoding') as encoding
    from pg_namespace where nspname = ${schema}`.execute(db);
  const [found] = rows;
  if (found?.encoding !== "UTF8")
    throw new KnackError("TEAM_REFUSED", `The database ${shown} does not keep text as UTF-8.`, {
      hint: "Make another: createdb --encoding=UTF8 --template=template0 <name>",
    });
  if (found.may) return { isThere: found.is_there };
  const message =
    version === 0
      ? `There is no team in the database ${shown}, and your login may not make one.`
      : `The team's database ${shown} is older than this Knack, and your login may not change it.`;
  throw new KnackError("TEAM_REFUSED", message, {
    hint:
      version === 0
        ? "Check the address, or have whoever owns the database run: knack team create"
        : "Have whoever owns the database run this version of Knack once: KNACK_TEAM_URL=<their address> knack team members",
  });
}
