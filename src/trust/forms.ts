import {
  isChosen,
  isGiven,
  isInMask,
  isJoined,
  isMixed,
  isPlaceholder,
  isPlainPassword,
  isScrambled,
  isTold,
  isWordWithNumber,
  looksTyped,
  makeSpan,
  type Span,
} from "./values.ts";

/** Whether what stands at a secret's place is one. */
type FormJudge = (value: string, match: RegExpExecArray) => boolean;

/** A form in which a kind of file, program or person writes a secret: the pattern's last group is the secret. */
type SecretForm = readonly [kind: string, pattern: RegExp, judge: FormJudge];

const any: FormJudge = () => true;
const random = (value: string): boolean => isKeyLike(value) && !isPlaceholder(value);

/** A key as programs make them: long hex, or letters and digits in no order. */
export function isKeyLike(value: string): boolean {
  if (/^(?:0x)?[0-9a-f]+$|^(?:0x)?[0-9A-F]+$/.test(value)) return value.length >= 24;
  return isScrambled(value.replace(/[/+=]/g, ""), 16);
}

const isYear = /^(?:19|20)\d\d$/;
const notSentence = (words: readonly string[]): boolean =>
  !words.some((word) =>
    /^(?:the|and|for|with|that|this|from|you|your|are|not|was|will|can|have|has|its|then|when)$/i.test(word),
  );

const code: FormJudge = (value, { 0: whole }) =>
  !isYear.test(value) &&
  !/(?:port|line|status|error|http|pid|issue|exit code|timeout|length|digits)\W{0,3}\d+$/i.test(whole);

const seedPhrase: FormJudge = (value) => {
  const words = value.split(/\s+/);
  return words.length % 3 === 0 && notSentence(words) && new Set(words).size > 8;
};

const base32: FormJudge = (value) => {
  const groups = value.split(/[ -]/);
  return groups.length >= 6 || groups.some((group) => /\d/.test(group) || !/[aeiouy]/i.test(group));
};

