import type { Execution } from "./execution.ts";
import { type Found, type LoopState, type Phase, phasesInRange } from "./machine.ts";

/** A hash of a text. */
export type Digest = (text: string) => string;

/**
 * The files of a run's work folder, by path below it. The ledger is the truth and this is what follows from it, in the
 * form in which harnesses read it: the same run gives the same files.
 */
export function renderWork(state: LoopState, digest: Digest): ReadonlyMap<string, string> {
  const { setup, errors, log } = state;
  const { goal } = setup;
  const files: [string, string | null][] = [
    [
      ".coordinator/boot.json",
      json({
        implStateDirShaAtStart: setup.stateSha,
        skillBundleCid: setup.promptDigest,
        goalId: goal.id,
        deadline: goal.deadline,
      }),
    ],
    [
      ".coordinator/log.jsonl",
      `${setup.earlierLog}${lines(log.map(({ at, ...line }) => ({ ts: isoTime(at), ...line })))}`,
    ],
    // A result that is withheld is not handed on.
    ...(state.place.kind === "ended" && state.place.end === "withheld" ? [] : renderPhases(state, digest)),
    ...Object.entries(errors).map(([name, { at, ...fault }]): [string, string] => [
      `.errors/${name}.json`,
      json({ ts: isoTime(at), ...fault }),
    ]),
  ];
  return new Map(files.filter((file): file is [string, string] => file[1] !== null));
}

function renderPhases(state: LoopState, digest: Digest): [string, string | null][] {
  const isOwn = (phase: Phase) => phasesInRange(state.setup).includes(phase);
  return [
    ...(isOwn("orient") ? [...renderOrient(state), ...renderPlans(state, digest)] : []),
    ...(state.execution ? renderExecution(state.execution) : []),
    ...renderDebrief(state),
    ...renderLearned(state),
  ];
}

function renderOrient({ setup, oriented, log }: LoopState): [string, string | null][] {
  const { goal, gathered } = setup;
  const own = gathered.map(
    (finding): Found => ({ topic: finding.topic, finding, summary: "gathered by Knack" }),
  );
  const found = [...own, ...oriented];
  const isDone = log.some(({ phase, status }) => phase === "orient" && status === "completed");
  const topics = found.flatMap(({ topic, finding, summary }) =>
    finding === null ? [] : { topic, artifact: `.orient/${topic}.json`, summary, flags: finding.flags },
  );
  const openQuestions = found.flatMap(({ topic, finding, summary }) =>
    finding === null ? `Nothing is known about ${topic}: ${summary}` : [],
  );
  const { id, kind, deadline } = goal;
  return [
    ...found.map(({ topic, finding }): [string, string | null] => [
      `.orient/${topic}.json`,
      finding && json(finding),
    ]),
    [".orient/summary.json", isDone ? json({ goal: { id, kind, deadline }, topics, openQuestions }) : null],
  ];
}

function renderPlans(
  { setup, strategy, steps, execution }: LoopState,
  digest: Digest,
): [string, string | null][] {
  if (strategy === null) return [];
  const { successCriteria, timingPosture } = strategy;
  const render = (plan: unknown) => json({ successCriteria, timingPosture, steps: plan });
  const plans = execution?.plans ?? (steps ? [steps] : []);
  const isReplanning = execution?.stage.kind === "replanning";
  const [older, current] = isReplanning ? [plans, null] : [plans.slice(0, -1), plans.at(-1) ?? null];
  return [
    [".strategize/strategy.json", json(strategy)],
    [
      ".strategize/constitution.json",
      json({
        successCriteriaCid: digestCriteria(strategy, digest),
        timingPosture,
        skillBundleCid: setup.promptDigest,
        implStateDirSha: setup.stateSha,
        editableScope: setup.mode === "frozen" ? [] : ["strategies", "plans", "skills", "notes"],
      }),
    ],
    ...older.map((plan, n): [string, string] => [`.plan/plan-v${n + 1}.json`, render(plan)]),
    [".plan/plan.json", current && render(current)],
    [".plan/replan-context.json", execution?.replan ? json(execution.replan) : null],
  ];
}

