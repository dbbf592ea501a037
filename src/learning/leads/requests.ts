import { slugify, wordSet } from "../../text/index.ts";
import { splitSentences, stripOpening } from "./turns.ts";

// Apart from the other phrases, because the hook reads every prompt for these. Two patterns are made when they are
// needed: letters of all languages in any case take a hook a thirtieth of the time that node takes to start.

/** Asks to keep it in mind: an order, at the start of a sentence, in lower case. */
const remembers = () =>
  new RegExp(
    `^(?:${[
      "(?:please )?(?:remember|memori[sz]e|keep in mind|note for (?:later|the future)|make a note|take note|don(?:'|’)?t forget)(?:\\b|:)(?! (?:when|where|how|if|me|the (?:time|choice|state|selection|user|last|password|login)|last|what)\\b)",
      "(?:记住|请记住|记一下|记得|牢记|你要记住|切记)",
      ".{0,40}(?:覚えて(?:おいて|ください|おけ)|記憶して|メモして(?:おいて)?)|.{0,40}(?:기억해(?!요\\?)|명심해|메모해)",
      "(?:recuerda|ten en cuenta|acuérdate|no olvides)(?: que| de|:|,)|(?:merk(?:e)? dir|denk(?:e)? daran|vergiss nicht)|(?:souviens-toi|rappelle-toi|retiens|n(?:'|’)oublie pas)",
    ].join("|")})`,
    "u",
  );

/** Asks to keep what was done under a name: the name is the first group. */
const savesAs = () =>
  /(?:\b(?:save|store|keep|record|remember)\s+(?:this|that|it|these|the above|what (?:we|you) (?:just )?did)(?:\s+[\w-]+){0,4}?\s+as\s+(?:an?\s+)?(?:new\s+)?(?:skill\s+)?(?:(?:called|named)\s+)?|(?:保存|存|记录)(?:成|为|到)\s?(?:技能|skill)?\s?|guarda(?:lo)? como |speicher[en]* (?:das|es) als |enregistre(?:-le)? (?:ça )?comme )["'`「“]?([\p{L}\p{N}][\p{L}\p{N}_-]{2,47})/iu;

/** Formats: saving something as one of these gives it no name. */
const formats = wordSet(`
  json jsonl yaml yml csv tsv xml html pdf png jpg jpeg svg gif webp txt text plain file files folder draft string
  markdown default template image env variable number integer boolean array list object base64 binary well new the
`);

/** The name under which a person wants something kept; a format or a type is none. */
export function findSavedName(text: string): string | null {
  const [whole = "", name = ""] = savesAs().exec(text) ?? [];
  const rest = text.slice(text.indexOf(whole) + whole.length);
  const named = /-|_/.test(name) || /\b(?:skill|called|named)\b|["'`「“]/i.test(whole);
  if (name === "" || (!named && (formats.has(name.toLowerCase()) || /^\s*\p{L}/u.test(rest)))) return null;
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) ? name : slugify(name) || null;
}

/**
 * Words of which every such request has one. Hooks read each prompt for it, and to compile the patterns above takes a
 * tenth of the time that node takes to start.
 */
const mayAsk =
  /remember|memori|in mind|note|forget|(?:save|store|keep|record)[\s\S]*\bas\b|记|存|覚え|記憶|メモ|기억|명심|메모|recuerda|ten en cuenta|acuérdate|olvides|merk|denk|vergiss|souviens|rappelle|retiens|oublie|guarda|speicher|enregistre/;

/** Whether a text has a word of such a request. */
export function mayAskToRemember(text: string): boolean {
  return mayAsk.test(text.toLowerCase());
}

/** Whether a text asks to remember something or save it under a name. */
export function asksToRemember(text: string): boolean {
  if (!mayAskToRemember(text)) return false;
  const order = remembers();
  const isOrder = (sentence: string) => order.test(stripOpening(sentence));
  return findSavedName(text) !== null || splitSentences(text.toLowerCase()).some(isOrder);
}
