export { findAliases, translateWords } from "./aliases.ts";
export { JsonText, type KeyPath, renderDiff, sameJson, type TextEdit } from "./edits.ts";
export {
  asSentence,
  baseName,
  codeBlock,
  cutAtWord,
  decodeUtf8,
  findSection,
  hiddenCharacters,
  inlineCode,
  isExpectedCharacter,
  oneLine,
  quoteYaml,
  regionFlags,
  several,
  slugify,
  strayJoiners,
  stripHidden,
  unwritable,
} from "./markdown.ts";
export {
  extractTerms,
  measureSimilarity,
  sharedWeight,
  splitWords,
  stemWord,
  tokenize,
  totalWeight,
  wordSet,
} from "./tokens.ts";
