import {
  callText,
  causeGroups,
  findDropped,
  findFileNames,
  findPath,
  findQuirk,
  isLayoutRule,
  isProved,
  parseCommand,
  Recovery,
  type Run,
  repairs,
  whiteSpace,
  writeTemplate,
} from "../../failures/index.ts";
import { rateCure } from "../../lessons/index.ts";
import {
  type Cause,
  type Event,
  type Finding,
  makeFinding,
  noExcerpt,
  type Remedy,
} from "../../records/index.ts";
import { baseName, extractTerms, slugify, wordSet } from "../../text/index.ts";
import { quoteError } from "../../trust/index.ts";

/** Failures that were overcome by doing something else than before, and what that was. */
export function findCures(recoveries: readonly Recovery[]): Finding[] {
  const judged = recoveries.flatMap((recovery) => {
    const confidence = weighRecovery(recovery);
    if (isProved(recovery) && saysChange(recovery))
      return [{ recovery, confidence: Math.max(confidence, provedConfidence) }];
    const isDenied = recovery.error.cause === "denied" && droppedOperands(recovery).length > 0;
    if (isNowhere(recovery)) return [{ recovery, confidence: provedConfidence }];
    const isFact = recovery.isForeign || recovery.isStoppedByHook || isDenied;
    return isFact && confidence >= leastConfidence ? [{ recovery, confidence }] : [];
  });
  return mergeByCause(judged)
    .sort((a, b) => b.confidence - a.confidence)
    .map(({ recovery, confidence }) =>
      writeRecoveryLesson(recovery, rateCure(confidence, isCertain(recovery))),
    );
}

/** Calls that may lie between a failure and its proof. */
const callsToProof = 3;

/** Whether the error names what to do or what to leave out, and the call, changed in just that, worked soon after. */
function isCertain(recovery: Recovery): boolean {
  const { worked, between, remedy, error } = recovery;
  const isSoon =
    between.edits === 0 && between.prompts === 0 && between.calls - between.lookups <= callsToProof;
  if (worked?.outcome !== "ok" || !isSoon || remedy === null || remedy === "none") return false;
  if (isEmptyGlob(recovery)) return quotesGlob(recovery);
  if (error.cause === "unknown-name") return remedy === "program" || followsAdvice(recovery);
  if (setsNamedVariable(recovery)) return true;
  if (isThrowaway(recovery) || letsToolRepair(recovery) || isProbe(recovery)) return false;
  return followsAdvice(recovery);
}

/** The same pattern in quotes got past the shell. */
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

/** A file that was looked for more than once and never found, while the work went on. */
function isNowhere({ error, worked, again, between }: Recovery): boolean {
  return (
    error.cause === "missing-file" &&
    error.about !== null &&
    worked === null &&
    again.length > 0 &&
    between.calls > 2
  );
}

/** Whether the call that worked can be told from the one that failed once both are in short form. */
function saysChange({ run, workedRun, remedy, error }: Recovery): boolean {
  const isOfWords = (remedy === "argument" || remedy === "flag") && findQuirk(error.about) === null;
  return !isOfWords || run === null || workedRun === null || run.retell() !== workedRun.retell();
}

/** A proved cure is at least this sure. */
const provedConfidence = 0.55;
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
  if (a.worked !== null && a.worked === b.worked) return true;
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
  step: 0.6, input: -0.2, "other-way": 0, argument: -1, none: -1.4,
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

/** Writes up a recovered failure for readers without its context. */
function writeRecoveryLesson(recovery: Recovery, confidence: number): Finding {
  const { failed, worked, error, again, step, remedy, fixCall: call } = recovery;
  const explained = findExplanation(recovery);
  // What is certain needs no word of the agent.
  const told = [
    describeProblem(recovery),
    describeSolution(recovery),
    isCertain(recovery) || saysEnough(recovery) ? null : explained,
  ];
  return makeFinding(
    {
      kind: "error-recovery",
      lesson: told.filter((part) => part !== null).join(" "),
      trigger: describeTrigger(recovery),
      action: describeAction(recovery),
      steps: remedy === "step" ? [`Run \`${writeStep(recovery)}\``, `Run \`${recovery.subject}\` again`] : [],
      keywords: findKeywords(recovery, explained),
      confidence,
      name: chooseName(recovery),
      scope: isMachineWide(recovery) ? "user" : "project",
      excerpt: {
        ...noExcerpt,
        failed: short(callText(failed), 400),
        error: error.line,
        worked: worked?.outcome === "ok" ? short(callText(worked), 400) : null,
        replied: explained,
      },
      ...{ call, symptom: recovery.symptom(droppedOperands(recovery)), remedy },
    },
    [failed, ...[worked, step, ...again].flatMap((event) => event ?? [])],
  );
}

