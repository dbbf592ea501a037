export type { Clock } from "./base/index.ts";
export { KnackError } from "./base/index.ts";
export { type Knack, type KnackOptions, openKnack } from "./open.ts";
export type { Backtest, LessonMatch } from "./recall/index.ts";
export type {
  Diagnostic,
  Event,
  Finding,
  Item,
  Lesson,
  LessonState,
  LessonStatus,
  Project,
} from "./records/index.ts";
export type { FoundItem } from "./search/index.ts";
export type { Recorder, RecorderOptions, SessionView } from "./transcripts/index.ts";
export type { Redactor } from "./trust/index.ts";
