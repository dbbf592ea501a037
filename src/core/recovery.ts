import { type Cause, isAboutWords, isOfTheWork, neverStarted } from "./cause.ts";
import { answersNo, type Run, runsOf } from "./command.ts";
import type { Event } from "./event.ts";
import { type Calls, type Complaint, complaintOf } from "./failure.ts";
import { culprit, type Failure, type Link, linkBetween, type Remedy } from "./link.ts";
import { policy } from "./policy.ts";
import { filesIn, headOf, isLook, mainOf, prints, useOf } from "./run.ts";

/** A call that failed, and what is known about how that ended. */
export interface Recovery extends Failure {
  /** The call that worked, or got further than the one that failed; null when nothing did. */
  readonly worked: Event | null;
  readonly workedRun: Run | null;
  readonly remedy: Remedy | null;
  /** What was done in between, when the same call works after it: in a call of its own, or as part of the one that worked. */
  readonly step: Event | null;
  readonly stepRun: Run | null;
  /** Later calls that failed the same way. */
  readonly again: readonly Event[];
  /** What happened between failure and success. */
  readonly between: Between;
  /** What the agent said after it saw the failure and before something worked. */
  readonly said: readonly Event[];
  /** The first of its words about the failure that came before any edit, whether or not something had worked by then. */
  readonly judgement: readonly Event[];
}

export interface Between {
  readonly calls: number;
  readonly edits: number;
  readonly lookups: number;
  readonly prompts: number;
}

/** Every call of a session that failed in a way that may teach something, with what came of it. */
export function recoveriesIn(events: readonly Event[], calls: Calls = readCalls()): Recovery[] {
  return events.flatMap((event, at) => {
    const failure = failureIn(event, calls);
    if (failure === null) return [];
    return [{ ...recover(failure, events, at, calls), judgement: judgementOn(events, at) }];
  });
}

/** The same calls, whatever came of them. */
export function failuresIn(events: readonly Event[], calls: Calls = readCalls()): Failure[] {
  return events.flatMap((event) => failureIn(event, calls) ?? []);
}

function failureIn(event: Event, calls: Calls): Failure | null {
  const complaint = complaintAbout(event, calls);
  if (complaint === null) return null;
  return { failed: event, complaint, run: culprit(calls.runs(event), complaint) };
}

/** Commands and outputs are read once, however many failures look at them. */
export function readCalls(): Calls {
  const runs = new Map<Event, readonly Run[]>();
  const complaints = new Map<Event, Complaint>();
  return {
    runs: (event) =>
      remember(runs, event, ({ command }) => (command === null || isCut(command) ? [] : runsOf(command))),
    complaint: (event) => remember(complaints, event, ({ text, exitCode }) => complaintOf(text, exitCode)),
  };
}

/** What is kept of a longer command would say something else. */
function isCut(command: string): boolean {
  return command.length >= policy.keep.eventChars;
}

function remember<T>(known: Map<Event, T>, event: Event, find: (event: Event) => T): T {
  const found = known.get(event) ?? find(event);
  known.set(event, found);
  return found;
}

