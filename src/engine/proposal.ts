import type { LiveReach } from "../core/change.ts";
import { diffOf } from "../core/diff.ts";
import { KnackError } from "../core/errors.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import type { Proposal, ProposalView } from "../core/review.ts";
import { skillFile } from "../core/skill.ts";
import { type Keeping, perform } from "./keep.ts";
import { note } from "./note.ts";
import { planAccepted, writtenAs } from "./plan-proposal.ts";
import type { PackageFile } from "./ports.ts";
import { diffOfOthers, type History, historyOf, othersIn, type PublishDeps, textOfPackage } from "./step.ts";

/** Everything that reviews proposed, the latest first, and what became of it. */
export async function proposals(deps: PublishDeps): Promise<ProposalView[]> {
  const { ledger } = deps.store;
  const known = await knownOf(deps);
  const views: ProposalView[] = [];
  for (const { at, data } of await ledger.since("proposal.made", 0))
    views.push({ ...data, at: at ?? 0, status: await statusBy(deps, data, known) });
  return views.reverse();
}

/** What became of one. */
export async function statusOf(deps: PublishDeps, proposal: Proposal): Promise<ProposalView["status"]> {
  return statusBy(deps, proposal, await knownOf(deps));
}

/** What tells what became of proposals: people's and reviews' word on them, and all that was written. */
interface Known {
  readonly decisions: ReadonlyMap<string, "accepted" | "rejected" | "published">;
  readonly history: History;
}

async function knownOf({ store }: PublishDeps): Promise<Known> {
  const decided = await store.ledger.since("proposal.decided", 0);
  return {
    decisions: new Map(decided.map(({ data }) => [data.proposal, data.decision])),
    history: await historyOf(store),
  };
}

/** What nobody has decided about waits, unless it was written, or what it is for is something else by now. */
async function statusBy(
  deps: PublishDeps,
  proposal: Proposal,
  { decisions, history }: Known,
): Promise<ProposalView["status"]> {
  const decision = decisions.get(proposal.id);
  if (decision === "rejected") return decision;
  const became = await writtenAs(deps, proposal, history);
  if (became === "taken-back") return became;
  if (decision !== undefined) return decision;
  if (became === "written") return "published";
  return (await isOutdated(deps, proposal)) ? "outdated" : "waiting";
}

/** Whether what a patch was made for is not what is there. */
async function isOutdated({ library }: PublishDeps, { path, before }: Proposal): Promise<boolean> {
  if (before === null) return false;
  const there = await library.read(path).catch(ifUnreadable);
  return there !== "unreadable" && there?.hash !== before;
}

function ifUnreadable(error: unknown): "unreadable" {
  if (error instanceof KnackError) return "unreadable";
  throw error;
}

/** What it would change, also where it cannot be written: the files are kept, whatever became of the place. */
export async function proposalDiff({ versions }: PublishDeps, proposal: ProposalView): Promise<string> {
  const { name, before, after } = proposal;
  const old = before === null ? [] : ((await versions.restore(before)) ?? []);
  const files = (await versions.restore(after)) ?? [];
  const text = (all: readonly PackageFile[]) => (all.length === 0 ? null : textOfPackage(all));
  const others = diffOfOthers(name, othersIn(old), files, true);
  return diffOf(`${name}/${skillFile}`, text(old), text(files)) + others;
}

/** Publishes one because a person says so. */
export async function acceptProposal(
  deps: PublishDeps,
  proposal: ProposalView,
  where: LiveReach | null,
): Promise<Keeping> {
  const keeping = await perform(
    deps,
    () => planAccepted(deps, proposal, where),
    "person",
    () => [],
  );
  if (keeping.kept) await decide(deps, proposal, "accepted");
  return keeping;
}

/** Turns one down; what was proposed is not proposed again as it is. */
export async function rejectProposal(deps: PublishDeps, proposal: ProposalView): Promise<void> {
  await decide(deps, proposal, "rejected");
}

async function decide(
  { store, clock }: PublishDeps,
  proposal: Proposal,
  decision: "accepted" | "rejected",
): Promise<void> {
  const entry: LedgerEntry = { ...decided(proposal, decision, clock.now()), actor: "person" };
  await store.transaction((tx) => note(tx, [entry]));
}

/** The ledger's word on what became of a proposal. */
export function decided(
  { id, project }: Proposal,
  decision: "accepted" | "rejected" | "published",
  at: number,
): LedgerEntry {
  return {
    at,
    project,
    session: null,
    actor: "knack",
    type: "proposal.decided",
    // A person may change their mind, and back.
    key: decision === "published" ? `proposal:${id}:published` : `proposal:${id}:${decision}:${at}`,
    data: { proposal: id, decision },
  };
}
