import { createHash, randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { type Clock, compareText } from "../base/index.ts";
import type { EntryOf, LedgerEntry, SessionId, TranscriptId } from "../records/index.ts";
import { inSlices, parseJson, readColumn, selectRows, type Tables } from "./schema.ts";

/** Where a ledger's chain begins, and its head as it was last kept beside the database. */
export interface ChainAnchor {
  /** The text that the first entry is linked to: a name of the chain, and the ledger that was here before it. */
  begin(): string;
  readHead(): LedgerHead | null;
}

/** Whether a ledger is as it was written. */
export interface LedgerInspection {
  readonly entries: number;
  /** When its first and its newest entry were recorded. */
  readonly from: number | null;
  readonly to: number | null;
  /** How many entries had words masked since they were written. */
  readonly masked: number;
  /** Entries of the ledger that was here before and is gone; null where there was none. */
  readonly before: Pick<LedgerHead, "entries" | "at"> | null;
  readonly faults: readonly ChainFault[];
  /** How many faults a person has accepted. */
  readonly accepted: number;
}

type LedgerRow = Tables["ledger"];
/** What an entry is made of; the links of the chain are long, and are read by who inspects it. */
const entryColumns = ["n", "at", "project", "session", "actor", "type", "key", "data"] as const;
type EntryRow = Pick<LedgerRow, (typeof entryColumns)[number]>;

const saltBytes = 12;
const inspectedAtOnce = 500;
/** Clocks are set by this much now and then; beyond it, one that goes back was wrong before. */
const clockSlackMs = 60 * 60_000;

export function createLedger(db: Kysely<Tables>, clock: Clock, anchor: ChainAnchor) {
  /** The chain grows at one end: whoever reads the newest link must be the next to write. */
  const inTransaction = <T>(work: (tx: Kysely<Tables>) => Promise<T>): Promise<T> =>
    db.isTransaction ? work(db) : db.transaction().execute(work);
  const append = (entries: readonly LedgerEntry[]) =>
    inTransaction((tx) => appendEntries(tx, entries, clock.now(), anchor));
  const read = async (query: Parameters<typeof selectRows<"ledger">>[2]) => {
    const rows = await selectRows(db, "ledger", query, [...entryColumns]);
    return correctTimes(rows, await readCorrections(db)).map(entryFromRow);
  };
  return {
    /** Appends what is not there yet, by idempotency key, and answers with what was new. */
    append,
    /** In the order of event time, then session, then key; never by arrival. */
    all: (): Promise<LedgerEntry[]> => read({ orderBy: ["at", "session", "key"] }),
    /** Which of these keys have an entry. */
    has: (keys: readonly string[]) => findKeys(db, keys),
    /** The entries with these keys, in no promised order. */
    get: (keys: readonly string[]): Promise<LedgerEntry[]> => read({ where: "key", in: keys }),
    /** How many entries there are: the same number, the same ledger. */
    count: async (): Promise<number> =>
      (await db.selectFrom("ledger").select(sql<number>`count(*)`.as("count")).executeTakeFirstOrThrow())
        .count,
    /** The entries of a type that were noted since a time, in the order of time. */
    since: async <Type extends LedgerEntry["type"]>(type: Type, at: number): Promise<EntryOf<Type>[]> => {
      const and = sql`and at >= ${at}`;
      return (await read({ where: "type", in: [type], and, orderBy: ["at", "key"] })) as EntryOf<Type>[];
    },
    /** What was noted after the entry of a number, and the number of the newest. */
    after: async (number: number): Promise<{ readonly entries: LedgerEntry[]; readonly to: number }> => {
      const newest = await db
        .selectFrom("ledger")
        .select((each) => each.fn.max("n").as("n"))
        .executeTakeFirst();
      const to = newest?.n ?? 0;
      const added = Array.from({ length: Math.max(0, to - number) }, (_, at) => number + 1 + at);
      return { entries: await read({ where: "n", in: added }), to };
    },
    /** The entries of a type that a clock wrote which was ahead of the time given. */
    ahead: async <Type extends LedgerEntry["type"]>(type: Type, now: number): Promise<EntryOf<Type>[]> => {
      const and = sql`and recorded_at > ${now + clockSlackMs}`;
      return (await read({ where: "type", in: [type], and })) as EntryOf<Type>[];
    },
    /** When an entry of a type was last noted, by the clock of that time; null when none was. */
    lastNoted: async (type: LedgerEntry["type"]): Promise<number | null> => {
      const query = db.selectFrom("ledger").select((each) => each.fn.max("recorded_at").as("at"));
      return (await query.where("type", "=", type).executeTakeFirst())?.at ?? null;
    },
    /**
     * Masks words in the entries of these sessions, and answers with how many entries had some. The chain stays whole:
     * it covers data by digest, and a further entry names the new digests.
     */
    mask: (sessions: readonly (SessionId | TranscriptId)[], mask: (text: string) => string) =>
      inTransaction(async (tx) => {
        const masked = await maskEntries(tx, sessions, mask);
        if (masked.length > 0) await appendEntries(tx, [maskEntry(masked, clock)], clock.now(), anchor);
        return masked.length;
      }),
    /** Looks for entries that were removed, changed or put in another order since they were written. */
    inspect: () => inTransaction((tx) => inspectLedger(tx, anchor)),
    /** Records that a person goes on with the ledger as it is. */
    accept: (faults: readonly ChainFault[]) =>
      append([
        {
          ...{ at: clock.now(), project: null, session: null, actor: "person", type: "ledger.accepted" },
          key: `accepted:${clock.now()}:${faults[0]?.id}`,
          data: { faults: faults.map(({ id }) => id) },
        },
      ]),
  };
}

function entryFromRow({ at, project, session, actor, type, key, data }: EntryRow): LedgerEntry {
  return { at, project, session, actor, type, key, data: parseJson(data) } as LedgerEntry;
}

async function findKeys(db: Kysely<Tables>, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await inSlices(keys, (some) =>
    db.selectFrom("ledger").select(readColumn("ledger", "key")).where("key", "in", some).execute(),
  );
  return new Set(rows.map(({ key }) => key));
}

// --- Writing ---

async function appendEntries(
  tx: Kysely<Tables>,
  entries: readonly LedgerEntry[],
  recorded_at: number,
  anchor: ChainAnchor,
): Promise<LedgerEntry[]> {
  const known = await findKeys(
    tx,
    entries.map(({ key }) => key),
  );
  const fresh = new Map(entries.filter(({ key }) => !known.has(key)).map((entry) => [entry.key, entry]));
  if (fresh.size === 0) return [];
  const newest = await readNewest(tx);
  const hasGoneBack = newest && newest.recorded_at > recorded_at + clockSlackMs;
  const added = [...(hasGoneBack ? [correctionEntry(recorded_at, newest)] : []), ...fresh.values()];
  let { n, link: prev } = newest ?? { n: 0, link: anchor.begin() };
  const salts = randomBytes(saltBytes * added.length);
  const rows = added.map((entry, at): LedgerRow => {
    const data = JSON.stringify(entry.data);
    const salt = salts.toString("base64url", at * saltBytes, (at + 1) * saltBytes);
    const row = { ...entry, data, salt, recorded_at, digest: digestData(data, salt), n: ++n, prev };
    prev = computeLink(row);
    return { ...row, link: prev };
  });
  await inSlices(rows, (some) => tx.insertInto("ledger").values(some).execute());
  return added;
}

async function readNewest(db: Kysely<Tables>) {
  const query = db.selectFrom("ledger").select(["n", "recorded_at", readColumn("ledger", "link")]);
  return query.orderBy("n", "desc").limit(1).executeTakeFirst();
}

// --- Times that a wrong clock wrote ---

/** The clock has gone back: nothing that was written before now can have happened after now. */
function correctionEntry(at: number, { n, recorded_at }: { n: number; recorded_at: number }): LedgerEntry {
  return {
    ...{ at, project: null, session: null, actor: "knack", type: "clock.corrected", key: `clock:${n}:${at}` },
    data: { was: recorded_at },
  };
}

type Correction = Pick<LedgerRow, "n" | "recorded_at">;

async function readCorrections(db: Kysely<Tables>): Promise<Correction[]> {
  const query = db.selectFrom("ledger").select(["n", "recorded_at"]).where("type", "=", "clock.corrected");
  return query.orderBy("n").execute();
}

/** Rows with times that are possible, in the order that these have; rows are as they were where no clock was wrong. */
function correctTimes(rows: EntryRow[], corrections: readonly Correction[]): EntryRow[] {
  if (corrections.length === 0) return rows;
  const correct = (row: EntryRow): EntryRow => {
    // One millisecond apart, so that they stay in the order in which they were written.
    const bounds = corrections
      .filter(({ n }) => n > row.n)
      .map(({ n, recorded_at }) => recorded_at - (n - row.n));
    return row.at === null ? row : { ...row, at: Math.min(row.at, ...bounds) };
  };
  return rows.map(correct).sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || compareText(a.key, b.key));
}

