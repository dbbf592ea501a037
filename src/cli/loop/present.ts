import {
  clientHarness,
  findPhase,
  type NextStep,
  type RunningWorker,
  type RunView,
} from "../../loop/index.ts";
import { formatUsd } from "../../models/index.ts";
import { several } from "../../text/index.ts";
import type { Screen } from "../screen/screen.ts";
import { alignColumns, joinParts, type Lines, oneLine, quotePath } from "../screen/text.ts";

const nameWidth = 20;

/** A line for each phase that is over. */
export function listPhases({ state }: RunView, screen: Screen): string[] {
  return state.log.map(({ phase, status, summary }) => {
    const paint = {
      completed: screen.green,
      failed: screen.red,
      aborted: screen.yellow,
      skipped: screen.dim,
    }[status];
    return `  ${phase.padEnd(nameWidth)} ${paint(status.padEnd(9))}  ${oneLine(summary, 100)}`;
  });
}

/** Where a run is: phase, spend, time left, and last what a narrow terminal cuts off first, the workers with their steps. */
export function describeRunNow(
  { begun, state, usd }: RunView,
  working: readonly RunningWorker[],
  now: number,
): string {
  const workers = working.map(({ asked, since }) => {
    const what = asked.step ? ` ${asked.step.id}` : asked.topic ? ` ${asked.topic}` : "";
    return `${asked.role}${what} ${formatDuration(now - since)}`;
  });
  const { deadline } = state.setup.goal;
  return joinParts(" · ", [
    findPhase(state) ?? "looking at the artifacts",
    `${formatUsd(usd)} of ${formatUsd(begun.usd)}`,
    deadline !== null && `${formatDuration(Math.max(0, deadline - now))} left`,
    workers.length > 0 ? workers.join(", ") : describeOwnWork(state),
  ]);
}

function describeOwnWork({ place, execution }: RunView["state"]): string {
  const stage = execution?.endedAt === null ? execution.stage : null;
  if (stage?.kind === "waiting") return `waiting (${execution?.group[0]?.step.id})`;
  if (stage?.kind === "holding") return "holding until the window ends";
  return place.kind === "execute" ? "checking" : "";
}

function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** What came of a run, and what to do next. */
export function presentRun(view: RunView, screen: Screen): Lines {
  const { begun, state, usd } = view;
  const { place, improved, curated, execution, analysis } = state;
  const isOver = place.kind === "ended";
  const criteria = execution?.criteria ?? [];
  const how = isOver ? `${place.end}: ${oneLine(place.because, 300)}` : "stopped; nothing is lost";
  const kept = improved?.promotions ?? [];
  const reverted = curated?.reverted ?? [];
  return [
    `${how} (${joinParts(", ", [formatUsd(usd), several(state.workers, "worker"), `tier ${state.setup.tier}`])})`,
    criteria.length > 0 && [
      "",
      "Success criteria, as Knack checked them:",
      alignColumns(
        criteria.map(({ id, met, because }) => [`  ${met ? "met" : "not met"}`, id, oneLine(because, 100)]),
      ),
    ],
    !!analysis?.successCriteriaShortfall && [`Shortfall: ${oneLine(analysis.successCriteriaShortfall, 400)}`],
    isOver &&
      improved && [
        "",
        `Learned: ${several(kept.length, "change")} for the next run, in ${screen.path(begun.state)}`,
        kept.map(
          ({ target, summary, after }) => `  ${after.slice(0, 10)}  ${target}: ${oneLine(summary, 80)}`,
        ),
        improved.rejected.map(
          ({ recommendation, reason }) =>
            `  rejected  ${oneLine(recommendation, 60)}: ${oneLine(reason, 80)}`,
        ),
      ],
    reverted.map(({ sha, reason }) => `Reverted ${sha.slice(0, 10)}: ${oneLine(reason, 120)}`),
    "",
    state.candidate !== null && [
      `Offered: ${several(state.candidate.changes.length, "change")} on a copy of what is learned`,
      `  ${screen.knack} loop adopt ${begun.run}`,
    ],
    isOver && begun.branch !== null && describeBranch(view, begun.branch, screen),
    `Work folder: ${screen.path(begun.work)}`,
    !isOver &&
      `To go on: ${screen.knack} loop ${begun.harness === clientHarness ? "next" : "resume"} ${begun.run}`,
  ];
}

