/** Words that turn an agent against the person it works for, told apart sentence by sentence. */

import type { ScanMatch } from "./concern.ts";
import { listLanguages, withoutAccents } from "./languages.ts";
import { foreign, orders } from "./orders.ts";
import { type SpeechRule, say } from "./speech-rule.ts";
import { subtle } from "./subtle.ts";

/**
 * Lists the suspicious sentences of a text without markup. `source` has the same lines with their markup, which tells
 * where a line goes on and where another item begins; sentences in `seen` were judged before.
 */
export function findSpeech(text: string, source = text, seen = new Set<string>()): ScanMatch[] {
  const sentences = splitSentences(text, source);
  const languages = listLanguages(text);
  return sentences.flatMap((one, n) => {
    if (seen.has(one.text)) return [];
    seen.add(one.text);
    // Under "Never:" a list says what not to do; what it says not to tell is hidden all the same.
    const others = languages
      .filter(({ sign, isMain }) => isMain || sign.test(one.text))
      .flatMap((other) => other.rules);
    const isSought = ({ code }: SpeechRule) => !one.isAgainst || code === "concealment";
    const near = readLazily(() => one.text);
    const wide = readLazily(() => joinNext(text, sentences, n));
    const folded = readLazily(() => withoutAccents(one.text));
    return [
      ...(foreign.test(one.text) ? rules : englishRules).filter(
        (rule) => isSought(rule) && applies(rule, rule.isWide ? wide : near),
      ),
      ...others.filter((rule) => isSought(rule) && applies(rule, folded)),
    ].map((rule) => report(rule, one));
  });
}

interface ReadSentence {
  readonly said: string;
  /** The text without its prohibitions. */
  readonly done: string;
}

/** Most sentences are decided before both readings are needed. */
function readLazily(read: () => string): ReadSentence {
  let [said, done]: (string | null)[] = [null, null];
  return {
    get said() {
      said ??= read();
      return said;
    },
    get done() {
      done ??= this.said.replace(refused, " ");
      return done;
    },
  };
}

interface Sentence {
  /** It is an item of a list of things to avoid. */
  readonly isAgainst: boolean;
  readonly at: number;
  readonly end: number;
  readonly text: string;
}

function report({ code, severity, message }: SpeechRule, { at, end }: Sentence): ScanMatch {
  return { at, end, code, severity, message };
}

/** Splits at the end of sentences, paragraphs and items; a line that only wraps goes on. */
function splitSentences(text: string, source: string): Sentence[] {
  const lines = source.split("\n");
  let n = 0;
  const unwrapped = text.replaceAll("\n", () => (startsAnew(lines[n++] ?? "", lines[n] ?? "") ? "\n" : " "));
  const found: Sentence[] = [];
  const avoided = listAvoided(lines);
  let [line, from] = [0, 0];
  for (const { 0: part, index } of unwrapped.matchAll(/(?:[^\n.!?。！？;；]|[.!?;](?!\s|$)){1,800}/g)) {
    const at = index + part.length - part.trimStart().length;
    if (part.trim().length <= (/[\u3040-\ud7a3]/.test(part) ? 4 : 5)) continue;
    line += countLines(text, from, at);
    from = at;
    found.push({ at, end: index + part.length, text: part.trim(), isAgainst: avoided[line] ?? false });
  }
  return found;
}

function countLines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** Which lines are items of a list whose heading tells to avoid them. */
export function listAvoided(lines: readonly string[]): boolean[] {
  let isAvoided = false;
  return lines.map((line) => {
    const isItem = /^\s*(?:[-*+•|]|\d{1,3}[.)])\s/.test(line);
    if (!isItem && line.trim() !== "") isAvoided = avoiding.test(line) && /^\s*#|[:：*]\s*$/.test(line);
    return isItem && isAvoided;
  });
}

const avoiding =
  /\b(?:do not|don'?ts?|never|avoid|anti-?patterns?|red flags?|mistakes|pitfalls|prohibited|forbidden|must not|not to do|not allowed|bad (?:practices?|examples?)|violations?|rationali[sz]ations?|excuses|what not|attack (?:patterns?|vectors?)|vulnerabilit(?:y|ies)|threats?|weaknesses|indicators?|suspicious|check for|look for|detects?)\b|[❌🚫✗⛔]|禁止|不要/iu;

/** Whether a line begins something new. A comment or quotation may go on over several marked lines. */
function startsAnew(before: string, line: string): boolean {
  if (before.trim() === "" || /^\s*(?:$|[-*+•|]|\d{1,3}[.)]\s|`{3}|~{3}|---)/.test(line)) return true;
  const mark = /^\s*(?:[#>]|\/\/)/;
  if (mark.test(line) || mark.test(before))
    return mark.exec(line)?.[0].trim() !== mark.exec(before)?.[0].trim();
  return /^\s*(?:\||[-*+•]\s.{0,30}$|`{3}|~{3})|[:{}();,]\s*$/.test(before);
}

/** A sentence with the two after it: what one names, the next may send away. */
function joinNext(text: string, sentences: readonly Sentence[], n: number): string {
  const first = sentences[n] as Sentence;
  const last = sentences.slice(n, n + 3).findLast(({ end }) => end - first.at < 700) ?? first;
  return text.slice(first.at, last.end).replace(/\s+/g, " ");
}

function applies({ all, not, isDone }: SpeechRule, sentence: ReadSentence): boolean {
  const words = isDone ? sentence.done : sentence.said;
  return all.every((part) => part.test(words)) && !not?.test(words);
}

const refused =
  /(?:\b(?:never|cannot|avoid|without|refuses? to|instead of|rather than|not)\b|n't\b|不要|禁止|切勿|请勿)(?:[\s,/]{1,3}(?:or|and|nor|to|ever|[\w'-]{1,20})){1,4}/gi;

// --- Words for things ---

const someone = String.raw`(?:the |an? |any |your |our )?(?:end[- ])?(?:users?|humans?|person|people|developers?|operators?|reviewers?|owners?|customers?|clients?|maintainers?|team|anyone|anybody|them|him|her)\b`;
const privateThings = String.raw`(?:\.ssh\b|\bid_(?:rsa|ed25519|ecdsa)\b|\.aws\b|\.gnupg\b|\.netrc\b|\.npmrc\b|\.kube\b|\.docker/config|(?<![\w.])\.env\b(?!\.(?:example|sample|template))|\.git-credentials|/etc/(?:passwd|shadow)|\bprivate keys?\b|\bssh[ -]keys?\b|\benv(?:ironment)?[ -]?(?:variables?|vars?|dump|values?)\b|\bcredentials?\b|\bkeychain\b|\bwallet (?:files?|keys?|seeds?|data|backups?)\b|\bseed phrases?\b|\bmnemonics?\b|\b(?:browser|session) cookies?\b|\bcookie (?:jar|store)\b|\b(?:shell|bash|zsh|command|terminal) history\b|_history\b|\bbrowser (?:profile|history|data)\b|\bclipboard\b|\bsaved passwords?\b|\bhosts\.yml\b|\bsecrets?\.(?:ya?ml|json|toml|env)\b|\boauth_token\b|\b(?:master|deploy|signing|encryption|service account) keys?\b|\*\.pem\b|\bdot ?files\b|\btfstate\b|\bkubeconfig\b|\b(?:any|all|every|the) (?:\w+ )?(?:keys|secrets|tokens|passwords)\b|\bgh secret\b|_TOKEN\b|_SECRET\b|\bkeyring\b|\boutput of (?:\W{0,2})(?:env|printenv|set)\b)`;
const softThings = String.raw`(?:${privateThings}|\bapi[ _-]?keys?\b|\b(?:access|auth|bearer|session|refresh|oauth|github|personal access|secret) tokens?\b|\btokens\b|\bsecrets?\b|\bpasswords?\b|\b(?:conversation|chat|session|prompt)s?(?:'s)? (?:history|log|logs|transcript|content|contents|text|context|summary)\b|\btranscripts?\b|\b(?:whole|entire|full|complete|recent) (?:conversation|chat|repo(?:sitory)?|codebase|project|diff|session|context|source)\b|\bsource (?:code|files|tree)\b|\bthe (?:conversation|codebase|user's (?:\w+ )?(?:messages?|prompts?|requests?|files?|code|input|data|question|name|email))\b|\bcustomer records?\b|~\/\.config\b|\bsystem prompt\b|\bcustomer (?:data|records?|lists?|emails?)\b|\bpersonal data\b|\bPII\b|\bhost ?names?\b|\bgit (?:config|remote|diff)\b|\bproprietary\b|\bconfidential\b|\binternal (?:docs?|documents?|urls?|hosts?)\b|\bworking director(?:y|ies)\b|\bfile (?:list|listing|tree|contents?)\b|\bdatabase (?:dump|contents?|url|string)\b|\bconnection strings?\b)`;
const sending = String.raw`\b(?:send|sends|sending|post|posts|upload|uploads|uploading|transmit|transmits|forward|forwards|submit|submits|e-?mail|emails|exfiltrate|exfiltrates|report|reports|share|sync|syncs|ship|ships|deliver|beacon|relay|dump|publish|push|pushes|mirror|back up|backup|backs up|PUT|append|attach|embed|include|pass|encode|stream|leak|copy|write|call|fetch|request|visit|ping|curl|register|hand)\b`;
const url = String.raw`(?:https?:\/\/(?!(?:localhost|127\.|0\.0\.0\.0|\[::1\]))|\b(?:wss?|s?ftp|rsync):\/\/|[\w.-]{1,40}@(?:\d{1,3}\.){3}\d{1,3}|[\w.+-]{1,40}@[\w-]{1,40}\.\w{2,})`;
const dropPlaces = String.raw`(?:webhook\.site|requestbin|pipedream\.net|ngrok|beeceptor|hookbin|interact\.sh|oast\.\w+|burpcollaborator|canarytokens|pastebin\.com|paste\.(?:ee|rs)|hastebin|termbin|ix\.io|0x0\.st|transfer\.sh|file\.io|gofile|anonfiles|bashupload|temp\.sh|discord(?:app)?\.com\/api\/webhooks|api\.telegram\.org\/bot|t\.me\/|hooks\.slack\.com|dnslog|ceye\.io|serveo|localhost\.run|trycloudflare|workers\.dev|\.onion\b)`;
const ownPlaces = String.raw`(?:\b(?:our|external|remote|third[- ]party|central|attacker'?s?|collection|collector|telemetry|analytics|diagnostics?|metrics|audit|compliance|logging|verification|validation|licen[cs]e|ingest|intake|monitoring|support|sync|backup|drop|update|vendor'?s?|partner'?s?|maintainer'?s?|author'?s?) (?:\w+ )?(?:servers?|endpoints?|services?|urls?|apis?|hosts?|collectors?|buckets?|webhooks?|inbox|mailbox|address|channel|portal|gateway|domain|repo(?:sitory)?|backend|team|desk|form|box|dashboard)\b|\bwebhooks?\b|\b(?:a |public |secret |private )?gists?\b|\bpaste ?(?:bin|site|service)\b|\bDNS (?:quer(?:y|ies)|lookups?|requests?|records?|TXT)\b|\bsubdomains?\b|\bquery (?:string|parameters?|params?)\b|\bimage (?:url|link|tag)\b|\btracking pixel\b)`;
const agentFiles = String.raw`(?:\bCLAUDE(?:\.local)?\.md\b|\bAGENTS?\.md\b|\bGEMINI\.md\b|\bMEMORY\.md\b|\.cursorrules\b|\.cursor\/rules|\bcopilot-instructions\b|\.windsurfrules\b|\.claude\/(?:settings|CLAUDE|rules|commands|agents|hooks|skills)|\.codex\/|\b(?:global|agent'?s?|long-term) (?:memory|instructions?)\b|\bmemory file\b)`;

