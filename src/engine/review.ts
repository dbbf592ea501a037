import { type Spend, spendFor } from "../core/budget.ts";
import { placeOf } from "../core/dossier.ts";
import { messageIn } from "../core/errors.ts";
import type { Event } from "../core/event.ts";
import { idOf } from "../core/ids.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import {
  lookedInVain,
  type NudgeDecided,
  nothingNew,
  paceHold,
  paceOf,
  type ReviewLimits,
} from "../core/nudge.ts";
import { policy as defaults } from "../core/policy.ts";
import { receiptFor } from "../core/protocol.ts";
import {
  type Dossier,
  type Draft,
  type Lead,
  nameIn,
  type Proposal,
  type ProposalView,
  type ReviewAnswered,
  type ReviewBegun,
  type ReviewEnded,
  type ShownFile,
} from "../core/review.ts";
import { gateInquiry, readGate } from "../core/review-gate.ts";
import { readReview, reviewInquiry } from "../core/reviewer.ts";
import { type AskDeps, ask, type Inquiry } from "./ask.ts";
import type { CatalogReading } from "./catalog.ts";
import { eventsAt } from "./gather.ts";
import { perform } from "./keep.ts";
import { note } from "./note.ts";
import { type NudgeDeps, type NudgeOptions, nudge, nudges, reviewsOf } from "./nudge.ts";
import { isOwn, type ProposalGround, planPublished, proposable, rootOf } from "./plan-proposal.ts";
import type { ModelReply, Store } from "./ports.ts";
import { decided, proposals, statusOf } from "./proposal.ts";
import { repair } from "./publish.ts";
import { type Askable, agentsUsd, callsFor, furtherUsd, prospectOf, sumOf } from "./review-cost.ts";
import { changeable, dossierFor, filesFor, type Ground, groundOf, ruledIn } from "./review-ground.ts";
import { scrubAll } from "./scrub.ts";
import type { PublishDeps } from "./step.ts";

export interface ReviewDeps
  extends PublishDeps,
    Pick<NudgeDeps, "passesOver">,
    Askable,
    Pick<AskDeps, "limits"> {
  readonly timeoutMs: number;
  readonly allowed: ReviewLimits;
  readonly catalog: () => Promise<CatalogReading>;
  /** Why nothing is learned in a project; null where it is. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  /** The one who reviews: takes the lease until a time, or is told that another has it. */
  readonly claim: (until: number) => Promise<boolean>;
  readonly giveBack: () => Promise<void>;
}

/** What came of looking whether to review a project. */
export interface Reviewed {
  readonly project: string;
  readonly decision: NudgeDecided;
  readonly ended: ReviewEnded | null;
  readonly usd: number;
}

/** What a review would be given, and what it would cost at the most. */
export interface ReviewPreview {
  readonly project: string;
  readonly decision: NudgeDecided;
  readonly dossier: Dossier | null;
  /** Why nothing would be sent; null where something would. */
  readonly because: string | null;
  readonly usdAtMost: number;
  readonly characters: number;
  /** What would be sent, word for word, if the gate lets it through and the reviewer asks for nothing more. */
  readonly requests: readonly { readonly model: string; readonly system: string; readonly prompt: string }[];
}

/** A review that began and has not ended. */
interface Open {
  readonly project: string;
  readonly begun: ReviewBegun;
  /** When it was first begun. */
  readonly at: number;
}

/** Reviews a project if that is due, or because a person asks: ends what a killed process began first. */
export async function review(
  deps: ReviewDeps,
  project: string,
  { asked }: { readonly asked: boolean },
): Promise<Reviewed> {
  const { clock, allowed } = deps;
  const until = clock.now() + defaults.review.longestMs;
  const isOff = allowed.unset !== null || (allowed.mode === "off" && !asked);
  const isMine = !isOff && (await deps.claim(until));
  if (!isMine) return notDone(project, await decisionOn(deps, project, { asked, running: !isOff }));
  try {
    return await reviewAlone(deps, project, { asked, until });
  } finally {
    await deps.giveBack();
  }
}

function notDone(project: string, decision: NudgeDecided): Reviewed {
  return { project, decision, ended: null, usd: 0 };
}

