import { callText, findFileNames, Recovery, type Run } from "../../failures/index.ts";
import {
  type ArtifactKind,
  type Cause,
  type Event,
  type Finding,
  makeFinding,
  noExcerpt,
} from "../../records/index.ts";
import { baseName, extractTerms, slugify } from "../../text/index.ts";

/** A recovered failure in words that help somebody who was not there. */
export function writeRecoveryLesson(recovery: Recovery, confidence: number): Finding {
  const { failed, worked, error, again, step } = recovery;
  const others = [worked, step, ...again].filter((event): event is Event => event !== null);
  const explained = findExplanation(recovery);
  return makeFinding(
    {
      kind: "error-recovery",
      lesson: [describeProblem(recovery), describeSolution(recovery), explained]
        .filter((part) => part !== null)
        .join(" "),
      trigger: describeTrigger(recovery),
      action: describeAction(recovery),
      steps: recovery.remedy === "step" ? [`Run \`${writeStep(recovery)}\``] : [],
      keywords: findKeywords(recovery, explained),
      confidence,
      name: chooseName(recovery),
      scope: isMachineWide(recovery) ? "user" : "project",
      artifact: chooseArtifact(recovery),
      excerpt: {
        ...noExcerpt,
        failed: short(callText(failed), 400),
        error: error.line,
        worked: worked?.outcome === "ok" ? short(callText(worked), 400) : null,
        replied: explained,
      },
      call: recovery.fixCall,
      symptom: recovery.symptom(droppedOperands(recovery)),
      remedy: recovery.remedy,
    },
    [failed, ...others],
  );
}

/** A program missing on the machine is missing in every project; one that a project's own runner misses is not. */
function isMachineWide(recovery: Recovery): boolean {
  const { error, run, remedy } = recovery;
  // What starts it in its place is the project's: `uv run` here, `poetry run` there.
  if (error.cause === "missing-program")
    return run?.name === error.about && (remedy !== "wrapper" || leavesOut(recovery));
  return error.cause === "shell-dialect";
}

/** `sudo` is not there, and the rest works without it. */
function leavesOut({ error, workedRun }: Recovery): boolean {
  return workedRun !== null && ![workedRun.name, ...workedRun.args].includes(error.about ?? "");
}

/** A fix is found by its failure when it is needed; what is simply not there, or not allowed, is good to know beforehand. */
function chooseArtifact(recovery: Recovery): ArtifactKind {
  const { error, remedy } = recovery;
  if (recovery.isForeign || recovery.isStoppedByHook) return "rule";
  return staticCauses.has(error.cause) && remedy !== "step" ? "rule" : "skill";
}

const staticCauses = new Set<Cause>([
  "missing-program",
  "unknown-name",
  "denied",
  "shell-dialect",
  "missing-script",
]);

function describeProblem(recovery: Recovery): string {
  const { error, failed, run, worked, workedRun } = recovery;
  const call = `\`${writeCall(failed, asWritten(recovery) ? null : inPlace(recovery, run), worked, workedRun)}\``;
  const line = short(error.line, recovery.isForeign ? 100 : 160).replace(/[.:?!]$/, "");
  if (recovery.isStoppedByHook) {
    const steps = recovery.hookSteps.map((step) => `\`${step}\``);
    const runs = steps.length === 0 ? "" : ` that runs ${steps.join(", ")}`;
    return `${call} is stopped by a ${/ push\b/.test(recovery.subject) ? "pre-push" : "pre-commit"} hook${runs}: ${line}.`;
  }
  if (recovery.isForeign) return `${call} fails for reasons outside the change: ${line}.`;
  if (error.about !== null && error.cause === "missing-program")
    return `\`${error.about}\` is not installed here or not on the path (${line})${run?.name === error.about ? "" : `, so ${call} fails`}.`;
  if (error.about !== null && error.cause === "missing-module")
    return `${call} does not find the module \`${error.about}\`: ${line}.`;
  if (error.about !== null && error.cause === "unknown-name")
    return `There is no ${/agent|skill/i.exec(line)?.[0].toLowerCase() ?? "tool"} named \`${error.about}\` here (${short(line, 60)}).`;
  if (isEmptyGlob(recovery))
    return `zsh stops a command whose glob matches nothing, whatever is done with its errors: ${call} fails with ${line}.`;
  if (error.cause === "denied")
    return `${call} is ${/hook/i.test(line) ? "refused by a hook" : "denied by permission settings"}: ${line}.`;
  return `${call} fails: ${line}.`;
}

/** The words are zsh's own; other shells hand such a pattern on. */
function isEmptyGlob({ error }: Recovery): boolean {
  return error.line.startsWith("no matches found: ");
}

