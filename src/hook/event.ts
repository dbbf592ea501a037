import { asString, type JsonObject } from "../base/index.ts";
import type { Home } from "../settings/index.ts";
import { wakeWorker, writeNote } from "../spool/index.ts";

/** One hook event of an agent. */
export interface HookEvent {
  readonly event: string;
  readonly session: string;
  readonly transcript: string | null;
  readonly cwd: string | null;
  /** As Claude Code writes it; other agents' payloads are translated. */
  readonly payload: JsonObject;
  /** Whether the agent says that a program runs it: then nobody is there to answer. */
  readonly isGivenByProgram: boolean;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  /** The command line's script. */
  readonly program: string;
  readonly now: number;
  /** Loads what masks secrets; `clean` knows when that is needed. */
  readonly redaction: () => typeof import("./redaction.ts");
  /** Who is asked what a person must answer: the agent passes it on where its hooks have no line for the person. */
  readonly asks: "person" | "agent";
}

export interface HookReply {
  /** Facts for the agent, beside the conversation. */
  readonly context?: string;
  /** One line for the user. */
  readonly receipt?: string;
  /** A request to the agent, which then continues instead of ending its turn. */
  readonly ask?: string;
}

/** Tells the worker where the session's transcript is. */
export function noteTranscript({ session, transcript, cwd, event, home, now }: HookEvent): void {
  if (transcript !== null) writeNote(home.spool, { type: "place", session, transcript, cwd, event, at: now });
}

/** Notes the transcript of a subagent that has ended: its parent may go on for hours. */
export function handSubagentToWorker(call: HookEvent): void {
  const transcript = asString(call.payload.agent_transcript_path) ?? call.transcript;
  const agent = asString(call.payload.agent_id) ?? "";
  handToWorker({ ...call, transcript, session: `${call.session} ${agent}`.trim() });
}

/** Notes the transcript and starts a worker to read it. */
export function handToWorker(call: HookEvent): void {
  noteTranscript(call);
  wakeWorker(call.home, call.program, call.env, call.now);
}

/** Reads something; null if that fails. */
export function attempt<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}
