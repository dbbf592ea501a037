import type { CallUse, Cause, Event, Remedy, Symptom } from "../records/index.ts";
import { causeGroups } from "./cause.ts";
import { findFileNames, parseCommand } from "./command.ts";
import { type CallError, readError } from "./error.ts";
import { type FailedCall, type Link, linkCalls } from "./link.ts";
import { answersNo, isCut } from "./outcome.ts";
import { findMainRun, type Run } from "./run.ts";
import { describeSymptom, findFailedRun } from "./symptom.ts";

/** A call that failed in a way that may teach something. */
export class Failure implements FailedCall {
  declare readonly failed: Event;
  declare readonly error: CallError;
  declare readonly run: Run | null;

  constructor(fields: FailedCall) {
    Object.assign(this, fields);
  }

  /** The program with its verb, or the tool. */
  get subject(): string {
    return this.run?.head ?? this.failed.tool ?? "";
  }

  /** How somebody who meets it again knows it; `files` are what the call spoke of. */
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

  constructor(fields: FailedCall & RecoveryEnd) {
    super(fields);
    Object.assign(this, fields);
  }

  with(changes: Partial<FailedCall & RecoveryEnd>): Recovery {
    return new Recovery({ ...this, ...changes });
  }

  /** The call by which a later session shows that it does the same; null where the words of a call do not tell. */
  get fixCall(): readonly string[] | null {
    const { remedy, workedRun, stepRun, error, run } = this;
    if (remedy === "step") return stepRun?.use() ?? null;
    if (workedRun === null || remedy === null || sameWords.has(remedy)) return null;
    return causeGroups.wording.has(error.cause) ? null : workedRun.use(run);
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
    return (
      /\bhook\b|husky|pre-commit|lint-staged|commitlint|lefthook/i.test(failed.text) ||
      this.hookSteps.length > 0
    );
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

type RecoveryEnd = Pick<
  Recovery,
  "worked" | "workedRun" | "remedy" | "step" | "stepRun" | "again" | "between" | "said" | "reaction"
>;

interface Between {
  readonly calls: number;
  readonly edits: number;
  readonly lookups: number;
  readonly prompts: number;
}

/** Remedies that leave the words of the call as they were. */
const sameWords = new Set<Remedy>(["none", "elevation", "directory"]);
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
    return events.flatMap((event) => {
      const error = this.failureError(event);
      if (error === null) return [];
      return new Failure({ failed: event, error, run: findFailedRun(this.runs(event), error) });
    });
  }

  /** Those failures with how each of them ended. */
  recoveries(events: readonly Event[]): Recovery[] {
    const places = new Map(events.map((event, at) => [event, at]));
    return this.failures(events).map((failure) => {
      const at = places.get(failure.failed) as number;
      return findRecovery(failure, events, at, findReaction(events, at), this);
    });
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
    if (event.kind !== "call") return null;
    if (event.outcome === "ok") return this.hiddenError(event);
    if (event.outcome !== "failed" && event.outcome !== "rejected") return null;
    const error = this.error(event);
    if (error.cause === "tool-misuse") return null;
    if (error.cause === "denied") return error;
    if (event.outcome === "rejected" || isFileTool(event.tool)) return null;
    const { command, exitCode, text } = event;
    return command !== null && exitCode !== null && answersNo(command, exitCode, text) ? null : error;
  }

