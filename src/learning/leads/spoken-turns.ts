import { type Event, type FindingKind, isPersons } from "../../records/index.ts";
import { oneLine } from "../../text/index.ts";
import { ownWords } from "../../trust/index.ts";
import type { Clue } from "./failed-calls.ts";
import { says } from "./phrases.ts";
import { findSavedName } from "./requests.ts";
import { isQuestion, splitSentences } from "./turns.ts";

/** A person's turns that may teach something: all but agreement, bare requests and what a program wrote. */
export function findSpokenTurns(events: readonly Event[]): Clue[] {
  const started = events.findIndex(isAgents);
  const spoke = events.findIndex(isPersons);
  return events.flatMap((event, at) => {
    // Where no person speaks, a program answers in their place.
    if (isAnswered(event)) return spoke >= 0 && spoke < at ? [readAnswer(events, at)] : [];
    if (!isPersons(event)) return [];
    const words = withoutLinks(ownWords(event.text));
    const isTeaching = words !== "" && !isBareRequest(words);
    return isTeaching ? [readTurn(events, at, words, started < 0 || started > at)] : [];
  });
}

/** A question of the agent, with the person's choice. */
function isAnswered({ tool, outcome }: Event): boolean {
  return outcome === "ok" && /^(?:AskUserQuestion|request_user_input|ask_user\w*)$/i.test(tool ?? "");
}

function readAnswer(events: readonly Event[], at: number): Clue {
  const event = events[at] as Event;
  return {
    ...{ kind: "user-correction", family: "said", at, topic: null, promise: 0.4 },
    events: [event, ...events.slice(at + 1, at + 3)],
    fact: event.ref,
    summary: oneLine(event.text),
  };
}

function readTurn(events: readonly Event[], at: number, words: string, isOpening: boolean): Clue {
  const before = events.slice(Math.max(0, at - 3), at);
  const rejected = before.findLast(({ outcome }) => outcome === "rejected");
  const isStopped = before.some(({ kind, text }) => kind === "mark" && /interrupt|abort|cancel/i.test(text));
  const after = events.slice(at + 1, at + 8);
  const reply = after.find(({ kind }) => kind === "reply")?.text ?? "";
  const sentences = splitSentences(words);
  const signs = readSigns(words, sentences, reply);
  return {
    ...{ kind: guessKind(sentences, isOpening), family: "said", at, topic: null },
    // Where the agent was at work, what it did next stands nearest to the words.
    events: [events[at] as Event, ...(rejected ? [rejected] : []), ...after.filter(isAgents).slice(0, 2)],
    fact: `said ${words.slice(0, 60)}`,
    promise: weighSigns(signs, isOpening) + (rejected ? 0.3 : isStopped ? 0.2 : 0),
    summary: findTellingSentence(sentences),
  };
}

interface SpokenSigns {
  readonly firm: number;
  readonly mild: number;
  readonly asksOnly: boolean;
  readonly isConceded: boolean;
}

function readSigns(words: string, sentences: readonly string[], reply: string): SpokenSigns {
  return {
    firm: Math.min(3, countMatches(words, firmWords)),
    mild: Math.min(3, countMatches(words, mildWords)),
    asksOnly: sentences.every(isQuestion),
    isConceded: says.concedes.test(reply.slice(0, 160).toLowerCase()),
  };
}

function weighSigns({ firm, mild, asksOnly, isConceded }: SpokenSigns, isOpening: boolean): number {
  const said = 0.25 + (firm > 0 ? 0.2 + 0.08 * firm : 0) + 0.06 * mild + (isConceded ? 0.25 : 0);
  const asked = asksOnly ? (firm > 0 || isConceded ? 0.05 : 0.12) : 0;
  return said - asked - (isOpening && firm === 0 ? 0.1 : 0);
}

