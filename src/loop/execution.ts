import type { Criterion, decisions, LoopStep, returnReasons, StepReport, Strategy } from "./messages.ts";

/** Whether something holds, and who says so: code, a worker that looked, or the worker that did it. */
export interface CheckResult {
  readonly id: string;
  readonly met: boolean;
  readonly by: "code" | "judge" | "worker";
  readonly because: string;
}

export type Decision = (typeof decisions)[number];
export type ReturnReason = (typeof returnReasons)[number];

/** One try at a step. */
export interface Attempt {
  readonly step: LoopStep;
  readonly retry: number;
  readonly report: StepReport | null;
  /** Why its worker brought nothing. */
  readonly fault: string | null;
  /** What a worker found that looked whether the step's signal holds. */
  readonly look: Omit<CheckResult, "id"> | null;
}

/** A line of the log: what was decided at the end of a step, and why. */
export interface StepLine {
  readonly at: number;
  readonly plan: number;
  readonly stepId: string;
  readonly decision: Decision;
  readonly summary: string;
  readonly retryCount: number;
  readonly workerStatus: StepReport["status"] | "lost" | "waited";
  readonly workerBlockers: readonly string[];
  readonly signal: CheckResult | null;
}

/** Where the walk along the plan is. */
export type Stage =
  /** Workers are at the steps of a group. */
  | { readonly kind: "working" }
  /** Workers look whether signals hold that are no matter for code. */
  | { readonly kind: "looking" }
  /** Code looks whether signals hold. */
  | { readonly kind: "checking" }
  | { readonly kind: "waiting"; readonly since: number }
  /** Code looks which of the success criteria hold. */
  | { readonly kind: "assessing" }
  /** All steps are done, and the strategy holds on until the end of its window. */
  | { readonly kind: "holding"; readonly nextAt: number }
  | { readonly kind: "replanning" }
  | { readonly kind: "done"; readonly reason: ReturnReason; readonly because: string };

/** Why there is another plan. */
export interface ReplanContext {
  readonly failedStepId: string;
  readonly blockers: readonly string[];
  readonly partialOutputs: readonly string[];
}

/** The walk along a plan, and along those that replace it. */
export interface Execution {
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly strategy: Strategy;
  /** When the goal is due. */
  readonly deadline: number | null;
  /** Whether workers look at signals that code cannot check, or the step's own worker is believed. */
  readonly hasJudge: boolean;
  readonly plans: readonly (readonly LoopStep[])[];
  readonly stage: Stage;
  /** The place in the plan of the first step that has not begun. */
  readonly next: number;
  readonly group: readonly Attempt[];
  readonly completed: readonly string[];
  readonly failed: readonly string[];
  readonly log: readonly StepLine[];
  readonly replan: ReplanContext | null;
  /** The success criteria as code last found them. */
  readonly criteria: readonly CheckResult[];
}

/** What comes back while a plan is walked. */
export type ExecutionMove =
  | { readonly kind: "reported"; readonly step: string; readonly report: StepReport }
  | { readonly kind: "lost"; readonly step: string; readonly because: string }
  | { readonly kind: "looked"; readonly step: string; readonly look: Omit<CheckResult, "id"> }
  | { readonly kind: "checked"; readonly results: readonly CheckResult[] }
  | { readonly kind: "woke"; readonly by: string }
  | { readonly kind: "assessed"; readonly results: readonly CheckResult[] }
  | { readonly kind: "replanned"; readonly steps: readonly LoopStep[] }
  | { readonly kind: "unplanned"; readonly because: string };

const retriesByDefault = 2;
const mostReplans = 2;
const holdMs = 60_000;
/** Looks while a strategy holds on, at most. */
const mostLooks = 50;
/** The most time before the deadline that is kept for the debrief while a strategy holds on. */
const mostDebriefMs = 10 * 60_000;

