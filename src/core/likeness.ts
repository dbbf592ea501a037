import { policy as defaults, type Policy } from "./policy.ts";
import { overlap, termsOf } from "./words.ts";

/** What of a lesson decides whether another one is the same, or says the opposite. */
export interface Gist {
  readonly trigger: ReadonlySet<string>;
  /** The words of trigger and action together. */
  readonly all: ReadonlySet<string>;
  /** What the action asks for, and what it warns of. */
  readonly wants: ReadonlySet<string>;
  readonly shuns: ReadonlySet<string>;
}

/** The gist of a lesson. */
export function gistOf({ trigger, action }: { readonly trigger: string; readonly action: string }): Gist {
  const triggerTerms = termsOf(trigger);
  const { wants, shuns } = stanceOf(action);
  return { trigger: triggerTerms, all: new Set([...triggerTerms, ...wants, ...shuns]), wants, shuns };
}

/** Whether two lessons are one lesson. */
export function same(a: Gist, b: Gist, { learn }: Policy = defaults): boolean {
  return overlap(a.all, b.all) >= learn.same && !contrary(a, b);
}

/** Whether two lessons tell opposite things for the same occasion; one that avoids beside one that prefers is no conflict. */
export function opposed(a: Gist, b: Gist, { learn }: Policy = defaults): boolean {
  return overlap(a.trigger, b.trigger) >= learn.sameTrigger && contrary(a, b);
}

/** One asks for what the other warns of, and not also for the same. */
function contrary(a: Gist, b: Gist): boolean {
  return meets(a.wants, b.shuns, b.wants) || meets(b.wants, a.shuns, a.wants);
}

/** Whether what one wants is what the other shuns; words that both want, such as the verb, tell nothing. */
function meets(
  wants: ReadonlySet<string>,
  shuns: ReadonlySet<string>,
  alsoWanted: ReadonlySet<string>,
): boolean {
  const own = [...wants].filter((word) => !alsoWanted.has(word));
  const against = [...shuns].filter((word) => !alsoWanted.has(word));
  if (own.length === 0 || against.length === 0) return false;
  const shared = own.filter((word) => shuns.has(word)).length;
  return shared >= Math.max(1, Math.min(own.length, against.length) * mostOf);
}

const mostOf = 0.6;

/** What an action asks for and what it warns of: the words after "not" belong to the warning, to the end of the clause. */
function stanceOf(action: string): { wants: Set<string>; shuns: Set<string> } {
  const wants = new Set<string>();
  const shuns = new Set<string>();
  for (const clause of action.split(
    /[,;:。，；、\n]|\. |(?<=[\s\p{Script=Han}])(?:but|而是|but rather)(?=[\s\p{Script=Han}])/u,
  )) {
    const [before = "", ...after] = clause.split(warning);
    // "X ではなく Y" and "X 말고 Y" warn of what stands before them.
    const turned = warningAfter.exec(clause);
    if (turned) {
      for (const word of termsOf(clause.slice(0, turned.index))) shuns.add(word);
      for (const word of termsOf(clause.slice(turned.index + turned[0].length))) wants.add(word);
      continue;
    }
    for (const word of termsOf(before)) wants.add(word);
    for (const word of termsOf(after.join(" "))) shuns.add(word);
  }
  for (const word of shuns) if (wants.has(word)) shuns.delete(word);
  return { wants, shuns };
}

const warning =
  /\b(?:not|never|no|don['’]?t|doesn['’]?t|avoid|without|stop|instead of|rather than|nicht|kein|pas|jamais|nunca)\b|不要|不能|不用|别|勿|避免|禁止/iu;
const warningAfter = /ではなく|じゃなく|しないで|말고|대신/u;

/**
 * Words of which any two lessons that are the same, or opposed, have one in common: enough to find all candidates
 * without looking at the rest. Of a set that must overlap by a share, that many words in a fixed order suffice.
 */
export function anchorsOf(gist: Gist, { learn }: Policy = defaults): string[] {
  const anchors = [
    ...prefix(gist.all, learn.same).map((word) => `all ${word}`),
    ...prefix(gist.trigger, learn.sameTrigger).map((word) => `when ${word}`),
  ];
  return anchors;
}

/** The rarest words, as far as length tells: the first so many that a set overlapping by the share cannot miss them all. */
function prefix(words: ReadonlySet<string>, share: number): string[] {
  const needed = words.size - Math.ceil(share * words.size - 1e-9) + 1;
  return [...words].sort((a, b) => b.length - a.length || (a < b ? -1 : 1)).slice(0, needed);
}
