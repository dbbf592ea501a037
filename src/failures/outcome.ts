import { eventChars, type Outcome } from "../records/index.ts";
import { baseName } from "../text/index.ts";
import { findCause } from "./cause.ts";
import { findDeciders, parseCommand } from "./command.ts";
import { complains, failureCount, findFailedTests, readErrorLines } from "./output.ts";
import type { Run } from "./run.ts";

/** The outcome of a call, by its exit code, or by its output where the agent records no exit code. */
export function readOutcome(command: string | null, exitCode: number | null, output: string): Outcome {
  if (exitCode === null) return readOutput(command, output);
  if (exitCode === 0) return "ok";
  if (interrupted.has(exitCode) && !/timed? ?out/i.test(output)) return "cancelled";
  return command !== null && answersNo(command, exitCode, output) ? "ok" : "failed";
}

/** Ended by an interrupt or by kill. */
const interrupted = new Set([130, 143]);

/** Whether a command was cut when it was kept: what is left of it would say something else. */
export function isCut(command: string): boolean {
  return command.length >= eventChars;
}

/**
 * Whether a non-zero exit is an answer and not a failure: a search without a match, a comparison that found a
 * difference, a test that is false, checks still pending.
 */
export function answersNo(command: string, exitCode: number, output: string): boolean {
  // Every answer below is 1, but for checks still pending (8) and a search run by xargs (123).
  if (exitCode !== 1 && exitCode !== 8 && exitCode !== 123) return false;
  if (isCut(command)) return false;
  // `cd missing && grep x` also ends with 1, before anything was asked.
  if (/(?:cd|pushd): /.test(output) && /^.{0,80}\b(cd|pushd): /m.test(output)) return false;
  const programs = findDeciders(command);
  return (
    programs.some((program) => asks(program, exitCode)) &&
    programs.every((program) => asks(program, exitCode) || hardlyFails.has(program.name))
  );
}

const searches = new Set("grep egrep fgrep zgrep rg ag ack pgrep diff cmp colordiff".split(" "));
const tests = new Set(["test", "[", "[[", "which", "type", "command"]);
const hardlyFails = new Set("cd pushd pwd echo printf export set true : sleep ls".split(" "));

function asks({ name, args }: Run, exitCode: number): boolean {
  if (name === "xargs") return exitCode !== 8 && args.some((arg) => searches.has(baseName(arg)));
  if (exitCode === 123) return false;
  if (exitCode === 8) return name === "gh" && args[0] === "pr" && args[1] === "checks";
  if (searches.has(name) || tests.has(name)) return true;
  const verb = args.find((arg) => !arg.startsWith("-"));
  if (name === "git") {
    const compares = args.includes("--exit-code") || args.includes("--quiet") || args.includes("--no-index");
    return verb === "grep" || verb === "check-ignore" || (verb === "diff" && compares);
  }
  return ["npm", "pnpm", "yarn", "bun"].includes(name) && verb === "audit";
}

// --- Where there is no exit code ---

/**
 * Only words that leave no doubt make a failure: a program's complaint under its own name, or an output that ends as
 * failures end. What is merely shown does not count.
 */
function readOutput(command: string | null, output: string): Outcome {
  if (!mayFail.test(output)) return "ok";
  if (command === null) return toolFault.test(output.slice(0, 300)) ? "failed" : "ok";
  const lines = readErrorLines(output);
  const runs = parseCommand(command);
  if (runs.some((run) => lines.some((line) => complainsUnderName(run, line)))) return "failed";
  if (runs.every((run) => run.isLook || run.onlyPrints)) return "ok";
  return endsBadly(output, lines) ? "failed" : "ok";
}

/** Every output of a failure has one of these; most outputs need no further check. */
const mayFail =
  /error|err!|exit status|exception|traceback|fatal|fail|not found|no such|cannot|can't|could not|unable|denied|refused|invalid|unknown|unrecogni[sz]ed|usage:|panic|fault|killed|abort|timed out/i;

/** How tools that are no shell begin to say that they did not do it. */
const toolFault =
  /^\s*(?:<tool_use_error>|(?:tool )?error\b(?: \w+){0,3}:|failed to |cannot |could not |unable to |Traceback \(most recent)/i;

/** `cat: x: No such file or directory`, `rg: command not found`. */
function complainsUnderName({ name, written }: Run, line: string): boolean {
  if (line.startsWith(`${name}: `) || line.startsWith(`${written}: `))
    return complains(line) || /\bno such\b/i.test(line);
  const found = line.includes(name) ? findCause(line) : null;
  return found?.cause === "missing-program" && (found.about === name || found.about === written);
}

function endsBadly(output: string, lines: readonly string[]): boolean {
  const [first, last] = [lines[0] ?? "", lines.at(-1) ?? ""];
  if (fatalLine.test(first) || fatalLine.test(last) || badEnd.test(last)) return true;
  if (exceptionLine.test(last) && /^Traceback \(most recent/m.test(output)) return true;
  if (/^npm (?:ERR!|error) /m.test(output)) return true;
  return lines.some((line) => failureCount.test(line)) || findFailedTests(lines).size > 0;
}

const fatalLine =
  /^(?:fatal|error|panic)(?:\[\w+\])?: |^usage: |^make(?:\[\d+\])?: \*\*\* |^[\w./-]+: (?:fatal )?error: |\btimed out\b/i;
const badEnd =
  /^(?:FAIL(?:ED)?\b|Node\.js v\d|Segmentation fault|Killed$|Aborted\b|exit status [1-9]|command failed\b)/i;
const exceptionLine = /^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit)(?::|$)/;
