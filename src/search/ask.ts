import { readOwnSentences, stripOpening } from "../learning/index.ts";
import { measureSimilarity, sharedWeight, splitWords, stemWord, totalWeight } from "../text/index.ts";
import {
  type Act,
  commonplace,
  deploys,
  findVerb,
  hasVerb,
  idle,
  kinds,
  makesReleases,
  noWork,
  particular,
  releases,
  remarks,
  requests,
  unspacedIdle,
  unspacedVerbs,
  updatesDependencies,
  wantsToKnow,
} from "./ask-words.ts";

/** What a prompt asks to have done, as far as it is a kind of work that may come again. */
export interface Ask {
  readonly act: Act;
  /** The kind of work, where it has a name: `changelog`, `migration`. */
  readonly kind: string | null;
  /** Whether that kind is a task by itself. */
  readonly strong: boolean;
  /** What the work is on: the last word before its particulars. */
  readonly head: string | null;
  /** Every word that tells something, and how much. */
  readonly words: ReadonlyMap<string, number>;
  /** The verb, as it was written, and whether it says by itself what is wanted. */
  readonly verb: string;
  readonly tells: boolean;
  /** What belongs to this once: versions, names, files. */
  readonly particulars: readonly string[];
  /** The sentence that asks, and the same without what people put before an order. */
  readonly sentence: string;
  readonly order: string;
}

/** Sentences of a prompt among which the one that asks is looked for, and characters of one that is a person's. */
const mostSentences = 4;
const sentenceChars = 300;
/** Characters of a sentence in a script without spaces, where fewer say as much. */
const unspacedChars = 60;
/** What words count beside a rare one: commonplace ones, names, and those that only say for what or where. */
const weights = { common: 0.3, name: 0.4, aside: 0.6 };
/** What the same thing as the object of both adds. */
const headBonus = 0.15;
/** What is left where each names its work by another verb. */
const otherVerbFactor = 0.6;
/** Words, weighed, that an ask must have: to fix or remove something, and otherwise. */
const leastToFix = 2.6;
const leastOtherwise = 1.3;

/** What a prompt asks for; null where that is no task which would be worth a skill if it came again. */
export function parseAsk(text: string): Ask | null {
  for (const sentence of readOwnSentences(text).slice(0, mostSentences)) {
    const ask = readSentence(sentence);
    if (ask !== null) return ask;
  }
  return null;
}

function readSentence(sentence: string): Ask | null {
  if (sentence.startsWith("/") || sentence.length > sentenceChars) return null;
  const order = stripRequest(sentence);
  if (order === null || (isUnspaced(order) && !ordersUnspaced(order))) return null;
  const plain = plainOrder(order);
  const rare = findRareVerb(plain);
  if (rare === null && !hasVerb(plain)) return null;
  const text = nameKinds(plain).replace(unspacedIdle, " ");
  const tokens = readTokens(text, order).map((token, n) =>
    n === 0 && token.word === rare ? { ...token, verb: rareVerb } : token,
  );
  const at = tokens.findIndex(({ verb }) => verb !== null);
  const verb = tokens[at]?.verb ?? null;
  if (!verb || !isInPlace(tokens, at)) return null;
  const ask = buildAsk(sentence, order, verb.act, tokens, at);
  return hasSubstance(ask) ? ask : null;
}

