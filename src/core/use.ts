import { runsOf } from "./command.ts";
import type { Event } from "./event.ts";
import type { Calls } from "./failure.ts";
import { failsUnseen, readCalls } from "./recovery.ts";
import { useOf } from "./run.ts";

/** How often a call was made in a session, and how it went: later sessions tell whether advice holds. */
export interface Use {
  /** The program, and all that tells one call of it from another: subcommand, flags, variables, wrappers. */
  readonly head: string;
  readonly parts: readonly string[];
  /** When it was first made. */
  readonly at: number | null;
  readonly ok: number;
  readonly failed: number;
}

/** The calls of a session, each kind once. */
export function usesOf(events: readonly Event[], calls: Calls = readCalls()): Use[] {
  const uses = new Map<
    string,
    { head: string; parts: string[]; at: number | null; ok: number; failed: number }
  >();
  for (const event of events) {
    const { command, at } = event;
    const outcome = failsUnseen(event, calls) ? "failed" : event.outcome;
    if (command === null || (outcome !== "ok" && outcome !== "failed")) continue;
    for (const run of calls.runs(event)) {
      const [head, ...rest] = useOf(run);
      if (head === undefined) continue;
      const parts = [...new Set(rest)].sort();
      const key = [head, ...parts].join(" ");
      const use = uses.get(key) ?? { head, parts, at, ok: 0, failed: 0 };
      use[outcome]++;
      uses.set(key, use);
    }
  }
  return [...uses.values()];
}

/** Whether a use is one of the call that a lesson recommends: it has all its parts. */
export function isUseOf(
  { head, parts }: Pick<Use, "head" | "parts">,
  [program, ...needed]: readonly string[],
): boolean {
  return head === program && needed.every((part) => parts.includes(part));
}

/** Whether the call that a lesson recommends was what came next after a time, and worked: before anything else failed. */
export function workedNext(events: readonly Event[], call: readonly string[], after: number): boolean {
  for (const event of events) {
    if (event.command === null || event.at === null || event.at < after) continue;
    const isOk = event.outcome === "ok" && !failsUnseen(event);
    if (callsIn(event.command).some((use) => isUseOf(use, call))) return isOk;
    if (!isOk) return false;
  }
  return false;
}

function callsIn(command: string): Pick<Use, "head" | "parts">[] {
  return runsOf(command).flatMap((run) => {
    const [head, ...parts] = useOf(run);
    return head === undefined ? [] : [{ head, parts }];
  });
}
