import { dirname } from "node:path";
import { bindAll } from "../../base/index.ts";
import {
  type Artifact,
  type AuthoringFault,
  authoredId,
  type Change,
  createFault,
  type Format,
  getThreadId,
  type Origin,
  type Reach,
  type Skill,
  type SkillDraft,
  type SkillProposal,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import type { PackageFile, PackageFileList, SkillFolder, SkillPackage } from "../files/packages.ts";
import { toContent } from "../files/packages.ts";
import { archivedLike, findDraftsFolder, findPinnedPaths } from "../lifecycle/archive.ts";
import { examinePackage, knackFacts, packageOwner, packageText } from "../package.ts";
import { parseSkill, prefixName, renderSkill, skillFile } from "../skill.ts";
import {
  accept,
  type ChangeHistory,
  decodeFiles,
  encodeText,
  isTakeBack,
  mainText,
  nullIfDamaged,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planChange,
  projectMissing,
  readHistory,
  refuse,
} from "./changes.ts";
import { findSimilar, findTakenBack, isOurs, listSkills } from "./plan.ts";

/** The share of each part of a skill that an edit must leave, to be published without a person's yes. */
const unaskedKeeps = 0.5;

/** Packages that agents and reviews write: examined, compared with what is there, and planned. */
export function openPackages(deps: PublishDeps) {
  return {
    ...bindAll(deps, { examine: examinePackage, findDuplicate, plan: planPackage, whyNotEditable }),
    ...bindAll(deps, { makeProposal, planProposal: planReviewProposal, mayPublishUnasked }),
    findOutcome: (proposal: SkillProposal, history: ChangeHistory) =>
      findProposalOutcome(deps, proposal, history),
    list: (places: readonly SkillFolder[]) => listSkills(deps.library, places),
    projectRoot: (project: string) => projectRoot(deps.store, project),
    ...{ stamp: stampPackage, isSame: isSamePackage, owner: packageOwner },
  };
}

/** A new skill that an agent or a review wrote. */
interface NewSkill {
  readonly skill: Skill;
  readonly origin: Origin;
  readonly path: string;
  readonly project: string;
  readonly root: string | null;
  /** When the person asked for it explicitly; null when they did not. */
  readonly asked: number | null;
}

/** Why a new skill is not needed: one that is live, a draft, archived or taken back is about the same. */
async function findDuplicate(deps: PublishDeps, wanted: NewSkill): Promise<AuthoringFault | null> {
  const { skill, origin, path, project, root, asked } = wanted;
  const listed = await listSkills(deps.library, deps.places.all(root));
  if (typeof listed === "string")
    return createFault("publish_failed", listed, "See that the folder can be read, and call again.");
  const isDuplicate = (message: string, next: string, detail: string) =>
    createFault("skill_near_duplicate", message, next, [detail]);
  const others = listed.skills.filter((one) => one.path !== path);
  const near = findSimilar(skill, others);
  if (near)
    return isDuplicate(
      `${near.name} is about the same already.`,
      `Load ${near.name}; if it lacks what you learned, start an update of it; otherwise finish with aborted.`,
      near.path,
    );
  const history = await readHistory(deps.store);
  const old = await archivedLike(deps, skill, { origin, scopeId: project }, history);
  if (old)
    return isDuplicate(
      `${old.name}, which was put away, is about the same.`,
      `Finish with aborted, and tell the person that it can be brought back: knack skills restore ${old.name}`,
      `put away: ${old.because}`,
    );
  const gone = await findTakenBack(deps, skill, ({ id }) => id === origin.id, history);
  const last = history.changes.findLast(({ change }) => change.name === gone);
  if (gone === null || (await isAllowedAgain(deps, last?.change.origin))) return null;
  if (asked !== null && asked > (last?.at ?? 0)) return null;
  return isDuplicate(
    `A person took ${gone} back, which is about the same.`,
    `Finish with aborted. Only when the person has asked for it since, start again with the reason explicit_user_request and their words among the events; they can allow it for good: knack skills unskip ${gone}`,
    gone,
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
  readonly files: PackageFileList;
  readonly path: string;
  readonly place: SkillFolder;
  /** Used when Knack has not published it yet. */
  readonly reach: Reach;
  /** The files it was written against; null for a new package. */
  readonly base: PackageFileList | null;
  /** The topmost folder above it that did not exist when it was begun. */
  readonly missing?: string;
  /** For a draft: why it waits for a person. */
  readonly held?: string;
}

/** The files as they go live: a learned skill says where it is from, a person's is left in their words. */
function stampPackage({ path, files, base }: PackageToPublish): PackageFile[] {
  const { skill } = parseSkill(mainText(files));
  if (skill === null || packageOwner(path, base) !== "learned") return rewriteSkill(files, () => null);
  const before = base === null ? {} : (parseSkill(mainText(base)).skill?.metadata ?? {});
  const metadata = {
    ...pickFacts(skill.metadata, false),
    ...pickFacts(before, true),
    origin: "knack",
  };
  return rewriteSkill(files, () => renderSkill({ ...skill, metadata }));
}

/** Whether two packages differ in nothing but the facts that Knack writes itself. */
function isSamePackage(one: PackageFileList, other: PackageFileList): boolean {
  const dropFacts = (text: string) => {
    const { skill } = parseSkill(text);
    return skill && renderSkill({ ...skill, metadata: pickFacts(skill.metadata, false) });
  };
  const [a, b] = [one, other].map((files) => toContent(rewriteSkill(files, dropFacts)).hash);
  return a === b;
}

/** The files with plain modes and, unless `rewrite` says null, another text of `SKILL.md`. */
function rewriteSkill(files: PackageFileList, rewrite: (text: string) => string | null): PackageFile[] {
  return files.map((file) => {
    const plain = { ...file, mode: file.mode & 0o111 ? 0o755 : 0o644 };
    const old = file.path === skillFile ? packageText(file).text : null;
    const text = old === null ? null : rewrite(old);
    return text === null ? plain : { ...plain, bytes: encodeText(text) };
  });
}

function pickFacts(metadata: Skill["metadata"], isKnacks: boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => knackFacts.has(key) === isKnacks));
}

