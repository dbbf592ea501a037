/** The words of a text, lower-cased, in order: identifiers whole, and pairs of characters where no spaces part them. */
export function wordsOf(text: string): string[] {
  if (isAscii.test(text)) return trimmed(text.toLowerCase().match(asciiRuns) ?? []);
  // Letters of all scripts take a millisecond to prepare, so that is done where there are any.
  const runs =
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{M}\p{N}_./@-])+/gu;
  const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
  const words: string[] = [];
  for (const [run] of text.toLowerCase().matchAll(runs)) {
    if (!unspaced.test(run)) words.push(run);
    else if (run.length === 1) words.push(run);
    else for (let at = 0; at + 1 < run.length; at++) words.push(run.slice(at, at + 2));
  }
  return trimmed(words);
}

function trimmed(words: readonly string[]): string[] {
  // Most words have nothing to be trimmed, and a look at their ends costs less than a pattern.
  return words
    .map((word) =>
      isMark(word.charCodeAt(0)) || isMark(word.charCodeAt(word.length - 1)) ? bare(word) : word,
    )
    .filter((word) => word !== "");
}

function bare(word: string): string {
  return word.replace(/^[-./]+|[-./]+$/g, "");
}

/** Whether a character is one of "-", "." and "/", which stand side by side in ASCII. */
function isMark(code: number): boolean {
  return code >= 45 && code <= 47;
}

const isAscii = /^[\x00-\x7f]*$/;
const asciiRuns = /[a-z0-9_./@-]+/g;

/** The words that carry meaning, each once: no articles, pronouns and other small change of English. */
export function termsOf(text: string): Set<string> {
  return new Set(wordsOf(text).filter((word) => !small.has(word)));
}

const small = new Set(
  (
    "a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its " +
    "fails just me my now of on or our please she should so some that the their them then there these they this to up us use " +
    "used using was we were what when where which who will with would you your"
  ).split(" "),
);

/** How much two sets have in common: 0 nothing, 1 everything. */
export function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const word of a) if (b.has(word)) shared++;
  return shared / (a.size + b.size - shared);
}

/** A name for a file or a package: a few words in kebab-case; empty when the text has none in Latin letters. */
export function nameFrom(text: string, most = 48): string {
  const words = text
    .normalize("NFKD")
    .toLowerCase()
    // An accent is no end of a word.
    .replace(/['’\p{M}]/gu, "")
    .match(/[a-z0-9]+/g);
  let name = "";
  for (const word of words ?? []) {
    const longer = name === "" ? word : `${name}-${word}`;
    if (longer.length > most) break;
    name = longer;
  }
  return name;
}

/** A count with its noun: `1 call`, `2 calls`, `1,200 calls`. */
export function several(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? noun : plural}`;
}
