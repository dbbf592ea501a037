import type { Finding } from "../finding.ts";
import { heard } from "./heard.ts";
import type { Scene } from "./scene.ts";

/** A person corrects what the agent did. */
export function userCorrection(scene: Scene): Finding[] {
  return heard(scene, "user-correction");
}
