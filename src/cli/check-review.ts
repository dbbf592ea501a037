import { inUsd } from "../core/budget.ts";
import { KnackError } from "../core/errors.ts";
import { redact } from "../core/redact.ts";
import { several } from "../core/words.ts";
import type { ModelState } from "../open/model.ts";
import type { ReviewState } from "../open/reviews.ts";
import type { Knack } from "../open.ts";
import { absent, ago, type Check, right, wrong } from "./check.ts";
import type { Env } from "./main.ts";
import { missingIn } from "./reviewers.ts";
import { calledAs, onOneLine } from "./terminal.ts";

/** Whether reviews in the background can do what they may, and end what they begin. */
export async function checkReviews(knack: Knack, env: Env, now: number): Promise<Check[]> {
  try {
    return [checkState(await knack.reviews(), await knack.model(), env, now)];
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    // Settings that cannot be read, and observers that are none, have links of their own.
    return [];
  }
}

function checkState(state: ReviewState, { openUntil }: ModelState, env: Env, now: number): Check {
  const { mode, model, today, limits, begun, last } = state;
  if (mode === "off")
    return absent("reviews", "off: nobody looks back", `${calledAs(env)} config set review suggest`);
  const [missing] = missingIn(state, env);
  if (missing !== undefined)
    return wrong(
      "reviews",
      `${mode}, but ${missing.says}`,
      `${missing.next}; or ${calledAs(env)} config set review off`,
    );
  if (openUntil !== null)
    return wrong(
      "reviews",
      `${mode}, but ${model} failed too often and is not asked for ${Math.ceil((openUntil - now) / 60_000)} more min`,
      "mend what the model's last failure names; what is due waits",
    );
  if (last !== null && isFailing(state))
    return wrong(
      "reviews",
      `${mode}, but they fail: ${onOneLine(redact(last.data.because), 200)}`,
      `another model (${calledAs(env)} config set model), or ${calledAs(env)} config set review off`,
    );
  const [first] = begun;
  if (first !== undefined)
    return absent(
      "reviews",
      `${mode}: one that began ${ago(first, now)} has not ended; the next worker goes on with it`,
      `${calledAs(env)} review --now`,
    );
  const spent = `${today.reviews} of ${several(limits.perDay, "review")} and ${inUsd(today.usd)} of ${inUsd(limits.usdPerDay)} in the last day`;
  return right("reviews", `${mode}, by ${model}: ${spent}`);
}

/** Whether the last one was given up, or several failed and the next waits. */
function isFailing({ last, projects }: ReviewState): boolean {
  const isHeld = projects.some(({ decision }) => decision.because === "breaker-open");
  return last?.data.outcome === "given-up" || (last?.data.outcome === "failed" && isHeld);
}