function describeSolution(recovery: Recovery): string | null {
  const { remedy, failed, worked, workedRun, run } = recovery;
  if (worked === null || remedy === null) return null;
  // A few commands in one: what comes before may be half of the remedy.
  const whole = worked.command ?? "";
  const isChain = whole.length <= 90 && /&&/.test(whole.replace(/^cd \S+ && /, ""));
  const told = asWritten(recovery) || isChain ? null : inPlace(recovery, workedRun);
  const call = isReplaced(recovery)
    ? `\`${(workedRun as Run).describeChange(run as Run)}\``
    : `\`${writeCall(worked, told, failed, run)}\``;
  if (recovery.error.cause === "denied") return writeLeftOut(recovery, call);
  if (remedy === "step") return `It works after \`${writeStep(recovery)}\`.`;
  if (remedy === "none") return "The same call works when run again.";
  if (remedy === "elevation") return "It works with elevated permissions, outside the sandbox.";
  if (remedy === "directory")
    return `It works in the right folder: \`${writeWithFolder(failed, worked, call.slice(1, -1))}\`.`;
  // It failed too, but later: what stopped the first is out of the way.
  if (worked.outcome === "failed") return `${call} gets past that.`;
  if (bypasses(recovery)) return `The agent went around it with ${call}; better find out why the hook fails.`;
  return `What works: ${call}.`;
}

/** One program in the place of another that is not there: what they were given does not matter. */
function isReplaced({ error, remedy, workedRun, run }: Recovery): boolean {
  const replaces = remedy === "program" || remedy === "wrapper";
  return error.cause === "missing-program" && replaces && workedRun !== null && run?.name === error.about;
}

/** A run without the folder it ran in, unless the folder is what made the difference. */
function inPlace({ remedy }: Recovery, run: Run | null): Run | null {
  return remedy === "directory" ? run : (run?.with({ directory: null }) ?? null);
}

function writeStep({ step, stepRun }: Recovery): string {
  return stepRun === null ? short(step?.command ?? "", 90) : stepRun.retell();
}

/** Quotes and globs show only in the text as it was typed. */
function asWritten({ error, failed, worked }: Recovery): boolean {
  return (
    error.cause === "shell-dialect" &&
    (failed.command?.length ?? 0) < 90 &&
    (worked?.command?.length ?? 0) < 90
  );
}

/** A way around a check is what happened, not what to do. */
function bypasses({ workedRun, run }: Recovery): boolean {
  return ["--no-verify", "--force"].some(
    (flag) => workedRun?.args.includes(flag) && !run?.args.includes(flag),
  );
}

