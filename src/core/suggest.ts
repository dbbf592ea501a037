import { type Instinct, isTold, standingAt } from "./instinct.ts";
import { policy as defaults, type Policy } from "./policy.ts";

/** The instincts worth a person's attention, best first: sure of themselves, or seen in more than one session. */
export function suggestionsOf(
  instincts: readonly Instinct[],
  kept: ReadonlySet<string>,
  now: number,
  policy: Policy = defaults,
): Instinct[] {
  return instincts
    .filter((instinct) => {
      const { status } = standingAt(instinct.standing, now, policy);
      // Of what several projects have learned, the one that is told for all of them.
      const isOpen =
        status === "pending" || status === "active" || (status === "promoted" && isTold(instinct));
      return isOpen && !kept.has(instinct.id);
    })
    .filter((instinct) => isShown(instinct, policy))
    .sort((a, b) => worth(b, now, policy) - worth(a, now, policy) || (a.id < b.id ? -1 : 1));
}

/** Whether a person is shown it: weaker findings wait until another session agrees. */
export function isShown({ standing }: Instinct, { learn }: Policy = defaults): boolean {
  return standing.sure >= learn.sure || (standing.sessions > 1 && standing.sure >= learn.plain);
}

/** Whether nobody is told of it yet: it rests on one session that did not say much, or on any number of what anybody does. */
export function isWaiting({ standing }: Pick<Instinct, "standing">, { learn }: Policy = defaults): boolean {
  const { sure, sessions, status } = standing;
  return status === "pending" && (sure < learn.plain || (sure < learn.waits && sessions < 2));
}

/** What to show first: what happens again and again, then what is surest. */
function worth({ standing }: Instinct, now: number, policy: Policy): number {
  const { learn } = policy;
  const again = standing.sessions > 1 ? learn.again : 0;
  // What sessions agree on is as sure as what one of them may say alone.
  const sure = standing.sessions > 1 ? Math.max(standing.sure, learn.sure) : standing.sure;
  return standingAt(standing, now, policy).confidence + sure + again;
}
