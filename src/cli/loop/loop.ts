import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { errorMessage } from "../../base/index.ts";
import { loopModes, loopTiers, phaseRanges, type RunningWorker, type RunView } from "../../loop/index.ts";
import { formatUsd } from "../../models/index.ts";
import type { Knack } from "../../open.ts";
import { resolveHome, resolveSettings } from "../../settings/index.ts";
import { arg, type CommandCall, defineCommand, wrongUsage } from "../command.ts";
import { changeKnack } from "../knack.ts";
import { showLine } from "../screen/screen.ts";
import { formatTime, oneLine } from "../screen/text.ts";
import { answerList, type OpenCall, reads, runSubcommand, type Subcommands } from "../subcommands.ts";
import { describeRun, describeRunNow, listPhases, presentRun } from "./present.ts";

const args = {
  words: arg.words("start, resume [run], show [run], list; without words: list"),
  goal: arg.option("with start: what is to be done, in words or as a file of JSON"),
  kind: arg.option("with start: the kind of goal; runs of a kind learn from each other"),
  deadline: arg.option("with start: until when, such as 2026-11-01T12:00, or 30m, 2h, 1d from now"),
  mode: arg.option("with start: train, frozen (nothing is learned) or candidate (learned on a copy)"),
  range: arg.option("with start: full, pre-execute or post-execute"),
  tier: arg.option("with start: light (fewer workers), full, or auto"),
  harness: arg.option("with start: claude, codex, gemini, opencode or command:<program>"),
  repo: arg.option("with start: the repository to work on, by default the one here; none: no repository"),
  work: arg.option("with start: the folder of this run, by default a fresh one", "folder"),
  state: arg.option("with start: the folder of what was learned, by default the project's", "folder"),
  budget: arg.option("with start: the most that the run may cost, in US dollars"),
  all: arg.flag("with list: the runs of all projects"),
  ...arg.json,
} as const;

type LoopCall = CommandCall<typeof args>;

const subcommands: Subcommands<LoopCall> = {
  start: (call) => {
    const options = readOptions(call);
    return follow(call, (loop, watcher) => loop.start(options, process.cwd(), watcher));
  },
  resume: (call, [run = ""]) => follow(call, (loop, watcher) => loop.resume(run, watcher)),
  show: reads(show, (words) => words[0] ?? ""),
  list: reads(list),
};

export const loop = defineCommand({
  about: "Work on a goal in seven phases, and learn from how it went: the next run starts with it.",
  args,
  run: (call: LoopCall) => runSubcommand("loop", subcommands, call),
});

// --- What is asked for ---

function readOptions({ args, env }: LoopCall) {
  if (args.goal === undefined)
    throw wrongUsage(
      "knack loop start needs a goal.",
      'knack loop start --goal "Make the build pass on Node 24"',
    );
  const settings = resolveSettings(resolveHome(env), null);
  const usd = args.budget === undefined ? settings["loop.budget"] : Number(args.budget);
  if (!(usd >= 0))
    throw wrongUsage(`Invalid --budget "${args.budget}".`, "Use an amount in US dollars, such as 2.50.");
  return {
    goal: readGoal(args.goal),
    kind: args.kind ?? null,
    deadline: args.deadline === undefined ? null : readDeadline(args.deadline, Date.now()),
    mode: chooseWord("mode", args.mode, loopModes, "train"),
    range: chooseWord("range", args.range ?? env.LEARNER_PHASE_RANGE, phaseRanges, "full"),
    tier: chooseWord("tier", args.tier, loopTiers, "auto"),
    harness: args.harness ?? "claude",
    work: args.work === undefined ? null : resolve(args.work),
    state: args.state === undefined ? null : resolve(args.state),
    repository: args.repo === "none" ? null : resolve(args.repo ?? "."),
    usd,
  };
}

