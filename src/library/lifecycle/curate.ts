import { type Item, itemId, type Origin, type Skill } from "../../records/index.ts";
import { mayBeWritten } from "../../trust/index.ts";
import {
  accept,
  type ChangeHistory,
  mainText,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planRewrite,
  readHistory,
  refuse,
} from "../publish/changes.ts";
import { type PublishResult, publishPlan } from "../publish/publish.ts";
import { listPublished, type PublishedItem } from "../publish/published.ts";
import { parseSkill, renderSkill, scanSkill } from "../skill.ts";
import { pin, planArchive, planDemotion, resolveScopes } from "./archive.ts";
import { type StockedItem, takeInventory } from "./inventory.ts";
import { type CurationProposal, findRoom, measureRoom, proposeCuration, type RoomUse } from "./proposals.ts";

/** A proposal with the changes that carry it out. */
export interface PlannedProposal extends CurationProposal {
  readonly paths: readonly string[];
  readonly steps: readonly PlannedChange[];
}

export interface Curation {
  readonly proposals: readonly PlannedProposal[];
  readonly rooms: readonly RoomUse[];
}

/** What should be archived, merged or shortened in the library; nothing is changed. */
export async function planCuration(deps: PublishDeps, items: readonly Item[]): Promise<Curation> {
  const history = await readHistory(deps.store);
  const inventory = await takeInventory(deps, items, history);
  const byKey = new Map(inventory.map((one) => [one.key, one]));
  const proposals: PlannedProposal[] = [];
  for (const proposal of proposeCuration(inventory, deps.clock.now())) {
    const paths = byKey.get(proposal.about)?.paths ?? [];
    const steps = await planProposal(deps, proposal, byKey, history);
    proposals.push(
      typeof steps === "string"
        ? { ...proposal, paths, steps: [], action: "none", spared: steps }
        : { ...proposal, paths, steps },
    );
  }
  return { proposals, rooms: measureRoom(inventory) };
}

/** Carries the proposals out, all of them or those for these names, as one change that can be undone. */
export async function curate(
  deps: PublishDeps,
  items: readonly Item[],
  only: ReadonlySet<string> | null = null,
): Promise<PublishResult> {
  return publishPlan(
    deps,
    async () => {
      const { proposals } = await planCuration(deps, items);
      const wanted = proposals.filter(({ name }) => only === null || only.has(name));
      return accept(wanted.flatMap(({ steps }) => steps));
    },
    "person",
  );
}

/** Whether one more skill may go live in a scope, and the changes that archive another for it. */
export type RoomAnswer =
  | { readonly room: true; readonly steps: readonly PlannedChange[] }
  | { readonly room: false };

export type AskForRoom = (
  scopeId: string,
  wanted: Pick<Skill, "name" | "description">,
) => Promise<RoomAnswer>;

/** Makes room for a skill that nobody accepted: only what nobody would miss is archived for it. */
export async function makeRoom(
  deps: PublishDeps,
  items: readonly Item[],
  scopeId: string,
  wanted: Pick<Skill, "name" | "description">,
): Promise<RoomAnswer> {
  const history = await readHistory(deps.store);
  const inventory = await takeInventory(deps, items, history);
  const answer = findRoom(inventory, scopeId, wanted, deps.clock.now());
  if (answer.room) return { room: true, steps: [] };
  const going = inventory.find(({ key }) => key === answer.instead?.key);
  if (!going) return { room: false };
  const because = `it never helped, and made room for ${wanted.name}`;
  const steps = await planArchives(deps, going.kept, because, history);
  return steps ? { room: true, steps } : { room: false };
}

/** A plan that makes something live without a person's yes, together with what is archived to make room. */
export async function withRoom(
  planned: Extract<Plan, { ok: true }>,
  roomFor: AskForRoom,
  scopeId: string,
): Promise<Plan> {
  const made = planned.steps.find(({ change }) => change.before === null && change.reach !== "draft");
  const skill = made?.files ? parseSkill(mainText(made.files)).skill : null;
  if (!skill) return planned;
  const answer = await roomFor(scopeId, skill);
  if (!answer.room) return refuse("there is no room: all learned skills here are needed");
  return { ...planned, steps: [...answer.steps, ...planned.steps] };
}

