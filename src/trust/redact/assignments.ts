import { cookieValues } from "./headers.ts";
import { isInMask, isRunChar, makeSpan, type Span } from "./span.ts";
import {
  type Form,
  hasSign,
  isCode,
  isLocation,
  isMixed,
  isMostlyWords,
  isPhrase,
  isPlaceholder,
  isScrambled,
  isTechnical,
  isWordAndNumber,
  isWordy,
  namesItself,
  type Strength,
  splitPieces,
} from "./values.ts";

/** The whole value as a span, if its name makes it a secret however plain it looks. */
export function secretUnder(name: string, value: string): Span | undefined {
  const word = /p(?:ass|wd?)|secret|token|key|auth|mnemonic|[^ -~]+/i.exec(name)?.[0];
  if (word === undefined || value.length > 4096) return undefined;
  const strength = gradeName(name, name);
  const isSecret = strength !== undefined && isSecretValue(value.trim(), { name, strength, form: "quoted" });
  return isSecret ? makeSpan(0, value, nameKind(word)) : undefined;
}

interface NamedValue {
  readonly name: string;
  readonly strength: Strength;
  readonly form: Form;
}

const quote = String.raw`(?:\\{0,7}["'\x60]|&quot;|&#0?3[49];|%22|\\{1,3}u002[27])`;
const blank = String.raw`(?:\s|\\{1,4}[nrt])`;
/** Terminal colour codes, raw or escaped. */
const color = String.raw`(?:\x1b|\\{1,3}u001b)\[[\d;]{0,12}m`;
const typeName = String.raw`(?:&(?:'static )?str|str(?:ing)?\??(?: \| (?:None|null|undefined))?|Optional\[str\]|SecretStr|String\??)`;
const joints = [
  String.raw`[ \t]?[:=][ \t]?\(${quote}[^"'\\\n]{0,64}${quote},[ \t]{0,4}(?=${quote})`,
  String.raw`[ \t]{0,4}:?[ \t]{0,4}${typeName}[ \t]{1,4}=[ \t]{1,4}`,
  String.raw`[,;]?${blank}{0,40}${quote}?(?:value|content)${quote}?[ \t]{0,4}[:=][ \t]{0,4}`,
  String.raw`\*{0,2}[ \t]{0,8}(?:=>|:=|[?|]{1,2}=|={1,3}|!==?|<-|[:：]|%3[AD]|\\{1,3}u003[ad])\*{0,2}(?:[ \t]{0,8}(?:[|>][-+]?|<<[-~]?\w{1,20})[ \t]{0,8}\r?\n)?[ \t]{0,16}(?:&\w{1,20}[ \t])?(?:${blank}{1,40}(?=${quote}))?`,
  String.raw`[ \t]{0,4},${blank}{0,20}(?=${quote})`,
  String.raw`\((?=${quote})`,
  String.raw`(?:<\/\w{1,20}>\s{0,20}<\w{1,20})?>`,
  String.raw`[ \t]{0,20}[|│][ \t]{1,20}`,
  String.raw`[ \t]{1,4}(?:(?:is|was|to|ist|es|est)[ \t:]{1,3}|(?:--body|--value)[ =])?`,
  "是 ?",
];
const foreignWords = ["密码", "密碼", "パスワード", "пароль", "Пароль", "비밀번호"];
const tellingWords = "p(?:ass|wd)|secret|token|key|auth";
const anyTellingWord = new RegExp(tellingWords, "i");
const named = buildNamedPattern(tellingWords);
const rarelyNamed = buildNamedPattern(["mnemonic", "IDENTIFIED BY", ...foreignWords].join("|"));

function buildNamedPattern(words: string): RegExp {
  const name = `(${words})([\\w-]{0,40})(?![\\w-])(?:${color})?(${quote}?[\\])]?)`;
  return new RegExp(`${name}(${joints.join("|")})(?:${color}){0,3}(\\[?[bBrRuU]?${quote})?`, "gi");
}