/** Plans writing a package to its path; no steps if it is already there. */
async function planPackage(deps: PublishDeps, ready: PackageToPublish): Promise<Plan> {
  const { name, path, place, base, missing, reach, origin, held } = ready;
  const history = await readHistory(deps.store);
  const next = toContent(stampPackage(ready));
  const found = await deps.library.read(path);
  // An empty folder is no package.
  const current = found === null || found.files.length + found.links.length === 0 ? null : found;
  if (current?.hash === next.hash) return accept([]);
  if (base === null && current !== null) return refuse(`there is another skill at ${path}`);
  if (base !== null && current === null) return refuse(`${path} is gone`);
  const isBase = current?.hash === toContent(base ?? []).hash;
  if (current !== null && !isBase && !isSamePackage(current.files, next.files))
    return refuse(`${path} was changed meanwhile`);
  const known = base === null ? undefined : history.kept.find((one) => one.path === path);
  const artifact: Artifact = {
    ...(known ?? { kind: "skill", name, path, root: place.root, reach, origin }),
    ...(held === undefined ? {} : { held }),
  };
  const plan = (one: Artifact): PlannedChange => ({
    ...planChange(history, one, base === null ? "create" : "update", current, next),
    ...(missing !== undefined && { missing }),
  });
  const steps = [plan(artifact)];
  // One skill in the folders of several agents stays one skill.
  const isCopy = (one: Artifact) =>
    one.path !== path &&
    one.name === known?.name &&
    one.origin.id === known.origin.id &&
    one.reach === known.reach;
  for (const copy of history.kept.filter(isCopy))
    if ((await deps.library.read(copy.path))?.hash === current?.hash) steps.push(plan(copy));
  return accept(steps);
}

/** The known folder that contains a path. */
export function findSkillFolder(path: string, places: readonly SkillFolder[]): SkillFolder | null {
  return places.find(({ folder }) => folder === dirname(path)) ?? null;
}

type ReviewContext = {
  readonly review: string;
  readonly project: { readonly id: string; readonly root: string | null };
  readonly model: string;
  /** The events behind ids of the review. */
  readonly eventsOf: (ids: readonly string[]) => SkillProposal["evidence"];
};

/** A proposal with its files and what they replace, or why there is none; `later`: another review may succeed. */
type ProposalResult =
  | {
      readonly proposal: SkillProposal;
      readonly files: PackageFileList;
      readonly base: PackageFileList | null;
    }
  | { readonly because: string; readonly later?: true };

