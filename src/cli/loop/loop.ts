import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { errorMessage } from "../../base/index.ts";
import {
  clientHarness,
  loopModes,
  loopTiers,
  type NextStep,
  phaseRanges,
  type RunningWorker,
  type RunView,
} from "../../loop/index.ts";
import { formatUsd } from "../../models/index.ts";
import type { Knack } from "../../open.ts";
import { resolveHome, resolveSettings } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import { arg, type CommandCall, defineCommand, unknownName, wrongUsage } from "../command.ts";
import { changeKnack } from "../knack.ts";
import { showLine } from "../screen/screen.ts";
import { formatTime, oneLine, quotePath } from "../screen/text.ts";
import {
  answerList,
  changesReal,
  type OpenCall,
  reads,
  runSubcommand,
  type Subcommands,
  takes,
} from "../subcommands.ts";
import { compareRuns, describeRun, describeRunNow, listPhases, presentNext, presentRun } from "./present.ts";

const args = {
  words: arg.words(
    "start, resume [run], show [run], list, compare [run] [run], adopt <run>, revert [commit], prune [run], next [run], submit <run> <worker>; without words: list",
  ),
  goal: arg.option("with start: what is to be done, in words or as a file of JSON"),
  kind: arg.option("with start: the kind of goal; runs of a kind learn from each other"),
  deadline: arg.option("with start: until when, such as 2026-11-01T12:00, or 30m, 2h, 1d from now"),
  mode: arg.option("with start: train, frozen (nothing is learned) or candidate (learned on a copy)"),
  range: arg.option("with start: full, pre-execute or post-execute"),
  tier: arg.option("with start: light (fewer workers), full, or auto"),
  harness: arg.option(
    "with start: claude, codex, gemini, opencode, command:<program>, or client (your own subagents, by next and submit)",
  ),
  repo: arg.option("with start: the repository to work on, by default the one here; none: no repository"),
  work: arg.option("with start: the folder of this run, by default a fresh one", "folder"),
  state: arg.option(
    "with start, compare and revert: the folder of what was learned, by default the project's",
    "folder",
  ),
  budget: arg.option("with start: the most that the run may cost, in US dollars"),
  all: arg.flag("with list and prune: the runs of all projects"),
  summary: arg.option("with submit: what the worker said, in a line"),
  failed: arg.option("with submit: why the worker left nothing"),
  usd: arg.option("with submit: what the worker cost, in US dollars"),
  ...arg.json,
  "dry-run": arg.flag("with adopt, revert and prune: change nothing, show what would change"),
} as const;

type LoopCall = CommandCall<typeof args>;

const subcommands: Subcommands<LoopCall> = {
  start: (call) => {
    const options = readOptions(call);
    if (options.harness === clientHarness)
      return stepRun(call, (loop) => loop.startAlone(options, process.cwd()));
    return follow(call, (loop, watcher) => loop.start(options, process.cwd(), watcher));
  },
  resume: (call, [run = ""]) => follow(call, (loop, watcher) => loop.resume(run, process.cwd(), watcher)),
  show: reads(show, (words) => words[0] ?? ""),
  list: reads(list),
  compare: reads(compare, (words) => words.join(" ")),
  adopt: changesReal(adopt, takes("the id of a run", "knack loop list")),
  revert: changesReal(revert, (words) => words[0] ?? ""),
  prune: changesReal(prune, (words) => words[0] ?? ""),
  next: (call, [run = ""]) => stepRun(call, (loop) => loop.next(run, process.cwd())),
  submit: (call, [run = "", worker = ""]) => {
    const { summary = "", failed = null, usd } = call.args;
    if (worker === "")
      throw wrongUsage("knack loop submit takes a run and a worker.", "knack loop next says which.");
    const cost = usd === undefined ? null : Number(usd);
    if (cost !== null && !(cost >= 0 && cost < Number.POSITIVE_INFINITY))
      throw wrongUsage(`Invalid --usd "${usd}".`, "Use an amount in US dollars, such as 0.25.");
    const said = { summary: oneLine(summary, 300), failed, usd: cost };
    return stepRun(call, (loop) => loop.submit(run, worker, said, process.cwd()));
  },
};

