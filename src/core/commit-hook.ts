import type { Failure } from "./link.ts";
import { subcommandOf } from "./run.ts";

/** A hook of the repository refused a commit or a push: what it runs is a fact about the project. */
export function isStoppedByHook({ run, complaint, failed }: Failure): boolean {
  const commits = run?.name === "git" && /^(?:commit|push|merge)$/.test(subcommandOf(run) ?? "");
  if (!commits || ["state", "permission", "transient"].includes(complaint.cause)) return false;
  return (
    /\bhook\b|husky|pre-commit|lint-staged|commitlint|lefthook/i.test(failed.text) ||
    stepsOfHook(failed.text).length > 0
  );
}

/** The commands a hook says it runs, as package managers and hook runners print them. */
export function stepsOfHook(output: string): string[] {
  const steps = new Set<string>();
  for (const line of output.split("\n")) {
    const step = /^\$ (\S.{0,80})$|^> (?!\S+@\d)(\S.{0,80})$|^(\S[^.]{0,60})\.{3,}(?:Failed|Passed)/.exec(
      line,
    );
    if (step) steps.add((step[1] ?? step[2] ?? step[3] ?? "").slice(0, 50).trim());
  }
  return [...steps].slice(0, 4);
}
