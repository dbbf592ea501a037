import { wordSet } from "../text/index.ts";

export const standIns = wordSet(`
  null nil none undefined nan true false yes no on off string str number int integer float bool boolean bytes text any
  object unknown void never optional required password passwd passwort passphrase pass pwd secret token key apikey
  credential credentials auth authorization bearer basic oauth jwt changeme change test testing tests foo bar baz qux
  foobar dummy fake mock sample example placeholder todo tbd hidden masked missing invalid valid expired incorrect
  wrong empty unset default your yours inherit include omit enabled disabled username user value varchar char const
  let var await new return function async self this input output prompt stdin file env environment process redacted
  removed stripped filtered sanitized secrets tokens keys passwords mypassword mytoken mysecret yourpassword
  hashed plain plaintext encrypted generated random unchanged same old current minimum maximum must should field
  kennwort contrasena senha options option flag flags argument arguments parameter parameters
`);

/** Words that make a value of words a placeholder: `your-token-here`, `test_key_1`. */
const standInWords = wordSet(`
  your my some the this example test fake dummy mock sample placeholder change changeme replace insert enter here todo
  foo bar valid invalid expired wrong bad good new old secret token key password pass api auth access refresh required
  string optional nullable
`);

/** Whether a value is no secret but a variable, a template, a mask or a word to be replaced. */
export function isPlaceholder(value: string): boolean {
  if (!/[A-Za-z0-9]/.test(value) || isMasked(value) || isExample(value) || isTemplate(value)) return true;
  const letters = value.toLowerCase().replace(/[^a-z0-9]/g, "");
  if (standIns.has(letters) || standIns.has(letters.replace(/\d{1,2}$/, ""))) return true;
  if (!isWordsOnly.test(value) || hasStrayCapitals(value)) return false;
  return splitPieces(value).some((piece) => {
    const word = piece.toLowerCase();
    return standInWords.has(word) || (word.endsWith("s") && standInWords.has(word.slice(0, -1)));
  });
}

const isWordsOnly = /^[^A-Za-z0-9]*(?:(?:[A-Za-z]+|\d{1,4})(?:[^A-Za-z0-9]+|$))+$/;

/** Splits `my-token`, `my_token` and `myToken` into words. */
export function splitPieces(value: string): string[] {
  return value.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/).filter((piece) => piece !== "");
}

