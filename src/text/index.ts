export { findAliases, translateWords } from "./aliases.ts";
export { renderDiff } from "./diff.ts";
export {
  hiddenCharacters,
  isExpectedCharacter,
  regionFlags,
  strayJoiners,
  stripHidden,
  unwritable,
} from "./hidden.ts";
export {
  explainNotEditable,
  type KeyPath,
  readKey,
  readWritten,
  removeKey,
  sameJson,
  setKey,
  setWritten,
  type TextEdit,
  undoEdit,
} from "./json-text.ts";
export {
  asSentence,
  codeBlock,
  cutAtWord,
  findSection,
  inlineCode,
  oneLine,
  quoteYaml,
  type SectionLines,
} from "./markdown.ts";
export { measureSimilarity, sharedWeight, totalWeight } from "./similarity.ts";
export { extractTerms, splitWords, stemWord, tokenize } from "./tokens.ts";
export { baseName, decodeUtf8, several, slugify } from "./words.ts";
