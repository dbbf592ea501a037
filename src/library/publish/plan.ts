import { basename, dirname } from "node:path";
import { areContrary } from "../../lessons/index.ts";
import { findToldCalls } from "../../recall/index.ts";
import type { Artifact, Format, ItemKind, KeptArtifact, Lesson, Origin, Skill } from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { extractTerms, findSection, measureSimilarity } from "../../text/index.ts";
import { type Concern, describeDoubt, mayBeWritten, scan } from "../../trust/index.ts";
import type { Library, PackageContent, SkillFolder, SkillPackage } from "../files/packages.ts";
import { archivedLike, findDraftsFolder } from "../lifecycle/archive.ts";
import { parseRules, ruleLine, setRule } from "../rule.ts";
import {
  findSkillProblems,
  isSameTopic,
  measureSkillSimilarity,
  parseSkill,
  prefixName,
  renderSkill,
  scanSkill,
} from "../skill.ts";
import {
  accept,
  type ChangeHistory,
  describeRefusal,
  diffPackage,
  type KeepOptions,
  mainFile,
  mainText,
  type NewArtifact,
  nameText,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planChange,
  planCreate,
  planRewrite,
  projectMissing,
  readFiles,
  readHistory,
  refuse,
} from "./changes.ts";
import { appendLearned, renderLessonSkill, renderRule, setFrontMatter, writeForProject } from "./render.ts";

/** Steps that two skills must share, and the share of the shorter one's, to do the same thing. */
const minSharedSteps = 3;
const minSharedShare = 0.7;
/** Two rules whose words overlap this much are one. */
const sameRuleFrom = 0.5;

/** Something to publish, from any origin: a lesson, a cluster, a gap, an agent or a review. */
interface Publication extends Omit<NewArtifact, "why" | "because" | "proposal"> {
  /** The project's folder, and the agents whose sessions it comes from. */
  readonly root: string | null;
  readonly formats: readonly Format[];
  /**
   * Policy for a similar skill of another origin. `join`: one that Knack wrote says it already, for one that a person
   * wrote it is proposed, and what a person took back is refused. `alongside`: join only what Knack wrote.
   */
  readonly similar: "join" | "alongside" | "refuse" | "ignore";
  /** A person's own file that it is proposed for; it waits as a draft. */
  readonly proposeFor?: Pick<Artifact, "name" | "path"> & { readonly kind: ItemKind };
  /** Replace an existing text instead of leaving it as it is. */
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
  readonly drafts: SkillFolder | null;
  readonly history: ChangeHistory;
  /** Whether something was made of the same. */
  readonly isOwnOrigin: (origin: Origin) => boolean;
  /** Whether something made of the same was ever written to a path. */
  readonly isOwn: (file: { readonly path: string }) => boolean;
}

/**
 * Plans the files of a publication: what is there is updated before anything is created, an archived skill comes back
 * before it is written anew, a person's own skill gets a proposal, and drafts go when their skill goes live.
 */
export async function planPublication(deps: PublishDeps, given: Publication): Promise<Plan> {
  const { kind, reach, root, origin, owns: isOwnOrigin = ({ id }) => id === origin.id } = given;
  const targets = resolveFolders(deps, given);
  if (targets === null) return refuse(projectMissing);
  const { listed, history } = await readLibrary(
    deps,
    kind === "skill" ? [...targets, ...deps.places.all(root)] : [],
  );
  if (typeof listed === "string") return refuse(listed);
  const checked = await checkText(deps, kind, given.text);
  if (typeof checked === "string") return refuse(checked);
  const { skill, concerns } = checked;
  const wanted = { ...given, text: kind === "skill" ? renderSkill(skill) : checked.text };
  const own = history.changes.filter(
    ({ change, state }) => state !== "dropped" && isOwnOrigin(change.origin),
  );
  const paths = new Set(own.map(({ change }) => change.path));
  const context: PlanContext = {
    ...{ deps, wanted, skill, targets, skills: listed.skills, history, isOwnOrigin },
    drafts: findDraftsFolder(deps, kind),
    isOwn: ({ path }) => paths.has(path),
  };
  const because = await findObstacle(context, listed.broken);
  if (because !== null) return refuse(because);
  const planned = await (reach === "draft" ? planDraft(context) : planLive(context));
  return planned.ok ? { ...planned, concerns } : planned;
}

