import type { Event } from "../event.ts";
import { type Finding, finding, noExcerpt, type Scope } from "../finding.ts";
import { policy } from "../policy.ts";
import { nameFrom, termsOf } from "../words.ts";
import * as says from "./phrases.ts";
import { sentencesOf, withoutOpening } from "./speech.ts";
import type { Turn } from "./turns.ts";
import type { Verdict } from "./verdict.ts";

/** The finding that a judged turn makes: the lesson in the person's words, with what the agent answered. */
export function tell(turn: Turn, { kind, confidence, sentences }: Verdict): Finding {
  const said = tidy(sentences.join(" "), policy.detect.telling.saidChars);
  const replied = restatement(turn.reply?.text ?? "");
  const subject = subjectOf(turn);
  const saved = says.savesAs.exec(turn.words)?.[1] ?? null;
  const lesson = [endSentence(said), replied === "" ? "" : `Agent: ${endSentence(replied)}`].filter((part) => part !== "");
  return finding(
    {
      kind,
      lesson: lesson.join(" "),
      trigger: conditionIn(sentences) ?? subject ?? tidy(said, policy.detect.telling.triggerChars),
      action: tidy(said, policy.detect.telling.actionChars),
      keywords: keywordsOf(`${said} ${subject ?? ""}`, replied),
      confidence,
      name: saved === null ? nameOf(kind, said, replied) : saved,
      scope: scopeOf(`${said} ${replied}`),
      artifact: saved !== null || namesSteps(sentences) ? "skill" : "rule",
      excerpt: {
        ...noExcerpt,
        said: turn.words.slice(0, policy.detect.telling.excerptChars),
        replied: turn.reply?.text.trim().slice(0, policy.detect.telling.excerptChars) ?? null,
      },
      call: null,
    },
    [turn.prompt, ...[turn.reply, turn.after[0] ?? null].filter((event): event is Event => event !== null)],
  );
}

function tidy(text: string, most: number): string {
  const flat = withoutOpening(text.replace(/\s+/g, " ").trim());
  if (flat.length <= most) return flat;
  const cut = flat.slice(0, most);
  const end = Math.max(cut.lastIndexOf(" "), cut.lastIndexOf("，"), cut.lastIndexOf("、"), cut.lastIndexOf("。"));
  return `${cut.slice(0, end > most / 2 ? end : most)}…`;
}

function endSentence(text: string): string {
  return text === "" || /[.!?。！？…]$/u.test(text) ? text : `${text.replace(/[,，;；:：]+$/u, "")}.`;
}

/** The first words of the reply that say something: not the apology, and not what it will look at next. */
function restatement(reply: string): string {
  const { replyChars } = policy.detect.telling;
  const plain = reply
    .slice(0, 1_500)
    .replace(/```[^`]*(?:```|$)/g, " ")
    .replace(/[*#`>|]+/g, " ");
  const useful = sentencesOf(plain)
    .map((sentence) => sentence.replace(courtesy, "").replace(/\s+/g, " ").trim())
    .filter((sentence) => termsOf(sentence).size >= 3 && !announces.test(sentence));
  let told = "";
  for (const sentence of useful) {
    if (told !== "" && told.length + sentence.length > replyChars) break;
    told = told === "" ? sentence : `${told} ${sentence}`;
  }
  return tidy(told, replyChars);
}

