import { spendFor } from "../core/budget.ts";
import { idOf } from "../core/ids.ts";
import type { EntryOf, LedgerEntry } from "../core/ledger.ts";
import type { NudgeDecided, Window } from "../core/nudge.ts";
import { policy as defaults } from "../core/policy.ts";
import type {
  Proposal,
  ReviewAnswer,
  ReviewBegun,
  ReviewBundle,
  ReviewEnded,
  ReviewMode,
} from "../core/review.ts";
import { type AskDeps, ask, mostUsd } from "./ask.ts";
import type { CatalogReading } from "./catalog.ts";
import { perform } from "./keep.ts";
import { note } from "./note.ts";
import { nudge, type ReviewLimits } from "./nudge.ts";
import { type ProposalGround, planPublished, proposable } from "./plan-proposal.ts";
import type { Model, ModelReply, ModelRequest, Store } from "./ports.ts";
import { decided, proposals } from "./proposal.ts";
import type { PublishDeps } from "./step.ts";

export interface ReviewDeps extends PublishDeps, Pick<AskDeps, "model" | "limits" | "price"> {
  /** Who is asked first whether there is anything to review. */
  readonly gate: Pick<AskDeps, "model" | "price">;
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
  readonly bundle: ReviewBundle | null;
  /** Why nothing would be sent; null where something would. */
  readonly because: string | null;
  readonly model: Model["name"];
  readonly usdAtMost: number;
  readonly characters: number;
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
  const { store, clock, allowed } = deps;
  const until = clock.now() + defaults.review.longestMs;
  const about = { limits: allowed, asked };
  const held = async (running: boolean) => ({
    project,
    decision: await nudge(deps, project, { ...about, running }),
    ended: null,
    usd: 0,
  });
  if (!(await deps.claim(until))) return held(true);
  try {
    const open = (await unfinished(store)).find((one) => one.project === project);
    if (open && (allowed.unset !== null || (allowed.mode === "off" && !asked))) return await held(false);
    const decision = open
      ? goingOn(open)
      : await nudge(deps, project, { ...about, running: false });
    const root = await rootOf(store, project);
    const refusal = await deps.refuses(root, project);
    if (refusal !== null)
      return { project, decision: { ...decision, run: false, because: "off", message: refusal }, ended: null, usd: 0 };
    if (!decision.run) return { project, decision, ended: null, usd: 0 };
    const begun = await begin(deps, project, { open: open ?? null, asked, decision });
    if (begun === null) return await held(false);
    const ended = await goThrough(deps, begun, until);
    return { project, decision, ended, usd: await spentOn(store, begun) };
  } finally {
    await deps.giveBack();
  }
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

/** Whoever goes on needs no new reason. */
function goingOn({ begun: { window, cause } }: Open): NudgeDecided {
  const counters = { calls: 0, turns: 0, signals: 0, hints: 0, lastReviewAt: null, reviewedUntil: null };
  return { run: true, because: cause, message: "a review that began goes on", counters, window };
}

async function rootOf(store: Store, project: string): Promise<string | null> {
  return (await store.projects.get([project]))[0]?.root ?? null;
}

/**
 * Notes that a review begins, if that still holds when nobody else can note anything: of several who were told to
 * review at once, one begins. Null where it does not hold any more.
 */
async function begin(
  deps: ReviewDeps,
  project: string,
  { open, asked, decision }: { readonly open: Open | null; readonly asked: boolean; readonly decision: NudgeDecided },
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
    const again = await nudge({ ...deps, store: tx }, project, {
      ...{ limits: allowed, asked, running: false, dryRun: true },
    });
    if (!again.run) return null;
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

/** What a review has come to: what is worth asking a model, or how it ends without. */
type Outcome = Pick<ReviewEnded, "outcome" | "because"> & { readonly proposals?: readonly string[] };

/** Takes a review from where it is to its end. */
async function goThrough(deps: ReviewDeps, open: Open, until: number): Promise<ReviewEnded> {
  const { begun } = open;
  if (begun.tries > defaults.review.tries)
    return end(deps, open, { outcome: "failed", because: `it was begun ${defaults.review.tries} times and never ended` });
  const known = await answerOf(deps.store, begun.review);
  const answered = known ?? (await inquire(deps, open, until));
  if ("outcome" in answered) return end(deps, open, answered);
  return end(deps, open, await propose(deps, open, answered));
}

async function answerOf({ ledger }: Store, review: string): Promise<ReviewAnswer | null> {
  const [entry] = await ledger.get([answeredKey(review)]);
  return entry?.type === "review.answered" ? entry.data.answer : null;
}

function answeredKey(review: string): string {
  return `review:${review}:answered`;
}

/** Makes proposals of an answer's drafts, and publishes what needs nobody's yes. */
async function propose(deps: ReviewDeps, open: Open, answer: ReviewAnswer): Promise<Outcome> {
  const { begun, project } = open;
  if (answer.drafts.length === 0) return { outcome: "nothing", because: answer.because };
  // What a killed process wrote halfway is ended before anything is looked at.
  await repair(deps);
  const { made, refused } = await propound(deps, open, answer);
  const publishes = begun.mode === "auto" && deps.allowed.mode === "auto";
  const published: string[] = [];
  for (const proposal of made)
    if (publishes && (await publish(deps, project, proposal))) published.push(proposal.id);
  const because = [answer.because, ...refused].filter((text) => text !== "").join("; ");
  const proposals = made.map(({ id }) => id);
  if (published.length > 0) return { outcome: "published", because, proposals };
  return { outcome: made.length > 0 ? "proposed" : "refused", because, proposals };
}

/** The proposals of a review, noted all at once: whoever goes on from here finds all of them or none. */
async function propound(
  deps: ReviewDeps,
  { begun, project }: Open,
  answer: ReviewAnswer,
): Promise<{ readonly made: readonly Proposal[]; readonly refused: readonly string[] }> {
  const known = await proposals(deps);
  const before = known.filter(({ review }) => review === begun.review);
  if (before.length > 0) return { made: [...before].reverse(), refused: [] };
  const ground: ProposalGround = {
    review: begun.review,
    project: { id: project, root: await rootOf(deps.store, project) },
    model: begun.model,
    eventsOf: (ids) => eventsIn(begun.window, ids),
  };
  const made = new Map<string, Proposal>();
  const refused: string[] = [];
  for (const draft of answer.drafts) {
    const found = await proposable(deps, draft, ground);
    const name = draft.do === "create" ? draft.name : draft.skill;
    const because = "because" in found ? found.because : whyNotAgain(known, found.proposal);
    if ("because" in found || because !== null) {
      refused.push(`${name}: ${because}`);
      continue;
    }
    await deps.versions.keep(found.files);
    made.set(found.proposal.path, found.proposal);
  }
  const at = deps.clock.now();
  const entries = [...made.values()].map((data): LedgerEntry => {
    const common = { at, project, session: null, actor: "knack" as const };
    return { ...common, type: "proposal.made", key: `proposal:${data.id}`, data };
  });
  await deps.store.transaction((tx) => note(tx, entries));
  return { made: [...made.values()], refused };
}

/** What was once proposed as it is waits, or was decided about. */
function whyNotAgain(known: readonly ProposalView[], { id }: Proposal): string | null {
  const before = known.find((one) => one.id === id);
  if (!before) return null;
  return before.status === "waiting" ? "it waits in the inbox already" : `the same was ${before.status} before`;
}

/** Publishes a proposal that needs nobody's yes; false where it stays one. */
async function publish(deps: ReviewDeps, project: string, proposal: Proposal): Promise<boolean> {
  const { status } = (await proposals(deps)).find(({ id }) => id === proposal.id) ?? { status: "waiting" };
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
async function end(deps: ReviewDeps, { begun, project }: Open, came: Outcome): Promise<ReviewEnded> {
  const { review, window } = begun;
  const [because = ""] = await deps.redactor.scrub([{ label: "", text: came.because }]);
  const data: ReviewEnded = {
    review,
    outcome: came.outcome,
    because: because.slice(0, defaults.review.becauseChars),
    proposals: came.proposals ?? [],
    window,
  };
  const common = { at: deps.clock.now(), project, session: null, actor: "knack" as const };
  const entry: LedgerEntry = { ...common, type: "review.ended", key: `review:${review}:ended`, data };
  await deps.store.transaction((tx) => note(tx, [entry]));
  return data;
}

/** What the calls of a review came to so far. */
async function spentOn({ ledger }: Store, { begun, at }: Open): Promise<number> {
  const entries = [...(await ledger.since("model.asked", at)), ...(await ledger.since("model.called", at))];
  return spendFor(entries, { purpose: purposeOf(begun), since: at }).usd;
}

function purposeOf({ review }: ReviewBegun): string {
  return `review ${review}`;
}
