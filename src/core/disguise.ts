import { withoutHidden } from "./hidden.ts";

/**
 * A text without hidden characters as it is understood, whatever its words are dressed up in: letters of other
 * alphabets that look like Latin ones, accents, entities of HTML, tags, and marks of Markdown around words or within
 * them. Its lines stay where they are. It is for comparing only: what a person wrote in another alphabet is no sense here.
 */
export function undisguised(text: string): string {
  return inLatin(withoutEntities(text)).replace(links, "$1").replace(lineMarks, "").replace(marks, "");
}

/** A text in Latin letters only, as far as its letters look like such. */
export function inLatin(text: string): string {
  if (!/[^\x00-\x7f]/.test(text)) return text;
  return text
    .normalize("NFKD")
    .replace(/[\p{M}\p{DI}]/gu, "")
    .replace(/[^\x00-\x7f]/gu, (letter) => latin.get(letter) ?? letter);
}

/** What surrounds or splits a word where Markdown is shown, and is not seen there. */
const marks = /[*_`~\\]|<\/?[a-z][^<>\n]{0,80}>/gi;
const links = /!?\[([^[\]\n]{0,80})\]\([^()\n]{0,200}\)/g;
/** A sentence may go on in the next line of a quotation or a comment. */
const lineMarks = /^[ \t]{0,20}(?:[>#][>#\t ]{0,20}|\/{2,3}[ \t]?)/gm;

function withoutEntities(text: string): string {
  if (!text.includes("&")) return text;
  // One may be hidden in another, and what nobody sees in one.
  return withoutHidden(text.replace(entities, decoded).replace(entities, decoded));
}

const entities = /&(?:#x0{0,8}([0-9a-f]{1,6})|#0{0,8}(\d{1,7})|([a-z]{2,20}));?/gi;

function decoded(all: string, hex: string | undefined, decimal: string | undefined, name = ""): string {
  const known = named.get(name.toLowerCase());
  if (known !== undefined) return known;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  if (!(code > 0 && code <= 0x10ffff)) return all;
  // The end of a line would move all that come after.
  return /\s/.test(String.fromCodePoint(code)) ? " " : String.fromCodePoint(code);
}

const named: ReadonlyMap<string, string> = new Map([
  ...(["nbsp", "ensp", "emsp", "thinsp", "hairsp", "numsp", "puncsp", "tab", "newline"] as const).map(
    (name) => [name, " "] as const,
  ),
  ...(["shy", "zwj", "zwnj", "zerowidthspace", "nobreak", "lrm", "rlm"] as const).map(
    (name) => [name, ""] as const,
  ),
  ...Object.entries({ amp: "&", apos: "'", quot: '"', lsquo: "'", rsquo: "'", hyphen: "-", dash: "-" }),
]);

/** Letters by the Latin ones that they look like: Cyrillic, Greek, Armenian, Cherokee, and Latin ones of other shapes. */
const alike: Readonly<Record<string, string>> = {
  a: "аАαΑɑᴀⱯ",
  b: "ЬвВβΒʙᏴ",
  c: "сСϲϹᴄᏟƈ",
  d: "ԁԀᴅᎠɗđ",
  e: "еЕεΕᴇᎬєЄɛҽ",
  f: "ꜰϝƒғ",
  g: "ɡɢԍցᏀǥ",
  h: "һҺнНηΗհʜᎻħ",
  i: "іІιΙɪıɩᎥӏӀ",
  j: "јЈϳᴊᎫ",
  k: "кКκΚᴋᏦ",
  l: "ⅼʟᏞłɭ",
  m: "мМΜᴍᎷ",
  n: "ոпΝɴᴎ",
  o: "оОοΟօᴏσøØ",
  p: "рРρΡᴘᏢ",
  q: "ԛԚգǫ",
  r: "гʀᏒɾᴦ",
  s: "ѕЅꜱᏚʂտ",
  t: "тТτΤᴛᎢŧ",
  u: "υսᴜμʋᏌ",
  v: "νѵѴᴠᏙ",
  w: "ԝԜᴡωшᎳѡ",
  x: "хХχΧ",
  y: "уУүҮγΥʏ",
  z: "ᴢΖᏃʐƶ",
};

/** Letters in black circles and squares are not taken for letters by any normal form. */
function dark(from: number): [string, string][] {
  return Array.from({ length: 26 }, (_, n) => [
    String.fromCodePoint(from + n),
    String.fromCharCode("a".charCodeAt(0) + n),
  ]);
}

const latin: ReadonlyMap<string, string> = new Map([
  ...Object.entries(alike).flatMap(([letter, others]) => [...others].map((one) => [one, letter] as const)),
  ...[0x1f150, 0x1f170].flatMap(dark),
]);
