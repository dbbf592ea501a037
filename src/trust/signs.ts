import { hasTellingPiece } from "./telling.ts";

/**
 * What the patterns that need no telling word begin with, or cannot do without, in small letters. A new pattern in
 * `findPlain` needs a sign here, or among the shapes.
 */
// biome-ignore format: a list reads better in groups
const signs = [
  // Colours and continued lines, which are taken out before anything is looked for.
  "\x1b", "\\u001b[", "\\x1b[", "\\033[", "\\e[", "\\\n", "\\\r\n",
  // privateKeys, passwordHashes, urlSignatures, authorizations, cookies, openSecrets, encodedSecrets
  "private key", "static key v", "grub.", "{sha", "{ssha", "{md5", "{smd5", "{crypt", "{pbkdf2", "{argon2", "{bcrypt",
  "sig=", "sig%3d", "signature=", "signature%3d", "bearer", "basic", "cookie", "saml", "0000000",
  // optionSecrets
  "-hp", "-gp", "-vp", "/p", "/rp", "--user", "--proxy-user", "--basic", "--auth", "--cred", "--cert", "--login",
  // assignments
  "pass", "pwd", "secret", "token", "key", "auth",
];

/** Signs that are more than words; each is looked for where its rarest letter is. */
const shapes: readonly (readonly [letter: string, shape: RegExp])[] = [
  // passwordHashes
  ["$", /\$[\w-]+\$|(?:pbkdf2|bcrypt|argon2|scrypt|sha1|md5|SCRAM)[^\s$]{0,32}\$/],
  // urlCredentials
  ["/", /:\\?\/\\?\/[^\s"'`<>]*?(?:@|hook)/],
  // optionSecrets
  ["-", /[\s"']-[pPwWkKAaXNsUut]/],
  // openSecrets, cookies
  ["=", /[?&"'][\w-]{1,30}=|[ \t]-b[ =]?["']?\w+=/],
  ["[", /\[(?:\d{1,3},\s?){20}/],
  // encodedSecrets
  ["%", /%[0-9A-Fa-f]{2}[\w.~-]{0,40}%/],
];

/** Names in code: words of small letters or capitals, joined. No random text of this length is made of them. */
const name = /^(?:[-_]*(?:[A-Z]?[a-z]{2,12}|[A-Z]{2,12})(?:\d{1,2}(?![A-Za-z\d]))?)+[-_]*$/;

/**
 * Whether a text may hold a secret: most have no sign of one, and the patterns need not be loaded for them. It looks at
 * short texts in processes that have just started, where a large pattern takes longer to compile than all of this.
 */
export function mayHoldSecret(text: string): boolean {
  const small = text.toLowerCase();
  return (
    signs.some((sign) => small.includes(sign)) ||
    shapes.some(([letter, shape]) => text.includes(letter) && shape.test(text)) ||
    hasTellingPiece(text) ||
    longRuns(text).some(({ start, end }) => !name.test(text.slice(start, end)))
  );
}

/** Every known token has a run of word characters this long; ordinary words rarely do. */
const runLength = 20;

/** 1 for each word character, indexed by character code. */
export const isRunChar = new Uint8Array(65_536);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
  isRunChar[char.charCodeAt(0)] = 1;

/** A range of word characters. */
export interface CharRun {
  readonly start: number;
  readonly end: number;
}

/** Every run of at least `runLength` word characters, found by looking at a fraction of the text only. */
export function longRuns(text: string): CharRun[] {
  const runs: CharRun[] = [];
  let from = 0;
  // A long run that starts at `from` or later must cover `at`; if `at` is not in one, skip everything up to it.
  for (let at = runLength - 1; at < text.length; at = from + runLength - 1) {
    let start = at + 1;
    while (start > from && isRunChar[text.charCodeAt(start - 1)] === 1) start--;
    if (start > from) {
      from = start;
      continue;
    }
    let end = at + 1;
    while (end < text.length && isRunChar[text.charCodeAt(end)] === 1) end++;
    runs.push({ start, end });
    from = end + 1;
  }
  return runs;
}
