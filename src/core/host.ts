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
  /** By what the session is found in the agent's own files, where the host names none and they tell. */
  readonly trace?: Trace;
}

/** A call as it came to the server. An agent's file that holds the same one is the file of the session that made it. */
export interface MadeCall {
  readonly tool: string;
  readonly args: unknown;
  readonly at: number;
}

/** What a call leaves in the files of the agent that makes it. */
export interface Trace {
  /** When the server was started: its calls were made since. */
  readonly startedAt: number;
  readonly call: MadeCall;
  /** The call that was answered last, and when: some agents write a call down only then. */
  readonly before: (MadeCall & { readonly answeredAt: number }) | null;
}

/** What is known of who is at the other end of the server. */
export interface Connection extends Trace {
  /** What the host calls itself; null where it does not. */
  readonly client: string | null;
}

/**
 * What a host says of who calls: by what it sends with each call (`_meta`), then by the environment in which it started
 * the server, then by its own name. What a call is given by the model says nothing; it is only found again.
 */
export function hostWord(
  meta: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  connection: Connection | null = null,
): HostWord {
  // Who says anything else means to say that nobody is there.
  const kind =
    (said(env.KNACK_KIND) ?? "foreground").toLowerCase() === "foreground" ? "foreground" : "background";
  const word =
    byCodex(meta, cwd) ??
    byClaude(meta, env, cwd, connection?.client ?? null) ??
    byName(env, cwd, connection) ??
    byEnvironment(env, cwd);
  return { ...word, kind };
}

type Said = Omit<HostWord, "kind">;

/** Agents that name no session with a call, and whose files tell: by what they call themselves. */
const traced: ReadonlyMap<string, Format> = new Map([
  ["copilot-cli", "copilot-cli"],
  ["gemini-cli-mcp-client", "gemini"],
  ["opencode", "opencode"],
]);

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
  client: string | null,
): Said | null {
  const callId = said(meta["claudecode/toolUseId"]);
  // Without its word in the call, the environment may be what an agent within a Claude Code has inherited.
  const isOther = said(env.KNACK_SESSION) !== null || (client !== null && client !== "claude-code");
  const session = callId === null && isOther ? null : said(env.CLAUDE_CODE_SESSION_ID);
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

/** An agent that says only who it is, unless whoever starts the server says more. */
function byName(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  connection: Connection | null,
): Said | null {
  const format = traced.get(connection?.client ?? "");
  if (connection === null || format === undefined || said(env.KNACK_SESSION) !== null) return null;
  const { startedAt, call, before } = connection;
  const trace = { startedAt, call, before };
  return { session: null, callId: null, turn: null, cwd, format, model: null, trace };
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
