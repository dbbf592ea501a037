import { KnackError } from "../../base/index.ts";
import { recordEntries } from "../../lessons/index.ts";
import {
  type ChangeHistory,
  diffPackage,
  findProposalOutcome,
  makeProposal,
  mayPublishUnasked,
  type PublishDeps,
  type PublishResult,
  planReviewProposal,
  projectRoot,
  publishPlan,
  type ReviewContext,
  readHistory,
} from "../../library/index.ts";
import type {
  LedgerEntry,
  LiveReach,
  ReviewAnswered,
  ReviewBegun,
  SkillProposal,
} from "../../records/index.ts";
import { composeReceipt } from "../protocol.ts";
import { parseDossierRef } from "./dossier.ts";
import { nameDraft } from "./question.ts";

type ProposalDecision = "accepted" | "rejected" | "published";

/** A proposal and its status. */
export interface ProposalView extends SkillProposal {
  readonly at: number;
  /** `taken-back`: it was written, and somebody undid that. */
  readonly status: "waiting" | "accepted" | "rejected" | "published" | "outdated" | "taken-back";
}

/** Every proposal of a review, the latest first. */
export async function listProposals(deps: PublishDeps): Promise<ProposalView[]> {
  const facts = await readStatusFacts(deps);
  const views: ProposalView[] = [];
  for (const { at, data } of await deps.store.ledger.since("proposal.made", 0))
    views.push({ ...data, at: at ?? 0, status: await findStatus(deps, data, facts) });
  return views.reverse();
}

interface StatusFacts {
  readonly decisions: ReadonlyMap<string, ProposalDecision>;
  readonly history: ChangeHistory;
}

async function readStatusFacts({ store }: PublishDeps): Promise<StatusFacts> {
  const decided = await store.ledger.since("proposal.decided", 0);
  return {
    decisions: new Map(decided.map(({ data }) => [data.proposal, data.decision])),
    history: await readHistory(store),
  };
}

/** Without a decision a proposal waits, unless it was written, or the skill it is for has changed. */
async function findStatus(
  deps: PublishDeps,
  proposal: SkillProposal,
  { decisions, history }: StatusFacts,
): Promise<ProposalView["status"]> {
  const decision = decisions.get(proposal.id);
  if (decision === "rejected") return decision;
  const became = await findProposalOutcome(deps, proposal, history);
  if (became === "taken-back") return became;
  if (decision !== undefined) return decision;
  if (became === "written") return "published";
  return (await isOutdated(deps, proposal)) ? "outdated" : "waiting";
}

async function isOutdated({ library }: PublishDeps, { path, before }: SkillProposal): Promise<boolean> {
  if (before === null) return false;
  try {
    return (await library.read(path))?.hash !== before;
  } catch (error) {
    // A package that cannot be read now may be readable later.
    if (error instanceof KnackError) return false;
    throw error;
  }
}

/** The change that a proposal makes, also where it can no longer be written. */
export async function renderProposal({ versions }: PublishDeps, proposal: ProposalView): Promise<string> {
  const { name, before, after } = proposal;
  const old = before === null ? null : await versions.restore(before);
  return diffPackage({ kind: "skill", name }, old, await versions.restore(after));
}

/** Publishes a proposal because a person says so. */
export async function acceptProposal(
  deps: PublishDeps,
  proposal: ProposalView,
  where: LiveReach | null,
): Promise<PublishResult> {
  const keeping = await publishPlan(deps, () => planReviewProposal(deps, proposal, where), "person");
  if (keeping.kept) await recordDecision(deps, proposal, "accepted");
  return keeping;
}

/** Turns a proposal down: the same is not proposed again. */
export async function rejectProposal(deps: PublishDeps, proposal: ProposalView): Promise<void> {
  await recordDecision(deps, proposal, "rejected");
}

async function recordDecision(
  { store, clock }: PublishDeps,
  { id, project }: SkillProposal,
  decision: ProposalDecision,
  more: readonly LedgerEntry[] = [],
): Promise<void> {
  const at = clock.now();
  const entry: LedgerEntry = {
    ...{ at, project, session: null, type: "proposal.decided", data: { proposal: id, decision } },
    actor: decision === "published" ? "knack" : "person",
    // A person may change their mind, and back.
    key: decision === "published" ? `proposal:${id}:published` : `proposal:${id}:${decision}:${at}`,
  };
  await store.transaction((tx) => recordEntries(tx, [entry, ...more]));
}

