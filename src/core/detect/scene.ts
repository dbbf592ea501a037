import type { Event } from "../event.ts";
import type { Calls } from "../failure.ts";
import { policy } from "../policy.ts";
import { type Recovery, readCalls, recoveriesIn } from "../recovery.ts";
import { type Deed, deedsOf } from "./deeds.ts";
import { type Turn, turnsOf } from "./turns.ts";
import { judge, type Verdict } from "./verdict.ts";

/** A session as detectors see it: its events, what failed and was overcome, what was done, and what its people's words amount to. */
export interface Scene {
  readonly events: readonly Event[];
  readonly recoveries: readonly Recovery[];
  readonly deeds: readonly Deed[];
  readonly verdicts: readonly { readonly turn: Turn; readonly verdict: Verdict }[];
  readonly breadth: Breadth;
}

/** How little is enough to be let through. */
export interface Breadth {
  readonly recoveryConfidence: number;
  readonly recoveriesAtLeast: number;
  readonly recoveriesPerRootOfCalls: number;
  readonly lessonsAtLeast: number;
  readonly lessonsPerRootOfTurns: number;
  readonly peculiar: number;
  /** What everybody does may be noted, so often in a session. */
  readonly plain: number;
  readonly bar: Readonly<Record<"instruction" | "lesson" | "convention" | "question", number>>;
}

const usual: Breadth = { ...policy.detect, ...policy.detect.speech, ...policy.detect.repetition };

/** Worked out once, because several detectors look at the same. */
export function sceneOf(
  events: readonly Event[],
  calls: Calls = readCalls(),
  breadth: Breadth = usual,
): Scene {
  const recoveries = recoveriesIn(events, calls);
  return {
    events,
    recoveries,
    deeds: deedsOf(events, recoveries, calls),
    verdicts: surest(turnsOf(events), breadth),
    breadth,
  };
}

/** People who talk much teach more, but not in proportion: of many turns only the surest count. */
function surest(
  turns: readonly Turn[],
  { lessonsAtLeast, lessonsPerRootOfTurns, bar }: Breadth,
): Scene["verdicts"] {
  const most = Math.round(lessonsAtLeast + lessonsPerRootOfTurns * Math.sqrt(turns.length));
  return turns
    .flatMap((turn) => {
      const verdict = judge(turn, bar);
      return verdict ? [{ turn, verdict }] : [];
    })
    .sort((a, b) => b.verdict.confidence - a.verdict.confidence)
    .slice(0, most);
}
