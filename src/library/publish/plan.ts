import type { Artifact, Format, ItemKind, KeptArtifact, Origin, Skill } from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { renderDiff } from "../../text/index.ts";
import { type Concern, mayBeWritten, scan } from "../../trust/index.ts";
import type { Library, SkillFolder, SkillPackage } from "../files/library.ts";
import { archivedLike, findDraftsFolder } from "../lifecycle/archive.ts";
import { findSkillProblems, parseSkill, renderSkill, scanSkill } from "../skill.ts";
import {
  accept,
  basename,
  type ChangeHistory,
  describeRefusal,
  dirname,
  isWrittenByKnack,
  mainFileName,
  mainText,
  type NewArtifact,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planCreate,
  planRemove,
  planRewrite,
  projectMissing,
  readFiles,
  readHistory,
  refuse,
  stampText,
} from "./changes.ts";
import {
  amendEvidence,
  appendSection,
  type EvidenceItem,
  renderLearnedSection,
  setFrontMatter,
} from "./render.ts";
import { findSimilar, isSameTopic } from "./similarity.ts";

/** Something to publish, whatever it was made of: a lesson, a cluster, a gap, or what an agent or a review wrote. */
export interface Publication extends Omit<NewArtifact, "why" | "because" | "proposal"> {
  /** The project's folder, and the agents whose sessions it comes from. */
  readonly root: string | null;
  readonly formats: readonly Format[];
  /**
   * What to do about a similar skill of another origin. `join`: add the evidence to one that Knack wrote, propose it
   * for one that a person wrote, and refuse what a person took back. `alongside`: join only what Knack wrote.
   */
  readonly similar: "join" | "alongside" | "refuse" | "ignore";
  /** The lessons whose evidence an existing text gets. */
  readonly lessonIds?: readonly string[];
  /** Replace an existing text instead of adding evidence. */
  readonly replaces?: boolean;
  /** Bring back an archived skill about the same, unless it was archived after `learnedAt`. */
  readonly revive?: { readonly scopeId: string; readonly learnedAt?: number; readonly everywhere?: boolean };
  /** Recognizes its own origin; a gap may go by several ids. */
  readonly owns?: (origin: Origin) => boolean;
}

interface PlanContext {
  readonly deps: PublishDeps;
  readonly wanted: Publication;
  readonly skill: Skill;
  readonly targets: readonly SkillFolder[];
  readonly skills: readonly SkillPackage[];
  readonly drafts: string | undefined;
  readonly history: ChangeHistory;
}

/**
 * Plans the files of a publication: what is there is updated before anything is created, an archived skill comes back
 * before it is written anew, a person's own skill gets a proposal, and drafts go when their skill goes live.
 */
export async function planPublication(deps: PublishDeps, given: Publication): Promise<Plan> {
  const { kind, reach, root } = given;
  const targets = resolveFolders(deps, given);
  if (targets === null) return refuse(projectMissing);
  const places = kind === "skill" ? [...targets, ...deps.places.all(root)] : [];
  const listed = await listSkills(deps.library, places);
  if (typeof listed === "string") return refuse(listed);
  // After the listing: whatever Knack wrote that is listed was on the ledger before it was on the disk.
  const history = await readHistory(deps.store);
  const checked = await checkText(deps, kind, given.text);
  if (typeof checked === "string") return refuse(checked);
  const { skill, concerns } = checked;
  const wanted = { ...given, text: kind === "skill" ? renderSkill(skill) : checked.text };
  const drafts = findDraftsFolder(deps, kind)?.folder;
  const context = { deps, wanted, skill, targets, skills: listed.skills, drafts, history };
  const because = await findObstacle(context, listed.broken);
  if (because !== null) return refuse(because);
  const planned = await (reach === "draft" ? planDraft(context) : planLive(context));
  return planned.ok ? { ...planned, concerns } : planned;
}

/** The folders that something goes to; null when the project is not on this machine. */
export function resolveFolders(
  { places }: PublishDeps,
  { kind, reach, root, formats }: Pick<Publication, "kind" | "reach" | "root" | "formats">,
): readonly SkillFolder[] | null {
  return kind === "skill" ? places.skills(reach, root, formats) : places.files(kind, reach, root);
}