/** Why the shell stopped, and who puts layout right, needs no further word. */
function saysEnough(recovery: Recovery): boolean {
  const { about } = recovery.error;
  return findQuirk(about) !== null || isLayoutRule(about) || isNowhere(recovery);
}

/** A program missing on the machine is missing in every project; one that a project's own runner misses is not. */
function isMachineWide({ error, run, remedy, workedRun }: Recovery): boolean {
  if (error.cause !== "missing-program") return error.cause === "shell-dialect";
  if (run?.name !== error.about) return false;
  // What starts it in its place is the project's: `uv run` here, `poetry run` there; but `sudo` may just be left out.
  const leavesOut = workedRun !== null && ![workedRun.name, ...workedRun.args].includes(error.about ?? "");
  return remedy !== "wrapper" || leavesOut;
}

function describeProblem(recovery: Recovery): string {
  const { error, failed, run, worked, workedRun } = recovery;
  const call = `\`${writeCall(failed, asWritten(recovery) ? null : inPlace(recovery, run), worked, workedRun)}\``;
  // Agents are told this text, and the error is a program's words: only its shape is quoted.
  const line = short(quoteError(error.line), recovery.isForeign ? 100 : 160).replace(/[.:?!]$/, "");
  const said = line === "" ? "" : `: ${line}`;
  const inBrackets = (most: number) => (line === "" ? "" : ` (${short(line, most)})`);
  if (recovery.isStoppedByHook) {
    const steps = recovery.hookSteps.map((step) => `\`${step}\``);
    const runs = steps.length === 0 ? "" : ` that runs ${steps.join(", ")}`;
    return `${call} is stopped by a ${/ push\b/.test(recovery.subject) ? "pre-push" : "pre-commit"} hook${runs}${said}.`;
  }
  if (isNowhere(recovery))
    return `There is no \`${error.about}\` here: it was looked for ${recovery.again.length + 1} times in vain.`;
  if (recovery.isForeign) return `${call} fails for reasons outside the change${said}.`;
  if (error.about !== null && error.cause === "missing-program")
    return `\`${error.about}\` is not installed here or not on the path${inBrackets(160)}${run?.name === error.about ? "" : `, so ${call} fails`}.`;
  if (error.about !== null && error.cause === "missing-module")
    return `${call} does not find the module \`${error.about}\`${said}.`;
  if (error.about !== null && error.cause === "unknown-name")
    return `There is no ${/agent|skill/i.exec(error.line)?.[0].toLowerCase() ?? "tool"} named \`${error.about}\` here${inBrackets(60)}.`;
  if (error.cause === "lint" && isLayoutRule(error.about)) return `${call} fails on layout (${error.about}).`;
  const why = findQuirk(error.about)?.why;
  if (why !== undefined)
    return line === "" ? why : `${why} ("${short(line, 80)}")`.replace(/\.( \(.*)$/, "$1.");
  if (error.cause === "tool-misuse")
    return `Edits of ${baseName(failed.files[0] ?? "files")} failed ${recovery.again.length + 1} times${said}.`;
  if (error.cause === "denied")
    return `${call} is ${/hook/i.test(error.line) ? "refused by a hook" : "denied by permission settings"}${said}.`;
  return `${call} fails${said}.`;
}

/** The words are zsh's own; other shells hand such a pattern on. */
function isEmptyGlob({ error }: Recovery): boolean {
  return error.line.startsWith("no matches found: ");
}

function describeSolution(recovery: Recovery): string | null {
  const { remedy, failed, worked, workedRun, run } = recovery;
  if (worked === null || remedy === null) return null;
  if (isEmptyGlob(recovery) && quotesGlob(recovery)) return "In quotes it went through.";
  // Why the shell stopped says what to do; another command that worked may have been about something else.
  if (findQuirk(recovery.error.about) !== null) return null;
  if (recovery.error.cause === "missing-file" && remedy === "path")
    return `It is at \`${findPath(worked, recovery.error.about ?? "") ?? ""}\`.`;
  if (recovery.error.cause === "tool-misuse")
    return worked.command === null ? null : `What worked: \`${short(worked.command, 90)}\`.`;
  const whole = worked.command ?? "";
  // A few commands in one: what comes before may be half of the remedy.
  const isChain = whole.length <= 90 && /&&/.test(whole.replace(/^cd \S+ && /, ""));
  const isScript = workedRun?.args.some((arg) => arg === "-c" || arg === "-e") === true;
  const told = asWritten(recovery) || isChain || isScript ? null : inPlace(recovery, workedRun);
  const call = isReplaced(recovery)
    ? `\`${(workedRun as Run).describeChange(run as Run)}\``
    : `\`${writeCall(worked, told, failed, run)}\``;
  if (recovery.error.cause === "denied" && droppedOperands(recovery).length > 0)
    return `Leave out ${droppedOperands(recovery)
      .map((each) => `\`${each}\``)
      .join(", ")}.`;
  if (recovery.error.cause === "denied") return `What works: ${call}.`;
  // A look may be right only as a whole: what one program shows, the next makes visible.
  if ((remedy === "other-way" || remedy === "program") && run?.isLook && worked.command !== null)
    return `What works: \`${parseCommand(worked.command)
      .map((part) => part.with({ directory: null }).retell())
      .slice(0, 3)
      .join(" | ")}\`.`;
  const dropped = remedy === "flag" || remedy === "argument" ? findDropped(recovery) : null;
  if (dropped !== null) return `Leave out \`${short(dropped, 40)}\`; what works: ${call}.`;
  if (isRepaired(recovery)) return `\`${writeStep(recovery)}\` puts it right.`;
  if (remedy === "step") return `It works after \`${writeStep(recovery)}\`.`;
  // That it passed by itself is no cure.
  if (remedy === "none") return null;
  if (remedy === "elevation") return "It works with elevated permissions, outside the sandbox.";
  if (remedy === "directory")
    return `It works in the right folder: \`${writeWithFolder(failed, worked, call.slice(1, -1))}\`.`;
  // It failed too, but later: what stopped the first is out of the way.
  if (worked.outcome === "failed") return `${call} gets past that.`;
  if (bypasses(recovery)) return `The agent went around it with ${call}; better find out why the hook fails.`;
  return `What works: ${call}.`;
}

