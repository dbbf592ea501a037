export { bindAll } from "./bind.ts";
export type { Clock } from "./clock.ts";
export { errorMessage, KnackError } from "./errors.ts";
export { makeId } from "./ids.ts";
export {
  asArray,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  limitDepth,
  parseObject,
} from "./json.ts";
export { compareText } from "./order.ts";
export {
  isRunning,
  jsonBytes,
  removeStaleDrafts,
  writeDerivedFile,
  writeFileAtomically,
} from "./whole-file.ts";
export { WordIndex } from "./word-index.ts";