/** In small letters, without what is quoted, which is this once's; verbs of two words are one. */
function plainOrder(order: string): string {
  return order
    .toLowerCase()
    .normalize("NFKC")
    .replace(/["“][^"”\n]{12,}["”]/g, " ")
    .replace(/\broll(?:ing)? out\b/g, "rollout");
}

/** The first word of an order that has its object right behind it: a verb, though no list has it. */
function findRareVerb(plain: string): string | null {
  const [, word = ""] =
    /^([a-z]{3,})(?<!ed|ing)(?: (?:the|a|an|our|my|all|this|these|its)) [a-z]/.exec(plain) ?? [];
  return word === "" || findVerb(word) || idle.has(word) || particular.has(word) || noWork.has(word)
    ? null
    : word;
}

const rareVerb = { act: "operate", tells: true } as const;

/** A sentence without what people put before an order; null where it only wants to know something. */
function stripRequest(sentence: string): string | null {
  let rest = stripOpening(sentence);
  let asked = false;
  for (let times = 0; times < 4; times++) {
    const shorter = rest.replace(requests, "");
    if (shorter === rest) break;
    rest = shorter;
    asked = true;
  }
  if (wantsToKnow.test(rest) || (/[?？]\s*$/.test(rest) && !asked)) return null;
  return rest;
}

/** A text in which kinds of work go by one name, whatever they were called. */
function nameKinds(text: string): string {
  // A file's name is none of them, but for the changelog's and the readme's.
  const files: string[] = [];
  const kept = text.replace(/(?<![\w./])(?!changelog|readme)[\w@-][\w@./-]*\.\w{1,5}(?![\w.])/g, (file) => {
    files.push(file);
    return `${place}${files.length - 1}${place}`;
  });
  return kinds
    .reduce(
      (named, { kind, said }) =>
        kind === "dependencies" && !updatesDependencies.test(text)
          ? named
          : named.replace(said, ` ${mark}${kind} `),
      kept,
    )
    .replace(places, (_, at) => files[Number(at)] ?? "");
}

const mark = "\u0001";
const place = "\u0002";
const places = /\u0002(\d+)\u0002/g;

interface AskToken {
  readonly word: string;
  readonly kind: string | null;
  readonly verb: { readonly act: Act; readonly tells: boolean } | null;
  readonly divides: boolean;
  readonly once: boolean;
}

function readTokens(text: string, written: string): AskToken[] {
  const tokens: AskToken[] = [];
  for (const part of text.split(/\s+/)) {
    if (part.startsWith(mark)) {
      const kind = part.slice(1);
      // "Translate the strings" and "release 2.0" name their kind by the verb.
      const verb =
        tokens.length === 0 ? findVerb({ translation: "translate", version: "release" }[kind] ?? kind) : null;
      const bare = verb !== null && kind === "version";
      tokens.push({
        word: bare ? "release" : kind,
        kind: bare ? null : kind,
        verb,
        divides: false,
        once: false,
      });
      continue;
    }
    for (const piece of withVerbsApart(part)) tokens.push(...plainTokens(piece, written));
  }
  return tokens;
}

/** Where no spaces part the words, verbs are looked for among the characters. */
function withVerbsApart(part: string): string[] {
  if (!isUnspaced(part)) return part === "" ? [] : [part];
  for (const verb of unspacedVerbs) {
    const at = part.indexOf(verb);
    if (at >= 0)
      return [
        ...withVerbsApart(part.slice(0, at)),
        verb,
        ...withVerbsApart(part.slice(at + verb.length)),
      ].filter((piece) => piece !== "");
  }
  return [part];
}

function plainTokens(part: string, written: string): AskToken[] {
  const bare = part.replace(/[.,:;!]+$/, "");
  const verb = findVerb(bare);
  if (verb) return [{ word: bare, kind: null, verb, divides: false, once: false }];
  return splitWords(part.replace(/['’]s\b/g, "")).map((word) => ({
    word: idle.has(word) ? word : stemWord(word),
    kind: null,
    verb: findVerb(word),
    divides: particular.has(word),
    once: isOnce(word) || isName(word, written),
  }));
}

/** Versions, numbers, files, tickets, links: true this once. */
function isOnce(word: string): boolean {
  return (
    /^v?\d[\w.,-]*$/.test(word) ||
    /\//.test(word) ||
    /\.\w{1,5}$/.test(word) ||
    /^#?[a-z]{1,10}-?\d+$/.test(word) ||
    /_/.test(word)
  );
}

/** Names of people, products and things in the code: written with a capital or two. */
function isName(word: string, written: string): boolean {
  const at = written.toLowerCase().indexOf(word);
  if (at < 0 || !/^[a-z]/.test(word)) return false;
  const own = written.slice(at, at + word.length);
  return at === 0 ? /[a-z][A-Z]/.test(own) : /^[A-Z][a-z]|[a-z][A-Z]/.test(own);
}

/** An order begins with its verb; what may stand before it is little. Other scripts put it where they like. */
function isInPlace(tokens: readonly AskToken[], at: number): boolean {
  if (tokens.some(({ word }) => /[^\x00-\u024f]/.test(word))) return true;
  const before = tokens.slice(0, at);
  return before.length === 0 || leadsIn.test(before[0]?.word ?? "") || (at <= 2 && before.every(isIdle));
}

const leadsIn = /^(?:go|use|take|do|look|raiseWeight|get|based|with|after)$/;

function isIdle({ word, kind }: AskToken): boolean {
  return kind === null && idle.has(word) && !subjects.test(word);
}

/** Who stands before a verb does it: that is told, not ordered. */
const subjects = /^(?:i|we|they|he|she|it|this|that|these|those|there|is|are|was)$/;

function isUnspaced(text: string): boolean {
  return /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(text);
}

/** Whether a sentence without spaces is an order: short, and neither a remark nor a question. */
function ordersUnspaced(order: string): boolean {
  if (order.length > unspacedChars || remarks.test(order)) return false;
  if (/[\uac00-\ud7af]/.test(order)) return /(?:줘|주세요|해라?|하자|세요|해 ?줘)[\s.!~]*$/.test(order);
  if (/[\u3040-\u30ff]/.test(order))
    return /(?:て|ください|くれ|頼む|お願い(?:します)?|たい(?:です)?)[\s。.!！]*$/.test(order);
  return true;
}

function buildAsk(sentence: string, order: string, act: Act, tokens: readonly AskToken[], at: number): Ask {
  const phrase = findPhrase(tokens, at, isUnspaced(sentence));
  const verb = tokens[at]?.word ?? "";
  const kind = findKind(verb, phrase);
  const words = weighWords(tokens, at, phrase);
  if (kind !== null && !words.has(kind)) words.set(kind, 1);
  return {
    act,
    kind,
    strong: kind === "deploy" || (kinds.find((one) => one.kind === kind)?.strong ?? false),
    head: phrase.at(-1)?.word ?? null,
    words,
    verb,
    tells: tokens[at]?.verb?.tells ?? false,
    particulars: tokens.flatMap(({ once, word }) => (once ? word : [])),
    sentence,
    order,
  };
}

/** What the work is on: from the verb to the word behind which its particulars stand. Other scripts have no such word. */
function findPhrase(tokens: readonly AskToken[], at: number, unspaced: boolean): AskToken[] {
  const phrase: AskToken[] = [];
  for (const [n, token] of tokens.entries()) {
    if (token.divides && n > at && phrase.length > 0 && !unspaced) break;
    const isVerb = token.verb !== null && token.kind === null;
    const isValue = token.once && isOnce(token.word);
    if (!idle.has(token.word) && !token.divides && !isVerb && !isValue) phrase.push(token);
  }
  return phrase;
}

/** The kind of work that the phrase ends in, or that the verb is. */
function findKind(verb: string, phrase: readonly AskToken[]): string | null {
  const named = phrase.findLast(({ kind }) => kind !== null && kind !== "staging" && kind !== "production");
  if (named && named.kind !== "version") return named.kind;
  if (isRelease(verb, phrase)) return "version";
  return deploys.test(verb) ? "deploy" : null;
}

/** How much each word tells: what the work is on most, names and commonplaces little. */
function weighWords(
  tokens: readonly AskToken[],
  at: number,
  phrase: readonly AskToken[],
): Map<string, number> {
  const words = new Map<string, number>();
  const last = tokens.lastIndexOf(phrase.at(-1) as AskToken);
  for (const [n, token] of tokens.entries()) {
    const { word, verb, kind, once } = token;
    if (idle.has(word) || token.divides || isOnce(word)) continue;
    const inPhrase = phrase.includes(token);
    if (once) raiseWeight(words, word, inPhrase ? 1 : weights.name);
    else if (verb && kind === null && n <= Math.max(at, last)) {
      if (verb.tells) raiseWeight(words, stemWord(word), 1);
    } else
      raiseWeight(words, word, (commonplace.has(word) ? weights.common : 1) * (inPhrase ? 1 : weights.aside));
  }
  return words;
}

/** "Release 2.0" and "publish a new version" are the release; "release the lock" and "compare the versions" are not. */
function isRelease(verb: string, phrase: readonly AskToken[]): boolean {
  const others = phrase.filter(({ kind, word }) => kind === null && word !== "candidate" && word !== "npm");
  const named = phrase.some(({ kind }) => kind === "version");
  return others.length === 0 && (releases.has(verb) || (named && makesReleases.has(verb)));
}

function raiseWeight(words: Map<string, number>, word: string, weight: number): void {
  words.set(word, Math.max(words.get(word) ?? 0, weight));
}

/** Whether enough is said to know the work again, and it is not one change at one place. */
function hasSubstance(ask: Ask): boolean {
  const { act, strong, particulars } = ask;
  if (strong && act !== "fix" && act !== "remove") return true;
  const namesPlace = particulars.some((word) => /[./_]|^#|-\d+$/.test(word) && !/^v?\d/.test(word));
  if (namesPlace && act !== "operate" && act !== "write") return false;
  return totalWeight(ask.words) >= (act === "fix" || act === "remove" ? leastToFix : leastOtherwise);
}

/** How alike two asks are: 1 the same kind of work, 0 nothing in common. */
export function compareAsks(a: Ask, b: Ask): number {
  if (isApart(a.act) !== isApart(b.act) || (isApart(a.act) && a.act !== b.act)) return 0;
  if (a.kind !== null && b.kind !== null && a.kind !== b.kind) return 0;
  if (a.strong && b.strong && a.kind === b.kind) return 1;
  if (a.strong !== b.strong) return 0;
  const sameHead = a.head !== null && a.head === b.head && !commonplace.has(a.head) && a.kind === null;
  if (sharedWeight(a.words, b.words) < leastOtherwise && !sameHead) return 0;
  // What is built twice under the same words is one thing being built, unless the particulars differ.
  if (a.act === "build" && b.act === "build" && !(hasOwn(a, b) && hasOwn(b, a))) return 0;
  const otherWork = a.tells && b.tells && a.verb !== b.verb ? otherVerbFactor : 1;
  return Math.min(1, measureSimilarity(a.words, b.words) + (sameHead ? headBonus : 0)) * otherWork;
}

/** Reviewing, mending and taking away are other work than making, on whatever. */
function isApart(act: Act): boolean {
  return act === "review" || act === "fix" || act === "remove";
}

function hasOwn(a: Ask, b: Ask): boolean {
  return (
    [...a.words.keys()].some((word) => !b.words.has(word)) ||
    a.particulars.some((word) => !b.particulars.includes(word))
  );
}

/** The words of an order that say what it is about, as they were written in small letters. */
export function listSubjectWords({ order, particulars }: Ask): string[] {
  return splitWords(order.toLowerCase()).filter(
    (word) => !idle.has(word) && !particular.has(word) && !particulars.includes(word),
  );
}
