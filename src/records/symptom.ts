/** How the call that worked differs from the one that failed. */
export type Remedy = CallDifference | "elevation" | "input" | "step" | "other-way";

/** What a failure looks like to somebody who meets it again. */
export interface Symptom {
  /** What failed: the program with its verb, or the tool. */
  readonly head: string;
  readonly cause: Cause;
  /** The name that the error complains about. */
  readonly about: string | null;
  /** The error's most telling line, without what is used once. */
  readonly signature: string;
  /** What the call that failed had and a later one would have too, the program first; null for tools that are no shell. */
  readonly call: readonly string[] | null;
  /** For a call that was denied: the files it may not touch. */
  readonly files: readonly string[];
}

/** Why a call failed, as far as its words tell; ordered by how likely it is to be worth a lesson. */
export type Cause =
  | "unknown-name"
  | "denied"
  | "missing-program"
  | "missing-script"
  | "wrong-usage"
  | "wrong-place"
  | "missing-module"
  | "shell-dialect"
  | "permission"
  | "missing-setting"
  | "service"
  | "timeout"
  | "other"
  | "missing-file"
  | "failing-test"
  | "code"
  | "lint"
  | "state"
  | "transient"
  | "tool-misuse";

/** What differs between a call that failed and a similar one. A flag is a change when nothing but flags differs. */
export type CallDifference =
  | "wrapper"
  | "program"
  | "path"
  | "environment"
  | "directory"
  | "flag"
  | "argument"
  | "none";
