import { type Event, isPersons } from "../../records/index.ts";
import { extractTerms, measureSimilarity } from "../../text/index.ts";
import { ownWords } from "../../trust/index.ts";

/** A person's prompt, with what the agent did before and after it. */
export interface Turn {
  readonly prompt: Event;
  /** The person's own words: without what was pasted, quoted or written by a program. */
  readonly words: string;
  readonly sentences: readonly string[];
  /** The agent's calls since the person spoke last. */
  readonly before: readonly Event[];
  /** The words came with a call turned down. */
  readonly rejected: Event | null;
  readonly reply: Event | null;
  /** The agent's calls until the person speaks again. */
  readonly after: readonly Event[];
  /** The person sent it once more before the agent answered: the next turn is the one that counts. */
  readonly resent: boolean;
  /** The person's own words in the next turn. */
  readonly next: string;
}

/** Share of its words that a turn has in common with the one before from which it was sent again. */
const resentShare = 0.8;

/** The turns of a session in their order. */
export function readTurns(events: readonly Event[]): Turn[] {
  const starts = events.flatMap(({ kind }, at) => (kind === "prompt" ? [at] : []));
  const prompts = starts.flatMap((at) => events[at] ?? []);
  const isTemplate = findTemplates(prompts.map(({ text }) => text));
  const words = prompts.map((prompt) =>
    !isPersons(prompt) || isTemplate(prompt.text) ? "" : ownWords(prompt.text),
  );
  const parts = starts.map((at, n) => events.slice(at + 1, starts[n + 1] ?? events.length));
  return starts.flatMap((at, n) => {
    const prompt = events[at];
    const [own = "", next = ""] = words.slice(n, n + 2);
    if (prompt === undefined || own === "") return [];
    const before = n === 0 ? events.slice(0, at) : (parts[n - 1] ?? []);
    const after = parts[n] ?? [];
    // What stands before it, without marks: the agent's last words or call.
    const last = before.findLast(({ kind }) => kind !== "mark");
    // Words that turn a call down stand where its result does, or right behind it.
    const isRejection =
      last?.outcome === "rejected" && (last.resultKey === prompt.key || before.at(-1) === last);
    const isUnanswered = !after.some(({ kind }) => kind === "reply" || kind === "call");
    return {
      ...{ prompt, words: own, sentences: splitSentences(own), next },
      before: before.filter(({ kind }) => kind === "call"),
      after: after.filter(({ kind }) => kind === "call"),
      rejected: isRejection ? last : null,
      // The first words that say something: an agent often calls a tool first.
      reply: after.find(({ kind, text }) => kind === "reply" && text.trim() !== "") ?? null,
      resent: isUnanswered && measureSimilarity(extractTerms(own), extractTerms(next)) > resentShare,
    };
  });
}

/** Long prompts that begin alike again and again come from a program. */
function findTemplates(prompts: readonly string[]): (text: string) => boolean {
  const heads = new Map<string, number>();
  const readHead = (text: string) => (text.length < 300 ? "" : text.slice(0, 60));
  for (const head of prompts.map(readHead)) heads.set(head, (heads.get(head) ?? 0) + 1);
  return (text) => text.length >= 300 && (heads.get(readHead(text)) ?? 0) >= 3;
}

// --- A person's own words ---

const maxSentences = 24;

/** The sentences of a text, in order. Two dots count as a stop: many people write so. */
export function splitSentences(text: string): string[] {
  const sentences = text.split(sentenceEnds).map((sentence) => sentence.trim());
  return sentences.filter((sentence) => sentence !== "").slice(0, maxSentences);
}

const sentenceEnds =
  /(?<=[.!?…])(?<!(?:^|\s)\d{1,2}\.)(?<!\b(?:e\.g|i\.e|etc|vs|cf|z\.b|bzw|p\.ej)\.)\s+|(?<=[。！？；;])|(?<![./@\s])\.{2,}(?![./])\s*|\n+/u;

/** The sentences that a person wrote themselves. A diff that is pasted behind the words is not part of them. */
export function readOwnSentences(text: string): string[] {
  return splitSentences(ownWords(text).replace(/\bdiff --git .*/s, "diff"));
}

/** A sentence without the small words that people begin with: "ok so please …". */
export function stripOpening(sentence: string): string {
  let rest = sentence.trim();
  for (let times = 0; times < 4; times++) {
    const shorter = rest.replace(smallOpening, "");
    if (shorter === rest || shorter === "") break;
    rest = shorter;
  }
  return rest;
}

const smallOpening =
  /^(?:(?:ok|okay|hey|oh|so|but|and|also|please|pls|y|pero|und|aber|mais|et)[\s,.!:;-]+|(?:hi|hello|hm+|ah|uh|um|well|sorry|thanks|thank you|great|cool|nice|sure|right|yeah|yes|yep|vale|bueno|por favor|bitte|alors)[,.!:;][\s,.!:;-]*|请你?|(?:但是|不过|然后|另外|所以|而且)[,，、]?|(?:嗯+|好的?|那么?|哦|啊|はい|あの|えっと|すみませんが?|あと|でも|では|じゃあ|네|음|근데|그리고|그런데|저기)[\s,，、。!！：:]+|那(?=你|就|请|我们))/iu;

/** Whether a sentence asks, in any of the languages. */
export function isQuestion(sentence: string): boolean {
  return questionEnd.test(sentence.trim()) || questionOpening.test(stripOpening(sentence));
}

const questionEnd =
  /[?？]\s*$|[吗呢么嗎][。~！!]?$|(?:です|ます|でしょう|ません|の|んです)か[。]?$|(?:나요|까요|니까|인가요|는지)\s*[.]?$/u;
const questionOpening =
  /^(?:what|where|when|who|which|how|is|are|was|does|do|did|can|could|would|should|will|shall|have|has)\b/i;
