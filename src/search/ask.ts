import { readOwnSentences, stripOpening } from "../learning/index.ts";
import { measureSimilarity, sharedWeight, splitWords, stemWord, totalWeight } from "../text/index.ts";

/** The task that a prompt asks for, if it is a kind of work that may recur. */
export interface Ask {
  readonly act: Act;
  /** The kind of work, where it has a name: `changelog`, `migration`. */
  readonly kind: string | null;
  /** Whether that kind is a task by itself. */
  readonly strong: boolean;
  /** The object of the work: the last word before its particulars. */
  readonly head: string | null;
  /** Every word that tells something, and how much. */
  readonly words: ReadonlyMap<string, number>;
  /** The verb, as it was written, and whether it says by itself what is wanted. */
  readonly verb: string;
  readonly tells: boolean;
  /** Details of this one request: versions, names, files. */
  readonly particulars: readonly string[];
  /** The sentence that asks, and that sentence without a polite opening ("could you please"). */
  readonly sentence: string;
  readonly order: string;
  /** The words of the order that say what it is about, in small letters. */
  readonly subject: readonly string[];
}

/** Sentences of a prompt that are searched for a request, and the length above which a sentence is taken as pasted. */
const mostSentences = 4;
const sentenceChars = 300;
/** Characters of a sentence in a script without spaces, where fewer say as much. */
const unspacedChars = 60;
/** Weights relative to a rare word: for common words, names, and words that only give a purpose or a place. */
const weights = { common: 0.3, name: 0.4, aside: 0.6 };
/** Bonus where both requests have the same object. */
const headBonus = 0.15;
/** Factor for two requests with different verbs. */
const otherVerbFactor = 0.6;
/** Words, weighed, that an ask must have: to fix or remove something, and otherwise. */
const leastToFix = 2.6;
const leastOtherwise = 1.3;

/** Reads the request in a prompt; null where it is not a task that would deserve a skill if it recurred. */
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
  const particulars = tokens.flatMap(({ once, word }) => (once ? word : []));
  return {
    act,
    kind,
    strong: kind === "deploy" || (kinds.find((one) => one.kind === kind)?.strong ?? false),
    head: phrase.at(-1)?.word ?? null,
    words,
    verb,
    tells: tokens[at]?.verb?.tells ?? false,
    ...{ particulars, sentence, order },
    subject: splitWords(order.toLowerCase()).filter(
      (one) => !idle.has(one) && !particular.has(one) && !particulars.includes(one),
    ),
  };
}

/** The object of the work: from the verb up to the word that introduces its particulars, where the script has one. */
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

/** Whether a request says enough to be recognized later and is more than one change in one place. */
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

/** How a verb counts: work that is done again and again, building something once, or work of another nature. */
type Act = "operate" | "build" | "write" | "fix" | "review" | "remove";

/** Verbs that ask for work, in several languages; those that say by themselves what is wanted count as a word. */
const verbs: Readonly<Record<Act, string>> = {
  operate:
    "*deploy *redeploy *rollout release publish ship cut tag bump *upgrade update *rotate *seed reseed *export *import *sync *backup " +
    "*restore *benchmark *profile *triage *record *migrate *provision *onboard *archive *rebase *cherry-pick *backport " +
    "*port *scan *announce generate regenerate prepare run rerun open *translate *localize *localise *convert *transcribe " +
    "*analyze *analyse *measure *compare *plot *collect *fetch *scrape *download *render *label *validate *reconcile " +
    "*configure *install *rollback desplegar despliega despliegue publica publicar publiquemos actualiza actualicemos genera generemos ejecuta ejecutar corre sube subamos " +
    "traduce exporta descarga veröffentliche deploye übersetze aktualisiere exportiere déploie déployer publie traduis exporte " +
    "生成 更新 发布 部署 导出 导入 翻译 同步 升级 迁移 公開して 公開する デプロイ 更新して 生成して 翻訳 배포 업데이트 번역 내보내",
  build:
    "add create implement build make set setup scaffold design introduce integrate refactor extract split rewrite develop " +
    "extend improve simplify optimize optimise change rename move wire support replace enable register crea crear creemos añade " +
    "agrega implementa erstelle erstell mach mache leg lege füge baue implementiere crée ajoute implémente " +
    "新增 添加 增加 加一个 实现 创建 重构 开发 追加 実装 作成 作って 추가 구현 만들",
  write:
    "write draft compose document describe summarize summarise report escribe escribir redacta prepara schreib schreibe " +
    "verfasse entwirf écris rédige prépare 写 编写 起草 撰写 总结 書いて 書く まとめて 작성 써줘 요약",
  fix: "fix repair debug resolve solve correct investigate diagnose arregla corrige behebe repariere corriges répare 修复 解决 修正 直して 修理 고쳐 수정",
  review:
    "*review *audit *inspect check verify revisa verifica überprüfe prüfe vérifie *审查 *审核 *评审 检查 レビュー 검토 리뷰",
  remove: "delete remove drop clean elimina borra lösche entferne supprime 删除 移除 削除 삭제",
};

