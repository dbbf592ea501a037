/** The lines of an output that may say what went wrong, each once and without colours and the agent's own frame. */
export function readErrorLines(output: string): string[] {
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
export const mostRead = 6_000;

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

/** Whether a text has the words of a complaint. */
export function complains(text: string): boolean {
  return mayComplain(text) && complaint.test(text);
}

/** Whether it has what every complaint has one of: `complaint` takes long to prepare. */
export function mayComplain(text: string): boolean {
  const plain = text.toLowerCase();
  return complaints.some((sign) => plain.includes(sign));
}

const complaints =
  "error|fatal|failed|failure|denied|cannot|can't|could|can only|not found|no |refused|invalid|unknown|missing|unable|unsupported| not|please run|abort|problem|exception".split(
    "|",
  );

export const complaint =
  /\b(?:error|errors|fatal|failed|failure|denied|cannot|can't|could not|couldn't|can only|not found|no \w+ (?:found|available)|refused|invalid|unknown|missing|unable|unsupported|(?:did|is|are|was|were|has|does|do) not|please run|abort(?:ed|ing)?|problem)\b|[a-z](?:Error|Exception)\b/i;

/** Whether a line says no more than that something failed. */
export function isHollow(line: string): boolean {
  return (
    (mayBeHollow(line) && hollow.test(line)) ||
    /^(?:FAIL(?:ED)?\b|ERROR(?: \S+)?$)/.test(line) ||
    (mayTellStatus(line) && onlyStatus.test(line))
  );
}

/** Whether a line has what every such line has one of: `hollow` takes long to prepare. */
export function mayBeHollow(line: string): boolean {
  const plain = line.toLowerCase();
  return plain.startsWith("at ") || hollowSigns.some((sign) => plain.includes(sign));
}

const hollowSigns =
  "fail|wrong|traceback|code |errno|path |syscall|command|log|lifecycle|compil|make|[error]|process|complete|husky|found |problem|timed out|status|denied|script|style issues".split(
    "|",
  );

export const hollow = new RegExp(
  [
    "FAILURE: Build failed|BUILD FAILED|\\* What went wrong|Failed to update packages|Traceback \\(most",
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

/** Whether a line has what every line that `onlyStatus` matches has one of. */
export function mayTellStatus(line: string): boolean {
  const plain = line.toLowerCase();
  return plain.includes("status") || plain.includes("code");
}

/** That a program ended badly, and with which number. */
export const onlyStatus =
  /\b(?:fail(?:ed|ure)|exited|returned|exit successfully)\b.{0,24}\b(?:status|code)\b:? ?\(?-?(?:\d+|N)\)?\.?$/i;

/** A line that only announces what the next one says, together with that. */
export function joinContinuation(line: string, all: readonly string[]): string {
  const next = line.endsWith(":") ? all[all.indexOf(line) + 1] : undefined;
  return next === undefined ? line : `${line} ${next}`.slice(0, 300);
}

/** The message without the programs that passed it on: `psql: error: … failed: FATAL: role "x" does not exist`. */
export function stripReporter(line: string): string {
  const labels = [...line.matchAll(label)];
  const at = labels.findLast(({ index }) => index > 0);
  const said = at === undefined ? line : line.slice(at.index + at[0].length);
  return said.replace(afterthought, "");
}

const label = /(?<![\w-])(?:fatal|error): +(?=\S*[A-Za-z]{2}\S* +\S*[A-Za-z])/gi;
const afterthought = /[\s.(]*(?:\bdid you mean\b.*|\.\s+Stop\.)$/i;

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
export function nameFewTests(
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
export const mostNamedTests = 3;

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
