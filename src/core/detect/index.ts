import type { Event } from "../event.ts";
import type { Calls } from "../failure.ts";
import { bestFirst, type Finding, mostEvents } from "../finding.ts";
import { gistOf, same } from "../likeness.ts";
import { policy } from "../policy.ts";
import { readCalls } from "../recovery.ts";
import { convention } from "./convention.ts";
import { errorRecovery } from "./error-recovery.ts";
import { explicitInstruction } from "./explicit-instruction.ts";
import { multiStep } from "./multi-step.ts";
import { repeatedAction } from "./repeated-action.ts";
import { type Scene, sceneOf } from "./scene.ts";
import { toolPattern } from "./tool-pattern.ts";
import { userCorrection } from "./user-correction.ts";

/** Looks for one kind of finding in a session. */
export type Detector = (scene: Scene) => Finding[];

const detectors: readonly Detector[] = [
  explicitInstruction,
  userCorrection,
  errorRecovery,
  convention,
  multiStep,
  repeatedAction,
  toolPattern,
];

/** Raised whenever detectors find something else than before: sessions are then looked at again. */
export const detectorsVersion = 6;

/** Everything worth keeping in a session, best first; what says the same is one finding. */
export function detect(events: readonly Event[], calls: Calls = readCalls()): Finding[] {
  return findingsIn(sceneOf(events, calls));
}

/**
 * Everything in a session that may be worth keeping, best first, for somebody to judge: recall comes before precision,
 * and the number is bounded.
 */
export function candidatesIn(events: readonly Event[], calls: Calls = readCalls()): Finding[] {
  const { wide } = policy.detect;
  return findingsIn(sceneOf(events, calls, wide)).slice(0, wide.most);
}

/** The same for a session that was looked at already. */
export function findingsIn(scene: Scene): Finding[] {
  const found = detectors.flatMap((detector) => detector(scene)).sort(bestFirst);
  const kept: Finding[] = [];
  for (const finding of found) {
    const at = kept.findIndex((other) => same(gistOf(other), gistOf(finding)));
    const known = kept[at];
    if (known) kept[at] = withEvents(known, finding);
    else kept.push(finding);
  }
  return kept;
}

/** A finding that rests on another's events too. */
function withEvents(finding: Finding, { refs, keys }: Finding): Finding {
  const joined = (a: readonly string[], b: readonly string[]) =>
    [...new Set([...a, ...b])].slice(0, mostEvents);
  return { ...finding, refs: joined(finding.refs, refs), keys: joined(finding.keys, keys) };
}
