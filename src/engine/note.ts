import { foldProject, type LedgerEntry } from "../core/ledger.ts";
import { absorb } from "./absorb.ts";
import type { Store } from "./ports.ts";

/** Puts entries on the ledger and brings the rows that follow from them up to date, in the same transaction. */
export async function note(tx: Store, entries: readonly LedgerEntry[]): Promise<LedgerEntry[]> {
  const added = await tx.ledger.append(entries);
  await follow(tx, added);
  return added;
}

/** Brings the rows that follow from entries up to date. */
export async function follow(tx: Store, entries: readonly LedgerEntry[]): Promise<void> {
  await countIn(tx, entries);
  await absorb(tx, entries);
}

async function countIn(tx: Store, entries: readonly LedgerEntry[]): Promise<void> {
  const found = entries.filter(({ type }) => type === "session.found");
  const ids = [...new Set(found.flatMap(({ project }) => project ?? []))];
  const rows = new Map((await tx.projects.get(ids)).map((row) => [row.id, row]));
  for (const entry of found) {
    const row = entry.project === null ? undefined : foldProject(rows.get(entry.project), entry);
    if (row) rows.set(row.id, row);
  }
  await tx.projects.save([...rows.values()]);
}
