import { KnackError } from "../core/errors.ts";
import { type Import, kindOf } from "../core/imported.ts";
import { standingAt } from "../core/instinct.ts";
import { redact } from "../core/redact.ts";
import type { Env } from "./main.ts";
import { named } from "./named.ts";
import { changing, withKnack } from "./opening.ts";
import { calledAs, day, iso, onOneLine, paintFor, printJson, printLines, table } from "./terminal.ts";

interface Deciding {
  readonly json: boolean;
  readonly dryRun: boolean;
}

/** Lets an instinct that was retired wait for evidence again. */
export async function restore(word: string, { json, dryRun }: Deciding, env: Env): Promise<number> {
  return changing(env, { dryRun }, async (knack) => {
    const { instinct } = await named(knack, word);
    const isRetired = instinct && standingAt(instinct.standing, Date.now()).status === "retired";
    if (!instinct || !isRetired)
      throw new KnackError("UNKNOWN_NAME", `"${word}" is not retired.`, {
        hint: "knack instincts --status retired lists what is.",
      });
    if (!dryRun) await knack.decide(instinct.id, "unskipped");
    if (json) printJson({ done: !dryRun, instinct: instinct.id });
    else printLines([`${instinct.name} ${dryRun ? "would wait" : "waits"} for evidence again.`]);
    return 0;
  });
}

/** Lists what came from elsewhere; what was decided about already only with `all`. */
export async function listImported(all: boolean, json: boolean, env: Env): Promise<number> {
  return withKnack(env, {}, async (knack) => {
    const imports = (await knack.imports()).filter(({ status }) => all || status === "waiting");
    if (json) {
      printJson({ imported: imports.map(onWire) });
      return 0;
    }
    const paint = paintFor(process.stdout, env);
    const [head = "", ...rows] = table([
      ["id", "kind", "status", "sure", "came", "from", "says"],
      ...imports.map((one) => [
        one.id,
        kindOf(one),
        one.status,
        one.type === "lesson" ? one.finding.confidence.toFixed(2) : "",
        day(one.at),
        onOneLine(one.from, 30),
        onOneLine(redact(one.type === "lesson" ? one.finding.lesson : `${one.name}: ${one.description}`), 80),
      ]),
    ]);
    printLines(
      imports.length === 0
        ? ["Nothing that came from elsewhere waits for your yes."]
        : [
            paint.dim(head),
            ...rows,
            "",
            `Lessons: ${calledAs(env)} instincts accept <id>, or reject <id>. Others: ${calledAs(env)} skills accept <name>`,
          ],
    );
    return 0;
  });
}

function onWire(one: Import) {
  const { id, status, from, at } = one;
  const common = { id, kind: kindOf(one), status, from, at: iso(at) };
  if (one.type === "skill")
    return { ...common, name: one.name, description: one.description, hash: one.hash };
  const { lesson, trigger, action, confidence, name, scope } = one.finding;
  return {
    ...common,
    name,
    scope,
    project: redact(one.project),
    domain: one.domain,
    confidence,
    lesson: redact(lesson),
    trigger: redact(trigger),
    action: redact(action),
  };
}

/** A person's word on a lesson that came from elsewhere. */
export async function decideImport(
  word: string,
  decision: "accepted" | "rejected",
  { json, dryRun }: Deciding,
  env: Env,
): Promise<number> {
  return changing(env, { dryRun }, async (knack) => {
    // Who said yes may think better of it.
    const open = decision === "rejected" ? ["waiting", "accepted"] : ["waiting"];
    const waiting = (await knack.imports()).flatMap((one) =>
      one.type === "lesson" && open.includes(one.status) ? one : [],
    );
    const found = waiting.filter(
      ({ id, finding }) => id === word || finding.name === word || (word.length > 3 && id.startsWith(word)),
    );
    const [lesson, ...others] = found;
    if (!lesson || others.length > 0)
      throw new KnackError(
        "UNKNOWN_NAME",
        lesson
          ? `"${word}" means ${found.length} lessons.`
          : `No imported lesson "${word}" ${decision === "accepted" ? "waits for your yes" : "waits, or was accepted"}.`,
        {
          hint: lesson
            ? found.map(({ id, finding }) => `${id} ${finding.name}`).join("; ")
            : `knack instincts --imported --all lists what came. For what Knack learned itself: knack skills ${decision === "accepted" ? "accept" : "reject"} <name>`,
        },
      );
    const kept =
      decision === "accepted" ? [] : (await knack.shelf()).filter((one) => one.instinct === lesson.id);
    if (!dryRun) await knack.decideImports([lesson.id], decision);
    if (json) printJson({ done: !dryRun, instinct: lesson.id, decision });
    else
      printLines([
        decision === "accepted"
          ? `${lesson.finding.name} ${dryRun ? "would be" : "is"} accepted: it counts as your own word.`
          : `${lesson.finding.name} ${dryRun ? "would not be" : "is not"} taken in again.`,
        ...[...new Set(kept.map(({ name }) => name))].map(
          (name) => `What was written of it stays. To take it away: ${calledAs(env)} skills reject ${name}`,
        ),
      ]);
    return 0;
  });
}
