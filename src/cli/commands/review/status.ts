import type { Reviewers, ReviewState } from "../../../authoring/index.ts";
import { formatUsd } from "../../../models/index.ts";
import type { Knack } from "../../../open.ts";
import type { NudgeDecided, ProjectFold, ReviewWindow } from "../../../records/index.ts";
import { modelChoice } from "../../../settings/index.ts";
import { several } from "../../../text/index.ts";
import type { Screen } from "../../screen/screen.ts";
import { formatTime, iso, oneLine } from "../../screen/text.ts";

/** How much a review looks at. */
interface ReviewSize {
  readonly sessions: number;
  readonly events: number;
}

/** Background reviews, as `knack status --json` and `knack review --json` print them. */
export interface ReviewStatus extends Omit<ReviewState, "last" | "projects"> {
  readonly last: { readonly at: string | null; readonly outcome: string; readonly because: string } | null;
  readonly projects: readonly (Pick<NudgeDecided, "run" | "because" | "message" | "counters"> & {
    readonly project: string;
    readonly name: string;
  } & ReviewSize)[];
}

export async function readReviewStatus(
  knack: Knack,
  projects: readonly Pick<ProjectFold, "id" | "name">[],
): Promise<ReviewStatus> {
  const { last, projects: due, ...rest } = await knack.reviews();
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  return {
    ...rest,
    last: last && { at: iso(last.at), outcome: last.data.outcome, because: last.data.because },
    projects: due.map(({ project, decision: { run, because, message, counters, window } }) => ({
      ...{ project, name: names.get(project) ?? project, run, because, message, counters },
      ...measureWindow(window),
    })),
  };
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

/** The rows of `knack status`: what reviews may do, and whether one is due in the latest project. */
export function describeReviews(status: ReviewStatus | null, screen: Screen): [string, string][] {
  if (status === null) return [];
  const { mode, last, signals } = status;
  const missing = findMissingModel(status, screen);
  const state =
    mode === "off"
      ? `off (to turn on: ${screen.knack} config set review suggest)`
      : missing !== null
        ? `${mode}, but ${missing.because}`
        : `${mode}, by ${status.model}: ${describeBudget(status)}`;
  const lately =
    last === null ? "" : `; last ${formatTime(Date.parse(last.at ?? ""))}: ${oneLine(last.outcome, 40)}`;
  const refused = signals.refused > 0 ? ` and ${signals.refused} refused` : "";
  const waiting =
    signals.counted + signals.refused === 0
      ? ""
      : `; ${several(signals.counted, "signal")} waiting${refused}`;
  return [["reviews", `${state}${lately}${waiting}`], ...describeDue(status)];
}

/** `1 of 12 reviews and 0.02 USD of 1.00 USD in the last day`. */
export function describeBudget({ today, limits }: Pick<ReviewState, "today" | "limits">): string {
  return `${today.reviews} of ${several(limits.perDay, "review")} and ${formatUsd(today.usd)} of ${formatUsd(limits.usdPerDay)} in the last day`;
}

function describeDue({ projects }: ReviewStatus): [string, string][] {
  const [first, ...others] = projects;
  if (first === undefined) return [];
  const { name, run, message, counters } = first;
  const more = others.length > 0 ? ` (and ${several(others.length, "more project")})` : "";
  const signals = counters.signals + counters.hints;
  const what = [
    describeSize(first),
    several(counters.calls, "call"),
    ...(signals > 0 ? [several(signals, "signal")] : []),
  ];
  const why = `${run ? "one is due" : "none is due"}: ${oneLine(message, 120)}`;
  return [
    ["", `in ${oneLine(name, 40)} ${why}; it ${run ? "will" : "would"} look at ${what.join(", ")}${more}`],
  ];
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

/** A model by its name, and by its address where it has one. */
export function describeModel({ model, to }: Pick<Reviewers, "model" | "to">): string {
  if (model === "off") return "a model, once one is set";
  const isProgram = to.split(" ")[0] === model.split("/")[0];
  return isProgram ? model : `${model} (${oneLine(to, 200)})`;
}
