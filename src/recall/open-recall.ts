import type { Clock } from "../base/index.ts";
import type { LearnConsent, LearnOptions, ReadSession } from "../learning/index.ts";
import type { Question } from "../lessons/index.ts";
import type { EntryOf, Item, Project } from "../records/index.ts";
import { type Home, recallSettings } from "../settings/index.ts";
import { openScratch, type Store } from "../store/index.ts";
import type { IngestDeps, SessionView } from "../transcripts/index.ts";
import { type BacktestOptions, backtest } from "./backtest.ts";
import { creditSessions, creditUntold, type Rated, recordRating } from "./credit.ts";
import { type HookNote, recordNotes } from "./hook-notes.ts";
import { findHome, recall } from "./recall.ts";
import { type ReportOptions, report, tallyShown } from "./report.ts";
import { inspectSnapshot, renewSnapshot, type SnapshotDeps } from "./snapshot.ts";
import { openSnapshotFile } from "./snapshot-file.ts";

interface RecallDeps extends IngestDeps, LearnConsent {
  readonly home: Home;
  readonly store: Store;
  readonly clock: Clock;
  readonly published: SnapshotDeps["published"];
  readonly projectAt: (cwd: string) => Promise<Project>;
  readonly items: () => Promise<readonly Item[]>;
  readonly readLibrary: () => Promise<{ readonly items: readonly Item[]; readonly whole: boolean }>;
  readonly updateIndex: () => Promise<unknown>;
}

/** What is shown to agents, and what becomes of it. */
export function openRecall(deps: RecallDeps) {
  const { home, store, clock, isRefused } = deps;
  const file = openSnapshotFile(home.snapshot);
  return {
    /** What is known about a failure, a call or a text, asked in this folder. */
    recall: async (question: Question, cwd = process.cwd()) => {
      const { id: project } = await deps.projectAt(cwd);
      return recall(store, question, { project, home: findHome(cwd), unasked: false, now: clock.now() });
    },
    /** What a history of sessions would have gained from what it teaches; nothing of it is kept. */
    backtest: async (
      sessions: readonly SessionView[],
      options?: Pick<BacktestOptions, "onProgress" | "until" | "stop">,
    ) => {
      const scratch = await openScratch(clock);
      try {
        return await backtest({ ...deps, scratch }, sessions, { refuses: isRefused, ...options });
      } finally {
        await scratch.close();
      }
    },
    /** Rebuilds the snapshot that the hooks read; false when nothing has changed. */
    renewSnapshot: async () => {
      await deps.updateIndex();
      return renewSnapshot({ store, clock, file, published: deps.published }, recallSettings(home));
    },
    /** The state of that snapshot, and whether it says what is known. */
    snapshot: async () => inspectSnapshot({ store, file }, recallSettings(home)),
    /** How often a match is held back, at random. */
    holdout: async () => recallSettings(home).holdout,
    /** Records what the hooks say was shown and asked. */
    hear: (notes: readonly HookNote[]) => recordNotes(store, notes),
    /** What agents were shown since a time, in its order. */
    shown: (since: number): Promise<EntryOf<"lesson.shown">[]> => store.ledger.since("lesson.shown", since),
    /** What agents were shown since a time, added up, with what came of it. */
    tally: (since: number) => tallyShown(store, since),
    /** Records what sessions used of the library, and of what they were shown, and how that went. */
    credit: (sessions: readonly SessionView[], options?: Pick<LearnOptions, "until">) =>
      creditSessions(store, sessions, { library: deps.readLibrary, refuses: isRefused, ...options }),
    /** Records the same while sessions are being learned from; reads the library once. */
    creditSeen: (options: Pick<LearnOptions, "until">) => {
      let read: ReturnType<typeof deps.readLibrary> | null = null;
      const library = () => {
        read ??= deps.readLibrary();
        return read;
      };
      return (seen: readonly ReadSession[]) =>
        creditUntold(store, seen, { library, refuses: isRefused, ...options });
    },
    /** Records what a person or an agent says that something was worth. */
    rate: (rating: Rated) => recordRating({ store, clock }, rating),
    /** What showing things was worth since a time. */
    report: async (since: number, compares: ReportOptions["compares"] = () => false) =>
      report(store, { since, items: await deps.items(), compares }),
  };
}
