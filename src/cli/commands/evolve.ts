import { applyDecay } from "../../lessons/index.ts";
import type { Evolution, EvolutionResult } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import type { Reach } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import { type CommandCall, defineCommand, dryRunArg, jsonArg, wrongUsage } from "../command.ts";
import { changeKnack, withKnack } from "../knack.ts";
import {
  changeJson,
  describeOutcomes,
  describeSteps,
  isComplete,
  keepingJson,
  nothingWritten,
} from "../screen/changes.ts";
import type { Screen } from "../screen/screen.ts";
import { oneLine } from "../screen/text.ts";
import { nameRealms, parseOneOf, parseWhere, selectNamed } from "../select.ts";

const args = {
  generate: { type: "boolean", description: "write the proposals: as drafts, unless --where is given" },
  where: {
    type: "string",
    description: "with --generate --yes: make them live for me, repository or everywhere",
  },
  yes: { type: "boolean", description: "with --where: yes, make them live" },
  kind: { type: "string", description: "only these: skill, command or agent" },
  only: { type: "string", description: "only these names, separated by commas" },
  ...jsonArg,
  ...dryRunArg,
} as const;

type EvolveCall = CommandCall<typeof args>;

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
      return answerDone(call, found, await knack.evolve({ choice, kind, only }));
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

async function propose(call: EvolveCall, knack: Knack, found: readonly Evolution[]): Promise<number> {
  const { screen } = call;
  const nameRealm = await nameRealms(knack);
  const steps = call.args.generate ? found.flatMap(({ plan }) => (plan.ok ? plan.steps : [])) : [];
  return call.answer({ evolutions: found.map(evolutionJson), generated: null }, [
    ...describeEvolutions(found, nameRealm, screen),
    ...(call.args.generate ? [...describeSteps(steps, screen), nothingWritten] : []),
  ]);
}

function answerDone(call: EvolveCall, found: readonly Evolution[], done: readonly EvolutionResult[]): number {
  const isDone = done.every(({ keeping }) => isComplete(keeping));
  return call.answer(
    {
      evolutions: found.map(evolutionJson),
      generated: { done: isDone, skills: done.flatMap(({ keeping }) => keepingJson(keeping)) },
    },
    describeDone(done, call.screen),
    isDone ? 0 : 1,
  );
}

function evolutionJson({ name, kind, scopeId, cluster, action, because, plan }: Evolution) {
  const now = Date.now();
  return {
    name,
    kind,
    scopeId: redact(scopeId),
    action,
    because: redact(because),
    domain: cluster?.domain ?? null,
    field: cluster?.field ?? null,
    topic: cluster?.topic.map(redact) ?? [],
    confidence: cluster?.confidence ?? null,
    asked: cluster?.asked.length ?? 0,
    members: (cluster?.members ?? []).map(({ id, name: lesson, trigger, action: then, state }) => ({
      ...{ id, name: lesson, trigger: redact(trigger), action: redact(then) },
      confidence: applyDecay(state, now).confidence,
      sessions: state.sessions,
    })),
    skills: plan.ok ? plan.steps.map(({ change }) => changeJson(change)) : [],
  };
}

function describeEvolutions(
  found: readonly Evolution[],
  nameRealm: (scopeId: string) => string,
  screen: Screen,
): string[] {
  if (found.length === 0)
    return [
      "Nothing to combine yet: it takes three sure lessons about one thing.",
      `All lessons: ${screen.knack} lessons`,
    ];
  const due = found.filter(({ action }) => action !== "nothing").length;
  return [
    ...found.flatMap((one) => [...describeEvolution(one, nameRealm, screen), ""]),
    due === 0
      ? "Nothing to write."
      : `To write ${several(due, "draft")}: ${screen.knack} evolve --generate   only one: --only <name>   live at once: --where me --yes`,
  ];
}

function describeEvolution(
  { name, kind, scopeId, cluster, action, because }: Evolution,
  nameRealm: (scopeId: string) => string,
  screen: Screen,
): string[] {
  const about = cluster
    ? `${nameRealm(scopeId)}, ${cluster.field}, ${cluster.confidence.toFixed(2)} sure on average`
    : "its lessons are gone";
  return [
    `${screen.bold(name)}  ${screen.dim(`${kind}, ${about}`)}`,
    `  ${action}: ${oneLine(because, 200)}`,
    ...(cluster?.members ?? []).map(
      ({ id, trigger, action: then }) => `    ${screen.dim(id)}  ${oneLine(`${trigger}: ${then}`, 120)}`,
    ),
  ];
}

function describeDone(done: readonly EvolutionResult[], screen: Screen): string[] {
  if (done.length === 0) return ["Nothing to write."];
  const hasDrafts = done.some(
    ({ keeping }) =>
      keeping.kept && keeping.outcomes.some(({ change }) => change.reach === "draft" && change.after),
  );
  return [
    ...done.flatMap(({ evolution: { name }, keeping }) =>
      keeping.kept
        ? describeOutcomes(keeping.outcomes, screen, "")
        : [`Not done: ${name}: ${keeping.because}.`],
    ),
    ...(hasDrafts
      ? [`Drafts wait for your decision: ${screen.knack} skills show <name>, then skills accept <name>`]
      : []),
    `To undo: ${screen.knack} skills undo <name>`,
  ];
}