/** The agent's next words, up to the point where it starts to change files or a person speaks. */
function judgementOn(events: readonly Event[], at: number): Event[] {
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

/** What is wrong with a call; null when it worked, only answered no, or failed for a reason that is nobody's lesson. */
function complaintAbout(event: Event, calls: Calls): Complaint | null {
  if (event.kind !== "call") return null;
  if (event.outcome === "ok") return hiddenComplaint(event, calls);
  if (event.outcome !== "failed" && event.outcome !== "rejected") return null;
  const complaint = calls.complaint(event);
  if (complaint.cause === "tool-misuse") return null;
  if (complaint.cause === "denied") return complaint;
  if (event.outcome === "rejected" || isFileTool(event.tool)) return null;
  const { command, exitCode, text } = event;
  return command !== null && exitCode !== null && answersNo(command, exitCode, text) ? null : complaint;
}

/** Whether a call failed behind an exit status of 0. */
export function failsUnseen(event: Event, calls: Calls = readCalls()): boolean {
  return event.outcome === "ok" && hiddenComplaint(event, calls) !== null;
}

/** A failure that a pipe or a later command hides behind exit 0. Only words that leave no doubt count, and little else said. */
function hiddenComplaint(event: Event, calls: Calls): Complaint | null {
  if (event.command === null || event.text.length > hiddenChars) return null;
  if (!mayComplain.test(event.text) || !calls.runs(event).some(({ hidden }) => hidden)) return null;
  const complaint = calls.complaint(event);
  const { cause, about } = complaint;
  if (!neverStarted(cause) || about === null) return null;
  const named = calls
    .runs(event)
    .some((run) => run.name === about || (run.args.includes(about) && !isLook(run)));
  return named ? complaint : null;
}

const hiddenChars = 400;
const mayComplain =
  /not found|no such|un(?:known|recogni[sz]ed|expected|supported)|invalid|illegal|missing|no match/i;

/** Tools of the agent itself that read and write files: their failures are about how to use an editor. */
function isFileTool(tool: string | null): boolean {
  return (
    tool !== null &&
    /^(?:multi_?|notebook_?)?(?:edit|write|read|glob|grep|ls|apply_patch|view|update|str_replace\w*|write_file|read_file|list_dir\w*|search_files?)(?:_file)?$/i.test(
      tool,
    )
  );
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

/** Looking things up takes calls without leading away from the failure. */
function isFar({ calls, lookups }: Between): boolean {
  return calls - lookups / 2 >= policy.detect.recoveryWithinCalls;
}

type Found = Omit<Recovery, "judgement">;

function recover(failure: Failure, events: readonly Event[], at: number, calls: Calls): Found {
  const { failed, complaint } = failure;
  const again: Event[] = [];
  const said: Event[] = [];
  const between = { calls: 0, edits: 0, lookups: 0, prompts: 0 };
  let step: Event | null = null;
  let vague: Found | null = null;
  for (let next = at + 1; next < events.length; next++) {
    const event = events[next] as Event;
    if (event.turn > failed.turn + 1 || isFar(between)) break;
    if (event.sidechain !== failed.sidechain) continue;
    if (failsAlike(event, complaint, calls)) again.push(event);
    if (again.at(-1) === event || !sawResult(failed, event)) continue;
    if (event.kind === "prompt") between.prompts++;
    if (event.kind === "reply") said.push(event);
    if (event.kind !== "call") continue;
    const link = linkBetween(failure, event, calls) ?? insteadOf(failure, between, event, calls);
    if (link !== null && works(event, link, complaint, calls)) {
      const remedy = remedyOf(link, event, step, calls);
      const found = {
        ...failure,
        worked: event,
        workedRun: link.run,
        ...remedy,
        again,
        between: { ...between },
        said: [...said],
      };
      const told = { ...found, run: refusedRun(found, calls) ?? failure.run };
      if (!isVague(remedy.remedy, complaint)) return remedy.remedy === "none" ? (vague ?? told) : told;
      vague ??= told;
    }
    between.calls++;
    if (isEdit(event)) between.edits++;
    else if (looksUp(event, calls)) between.lookups++;
    else if (event.outcome === "ok" && mayCure(event, complaint, calls)) step = event;
  }
  if (vague !== null) return vague;
  return {
    ...failure,
    worked: null,
    workedRun: null,
    remedy: null,
    step: null,
    stepRun: null,
    again,
    between,
    said,
  };
}

/** Whether a better answer may still come: this one does the job in another way, or does another job. */
function isVague(remedy: Remedy | null, { cause }: Complaint): boolean {
  return remedy === "other-way" || (remedy === "argument" && !isAboutWords(cause));
}

/** Whether a later call is the answer: it worked, or it got past the point where the first had stopped. */
function works(event: Event, link: Link, complaint: Complaint, calls: Calls): boolean {
  if (event.outcome === "ok") return !stillFails(event, link, complaint, calls);
  return event.outcome === "failed" && neverStarted(complaint.cause) && !weak.has(link.remedy);
}

const weak = new Set<Remedy>(["other-way", "none", "argument"]);

/** Cut short by a pipe, a run that fails as before ends with 0. */
function stillFails(event: Event, { run }: Link, complaint: Complaint, calls: Calls): boolean {
  if (run?.hidden !== true) return false;
  const { cause, signature } = calls.complaint(event);
  return cause === complaint.cause && (isOfTheWork(cause) || signature === complaint.signature);
}

/** When the call itself did not change, the last step before it did. */
function remedyOf(
  link: Link,
  worked: Event,
  step: Event | null,
  calls: Calls,
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
  return !isLook(run) && !prints(run.name) && !run.filters;
}

/** Whether something that was run in between may be why a call works the next time. */
function mayCure(event: Event, { cause }: Complaint, calls: Calls): boolean {
  return calls.runs(event).some((run) => changes(run) && !(ofTheSetUp.has(cause) && keepsRecord(run)));
}

/** What git writes down starts no service and installs nothing. */
const ofTheSetUp = new Set<Cause>(["service", "missing-program", "missing-module", "missing-setting"]);

function keepsRecord({ name, args }: Run): boolean {
  return (
    name === "git" && /^(?:add|commit|tag|stash|push)$/.test(args.find((arg) => !arg.startsWith("-")) ?? "")
  );
}

/** A script that does not exist, and the first thing done after it: whatever it is, it is done instead. */
function insteadOf(
  { complaint, failed }: Failure,
  between: Between,
  event: Event,
  calls: Calls,
): Link | null {
  if (complaint.cause !== "missing-script" || between.calls > between.lookups || failed.turn !== event.turn)
    return null;
  const run = event.command === null ? null : mainOf(calls.runs(event));
  return run === null || !changes(run) ? null : { remedy: "other-way", run };
}

/** Of a refused command the part that speaks of a file which the accepted one left out. */
function refusedRun(
  { failed, complaint, worked }: Pick<Recovery, "failed" | "complaint" | "worked">,
  calls: Calls,
): Run | null {
  if (complaint.cause !== "denied" || worked === null) return null;
  const kept = filesIn(worked.command ?? "");
  return (
    calls.runs(failed).find(({ args }) => [...filesIn(args.join(" "))].some((file) => !kept.has(file))) ??
    null
  );
}

/** Calls sent before the failure was known are no answer to it. */
function sawResult(failed: Event, event: Event): boolean {
  const order = failed.resultKey === null ? null : orderOf(failed.resultKey, event.key);
  if (order !== null) return order < 0;
  return failed.endedAt === null || event.at === null || event.at >= failed.endedAt;
}

/** Which of two places in a transcript comes first: lines by number, parts of messages as `7.10`; null when they have no order. */
function orderOf(a: string, b: string): number | null {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (Number.isNaN(difference)) return null;
    if (difference !== 0) return difference;
  }
  return 0;
}

function failsAlike(event: Event, complaint: Complaint, calls: Calls): boolean {
  if (event.outcome !== "failed" && event.outcome !== "rejected") return false;
  return calls.complaint(event).signature === complaint.signature;
}

/** A look at what is there: it changes nothing, so it cannot be why the next call works. */
function looksUp(event: Event, calls: Calls): boolean {
  return event.command === null || calls.runs(event).every((run) => isLook(run) || prints(run.name));
}

/** What a failure is a failure of: the program with its verb, or the tool. */
export function subjectOf({ run, failed }: Pick<Failure, "run" | "failed">): string {
  return run === null ? (failed.tool ?? "") : headOf(run);
}

/** A call as text: its command, or its input. */
export function callText({ command, input }: Event): string {
  return (command ?? JSON.stringify(input ?? {})).slice(0, 1_000);
}

/** The call by which a later session shows that it does the same; null where the words of a call do not tell. */
export function remedyCall({
  complaint,
  remedy,
  run,
  workedRun,
  stepRun,
}: Recovery): readonly string[] | null {
  if (remedy === "step") return stepRun === null ? null : useOf(stepRun);
  if (workedRun === null || remedy === null || sameWords.has(remedy) || isAboutWords(complaint.cause))
    return null;
  return useOf(workedRun, run);
}

/** Remedies that leave the words of the call as they were. */
const sameWords = new Set<Remedy>(["none", "elevation", "directory"]);