export function startExecution(
  begin: Pick<Execution, "strategy" | "deadline" | "hasJudge"> & { readonly steps: readonly LoopStep[] },
  at: number,
): Execution {
  const { steps, ...rest } = begin;
  return startGroup(
    {
      ...{ ...rest, startedAt: at, endedAt: null, plans: [steps], next: 0, group: [], replan: null },
      ...{ completed: [], failed: [], log: [], criteria: [], stage: { kind: "assessing" } },
    },
    at,
  );
}

/** Goes on with what came back. */
export function advanceExecution(execution: Execution, move: ExecutionMove, at: number): Execution {
  const { stage } = execution;
  switch (move.kind) {
    case "reported":
      return settleWork(changeAttempt(execution, move.step, { report: move.report }));
    case "lost":
      return settleWork(changeAttempt(execution, move.step, { fault: move.because }));
    case "looked":
      return settleLooks(changeAttempt(execution, move.step, { look: move.look }));
    case "checked":
      return decideGroup(execution, move.results, at);
    case "woke":
      return stage.kind === "waiting" ? endWait(execution, move.by, at) : setStage(execution, assessing);
    case "assessed":
      return assess({ ...execution, criteria: move.results }, at);
    case "replanned":
      return startGroup({ ...execution, plans: [...execution.plans, move.steps], next: 0, group: [] }, at);
    case "unplanned":
      return finish(execution, "abort", `there is no new plan: ${move.because}`, at);
  }
}

/** Ends the walk where it is. */
export function abortExecution(execution: Execution, because: string, at: number): Execution {
  return finish(execution, "abort", because, at);
}

const assessing: Stage = { kind: "assessing" };

function setStage(execution: Execution, stage: Stage): Execution {
  return { ...execution, stage };
}

function currentPlan({ plans }: Pick<Execution, "plans">): readonly LoopStep[] {
  return plans.at(-1) ?? [];
}

/** The steps that are done at once: one, or neighbours with the same label. A wait is by itself. */
function takeGroup(steps: readonly LoopStep[], from: number): readonly LoopStep[] {
  const [first, ...rest] = steps.slice(from);
  if (first === undefined) return [];
  if (first.kind === "wait" || first.concurrency === "sequential") return [first];
  const end = rest.findIndex((step) => step.kind === "wait" || step.concurrency !== first.concurrency);
  return [first, ...(end < 0 ? rest : rest.slice(0, end))];
}

function startGroup(execution: Execution, at: number): Execution {
  const steps = takeGroup(currentPlan(execution), execution.next);
  if (steps.length === 0) return { ...execution, group: [], stage: assessing };
  const next = execution.next + steps.length;
  const group = steps.map((step) => ({ step, retry: 0, report: null, fault: null, look: null }));
  const stage: Stage = steps[0]?.kind === "wait" ? { kind: "waiting", since: at } : { kind: "working" };
  return { ...execution, next, group, stage };
}

function changeAttempt(execution: Execution, step: string, change: Partial<Attempt>): Execution {
  const group = execution.group.map((one) => (one.step.id === step ? { ...one, ...change } : one));
  return { ...execution, group };
}

/** Whether a worker is still at it. */
function isOpen({ report, fault }: Attempt): boolean {
  return report === null && fault === null;
}

/** Whether a worker has to look at what another did. */
function needsLook({ hasJudge }: Execution, { step, report, look }: Attempt): boolean {
  return hasJudge && report !== null && look === null && step.successSignal?.kind === "judge";
}

function settleWork(execution: Execution): Execution {
  return execution.group.some(isOpen) ? execution : settleLooks(execution);
}

function settleLooks(execution: Execution): Execution {
  const looks = execution.group.some((attempt) => needsLook(execution, attempt));
  return setStage(execution, { kind: looks ? "looking" : "checking" });
}

// --- Decisions ---

interface Decided {
  readonly decision: Decision;
  readonly because: string;
}

