import { isOfTheWork } from "./cause.ts";
import type { Event } from "./event.ts";
import type { Calls } from "./failure.ts";
import { idOf } from "./ids.ts";
import { policy } from "./policy.ts";
import { failuresIn, readCalls, subjectOf } from "./recovery.ts";

/** A session in numbers. */
export interface Measured {
  /** The agent's session. */
  readonly run: string;
  /** How much of it was there: of two measurements of a session the longer one holds. */
  readonly events: number;
  readonly startedAt: number;
  /** Each prompt: when it was given, and the calls that were made for it. */
  readonly turns: readonly (readonly [at: number, calls: number])[];
  /** What the prompts that are not listed any more come to, some at a time: when the last was given, how many, and their calls. */
  readonly beyond?: readonly (readonly [at: number, turns: number, calls: number])[];
  /** When the person corrected the agent. */
  readonly corrections: readonly number[];
  /** What failed, and when; the same trouble has the same name in every session. Failing tests and the like are the work itself. */
  readonly failures: readonly (readonly [name: string, at: number])[];
}

/** A session in numbers, from its events and from when it was corrected. */
export function measure(
  events: readonly Event[],
  { run, startedAt, corrections }: Pick<Measured, "run" | "startedAt" | "corrections">,
  calls: Calls = readCalls(),
): Measured {
  const turns: [number, number][] = [];
  let at = startedAt;
  for (const event of events) {
    at = event.at ?? at;
    const last = turns.at(-1);
    if (event.kind === "prompt") turns.push([at, 0]);
    else if (event.kind === "call" && last) last[1]++;
  }
  const failures = failuresIn(events, calls)
    .filter(({ complaint }) => !isOfTheWork(complaint.cause))
    .map((failure) => {
      const { failed, complaint } = failure;
      return [idOf("f", `${subjectOf(failure)} ${complaint.signature}`), failed.at ?? startedAt] as const;
    });
  const beyond = turns.slice(policy.credit.turns);
  return {
    run,
    events: events.length,
    startedAt,
    turns: turns.slice(0, policy.credit.turns),
    ...(beyond.length > 0 ? { beyond: summed(beyond) } : {}),
    corrections,
    failures: failures.slice(0, policy.credit.failures),
  };
}

/** Prompts in groups, each as one sum. */
function summed(turns: readonly (readonly [at: number, calls: number])[]) {
  const { turnsTogether } = policy.credit;
  return Array.from({ length: Math.ceil(turns.length / turnsTogether) }, (_, n) => {
    const group = turns.slice(n * turnsTogether, (n + 1) * turnsTogether);
    const calls = group.reduce((sum, [, count]) => sum + count, 0);
    return [group.at(-1)?.[0] ?? 0, group.length, calls] as const;
  });
}

/** What is compared of a session, each between 0 and 1. */
export interface Figures {
  /** Whether something failed again that an earlier session of the project had met, or this one before the moment. */
  readonly failedAgain: number;
  /** Corrections for each prompt. */
  readonly corrections: number;
  /** Calls for each prompt, as a share of the most that are told apart. */
  readonly calls: number;
}

/** What a session came to from a moment on, the turn it lies in included; null where nobody asked for anything. */
export function figuresOf(
  { turns, corrections, failures }: Measured,
  from: number,
  metBefore: (failure: string) => boolean,
): Figures | null {
  const first = turns.findLastIndex(([at]) => at <= from);
  const rest = turns.slice(Math.max(0, first));
  if (rest.length === 0) return null;
  const met = new Set(failures.flatMap(([name, at]) => (at <= from ? name : [])));
  const calls = rest.reduce((sum, [, count]) => sum + count, 0) / rest.length;
  return {
    failedAgain: failures.some(([name, at]) => at > from && (met.has(name) || metBefore(name))) ? 1 : 0,
    corrections: Math.min(1, corrections.filter((at) => at > from).length / rest.length),
    calls: Math.min(1, calls / policy.report.callsPerPrompt),
  };
}
