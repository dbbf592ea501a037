import type { Artifact } from "../core/change.ts";
import { idOf } from "../core/ids.ts";
import type { Draft, Proposal, ProposedFile } from "../core/review.ts";
import { applyEdits, packageFor } from "../core/reviewer.ts";
import { parse, render, type Skill, skillFile } from "../core/skill.ts";
import { isAbout } from "../core/alike.ts";
import { archivedLike, pinnedPlaces } from "./archive.ts";
import { draftsAway, isOurs, type Listed, listAll, nearest, settled, takenBack } from "./plan-skill.ts";
import type { PackageFile, Place, SkillPackage } from "./ports.ts";
import {
  bytesOf,
  changeOf,
  dirname,
  type History,
  historyOf,
  no,
  notHere,
  type Plan,
  type PublishDeps,
  type Step,
  textOfPackage,
} from "./step.ts";

/** What a review proposes from: the project as it is now, and what the review rests on. */
export interface ProposalGround {
  readonly review: string;
  readonly project: { readonly id: string; readonly root: string | null };
  readonly model: string;
  /** The events that a bundle's ids mean. */
  readonly eventsOf: (ids: readonly string[]) => Proposal["evidence"];
}

/** A draft of a review's that may be proposed, with what makes it a draft or a changed skill at once. */
export interface Proposable {
  readonly proposal: Proposal;
  readonly files: readonly PackageFile[];
  /** Whether it may be published without anybody's yes: it is new, or changes what is Knack's own and not pinned. */
  readonly own: boolean;
}

/** What would be proposed of a draft, or why it may not be: everything that may be published passes here. */
export async function proposable(
  deps: PublishDeps,
  draft: Draft,
  ground: ProposalGround,
): Promise<Proposable | { readonly because: string }> {
  const shelf = await listAll(deps.library, deps.places.all(ground.project.root));
  if (typeof shelf === "string") return { because: shelf };
  const history = await historyOf(deps.store);
  return draft.do === "create"
    ? created(deps, draft, ground, shelf, history)
    : patched(deps, draft, ground, shelf, history);
}

async function created(
  deps: PublishDeps,
  draft: Extract<Draft, { do: "create" }>,
  ground: ProposalGround,
  shelf: Listed,
  history: History,
): Promise<Proposable | { readonly because: string }> {
  const prefix = await deps.prefixOf(ground.project.root);
  const name = draft.name.startsWith(prefix) ? draft.name : `${prefix}${draft.name}`;
  const drafts = deps.places.skills("draft", null, [])?.[0];
  if (!drafts) return { because: "there is no folder for drafts" };
  if (shelf.skills.some((one) => one.name === name) || shelf.taken.has(`${drafts.folder}/${name}`))
    return { because: `there is a skill ${name} already` };
  const texts = packageFor({ ...draft, name }, factsOf(draft, ground, "draft"));
  const files = filesOf(texts);
  const bad = await faultIn(deps, name, files, null);
  if (bad !== null) return { because: bad };
  const wanted = parse(textOfPackage(files)).skill as Skill;
  const twin = await twinOf(deps, wanted, ground, shelf, history);
  if (twin !== null) return { because: twin };
  const place = { path: `${drafts.folder}/${name}`, before: null, name };
  // What it says decides what it is, not what it rests on.
  const said = packageFor({ ...draft, name }, {});
  return { proposal: proposalOf(deps, draft, ground, place, files, filesOf(said)), files, own: true };
}

async function patched(
  deps: PublishDeps,
  draft: Extract<Draft, { do: "patch" }>,
  ground: ProposalGround,
  shelf: Listed,
  history: History,
): Promise<Proposable | { readonly because: string }> {
  const existing = shelf.skills.find(({ name, hash }) => name === draft.skill && hash === draft.base);
  if (!existing) return { because: `${draft.skill} is not what the review has read` };
  if (existing.owner === "core") return { because: `${draft.skill} is not to be changed` };
  const current = await deps.library.read(existing.path);
  if (current?.hash !== draft.base) return { because: `${draft.skill} is not what the review has read` };
  const edited = applyEdits(textsOf(current.files), draft.edits);
  if (typeof edited === "string") return { because: edited };
  const said = replaced(current.files, edited);
  const files = existing.owner === "learned" ? withFacts(said, factsOf(draft, ground, null)) : said;
  const bad = await faultIn(deps, existing.name, files, existing);
  if (bad !== null) return { because: bad };
  if (deps.versions.hashOf(said) === draft.base) return { because: "nothing would change" };
  const pinned = await pinnedPlaces(deps.store, history.kept);
  const place = { path: existing.path, before: draft.base, name: existing.name };
  return {
    proposal: proposalOf(deps, draft, ground, place, files, said),
    files,
    own: isOurs(existing, history) && !pinned.has(existing.path),
  };
}

