import type { Counts } from "./event.ts";
import type { Project } from "./project.ts";

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
  | "atif"
  | "openhands"
  | "openai-chat"
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
  /** The agent's own id of the session. */
  readonly sessionId: string | null;
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
  /** The file, and within a file of several sessions which one. */
  readonly id: string;
  readonly path: string;
  readonly format: Format;
  readonly project: Project;
  readonly counts: Counts;
}

/** The agent's own name of a session, by which hooks know it. */
export function runOf({ sessionId, id }: Pick<Session, "sessionId" | "id">): string {
  return sessionId ?? id;
}

/** The same, and within it a subagent's own name: what that one says and learns is its own, in turns of its own. */
export function threadOf({ agentId, ...session }: Pick<Session, "sessionId" | "id" | "agentId">): string {
  return agentId === null ? runOf(session) : `${runOf(session)}/${agentId}`;
}
