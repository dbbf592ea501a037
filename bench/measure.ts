import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

declare const KNACK_ROOT: string;

/** The repository; the bundle that runs lies elsewhere. */
export const root = KNACK_ROOT;

/** One figure with the bar it has to reach. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly bar: string;
  readonly reached: boolean;
}

export function atLeast(what: string, value: number, bar: number, unit = ""): Figure {
  return { what, value, unit, bar: `at least ${bar}`, reached: value >= bar };
}

export function atMost(what: string, value: number, bar: number, unit = ""): Figure {
  return { what, value, unit, bar: `at most ${bar}`, reached: value <= bar };
}

/** Milliseconds that each piece of work takes: the median of so many rounds, all pieces in turn in every round. */
export async function timed(
  rounds: number,
  works: readonly (() => Promise<unknown> | unknown)[],
): Promise<number[]> {
  const times = works.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, work] of works.entries()) {
      const started = performance.now();
      await work();
      // The first round warms up.
      if (round > 0) times[at]?.push(performance.now() - started);
    }
  }
  return times.map(median);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Megabytes of memory that this process had at the most. */
export function peakMegabytes(): number {
  // What is told of resources counts from before a process became what it is: then it had the memory of who started it.
  const status = existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "utf8") : "";
  const own = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return Number(own ?? process.resourceUsage().maxRSS) / 1024;
}

/** A folder that is gone when the work is done. */
export async function inTempFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "knack-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
