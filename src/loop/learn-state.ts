import type { Curated, Improved, LoopState } from "./machine.ts";
import { gradeRun } from "./record.ts";
import { openStateFolder } from "./state/state-folder.ts";
import { moveToPrivate } from "./work-folder.ts";

interface RunOfState {
  readonly run: string;
  readonly folder: string;
  /** The run's work folder, and where in it a repository's files are, which no run may move; null for none. */
  readonly work: string;
  readonly result: string | null;
  readonly state: LoopState;
  readonly at: number;
  readonly searchPath: string | undefined;
}

/** Commits the changes that a run proposes, each by itself; operator requests are kept and never wait. */
export async function promoteChanges({ run, folder, state, at, searchPath }: RunOfState): Promise<Improved> {
  const opened = await openStateFolder(folder, { searchPath, at });
  const { changes = [], rejected = [], operatorRequests = [] } = state.proposal ?? {};
  const { stateSha } = state.setup;
  const {
    accepted,
    rejected: refused,
    head,
  } = await opened.commitChanges(changes, { run, at, head: stateSha });
  return {
    before: stateSha,
    after: head,
    promotions: accepted.map(({ change, before, after }, n) => ({
      ...{ at, after, before: n === 0 ? null : before },
      ...{
        changeKind: change.changeKind,
        target: change.target,
        summary: change.summary,
        source: change.because,
      },
    })),
    rejected: [
      ...rejected,
      ...refused.map(({ change, reason }) => ({
        recommendation: `${change.changeKind} ${change.target}`,
        reason,
      })),
    ],
    requests: operatorRequests.length,
  };
}

/** Notes the run among those that later ones are compared with, and curates the state: one commit, or none. */
export async function curateState(deps: RunOfState): Promise<Curated> {
  const { run, folder, work, result, state, at, searchPath } = deps;
  const opened = await openStateFolder(folder, { searchPath, at });
  const { setup, strategy, execution, analysis, curation, proposal, improved } = state;
  const { stage, startedAt, endedAt } = execution ?? {};
  await opened.recordRun(
    {
      ...{
        id: run,
        goalId: setup.goal.id,
        kind: setup.goal.kind,
        at: setup.startedAt,
        stateSha: setup.stateSha,
      },
      description: setup.goal.description.slice(0, 500),
      elapsedMs: (endedAt ?? at) - (startedAt ?? setup.startedAt),
      approach: strategy?.approach ?? null,
      successCriteriaMet: analysis?.successCriteriaMet ?? null,
      score: gradeRun(state),
      returnReason: stage?.kind === "done" ? stage.reason : null,
      used: [...(strategy?.used ?? [])],
      failures: Object.values(state.errors).map(({ phase, reason }) => `${phase}: ${reason}`.slice(0, 300)),
    },
    at,
  );
  const {
    archive = [],
    merge = [],
    revert = [],
    conflictsResolved = [],
    movedToPrivate = [],
  } = curation ?? {};
  const requests = improved ? (proposal?.operatorRequests ?? []) : [];
  const operatorRequests = requests.map((request, n) => ({
    name: `${run}-${n + 1}`,
    text: `${JSON.stringify({ at, ...request }, null, 2)}\n`,
  }));
  const done = await opened.curate({ archive, merge, revert, operatorRequests }, { run, at, head: null });
  return {
    ...{ ...done, at, conflictsResolved },
    movedToPrivate: moveToPrivate(work, movedToPrivate, result),
    migrated: operatorRequests.map(({ name }) => `operator-requests/${name}.json`),
  };
}
