import type { Json } from "../base/index.ts";
import type { Counts } from "./event.ts";
import type { Project } from "./project.ts";

/**
 * The id of a session as one transcript file tells it: the file's path, and within a file of several sessions which
 * one. A plain string may become one; a `SessionId` may not.
 */
export type TranscriptId = string & { readonly idKind?: "transcript" };

/** The agent's own id of a session, by which hooks know it. Several transcripts may tell the same session. */
export type SessionId = string & { readonly idKind?: "session" };

/** What a transcript was written by, or how its events arrived. */
export type Format =
  | "claude-code"
  | "codex"
  | "copilot-cli"
  | "gemini"
  | "opencode"
  | "pi"
  | "cursor"
  | "swe-agent"
  | "mini-swe-agent"
  | "hook"
  | "program";

/** Something in a file that could not be read, beside what could. */
export interface Diagnostic {
  readonly path: string;
  /** The 1-based line, where there is one. */
  readonly line: number | null;
  readonly code: DiagnosticCode;
  readonly message: string;
}

export type DiagnosticCode =
  | "cut-line"
  | "invalid-json"
  | "not-an-object"
  | "line-too-long"
  | "too-large"
  | "encoding"
  | "binary"
  | "empty"
  | "unreadable"
  | "unknown-format"
  | "more";

/** What a session says about itself. */
export interface SessionFacts {
  readonly sessionId: SessionId | null;
  /** Which subagent of that session, for a subagent's own file. */
  readonly agentId: string | null;
  readonly subagent: boolean;
  readonly cwd: string | null;
  /** The repository's remote, where the transcript names it. */
  readonly remote: string | null;
  /** The transcript a hook event points to. */
  readonly transcriptPath: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

/** One run of an agent, as one file tells it. */
export interface Session extends SessionFacts {
  readonly id: TranscriptId;
  readonly path: string;
  readonly format: Format;
  readonly project: Project;
  readonly counts: Counts;
}

/** The agent's own id of a session; the transcript's where the agent gives none. */
export function getSessionId({ sessionId, id }: Pick<Session, "sessionId" | "id">): SessionId {
  return sessionId ?? (id as string);
}

/** The id of a session or, for a subagent's transcript, of the subagent within it: it has turns of its own. */
export function getThreadId({
  agentId,
  ...session
}: Pick<Session, "sessionId" | "id" | "agentId">): SessionId {
  return agentId === null ? getSessionId(session) : `${getSessionId(session)}/${agentId}`;
}

/** How far a transcript was read: bytes and lines taken, and a digest of those bytes. What is read whole has no lines. */
export interface ReadPosition {
  readonly offset: number;
  readonly line: number;
  readonly digest: string;
}

/** What a thread needs to go on from where it was left; the events themselves are in the store. */
export interface ThreadState {
  readonly facts: SessionFacts;
  readonly last: number;
  readonly turn: number;
  readonly counts: Counts;
  /** Calls without a result: the agent's call id and the ref. */
  readonly open: readonly (readonly [string, string])[];
  /** Commands that go on after their call returned: the process and the ref. */
  readonly running: readonly (readonly [string, string])[];
}

export interface ReadingState {
  readonly threads: readonly (readonly [string, ThreadState])[];
  /** The reader's own; it may hold words that are not in an event yet. */
  readonly rest: Json;
  /** What tells that a session has changed, by name, where one does without the others. */
  readonly marks?: readonly (readonly [string, string])[];
}

/** How far Knack has read a file. */
export interface Reading {
  readonly path: string;
  readonly format: Format | null;
  readonly size: number;
  readonly modifiedAt: number;
  readonly position: ReadPosition;
  readonly state: ReadingState;
  readonly diagnostics: readonly Diagnostic[];
  /** When its events were last written to the cache; null once they are purged. */
  readonly cachedAt: number | null;
}
