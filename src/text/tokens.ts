/**
 * How Knack reads words. `splitWords` keeps identifiers and paths whole, `extractTerms` drops stop words from them, and
 * `tokenize` takes compounds apart for search. All three lower-case, and use pairs of characters for scripts that put no
 * spaces between words.
 */

/** Words to look one up among. */
export type WordSet = Pick<ReadonlySet<string>, "has">;

/** The words of a list, which may span lines. It is split when it is first asked: a hook asks few of its lists. */
/* @__NO_SIDE_EFFECTS__ */
export function wordSet(list: string): WordSet {
  let words: ReadonlySet<string> | undefined;
  return {
    has: (word) => {
      words ??= new Set(list.trim().split(/\s+/));
      return words.has(word);
    },
  };
}

/** English function words that every reader ignores. */
const stopWords = wordSet(`
  a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its
  just me my now of on or our please she should so some that the their them then there these they this to up us was we
  were what when where which who will with would you your
`);

/** The words of a text in order, identifiers and paths whole. */
export function splitWords(text: string): string[] {
  const lower = text.toLowerCase();
  const words = isAscii.test(lower) ? (lower.match(/[a-z0-9_./@-]+/g) ?? []) : splitMixed(lower);
  // Most words need no trimming, and looking at their ends costs less than a pattern.
  return words
    .map((word) =>
      isEdge(word.charCodeAt(0)) || isEdge(word.charCodeAt(word.length - 1))
        ? word.replace(/^[-./]+|[-./]+$/g, "")
        : word,
    )
    .filter((word) => word !== "");
}

const isAscii = /^[\x00-\x7f]*$/;

/** Whether a character is "-", "." or "/", which are neighbours in ASCII. */
function isEdge(code: number): boolean {
  return code >= 45 && code <= 47;
}

function splitMixed(text: string): string[] {
  const words: string[] = [];
  for (let at = 0; at < text.length; ) {
    const kind = wholeKindAt(text, at);
    let end = at + 1;
    while (end < text.length && wholeKindAt(text, end) === kind) end++;
    const run = text.slice(at, end);
    if (kind === "unspaced") words.push(...pairs(run));
    else if (kind === "letter") words.push(run);
    at = end;
  }
  return words;
}

/** Korean and Thai words stay whole here, and so do paths. */
function wholeKindAt(text: string, at: number): CharacterKind {
  const code = text.charCodeAt(at);
  if (isEdge(code) || code === 95 || code === 64) return "letter";
  const kind = kindAt(text, at);
  const staysWhole = kind === "mark" || isHangul(code) || isThai(code);
  return staysWhole ? "letter" : kind;
}

/** Overlapping pairs of characters, so that where a word begins need not be known. */
function pairs(run: string): string[] {
  return run.length === 1 ? [run] : Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2));
}

/** The distinct words of a text that carry meaning. */
export function extractTerms(text: string): Set<string> {
  return new Set(splitWords(text).filter((word) => !stopWords.has(word) && !everyLesson.has(word)));
}

/** Words that nearly every lesson has. */
const everyLesson = new Set(["fails", "use", "used", "using"]);

/** A word without the ending that does not change what it names. */
export function stemWord(word: string): string {
  if (!/^[a-z]{4,}$/.test(word))
    return word.replace(/(?:을|를|에|의|이|가|은|는|으로|로)$/u, (end) => (word.length > 2 ? "" : end));
  return singular(word.replace(/(?<=(?:ss|sh|ch|x|z))es$/, ""))
    .replace(/(?<=[a-z]{4})ing$/, "")
    .replace(/(?<=[a-z]{3}[^e])ed$/, "");
}

/** `queries` and `query` are one term; `status`, `class` and `nextjs` are not plurals. */
function singular(word: string): string {
  const last = word.length - 1;
  if (last < 3 || word.charCodeAt(last) !== 115) return word;
  const before = word[last - 1] as string;
  if ("suij".includes(before) || before < "a" || before > "z") return word;
  return last > 3 && word.endsWith("ies") ? `${word.slice(0, -3)}y` : word.slice(0, last);
}