/** Variables, template slots and regular expressions. */
export function isTemplate(value: string): boolean {
  return (
    variable.test(value) ||
    slot.test(value) ||
    (expression.test(value) && (value.length < 40 || /\\[dws]|\(\?/.test(value)))
  );
}

const variable = /^\$(?:[A-Z_]{2,}|[A-Za-z_]\w*$|env:|\d$)|^%\w+%$|^__\w+__$|^@@?[A-Z_]+@@?$|\$\w+->/;
const slot =
  /\$\{|^\$\(|\$\([^)]{3}|\{\{|<%|%\(|#\{|%[sdvq](?![0-9A-Za-z])|^<[^>]*>?$|^\{[^}]*\}?$|\[redacted/;
const expression = /\(\?[:=!<]|\[\^?\w-\w|[\])]\{\d+,\d*\}|\\[dwsb][+*{)\]]/;

/** Masks such as `xxxx`, `***` or `sk-...`. */
export function isMasked(value: string): boolean {
  if (/x{8,}|X{8,}|\*{3,}|\.\.\.|…|•|^[xX0*._-]+$/.test(value)) return true;
  return value.length < 32 && /x{4,}|X{4,}/.test(value);
}

const exampleWord =
  /your|YOUR|Your|[Ee]xample|EXAMPLE|placeholder|PLACEHOLDER|[Cc]hange.?[Mm]e|CHANGE.?ME|replace|REPLACE|insert|INSERT|dummy|DUMMY|redacted|REDACTED/;

/** Examples from manuals. Long values count as real even if they contain EXAMPLE. */
export function isExample(value: string): boolean {
  if (/EXAMPLE(?:KEY)?$/.test(value)) return true;
  if (value.length >= 32 || !exampleWord.test(value)) return false;
  // Some people do choose such a word; what they put behind it is no number that counts up.
  const rest = value.replace(exampleWord, "");
  return !(/^[A-Za-z]*[!@#$%^&*+.]*\d{4}[A-Za-z]\w*$/.test(rest) && !/1234|year|here/i.test(rest));
}

/** Paths and URLs: they say where a secret is, not what it is. */
export function isLocation(value: string): boolean {
  // An address on a chain of blocks and a publishable key are public, and encrypted values may be.
  if (/^[a-z][a-z0-9+.-]*:\/\/|^0x[0-9a-f]{40}$|^ENC\[|^vault:v\d|^pk_(?:live|test)_/i.test(value))
    return true;
  if (!/^(?:~|\.{0,2}|[A-Za-z]:)[\\/][\w.@ \\/-]*$/.test(value)) return false;
  return !(/^[A-Za-z0-9/+]{40}$/.test(value) && isScrambled(value.replaceAll("/", ""), 20));
}

/** Whether a value consists of words and numbers rather than random characters. */
export function isWordy(value: string): boolean {
  return value.split(/[^A-Za-z0-9]+/).every((piece) => wordyPiece.test(piece));
}

// camelCase has small letters between the capitals; `to` and `for` are often written as digits.
const word = "(?:[A-Z]+|[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)*[A-Z]{0,3})";
// One piece at a time: each can be read in two ways, and a pattern for all of them would try every combination.
const wordyPiece = new RegExp(
  `^(?:${word}|\\d+|(?=[A-Za-z]{2})${word}\\d{1,2}|v\\d+|[A-Z]?[a-z]{2,10}[24][A-Z]?[a-z]{2,10})?$`,
);

/** Whether at least half of a value is words: `ssh2_auth_file`. */
export function isMostlyWords(value: string): boolean {
  const pieces = value.split(/[^A-Za-z0-9]+/);
  const lengthOf = (some: string[]): number => some.reduce((sum, piece) => sum + piece.length, 0);
  return lengthOf(pieces.filter(isWordy)) * 2 >= lengthOf(pieces);
}

export function isColour(value: string): boolean {
  return /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8});?$/i.test(value);
}

/** A word and a number that many people make a password of, and hardly anybody a name. */
export function isWordWithNumber(value: string): boolean {
  return (
    /^[A-Za-z]{5,}\d{2,4}[!?#$%*]?$|^[A-Za-z]{9,}\d[!?#$%*]?$|^[A-Za-z]{7,}[-.]\d{1,4}[!?#$%*]?$/.test(
      value,
    ) &&
    !ofCode.test(value) &&
    !product.test(value) &&
    isChosen(value)
  );
}

/** What is named with its version or number. */
const product =
  /^(?:windows|ubuntu|debian|fedora|centos|alpine|android|macos|chrome|firefox|safari|python|django|spring|rails|angular|react|bootstrap|tailwind|postgres\w*|mysql|mariadb|oracle|office|sharepoint|exchange|server|worker|node|cluster|version|release|chapter|section|figure|table|page|step|issue|ticket|sprint|phase|level|line|group|team|room|floor|week|month|column|field|index|sample|example|option|variant|argon|bcrypt|base|utf|sha|http|area|unit|part|task|item|slot|port|host|zone|feature|branch|build|sprint|bugfix|hotfix|backup|service|project|iteration|milestone)s?[-.]?\d/i;

export function isWordAndNumber(value: string): boolean {
  return value.length >= 7 && /^[A-Za-z]+\d+$/.test(value);
}

/** Whether a value looks random and is long enough not to do so by chance. */
export function isScrambled(value: string, minLength: number): boolean {
  return value.length >= minLength && /[A-Za-z]/.test(value) && isMixed(value) && !isWordy(value);
}

/** Whether a value has digits, or capitals where no word has them. */
export function isMixed(value: string): boolean {
  return /\d/.test(value) || hasStrayCapitals(value);
}

/** In camelCase several small letters follow each capital; in random text two do, on average. */
export function hasStrayCapitals(value: string): boolean {
  if (!/[A-Z]/.test(value)) return false;
  const smallRuns = value.match(/[a-z]+/g) ?? [];
  return smallRuns.length >= 3 && smallRuns.join("").length < 2.6 * smallRuns.length && value.length >= 10;
}

const algorithm =
  /^(?:(?:hmac|aes|rsa|ecdsa|bcrypt|scrypt|pbkdf|argon|oauth|oidc|saml|sha|md|base|utf|hs|rs|es|ps|ed|secp|x|p|v)[-_]?\d{1,5}(?:k1|r1|id|le|be)?(?:[-_]\w{2,6}){0,2}|s3|k8s|i18n|a11y)$/;
const quantity = /^(?:0x[0-9a-f]{1,8}|[\d.]+(?:px|em|rem|ms|s|m|h|d|k|kb|mb|gb|%)?)$/;

/** Algorithms, formats and quantities, which often follow such names in code and prose. */
export function isTechnical(value: string): boolean {
  const small = value.toLowerCase();
  return algorithm.test(small) || quantity.test(small);
}

/** Signs common in passwords and rare in names. */
export function hasSign(value: string): boolean {
  return /[!@#$%^&*]/.test(value);
}

const fileName =
  /\.(?:js|ts|py|md|json|ya?ml|txt|go|rs|sh|html?|css|log|env|toml|c|h|java|rb|mp[34]|bz2|7z|s3|k8s|v\d+)(?:\b|$)/i;

/**
 * Versions, dates, addresses, sizes, file names, references and code, none of which anybody chooses as a password; each
 * with a sign that values need before the pattern is tried, because one pattern for all takes milliseconds to prepare.
 */
// biome-ignore format: a table reads better in rows
const neverChosen: readonly (readonly [sign: string, shape: RegExp])[] = [
  ["", /^[#@]?\w{1,3}$|^#\w{1,6}$|^@|^-|^[^A-Za-z]+$|^\d{1,4}[-_+]?[A-Za-z]{1,12}$|^[A-Z]{1,6}-?\d{1,6}$/],
  ["", /^\d[\d:.T/-]*[Z%]?$|[(){}<>]/],
  [".", /^v?\d+(?:\.\w+)+|^[\w-]+(?:\.[A-Za-z][\w-]*)+(?::\d+)?$|\.(?:js|ts|py|md|json|ya?ml|txt|go|rs|sh|html?|css|log|env|toml|c|h|java|rb)\b/],
  ["@", /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/],
  [":", /^[\w.-]+:\d{1,5}(?::\d+)?$|::/],
  [">", /=>|->/],
  ["/", /\/\/|^[\w.@-]+(?:\/[\w.@-]+)+\/?$/],
  ["=", /^&?\w+=/],
];

/** Whether a value may be a password that somebody chose, or one that was generated: not just words, nor a thing. */
export function isChosen(value: string): boolean {
  if (value.length < 6 || value.length > 200 || /\s/.test(value) || isPlaceholder(value)) return false;
  if (/^[\w+/=-]{24,}$/.test(value) && isScrambled(value.replaceAll("/", ""), 24) && hasStrayCapitals(value))
    return true;
  if (
    neverChosen.some(([sign, shape]) => value.includes(sign) && shape.test(value)) ||
    isLocation(value) ||
    isTechnical(value)
  )
    return false;
  // Names of variables, unless they are no words.
  if (/^\w+_\w+$/.test(value) && !isUnnamed(value)) return false;
  return (
    (/\d/.test(value) || /\w.*[!@#$%^&*]/.test(value) || hasStrayCapitals(value)) &&
    !/^[A-Za-z]{1,4}\d?$/.test(value)
  );
}

/** Whether what looks like a name in code has pieces that no name has. */
function isUnnamed(value: string): boolean {
  const pieces = value.split("_");
  return (
    pieces.some((piece) => /^[0-9a-f]{32,}$/.test(piece)) ||
    (isScrambled(value, 8) &&
      pieces.some(
        (piece) => /[a-z].*\d|\d.*[a-z]/.test(piece) && /[A-Z]/.test(piece) && isScrambled(piece, 4),
      ))
  );
}

/** Pieces of the names that code gives to values, rather than of values. */
export const ofCode =
  /pass|pwd|secret|token|key|cred|auth|user|login|config|settings?\b|env\b|environ|field|input|param|args|hash|crypt|value|props|data|type|test|spec|util|helper|self|this/i;

/** Words that somebody joined with a dot, a dash or a line, and a number: `Word.Word54`. Names of hosts, files and fields look different. */
export function isJoined(value: string): boolean {
  return (
    value.length >= 8 &&
    value.length <= 64 &&
    /^[A-Za-z]{2,}\d{0,4}(?:[._-][A-Za-z]{2,}\d{0,6}|[_-]\d{1,6}|(?<=[a-z])\.\d{1,6}$)+[!?#$%*+]?$/.test(
      value,
    ) &&
    (/[A-Z].*\d|\d.*[A-Z]/.test(value) ||
      (value.includes(".") ? /[a-z]\d{2,6}\W?$/.test(value) : /\d.*\d/.test(value))) &&
    !ofCode.test(value) &&
    !/\.[a-z]{1,8}$/.test(value) &&
    !/(?:^|[._-])(?:id|step|page|part|chapter|phase|sprint|release|build|version|node|zone)[._-]?\d+$/i.test(
      value,
    ) &&
    !fileName.test(value) &&
    !isPlaceholder(value) &&
    !isTechnical(value)
  );
}

/** Whether a value is believed where a text says plainly that a password follows: there only what is clearly a thing is none. */
export function isTold(value: string): boolean {
  return isChosen(value) || isJoined(value);
}

/** Whether a value that stands where only a password can stand is one, and not a variable or an option. */
export function isGiven(value: string): boolean {
  return value.length >= 4 && !/^[-<$]|\s/.test(value) && !isPlaceholder(value) && !isLocation(value);
}

/** What people say of a password that is none: its state, how it is made, and where it is. */
const stateWords = wordSet(`
  required optional mandatory incorrect correct invalid missing expired disabled enabled hidden visible secure insecure
  unknown different identical plaintext plain blank random unique stored hashed salted encrypted written rotated saved
  strong common sensitive empty short needed changed managed shared either somewhere always never already simply really
  usually probably protected manager prompt policy length strength security database vault keychain keepass
  keepassxc bitwarden lastpass dashlane environment variable config settings bcrypt argon2 scrypt pbkdf2 sha256 login
  richtig falsch abgelaufen anders geheim sicher unsicher leer gleich bekannt unbekannt notwendig optional korrekt
  gespeichert verschluesselt incorrecte correcte expiree invalide requis obligatoire faible vide dehors incorrecta correcta
  caducada vencida invalida obligatoria requerida vacia errata corretta scaduta sbagliata richiesta incorreta correta
  expirada vazia verkeerd verlopen onjuist vereist verplicht felaktig utgatt ogiltig broken gone outdated deprecated
  obsolete reused public private known working failing there within inside handled passwort kennwort contrasena senha
  wachtwoord haslo heslo parola salasana adgangskode passord losenord motdepasse reset active inactive pending status
  postgres mariadb mongodb oracle docker github gitlab google azure admin administrator latest default bearer
`);

/**
 * Whether a value may be a password of plain words, where the sentence or the column around it leaves no doubt that one
 * stands there: no state, no name in code, no file and no product.
 */
export function isPlainPassword(value: string): boolean {
  if (value.length < 6 || value.length > 64 || !/^[\x21-\x7e]+$/.test(value)) return false;
  if (isPlaceholder(value) || isLocation(value) || isTechnical(value) || fileName.test(value)) return false;
  if (
    stateWords.has(value.toLowerCase().replace(/[^a-z0-9]/g, "")) ||
    /^[A-Z_]+$|[(){}[\]<>=;|\\]/.test(value)
  )
    return false;
  if (/^[a-z]+(?:[a-z]ed|[a-z]ing|able|ible|ment|tion)$|^\w+(?:\.\w+)+$|^\w+_\w+$/i.test(value))
    return (
      isJoined(value) || (!/(?:ed|ing|able|ible|ment|tion)$|^[A-Z_]+$/.test(value) && !ofCode.test(value))
    );
  return !/^[^A-Za-z]+$/.test(value) && !/^v?\d+(?:\.\d+)+/.test(value);
}

/** A secret's position in a text, and its kind. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

export function makeSpan(start: number, value: string, kind: string): Span {
  return { start, end: start + value.length, kind };
}

export const maskStart = "[redacted:";

/** Replaces each span, or group of overlapping spans, with `[redacted:<kind>]`. */
export function mask(text: string, spans: readonly Span[]): string {
  let out = "";
  let done = 0;
  for (const { start, end, kind } of spans.toSorted((a, b) => a.start - b.start)) {
    if (start >= done) out += `${text.slice(done, start)}${maskStart}${kind}]`;
    done = Math.max(done, end);
  }
  return out + text.slice(done);
}

/** Whether the word at `at` is the kind inside a mask, or part of it. */
export function isInMask(text: string, at: number): boolean {
  return /\[redacted:[\w-]*$/.test(text.slice(Math.max(0, at - 40), at));
}

/**
 * Whether a word looks like a password wherever it stands: a word and a number, letters with signs and digits, or
 * letters and digits in no order. Names of versions, years, hashes and things with a number do not.
 */
export function looksTyped(value: string): boolean {
  if (
    value.length < 8 ||
    value.length > 64 ||
    !/\d/.test(value) ||
    !isChosen(value) ||
    /[=(){}[\]<>\\|,;:/"'`]/.test(value)
  )
    return false;
  if (/^[0-9a-fA-F-]+$|^\d+[a-z]+$|%[0-9A-F]{2}|^[$%@#]|^[^@]+@[\w-]+\.\w/.test(value)) return false;
  if (/^[A-Za-z]*[a-z][A-Za-z]*\d{3,}[!?#$%*]?$/.test(value))
    return !/(?:19|20)\d\d$|^[a-z]{1,7}\d{3}$/.test(value);
  if (/[!@#$%^&*?+~]/.test(value))
    return /\d/.test(value) && /[A-Za-z]{2}/.test(value) && /[!@#$%^&*?+~]\w|\w[!#$%*]$/.test(value);
  return (
    /^[A-Za-z0-9]{10,}$/.test(value) &&
    /\d.*\d/.test(value) &&
    isScrambled(value, 10) &&
    !/[a-z]{4}[A-Z][a-z]{3}/.test(value) &&
    !/\d[a-f0-9]{8}/.test(value)
  );
}

const likelyWord = /[^\s"'`«»“”„,;()]{8,64}/g;

/** Masks what may be a password wherever it stands, in a redacted text that is kept apart from the session that would show it to be one. */
export function maskLikely(text: string): string {
  const spans = [...text.matchAll(likelyWord)].flatMap(({ 0: found, index }) => {
    const value = found.replace(/[.:!?]+$/, "");
    const isLikely = looksTyped(value) || (isJoined(value) && /[A-Z]/.test(value));
    return isLikely ? [makeSpan(index, value, "password")] : [];
  });
  return mask(text, spans);
}
