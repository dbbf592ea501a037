import { several } from "../text/index.ts";
import {
  abortExecution,
  advanceExecution,
  type CheckResult,
  type Execution,
  type ExecutionMove,
  startExecution,
} from "./execution.ts";
import type {
  Analysis,
  Curation,
  ImproveProposal,
  LoopStep,
  StepReport,
  Strategy,
  TopicFinding,
} from "./messages.ts";
import type { CandidateManifest } from "./state/candidates.ts";
import type { CuratedState } from "./state/curation.ts";

/** The phases of a run, in their order. */
export const phases = [
  "orient",
  "strategize",
  "plan",
  "execute",
  "debrief",
  "improve",
  "memory-consolidation",
] as const;
export type Phase = (typeof phases)[number];

export const loopModes = ["train", "frozen", "candidate"] as const;
export const phaseRanges = ["full", "pre-execute", "post-execute"] as const;

/** What a run is to do, fixed when it begins. */
export interface RunSetup {
  readonly goal: LoopGoal;
  readonly mode: (typeof loopModes)[number];
  readonly range: (typeof phaseRanges)[number];
  readonly tier: "light" | "full";
  readonly startedAt: number;
  /** What workers look at first; goal-parse is always among them. */
  readonly topics: readonly string[];
  /** What Knack itself knew about earlier runs when this one began. */
  readonly gathered: readonly TopicFinding[];
  /** The commit of the state folder, and the digest of the prompts, that the run began with. */
  readonly stateSha: string;
  readonly stateDigest: string;
  readonly promptDigest: string;
  /** What others left in the work folder that this run debriefs: a strategy, files of earlier phases, a log. */
  readonly givenStrategy: Strategy | null;
  readonly givenFiles?: readonly string[];
  readonly earlierLog: string;
}

export interface LoopGoal {
  readonly id: string;
  readonly description: string;
  readonly kind: string | null;
  readonly deadline: number | null;
  readonly spec: unknown;
}

/** What improvement came to: commits of the state folder. */
export interface Improved {
  readonly before: string;
  readonly after: string;
  readonly promotions: readonly Promoted[];
  readonly rejected: readonly { readonly recommendation: string; readonly reason: string }[];
  readonly requests: number;
}

export interface Promoted {
  readonly at: number;
  readonly before: string | null;
  readonly after: string;
  readonly changeKind: string;
  readonly target: string;
  readonly summary: string;
  readonly source: string;
}

/** What consolidation came to: one commit of the state folder, or none. */
export interface Curated extends CuratedState {
  readonly at: number;
  readonly conflictsResolved: readonly { readonly what: string; readonly resolution: string }[];
  readonly movedToPrivate: readonly string[];
  readonly migrated: readonly string[];
}

/** One line for each phase. */
export interface PhaseLine {
  readonly at: number;
  readonly phase: Phase;
  readonly status: "completed" | "failed" | "aborted" | "skipped";
  readonly summary: string;
}

export interface RunFault {
  readonly at: number;
  readonly phase: string;
  readonly reason: string;
}

export interface RunEnd {
  /**
   * Aborted: a phase failed, or the time was up; incomplete: an artifact is missing; withheld: a state folder was
   * changed that had to stay as it was, so that the result counts for nothing.
   */
  readonly end: "completed" | "aborted" | "incomplete" | "withheld";
  readonly because: string;
}

/** Where a run is. In the places named as phases a worker is at its one artifact. */
type Place =
  | { readonly kind: "orient" | "probe"; readonly open: readonly string[] }
  | { readonly kind: "strategize" | "plan" | "execute" | "debrief" | "improve" | "consolidate" }
  /** Knack commits what the worker before proposed. */
  | { readonly kind: "promote" | "curate" }
  /** Knack looks whether the artifacts are there. */
  | { readonly kind: "verify" }
  | ({ readonly kind: "ended" } & RunEnd);

