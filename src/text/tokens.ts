import { simplified } from "./han.ts";

/**
 * How Knack reads words. `splitWords` keeps identifiers and paths whole, `extractTerms` drops stop words from them, and
 * `tokenize` takes compounds apart for search. All three lower-case, and use pairs of characters for scripts that put no
 * spaces between words.
 */

/** English function words that every reader ignores. */
const stopWords: ReadonlySet<string> = new Set(
  (
    "a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its " +
    "just me my now of on or our please she should so some that the their them then there these they this to up us was we " +
    "were what when where which who will with would you your"
  ).split(" "),
);

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
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

function keep(word: string, tokens: string[]): void {
  if (word === "" || word.length > tokenChars || stopWords.has(word) || searchStopWords.has(word)) return;
  if (isNumber(word) && (word.length === 1 || word.length > numberChars)) return;
  tokens.push(singular(word));
}

/** Without accents, possessives and apostrophes. */
function foldWord(word: string): string {
  let plain = word;
  for (let at = 0; at < word.length; at++) {
    if (word.charCodeAt(at) < 0x80) continue;
    plain = word.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
    break;
  }
  if (!plain.includes("'") && !plain.includes("\u2019")) return plain;
  return plain.replace(/['\u2019]s$/, "").replace(/['\u2019]/g, "");
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
  if (code < 0x80) return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) ? "letter" : "none";
  if (code < 0xc0 || code === 0xd7 || code === 0xf7) return "none";
  if (code < 0x300) return "letter";
  if (code < 0x370) return "mark";
  if (isThai(code)) return "unspaced";
  if (code < 0x2000) return "letter";
  if (code === 0x3005 || code === 0x30fc) return "unspaced"; // 々 and ー
  if (isHiragana(code) || (code >= 0x30a1 && code <= 0x30fa)) return "unspaced"; // and Katakana
  if ((code >= 0x3400 && code <= 0x9fff) || (code >= 0xf900 && code <= 0xfaff)) return "unspaced"; // Han
  if (isHangul(code)) return "unspaced";
  const isFullWidth =
    (code >= 0xff10 && code <= 0xff19) ||
    (code >= 0xff21 && code <= 0xff3a) ||
    (code >= 0xff41 && code <= 0xff5a);
  return isFullWidth ? "letter" : "none";
}

function isThai(code: number): boolean {
  return code >= 0xe00 && code < 0xe80;
}

function isHangul(code: number): boolean {
  return code >= 0xac00 && code <= 0xd7a3;
}

function isHiragana(code: number): boolean {
  return code >= 0x3041 && code <= 0x3096;
}

/** Stop words for search beyond `stopWords`. */
const searchStopWords: ReadonlySet<string> = new Set(
  (
    "about all also am any being cant doesnt doing done dont each either else get gets getting got having here hers him id " +
    "ill im isnt ive lets like may might more most much need needs no nor not off once one only other ours out over own same " +
    "such than thats theyre those through too until upon very want wants weve whats whether while whom why within without " +
    "wont youre yours " +
    // Of other languages only words that software does not use: where few texts are in them, these would seem rare.
    "al como con de del des du el en est esta este et la las le les lo los mas mi para por que se sur te un una une uma um y " +
    "auf dem den der ein eine ist nicht und von zu " +
    "帮我 我想 我要 我们 我的 你的 给我 请帮 一个 一下 这个 那个 这些 那些 可以 怎么 如何 什么 需要 没有 是否 进行 以及 或者 如果 " +
    "帮忙 请问 请给 想要 为什 怎样 么样 因为 所以 但是 不能 不会 能够 已经 现在 然后 还是 就是 一些 这里 这种 时候 自己 " +
    "해줘 주세 세요 합니 니다 하고 해서"
  ).split(" "),
);
