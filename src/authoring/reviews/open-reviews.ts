import { bindAll } from "../../base/index.ts";
import type { ObserverSource } from "../../learning/index.ts";
import { type PublishDeps, planReviewProposal } from "../../library/index.ts";
import type { LiveReach, NudgeDecided, ReviewMode } from "../../records/index.ts";
import { type Home, isBelowHome, reviewSettings } from "../../settings/index.ts";
import { type BackgroundWork, isClaimed } from "../../store/index.ts";
import { decideNudges, type ReviewLimits, type ReviewSummary, summarizeReviews } from "./nudge.ts";
import {
  acceptProposal,
  listProposals,
  type ProposalView,
  rejectProposal,
  renderProposal,
} from "./proposals.ts";
import {
  estimateSmallestReview,
  listDueProjects,
  listOpenReviews,
  previewReview,
  type ReviewDeps,
  reviewProject,
} from "./review.ts";

interface ReviewVerbDeps extends BackgroundWork {
  readonly home: Home;
  readonly publishing: PublishDeps;
  readonly observers: ObserverSource;
  readonly catalog: ReviewDeps["catalog"];
  readonly refuses: ReviewDeps["refuses"];
  readonly isRefused: NonNullable<ReviewDeps["passesOver"]>;
}

/** Reviews in the background, and what they propose. */
export function openReviews(deps: ReviewVerbDeps) {
  const { publishing } = deps;
  return {
    /** What reviews may do and did, and whether one is due in each project that has something new. */
    reviews: () => readReviewState(deps),
    /** Reviews these projects or all, as far as it is due, after what waits elsewhere; or these alone because a person asks. */
    review: async ({
      projects,
      asked = false,
    }: {
      readonly projects?: readonly string[];
      readonly asked?: boolean;
    } = {}) => {
      const own = createReviewDeps(deps);
      const wanted = projects ?? (await publishing.store.projects.list()).map(({ id }) => id);
      const waiting = asked ? [] : await listDueProjects(own);
      return runInTurn(new Set([...waiting, ...wanted]), (one) => reviewProject(own, one, asked));
    },
    /** The models that reviews ask. */
    reviewers: () => listReviewers(deps),
    /** What a review of a project would be given, and what it would cost; one that is due, or that a person asks for. */
    previewReview: async (project: string, { asked = false }: { readonly asked?: boolean } = {}) => ({
      ...(await previewReview(createReviewDeps(deps), project, asked)),
      ...listReviewers(deps),
    }),
    ...bindAll(publishing, {
      proposals: listProposals,
      proposalDiff: renderProposal,
      rejectProposal,
    }),
    planProposal: (proposal: ProposalView, where: LiveReach | null = null) =>
      planReviewProposal(publishing, proposal, where),
    acceptProposal: (proposal: ProposalView, where: LiveReach | null = null) =>
      acceptProposal(publishing, proposal, where),
  };
}

/** The model that reviews, and where it is. */
export interface Reviewers {
  readonly model: string;
  readonly to: string;
  /** Why it cannot be asked; null where it can. */
  readonly unset: string | null;
}

/** Background reviews, as a person sees them. */
export interface ReviewState extends ReviewSummary, Reviewers {
  readonly mode: ReviewMode;
  readonly limits: Pick<ReviewLimits, "perDay" | "usd" | "usdPerDay">;
  /** The projects in which something is new, and what was decided there last. */
  readonly projects: readonly { readonly project: string; readonly decision: NudgeDecided }[];
  readonly waiting: number;
  /** When those began that have not ended. */
  readonly begun: readonly number[];
}

/** Does the same for each of several, one after the other; what goes wrong with one is told when all had their turn. */
async function runInTurn<Done>(all: Iterable<string>, work: (one: string) => Promise<Done>): Promise<Done[]> {
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

async function readReviewState(deps: ReviewVerbDeps): Promise<ReviewState> {
  const { publishing, isRefused } = deps;
  const { store, clock } = publishing;
  const own = createReviewDeps(deps);
  const { mode, perDay, usd, usdPerDay } = own.allowed;
  const running = await isClaimed(store, "review", clock.now());
  const nudging = { store, clock, passesOver: isRefused };
  const estimate = async () => estimateSmallestReview(own);
  const decided = await decideNudges(nudging, { limits: own.allowed, asked: false, running, estimate });
  return {
    ...{ mode, ...listReviewers(deps), limits: { perDay, usd, usdPerDay } },
    ...(await summarizeReviews(nudging)),
    waiting: (await listProposals(publishing)).filter(({ status }) => status === "waiting").length,
    begun: (await listOpenReviews(store)).map(({ at }) => at),
    projects: [...decided]
      .map(([project, decision]) => ({ project, decision }))
      .filter(({ decision }) => decision.window.stretches.length > 0)
      .sort((a, b) => b.decision.window.until - a.decision.window.until),
  };
}

/** By the settings, also where nothing would be sent to it. */
function listReviewers({ observers }: ReviewVerbDeps): Reviewers {
  const { namedModel, settings } = observers.choose();
  const { name, to, unset } = namedModel(settings.model);
  return { model: name, to, unset };
}

/** What reviews need, by the settings of this moment. */
function createReviewDeps(deps: ReviewVerbDeps): ReviewDeps {
  const { home, publishing, observers, catalog, refuses, isRefused } = deps;
  const { model, settings, limits, price } = observers.choose();
  const own = reviewSettings(home);
  return {
    ...publishing,
    ...{ model, price, limits },
    timeoutMs: own["review.timeoutMs"],
    allowed: {
      mode: own.review,
      calls: own["review.calls"],
      apartMs: own["review.minutes"] * 60_000,
      perDay: own["review.perDay"],
      usd: own["review.budget"],
      usdPerCall: settings["model.budgetCall"],
      usdPerDay: settings["model.budgetDay"],
      unset: model.unset,
    },
    catalog,
    refuses: async (root, id) =>
      [root ?? id, id].some((place) => isBelowHome(home, place))
        ? "it is Knack's own work"
        : refuses(root, id),
    passesOver: isRefused,
    claim: (until) => deps.claim("review", until),
    giveBack: () => deps.giveBack("review"),
  };
}