/** A run as it is after all that came back: the same moves give the same run. */
export interface LoopState {
  readonly setup: RunSetup;
  readonly place: Place;
  readonly log: readonly PhaseLine[];
  /** Each is a file below `.errors`. */
  readonly errors: Readonly<Record<string, RunFault>>;
  readonly oriented: readonly Found[];
  readonly strategy: Strategy | null;
  readonly steps: readonly LoopStep[] | null;
  readonly execution: Execution | null;
  readonly probed: readonly Found[];
  readonly analysis: Analysis | null;
  readonly proposal: ImproveProposal | null;
  readonly improved: Improved | null;
  readonly curation: Curation | null;
  readonly curated: Curated | null;
  /** What a run on a copy of the state folder offers for adoption. */
  readonly candidate: CandidateManifest | null;
  readonly usd: number;
  readonly workers: number;
}

/** What an explorer brought, or why it brought nothing. */
export interface Found {
  readonly topic: string;
  readonly finding: TopicFinding | null;
  readonly summary: string;
}

/** A worker to be dispatched now. */
export interface Dispatch {
  /** Unique in its run: the same worker again is another try at the same thing. */
  readonly id: string;
  readonly role:
    | "explorer"
    | "strategist"
    | "planner"
    | "step-worker"
    | "analyst"
    | "promoter"
    | "consolidator";
  readonly phase: Phase;
  readonly topic: string | null;
  readonly step: LoopStep | null;
}

/** What a worker brought, by what was asked of it. */
export type Brought =
  | { readonly as: "finding"; readonly topic: string; readonly finding: TopicFinding }
  | { readonly as: "strategy"; readonly strategy: Strategy; readonly steps: readonly LoopStep[] | null }
  | { readonly as: "plan"; readonly steps: readonly LoopStep[] }
  | { readonly as: "report"; readonly step: string; readonly report: StepReport }
  | { readonly as: "look"; readonly step: string; readonly met: boolean; readonly because: string }
  | { readonly as: "analysis"; readonly analysis: Analysis; readonly proposal: ImproveProposal | null }
  | { readonly as: "proposal"; readonly proposal: ImproveProposal }
  | { readonly as: "curation"; readonly curation: Curation };

/** What came back. */
export type Move = { readonly at: number } & (
  | {
      readonly kind: "returned";
      readonly worker: string;
      readonly brought: Brought;
      readonly summary: string;
      readonly usd: number;
    }
  | { readonly kind: "failed"; readonly worker: string; readonly because: string; readonly usd: number }
  /** Code looked at the signals of steps, or at the success criteria. */
  | { readonly kind: "checked" | "assessed"; readonly results: readonly CheckResult[] }
  | { readonly kind: "woke"; readonly by: string }
  | { readonly kind: "promoted"; readonly improved: Improved }
  | { readonly kind: "curated"; readonly curated: Curated }
  /** Knack could not commit what was proposed. */
  | { readonly kind: "refused"; readonly because: string }
  /** `violation`: how a state folder was changed that had to stay as it was. */
  | {
      readonly kind: "verified";
      readonly missing: readonly string[];
      readonly violation: string | null;
      readonly candidate: CandidateManifest | null;
    }
  /** The time, or the money, is up. */
  | { readonly kind: "stopped"; readonly because: string; readonly mayConsolidate: boolean }
);

/** What is to be done now. */
export type Pending =
  | { readonly kind: "dispatch"; readonly workers: readonly Dispatch[] }
  | { readonly kind: "check" | "assess" | "promote" | "curate" | "verify" }
  | { readonly kind: "wait"; readonly step: LoopStep; readonly since: number }
  | { readonly kind: "hold"; readonly until: number }
  | ({ readonly kind: "ended" } & RunEnd);

const parseTopic = "goal-parse";
const probeTopic = "outcome-probe";

