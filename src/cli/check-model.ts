import { inUsd } from "../core/budget.ts";
import { KnackError } from "../core/errors.ts";
import { several } from "../core/words.ts";
import { type ModelState, modelUnasked } from "../open/model.ts";
import type { Knack } from "../open.ts";
import { absent, ago, type Check, right, wrong } from "./check.ts";
import { inWords } from "./judged.ts";
import type { Env } from "./main.ts";
import { calledAs } from "./terminal.ts";

/** Whether the model that was chosen to judge sessions can be asked. */
export async function checkModel(knack: Knack | null, env: Env, now: number): Promise<Check[]> {
  try {
    return [checkState(knack === null ? modelUnasked(env) : await knack.model(), env, now)];
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    // Settings that cannot be read have a link of their own.
    return error.code === "CONFIG_BROKEN" ? [] : [wrong("model", error.message, error.hint ?? "")];
  }
}

function checkState(state: ModelState, env: Env, now: number): Check {
  const { observer, model, unset, openUntil, failure, to } = state;
  if (observer === "heuristic")
    return absent(
      "model",
      "none is asked: rules alone look at sessions",
      `${calledAs(env)} config set observer model`,
    );
  if (unset !== null)
    return wrong(
      "model",
      `${unset}, so rules alone look at sessions`,
      model === "off"
        ? `${calledAs(env)} config set model <model>, or config set observer heuristic`
        : `set it, or ${calledAs(env)} config set observer heuristic`,
    );
  const last =
    failure === null ? "" : `; the last failure was ${ago(failure.at, now)}: ${inWords(failure.because)}`;
  if (openUntil !== null)
    return wrong(
      "model",
      `${model} is not asked for ${Math.ceil((openUntil - now) / 60_000)} more min${last}`,
      "mend what the failure names; until then what the rules say stands",
    );
  return right("model", `${model} (${to}), ${spentText(state)}${last}`);
}

/** What models cost in the last day. */
export function spentText({ spent, budget }: ModelState): string {
  return spent.calls === 0
    ? "not asked in the last day"
    : `${several(spent.calls, "call")} in the last day, ${inUsd(spent.usd)} of ${inUsd(budget.usdPerDay)}`;
}
