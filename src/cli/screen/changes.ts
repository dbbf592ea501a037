import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type ChangeOutcome,
  listed,
  mainText,
  type NamedFile,
  type Plan,
  type PlannedChange,
  type PublishResult,
  parseSkill,
  type Suggestion,
  skillFile,
} from "../../library/index.ts";
import type { Artifact, Change, Reach } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import type { AnyCall } from "../command.ts";
import type { Screen } from "./screen.ts";
import { oneLine, textLines } from "./text.ts";

// --- What a plan would change, and what was changed ---

/** What a plan would write, and what to look out for; `whole` shows all of a new skill's text. */
export function describePlan(
  { steps, concerns, belongsTo }: Suggestion["plan"],
  screen: Screen,
  { whole = false } = {},
): string[] {
  return [
    ...steps.filter(isNews).flatMap((step) => previewStep(step, screen, whole).map((line) => `  ${line}`)),
    ...concerns.map(({ message, where }) => `  Warning: ${oneLine(message, 200)} (${where})`),
    ...(belongsTo === null
      ? []
      : [
          `  You have a skill about this: ${screen.path(belongsTo)}. Knack does not change it; the lesson is kept as a proposal.`,
        ]),
  ];
}

/** Whether a change is worth telling: a draft that makes room for its skill is not, a removed rule is. */
export function isNews({ change }: Pick<PlannedChange, "change">): boolean {
  return change.why !== "remove" || change.kind === "rule";
}

function previewStep({ change, files, diff }: PlannedChange, screen: Screen, whole: boolean): string[] {
  const file = screen.path(changedFile(change));
  if (change.kind === "rule" && change.after === null)
    return [
      `Would remove from ${file}, because you have said the opposite since:`,
      screen.dim(`  - ${oneLine(change.before ?? "", 320)}`),
    ];
  if (change.kind === "rule")
    return [`Would add to ${file}:`, screen.dim(`  - ${oneLine(change.after ?? "", 320)}`)];
  if (change.why === "update" || change.proposal) {
    const lines = diff.split("\n").filter((line) => /^[+-](?![+-])/.test(line));
    return [
      `${change.proposal ? "Would propose" : "Would add"} in ${file}:`,
      ...lines.slice(0, 6).map((line) => screen.dim(`  ${oneLine(line, 160)}`)),
      ...(lines.length > 6 ? [screen.dim(`  … ${lines.length - 6} more lines`)] : []),
    ];
  }
  const text = stepText({ files });
  const lines = whole ? textLines(text.trimEnd()) : [oneLine(parseSkill(text).skill?.description ?? "", 200)];
  return [`Would write ${file}:`, ...lines.map((line) => screen.dim(`  ${line}`))];
}

/** The text of the skill that a step writes. */
export function stepText({ files }: Pick<PlannedChange, "files">): string {
  return files ? mainText(files) : "";
}

/** The file that a change is about. */
export function changedFile({ kind, path }: Pick<Artifact, "kind" | "path">): string {
  return kind === "skill" ? `${path}/${skillFile}` : path;
}

export function describeReach(reach: Reach): string {
  return { draft: "draft", me: "only me", repository: "this repository", everywhere: "everywhere" }[reach];
}

/** What was done on disk, one line for each file. */
export function describeOutcomes(
  outcomes: readonly ChangeOutcome[],
  screen: Screen,
  indent = "  ",
): string[] {
  // Several rules may be in one file.
  return [...new Set(outcomes.map((outcome) => `${indent}${describeOutcome(outcome, screen)}`))];
}

function describeOutcome({ change, done, because }: ChangeOutcome, screen: Screen): string {
  const file = screen.path(changedFile(change));
  if (!done) return `not written: ${because}`;
  if (change.kind === "rule" && change.after === null) return `removed  a line from ${file}`;
  if (change.why === "archive") return `archived ${file}`;
  if (change.after === null) return `removed  ${file}`;
  const isIgnored = change.reach === "me" && change.before === null && existsSync(join(change.root, ".git"));
  const git = isIgnored ? " (kept out of git)" : "";
  if (change.kind === "rule") return `added    a line to ${file}${git}`;
  return `${change.before === null ? "wrote  " : "changed"}  ${file}${git}`;
}

