import { remembers } from "./detect/phrases.ts";
import { savedName } from "./detect/signs.ts";
import { sentencesOf, withoutOpening } from "./detect/speech.ts";
import { type Event, numberOf, shorten } from "./event.ts";
import { type Finding, type FindingKind, isSaid } from "./finding.ts";
import { isOwnCall } from "./own-call.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import {
  type DeferReason,
  type Effect,
  type Issue,
  issues,
  type LearningAction,
  type Trigger,
} from "./protocol.ts";
import type { Claim } from "./signal.ts";
import type { Owner } from "./skill.ts";
import { callsTold, makes } from "./told.ts";

/** Something that a session shows and nobody wrote down, with the events that it rests on. */
export interface Missed {
  /** The finding's id. */
  readonly id: string;
  readonly finding: Finding;
  readonly events: readonly Event[];
}

/** A learning that its agent began and could not bring to an end, with the events that it rests on. */
export interface Failed {
  /** The learning's id. */
  readonly id: string;
  /** The turn of the last try. */
  readonly invocation: string;
  readonly action: LearningAction;
  readonly skill: string;
  readonly reason: Trigger | Issue;
  readonly refs: readonly string[];
  /** What was to be learned, in the agent's words. */
  readonly summary: string;
  readonly events: readonly Event[];
}

/** A skill that was used in a session: where first. */
export interface FirstUse {
  readonly name: string;
  readonly number: number;
  readonly turn: number;
}

export interface DerivingGround {
  readonly run: string;
  readonly prefix: string;
  /** The skills that there are, by name: who made them, and what they tell. */
  readonly skills: ReadonlyMap<string, { readonly owner: Owner; readonly text: string }>;
  readonly uses: readonly FirstUse[];
  /** The turns in which something was learned, or in which the agent said itself what it should have learned. */
  readonly settled: ReadonlySet<string>;
  /** The events of which something was learned, or was to be: a learning that fails speaks for itself. */
  readonly taught: ReadonlySet<string>;
  /** The findings and learnings that a signal was derived from before, and how many in each turn. */
  readonly known: ReadonlySet<string>;
  readonly given: ReadonlyMap<string, number>;
}

/** A signal that nobody gave. */
export interface Derived {
  /** What it was derived from: a finding, or a learning. */
  readonly finding: string;
  readonly invocation: string;
  readonly claim: Claim;
}

/** A turn of a session, by the same name that a host's call in it has. */
export function invocationOf(run: string, turn: number): string {
  return `${run}#${turn}`;
}

/** What a session shows that it should have learned: a few for each turn, what was tried and then the surest first. */
export function derived(
  all: readonly (Missed | Failed)[],
  ground: DerivingGround,
  { signal }: Policy = defaults,
): Derived[] {
  const room = new Map(ground.given);
  return [...all]
    .sort((a, b) => surenessOf(b) - surenessOf(a) || (a.id < b.id ? -1 : 1))
    .flatMap((one) => {
      const invocation = turnOf(one, ground.run);
      const isOver =
        ground.known.has(one.id) ||
        ground.settled.has(invocation) ||
        (room.get(invocation) ?? 0) >= signal.perTurn;
      const claim = isOver ? null : claimOf(one, ground, signal.turnsAfterUse);
      if (claim === null) return [];
      room.set(invocation, (room.get(invocation) ?? 0) + 1);
      return [{ finding: one.id, invocation, claim }];
    });
}

function surenessOf(one: Missed | Failed): number {
  return "finding" in one ? one.finding.confidence : Number.POSITIVE_INFINITY;
}

function turnOf(one: Missed | Failed, run: string): string {
  if (!("finding" in one)) return one.invocation;
  return invocationOf(run, Math.max(0, ...one.events.map(({ turn }) => turn)));
}

function claimOf(one: Missed | Failed, ground: DerivingGround, turnsAfterUse: number): Claim | null {
  if (!("finding" in one)) return triedAgain(one);
  const isTaught = one.finding.refs.some((ref) => ground.taught.has(ref));
  return isTaught || one.events.every(isOwnCall) ? null : lessonOf(one, ground, turnsAfterUse);
}

