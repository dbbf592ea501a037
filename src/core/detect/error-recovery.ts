import { callOf, headOf, type Run, retell } from "../command.ts";
import type { Event } from "../event.ts";
import { type Cause, signatureOf } from "../failure.ts";
import { type ArtifactKind, type Finding, finding, type Lesson, noExcerpt } from "../finding.ts";
import { policy } from "../policy.ts";
import { onlyLooks, type Recovery, type Remedy, recoveriesIn } from "../recovery.ts";
import { nameFrom, termsOf } from "../words.ts";

/** Failures that were overcome by doing something else than before, and what that was. */
export function errorRecovery(events: readonly Event[]): Finding[] {
  const judged = recoveriesIn(events)
    .map((recovery) => ({ recovery, confidence: confidenceIn(recovery) }))
    .filter(({ confidence }) => confidence >= policy.detect.recoveryConfidence);
  return onePerCause(judged)
    .sort((a, b) => b.confidence - a.confidence)
    .slice(0, mostIn(events))
    .map(({ recovery, confidence }) => lessonFrom(recovery, confidence));
}

interface Judged {
  readonly recovery: Recovery;
  readonly confidence: number;
}

/** Long sessions hold more lessons, but not in proportion to their length. */
function mostIn(events: readonly Event[]): number {
  const calls = events.reduce((sum, { kind }) => sum + (kind === "call" ? 1 : 0), 0);
  const { recoveriesAtLeast, recoveriesPerRootOfCalls } = policy.detect;
  return Math.round(recoveriesAtLeast + recoveriesPerRootOfCalls * Math.sqrt(calls));
}

/** One finding per cause: the earliest failure decides, later ones are further evidence. */
function onePerCause(judged: readonly Judged[]): Judged[] {
  const kept: Judged[] = [];
  for (const next of judged) {
    const at = kept.findIndex(({ recovery }) => sameCause(recovery, next.recovery));
    const known = kept[at];
    if (known === undefined) kept.push(next);
    else kept[at] = merge(known, next);
  }
  return kept;
}

function sameCause(a: Recovery, b: Recovery): boolean {
  if (a.worked !== null && a.worked === b.worked) return true;
  if (a.complaint.cause !== b.complaint.cause) return false;
  if (a.complaint.about !== null && a.complaint.about === b.complaint.about) return true;
  return signatureOf(a.complaint.line) === signatureOf(b.complaint.line) && subject(a) === subject(b);
}

function merge(first: Judged, next: Judged): Judged {
  const again = [...first.recovery.again, next.recovery.failed, ...next.recovery.again];
  const best =
    next.confidence > first.confidence && first.recovery.worked === next.recovery.worked ? next : first;
  const { complaint, run, remedy, workedRun, worked, step } = best.recovery;
  return {
    recovery: {
      ...first.recovery,
      complaint,
      run,
      remedy,
      workedRun,
      worked,
      step,
      again: [...new Set(again)],
    },
    confidence: Math.min(0.98, Math.max(first.confidence, next.confidence) + 0.02),
  };
}

/** How much each cause, taken alone, speaks for a lesson. */
const causeWeight: Record<Cause, number> = {
  "unknown-name": 2.2,
  denied: 1.6,
  "missing-program": 1.6,
  "missing-script": 1.6,
  "wrong-usage": 1,
  "wrong-place": 1.2,
  "missing-module": 0.9,
  "shell-dialect": 0.9,
  permission: 1.1,
  "missing-setting": 0.4,
  service: 0.3,
  other: -0.5,
  "missing-file": -1.2,
  "failing-test": -1.6,
  code: -1.8,
  lint: -2.2,
  state: -2.4,
  transient: -2.4,
  "tool-misuse": -4,
};

const remedyWeight: Record<Remedy, number> = {
  elevation: 1.6,
  environment: 1.3,
  wrapper: 1.3,
  program: 1,
  path: 1,
  directory: 0.7,
  step: 0.6,
  flag: 0.5,
  input: 0.1,
  "other-way": 0,
  argument: -1,
  none: -1.4,
};

