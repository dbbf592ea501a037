/** How the worker fared, for hooks and the doctor: the last time it was through, and what went wrong since. */
export interface WorkerState {
  readonly doneAt: number | null;
  readonly failures: number;
  readonly error: string | null;
  readonly failedAt: number | null;
}