/** Longer tokens are keys or encoded data. */
const tokenChars = 40;
/** Longer numbers say nothing. */
const numberChars = 4;
/** A compound with more parts is a path or a version. */
const compoundParts = 3;

/**
 * The search tokens of a text in order: without accents and plurals, the parts of a compound and the compound in one,
 * without stop words. Used alike for what is indexed and for what is asked. One pass over the characters, and no
 * pattern that a cold process would have to prepare.
 */
export function tokenize(text: string): string[] {
  const tokens: string[] = [];
  const lower = text.toLowerCase();
  for (let at = 0; at < lower.length; ) {
    const kind = kindAt(lower, at);
    if (kind === "letter") at = readCompound(lower, at, tokens);
    else if (kind === "unspaced") at = readUnspaced(lower, at, tokens);
    else at++;
  }
  return tokens;
}

/** Reads `cold-email`, `node.js`, `snake_case` or a plain word; returns where it ends. */
function readCompound(text: string, start: number, tokens: string[]): number {
  let [at, parts, joined] = [start, 0, ""];
  for (;;) {
    const end = endOfWord(text, at);
    const word = foldWord(text.slice(at, end));
    parts++;
    if (parts <= compoundParts) joined += word;
    keep(word, tokens);
    at = end;
    const code = text.charCodeAt(at);
    const isJoiner = code === 45 || code === 46 || code === 95;
    if (!isJoiner || at + 1 >= text.length || kindAt(text, at + 1) !== "letter") break;
    at++;
  }
  if (parts > 1 && parts <= compoundParts && !isNumber(joined)) keep(joined, tokens);
  return at;
}

function endOfWord(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    const kind = kindAt(text, at);
    if (kind === "letter" || kind === "mark") continue;
    // `don't` is one word.
    const isApostrophe = text.charCodeAt(at) === 39 || text.charCodeAt(at) === 0x2019;
    if (!isApostrophe || at + 1 >= text.length || kindAt(text, at + 1) !== "letter") break;
  }
  // `C++`, `C#`.
  if (at === start + 1)
    while (at < text.length && at < start + 3 && (text[at] === "+" || text[at] === "#")) at++;
  return at;
}