/** What an agent began for a reason is still worth it. */
function triedAgain({ action, skill, reason, refs, summary, events }: Failed): Claim {
  const deferred: DeferReason = "write_or_publish_failed";
  if (action === "create")
    return { kind: "create", nameHint: skill, trigger: reason, deferred, refs, summary };
  // An update may be begun for what is worth a skill: then the skill has not got it.
  const issue = issues.find((one) => one === reason) ?? "missing_step";
  return { kind: "update", skill, issue, deferred, effect: effectIn(events), refs, hint: summary };
}

function effectIn(events: readonly Event[]): Effect {
  if (events.some(({ outcome }) => outcome === "failed")) return "retry_after_tool_error";
  return events.some(({ kind }) => kind === "prompt")
    ? "retry_after_user_correction"
    : "verified_alternative";
}

function lessonOf(one: Missed, ground: DerivingGround, turnsAfterUse: number): Claim | null {
  const { finding } = one;
  const stale = finding.kind === "error-recovery" ? toldWhatFailed(one, ground) : null;
  if (stale !== null) return wrongWith(stale, finding, "stale_command", "retry_after_tool_error");
  const corrected = finding.kind === "user-correction" ? usedBefore(one, ground, turnsAfterUse) : null;
  if (corrected !== null) return wrongWith(corrected, finding, "missing_step", "retry_after_user_correction");
  const trigger = triggerOf(finding);
  if (trigger === null) return null;
  return {
    kind: "create",
    nameHint: hintOf(ground.prefix, finding.name),
    trigger,
    deferred: "needs_full_context_review" satisfies DeferReason,
    refs: finding.refs,
    summary: textOf(finding),
  };
}

function wrongWith(skill: string, finding: Finding, issue: Issue, effect: Effect): Claim {
  const deferred: DeferReason = "needs_existing_skill_diff";
  return { kind: "update", skill, issue, deferred, effect, refs: finding.refs, hint: textOf(finding) };
}

/** What is one line for an agent's instructions needs no skill, unless the person wants it remembered. */
function triggerOf(finding: Finding): Trigger | null {
  const isLine = isSaid(finding.kind) && finding.artifact !== "skill";
  return isLine && !isToBeRemembered(finding) ? null : triggers[finding.kind];
}

function isToBeRemembered({ kind, excerpt }: Finding): boolean {
  if (kind !== "explicit-instruction") return false;
  const said = (excerpt.said ?? "").toLowerCase();
  return savedName(said) !== null || sentencesOf(said).some((one) => remembers.test(withoutOpening(one)));
}

const triggers: Readonly<Record<FindingKind, Trigger | null>> = {
  "error-recovery": "recovered_surprise",
  "user-correction": "user_correction",
  "explicit-instruction": "explicit_user_request",
  convention: null,
  "multi-step": "multi_step_workflow",
  "repeated-action": "repeated_tool_pattern",
  "tool-pattern": "repeated_tool_pattern",
};

/** The skill that told to run what failed. */
function toldWhatFailed({ events }: Missed, ground: DerivingGround): string | null {
  const failed = events.filter(({ outcome, command }) => outcome === "failed" && command !== null);
  const told = changeable(ground).find(({ name, number }) => {
    const calls = callsTold(ground.skills.get(name)?.text ?? "");
    return failed.some(
      ({ ref, command }) => number < numberOf(ref) && calls.some((call) => makes(command ?? "", call)),
    );
  });
  return told?.name ?? null;
}

/** The skill that was loaded last before a person corrected the agent, if that was not long before. */
function usedBefore({ events }: Missed, ground: DerivingGround, turns: number): string | null {
  const [deciding] = events;
  if (deciding === undefined) return null;
  const [latest] = changeable(ground).filter(
    ({ number, turn }) => number < numberOf(deciding.ref) && deciding.turn - turn <= turns,
  );
  return latest?.name ?? null;
}

/** The skills that were used and may be changed, the latest first. */
function changeable({ uses, skills }: DerivingGround): FirstUse[] {
  return uses
    .filter(({ name }) => (skills.get(name)?.owner ?? "core") !== "core")
    .sort((a, b) => b.number - a.number);
}

function textOf({ lesson }: Finding): string {
  return shorten(lesson, defaults.protocol.summaryChars);
}

function hintOf(prefix: string, name: string): string {
  const whole = name.startsWith(prefix) ? name : `${prefix}${name}`;
  return whole.slice(0, defaults.protocol.name.longest).replace(/-+$/, "");
}
