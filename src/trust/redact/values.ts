/** What a name implies: a password may be any word, a secret rarely is, and under a weak name only random text counts. */
export type Strength = "password" | "secret" | "weak";

/** How name and value are joined; decides how random the value must look. */
export type Form = "quoted" | "env" | "flag" | "assigned" | "spaced" | "pair" | "prose" | "apart";

const standIns = new Set(
  (
    "null nil none undefined nan true false yes no on off string str number int integer float bool boolean bytes text any " +
    "object unknown void never optional required password passwd passwort passphrase pass pwd secret token key apikey " +
    "credential credentials auth authorization bearer basic oauth jwt changeme change test testing tests foo bar baz qux " +
    "foobar dummy fake mock sample example placeholder todo tbd hidden masked missing invalid valid expired incorrect " +
    "wrong empty unset default your yours inherit include omit enabled disabled username user value varchar char const " +
    "let var await new return function async self this input output prompt stdin file env environment process redacted " +
    "removed stripped filtered sanitized secrets tokens keys passwords mypassword mytoken mysecret yourpassword " +
    "hashed plain plaintext encrypted generated random unchanged same old current minimum maximum must should field " +
    "kennwort contrasena senha options option flag flags argument arguments parameter parameters"
  ).split(" "),
);

/** Words that make a value of words a placeholder: `your-token-here`, `test_key_1`. */
const standInWord =
  /^(?:your|my|some|the|this|example|test|fake|dummy|mock|sample|placeholder|change|changeme|replace|insert|enter|here|todo|foo|bar|valid|invalid|expired|wrong|bad|good|new|old|secret|token|key|password|pass|api|auth|access|refresh|required|string|optional|nullable)s?$/i;

/** Whether a value is no secret but a variable, a template, a mask or a word to be replaced. */
export function isPlaceholder(value: string): boolean {
  if (!/[A-Za-z0-9]/.test(value) || isMadeUp(value) || isTemplate(value)) return true;
  const letters = value.toLowerCase().replace(/[^a-z0-9]/g, "");
  if (standIns.has(letters) || standIns.has(letters.replace(/\d{1,2}$/, ""))) return true;
  return (
    isWordsOnly(value) &&
    !hasStrayCapitals(value) &&
    splitPieces(value).some((piece) => standInWord.test(piece))
  );
}

function isWordsOnly(value: string): boolean {
  return /^[^A-Za-z0-9]*(?:(?:[A-Za-z]+|\d{1,4})(?:[^A-Za-z0-9]+|$))+$/.test(value);
}

/** Splits `my-token`, `my_token` and `myToken` into words. */
export function splitPieces(value: string): string[] {
  return value.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/).filter((piece) => piece !== "");
}

/** Variables, template slots and regular expressions. */
export function isTemplate(value: string): boolean {
  return variable.test(value) || slot.test(value) || expression.test(value);
}

