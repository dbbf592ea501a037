import { type Cause, neverStarted } from "./cause.ts";
import type { Recovery } from "./recovery.ts";
import { headOf } from "./run.ts";

/** The agent finds that the failure is not of its making, and goes around it instead of editing until it is quiet. */
export function isForeign(recovery: Recovery): boolean {
  if (neverStarted(recovery.complaint.cause) || standing.has(recovery.complaint.cause)) return false;
  if (!recovery.judgement.some(({ text }) => saysUnrelated(text))) return false;
  const goesAround = recovery.remedy === "program" || recovery.remedy === "wrapper";
  return isAboutTests(recovery) || (goesAround && recovery.between.edits === 0);
}

const standing = new Set<Cause>(["denied", "permission", "missing-program", "state", "transient"]);

/** A test run that failed: the one kind of check whose failure may come from outside the change. */
function isAboutTests({ run, complaint }: Recovery): boolean {
  if (run === null || complaint.cause === "lint") return false;
  return /test|jest|mocha|spec|tox|rspec/i.test(headOf(run)) || complaint.cause === "failing-test";
}

/** Whether a text says that something is not of the speaker's making. */
export function saysUnrelated(text: string): boolean {
  return unrelated.test(text.slice(0, 600));
}

const unrelated =
  /fail\w* (?:are|is|come|comes|seem).{0,60}\b(?:external|third-party|another|other)\b|pre-?existing|unrelated|not (?:related|caused)|outside (?:of )?(?:this|the|my|our) change|\bflak(?:y|e|es|iness)\b|\bexisting\b.{0,60}(?:timeout|failure|flake|error)|already (?:broken|fail)|与.{0,12}无关|已经?存在的/i;