/** Turns a reviewer's draft into a proposal, if it could be published. */
async function makeProposal(
  deps: PublishDeps,
  draft: SkillDraft,
  context: ReviewContext,
): Promise<ProposalResult> {
  const prepared = await (draft.do === "create"
    ? prepareNew(deps, draft, context)
    : prepareEdit(deps, draft, context));
  if ("because" in prepared) return prepared;
  const { files, base, name, path, before } = prepared;
  const { review, project, model, eventsOf } = context;
  const after = toContent(files).hash;
  const proposal: SkillProposal = {
    // The id comes from what it says and where, so the same proposal is recognized.
    id: authoredId("review", JSON.stringify([project.id, path, before, after])),
    ...{ review, do: draft.do, project: project.id, name, path, before, after },
    ...{ because: draft.because, model, evidence: eventsOf(draft.refs) },
  };
  const planned = await planFiles(deps, proposal, files, "draft");
  return planned.ok ? { proposal, files, base } : { because: planned.because };
}

/** Where a draft goes and what it writes there, or why it cannot. */
type PreparedDraft =
  | Exclude<ProposalResult, { proposal: SkillProposal }>
  | (Pick<SkillProposal, "name" | "path" | "before"> & {
      readonly files: PackageFileList;
      readonly base: PackageFileList | null;
    });

async function prepareNew(
  deps: PublishDeps,
  draft: Extract<SkillDraft, { do: "create" }>,
  { project }: ReviewContext,
): Promise<PreparedDraft> {
  const name = prefixName(await deps.prefixOf(project.root), draft.name);
  const drafts = findDraftsFolder(deps, "skill");
  if (!drafts) return { because: "there is no folder for drafts" };
  const { description, body } = draft;
  // Facts come into its front matter when it is published.
  const main = { path: skillFile, text: renderSkill({ name, description, metadata: {}, body }) };
  const files = [main, ...draft.files].map(toFile);
  return { name, path: `${drafts.folder}/${name}`, before: null, files, base: null };
}

async function prepareEdit(
  deps: PublishDeps,
  draft: Extract<SkillDraft, { do: "patch" }>,
  { project }: ReviewContext,
): Promise<PreparedDraft> {
  const { skill: name, base: before } = draft;
  const existing = await findPackage(deps, project.root, name, before);
  if (typeof existing === "string") return { because: existing, later: true };
  if (existing.owner === "core") return { because: `${name} is not to be changed` };
  const current = await deps.library.read(existing.path);
  if (current?.hash !== before) return { because: changedSince(name), later: true };
  const files = editFiles(current.files, draft);
  if (typeof files === "string") return { because: files };
  if (toContent(files).hash === before) return { because: "nothing would change" };
  return { name, path: existing.path, before, files, base: current.files };
}

function changedSince(name: string): string {
  return `${name} is not what the review has read`;
}

function toFile({ path, text }: SkillDraft["files"][number]): PackageFile {
  return { path, bytes: encodeText(text), mode: path.startsWith("scripts/") ? 0o755 : 0o644 };
}

/** The files of a package as a patch leaves them, or why an edit does not fit: its words must be there exactly once. */
function editFiles(
  current: PackageFileList,
  { edits, files = [], removed = [] }: Extract<SkillDraft, { do: "patch" }>,
): PackageFile[] | string {
  const texts = new Map(current.map(packageText).map(({ path, text }) => [path, text]));
  for (const { path, find, replace } of edits) {
    const before = texts.get(path) ?? null;
    if (before === null) return `there is no ${path}`;
    const at = find === "" ? -1 : before.indexOf(find);
    if (at < 0) return `${path} does not have the words that an edit takes out`;
    if (before.indexOf(find, at + 1) >= 0)
      return `${path} has the words that an edit takes out more than once`;
    texts.set(path, before.slice(0, at) + replace + before.slice(at + find.length));
  }
  // A reviewer is told only the names of some files.
  const there = files.find(({ path }) => current.some((file) => file.path === path));
  if (there !== undefined) return `${there.path} is there, and was not read`;
  const edited = new Set(edits.map(({ path }) => path));
  const left = current.filter(({ path }) => !removed.includes(path));
  const changed = left.map((file) =>
    edited.has(file.path) ? { ...file, bytes: encodeText(texts.get(file.path) ?? "") } : file,
  );
  return [...changed, ...files.map(toFile)];
}