type MaskedEntry = EntryOf<"texts.masked">["data"]["entries"][number];

async function maskEntries(
  tx: Kysely<Tables>,
  sessions: readonly string[],
  mask: (text: string) => string,
): Promise<MaskedEntry[]> {
  const masked: MaskedEntry[] = [];
  for (const { n, key, data: was } of await selectRows(tx, "ledger", { where: "session", in: sessions })) {
    const data = maskJson(was, mask);
    if (data === was) continue;
    const salt = randomBytes(saltBytes).toString("base64url");
    await tx.updateTable("ledger").set({ data, salt }).where("n", "=", n).execute();
    masked.push({ key, digest: digestData(data, salt) });
  }
  return masked;
}

function maskEntry(entries: readonly MaskedEntry[], clock: Clock): LedgerEntry {
  return {
    ...{ at: clock.now(), project: null, session: null, actor: "knack", type: "texts.masked" },
    key: `masked:${entries[0]?.digest}`,
    data: { entries },
  };
}

/** JSON with every text in it masked, names as well as values. */
function maskJson(json: string, mask: (text: string) => string): string {
  return JSON.stringify(maskValue(parseJson(json), mask));
}

function maskValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((one) => maskValue(one, mask));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [mask(name), maskValue(one, mask)]));
}

