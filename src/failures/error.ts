import type { Cause } from "../records/index.ts";
import { causeRanks, findCause, withoutOperands } from "./cause.ts";
import {
  complains,
  failureCount,
  findFailedTests,
  isHollow,
  joinContinuation,
  mostNamedTests,
  mostRead,
  nameFewTests,
  readErrorLines,
  stripReporter,
} from "./output.ts";
import { makeSignature } from "./signature.ts";

/** The error of a failed call: its most telling line, the cause, and the name it complains about. */
export interface CallError {
  /** The line without what is used once: the same failure has it again. */
  readonly signature: string;
  readonly line: string;
  readonly cause: Cause;
  readonly about: string | null;
}

/** Reads the output of a call that failed. */
export function readError(output: string, exitCode: number | null): CallError {
  const { said, ...found } = findTellingError(output, exitCode);
  return { ...found, signature: makeSignature(said ?? stripReporter(found.line)) };
}

/** `said` is what the line says, where that is not all of it. */
type Unsigned = Omit<CallError, "signature"> & { readonly said?: string };

function findTellingError(output: string, exitCode: number | null): Unsigned {
  const all = readErrorLines(output);
  // That something failed is known; a line that says no more speaks only where none says why.
  const hollow = new Set(all.filter(isHollow));
  const saying = all.filter((line) => !hollow.has(line));
  const failing = findFailedTests(all);
  // Where no test ran, what kept them from running is the trouble.
  const noneRan = failing.size === 0 && all.some((line) => ranNone.test(line));
  const best = findSurestCause(saying, noneRan) ?? findSurestCause([...hollow], noneRan);
  const telling = best !== null && !isHollow(best.line) ? best.line : findFirstError(saying);
  const line = telling ?? best?.line ?? all.find((each) => complains(each)) ?? all[0] ?? "no reason given";
  if (exitCode !== null && stopped.has(exitCode)) return { line, cause: "timeout", about: null };
  // That a build failed is no cause where another line says why.
  if (best === null || (best.cause === "code" && isHollow(best.line) && line !== best.line))
    return reportUnexplained(line, all, exitCode);
  const found = { ...best, line };
  switch (best.cause) {
    case "denied":
      return { ...found, ...readRefusal(output) };
    case "failing-test":
      return { ...found, ...nameFewTests(failing, all) };
    case "lint":
    case "code":
      return { ...found, ...findFaultInCode(output, all) };
    case "shell-dialect":
      return { ...found, said: withoutOperands(line) };
    case "wrong-place":
      // Where one stands is what is wrong, whatever the place is called.
      return { ...found, said: line.replace(folder, "…") };
    default:
      return { ...found, line: joinContinuation(line, all) };
  }
}

/** The line whose cause ranks highest; the first of equals. */
function findSurestCause(lines: readonly string[], noneRan: boolean): Unsigned | null {
  let best: Unsigned | null = null;
  for (const line of lines) {
    const found = findCause(line);
    if (found === null) continue;
    const better = best === null || rankCause(found.cause, noneRan) > rankCause(best.cause, noneRan);
    // Of many failed tests the count says most.
    const sums = best?.cause === found.cause && failureCount.test(line) && !failureCount.test(best.line);
    if (better || sums) best = { line, ...found };
  }
  return best;
}

function rankCause(cause: Cause, noneRan: boolean): number {
  return noneRan && cause === "failing-test" ? 0 : causeRanks[cause];
}

function reportUnexplained(line: string, all: readonly string[], exitCode: number | null): Unsigned {
  const cause = exitCode === 127 ? "missing-program" : "other";
  const found: Unsigned = { line: joinContinuation(line, all), cause, about: null };
  // Of many lines none of which complains, any may be the reason.
  return all.length > 1 && !complains(line) ? { ...found, said: "no reason given" } : found;
}

/** A denial repeats the whole command, which the lesson shows anyway. */
function readRefusal(output: string): Pick<Unsigned, "line" | "said"> | null {
  const tool = /^Permission to use (\w+) with command/.exec(output)?.[1];
  if (tool === undefined) return null;
  const line = `Permission to use ${tool} has been denied`;
  return { line, said: `${line}${listFiles(output)}` };
}

