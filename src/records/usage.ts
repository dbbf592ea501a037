import type { SessionId } from "./session.ts";

export type UseVerdict = "helpful" | "harmful";

/** How often a call was made in a session, and how it went: later sessions tell whether advice holds. */
export interface CallUse {
  /** The program, and all that tells one call of it from another: subcommand, flags, variables, wrappers. */
  readonly head: string;
  readonly parts: readonly string[];
  /** When it was first made. */
  readonly at: number | null;
  readonly ok: number;
  readonly failed: number;
}

/** Whether a use is one of the call that a lesson recommends: it has all its parts. */
export function isUse(
  { head, parts }: Pick<CallUse, "head" | "parts">,
  [program, ...needed]: readonly string[],
): boolean {
  return head === program && needed.every((part) => parts.includes(part));
}

/** A session in numbers. */
export interface SessionMeasurement {
  /** The agent's session. */
  readonly run: SessionId;
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
