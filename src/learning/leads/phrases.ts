import { wordSet } from "../../text/index.ts";

/**
 * Phrases of people and agents, by meaning: a line for English, Chinese, Japanese and Korean, and for Spanish,
 * German and French. Every pattern is bounded, so a long text costs no more than its length, and reads lower-case text:
 * to ignore case by a flag costs many times as much.
 */

const oneOf = (...patterns: readonly string[]): RegExp => new RegExp(patterns.join("|"), "u");

/** At the start of a sentence. */
const opens = (...patterns: readonly string[]): RegExp => new RegExp(`^(?:${patterns.join("|")})`, "u");

/** Says of a thing, and not of the agent or of how one works here, what it should be or do. */
const specifies = opens(
  "(?:(?:the|a|an|its|each|every|all|\\w+s) )?(?:(?!this |that |it |we |you |i )[\\w'’+/-]+ ){1,5}(?:should(?:n(?:'|’)?t)?|must(?:n(?:'|’)?t)?|needs? to|has to|shall)\\b",
  "[^，。]{1,16}(?:应该|需要|必须)(?:显示|展示|返回|支持)",
  "[^、。]{1,24}(?:表示|出力|返)(?:し|さ)",
  "(?:der|die|das|ein|eine) [^,.]{1,40}\\b(?:soll|sollen|muss|müssen|sollte)\\b",
);
const aboutWork =
  /^(?:you|we|i|u|let(?:'|’)?s|commits?|tests?|branches|prs?|pull requests?|reviews?|messages?|migrations?|files?)\b/u;

/** A file in which agents keep what they are told. */
const ruleFile =
  /\b(?:claude|agents|gemini|conventions|contributing|memory)(?:\.local)?\.md\b|\.cursorrules|\.cursor\/rules|copilot-instructions|\b(?:your|project) (?:memory|rules|instructions)\b|记忆(?:里|中)|メモリ/u;

const ruleFileName = `(?:the |your |our |my |el |tu |la |die |deine |le |ton )?@?[\\w./-]{0,40}(?:${ruleFile.source})`;

export const says = {
  /** Turns down what was just done: at the start of a sentence. */
  refuses: opens(
    "(?:no+|nope|nah)(?=[,.!;:\\s-]+\\S)(?!,? (?:problem|worries|need|errors?|issues?|idea|rush|way|more|one|longer|it(?:'|’)?s (?:ok|fine|good)|that(?:'|’)?s (?:ok|fine|all)|thanks?)\\b)",
    "(?:stop\\b|wrong\\b|incorrect\\b|correction\\b|not quite\\b|not like (?:that|this)\\b|not what\\b|undo (?:that|this|it|your)|revert (?:that|this|it|your))",
    "(?:that(?:'|’)?s|that is|this is|it(?:'|’)?s|you(?:'|’)?re|you are) (?:not|wrong|incorrect|backwards)\\b(?! (?:working|loading|showing))",
    "(?:that|this) (?:isn(?:'|’)?t|wasn(?:'|’)?t) (?:right|correct|what|how|it|true)\\b",
    "actually,? (?:it|we|you|use|the|no|that|this|don(?:'|’)?t)\\b",
    "(?:i|we)(?:'|’)?d (?:rather|prefer (?:you|we|not|it if))\\b|(?:i|we) would (?:rather|prefer (?:you|we|not|it if))\\b",
    "(?:i|we) (?:don(?:'|’)?t|dont|do not|didn(?:'|’)?t|didnt|did not) (?:want (?:you|any|a|an|the|to (?:use|have|add)|other|this|that)|need (?:this|that|all|any|a|the|so)|ask|mean|say|think)\\b",
    "(?:(?:this|that|it)(?:'|’)?s? ?(?:is )?)?(?:way )?too (?:complicated|complex|much|verbose|clever|many)\\b|over-?(?:engineered|complicated|kill)",
    "(?:不对|不是(?!很)|不行|不，|不,|不要|别(?!人|的|处)|错了|搞错|停下|停一下|(?:我们|我)?(?:不需要|没必要|没有必要|不用)|我觉得(?:你|不)|我不(?!知道|确定|清楚))",
    "(?:違|ちが|いや[、,]|そうじゃ|そうでは|やめて|ダメ|だめ|間違)",
    "(?:아니[,.\\s]|아뇨|틀렸|잘못|그게 아니|그만|하지 ?마)",
    "(?:no(?=[,.!;]+\\s*\\S)|así no|eso no|no era|no quiero)",
    "(?:nein\\b|falsch|stopp?\\b|nicht so|doch nicht)",
    "(?:non\\b|arrête|pas comme|c(?:'|’)est (?:faux|pas))",
  ),
  /** Says no outright: at the start of what was said. */
  saysNo: opens(
    "(?:no+|nope|nah)[,.!;:\\s-]+(?!(?:problem|worries|need|errors?|issues?|idea|rush|way|more|one|longer|it(?:'|’)?s (?:ok|fine|good)|that(?:'|’)?s (?:ok|fine|all)|thanks?)\\b)\\S|(?:stop|wrong)\\b",
    "(?:不对|不是[，,。]|不[，,。]|错了)",
    "(?:違(?:う|い)|ちが(?:う|い)|いや[、,。]|そうじゃな)|(?:아니[,.\\s요]|아뇨|틀렸)",
    "no[,.!;]+\\s*\\S|nein\\b|falsch\\b|non[,.!\\s]",
  ),
  /** Gives an opinion of one's own. */
  opines: opens(
    "(?:i (?:think|believe|feel|guess|prefer|would prefer|would rather)|i(?:'|’)d (?:rather|prefer)|imo|imho|in my opinion)\\b",
    "(?:我觉得|我认为|我感觉|我希望|我更)",
    ".{0,60}(?:と思(?:う|います)|気がする|てほしい|欲しい)|(?:내 생각|제 생각)|.{0,60}(?:것 같|좋겠)",
    "(?:creo que|prefiero|me parece)|(?:ich (?:denke|finde|glaube|würde lieber))|(?:je (?:pense|crois|préfère|trouve))",
  ),
  /** Points to the way to take: an order, at the start of what was said. */
  directs: opens(
    "(?:use|keep|follow|put|read|look at|check|go through|stick to|reuse)\\b",
    "(?:用|使用|保持|保留|参考|复用|看|读)",
    ".{0,60}(?:を使って|に従って|を参照して|に合わせて|を見て)|.{0,60}(?:를 써|을 써|사용해|참고해|따라)",
    "(?:usa|utiliza|revisa|mantén|lee)\\b|(?:nutze|nimm|verwende|behalte|lies)\\b|(?:utilise|garde|suis|lis)\\b",
  ),
  /** Tells to leave a thing be: an order, at the start of a sentence or as a whole. */
  bars: oneOf(
    "(?:^|[,;:—-] ?(?:so |and |but |just |please |only )*)(?:you )?(?:please |just )?(?:don(?:'|’)?t|dont|do not|never|stop|avoid|no more|quit|shouldn(?:'|’)?t|should not)\\b(?! (?:worry|forget|mind|bother about|hesitate|know|care|understand|get it|see|think))",
    "^(?:你)?(?:不要|别(?!的|人|处)|不能|不许|禁止|不应该)",
    "(?:ないで(?:ください|下さい|ね|よ)?|しないこと|やめて(?:ください)?)[。！!]?$|勝手に|지 ?(?:마|말)(?:세요|요|라|고|십시오)?|마음대로",
    "^no (?:hagas|uses|toques|cambies|crees|subas|agregues)|^(?:bitte )?(?:nicht|kein\\w*|nie) |\\bnicht mehr\\b|^ne \\p{L}+ (?:pas|jamais|plus)",
  ),
  /** Says that the agent failed to do what it was told or should have done. */
  faults: oneOf(
    "\\byou(?:'|’)?(?: a)?re (?:all )?supposed\\b|\\byou were supposed\\b|\\bsupposed to (?:be |have )?(?:use|using|follow|only)\\b",
    "\\b(?:i|we) (?:already |just |clearly |literally )?(?:said|told you|asked you|mentioned|specified|asked for)\\b|\\b(?:like|as) i said\\b|\\bi was (?:just )?(?:telling|asking)\\b|\\bhow many times\\b|\\bkeep telling you\\b",
    "\\byou (?:keep|forgot|missed|ignored|skipped|overwrote|should(?:n(?:'|’)?t| not)? have|misunderstood|made up|guessed|assumed|hallucinated|never)\\b|\\bshould(?:n(?:'|’)?t| not)? have (?:been|used|gone|asked|stayed)\\b|\\byou (?:didn(?:'|’)?t|did not|haven(?:'|’)?t) (?:read|run|check|test|follow|use|update|look|write|commit|ask|even|actually|verify|do)\\b",
    "你(?:没有|没|忘|又|漏|理解错|可能没)|(?:我|之前|反馈|刚才|刚刚|跟你)(?:已经)?(?:说|讲|提|反馈)过|反馈过|我说的是|不还是",
    "(?:と|って)(?:言|い)(?:った|いました)|言ったはず|理解して(?:い)?(?:ない|ません)|わかって(?:い)?ない|忘れて(?:い|る|ます|ませんか)|何度も(?:同じ|言)",
    "말했(?:잖|는데|듯)|라고 했|잊었|안 했(?:네|어|잖)|몇 번",
    "te dije|ya te (?:dije|lo)|se supone|te olvidaste|no (?:leíste|revisaste|probaste)",
    "ich (?:habe|hatte|hab) (?:doch )?(?:gesagt|dir)|du hast vergessen|du (?:solltest|sollst)",
    "j(?:'|’)ai (?:dit|demandé)|tu as oublié|tu étais censé|je t(?:'|’)ai",
  ),
  /** Asks why it was done so, or holds it up. */
  reproaches: oneOf(
    "\\bwhy (?:did|are|do|would|were|have|didn(?:'|’)?t|aren(?:'|’)?t|haven(?:'|’)?t) (?:you|u)\\b|\\bwhy (?:do|should) i (?:have|need)\\b|\\bwhy am i\\b|\\bwhy\\b.{1,60}\\bwhen (?:we|you|i|there|it|all)\\b",
    "\\bdid you (?:even |actually |not )?(?:run|read|check|test|verify|write|look)\\b|\\bhave you (?:even |actually |not )?(?:run|read|checked|tested|verified|looked|tried)\\b",
    "\\byou(?:'|’)?re (?:editing|changing|using|writing|running|looking|adding|making|doing)\\b|\\byou (?:changed|edited|added|used|created|wrote|put|ran|committed|pushed|deleted|removed|broke)\\b",
    "你为什么|为什么你|为什么(?:又|还要我|要我|需要我|是.{1,24}而不是)|你(?:怎么|搞|弄)|你现在(?:处理|做|改|写)|你的(?:报告|文档|方案|代码|改动|实现|总结|理解)",
    "(?:なんで|なぜ|どうして).{0,30}(?:たの|てるの|ているの|たんですか|んですか|のですか)",
    "왜 .{0,30}(?:했|았|었|였|만들|바꿨|지웠)|잖아",
    "por ?qu[eé] \\p{L}{2,14}(?:aste|iste)\\b|^(?:pero )?\\p{L}{3,12}(?:aste|iste)\\b",
    "warum (?:hast|bist|machst|nimmst|benutzt) ?(?:du)?|du hast ",
    "pourquoi (?:tu|vous|as-tu|avez-vous|est-ce que tu)|(?:^|[,\\s])tu as |vous avez modifié",
  ),
  /** Sets one way against another: not this but that. */
  sets: oneOf(
    "\\binstead of\\b|\\brather than\\b|\\binstead[.!]?$|\\bnot\\b.{1,40}\\bbut\\b|\\b(?:and|but) not (?:where|the|in|on|a|with|by|from|to)\\b|\\S[,;]? not (?:the |a |an |in |on |with |next to |by )?[\\w./@-]+(?: \\w+)?(?: here| there)?[.!]?$|\\bnot\\b.{1,30}[,;] ?(?:use|the|it(?:'|’)?s)\\b",
    "而不是|而非|不是.{1,30}(?:而是|，是|，应该)|是.{1,20}[，,]不是|才是|并不是.{0,20}而",
    "ではなく|じゃなく|でなく|より(?:も)?.{0,12}(?:方が|ほうが)|말고|아니라|대신|보다는",
    "en vez de|en lugar de|\\bsino\\b|\\bstatt\\b|anstatt|sondern|\\bstattdessen|nicht .{2,30}, (?:du|das|die|der)\\b|plutôt que|au lieu de",
  ),
  /** Says that less would do, or that it is the wrong way round. */
  lessens: oneOf(
    "\\bno need\\b|\\bnot necessary\\b|\\bdon(?:'|’)?t need\\b|\\bunnecessary\\b|\\bis enough\\b|\\b(?:useless|pointless|makes no sense|overkill)\\b|\\bmore (?:right|correct|accurate|sensible)\\b|\\bbetter to\\b|\\b(?:just|only) (?:use|run|do|touch|change)\\b|\\bwill be (?:lost|overwritten)\\b|\\bgenerated\\b",
    "并不是|不用|不需要|没必要|没有必要|不必|不应该|反的|反了|没意义|没有意义|多余|重复|这么复杂|过度",
    "必要(?:は)?(?:ない|ありません)|(?:ない)?(?:のでは|んじゃ)(?:ない)?|だけで(?:いい|十分)|意味(?:が|は)?(?:ない|ありません)|필요 ?(?:없|는 없)|만 (?:하면|있으면)",
    "no es necesario|no hace falta|nicht nötig|reicht\\b|lieber|pas besoin|inutile|suffit",
  ),
  /** Puts one step before another: check before you push. */
  ordersSteps: oneOf(
    "\\b(?:tests? first|(?:begin|start) (?:by|with) (?:writing|reading|running|the tests?)|before (?:you |guess|start|begin|implement|cod|commit|push|chang|edit|delet|merg|report|say|tell)\\w*|(?:read|ask|check|test|verify|run|look|review)\\b.{0,30}\\b(?:first|before)|until i\\b|without asking|read (?:that|the|this) \\S+(?: \\S+)? (?:again|first))\\b",
    "先(?:写测试|读|看|跑|问|确认|检查|写).{0,20}(?:再|然后|$)|之前.{0,6}(?:都?要|先|必须)",
    "(?:して|確認して|読んで|見て)から|(?:先に|まず)(?:確認|テスト|読)|する前に|먼저|하기 전에|한 (?:다음|후)에",
    "antes de\\b|primero\\b|\\b(?:bevor|erst|zuerst)\\b|avant de\\b|d(?:'|’)abord",
  ),
  /** Says that a thing is there already. */
  existsAlready: oneOf(
    "\\balready (?:have|has|had|exists?|there|is|got|use|does|do|a)\\b|\\bexisting\\b|\\bwe have\\b|\\bthere(?:'|’)?s an? .{0,30}for (?:that|this)\\b|\\blives? in\\b",
    "已经(?:有|做|存在|实现)|已有|现有|原有|旧的|已经.{0,12}了",
    "既存|すでに|既に|もう(?:ある|あり)|이미|기존",
    "ya (?:existe|tenemos|hay|está|estaba|ten[ií]amos)|\\b(?:schon|bereits)\\b|vorhanden|déjà|existant",
  ),
  /** Speaks to the agent about itself. */
  addresses: oneOf(
    "\\b(?:you|your|u|ur|yourself)\\b",
    "你|您",
    "あなた|君|너|네가|당신",
    "\\b(?:tú|tu|te|ti)\\b|\\b(?:du|dein\\w*|dir|dich)\\b|\\b(?:toi|vous|ton|ta|tes)\\b",
  ),
  /** Tells the agent what it is to do. */
  tellsYou: oneOf(
    "\\byou (?:should|must|need to|have to|ought to|can(?:'|’)?t|cannot|don(?:'|’)?t need|shouldn(?:'|’)?t|only need)\\b",
    "你(?:应该|该|需要|得|要|必须|不应该|不要|不能|不需要)",
    "べき(?:だ|です|でしょう|では)?(?:と思います)?[。！!]?$|(?:너는|네가|당신은).{0,20}해야",
    "\\b(?:debes|tienes que|deber[ií]as)\\b|\\bdu (?:sollst|solltest|musst|brauchst)\\b|\\b(?:tu dois|vous devez|tu devrais)\\b",
  ),
  /** Forbids. */
  forbids: oneOf(
    // A statement about the speaker ("I don't know") forbids nothing.
    "(?<!\\b(?:i|we|they|it|he|she|who|you|u|users?|people|still) )\\b(?:don(?:'|’)?t|do not|dont)\\b|\\b(?:never|shouldn(?:'|’)?t|should not|must not|mustn(?:'|’)?t|can(?:'|’)?t just|not allowed|avoid|no more|stop)\\b",
    "不要|不能|别(?!的|人|处)|不应该|不允许|禁止|不许|不得|勿",
    "ないで|しない(?:こと|で)|禁止|てはいけ|ちゃだめ|やめて|ないように",
    "지 ?마|하면 안|안 ?돼|안 ?됩|금지",
    "\\bno (?:hagas|uses|toques|cambies|crees|subas|es necesario|debe\\w*|hay que)|nunca",
    "\\b(?:nicht|kein\\w*|nie|niemals)\\b",
    "\\bne (?:pas|\\p{L}+ (?:pas|jamais))|jamais|n(?:'|’)\\p{L}+ pas",
  ),
  /** Requires. */
  requires: oneOf(
    "\\b(?:should|must|have to|has to|need to|needs to|needs|make sure|ensure|always(?! (?:\\p{L}+ed|works|had|have|been|seen|was)\\b)|only)\\b",
    "应该|必须|需要|一定要|得|要(?:先|用|写|在)|只能|务必|该",
    "べき|てください|必ず|ようにし|する必要|しないと|にして|使って|して$|して。|해야|하세요|써야|꼭|반드시|해줘|세요",
    "\\b(?:debe\\w*|tien\\w+ que|hay que|tenemos que|siempre)\\b|\\b(?:muss|musst|soll\\w*|immer|müssen)\\b|\\b(?:dois|doit|devez|il faut|toujours)\\b",
  ),
  /** Tells how things are done here. */
  tellsCustom: oneOf(
    "\\bwe (?:don(?:'|’)?t|do not|never|always|only|use|run|keep|write|call|deploy|follow|put|name)\\b(?! (?:need|want|have|see|know|get))|\\bthis (?:repo(?:sitory)?|project|codebase) (?:uses?|is|has|needs?)\\b|\\b(?:in|of|for) (?:this|our|the) (?:repo(?:sitory)?|codebase|project|code base|team)\\b|\\bhow we (?:do|write|name|make|handle)\\b|\\bour (?:convention|style|standard|guideline|process|codebase|repo|rule)s?\\b|\\b(?:never|always) (?:talks?|goes?|uses?|calls?|imports?)\\b",
    "我们(?:这边|这里|这个项目|项目|默认|都|一般|用|一直|的规范)|(?:这个|本)项目|项目里|规范|约定|惯例",
    "(?:この|うちの|本)(?:プロジェクト|リポジトリ|コードベース|チーム)|規約|ルール|慣例|(?:이|우리) (?:프로젝트|저장소|레포|팀|코드)|규칙|컨벤션",
    "en este (?:repo|proyecto)|nosotros|convenci[oó]n|in diesem (?:repo|projekt)|bei uns|konvention|dans ce (?:repo|projet|dépôt)|chez nous|convention",
  ),
  /** Names what the agent does or how it works, rather than what is built. */
  namesWork: oneOf(
    "\\b(?:tests?|testing|commit\\w*|push\\w*|branch\\w*|merge\\w*|rebase|pull request|pr|review\\w*|report|docs?|document\\w*|plan\\w*|lint\\w*|format(?:ter)?|type ?check|compil\\w*|build|run|running|check|verify|verified|read|ask|asking|skill|script|migration\\w*|generated?|generator|mock\\w*|import\\w*|export\\w*|dependenc\\w*|library|package|npm|pnpm|yarn|bun|pip|uv|poetry|docker|function|class|helper|util\\w*|component\\w*|file|folder|directory|repo\\w*|codebase|naming|comment\\w*|refactor\\w*|summary|model|tool|agent|session|worktree|staging|production|env\\w*|config\\w*|schema|typescript|python|root cause|scope|default)\\b|\\.\\w{1,4}\\b",
    "测试|提交|推送|分支|合并|审查|审核|报告|文档|计划|方案|检查|验证|流程|脚本|迁移|组件|文件|目录|仓库|代码|函数|命名|注释|重构|总结|环境|配置|根本|根源|设计|字段|逻辑|依赖|接口|反思|规范",
    "テスト|コミット|プッシュ|ブランチ|マージ|レビュー|報告|ドキュメント|計画|実行|確認|検証|スクリプト|ファイル|フォルダ|リポジトリ|コード|関数|命名|コメント|設計|環境|設定|型|依存|生成|実装|테스트|커밋|푸시|브랜치|리뷰|보고|문서|계획|실행|확인|검증|스크립트|파일|폴더|저장소|코드|함수|주석|설계|환경|설정|컴포넌트|먼저",
    "\\b(?:prueba\\w*|probar|commit|rama|revisa\\w*|subi\\w*|documenta\\w*|archivo\\w*|carpeta|skill\\w*|script\\w*|c[oó]digo)\\b|\\b(?:test\\w*|datei\\w*|ordner|zweig|prüf\\w*|bericht|skript\\w*)\\b|\\b(?:tests?|fichiers?|dossier|branche|vérifi\\w*|rapport|code|template)\\b",
  ),
  /** Names parts of a product which its users see. */
  namesProduct: oneOf(
    "\\b(?:button|pages?|screen|colou?r|font|header|footer|sidebar|navbar|form|modal|dialog|icon|layout|menu|tooltip|dropdown|padding|margin|theme|homepage|users?|customers?|view|card|label|banner|popup|tab|title|logo|animation|dashboard|email|mobile)\\b|\\bshould (?:show|display|return|render|open|look|appear|say|contain|always (?:show|return|see))\\b",
    "按钮|页面|颜色|字体|标题|弹窗|图标|布局|菜单|样式|展示|显示|用户|文案|卡片",
    "ボタン|画面|色|フォント|ヘッダー|アイコン|レイアウト|メニュー|表示|ユーザー|ページ|버튼|화면|색|폰트|헤더|아이콘|레이아웃|메뉴|표시|사용자|페이지",
    "bot[oó]n|p[aá]gina|pantalla|color|enlace|usuario|\\burl\\b|schaltfläche|seite|farbe|nutzer|benutzer|bouton|page|écran|couleur|utilisateur",
  ),
  /** Whether a sentence is a requirement of the product. */
  isRequirement: (sentence: string) => specifies.test(sentence) && !aboutWork.test(sentence),
  /** Reports that the product misbehaves. */
  reportsBug: oneOf(
    "\\bstill (?:not|no|doesn(?:'|’)?t|isn(?:'|’)?t|fail\\w*|get\\w*|see\\w*|broken|the same|show\\w*|have|happen\\w*|there|unused|\\w+ing)\\b|\\b(?:are|is) still\\b|\\b(?:doesn(?:'|’)?t|does not|isn(?:'|’)?t|not|don(?:'|’)?t|won(?:'|’)?t|didn(?:'|’)?t|can(?:'|’)?t) (?:work\\w*|load\\w*|show\\w*|appear\\w*|render\\w*|open\\w*|start\\w*|happen\\w*|see|keep|there|change\\w*)\\b|(?<![\\w/@.-])(?:errors?|crash\\w*|exception|bug|broken|fails?|failing|overlaps?|flickers?|stack ?trace|undefined|null|404|500|looped|infinite)\\b|\\bi(?:'|’)?m (?:getting|seeing)\\b|\\bit (?:says|shows|throws|looks like)\\b|\\bwhen i (?:use|run|click|test\\w*|open|try|tried|press|select)\\b|\\b(?:is|are|was) (?:gone|missing|not there)\\b|\\bwent wrong\\b|\\bhow come\\b",
    "报错|还是(?:不|没|有|报|一样)|没有(?:通知|反应|显示|看到|收到|生效)|没看到|不行|崩溃|有bug|异常|是错的|不显示|一样的错误",
    "まだ.{0,12}(?:エラー|動|出|直)|エラー|動(?:か|き)ない|動きません|表示されない|落ち(?:る|ます)|バグ|変わってい?(?:ない|ません)(?!.{1,20}(?:して|てください|くれますか))|아직(?:도)?|에러|오류|안 ?(?:되|나와|보여)|작동.{0,4}안|버그",
    "sigue sin|sigue\\b.{0,12}(?:igual|fall|envi)|no funciona|falla|no (?:carga|aparece)|funktioniert nicht|immer noch|fehler|geht nicht|klappt nicht|ne (?:marche|fonctionne) pas|toujours pas|erreur|plante",
  ),
  /** Asks for something new: at the start of a sentence. */
  wishes: opens(
    "(?:can|could|would|will) (?:you|we)\\b|let(?:'|’)?s\\b|lets\\b|now\\b|next\\b(?! time)|then\\b|(?:add|create|implement|build|write|save|store|export|convert|generate|update|fix|find|show|give|explain|investigate|continue|proceed|go (?:ahead|on|forth)|try|commit|push|deploy|merge|rename|move|make (?:the|it|a|an|this)|set up|put|change the|get|list|tell|help|what about|how about|maybe|i(?:'|’)?d like|i would like|it would be)\\b",
    "(?:再|继续|帮|修复|生成|完成|增加|添加|新增|实现|更新|支持|看看|分析|可以(?!使用)|能不能|能否|我想|我希望(?:创建|做)|创建|给我|现在|接下来|如果)",
    ".{0,40}(?:追加して|作って|作成して|実装して|お願いします|続けて|教えて|見せて|進めて)|.{0,40}(?:추가해|만들어|구현해|진행해|계속|알려|보여)",
    "(?:crea|agrega|ejecuta|genera|haz|dame|puedes|vamos|quiero|descarga|sigue|levanta|busca|lista)\\b|(?:kannst|könntest|füge|erstelle|mach|bitte|lass uns)\\b|(?:peux-tu|pouvez-vous|ajoute|crée|fais|on peut|continue)\\b",
  ),
  /** Is about this moment only. */
  passes: oneOf(
    "\\b(?:for now|for the moment|at the moment|this time|just this once|temporarily|for today|right now|later|yet)\\b",
    "暂时|目前先|先别|先不|这次|这一次|临时先|不用急",
    "とりあえず|一旦|いったん|今回(?:は|だけ)|ひとまず|일단|우선은|이번(?:만|에는|엔)|지금은",
    "por ahora|de momento|esta vez|vorerst|erstmal|fürs erste|diesmal|pour (?:l(?:'|’)instant|le moment)|cette fois",
  ),
  /** Agrees: at the start of what was said. */
  agrees: opens(
    "(?:yes|yep|yeah|ok|okay|sure|great|perfect|cool|nice|thanks|thank you|thx|good|looks? good|lgtm|sounds? good|awesome|fine|exactly|correct|agreed|done|approved|it works|works|its fine|it(?:'|’)s fine)\\b",
    "(?:好的?|嗯|可以|行|没问题|同意|合理|对的?|是的|接受|谢谢|不错|非常好|确认|我觉得可以)",
    "(?:はい|ええ|うん|了解|いいです|大丈夫|ありがとう|お願いします|完璧)|(?:네|예|응|좋아|좋습|괜찮|감사|고마워|맞아)",
    "(?:sí|si,|vale|perfecto|listo|confirmado|gracias|claro|genial|ok)|(?:ja\\b|gut|super|danke|passt|genau)|(?:oui|d(?:'|’)accord|parfait|merci|super)",
  ),
  /** Is taste about how one thing looks or reads. */
  isTaste: oneOf(
    "\\b(?:bigger|smaller|larger|wider|narrower|darker|lighter|brighter|bolder|shorter title|prettier|nicer|ugly|(?:light|dark)? ?(?:blue|green|red|grey|gray|purple|orange|yellow|pink)|align\\w*|cent(?:er|re)d?|rounded|font size|wording|call it|rename it)\\b",
    "大一点|小一点|好看|丑|颜色|居中|对齐|粗一点|叫.{1,8}(?:更好|不是更好)|去除|去掉",
    "大きく|小さく|もう少し|色を|中央|太く|더 (?:크게|작게|밝게|어둡게)|색|가운데|예쁘",
    "más (?:grande|pequeño|claro|oscuro)|centra|größer|kleiner|heller|dunkler|plus (?:grand|petit|clair|foncé)",
  ),
  /** Holds from here on. */
  standing: oneOf(
    "\\bfrom now on\\b|\\bfrom here on\\b|\\bgoing forward\\b|\\bin (?:the )?future\\b(?! (?:work|version|release|feature)s?)|\\bnext time\\b|\\bwhenever (?:you|i|we)\\b|\\bevery time (?:you|i|we)\\b|\\bbefore (?:every|each)\\b|\\bafter (?:every|each)\\b|\\bas a rule\\b|\\bmake it a (?:rule|habit)\\b|\\bby default,? (?:you|always|use|run|do)\\b",
    "以后|今后|从现在(?:开始|起)|下次|往后|每次(?:都|提交|修改)?|当我.{1,30}(?:时|的时候)[，,]?.{0,4}你",
    "今後|これから(?:は|も)|次(?:回)?から(?:は)?|次回(?:は|以降)|以降は|毎回|앞으로|다음부터|이제부터|다음번|매번",
    "a partir de ahora|de ahora en adelante|en adelante|la próxima vez|cada vez que|ab (?:jetzt|sofort)|in zukunft|künftig|zukünftig|nächstes mal|von nun an|jedes mal|à partir de maintenant|dorénavant|désormais|la prochaine fois|à l(?:'|’)avenir|chaque fois",
  ),
  /** An order that holds always, told at the start of a sentence. */
  ordersAlways: opens(
    "(?:you (?:should|must) )?(?:always|never) (?!mind|worked|works|had|have|been|seen|heard|was|used)\\p{L}+",
    "(?:永远|总是|始终|一律|务必|一定要)",
    "(?:必ず|常に|いつも|絶対(?:に)?).{0,40}(?:て|こと|ください|しろ|ように)|(?:항상|반드시|절대|꼭) .{0,40}(?:줘|세요|해|마|요|것)",
    "(?:siempre|nunca) \\p{L}+|(?:immer|niemals|nie) \\p{L}+|(?:toujours|ne \\p{L}+ jamais)",
  ),
  /** Asks to keep it in mind: an order, at the start of a sentence. */
  remembers: opens(
    "(?:please )?(?:remember|memori[sz]e|keep in mind|note for (?:later|the future)|make a note|take note|don(?:'|’)?t forget)(?:\\b|:)(?! (?:when|where|how|if|me|the (?:time|choice|state|selection|user|last|password|login)|last|what)\\b)",
    "(?:记住|请记住|记一下|记得|牢记|你要记住|切记)",
    ".{0,40}(?:覚えて(?:おいて|ください|おけ)|記憶して|メモして(?:おいて)?)|.{0,40}(?:기억해(?!요\\?)|명심해|메모해)",
    "(?:recuerda|ten en cuenta|acuérdate|no olvides)(?: que| de|:|,)|(?:merk(?:e)? dir|denk(?:e)? daran|vergiss nicht)|(?:souviens-toi|rappelle-toi|retiens|n(?:'|’)oublie pas)",
  ),
  /** Asks to keep what was done under a name: the name is the first group. */
  savesAs:
    /(?:\b(?:save|store|keep|record|remember)\s+(?:this|that|it|these(?: steps)?|the above|what (?:we|you) (?:just )?did)(?:\s+(?:workflow|process|procedure|recipe|steps))?\s+as\s+(?:an?\s+)?(?:new\s+)?(?:skill\s+)?(?:(?:called|named)\s+)?|(?:保存|存|记录)(?:成|为|到)\s?(?:技能|skill)?\s?|guarda(?:lo)? como |speicher[en]* (?:das|es) als |enregistre(?:-le)? (?:ça )?comme )["'`「“]?([\p{L}\p{N}][\p{L}\p{N}_-]{2,47})/iu,
  /** Names such a file as the place to write something. */
  writesRule: oneOf(
    `\\b(?:add|put|write|note|document|include|record|append|save)\\b.{0,100}\\b(?:to|in|into)\\b ?${ruleFileName}`,
    `(?:加到|写到|写进|写入|记录到?|添加到|放到).{0,12}${ruleFileName}|${ruleFileName}.{0,6}(?:里|中).{0,4}(?:加|写|记)`,
    `${ruleFileName} ?(?:に|へ|にも).{0,40}(?:追記|書|追加|記載|記入|記録|保存|残)`,
    `${ruleFileName} ?에.{0,30}(?:추가|적어|기록|써)`,
    `(?:agrega|añade|escribe|pon)\\b.{0,60}${ruleFileName}`,
    `(?:schreib|ergänz|trag)\\w*.{0,60}${ruleFileName}`,
    `(?:ajoute|écris|mets|note)\\b.{0,60}${ruleFileName}`,
  ),
  /** Tells to bring such a file up to date. */
  updatesRules: oneOf(
    `\\b(?:update|edit|amend)\\b ${ruleFileName}`,
    `(?:更新|修改).{0,6}${ruleFileName}`,
    `${ruleFileName} ?を.{0,10}(?:更新|修正)`,
    `actualiza\\w* ${ruleFileName}`,
    `aktualisier\\w* ${ruleFileName}`,
  ),
  /** Says that something is otherwise than it was. */
  changedFact: oneOf(
    "\\b(?:no longer|anymore|not any more|we (?:moved|switched|migrated)|is now|are now)\\b",
    "不再|已经改|改成了|换成了|现在(?:用|在|改)",
    "もう.{1,20}(?:ない|ません)|に(?:移行|変わ)|더 ?이상|이제는|바뀌었",
    "ya no\\b|ahora (?:está|usamos|es)|nicht mehr|jetzt (?:auf|bei|in)|ne \\p{L}+ plus|maintenant (?:sur|chez)",
  ),
  /** Chooses the language of the answers. */
  choosesLanguage: oneOf(
    "\\b(?:answer|reply|respond|speak|talk|communicate)\\w*(?: to me| with me)?(?: only| always)? in (?:english|chinese|japanese|korean|spanish|german|french|russian|portuguese|italian)\\b",
    "(?:用|使用)(?:中文|英文|英语|日语|韩语)(?:来)?(?:跟我|和我|给我)?(?:回|答|说|交流|沟通)|说中文",
    "(?:日本語|英語|中国語)で(?:答|回答|返|お願い|話|対応|やり取り)|(?:한국어|영어|일본어)로 ?(?:답|대답|말|응답|얘기)",
    "(?:responde|contesta|habla|escribe)\\S* (?:siempre )?en (?:español|inglés)|(?:antworte|schreib|sprich)\\S* (?:immer |bitte )?auf (?:deutsch|englisch)|(?:réponds|répondez|écris|parle)\\S* (?:toujours )?en (?:français|anglais)",
  ),
  /** Tells to follow a way of working that has a name. */
  followsProcess: oneOf(
    "\\b(?:follow|use|used|go through|stick to|run|according to|per)\\b.{0,40}\\b(?:flow|workflow|process|procedure|methodology|checklist|playbook|runbook)\\b|(?<!\\S)/[a-z][\\w-]{3,} (?:flow|workflow|process|skill|command)\\b",
    "(?:严格)?(?:按照|遵循|遵守|根据|走).{0,100}(?:方法论|流程|步骤|清单)",
    "(?:手順|フロー|プロセス|ワークフロー|チェックリスト)(?:に(?:従|沿)|通り|どおり)",
    "(?:절차|프로세스|워크플로우?|체크리스트)(?:에 따라|대로|를 따라)",
    "sigue (?:el|la) (?:flujo|proceso|metodología)",
  ),
  /** Tells to follow written or lived rules of the code. */
  followsRules: oneOf(
    "\\b(?:follow(?:ing)?|stick to|adhere to|comply with|respect|match|according to|per|as in|consistent with|like (?:the|our) other)\\b.{0,50}(?:\\b(?:guidelines?|conventions?|style ?guide|standards?|patterns?|rules?|structure|existing|style)\\b|[\\w/-]+\\.md\\b)",
    "(?:参考|遵循|遵守|按照|沿用|复用|符合|保持).{0,40}(?:规范|约定|风格|已有|现有|标准|\\.md)|造轮子",
    "(?:規約|ガイドライン|ルール|既存|スタイル).{0,20}(?:に(?:従|沿|合わせ)|通り|参考)|(?:규칙|컨벤션|가이드|기존|스타일).{0,12}(?:따라|맞춰|맞게|참고)",
    "(?:sigue|respeta|según)\\b.{0,40}(?:convenci|guía|normas|estilo|existente|\\.md)|(?:folge|halte dich|gemäß)\\b.{0,40}(?:konvention|richtlinie|stil|\\.md)|(?:suis|respecte|selon)\\b.{0,40}(?:convention|règles|style|\\.md)",
  ),
  /** Leaves no doubt: exactly so, without exception. */
  firm: oneOf(
    "\\b(?:strictly|exactly|must|make sure|ensure|without exception|at all times)\\b",
    "严格|必须|务必|一定要|确保",
    "必ず|厳密|絶対|반드시|엄격|꼭",
    "estrictamente|asegúrate|unbedingt|strikt|genau nach|strictement|assure-toi|impérativement",
  ),
  /** Points out a fact to heed. */
  pointsOut: oneOf(
    "\\b(?:note that|keep in mind|be aware|mind that|remember that|important:|heads up)\\b",
    "(?:需要|要|请)注意|注意[，,：:]|需要理解",
    "注意(?:して|点)|ちなみに|주의|참고로",
    "ten en cuenta|ojo[,:]|beachte|wichtig:|attention|notez que|à noter",
  ),
  /** Takes a correction back. */
  withdraws: opens(
    "(?:(?:no|wait|actually|oh|hm+|sorry|ok(?:ay)?)[,.! ]+){0,3}(?:never ?mind|nvm|undo that|[\\w-]+ (?:was|is) (?:right|fine)(?: after all)?\\b|forget (?:it|that|what i said)|scratch that|ignore (?:that|my|what)|actually,? (?:keep|leave|no|it(?:'|’)?s (?:fine|ok|right)|you(?:'|’)?re right|you were right|that(?:'|’)?s fine)|my (?:bad|mistake)|sorry,? (?:i was wrong|you(?:'|’)?re right|my)|i was wrong|you were right|on second thought|undo that|go back to (?:your|the first)|leave it)",
    "(?:算了|不用了|当我没说|还是(?:用|按)(?:原来|之前|你)|我(?:搞|看|弄|说)错了|你是对的|忽略)",
    "(?:(?:やっぱり|やっぱ|やはり)(?!.{0,12}(?:動|エラー|だめ|ダメ|同じ))|気にしないで|忘れて|さっきのは(?:なし|無視)|私の(?:間違い|勘違い))|(?:아니다|됐어|됐습니다|신경 ?쓰지|그냥 (?:둬|놔)|내가 (?:틀렸|잘못)|취소)",
    "(?:olv[ií]dalo|d[eé]jalo|no importa|me equivoqué|tenías razón)|(?:vergiss es|egal|doch lieber|lass es|mein fehler|du hattest recht)|(?:laisse tomber|oublie|peu importe|finalement|je me suis trompé)",
  ),
  /** The agent grants the point: near the start of its reply. */
  concedes: oneOf(
    "\\byou(?:'|’)?(?:re| are) (?:\\w+ )?(?:right|correct)\\b|\\bgood (?:catch|point|call)\\b|\\bfair (?:point|enough|call)\\b|\\btotally fair\\b|^fair\\b|\\bmy (?:mistake|bad|apologies|fault)\\b|\\bsorry\\b|\\bapolog\\w+|\\bi should(?:n(?:'|’)?t| not)? have\\b|\\bi (?:missed|misread|misunderstood|overlooked|was wrong|got that wrong|forgot)\\b|\\bexactly\\b|\\bagreed?\\b|\\bvalid point\\b|\\bthanks for (?:the correction|catching|pointing|clarif)|\\bah,? (?:i see|right|got it)\\b|\\byou did\\b|\\bthat(?:'|’)?s on me\\b|\\byou (?:don(?:'|’)?t|shouldn(?:'|’)?t) have to\\b",
    "[你您]说得?(?:完全|非常|很|太)?(?:对|正确|没错)|[你您]说得(?:完全)?(?:对|正确)|[你您]是对的|抱歉|对不起|是我的?(?:错|问题|疏忽)|我(?:错了|搞错|理解错|漏|忽略|应该|没有注意)|完全同意|(?:^|[，。])确实|说得(?:很|非常)?有道理|^啊，",
    "おっしゃる通り|おっしゃるとおり|ご指摘|申し訳|失礼(?:いた)?しました|すみません|ごめん|その通り|そのとおり|確かに|間違(?:え|い|って)|誤り|勘違い|맞습니다|맞아요|맞는 말|옳으|죄송|미안|말씀(?:하신)?.{0,4}(?:대로|맞)|지적.{0,6}감사|제가 (?:잘못|실수|틀)|그렇네요",
    "ten(?:é|e)?s (?:toda la |mucha )?raz[oó]n|tiene(?:s)? (?:toda la )?raz[oó]n|perd[oó]n|disculpa|lo siento|mi error|error mío|fue un error|du hast (?:völlig |absolut |vollkommen )?recht|sie haben recht|entschuldig|tut mir leid|mein fehler|stimmt|(?:vous avez|tu as) (?:tout à fait |entièrement )?raison|désolé|excuse|mes excuses|mon erreur|bien vu",
  ),
  /** The agent says that something was pointed out to it: languages without pronouns show it here alone. */
  heedsPoint: oneOf(
    "\\bgood catch\\b|\\bthanks for (?:the correction|catching|pointing)",
    "[你您](?:的)?指(?:出|正)|感谢指",
    "ご指摘|おっしゃる(?:通|とお)り|지적|말씀(?:하신)? ?대로",
    "bien visto|buena observaci[oó]n|gut aufgepasst|guter hinweis|bien vu|bonne remarque",
  ),
  /** The agent says that the fault is its own. */
  apologises: oneOf(
    "\\bsorry\\b|\\bapolog\\w+|\\bmy (?:mistake|bad|fault)\\b|\\bi should(?:n(?:'|’)?t| not)? have\\b|\\bi (?:missed|misread|misunderstood|overlooked|was wrong|forgot)\\b|\\bi was (?:being )?(?:too|overly|careless|lazy|overthinking)\\b|\\bi(?:'|’)?m overthinking\\b|\\bi skipped\\b|\\bi was (?:stuck|hedging|guessing|conflating|assuming)\\b|\\bi over-?(?:did|delivered|complicated|engineered|thought)",
    "抱歉|对不起|是我的?(?:错|问题|疏忽)|我(?:错了|搞错|理解错|漏|忽略)|我的.{1,8}(?:有问题|太|不对|错|不够)|我(?:也|确实|本)?(?:应?该)(?!怎|如何|先)",
    "申し訳|失礼(?:いた)?しました|すみません|ごめん|べきでした|見落と|飛ばして|逆でした|早合点|不注意|(?:して|できて)いませんでした|不十分でした|誤って|죄송|미안|제가 (?:잘못|실수|틀)",
    "perd[oó]n|disculpa|lo siento|mi error|error mío|deb[ií] |entschuldig|tut mir leid|mein fehler|désolé|excuse|mon erreur",
  ),
  /** The agent answers no: it had not done what it was asked about. */
  deniesFirst: opens(
    "no[.,!\\s—-]|not yet",
    "没有|还没",
    "いいえ|まだ|いえ|아니요|아직",
    "no[,.]|todavía no|nein|noch nicht|non|pas encore",
  ),
  /** The agent takes it on: at the start of its reply. */
  accepts: opens(
    "(?:understood|i(?:'|’)ll (?:switch|move|use|change|rewrite|redo|delete|drop|keep|put|follow|simplify)|got it|noted|makes sense|will do|right[,.—-]|sure|okay|ok[,.]|of course|absolutely|point taken|thanks|thank you|i won(?:'|’)?t|i(?:'|’)ll (?:revert|undo|remove|redo|rewrite|stop)|switching|reverting|let me (?:fix|redo|revert|rewrite|remove|simplify|change|scrap))",
    "(?:明白|理解|好的?|非常好|了解|收到|知道了|没问题|嗯|对|让我(?:重新|确认|读取|查看实际))",
    "(?:承知|わかりました|分かりました|了解|かしこまりました|はい)|(?:알겠|네|예|이해했|확인했)",
    "(?:entendido|de acuerdo|vale|claro|ok|comprendido)|(?:verstanden|alles klar|klar|okay|in ordnung)|(?:compris|d(?:'|’)accord|entendu|bien sûr|noté)",
  ),
  /** The agent praises an idea, which is less than granting a point. */
  praises: opens(
    "(?:great|good|excellent|nice|love (?:that|the)) (?:idea|suggestion|question|thinking|thought)",
    "(?:好主意|好想法|这个(?:想法|思路)(?:很|更)好|非常好的(?:想法|建议|观点|考虑)|好问题)",
    "(?:いい(?:アイデア|考え|質問)|良い(?:アイデア|考え|質問)|素晴らしい)|(?:좋은 (?:생각|아이디어|질문|제안))",
    "(?:buena (?:idea|pregunta))|(?:gute (?:idee|frage))|(?:bonne (?:idée|question))",
  ),
  /** Work that is undone. */
  undoes: /\bgit (?:revert|reset|restore|checkout --|checkout HEAD|stash)\b|\brm -?|\bgit rm\b/,
  /** English words that say no more than that something is right or wrong, wanted or not. */
  contentless: wordSet(`
  no not don't dont didn't why wait stop ok okay yes yeah actually instead want need needs like think make sure right
  wrong correct incorrect see look please sorry thanks still again really very too also only all any one thing things
  something anything it's that's this isn't you're i'm im its thats good bad better done doing way mean meant said say
  don t didn isn wasn aren won can re m s ll ve d get got let lets go know here there yet maybe true false work works about
`),
  /** Means what was just done. */
  pointsBack: oneOf(
    "\\b(?:this|that|these|it)\\b",
    "这|刚才",
    "これ|この|今の|이걸?|이것|방금",
    "\\b(?:esto|eso)\\b|\\b(?:das|dies\\w*)\\b|\\b(?:ça|ceci|cela)\\b",
  ),
  /** Formats: saving something as one of these gives it no name. */
  formats: wordSet(`
  json jsonl yaml yml csv tsv xml html pdf png jpg jpeg svg gif webp txt text plain file files folder draft string
  markdown default template image env variable number integer boolean array list object base64 binary well new the
`),
  ruleFile,
};