export function startRun(setup: RunSetup): LoopState {
  const blank = {
    ...{ setup, log: [], errors: {}, oriented: [], probed: [], usd: 0, workers: 0 },
    ...{ strategy: setup.givenStrategy, steps: null, execution: null, analysis: null, proposal: null },
    ...{ improved: null, curation: null, curated: null, candidate: null },
  };
  return enter({ ...blank, place: { kind: "verify" } }, phasesInRange(setup)[0] ?? "orient", setup.startedAt);
}

/** The phases that a run goes through; frozen ones are logged as skipped. */
export function phasesInRange({ range }: Pick<RunSetup, "range">): readonly Phase[] {
  if (range === "pre-execute") return phases.slice(0, 3);
  return range === "post-execute" ? phases.slice(4) : phases;
}

function learns({ setup }: Pick<LoopState, "setup">): boolean {
  return setup.mode !== "frozen";
}

function consolidates(state: Pick<LoopState, "setup">): boolean {
  return learns(state) && phasesInRange(state.setup).includes("memory-consolidation");
}

/** Whether the run reserves time for consolidation, and so stops its work before the deadline. */
export function findCutOff({ goal, startedAt, ...setup }: RunSetup): number | null {
  if (goal.deadline === null) return null;
  const room = Math.max(0, goal.deadline - startedAt);
  const reserve = consolidates({ setup: { goal, startedAt, ...setup } }) ? Math.min(reserveMs, room / 10) : 0;
  return Math.floor(goal.deadline - reserve);
}

/** The most time before a deadline that is kept for consolidation. */
const reserveMs = 120_000;

// --- What is to be done ---

export function findPending(state: LoopState): Pending {
  const { place } = state;
  switch (place.kind) {
    case "orient":
      return dispatch(place.open.map((topic) => explore("orient", topic)));
    case "probe":
      return dispatch(place.open.map((topic) => explore("debrief", topic)));
    case "strategize":
      return dispatch([worker("strategize", "strategist", "strategize")]);
    case "plan":
      return dispatch([worker("plan.1", "planner", "plan")]);
    case "execute":
      return findPendingStep(state);
    case "debrief":
      return dispatch([worker("debrief", "analyst", "debrief")]);
    case "improve":
      return dispatch([worker("improve", "promoter", "improve")]);
    case "consolidate":
      return dispatch([worker("memory-consolidation", "consolidator", "memory-consolidation")]);
    case "promote":
    case "curate":
    case "verify":
    case "ended":
      return place;
  }
}

function dispatch(workers: readonly Dispatch[]): Pending {
  return { kind: "dispatch", workers };
}

function worker(
  id: string,
  role: Dispatch["role"],
  phase: Phase,
  rest: Partial<Pick<Dispatch, "topic" | "step">> = {},
): Dispatch {
  return { id, role, phase, topic: null, step: null, ...rest };
}

function explore(phase: Phase, topic: string): Dispatch {
  return worker(`${phase}.${topic}`, "explorer", phase, { topic });
}

/** The id of the worker of a try at a step. */
export function nameAttempt(plan: number, step: string, retry: number): string {
  return `execute.${plan}.${step}.${retry}`;
}

/** The id of the worker that looks what came of a try. */
export function nameLook(attempt: string): string {
  return `${attempt}.check`;
}

function findPendingStep({ execution }: LoopState): Pending {
  if (execution === null) return { kind: "verify" };
  const { stage, group, plans } = execution;
  const named = ({ id }: LoopStep, retry: number) => nameAttempt(plans.length, id, retry);
  switch (stage.kind) {
    case "working":
      return dispatch(
        group
          .filter(({ report, fault }) => report === null && fault === null)
          .map(({ step, retry }) => worker(named(step, retry), "step-worker", "execute", { step })),
      );
    case "looking":
      return dispatch(
        group
          .filter(({ step, report, look }) => report && !look && step.successSignal?.kind === "judge")
          .map(({ step, retry }) =>
            worker(nameLook(named(step, retry)), "explorer", "execute", { step, topic: `check-${step.id}` }),
          ),
      );
    case "replanning":
      return dispatch([worker(`plan.${plans.length + 1}`, "planner", "plan")]);
    case "waiting": {
      const [attempt] = group;
      return attempt ? { kind: "wait", step: attempt.step, since: stage.since } : { kind: "assess" };
    }
    case "holding":
      return { kind: "hold", until: stage.nextAt };
    case "checking":
      return { kind: "check" };
    case "assessing":
    case "done":
      return { kind: "assess" };
  }
}

