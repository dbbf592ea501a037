import {
  type Change,
  type Format,
  getThreadId,
  type ProposedFile,
  proposalId,
  type Reach,
  type SkillDraft,
  type SkillEdit,
  type SkillProposal,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import type { PackageFile, SkillFolder, SkillPackage } from "../files/library.ts";
import { findDraftsFolder, findPinnedPaths } from "../lifecycle/archive.ts";
import { examinePackage, packageOwner, packageText } from "../package.ts";
import { parseSkill, renderSkill, skillFile } from "../skill.ts";
import {
  accept,
  type ChangeHistory,
  decodeFiles,
  dirname,
  encodeText,
  isTakeBack,
  nullIfDamaged,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  projectMissing,
  readHistory,
  refuse,
} from "./changes.ts";
import { isOurs, listSkills } from "./plan.ts";
import {
  findDuplicate,
  findSkillFolder,
  type PackageToPublish,
  planPackage,
  stampPackage,
} from "./plan-package.ts";

/** The share of each part of a skill that an edit must leave, to be published without a person's yes. */
const unaskedKeeps = 0.5;

/** What a review proposes from. */
export interface ReviewContext {
  readonly review: string;
  readonly project: { readonly id: string; readonly root: string | null };
  readonly model: string;
  /** The events behind ids of the review. */
  readonly eventsOf: (ids: readonly string[]) => SkillProposal["evidence"];
}

/** A proposal with its files, or why there is none. */
export type ProposalResult =
  | {
      readonly proposal: SkillProposal;
      readonly files: readonly PackageFile[];
      /** What they replace; null for something new. */
      readonly base: readonly PackageFile[] | null;
    }
  /** `later`: it may work when the same is reviewed again. */
  | { readonly because: string; readonly later?: true };

/** Turns a reviewer's draft into a proposal, if it could be published. */
export async function makeProposal(
  deps: PublishDeps,
  draft: SkillDraft,
  context: ReviewContext,
): Promise<ProposalResult> {
  const made = await (draft.do === "create"
    ? proposeNew(deps, draft, context)
    : proposeEdit(deps, draft, context));
  if ("because" in made) return made;
  const planned = await planFiles(deps, made.proposal, made.files, "draft");
  return planned.ok ? made : { because: planned.because };
}

async function proposeNew(
  deps: PublishDeps,
  draft: Extract<SkillDraft, { do: "create" }>,
  context: ReviewContext,
): Promise<ProposalResult> {
  const prefix = await deps.prefixOf(context.project.root);
  const name = draft.name.startsWith(prefix) ? draft.name : `${prefix}${draft.name}`;
  const drafts = findDraftsFolder(deps, "skill");
  if (!drafts) return { because: "there is no folder for drafts" };
  const files = renderDraft({ ...draft, name }).map(toFile);
  const place = { path: `${drafts.folder}/${name}`, before: null, name };
  return { proposal: describeProposal(deps, draft, context, place, files), files, base: null };
}

async function proposeEdit(
  deps: PublishDeps,
  draft: Extract<SkillDraft, { do: "patch" }>,
  context: ReviewContext,
): Promise<ProposalResult> {
  const { skill: name, base } = draft;
  const existing = await findPackage(deps, context.project.root, name, base);
  if (typeof existing === "string") return { because: existing, later: true };
  if (existing.owner === "core") return { because: `${name} is not to be changed` };
  const current = await deps.library.read(existing.path);
  if (current?.hash !== base) return { because: changedSince(name), later: true };
  const files = editFiles(current.files, draft);
  if (typeof files === "string") return { because: files };
  if (deps.versions.hashOf(files) === base) return { because: "nothing would change" };
  const place = { path: existing.path, before: base, name };
  return { proposal: describeProposal(deps, draft, context, place, files), files, base: current.files };
}

function changedSince(name: string): string {
  return `${name} is not what the review has read`;
}

/** The files of a new package, before any facts are put into its front matter. */
export function renderDraft({
  name,
  description,
  body,
  files,
}: Extract<SkillDraft, { do: "create" }>): ProposedFile[] {
  return [{ path: skillFile, text: renderSkill({ name, description, metadata: {}, body }) }, ...files];
}

/** The files of a package as a patch leaves them, or why it does not fit. */
function editFiles(
  current: readonly PackageFile[],
  { edits, files = [], removed = [] }: Extract<SkillDraft, { do: "patch" }>,
): PackageFile[] | string {
  const texts = current
    .map(packageText)
    .flatMap(({ path, text }) => (text === null ? [] : [[path, text] as const]));
  const edited = applyEdits(new Map(texts), edits);
  if (typeof edited === "string") return edited;
  // A reviewer is told only the names of some files.
  const there = files.find(({ path }) => current.some((file) => file.path === path));
  if (there !== undefined) return `${there.path} is there, and was not read`;
  const left = current.filter(({ path }) => !removed.includes(path));
  const changed = left.map((file) => {
    const text = edited.get(file.path);
    return text === undefined ? file : { ...file, bytes: encodeText(text) };
  });
  return [...changed, ...files.map(toFile)];
}

/** The edited files, or why an edit does not fit: what it replaces must be there exactly once. */
export function applyEdits(
  files: ReadonlyMap<string, string>,
  edits: readonly SkillEdit[],
): ReadonlyMap<string, string> | string {
  const changed = new Map<string, string>();
  for (const { path, find, replace } of edits) {
    const before = changed.get(path) ?? files.get(path);
    if (before === undefined) return `there is no ${path}`;
    const at = find === "" ? -1 : before.indexOf(find);
    if (at < 0) return `${path} does not have the words that an edit takes out`;
    if (before.indexOf(find, at + 1) >= 0)
      return `${path} has the words that an edit takes out more than once`;
    changed.set(path, before.slice(0, at) + replace + before.slice(at + find.length));
  }
  return changed;
}

/** Why no edit of a package could be published: the person has put something of their own into it. */
export async function whyNotEditable(
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

/** The package with a name and a hash, among those that a project's agents may have. */
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

/** The id comes from what it says and where, so the same proposal is recognized. */
function describeProposal(
  deps: PublishDeps,
  draft: SkillDraft,
  { review, project, model, eventsOf }: ReviewContext,
  place: Pick<SkillProposal, "path" | "before" | "name">,
  files: readonly PackageFile[],
): SkillProposal {
  const after = deps.versions.hashOf(files);
  return {
    id: proposalId(JSON.stringify([project.id, place.path, place.before, after])),
    ...{ review, do: draft.do, project: project.id, ...place, after, because: draft.because, model },
    evidence: eventsOf(draft.refs),
  };
}

/**
 * What publishing a proposal would do: an edit is made in place, something new goes to `where`, by default live in its
 * project. "draft" is what may be done without a person's yes.
 */
export async function planReviewProposal(
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
  files: readonly PackageFile[],
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
  files: readonly PackageFile[],
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
  const places = deps.places.skills(reach, root, await listFormats(deps, proposal));
  if (places === null) return projectMissing;
  return places.map((place) => ({
    ...toPackage(proposal, files, place, reach, null),
    path: `${place.folder}/${name}`,
  }));
}

function toPackage(
  { id, name, path, model, evidence }: SkillProposal,
  files: readonly PackageFile[],
  place: SkillFolder,
  reach: Reach,
  base: readonly PackageFile[] | null,
): PackageToPublish {
  const session = evidence[0]?.run ?? null;
  const events = evidence.flatMap(({ run, ref }) => (run === session ? ref : []));
  const facts = { author: "review", session, events, model } as const;
  return { origin: { kind: "proposal", id }, name, path, files, place, reach, base, facts };
}

/** The folder of a project; null when unknown. */
export async function projectRoot(
  { projects }: Pick<Store, "projects">,
  project: string,
): Promise<string | null> {
  return (await projects.get([project]))[0]?.root ?? null;
}

/**
 * Whether a proposal may be published without a person's yes: it is new, or it keeps most of a skill that is as Knack
 * left it, not pinned and never taken back.
 */
export async function mayPublishUnasked(deps: PublishDeps, proposal: SkillProposal): Promise<boolean> {
  const { before, after, path, name } = proposal;
  if (before === null) return true;
  const existing = await findPackage(deps, await projectRoot(deps.store, proposal.project), name, before);
  if (typeof existing === "string" || existing.path !== path) return false;
  const history = await readHistory(deps.store);
  const last = history.changes.findLast(({ change, state }) => state === "made" && change.path === path);
  // Who took one back may not want it in other words either.
  if (!isOurs(existing, history) || (last && isTakeBack(last.change))) return false;
  if ((await findPinnedPaths(deps.store, history.kept)).has(path)) return false;
  const [old, fresh] = [await restoreFiles(deps, before), await restoreFiles(deps, after)];
  if (old === null || fresh === null) return false;
  const left = decodeFiles(fresh);
  return [...decodeFiles(old)].every(([file, text]) => keepsMost(file, text, left.get(file)));
}

async function restoreFiles(
  { versions }: Pick<PublishDeps, "versions">,
  hash: string,
): Promise<readonly PackageFile[] | null> {
  return versions.restore(hash).catch(nullIfDamaged);
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
export async function findProposalOutcome(
  deps: PublishDeps,
  proposal: SkillProposal,
  { changes }: Pick<ChangeHistory, "changes">,
): Promise<"written" | "taken-back" | null> {
  const made = changes.flatMap(({ change, state }) => (state === "made" ? change : []));
  const isPublishing = await recognizePublishing(deps, proposal, made);
  const last = made.findLastIndex(isPublishing);
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
  const [files, base] = [await restoreFiles(deps, after), await restoreFiles(deps, before)];
  if (files === null || base === null) return () => false;
  const place = { folder: dirname(path), root: "" };
  const hash = deps.versions.hashOf(stampPackage(toPackage(proposal, files, place, "me", base)));
  return (change) => isEdit(change) && change.after === hash;
}

/** The agents whose sessions hold the evidence. */
async function listFormats({ store }: PublishDeps, { evidence }: SkillProposal): Promise<Format[]> {
  const runs = new Set<string>(evidence.map(({ run }) => run));
  const sessions = (await store.sessions.list()).filter((session) => runs.has(getThreadId(session)));
  return [...new Set(sessions.map(({ format }) => format))];
}

function toFile({ path, text }: ProposedFile): PackageFile {
  return { path, bytes: encodeText(text), mode: path.startsWith("scripts/") ? 0o755 : 0o644 };
}
