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
  piecesOf,
  type Strength,
} from "./looks.ts";
import { isRunChar } from "./runs.ts";
import { isInMask, type Span, spanAt } from "./span.ts";

/** All of a value, where the name it goes by makes it a secret, however plain it looks. */
export function secretUnder(name: string, value: string): Span | undefined {
  const word = /p(?:ass|wd?)|secret|token|key|auth|mnemonic|[^ -~]+/i.exec(name)?.[0];
  if (word === undefined || value.length > 4096) return undefined;
  const strength = strengthOf(name, name);
  const isSecret = strength !== undefined && isSecretValue(value.trim(), { name, strength, form: "quoted" });
  return isSecret ? spanAt(0, value, kindOf(word)) : undefined;
}

interface Named {
  readonly name: string;
  readonly strength: Strength;
  readonly form: Form;
}

const quote = String.raw`(?:\\{0,7}["'\x60]|&quot;|&#0?3[49];|%22|\\{1,3}u002[27])`;
const blank = String.raw`(?:\s|\\{1,4}[nrt])`;
/** What a terminal is told about colours, written out or escaped. */
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
const named = namedBy(tellingWords);
const rarelyNamed = namedBy(["mnemonic", "IDENTIFIED BY", ...foreignWords].join("|"));

function namedBy(words: string): RegExp {
  const name = `(${words})([\\w-]{0,40})(?![\\w-])(?:${color})?(${quote}?[\\])]?)`;
  return new RegExp(`${name}(${joints.join("|")})(?:${color}){0,3}(\\[?[bBrRuU]?${quote})?`, "gi");
}

