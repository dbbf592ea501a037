import {
  type Artifact,
  type AuthoringFault,
  createFault,
  type KeptArtifact,
  type Origin,
  type Reach,
  type Skill,
} from "../../records/index.ts";
import type { PackageFile, SkillFolder } from "../files/library.ts";
import { archivedLike } from "../lifecycle/archive.ts";
import { knackFacts, packageOwner, packageText } from "../package.ts";
import { parseSkill, renderSkill, skillFile } from "../skill.ts";
import {
  accept,
  type ChangeHistory,
  diffPackage,
  dirname,
  encodeText,
  mainText,
  makeChange,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  readHistory,
  refuse,
} from "./changes.ts";
import { findTakenBack, listSkills } from "./plan.ts";
import { findSimilar } from "./similarity.ts";

/** A new skill that an agent or a review wrote. */
export interface NewSkill {
  readonly skill: Skill;
  readonly origin: Origin;
  readonly path: string;
  readonly project: string;
  readonly root: string | null;
  /** When the person asked for it explicitly; null when they did not. */
  readonly asked: number | null;
}

/** Why a new skill is not needed: one that is live, a draft, archived or taken back is about the same. */
export async function findDuplicate(deps: PublishDeps, wanted: NewSkill): Promise<AuthoringFault | null> {
  const { skill, origin, path, project, root, asked } = wanted;
  const listed = await listSkills(deps.library, deps.places.all(root));
  if (typeof listed === "string")
    return createFault("publish_failed", listed, "See that the folder can be read, and call again.");
  const near = findSimilar(
    skill,
    listed.skills.filter((one) => one.path !== path),
  );
  if (near)
    return createFault(
      "skill_near_duplicate",
      `${near.name} is about the same already.`,
      `Load ${near.name}; if it lacks what you learned, start an update of it; otherwise finish with aborted.`,
      [near.path],
    );
  const history = await readHistory(deps.store);
  const old = await archivedLike(deps, skill, { origin, scopeId: project }, history);
  if (old)
    return createFault(
      "skill_near_duplicate",
      `${old.name}, which was put away, is about the same.`,
      `Finish with aborted, and tell the person that it can be brought back: knack skills restore ${old.name}`,
      [`put away: ${old.because}`],
    );
  const gone = await findTakenBack(deps, skill, { origin }, history);
  const last = history.changes.findLast(({ change }) => change.name === gone);
  if (gone === null || (await isAllowedAgain(deps, last?.change.origin))) return null;
  if (asked !== null && asked > (last?.at ?? 0)) return null;
  return createFault(
    "skill_near_duplicate",
    `A person took ${gone} back, which is about the same.`,
    `Finish with aborted. Only when the person has asked for it since, start again with the reason explicit_user_request and their words among the events; they can allow it for good: knack skills unskip ${gone}`,
    [gone],
  );
}

/** Whether a person said that what they took back may be made again. */
async function isAllowedAgain({ store }: PublishDeps, origin: Origin | undefined): Promise<boolean> {
  const decided = await store.ledger.since("lesson.decided", 0);
  return decided.findLast(({ data }) => data.lessonId === origin?.id)?.data.decision === "unskipped";
}

/** A package that an agent or a review wrote and that passed the checks. */
export interface PackageToPublish {
  readonly origin: Origin;
  readonly name: string;
  readonly files: readonly PackageFile[];
  readonly path: string;
  readonly place: SkillFolder;
  /** Used when Knack has not published it yet. */
  readonly reach: Reach;
  /** What it replaces, as it was when it was written; null for something new. */
  readonly base: readonly PackageFile[] | null;
  /** The topmost folder above it that did not exist when it was begun. */
  readonly missing?: string;
  readonly facts: {
    readonly author: "agent" | "review";
    /** The agent's session; null when unknown. */
    readonly session: string | null;
    readonly events: readonly string[];
    readonly model: string | null;
  };
}

