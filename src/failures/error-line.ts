import type { Cause } from "../records/index.ts";
import { wordSet } from "../text/index.ts";

/** Causes grouped by what they have in common. */
// biome-ignore format: lists of names read better in rows
export const causeGroups: Readonly<Record<"beforeWork" | "inWork" | "wording" | "outside", ReadonlySet<Cause>>> = {
  /** The call never got as far as doing anything. */
  beforeWork: new Set([
    "unknown-name", "missing-program", "missing-script", "wrong-usage", "wrong-place", "shell-dialect",
  ]),
  /** Put right by working on it; differs each time though it is said in the same words. */
  inWork: new Set(["failing-test", "code", "lint"]),
  /** The words of the call are the trouble: other words are the remedy, and not a change of subject. */
  wording: new Set(["denied", "shell-dialect"]),
  /** The trouble lies with what the call needs, not with the call. */
  outside: new Set(["service", "state", "missing-module", "missing-setting"]),
};

/** The cause that a line of output tells, and the name it complains about. */
export function findCause(line: string): { cause: Cause; about: string | null } | null {
  const plain = line.toLowerCase();
  for (const { cause, pattern, hints } of hinted) {
    // A pattern costs more to prepare than to try, and most have nothing to do with a line.
    if (!hints.some((hint) => plain.includes(hint))) continue;
    const match = pattern.exec(line);
    if (match) return { cause, about: match.slice(1).find((group) => group !== undefined) ?? null };
  }
  return null;
}

/** When lines disagree, the one nearer to the machine wins over the one nearer to the code. */
// biome-ignore format: a table reads better in rows
export const causeRanks: Record<Cause, number> = {
  "tool-misuse": 10, denied: 9, "unknown-name": 9, transient: 8, state: 8, "missing-program": 7,
  "missing-script": 7, "wrong-place": 7, "shell-dialect": 7, "wrong-usage": 6, "failing-test": 6.4,
  lint: 6.5, "missing-module": 4, permission: 4, service: 4, timeout: 4, code: 3, "missing-setting": 2,
  "missing-file": 2, other: 0,
};

const name = "[\"'`‘“]?([\\w@./:+-]{1,80})";

