import type { Event } from "../event.ts";
import type { Finding } from "../finding.ts";

export function errorRecovery(_events: readonly Event[]): Finding[] {
  return [];
}
