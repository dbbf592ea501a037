import { parseCommand } from "../../failures/index.ts";
import { type Event, type Finding, type LessonScope, makeFinding, noExcerpt } from "../../records/index.ts";
import { extractTerms, measureSimilarity, slugify, splitWords, wordSet } from "../../text/index.ts";
import { says } from "./phrases.ts";
import { countContentWords, findSavedName, isContentless, type SpokenLesson } from "./spoken.ts";
import { isQuestion, splitSentences, stripOpening, type Turn } from "./turns.ts";

/** Characters of a lesson that are the person's, and the agent's; and sentences of a reply that are read for that. */
const saidChars = 280;
const replyChars = 220;
const replySentences = 3;
/** Share of words from which a reply comes back to what was said. */
const restatingShare = 0.08;
/** Words up to which a turn needs what the agent was doing to be understood. */
const contextWords = 9;
const nameWords = 6;
/** Words of content below which an order means what was just done; and how much of that is told. */
const pointingWords = 4;
const maxSteps = 5;
const stepChars = 80;
const triggerChars = 60;
const actionChars = 240;
const minKeywords = 3;
const maxKeywords = 8;
const excerptChars = 600;

/** The lessons of one kind in what people said. */
export function findSpokenLessons(spoken: readonly SpokenLesson[], kind: SpokenLesson["kind"]): Finding[] {
  return spoken.filter((one) => one.kind === kind).map(writeLesson);
}

/** The lesson in the person's words, with what the agent answered. */
function writeLesson({ turn, kind, confidence, sentences }: SpokenLesson): Finding {
  const isCorrection = kind === "user-correction";
  const isOrder = kind === "explicit-instruction";
  const said = tidy(stripRefusal(stripPraise(sentences.map(endSentence).join(" "))), saidChars);
  const replied = findRestatement(turn.reply?.text ?? "", isCorrection ? null : said);
  const doing = isCorrection ? describeWork(turn) : null;
  const keywords = findKeywords(said, replied);
  const saved = isOrder ? findSavedName(sentences[0] ?? "") : null;
  const meant = isOrder && (saved !== null || pointsBack(said)) ? findStepsBefore(turn) : [];
  const done = meant.map((step) => `\`${writeStep(step, stepChars)}\``).join(", ");
  const listed = findListedSteps(sentences);
  const condition = findCondition(sentences) ?? keywords.slice(0, 5).join(" ");
  return makeFinding(
    {
      ...{ kind, keywords, confidence, scope: findScope(said, replied) },
      lesson: `${writeText(said, replied, doing)}${done === "" ? "" : ` Done before: ${done}.`}`,
      trigger: saved === null ? condition : `${saved.replaceAll("-", " ")} is wanted`,
      action:
        saved !== null && meant.length > 0
          ? meant.map((step) => writeStep(step, stepChars)).join("; ")
          : writeAction(kind, sentences, said, replied),
      steps: [...meant.map((step) => `Run \`${writeStep(step, stepChars * 2)}\``), ...listed],
      name: saved ?? chooseName(kind, said, [replied, doing ?? ""]),
      artifact: saved !== null || listed.length > 1 || meant.length > 1 ? "skill" : "rule",
      excerpt: {
        ...noExcerpt,
        said: turn.words.slice(0, excerptChars),
        replied: turn.reply?.text.trim().slice(0, excerptChars) ?? null,
      },
    },
    [turn.prompt, ...[turn.reply, ...meant, turn.after[0]].flatMap((event) => event ?? [])],
  );
}

/** Whether an order means what was just done. */
function pointsBack(said: string): boolean {
  if (/\b(?:remember|save|keep|store|note) (?:this|that|these)\b/i.test(said)) return true;
  return countContentWords(said) < pointingWords && says.pointsBack.test(said.toLowerCase());
}

