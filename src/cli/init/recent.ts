import { KnackError } from "../../base/index.ts";
import { renderRule } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import type { AnyCall } from "../command.ts";
import { computeFigures } from "../commands/backtest.ts";
import { judgeAloud, learnAloud } from "../commands/learn.ts";
import { withKnack } from "../knack.ts";
import { describeWhere } from "../screen/lesson.ts";
import { showCounting, showReading } from "../screen/screen.ts";
import { oneLine } from "../screen/text.ts";

/** Seconds that a newcomer waits at most for their own figures. */
const seconds = { read: 12, replay: 20, end: 25 };

/** The failures of recent sessions, and how many of them had a known fix. */
export type History = Omit<Awaited<ReturnType<typeof replayRecent>>, "oldest">;

/** Replays sessions in a database that is thrown away. */
export async function replayRecent(call: AnyCall, paths: readonly string[]) {
  const started = Date.now();
  const box = (part: keyof typeof seconds) => () => Date.now() - started > seconds[part] * 1_000;
  return withKnack(
    call,
    async (knack) => {
      const reading = showReading();
      const read = await knack
        .sessions(paths, { onProgress: reading.report, until: box("read") })
        .finally(reading.end);
      const replaying = showCounting("Replaying sessions");
      const limits = { until: box("replay"), stop: box("end"), onProgress: replaying.report };
      const replayed = await knack.backtest(read.sessions, limits).finally(replaying.end);
      const { failures, repeats, answered } = computeFigures(replayed);
      const sessions = read.sessions.length;
      const oldest = Math.min(...read.sessions.map(({ startedAt }) => startedAt ?? 0));
      return { sessions, oldest, failures, repeats, answered, unread: read.unread };
    },
    { dryRun: true, blank: true, reads: true },
  );
}

/** The result of learning from recent sessions; lessons are those to decide about, the best first. */
export interface LearnedRecently {
  readonly sessions: number;
  readonly findings: number;
  readonly unread: number;
  readonly lessons: number;
  readonly best: readonly {
    readonly name: string;
    readonly says: string;
    readonly sessions: number;
    readonly where: string;
  }[];
}

/** Lessons that are shown. */
const shownLessons = 3;

/** Learns from sessions for `knack init`; a failure is reported and does not stop the setup. */
export async function learnRecently(
  call: AnyCall,
  paths: readonly string[],
): Promise<LearnedRecently | null> {
  const learnNow = async (knack: Knack): Promise<LearnedRecently> => {
    const { sessions, findings, unread } = await judgeAloud(
      call,
      knack,
      paths,
      await learnAloud(knack, paths),
    );
    await knack.publishOwn({ sessions });
    const { suggestions } = await knack.suggest({ most: Number.POSITIVE_INFINITY });
    const best = suggestions.slice(0, shownLessons).map(({ lesson, project }) => ({
      name: lesson.name,
      says: oneLine(renderRule(lesson), 200),
      sessions: lesson.state.sessions,
      where: describeWhere({ lesson, project }),
    }));
    return {
      sessions: sessions.length,
      findings: findings.length,
      unread,
      lessons: suggestions.length,
      best,
    };
  };
  try {
    return await withKnack(call, learnNow, { create: true, reads: true, changes: true });
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    call.screen.warn([`Learning failed: ${error.message}`, error.hint && `  ${error.hint}`]);
    return null;
  }
}
