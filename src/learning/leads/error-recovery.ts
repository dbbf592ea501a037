import {
  callText,
  causeGroups,
  findDropped,
  findFileNames,
  findQuirk,
  isLayoutRule,
  isProved,
  isRule,
  type Recovery,
  type Run,
  repairs,
} from "../../failures/index.ts";
import { rateCure } from "../../lessons/index.ts";
import type { Cause, Event, Finding, Remedy } from "../../records/index.ts";
import { extractTerms, wordSet } from "../../text/index.ts";
import { droppedOperands, findRuleExplanation, isEmptyGlob, isNowhere, writeCure } from "./cure-text.ts";

/** Failures that were overcome by doing something else than before, and what that was. */
export function findCures(recoveries: readonly Recovery[]): Finding[] {
  const judged = recoveries.flatMap((recovery) => {
    const confidence = weighRecovery(recovery);
    if (isProved(recovery) && saysChange(recovery))
      return [{ recovery, confidence: Math.max(confidence, provedConfidence) }];
    const isDenied = recovery.error.cause === "denied" && droppedOperands(recovery).length > 0;
    if (isNowhere(recovery)) return [{ recovery, confidence: provedConfidence }];
    if (isMended(recovery))
      return [{ recovery: recovery.with({ remedy: "edit" }), confidence: mendedConfidence }];
    const isFact = recovery.isForeign || recovery.isStoppedByHook || isDenied;
    return isFact && confidence >= leastConfidence ? [{ recovery, confidence }] : [];
  });
  return mergeByCause(judged)
    .sort((a, b) => b.confidence - a.confidence)
    .map(({ recovery, confidence }) => writeCure(recovery, rateCure(confidence, isCertain(recovery))));
}

/** Calls that may lie between a failure and its proof. */
const callsToProof = 3;

/**
 * Whether one session is enough: the project or the machine lacks something, the error names it, and with it the call
 * worked soon after. What a program says of its own rules is obeyed at once and needs no lesson.
 */
function isCertain(recovery: Recovery): boolean {
  const { worked, between, remedy, error } = recovery;
  const isSoon =
    between.edits === 0 && between.prompts === 0 && between.calls - between.lookups <= callsToProof;
  if (worked?.outcome !== "ok" || !isSoon || remedy === null || remedy === "none") return false;
  if (isEmptyGlob(recovery)) return quotesGlob(recovery);
  if (!lacking.has(error.cause)) return false;
  if (setsNamedVariable(recovery) || startsOtherwise(recovery)) return true;
  if (isThrowaway(recovery) || letsToolRepair(recovery) || isProbe(recovery)) return false;
  return followsAdvice(recovery);
}

/** Causes that lie in the project or on the machine, and not in how a program was called. */
const lacking = new Set<Cause>([
  ...["missing-setting", "missing-program", "missing-module", "missing-script"],
  ...["service", "wrong-place"],
] as Cause[]);

/** A program that is not there was started through another, by its path or by its other name: `uv run pytest`, `python3`. */
function startsOtherwise({ error, remedy, run, workedRun }: Recovery): boolean {
  const isMissing = error.cause === "missing-program" && run?.name === error.about;
  if (!isMissing || workedRun === null || workedRun.isHidden) return false;
  const isOtherName = (name: string) => name.replace(/[\d.]+$/, "") === error.about?.replace(/[\d.]+$/, "");
  const isFound = remedy === "wrapper" || remedy === "path" || remedy === "environment";
  return isFound || (remedy === "program" && isOtherName(workedRun.name));
}

/** Whether the pattern got past the shell once it was quoted. */
function quotesGlob(recovery: Recovery): boolean {
  const { worked, failed } = recovery;
  const glob = readGlob(recovery);
  const isQuoted = (call: string | null | undefined) =>
    [`'${glob}'`, `"${glob}"`].some((each) => call?.includes(each));
  return isQuoted(worked?.command) && !isQuoted(failed.command);
}

function readGlob({ error }: Recovery): string {
  return error.line.replace(/^no matches found: /, "");
}

/** The variables that were set are those that the error misses. */
function setsNamedVariable({ error, run, workedRun, remedy }: Recovery): boolean {
  const fresh = workedRun?.env.filter((set) => !run?.env.includes(set)) ?? [];
  const isNamed = (set: string) => /^\w+=/.test(set) && error.line.includes(set.split("=")[0] as string);
  return remedy === "environment" && fresh.length > 0 && fresh.every(isNamed);
}

