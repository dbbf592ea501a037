import { policy } from "../policy.ts";
import { simplified } from "./han.ts";

/**
 * The terms of a text in order, the same for what is searched and for what is asked: words in lower case without
 * accents, one and many alike, the parts of a compound and the compound in one, and pairs of characters where no spaces part words.
 * Small change of languages is left out. One pass over the characters: no text is slow.
 */
export function tokensOf(text: string): string[] {
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

const { termChars, compoundParts, numberChars } = policy.search;

type Kind = "letter" | "unspaced" | "mark" | "none";

function kindAt(text: string, at: number): Kind {
  const code = text.charCodeAt(at);
  if (code < 0x80) return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) ? "letter" : "none";
  return kindOfForeign(code);
}

/** Ranges rather than classes of regular expressions, which cost a cold process a millisecond to prepare. */
function kindOfForeign(code: number): Kind {
  if (code < 0xc0 || code === 0xd7 || code === 0xf7) return "none";
  if (code < 0x300) return "letter";
  if (code < 0x370) return "mark";
  if (code >= 0xe00 && code < 0xe80) return "unspaced"; // Thai
  if (code < 0x2000) return "letter";
  if (code === 0x3005 || code === 0x30fc) return "unspaced"; // 々 and ー
  if (code >= 0x3041 && code <= 0x3096) return "unspaced"; // Hiragana
  if (code >= 0x30a1 && code <= 0x30fa) return "unspaced"; // Katakana
  if (code >= 0x3400 && code <= 0x9fff) return "unspaced"; // Han
  if (code >= 0xac00 && code <= 0xd7a3) return "unspaced"; // Hangul
  if (code >= 0xf900 && code <= 0xfaff) return "unspaced"; // Han, once more
  if (isFullWidth(code)) return "letter";
  return "none";
}

/** Digits and letters of Latin as wide as a sign of Han; the marks between them are none. */
function isFullWidth(code: number): boolean {
  return (
    (code >= 0xff10 && code <= 0xff19) ||
    (code >= 0xff21 && code <= 0xff3a) ||
    (code >= 0xff41 && code <= 0xff5a)
  );
}

/** Reads `cold-email`, `node.js`, `snake_case` or a plain word, and says where it ends. */
function readCompound(text: string, start: number, tokens: string[]): number {
  let at = start;
  let parts = 0;
  let joined = "";
  for (;;) {
    const end = endOfWord(text, at);
    const word = folded(text.slice(at, end));
    parts++;
    if (parts <= compoundParts) joined += word;
    keep(word, tokens);
    at = end;
    if (!isJoiner(text.charCodeAt(at)) || at + 1 >= text.length || kindAt(text, at + 1) !== "letter") break;
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

function isJoiner(code: number): boolean {
  return code === 45 || code === 46 || code === 95;
}

function isNumber(word: string): boolean {
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

function keep(word: string, tokens: string[]): void {
  if (word === "" || word.length > termChars || small.has(word)) return;
  if (isNumber(word) && (word.length === 1 || word.length > numberChars)) return;
  tokens.push(singular(word));
}

/** `queries` and `query` are one term; `status`, `class` and `nextjs` are not plurals. */
function singular(word: string): string {
  const last = word.length - 1;
  if (last < 3 || word.charCodeAt(last) !== 115) return word;
  const before = word[last - 1] as string;
  if ("suij".includes(before) || before < "a" || before > "z") return word;
  return last > 3 && word.endsWith("ies") ? `${word.slice(0, -3)}y` : word.slice(0, last);
}

/** Without accents, possessives and apostrophes. */
function folded(word: string): string {
  let plain = word;
  for (let at = 0; at < word.length; at++) {
    if (word.charCodeAt(at) < 0x80) continue;
    plain = word.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
    break;
  }
  if (!plain.includes("'") && !plain.includes("\u2019")) return plain;
  return plain.replace(/['\u2019]s$/, "").replace(/['\u2019]/g, "");
}

/** Pairs of characters overlap, so that where a word begins need not be known. */
function readUnspaced(text: string, start: number, tokens: string[]): number {
  let end = start;
  let before = "";
  for (; end < text.length && kindAt(text, end) === "unspaced"; end++) {
    const character = simplified(text[end] as string);
    // Two signs of Hiragana are grammar more often than a word.
    if (before !== "" && !(isHiragana(before) && isHiragana(character))) {
      const pair = before + character;
      if (!small.has(pair)) tokens.push(pair);
    }
    before = character;
  }
  if (end === start + 1) tokens.push(before);
  return end;
}

function isHiragana(character: string): boolean {
  const code = character.charCodeAt(0);
  return code >= 0x3041 && code <= 0x3096;
}

const small: ReadonlySet<string> = new Set(
  (
    "a about all also am an and any are as at be been being but by can cant could did do does doesnt doing done dont each " +
    "either else for from get gets getting got had has have having he her here hers him his how i id if ill im in into is " +
    "isnt it its ive just lets like may me might more most much my need needs no nor not now of off on once one only or " +
    "other our ours out over own please same she should so some such than that thats the their them then there these they " +
    "theyre this those through to too until up upon us very want wants was we were weve what whats when where whether which " +
    "while who whom why will with within without wont would you youre your yours " +
    // Of other languages only what is no word of software: where few texts are written in them, these would seem rare.
    "al como con de del des du el en est esta este et la las le les lo los mas mi para por que se sur te un una une uma um y " +
    "auf dem den der ein eine ist nicht und von zu " +
    "帮我 我想 我要 我们 我的 你的 给我 请帮 一个 一下 这个 那个 这些 那些 可以 怎么 如何 什么 需要 没有 是否 进行 以及 或者 如果 " +
    "帮忙 请问 请给 想要 为什 怎样 么样 因为 所以 但是 不能 不会 能够 已经 现在 然后 还是 就是 一些 这里 这种 时候 自己 " +
    "해줘 주세 세요 합니 니다 하고 해서"
  ).split(" "),
);
