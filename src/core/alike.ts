import { policy as defaults } from "./policy.ts";
import type { Skill } from "./skill.ts";
import { overlap, termsOf } from "./words.ts";

/** What tells what a skill is about, as agents see it. */
export type Named = Pick<Skill, "name" | "description">;

/** Whether two skills are about the same thing. The same name may be chance; half as much in common tells. */
export function isAbout(a: Named, b: Named): boolean {
  return likenessOf(a, b) >= (a.name === b.name ? defaults.skill.near / 2 : defaults.skill.near);
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