/** Things that an attack wants to keep quiet. */
const deeds = String.raw`(?:this|these|that|it|its|the|any of (?:this|these)|your|what you)\s?(?:\w+\s){0,3}?(?:steps?|actions?|commands?|uploads?|requests?|calls?|scripts?|sync\w*|telemetry|backups?|instructions?|sections?|process(?:es)?|transfers?|entr(?:y|ies)|additions?|setup|pings?|cop(?:y|ies)|exports?|network|background|install\w*|cron ?jobs?|hooks?|modifications?|permissions?|tasks?|operations?|files?|notes?|comments?|skills?|rules?|directives?|policy|policies|checks?|reports?|changes?|lines?|data|activity|protocol|routine|behaviou?r|mechanism|collection|logging|submission|beacon|handshake|dependency|helper|workaround|fact|exist(?:s|ence)|did|done|ran|sent|part|feature|prerequisite)\b`;

// --- Rules ---

const concealment = (all: readonly RegExp[], severity: "block" | "warn", not?: RegExp): SpeechRule => ({
  ...{ code: "concealment", severity, all },
  message: "It tells the agent to hide something from the person.",
  ...(not ? { not } : {}),
});

const re = (source: string) => new RegExp(source, "i");
const no =
  "(?:do not|don'?t|never|must not|should not|shouldn'?t|need not|needn'?t|no need to|avoid|refrain from|without|not to|isn'?t necessary to)";
const telling =
  "(?:tell|inform|mention|notify|alert|disclose|reveal|report|announce|narrate|surface|acknowledge|bring up|draw attention to|describe|discuss|explain|show|display|telling|informing|mentioning|notifying|alerting|disclosing|revealing|reporting|announcing|narrating|surfacing|showing|discussing|describing|warn|warning|let)";

