import type { Event } from "../event.ts";
import type { Finding } from "../finding.ts";
import { convention } from "./convention.ts";
import { errorRecovery } from "./error-recovery.ts";
import { explicitInstruction } from "./explicit-instruction.ts";
import { type Scene, sceneOf } from "./scene.ts";
import { userCorrection } from "./user-correction.ts";

/** Looks for one kind of finding in a session. */
export type Detector = (scene: Scene) => Finding[];

const detectors: readonly Detector[] = [explicitInstruction, userCorrection, errorRecovery, convention];

/** Raised whenever detectors find something else than before: sessions are then looked at again. */
export const detectorsVersion = 1;

/** Everything worth keeping in a session, best first. */
export function detect(events: readonly Event[]): Finding[] {
  const scene = sceneOf(events);
  return detectors
    .flatMap((detector) => detector(scene))
    .sort((a, b) => b.confidence - a.confidence || (a.at ?? 0) - (b.at ?? 0));
}
