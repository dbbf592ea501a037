import { dirname } from "node:path";
import { groupBy } from "../../base/index.ts";
import { foldCredits, ratedItemId, recordEntries } from "../../lessons/index.ts";
import { readCredits } from "../../recall/index.ts";
import {
  artifactKey,
  type EntryOf,
  type Item,
  type ItemKind,
  itemId,
  type LedgerEntry,
  type Origin,
  type Skill,
  type StoredFinding,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { hasGapId, listGaps } from "../gaps/gap.ts";
import { type PublishResult, publishPlan } from "../publish/apply.ts";
import {
  accept,
  type ChangeHistory,
  findLatestChanges,
  isTakeBack,
  mainText,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planRewrite,
  readHistory,
  refuse,
} from "../publish/changes.ts";
import { listPublished, type PublishedItem } from "../publish/lessons.ts";
import { planAcceptDrafts } from "../publish/open-publishing.ts";
import { checkText } from "../publish/plan.ts";
import { parseSkill, renderSkill } from "../skill.ts";
import { foldPins, planArchives, planDemotion, resolveScopes } from "./archive.ts";
import { CurationRules, type InventoryItem, judgeUse } from "./proposals.ts";

type ProposedCuration = ReturnType<CurationRules["propose"]>[number];

/** A proposal with the changes that carry it out. */
type PlannedProposal = ProposedCuration & {
  readonly paths: readonly string[];
  readonly steps: readonly PlannedChange[];
};

type Curation = {
  readonly proposals: readonly PlannedProposal[];
  readonly rooms: ReturnType<CurationRules["measureRooms"]>;
};

/** Keeps the library small and true. `refuses` says why a project is skipped; null if it is not. */
export function openCurator(
  deps: PublishDeps,
  library: {
    readonly items: () => Promise<readonly Item[]>;
    readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  },
) {
  /** Plans what to archive, merge, demote or shorten, with the changes. */
  const curation = async (): Promise<Curation> => {
    const history = await readHistory(deps.store);
    const inventory = await takeInventory(deps, await library.items(), history);
    const rules = new CurationRules(inventory, deps.clock.now());
    const byKey = new Map(inventory.map((one) => [one.key, one]));
    const proposals: PlannedProposal[] = [];
    for (const proposal of rules.propose()) {
      const paths = byKey.get(proposal.about)?.paths ?? [];
      const steps = await planProposal(deps, proposal, byKey, history);
      proposals.push(
        typeof steps === "string"
          ? { ...proposal, paths, steps: [], action: "none", spared: steps }
          : { ...proposal, paths, steps },
      );
    }
    return { proposals, rooms: rules.measureRooms() };
  };
  /** Adds to a plan that makes an unaccepted skill live the archiving of a dispensable item, if room is needed. */
  const makeRoom = async (planned: Plan, scopeId: string): Promise<Plan> => {
    const steps = planned.ok ? planned.steps : [];
    const made = steps.find(({ change }) => change.before === null && change.reach !== "draft");
    const wanted = made?.files ? parseSkill(mainText(made.files)).skill : null;
    if (!planned.ok || !wanted) return planned;
    const history = await readHistory(deps.store);
    const inventory = await takeInventory(deps, await library.items(), history);
    const answer = new CurationRules(inventory, deps.clock.now()).findRoom(scopeId, wanted);
    if (answer.room) return planned;
    const going = inventory.find(({ key }) => key === answer.instead?.key);
    const because = `it never helped, and made room for ${wanted.name}`;
    const away = going ? await planArchives(deps, going.kept, because, history) : [];
    return going && away.length === going.kept.length
      ? { ...planned, steps: [...away, ...steps] }
      : refuse("there is no room: all learned skills here are needed");
  };
  return {
    curation,
    makeRoom,
    /** Carries the proposals out, all of them or those for these names, as one change that can be undone. */
    curate: (only: ReadonlySet<string> | null = null): Promise<PublishResult> =>
      publishPlan(
        deps,
        async () => {
          const wanted = (await curation()).proposals.filter(({ name }) => only === null || only.has(name));
          return accept(wanted.flatMap(({ steps }) => steps));
        },
        "person",
      ),
    /** Pins or unpins everything of a name, so that Knack leaves it alone; answers with what that is. */
    pin: async (name: string, pinned: boolean) => pinNamed(deps, await library.items(), name, pinned),
    /**
     * Lets drafts go live that helped two sessions, and demotes live skills that harmed two. What a person accepted,
     * pinned, edited or took back is left alone. Only ratings since the skill was put where it is count.
     */
    probation: async (): Promise<ProbationMove[]> => {
      const moves: ProbationMove[] = [];
      for (const item of await listOnProbation(deps, library.refuses)) {
        const [first] = item.kept as [PublishedItem];
        const move = decideMove(item, first);
        if (move === null) continue;
        const plan = async () =>
          move.to === "draft"
            ? planReturn(deps, item, `harmful: ${move.because}`)
            : makeRoom(await planAcceptDrafts(deps, [first], "me"), item.scopeId);
        const done = await publishPlan(deps, plan, "knack");
        if (done.kept && done.outcomes.some((outcome) => outcome.done && !outcome.already)) moves.push(move);
      }
      return moves;
    },
  };
}

/** The changes of a proposal, or why there are none. */
async function planProposal(
  deps: PublishDeps,
  proposal: ProposedCuration,
  byKey: ReadonlyMap<string, StockedItem>,
  history: ChangeHistory,
): Promise<readonly PlannedChange[] | string> {
  const about = byKey.get(proposal.about)?.kept ?? [];
  const because = `${proposal.reason}: ${proposal.because}`;
  switch (proposal.action) {
    case "none":
      return [];
    case "archive":
      return allArchived(about, await planArchives(deps, about, because, history));
    case "draft":
      return (await planDemotion(deps, about, because, history)) ?? changedMeanwhile;
    case "shorten":
      return planRewrites(deps, about, proposal.skill as Skill, because, history);
    case "merge":
      return planMerge(deps, proposal, about, byKey.get(proposal.other ?? "")?.kept ?? [], history);
  }
}

const changedMeanwhile = "it was changed meanwhile";

function allArchived(kept: readonly PublishedItem[], steps: PlannedChange[]): PlannedChange[] | string {
  return steps.length === kept.length ? steps : changedMeanwhile;
}

async function planMerge(
  deps: PublishDeps,
  { name, skill, reason, because }: ProposedCuration,
  worse: readonly PublishedItem[],
  better: readonly PublishedItem[],
  history: ChangeHistory,
): Promise<readonly PlannedChange[] | string> {
  for (const { path } of worse)
    if (((await deps.library.read(path))?.files.length ?? 0) > 1) return `${name} has files of its own`;
  // From now on the better one belongs to the other's lesson too, and grows with it.
  const lesson = worse[0]?.origin as Origin;
  const both = better.map((one) => ({ ...one, origin: lesson }));
  const rewrites = await planRewrites(deps, both, skill as Skill, `it says what ${name} said too`, history);
  if (typeof rewrites === "string") return rewrites;
  const archives = await planArchives(deps, worse, `${reason}: ${because}`, history, lesson);
  return archives.length === worse.length ? [...rewrites, ...archives] : changedMeanwhile;
}

/** The changes that give a skill another text in all its folders. */
async function planRewrites(
  deps: PublishDeps,
  kept: readonly PublishedItem[],
  skill: Skill,
  because: string,
  history: ChangeHistory,
): Promise<PlannedChange[] | string> {
  const checked = await checkText(deps, "skill", renderSkill(skill));
  if (typeof checked === "string") return checked;
  const steps: PlannedChange[] = [];
  for (const one of kept) {
    const current = await deps.library.read(one.path);
    if (current?.hash !== one.content) return changedMeanwhile;
    steps.push(planRewrite(history, one, current, checked.text, because));
  }
  return steps;
}

async function pinNamed(deps: PublishDeps, items: readonly Item[], name: string, pinned: boolean) {
  const own = (await listPublished(deps)).filter((one) => one.name === name);
  const resolveScope = await resolveScopes(deps.store, own, items);
  const named = [
    ...own.flatMap((one) =>
      one.kind === "rule"
        ? []
        : { id: itemId(resolveScope(one), one.kind, name), scopeId: resolveScope(one) },
    ),
    ...items.filter((item) => item.name === name),
  ].map(({ id, scopeId }) => ({ id, name, scopeId }));
  const distinct = [...new Map(named.map((one) => [one.id, one])).values()];
  const at = deps.clock.now();
  const entries = distinct.map(
    ({ id, scopeId }): EntryOf<"skill.pinned"> => ({
      ...{ at, project: scopeId === "user" ? null : scopeId, session: null, actor: "person" },
      ...{ type: "skill.pinned", key: `pinned:${id}:${at}`, data: { skill: id, name, pinned } },
    }),
  );
  await deps.store.transaction((tx) => recordEntries(tx, entries));
  return distinct;
}

/** A skill that moved by what it was worth in use. */
type ProbationMove = {
  readonly name: string;
  readonly origin: Origin;
  readonly to: "live" | "draft";
  readonly because: string;
};

function decideMove(item: StockedItem, { name, origin }: PublishedItem): ProbationMove | null {
  const judged = judgeUse(item);
  if (judged === "harmful" && item.reach !== "draft")
    return { name, origin, to: "draft", because: `it did harm in ${item.harmed} sessions` };
  return judged === "proven" && item.reach === "draft"
    ? { name, origin, to: "live", because: `it helped in ${item.helped} sessions` }
    : null;
}

/** The skills that are where they are by Knack's word alone. The ledger knows them: a library, which may be large, is not read. */
async function listOnProbation(
  deps: PublishDeps,
  refuses: (root: string | null, id: string) => Promise<string | null>,
): Promise<StockedItem[]> {
  const { store } = deps;
  const history = await readHistory(store);
  const roots = new Map((await store.projects.list()).map(({ id, root }) => [id, root]));
  const found: StockedItem[] = [];
  for (const item of buildOwnItems(await readFacts(deps, [], history))) {
    const [first] = item.kept as [PublishedItem];
    if (item.kind !== "skill" || item.pinned || item.edited || item.approved) continue;
    if (item.reach === "draft" && item.kept.some(({ held }) => held !== undefined)) continue;
    if (findLatestChanges(history, first.origin).some(isTakeBack)) continue;
    // A gap's draft goes live by being asked for.
    if (first.origin.kind === "gap" && (item.reach === "draft" || (await isDecided(deps, first.origin))))
      continue;
    const project = await findProject(deps, first);
    if (project === null || (await refuses(roots.get(project) ?? null, project)) !== null) continue;
    found.push(item);
  }
  return found;
}

/** Whether a person promoted or rejected the gap. */
async function isDecided({ store }: PublishDeps, { id }: Origin): Promise<boolean> {
  const gap = (await listGaps({ store })).find((one) => hasGapId(one, id));
  const decided = await store.ledger.since("gap.decided", 0);
  return gap === undefined || decided.some(({ data }) => hasGapId(gap, data.gap));
}

/** The project it comes from; null if its lesson is gone. */
async function findProject({ store }: PublishDeps, one: PublishedItem): Promise<string | null> {
  if (one.askedIn !== null) return one.askedIn;
  const [lesson] = await store.learning.lessons.get([...(one.members ?? [one.origin.id])]);
  return lesson?.project ?? null;
}

async function planReturn(deps: PublishDeps, { kept, skill }: StockedItem, because: string): Promise<Plan> {
  const steps = await planDemotion(deps, kept, because, await readHistory(deps.store));
  return steps ? accept(steps) : refuse(`${skill.name} was changed meanwhile`);
}

/** An inventory item with its files, if Knack wrote it. */
interface StockedItem extends InventoryItem {
  readonly kept: readonly PublishedItem[];
  readonly paths: readonly string[];
}

/** Everything in the library, with what it earned and who mentions it. */
async function takeInventory(
  deps: PublishDeps,
  items: readonly Item[],
  history: ChangeHistory,
): Promise<StockedItem[]> {
  const facts = await readFacts(deps, items, history);
  const mentions = await findMentions(deps, facts.kept, items);
  const paths = new Set(facts.kept.map(({ path }) => path));
  const others = items.filter(
    ({ kind, path, draft }) => kind === "skill" && !draft && !paths.has(dirname(path)),
  );
  return [
    ...buildOwnItems(facts).map((one) => ({ ...one, namedIn: mentions.get(one.skill.name) ?? null })),
    ...others.map((item) => buildForeignItem(item, facts)),
  ];
}

/** Facts about all published items, read once. */
type InventoryFacts = Awaited<ReturnType<typeof readFacts>>;

async function readFacts(deps: PublishDeps, items: readonly Item[], { changes }: ChangeHistory) {
  const { store } = deps;
  const kept = (await listPublished(deps)).filter(isManaged);
  const findings = await store.learning.findings.ofLessons([...new Set(kept.flatMap(listLessonIds))]);
  const { entries, nameOf } = await readCredits(store, items);
  const placed = changes.filter(({ change, state }) => state === "made" && change.before === null);
  return {
    kept,
    resolveScope: await resolveScopes(store, kept, items),
    pins: foldPins(await store.ledger.since("skill.pinned", 0)),
    /** When each file was placed; a restore resets it. */
    since: new Map(placed.map(({ change, at }) => [artifactKey(change), at])),
    /** Ledger entries by the item or lesson that they count for. */
    uses: groupBy(entries, (entry) => nameOf(ratedItemId(entry) ?? "")),
    findings: groupBy(findings, ({ lessonId }) => lessonId),
    accepted: await readAccepted(store, findings),
  };
}

/** Ids whose last decision is a person's yes. Lessons that were merged have one id now; decisions may name any finding. */
async function readAccepted(store: Store, findings: readonly StoredFinding[]): Promise<Set<string>> {
  const lessonIds = new Map(findings.map(({ id, lessonId }) => [id, lessonId]));
  const decided = await store.ledger.since("lesson.decided", 0);
  const last = new Map(
    decided.map(({ data }) => [lessonIds.get(data.lessonId) ?? data.lessonId, data.decision]),
  );
  return new Set([...last].flatMap(([id, decision]) => (decision === "accepted" ? id : [])));
}

/** Whether Knack made it and it is there. What it only added to is a person's, and a proposal waits for a person. */
function isManaged({ kind, state, changes, text }: PublishedItem): boolean {
  if (kind === "rule" || state === "missing" || state === "unreadable" || state === "proposal") return false;
  return changes[0]?.before === null && parseSkill(text ?? "").skill?.metadata.origin === "knack";
}

function listLessonIds({ origin, members = [], changes }: PublishedItem): string[] {
  return [origin.id, ...members, ...changes.map((one) => one.origin.id)];
}

/** Everything that Knack published and is there. One name in one scope is one item, in however many folders. */
function buildOwnItems(facts: InventoryFacts): StockedItem[] {
  const groups = groupBy(facts.kept, (one) => {
    const id = itemId(facts.resolveScope(one), one.kind as ItemKind, one.name);
    return `${id}${one.reach === "draft" ? " draft" : ""}`;
  });
  return [...groups].map(([key, group]) => buildOwnItem(key, group, facts));
}

function buildOwnItem(key: string, group: readonly PublishedItem[], facts: InventoryFacts): StockedItem {
  const [first] = group as [PublishedItem];
  const kind = first.kind as ItemKind;
  const scopeId = facts.resolveScope(first);
  const id = itemId(scopeId, kind, first.name);
  const lessonIds = [...new Set(group.flatMap(listLessonIds))];
  // What several lessons evolved into is judged by itself: a yes to one of them is no yes to it.
  const ownIds = first.origin.kind === "cluster" ? [first.origin.id] : lessonIds;
  const collectUses = (ids: readonly string[]) => [id, ...ids].flatMap((one) => facts.uses.get(one) ?? []);
  const uses = collectUses(lessonIds);
  const since = Math.max(...group.map((one) => facts.since.get(artifactKey(one)) ?? 0));
  const recent = collectUses(ownIds).filter(({ at }) => (at ?? 0) >= since);
  const sinceThen = sumCredit(recent);
  const found = lessonIds.flatMap((one) => facts.findings.get(one) ?? []).filter(({ at }) => at > since);
  // A gap's skill is shown when its task is asked for, which is a need; its commands are the project's own.
  const isOfGap = group.some((one) => [one, ...one.changes].some(({ origin }) => origin.kind === "gap"));
  const needs = uses.filter((entry) => isNeed(entry) || (isOfGap && entry.type === "skill.shown"));
  return {
    ...{ key, kind, scopeId, owner: "learned", reach: first.reach, kept: group, since, namedIn: null },
    skill: { ...(parseSkill(first.text ?? "").skill as Skill), name: first.name },
    isEvolved: first.origin.kind === "cluster",
    pinned: facts.pins.has(id),
    edited: group.some(({ state }) => state === "edited"),
    approved: ownIds.some((one) => facts.accepted.has(one)),
    neededAt: findLatest([...found, ...needs]),
    credit: sumCredit(uses),
    harmed: sinceThen.harmful,
    helped: sinceThen.helpful,
    condemned: findCondemnation(recent),
    confidence: first.confidence,
    paths: group.map(({ path }) => path),
  };
}

function buildForeignItem(item: Item, facts: InventoryFacts): StockedItem {
  const { id, name, description, body, scopeId, owner } = item;
  const ids = item.source === null ? [id] : [id, item.source];
  const uses = ids.flatMap((one) => facts.uses.get(one) ?? []);
  const credit = sumCredit(uses);
  return {
    ...{ key: id, kind: "skill", scopeId, kept: [], paths: [item.path] },
    skill: { name, description, metadata: {}, body },
    // It may look learned, but what is not on the ledger is somebody else's.
    owner: owner === "learned" ? "imported" : owner,
    ...{ reach: null, namedIn: null, edited: false, approved: true, confidence: null },
    pinned: facts.pins.has(id),
    since: item.changedAt,
    neededAt: findLatest(uses.filter(isNeed)),
    ...{ credit, harmed: credit.harmful, helped: credit.helpful, condemned: findCondemnation(uses) },
  };
}

/** The reason of a person whose latest rating is harmful; null where there is none. */
function findCondemnation(entries: readonly LedgerEntry[]): string | null {
  const latest = entries
    .flatMap((entry) => (entry.type === "use.rated" && entry.actor === "person" ? entry : []))
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
    .at(-1);
  return latest?.data.verdict === "harmful" ? latest.data.because : null;
}

/** Whether it was used, or it helped. */
function isNeed(entry: LedgerEntry): boolean {
  return entry.type === "skill.used" || (entry.type === "use.rated" && entry.data.verdict === "helpful");
}

function findLatest(all: readonly { readonly at: number | null }[]): number | null {
  const times = all.flatMap(({ at }) => at ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

/** Usage of an item and its lessons; a session counts once. */
function sumCredit(entries: readonly LedgerEntry[]): InventoryItem["credit"] {
  const nothing = { shown: 0, used: 0, helpful: 0, harmful: 0, unrated: 0 };
  return foldCredits(new Set(entries), () => "all").get("all") ?? nothing;
}

/** The names of published items that a person's own skills, commands, agents or instructions mention, and where. */
async function findMentions(
  { places, library }: PublishDeps,
  kept: readonly PublishedItem[],
  items: readonly Item[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Set(kept.map(({ name }) => name));
  const own = new Set(kept.map(({ path }) => path));
  const texts: [where: string, text: string][] = items
    .filter(
      ({ owner, draft, path }) => owner !== "core" && !draft && !own.has(path) && !own.has(dirname(path)),
    )
    .map(({ name, body }) => [name, body]);
  const rules = [...new Set(kept.map(({ root }) => root))].flatMap(
    (root) => places.rules("repository", root, ["claude-code", "codex", "gemini"]) ?? [],
  );
  for (const [path, root] of new Map(rules.map((one) => [one.path, one.root]))) {
    const read = await library.readText(path, root);
    if (read.found === "text") texts.push([path.slice(path.lastIndexOf("/") + 1), read.text]);
  }
  const mentions = new Map<string, string>();
  // One pass for all names: a library may have megabytes of text.
  for (const [where, text] of names.size === 0 ? [] : texts)
    for (const [word] of text.matchAll(/[\w-]+/g))
      if (names.has(word) && !mentions.has(word)) mentions.set(word, where);
  return mentions;
}
