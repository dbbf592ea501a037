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
  const found = tellingComplaint(output, exitCode);
  return { ...found, signature: signatureOf(found.line) };
}

type Unsigned = Omit<Complaint, "signature">;

function tellingComplaint(output: string, exitCode: number | null): Unsigned {
  const all = tellingLines(output);
  // That something failed is known; a line that says no more speaks only where none says why.
  const saying = all.filter((line) => !hollow.test(line));
  const lines = saying.some((line) => causeOfLine(line) !== null) ? saying : all;
  let best: Unsigned | null = null;
  for (const line of lines) {
    const found = causeOfLine(line);
    if (found === null) continue;
    const better = best === null || ranks[found.cause] > ranks[best.cause];
    // Of many failed tests the count says most.
    const sums = best?.cause === found.cause && summary.test(line) && !summary.test(best.line);
    if (better || sums) best = { line, ...found };
  }
  const line =
    (best !== null && !hollow.test(best.line) ? best.line : null) ??
    saying.find((each) => complains.test(each)) ??
    best?.line ??
    lines[0] ??
    "no reason given";
  if (exitCode !== null && stopped.has(exitCode)) return { line, cause: "timeout", about: null };
  const refused = refusal.exec(output);
  if (best?.cause === "denied" && refused)
    return { ...best, line: `Permission to use ${refused[1]} has been denied` };
  if (best !== null) return { ...best, line };
  return { line, cause: exitCode === 127 ? "missing-program" : "other", about: null };
}

const hollow =
  /^(?:FAILURE: Build failed|BUILD FAILED|\* What went wrong|FAIL(?:ED)?\b|Failed to update packages|npm (?:error|ERR!) (?:code|errno|path|command|A complete log)\b|make(?:\[\d+\])?: \*\*\*|error: build failed|> Task .{1,80} FAILED|\[ERROR\] Failed to execute goal|Error: Process completed)/i;
const summary = /^\W*(?:tests?:? +)?[1-9]\d* fail(?:ed|ing|ures?)?\b/i;
/** A denial repeats the whole command, which the lesson shows anyway. */
const refusal = /^Permission to use (\w+) with command/;
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

/** The error without what is used once: paths, numbers, ids. */
export function signatureOf(line: string): string {
  return (
    line
      .slice(0, 300)
      .replace(/^(?:npm )?(?:error|fatal|err!?)\b:?\s*/i, "")
      .replace(/(?:[A-Za-z]:)?(?:~|\.{1,2})?(?:\/[\w.@+~-]+){2,}\/?/g, "…")
      .replace(/\b[0-9a-f]{7,40}\b/g, "…")
      .replace(/\S{1,64}@\S{1,64}\.\w+/g, "…")
      // The number of an error tells it from others; other numbers are of the moment.
      .replace(/(?<![A-Za-z\d])\d+/g, "N")
      .replace(/\s+/g, " ")
      .trim()
  );
}

/** The lines of an output that may say what went wrong, each once and without colours and the agent's own frame. */
function tellingLines(output: string): string[] {
  const head = output.slice(0, mostRead);
  const tail = output.length > mostRead ? output.slice(-mostRead) : "";
  const lines = new Set<string>();
  for (const raw of `${head}\n${tail}`.split("\n")) {
    const line = clean(raw);
    if (line !== "" && !frame.test(line)) lines.add(line.length > 300 ? `${line.slice(0, 299)}…` : line);
  }
  return [...lines];
}

const mostRead = 6_000;

function clean(raw: string): string {
  const line = raw.length > 600 ? raw.slice(0, 600) : raw;
  const plain = line.includes("m") && line.includes("[") ? line.replace(colours, "") : line;
  const said = plain.includes("<") ? plain.replace(/<\/?tool_use_error>/g, "") : plain;
  // The shell that complains is not what the complaint is about.
  return said
    .trim()
    .replace(/^[│┃╷╵|]+\s*/, "")
    .replace(/^(?:\(eval\):\d+: |(?:\/\S{1,40}\/)?(?:ba|z|da)?sh:(?: line \d+:| \d+:)? )/, "");
}

