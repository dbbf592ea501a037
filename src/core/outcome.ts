import { causeOfLine } from "./cause.ts";
import { answersNo, type Run, runsOf } from "./command.ts";
import type { Outcome } from "./event.ts";
import { counted, failedTests } from "./failed-test.ts";
import { complains, tellingLines } from "./output.ts";
import { isLook, prints } from "./run.ts";

/** Ended by an interrupt or by kill. */
const stopped = new Set([130, 143]);

/**
 * What an exit code says about a command: non-zero is a failure, unless the command merely answered no, or was stopped
 * by the one who ran it.
 */
export function outcomeOfExit(command: string | null, exitCode: number, output: string): Outcome {
  if (exitCode === 0) return "ok";
  if (stopped.has(exitCode) && !/timed? ?out/i.test(output)) return "cancelled";
  return command !== null && answersNo(command, exitCode, output) ? "ok" : "failed";
}

/**
 * What an output alone says, where the agent tells no exit code. Only words that leave no doubt make a failure: a
 * program's complaint under its own name, or an output that ends as failures end. What is merely shown does not count.
 */
export function outcomeOfOutput(command: string | null, output: string): Outcome {
  if (!mayFail.test(output)) return "ok";
  if (command === null) return toolFault.test(output.slice(0, 300)) ? "failed" : "ok";
  const lines = tellingLines(output);
  const runs = runsOf(command);
  if (runs.some((run) => lines.some((line) => complainsAs(run, line)))) return "failed";
  if (runs.every((run) => isLook(run) || prints(run.name))) return "ok";
  return endsBadly(output, lines) ? "failed" : "ok";
}

/** What every output of a failure has one of: most outputs need no more than this look. */
const mayFail =
  /error|err!|exit status|exception|traceback|fatal|fail|not found|no such|cannot|can't|could not|unable|denied|refused|invalid|unknown|unrecogni[sz]ed|usage:|panic|fault|killed|abort|timed out/i;

/** How tools that are no shell begin to say that they did not do it. */
const toolFault =
  /^\s*(?:<tool_use_error>|(?:tool )?error\b(?: \w+){0,3}:|failed to |cannot |could not |unable to |Traceback \(most recent)/i;

/** `cat: x: No such file or directory`, `rg: command not found`. */
function complainsAs({ name, written }: Run, line: string): boolean {
  if (line.startsWith(`${name}: `) || line.startsWith(`${written}: `))
    return complains(line) || /\bno such\b/i.test(line);
  const found = line.includes(name) ? causeOfLine(line) : null;
  return found?.cause === "missing-program" && (found.about === name || found.about === written);
}

function endsBadly(output: string, lines: readonly string[]): boolean {
  const [first, last] = [lines[0] ?? "", lines.at(-1) ?? ""];
  if (fatal.test(first) || fatal.test(last) || badEnd.test(last)) return true;
  if (exception.test(last) && /^Traceback \(most recent/m.test(output)) return true;
  if (/^npm (?:ERR!|error) /m.test(output)) return true;
  return lines.some((line) => counted.test(line)) || failedTests(lines).size > 0;
}

const fatal =
  /^(?:fatal|error|panic)(?:\[\w+\])?: |^usage: |^make(?:\[\d+\])?: \*\*\* |^[\w./-]+: (?:fatal )?error: |\btimed out\b/i;
const badEnd =
  /^(?:FAIL(?:ED)?\b|Node\.js v\d|Segmentation fault|Killed$|Aborted\b|exit status [1-9]|command failed\b)/i;
const exception = /^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit)(?::|$)/;