// --- Looking whether it is as it was written ---

async function inspectLedger(tx: Kysely<Tables>, anchor: ChainAnchor): Promise<LedgerInspection> {
  const head = anchor.readHead();
  const masks = await selectRows(tx, "ledger", { where: "type", in: ["texts.masked"], orderBy: ["n"] });
  const masked = new Map(
    masks
      .flatMap(({ data }) => (parseJson(data) as EntryOf<"texts.masked">["data"]).entries)
      .map(({ key, digest }) => [key, digest]),
  );
  const links = await tx
    .selectFrom("ledger")
    .select(["n", readColumn("ledger", "link")])
    .execute();
  const known = new Set(links.map(({ link }) => link));
  const inspector = new ChainInspector(masked, (link) => known.has(link));
  // Also entries that somebody put before the first.
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await readAfter(tx, after);
    for (const row of rows) inspector.inspect(row);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.n;
  }
  const newest = await readNewest(tx);
  const [first] = await readAfter(tx, 0, 1);
  const at = newest?.recorded_at ?? null;
  const atHead = links.find(({ n }) => n === head?.entries)?.link ?? null;
  const nowLost = head && findLost(head, { entries: newest?.n ?? 0, at, link: atHead });
  const lost = [...(head?.lost ?? []), ...(nowLost ? [nowLost] : [])].map(describeLost);
  const faults = [...inspector.faults, ...lost];
  const accepted = await readAccepted(tx);
  const open = faults.filter(({ id }) => !accepted.has(id));
  return {
    ...{ entries: links.length, from: first?.recorded_at ?? null, to: at, masked: masked.size },
    before: first?.n === 1 ? readBefore(first.prev) : null,
    faults: open,
    accepted: faults.length - open.length,
  };
}

