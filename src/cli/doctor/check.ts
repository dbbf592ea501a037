import type { Knack } from "../../open.ts";
import type { Home } from "../../settings/index.ts";
import type { AnyCall } from "../command.ts";
import type { PluginInstallation } from "./installation.ts";

/** Whether one link of the chain works, what was seen, and what to do. */
export interface CheckResult {
  readonly ok: boolean;
  readonly says: string;
  /** The fix; for a link that is only absent, how to get it. */
  readonly repair: string | null;
}

/** Results by the name of their check. */
export type CheckResults = Readonly<Record<string, CheckResult>>;

export function right(says: string): CheckResult {
  return { ok: true, says, repair: null };
}

export function wrong(says: string, repair: string): CheckResult {
  return { ok: false, says, repair };
}

/** Something that a person does not have, or does not want, is not wrong. */
export function absent(says: string, repair: string): CheckResult {
  return { ok: true, says, repair };
}

/** What all checks look at. */
export interface DoctorContext extends Pick<AnyCall, "env" | "screen"> {
  readonly home: Home;
  readonly installation: PluginInstallation;
  /** Null where there is no database yet, or it cannot be used. */
  readonly knack: Knack | null;
  readonly now: number;
  /** `knack install claude` and `knack doctor --fix`, as they would be typed here. */
  readonly install: string;
  readonly fix: string;
  /** A path, and how long ago something was, as people read them. */
  readonly path: (path: string) => string;
  readonly age: (at: number) => string;
}