/** Why a draft of some lessons waits for a person: the first doubt about one of them. */
export function findLessonDoubt(lessons: readonly Pick<Lesson, "doubt">[]): string | undefined {
  const [doubt] = lessons.flatMap((lesson) => lesson.doubt ?? []);
  return doubt && describeDoubt(doubt);
}

/** How often skills are listed again because another run changed something meanwhile. */
const maxListings = 5;

/** The skills in some folders, and the history as it was before and after they were listed. */
async function readLibrary({ library, store }: PublishDeps, folders: readonly SkillFolder[]) {
  const mark = ({ changes }: ChangeHistory) =>
    changes.map(({ change, state }) => `${change.id} ${state}`).join();
  for (let n = 1, before = await readHistory(store); ; n++) {
    const listed = await listSkills(library, folders);
    const history = await readHistory(store);
    if (mark(history) === mark(before) || n === maxListings) return { listed, history };
    before = history;
  }
}

/** The folders that something goes to; null when the project is not on this machine. */
export function resolveFolders(
  { places }: PublishDeps,
  { kind, reach, root, formats }: Pick<Publication, "kind" | "reach" | "root" | "formats">,
): readonly SkillFolder[] | null {
  return kind === "skill" ? places.skills(reach, root, formats) : places.files(kind, reach, root);
}

/** Why it is not written at all: its own file is broken, or a similar one is there or was taken back. */
async function findObstacle(context: PlanContext, broken: ReadonlySet<string>): Promise<string | null> {
  const { deps, wanted, skill, targets, skills, history, isOwn, isOwnOrigin } = context;
  const own = history.kept.find((one) => broken.has(one.path) && isIn(one, targets) && isOwn(one));
  if (own) return `${own.name} was changed by hand`;
  if (wanted.similar !== "refuse" && wanted.similar !== "join") return null;
  const others = wanted.similar === "refuse" ? skills.filter((one) => !isOwn(one)) : [];
  const near = findSimilar(skill, others);
  if (near) return `${near.name} is about the same already`;
  const gone = await findTakenBack(deps, skill, isOwnOrigin, history);
  return gone === null ? null : `it is much like ${gone}, which was taken back (knack skills unskip ${gone})`;
}

/** Plans an unapproved draft, unless a similar skill exists. */
async function planDraft(context: PlanContext): Promise<Plan> {
  const { deps, wanted, skill, targets, skills, history, isOwn } = context;
  if (wanted.proposeFor) {
    const current = await readFiles(deps, wanted.proposeFor);
    return planProposal(context, { ...wanted.proposeFor, text: mainText(current?.files ?? []) });
  }
  const joins = wanted.similar === "join" || wanted.similar === "alongside";
  const waiting = skills.filter((one) => isDraft(context, one));
  const live = skills.filter((one) => !isDraft(context, one));
  const near = joins ? findSimilar(skill, live) : null;
  if (near && isOurs(near, history)) return refuse(`${near.name} says it already`);
  if (near) return planProposal(context, { ...near, kind: "skill" });
  const known = waiting.find(isOwn) ?? (joins ? findSimilar(skill, waiting) : null);
  if (known) return accept(isOurs(known, history) ? await planUpdate(context, known) : []);
  const old = await revive(context);
  const { learnedAt } = wanted.revive ?? {};
  if (old && learnedAt !== undefined && learnedAt <= old.at)
    return refuse(`${old.name} was put away, and nothing was learned about it since`);
  return accept([await planCreate(deps, old ?? wanted, targets[0] as SkillFolder, history)]);
}