/** The files that a refused command speaks of: they are what is denied, whatever should be done with them. */
function listFiles(refusedCall: string): string {
  const files = refusedCall
    .slice(0, 1_000)
    .match(/(?<=[\s/'"=])[\w@-]{0,80}(?:\.[A-Za-z]\w{0,9}){1,3}(?=[\s'";|&)]|$)/g);
  return files === null ? "" : `: ${[...new Set(files)].sort().slice(0, 4).join(", ")}`;
}

const folder = /(?<![\w.])(?:[A-Za-z]:|~)?(?:[\\/][\w.@+~-]+)+[\\/]?/g;
const ranNone = /suite failed to run|during collection|^Tests:? +(?:0 total|no tests)\b/i;

/** The first line that complains, before it those that name what is wrong or say that this is the error. */
function findFirstError(lines: readonly string[]): string | undefined {
  const complaining = lines.filter((line) => complains(line)).map((line) => joinContinuation(line, lines));
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

// --- Faults in code ---

interface CodeFault {
  readonly line: string;
  readonly about: string | null;
  readonly said: string;
}

/** The fault and the files it is in; the same words about another file are another fault. */
function findFaultInCode(output: string, lines: readonly string[]): CodeFault | null {
  const raised = findUncaught(output, lines);
  if (raised !== null) return raised;
  const faults = lines.flatMap((line, at) => locateFault(line, lines, at) ?? []);
  const [first] = faults;
  if (first === undefined) return null;
  const files = [...new Set(faults.map(({ file }) => makeSignature(file)))].sort();
  const about = files.length > mostNamedTests ? null : files.join(", ");
  return { line: first.line, about, said: `${first.file}: ${first.message}` };
}

/** An uncaught error: its last line, and the innermost file that is no library. */
function findUncaught(output: string, lines: readonly string[]): CodeFault | null {
  const frames = [...output.slice(-mostRead).matchAll(/File "([^"<]{1,300})", line \d+/g)].map(
    ([, file]) => file as string,
  );
  // Node says where in a line above the code.
  const above = lines
    .findLast((each) => /^\S*[/\\]\S+\.\w{1,5}(?::\d+){1,2}$/.test(each))
    ?.replace(/(?::\d+)+$/, "");
  const line = lines.findLast((each) =>
    /^(?:E +)?(?:[\w.]+(?:Error|Exception|Exit|Warning)\b|Type error:)/.test(each),
  );
  if (line === undefined || (frames.length === 0 && above === undefined)) return null;
  const file = frames.findLast((each) => !/(?:site|dist)-packages|\/lib\/python/.test(each)) ?? above;
  return { line, about: file === undefined ? null : makeSignature(file), said: stripReporter(line) };
}

interface FaultPosition {
  readonly file: string;
  readonly message: string;
  readonly line: string;
}

/** Reads a line that names a position in a file, in any tool's format. */
function locateFault(line: string, lines: readonly string[], at: number): FaultPosition | null {
  const [, file, message] = faultLine.exec(joinContinuation(line, lines)) ?? [];
  if (file !== undefined && message !== undefined) return { file, message, line };
  const [, unformatted, rule = "format"] = formatterLine.exec(line) ?? linterLine.exec(line) ?? [];
  if (unformatted !== undefined) return { file: unformatted, message: rule, line };
  // ESLint names the file above what it finds there, rustc below.
  const [, listed] = /^\d+:\d+ +error +(.+)$/.exec(line) ?? [];
  if (listed !== undefined) {
    const above = lines.slice(0, at).findLast((each) => /^\S*[/\\]\S*\.\w{1,5}$/.test(each));
    return above === undefined ? null : { file: above, message: listed, line };
  }
  const [, coded] = /^error(?:\[E\d+\])?: (.+)$/.exec(line) ?? [];
  const below = coded === undefined ? undefined : /^--> ([^\s:]+):\d+/.exec(lines[at + 1] ?? "")?.[1];
  return coded === undefined || below === undefined ? null : { file: below, message: coded, line };
}

const faultLine =
  /^(?:thread '[^']{1,80}' panicked at |[a-z]{2,12}:|\[ERROR\] )?((?:[A-Za-z]:)?[^\s:(]{1,200}\.\w{1,5})(?:(?::\d+(?::\d+)?|\(\d+,\d+\))(?:: | - )|:\[\d+,\d+\] )(?:fatal )?(?:(?:error|ERROR):? +)?(.+)$/;

const formatterLine = /^(?:would reformat:?|\[(?:warn|error)\]) (\S{1,200}\.\w{1,5})$/i;
const linterLine = /^(?:at )?(\S{1,200}\.\w{1,5})(?::\d+:\d+)? (format|lint\/\S+|assist\/\S+)\b/;