/** Why no edit of a package could be published: the person has put something of their own into it. */
async function whyNotEditable(
  deps: Pick<PublishDeps, "library" | "redactor">,
  { name, path }: Pick<SkillPackage, "name" | "path">,
): Promise<string | null> {
  const found = await deps.library.read(path);
  if (found === null) return "it is gone";
  const { files, links } = found;
  if (links.length > 0) return `it has a link in it (${links[0]}), which no copy would have`;
  const as = { before: files, owner: packageOwner(path, files) };
  return (await examinePackage(deps, name, { files, links }, as)).faults[0] ?? null;
}

async function findPackage(
  deps: PublishDeps,
  root: string | null,
  name: string,
  hash: string,
): Promise<SkillPackage | string> {
  const listed = await listSkills(deps.library, deps.places.all(root));
  if (typeof listed === "string") return listed;
  return listed.skills.find((one) => one.name === name && one.hash === hash) ?? changedSince(name);
}

/**
 * Plans publishing a proposal: an edit is made in place, a new skill goes to `where`, by default live in its project.
 * "draft" needs no approval by a person.
 */
async function planReviewProposal(
  deps: PublishDeps,
  proposal: SkillProposal,
  where: Reach | null,
): Promise<Plan> {
  const { name, project, before, after } = proposal;
  if (where !== null && where !== "draft" && before !== null)
    return refuse(`an edit is made where ${name} is`);
  const files = await deps.versions.restore(after);
  if (files === null) return refuse(`the files of ${name} are gone`);
  const usual = (await projectRoot(deps.store, project)) === null ? "everywhere" : "me";
  return planFiles(deps, proposal, files, where ?? usual);
}

/** Every check that a package must pass, each time it is to be written. */
async function planFiles(
  deps: PublishDeps,
  proposal: SkillProposal,
  files: PackageFileList,
  reach: Reach,
): Promise<Plan> {
  const { name, path, project, id } = proposal;
  const root = await projectRoot(deps.store, project);
  const packages = await resolvePackages(deps, proposal, files, reach, root);
  if (typeof packages === "string") return refuse(packages);
  const before = packages[0]?.base ?? null;
  const as = { before, owner: packageOwner(path, before) };
  const { faults, skill } = await examinePackage(deps, name, { files, links: [] }, as);
  if (faults.length > 0 || skill === null) return refuse(faults.join("; "));
  if (proposal.before === null) {
    const asked = reach === "draft" ? null : Number.POSITIVE_INFINITY;
    const origin = { kind: "proposal", id } as const;
    const duplicate = await findDuplicate(deps, { skill, origin, path, project, root, asked });
    if (duplicate !== null) return refuse(duplicate.message.replace(/\.$/, ""));
  }
  const steps: PlannedChange[] = [];
  for (const one of packages) {
    const planned = await planPackage(deps, one);
    if (!planned.ok) return planned;
    steps.push(...planned.steps);
  }
  return accept(steps);
}

/** The packages to write, one for each folder, or why none can be. */
async function resolvePackages(
  deps: PublishDeps,
  proposal: SkillProposal,
  files: PackageFileList,
  reach: Reach,
  root: string | null,
): Promise<PackageToPublish[] | string> {
  const { name, path } = proposal;
  if (proposal.before !== null) {
    const current = await deps.library.read(path);
    if (current?.hash !== proposal.before) return `${name} has changed since, so the proposal is outdated`;
    const place = findSkillFolder(path, deps.places.all(root));
    if (!place) return projectMissing;
    const isHere = root !== null && path.startsWith(`${root}/`);
    return [toPackage(proposal, files, place, isHere ? "repository" : "everywhere", current.files)];
  }
  const places = deps.places.skills(reach, root, await listProposalFormats(deps, proposal));
  if (places === null) return projectMissing;
  return places.map((place) => ({
    ...toPackage(proposal, files, place, reach, null),
    path: `${place.folder}/${name}`,
  }));
}

async function listProposalFormats({ store }: PublishDeps, { evidence }: SkillProposal): Promise<Format[]> {
  const runs = new Set<string>(evidence.map(({ run }) => run));
  const sessions = (await store.sessions.list()).filter((session) => runs.has(getThreadId(session)));
  return [...new Set(sessions.map(({ format }) => format))];
}