function isNumber(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (!isDigit(word.charCodeAt(at))) return false;
  return true;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function keep(word: string, tokens: string[]): void {
  if (word === "" || word.length > tokenChars || stopWords.has(word) || searchStopWords.has(word)) return;
  if (isNumber(word) && (word.length === 1 || word.length > numberChars)) return;
  tokens.push(singular(word));
}

/** Without accents, possessives and apostrophes. */
function foldWord(word: string): string {
  const plain = isAsciiWord(word) ? word : word.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  if (!plain.includes("'") && !plain.includes("\u2019")) return plain;
  return plain.replace(/['\u2019]s$/, "").replace(/['\u2019]/g, "");
}

function isAsciiWord(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (word.charCodeAt(at) >= 0x80) return false;
  return true;
}

function readUnspaced(text: string, start: number, tokens: string[]): number {
  let end = start;
  let run = "";
  for (; end < text.length && kindAt(text, end) === "unspaced"; end++) run += simplified(text[end] as string);
  for (const pair of pairs(run)) {
    // Two Hiragana characters are grammar more often than a word.
    const isGrammar = pair.length > 1 && isHiragana(pair.charCodeAt(0)) && isHiragana(pair.charCodeAt(1));
    if (!isGrammar && !searchStopWords.has(pair)) tokens.push(pair);
  }
  return end;
}

type CharacterKind = "letter" | "unspaced" | "mark" | "none";

/** Ranges rather than character classes, which cost a cold process a millisecond to prepare. */
function kindAt(text: string, at: number): CharacterKind {
  const code = text.charCodeAt(at);
  if (code < 0x80) return (code >= 97 && code <= 122) || isDigit(code) ? "letter" : "none";
  if (code < 0xc0 || code === 0xd7 || code === 0xf7) return "none";
  if (code < 0x300) return "letter";
  if (code < 0x370) return "mark";
  if (isThai(code)) return "unspaced";
  if (code < 0x2000) return "letter";
  if (code === 0x3005 || code === 0x30fc) return "unspaced"; // 々 and ー
  if (isHiragana(code) || isWithin(code, 0x30a1, 0x30fa)) return "unspaced"; // and Katakana
  if (isWithin(code, 0x3400, 0x9fff) || isWithin(code, 0xf900, 0xfaff)) return "unspaced"; // Han
  if (isHangul(code)) return "unspaced";
  const isWideLetter = isWithin(code, 0xff21, 0xff3a) || isWithin(code, 0xff41, 0xff5a);
  return isWideLetter || isWithin(code, 0xff10, 0xff19) ? "letter" : "none";
}

function isWithin(code: number, first: number, last: number): boolean {
  return code >= first && code <= last;
}

const isThai = (code: number) => isWithin(code, 0xe00, 0xe7f);
const isHangul = (code: number) => isWithin(code, 0xac00, 0xd7a3);
const isHiragana = (code: number) => isWithin(code, 0x3041, 0x3096);

/** Stop words for search beyond `stopWords`. Of other languages only words that software does not use: where few texts are in them, these would seem rare. */
const searchStopWords = wordSet(`
  about all also am any being cant doesnt doing done dont each either else get gets getting got having here hers him id
  ill im isnt ive lets like may might more most much need needs no nor not off once one only other ours out over own same
  such than thats theyre those through too until upon very want wants weve whats whether while whom why within without
  wont youre yours
  al como con de del des du el en est esta este et la las le les lo los mas mi para por que se sur te un una une uma um y
  auf dem den der ein eine ist nicht und von zu
  帮我 我想 我要 我们 我的 你的 给我 请帮 一个 一下 这个 那个 这些 那些 可以 怎么 如何 什么 需要 没有 是否 进行 以及 或者 如果
  帮忙 请问 请给 想要 为什 怎样 么样 因为 所以 但是 不能 不会 能够 已经 现在 然后 还是 就是 一些 这里 这种 时候 自己
  해줘 주세 세요 합니 니다 하고 해서
`);

/**
 * A traditional Chinese character as its simplified one, any other as it is: people and skills write either.
 * Looked up in sorted text, so that a process that meets no Chinese prepares nothing.
 */
export function simplified(character: string): string {
  let low = 0;
  let high = traditional.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((traditional[middle] as string) < character) low = middle + 1;
    else high = middle;
  }
  return traditional[low] === character ? (simple[low] as string) : character;
}

