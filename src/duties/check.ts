import { type Goal, type GoalEntry, type LedgerEntry, reflectionOwed } from "../records/index.ts";
import {
  checkDuties,
  type DutyResult,
  type DutyView,
  falseWaivers,
  findValidWaiver,
  listFalseWaivers,
  listUnreflected,
} from "./checks.ts";
import type { Depth, Folds } from "./folds.ts";

/** The answer of `knack goal check`. */
export interface GoalCheck {
  readonly goal: string;
  readonly text: string;
  readonly state: "open" | "closed";
  readonly depth: Depth;
  readonly deep_because: readonly string[];
  readonly duties: readonly Pick<DutyResult, "duty" | "verdict" | "blocking" | "reasons" | "repairs">[];
  readonly all_passed: boolean;
  readonly meta_signals: number;
  readonly folds: Folds;
  readonly blocked: boolean;
}

export function checkGoal(view: DutyView): GoalCheck {
  const { goal, depth, deepBecause, folds } = view;
  const results = checkDuties(view);
  return {
    ...{ goal: goal.id, text: goal.text, state: goal.closed === null ? "open" : "closed", depth },
    deep_because: deepBecause,
    duties: results.map(({ duty, verdict, blocking, reasons, repairs }) => ({
      ...{ duty, verdict, blocking, reasons, repairs },
    })),
    all_passed: results.every(({ verdict }) => verdict === "pass" || verdict === "waived"),
    meta_signals: goal.meta.length,
    folds,
    blocked: results.some(({ blocking }) => blocking),
  };
}

type Closing = Pick<Extract<GoalEntry, { type: "goal.closed" }>["data"], "outcome" | "path">;

/** The entries that close a goal as it stands: where it owes a lesson, one debt goes with it. */
export function closeEntries(
  view: DutyView,
  { outcome, path }: Closing,
  { at, key, actor }: Pick<GoalEntry, "at" | "key" | "actor">,
): LedgerEntry[] {
  const { goal, facts } = view;
  // How it ends is part of what the duty asks.
  const ended = {
    ...goal,
    closed: { goal: goal.id, outcome, path, lesson: "unlearned", facts, ...origin(goal, at, key) },
  };
  const last = { ...view, goal: ended as Goal };
  const lesson = checkDuties(last).find(({ duty }) => duty === "lesson");
  const owes =
    lesson?.debt ??
    (lesson?.blocking ? unkept : null) ??
    (listUnreflected(goal).length > 0 ? unreflected : null);
  const stands =
    owes !== null
      ? "unlearned"
      : goal.kept.length + view.keptElsewhere.length > 0
        ? "kept"
        : findValidWaiver(last, "lesson") !== null
          ? "waived"
          : "not-needed";
  const common = { at, project: goal.project, session: goal.session, actor };
  const isNew = goal.debts.every(({ settled, page }) => settled || page !== null);
  return [
    { ...common, type: "goal.closed", key, data: { goal: goal.id, outcome, path, lesson: stands, facts } },
    ...(owes !== null && isNew
      ? [
          {
            ...common,
            type: "goal.debt" as const,
            key: `goal:${goal.id}:debt:lesson`,
            data: { goal: goal.id, debt: `${goal.id}-lesson`, page: null, ...owes },
          },
        ]
      : []),
  ];
}

const unkept = { reason: "observation_worth_keeping_not_kept", priority: "HIGH" } as const;
const unreflected = { reason: reflectionOwed, priority: "MEDIUM" } as const;

function origin({ session }: Goal, at: number | null, key: string) {
  return { at: at ?? 0, key, session };
}

/** The goal that false waivers of a session open, once; none while there are fewer. */
export function investigation(view: DutyView): LedgerEntry[] {
  const { goal, now } = view;
  if (listFalseWaivers(view).length < falseWaivers) return [];
  const id = `${goal.session ?? goal.id}`;
  const key = `goal:investigate:${id}`;
  return [
    {
      ...{ at: now, project: goal.project, session: goal.session, actor: "knack", type: "goal.opened", key },
      data: {
        ...{ goal: `g-waivers-${id}`, text: "Investigate: false waivers", category: "workflow", by: "duty" },
        ...{
          ref: null,
          transcript: null,
          deadline: null,
          batch: null,
          prefetch: [],
          root: goal.root,
          reader: false,
          again: null,
        },
      },
    },
  ];
}
