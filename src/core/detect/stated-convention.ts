import type { Event } from "../event.ts";
import type { Finding } from "../finding.ts";
import { heard } from "./heard.ts";

/** A person states a rule of the project. */
export function statedConvention(events: readonly Event[]): Finding[] {
  return heard(events, "convention");
}
