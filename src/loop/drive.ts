import type { Clock } from "../base/index.ts";
import type { Env } from "../settings/index.ts";
import { runCheck } from "./checks.ts";
import { findWakeTime } from "./execution.ts";
import type { Harness } from "./harness/harness.ts";
import type { Dispatch, LoopState } from "./machine.ts";
import type { LoopRun } from "./run.ts";

/** A worker that is at it, for who watches. */
export interface RunningWorker {
  readonly asked: Dispatch;
  readonly since: number;
}

interface Drive {
  readonly run: LoopRun;
  readonly harness: Harness;
  readonly clock: Clock;
  readonly env: Env;
  /** The instructions of a role. */
  readonly readPrompt: (role: Dispatch["role"]) => string;
  readonly workerMs: number;
  /** Stops the run where it is; it can be resumed. */
  readonly signal: AbortSignal;
  readonly onChange: (state: LoopState, working: readonly RunningWorker[]) => void;
}

const workersAtOnce = 4;
/** Between two looks whether a condition holds. */
const conditionMs = 5_000;
const longestTimerMs = 2 ** 31 - 1;

/** Goes on with a run until it has ended, or was stopped from outside. */
export async function driveRun(drive: Drive): Promise<LoopState> {
  const { run, signal, clock } = drive;
  while (run.pending.kind !== "ended" && !signal.aborted) {
    const cutOff = run.cutOff;
    if (cutOff !== null && clock.now() >= cutOff) {
      await run.stop("the deadline is reached");
      continue;
    }
    const time = startTimer(cutOff === null ? null : cutOff - clock.now(), signal);
    try {
      await takeStep(drive, AbortSignal.any([time.signal, signal]));
    } finally {
      time.stop();
    }
  }
  return run.state;
}

async function takeStep(drive: Drive, signal: AbortSignal): Promise<void> {
  const { run, clock } = drive;
  const { pending } = run;
  drive.onChange(run.state, []);
  switch (pending.kind) {
    case "dispatch":
      return dispatchAll(drive, pending.workers, signal);
    case "wait": {
      const by = await waitForStep(drive, pending, signal);
      return by === null ? undefined : run.record({ kind: "woke", by });
    }
    case "hold":
      await sleep(pending.until - clock.now(), signal);
      return signal.aborted ? undefined : run.record({ kind: "woke", by: "the clock" });
    case "ended":
      return;
    default:
      return run.work(pending.kind, signal);
  }
}

/** Runs workers beside each other until all are back, or one of them makes the others needless. */
async function dispatchAll(drive: Drive, workers: readonly Dispatch[], outer: AbortSignal): Promise<void> {
  const { run, onChange, clock } = drive;
  const enough = new AbortController();
  const signal = AbortSignal.any([outer, enough.signal]);
  const waiting = [...workers];
  const working = new Map<string, RunningWorker>();
  const isNeeded = ({ id }: Dispatch) =>
    run.pending.kind === "dispatch" && run.pending.workers.some((one) => one.id === id);
  const goOn = async (): Promise<void> => {
    for (let asked = waiting.shift(); asked !== undefined && !signal.aborted; asked = waiting.shift()) {
      working.set(asked.id, { asked, since: clock.now() });
      onChange(run.state, [...working.values()]);
      const hold = await runWorker(drive, asked, signal);
      working.delete(asked.id);
      if (hold !== null && !enough.signal.aborted) {
        enough.abort();
        await run.stop(hold);
      } else if (![...waiting, ...[...working.values()].map((one) => one.asked)].every(isNeeded))
        enough.abort();
      onChange(run.state, [...working.values()]);
    }
  };
  await Promise.all(Array.from({ length: Math.min(workersAtOnce, workers.length) }, goOn));
}

/** Why there is no money for a worker; null where it was run. */
async function runWorker(drive: Drive, asked: Dispatch, signal: AbortSignal): Promise<string | null> {
  const { run, harness, readPrompt, workerMs, clock } = drive;
  run.prepare([asked]);
  const brief = run.brief(asked);
  const left = run.cutOff === null ? Number.POSITIVE_INFINITY : run.cutOff - clock.now();
  const timeoutMs = Math.max(1, Math.min(workerMs, left, longestTimerMs));
  const prompt = readPrompt(asked.role);
  const outcome = await run.spend(harness.name, (maxUsd) =>
    harness.run({ ...brief, prompt, timeoutMs, maxUsd }, signal),
  );
  if ("hold" in outcome) return outcome.hold;
  // What was stopped from outside has not failed: it is asked again.
  if (!signal.aborted) await run.take(asked, outcome);
  return null;
}

/** What ends a wait now; null while nothing does. */
export async function findWaker(
  run: LoopRun,
  { step, since }: Extract<LoopRun["pending"], { kind: "wait" }>,
  { clock, env }: Pick<Drive, "clock" | "env">,
  signal: AbortSignal,
): Promise<string | null> {
  const wakeAt = findWakeTime(step, since);
  const isOver = () => wakeAt !== null && clock.now() >= wakeAt;
  if (!isOver() && step.condition) {
    // A condition that takes long to check does not hold up the clock.
    const time = startTimer(wakeAt === null ? null : wakeAt - clock.now(), signal);
    const place = { ...run.places, env, signal: AbortSignal.any([time.signal, signal]) };
    const found = await runCheck(step.condition, place).finally(time.stop);
    if (signal.aborted) return null;
    if (found?.met) return `condition: ${found.because}`;
  }
  if (!isOver()) return null;
  return wakeAt === step.untilTs ? "time" : "duration";
}

/** What ended a wait; null where it was stopped. */
async function waitForStep(
  drive: Drive,
  pending: Extract<LoopRun["pending"], { kind: "wait" }>,
  signal: AbortSignal,
): Promise<string | null> {
  const { step, since } = pending;
  const wakeAt = findWakeTime(step, since) ?? Number.POSITIVE_INFINITY;
  while (!signal.aborted) {
    const by = await findWaker(drive.run, pending, drive, signal);
    if (by !== null) return by;
    const left = wakeAt - drive.clock.now();
    await sleep(step.condition ? Math.min(left, conditionMs) : left, signal);
  }
  return null;
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.max(0, Math.min(ms, longestTimerMs)));
    signal.addEventListener("abort", end, { once: true });
  });
}

/** A signal that fires after so many milliseconds. */
function startTimer(ms: number | null, outer: AbortSignal) {
  const controller = new AbortController();
  if (ms === null || outer.aborted) return { signal: controller.signal, stop: () => {} };
  const timer = setTimeout(() => controller.abort(), Math.max(0, Math.min(ms, longestTimerMs)));
  return { signal: controller.signal, stop: () => clearTimeout(timer) };
}
