import { createHash } from "node:crypto";
import type { Tables } from "./schema.ts";

type Row = Tables["ledger"];
type ChainedRow = Pick<
  Row,
  "n" | "at" | "project" | "session" | "actor" | "type" | "key" | "recorded_at" | "digest" | "prev"
>;

/** The newest entry of a ledger as it was when a process last closed it; kept in a file beside the database. */
export interface LedgerHead {
  readonly entries: number;
  readonly link: string;
  /** When the newest entry was recorded. */
  readonly at: number;
  /** Newest entries that were found missing before now. */
  readonly lost: readonly LostEntries[];
}

/** A head that the ledger no longer had, and the time of the newest entry that was there instead. */
export type LostEntries = Pick<LedgerHead, "entries" | "link" | "at"> & {
  readonly left: number;
  readonly leftAt: number | null;
};

/** A place where the ledger is not as it was written. */
export interface ChainFault {
  /** By which it is known again once a person has accepted it. */
  readonly id: string;
  readonly kind: "changed" | "removed" | "moved" | "lost";
  /** How many entries, at least. */
  readonly entries: number;
  /** The entry itself, or the one after the gap. */
  readonly which: string | null;
  /** The times of recording that it lies between. */
  readonly after: number | null;
  readonly before: number | null;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** The salt goes with the data when that is masked, so that nobody can guess at masked words by their digest. */
export function digestData(data: string, salt: string): string {
  return hash(`${salt} ${data}`);
}

/** An entry's link: it covers the link before, the entry, and its data by digest only. */
export function computeLink(row: ChainedRow): string {
  const { prev, at, project, session, actor, type, key, recorded_at, digest } = row;
  return hash(JSON.stringify([prev, at, project, session, actor, type, key, recorded_at, digest]));
}

/** Looks through a ledger, entry by entry in the order of writing, for what is not as it was written. */
export class ChainInspector {
  readonly faults: ChainFault[] = [];
  private last: Row | null = null;
  /** The digests that masked data must have, by the entries' keys. */
  private readonly masked: ReadonlyMap<string, string>;
  private readonly isLink: (link: string) => boolean;

  constructor(masked: ReadonlyMap<string, string>, isLink: (link: string) => boolean) {
    this.masked = masked;
    this.isLink = isLink;
  }

  inspect(row: Row): void {
    const { last } = this;
    const isWhole = computeLink(row) === row.link && this.hasItsData(row);
    const isFirst = row.n === 1 && last === null;
    const gap = row.n - (last?.n ?? 0) - 1;
    if (!isWhole) this.report("changed", row, 1);
    else if (gap > 0) this.report("removed", row, gap);
    else if (!isFirst && row.prev !== last?.link)
      this.report(this.isLink(row.prev) ? "moved" : "removed", row, 1);
    this.last = row;
  }

  private hasItsData({ key, data, salt, digest }: Row): boolean {
    const is = digestData(data, salt);
    return is === digest || is === this.masked.get(key);
  }

  private report(kind: ChainFault["kind"], row: Row, entries: number): void {
    const id = `${kind} ${row.n} ${hash(`${row.link} ${digestData(row.data, row.salt)}`)}`;
    const which = `${row.type} ${row.key}`;
    const before = kind === "removed" ? row.recorded_at : null;
    const after = kind === "removed" ? (this.last?.recorded_at ?? null) : row.recorded_at;
    this.faults.push({ id, kind, entries, which, after, before });
  }
}

/** What a ledger lacks that had this head; null where it still has it. `link` is that of its entry with the head's number. */
export function findLost(
  head: Pick<LedgerHead, "entries" | "link" | "at">,
  now: { readonly entries: number; readonly at: number | null; readonly link: string | null },
): LostEntries | null {
  if (now.link === head.link) return null;
  const { entries, link, at } = head;
  return { entries, link, at, left: now.entries, leftAt: now.at };
}

/** Lost entries as a fault. */
export function describeLost({ entries, link, at, left, leftAt }: LostEntries): ChainFault {
  const missing = Math.max(1, entries - left);
  return { id: `lost ${link}`, kind: "lost", entries: missing, which: null, after: leftAt, before: at };
}
