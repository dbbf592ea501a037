import type { Event } from "../event.ts";
import type { Finding } from "../finding.ts";
import { heard } from "./heard.ts";

/** A person corrects what the agent did. */
export function userCorrection(events: readonly Event[]): Finding[] {
  return heard(events, "user-correction");
}