// --- What came back ---

/** The run after a move. A move that does not belong to what is pending is a fault of the caller. */
export function advance(before: LoopState, move: Move): LoopState {
  const state = charge(before, move);
  const { place } = state;
  if (place.kind === "ended") throw new Error(`a run that has ended does not go on: ${move.kind}`);
  if (move.kind === "stopped") return stop(state, move);
  switch (place.kind) {
    case "orient":
      return move.kind === "returned" || move.kind === "failed"
        ? orient(state, move, place.open)
        : misplaced(state, move);
    case "probe":
      return move.kind === "returned" || move.kind === "failed"
        ? probe(state, move, place.open)
        : misplaced(state, move);
    case "strategize":
      return keepStrategy(state, move);
    case "plan":
      return keepPlan(state, move);
    case "execute":
      return walk(state, move);
    case "debrief":
      return keepAnalysis(state, move);
    case "improve":
      if (move.kind === "failed") return fail(state, "improve", move.because, move.at);
      if (move.kind !== "returned" || move.brought.as !== "proposal") return misplaced(state, move);
      return { ...state, proposal: move.brought.proposal, place: { kind: "promote" } };
    case "promote":
      if (move.kind === "refused") return fail(state, "improve", move.because, move.at);
      if (move.kind !== "promoted") return misplaced(state, move);
      return endPhase({ ...state, improved: move.improved }, "improve", tellImproved(move.improved), move.at);
    case "consolidate":
      if (move.kind === "failed") return fail(state, "memory-consolidation", move.because, move.at);
      if (move.kind !== "returned" || move.brought.as !== "curation") return misplaced(state, move);
      return { ...state, curation: move.brought.curation, place: { kind: "curate" } };
    case "curate":
      if (move.kind === "refused") return fail(state, "memory-consolidation", move.because, move.at);
      if (move.kind !== "curated") return misplaced(state, move);
      return endPhase(
        { ...state, curated: move.curated },
        "memory-consolidation",
        tellCurated(move.curated),
        move.at,
      );
    case "verify":
      if (move.kind !== "verified") return misplaced(state, move);
      return conclude(state, move);
  }
}

function misplaced({ place }: LoopState, { kind }: Move): never {
  throw new Error(`"${kind}" does not belong to "${place.kind}"`);
}

function charge(state: LoopState, move: Move): LoopState {
  if (move.kind !== "returned" && move.kind !== "failed") return state;
  return { ...state, usd: state.usd + move.usd, workers: state.workers + 1 };
}

type WorkerMove = Extract<Move, { kind: "returned" | "failed" }>;

function readFound(move: WorkerMove, topic: string): Found {
  if (move.kind === "failed") return { topic, finding: null, summary: move.because };
  const { brought, summary } = move;
  return { topic, finding: brought.as === "finding" ? brought.finding : null, summary };
}

/** Topics may be missing, but not what the goal is. */
function orient(state: LoopState, move: WorkerMove, open: readonly string[]): LoopState {
  const topic = move.worker.slice("orient.".length);
  const found = readFound(move, topic);
  if (found.finding === null && topic === parseTopic) return fail(state, "orient", found.summary, move.at);
  const left = open.filter((one) => one !== topic);
  const next = { ...state, oriented: [...state.oriented, found] };
  if (left.length > 0) return { ...next, place: { kind: "orient", open: left } };
  const missing = next.oriented.filter(({ finding }) => finding === null).map((one) => one.topic);
  const but = missing.length > 0 ? `; nothing about ${missing.join(", ")}` : "";
  return endPhase(
    next,
    "orient",
    `${several(next.oriented.length - missing.length, "topic")}${but}`,
    move.at,
  );
}

