import type { JudgeSource } from "../../learning/index.ts";
import type { PublishDeps } from "../../library/index.ts";
import type { NudgeDecided, ReviewMode } from "../../records/index.ts";
import { type Home, isBelowHome, resolveSettings } from "../../settings/index.ts";
import { type BackgroundWork, isClaimed } from "../../store/index.ts";
import type { ReviewLimits } from "./nudge.ts";
import { openProposals } from "./proposals.ts";
import { createReviewer } from "./review.ts";
import { decideNudges, summarizeReviews } from "./schedule.ts";

type ReviewerDeps = Parameters<typeof createReviewer>[0];

interface ReviewVerbDeps extends BackgroundWork {
  readonly home: Home;
  readonly publishing: PublishDeps;
  readonly judges: JudgeSource;
  readonly catalog: ReviewerDeps["catalog"];
  readonly refuses: ReviewerDeps["refuses"];
  readonly isRefused: NonNullable<ReviewerDeps["passesOver"]>;
}

/** Reviews in the background, and what they propose. */
export function openReviews(deps: ReviewVerbDeps) {
  const { publishing } = deps;
  const { makeProposals: _, publishProposal: __, ...proposals } = openProposals(publishing);
  return {
    ...proposals,
    /** Limits and history of reviews, and whether one is due in each project with new sessions. */
    reviews: () => readReviewState(deps),
    /** Runs due reviews of these projects or all, after those waiting elsewhere; or of these alone if a person asks. */
    review: async ({
      projects,
      asked = false,
    }: {
      readonly projects?: readonly string[];
      readonly asked?: boolean;
    } = {}) => {
      const reviewer = createReviewer(createReviewDeps(deps));
      const wanted = projects ?? (await publishing.store.projects.list()).map(({ id }) => id);
      const waiting = asked ? [] : await reviewer.listDueProjects();
      return runInTurn(new Set([...waiting, ...wanted]), (one) => reviewer.reviewProject(one, asked));
    },
    /** The models that reviews ask. */
    reviewers: () => listReviewers(deps),
    /** The dossier and cost of a project's review, whether one that is due or one that a person asks for. */
    previewReview: async (project: string, { asked = false }: { readonly asked?: boolean } = {}) => ({
      ...(await createReviewer(createReviewDeps(deps)).previewReview(project, asked)),
      ...listReviewers(deps),
    }),
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
export interface ReviewState extends Awaited<ReturnType<typeof summarizeReviews>>, Reviewers {
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
  const { store, clock } = deps.publishing;
  const own = createReviewDeps(deps);
  const reviewer = createReviewer(own);
  const { mode, perDay, usd, usdPerDay } = own.allowed;
  const running = await isClaimed(store, "review", clock.now());
  const estimate = async () => ({ unread: null, usd: reviewer.estimateSmallest() });
  const decided = await decideNudges(own, { limits: own.allowed, asked: false, running, estimate });
  const proposals = await openProposals(deps.publishing).proposals();
  return {
    ...{ mode, ...listReviewers(deps), limits: { perDay, usd, usdPerDay } },
    ...(await summarizeReviews(own)),
    waiting: proposals.filter(({ status }) => status === "waiting").length,
    begun: (await reviewer.listOpen()).map(({ at }) => at),
    projects: [...decided]
      .map(([project, decision]) => ({ project, decision }))
      .filter(({ decision }) => decision.window.stretches.length > 0)
      .sort((a, b) => b.decision.window.until - a.decision.window.until),
  };
}

/** The chosen judge, also where nothing would be sent to it. */
function listReviewers({ judges }: ReviewVerbDeps): Reviewers {
  const { namedModel, name } = judges.choose();
  const { name: model, to, unset } = namedModel(name);
  return { model, to, unset };
}

/** Dependencies of reviews under the current settings. */
function createReviewDeps(deps: ReviewVerbDeps): ReviewerDeps {
  const { home, publishing, judges, catalog, refuses, isRefused } = deps;
  const { model, settings, limits, price } = judges.choose();
  const own = resolveSettings(home, null);
  return {
    ...publishing,
    ...{ model, price, limits, catalog, passesOver: isRefused },
    timeoutMs: own["review.timeoutMs"],
    allowed: {
      mode: own.review,
      calls: own["review.calls"],
      apartMs: own["review.minutes"] * 60_000,
      perDay: own["review.perDay"],
      usd: own["review.budget"],
      usdPerCall: settings["judge.budgetCall"],
      usdPerDay: settings["judge.budgetDay"],
      unset: model.unset,
    },
    refuses: async (root, id) =>
      [root ?? id, id].some((place) => isBelowHome(home, place))
        ? "it is Knack's own work"
        : refuses(root, id),
    claim: (until) => deps.claim("review", until),
    giveBack: () => deps.giveBack("review"),
  };
}
