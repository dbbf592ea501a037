import type { Answer } from "../core/protocol.ts";
import type { Signal, SignalGiven } from "../core/signal.ts";
import type { Present } from "./caller.ts";
import type { ForegroundDeps } from "./foreground.ts";
import type { SessionView } from "./inspect.ts";

/** What an agent's structured reply came to. */
export interface ReplyTaken {
  /** The receipts that are to be shown, each once. */
  readonly receipts: readonly string[];
  /** Its signals, those that count and those that do not. */
  readonly signals: readonly SignalGiven[];
  /** What has not the form, in words. */
  readonly problems: readonly string[];
}

/** Takes one signal that an agent gives by a call. */
export async function giveSignal(
  _deps: ForegroundDeps,
  _present: Present,
  _signal: Signal,
): Promise<Answer<SignalGiven>> {
  throw new Error("to be built");
}

/** Takes an agent's structured reply: `used_skill_receipts`, `learning_signal`, `skill_issue_signal`. */
export async function takeReply(
  _deps: ForegroundDeps,
  _present: Present,
  _reply: unknown,
): Promise<ReplyTaken> {
  throw new Error("to be built");
}

/** Notes what sessions show that they should have learned, and nobody said. May be called again. */
export async function deriveSignals(
  _deps: ForegroundDeps,
  _sessions: readonly SessionView[],
): Promise<SignalGiven[]> {
  throw new Error("to be built");
}