/** Everything that is new in the call, or the step before it, stands in a line of the error that says what to do. */
function followsAdvice({ failed, worked, run, workedRun, remedy, stepRun }: Recovery): boolean {
  const lines = failed.text.slice(0, 6_000).split("\n");
  const advice = lines.filter((line) => line.length < 400 && advises.test(line)).join("\n");
  if (remedy === "step") return stepRun !== null && isAdvisedStep(stepRun, advice);
  if (run === null || workedRun === null) return remedy === "input" && isListedValue(failed, worked, advice);
  const fresh = workedRun.args.filter((word) => !run.args.includes(word));
  const isNamed = (word: string) => word.length > 1 && advice.includes(word.replace(/=.*/s, ""));
  return workedRun.name === run.name && !workedRun.isHidden && fresh.length > 0 && fresh.every(isNamed);
}

/** By its name and verb, or by all that it works on: "copy .env.test to .env". */
function isAdvisedStep(step: Run, advice: string): boolean {
  const operands = step.args.filter((arg) => !arg.startsWith("-"));
  const isNamed = (operand: string) => operand.length > 2 && advice.includes(operand);
  return step.hasVerbs ? advice.includes(step.head) : operands.length > 1 && operands.every(isNamed);
}

const advises =
  /did you mean|\bcopy\b|\bcreate\b|\byou can\b|\btry\b|\buse\b|\brun\b|instead|similar|tip:|hint|usage|available|expected|valid\b|must be|one of|\bset\b|install|requires?|need to|please|should be|allowed|renamed|replaced/i;

/** The value of a tool's input that changed is one of those the error lists. */
function isListedValue(failed: Event, worked: Event | null, advice: string): boolean {
  const changed = Object.entries(worked?.input ?? {}).filter(([key, value]) => failed.input?.[key] !== value);
  const isNamed = ([, value]: [string, unknown]) => typeof value === "string" && advice.includes(value);
  return failed.tool === worked?.tool && changed.length === 1 && changed.every(isNamed);
}

/** A rule that an edit satisfied, where the agent says what the rule wants or the edit shows it. */
function isMended(recovery: Recovery): boolean {
  const { error, worked, remedy, between, changedLine } = recovery;
  if (!isRule(error) || isLayoutRule(error.about)) return false;
  if (remedy !== "none" || worked?.outcome !== "ok" || between.edits === 0) return false;
  // Where the rule was told to be quiet, nothing was learned of what it wants.
  if (silencesRule.test(changedLine?.after ?? "")) return false;
  return changedLine !== null || findRuleExplanation(recovery) !== null;
}

