import { existsSync } from "node:fs";
import { join, sep } from "node:path";
import { type Clock, KnackError, readPlainText } from "../base/index.ts";
import { readPurposeSpend } from "../models/index.ts";
import type { RunBegun } from "../records/index.ts";
import { type Env, type Home, resolveSettings } from "../settings/index.ts";
import type { BackgroundWork, Store } from "../store/index.ts";
import type { Redactor } from "../trust/index.ts";
import { prepareRun, prepareWorkspace, type StartOptions } from "./begin.ts";
import { driveRun, type RunningWorker } from "./drive.ts";
import { confineHarness } from "./harness/confine.ts";
import { openHarness } from "./harness/open-harness.ts";
import type { Dispatch, LoopState } from "./machine.ts";
import { findRun, listRuns, recordBegin, type StoredRun } from "./record.ts";
import { digestText, LoopRun } from "./run.ts";

export interface LoopDeps {
  readonly home: Home;
  readonly store: Store;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly env: Env;
  /** The folder of the plugin's template, which has the roles' prompts. */
  readonly template: string | undefined;
  readonly projectAt: (cwd: string) => Promise<{ readonly id: string; readonly name: string }>;
  readonly claim: BackgroundWork["claim"];
  readonly giveBack: BackgroundWork["giveBack"];
}

/** What a person who watches sees, and how they stop it. */
export interface Watcher {
  readonly signal: AbortSignal;
  onChange(view: RunView, working: readonly RunningWorker[]): void;
}

/** A run for people and programs. */
export interface RunView {
  readonly begun: RunBegun;
  readonly state: LoopState;
  readonly usd: number;
  readonly msLeft: number | null;
}

/** The learning loop. */
export function openLoop(deps: LoopDeps) {
  const { store } = deps;
  return {
    /** Begins a run, and goes on with it until it ends or is stopped. */
    start: async (options: StartOptions, cwd: string, watcher: Watcher): Promise<RunView> => {
      // A wrong name is an error before anything is made.
      openHarness(options.harness, deps);
      const stored = await begin(deps, options, cwd);
      return goOn(deps, stored, watcher);
    },
    resume: async (name: string, watcher: Watcher): Promise<RunView> => {
      const stored = await findRun(store, name);
      if (stored.state.place.kind !== "ended") return goOn(deps, stored, watcher);
      throw new KnackError("WRONG_USAGE", `The run ${stored.begun.run} has ended.`, {
        hint: `See what came of it: knack loop show ${stored.begun.run}`,
      });
    },
    show: async (name: string): Promise<RunView> => view(deps, await findRun(store, name)),
    list: (project: string | null) => listRuns(store, project),
  };
}

async function begin(deps: LoopDeps, options: StartOptions, cwd: string): Promise<StoredRun> {
  const { store, clock } = deps;
  const project = await deps.projectAt(cwd);
  const promptDigest = `sha256:${digestText(roles.map((role) => readPrompt(deps, role)).join("\n"))}`;
  const begun = await prepareRun(
    { ...deps, promptDigest, othersHistory: async () => null },
    options,
    project,
  );
  return recordBegin(store, begun, { at: clock.now(), project: project.id });
}

const leaseMs = 6 * 60 * 60_000;

async function goOn(deps: LoopDeps, stored: StoredRun, watcher: Watcher): Promise<RunView> {
  const { clock, env, home } = deps;
  const { begun } = stored;
  const lease = `loop ${begun.run}`;
  if (!(await deps.claim(lease, clock.now() + leaseMs)))
    throw new KnackError("WRONG_USAGE", `Another process is at the run ${begun.run}.`, {
      hint: `See how far it is: knack loop show ${begun.run}`,
    });
  try {
    await prepareWorkspace(begun, env.PATH);
    const settings = resolveSettings(home, null);
    const run = new LoopRun({ ...deps, settings, enforceFreeze: () => null }, stored);
    let spent = 0;
    const show = (state: LoopState): RunView => ({ ...describe(deps, begun, state), usd: spent + state.usd });
    spent = await readSpent(deps, stored);
    spent -= run.state.usd;
    await driveRun({
      ...{ run, clock, env, signal: watcher.signal },
      harness: confineHarness(openHarness(begun.harness, deps), {
        ...{ work: begun.work, state: begun.state, repository: begun.branch?.repository ?? null },
        // What is in a run's own folders is looked at when an artifact is read.
        isOwn: (path) => path.startsWith(`${begun.work}${sep}.`),
        searchPath: env.PATH,
      }),
      readPrompt: (role) => readPrompt(deps, role),
      workerMs: settings["loop.workerMinutes"] * 60_000,
      onChange: (state, working) => watcher.onChange(show(state), working),
    });
    return view(deps, await findRun(deps.store, begun.run));
  } finally {
    await deps.giveBack(lease);
  }
}

function describe({ clock }: LoopDeps, begun: RunBegun, state: LoopState): Omit<RunView, "usd"> {
  const { deadline } = state.setup.goal;
  return { begun, state, msLeft: deadline === null ? null : Math.max(0, deadline - clock.now()) };
}

async function view(deps: LoopDeps, stored: StoredRun): Promise<RunView> {
  return { ...describe(deps, stored.begun, stored.state), usd: await readSpent(deps, stored) };
}

async function readSpent({ store, clock }: LoopDeps, { begun, at }: StoredRun): Promise<number> {
  return (await readPurposeSpend(store, `loop:${begun.run}`, at, clock.now())).usd;
}

const roles = [
  "explorer",
  "strategist",
  "planner",
  "step-worker",
  "analyst",
  "promoter",
  "consolidator",
] as const satisfies readonly Dispatch["role"][];

/** The instructions of a role. */
function readPrompt({ template }: LoopDeps, role: Dispatch["role"]): string {
  const path = template === undefined ? null : join(template, "skills", "goal-loop", `${role}-prompt.md`);
  const own = path !== null && existsSync(path) ? readPlainText(path) : null;
  return (
    own ??
    `You are the ${role} of a learning loop. Write one JSON file to outputPath, of the form of outputSchema.`
  );
}