/** A diff, in colour where there is colour. */
export function describeDiff(diff: string, screen: Screen): string[] {
  return textLines(diff.replace(/\n$/, "")).map((line) =>
    line.startsWith("-") ? screen.red(line) : /^(?:@@|---|\+\+\+)/.test(line) ? screen.dim(line) : line,
  );
}

/** All files of an imported package on one line, with those marked that can be run. */
export function describeFiles(files: readonly NamedFile[]): string {
  const names = files.map(({ path, executable }) => `${oneLine(path)}${executable ? " (executable)" : ""}`);
  return `${several(files.length, "file")}: ${names.join(", ")}`;
}

// --- As JSON ---

/** A file that was written, or would be. */
export function changeJson({ kind, name, path, reach, why, origin, proposal }: Change) {
  return { kind, name, path, reach, action: proposal ? "propose" : why, instinct: origin.id };
}

/** Whether everything that was to be written was. */
export function isComplete(keeping: PublishResult): boolean {
  return keeping.kept && keeping.outcomes.every(({ done }) => done);
}

/** The changes that were made. */
export function keepingJson(keeping: PublishResult) {
  return keeping.kept
    ? keeping.outcomes.filter(({ done }) => done).map(({ change }) => changeJson(change))
    : [];
}

// --- Plan, show, do ---

interface ChangeRequest {
  readonly plan: () => Promise<Plan>;
  readonly apply: () => Promise<PublishResult>;
  /** Printed when there is nothing to change; null where that counts as done. */
  readonly nothing: string | null;
  /** What to do about a refusal. */
  readonly hints?: (because: string) => readonly string[];
  /** What else to print when it is done. */
  readonly after?: (steps: readonly PlannedChange[]) => readonly string[];
  /** Whether to list all files by name, as is done for what somebody else wrote. */
  readonly listsFiles?: boolean;
  /** Fields that --json has besides `done`, `because` and `skills`. */
  readonly json?: object;
}

/** Applies a change, or with --dry-run shows it; exit code 1 when it is refused or incomplete. */
export async function applyChange(call: AnyCall, change: ChangeRequest): Promise<number> {
  const { screen, dryRun } = call;
  const { nothing, hints, after, listsFiles = false } = change;
  const plan = await change.plan();
  if (!plan.ok) return refuseChange(call, notDone(plan.because), hints?.(plan.because), change.json);
  if (plan.steps.length === 0 && nothing !== null) return refuseChange(call, nothing, [], change.json);
  const files = (steps: readonly PlannedChange[]) =>
    listsFiles && steps[0]?.files ? [describeFiles(listed(steps[0].files))] : [];
  const json = (steps: readonly PlannedChange[], done: boolean) => ({
    done,
    because: null,
    ...change.json,
    skills: steps.map((step) => ({
      ...changeJson(step.change),
      ...(listsFiles ? { files: listed(step.files ?? []) } : {}),
    })),
  });
  if (dryRun)
    return call.answer(json(plan.steps, false), [
      ...describeSteps(plan.steps, screen),
      ...files(plan.steps),
      nothingWritten,
    ]);
  const done = await change.apply();
  if (!done.kept) return refuseChange(call, notDone(done.because), hints?.(done.because), change.json);
  const made = new Set(done.outcomes.flatMap((outcome) => (outcome.done ? outcome.change.id : [])));
  return call.answer(
    json(
      done.steps.filter((step) => made.has(step.change.id)),
      isComplete(done),
    ),
    [...describeOutcomes(done.outcomes, screen, ""), ...files(done.steps), ...(after?.(done.steps) ?? [])],
    isComplete(done) ? 0 : 1,
  );
}

export const nothingWritten = "Nothing was written (--dry-run).";

/** The diffs of a plan's steps; drafts that only make room are left out where there is more to show. */
export function describeSteps(steps: readonly PlannedChange[], screen: Screen): string[] {
  const shown = steps.some(isNews) ? steps.filter(isNews) : steps;
  return shown.flatMap(({ diff }) => describeDiff(diff, screen));
}

/** Why nothing was done, as a sentence with one full stop. */
export function notDone(because: string): string {
  return `Not done: ${because.replace(/\.$/, "")}.`;
}

export function refuseChange(
  call: AnyCall,
  because: string,
  hints: readonly string[] = [],
  json: object = {},
): number {
  return call.refuse({ done: false, because, ...json, skills: [] }, [
    because,
    ...hints.map((hint) => `  ${hint}`),
  ]);
}
