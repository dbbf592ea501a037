import type { Cause } from "../cause.ts";
import type { Run } from "../command.ts";
import { isStoppedByHook, stepsOfHook } from "../commit-hook.ts";
import type { Event } from "../event.ts";
import { type ArtifactKind, type Finding, type FindingKind, finding, noExcerpt } from "../finding.ts";
import { isForeign, saysUnrelated } from "../foreign-failure.ts";
import { callText, type Recovery, remedyCall, subjectOf } from "../recovery.ts";
import { callOf, filesIn, retell, tellDifference } from "../run.ts";
import { symptomOf } from "../symptom.ts";
import { nameFrom, termsOf } from "../words.ts";

/** A recovered failure in words that help somebody who was not there. */
export function lessonFrom(
  recovery: Recovery,
  confidence: number,
  kind: FindingKind = "error-recovery",
): Finding {
  const { failed, worked, complaint, again, step } = recovery;
  const others = [worked, step, ...again].filter((event): event is Event => event !== null);
  const explained = explanationOf(recovery);
  return finding(
    {
      kind,
      lesson: [problemOf(recovery), solutionOf(recovery), explained]
        .filter((part) => part !== null)
        .join(" "),
      trigger: triggerOf(recovery),
      action: actionOf(recovery),
      steps: recovery.remedy === "step" ? [`Run \`${tellStep(recovery)}\``] : [],
      keywords: keywordsOf(recovery, explained),
      confidence,
      name: nameOf(recovery),
      scope: isOfTheMachine(recovery) ? "user" : "project",
      artifact: artifactOf(recovery),
      excerpt: {
        ...noExcerpt,
        failed: short(callText(failed), 400),
        error: complaint.line,
        worked: worked?.outcome === "ok" ? short(callText(worked), 400) : null,
        replied: explained,
      },
      call: remedyCall(recovery),
      symptom: symptomOf(recovery, failed.tool ?? "", droppedOperands(recovery)),
      remedy: recovery.remedy,
    },
    [failed, ...others],
  );
}

/** What is missing on a machine is missing in every project; what a project's own runner does not find is not. */
function isOfTheMachine(recovery: Recovery): boolean {
  const { complaint, run, remedy } = recovery;
  // What starts it in its place is the project's: `uv run` here, `poetry run` there.
  if (complaint.cause === "missing-program")
    return run?.name === complaint.about && (remedy !== "wrapper" || leavesOut(recovery));
  return complaint.cause === "shell-dialect";
}

/** `sudo` is not there, and the rest works without it. */
function leavesOut({ complaint, workedRun }: Recovery): boolean {
  return workedRun !== null && ![workedRun.name, ...workedRun.args].includes(complaint.about ?? "");
}

/** A fix is found by its failure when it is needed; what is simply not there, or not allowed, is good to know beforehand. */
function artifactOf(recovery: Recovery): ArtifactKind {
  const { complaint, remedy } = recovery;
  if (isForeign(recovery) || isStoppedByHook(recovery)) return "rule";
  return known.has(complaint.cause) && remedy !== "step" ? "rule" : "skill";
}

const known = new Set<Cause>([
  "missing-program",
  "unknown-name",
  "denied",
  "shell-dialect",
  "missing-script",
]);

