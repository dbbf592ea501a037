import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../config.ts";

/** How the worker fared, for hooks and the doctor: the last time it was through, and what went wrong since. */
export interface WorkerState {
  readonly doneAt: number | null;
  readonly failures: number;
  readonly error: string | null;
  readonly failedAt: number | null;
}

/** Where the worker leaves word of how it fared. */
export function stateFile({ log }: Pick<Home, "log">): string {
  return join(log, "worker.json");
}

/** How it fared the last times; one of which nothing can be read has not been at work. */
export function stateOf(home: Pick<Home, "log">): WorkerState {
  try {
    return JSON.parse(readFileSync(stateFile(home), "utf8"));
  } catch {
    return { doneAt: null, failures: 0, error: null, failedAt: null };
  }
}
