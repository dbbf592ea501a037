import { sectionOf } from "./markdown.ts";
import { policy as defaults } from "./policy.ts";
import type { Skill } from "./skill.ts";
import { callsTold } from "./told.ts";
import { overlap, termsOf } from "./words.ts";

/** What tells what a skill is about, as agents see it. */
export type Named = Pick<Skill, "name" | "description">;

/** Whether two skills are about the same thing. The same name may be chance; half as much in common tells. */
export function isAbout(a: Named, b: Named): boolean {
  return likenessOf(a, b) >= (a.name === b.name ? defaults.skill.near / 2 : defaults.skill.near);
}

/** Whether two skills have the same steps, whatever they are called: most of the commands of the shorter one are the other's too. */
export function doTheSame(a: Pick<Skill, "body">, b: Pick<Skill, "body">): boolean {
  const [mine, theirs] = [stepsIn(a), stepsIn(b)];
  const shared = [...mine].filter((step) => theirs.has(step)).length;
  const { sharedSteps, sameSteps } = defaults.skill;
  return shared >= sharedSteps && shared >= Math.min(mine.size, theirs.size) * sameSteps;
}

/** The commands that a skill says to run; of what proves it nothing. */
function stepsIn({ body }: Pick<Skill, "body">): Set<string> {
  const lines = body.split("\n");
  const steps = sectionOf(lines, "Steps");
  const text = steps ? lines.slice(steps.from, steps.to).join("\n") : body;
  return new Set(callsTold(text).map((call) => call.join(" ")));
}

/** How much two skills have in common: 0 nothing, 1 everything. */
export function likenessOf(a: Named, b: Named): number {
  return overlap(aboutOf(a), aboutOf(b));
}

/** The words by which a skill is known. */
export function aboutOf({ name, description }: Named): Set<string> {
  return termsOf(`${name} ${description}`);
}

/** Whether a skill of this text could be about the same thing; for many texts, of which few are worth reading properly. */
export function mayBeAbout(wanted: Named, text: string): boolean {
  const words = [...aboutOf(wanted)];
  const plain = text.toLowerCase();
  const share = plain.includes(wanted.name) ? defaults.skill.near / 2 : defaults.skill.near;
  // Two sets that share so much of both together share at least as much of one.
  return words.filter((word) => plain.includes(word)).length >= words.length * share;
}
