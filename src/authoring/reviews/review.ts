import { bindAll, errorMessage, makeId } from "../../base/index.ts";
import { recordEntries } from "../../lessons/index.ts";
import { openPackages, repairChanges } from "../../library/index.ts";
import {
  type Asker,
  agentExtraUsd,
  askModel,
  estimateMaxCost,
  type ModelAnswer,
  readPurposeSpend,
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
import { gatherEvidence } from "./evidence.ts";
import { findPaceHold, foldProgress, maxTries, measurePace, type ReviewLimits } from "./nudge.ts";
import { openProposals } from "./proposals.ts";
import { createReviewQuestion, expansionChars, nameDraft } from "./question.ts";

type EvidenceSource = Parameters<typeof gatherEvidence>[0];
type ReviewQuestion = ReturnType<typeof createReviewQuestion>;
type ReviewReading = NonNullable<ReturnType<ReviewQuestion["schema"]["parse"]>>;

import { decideNudges, listReviews } from "./schedule.ts";

/** Milliseconds that one review may take. */
const longestMs = 300_000;
const maxOutputTokens = 6_000;
const endChars = 1_000;

interface ReviewDeps extends EvidenceSource, Pick<Parameters<typeof decideNudges>[0], "passesOver">, Asker {
  readonly timeoutMs: number;
  readonly allowed: ReviewLimits;
  /** Why learning is off in a project; null where it is on. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  /** Takes the lease for reviews until a time; false where another process has it. */
  readonly claim: (until: number) => Promise<boolean>;
  readonly giveBack: () => Promise<void>;
}

/** The decision about a review of a project, and its result. */
type ReviewResult = {
  readonly project: string;
  readonly decision: NudgeDecided;
  readonly ended: ReviewEnded | null;
  readonly usd: number;
};

/** The dossier that a review would send, and its maximum cost. */
type ReviewPreview = {
  readonly project: string;
  readonly decision: NudgeDecided;
  readonly dossier: Dossier | null;
  /** Why nothing would be sent; null where something would. */
  readonly because: string | null;
  readonly usdAtMost: number;
  readonly characters: number;
  /** The first question, word for word. */
  readonly requests: readonly { readonly model: string; readonly system: string; readonly prompt: string }[];
};

/** A review that began and has not ended. */
interface OpenReview {
  readonly project: string;
  readonly begun: ReviewBegun;
  /** When it first began. */
  readonly at: number;
}

/** Reviews projects, by what a person allows. */
export function createReviewer(deps: ReviewDeps) {
  const listOpen = () => listOpenReviews(deps.store);
  const estimateSmallest = () => estimateQuestion(deps, emptyDossier);
  return { ...bindAll(deps, { reviewProject, previewReview, listDueProjects }), listOpen, estimateSmallest };
}

/** Reviews a project if a review is due or a person asks for it; a review that a killed process began goes first. */
async function reviewProject(deps: ReviewDeps, project: string, asked: boolean): Promise<ReviewResult> {
  const { clock, allowed } = deps;
  const until = clock.now() + longestMs;
  const isOff = allowed.unset !== null || (allowed.mode === "off" && !asked);
  if (isOff || !(await deps.claim(until)))
    return { project, decision: await decideReview(deps, project, asked, !isOff), ended: null, usd: 0 };
  try {
    return await reviewClaimed(deps, project, asked, until);
  } finally {
    await deps.giveBack();
  }
}

async function reviewClaimed(
  deps: ReviewDeps,
  project: string,
  asked: boolean,
  until: number,
): Promise<ReviewResult> {
  const found = (await listOpenReviews(deps.store)).find((one) => one.project === project) ?? null;
  const refusal = await findRefusal(deps, project);
  // Learning was turned off here after the review began.
  if (found && refusal !== null) await endReview(deps, found, { outcome: "skipped", because: refusal });
  const open = refusal === null ? found : null;
  const decision = open ? continueReview(open) : await decideReview(deps, project, asked);
  const begun = decision.run ? await beginReview(deps, project, open, asked, decision) : null;
  if (begun === null) {
    // Another process began one meanwhile.
    const last = decision.run ? await decideReview(deps, project, asked) : decision;
    return { project, decision: last, ended: null, usd: 0 };
  }
  const ended = await runReview(deps, begun, until);
  return { project, decision, ended, usd: (await sumCost(deps, begun)).usd };
}

/** Decides whether to review a project; where learning is off, nothing is recorded either. */
async function decideReview(
  deps: ReviewDeps,
  project: string,
  asked: boolean,
  running = false,
  dryRun = false,
): Promise<NudgeDecided> {
  const estimate = async (window: ReviewWindow) => {
    const found = await gatherEvidence(deps, project, window);
    const usd = "dossier" in found ? estimateQuestion(deps, found.dossier) : 0;
    return { unread: "unread" in found ? found.unread : null, usd };
  };
  const options = { limits: deps.allowed, asked, running, estimate };
  const decision = (await decideNudges(deps, options, project)).get(project);
  if (decision === undefined) throw new Error(`nothing was decided about ${project}`);
  const refusal = await findRefusal(deps, project);
  if (refusal !== null) return { ...decision, run: false, because: "not-learned", message: refusal };
  if (dryRun) return decision;
  // Once for a window, not again whenever one of its sessions grows.
  const begins = decision.window.stretches.map(({ session, from }) => [session, from]);
  const key = `nudge:${makeId("n", JSON.stringify([project, decision.because, begins]))}`;
  await record(deps, project, { type: "nudge.decided", key, data: decision });
  return decision;
}

async function findRefusal(deps: ReviewDeps, project: string): Promise<string | null> {
  return deps.refuses(await openPackages(deps).projectRoot(project), project);
}

type ReviewEntry = Pick<LedgerEntry, "type" | "key" | "data">;

async function record({ store, clock }: ReviewDeps, project: string, entry: ReviewEntry): Promise<void> {
  const whole = { at: clock.now(), project, session: null, actor: "knack", ...entry } as LedgerEntry;
  await store.transaction((tx) => recordEntries(tx, [whole]));
}

/** The reviews that began and have not ended, the first first. */
async function listOpenReviews({ ledger }: Pick<Store, "ledger">): Promise<OpenReview[]> {
  const ended = new Set((await ledger.since("review.ended", 0)).map(({ data }) => data.review));
  const open = new Map<string, OpenReview>();
  for (const { at, project, data } of await ledger.since("review.begun", 0)) {
    if (ended.has(data.review)) continue;
    const known = open.get(data.review) ?? { project: project ?? "", begun: data, at: at ?? 0 };
    const tries = Math.max(data.tries, known.begun.tries);
    open.set(data.review, { ...known, begun: { ...known.begun, tries } });
  }
  return [...open.values()];
}

/** The projects that wait for a review: those where one began first, then those that wait longest. */
async function listDueProjects(deps: ReviewDeps): Promise<string[]> {
  const { allowed, store } = deps;
  if (allowed.mode === "off" || allowed.unset !== null) return [];
  const decided = await decideNudges(deps, { limits: allowed, asked: false, running: false });
  const due = [...decided]
    .filter(([, { run }]) => run)
    .sort(([, a], [, b]) => a.window.until - b.window.until);
  return [...(await listOpenReviews(store)).map((one) => one.project), ...due.map(([project]) => project)];
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
    const now = clock.now();
    const others = await listOpenReviews(tx);
    const known = open && others.find((one) => one.begun.review === open.begun.review);
    const isTaken = open ? !known : others.some((one) => one.project === project);
    if (isTaken) return null;
    const pace = measurePace(await listReviews(tx), now);
    if (!known && findPaceHold({ ...pace, now, asked, limits: allowed })) return null;
    const begun: ReviewBegun = known
      ? { ...known.begun, tries: known.begun.tries + 1 }
      : {
          ...{ review: makeId("r", JSON.stringify([project, window, now])), window },
          ...{ cause: because as ReviewBegun["cause"], model: model.name, tries: 1 },
          mode: allowed.mode === "off" ? "suggest" : allowed.mode,
        };
    const key = `review:${begun.review}:begun:${begun.tries}`;
    const common = { at: now, project, session: null, actor: "knack" as const };
    await recordEntries(tx, [{ ...common, type: "review.begun", key, data: begun }]);
    return { project, begun, at: known?.at ?? now };
  });
}