export function assignments(text: string): Span[] {
  // Searching for rare words separately is cheaper than one more alternative in the main pattern.
  const hasRareWord =
    foreignWords.some((word) => text.includes(word)) || /mnemonic|MNEMONIC|IDENTIFIED BY/.test(text);
  // The hook reads one short text: it must not compile a pattern without need.
  const patterns = [...(anyTellingWord.test(text) ? [named] : []), ...(hasRareWord ? [rarelyNamed] : [])];
  // The same few names repeat.
  const strengths = new Map<string, Strength | undefined>();
  const strengthFor = (name: string, tail: string): Strength | undefined => {
    const key = `${name} ${tail.length}`;
    if (!strengths.has(key)) strengths.set(key, gradeName(name, tail));
    return strengths.get(key);
  };
  return patterns.flatMap((pattern) => {
    const spans: Span[] = [];
    let done = 0;
    for (const match of text.matchAll(pattern)) {
      const span = match.index < done ? undefined : assignedSecret(text, match, strengthFor);
      if (span === undefined) continue;
      spans.push(span);
      done = span.end;
    }
    return spans;
  });
}

/** The parts of `"NAME" = "value"`: name, its closing quote, the joint, the opening quote of the value. */
interface Assignment {
  readonly name: string;
  readonly nameStart: number;
  readonly close: string;
  readonly joint: string;
  readonly opening: string;
  readonly valueStart: number;
}

