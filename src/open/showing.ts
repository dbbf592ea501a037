import type { EntryOf } from "../core/ledger.ts";
import { type Credited, credit, type Rated, rate } from "../engine/credit.ts";
import { hear, type Word } from "../engine/hear.ts";
import type { SessionView } from "../engine/inspect.ts";
import type { LearnOptions } from "../engine/learn.ts";
import { type Moved, probation } from "../engine/probation.ts";
import { type Report, type ReportOptions, report } from "../engine/report.ts";
import { inspect, renew, type SnapshotState } from "../engine/snapshot.ts";
import { type Tally, tally } from "../engine/tally.ts";
import { tellingOf } from "../settings.ts";
import { snapshotAt } from "../store/snapshot-file.ts";
import type { LibraryVerbs } from "./library.ts";
import type { Parts } from "./parts.ts";

/** What is shown to agents, and what becomes of it. */
export interface ShowingVerbs {
  /** Renews what the hooks look things up in; false when nothing has changed. */
  renewSnapshot(): Promise<boolean>;
  /** What is in the place of that, and whether it says what is known. */
  snapshot(): Promise<SnapshotState>;
  /** How often a match is held back, at random. */
  holdout(): Promise<number>;
  /** Takes on what the hooks say was shown and asked. */
  hear(notes: readonly Word[]): Promise<void>;
  /** What agents were told since a time, in its order. */
  shown(since: number): Promise<EntryOf<"lesson.shown">[]>;
  /** The same added up, with what came of it. */
  tally(since: number): Promise<Tally>;
  /** Notes what sessions used of the library, and of what they were told, and how that went. */
  credit(sessions: readonly SessionView[], options?: Pick<LearnOptions, "until">): Promise<Credited>;
  /** Notes what a person or an agent says that something was worth. */
  rate(rating: Rated): ReturnType<typeof rate>;
  /** Lets drafts that did well go live, and takes back those that then did harm. */
  probation(): Promise<Moved[]>;
  /** What showing things was worth since a time. */
  report(since: number, compares?: ReportOptions["compares"]): Promise<Report>;
}

export function showingVerbs(
  { home, store, clock, stock, publishing, refuses, isRefused }: Parts,
  { roomFor }: LibraryVerbs,
): ShowingVerbs {
  const file = snapshotAt(home.snapshot);
  return {
    renewSnapshot: async () => {
      await stock.restockAt();
      return renew({ ...publishing, file }, tellingOf(home));
    },
    snapshot: async () => inspect({ store, file }, tellingOf(home)),
    holdout: async () => tellingOf(home).holdout,
    hear: (notes) => hear(store, notes),
    shown: (since) => store.ledger.since("lesson.shown", since),
    tally: (since) => tally(store, since),
    credit: (sessions, options) =>
      credit(store, sessions, { library: stock.whole, refuses: isRefused, ...options }),
    rate: (rating) => rate({ store, clock }, rating),
    probation: async () => probation(publishing, { items: await stock.items(), refuses, roomFor }),
    report: async (since, compares = () => false) =>
      report(store, { since, items: await stock.items(), compares }),
  };
}