/** What follows from a try at a step. */
function decideAttempt(attempt: Attempt, signal: CheckResult, replans: number): Decided {
  const { step, retry, report, fault } = attempt;
  if (report?.abort) return { decision: "abort", because: "its condition for giving up holds" };
  if (fault === null && signal.met) return { decision: "continue", because: signal.because };
  const why = fault ?? signal.because;
  const own = typeof step.abortCondition === "object" ? step.abortCondition : null;
  const retries = own?.retries ?? retriesByDefault;
  if (retry < retries) return { decision: "retry-step", because: `${why}; retry ${retry + 1} of ${retries}` };
  if (own?.otherwise === "continue" || (own === null && report?.status === "partial"))
    return { decision: "continue", because: `${why}; what there is of it is accepted` };
  if (own?.otherwise === "abort") return { decision: "abort", because: `${why}; the step says to give up` };
  return replans < mostReplans
    ? { decision: "replan", because: `${why}; no retry is left` }
    : { decision: "abort", because: `${why}; ${mostReplans} new plans did not help` };
}

const strength: readonly Decision[] = ["continue", "retry-step", "replan", "abort"];

/** Decides about all steps of a group together: none goes on before the others are back. */
function decideGroup(execution: Execution, results: readonly CheckResult[], at: number): Execution {
  const replans = execution.plans.length - 1;
  const decided = execution.group.map((attempt) => {
    const signal = results.find(({ id }) => id === attempt.step.id) ?? lostSignal(attempt);
    return { attempt, signal, ...decideAttempt(attempt, signal, replans) };
  });
  const strongest = decided.reduce((most, one) =>
    strength.indexOf(one.decision) > strength.indexOf(most.decision) ? one : most,
  );
  const lines = decided.map(({ attempt, signal, decision, because }): StepLine => {
    const follows = decision !== "continue" && decision !== strongest.decision;
    return {
      ...{ at, plan: execution.plans.length, stepId: attempt.step.id, retryCount: attempt.retry, signal },
      decision: follows ? strongest.decision : decision,
      summary: follows ? `${because}; step ${strongest.attempt.step.id} decides for both` : because,
      workerStatus: attempt.report?.status ?? "lost",
      workerBlockers: attempt.report?.blockers ?? [],
    };
  });
  const isOver = (id: string) => lines.some((line) => line.stepId === id && line.decision === "continue");
  const passed = decided.filter(({ attempt }) => isOver(attempt.step.id));
  const [met, partly] = [
    passed.filter(({ signal }) => signal.met),
    passed.filter(({ signal }) => !signal.met),
  ];
  const after: Execution = {
    ...execution,
    log: [...execution.log, ...lines],
    completed: addIds(execution.completed, met),
    // A step of a new plan may have the name of one that failed.
    failed: addIds(execution.failed, partly).filter(
      (id) => !met.some(({ attempt }) => attempt.step.id === id),
    ),
  };
  const left = decided.filter(({ attempt }) => !isOver(attempt.step.id));
  switch (strongest.decision) {
    case "continue":
      return goOn(after, at);
    case "retry-step":
      return {
        ...after,
        group: left.map(({ attempt: { step, retry } }) => ({
          ...{ step, retry: retry + 1, report: null, fault: null, look: null },
        })),
        stage: { kind: "working" },
      };
    case "replan":
      return askForPlan(
        { ...after, failed: addIds(after.failed, left) },
        strongest.attempt,
        strongest.because,
      );
    case "abort":
      return finish({ ...after, failed: addIds(after.failed, left) }, "abort", strongest.because, at);
  }
}

function lostSignal({ step, fault }: Attempt): CheckResult {
  return { id: step.id, met: false, by: "code", because: fault ?? "nobody looked" };
}

function addIds(ids: readonly string[], more: readonly { readonly attempt: Attempt }[]): readonly string[] {
  return [...new Set([...ids, ...more.map(({ attempt }) => attempt.step.id)])];
}

