import { callText, causeGroups, findFileNames, type Recovery } from "../../failures/index.ts";
import type { Cause, Event, Finding, Remedy } from "../../records/index.ts";
import { extractTerms } from "../../text/index.ts";
import type { AnalyzedSession } from "./analyze.ts";
import { findRule } from "./convention.ts";
import { writeRecoveryLesson } from "./recovery-lesson.ts";

/** Failures that were overcome by doing something else than before, and what that was. */
export function errorRecovery({ events, recoveries, breadth }: AnalyzedSession): Finding[] {
  const judged = recoveries
    .filter((recovery) => findRule(recovery) === null)
    .map((recovery) => ({ recovery, confidence: weighRecovery(recovery) }))
    .filter(({ confidence }) => confidence >= breadth.recoveryConfidence);
  // Long sessions hold more lessons, but not in proportion to their length.
  const calls = events.filter(({ kind }) => kind === "call").length;
  const most = Math.round(breadth.minRecoveries + breadth.recoveriesPerRootOfCalls * Math.sqrt(calls));
  return mergeByCause(judged)
    .sort((a, b) => b.confidence - a.confidence)
    .slice(0, most)
    .map(({ recovery, confidence }) => writeRecoveryLesson(recovery, confidence));
}

interface WeighedRecovery {
  readonly recovery: Recovery;
  readonly confidence: number;
}

/** One finding per cause: the earliest failure decides, later ones are further evidence. */
function mergeByCause(judged: readonly WeighedRecovery[]): WeighedRecovery[] {
  const kept: WeighedRecovery[] = [];
  for (const next of judged) {
    const at = kept.findIndex(({ recovery }) => sameCause(recovery, next.recovery));
    const known = kept[at];
    if (known === undefined) kept.push(next);
    else kept[at] = merge(known, next);
  }
  return kept;
}

function sameCause(a: Recovery, b: Recovery): boolean {
  if (a.worked !== null && a.worked === b.worked) return true;
  if (a.error.cause !== b.error.cause) return false;
  if (a.error.cause === "denied") return sharesFile(a.failed, b.failed);
  if (a.error.about !== null && a.error.about === b.error.about) return true;
  return a.error.signature === b.error.signature && a.subject === b.subject;
}

function sharesFile(a: Event, b: Event): boolean {
  const files = findFileNames(callText(a));
  for (const file of findFileNames(callText(b))) if (files.has(file)) return true;
  return false;
}

function merge(first: WeighedRecovery, next: WeighedRecovery): WeighedRecovery {
  const again = [...first.recovery.again, next.recovery.failed, ...next.recovery.again];
  const best =
    next.confidence > first.confidence && first.recovery.worked === next.recovery.worked ? next : first;
  return {
    recovery: best.recovery.with({ failed: first.recovery.failed, again: [...new Set(again)] }),
    confidence: Math.min(0.98, Math.max(first.confidence, next.confidence) + 0.02),
  };
}

/** How much each cause, taken alone, speaks for a lesson. */
// biome-ignore format: a table reads better in rows
const causeWeight: Record<Cause, number> = {
  "unknown-name": 2.2, denied: 1.6, "missing-program": 1.6, "missing-script": 1.6, "wrong-usage": 1,
  "wrong-place": 1.2, "missing-module": 0.9, "shell-dialect": 0.9, permission: 1.1,
  "missing-setting": 0.4, service: 0.4, timeout: -0.7, other: -0.2, "missing-file": -1.2,
  "failing-test": -1.6, code: -1.8, lint: -2.2, state: -2.4, transient: -2.4, "tool-misuse": -4,
};

// biome-ignore format: a table reads better in rows
const remedyWeight: Record<Remedy, number> = {
  elevation: 1.6, environment: 1.3, wrapper: 1.3, program: 1, path: 1, directory: 0.7, flag: 0.9,
  step: 0.6, input: -0.2, "other-way": 0, argument: -1, none: -1.4,
};

/** How likely it is that a failure and its end are worth keeping: many weak signs, none of which decides alone. */
function weighRecovery(recovery: Recovery): number {
  const { error, remedy, between, again } = recovery;
  const blamesOthers = recovery.isForeign;
  const hooked = recovery.isStoppedByHook;
  if (remedy === null && !blamesOthers && !hooked && error.cause !== "denied") return 0;
  const evidence = [
    -0.3,
    hooked ? 1.2 : weighCause(recovery),
    blamesOthers || hooked ? 0 : weighRemedy(recovery),
    blamesOthers ? (hooked ? 0.6 : 2.7) : 0,
    remedy === null || hooked ? 0 : weighEffort(recovery),
    again.length > 0 ? 0.3 : 0,
    between.lookups > 0 && between.lookups < 4 ? 0.2 : 0,
    weighClarity(recovery),
    isThrowaway(recovery) && !knows.has(error.cause) ? -0.8 : 0,
    isProbe(recovery) ? -2.2 : 0,
    letsToolRepair(recovery) ? -2.5 : 0,
    waitsLonger(recovery) ? -2.5 : 0,
  ].reduce((total, each) => total + each, 0);
  // Words take longest to read, and cannot save what is this unlikely.
  if (evidence < -2) return probability(evidence);
  return probability(evidence + (followsHint(recovery) ? 0.6 : 0) + (saysCause(recovery) ? 0.4 : 0));
}