/** The same for the one who has the lease. */
async function reviewAlone(
  deps: ReviewDeps,
  project: string,
  { asked, until }: { readonly asked: boolean; readonly until: number },
): Promise<Reviewed> {
  const open = (await unfinished(deps.store)).find((one) => one.project === project) ?? null;
  const refusal = await refusalOf(deps, project);
  // What began where nothing is learned any more goes on no further.
  if (open && refusal !== null) await end(deps, open, { outcome: "skipped", because: refusal });
  const goesOn = open !== null && refusal === null;
  const decide = () => decisionOn(deps, project, { asked, running: false });
  const decision = goesOn ? goingOn(open) : await decide();
  if (!decision.run) return notDone(project, decision);
  const begun = await begin(deps, project, { open, asked, decision });
  if (begun === null) return notDone(project, await decide());
  const ended = await goThrough(deps, begun, until);
  return { project, decision, ended, usd: (await spendOn(deps, begun)).usd };
}

/** Whether a project is to be reviewed; of one that nothing is learned in nothing is noted either. */
async function decisionOn(
  deps: ReviewDeps,
  project: string,
  { asked, running, dryRun = false }: Pick<NudgeOptions, "asked" | "running" | "dryRun">,
): Promise<NudgeDecided> {
  const refusal = await refusalOf(deps, project);
  const decision = await nudge(deps, project, {
    ...{ limits: deps.allowed, asked, running, dryRun: dryRun || refusal !== null },
    ahead: (_, window) => prospectOf(deps, project, window),
  });
  return refusal === null
    ? decision
    : { ...decision, run: false, because: "not-learned" as const, message: refusal };
}

async function refusalOf(deps: ReviewDeps, project: string): Promise<string | null> {
  return deps.refuses(await rootOf(deps.store, project), project);
}