/** What is about the same as something new: what is there, what waits, what was put away or taken back. */
async function twinOf(
  deps: PublishDeps,
  wanted: Skill,
  { project }: Pick<ProposalGround, "project">,
  shelf: Listed,
  history: History,
  id = "",
): Promise<string | null> {
  const near = nearest(
    wanted,
    shelf.skills.filter(({ path }) => !isOf(path, id, history)),
  );
  if (near) return `${near.name} is about the same already`;
  const old = await archivedLike(deps, wanted, { instinct: id, realm: project.id }, history);
  if (old) return `${old.name} is about the same, and was put away (knack skills restore ${old.name})`;
  const gone = await takenBack(deps, wanted, id, history);
  return gone === null ? null : `it is much like ${gone}, which was taken back`;
}

function isOf(path: string, id: string, { changes }: History): boolean {
  return id !== "" && changes.some(({ change }) => change.path === path && change.instinct === id);
}

/** What Knack writes into the front matter of what a review made: who, from what, how sure. */
function factsOf(
  { refs }: Draft,
  { model, eventsOf }: ProposalGround,
  quality: "draft" | null,
): Record<string, string> {
  const events = eventsOf(refs);
  const session = events[0]?.run ?? "";
  return {
    origin: "knack",
    ...(quality === null ? {} : { quality }),
    evidence: String(events.length),
    session: nameOfRun(session),
    events: events.flatMap(({ run, ref }) => (run === session ? ref : [])).join(" "),
    model,
    author: "review",
  };
}

function nameOfRun(run: string): string {
  return run.slice(run.lastIndexOf("/") + 1);
}

function proposalOf(
  deps: PublishDeps,
  draft: Draft,
  ground: ProposalGround,
  { path, before, name }: Pick<Proposal, "path" | "before" | "name">,
  files: readonly PackageFile[],
  said: readonly PackageFile[],
): Proposal {
  const { review, project, model } = ground;
  return {
    id: idOf("v", JSON.stringify([project.id, path, before, deps.versions.hashOf(said)])),
    review,
    do: draft.do,
    name,
    project: project.id,
    path,
    before,
    after: deps.versions.hashOf(files),
    because: draft.because,
    model,
    evidence: ground.eventsOf(draft.refs),
  };
}

/** What publishing one by itself would do: a draft of what is new, the change of what is there. */
export async function planPublished(deps: PublishDeps, proposal: Proposal): Promise<Plan> {
  return planned(deps, proposal, "draft");
}

/** What accepting one would do: what is new goes live for this person. */
export async function planAccepted(deps: PublishDeps, proposal: Proposal): Promise<Plan> {
  return planned(deps, proposal, "me");
}

async function planned(deps: PublishDeps, proposal: Proposal, reach: "draft" | "me"): Promise<Plan> {
  const files = await deps.versions.restore(proposal.after);
  if (files === null) return no(`the files of ${proposal.name} are gone`);
  const [project] = await deps.store.projects.get([proposal.project]);
  const root = project?.root ?? null;
  const shelf = await listAll(deps.library, deps.places.all(root));
  if (typeof shelf === "string") return no(shelf);
  const history = await historyOf(deps.store);
  return proposal.do === "create"
    ? planNew(deps, proposal, { files, root, shelf, history, reach })
    : planChange(deps, proposal, { files, root, shelf, history });
}

interface Around {
  readonly files: readonly PackageFile[];
  readonly root: string | null;
  readonly shelf: Listed;
  readonly history: History;
}

async function planNew(
  deps: PublishDeps,
  proposal: Proposal,
  { files: drafted, root, shelf, history, reach }: Around & { readonly reach: "draft" | "me" },
): Promise<Plan> {
  const { id, name, project } = proposal;
  const isLive = reach === "me";
  const files = isLive ? withFacts(drafted, { quality: "active" }) : drafted;
  const wanted = parse(textOfPackage(files)).skill;
  const bad = wanted ? await faultIn(deps, name, files, null) : "its SKILL.md cannot be read";
  if (!wanted || bad !== null) return no(bad ?? "");
  const twin = await twinOf(deps, wanted, { project: { id: project, root } }, shelf, history, id);
  if (twin !== null) return no(twin);
  const formats = await formatsOf(deps, proposal);
  // Where there is no project to put it in, it is the person's.
  const live = root === null ? "everywhere" : "me";
  const targets = deps.places.skills(isLive ? live : "draft", root, formats);
  if (targets === null) return no(notHere);
  const steps = targets.map((place): Step | string => {
    const path = `${place.folder}/${name}`;
    if (shelf.taken.has(path)) return `there is a skill at ${path} already`;
    const artifact = { ...artifactAt(place, name, id), reach: isLive ? live : ("draft" as const) };
    const change = changeOf(artifact, null, deps.versions.hashOf(files), "create", history);
    return { change, files, diff: diffOfPackage(name, [], files) };
  });
  const taken = steps.find((step) => typeof step === "string");
  if (taken !== undefined) return no(taken);
  const away = isLive ? await draftsAway(deps, id, history) : [];
  return settled([...(steps as Step[]), ...away], null);
}

