import type { Reviewers, ReviewState } from "../../authoring/index.ts";
import type { ModelState } from "../../learning/index.ts";
import { formatUsd } from "../../models/index.ts";
import type { Knack } from "../../open.ts";
import type { ReviewWindow } from "../../records/index.ts";
import { modelChoice } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import type { Screen } from "./screen.ts";
import { oneLine } from "./text.ts";

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

/** Why the model that reviews cannot be asked, and what to do about it; null where it can. */
export function findMissingModel(
  { model, unset }: Pick<Reviewers, "model" | "unset">,
  { knack }: Screen,
): { readonly because: string; readonly next: string } | null {
  if (unset === null) return null;
  const set = `${knack} config set`;
  const via = modelChoice(model)?.via ?? "off";
  const next =
    via === "off"
      ? `${set} model claude, codex, anthropic/<model> or openai/<model>`
      : via === "claude" || via === "codex"
        ? `install it, or ${set} model <another>`
        : `set it, or ${set} model.keyEnv <the variable that has the key>`;
  return { because: oneLine(unset, 200), next };
}

export function describeSpending({ spent, budget }: ModelState): string {
  return spent.calls === 0
    ? "not asked in the last day"
    : `${several(spent.calls, "call")} in the last day, ${formatUsd(spent.usd)} of ${formatUsd(budget.usdPerDay)}`;
}
