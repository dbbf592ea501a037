import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../settings/index.ts";

/** Written by a worker while it runs. */
export interface WorkerSign {
  readonly pid: number;
  /** When it ends at the latest, in epoch milliseconds. */
  readonly until: number;
}

/** Starts a detached worker, which outlives the hook, unless one is running. */
export function wakeWorker(home: Home, program: string, env: NodeJS.ProcessEnv, now: number): void {
  if (isWorkerRunning(home, now)) return;
  // Runs at low priority from the start; without `nice` the worker lowers it itself.
  const words = [process.execPath, program, "work"];
  const [command = "", ...rest] = existsSync(nice) ? [nice, "-n", "10", ...words] : words;
  const worker = loadChildProcess().spawn(command, rest, {
    cwd: home.folder,
    detached: true,
    stdio: "ignore",
    windowsHide: true,
    env: { ...env, KNACK_HOME: home.folder },
  });
  // Nobody to report to here; the doctor sees the spool grow.
  worker.on("error", () => {});
  worker.unref();
}

const nice = "/usr/bin/nice";

/** The file is enough: a worker checks the spool once more after removing it. */
function isWorkerRunning({ worker }: Home, now: number): boolean {
  try {
    const { pid, until }: WorkerSign = JSON.parse(readFileSync(worker, "utf8"));
    if (until < now) return false;
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** When the worker last finished and what failed since, for hooks and the doctor. */
export interface WorkerState {
  readonly doneAt: number | null;
  readonly failures: number;
  readonly error: string | null;
  readonly failedAt: number | null;
}

export function workerStateFile({ log }: Pick<Home, "log">): string {
  return join(log, "worker.json");
}

export function readWorkerState(home: Pick<Home, "log">): WorkerState {
  try {
    return JSON.parse(readFileSync(workerStateFile(home), "utf8"));
  } catch {
    return { doneAt: null, failures: 0, error: null, failedAt: null };
  }
}

/** Loaded on demand: it takes milliseconds, and most hooks start no process. */
export function loadChildProcess(): typeof import("node:child_process") {
  return process.getBuiltinModule("node:child_process");
}
