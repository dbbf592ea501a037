export { findAliases, translateWords } from "./aliases.ts";
export { type ConfigFormat, type ConfigText, openConfigText } from "./config-text.ts";
export { JsonText, type KeyPath, sameJson, type TextEdit } from "./edits.ts";
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
  listWords,
  oneLine,
  quoteYaml,
  regionFlags,
  renderDiff,
  several,
  slugify,
  strayJoiners,
  stripHidden,
  unwritable,
} from "./markdown.ts";
export {
  createOverlapSearch,
  extractTerms,
  measureSimilarity,
  sharedWeight,
  splitWords,
  stemWord,
  tokenize,
  totalWeight,
  type WordSet,
  wordSet,
} from "./tokens.ts";
