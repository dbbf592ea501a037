import { type Cause, isAboutWords } from "../cause.ts";
import { isStoppedByHook } from "../commit-hook.ts";
import type { Event } from "../event.ts";
import type { Finding } from "../finding.ts";
import { isForeign } from "../foreign-failure.ts";
import type { Remedy } from "../link.ts";
import { callText, type Recovery, subjectOf } from "../recovery.ts";
import { filesIn, hasVerbs, headOf, isLook } from "../run.ts";
import { termsOf } from "../words.ts";
import { ruleIn } from "./convention.ts";
import { lessonFrom } from "./recovery-lesson.ts";
import type { Breadth, Scene } from "./scene.ts";

/** Failures that were overcome by doing something else than before, and what that was. */
export function errorRecovery({ events, recoveries, breadth }: Scene): Finding[] {
  const judged = recoveries
    .filter((recovery) => ruleIn(recovery) === null)
    .map((recovery) => ({ recovery, confidence: confidenceIn(recovery) }))
    .filter(({ confidence }) => confidence >= breadth.recoveryConfidence);
  return onePerCause(judged)
    .sort((a, b) => b.confidence - a.confidence)
    .slice(0, mostIn(events, breadth))
    .map(({ recovery, confidence }) => lessonFrom(recovery, confidence));
}

interface Judged {
  readonly recovery: Recovery;
  readonly confidence: number;
}

/** Long sessions hold more lessons, but not in proportion to their length. */
function mostIn(events: readonly Event[], { recoveriesAtLeast, recoveriesPerRootOfCalls }: Breadth): number {
  const calls = events.reduce((sum, { kind }) => sum + (kind === "call" ? 1 : 0), 0);
  return Math.round(recoveriesAtLeast + recoveriesPerRootOfCalls * Math.sqrt(calls));
}

/** One finding per cause: the earliest failure decides, later ones are further evidence. */
function onePerCause(judged: readonly Judged[]): Judged[] {
  const kept: Judged[] = [];
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
  if (a.complaint.cause !== b.complaint.cause) return false;
  if (a.complaint.cause === "denied") return sharesFile(a.failed, b.failed);
  if (a.complaint.about !== null && a.complaint.about === b.complaint.about) return true;
  return a.complaint.signature === b.complaint.signature && subjectOf(a) === subjectOf(b);
}

function sharesFile(a: Event, b: Event): boolean {
  const files = filesIn(callText(a));
  for (const file of filesIn(callText(b))) if (files.has(file)) return true;
  return false;
}

function merge(first: Judged, next: Judged): Judged {
  const again = [...first.recovery.again, next.recovery.failed, ...next.recovery.again];
  const best =
    next.confidence > first.confidence && first.recovery.worked === next.recovery.worked ? next : first;
  return {
    recovery: { ...best.recovery, failed: first.recovery.failed, again: [...new Set(again)] },
    confidence: Math.min(0.98, Math.max(first.confidence, next.confidence) + 0.02),
  };
}

/** How much each cause, taken alone, speaks for a lesson. */
const causeWeight: Record<Cause, number> = {
  "unknown-name": 2.2,
  denied: 1.6,
  "missing-program": 1.6,
  "missing-script": 1.6,
  "wrong-usage": 1,
  "wrong-place": 1.2,
  "missing-module": 0.9,
  "shell-dialect": 0.9,
  permission: 1.1,
  "missing-setting": 0.4,
  service: 0.4,
  timeout: -0.7,
  other: -0.2,
  "missing-file": -1.2,
  "failing-test": -1.6,
  code: -1.8,
  lint: -2.2,
  state: -2.4,
  transient: -2.4,
  "tool-misuse": -4,
};

const remedyWeight: Record<Remedy, number> = {
  elevation: 1.6,
  environment: 1.3,
  wrapper: 1.3,
  program: 1,
  path: 1,
  directory: 0.7,
  flag: 0.9,
  step: 0.6,
  input: -0.2,
  "other-way": 0,
  argument: -1,
  none: -1.4,
};

