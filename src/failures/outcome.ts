import type { Outcome } from "../records/index.ts";
import { wordSet } from "../text/index.ts";
import { findSpoiledText } from "./call-words.ts";
import { parseCommand } from "./command.ts";
import { findCause } from "./error-line.ts";
import { complains, readLines } from "./error-text.ts";
import { asks, findShellComplaint, isCut, readExit, searches } from "./exit.ts";
import type { Run } from "./run.ts";
import { tellsError, tellsFailure, tellsSuccess, tellsSummary } from "./summaries.ts";

/**
 * The outcome of a call, by its exit code and its output. Where a pipe or a later command decides the exit code, the
 * output is asked; where that does not tell either, the outcome is `masked`.
 */
export function readOutcome(command: string | null, exitCode: number | null, printed: string): Outcome {
  const output = nothingPrinted.test(printed) ? "" : printed.replace(resetNote, "");
  if (command === null) return readToolOutcome(exitCode, output);
  const told = exitCode === null ? null : readExit(command, exitCode, output);
  if (told !== null) return told;
  // Most calls end here: nothing hides their exit code, and they complain of nothing.
  if (exitCode !== null && !mayHide.test(command) && !mayFail.test(output)) return "ok";
  return judgeCall(command, exitCode, output);
}

/** How agents say that there is nothing to show. */
const nothingPrinted =
  /^\s*\(?(?:Bash completed with no output|no output|Tool ran without output[^\n]*)\)?\s*$/i;

const resetNote = /(?:^|\n)(?:Shell cwd was reset to|Session cwd remains) [^\n]*\s*$/;

function readToolOutcome(exitCode: number | null, output: string): Outcome {
  if (exitCode === null) return toolFault.test(output.slice(0, 300)) ? "failed" : "ok";
  return readExit(null, exitCode, output) ?? "ok";
}

