import type { Scene } from "./detect/scene.ts";
import type { Event } from "./event.ts";
import type { Finding } from "./finding.ts";
import { isForeign } from "./foreign-failure.ts";
import type { Instinct } from "./instinct.ts";
import { gistOf } from "./likeness.ts";
import type { Remedy } from "./link.ts";
import { policy } from "./policy.ts";
import { type Call, callsOf } from "./question.ts";
import { type Recovery, remedyCall } from "./recovery.ts";
import { filesIn } from "./run.ts";
import { type Symptom, symptomOf } from "./symptom.ts";
import { isUseOf } from "./use.ts";
import { overlap, termsOf } from "./words.ts";

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
  /** What was run, and worked, up to and with the call that overcame it. */
  readonly calls: readonly Call[];
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
    findings.flatMap((finding) => (isSaid(finding) ? [[finding.refs[0], finding] as const] : [])),
  );
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
    const failure = recovery ? metIn(recovery, scene.events, taught.has(ref)) : null;
    const ok = failure ? false : event.outcome === "ok" ? true : event.outcome === "failed" ? false : null;
    return [
      { type: "call", key, at, origin, text: callLine(event), calls: callsOf(event), ok, failure },
      ...said,
    ];
  });
}

/** Whether a finding rests on a person's words. */
function isSaid({ symptom, excerpt }: Finding): boolean {
  return symptom === null && excerpt.said !== null;
}

function callLine({ command, tool, input }: Event): string {
  return (command ?? `${tool} ${JSON.stringify(input ?? {})}`).slice(0, 200);
}

function metIn(recovery: Recovery, events: readonly Event[], taught: boolean): Met {
  const { failed, complaint } = recovery;
  const files = [...filesIn(failed.command ?? ""), ...failed.files.map(lastPart)];
  const end = endOf(recovery, events);
  const changed = end !== null && end.remedy !== "none" && end.remedy !== "argument";
  const symptom = symptomOf(recovery, failed.tool ?? "", files);
  return { symptom, line: complaint.line, end, solved: taught || changed };
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function endOf(recovery: Recovery, events: readonly Event[]): End | null {
  const { failed, worked, remedy, between } = recovery;
  if (worked === null || remedy === null) return null;
  const run = events
    .slice(events.indexOf(failed) + 1, events.indexOf(worked) + 1)
    .filter((event) => event === worked || event.outcome === "ok");
  const since = failed.endedAt ?? failed.at;
  return {
    remedy,
    foreign: isForeign(recovery),
    call: remedyCall(recovery),
    calls: run.flatMap(callsOf),
    told: endLine(recovery, worked),
    prescribed: recovery.step === null ? 0 : 1,
    callsUntil: between.calls,
    msUntil: since === null || worked.at === null ? 0 : Math.max(0, worked.at - since),
  };
}

function endLine({ remedy, step }: Recovery, worked: Event): string {
  if (step !== null) return `${callLine(step)}, then ${callLine(worked)}`;
  if (remedy === "elevation") return `${callLine(worked)}, with more rights`;
  return remedy === "directory" ? `${callLine(worked)}, in another folder` : callLine(worked);
}

/** Whether what a lesson says is what overcame a failure; null when the failure was not overcome. */
export function settles({ remedy, call, symptom }: Finding, met: Met): boolean | null {
  const { end } = met;
  if (end === null) return null;
  if (remedy === null || remedy === "none") return end.foreign || end.remedy === "none";
  if (remedy === "elevation" || remedy === "directory") return end.remedy === remedy;
  // The words of the call were the trouble, and other words were found.
  if (call === null) return end.remedy !== "none" && end.remedy !== "elevation";
  if (end.calls.some((each) => makesCall(each, call))) return true;
  if (end.call === null || end.remedy === "step") return false;
  return isSameChange(changeOf(symptom?.call, call), changeOf(met.symptom.call, end.call));
}

/** What a call that worked has and lacks beside the one that failed. */
interface CallChange {
  readonly added: ReadonlySet<string>;
  readonly dropped: ReadonlySet<string>;
  /** It is a call of a program that the one that failed did not name. */
  readonly replaced: boolean;
}

function changeOf(before: readonly string[] | null | undefined, after: readonly string[]): CallChange {
  return {
    added: new Set(after.filter((word) => !before?.includes(word))),
    dropped: new Set(before?.filter((word) => !after.includes(word))),
    replaced: after[0] !== undefined && !before?.includes(after[0]),
  };
}

/** `rtk` is left out, whatever is run without it; `uv run` is put before, whatever is run with it. */
function isSameChange(a: CallChange, b: CallChange): boolean {
  const dropped = a.dropped.size > 0 && overlap(a.dropped, b.dropped) === 1;
  // Where another program takes the place of what was dropped, it has to be the same one.
  return (dropped && !a.replaced && !b.replaced) || overlap(a.added, b.added) > 0.5;
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