function keepStrategy(state: LoopState, move: Move): LoopState {
  if (move.kind === "failed") return fail(state, "strategize", move.because, move.at);
  if (move.kind !== "returned" || move.brought.as !== "strategy") return misplaced(state, move);
  const { strategy, steps } = move.brought;
  const next = endPhase({ ...state, strategy, steps }, "strategize", move.summary, move.at);
  if (steps === null) return next;
  return endPhase(next, "plan", `${several(steps.length, "step")}, by the strategist`, move.at);
}

function keepPlan(state: LoopState, move: Move): LoopState {
  if (move.kind === "failed") return fail(state, "plan", move.because, move.at);
  if (move.kind !== "returned" || move.brought.as !== "plan") return misplaced(state, move);
  return endPhase({ ...state, steps: move.brought.steps }, "plan", move.summary, move.at);
}

function walk(state: LoopState, move: Move): LoopState {
  if (state.execution === null) return misplaced(state, move);
  const execution = advanceExecution(state.execution, readExecutionMove(state, move), move.at);
  const next = { ...state, execution };
  return execution.stage.kind === "done" ? endExecution(next, execution, move.at) : next;
}

function readExecutionMove(state: LoopState, move: Move): ExecutionMove {
  if (move.kind === "checked" || move.kind === "assessed" || move.kind === "woke") return move;
  const pending = findPending(state);
  if (pending.kind !== "dispatch" || (move.kind !== "returned" && move.kind !== "failed"))
    return misplaced(state, move);
  const asked = pending.workers.find(({ id }) => id === move.worker);
  if (asked === undefined) return misplaced(state, move);
  const step = asked.step?.id ?? "";
  if (move.kind === "failed") {
    const { because } = move;
    if (asked.role === "planner") return { kind: "unplanned", because };
    if (asked.role === "step-worker") return { kind: "lost", step, because };
    return { kind: "looked", step, look: believeWorker(state, step, because) };
  }
  const { brought } = move;
  if (brought.as === "report") return { kind: "reported", step, report: brought.report };
  if (brought.as === "plan") return { kind: "replanned", steps: brought.steps };
  if (brought.as !== "look") return misplaced(state, move);
  return { kind: "looked", step, look: { met: brought.met, by: "judge", because: brought.because } };
}

/** Where nobody could look, the word of the step's own worker counts. */
function believeWorker({ execution }: LoopState, step: string, because: string) {
  const attempt = execution?.group.find((one) => one.step.id === step);
  const met = attempt?.report?.status === "success";
  return {
    met,
    by: "worker",
    because: `nobody could look (${because}); its worker says ${met ? "yes" : "no"}`,
  } as const;
}

function endExecution(state: LoopState, { stage, completed, failed }: Execution, at: number): LoopState {
  if (stage.kind !== "done") return state;
  const { reason, because } = stage;
  const summary = `${several(completed.length, "step")} done, ${failed.length} failed: ${because}`;
  if (reason !== "abort") return endPhase(state, "execute", `${reason}; ${summary}`, at);
  const errors = { ...state.errors, execute: { at, phase: "execute", reason: because } };
  return endPhase({ ...state, errors }, "execute", summary, at, "aborted");
}

function probe(state: LoopState, move: WorkerMove, open: readonly string[]): LoopState {
  const topic = move.worker.slice("debrief.".length);
  const left = open.filter((one) => one !== topic);
  const probed = [...state.probed, readFound(move, topic)];
  return { ...state, probed, place: left.length > 0 ? { kind: "probe", open: left } : { kind: "debrief" } };
}

