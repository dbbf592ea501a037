import {
  callText,
  causeGroups,
  fileFamily,
  findFileNames,
  isSameFix,
  type Recovery,
} from "../failures/index.ts";
import type { RuleLearning } from "../learning/index.ts";
import { extractGist, type UpcomingCall } from "../lessons/index.ts";
import {
  type Event,
  type Finding,
  isSaid,
  isUse,
  type Lesson,
  type Remedy,
  type Symptom,
} from "../records/index.ts";
import { baseName, extractTerms } from "../text/index.ts";
import { listCalls, promptChars } from "./question.ts";

/** What happened in a session at one point, as far as a replay needs it. */
export type Moment = { readonly key: string; readonly at: number; readonly origin: string | null } & (
  | { readonly type: "prompt"; readonly text: string }
  | {
      readonly type: "call";
      readonly text: string;
      readonly calls: readonly UpcomingCall[];
      /** Null for one that was cancelled, refused, or never answered. */
      readonly ok: boolean | null;
      readonly failure: MetFailure | null;
    }
  | { readonly type: "correction"; readonly finding: Finding }
);

/** A failure that was met. */
export interface MetFailure {
  readonly symptom: Symptom;
  readonly line: string;
  /** What was run before the same failure came again. */
  readonly tried: readonly UpcomingCall[];
  /** How it was overcome; null when it was not. */
  readonly end: FailureEnd | null;
  /** It was overcome in a way that helps the next time. */
  readonly solved: boolean;
}

/** How a failure was overcome. */
interface FailureEnd {
  readonly remedy: Remedy;
  readonly foreign: boolean;
  /** The call that a lesson about it would recommend. */
  readonly call: readonly string[] | null;
  /** What was run, and worked, after it last failed and up to the call that overcame it. */
  readonly calls: readonly UpcomingCall[];
  /** What overcame it speaks of the files that it may not touch. */
  readonly touchesDenied: boolean;
  /** What overcame it, in words. */
  readonly told: string;
  /** Calls that whoever knew the fix would have made too, before the one that overcame it. */
  readonly prescribed: number;
  /** Calls and milliseconds from the failure to that call. */
  readonly callsUntil: number;
  readonly msUntil: number;
}

/** The moments of a session in order. Records without a time have the time of the one before. */
export function listMoments(
  scene: Pick<RuleLearning, "events" | "recoveries">,
  findings: readonly Finding[],
  startedAt: number,
): Moment[] {
  const failures = new Map(scene.recoveries.map((recovery) => [recovery.failed.ref, recovery]));
  // Of the events that a lesson rests on, the first is the failure; what worked may have failed later on.
  const taught = new Set(findings.flatMap(({ symptom, refs }) => (symptom === null ? [] : refs.slice(0, 1))));
  const heard = new Map(
    findings
      .filter(({ kind, symptom, excerpt }) => isSaid(kind) && symptom === null && excerpt.said !== null)
      .map((finding) => [finding.refs[0], finding] as const),
  );
  let at = startedAt;
  return scene.events.flatMap((event): Moment[] => {
    at = event.at ?? at;
    const { key, ref, origin } = event;
    const correction = heard.get(ref);
    const said: Moment[] = correction ? [{ type: "correction", key, at, origin, finding: correction }] : [];
    if (event.kind === "prompt")
      return [{ type: "prompt", key, at, origin, text: event.text.slice(0, promptChars) }, ...said];
    if (event.kind !== "call") return said;
    const recovery = failures.get(ref);
    const failure = recovery ? describeFailure(recovery, scene.events, taught.has(ref)) : null;
    const ok = failure ? false : event.outcome === "ok" ? true : event.outcome === "failed" ? false : null;
    return [
      { type: "call", key, at, origin, text: renderCall(event), calls: listCalls(event), ok, failure },
      ...said,
    ];
  });
}

function renderCall({ command, tool, input }: Event): string {
  return (command ?? `${tool} ${JSON.stringify(input ?? {})}`).slice(0, 200);
}

