import type { JsonObject } from "../base/index.ts";
import type { CallDifference, CallUse, Cause, Event, Remedy, Symptom } from "../records/index.ts";
import { measureSimilarity } from "../text/index.ts";
import { findFileNames, parseCommand } from "./command.ts";
import { causeGroups } from "./error-line.ts";
import { answersNo, type CallError, isCut, readError } from "./outcome.ts";
import { compareRuns, findMainRun, type Run } from "./run.ts";
import { describeSymptom, findFailedRun } from "./symptom.ts";

/** A call that failed in a way that may teach something. */
class Failure {
  declare readonly failed: Event;
  declare readonly error: CallError;
  /** The program of it that failed; null for tools that are no shell, and for commands that cannot be parsed. */
  declare readonly run: Run | null;

  constructor(fields: Pick<Failure, "failed" | "error" | "run">) {
    Object.assign(this, fields);
  }

  /** The program with its verb, or the tool. */
  get subject(): string {
    return this.run?.head ?? this.failed.tool ?? "";
  }

  /** The symptom to recognise it by; `files` are those the call named. */
  symptom(files: Iterable<string>): Symptom {
    return describeSymptom(this.error, this.run, this.failed.tool ?? "", files);
  }
}

/** A call that failed, and how that ended. */
export class Recovery extends Failure {
  /** The call that worked, or got further than the one that failed; null when nothing did. */
  declare readonly worked: Event | null;
  declare readonly workedRun: Run | null;
  declare readonly remedy: Remedy | null;
  /** The step after which the same call works: in a call of its own, or as part of the one that worked. */
  declare readonly step: Event | null;
  declare readonly stepRun: Run | null;
  /** Later calls that failed the same way. */
  declare readonly again: readonly Event[];
  declare readonly between: Between;
  /** The agent's words after it saw the failure and before something worked. */
  declare readonly said: readonly Event[];
  /** The first of its words about the failure that came before any edit, whether or not something had worked by then. */
  declare readonly reaction: readonly Event[];

  constructor(fields: RecoveryFields) {
    super(fields);
  }

  with(changes: Partial<RecoveryFields>): Recovery {
    return new Recovery({ ...this, ...changes });
  }

  /** The call by which a later session shows that it does the same; null where the words of a call do not tell. */
  get fixCall(): readonly string[] | null {
    const { remedy, workedRun, stepRun, error, run } = this;
    if (remedy === "step") return stepRun?.use() ?? null;
    // The words of the call are as they were, or are the trouble.
    if (remedy === "none" || remedy === "elevation" || remedy === "directory" || remedy === null) return null;
    return workedRun === null || causeGroups.wording.has(error.cause) ? null : workedRun.use(run);
  }

  /** The agent finds that the failure is not of its making, and goes around it instead of editing until it is quiet. */
  get isForeign(): boolean {
    const { error, remedy, between, reaction } = this;
    if (causeGroups.beforeWork.has(error.cause) || ownCauses.has(error.cause)) return false;
    if (!reaction.some(({ text }) => Recovery.saysUnrelated(text))) return false;
    const goesAround = remedy === "program" || remedy === "wrapper";
    return this.isAboutTests || (goesAround && between.edits === 0);
  }

  /** Whether a text says that something is not of the speaker's making. */
  static saysUnrelated(text: string): boolean {
    return unrelated.test(text.slice(0, 600));
  }

  /** A test run: the one kind of check whose failure may come from outside the change. */
  private get isAboutTests(): boolean {
    if (this.run === null || this.error.cause === "lint") return false;
    return /test|jest|mocha|spec|tox|rspec/i.test(this.run.head) || this.error.cause === "failing-test";
  }

  /** A hook of the repository refused a commit or a push: what it runs is a fact about the project. */
  get isStoppedByHook(): boolean {
    const { run, error, failed } = this;
    const commits = run?.name === "git" && /^(?:commit|push|merge)$/.test(run.verb ?? "");
    if (!commits || ["state", "permission", "transient"].includes(error.cause)) return false;
    const namesHook = /\bhook\b|husky|pre-commit|lint-staged|commitlint|lefthook/i.test(failed.text);
    return namesHook || this.hookSteps.length > 0;
  }

  /** The commands that a hook says it runs, as package managers and hook runners print them. */
  get hookSteps(): string[] {
    const steps = this.failed.text.split("\n").flatMap((line) => {
      const [, shell, script, check] = hookStep.exec(line) ?? [];
      return (shell ?? script ?? check)?.slice(0, 50).trim() ?? [];
    });
    return [...new Set(steps)].slice(0, 4);
  }
}

