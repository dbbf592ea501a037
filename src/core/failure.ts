import type { Run } from "./command.ts";
import type { Event } from "./event.ts";

/** Why a call failed, as far as its words tell; ordered by how likely it is to be worth a lesson. */
export type Cause =
  | "unknown-name"
  | "denied"
  | "missing-program"
  | "missing-script"
  | "wrong-usage"
  | "wrong-place"
  | "missing-module"
  | "shell-dialect"
  | "permission"
  | "missing-setting"
  | "service"
  | "timeout"
  | "other"
  | "missing-file"
  | "failing-test"
  | "code"
  | "lint"
  | "state"
  | "transient"
  | "tool-misuse";

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
  const saying = all.filter((line) => !isHollow(line));
  const failing = failedTests(all);
  // Where no test ran, what kept them from running is the trouble.
  const noneRan = failing.size === 0 && all.some((line) => ranNone.test(line));
  const best = surestOf(saying, noneRan) ?? surestOf(all, noneRan);
  const telling = best !== null && !isHollow(best.line) ? best.line : firstOf(saying);
  const line =
    telling ?? best?.line ?? all.find((each) => complains.test(each)) ?? all[0] ?? "no reason given";
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
  return all.length > 1 && !complains.test(line) ? { ...found, said: "no reason given" } : found;
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
  const complaining = lines.filter((line) => complains.test(line)).map((line) => continued(line, lines));
  const plain = complaining.filter((line) => !/^["'{}[\]]/.test(line));
  const line =
    plain.find((each) => labelled.test(each) && names.test(each)) ??
    plain.find((each) => labelled.test(each) || names.test(each)) ??
    complaining[0];
  // A title is common to many troubles; what stands below it is of this one.
  if (line === undefined || !isTitle(line)) return line;
  const rest = lines.slice(lines.indexOf(line) + 1);
  const below = rest.find((each) => complains.test(each)) ?? rest.find((each) => names.test(each));
  return below === undefined ? line : `${line}: ${below}`.slice(0, 300);
}

function isTitle(line: string): boolean {
  if (/\b(?:failed|exceeded)\.?$/i.test(line)) return true;
  return !names.test(line) && !/[_\d]/.test(line) && line.split(" ").length < 5;
}

const labelled = /^(?:[\w.]*(?:error|exception)|fatal|ERR_\w+)\b/i;
const names = /["'`‘“][^"'`’”]{2,}["'`’”]|\w@["^~]?\d|\w==\d|\w\/\w/;

/** A line that only announces what the next one says, together with that. */
function continued(line: string, all: readonly string[]): string {
  const next = line.endsWith(":") ? all[all.indexOf(line) + 1] : undefined;
  return next === undefined ? line : `${line} ${next}`.slice(0, 300);
}

/** What a line says after whoever passes the error on: `psql: error: … failed: FATAL: role "x" does not exist`. */
function messageOf(line: string): string {
  const labels = [...line.matchAll(label)];
  const at = labels.findLast(({ index }) => index > 0);
  const said = at === undefined ? line : line.slice(at.index + at[0].length);
  return said.replace(afterthought, "");
}

const label = /(?<![\w-])(?:fatal|error): +(?=\S*[A-Za-z]{2}\S* +\S*[A-Za-z])/gi;
const afterthought = /[\s.(]*(?:\bdid you mean\b.*|\.\s+Stop\.)$/i;

/** The words of the shell or the program, without those it was given. */
function dialectOf(line: string): string {
  const match = causes.find(([cause]) => cause === "shell-dialect")?.[1].exec(line);
  return match == null ? line : line.slice(0, match.index + match[0].length).replace(/"[^"]*"|'[^']*'/g, "…");
}

/** The tests that an output names as failed, each with the line that does. */
function failedTests(lines: readonly string[]): ReadonlyMap<string, string> {
  for (const find of runners) {
    const found = new Map<string, string>();
    lines.forEach((line, at) => {
      const name = find(line, lines, at);
      if (name !== null && !found.has(name)) found.set(name, line.includes(name) ? line : name);
    });
    for (const name of found.keys())
      if ([...found.keys()].some((other) => isWithin(other, name))) found.delete(name);
    if (found.size > 0) return found;
  }
  return new Map();
}

/** A few failed tests by their names; null where they are so many that the names say little. */
function fewOf(
  failing: ReadonlyMap<string, string>,
  lines: readonly string[],
): Omit<Unsigned, "cause"> | null {
  const [first] = failing.values();
  const count = Math.max(failing.size, ...lines.map((line) => Number(counted.exec(line)?.[1] ?? 0)));
  if (first === undefined || count > mostNamed) return null;
  return { line: first, about: [...failing.keys()].sort().join(", ") };
}

const counted = /^\W*(?:tests?:? +)?([1-9]\d*) (?:tests? )?fail(?:ed|ing|ures?)?\b/i;

/** Go names `TestTotal` beside `TestTotal/empty`, which is the one that failed. */
function isWithin(name: string, outer: string): boolean {
  return name.startsWith(`${outer}/`);
}

/** More failures than these are no trouble with a test, but with what they test. */
const mostNamed = 3;

type Naming = (line: string, lines: readonly string[], at: number) => string | null;

/** How test runners name what failed; the first that finds something is the one that ran. */
const runners: readonly Naming[] = [
  byPattern(/^FAILED (\S+?::.{1,200}?)(?: - .*)?$/),
  byPattern(/^--- FAIL: (\S+)/),
  byPattern(/^test (\S+)(?: - .{1,80})? \.\.\. FAILED$/),
  byPattern(/^FAIL +(\S+ > .{1,200})$/),
  byPattern(/^● (?!Test suite failed|Console|Cannot log)(.{1,200})$/),
  byPattern(/^\(fail\) (.{1,200})$/),
  byPattern(/^(?:\d+\) )?(\[[\w -]+\] › .{1,200})$/),
  titleOfMocha,
  byPattern(/^(?:FAIL|ERROR): (\w+ \([\w.]+\))/),
  byPattern(/^rspec (\S+ # .{1,200})$/),
  byPattern(/^(\w[\w.$]* > .{1,200}) FAILED$/),
  byPattern(/^(?:\[ERROR\] )?([\w.$()[\]]+) +(?:--? )?Time elapsed:.*<<< (?:FAILURE|ERROR)!/),
  byPattern(/^not ok \d+ -? ?(.{1,200})$/),
  byPattern(/^[✕✗✘×] +(?!\d+ |\[ERROR|.* --\w)(.{1,200})$/),
];

function byPattern(pattern: RegExp): Naming {
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
function titleOfMocha(line: string, lines: readonly string[], at: number): string | null {
  if (!/:$/.test(line) || !lines.some((each) => /^\d+ failing$/.test(each))) return null;
  for (let start = at; start >= 0 && start > at - 4; start--) {
    const first = /^\d+\) (.+)$/.exec(lines[start] as string)?.[1];
    if (first !== undefined) return [first, ...lines.slice(start + 1, at + 1)].join(" ").slice(0, -1);
  }
  return null;
}

/** What is wrong in which files, where an output says; the same words about another file are another trouble. */
function faultInCode(
  output: string,
  lines: readonly string[],
): Pick<Unsigned, "line" | "about" | "said"> | null {
  const raised = raisedIn(output, lines);
  if (raised !== null) return raised;
  const faults = lines.flatMap((line, at) => located(line, lines, at) ?? []);
  const [first] = faults;
  if (first === undefined) return null;
  const files = [...new Set(faults.map(({ file }) => signatureOf(file)))].sort();
  const about = files.length > mostNamed ? null : files.join(", ");
  return { line: first.line, about, said: `${first.file}: ${first.message}` };
}

/** Of an error that nobody caught the last line tells, and the innermost file that is no library. */
function raisedIn(
  output: string,
  lines: readonly string[],
): Pick<Unsigned, "line" | "about" | "said"> | null {
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
  return { line, about: file === undefined ? null : signatureOf(file), said: messageOf(line) };
}

interface Fault {
  readonly file: string;
  readonly message: string;
  readonly line: string;
}

/** What a line says about a place in a file, however the tool writes that. */
function located(line: string, lines: readonly string[], at: number): Fault | null {
  const [, file, message] = placed.exec(continued(line, lines)) ?? [];
  if (file !== undefined && message !== undefined) return { file, message, line };
  const [, unformatted, rule = "format"] = formatted.exec(line) ?? ruled.exec(line) ?? [];
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

const placed =
  /^(?:thread '[^']{1,80}' panicked at |[a-z]{2,12}:|\[ERROR\] )?((?:[A-Za-z]:)?[^\s:(]{1,200}\.\w{1,5})(?:(?::\d+(?::\d+)?|\(\d+,\d+\))(?:: | - )|:\[\d+,\d+\] )(?:fatal )?(?:(?:error|ERROR):? +)?(.+)$/;

const formatted = /^(?:would reformat:?|\[(?:warn|error)\]) (\S{1,200}\.\w{1,5})$/i;
const ruled = /^(?:at )?(\S{1,200}\.\w{1,5})(?::\d+:\d+)? (format|lint\/\S+|assist\/\S+)\b/;

/** Whether a line says no more than that something failed. */
export function isHollow(line: string): boolean {
  return hollow.test(line) || /^(?:FAIL(?:ED)?\b|ERROR(?: \S+)?$)/.test(line) || onlyStatus.test(line);
}

const hollow = new RegExp(
  [
    "FAILURE: Build failed|BUILD FAILED|\\* What went wrong|Failed to update packages|Traceback \\(most",
    "code (?:E\\w+|\\d+|N)$|errno \\S+$|path [/\\w…]\\S*$|syscall \\w+$|command (?:failed|sh|git|cmd)\\b|A complete log|Lifecycle script|Test failed\\b",
    "make(?:\\[(?:\\d+|N)\\])?: \\*\\*\\* \\[|(?:error: )?(?:build failed|could not compile\\b)|> Task .{1,80} FAILED",
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
/** Ended by a signal or a time limit. */
const stopped = new Set([124, 130, 137, 143, 144]);

/** Whether the words of a call are themselves the trouble: other words are then the remedy, and not a change of subject. */
export function isAboutWords(cause: Cause): boolean {
  return cause === "denied" || cause === "shell-dialect";
}

/** Causes that lie before the work: the call never got as far as doing anything. */
export function neverStarted(cause: Cause): boolean {
  return beforeTheWork.has(cause);
}

const beforeTheWork = new Set<Cause>([
  "unknown-name",
  "missing-program",
  "missing-script",
  "wrong-usage",
  "wrong-place",
  "shell-dialect",
]);

/** The error without what is used once: homes, temporary folders, times, hashes, versions, counts. */
export function signatureOf(line: string): string {
  let text = line.slice(0, 300);
  // What one replacement leaves may be what another looks for.
  for (let pass = 0; pass < 4; pass++) {
    const before = text;
    text = withoutOnce(text);
    if (text === before) break;
  }
  return text;
}

function withoutOnce(line: string): string {
  return (
    line
      .replace(/^(?:(?:npm |remote: )?(?:error|fatal|err!?)(?::\s*|\s+|$))+/i, "")
      .replace(
        /\d{4}-\d\d-\d\d(?:[T_ ]\d\d[:_]\d\d(?:[:_]\d\d)?(?:[.,_]\d+)?)?(?:Z|[+-]\d\d:?\d\d| UTC)?/g,
        "N",
      )
      .replace(/(?<![\w:])\d{1,2}:\d\d:\d\d(?:[.,]\d+)?/g, "N")
      .replace(
        /\b(?:sha\d+[:-])?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\bsha(?:256|512)[:-][\w+/=]{20,}/gi,
        "…",
      )
      .replace(/-[a-z0-9]{8,10}-[a-z0-9]{5}\b/g, (end) => (/\d/.test(end) ? "-…" : end))
      // A name with an id in brackets is made up for the moment.
      .replace(/[^\s()]{1,80} \([0-9a-f]{12,64}\)/g, "…")
      .replace(/\b(?=[a-f]*\d)[0-9a-f]{7,64}\b/g, "…")
      .replace(/\b(?=(?:[a-z]+\d+){3}|(?:\d+[a-z]+){3})[a-z0-9]{8,64}\b/gi, "…")
      .replace(/\b[a-z+]{2,12}:\/\/([^\s/"'`<>()]*)([^\s"'`<>()]*)/gi, (_, host: string, path: string) =>
        whereOf(host, path),
      )
      .replace(/(?<![\w.…/\\@:-])(?:[A-Za-z]:|~)?(?:[\\/][\w.@+~…%-]+)+[\\/]?/g, placeOf)
      .replace(/(?<![\w.])\.\/(?=\w)/g, "")
      .replace(/[\w.+-]{1,64}@(?=[a-z][\w-]*\.[a-z]|\d+\.\d+\.\d+\.\d+)/gi, "…@")
      .replace(/(?<![\w:])\[?::1\]?(?=:\d{2,5}\b|[^\w:]|$)|\b(?:127\.0\.0\.1|0\.0\.0\.0)\b/g, "localhost")
      .replace(/(?<![\w:]):::(?=\d)/g, "localhost:")
      .replace(/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)/g, "host")
      .replace(/\b((?:repository|project|workspace) at )['"`]?…[^\s'"`]*['"`]?/gi, "$1…")
      .replace(/\b(current branch )['"]?[^\s'"]+['"]?/gi, "$1…")
      .replace(
        /(?<![\w.])(?:\d+(?:\.\d+)? ?(?:ms|secs?|seconds?|s|min|minutes?|[KMG]i?B)\b ?)+(?=\W|$)/g,
        "N ",
      )
      .replace(/(?<![\w.])v?\d+(?:\.\d+)+(?:-(?:alpha|beta|rc|next|canary)[\w.]*)?/g, "N")
      // The number of an error tells it from others, as do a status and the port of a service; other numbers are of the moment.
      .replace(/(?<![A-Za-z\d])\d+/g, (digits, at: number, all: string) =>
        tells(digits, all, at) ? digits : "N",
      )
      .replace(/\bN(?:, N)+\b/g, "N")
      .replace(/\s+/g, " ")
      .replace(/[\s.:;,]+$/, "")
      .trim()
  );
}
/** An address by its host and the last thing it names. */
function whereOf(host: string, path: string): string {
  if (host === "") return placeOf(path);
  const last = path
    .split(/[?#]/)[0]
    ?.split("/")
    .findLast((part) => part !== "");
  return last === undefined ? `//${host}` : `//${host}/${last}`;
}

/** A path from the folder that every copy of it has; what lies above is of one machine. */
function placeOf(path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== "");
  if (systems.has(parts[0] ?? "") && parts.length > 1) return path;
  const library = parts.findLastIndex((part) => part === "node_modules" || part === "site-packages");
  const root = library >= 0 ? library : parts.findIndex((part) => roots.has(part));
  const kept = root > 0 || library === 0 ? parts.slice(root) : parts.slice(-1);
  return kept.length === 0 ? path : `…/${kept.map((part) => (random.test(part) ? "…" : part)).join("/")}`;
}