function probability(evidence: number): number {
  return 1 / (1 + Math.exp(-evidence));
}

/** Obstacles to the work are reported in a line; faults in the work take pages. */
function weighClarity({ failed, error, run }: Recovery): number {
  const named = error.about === null ? 0 : 0.1;
  const length = failed.text.length < 300 ? 0.15 : failed.text.length > 2_500 ? -0.2 : 0;
  const slip = run === null && error.cause === "wrong-usage" ? -1 : 0;
  return named + length + slip;
}

function weighRemedy({ remedy, error, stepRun }: Recovery): number {
  if (remedy === null) return -0.6;
  // Other files, or another spelling, are the remedy itself when a file or the spelling was the trouble.
  if (remedy === "argument" && causeGroups.wording.has(error.cause)) return 0.5;
  // A project's own tools set it up; making a folder or moving a file is housekeeping.
  if (remedy === "step") return stepRun?.hasVerbs && stepRun.name !== "git" ? 0.9 : -0.2;
  return remedyWeight[remedy];
}

/** Elevation tells what the cause was, whatever the error said: a sandbox makes hosts unknown and files read-only. */
function weighCause({ error, remedy, run }: Recovery): number {
  const weight = causeWeight[error.cause];
  if (remedy === "elevation") return Math.max(weight, causeWeight.permission);
  // What a variable or another flag cures did not pass by itself.
  if (error.cause === "transient" && (remedy === "environment" || remedy === "flag")) return 0.2;
  // The same words work elsewhere: the path was right, the folder was not.
  if (remedy === "directory" && error.cause === "missing-file" && run !== null && !run.isLook) return 0.3;
  return weight;
}

/** The further away success is, and the more files were edited on the way, the less the change of the call explains it. */
function weighEffort({ between, remedy }: Recovery): number {
  const sameCall = remedy === "none" || remedy === "step" || remedy === "argument";
  const edits = between.edits === 0 ? 0.1 : sameCall ? -4 : remedy === "flag" ? -1.2 : -0.5;
  return edits - 0.06 * (between.calls - between.lookups / 2) - (between.prompts > 0 ? 0.6 : 0);
}

/** A check that failed, and a tool asked to repair what it found: ordinary work. */
function letsToolRepair({ run, workedRun, stepRun }: Recovery): boolean {
  const checked = run?.args.some((arg) => checks.test(arg) && !workedRun?.args.includes(arg)) === true;
  if (checked && workedRun !== null) return true;
  if (stepRun?.args.some((arg) => repairs.test(arg)) === true) return true;
  return workedRun?.args.some((arg) => repairs.test(arg) && !run?.args.includes(arg)) === true;
}

const checks = /^--(?:check|diff|dry-run|list-different)/;
const repairs = /^--(?:fix|write|apply|unsafe|update|in-place)|^(?:\w+:)?(?:fmt|format|fix)(?::\w+)?$/;

/** Whether the call was only repeated with a longer timeout or more retries. */
function waitsLonger({ run, workedRun }: Recovery): boolean {
  if (run === null || workedRun === null) return false;
  const fresh = workedRun.args.filter((arg) => !run.args.includes(arg));
  return fresh.length > 0 && fresh.every((arg) => patience.test(arg));
}

const patience = /^--?(?:timeout|wait|retry|retries|max-time|delay|request-timeout)\b|^\d+(?:m?s|m)?$/;

/** A look around, a chore, or a knock at a server that may not be up yet: another try costs nothing and teaches nothing. */
function isProbe({ run, error }: Recovery): boolean {
  if (run === null || knows.has(error.cause)) return false;
  return run.isLook || chores.has(run.name);
}

const knows = new Set<Cause>(["missing-program", "missing-module", "denied", "permission", "shell-dialect"]);
const chores = new Set("curl wget nc ping pg_isready kill pkill rm rmdir cp mv mkdir touch ln".split(" "));

/** The error named something that the remedy has and the call which failed had not. */
function followsHint({ failed, worked, step, error }: Recovery): boolean {
  if (worked === null || error.cause === "missing-file") return false;
  const before = extractTerms(callText(failed));
  const hinted = extractTerms(failed.text.slice(0, 1_500));
  for (const term of extractTerms(callText(step ?? worked)))
    if (term.length > 3 && !before.has(term) && hinted.has(term)) return true;
  return false;
}

/** The agent's words take up what the error or the call is about. */
function saysCause({ said, error, run }: Recovery): boolean {
  const words = extractTerms(`${error.line} ${run?.head ?? ""}`.slice(0, 300));
  return said.slice(0, 2).some(({ text }) => {
    let shared = 0;
    for (const word of extractTerms(text.slice(0, 400))) if (words.has(word)) shared++;
    return shared >= 2;
  });
}

/** A command written for one look: an inline script, a loop, a long chain. */
function isThrowaway({ failed }: Recovery): boolean {
  const command = failed.command ?? "";
  return (
    /\s-[ce] ["']|<<-?\s*['"]?\w|\bxargs\b|\bfor \w+ in\b|\bwhile\b/.test(command) || command.length > 400
  );
}
