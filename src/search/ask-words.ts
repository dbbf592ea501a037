/** How a verb counts: work that is done again and again, building something once, or work of another nature. */
export type Act = "operate" | "build" | "write" | "fix" | "review" | "remove";

/** Verbs that ask for work, as they are written, in several languages; where they say by themselves what is wanted, they count as a word. */
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
export const releases: ReadonlySet<string> = new Set(["release", "cut", "ship", "发布", "publica"]);

/** Verbs that mean one where a version or a release is named. */
export const makesReleases: ReadonlySet<string> = new Set(
  "publish bump tag prepare create make do build open crea prepara erstelle mach mache prépare crée 创建 升级 公開して 公開する".split(
    " ",
  ),
);

/** Verbs that mean a deployment. */
export const deploys = /deploy|rollout|部署|デプロイ|배포|desplieg|desplegar|déploi/;

/** The verb that a word is. */
export function findVerb(word: string): AskVerb | null {
  return spoken.get(word) ?? null;
}

/** Whether a text may hold an order at all: it has a verb somewhere. */
export function hasVerb(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}-]+/gu) ?? [];
  return words.some((word) => spoken.has(word)) || unspacedVerbs.some((verb) => text.includes(verb));
}

/** Verbs of languages that put no spaces around them. */
export const unspacedVerbs: readonly string[] = [...spoken.keys()]
  .filter((word) => /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(word))
  .sort((a, b) => b.length - a.length);

/**
 * Kinds of work that come again with other particulars, whatever they are called: release notes are a changelog in any
 * language. Those with `!` are a task by themselves; of the others a word more must be said.
 */
export const kinds = [
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

/** "Packages" are dependencies only where somebody updates them. */
export const updatesDependencies = /\b(?:update|upgrade|bump)\b|升级|更新/iu;

/** Words that say little about the work: they count for a part of a rare one, and alone they are no task. */
export const commonplace: ReadonlySet<string> = new Set(
  (
    "code file function method class module project repo repository app application api feature bug error issue problem " +
    "thing stuff change logic part section line value data type name list way case option setting config button text " +
    "input output ui backend frontend server client user build failing fail test state system service support key " +
    "better good fast faster clean nice simple small large big full whole correct proper right wrong sure step plan task work " +
    "package everything something anything it them one branch commit push comment message default result"
  ).split(" "),
);

/** Words that change nothing about which work is meant. */
export const idle: ReadonlySet<string> = new Set(
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

/** The same where no spaces part the words. */
export const unspacedIdle =
  /(?:这个|那个|这些|(?<!加)一个|一下|一份|本周|这周|最新|代码|错误|问题|现在|重新|版本|所有|根据|进行|先|[的了吧把给为到在和与])|(?:この|その|これ|それ|エラー|バグ|最新|してください|ください|[をにのはがとでへ])(?![ァ-ヶー])|(?:이|그|저) |오류|에러|버전|주세요/gu;

/** Verbs that ask for no work: they steer, or want something told. */
export const noWork: ReadonlySet<string> = new Set(
  (
    "show tell explain read look see think stop keep remember ignore undo revert continue give find list print ask answer " +
    "wait try follow consider mind note leave skip start finish proceed resume confirm assume imagine suppose call say " +
    "want like love hate know understand mean see hear feel was were has had got seems looks not with what who why how " +
    "these those both most many much some when where while since because though although unless until actually maybe " +
    "commit push merge pull ensure make ran did made took went saw said gave perhaps probably instead except besides only even just still almost"
  ).split(" "),
);

/** Words behind which the particulars stand. */
export const particular: ReadonlySet<string> = new Set(
  (
    "for to of in on with from into onto about by at that which when where after before so because using against within " +
    "if while until para de del en con sobre für von zu mit aus über im am pour dans avec sur and und y et or"
  ).split(" "),
);

/** What people put before an order. */
export const requests =
  /^(?:(?:can|could|would|will) (?:you|we|u)(?: please| also| now)?|(?:i|we)(?:'d| would)? (?:want|need|like|wish)(?: you| us)?(?: to)?|(?:i|we) (?:should|must|have to|gotta)|let(?:'|’)?s|help me(?: to)?|go ahead and|you (?:should|need to|can|must)|it(?:'s| is) time to|time to|please|pls|now|next|then|also|again|kindly|just|ok|okay|and|podrías|puedes|necesito|quiero|kannst du|könntest du|ich (?:möchte|will|brauche)|wir müssen|peux-tu|pouvez-vous|je veux|il faut|bitte|por favor)\b[\s,:]*|^(?:帮我|帮忙|请你?|麻烦你?|能不能|能否|可以|我想|我要|我需要你?|我们需要|需要|现在|接下来|再)\s*/iu;

/** What is in a remark and in no order, where neither spaces nor a first verb tell them apart. */
export const remarks =
  /我觉得|我认为|我看|我发现|我们应该|应该|不需要|不用|是否|能否|是不是|有没有|为什么|怎么|如果|这是|就是|先别|不要|没有|[吗呢吧么][\s。.!！~]*$|[?？]|と思う|ではない|でしょうか|なぜ|인가|니까|나요/u;

/** A sentence that wants to know, not to have something done. */
export const wantsToKnow =
  /^(?:make sure|if|what|why|where|who|whom|whose|when|which|how|is|are|was|were|does|do you|did|has|have|had|isn't|aren't|doesn't|should|shall|explain|tell|show|qué|por qué|dónde|cómo|cuál|was|warum|wo|wie|wer|pourquoi|comment|où|quel\w*)\b|^(?:为什么|怎么|什么|哪|なぜ|どう|何|왜|어떻게|뭐)/iu;
