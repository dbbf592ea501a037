import type { LedgerEntry } from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { oneLine } from "../text/index.ts";

// Folding lessons and finding secrets take more code than all else here, and who only looks at a goal needs neither.

/** Adds entries to the ledger, and to what is folded from it. */
export async function record(tx: Store, entries: readonly LedgerEntry[]): Promise<void> {
  const { recordEntries } = await import("../lessons/index.ts");
  await recordEntries(tx, entries);
}

/** Words without secrets, on one line. */
export async function cleanWords(text: string | null | undefined): Promise<string> {
  if (!text) return "";
  const { redact } = await import("../trust/index.ts");
  return oneLine(redact(text)).trim();
}
