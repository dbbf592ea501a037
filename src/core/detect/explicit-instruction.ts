import type { Event } from "../event.ts";
import type { Finding } from "../finding.ts";
import { heard } from "./heard.ts";

/** A person says what to keep: under a name, in mind, or from here on. */
export function explicitInstruction(events: readonly Event[]): Finding[] {
  return heard(events, "explicit-instruction");
}