/** One program in the place of another that is not there: what they were given does not matter. */
function isReplaced({ error, remedy, workedRun, run }: Recovery): boolean {
  const replaces = remedy === "program" || remedy === "wrapper";
  return error.cause === "missing-program" && replaces && workedRun !== null && run?.name === error.about;
}

/** A run without the folder it ran in, unless the folder is what made the difference. */
function inPlace({ remedy }: Recovery, run: Run | null): Run | null {
  return remedy === "directory" ? run : (run?.with({ directory: null }) ?? null);
}

/** Layout that the tool itself put right. */
function isRepaired(recovery: Recovery): boolean {
  return recovery.isRepaired && !recovery.isStoppedByHook;
}

function writeStep(recovery: Recovery): string {
  const { step, stepRun } = recovery;
  // The files were of that time.
  if (stepRun !== null && isRepaired(recovery)) return writeTemplate(stepRun);
  return stepRun === null ? short(step?.command ?? "", 90) : stepRun.retell();
}

/** Quotes and globs show only in the text as it was typed. */
function asWritten({ error, failed, worked }: Recovery): boolean {
  const isShort = (event: Event | null) => (event?.command?.length ?? 0) < 90;
  return error.cause === "shell-dialect" && isShort(failed) && isShort(worked);
}

/** A way around a check is what happened, not what to do. */
function bypasses({ workedRun, run }: Recovery): boolean {
  const isAdded = (flag: string) => workedRun?.args.includes(flag) && !run?.args.includes(flag);
  return ["--no-verify", "--force"].some(isAdded);
}