type ReviewOutcome = Pick<ReviewEnded, "outcome" | "because"> & { readonly proposals?: readonly string[] };

async function runReview(deps: ReviewDeps, open: OpenReview, until: number): Promise<ReviewEnded> {
  const known = await readAnswer(deps.store, open.begun);
  if (known === null && open.begun.tries > maxTries) {
    const because = `it began ${maxTries} times and never ended`;
    return endReview(deps, open, { outcome: "failed", because });
  }
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

/** Gathers the evidence and asks the model, twice if it requests details; records the answer before using it. */
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
  const { dossier, leads, without } = found;
  if (dossier.included.length === 0)
    return { outcome: "skipped", because: "its events are no longer cached" };
  let said = await ask(deps, open, createReviewQuestion(dossier), until);
  if (said.ok && said.answer.answer.drafts.length === 0 && said.answer.answer.expand.length > 0) {
    const expansion = await found.expand(said.answer.answer.expand);
    const second = await ask(deps, open, createReviewQuestion(dossier, expansion), until);
    // Where the second question does not fit the budget, the first answer stands.
    if (second.ok || second.because !== "not-asked") said = second;
  }
  if (!said.ok) return describeNoAnswer(said);
  const model = deps.model.name;
  const data = { review: begun.review, model, leads, without, ...(await refuseSecrets(deps, said)) };
  await record(deps, project, { type: "review.answered", key: `review:${begun.review}:answered`, data });
  // Of two processes that asked, the first answer counts.
  return (await readAnswer(deps.store, begun)) ?? data;
}