function describeFailure(recovery: Recovery, events: readonly Event[], taught: boolean): MetFailure {
  const { failed, error, again } = recovery;
  const files = [...findFileNames(failed.command ?? ""), ...failed.files.map(baseName)];
  const symptom = recovery.symptom(files);
  const first = events.indexOf(failed);
  const last = Math.max(first, ...again.map((event) => events.indexOf(event)));
  const tried = again.length === 0 ? [] : events.slice(first + 1, last + 1).flatMap(listCalls);
  const end = describeEnd(recovery, symptom, events, last);
  const changed = end !== null && end.remedy !== "none" && end.remedy !== "argument";
  const solved = taught || (changed && !causeGroups.inWork.has(error.cause));
  return { symptom, line: error.line, tried, end, solved };
}

function describeEnd(
  recovery: Recovery,
  { files }: Symptom,
  events: readonly Event[],
  lastFailed: number,
): FailureEnd | null {
  const { failed, worked, remedy, between, again } = recovery;
  if (worked === null || remedy === null) return null;
  const run = events.slice(lastFailed + 1, events.indexOf(worked)).filter(({ outcome }) => outcome === "ok");
  const since = failed.endedAt ?? failed.at;
  const touched = [...findFileNames(callText(worked)), ...worked.files.map(baseName)];
  return {
    remedy,
    foreign: recovery.isForeign,
    call: recovery.fixCall,
    calls: [...run, worked].flatMap(listCalls),
    touchesDenied: touched.some((file) => files.includes(fileFamily(file))),
    told: renderEnd(recovery, worked),
    prescribed: recovery.step === null ? 0 : 1,
    callsUntil: between.calls + again.length,
    msUntil: since === null || worked.at === null ? 0 : Math.max(0, worked.at - since),
  };
}

function renderEnd({ remedy, step }: Recovery, worked: Event): string {
  if (step !== null) return `${renderCall(step)}, then ${renderCall(worked)}`;
  if (remedy === "elevation") return `${renderCall(worked)}, with more rights`;
  return remedy === "directory" ? `${renderCall(worked)}, in another folder` : renderCall(worked);
}

/** Whether what a lesson says is what overcame a failure; null when nothing did and the advice was not tried. */
export function settles(lesson: Finding, { symptom, tried, end }: MetFailure): boolean | null {
  const { remedy, call } = lesson;
  // It was done, and the same failure came again.
  if (call !== null && tried.some((each) => makesCall(each, call))) return false;
  if (end === null) return null;
  if (remedy === null || remedy === "none") return end.foreign || end.remedy === "none";
  if (remedy === "elevation" || remedy === "directory") return end.remedy === remedy;
  // What was denied was left alone; of other words that were the trouble, other words were found.
  if (call === null)
    return symptom.cause === "denied"
      ? !end.touchesDenied
      : end.remedy !== "none" && end.remedy !== "elevation";
  if (end.calls.some((each) => makesCall(each, call))) return true;
  return isSameFix(lesson, { remedy: end.remedy, call: end.call, symptom });
}

function makesCall({ program, parts }: UpcomingCall, call: readonly string[]): boolean {
  return parts !== null && isUse({ head: program, parts }, call);
}

/** Whether a session, from some point on, has to do with what a lesson is about: its command, its files or its tool. */
export function touches(about: Lesson, moments: readonly Moment[]): boolean {
  const { symptom, call, lesson, trigger, action } = about;
  const files = findFileNames(`${lesson} ${action}`);
  const heads = [call, symptom?.call].flatMap((each) => (each ? [each.slice(0, 2)] : []));
  const words = extractGist({ trigger, action }).all;
  return moments.some(
    (moment) =>
      moment.type === "call" &&
      moment.calls.some(
        (made) =>
          heads.some((head) => makesCall(made, head)) ||
          (made.parts === null && made.program === symptom?.head) ||
          made.files.some((file) => files.has(file)) ||
          (heads.length === 0 && sharesWords(made, words)),
      ),
  );
}

function sharesWords({ words, program }: UpcomingCall, sought: ReadonlySet<string>): boolean {
  let shared = 0;
  for (const word of extractTerms([program, ...words].join(" ").slice(0, 2_000)))
    if (sought.has(word)) shared++;
  return shared >= 2;
}