function describeBranch(
  { changed }: RunView,
  { name, repository }: NonNullable<RunView["begun"]["branch"]>,
  screen: Screen,
): Lines {
  if (changed === "") return ["Result: nothing was changed in the repository"];
  return [
    `Result: ${changed}, on branch ${name} of ${screen.path(repository)}`,
    `  git -C ${quotePath(repository)} diff HEAD...${name}`,
  ];
}

/** Two runs, a row for each thing to compare. */
export function compareRuns(views: readonly RunView[]): string[][] {
  const rows: Record<string, (view: RunView) => string> = {
    goal: ({ begun }) => oneLine(begun.goal, 40),
    mode: ({ begun, state }) => `${begun.mode}, ${state.setup.tier}`,
    "state at its start": ({ state }) => state.setup.stateSha.slice(0, 10),
    approach: ({ state }) => oneLine(state.strategy?.approach ?? "", 40),
    end: ({ state }) => (state.place.kind === "ended" ? state.place.end : "not ended"),
    "criteria met": ({ state }) => state.analysis?.successCriteriaMet ?? "",
    "steps done, failed": ({ state: { execution } }) =>
      execution ? `${execution.completed.length}, ${execution.failed.length}` : "",
    "retries, replans": ({ state: { execution } }) =>
      ["retry-step", "replan"]
        .map((decision) => execution?.log.filter((line) => line.decision === decision).length ?? 0)
        .join(", "),
    workers: ({ state }) => String(state.workers),
    cost: ({ usd }) => formatUsd(usd),
    learned: ({ state }) => several(state.improved?.promotions.length ?? 0, "change"),
  };
  return Object.entries(rows).map(([name, tell]) => [name, ...views.map(tell)]);
}

/** What an agent that drives a run has to do next. */
export function presentNext({ next, ...view }: NextStep, screen: Screen): Lines {
  const { run } = view.begun;
  switch (next.kind) {
    case "ended":
      return presentRun(view, screen);
    case "wait":
      return [
        `Run ${run} waits${next.until === null ? "" : ` until ${new Date(next.until).toISOString()}`}: ${oneLine(next.because, 200)}`,
        `Then: ${screen.knack} loop next ${run}`,
      ];
    case "dispatch":
      return [
        `Run ${run}: dispatch ${several(next.workers.length, "worker")} beside each other, each a fresh subagent with the instructions below.`,
        next.workers.map(({ worker, role, output }) => [
          "",
          `${worker} (${role}) leaves ${output}`,
          `  then: ${screen.knack} loop submit ${run} ${worker} --summary "…"`,
        ]),
        "",
        `The instructions: ${screen.knack} loop next ${run} --json`,
      ];
  }
}

/** A run as programs read it. */
export function describeRun(view: RunView) {
  const { begun, state, usd, msLeft } = view;
  const { place, log, errors, execution, analysis, improved, curated, workers, setup } = state;
  const { run, goal, kind, mode, harness, work, workspace, branch } = begun;
  const stage = execution?.stage;
  return {
    ...{ run, goal, kind, mode, range: setup.range, tier: setup.tier, harness, work, workspace, branch },
    state: begun.state,
    place: place.kind,
    end: place.kind === "ended" ? { end: place.end, because: place.because } : null,
    ...{ usd, workers, msLeft },
    phases: log,
    errors,
    execution: execution && {
      ...{ stepsCompleted: execution.completed, stepsFailed: execution.failed, criteria: execution.criteria },
      returnReason: stage?.kind === "done" ? stage.reason : null,
      log: execution.log,
    },
    // A result that is withheld counts for nothing.
    successCriteriaMet:
      place.kind === "ended" && place.end === "withheld" ? null : (analysis?.successCriteriaMet ?? null),
    ...{ improved, curated, candidate: state.candidate, changed: view.changed },
  };
}
