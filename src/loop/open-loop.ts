import { existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { type Clock, KnackError, readPlainText } from "../base/index.ts";
import { recordEntries } from "../lessons/index.ts";
import { readPurposeSpend } from "../models/index.ts";
import type { Project, RunBegun, RunId } from "../records/index.ts";
import { type Env, resolveSettings } from "../settings/index.ts";
import type { BackgroundWork, Store } from "../store/index.ts";
import type { Redactor } from "../trust/index.ts";
import {
  chooseStateFolder,
  findRealPath,
  makeFolder,
  nameLoopFolder,
  prepareRun,
  type StartOptions,
} from "./begin.ts";
import { driveRun, findWaker, type RunningWorker } from "./drive.ts";
import { findWakeTime } from "./execution.ts";
import { closeFence, openFence } from "./fence.ts";
import { confineHarness } from "./harness/confine.ts";
import { roles } from "./harness/harness.ts";
import { openHarness, workerVariable } from "./harness/open-harness.ts";
import type { Dispatch, LoopState } from "./machine.ts";
import { findLatestRun, findRun, listRuns, recordBegin, type StoredRun } from "./record.ts";
import { clientHarness, digestText, LoopRun, type RunOutcome } from "./run.ts";
import { adoptCandidate, sealCandidate } from "./state/candidates.ts";
import { describeEvidence } from "./state/curation.ts";
import { openStateFolder } from "./state/state-folder.ts";
import { closeGoal, type DutyDeps, gatherOthers, openGoal, tellSpans } from "./surroundings.ts";
import {
  countUncommitted,
  dropResult,
  keepResult,
  measureResult,
  prepareWorkspace,
  pruneWork,
} from "./workspace.ts";

export interface LoopDeps extends DutyDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly env: Env;
  /** The folder of the plugin's template, which has the roles' prompts. */
  readonly template: string | undefined;
  readonly projectAt: (cwd: string) => Promise<Project>;
  readonly claim: BackgroundWork["claim"];
  readonly giveBack: BackgroundWork["giveBack"];
}

/** What a person who watches sees, and how they stop it. */
export interface Watcher {
  readonly signal: AbortSignal;
  /** A run has begun, without so many files of its repository that are not committed. */
  onBegin(begun: RunBegun, uncommitted: number): void;
  onChange(view: RunView, working: readonly RunningWorker[]): void;
}

/** A run for people and programs. */
export interface RunView {
  readonly begun: RunBegun;
  readonly state: LoopState;
  readonly usd: number;
  readonly msLeft: number | null;
  /** How much it changed in the repository, in git's words; empty for nothing. */
  readonly changed: string;
}

/** What is to be done next in a run that its caller drives. */
export type NextStep = RunView & {
  readonly next:
    | { readonly kind: "dispatch"; readonly workers: readonly ClientTask[] }
    | { readonly kind: "wait"; readonly until: number | null; readonly because: string }
    | { readonly kind: "ended" };
};

/** A worker for the caller to start: everything it has to be told, and where it leaves its artifact. */
interface ClientTask {
  readonly worker: string;
  readonly role: Dispatch["role"];
  readonly instructions: string;
  readonly output: string;
  readonly tools: string;
  readonly cwd: string;
}

