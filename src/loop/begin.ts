import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type Clock, KnackError, makeId, readPlainText } from "../base/index.ts";
import type { RunBegun } from "../records/index.ts";
import { type Env, type Home, isBelowHome } from "../settings/index.ts";
import { slugify } from "../text/index.ts";
import { redact } from "../trust/index.ts";
import type { LoopGoal, loopModes, phaseRanges, RunSetup } from "./machine.ts";
import {
  executeSummarySchema,
  explainMisfit,
  goalSchema,
  strategySchema,
  type TopicFinding,
} from "./messages.ts";
import { makeRunId } from "./record.ts";
import { digestCriteria } from "./render.ts";
import { digestText } from "./run.ts";
import { digestState } from "./state/digest.ts";
import { openStateFolder, type StateFolder } from "./state/state-folder.ts";
import { runFolders } from "./work-folder.ts";
import { findRepository } from "./workspace.ts";

export const loopTiers = ["auto", "light", "full"] as const;

/** What a person asks for. */
export interface StartOptions {
  /** A goal as it was given: its words, or what a file says. */
  readonly goal: unknown;
  readonly kind: string | null;
  readonly deadline: number | null;
  readonly mode: (typeof loopModes)[number];
  readonly range: (typeof phaseRanges)[number];
  readonly tier: (typeof loopTiers)[number];
  readonly harness: string;
  readonly work: string | null;
  readonly state: string | null;
  /** A folder of the repository that the goal is about; null for none. */
  readonly repository: string | null;
  readonly usd: number;
}

interface BeginDeps {
  readonly home: Home;
  readonly clock: Clock;
  readonly env: Env;
  readonly promptDigest: string;
  /** What was imported from others and may matter to the goal. */
  readonly othersHistory: (goal: LoopGoal) => Promise<TopicFinding | null>;
}

export type Beginning = RunBegun & { readonly setup: RunSetup };

/** Decides everything that stays the same in a run. What it makes is empty: the run's folders, a new state folder. */
export async function prepareRun(
  deps: BeginDeps,
  options: StartOptions & { readonly state: string },
): Promise<Beginning> {
  const { home, clock, env } = deps;
  const startedAt = clock.now();
  const goal = readGoal(options, startedAt);
  const run = makeRunId(`${goal.id} ${goal.description}`, startedAt);
  const own = nameLoopFolder(home);
  const work = chooseWork(options.work ?? join(own, "runs", run), home, options);
  const active = options.state;
  const folder = await openStateFolder(active, { searchPath: env.PATH, at: startedAt });
  await folder.keepPolicy(startedAt);
  const tier = options.tier === "auto" ? chooseTier(goal, folder) : options.tier;
  const gathered = await gather(deps, goal, folder, tier);
  const given =
    options.range === "post-execute"
      ? readGiven(work)
      : { givenStrategy: null, givenFiles: [], earlierLog: "" };
  const setup: RunSetup = {
    ...{ goal, mode: options.mode, range: options.range, tier, startedAt, gathered, ...given },
    topics: tier === "light" ? [] : ["goal-parse", "world-state"],
    stateSha: await folder.readHead(),
    stateDigest: digestState(active),
    promptDigest: deps.promptDigest,
  };
  return {
    ...{ run, kind: goal.kind, mode: options.mode, harness: options.harness, work, setup },
    // A candidate learns on a copy.
    state: options.mode === "candidate" ? join(own, "candidates", run) : active,
    active,
    usd: options.usd,
    goal: goal.description.slice(0, 200),
    workspace: join(work, "workspace"),
    branch: await findRepository(options.repository, run, env.PATH),
  };
}

/** Where runs leave their work, and what they learned, unless a person names another folder. */
export function nameLoopFolder({ folder }: Pick<Home, "folder">): string {
  return `${folder}-loop`;
}

/** The state folder of a project: its own, unless a person names one. */
export function chooseStateFolder(
  { folder }: Home,
  given: string | null,
  project: { readonly id: string; readonly name: string },
): string {
  const name = `${slugify(project.name, 24) || "project"}-${makeId("", project.id).slice(0, 6)}`;
  return findRealPath(given ?? join(nameLoopFolder({ folder }), "state", name));
}

export function findRealPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** Makes a folder where there is none, and gives the path that it really has. */
export function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return realpathSync(path);
}