function isDraft({ drafts }: PlanContext, { path }: { readonly path: string }): boolean {
  return dirname(path) === drafts?.folder;
}

async function planLive(context: PlanContext): Promise<Plan> {
  const { deps, wanted, skill, targets, skills, history, isOwn } = context;
  const { similar, root } = wanted;
  const joins = similar === "join" || similar === "alongside";
  const live = skills.filter((one) => !isDraft(context, one));
  const own = live.filter((one) => isOwn(one) && isIn(one, targets));
  const near = own[0] ?? (joins ? findSimilar(skill, live) : null);
  const ours = near !== null && isOurs(near, history) ? near : null;
  if (near && !ours && similar === "join") return planProposal(context, { ...near, kind: "skill" });
  const isNarrower = wanted.reach === "everywhere" && root !== null && near?.path.startsWith(`${root}/`);
  const steps: PlannedChange[] = [];
  if (ours && !isIn(ours, targets) && !isNarrower) steps.push(...(await planUpdate(context, ours)));
  else {
    const old = ours ? null : await revive(context);
    for (const target of targets) {
      const there = [...own, ...(near ? [near] : [])].find((one) => isIn(one, [target])) ?? null;
      if (there && isOurs(there, history)) steps.push(...(await planUpdate(context, there)));
      else if (there === null || joins) steps.push(await planCreate(deps, old ?? wanted, target, history));
    }
  }
  return accept([...steps, ...(await planDraftRemovals(context))]);
}

async function planDraftRemovals({ deps, history, isOwnOrigin }: PlanContext): Promise<PlannedChange[]> {
  const steps: PlannedChange[] = [];
  for (const kept of history.kept) {
    if (kept.reach !== "draft" || !isOwnOrigin(kept.origin)) continue;
    const found = await readFiles(deps, kept);
    if (found) steps.push(planChange(history, kept, "remove", found, null));
  }
  return steps;
}

/** An archived skill about the same, with what was learned since; null when there is none. */
async function revive(context: PlanContext): Promise<(NewArtifact & { readonly at: number }) | null> {
  const { deps, wanted, skill, history } = context;
  const { revive: options, origin } = wanted;
  if (!options) return null;
  const old = await archivedLike(deps, skill, { origin, scopeId: options.scopeId }, history);
  // What goes where other projects read it must name its own.
  if (!old || (options.everywhere && old.reach !== "everywhere")) return null;
  const { skill: revived } = parseSkill(old.text);
  if (!revived || !mayBeWritten(scanSkill(revived))) return null;
  return { ...wanted, name: revived.name, text: old.text, why: "restore", at: old.at };
}

/** Gives a skill that Knack wrote its new text. */
async function planUpdate(
  { deps, wanted, history }: PlanContext,
  existing: SkillPackage,
  proposal?: true,
): Promise<PlannedChange[]> {
  const { name, path } = existing;
  const known = history.kept.find((one) => one.path === path);
  const reach = known?.reach ?? (proposal ? "draft" : wanted.reach);
  const text = nameText("skill", wanted.text, name);
  const current = wanted.replaces ? await deps.library.read(path) : null;
  if (current === null || text === existing.text || current.hash !== existing.hash) return [];
  const artifact: Artifact = {
    ...{ kind: "skill", name, path, reach, origin: wanted.origin },
    root: known?.root ?? dirname(dirname(path)),
    ...((known?.proposal || proposal) && { proposal: true }),
    ...(wanted.held !== undefined && { held: wanted.held }),
  };
  return [planRewrite(history, artifact, current, text)];
}

