import type { CharRun } from "./telling.ts";
import {
  hasStrayCapitals,
  isInMask,
  isJoined,
  isPlaceholder,
  isPlainPassword,
  isScrambled,
  isTold,
  isWordWithNumber,
  looksTyped,
  makeSpan,
  type Span,
} from "./values.ts";

/** "Password" in the languages that people write to agents in; each may carry an ending. */
const passwordWords = [
  ...["password", "passphrase", "passcode", "passwd", "passwort", "kennwort", "zugangsdaten", "contraseña"],
  ...["contrasena", "clave", "mot de passe", "mdp", "senha", "palavra-passe", "wachtwoord", "hasło", "haslo"],
  ...[
    "lösenord",
    "adgangskode",
    "passord",
    "salasana",
    "şifre",
    "sifre",
    "parola",
    "heslo",
    "jelszó",
    "lozinka",
  ],
  ...[
    "mật khẩu",
    "kata sandi",
    "пароль",
    "пароля",
    "κωδικός",
    "パスワード",
    "暗証番号",
    "密码",
    "密碼",
    "口令",
    "비밀번호",
    "암호",
  ],
  ...["合言葉", "passkey", "ססמה", "slaptažodis", "parole", "geslo", "пароли"],
  ...["كلمة المرور", "كلمة السر", "סיסמה", "סיסמא", "รหัสผ่าน", "पासवर्ड", "гасло", "парола"],
];
/** Words for keys and tokens, whose values look random. */
const keyWords = [
  "トークン",
  "APIキー",
  "密钥",
  "密鑰",
  "令牌",
  "токен",
  "ключ",
  "schlüssel",
  "clé",
  "chave",
  "토큰",
  "키",
];
const codeWords =
  "one-time|one time|2fa|mfa|otp|totp|verification|security|recovery|backup|access|sms|unlock";
const shortWords = [
  "pw",
  "pwd",
  "pin",
  "psk",
  "creds?",
  "credentials?",
  `(?:${codeWords}) code`,
  "login",
  "log in",
  "(?:secret|magic|code|master) ?word",
  "unlock phrase",
  "unlock(?:s|ed)?",
  "jump ?host",
  "pass(?= (?:is |[\\x21-\\x7e]{6}))",
];

const anchor = new RegExp(
  `(?:${[...passwordWords, ...keyWords].join("|")}|\\b(?:${shortWords.join("|")})\\b)`,
  "gi",
);

