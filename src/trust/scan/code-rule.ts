import type { ConcernCode } from "./concern.ts";

/** Signs of malicious code; all of them have to be in one piece. */
export interface CodeRule {
  readonly code: ConcernCode;
  readonly severity: "block" | "warn";
  readonly message: string;
  readonly all: readonly RegExp[];
  readonly not?: RegExp;
}

export function sign(
  code: ConcernCode,
  severity: "block" | "warn",
  message: string,
  all: readonly RegExp[],
  not?: RegExp,
): CodeRule[] {
  return [{ code, severity, message, all, ...(not ? { not } : {}) }];
}
