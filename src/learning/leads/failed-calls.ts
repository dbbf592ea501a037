import { type CallReader, causeGroups, isEdit, Recovery } from "../../failures/index.ts";
import type { Cause, Event, Lead } from "../../records/index.ts";
import { oneLine } from "../../text/index.ts";

/** One sign that something may be learned; signs of one fact, or weak ones near each other, become one lead. */
export interface Clue {
  readonly kind: Lead["kind"];
  /** Only clues of one family are about one matter because they are near each other. */
  readonly family: "said" | "failure" | "check";
  /** Where the deciding event stands among the session's events. */
  readonly at: number;
  /** The deciding event first. */
  readonly events: readonly [Event, ...Event[]];
  /** Identical for every sighting of the fact. */
  readonly fact: string;
  /** The program, for a failure. */
  readonly topic: string | null;
  readonly promise: number;
  readonly summary: string;
}

/** Calls that failed in a way that may teach something, also where a pipe or a later command hid it. */
export function findFailedCalls(events: readonly Event[], calls: CallReader): Clue[] {
  return events.flatMap((event, at) => {
    if (event.kind !== "call" || isDeliberate(events, at)) return [];
    if (event.outcome !== "failed" && event.outcome !== "rejected") return [];
    if (harnessRule.test(event.text.slice(0, 600))) return [];
    const isHidden = event.exitCode === 0;
    const failed = describeFailure(event, isHidden, calls);
    return {
      ...{ kind: "error-recovery", family: failed.isCheck ? "check" : "failure", at, events: [event] },
      fact: nameFact(failed),
      topic: failed.head.split(" ")[0] ?? "",
      promise: weighFailure(failed, events, at, calls),
      summary: `${failed.head}: ${oneLine(failed.line)}`,
    };
  });
}

