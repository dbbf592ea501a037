import type { ReviewState } from "../../authoring/index.ts";
import { formatUsd } from "../../models/index.ts";
import type { Knack } from "../../open.ts";
import type { ReviewWindow } from "../../records/index.ts";
import { several } from "../../text/index.ts";

/** Background reviews, as `knack status --json` and `knack review --json` print them. */
export type ReviewStatus = Awaited<ReturnType<typeof readReviewStatus>>;

export async function readReviewStatus(
  knack: Knack,
  known: readonly { readonly id: string; readonly name: string }[],
) {
  const { last, projects, ...rest } = await knack.reviews();
  const names = new Map(known.map(({ id, name }) => [id, name]));
  return {
    ...rest,
    last: last && { at: last.at, outcome: last.data.outcome, because: last.data.because },
    projects: projects.map(({ project, decision: { window, ...decision } }) => ({
      ...{ project, name: names.get(project) ?? project, ...decision },
      ...measureWindow(window),
    })),
  };
}

interface ReviewSize {
  readonly sessions: number;
  readonly events: number;
}

export function measureWindow({ stretches }: Pick<ReviewWindow, "stretches">): ReviewSize {
  const events = stretches.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return { sessions: stretches.length, events };
}

/** A window without new events is reviewed because a new signal points into it. */
export function describeSize({ events, sessions }: ReviewSize): string {
  const what = events === 0 ? "what a signal points to in" : `${several(events, "event")} of`;
  return `${what} ${several(sessions, "session")}`;
}

/** `1 of 12 reviews and 0.02 USD of 1.00 USD in the last day`. */
export function describeBudget({ today, limits }: Pick<ReviewState, "today" | "limits">): string {
  return `${today.reviews} of ${several(limits.perDay, "review")} and ${formatUsd(today.usd)} of ${formatUsd(limits.usdPerDay)} in the last day`;
}
