/**
 * Phrases of people and agents, by meaning: a line for English, Chinese, Japanese and Korean, and for Spanish,
 * German and French. Every pattern is bounded, so a long text costs no more than its length, and reads lower-case text:
 * to ignore case by a flag costs many times as much.
 */

const oneOf = (...patterns: readonly string[]): RegExp => new RegExp(patterns.join("|"), "u");

/** At the start of a sentence. */
const opens = (...patterns: readonly string[]): RegExp => new RegExp(`^(?:${patterns.join("|")})`, "u");

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
  /** Tells how things are done here. */
  tellsCustom: oneOf(
    "\\bwe (?:don(?:'|’)?t|do not|never|always|only|use|run|keep|write|call|deploy|follow|put|name)\\b(?! (?:need|want|have|see|know|get))|\\bthis (?:repo(?:sitory)?|project|codebase) (?:uses?|is|has|needs?)\\b|\\b(?:in|of|for) (?:this|our|the) (?:repo(?:sitory)?|codebase|project|code base|team)\\b|\\bhow we (?:do|write|name|make|handle)\\b|\\bour (?:convention|style|standard|guideline|process|codebase|repo|rule)s?\\b|\\b(?:never|always) (?:talks?|goes?|uses?|calls?|imports?)\\b",
    "我们(?:这边|这里|这个项目|项目|默认|都|一般|用|一直|的规范)|(?:这个|本)项目|项目里|规范|约定|惯例",
    "(?:この|うちの|本)(?:プロジェクト|リポジトリ|コードベース|チーム)|規約|ルール|慣例|(?:이|우리) (?:프로젝트|저장소|레포|팀|코드)|규칙|컨벤션",
    "en este (?:repo|proyecto)|nosotros|convenci[oó]n|in diesem (?:repo|projekt)|bei uns|konvention|dans ce (?:repo|projet|dépôt)|chez nous|convention",
  ),
  /** Is about this moment only. */
  passes: oneOf(
    "\\b(?:for now|for the moment|at the moment|this time|just this once|temporarily|for today|right now|later|yet)\\b",
    "暂时|目前先|先别|先不|这次|这一次|临时先|不用急",
    "とりあえず|一旦|いったん|今回(?:は|だけ)|ひとまず|일단|우선은|이번(?:만|에는|엔)|지금은",
    "por ahora|de momento|esta vez|vorerst|erstmal|fürs erste|diesmal|pour (?:l(?:'|’)instant|le moment)|cette fois",
  ),
  /** Takes a correction back. */
  withdraws: opens(
    "(?:(?:no|wait|actually|oh|hm+|sorry|ok(?:ay)?)[,.! ]+){0,3}(?:never ?mind|nvm|undo that|[\\w-]+ (?:was|is) (?:right|fine)(?: after all)?\\b|forget (?:it|that|what i said)|scratch that|ignore (?:that|my|what|(?:the )?last)|wrong (?:chat|window|tab|session|terminal|thread)\\b|actually,? (?:keep|leave|no|it(?:'|’)?s (?:fine|ok|right)|you(?:'|’)?re right|you were right|that(?:'|’)?s fine)|my (?:bad|mistake)|sorry,? (?:i was wrong|you(?:'|’)?re right|my)|i was wrong|you were right|on second thought|undo that|go back to (?:your|the first)|leave it)",
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
};
