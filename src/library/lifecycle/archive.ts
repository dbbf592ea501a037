import { dirname } from "node:path";
import {
  type ArchivedArtifact,
  type Artifact,
  type EntryOf,
  foldArchived,
  type Item,
  type ItemKind,
  itemId,
  type KeptArtifact,
  type Lesson,
  type Origin,
  type Skill,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import type { SkillFolder } from "../files/packages.ts";
import { findRejectedGaps, makeGapId, rejectedForGood } from "../gaps/gap.ts";
import { readAuthors } from "../origins.ts";
import {
  accept,
  type ChangeHistory,
  mainText,
  type NewArtifact,
  nullIfDamaged,
  otherFiles,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planChange,
  planCreate,
  projectMissing,
  readFiles,
  readHistory,
  refuse,
} from "../publish/changes.ts";
import {
  isSameTopic,
  measureSkillSimilarity,
  parseSkill,
  sameTopicFrom,
  skillFile,
  titleTerms,
} from "../skill.ts";

/** An archived item with its text. */
type ArchivedItem = ArchivedArtifact & {
  readonly scopeId: string;
  readonly skill: Skill;
  readonly text: string;
};

/** Everything that was archived and can be restored, the latest first. */
export async function listArchived(deps: PublishDeps): Promise<ArchivedItem[]> {
  return readArchived(deps, await foldScoped(deps.store, await readHistory(deps.store)));
}

type ScopedArchive = ArchivedArtifact & { readonly scopeId: string };

async function foldScoped(store: Store, { changes }: ChangeHistory): Promise<ScopedArchive[]> {
  const all = foldArchived(changes.filter(({ state, change }) => state === "made" && change.kind !== "rule"));
  if (all.length === 0) return [];
  const resolveScope = await resolveScopes(store, all);
  return all
    .map((one) => ({ ...one, scopeId: resolveScope(one) }))
    .sort((a, b) => b.at - a.at || (a.path < b.path ? -1 : 1));
}

/** Reads their texts; what cannot be read any more is left out. */
async function readArchived(
  { versions }: PublishDeps,
  all: readonly ScopedArchive[],
  isCandidate: (text: string) => boolean = () => true,
): Promise<ArchivedItem[]> {
  const found: ArchivedItem[] = [];
  for (const one of all) {
    const files = await versions.restore(one.content).catch(nullIfDamaged);
    const text = files ? mainText(files) : "";
    const skill = isCandidate(text) ? parseSkill(text).skill : null;
    if (skill) found.push({ ...one, skill: { ...skill, name: one.name }, text });
  }
  return found;
}

/** Tells whom artifacts are for: the project whose folder has them, or the one that taught them, or the person ("user"). */
export async function resolveScopes(
  store: Store,
  artifacts: readonly Artifact[],
  items: readonly Item[] = [],
): Promise<(artifact: Artifact) => string> {
  const { learning, projects } = store;
  const known = new Map(
    items.map(({ path, scopeId }) => [path.endsWith(`/${skillFile}`) ? dirname(path) : path, scopeId]),
  );
  const byRoot = new Map((await projects.list()).map(({ id, root }) => [root, id]));
  const unsure = artifacts.filter(({ reach, root }) => reach === "draft" || !byRoot.has(root));
  const ids = [...new Set(unsure.flatMap(({ origin, members = [] }) => [origin.id, ...members]))];
  const lessons = new Map((await learning.lessons.get(ids)).map((one) => [one.id, one]));
  const homes = await mapOriginProjects(store, unsure);
  return ({ path, reach, root, origin: { id }, members = [] }) => {
    const scopeId = known.get(path);
    if (scopeId !== undefined) return scopeId;
    const lesson = [id, ...members].map((one) => lessons.get(one)).find((one) => one !== undefined);
    if (reach === "everywhere" || (reach === "draft" && lesson?.scope === "user")) return "user";
    const folder = reach === "draft" ? undefined : byRoot.get(root);
    return folder ?? lesson?.project ?? homes.get(id) ?? "user";
  };
}

/** The projects that asked for or wrote what was made of gaps, learnings and proposals, by the ids of their origins. */
async function mapOriginProjects(
  store: Store,
  made: readonly Pick<Artifact, "origin">[],
): Promise<Map<string, string>> {
  const isGap = made.some(({ origin }) => origin.kind === "gap");
  const prompts = isGap ? await store.ledger.since("prompt.unmatched", 0) : [];
  const authors = await readAuthors(store, made);
  return new Map([
    ...prompts.flatMap((entry) =>
      entry.project === null ? [] : [[makeGapId(entry), entry.project] as const],
    ),
    ...[...authors].map(([id, { project }]) => [id, project] as const),
  ]);
}

/** The archived skill on the same topic in this scope, to restore instead of relearning; not if rejected since. */
export async function archivedLike(
  deps: PublishDeps,
  wanted: Pick<Skill, "name" | "description">,
  { origin, scopeId }: { readonly origin: Origin; readonly scopeId: string },
  history: ChangeHistory,
): Promise<ArchivedItem | null> {
  const all = (await foldScoped(deps.store, history)).filter(
    // A merged skill lives on in the other.
    (one) => one.kind === "skill" && [scopeId, "user"].includes(one.scopeId) && one.replacedBy === undefined,
  );
  const own = all.filter((one) => one.origin.id === origin.id);
  const near =
    own.length > 0
      ? await readArchived(deps, own)
      : (await readArchived(deps, all, (text) => mightBeSameTopic(wanted, text)))
          .filter((one) => isSameTopic(wanted, one.skill))
          .sort((a, b) => measureSkillSimilarity(wanted, b.skill) - measureSkillSimilarity(wanted, a.skill));
  if (near.length === 0) return null;
  const lessons = await deps.store.learning.lessons.get(near.map((one) => one.origin.id));
  const refused = new Set(lessons.flatMap(({ id, state }) => (refusals.has(state.status) ? id : [])));
  const isClosed = await findRejectedGaps(deps, near);
  return near.find((one) => !refused.has(one.origin.id) && !isClosed(one.origin)) ?? null;
}

const refusals: ReadonlySet<string> = new Set(["rejected", "superseded", "conflict-hold"]);

/** Tells whether the skill of a lesson was archived, and nothing was learned about it since. */
export function findArchivedLessons({ changes }: ChangeHistory): (lesson: Lesson) => boolean {
  const all = foldArchived(changes.filter(({ state }) => state === "made"));
  const latest = new Map([...all].sort((a, b) => a.at - b.at).map(({ origin, at }) => [origin.id, at]));
  return ({ id, state }) => (latest.get(id) ?? 0) > state.foundAt;
}

/** Plans to restore what was archived last under a name: the files are byte for byte what they were. */
export async function planRestore(deps: PublishDeps, name: string): Promise<Plan> {
  const history = await readHistory(deps.store);
  const named = (await foldScoped(deps.store, history)).filter((one) => one.name === name);
  const all = await readArchived(deps, named);
  const isClosed = await findRejectedGaps(deps, all);
  const steps: PlannedChange[] = [];
  for (const one of all) {
    const [last] = all as [ArchivedItem];
    if (one.at !== last.at || one.origin.id !== last.origin.id) continue;
    if (isClosed(one.origin)) return refuse(`${name} ${rejectedForGood}`);
    if (!isProjectHere(deps, one)) return refuse(projectMissing);
    if ((await readFiles(deps, one)) !== null) return refuse(`${one.path} exists already`);
    const files = await deps.versions.restore(one.content);
    const content = { hash: one.content, files };
    steps.push(planChange(history, one, "restore", null, content, `it was archived: ${one.because}`));
  }
  return accept(steps);
}

/** Whether the project of an artifact is on this machine. */
export function isProjectHere({ places }: PublishDeps, { reach, root }: Artifact): boolean {
  return reach === "draft" || reach === "everywhere" || places.skills(reach, root, []) !== null;
}

/** The changes that archive artifacts; none for one of which the disk has something else than Knack wrote. */
export async function planArchives(
  deps: PublishDeps,
  kept: readonly KeptArtifact[],
  because: string,
  history: ChangeHistory,
  replacedBy?: Origin,
): Promise<PlannedChange[]> {
  const steps: PlannedChange[] = [];
  for (const one of kept) {
    const found = await readFiles(deps, one);
    if (found?.hash !== one.content) continue;
    const artifact = replacedBy === undefined ? one : { ...one, replacedBy };
    steps.push(planChange(history, artifact, "archive", found, null, because));
  }
  return steps;
}

/** The changes that demote a live item to a draft in all its folders; null if one was changed meanwhile. */
export async function planDemotion(
  deps: PublishDeps,
  kept: readonly KeptArtifact[],
  because: string,
  history: ChangeHistory,
): Promise<PlannedChange[] | null> {
  const [first] = kept as readonly [KeptArtifact];
  const kind = first.kind as ItemKind;
  const drafts = findDraftsFolder(deps, kind);
  const away = await planArchives(deps, kept, because, history);
  if (!drafts || away.length < kept.length) return null;
  const { origin, name, members, content } = first;
  // If a draft of it exists already, that is enough.
  const waits = history.kept.some(
    (one) => one.reach === "draft" && one.origin.id === origin.id && one.name === name,
  );
  if (waits) return away;
  const files = await deps.versions.restore(content);
  if (!files || parseSkill(mainText(files)).skill === null) return null;
  const draft: NewArtifact = {
    ...{ kind, name, text: mainText(files), others: otherFiles(files) },
    ...{ origin, members, reach: "draft", because },
  };
  return [...away, await planCreate(deps, draft, drafts, history)];
}

/** The folder of drafts of a kind. */
export function findDraftsFolder({ places }: PublishDeps, kind: ItemKind): SkillFolder | null {
  const all = kind === "skill" ? places.skills("draft", null, []) : places.files(kind, "draft", null);
  return all?.[0] ?? null;
}

/** The paths of pinned artifacts. */
export async function findPinnedPaths(store: Store, kept: readonly KeptArtifact[]): Promise<Set<string>> {
  const pins = foldPins(await store.ledger.since("skill.pinned", 0));
  if (pins.size === 0) return new Set();
  const resolveScope = await resolveScopes(store, kept);
  const isPinned = (one: KeptArtifact) =>
    one.kind !== "rule" && one.kind !== "page" && pins.has(itemId(resolveScope(one), one.kind, one.name));
  return new Set(kept.filter(isPinned).map(({ path }) => path));
}

/** The ids of pinned items; the latest entry for each item decides. */
export function foldPins(entries: readonly EntryOf<"skill.pinned">[]): Set<string> {
  const inTime = entries.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0) || (a.key < b.key ? -1 : 1));
  const latest = new Map(inTime.map(({ data }) => [data.skill, data.pinned]));
  return new Set([...latest].flatMap(([id, pinned]) => (pinned ? id : [])));
}

/** A cheap test on the raw text, before a skill is parsed: two that share so much of both share as much of one. */
function mightBeSameTopic(wanted: Pick<Skill, "name" | "description">, text: string): boolean {
  const words = [...titleTerms(wanted)];
  const plain = text.toLowerCase();
  const share = plain.includes(wanted.name) ? sameTopicFrom / 2 : sameTopicFrom;
  return words.filter((word) => plain.includes(word)).length >= words.length * share;
}