/** The reviews that began and have not ended, the first first. */
export async function unfinished({ ledger }: Pick<Store, "ledger">): Promise<Open[]> {
  const ended = new Set((await ledger.since("review.ended", 0)).map(({ data }) => data.review));
  const open = new Map<string, Open>();
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

/** The projects that wait for a review, those that one began in first, and then those that wait longest. */
export async function waitingFor(deps: ReviewDeps): Promise<string[]> {
  const { allowed, store } = deps;
  if (allowed.mode === "off" || allowed.unset !== null) return [];
  const begun = (await unfinished(store)).map(({ project }) => project);
  const due = await nudges(deps, { limits: allowed, asked: false, running: false });
  const waiting = due.flatMap(({ project, decision }) => (decision.run ? project : [])).reverse();
  return [...begun, ...waiting];
}

/** Whoever goes on needs no new reason. */
function goingOn({ begun: { window, cause } }: Open): NudgeDecided {
  const counters = { calls: 0, turns: 0, signals: 0, hints: 0, lastReviewAt: null, reviewedUntil: null };
  return { run: true, because: cause, message: "a review that began goes on", counters, window };
}

/**
 * Notes that a review begins, if that still holds when nobody else can note anything: of several who were told to
 * review at once, one begins. Null where it does not hold any more.
 */
async function begin(
  deps: ReviewDeps,
  project: string,
  {
    open,
    asked,
    decision,
  }: { readonly open: Open | null; readonly asked: boolean; readonly decision: NudgeDecided },
): Promise<Open | null> {
  const { store, clock, allowed, model } = deps;
  return store.transaction(async (tx) => {
    const at = clock.now();
    const others = await unfinished(tx);
    const known = others.find((one) => one.begun.review === open?.begun.review);
    if (open) {
      if (!known) return null;
      const begun = { ...known.begun, tries: known.begun.tries + 1 };
      await note(tx, [begunEntry(project, begun, at)]);
      return { ...known, begun };
    }
    if (others.some((one) => one.project === project)) return null;
    if (paceHold({ ...paceOf(await reviewsOf(tx), at), now: at, asked, limits: allowed })) return null;
    const { window } = decision;
    const begun: ReviewBegun = {
      review: idOf("r", JSON.stringify([project, window, at])),
      window,
      cause: decision.because as ReviewBegun["cause"],
      mode: allowed.mode === "off" ? "suggest" : allowed.mode,
      model: model.name,
      tries: 1,
    };
    await note(tx, [begunEntry(project, begun, at)]);
    return { project, begun, at };
  });
}

function begunEntry(project: string, data: ReviewBegun, at: number): LedgerEntry {
  const key = `review:${data.review}:begun:${data.tries}`;
  return { at, project, session: null, actor: "knack", type: "review.begun", key, data };
}

/** How a review ends. */
type Outcome = Pick<ReviewEnded, "outcome" | "because"> & { readonly proposals?: readonly string[] };

/** Takes a review from where it is to its end. */
async function goThrough(deps: ReviewDeps, open: Open, until: number): Promise<ReviewEnded> {
  const { tries } = defaults.review;
  const known = await answerOf(deps.store, open.begun);
  if (known === null && open.begun.tries > tries)
    return end(deps, open, { outcome: "failed", because: `it was begun ${tries} times and never ended` });
  const answered = known ?? (await inquire(deps, open, until));
  return end(deps, open, "outcome" in answered ? answered : await proposeOrFail(deps, open, answered));
}

/** What was answered and cannot be used, however often that is tried, holds nothing else up. */
async function proposeOrFail(deps: ReviewDeps, open: Open, answered: ReviewAnswered): Promise<Outcome> {
  try {
    return await propose(deps, open, answered);
  } catch (error) {
    if (open.begun.tries < defaults.review.tries) throw error;
    return { outcome: "failed", because: `what was answered could not be used: ${messageIn(error)}` };
  }
}

async function answerOf({ ledger }: Store, { review }: ReviewBegun): Promise<ReviewAnswered | null> {
  const [entry] = await ledger.get([answeredKey(review)]);
  return entry?.type === "review.answered" ? entry.data : null;
}

function answeredKey(review: string): string {
  return `review:${review}:answered`;
}

/** Looks at a window and asks whether anything is to be learned from it; the answer is on the ledger before it is used. */
async function inquire(deps: ReviewDeps, open: Open, until: number): Promise<ReviewAnswered | Outcome> {
  const { project, begun } = open;
  const ground = await groundOf(deps, project, begun.window);
  if (typeof ground === "string")
    return { outcome: "skipped", because: `the library could not be read: ${ground}` };
  const leads = await gate(deps, open, ground, until);
  if ("outcome" in leads) return leads;
  const dossier = await dossierFor(deps, project, begun.window, ground, leads.some);
  const said = await converse(deps, open, { dossier, ground }, until);
  if ("outcome" in said) return said;
  const { some, without } = leads;
  const data = { review: begun.review, model: deps.model.name, leads: some, without, ...said };
  const common = { at: deps.clock.now(), project, session: null, actor: "knack" as const };
  const entry: LedgerEntry = { ...common, type: "review.answered", key: answeredKey(begun.review), data };
  await deps.store.transaction((tx) => note(tx, [entry]));
  // Of two who asked, the first one's answer counts.
  return (await answerOf(deps.store, begun)) ?? data;
}

/** What a review may come to: by rules, which cost nothing, then by the word of a small model; or how it ends here. */
async function gate(
  deps: ReviewDeps,
  open: Open,
  ground: Ground,
  until: number,
): Promise<{ readonly some: readonly Lead[]; readonly without: readonly string[] } | Outcome> {
  const ruled = await ruledIn(deps, ground);
  if ("skip" in ruled) return { outcome: "nothing", because: ruled.skip };
  const { project, begun } = open;
  const dossier = await dossierFor(deps, project, begun.window, ground, ruled.leads);
  if (dossier.included.length === 0) return { outcome: "skipped", because: "its events are gone" };
  if (deps.gate === null) return { some: ruled.leads, without: ruled.without };
  const { shown: _, ...inquiry } = gateInquiry(dossier, ground);
  const read = (value: unknown) => readGate(value, dossier);
  const asked = { ...inquiry, maxOutputTokens: defaults.review.gateTokens };
  const reply = await askWithin(deps, deps.gate, open, asked, until, (value) => read(value) !== null);
  if (!reply.ok) return noAnswer(reply);
  const told = read(await cleanOf(deps, reply.value)) ?? { skip: "the answer does not have the form" };
  const said = await changeable(deps, ground, told);
  if ("skip" in said) return { outcome: "nothing", because: inOne([said.skip, ...ruled.without]) };
  return { some: said.leads, without: [...ruled.without, ...said.without] };
}

/** Has a dossier reviewed; a reviewer that wants to see more of some events, or files of skills, is asked again. */
async function converse(
  deps: ReviewDeps,
  open: Open,
  { dossier, ground }: { readonly dossier: Dossier; readonly ground: Ground },
  until: number,
): Promise<Pick<ReviewAnswered, "answer" | "refused"> | Outcome> {
  const more = new Map<string, Event>();
  const files: ShownFile[] = [];
  const asked = new Set<string>();
  let before: Pick<ReviewAnswered, "answer" | "refused"> | null = null;
  for (let left: number = defaults.review.expansions; ; left--) {
    const { shown, ...inquiry } = reviewInquiry(dossier, { more, files, left });
    const read = (value: unknown) => readReview(value, dossier, shown, files);
    const request = { ...inquiry, maxOutputTokens: defaults.review.outputTokens };
    const reply = await askWithin(deps, deps, open, request, until, (value) => read(value) !== null);
    // Whoever was heard once and cannot be asked again has said what it had to say.
    if (!reply.ok) return (reply.because === "not-asked" ? before : null) ?? noAnswer(reply);
    const said = await withoutSecrets(deps, reply.value, read);
    if (said === null) return { outcome: "failed", because: "the answer does not have the form" };
    const wanted = said.answer.expand.filter((id) => !asked.has(id));
    if (said.answer.drafts.length > 0 || wanted.length === 0 || left === 0) return said;
    before = said;
    for (const id of wanted) asked.add(id);
    files.push(...(await filesFor(deps, ground, dossier, wanted)));
    const places = wanted.flatMap((id) => placeOf(id) ?? []);
    for (const [id, event] of await eventsAt(deps, open.begun.window, places)) more.set(id, event);
  }
}

/** Where nobody was reached, or let in, the window waits; an answer that is none counts against it. */
function noAnswer({ because, message }: Extract<ModelReply, { ok: false }>): Outcome {
  const isReached = because === "time-out" || because === "unusable";
  return { outcome: isReached ? "failed" : "skipped", because: `${because}: ${message}` };
}

/** Asks a model for a review: within what is left of its time, and of its money, which all its calls share. */
async function askWithin(
  deps: ReviewDeps,
  { model, price }: Pick<AskDeps, "model" | "price">,
  open: Open,
  inquiry: Omit<Inquiry, "purpose" | "timeoutMs">,
  until: number,
  isUsable: (value: unknown) => boolean,
): Promise<ModelReply> {
  const { store, clock, allowed, limits } = deps;
  const timeoutMs = Math.min(deps.timeoutMs, until - clock.now());
  if (timeoutMs <= 0)
    return { ok: false, because: "not-asked", message: "its time is over", usage: null, ms: 0 };
  const purpose = purposeOf(open.begun);
  const together = { purpose, usd: allowed.usd, since: open.at, setting: "review.budget" };
  return ask(
    { store, clock, model, price, limits: { ...limits, together } },
    { purpose, ...inquiry, timeoutMs },
    { project: open.project, session: null },
    isUsable,
  );
}

/** What a model said, without secrets; before it is read, which cuts it: part of one could not be told any more. */
async function cleanOf({ redactor }: ReviewDeps, value: unknown): Promise<unknown> {
  return (await scrubAll(redactor, { value })).value;
}

/** An answer as it may be kept. What holds a secret is not proposed without it: nobody knows what it would be then. */
async function withoutSecrets(
  deps: ReviewDeps,
  value: unknown,
  read: (value: unknown) => Pick<ReviewAnswered, "answer" | "refused"> | null,
): Promise<Pick<ReviewAnswered, "answer" | "refused"> | null> {
  const [told, clean] = [read(value), read(await cleanOf(deps, value))];
  if (told === null || clean === null) return null;
  const whole = new Set(clean.answer.drafts.map((draft) => JSON.stringify(draft)));
  const isWhole = (draft: Draft) => whole.has(JSON.stringify(draft));
  const secret = told.answer.drafts.filter((draft) => !isWhole(draft));
  const refused = secret.map((draft) => `${nameIn(draft)}: it holds a secret`);
  return {
    answer: { ...clean.answer, drafts: told.answer.drafts.filter(isWhole) },
    refused: [...clean.refused, ...(await scrubAll(deps.redactor, refused))],
  };
}

/** Makes proposals of an answer's drafts, and publishes what needs nobody's yes. */
async function propose(deps: ReviewDeps, open: Open, answered: ReviewAnswered): Promise<Outcome> {
  const { begun, project } = open;
  const { answer, without = [] } = answered;
  if (answer.drafts.length === 0 && answered.refused.length === 0)
    return { outcome: "nothing", because: inOne([answer.because, ...without]) };
  // What a killed process wrote halfway is ended before anything is looked at.
  await repair(deps);
  const { made, refused, later } = await propound(deps, open, answered);
  const publishes = begun.mode === "auto" && deps.allowed.mode === "auto";
  const published: string[] = [];
  for (const proposal of made)
    if (publishes && (await publish(deps, project, proposal))) published.push(proposal.id);
  const because = inOne([answer.because, ...answered.refused, ...refused, ...without]);
  const proposals = made.map(({ id }) => id);
  if (published.length > 0) return { outcome: "published", because, proposals };
  if (made.length === 0 && later) return { outcome: "skipped", because };
  return { outcome: made.length > 0 ? "proposed" : "refused", because, proposals };
}

function inOne(reasons: readonly string[]): string {
  return [...new Set(reasons)].filter((text) => text !== "").join("; ");
}

/** The proposals of a review, noted all at once: whoever goes on from here finds all of them or none. */
async function propound(
  deps: ReviewDeps,
  { begun, project }: Open,
  answered: ReviewAnswered,
): Promise<{
  readonly made: readonly Proposal[];
  readonly refused: readonly string[];
  /** Whether something may be taken when the same is looked at again. */
  readonly later: boolean;
}> {
  const known = await proposals(deps);
  const before = known.filter(({ review }) => review === begun.review);
  if (before.length > 0) return { made: [...before].reverse(), refused: [], later: false };
  const ground: ProposalGround = {
    review: begun.review,
    project: { id: project, root: await rootOf(deps.store, project) },
    model: answered.model,
    eventsOf: (ids) =>
      ids.flatMap((id) => {
        const place = placeOf(id);
        const run = begun.window.stretches[place?.stretch ?? -1]?.run;
        return place && run !== undefined ? [{ run, ref: place.ref }] : [];
      }),
  };
  const made = new Map<string, Proposal>();
  const refused: string[] = [];
  let later = false;
  for (const draft of answered.answer.drafts) {
    const found = await proposable(deps, draft, ground);
    later ||= "later" in found;
    const because = "because" in found ? found.because : whyNotBeside(made, known, found.proposal);
    if ("because" in found || because !== null) {
      refused.push(`${nameIn(draft)}: ${because}`);
      continue;
    }
    await deps.versions.keep(found.files);
    // What it changes is shown beside it, also when it is something else by then.
    if (found.base !== null) await deps.versions.keep(found.base);
    made.set(found.proposal.path, found.proposal);
  }
  const at = deps.clock.now();
  const entries = [...made.values()].map((data): LedgerEntry => {
    const common = { at, project, session: null, actor: "knack" as const };
    return { ...common, type: "proposal.made", key: `proposal:${data.id}`, data };
  });
  await deps.store.transaction((tx) => note(tx, entries));
  return { made: [...made.values()], refused, later };
}

function whyNotBeside(
  made: ReadonlyMap<string, Proposal>,
  known: readonly ProposalView[],
  proposal: Proposal,
): string | null {
  return made.has(proposal.path) ? "it is proposed twice" : whyNotAgain(known, proposal);
}

/** What was once proposed as it is waits, or was decided about. */
function whyNotAgain(known: readonly ProposalView[], { id, path, before, project }: Proposal): string | null {
  const same = known.find((one) => one.id === id);
  if (same && same.status !== "waiting") return `the same was ${same.status.replace("-", " ")} before`;
  // All that is new would have its draft in one folder, whatever project it is for.
  const isNew = before === null;
  const others = known.filter((one) => one.path === path && (!isNew || one.project === project));
  const statuses = new Set(others.map(({ status }) => status));
  if (statuses.has("waiting")) return "a proposal for it waits in the inbox already";
  // What is new has a place where nothing is: whatever was made there is gone because somebody wanted that.
  if (!isNew) return null;
  if (statuses.has("rejected")) return "something of this name was rejected before";
  if (statuses.has("taken-back")) return "it was made before, and taken back";
  return statuses.has("published") || statuses.has("accepted") ? "it was made before" : null;
}

/** Publishes a proposal that needs nobody's yes; false where it stays one. */
async function publish(deps: ReviewDeps, project: string, proposal: Proposal): Promise<boolean> {
  const status = await statusOf(deps, proposal);
  if (status === "waiting") {
    if (!(await isOwn(deps, proposal))) return false;
    const planning = () => planPublished(deps, proposal);
    const keeping = await perform(deps, planning, "knack", () => []);
    if (!keeping.kept) return false;
  } else if (status !== "published") return false;
  const at = deps.clock.now();
  const { id, review, name } = proposal;
  const kind = proposal.do === "create" ? "learned" : "updated";
  const receipt: LedgerEntry = {
    ...{ at, project, session: null, actor: "knack", type: "receipt.given", key: `receipt:${id}` },
    data: { kind, skill: name, text: receiptFor(kind, name, null), invocation: review },
  };
  await deps.store.transaction((tx) => note(tx, [decided(proposal, "published", at), receipt]));
  return true;
}

/** Notes how a review ended. */
async function end(deps: ReviewDeps, open: Open, came: Outcome): Promise<ReviewEnded> {
  const { begun, project } = open;
  const { review, window } = begun;
  const spent = await spendOn(deps, open);
  const { outcome, because: said, givenUp } = await orGivenUp(deps, open, came, spent);
  const [because = ""] = await deps.redactor.scrub([{ label: "", text: said }]);
  const data: ReviewEnded = {
    review,
    outcome,
    because: because.slice(0, defaults.review.endChars),
    proposals: came.proposals ?? [],
    window,
    ...(givenUp ? { givenUp } : {}),
    calls: spent.calls,
  };
  const common = { at: deps.clock.now(), project, session: null, actor: "knack" as const };
  const entry: LedgerEntry = { ...common, type: "review.ended", key: `review:${review}:ended`, data };
  await deps.store.transaction((tx) => note(tx, [entry]));
  return data;
}

/** What is paid for and comes to nothing has failed; and what failed again and again is not paid for without end. */
async function orGivenUp(
  { store }: ReviewDeps,
  { begun, project }: Open,
  came: Outcome,
  { usd }: Spend,
): Promise<Outcome & Pick<ReviewEnded, "givenUp">> {
  const isVain = came.outcome === "skipped" && usd > 0;
  if (came.outcome !== "failed" && !isVain) return came;
  const givenUp = lookedInVain(await store.ledger.since("review.ended", 0), project, begun.window);
  if (givenUp === null) return { ...came, outcome: "failed" };
  const because = `${came.because}; it failed ${defaults.review.tries} times`;
  return { ...came, outcome: "given-up", because, givenUp };
}

/** What the calls of a review came to so far. */
async function spendOn({ store, clock }: ReviewDeps, { begun, at }: Open): Promise<Spend> {
  const { ledger } = store;
  // A clock may have gone back since.
  const since = Math.min(at, clock.now()) - defaults.model.dayMs;
  const entries = [
    ...(await ledger.since("model.asked", since)),
    ...(await ledger.since("model.called", since)),
  ];
  return spendFor(entries, purposeOf(begun));
}

function purposeOf({ review }: ReviewBegun): string {
  return `review ${review}`;
}

/** The same without asking anybody, and without noting anything. */
export async function previewReview(
  deps: ReviewDeps,
  project: string,
  { asked }: { readonly asked: boolean },
): Promise<ReviewPreview> {
  const { allowed, price } = deps;
  const [open] = (await unfinished(deps.store)).filter((one) => one.project === project);
  const decision = open
    ? goingOn(open)
    : await decisionOn(deps, project, { asked, running: false, dryRun: true });
  const common = { project, decision };
  const nothing = (because: string): ReviewPreview => ({
    ...{ ...common, dossier: null, because, usdAtMost: 0, characters: 0, requests: [] },
  });
  if (decision.because === "not-learned") return nothing(decision.message);
  if (decision.window.stretches.length === 0) return nothing(nothingNew(decision.counters));
  const ground = await groundOf(deps, project, decision.window);
  if (typeof ground === "string") return nothing(ground);
  const ruled = await ruledIn(deps, ground);
  if ("skip" in ruled) return nothing(ruled.skip);
  const dossier = await dossierFor(deps, project, decision.window, ground, ruled.leads);
  const calls = callsFor(deps, dossier, ground);
  return {
    ...{ ...common, dossier, because: null },
    requests: calls.map(({ usd: _, ...request }) => request),
    characters: calls.reduce((sum, { system, prompt }) => sum + system.length + prompt.length, 0),
    usdAtMost: Math.min(allowed.usd, sumOf(calls).least + furtherUsd(dossier, price) + agentsUsd(deps)),
  };
}
