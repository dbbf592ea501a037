import type { Event } from "../event.ts";
import type { Finding } from "../finding.ts";
import { statedConvention } from "./stated-convention.ts";

/** A rule of this repository, stated by a person or enforced by a tool. */
export function convention(events: readonly Event[]): Finding[] {
  return statedConvention(events);
}