function assignedSecret(
  text: string,
  match: RegExpExecArray,
  strengthFor: typeof gradeName,
): Span | undefined {
  const [whole, word = "", rest = "", close = "", joint = "", opening = ""] = match;
  // White space within the first characters (`key = a`, `token is`) rules out most matches.
  if (opening === "" && rest.toLowerCase() !== "orization" && hasBlank(text, match.index + whole.length))
    return undefined;
  const head = nameBefore(text, match.index);
  const name = head + word + rest;
  // `auth=("user", "password")`
  const strength = /\(.*,/.test(joint) ? "password" : strengthFor(name, word + rest);
  const nameStart = match.index - head.length;
  // In `https://x-access-token:…@host` the name is a user name, and the rest of the URL is no value.
  if (strength === undefined || text[nameStart - 1] === "/" || isInMask(text, nameStart)) return undefined;
  const afterJoint = match.index + whole.length;
  const scheme = schemeLength(text, afterJoint, name);
  const valueStart = afterJoint + scheme;
  const assignment = { name, nameStart, close, joint, opening, valueStart };
  const form = classifyForm(text, assignment);
  const value = form === undefined ? "" : readValue(text, assignment, form);
  if (form === undefined || value === "") return undefined;
  if (!isSecretValue(value.slice(0, judgedChars), { name, strength: scheme > 0 ? "secret" : strength, form }))
    return undefined;
  return makeSpan(valueStart, value + readRest(value, text, valueStart), nameKind(word));
}

function hasBlank(text: string, at: number): boolean {
  for (let i = at; i < at + 4; i++) if (text.charCodeAt(i) <= 0x20) return true;
  return false;
}

/** The rest of a value that was cut at `maxQuoted`. */
function readRest(value: string, text: string, start: number): string {
  if (value.length < maxQuoted) return "";
  return bareWord.exec(text.slice(start + maxQuoted, start + maxSecret))?.[0] ?? "";
}

/** Length of the scheme in an Authorization header, which is no part of the secret. */
function schemeLength(text: string, at: number, name: string): number {
  if (!/authorization$/i.test(name)) return 0;
  const scheme =
    /^(?:bearer|basic|token|api-?key|key|oauth|jwt|digest|negotiate|bot|splunk|sso-key|geniekey|[\w-]{0,20}auth[\w-]{0,10})[ =]{1,2}/i;
  return scheme.exec(text.slice(at, at + 48))?.[0].length ?? 0;
}

/** The part of a name before its telling word: `DB_` of `DB_PASSWORD`, `api ` of `api key`. */
function nameBefore(text: string, at: number): string {
  let start = at;
  const isNameChar = (code: number) => isRunChar[code] === 1 || code === 0x2e || code === 0x24;
  while (start > 0 && at - start < 64 && isNameChar(text.charCodeAt(start - 1))) start--;
  if (start === at) return qualifier.exec(text.slice(Math.max(0, at - 10), at))?.[0] ?? "";
  // In escaped text, the letter of `\n` looks like part of the name.
  const isEscape = text[start - 1] === "\\" && /[nrt]/.test(text[start] ?? "");
  return text.slice(isEscape ? start + 1 : start, at);
}

const qualifier = /(?<!\w)(?:api|access|secret|private|client|auth|account|bot|service|personal) $/i;
const passwordWord = new RegExp(
  `(?:pass(?:w(?:or)?d|wort|phrase|code)s?|IDENTIFIED BY|requirepass|${foreignWords.join("|")})$`,
  "i",
);
// A short word must not end another, as in `bypass`.
const shortPasswordWord =
  /(?:^|[^A-Za-z])(?:pass|PASS|Pass|pwd|PWD|Pwd|pw|PW)$|^[A-Z0-9_]*(?<!BY|COM)PASS$|[a-z](?:Pass|Pwd)$|(?:db|user|root|admin|my|pg|sql|smtp|mail|ftp|ssh|store|key|trust|PG|SQL|DB)(?:pass|pwd|PASS|PWD)$/;
const keyQualifier =
  "api|access|secret|private|priv|account|auth|authentication|encrypt(?:ion)?|sign(?:ing)?|master|service|client|shared|app|application|license|deploy|admin|root|session|subscription|integration|webhook|jwt|hmac|ssh|gpg|consumer|server|write|ingest|anon|role|function|host|bot|account[_-]?access|shared[_-]?access|crypt(?:o)?|cipher|aes";
const secretName = new RegExp(
  `(?:secret|mnemonic|[a-z0-9][_-]?token|(?:^|[^a-z])(?:${keyQualifier})[ _.-]?key|[a-z](?:Api|Access|Secret|Private|Auth)Key|(?:api|access|secret)key|_auth(?:token)?)s?$`,
  "i",
);
const weakName = /(?:tokens?|(?:^|[^a-z])auth|authorization)$|_KEY$|^X-[\w-]*-Key$/i;
/** Words before `token`, `key` or `pass` that make the name harmless. */
const innocentWords = new Set(
  (
    "next page continuation sync cursor cancel cancellation stop eos bos pad unk mask sep cls max min num per total " +
    "public publishable pub primary foreign cache sort partition idempotency routing row hash lookup by map object json " +
    "dict storage hot short arrow recv first second third one two multi single fast render forward backward low high band"
  ).split(" "),
);

function isInnocent(stem: string): boolean {
  const pieces = splitPieces(stem.toUpperCase() === stem ? stem.toLowerCase() : stem);
  const words = pieces.map((piece) => piece.toLowerCase());
  return /^(?:token|key|pass)s?$/.test(words.at(-1) ?? "") && innocentWords.has(words.at(-2) ?? "");
}

/** Names of functions and booleans. */
const verbName =
  /^_?(?:is|has|use|show|hide|needs?|requires?|enable|get|fetch|toggle|supports?)(?:[A-Z]|_[a-z])/;
const nameSuffix =
  /(?:[_-]?(?:\d{1,2}|v\d|prod(?:uction)?|staging|stage|stg|dev(?:elopment)?|test(?:ing)?|live|local|qa|value|base64|b64|plain(?:text)?|raw|str|env|old|new|prev|current|main|secondary|backup|base|confirm(?:ation)?))+$/i;

function gradeName(name: string, tail: string): Strength | undefined {
  const stem = name
    .replace(/^.*[.$]/, "")
    .replace(nameSuffix, "")
    .replace(/[-_]+$/, "");
  // A suffix may be the whole name, as in `test`, and a name does not end in a dash.
  if (stem.length === 0 || /[-.]$/.test(tail) || isInnocent(stem) || verbName.test(stem)) return undefined;
  if (passwordWord.test(stem) || shortPasswordWord.test(stem)) return "password";
  if (secretName.test(stem) || /^--?token$/i.test(stem)) return "secret";
  return weakName.test(stem) ? "weak" : undefined;
}

function classifyForm(
  text: string,
  { name, nameStart, close, joint, opening, valueStart }: Assignment,
): Form | undefined {
  const isFlag = /^--?[A-Za-z]/.test(name);
  if (joint.endsWith(">")) return isTag(text, nameStart, close, joint) ? "quoted" : undefined;
  if (joint.includes("(")) return joint.includes(",") ? "pair" : "apart";
  if (joint.includes(",") && !/value|content/i.test(joint))
    return close !== "" && opening !== "" ? "pair" : undefined;
  if (/^[ \t|│]+$/.test(joint)) {
    if (isFlag && text[valueStart] === "-") return undefined;
    // In help texts prose follows the option: `--password to be used`.
    if (isFlag) return opening === "" ? "spaced" : "flag";
    if (/^PASSWORD$|^IDENTIFIED BY$/.test(name) && opening !== "") return "quoted";
    return takesValue(text, nameStart, name) ? "assigned" : "apart";
  }
  if (/(?:is|was|to|ist|es|est|是)[ \t:]*$/i.test(joint)) return "prose";
  const isUpper = /^[A-Z][A-Z0-9_]*$/.test(name.replace(/^.*[.$]/, ""));
  if (/^(?:=|%3D|[?:]=)$/i.test(joint)) {
    if (isFlag) return "flag";
    if (isUpper && close === "") return "env";
    return opening === "" ? "assigned" : "quoted";
  }
  return opening === "" ? "spaced" : "quoted";
}

/** `<password>…`, `name="password">…` and `<key>password</key><string>…`, but not `(?<password>…`. */
function isTag(text: string, at: number, close: string, joint: string): boolean {
  return close !== "" || joint.startsWith("<") || (text[at - 1] === "<" && text[at - 2] !== "?");
}

/** Whether the words before the name announce a value: `.netrc`, `ENV NAME value`, `config set name value`. */
function takesValue(text: string, at: number, name: string): boolean {
  if (name === "requirepass") return true;
  const before = text.slice(Math.max(0, at - 160), at);
  const announces =
    /(?:\blogin\s+\S+\s+(?:account\s+\S+\s+)?|(?:^|[\s"'])(?:ENV|setenv|SETX|setx|set -\w*x\w*)\s+|\bconfig(?:ure)? set\s+(?:\S+[:.])?)$/;
  return announces.test(before);
}

/** A value is judged by its beginning, which bounds the time for texts full of names. */
const judgedChars = 128;
const maxQuoted = 256;
const maxSecret = 16_384;
const bareWord = /^[^\x00-\x20"'`\\<>\x7f\s]+/;

/** The value as written, without its quotes; empty where it cannot be one. */
function readValue(text: string, { nameStart, joint, opening, valueStart }: Assignment, form: Form): string {
  const rest = text.slice(valueStart, valueStart + maxQuoted);
  if (joint.endsWith(">")) return /^[^<>\s[\\]{4,}(?=<)/.exec(rest)?.[0] ?? "";
  const mark = opening.replace(/^\[?[bBrRuU]?(?=[\\"'`&%])/, "");
  const quoted = mark === "" ? undefined : quotedValue(rest, mark);
  if (quoted === undefined) return bareValue(rest, form, startsLine(text, nameStart));
  // On a new line, the quoted text may be the next name.
  const isName = /\n/.test(joint) && /^\\*["'`]\s*:/.test(rest.slice(quoted.length, quoted.length + 16));
  return isName ? "" : quoted;
}

/** Whether only white space, `export` or `-e` precedes a position in its line. */
function startsLine(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 28), at);
  return /(?:\n|\\n|export |[ \t]-e )[ \t]*$/.test(before) || (at <= 28 && /^[ \t]*$/.test(before));
}

/** Reads up to the closing quote, which has as many backslashes as the opening one. */
function quotedValue(text: string, opening: string): string | undefined {
  const mark = opening.replace(/^\\+(?=["'`])/, "");
  if (mark.length > 1) {
    const end = text.indexOf(mark);
    return end < 0 ? undefined : text.slice(0, end);
  }
  const depth = opening.length - 1;
  let slashes = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === "\n") return undefined;
    // Each level of escaping doubles the backslashes, so their number identifies the level.
    if (char === mark && (slashes < depth || slashes % (2 * (depth + 1)) === depth))
      return text.slice(0, i - Math.min(slashes, depth));
    slashes = char === "\\" ? slashes + 1 : 0;
  }
  return undefined;
}

/** Reads an unquoted value; in a line that is only `name=value` it may contain any character. */
function bareValue(rest: string, form: Form, ownLine: boolean): string {
  const word = bareWord.exec(rest)?.[0] ?? "";
  const toLineEnd = /^(?:\r?\n|\\+[nr]|$)/.test(rest.slice(word.length, word.length + 3));
  if (ownLine && toLineEnd && !/[;&]\w+=/.test(word)) return word.replace(/[,;]$/, "");
  const isText = form === "spaced" || form === "prose";
  return word.replace(isText ? /&(?:quot|amp|lt|gt|#\d+);?.*$|[,;)}\]]+$|\.$/ : /[;&|,].*$|[)}\]]+$/, "");
}

function isSecretValue(value: string, { name, strength, form }: NamedValue): boolean {
  if (strength === "weak" && !isMixed(value)) return false;
  if (isPlaceholder(value) || isLocation(value)) return false;
  if (/\s/.test(value)) return isPhrase(value, name, strength);
  if (form !== "quoted" && form !== "pair" && isCode(value, form)) return false;
  if (strength !== "password" && !/[A-Za-z]/.test(value)) return false;
  // Two adjacent strings may be two items of a list.
  if (form === "pair" && !(isMixed(value) && (hasSign(value) || !isMostlyWords(value)))) return false;
  if (form === "prose" && (/^pass$/i.test(name) || !(isMixed(value) || /[!@#$%^&*~+]\w/.test(value))))
    return false;
  if (form === "apart") return isApartSecret(value, strength);
  switch (strength) {
    case "weak":
      return isScrambled(value, form === "env" || form === "flag" ? 8 : 12);
    case "secret":
      if (value.length < 6) return false;
      if (form === "env" || form === "flag") return !namesItself(value);
      if (/^[A-Za-z0-9/+]{40}$/.test(value) && /\d/.test(value)) return true;
      return isMixed(value) && !isTechnical(value) && (!isWordy(value) || isWordAndNumber(value));
    case "password":
      return isPassword(value, name, form);
  }
}

/** Only white space or a table rule between name and value: `API_KEY | …`, `WITH PASSWORD '…'`. */
function isApartSecret(value: string, strength: Strength): boolean {
  if (strength === "weak") return false;
  return (
    (isScrambled(value, 16) && !isMostlyWords(value)) ||
    (strength === "password" && /\d/.test(value) && hasSign(value))
  );
}

function isPassword(value: string, name: string, form: Form): boolean {
  const isBarePass = /^pass$/i.test(name);
  const hasSymbol = /[^\w\s.,:/-]/.test(value);
  if (value.length < 4 || namesItself(value)) return false;
  if (/^\d+$/.test(value)) return !isBarePass && value.length >= (form === "quoted" ? 4 : 6);
  if (isTechnical(value)) return false;
  if (isMixed(value) || hasSymbol) return value.length >= (form === "prose" || form === "spaced" ? 6 : 4);
  // Only words: a password in a settings file, but a label or a type in code.
  if (isBarePass || value.length < 6 || !/^[\x21-\x7e]+$/.test(value)) return false;
  switch (form) {
    case "quoted":
      return !/^[A-Z][a-z]+$/.test(value) && !/secret|token|pass/i.test(value);
    case "env":
    case "flag":
      return true;
    case "assigned":
      return /^[a-z]+$/.test(value) && !/secret|token|pass|pwd/.test(value);
    default:
      return /^[a-z]{3,}(?:-[a-z]{3,}){3,}$/.test(value);
  }
}

function nameKind(word: string): string {
  const kind = word.toLowerCase();
  if (kind === "auth") return "credential";
  if (kind === "mnemonic") return "seed-phrase";
  return /^(?:secret|token|key)$/.test(kind) ? kind : "password";
}

const shortOption =
  /[\s"']-([pPaubw]|passin|passout|-user|-proxy-user)((?:["',= ]){0,4})(?:\\{0,7}["'](?=[^"']))?([^\s"'`\\|;<>]{2,512})/g;
const command = /(?:^|[\s"'`;|&(/])([a-z][\w-]*)(?=[\s"'])(?=[^\n;|&]*$)/g;
const userCommand = /(?:^|[\s"'`;|&(/])(?:curl|wget|http|https|xh|ab|siege)(?:\s[^\n]*)?$/;

/** Commands that take a password by a short option. */
const passwordOptions: Readonly<Record<string, RegExp>> = {
  p: /^(?:sshpass|mongo\w*|smbclient|twine|ftp|7z|mysql\w*|mariadb\w*)$/,
  P: /^(?:un)?zip$|^sqlcmd$/,
  a: /^redis-cli$/,
  w: /^ldap\w+$/,
  passin: /^openssl$/,
  passout: /^openssl$/,
};

/** Options that are passwords for some commands only: `mysql -pSecret`, `curl -u user:secret`. */
export function commandCredentials(text: string): Span[] {
  return [...text.matchAll(shortOption)].flatMap((match) => {
    const [whole, option = "", gap = "", value = ""] = match;
    const line = text.slice(Math.max(0, match.index - 200), match.index).replace(/\\+[nr]/g, "\n");
    const end = match.index + whole.length;
    if (option === "b") return userCommand.test(line) ? cookieValues(value, end - value.length) : [];
    const secret = userCommand.test(line)
      ? userPassword(option, value)
      : optionPassword(option, gap, value, line);
    return secret === "" || isPlaceholder(secret) ? [] : [makeSpan(end - secret.length, secret, "password")];
  });
}

function userPassword(option: string, value: string): string {
  return /^(?:[ua]|-user|-proxy-user)$/.test(option) ? (/^[^:]{0,128}:(.{2,})$/.exec(value)?.[1] ?? "") : "";
}

function optionPassword(option: string, gap: string, value: string, line: string): string {
  const isPort = /^\d{1,5}(?::\d{1,5})?$/.test(value);
  if (isPort || value.startsWith("-")) return "";
  if (option === "p" && /\blogin\b[^\n;|&]*$/.test(line)) return value;
  const name = [...`${line} `.matchAll(command)]
    .map(([, name = ""]) => name)
    .find((name) => passwordOptions[option]?.test(name));
  if (name === undefined) return "";
  if (name === "openssl") return /^pass:(.+)$/.exec(value)?.[1] ?? "";
  // `mysql -p name` prompts for the password; only `-pvalue` contains it.
  return /^(?:mysql|mariadb)/.test(name) && gap !== "" ? "" : value;
}

const echo =
  /\becho\s{1,4}(?:-[ne]{1,2}\s{1,4})?(?:\\{0,7}["'])?([^\s"'\\|]{3,512})(?:\\{0,7}["'])?\s{0,4}\|\s{0,4}([^\n|;]{0,160})/g;
const readsPassword =
  /^(?:sudo\s+-\w*S|(?:sudo\s+)?chpasswd|kinit|passwd\s)|--password-stdin|--with-token|\bsecrets? (?:put|set)/;

/** `echo secret | sudo -S …`, `echo token | docker login --password-stdin` */
export function pipedPasswords(text: string): Span[] {
  // `includes` is many times faster than a pattern.
  return [...(text.includes("echo") ? text.matchAll(echo) : [])].flatMap((match) => {
    const [whole, value = "", reader = ""] = match;
    if (!readsPassword.test(reader) || isPlaceholder(value)) return [];
    return [makeSpan(match.index + whole.indexOf(value, 4), value, "password")];
  });
}