type RecoveryFields = Pick<Failure, "failed" | "error" | "run"> &
  Pick<
    Recovery,
    "worked" | "workedRun" | "remedy" | "step" | "stepRun" | "again" | "between" | "said" | "reaction"
  >;

interface Between {
  readonly calls: number;
  readonly edits: number;
  readonly lookups: number;
  readonly prompts: number;
}

const ownCauses = new Set<Cause>(["denied", "permission", "missing-program", "state", "transient"]);
const hookStep = /^\$ (\S.{0,80})$|^> (?!\S+@\d)(\S.{0,80})$|^(\S[^.]{0,60})\.{3,}(?:Failed|Passed)/;

const unrelated =
  /fail\w* (?:are|is|come|comes|seem).{0,60}\b(?:external|third-party|another|other)\b|pre-?existing|unrelated|not (?:related|caused)|outside (?:of )?(?:this|the|my|our) change|\bflak(?:y|e|es|iness)\b|\bexisting\b.{0,60}(?:timeout|failure|flake|error)|already (?:broken|fail)|与.{0,12}无关|已经?存在的/i;

/** A call as text: its command, or its input. */
export function callText({ command, input }: Event): string {
  return (command ?? JSON.stringify(input ?? {})).slice(0, 1_000);
}

/** Reads the calls of a session. Commands and outputs are parsed once, however often they are looked at. */
export class CallReader {
  private readonly parsed = new Map<Event, readonly Run[]>();
  private readonly errors = new Map<Event, CallError>();

  /** The programs that a call starts. */
  runs(event: Event): readonly Run[] {
    return remember(this.parsed, event, ({ command }) =>
      command === null || isCut(command) ? [] : parseCommand(command),
    );
  }

  error(event: Event): CallError {
    return remember(this.errors, event, ({ text, exitCode }) => readError(text, exitCode));
  }

  /** Whether a call worked: its outcome says so, and its output does not say otherwise. */
  hasWorked(event: Event): boolean {
    return event.outcome === "ok" && this.hiddenError(event) === null;
  }

  /** Every call that failed in a way that may teach something. */
  failures(events: readonly Event[]): Failure[] {
    return events.flatMap((failed) => this.readFailure(failed) ?? []);
  }

  /** Those failures with how each of them ended. */
  recoveries(events: readonly Event[]): Recovery[] {
    return events.flatMap((failed, at) => {
      const failure = this.readFailure(failed);
      return failure === null ? [] : findRecovery(failure, events, at, this);
    });
  }

  private readFailure(failed: Event): Failure | null {
    const error = this.failureError(failed);
    return error && new Failure({ failed, error, run: findFailedRun(this.runs(failed), error) });
  }

  /** The calls of a session, each kind once. */
  uses(events: readonly Event[]): CallUse[] {
    const uses = new Map<string, { -readonly [Key in keyof CallUse]: CallUse[Key] }>();
    for (const event of events) {
      const { at } = event;
      const outcome = this.hasWorked(event) ? "ok" : event.outcome === "ok" ? "failed" : event.outcome;
      if (event.command === null || (outcome !== "ok" && outcome !== "failed")) continue;
      for (const run of this.runs(event)) {
        const [head, ...rest] = run.use();
        const parts = [...new Set(rest)].sort();
        const key = [head, ...parts].join(" ");
        const use = uses.get(key) ?? { head, parts, at, ok: 0, failed: 0 };
        use[outcome]++;
        uses.set(key, use);
      }
    }
    return [...uses.values()];
  }

  /** The error of a call; null when it worked, only answered no, or failed for a reason that teaches nothing. */
  private failureError(event: Event): CallError | null {
    const { command, exitCode, text, outcome } = event;
    if (event.kind !== "call") return null;
    if (outcome === "ok") return this.hiddenError(event);
    if (outcome !== "failed" && outcome !== "rejected") return null;
    const error = this.error(event);
    if (error.cause === "tool-misuse") return null;
    if (error.cause === "denied") return error;
    if (outcome === "rejected" || fileTool.test(event.tool ?? "")) return null;
    return command !== null && exitCode !== null && answersNo(command, exitCode, text) ? null : error;
  }