const courtesy =
  /^(?:(?:you(?:'|’)?(?:re| are) (?:\w+ )?(?:right|correct)|good (?:catch|point|call)|sorry(?: about that)?|my (?:mistake|apologies|bad)|apologies|understood|got it|noted|agreed|fair (?:point|enough)|totally fair|thanks|sure|okay|ok)\b[\s,.!—–:-]*|(?:[你您]说得?(?:完全|非常|很)?(?:对|正确)|抱歉|明白了?|理解了?|好的|了解|完全同意|非常好|啊)[\s，,。！!：:]*|(?:おっしゃる通りです|ご指摘の通りです|申し訳ありません|失礼しました|承知しました|わかりました)[\s、。]*|(?:맞습니다|죄송합니다|알겠습니다|네)[\s,.]*|(?:tienes (?:toda la )?razón|entendido|perdón)[\s,.—–:-]*)+/iu;

/** Says what the agent will do next. */
const announces =
  /^(?:let me|i(?:'|’)ll (?:start|check|look|read|begin|search)|i(?:'|’)m (?:going to|checking)|now let me|让我(?:先|来|看|检查|读|查)|我来(?:检查|看)|现在让我|voy a|déjame)/iu;

/** What the agent was doing when the person spoke: a command, a file, a plan. */
function subjectOf({ rejected, before }: Turn): string | null {
  const call = rejected ?? before.findLast(({ tool }) => tool !== null && !/todo|plan|task/i.test(tool));
  if (call === undefined) return null;
  const file = call.files[0]?.split(/[/\\]/).at(-1);
  if (call.command !== null) return `running ${call.command.replace(/\s+/g, " ").slice(0, 40)}`;
  if (file !== undefined) return `working on ${file}`;
  return call.tool === null ? null : `using ${call.tool}`;
}

/** The part of a sentence that says when: "before you push", "when a story is done". */
function conditionIn(sentences: readonly string[]): string | null {
  for (const sentence of sentences) {
    const [found] = condition.exec(sentence) ?? [];
    if (found !== undefined) return tidy(found, policy.detect.telling.triggerChars);
  }
  return null;
}

const condition =
  /\b(?:before|after|when(?:ever)?|if|every time|each time|until|unless) [^,.;!?，。]{4,60}|(?:当|如果|在)?[^，。；,;]{2,24}(?:时候?|之前|之后|前|后)(?=[，,都要先])|[^、。]{2,24}(?:する(?:時|とき|前)|した(?:時|ら|後)|場合)|\b(?:antes de|cuando|después de|si) [^,.;!?]{4,60}|\b(?:bevor|wenn|nachdem) [^,.;!?]{4,60}|\b(?:avant de|quand|après) [^,.;!?]{4,60}/iu;

function namesSteps(sentences: readonly string[]): boolean {
  return /(?:^|\s)1[.)、]\s.{1,400}\s2[.)、]\s|\bfirst\b.{1,200}\bthen\b.{1,200}\bthen\b/isu.test(sentences.join(" ").slice(0, 2_000));
}

/** The words that tell this lesson from others: identifiers first, then what the reply repeats. */
function keywordsOf(said: string, replied: string): string[] {
  const { mostKeywords } = policy.detect.telling;
  const answer = termsOf(replied);
  const words = [...termsOf(said)].filter((word) => word.length > 1 && !dull.has(word));
  const weight = (word: string) => (/[./@_-]|\d/.test(word) ? 2 : 0) + (answer.has(word) ? 1 : 0) + (/^[a-z]/.test(word) ? 0.5 : 0);
  return words
    .map((word, at) => ({ word, rank: weight(word) - at / 100 }))
    .sort((a, b) => b.rank - a.rank)
    .slice(0, mostKeywords)
    .map(({ word }) => word);
}

const dull = new Set(
  (
    "no not don't dont why wait stop ok okay yes actually instead want need needs like think make sure always never remember " +
    "working running here only also already add more than rather"
  ).split(" "),
);

function nameOf(kind: string, said: string, replied: string): string {
  const own = nameFrom(keywordsOf(said, replied).filter((word) => /[a-z]/.test(word)).slice(0, 5).join(" "));
  return own === "" ? (kind === "user-correction" ? "correction" : kind) : own.includes("-") ? own : `${own}-${kind === "user-correction" ? "correction" : "rule"}`;
}

/** How the agent should work is the person's; what names files and things is the project's. */
function scopeOf(text: string): Scope {
  const named = /[\w-]+\/[\w./-]+|\b[\w-]+\.(?:md|ts|js|py|go|rs|tsx|json|ya?ml|toml|sh)\b|@[\w-]+\/|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+\b|[A-Z][a-z]+[A-Z]\w+/.test(text);
  return named || says.tellsCustom.test(text) ? "project" : "user";
}