function keepAnalysis(state: LoopState, move: Move): LoopState {
  if (move.kind === "failed") return fail(state, "debrief", move.because, move.at);
  if (move.kind !== "returned" || move.brought.as !== "analysis") return misplaced(state, move);
  const { analysis, proposal } = move.brought;
  const kept = { ...state, analysis: correctVerdict(analysis, state), proposal };
  return endPhase(
    kept,
    "debrief",
    `criteria met: ${kept.analysis.successCriteriaMet}; ${move.summary}`,
    move.at,
  );
}

/** The criteria were frozen before the work: what code can check, a debrief does not talk away. */
function correctVerdict(analysis: Analysis, { strategy, execution }: LoopState): Analysis {
  const results = execution?.criteria ?? [];
  const broken = results.filter(({ met }) => !met);
  const all = strategy?.successCriteria.length ?? 0;
  const isDecided = all > 0 && results.length === all;
  const said = analysis.successCriteriaMet;
  const verdict =
    broken.length === 0
      ? isDecided
        ? "yes"
        : said
      : broken.length === all
        ? "no"
        : said === "yes"
          ? "partial"
          : said;
  if (verdict === said) return analysis;
  const checked = broken.map(({ id, because }) => `${id}: ${because}`).join("; ") || "every check passed";
  const shortfall = `By Knack's own checks, ${checked} (the analyst said "${said}").`;
  return {
    ...analysis,
    successCriteriaMet: verdict,
    successCriteriaShortfall: [analysis.successCriteriaShortfall, shortfall].filter(Boolean).join(" "),
  };
}

// --- From phase to phase ---

function endPhase(
  state: LoopState,
  phase: Phase,
  summary: string,
  at: number,
  status: PhaseLine["status"] = "completed",
): LoopState {
  const logged = { ...state, log: [...state.log, { at, phase, status, summary }] };
  const next = phasesInRange(state.setup)[phasesInRange(state.setup).indexOf(phase) + 1];
  return next === undefined ? { ...logged, place: { kind: "verify" } } : enter(logged, next, at);
}

/** A phase begins, unless the mode forbids it. */
function enter(state: LoopState, phase: Phase, at: number): LoopState {
  const isFull = state.setup.tier === "full";
  switch (phase) {
    case "orient":
      // A light run starts with what Knack itself knows.
      if (state.setup.topics.length === 0) return endPhase(state, phase, tellGathered(state), at);
      return { ...state, place: { kind: "orient", open: state.setup.topics } };
    case "strategize":
      return { ...state, place: { kind: "strategize" } };
    case "plan":
      return state.steps === null ? { ...state, place: { kind: "plan" } } : state;
    case "execute":
      return begin(state, at);
    case "debrief":
      return { ...state, place: isFull ? { kind: "probe", open: [probeTopic] } : { kind: "debrief" } };
    case "improve":
      if (!learns(state)) return endPhase(state, phase, "mode=frozen", at, "skipped");
      return { ...state, place: { kind: isFull ? "improve" : "promote" } };
    case "memory-consolidation":
      if (!learns(state)) return endPhase(state, phase, "mode=frozen", at, "skipped");
      return { ...state, place: { kind: isFull ? "consolidate" : "curate" } };
  }
}

function tellGathered({ setup }: LoopState): string {
  return `${setup.gathered.map(({ topic }) => topic).join(", ")}, by Knack itself`;
}

function begin(state: LoopState, at: number): LoopState {
  const { strategy, steps, setup } = state;
  if (strategy === null || steps === null) throw new Error("a run cannot execute without a plan");
  const deadline = findCutOff(setup);
  const execution = startExecution({ strategy, steps, deadline, hasJudge: setup.tier === "full" }, at);
  return { ...state, execution, place: { kind: "execute" } };
}

