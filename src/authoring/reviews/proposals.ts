import { KnackError } from "../../base/index.ts";
import { recordEntries } from "../../lessons/index.ts";
import {
  type ChangeHistory,
  diffPackage,
  findHold,
  openPackages,
  type PublishDeps,
  type PublishResult,
  publishPlan,
  readHistory,
  type WrittenPackage,
} from "../../library/index.ts";
import type {
  Event,
  LedgerEntry,
  LiveReach,
  ReviewAnswered,
  ReviewBegun,
  SkillDraft,
  SkillProposal,
} from "../../records/index.ts";
import { composeWritten } from "../protocol.ts";
import { parseDossierRef } from "./dossier.ts";
import { nameDraft } from "./question.ts";

type ProposalDecision = "accepted" | "rejected" | "published";

/** A proposal and its status. */
export interface ProposalView extends SkillProposal {
  readonly at: number;
  /** `taken-back`: it was written and then undone. */
  readonly status: "waiting" | "accepted" | "rejected" | "published" | "outdated" | "taken-back";
}

/** Proposals of reviews and their status. */
export function openProposals(deps: PublishDeps) {
  return {
    /** Every proposal of a review, the latest first. */
    proposals: () => listProposals(deps),
    /** The change that a proposal makes, also where it can no longer be written. */
    proposalDiff: async ({ name, before, after }: ProposalView): Promise<string> => {
      const old = before === null ? null : await deps.versions.restore(before);
      return diffPackage({ kind: "skill", name }, old, await deps.versions.restore(after));
    },
    planProposal: (proposal: ProposalView, where: LiveReach | null = null) =>
      openPackages(deps).planProposal(proposal, where),
    /** Publishes a proposal because a person says so. */
    acceptProposal: async (
      proposal: ProposalView,
      where: LiveReach | null = null,
    ): Promise<PublishResult> => {
      const keeping = await publishPlan(
        deps,
        () => openPackages(deps).planProposal(proposal, where),
        "person",
      );
      if (keeping.kept) await recordDecision(deps, proposal, "accepted");
      return keeping;
    },
    /** Turns a proposal down: the same is not proposed again. */
    rejectProposal: (proposal: ProposalView) => recordDecision(deps, proposal, "rejected"),
    makeProposals: (
      project: string,
      begun: ReviewBegun,
      answer: Pick<ReviewAnswered, "model"> & { readonly drafts: readonly SkillDraft[] },
      shown: readonly string[] = [],
    ) => makeProposals(deps, project, begun, answer, shown),
    publishProposal: (project: string, proposal: SkillProposal) => publishProposal(deps, project, proposal),
  };
}

async function listProposals(deps: PublishDeps): Promise<ProposalView[]> {
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
  const decisions = new Map(decided.map(({ data }) => [data.proposal, data.decision]));
  return { decisions, history: await readHistory(store) };
}

