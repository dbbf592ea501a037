import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { type GoalInput, goalVerbs, verbs } from "../../duties/index.ts";
import type { Knack } from "../../open.ts";
import { openGoals } from "../../open-goals.ts";
import { resolveHome } from "../../settings/index.ts";
import { arg, type CommandCall, defineCommand, wrongUsage } from "../command.ts";
import { findNearest } from "../nearest.ts";

const args = {
  words: arg.words(`${goalVerbs.join(", ")}; then the words. Without words: board`),
  goal: arg.option("the goal; by default the one that is open here"),
  session: arg.option("the agent's session that the goal is of"),
  category: arg.option("with open: what kind of work it is"),
  deadline: arg.option("with open, and due with predict: a date such as 2026-11-01"),
  batch: arg.option("with open: the batch that it belongs to"),
  prefetch: arg.option("with open: topics to be looked up first, with commas"),
  reader: arg.flag("with open: it changes nothing and does not ask the web"),
  again: arg.option("with open: what is different, after it failed three times"),
  novelty: arg.option("with observe: 0 to 1; what is not said is computed"),
  impact: arg.option("with observe: 0 to 1"),
  surprise: arg.option("with observe: 0 to 1; with resolve: 0 to 10"),
  relevance: arg.option("with observe: 0 to 1"),
  repetition: arg.option("with observe: 0 to 1"),
  observation: arg.option("with keep: which observation"),
  page: arg.option("with keep: the page"),
  tier: arg.option("with retrieve: library, code or web"),
  sufficient: arg.flag("with retrieve: it was enough"),
  insufficient: arg.flag("with retrieve: it was not enough"),
  confidence: arg.option("with predict: 0 to 1"),
  prediction: arg.option("with resolve and reflect: which prediction"),
  outcome: arg.option(
    "with resolve: confirmed, corrected, expired, unresolvable; with close: done, failed, blocked, skipped",
  ),
  because: arg.option("why"),
  evidence: arg.option("with conclude: the signals, with semicolons; ~ before one that is silence"),
  blocks: arg.option("with conclude: what is not done because of it, with commas"),
  conclusion: arg.option("with recheck: which conclusion"),
  holds: arg.flag("with recheck: it still holds"),
  wrong: arg.flag("with recheck: it was wrong"),
  duty: arg.option("with waive: which duty"),
  reason: arg.option("with waive: blocked, no-output, deferred or budget"),
  cites: arg.option("with waive: the key of the ledger entry that proves it"),
  topic: arg.option("with prefetch: which topic"),
  hours: arg.option("with claim: for how long"),
  unlearned: arg.flag("with close: without its lesson, with a debt"),
  ...arg.json,
};

type GoalCall = CommandCall<typeof args>;

export const goal = defineCommand({
  about: "Goals and their duties: nothing ends without a recorded lesson or a proven reason.",
  more: ["What each word does:", ...goalVerbs.map((verb) => `  ${verb.padEnd(16)}${verbs[verb].about}`)],
  args,
  completes: [goalVerbs],
  run: async (call: GoalCall) => {
    const [typed = "board", ...words] = call.args._;
    const verb = goalVerbs.find((one) => one === typed);
    if (!verb) {
      const nearest = findNearest(typed, goalVerbs);
      throw wrongUsage(
        `Unknown subcommand: knack goal ${typed}.`,
        `${nearest === null ? "" : `Did you mean knack goal ${nearest}? `}Use ${goalVerbs.join(", ")}.`,
      );
    }
    const input = readInput(call.args, words.join(" ").trim());
    const isLook = looking.has(verb);
    const work = async (knack: Pick<Knack, "goal" | "projectAt">) => {
      const { env } = call;
      const session = call.args.session ?? env.KNACK_SESSION ?? env.CLAUDE_CODE_SESSION_ID ?? null;
      const project = await knack.projectAt(process.cwd());
      // An agent's shell says so.
      const actor = env.CLAUDECODE || env.KNACK_SESSION ? ("agent" as const) : ("person" as const);
      const who = session ?? userInfo().username;
      const { data, lines, isNo } = await knack.goal(verb, { project, session, actor, who }, input);
      // What was asked for goes to standard output, also where the answer is no.
      return isNo && !isLook ? call.refuse(data, [...lines]) : call.answer(data, [...lines], isNo ? 1 : 0);
    };
    if (isLook && existsSync(resolveHome(call.env).database)) return lookAtGoals(call, work);
    const { changeKnack } = await import("../knack.ts");
    return changeKnack(call, work, { dryRun: false, create: verb === "open", changes: !isLook });
  },
});

/** Verbs after which hooks have nothing new to know. */
const looking: ReadonlySet<string> = new Set(["check", "show", "board", "debts"]);

async function lookAtGoals<Result>(
  { env }: GoalCall,
  work: (goals: Awaited<ReturnType<typeof openGoals>>) => Promise<Result>,
): Promise<Result> {
  const goals = await openGoals({ env });
  try {
    return await work(goals);
  } finally {
    await goals.close();
  }
}

/** Options as the verbs take them. */
function readInput(typed: GoalCall["args"], text: string): Partial<GoalInput> {
  const number = (
    name: "novelty" | "impact" | "surprise" | "relevance" | "repetition" | "confidence" | "hours",
  ) => {
    const word = typed[name];
    if (word === undefined) return null;
    const value = Number(word);
    if (word.trim() === "" || !Number.isFinite(value))
      throw wrongUsage(`Invalid --${name} "${word}".`, "Use a number.");
    return value;
  };
  const list = (word: string | undefined, separator: string) =>
    word === undefined
      ? null
      : word
          .split(separator)
          .map((one) => one.trim())
          .filter(Boolean);
  const { goal: id, category, batch, again, observation, page, prediction, outcome, because } = typed;
  const { conclusion, duty, cites, topic, reader, unlearned } = typed;
  return {
    ...{ text, goal: id, category, batch, again, observation, page, prediction, outcome, because },
    ...{ conclusion, duty, cites, topic, reader, unlearned },
    ...{ novelty: number("novelty"), impact: number("impact"), surprise: number("surprise") },
    ...{ relevance: number("relevance"), repetition: number("repetition"), hours: number("hours") },
    confidence: number("confidence"),
    deadline: readDate(typed.deadline),
    due: readDate(typed.deadline),
    prefetch: list(typed.prefetch, ","),
    evidence: list(typed.evidence, ";"),
    blocks: list(typed.blocks, ","),
    ...(typed.tier === undefined
      ? {}
      : { tier: oneOf("tier", typed.tier, ["library", "code", "web"] as const) }),
    ...(typed.reason === undefined
      ? {}
      : { reason: oneOf("reason", typed.reason, ["blocked", "no-output", "deferred", "budget"] as const) }),
    sufficient: typed.insufficient ? false : typed.sufficient ? true : null,
    holds: typed.wrong ? false : typed.holds ? true : null,
  };
}

function oneOf<Word extends string>(name: string, word: string, words: readonly Word[]): Word {
  const known = words.find((one) => one === word);
  if (known === undefined) throw wrongUsage(`Invalid --${name} "${word}".`, `Use ${words.join(", ")}.`);
  return known;
}

function readDate(word: string | undefined): number | null {
  if (word === undefined) return null;
  const at = Date.parse(word);
  if (Number.isNaN(at)) throw wrongUsage(`Invalid --deadline "${word}".`, "Use a date such as 2026-11-01.");
  return at;
}
