import { loadEvidence, promoteDue } from "../lessons/index.ts";
import type { Lesson } from "../records/index.ts";
import { type Home, resolveSettings } from "../settings/index.ts";
import type { FoundFile, IngestDeps, IngestOptions, SessionView } from "../transcripts/index.ts";
import { type ObserverSource, readModelState } from "./choose-observer.ts";
import type { LearnConsent } from "./consent.ts";
import { checkCaptured } from "./due.ts";
import { type Learned, type LearnOptions, learn, type ReadSession } from "./learn.ts";

interface LearningDeps extends IngestDeps, LearnConsent {
  readonly home: Home;
  readonly observers: ObserverSource;
  readonly sessions: (
    paths?: readonly string[],
    options?: IngestOptions,
  ) => Promise<{ sessions: SessionView[]; unread: number }>;
  readonly agentTranscripts: () => Promise<readonly FoundFile[]>;
}

/** What is done with sessions once they were learned from. */
export interface AfterLearning {
  /** Returns what records how sessions that were just looked at did with what they used. */
  creditSeen(options: Pick<LearnOptions, "until">): (seen: readonly ReadSession[]) => Promise<void>;
  /** Records what sessions used; returns how many were left for another time. */
  credit(sessions: readonly SessionView[], options: Pick<LearnOptions, "until">): Promise<{ left: number }>;
  deriveSignals(sessions: readonly SessionView[]): Promise<unknown>;
}

type LearnVerbOptions = IngestOptions &
  Pick<LearnOptions, "fewestEvents"> & {
    readonly onLook?: LearnOptions["onProgress"];
    readonly lookUntil?: LearnOptions["until"];
    /** Also sessions in which nothing is new. */
    readonly again?: boolean;
  };

/** What sessions teach. */
export function openLearning(deps: LearningDeps, after: AfterLearning) {
  const { store, clock, observers, isRefused } = deps;
  return {
    /** Reads the same as `sessions` and keeps what is worth keeping as lessons; no skill or rule is written. */
    learn: (paths?: readonly string[], options?: LearnVerbOptions) =>
      learnSessions(deps, after, paths, options),
    /** When something was last learned; null when nothing was. */
    learnedAt: () => store.ledger.lastNoted("session.learned"),
    /** Everything learned, the surest first. */
    lessons: () => store.learning.lessons.list(),
    /** What speaks for a lesson, and what was seen of the use of its advice, for and against. */
    evidence: (lesson: Lesson) => loadEvidence(store, lesson),
    /** The agents' transcripts, and what of them was read and looked through. */
    captured: async () => checkCaptured(store, await deps.agentTranscripts(), isRefused),
    /** Who looks at sessions, and what models cost. */
    model: () => readModelState(store, observers.choose(), clock.now()),
    requestsWritten: observers.requestsWritten,
    /** US dollars that models cost since a time. */
    modelUsd: async (since: number) =>
      (await store.ledger.since("model.called", since)).reduce((sum, { data }) => sum + data.usd, 0),
    /** What models thought of sessions, each session's latest judgement, the latest first. */
    judged: async () => {
      const entries = await store.ledger.since("session.judged", 0);
      const latest = new Map(entries.map(({ session, data }) => [session ?? "", data]));
      return [...latest].map(([session, data]) => ({ ...data, session })).reverse();
    },
  };
}

async function learnSessions(
  deps: LearningDeps,
  after: AfterLearning,
  paths: readonly string[] | undefined,
  { onLook, lookUntil, fewestEvents, again = false, ...options }: LearnVerbOptions = {},
): Promise<Learned> {
  const { home, store, observers, isRefused } = deps;
  // A settings file that may say "off" is read before anything else.
  resolveSettings(home, null);
  const { observer } = observers.choose();
  const { sessions, unread } = await deps.sessions(paths, options);
  const stop = lookUntil ? { until: lookUntil } : {};
  const before = await store.learning.lessons.mark();
  const fresh: SessionView[] = [];
  const creditSeen = after.creditSeen(stop);
  const learned = await learn(deps, sessions, {
    refuses: isRefused,
    onNoted: async (seen) => {
      fresh.push(...seen.map(({ session }) => session));
      await creditSeen(seen);
    },
    fewestEvents,
    observer,
    // Whoever asks for requests as files wants those of sessions that rules have looked at, too.
    again: again ? "all" : observers.usesFiles ? "unjudged" : "none",
    ...(onLook ? { onProgress: onLook } : {}),
    ...stop,
  });
  // Projects are compared only when one of them has something new.
  const isNews = learned.looked > 0 && (await store.learning.lessons.mark()) !== before;
  const shared = isNews ? await promoteDue(deps) : [];
  const promoted = shared.flatMap(({ lesson: { id, name }, verdict }) =>
    verdict.do === "promote" ? { id, name } : [],
  );
  const { left } = await after.credit(sessions, stop);
  await after.deriveSignals(fresh);
  return { ...learned, promoted, uncredited: left, unread };
}