function toPackage(
  { id, name, path, held }: SkillProposal,
  files: PackageFileList,
  place: SkillFolder,
  reach: Reach,
  base: PackageFileList | null,
): PackageToPublish {
  const waits = reach === "draft" && held !== undefined ? { held } : {};
  return { origin: { kind: "proposal", id }, name, path, files, place, reach, base, ...waits };
}

async function projectRoot({ projects }: Pick<Store, "projects">, project: string): Promise<string | null> {
  return (await projects.get([project]))[0]?.root ?? null;
}

/**
 * Whether a proposal may be published without a person's yes: it is new, or it keeps most of a skill that is as Knack
 * left it, not pinned and never taken back.
 */
async function mayPublishUnasked(deps: PublishDeps, proposal: SkillProposal): Promise<boolean> {
  const { before, after, path, name } = proposal;
  if (before === null) return true;
  const existing = await findPackage(deps, await projectRoot(deps.store, proposal.project), name, before);
  if (typeof existing === "string" || existing.path !== path) return false;
  const history = await readHistory(deps.store);
  const last = history.changes.findLast(({ change, state }) => state === "made" && change.path === path);
  // Who took one back may not want it in other words either.
  if (!isOurs(existing, history) || (last && isTakeBack(last.change))) return false;
  if ((await findPinnedPaths(deps.store, history.kept)).has(path)) return false;
  const [old, fresh] = await restoreBoth(deps, before, after);
  if (old === null || fresh === null) return false;
  const left = decodeFiles(fresh);
  return [...decodeFiles(old)].every(([file, text]) => keepsMost(file, text, left.get(file)));
}

async function restoreBoth({ versions }: PublishDeps, before: string, after: string) {
  const restore = (hash: string) => versions.restore(hash).catch(nullIfDamaged);
  return [await restore(before), await restore(after)] as const;
}

/**
 * Of `SKILL.md`, the words of the description and of the body, each: the rest of the front matter is Knack's to change.
 * Of other files whole lines: a script may keep its words and do the opposite.
 */
function keepsMost(path: string, text: string, now: string | undefined): boolean {
  if (now === undefined || now === text) return now !== undefined;
  if (path !== skillFile) return keepsShare(text.split(/\r?\n/), now.split(/\r?\n/));
  const [old, left] = [parseSkill(text).skill, parseSkill(now).skill];
  if (old === null || left === null) return keepsShare(text.split(/\s+/), now.split(/\s+/));
  return (["description", "body"] as const).every((part) =>
    keepsShare(old[part].split(/\s+/), left[part].split(/\s+/)),
  );
}

function keepsShare(old: readonly string[], now: readonly string[]): boolean {
  const parts = new Set(old.filter((part) => part.trim() !== ""));
  const left = new Set(now);
  return [...parts].filter((part) => left.has(part)).length >= parts.size * unaskedKeeps;
}

/** Whether a proposal was published, and taken back since: a process that was killed right after has not said so. */
async function findProposalOutcome(
  deps: PublishDeps,
  proposal: SkillProposal,
  { changes }: Pick<ChangeHistory, "changes">,
): Promise<"written" | "taken-back" | null> {
  const made = changes.flatMap(({ change, state }) => (state === "made" ? change : []));
  const last = made.findLastIndex(await recognizePublishing(deps, proposal, made));
  const written = made[last];
  if (written === undefined) return null;
  const isBack = made
    .slice(last + 1)
    .some((change) => isTakeBack(change) && change.path === written.path && change.before === written.after);
  return isBack ? "taken-back" : "written";
}

/** Recognizes the change that published a proposal: something new by its id, an edit by its result. */
async function recognizePublishing(
  deps: PublishDeps,
  proposal: SkillProposal,
  made: readonly Change[],
): Promise<(change: Change) => boolean> {
  const { id, path, before, after } = proposal;
  // Later changes of it have the same origin.
  if (before === null) return ({ origin, why }) => origin.id === id && why === "create";
  const isEdit = (change: Change) => change.path === path && change.before === before;
  if (!made.some(isEdit)) return () => false;
  const [base, files] = await restoreBoth(deps, before, after);
  if (files === null || base === null) return () => false;
  const place = { folder: dirname(path), root: "" };
  const { hash } = toContent(stampPackage(toPackage(proposal, files, place, "me", base)));
  return (change) => isEdit(change) && change.after === hash;
}