/** The learning loop. */
export function openLoop(deps: LoopDeps) {
  const { store } = deps;
  const nameState = async (given: string | null, cwd: string) =>
    chooseStateFolder(deps.home, given, await deps.projectAt(cwd));
  return {
    /** Begins a run, and goes on with it until it ends or is stopped. */
    start: async (options: StartOptions, cwd: string, watcher: Watcher): Promise<RunView> => {
      const stored = await begin(deps, options, cwd);
      watcher.onBegin(stored.begun, await countUncommitted(stored.begun, deps.env.PATH));
      return goOn(deps, stored, watcher);
    },
    /** Begins a run whose workers are the caller's own, and says what they have to do first. */
    startAlone: async (options: StartOptions, cwd: string): Promise<NextStep> =>
      goOnAlone(deps, await begin(deps, options, cwd), settle),
    resume: async (name: string, cwd: string, watcher: Omit<Watcher, "onBegin">): Promise<RunView> => {
      const stored = await findOpen(deps, name, cwd);
      if (stored.begun.harness !== clientHarness) return goOn(deps, stored, watcher);
      throw new KnackError("WRONG_USAGE", `The workers of ${stored.begun.run} are an agent's own.`, {
        hint: `The agent goes on with: knack loop next ${stored.begun.run}`,
      });
    },
    /** What the caller has to do next. */
    next: async (name: string, cwd: string): Promise<NextStep> =>
      goOnAlone(deps, await findOpen(deps, name, cwd), settle),
    /** Takes what the caller's worker left, or why it left nothing. */
    submit: async (name: string, worker: string, said: Said, cwd: string): Promise<NextStep> =>
      goOnAlone(deps, await findOpen(deps, name, cwd), async (run, rest) => {
        await submitWork(run, worker, said);
        return settle(run, rest);
      }),
    show: async (name: string): Promise<RunView> => view(deps, await findRun(store, name)),
    showLatest: async (cwd: string): Promise<RunView> =>
      view(deps, await findLatestRun(store, (await deps.projectAt(cwd)).id, "any")),
    /** Runs, the newest first, each with whether it has ended and its work folder is still there. */
    list: async (project: string | null) =>
      (await listRuns(store, project)).map((run) => ({
        ...run,
        hasWork: run.ended !== null && existsSync(run.begun.work),
      })),
    /** Removes work folders of runs that have ended: of the one that is named, or of all that lie where Knack puts them. */
    prune: async (name: string, project: string | null, apply: boolean) => {
      refuseWorkers(deps);
      const runs = await listRuns(store, null);
      const named = name === "" ? null : (await findRun(store, name)).begun.run;
      const inUse = runs.filter(({ ended }) => ended === null).map(({ begun }) => begun.work);
      const own = findRealPath(join(nameLoopFolder(deps.home), "runs"));
      const wanted = runs.filter(({ begun: { run, work }, project: of }) =>
        named === null ? dirname(work) === own && (project === null || of === project) : run === named,
      );
      const found = [];
      for (const { begun } of wanted)
        if (existsSync(begun.work)) {
          const { run, work } = begun;
          const kept = inUse.includes(work)
            ? "its run has not ended"
            : await pruneRun(deps, begun, named !== null, apply);
          found.push({ run, work, kept });
        }
      return found;
    },
    /** What a run learned on a copy; with `apply`, it is in force from then on. */
    adopt: async (name: string, apply: boolean) => {
      refuseWorkers(deps);
      return adopt(deps, await findRun(store, name), apply);
    },
    /** The changes of a state folder, the newest first, each with what the runs since say about it. */
    changes: async (given: string | null, cwd: string) => {
      const path = await nameState(given, cwd);
      // To look is not to make one.
      if (!existsSync(path) || readdirSync(path).length === 0) return { path, changes: [] };
      const listed = await (await openState(deps, path)).listChanges();
      return { path, changes: listed.map((one) => ({ ...one, says: describeEvidence(one.evidence) })) };
    },
    /** Takes changes back: the one that is named, and those that evidence refutes. */
    revert: async (given: string | null, cwd: string, sha: string | null) => {
      refuseWorkers(deps);
      const state = await openState(deps, await nameState(given, cwd));
      const at = deps.clock.now();
      const revert = sha === null ? [] : [{ sha, reason: "a person took it back" }];
      const curation = { archive: [], merge: [], revert, operatorRequests: [] };
      return hold(deps, holdState(state.path), "then try again", () =>
        state.curate(curation, { run: `person-${at}`, at, head: null }),
      );
    },
  };
}

/** Removes what a run left, but not what it offers for adoption. */
async function pruneRun(
  deps: LoopDeps,
  begun: RunBegun,
  isNamed: boolean,
  apply: boolean,
): Promise<string | null> {
  const isCopy = begun.state !== begun.active && existsSync(begun.state);
  if (isCopy) {
    const { candidate } = (await findRun(deps.store, begun.run)).state;
    const head = existsSync(begun.active) ? await (await openState(deps, begun.active)).readHead() : null;
    if (candidate !== null && head === candidate.parentSha)
      return `it can be adopted: knack loop adopt ${begun.run}`;
  }
  const kept = await pruneWork(begun, { isNamed, apply }, deps.env.PATH);
  if (kept === null && isCopy && apply) rmSync(begun.state, { recursive: true, force: true });
  return kept;
}