const systems = new Set("etc usr opt dev proc sys bin sbin".split(" "));
const roots = new Set(
  "src lib app apps packages crates cmd internal pkg test tests spec e2e docs scripts config bin migrations".split(
    " ",
  ),
);
const random = /^tmp[\w.-]*\d|^tmp\.|[A-Za-z]\d[A-Za-z]+\d|^\d+$/;

/** Whether a number is part of what is wrong: a status, or the port at which a service is known. */
function tells(digits: string, line: string, at: number): boolean {
  const before = line.slice(Math.max(0, at - 30), at);
  if (portFollows.test(before)) return digits.length <= 5 && Number(digits) < firstEphemeral;
  return digits.length === 3 && statusFollows.test(before);
}

const portFollows = /(?:\bport |\b(?:localhost|host):|\/\/[\w.-]{1,28}:)$/i;
const statusFollows = /(?:\bHTTP(?:\/[\dN.]+)?|\bstatus(?: code)?|returned error)[ :=]*$/i;
/** From here on systems hand out ports by themselves. */
const firstEphemeral = 32_768;

/** The lines of an output that may say what went wrong, each once and without colours and the agent's own frame. */
function tellingLines(output: string): string[] {
  const head = output.slice(0, mostRead);
  const tail = output.length > mostRead ? output.slice(-mostRead) : "";
  const lines = new Set<string>();
  const logged = new Set<string>();
  for (const raw of `${head}\n${tail}`.split("\n")) {
    const line = clean(raw);
    const kept = line.length > 300 ? `${line.slice(0, 299)}…` : line;
    if (line !== "" && !frame.test(line)) lines.add(kept);
    else if (stamp.test(line)) logged.add(kept.replace(stamp, ""));
  }
  // A log tells what went by; it is asked where nothing else was said.
  return lines.size > 0 ? [...lines] : [...logged];
}