const groupedKey: FormJudge = (value) =>
  value === value.toUpperCase() &&
  /\d/.test(value) &&
  !/^[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-|^(?:19|20)\d\d-/.test(value);

const card: FormJudge = (value) => {
  const digits = value.replace(/\D/g, "");
  // The numbers that payment providers publish for tests.
  const isTest = /^(?:4242|4111|4000|4012|5555|5105|5200|2223|3782|3714|3056|6011|3566|4222)/.test(digits);
  return digits.length >= 13 && digits.length <= 19 && !isTest && new Set(digits).size > 4;
};

const list: FormJudge = (value) => {
  const items = value.split(/\s*,\s*/);
  const areChars = items.every((item) => item.startsWith("'"));
  const isVaried =
    new Set(items).size * 2 > items.length && items.join() !== items.toSorted((a, b) => +a - +b).join();
  return areChars || (isVaried && items.length >= 16 && items.every((item) => Number(item) < 256));
};

/** Under `key` alone, hex may be the key of a cache; beside a user or a service it is none. */
const bareKey: FormJudge = (value, { input, index }) => {
  if (!/^[0-9a-f]+$/i.test(value)) return random(value) && !/^[a-z0-9]+$/.test(value);
  return /user(?:name)?["']?\s?[:=]|\b(?:provider|account|openai|vendor)s?\b/i.test(
    input.slice(Math.max(0, index - 300), index),
  );
};

const bytes: FormJudge = (value) => {
  const numbers = value.split(",").map(Number);
  return numbers.every((one) => one < 256) && new Set(numbers).size >= 40;
};

const codeWord =
  "(?:OTP|TOTP|TAN|PUK|PIN(?:-?(?:[Cc]ode|Nummer))?|pin code|[Oo]ne-time (?:code|password)|(?:2FA|MFA|2fa|mfa|[Vv]erification|[Ss]ecurity|SMS|[Aa]uthenticator|[Uu]nlock|[Dd]oor|[Aa]ccess|[Aa]larm|[Gg]ate|[Ll]ock) code|[Pp]asscode|[Cc]ode (?:de (?:d[ée]verrouillage|v[ée]rification|s[ée]curit[ée]|confirmation)|PIN|secret|d’acc[eè]s|d'acc[eè]s)|[Cc][óo]digo (?:de (?:verificaci[óo]n|verifica[çc][ãa]o|seguridad|seguran[çc]a|acceso|acesso|desbloqueo|desbloqueio)|PIN)|[Cc]odice (?:di (?:verifica|sicurezza|sblocco|accesso)|PIN)|(?:Bestätigungs|Sicherheits|Entsperr|Zugangs|Tür|Prüf)code|(?:ПИН|пин)-?код|код (?:подтверждения|из (?:СМС|SMS))|验证码|驗證碼|認証コード|確認コード|인증 ?번호)";
const listItem = String.raw`(?:'[^'\n]'|0x[0-9a-fA-F]{1,2}|\d{1,3})`;

const isLinkKey: FormJudge = (value) =>
  /^[0-9a-f]{24,}$/.test(value) ||
  (/[A-Za-z0-9_]{20}/.test(value) && /\d.*\d/.test(value) && isKeyLike(value));

/** Forms near a telling word. */
// biome-ignore format: a table reads better in rows
const forms: readonly SecretForm[] = [
  // Codes and keys that people read off a screen.
  ["code", new RegExp(String.raw`(?<![\w-])${codeWord}(?![a-z])[^\n\d$|│]{0,40}?(?<![\w.#:/-])(\d{3}[ -]\d{3}|\d{4,8})\b(?![.:%/-]?\d| ?(?:digits?|char|times|sec|min|hours|days|ms|px|bytes))`, "g"), code],
  ["code", /(?<![\w.-])(?:[A-Z]-)?(\d{4,8}) (?:is|ist|es|est|è|é) (?:your|the|my|ihr|dein|tu|su|votre|il tuo|o seu)\b[^\n]{0,40}\b(?:code|código|codice|OTP|PIN|TAN)\b/gi, code],
  ["code", /--?(?:otp|totp|pin|puk|mfa(?:-code)?|2fa(?:-code)?|token-code|one-time-password)[= ]["']?(\d{4,10})\b/gi, any],
  ["seed-phrase", /\b(?:seed|mnemonic|(?:recovery|secret|backup|wallet) phrase|wallet)\b[^\n]{0,80}?[\s:"'`]((?:[a-z]{3,8}[ \t]){11,23}[a-z]{3,8})(?![a-z])/gi, seedPhrase],
  ["key", /\b(?:2fa|mfa|totp|otp|authenticator|set-?up key|secret)\b[^\n]{0,60}?(?<![\w-])((?:[A-Za-z2-7]{4}[ -]){3,15}[A-Za-z2-7]{4})(?![\w-])/g, base32],
  ["key", /\b(?:licen[cs]e|product|activation|serial|wlan|wi-?fi|wpa2?|vpn|schlüssel|key)\b[^\n]{0,40}?(?<![\w-])([A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,7})(?![\w-])/gi, groupedKey],
  ["card", /\b(?:card|visa|amex|mastercard|credit|kreditkarte|karte|tarjeta|carte|PAN)\b[^\n]{0,60}?(?<![\w.-])(\d{4}[ -]?\d{4,6}[ -]?\d{4,5}(?:[ -]?\d{1,4})?)(?![\w.-])/gi, card],
  ["key", /(?<![\d-])(\d{6}(?:-\d{6}){7})(?![\d-])/g, any],
  ["card", /\b(?:cvv2?|cvc2?|cid|csc)\b(?: is|:|=)?\s?(\d{3,4})\b(?=[^\n]{0,60}$|[,;.\n ])/gim, any],
  // Files of programs.
  ["password", /(?:^|[\n\0])[ \t>+|-]{0,24}(?:[\w.-]{1,60}[_. -])?(?:pass(?:word|wd|wort|phrase|code)|kennwort|pwd|psk|contraseña|mot de passe|senha|wachtwoord|пароль|パスワード|密码|비밀번호)["'*\x60]{0,3} ?[:：]\*{0,2}[ \t]{0,4}\r?\n(?:[ \t]{0,24}\r?\n(?=[ \t]{2}))?[ \t>+|-]{0,24}["'\x60]{0,3}([^\s"'\x60\\:]{6,200})["'\x60]{0,3}[ \t]*(?=\r?\n|[\n\0]|$)/gi, isTold],
  ["password", /\[[\w.-]{3,80}\](?::\d{2,5}[ \t]+[\w.+-]{1,60}|[ \t]+[\w.+-]{1,60}@)(?:@?[\w.-]{1,80})?:([^\s"'\\]{4,200})/g, isGiven],
  ["password", /^[^\s:#]{1,80}:(?:\d{2,5}|\*):[^\s:]{1,64}:[^\s:]{1,64}:([^\s"\\]{4,200})$/gm, isChosen],
  ["password", /(?:^|\n)\s*masterauth\s+"?([^\s"]{4,200})/g, isGiven],
  ["password", /\buser \S{1,40} on\b[^\n]{0,40} >([^\s"\\]{6,200})/g, isGiven],
  ["password", /[Pp]assword:: ?([A-Za-z0-9+/]{8,}={0,2})/g, any],
  ["password", /WIFI:[^\n]{0,120}?[;:]P:((?:\\.|[^;\n\\]){4,80});/g, isGiven],
  ["password", /\b(?:snmp-server community|(?:tacacs|radius)(?:-server)?(?: host \S{1,60})? key|isakmp key|pre-shared-key(?: local| remote)?|authentication-key \d+ \w+|key-string|wpa-psk(?: ascii)?|r[ow]community|createUser \S{1,40} \w{2,8}|(?:enable|root) secret|rootpw|olcRootPW:|option key) (?:--plaintext )?(?:[05678] )?["']?([^\s"']{4,200})/g, isTold],
  ["password", /:\s{0,3}(?:PSK|EAP|XAUTH|NTLM|PIN)\s{1,4}"([^"\n]{4,200})"/g, isGiven],
  ["password", /name=\\?"[^"\n]{0,30}(?:password|passwd|pwd|token|secret|pin|otp)\\?"\s{0,4}?(?:\r?\n|\\r\\n|\\n){2}([^\s"\\]{4,200})/gi, isGiven],
  ["password", /"random_password"[\s\S]{0,1200}?"result":\s?"((?:[^"\\\n]|\\.){8,200})"/g, any],
  ["password", /"result":\s?"((?:[^"\\\n]|\\.){8,200})"[^\n]{0,200}"(?:bcrypt_hash|special|override_special)"/g, isChosen],
  ["password", /<(?:password|passphrase)>(\{[\w+/=]{16,}\})</g, any],
  ["private-key", /\baccounts["']?\s?[:=]\s?\[\s{0,8}["']((?:0x)?[0-9a-f]{64})["']/g, any],
  ["key", /["'](?:Key|key|Secret|secret|SigningKey|signingKey)["']\s?:\s?["']([\w+/=-]{32,200})["']/g, (value) => /[a-z]/.test(value) && /[A-Z]/.test(value) && random(value) && !/^sha\d/.test(value)],
  ["key", /"(?:d|p|q|dp|dq|qi|k)"\s?:\s?"([\w-]{20,1000})"(?=[^}]{0,2000}"(?:kty|crv|use|kid|alg)")/g, isMixed],
  ["key", /"kty"[^}]{0,2000}?"(?:d|k)"\s?:\s?"([\w-]{20,1000})"/g, isMixed],
  ["private-key", /Private-Lines: \d+\s*\n((?:[A-Za-z0-9+/=]{4,}\s*\n)+(?:Private-(?:MAC|Hash): [0-9a-f]+)?)/g, any],
  ["key", /\boathtool\b[^\n|;]{0,80}?\s["']?([A-Z2-7]{16,64}={0,6})(?=["'\s]|$)/gi, any],
  ["key", new RegExp(String.raw`(?:key|secret|passw(?:or)?d|token|seed)s?(?:_?bytes)?(?:\[\d{0,4}\])?\s{0,3}(?::?=|:)\s{0,3}(?:new \w+\[\d{0,4}\]\s{0,3}|\w{1,20}\()?[{[(]\s{0,20}(${listItem}(?:\s{0,20},\s{0,20}${listItem}){7,255})`, "gi"), list],
  ["password", /<(?:\w{0,30}Password)>\s{0,40}<Value>([^<\s]{6,2000})<\/Value>/gi, isGiven],
  // What programs print and are sent.
  ["password", /(?:password|passphrase|secret)\b[^\n]{0,80}\n(?:new |generated )?(?:value|one|password): ([^\s"\\]{8,200})/gi, isChosen],
  ["password", /334 UGFzc3dvcmQ6\s*(?:\n|\\n)[^A-Za-z0-9+/\n]{0,6}(?:C: ?)?([A-Za-z0-9+/]{6,}={0,2})/g, any],
  ["password", /\/dev\/tty[^\n]*\n(?:[^\n]*\n){0,3}?[^\n]*read\(\d+, "([^"\n]{4,80}?)\\n"/g, isGiven],
  ["password", /"(?:AUTH|PASS) ([^"\s]{4,80}?)\\r\\n"/g, isGiven],
  ["password", /[$#%>] ([^\s"\\]{8,64})(?=\r?\n(?:-?(?:ba|z|da|k)?sh|fish): )/g, looksTyped],
  ["password", /(?:sh|fish): (?:line \d+: |\d+: )?([^\s:]{8,64}): (?:command )?not found/g, looksTyped],
  ["password", /command not found: ([^\s"\\]{8,64})/g, looksTyped],
  ["password", /(?:^|: )[0-9a-f]{32,128}:([\x21-\x39\x3b-\x7e]{6,64})$/gim, looksTyped],
  ["password-hash", /(?:^|: )([0-9a-f]{32,128}):(?=\S*[A-Za-z]\S*\d|\[redacted)[^\s:]{6,64}$/gim, (_, { input }) => /hashcat|cracked|potfile|john/i.test(input)],
  ["token", /--?token[ =]["']?([a-z0-9]{6}\.[a-z0-9]{16})\b/g, isMixed],
  ["password", /\bs([/|#])[^/|#\n]{0,80}\1([^/|#\s]{6,200})\1[a-z]?["']?\s[^\n;|&]*(?:\.env\b|secrets?\b|credentials?\b|passw)/gi, (value) => looksTyped(value) || isWordWithNumber(value) || isScrambled(value, 12)],
  ["password", /\b(?:wlan|wireless|wi-?fi|hostednetwork)\b[^\n;|&]{0,40}?\bkey=["']?([^\s"']{6,64})/gi, isGiven],
  ["password", /(?<![\w/.-])(?:admin|root|administrator|postgres|sa) ?[/:] ?([\x21-\x2e\x30-\x7e]{6,64}?)(?=[\s,;)"'\x60]|$)/g, (value) => isTold(value) && (isWordWithNumber(value) || looksTyped(value) || isJoined(value))],
  ["password", /\b(?:user|username|login|account)[ :]{1,2}[\w.@-]{2,40}\s?[/|,:]\s?(?:p(?:ass|w)\w{0,5}[ :=]{1,2})?([\x21-\x7e]{8,64})/gi, (value) => looksTyped(value.replace(/[.,;)]+$/, ""))],
  ["password", /"value"\s?:\s?"([^"\n\\]{6,400})"\s?,\s?"(?:name|key)"\s?:\s?"[^"\n]{0,60}(?:password|passwd|secret|token|api[._-]?key)"/gi, isChosen],
  ["key", /key(?<=(?:^|[\s("'*])(?:\w+['’]s|the|my|our) (?:\w{1,12} )?key) ?(?:->|→|:|=|is) ?["'`*]*([\w+/=-]{20,200})/gim, random],
  ["key", /(?:^|[\s{,])["']?key["']?\s?[:=]\s?["']?([A-Za-z0-9]{32,128})(?=["']?(?:\s|$|[,}]))/gm, bareKey],
  ["password", /(?:password|secret|token|passphrase)\w{0,20}\s?=\s?''([^'\n]{6,200})''/gi, isGiven],
  ["token", /["'`]([\w+/=-]{20,200})["'`] = \w[^\n]{0,200}\.\w*(?:secret|token|password|api_key)\b/gi, random],
  ["encoded", /(?:pass|pwd|\bpw\b|secret|token|key)[^\n]{0,60}?["'>=:]\s?((?:\\+u00[2-7][0-9a-f]|\\+x[2-7][0-9a-f]|&#x?[0-9a-f]{2,3};){6,200})/gi, any],
];

/** Forms that need no telling word, or whose words are too common for a search of their own. */
// biome-ignore format: a table reads better in rows
const openForms: readonly SecretForm[] = [
  ["password", /:(?<=[\s"'>=][\w.+-]{2,40}:)([^\s:@/"'<>(){}]{6,80})@(?:[\w-]{1,60}\.){1,5}[a-z]{2,12}(?=[\s/:"'?]|$)/g, isTold],
  ["token", /\t([\w%.-]*(?:sess|sid|auth|token|jwt|csrf|remember|login)[\w.-]*\t[^\s]{12,4096})$/gim, any],
  ["key", /[?&](?:[\w-]{0,20}(?:key|token|secret|code|ticket|auth|otp)|app_?id|sid|pwd|pass(?:word)?|SAML(?:Response|Request))=([^\s&"'`<>\\)]{16,8192})/gi, random],
  ["key", /\bSAML(?:Response|Request|art)=([A-Za-z0-9+/%=_-]{40,})/g, any],
  ["link", /\/(?:(?:password[-_]?)?reset|invite|invitation|verify|confirm|magic|activate|activation|recover|unlock|one-?time|private|secret)[\w-]{0,20}?[/=-]([\w-]{20,256})(?![\w-]*\.\w)/gi, isLinkKey],
  ["key", /\[((?:\d{1,3},\s?){63}\d{1,3})\]/g, bytes],
];

export function formSecrets(text: string): Span[] {
  return [...findForms(text, forms), ...listedCodes(text), ...listedLogins(text), ...listedAccounts(text)];
}

export function openSecrets(text: string): Span[] {
  return [...findForms(text, openForms), ...(text.includes("&") ? sentLogins(text) : [])];
}

const shortField = /[?&"']p(?:w|wd|sw|ass|asswd|in)?=([^&\s"'<>\\]{4,200})/gi;
const userField = /(?:^|[^\w.%-])(?:u|un|uid|user|usr|user_?name|login|name|e?mail)=[^&\s"'<>]/i;

/** `u=bob&p=…`, which a login page is sent: without a user, `p` is the number of a page or what is looked for. */
function sentLogins(text: string): Span[] {
  return [...text.matchAll(shortField)].flatMap((match) => {
    const end = match.index + match[0].length;
    const before = /[^\s"'<>]*$/.exec(text.slice(Math.max(0, match.index - 160), match.index + 1))?.[0] ?? "";
    const after = /^&[^\s"'<>]*/.exec(text.slice(end, end + 160))?.[0] ?? "";
    const value = match[1] ?? "";
    const plain = value.replace(/%[0-9a-f]{2}/gi, "!");
    const isPassword =
      isGiven(value) && !/[(){}[\];]|==/.test(value) && (isTold(plain) || /\d.*[a-z]|[a-z].*\d/i.test(plain));
    return isPassword && (userField.test(before) || userField.test(after))
      ? [makeSpan(end - value.length, value, "password")]
      : [];
  });
}

function findForms(text: string, table: readonly SecretForm[]): Span[] {
  return table.flatMap(([kind, pattern, judge]) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const value = (match.at(-1) ?? "").replace(/[.,;]+$/, "");
      if (value === "" || value.includes("[redacted") || isInMask(text, match.index) || !judge(value, match))
        return [];
      return [makeSpan(match.index + match[0].lastIndexOf(value), value, kind)];
    }),
  );
}

const codesHeading =
  /(?:recovery|backup|scratch|emergency|rescue|wiederherstellungs|ersatz)[ -]?codes?\b[^\n:]{0,80}(?::[ \t]*\n?|\n)|(?:codes? de (?:secours|r[ée]cup[ée]ration|sauvegarde)|c[óo]digos de (?:recuperaci[óo]n|recupera[çc][ãa]o|respaldo|backup)|codici di (?:recupero|backup))\b[^\n:]{0,80}(?::[ \t]*\n?|\n)/gi;
const codeLine =
  /^[\s>|*•]{0,8}(?:\d{1,2}[.)]\s)?((?=[a-z\d -]*\d)[a-z\d]{4,}(?:-[a-z\d]{4,}){0,5})(?:[\s,]+(?:\d{1,2}[.)]\s)?[a-z\d]{4,}(?:-[a-z\d]{4,}){0,5})*[\s,]*$/i;

/** The codes below, or beside, a heading for recovery codes. */
function listedCodes(text: string): Span[] {
  return [...text.matchAll(codesHeading)].flatMap((match) => {
    const from = match.index + match[0].length;
    let at = from;
    const spans: Span[] = [];
    for (const line of text
      .slice(from, from + 1_000)
      .split("\n")
      .slice(0, 24)) {
      // In one line a sentence may go on behind the codes.
      const codes = at === from ? line.replace(/[.!]?\s+[A-Z][a-z].*$|\.\s*$/, "") : line;
      if (codes.trim() !== "" && !codeLine.test(codes)) break;
      for (const one of codes.matchAll(/[A-Za-z\d]{4,}(?:-[A-Za-z\d]{4,})*/g))
        if (/\d/.test(one[0]) && !isYear.test(one[0])) spans.push(makeSpan(at + one.index, one[0], "code"));
      at += line.length + 1;
    }
    return spans;
  });
}

const loginsHeading = /\bchpasswd:[ \t]*\n(?:[^\n]*\n){0,2}?\s*(?:list|users):[^\n]*\n/g;
const accountsHeading =
  /(?:log ?ins?|logons?|credentials?|creds|accounts?|passwords?|passw[oö]rte?r?|zugangsdaten|zug[aä]nge|konten|benutzer|identifiants|acc[eè]s|comptes|credenciales|cuentas|credenciais|contas|credenziali|users? and passwords?|логины|пароли|доступы|アカウント|パスワード|账号|密码|계정|비밀번호)[^\n:：]{0,40}[:：][ \t]*\r?\n((?:[ \t]*[-*•]?[ \t]*[\w.@+-]{2,60}(?:[ \t]{2,}|\t|[ \t]*[:/|,;=→][ \t]*|[ \t]+-[ \t]+|[ \t]+)[\x21-\x7e]{6,64}[ \t]*(?:\r?\n|$)){2,40})/gi;
const accountRow =
  /^[ \t]*[-*•]?[ \t]*[\w.@+-]{2,60}(?:[ \t]{2,}|\t|[ \t]*[:/|,;=→][ \t]*|[ \t]+-[ \t]+|[ \t]+)([\x21-\x7e]{6,64})[ \t]*\r?$/gm;

/** Users and their passwords in lines below a sentence that announces them. */
function listedAccounts(text: string): Span[] {
  return [...text.matchAll(accountsHeading)].flatMap((match) => {
    const rows = [...(match[1] ?? "").matchAll(accountRow)];
    const from = match.index + match[0].length - (match[1] ?? "").length;
    const values = rows.map((row) => row[1] ?? "");
    // A list of other things about accounts has dates, addresses or states there.
    if (!values.every((value) => isPlainPassword(value) || isTold(value))) return [];
    return rows.map((row) =>
      makeSpan(from + row.index + row[0].lastIndexOf(row[1] ?? ""), row[1] ?? "", "password"),
    );
  });
}

/** `user:password` lines below `chpasswd:` in a cloud's settings for a new machine. */
function listedLogins(text: string): Span[] {
  return [...text.matchAll(loginsHeading)].flatMap((match) => {
    const from = match.index + match[0].length;
    const [lines = ""] = /^(?:[ \t]+(?:- )?[\w.-]+:\S+(?:\n|$))+/.exec(text.slice(from, from + 2_000)) ?? [];
    return [...lines.matchAll(/:([^\s"\\]{4,})/g)].flatMap((one) =>
      isGiven(one[1] ?? "") ? [makeSpan(from + one.index + 1, one[1] ?? "", "password")] : [],
    );
  });
}
