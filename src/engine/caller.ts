import type { Caller } from "../core/protocol.ts";
import type { Format } from "../core/session.ts";
import type { SessionView } from "./inspect.ts";

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

/** A caller, with what is known of its session by now; null where there is none to be found. */
export interface Present {
  readonly caller: Caller;
  readonly session: SessionView | null;
}
