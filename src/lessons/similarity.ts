import { compareText } from "../base/index.ts";
import { type FindingKind, isWorkflow } from "../records/index.ts";
import type { Gist, WordSearch } from "../store/index.ts";
import { extractTerms, measureSimilarity } from "../text/index.ts";

/** Two lessons whose words overlap this much are one; two triggers that overlap this much are the same occasion. */
export const sameFrom = 0.5;
export const sameTriggerFrom = 0.6;
/** The share of what one lesson wants that the other must warn of for them to be opposed. */
const contraryShare = 0.6;
/** Index entries that a search may touch before it leaves common words out. */
const searchedEntries = 6_000;

interface ComparedText {
  readonly trigger: string;
  readonly action: string;
  readonly kind?: FindingKind;
}

/** The words by which lessons are compared. */
export function extractGist({ trigger, action, kind }: ComparedText): Gist {
  const workflow = kind !== undefined && isWorkflow(kind) ? extractWorkflow(trigger, action, kind) : null;
  if (workflow !== null) return workflow;
  const triggerTerms = new Set([...extractTerms(trigger)].filter((word) => !commonplace.has(word)));
  const { wants, shuns } = splitStance(action);
  return { trigger: triggerTerms, all: new Set([...triggerTerms, ...wants, ...shuns]), wants, shuns };
}

/** The gist of a workflow: each quoted command or tool is one word. Null where nothing is quoted. */
function extractWorkflow(trigger: string, action: string, kind: FindingKind): Gist | null {
  const [occasion, wants] = [readQuoted(trigger), readQuoted(action)];
  const all = new Set([...occasion, ...wants]);
  if (all.size === 0) return null;
  // One command alone is not yet the procedure that has it too.
  if (all.size === 1) all.add(kind);
  return { trigger: occasion, all, wants, shuns: new Set() };
}

function readQuoted(text: string): Set<string> {
  return new Set([...text.matchAll(/`([^`]+)`/g)].map(([, form = ""]) => wordOfForm(form)));
}

/** A command's normal form as one word: `docker build` is `docker-build`, so that two of one program are two words. */
export function wordOfForm(form: string): string {
  return form
    .toLowerCase()
    .replace(/ ?<url>/, "")
    .replace(/[^a-z0-9._@/]+/g, "-")
    .replace(/^[-./]+|[-./]+$/g, "");
}

/** What most failures say: two programs that are both not found are not one lesson. */
const commonplace = new Set(
  "command not found no such error failed fail unknown cannot could unable".split(" "),
);

/** Whether two lessons are one lesson. */
export function isSameLesson(a: Gist, b: Gist): boolean {
  return measureSimilarity(a.all, b.all) >= sameFrom && !contrary(a, b);
}

/** Whether two lessons tell opposite things for the same occasion; one that avoids beside one that prefers is no conflict. */
export function areOpposed(a: Gist, b: Gist): boolean {
  return measureSimilarity(a.trigger, b.trigger) >= sameTriggerFrom && contrary(a, b);
}

/** Whether two orders ask for opposite things. */
export function areContrary(a: string, b: string): boolean {
  return contrary(extractGist({ trigger: "", action: a }), extractGist({ trigger: "", action: b }));
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
  return shared >= Math.max(1, Math.min(own.length, against.length) * contraryShare);
}

/** What an action asks for and what it warns of: the words after "not" belong to the warning, to the end of the clause. */
function splitStance(action: string): { wants: Set<string>; shuns: Set<string> } {
  const wants = new Set<string>();
  const shuns = new Set<string>();
  for (const clause of splitClauses(action)) {
    const [before = "", ...after] = mayWarn(clause) ? clause.split(warning) : [clause];
    // "X ではなく Y" and "X 말고 Y" warn of what stands before them.
    const turned = warningAfter.exec(clause);
    if (turned) {
      for (const word of extractTerms(clause.slice(0, turned.index))) shuns.add(word);
      for (const word of extractTerms(clause.slice(turned.index + turned[0].length))) wants.add(word);
      continue;
    }
    for (const word of extractTerms(before)) wants.add(word);
    for (const word of extractTerms(after.join(" "))) shuns.add(word);
  }
  for (const word of shuns) if (wants.has(word)) shuns.delete(word);
  return { wants, shuns };
}

export const warning =
  /\b(?:not|never|no|don['’]?t|doesn['’]?t|avoid|without|stop|instead of|rather than|nicht|kein|pas|jamais|nunca)\b|不要|不能|不用|别|勿|避免|禁止/iu;
function splitClauses(action: string): string[] {
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

/**
 * One search that finds every lesson that may be the same or opposed, given how many lessons have each word. Of a set
 * that must overlap by a share, so many words are in the other set too; leaving out a few words lowers that number by as
 * many at the most. So the commonest words, which cost most to look for, need no looking.
 */
export function planWordSearch({ all, trigger }: Gist, count: (word: string) => number): WordSearch {
  const commonest = [...all].sort((a, b) => count(b) - count(a) || compareText(b, a));
  let anywhere = countNeeded(all, sameFrom);
  let inTrigger = countNeeded(trigger, sameTriggerFrom);
  let seen = commonest.reduce((sum, word) => sum + count(word), 0);
  const words = commonest.filter((word) => {
    const isOccasion = trigger.has(word);
    if (seen <= searchedEntries || anywhere === 1 || (isOccasion && inTrigger === 1)) return true;
    seen -= count(word);
    anywhere--;
    if (isOccasion) inTrigger--;
    return false;
  });
  const occasion = new Set(words.filter((word) => trigger.has(word)));
  return { words, occasion, atLeast: { anywhere, inTrigger } };
}

/** How many words of a set another must have that overlaps with it by a share; one that shares none never does. */
function countNeeded(words: ReadonlySet<string>, share: number): number {
  return Math.max(1, Math.ceil(share * words.size - 1e-9));
}
