import { recordEntries } from "../../lessons/index.ts";
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
import { renderDiff } from "../../text/index.ts";
import type { SkillFolder } from "../files/library.ts";
import { findRejectedGaps, rejectedForGood } from "../gaps/list-gaps.ts";
import { mapOriginProjects } from "../origins.ts";
import {
  accept,
  type ChangeHistory,
  dirname,
  mainFileName,
  mainText,
  makeChange,
  type NewArtifact,
  nullIfDamaged,
  otherFiles,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planCreate,
  projectMissing,
  readFiles,
  readHistory,
  refuse,
} from "../publish/changes.ts";
import {
  isSameTopic,
  measureSkillSimilarity,
  mightBeSameTopic,
  type SkillTitle,
} from "../publish/similarity.ts";
import { parseSkill, skillFile } from "../skill.ts";

/** An archived item with its text. */
export interface ArchivedItem extends ArchivedArtifact {
  readonly scopeId: string;
  readonly skill: Skill;
  readonly text: string;
}

/** Everything that was archived and can be restored, the latest first. */
export async function listArchived(deps: PublishDeps): Promise<ArchivedItem[]> {
  return readArchived(deps, await foldScoped(deps.store, await readHistory(deps.store)));
}

type ScopedArchive = ArchivedArtifact & { readonly scopeId: string };