/** A goal in words, or what a file says that the words name. */
function readGoal(word: string): unknown {
  if (!/\.json$/i.test(word) || !existsSync(word)) {
    if (/^\S+\.json$/i.test(word))
      throw wrongUsage(`There is no file ${word}.`, "Give the goal in words, or a file of JSON.");
    return word;
  }
  try {
    return JSON.parse(readFileSync(word, "utf8"));
  } catch (error) {
    throw wrongUsage(`${word} is not JSON: ${errorMessage(error)}.`);
  }
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function readDeadline(word: string, now: number): number {
  const [, count, unit] = /^(\d+(?:\.\d+)?)([mhd])$/.exec(word) ?? [];
  const at = count === undefined ? Date.parse(word) : now + Number(count) * unitMs[unit as "m"];
  if (Number.isNaN(at))
    throw wrongUsage(`Invalid --deadline "${word}".`, "Use a date such as 2026-11-01T12:00, or 30m, 2h, 1d.");
  if (at <= now) throw wrongUsage(`The deadline ${word} is over.`, "Give one that is ahead.");
  return at;
}

function chooseWord<Word extends string>(
  name: string,
  word: string | undefined,
  words: readonly Word[],
  standard: NoInfer<Word>,
): Word {
  if (word === undefined || word === "") return standard;
  const known = words.find((one) => one === word);
  if (known === undefined) throw wrongUsage(`Invalid --${name} "${word}".`, `Use ${words.join(", ")}.`);
  return known;
}

// --- A run, while it goes on ---

type OpenedLoop = Awaited<ReturnType<Knack["loop"]>>;
type Watcher = Parameters<OpenedLoop["resume"]>[1];

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Goes on with a run, shows where it is, and stops it cleanly when the person does. */
async function follow(
  call: LoopCall,
  work: (loop: OpenedLoop, watcher: Watcher) => Promise<RunView>,
): Promise<number> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  for (const signal of stopSignals) process.once(signal, abort);
  const watch = watchRun(call);
  try {
    return await changeKnack(
      call,
      async (knack) => {
        const view = await work(await knack.loop(), { signal: stop.signal, onChange: watch.show });
        watch.end();
        return answerRun(call, view);
      },
      { create: true, template: call.program.template },
    );
  } finally {
    watch.end();
    for (const signal of stopSignals) process.off(signal, abort);
  }
}

/** The phases that are over, a line each, and below them where the run is now. */
function watchRun({ screen }: LoopCall) {
  const line = showLine();
  let told = 0;
  let now: [RunView, readonly RunningWorker[]] | null = null;
  const tick = () => now !== null && line.report(describeRunNow(...now, Date.now()));
  const timer = setInterval(tick, 1_000);
  return {
    show: (view: RunView, working: readonly RunningWorker[]): void => {
      if (now === null) screen.warn([`Run ${view.begun.run}: ${oneLine(view.begun.goal, 80)}`]);
      now = [view, working];
      const lines = listPhases(view, screen);
      if (lines.length > told) line.end();
      screen.warn(lines.slice(told));
      told = lines.length;
      tick();
    },
    end: () => {
      clearInterval(timer);
      line.end();
    },
  };
}

function answerRun(call: LoopCall, view: RunView): number {
  const { place } = view.state;
  const isDone = place.kind === "ended" && place.end === "completed";
  return call.answer(describeRun(view), ["", presentRun(view, call.screen)], isDone ? 0 : 1);
}

// --- Runs that were ---

async function show({ knack, answer, screen }: OpenCall<LoopCall>, word: string): Promise<number> {
  const view = await (await knack.loop()).show(word);
  return answer(describeRun(view), [
    `Run ${view.begun.run}: ${oneLine(view.begun.goal, 100)}`,
    listPhases(view, screen),
    "",
    presentRun(view, screen),
  ]);
}

async function list({ knack, ...call }: OpenCall<LoopCall>): Promise<number> {
  const project = call.args.all ? null : await knack.projectOf(process.cwd());
  const runs = await (await knack.loop()).list(project);
  return answerList(call, {
    items: runs,
    json: {
      runs: runs.map(({ at, begun: { setup: _, ...begun }, ended }) => ({ at, ...begun, ended })),
    },
    columns: {
      run: ({ begun }) => begun.run,
      began: ({ at }) => formatTime(at),
      mode: ({ begun }) => begun.mode,
      end: ({ ended }) => ended?.end ?? "goes on, or was stopped",
      met: ({ ended }) => ended?.met ?? "",
      cost: ({ ended }) => (ended ? formatUsd(ended.usd) : ""),
      goal: ({ begun }) => oneLine(begun.goal, 60),
    },
    empty: [
      "No runs yet.",
      `To begin one: ${call.screen.knack} loop start --goal "Make the build pass on Node 24"`,
    ],
    below: runs.length > 0 ? ["", `More of one: ${call.screen.knack} loop show ${runs[0]?.begun.run}`] : [],
  });
}
