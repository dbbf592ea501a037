import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type ChangeOutcome,
  changedFile,
  isNews,
  mainText,
  type PackageFile,
  type Plan,
  type PlannedChange,
  type PublishedItem,
  type PublishResult,
  parseSkill,
  type Suggestion,
} from "../../library/index.ts";
import type { Change, Reach } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import type { AnyCall } from "../command.ts";
import type { Screen } from "./screen.ts";
import { flatLines, type Lines, oneLine, textLines } from "./text.ts";

// --- What a plan would change, and what was changed ---

/** Describes the changes and concerns of a plan; `whole` shows all of a new skill's text. */
export function describePlan(
  { steps, concerns, belongsTo }: Suggestion["plan"],
  screen: Screen,
  { whole = false } = {},
): Lines {
  const previews = steps.filter(isNews).map((step) => previewStep(step, screen, whole));
  return [
    flatLines(previews).map((line) => `  ${line}`),
    concerns.map(({ message, where }) => `  Warning: ${oneLine(message, 200)} (${where})`),
    belongsTo !== null &&
      `  You have a skill about this: ${screen.path(belongsTo)}. Knack does not change it; the lesson is kept as a proposal.`,
  ];
}

function previewStep({ change, files, diff }: PlannedChange, screen: Screen, whole: boolean): Lines {
  const file = screen.path(changedFile(change));
  const dim = (lines: readonly string[], width = 160) =>
    lines.map((line) => screen.dim(`  ${oneLine(line, width)}`));
  if (change.kind === "rule")
    return change.after === null
      ? [
          `Would remove from ${file}, because you have said the opposite since:`,
          dim([`- ${change.before}`], 322),
        ]
      : [`Would add to ${file}:`, dim([`- ${change.after}`], 322)];
  if (change.why === "update" || change.proposal) {
    const lines = diff.split("\n").filter((line) => /^[+-](?![+-])/.test(line));
    return [
      `${change.proposal ? "Would propose" : "Would add"} in ${file}:`,
      dim(lines.slice(0, 6)),
      lines.length > 6 && screen.dim(`  … ${lines.length - 6} more lines`),
    ];
  }
  const text = files ? mainText(files) : "";
  const shown = whole ? textLines(text.trimEnd()) : [parseSkill(text).skill?.description ?? ""];
  return [`Would write ${file}:`, dim(shown, whole ? 400 : 200)];
}

export function describeReach(reach: Reach): string {
  return {
    draft: "draft",
    me: "only on this machine",
    repository: "in this repository",
    everywhere: "in all projects",
  }[reach];
}

export const shelfStates: Readonly<Record<PublishedItem["state"], string>> = {
  active: "active",
  draft: "draft",
  proposal: "proposal",
  edited: "edited by hand",
  missing: "missing on disk",
  unreadable: "not readable",
};

/** Describes the changes on disk, one line for each file. */
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

/** The files of a package as JSON: what can be run is marked. */
export function filesJson(files: readonly PackageFile[]) {
  return files.map(({ path, mode }) => ({ path, executable: (mode & 0o111) !== 0 }));
}

/** All files of an imported package on one line, with those marked that can be run. */
export function describeFiles(files: readonly PackageFile[]): string {
  const names = filesJson(files).map(
    ({ path, executable }) => `${oneLine(path)}${executable ? " (executable)" : ""}`,
  );
  return `${several(files.length, "file")}: ${names.join(", ")}`;
}

/** A file that was written, or would be. */
export function changeJson({ kind, name, path, reach, why, origin, proposal }: Change) {
  return { kind, name, path, reach, action: proposal ? "propose" : why, origin };
}

/** Whether everything that was to be written was. */
export function isComplete(result: PublishResult): boolean {
  return result.kept && result.outcomes.every(({ done }) => done);
}

export function madeJson(result: PublishResult) {
  return result.kept
    ? result.outcomes.filter(({ done }) => done).map(({ change }) => changeJson(change))
    : [];
}

// --- Plan, show, do ---

interface ChangeRequest {
  readonly plan: () => Promise<Plan>;
  readonly apply: () => Promise<PublishResult>;
  /** Printed when there is nothing to change; null where that counts as done. */
  readonly nothing: string | null;
  /** Hints after a refusal. */
  readonly hints?: (because: string) => Lines;
  /** Lines to print after the changes. */
  readonly after?: (steps: readonly PlannedChange[]) => Lines;
  /** Whether to list all files by name, as for skills written by others. */
  readonly listsFiles?: boolean;
  /** Fields that --json has besides `done`, `because` and `skills`. */
  readonly json?: object;
}

/** Applies a change, or with --dry-run shows it; exit code 1 when it is refused or incomplete. */
export async function applyChange(call: AnyCall, change: ChangeRequest): Promise<number> {
  const { screen } = call;
  const { nothing, listsFiles = false } = change;
  const refuse = (because: string) =>
    refuseChange(call, notDone(because), change.hints?.(because), change.json);
  const plan = await change.plan();
  if (!plan.ok) return refuse(plan.because);
  if (plan.steps.length === 0 && nothing !== null) return refuseChange(call, nothing, [], change.json);
  const files = (steps: readonly PlannedChange[]) =>
    listsFiles && steps[0]?.files && describeFiles(steps[0].files);
  const json = (steps: readonly PlannedChange[], done: boolean) => ({
    done,
    because: null,
    ...change.json,
    skills: steps.map((step) => ({
      ...changeJson(step.change),
      ...(listsFiles ? { files: filesJson(step.files ?? []) } : {}),
    })),
  });
  if (call.dryRun) {
    const lines = [describeSteps(plan.steps, screen), files(plan.steps), nothingWritten];
    return call.answer(json(plan.steps, false), lines);
  }
  const done = await change.apply();
  if (!done.kept) return refuse(done.because);
  const made = new Set(done.outcomes.flatMap((outcome) => (outcome.done ? outcome.change.id : [])));
  const steps = done.steps.filter((step) => made.has(step.change.id));
  return call.answer(
    json(steps, isComplete(done)),
    [describeOutcomes(done.outcomes, screen, ""), files(done.steps), change.after?.(done.steps)],
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

export function refuseChange(call: AnyCall, because: string, hints: Lines = [], json: object = {}): number {
  return call.refuse({ done: false, because, ...json, skills: [] }, [
    because,
    flatLines(hints).map((hint) => `  ${hint}`),
  ]);
}