  /** A failure that a pipe or a later command hides behind exit 0. Only words that leave no doubt count, and little else said. */
  private hiddenError(event: Event): CallError | null {
    if (event.command === null || event.text.length > hiddenChars) return null;
    if (!mayComplain.test(event.text) || !this.runs(event).some(({ isHidden }) => isHidden)) return null;
    const error = this.error(event);
    const { cause, about } = error;
    if (!causeGroups.beforeWork.has(cause) || about === null) return null;
    const isNamed = this.runs(event).some(
      (run) => run.name === about || (run.args.includes(about) && !run.isLook),
    );
    return isNamed ? error : null;
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
  for (let next = at + 1; next < events.length && words.length < 2; next++) {
    const event = events[next] as Event;
    if (!sawResult(failed, event)) continue;
    // From here on its words are about the edit, or about the next failure.
    if (event.kind === "prompt" || (event.kind === "call" && (isEdit(event) || event.outcome === "failed")))
      break;
    if (event.kind === "reply") words.push(event);
  }
  return words;
}

/** Tools of the agent itself that read and write files: their failures are about how to use an editor. */
function isFileTool(tool: string | null): boolean {
  return (
    tool !== null &&
    /^(?:multi_?|notebook_?)?(?:edit|write|read|glob|grep|ls|apply_patch|view|update|str_replace\w*|write_file|read_file|list_dir\w*|search_files?)(?:_file)?$/i.test(
      tool,
    )
  );
}

/** Calls after a failure in which what worked is looked for; a look at something counts half. */
const recoveryWithinCalls = 16;

function isFar({ calls, lookups }: Between): boolean {
  return calls - lookups / 2 >= recoveryWithinCalls;
}

/** Looks through what came after a failure for the call that overcame it. */
function findRecovery(
  failure: Failure,
  events: readonly Event[],
  at: number,
  reaction: readonly Event[],
  calls: CallReader,
): Recovery {
  const { failed, error } = failure;
  const again: Event[] = [];
  const said: Event[] = [];
  const between = { calls: 0, edits: 0, lookups: 0, prompts: 0 };
  let step: Event | null = null;
  let vague: Recovery | null = null;
  for (let next = at + 1; next < events.length; next++) {
    const event = events[next] as Event;
    if (event.turn > failed.turn + 1 || isFar(between)) break;
    if (event.sidechain !== failed.sidechain) continue;
    if (failsAlike(event, error, calls)) again.push(event);
    if (again.at(-1) === event || !sawResult(failed, event)) continue;
    if (event.kind === "prompt") between.prompts++;
    if (event.kind === "reply") said.push(event);
    if (event.kind !== "call") continue;
    const link =
      linkCalls(failure, event, (each) => calls.runs(each)) ??
      findReplacement(failure, between, event, calls);
    if (link !== null && works(event, link, error, calls)) {
      const found = new Recovery({
        ...failure,
        run: findRefusedRun(failure, event, calls) ?? failure.run,
        worked: event,
        workedRun: link.run,
        ...findRemedy(link, event, step, calls),
        again,
        between: { ...between },
        said: [...said],
        reaction,
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
  if (vague !== null) return vague;
  const none = { worked: null, workedRun: null, remedy: null, step: null, stepRun: null };
  return new Recovery({ ...failure, ...none, again, between, said, reaction });
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
  if (link.remedy !== "none") return { remedy: link.remedy, step: null, stepRun: null };
  const runs = calls.runs(worked);
  const inside = runs
    .slice(0, Math.max(0, runs.indexOf(link.run as Run)))
    .filter(changes)
    .at(-1);
  if (inside !== undefined) return { remedy: "step", step: null, stepRun: inside };
  if (step === null) return { remedy: "none", step: null, stepRun: null };
  return { remedy: "step", step, stepRun: calls.runs(step).filter(changes).at(-1) ?? null };
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
  return (
    name === "git" && /^(?:add|commit|tag|stash|push)$/.test(args.find((arg) => !arg.startsWith("-")) ?? "")
  );
}

/** A script that does not exist, and the first thing done after it: whatever it is, it is done instead. */
function findReplacement(
  { error, failed }: Failure,
  between: Between,
  event: Event,
  calls: CallReader,
): Link | null {
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
  return (
    tool !== null &&
    /edit|write|apply_patch|str_replace|create_file/i.test(tool) &&
    tool !== "write_stdin" &&
    !/^todo/i.test(tool)
  );
}