/** Asks within what is left of the review's time and money, which all its questions share. */
async function ask(
  deps: ReviewDeps,
  open: OpenReview,
  question: ReviewQuestion,
  until: number,
): Promise<ModelAnswer<ReviewReading>> {
  const timeoutMs = Math.min(deps.timeoutMs, until - deps.clock.now());
  if (timeoutMs <= 0) return { ok: false, because: "not-asked", message: "the review's time is over" };
  const budget = { usd: deps.allowed.usd, since: open.at, setting: "review.budget" };
  const asked = { ...question, purpose: purposeFor(open.begun), maxOutputTokens, timeoutMs, budget };
  return askModel(deps, asked, { project: open.project, session: null });
}

/** If no model answered, the window waits; an unusable answer counts against it. */
function describeNoAnswer({ because, message }: Extract<ModelAnswer<unknown>, { ok: false }>): ReviewOutcome {
  const wasReached = because === "time-out" || because === "unusable";
  return { outcome: wasReached ? "failed" : "skipped", because: `${because}: ${message}` };
}

/** A draft with a secret is refused: without the secret it may mean something else. */
async function refuseSecrets(
  { redactor }: ReviewDeps,
  { answer: clean, original }: Extract<ModelAnswer<ReviewReading>, { ok: true }>,
): Promise<ReviewReading> {
  const cleanDrafts = new Set(clean.answer.drafts.map((draft) => JSON.stringify(draft)));
  const isClean = (draft: SkillDraft) => cleanDrafts.has(JSON.stringify(draft));
  const secret = original.answer.drafts.filter((draft) => !isClean(draft));
  const refused = secret.map((draft) => `${nameDraft(draft)}: it holds a secret`);
  return {
    answer: { ...clean.answer, drafts: original.answer.drafts.filter(isClean) },
    refused: [...clean.refused, ...(await scrubAll(redactor, refused))],
  };
}

