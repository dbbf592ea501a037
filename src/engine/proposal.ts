import type { ProposalView } from "../core/review.ts";
import type { Keeping } from "./keep.ts";
import type { Plan, PublishDeps } from "./step.ts";

/** Everything that reviews proposed, the latest first, and what became of it. */
export async function proposals(_deps: PublishDeps): Promise<ProposalView[]> {
  throw new Error("to be built");
}

/** What accepting one would do. */
export async function planProposal(_deps: PublishDeps, _proposal: ProposalView): Promise<Plan> {
  throw new Error("to be built");
}

/** Publishes one because a person says so. */
export async function acceptProposal(_deps: PublishDeps, _proposal: ProposalView): Promise<Keeping> {
  throw new Error("to be built");
}

/** Turns one down; what was proposed is not proposed again as it is. */
export async function rejectProposal(_deps: PublishDeps, _proposal: ProposalView): Promise<void> {
  throw new Error("to be built");
}