/** Without a decision a proposal waits, unless it was written, or the skill it is for has changed. */
async function findStatus(
  deps: PublishDeps,
  proposal: SkillProposal,
  { decisions, history }: StatusFacts,
): Promise<ProposalView["status"]> {
  const decision = decisions.get(proposal.id);
  if (decision === "rejected") return decision;
  const became = await openPackages(deps).findOutcome(proposal, history);
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

/** Makes proposals of a review's drafts, recorded atomically: a resumed review finds all of them or none. */
async function makeProposals(
  deps: PublishDeps,
  project: string,
  { review, window }: ReviewBegun,
  { drafts, model }: Pick<ReviewAnswered, "model"> & { readonly drafts: readonly SkillDraft[] },
  shown: readonly string[],
): Promise<{
  readonly made: readonly SkillProposal[];
  readonly refused: readonly string[];
  /** Whether a refused draft may be accepted when the same is reviewed again. */
  readonly later: boolean;
}> {
  const known = await listProposals(deps);
  const before = known.filter((one) => one.review === review);
  if (before.length > 0) return { made: before.reverse(), refused: [], later: false };
  const context = {
    ...{ review, model, project: { id: project, root: await openPackages(deps).projectRoot(project) } },
    eventsOf: (ids: readonly string[]) =>
      ids.flatMap((id) => {
        const event = parseDossierRef(id);
        const run = window.stretches[event?.stretch ?? -1]?.run;
        return event && run !== undefined ? [{ run, ref: event.ref }] : [];
      }),
  };
  const made = new Map<string, SkillProposal>();
  const refused: string[] = [];
  let later = false;
  for (const draft of drafts) {
    const found = await openPackages(deps).makeProposal(draft, context);
    later ||= "later" in found;
    const because = "because" in found ? found.because : findConflict(made, known, found.proposal);
    if ("because" in found || because !== null) {
      refused.push(`${nameDraft(draft)}: ${because}`);
      continue;
    }
    const reviewed = await describeReviewed(deps, window, draft, found, context.project);
    const held = await findHold(deps, { ...reviewed, shown });
    await deps.versions.keep(found.files);
    // Kept too, so that the diff can be shown when the skill has changed.
    if (found.base !== null) await deps.versions.keep(found.base);
    made.set(found.proposal.path, { ...found.proposal, ...(held === null ? {} : { held }) });
  }
  const common = { at: deps.clock.now(), project, session: null, actor: "knack" as const };
  const entries = [...made.values()].map(
    (data): LedgerEntry => ({ ...common, type: "proposal.made", key: `proposal:${data.id}`, data }),
  );
  await deps.store.transaction((tx) => recordEntries(tx, entries));
  return { made: [...made.values()], refused, later };
}

/** A reviewer's answer with all that it was shown: the answer is trusted no more than that. */
async function describeReviewed(
  { store }: PublishDeps,
  { stretches }: ReviewBegun["window"],
  { refs }: SkillDraft,
  { files, base }: Pick<WrittenPackage, "files" | "base">,
  { id: project, root }: { readonly id: string; readonly root: string | null },
): Promise<WrittenPackage> {
  const cited: Event[] = [];
  for (const { stretch, ref } of refs.flatMap((one) => parseDossierRef(one) ?? [])) {
    const session = stretches[stretch]?.session;
    if (session !== undefined) cited.push(...(await store.events.some(session, [ref])));
  }
  const seen = stretches.map(({ session, to }) => ({ transcript: session, to }));
  return { files, base, project, root, seen, cited, isFree: base !== null };
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
  // A new skill needs an unused place: an earlier skill there was removed on purpose.
  if (!isNew) return null;
  if (statuses.has("rejected")) return "a skill of this name was rejected before";
  if (statuses.has("taken-back")) return "it was made before, and taken back";
  return statuses.has("published") || statuses.has("accepted") ? "it was made before" : null;
}

/** Publishes a proposal that needs no approval; false where it stays a proposal. */
async function publishProposal(
  deps: PublishDeps,
  project: string,
  proposal: SkillProposal,
): Promise<boolean> {
  const status = await findStatus(deps, proposal, await readStatusFacts(deps));
  if (status !== "waiting" && status !== "published") return false;
  if (status === "waiting") {
    // Words that nobody vouches for may wait as a draft, and change nothing that is live.
    if (proposal.held !== undefined && proposal.before !== null) return false;
    if (!(await openPackages(deps).mayPublishUnasked(proposal))) return false;
    const keeping = await publishPlan(
      deps,
      () => openPackages(deps).planProposal(proposal, "draft"),
      "knack",
    );
    if (!keeping.kept) return false;
  }
  const { id, review, name, held } = proposal;
  const waits = held === undefined ? undefined : { because: held, accept: `skills accept ${name}` };
  const data = { ...composeWritten(name, proposal.do === "create", waits), invocation: review };
  const common = { at: deps.clock.now(), project, session: null, actor: "knack" as const };
  await recordDecision(deps, proposal, "published", [
    { ...common, type: "receipt.given", key: `receipt:${id}`, data },
  ]);
  return true;
}
