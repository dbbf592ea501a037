import { CallReader } from "../../failures/index.ts";
import { extractGist, isSameLesson } from "../../lessons/index.ts";
import { compareFindings, type Event, type Finding, maxFindingEvents } from "../../records/index.ts";
import { findCures } from "./error-recovery.ts";
import { findStandingOrders } from "./standing-orders.ts";
import { readTurns } from "./turns.ts";

/** Raised whenever rules find something else than before: sessions are then looked at again. */
export const rulesVersion = 12;

/** Findings by rules alone, best first; equal ones are joined. */
export function findCertain(events: readonly Event[], calls = new CallReader()): Finding[] {
  const orders = findStandingOrders(readTurns(events));
  const cures = findCures(calls.recoveries(events));
  const kept: Finding[] = [];
  for (const one of [...orders, ...cures].sort(compareFindings)) {
    const at = kept.findIndex((other) => isSameLesson(extractGist(other), extractGist(one)));
    const known = kept[at];
    if (known) kept[at] = { ...known, refs: join(known.refs, one.refs), keys: join(known.keys, one.keys) };
    else kept.push(one);
  }
  return kept;
}

function join(a: readonly string[], b: readonly string[]): string[] {
  return [...new Set([...a, ...b])].slice(0, maxFindingEvents);
}