/** A goal from its words, from JSON in them, or from an object. */
function readGoal({ goal, kind, deadline }: StartOptions, now: number): LoopGoal {
  const parsed = goalSchema.safeParse(typeof goal === "string" ? { description: goal } : goal);
  if (!parsed.success)
    throw new KnackError("WRONG_USAGE", `The goal cannot be used: ${explainMisfit(parsed.error)}.`, {
      hint: 'Give words, or a file with {"id": "…", "description": "…", "kind": "…", "deadline": 0, "spec": {}}.',
    });
  const { id, description, kind: own, deadline: due, spec } = parsed.data;
  if (due != null && due <= now)
    throw new KnackError("WRONG_USAGE", `The goal's deadline, ${new Date(due).toISOString()}, is over.`, {
      hint: "Give one that is ahead, as milliseconds since 1970 or as a date.",
    });
  return {
    id: id ?? (slugify(description, 40) || "goal"),
    description: redact(description),
    kind: kind ?? own ?? null,
    deadline: deadline ?? due ?? null,
    spec: spec ?? null,
  };
}

const shortChars = 240;

/** Light for what is said in a sentence or two, nothing is specified about, and no strategy is known for. */
function chooseTier({ description, spec, kind }: LoopGoal, folder: StateFolder): "light" | "full" {
  const isKnown = folder.listFiles().some((path) => path.startsWith(`strategies/${kind}/`));
  return spec === null && description.length <= shortChars && !isKnown ? "light" : "full";
}

function chooseWork(path: string, home: Home, { range }: StartOptions): string {
  if (isBelowHome(home, path))
    throw new KnackError("WRONG_USAGE", `The work folder ${path} lies in Knack's own home.`, {
      hint: "What agents do there is never learned from: choose another folder.",
    });
  const made = makeFolder(path);
  const isUsed = runFolders.some((folder) => existsSync(join(path, folder)));
  if (isUsed && range !== "post-execute")
    throw new KnackError("WRONG_USAGE", `${path} holds the work of another run.`, {
      hint: "Choose an empty folder, or go on with that run: knack loop resume.",
    });
  return made;
}

/** What an analyst reads of phases that another run went through. */
const earlierFiles = [
  ...[".orient/summary.json", ".strategize/strategy.json", ".strategize/constitution.json"],
  ...[".plan/plan.json", ".execute/summary.json", ".execute/log.jsonl"],
];

/** What a run that only debriefs finds in its work folder: without an execution there is nothing to debrief. */
function readGiven(work: string): Pick<RunSetup, "givenStrategy" | "givenFiles" | "earlierLog"> {
  const summary = executeSummarySchema.safeParse(readJson(join(work, ".execute", "summary.json")));
  if (!summary.success)
    throw new KnackError(
      "WRONG_USAGE",
      `${work} has no usable .execute/summary.json: ${explainMisfit(summary.error)}.`,
      {
        hint: "With --range post-execute, the work is done before and says there how it went.",
      },
    );
  const strategy = strategySchema.safeParse(readJson(join(work, ".strategize", "strategy.json")));
  const frozen = readJson(join(work, ".strategize", "constitution.json")) as {
    successCriteriaCid?: string;
  } | null;
  const was = frozen?.successCriteriaCid;
  if (strategy.success && was !== undefined && was !== digestCriteria(strategy.data, digestText))
    throw new KnackError("WRONG_USAGE", "The success criteria were changed after they were frozen.", {
      hint: `Put ${join(work, ".strategize", "strategy.json")} back as it was.`,
    });
  return {
    givenStrategy: strategy.success ? strategy.data : null,
    givenFiles: earlierFiles.filter((path) => existsSync(join(work, path))),
    earlierLog: readPlainText(join(work, ".coordinator", "log.jsonl"), { within: work }) ?? "",
  };
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readPlainText(path) ?? "null");
  } catch {
    return null;
  }
}

const historyRuns = 20;

/** What Knack itself knows when a run begins, so that no worker has to find it out. */
async function gather(
  { clock, othersHistory }: BeginDeps,
  goal: LoopGoal,
  folder: StateFolder,
  tier: "light" | "full",
): Promise<readonly TopicFinding[]> {
  const gatheredAt = clock.now();
  const runs = folder.readRuns().filter(({ kind }) => kind === goal.kind);
  const passed = runs.filter(({ successCriteriaMet }) => successCriteriaMet === "yes").length;
  const others = await othersHistory(goal);
  return [
    ...(tier === "light"
      ? [{ topic: "goal-parse", gatheredAt, data: { goal: { ...goal } }, flags: [] }]
      : []),
    ...(runs.length > 0
      ? [
          {
            ...{ topic: "own-history", gatheredAt, flags: [] },
            data: { kind: goal.kind, runs: runs.length, passed, latest: runs.slice(-historyRuns) },
          },
        ]
      : []),
    ...(others ? [others] : []),
  ];
}
