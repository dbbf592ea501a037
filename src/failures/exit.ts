import { eventChars } from "../records/index.ts";
import { baseName, wordSet } from "../text/index.ts";
import { findDeciders } from "./command.ts";
import type { Run } from "./run.ts";

/**
 * The outcome that an exit status tells by itself; null where it is 0, or the answer of a program that was asked
 * something. Apart from the rest of the outcome, because a hook has no time for more.
 */
export function readExit(
  command: string | null,
  exitCode: number,
  output: string,
): "failed" | "cancelled" | null {
  if (exitCode === 0) return null;
  if (interrupted.has(exitCode) && (command === null || !/timed? ?out/i.test(output))) return "cancelled";
  return command !== null && isAnswer(command, exitCode, output) ? null : "failed";
}

/** Ended by an interrupt or by kill. */
const interrupted = new Set([130, 143]);

/** Whether a command was cut when it was kept: what is left of it would say something else. */
export function isCut(command: string): boolean {
  return command.length >= eventChars;
}

function isAnswer(command: string, exitCode: number, output: string): boolean {
  // The reader of a pipe had enough.
  if (exitCode === 141) return /\|\s*(?:head|sed|grep|less|awk)\b/.test(command);
  return answersNo(command, exitCode, output);
}

/**
 * Whether a non-zero exit is an answer and not a failure: a search without a match, a comparison that found a
 * difference, a test that is false, checks still pending.
 */
function answersNo(command: string, exitCode: number, output: string): boolean {
  // Every answer below is 1, but for checks still pending (8) and a search run by xargs (123).
  if (exitCode !== 1 && exitCode !== 8 && exitCode !== 123) return false;
  if (isCut(command)) return false;
  // `cd missing && grep x` also ends with 1, before anything was asked.
  if (/(?:cd|pushd): /.test(output) && /^.{0,80}\b(cd|pushd): /m.test(output)) return false;
  const programs = findDeciders(command);
  const isFine = (program: Run) =>
    hardlyFails.has(program.name) || (program.isLook && !output.includes(`${program.name}: `));
  return (
    programs.some((program) => asks(program, exitCode)) &&
    programs.every((program) => asks(program, exitCode) || isFine(program))
  );
}

export const searches = wordSet("grep egrep fgrep zgrep rg ag ack pgrep diff cmp colordiff");
const tests = new Set(["test", "[", "[[", "which", "type", "command"]);
const hardlyFails = wordSet("cd pushd pwd echo printf export set true : sleep ls");

/** Whether a program answers with this status instead of failing. */
export function asks({ name, args }: Run, exitCode: number): boolean {
  if (name === "xargs") return exitCode !== 8 && args.some((arg) => searches.has(baseName(arg)));
  if (exitCode === 123) return false;
  if (exitCode === 8) return name === "gh" && args[0] === "pr" && args[1] === "checks";
  if (searches.has(name) || tests.has(name)) return true;
  const verb = args.find((arg) => !arg.startsWith("-"));
  if (name === "git") {
    const compares = args.includes("--exit-code") || args.includes("--quiet") || args.includes("--no-index");
    const verifies = args.includes("--verify") || args.includes("--is-ancestor") || verb === "show-ref";
    return verb === "grep" || verb === "check-ignore" || (verb === "diff" && compares) || verifies;
  }
  return ["npm", "pnpm", "yarn", "bun"].includes(name) && verb === "audit";
}

/** The line in which the shell itself says that it could not do something. */
export function findShellComplaint(output: string): string | null {
  if (!mayBeShell.test(output)) return null;
  return shellComplaint.exec(output)?.[0].trim() ?? null;
}

const mayBeShell = /sh: |sh:\d|\(eval\)|command not found|: line \d/;
const shellComplaint =
  /^(?:(?:\/(?:usr\/)?bin\/|-)?(?:zsh|bash|sh|dash|ksh)(?::\d+| ?: (?:line )?\d+)?: |\(eval\):\d+: |(?:\S+\.sh|environment|main): line \d+: )(?!warning: |.*: cannot set terminal|no job control|.*\bsetlocale).*(?:not found|no matches found|parse error|syntax error|[Uu]nmatched|unexpected|not permitted|denied|bad |no such|read-only|not a valid|event not found|[Nn]o such file|ambiguous|too long|is a directory|not set|unbound|cannot |can't |invalid).*$|^[\w./-]{1,60}: command not found$|^zsh: (?:command not found|no matches found): .*$/m;
