import { stripHidden, wordSet } from "../../text/index.ts";

/**
 * Plain readings of a text without hidden characters: lookalike letters, accents, HTML entities, tags and Markdown
 * are removed. The first is the text as rendered; the second, if it differs, includes comments, tags and link targets.
 * Line breaks stay. For matching only: text in other alphabets becomes nonsense.
 */
export function readPlainly(text: string): readonly string[] {
  const letters = toLatin(withoutEntities(text));
  const shown = bare(letters.replace(commentPattern, lineEnds).replace(targets, ""));
  if (!/\]\(|<[!a-z]/i.test(letters)) return [shown];
  return [shown, bare(letters.replace(/<!--|-->|[<>]/g, " ").replace(targets, " $1 "))];
}

/** Replaces letters that look like Latin ones. */
export function toLatin(text: string): string {
  return text.replace(/[^\x00-\x7f]+/g, (others) =>
    others
      .normalize("NFKD")
      .replace(/[\p{M}\p{DI}]/gu, "")
      .replace(lookalikes, (letter) => latin.get(letter) ?? letter),
  );
}

/**
 * Rejoins a word or token that was split by a line continuation, adjacent strings or code spans, entities or markup.
 * Line breaks stay.
 */
export function joinPieces(text: string): string {
  return withoutEntities(text)
    .replace(pieces, (all) => all.replace(seam, "") + lineEnds(all))
    .replace(tags, lineEnds)
    .replace(/[*`\\]/g, "");
}

const seams = String.raw`\\\r?\n[ \t]{0,40}|"\s{0,20}(?:\+\s{0,20})?"|'\s{0,20}(?:\+\s{0,20})?'|\x60\s{0,20}\x60`;
const seam = new RegExp(seams, "g");
const pieces = new RegExp(String.raw`(?:(?:${seams})[^\s"'\x60\\]{0,200})+`, "g");

/** Removes tags and Markdown. */
function bare(text: string): string {
  return text
    .replace(tags, (all, name: string) => (parts.has(name.toLowerCase()) ? " " : "") + lineEnds(all))
    .replace(lineMarks, "")
    .replace(marks, "");
}

/** Markdown that is not visible when rendered. */
const marks = /\[\^[^[\]\n]{1,60}\]|[*_`~\\[\]]/g;
const tags = /<\/?([a-z][a-z\d-]{0,20})(?:[\s/][^<>]{0,400})?>/gi;
/** Tags that separate words. */
const parts = wordSet("br p div li ul ol tr td th hr table h1 h2 h3 h4 h5 h6");
const commentPattern = /<!--[\s\S]{0,1000}?-->/g;
/** Link targets. */
const targets = /\]\(((?:[^()\n]|\([^()\n]{0,200}\)){0,2000})\)|\]\[[^[\]\n]{0,100}\]/g;
/** Prefixes of lines that continue a sentence: quotations, lists, commentPattern. */
const lineMarks = /^[ \t]{0,20}(?:[>#][>#\t ]{0,20}|\/{2,3}[ \t]?|--? |[;|] ?)/gm;

function lineEnds(text: string): string {
  return text.includes("\n") ? text.replace(/[^\n]+/g, "") : "";
}

function withoutEntities(text: string): string {
  if (!text.includes("&")) return text;
  // An entity may be hidden in another, and a hidden character in an entity.
  return stripHidden(text.replace(entities, decoded).replace(entities, decoded));
}

const entities = /&(?:amp;){0,9}(?:#x0{0,8}([0-9a-f]{1,6})|#0{0,8}(\d{1,7})|([a-z]{2,20}));?/gi;

function decoded(all: string, hex: string | undefined, decimal: string | undefined, name = ""): string {
  const known = named.get(name.toLowerCase());
  if (known !== undefined) return known;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  if (!(code > 0 && code <= 0x10ffff)) return all;
  // A line break would move the lines after it.
  return /\s/.test(String.fromCodePoint(code)) ? " " : String.fromCodePoint(code);
}

const named: ReadonlyMap<string, string> = new Map([
  ...listNamed("nbsp ensp emsp thinsp hairsp numsp puncsp tab newline", " "),
  ...listNamed("shy zwj zwnj zerowidthspace nobreak lrm rlm it ic af", ""),
  ...Object.entries({ amp: "&", apos: "'", quot: '"', lsquo: "'", rsquo: "'", hyphen: "-", dash: "-" }),
  // Letters of other alphabets that look like Latin ones.
  ...Object.entries({ acy: "a", iecy: "e", ocy: "o", rcy: "p", scy: "c", ucy: "y", khcy: "x", iukcy: "i" }),
  ...Object.entries({ jsercy: "j", dscy: "s", alpha: "a", iota: "i", omicron: "o", rho: "p", nu: "v" }),
]);

function listNamed(names: string, character: string): [string, string][] {
  return names.split(" ").map((name) => [name, character]);
}

/** Each Latin letter, followed by the letters of other alphabets and Latin variants that look like it. */
const lookalikeRows = [
  "aаАαΑɑᴀⱯꓮⲁⲀ bЬвВβΒʙᏴꓐⲃⲂ cсСϲϹᴄᏟƈꓚⲥⲤ dԁԀᴅᎠɗđꓓ eеЕεΕᴇᎬєЄɛҽꓰⲉⲈ fꜰϝƒғꓝ gɡɢԍցᏀǥꓖ hһҺнНηΗհʜᎻħꓧⲏⲎ",
  "iіІιΙɪıɩᎥӏӀꓲⲓⲒ jјЈϳᴊᎫꓙ kкКκΚᴋᏦꓗⲕⲔ lⅼʟᏞłɭꓡ mмМΜᴍᎷꓟⲙⲘ nոпΝɴᴎꓠⲛⲚ oоОοΟօᴏσøØꓳⲟⲞ pрРρΡᴘᏢꓑⲣⲢ qԛԚգǫ",
  "rгʀᏒɾᴦꓣⲅⲄ sѕЅꜱᏚʂտꓢ tтТτΤᴛᎢŧꓔⲧⲦ uυսᴜμʋᏌꓴ vνѵѴᴠᏙꓦ wԝԜᴡωшᎳѡꓪ xхХχΧꓫⲭⲬ yуУүҮγΥʏꓬⲩⲨ zᴢΖᏃʐƶꓜ",
]
  .join(" ")
  .split(" ");

/** Letters in black circles and squares, and those of flags, which no Unicode normal form maps to letters. */
function listAlphabet(from: number): [string, string][] {
  return [..."abcdefghijklmnopqrstuvwxyz"].map((letter, n) => [String.fromCodePoint(from + n), letter]);
}

const latin: ReadonlyMap<string, string> = new Map([
  ...lookalikeRows.flatMap(([letter = "", ...others]) => others.map((one) => [one, letter] as const)),
  ...[0x1f150, 0x1f170, 0x1f1e6].flatMap(listAlphabet),
  // The empty Braille pattern.
  ["\u2800", " "],
]);

const lookalikes = new RegExp(`[${[...latin.keys()].join("")}]`, "gu");