/** What the criteria were before the work began. */
export function digestCriteria(
  { successCriteria }: NonNullable<LoopState["strategy"]>,
  digest: Digest,
): string {
  return `sha256:${digest(JSON.stringify(successCriteria))}`;
}

function renderExecution(execution: Execution): [string, string | null][] {
  const { log, stage, completed, failed, startedAt, endedAt, criteria } = execution;
  const line = ({ at, ...rest }: Execution["log"][number]) => ({ ts: isoTime(at), ...rest });
  if (stage.kind !== "done") return [[".execute/log.jsonl", lines(log.map(line))]];
  const summary = {
    stepsCompleted: completed,
    stepsFailed: failed,
    decisions: log.map(({ decision }) => decision),
    elapsedMs: (endedAt ?? startedAt) - startedAt,
    returnReason: stage.reason,
    because: stage.because,
    criteria,
  };
  return [
    [".execute/log.jsonl", lines(log.map(line))],
    [".execute/summary.json", json(summary)],
  ];
}

function renderDebrief(state: LoopState): [string, string | null][] {
  const { probed, analysis } = state;
  return [
    ...probed.map(({ topic, finding }): [string, string | null] => [
      `.debrief/${topic}.json`,
      finding && json(finding),
    ]),
    [".debrief/run-comparison.json", renderComparison(state)],
    [".debrief/analysis.json", analysis && json(analysis)],
  ];
}

/** This run beside the earlier ones of its kind, for the analyst; null where there are none, or it is not so far. */
function renderComparison({ setup, execution }: LoopState): string | null {
  const history = setup.gathered.find(({ topic }) => topic === "own-history");
  const isDone = execution ? execution.stage.kind === "done" : setup.range === "post-execute";
  if (history === undefined || !isDone) return null;
  const own = execution && {
    criteriaMet: execution.criteria.filter(({ met }) => met).length,
    criteriaChecked: execution.criteria.length,
    stepsCompleted: execution.completed.length,
    stepsFailed: execution.failed.length,
    tries: execution.log.length,
    elapsedMs: (execution.endedAt ?? execution.startedAt) - execution.startedAt,
  };
  const { kind, runs, passed, latest } = history.data;
  return json({ ...history, topic: "run-comparison", data: { kind, thisRun: own, runs, passed, latest } });
}

function renderLearned({ improved, curated, proposal, log, setup }: LoopState): [string, string | null][] {
  const improvedAt = log.find(({ phase }) => phase === "improve")?.at ?? setup.startedAt;
  return [
    [
      ".improve/summary.json",
      improved &&
        json({
          implStateDirShaBefore: improved.before,
          implStateDirShaAfter: improved.after,
          changesAccepted: improved.promotions.length,
          changesRejected: improved.rejected.length,
          operatorRequests: improved.requests,
          rejectionsRationale: improved.rejected,
        }),
    ],
    ...(improved?.promotions ?? []).map(
      ({ at, before, after, changeKind, target, summary, source }, n): [string, string] => [
        `.improve/promotions/${n + 1}.json`,
        json({
          ts: isoTime(at),
          implStateDirShaBefore: before,
          implStateDirShaAfter: after,
          changeKind,
          target,
          summary,
          analysisSource: source,
        }),
      ],
    ),
    ...(improved ? (proposal?.operatorRequests ?? []) : []).map((request, n): [string, string] => [
      `.operator-requests/${n + 1}.json`,
      json({ ts: isoTime(improvedAt), ...request }),
    ]),
    [
      ".memory-consolidation/consolidation_record.json",
      curated &&
        json({
          ts: isoTime(curated.at),
          implStateDirShaBefore: curated.before,
          implStateDirShaAfter: curated.after,
          durable: {
            skillsArchived: curated.archived,
            promotionsReverted: curated.reverted,
            notesCompacted: curated.notesCompacted,
            merged: curated.merged,
            refused: curated.refused,
            conflictsResolved: curated.conflictsResolved,
          },
          ephemeral: { movedToPrivate: curated.movedToPrivate, migratedToImplState: curated.migrated },
        }),
    ],
  ];
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function lines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}
