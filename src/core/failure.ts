import { type Cause, causeOfLine, dialectOf, ranks } from "./cause.ts";
import type { Run } from "./command.ts";
import type { Event } from "./event.ts";
import { counted, failedTests, fewOf } from "./failed-test.ts";
import { faultInCode } from "./fault.ts";
import { complains, continued, isHollow, messageOf, tellingLines } from "./output.ts";
import { signatureOf } from "./signature.ts";

/** What a failure said: its most telling line, what kind of trouble that is, and the name it complains about. */
export interface Complaint {
  /** The line without what is used once: the same failure has it again. */
  readonly signature: string;
  readonly line: string;
  readonly cause: Cause;
  readonly about: string | null;
}

/** The calls of a session as they were read: the programs a command starts, and what an output complains about. */
export interface Calls {
  runs(event: Event): readonly Run[];
  complaint(event: Event): Complaint;
}

/** Reads the output of a call that failed. */
export function complaintOf(output: string, exitCode: number | null): Complaint {
  const { said, ...found } = tellingComplaint(output, exitCode);
  return { ...found, signature: signatureOf(said ?? messageOf(found.line)) };
}

/** `said` is what the line says, where that is not all of it. */
type Unsigned = Omit<Complaint, "signature"> & { readonly said?: string };

function tellingComplaint(output: string, exitCode: number | null): Unsigned {
  const all = tellingLines(output);
  // That something failed is known; a line that says no more speaks only where none says why.
  const hollow = new Set(all.filter(isHollow));
  const saying = all.filter((line) => !hollow.has(line));
  const failing = failedTests(all);
  // Where no test ran, what kept them from running is the trouble.
  const noneRan = failing.size === 0 && all.some((line) => ranNone.test(line));
  const best = surestOf(saying, noneRan) ?? surestOf([...hollow], noneRan);
  const telling = best !== null && !isHollow(best.line) ? best.line : firstOf(saying);
  const line = telling ?? best?.line ?? all.find((each) => complains(each)) ?? all[0] ?? "no reason given";
  if (exitCode !== null && stopped.has(exitCode)) return { line, cause: "timeout", about: null };
  // That a build failed is no cause where another line says why.
  if (best === null || (best.cause === "code" && isHollow(best.line) && line !== best.line))
    return unexplained(line, all, exitCode);
  const found = { ...best, line };
  switch (best.cause) {
    case "denied":
      return { ...found, ...refusalIn(output) };
    case "failing-test":
      return { ...found, ...fewOf(failing, all) };
    case "lint":
    case "code":
      return { ...found, ...faultInCode(output, all) };
    case "shell-dialect":
      return { ...found, said: dialectOf(line) };
    case "wrong-place":
      // Where one stands is what is wrong, whatever the place is called.
      return { ...found, said: line.replace(folder, "…") };
    default:
      return { ...found, line: continued(line, all) };
  }
}

/** Of the lines that tell a cause the one that ranks highest, the first of equals. */
function surestOf(lines: readonly string[], noneRan: boolean): Unsigned | null {
  let best: Unsigned | null = null;
  for (const line of lines) {
    const found = causeOfLine(line);
    if (found === null) continue;
    const better = best === null || rankOf(found.cause, noneRan) > rankOf(best.cause, noneRan);
    // Of many failed tests the count says most.
    const sums = best?.cause === found.cause && counted.test(line) && !counted.test(best.line);
    if (better || sums) best = { line, ...found };
  }
  return best;
}

function rankOf(cause: Cause, noneRan: boolean): number {
  return noneRan && cause === "failing-test" ? 0 : ranks[cause];
}

function unexplained(line: string, all: readonly string[], exitCode: number | null): Unsigned {
  const cause = exitCode === 127 ? "missing-program" : "other";
  const found: Unsigned = { line: continued(line, all), cause, about: null };
  // Of many lines none of which complains, any may be the reason.
  return all.length > 1 && !complains(line) ? { ...found, said: "no reason given" } : found;
}

/** A denial repeats the whole command, which the lesson shows anyway. */
function refusalIn(output: string): Pick<Unsigned, "line" | "said"> | null {
  const tool = /^Permission to use (\w+) with command/.exec(output)?.[1];
  if (tool === undefined) return null;
  const line = `Permission to use ${tool} has been denied`;
  return { line, said: `${line}${speakingOf(output)}` };
}

/** The files that a refused command speaks of: they are what is denied, whatever should be done with them. */
function speakingOf(refusedCall: string): string {
  const files = refusedCall
    .slice(0, 1_000)
    .match(/(?<=[\s/'"=])[\w@-]{0,80}(?:\.[A-Za-z]\w{0,9}){1,3}(?=[\s'";|&)]|$)/g);
  return files === null ? "" : `: ${[...new Set(files)].sort().slice(0, 4).join(", ")}`;
}

const folder = /(?<![\w.])(?:[A-Za-z]:|~)?(?:[\\/][\w.@+~-]+)+[\\/]?/g;
const ranNone = /suite failed to run|during collection|^Tests:? +(?:0 total|no tests)\b/i;

/** The first line that complains, before it those that name what is wrong or say that this is the error. */
function firstOf(lines: readonly string[]): string | undefined {
  const complaining = lines.filter((line) => complains(line)).map((line) => continued(line, lines));
  const plain = complaining.filter((line) => !/^["'{}[\]]/.test(line));
  const line =
    plain.find((each) => labelled.test(each) && names.test(each)) ??
    plain.find((each) => labelled.test(each) || names.test(each)) ??
    complaining[0];
  // A title is common to many troubles; what stands below it is of this one.
  if (line === undefined || !isTitle(line)) return line;
  const rest = lines.slice(lines.indexOf(line) + 1);
  const below = rest.find((each) => complains(each)) ?? rest.find((each) => names.test(each));
  return below === undefined ? line : `${line}: ${below}`.slice(0, 300);
}

function isTitle(line: string): boolean {
  if (/\b(?:failed|exceeded)\.?$/i.test(line)) return true;
  return !names.test(line) && !/[_\d]/.test(line) && line.split(" ").length < 5;
}

const labelled = /^(?:[\w.]*(?:error|exception)|fatal|ERR_\w+)\b/i;
const names = /["'`‘“][^"'`’”]{2,}["'`’”]|\w@["^~]?\d|\w==\d|\w\/\w/;

/** Ended by a signal or a time limit. */
const stopped = new Set([124, 130, 137, 143, 144]);
