import { withoutHidden } from "./hidden.ts";

/**
 * A text without hidden characters as it may be understood, whatever its words are dressed up in: letters of other
 * alphabets that look like Latin ones, accents, entities of HTML, tags, and marks of Markdown around words or within
 * them. First as it is shown; then, where it has such, with what is behind that: comments, what is in tags, addresses
 * of links. Lines stay where they are. It is for comparing only: what a person wrote in another alphabet is no sense
 * here.
 */
export function readings(text: string): readonly string[] {
  const letters = inLatin(withoutEntities(text));
  const shown = bare(letters.replace(comments, lineEnds).replace(targets, ""));
  if (!/\]\(|<[!a-z]/i.test(letters)) return [shown];
  return [shown, bare(letters.replace(/<!--|-->|[<>]/g, " ").replace(targets, " $1 "))];
}

/** A text in Latin letters only, as far as its letters look like such. */
export function inLatin(text: string): string {
  return text.replace(/[^\x00-\x7f]+/g, (others) =>
    others
      .normalize("NFKD")
      .replace(/[\p{M}\p{DI}]/gu, "")
      .replace(lookalikes, (letter) => latin.get(letter) ?? letter),
  );
}

/**
 * What may be one word or one token in pieces, put together: over the end of a line, in strings or spans of code side
 * by side, with entities or marks within it. Lines stay where they are.
 */
export function joined(text: string): string {
  return withoutEntities(text)
    .replace(pieces, (all) => all.replace(seam, "") + lineEnds(all))
    .replace(tags, lineEnds)
    .replace(/[*`\\]/g, "");
}

const seams = String.raw`\\\r?\n[ \t]{0,40}|"\s{0,20}(?:\+\s{0,20})?"|'\s{0,20}(?:\+\s{0,20})?'|\x60\s{0,20}\x60`;
const seam = new RegExp(seams, "g");
const pieces = new RegExp(String.raw`(?:(?:${seams})[^\s"'\x60\\]{0,200})+`, "g");

/** What is left when all that only dresses words up is taken away. */
function bare(text: string): string {
  return text
    .replace(tags, (all, name: string) => (parts.has(name.toLowerCase()) ? " " : "") + lineEnds(all))
    .replace(lineMarks, "")
    .replace(marks, "");
}

/** What surrounds or splits a word where Markdown is shown, and is not seen there. */
const marks = /\[\^[^[\]\n]{1,60}\]|[*_`~\\[\]]/g;
const tags = /<\/?([a-z][a-z\d-]{0,20})(?:[\s/][^<>]{0,400})?>/gi;
/** Tags that part what they stand between. */
const parts = new Set("br p div li ul ol tr td th hr table h1 h2 h3 h4 h5 h6".split(" "));
const comments = /<!--[\s\S]{0,1000}?-->/g;
/** Where a link leads, after its words. */
const targets = /\]\(((?:[^()\n]|\([^()\n]{0,200}\)){0,2000})\)|\]\[[^[\]\n]{0,100}\]/g;
/** A sentence may go on in the next line of a quotation, a list or a comment. */
const lineMarks = /^[ \t]{0,20}(?:[>#][>#\t ]{0,20}|\/{2,3}[ \t]?|--? |[;|] ?)/gm;

function lineEnds(text: string): string {
  return text.includes("\n") ? text.replace(/[^\n]+/g, "") : "";
}

function withoutEntities(text: string): string {
  if (!text.includes("&")) return text;
  // One may be hidden in another, and what nobody sees in one.
  return withoutHidden(text.replace(entities, decoded).replace(entities, decoded));
}

const entities = /&(?:amp;){0,9}(?:#x0{0,8}([0-9a-f]{1,6})|#0{0,8}(\d{1,7})|([a-z]{2,20}));?/gi;

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
  ...(["shy", "zwj", "zwnj", "zerowidthspace", "nobreak", "lrm", "rlm", "it", "ic", "af"] as const).map(
    (name) => [name, ""] as const,
  ),
  ...Object.entries({ amp: "&", apos: "'", quot: '"', lsquo: "'", rsquo: "'", hyphen: "-", dash: "-" }),
  // Letters of other alphabets that look like Latin ones.
  ...Object.entries({ acy: "a", iecy: "e", ocy: "o", rcy: "p", scy: "c", ucy: "y", khcy: "x", iukcy: "i" }),
  ...Object.entries({ jsercy: "j", dscy: "s", alpha: "a", iota: "i", omicron: "o", rho: "p", nu: "v" }),
]);

/** Letters by the Latin ones that they look like: Cyrillic, Greek, Coptic, Armenian, Cherokee, Lisu, and Latin ones of other shapes. */
const alike: Readonly<Record<string, string>> = {
  a: "аАαΑɑᴀⱯꓮⲁⲀ",
  b: "ЬвВβΒʙᏴꓐⲃⲂ",
  c: "сСϲϹᴄᏟƈꓚⲥⲤ",
  d: "ԁԀᴅᎠɗđꓓ",
  e: "еЕεΕᴇᎬєЄɛҽꓰⲉⲈ",
  f: "ꜰϝƒғꓝ",
  g: "ɡɢԍցᏀǥꓖ",
  h: "һҺнНηΗհʜᎻħꓧⲏⲎ",
  i: "іІιΙɪıɩᎥӏӀꓲⲓⲒ",
  j: "јЈϳᴊᎫꓙ",
  k: "кКκΚᴋᏦꓗⲕⲔ",
  l: "ⅼʟᏞłɭꓡ",
  m: "мМΜᴍᎷꓟⲙⲘ",
  n: "ոпΝɴᴎꓠⲛⲚ",
  o: "оОοΟօᴏσøØꓳⲟⲞ",
  p: "рРρΡᴘᏢꓑⲣⲢ",
  q: "ԛԚգǫ",
  r: "гʀᏒɾᴦꓣⲅⲄ",
  s: "ѕЅꜱᏚʂտꓢ",
  t: "тТτΤᴛᎢŧꓔⲧⲦ",
  u: "υսᴜμʋᏌꓴ",
  v: "νѵѴᴠᏙꓦ",
  w: "ԝԜᴡωшᎳѡꓪ",
  x: "хХχΧꓫⲭⲬ",
  y: "уУүҮγΥʏꓬⲩⲨ",
  z: "ᴢΖᏃʐƶꓜ",
};

/** Letters in black circles and squares, and those of flags, are not taken for letters by any normal form. */
function dark(from: number): [string, string][] {
  return Array.from({ length: 26 }, (_, n) => [
    String.fromCodePoint(from + n),
    String.fromCharCode("a".charCodeAt(0) + n),
  ]);
}

const latin: ReadonlyMap<string, string> = new Map([
  ...Object.entries(alike).flatMap(([letter, others]) => [...others].map((one) => [one, letter] as const)),
  ...[0x1f150, 0x1f170, 0x1f1e6].flatMap(dark),
  // A pattern of dots without a dot.
  ["\u2800", " "],
]);

const lookalikes = new RegExp(`[${[...latin.keys()].join("")}]`, "gu");