export function assignments(text: string): Span[] {
  // Looking for a rare word alone costs less than one more alternative in the pattern that meets every character.
  const hasRareWord =
    foreignWords.some((word) => text.includes(word)) || /mnemonic|MNEMONIC|IDENTIFIED BY/.test(text);
  // The hook reads one short text and ends: it must not pay for a pattern it has no use for.
  const patterns = [...(anyTellingWord.test(text) ? [named] : []), ...(hasRareWord ? [rarelyNamed] : [])];
  // The same few names come again and again.
  const strengths = new Map<string, Strength | undefined>();
  const strengthFor = (name: string, tail: string): Strength | undefined => {
    const key = `${name} ${tail.length}`;
    if (!strengths.has(key)) strengths.set(key, strengthOf(name, tail));
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

/** What stands where in `export NAME="value"`: the name, what closes it, what joins it to the value, what opens that. */
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
  strengthFor: typeof strengthOf,
): Span | undefined {
  const [whole, word = "", rest = "", close = "", joint = "", opening = ""] = match;
  // A blank within a few characters: `key = a`, `token is`. Most of what is met ends here.
  if (opening === "" && rest.toLowerCase() !== "orization" && hasBlank(text, match.index + whole.length))
    return undefined;
  const head = nameBefore(text, match.index);
  const name = head + word + rest;
  // `auth=("user", "password")`
  const strength = /\(.*,/.test(joint) ? "password" : strengthFor(name, word + rest);
  const nameStart = match.index - head.length;
  // In `https://x-access-token:…@host` the name is a user's, and all of the URL would be taken for the value.
  if (strength === undefined || text[nameStart - 1] === "/" || isInMask(text, nameStart)) return undefined;
  const afterJoint = match.index + whole.length;
  const scheme = schemeLength(text, afterJoint, name);
  const valueStart = afterJoint + scheme;
  const assignment = { name, nameStart, close, joint, opening, valueStart };
  const form = formOf(text, assignment);
  const value = form === undefined ? "" : valueAt(text, assignment, form);
  if (form === undefined || value === "") return undefined;
  if (!isSecretValue(value.slice(0, judgedChars), { name, strength: scheme > 0 ? "secret" : strength, form }))
    return undefined;
  return spanAt(valueStart, value + restOf(value, text, valueStart), kindOf(word));
}

/** Whether white space stands where the first characters of a value would be. */
function hasBlank(text: string, at: number): boolean {
  for (let i = at; i < at + 4; i++) if (text.charCodeAt(i) <= 0x20) return true;
  return false;
}

/** What follows a value that was cut at the length up to which values are read. */
function restOf(value: string, text: string, start: number): string {
  if (value.length < maxQuoted) return "";
  return bareWord.exec(text.slice(start + maxQuoted, start + maxSecret))?.[0] ?? "";
}

/** Length of the word that names the scheme in an Authorization header, which is no part of the secret. */
function schemeLength(text: string, at: number, name: string): number {
  if (!/authorization$/i.test(name)) return 0;
  return (
    /^(?:bearer|basic|token|api-?key|key|oauth|jwt|digest|negotiate|bot|splunk|sso-key|geniekey|[\w-]{0,20}auth[\w-]{0,10})[ =]{1,2}/i.exec(
      text.slice(at, at + 48),
    )?.[0].length ?? 0
  );
}

/** The part of a name that stands before the word that tells: `DB_` of `DB_PASSWORD`, `api ` of `api key`. */
function nameBefore(text: string, at: number): string {
  let start = at;
  while (start > 0 && at - start < 64 && isNameChar(text.charCodeAt(start - 1))) start--;
  if (start === at) return qualifier.exec(text.slice(Math.max(0, at - 10), at))?.[0] ?? "";
  // In escaped text the letter of a line break looks like a part of the name.
  const isEscape = text[start - 1] === "\\" && /[nrt]/.test(text[start] ?? "");
  return text.slice(isEscape ? start + 1 : start, at);
}

function isNameChar(code: number): boolean {
  return isRunChar[code] === 1 || code === 0x2e || code === 0x24;
}

const qualifier = /(?<!\w)(?:api|access|secret|private|client|auth|account|bot|service|personal) $/i;
const passwordWord = new RegExp(
  `(?:pass(?:w(?:or)?d|wort|phrase|code)s?|IDENTIFIED BY|requirepass|${foreignWords.join("|")})$`,
  "i",
);
// The short words must not be the end of another, as in `bypass`.
const shortPasswordWord =
  /(?:^|[^A-Za-z])(?:pass|PASS|Pass|pwd|PWD|Pwd|pw|PW)$|^[A-Z0-9_]*(?<!BY|COM)PASS$|[a-z](?:Pass|Pwd)$|(?:db|user|root|admin|my|pg|sql|smtp|mail|ftp|ssh|store|key|trust|PG|SQL|DB)(?:pass|pwd|PASS|PWD)$/;
const keyQualifier =
  "api|access|secret|private|priv|account|auth|authentication|encrypt(?:ion)?|sign(?:ing)?|master|service|client|shared|app|application|license|deploy|admin|root|session|subscription|integration|webhook|jwt|hmac|ssh|gpg|consumer|server|write|ingest|anon|role|function|host|bot|account[_-]?access|shared[_-]?access|crypt(?:o)?|cipher|aes";
const secretName = new RegExp(
  `(?:secret|mnemonic|[a-z0-9][_-]?token|(?:^|[^a-z])(?:${keyQualifier})[ _.-]?key|[a-z](?:Api|Access|Secret|Private|Auth)Key|(?:api|access|secret)key|_auth(?:token)?)s?$`,
  "i",
);
const weakName = /(?:tokens?|(?:^|[^a-z])auth|authorization)$|_KEY$|^X-[\w-]*-Key$/i;
/** What goes before `token`, `key` or `pass` where no secret is meant. */
const innocentWords = new Set(
  (
    "next page continuation sync cursor cancel cancellation stop eos bos pad unk mask sep cls max min num per total " +
    "public publishable pub primary foreign cache sort partition idempotency routing row hash lookup by map object json " +
    "dict storage hot short arrow recv first second third one two multi single fast render forward backward low high band"
  ).split(" "),
);

function isInnocent(stem: string): boolean {
  const words = piecesOf(stem.toUpperCase() === stem ? stem.toLowerCase() : stem).map((piece) =>
    piece.toLowerCase(),
  );
  return /^(?:token|key|pass)s?$/.test(words.at(-1) ?? "") && innocentWords.has(words.at(-2) ?? "");
}

/** Names of functions and of what is true or false. */
const verbName =
  /^_?(?:is|has|use|show|hide|needs?|requires?|enable|get|fetch|toggle|supports?)(?:[A-Z]|_[a-z])/;
const nameSuffix =
  /(?:[_-]?(?:\d{1,2}|v\d|prod(?:uction)?|staging|stage|stg|dev(?:elopment)?|test(?:ing)?|live|local|qa|value|base64|b64|plain(?:text)?|raw|str|env|old|new|prev|current|main|secondary|backup|base|confirm(?:ation)?))+$/i;

function strengthOf(name: string, tail: string): Strength | undefined {
  const stem = name
    .replace(/^.*[.$]/, "")
    .replace(nameSuffix, "")
    .replace(/[-_]+$/, "");
  // A suffix may be the telling word itself, as in `test`, and a name that ends in a dash is no name.
  if (stem.length === 0 || /[-.]$/.test(tail) || isInnocent(stem) || verbName.test(stem)) return undefined;
  if (passwordWord.test(stem) || shortPasswordWord.test(stem)) return "password";
  if (secretName.test(stem) || /^--?token$/i.test(stem)) return "secret";
  return weakName.test(stem) ? "weak" : undefined;
}

function formOf(
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
    // Help texts and prose go on after the option: `--password to be used`.
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

/** Whether a bare word before the name says that a value follows it: `.netrc`, `ENV NAME value`, `config set name value`. */
function takesValue(text: string, at: number, name: string): boolean {
  if (name === "requirepass") return true;
  const before = text.slice(Math.max(0, at - 160), at);
  return /(?:\blogin\s+\S+\s+(?:account\s+\S+\s+)?|(?:^|[\s"'])(?:ENV|setenv|SETX|setx|set -\w*x\w*)\s+|\bconfig(?:ure)? set\s+(?:\S+[:.])?)$/.test(
    before,
  );
}

/** Values are told by their beginning, which bounds the time for texts that consist of nothing but names. */
const judgedChars = 128;
const maxQuoted = 256;
const maxSecret = 16_384;
const bareWord = /^[^\x00-\x20"'`\\<>\x7f\s]+/;

/** The value as written, without its quotes; empty where it cannot be one. */
function valueAt(text: string, { nameStart, joint, opening, valueStart }: Assignment, form: Form): string {
  const rest = text.slice(valueStart, valueStart + maxQuoted);
  if (joint.endsWith(">")) return /^[^<>\s[\\]{4,}(?=<)/.exec(rest)?.[0] ?? "";
  const mark = opening.replace(/^\[?[bBrRuU]?(?=[\\"'`&%])/, "");
  const quoted = mark === "" ? undefined : quotedValue(rest, mark);
  if (quoted === undefined) return bareValue(rest, form, startsLine(text, nameStart));
  // On a new line what is in quotes may be the next name.
  const isName = /\n/.test(joint) && /^\\*["'`]\s*:/.test(rest.slice(quoted.length, quoted.length + 16));
  return isName ? "" : quoted;
}

/** Whether nothing but blanks, `export` or `-e` stands before a place in its line. */
function startsLine(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 28), at);
  return /(?:\n|\\n|export |[ \t]-e )[ \t]*$/.test(before) || (at <= 28 && /^[ \t]*$/.test(before));
}

/** Text up to the quote that closes it, with as many backslashes as the one that opened it. */
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
    // Each level of escaping doubles the backslashes, so what closes a level is known by their number.
    if (char === mark && (slashes < depth || slashes % (2 * (depth + 1)) === depth))
      return text.slice(0, i - Math.min(slashes, depth));
    slashes = char === "\\" ? slashes + 1 : 0;
  }
  return undefined;
}

/** Text up to where a value without quotes ends: a line that is nothing but `name=value` may hold any sign. */
function bareValue(rest: string, form: Form, ownLine: boolean): string {
  const word = bareWord.exec(rest)?.[0] ?? "";
  const toLineEnd = /^(?:\r?\n|\\+[nr]|$)/.test(rest.slice(word.length, word.length + 3));
  if (ownLine && toLineEnd && !/[;&]\w+=/.test(word)) return word.replace(/[,;]$/, "");
  const isText = form === "spaced" || form === "prose";
  return word.replace(isText ? /&(?:quot|amp|lt|gt|#\d+);?.*$|[,;)}\]]+$|\.$/ : /[;&|,].*$|[)}\]]+$/, "");
}

function isSecretValue(value: string, { name, strength, form }: Named): boolean {
  if (strength === "weak" && !isMixed(value)) return false;
  if (isPlaceholder(value) || isLocation(value)) return false;
  if (/\s/.test(value)) return isPhrase(value, name, strength);
  if (form !== "quoted" && form !== "pair" && isCode(value, form)) return false;
  if (strength !== "password" && !/[A-Za-z]/.test(value)) return false;
  // Two strings in a row are as often two items of a list.
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

/** Nothing but a blank or the line of a table between name and value: `API_KEY | …`, `WITH PASSWORD '…'`. */
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
  // Words alone: a password in a settings file, a label or a type in code.
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

function kindOf(word: string): string {
  switch (word.toLowerCase()) {
    case "secret":
    case "token":
    case "key":
      return word.toLowerCase();
    case "auth":
      return "credential";
    case "mnemonic":
      return "seed-phrase";
    default:
      return "password";
  }
}