/** Why it is not written at all: its own file is broken, or a similar one is there or was taken back. */
async function findObstacle(
  { deps, wanted, skill, targets, skills, history }: PlanContext,
  broken: ReadonlySet<string>,
): Promise<string | null> {
  const isOwn = owned(wanted, history);
  const own = history.kept.find((one) => broken.has(one.path) && isIn(one, targets) && isOwn(one.path));
  if (own) return `${own.name} was changed by hand`;
  if (wanted.similar === "refuse") {
    const near = findSimilar(
      skill,
      skills.filter(({ path }) => !isOwn(path)),
    );
    if (near) return `${near.name} is about the same already`;
  }
  if (wanted.similar !== "refuse" && wanted.similar !== "join") return null;
  const gone = await findTakenBack(deps, skill, wanted, history);
  return gone === null ? null : `it is much like ${gone}, which was taken back (knack skills unskip ${gone})`;
}

/** Whether something of the wanted origin was ever written to a path. */
function owned(
  { origin, owns = ({ id }) => id === origin.id }: Pick<Publication, "origin" | "owns">,
  { changes }: ChangeHistory,
): (path: string) => boolean {
  const own = changes.filter(({ change, state }) => state !== "dropped" && owns(change.origin));
  const paths = new Set(own.map(({ change }) => change.path));
  return (path) => paths.has(path);
}

/** What nobody said yes to is a draft, unless something says it already. */
async function planDraft(context: PlanContext): Promise<Plan> {
  const { deps, wanted, skill, targets, skills, drafts, history } = context;
  const isDraft = ({ path }: SkillPackage) => dirname(path) === drafts;
  const joins = wanted.similar === "join" || wanted.similar === "alongside";
  const live = joins
    ? findSimilar(
        skill,
        skills.filter((one) => !isDraft(one)),
      )
    : null;
  if (live)
    return isOurs(live, history) ? refuse(`${live.name} says it already`) : planProposal(context, live);
  const isOwn = owned(wanted, history);
  const waiting = skills.filter(isDraft);
  const known = waiting.find(({ path }) => isOwn(path)) ?? (joins ? findSimilar(skill, waiting) : null);
  if (known) return accept(isOurs(known, history) ? await planUpdate(context, known) : []);
  const old = await revive(context);
  const { learnedAt } = wanted.revive ?? {};
  if (old && learnedAt !== undefined && learnedAt <= old.at)
    return refuse(`${old.name} was put away, and nothing was learned about it since`);
  return accept([await planCreate(deps, old ?? wanted, targets[0] as SkillFolder, history)]);
}

async function planLive(context: PlanContext): Promise<Plan> {
  const { deps, wanted, skill, targets, skills, drafts, history } = context;
  const { similar, root } = wanted;
  const joins = similar === "join" || similar === "alongside";
  const isOwn = owned(wanted, history);
  const live = skills.filter(({ path }) => dirname(path) !== drafts);
  const own = live.filter((one) => isOwn(one.path) && isIn(one, targets));
  const near = own[0] ?? (joins ? findSimilar(skill, live) : null);
  const isNearOurs = near !== null && isOurs(near, history);
  if (near && !isNearOurs && similar === "join") return planProposal(context, near);
  const isNarrower = wanted.reach === "everywhere" && root !== null && near?.path.startsWith(`${root}/`);
  const steps: PlannedChange[] = [];
  if (near && isNearOurs && !isIn(near, targets) && !isNarrower)
    steps.push(...(await planUpdate(context, near)));
  else {
    const old = isNearOurs ? null : await revive(context);
    for (const target of targets) {
      const there = own.find((one) => isIn(one, [target])) ?? (near && isIn(near, [target]) ? near : null);
      if (there && isOurs(there, history)) steps.push(...(await planUpdate(context, there)));
      else if (there === null || joins) steps.push(await planCreate(deps, old ?? wanted, target, history));
    }
  }
  return accept([...steps, ...(await planDraftRemovals(context))]);
}