function confidenceIn(recovery: Recovery): number {
  const { complaint, remedy, between, again, run } = recovery;
  const blamesOthers =
    isAboutTests(recovery) && recovery.said.slice(0, 3).some(({ text }) => saysUnrelated(text));
  if (remedy === null && !blamesOthers && complaint.cause !== "denied") return 0;
  const signals = [
    causeWeight[complaint.cause],
    remedy === null ? -0.6 : remedyWeight[remedy],
    blamesOthers ? (between.edits === 0 ? 2.6 : 1) : 0,
    between.edits === 0 ? 0.2 : remedy === "none" || remedy === "step" || remedy === "argument" ? -1.6 : -0.5,
    followsHint(recovery) ? 0.6 : 0,
    again.length > 0 ? 0.3 : 0,
    between.lookups > 0 && between.lookups < 4 ? 0.2 : 0,
    saysCause(recovery) ? 0.4 : 0,
    between.prompts > 0 ? -0.6 : 0,
    -0.06 * between.calls,
    isThrowaway(recovery) ? -0.8 : 0,
    run !== null && onlyLooks(run) && complaint.cause !== "missing-program" && complaint.cause !== "denied"
      ? -0.6
      : 0,
  ];
  return 1 / (1 + Math.exp(-signals.reduce((sum, each) => sum + each, -0.4)));
}

/** A test run that failed: the one kind of check whose failure may come from outside the change. */
function isAboutTests({ run, complaint }: Recovery): boolean {
  if (run === null || complaint.cause === "lint") return false;
  return /test|jest|mocha|spec|tox|rspec/i.test(headOf(run)) || complaint.cause === "failing-test";
}

function saysUnrelated(text: string): boolean {
  return unrelated.test(text.slice(0, 600));
}

const unrelated =
  /pre-?existing|unrelated|not (?:related|caused)|outside (?:of )?(?:this|the|my|our) change|\bflak(?:y|e|es|iness)\b|\bexisting\b.{0,60}(?:timeout|failure|flake|error)|already (?:broken|fail)|与.{0,12}无关|已经?存在的/i;

/** The error named something that the call which worked has and the one which failed had not. */
function followsHint({ failed, worked, complaint }: Recovery): boolean {
  if (worked === null) return false;
  const before = termsOf(callText(failed));
  const hinted = termsOf(failed.text.slice(0, 1_500));
  for (const term of termsOf(callText(worked)))
    if (term.length > 3 && !before.has(term) && hinted.has(term) && complaint.cause !== "missing-file")
      return true;
  return false;
}

function callText({ command, input }: Event): string {
  return (command ?? JSON.stringify(input ?? {})).slice(0, 1_000);
}

/** The agent's words take up what the error or the call is about. */
function saysCause({ said, complaint, run }: Recovery): boolean {
  const words = termsOf(`${complaint.line} ${run === null ? "" : headOf(run)}`.slice(0, 300));
  return said.slice(0, 2).some(({ text }) => {
    let shared = 0;
    for (const word of termsOf(text.slice(0, 400))) if (words.has(word)) shared++;
    return shared >= 2;
  });
}

/** A command written for one look: an inline script, a loop, a long chain. */
function isThrowaway({ failed }: Recovery): boolean {
  const command = failed.command ?? "";
  return (
    /\s-[ce] ["']|<<-?\s*['"]?\w|\bxargs\b|\bfor \w+ in\b|\bwhile\b/.test(command) || command.length > 400
  );
}

function subject({ run, failed }: Recovery): string {
  return run === null ? (failed.tool ?? "") : headOf(run);
}

function lessonFrom(recovery: Recovery, confidence: number): Finding {
  const { failed, worked, complaint, again, step, workedRun, run } = recovery;
  const others = [worked, step, ...again].filter((event): event is Event => event !== null);
  const explained = explanationOf(recovery);
  const [failedCall, workedCall] = [tell(failed, run), worked === null ? null : tell(worked, workedRun)];
  const lesson: Lesson = {
    kind: "error-recovery",
    lesson: [sentence(recovery, failedCall, workedCall), explained].filter((part) => part !== null).join(" "),
    trigger: `${subject(recovery)}: ${signatureOf(complaint.line).slice(0, 120)}`,
    action: actionOf(recovery, workedCall),
    keywords: keywordsOf(recovery),
    confidence,
    name: nameOf(recovery),
    scope: machine.has(complaint.cause) ? "user" : "project",
    artifact: artifactOf(recovery),
    excerpt: {
      ...noExcerpt,
      failed: failed.command ?? failedCall,
      error: complaint.line,
      worked: worked?.command ?? workedCall,
      replied: explained,
    },
    call: workedRun === null ? null : callOf(workedRun),
  };
  return finding(lesson, [failed, ...others]);
}

const machine = new Set<Cause>(["missing-program", "shell-dialect", "unknown-name"]);

function artifactOf({ remedy, again }: Recovery): ArtifactKind {
  return remedy === "step" || again.length > 2 ? "skill" : "rule";
}