function openState({ clock, env }: LoopDeps, path: string) {
  return openStateFolder(path, { searchPath: env.PATH, at: clock.now() });
}

/** What is to be done once a run has ended, as often as somebody may have been killed meanwhile. */
async function tidyUp(deps: LoopDeps, run: RunId, state: LoopState): Promise<void> {
  closeFence(deps.home, run);
  await closeGoal(deps, deps.store, run, state);
}

async function findOpen(deps: LoopDeps, name: string, cwd: string): Promise<StoredRun> {
  refuseWorkers(deps);
  const { store } = deps;
  const { id } = await deps.projectAt(cwd);
  const stored = await (name === "" ? findLatestRun(store, id, "open") : findRun(store, name));
  const { place } = stored.state;
  if (place.kind !== "ended") return stored;
  await tidyUp(deps, stored.begun.run, stored.state);
  throw new KnackError("WRONG_USAGE", `The run ${stored.begun.run} has ended (${place.end}).`, {
    hint: `See what came of it: knack loop show ${stored.begun.run}`,
  });
}

async function begin(deps: LoopDeps, options: StartOptions, cwd: string): Promise<StoredRun> {
  const { store, clock } = deps;
  refuseWorkers(deps);
  // A wrong name is an error before anything is made.
  if (options.harness !== clientHarness) openHarness(options.harness, deps);
  const project = await deps.projectAt(cwd);
  const promptDigest = `sha256:${digestText(roles.map((role) => readPrompt(deps, role)).join("\n"))}`;
  const state = makeFolder(chooseStateFolder(deps.home, options.state, project));
  return hold(deps, holdState(state), "then start again", async () => {
    const begun = await prepareRun(
      { ...deps, promptDigest, othersHistory: (goal) => gatherOthers(store, goal, clock.now()) },
      { ...options, state },
    );
    const stored = await recordBegin(store, begun, { at: clock.now(), project: project.id });
    await openGoal(deps, project, begun.run, begun.setup.goal);
    return stored;
  });
}

/** Loops are one level deep, and what a loop learned is not for its workers to change. */
function refuseWorkers({ env }: Pick<LoopDeps, "env">): void {
  if (env[workerVariable])
    throw new KnackError("WRONG_USAGE", "This is a worker of a loop; it cannot start or change a loop.", {
      hint: "Do the step that you were given, and leave its artifact.",
    });
}

const leaseMs = 6 * 60 * 60_000 - 60_000;
/** A run may take longer than a lease. */
const renewMs = 60 * 60_000;

/** Leases by name, each with what it is for. */
type Leases = Readonly<Record<string, string>>;

const holdState = (folder: string): Leases => ({ [`loop state ${folder}`]: `the state folder ${folder}` });

/** A run, the state folder that it may change, and the one that has to stay as it is while it goes on. */
function listLeases({ begun: { run, state, active } }: StoredRun): Leases {
  return { [`loop ${run}`]: `the run ${run}`, ...holdState(state), ...holdState(active) };
}

/** Does something while no other process does it. */
async function hold<Result>(
  { claim, giveBack, clock }: Pick<LoopDeps, "claim" | "giveBack" | "clock">,
  leases: Leases,
  then: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const held: string[] = [];
  const take = (lease: string) => claim(lease, clock.now() + leaseMs);
  let renewing: Promise<unknown> = Promise.resolve();
  const renewal = setInterval(() => {
    renewing = Promise.allSettled([renewing, ...held.map(take)]);
  }, renewMs).unref();
  try {
    for (const [lease, what] of Object.entries(leases)) {
      if (!(await take(lease)))
        throw new KnackError("WRONG_USAGE", `Another process is at ${what}.`, {
          hint: `Wait until it is done (knack loop list), ${then}.`,
        });
      held.push(lease);
    }
    return await work();
  } finally {
    clearInterval(renewal);
    await renewing;
    for (const lease of held) await giveBack(lease);
  }
}

