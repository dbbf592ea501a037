import { answersNo } from "./command.ts";
import type { Outcome } from "./event.ts";

/** Ended by an interrupt or by kill. */
const stopped = new Set([130, 143]);

/**
 * What an exit code says about a command: non-zero is a failure, unless the command merely answered no, or was stopped
 * by the one who ran it.
 */
export function outcomeOfExit(command: string | null, exitCode: number, output: string): Outcome {
  if (exitCode === 0) return "ok";
  if (stopped.has(exitCode) && !/timed? ?out/i.test(output)) return "cancelled";
  return command !== null && answersNo(command, exitCode, output) ? "ok" : "failed";
}