const silencesRule =
  /-(?:disable|ignore)(?:-next)?(?:-line)?\b|@ts-(?:ignore|expect-error|nocheck)|\b(?:noqa|nolint|NOSONAR|SuppressWarnings)\b|type: ?ignore|(?:pylint|rubocop|shellcheck)[: ]\s?disable|\[allow\(|phpcs:ignore/;

/** Whether the call that worked can be told from the one that failed once both are in short form. */
function saysChange(recovery: Recovery): boolean {
  const { run, workedRun, remedy, error } = recovery;
  const isOfWords = (remedy === "argument" || remedy === "flag") && findQuirk(error.about) === null;
  if (!isOfWords || run === null || workedRun === null || run.retell() !== workedRun.retell()) return true;
  // A word that had to go is told by itself.
  return run.args.includes(findDropped(recovery) ?? "");
}

/** A proved cure is at least this sure. */
const provedConfidence = 0.55;
/** A failure that an edit fixed is worth a lesson only once another session says the same. */
const mendedConfidence = 0.12;
/** Below this a fact without a cure is not reported. */
const leastConfidence = 0.2;

interface WeighedRecovery {
  readonly recovery: Recovery;
  readonly confidence: number;
}

/** One finding per cause: the earliest failure decides, later ones are further evidence. */
function mergeByCause(judged: readonly WeighedRecovery[]): WeighedRecovery[] {
  const kept: WeighedRecovery[] = [];
  for (const next of judged) {
    const at = kept.findIndex(({ recovery }) => isSameCause(recovery, next.recovery));
    const known = kept[at];
    if (known === undefined) kept.push(next);
    else kept[at] = merge(known, next);
  }
  return kept;
}

function isSameCause(a: Recovery, b: Recovery): boolean {
  if (a.error.cause !== b.error.cause) return false;
  if (a.error.cause === "denied") return sharesFile(a.failed, b.failed);
  if (a.error.about !== null && a.error.about === b.error.about) return true;
  return a.error.signature === b.error.signature && a.subject === b.subject;
}

function sharesFile(a: Event, b: Event): boolean {
  const files = findFileNames(callText(a));
  return [...findFileNames(callText(b))].some((file) => files.has(file));
}

function merge(first: WeighedRecovery, next: WeighedRecovery): WeighedRecovery {
  const again = new Set([...first.recovery.again, next.recovery.failed, ...next.recovery.again]);
  const isBetter = next.confidence > first.confidence && first.recovery.worked === next.recovery.worked;
  const { recovery } = isBetter ? next : first;
  return {
    recovery: recovery.with({ failed: first.recovery.failed, again: [...again] }),
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
  step: 0.6, input: -0.2, "other-way": 0, argument: -1, none: -1.4, edit: -1.4,
};

/** How likely it is that a failure and its end are worth keeping: many weak signs, none of which decides alone. */
function weighRecovery(recovery: Recovery): number {
  const { error, remedy, between, again, isForeign, isStoppedByHook } = recovery;
  if (remedy === null && !isForeign && !isStoppedByHook && error.cause !== "denied") return 0;
  const evidence = [
    -0.3,
    isStoppedByHook ? 1.2 : weighCause(recovery),
    isForeign || isStoppedByHook ? 0 : weighRemedy(recovery),
    isForeign ? (isStoppedByHook ? 0.6 : 2.7) : 0,
    remedy === null || isStoppedByHook ? 0 : weighEffort(recovery),
    again.length > 0 ? 0.3 : 0,
    between.lookups > 0 && between.lookups < 4 ? 0.2 : 0,
    weighClarity(recovery),
    isThrowaway(recovery) && !knows.has(error.cause) ? -0.8 : 0,
    isProbe(recovery) ? -2.2 : 0,
    letsToolRepair(recovery) ? -2.5 : 0,
    waitsLonger(recovery) ? -2.5 : 0,
  ].reduce((total, each) => total + each, 0);
  // Words take longest to read, and cannot save what is this unlikely.
  const words = evidence < -2 ? 0 : (followsHint(recovery) ? 0.6 : 0) + (saysCause(recovery) ? 0.4 : 0);
  return 1 / (1 + Math.exp(-evidence - words));
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
  const isNew = (arg: string) => !run?.args.includes(arg);
  const leavesOutCheck = run?.args.some((arg) => checks.test(arg) && !workedRun?.args.includes(arg));
  if (leavesOutCheck && workedRun !== null) return true;
  if (stepRun?.args.some((arg) => repairs.test(arg))) return true;
  return workedRun?.args.some((arg) => repairs.test(arg) && isNew(arg)) === true;
}

const checks = /^--(?:check|diff|dry-run|list-different)/;

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
const chores = wordSet("curl wget nc ping pg_isready kill pkill rm rmdir cp mv mkdir touch ln");

/** The error named something that the remedy has and the call which failed had not. */
function followsHint({ failed, worked, step, error }: Recovery): boolean {
  if (worked === null || error.cause === "missing-file") return false;
  const before = extractTerms(callText(failed));
  const hinted = extractTerms(failed.text.slice(0, 1_500));
  const isTaken = (term: string) => term.length > 3 && !before.has(term) && hinted.has(term);
  return [...extractTerms(callText(step ?? worked))].some(isTaken);
}

/** The agent's words take up what the error or the call is about. */
function saysCause({ said, error, run }: Recovery): boolean {
  const words = extractTerms(`${error.line} ${run?.head ?? ""}`.slice(0, 300));
  const countShared = (text: string) =>
    [...extractTerms(text.slice(0, 400))].filter((word) => words.has(word));
  return said.slice(0, 2).some(({ text }) => countShared(text).length >= 2);
}

/** A command written for one look: an inline script, a loop, a long chain. */
function isThrowaway({ failed: { command } }: Recovery): boolean {
  const isScript = /\s-[ce] ["']|<<-?\s*['"]?\w|\bxargs\b|\bfor \w+ in\b|\bwhile\b/;
  return command !== null && (isScript.test(command) || command.length > 400);
}
