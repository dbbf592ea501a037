/** What the workers of a loop are for, in the order in which they are first needed. */
export const roles = [
  "explorer",
  "strategist",
  "planner",
  "step-worker",
  "analyst",
  "promoter",
  "consolidator",
] as const;
type WorkerRole = (typeof roles)[number];

/** One piece of work for a fresh worker, which knows nothing but what it is given here. */
export interface WorkerTask {
  readonly role: WorkerRole;
  /** The instructions of the role. */
  readonly prompt: string;
  /** What the instructions speak of: the goal, absolute paths, the milliseconds left. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** With `read`, nothing but the outputs may be written. */
  readonly tools: "read" | "shell";
  /** Absolute paths of the artifacts that it has to leave. */
  readonly outputs: readonly string[];
  /** Folders in which it may write besides, as absolute paths. */
  readonly writable: readonly string[];
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly maxUsd: number;
}

/** What became of a worker. Its words are untrusted; what counts are its artifacts. */
export type WorkerOutcome =
  | {
      readonly kind: "returned";
      /** One line without secrets. */
      readonly summary: string;
      /** What it cost; null where it does not say. */
      readonly usd: number | null;
    }
  | {
      readonly kind: "failed";
      readonly reason: "timeout" | "aborted" | "spend" | "exit" | "outside" | "unavailable";
      readonly detail: string;
      readonly usd: number | null;
    };

/**
 * Runs workers. Failures are outcomes, never exceptions, and no process of a worker outlives its outcome: neither when
 * it hangs, nor when this process is killed.
 */
export interface Harness {
  /** As a person writes it: `claude`, `command:./worker.sh`. */
  readonly name: string;
  run(task: WorkerTask, signal: AbortSignal): Promise<WorkerOutcome>;
}