/** The action in the person's words; in the agent's where the person only asked or named next to nothing. */
function writeAction(
  kind: Finding["kind"],
  sentences: readonly string[],
  said: string,
  replied: string,
): string {
  const orders = ordering.some((pattern) => pattern.test(said.toLowerCase()));
  const isBare = sentences.every(isQuestion) || (countContentWords(said) < pointingWords && !orders);
  const isAnswered = kind === "user-correction" && isBare && replied !== "" && !/^no\b/i.test(replied);
  return tidy(isAnswered ? replied : said, actionChars);
}

const ordering = [
  ...[says.forbids, says.requires, says.bars, says.sets, says.tellsYou, says.ordersSteps, says.standing],
  ...[says.tellsCustom, says.lessens, says.existsAlready, says.directs, says.choosesLanguage],
];

/** The commands that "this" means in "save this": the last ones that worked, without those that only looked. */
function findStepsBefore({ before }: Turn): Event[] {
  const isLooking = (command: string) => parseCommand(command).every((run) => run.isLook || run.onlyPrints);
  const worked = before.filter(
    ({ command, outcome }) => command !== null && outcome === "ok" && !isLooking(command),
  );
  return worked.slice(-maxSteps);
}

function writeStep({ command }: Event, most: number): string {
  return (command ?? "").replace(/\s+/g, " ").slice(0, most);
}

/** A few words alone, or a question, say little to a stranger: then what the agent did and answered comes with them. */
function writeText(said: string, replied: string, doing: string | null): string {
  const short = splitWords(said).length <= contextWords;
  const told = short && doing !== null ? `${endSentence(said)} (Said while ${doing}.)` : endSentence(said);
  return replied === "" ? told : `${told} Agent: ${endSentence(replied)}`;
}