function problemOf(recovery: Recovery): string {
  const { complaint, failed, run, worked, workedRun } = recovery;
  const call = `\`${tell(failed, asWritten(recovery) ? null : inPlace(recovery, run), worked, workedRun)}\``;
  const error = short(complaint.line, isForeign(recovery) ? 100 : 160).replace(/[.:?!]$/, "");
  if (isStoppedByHook(recovery)) {
    const steps = stepsOfHook(failed.text).map((step) => `\`${step}\``);
    const runs = steps.length === 0 ? "" : ` that runs ${steps.join(", ")}`;
    return `${call} is stopped by a ${/ push\b/.test(subjectOf(recovery)) ? "pre-push" : "pre-commit"} hook${runs}: ${error}.`;
  }
  if (isForeign(recovery)) return `${call} fails for reasons outside the change: ${error}.`;
  if (complaint.about !== null && complaint.cause === "missing-program")
    return `\`${complaint.about}\` is not installed here or not on the path (${error})${run?.name === complaint.about ? "" : `, so ${call} fails`}.`;
  if (complaint.about !== null && complaint.cause === "missing-module")
    return `${call} does not find the module \`${complaint.about}\`: ${error}.`;
  if (complaint.about !== null && complaint.cause === "unknown-name")
    return `There is no ${/agent|skill/i.exec(error)?.[0].toLowerCase() ?? "tool"} named \`${complaint.about}\` here (${short(error, 60)}).`;
  if (isEmptyGlob(recovery))
    return `zsh stops a command whose glob matches nothing, whatever is done with its errors: ${call} fails with ${error}.`;
  if (complaint.cause === "denied")
    return `${call} is ${/hook/i.test(error) ? "refused by a hook" : "denied by permission settings"}: ${error}.`;
  return `${call} fails: ${error}.`;
}

/** The words are zsh's own; other shells hand such a pattern on. */
function isEmptyGlob({ complaint }: Recovery): boolean {
  return complaint.line.startsWith("no matches found: ");
}

function solutionOf(recovery: Recovery): string | null {
  const { remedy, failed, worked, workedRun, run } = recovery;
  if (worked === null || remedy === null) return null;
  const told = asWritten(recovery) || isChain(worked) ? null : inPlace(recovery, workedRun);
  const call = isReplaced(recovery)
    ? `\`${tellDifference(workedRun as Run, run as Run)}\``
    : `\`${tell(worked, told, failed, run)}\``;
  if (recovery.complaint.cause === "denied") return leftOut(recovery, call);
  if (remedy === "step") return `It works after \`${tellStep(recovery)}\`.`;
  if (remedy === "none") return "The same call works when run again.";
  if (remedy === "elevation") return "It works with elevated permissions, outside the sandbox.";
  if (remedy === "directory")
    return `It works in the right folder: \`${whereIn(failed, worked, call.slice(1, -1))}\`.`;
  // It failed too, but later: what stopped the first is out of the way.
  if (worked.outcome === "failed") return `${call} gets past that.`;
  if (bypasses(recovery)) return `The agent went around it with ${call}; better find out why the hook fails.`;
  return `What works: ${call}.`;
}

/** One program in the place of another that is not there: what they were given does not matter. */
function isReplaced({ complaint, remedy, workedRun, run }: Recovery): boolean {
  const replaces = remedy === "program" || remedy === "wrapper";
  return (
    complaint.cause === "missing-program" && replaces && workedRun !== null && run?.name === complaint.about
  );
}

/** A run without the folder it ran in, unless the folder is what made the difference. */
function inPlace({ remedy }: Recovery, run: Run | null): Run | null {
  return run === null || remedy === "directory" ? run : { ...run, directory: null };
}

function tellStep({ step, stepRun }: Recovery): string {
  return stepRun === null ? short(step?.command ?? "", 90) : retell(stepRun);
}

/** What a shell makes of quotes and globs shows only in the text as it was typed. */
function asWritten({ complaint, failed, worked }: Recovery): boolean {
  return (
    complaint.cause === "shell-dialect" &&
    (failed.command?.length ?? 0) < 90 &&
    (worked?.command?.length ?? 0) < 90
  );
}

/** A few commands in one: what comes before may be half of the remedy. */
function isChain({ command }: Event): boolean {
  return command !== null && command.length <= 90 && /&&/.test(command.replace(/^cd \S+ && /, ""));
}

/** A way around a check is what happened, not what to do. */
function bypasses({ workedRun, run }: Recovery): boolean {
  return ["--no-verify", "--force"].some(
    (flag) => workedRun?.args.includes(flag) && !run?.args.includes(flag),
  );
}

