import { neverStarted } from "./cause.ts";
import type { Run } from "./command.ts";
import type { Event } from "./event.ts";
import type { Calls, Complaint } from "./failure.ts";
import type { JsonObject } from "./json.ts";
import { type Difference, differenceBetween, filesIn, isLook, isQuestion, mainOf, prints } from "./run.ts";
import { overlap } from "./words.ts";

/** How the call that worked differs from the one that failed. */
export type Remedy = Difference | "elevation" | "input" | "step" | "other-way";

/** A call that failed, why, and the program of it that did. */
export interface Failure {
  readonly failed: Event;
  readonly complaint: Complaint;
  /** Null for tools that are no shell, and for commands that cannot be parsed. */
  readonly run: Run | null;
}

/** How a later call relates to one that failed, and the program of it that shows that. */
export interface Link {
  readonly remedy: Remedy;
  readonly run: Run | null;
}

/** How a later call relates to one that failed; null when it is something else. */
export function linkBetween(base: Failure, event: Event, calls: Calls): Link | null {
  const { failed, run, complaint } = base;
  if (failed.command === null) return toolLink(failed, event, complaint, calls);
  if (event.command === null) return searchLink(base, event);
  const runs = calls.runs(event);
  const raised = isElevated(event.input) && !isElevated(failed.input);
  if (failed.command === event.command) {
    if (raised) return { remedy: "elevation", run };
    return {
      remedy: moved(failed, event) ? "directory" : "none",
      run: runs.find(({ name }) => name === run?.name) ?? mainOf(runs),
    };
  }
  if (run === null) return null;
  const best = bestChange(run, runs, complaint.about);
  // The words are the same, but another quoting makes the shell leave them alone.
  if (best?.remedy === "none" && complaint.cause === "shell-dialect")
    return { remedy: "argument", run: best.run };
  if (best !== null && best.remedy !== "none") return raised ? { remedy: "elevation", run: best.run } : best;
  if (best !== null) return moved(failed, event) ? { remedy: "directory", run: best.run } : best;
  return isOtherWay(failed, run, complaint, event, runs)
    ? { remedy: "other-way", run: replacementIn(runs, calls.runs(failed)) }
    : null;
}

const telling: readonly Difference[] = [
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
function searchLink({ run, complaint }: Failure, event: Event): Link | null {
  if (run === null || complaint.cause !== "missing-program" || !isLook(run)) return null;
  return /grep|glob|search|find/i.test(event.tool ?? "") ? { remedy: "other-way", run: null } : null;
}

/** `--json` was the complaint, and `--json` is still there. */
function keepsWhatWasWrong(run: Run, other: Run, about: string | null): boolean {
  const wrong = run.args.find((arg) => arg.startsWith("-") && arg.replace(/^-+/, "").split("=")[0] === about);
  return wrong !== undefined && other.args.includes(wrong);
}

function bestChange(
  run: Run,
  runs: readonly Run[],
  about: string | null,
): { remedy: Difference; run: Run } | null {
  let best: { remedy: Difference; run: Run } | null = null;
  for (const other of runs) {
    if (isQuestion(other) || (isLook(other) && !isLook(run))) continue;
    const remedy = differenceBetween(run, other);
    if ((remedy === "flag" || remedy === "argument") && keepsWhatWasWrong(run, other, about)) continue;
    if (remedy !== null && (best === null || telling.indexOf(remedy) < telling.indexOf(best.remedy)))
      best = { remedy, run: other };
  }
  return best;
}

/** The same job by other means: what failed could not be there at all, and the next command works on the same files. */
function isOtherWay(
  failed: Event,
  run: Run,
  { cause }: Complaint,
  event: Event,
  runs: readonly Run[],
): boolean {
  if (runs.length === 0 || failed.turn !== event.turn) return false;
  if (neverStarted(cause) && runs.some((other) => other.name === run.name && !isLook(other))) return true;
  if (!replaceable.has(cause)) return false;
  const files = filesIn(failed.command ?? "");
  for (const file of filesIn(event.command ?? "")) if (files.has(file)) return true;
  return cause === "denied";
}

/** The program that took over: the first that was not there before and does more than show things. */
function replacementIn(runs: readonly Run[], before: readonly Run[]): Run | null {
  const known = new Set(before.map(({ name }) => name));
  const fresh = runs.filter(({ name }) => !known.has(name) && !prints(name));
  return fresh.find((run) => !isLook(run)) ?? fresh[0] ?? mainOf(runs);
}

const replaceable = new Set(["missing-program", "missing-module", "shell-dialect", "denied", "permission"]);

/** A tool of the agent: the same one with other input, or, when its name is unknown, the command of that name. */
function toolLink(failed: Event, event: Event, { cause, about }: Complaint, calls: Calls): Link | null {
  if (event.tool === failed.tool) {
    if (JSON.stringify(event.input) === JSON.stringify(failed.input)) return { remedy: "none", run: null };
    return cause === "denied" || isSimilar(failed.input, event.input) ? { remedy: "input", run: null } : null;
  }
  if (cause === "denied" && event.outcome === "ok")
    return { remedy: "other-way", run: mainOf(calls.runs(event)) };
  if (cause !== "unknown-name" || event.command === null) return null;
  const named = calls.runs(event).find(({ name, args }) => name === about || args.includes(about ?? ""));
  return named === undefined
    ? { remedy: "other-way", run: mainOf(calls.runs(event)) }
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
  return overlap(words(a), words(b)) >= 0.45;
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
  const [before, after] = [whereOf(failed), whereOf(event)];
  return before !== "" && after !== "" && before !== after;
}

function whereOf({ input, cwd }: Event): string {
  const workdir = input?.workdir;
  return typeof workdir === "string" ? workdir : (cwd ?? "");
}

/** The program that failed: the one the error names, else the last that does something. */
export function culprit(runs: readonly Run[], { line, about }: Complaint): Run | null {
  const wrapped = about === null ? undefined : runs.find(({ through }) => through[0] === about);
  if (wrapped !== undefined) {
    const args = [...wrapped.through.slice(1), wrapped.written, ...wrapped.args];
    return {
      ...wrapped,
      name: wrapped.through[0] as string,
      written: wrapped.through[0] as string,
      args,
      through: [],
    };
  }
  const interpreter = pythonFault.test(line)
    ? runs.find(({ name }) => /^(?:python|pytest|uv\b)/.test(name))
    : undefined;
  const named =
    interpreter ??
    runs.find(({ name }) => name === about || line.startsWith(`${name}: `) || line.includes(`: ${name}: `));
  return named ?? mainOf(runs);
}

const pythonFault = /^(?:Traceback|ModuleNotFoundError|ImportError)/;