const colours = /\u001b?\[\d{1,3}(?:;\d{1,3})*m/g;

/** Echoes of the command, warnings of the package manager and stack frames. */
const frame =
  /^(?:\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d|\d+ \| |Exit code \d+$|npm (?:warn|notice)\b|[$>] |at .+[:)]\d*$|…\[\d+ characters)/i;

const complains =
  /\b(?:error|errors|fatal|failed|failure|denied|cannot|can't|could not|not found|refused|invalid|unknown|missing|unable|unsupported|did not|please run|abort(?:ed|ing)?)\b|Error:/i;

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
    /InputValidationError|has not been read yet|String to replace not found|File has been (?:unexpectedly )?modified|Found \d+ matches of the string|Sibling tool call errored|could not be parsed as JSON|^Blocked: sleep|exceeds maximum allowed tokens|illegal operation on a directory|verification failed|Request interrupted|PostToolUse|MCP error -32602|Invalid arguments for tool/i,
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
    /ECONNRESET|ETIMEDOUT|EAI_AGAIN|deadline exceeded|rate.?limit|too many requests|\b(?:429|502|503|504)\b.{0,40}(?:error|gateway|unavailable|too many)|temporarily unavailable|service unavailable|connection (?:timed out|reset)|could not resolve host|network (?:is )?unreachable|overloaded/i,
  ],
  ["timeout", /timed out after|time limit|\btimed out\b/i],
  ["permission", /(?:index\.lock|already exists).{0,40}(?:not permitted|denied|read-only)/i],
  [
    "state",
    /\bcd: |EADDRINUSE|address already in use|port \d+ is|would be overwritten|nothing to commit|no changes added|nothing added to commit|unmerged|CONFLICT|merge conflict|already exists|non-fast-forward|fetch first|uncommitted changes|local changes|index\.lock|corrupt patch|patch does not apply|did not match any file|Could not resolve to a/i,
  ],
  [
    "failing-test",
    /\b[1-9]\d* (?:tests? )?fail(?:ed|ing|ures?)?\b|^(?:FAIL|FAILED|✗|✕|×|❯)\b|--- FAIL|AssertionError|test(?:s|ing)? failed|test result: FAILED|No test files found/i,
  ],
  [
    "lint",
    /\berror TS\d+|✖ \d+ problems?|\blint\/\w+|^\d+:\d+ +(?:error|warning)\b|Formatter would have|would reformat|imports? (?:and exports )?(?:are|is) not sorted|trailing whitespace|\[[a-z]+-[a-z-]+\]$|\berror\[E\d+\]|^Found \d+ errors?/i,
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
      `command not found: ${name}|(?:^|[\\s:(])${name}: (?:command )?not found$|Command ${name}["']? not found|executable file not found|spawn ${name} ENOENT|(?:^|[\\s:(])${name}['"\`]? is not recognized as an internal|could not determine executable|exec: ${name}["']?: .*not found`,
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
  ["code", /Cannot find module ["']\.{1,2}\//],
  [
    "missing-module",
    new RegExp(
      `(?:ModuleNotFoundError: )?No module named ${name}|Cannot find (?:module|package) ${name}|cannot load such file -- ${name}|there is no package called ${name}|module ${name}['"]? (?:is )?not (?:found|installed)|(?:^|[\\s:(])${name} is not installed`,
      "i",
    ),
  ],
  [
    "permission",
    /permission denied|operation not permitted|\bEACCES\b|\bEPERM\b|read-only file system|sandbox|access (?:is )?denied|not permitted|unauthorized|forbidden|not authenticated|not logged in|authentication (?:failed|required)/i,
  ],
  [
    "service",
    /ECONNREFUSED|connection refused|docker daemon|is (?:it|the server) running|could not connect|failed to connect|no such container/i,
  ],
  [
    "code",
    /unexpected EOF while|syntax error near unexpected|parse error near|unmatched ['"]|\b(?:SyntaxError|TypeError|ReferenceError|NameError|AttributeError|KeyError|ValueError|IndexError|IndentationError)\b|panicked at|^Traceback|undefined:|cannot find symbol|does not compile|build failed|compilation (?:failed|error)|Invalid package\.json|^\S{1,200}\.[a-z]{1,5}:\d+(?::\d+)?: /i,
  ],
  [
    "missing-setting",
    /environment variable|(?:is|are|was) not set|is required|missing (?:required )?(?:env|environment|key|token|credential|secret|config)|api key|credentials?/i,
  ],
  [
    "missing-file",
    /no such file or directory|ENOENT|(?:file|path|directory|folder)\b.{0,80}(?:does not exist|not found)|\/\S+ does not exist|cannot find the (?:file|path)|no files? (?:matching|found)/i,
  ],
];