const traditional =
  "丟並乾亂亙亞佇佈佔併來侖侶侷係俠俱倀倆倉個們倖倣倫偉側偵偽傑傖傘備傢傭傯傳債傷傾僅僇僑僕僥僱價儀儂億儈儉儐儔儕儘償優儲儷儸儻儼兇兌兒兗內兩冊冪凍凜凱別刪則剋剎剛剝剴創剷劃劇劉劊劍劑勁動勗務勛勝勞勢勳勵勸勻匯匱" +
  "區協卹卻厭厲參叢吒吳吶呂員唸問啞啟喚喪喫喬單喲嗆嗇嗎嗚嗶嘆嘍嘔嘖嘗嘩嘮嘯嘰噓噥噯噴噸噹嚀嚇嚐嚕嚥嚨嚮嚴嚶囀囁囂囈囉囑囪國圍園圓圖團執堅堊堝堯報場塊塋塒塗塚塢塵塹墊墜墮墳墾壇壎壓壘壙壞壟壢壩壯壺壽夠夢夥夾奐奧奩" +
  "奪奮妝姊姍姦姪娛婁婦媧媼媽嫗嫵嫻嬈嬋嬌嬝嬤嬪嬰嬸孃孫學孿宮寢實寧審寫寬寵寶將專尋對導尷屆屍屜屢層屨屬岡峴島峽崑崗崙崢嵐嶄嶇嶔嶸嶺嶼巒巔巖帥師帳帶幀幃幗幟幣幫幹幾庫廁廂廄廈廚廝廟廠廢廣廬廳弒弔張強彆彈彌彎彙彥彿" +
  "後徑從徠復徬徵徹恆恥悅悵悶悽惡惱惻愛愜愴愷愾慄慇態慍慘慚慟慣慫慮慶慼慾憂憊憐憑憚憤憫憮憲憶懇應懍懣懲懶懷懸懺懼懾戀戰戲戶拋挾捨捫捲掃掄掙掛採揀揚換揮搆損搖搗搶搾摑摟摯摺摻撈撐撓撚撢撥撫撲撳撻撾撿擁擄擇擊擋擔據" +
  "擠擬擰擱擲擴擷擺擻擾攆攏攔攙攜攝攣攤攪攬敗敘敵數斂斃斕斬斷於昇時晉晝暈暉暘暢暫暱曄曆曇曉曖曠曬書會朧東柵桿梔條梟棄棗棟棧棲楊楓楨業極榮構槍槓槨槳樁樂樅樑樓標樞樣樸樹樺橈橋機橢橫檔檜檢檣檮檯檳檸檻櫃櫓櫚櫛櫝櫥櫬" +
  "櫺櫻欄權欖欽歎歐歟歡歲歷歸歿殘殤殮殯殲殺殼毀毆毬氈氣氫氬氳氾汎汙決沍沒沖況洩洶浹涇涼淒淚淨淪淵淺渙減渦測渾湊湧湯準溝溫溼滄滅滌滬滯滲滷滾滿漁漢漣漬漲漸漿潑潔潛潤潯潰澀澆澗澠澤澦澱濁濃濕濘濟濤濫濬濰濱濺濾瀆瀉瀋" +
  "瀏瀕瀘瀝瀟瀨瀰瀲瀾灑灘灣灤災為烏無煉煙煥煩煬熒熱熾燄燈燉燐燒燙燜營燦燬燭燴燻燼燾爍爐爛爭爺爾牆牘牽犖犢犧狀狹狽猙猶獄獅獎獨獰獲獵獷獸獺獻玀現琺琿瑣瑤瑩瑪瑯璣璦環璽瓊瓏瓔瓚甌甕產畝畢畫異當疇疊痙痠瘋瘍瘓瘡瘧瘺療" +
  "癆癒癘癟癡癢癥癩癬癮癱癲發皚皰皺盃盜盞盡監盤盧盪眾睏睜睞睪瞇瞞瞭瞼矓矚矯砲硯碩確碼磚磧磯礎礙礦礪礫礬祕祿禍禎禦禪禮禱禿秈稅稈稜稟種稱穀穌積穎穠穡穢穩穫窩窪窮窯窺竄竅竇竊競筆筍筧箇箋箏箝節範築篤篩簍簞簡簣簫簷簽" +
  "簾籃籌籐籟籠籤籬籮籲粵糝糞糧糰糾紀紂約紅紆紇紉紋納紐純紕紗紙級紛紜紡紮細紱紲紳紹紼絀終絃組絆結絕絛絞絡絢給絨絰統絲絳絹綁綏綑經綜綞綠綢綬維綰綱網綴綵綸綺綻綽綾綿緇緊緒緘緙線緝緞締緣編緩緬緯緲練緹緻縈縉縊縐縑縛" +
  "縝縞縣縫縮縱縲縴縵縷縹總績繃繅繆繒織繕繚繞繡繩繪繫繭繳繹繼繽續纏纓纔纖纜缽罈罌罰罵罷羅羈羋羨義羶習翹聖聞聯聰聲聳聶職聽聾肅脅脈脣脫脹腎腦腫腳腸膚膠膩膽膾膿臉臍臏臘臚臟臢臥臨臺與興舉舊艙艦艱艷芻苧茲荊莊莖莢莧華" +
  "菸萇萊萬萵葉著葦葷蒐蒞蒼蓀蓆蓋蓮蔔蔣蔥蔭蕩蕪蕭薊薑薔薦薩薺藉藍藝藥藪藷藹藺蘆蘇蘊蘋蘚蘭蘿處虛虜號虧蛻蜆蝕蝦蝨蝸螞螢螻蟈蟬蟯蟲蟻蠅蠍蠔蠟蠣蠱蠶蠻術衛衝袞裊補裝裡製複褲褸褻襖襠襤襪襬襯襲見規覓視覦親覬覲覺覽觀觴觸" +
  "訂訃計訊訌討訐訓訕訖託記訛訝訟訢訣訥訪設許訴訶診註証詁詆詐詔評詖詛詞詠詢詣試詩詫詬詭詮詰話該詳詼誅誇誌認誑誕誘誚語誠誡誣誤誥誦誨說誰課誶誹誼調諂諄談諉請諍諒論諛諜諦諧諫諭諮諱諳諶諷諸諺諼諾謀謁謂謄謊謎謐謗謙講" +
  "謝謠謨謫謬謹譁證譎譏識譙譚譜譟譫譯議譴護譽讀變讒讓讖讚讜豈豎豐豔豬貍貓貝貞負財貢貧貨販貪貫責貯貲貳貴貶買貸費貼貽貿賀賁賂賃賄賅資賈賊賑賒賓賜賞賠賡賢賣賤賦質賬賭賴賸賺賻購賽贅贈贊贍贏贓贖贗贛趕趙趨跡跤跼踐踡踴" +
  "蹕蹟蹣蹤蹺躂躉躊躋躍躑躓躡躪軀車軋軌軍軒軔軛軟軸軻軼軾較載輊輒輓輔輕輛輜輝輞輟輥輦輩輪輯輳輸輻輾輿轂轄轅轉轍轎轔轟轡辦辭辮辯農迴逕這連週進遊運過達違遙遜遞遠適遲遷選遺遼邁還邇邊邏邐郵鄉鄒鄧鄭鄰鄴酈醃醜醞醫醬醱" +
  "釀釁釅釋釐釗釘釙針釣釦釧釩釵鈉鈍鈐鈑鈔鈕鈞鈣鈴鈷鈸鈹鈽鈾鈿鉀鉅鉉鉋鉍鉑鉗鉚鉛鉤鉸鉻銀銅銑銓銖銘銜銨銬銲銳銷銻銼鋁鋅鋇鋒鋤鋪鋰鋸鋼錄錐錕錘錙錚錠錡錢錦錨錫錮錯錳錶鍊鍋鍍鍔鍚鍛鍥鍬鍰鍵鍾鎂鎊鎔鎖鎗鎘鎚鎢鎬鎮鎰鎳鏃" +
  "鏈鏍鏑鏗鏘鏜鏝鏟鏡鏢鏤鏨鏽鐃鐘鐫鐮鐲鐳鐵鐸鐺鑄鑑鑒鑠鑣鑰鑲鑷鑼鑽鑾鑿長門閂閃閉開閎閏閑閒間閔閘閡閣閥閨閩閭閱閻闆闈闊闋闌闐闔闕闖關闡闢阪陘陝陞陣陰陳陸陽隄隊階隕際隨險隱隴隸隻雋雖雙雛雜雞離難雲電霑霧霽靂靄靈靜" +
  "靦靨鞏韁韃韉韋韌韓韜韻響頁頂頃項順須頊頌預頑頒頓頗領頜頡頤頭頰頷頸頹頻顆題額顎顏顓願顛類顥顧顫顯顰顱風颯颱颳颶颺颼飄飛飢飩飪飭飯飲飴飼飽飾餃餅餉養餌餒餓餘餚餛餞餡館餵餽餾餿饅饉饑饒饗饜饞馬馭馮馱馳馴駁駐駑駒駕" +
  "駙駛駝駟駢駭駱駿騁騎騖騙騫騰騷騾驀驃驅驍驕驗驚驛驟驢驥驪骯髏髒體髖髮鬆鬍鬚鬢鬥鬧鬨鬱魎魘魚魯魷鮑鮪鮫鮭鮮鯀鯉鯊鯖鯛鯧鯨鯽鰍鰓鰥鰭鰱鰻鰾鱉鱔鱖鱗鱟鱷鱸鳥鳩鳳鳴鳶鴆鴉鴒鴕鴛鴣鴦鴨鴻鴿鵑鵝鵠鵡鵪鵬鵲鶉鶯鶴鷂鷓鷗鷥鷹" +
  "鷺鸚鸛鸞鹵鹹鹼鹽麗麥麩麵麼黃黌點黨黴黷鼇鼕鼴齊齋齒齜齟齡齣齦齧齪齬齲齷龍龐龔龜";

