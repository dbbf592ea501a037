import { findToldCalls } from "../../recall/index.ts";
import type { Skill } from "../../records/index.ts";
import { extractTerms, findSection, measureSimilarity } from "../../text/index.ts";
import type { SkillPackage } from "../files/library.ts";

/** Two skills whose names and descriptions overlap this much are about the same thing. */
export const sameTopicFrom = 0.5;
/** Steps that two skills must share, and the share of the shorter one's, to do the same thing. */
const minSharedSteps = 3;
const minSharedShare = 0.7;

/** What a skill is about, as agents see it. */
export type SkillTitle = Pick<Skill, "name" | "description">;

/** The existing skill that is about the same thing or has the same steps. */
export function findSimilar(wanted: Skill, all: readonly SkillPackage[]): SkillPackage | null {
  const similar = all
    .filter((one) => one.owner !== "core" && (isSameTopic(wanted, one) || hasSameSteps(wanted, one.skill)))
    .map((one) => ({ one, similarity: measureSkillSimilarity(wanted, one) }))
    .sort((a, b) => b.similarity - a.similarity || (a.one.path < b.one.path ? -1 : 1));
  return similar[0]?.one ?? null;
}

/** Whether two skills are about the same thing. The same name may be chance, so half as much in common tells. */
export function isSameTopic(a: SkillTitle, b: SkillTitle): boolean {
  return measureSkillSimilarity(a, b) >= (a.name === b.name ? sameTopicFrom / 2 : sameTopicFrom);
}

/** How much two skills have in common: 0 nothing, 1 everything. */
export function measureSkillSimilarity(a: SkillTitle, b: SkillTitle): number {
  return measureSimilarity(titleTerms(a), titleTerms(b));
}

export function titleTerms({ name, description }: SkillTitle): Set<string> {
  return extractTerms(`${name} ${description}`);
}

/** A cheap test on the raw text, before a skill is parsed: two that share so much of both share as much of one. */
export function mightBeSameTopic(wanted: SkillTitle, text: string): boolean {
  const words = [...titleTerms(wanted)];
  const plain = text.toLowerCase();
  const share = plain.includes(wanted.name) ? sameTopicFrom / 2 : sameTopicFrom;
  return words.filter((word) => plain.includes(word)).length >= words.length * share;
}

/** Whether most commands of the shorter skill are the other's too, whatever they are called. */
function hasSameSteps(a: Pick<Skill, "body">, b: Pick<Skill, "body">): boolean {
  const [mine, theirs] = [listCommands(a), listCommands(b)];
  const shared = [...mine].filter((step) => theirs.has(step)).length;
  return shared >= minSharedSteps && shared >= Math.min(mine.size, theirs.size) * minSharedShare;
}

function listCommands({ body }: Pick<Skill, "body">): Set<string> {
  const lines = body.split("\n");
  const steps = findSection(lines, "Steps");
  const text = steps ? lines.slice(steps.from, steps.to).join("\n") : body;
  return new Set(findToldCalls(text).map((call) => call.join(" ")));
}