/** A skill may lie in several agents' folders: what was read of it changes wherever it is. */
async function planChange(
  deps: PublishDeps,
  { id, name, before }: Proposal,
  { files, root, shelf, history }: Around,
): Promise<Plan> {
  const places = shelf.skills.filter((one) => one.name === name && one.hash === before);
  const [existing] = places;
  if (!existing) return no(`${name} has changed since, so the proposal is outdated`);
  const bad = await faultIn(deps, name, files, existing);
  if (bad !== null) return no(bad);
  const steps: Step[] = [];
  for (const { path, hash } of places) {
    const current = await deps.library.read(path);
    if (current?.hash !== hash) return no(`${name} has changed since, so the proposal is outdated`);
    const known = history.kept.find((one) => one.path === path);
    const inProject = root !== null && path.startsWith(`${root}/`);
    const artifact: Artifact = {
      ...artifactAt({ folder: dirname(path), root: known?.root ?? ownerOfPlace(deps, path, root) }, name, id),
      // A person's own skill stays where it is, in git or not.
      reach: known?.reach ?? (inProject ? "repository" : "everywhere"),
    };
    const change = changeOf(artifact, hash, deps.versions.hashOf(files), "update", history);
    steps.push({ change, files, diff: diffOfPackage(name, current.files, files) });
  }
  return settled(steps, null);
}

function ownerOfPlace({ places }: PublishDeps, path: string, root: string | null): string {
  return places.all(root).find(({ folder }) => folder === dirname(path))?.root ?? dirname(dirname(path));
}

function artifactAt({ folder, root }: Place, name: string, id: string): Omit<Artifact, "reach"> {
  return { kind: "skill", name, path: `${folder}/${name}`, root, instinct: id };
}

/** Whether a patch may be made without anybody's yes: of what is Knack's own and as Knack left it, and not pinned. */
export async function isOwn(deps: PublishDeps, proposal: Proposal): Promise<boolean> {
  if (proposal.do === "create") return true;
  const root = (await deps.store.projects.get([proposal.project]))[0]?.root ?? null;
  const shelf = await listAll(deps.library, deps.places.all(root));
  if (typeof shelf === "string") return false;
  const history = await historyOf(deps.store);
  const pinned = await pinnedPlaces(deps.store, history.kept);
  const places = shelf.skills.filter(({ name, hash }) => name === proposal.name && hash === proposal.before);
  return places.length > 0 && places.every((one) => isOurs(one, history) && !pinned.has(one.path));
}

/** The agents in whose sessions the evidence lies. */
async function formatsOf({ store }: PublishDeps, { evidence }: Proposal): Promise<Format[]> {
  const runs = new Set(evidence.map(({ run }) => run));
  const sessions = (await store.sessions.list()).filter((session) => runs.has(runOf(session)));
  return [...new Set(sessions.map(({ format }) => format))];
}

function filesOf(texts: readonly ProposedFile[]): PackageFile[] {
  return texts.map(({ path, text }) => ({
    path,
    bytes: bytesOf(text),
    mode: path.startsWith("scripts/") ? 0o755 : 0o644,
  }));
}

/** The texts of a package; what is no text cannot be edited. */
function textsOf(files: readonly PackageFile[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { path, bytes } of files) {
    try {
      texts.set(path, new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    } catch {
      // It stays as it is.
    }
  }
  return texts;
}

function replaced(files: readonly PackageFile[], texts: ReadonlyMap<string, string>): PackageFile[] {
  return files.map((file) => {
    const text = texts.get(file.path);
    return text === undefined ? file : { ...file, bytes: bytesOf(text) };
  });
}

/** The same package with other facts in its front matter. */
function withFacts(files: readonly PackageFile[], facts: Record<string, string>): PackageFile[] {
  return files.map((file) => {
    const { skill } = file.path === skillFile ? parse(textOfPackage([file])) : { skill: null };
    if (skill === null) return file;
    return { ...file, bytes: bytesOf(render({ ...skill, metadata: { ...skill.metadata, ...facts } })) };
  });
}