/** Opens a run, hands it to the work, and tidies up where it has ended. */
function withRun<Result>(
  deps: LoopDeps,
  stored: StoredRun,
  work: (run: LoopRun, spentBefore: number) => Promise<Result>,
): Promise<Result> {
  const { env, home } = deps;
  const { begun } = stored;
  return hold(deps, listLeases(stored), `then: knack loop resume ${begun.run}`, async () => {
    const fence = await openFence(home, stored, env.PATH);
    await prepareWorkspace(begun, env.PATH);
    const settings = resolveSettings(home, null);
    const run = new LoopRun({ ...deps, settings, conclude: () => concludeRun(deps, begun, fence) }, stored);
    const result = await work(run, (await readSpent(deps, stored)) - stored.state.usd);
    if (run.pending.kind !== "ended") return result;
    await tidyUp(deps, begun.run, run.state);
    await tellSpans(settings["loop.spans"], begun.run, run.state);
    return result;
  });
}

function goOn(deps: LoopDeps, stored: StoredRun, watcher: Omit<Watcher, "onBegin">): Promise<RunView> {
  const { clock, env } = deps;
  const { begun } = stored;
  return withRun(deps, stored, async (run, spentBefore) => {
    const show = (state: LoopState) => ({ ...describe(deps, begun, state), usd: spentBefore + state.usd });
    await driveRun({
      ...{ run, clock, env, signal: watcher.signal },
      harness: confineHarness(openHarness(begun.harness, deps), {
        ...{ work: begun.work, repository: begun.branch?.repository ?? null },
        state: begun.mode === "frozen" ? null : begun.state,
        // What is in a run's own folders is looked at when an artifact is read.
        isOwn: (path) => path.startsWith(`${begun.work}${sep}.`),
        searchPath: env.PATH,
      }),
      readPrompt: (role) => readPrompt(deps, role),
      workerMs: resolveSettings(deps.home, null)["loop.workerMinutes"] * 60_000,
      onChange: (state, working) => watcher.onChange(show(state), working),
    });
    return view(deps, await findRun(deps.store, begun.run));
  });
}

async function concludeRun(
  deps: LoopDeps,
  begun: StoredRun["begun"],
  fence: Awaited<ReturnType<typeof openFence>>,
): Promise<RunOutcome> {
  const { clock, env } = deps;
  const violation = fence?.enforce() ?? null;
  if (violation !== null) {
    await dropResult(begun, env.PATH);
    return { violation, candidate: null };
  }
  await keepResult(begun, clock.now(), env.PATH);
  if (begun.mode !== "candidate") return { violation: null, candidate: null };
  const { stateSha: sha, stateDigest: digest } = begun.setup;
  return {
    violation: null,
    candidate: await sealCandidate(begun.run, { sha, digest }, await openState(deps, begun.state)),
  };
}

// --- A run that its caller drives ---

/** What a caller says of a worker. */
export interface Said {
  readonly summary: string;
  /** Why the worker left nothing; null where it did. */
  readonly failed: string | null;
  readonly usd: number | null;
}

type Settled = { readonly next: NextStep["next"] };

async function goOnAlone(
  deps: LoopDeps,
  stored: StoredRun,
  work: (run: LoopRun, deps: LoopDeps) => Promise<Settled>,
): Promise<NextStep> {
  const settled = await withRun(deps, stored, (run) => work(run, deps));
  return { ...(await view(deps, await findRun(deps.store, stored.begun.run))), ...settled };
}

/** Does what is Knack's own to do, until somebody else has to do something. */
async function settle(run: LoopRun, deps: LoopDeps): Promise<Settled> {
  const { signal } = new AbortController();
  for (;;) {
    const { pending, cutOff } = run;
    if (pending.kind === "ended") return { next: { kind: "ended" } };
    if (cutOff !== null && deps.clock.now() >= cutOff) await run.stop("the deadline is reached");
    else if (pending.kind === "dispatch")
      return {
        next: { kind: "dispatch", workers: pending.workers.map((asked) => tellClient(deps, run, asked)) },
      };
    else if (pending.kind === "wait") {
      const by = await findWaker(run, pending, deps, signal);
      if (by === null) {
        const { step, since } = pending;
        return { next: { kind: "wait", until: findWakeTime(step, since), because: step.description } };
      }
      await run.record({ kind: "woke", by });
    } else if (pending.kind === "hold") {
      if (deps.clock.now() < pending.until)
        return { next: { kind: "wait", until: pending.until, because: "the strategy holds on until then" } };
      await run.record({ kind: "woke", by: "the clock" });
    } else await run.work(pending.kind, signal);
  }
}