/** Rules of the harness: their message names the remedy, and every agent obeys. */
const harnessRule =
  /has not been read yet|verification failed: (?:Failed to find|invalid)|string to replace not found|Sibling tool call|found \d+ matches of the string|modified since read|is not running \(status|InputValidationError|<tool_use_error>Cancelled|exceeds maximum allowed tokens|closed stdin|no changes to make|EISDIR|old_string and new_string are exactly the same/i;

/** Whether the agent meant it to fail: a test of a test, a break on purpose. */
function isDeliberate(events: readonly Event[], at: number): boolean {
  const said = events.slice(Math.max(0, at - 2), at).findLast(({ kind }) => kind === "reply");
  const described = events[at]?.input?.description;
  return deliberate.test(`${said?.text.slice(-300) ?? ""} ${typeof described === "string" ? described : ""}`);
}

const deliberate =
  /\b(?:should|must|expect(?:ed)? (?:it |this |them |the tests? )?to|to see (?:it|them|the tests?)|confirm (?:it|they|the tests?)|verify (?:it|they|that the tests?|the tests?)) fail|\bnegative test|on purpose|deliberately|\bred phase|failing test first|RED:/i;

// --- Reading a failure ---

/** Characters of an output in which a complaint is looked for. */
const outputChars = 2_500;

/** The output of programs, without the JSON that some agents put around it. */
function unwrapOutput(text: string): string {
  const shown = text.slice(0, outputChars);
  return shown.includes('"') ? shown.replace(/\\n/g, "\n").replace(/"(?:output|stderr)":"/g, "\n") : shown;
}

const shellComplaint =
  /^(?:\/(?:usr\/)?bin\/)?(?:zsh|bash|sh)(?::\d+|: line \d+)?: .*|^\(eval\):\d+: .*|^.*(?:command not found|unmatched ["'`]).*/m;
const complaint =
  /^(?:error|fatal|usage)\b ?:|unknown (?:option|flag|command|subcommand|json field)|unrecognized (?:option|argument|flag)|unexpected argument|permission denied|No such file or directory|^Traceback |ModuleNotFoundError|cannot find module|not permitted/im;

/** A look prints what others wrote, also their complaints. */
function onlyLooks(event: Event, calls: CallReader): boolean {
  const runs = calls.runs(event);
  return runs.length > 0 && runs.every((run) => run.isLook || run.onlyPrints || run.isFilter);
}

/** The clue that a failure gives before anything is known of how it ended. */
interface FailedCall {
  readonly event: Event;
  readonly head: string;
  readonly cause: Cause;
  readonly line: string;
  readonly isHidden: boolean;
  readonly isLook: boolean;
  /** The shell itself complains: it never started the program. */
  readonly isShell: boolean;
  /** Tests, types or lint: faults in the work more often than in how it is done. */
  readonly isCheck: boolean;
}

function describeFailure(event: Event, isHidden: boolean, calls: CallReader): FailedCall {
  const isLook = onlyLooks(event, calls);
  const { cause, line } = calls.error(event);
  const shell = shellComplaint.exec(unwrapOutput(event.text))?.[0];
  const head = readHead(event, calls);
  const isCheck = cause === "failing-test" || cause === "lint" || (cause === "code" && checks.test(head));
  return {
    ...{ event, head, cause, isHidden, isLook, isShell: shell !== undefined },
    line: shell ?? (isLook || isHidden || /^\s*(?:$|\{"exit_code")/.test(line) ? findComplaint(event) : line),
    isCheck: isCheck && shell === undefined && !isLook,
  };
}

const checks =
  /\b(?:tests?|vitest|jest|pytest|tsc|type-?check|lint|eslint|biome|ruff|mypy|clippy|build|check|prettier|format)\b/;

/** The program with its verb, or the tool. */
export function readHead(event: Event, calls: CallReader): string {
  const runs = calls.runs(event);
  const main = runs.find((run) => !run.onlyPrints && run.name !== "cd") ?? runs[0];
  return calls.failures([event])[0]?.subject || main?.head || event.tool || "";
}

/** The line of a mixed output that complains: a program's own, or what sounds like it. */
function findComplaint({ text, command }: Event): string {
  const lines = unwrapOutput(text)
    .split("\n")
    .map((line) => line.trim());
  const isOwn = (line: string) => (command ?? "").includes(/^[\w.-]+(?=: )/.exec(line)?.[0] ?? "\n");
  const isComplaint = (line: string) => complaint.test(line) || isOwn(line);
  const sounds = (line: string) => /error|fail|cannot|can't|unknown|invalid|denied/i.test(line);
  const isSaying = (line: string) => line !== "" && !/^exit code/i.test(line);
  return lines.find(isComplaint) ?? lines.find(sounds) ?? lines.find(isSaying) ?? "";
}

/** Different error lines of one program are different facts; wrong guesses at paths are one. */
function nameFact({ head, line, cause, isShell, isLook, isCheck }: FailedCall): string {
  if (isShell) return `shell ${makeShape(line)}`;
  if (isLook && /no such file|cannot access|can't read|not found|not exist/i.test(line))
    return "missing file";
  return isCheck ? `${head} ${cause}` : `${head} ${makeShape(line)}`;
}

/** An error line without what changes from call to call; a flag in quotes stays, because it is the point. */
function makeShape(line: string): string {
  return line
    .toLowerCase()
    .replace(/["'`](?!-)[^"'`]{0,80}["'`]/g, "§")
    .replace(/(?<=(?:for|session|agent|named|file|branch|field|label): ).*$/, "§")
    .replace(/\S*[/\\]\S*/g, "/")
    .replace(/(?<=\()[^)]*(?=\))/g, "§")
    .replace(/\b[a-z]+(?:-[a-z0-9]+){2,}\b/g, "§")
    .replace(/[0-9a-f]{7,}|\d+/g, "#")
    .slice(0, 80);
}

// --- How promising it is ---

/** Events after a failure in which its end is looked for. */
const reactionEvents = 12;

/** A failure promises more if it is about the world around the code, was refused, or another call overcame it. */
function weighFailure(failed: FailedCall, events: readonly Event[], at: number, calls: CallReader): number {
  const { event, head, cause, line, isHidden, isLook, isShell, isCheck } = failed;
  const after = events.slice(at + 1, at + 1 + reactionEvents);
  const said = after.slice(0, 7).filter(({ kind }) => kind === "reply");
  const isForeign = said.slice(0, 2).some(({ text }) => Recovery.saysUnrelated(text));
  const isRefused = cause === "denied" || event.outcome === "rejected" || /^git (?:commit|push)/.test(head);
  const isOvercome = after.some((later) => isOtherTry(event, later) && readHead(later, calls) === head);
  const start = isCheck ? 0.2 : isShell ? 0.7 : causeGroups.beforeWork.has(cause) ? 0.65 : 0.45;
  const look =
    isLook && !isShell && !isRefused
      ? /unrecog|not allowed|usage|unknown|invalid/i.test(line)
        ? -0.1
        : -0.25
      : 0;
  return (
    start +
    look +
    (isForeign ? 0.3 : 0) +
    (isRefused ? 0.3 : 0) +
    (isOvercome ? 0.1 : 0) +
    (namesObstacle.test(line) ? 0.15 : 0) -
    (isHidden ? 0.05 : 0) -
    (isEdit(event) ? 0.1 : 0)
  );
}

function isOtherTry(failed: Event, { kind, outcome, command }: Event): boolean {
  return kind === "call" && outcome === "ok" && command !== null && command !== failed.command;
}

const namesObstacle =
  /not found|no such|unknown|unexpected argument|unrecognized|unmatched|no matches|not permitted|denied|cannot find|can't|usage:|does not|accepts at most|invalid|not supported|no module/i;