/** Character for character beside those above. */
const simple =
  "丢并干乱亘亚伫布占并来仑侣局系侠具伥俩仓个们幸仿伦伟侧侦伪杰伧伞备家佣偬传债伤倾仅戮侨仆侥雇价仪侬亿侩俭傧俦侪尽偿优储俪㑩傥俨凶兑儿兖内两册幂冻凛凯别删则克刹刚剥剀创铲划剧刘刽剑剂劲动勖务勋胜劳势勋励劝匀汇匮" +
  "区协恤却厌厉参丛咤吴呐吕员念问哑启唤丧吃乔单哟呛啬吗呜哔叹喽呕啧尝哗唠啸叽嘘哝嗳喷吨当咛吓尝噜咽咙向严嘤啭嗫嚣呓啰嘱囱国围园圆图团执坚垩埚尧报场块茔埘涂冢坞尘堑垫坠堕坟垦坛埙压垒圹坏垄坜坝壮壶寿够梦伙夹奂奥奁" +
  "夺奋妆姐姗奸侄娱娄妇娲媪妈妪妩娴娆婵娇袅嬷嫔婴婶娘孙学孪宫寝实宁审写宽宠宝将专寻对导尴届尸屉屡层屦属冈岘岛峡昆岗仑峥岚崭岖嵚嵘岭屿峦巅岩帅师帐带帧帏帼帜币帮干几库厕厢厩厦厨厮庙厂废广庐厅弑吊张强别弹弥弯汇彦佛" +
  "后径从徕复彷征彻恒耻悦怅闷凄恶恼恻爱惬怆恺忾栗殷态愠惨惭恸惯怂虑庆戚欲忧惫怜凭惮愤悯怃宪忆恳应懔懑惩懒怀悬忏惧慑恋战戏户抛挟舍扪卷扫抡挣挂采拣扬换挥构损摇捣抢榨掴搂挚折掺捞撑挠捻掸拨抚扑揿挞挝捡拥掳择击挡担据" +
  "挤拟拧搁掷扩撷摆擞扰撵拢拦搀携摄挛摊搅揽败叙敌数敛毙斓斩断于升时晋昼晕晖旸畅暂昵晔历昙晓暧旷晒书会胧东栅杆栀条枭弃枣栋栈栖杨枫桢业极荣构枪杠椁桨桩乐枞梁楼标枢样朴树桦桡桥机椭横档桧检樯梼台槟柠槛柜橹榈栉椟橱榇" +
  "棂樱栏权榄钦叹欧欤欢岁历归殁残殇殓殡歼杀壳毁殴球毡气氢氩氲泛泛污决冱没冲况泄汹浃泾凉凄泪净沦渊浅涣减涡测浑凑涌汤准沟温湿沧灭涤沪滞渗卤滚满渔汉涟渍涨渐浆泼洁潜润浔溃涩浇涧渑泽滪淀浊浓湿泞济涛滥浚潍滨溅滤渎泻沈" +
  "浏濒泸沥潇濑弥潋澜洒滩湾滦灾为乌无炼烟焕烦炀荧热炽焰灯炖磷烧烫焖营灿毁烛烩熏烬焘烁炉烂争爷尔墙牍牵荦犊牺状狭狈狰犹狱狮奖独狞获猎犷兽獭献猡现珐珲琐瑶莹玛琅玑瑷环玺琼珑璎瓒瓯瓮产亩毕画异当畴叠痉酸疯疡痪疮疟瘘疗" +
  "痨愈疠瘪痴痒症癞癣瘾瘫癫发皑疱皱杯盗盏尽监盘卢荡众困睁睐睾眯瞒了睑眬瞩矫炮砚硕确码砖碛矶础碍矿砺砾矾秘禄祸祯御禅礼祷秃籼税秆棱禀种称谷稣积颖秾穑秽稳获窝洼穷窑窥窜窍窦窃竞笔笋笕个笺筝钳节范筑笃筛篓箪简篑箫檐签" +
  "帘篮筹藤籁笼签篱箩吁粤糁粪粮团纠纪纣约红纡纥纫纹纳纽纯纰纱纸级纷纭纺扎细绂绁绅绍绋绌终弦组绊结绝绦绞络绚给绒绖统丝绛绢绑绥捆经综缍绿绸绶维绾纲网缀彩纶绮绽绰绫绵缁紧绪缄缂线缉缎缔缘编缓缅纬缈练缇致萦缙缢绉缣缚" +
  "缜缟县缝缩纵缧纤缦缕缥总绩绷缫缪缯织缮缭绕绣绳绘系茧缴绎继缤续缠缨才纤缆钵坛罂罚骂罢罗羁芈羡义膻习翘圣闻联聪声耸聂职听聋肃胁脉唇脱胀肾脑肿脚肠肤胶腻胆脍脓脸脐膑腊胪脏臜卧临台与兴举旧舱舰艰艳刍苎兹荆庄茎荚苋华" +
  "烟苌莱万莴叶着苇荤搜莅苍荪席盖莲卜蒋葱荫荡芜萧蓟姜蔷荐萨荠借蓝艺药薮薯蔼蔺芦苏蕴苹藓兰萝处虚虏号亏蜕蚬蚀虾虱蜗蚂萤蝼蝈蝉蛲虫蚁蝇蝎蚝蜡蛎蛊蚕蛮术卫冲衮袅补装里制复裤褛亵袄裆褴袜䙓衬袭见规觅视觎亲觊觐觉览观觞触" +
  "订讣计讯讧讨讦训讪讫托记讹讶讼䜣诀讷访设许诉诃诊注证诂诋诈诏评诐诅词咏询诣试诗诧诟诡诠诘话该详诙诛夸志认诳诞诱诮语诚诫诬误诰诵诲说谁课谇诽谊调谄谆谈诿请诤谅论谀谍谛谐谏谕谘讳谙谌讽诸谚谖诺谋谒谓誊谎谜谧谤谦讲" +
  "谢谣谟谪谬谨哗证谲讥识谯谭谱噪谵译议谴护誉读变谗让谶赞谠岂竖丰艳猪狸猫贝贞负财贡贫货贩贪贯责贮赀贰贵贬买贷费贴贻贸贺贲赂赁贿赅资贾贼赈赊宾赐赏赔赓贤卖贱赋质账赌赖剩赚赙购赛赘赠赞赡赢赃赎赝赣赶赵趋迹交局践蜷踊" +
  "跸迹蹒踪跷跶趸踌跻跃踯踬蹑躏躯车轧轨军轩轫轭软轴轲轶轼较载轾辄挽辅轻辆辎辉辋辍辊辇辈轮辑辏输辐辗舆毂辖辕转辙轿辚轰辔办辞辫辩农回迳这连周进游运过达违遥逊递远适迟迁选遗辽迈还迩边逻逦邮乡邹邓郑邻邺郦腌丑酝医酱酦" +
  "酿衅酽释厘钊钉钋针钓扣钏钒钗钠钝钤钣钞钮钧钙铃钴钹铍钸铀钿钾钜铉铇铋铂钳铆铅钩铰铬银铜铣铨铢铭衔铵铐焊锐销锑锉铝锌钡锋锄铺锂锯钢录锥锟锤锱铮锭锜钱锦锚锡锢错锰表炼锅镀锷钖锻锲锹锾键钟镁镑镕锁枪镉锤钨镐镇镒镍镞" +
  "链镙镝铿锵镗镘铲镜镖镂錾锈铙钟镌镰镯镭铁铎铛铸鉴鉴铄镳钥镶镊锣钻銮凿长门闩闪闭开闳闰闲闲间闵闸阂阁阀闺闽闾阅阎板闱阔阕阑阗阖阙闯关阐辟坂陉陕升阵阴陈陆阳堤队阶陨际随险隐陇隶只隽虽双雏杂鸡离难云电沾雾霁雳霭灵静" +
  "腼靥巩缰鞑鞯韦韧韩韬韵响页顶顷项顺须顼颂预顽颁顿颇领颌颉颐头颊颔颈颓频颗题额颚颜颛愿颠类颢顾颤显颦颅风飒台刮飓飏飕飘飞饥饨饪饬饭饮饴饲饱饰饺饼饷养饵馁饿余肴馄饯馅馆喂馈馏馊馒馑饥饶飨餍馋马驭冯驮驰驯驳驻驽驹驾" +
  "驸驶驼驷骈骇骆骏骋骑骛骗骞腾骚骡蓦骠驱骁骄验惊驿骤驴骥骊肮髅脏体髋发松胡须鬓斗闹哄郁魉魇鱼鲁鱿鲍鲔鲛鲑鲜鲧鲤鲨鲭鲷鲳鲸鲫鳅鳃鳏鳍鲢鳗鳔鳖鳝鳜鳞鲎鳄鲈鸟鸠凤鸣鸢鸩鸦鸰鸵鸳鸪鸯鸭鸿鸽鹃鹅鹄鹉鹌鹏鹊鹑莺鹤鹞鹧鸥鸶鹰" +
  "鹭鹦鹳鸾卤咸碱盐丽麦麸面么黄黉点党霉黩鳌冬鼹齐斋齿龇龃龄出龈啮龊龉龋龌龙庞龚龟";