/** The drafts of what goes live. */
async function planDraftRemovals({ deps, wanted, history }: PlanContext): Promise<PlannedChange[]> {
  const { origin, owns = ({ id }: Origin) => id === origin.id } = wanted;
  const steps: PlannedChange[] = [];
  for (const kept of history.kept) {
    if (kept.reach !== "draft" || !owns(kept.origin)) continue;
    const found = await readFiles(deps, kept);
    if (found) steps.push(planRemove(kept, found.hash, history, mainText(found.files)));
  }
  return steps;
}

/** An archived skill about the same, with what was learned since; null when there is none. */
async function revive({
  deps,
  wanted,
  skill,
  history,
}: PlanContext): Promise<(NewArtifact & { readonly at: number }) | null> {
  const { revive: options, origin } = wanted;
  if (!options) return null;
  const old = await archivedLike(deps, skill, { origin, scopeId: options.scopeId }, history);
  // What goes where other projects read it must name its own.
  if (!old || (options.everywhere && old.reach !== "everywhere")) return null;
  const text = (await addEvidence(deps, old, wanted, history)) ?? old.text;
  const { skill: revived } = parseSkill(text);
  if (!revived || !mayBeWritten(scanSkill(revived))) return null;
  return { ...wanted, name: revived.name, text, why: "restore", at: old.at };
}

/** Adds what is new to a skill that Knack wrote. */
async function planUpdate(
  { deps, wanted, history }: PlanContext,
  existing: SkillPackage,
  proposal?: true,
): Promise<PlannedChange[]> {
  const known = history.kept.find(({ path }) => path === existing.path);
  const reach = known?.reach ?? (proposal ? "draft" : wanted.reach);
  const text = wanted.replaces
    ? stampText("skill", wanted.text, existing.name, reach)
    : await addEvidence(deps, existing, wanted, history);
  const current = await deps.library.read(existing.path);
  if (text === null || text === existing.text || current?.hash !== existing.hash) return [];
  const artifact: Artifact = {
    ...{ kind: "skill", name: existing.name, path: existing.path, reach, origin: wanted.origin },
    root: known?.root ?? dirname(dirname(existing.path)),
    ...(known?.proposal || proposal ? { proposal: true } : {}),
  };
  return [planRewrite(deps, artifact, current, text, history)];
}

/** The text of a skill with the evidence of everything it was made of; null when there is nothing new. */
async function addEvidence(
  { store }: PublishDeps,
  { path, text }: Pick<SkillPackage, "path" | "text">,
  { lessonIds }: Pick<Publication, "lessonIds">,
  { changes }: ChangeHistory,
): Promise<string | null> {
  if (!lessonIds) return null;
  const made = changes.flatMap(({ change }) =>
    change.path === path ? [change.origin.id, ...(change.members ?? [])] : [],
  );
  return amendEvidence(text, await readEvidence(store, [...new Set([...made, ...lessonIds])]));
}

/** The evidence of lessons, the surest first. */
export async function readEvidence(
  { learning }: Store,
  lessonIds: readonly string[],
): Promise<EvidenceItem[]> {
  const findings = await learning.findings.ofLessons(lessonIds);
  return [...findings]
    .sort((a, b) => b.finding.confidence - a.finding.confidence || a.at - b.at || (a.id < b.id ? -1 : 1))
    .map(({ finding, run, at }) => ({
      ...finding.excerpt,
      session: basename(run),
      date: at > 0 ? new Date(at).toISOString().slice(0, 10) : null,
      refs: finding.refs,
    }));
}