function countMatches(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** The sentence that sounds most like a rule, or the first. */
function findTellingSentence(sentences: readonly string[]): string {
  const ranked = sentences.map((text, at) => ({ text, rank: 10 * countMatches(text, firmWords) - at / 10 }));
  return oneLine(ranked.sort((a, b) => b.rank - a.rank)[0]?.text ?? "");
}

function guessKind(sentences: readonly string[], isOpening: boolean): FindingKind {
  const lower = sentences.map((sentence) => sentence.toLowerCase());
  if (lower.some((sentence) => says.standing.test(sentence) || findSavedName(sentence) !== null))
    return "explicit-instruction";
  if (lower.some((sentence) => says.tellsCustom.test(sentence))) return "convention";
  return isOpening ? "explicit-instruction" : "user-correction";
}

function isAgents({ kind }: Event): boolean {
  return kind === "reply" || kind === "call";
}

function withoutLinks(text: string): string {
  return text.replace(/https?:\/\/\S+/g, " ").trim();
}

/** Characters up to which a request can be nothing but routine. */
const routineChars = 60;

/** Whether nothing is said but yes, go on, look or hand over the work: any agent understands that. */
export function isBareRequest(words: string): boolean {
  if (words.length > routineChars) return false;
  const rest = words.toLowerCase().replace(routine, " ");
  return rest.replace(/[\s\p{P}\p{S}\d]+|\b[a-d]\b/gu, "") === "";
}

// biome-ignore format: lists of words read better in rows
const routine = new RegExp(
  [
    "\\b(?:please|pls|can|could|should|shall|will|would|do|does|did|is|are|has|have|it|they|that|this|these|the|an?|all|our|my|your|we|you|i|us|me|now|then|and|or|so|ok(?:ay)?|also|again|yet|to|for|on|of|up|in|with|let'?s|go|ahead|continue|proceed|resume|start|finish(?:ed)?|done|ready|check|status|progress|latest|what'?s?|where|how|push(?:ed)?|pull|commit|merge[ds]?|rebase|review|deploy|release|open|create|make|prs?|pull request|draft|changes?|work|branch|main|remote|run|tests?|try|retry|fix|build|y|yes|yep|yeah|no|nope|sure|thanks?|thank|great|perfect|lgtm|stop|next|steps?|everything|going|doing|there|any|updates?|explain|summari[sz]e|summary|show|list)\\b",
    "\\b(?:s[ií]|dale|vale|listo|gracias|contin[uú]a|sigue|crea|el|la|haz|sube(?:lo)?|revisa|dame|lista|ahora|ja|weiter|danke|bitte|mach|oui|merci|vas-y|да|нет|продолжай|давай|спасибо)\\b",
    "続けて?|継続|はい|いいよ|そう|です|コミット|プッシュ|マージ|レビュー|デプロイ|削除|実装|修正|確認|進め|完了まで|やって|いって|して|ください|問題なければ|いまどういう状態|登録した",
    "继续|好的?|可以|是的?|嗯|提交|推送|合并|开始|完成|检查|一下|吧|了|请|帮我|看看|谢谢|네|예|응|계속|좋아|커밋|푸시|해줘",
  ].join("|"),
  "gu",
);

/** Words of a rule, or of somebody who is against something. */
// biome-ignore format: lists of words read better in rows
const firmWords = new RegExp(
  [
    "\\b(?:don['’]?t|do not|never|always|must(?:n['’]?t)?|shouldn['’]?t|should not|instead|rather|prefer|no need|stop|make sure|ensure|remember|save|from now|next time|wrong|incorrect|revert|undo|back to|actually|forgot|i (?:said|told|asked|meant?|thoug?ht?)|not what|rules?|standards?|conventions?|pattern|consistent(?:ly)?|policy|guidelines?|deprecated|backwards? compat\\w*|over ?(?:engineer|complicat)\\w*|by default|every time|whenever|also needs? to|we (?:use|don['’]?t|no longer|always|never|should)|learning|first|before you|why (?:did|do|are|is) (?:you|i|we|it)|did you)\\b",
    "ないで|なくていい|使わ(?:ない|ず)|ではなく|じゃなく|べき|残して|不要|必ず|いつも|想定|やめて|違う|ちが|別ブランチ|ほしい",
    "不是|应该|必须|别(?!的|人)|不对|不要|不能|不用|不还是|为什么|没有必要|没必要|以后|记住|反馈过|说过|你(?:没|看|该)|期望|希望",
    "항상|절대|하지 ?마|말고|대신|반드시|왜|всегда|никогда|не надо|нельзя|вместо|почему",
    "\\b(?:siempre|nunca|debes?|mejor|en vez|no (?:uses|hagas|crees|quiero|es)|ya (?:existe|estaba|ten)|por ?qu[eé]|antes de|pero|immer|nie|niemals|statt|nicht|warum|toujours|jamais|plutôt|au lieu|pourquoi)\\b",
  ].join("|"),
  "giu",
);

const mildWords =
  /\b(?:should|use|only|keep|not|again|remove|missing|still|needs? to|change|please|just|already|document(?:ed)?|think|no|usa|quita|ya)\b|してください|使|需要|我们/giu;