/** Words, each once or each with how much it counts. */
type WordBag = ReadonlySet<string> | ReadonlyMap<string, number>;

/**
 * How much two bags of words have in common: 0 nothing, 1 everything (the weighted Jaccard index). The one measure
 * behind every "are these two the same"; each rule names its own threshold.
 */
export function measureSimilarity(a: WordBag, b: WordBag): number {
  const shared = sharedWeight(a, b);
  return shared === 0 ? 0 : shared / (totalWeight(a) + totalWeight(b) - shared);
}

/** The weight of the words that are in both bags. */
export function sharedWeight(a: WordBag, b: WordBag): number {
  let shared = 0;
  for (const word of a.keys()) if (b.has(word)) shared += Math.min(weigh(a, word), weigh(b, word));
  return shared;
}

export function totalWeight(bag: WordBag): number {
  return "get" in bag ? [...bag.values()].reduce((total, weight) => total + weight, 0) : bag.size;
}

function weigh(bag: WordBag, word: string): number {
  return "get" in bag ? (bag.get(word) ?? 0) : 1;
}

/** Words that two sets which overlap enough must share among their rarest. */
const sharedRarest = 3;

/**
 * Finds the items whose words may overlap by a share. Two sets that do have so many words in common that the first few
 * of those, in the order of rarity, are among the rarest words of both: only these are looked up, and the common words
 * that all have are not.
 */
