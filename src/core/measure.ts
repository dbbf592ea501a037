import { isOfTheWork } from "./cause.ts";
import type { Event } from "./event.ts";
import { idOf } from "./ids.ts";
import { policy } from "./policy.ts";
import { recoveriesIn, subjectOf } from "./recovery.ts";

/** A session in numbers. */
export interface Measured {
  /** The agent's session. */
  readonly run: string;
  /** How much of it was there: of two measurements of a session the longer one holds. */
  readonly events: number;
  readonly startedAt: number;
  /** Each prompt: when it was given, and the calls that were made for it. */
  readonly turns: readonly (readonly [at: number, calls: number])[];
  /** When the person corrected the agent. */
  readonly corrections: readonly number[];
  /** What failed, and when; the same trouble has the same name in every session. Failing tests and the like are the work itself. */
  readonly failures: readonly (readonly [name: string, at: number])[];
}

/** A session in numbers, from its events and from when it was corrected. */
export function measure(
  events: readonly Event[],
  { run, startedAt, corrections }: Pick<Measured, "run" | "startedAt" | "corrections">,
): Measured {
  const turns: [number, number][] = [];
  let at = startedAt;
  for (const event of events) {
    at = event.at ?? at;
    const last = turns.at(-1);
    if (event.kind === "prompt") turns.push([at, 0]);
    else if (event.kind === "call" && last) last[1]++;
  }
  const failures = recoveriesIn(events)
    .filter(({ complaint }) => !isOfTheWork(complaint.cause))
    .map((recovery) => {
      const { failed, complaint } = recovery;
      return [idOf("f", `${subjectOf(recovery)} ${complaint.signature}`), failed.at ?? startedAt] as const;
    });
  return {
    run,
    events: events.length,
    startedAt,
    turns: turns.slice(0, policy.credit.turns),
    corrections,
    failures: failures.slice(0, policy.credit.failures),
  };
}
