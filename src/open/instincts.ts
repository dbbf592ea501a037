import type { Decision, Instinct } from "../core/instinct.ts";
import type { Shared } from "../core/promote.ts";
import type { Question } from "../core/question.ts";
import { homeIn, type Match } from "../core/recall.ts";
import { type Backtest, type BacktestOptions, backtest } from "../engine/backtest.ts";
import { creditUntold } from "../engine/credit.ts";
import { evidenceOf, type InstinctEvidence } from "../engine/evidence.ts";
import type { IngestOptions } from "../engine/ingest.ts";
import type { SessionView } from "../engine/inspect.ts";
import { decide } from "../engine/keep.ts";
import { type Learned, type LearnOptions, learn } from "../engine/learn.ts";
import { demoteByHand, promoteByHand, promoteDue, sharedBy, sharedLessons } from "../engine/promote.ts";
import { prunable, prune, unprune } from "../engine/prune.ts";
import { recall } from "../engine/recall.ts";
import { settingsFor } from "../settings.ts";
import { openScratch } from "../store/sqlite.ts";
import type { ForegroundVerbs } from "./foreground.ts";
import type { Parts } from "./parts.ts";
import type { SessionVerbs } from "./sessions.ts";
import type { ShowingVerbs } from "./showing.ts";

/** What sessions teach: instincts, and what is known when it is asked for. */
export interface InstinctVerbs {
  /** Reads the same as `sessions` and keeps what is worth keeping as instincts; no skill or rule is written. */
  learn(
    paths?: readonly string[],
    options?: IngestOptions &
      Pick<LearnOptions, "fewestEvents"> & {
        onLook?: LearnOptions["onProgress"];
        lookUntil?: LearnOptions["until"];
        /** Also sessions in which nothing is new. */
        again?: boolean;
      },
  ): Promise<Learned>;
  /** When something was last learned; null when nothing was. */
  learnedAt(): Promise<number | null>;
  /** Everything learned, the surest first. */
  instincts(): Promise<Instinct[]>;
  /** What speaks for an instinct, and what was seen of the use of its advice, for and against. */
  evidence(instinct: Instinct): Promise<InstinctEvidence>;
  /** Notes what a person decided about a lesson, without writing anything else. */
  decide(instinct: string, decision: Decision): Promise<void>;
  /** What is known about a failure, a call or a text, asked in this folder. */
  recall(question: Question, cwd?: string): Promise<Match[]>;
  /** What a history of sessions would have gained from what it teaches; nothing of it is kept. */
  backtest(
    sessions: readonly SessionView[],
    options?: Pick<BacktestOptions, "onProgress" | "until" | "stop">,
  ): Promise<Backtest>;
  /** The lessons that several projects have, and what becomes of each. */
  sharedLessons(): Promise<Shared[]>;
  /** What one instinct shares with others. */
  sharedBy(instinct: Instinct): Promise<Shared>;
  /** Has a lesson told in all projects because a person says so, or no longer. */
  promote(shared: Shared, lesson: Instinct): Promise<void>;
  demote(lesson: Instinct): Promise<void>;
  /** Pending instincts that nothing came of within so many days. */
  prunable(days: number): Promise<Instinct[]>;
  /** Retires them, and answers with them. */
  prune(days: number): Promise<Instinct[]>;
  /** Brings back what was retired in the latest go. */
  unprune(): Promise<Instinct[]>;
}

export function instinctVerbs(
  parts: Parts,
  { sessions: read, credit, deriveSignals }: SessionVerbs & ShowingVerbs & ForegroundVerbs,
): InstinctVerbs {
  const { home, store, clock, publishing, isRefused } = parts;
  return {
    learn: async (paths, { onLook, lookUntil, fewestEvents, again = false, ...options } = {}) => {
      // A file that may say "off" is read before anything else.
      settingsFor(home, null);
      const { observer } = parts.observing();
      const { sessions, unread } = await read(paths, options);
      const stop = lookUntil ? { until: lookUntil } : {};
      const library = once(parts.stock.whole);
      const before = await store.learning.instincts.mark();
      const fresh: SessionView[] = [];
      const learned = await learn(parts, sessions, {
        refuses: isRefused,
        onNoted: async (seen) => {
          fresh.push(...seen.map(({ session }) => session));
          await creditUntold(store, seen, { library, refuses: isRefused, ...stop });
        },
        fewestEvents,
        observer,
        // Who asks for files of what would be sent wants those of sessions that rules have looked at, too.
        again: again ? "all" : parts.isReplayed ? "unjudged" : "none",
        ...(onLook ? { onProgress: onLook } : {}),
        ...stop,
      });
      // Comparing projects is for when one of them has something new.
      const isNews = learned.looked > 0 && (await store.learning.instincts.mark()) !== before;
      const shared = isNews ? await promoteDue(publishing) : [];
      const promoted = shared.flatMap(({ lesson: { id, name }, verdict }) =>
        verdict.do === "promote" ? { id, name } : [],
      );
      const { left } = await credit(sessions, stop);
      await deriveSignals(fresh);
      return { ...learned, promoted, uncredited: left, unread };
    },
    learnedAt: () => store.ledger.lastNoted("session.learned"),
    instincts: () => store.learning.instincts.list(),
    evidence: (instinct) => evidenceOf(store, instinct),
    decide: async (instinct, decision) => {
      await decide(publishing, instinct, decision);
      // What is refused in one project is not told in the others.
      await promoteDue(publishing);
    },
    recall: async (question, cwd = process.cwd()) => {
      const { id: project } = await parts.projectAt(cwd);
      return recall(store, question, { project, home: homeIn(cwd), unasked: false, now: clock.now() });
    },
    backtest: async (sessions, options) => {
      const scratch = await openScratch(clock);
      try {
        return await backtest({ ...parts, scratch }, sessions, { refuses: isRefused, ...options });
      } finally {
        await scratch.close();
      }
    },
    sharedLessons: () => sharedLessons(publishing, { all: true }),
    sharedBy: (instinct) => sharedBy(publishing, instinct),
    promote: (shared, lesson) => promoteByHand(publishing, shared, lesson),
    demote: (lesson) => demoteByHand(publishing, lesson),
    prunable: (days) => prunable(publishing, days),
    prune: (days) => prune(publishing, { days, actor: "person" }),
    unprune: () => unprune(publishing),
  };
}

/** Asks once, however often the answer is wanted. */
function once<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | null = null;
  return () => {
    answer ??= ask();
    return answer;
  };
}
