import type { EntryOf, Maintained } from "../core/ledger.ts";
import { type Drift, findDrift, rebuild, unreadableRows } from "../engine/inspect.ts";
import { maintain } from "../engine/maintain.ts";
import { repair, type Settled } from "../engine/publish.ts";
import { sweepStaging } from "../engine/staging.ts";
import { foregroundDeps } from "./foreground.ts";
import type { Work } from "./home.ts";
import type { Parts } from "./parts.ts";

/** What keeps Knack's own state whole. */
export interface UpkeepVerbs extends Work {
  /** Does what is to be done once a day; null where it was done already. */
  maintain(options?: { readonly again?: boolean }): Promise<Maintained | null>;
  /** When that was last done, and what came of it. */
  maintained(): Promise<EntryOf<"maintained"> | null>;
  /** Ends what a killed process began to write. */
  repair(): Promise<Settled[]>;
  /** What is wrong with Knack's own state. */
  check(): Promise<{ damage: string[]; drift: Drift[]; entries: number }>;
  rebuild(): Promise<Drift[]>;
  close(): Promise<void>;
}

export function upkeepVerbs(parts: Parts): UpkeepVerbs {
  const { store, redactor, dryRun, publishing, claim, giveBack } = parts;
  const sweep = () => sweepStaging(foregroundDeps(parts));
  return {
    claim,
    giveBack,
    maintain: (options) => maintain(parts, { ...options, ...(dryRun ? {} : { sweep }) }),
    maintained: async () => (await store.ledger.since("maintained", 0)).at(-1) ?? null,
    repair: () => repair(publishing),
    check: async () => ({
      damage: [...(await store.check()), ...(await unreadableRows(store))],
      drift: await findDrift(store),
      entries: (await store.ledger.all()).length,
    }),
    rebuild: () => rebuild(store),
    close: async () => {
      await store.close();
      await redactor.close();
    },
  };
}
