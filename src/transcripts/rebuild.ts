import { KnackError } from "../base/index.ts";
import { refoldLedger } from "../lessons/index.ts";
import type { Session } from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { eachEvent } from "./sessions.ts";

/** A row that differs from what the ledger and the events add up to. */
export interface Drift {
  readonly what: string;
  readonly is: string;
  readonly shouldBe: string;
}

/** Compares every derived row with what it is derived from. */
export async function findDrift(store: Store): Promise<Drift[]> {
  const undone = new Error("only looking");
  let drift: Drift[] = [];
  try {
    await store.transaction(async (tx) => {
      drift = await rederive(tx);
      throw undone;
    });
  } catch (error) {
    if (error !== undone) throw error;
  }
  return drift;
}

/** Derives those rows again, and answers with what differed. */
export async function rebuild(store: Store): Promise<Drift[]> {
  return store.transaction(rederive);
}

async function rederive(tx: Store): Promise<Drift[]> {
  const before = await describeRows(tx);
  await tx.sessions.save(await recount(tx));
  await refoldLedger(tx);
  const after = await describeRows(tx);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((what) => {
    const [is, shouldBe] = [before.get(what) ?? "missing", after.get(what) ?? "missing"];
    return is === shouldBe ? [] : [{ what, is, shouldBe }];
  });
}

/** Every derived row as JSON, by what it is about. */
async function describeRows(store: Store): Promise<Map<string, string>> {
  const { lessons, changes } = store.learning;
  return new Map([
    ...(await store.projects.list()).map((row) => [`project ${row.id}`, JSON.stringify(row)] as const),
    ...(await store.sessions.list()).map(
      ({ id, counts }) => [`counts of ${id}`, JSON.stringify(counts)] as const,
    ),
    ...(await lessons.list()).map((row) => [`lesson ${row.id}`, JSON.stringify(row)] as const),
    ...(await changes.list()).map((row) => [`change ${row.change.id}`, JSON.stringify(row)] as const),
  ]);
}

/** Sessions with the counts of their cached events; those whose events were purged keep the counts they have. */
async function recount(store: Store): Promise<Session[]> {
  const sessions = await store.sessions.list();
  const readings = await store.readings.of([...new Set(sessions.map(({ path }) => path))]);
  const cached = new Set(readings.flatMap(({ path, cachedAt }) => (cachedAt === null ? [] : path)));
  const counted: Session[] = [];
  for (const session of sessions)
    if (cached.has(session.path)) counted.push({ ...session, counts: await store.events.count(session.id) });
  return counted;
}

/** The sessions whose stored events cannot be read back, in words. */
export async function findUnreadableRows(store: Store): Promise<string[]> {
  const found: string[] = [];
  for (const session of await store.sessions.list()) {
    try {
      for await (const _ of eachEvent(store, { ...session, diagnostics: [], alsoFrom: [] }));
    } catch (error) {
      if (!(error instanceof KnackError)) throw error;
      found.push(`events of ${session.id}: ${error.message}`);
    }
  }
  return found;
}
