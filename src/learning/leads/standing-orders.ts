import { parseCommand } from "../../failures/index.ts";
import { type Event, type Finding, type FindingKind, makeFinding, noExcerpt } from "../../records/index.ts";
import { extractTerms, slugify } from "../../text/index.ts";
import { says } from "./phrases.ts";
import { findSavedName } from "./requests.ts";
import { isQuestion, stripOpening, type Turn } from "./turns.ts";

/**
 * Orders that hold from now on, each one sentence that a stranger understands without what was said around it. What is
 * doubtful is left to a judge: few is right, wrong is not.
 */
export function findStandingOrders(turns: readonly Turn[]): Finding[] {
  return turns.flatMap((turn) => {
    if (turn.resent || says.withdraws.test(stripOpening(turn.next.toLowerCase()))) return [];
    return turn.sentences.flatMap((sentence, at) => readOrder(turn, sentence, at) ?? []);
  });
}

const longTurnChars = 600;

function readOrder(turn: Turn, sentence: string, at: number): Finding | null {
  const name = findSavedName(sentence);
  if (name !== null) return writeSavedSkill(turn, name);
  const said = stripOpening(stripRefusal(sentence)).trim();
  const kind = classifyOrder(said.toLowerCase());
  // A long text is a task or a document: whose words it holds, and for how long they are meant, is doubtful.
  const isLong = turn.prompt.text.length > longTurnChars;
  if (isLong && !fromNowOn.test(said.toLowerCase())) return null;
  // The items of a specification are requirements, whatever they sound like.
  const isListed = turn.words.split("\n").length >= specificationLines && at >= leadSentences;
  if (kind === null || isListed || asks(sentence, said) || !isSelfContained(said)) return null;
  return writeOrder(turn, said, kind);
}

/** "When you add a route, always …" begins like a question. */
function asks(sentence: string, said: string): boolean {
  return isQuestion(sentence) && (/[?？]\s*$/.test(sentence) || !always.test(said.toLowerCase()));
}

const specificationLines = 8;
const leadSentences = 2;

/** "No, …": what follows is the order. */
function stripRefusal(sentence: string): string {
  return sentence.replace(
    /^(?:(?:no+|nope|wait|stop|wrong|nein|non|不对|不是|不|いや|違う|아니요?)[,.!，。、]+\s*)+/iu,
    "",
  );
}

/** The subject of an order: how to work from now on, or how this repository is worked on; null if it is no order. */
function classifyOrder(said: string): FindingKind | null {
  if (says.passes.test(said) || doubts.test(said)) return null;
  if (ofRecords.test(said)) return "convention";
  if (product.test(said)) return null;
  if (ofRepository.test(said)) return "convention";
  return [fromNowOn, always, asked, forbids].some((order) => order.test(said))
    ? "explicit-instruction"
    : null;
}

/** Things an agent does, as opposed to what is built. */
const work =
  "(?:use|run|ask|commit|push|merge|rebase|amend|squash|force[- ]push|write|create|add|check|read|test|verify|update|follow|keep|include|answer|reply|respond|speak|work|open|put|start|begin|prefer|document|format|lint|review|delete|remove|edit|modify|change|touch|install|import|mock|skip|guess|assume|leave|deploy|release|tag|branch|explain|tell|show me|stop|make sure|bump|regenerate|generate|log|name|call)";

const always = new RegExp(
  [
    `^(?:you (?:should|must) |please )?(?:always|never) ${work}\\b`,
    `^(?:when(?:ever)?|before|after|if|every time|each time|for (?:all|any|every)) [^,]{3,80},? (?:you (?:should|must) |please )?(?:always|never) ${work}\\b`,
    `^${work} [^.]{3,80}\\b(?:every time|each time|before every|after every)\\b`,
    "^(?:永远|总是|始终|一律|务必|每次)[^，。]{3,}|^(?:必ず|常に|絶対に).{3,}(?:て|こと|ください|ように)。?$|^(?:항상|반드시|절대) .{3,}",
    "^(?:siempre|nunca) \\p{L}+ .{3,}|^(?:immer|niemals) .{3,}|^toujours .{3,}",
  ].join("|"),
  "u",
);

