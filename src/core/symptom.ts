import { runsOf } from "./command.ts";
import { type Cause, complaintOf } from "./failure.ts";
import { culprit, type Failure } from "./link.ts";
import { filesIn, headOf, useOf } from "./run.ts";
import { wordsOf } from "./words.ts";

/** What a failure looks like to somebody who meets it again. */
export interface Symptom {
  /** What failed: the program with its verb, or the tool. */
  readonly head: string;
  readonly cause: Cause;
  /** The name that the error complains about. */
  readonly about: string | null;
  /** The error's most telling line, without what is used once. */
  readonly signature: string;
  /** What the call that failed had and a later one would have too, the program first; null for tools that are no shell. */
  readonly call: readonly string[] | null;
  /** The files it may not touch, for a call that was denied. */
  readonly files: readonly string[];
}

/** What a failed command looks like, from its words and what it printed. */
export function readSymptom(command: string | null, output: string, exitCode: number | null): Symptom {
  const complaint = complaintOf(output, exitCode);
  const run = command === null ? null : culprit(runsOf(command), complaint);
  const files = complaint.cause === "denied" ? [...filesIn(command ?? "")] : [];
  return { ...symptomOf({ complaint, run }, ""), files };
}

/** What a failure looks like; `tool` is what failed where that was no shell command. */
export function symptomOf(
  { complaint: { cause, about, signature }, run }: Pick<Failure, "complaint" | "run">,
  tool: string,
): Symptom {
  const head = run === null ? tool : headOf(run);
  return { head, cause, about, signature, call: run === null ? null : useOf(run), files: [] };
}

/** How sure one can be that two failures are the same trouble: 0 not at all, 1 as good as certain. */
export function likenessOf(a: Symptom, b: Symptom): number {
  if (a.cause !== b.cause || a.about !== b.about) return 0;
  if (a.cause === "denied") return a.files.some((file) => b.files.includes(file)) ? 1 : 0;
  const sameHead = a.head === b.head;
  // The name says everything: wherever `rg` is not found, it is the same `rg`.
  if (a.about !== null && namesAll.has(a.cause)) return sameHead || a.cause !== "missing-module" ? 1 : 0.7;
  if (ofTheWork.has(a.cause)) return a.about !== null && sameHead ? 0.9 : 0;
  if (a.signature !== b.signature) return a.about !== null && sameHead ? 0.8 : 0;
  if (!isTelling(a.signature)) return 0;
  return sameHead ? 1 : programOf(a) === programOf(b) ? 0.8 : 0.6;
}

const namesAll = new Set<Cause>(["missing-program", "unknown-name", "missing-module"]);
/** What is wrong with the work differs each time, though it is said in the same words. */
const ofTheWork = new Set<Cause>(["failing-test", "lint", "code"]);

/** Whether an error says something of its own: "failed", "exit code N" and "N failing" do not. */
function isTelling(signature: string): boolean {
  return new Set(wordsOf(signature).filter((word) => word.length > 1 && !hollow.has(word))).size >= 2;
}

const hollow = new Set(
  (
    "a an and are at be by can cannot could did do error errors exit exited code status failed failing failure fails for from in " +
    "is it no not of on or reason given the this to was with line command process returned non-zero test tests"
  ).split(" "),
);

function programOf({ call, head }: Symptom): string {
  return call?.[0] ?? head;
}
