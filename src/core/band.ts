import { type Instinct, standingAt } from "./instinct.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import type { Shared } from "./promote.ts";

/** What can be made of an instinct, by how sure it is. */
export type Band = "pending" | "usable" | "promotable" | "promoted" | "rejected" | "conflict-hold";

/**
 * The band that an instinct is in: `pending` waits for another session, `usable` is believed where it was learned,
 * `promotable` is one that several projects are as sure of. Null for what is over: superseded, or retired.
 */
export function bandOf(
  { id, standing }: Instinct,
  { now, promotable }: { readonly now: number; readonly promotable: ReadonlySet<string> },
  policy: Policy = defaults,
): Band | null {
  const { status } = standingAt(standing, now, policy);
  switch (status) {
    case "pending":
    case "promoted":
    case "rejected":
    case "conflict-hold":
      return status;
    case "active":
      return promotable.has(id) ? "promotable" : "usable";
    case "superseded":
    case "retired":
      return null;
  }
}

/** The instincts that enough projects are sure enough of, whether or not something keeps them from being promoted. */
export function promotableIn(shared: readonly Shared[], { promote }: Policy = defaults): Set<string> {
  return new Set(
    shared
      .filter(({ projects, mean }) => projects.length >= promote.projects && mean >= promote.mean)
      .flatMap(({ members }) => members.map(({ id }) => id)),
  );
}
