import type { Reach } from "../core/change.ts";
import { KnackError } from "../core/errors.ts";
import type { EvolvedKind } from "../core/evolve.ts";
import { standingAt } from "../core/instinct.ts";
import { redact } from "../core/redact.ts";
import { several } from "../core/words.ts";
import type { Evolution, Evolving } from "../engine/evolve.ts";
import type { Knack } from "../open.ts";
import { whereOf } from "./learn.ts";
import { isDone, writingOnWire, writingsOnWire } from "./learned-on-wire.ts";
import { type Call, defineVerb, type Env } from "./main.ts";
import { isCalled } from "./named.ts";
import { changing, withKnack } from "./opening.ts";
import { tellDiff, tellOutcomes } from "./telling.ts";
import { calledAs, onOneLine, type Paint, paintFor, printJson, printLines } from "./terminal.ts";

const args = {
  generate: {
    type: "boolean",
    description: "write what is proposed: as drafts, unless --where says otherwise",
  },
  where: {
    type: "string",
    description: "with --generate --yes: make it live for me, repository or everywhere",
  },
  yes: { type: "boolean", description: "with --where: yes, make it live" },
  kind: { type: "string", description: "only these: skill, command or agent" },
  only: { type: "string", description: "with --generate: only these names, with commas between them" },
  json: { type: "boolean", description: "print one JSON object" },
  "dry-run": { type: "boolean", description: "with --generate: write nothing; show what would be" },
} as const;

type EvolveCall = Call<typeof args>;

export const evolve = defineVerb({
  about: "What lessons have grown into together, and what to make of it: a skill, a command or an agent.",
  args,
  run: async (call) => {
    const { generate } = call.args;
    const choice = { reach: reachOf(call), actor: "person" as const };
    const kind = kindOf(call.args.kind);
    const dryRun = call.args["dry-run"] === true;
    if (!generate || dryRun)
      return withKnack(call.env, { dryRun }, async (knack) => {
        const found = onlyNamed(await knack.evolutions({ choice, kind }), call.args.only);
        await tell(call, knack, found, null);
        return 0;
      });
    return changing(call.env, { dryRun }, async (knack) => {
      const found = onlyNamed(await knack.evolutions({ choice, kind }), call.args.only);
      const names = new Set(found.map(({ name }) => name));
      const done = await knack.evolve({ choice, kind, only: names });
      await tell(call, knack, found, done);
      return done.every(({ keeping }) => isDone(keeping)) ? 0 : 1;
    });
  },
});

/** Drafts need no yes; to make something live, a person says so and says where. */
function reachOf({ args: { generate, where, yes } }: EvolveCall): Reach {
  const reach = whereOf(where);
  if (reach !== null && generate && !yes)
    throw new KnackError("WRONG_USAGE", "--where makes it live, which needs a yes.", {
      hint: "Add --yes; or leave --where out, look at the drafts, and knack skills accept <name>.",
    });
  return reach ?? "draft";
}

function kindOf(kind: string | undefined): EvolvedKind | undefined {
  if (kind === undefined || kind === "skill" || kind === "command" || kind === "agent") return kind;
  throw new KnackError("WRONG_USAGE", `There is no kind "${kind}".`, { hint: "skill, command or agent" });
}

function onlyNamed(found: readonly Evolution[], only: string | undefined): readonly Evolution[] {
  if (only === undefined) return found;
  const words = only.split(",").map((word) => word.trim());
  for (const word of words)
    if (!found.some(({ name }) => isCalled(name, word)))
      throw new KnackError("UNKNOWN_NAME", `Nothing that grew is called "${word}".`, {
        hint: "knack evolve shows what there is.",
      });
  return found.filter(({ name }) => words.some((word) => isCalled(name, word)));
}