const variable = /^\$(?:[A-Z_]{2,}|[A-Za-z_]\w*$|env:|\d$)|^%\w+%$|^__\w+__$|^@@?[A-Z_]+@@?$|\$\w+->/;
const slot = /\$\{|\$\(|\{\{|<%|%\(|#\{|%[sdvq](?![0-9A-Za-z])|^<[^>]*>?$|^\{[^}]*\}?$|\[redacted/;
const expression = /\(\?[:=!<]|\[\^?\w-\w|[\])]\{\d+,\d*\}|\\[dwsb][+*{)\]]/;

export function isMadeUp(value: string): boolean {
  return isMasked(value) || isExample(value);
}

/** Masks such as `xxxx`, `***` or `sk-...`. */
export function isMasked(value: string): boolean {
  return (
    /x{8,}|X{8,}|\*{3,}|\.\.\.|…|•|^[xX0*._-]+$/.test(value) ||
    (value.length < 32 && /x{4,}|X{4,}/.test(value))
  );
}

const exampleWord =
  /your|YOUR|Your|[Ee]xample|EXAMPLE|placeholder|PLACEHOLDER|[Cc]hange.?[Mm]e|CHANGE.?ME|replace|REPLACE|insert|INSERT|dummy|DUMMY|redacted|REDACTED/;

/** Examples from manuals. Long values count as real even if they contain EXAMPLE. */
export function isExample(value: string): boolean {
  return value.length < 32 && exampleWord.test(value);
}

/** Paths and URLs: they say where a secret is, not what it is. */
export function isLocation(value: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return true;
  if (!/^(?:~|\.{0,2}|[A-Za-z]:)[\\/][\w.@ \\/-]*$/.test(value)) return false;
  return !(/^[A-Za-z0-9/+]{40}$/.test(value) && isScrambled(value.replaceAll("/", ""), 20));
}

/** Whether an unquoted value is an expression rather than a literal. */
export function isCode(value: string, form: Form): boolean {
  if (/^[([{]|^\/[\^(\\[]|^[&*!@][A-Za-z_.]+$|^&#?\w+;|=>|^\$[A-Za-z_]\w*(?:-$|->|::|[[{.])/.test(value))
    return true;
  if (/^[!*&~+-]*[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$]|[([]|->|::|\?\.)|[\w$]\($/.test(value)) {
    return !/^[sbr]\.[A-Za-z0-9]{24,}$/.test(value); // Vault's older tokens look like this.
  }
  if (form === "env" || form === "flag") return false;
  // Identifiers: constants, snake_case and camelCase.
  if (/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value)) return true;
  if (/^[A-Za-z$]+(?:_[A-Za-z]+)+_?\d{0,2}$/.test(value)) return true;
  if (/^[A-Z]?[a-z]+(?:[A-Z][a-z]+)+$/.test(value)) return true;
  return /^[A-Za-z]*(?:pass|secret|token|pwd|Key|Auth)[a-z]*\d{0,2}$/.test(value);
}

/** Whether a value consists of words and numbers rather than random characters. */
export function isWordy(value: string): boolean {
  return wordy.test(value);
}

// camelCase has small letters between the capitals; `to` and `for` are often written as digits.
const word = "(?:[A-Z]+|[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)*[A-Z]{0,3})";
const wordyPiece = `(?:${word}|\\d+|(?=[A-Za-z]{2})${word}\\d{1,2}|v\\d+|[A-Z]?[a-z]{2,10}[24][A-Z]?[a-z]{2,10})`;
const wordy = new RegExp(`^(?:${wordyPiece})?(?:[^A-Za-z0-9]+${wordyPiece})*[^A-Za-z0-9]*$`);

/** Whether at least half of a value is words: `ssh2_auth_file`. */
export function isMostlyWords(value: string): boolean {
  const pieces = value.split(/[^A-Za-z0-9]+/);
  const lengthOf = (some: string[]): number => some.reduce((sum, piece) => sum + piece.length, 0);
  return lengthOf(pieces.filter(isWordy)) * 2 >= lengthOf(pieces);
}

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
function hasStrayCapitals(value: string): boolean {
  if (!/[A-Z]/.test(value)) return false;
  const smallRuns = value.match(/[a-z]+/g) ?? [];
  return smallRuns.length >= 3 && smallRuns.join("").length < 2.6 * smallRuns.length && value.length >= 10;
}

const algorithm =
  /^(?:(?:hmac|aes|rsa|ecdsa|pbkdf|argon|oauth|oidc|saml|sha|md|base|utf|hs|rs|es|ps|ed|secp|x|p|v)[-_]?\d{1,5}(?:k1|r1|id|le|be)?(?:[-_]\w{2,6}){0,2}|s3|k8s|i18n|a11y)$/i;
const quantity = /^(?:0x[0-9a-f]{1,8}|[\d.]+(?:px|em|rem|ms|s|m|h|d|k|kb|mb|gb|%)?)$/i;

/** Algorithms, formats and quantities, which often follow such names in code and prose. */
export function isTechnical(value: string): boolean {
  return algorithm.test(value) || quantity.test(value);
}

/** The value only repeats its name: `AUTH_TOKEN=auth_token`. */
export function namesItself(value: string): boolean {
  if (/\d/.test(value) || hasStrayCapitals(value)) return false;
  return splitPieces(value).some((piece) => piece.length > 2 && standIns.has(piece.toLowerCase()));
}

const sentenceWord =
  /^(?:the|your|is|a|an|must|and|to|for|password|passphrase|secret|key|token|with|of|or|be|not|in|at|least|on|please|enter|this|that|it|are|do|you|has|was|will|can|from|by|as|if|no|invalid|required)$/i;

/** A passphrase, or a password with spaces, as opposed to a sentence about one. */
export function isPhrase(value: string, name: string, strength: Strength): boolean {
  const words = value.trim().split(/\s+/);
  const areWords = words.length >= 4 && words.every((word) => /^[a-z]{3,12}$/.test(word));
  if (/mnemonic|phrase|seed/i.test(name) && areWords && words.length % 3 === 0) return true;
  if (strength !== "password" || words.length > 6) return false;
  if (words.some((word) => sentenceWord.test(word.replace(/\W/g, "")))) return false;
  return areWords || words.some((word) => /[A-Za-z]/.test(word) && /\d/.test(word) && hasSign(value));
}

/** Signs common in passwords and rare in names. */
export function hasSign(value: string): boolean {
  return /[!@#$%^&*]/.test(value);
}
