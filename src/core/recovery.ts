import { answersNo, type Change, changeBetween, filesIn, headOf, type Program, type Run, runsOf, subcommandOf } from "./command.ts";
import type { Event } from "./event.ts";
import { type Cause, type Complaint, complaintOf, neverStarted, signatureOf } from "./failure.ts";
import type { JsonObject } from "./json.ts";
import { policy } from "./policy.ts";

/** How the call that worked differs from the one that failed. */
export type Remedy = Change | "elevation" | "input" | "step" | "other-way";

/** A call that failed, and what is known about how that ended. */
export interface Recovery {
  readonly failed: Event;
  readonly complaint: Complaint;
  /** The program that failed, for shell commands that can be parsed. */
  readonly run: Run | null;
  /** The call that worked, or got further than the one that failed; null when nothing did. */
  readonly worked: Event | null;
  readonly workedRun: Run | null;
  readonly remedy: Remedy | null;
  /** What was done in between, when the same call works after it. */
  readonly step: Event | null;
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
export function recoveriesIn(events: readonly Event[]): Recovery[] {
  const runs = new Map<Event, readonly Run[]>();
  const read = (event: Event): readonly Run[] => {
    const known = runs.get(event);
    if (known !== undefined) return known;
    const found = event.command === null || event.command.length >= policy.keep.eventChars ? [] : runsOf(event.command);
    runs.set(event, found);
    return found;
  };
  return events.flatMap((event, at) => {
    const complaint = complaintAbout(event, read);
    if (complaint === null) return [];
    return [{ ...recover(events, at, event, complaint, read), judgement: judgementOn(events, at) }];
  });
}

/** The agent's next words, up to the point where it starts to change files or a person speaks. */
function judgementOn(events: readonly Event[], at: number): Event[] {
  const failed = events[at] as Event;
  const words: Event[] = [];
  for (let next = at + 1; next < events.length && words.length < 2; next++) {
    const event = events[next] as Event;
    if (!sawResult(failed, event)) continue;
    // From here on its words are about the edit, or about the next failure.
    if (event.kind === "prompt" || (event.kind === "call" && (isEdit(event) || event.outcome === "failed"))) break;
    if (event.kind === "reply") words.push(event);
  }
  return words;
}

type Read = (event: Event) => readonly Run[];

/** What is wrong with a call; null when it worked, only answered no, or failed for a reason that is nobody's lesson. */
function complaintAbout(event: Event, read: Read): Complaint | null {
  if (event.kind !== "call") return null;
  if (event.outcome === "ok") return hiddenComplaint(event, read);
  if (event.outcome !== "failed" && event.outcome !== "rejected") return null;
  const complaint = complaintOf(event.text, event.exitCode);
  if (complaint.cause === "tool-misuse") return null;
  if (complaint.cause === "denied") return complaint;
  if (event.outcome === "rejected" || isFileTool(event.tool)) return null;
  const { command, exitCode, text } = event;
  return command !== null && exitCode !== null && answersNo(command, exitCode, text) ? null : complaint;
}

/** A failure that a pipe or a later command hides behind exit 0. Only words that leave no doubt count, and little else said. */
function hiddenComplaint(event: Event, read: Read): Complaint | null {
  if (event.command === null || event.text.length > hiddenChars) return null;
  if (!mayComplain.test(event.text) || !read(event).some(({ hidden }) => hidden)) return null;
  const complaint = complaintOf(event.text, null);
  return neverStarted(complaint.cause) && complaint.about !== null ? complaint : null;
}

const hiddenChars = 400;
const mayComplain = /not found|no such|un(?:known|recogni[sz]ed|expected|supported)|invalid|illegal|missing|no match/i;

/** Tools of the agent itself that read and write files: their failures are about how to use an editor. */
function isFileTool(tool: string | null): boolean {
  return tool !== null && /^(?:multi_?|notebook_?)?(?:edit|write|read|glob|grep|ls|apply_patch|view|update|str_replace\w*|write_file|read_file|list_dir\w*|search_files?)(?:_file)?$/i.test(tool);
}

function isEdit(event: Event): boolean {
  return event.tool !== null && /edit|write|apply_patch|str_replace|create_file/i.test(event.tool) && event.tool !== "write_stdin" && !/^todo/i.test(event.tool);
}

function recover(events: readonly Event[], at: number, failed: Event, complaint: Complaint, read: Read): Omit<Recovery, "judgement"> {
  const run = culprit(read(failed), complaint);
  const signature = signatureOf(complaint.line);
  const again: Event[] = [];
  const said: Event[] = [];
  const between = { calls: 0, edits: 0, lookups: 0, prompts: 0 };
  let step: Event | null = null;
  let fallback: Omit<Recovery, "again" | "judgement"> | null = null;
  const base = { failed, complaint, run };
  for (let next = at + 1; next < events.length; next++) {
    const event = events[next] as Event;
    if (event.turn > failed.turn + 1 || between.calls >= policy.detect.recoveryWithinCalls) break;
    if (event.sidechain !== failed.sidechain) continue;
    if (!sawResult(failed, event)) {
      if (event.kind === "call" && sameFailure(event, signature)) again.push(event);
      continue;
    }
    if (event.kind === "prompt") between.prompts++;
    if (event.kind === "reply") said.push(event);
    if (event.kind !== "call") continue;
    if (sameFailure(event, signature)) {
      again.push(event);
      continue;
    }
    const link = linkBetween(base, event, read);
    const works = event.outcome === "ok" || (event.outcome === "failed" && neverStarted(complaint.cause) && strong(link));
    if (link !== null && works) {
      const remedy = link.remedy === "none" && step !== null ? "step" : link.remedy;
      const found = { ...base, worked: event, workedRun: link.run, remedy, step: remedy === "step" ? step : null, between: { ...between }, said: [...said] };
      if (remedy !== "other-way") return { ...found, run: refusedRun(found, read) ?? run, again };
      fallback ??= found;
    }
    between.calls++;
    if (isEdit(event)) between.edits++;
    else if (looksUp(event, read)) between.lookups++;
    else if (event.command !== null && event.outcome === "ok") step = event;
  }
  if (fallback !== null) return { ...fallback, run: refusedRun(fallback, read) ?? run, again };
  return { ...base, worked: null, workedRun: null, remedy: null, step: null, again, between, said };
}

/** Of a refused command the part that speaks of a file which the accepted one left out. */
function refusedRun({ failed, complaint, worked }: Pick<Recovery, "failed" | "complaint" | "worked">, read: Read): Run | null {
  if (complaint.cause !== "denied" || worked === null) return null;
  const kept = filesIn(worked.command ?? "");
  return read(failed).find(({ args }) => [...filesIn(args.join(" "))].some((file) => !kept.has(file))) ?? null;
}

function strong(link: Link | null): boolean {
  return link !== null && link.remedy !== "other-way" && link.remedy !== "none" && link.remedy !== "argument";
}

/** Calls sent before the failure was known are no answer to it. */
function sawResult(failed: Event, event: Event): boolean {
  const [result, key] = [Number(failed.resultKey ?? Number.NaN), Number(event.key)];
  if (!Number.isNaN(result) && !Number.isNaN(key)) return key > result;
  return failed.endedAt === null || event.at === null || event.at >= failed.endedAt;
}

function sameFailure(event: Event, signature: string): boolean {
  if (event.outcome !== "failed" && event.outcome !== "rejected") return false;
  return signatureOf(complaintOf(event.text, event.exitCode).line) === signature;
}

interface Link {
  readonly remedy: Remedy;
  readonly run: Run | null;
}

/** How a later call relates to one that failed; null when it is something else. */
function linkBetween(base: Pick<Recovery, "failed" | "complaint" | "run">, event: Event, read: Read): Link | null {
  const { failed, run, complaint } = base;
  if (failed.command === null) return toolLink(failed, event, complaint, read);
  if (event.command === null) return null;
  const runs = read(event);
  const raised = isElevated(event.input) && !isElevated(failed.input);
  if (failed.command === event.command) {
    if (raised) return { remedy: "elevation", run };
    const moved = whereOf(failed) !== whereOf(event);
    return { remedy: moved ? "directory" : "none", run: runs.find(({ name }) => name === run?.name) ?? null };
  }
  if (run === null) return null;
  const best = bestChange(run, runs, complaint.about);
  if (best !== null && best.remedy !== "none") return raised ? { remedy: "elevation", run: best.run } : best;
  if (best !== null) return whereOf(failed) === whereOf(event) ? best : { remedy: "directory", run: best.run };
  return isOtherWay(failed, run, complaint, event, runs) ? { remedy: "other-way", run: replacementIn(runs, read(failed)) } : null;
}

const telling: readonly Change[] = ["none", "wrapper", "environment", "directory", "path", "program", "flag", "argument"];

/** `--json` was the complaint, and `--json` is still there. */
function keepsWhatWasWrong(run: Run, other: Run, about: string | null): boolean {
  const wrong = run.args.find((arg) => arg.startsWith("-") && arg.replace(/^-+/, "").split("=")[0] === about);
  return wrong !== undefined && other.args.includes(wrong);
}

function bestChange(run: Run, runs: readonly Run[], about: string | null): { remedy: Change; run: Run } | null {
  let best: { remedy: Change; run: Run } | null = null;
  for (const other of runs) {
    if (isQuestion(other) || (isLook(other) && !isLook(run))) continue;
    const remedy = changeBetween(run, other);
    if ((remedy === "flag" || remedy === "argument") && keepsWhatWasWrong(run, other, about)) continue;
    if (remedy !== null && (best === null || telling.indexOf(remedy) < telling.indexOf(best.remedy)))
      best = { remedy, run: other };
  }
  return best;
}

/** The same job by other means: what failed could not be there at all, and the next command works on the same files. */
function isOtherWay(failed: Event, run: Run, { cause }: Complaint, event: Event, runs: readonly Run[]): boolean {
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
  const fresh = runs.filter(({ name }) => !known.has(name) && !prints.has(name));
  return fresh.find((run) => !isLook(run)) ?? fresh[0] ?? mainOf(runs);
}

const replaceable = new Set(["missing-program", "missing-module", "shell-dialect", "denied", "permission"]);

/** A tool of the agent: the same one with other input, or, when its name is unknown, the command of that name. */
function toolLink(failed: Event, event: Event, { cause, about }: Complaint, read: Read): Link | null {
  if (event.tool === failed.tool) {
    const changed = JSON.stringify(event.input) !== JSON.stringify(failed.input);
    return { remedy: changed ? "input" : "none", run: null };
  }
  if (cause === "denied" && event.outcome === "ok") return { remedy: "other-way", run: mainOf(read(event)) };
  if (cause !== "unknown-name" || event.command === null) return null;
  const named = read(event).find(({ name, args }) => name === about || args.includes(about ?? ""));
  return named === undefined ? { remedy: "other-way", run: mainOf(read(event)) } : { remedy: "program", run: named };
}

function isElevated(input: JsonObject | null): boolean {
  if (input === null) return false;
  const { sandbox_permissions: sandbox, with_escalated_permissions: raised, dangerouslyDisableSandbox: off } = input;
  return raised === true || off === true || (typeof sandbox === "string" && sandbox !== "use_default");
}

function whereOf({ input, cwd }: Event): string {
  const workdir = input?.workdir;
  return typeof workdir === "string" ? workdir : (cwd ?? "");
}

/** The program that failed: the one the error names, else the last that does something. */
function culprit(runs: readonly Run[], { line, about }: Complaint): Run | null {
  const wrapped = about === null ? undefined : runs.find(({ through }) => through[0] === about);
  if (wrapped !== undefined) {
    const args = [...wrapped.through.slice(1), wrapped.written, ...wrapped.args];
    return { ...wrapped, name: wrapped.through[0] as string, written: wrapped.through[0] as string, args, through: [] };
  }
  const interpreter = pythonFault.test(line) ? runs.find(({ name }) => /^(?:python|pytest|uv\b)/.test(name)) : undefined;
  const named = interpreter ?? runs.find(({ name }) => name === about || line.startsWith(`${name}: `) || line.includes(`: ${name}: `));
  return named ?? mainOf(runs);
}

const pythonFault = /^(?:Traceback|ModuleNotFoundError|ImportError)/;

/** What a command is for: its last program that is no filter and does more than print. */
export function mainOf(runs: readonly Run[]): Run | null {
  const doing = runs.filter(({ name, filters }) => !filters && !prints.has(name));
  return doing.at(-1) ?? runs[0] ?? null;
}

const prints = new Set("echo printf true : sleep pwd set wait".split(" "));

/** A look at what is there: it changes nothing, so it cannot be why the next call works. */
function looksUp(event: Event, read: Read): boolean {
  return event.command === null || read(event).every((run) => isLook(run) || prints.has(run.name));
}

/** Whether a program only shows something, so that its failure is a wrong guess and its success no remedy. */
export function isLook({ name, args }: Program): boolean {
  if (name === "sed" || name === "perl") return !args.some((arg) => /^-\w*i/.test(arg));
  return looks.has(name) || isQuestion({ name, args });
}

/** `--help`, `--version`, `npm ls`: asks the program about itself or about what is installed. */
function isQuestion({ name, args }: Program): boolean {
  if (args.some((arg) => asksHelp.has(arg))) return true;
  return asksAbout.get(name)?.has(args.find((arg) => !arg.startsWith("-")) ?? "") ?? false;
}

const asksHelp = new Set(["--help", "-h", "--version", "help", "-V"]);
const looks = new Set(
  (
    "ls cat bat head tail grep egrep fgrep rg ag find fd wc sort uniq stat file tree du df ps which type command nl jq " +
    "diff cmp test [ [[ pgrep awk cut id whoami uname env printenv xxd od hexdump less more realpath lsof"
  ).split(" "),
);
const ofPackages = new Set(["ls", "list", "view", "info", "why", "show", "search", "outdated", "freeze"]);
const asksAbout = new Map<string, ReadonlySet<string>>([
  ["git", new Set(["status", "diff", "log", "show", "branch", "remote", "ls-files", "rev-parse", "blame"])],
  ...["npm", "pnpm", "yarn", "pip", "pip3", "brew", "cargo", "gem", "apt"].map((name) => [name, ofPackages] as const),
]);

/** A hook of the repository refused a commit or a push: what it runs is a fact about the project. */
export function isStoppedByHook({ run, complaint, failed }: Recovery): boolean {
  const commits = run?.name === "git" && /^(?:commit|push|merge)$/.test(subcommandOf(run) ?? "");
  if (!commits || complaint.cause === "state" || complaint.cause === "permission" || complaint.cause === "transient") return false;
  return /\bhook\b|husky|pre-commit|lint-staged|commitlint|lefthook/i.test(failed.text) || stepsOfHook(failed.text).length > 0;
}

/** The commands a hook says it runs, as package managers and hook runners print them. */
export function stepsOfHook(output: string): string[] {
  const steps = new Set<string>();
  for (const line of output.split("\n")) {
    const step = /^\$ (\S.{0,80})$|^> (?!\S+@\d)(\S.{0,80})$|^(\S[^.]{0,60})\.{3,}(?:Failed|Passed)/.exec(line);
    if (step) steps.add((step[1] ?? step[2] ?? step[3] ?? "").slice(0, 50).trim());
  }
  return [...steps].slice(0, 4);
}

/** The agent finds that the failure is not of its making, and goes around it instead of editing until it is quiet. */
export function isForeign(recovery: Recovery): boolean {
  if (neverStarted(recovery.complaint.cause) || standing.has(recovery.complaint.cause)) return false;
  if (!recovery.judgement.some(({ text }) => saysUnrelated(text))) return false;
  const goesAround = recovery.remedy === "program" || recovery.remedy === "wrapper";
  return isAboutTests(recovery) || (goesAround && recovery.between.edits === 0);
}

const standing = new Set<Cause>(["denied", "permission", "missing-program", "state", "transient"]);

/** A test run that failed: the one kind of check whose failure may come from outside the change. */
function isAboutTests({ run, complaint }: Recovery): boolean {
  if (run === null || complaint.cause === "lint") return false;
  return /test|jest|mocha|spec|tox|rspec/i.test(headOf(run)) || complaint.cause === "failing-test";
}

export function saysUnrelated(text: string): boolean {
  return unrelated.test(text.slice(0, 600));
}

const unrelated =
  /fail\w* (?:are|is|come|comes|seem).{0,60}\b(?:external|third-party|another|other)\b|pre-?existing|unrelated|not (?:related|caused)|outside (?:of )?(?:this|the|my|our) change|\bflak(?:y|e|es|iness)\b|\bexisting\b.{0,60}(?:timeout|failure|flake|error)|already (?:broken|fail)|与.{0,12}无关|已经?存在的/i;

/** What a failure is a failure of: the program with its verb, or the tool. */
export function subjectOf({ run, failed }: Recovery): string {
  return run === null ? (failed.tool ?? "") : headOf(run);
}

/** A call as text: its command, or its input. */
export function callText({ command, input }: Event): string {
  return (command ?? JSON.stringify(input ?? {})).slice(0, 1_000);
}
