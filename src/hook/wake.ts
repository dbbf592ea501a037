import { existsSync, readFileSync } from "node:fs";
import type { Home } from "../config.ts";
import { startProcess } from "./start-process.ts";

/** What a worker says of itself while it runs. */
export interface WorkerSign {
  readonly pid: number;
  /** When it ends at the latest. */
  readonly until: number;
}

/** Starts a worker unless one runs. It has its own group and nothing of ours, so it outlives the hook. */
export function wake(home: Home, program: string, env: NodeJS.ProcessEnv, now: number): void {
  if (isAwake(home, now)) return;
  // Other programs go first, from the beginning; where there is no `nice` the worker sees to that itself.
  const words = [process.execPath, program, "work"];
  const [command = "", ...rest] = existsSync(nice) ? [nice, "-n", "10", ...words] : words;
  const worker = startProcess().spawn(command, rest, {
    cwd: home.folder,
    detached: true,
    stdio: "ignore",
    windowsHide: true,
    env: { ...env, KNACK_HOME: home.folder },
  });
  // Whoever cannot start one has nobody to tell but the doctor, who sees the spool grow.
  worker.on("error", () => {});
  worker.unref();
}

const nice = "/usr/bin/nice";

/** Whether a worker runs. Its word is enough: it looks into the spool once more after taking it back. */
function isAwake({ worker }: Home, now: number): boolean {
  try {
    const { pid, until }: WorkerSign = JSON.parse(readFileSync(worker, "utf8"));
    if (until < now) return false;
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
