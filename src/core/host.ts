import { objectOf, textOf } from "./json.ts";
import type { Caller } from "./protocol.ts";
import type { Format } from "./session.ts";

/** What a host says about a call, beside what a model says in it. */
export interface HostWord {
  /** The agent's own id of the session. */
  readonly session: string | null;
  /** The host's id of this very call: it stands in the transcript of the session that makes it. */
  readonly callId: string | null;
  /** The host's id of the turn. */
  readonly turn: string | null;
  readonly kind: Caller["kind"];
  /** The folder that is worked in. */
  readonly cwd: string;
  readonly format: Format | null;
  readonly model: string | null;
}

/**
 * What a host says of who calls: by what it sends with each call (`_meta`), then by the environment in which it started
 * the server. What a call is given by the model is not looked at.
 */
export function hostWord(
  meta: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): HostWord {
  // Who says anything else means to say that nobody is there.
  const kind =
    (said(env.KNACK_KIND) ?? "foreground").toLowerCase() === "foreground" ? "foreground" : "background";
  return { ...(byCodex(meta, cwd) ?? byClaude(meta, env, cwd) ?? byEnvironment(env, cwd)), kind };
}

type Said = Omit<HostWord, "kind">;

/** Codex names the thread and the turn of every call. */
function byCodex(meta: Readonly<Record<string, unknown>>, cwd: string): Said | null {
  const turn = objectOf(meta["x-codex-turn-metadata"]);
  // A subagent has a thread, and a transcript, of its own within its parent's session.
  const session = said(meta.threadId) ?? said(turn?.thread_id) ?? said(turn?.session_id);
  if (turn === null || session === null) return null;
  return {
    session,
    callId: said(meta.callId),
    turn: said(turn.turn_id),
    cwd,
    format: "codex",
    model: said(turn.model),
  };
}

/** Claude Code names the call, and in the environment the session that it began with. */
function byClaude(
  meta: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Said | null {
  const callId = said(meta["claudecode/toolUseId"]);
  // Without its word in the call, the environment may be what an agent within a Claude Code has inherited.
  const session = callId === null && env.KNACK_SESSION ? null : said(env.CLAUDE_CODE_SESSION_ID);
  if (callId === null && session === null) return null;
  return {
    session,
    callId,
    turn: null,
    cwd: said(env.CLAUDE_PROJECT_DIR) ?? cwd,
    format: "claude-code",
    model: null,
  };
}

/** Whoever starts the server for an agent that says nothing by itself. */
function byEnvironment(env: Readonly<Record<string, string | undefined>>, cwd: string): Said {
  return {
    session: said(env.KNACK_SESSION),
    callId: null,
    turn: said(env.KNACK_INVOCATION),
    cwd,
    format: null,
    model: null,
  };
}

function said(value: unknown): string | null {
  const text = textOf(value)?.trim() ?? "";
  return text === "" ? null : text;
}
