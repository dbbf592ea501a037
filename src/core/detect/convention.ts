import type { Run } from "../command.ts";
import type { Event } from "../event.ts";
import { type Finding, finding, noExcerpt } from "../finding.ts";
import type { Recovery } from "../recovery.ts";
import { retell, subcommandOf } from "../run.ts";
import { signatureOf } from "../signature.ts";
import { symptomOf } from "../symptom.ts";
import { nameFrom, termsOf } from "../words.ts";
import type { Scene } from "./scene.ts";
import { statedConvention } from "./stated-convention.ts";

/** Rules of a repository: those that a person states, and those that a tool enforces. */
export function convention(scene: Scene): Finding[] {
  return [...statedConvention(scene), ...enforced(scene)];
}

/** Rules that the agent ran into: what a hook, a commit check or the server says when it refuses. */
function enforced({ recoveries }: Scene): Finding[] {
  const found = new Map<string, Finding>();
  for (const recovery of recoveries) {
    const rule = ruleIn(recovery);
    if (rule !== null && !found.has(signatureOf(rule)))
      found.set(signatureOf(rule), lessonOf(recovery, rule));
  }
  return [...found.values()];
}

/** The rule that a refusal states; null when it only reports a fault in the code. */
export function ruleIn({ run, failed }: Recovery): string | null {
  if (run === null || !handsOver(run)) return null;
  const lines = failed.text.slice(0, 6_000).split("\n");
  const rules = lines
    .filter((line) => line.length < 300 && statesRule.test(line))
    .map((line) => line.replace(/^[\s✖×*!>-]*(?:remote: )?[\s✖×*!>-]*(?:error: )?(?:GH\d+: )?/, "").trim());
  return rules.length === 0 ? null : [...new Set(rules)].slice(0, 3).join("; ");
}

/** The moments at which a repository can say no: a commit, a push, a pull request. */
function handsOver(run: Run): boolean {
  const verb = subcommandOf(run) ?? "";
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

function lessonOf(recovery: Recovery, rule: string): Finding {
  const { failed, worked, workedRun, run, again } = recovery;
  const head = run === null ? "git" : `${run.name} ${subcommandOf(run) ?? ""}`;
  const message = workedRun === null ? null : messageOf(workedRun);
  const accepted = message ?? (workedRun === null ? null : retell(workedRun));
  const how = accepted === null ? "" : ` Accepted: \`${accepted}\`.`;
  const others = [worked, ...again].filter((event): event is Event => event !== null);
  return finding(
    {
      kind: "convention",
      lesson: `This repository refuses \`${head}\` when a rule is broken: ${rule.replace(/\.$/, "")}.${how}`,
      trigger: `${head} in this repository`,
      action: `${signatureOf(rule).slice(0, 160)}${accepted === null ? "" : `; accepted: ${accepted}`}`,
      steps: [],
      keywords: [head, ...[...termsOf(signatureOf(rule))].filter((word) => word.length > 3)].slice(0, 8),
      confidence: worked === null ? 0.58 : message === null ? 0.66 : 0.74,
      name: nameFrom(`${head} ${[...termsOf(signatureOf(rule))].slice(0, 5).join(" ")}`),
      scope: "project",
      artifact: "rule",
      excerpt: { ...noExcerpt, failed: failed.command, error: rule, worked: worked?.command ?? null },
      call: null,
      symptom: symptomOf(recovery, failed.tool ?? "", []),
      remedy: recovery.remedy,
    },
    [failed, ...others],
  );
}

/** The first line of the message that a commit was given. */
function messageOf({ args }: Run): string | null {
  const at = args.findIndex((arg) => arg === "--message" || /^-[a-z]*m$/.test(arg));
  const first = at < 0 ? undefined : args[at + 1]?.split("\n")[0]?.trim();
  return first === undefined || first === "" || first.startsWith("$(") ? null : first.slice(0, 80);
}