const stamp = /^\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z| UTC)?\]?\s*/;
const mostRead = 6_000;

function clean(raw: string): string {
  const line = raw.length > 600 ? raw.slice(0, 600) : raw;
  const plain = line.includes("[") ? line.replace(colours, "") : line;
  const said = plain.includes("<") ? plain.replace(/<\/?tool_use_error>/g, "") : plain;
  // The shell that complains is not what the complaint is about.
  return (
    said
      .trim()
      .replace(/^[│┃╷╵║|]+\s*/, "")
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

const complains =
  /\b(?:error|errors|fatal|failed|failure|denied|cannot|can't|could not|couldn't|can only|not found|no \w+ (?:found|available)|refused|invalid|unknown|missing|unable|unsupported|(?:did|is|are|was|were|has|does|do) not|please run|abort(?:ed|ing)?|problem)\b|[a-z](?:Error|Exception)\b/i;

function causeOfLine(line: string): { cause: Cause; about: string | null } | null {
  for (const [cause, pattern] of causes) {
    const match = pattern.exec(line);
    if (match) return { cause, about: match.slice(1).find((group) => group !== undefined) ?? null };
  }
  return null;
}

/** When lines disagree, the one nearer to the machine wins over the one nearer to the code. */
const ranks: Record<Cause, number> = {
  "tool-misuse": 10,
  denied: 9,
  "unknown-name": 9,
  transient: 8,
  state: 8,
  "missing-program": 7,
  "missing-script": 7,
  "wrong-place": 7,
  "shell-dialect": 7,
  "wrong-usage": 6,
  "failing-test": 6.4,
  lint: 6.5,
  "missing-module": 4,
  permission: 4,
  service: 4,
  timeout: 4,
  code: 3,
  "missing-setting": 2,
  "missing-file": 2,
  other: 0,
};

const name = "[\"'`‘“]?([\\w@./:+-]{1,80})";

/** First match wins within a line. These rank; a failure that none of them knows is still looked at. */
const causes: readonly (readonly [Cause, RegExp])[] = [
  [
    "tool-misuse",
    /InputValidationError|has not been read yet|String to replace not found|File has been (?:unexpectedly )?modified|Found \d+ matches of the string|Sibling tool call errored|could not be parsed as JSON|^Blocked: sleep|exceeds maximum allowed tokens|illegal operation on a directory|(?<!Host key )verification failed|Request interrupted|PostToolUse|MCP error -32602|Invalid arguments for tool/i,
  ],
  [
    "denied",
    /has been denied\.?$|denied by your permission settings|blocked by .{0,30}hook|\bhook error:|hook (?:blocked|denied)/i,
  ],
  [
    "unknown-name",
    new RegExp(
      `Unknown skill:? ${name}|Agent type ${name}['"\`]? not found|No such tool(?: available)?:? ?${name}|unknown tool:? ${name}`,
      "i",
    ),
  ],
  [
    "transient",
    /ECONNRESET|ETIMEDOUT|\bENOTFOUND\b|EAI_AGAIN|deadline exceeded|rate.?limit|too many requests|\b(?:429|502|503|504)\b.{0,40}(?:error|gateway|unavailable|too many)|temporarily unavailable|service unavailable|connection (?:timed out|reset)|could not resolve host|network (?:is )?unreachable|overloaded/i,
  ],
  ["timeout", /timed out after|time limit|\btimed out\b/i],
  ["permission", /(?:index\.lock|already exists).{0,40}(?:not permitted|denied|read-only)/i],
  [
    "state",
    /\bcd: |EADDRINUSE|address already in use|port (?:is already|\d+ (?:is|was)) |would be overwritten|nothing to commit|no changes added|nothing added to commit|unmerged|CONFLICT \(|merge conflict|already exists|non-fast-forward|fetch first|uncommitted changes|local changes|index\.lock|corrupt patch|patch does not apply|did not match any file|Could not resolve to a/i,
  ],
  [
    "failing-test",
    /(?<![:\w]|port )[1-9]\d* (?:tests? )?fail(?:ed|ing|ures?)?\b|^[✗✕✘] (?!\[ERROR)|--- FAIL|Assertion(?:Failed)?Error|Failures: [1-9]|test(?:s|ing)? failed|test result: FAILED|No test files found/i,
  ],
  ["failing-test", /^FAIL(?:ED)?\b/],
  [
    "lint",
    /\berror TS\d+|✖ \d+ problems?|\blint\/\w+|^\d+:\d+ +(?:error|warning)\b|Formatter would have|^\[(?:warn|error)\] Code style issues|would reformat|imports? (?:and exports )?(?:are|is) not sorted|trailing whitespace|\[[a-z]+-[a-z-]+\]$|\berror\[E\d+\]|^Found \d+ errors?/i,
  ],
  [
    "missing-script",
    new RegExp(
      `(?:script not found|missing script):? ${name}|No rule to make target ${name}|recipe ${name}['"\`]? (?:not found|could not)|does not contain recipe ${name}|task ${name}['"\`]? (?:not found|does not exist)|Couldn't find a script named ${name}`,
      "i",
    ),
  ],
  [
    "missing-program",
    new RegExp(
      `command not found: ${name}|(?:^|[\\s:(])${name}: (?:command )?not found$|Command ${name}["']? not found|executable file not found|Executable doesn't exist|^make(?:\\[\\d+\\])?: ${name}: No such file|Failed to spawn:? ${name}|spawn ${name} ENOENT|(?:^|[\\s:(])${name}['"\`]? is not recognized as an internal|could not determine executable|exec: ${name}["']?: .*not found`,
      "i",
    ),
  ],
  [
    "shell-dialect",
    /no matches found:|invalid command code|extra characters at the end|undefined label|bad substitution|event not found|bad pattern:|unknown file attribute|read-only variable/i,
  ],
  [
    "wrong-place",
    /could not find [`'"]?(?:package\.json|cargo\.toml|pyproject\.toml|go\.mod)|no package\.json|no (?:package )?manifest|not a git repository|go\.mod file not found|outside (?:of )?(?:the )?(?:workspace|main module|available)|no projects? (?:found|matched)|ERR_PNPM_NO_|cannot find main module|no (?:configuration|config) file/i,
  ],
  [
    "wrong-usage",
    new RegExp(
      `(?:unrecognized|unrecognised|unknown|unexpected|invalid|illegal|unsupported|no such|bad) (?:sub-?command|command|options?|flags?|arguments?|switch|shorthand flag|parameter|choice|field|json field)s?:?(?: --)?(?: found)?:? ?-?-?${name}|unrecognized subcommand ${name}|requires? (?:an? |at least )?(?:\\w+ )?(?:argument|value|option|flag)|(?:is|are) (?:not|no longer) supported|is being deprecated|must (?:specify|provide|use|include)|^usage: |mutually exclusive|cannot be used with|expected one of`,
      "i",
    ),
  ],
  // A file of one's own that is not written yet.
  ["code", /(?:Cannot find module|Can't resolve|Could not resolve|failed to resolve import) ["']\.{1,2}\//],
  [
    "missing-module",
    new RegExp(
      `(?:ModuleNotFoundError: )?No module named ${name}|Cannot find (?:module|package) ${name}|failed to resolve import ${name}|Can't resolve ${name}|Could not resolve ["']([\\w@./:+-]{1,80})|(?:cannot find|library not found for) -l${name}|cannot load such file -- ${name}|there is no package called ${name}|no required module provides package ${name}|Could not find ([\\w.]+(?:-[a-z_]\\w*)*)-\\d[^\\s]*.{0,200} in (?:any of the sources|locally installed gems)|module ${name}['"]? (?:is )?not (?:found|installed)|(?:^|[\\s:(])${name} is not installed`,
      "i",
    ),
  ],
  ["permission", /^((?:\.{0,2}\/)?[\w./@+-]{1,80}): permission denied\.?$|^permission denied: (\S{1,80})$/i],
  [
    "permission",
    /are too open|please run:? +\S+ (?:auth )?login|permission denied|operation not permitted|\bEACCES\b|\bEPERM\b|read-only file system|sandbox|access (?:is )?denied|not permitted|unauthorized|forbidden|not authenticated|not logged in|authentication (?:failed|required)/i,
  ],
  [
    "service",
    /ECONNREFUSED|connection refused|docker daemon|is (?:it|the server) running|could not connect|failed to connect|can't (?:reach|connect)|connection to .{1,80} was refused|no such container/i,
  ],
  [
    "code",
    /unexpected EOF while|syntax error near unexpected|parse error near|unmatched ['"]|\b(?:SyntaxError|TypeError|ReferenceError|NameError|AttributeError|KeyError|ValueError|IndexError|IndentationError)\b|panicked at|^Traceback|undefined:|cannot find symbol|^Type error: |does not compile|build failed|compilation (?:failed|error)|Invalid package\.json|^\S{1,200}\.[a-z]{1,5}:\d+(?::\d+)?: /i,
  ],
  [
    "missing-setting",
    /environment variables?\b(?! loaded)|(?:is|are|was) not set|is required|missing (?:required )?(?:env|environment|key|token|credential|secret|config)|api key|credentials?/i,
  ],
  [
    "missing-file",
    /no such file or directory|ENOENT|(?:file|path|directory|folder)\b.{0,80}(?:does not exist|not found)|\/\S+ does not exist|cannot find the (?:file|path)|no files? (?:matching|found)/i,
  ],
];
