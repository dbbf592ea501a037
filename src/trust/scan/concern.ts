import type { DangerKind } from "../danger.ts";

/** Something that should not be in a text that agents read. */
export interface Concern {
  readonly code: ConcernCode;
  /** `block`: the text may not be written. `warn`: a person should see it first. `note`: worth a line, holds nothing up. */
  readonly severity: "block" | "warn" | "note";
  readonly message: string;
  /** The line, after the file if one was given. */
  readonly where: string;
}

// biome-ignore format: a list of names reads better in rows
export type ConcernCode =
  | DangerKind | "secret" | "injection" | "concealment" | "role-tag" | "exfiltration" | "deception" | "hidden-code"
  | "hidden-comment" | "hidden-character" | "file-name" | "personal-path" | "run-on-load" | "too-long";

/** A concern with its place in the text. */
export interface ScanMatch extends Omit<Concern, "where"> {
  readonly at: number;
  readonly end: number;
}
