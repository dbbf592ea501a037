import type { Cause } from "../records/index.ts";
import { causeRanks, findCause, makeSignature, withoutOperands } from "./error-line.ts";

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
  // A warning tells what else is odd.
  const sure = complaining.filter((line) => !/^["'{}[\]]|^warn(?:ing)?\b/i.test(line));
  const plain = sure.length > 0 ? sure : complaining;
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

type CodeFault = Required<Pick<Unsigned, "line" | "about" | "said">>;

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
  const frames = [...output.slice(-mostRead).matchAll(/File "([^"<]{1,300})", line \d+/g)];
  // Node says where in a line above the code.
  const place = lines.findLast((each) => /^\S*[/\\]\S+\.\w{1,5}(?::\d+){1,2}$/.test(each));
  const raised = /^(?:E +)?(?:[\w.]+(?:Error|Exception|Exit|Warning)\b|Type error:)/;
  const line = lines.findLast((each) => raised.test(each));
  if (line === undefined || (frames.length === 0 && place === undefined)) return null;
  const own = frames.findLast(([, each = ""]) => !/(?:site|dist)-packages|\/lib\/python/.test(each));
  const file = own?.[1] ?? place?.replace(/(?::\d+)+$/, "");
  return { line, about: file === undefined ? null : makeSignature(file), said: stripReporter(line) };
}

/** Reads a line that names a position in a file, in any tool's format. */
function locateFault(line: string, lines: readonly string[], at: number) {
  const found = (file: string | undefined, message: string | undefined) =>
    file === undefined || message === undefined ? null : { file, message, line };
  const [, file, message] = faultLine.exec(joinContinuation(line, lines)) ?? [];
  if (file !== undefined) return found(file, message);
  const [, unformatted, rule = "format"] = formatterLine.exec(line) ?? linterLine.exec(line) ?? [];
  if (unformatted !== undefined) return found(unformatted, rule);
  // ESLint names the file above what it finds there, rustc below.
  const [, listed] = /^\d+:\d+ +error +(.+)$/.exec(line) ?? [];
  if (listed !== undefined) {
    const above = lines.slice(0, at).findLast((each) => /^\S*[/\\]\S*\.\w{1,5}$/.test(each));
    return found(above, listed);
  }
  const [, coded] = /^error(?:\[E\d+\])?: (.+)$/.exec(line) ?? [];
  return found(/^--> ([^\s:]+):\d+/.exec(lines[at + 1] ?? "")?.[1], coded);
}

const faultLine =
  /^(?:thread '[^']{1,80}' panicked at |[a-z]{2,12}:|\[ERROR\] )?((?:[A-Za-z]:)?[^\s:(]{1,200}\.\w{1,5})(?:(?::\d+(?::\d+)?|\(\d+,\d+\))(?:: | - )|:\[\d+,\d+\] )(?:fatal )?(?:(?:error|ERROR):? +)?(.+)$/;

const formatterLine = /^(?:would reformat:?|\[(?:warn|error)\]) (\S{1,200}\.\w{1,5})$/i;
const linterLine = /^(?:at )?(\S{1,200}\.\w{1,5})(?::\d+:\d+)? (format|lint\/\S+|assist\/\S+)\b/;

/** The lines of an output that may say what went wrong, each once and without colours and the agent's own frame. */
function readErrorLines(output: string): string[] {
  const tail = output.length > mostRead ? output.slice(-mostRead) : "";
  const lines = new Set<string>();
  const logged = new Set<string>();
  for (const raw of `${output.slice(0, mostRead)}\n${tail}`.split("\n")) {
    const line = clean(raw);
    const kept = line.length > 300 ? `${line.slice(0, 299)}…` : line;
    if (line !== "" && !isFrame(line)) lines.add(kept);
    else if (stamp.test(line)) logged.add(kept.replace(stamp, ""));
  }
  // A log tells what went by; it is asked where nothing else was said.
  return lines.size > 0 ? [...lines] : [...logged];
}

/** The lines of an output without colours, frames and the time of a log. */
export function readLines(output: string): string[] {
  const shown =
    output.length > 2 * mostRead ? `${output.slice(0, mostRead)}\n${output.slice(-mostRead)}` : output;
  return shown.split("\n").flatMap((raw) => clean(raw).replace(stamp, "").replace(logTag, "").trim() || []);
}

const logTag = /^\[(?!error)[@a-z/]+\] (?=\S)/;
const stamp = /^\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z| UTC)?\]?\s*/;
const mostRead = 6_000;

const framed = /^[│┃╷╵║|]|[│┃║]$/;