  /** A failure that a pipe or a later command hides behind exit 0. Only words that leave no doubt count, and little else said. */
  private hiddenError(event: Event): CallError | null {
    if (event.command === null || event.text.length > hiddenChars || !mayComplain.test(event.text))
      return null;
    const runs = this.runs(event);
    if (!runs.some(({ isHidden }) => isHidden)) return null;
    const error = this.error(event);
    const { cause, about } = error;
    if (!causeGroups.beforeWork.has(cause) || about === null) return null;
    const isAbout = (run: Run) => run.name === about || (run.args.includes(about) && !run.isLook);
    return runs.some(isAbout) ? error : null;
  }
}

const hiddenChars = 400;
const mayComplain =
  /not found|no such|un(?:known|recogni[sz]ed|expected|supported)|invalid|illegal|missing|no match/i;

function remember<T>(known: Map<Event, T>, event: Event, find: (event: Event) => T): T {
  const found = known.get(event) ?? find(event);
  known.set(event, found);
  return found;
}

/** The agent's next words, up to the point where it starts to change files or a person speaks. */
function findReaction(events: readonly Event[], at: number): Event[] {
  const failed = events[at] as Event;
  const words: Event[] = [];
  for (const event of events.slice(at + 1)) {
    if (words.length === 2) break;
    if (!sawResult(failed, event)) continue;
    // From here on its words are about the edit, or about the next failure.
    if (event.kind === "prompt" || (event.kind === "call" && (isEdit(event) || event.outcome === "failed")))
      break;
    if (event.kind === "reply") words.push(event);
  }
  return words;
}

/** Tools of the agent itself that read and write files: their failures are about how to use an editor. */
const fileTool =
  /^(?:multi_?|notebook_?)?(?:edit|write|read|glob|grep|ls|apply_patch|view|update|str_replace\w*|write_file|read_file|list_dir\w*|search_files?)(?:_file)?$/i;

/** Calls after a failure in which what worked is looked for; a look at something counts half. */
const recoveryWithinCalls = 16;

function isFar({ calls, lookups }: Between): boolean {
  return calls - lookups / 2 >= recoveryWithinCalls;
}

/** Looks through what came after a failure for the call that overcame it. */
function findRecovery(failure: Failure, events: readonly Event[], at: number, calls: CallReader): Recovery {
  const { failed, error } = failure;
  const reaction = findReaction(events, at);
  const again: Event[] = [];
  const said: Event[] = [];
  const between = { calls: 0, edits: 0, lookups: 0, prompts: 0 };
  let step: Event | null = null;
  let vague: Recovery | null = null;
  for (const event of events.slice(at + 1)) {
    if (event.turn > failed.turn + 1 || isFar(between)) break;
    if (event.sidechain !== failed.sidechain) continue;
    if (failsAlike(event, error, calls)) again.push(event);
    if (again.at(-1) === event || !sawResult(failed, event)) continue;
    if (event.kind === "prompt") between.prompts++;
    if (event.kind === "reply") said.push(event);
    if (event.kind !== "call") continue;
    const link = linkCalls(failure, event, calls) ?? findReplacement(failure, between, event, calls);
    if (link !== null && works(event, link, error, calls)) {
      const found = new Recovery({
        ...failure,
        run: findRefusedRun(failure, event, calls) ?? failure.run,
        ...{ worked: event, workedRun: link.run, ...findRemedy(link, event, step, calls) },
        ...{ again, between: { ...between }, said: [...said], reaction },
      });
      // A better answer may still come where this one does the job in another way, or does another job.
      const isOther = found.remedy === "argument" && !causeGroups.wording.has(error.cause);
      if (found.remedy !== "other-way" && !isOther) return found.remedy === "none" ? (vague ?? found) : found;
      vague ??= found;
    }
    between.calls++;
    if (isEdit(event)) between.edits++;
    // A look changes nothing, so it cannot be why the next call works.
    else if (event.command === null || calls.runs(event).every((run) => run.isLook || run.onlyPrints))
      between.lookups++;
    else if (event.outcome === "ok" && mayCure(event, error, calls)) step = event;
  }
  const none = { worked: null, workedRun: null, remedy: null, step: null, stepRun: null };
  return vague ?? new Recovery({ ...failure, ...none, again, between, said, reaction });
}

/** Whether a later call is the answer: it worked, or it got past the point where the first had stopped. */
function works(event: Event, link: Link, error: CallError, calls: CallReader): boolean {
  if (event.outcome === "ok") return !stillFails(event, link, error, calls);
  return event.outcome === "failed" && causeGroups.beforeWork.has(error.cause) && !weak.has(link.remedy);
}

const weak = new Set<Remedy>(["other-way", "none", "argument"]);

