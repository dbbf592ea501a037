import type { Home } from "../config.ts";
import type { JsonObject } from "../core/json.ts";

/** One hook event of an agent, and what is around it. */
export interface Call {
  readonly event: string;
  readonly session: string;
  readonly transcript: string | null;
  readonly cwd: string | null;
  readonly payload: JsonObject;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  /** The command line's script, beside the hook's own. */
  readonly program: string;
  readonly now: number;
}

/** What the agent and the person are told. */
export interface Reply {
  /** For the agent: facts beside the conversation. */
  readonly context?: string;
  /** For the person: one line. */
  readonly receipt?: string;
  /** For the agent, which then goes on instead of ending its turn. */
  readonly ask?: string;
}