export async function listFormats(store: Store, lessonIds: readonly string[]): Promise<Format[]> {
  const findings = await store.learning.findings.ofLessons(lessonIds);
  const ids = new Set<string>(findings.map(({ session }) => session));
  const paths = [...ids].map((id) => id.replace(/#.*$/s, ""));
  const sessions = (await store.sessions.list(paths)).filter(({ id }) => ids.has(id));
  return [...new Set(sessions.map(({ format }) => format))];
}

type OtherFile = Pick<Artifact, "name" | "path"> & { readonly kind: ItemKind; readonly text: string };

/** A proposal for a file that a person wrote or changed: a draft beside it, and the diff that accepting it would make. */
async function planProposal(context: PlanContext, near: OtherFile): Promise<Plan> {
  const { deps, wanted, skill, skills, drafts, history, isOwn } = context;
  const joined = joinText(near, skill, wanted.origin, history);
  if (joined === null) return accept([], { belongsTo: near.path });
  if (!drafts) return refuse("there is no folder for drafts");
  const text = setFrontMatter(wanted.text, { "metadata.belongs-to": near.path });
  const known = skills.find((one) => isDraft(context, one) && isOwn(one));
  const draft = { ...context, wanted: { ...wanted, text, replaces: true } };
  const steps = !known
    ? [await planCreate(deps, { ...wanted, text, reach: "draft", proposal: true }, drafts, history)]
    : await (isOurs(known, history) ? planUpdate(draft, known, true) : []);
  const toFiles = (content: string) => [mainFile(near.kind, near.name, content)];
  const diff = diffPackage(near, toFiles(near.text), toFiles(joined));
  return accept(
    steps.map((step) => ({ ...step, diff })),
    { belongsTo: near.path },
  );
}

/** A person's file with a lesson as a section; null when it is there, or the file was once made of it. */
function joinText(
  existing: { readonly path: string; readonly text: string },
  skill: Skill,
  origin: Origin,
  history: ChangeHistory,
): string | null {
  const isOnceOurs = history.changes.some(
    ({ change, state }) =>
      change.path === existing.path &&
      change.origin.id === origin.id &&
      change.why === "create" &&
      state !== "dropped",
  );
  return isOnceOurs ? null : appendLearned(existing.text, skill);
}

/** Plans accepting a proposal: its text is merged into the target file and the draft removed. */
export async function planJoin(
  deps: PublishDeps,
  draft: KeptArtifact,
  found: PackageContent,
  skill: Skill,
  path: string,
): Promise<Plan> {
  const target = nameFile(path);
  const current = await readFiles(deps, target);
  if (!current) return refuse(`${path} is gone`);
  const history = await readHistory(deps.store);
  const removal = planChange(history, draft, "remove", found, null);
  const existing = { path, text: mainText(current.files) };
  const joined = joinText(existing, skill, draft.origin, history);
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
    ...(draft.members && { members: draft.members }),
  };
  return accept([planRewrite(history, artifact, current, joined), removal], { belongsTo: path });
}

/** A folder is a skill; a file is a command or an agent, by the folder that it is in. */
function nameFile(path: string): Omit<OtherFile, "text"> {
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
  const tooLong = scan(skill.body).filter(({ code }) => code === "too-long");
  const concerns =
    kind === "skill" ? scanSkill(skill) : [...tooLong, ...scan(clean, { most: Number.POSITIVE_INFINITY })];
  return mayBeWritten(concerns) ? { text: clean, skill, concerns } : describeRefusal(concerns);
}

/** The skills of several folders and the paths of broken ones, or why a folder cannot be listed. */
export async function listSkills(
  library: Library,
  places: readonly SkillFolder[],
): Promise<{ readonly skills: readonly SkillPackage[]; readonly broken: ReadonlySet<string> } | string> {
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

/** The existing skill that is about the same thing or has the same steps. */
export function findSimilar(wanted: Skill, all: readonly SkillPackage[]): SkillPackage | null {
  const similar = all
    .filter((one) => one.owner !== "core" && (isSameTopic(wanted, one) || hasSameSteps(wanted, one.skill)))
    .map((one) => ({ one, similarity: measureSkillSimilarity(wanted, one) }))
    .sort((a, b) => b.similarity - a.similarity || (a.one.path < b.one.path ? -1 : 1));
  return similar[0]?.one ?? null;
}

/** Whether the other skill has most commands of the shorter one, whatever the skills' names. */
function hasSameSteps(a: Skill, b: Skill): boolean {
  const [mine, theirs] = [listCommands(a), listCommands(b)];
  const shared = [...mine].filter((step) => theirs.has(step)).length;
  return shared >= minSharedSteps && shared >= Math.min(mine.size, theirs.size) * minSharedShare;
}

function listCommands({ body }: Skill): Set<string> {
  const lines = body.split("\n");
  const steps = findSection(lines, "Steps");
  const text = steps ? lines.slice(steps.from, steps.to).join("\n") : body;
  return new Set(findToldCalls(text).map((call) => call.join(" ")));
}

/** The name of a similar skill that a person took back. */
export async function findTakenBack(
  { versions }: PublishDeps,
  wanted: Skill,
  isOwnOrigin: (origin: Origin) => boolean,
  { changes }: ChangeHistory,
): Promise<string | null> {
  const live = changes.filter(
    ({ change, state }) => state === "made" && change.kind === "skill" && change.reach !== "draft",
  );
  for (const change of new Map(live.map((one) => [one.change.path, one.change])).values()) {
    const { name, before, after, origin, because } = change;
    // What was archived was not refused.
    if (after !== null || before === null || because !== undefined || isOwnOrigin(origin)) continue;
    const { skill } = parseSkill(mainText((await versions.restore(before)) ?? []));
    if (skill && isSameTopic(wanted, skill)) return name;
  }
  return null;
}

/** Whether a package is as Knack once wrote it; one that a person changed is theirs. */
export function isOurs({ path, hash, owner }: SkillPackage, { changes }: ChangeHistory): boolean {
  return owner === "learned" && changes.some(({ change }) => change.path === path && change.after === hash);
}

function isIn({ path }: { readonly path: string }, places: readonly SkillFolder[]): boolean {
  return places.some(({ folder }) => dirname(path) === folder);
}

/** Plans keeping a lesson, writing nothing. */
export async function planLesson(deps: PublishDeps, lesson: Lesson, options: KeepOptions): Promise<Plan> {
  const { store } = deps;
  const { reach, actor, text, alongside } = options;
  const [row] = await store.projects.get([lesson.project]);
  const project = { name: row?.name ?? lesson.project, root: row?.root ?? null };
  const formats = await listFormats(store, [lesson.id]);
  // A project's lesson that other projects read must name its own.
  const isFar = lesson.scope === "project" && reach === "everywhere";
  const plain = writeLessonForProject(lesson, project.root);
  if (lesson.artifact !== "skill") return planRule(deps, plain, options, { ...project, formats, isFar });
  const name = prefixName(await deps.prefixOf(project.root), lesson.name);
  const wanted =
    text ??
    renderLessonSkill({
      ...plain,
      name,
      trigger: isFar ? `${plain.trigger} (in ${project.name})` : plain.trigger,
    });
  const scopeId = lesson.scope === "user" ? "user" : lesson.project;
  const learnedAt = actor === "knack" ? { learnedAt: lesson.state.foundAt } : {};
  return planPublication(deps, {
    ...{ kind: "skill", name: parseSkill(wanted).skill?.name ?? name, text: wanted },
    ...{ origin: { kind: "lesson", id: lesson.id }, reach, root: project.root, formats },
    similar: alongside ? "alongside" : "join",
    replaces: text !== undefined,
    held: findLessonDoubt([lesson]),
    ...(text === undefined && actor !== "agent" && { revive: { scopeId, everywhere: isFar, ...learnedAt } }),
  });
}

/** A lesson with paths as they are in every checkout of its project. */
export function writeLessonForProject(lesson: Lesson, root: string | null): Lesson {
  const write = (text: string) => writeForProject(text, root);
  const { error, worked } = lesson.excerpt;
  return {
    ...lesson,
    lesson: write(lesson.lesson),
    trigger: write(lesson.trigger),
    action: write(lesson.action),
    steps: lesson.steps.map(write),
    excerpt: { ...lesson.excerpt, error: error && write(error), worked: worked && write(worked) },
  };
}

interface RuleProject {
  readonly name: string;
  readonly root: string | null;
  readonly formats: readonly Format[];
  readonly isFar: boolean;
}

async function planRule(
  deps: PublishDeps,
  { id, name, ...lesson }: Lesson,
  { reach, actor, text }: KeepOptions,
  project: RuleProject,
): Promise<Plan> {
  if (actor !== "person" || reach === "draft") return refuse("a rule needs a person's yes");
  const targets = deps.places.rules(reach, project.root, project.formats);
  if (targets === null) return refuse(projectMissing);
  const named = `In ${project.name}: `;
  // A person edits the line as it would be written, with the project's name where that belongs.
  const own = text?.startsWith(named) ? text.slice(named.length) : text;
  const [clean = ""] = await deps.redactor.scrub([
    { label: "rule", text: own ?? renderRule({ ...lesson, id, name }) },
  ]);
  const concerns = scan(clean);
  if (!mayBeWritten(concerns)) return refuse(describeRefusal(concerns));
  // An order with a hole in it helps nobody.
  if (clean.includes("[redacted:")) return refuse("it contains a secret");
  const history = await readHistory(deps.store);
  const origin: Origin = { kind: "lesson", id };
  const overruled = await findOverruled(deps, id, history);
  const steps = overruled.map((one) =>
    planChange(history, { ...one, replacedBy: origin }, "remove", one.content, null),
  );
  const isKept = (path: string) =>
    history.kept.some((one) => one.kind === "rule" && one.origin.id === id && one.path === path);
  for (const { path, root, named: isNamed } of targets) {
    const read = await deps.library.readText(path, root);
    if (read.found === "unreadable") return refuse(`${path} cannot be read: ${read.message}`);
    const before = read.found === "text" ? read.text : null;
    const line = ruleLine(isNamed || project.isFar ? `${named}${clean}` : clean);
    const gone = overruled.filter((one) => one.path === path);
    const rest = gone.reduce((all, one) => dropRule(all, one.name), before ?? "");
    if (isKept(path) || hasRule(rest, line)) continue;
    const artifact: Artifact = {
      kind: "rule",
      name: freeRuleName(name, before ?? ""),
      path,
      root,
      reach,
      origin,
    };
    const added = setRule(rest, artifact.name, line);
    if ("because" in added) return refuse(`${path}: ${added.because}`);
    steps.push(planChange(history, artifact, "create", null, line));
  }
  return accept(steps, { concerns });
}

function freeRuleName(name: string, text: string): string {
  const taken = new Set(parseRules(text).rules.map(({ id }) => id));
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name.slice(0, 60)}-${n}`;
  return free;
}

function dropRule(text: string, rule: string): string {
  const removed = setRule(text, rule, null);
  return "text" in removed ? removed.text : text;
}

/** Whether a file has a similar line, by any author. */
function hasRule(text: string, line: string): boolean {
  const terms = extractTerms(line);
  const others = text.split("\n").map((other) => other.replace(/<!--.*?-->/g, ""));
  return others.some(
    (other) => measureSimilarity(extractTerms(other), terms) >= sameRuleFrom && !areContrary(other, line),
  );
}

/** The rules, in any file, that say the opposite of what the person says now. */
async function findOverruled(
  { store }: PublishDeps,
  lessonId: string,
  { kept }: ChangeHistory,
): Promise<KeptArtifact[]> {
  const opposing = (await store.learning.findings.opposing([lessonId])).get(lessonId) ?? [];
  const others = new Set(opposing.map((one) => one.lessonId));
  return kept.filter((one) => one.kind === "rule" && others.has(one.origin.id));
}
