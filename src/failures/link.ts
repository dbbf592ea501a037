import type { JsonObject } from "../base/index.ts";
import type { CallDifference, Event, Remedy } from "../records/index.ts";
import { measureSimilarity } from "../text/index.ts";
import { causeGroups } from "./cause.ts";
import { findFileNames } from "./command.ts";
import type { CallError } from "./error.ts";
import { compareRuns, findMainRun, type Run } from "./run.ts";

/** A call that failed, why, and the program of it that did. */
export interface FailedCall {
  readonly failed: Event;
  readonly error: CallError;
  /** Null for tools that are no shell, and for commands that cannot be parsed. */
  readonly run: Run | null;
}

type ReadRuns = (event: Event) => readonly Run[];

/** How a later call relates to one that failed, and the program of it that shows that. */
export interface Link {
  readonly remedy: Remedy;
  readonly run: Run | null;
}

/** How a later call relates to one that failed; null when it is something else. */
export function linkCalls(base: FailedCall, event: Event, runsOf: ReadRuns): Link | null {
  const { failed, run, error } = base;
  if (failed.command === null) return toolLink(failed, event, error, runsOf);
  if (event.command === null) return searchLink(base, event);
  const runs = runsOf(event);
  const raised = isElevated(event.input) && !isElevated(failed.input);
  if (failed.command === event.command) {
    if (raised) return { remedy: "elevation", run };
    return {
      remedy: moved(failed, event) ? "directory" : "none",
      run: runs.find(({ name }) => name === run?.name) ?? findMainRun(runs),
    };
  }
  if (run === null) return null;
  const best = findClosestRun(run, runs, error.about);
  // The words are the same, but another quoting makes the shell leave them alone.
  if (best?.remedy === "none" && error.cause === "shell-dialect")
    return { remedy: "argument", run: best.run };
  if (best !== null && best.remedy !== "none") return raised ? { remedy: "elevation", run: best.run } : best;
  if (best !== null) return moved(failed, event) ? { remedy: "directory", run: best.run } : best;
  return isOtherWay(failed, run, error, event, runs)
    ? { remedy: "other-way", run: findReplacement(runs, runsOf(failed)) }
    : null;
}

const telling: readonly CallDifference[] = [
  "none",
  "wrapper",
  "environment",
  "directory",
  "path",
  "program",
  "flag",
  "argument",
];

/** `rg` is not there, and the agent's own search tool is. */
function searchLink({ run, error }: FailedCall, event: Event): Link | null {
  if (run === null || error.cause !== "missing-program" || !run.isLook) return null;
  return /grep|glob|search|find/i.test(event.tool ?? "") ? { remedy: "other-way", run: null } : null;
}

/** `--json` was the complaint, and `--json` is still there. */
function keepsWhatWasWrong(run: Run, other: Run, about: string | null): boolean {
  const wrong = run.args.find((arg) => arg.startsWith("-") && arg.replace(/^-+/, "").split("=")[0] === about);
  return wrong !== undefined && other.args.includes(wrong);
}

function findClosestRun(
  run: Run,
  runs: readonly Run[],
  about: string | null,
): { remedy: CallDifference; run: Run } | null {
  let best: { remedy: CallDifference; run: Run } | null = null;
  for (const other of runs) {
    if (other.isQuestion || (other.isLook && !run.isLook)) continue;
    const remedy = compareRuns(run, other);
    if ((remedy === "flag" || remedy === "argument") && keepsWhatWasWrong(run, other, about)) continue;
    if (remedy !== null && (best === null || telling.indexOf(remedy) < telling.indexOf(best.remedy)))
      best = { remedy, run: other };
  }
  return best;
}

/** Whether the job is done by other means: the failed program could not run at all, and the next command works on the same files. */
function isOtherWay(
  failed: Event,
  run: Run,
  { cause }: CallError,
  event: Event,
  runs: readonly Run[],
): boolean {
  if (runs.length === 0 || failed.turn !== event.turn) return false;
  if (causeGroups.beforeWork.has(cause) && runs.some((other) => other.name === run.name && !other.isLook))
    return true;
  if (!replaceable.has(cause)) return false;
  const files = findFileNames(failed.command ?? "");
  for (const file of findFileNames(event.command ?? "")) if (files.has(file)) return true;
  return cause === "denied";
}

/** The program that took over: the first that was not there before and does more than show things. */
function findReplacement(runs: readonly Run[], before: readonly Run[]): Run | null {
  const known = new Set(before.map(({ name }) => name));
  const fresh = runs.filter((run) => !known.has(run.name) && !run.onlyPrints);
  return fresh.find((run) => !run.isLook) ?? fresh[0] ?? findMainRun(runs);
}

const replaceable = new Set(["missing-program", "missing-module", "shell-dialect", "denied", "permission"]);

/** A tool of the agent: the same one with other input, or, when its name is unknown, the command of that name. */
function toolLink(failed: Event, event: Event, { cause, about }: CallError, runsOf: ReadRuns): Link | null {
  if (event.tool === failed.tool) {
    if (JSON.stringify(event.input) === JSON.stringify(failed.input)) return { remedy: "none", run: null };
    return cause === "denied" || isSimilar(failed.input, event.input) ? { remedy: "input", run: null } : null;
  }
  if (cause === "denied" && event.outcome === "ok")
    return { remedy: "other-way", run: findMainRun(runsOf(event)) };
  if (cause !== "unknown-name" || event.command === null) return null;
  const named = runsOf(event).find(({ name, args }) => name === about || args.includes(about ?? ""));
  return named === undefined
    ? { remedy: "other-way", run: findMainRun(runsOf(event)) }
    : { remedy: "program", run: named };
}

/** Whether two inputs are for the same thing: they share a value, or most of their words. */
function isSimilar(a: JsonObject | null, b: JsonObject | null): boolean {
  const keys = Object.keys(a ?? {});
  if (keys.length <= 1 || keys.some((key) => a?.[key] === b?.[key])) return true;
  const words = (input: JsonObject | null) =>
    new Set(
      JSON.stringify(input)
        .slice(0, 2_000)
        .toLowerCase()
        .split(/[^\p{L}\p{N}]+/u),
    );
  return measureSimilarity(words(a), words(b)) >= 0.45;
}

function isElevated(input: JsonObject | null): boolean {
  if (input === null) return false;
  const {
    sandbox_permissions: sandbox,
    with_escalated_permissions: raised,
    dangerouslyDisableSandbox: off,
  } = input;
  return raised === true || off === true || (typeof sandbox === "string" && sandbox !== "use_default");
}

function moved(failed: Event, event: Event): boolean {
  const [before, after] = [findFolder(failed), findFolder(event)];
  return before !== "" && after !== "" && before !== after;
}

function findFolder({ input, cwd }: Event): string {
  const workdir = input?.workdir;
  return typeof workdir === "string" ? workdir : (cwd ?? "");
}