function tell(event: Event, run: Run | null): string {
  if (run !== null) return retell(run);
  if (event.command !== null) return short(event.command, 90);
  const values = Object.values(event.input ?? {}).filter(
    (value) => typeof value === "string" && value.length <= 80,
  );
  return [event.tool, ...values.slice(0, 2)].join(" ");
}

function sentence(
  { complaint, remedy, step, failed, worked }: Recovery,
  failedCall: string,
  workedCall: string | null,
): string {
  const fails = `\`${failedCall}\` fails: ${short(complaint.line, 160)}`;
  const stop = /[.!?]$/.test(fails) ? "" : ".";
  if (workedCall === null) return `${fails}${stop}`;
  if (remedy === "step" && step !== null)
    return `${fails}${stop} It works after \`${short(step.command ?? "", 100)}\`.`;
  if (remedy === "none") return `${fails}${stop} The same call works when run again.`;
  if (remedy === "elevation")
    return `${fails}${stop} It works with elevated permissions, outside the sandbox.`;
  if (remedy === "directory")
    return `${fails}${stop} It works in another folder: \`${whereIn(failed, worked, workedCall)}\`.`;
  return `${fails}${stop} What works: \`${workedCall}\`.`;
}

function whereIn(failed: Event, worked: Event | null, workedCall: string): string {
  const folder = worked?.input?.workdir ?? worked?.cwd;
  if (workedCall.startsWith("cd ") || typeof folder !== "string" || folder === failed.cwd) return workedCall;
  return `cd ${folder.split("/").slice(-2).join("/")} && ${workedCall}`;
}

function actionOf({ remedy, step, workedRun }: Recovery, workedCall: string | null): string {
  if (remedy === "step" && step?.command != null) return `first \`${short(step.command, 80)}\``;
  if (remedy === "elevation") return "ask for elevated permissions at once";
  if (remedy === "none" || workedCall === null) return "expect it; do not look for the cause in the change";
  return `use \`${workedRun === null ? workedCall : callOf(workedRun).join(" ")}\``;
}

/** The sentence in which the agent says what it understood: the one nearest to the error or to what worked. */
function explanationOf({ said, complaint, worked }: Recovery): string | null {
  const about = termsOf(`${complaint.line} ${worked === null ? "" : callText(worked)}`.slice(0, 500));
  let best: { text: string; shared: number } | null = null;
  for (const { text } of said.slice(0, 6)) {
    const first = firstSentence(text);
    let shared = saysUnrelated(first) ? 3 : 0;
    for (const word of termsOf(first)) if (about.has(word)) shared++;
    if (first !== "" && (best === null || shared > best.shared)) best = { text: first, shared };
  }
  return best?.text ?? null;
}

function firstSentence(text: string): string {
  const line = text.trim().slice(0, 600).split("\n")[0] ?? "";
  const end = /[。！？]|[.!?:](?=\s|$)/.exec(line.slice(20));
  return short(end === null ? line : line.slice(0, 20 + end.index + 1), 240);
}

function short(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

function keywordsOf({ complaint, run, workedRun, failed }: Recovery): string[] {
  const words = [
    run === null ? failed.tool : headOf(run),
    complaint.about,
    workedRun === null ? null : headOf(workedRun),
    complaint.cause.replace("-", " "),
  ];
  const said = [...termsOf(signatureOf(complaint.line))].filter((word) => word.length > 3).slice(0, 4);
  return [
    ...new Set([...words, ...said].filter((word): word is string => word !== null && word !== "")),
  ].slice(0, 8);
}

function nameOf(recovery: Recovery): string {
  const about = recovery.complaint.about ?? "";
  const what = nameParts[recovery.complaint.cause];
  const head = subject(recovery);
  const parts =
    head.includes(about) || about.includes(head)
      ? [head.length > about.length ? head : about, what]
      : [head, about, what];
  return nameFrom(parts.join(" ")) || nameFrom(recovery.complaint.cause);
}

const nameParts: Record<Cause, string> = {
  "unknown-name": "unknown",
  denied: "denied",
  "missing-program": "not on path",
  "missing-script": "script not found",
  "wrong-usage": "usage",
  "wrong-place": "wrong folder",
  "missing-module": "not installed",
  "shell-dialect": "shell syntax",
  permission: "permission",
  "missing-setting": "missing setting",
  service: "not running",
  other: "fails",
  "missing-file": "file not found",
  "failing-test": "unrelated failures",
  code: "fails",
  lint: "lint",
  state: "state",
  transient: "unreachable",
  "tool-misuse": "misuse",
};