function tellClient(deps: LoopDeps, run: LoopRun, asked: Dispatch): ClientTask {
  const { inputs, outputs, tools, cwd } = run.brief(asked);
  const instructions = `${readPrompt(deps, asked.role)}\n\nInputs:\n${JSON.stringify(inputs, null, 2)}\n`;
  return { worker: asked.id, role: asked.role, instructions, output: outputs[0] ?? "", tools, cwd };
}

async function submitWork(run: LoopRun, worker: string, { summary, failed, usd }: Said): Promise<void> {
  const { pending } = run;
  const waiting = pending.kind === "dispatch" ? pending.workers : [];
  const asked = waiting.find(({ id }) => id === worker);
  if (asked === undefined)
    throw new KnackError("UNKNOWN_NAME", `Nobody waits for a worker ${worker}.`, {
      hint:
        waiting.length > 0
          ? `Waited for: ${waiting.map(({ id }) => id).join(", ")}.`
          : `knack loop next ${run.begun.run}`,
    });
  await run.take(
    asked,
    failed === null
      ? { kind: "returned", summary, usd }
      : { kind: "failed", reason: "exit", detail: failed, usd },
  );
}

// --- Looking at runs ---

function describe({ clock }: LoopDeps, begun: RunBegun, state: LoopState): Omit<RunView, "usd"> {
  const { deadline } = state.setup.goal;
  return {
    begun,
    state,
    msLeft: deadline === null ? null : Math.max(0, deadline - clock.now()),
    changed: "",
  };
}

async function view(deps: LoopDeps, stored: StoredRun): Promise<RunView> {
  const isOver = stored.state.place.kind === "ended";
  const changed = isOver ? await measureResult(stored.begun, deps.env.PATH) : "";
  return { ...describe(deps, stored.begun, stored.state), usd: await readSpent(deps, stored), changed };
}

/** What a run cost: what is on the ledger, or what a caller said that its own workers did. */
async function readSpent({ store, clock }: LoopDeps, { begun, at, state }: StoredRun): Promise<number> {
  const { usd } = await readPurposeSpend(store, `loop:${begun.run}`, at, clock.now());
  return begun.harness === clientHarness ? state.usd : usd;
}

async function adopt(deps: LoopDeps, { begun, state }: StoredRun, apply: boolean) {
  const { run, active } = begun;
  const { candidate } = state;
  if (candidate === null)
    throw new KnackError("WRONG_USAGE", `The run ${run} has nothing to adopt.`, {
      hint:
        begun.mode === "candidate"
          ? `It changed nothing, or has not ended: knack loop show ${run}`
          : "Only a run with --mode candidate learns on a copy.",
    });
  if (apply) {
    const at = deps.clock.now();
    await hold(deps, holdState(active), "then try again", async () =>
      adoptCandidate(await openState(deps, active), candidate, deps.env.PATH),
    );
    const data = { run, state: active, sha: candidate.candidateSha };
    const common = { at, project: null, session: null, actor: "person" as const };
    await deps.store.transaction((tx) =>
      recordEntries(tx, [{ ...common, type: "loop.adopted", key: `adopted:${run}`, data }]),
    );
  }
  return { run, state: active, ...candidate };
}

/** The instructions of a role, with the rules that hold for every worker. */
function readPrompt({ template = "" }: LoopDeps, role: Dispatch["role"]): string {
  const folder = join(template, "skills", "goal-loop");
  return [`${role}-prompt.md`, "worker-rules.md"]
    .map((name) => {
      const text = readPlainText(join(folder, name));
      if (text !== null) return text;
      throw new KnackError("LIBRARY_UNAVAILABLE", `The instructions ${name} are missing from ${folder}.`, {
        hint: "Reinstall Knack: npm install -g knack-cli",
      });
    })
    .join("\n");
}