interface AskVerb {
  readonly act: Act;
  readonly tells: boolean;
}

const spoken: ReadonlyMap<string, AskVerb> = new Map(
  Object.entries(verbs).flatMap(([act, words]) =>
    words
      .split(" ")
      .map((word) => [word.replace("*", ""), { act: act as Act, tells: word.startsWith("*") }] as const),
  ),
);

/** Verbs that mean a release where nothing else is named. */
const releases: ReadonlySet<string> = new Set(["release", "cut", "ship", "发布", "publica"]);

/** Verbs that mean one where a version or a release is named. */
const makesReleases: ReadonlySet<string> = new Set(
  "publish bump tag prepare create make do build open crea prepara erstelle mach mache prépare crée 创建 升级 公開して 公開する".split(
    " ",
  ),
);

/** Verbs that mean a deployment. */
const deploys = /deploy|rollout|部署|デプロイ|배포|desplieg|desplegar|déploi/;

/** The verb that a word is. */
function findVerb(word: string): AskVerb | null {
  return spoken.get(word) ?? null;
}

/** Whether a text may hold an order at all: it has a verb somewhere. */
function hasVerb(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}-]+/gu) ?? [];
  return words.some((word) => spoken.has(word)) || unspacedVerbs.some((verb) => text.includes(verb));
}

/** Verbs of languages that put no spaces around them. */
const unspacedVerbs: readonly string[] = [...spoken.keys()]
  .filter((word) => /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(word))
  .sort((a, b) => b.length - a.length);

/**
 * Kinds of work that come again with other particulars, whatever they are called: release notes are a changelog in any
 * language. Those with `!` are a task by themselves; of the others a word more must be said.
 */
const kinds = [
  String.raw`changelog! \b(?:release[ -]?notes?|change ?-?logs?(?:\.md)?|notas de (?:la )?versi[oó]n|versionshinweise?|änderungsprotokoll|notes de (?:la )?version)\b|发布说明|更新日志|变更日志|リリースノート|変更履歴|릴리스 ?노트|변경 ?로그`,
  String.raw`staging \b(?:staging|test(?:ing)? (?:env\w*|server))\b|测试环境|预发(?:布)?环境|ステージング(?:環境)?|스테이징`,
  String.raw`production \b(?:prod(?:uction)?)\b|生产环境|线上|本番(?:環境)?|프로덕션`,
  String.raw`migration! (?:\b(?:data ?base|db|schema|sql) )?\b(?:datenbank)?(?:migrations?|migrationen|migraci[oó]n(?:es)?)\b|数据库迁移|迁移脚本|マイグレーション|마이그레이션`,
  String.raw`endpoint! \b(?:(?:rest|api|http|graphql) )?(?:end ?-?points?)\b|\b(?:rest|api) routes?\b|接口|エンドポイント|엔드포인트`,
  String.raw`pr! \b(?:pull[ -]requests?|merge[ -]requests?|prs?|mrs?)\b|拉取请求|プルリク(?:エスト)?|풀 ?리퀘스트`,
  String.raw`dependencies! \b(?:dependenc(?:y|ies)|deps|(?:npm |pip )?packages)\b|依赖`,
  String.raw`translation! \btranslat(?:e|ions?)\b|\bi18n\b|\blocali[sz]e\b|翻译|翻訳|번역`,
  String.raw`postmortem! \b(?:post-?mortems?|incident reports?)\b|事故报告|复盘|ポストモーテム`,
  String.raw`adr! \b(?:adrs?|architecture decision records?)\b`,
  String.raw`rfc! \brfcs?\b`,
  String.raw`weekly-report! \b(?:weekly|monthly|daily|quarterly|status)(?: status)? (?:reports?|summary|update)\b|周报|月报|日报|週報|주간 ?보고서?`,
  String.raw`benchmark! \b(?:(?:load|performance|perf) )?benchmarks?\b|压测|性能测试|ベンチマーク|벤치마크`,
  String.raw`version! \b(?:(?:new |next )?(?:patch |minor |major )?(?:version|release)|nueva versión|neue version|nouvelle version)\b|(?<!最)新版本|新バージョン`,
  String.raw`newsletter! \bnewsletters?\b`,
  String.raw`fixture! \bfixtures?\b`,
  String.raw`dependabot! \b(?:dependabot|renovate)\b`,
  String.raw`test \b(?:tests?|test cases?|pruebas?|coverage)\b|测试|テスト|테스트`,
  String.raw`doc \b(?:docs?|documentation|readme(?:\.md)?|docstrings?|documentaci[oó]n|dokumentation)\b|文档|ドキュメント|문서`,
  String.raw`report \breports?\b|报告|レポート|보고서`,
  String.raw`page \b(?:pages?|screens?|views?)\b|页面|画面|페이지`,
  String.raw`component \b(?:components?|widgets?)\b|组件|コンポーネント|컴포넌트`,
  String.raw`script \bscripts?\b|脚本|スクリプト|스크립트`,
  String.raw`issue \b(?:issues?|tickets?)\b|工单|イシュー|이슈`,
  String.raw`table \b(?:tables?|tabelle)\b`,
].map((row) => {
  const [, kind = "", mark, pattern = ""] = /^([\w-]+)(!?) (.*)$/su.exec(row) ?? [];
  return { kind, strong: mark === "!", said: new RegExp(pattern, "giu") };
});

