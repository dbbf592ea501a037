import { errorMessage } from "../../base/index.ts";
import { applyDecay, openLessons, recordEntries } from "../../lessons/index.ts";
import type { EntryOf, LedgerEntry } from "../../records/index.ts";
import { type IngestDeps, purge } from "../../transcripts/index.ts";
import { redact } from "../../trust/index.ts";

/** Characters of an error that are kept. */
const errorChars = 300;

/**
 * Daily upkeep: counts lessons whose confidence faded, deletes old events, retires pending lessons that nothing came
 * of, and with `sweep` clears what agents staged and never finished. Each step may fail on its own; errors are on the
 * ledger with the results. Null where it was done today, unless `again`.
 */
export async function maintain(
  deps: Pick<IngestDeps, "store" | "clock">,
  { again = false, sweep }: { readonly again?: boolean; readonly sweep?: () => Promise<number> } = {},
): Promise<EntryOf<"maintained">["data"] | null> {
  const { store, clock } = deps;
  const at = clock.now();
  const today = `maintained:${new Date(at).toISOString().slice(0, 10)}`;
  const key = again ? `${today}:${at}` : today;
  if ((await store.ledger.has([key])).has(key)) return null;
  const errors: string[] = [];
  const attempt = async (what: string, work: () => Promise<number>): Promise<number> => {
    try {
      return await work();
    } catch (error) {
      errors.push(`${what}: ${redact(errorMessage(error)).slice(0, errorChars)}`);
      return 0;
    }
  };
  await attempt("bringing lessons back", async () => (await openLessons(deps).unpruneAhead()).length);
  const done: EntryOf<"maintained">["data"] = {
    faded: await attempt("fading", async () => {
      const all = await store.learning.lessons.list();
      return all.filter(({ state }) => applyDecay(state, at).confidence < state.confidence).length;
    }),
    purged: await attempt("deleting old events", () => purge(deps)),
    pruned: await attempt(
      "retiring lessons",
      async () => (await openLessons(deps).prune(undefined, "knack")).length,
    ),
    errors,
  };
  if (sweep) await attempt("clearing staged files", sweep);
  const entry: LedgerEntry = {
    ...{ at, project: null, session: null, actor: "knack", type: "maintained", key },
    data: done,
  };
  await store.transaction((tx) => recordEntries(tx, [entry]));
  return done;
}
