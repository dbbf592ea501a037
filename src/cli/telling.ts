import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Artifact, Reach } from "../core/change.ts";
import { redact } from "../core/redact.ts";
import { parse, skillFile } from "../core/skill.ts";
import { several } from "../core/words.ts";
import type { ListedFile } from "../engine/exchange.ts";
import type { Suggestion } from "../engine/keep.ts";
import { ruleTextOf } from "../engine/plan-rule.ts";
import type { Settled } from "../engine/publish.ts";
import { type Step, textOfPackage } from "../engine/step.ts";
import type { Env } from "./main.ts";
import { day, onLines, onOneLine, type Paint, short } from "./terminal.ts";

/** Pieces of evidence that are shown with a suggestion. */
const shownEvidence = 3;

/** A suggestion as a person reads it: what it says, why, and what would be written. */
export function tellSuggestion(
  suggestion: Suggestion,
  paint: Paint,
  env: Env,
  { preview = true }: { readonly preview?: boolean } = {},
): string[] {
  const { instinct, project, plan } = suggestion;
  const kind = instinct.artifact === "skill" ? "skill" : "rule";
  const where =
    instinct.scope === "user" ? "for all your work" : `for ${onOneLine(redact(project.name), 40)}`;
  return [
    `${paint.bold(instinct.name)}  ${paint.dim(`${kind} ${where}`)}`,
    `  ${onOneLine(redact(ruleTextOf(instinct)), 400)}`,
    ...whyLines(suggestion).map((line) => `  ${line}`),
    ...tellPlan(preview ? plan : { ...plan, steps: [], belongsTo: null }, paint, env),
  ];
}

/** What a plan would write, and what to mind about it; `whole` shows all of a new skill's text. */
export function tellPlan(
  { steps, concerns, belongsTo }: Suggestion["plan"],
  paint: Paint,
  env: Env,
  { whole = false }: { readonly whole?: boolean } = {},
): string[] {
  return [
    ...steps
      .filter(isWritten)
      .flatMap((step) => previewOf(step, paint, env, whole).map((line) => `  ${line}`)),
    ...concerns.map(({ message, where }) => `  Mind: ${onOneLine(message, 200)} (${where})`),
    ...(belongsTo === null
      ? []
      : [
          `  You have a skill about this: ${short(belongsTo, env)}. It stays as it is; this waits beside it.`,
        ]),
  ];
}

function whyLines({ instinct, findings }: Suggestion): string[] {
  const { sessions, firstAt, lastAt } = instinct.standing;
  const dates = day(firstAt) === day(lastAt) ? day(lastAt) : `${day(firstAt)} to ${day(lastAt)}`;
  const shown = distinct(findings).slice(0, shownEvidence);
  return [
    `Why: seen in ${several(sessions, "session")}, ${dates}`,
    ...shown.flatMap(({ finding, run, at }) => {
      const { failed, error, worked, said } = finding.excerpt;
      const line = (label: string, text: string | null) =>
        text === null ? [] : [`    ${label} ${onOneLine(redact(text), 160)}`];
      return [
        `  session ${onOneLine(lastPart(run)).slice(0, 13)}, ${day(at)}, ${finding.refs.join(" ")}`,
        ...line("failed:", failed),
        ...line("  with:", error),
        ...line("worked:", worked),
        ...line("  said:", said),
      ];
    }),
  ];
}

/** Findings of one session about the same thing are one to a reader. */
function distinct<Item extends { readonly run: string }>(findings: readonly Item[]): Item[] {
  return [...new Map([...findings].reverse().map((one) => [one.run, one])).values()].reverse();
}

function lastPart(run: string): string {
  return run.slice(run.lastIndexOf("/") + 1);
}

/** What is told of a change: drafts that make room are not news, a rule that does is. */
export function isWritten({ change }: Pick<Step, "change">): boolean {
  return change.why !== "remove" || change.kind === "rule";
}

function previewOf({ change, files, diff }: Step, paint: Paint, env: Env, whole: boolean): string[] {
  if (change.kind === "rule" && change.after === null)
    return [
      `Would take out of ${short(change.path, env)}, because you have said the opposite since:`,
      paint.dim(`  - ${onOneLine(change.before ?? "", 320)}`),
    ];
  if (change.kind === "rule")
    return [
      `Would add to ${short(change.path, env)}:`,
      paint.dim(`  - ${onOneLine(change.after ?? "", 320)}`),
    ];
  const file = short(fileOf(change), env);
  if (change.why === "update" || change.proposal) {
    const lines = diff.split("\n").filter((line) => /^[+-](?![+-])/.test(line));
    const more = lines.length > 6 ? [paint.dim(`  … ${lines.length - 6} more lines`)] : [];
    const verb = change.proposal ? "Would propose" : "Would add";
    return [
      `${verb} in ${file}:`,
      ...lines.slice(0, 6).map((line) => paint.dim(`  ${onOneLine(line, 160)}`)),
      ...more,
    ];
  }
  const text = textOf({ files });
  const lines = whole
    ? onLines(redact(text).trimEnd())
    : [onOneLine(redact(parse(text).skill?.description ?? ""), 200)];
  return [`Would write ${file}:`, ...lines.map((line) => paint.dim(`  ${line}`))];
}

/** The text of the skill that a step writes. */
export function textOf({ files }: Pick<Step, "files">): string {
  return files ? textOfPackage(files) : "";
}

/** Where something is, in words. */
export function reachInWords(reach: Reach): string {
  return {
    draft: "draft",
    me: "only me",
    repository: "this repository",
    everywhere: "everywhere",
  }[reach];
}

/** The file that a change is about. */
export function fileOf({ kind, path }: Pick<Artifact, "kind" | "path">): string {
  return kind === "skill" ? `${path}/${skillFile}` : path;
}

/** What was done to the disk, one line a file. */
export function tellOutcomes(outcomes: readonly Settled[], env: Env): string[] {
  const lines = outcomes.map(({ change, done, because }) => {
    const file = short(fileOf(change), env);
    if (!done) return `  not written: ${because}`;
    if (change.kind === "rule" && change.after === null) return `  removed  a line from ${file}`;
    if (change.why === "archive") return `  put away ${file}`;
    if (change.after === null) return `  removed  ${file}`;
    const git =
      change.reach === "me" && change.before === null && existsSync(join(change.root, ".git"))
        ? " (kept out of git)"
        : "";
    if (change.kind === "rule") return `  added    a line to ${file}${git}`;
    return `  ${change.before === null ? "wrote  " : "changed"}  ${file}${git}`;
  });
  // Several rules may stand in one file.
  return [...new Set(lines)];
}

/** A diff with its signs in colour, where there is colour. */
export function tellDiff(diff: string, paint: Paint): string[] {
  return onLines(redact(diff).replace(/\n$/, "")).map((line) =>
    line.startsWith("-") ? paint.red(line) : /^(?:@@|---|\+\+\+)/.test(line) ? paint.dim(line) : line,
  );
}

/** All files of something that came from elsewhere, in a line: what can be run is named so. */
export function tellFiles(files: readonly ListedFile[]): string {
  const names = files.map(({ path, executable }) => `${onOneLine(path)}${executable ? " (executable)" : ""}`);
  return `${several(files.length, "file")}: ${names.join(", ")}`;
}
