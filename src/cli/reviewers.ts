import { modelChoice } from "../core/model.ts";
import type { Asked, Reviewers } from "../open/reviews.ts";
import type { Env } from "./main.ts";
import { calledAs, onOneLine } from "./terminal.ts";

/** A model that is asked in a review and cannot be, with what a person can do about it. */
interface Missing {
  readonly says: string;
  readonly next: string;
}

/** Who of a review's models cannot be asked; the gate is told apart only where it is another one. */
export function missingIn({ gate, ...reviewer }: Reviewers, env: Env): Missing[] {
  const ofReviewer = reviewer.unset === null ? [] : [missing(reviewer, "model", env)];
  const isOther = gate !== null && gate.unset !== null && gate.unset !== reviewer.unset;
  return isOther ? [...ofReviewer, missing(gate, "review.gate", env)] : ofReviewer;
}

function missing({ model, unset }: Asked, setting: "model" | "review.gate", env: Env): Missing {
  const because = onOneLine(unset ?? "", 200);
  const whose = setting === "model" ? "" : "the gate cannot be asked: ";
  return { says: `${whose}${because}`, next: remedy(model, setting, env) };
}

/** How a model that is named in a setting comes to be one that can be asked. */
function remedy(model: string, setting: "model" | "review.gate", env: Env): string {
  const set = `${calledAs(env)} config set`;
  const via = modelChoice(model)?.via ?? "off";
  if (via === "off") return `${set} model claude, codex, anthropic/<model> or openai/<model>`;
  const isProgram = via === "claude" || via === "codex";
  if (setting === "review.gate")
    return `${isProgram ? "install it" : "set it"}, or ${set} review.gate null: the reviewer's model is the gate then`;
  return isProgram
    ? `install it, or ${set} model <another>`
    : `set it, or ${set} model.keyEnv <the variable that has the key>`;
}

/** A model by its name, and by its address where it has one. */
export function calledAt({ model, to }: Asked): string {
  if (model === "off") return "a model, once one is set";
  const isProgram = to.split(" ")[0] === model.split("/")[0];
  return isProgram ? model : `${model} (${onOneLine(to, 200)})`;
}
