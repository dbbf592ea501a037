import { complains, parseCommand, readSymptom } from "../failures/index.ts";
import { areContrary } from "../lessons/index.ts";
import { type Cause, type Event, isPersons } from "../records/index.ts";
import { extractTerms, stemWord } from "../text/index.ts";
import { compareEvents, type InstructionLine } from "./dossier.ts";
import type { JudgedLesson } from "./question.ts";

/** Facts about a lesson that the record itself shows, whatever the judge says. */
export interface RecordedFacts {
  /** A call of the agent failed on it. */
  readonly failed: boolean;
  /** The next calls put it right. */
  readonly isSlip: boolean;
  /** Only the agent's own tools refused: a file that was not read yet, a text that is not in it. */
  readonly isMisuse: boolean;
  /** The output of the failure names what the lesson says to do. */
  readonly isTold: boolean;
  /** The file with a line that says it already. */
  readonly writtenIn: string | null;
}

/** What a judge was shown. */
interface Material {
  readonly shown: ReadonlyMap<string, Event>;
  readonly instructions: readonly InstructionLine[];
}

export function readRecordedFacts(
  said: Pick<JudgedLesson, "lesson" | "do">,
  evidence: readonly Event[],
  { shown, instructions }: Material,
): RecordedFacts {
  const failures = evidence.filter((event) => event.kind === "call" && isFailing(event));
  const line = instructions.find((one) => saysAlready(one.line, said.lesson));
  return {
    failed: failures.length > 0,
    isSlip: isPutRightAtOnce(failures, [...shown.values()]),
    isMisuse: failures.length > 0 && !evidence.some(isPersons) && failures.every(isMisused),
    isTold: failures.some(({ text }) => tellsCure(text, said.do)),
    writtenIn: line?.file ?? null,
  };
}

/** Whether a call failed, by its outcome, or by its output where a pipe hides that. */
export function isFailing({ outcome, text }: Event): boolean {
  return outcome === "failed" || outcome === "rejected" || complains(text);
}

/** Calls after a failure within which another call of the same program puts a slip right. */
const callsToRight = 2;

function isPutRightAtOnce([failed, ...more]: readonly Event[], shown: readonly Event[]): boolean {
  if (failed?.command == null || more.length > 0 || !wrongUsage.test(failed.text)) return false;
  const programs = listPrograms(failed.command);
  const calls = shown.filter((event) => event.kind === "call" && compareEvents(event, failed) > 0);
  return calls
    .slice(0, callsToRight)
    .some(
      ({ outcome, command }) =>
        outcome === "ok" && command !== null && [...listPrograms(command)].some((name) => programs.has(name)),
    );
}

/** The call was written wrong: a flag or an argument that the program does not have, a quote that is missing. */
const wrongUsage =
  /(?:unknown|unexpected|unrecognized|invalid|no such) (?:\w+ )?(?:flag|option|argument|command|subcommand|json field|token)|no matches found|unmatched ["'`]|^usage:/im;

function listPrograms(command: string): Set<string> {
  return new Set(parseCommand(command).flatMap(({ name }) => (name === "cd" || name === "" ? [] : name)));
}

/** Failures of an agent's own tools, which each agent knows, and of a path that a tool for files did not find. */
const misuses = new Set<Cause>(["tool-misuse", "missing-file"]);

function isMisused({ command, tool, text, exitCode, files }: Event): boolean {
  return (
    command === null && misuses.has(readSymptom(null, text, exitCode, { name: tool ?? "", files }).cause)
  );
}

/** Words of what to do, at least, that an output must have, all of them, to tell the cure. */
const leastTold = 2;

function tellsCure(output: string, action: string): boolean {
  const wanted = readStems(action);
  const told = readStems(output);
  return wanted.size >= leastTold && [...wanted].every((stem) => told.has(stem));
}

/** Words of a lesson, at least, and their share, that a line must have to say the same. */
const leastWritten = 4;
const writtenShare = 0.8;

/** Whether a line of an instruction file says a lesson already; not one that says the opposite. */
function saysAlready(line: string, lesson: string): boolean {
  const wanted = readStems(lesson);
  const written = readStems(line);
  const shared = [...wanted].filter((stem) => written.has(stem)).length;
  return wanted.size >= leastWritten && shared >= wanted.size * writtenShare && !areContrary(line, lesson);
}

function readStems(text: string): Set<string> {
  return new Set([...extractTerms(text)].map(stemWord));
}