export const loop = defineCommand({
  about: "Work on a goal in seven phases, and learn from how it went: the next run starts with it.",
  args,
  completes: [Object.keys(subcommands)],
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
type Watcher = Parameters<OpenedLoop["start"]>[2];

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
        const view = await work(await knack.loop(), {
          signal: stop.signal,
          onBegin: watch.begin,
          onChange: watch.show,
        });
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
  let isGreeted = false;
  const greet = ({ run, goal }: RunView["begun"]) => {
    if (!isGreeted) screen.warn([`Run ${run}: ${oneLine(goal, 80)}`]);
    isGreeted = true;
  };
  return {
    begin: (begun: RunView["begun"], uncommitted: number): void => {
      greet(begun);
      if (begun.branch !== null && uncommitted > 0)
        screen.warn([
          `It begins with the last commit of ${screen.path(begun.branch.repository)}, without ${several(uncommitted, "uncommitted file")}.`,
        ]);
    },
    show: (view: RunView, working: readonly RunningWorker[]): void => {
      greet(view.begun);
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
  const { place, analysis } = view.state;
  const isDone = place.kind === "ended" && place.end === "completed";
  const isMet = isDone && (analysis === null || analysis.successCriteriaMet === "yes");
  return call.answer(describeRun(view), ["", presentRun(view, call.screen)], isMet ? 0 : 1);
}

/** A run that an agent drives with its own subagents: what it has to do next. */
function stepRun(call: LoopCall, work: (loop: OpenedLoop) => Promise<NextStep>): Promise<number> {
  return changeKnack(
    call,
    async (knack) => {
      const step = await work(await knack.loop());
      const { next } = step;
      return call.answer({ ...describeRun(step), next }, presentNext(step, call.screen));
    },
    { create: true, template: call.program.template },
  );
}

// --- What was learned ---

async function adopt({ knack, ...call }: OpenCall<LoopCall>, run: string): Promise<number> {
  const adopted = await (await knack.loop()).adopt(run, !call.dryRun);
  const { changes, state } = adopted;
  return call.answer({ done: !call.dryRun, ...adopted }, [
    `${call.dryRun ? "Would put" : "Put"} ${several(changes.length, "change")} in force in ${call.screen.path(state)}:`,
    changes.map(({ sha, summary }) => `  ${sha.slice(0, 10)}  ${oneLine(summary, 100)}`),
    call.dryRun
      ? `To do it: ${call.screen.knack} loop adopt ${adopted.run}`
      : "The next run starts with them.",
    !call.dryRun && `To take one back: ${call.screen.knack} loop revert <commit> --state ${quotePath(state)}`,
  ]);
}

async function revert({ knack, ...call }: OpenCall<LoopCall>, sha: string): Promise<number> {
  const loop = await knack.loop();
  const given = call.args.state === undefined ? null : resolve(call.args.state);
  const { changes, path } = await loop.changes(given, process.cwd());
  const standing = changes.filter(({ revertedBy }) => revertedBy === null);
  const named = standing.filter((one) => sha !== "" && one.sha.startsWith(sha));
  if (sha !== "" && (sha.length < 7 || named.length !== 1))
    throw unknownName(
      `No change ${sha} in ${path}.`,
      "knack loop compare lists the changes with their commits.",
    );
  const refuted = standing.filter(({ evidence }) => evidence.verdict === "worse");
  const wanted = [...new Set([...named, ...refuted])];
  const lines = wanted.map((one) => `  ${one.sha.slice(0, 10)}  ${oneLine(one.summary, 60)}: ${one.says}`);
  if (wanted.length === 0)
    return call.answer({ done: false, reverted: [] }, ["No change is refuted by the runs since."]);
  if (call.dryRun) return call.answer({ done: false, reverted: wanted }, ["Would take back:", lines]);
  const { reverted, refused, after } = await loop.revert(given, process.cwd(), named[0]?.sha ?? null);
  return call.answer(
    { done: reverted.length > 0, reverted, refused, state: path, sha: after },
    [
      `Took back ${several(reverted.length, "change")} in ${call.screen.path(path)}:`,
      lines,
      refused.map(({ what, reason }) => `  not ${what.slice(0, 10)}: ${reason}`),
    ],
    reverted.length > 0 ? 0 : 1,
  );
}

/** Two runs beside each other; without names, the changes of the state folder and what the runs since say of them. */
async function compare({ knack, ...call }: OpenCall<LoopCall>, words: string): Promise<number> {
  const loop = await knack.loop();
  const names = words.split(" ").filter(Boolean);
  if (names.length === 1 || names.length > 2)
    throw wrongUsage("knack loop compare takes two runs, or none.", "knack loop list");
  if (names.length === 2) {
    const views = await Promise.all(names.map((name) => loop.show(name)));
    const runs = views.map(describeRun);
    return call.answer({ runs }, call.screen.table(["", ...runs.map(({ run }) => run)], compareRuns(views)));
  }
  const given = call.args.state === undefined ? null : resolve(call.args.state);
  const { changes, path } = await loop.changes(given, process.cwd());
  return answerList(call, {
    items: changes,
    json: { state: path, changes },
    columns: {
      commit: ({ sha }) => sha.slice(0, 10),
      change: ({ summary }) => oneLine(summary, 60),
      "runs since say": ({ says, revertedBy }) => `${revertedBy ? "reverted; " : ""}${says}`,
    },
    empty: [`Nothing was learned yet in ${call.screen.path(path)}.`],
    below: changes.length > 0 ? ["", `To take one back: ${nameRevert(call)}`] : [],
  });
}

/** The command that takes a change back from the state folder that was asked about. */
function nameRevert({ args, screen }: Pick<LoopCall, "args" | "screen">): string {
  const state = args.state === undefined ? "" : ` --state ${quotePath(resolve(args.state))}`;
  return `${screen.knack} loop revert <commit>${state}`;
}

// --- Runs that were ---

async function show({ knack, answer, screen }: OpenCall<LoopCall>, word: string): Promise<number> {
  const loop = await knack.loop();
  const view = await (word === "" ? loop.showLatest(process.cwd()) : loop.show(word));
  return answer(describeRun(view), [
    `Run ${view.begun.run}: ${oneLine(view.begun.goal, 100)}`,
    listPhases(view, screen),
    "",
    presentRun(view, screen),
  ]);
}

/** Removes work folders of runs that have ended; branches, and what was learned, stay. */
async function prune({ knack, ...call }: OpenCall<LoopCall>, run: string): Promise<number> {
  const project = call.args.all ? null : await knack.projectOf(process.cwd());
  const found = await (await knack.loop()).prune(run, project, !call.dryRun);
  const [removed, kept] = [
    found.filter((one) => one.kept === null),
    found.filter((one) => one.kept !== null),
  ];
  const isDone = !call.dryRun && removed.length > 0;
  return call.answer({ done: isDone, removed, kept }, [
    `${call.dryRun ? "Would remove" : "Removed"} ${several(removed.length, "work folder")} of runs that have ended.`,
    removed.map(({ run, work }) => `  ${run}  ${call.screen.path(work)}`),
    kept.map(({ run, kept }) => `  ${run}  stays: ${kept}`),
  ]);
}

async function list({ knack, ...call }: OpenCall<LoopCall>): Promise<number> {
  const project = call.args.all ? null : await knack.projectOf(process.cwd());
  const runs = await (await knack.loop()).list(project);
  const kept = runs.filter(({ hasWork }) => hasWork).length;
  return answerList(call, {
    items: runs,
    json: {
      runs: runs.map(({ at, begun: { setup: _, ...begun }, ended, hasWork }) => ({
        at,
        ...begun,
        ended,
        hasWork,
      })),
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
    below:
      runs.length === 0
        ? []
        : [
            "",
            kept > 0 &&
              `Work folders of ended runs: ${kept}. To remove them: ${call.screen.knack} loop prune`,
            `More of one: ${call.screen.knack} loop show ${runs[0]?.begun.run}`,
          ],
  });
}