/** A phase failed: the run is over, but for a consolidation of what there is. */
function fail(state: LoopState, phase: Phase, reason: string, at: number): LoopState {
  const failed: LoopState = {
    ...state,
    errors: { ...state.errors, [phase]: { at, phase, reason } },
    log: [...state.log, { at, phase, status: "failed", summary: reason }],
  };
  const isLast = phase === "orient" || phase === "memory-consolidation";
  if (isLast || !consolidates(state)) return { ...failed, place: { kind: "verify" } };
  return enter(failed, "memory-consolidation", at);
}

function stop(
  state: LoopState,
  { because, mayConsolidate, at }: Extract<Move, { kind: "stopped" }>,
): LoopState {
  const phase = findPhase(state);
  const execution =
    state.execution && state.execution.endedAt === null
      ? abortExecution(state.execution, because, at)
      : state.execution;
  const stopped: LoopState = {
    ...{ ...state, execution },
    errors: { ...state.errors, abort: { at, phase: phase ?? "verify", reason: because } },
    log: phase === null ? state.log : [...state.log, { at, phase, status: "aborted", summary: because }],
  };
  const isCurating = phase === "memory-consolidation" || phase === null;
  if (isCurating || !mayConsolidate || !consolidates(state)) return { ...stopped, place: { kind: "verify" } };
  // Time is short: by rules alone.
  return { ...stopped, place: { kind: "curate" } };
}

/** The phase that a run is in; null between the last one and its end. */
export function findPhase({ place }: Pick<LoopState, "place">): Phase | null {
  switch (place.kind) {
    case "probe":
      return "debrief";
    case "promote":
      return "improve";
    case "consolidate":
    case "curate":
      return "memory-consolidation";
    case "verify":
    case "ended":
      return null;
    default:
      return place.kind;
  }
}

function conclude(
  state: LoopState,
  { missing, violation, candidate, at }: Extract<Move, { kind: "verified" }>,
): LoopState {
  if (violation !== null) {
    const errors = { ...state.errors, freeze: { at, phase: "freeze", reason: violation } };
    return { ...state, errors, place: { kind: "ended", end: "withheld", because: violation } };
  }
  const [fault] = Object.values(state.errors).filter(
    ({ phase }) => phase !== "execute" || "abort" in state.errors,
  );
  const end: RunEnd = fault
    ? { end: "aborted", because: `${fault.phase}: ${fault.reason}` }
    : missing.length > 0
      ? { end: "incomplete", because: `missing: ${missing.join(", ")}` }
      : {
          end: "completed",
          because: verdicts[state.analysis?.successCriteriaMet ?? "unknown"],
        };
  return { ...state, candidate, place: { kind: "ended", ...end } };
}

const verdicts = {
  yes: "the success criteria are met",
  partial: "a part of the success criteria is met",
  no: "the success criteria are not met",
  unknown: "there is a plan, to be executed",
};

/** The artifacts that a run has to leave, below its work folder. */
export function listArtifacts({ range, mode }: Pick<RunSetup, "range" | "mode">): readonly string[] {
  const before = [".orient/summary.json", ".strategize/strategy.json"];
  if (range === "pre-execute") return [...before, ".strategize/constitution.json", ".plan/plan.json"];
  const after = [".debrief/analysis.json"];
  const learned = [".improve/summary.json", ".memory-consolidation/consolidation_record.json"];
  const ending = mode === "frozen" ? after : [...after, ...learned];
  if (range === "post-execute") return ending;
  return [...before, ".plan/plan.json", ".execute/summary.json", ...ending];
}

function tellImproved({ promotions, rejected, requests }: Improved): string {
  return `${several(promotions.length, "change")} kept, ${rejected.length} rejected, ${several(requests, "request")}`;
}

function tellCurated({ before, after, archived, reverted, merged, refused }: Curated): string {
  const but = refused.length > 0 ? `, ${refused.length} refused` : "";
  if (before === after) return `nothing to curate${but}`;
  return `${archived.length} archived, ${merged.length} merged, ${reverted.length} reverted${but}`;
}