/** How tools that are no shell begin to say that they did not do it. */
const toolFault =
  /^\s*(?:<tool_use_error>|(?:tool )?error\b(?: \w+){0,3}:|failed to |cannot |could not |unable to |Traceback \(most recent)/i;

/** Every command in which a part can fail without the exit code showing it has one of these. */
const mayHide = /[|;\n]|&(?!&)(?!>)(?!\d)|\bset \+e|\bif\b|\bwhile\b|\bfor\b|-l?c /;

/** Every output of a failure has one of these; most outputs need no further check. */
const mayFail =
  /error|err!|exit status|exit code|exited|exception|traceback|fatal|fail|no tests?|not found|no such|cannot|can't|could not|unable|denied|refused|rejected|conflict|invalid|unknown|unrecogni[sz]ed|unexpected|usage:|panic|fault|killed|abort|timed out|no matches|unmatched|\(eval\)|sh:\d|sh: line|no projects|no staged|not permitted|in the background|in background|✗|✘|✕|❌|✖|would reformat|not ok/i;

// --- What the parts of a command tell ---

type Verdict = "ok" | "failed" | "masked";

/** The output of a call, as its parts are judged by it. */
interface Shown {
  readonly runs: readonly Run[];
  readonly lines: readonly string[];
  /** The lines that no `echo` of the command printed. */
  readonly own: readonly string[];
  /** Those of them that stand between the prints before and after a part, where its errors need not be. */
  readonly section: readonly string[];
  readonly text: string;
  /** Something in the call prints what others wrote, also their complaints. */
  readonly quotes: boolean;
  readonly exitCode: number | null;
  readonly blames: (run: Run, line: string) => boolean;
}

function judgeCall(command: string, exitCode: number | null, output: string): Verdict {
  if (
    /^Command (?:running in background with ID|did not complete within .{1,40} moved to the background)/.test(
      output,
    )
  )
    return "masked";
  if ((exitCode ?? 0) === 0 && tellsExit(output, exitCode)) return "failed";
  const script = isCut(command) ? dropHereDocuments(command) : command;
  if (isCut(script)) return findShellComplaint(output) === null ? "masked" : "failed";
  const runs = parseCommand(script);
  const complaint = findShellComplaint(output);
  if (complaint !== null && !isUnmatchedProbe(complaint, runs)) return "failed";
  if (findSpoiledText(script, output) !== null) return "failed";
  const shown = readShown(runs, exitCode, output);
  const sections = splitByPrints(runs, shown.lines);
  const isIn = (at: number, line: string) => sections[at]?.includes(line) === true;
  // Of several runs of a program, a complaint belongs to one in whose part of the output it stands.
  const blames = (run: Run, line: string) =>
    isIn(runs.indexOf(run), line) || !runs.some((other, at) => other.name === run.name && isIn(at, line));
  const verdicts = runs.map((run, at) =>
    judgeRun(run, { ...shown, blames, section: sections[at] ?? shown.own }),
  );
  if (verdicts.includes("failed")) return "failed";
  return verdicts.includes("masked") ? "masked" : "ok";
}

/** Whether a wrapper says that what it ran ended with another status than 0. */
function tellsExit(output: string, exitCode: number | null): boolean {
  if (/^(?:Error: )?Exit code:? [1-9]\d*\s*$/im.test(output.slice(0, 40))) return true;
  return exitCode === null && /^exit(?:[ _]?code)?[=:] ?[1-9]\d*\s*$|^\{"exit_code":[1-9]/im.test(output);
}

/** `ls x* 2>/dev/null` asks whether there is one; that the shell finds none is the answer. */
function isUnmatchedProbe(complaint: string, runs: readonly Run[]): boolean {
  const glob = /no matches found: (.*)/.exec(complaint)?.[1];
  if (glob === undefined) return false;
  const end = glob.slice(glob.lastIndexOf("/") + 1);
  return runs.some(
    ({ name, args, traces }) =>
      name === "ls" &&
      (traces.errors !== "shown" || traces.isForgiven) &&
      // Where one of several finds nothing, none of them is listed.
      args.filter((arg) => !arg.startsWith("-")).length === 1 &&
      args.some((arg) => arg.endsWith(end)),
  );
}

/** A long command is mostly a text that it hands to a program. */
function dropHereDocuments(command: string): string {
  return command.replace(/(<<-?\s*(['"]?)(\w+)\2[^\n]*\n)[\s\S]*?\n\s*\3(?=\s|$)/g, "$1$3");
}

function readShown(runs: readonly Run[], exitCode: number | null, output: string): Shown {
  const lines = readLines(output);
  const printed = runs.flatMap((run) => (run.onlyPrints ? run.args.join(" ").split(/\\n|\n/) : []));
  const said = new Set(printed.map((line) => line.trim()));
  const own = lines.filter((line) => !said.has(line) && !/^[=\-#*─━═]{3,}$/.test(line));
  const quotes = runs.some((run) => !run.isFilter && run.traces.output === "shown" && showsText(run));
  return { runs, lines, own, section: own, text: output, quotes, exitCode, blames: () => true };
}

/** For each run the lines between what is printed before and after it: `a; echo ---; b`. */
function splitByPrints(runs: readonly Run[], lines: readonly string[]): (readonly string[])[] {
  const sections: (readonly string[])[] = runs.map(() => []);
  let [from, first] = [0, 0];
  const close = (to: number, until: number) => {
    for (let at = first; at < until; at++) sections[at] = lines.slice(from, to);
  };
  runs.forEach((run, at) => {
    const said = run.onlyPrints ? run.args.join(" ").trim() : "";
    const found = said === "" ? -1 : lines.indexOf(said, from);
    if (found < 0) return;
    close(found, at);
    [from, first] = [found + 1, at];
  });
  close(lines.length, runs.length);
  return sections;
}

/** Programs that print files, pages or logs of others. */
function showsText({ name, args }: Run): boolean {
  if (name === "gh") return args.some((arg) => /^(?:view|list|api|diff|checks|status)$/.test(arg));
  if (name === "git")
    return /^(?:show|log|diff|blame|grep)$/.test(args.find((arg) => !arg.startsWith("-")) ?? "");
  if (name === "docker" || name === "podman" || name === "kubectl")
    return args.some((arg) => /^(?:logs|exec|run|inspect|describe|get|ps|images)$/.test(arg));
  return showers.has(name);
}

const showers = wordSet(
  "cat bat head tail sed awk grep egrep fgrep rg ag nl less more jq strings xxd curl wget journalctl tmux psql sqlite3",
);

function judgeRun(run: Run, shown: Shown): Verdict {
  if (run.onlyPrints) return "ok";
  const told = readTold(run, shown);
  if (told === "failed" && (asks(run, 1) || isAnswerOf(run))) return hidesReason(run) ? "masked" : "ok";
  if (told !== null) return told;
  if (complainsHere(run, shown)) return isAnswerOf(run) || isProbe(run) ? "ok" : "failed";
  if (printsUsage(run, shown)) return "failed";
  if (run.isFilter && filters.has(run.name)) return "ok";
  if (!run.isHidden) return judgeDecider(run, shown);
  return run.isLook || run.traces.isCondition || asks(run, 1)
    ? judgeLook(run, shown)
    : judgeHidden(run, shown);
}

/** Programs that change a text on its way. */
const filters = wordSet(
  "grep egrep fgrep zgrep rg ag head tail sed awk sort uniq wc cut tr jq yq tee cat bat nl column less more fold rev tac paste comm xxd od strings base64 ts xargs fmt perl",
);

/** The command's own report on a part: its exit status, or words that follow only on success or failure. */
function readTold({ traces }: Run, { lines, text }: Shown): Verdict | null {
  const { toldExit, whenWorked, whenFailed } = traces;
  const status = toldExit === null ? undefined : readStatus(toldExit.slice(toldExit.indexOf(":") + 1), text);
  if (status !== undefined) return status === 0 ? "ok" : "failed";
  if (whenFailed !== null && hasLine(lines, whenFailed)) return "failed";
  if (whenWorked !== null && hasLine(lines, whenWorked)) return "ok";
  // The words would be there if it had failed, unless something went through a filter.
  return whenFailed !== null && traces.filters.length === 0 && text !== "" ? "ok" : null;
}

/** The number that follows these words in an output. */
function readStatus(words: string, text: string): number | undefined {
  const before = words.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = `${before === "" ? "^" : before}\\s*(\\d{1,3})\\b(?: *\\((?:want|expect\\w*):? *(\\d+)\\))?`;
  const [, status, wanted] = [...text.matchAll(new RegExp(pattern, "gm"))].at(-1) ?? [];
  return status === undefined ? undefined : Number(status) - Number(wanted ?? 0);
}

function hasLine(lines: readonly string[], words: string): boolean {
  return lines.some((line) => line.includes(words));
}

/** A part that only looks, and something is done if there is nothing to see. */
function isAnswerOf({ isLook, traces: { isForgiven, isCondition } }: Run): boolean {
  return isLook && (isForgiven || isCondition);
}

/** `ls x 2>&1` asks whether it is there. */
function isProbe(run: Run): boolean {
  const { name, traces } = run;
  const isAsked = /^(?:ls|stat|file|which|type)$/.test(name) || (name === "git" && asks(run, 1));
  const isWhole = traces.filters.every((filter) => filter.name === "head" || filter.name === "tail");
  return isAsked && traces.errors === "merged" && isWhole;
}

/** Whether a search that found nothing may not have searched at all. */
function hidesReason({ name, traces }: Run): boolean {
  return traces.errors === "lost" && /^(?:[efz]?grep|rg|ag|ack|find|fd)$/.test(name);
}

/** `cat: x: No such file or directory`, `rg: command not found`; of Git, `fatal: …`. */
function complainsHere(run: Run, { lines, text, blames }: Shown): boolean {
  if (run.args.includes("commit") && lines.some((line) => committed.test(line))) return false;
  // A look at a file shows lines that begin as complaints do, further in or among others.
  const isFlush = (line: string) =>
    text.startsWith(line) || text.includes(`\n${line}`) || text.includes(`sh: ${line}`);
  const heard = run.name === "git" && run.isLook ? [...lines.slice(0, 1), ...lines.slice(-1)] : lines;
  return heard.some(
    (line) =>
      complainsUnderName(run, line) &&
      !isPartial(run, line) &&
      isFlush(line.slice(0, 200)) &&
      blames(run, line),
  );
}

function complainsUnderName({ name, written, args }: Run, line: string): boolean {
  if (line.startsWith(`${name}: `) || line.startsWith(`${written}: `))
    return (
      complains(line) ||
      /\bno such\b|usage:|illegal|unrecogni|bad |invalid|not permitted|requires|unexpected/i.test(line)
    );
  if (name === "git" || args.includes("git"))
    return gitComplaint.test(line) || (args.includes("commit") && nothingCommitted.test(line));
  // Most lines that name a program complain of nothing; looking for a cause costs many times more.
  const found = line.includes(name) && lacksSomething.test(line) ? findCause(line) : null;
  return found?.cause === "missing-program" && (found.about === name || found.about === written);
}

/** What every line that says that a program is missing has one of. */
const lacksSomething =
  /not found|not be found|executable|no such file|failed to spawn|enoent|not recognized/i;

const gitComplaint = /^(?:fatal|error): |^CONFLICT \(|^! \[(?:remote )?rejected\]|^Automatic merge failed/;

const committed = /^\[\S+ (?:\(root-commit\) )?[0-9a-f]{7,}\] /;
const nothingCommitted = /^(?:nothing to commit|no changes added to commit|nothing added to commit)/;

/** A search goes on after a folder that it may not enter. */
function isPartial({ name }: Run, line: string): boolean {
  return /^(?:find|du|rg|grep|fd|ls|tree)$/.test(name) && /permission denied|not permitted/i.test(line);
}

/** A program that prints how it is called, and was not asked to, did nothing. */
function printsUsage(run: Run, { own, section }: Shown): boolean {
  if (run.isQuestion || run.isFilter || run.args.length === 0) return false;
  if (usageError.test(own[0] ?? "")) return true;
  if (/^(?:cat|sed|nl|rg|grep|git|gh|curl|head|tail)$/.test(run.name)) return false;
  const at = section.findIndex((line) => /^usage:/i.test(line));
  const named = new RegExp(`^(?:usage:)? *${run.name.replace(/[^\w-]/g, "\\$&")} `, "i");
  const isOwn = section.some((line) => named.test(line));
  return (
    isOwn &&
    (at === 0 ||
      section.some((line) => /^(?:available |sub|examples|flags)*(?:commands|examples|flags):$/i.test(line)))
  );
}

const usageError =
  /^(?:error: )?(?:unknown|unrecogni[sz]ed|unexpected|invalid) (?:option|flag|argument|command|subcommand|shorthand flag)s?\b/i;

/** A part whose exit code is the call's; without one, its output decides. */
function judgeDecider(run: Run, shown: Shown): Verdict {
  if (run.isLook) return "ok";
  const { exitCode, own, text } = shown;
  if (exitCode !== null) return leavesNoDoubt(run, shown) ? "failed" : "ok";
  if (findsTrouble(run, shown)) return "failed";
  return own.length === 0 && text.trim() === "" && !isQuiet(run) && !tellsSuccess(own) ? "masked" : "ok";
}

/** Whether an output says that nothing came of it though the exit code is 0, as of a wrapper that passes none on. */
function leavesNoDoubt(run: Run, { quotes, own }: Shown): boolean {
  if (quotes) return false;
  return (
    /^(?:error|fatal): /.test(own[0] ?? "") ||
    [...own.slice(0, 3), ...own.slice(-3)].some((line) => noDoubt.test(line)) ||
    (isChecker(run) && own.some((line) => failedCheck.test(line)))
  );
}

const noDoubt = /^FAILED: |^husky - .*(?:failed|exited)|ELIFECYCLE|^error: script |^npm (?:ERR!|error) code/;
const failedCheck =
  /^No test files? found|^No tests? found|^(?:Tests?|Test Files|Test Suites):? +[1-9]\d* failed|^=+ .*\b[1-9]\d* failed|^[1-9]\d* failing|^test result: FAILED|^--- FAIL: |^Some errors were emitted/;

/** Whether an output has the words of a failure of this run; a summary stands above what was logged on the way. */
function findsTrouble(run: Run, { own, quotes }: Shown): boolean {
  const lines = passFilters(run, own);
  const isCheck = isChecker(run);
  if (tellsFailure(quotes ? lines.filter((line) => certain.test(line)) : lines, isCheck)) return true;
  if (quotes || (isCheck && tellsSummary(lines))) return false;
  const [first, last] = [lines[0] ?? "", lines.at(-1) ?? ""];
  if (
    (!testing.test(run.head) && tellsError(lines)) ||
    fatalLine.test(first) ||
    fatalLine.test(last) ||
    exceptionLine.test(last)
  )
    return true;
  return lines.length <= 3 && soleComplaint.test(first);
}

/** Tests log the errors that they provoke. */
const testing = /\b(?:tests?|vitest|jest|mocha|pytest|rspec|phpunit|coverage)\b/;

/** Complaints that hardly any text shown by others begins a line with. */
const certain =
  /^(?:fatal: |psql:.*\bERROR: |(?:Parse e|E)rror: (?:in prepare|near line|stepping)|npm (?:ERR!|error) |make(?:\[\d+\])?: \*\*\* |error: script |Test Files |Tests:? +\d|=+ .*(?:passed|failed))|ELIFECYCLE|error TS\d+: /;

const fatalLine =
  /^(?:fatal|error|panic)(?:\[\w+\])?: |^usage: |^make(?:\[\d+\])?: \*\*\* |^[\w./-]+: (?:fatal )?error: |\btimed out\b|^time(?:d )?out\b|^exit status [1-9]|^command failed\b/i;
const exceptionLine = /^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit)(?: \[\w+\])?(?::|$)/;

/** How a program that has nothing else to say begins to say that it could not do it. */
const soleComplaint =
  /^(?:\W{0,3}(?:error\b|failed to |cannot |can't |could not |couldn't |unable to |invalid |unknown |not logged in|not found|permission denied|access denied|.{0,40}\bblocked\b|.{3,60}: (?:not found|no such|permission denied)))/i;

/** The lines that the searches which a run's output goes through let pass. */
function passFilters({ traces }: Run, lines: readonly string[]): readonly string[] {
  return traces.filters.reduce((kept, filter) => {
    const sought = readSought(filter);
    return sought === null ? kept : kept.filter((line) => sought.test(line) || sought.test(` ${line}`));
  }, lines);
}

/** The pattern of a search that shows the lines it finds. */
function readSought({ name, args }: Run): RegExp | null {
  const pattern = findPattern(args);
  if (!searches.has(name) || pattern === undefined || args.some((arg) => /^-\w*[vc]/.test(arg))) return null;
  try {
    const source = pattern.replace(/\\\|/g, "|").replace(/\[\[:space:\]\]/g, "\\s");
    return new RegExp(source, args.some((arg) => /^-\w*i/.test(arg)) ? "i" : "");
  } catch {
    return null;
  }
}

function findPattern(args: readonly string[]): string | undefined {
  return args.find((arg, at) => !arg.startsWith("-") && !/^-[ABCmgt]$|^--\w+-?\w*$/.test(args[at - 1] ?? ""));
}

/** A hidden look shows what it should, or nothing at all. */
function judgeLook(run: Run, { text, section, own }: Shown): Verdict {
  const { traces } = run;
  if (traces.isCondition) return "ok";
  if (hidesReason(run)) return section.length > 0 ? "ok" : "masked";
  if (traces.isForgiven || text.trim() !== "") return "ok";
  return (traces.errors === "lost" || traces.output === "lost") && own.length === 0 ? "masked" : "ok";
}

/** A part that does something, and whose exit code nobody saw. */
function judgeHidden(run: Run, shown: Shown): Verdict {
  const { traces } = run;
  if (traces.inBackground) return isQuiet(run) ? "ok" : "masked";
  if (findsTrouble(run, shown)) return "failed";
  if (isChecker(run)) return judgeChecker(run, shown);
  // What may fail unseen before something else is done does not matter.
  if (traces.isForgiven && traces.errors === "lost" && shown.runs.filter(doesSomething).at(-1) !== run)
    return "ok";
  if (isQuiet(run)) return traces.errors === "lost" && !cleaners.has(run.name) ? "masked" : "ok";
  if (traces.output === "lost" && traces.errors !== "shown") return "masked";
  return judgePrinted(run, shown);
}

/** A part that complains where it fails: what it printed instead speaks for it. */
function judgePrinted(run: Run, { own, section, runs }: Shown): Verdict {
  const { traces } = run;
  if (tellsSuccess(section)) return "ok";
  const isSearched = traces.filters.some(({ name }) => searches.has(name));
  if (own.length === 0) return traces.errors === "shown" && isSearched ? "ok" : "masked";
  if (seesErrors(run) === "none") return runs.filter(doesSomething).length === 1 ? "ok" : "masked";
  return section.slice(0, 3).some((line) => soleComplaint.test(line)) ? "masked" : "ok";
}

function doesSomething(run: Run): boolean {
  return !run.isLook && !run.onlyPrints && !run.isFilter;
}

/** Whether a program says nothing unless it fails. */
function isQuiet(run: Run): boolean {
  return quiet.has(run.name) || quietVerbs.test(run.head);
}

const quiet = wordSet(
  "rm mkdir cp mv touch chmod chown ln kill pkill killall unset tee rmdir trap read umask shopt alias disown cat sed perl cd",
);
/** Programs that have nothing to do where what they should remove is not there. */
const cleaners = wordSet("rm rmdir kill pkill killall mkdir");
const quietVerbs =
  /^git (?:add|fetch|checkout|switch|branch|tag|config|rm|mv|reset|worktree|remote|push|stash|restore)$/;

// --- Checks ---

/** Whether a run is a check: tests, types, lint, a build. Its silence says little, its summary all. */
function isChecker(run: Run): boolean {
  const words = run.args.slice(0, 4).filter((arg) => !/\s/.test(arg));
  return !/^(?:git|gh|cp|mv|rm)$/.test(run.name) && checker.test([run.name, ...words].join(" "));
}

const checker =
  /(?:^|[\s/:])(?:tests?|test:\S+|vitest|jest|mocha|ava|pytest|unittest|tox|nox|rspec|phpunit|pest|ctest|playwright|cypress|tsc|vue-tsc|type-?check|types|pyright|mypy|lint\S*|eslint|oxlint|oxfmt|biome|ruff|flake8|pylint|black|isort|clippy|golangci-lint|staticcheck|rubocop|stylelint|shellcheck|prettier|fmt|format|check|analyze|vet|build|compile|bundle|mvn|mvnw|gradle|gradlew|make|cmake|ninja|cargo|dotnet|swift|xcodebuild|turbo|nx|verify|validate|ci|tsup|webpack|rollup|esbuild|py_compile|coverage|cov)(?=$|[\s:])/;

function judgeChecker(run: Run, { section: own, text }: Shown): Verdict {
  if (run.traces.output === "lost") return "masked";
  if (countsErrors(run)) {
    const count = /^\s*(\d+)\s*$/m.exec(text)?.[1] ?? "0";
    return count === "0" ? "masked" : "failed";
  }
  if (text.includes("<persisted-output>")) return "masked";
  const lines = passFilters(run, own);
  // Of several summaries a filter may have left out the one that matters.
  const isPicked = run.traces.filters.some(({ name }) => searches.has(name));
  if (tellsSummary(lines))
    return isPicked && lines.filter((line) => /^Test (?:Suites|Files)/.test(line)).length > 1
      ? "masked"
      : "ok";
  if (lines.length > 0 && lines.every((line) => /\bwarning\b/i.test(line))) return "ok";
  if (picksErrors(run) && lines.some((line) => errorPattern.test(line) && !/✓|✔|\bPASS\b|\|/.test(line)))
    return "failed";
  const isSilent = lines.every((line) => /^[>$] /.test(line));
  const isSeen = seesErrors(run) !== "some" && seesErrors(run) !== "none";
  return isSilent && isSeen && silent.test([run.name, ...run.args].join(" ")) ? "ok" : "masked";
}

/** Checkers that print nothing when all is well. */
const silent =
  /\b(?:tsc|vue-tsc|eslint|go build|go vet|gofmt|py_compile|shellcheck|flake8|stylelint|typecheck|type-check|node --check)\b/;

const errorPattern = /error|fail|✗|✘|TS\d|FAIL/i;

/** `tsc | grep -c error` */
function countsErrors({ traces: { filters: through } }: Run): boolean {
  const last = through.at(-1);
  const isCount =
    last?.name === "wc" || (searches.has(last?.name ?? "") && last?.args.some((arg) => /^-\w*c/.test(arg)));
  const isError = ({ name, args }: Run) =>
    searches.has(name) && args.some((arg) => errorPattern.test(arg) && !/warn|info/i.test(arg));
  return isCount === true && through.some(isError);
}

/** `tsc | grep error` */
function picksErrors({ traces: { filters: through } }: Run): boolean {
  return through.some(({ name, args }) => {
    const pattern = findPattern(args) ?? "";
    const isOther =
      /pass|success|ok\b|Tests|summary|warn|✓/i.test(pattern) || args.some((arg) => /^-\w*v/.test(arg));
    return searches.has(name) && errorPattern.test(pattern) && !isOther;
  });
}

/** How much of a program's errors the output shows. */
function seesErrors({ traces }: Run): "all" | "end" | "start" | "some" | "none" {
  if (traces.errors === "lost") return "none";
  let seen: "all" | "end" | "start" = "all";
  for (const { name, args } of traces.filters) {
    if (name === "tail") seen = "end";
    else if (name === "head") seen = "start";
    else if (!passesErrors(name, args)) return traces.errors === "shown" ? "all" : "some";
  }
  return seen;
}

function passesErrors(name: string, args: readonly string[]): boolean {
  if (name === "sed") return !args.includes("-n");
  if (searches.has(name))
    return (
      args.some((arg) => /^-\w*v/.test(arg)) && /^\W*(?:warn|info|note|debug)/i.test(findPattern(args) ?? "")
    );
  return wholes.has(name);
}

/** Filters that pass everything on. */
const wholes = wordSet("cat tee sort tr nl ts uniq column fold less more");