/** How likely it is that a failure and its end are worth keeping: many weak signs, none of which decides alone. */
function confidenceIn(recovery: Recovery): number {
  const { complaint, remedy, between, again } = recovery;
  const blamesOthers = isForeign(recovery);
  const hooked = isStoppedByHook(recovery);
  if (remedy === null && !blamesOthers && !hooked && complaint.cause !== "denied") return 0;
  const evidence = sum([
    -0.3,
    hooked ? 1.2 : causeWeightOf(recovery),
    blamesOthers || hooked ? 0 : remedyWeightOf(recovery),
    blamesOthers ? (hooked ? 0.6 : 2.7) : 0,
    remedy === null || hooked ? 0 : effort(recovery),
    again.length > 0 ? 0.3 : 0,
    between.lookups > 0 && between.lookups < 4 ? 0.2 : 0,
    clarity(recovery),
    isThrowaway(recovery) && !knows.has(complaint.cause) ? -0.8 : 0,
    isProbe(recovery) ? -2.2 : 0,
    letsToolRepair(recovery) ? -2.5 : 0,
    waitsLonger(recovery) ? -2.5 : 0,
  ]);
  // Words take longest to read, and cannot save what is this unlikely.
  if (evidence < -2) return probability(evidence);
  return probability(evidence + (followsHint(recovery) ? 0.6 : 0) + (saysCause(recovery) ? 0.4 : 0));
}

function sum(weights: readonly number[]): number {
  return weights.reduce((total, each) => total + each, 0);
}

function probability(evidence: number): number {
  return 1 / (1 + Math.exp(-evidence));
}

/** What stands in the way of the work is said in a line; what is wrong with the work takes pages. */
function clarity({ failed, complaint, run }: Recovery): number {
  const named = complaint.about === null ? 0 : 0.1;
  const length = failed.text.length < 300 ? 0.15 : failed.text.length > 2_500 ? -0.2 : 0;
  const slip = run === null && complaint.cause === "wrong-usage" ? -1 : 0;
  return named + length + slip;
}

function remedyWeightOf({ remedy, complaint, stepRun }: Recovery): number {
  if (remedy === null) return -0.6;
  // Other files, or another spelling, are the remedy itself when a file or the spelling was the trouble.
  if (remedy === "argument" && isAboutWords(complaint.cause)) return 0.5;
  // A project's own tools set it up; making a folder or moving a file is housekeeping.
  if (remedy === "step")
    return stepRun !== null && hasVerbs(stepRun.name) && stepRun.name !== "git" ? 0.9 : -0.2;
  return remedyWeight[remedy];
}

/** Elevation tells what the cause was, whatever the error said: a sandbox makes hosts unknown and files read-only. */
function causeWeightOf({ complaint, remedy, run }: Recovery): number {
  const weight = causeWeight[complaint.cause];
  if (remedy === "elevation") return Math.max(weight, causeWeight.permission);
  // What a variable or another flag cures did not pass by itself.
  if (complaint.cause === "transient" && (remedy === "environment" || remedy === "flag")) return 0.2;
  // The same words work elsewhere: the path was right, the folder was not.
  if (remedy === "directory" && complaint.cause === "missing-file" && run !== null && !isLook(run))
    return 0.3;
  return weight;
}

/** The further away success is, and the more files were edited on the way, the less the change of the call explains it. */
function effort({ between, remedy }: Recovery): number {
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

/** The same again, with more patience. */
function waitsLonger({ run, workedRun }: Recovery): boolean {
  if (run === null || workedRun === null) return false;
  const fresh = workedRun.args.filter((arg) => !run.args.includes(arg));
  return fresh.length > 0 && fresh.every((arg) => patience.test(arg));
}

const patience = /^--?(?:timeout|wait|retry|retries|max-time|delay|request-timeout)\b|^\d+(?:m?s|m)?$/;

/** A look around, a chore, or a knock at a server that may not be up yet: another try costs nothing and teaches nothing. */
function isProbe({ run, complaint }: Recovery): boolean {
  if (run === null || knows.has(complaint.cause)) return false;
  return isLook(run) || chores.has(run.name);
}

const knows = new Set<Cause>(["missing-program", "missing-module", "denied", "permission", "shell-dialect"]);
const chores = new Set("curl wget nc ping pg_isready kill pkill rm rmdir cp mv mkdir touch ln".split(" "));

/** The error named something that the remedy has and the call which failed had not. */
function followsHint({ failed, worked, step, complaint }: Recovery): boolean {
  if (worked === null || complaint.cause === "missing-file") return false;
  const before = termsOf(callText(failed));
  const hinted = termsOf(failed.text.slice(0, 1_500));
  for (const term of termsOf(callText(step ?? worked)))
    if (term.length > 3 && !before.has(term) && hinted.has(term)) return true;
  return false;
}

/** The agent's words take up what the error or the call is about. */
function saysCause({ said, complaint, run }: Recovery): boolean {
  const words = termsOf(`${complaint.line} ${run === null ? "" : headOf(run)}`.slice(0, 300));
  return said.slice(0, 2).some(({ text }) => {
    let shared = 0;
    for (const word of termsOf(text.slice(0, 400))) if (words.has(word)) shared++;
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