async function readAfter(tx: Kysely<Tables>, n: number, most = inspectedAtOnce): Promise<LedgerRow[]> {
  const numbers = await tx
    .selectFrom("ledger")
    .select("n")
    .where("n", ">", n)
    .orderBy("n")
    .limit(most)
    .execute();
  const wanted = numbers.map((one) => one.n);
  return wanted.length === 0 ? [] : selectRows(tx, "ledger", { where: "n", in: wanted, orderBy: ["n"] });
}

async function readAccepted(tx: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const rows = await selectRows(tx, "ledger", { where: "type", in: ["ledger.accepted"] });
  return new Set(rows.flatMap(({ data }) => (parseJson(data) as EntryOf<"ledger.accepted">["data"]).faults));
}

/** The ledger that was here before this one, from the text that the first entry is linked to. */
function readBefore(begin: string): LedgerInspection["before"] {
  try {
    return JSON.parse(begin).after ?? null;
  } catch {
    return null;
  }
}

type ChainedRow = Pick<
  LedgerRow,
  "n" | "at" | "project" | "session" | "actor" | "type" | "key" | "recorded_at" | "digest" | "prev"
>;

// --- The chain of entries ---

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
type LostEntries = Pick<LedgerHead, "entries" | "link" | "at"> & {
  readonly left: number;
  readonly leftAt: number | null;
};

/** A place where the ledger is not as it was written. */
export interface ChainFault {
  /** By which it is known again once a person has accepted it. */
  readonly id: string;
  readonly kind: "changed" | "removed" | "moved" | "lost" | "headless";
  /** How many entries, at least; of a head that was removed, none is known. */
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
function digestData(data: string, salt: string): string {
  return hash(`${salt} ${data}`);
}

/** An entry's link: it covers the link before, the entry, and its data by digest only. */
function computeLink(row: ChainedRow): string {
  const { prev, at, project, session, actor, type, key, recorded_at, digest } = row;
  return hash(JSON.stringify([prev, at, project, session, actor, type, key, recorded_at, digest]));
}

/** Looks through a ledger, entry by entry in the order of writing, for what is not as it was written. */
class ChainInspector {
  readonly faults: ChainFault[] = [];
  private last: LedgerRow | null = null;
  /** The digests that masked data must have, by the entries' keys. */
  private readonly masked: ReadonlyMap<string, string>;
  private readonly isLink: (link: string) => boolean;

  constructor(masked: ReadonlyMap<string, string>, isLink: (link: string) => boolean) {
    this.masked = masked;
    this.isLink = isLink;
  }

  inspect(row: LedgerRow): void {
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

  private hasItsData({ key, data, salt, digest }: LedgerRow): boolean {
    const is = digestData(data, salt);
    return is === digest || is === this.masked.get(key);
  }

  private report(kind: ChainFault["kind"], row: LedgerRow, entries: number): void {
    const id = `${kind} ${row.n} ${hash(`${row.link} ${digestData(row.data, row.salt)}`)}`;
    const which = `${row.type} ${row.key}`;
    const before = kind === "removed" ? row.recorded_at : null;
    const after = kind === "removed" ? (this.last?.recorded_at ?? null) : row.recorded_at;
    this.faults.push({ id, kind, entries, which, after, before });
  }
}

/** The loss of a ledger that had this head; null if it still has it. `link` is that of its entry with the head's number. */
export function findLost(
  head: Pick<LedgerHead, "entries" | "link" | "at">,
  now: { readonly entries: number; readonly at: number | null; readonly link: string | null },
): LostEntries | null {
  if (now.link === head.link) return null;
  const { entries, link, at } = head;
  return { entries, link, at, left: now.entries, leftAt: now.at };
}

/** In the place of a link, where the head itself was gone. */
export const removedHead = "";

/** Lost entries as a fault. */
function describeLost({ entries, link, at, left, leftAt }: LostEntries): ChainFault {
  if (link === removedHead)
    return {
      id: `headless ${entries} ${at}`,
      kind: "headless",
      entries: 0,
      which: null,
      after: at,
      before: null,
    };
  const missing = Math.max(1, entries - left);
  return { id: `lost ${link}`, kind: "lost", entries: missing, which: null, after: leftAt, before: at };
}