/** The files that the call which worked does not touch. */
function droppedOperands({ failed, run, worked }: Recovery): string[] {
  const kept = worked === null ? new Set<string>() : findFileNames(callText(worked));
  const files = run === null ? failed.files.map(baseName) : [...findFileNames(run.args.join(" "))];
  return files.filter((file) => !kept.has(file)).slice(0, 3);
}

function writeWithFolder(failed: Event, worked: Event, call: string): string {
  const folder = worked.input?.workdir ?? worked.cwd;
  if (call.startsWith("cd ") || typeof folder !== "string" || folder === failed.cwd) return call;
  return `cd ${folder.split("/").slice(-2).join("/")} && ${call}`;
}

/** A call in short. Of a tool's input only what differs from the other call tells something. */
function writeCall(event: Event, run: Run | null, other: Event | null, otherRun: Run | null = null): string {
  if (run !== null) return run.retell(otherRun);
  if (event.command !== null) return short(event.command, 90);
  const isSame = (key: string, value: string) => event.tool === other?.tool && other.input?.[key] === value;
  const values = Object.entries(event.input ?? {}).flatMap(([key, value]) =>
    typeof value === "string" && !isSame(key, value) ? [short(value, 60)] : [],
  );
  return [event.tool, ...values.slice(0, 2)].join(" ");
}

function describeTrigger(recovery: Recovery): string {
  if (isNowhere(recovery)) return `${recovery.error.about} is looked for`;
  if (isEmptyGlob(recovery)) return "zsh: no matches found for a glob";
  if (recovery.isStoppedByHook) return `${recovery.subject} stopped by a hook`;
  if (recovery.isForeign) return `${recovery.subject} fails outside the change`;
  const said = recovery.error.signature.split(/(?<=\w)\. /)[0] ?? "";
  const named = `${recovery.run?.name ?? ""}: `;
  const signature = said.startsWith(named) ? said.slice(named.length) : said;
  const files = recovery.error.cause === "denied" ? droppedOperands(recovery) : [];
  return `${[recovery.subject, ...files].join(" ")} fails: ${signature.slice(0, 100)}`;
}

function describeAction(recovery: Recovery): string {
  const { remedy, worked, workedRun, run, failed, hookSteps } = recovery;
  if (recovery.isStoppedByHook)
    return `${hookSteps.length > 0 ? `run ${hookSteps.join(", ")}` : "satisfy the hook"} before committing`;
  if (recovery.isForeign && (worked === null || remedy === "none" || remedy === "argument"))
    return "do not look for the cause in the change; run it again or run only what belongs to the change";
  if (recovery.error.cause === "denied")
    return `leave out ${droppedOperands(recovery).join(", ") || "what is denied"}`;
  const quirk = findQuirk(recovery.error.about);
  if (quirk !== null) return quirk.action;
  if (isNowhere(recovery)) return `go on without ${recovery.error.about}`;
  if (worked === null || remedy === "none") return "run it again";
  if (recovery.error.cause === "missing-file" && remedy === "path")
    return `use ${findPath(worked, recovery.error.about ?? "") ?? ""}`;
  if (recovery.error.cause === "tool-misuse") return "look at the exact white space before the next edit";
  if (isRepaired(recovery)) return `run ${writeStep(recovery)}`;
  if (remedy === "step") return `first ${writeStep(recovery)}`;
  if (remedy === "elevation") return "ask for elevated permissions at once";
  if (remedy === "directory")
    return `run it in ${baseName(workedRun?.directory ?? worked.cwd ?? "") || "the right folder"}`;
  if (remedy === "wrapper" && run !== null && workedRun !== null) return describeRewrapping(run, workedRun);
  const dropped = remedy === "flag" || remedy === "argument" ? findDropped(recovery) : null;
  if (dropped !== null && run !== null) return `use ${run.head} without ${short(dropped, 40)}`;
  if (workedRun === null) return `use ${writeCall(worked, null, failed)}`;
  return `use ${run === null ? workedRun.call().join(" ") : workedRun.describeChange(run)}`;
}

/** `bun` without `rtk`, or `pytest` through `uv run`, for any arguments. */
function describeRewrapping(before: Run, after: Run): string {
  const words = [after.name, ...after.args];
  const at = words.indexOf(before.name);
  if (at > 0) return `run ${before.name} through ${words.slice(0, at).join(" ")}`;
  const isBared = before.args.includes(after.name);
  return isBared ? `run ${after.name} without ${before.name}` : `use ${after.describeChange(before)}`;
}