/** The agents whose sessions taught lessons. */
export async function listFormats(store: Store, lessonIds: readonly string[]): Promise<Format[]> {
  const findings = await store.learning.findings.ofLessons(lessonIds);
  const ids = new Set<string>(findings.map(({ session }) => session));
  const paths = [...ids].map((id) => id.replace(/#.*$/s, ""));
  const sessions = (await store.sessions.list(paths)).filter(({ id }) => ids.has(id));
  return [...new Set(sessions.map(({ format }) => format))];
}

/** A proposal for a file that a person wrote or changed: a draft beside it, and the diff that accepting it would make. */
async function planProposal(context: PlanContext, near: SkillPackage): Promise<Plan> {
  const { deps, wanted, skills, drafts, history } = context;
  const joined = await joinText(deps, near, context.skill, wanted, history);
  const place = findDraftsFolder(deps, wanted.kind);
  if (joined === null) return accept([], { belongsTo: near.path });
  if (!place) return refuse("there is no folder for drafts");
  const text = setFrontMatter(wanted.text, { "metadata.quality": "draft", "metadata.belongs-to": near.path });
  const isOwn = owned(wanted, history);
  const known = skills.find((one) => dirname(one.path) === drafts && isOwn(one.path));
  const draft = { ...context, wanted: { ...wanted, text, replaces: true } };
  const steps = known
    ? await (isOurs(known, history) ? planUpdate(draft, known, true) : [])
    : [await planCreate(deps, { ...wanted, text, reach: "draft", proposal: true }, place, history)];
  const diff = renderDiff(mainFileName({ kind: "skill", name: near.name }), near.text, joined);
  return accept(
    steps.map((step) => ({ ...step, diff })),
    { belongsTo: near.path },
  );
}

/** A proposal for an existing file of any kind, when none waits. */
export async function planProposalFor(
  deps: PublishDeps,
  wanted: Omit<NewArtifact, "reach">,
  near: { readonly kind: ItemKind; readonly name: string; readonly path: string },
  history: ChangeHistory,
): Promise<Plan> {
  const place = findDraftsFolder(deps, wanted.kind);
  if (!place) return refuse("there is no folder for drafts");
  const checked = await checkText(deps, wanted.kind, wanted.text);
  if (typeof checked === "string") return refuse(checked);
  const current = await readFiles(deps, near);
  const before = current ? mainText(current.files) : "";
  const text = setFrontMatter(checked.text, { "metadata.belongs-to": near.path });
  const step = await planCreate(deps, { ...wanted, text, reach: "draft", proposal: true }, place, history);
  const joined = appendSection(before, renderLearnedSection(checked.skill));
  const diff = renderDiff(mainFileName(near), before, joined);
  return accept([{ ...step, diff }], { concerns: checked.concerns, belongsTo: near.path });
}

/** A person's file with a lesson put in: new evidence where it was once Knack's own, else a section; null when it is there. */
async function joinText(
  deps: PublishDeps,
  existing: Pick<SkillPackage, "path" | "text">,
  skill: Skill,
  wanted: Pick<Publication, "origin" | "lessonIds">,
  history: ChangeHistory,
): Promise<string | null> {
  const isOnceOurs = history.changes.some(
    ({ change: { path, origin, why }, state }) =>
      path === existing.path && origin.id === wanted.origin.id && why === "create" && state !== "dropped",
  );
  if (isOnceOurs) return addEvidence(deps, existing, wanted, history);
  const section = renderLearnedSection(skill);
  const isThere = existing.text.replaceAll("\r\n", "\n").includes(section.split("\n")[0] as string);
  return isThere ? null : appendSection(existing.text, section);
}

/** What accepting a proposal would do: its text goes into the file that it belongs to, and the draft goes. */
export async function planJoin(
  deps: PublishDeps,
  draft: KeptArtifact,
  { text, hash }: { readonly text: string; readonly hash: string },
  path: string,
): Promise<Plan> {
  const target = toArtifactName(path);
  const current = await readFiles(deps, target);
  const { skill } = parseSkill(text);
  if (!current || !skill) return refuse(`${path} is gone`);
  const history = await readHistory(deps.store);
  const removal = planRemove(draft, hash, history, text);
  const lessonIds = draft.members ?? [draft.origin.id];
  const existing = { path, text: mainText(current.files) };
  const joined = await joinText(deps, existing, skill, { origin: draft.origin, lessonIds }, history);
  if (joined === null) return accept([removal], { belongsTo: path });
  // The draft may have been edited since it was scanned.
  const concerns = scanSkill(skill);
  if (!mayBeWritten(concerns)) return refuse(describeRefusal(concerns));
  const known = history.kept.find((one) => one.path === path);
  const everywhere =
    target.kind === "skill"
      ? deps.places.all(null)
      : (deps.places.files(target.kind, "everywhere", null) ?? []);
  const artifact: Artifact = {
    ...target,
    root: known?.root ?? dirname(dirname(path)),
    reach: known?.reach ?? (isIn(target, everywhere) ? "everywhere" : "repository"),
    origin: draft.origin,
    ...(draft.members ? { members: draft.members } : {}),
  };
  return accept([planRewrite(deps, artifact, current, joined, history), removal], { belongsTo: path });
}

/** A folder is a skill; a file is a command or an agent, by the folder that it is in. */
function toArtifactName(path: string): Pick<Artifact, "path" | "name"> & { readonly kind: ItemKind } {
  const name = basename(path);
  if (!name.endsWith(".md")) return { kind: "skill", path, name };
  return { kind: /\/agents?\//.test(path) ? "agent" : "command", path, name: name.slice(0, -3) };
}

/** A text without its secrets that may be written, or why it may not. */
export async function checkText(
  { redactor }: PublishDeps,
  kind: ItemKind,
  text: string,
): Promise<{ readonly text: string; readonly skill: Skill; readonly concerns: readonly Concern[] } | string> {
  const [clean = ""] = await redactor.scrub([{ label: kind, text }]);
  const { skill, problems } = parseSkill(clean);
  if (skill === null) return `it is no valid ${kind}: ${problems[0]?.message ?? "it is empty"}`;
  if (skill.description.trim() === "") return `it is no valid ${kind}: it has no description`;
  const all = kind === "skill" ? [...problems, ...findSkillProblems(skill)] : [];
  const wrong = all.find(({ severity }) => severity === "error");
  if (wrong) return `it is no valid ${kind}: ${wrong.message}`;
  const concerns = kind === "skill" ? scanSkill(skill) : scanFile(clean, skill);
  return mayBeWritten(concerns) ? { text: clean, skill, concerns } : describeRefusal(concerns);
}

function scanFile(text: string, { body }: Skill): Concern[] {
  const tooLong = scan(body).filter(({ code }) => code === "too-long");
  return [...tooLong, ...scan(text, { most: Number.POSITIVE_INFINITY })];
}

export interface ListedSkills {
  readonly skills: readonly SkillPackage[];
  /** Paths of folders whose skill cannot be read. */
  readonly broken: ReadonlySet<string>;
}

/** The skills of several folders, or why one of them cannot be listed. */
export async function listSkills(
  library: Library,
  places: readonly SkillFolder[],
): Promise<ListedSkills | string> {
  const skills: SkillPackage[] = [];
  const broken = new Set<string>();
  for (const place of new Map(places.map((one) => [one.folder, one])).values()) {
    const listing = await library.list(place);
    // What cannot be read may hold the very skill that would be made again.
    if (listing.found === "unreadable") return `${place.folder} cannot be read: ${listing.message}`;
    if (listing.found === "missing") continue;
    const locked = listing.broken.find(({ unreadable }) => unreadable);
    if (locked) return `${locked.path} cannot be read: ${locked.problems.join("; ")}`;
    skills.push(...listing.skills);
    for (const { path } of listing.broken) broken.add(path);
  }
  return { skills, broken };
}

/** The name of a similar skill that a person took back. */
export async function findTakenBack(
  { versions }: PublishDeps,
  wanted: Skill,
  { origin, owns = ({ id }) => id === origin.id }: Pick<Publication, "origin" | "owns">,
  { changes }: ChangeHistory,
): Promise<string | null> {
  const last = new Map(
    changes.flatMap(({ change, state }) =>
      state === "made" && change.kind === "skill" && change.reach !== "draft" ? [[change.path, change]] : [],
    ),
  );
  for (const { name, before, after, origin: other, because } of last.values()) {
    // What was archived was not refused.
    if (after !== null || before === null || because !== undefined || owns(other)) continue;
    const files = await versions.restore(before);
    const { skill } = parseSkill(files ? mainText(files) : "");
    if (skill && isSameTopic(wanted, skill)) return name;
  }
  return null;
}

/** Whether a package is as Knack once wrote it. */
export function isOurs({ path, hash, owner }: SkillPackage, history: ChangeHistory): boolean {
  return owner === "learned" && isWrittenByKnack(path, hash, history);
}

function isIn({ path }: { readonly path: string }, places: readonly SkillFolder[]): boolean {
  return places.some(({ folder }) => dirname(path) === folder);
}