/** The files as they go live: a learned skill says where it is from, a person's is left in their words. */
export function stampPackage({ path, files, base, facts, reach }: PackageToPublish): PackageFile[] {
  const plain = files.map((file) => ({ ...file, mode: normalizeMode(file) }));
  const { skill } = parseSkill(mainText(files));
  if (skill === null || packageOwner(path, base) !== "learned") return plain;
  const { author, session, events, model } = facts;
  const before = base === null ? {} : (parseSkill(mainText(base)).skill?.metadata ?? {});
  // Whoever wrote what was there before did not write this.
  const { model: _, ...known } = pickFacts(before, true);
  const metadata = {
    ...pickFacts(skill.metadata, false),
    quality: reach === "draft" ? "draft" : "active",
    ...known,
    origin: "knack",
    evidence: String((Number(before.evidence) || 0) + events.length),
    ...(session === null ? {} : { session }),
    events: events.join(" "),
    ...(model === null ? {} : { model }),
    author,
  };
  const bytes = encodeText(renderSkill({ ...skill, metadata }));
  return plain.map((file) => (file.path === skillFile ? { ...file, bytes } : file));
}

/** Whether two packages differ in nothing but the facts that Knack writes itself. */
export function isSamePackage(
  { versions }: Pick<PublishDeps, "versions">,
  ...two: readonly [readonly PackageFile[], readonly PackageFile[]]
): boolean {
  const [one, other] = two.map((files) => versions.hashOf(files.map(dropFacts)));
  return one === other;
}

function dropFacts(file: PackageFile): PackageFile {
  const plain = { ...file, mode: normalizeMode(file) };
  const text = file.path === skillFile ? packageText(file).text : null;
  const skill = text === null ? null : parseSkill(text).skill;
  if (skill === null) return plain;
  return {
    ...plain,
    bytes: encodeText(renderSkill({ ...skill, metadata: pickFacts(skill.metadata, false) })),
  };
}

function normalizeMode({ mode }: PackageFile): number {
  return mode & 0o111 ? 0o755 : 0o644;
}

function pickFacts(metadata: Skill["metadata"], isKnacks: boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => knackFacts.has(key) === isKnacks));
}

/** What writing a package to its path would do; nothing when it is there already. */
export async function planPackage(deps: PublishDeps, ready: PackageToPublish): Promise<Plan> {
  const { name, path, place, base, missing, reach, origin } = ready;
  const history = await readHistory(deps.store);
  const files = stampPackage(ready);
  const after = deps.versions.hashOf(files);
  const found = await deps.library.read(path);
  // An empty folder is no package.
  const current = found === null || found.files.length + found.links.length === 0 ? null : found;
  if (current?.hash === after) return accept([]);
  if (base === null && current !== null) return refuse(`there is another skill at ${path}`);
  if (base !== null && current === null) return refuse(`${path} is gone`);
  const isBase = current?.hash === deps.versions.hashOf(base ?? []);
  if (current !== null && !isBase && !isSamePackage(deps, current.files, files))
    return refuse(`${path} was changed meanwhile`);
  const known = base === null ? undefined : history.kept.find((one) => one.path === path);
  const artifact: Artifact = known ?? { kind: "skill", name, path, root: place.root, reach, origin };
  const before = current?.hash ?? null;
  const diff = diffPackage(artifact, current?.files ?? null, files);
  const plan = (one: Artifact): PlannedChange => ({
    change: makeChange(one, before, after, base === null ? "create" : "update", history),
    ...{ files, diff },
    ...(missing === undefined ? {} : { missing }),
  });
  const steps = [plan(artifact)];
  // One skill in the folders of several agents stays one skill.
  for (const copy of known ? findCopies(known, history) : [])
    if ((await deps.library.read(copy.path))?.hash === before) steps.push(plan(copy));
  return accept(steps);
}

function findCopies({ path, name, origin, reach }: KeptArtifact, { kept }: ChangeHistory): KeptArtifact[] {
  return kept.filter(
    (one) => one.path !== path && one.name === name && one.origin.id === origin.id && one.reach === reach,
  );
}

/** The folder that a path lies in, among those that there are. */
export function findSkillFolder(path: string, places: readonly SkillFolder[]): SkillFolder | null {
  return places.find(({ folder }) => folder === dirname(path)) ?? null;
}
