import { existsSync } from "node:fs";
import { type GapDeps, type GapView, gaps } from "../engine/gap.ts";
import {
  type Advanced,
  type AdvanceOptions,
  advanceGaps,
  planGapRejection,
  planPromotion,
  promoteGap,
  rejectGap,
  whyNoDraft,
} from "../engine/gap-advance.ts";
import type { Keeping } from "../engine/keep.ts";
import type { Plan } from "../engine/step.ts";
import type { LibraryVerbs } from "./library.ts";
import type { Parts } from "./parts.ts";

/** What people keep asking for that nothing in the library is for. */
export interface GapVerbs {
  /** The latest asked for first. */
  gaps(): Promise<GapView[]>;
  /** Why nothing is made of a gap that is due; null where nothing is in the way. */
  whyNoDraft(gap: GapView): Promise<string | null>;
  /** Brings gaps forward: notes, drafts, and lets go live what is due. */
  advanceGaps(options?: Partial<Pick<AdvanceOptions, "sessions" | "isMatched" | "until">>): Promise<Advanced>;
  planPromotion(gap: GapView): Promise<Plan>;
  /** Makes a gap's skill live. */
  promoteGap(gap: GapView): Promise<Keeping>;
  planGapRejection(gap: GapView): Promise<Plan>;
  /** Takes away what was made of a gap, for good. */
  rejectGap(gap: GapView): Promise<Keeping>;
}

export function gapVerbs(parts: Parts, { roomFor }: LibraryVerbs): GapVerbs {
  const { store, stock, refuses, learnable } = parts;
  const deps: GapDeps = { ...parts, ...parts.publishing };
  /** Whether something live is for a text: a draft reaches nobody where no hook is. */
  const isMatched = async (text: string, project: string) => {
    const root = (await store.projects.get([project]))[0]?.root ?? null;
    const folder = root !== null && existsSync(root) ? root : null;
    return (await stock.find(text, { project, folder, asked: false })).some(({ card }) => !card.draft);
  };
  return {
    gaps: () => gaps(deps),
    whyNoDraft: (gap) => whyNoDraft(deps, gap, { isMatched, refuses, roomFor }),
    advanceGaps: async ({ sessions = [], ...options } = {}) =>
      advanceGaps(deps, { isMatched, ...options, sessions: await learnable(sessions), refuses, roomFor }),
    planPromotion: (gap) => planPromotion(deps, gap),
    promoteGap: (gap) => promoteGap(deps, gap),
    planGapRejection: (gap) => planGapRejection(deps, gap),
    rejectGap: (gap) => rejectGap(deps, gap),
  };
}
