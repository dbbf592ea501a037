export { escapeControls, showControls } from "./controls.ts";
export { errorMessage, explainDiskFault, KnackError } from "./errors.ts";
export { bindAll, type Clock, compareText, groupBy, hash53, makeId } from "./ids.ts";
export {
  asArray,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  limitDepth,
  parseObject,
  toSnakeCase,
} from "./json.ts";
export {
  isInsideFolder,
  listFilesBelow,
  openPlainFile,
  PlainFileError,
  readPlainFile,
  readPlainHandle,
  readPlainText,
} from "./plain-file.ts";
export { sha256 } from "./sha256.ts";
export {
  isRunning,
  jsonBytes,
  keepPrivate,
  removeStaleDrafts,
  writeDerivedFile,
  writeFileAtomically,
} from "./whole-file.ts";
