import { abilities } from "../../agents/index.ts";
import type { JudgeState } from "../../learning/index.ts";
import { formatUsd } from "../../models/index.ts";
import type { Knack } from "../../open.ts";
import { parseJudge } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import { describeNoReply } from "./lesson.ts";
import type { Screen } from "./screen.ts";
import { formatTime, oneLine } from "./text.ts";

/** How many sessions have leads that nobody judged. */
type WaitingLeads = Awaited<ReturnType<Knack["waiting"]>>;

/** The judge in one line, and the next step where there is one. */
interface JudgeLine {
  /** Whether somebody has to do something before it judges again. */
  readonly isBroken: boolean;
  readonly says: string;
  readonly next: string | null;
}

export function describeJudge(
  state: JudgeState,
  waiting: WaitingLeads,
  screen: Screen,
  now: number,
): JudgeLine {
  const { isOn, model, spent, budget, usdPerSession, failingSince } = state;
  const set = `${screen.knack} config set`;
  if (!isOn) return describeJudgeOff(waiting, screen);
  const missing = findMissingModel(state, screen);
  if (missing)
    return { isBroken: true, says: `${model} cannot be asked: ${missing.because}`, next: missing.next };
  if (failingSince !== null) return describeFailing(state, screen, now);
  const says = `${model}, ${describeSpending(state)}`;
  if (spent.usd + usdPerSession <= budget.usdPerDay) return { isBroken: false, says, next: null };
  const next = `sessions wait until tomorrow, or: ${set} judge.budgetDay <US dollars>`;
  return { isBroken: false, says: `${says}: the budget is spent`, next };
}

function describeJudgeOff({ sessions }: WaitingLeads, screen: Screen): JudgeLine {
  if (sessions === 0)
    return {
      isBroken: false,
      says: "off: rules alone keep what is certain",
      next: `${screen.knack} config set judge ${screen.judge}`,
    };
  return {
    isBroken: false,
    says: `off: ${several(sessions, "session")} may hold more lessons, which a judge finds`,
    next: describeJudging(screen),
  };
}

/** How to have what waits judged: by a program, or by the agent in its session. */
export function describeJudging({ knack, judge }: Screen): string {
  const isTyped = abilities[judge].commands.how === "not possible";
  return `\`${knack} learn --judge ${judge}\`, or ${isTyped ? "" : "/"}knack:learn in the agent`;
}

/** The event, its time, and the next step. */
function describeFailing(state: JudgeState, { knack }: Screen, now: number): JudgeLine {
  const { model, lastFailure, failingSince, openUntil, judge } = state;
  const because = lastFailure?.because ?? "";
  const code = /^[a-z-]+(?=: )/.exec(because)?.[0] ?? "";
  const again = openUntil === null ? "" : `; next try in ${Math.ceil((openUntil - now) / 60_000)} min`;
  const since = formatTime(failingSince ?? now);
  const set = `${knack} config set`;
  const via = judge.split("/")[0] ?? judge;
  const steps: Readonly<Record<string, string>> = {
    refused: isApi(judge)
      ? "check the key and the model's name"
      : `sign in to ${via}, or check the model's name`,
    "time-out": `try again, or ${set} judge.timeoutMs <milliseconds>`,
    unusable: `use another model: ${set} judge ${via}/<model>`,
    unreachable: isApi(judge) ? "check the network and judge.url" : `check that ${via} runs`,
  };
  return {
    // A model that is busy or slow for once is tried again by itself; one that refuses stays so.
    isBroken: openUntil !== null || code === "refused",
    says: `${model} has failed since ${since}: ${oneLine(describeNoReply(because), 200)}${again}; what rules found stands`,
    next: steps[code] ?? "nothing: it is tried again",
  };
}

function isApi(judge: string): boolean {
  const via = parseJudge(judge)?.via;
  return via === "anthropic" || via === "openai";
}

/** Why a model cannot be asked, and what to do about it; null where it can. */
export function findMissingModel(
  { model, unset }: Pick<JudgeState, "model" | "unset">,
  { knack, judge }: Screen,
): { readonly because: string; readonly next: string } | null {
  if (unset === null) return null;
  const set = `${knack} config set`;
  const next =
    model === "off"
      ? `${set} judge ${judge}`
      : isApi(model)
        ? `set it, or ${set} judge.keyEnv <the variable that has the key>`
        : `install it, or ${set} judge <another>`;
  return { because: oneLine(unset, 200), next };
}

function describeSpending({ spent, budget }: JudgeState): string {
  const day = `${formatUsd(spent.usd)} of ${formatUsd(budget.usdPerDay)} in the last 24 hours`;
  return spent.calls === 0 ? `not asked in the last 24 hours` : `${several(spent.calls, "request")}, ${day}`;
}
