import type { Event } from "../event.ts";
import { type Finding, mostEvents } from "../finding.ts";
import { gistOf, same } from "../likeness.ts";
import { convention } from "./convention.ts";
import { errorRecovery } from "./error-recovery.ts";
import { explicitInstruction } from "./explicit-instruction.ts";
import { type Scene, sceneOf } from "./scene.ts";
import { userCorrection } from "./user-correction.ts";

/** Looks for one kind of finding in a session. */
export type Detector = (scene: Scene) => Finding[];

const detectors: readonly Detector[] = [explicitInstruction, userCorrection, errorRecovery, convention];

/** Raised whenever detectors find something else than before: sessions are then looked at again. */
export const detectorsVersion = 3;

/** Everything worth keeping in a session, best first; what says the same is one finding. */
export function detect(events: readonly Event[]): Finding[] {
  return findingsIn(sceneOf(events));
}

/** Everything that may be worth keeping, for somebody else to judge. */
export function candidatesIn(events: readonly Event[]): Finding[] {
  return detect(events);
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

function bestFirst(a: Finding, b: Finding): number {
  return b.confidence - a.confidence || (a.at ?? 0) - (b.at ?? 0);
}

/** A finding that rests on another's events too. */
function withEvents(finding: Finding, { refs, keys }: Finding): Finding {
  const joined = (a: readonly string[], b: readonly string[]) =>
    [...new Set([...a, ...b])].slice(0, mostEvents);
  return { ...finding, refs: joined(finding.refs, refs), keys: joined(finding.keys, keys) };
}