/** Cut short by a pipe, a run that fails as before ends with 0. */
function stillFails(event: Event, { run }: Link, error: CallError, calls: CallReader): boolean {
  if (run?.isHidden !== true) return false;
  const { cause, signature } = calls.error(event);
  return cause === error.cause && (causeGroups.inWork.has(cause) || signature === error.signature);
}

/** When the call itself did not change, the last step before it did. */
function findRemedy(
  link: Link,
  worked: Event,
  step: Event | null,
  calls: CallReader,
): Pick<Recovery, "remedy" | "step" | "stepRun"> {
  const none = { step: null, stepRun: null };
  if (link.remedy !== "none") return { remedy: link.remedy, ...none };
  const runs = calls.runs(worked);
  const inside = runs.slice(0, Math.max(0, runs.indexOf(link.run as Run))).findLast(changes);
  if (inside !== undefined) return { remedy: "step", step: null, stepRun: inside };
  if (step === null) return { remedy: "none", ...none };
  return { remedy: "step", step, stepRun: calls.runs(step).findLast(changes) ?? null };
}

function changes(run: Run): boolean {
  return !run.isLook && !run.onlyPrints && !run.isFilter;
}

/** Whether something that was run in between may be why a call works the next time. */
function mayCure(event: Event, { cause }: CallError, calls: CallReader): boolean {
  return calls.runs(event).some((run) => changes(run) && !(ofTheSetUp.has(cause) && keepsRecord(run)));
}

/** Causes that no commit cures: git starts no service and installs nothing. */
const ofTheSetUp = new Set<Cause>(["service", "missing-program", "missing-module", "missing-setting"]);

function keepsRecord({ name, args }: Run): boolean {
  const verb = args.find((arg) => !arg.startsWith("-")) ?? "";
  return name === "git" && /^(?:add|commit|tag|stash|push)$/.test(verb);
}

/** A script that does not exist, and the first thing done after it: whatever it is, it is done instead. */
function findReplacement(failure: Failure, between: Between, event: Event, calls: CallReader): Link | null {
  const { error, failed } = failure;
  if (error.cause !== "missing-script" || between.calls > between.lookups || failed.turn !== event.turn)
    return null;
  const run = event.command === null ? null : findMainRun(calls.runs(event));
  return run === null || !changes(run) ? null : { remedy: "other-way", run };
}

/** The part of a refused command that names a file which the accepted command left out. */
function findRefusedRun({ failed, error }: Failure, worked: Event, calls: CallReader): Run | null {
  if (error.cause !== "denied") return null;
  const kept = findFileNames(worked.command ?? "");
  const leavesOut = ({ args }: Run) => [...findFileNames(args.join(" "))].some((file) => !kept.has(file));
  return calls.runs(failed).find(leavesOut) ?? null;
}

/** Calls sent before the failure was known are no answer to it. */
function sawResult(failed: Event, event: Event): boolean {
  const order = failed.resultKey === null ? null : comparePositions(failed.resultKey, event.key);
  if (order !== null) return order < 0;
  return failed.endedAt === null || event.at === null || event.at >= failed.endedAt;
}

/** Which of two places in a transcript comes first: lines by number, parts of messages as `7.10`; null when they have no order. */
function comparePositions(a: string, b: string): number | null {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (Number.isNaN(difference)) return null;
    if (difference !== 0) return difference;
  }
  return 0;
}

function failsAlike(event: Event, error: CallError, calls: CallReader): boolean {
  if (event.outcome !== "failed" && event.outcome !== "rejected") return false;
  return calls.error(event).signature === error.signature;
}

/** Whether a call changes files by a tool that is made for that. */
export function isEdit({ tool }: Pick<Event, "tool">): boolean {
  const edits = /edit|write|apply_patch|str_replace|create_file/i;
  return tool !== null && edits.test(tool) && tool !== "write_stdin" && !/^todo/i.test(tool);
}

/** How a later call relates to one that failed, and the program of it that shows that. */
interface Link {
  readonly remedy: Remedy;
  readonly run: Run | null;
}