/** Between the word and the value: an ending, some words, and what says "is". */
const link = new RegExp(
  String.raw`^(?:[\p{L}]{0,3}?(?:'s|’s)?)?(?:[ \t]\([^)\n]{0,40}\))?(?:[ \t\x60*"'][^\n:：=→;!?]{0,44}?)?` +
    String.raw`(?:['’]s[ \t]|,[ \t](?:it['’]s|it is|that['’]s|that is|c['’]est|und zwar|namely)[ \t]|[ \t](?:is|are|was|to|be|es|est|ist|lautet|c'est|é|è|är|er|on|je|là|ise|este|eto|wäre|heißt|war|adalah|هي|هو|היא|הוא|это|jest|olarak|είναι|है)(?=[ \t:])|\*{0,2}[ \t]?(?:-{1,2}>|[:：=→—–])|は|が|是|为|為|는|은|คือ|[ \t]→)` +
    String.raw`[ \t:：*]{0,4}(?:(?:now|still|currently|jetzt|nun|noch|weiterhin|maintenant|toujours|ahora|adesso|agora|nu|nog|теперь|сейчас)[ \t:]{1,2})?`,
  "iu",
);
/** A word, and what may stand around it. */
const quotedWord = /^\s{0,3}(?:[«‹][\s\u202f]?|["'“”„‘’「『`*(]){0,3}([\x21-\x7e]{4,200})/;
const trailing = /[»"'“”‘’」』`*),;:?]+$|[.!](?=$)/;

/** "The password is …", in several languages, and "user / …" after a word for credentials. */
export function proseSecrets(text: string): Span[] {
  const anchors = [...text.matchAll(anchor)];
  return [
    ...promptAnswers(text),
    ...saidSecrets(text, anchors),
    ...typedSecrets(text, anchors),
    ...typedSecrets(text, [...text.matchAll(openings)]),
    ...saidPhrases(text),
    ...spokenPhrases(text),
  ];
}

/** Words for what a password opens: near them only what looks like one is taken for it. */
const openings =
  /\b(?:wi-?fi|wlan|vault (?:opens|unlocks)|unlocks?|opens? with|keepass\w*|bitwarden|decrypts? with|sudo (?:prompt|asks)|security (?:answer|question)|zugang(?:sdaten)?|identifiants?|backup code|passwortabfrage|(?:key|code) (?:to|for) the)\b/gi;

const reach = { before: 48, after: 140 };
const typedWord = /[^\s"'`«»“”„‘’「」『』，。、；：（）*,;()]{8,64}/g;

/** Words that look like a password in the line of a word for one, whatever says how they belong together. */
function typedSecrets(text: string, anchors: readonly RegExpExecArray[]): Span[] {
  let done = 0;
  return anchors.flatMap((match) => {
    const at = match.index + match[0].length;
    if (isInMask(text, match.index) || isPartOfName(text, match.index, at)) return [];
    const before =
      /[^\n\0]*$/.exec(text.slice(Math.max(0, match.index - reach.before), match.index))?.[0] ?? "";
    const after = /^[^\n\0]*/.exec(text.slice(at, at + reach.after))?.[0] ?? "";
    const from = Math.max(done, match.index - before.length);
    done = at + after.length;
    return [...text.slice(from, done).matchAll(typedWord)].flatMap(({ 0: word, index }) => {
      const lead = /^(?:[\w.@-]{1,40}[:/](?!\/)|[^\x21-\x7e]+)/.exec(word)?.[0] ?? "";
      const value = word.slice(lead.length).replace(/[.:!?]+$|[^\x21-\x7e].*$/, "");
      // What begins before the window may be the end of a longer word.
      const isCut = index === 0 && from > 0 && /\S/.test(text[from - 1] ?? "");
      const start = from + index + lead.length;
      const isTyped =
        looksTyped(value) || (isWordWithNumber(value) && isEntered(text, start, start + value.length));
      return !isCut && isTyped ? [makeSpan(start, value, "password")] : [];
    });
  });
}

const [entersBefore, entersAfter] = [
  /(?:\b(?:enter|type|with|use|using|then|try|gib|mit|tape[rz]?|saisi\w*|avec|con|usa|com|digit\w+|met|med|wpisz|введи\p{L}*)|[:>→–—-])[ \t]["'`«„“]?$/iu,
  /^["'`»“”]?(?:[ \t](?:when|if|at the|wenn|bei|ein(?:geben)?\b|quand|cuando|quando|когда)|[ \t]eingeben)/i,
] as const;

/** Whether the words around a word say that it is typed. */
function isEntered(text: string, start: number, end: number): boolean {
  return (
    entersBefore.test(text.slice(Math.max(0, start - 16), start)) ||
    entersAfter.test(text.slice(end, end + 16))
  );
}

/** Whether a word is a piece of an identifier, a path or an option. */
function isPartOfName(text: string, start: number, end: number): boolean {
  // German writes `WLAN-Passwort`.
  const isCompound = text[start - 1] === "-" && /\p{Lu}/u.test(text[start] ?? "");
  return (
    (/[\w$./-]/.test(text[start - 1] ?? "") && !isCompound) ||
    /^(?:[A-Z_\d([.]|-\w|s?\(|\w{4})/.test(text.slice(end, end + 4))
  );
}

const phraseWords = `[a-z]{3,12}(?: [a-z]{3,12})`;
const saidPhrase = new RegExp(
  String.raw`(?:pass(?:phrase|word|wort)|kennwort|mot de passe|contraseña)\b[^\n\0:"“]{0,40}?(?:(?:\b(?:is|ist|est|es|was)|:)\s{1,2}(?:["“„«](${phraseWords}{1,9})["”“»]|(${phraseWords}{2,9})(?=\s*(?:\n|\0|$)))|\b(?:is|was|lautet)\s[\x60'"“„]([A-Za-z]{3,12}(?: (?:[A-Za-z]{3,12}\d{0,4}|\d{1,6})){1,9})[\x60'"”“])`,
  "g",
);
const plainWord =
  /^(?:the|an|and|for|with|that|this|from|you|your|are|not|was|will|can|have|has|its|then|when|should|must|be|is|in|to|of|or|on|at|by|as|it|set|sent|stored|required|needed|used|correct|incorrect|wrong|invalid|missing|too|very|only|also|password|passphrase|field|please|enter|does|did|no|but|if|so|we|they|der|die|das|und|nicht)$/;

/** "The passphrase is "…"": several words, of which none belongs to a sentence. */
function saidPhrases(text: string): Span[] {
  return [...text.matchAll(saidPhrase)].flatMap((match) => {
    const value = match[1] ?? match[2] ?? match[3] ?? "";
    return isSentence(value) ? [] : [makeSpan(match.index + match[0].lastIndexOf(value), value, "password")];
  });
}

const spokenPhrase = new RegExp(
  String.raw`\b(?:pass(?:phrase|word|wort)|kennwort|(?:new|old|current|other) one)\b[^\n\0:"“]{0,30}?\b(?:is|was|ist|war|lautet)\s(?:now\s)?(${phraseWords}{3,9}?)(?=\s?(?:[—–,;.]|(?:and|und|but|please)\b))`,
  "g",
);

/** "The passphrase was … and the new one is …", inside a sentence. */
function spokenPhrases(text: string): Span[] {
  if (!/passphrase|passwort|password|kennwort/i.test(text)) return [];
  return [...text.matchAll(spokenPhrase)].flatMap((match) => {
    const value = match[1] ?? "";
    return isSentence(value) || /ed\b/.test(value)
      ? []
      : [makeSpan(match.index + match[0].lastIndexOf(value), value, "password")];
  });
}

function isSentence(value: string): boolean {
  return value.split(" ").some((one) => plainWord.test(one.toLowerCase())) || isPlaceholder(value);
}

const quotedPhrase =
  /^[ \t]?[«"'“”„‘’「『`]\s?((?:\p{L}{3,14}\d{0,4}|\d{1,6})(?: (?:\p{L}{3,14}\d{0,4}|\d{1,6})){2,9})\s?[»"'“”‘’」』`]/u;

const prompt =
  /(?:[Pp]assword|[Pp]assphrase|\bPIN|[Pp]asscode)\b[^\n\0=]{0,80}?: ?([\x21-\x7e]{4,80})(?=\s*(?:\n|\0|$|\\n))/g;

/** Text typed at a password prompt, to the end of its line. */
function promptAnswers(text: string): Span[] {
  return [...text.matchAll(prompt)].flatMap((match) => {
    const value = isInMask(text, match.index) ? "" : (match[1] ?? "");
    return isTold(value) ? [makeSpan(match.index + match[0].length - value.length, value, "password")] : [];
  });
}

function saidSecrets(text: string, anchors: readonly RegExpExecArray[]): Span[] {
  return anchors.flatMap((match) => {
    const at = match.index + match[0].length;
    if (isInMask(text, match.index)) return [];
    const line = /^[^\n\0]{0,140}/.exec(text.slice(at, at + 140))?.[0] ?? "";
    const word = match[0].toLowerCase();
    return (
      saidAfter(line, at, word) ??
      saidBefore(text, match.index, word) ??
      (isPartOfName(text, match.index, at)
        ? undefined
        : plainlySaid(line, at, word, lineAround(text, match.index))) ??
      []
    );
  });
}

/** The line that a position is in, as far as it matters. */
function lineAround(text: string, at: number): string {
  const before = /[^\n\0]*$/.exec(text.slice(Math.max(0, at - 160), at))?.[0] ?? "";
  return before + (/^[^\n\0]*/.exec(text.slice(at, at + 200))?.[0] ?? "");
}

function saidAfter(line: string, at: number, word: string): Span[] | undefined {
  const joint = link.exec(line)?.[0];
  const isDirect = joint !== undefined && joint.length <= 10;
  const found = joint === undefined ? undefined : readWord(line, joint.length);
  if (found !== undefined && isSaid(found.value, word, isDirect))
    return [makeSpan(at + found.start, found.value, "password")];
  const phrase =
    joint === undefined || /["'`]/.test(joint) ? undefined : quotedPhrase.exec(line.slice(joint.length))?.[1];
  if (phrase !== undefined && passwordWords.some((one) => word.startsWith(one)) && !isSentence(phrase))
    return [makeSpan(at + line.indexOf(phrase, joint?.length), phrase, "password")];
  return pairAfter(line, at, word) ?? besideWord(line, at, word);
}

/** A value as people write it: without the quotes around it and the full stop after it. */
function readWord(
  line: string,
  from: number,
): { readonly value: string; readonly start: number } | undefined {
  const match = quotedWord.exec(line.slice(from));
  if (match === null) return undefined;
  const [whole, raw = ""] = match;
  const value = raw.replace(/[`"'”’].*$/, "").replace(trailing, "");
  return { value, start: from + whole.length - raw.length };
}

const words = /^(?:.* code|log ?in|creds?|credentials?|unlock(?:s|ed)?|jump ?host)$/;

/** Who logs in, and to what: a sentence that names it too gives somebody's way in, and its password may be any word. */
const access =
  /\b(?:users?|usernames?|usuario|utilisateur|identifiant|benutzer\w*|nutzer|usu[aá]rio|utente|gebruiker\w*|användar\w*|bruker\w*|bruger\w*|użytkownik\w*|uživatel\w*|felhasznál\w*|korisni\w+|kullanıcı|login|log in|sign in|accounts?|konto|compte|cuenta|conta|root|admin\w*|sudo|ssh|s?ftp|smtp|imap|vpn|wi-?fi|wlan|nas|zip|router|server\w*|serveur|servidor|host|jump ?host|database|datenbank|veritabanı|unlocks?)(?![A-Za-z])|@[\w-]+\.\w|пользовател|логин|сервер|користувач|用户|用戶|ユーザ|サーバ|管理者|账号|帳號|服务器|계정|사용자|서버|관리자|משתמש|שרת|المستخدم|الخادم|उपयोगकर्ता|सर्वर|ผู้ใช้|เซิร์ฟเวอร์|χρήστη|διακομιστ|sunucu|palvelim|käyttäj|szerver|tài khoản|máy chủ|pengguna|utilizator|sandi server/iu;

/** What ends a value in a sentence: its end, a sign, or a word that goes on with something else. */
const closes =
  /^[»"'“”‘’」』\x60*)]{0,3}(?:[.,;!?]?(?=\s*(?:[\n\0]|$))|[,;.!?—–、。，；](?=[\s"'”’]|[^\x00-\x7f]|$)|\s?(?:です|でした|だ(?!け)|である|이고|입니다|이에요|예요|이야|야|है|हैं|ครับ|ค่ะ|，|。|、)|\s(?:[—–-]\s|and\b|und\b|et\b|y\b|e\b|en\b|och\b|og\b|ve\b|i\b|и\s|та\s|és\b|או|ו|و|with\b|mit\b|avec\b|con\b|on\b|at\b|for\b|für\b|pour\b|para\b|the\b|user|\())/iu;

const foreignScript = /[\u0370-\u1fff\u3040-\ud7a3]/;
/** The first word in Latin letters after a password's name in another script. */
const latinWord = /^[^\x21-\x7e\n]{0,60}?[«"'“„‘「『\x60]?([\x21-\x7e]{6,64})/u;

/** A password of plain words, where the sentence says who it lets in, or writes it in quotes right after "is". */
function plainlySaid(line: string, at: number, word: string, whole: string): Span[] | undefined {
  if (!passwordWords.some((one) => word.startsWith(one)) && !/^(?:pw|pwd|psk|pass|\w* ?word)$/.test(word))
    return undefined;
  const isForeign = foreignScript.test(word);
  const joint = link.exec(line)?.[0];
  const isShort = /^(?:pw|pwd|psk|pass|mdp)$/.test(word);
  const found =
    (joint === undefined ? undefined : readWord(line, joint.length)) ??
    (isForeign || isShort || joint === undefined ? readLatin(line, isForeign) : undefined);
  if (found === undefined) return undefined;
  const { value, start } = found;
  const isQuoted =
    /(?:[«‹]\s?|["'“„‘「『`])$/.test(line.slice(0, start)) && joint !== undefined && joint.length <= 10;
  const isDirect = isForeign && joint !== undefined && joint.length <= 6;
  if (!(isQuoted || isDirect || access.test(whole)) || (joint !== undefined && isOtherThing(word, joint)))
    return undefined;
  if (/\w\/\w/.test(value)) return undefined;
  if (!isTold(value) && !closes.test(line.slice(start + value.length))) return undefined;
  const isSure =
    isForeign ||
    (joint === undefined
      ? isShort && word !== "pass"
      : !weakLink.test(joint) || /^[^\x00-\x7f]|^salas/.test(word));
  const isWord = isSure
    ? isPlainPassword(value)
    : isTold(value) || (/\d/.test(value) && isPlainPassword(value));
  return isWord ? [makeSpan(at + start, value, "password")] : undefined;
}

/** After "to" comes what somebody does, unless the password was set to it. */
const weakLink = /(?<!\b(?:set|reset|changed|switched|updated) )\b(?:to|be|on|er)[ \t]*$/;

/** In English a noun right after the word makes another thing of it: "password reset". */
function isOtherThing(word: string, joint: string): boolean {
  return (
    /^pass(?:word|phrase|code)/.test(word) &&
    !/^[ \t]*(?:(?:for|of|on|to|in|at|from|is|was|are|be|now|still|here|there|we|you|i)\b|[^A-Za-z]|$)/i.test(
      joint,
    )
  );
}

function readLatin(
  line: string,
  isForeign: boolean,
): { readonly value: string; readonly start: number } | undefined {
  const match = (isForeign ? latinWord : besideAny).exec(line);
  const raw = match?.[1] ?? "";
  const value = raw.replace(/[`"'”’].*$/, "").replace(trailing, "");
  return match === null || value === "" ? undefined : { value, start: match[0].length - raw.length };
}

const besideAny = /^(?!s[ \t])\p{L}{0,5}[ \t]["'“«\x60]?([\x21-\x7e]{6,64})/u;

function isSaid(value: string, word: string, isDirect: boolean): boolean {
  if (/^pin$|code$/.test(word) && word !== "passcode" && /^\d{4,8}$/.test(value))
    return isDirect && !/^(?:19|20)\d\d$/.test(value);
  if (words.test(word)) return false;
  if (keyWords.includes(word) || keyWords.some((key) => key.toLowerCase() === word))
    return isScrambled(value, 16);
  // Not after other words only: "the password of user2 is stored in db1".
  return isTold(value) && (isDirect || isPlainlyOne(value) || /[~+]/.test(value) || isScrambled(value, 8));
}

const [beforePair, afterPair] = [
  String.raw`^[^\n\d/:]{0,24}?[ :]\s?[\x60"']?([\w.@-]{2,40})[\x60"']?(?:\s?[/:|]\s?`,
  String.raw`)[\x60"']?([\x21-\x7e]{6,80})`,
];
const pair = new RegExp(beforePair + afterPair);
/** Also `bob and …`. */
const pairOrList = new RegExp(String.raw`${beforePair}|\s(?:und|and|et|y|e|en|i|и)\s${afterPair}`);

/** Whether a value that nothing but its place shows to be a password has more of one than a digit. */
function isPlainlyOne(value: string): boolean {
  return (
    /\d.*\d|[!@#$%^&*]/.test(value) ||
    isJoined(value) ||
    isWordWithNumber(value) ||
    (isScrambled(value, 8) && hasStrayCapitals(value))
  );
}

/** `creds are bob:…`, `log in with bob / …` */
function pairAfter(line: string, at: number, word: string): Span[] | undefined {
  if (!/^(?:creds?|credentials?|log ?in|zugangsdaten)$/.test(word)) return undefined;
  const match = (word.startsWith("log") ? pair : pairOrList).exec(line);
  const value = (match?.[2] ?? "").replace(/[`"'”’].*$/, "").replace(trailing, "");
  if (match === null || !isTold(value) || !isPlainlyOne(value)) return undefined;
  return [makeSpan(at + match[0].length - (match[2] ?? "").length, value, "password")];
}

/** An ending of the word, as in many languages, but no plural of an English one. */
const nowWord = /^(?:[ \t](?:now|still|теперь|сейчас|jetzt|neu|\[[\w -]{1,20}\]|[-;])|;)(?=[ \t])/;
const besideEnd = /^(?!s[ \t])\p{L}{0,4}[ \t]([\x21-\x7e]{6,80})(?=[^\x21-\x7e]|$)/u;

/** `with password …`: the value follows at once, so it has to look like nothing else. */
function besideWord(line: string, at: number, word: string): Span[] | undefined {
  const skipped = nowWord.exec(line)?.[0].length ?? 0;
  const match = besideEnd.exec(line.slice(skipped));
  const value = (match?.[1] ?? "").replace(/^[`"'“]+/, "").replace(trailing, "");
  if (match === null || words.test(word) || !isTold(value) || !isPlainlyOne(value)) return undefined;
  return /[=:(]/.test(value)
    ? undefined
    : [makeSpan(at + skipped + match[0].indexOf(value), value, "password")];
}

const beforeWord =
  /(?:^|[\s"'`“«])([\x21-\x7e]{6,80}?)["'`”»]?(?:[ \t](?:as|for|is|comme|als|como)[ \t]|[ \t]\((?=the|my|your|our|das|mein|le|la|el))(?:(?:the|my|your|our|a|their|its|le|das|la)[ \t])?(?:\w{1,16}[ \t])?$/;

/** "Use … as the password." */
function saidBefore(text: string, at: number, word: string): Span[] | undefined {
  if (words.test(word)) return undefined;
  const before = text.slice(Math.max(0, at - 120), at);
  if (
    /^\w* (?:hash|field|manager|policy|input|algorithm|store|form|reset|encoder)/.test(
      text.slice(at + word.length, at + 24),
    )
  )
    return undefined;
  const match = beforeWord.exec(before);
  const value = match?.[1] ?? "";
  if (match === null || !isTold(value) || isPlaceholder(value)) return undefined;
  return [makeSpan(at - before.length + match.index + match[0].indexOf(value), value, "password")];
}

// --- Random text beside a telling word ---

const telling =
  /\b(?:secrets?|tokens?|api[ _-]?keys?|credentials?|creds?|passwords?|passphrases?|bearer|auth|session cookie|(?:access|license|licence|private|signing|encryption|master|deploy|webhook|service|my|new|our|the|this) key|key is)\b/i;
const explained =
  /\b(?:sha\d*|md5|hash|commit|digest|checksum|etag|uuid|guid|id|ids|revision|integrity|public|fingerprint|nonce|trace|request|thread|cache|version|blob|tree|signature|image|layer|build|run)\b/i;

const namedAfter =
  /^\W{0,3}\s?(?:as|is)\b.{0,12}\b(?:token|key|secret|password|bearer)|^["')\]},;]{0,6}\s{0,4}(?:#|\/\/|--|←|<-)[^\n]{0,24}\b(?:token|key|secret|password|credential)/i;
const isStated = /(?:\b(?:is|key|secret|password)|[:=]|->)\s?["'`]?$/;
const opensLine = /^[\s>|`"'-]*(?:(?:(?:const|let|var|export|my|final)\s)?\w{1,20}\s?[:=]{1,2}\s?["'`]?)?$/;

/** Whether a line announces what follows it: a heading, a comment, or a sentence that ends with the telling word. */
function announces(line: string): boolean {
  if (!telling.test(line) || /[=$]/.test(line)) return false;
  return /[:：]\s*$|^\s*(?:#|\/\/|--|\*)|\b(?:token|key|secret|password|credential)s?(?: (?:created|generated|issued|is))?\.?\s*$/i.test(
    line,
  );
}

/** Long runs that look random, in a line with a telling word or right after such a line. */
export function besideSecrets(text: string, runs: readonly CharRun[]): Span[] {
  return runs.flatMap(({ start, end }) => {
    const value = text.slice(start, Math.min(end, start + 128));
    if (
      end - start > 128 ||
      !isRandom(value) ||
      /[/.@+\\]/.test(text[start - 1] ?? "") ||
      /^(?:[/@\\(]|\.\w)/.test(text.slice(end, end + 2))
    )
      return [];
    const before = text.slice(Math.max(0, start - 90), start);
    if (text[start - 1] === "=")
      return isSetting(text, start, before) ? [{ start, end, kind: "secret" }] : [];
    const [, previous = "", line = ""] = /(?:([^\n\0]*)\n\s*)?([^\n\0]*)$/.exec(before) ?? [];
    const after = /^[^\n\0]{0,40}/.exec(text.slice(end, end + 40))?.[0] ?? "";
    const isNear =
      telling.test(line.slice(-60)) ||
      namedAfter.test(after) ||
      (opensLine.test(line) && announces(previous));
    // Forty digits are mostly a commit.
    if (/^[0-9a-f]{40}$/.test(value) && !isStated.test(before)) return [];
    if (!isNear || explained.test(line) || explained.test(previous.slice(-40))) return [];
    return isPlaceholder(value) ? [] : [{ start, end, kind: "token" }];
  });
}

/** `login=…`, and any setting of an `.env` file that looks random. */
function isSetting(text: string, start: number, before: string): boolean {
  if (/(?:login|auth|cred\w{0,8}|session|sess|sid|jwt|(?<![\w-])(?:[ra]t|refresh|access))=$/i.test(before))
    return true;
  if (/(?:^|[\s"'])export [A-Z][A-Z0-9_]{1,40}=$/.test(before))
    return !explained.test(before.replaceAll("_", " "));
  return (
    /[\n\0+\d→:|\t ]\s*[A-Z][A-Z0-9_]{1,40}=$/.test(before) &&
    /\.env\b[^\0]*$/.test(text.slice(Math.max(0, start - 800), start))
  );
}

/** Capitals, small letters and digits that change often: no words, no hex, no ids of agents. */
function isRandom(value: string): boolean {
  if (/^(?:[a-z]{2,6}\d{0,2}_)?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{48}|[0-9a-f]{64})$/.test(value))
    return true;
  if (!/[a-z]/.test(value) || !/[A-Z]/.test(value) || !/\d/.test(value) || /^[0-9a-fA-F-]+$/.test(value))
    return false;
  if (/^(?!tok|key|sec|sk|pat|api)[a-z]{2,12}[-_]/.test(value)) return false;
  const words = value.match(/[A-Z]?[a-z]*[aeiou][a-z]*[aeiou][a-z]+/g) ?? [];
  if (words.join("").length * 2 > value.length) return false;
  const changes = value.match(/[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[A-Za-z])|[A-Z](?=[a-z])/g)?.length ?? 0;
  return changes * 3 >= value.length && isScrambled(value, 20);
}
