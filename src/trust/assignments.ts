import { wordSet } from "../text/index.ts";
import { isRunChar } from "./telling.ts";
import {
  hasSign,
  hasStrayCapitals,
  isColour,
  isInMask,
  isJoined,
  isLocation,
  isMixed,
  isMostlyWords,
  isPlaceholder,
  isPlainPassword,
  isScrambled,
  isTechnical,
  isTold,
  isWordAndNumber,
  isWordy,
  makeSpan,
  ofCode,
  type Span,
  splitPieces,
  standIns,
} from "./values.ts";

/** The whole value as a span, if its name makes it a secret however plain it looks. */
export function secretUnder(name: string, value: string): Span | undefined {
  const word = /p(?:ass|wd?)|secret|token|key|auth|mnemonic|[^ -~]+/i.exec(name)?.[0];
  const strength = word === undefined || value.length > 4096 ? undefined : gradeName(name, name);
  if (word === undefined || strength === undefined) return undefined;
  return isSecretValue(value.trim(), name, strength, "quoted")
    ? makeSpan(0, value, nameKind(word))
    : undefined;
}

const quote = String.raw`(?:\\{0,7}["'\x60]|\[\[|&quot;|&#0?3[49];|%22|\\{1,3}u002[27])`;
const blank = String.raw`(?:\s|\\{1,4}[nrt])`;
/** Terminal colour codes, raw or escaped. */
const color = String.raw`(?:\x1b|\\{1,3}u001b)\[[\d;]{0,12}m`;
const typeName = String.raw`(?:&(?:'static )?(?:str|\[u8(?:; ?\d{1,4})?\])|\[\]byte|byte\[\]|str(?:ing)?\??(?: \| (?:None|null|undefined))?|Optional\[str\]|SecretStr|String\??)`;
const joints = [
  String.raw`:?[ \t]?\r?\n[ \t]{0,8}[-=~]{3,40}[ \t]?\r?\n[ \t]{0,8}`,
  String.raw`[ \t]?\.{4,60}[ \t]?`,
  String.raw`[ \t]?[:=][ \t]?\(${quote}[^"'\\\n]{0,64}${quote},[ \t]{0,4}(?=${quote})`,
  String.raw`[ \t]{0,4}=[ \t]{0,4}\(\s{0,20}(?=${quote})`,
  String.raw`[ \t]{0,4}:?[ \t]{0,4}${typeName}[ \t]{1,4}=[ \t]{1,4}`,
  String.raw`[ \t]?\{\s{1,20}(?:(?:type|description|sensitive)[ \t]{0,8}=[^\n]{0,80}\n\s{1,20}){0,3}default[ \t]{0,8}=[ \t]{0,8}(?=${quote})`,
  String.raw`[,;]?${blank}{0,40}${quote}?(?:value|content)${quote}?[ \t]{0,4}[:=][ \t]{0,4}`,
  String.raw`\*{0,2}[ \t]{0,8}(?:=>|:=|[?|]{1,2}=|={1,3}|!==?|<-|[:：]|%3[AD]|\\{1,3}u003[ad])\*{0,2}(?:[ \t]{0,8}(?:[|>][-+]?|<<[-~]?\w{1,20})[ \t]{0,8}\r?\n[+-]?)?[ \t]{0,16}(?:&\w{1,20}[ \t])?(?:${blank}{1,40}(?=${quote}))?`,
  String.raw`[ \t]{0,4},${blank}{0,20}(?=${quote})`,
  String.raw`\((?=${quote})`,
  String.raw`(?:<\/\w{1,20}>\s{0,20}<\w{1,20}|(?: [\w:-]{1,20}=\\{0,3}["'][^"'<>\n]{0,60}\\{0,3}["']){1,3})?>`,
  String.raw`[ \t]{0,20}[|│][ \t]{1,20}`,
  String.raw`[ \t]{1,24}(?:(?:is|was|to|ist|es|est)[ \t:]{1,3}|(?:--body|--value)[ =])?`,
  "是 ?",
];
const foreignWords = ["密码", "密碼", "パスワード", "пароль", "Пароль", "비밀번호"];
const tellingWords = "p(?:ass|wd)|secret|token|key|auth";
const anyTellingWord = new RegExp(tellingWords, "i");
const named = buildNamedPattern(tellingWords);
/** Names that are rare, also in the languages that people name their settings in. */
const rareWords =
  "mnemonic|IDENTIFIED BY|psk|pw|_PAT(?![a-z])|salt|[cx]srf|mot_de_passe|motdepasse|cl[eé]_(?:secr[eè]te|\\w{1,12})|clave|chave|contrase[nñ]a|senha|kennwort|wachtwoord|has[lł]o|parola";