/** "Packages" means dependencies only as the object of an update. */
const updatesDependencies = /\b(?:update|upgrade|bump)\b|升级|更新/iu;

/** Words that say little about the work: they weigh less than rare ones, and alone do not make a task. */
const commonplace: ReadonlySet<string> = new Set(
  (
    "code file function method class module project repo repository app application api feature bug error issue problem " +
    "thing stuff change logic part section line value data type name list way case option setting config button text " +
    "input output ui backend frontend server client user build failing fail test state system service support key " +
    "better good fast faster clean nice simple small large big full whole correct proper right wrong sure step plan task work " +
    "package everything something anything it them one branch commit push comment message default result"
  ).split(" "),
);

/** Stop words: they do not affect which work a request describes. */
const idle: ReadonlySet<string> = new Set(
  (
    "new latest again this these those that current now today tomorrow yesterday last next week month day all every each " +
    "also just only please pls here there our my your the a an some any more other another same first then still already " +
    "again once twice few several both own actual really very so as is are be been will can could would should shall may " +
    "might must need want like let's lets let us me you i we they he she it its go ahead through up down out off over back " +
    "do does did done using use used via per und bitte por favor la el las los una un unos nueva nuevo die der das den dem " +
    "eine einen ein neue neuen les le des du une nouvelle mir noch mal again main january february march april june july " +
    "august september october november december based make sure e.g i.e etc ok okay yes no not don't dont without thanks " +
    "year time s t re ve ll si antes esto este esta dentro como que se lo más por pueda cuales cada mismo accordingly sure"
  ).split(" "),
);

/** Stop words of scripts without spaces. */
const unspacedIdle =
  /(?:这个|那个|这些|(?<!加)一个|一下|一份|本周|这周|最新|代码|错误|问题|现在|重新|版本|所有|根据|进行|先|[的了吧把给为到在和与])|(?:この|その|これ|それ|エラー|バグ|最新|してください|ください|[をにのはがとでへ])(?![ァ-ヶー])|(?:이|그|저) |오류|에러|버전|주세요/gu;

/** Verbs that ask for no work: they steer, or want something told. */
const noWork: ReadonlySet<string> = new Set(
  (
    "show tell explain read look see think stop keep remember ignore undo revert continue give find list print ask answer " +
    "wait try follow consider mind note leave skip start finish proceed resume confirm assume imagine suppose call say " +
    "want like love hate know understand mean see hear feel was were has had got seems looks not with what who why how " +
    "these those both most many much some when where while since because though although unless until actually maybe " +
    "commit push merge pull ensure make ran did made took went saw said gave perhaps probably instead except besides only even just still almost"
  ).split(" "),
);

/** Words behind which the particulars stand. */
const particular: ReadonlySet<string> = new Set(
  (
    "for to of in on with from into onto about by at that which when where after before so because using against within " +
    "if while until para de del en con sobre für von zu mit aus über im am pour dans avec sur and und y et or"
  ).split(" "),
);

/** Polite openings before a request. */
const requests =
  /^(?:(?:can|could|would|will) (?:you|we|u)(?: please| also| now)?|(?:i|we)(?:'d| would)? (?:want|need|like|wish)(?: you| us)?(?: to)?|(?:i|we) (?:should|must|have to|gotta)|let(?:'|’)?s|help me(?: to)?|go ahead and|you (?:should|need to|can|must)|it(?:'s| is) time to|time to|please|pls|now|next|then|also|again|kindly|just|ok|okay|and|podrías|puedes|necesito|quiero|kannst du|könntest du|ich (?:möchte|will|brauche)|wir müssen|peux-tu|pouvez-vous|je veux|il faut|bitte|por favor)\b[\s,:]*|^(?:帮我|帮忙|请你?|麻烦你?|能不能|能否|可以|我想|我要|我需要你?|我们需要|需要|现在|接下来|再)\s*/iu;

/** Phrases that mark a remark rather than a request, in scripts without spaces or a leading verb. */
const remarks =
  /我觉得|我认为|我看|我发现|我们应该|应该|不需要|不用|是否|能否|是不是|有没有|为什么|怎么|如果|这是|就是|先别|不要|没有|[吗呢吧么][\s。.!！~]*$|[?？]|と思う|ではない|でしょうか|なぜ|인가|니까|나요/u;

/** A sentence that wants to know, not to have something done. */
const wantsToKnow =
  /^(?:make sure|if|what|why|where|who|whom|whose|when|which|how|is|are|was|were|does|do you|did|has|have|had|isn't|aren't|doesn't|should|shall|explain|tell|show|qué|por qué|dónde|cómo|cuál|was|warum|wo|wie|wer|pourquoi|comment|où|quel\w*)\b|^(?:为什么|怎么|什么|哪|なぜ|どう|何|왜|어떻게|뭐)/iu;
