import { messageIn } from "../core/errors.ts";
import { standingAt } from "../core/instinct.ts";
import type { LedgerEntry, Maintained } from "../core/ledger.ts";
import { redact } from "../core/redact.ts";
import { type PurgeDeps, purge } from "./ingest.ts";
import { note } from "./note.ts";
import { prune } from "./prune.ts";

/**
 * What is to be done once a day: what is old fades (which is computed, and never written), old events go, and pending
 * instincts that nothing came of retire, and so does what agents staged and never finished. Each has a try of its own, and what went wrong is on the ledger beside the
 * rest. Null where it was done today; `again` does it all the same.
 */
export async function maintain(
  deps: PurgeDeps,
  {
    again = false,
    sweep,
  }: {
    readonly again?: boolean;
    /** Puts away what agents began to write and never finished. */
    readonly sweep?: () => Promise<number>;
  } = {},
): Promise<Maintained | null> {
  const { store, clock } = deps;
  const at = clock.now();
  const today = `maintained:${new Date(at).toISOString().slice(0, 10)}`;
  const key = again ? `${today}:${at}` : today;
  if ((await store.ledger.has([key])).has(key)) return null;
  const errors: string[] = [];
  const tried = async (what: string, work: () => Promise<number>): Promise<number> => {
    try {
      return await work();
    } catch (error) {
      errors.push(`${what}: ${redact(messageIn(error)).slice(0, longest)}`);
      return 0;
    }
  };
  const done: Maintained = {
    faded: await tried("fading", async () => {
      const all = await store.learning.instincts.list();
      return all.filter(({ standing }) => standingAt(standing, at).confidence < standing.confidence).length;
    }),
    purged: await tried("dropping old events", () => purge(deps)),
    pruned: await tried(
      "retiring what waited in vain",
      async () => (await prune(deps, { actor: "knack" })).length,
    ),
    errors,
  };
  if (sweep) await tried("clearing what was staged", sweep);
  const entry: LedgerEntry = {
    ...{ at, project: null, session: null, actor: "knack", type: "maintained", key },
    data: done,
  };
  await store.transaction((tx) => note(tx, [entry]));
  return done;
}

/** Characters of an error that are kept. */
const longest = 300;