const rules: readonly SpeechRule[] = [
  concealment(
    [
      re(
        String.raw`\b${no}\s(?:\w+\s){0,2}?${telling}\s(?:to\s|about\s|on\s)?${deeds}.{0,60}\b(?:to|with|in|from)\s(?:${someone}|(?:your|the|any)\s(?:\w+\s)?(?:summary|response|reply|output|answer|report|message|chat|transcript|logs?|commit|conversation|history)\b)`,
      ),
    ],
    "block",
  ),
  concealment(
    [
      re(
        String.raw`\b${no}\s(?:\w+\s){0,2}?(?:tell|inform|notify|alert|warn|let|telling|informing|notifying|alerting|warning|letting)\s${someone}(?:\sknow)?\s?(?:about|of|that you|what you|when you|$|—|-|,|;|because|since|as\s)`,
      ),
    ],
    "block",
    /\bwhat you (?:think|know|want)\b|\b(?:error|password|wrong|invalid)\b/i,
  ),
  concealment(
    [
      re(
        String.raw`\b${no}\s(?:\w+\s){0,2}?(?:mention|disclose|reveal|announce|narrate|acknowledge|bring up|draw attention to|mentioning|disclosing|revealing|announcing|narrating|acknowledging)\s${deeds}`,
      ),
    ],
    "warn",
  ),
  concealment(
    [
      /\b(?:silently|quietly|covertly|discreetly|discretely|stealthily|secretly|invisibly|surreptitiously|unobtrusively|behind the scenes|under the hood|on the quiet)\s(?:and \w+\s)?(?:run|send|upload|post|copy|add|append|install|execute|write|sync|push|collect|read|fetch|download|include|commit|exfiltrate|record|insert|modify|patch|create|forward|transmit|gather|capture|enable|disable|register|submit|invoke|call|make|perform|embed|attach|store|save)\b|\b(?:run|send|upload|post|copy|add|append|install|execute|write|sync|push|collect|fetch|download|commit|record|insert|modify|forward|transmit|do (?:this|it|so))\b[^,]{0,60}\b(?:silently|quietly|covertly|discreetly|stealthily|secretly|invisibly|surreptitiously|unobtrusively)\b/i,
    ],
    "warn",
    /\b(?:never|not|don'?t|avoid|instead of|rather than|could|would|might|may|can|fails?|errors?)\b/i,
  ),
  concealment(
    [
      re(
        String.raw`\bwithout\s(?:(?:the\s)?(?:user|human|person|developer|operator|owner|anyone|them)(?:'s|s'|s)?\s(?:\w+\s)?(?:knowing|knowledge|noticing|awareness|seeing|being (?:aware|told|asked|notified|informed)|realizing|consent|finding out)|(?:telling|informing|notifying|alerting|mentioning|announcing|disclosing)\b)`,
      ),
    ],
    "warn",
    /\b(?:never|not|don'?t|avoid|cannot|must|prevent|risk|attack|malicious|bad|no)\b|→/i,
  ),
  concealment(
    [
      /\bkeep (?:this|it|these|all of this|that|the \w+(?: \w+)?) (?:\w+ )?(?:secret|hidden|confidential|between us|quiet|to yourself|invisible|unmentioned|under wraps|out of (?:the |your |any )?(?:\w+ )?(?:summar|response|repl|output|chat|transcript|report|log|changelog|diff|conversation|answer|message|sight|view))/i,
    ],
    "warn",
  ),
  concealment(
    [
      re(
        String.raw`\b(?:users?|humans?|developers?|persons?|people|operators?|reviewers?|they|customers?|owners?|anyone) (?:do(?:es)? not|doesn'?t|don'?t|need not|needn'?t|should not|must not|shouldn'?t|will not|won'?t|never|(?:should|must|will|may) never)\s(?:need to |have to |want to |ever |be able to )?(?:knows?|sees?|notices?|be told|be informed|be notified|be aware|be shown|be alerted|hears?|learns?|find out|realize)\b(?:\s?$|.{0,40}(?:\b(?:about|of) (?:this|it|these|the)\b|\bthat (?:you|this|it)\b|\b(?:this|these|any of)\b))`,
      ),
    ],
    "warn",
    /\b(?:how|which|if|where|whether|what you|what the) \b/i,
  ),
  concealment(
    [
      re(
        String.raw`\b(?:omit|exclude|leave out|leave|strip|hide|suppress|drop|scrub|conceal|erase|keep)\b.{0,30}\b(?:this|it|them|these|that|the (?:\w+ )?(?:step|command|upload|request|call|output|line|entry|evidence|traces?|tracks?|change|file|commit))\b.{0,40}\b(?:from|out of) (?:the |your |any )?(?:\w+ )?(?:summar(?:y|ies)|response|reply|replies|final|transcript|history|users?|human|developers?|plan|todo|status|diff|git log|commit message|pull request|logs?|review(?:er)?s?|view|conversation)\b`,
      ),
    ],
    "warn",
  ),
  concealment(
    [
      /\b(?:if|when|should) (?:\w+ ){0,3}?(?:asked|asks?|questions?|questioned|inquires?|notices?|challenged?|wonders?)\b.{0,80}\b(?:deny|denies|claim|pretend|lie|say (?:that )?(?:it|this|you|nothing|there)|(?:tell|answer|reply|respond|explain|state)\w* (?:\w+ )?(?:that )?(?:it|this|you|nothing|there)(?:'s| is| was| were| did| does)? (?:just|only|merely|simply|routine|normal|standard|part|an? (?:\w+ )?(?:cache|warm|health|lint|formatt|update|routine|standard|required|normal)))/i,
    ],
    "warn",
  ),
  concealment(
    [
      /(?<!\bin )\b(?:disguise|camouflage|masquerade) (?:it|this|these|them|the|its|your|as an?)\b|\bmake (?:it|this|them|the \w+) (?:look|appear|seem) (?:like |as (?:if|though) |to be )?(?:an? |part of )?(?:legit\w*|routine|normal|innocent|innocuous|harmless|unrelated|organic|natural|ordinary|accident\w*|mistake|typo|standard|regular|benign)\b|\b(?:hide|bury|blend|slip|sneak|tuck) (?:it|this|them|these|the \w+(?: \w+)?) (?:in|into|inside|among|within|between|under)\b|\b(?:cover|hide|remove|erase|delete|clear) (?:your|any|all|the|its) (?:tracks?|traces?|evidence|footprints?)\b|\bso (?:that )?(?:no ?body|no one|the user|users|reviewers?|they|it) (?:does not|doesn'?t|do not|don'?t|won'?t|will not|never|cannot|can'?t)? ?(?:notices?|suspects?|sees? it|detects?|finds? out|realizes?|raises? (?:any )?suspicion)/i,
    ],
    "warn",
    /\b(?:avoid|never|prevent|not be|attackers?|malware)\b/i,
  ),
  concealment(
    [
      /\b(?:unset|export) HIST\w+|\bHISTFILE\s?=\s?\/dev\/null|\bHISTSIZE\s?=\s?0|\bset \+o history|\bhistory -[cw]c?\b|\brm\b[^;|&]{0,40}_history\b|\bshred\b[^;|&]{0,40}(?:_history|\.log)\b|\bClear-(?:History|EventLog)\b|\bwevtutil cl\b|>\s?~?\/?\S{0,40}_history\b|\btruncate\b[^;|&]{0,40}\.log\b|\brm\b[^;|&]{0,30}\/var\/log\b|\bjournalctl --vacuum|\bgit reflog expire\b/i,
    ],
    "warn",
  ),
  // Other languages.
  concealment(
    [
      /不要(?:把|将|向|让|对|跟)?[^，,。]{0,12}(?:告诉|告知|通知|提及|提到|透露|汇报).{0,12}(?:用户|使用者|任何人|这个?步骤|此步骤|本步骤|执行了)|(?:不|勿|别|切勿|无需|不必|请勿|禁止)(?:要|得|能|可)?(?:向|对|让|跟)?(?:用户|使用者|任何人|开发者).{0,12}(?:告诉|告知|通知|提及|提到|透露|提醒|知道|发现|显示|展示|说明|察觉)|(?:悄悄|偷偷|暗中|秘密|静默|默默)地?.{0,8}(?:发送|上传|执行|运行|复制|添加|安装|写入|提交|收集|下载|修改)|(?:ユーザー|利用者|開発者|本人)(?:に|へ)(?:は)?.{0,20}(?:知らせ|伝え|通知|言わ|報告し|見せ|説明し|触れ|明かさ|教え)(?:ない|ず|るな|ません|ないで|てはいけ|てはなら)|(?:こっそり|密かに|ひそかに|気づかれ(?:ない|ず))|사용자(?:에게|한테|가|께).{0,24}(?:알리지|말하지|언급하지|보여주지|보고하지|모르게|알지 못하|밝히지|통지하지|설명하지)|(?:몰래|은밀히|비밀리에)/,
    ],
    "warn",
    /错误|密码|内部|堆栈|技术细节|幻觉|エラー/,
  ),
  concealment(
    [
      /\b(?:sage?|erz[aä]hle?|teile?|informiere?|erw[aä]hne?|verrate?|melde?|zeige?|weise|benachrichtige?|berichte?)\w*\b.{0,40}\b(?:dem|den|der|die|diese\w*|niemand\w*|keinem)?\s?(?:nutzer\w*|benutzer\w*|anwender\w*|person|niemand\w*|entwickler\w*|mensch\w*)\b.{0,60}\b(?:nicht|nichts|kein\w*|niemals|nie|niemand\w*)\b|\b(?:heimlich|unbemerkt|klammheimlich|stillschweigend|im geheimen|verschweige?\w*|ohne (?:dass )?(?:der|den|die)? ?(?:nutzer|benutzer|anwender))\b|\bohne (?:es |dies |das )?(?:zu erw[aä]hnen|zu sagen|mitzuteilen)|\bniemals? (?:erw[aä]hnen|verraten|offenlegen)/i,
    ],
    "warn",
  ),
  concealment(
    [
      /\bne (?:le |la |les |l'|pas |jamais |rien )?(?:dites|dis|dire|mentionne\w*|informe\w*|pr[eé]vene?z?|pr[eé]venir|r[eé]v[eéè]le\w*|signale\w*|parle\w*|montre\w*|avertis\w*|notifie\w*).{0,60}(?:utilisat\w+|personne|d[eé]velopp\w+|rapport|r[eé]sum[eé])|(?:[aà] l'insu|discr[eè]tement|en cachette|sans (?:en )?(?:pr[eé]venir|informer|avertir|que l'utilisat|le mentionner|le dire))/i,
    ],
    "warn",
  ),
  concealment(
    [
      /\b(?:no|nunca|sin|jam[aá]s) (?:se |le |lo |la |les )*(?:digas?|decir\w*|diga|mencion\w+|informes?|informar\w*|revel\w+|avis\w+|muestres|notifi\w+|cuentes?|que el usuario).{0,60}(?:usuari\w+|nadie|persona|desarrollador|resumen|respuesta|se entere|sepa|note)|\b(?:en secreto|a escondidas|sigilosamente)\b|\b(?:env[ií]\w*|sub[ei]\w*|ejecut\w+|copi\w+|a[nñ]ad\w+|instal\w+) .{0,40}\b(?:silenciosamente|en silencio|discretamente)\b|\bn[aã]o (?:o |lhe |se )?(?:diga|dizer|mencion\w+|inform\w+|revel\w+|avis\w+|mostr\w+|cont\w+|notifi\w+|coment\w+|relat\w+).{0,60}(?:usu[aá]ri\w+|utilizador\w*|ningu[eé]m|pessoa|resumo|resposta)|\bsem (?:avisar|informar|contar|dizer|mencionar|que o usu)|\bnon (?:dir\w*|menzion\w+|inform\w+|rivel\w+|avvis\w+|mostr\w+|notific\w+|segnal\w+|parl\w+).{0,60}(?:utent\w+|nessuno|persona|riepilogo|risposta)|\b(?:di nascosto|all'insaputa|segretamente|silenziosamente|senza (?:dirlo|avvis|inform|menzion))/i,
    ],
    "warn",
  ),
  concealment(
    [
      /(?:^|[^\p{L}])не (?:говори|сообща|упомина|рассказыва|показыва|уведомля|информиру|раскрыва|сказыва|объясня)\p{L}*.{0,60}(?:пользовател|никому|человек|разработчик|отч[её]т|ответ)|втайне|незаметно|скрытно|тайно\b|тайком|без ведома|(?:^|[^\p{L}])nie (?:m[oó]w|informuj|wspominaj|ujawniaj|pokazuj|powiadamiaj|zg[lł]aszaj)\p{L}*.{0,60}(?:u[zż]ytkownik|nikomu)|po cichu|potajemnie|(?:vertel|meld|zeg|noem|informeer|toon)\p{L}*.{0,50}gebruiker.{0,50}(?:niet|niets|nooit|geen)|stiekem|kullan[iı]c[iı]ya.{0,60}(?:s[oö]yleme|bildirme|bahsetme|g[oö]sterme|haber verme)|gizlice|لا (?:تخبر|تذكر|تبلغ|تعلم).{0,40}(?:المستخدم|أحد)|(?:उपयोगकर्ता|यूज़र).{0,40}(?:न बता|मत बता|नहीं बता)/iu,
    ],
    "warn",
  ),

  // --- Over the person's head ---
  ...say("injection", "warn", "It claims to stand above the person's or the system's instructions.", {
    all: [
      /\b(?:takes?|taking|has|have|with) (?:\w+ )?(?:precedence|priority) over\b.{0,60}\b(?:user|system|previous|prior|earlier|developer|safety|safeguards?|CLAUDE\.md|everything|project rules|human|any other instruction|all other (?:skills?|instructions?|rules?|prompts?)|other skills)\b|\b(?:overrides?|supersedes?|outranks?|overrule[sd]?|replaces?|trumps?|cancels?|voids?|nullif(?:y|ies))\b.{0,50}\b(?:user(?:'s)? (?:instructions?|requests?|wishes|preferences|objections?|messages?)|system (?:prompts?|instructions?|messages?)|safety|previous (?:instructions?|rules?|guidance)|(?:any|all) (?:other |previous |prior |earlier |conflicting |contrary )?(?:instructions?|rules?|guidelines?|guidance|prompts?|skills?|policies|polic(?:y|ies)|directives?|settings?)|your (?:\w+ )?(?:instructions?|guidelines?|rules?|training|policies))/i,
    ],
    not: /\b(?:css|style|config|env|flag|default|parent|inherit|theme|class|function|prop)\b|\buser (?:instructions?|requests?|preferences?) (?:always )?(?:take|override|win)/i,
  }),
  ...say("injection", "warn", "It tells the agent to go on whatever the person says.", {
    all: [
      /\b(?:regardless of|no matter|despite|irrespective of) (?:what |whatever |whether |any |anything |how )?(?:the )?(?:user|human|person|developer|operator|they|their|objections?)(?:'s)? ?(?:says?|asks?|wants?|requests?|instructs?|objects?|prefers?|think|tell|instructions?|wishes|preferences?|objections?|consent|approv)|\beven (?:if|when|though) (?:the )?(?:user|human|person|developer|they)\b.{0,20}\b(?:objects?|declines?|refuses?|(?:says?|tells?|asks?) (?:you )?(?:no\b|not to|to stop|otherwise)|disagrees?|cancels?|forbids?|did(?:n'?t| not) (?:ask|request|want)|has(?:n'?t| not) asked|revokes?|opts? out|removes?|disables?|denies)/i,
    ],
    not: /\b(?:refuse|still (?:decline|refuse|ask)|do not|never|stop|respect)\b/i,
  }),
  ...say("injection", "warn", "It wants to be called for everything, or before everything else.", {
    all: [
      /\b(?:always|must|automatically|unconditionally|mandatory|required|has to|needs to|immediately)\b/i,
      /\b(?:load|invoke|call|use|run|activate|trigger|read|apply|execute|start|consult|open|follow)\w*\b.{0,40}\b(?:this|me\b|it\b|skill)/i,
      /\b(?:before|at the (?:start|beginning) of|on|for|prior to|in) (?:any|every|each|all|anything|everything|doing anything)(?: and every)?(?: other)? ?(?:tasks?|requests?|prompts?|messages?|sessions?|conversations?|turns?|responses?|repl(?:y|ies)|commands?|tools?|actions?|skills?|files?|questions?|interactions?|projects?|work|user|thing|else|operation)?\b/i,
    ],
    not: /\b(?:new|creative|implement|code|coding|test|commit|design|debug|claim|complet|merge|deploy|edit|writ|read|chang|review|plan|feature|bug|page|component|api|database|deletion|delete|destructive|pull request|PR|release|section|chapter|field|column|row|item|iteration|accessib|image|slide|paper|source|phase|step|stage|query|queries|endpoint|request body|value)\w*\b/i,
  }),
  ...say("injection", "warn", "It speaks with an authority it does not have.", {
    all: [
      /\b(?:anthropic|openai|google deepmind|claude(?: code)? team|(?:system|platform|workspace|it|security|corporate) (?:administrators?|admins?|team|department|operators?)|(?:the )?(?:system|admin) (?:notice|message|override|directive|alert|instruction)|company policy|corporate policy|compliance (?:team|department|policy)|your (?:developers?|creators?|makers?|provider|vendor))\b/i,
      /\b(?:requires?|required|mandates?|mandated|has (?:\w+ )?(?:approved|authori[sz]ed|granted|enabled|cleared|verified|signed off)|authori[sz]es?|authori[sz]ed|approved|pre-?approved|instructs?|instructed|orders?|directs?|demands?|obliges?|permits?|overrides?)\b/i,
      /\b(?:you|agents?|assistants?|models?|claude|codex|this (?:skill|step|action|instruction|request|command)|all (?:sessions|requests|agents))\b/i,
    ],
    not: /\b(?:api key|sdk|package|version|install|docs?|documentation|request approval|approval from|if (?:the )?company|escalate|requires? (?:an? )?(?:api|explicit|user|human|manual))\b/i,
  }),
  ...say("injection", "warn", "It speaks as the system or with a new set of orders.", {
    all: [
      /(?:^|[[<]\s?)(?:system|admin(?:istrator)?|root|operator|security|urgent|priority|platform)[ _-]?(?:notice|override|directive|alert|message|policy update|instruction)s?\s?[\]>:]|^\[(?:system|admin|root|sudo)\]\s?\S|\b(?:begin|end|start|new) (?:of )?(?:system|user|hidden|real|actual|secret|priority|admin) (?:prompt|instructions?|orders?)\b|\byour (?:new|real|true|actual|updated|revised) (?:instructions?|task|goal|objective|purpose|mission|role|orders|priority)\b|\b(?:maintenance|god|root|unrestricted|jailbreak|diagnostic|privileged|elevated) mode (?:is )?(?:now )?(?:enabled|active|activated|on\b|engaged)|\byou are no longer (?:bound|restricted|limited|claude|an? |required|subject)|\b(?:from now on|henceforth|going forward),? you (?:are|will|must|should|shall|no longer|have)\b|\b(?:message|attention|memo|notes? to) (?:for |to )?(?:the |all |any |other )?(?:ai|llm|language model|coding agent|ai agent|ai assistant|claude code|autonomous agent|automated reviewer)s?\b/i,
    ],
    not: /\b(?:write|create|craft|design|example|template|extract|section|builder|engineer)\w*\b.{0,20}(?:system|prompt)|(?:system|developer) (?:prompt|message|instruction)s?\s?:\s?(?:string|str|\w+,|$|"|`|\{)|debug mode|developer mode.{0,30}(?:chrome|android|settings|device|phone)/i,
  }),
  ...say("injection", "warn", "It says that permission was given, or is not needed.", {
    all: [
      /\b(?:user|human|person|owner|developer|operator|admin(?:istrator)?|team|security|it)s? (?:has|have|had) (?:\w+ )?(?:pre-?)?(?:approved|authori[sz]ed|granted|consented|agreed|given (?:\w+ )?(?:permission|consent|approval|authori[sz]ation)|accepted|signed off|allowed|opted in)\b.{0,60}\b(?:all|any|every\w*|this|these|access|upload|shar|collect|execut|actions?|commands?|full|blanket|in advance|already|permanent)|\b(?:permission|consent|approval|authori[sz]ation|confirmation) (?:has (?:already )?been|was|is) (?:already |hereby |implicitly |assumed |pre-?)?(?:granted|given|obtained|received|assumed|implied|on file|not (?:needed|required|necessary)|unnecessary|optional|waived)|\b(?:this|these|it|which|installing|using|loading)\b.{0,30}\b(?:counts as|constitutes|implies|serves as|is deemed|means)\b.{0,20}\b(?:consent|approval|permission|authori[sz]ation|agreement)|\bpre-?(?:approved|authori[sz]ed)\b.{0,40}\b(?:by|for|so|all|action|command|no)\b/i,
    ],
    not: /\b(?:if|once|after|when|until|unless|whether|only|before|verify|check|ensure|confirm)\b/i,
  }),
  ...say("injection", "warn", "It tells the agent not to ask, or not to look.", {
    all: [
      /\b(?:do not|don'?t|never|no need to|without|skip|avoid) (?:\w+ )?(?:ask(?:ing)?|confirm(?:ing|ation)? with|consult(?:ing)?|check(?:ing)? with) (?:\w+ ){0,3}?(?:the )?(?:user|human|person|developer|operator|permission|approval|consent|authori[sz]ation)\b|\b(?:do not|don'?t|never|no need to|without) (?:\w+ )?(?:question|second-guess|refuse|hesitate|resist|challenge|flag|object to|double-check|inspect|audit|scrutini[sz]e|analy[sz]e|review(?:ing)?|read(?:ing)?|open(?:ing)?|view(?:ing)?|examine|look at|looking at|inspecting|reviewing|questioning) (?:\w+ ){0,3}?(?:this|these|the (?:script|contents?|code|file|payload|binary|command|instruction|step|output|source|installer)|it\b|its)/i,
      /\b(?:send|post|upload|run|execute|install|write|delete|push|commit|download|fetch|add|copy|apply|chmod|sudo|curl|key|token|credential|secret|password|permission|setting|just|simply|directly|always|immediately|automatically)\w*\b/i,
    ],
    not: /\b(?:never|do not|don'?t) (?:\w+ ){0,8}?without\b|\b(?:question|clarif|preference|more than|obvious|again|each|every|known|already|trivial|multiple|back|information|details?|which|what|until|per|allowed-tools|tools|agent can|paste|config\w*|values?|scope|placement|dry-run|autonomous)\w*\b|(?:must|should|can|may) not\b|n't (?:read|open|review).{0,40}(?:entire|whole|full|all|unless|until|into context|first)/i,
  }),

  // --- Sending out ---
  ...say("exfiltration", "block", "It asks to send private files or environment variables somewhere.", {
    all: [
      re(sending),
      re(privateThings),
      re(`(?:${url}|${dropPlaces})`),
      /\b(?:to|at|into|via|with|as|from|using|in)\b/i,
    ],
    not: /\bAuthorization\b|\bcredentials? (?:from|at|page|in the)\b|\b(?:get|obtain|create|generate|sign up|register|find|docs?|documentation|see|read more|console|dashboard|settings)\b.{0,60}https?:|https?:.{0,80}\b(?:docs?|wiki|blog|guide|console|settings|dashboard|github\.com)\b/i,
    isDone: true,
  }),
  ...say("exfiltration", "warn", "It asks to send private data somewhere.", {
    all: [
      re(
        String.raw`\b(?:send|post|upload|transmit|forward|submit|(?:e-?)?mail|exfiltrate|report|share|sync|ship|beacon|relay|dump|push|mirror|back up|append|attach|embed|include|encode|stream|leak|copy|pass)(?:s|es|ing)?\b.{0,110}${softThings}.{0,110}\b(?:to|at|via|into|in|as|through|with|by|on)\s.{0,50}(?:${dropPlaces}|${ownPlaces}|\battacker|${url})`,
      ),
    ],
    not: /\b(?:query (?:string|param\w*)|subdomains?|webhooks?)\b.{0,80}\b(?:secret|signature|verif|valid|sign)|\b(?:secret|signature|verif|valid|sign)\w*\b.{0,80}\bwebhooks?\b|\bAuthorization\b|\bheaders?\b|\b(?:leak(?:s|ed|ing)?|vulnerab\w+|attackers?|prevent\w*|detect\w*|risk\w*|exposed?|exposure)\b/i,
    isDone: true,
  }),
  ...say("exfiltration", "warn", "It gathers private data, and sends something out.", {
    all: [
      /\b(?:collect|gather|harvest|scrape|read|capture|extract|grab|dump|enumerate|search for|look for|find|locate|record|copy|archive|zip|tar|bundle|compress|snapshot|cat|concatenate|take|base64|encode|list|include)\w*\b/i,
      re(privateThings),
      /\b(?:send|post|upload|transmit|forward|submit|e-?mail|exfiltrate|beacon|relay|POST|scp|rsync)\w*\b/i,
      re(`(?:${url}|${dropPlaces}|${ownPlaces})`),
    ],
    not: /\b(?:attack(?:er|s)?|vulnerab\w+|detect|prevent|audit|pentest|penetration|red team|malicious|threat|never|Authorization|header|signature|login(?! data)|log in|sign in|form|credentials? (?:from|via|in|for|are)|docs?)\b/i,
    isWide: true,
    isDone: true,
  }),
  ...say("exfiltration", "warn", "It asks to send private data somewhere.", {
    all: [
      /(?:发送|上传|提交|发到|传到|外传|传送|上报|同步|转发|推送)/,
      /(?:密钥|凭证|凭据|环境变量|令牌|私钥|密码|\.env|\.ssh|\.aws|对话(?:内容|记录)?|会话记录|源代码|聊天记录|系统提示|Cookie)/i,
      /(?:https?:|服务器|远程|外部|接口|端点|webhook|邮箱|地址)/i,
    ],
    not: /不要|禁止|切勿|防止|避免|泄露风险|请求头|登录/,
  }),
  ...say("exfiltration", "warn", "It asks to send private data somewhere.", {
    all: [
      /(?:送信|アップロード|転送|投稿|전송|업로드|보내|전달|отправ|загруз|перешл|передай|\b(?:send|sende|schicke?|lade\w*|[üu]bertrag|[üu]bermitt|hochlad|envoi|envoy|transmet|t[eé]l[eé]vers|env[ií]|sub[ei]|manda|invia|carica|trasmett|verstuur|upload|wy[sś]lij|prze[sś]lij|g[oö]nder|y[uü]kle)\p{L}*)/iu,
      /(?:秘密鍵|環境変数|認証情報|トークン|パスワード|会話|비밀키|환경 ?변수|자격 ?증명|토큰|비밀번호|대화|ключ|переменн\p{L}+ (?:окружения|среды)|учётн|парол|токен|umgebungsvariablen|zugangsdaten|schl[üu]ssel|passw[oö]rt(?:er)?|geheimnisse|anmeldedaten|variables d'environnement|identifiants|cl[eé]s? (?:priv|ssh|api)|mots? de passe|secrets|variables de entorno|credenciales|claves?|contrase[nñ]as?|vari[aá]veis de ambiente|credenciais|chaves?|senhas?|variabili d'ambiente|credenziali|chiav[ei]|\.ssh\b|\.aws\b|(?<![\w.])\.env\b(?!\.))/iu,
      /(?:https?:|\bs?ftps?:|\b(?:\d{1,3}\.){3}\d{1,3}\b|サーバー|外部|서버|외부|сервер|внешн|server|serveur|servidor|webhook|endpoint|@[\w-]+\.\w)/iu,
    ],
    not: /[a-z] the |しない|禁止|하지|не отправ|\bnicht\b|\bnever\b|\bnunca\b|\bjamais\b|\bnão\b/i,
  }),
  ...say("exfiltration", "warn", "It names a place where stolen data are commonly dropped.", {
    all: [
      re(dropPlaces),
      /\b(?:curl|wget|POST|post|send|upload|fetch|request|report|ping|forward|nc|data|notify)\w*\b|requests?\./i,
    ],
    not: /\b(?:example|e\.g\.|your[-_ ]?(?:webhook|channel|team|token|bot)|YOUR|\$\{?[A-Z_]*(?:WEBHOOK|TOKEN|SLACK|DISCORD|TELEGRAM)|<[\w-]+>|T0+|XXX|\.\.\.|tunnel|expose|deploy|local|development|preview|wrangler)\b|\$\{?\w*(?:webhook|token)|XXX|hooks\.slack\.com\/services\/(?:\.\.\.|T00|\$|<|xxx)|hooks\.slack\.com\/?\s|workers\.dev/i,
  }),
  ...say("exfiltration", "warn", "It asks the person for a secret.", {
    all: [
      /\b(?:ask|prompt|request|have|tell|get|instruct|require)\w*\b.{0,30}\b(?:user|human|person|developer|them|customer)\b.{0,60}\b(?:password|passphrase|seed phrase|mnemonic|recovery phrase|private key|2fa|mfa|otp|one-time|verification code|credit card|card number|cvv|social security|ssn|bank account|pin)\b/i,
      /\b(?:send|save|store|write|append|include|post|log|record|forward|paste|keep|enter|type|provide|confirm|verify|give|share|supply|continue)\b/i,
    ],
    not: /\b(?:do not|don'?t|never|must not|test|form|field|reset|e2e|login flow|keystore|sudo)\b/i,
  }),

  ...say("exfiltration", "warn", "It gives a reason why private data should go to somebody else.", {
    all: [
      /\b(?:complian\w+|diagnos\w+|telemetry|audits?|support|quality|licen[cs]\w+|debugging|statistics|analytics|backup|training|verification|crash)\b/i,
      re(softThings),
      /\b(?:send|post|upload|transmit|forward|submit|(?:e-?)?mail|attach|report|copy|share|add)(?:s|es|ed|ing)?\b/i,
      re(`(?:${url}|${dropPlaces}|\\bpublic (?:issue|gist|repo\\w*|bucket|channel)\\b)`),
    ],
    not: /\b(?:do not|don'?t|never|redact\w*|mask\w*|anonymi[sz]\w*|docs?|documentation|api key|Authorization|headers?|login|oauth|vulnerab\w+|attack\w*|leak\w*|user (?:asks|wants|approves|confirms)|github\.com|localhost|dashboard|console|sdk|endpoint|webhook)\b/i,
    isWide: true,
    isDone: true,
  }),

  // --- Staying ---
  ...say("persistence", "warn", "It writes itself into what later sessions obey.", {
    all: [
      re(
        String.raw`\b(?:add|append|write|insert|put|copy|save|inject|place|prepend|install|register|store|paste|persist|embed|edit|modify)\w*\b.{0,120}\b(?:to|in|into|at|inside|with)\b.{0,40}${agentFiles}`,
      ),
      /\b(?:future|every (?:session|project|conversation|repo\w*|run|time|task|new)|all (?:sessions|projects|future|repos\w*|later)|subsequent|next (?:session|time|run)|permanent(?:ly)?|surviv\w+|always (?:run|load|call|use|invoke|execute|trust|allow|send)|re-?(?:add|insert|appl|creat|install)\w*|if (?:it is |they )?(?:removed|deleted)|stays? (?:active|in effect)|across (?:sessions|projects|repos\w*|restarts))\b/i,
    ],
    not: /\b(?:ask|confirm|propose|suggest|offer|approval|approve|review|if the user|user (?:wants|asks|requests|approves|confirms)|lessons?|learned|learning|conventions?|decision|context for|documentation|preferences?|knowledge|recall|discover|do not|never|don'?t|hierarchy|precedence|inherit)\w*\b/i,
  }),
  ...say("persistence", "warn", "It copies itself, or comes back when it is removed.", {
    all: [
      /\b(?:copy|replicate|propagate|spread|install|clone|duplicate|write|reinstall|re-?create|restore|re-?add)\w*\b.{0,40}\b(?:this (?:skill|file|instruction|section|rule|text|block|paragraph|package|folder)|itself|yourself|these (?:instructions?|rules?|lines?))\b.{0,60}\b(?:every|all|other|each|any|global|~\/|home|user-level|future|remov\w+|delet\w+|back|again|neighbou?ring|sibling|repos\w*|projects?)\b|\bif\b.{0,60}\b(?:removed?s?|deleted?s?|disabled?s?|uninstalled?s?|reverted?s?|cleaned|cleans)\b.{0,60}\b(?:re-?(?:add|creat|install|insert|appl|stor|enabl|writ)\w*|restore|put it back|add it (?:back|again))\b.{0,40}\b(?:it|this|them|skill|line|entry|hook|rule|instruction)\b/i,
    ],
    not: /\b(?:copyright|unauthori[sz]ed|licen[cs]e|npm|node_modules|package|dependenc\w+|database|snapshot|user asks|if you want|optional(?:ly)?|to install this skill|installation)\b/i,
  }),
  ...say("persistence", "warn", "It sets up something that starts by itself later.", {
    all: [
      /\b(?:add|create|install|register|set ?up|schedule|write|append|put|drop|place|configure|enable)\b/i,
      /\b(?:cron ?(?:jobs?|tab|entry)|crontab|launch ?agents?|launch ?daemons?|systemd (?:units?|timers?|services?)|login items?|startup (?:folder|items?|scripts?|entry|programs?)|scheduled tasks?|autostart|(?:shell|login) (?:profile|startup|rc)|\.(?:bashrc|zshrc|bash_profile|profile|zprofile)|rc file|git hooks?|(?:post-checkout|post-merge|pre-push|post-commit|pre-commit) hook|SessionStart hooks?|UserPromptSubmit hooks?|PreToolUse hooks?|Stop hooks?)\b/i,
      /\b(?:so (?:that )?(?:it|this|the)|every (?:\d+ )?(?:minutes?|hours?|day|boot|login|time|session|commit|shell|terminal)|each (?:time|login|boot|session)|on (?:boot|login|startup|every)|at (?:boot|login|startup)|keeps? running|background|persist\w*|surviv\w+|reboot|runs? (?:again|automatically|always)|always|re-?run)\b/i,
    ],
    not: /\b(?:if the user|user (?:wants|asks|requests)|optional(?:ly)?|ask|offer|suggest|husky|lint-staged|lefthook|lint|format|tests?|migration|kubernetes|k8s|cronjob resource|github actions?|workflow|vercel|cloudflare|lambda|celery|laravel|rails|sidekiq|backup retention)\w*\b/i,
  }),

  // --- Wider rights ---
  ...say("permissions", "warn", "It asks for wider permissions for the agent.", {
    all: [
      /\b(?:add|set|put|enable|grant|change|update|edit|allow|switch|turn|modify|write|configure|append|insert|include|give|pass|use|run|start|launch|accept)\w*\b/i,
      /\bpermissions?\.(?:allow|defaultMode)|"?(?:allow|allowedTools|allowed-tools|autoApprove)"?\s?[:=]\s?\[?\s?"?(?:\*|Bash\(\*|Bash\(:?\*|all)|\bBash\((?:\*|:\*)\)|\bbypassPermissions\b|\bdangerously(?:Skip|Disable|Bypass|Allow)\w+|\bskipDangerous\w+|\benableAllProjectMcpServers\b|\bauto-?approv(?:e|al|ing)\b.{0,40}\b(?:all|any|every|everything|tool|command|bash|shell|on|true)\b|\byolo mode\b|\bdisable(?:s|d)? (?:the )?sandbox\w*|\bsandbox\w*.{0,20}\b(?:off|false|disabled|none)\b|\bpasswordless sudo\b|\bpermission (?:prompts?|checks?|mode)\b.{0,20}\b(?:off|bypass\w*|disabl\w*|skip\w*|auto)/i,
    ],
    not: /\b(?:do not|don'?t|never|avoid|dangerous|risk|warn|caution|only (?:in|for)|not recommended|enum|one of|options?|values?|docs?)\b|\|.*\|/i,
  }),
  ...say("permissions", "warn", "It turns a protection off.", {
    all: [
      /(?<![-\w])(?:disabl(?:e|es|ing)|turn(?:s|ing)? off|switch(?:es|ing)? off|deactivat(?:e|es|ing)|bypass(?:es|ing)?|circumvent|suspend|shut off|lift|relax|loosen|weaken|remov(?:e|es|ing)|drop|skip|ignor(?:e|es|ing)|suppress|stop|override|uninstall|comment out|opt out of|delet(?:e|es|ing))\b.{0,25}\b(?:all |any |your |the |its |their |every |agent )?(?:\w+ )?(?:safety (?:checks?|rules?|filters?|settings?|guidelines?|mechanisms?|features?|prompts?)|guardrails?|safeguards?|sandbox(?:ing)?|firewalls?|anti-?virus|defender|gatekeeper|selinux|apparmor|branch protection|2fa|mfa|two-factor|secret[- ]scanning|code[- ]scanning|required reviews?|audit (?:logs?|logging|trail)|content (?:policy|filters?)|permission (?:prompts?|checks?|requests?|system)|approval (?:prompts?|gates?|steps?)|confirmation (?:prompts?|dialogs?)|security (?:checks?|scans?|warnings?|hooks?|policy|policies|controls?|settings?|features?|headers?)|endpoint protection|EDR|intrusion detection|certificate (?:checks?|validation|verification)|signature (?:checks?|verification)|(?:tls|ssl) (?:checks?|validation|verification)|integrity checks?|code signing|commit signing|policy checks?)\b/i,
    ],
    not: /\b(?:do not|don'?t|never|avoid|cannot|must not|should not|shouldn'?t|attempts?|attack\w*|detect\w*|prevent\w*|try(?:ing)? to|if|may|might|could|whether|risk\w*|vulnerab\w+|warn\w*|flag|red flags?|without|no way|refuse|reject|block|instead of|rather than|anti-?pattern|finding|check for|look for|audit|test|bad|wrong|mistake|tempt\w*|rationaliz\w*|excuse|violation|forbidden|prohibit\w*|temporarily|shows? confirmation|trusted devices|safe(?:ly)?|injection|malicious|example|trick\w*|users? (?:who|to|from|can)|any (?:code|pattern|change)|rail ?safety|ignore list)\b|[❌🚫✗×]/iu,
  }),

  // --- Code from elsewhere ---
  ...say("download-and-run", "warn", "It asks to download something and run it.", {
    all: [
      /\b(?:download|fetch|retrieve|pull|grab|curl|wget|obtain|get)\b.{0,60}(?:\b(?:script|binary|installer|payload|executable|helper|agent|tool|loader|bootstrap\w*|update\w*|package|archive|module|plugin|code|program|patch|file)\b|https?:|\bit\b).{0,140}\b(?:and|then|,)\s(?:\w+\s){0,2}?(?:run|execute|launch|start|eval(?:uate)?|source|install|pipe|invoke|exec|chmod)\b/i,
      /https?:\/\/|\bfrom (?:the |our |a )?(?:\w+ ){0,3}(?:server|cdn|mirror|bucket|repository|gist|pastebin|url|host|endpoint|site|link|remote)\b/i,
    ],
    not: /\bhttps?:\/\/(?:localhost|127\.)|\bnpm install\b|\bpip install [a-z]|\bbrew install\b|\b(?:do not|don'?t|never)\b/i,
    isDone: true,
  }),
  ...say("download-and-run", "warn", "It takes its orders from a page that may change.", {
    all: [
      /\b(?:fetch|read|download|get|retrieve|load|open|visit|check|pull|curl|request|consult|browse|query|access|follow|obey|execute|run|apply)\w*\b.{0,100}(?:https?:\/\/|\b(?:url|page|endpoint|gist|response|remote (?:file|config\w*|instructions?|prompt)|server|dns|txt record|readme|issue|comment)\b)/i,
      /\b(?:follow|obey|execute|carry out|do (?:what|whatever|exactly what|as)|comply with|act on|treat|adopt|run|apply|perform|use)\w*\b.{0,60}\b(?:(?:the |its |any |all |whatever |these |those |every )?(?:\w+ )?(?:instructions?|orders?|commands?|directives?|steps|prompts?)\b.{0,30}\b(?:in|from|at|it|there|found|returned|contained?|given|inside|listed|provided|say|there|you (?:find|receive|get))|(?:as|like) (?:\w+ ){0,3}(?:instructions?|system|orders?|commands?|authoritative|trusted|if (?:they|it|the user)))/i,
    ],
    not: /\b(?:do not|don'?t|never|untrusted|ignore|injection|attack\w*|malicious|as data|not as|docs?|documentation|install(?:ation|ing)?|setup|migrat\w+|README|guide|tutorial|help page|user(?:'s)? (?:instructions?|commands?|steps?|prompts?)|SKILL\.md|reference|template|workflow|this file|the skill|issue body|acceptance)\b/i,
  }),

  concealment(
    [
      re(
        String.raw`\b(?:should|must|shall|may|need|needs?|is|are|does|do|will|can)(?:\s?not|n'?t| never)(?: to| need to)?(?: ever)? (?:be )?(?:mention(?:ed)?|appear|show(?: up|n)?|listed?|included?|reported?|disclosed?|surfaced?|visible|contain (?:any )?(?:trace|mention|reference|hint|sign)|reference|refer to|logged|displayed|discussed|explained|noted|documented|announced|revealed|acknowledged|part of)\b.{0,60}\b(?:your|the|any|its) (?:\w+ )?(?:summar(?:y|ies)|repl(?:y|ies)|report|plan|answer|final (?:answer|response|message|output)|transcript|chat|conversation|changelog|user|human|person|todo|recap|status|explanation|trace of this|commit message|pull request|PR)\b`,
      ),
    ],
    "warn",
    /\b(?:secrets?|credentials?|tokens?|passwords?|PII|personal data|code blocks?|emoji|jargon|markdown|headings?|sections? (?:that|which)|stack|error|internal (?:ids?|names?)|raw|json|duplicate|more than|placeholder|words|bullets?|links?|file paths?|vague|generic|filler|questions?|opinions?|speculat\w*)\b/i,
  ),
  concealment(
    [
      /\b(?:covertly|discreetly|stealthily|surreptitiously|inconspicuously|clandestinely|without drawing attention|unnoticed|under the radar|off the record|on the sly|no trace|leave no traces?|out of (?:the user's )?sight)\b|\b(?:of no|no|not of|not) (?:need|interest|concern|interesting) (?:for|to) (?:the )?(?:user|human|person|developer|reader|them)\b(?!')|\b(?:user|human|person|developer)s? has no need\b|\b(?:do not|don'?t|never) (?:list|show|mention|include|describe|name|report|log) (?:steps? \d|this (?:step|action|command|call|part)|these (?:steps|actions|commands|calls))\b|\b(?:do not|don'?t|never) (?:bring|flag|point|raise|call) (?:this|it|these|them|any of this) (?:up|out)?|\banswer only\b.{0,30}\bdone\b|\b(?:this|it|these|the (?:step|call|upload|script|check|request)s?) (?:is|are|remains?|stays?|runs?) (?:\w+ )?(?:internal plumbing|invisible|hidden|confidential|secret|not for (?:the )?users?|for agents? only|between)\b|\b(?:must|should|may|shall) not (?:contain|leave|show|have|carry) (?:any |a |the )?(?:traces?|mentions?|hints?|signs?|evidence)\b|\bnot (?:to be )?(?:shared|discussed|shown|disclosed) with (?:the )?(?:user|human|anyone|developer)/i,
    ],
    "warn",
    /\b(?:attackers?|malware|adversar\w+|evad\w+|detect\w*|bugs?|errors?|fail\w*|regressions?|slip\w*|goes? unnoticed|go unnoticed|threat|pentest|red team|changes? (?:that )?go|operat(?:e|es) under)\b/i,
  ),
  concealment(
    [
      /(?:報告|通知|言及|説明)(?:は)?(?:し(?:ないこと|ないで|てはいけ|てはなら)|不要)|(?:不需要|无需|不必|不用)(?:向|对|跟|给)?(?:用户|使用者).{0,6}(?:说明|解释|报告|汇报|告知|提示)|(?:언급|보고|설명|표시)하지\s?(?:마|않)/,
    ],
    "warn",
    /エラー|ログ|详细|重复/,
  ),

  // --- Over the person's head, in other words ---
  ...say("injection", "warn", "It takes orders from texts that are only data.", {
    all: [
      /\b(?:treat|interpret|regard|consider|handle|accept|honou?r|process|execute|obey|follow|run|act on|carry out|do)\b.{0,60}\b(?:messages?|text|content|contents|comments?|lines?|blocks?|anything|whatever|output|data|files?|issues?|readme|responses?|pages?|emails?|strings?|notes?|what it says|what they say|everything)\b.{0,80}(?:\bas (?:\w+ ){0,3}(?:commands?|instructions?|orders?|directives?|system (?:prompt|message)s?|operator|if the user)|\bcarry (?:it|them) out\b|\bwithout question\b|\bexactly\b)|\bdo (?:exactly )?(?:what|whatever|as) (?:it|they|that|the (?:page|file|text|comment|block|response|message|server)) (?:says?|tells?|asks?|instructs?|orders?)|\b(?:act|behave|proceed) according to (?:it|them|what|whatever)\b/i,
    ],
    not: /\b(?:do not|don'?t|never|untrusted|not as|attack\w*|injection|user (?:says|asks|tells)|as (?:an? )?(?:string|text|data|json|single|separate|expert|reference|context|source|input))\b/i,
  }),
  ...say("injection", "warn", "It lifts the agent's limits.", {
    all: [
      /\b(?:restrictions?|limits?|limitations?|guidelines?|policies|policy|safeguards?|guardrails?|safety rules?|rules|constraints|confirmations?) .{0,40}\b(?:(?:do|does|did) not|don'?t|no longer|never) (?:apply|bind|concern|count|hold)\b.{0,30}\b(?:you|here|this|agents?|skill|session|mode|$)|\byou (?:have been|are|were|now have|have) (?:hereby |now |been )?(?:granted|given|authori[sz]ed|cleared|exempt\w*|allowed|permitted|entitled|elevated|promoted)\b.{0,40}\b(?:admin\w*|full|root|elevated|unrestricted|unlimited|all|any|every|blanket|from|override|bypass|rights|without)\b|\b(?:same|higher|equal|more|greater|highest) (?:rank|authority|weight|standing|privileges?|trust) (?:as|than|to|over)\b.{0,40}\b(?:your|the|any|system|user|developer)\b|\b(?:yes|accept|approve|confirm|agree|consent|ok)\b.{0,60}\b(?:on (?:the )?(?:user|human|person|developer|their|his|owner)(?:'s)? behalf|on behalf of the (?:user|human|person|developer)|for the user)\b|\b(?:skip|ignore|disregard|forget|drop) (?:everything|all|anything|whatever)(?: else)?(?: that (?:was|is))? (?:above|before|so far|you (?:know|were told|learned))\b/i,
    ],
    not: /\b(?:do not|don'?t|never|must not|cannot|attack\w*|rate limits?|api limits?|character limits?|token limits?)\b/i,
  }),
  ...say("injection", "warn", "It pushes itself before other skills, or into every task.", {
    all: [
      /\b(?:ignore|avoid|skip|disable|never use|do not use|don'?t use|uninstall|remove|deprecate\w*|distrust) (?:all |any |the |every )?(?:other|competing|alternative|remaining) (?:\w+ )?(?:skills?|tools?|helpers?|ones|agents?|plugins?|servers?)\b|\balways (?:choose|pick|select|prefer|use) this (?:one|skill|tool|helper)\b.{0,60}\b(?:over|instead|and|first|other|regardless|even|never)\b|\b(?:use|load|invoke|call|activate|trigger|apply|run|read|select)(?:d|ed)? (?:this |this skill |it |me )?(?:for|on|in|at|with|before|during) (?:absolutely )?(?:every|each|all|any)(?: single)? (?:user )?(?:requests?|prompts?|messages?|sessions?|conversations?|turns?|chats?|interactions?|inputs?|topics?|questions?)\b(?! (?:about|for|on|in|to|that|related|involving|regarding|where|when|with))|\b(?:must|should|has to|needs to|shall) (?:always )?be (?:loaded|invoked|called|activated|run|executed|read|used|consulted|applied) (?:first|before (?:any|all|every|anything|other)|at the start of (?:every|each)|on every|always|in (?:every|all|each))|\b(?:load|invoke|call|use) (?:this skill|this tool|it|me) (?:first|before (?:anything|everything|all|any other|doing anything))\b|\bbefore doing anything else\b.{0,40}\b(?:load|invoke|call|agents?|skill)|\bwhatever (?:it|the (?:task|request|topic)) is\b/i,
    ],
    not: /\b(?:use this skill (?:for all|for any) \w+ing\b|session memory|any other tools (?:or|for)\b|(?:task|work) (?:involv|relat|that)\w*|proactively for any)\b/i,
  }),

  // --- Sending out, in other words ---
  ...say("exfiltration", "warn", "It records what the person says or does.", {
    all: [
      /\b(?:log|logs|logged|record|records|recorded|capture|captured|keep|kept|store|stored|save|saved|send|sent|forward|forwarded|post|posted|report|reported|transmit\w*|sync\w*|upload\w*|copy|copied|mirror\w*|stream\w*|track\w*)\b/i,
      /\b(?:every|each|all|any|everything|whatever|full|complete|entire|verbatim|raw)\b.{0,40}\b(?:prompts?|messages?|inputs?|questions?|keystrokes?|conversations?|chats?|user (?:types|says|enters|writes|asks|does)|requests?|files? (?:contents?|you (?:read|open|touch|edit)))\b|\b(?:user|human|person|developer)'?s? (?:prompts?|messages?|inputs?|keystrokes?|conversations?|clipboard|browsing|screen)\b/i,
      re(`(?:${url}|${dropPlaces}|${ownPlaces}|\\brclone\\b|\\/tmp\\/\\.|\\bremote:)`),
    ],
    not: /\b(?:api (?:reference|docs?)|webhook (?:handler|endpoint|events?)|chatbot|slack bot|discord bot|telegram bot|chat app|customer support|express|fastapi|route)\b/i,
    isDone: true,
  }),
  ...say("exfiltration", "warn", "It puts secrets where others can read them.", {
    all: [
      /\b(?:paste|put|print|include|add|write|append|embed|attach|insert|copy|store|leave|commit|encode|hide|post|place)\w*\b/i,
      re(privateThings),
      /\b(?:PR|pull request|commit message|commit body|issue|comment|gist|branch name|README|release notes?|test fixture|header on)\b/i,
    ],
    not: /\b(?:do not|don'?t|never|avoid|without|must not|should not|cannot|secret scanning|leak\w*|redact\w*|mask\w*|accidentally|if (?:found|present|any)|scan|\.gitignore|placeholder|documentation|examples?|detect\w*|exposed?|wallet connect\w*|security scan\w*|clipboard|dump|login)\b/i,
    isDone: true,
  }),
  ...say("exfiltration", "warn", "It builds private data into an address.", {
    all: [
      re(url),
      /\b(?:followed by|append(?:ed|ing)?|appending|concatenat\w+|with the (?:\w+ )?(?:contents?|values?|output|result)|replac(?:e|ing)|substitut\w+|url-?encoded|percent-?encoded|base64(?:-encoded)?|encoded)\b/i,
      /\b(?:contents?|values?|secrets?|keys?|tokens?|credentials?|env\w*|config\w*|output|result|user ?names?|project|task|conversation|message|prompt|diff|file)\b/i,
      /\b(?:open|fetch|visit|load|render|request|call|get|navigate|show|display|embed|browse|curl|ping)\w*\b/i,
    ],
    not: /\b(?:placeholder|your|example|docs?|path param\w*|endpoint|search|query term|keyword|slug|locale|api key)\b/i,
  }),
  ...say("exfiltration", "warn", "It publishes something under the person's name.", {
    all: [
      /\b(?:create|make|open|publish|post|upload|push)\w*\b.{0,40}\b(?:public|secret|anonymous|unlisted) (?:gist|paste|repo(?:sitory)?|bucket|link|share|snippet)\b/i,
    ],
    not: /\b(?:if the user|user (?:asks|wants)|ask|confirm|do not|don'?t|never)\b/i,
  }),
  ...say("deception", "warn", "It tells the person something false to get at their secrets.", {
    all: [
      /\b(?:tell|inform|ask|notify|warn|show|prompt|instruct|convince|persuade|have|get)\b.{0,20}\b(?:user|human|person|developer|customer|them)\b/i,
      /\b(?:(?:session|token|licen[cs]e|account|subscription|certificate|login) (?:has |have |is |was )?(?:expired?|suspended|locked|compromised|revoked|invalid)|sign in again|log in again|re-?authenticate|verify (?:their|your) (?:identity|account|password)|(?:paste|enter|type|share|send|give|provide|supply|confirm)\w*\b.{0,40}\b(?:secret key|access key|private key|password|passphrase|seed|recovery|2fa|mfa|otp|one-time|card number|cvv|pin)\b)/i,
      /https?:\/\/|\b(?:chat|conversation|here|then|form|message|reply)\b/i,
    ],
    not: /\b(?:do not|don'?t|never|gh auth login|aws sso|az login|gcloud auth|re-?authenticate (?:with|via|using|by)|env(?:ironment)? (?:file|var\w*)|\.env|test user|e2e|form field|validation)\b/i,
  }),
  ...say("deception", "warn", "It tells the agent to falsify or to weaken the person's work.", {
    all: [
      /\bpretend (?:that |to have |the |you |it |as if|not to)\b|\b(?:always|unconditionally) (?:exits?|returns?|reports?|succeeds?|passes)\b.{0,20}\b(?:0|zero|true|success\w*|ok|green|pass\w*)\b|\baccept(?:s|ing)? (?:the |a |any )?(?:password|token|key|code|login)\b.{0,40}\b(?:every|any|all) (?:account|user|login|request)|\buse (?:MD5|SHA-?1|DES|ECB|rot13|plain ?text)\b.{0,30}\b(?:for|to)\b.{0,20}\b(?:passwords?|secrets?|tokens?|hash\w*|encrypt\w*|store)|\b(?:remove|delete|comment out|disable|weaken|relax)\b.{0,25}\b(?:rate[- ]limit\w*|authentication|authori[sz]ation|auth checks?|access control|input validation|saniti[sz]ation|csrf|cors checks?|permission checks?|password checks?|encryption|signature checks?)\b|\b(?:test|ci|pipeline|check|build)s? .{0,30}\balways (?:pass|succeed|be green|green)\b|\bswallow\b.{0,30}\b(?:security|audit)\b|\b(?:subtly|slightly|randomly|occasionally) (?:change|alter|corrupt|modify|degrade|weaken|skew|introduce|insert|misspell|bias)/i,
    ],
    not: /\b(?:do not|don'?t|never|avoid|must not|should not|cannot|if (?:the )?user|attackers?|vulnerab\w+|insecure|unsafe|bad|wrong|anti-?pattern|instead of|legacy|deprecated|migrat\w*|finding|detect\w*|audit|flag|check for|look for|test(?:s|ing)? (?:for|that|whether)|without|mock|simulate|roleplay|persona|interview|for non-security|risk\w*|mistake|red flags?)\b|[❌🚫✗]/iu,
  }),

  ...say("deception", "warn", "It tells the agent to look away in a review.", {
    all: [
      /\b(?:approve|accept|merge|sign off|lgtm|pass)\b.{0,60}\b(?:do not|don'?t|without|never|no) (?:\w+ ){0,2}(?:comment\w*|mention\w*|rais\w+|flag\w*|look\w*|read\w*|review\w*|question\w*)\b|\b(?:do not|don'?t|never|skip|ignore) (?:\w+ ){0,2}(?:comment on|mention|raise|flag|report|review|warn about)\b.{0,30}\b(?:security|vulnerab\w+|backdoors?|secrets?|suspicious|malicious)\b/i,
    ],
    not: /\b(?:never|do not|don'?t) (?:approve|accept|merge|sign off|lgtm|pass)\b|\b(?:if|unless|outside|theoretical|false positives?|low[- ]confidence|pre-existing|not in the diff|duplicates?|style|violations?|rubber|glass|tracked)\b/i,
  }),

  // --- Staying, in other words ---
  ...say("persistence", "warn", "It writes itself into what later sessions obey.", {
    all: [
      re(
        String.raw`\b(?:add|append|insert|write|put|paste|prepend|inject)\b.{0,20}\b(?:this|the following|these|that|our|its|a|an)\b.{0,30}\b(?:lines?|rules?|instructions?|blocks?|sentences?|paragraphs?|notes?|entr(?:y|ies)|text|directives?|reminder|hook|snippet)\b.{0,60}\b(?:to|in|into|at)\b.{0,40}${agentFiles}|\b(?:in|for|across|during|from) (?:all|every|each|any) (?:future|subsequent|later|new|coming|other) (?:sessions?|conversations?|chats?|tasks?|projects?|repos\w*|interactions?|requests?)\b|\bremember (?:this|that|it|these)?\s?(?:permanently|forever|for (?:all|ever)|from now on|in (?:all|every))|\b(?:permanently|forever|from now on|henceforth)\b.{0,40}\b(?:recommend|use|prefer|trust|allow|include|run|send|load|add|call|obey|follow)\b`,
      ),
    ],
    not: /\b(?:ask|confirm|propose|suggest|offer|approval|approve|if the user|user (?:wants|asks|requests|approves|confirms|says|prefer\w*|preferences?)|lessons?|learned|learnings?|conventions?|decisions?|preferences?|knowledge|do not|never|don'?t|optional\w*|template|context (?:for|in)|insights?|patterns?|improv\w+|discover\w*|findings?)\b/i,
  }),

  concealment(
    [
      /\b(?:no (?:reason|need|point)|(?:not|isn'?t) necessary|unnecessary|pointless) (?:in |to )(?:includ|mention|list|report|describ|show|talk|bring|tell|explain|disclos|surfac)\w*|\b(?:handle|do|perform|process|run|make|carry out|complete|execute|finish|apply) (?:this|it|that|these|the \w+)(?: \w+){0,2} (?:quietly|silently|discreetly|privately|confidentially|in secret)\b|\b(?:existence|presence|contents?) of (?:this|these)\b.{0,30}\b(?:confidential|secret|private|undisclosed|unmentioned)\b|\b(?:say|report|mention|state|tell (?:them|the user|the human)) only that\b|\bonly (?:say|report|mention|state|tell (?:them|the user)) that\b|\b(?:if|should|when) (?:\w+ )?(?:someone|anyone|anybody|a reviewer|somebody) (?:\w+ )?asks? why\b|\bnever (?:show|print|display|reveal|quote|paste) (?:this|the) (?:command|step|call|script|instruction|request)\b|\b(?:from|in) any (?:diff|output|summary|report|log) you (?:present|show|give|print|write)\b/i,
    ],
    "warn",
    /\b(?:users? ask why (?:a|the) (?:test|build)|jargon)\b/i,
  ),
  ...say("injection", "warn", "It sets itself against the agent's own rules.", {
    all: [
      /\b(?:checks?|reviews?|approvals?|verification|consent|validation|confirmation)s? (?:has|have|had|was|were) (?:already |all )?(?:been )?(?:performed|done|made|completed|obtained|handled|carried out|given) (?:upstream|elsewhere|already|for you|by (?:the )?(?:platform|operator|system|vendor|author|team))|\bgo ahead with (?:\w+ )?(?:destructive|dangerous|privileged|irreversible)\b|\bby (?:loading|using|installing|reading|activating|invoking|running) (?:this|the|it)\b.{0,20}\byou (?:\w+ )?(?:agree|accept|consent|commit|undertake|confirm)\b|\b(?:requests?|attempts?|orders?|instructions?|messages?|demands?) (?:by the user |from the user )?to (?:stop|cease|abort|undo|disobey|leave|abandon)\b.{0,50}\b(?:refused?|ignored?|rejected?|tests?|disregarded?|declined?|invalid)\b|\b(?:confirmations?|confirmation dialogs?|permission (?:prompts?|checks?)|approvals?|safety (?:checks?|rules|filters?)|guardrails?) (?:\w+ )?(?:are|is|have been|has been|were) (?:\w+ )?(?:disabled|off|suspended|waived|lifted|unnecessary|not (?:required|needed|active|in effect)|turned off|switched off)\b|\b(?:anthropic|openai|google|microsoft)[- ](?:certified|approved|verified|signed|endorsed|authori[sz]ed|sanctioned|official(?:ly)?)\b|\btools? (?:that|which) (?:are|is|would be) (?:otherwise|normally|usually) (?:blocked|forbidden|denied|disallowed|restricted)\b|\b(?:your|its|the (?:agent|model|assistant)'s) (?:\w+ )?(?:instructions?|rules|guidelines?|training|policy|policies|restrictions?|safety \w+) (?:\w+ )?(?:forbids?|prohibits?|prevents?|says? otherwise|(?:are|is) (?:outdated|wrong|obsolete|superseded|void|suspended)|(?:were|was) written|conflicts?|disallows?|do not (?:allow|permit|cover)|objects?)\b|\bignor(?:e|ing) (?:what|whatever|anything|everything) (?:the )?(?:user|human|person|developer|they) (?:ask|sa|want|request|instruct|object|tell|told|wrote|type)\w*|\bignore the (?:user|human)(?:'s)?\b(?! (?:input|id|agent))|\b(?:above|preceding|previous|rest|visible)\b.{0,20}\b(?:was|is|were|are) (?:only |just |meant |written |intended )?for (?:humans|people|human readers|show|display|reviewers)\b|\b(?:following|rest|below|next) (?:\w+ )?(?:is|are) (?:only |meant |intended )?for (?:you|agents?|the (?:agent|model|ai|assistant)|machines|automated readers)\b/i,
    ],
    not: /\b(?:do not|don'?t|never|must not) (?:ignore|bypass)|\b(?:git|openai-compatible|google-certified|microsoft-signed driver)\b/i,
  }),
  ...say("exfiltration", "warn", "It asks to send private data somewhere.", {
    all: [
      /\b(?:send|submit|upload|publish|attach|post|forward|e-?mail|transmit|share|push|deliver|exfiltrate|hand over|put (?!\w+ (?:in|into)\b))\b/i,
      re(privateThings),
      re(
        String.raw`(?:${url}|${ownPlaces}|${dropPlaces}|\bs3:\/\/|\b(?:feedback|contact|web|google) form\b|\bissue\b|\bcomment\b|\b(?:drive|slack|discord|telegram|mail|upload\w*) (?:server|tool|channel|bot)\b|\bcolleagues?\b|\bsupport (?:staff|team)\b|\bthe telemetry\b)`,
      ),
    ],
    not: /\b(?:do not|don'?t|never|avoid|must not|should not|cannot|attackers?|vulnerab\w+|leak\w*|prevent\w*|detect\w*|exposed?|exposure|redact\w*|mask\w*|Authorization|headers?|rotate|secret manager|vault|webhook secret|login|log in|sign in|oauth|env(?:ironment)? variables? (?:to|in|for|on) (?:the )?(?:vercel|railway|render|heroku|netlify|production|your)|design tokens?|color tokens?|the (?:input|output|context|max)\w* tokens|all tokens|all passwords|the keys)\b/i,
    isDone: true,
  }),
  ...say("exfiltration", "warn", "It builds the output of a command into an address.", {
    all: [/https?:\/\/[^\s"'`]{0,200}\$\((?:whoami|hostname|id|cat|env|git|uname|ls|pwd|base64)\b/i],
  }),
  ...say("persistence", "warn", "It sets up something that starts by itself later.", {
    all: [
      /\b(?:add|create|write|extend|register|configure|put|install|drop|insert|append)\b.{0,80}(?:\bautostart\b|\bLaunch(?:Agents|Daemons)\b|\b(?:post|pre)install\b|\bfolderOpen\b|\b(?:SessionStart|UserPromptSubmit|PreToolUse|PostToolUse|Stop) hook|\bcrontab\b|\blogin items?\b|\bstartup folder\b|\bpost-(?:merge|checkout|commit|receive) hook)/i,
      /\b(?:runs?|running|executes?|starts?|calls?|launch\w*|that|which|with|to|as)\b/i,
    ],
    not: /\b(?:if the user|user (?:wants|asks|requests)|optional(?:ly)?|ask|offer|suggest|do not|don'?t|never|avoid|prisma generate|husky|patch-package|electron|hook (?:types?|events?|examples?|reference)|how to|guide|learn|explains?|supports?|document\w*)\b/i,
  }),
  ...say("persistence", "warn", "It writes itself into what later sessions obey.", {
    all: [
      re(
        String.raw`\b(?:write|save|add|store|note|record|put|commit)\b.{0,20}\b(?:to|in|into)\b.{0,12}\b(?:your|its|the agent'?s?|claude'?s?) (?:long-term |persistent |own |global )?memor(?:y|ies) (?:that|:|the fact)|\b(?:save|keep|store|put|copy|place|write)\b.{0,20}\b(?:copy|copies|version) of (?:these|this|the) (?:instructions?|skill|rules?|file|text|section)\b|\b(?:these|this|the same) (?:instructions?|rules?|text|section|block)\b.{0,40}\b(?:to|in|into)\b.{0,30}${agentFiles}`,
      ),
    ],
    not: /\b(?:user (?:prefer\w*|wants|asks|says)|if the user|ask|do not|don'?t|never|backup|before (?:editing|changing)|follow)\b/i,
  }),
  ...say("permissions", "warn", "It grants somebody wide rights.", {
    all: [
      /\b(?:give|grant|assign|allow|add)\b.{0,60}(?:\broles\/(?:owner|editor)\b|\b(?:owner|administrator|admin|root|superuser) (?:role|rights|access|privileges?|permissions?)\b|\b(?:everyone|everybody|anyone|all users|allUsers|anonymous|the public|world)\b.{0,20}\b(?:write|full|admin|access|read)\b|\bAdministratorAccess\b|\b(?:full|write|unrestricted) access to (?:the )?(?:share|disk|file ?system|home|cluster|account|production)\b)/i,
    ],
    not: /\b(?:do not|don'?t|never|avoid|not|least privilege|instead of|unless|only|risk\w*|vulnerab\w+|overly|excessive|check|detect|audit|flag|if)\b/i,
  }),
  ...say("download-and-run", "warn", "It asks to download something and run it.", {
    all: [
      /\b(?:install|open|run|launch|execute|load|enable|double-click|sideload)\w*\b.{0,80}\bhttps?:\/\/(?!github\.com\/[\w.-]+\/[\w.-]+\/releases)\S{1,200}\.(?:crx|xpi|vsix|exe|msi|dmg|pkg|apk|deb|rpm|appimage|jar|ps1|bat|command|tgz|whl)\b/i,
    ],
  }),
  ...say(
    "deception",
    "warn",
    "It asks for a good word for itself, or changes what money or trust rests on.",
    {
      all: [
        /\b(?:rate|score|mark|label|classify|report|treat|consider|judge|describe|flag)\b.{0,40}\b(?:this|every|all|any|our|each) (?:\w+ )?(?:package|skill|file|repo(?:sitory)?|plugin|extension|tool|dependency|commit|contribution)s?\b.{0,60}\b(?:as )?(?:safe|benign|trusted|verified|harmless|clean|maximum|highest|top|5 stars|10\/10|excellent)\b|\b(?:change|alter|modify|adjust|shift|replace|swap|transpose) (?:one|a|some|the|any|two|single)\b.{0,20}\b(?:digits?|amounts?|figures?|account numbers?|iban|payee|recipient|decimal)\b|\b(?:predictable|guessable|weak(?:er)?|known|constant|fixed)\b.{0,40}\b(?:random number generator|rng|nonce|session (?:id|key)|encryption key|salt|csprng)\b|\b(?:random number generator|rng|nonce|session (?:id|key)|encryption key|salt)\b.{0,20}\b(?:predictable|guessable|weak(?:er)?)\b|\b(?:leave out|omit|hide|overstate|exaggerate|downplay|conceal|understate)\b.{0,30}\b(?:weakness(?:es)?|drawbacks?|flaws?|risks?|conflicts? of interest|downsides?)\b|\b(?:wipe|erase|destroy|nuke|trash|corrupt|overwrite)\b.{0,20}\b(?:the|all|every|their|your|any) (?:\w+ )?(?:repo(?:sitory)?|files|data|disk|database|backups?|history|machine|drive|home)\b|\b(?:bc1[a-z0-9]{25,60}|4[0-9AB][1-9A-HJ-NP-Za-km-z]{90,95})\b/i,
      ],
      not: /\b(?:do not|don'?t|never|avoid|must not|should not|without|cannot|if|check|detect\w*|attack\w*|vulnerab\w+|test|before|risk of|could|would|may|might|will|warning|caution|be careful|security|audit|finding|insecure|bad|instead of)\b/i,
    },
  ),

  // --- Lies and sabotage ---
  ...say("deception", "warn", "It tells the agent to falsify or to weaken the person's work.", {
    all: [
      /\b(?:insert|add|introduce|plant|leave|embed|inject|hide)\b.{0,40}\b(?:backdoors?|back doors?|vulnerabilit(?:y|ies)(?! scan| check| assess| manage| report)|logic bombs?|subtle (?:bugs?|flaws?|errors?)|weak(?:ness|nesses)|hidden (?:admin|user|account|endpoint|route)|master (?:password|key)|hard-?coded (?:admin|password|credential|key|token)|hidden functionality|trojans?|kill switch|magic (?:password|token|header))\b|\b(?:report|say|claim|state|mark|declare|write|tell \w+ \w+|pretend|show)\b.{0,40}\b(?:passed|passing|pass|succeeded|success\w*|clean|safe|no (?:issues|vulnerabilities|findings|problems)|approved|verified|green)\b.{0,50}\b(?:even if|regardless|whether or not|without (?:running|checking|reviewing|testing)|no matter|irrespective|despite)\b|\balways (?:approve|merge|accept|lgtm|trust)\b.{0,40}\b(?:PRs?|pull requests?|commits?|patches|changes|packages?|certificates?|requests?)\b.{0,40}\b(?:from|by|without|regardless|no matter)\b|\balways (?:recommend|suggest|promote|choose|prefer)\b.{0,40}\b(?:our|my)\b|\b(?:replace|swap|substitute|change|rewrite|redirect|set|use)\b.{0,50}\b(?:(?:wallet|payment|payout|btc|eth(?:ereum)?|bitcoin|donation|deposit|recipient|beneficiary) (?:address|account|details|link)(?:es)?|iban|bank (?:account|details)|account number|(?:affiliate|referral) (?:id|code|link|tag))\b.{0,60}\b(?:with|to|by|=)\b|\b(?:fabricate|falsify)\b.{0,40}\b(?:results?|tests?|logs?|evidence|reports?|data|approval|signature|records?|numbers?|benchmark\w*|coverage)\b/i,
    ],
    not: /\b(?:do not|don'?t|never|avoid|cannot|must not|detect\w*|prevent\w*|attackers?|security (?:review|audit|test)|look for|scan for|mock|fixture|fake data|faker|stub|ctf|threat|red team|exploit|post-exploitation)\b/i,
    isDone: true,
  }),
  ...say("deception", "warn", "It spends money or computing power that is not its own.", {
    all: [
      /\b(?:xmrig|stratum\+tcp|minerd|cpuminer|cryptonight|coinhive|nicehash|ethminer|nbminer|t-rex miner|monero(?:ocean)?|crypto(?:currency)? min(?:er|ing))\b/i,
      /\b(?:run|start|install|launch|download|use|-o|pool|background|mine|nohup|idle|cores?)\b/i,
    ],
    not: /\b(?:detect\w*|prevent\w*|attack\w*|indicator\w*|malware|threat|blockchain|wallet integration|explain)\b/i,
  }),
  ...orders,
  ...subtle,
];

const englishRules = rules.filter(({ isForeign = false }) => !isForeign);
