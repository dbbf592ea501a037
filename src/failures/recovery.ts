import type { JsonObject } from "../base/index.ts";
import type { CallDifference, CallUse, Cause, Event, Remedy, Symptom } from "../records/index.ts";
import { baseName, measureSimilarity, wordSet } from "../text/index.ts";
import { readCallError } from "./call-error.ts";
import { findFileNames, parseCommand } from "./command.ts";
import { classifyRun } from "./command-form.ts";
import { type ChangedLine, findChangedLine } from "./edit.ts";
import { causeGroups } from "./error-line.ts";
import type { CallError } from "./error-text.ts";
import { isCut } from "./exit.ts";
import { findFailedRun } from "./failed-run.ts";
import { findDropped, isSpokenChange } from "./proof.ts";
import { canFix, isLayoutRule, isRule } from "./rules.ts";
import { compareRuns, findMainRun, type Run } from "./run.ts";
import { findQuirk, tooManyWords } from "./shell-quirks.ts";
import { describeSymptom } from "./symptom.ts";

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
  /** The edits after the failure and before something worked. */
  declare readonly edited: readonly Event[];
  /** The looks after the failure and before something worked. */
  declare readonly looked: readonly Event[];
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
    if (remedy === null || keepsWords.has(remedy)) return null;
    if (workedRun === null || causeGroups.wording.has(error.cause)) return null;
    const call = workedRun.use(run);
    // Where a word had to go, what came along with the next try is not what helped.
    return findDropped(this) === null ? call : call.filter((part) => run?.use().includes(part));
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

  /** A rule that a tool of the same language put right. */
  get isRepaired(): boolean {
    const { stepRun, error } = this;
    return stepRun !== null && isRule(error) && fixesRule(stepRun, error.about ?? "");
  }

  /** A commit whose message was refused, and another message was not. */
  get isReworded(): boolean {
    const { run, error, remedy, between } = this;
    return (
      ofMessages.test(error.about ?? "") &&
      run?.name === "git" &&
      remedy === "argument" &&
      between.edits === 0
    );
  }

  /** The line that an edit of the file that the error names changed first; null where no edit tells. */
  get changedLine(): ChangedLine | null {
    for (const event of this.edited)
      if (event.files.some((file) => this.failed.text.includes(baseName(file)))) {
        const line = findChangedLine(event);
        if (line !== null) return line;
      }
    return null;
  }

  /** A hook of the repository refused a commit or a push: what it runs is a fact about the project. */
  get isStoppedByHook(): boolean {
    const { run, error, failed } = this;
    const commits = run?.name === "git" && /^(?:commit|push|merge)$/.test(run.verb ?? "");
    if (!commits || notOfHook.has(error.cause) || ofMessages.test(error.about ?? "")) return false;
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
    | "worked"
    | "workedRun"
    | "remedy"
    | "step"
    | "stepRun"
    | "again"
    | "between"
    | "edited"
    | "said"
    | "reaction"
  >;

interface Between {
  readonly calls: number;
  readonly edits: number;
  readonly lookups: number;
  readonly prompts: number;
}

/** Remedies that leave the words of the call as they were. */
const keepsWords = new Set<Remedy>(["none", "elevation", "directory", "edit"]);

const ownCauses = new Set<Cause>(["denied", "permission", "missing-program", "state", "transient"]);
const ofMessages = /^commitlint /;

/** Troubles that keep a hook from running at all, or are Git's own. */
const notOfHook = new Set<Cause>([
  ...(["state", "permission", "transient", "missing-program", "missing-setting", "service"] as const),
]);
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
  private readonly found = new Map<readonly Event[], readonly Recovery[]>();

  /** The programs that a call starts. */
  runs(event: Event): readonly Run[] {
    return remember(this.parsed, event, ({ command }) =>
      command === null || isCut(command) ? [] : parseCommand(command),
    );
  }

  error(event: Event): CallError {
    return remember(this.errors, event, ({ command, text, exitCode, files }) =>
      readCallError(command, text, exitCode, files),
    );
  }

  /** Whether a call worked; of a masked one nobody can tell. */
  hasWorked(event: Event): boolean {
    return event.outcome === "ok";
  }

  /** Every call that failed in a way that may teach something. */
  failures(events: readonly Event[]): Failure[] {
    return events.flatMap((failed) => this.readFailure(failed) ?? []);
  }

  /** Those failures with how each of them ended. */
  recoveries(events: readonly Event[]): readonly Recovery[] {
    const known = this.found.get(events) ?? this.findRecoveries(events);
    this.found.set(events, known);
    return known;
  }

  private findRecoveries(events: readonly Event[]): Recovery[] {
    return events.flatMap((failed, at) => {
      const failure = this.readFailure(failed);
      if (failure === null) return [];
      return new RecoverySearch(failure, findReaction(events, at), this).run(events.slice(at + 1));
    });
  }

  private readFailure(failed: Event): Failure | null {
    const error = this.failureError(failed);
    return error && new Failure({ failed, error, run: findFailedRun(this.runs(failed), error, failed.text) });
  }

  /** The calls of a session, each kind once. */
  uses(events: readonly Event[]): CallUse[] {
    const uses = new Map<string, { -readonly [Key in keyof CallUse]: CallUse[Key] }>();
    const inVain = this.findTriedInVain(events);
    for (const event of events) {
      const { at } = event;
      if (event.command === null || (event.outcome !== "ok" && event.outcome !== "failed")) continue;
      for (const run of this.runs(event)) {
        const outcome = inVain.has(run) ? "failed" : event.outcome;
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

  /** Steps that were taken against a failure which then came again: the advice to take them failed. */
  private findTriedInVain(events: readonly Event[]): Set<Run> {
    const tried = this.recoveries(events).flatMap((recovery) => {
      const { failed, again, said } = recovery;
      const from = events.indexOf(failed);
      const until = events.indexOf(again.at(-1) ?? failed);
      const steps = events
        .slice(from + 1, Math.max(from + 1, until))
        .filter(({ outcome }) => outcome === "ok");
      return steps.map((event) => findStep(event, recovery, said, this));
    });
    return new Set(tried.flatMap((run) => run ?? []));
  }

  /** The error of a call; null when it worked, only answered no, or failed for a reason that teaches nothing. */
  private failureError(event: Event): CallError | null {
    const { outcome } = event;
    if (event.kind !== "call") return null;
    if (outcome !== "failed" && outcome !== "rejected") return null;
    const error = this.error(event);
    if (error.cause === "denied") return error;
    if (outcome === "rejected") return null;
    if (error.cause === "tool-misuse") return error.about === null ? null : error;
    // An editor's other failures are about how to use it.
    const isEditor = fileTool.test(event.tool ?? "");
    return isEditor && (error.cause !== "missing-file" || error.about === null) ? null : error;
  }
}

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
const mostCalls = 80;

/** Looks through what came after a failure for the call that overcame it. */
class RecoverySearch {
  private readonly failure: Failure;
  private readonly calls: CallReader;
  private readonly reaction: readonly Event[];
  private readonly again: Event[] = [];
  private readonly edited: Event[] = [];
  private readonly looked: Event[] = [];
  private readonly said: Event[] = [];
  private readonly between = { calls: 0, edits: 0, lookups: 0, prompts: 0 };
  private step: Event | null = null;
  private vague: Recovery | null = null;

  constructor(failure: Failure, reaction: readonly Event[], calls: CallReader) {
    this.failure = failure;
    this.reaction = reaction;
    this.calls = calls;
  }

  run(later: readonly Event[]): Recovery {
    for (const event of later) {
      if (this.isOver(event)) break;
      if (!this.belongs(event)) continue;
      if (event.kind === "prompt") this.between.prompts++;
      if (event.kind === "reply") this.said.push(event);
      const found = event.kind === "call" ? (this.findFixed(event) ?? this.findAnswer(event)) : null;
      if (found !== null) return found;
      if (event.kind === "call") this.count(event);
    }
    const none = { worked: null, workedRun: null, remedy: null, step: null, stepRun: null };
    return this.vague ?? this.write(none);
  }

  private isOver({ turn }: Event): boolean {
    const { calls, lookups } = this.between;
    const isFar = turn > this.failure.failed.turn + 1 || calls - lookups / 2 >= recoveryWithinCalls;
    // What is wrong with the words of a command stays wrong, however late they are written otherwise.
    return calls > mostCalls || (isFar && findQuirk(this.failure.error.about) === null);
  }

  /** Whether an event may be an answer to the failure; one that fails the same way is noted as such. */
  private belongs(event: Event): boolean {
    const { failed, error } = this.failure;
    if (event.sidechain !== failed.sidechain) return false;
    if (!failsAlike(event, error, this.calls)) return sawResult(failed, event);
    this.again.push(event);
    return false;
  }

  /** A rule that the tool itself put right. */
  private findFixed(event: Event): Recovery | null {
    const fixer = findFixer(this.failure, event, this.between.edits, this.calls);
    const fixed = { worked: event, workedRun: fixer, step: event, stepRun: fixer };
    return fixer === null ? null : this.write({ ...fixed, remedy: "step" });
  }

  private findAnswer(event: Event): Recovery | null {
    const { failure, said, between, calls } = this;
    const link =
      linkFile(failure, event, this.again.length, calls) ??
      linkCalls(failure, event, said, calls) ??
      findReplacement(failure, between, event, said, calls);
    if (link === null || !works(event, link, failure, calls)) return null;
    const remedy = findRemedy(failure, link, event, this.step, said, calls);
    const run = findRefusedRun(failure, event, calls) ?? failure.run;
    const found = this.write({ run, worked: event, workedRun: link.run, ...remedy });
    // A better answer may still come where this one does the job in another way, or does another job.
    const { cause } = failure.error;
    const isOther =
      (found.remedy === "argument" && !causeGroups.wording.has(cause)) ||
      // With another option a check is another check.
      (found.remedy === "flag" && causeGroups.inWork.has(cause));
    if (found.remedy === "none") return this.vague ?? found;
    if (found.remedy !== "other-way" && !isOther) return found;
    this.vague ??= found;
    return null;
  }

  /** Where something was missing and is there afterwards, a step whose exit code is hidden has worked. */
  private mayHaveWorked({ outcome }: Event): boolean {
    return outcome === "ok" || (outcome === "masked" && brought.has(this.failure.error.cause));
  }

  private write(how: Ending & { readonly run?: Run | null }): Recovery {
    const { failure, again, between, edited, looked, said, reaction } = this;
    const seen = { edited: [...edited], looked: [...looked], said: [...said] };
    return new Recovery({ ...failure, again, between: { ...between }, reaction, ...seen, ...how });
  }

  /** Notes a call that was no answer: it may be the step that leads to one. */
  private count(event: Event): void {
    const { between, calls, failure, said } = this;
    const looks = (run: Run) =>
      run.isLook || run.onlyPrints || (!run.isFilter && classifyRun(run).role === "look");
    between.calls++;
    if (isEdit(event)) {
      between.edits++;
      this.edited.push(event);
    }
    // A look changes nothing, so it cannot be why the next call works.
    else if (event.command === null || calls.runs(event).every(looks)) {
      between.lookups++;
      this.looked.push(event);
    } else if (this.mayHaveWorked(event) && findStep(event, failure, said, calls)) this.step = event;
  }
}

const brought = new Set<Cause>([
  ...(["missing-module", "missing-program", "missing-setting", "service"] as const),
]);

type Ending = Pick<Recovery, "worked" | "workedRun" | "remedy" | "step" | "stepRun">;

/** Whether a later call is the answer: it worked, or it got past the point where the first had stopped. */
function works(event: Event, link: Link, { failed, error }: Failure, calls: CallReader): boolean {
  const isPutRight = findQuirk(error.about)?.isPutRight;
  if (isPutRight?.(event.command ?? "", failed.command ?? "", error.line) === false) return false;
  if (event.outcome === "ok" || decides(event, link)) return !stillFails(event, link, failed, error, calls);
  const isPast =
    event.outcome === "failed" && causeGroups.beforeWork.has(error.cause) && !weak.has(link.remedy);
  return isPast && calls.error(event).cause !== error.cause;
}

/** Whether the exit code is that of the run in question, though what feeds it may have failed unseen. */
function decides({ outcome, exitCode }: Event, { run }: Link): boolean {
  return outcome === "masked" && exitCode === 0 && run?.isFilter === true && !run.isHidden;
}

const weak = new Set<Remedy>(["other-way", "none", "argument"]);

/** Cut short by a pipe, a run that fails as before ends with 0. */
function stillFails(
  event: Event,
  { run }: Link,
  failed: Event,
  error: CallError,
  calls: CallReader,
): boolean {
  if (findsNothing.test(event.text.trimEnd().split("\n").at(-1) ?? "")) return true;
  if (run?.isHidden !== true) return false;
  if (showsNothingNew(event, failed)) return true;
  const { cause, signature } = calls.error(event);
  return cause === error.cause && (causeGroups.inWork.has(cause) || signature === error.signature);
}

/** An answer that there is nothing shows that something ran, not that it does the job. */
const findsNothing =
  /^\W{0,3}no (?!(?:issues|errors|problems|warnings|faults|offenses|vulnerabilities)\b)[\w -]{1,40} (?:found|available|configured|installed|running)\b/i;

/** Whether an output has only lines that the failed call printed too, such as a greeting or the list of commands. */
function showsNothingNew(event: Event, failed: Event): boolean {
  const before = new Set(failed.text.split("\n").map((line) => line.trim()));
  return event.text.trim() !== "" && event.text.split("\n").every((line) => before.has(line.trim()));
}

/**
 * When the call itself did not change, the last step before it did. So it is where the trouble lies outside the call,
 * and neither the error nor the agent speaks of the words that came along with the next try.
 */
function findRemedy(
  failure: Failure,
  link: Link,
  worked: Event,
  step: Event | null,
  said: readonly Event[],
  calls: CallReader,
): Pick<Recovery, "remedy" | "step" | "stepRun"> {
  const none = { step: null, stepRun: null };
  const isUnchanged = link.remedy === "none" || link.remedy === "directory";
  if (!isUnchanged && !isBeside({ ...failure, worked, workedRun: link.run, stepRun: null, said }, link))
    return { remedy: link.remedy, ...none };
  const runs = calls.runs(worked);
  const before = runs.slice(0, Math.max(0, runs.indexOf(link.run as Run)));
  const tried = new Set(calls.runs(failure.failed).map((run) => run.retell()));
  const isNew = (run: Run) => !tried.has(run.retell());
  const inside = before.findLast((run) => isNew(run) && changes(run) && canCure(run, failure, said));
  // What was done in the same call says more than where it was done.
  if (inside !== undefined) return { remedy: "step", step: null, stepRun: inside };
  if (link.remedy === "directory" || (step === null && !isUnchanged)) return { remedy: link.remedy, ...none };
  if (step === null) return { remedy: "none", ...none };
  return { remedy: "step", step, stepRun: findStep(step, failure, said, calls) };
}

/** Whether a change of words is beside the trouble, which lies with what the call needs: `psql`, then `psql -c …`. */
function isBeside(change: Parameters<typeof isSpokenChange>[0], { remedy }: Link): boolean {
  const { run, workedRun } = change;
  const isMore = run?.args.every((arg) => workedRun?.args.includes(arg)) === true;
  const isSlight = remedy === "flag" || (remedy === "argument" && isMore);
  return isSlight && causeGroups.outside.has(change.error.cause) && !isSpokenChange(change);
}

function shows(run: Run): boolean {
  return run.isLook || classifyRun(run).role === "look";
}

/** Whether a run may be why something works afterwards: it does more than show or record things. */
function changes(run: Run): boolean {
  return !run.isFilter && !run.onlyPrints && classifyRun(run).role !== "look";
}

/** The run of a call that may be why another works the next time: it builds, installs, starts, sets or moves something. */
function findStep(event: Event, failure: Failure, said: readonly Event[], calls: CallReader): Run | null {
  return calls.runs(event).findLast((run) => changes(run) && canCure(run, failure, said)) ?? null;
}

function canCure(run: Run, failure: Failure, said: readonly Event[]): boolean {
  const { error } = failure;
  const { role } = classifyRun(run);
  if (role === "install") return true;
  if (error.cause === "missing-program" || error.cause === "missing-module")
    return brings.test(`${run.name} ${run.args.join(" ")}`) || isNamedStep(run, failure);
  if (builds.test(run.args.join(" ")) && !outsideWork.has(error.cause)) return true;
  if (usualSteps[error.cause]?.test(`${run.name} ${run.args.join(" ")}`)) return true;
  if (missingTable.test(error.line) && migrates.test(run.args.join(" "))) return true;
  if (role === "record")
    return (
      (error.cause === "state" && clearsTheWay(run)) || setsRemote(run, failure) || setsAsTold(run, failure)
    );
  if (!causeGroups.inWork.has(error.cause) && !ofItself.has(error.cause) && setsUp(run, failure)) return true;
  return role !== "check" && (isNamedStep(run, failure) || isSpokenOf(run, failure, said));
}

/** The fixes for a failure of this kind, wherever it occurs. */
const usualSteps: Partial<Record<Cause, RegExp>> = {
  service: /\b(?:up|start|restart|serve|enable|launch|boot|dev)\b|\b(?:docker|podman|nerdctl) run\b/,
  permission: /\b(?:chmod|chown|login|auth|unlock|trust)\b/,
  "missing-setting": /\b(?:cp|export|source|direnv|login|link|pull)\b|\.env\b/,
};

/** A database that nobody has brought up to date, and the step that does it. */
const missingTable =
  /\b(?:relation|table|column|database|schema)\b.{0,80}(?:does not exist|doesn't exist|not found|missing)|no such (?:table|column)|unknown (?:database|column)|pending migrations?/i;
const migrates =
  /\bmigrat(?:e|ions?)\b|\bdb[: ](?:push|setup|create|prepare|seed|reset)\b|\balembic upgrade\b/;

const brings =
  /\b(?:install|venv|activate|PATH|link|generate|build|restore|setup|corepack|nvm|mise|asdf|use)\b/;
const builds = /\b(?:build|compile|generate|codegen|fix|write|format|fmt)\b/;

/** Whether it puts the work of a repository aside or brings it up to date; adding and committing are the work itself. */
function clearsTheWay({ name, verb }: Run): boolean {
  return (
    name === "git" &&
    /^(?:stash|rebase|merge|pull|fetch|checkout|switch|restore|reset|clean|rm)\b/.test(verb ?? "")
  );
}

/** Whether it makes a setting or signs in, for the program that failed or as its error says. */
function setsUp({ name, args }: Run, { run, failed }: Failure): boolean {
  const words = [name, ...args.slice(0, 3)].join(" ");
  const [word] = settingUp.exec(words) ?? [];
  return (
    word !== undefined &&
    (name === run?.name || failed.text.slice(0, adviceChars).toLowerCase().includes(word))
  );
}

const settingUp =
  /\b(?:log-?in|configure|register|enable|activate|unlock|trust|restore|bootstrap)\b|\brepo add\b|\bconfig (?:set|add)\b|\binit\b/;
/** No build starts a service, and none changes who may do what. */
const outsideWork = new Set<Cause>([
  ...(["service", "transient", "timeout", "permission", "state", "denied"] as const),
]);
/** Troubles that pass by themselves. */
const ofItself = new Set<Cause>(["transient", "timeout", "state"]);

/** Whether it does in Git what the output asks for: a setting, or to stage what a hook changed; or sends what a host is asked about. */
function setsAsTold({ name, verb }: Run, { failed, run }: Failure): boolean {
  if (name !== "git") return false;
  const said = failed.text.slice(0, adviceChars);
  if (verb === "add") return said.includes("files were modified by this hook");
  return verb === "config"
    ? said.includes("git config")
    : verb === "push" && /^(?:gh|glab)$/.test(run?.name ?? "");
}

/** Whether it sets the address of the remote that the failed call or its error names. */
function setsRemote({ name, args }: Run, { run, error }: Failure): boolean {
  const [verb, how, remote = ""] = args;
  if (name !== "git" || verb !== "remote" || !/^(?:add|set-url)$/.test(how ?? "")) return false;
  return run?.args.includes(remote) === true || /\b(?:repository|remote)\b/i.test(error.line);
}

/** Whether the error names a step or what it works on, or it works on a file of the failed call. */
function isNamedStep({ args, head, verb }: Run, { error, run, failed }: Failure): boolean {
  if (verb !== null && head !== run?.head && failed.text.slice(0, adviceChars).includes(head)) return true;
  // An everyday word may stand in any error.
  const isNamed = (word: string) => word.length > 3 && /[^a-z]/.test(word) && error.line.includes(word);
  const isShared = (word: string) =>
    /[./]/.test(word) && word.length > 3 && run?.args.includes(word) === true;
  return args.some((arg) => !arg.startsWith("-") && (isNamed(arg) || isShared(arg)));
}

/** Characters of an output in which a program says what to do. */
const adviceChars = 6_000;

/** Whether the agent named the program of a step before it ran it. */
function isSpokenOf({ head, name }: Run, { run }: Failure, said: readonly Event[]): boolean {
  const words = said.map(({ text }) => text.slice(0, 600).toLowerCase()).join("\n");
  // Of a script its own name tells, and not that it is run.
  const [, script = head] = /^\S+ run (\S{4,})$/.exec(head) ?? [];
  const telling = [head, name, script].filter((word) => !run?.head.startsWith(word));
  return telling.some((word) =>
    new RegExp(`(?<![\\w-])${escapeWord(word.toLowerCase())}(?![\\w-])`).test(words),
  );
}

/** A script that does not exist, and the first thing done after it: whatever it is, it is done instead. */
function findReplacement(
  failure: Failure,
  between: Between,
  event: Event,
  said: readonly Event[],
  calls: CallReader,
): Link | null {
  const { error, failed } = failure;
  if (between.calls > between.lookups || failed.turn !== event.turn) return null;
  const isInstead =
    error.cause === "missing-script" || (error.cause === "missing-program" && isMeant(failure, said, event));
  const run = !isInstead || event.command === null ? null : findMainRun(calls.runs(event));
  return run === null || !changes(run) ? null : { remedy: "other-way", run };
}

/** Whether the agent, missing a program, said what it would do without it, and the call has a word of that. */
function isMeant({ failed, error }: Failure, said: readonly Event[], event: Event): boolean {
  const words = said.at(-1)?.text.slice(0, 400).toLowerCase() ?? "";
  if (error.about === null || !words.includes(error.about.toLowerCase())) return false;
  const call = (event.command ?? "").toLowerCase();
  const known = (failed.command ?? "").toLowerCase();
  return (words.match(/[a-z]{4,}/g) ?? []).some((word) => call.includes(word) && !known.includes(word));
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
  const { cause, about, signature } = calls.error(event);
  // A file is the same by its name, wherever it is looked for.
  if (error.cause === "missing-file" && error.about !== null)
    return cause === error.cause && about === error.about;
  return signature === error.signature;
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

/** The tool that puts a rule right, told to do so. After edits only layout is certainly its work. */
function findFixer({ error }: Failure, event: Event, edits: number, calls: CallReader): Run | null {
  const rule = isRule(error) ? error.about : null;
  if (rule === null || event.outcome !== "ok" || (edits > 0 && !isLayoutRule(rule))) return null;
  return calls.runs(event).find((run) => !run.isFilter && fixesRule(run, rule)) ?? null;
}

function fixesRule({ name, args, head }: Run, rule: string): boolean {
  if (args.some((arg) => onlyChecks.test(arg))) return false;
  const isTold = args.some((arg) => repairs.test(arg) || inPlaceFlags.get(name)?.includes(arg) === true);
  return (isTold || writers.has(head)) && canFix(rule, [name, ...args].join(" "));
}

/** Words by which a tool is told to put right what it finds: `--fix`, `lint:fix`, `fmt`, `ktlintFormat`. */
export const repairs =
  /^--(?:fix|write|apply|unsafe|update|in-place|auto-?correct)|^(?:\w+:)?(?:fmt|format|fix)(?::\w+)?$|^\w+:(?:fix|write|format)$|^:?(?:[\w-]+:)*[a-z]\w*(?:Format|Apply)$/;
const onlyChecks = /^--?(?:check|diff|dry-run|list-different|verify|set-exit-if-changed|validate|lint)/;
const inPlaceFlags: ReadonlyMap<string, readonly string[]> = new Map([
  ...["gofmt", "goimports", "gofumpt", "shfmt"].map((name): [string, string[]] => [name, ["-w"]]),
  ...["clang-format", "autopep8", "yapf"].map((name): [string, string[]] => [name, ["-i"]]),
  ["rubocop", ["-a", "-A"]],
]);
/** Programs that write what they format unless they are told only to check it. */
const writers = wordSet("black isort rustfmt stylua nixfmt");

/** A file that was not there is named at another place, or one that could not be edited is edited after all. */
function linkFile({ failed, error }: Failure, event: Event, again: number, calls: CallReader): Link | null {
  if (error.about === null || event.outcome !== "ok") return null;
  if (error.cause === "tool-misuse") {
    // One slip is anybody's; the second shows that reading the file again does not help.
    const name = baseName(failed.files[0] ?? "");
    if (again === 0 || name === "" || !changesFile(event, name)) return null;
    return { remedy: event.command === null ? "input" : "other-way", run: null };
  }
  if (error.cause !== "missing-file" || isEdit(event)) return null;
  const before = findPath(failed, error.about);
  const after = findPath(event, error.about);
  if (before === null || after === null || ordinaryFiles.has(error.about)) return null;
  const [from, to] = [findFolder(failed), findFolder(event)];
  // A bare name says where the file lies only in the folder that the call before was made in.
  const isNear = from !== "" && from === to && calls.runs(event).some((run) => opensHere(run, after));
  if (!after.includes("/") && !isNear) return null;
  if (isSamePlace(before, from, after, to)) return null;
  return { remedy: "path", run: null };
}

/** Whether a run reads a file of the folder that the shell is in. */
function opensHere({ name, args, directory }: Run, file: string): boolean {
  return directory === null && readers.has(name) && args.includes(file);
}

const readers = wordSet("cat bat head tail sed nl less more wc stat jq python python3 node bash sh");

/** Names that many folders have: another one of that name is another file. */
const ordinaryFiles = wordSet(
  "index.ts index.tsx index.js index.html index.md main.ts main.py main.go mod.rs lib.rs main.rs __init__.py README.md " +
    "package.json tsconfig.json config.json settings.json SKILL.md CLAUDE.md AGENTS.md types.ts utils.ts page.tsx layout.tsx " +
    "Makefile Dockerfile route.ts styles.css test.ts src dist lib test tests docs scripts",
);

/** The path by which a call names a file. */
export function findPath({ command, files }: Event, name: string): string | null {
  const words = [...files, ...(command ?? "").split(/[\s'"=;|&()<>]+/)];
  return words.find((word) => word === name || word.endsWith(`/${name}`)) ?? null;
}

/** Whether two paths are one place, or may be, where it is not known from which folder they are seen. */
function isSamePlace(a: string, folderA: string, b: string, folderB: string): boolean {
  const [left, right] = [resolvePath(a, folderA), resolvePath(b, folderB)];
  if (left.startsWith("/") && right.startsWith("/")) return left === right;
  return left.endsWith(right) || right.endsWith(left);
}

function resolvePath(path: string, folder: string): string {
  const plain = path.replace(/^(?:\.\/)+/, "");
  return plain.startsWith("/") || folder === "" ? plain : `${folder.replace(/\/$/, "")}/${plain}`;
}

/** Whether a call writes to a file of this name: an editor, or a command that is made to. */
function changesFile(event: Event, name: string): boolean {
  if (isEdit(event)) return event.files.some((file) => baseName(file) === name);
  const writes = /\b(?:sed|perl) -\w*i|\.write\(|write_text|writeFile|>\s*\S|\btee\b|\bpatch\b|git apply/;
  return event.command?.includes(name) === true && writes.test(event.command);
}

/** How a later call relates to one that failed; null when it is something else. */
function linkCalls(failure: Failure, event: Event, said: readonly Event[], calls: CallReader): Link | null {
  const { failed, run, error } = failure;
  if (error.cause === "tool-misuse") return null;
  // Another file is another subject; where it lies is told by its name.
  if (failed.command === null && error.cause === "missing-file") return null;
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
  // Another file is another subject; the same words work in another folder.
  if (error.cause === "missing-file") return best?.remedy === "directory" ? best : null;
  if (best?.remedy === "none") {
    // The words are the same, but another quoting makes the shell leave them alone.
    return { remedy: error.cause === "shell-dialect" ? "argument" : sameCall, run: best.run };
  }
  if (best !== null) return raised ? { remedy: "elevation", run: best.run } : best;
  const isMissing = error.cause === "missing-program" && error.about === run.name;
  // PowerShell says what an alias stands for: `ls -la`, and `Get-ChildItem : A parameter cannot be found …`.
  const meant = runs.find(({ name }) => name !== run.name && error.line.startsWith(`${name} : `)) ?? null;
  const standIn = isMissing ? findStandIn(run, calls.runs(failed), runs) : meant;
  if (standIn !== null) return { remedy: "program", run: standIn };
  const isOther = isOtherWay(failed, run, error, event, runs) || isAnnounced(failure, said, runs);
  return isOther ? { remedy: "other-way", run: findSuccessor(run, runs, calls.runs(failed)) } : null;
}

/** Differences by how much they tell, most first. */
const telling = "none wrapper environment directory path program flag argument".split(" ");

/** The program that has the place of a missing one: it is given the same, or filters what the same program prints. */
function findStandIn(run: Run, before: readonly Run[], after: readonly Run[]): Run | null {
  const operands = ({ args }: Run) => args.filter((arg) => !/^[-/]\w/.test(arg)).join("\n");
  const [first] = before;
  const isBehindSame = run.isFilter && first !== undefined && after[0]?.retell() === first.retell();
  const stands = (other: Run) =>
    run.isFilter ? isBehindSame && other.isFilter : operands(run) !== "" && operands(other) === operands(run);
  return after.find((other) => other.name !== run.name && stands(other)) ?? null;
}

/** `rg` is not there, and the agent's own search tool is. */
function linkSearch({ run, error }: Failure, event: Event): Link | null {
  if (run === null || error.cause !== "missing-program" || !run.isLook) return null;
  return /grep|glob|search|find/i.test(event.tool ?? "") ? { remedy: "other-way", run: null } : null;
}

/** `--json` was the complaint, and `--json` is still there. */
function keepsWhatWasWrong(run: Run, other: Run, about: string | null): boolean {
  const wrong = run.args.find((arg) => arg.startsWith("-") && arg.replace(/^-+/, "").split("=")[0] === about);
  // Behind `--` it is no option any more.
  const at = wrong === undefined ? -1 : other.args.indexOf(wrong);
  return (
    at >= 0 &&
    !(
      ["--", "-e"].includes(other.args[at - 1] ?? "") &&
      run.args[run.args.indexOf(wrong ?? "") - 1] !== other.args[at - 1]
    )
  );
}

function findClosestRun(run: Run, runs: readonly Run[], about: string | null) {
  let best: { readonly remedy: CallDifference; readonly run: Run } | null = null;
  for (const other of runs) {
    if (other.asksForHelp || (other.isQuestion && !run.isQuestion) || (shows(other) && !shows(run))) continue;
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
  { cause, about }: CallError,
  event: Event,
  runs: readonly Run[],
): boolean {
  if (runs.length === 0 || failed.turn !== event.turn) return false;
  const sameProgram = runs.filter((other) => other.name === run.name && !other.isLook);
  if (sameProgram.some((other) => keepsWhatWasWrong(run, other, about))) return false;
  if (causeGroups.beforeWork.has(cause) && sameProgram.length > 0) return true;
  // Another look shows something else, unless it is made with the same program, or by a script.
  const looksAgain =
    run.isLook && event.text.trim() !== "" && runs.some((other) => other.name === run.name || changes(other));
  if (!replaceable.has(cause) && !(cause === "wrong-usage" && looksAgain)) return false;
  const words = (command: string | null) => new Set((command ?? "").match(/[\w.-]{3,}/g));
  if (about === tooManyWords.name)
    return measureSimilarity(words(failed.command), words(event.command)) >= sharedWithTooMany;
  const files = findFileNames(failed.command ?? "");
  return cause === "denied" || [...findFileNames(event.command ?? "")].some((file) => files.has(file));
}

/** Share of words that a call has in common with one of which the shell said that it was too long. */
const sharedWithTooMany = 0.2;

/** Whether the agent said that it would do it with another program, and this is it. */
function isAnnounced({ run, error }: Failure, said: readonly Event[], runs: readonly Run[]): boolean {
  const last = said.at(-1)?.text.slice(-500).toLowerCase() ?? "";
  if (!replaces.test(last) || causeGroups.inWork.has(error.cause)) return false;
  const isNamed = ({ name, isFilter }: Run) =>
    !isFilter &&
    name !== run?.name &&
    new RegExp(`(?:^|[\\s\`'"(])${escapeWord(name)}(?:[\\s\`'"),.]|$)`).test(last);
  return runs.some((other) => isNamed(other) && changes(other));
}

const replaces =
  /\binstead\b|\brather\b|\bdirectly\b|switch(?:ing)? to|fall(?:ing)? ?back|alternative|\bworkaround\b|直接|代わり|改用|en su lugar/;

function escapeWord(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The program that took over: the same with another verb, or the first that was not there before and does more than show things. */
function findSuccessor(failed: Run, runs: readonly Run[], before: readonly Run[]): Run | null {
  const again = runs.find((run) => run.name === failed.name && changes(run));
  if (again !== undefined) return again;
  const known = new Set(before.map(({ name }) => name));
  const fresh = runs.filter((run) => !known.has(run.name) && !run.onlyPrints && !run.isFilter);
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
