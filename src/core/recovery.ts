import { answersNo, type Change, changeBetween, filesIn, type Run, runsOf } from "./command.ts";
import type { Event } from "./event.ts";
import { type Complaint, complaintOf, neverStarted, signatureOf } from "./failure.ts";
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
    const found =
      event.command === null || event.command.length >= policy.keep.eventChars ? [] : runsOf(event.command);
    runs.set(event, found);
    return found;
  };
  return events.flatMap((event, at) => {
    const complaint = complaintAbout(event, read);
    return complaint === null ? [] : [recover(events, at, event, complaint, read)];
  });
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
  if (
    event.exitCode !== null &&
    (stopped.has(event.exitCode) ||
      (event.command !== null && answersNo(event.command, event.exitCode, event.text)))
  )
    return null;
  return complaint;
}

/** Ended by a signal or a time limit: somebody's decision, not the command's fault. */
const stopped = new Set([124, 130, 137, 143, 144]);

/** A failure that a pipe or a later command hides behind exit 0. Only words that leave no doubt count, and little else said. */
function hiddenComplaint(event: Event, read: Read): Complaint | null {
  if (event.command === null || event.text.length > hiddenChars) return null;
  if (!read(event).some(({ hidden }) => hidden)) return null;
  const complaint = complaintOf(event.text, null);
  return neverStarted(complaint.cause) && complaint.about !== null ? complaint : null;
}

const hiddenChars = 400;

/** Tools of the agent itself that read and write files: their failures are about how to use an editor. */
function isFileTool(tool: string | null): boolean {
  return (
    tool !== null &&
    /^(?:multi_?|notebook_?)?(?:edit|write|read|glob|grep|ls|apply_patch|view|update|str_replace\w*|write_file|read_file|list_dir\w*|search_files?)(?:_file)?$/i.test(
      tool,
    )
  );
}

function isEdit(event: Event): boolean {
  return (
    event.tool !== null &&
    /edit|write|apply_patch|str_replace|create_file/i.test(event.tool) &&
    event.tool !== "write_stdin" &&
    !/^todo/i.test(event.tool)
  );
}

function recover(
  events: readonly Event[],
  at: number,
  failed: Event,
  complaint: Complaint,
  read: Read,
): Recovery {
  const run = culprit(read(failed), complaint);
  const signature = signatureOf(complaint.line);
  const again: Event[] = [];
  const said: Event[] = [];
  const between = { calls: 0, edits: 0, lookups: 0, prompts: 0 };
  let step: Event | null = null;
  let fallback: Omit<Recovery, "again"> | null = null;
  const base = { failed, complaint, run };
  for (let next = at + 1; next < events.length; next++) {
    const event = events[next] as Event;
    if (event.turn > failed.turn + 1 || between.calls >= policy.detect.recoveryWithinCalls) break;
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
    const works =
      event.outcome === "ok" || (event.outcome === "failed" && neverStarted(complaint.cause) && strong(link));
    if (link !== null && works) {
      const remedy = link.remedy === "none" && step !== null ? "step" : link.remedy;
      const found = {
        ...base,
        worked: event,
        workedRun: link.run,
        remedy,
        step: remedy === "step" ? step : null,
        between: { ...between },
        said: [...said],
      };
      if (remedy !== "other-way") return { ...found, again };
      fallback ??= found;
    }
    between.calls++;
    if (isEdit(event)) between.edits++;
    else if (looksUp(event, read)) between.lookups++;
    else if (event.command !== null && event.outcome === "ok") step = event;
  }
  if (fallback !== null) return { ...fallback, again };
  return { ...base, worked: null, workedRun: null, remedy: null, step: null, again, between, said };
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
function linkBetween(
  base: Pick<Recovery, "failed" | "complaint" | "run">,
  event: Event,
  read: Read,
): Link | null {
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
  const best = bestChange(run, runs);
  if (best !== null && best.remedy !== "none") return raised ? { remedy: "elevation", run: best.run } : best;
  if (best !== null)
    return whereOf(failed) === whereOf(event) ? best : { remedy: "directory", run: best.run };
  return isOtherWay(failed, complaint, event, runs) ? { remedy: "other-way", run: mainOf(runs) } : null;
}

const telling: readonly Change[] = [
  "none",
  "wrapper",
  "environment",
  "directory",
  "path",
  "program",
  "flag",
  "argument",
];

function bestChange(run: Run, runs: readonly Run[]): { remedy: Change; run: Run } | null {
  let best: { remedy: Change; run: Run } | null = null;
  for (const other of runs) {
    if (other.args.some((arg) => asksHelp.has(arg)) && !run.args.some((arg) => asksHelp.has(arg))) continue;
    const remedy = changeBetween(run, other);
    if (remedy !== null && (best === null || telling.indexOf(remedy) < telling.indexOf(best.remedy)))
      best = { remedy, run: other };
  }
  return best;
}

/** The same job by other means: what failed could not be there at all, and the next command works on the same files. */
function isOtherWay(failed: Event, { cause }: Complaint, event: Event, runs: readonly Run[]): boolean {
  if (!replaceable.has(cause) || runs.length === 0 || failed.turn !== event.turn) return false;
  const files = filesIn(failed.command ?? "");
  for (const file of filesIn(event.command ?? "")) if (files.has(file)) return true;
  return cause === "denied";
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
  return named === undefined
    ? { remedy: "other-way", run: mainOf(read(event)) }
    : { remedy: "program", run: named };
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

function whereOf({ input, cwd }: Event): string {
  const workdir = input?.workdir;
  return typeof workdir === "string" ? workdir : (cwd ?? "");
}

/** The program that failed: the one the error names, else the last that does something. */
function culprit(runs: readonly Run[], { line, about }: Complaint): Run | null {
  const named = runs.find(
    ({ name }) => name === about || line.startsWith(`${name}: `) || line.includes(`: ${name}: `),
  );
  return named ?? mainOf(runs);
}

/** What a command is for: its last program that is no filter and does more than print. */
export function mainOf(runs: readonly Run[]): Run | null {
  const doing = runs.filter(({ name, filters }) => !filters && !prints.has(name));
  return doing.at(-1) ?? runs[0] ?? null;
}

const prints = new Set("echo printf true : sleep pwd set wait".split(" "));

/** A look at what is there: it changes nothing, so it cannot be why the next call works. */
export function looksUp(
  event: Event,
  read: Read = ({ command }) => (command === null ? [] : runsOf(command)),
): boolean {
  if (event.command === null) return true;
  return read(event).every(
    ({ name, args }) =>
      looks.has(name) ||
      prints.has(name) ||
      args.some((arg) => asksHelp.has(arg)) ||
      (name === "git" && looksInGit.has(args[0] ?? "")),
  );
}

const asksHelp = new Set(["--help", "-h", "--version", "help", "-V"]);
const looks = new Set(
  "ls cat head tail sed grep egrep rg find fd wc sort uniq stat file tree du df ps which type command nl jq diff test [ pgrep awk cut id whoami uname env".split(
    " ",
  ),
);
const looksInGit = new Set([
  "status",
  "diff",
  "log",
  "show",
  "branch",
  "remote",
  "ls-files",
  "rev-parse",
  "blame",
]);

/** Whether a program only looks at files, so that its failure is a wrong guess at a path. */
export function onlyLooks({ name }: Run): boolean {
  return looks.has(name);
}
