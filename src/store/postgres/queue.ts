import { CompiledQuery, Kysely, sql } from "kysely";
import PgBoss from "pg-boss";
import type { JsonObject } from "../../base/index.ts";
import type { PostgresAddress } from "./address.ts";
import { PooledDialect } from "./connect.ts";

/** How jobs of one kind are done. */
export interface JobKind {
  /** How long a worker holds a job without a word of it; after that it goes to another. */
  readonly leaseSeconds: number;
  /** How often a job that failed is tried again, and after how long first. */
  readonly retries: number;
  readonly retrySeconds: number;
}

interface QueueOptions {
  readonly address: PostgresAddress;
  readonly schema: string;
  /** The role whose the tables are, for whoever may work on the queue. */
  readonly role?: string;
  readonly kinds: Readonly<Record<string, JobKind>>;
}

/** A job that a worker holds. */
export interface HeldJob {
  readonly id: string;
  readonly kind: string;
  readonly data: JsonObject;
  /** How often it was taken before: by it a worker knows its own hold from another's. */
  readonly taken: number;
}

/** A job that failed each time it was tried. */
export interface DeadJob extends Omit<HeldJob, "taken"> {
  readonly tries: number;
  readonly failedAt: number;
  readonly because: string;
}

/** Jobs that are done are kept for half a day, those that failed for two weeks. */
const keptSeconds = { done: 12 * 3_600, failed: 14 * 86_400 };

/**
 * Jobs for workers on any number of machines: each is held by one worker at a time, goes to another when its worker is
 * gone, and is set aside when it fails again and again. Nothing runs between the calls.
 */
export type JobQueue = Awaited<ReturnType<typeof openQueue>>;

export async function openQueue({ address, schema, role, kinds }: QueueOptions) {
  const dialect = new PooledDialect({ address, schema, ...(role && { role }) });
  const db = new Kysely<Record<string, never>>({ dialect });
  const boss = new PgBoss({
    schema,
    db: {
      // The schema is there: whoever may use it need not be allowed to make others.
      executeSql: async (text, values = []) =>
        db.executeQuery<object>(
          CompiledQuery.raw(text.replace(/CREATE SCHEMA IF NOT EXISTS \w+\s*;/, ""), values),
        ) as never,
    },
    // Each call does its own part of it.
    ...{ supervise: false, schedule: false },
    archiveCompletedAfterSeconds: keptSeconds.done,
    archiveFailedAfterSeconds: keptSeconds.failed,
  });
  boss.on("error", () => {});
  await boss.start();
  const known = new Set((await boss.getQueues()).map(({ name }) => name));
  for (const [kind, { leaseSeconds, retries, retrySeconds }] of Object.entries(kinds)) {
    // Of jobs about one thing, one waits.
    const how = { name: kind, policy: "short", expireInSeconds: leaseSeconds } as const;
    const options = { ...how, retryLimit: retries, retryDelay: retrySeconds, retryBackoff: retries > 0 };
    await (known.has(kind) ? boss.updateQueue(kind, options) : boss.createQueue(kind, options));
  }
  return {
    /** Adds a job; false where one about the same thing waits already. */
    add: async (kind: string, about: string, data: JsonObject, afterSeconds = 0): Promise<boolean> =>
      (await boss.send(kind, data, { singletonKey: about, startAfter: afterSeconds })) !== null,
    /** Takes the next job of a kind; null where none is due. */
    take: async (kind: string): Promise<HeldJob | null> => {
      const [job] = await boss.fetch<JsonObject>(kind, { includeMetadata: true });
      return job ? { id: job.id, kind, data: job.data, taken: job.retryCount } : null;
    },
    /** Begins the lease anew; false where another has the job by now, to whom it is left from then on. */
    renew: async ({ kind, id, taken }: HeldJob): Promise<boolean> => {
      const { numAffectedRows } = await sql`
        update job set started_on = now()
        where name = ${kind} and id = ${id} and state = 'active' and retry_count = ${taken}`.execute(db);
      return numAffectedRows === 1n;
    },
    finish: ({ kind, id }: HeldJob, result: JsonObject): Promise<void> => boss.complete(kind, id, result),
    /** It is tried again later, or set aside when it was tried often enough. */
    fail: ({ kind, id }: HeldJob, because: string): Promise<void> =>
      boss.fail(kind, id, { message: because }),
    /** Gives the jobs of workers that are gone to others, and clears away what is long done. */
    recover: (): Promise<void> => boss.maintain(),
    /** How many jobs of each kind there are. */
    count: async () => {
      const count = (states: string) => sql<number>`count(*) filter (where state in (${sql.raw(states)}))`;
      const { rows } = await sql<{ kind: string; waiting: number; held: number; done: number; dead: number }>`
        select name as kind, ${count("'created', 'retry'")} as waiting, ${count("'active'")} as held,
          ${count("'completed'")} as done, ${count("'failed'")} as dead
        from job group by name order by name`.execute(db);
      return rows;
    },
    /** Jobs that failed each time, the latest first. */
    dead: async (): Promise<DeadJob[]> => {
      const { rows } = await sql<{
        id: string;
        kind: string;
        data: JsonObject;
        tries: number;
        at: Date;
        output: unknown;
      }>`
        select id, name as kind, data, retry_count + 1 as tries, completed_on as at, output
        from job where state = 'failed' order by completed_on desc limit 100`.execute(db);
      return rows.map(({ at, output, ...job }) => ({
        ...job,
        failedAt: at.getTime(),
        because: readMessage(output),
      }));
    },
    /** Has a job that was set aside tried again. */
    revive: (kind: string, id: string): Promise<void> => boss.retry(kind, id),
    close: async (): Promise<void> => {
      await boss.stop({ graceful: false });
      await db.destroy();
    },
  };
}

function readMessage(output: unknown): string {
  const { message, value } = (output ?? {}) as { message?: unknown; value?: { message?: unknown } };
  return String(message ?? value?.message ?? "");
}