export function createOverlapSearch<Item>(
  pool: readonly Item[],
  wordsOf: (item: Item) => ReadonlySet<string>,
  share: number,
): (item: Item) => Item[] {
  const times = new Map<string, number>();
  for (const item of pool) for (const word of wordsOf(item)) times.set(word, (times.get(word) ?? 0) + 1);
  const rank = (word: string) => times.get(word) ?? 0;
  const listRarest = (item: Item) => {
    const words = [...wordsOf(item)].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
    const needed = Math.ceil(share * words.length - 1e-9);
    return { words: words.slice(0, words.length - needed + sharedRarest), needed };
  };
  const known = new Map(pool.map((item) => [item, listRarest(item)]));
  const index = new Map<string, number[]>();
  for (const [at, { words }] of [...known.values()].entries())
    for (const word of words) {
      const having = index.get(word);
      if (having) having.push(at);
      else index.set(word, [at]);
    }
  // Counts are never cleared: each search starts counting above whatever the searches before it reached.
  const counts = new Int32Array(pool.length);
  let start = 0;
  return (item) => {
    const { words, needed } = known.get(item) ?? listRarest(item);
    const enough = start + Math.max(1, Math.min(sharedRarest, needed));
    const found: Item[] = [];
    for (const word of words)
      for (const at of index.get(word) ?? []) {
        const count = Math.max(counts[at] ?? 0, start) + 1;
        counts[at] = count;
        if (count === enough) found.push(pool[at] as Item);
      }
    start += words.length + 1;
    return found;
  };
}