const fromNowOn =
  /\b(?:from now on|from here on|going forward|in (?:the )?future|next time),? .{8,}|.{8,}[, ](?:from now on|from here on|going forward|in (?:the )?future)[.!]?$|^(?:以后|今后|从现在(?:开始|起)|下次)[^，。]{0,3}.{4,}|^(?:今後|これから|次回?から)は?.{4,}(?:て|こと|ください|で)。?$|^(?:앞으로|다음부터).{4,}|^(?:a partir de ahora|de ahora en adelante|ab (?:jetzt|sofort)|in zukunft|dorénavant|désormais|à l['’]avenir),? .{6,}/u;

const asked =
  /^(?:please )?(?:remember|keep in mind|note for (?:later|the future))(?: that|:|,| to) .{8,}|^(?:请?记住|记得)[，,：:]?.{4,}|^recuerda (?:que|:) ?.{6,}|^merke? dir[,:] .{6,}|^(?:souviens-toi|retiens) (?:que|:) ?.{6,}/u;

/** A tool or a branch that must not be used, as the whole of what was said. */
const forbids = new RegExp(
  [
    "^(?:please )?(?:do not|don['’]?t|dont|never|stop) (?:ever )?(?:use|using|run|running|commit(?:ting)?|push(?:ing)?|merg(?:e|ing)|install(?:ing)?|force-push(?:ing)?) [^,;]{2,60}[.!]?$",
    "^(?:we |you should |you must )?use [\\w@./+-]+,? (?:not|instead of|rather than) [\\w@./+-]+(?: here| (?:in|for|to|when) [^,;]{3,50})?[.!]?$",
    "^(?:do not|don['’]?t|dont|never) (?:ever )?(?:edit|modify|change|touch) [\\w@./*+-]*[./][\\w@./*+-]+ (?:by hand|directly|manually)\\b[^?]{0,120}$",
    "^(?:do not|don['’]?t|dont|never) (?:ever )?(?:edit|modify|change|touch) [\\w@./*+-]*[./][\\w@./*+-]+[,;:] ?(?:it(?:['’]s| is) generated|change|edit|run|use|regenerate) [^?]{3,120}$",
    "^ask (?:me )?(?:first )?before (?:you )?[a-z]+ [^,;?]{2,60}[.!]?$",
    "^(?:always )?(?:answer|reply|respond|speak|write)(?: to me)? (?:only )?in (?:english|german|french|spanish|portuguese|italian|dutch|polish|russian|chinese|japanese|korean)[.!]?$",
    "^(?:用|使用)(?:中文|英文)(?:回答|回复|交流)[^，。]{0,6}[。！]?$|^(?:回答|返答|返信)は(?:日本語|英語)で[^、。]{0,10}[。！]?$",
    "^[\\w@./+ -]{2,40} ?(?:は|を|に|へ)(?:使|コミット|プッシュ|マージ|push|commit)[^、。]{0,6}ないで(?:ください)?[。！]?$",
    "^(?:不要|别|禁止)(?:使?用|提交到|推送到) ?[\\w@./+-]{2,40}[。！]?$|^no (?:uses|hagas (?:commit|push)) [^,;]{2,40}[.!]?$",
  ].join("|"),
  "u",
);

/** How the records of the work are to look, whoever writes them. */
const ofRecords =
  /^(?:all |our |your |the )?(?:commit messages?|commits|branch names?|branches|pr titles?|pr descriptions?|pull requests|code comments|docstrings) (?:must|should|have to|need to) (?:always |never |not |only )?(?:be|use|follow|start|begin|contain|include|mention|have) .{3,}|^コミットメッセージは.{2,30}(?:で|して|こと|ください)[^、。]{0,8}。?$/u;

const ofRepository =
  /^(?:in|for) (?:this|our) (?:repo(?:sitory)?|project|codebase|team),? (?:we|you|always|never|use|run|don['’]?t) .{4,}|^(?:here )?we (?:always|never|only) [a-z]+ .{4,}|^this (?:repo(?:sitory)?|project|codebase) uses .{3,}|^(?:我们|这个|本)项目(?:都|只|一律|统一)?用.{2,}|^en este (?:repo|proyecto) (?:usamos|siempre|nunca) .{3,}|^in diesem (?:repo|projekt) .{6,}/u;

const doubts =
  /\b(?:maybe|perhaps|i (?:think|guess|wonder|believe|thought)|should we|could we|what if|would|might|not sure|seems?|for example|e\.g)\b|也许|可能|或者说|かも|と思/u;

/** Words for things that users of a product see or get. */
const product =
  /\b(?:users?|customers?|buttons?|pages?|screens?|colou?rs?|fonts?|headers?|footers?|sidebar|modal|dialog|icons?|layout|menu|tooltip|dropdown|theme|banner|popup|response|endpoint|api (?:should|must|returns?)|must (?:be|have|return|show|display|support|handle)|should (?:be|have|return|show|display|support|handle))\b|按钮|页面|用户|显示|展示|画面|ボタン|表示|ユーザー|usuario|página|botón/u;

// --- Whether it stands alone ---

const fewestChars = 12;
const mostChars = 240;

/** Whether a sentence says all of what it means: nothing in it points at what was said or done before. */
function isSelfContained(said: string): boolean {
  const isUnspaced = /[\p{Script=Han}ぁ-ヿ]/u.test(said);
  if (said.length < (isUnspaced ? fewestChars / 2 : fewestChars) || said.length > mostChars) return false;
  // A colon or an unclosed bracket announces what is missing.
  if (/[:：,、]$|…|\.\.$|[┃│|]/.test(said) || /\([^)]*$/.test(said)) return false;
  return !pointsOutside.test(withoutOwnReferents(said.toLowerCase()));
}

/** A sentence without the small words that point at something it names itself. */
function withoutOwnReferents(said: string): string {
  return said
    .replace(
      /\b(?:this|the same) (?:repo(?:sitory)?|project|codebase|machine|team|workspace|monorepo)\b/g,
      " ",
    )
    .replace(/\b(?:remember|note|mind|ensure|sure|so|such|means?|says?|tell me|ask if) that\b/g, " ")
    .replace(
      /(?<=\b[a-z]{3,} )that(?= (?:is|are|was|were|has|have|had|do|does|can|you|we|i|the|need)\b)/g,
      " ",
    )
    .replace(/(?<=^.{20,})\b(?:it|its|them|they|their)\b/g, " ");
}

const pointsOutside =
  /\b(?:this|that|these|those|it|its|it's|them|they|their|he|she|here|there|above|below|previous|former|latter|same|such|again|also|too|instead|the other|another one|like so)\b(?! of\b)|^(?:then|and|or|but|because|so|just|simply)\b|这|那|它|其|刚才|上面|以上|これ|それ|あれ|この|その|ここ|そこ|上記|\b(?:esto|eso|esta?|ese|dies\w*|ça|cela)\b|이거|그거|저거/u;

// --- Writing it up ---

const excerptChars = 600;
const certain = 0.8;
/** A prohibition says less about how long it holds. */
const likely = 0.65;

function writeOrder(turn: Turn, said: string, kind: FindingKind): Finding {
  const lesson = /[\p{Script=Han}ぁ-ヿ가-힣]/u.test(said)
    ? said
    : said.charAt(0).toUpperCase() + said.slice(1);
  const keywords = [...extractTerms(said)].filter((word) => word.length > 2).slice(0, 8);
  const when = /\b(?:before|after|when(?:ever)?|every time|each time|if) [^,.;!?]{4,50}/i.exec(said)?.[0];
  const isHere = kind === "convention" || /[`/@_]|\.\w{2,4}\b|\b(?:repo|project|main|branch)\b/i.test(said);
  const words = said.replace(/^(?:from now on|going forward|remember(?: that)?|please)[,:]? /i, "");
  return makeFinding(
    {
      ...{ kind, keywords, scope: isHere ? "project" : "user" },
      lesson: /[.!?。！？]$/u.test(lesson)
        ? lesson
        : `${lesson}${/[\p{Script=Han}ぁ-ヿ]$/u.test(lesson) ? "。" : "."}`,
      trigger: when ?? keywords.slice(0, 5).join(" "),
      action: said.slice(0, 160),
      confidence: forbids.test(said.toLowerCase()) ? likely : certain,
      name: slugify(words.split(/\s+/).slice(0, 6).join(" ")) || "standing-order",
      excerpt: quoteTurn(turn),
    },
    listEvents(turn),
  );
}

/** The last commands that worked are what "this" means in "save this". */
const maxSteps = 5;

function writeSavedSkill(turn: Turn, name: string): Finding | null {
  const isLook = (command: string) => parseCommand(command).every((run) => run.isLook || run.onlyPrints);
  const done = turn.before
    .filter(({ command, outcome }) => command !== null && outcome === "ok" && !isLook(command))
    .slice(-maxSteps);
  if (done.length === 0) return null;
  const commands = done.map(({ command }) => (command ?? "").replace(/\s+/g, " ").slice(0, 160));
  return makeFinding(
    {
      kind: "explicit-instruction",
      lesson: `How ${name} is done: ${commands.map((each) => `\`${each}\``).join(", ")}.`,
      trigger: `${name.replaceAll("-", " ")} is wanted`,
      action: commands.join("; "),
      steps: commands.map((command) => `Run \`${command}\``),
      keywords: [...new Set([...name.split("-"), ...extractTerms(commands.join(" "))])].slice(0, 8),
      ...{ confidence: certain, name, artifact: "skill", excerpt: quoteTurn(turn) },
    },
    [turn.prompt, ...done],
  );
}

function quoteTurn({ words, reply }: Turn) {
  return {
    ...noExcerpt,
    said: words.slice(0, excerptChars),
    replied: reply?.text.trim().slice(0, excerptChars) ?? null,
  };
}

function listEvents({ prompt, reply, after }: Turn): [Event, ...Event[]] {
  return [prompt, ...[reply, after[0]].flatMap((event) => event ?? [])];
}