/** First match wins within a line. Beside each pattern: in lower case, what every line that it matches has one of. */
// biome-ignore format: a table reads better in rows
const causes: readonly (readonly [Cause, RegExp, string])[] = [
  ["tool-misuse",
    /InputValidationError|has not been read yet|String to replace not found|File has been (?:unexpectedly )?modified|Found \d+ matches of the string|Sibling tool call errored|could not be parsed as JSON|^Blocked: sleep|exceeds maximum allowed tokens|illegal operation on a directory|(?<!Host key )verification failed|Request interrupted|PostToolUse|MCP error -32602|Invalid arguments for tool/i,
    "inputvalidationerror|has not been read yet|string to replace not found|file has been|matches of the string|tool call errored|parsed as json|blocked: sleep|maximum allowed tokens|operation on a directory|verification failed|request interrupted|posttooluse|mcp error|invalid arguments"],
  ["denied",
    /has been denied\.?$|denied by your permission settings|blocked by .{0,30}hook|\bhook error:|hook (?:blocked|denied)/i,
    "denied|blocked by|hook"],
  ["unknown-name",
    new RegExp(`Unknown skill:? ${name}|Agent type ${name}['"\`]? not found|No such tool(?: available)?:? ?${name}|unknown tool:? ${name}`, "i"),
    "unknown skill|agent type|no such tool|unknown tool"],
  ["transient",
    /ECONNRESET|ETIMEDOUT|\bENOTFOUND\b|EAI_AGAIN|deadline exceeded|rate.?limit|too many requests|\b(?:429|502|503|504)\b.{0,40}(?:error|gateway|unavailable|too many)|temporarily unavailable|service unavailable|connection (?:timed out|reset)|could not resolve host|network (?:is )?unreachable|overloaded/i,
    "econnreset|etimedout|enotfound|eai_again|deadline exceeded|limit|too many|429|502|503|504|unavailable|connection|could not resolve|unreachable|overloaded"],
  ["timeout", /timed out after|time limit|\btimed out\b/i, "timed out|time limit"],
  ["permission",
    /(?:index\.lock|already exists).{0,40}(?:not permitted|denied|read-only)/i,
    "index.lock|already exists"],
  ["state",
    /\bcd: |EADDRINUSE|address already in use|port (?:is already|\d+ (?:is|was)) |would be overwritten|nothing to commit|no changes added|nothing added to commit|unmerged|CONFLICT \(|merge conflict|already exists|non-fast-forward|fetch first|uncommitted changes|local changes|index\.lock|corrupt patch|patch does not apply|did not match any file|Could not resolve to a|files were modified by this hook/i,
    "cd: |eaddrinuse|already in use|port |overwritten|nothing to commit|no changes added|nothing added|unmerged|conflict|already exists|non-fast-forward|fetch first|uncommitted|local changes|index.lock|corrupt patch|does not apply|did not match any|could not resolve to a|modified by this hook"],
  ["failing-test",
    /(?<![:\w]|port )[1-9]\d* (?:tests? )?fail(?:ed|ing|ures?)?\b|^[✗✕✘] (?!\[ERROR)|--- FAIL|Assertion(?:Failed)?Error|Failures: [1-9]|test(?:s|ing)? failed|test result: FAILED|No test files found/i,
    "fail|✗|✕|✘|assertion|no test files found"],
  ["failing-test", /^FAIL(?:ED(?!:))?\b/, "fail"],
  ["lint",
    /\berror TS\d+|✖ \d+ problems?|\blint\/\w+|^\d+:\d+ +(?:error|warning)\b|Formatter would have|^\[(?:warn|error)\] Code style issues|would reformat|imports? (?:and exports )?(?:are|is) not sorted|trailing whitespace|\[[a-z]+-[a-z-]+\]$|\berror\[E\d+\]|^Found \d+ errors?/i,
    "error ts| error| warning|problem|lint/|formatter would|code style|would reformat|not sorted|trailing whitespace|]"],
  ["missing-script",
    new RegExp(`(?:script not found|missing script):? ${name}|No rule to make target ${name}|recipe ${name}['"\`]? (?:not found|could not)|does not contain recipe ${name}|task ${name}['"\`]? (?:not found|does not exist)|Couldn't find a script named ${name}|^error Command ${name}" not found`, "i"),
    "script|no rule to make target|recipe|task|command"],
  ["missing-program",
    new RegExp(`command not found: ${name}|(?:^|[\\s:(])(?!remote:|error:|fatal:|warning:|page:|file:|url:)${name}: (?:command )?not found$|(?:The )?command ${name}["']? (?:could )?not (?:be )?found|executable file not found|Executable doesn't exist|^make(?:\\[\\d+\\])?: ${name}: No such file|Failed to spawn:? ${name}|spawn ${name} ENOENT|(?:^|[\\s:(])${name}['"\`]? is not recognized as (?:an internal|(?:the|a) name of a cmdlet)|could not determine executable|exec: ${name}["']?: .*not found|\\bbut (dotnet-[\\w-]+) does not exist|${name}['"\`]? was not found on your path`, "i"),
    "not found|not be found|executable|no such file|failed to spawn|enoent|not recognized|but dotnet-"],
  ["shell-dialect",
    /no matches found:|invalid command code|extra characters at the end|undefined label|bad substitution|event not found|bad pattern:|unknown file attribute|read-only variable/i,
    "no matches found|invalid command code|extra characters|undefined label|bad substitution|event not found|bad pattern|unknown file attribute|read-only variable"],
  ["wrong-place",
    /could not find [`'"]?(?:package\.json|cargo\.toml|pyproject\.toml|go\.mod)|no package\.json|no (?:package )?manifest|not a git repository|go\.mod file not found|outside (?:of )?(?:the )?(?:workspace|main module|available)|no projects? (?:found|matched)|ERR_PNPM_NO_|cannot find main module|no (?:configuration|config) file/i,
    "could not find|no package|manifest|not a git repository|not found|outside|no project|err_pnpm_no_|main module|no config"],
  ["wrong-usage",
    new RegExp(`(?:unrecognized|unrecognised|unknown|unexpected|invalid|illegal|unsupported|no such|bad) (?:sub-?command|command|options?|flags?|arguments?|switch|shorthand flag|parameter|choice|field|json field)s?\\b:?(?: --)?(?: found)?:? ?-?-?${name}|(?:unrecogni[sz]ed|unknown|unexpected|invalid) (?:options?|flags?|arguments?)$|unrecognized subcommand ${name}|requires? (?:an? |at least )?(?:\\w+ )?(?:argument|value|option|flag)|(?:is|are) (?:not|no longer) supported|is being deprecated|must (?:specify|provide|use|include)|^usage: |mutually exclusive|cannot be used with|expected one of|A parameter cannot be found that matches parameter name '${name}`, "i"),
    "command|option|flag|argument|switch|parameter|choice|field|require|supported|deprecated|must |usage: |exclusive|cannot be used|expected one of"],
  ["wrong-usage", /ERR_UNKNOWN_FILE_EXTENSION|ERR_UNSUPPORTED_DIR_IMPORT|ERR_REQUIRE_ESM/, "err_"],
  // A file of one's own that is not written yet.
  ["code",
    /(?:Cannot find module|Can't resolve|Could not resolve(?: module)?|failed to resolve import) ["']\.{1,2}\//,
    "cannot find module|resolve"],
  ["missing-module",
    new RegExp(`(?:ModuleNotFoundError: )?No module named ${name}|Cannot find (?:module|package) ${name}|failed to resolve import ${name}|Can't resolve ${name}|Could not resolve (?:module )?["']([\\w@./:+-]{1,80})|(?:cannot find|library not found for) -l${name}|cannot load such file -- ${name}|there is no package called ${name}|no required module provides package ${name}|Could not find ([\\w.]+(?:-[a-z_]\\w*)*)-\\d[^\\s]*.{0,200} in (?:any of the sources|locally installed gems)|module ${name}['"]? (?:is )?not (?:found|installed)|(?:^["'\`]?|["'\`])${name} is not installed|Failed to resolve entry for package ${name}`, "i"),
    "no module named|cannot find|resolve|library not found|cannot load such file|no package called|no required module|could not find|module|not installed"],
  ["permission",
    /^((?:\.{0,2}\/)?[\w./@+-]{1,80}): permission denied\.?$|^permission denied: (\S{1,80})$/i,
    "permission denied"],
  ["permission",
    /are too open|please run:? +\S+ (?:auth )?login|permission denied|operation not permitted|\bEACCES\b|\bEPERM\b|read-only file system|sandbox|access (?:is )?denied|not permitted|unauthorized|forbidden|not authenticated|not logged in|authentication (?:failed|required)/i,
    "too open|please run|permission|permitted|eacces|eperm|read-only|sandbox|access|unauthorized|forbidden|not authenticated|not logged in|authentication"],
  ["service",
    /ECONNREFUSED|connection refused|docker daemon|is (?:it|the server) running|\bis not running\b|could not connect|failed to connect|can't (?:reach|connect)|connection to .{1,80} was refused|no such container/i,
    "econnrefused|refused|docker daemon|running|could not connect|failed to connect|can't|no such container"],
  ["code",
    /unexpected EOF while|syntax error near unexpected|parse error near|unmatched ['"]|\b(?:SyntaxError|TypeError|ReferenceError|NameError|AttributeError|KeyError|ValueError|IndexError|IndentationError)\b|panicked at|^Traceback|undefined:|cannot find symbol|^Type error: |does not compile|build failed|compilation (?:failed|error)|Invalid package\.json|^\S{1,200}\.[a-z]{1,5}:\d+(?::\d+)?: /i,
    "unexpected eof|error|unmatched|panicked|traceback|undefined:|cannot find symbol|does not compile|build failed|compilation|package.json|:"],
  ["missing-setting",
    /\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)["'`]?[^.]{0,30}\b(?:not set|not defined|required|missing|undefined|unset)\b|(?:[Ee]nvironment variable|[Ee]nv var|[Ss]etting)s?:? ["'`]?([A-Z][A-Z0-9]*_[A-Z0-9_]+)/,
    "_"],
  ["missing-setting",
    /environment variables?\b(?! loaded)|(?:is|are|was) not set|is required|missing (?:required )?(?:env|environment|key|token|credential|secret|config)|api key|credentials?/i,
    "environment variable|not set|is required|missing|api key|credential"],
  ["missing-file",
    /no such file or directory|ENOENT|(?:file|path|directory|folder)\b.{0,80}(?:does not exist|not found)|\/\S+ does not exist|cannot find the (?:file|path)|no files? (?:matching|found)/i,
    "no such file|enoent|does not exist|not found|cannot find the|no file"],
];

const hinted = causes.map(([cause, pattern, hints]) => ({ cause, pattern, hints: hints.split("|") }));

/** The words of the shell or the program, without those it was given. */
export function withoutOperands(line: string): string {
  const match = causes.find(([cause]) => cause === "shell-dialect")?.[1].exec(line);
  return match == null ? line : line.slice(0, match.index + match[0].length).replace(/"[^"]*"|'[^']*'/g, "…");
}

/** The error without what is used volatilePatterns: homes, temporary folders, times, hashes, versions, counts. */
export function makeSignature(line: string): string {
  let text = line.slice(0, 300);
  // What one replacement leaves may be what another looks for.
  for (let pass = 0; pass < 4; pass++) {
    const before = text;
    text = replaceVolatile(text);
    if (text === before) break;
  }
  return text;
}

function replaceVolatile(line: string): string {
  let text = line;
  // A pattern costs more to prepare than to try, and most have nothing to do with a line.
  for (const [pattern, by, needs, also] of volatilePatterns) {
    if ((needs && !hasSign(text, needs)) || (also && !hasSign(text, also))) continue;
    text = typeof by === "string" ? text.replace(pattern, by) : text.replace(pattern, by);
  }
  return text.trim();
}

/** One of several texts, or what a pattern that is quickly prepared finds. */
type Signs = readonly string[] | RegExp;

type Replacement = readonly [RegExp, string | Parameters<string["replace"]>[1], Signs?, Signs?];

/** Whether a text has one of some signs. */
function hasSign(text: string, signs: Signs): boolean {
  return signs instanceof RegExp ? signs.test(text) : signs.some((sign) => text.includes(sign));
}

const digit = "0123456789".split("");

/** Pattern, replacement, and signs: a line must have one of each list before the pattern is tried. */
// biome-ignore format: a table reads better in rows
const volatilePatterns: readonly Replacement[] = [
  [/^(?:(?:npm |remote: )?(?:[Ee]rror|ERROR|[Ff]atal|FATAL|[Ee]rr!?|ERR!?)(?::\s*|\s+|$))+(?:\([a-z]+(?:\.[\w-]+)+\) )?/, "", ["rror", "ROR", "atal", "ATAL", "rr", "RR"]],
  [/\d{4}-\d\d-\d\d(?:[T_ ]\d\d[:_]\d\d(?:[:_]\d\d)?(?:[.,_]\d+)?)?(?:Z|[+-]\d\d:?\d\d| UTC)?/g, "N", ["-"], digit],
  [/(?<![\w:])\d{1,2}:\d\d:\d\d(?:[.,]\d+)?/g, "N", [":"], digit],
  [/\b(?:sha\d+[:-])?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\bsha(?:256|512)[:-][\w+/=]{20,}/gi, "…", ["-", "256", "512"]],
  [/-[a-z0-9]{8,10}-[a-z0-9]{5}\b/g, (end: string) => (/\d/.test(end) ? "-…" : end), ["-"], digit],
  // A name with an id in brackets is made up for the moment.
  [/[^\s()]{1,80} \([0-9a-f]{12,64}\)/g, "…", ["("]],
  [/\b(?=[a-f]*\d)[0-9a-f]{7,64}\b/g, "…", digit],
  [/\b(?=(?:[A-Za-z]+\d+){3}|(?:\d+[A-Za-z]+){3})[A-Za-z0-9]{8,64}\b/g, "…", /\d[A-Za-z]+\d/],
  [/\b[a-z+]{2,12}:\/\/([^\s/"'`<>()]*)([^\s"'`<>()]*)/gi, (_: string, host: string, path: string) => shortenUrl(host, path), ["://"]],
  [/(?<![\w.…/\\@:-])(?:[A-Za-z]:|~)?(?:[\\/][\w.@+~…%-]+)+[\\/]?/g, (path: string) => shortenPath(path), ["/", "\\"]],
  [/(?<![\w.])\.\/(?=\w)/g, "", ["./"]],
  [/[\w.+-]{1,64}@(?=[a-z][\w-]*\.[a-z]|\d+\.\d+\.\d+\.\d+)/gi, "…@", ["@"]],
  [/(?<![\w:])\[?::1\]?(?=:\d{2,5}\b|[^\w:]|$)|\b(?:127\.0\.0\.1|0\.0\.0\.0)\b/g, "localhost", ["::1", "127.0.0.1", "0.0.0.0"]],
  [/(?<![\w:]):::(?=\d)/g, "localhost:", [":::"]],
  [/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)/g, "host", ["."], digit],
  [/\b((?:repository|project|workspace) at )['"`]?…[^\s'"`]*['"`]?/gi, "$1…", ["…"]],
  [/\b([Oo]verwritten by )\w+:?.*/g, "$1…", ["verwritten by "]],
  [/\b([Cc]urrent branch )['"]?[^\s'"]+['"]?/g, "$1…", ["urrent branch "]],
  [/(?<![\w.])(?:\d+(?:\.\d+)? ?(?:ms|secs?|seconds?|s|min|minutes?|[KMG]i?B)\b ?)+(?=\W|$)/g, "N ", /\d ?[msKMG]/],
  [/(?<![\w.])v?\d+(?:\.\d+)+(?:-(?:alpha|beta|rc|next|canary)[\w.]*)?/g, "N", ["."], digit],
  // The number of an error tells it from others, as do a status and the port of a service; other numbers are of the moment.
  [/(?<![A-Za-z\d])\d+/g, (digits: string, at: number, all: string) => (isMeaningfulNumber(digits, all, at) ? digits : "N"), digit],
  [/\bN(?:, N)+\b/g, "N", ["N, N"]],
  [/\s+/g, " "],
  [/[\s.:;,]+$/, ""],
];

/** An address by its host and the last thing it names. */
function shortenUrl(host: string, path: string): string {
  if (host === "") return shortenPath(path);
  const parts = path.split(/[?#]/)[0]?.split("/") ?? [];
  const last = parts.findLast((part) => part !== "");
  return last === undefined ? `//${host}` : `//${host}/${last}`;
}

/** A path from the folder that every copy of it has; what lies above is of one machine. */
function shortenPath(path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== "");
  if (systems.has(parts[0] ?? "") && parts.length > 1) return path;
  const library = parts.findLastIndex((part) => part === "node_modules" || part === "site-packages");
  const root = library >= 0 ? library : parts.findIndex((part) => roots.has(part));
  const kept = root > 0 || library === 0 ? parts.slice(root) : parts.slice(-1);
  return kept.length === 0 ? path : `…/${kept.map((part) => (random.test(part) ? "…" : part)).join("/")}`;
}

const systems = wordSet("etc usr opt dev proc sys bin sbin");
const roots = wordSet(
  "src lib app apps packages crates cmd internal pkg test tests spec e2e docs scripts config bin migrations",
);
const random = /^tmp[\w.-]*\d|^tmp\.|[A-Za-z]\d[A-Za-z]+\d|^\d+$/;

/** Whether a number is part of what is wrong: a status, or the port at which a service is known. */
function isMeaningfulNumber(digits: string, line: string, at: number): boolean {
  const before = line.slice(Math.max(0, at - 30), at);
  if (portFollows.test(before)) return digits.length <= 5 && Number(digits) < firstEphemeral;
  return digits.length === 3 && statusFollows.test(before);
}

const portFollows = /(?:\bport |\b(?:localhost|host):|\/\/[\w.-]{1,28}:)$/i;
const statusFollows = /(?:\bHTTP(?:\/[\dN.]+)?|\bstatus(?: code)?|returned error)[ :=]*$/i;
/** From here on systems hand out ports by themselves. */
const firstEphemeral = 32_768;