/** After a group: with the posture early-return, the criteria are looked at before the next. */
function goOn(execution: Execution, at: number): Execution {
  const isEarly = execution.strategy.timingPosture === "early-return";
  return isEarly ? { ...execution, group: [], stage: assessing } : startGroup(execution, at);
}

function askForPlan(execution: Execution, { step, report }: Attempt, because: string): Execution {
  const replan = {
    failedStepId: step.id,
    blockers: [because, ...(report?.blockers ?? [])],
    partialOutputs: report?.outputsWritten ?? [],
  };
  return { ...execution, replan, group: [], stage: { kind: "replanning" } };
}

function endWait(execution: Execution, by: string, at: number): Execution {
  const [attempt] = execution.group;
  if (attempt === undefined) return startGroup(execution, at);
  const line: StepLine = {
    ...{ at, plan: execution.plans.length, stepId: attempt.step.id, decision: "continue", summary: by },
    ...{ retryCount: 0, workerStatus: "waited", workerBlockers: [], signal: null },
  };
  const log = [...execution.log, line];
  return startGroup({ ...execution, log, completed: addIds(execution.completed, [{ attempt }]) }, at);
}

// --- The end of a plan, and time ---

function assess(execution: Execution, at: number): Execution {
  const { strategy, criteria, next } = execution;
  const isThrough = next >= currentPlan(execution).length;
  const posture = strategy.timingPosture;
  const met = areMet(strategy.successCriteria, criteria);
  if (!isThrough)
    return posture === "early-return" && met
      ? finish(execution, "early-return", "every success criterion holds", at)
      : startGroup(execution, at);
  if (posture === "early-return") return finish(execution, "all-steps-completed", "every step is done", at);
  const until = findWindowEnd(execution);
  if (at >= until) return finish(execution, `${posture}-window-end`, "the window is over", at);
  const broken = criteria.filter((one) => !one.met);
  const [worst] = broken;
  if (posture === "hold-and-revise" && worst && execution.plans.length <= mostReplans) {
    const blockers = broken.map(({ id, because }) => `${id}: ${because}`);
    const replan = { failedStepId: worst.id, blockers, partialOutputs: [] };
    return { ...execution, replan, stage: { kind: "replanning" } };
  }
  const every = Math.max(strategy.window?.everyMs ?? holdMs, (until - execution.startedAt) / mostLooks);
  return setStage(execution, { kind: "holding", nextAt: Math.min(at + Math.ceil(every), until) });
}

/** Whether code found that every criterion holds; what only a worker can tell, it does not. */
function areMet(all: readonly Criterion[], results: readonly CheckResult[]): boolean {
  return all.every(({ id }) => results.some((one) => one.id === id && one.met && one.by === "code"));
}

/** Until when a strategy holds on; its beginning where it does not say. The debrief needs some of the time as well. */
function findWindowEnd({ strategy, startedAt, deadline }: Execution): number {
  const { ms, untilTs } = strategy.window ?? {};
  const debriefMs = deadline === null ? 0 : Math.min(mostDebriefMs, (deadline - startedAt) / 10);
  const latest = deadline === null ? null : Math.floor(deadline - debriefMs);
  const asked = untilTs ?? (ms == null ? (latest ?? startedAt) : startedAt + ms);
  return Math.min(asked, latest ?? Number.POSITIVE_INFINITY);
}

/** When a wait is over by the clock; null while only a condition can end it. */
export function findWakeTime(step: LoopStep, since: number): number | null {
  const times = [
    ...(step.durationMs == null ? [] : [since + step.durationMs]),
    ...(step.untilTs == null ? [] : [step.untilTs]),
  ];
  return times.length === 0 ? null : Math.min(...times);
}

function finish(execution: Execution, reason: ReturnReason, because: string, at: number): Execution {
  return { ...execution, group: [], endedAt: at, stage: { kind: "done", reason, because } };
}
