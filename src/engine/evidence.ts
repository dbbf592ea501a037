import type { Instinct } from "../core/instinct.ts";
import { isUseOf } from "../core/use.ts";
import { findingsOf } from "./keep.ts";
import type { KeptDecision, KeptFinding, Store } from "./ports.ts";

/** What was seen of an instinct. */
export interface InstinctEvidence {
  /** The surest first. */
  readonly findings: readonly KeptFinding[];
  /** Findings that say the opposite, with the instincts they belong to. */
  readonly against: readonly { readonly instinct: string; readonly run: string; readonly at: number }[];
  readonly uses: readonly {
    readonly run: string;
    readonly at: number;
    readonly ok: number;
    readonly failed: number;
  }[];
  readonly decisions: readonly Pick<KeptDecision, "at" | "decision" | "actor">[];
}

/** What speaks for an instinct, and what was seen of the use of its advice, for and against. */
export async function evidenceOf(store: Store, instinct: Instinct): Promise<InstinctEvidence> {
  const { learning } = store;
  const { id, call, scope, project } = instinct;
  const uses = call?.[0] ? await learning.uses.of(call[0], scope === "user" ? null : project) : [];
  return {
    findings: await findingsOf(store, instinct),
    against: (await learning.findings.opposing(id)).map(({ instinct: by, run, at }) => ({
      instinct: by,
      run,
      at,
    })),
    uses: uses
      .filter((use) => call && isUseOf(use, call) && use.at > instinct.standing.firstAt)
      .map(({ run, at, ok, failed }) => ({ run, at, ok, failed })),
    decisions: (await learning.decisions.ofInstinct(id)).map(({ at, decision, actor }) => ({
      at,
      decision,
      actor,
    })),
  };
}
