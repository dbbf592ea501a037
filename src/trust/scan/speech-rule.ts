import type { ConcernCode } from "./concern.ts";

/** A kind of sentence that an agent should not read unasked. */
export interface SpeechRule {
  readonly code: ConcernCode;
  readonly severity: "block" | "warn";
  readonly message: string;
  /** All have to be in the sentence. */
  readonly all: readonly RegExp[];
  readonly not?: RegExp;
  /** The words may stand in the next sentences. */
  readonly isWide?: true;
  /** "Never send …" is no order to send. */
  readonly isDone?: true;
  /** Only a sentence that may be in another language than English is looked at. */
  readonly isForeign?: true;
}

export function say(
  code: ConcernCode,
  severity: "block" | "warn",
  message: string,
  rest: Pick<SpeechRule, "all" | "not" | "isWide" | "isDone" | "isForeign">,
): SpeechRule[] {
  return [{ code, severity, message, ...rest }];
}