function tidy(text: string, most: number): string {
  const flat = stripOpening(text.replace(/\s+/g, " ").trim());
  // A path or an identifier keeps its case.
  const isWord = /^\p{Ll}\p{L}*(?:[\s,!?'’]|[.:]?$)/u.test(flat);
  const whole = isWord ? flat.charAt(0).toUpperCase() + flat.slice(1) : flat;
  if (whole.length <= most) return whole;
  const cut = whole.slice(0, most);
  const end = Math.max(...[" ", "，", "、", "。", "；"].map((stop) => cut.lastIndexOf(stop)));
  return `${cut.slice(0, end > most / 2 ? end : most)}…`;
}

function endSentence(text: string): string {
  const bare = text.replace(/[,，;；:：\s]+$/u, "");
  if (bare === "" || /[.!?。！？…]["'”」)）]?$/u.test(bare)) return bare;
  return /[\p{Script=Han}ぁ-ヿ]$/u.test(bare) ? `${bare}。` : `${bare}.`;
}

/** "Very good, but …": the lesson is in what follows. */
function stripPraise(said: string): string {
  const but = /\bbut\b|\bhowever\b|但是?|不过|\bpero\b|けど|ただ|하지만|\baber\b|\bmais\b/iu;
  const turn = said.slice(0, 80).search(but);
  return says.agrees.test(said.toLowerCase()) && turn > 0 ? said.slice(turn) : said;
}

/** "No, …": what follows is the rule. */
function stripRefusal(said: string): string {
  const rest = said.replace(refusal, "");
  return countContentWords(rest) > 0 ? rest : said;
}

const refusal =
  /^(?:(?:no+|nope|nah|wait|stop|wrong|actually|nein|non)[,.!:;]+\s*|actually,? |(?:不对|不是|不|错了)[，,。！]\s*|(?:いや|違います|違う|ちがう)[、。,]\s*|(?:아니요?|아뇨)[,.]?\s+){1,3}/iu;

/**
 * The first words of the reply that say something: not the courtesy, not what the agent will look at next, not a
 * table. For an order it must come back to what was said, or it is a report of the work.
 */
function findRestatement(reply: string, about: string | null): string {
  const isHeading = (sentence: string) => /[:：]\s*$/u.test(sentence);
  const saysSomething = (sentence: string) =>
    !isContentless(sentence) && !/[|✅❌📊🎯🔄]|^-{2,}/u.test(sentence) && !announces.test(sentence);
  const parts = reply.slice(0, 1_500).split("```");
  const prose = parts.filter((_, at) => at % 2 === 0).join("\n");
  const useful = splitSentences(prose.replace(/[*#`>]+/g, " "))
    .map((sentence) => stripCourtesy(sentence.replace(/^(?:\d+[.)]|[-•])\s+/, "")).replace(/\s+/g, " "))
    .filter(saysSomething)
    .slice(0, replySentences);
  // A heading without what it heads says nothing.
  if (isHeading(useful.at(-1) ?? "")) useful.pop();
  const sentences = useful.map((sentence) => (isHeading(sentence) ? sentence : endSentence(sentence)));
  const told = tidy(sentences.join(" "), replyChars);
  if (about === null) return told;
  return measureSimilarity(extractTerms(told), extractTerms(about)) > restatingShare ? told : "";
}

function stripCourtesy(sentence: string): string {
  let rest = sentence.trim();
  for (let times = 0; times < 3; times++) rest = rest.replace(courtesy, "");
  return rest.trim();
}

const courtesy =
  /^(?:(?:you(?:'|’)?(?:re| are) (?:\w+ )?(?:right|correct)|(?:good|great|nice) (?:catch|point|call|idea)|sorry(?: about that)?|my (?:mistake|apologies|bad)|(?:my )?apologies|i apologi[sz]e(?: for [^.,]{1,40})?|understood|got it|noted|agreed|exactly|absolutely|makes sense|fair (?:point|enough)|totally fair|thanks|sure|okay|ok|ah)\b[\s,.!—–:-]*(?:and |that |to )?|(?:[你您]说得?(?:完全|非常|很)?(?:对|正确)|抱歉|明白了?|理解了?|好的|好主意|了解|收到|完全同意|非常好(?:的建议)?|对|啊)[\s，,。！!：:]+|(?:おっしゃる通りです|ご指摘の通りです|申し訳ありません|失礼しました|承知しました|わかりました)[\s、。！]*|(?:맞습니다|죄송합니다|알겠습니다|네)[\s,.!]+|(?:tienes (?:toda la )?raz[oó]n|entendido|perd[oó]n|de acuerdo)[\s,.—–:-]*|(?:du hast recht|verstanden|entschuldigung)[\s,.—–:-]*|(?:vous avez raison|tu as raison|compris|désolé)[\s,.—–:-]*)/iu;

/** Says what the agent will look at or write next. */
const announces =
  /^(?:(?:now |first,? )?(?:let me|let(?:'|’)s|i(?:'|’)ll|i(?:'|’)m going to|i will) (?:first |now |also |just |start by |begin by )?(?:check|look|read|see|search|review|explore|examine|verif|find|start|take|get|gather|investigat|understand|think|continue|go|research|begin|inspect)|i(?:'|’)m (?:checking|moving|switching|removing)|(?:i will|i(?:'|’)ll|let me) (?:put|move|switch|revert|remove|redo|undo|change|fix|rewrite|update|add|use|stop|do)\b|(?:moving|switching|reverting|removing|updating|changing|fixing|putting)\b|ich (?:setze|ändere|werde|mache|stelle|füge|aktualisiere|speichere)\b|je vais\b|j['’](?:ajoute|enlève)\b|je (?:mets|corrige|change)\b|(?:lo |la |los |las )?(?:añado|agrego|actualizo|corrijo|guardo|quito|elimino|muevo|cambio)\b|(?:现在)?让我(?:先|来|再)?(?:看|检查|查|读|确认|搜|重新|补充|继续|按照)|我来|voy a|d[eé]jame|確認します|修正します|확인)/iu;

/** The file or program the agent was working with when the person spoke, or in the call they turned down. */
function describeWork({ rejected, before }: Turn): string | null {
  const call = rejected ?? before.findLast(({ files }) => files.length > 0);
  const file = call?.files[0]?.split(/[/\\]/).at(-1);
  if (file !== undefined) return `working on ${file}`;
  const program = call?.command ? parseCommand(call.command).at(-1)?.name : undefined;
  return program === undefined ? null : `running ${program}`;
}

/** The part of a sentence that says when: "before you push", "when a story is done". */
function findCondition(sentences: readonly string[]): string | null {
  for (const sentence of sentences) {
    const [found] = condition.exec(sentence) ?? [];
    if (found !== undefined) return found.replace(/^[，。；,;\s]+/u, "").slice(0, triggerChars);
  }
  return null;
}

const condition =
  /\b(?:before|after|when(?:ever)?|every time|each time|until|unless) [^,.;!?，。]{4,50}|(?:^|[，。；,;])(?!比如)[^，。；,;]{2,14}(?:时候?|之前|之后)(?=[，,都要先])|(?:^|[、。])[^、。]{2,20}(?:する(?:時|とき|前)|した(?:時|後)|場合)|\b(?:antes de|cuando|después de) [^,.;!?]{4,50}|\b(?:bevor|wenn|nachdem) [^,.;!?]{4,50}|\b(?:avant de|quand|après) [^,.;!?]{4,50}/iu;

/** The steps that are told one after the other: as a list, or as "first … then … then". */
function findListedSteps(sentences: readonly string[]): string[] {
  const text = sentences.join("\n").slice(0, 2_000);
  const list = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, item]) => item ?? "");
  const items = list(/(?:^|\s)\d{1,2}[.)、]\s*([^\n]+?)(?=\s+\d{1,2}[.)、]\s|\n|$)/gu);
  const bullets = list(/^[-*•] +(.+)$/gmu);
  const chained = (chain.exec(text) ?? []).slice(1).filter((step) => step !== undefined);
  const steps = [items, bullets, chained].find((each) => each.length > 1) ?? [];
  return steps.map((step) => tidy(step, actionChars)).slice(0, maxSteps + 3);
}

const chain =
  /\bfirst,? (.{2,200}?),? (?:and )?then,? (.{2,200}?)(?:,? (?:and )?(?:then|finally),? (.{2,200}?))?(?:[.!]|$)/iu;

/** The words that tell this lesson from others: names of things first, then what the reply repeats, then the reply's. */
function findKeywords(said: string, replied: string): string[] {
  const answer = new Set(splitPhrases(replied));
  const rank = (word: string, at: number) =>
    (/[./@_-]|\d/.test(word) ? 1.5 : 0) + (answer.has(word) ? 1 : 0) - at / 50;
  const ranked = [...new Set(splitPhrases(said))].map((word, at) => ({ word, rank: rank(word, at) }));
  const sorted = ranked.sort((a, b) => b.rank - a.rank).slice(0, maxKeywords);
  const own = sorted.map(({ word }) => word);
  return [...new Set([...own, ...[...answer].slice(0, Math.max(0, minKeywords - own.length))])];
}

/** Words that mean something: whole words, and in scripts without spaces what stands between the small characters. */
function splitPhrases(text: string): string[] {
  const runs = text.toLowerCase().split(phraseEnds);
  const words = runs.flatMap((run) =>
    /[\p{Script=Han}ぁ-ヿ]/u.test(run) ? run.split(smallCharacters) : [run],
  );
  const isTelling = (word: string) => word.length > 1 && word.length <= 40 && !small.has(word);
  const bare = words.map((word) => word.replace(/^[-./]+|[-./]+$/g, ""));
  return bare.filter((word) => isTelling(word) && !says.contentless.has(word));
}

const phraseEnds =
  /[^\p{L}\p{M}\p{N}_./@-]+|(?<=[\p{Script=Han}ぁ-ヿ])(?=[a-z0-9@])|(?<=[a-z0-9])(?=[\p{Script=Han}ぁ-ヿ])/u;

const smallCharacters =
  /为什么|而不是|不应该|的时候|[我你他她它咱]们|可以|应该|需要|因为|所以|如果|这[个种样些里]|那[个种样些]|什么|怎么|没有|不是|就是|还是|已经|一下|一[个些点]|或者|比如说?|但是|然后|希望|觉得|感觉|现在|都是|不用|不要|可能|自己|[的了是我你您他她它在有和就不也都要会这那吗呢吧把被给与及而但还再很太更些么没别请个到着说并]|[ぁ-ゖ]+/u;

const small = wordSet(`
  a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its
  just me my now of on or our she should so some that the their them then they this to up us was we were what when
  where which who will with would you your than always never remember add already having both other outside anyone
  else was were been being he el la los las un una de del al en que ya es por para con si se lo le su tu eso esto esta
  está ahí luego quiero pero y o no me te mi más der die das und ist nicht ein eine den dem mit auf für zu du ich es
  les des et est pas une pour dans qui ne sur vous je ce cette avec plus
`);

/** A name from the person's words in their order, else from what the agent said or did. */
function chooseName(kind: SpokenLesson["kind"], said: string, others: readonly string[]): string {
  const isOrder = kind === "explicit-instruction";
  if (isOrder && says.choosesLanguage.test(said.toLowerCase())) return "answer-language";
  const prefix = isOrder ? "instruction" : kind === "convention" ? "convention" : "correction";
  const own = latinWords(said.replace(nameOpening, ""));
  if (own.length >= 2) return plainName(own.slice(0, nameWords).join(" "));
  const word = own[0] ?? others.flatMap(latinWords)[0];
  return word === undefined ? prefix : plainName(`${prefix} ${word}`);
}

const nameOpening =
  /^(?:(?:no+|nope|wait|actually|why)\b[\s,.!]+|(?:stop|wrong)[,.!]+\s*|(?:from now on|going forward|remember(?: that)?|in (?:the )?future|next time|always)\b[\s,:]*)+/i;

/** A name in which no word stands twice. */
function plainName(text: string): string {
  return [...new Set(slugify(text).split("-"))].join("-");
}

function latinWords(text: string): string[] {
  const words = new Set(text.match(/[A-Za-z\u00C0-\u024F][\w\u00C0-\u024F@./'’-]*/g));
  return [...words].filter((word) => word.length > 1 && !unnamed.has(word.toLowerCase().replace(/’/g, "'")));
}

const unnamed = wordSet(`
  a an and are as at be but by for from i im i'm in into is it it's its me my of on or our please so that that's the
  their them then there this to was we were with would you you're your just really was should could can will do did
  what which who why how have has had having el la los las un una de del al en que ya es por para con si se lo su tu
  y o der die das und ist ein eine den dem mit auf für zu le les des et est une pour dans qui vous je agent said while
  working running
`);

/** How the agent should work is the person's; what names files and things, or how things are done here, the project's. */
function findScope(said: string, replied: string): LessonScope {
  const words = said.toLowerCase();
  if (says.choosesLanguage.test(words)) return "user";
  if (namesThings.test(`${said} ${replied}`) || says.tellsCustom.test(words)) return "project";
  const isAboutWork = [says.addresses, says.standing, says.ordersSteps].some((pattern) =>
    pattern.test(words),
  );
  return isAboutWork ? "user" : "project";
}

const namesThings =
  /`[^`\n]+`|\b(?:npm|pnpm|yarn|bun|make|cargo|gradlew?|mvn|poetry|uv|bundle|composer|docker|kubectl|terraform) [a-z:-]+|[\w-]+\/[\w./-]+|\b[\w-]+\.(?:md|ts|js|py|go|rs|tsx|json|ya?ml|toml|sh|rb|java|php|css|sql|proto)\b|@[\w-]+\/|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+\b|\b[A-Z][a-z]+[A-Z]\w+/;
