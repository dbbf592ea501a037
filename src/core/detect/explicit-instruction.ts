import type { Finding } from "../finding.ts";
import { heard } from "./heard.ts";
import type { Scene } from "./scene.ts";

/** A person says what to keep: under a name, in mind, or from here on. */
export function explicitInstruction(scene: Scene): Finding[] {
  return heard(scene, "explicit-instruction");
}
