import { answersNo } from "./command.ts";
import type { Outcome } from "./event.ts";

/** What an exit code says about a command: non-zero is a failure unless the command merely answered no. */
export function outcomeOfExit(command: string | null, exitCode: number, output: string): Outcome {
  if (exitCode === 0) return "ok";
  return command !== null && answersNo(command, exitCode, output) ? "ok" : "failed";
}
