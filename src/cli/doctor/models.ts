import type { ReviewState } from "../../authoring/index.ts";
import { KnackError } from "../../base/index.ts";
import { type ModelState, readUnaskedModel } from "../../learning/index.ts";
import { describeNoReply } from "../commands/learn/results.ts";
import { describeBudget, findMissingModel } from "../commands/review/status.ts";
import { describeSpending } from "../commands/status.ts";
import { oneLine } from "../screen/text.ts";
import { absent, type CheckResult, type CheckResults, type DoctorContext, right, wrong } from "./check.ts";

type ModelContext = Pick<DoctorContext, "knack" | "env" | "screen" | "now" | "age">;

/** Checks the model that judges sessions, and the background reviews. */
export async function checkModels(context: ModelContext): Promise<CheckResults> {
  const { knack, env } = context;
  try {
    const state = knack === null ? readUnaskedModel(env) : await knack.model();
    const model = checkModel(state, context);
    return knack === null
      ? { model }
      : { model, reviews: checkReviews(await knack.reviews(), state, context) };
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    // Settings that cannot be read are reported by their own check.
    return error.code === "CONFIG_BROKEN" ? {} : { model: wrong(error.message, error.hint ?? "") };
  }
}

function checkModel(state: ModelState, { screen, now, age }: ModelContext): CheckResult {
  const { observer, model, unset, openUntil, failure, to } = state;
  const set = `${screen.knack} config set`;
  if (observer === "heuristic") return absent("none: rules alone judge sessions", `${set} observer model`);
  if (unset !== null) {
    const how = model === "off" ? `${set} model <model>, or config set` : `set it, or ${set}`;
    return wrong(`${unset}, so rules alone judge sessions`, `${how} observer heuristic`);
  }
  const last = failure && `; the last failure was ${age(failure.at)}: ${describeNoReply(failure.because)}`;
  if (openUntil === null) return right(`${model} (${to}), ${describeSpending(state)}${last ?? ""}`);
  return wrong(
    `${model} is paused for ${minutesUntil(openUntil, now)} more min${last ?? ""}`,
    "fix what the failure names; until then the rules' results stand",
  );
}

function minutesUntil(at: number, now: number): number {
  return Math.ceil((at - now) / 60_000);
}

/** Checks that reviews can do what they may, and finish what they begin. */
function checkReviews(
  state: ReviewState,
  { openUntil }: ModelState,
  { screen, now, age }: ModelContext,
): CheckResult {
  const { mode, model, begun, last } = state;
  const set = `${screen.knack} config set`;
  if (mode === "off") return absent("off", `${set} review suggest`);
  const missing = findMissingModel(state, screen);
  if (missing !== null)
    return wrong(`${mode}, but ${missing.because}`, `${missing.next}; or ${set} review off`);
  if (openUntil !== null)
    return wrong(
      `${mode}, but ${model} failed too often and is paused for ${minutesUntil(openUntil, now)} more min`,
      "fix what the model's last failure names; reviews that are due wait",
    );
  if (last !== null && isFailing(state))
    return wrong(
      `${mode}, but they fail: ${oneLine(last.data.because, 200)}`,
      `use another model (${set} model), or ${set} review off`,
    );
  const [first] = begun;
  if (first === undefined) return right(`${mode}, by ${model}: ${describeBudget(state)}`);
  return absent(
    `${mode}: one that began ${age(first)} has not finished; the next worker continues it`,
    `${screen.knack} review --now`,
  );
}

/** Whether the last review was given up, or several failed and the next one waits. */
function isFailing({ last, projects }: ReviewState): boolean {
  const isHeld = projects.some(({ decision }) => decision.because === "breaker-open");
  return last?.data.outcome === "given-up" || (last?.data.outcome === "failed" && isHeld);
}