/** The sentence in which the agent says what it understood: the one that has most in common with the error and the remedy. */
function findExplanation({ said, reaction, error, failed, worked, isForeign }: Recovery): string | null {
  const calls = `${callText(failed).slice(0, 300)} ${worked === null ? "" : callText(worked)}`;
  const about = extractTerms(`${error.line} ${calls}`.slice(0, 800));
  const asked = worked?.input?.justification;
  const texts = (isForeign ? reaction : said.slice(0, 6)).map(({ text }) => text);
  let best = { sentence: "", shared: 0 };
  for (const sentence of [...texts, typeof asked === "string" ? asked : ""].flatMap(splitIntoSentences)) {
    if (announces.test(sentence) || /[?？:：]$/.test(sentence)) continue;
    const same = [...extractTerms(sentence)].filter((word) => about.has(word)).length;
    const isWhy = error.cause === "tool-misuse" && whiteSpace.test(sentence);
    const shared = same + (isWhy ? 5 : 0) + (isForeign && Recovery.saysUnrelated(sentence) ? 4 : 0);
    if (shared > best.shared) best = { sentence, shared };
  }
  return best.shared === 0 ? null : short(best.sentence, 240);
}

/** Announcements of the next call; the call itself tells more. */
const announces =
  /^(?:let me|let's|now\b|next\b|first,|i(?:'|’)m \w+ing\b|i(?:'|’)ll|i will|i(?:'|’)m (?:going|now)|perfect|great|good|done|all )/i;

function splitIntoSentences(text: string): string[] {
  const sentences = text.slice(0, 800).split(/(?<=[。！？])|(?<=[.!?:])\s+|\n+/);
  return sentences.flatMap((each) => (each.trim().length >= 12 ? each.trim() : [])).slice(0, 4);
}

function short(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

function findKeywords(recovery: Recovery, explained: string | null): string[] {
  const { error, run, workedRun } = recovery;
  const quoted = [...(explained ?? "").matchAll(/`([^`\s][^`]{1,40})`/g)].map(([, word]) => word ?? "");
  const words = [
    recovery.subject,
    error.about ?? "",
    ...(error.cause === "denied" ? droppedOperands(recovery) : []),
    ...(workedRun === null ? [] : workedRun.call(run)),
    ...quoted.slice(0, 2),
    ...listTerms(error.signature, 4).slice(0, 4),
  ];
  return [...new Set(words.filter((word) => word.length > 1))].slice(0, 8);
}

/** The words of an error that tell it from others. */
function listTerms(signature: string, shortest: number): string[] {
  return [...extractTerms(signature)].filter((word) => word.length >= shortest && !commonplace.has(word));
}

const commonplace = wordSet("error errors fails failed found command line exit code");

function chooseName(recovery: Recovery): string {
  const { cause, about, signature } = recovery.error;
  const head = recovery.subject;
  if (recovery.isStoppedByHook) return slugify(`${head} hook`);
  if (recovery.isForeign) return slugify(`${head} unrelated failures`);
  if (isEmptyGlob(recovery)) return "zsh-glob-without-match";
  if (cause === "denied") return slugify(`${droppedOperands(recovery)[0] ?? head} denied`);
  const named = about !== null && !head.split(" ").includes(about) ? about : "";
  const terms = listTerms(signature, 2).filter((word) => word !== named.toLowerCase());
  const what = causeNames[cause] ?? terms.slice(0, 4).join(" ");
  const isThing = cause === "missing-program" || cause === "missing-module";
  return slugify(`${isThing ? (about ?? head) : `${head} ${named}`} ${what}`) || slugify(cause);
}

/** How a cause is called in a name; the others are called by the words of the error. */
// biome-ignore format: a table reads better in rows
const causeNames: Partial<Record<Cause, string>> = {
  "unknown-name": "unknown", denied: "denied", "missing-program": "not on path",
  "missing-script": "script not found", "wrong-place": "wrong folder", "missing-module": "not installed",
  permission: "permission", service: "not running", timeout: "timeout",
};