const anyRareWord = new RegExp(`${rareWords}`, "i");
const rarelyNamed = buildNamedPattern([rareWords, ...foreignWords].join("|"));

function buildNamedPattern(words: string): RegExp {
  const name = `(${words})([\\w-]{0,40})(?![\\w-])(?:${color})?(${quote}?[\\])]?)(?:[ \\t](?:\\d{1,2}|\\[[\\w*]{0,24}\\])(?=:))?`;
  return new RegExp(`${name}(${joints.join("|")})(?:${color}){0,3}(\\[?[bBrRuUN]?${quote})?`, "gi");
}

export function assignments(text: string): Span[] {
  // The hook reads one short text: it must not compile a pattern without need.
  return anyTellingWord.test(text) ? findAssigned(text, named) : [];
}

/** Assignments to rare names: searching for them separately, in parts of a text, is cheaper. */
export function rareAssignments(text: string): Span[] {
  const hasRareWord = foreignWords.some((word) => text.includes(word)) || anyRareWord.test(text);
  return hasRareWord ? findAssigned(text, rarelyNamed) : [];
}

function findAssigned(text: string, pattern: RegExp): Span[] {
  // The same few names repeat.
  const strengths = new Map<string, Strength | undefined>();
  const grade = (name: string, tail: string): Strength | undefined => {
    const key = `${name} ${tail.length}`;
    if (!strengths.has(key)) strengths.set(key, gradeName(name, tail));
    return strengths.get(key);
  };
  let done = 0;
  return [...text.matchAll(pattern)].flatMap((match) => {
    const span = match.index < done ? undefined : assignedSecret(text, match, grade);
    done = span?.end ?? done;
    return span ?? [];
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

function assignedSecret(text: string, match: RegExpExecArray, grade: typeof gradeName): Span | undefined {
  const [whole, word = "", rest = "", close = "", joint = "", opening = ""] = match;
  const afterJoint = match.index + whole.length;
  // White space within the first characters (`key = a`, `token is`) rules out most matches.
  if (opening === "" && rest.toLowerCase() !== "orization" && hasBlank(text, afterJoint)) return undefined;
  const head = nameBefore(text, match.index);
  const name = head + word + rest;
  // `auth=("user", "password")`
  const strength = /\(.*,/.test(joint)
    ? "password"
    : (grade(name, word + rest) ?? (/^[A-Z_]*KEY$/.test(name) && opening !== "" ? "weak" : undefined));
  const nameStart = match.index - head.length;
  // In `https://x-access-token:…@host` the name is a user name, and the rest of the URL is no value.
  if (
    strength === undefined ||
    text[nameStart - 1] === "/" ||
    isInMask(text, nameStart) ||
    isResourceName(text, nameStart)
  )
    return undefined;
  const scheme = schemeLength(text, afterJoint, name);
  const valueStart = afterJoint + scheme;
  const assignment = { name, nameStart, close, joint, opening, valueStart };
  const form = classifyForm(text, assignment);
  const value = form === undefined ? "" : readValue(text, assignment, form);
  if (form === undefined || value === "") return undefined;
  const judged = value.slice(0, judgedChars);
  if (!isSecretValue(judged, name, scheme > 0 ? "secret" : strength, form)) return undefined;
  const long = value + readRest(value, text, valueStart);
  return makeSpan(
    valueStart,
    long + readNextLines(long, joint, text, valueStart + long.length),
    nameKind(word),
  );
}

/** `arn:aws:secretsmanager:…:secret:name` says where a secret is kept. */
function isResourceName(text: string, at: number): boolean {
  return text[at - 1] === ":" && /\barn:[\w:-]{1,80}$/.test(text.slice(Math.max(0, at - 100), at));
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

const nextLiterals =
  /^(?:["'][ \t]{0,4}(?:\+[ \t]{0,4}|(?:\+[ \t]{0,4})?\r?\n[ \t+]{0,60})["'][^"'\n]{4,256}(?=["']))+/;
const nextFolded = /^(?:\r?\n[ \t]{2,16}[\w+/=-]{16,256}(?=\r?\n|$))+/;

/** The rest of a random value in further literals, joined by `+`, or in further lines of a YAML block. */
function readNextLines(value: string, joint: string, text: string, at: number): string {
  if (!isScrambled(value, 8)) return "";
  const next = /[|>][-+]?[ \t]*\n/.test(joint) ? nextFolded : nextLiterals;
  return next.exec(text.slice(at, at + maxQuoted * 8))?.[0] ?? "";
}

/** Length of the scheme in an Authorization header, which is no part of the secret. */
function schemeLength(text: string, at: number, name: string): number {
  if (!/authorization$/i.test(name)) return 0;
  const scheme =
    /^(?:bearer|basic|token|api-?key|key|oauth|jwt|digest|negotiate|bot|splunk|ssws|sso-key|geniekey|[\w-]{0,20}auth[\w-]{0,10}|[A-Za-z][\w-]{1,24}(?= [\w+/=.~-]{24}))[ =]{1,2}/i;
  return scheme.exec(text.slice(at, at + 48))?.[0].length ?? 0;
}

/** The part of a name before its telling word: `DB_` of `DB_PASSWORD`, `api ` of `api key`. */
function nameBefore(text: string, at: number): string {
  let start = at;
  const isNameChar = (code: number) => isRunChar[code] === 1 || code === 0x2e || code === 0x24;
  while (start > 0 && at - start < 64 && isNameChar(text.charCodeAt(start - 1))) start--;
  if (start === at) return qualifier.exec(text.slice(Math.max(0, at - 12), at))?.[0] ?? "";
  // In escaped text, the letter of `\n` looks like part of the name.
  const isEscape = text[start - 1] === "\\" && /[nrt]/.test(text[start] ?? "");
  return text.slice(isEscape ? start + 1 : start, at);
}

const qualifier =
  /(?<!\w)(?:api|access|secret|private|client|auth|account|bot|service|personal|unseal|recovery|signing|encryption|decryption|master|license|licence|setup|pre-?shared) $/i;
const passwordWord = new RegExp(
  `(?:pass(?:w(?:or)?d|wort|phrase|code)s?|IDENTIFIED BY|requirepass|psk|pre[_-]?shared[_-]?key|(?:wpa2?|wi-?fi|wlan|network|hotspot)[_-]?key|mot_?de_?passe|contrase[nñ]a|senha|kennwort|wachtwoord|has[lł]o|parola|${foreignWords.join("|")})$`,
  "i",
);
// A short word must not end another, as in `bypass`.
const shortPasswordWord =
  /(?:^|[^A-Za-z])(?:pass|PASS|Pass|pwd|PWD|Pwd|pw|PW)$|^[A-Z0-9_]*(?<!BY|COM)PASS$|[a-z](?:Pass|Pwd)$|(?:db|user|root|admin|my|pg|sql|smtp|mail|ftp|ssh|store|key|trust|smb|wifi|proxy|net|http|PG|SQL|DB)(?:pass|pwd|PASS|PWD)$/;
const keyQualifier =
  "api|access|secret|private|priv|account|auth|authentication|encrypt(?:ion)?|sign(?:ing)?|master|service|client|shared|app|application|license|deploy|admin|root|session|subscription|integration|webhook|jwt|hmac|ssh|gpg|consumer|server|write|ingest|anon|role|function|host|bot|account[_-]?access|shared[_-]?access|crypt(?:o)?|cipher|aes|unseal|recovery|pre[_-]?shared|validation|decrypt(?:ion)?|certificate|storage|setup|wallet";
const secretName = new RegExp(
  `(?:secret|mnemonic|secret[_-]?id|private_key_id|cl[eé]_secr[eè]te|(?:clave|chave)_(?:api|secret\\w)|[a-z0-9][_-]?token|(?:^|[^a-z])(?:${keyQualifier})[ _.-]?key|[a-z](?:Api|Access|Secret|Private|Auth)Key|(?:api|access|secret)key|_auth(?:token)?|_PAT)s?$`,
  "i",
);
const weakName = /(?:tokens?|(?:^|[^a-z])salt|[cx]srf|(?:^|[^a-z])auth|authorization)$|_KEY$|^X-[\w-]*-Key$/i;
/** Words before `token`, `key` or `pass` that make the name harmless. */
const innocentWords = wordSet(`
  next page continuation sync cursor cancel cancellation stop eos bos pad unk mask sep cls max min num per total
  public publishable pub primary foreign cache sort partition idempotency routing row hash lookup by map object json
  dict storage hot short arrow recv first second third one two multi single fast render forward backward low high band
`);

function isInnocent(stem: string): boolean {
  const pieces = splitPieces(stem.toUpperCase() === stem ? stem.toLowerCase() : stem);
  const words = pieces.map((piece) => piece.toLowerCase());
  return /^(?:token|key|pass)s?$/.test(words.at(-1) ?? "") && innocentWords.has(words.at(-2) ?? "");
}

/** Names of functions and booleans. */
const verbName =
  /^_?(?:is|has|use|show|hide|needs?|requires?|enable|get|fetch|toggle|supports?)(?:[A-Z]|_[a-z])/;
const nameSuffix =
  /(?:[_-]?(?:\d{1,2}|v\d|prod(?:uction)?|staging|stage|stg|dev(?:elopment)?|test(?:ing)?|live|local|qa|value|base64|b64|plain(?:text)?|text|raw|str|env|old|new|prev|current|main|secondary|backup|base|confirm(?:ation)?)){1,4}$/i;

export function gradeName(name: string, tail: string): Strength | undefined {
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

function classifyForm(text: string, assignment: Assignment): Form | undefined {
  const { name, nameStart, close, joint, opening, valueStart } = assignment;
  const isFlag = /^--?[A-Za-z]/.test(name);
  if (joint.endsWith(">")) return isTag(text, nameStart, close, joint) ? "quoted" : undefined;
  // Dots or a rule lead from the name to its value.
  if (/\.{4}|[-=~]{3}/.test(joint)) return "row";
  if (/=\s*\(\s*$/.test(joint)) return "quoted";
  if (joint.includes("(")) return joint.includes(",") ? "pair" : name === "PASSWORD" ? "quoted" : "apart";
  if (joint.includes(",") && !/value|content/i.test(joint)) {
    if (close === "" || opening === "") return undefined;
    return /\(\s{0,4}\\{0,3}["'`]$/.test(text.slice(Math.max(0, nameStart - 10), nameStart))
      ? "call"
      : "pair";
  }
  if (/^[ \t|│]+$/.test(joint)) {
    if (isFlag && text[valueStart] === "-") return undefined;
    // In help texts prose follows the option: `--password to be used`.
    if (isFlag)
      return opening === "" && !(/pass/i.test(name) && isArgument(text, nameStart, valueStart))
        ? "spaced"
        : "flag";
    if (/^PASSWORD$|^IDENTIFIED BY$/i.test(name) && opening !== "") return "quoted";
    if (takesValue(text, nameStart, name)) return opening === "" ? "assigned" : "quoted";
    return /[|│]| {2}|\t/.test(joint) && isRowStart(text, nameStart) ? "row" : "apart";
  }
  if (/(?:is|was|to|ist|es|est|是)[ \t:]*$/i.test(joint)) return "prose";
  const isEqual = /^(?:=|%3D|[?:]=)$/i.test(joint);
  if (isEqual && opening === "" && isGivenValue(text, nameStart)) return "env";
  if (isEqual && isFlag) return "flag";
  if (isEqual && close === "" && /^[A-Z][A-Z0-9_]*$/.test(name.replace(/^.*[.$]/, ""))) return "env";
  if (opening === "" && isSetting(text, nameStart, valueStart)) return "env";
  return opening !== "" ? "quoted" : isEqual ? "assigned" : "spaced";
}

/** Whether a name begins its line, or a cell that does. */
function isRowStart(text: string, at: number): boolean {
  return /(?:^|[\n\0])[ \t]*[|│]?[ \t]*(?:\w{1,20} )?$/.test(text.slice(Math.max(0, at - 40), at));
}

/** `<password>…`, `name="password">…` and `<key>password</key><string>…`, but not `(?<password>…`. */
function isTag(text: string, at: number, close: string, joint: string): boolean {
  if (text[at - 1] === "<" && text[at - 2] !== "?") return true;
  return !joint.includes("=") && (close !== "" || joint.startsWith("<"));
}

/** Whether what follows an option is its argument in a command, and not the prose of a help text. */
function isArgument(text: string, at: number, valueAt: number): boolean {
  const before = /[^\n\0]*$/.exec(text.slice(Math.max(0, at - 200), at))?.[0] ?? "";
  const after = /^\S+([^\n\0]*)/.exec(text.slice(valueAt, valueAt + 200))?.[1] ?? "";
  return (
    /^\s*(?:[$#>] |\d{1,6}\s{1,4}|- |"[\w-]+":\s?"|(?:command|cmd): )?[a-z.~/][\w./-]*\s(?:\S|$)/.test(
      before,
    ) && /^\s*(?:["'|;&>)\\-]|$|\S*[/.:=@]|\w+\s*(?:$|[-|;&]))/.test(after)
  );
}

const settingLine = /^[ \t]*(?:\[[\w.-]+\]|[\w.-]+(?:: ?| ?= ?)(?:[^\s"'(){};]+)?)[ \t]*$/;

/** Whether a line is one of the settings in a file: it says nothing else, and the line beside it looks like it. */
function isSetting(text: string, at: number, valueAt: number): boolean {
  const before = text.slice(Math.max(0, at - 180), at).split(/[\n\0]/);
  const after = text.slice(valueAt, valueAt + 240).split(/[\n\0]/);
  const line = `${before.at(-1)}${text.slice(at, valueAt)}${after[0]}`;
  if (line.length > 120 || before.length + after.length === 2 || !settingLine.test(line)) return false;
  return [before.at(-2) ?? "", after[1] ?? ""].some((one) => one.trim() !== "" && settingLine.test(one));
}

/** Whether a name stands among other settings of a connection, or where a program is given variables. */
function isGivenValue(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 120), at);
  return /(?:^|[;"'\s])(?:user ?id|uid|user(?:name)?|server|data source|host|database|initial catalog)=[^;\n]{1,80};[^\n]*$|\s(?:-e|-D|-P|--set(?:-string)?|--env|--build-arg|--var|--extra-vars|--from-literal|--define)[ =]?\\?["']?(?:[\w.-]+=[^\s"']{0,60}[ ,])*$/i.test(
    before,
  );
}

/** Whether the words before the name announce a value: `.netrc`, `ENV NAME value`, `config set name value`. */
function takesValue(text: string, at: number, name: string): boolean {
  if (name === "requirepass") return true;
  const before = text.slice(Math.max(0, at - 160), at);
  const announces =
    /(?:\blogin\s+\S+\s+(?:account\s+\S+\s+)?|(?:^|[\s"'])(?:ENV|setenv|SETX|setx|set -\w*x\w*)\s+|#[ \t]?define\s+|\bwifi connect\s[^\n]{1,80}\s|\bconfig(?:ure)? set\s+(?:\S+[:.])?)$/;
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
  const mark = opening.replace(/^\[?[bBrRuUN]?(?=[\\"'`&%])/, "");
  const quoted = mark === "" ? undefined : quotedValue(rest, mark);
  if (quoted === undefined) {
    const ownLine = startsLine(text, nameStart);
    const phrase = ownLine || /[|>][-+]?[ \t]*\r?\n/.test(joint) ? barePhrase.exec(rest)?.[0] : undefined;
    return phrase ?? bareValue(rest, form, ownLine);
  }
  // On a new line, the quoted text may be the next name.
  const isName = /\n/.test(joint) && /^\\*["'`]\s*:/.test(rest.slice(quoted.length, quoted.length + 16));
  return isName ? "" : quoted;
}

/** Several words to the end of a line. */
const barePhrase = /^[a-z]{3,12}(?: [a-z]{3,12}){2,11}(?=[ \t]*(?:\r?\n|\\+n|$))/;

/** Whether only white space, a line's number or a sign of a diff, `export` or `-e` precedes a position in its line. */
function startsLine(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 28), at);
  return (
    /(?:\n|\\n|export |[ \t]-e )(?:[ \t]*\d{1,6}[→:|\t]|[+-])?[ \t]*$/.test(before) ||
    (at <= 28 && /^(?:[ \t]*\d{1,6}[→:|\t]|[+-])?[ \t]*$/.test(before))
  );
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

function isSecretValue(value: string, name: string, strength: Strength, form: Form): boolean {
  if (strength === "weak" && !isMixed(value)) return false;
  if (isPlaceholder(value) || isLocation(value) || isColour(value)) return false;
  if (/\s/.test(value)) return isPhrase(value, name, strength);
  if (form !== "quoted" && form !== "pair" && form !== "call" && isCode(value, form)) return false;
  if (strength !== "password" && !/[A-Za-z]/.test(value)) return false;
  if (form === "call" && strength !== "weak" && !ofCode.test(value)) {
    if (isTold(value) || (strength === "password" && isPlainPassword(value))) return true;
  }
  // Two adjacent strings may be two items of a list.
  const isPair = form === "pair" || form === "call";
  if (isPair && !(isMixed(value) && (hasSign(value) || !isMostlyWords(value) || isJoined(value))))
    return false;
  if (form === "prose" && (/^pass$/i.test(name) || !(isMixed(value) || /[!@#$%^&*~+]\w/.test(value))))
    return false;
  if (form === "apart") return isApartSecret(value, strength);
  if (form === "row") return isApartSecret(value, strength) || (strength === "password" && isTold(value));
  if (strength === "weak") return isScrambled(value, form === "env" || form === "flag" ? 8 : 12);
  if (strength === "password") return isPassword(value, name, form);
  if (value.length < 6) return false;
  if (form === "env" || form === "flag") return !namesItself(value);
  if (/^[A-Za-z0-9/+]{40}$/.test(value) && /\d/.test(value)) return true;
  if (!isMixed(value) || isTechnical(value)) return false;
  return !isWordy(value) || isWordAndNumber(value) || (/[A-Z]/.test(value) && isJoined(value));
}

/** Only white space or a table rule between name and value: `API_KEY | …`, `WITH PASSWORD '…'`. */
function isApartSecret(value: string, strength: Strength): boolean {
  if (strength === "weak") return false;
  if (isScrambled(value, 16) && !isMostlyWords(value)) return true;
  return strength === "password" && /\d/.test(value) && hasSign(value);
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
  if (form === "env" || form === "flag") return !/^[A-Z][a-z]+$/.test(value) && isPlainPassword(value);
  if (form === "quoted") return !/^[A-Z][a-z]+$/.test(value) && !/secret|token|pass/i.test(value);
  if (form === "assigned") return /^[a-z]+$/.test(value) && !/secret|token|pass|pwd/.test(value);
  return /^[a-z]{3,}(?:-[a-z]{3,}){3,}$/.test(value);
}

function nameKind(word: string): string {
  const kind = word.toLowerCase();
  if (kind === "auth") return "credential";
  if (kind === "_pat") return "token";
  if (kind === "mnemonic") return "seed-phrase";
  return /^(?:secret|token|key)$/.test(kind) ? kind : "password";
}

/** The strength of a name: a password may be any word, a secret rarely is, a weak name needs random text. */
type Strength = "password" | "secret" | "weak";

/** How name and value are joined; decides how random the value must look. */
type Form = "quoted" | "env" | "flag" | "assigned" | "spaced" | "pair" | "call" | "prose" | "apart" | "row";

/** Whether an unquoted value is an expression rather than a literal. */
function isCode(value: string, form: Form): boolean {
  if (expressionStart.test(value)) return true;
  if (/^[!*&~+-]*[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$]|[([]|->|::|\?\.)|[\w$]\($/.test(value))
    // Vault's older tokens look like this; among settings a word with a dot in it is no field of an object.
    return (
      !/^[sbr]\.[A-Za-z0-9]{24,}$/.test(value) &&
      !isJoined(value) &&
      !(form === "env" && /^[A-Z]?[a-z]+(?:\.[A-Z]?[a-z]+)+$/.test(value) && !ofCode.test(value))
    );
  return (
    !isJoined(value) &&
    form !== "env" &&
    form !== "flag" &&
    identifiers.some((pattern) => pattern.test(value))
  );
}

const expressionStart =
  /^[([{]|^\/[\^(\\[]|^[&*!@][A-Za-z_.]+$|^&#?\w+;|=>|^\$[A-Za-z_]\w*(?:-$|->|::|[[{.])/;
/** Constants, snake_case, camelCase, and names that say what they hold. */
const identifiers = [
  /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/,
  /^[A-Za-z$]+(?:_[A-Za-z]+)+_?\d{0,2}$/,
  /^[A-Z]?[a-z]+(?:[A-Z][a-z]+)+$/,
  /^[A-Za-z]*(?:pass|secret|token|pwd|Key|Auth)[a-z]*\d{0,2}$/,
];

/** The value only repeats its name: `AUTH_TOKEN=auth_token`. */
function namesItself(value: string): boolean {
  if (/\d/.test(value) || hasStrayCapitals(value)) return false;
  return splitPieces(value).some((piece) => piece.length > 2 && standIns.has(piece.toLowerCase()));
}

const sentenceWord =
  /^(?:the|your|is|a|an|must|and|to|for|password|passphrase|secret|key|token|with|of|or|be|not|in|at|least|on|please|enter|this|that|it|are|do|you|has|was|will|can|from|by|as|if|no|invalid|required|see|ask|use|used|using|set|via|same|like|stored|kept|found|given|missing|wrong|only|also|when|have|should|need|needs|any|all|than|then|there|which|how|why|where|but|new|old|here|into|too|short|long|try|again|does|did|its|one|der|die|das|und|nicht|ist|ein|eine|les|des|est|pas|votre|por|para|una|los)$/i;

/** A passphrase, or a password with spaces, as opposed to a sentence about one. */
function isPhrase(value: string, name: string, strength: Strength): boolean {
  const words = value.trim().split(/\s+/);
  const areWords = words.length >= (/psk|phrase/i.test(name) ? 3 : 4) && words.every(isPlainWord);
  if (/mnemonic|phrase|seed/i.test(name) && areWords && words.length % 3 === 0) return true;
  if (strength === "weak" || words.length > 12) return false;
  if (words.some((word) => sentenceWord.test(word.replace(/\W/g, "")))) return false;
  if (strength === "secret")
    return /secret|phrase/i.test(name) && words.length >= 3 && words.every(isPlainWord);
  if (areWords || words.every(isTold)) return true;
  return (
    words.length <= 6 && words.some((word) => /[A-Za-z]/.test(word) && /\d/.test(word) && hasSign(value))
  );
}

function isPlainWord(word: string): boolean {
  return /^[a-z]{3,12}$/.test(word);
}