function writeLeftOut(recovery: Recovery, call: string): string {
  const out = droppedOperands(recovery);
  return out.length > 0
    ? `Leave out ${out.map((each) => `\`${each}\``).join(", ")}.`
    : `What works: ${call}.`;
}

/** The files that the call which worked does not touch. */
function droppedOperands({ failed, run, worked }: Recovery): string[] {
  const kept = worked === null ? new Set<string>() : findFileNames(callText(worked));
  const files = run === null ? failed.files.map(baseName) : [...findFileNames(run.args.join(" "))];
  return files.filter((file) => !kept.has(file)).slice(0, 3);
}

function writeWithFolder(failed: Event, worked: Event, call: string): string {
  const folder = worked.input?.workdir ?? worked.cwd;
  if (call.startsWith("cd ") || typeof folder !== "string" || folder === failed.cwd) return call;
  return `cd ${folder.split("/").slice(-2).join("/")} && ${call}`;
}

/** A call in short. Of a tool's input only what differs from the other call tells something. */
function writeCall(event: Event, run: Run | null, other: Event | null, otherRun: Run | null = null): string {
  if (run !== null) return run.retell(otherRun);
  if (event.command !== null) return short(event.command, 90);
  const values = Object.entries(event.input ?? {}).flatMap(([key, value]) =>
    typeof value === "string" && (event.tool !== other?.tool || other.input?.[key] !== value)
      ? [short(value, 60)]
      : [],
  );
  return [event.tool, ...values.slice(0, 2)].join(" ");
}

function describeTrigger(recovery: Recovery): string {
  if (isEmptyGlob(recovery)) return "zsh: no matches found for a glob";
  if (recovery.isStoppedByHook) return `${recovery.subject} stopped by a hook`;
  if (recovery.isForeign) return `${recovery.subject} fails outside the change`;
  const said = recovery.error.signature.split(/(?<=\w)\. /)[0] ?? "";
  const named = `${recovery.run?.name ?? ""}: `;
  const signature = said.startsWith(named) ? said.slice(named.length) : said;
  const files = recovery.error.cause === "denied" ? droppedOperands(recovery) : [];
  return `${[recovery.subject, ...files].join(" ")} fails: ${signature.slice(0, 100)}`;
}

function describeAction(recovery: Recovery): string {
  const { remedy, worked, workedRun, run, failed } = recovery;
  if (recovery.isStoppedByHook) {
    const steps = recovery.hookSteps;
    return steps.length > 0
      ? `run ${steps.join(", ")} before committing`
      : "satisfy the hook before committing";
  }
  if (recovery.isForeign && (worked === null || remedy === "none" || remedy === "argument"))
    return "do not look for the cause in the change; run it again or run only what belongs to the change";
  if (recovery.error.cause === "denied")
    return `leave out ${droppedOperands(recovery).join(", ") || "what is denied"}`;
  if (worked === null || remedy === "none") return "run it again";
  if (remedy === "step")
    return `first ${recovery.stepRun === null ? writeStep(recovery) : recovery.stepRun.retell()}`;
  if (remedy === "elevation") return "ask for elevated permissions at once";
  if (remedy === "directory")
    return `run it in ${baseName(workedRun?.directory ?? worked.cwd ?? "") || "the right folder"}`;
  if (remedy === "wrapper" && run !== null && workedRun !== null) return rewrapped(run, workedRun);
  if (workedRun === null) return `use ${writeCall(worked, null, failed)}`;
  return `use ${run === null ? workedRun.call().join(" ") : workedRun.describeChange(run)}`;
}

/** `bun` without `rtk`, or `pytest` through `uv run`: whatever was run with it. */
function rewrapped(before: Run, after: Run): string {
  const words = [after.name, ...after.args];
  const at = words.indexOf(before.name);
  if (at > 0) return `run ${before.name} through ${words.slice(0, at).join(" ")}`;
  return before.args.includes(after.name)
    ? `run ${after.name} without ${before.name}`
    : `use ${after.describeChange(before)}`;
}

/** The sentence in which the agent says what it understood: the one that has most in common with the error and the remedy. */
function findExplanation(recovery: Recovery): string | null {
  const { said, reaction, error, failed, worked } = recovery;
  const foreign = recovery.isForeign;
  const about = extractTerms(
    `${error.line} ${callText(failed).slice(0, 300)} ${worked === null ? "" : callText(worked)}`.slice(
      0,
      800,
    ),
  );
  let best: { text: string; shared: number } | null = null;
  const asked = worked?.input?.justification;
  const texts = [
    ...(foreign ? reaction : said.slice(0, 6)).map(({ text }) => text),
    typeof asked === "string" ? asked : "",
  ];
  for (const text of texts) {
    for (const sentence of splitIntoSentences(text).slice(0, 4)) {
      if (announces.test(sentence) || /[?？]$/.test(sentence)) continue;
      let shared = foreign && Recovery.saysUnrelated(sentence) ? 4 : 0;
      for (const word of extractTerms(sentence)) if (about.has(word)) shared++;
      if (shared > (best?.shared ?? 0)) best = { text: sentence, shared };
    }
  }
  return best === null ? null : short(best.text, 240);
}

/** Announcements of the next call; the call itself tells more. */
const announces =
  /^(?:let me|let's|now\b|next\b|i(?:'|’)ll|i will|i(?:'|’)m (?:going|now)|perfect|great|good|done|all )/i;

function splitIntoSentences(text: string): string[] {
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

function findKeywords(recovery: Recovery, explained: string | null): string[] {
  const { error, run, workedRun } = recovery;
  const words = [
    recovery.subject,
    error.about ?? "",
    ...(error.cause === "denied" ? droppedOperands(recovery) : []),
    ...(workedRun === null ? [] : workedRun.call(run)),
    ...[...(explained ?? "").matchAll(/`([^`\s][^`]{1,40})`/g)].map(([, word]) => word ?? "").slice(0, 2),
    ...[...extractTerms(error.signature)]
      .filter((word) => word.length > 3 && !commonplace.has(word))
      .slice(0, 4),
  ];
  return [...new Set(words.filter((word) => word.length > 1))].slice(0, 8);
}

const commonplace = new Set("error errors fails failed found command line exit code".split(" "));

function chooseName(recovery: Recovery): string {
  const { error } = recovery;
  const head = recovery.subject;
  if (recovery.isStoppedByHook) return slugify(`${head} hook`);
  if (recovery.isForeign) return slugify(`${head} unrelated failures`);
  if (isEmptyGlob(recovery)) return "zsh-glob-without-match";
  if (error.cause === "denied") return slugify(`${droppedOperands(recovery)[0] ?? head} denied`);
  const about = error.about !== null && !head.split(" ").includes(error.about) ? error.about : "";
  const terms = [...extractTerms(error.signature)].filter(
    (word) => word.length > 1 && !commonplace.has(word) && word !== about.toLowerCase(),
  );
  const what = causeNames[error.cause] ?? terms.slice(0, 4).join(" ");
  const subject =
    error.cause === "missing-program" || error.cause === "missing-module"
      ? (error.about ?? head)
      : `${head} ${about}`;
  return slugify(`${subject} ${what}`) || slugify(error.cause);
}

/** How a cause is called in a name; the others are called by the words of the error. */
const causeNames: Partial<Record<Cause, string>> = {
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
