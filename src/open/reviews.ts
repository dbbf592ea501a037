import type { LiveReach } from "../core/change.ts";
import type { NudgeDecided } from "../core/nudge.ts";
import type { ProposalView, ReviewMode } from "../core/review.ts";
import type { Keeping } from "../engine/keep.ts";
import { nudges, type ReviewLimits, type ReviewsSoFar, reviewsSoFar } from "../engine/nudge.ts";
import { planAccepted } from "../engine/plan-proposal.ts";
import type { Model } from "../engine/ports.ts";
import { acceptProposal, proposalDiff, proposals, rejectProposal } from "../engine/proposal.ts";
import {
  previewReview,
  type ReviewDeps,
  type Reviewed,
  type ReviewPreview,
  review,
  unfinished,
  waitingFor,
} from "../engine/review.ts";
import { prospectAtLeast } from "../engine/review-cost.ts";
import type { Plan } from "../engine/step.ts";
import { reviewSettings } from "../settings.ts";
import { isAlive, isBelowHome } from "./home.ts";
import type { Parts } from "./parts.ts";

/** Reviews in the background, and what they propose. */
export interface ReviewVerbs {
  /** What reviews may do and did, and whether one is due in each project that has something new. */
  reviews(): Promise<ReviewState>;
  /** Reviews these projects or all, as far as it is due, after what waits elsewhere; or these alone because a person asks. */
  review(options?: { readonly projects?: readonly string[]; readonly asked?: boolean }): Promise<Reviewed[]>;
  /** Who is asked in reviews. */
  reviewers(): Reviewers;
  /** What a review of a project would be given, and what it would cost; one that is due, or that a person asks for. */
  previewReview(project: string, options?: { readonly asked?: boolean }): Promise<ReviewPreview & Reviewers>;
  /** What reviews proposed. */
  proposals(): Promise<ProposalView[]>;
  planProposal(proposal: ProposalView, where?: LiveReach | null): Promise<Plan>;
  proposalDiff(proposal: ProposalView): Promise<string>;
  acceptProposal(proposal: ProposalView, where?: LiveReach | null): Promise<Keeping>;
  rejectProposal(proposal: ProposalView): Promise<void>;
}

/** A model that is asked, and where it is. */
export interface Asked {
  readonly model: string;
  readonly to: string;
  /** Why it cannot be asked; null where it can. */
  readonly unset: string | null;
}

/** The one that reviews, and the one that is asked first whether there is anything to review; null where rules alone say so. */
export interface Reviewers extends Asked {
  readonly gate: Asked | null;
}

/** Background reviews, as a person sees them. */
export interface ReviewState extends ReviewsSoFar, Reviewers {
  readonly mode: ReviewMode;
  readonly limits: Pick<ReviewLimits, "perDay" | "usd" | "usdPerDay">;
  /** The projects in which something is new, and what was decided there last. */
  readonly projects: readonly { readonly project: string; readonly decision: NudgeDecided }[];
  readonly waiting: number;
  /** When those began that have not ended. */
  readonly begun: readonly number[];
}

export function reviewVerbs(parts: Parts): ReviewVerbs {
  const { store, publishing } = parts;
  return {
    reviews: () => stateOf(parts),
    review: async ({ projects, asked = false } = {}) => {
      const deps = reviewDeps(parts);
      const wanted = projects ?? (await store.projects.list()).map(({ id }) => id);
      const waiting = asked ? [] : await waitingFor(deps);
      return inTurn(new Set([...waiting, ...wanted]), (one) => review(deps, one, { asked }));
    },
    reviewers: () => reviewersIn(parts),
    previewReview: async (project, { asked = false } = {}) => ({
      ...(await previewReview(reviewDeps(parts), project, { asked })),
      ...reviewersIn(parts),
    }),
    proposals: () => proposals(publishing),
    planProposal: (proposal, where = null) => planAccepted(publishing, proposal, where),
    proposalDiff: (proposal) => proposalDiff(publishing, proposal),
    acceptProposal: (proposal, where = null) => acceptProposal(publishing, proposal, where),
    rejectProposal: (proposal) => rejectProposal(publishing, proposal),
  };
}

/** Does the same for each of several, one after the other; what goes wrong with one is told when all had their turn. */
async function inTurn<Done>(all: Iterable<string>, work: (one: string) => Promise<Done>): Promise<Done[]> {
  const done: Done[] = [];
  const errors: unknown[] = [];
  for (const one of all)
    await work(one).then(
      (each) => done.push(each),
      (error) => errors.push(error),
    );
  if (errors.length > 0) throw errors[0];
  return done;
}

async function stateOf(parts: Parts): Promise<ReviewState> {
  const { store, clock, publishing, isRefused } = parts;
  const own = reviewDeps(parts);
  const { mode, perDay, usd, usdPerDay } = own.allowed;
  const held = await store.leases.holder("review");
  const running = held !== null && held.until > clock.now() && isAlive(held.holder);
  const deps = { store, clock, passesOver: isRefused };
  return {
    ...{ mode, ...reviewersIn(parts), limits: { perDay, usd, usdPerDay } },
    ...(await reviewsSoFar(deps)),
    waiting: (await proposals(publishing)).filter(({ status }) => status === "waiting").length,
    begun: (await unfinished(store)).map(({ at }) => at),
    projects: await nudges(deps, {
      ...{ limits: own.allowed, asked: false, running },
      ahead: async () => prospectAtLeast(own),
    }),
  };
}

/** By a person's word, also where nothing would be sent to them. */
function reviewersIn({ home, observing }: Parts): Reviewers {
  const { named, settings } = observing();
  const asked = (word: string): Asked => {
    const { name, to, unset } = named(word);
    return { model: name, to, unset };
  };
  const gate = reviewSettings(home)["review.gate"];
  return { ...asked(settings.model), gate: gate === "off" ? null : asked(gate ?? settings.model) };
}

/** What reviews need, by the settings of this moment. */
function reviewDeps({ home, stock, publishing, observing, refuses, isRefused, ...work }: Parts): ReviewDeps {
  const { model, settings, limits, price, modelOf } = observing();
  const own = reviewSettings(home);
  const word = own["review.gate"];
  const gate = word === null ? { model, price } : word === "off" ? null : modelOf(word);
  return {
    ...publishing,
    ...{ model, price, limits, gate },
    timeoutMs: own["review.timeoutMs"],
    allowed: {
      mode: own.review,
      calls: own["review.calls"],
      apartMs: own["review.minutes"] * 60_000,
      perDay: own["review.perDay"],
      usd: own["review.budget"],
      usdPerCall: settings["model.budgetCall"],
      usdPerDay: settings["model.budgetDay"],
      unset: model.unset ?? unsetGate(gate?.model ?? model),
    },
    catalog: () => stock.catalog(),
    refuses: async (root, id) =>
      [root ?? id, id].some((place) => isBelowHome(home, place))
        ? "it is Knack's own work"
        : refuses(root, id),
    passesOver: isRefused,
    claim: (until) => work.claim("review", until),
    giveBack: () => work.giveBack("review"),
  };
}

/** Who is to be asked first and cannot be is not left out: it is what keeps a review cheap. */
function unsetGate({ unset }: Model): string | null {
  return unset === null ? null : `${unset} (review.gate)`;
}
