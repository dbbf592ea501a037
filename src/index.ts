export { KnackError } from "./core/errors.ts";
export type { Counts, Event, EventKind, EventSource, Outcome } from "./core/event.ts";
export type { Project } from "./core/project.ts";
export type { Diagnostic, Format, Session } from "./core/session.ts";
export type { IngestOptions, IngestProgress } from "./engine/ingest.ts";
export type { Drift, SessionView } from "./engine/inspect.ts";
export type { Clock, Field, Redactor } from "./engine/ports.ts";
export { type Knack, type KnackOptions, openKnack } from "./open.ts";
export type { Recorder, RecorderOptions } from "./recorder.ts";