/** The proposals of one review. */
interface ReviewProposals {
  readonly made: readonly SkillProposal[];
  readonly refused: readonly string[];
  /** Whether a refused draft may be accepted when the same is reviewed again. */
  readonly later: boolean;
}

/** Makes proposals of a review's drafts, recorded all at once: whoever continues finds all of them or none. */
export async function makeProposals(
  deps: PublishDeps,
  project: string,
  begun: ReviewBegun,
  answered: ReviewAnswered,
): Promise<ReviewProposals> {
  const known = await listProposals(deps);
  const before = known.filter(({ review }) => review === begun.review);
  if (before.length > 0) return { made: before.reverse(), refused: [], later: false };
  const ground = await describeSource(deps, project, begun, answered.model);
  const made = new Map<string, SkillProposal>();
  const refused: string[] = [];
  let later = false;
  for (const draft of answered.answer.drafts) {
    const found = await makeProposal(deps, draft, ground);
    later ||= "later" in found;
    const because = "because" in found ? found.because : findConflict(made, known, found.proposal);
    if ("because" in found || because !== null) {
      refused.push(`${nameDraft(draft)}: ${because}`);
      continue;
    }
    await deps.versions.keep(found.files);
    // Kept too, so that the diff can be shown when the skill has changed.
    if (found.base !== null) await deps.versions.keep(found.base);
    made.set(found.proposal.path, found.proposal);
  }
  const at = deps.clock.now();
  const entries = [...made.values()].map((data): LedgerEntry => {
    const common = { at, project, session: null, actor: "knack" as const };
    return { ...common, type: "proposal.made", key: `proposal:${data.id}`, data };
  });
  await deps.store.transaction((tx) => recordEntries(tx, entries));
  return { made: [...made.values()], refused, later };
}

async function describeSource(
  { store }: PublishDeps,
  project: string,
  { review, window }: ReviewBegun,
  model: string,
): Promise<ReviewContext> {
  return {
    ...{ review, model, project: { id: project, root: await projectRoot(store, project) } },
    eventsOf: (ids) =>
      ids.flatMap((id) => {
        const event = parseDossierRef(id);
        const run = window.stretches[event?.stretch ?? -1]?.run;
        return event && run !== undefined ? [{ run, ref: event.ref }] : [];
      }),
  };
}

/** Why a proposal is not made beside others, or again. */
function findConflict(
  made: ReadonlyMap<string, SkillProposal>,
  known: readonly ProposalView[],
  { id, path, before, project }: SkillProposal,
): string | null {
  if (made.has(path)) return "it is proposed twice";
  const same = known.find((one) => one.id === id);
  if (same && same.status !== "waiting") return `the same was ${same.status.replace("-", " ")} before`;
  // Drafts of all projects share one folder.
  const isNew = before === null;
  const others = known.filter((one) => one.path === path && (!isNew || one.project === project));
  const statuses = new Set(others.map(({ status }) => status));
  if (statuses.has("waiting")) return "a proposal for it is waiting already";
  // A new skill goes where nothing is: what was made there before is gone because somebody wanted that.
  if (!isNew) return null;
  if (statuses.has("rejected")) return "a skill of this name was rejected before";
  if (statuses.has("taken-back")) return "it was made before, and taken back";
  return statuses.has("published") || statuses.has("accepted") ? "it was made before" : null;
}

/** Publishes a proposal that needs nobody's yes; false where it stays a proposal. */
export async function publishProposal(
  deps: PublishDeps,
  project: string,
  proposal: SkillProposal,
): Promise<boolean> {
  const status = await findStatus(deps, proposal, await readStatusFacts(deps));
  if (status === "waiting") {
    if (!(await mayPublishUnasked(deps, proposal))) return false;
    const keeping = await publishPlan(deps, () => planReviewProposal(deps, proposal, "draft"), "knack");
    if (!keeping.kept) return false;
  } else if (status !== "published") return false;
  const { id, review, name } = proposal;
  const kind = proposal.do === "create" ? "learned" : "updated";
  const receipt: LedgerEntry = {
    ...{ at: deps.clock.now(), project, session: null, actor: "knack", type: "receipt.given" },
    ...{
      key: `receipt:${id}`,
      data: { kind, skill: name, text: composeReceipt(kind, name, null), invocation: review },
    },
  };
  await recordDecision(deps, proposal, "published", [receipt]);
  return true;
}
