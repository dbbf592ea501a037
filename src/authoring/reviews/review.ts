import { errorMessage, makeId } from "../../base/index.ts";
import { recordEntries } from "../../lessons/index.ts";
import { projectRoot, repairChanges } from "../../library/index.ts";
import {
  type Asker,
  agentExtraUsd,
  askModel,
  estimateMaxCost,
  type ModelAnswer,
  readModelCalls,
  type Spend,
  sumForPurpose,
} from "../../models/index.ts";
import type {
  LedgerEntry,
  NudgeDecided,
  ReviewAnswered,
  ReviewBegun,
  ReviewEnded,
  ReviewWindow,
  SkillDraft,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { scrubAll } from "../../trust/index.ts";
import type { Dossier } from "./dossier.ts";
import { type EvidenceDeps, gatherEvidence, type ReviewEvidence, readExpansion } from "./evidence.ts";
import {
  decideNudges,
  describeNothingNew,
  findPaceHold,
  listReviews,
  measurePace,
  type NudgeDeps,
  type ReviewEstimate,
  type ReviewLimits,
  recordDecision,
} from "./nudge.ts";
import { findGivenUp, maxTries } from "./progress.ts";
import { makeProposals, publishProposal } from "./proposals.ts";
import { createReviewQuestion, expansionChars, nameDraft, type ReadReview } from "./question.ts";

/** Milliseconds that one review may take. */
const longestMs = 300_000;
const maxOutputTokens = 6_000;
const dayMs = 86_400_000;
const endChars = 1_000;

export interface ReviewDeps extends EvidenceDeps, Pick<NudgeDeps, "passesOver">, Asker {
  readonly timeoutMs: number;
  readonly allowed: ReviewLimits;
  /** Why nothing is learned in a project; null where something is. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  /** Takes the lease for reviews until a time; false where another process has it. */
  readonly claim: (until: number) => Promise<boolean>;
  readonly giveBack: () => Promise<void>;
}

/** What came of deciding about a review of a project. */
export interface ReviewResult {
  readonly project: string;
  readonly decision: NudgeDecided;
  readonly ended: ReviewEnded | null;
  readonly usd: number;
}

/** What a review would send, and what it would cost at most. */
export interface ReviewPreview {
  readonly project: string;
  readonly decision: NudgeDecided;
  readonly dossier: Dossier | null;
  /** Why nothing would be sent; null where something would. */
  readonly because: string | null;
  readonly usdAtMost: number;
  readonly characters: number;
  /** The first question, word for word. */
  readonly requests: readonly { readonly model: string; readonly system: string; readonly prompt: string }[];
}

/** A review that began and has not ended. */
interface OpenReview {
  readonly project: string;
  readonly begun: ReviewBegun;
  /** When it first began. */
  readonly at: number;
}

/** Reviews a project if a review is due or a person asks for it; a review that a killed process began goes first. */
export async function reviewProject(
  deps: ReviewDeps,
  project: string,
  asked: boolean,
): Promise<ReviewResult> {
  const { clock, allowed } = deps;
  const until = clock.now() + longestMs;
  const isOff = allowed.unset !== null || (allowed.mode === "off" && !asked);
  if (isOff || !(await deps.claim(until)))
    return skipReview(project, await decideReview(deps, project, { asked, running: !isOff }));
  try {
    return await reviewClaimed(deps, project, asked, until);
  } finally {
    await deps.giveBack();
  }
}

function skipReview(project: string, decision: NudgeDecided): ReviewResult {
  return { project, decision, ended: null, usd: 0 };
}

async function reviewClaimed(
  deps: ReviewDeps,
  project: string,
  asked: boolean,
  until: number,
): Promise<ReviewResult> {
  const open = (await listOpenReviews(deps.store)).find((one) => one.project === project) ?? null;
  const refusal = await findRefusal(deps, project);
  // Learning was turned off here after the review began.
  if (open && refusal !== null) await endReview(deps, open, { outcome: "skipped", because: refusal });
  const decide = () => decideReview(deps, project, { asked, running: false });
  const decision = open && refusal === null ? continueReview(open) : await decide();
  if (!decision.run) return skipReview(project, decision);
  const begun = await beginReview(deps, project, open, asked, decision);
  if (begun === null) return skipReview(project, await decide());
  const ended = await runReview(deps, begun, until);
  return { project, decision, ended, usd: (await sumCost(deps, begun)).usd };
}

/** Whether a project is to be reviewed; where nothing is learned, nothing is recorded either. */
async function decideReview(
  deps: ReviewDeps,
  project: string,
  {
    asked,
    running,
    dryRun = false,
  }: { readonly asked: boolean; readonly running: boolean; readonly dryRun?: boolean },
): Promise<NudgeDecided> {
  const refusal = await findRefusal(deps, project);
  const estimate = (window: ReviewWindow) => estimateReview(deps, project, window);
  const options = { limits: deps.allowed, asked, running, estimate };
  const decision = (await decideNudges(deps, options, project)).get(project);
  if (decision === undefined) throw new Error(`nothing was decided about ${project}`);
  if (refusal !== null) return { ...decision, run: false, because: "not-learned", message: refusal };
  if (!dryRun) await recordDecision(deps, project, decision);
  return decision;
}

async function findRefusal(deps: ReviewDeps, project: string): Promise<string | null> {
  return deps.refuses(await projectRoot(deps.store, project), project);
}

/** The reviews that began and have not ended, the first first. */
export async function listOpenReviews({ ledger }: Pick<Store, "ledger">): Promise<OpenReview[]> {
  const ended = new Set((await ledger.since("review.ended", 0)).map(({ data }) => data.review));
  const open = new Map<string, OpenReview>();
  for (const { at, project, data } of await ledger.since("review.begun", 0)) {
    if (ended.has(data.review)) continue;
    const known = open.get(data.review);
    const tries = Math.max(data.tries, known?.begun.tries ?? 0);
    open.set(data.review, {
      project: project ?? "",
      begun: { ...(known?.begun ?? data), tries },
      at: known?.at ?? at ?? 0,
    });
  }
  return [...open.values()];
}

/** The projects that wait for a review: those where one began first, then those that wait longest. */
export async function listDueProjects(deps: ReviewDeps): Promise<string[]> {
  const { allowed, store } = deps;
  if (allowed.mode === "off" || allowed.unset !== null) return [];
  const begun = (await listOpenReviews(store)).map(({ project }) => project);
  const decided = await decideNudges(deps, { limits: allowed, asked: false, running: false });
  const due = [...decided]
    .filter(([, { run }]) => run)
    .sort(([, a], [, b]) => a.window.until - b.window.until)
    .map(([project]) => project);
  return [...begun, ...due];
}

/** A review that began needs no new reason to go on. */
function continueReview({ begun: { window, cause } }: OpenReview): NudgeDecided {
  const counters = { calls: 0, turns: 0, signals: 0, hints: 0, lastReviewAt: null, reviewedUntil: null };
  return { run: true, because: cause, message: "a review that began goes on", counters, window };
}

/** Records that a review begins, if that is still allowed inside a transaction: of several processes, one begins. */
async function beginReview(
  { store, clock, allowed, model }: ReviewDeps,
  project: string,
  open: OpenReview | null,
  asked: boolean,
  { window, because }: NudgeDecided,
): Promise<OpenReview | null> {
  return store.transaction(async (tx) => {
    const at = clock.now();
    const record = async (data: ReviewBegun) => {
      const key = `review:${data.review}:begun:${data.tries}`;
      await recordEntries(tx, [
        { at, project, session: null, actor: "knack", type: "review.begun", key, data },
      ]);
    };
    const others = await listOpenReviews(tx);
    if (open) {
      const known = others.find((one) => one.begun.review === open.begun.review);
      if (!known) return null;
      const begun = { ...known.begun, tries: known.begun.tries + 1 };
      await record(begun);
      return { ...known, begun };
    }
    if (others.some((one) => one.project === project)) return null;
    if (findPaceHold({ ...measurePace(await listReviews(tx), at), now: at, asked, limits: allowed }))
      return null;
    const begun: ReviewBegun = {
      review: makeId("r", JSON.stringify([project, window, at])),
      window,
      cause: because as ReviewBegun["cause"],
      mode: allowed.mode === "off" ? "suggest" : allowed.mode,
      model: model.name,
      tries: 1,
    };
    await record(begun);
    return { project, begun, at };
  });
}

type ReviewOutcome = Pick<ReviewEnded, "outcome" | "because"> & { readonly proposals?: readonly string[] };

async function runReview(deps: ReviewDeps, open: OpenReview, until: number): Promise<ReviewEnded> {
  const known = await readAnswer(deps.store, open.begun);
  if (known === null && open.begun.tries > maxTries)
    return endReview(deps, open, {
      outcome: "failed",
      because: `it began ${maxTries} times and never ended`,
    });
  const answered = known ?? (await askReviewer(deps, open, until));
  return endReview(deps, open, "outcome" in answered ? answered : await tryPropose(deps, open, answered));
}

/** An answer that cannot be used, however often that is tried, must not block other projects. */
async function tryPropose(
  deps: ReviewDeps,
  open: OpenReview,
  answered: ReviewAnswered,
): Promise<ReviewOutcome> {
  try {
    return await proposeDrafts(deps, open, answered);
  } catch (error) {
    if (open.begun.tries < maxTries) throw error;
    return { outcome: "failed", because: `the answer could not be used: ${errorMessage(error)}` };
  }
}

async function readAnswer({ ledger }: Store, { review }: ReviewBegun): Promise<ReviewAnswered | null> {
  const [entry] = await ledger.get([`review:${review}:answered`]);
  return entry?.type === "review.answered" ? entry.data : null;
}

/** Gathers the evidence and asks the model; the answer is on the ledger before it is used. */
async function askReviewer(
  deps: ReviewDeps,
  open: OpenReview,
  until: number,
): Promise<ReviewAnswered | ReviewOutcome> {
  const { project, begun } = open;
  const found = await gatherEvidence(deps, project, begun.window);
  if ("unread" in found)
    return { outcome: "skipped", because: `the library could not be read: ${found.unread}` };
  if ("skip" in found) return { outcome: "nothing", because: found.skip };
  if (found.dossier.included.length === 0)
    return { outcome: "skipped", because: "its events are no longer cached" };
  const said = await ask(deps, open, found, until);
  if ("outcome" in said) return said;
  const { leads, without } = found;
  const data = { review: begun.review, model: deps.model.name, leads, without, ...said };
  const entry: LedgerEntry = {
    ...{ at: deps.clock.now(), project, session: null, actor: "knack", type: "review.answered" },
    ...{ key: `review:${begun.review}:answered`, data },
  };
  await deps.store.transaction((tx) => recordEntries(tx, [entry]));
  // Of two processes that asked, the first answer counts.
  return (await readAnswer(deps.store, begun)) ?? data;
}

/** Asks the question, and once more if the reviewer wants to see more. */
async function ask(
  deps: ReviewDeps,
  open: OpenReview,
  evidence: ReviewEvidence,
  until: number,
): Promise<ReadReview | ReviewOutcome> {
  const first = await askOnce(deps, open, createReviewQuestion(evidence.dossier), until);
  if (!first.ok) return describeNoAnswer(first);
  const { drafts, expand } = first.answer.answer;
  if (drafts.length > 0 || expand.length === 0) return refuseSecrets(deps, first);
  const expansion = await readExpansion(deps, open.begun.window, evidence, expand);
  const second = await askOnce(deps, open, createReviewQuestion(evidence.dossier, expansion), until);
  if (second.ok) return refuseSecrets(deps, second);
  // Where the second question does not fit the budget, the first answer stands.
  return second.because === "not-asked" ? refuseSecrets(deps, first) : describeNoAnswer(second);
}

/** Asks within what is left of the review's time and money, which all its questions share. */
async function askOnce(
  deps: ReviewDeps,
  open: OpenReview,
  question: ReturnType<typeof createReviewQuestion>,
  until: number,
): Promise<ModelAnswer<ReadReview>> {
  const timeoutMs = Math.min(deps.timeoutMs, until - deps.clock.now());
  if (timeoutMs <= 0) return { ok: false, because: "not-asked", message: "the review's time is over" };
  const budget = { usd: deps.allowed.usd, since: open.at, setting: "review.budget" };
  return askModel(
    deps,
    { ...question, purpose: purposeFor(open.begun), maxOutputTokens, timeoutMs, budget },
    { project: open.project, session: null },
  );
}

/** Where nobody was reached the window waits; an unusable answer counts against it. */
function describeNoAnswer({ because, message }: Extract<ModelAnswer<unknown>, { ok: false }>): ReviewOutcome {
  const wasReached = because === "time-out" || because === "unusable";
  return { outcome: wasReached ? "failed" : "skipped", because: `${because}: ${message}` };
}

/** A draft with a secret is refused: without the secret it may mean something else. */
async function refuseSecrets(
  { redactor }: ReviewDeps,
  { answer: clean, original }: Extract<ModelAnswer<ReadReview>, { ok: true }>,
): Promise<ReadReview> {
  const cleanDrafts = new Set(clean.answer.drafts.map((draft) => JSON.stringify(draft)));
  const isClean = (draft: SkillDraft) => cleanDrafts.has(JSON.stringify(draft));
  const drafts = original.answer.drafts.filter(isClean);
  const secret = original.answer.drafts.filter((draft) => !isClean(draft));
  const refused = secret.map((draft) => `${nameDraft(draft)}: it holds a secret`);
  return {
    answer: { ...clean.answer, drafts },
    refused: [...clean.refused, ...(await scrubAll(redactor, refused))],
  };
}

/** Makes proposals of an answer's drafts, and publishes those that need nobody's yes. */
async function proposeDrafts(
  deps: ReviewDeps,
  { begun, project }: OpenReview,
  answered: ReviewAnswered,
): Promise<ReviewOutcome> {
  const { answer, refused: unread, without = [] } = answered;
  if (answer.drafts.length === 0 && unread.length === 0)
    return { outcome: "nothing", because: joinReasons([answer.because, ...without]) };
  // A killed process may have written half a change.
  await repairChanges(deps);
  const { made, refused, later } = await makeProposals(deps, project, begun, answered);
  const mayPublish = begun.mode === "auto" && deps.allowed.mode === "auto";
  let published = 0;
  for (const proposal of made)
    if (mayPublish && (await publishProposal(deps, project, proposal))) published++;
  const because = joinReasons([answer.because, ...unread, ...refused, ...without]);
  const proposals = made.map(({ id }) => id);
  if (published > 0) return { outcome: "published", because, proposals };
  if (made.length === 0 && later) return { outcome: "skipped", because };
  return { outcome: made.length > 0 ? "proposed" : "refused", because, proposals };
}

function joinReasons(reasons: readonly string[]): string {
  return [...new Set(reasons)].filter((text) => text !== "").join("; ");
}

async function endReview(deps: ReviewDeps, open: OpenReview, came: ReviewOutcome): Promise<ReviewEnded> {
  const { begun, project } = open;
  const cost = await sumCost(deps, open);
  const { outcome, because: said, givenUp } = await giveUpAfterTries(deps, open, came, cost.usd);
  const [because = ""] = await deps.redactor.scrub([{ label: "", text: said }]);
  const data: ReviewEnded = {
    ...{ review: begun.review, outcome, because: because.slice(0, endChars) },
    ...{ proposals: came.proposals ?? [], window: begun.window, calls: cost.calls },
    ...(givenUp ? { givenUp } : {}),
  };
  const entry: LedgerEntry = {
    ...{ at: deps.clock.now(), project, session: null, actor: "knack", type: "review.ended" },
    ...{ key: `review:${begun.review}:ended`, data },
  };
  await deps.store.transaction((tx) => recordEntries(tx, [entry]));
  return data;
}

/** A review that was paid for and skipped has failed; what failed three times is given up. */
async function giveUpAfterTries(
  { store }: ReviewDeps,
  { begun, project }: OpenReview,
  came: ReviewOutcome,
  usd: number,
): Promise<ReviewOutcome & Pick<ReviewEnded, "givenUp">> {
  const hasFailed = came.outcome === "failed" || (came.outcome === "skipped" && usd > 0);
  if (!hasFailed) return came;
  const givenUp = findGivenUp(await store.ledger.since("review.ended", 0), project, begun.window);
  if (givenUp === null) return { ...came, outcome: "failed" };
  return { outcome: "given-up", because: `${came.because}; it failed ${maxTries} times`, givenUp };
}

async function sumCost({ store, clock }: ReviewDeps, { begun, at }: OpenReview): Promise<Spend> {
  // The clock may have gone back since.
  const since = Math.min(at, clock.now()) - dayMs;
  return sumForPurpose(await readModelCalls(store, since), purposeFor(begun));
}

function purposeFor({ review }: ReviewBegun): string {
  return `review ${review}`;
}

// --- What it costs ---

/** What a review of a window would need: the cost is that of its first question. */
async function estimateReview(
  deps: ReviewDeps,
  project: string,
  window: ReviewWindow,
): Promise<ReviewEstimate> {
  const found = await gatherEvidence(deps, project, window);
  if ("unread" in found) return { unread: found.unread, usd: 0 };
  return { unread: null, usd: "skip" in found ? 0 : estimateQuestion(deps, found.dossier) };
}

/** The least that any review costs. */
export function estimateSmallestReview(deps: Pick<Asker, "price">): ReviewEstimate {
  return { unread: null, usd: estimateQuestion(deps, emptyDossier) };
}

const emptyDossier: Dossier = {
  scope: { kind: "foreground", project: "", sessions: [], startedAt: null, finishedAt: null },
  ...{ leads: [], signals: [], timeline: [], included: [], omitted: [], skills: [], whole: true },
};

function estimateQuestion({ price }: Pick<Asker, "price">, dossier: Dossier, more = 0): number {
  const { system, prompt, schema } = createReviewQuestion(dossier);
  const request = { system, prompt: prompt + " ".repeat(more), schema: schema.json, maxOutputTokens };
  return estimateMaxCost(request, price);
}

/** Both questions at their most, and what an agent's program may add to each. */
function estimateMost(deps: ReviewDeps, dossier: Dossier): number {
  const extra = deps.model.isAgent ? 2 * agentExtraUsd : 0;
  return estimateQuestion(deps, dossier) + estimateQuestion(deps, dossier, expansionChars) + extra;
}

/** A review without asking anybody and without recording anything. */
export async function previewReview(
  deps: ReviewDeps,
  project: string,
  asked: boolean,
): Promise<ReviewPreview> {
  const { allowed, model } = deps;
  const open = (await listOpenReviews(deps.store)).find((one) => one.project === project);
  const decision = open
    ? continueReview(open)
    : await decideReview(deps, project, { asked, running: false, dryRun: true });
  const nothing = (because: string): ReviewPreview => ({
    ...{ project, decision, dossier: null, because, usdAtMost: 0, characters: 0, requests: [] },
  });
  if (decision.because === "not-learned") return nothing(decision.message);
  if (decision.window.stretches.length === 0) return nothing(describeNothingNew(decision.counters));
  const found = await gatherEvidence(deps, project, decision.window);
  if ("unread" in found) return nothing(found.unread);
  if ("skip" in found) return nothing(found.skip);
  const { system, prompt } = createReviewQuestion(found.dossier);
  return {
    ...{ project, decision, dossier: found.dossier, because: null },
    usdAtMost: Math.min(allowed.usd, estimateMost(deps, found.dossier)),
    characters: system.length + prompt.length,
    requests: [{ model: model.name, system, prompt }],
  };
}
