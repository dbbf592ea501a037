import { standingAt } from "../core/instinct.ts";
import { redact } from "../core/redact.ts";
import { parse } from "../core/skill.ts";
import type { Origin } from "../engine/learnings.ts";
import { editOf, type Shelved } from "../engine/shelf.ts";
import type { Knack } from "../open.ts";
import { usualReach } from "./change-skills.ts";
import { evidenceLines, evidenceOnWire } from "./instincts.ts";
import { named } from "./named.ts";
import { withKnack } from "./opening.ts";
import type { SkillsCall } from "./skills.ts";
import { fileOf, reachInWords, tellDiff } from "./telling.ts";
import {
  calledAs,
  iso,
  onLines,
  onOneLine,
  paintFor,
  printJson,
  printLines,
  short,
  table,
} from "./terminal.ts";

/** How something kept is, in words. */
export const states: Readonly<Record<Shelved["state"], string>> = {
  active: "active",
  draft: "draft",
  proposal: "proposal",
  edited: "edited by hand",
  missing: "missing on disk",
  unreadable: "not readable",
};

/** Everything kept, and what is never suggested again. */
export async function list({ args, env }: SkillsCall): Promise<number> {
  return withKnack(env, { dryRun: args["dry-run"] === true }, async (knack) => {
    const shelf = await knack.shelf();
    const skipped = await skippedBy(knack);
    if (args.json) printJson({ skills: shelf.map(shelvedOnWire), skipped });
    else {
      const paint = paintFor(process.stdout, env);
      const [head = "", ...rows] = table([
        ["name", "kind", "status", "where", "sure", "evidence", "file"],
        ...shelf.map((one) => [
          one.name,
          one.kind,
          states[one.state],
          reachInWords(one.reach),
          one.confidence === null ? "" : one.confidence.toFixed(2),
          String(one.evidence),
          short(fileOf(one), env),
        ]),
      ]);
      printLines(
        shelf.length === 0
          ? ["Nothing is kept yet.", `To learn from your sessions: ${calledAs(env)} learn`]
          : [paint.dim(head), ...rows],
      );
      if (skipped.length > 0)
        printLines([
          "",
          "Never suggested again:",
          ...skipped.map(({ name, lesson }) => `  ${name}  ${paint.dim(onOneLine(lesson, 80))}`),
          `Take one back: ${calledAs(env)} skills unskip <name>`,
        ]);
    }
    return 0;
  });
}

async function skippedBy(knack: Knack) {
  return (await knack.instincts())
    .filter(({ standing }) => standing.status === "rejected")
    .map(({ id, name, lesson }) => ({ name, instinct: id, lesson: redact(lesson) }));
}

function shelvedOnWire(one: Shelved) {
  const { name, kind, reach, path, confidence, sessions, evidence, instinct, belongsTo, origin } = one;
  const told = { reach, path, confidence, sessions, evidence, instinct, belongsTo, origin };
  return { name, kind, status: one.state, ...told, at: iso(one.at) };
}

/** The text of something kept, or of a lesson, and what speaks for it. */
export async function show({ args, env }: SkillsCall, word: string): Promise<number> {
  return withKnack(env, { dryRun: args["dry-run"] === true }, async (knack) => {
    const { name, kept, instinct } = await named(knack, word);
    const evidence = instinct && (await knack.evidence(instinct));
    if (args.json) {
      printJson({
        name,
        skills: kept.map((one) => ({
          ...shelvedOnWire(one),
          text: one.text === null ? null : redact(one.text),
        })),
        evidence: evidence && evidenceOnWire(evidence),
      });
      return 0;
    }
    const paint = paintFor(process.stdout, env);
    for (const one of kept)
      printLines([
        `${paint.bold(one.name)}  ${paint.dim(`${one.kind}, ${states[one.state]}, ${reachInWords(one.reach)}, ${short(fileOf(one), env)}`)}`,
        ...whoMade(one).map((line) => paint.dim(`  ${line}`)),
        "",
        ...onLines(redact(one.text ?? "nothing is there").trimEnd()).map((line) =>
          line === "" ? "" : `  ${line}`,
        ),
        "",
      ]);
    if (instinct && evidence) {
      const { status, confidence } = standingAt(instinct.standing, Date.now());
      printLines([
        `${paint.bold(instinct.name)}  ${paint.dim(`${instinct.id}, ${status}, ${confidence.toFixed(2)} sure`)}`,
        ...evidenceLines(evidence),
      ]);
    }
    return 0;
  });
}

/** Who made a skill: an agent, a review, or rules; of a line among an agent's instructions nobody says. */
function whoMade({ origin, text }: Shelved): string[] {
  if (origin) return [originInWords(origin)];
  const author = parse(text ?? "").skill?.metadata.author;
  const words = author === undefined ? undefined : authors[author];
  return words === undefined ? [] : [words];
}

const authors: Readonly<Record<string, string>> = {
  heuristic: "made by rules, of what sessions showed",
  model: "made of what rules and a model saw in sessions",
};

/** Where something that was written comes from: `learned by the agent (opus) in session …, from 2 events`. */
function originInWords({ by, session, model, evidence }: Origin): string {
  const who = `${by === "agent" ? "learned by the agent" : "proposed by a review"}${model ? ` (${model})` : ""}`;
  const where = session === null ? "" : ` in session ${session}`;
  return `${who}${where}, from ${evidence} ${evidence === 1 ? "event" : "events"}`;
}

/** What is pending: what accepting would change, or what a person changed. */
export async function diff({ args, env }: SkillsCall, word: string): Promise<number> {
  return withKnack(env, { dryRun: args["dry-run"] === true }, async (knack) => {
    const { name, kept, instinct } = await named(knack, word);
    const parts: { what: string; diff: string }[] = [];
    for (const one of kept) {
      if (one.state === "edited" || one.state === "missing")
        parts.push({ what: `${states[one.state]}: ${fileOf(one)}`, diff: editOf(one) });
      if (one.reach !== "draft" || one.state === "missing") continue;
      const plan = await knack.planAccept([one], await usualReach(knack, [one], instinct));
      parts.push(
        plan.ok
          ? {
              what: "accepting it would do this",
              diff: plan.steps
                .filter(({ change }) => change.why !== "remove")
                .map((step) => step.diff)
                .join(""),
            }
          : { what: `it cannot be accepted: ${plan.because}`, diff: "" },
      );
    }
    if (args.json) printJson({ name, pending: parts.map((part) => ({ ...part, diff: redact(part.diff) })) });
    else if (parts.length === 0) printLines([`Nothing is pending for ${name}.`]);
    else {
      const paint = paintFor(process.stdout, env);
      for (const part of parts) printLines([`${name}: ${part.what}`, ...tellDiff(part.diff, paint)]);
    }
    return 0;
  });
}
