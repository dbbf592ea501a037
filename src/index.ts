export { KnackError } from "./base/index.ts";
export {
  type FailedCommand,
  type KnackForPrograms as Knack,
  type KnownLesson,
  openKnack,
  type ProgramOptions as KnackOptions,
  type RecalledLesson,
  type Recorder,
  type RecorderOptions,
} from "./program.ts";
