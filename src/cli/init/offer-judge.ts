import { readUnaskedJudge } from "../../learning/index.ts";
import { findSignedIn, formatUsd, type SignedInAgent } from "../../models/index.ts";
import { judgeAgents, readSettingsFile, resolveHome, writeSetting } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import type { AnyCall } from "../command.ts";
import { withKnack } from "../knack.ts";
import { ask, type CliEnv, type Screen } from "../screen/screen.ts";
import { type Lines, wrapColumn } from "../screen/text.ts";

/** The judge after `knack init`, and what is said about it. */
interface JudgeOffered {
  readonly judge: string;
  readonly says: Lines;
}

interface OfferOptions {
  /** The judge that a person named on the command line. */
  readonly named: string | undefined;
  readonly mayAsk: boolean;
}

/** Turns on the judge that was named, or asks about the first agent that is signed in. */
export async function offerJudge(call: AnyCall, options: OfferOptions): Promise<JudgeOffered> {
  const { env, screen } = call;
  const { named, mayAsk } = options;
  const home = resolveHome(env);
  if (named !== undefined) {
    writeSetting(home, null, "judge", named);
    return describeChosen(env, screen);
  }
  const { isOn, judge } = readUnaskedJudge(env);
  if (isOn)
    return {
      judge,
      says: [`The judge stays ${judge}. To turn it off: ${screen.knack} config set judge off`],
    };
  const how = `To have a judge later: ${screen.knack} config set judge ${screen.judge} (or ${judgeAgents.filter((one) => one !== screen.judge).join(", ")})`;
  if (readSettingsFile(home, null).judge === "off") return { judge, says: [`The judge is off. ${how}`] };
  const found = await findSignedIn(env);
  if (found.length === 0) return { judge, says: [`No agent that could judge is signed in. ${how}`] };
  if (!mayAsk) return { judge, says: [how] };
  const answer = await askForJudge(call, found);
  if (answer === null) return { judge, says: [how] };
  writeSetting(home, null, "judge", answer);
  return describeChosen(env, screen);
}

function describeChosen(env: CliEnv, { knack }: Screen): JudgeOffered {
  const { judge, isOn, model, unset } = readUnaskedJudge(env);
  if (!isOn) return { judge, says: ["The judge is off."] };
  const off = `To turn it off: ${knack} config set judge off`;
  if (unset !== null)
    return { judge, says: [`The judge is ${model}, but it cannot be asked: ${unset}. ${off}`] };
  return { judge, says: [`${model} judges from now on. ${knack} learn has it judge these sessions. ${off}`] };
}

/** The judge that a person chose; null when they left. */
async function askForJudge(call: AnyCall, found: readonly SignedInAgent[]): Promise<string | null> {
  const { env, screen } = call;
  const [first, ...others] = found as [SignedInAgent, ...SignedInAgent[]];
  const { budget, usdPerSession } = readUnaskedJudge({ ...env, KNACK_JUDGE: first.judge });
  const { sessions, usd } = await withKnack(call, (knack) => knack.planJudging(), { judge: first.judge });
  const each = sessions === 0 ? usdPerSession : usd / sessions;
  const all = sessions === 0 ? "" : ` (${formatUsd(usd)} for the ${sessions} found)`;
  const choices = ["Y", "n", ...others.map(({ agent }) => agent)].join("/");
  const question = [
    `Let ${first.title} judge what is worth keeping?`,
    "It reads excerpts of your sessions, secrets removed, with your own sign-in.",
    `${describeCents(each)} a session${all}, at most ${formatUsd(budget.usdPerDay)} a day. [${choices}]`,
  ].join(" ");
  const lines = wrapColumn("", question, screen.columns).split("\n");
  screen.print([
    others.length > 0 &&
      `Also signed in: ${others.map(({ title, agent }) => `${title} (${agent})`).join(", ")}. Type a name to choose it.`,
    lines.slice(0, -1),
  ]);
  for (;;) {
    const answer = await ask(`${lines.at(-1)} `);
    if (answer === null) return null;
    if (["", "y", "yes"].includes(answer)) return first.judge;
    if (["n", "no"].includes(answer)) return "off";
    const other = found.find(({ agent }) => agent === answer);
    if (other) return other.judge;
  }
}

function describeCents(usd: number): string {
  const cents = Math.round(usd * 100);
  return cents === 0 ? "Less than 1 cent" : `About ${several(cents, "cent")}`;
}
