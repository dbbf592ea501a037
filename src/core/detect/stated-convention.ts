import type { Finding } from "../finding.ts";
import { heard } from "./heard.ts";
import type { Scene } from "./scene.ts";

/** A person states a rule of the project. */
export function statedConvention(scene: Scene): Finding[] {
  return heard(scene, "convention");
}