function leftOut(recovery: Recovery, call: string): string {
  const out = droppedOperands(recovery);
  return out.length > 0
    ? `Leave out ${out.map((each) => `\`${each}\``).join(", ")}.`
    : `What works: ${call}.`;
}

/** The files that the call which worked does not touch. */
function droppedOperands({ failed, run, worked }: Recovery): string[] {
  const kept = worked === null ? new Set<string>() : filesIn(callText(worked));
  const files = run === null ? failed.files.map(tail) : [...filesIn(run.args.join(" "))];
  return files.filter((file) => !kept.has(file)).slice(0, 3);
}

function tail(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function whereIn(failed: Event, worked: Event, call: string): string {
  const folder = worked.input?.workdir ?? worked.cwd;
  if (call.startsWith("cd ") || typeof folder !== "string" || folder === failed.cwd) return call;
  return `cd ${folder.split("/").slice(-2).join("/")} && ${call}`;
}

/** A call in short. Of a tool's input only what differs from the other call tells something. */
function tell(event: Event, run: Run | null, other: Event | null, otherRun: Run | null = null): string {
  if (run !== null) return retell(run, otherRun);
  if (event.command !== null) return short(event.command, 90);
  const values = Object.entries(event.input ?? {}).flatMap(([key, value]) =>
    typeof value === "string" && (event.tool !== other?.tool || other.input?.[key] !== value)
      ? [short(value, 60)]
      : [],
  );
  return [event.tool, ...values.slice(0, 2)].join(" ");
}

function triggerOf(recovery: Recovery): string {
  if (isEmptyGlob(recovery)) return "zsh: no matches found for a glob";
  if (isStoppedByHook(recovery)) return `${subjectOf(recovery)} stopped by a hook`;
  if (isForeign(recovery)) return `${subjectOf(recovery)} fails outside the change`;
  const said = recovery.complaint.signature.split(/(?<=\w)\. /)[0] ?? "";
  const named = `${recovery.run?.name ?? ""}: `;
  const signature = said.startsWith(named) ? said.slice(named.length) : said;
  const files = recovery.complaint.cause === "denied" ? droppedOperands(recovery) : [];
  return `${[subjectOf(recovery), ...files].join(" ")} fails: ${signature.slice(0, 100)}`;
}

function actionOf(recovery: Recovery): string {
  const { remedy, worked, workedRun, run, failed } = recovery;
  if (isStoppedByHook(recovery)) {
    const steps = stepsOfHook(failed.text);
    return steps.length > 0
      ? `run ${steps.join(", ")} before committing`
      : "satisfy the hook before committing";
  }
  if (isForeign(recovery) && (worked === null || remedy === "none" || remedy === "argument"))
    return "do not look for the cause in the change; run it again or run only what belongs to the change";
  if (recovery.complaint.cause === "denied")
    return `leave out ${droppedOperands(recovery).join(", ") || "what is denied"}`;
  if (worked === null || remedy === "none") return "run it again";
  if (remedy === "step")
    return `first ${recovery.stepRun === null ? tellStep(recovery) : retell(recovery.stepRun)}`;
  if (remedy === "elevation") return "ask for elevated permissions at once";
  if (remedy === "directory")
    return `run it in ${tail(workedRun?.directory ?? worked.cwd ?? "") || "the right folder"}`;
  if (remedy === "wrapper" && run !== null && workedRun !== null) return rewrapped(run, workedRun);
  if (workedRun === null) return `use ${tell(worked, null, failed)}`;
  return `use ${run === null ? callOf(workedRun).join(" ") : tellDifference(workedRun, run)}`;
}

/** `bun` without `rtk`, or `pytest` through `uv run`: whatever was run with it. */
function rewrapped(before: Run, after: Run): string {
  const words = [after.name, ...after.args];
  const at = words.indexOf(before.name);
  if (at > 0) return `run ${before.name} through ${words.slice(0, at).join(" ")}`;
  return before.args.includes(after.name)
    ? `run ${after.name} without ${before.name}`
    : `use ${tellDifference(after, before)}`;
}

/** The sentence in which the agent says what it understood: the one that has most in common with the error and the remedy. */
function explanationOf(recovery: Recovery): string | null {
  const { said, judgement, complaint, failed, worked } = recovery;
  const foreign = isForeign(recovery);
  const about = termsOf(
    `${complaint.line} ${callText(failed).slice(0, 300)} ${worked === null ? "" : callText(worked)}`.slice(
      0,
      800,
    ),
  );
  let best: { text: string; shared: number } | null = null;
  const asked = worked?.input?.justification;
  const texts = [
    ...(foreign ? judgement : said.slice(0, 6)).map(({ text }) => text),
    typeof asked === "string" ? asked : "",
  ];
  for (const text of texts) {
    for (const sentence of sentencesOf(text).slice(0, 4)) {
      if (announces.test(sentence) || /[?？]$/.test(sentence)) continue;
      let shared = foreign && saysUnrelated(sentence) ? 4 : 0;
      for (const word of termsOf(sentence)) if (about.has(word)) shared++;
      if (shared > (best?.shared ?? 0)) best = { text: sentence, shared };
    }
  }
  return best === null ? null : short(best.text, 240);
}

/** What the agent is about to do is told by the call itself. */
const announces =
  /^(?:let me|let's|now\b|next\b|i(?:'|’)ll|i will|i(?:'|’)m (?:going|now)|perfect|great|good|done|all )/i;

function sentencesOf(text: string): string[] {
  return text
    .slice(0, 800)
    .split(/(?<=[。！？])|(?<=[.!?:])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length >= 12);
}

function short(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

function keywordsOf(recovery: Recovery, explained: string | null): string[] {
  const { complaint, run, workedRun } = recovery;
  const words = [
    subjectOf(recovery),
    complaint.about ?? "",
    ...(complaint.cause === "denied" ? droppedOperands(recovery) : []),
    ...(workedRun === null ? [] : callOf(workedRun, run)),
    ...[...(explained ?? "").matchAll(/`([^`\s][^`]{1,40})`/g)].map(([, word]) => word ?? "").slice(0, 2),
    ...[...termsOf(complaint.signature)]
      .filter((word) => word.length > 3 && !commonplace.has(word))
      .slice(0, 4),
  ];
  return [...new Set(words.filter((word) => word.length > 1))].slice(0, 8);
}

const commonplace = new Set("error errors fails failed found command line exit code".split(" "));

function nameOf(recovery: Recovery): string {
  const { complaint } = recovery;
  const head = subjectOf(recovery);
  if (isStoppedByHook(recovery)) return nameFrom(`${head} hook`);
  if (isForeign(recovery)) return nameFrom(`${head} unrelated failures`);
  if (isEmptyGlob(recovery)) return "zsh-glob-without-match";
  if (complaint.cause === "denied") return nameFrom(`${droppedOperands(recovery)[0] ?? head} denied`);
  const about = complaint.about !== null && !head.split(" ").includes(complaint.about) ? complaint.about : "";
  const terms = [...termsOf(complaint.signature)].filter(
    (word) => word.length > 1 && !commonplace.has(word) && word !== about.toLowerCase(),
  );
  const what = calledBy[complaint.cause] ?? terms.slice(0, 4).join(" ");
  const subject =
    complaint.cause === "missing-program" || complaint.cause === "missing-module"
      ? (complaint.about ?? head)
      : `${head} ${about}`;
  return nameFrom(`${subject} ${what}`) || nameFrom(complaint.cause);
}

/** How a cause is called in a name; the others are called by the words of the error. */
const calledBy: Partial<Record<Cause, string>> = {
  "unknown-name": "unknown",
  denied: "denied",
  "missing-program": "not on path",
  "missing-script": "script not found",
  "wrong-place": "wrong folder",
  "missing-module": "not installed",
  permission: "permission",
  service: "not running",
  timeout: "timeout",
};
