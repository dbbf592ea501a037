import { applyDecay } from "../../lessons/index.ts";
import type { Knack } from "../../open.ts";
import type { Reach } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { arg, type CommandCall, defineCommand, wrongUsage } from "../command.ts";
import { changeKnack, withKnack } from "../knack.ts";
import {
  changeJson,
  describeOutcomes,
  describeSteps,
  isComplete,
  madeJson,
  notDone,
  nothingWritten,
} from "../screen/changes.ts";
import type { Screen } from "../screen/screen.ts";
import { type Lines, oneLine } from "../screen/text.ts";
import { nameRealms, parseOneOf, parseWhere, selectNamed } from "../select.ts";

const args = {
  generate: arg.flag("write the proposals: as drafts, unless --where is given"),
  where: arg.option("with --generate --yes: make them live for me, repository or everywhere"),
  yes: arg.flag("with --where: yes, make them live"),
  kind: arg.option("only these: skill, command or agent"),
  only: arg.option("only these names, separated by commas"),
  ...arg.json,
  ...arg.dryRun,
};

type EvolveCall = CommandCall<typeof args>;
type PlannedEvolution = Awaited<ReturnType<Knack["evolutions"]>>[number];
type EvolvedCluster = Awaited<ReturnType<Knack["evolve"]>>[number];

export const evolve = defineCommand({
  about: "Combine related lessons into a skill, a command or an agent.",
  args,
  run: async (call: EvolveCall) => {
    const choice = { reach: chooseReach(call), actor: "person" as const };
    const kind = parseOneOf("kind", call.args.kind, ["skill", "command", "agent"]) ?? undefined;
    const find = async (knack: Knack) =>
      selectNamed(await knack.evolutions({ choice, kind }), call.args.only, "knack evolve");
    if (!call.args.generate || call.dryRun)
      return withKnack(call, async (knack) => propose(call, knack, await find(knack)));
    return changeKnack(call, async (knack) => {
      const found = await find(knack);
      const only = new Set(found.map(({ name }) => name));
      const done = await knack.evolve({ choice, kind, only });
      const isDone = done.every(({ keeping }) => isComplete(keeping));
      const skills = done.flatMap(({ keeping }) => madeJson(keeping));
      return call.answer(
        { evolutions: found.map(evolutionJson), generated: { done: isDone, skills } },
        describeDone(done, call.screen),
        isDone ? 0 : 1,
      );
    });
  },
});

/** Drafts need no yes; making something live needs a person who says so, and where. */
function chooseReach({ args: { generate, where, yes } }: EvolveCall): Reach {
  const reach = parseWhere(where);
  if (reach !== null && generate && !yes)
    throw wrongUsage(
      "--where makes it live, which needs --yes.",
      "Add --yes; or leave --where out, look at the drafts, then knack skills accept <name>.",
    );
  return reach ?? "draft";
}

async function propose(call: EvolveCall, knack: Knack, found: readonly PlannedEvolution[]): Promise<number> {
  const { screen, args } = call;
  const nameRealm = await nameRealms(knack);
  const due = found.filter(({ action }) => action !== "nothing").length;
  const steps = found.flatMap(({ plan }) => (plan.ok ? plan.steps : []));
  return call.answer({ evolutions: found.map(evolutionJson), generated: null }, [
    found.map((one) => [describeEvolution(one, nameRealm, screen), ""]),
    found.length === 0
      ? [
          "Nothing to combine yet: it takes three sure lessons about one thing.",
          `All lessons: ${screen.knack} lessons`,
        ]
      : due === 0
        ? "Nothing to write."
        : `To write ${several(due, "draft")}: ${screen.knack} evolve --generate   only one: --only <name>   live at once: --where me --yes`,
    args.generate && [describeSteps(steps, screen), nothingWritten],
  ]);
}

function evolutionJson({ cluster, plan, ...evolution }: PlannedEvolution) {
  const now = Date.now();
  return {
    ...evolution,
    domain: cluster?.domain ?? null,
    field: cluster?.field ?? null,
    topic: cluster?.topic ?? [],
    confidence: cluster?.confidence ?? null,
    asked: cluster?.asked.length ?? 0,
    members: (cluster?.members ?? []).map(({ id, name, trigger, action, state }) => ({
      ...{ id, name, trigger, action, sessions: state.sessions },
      confidence: applyDecay(state, now).confidence,
    })),
    skills: plan.ok ? plan.steps.map(({ change }) => changeJson(change)) : [],
  };
}

function describeEvolution(
  { name, kind, scopeId, cluster, action, because }: PlannedEvolution,
  nameRealm: (scopeId: string) => string,
  screen: Screen,
): Lines {
  const about = cluster
    ? `${nameRealm(scopeId)}, ${cluster.field}, ${cluster.confidence.toFixed(2)} sure on average`
    : "its lessons are gone";
  return [
    `${screen.bold(name)}  ${screen.dim(`${kind}, ${about}`)}`,
    `  ${action}: ${oneLine(because, 200)}`,
    (cluster?.members ?? []).map(
      ({ id, trigger, action: then }) => `    ${screen.dim(id)}  ${oneLine(`${trigger}: ${then}`, 120)}`,
    ),
  ];
}

function describeDone(done: readonly EvolvedCluster[], screen: Screen): Lines {
  if (done.length === 0) return ["Nothing to write."];
  const outcomes = done.flatMap(({ keeping }) => (keeping.kept ? keeping.outcomes : []));
  return [
    done.map(({ evolution: { name }, keeping }) =>
      keeping.kept ? describeOutcomes(keeping.outcomes, screen, "") : notDone(`${name}: ${keeping.because}`),
    ),
    outcomes.some(({ change }) => change.reach === "draft" && change.after) &&
      `Drafts wait for your decision: ${screen.knack} skills show <name>, then skills accept <name>`,
    `To undo: ${screen.knack} skills undo <name>`,
  ];
}