async function tell(
  { args: { json, generate, "dry-run": dryRun }, env }: EvolveCall,
  knack: Knack,
  found: readonly Evolution[],
  done: readonly Evolving[] | null,
): Promise<void> {
  if (json) {
    printJson({
      evolutions: found.map(onWire),
      generated: done && {
        done: done.every(({ keeping }) => isDone(keeping)),
        skills: done.flatMap(({ keeping }) => writingsOnWire(keeping)),
      },
    });
    return;
  }
  const paint = paintFor(process.stdout, env);
  if (done !== null) return printLines(doneLines(done, env));
  const names = new Map((await knack.projects()).map(({ id, name }) => [id, name]));
  const whose = (realm: string) =>
    realm === "user" ? "everywhere" : onOneLine(redact(names.get(realm) ?? realm), 40);
  printLines(reportOf(found, whose, paint, env));
  if (generate && dryRun)
    printLines([
      ...found.flatMap(({ plan }) =>
        plan.ok ? plan.steps.flatMap(({ diff }) => tellDiff(diff, paint)) : [],
      ),
      "Nothing was written (--dry-run).",
    ]);
}

function onWire({ name, kind, realm, cluster, action, because, plan }: Evolution) {
  const now = Date.now();
  return {
    name,
    kind,
    realm: redact(realm),
    action,
    because: redact(because),
    domain: cluster?.domain ?? null,
    field: cluster?.field ?? null,
    topic: cluster?.topic.map(redact) ?? [],
    confidence: cluster?.confidence ?? null,
    asked: cluster?.asked.length ?? 0,
    members: (cluster?.members ?? []).map(({ id, name: lesson, trigger, action: then, standing }) => ({
      ...{ id, name: lesson, trigger: redact(trigger), action: redact(then) },
      confidence: standingAt(standing, now).confidence,
      sessions: standing.sessions,
    })),
    skills: plan.ok ? plan.steps.map(({ change }) => writingOnWire(change)) : [],
  };
}

function reportOf(
  found: readonly Evolution[],
  whose: (realm: string) => string,
  paint: Paint,
  env: Env,
): string[] {
  if (found.length === 0)
    return [
      "Nothing has grown together yet: it takes three lessons about one thing that are sure enough.",
      `See what was noticed: ${calledAs(env)} instincts`,
    ];
  const lines = found.flatMap((one) => [...evolutionLines(one, whose, paint), ""]);
  const due = found.filter(({ action }) => action !== "nothing").length;
  return due === 0
    ? [...lines, "There is nothing to do."]
    : [
        ...lines,
        `To write ${several(due, "draft")}: ${calledAs(env)} evolve --generate   one of them: --only <name>   live at once: --where me --yes`,
      ];
}

function evolutionLines(
  { name, kind, realm, cluster, action, because }: Evolution,
  whose: (realm: string) => string,
  paint: Paint,
): string[] {
  const sure = cluster ? `, ${cluster.confidence.toFixed(2)} sure on the average` : "";
  const about = cluster ? `${whose(realm)}, ${cluster.field}${sure}` : "what it was made of is gone";
  return [
    `${paint.bold(name)}  ${paint.dim(`${kind}, ${about}`)}`,
    `  ${action}: ${onOneLine(redact(because), 200)}`,
    ...(cluster?.members ?? []).map(
      ({ id, trigger, action: then }) =>
        `    ${paint.dim(id)}  ${onOneLine(redact(`${trigger}: ${then}`), 120)}`,
    ),
  ];
}

function doneLines(done: readonly Evolving[], env: Env): string[] {
  if (done.length === 0) return ["There is nothing to do."];
  const lines = done.flatMap(({ evolution: { name }, keeping }) =>
    keeping.kept
      ? tellOutcomes(keeping.outcomes, env).map((line) => line.trimStart())
      : [`Not done: ${name}: ${keeping.because}.`],
  );
  const drafts = done.some(({ keeping }) =>
    keeping.kept ? keeping.outcomes.some(({ change }) => change.reach === "draft" && change.after) : false,
  );
  return [
    ...lines,
    ...(drafts
      ? [`Drafts wait for your yes: ${calledAs(env)} skills show <name>, then skills accept <name>`]
      : []),
    `To take it back: ${calledAs(env)} skills undo <name>`,
  ];
}
