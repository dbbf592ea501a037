import { type FindingKind, isWay } from "./finding.ts";
import { wordFor } from "./form.ts";
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

/** As much of a lesson as its gist is made of. */
interface Told {
  readonly trigger: string;
  readonly action: string;
  readonly kind?: FindingKind;
}

/** The gist of a lesson. */
export function gistOf({ trigger, action, kind }: Told): Gist {
  const way = kind !== undefined && isWay(kind) ? wayOf(trigger, action, kind) : null;
  if (way !== null) return way;
  const triggerTerms = new Set([...termsOf(trigger)].filter((word) => !commonplace.has(word)));
  const { wants, shuns } = stanceOf(action);
  return { trigger: triggerTerms, all: new Set([...triggerTerms, ...wants, ...shuns]), wants, shuns };
}

/**
 * A way of working is what it takes: each command or tool in quotes is one word, and how it was asked for is none. Null
 * where nothing is quoted.
 */
function wayOf(trigger: string, action: string, kind: FindingKind): Gist | null {
  const [occasion, wants] = [quotedIn(trigger), quotedIn(action)];
  const all = new Set([...occasion, ...wants]);
  if (all.size === 0) return null;
  // One command alone is not yet the procedure that has it too.
  if (all.size === 1) all.add(kind);
  return { trigger: occasion, all, wants, shuns: new Set() };
}

function quotedIn(text: string): Set<string> {
  return new Set([...text.matchAll(/`([^`]+)`/g)].map(([, form = ""]) => wordFor(form)));
}

/** What most failures say: two programs that are both not found are not one lesson. */
const commonplace = new Set(
  "command not found no such error failed fail unknown cannot could unable".split(" "),
);

/** Whether two lessons are one lesson. */
export function same(a: Gist, b: Gist, { learn }: Policy = defaults): boolean {
  return overlap(a.all, b.all) >= learn.same && !contrary(a, b);
}

/** Whether two lessons tell opposite things for the same occasion; one that avoids beside one that prefers is no conflict. */
export function opposed(a: Gist, b: Gist, { learn }: Policy = defaults): boolean {
  return overlap(a.trigger, b.trigger) >= learn.sameTrigger && contrary(a, b);
}

/** Whether two orders ask for opposite things. */
export function areContrary(a: string, b: string): boolean {
  return contrary(gistOf({ trigger: "", action: a }), gistOf({ trigger: "", action: b }));
}

/** One asks for what the other warns of, and not also for the same. */
export function contrary(a: Gist, b: Gist): boolean {
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
  for (const clause of clausesOf(action)) {
    const [before = "", ...after] = mayWarn(clause) ? clause.split(warning) : [clause];
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

export const warning =
  /\b(?:not|never|no|don['’]?t|doesn['’]?t|avoid|without|stop|instead of|rather than|nicht|kein|pas|jamais|nunca)\b|不要|不能|不用|别|勿|避免|禁止/iu;
function clausesOf(action: string): string[] {
  return parts.some((sign) => action.includes(sign))
    ? action.split(
        /[,;:。，；、\n]|\. |(?<=[\s\p{Script=Han}])(?:but|而是|but rather)(?=[\s\p{Script=Han}])/u,
      )
    : [action];
}

/** What parts clauses: the pattern for it takes long to prepare. */
const parts = [",", ";", ":", "。", "，", "；", "、", "\n", ". ", "but", "而是"];

/** Whether a clause has what every warning has: `warning` takes long to prepare. */
export function mayWarn(clause: string): boolean {
  const plain = clause.toLowerCase();
  return warns.some((sign) => plain.includes(sign));
}

const warns =
  "no|never|don|doesn|avoid|without|stop|instead of|rather than|nicht|kein|pas|jamais|nunca|不要|不能|不用|别|勿|避免|禁止".split(
    "|",
  );
const warningAfter = /ではなく|じゃなく|しないで|말고|대신/u;

/** What to look for among the words of other lessons so that none that is like this one is missed. */
export interface Search {
  readonly words: readonly string[];
  /** Those of the words that stand in the trigger. */
  readonly occasion: ReadonlySet<string>;
  /** How many of the words, or of the occasion's in its own trigger, another lesson must have to be worth a closer look. */
  readonly atLeast: { readonly anywhere: number; readonly inTrigger: number };
}

/**
 * One search that finds every lesson that may be the same or opposed, given how many lessons have each word. Of a set
 * that must overlap by a share, so many words are in the other set too; leaving out a few words lowers that number by as
 * many at the most. So the commonest words, which cost most to look for, need no looking.
 */
export function searchFor(
  { all, trigger }: Gist,
  countOf: (word: string) => number,
  { learn }: Policy = defaults,
): Search {
  const commonest = [...all].sort((a, b) => countOf(b) - countOf(a) || (a < b ? 1 : -1));
  let anywhere = neededOf(all, learn.same);
  let inTrigger = neededOf(trigger, learn.sameTrigger);
  let seen = commonest.reduce((sum, word) => sum + countOf(word), 0);
  const words = commonest.filter((word) => {
    const isOccasion = trigger.has(word);
    if (seen <= lookedAt || anywhere === 1 || (isOccasion && inTrigger === 1)) return true;
    seen -= countOf(word);
    anywhere--;
    if (isOccasion) inTrigger--;
    return false;
  });
  const occasion = new Set(words.filter((word) => trigger.has(word)));
  return { words, occasion, atLeast: { anywhere, inTrigger } };
}

/** How many words of a set another must have that overlaps with it by a share; one that shares none never does. */
function neededOf(words: ReadonlySet<string>, share: number): number {
  return Math.max(1, Math.ceil(share * words.size - 1e-9));
}

/** Entries of the index that a search may touch before it leaves common words out. */
const lookedAt = 6_000;
