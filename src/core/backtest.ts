import { isOfTheWork } from "./cause.ts";
import { baseName } from "./command.ts";
import type { Scene } from "./detect/scene.ts";
import type { Event } from "./event.ts";
import { type Finding, isSaid } from "./finding.ts";
import { fixOf, isSameFix } from "./fix.ts";
import { isForeign } from "./foreign-failure.ts";
import type { Instinct } from "./instinct.ts";
import { gistOf } from "./likeness.ts";
import type { Remedy } from "./link.ts";
import { policy } from "./policy.ts";
import { type Call, callsOf } from "./question.ts";
import { callText, type Recovery, remedyCall } from "./recovery.ts";
import { filesIn } from "./run.ts";
import { kinOf, type Symptom, symptomOf } from "./symptom.ts";
import { isUseOf } from "./use.ts";
import { termsOf } from "./words.ts";

/** What happened in a session at one point, as far as a replay needs it. */
export type Moment =
  | {
      readonly type: "prompt";
      readonly key: string;
      readonly at: number;
      readonly text: string;
      readonly origin: string | null;
    }
  | {
      readonly type: "call";
      readonly key: string;
      readonly at: number;
      readonly origin: string | null;
      readonly text: string;
      readonly calls: readonly Call[];
      /** Null for one that was cancelled, refused, or never answered. */
      readonly ok: boolean | null;
      readonly failure: Met | null;
    }
  | {
      readonly type: "correction";
      readonly key: string;
      readonly at: number;
      readonly origin: string | null;
      readonly finding: Finding;
    };

/** A failure that was met. */
export interface Met {
  readonly symptom: Symptom;
  readonly line: string;
  /** What was run before the same failure came again. */
  readonly tried: readonly Call[];
  /** How it was overcome; null when it was not. */
  readonly end: End | null;
  /** It was overcome in a way that helps the next time. */
  readonly solved: boolean;
}

/** How a failure was overcome. */
export interface End {
  readonly remedy: Remedy;
  readonly foreign: boolean;
  /** The call that a lesson about it would recommend. */
  readonly call: readonly string[] | null;
  /** What was run, and worked, after it last failed and up to the call that overcame it. */
  readonly calls: readonly Call[];
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
export function momentsOf(scene: Scene, findings: readonly Finding[], startedAt: number): Moment[] {
  const failures = new Map(scene.recoveries.map((recovery) => [recovery.failed.ref, recovery]));
  // Of the events that a lesson rests on, the first is the failure; what worked may have failed later on.
  const taught = new Set(findings.flatMap(({ symptom, refs }) => (symptom === null ? [] : refs.slice(0, 1))));
  const heard = new Map(
    findings.flatMap((finding) => (isHeard(finding) ? [[finding.refs[0], finding] as const] : [])),
  );
  const places = placesIn(scene.events);
  let at = startedAt;
  return scene.events.flatMap((event): Moment[] => {
    at = event.at ?? at;
    const { key, ref, origin } = event;
    const correction = heard.get(ref);
    const said: Moment[] = correction ? [{ type: "correction", key, at, origin, finding: correction }] : [];
    if (event.kind === "prompt")
      return [
        { type: "prompt", key, at, origin, text: event.text.slice(0, policy.recall.textChars) },
        ...said,
      ];
    if (event.kind !== "call") return said;
    const recovery = failures.get(ref);
    const failure = recovery ? metIn(recovery, places, taught.has(ref)) : null;
    const ok = failure ? false : event.outcome === "ok" ? true : event.outcome === "failed" ? false : null;
    return [
      { type: "call", key, at, origin, text: callLine(event), calls: callsOf(event), ok, failure },
      ...said,
    ];
  });
}

/** Whether a finding rests on a person's words. */
function isHeard({ kind, symptom, excerpt }: Finding): boolean {
  return isSaid(kind) && symptom === null && excerpt.said !== null;
}

function callLine({ command, tool, input }: Event): string {
  return (command ?? `${tool} ${JSON.stringify(input ?? {})}`).slice(0, 200);
}

function metIn(recovery: Recovery, places: Places, taught: boolean): Met {
  const { failed, complaint, again } = recovery;
  const files = [...filesIn(failed.command ?? ""), ...failed.files.map(baseName)];
  const symptom = symptomOf(recovery, failed.tool ?? "", files);
  const last = again.reduce((latest, event) => Math.max(latest, places.of(event)), places.of(failed));
  const tried = again.length === 0 ? [] : places.between(places.of(failed), last + 1).flatMap(callsOf);
  const end = endOf(recovery, symptom, places, last);
  const changed = end !== null && end.remedy !== "none" && end.remedy !== "argument";
  return {
    symptom,
    line: complaint.line,
    tried,
    end,
    solved: taught || (changed && !isOfTheWork(complaint.cause)),
  };
}

/** Where events stand in their session. */
interface Places {
  of(event: Event): number;
  /** The events after one place and before another. */
  between(first: number, last: number): Event[];
}

function placesIn(events: readonly Event[]): Places {
  const numbers = new Map(events.map((event, at) => [event, at]));
  return { of: (event) => numbers.get(event) ?? -1, between: (first, last) => events.slice(first + 1, last) };
}

function endOf(recovery: Recovery, { files }: Symptom, places: Places, lastFailed: number): End | null {
  const { failed, worked, remedy, between, again } = recovery;
  if (worked === null || remedy === null) return null;
  const run = places.between(lastFailed, places.of(worked)).filter(({ outcome }) => outcome === "ok");
  const since = failed.endedAt ?? failed.at;
  const touched = [...filesIn(callText(worked)), ...worked.files.map(baseName)];
  return {
    remedy,
    foreign: isForeign(recovery),
    call: remedyCall(recovery),
    calls: [...run, worked].flatMap(callsOf),
    touchesDenied: touched.some((file) => files.includes(kinOf(file))),
    told: endLine(recovery, worked),
    prescribed: recovery.step === null ? 0 : 1,
    callsUntil: between.calls + again.length,
    msUntil: since === null || worked.at === null ? 0 : Math.max(0, worked.at - since),
  };
}

function endLine({ remedy, step }: Recovery, worked: Event): string {
  if (step !== null) return `${callLine(step)}, then ${callLine(worked)}`;
  if (remedy === "elevation") return `${callLine(worked)}, with more rights`;
  return remedy === "directory" ? `${callLine(worked)}, in another folder` : callLine(worked);
}

/** Whether what a lesson says is what overcame a failure; null when nothing did and the advice was not tried. */
export function settles(lesson: Finding, { symptom, tried, end }: Met): boolean | null {
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
  return isSameFix(fixOf(lesson), { remedy: end.remedy, before: symptom.call, call: end.call });
}

function makesCall({ program, parts }: Call, call: readonly string[]): boolean {
  return parts !== null && isUseOf({ head: program, parts }, call);
}

/** Whether a session, from some point on, has to do with what a lesson is about: its command, its files or its tool. */
export function touches(instinct: Instinct, moments: readonly Moment[]): boolean {
  const { symptom, call, lesson, trigger, action } = instinct;
  const files = filesIn(`${lesson} ${action}`);
  const heads = [call, symptom?.call].flatMap((each) => (each ? [each.slice(0, 2)] : []));
  const words = gistOf({ trigger, action }).all;
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

function sharesWords({ words, program }: Call, sought: ReadonlySet<string>): boolean {
  let shared = 0;
  for (const word of termsOf([program, ...words].join(" ").slice(0, 2_000))) if (sought.has(word)) shared++;
  return shared >= 2;
}