/** Makes proposals of an answer's drafts, and publishes those that need no approval. */
async function proposeDrafts(
  deps: ReviewDeps,
  { begun, project }: OpenReview,
  { answer, leads, refused: unread, without = [], model }: ReviewAnswered,
): Promise<ReviewOutcome> {
  if (answer.drafts.length === 0 && unread.length === 0)
    return { outcome: "nothing", because: joinReasons([answer.because, ...without]) };
  // A killed process may have written half a change.
  await repairChanges(deps);
  const proposing = openProposals(deps);
  const said = { drafts: answer.drafts, model };
  const shown = await readUnvouched(deps, leads);
  const { made, refused, later } = await proposing.makeProposals(project, begun, said, shown);
  const mayPublish = begun.mode === "auto" && deps.allowed.mode === "auto";
  let published = 0;
  for (const proposal of made)
    if (mayPublish && (await proposing.publishProposal(project, proposal))) published++;
  const because = joinReasons([answer.because, ...unread, ...refused, ...without]);
  const proposals = made.map(({ id }) => id);
  if (published > 0) return { outcome: "published", because, proposals };
  if (made.length === 0 && later) return { outcome: "skipped", because };
  return { outcome: made.length > 0 ? "proposed" : "refused", because, proposals };
}

/** The texts of skills that the reviewer was to change and nobody vouches for. */
async function readUnvouched(deps: ReviewDeps, leads: ReviewAnswered["leads"]): Promise<string[]> {
  const names = new Set(leads.flatMap((lead) => (lead.do === "patch" ? lead.skill : [])));
  const { items } = await deps.catalog();
  return items.flatMap(({ name, told, description, body }) =>
    names.has(name) && told !== "whole" ? `${description}\n${body}` : [],
  );
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
  await record(deps, project, { type: "review.ended", key: `review:${begun.review}:ended`, data });
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
  const givenUp = foldProgress(await listReviews(store), project).findGivenUp(begun.window);
  if (givenUp === null) return { ...came, outcome: "failed" };
  return { outcome: "given-up", because: `${came.because}; it failed ${maxTries} times`, givenUp };
}

function sumCost({ store, clock }: ReviewDeps, { begun, at }: OpenReview) {
  return readPurposeSpend(store, purposeFor(begun), at, clock.now());
}

function purposeFor({ review }: ReviewBegun): string {
  return `review ${review}`;
}

// --- What it costs ---

const emptyDossier: Dossier = {
  scope: { kind: "foreground", project: "", sessions: [], startedAt: null, finishedAt: null },
  ...{ leads: [], signals: [], timeline: [], included: [], omitted: [], skills: [], whole: true },
};

/** The most that a question costs, with so many characters more. */
function estimateQuestion({ price }: Pick<Asker, "price">, dossier: Dossier, more = 0): number {
  const { system, prompt, schema } = createReviewQuestion(dossier);
  const request = { system, prompt: prompt + " ".repeat(more), schema: schema.json, maxOutputTokens };
  return estimateMaxCost(request, price);
}

/** A review without asking anybody and without recording anything. */
async function previewReview(deps: ReviewDeps, project: string, asked: boolean): Promise<ReviewPreview> {
  const { allowed, model } = deps;
  const open = (await listOpenReviews(deps.store)).find((one) => one.project === project);
  const decision = open ? continueReview(open) : await decideReview(deps, project, asked, false, true);
  const nothing = (because: string): ReviewPreview => ({
    ...{ project, decision, dossier: null, because, usdAtMost: 0, characters: 0, requests: [] },
  });
  if (decision.because === "not-learned" || decision.window.stretches.length === 0)
    return nothing(decision.message);
  const found = await gatherEvidence(deps, project, decision.window);
  if ("unread" in found) return nothing(found.unread);
  if ("skip" in found) return nothing(found.skip);
  const { dossier } = found;
  const { system, prompt } = createReviewQuestion(dossier);
  // Both questions at their most, and what an agent's program may add to each.
  const both = estimateQuestion(deps, dossier) + estimateQuestion(deps, dossier, expansionChars);
  return {
    ...{ project, decision, dossier, because: null },
    usdAtMost: Math.min(allowed.usd, both + (model.isAgent ? 2 * agentExtraUsd : 0)),
    characters: system.length + prompt.length,
    requests: [{ model: model.name, system, prompt }],
  };
}
