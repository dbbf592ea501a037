import type { Event } from "../event.ts";
import type { Finding } from "../finding.ts";

export function convention(_events: readonly Event[]): Finding[] {
  return [];
}