function clean(raw: string): string {
  const line = raw.length > 600 ? raw.slice(0, 600) : raw;
  const plain = line.includes("[") ? line.replace(colours, "") : line;
  const said = (plain.includes("<") ? plain.replace(/<\/?tool_use_error>/g, "") : plain).trim();
  // The shell that complains is not what the complaint is about.
  return (
    (framed.test(said) ? said.replace(/^[│┃╷╵║|]+\s*|\s*[│┃║]+$/g, "") : said)
      // Docker's builder counts its steps and seconds.
      .replace(/^(?:#\d+ (?:\d+\.\d+ )?|\d+\.\d{3} )/, "")
      .replace(/^npm (?:error|ERR!) +/, "")
      .replace(/^(?:\(eval\):\d+: |(?:\/\S{1,40}\/|-)?(?:ba|z|da)?sh:(?: line \d+:| ?\d+:)? )/, "")
  );
}

const colours = /\u001b?\[\d{1,3}(?:;\d{1,3})*m|\u001b\[[\d;?]{0,12}[A-Za-ln-z]/g;

/** Echoes of the command, warnings of the package manager and stack frames. */
const frame =
  /^(?:\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d|\d+ \| |Exit code \d+$|(?:npm|lerna) (?:warn|notice|info)\b|[EWIF]\d{4} \d\d:\d\d:|% Total\b|(?:DETAIL|HINT): |(?:PASS|✓|✔) |[$>] |at .+[:)]\d*$|…\[\d+ characters)/i;

/** Whether a line is of the frame around an error. The pattern takes long to prepare, and most lines begin otherwise. */
function isFrame(line: string): boolean {
  const start = line.slice(0, 9).toLowerCase();
  return (frameStarts.some((one) => start.startsWith(one)) || /^[ewif]?\d/.test(start)) && frame.test(line);
}

const frameStarts = "[|exit code|npm |lerna |% total|detail: |hint: |pass |✓ |✔ |$ |> |at |…[".split("|");

/** Whether a text has the words of a complaint. */
export function complains(text: string): boolean {
  return hasAny(text, complaints) && complaint.test(text);
}

/** Whether a text has one of several signs: cheaper than a pattern that takes long to prepare. */
function hasAny(text: string, signs: readonly string[]): boolean {
  const plain = text.toLowerCase();
  return signs.some((sign) => plain.includes(sign));
}

/** Every complaint has one of these. */
const complaints =
  "error|fatal|failed|failure|denied|cannot|can't|could|can only|not found|no |refused|invalid|unknown|missing|unable|unsupported| not|please run|abort|problem|exception".split(
    "|",
  );

const complaint =
  /\b(?:error|errors|fatal|failed|failure|denied|cannot|can't|could not|couldn't|can only|not found|no \w+ (?:found|available)|refused|invalid|unknown|missing|unable|unsupported|(?:did|is|are|was|were|has|does|do) not|please run|abort(?:ed|ing)?|problem)\b|[a-z](?:Error|Exception)\b/i;

/** Whether a line says no more than that something failed. */
export function isHollow(line: string): boolean {
  if (/^(?:FAIL(?:ED)?\b|ERROR(?: \S+)?$|[Uu]sage: )/.test(line)) return true;
  if ((/^at /i.test(line) || hasAny(line, hollowSigns)) && hollow.test(line)) return true;
  return hasAny(line, ["status", "code"]) && onlyStatus.test(line);
}

/** Every line that `hollow` matches has one of these, or begins with "at". */
const hollowSigns =
  "fail|wrong|traceback|code |errno|path |syscall|command|log|lifecycle|compil|make|[error]|process|complete|husky|found |problem|timed out|status|denied|script|style issues".split(
    "|",
  );

const hollow = new RegExp(
  [
    "FAILURE: Build failed|BUILD FAILED|Failure/Error: |\\* What went wrong|Failed to update packages|Traceback \\(most",
    "code (?:E\\w+|\\d+|N)$|errno \\S+$|path [/\\w…]\\S*$|syscall \\w+$|command (?:failed|sh|git|cmd)\\b|A complete log|Lifecycle script|Test failed\\b",
    "(?:error: )?failed to run custom build command|Execution failed for task|warning: build failed|make(?:\\[(?:\\d+|N)\\])?: \\*\\*\\* \\[|(?:error: )?(?:build failed|could not compile\\b)|> Task .{1,80} FAILED",
    "\\[ERROR\\] (?:Failed to execute goal (?!on project)|To see|Re-run|For more)|(?:\\[ERROR\\] )?COMPILATION ERROR|Error: Process completed|(?:error )?Command failed\\b",
    "(?:ELIFECYCLE|ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL)\\b|.{0,40}did not complete successfully|(?:ERROR: )?failed to solve: process",
    "(?:error: )?process .{1,200} did not complete|husky - |(?:error: )?failed to push some refs|Found (?:\\d+|N) errors?|✖ (?:\\d+|N) problems?",
    "(?:the )?(?:command|operation|process|request) timed out\\b|Request failed with status|Background command .{0,200} (?:failed|exited)\\b",
    "Permission to use \\w+ has been denied$|at .{1,200}:(?:\\d+|N)\\)",
    '(?:error: )?script "[^"]*" exited|bundler: failed to load command|\\[(?:warn|error)\\] Code style issues|(?:error: )?test failed, to rerun',
  ]
    .map((each) => `^(?:${each})`)
    .join("|"),
  "i",
);

/** That a program ended badly, and with which number. */
const onlyStatus =
  /\b(?:fail(?:ed|ure)|exited|returned|exit successfully)\b.{0,24}\b(?:status|code)\b:? ?\(?-?(?:\d+|N)\)?\.?$/i;

/** A line that only announces what the next one says, together with that. */
function joinContinuation(line: string, all: readonly string[]): string {
  const next = line.endsWith(":") ? all[all.indexOf(line) + 1] : undefined;
  return next === undefined ? line : `${line} ${next}`.slice(0, 300);
}

/** The message without the programs that passed it on: `psql: error: … failed: FATAL: role "x" does not exist`. */
function stripReporter(line: string): string {
  const labels = [...line.matchAll(label)];
  const at = labels.findLast(({ index }) => index > 0);
  const said = at === undefined ? line : line.slice(at.index + at[0].length);
  return said.replace(afterthought, "");
}

const label = /(?<![\w-])(?:[Ff]atal|FATAL|[Ee]rror|ERROR): +(?=\S*[A-Za-z]{2}\S* +\S*[A-Za-z])/g;
const afterthought = /[\s.(]*(?:\b[Dd]id you mean\b.*|\.\s+Stop\.)$/;

// --- Failed tests ---

/** The tests that an output names as failed, each with the line that does. */
export function findFailedTests(lines: readonly string[]): ReadonlyMap<string, string> {
  for (const find of testRunners) {
    const found = new Map<string, string>();
    lines.forEach((line, at) => {
      const name = find(line, lines, at);
      if (name !== null && !found.has(name)) found.set(name, line.includes(name) ? line : name);
    });
    // Go names `TestTotal` beside `TestTotal/empty`, which is the one that failed.
    for (const name of found.keys())
      if ([...found.keys()].some((other) => other.startsWith(`${name}/`))) found.delete(name);
    if (found.size > 0) return found;
  }
  return new Map();
}

/** A few failed tests by their names; null where they are so many that the names say little. */
function nameFewTests(
  failing: ReadonlyMap<string, string>,
  lines: readonly string[],
): { readonly line: string; readonly about: string } | null {
  const [first] = failing.values();
  const count = Math.max(failing.size, ...lines.map((line) => Number(failureCount.exec(line)?.[1] ?? 0)));
  if (first === undefined || count > mostNamedTests) return null;
  return { line: first, about: [...failing.keys()].sort().join(", ") };
}

export const failureCount = /^\W*(?:tests?:? +)?([1-9]\d*) (?:tests? )?fail(?:ed|ing|ures?)?\b/i;

/** More failures than these are no trouble with a test, but with what they test. */
const mostNamedTests = 3;

type FindTestName = (line: string, lines: readonly string[], at: number) => string | null;

/** How test runners name what failed; the first that finds something is the one that ran. */
const testRunners: readonly FindTestName[] = [
  matchLine(/^FAILED (\S+?::.{1,200}?)(?: - .*)?$/),
  matchLine(/^--- FAIL: (\S+)/),
  matchLine(/^test (\S+)(?: - .{1,80})? \.\.\. FAILED$/),
  matchLine(/^FAIL +(\S+ > .{1,200})$/),
  matchLine(/^● (?!Test suite failed|Console|Cannot log)(.{1,200})$/),
  matchLine(/^\(fail\) (.{1,200})$/),
  matchLine(/^(?:\d+\) )?(\[[\w -]+\] › .{1,200})$/),
  findMochaTitle,
  matchLine(/^(?:FAIL|ERROR): (\w+ \([\w.]+\))/),
  matchLine(/^rspec (\S+ # .{1,200})$/),
  matchLine(/^(\w[\w.$]* > .{1,200}) FAILED$/),
  matchLine(/^(?:\[ERROR\] )?([\w.$()[\]]+) +(?:--? )?Time elapsed:.*<<< (?:FAILURE|ERROR)!/),
  matchLine(/^not ok \d+ -? ?(.{1,200})$/),
  matchLine(/^[✕✗✘×] +(?!\d+ |\[ERROR|.* --\w)(.{1,200})$/),
];

function matchLine(pattern: RegExp): FindTestName {
  return (line) => {
    const name = pattern.exec(line)?.[1];
    return name === undefined ? null : withoutMoment(name);
  };
}

/** A test's name without how long it took and the line where it stands. */
function withoutMoment(name: string): string {
  return name
    .replace(/[\s─]+$/, "")
    .replace(/\s*[([][\d.]+ ?m?s[)\]]$/, "")
    .replace(/(\.\w{1,5}):\d+(?::\d+)?/, "$1");
}

/** `1) cart`, and below it `rounds to cents:`. */
function findMochaTitle(line: string, lines: readonly string[], at: number): string | null {
  if (!/:$/.test(line) || !lines.some((each) => /^\d+ failing$/.test(each))) return null;
  for (let start = at; start >= 0 && start > at - 4; start--) {
    const first = /^\d+\) (.+)$/.exec(lines[start] as string)?.[1];
    if (first !== undefined) return [first, ...lines.slice(start + 1, at + 1)].join(" ").slice(0, -1);
  }
  return null;
}