/** How a later call relates to one that failed; null when it is something else. */
function linkCalls(failure: Failure, event: Event, calls: CallReader): Link | null {
  const { failed, run, error } = failure;
  if (failed.command === null) return linkTools(failed, event, error, calls);
  if (event.command === null) return linkSearch(failure, event);
  const runs = calls.runs(event);
  const raised = isElevated(event.input) && !isElevated(failed.input);
  const [before, after] = [findFolder(failed), findFolder(event)];
  const sameCall = before !== "" && after !== "" && before !== after ? "directory" : "none";
  if (failed.command === event.command) {
    if (raised) return { remedy: "elevation", run };
    return { remedy: sameCall, run: runs.find(({ name }) => name === run?.name) ?? findMainRun(runs) };
  }
  if (run === null) return null;
  const best = findClosestRun(run, runs, error.about);
  if (best?.remedy === "none") {
    // The words are the same, but another quoting makes the shell leave them alone.
    return { remedy: error.cause === "shell-dialect" ? "argument" : sameCall, run: best.run };
  }
  if (best !== null) return raised ? { remedy: "elevation", run: best.run } : best;
  const isOther = isOtherWay(failed, run, error, event, runs);
  return isOther ? { remedy: "other-way", run: findSuccessor(runs, calls.runs(failed)) } : null;
}

/** Differences by how much they tell, most first. */
const telling = "none wrapper environment directory path program flag argument".split(" ");

/** `rg` is not there, and the agent's own search tool is. */
function linkSearch({ run, error }: Failure, event: Event): Link | null {
  if (run === null || error.cause !== "missing-program" || !run.isLook) return null;
  return /grep|glob|search|find/i.test(event.tool ?? "") ? { remedy: "other-way", run: null } : null;
}

/** `--json` was the complaint, and `--json` is still there. */
function keepsWhatWasWrong(run: Run, other: Run, about: string | null): boolean {
  const wrong = run.args.find((arg) => arg.startsWith("-") && arg.replace(/^-+/, "").split("=")[0] === about);
  return wrong !== undefined && other.args.includes(wrong);
}

function findClosestRun(run: Run, runs: readonly Run[], about: string | null) {
  let best: { readonly remedy: CallDifference; readonly run: Run } | null = null;
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
  const isSameProgram = runs.some((other) => other.name === run.name && !other.isLook);
  if (causeGroups.beforeWork.has(cause) && isSameProgram) return true;
  if (!replaceable.has(cause)) return false;
  const files = findFileNames(failed.command ?? "");
  return cause === "denied" || [...findFileNames(event.command ?? "")].some((file) => files.has(file));
}

/** The program that took over: the first that was not there before and does more than show things. */
function findSuccessor(runs: readonly Run[], before: readonly Run[]): Run | null {
  const known = new Set(before.map(({ name }) => name));
  const fresh = runs.filter((run) => !known.has(run.name) && !run.onlyPrints);
  return fresh.find((run) => !run.isLook) ?? fresh[0] ?? findMainRun(runs);
}

const replaceable = new Set(["missing-program", "missing-module", "shell-dialect", "denied", "permission"]);

/** A tool of the agent: the same one with other input, or, when its name is unknown, the command of that name. */
function linkTools(failed: Event, event: Event, { cause, about }: CallError, calls: CallReader): Link | null {
  if (event.tool === failed.tool) {
    if (JSON.stringify(event.input) === JSON.stringify(failed.input)) return { remedy: "none", run: null };
    return cause === "denied" || isSimilar(failed.input, event.input) ? { remedy: "input", run: null } : null;
  }
  const runs = calls.runs(event);
  if (cause === "denied" && event.outcome === "ok") return { remedy: "other-way", run: findMainRun(runs) };
  if (cause !== "unknown-name" || event.command === null) return null;
  const named = runs.find(({ name, args }) => name === about || args.includes(about ?? ""));
  return named ? { remedy: "program", run: named } : { remedy: "other-way", run: findMainRun(runs) };
}

/** Whether two inputs are for the same thing: they share a value, or most of their words. */
function isSimilar(a: JsonObject | null, b: JsonObject | null): boolean {
  const keys = Object.keys(a ?? {});
  if (keys.length <= 1 || keys.some((key) => a?.[key] === b?.[key])) return true;
  const split = (text: string) =>
    new Set(
      text
        .slice(0, 2_000)
        .toLowerCase()
        .split(/[^\p{L}\p{N}]+/u),
    );
  return measureSimilarity(split(JSON.stringify(a)), split(JSON.stringify(b))) >= 0.45;
}

function isElevated(input: JsonObject | null): boolean {
  const sandbox = input?.sandbox_permissions;
  if (input?.with_escalated_permissions === true || input?.dangerouslyDisableSandbox === true) return true;
  return typeof sandbox === "string" && sandbox !== "use_default";
}

function findFolder({ input, cwd }: Event): string {
  const workdir = input?.workdir;
  return typeof workdir === "string" ? workdir : (cwd ?? "");
}