/** The changes of a proposal, or why there are none. */
async function planProposal(
  deps: PublishDeps,
  proposal: CurationProposal,
  byKey: ReadonlyMap<string, StockedItem>,
  history: ChangeHistory,
): Promise<readonly PlannedChange[] | string> {
  const about = byKey.get(proposal.about)?.kept ?? [];
  const because = `${proposal.reason}: ${proposal.because}`;
  switch (proposal.action) {
    case "none":
      return [];
    case "archive":
      return (await planArchives(deps, about, because, history)) ?? changedMeanwhile;
    case "draft":
      return (await planDemotion(deps, about, because, history)) ?? changedMeanwhile;
    case "shorten":
      return planRewrites(deps, about, proposal.skill as Skill, because, history);
    case "merge":
      return planMerge(deps, proposal, about, byKey.get(proposal.other ?? "")?.kept ?? [], history);
  }
}

const changedMeanwhile = "it was changed meanwhile";

async function planMerge(
  deps: PublishDeps,
  { name, skill, reason, because }: CurationProposal,
  worse: readonly PublishedItem[],
  better: readonly PublishedItem[],
  history: ChangeHistory,
): Promise<readonly PlannedChange[] | string> {
  for (const { path } of worse)
    if (((await deps.library.read(path))?.files.length ?? 0) > 1) return `${name} has files of its own`;
  // From now on the better one belongs to the other's lesson too, and grows with it.
  const lesson = worse[0]?.origin as Origin;
  const both = better.map((one) => ({ ...one, origin: lesson }));
  const joined = `it says what ${name} said too`;
  const rewrites = await planRewrites(deps, both, skill as Skill, joined, history);
  if (typeof rewrites === "string") return rewrites;
  const archives = await planArchives(deps, worse, `${reason}: ${because}`, history, lesson);
  return archives ? [...rewrites, ...archives] : changedMeanwhile;
}

async function planArchives(
  deps: PublishDeps,
  kept: readonly PublishedItem[],
  because: string,
  history: ChangeHistory,
  replacedBy?: Origin,
): Promise<PlannedChange[] | null> {
  const steps: PlannedChange[] = [];
  for (const one of kept) {
    const step = await planArchive(deps, one, because, history, replacedBy);
    if (!step) return null;
    steps.push(step);
  }
  return steps;
}

/** The changes that give a skill another text in all its folders. */
async function planRewrites(
  deps: PublishDeps,
  kept: readonly PublishedItem[],
  skill: Skill,
  because: string,
  history: ChangeHistory,
): Promise<PlannedChange[] | string> {
  const [text = ""] = await deps.redactor.scrub([{ label: "skill", text: renderSkill(skill) }]);
  const { skill: clean } = parseSkill(text);
  if (!clean || !mayBeWritten(scanSkill(clean))) return "the text may not be written";
  const steps: PlannedChange[] = [];
  for (const one of kept) {
    const current = await deps.library.read(one.path);
    if (current?.hash !== one.content) return changedMeanwhile;
    steps.push(planRewrite(deps, one, current, text, history, because));
  }
  return steps;
}

/** Pins or unpins everything of a name; answers with what that is. */
export async function pinNamed(
  deps: PublishDeps,
  items: readonly Item[],
  name: string,
  pinned: boolean,
): Promise<{ readonly id: string; readonly name: string; readonly scopeId: string }[]> {
  const own = (await listPublished(deps)).filter((one) => one.name === name);
  const scopeOf = await resolveScopes(deps.store, own, items);
  const named = [
    ...own.flatMap((one) =>
      one.kind === "rule" ? [] : { id: itemId(scopeOf(one), one.kind, name), scopeId: scopeOf(one) },
    ),
    ...items.filter((item) => item.name === name),
  ].map(({ id, scopeId }) => ({ id, name, scopeId }));
  const distinct = [...new Map(named.map((one) => [one.id, one])).values()];
  for (const one of distinct) await pin(deps, one, pinned);
  return distinct;
}
