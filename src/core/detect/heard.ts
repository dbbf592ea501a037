import type { Event } from "../event.ts";
import type { Finding } from "../finding.ts";
import { tell } from "./telling.ts";
import { turnsOf } from "./turns.ts";
import { judge, type Verdict } from "./verdict.ts";

/** The lessons of one kind in what people said. */
export function heard(events: readonly Event[], kind: Verdict["kind"]): Finding[] {
  return turnsOf(events).flatMap((turn) => {
    const verdict = judge(turn);
    return verdict?.kind === kind ? [tell(turn, verdict)] : [];
  });
}
