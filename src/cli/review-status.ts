import { inUsd } from "../core/budget.ts";
import { KnackError } from "../core/errors.ts";
import type { ProjectFold } from "../core/ledger.ts";
import type { NudgeDecided, Window } from "../core/nudge.ts";
import { several } from "../core/words.ts";
import type { ReviewState } from "../open/reviews.ts";
import type { Knack } from "../open.ts";
import type { Env } from "./main.ts";
import { missingIn } from "./reviewers.ts";
import { calledAs, dateTime, iso, onOneLine } from "./terminal.ts";

/** Background reviews as `knack status --json` tells of them. */
export interface ReviewStatus extends Omit<ReviewState, "last" | "projects"> {
  readonly last: { readonly at: string | null; readonly outcome: string; readonly because: string } | null;
  readonly projects: readonly (Pick<NudgeDecided, "run" | "because" | "message" | "counters"> & {
    readonly project: string;
    readonly name: string;
  } & Looked)[];
}

/** How much is looked at. */
interface Looked {
  readonly sessions: number;
  readonly events: number;
}

export async function reviewStatusOf(
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
      ...sizeOf(window),
    })),
  };
}

/** How much a window has. */
export function sizeOf({ stretches }: Pick<Window, "stretches">): Looked {
  const events = stretches.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return { sessions: stretches.length, events };
}

/** What is looked at, in words. What was looked at before has no new events, but a new signal may point to it. */
export function lookedAt({ events, sessions }: Looked): string {
  const what = events === 0 ? "what a signal points to in" : `${several(events, "event")} of`;
  return `${what} ${several(sessions, "session")}`;
}

/** The project that is meant: by a part of its name, or the one of this folder. */
export async function projectFor(knack: Knack, part: string | undefined): Promise<string> {
  if (part === undefined) return knack.projectOf(process.cwd());
  const wanted = part.toLowerCase();
  const all = await knack.projects();
  const exact = all.filter(({ id, name }) => id === part || name === part);
  const found =
    exact.length > 0 ? exact : all.filter(({ id, name }) => `${name}\n${id}`.toLowerCase().includes(wanted));
  const [first] = found;
  if (first && found.length === 1) return first.id;
  throw new KnackError(
    "UNKNOWN_NAME",
    `"${part}" is ${first ? `${found.length} projects` : "no project that Knack knows"}.`,
    {
      hint: first ? found.map(({ id }) => id).join("; ") : "knack projects lists them.",
    },
  );
}

/** What a person is told of them: what they may do, and of the latest project whether one is due. */
export function reviewRows(status: ReviewStatus | null, env: Env): [string, string][] {
  if (status === null) return [];
  const { mode, model, today, limits, last } = status;
  const [missing] = missingIn(status, env);
  const said =
    mode === "off"
      ? `off (${calledAs(env)} config set review suggest)`
      : missing !== undefined
        ? `${mode}, but ${missing.says}`
        : `${mode}, by ${model}: ${today.reviews} of ${several(limits.perDay, "review")} and ${inUsd(today.usd)} of ${inUsd(limits.usdPerDay)} in the last day`;
  const lately =
    last === null ? "" : `; last ${dateTime(Date.parse(last.at ?? ""))}: ${onOneLine(last.outcome, 40)}`;
  return [["reviews", `${said}${lately}${signalsIn(status)}`], ...dueRows(status)];
}

function signalsIn({ signals: { counted: count, refused } }: ReviewStatus): string {
  if (count + refused === 0) return "";
  return `; ${several(count, "signal")} waiting${refused > 0 ? ` and ${refused} refused` : ""}`;
}

function dueRows({ projects }: ReviewStatus): [string, string][] {
  const [first, ...others] = projects;
  if (first === undefined) return [];
  const { name, run, message, counters } = first;
  const more = others.length > 0 ? ` (and ${several(others.length, "more project")})` : "";
  const { calls, signals, hints } = counters;
  const shown = [
    several(calls, "call"),
    ...(signals + hints > 0 ? [several(signals + hints, "signal")] : []),
  ];
  const what = `${lookedAt(first)}, ${shown.join(", ")}`;
  const why = run ? `one is due: ${onOneLine(message, 120)}` : `none: ${onOneLine(message, 120)}`;
  return [["", `in ${onOneLine(name, 40)} ${why}; it ${run ? "will" : "would"} look at ${what}${more}`]];
}

export function waitingReviews(status: ReviewStatus | null): string[] {
  const waiting = status?.waiting ?? 0;
  return waiting > 0 ? [`${several(waiting, "proposal")} of reviews (knack review inbox)`] : [];
}
