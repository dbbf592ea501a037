import { makeSignature, type Recovery, type Run } from "../../failures/index.ts";
import { type Event, type Finding, makeFinding, noExcerpt } from "../../records/index.ts";
import { extractTerms, slugify } from "../../text/index.ts";
import type { AnalyzedSession } from "./analyze.ts";
import { findSpokenLessons } from "./spoken-lesson.ts";

/** Rules of a repository: those that a person states, and those that a tool enforces. */
export function convention({ spoken, recoveries }: AnalyzedSession): Finding[] {
  // Rules that the agent ran into: what a hook, a commit check or the server says when it refuses.
  const enforced = new Map<string, Finding>();
  for (const recovery of recoveries) {
    const rule = findRule(recovery);
    if (rule !== null && !enforced.has(makeSignature(rule)))
      enforced.set(makeSignature(rule), writeLesson(recovery, rule));
  }
  return [...findSpokenLessons(spoken, "convention"), ...enforced.values()];
}

/** The rule that a refusal states; null when it only reports a fault in the code. */
export function findRule({ run, failed }: Recovery): string | null {
  if (run === null || !isHandOver(run)) return null;
  const lines = failed.text.slice(0, 6_000).split("\n");
  const rules = lines
    .filter((line) => line.length < 300 && statesRule.test(line))
    .map((line) => line.replace(/^[\s✖×*!>-]*(?:remote: )?[\s✖×*!>-]*(?:error: )?(?:GH\d+: )?/, "").trim());
  return rules.length === 0 ? null : [...new Set(rules)].slice(0, 3).join("; ");
}

/** The moments at which a repository can say no: a commit, a push, a pull request. */
function isHandOver(run: Run): boolean {
  const verb = run.verb ?? "";
  return (
    (run.name === "git" && /^(?:commit|push|merge|tag)$/.test(verb)) || (run.name === "gh" && verb === "pr")
  );
}

const statesRule = new RegExp(
  [
    "\\[(?:subject|type|body|header|footer|scope|signed|references)-[a-z-]{2,30}\\]|conventional commit|signed-?off",
    "\\b(?:commit|message|title|subject|branch|branch name|description)\\b.{0,60}\\b(?:must|should|needs?|requires?|has to|expected|does not|not (?:match|follow|allowed)|invalid)\\b",
    "^(?:commit-msg|pre-commit|pre-push|prepare-commit-msg|husky|lefthook|commitlint)\\b.{0,20}:.{0,80}\\b(?:must|should|needs?|requires?|expected|missing|not allowed)\\b",
    "must be made through a pull request|protected branch|not allowed to (?:commit|push)",
    "(?:do not|don't|cannot|can't|never) (?:commit|push) (?:directly )?(?:to|on)\\b",
  ].join("|"),
  "i",
);

function writeLesson(recovery: Recovery, rule: string): Finding {
  const { failed, worked, workedRun, run, again } = recovery;
  const head = run === null ? "git" : `${run.name} ${run.verb ?? ""}`;
  const signature = makeSignature(rule);
  const message = workedRun === null ? null : findCommitMessage(workedRun);
  const accepted = message ?? (workedRun === null ? null : workedRun.retell());
  const how = accepted === null ? "" : ` Accepted: \`${accepted}\`.`;
  const others = [worked, ...again].filter((event): event is Event => event !== null);
  return makeFinding(
    {
      kind: "convention",
      lesson: `This repository refuses \`${head}\` when a rule is broken: ${rule.replace(/\.$/, "")}.${how}`,
      trigger: `${head} in this repository`,
      action: `${signature.slice(0, 160)}${accepted === null ? "" : `; accepted: ${accepted}`}`,
      steps: [],
      keywords: [head, ...[...extractTerms(signature)].filter((word) => word.length > 3)].slice(0, 8),
      confidence: worked === null ? 0.58 : message === null ? 0.66 : 0.74,
      name: slugify(`${head} ${[...extractTerms(signature)].slice(0, 5).join(" ")}`),
      ...{ scope: "project", artifact: "rule" },
      excerpt: { ...noExcerpt, failed: failed.command, error: rule, worked: worked?.command ?? null },
      call: null,
      symptom: recovery.symptom([]),
      remedy: recovery.remedy,
    },
    [failed, ...others],
  );
}

/** The first line of the message that a commit was given. */
function findCommitMessage({ args }: Run): string | null {
  const at = args.findIndex((arg) => arg === "--message" || /^-[a-z]*m$/.test(arg));
  const first = at < 0 ? undefined : args[at + 1]?.split("\n")[0]?.trim();
  return first === undefined || first === "" || first.startsWith("$(") ? null : first.slice(0, 80);
}