async function foldScoped(store: Store, { changes }: ChangeHistory): Promise<ScopedArchive[]> {
  const all = foldArchived(changes.filter(({ state, change }) => state === "made" && change.kind !== "rule"));
  const scopeOf = await resolveScopes(store, all);
  return all
    .map((one) => ({ ...one, scopeId: scopeOf(one) }))
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

/** The archived skill about the same thing in this scope, to be restored instead of learned anew; not if it was rejected since. */
export async function archivedLike(
  deps: PublishDeps,
  wanted: SkillTitle,
  { origin, scopeId }: { readonly origin: Origin; readonly scopeId: string },
  history: ChangeHistory,
): Promise<ArchivedItem | null> {
  const all = (await foldScoped(deps.store, history)).filter(
    // A merged skill lives on in the other.
    (one) =>
      one.kind === "skill" &&
      (one.scopeId === scopeId || one.scopeId === "user") &&
      one.replacedBy === undefined,
  );
  const own = all.filter((one) => one.origin.id === origin.id);
  const near =
    own.length > 0
      ? await readArchived(deps, own)
      : (await readArchived(deps, all, (text) => mightBeSameTopic(wanted, text)))
          .filter((one) => isSameTopic(wanted, one.skill))
          .sort((a, b) => measureSkillSimilarity(wanted, b.skill) - measureSkillSimilarity(wanted, a.skill));
  const lessons = await deps.store.learning.lessons.get(near.map((one) => one.origin.id));
  const refused = new Set(lessons.filter(isRefused).map(({ id }) => id));
  const isClosed = await findRejectedGaps(deps, near);
  return near.find((one) => !refused.has(one.origin.id) && !isClosed(one.origin)) ?? null;
}

function isRefused({ state: { status } }: Lesson): boolean {
  return status === "rejected" || status === "superseded" || status === "conflict-hold";
}

/** Tells whether the skill of a lesson was archived, and nothing was learned about it since. */
export function findArchivedLessons({ changes }: ChangeHistory): (lesson: Lesson) => boolean {
  const all = foldArchived(changes.filter(({ state }) => state === "made"));
  const latest = new Map([...all].sort((a, b) => a.at - b.at).map(({ origin, at }) => [origin.id, at]));
  return ({ id, state }) => (latest.get(id) ?? 0) > state.foundAt;
}

/** Plans to restore, of each name, what was archived last: the files are byte for byte what they were. */
export async function planRestore(deps: PublishDeps, names: ReadonlySet<string>): Promise<Plan> {
  const history = await readHistory(deps.store);
  const named = (await foldScoped(deps.store, history)).filter(({ name }) => names.has(name));
  const all = await readArchived(deps, named);
  const last = new Map([...all].reverse().map((one) => [one.name, one]));
  const isClosed = await findRejectedGaps(deps, all);
  const steps: PlannedChange[] = [];
  for (const one of all) {
    const { at, origin } = last.get(one.name) as ArchivedItem;
    if (one.at !== at || one.origin.id !== origin.id) continue;
    if (isClosed(origin)) return refuse(`${one.name} ${rejectedForGood}`);
    const step = await restoreStep(deps, one, history);
    if (typeof step === "string") return refuse(step);
    steps.push(step);
  }
  return accept(steps);
}

async function restoreStep(
  deps: PublishDeps,
  one: ArchivedItem,
  history: ChangeHistory,
): Promise<PlannedChange | string> {
  if (!isProjectHere(deps, one)) return projectMissing;
  if ((await readFiles(deps, one)) !== null) return `${one.path} exists already`;
  const files = await deps.versions.restore(one.content);
  if (!files) return `version ${one.content.slice(0, 12)} is not kept`;
  const change = makeChange(one, null, one.content, "restore", history, `it was archived: ${one.because}`);
  return { change, files, diff: renderDiff(mainFileName(one), null, one.text) };
}

/** Whether the project of an artifact is on this machine. */
export function isProjectHere({ places }: PublishDeps, { reach, root }: Artifact): boolean {
  return reach === "draft" || reach === "everywhere" || places.skills(reach, root, []) !== null;
}

/** The change that archives an artifact; null where the disk has something else than Knack wrote. */
export async function planArchive(
  deps: PublishDeps,
  kept: KeptArtifact,
  because: string,
  history: ChangeHistory,
  replacedBy?: Origin,
): Promise<PlannedChange | null> {
  const found = await readFiles(deps, kept);
  if (found?.hash !== kept.content) return null;
  const artifact = replacedBy === undefined ? kept : { ...kept, replacedBy };
  return {
    change: makeChange(artifact, kept.content, null, "archive", history, because),
    files: null,
    diff: renderDiff(mainFileName(kept), mainText(found.files), null),
  };
}

/** The changes that make a live item, in all its folders, a draft again; null where one was changed meanwhile. */
export async function planDemotion(
  deps: PublishDeps,
  kept: readonly KeptArtifact[],
  because: string,
  history: ChangeHistory,
): Promise<PlannedChange[] | null> {
  const [first] = kept;
  const drafts = first && first.kind !== "rule" ? findDraftsFolder(deps, first.kind) : null;
  if (!first || !drafts) return null;
  const away: PlannedChange[] = [];
  for (const one of kept) {
    const step = await planArchive(deps, one, because, history);
    if (!step) return null;
    away.push(step);
  }
  // If a draft of it exists already, that is enough.
  const waits = history.kept.some(
    ({ reach, origin, name }) => reach === "draft" && origin.id === first.origin.id && name === first.name,
  );
  if (waits) return away;
  const files = await deps.versions.restore(first.content);
  if (!files || parseSkill(mainText(files)).skill === null) return null;
  const draft: NewArtifact = {
    ...{ kind: first.kind as ItemKind, name: first.name, text: mainText(files), others: otherFiles(files) },
    ...{ origin: first.origin, members: first.members, reach: "draft", because },
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
  const scopeOf = await resolveScopes(store, kept);
  return new Set(
    kept.flatMap((one) =>
      one.kind !== "rule" && pins.has(itemId(scopeOf(one), one.kind, one.name)) ? one.path : [],
    ),
  );
}

/** Records that a person pinned or unpinned an item. */
export async function pin(
  { store, clock }: Pick<PublishDeps, "store" | "clock">,
  item: { readonly id: string; readonly name: string; readonly scopeId: string },
  pinned: boolean,
): Promise<void> {
  const at = clock.now();
  const entry: EntryOf<"skill.pinned"> = {
    ...{ at, project: item.scopeId === "user" ? null : item.scopeId, session: null, actor: "person" },
    ...{ type: "skill.pinned", key: `pinned:${item.id}:${at}` },
    data: { skill: item.id, name: item.name, pinned },
  };
  await store.transaction((tx) => recordEntries(tx, [entry]));
}

/** What a person wants left as it is, by the ids of items; the latest word about each counts. */
export function foldPins(entries: Iterable<EntryOf<"skill.pinned">>): Set<string> {
  const latest = new Map<string, EntryOf<"skill.pinned">>();
  for (const entry of entries) {
    const known = latest.get(entry.data.skill);
    if (!known || isLater(entry, known)) latest.set(entry.data.skill, entry);
  }
  return new Set([...latest].flatMap(([id, { data }]) => (data.pinned ? id : [])));
}

function isLater(a: EntryOf<"skill.pinned">, b: EntryOf<"skill.pinned">): boolean {
  const [aAt, bAt] = [a.at ?? 0, b.at ?? 0];
  return aAt > bAt || (aAt === bAt && a.key > b.key);
}
