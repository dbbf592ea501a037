import type { Artifact, Kept, Reach } from "../core/change.ts";
import { type Evidence, learnedSection } from "../core/compose.ts";
import { type Evolved, grown, placedIn, renamed } from "../core/compose-evolved.ts";
import { diffOf } from "../core/diff.ts";
import type { Cluster, EvolvedKind } from "../core/evolve.ts";
import type { Instinct } from "../core/instinct.ts";
import type { Item } from "../core/item.ts";
import type { Actor, ProjectFold } from "../core/ledger.ts";
import { policy } from "../core/policy.ts";
import { type Concern, mayBeWritten, scan, scanSkill } from "../core/scan.ts";
import { parse, problemsOf, type Skill } from "../core/skill.ts";
import { archiveStep, draftsPlace, pinnedPlaces } from "./archive.ts";
import { evidenceOf, formatsOf, withSection } from "./plan-skill.ts";
import type { Place, Store } from "./ports.ts";
import {
  bytesOf,
  changeOf,
  dirname,
  fileIn,
  fileOf,
  filesAt,
  freeName,
  type History,
  isTakingBack,
  no,
  notHere,
  type Plan,
  type PublishDeps,
  packageOf,
  refusal,
  removal,
  type Step,
  textOfPackage,
} from "./step.ts";

/** What there is in the library, and what of it could not be read. */
export interface Known {
  readonly items: readonly Item[];
  readonly unread: readonly string[];
}

/** How a cluster is to be kept. */
export interface EvolveChoice {
  readonly reach: Reach;
  readonly actor: Actor;
}

/** Everything that decides about clusters, read once for all of them. */
export interface Ground {
  readonly history: History;
  readonly known: Known;
  /** The ids of what people took back. */
  readonly refused: ReadonlySet<string>;
  readonly pinned: ReadonlySet<string>;
  /** The projects by their ids. */
  readonly projects: ReadonlyMap<string, Pick<ProjectFold, "name" | "root">>;
  readonly choice: EvolveChoice;
}

/** What was made of most of a cluster's members, wherever it lies; what is live first. */
export function ownOf(cluster: Cluster, kept: readonly Kept[]): Kept[] {
  const best = kept
    .map((one) => ({ one, share: one.proposal ? 0 : shareOf(cluster, one.members ?? []) }))
    .filter(({ share }) => share >= policy.evolve.again)
    .sort((a, b) => b.share - a.share || Number(isDraft(a.one)) - Number(isDraft(b.one)))[0]?.one;
  if (!best) return [];
  return kept.filter(({ instinct, kind, reach }) => {
    const isSame = instinct === best.instinct && kind === best.kind;
    return isSame && (reach === "draft") === isDraft(best);
  });
}

function isDraft({ reach }: Kept): boolean {
  return reach === "draft";
}

/** How much of the smaller of two sets of instincts is in the other. */
export function shareOf({ members }: Cluster, others: readonly string[]): number {
  if (others.length === 0) return 0;
  const ids = new Set(others);
  const shared = members.filter(({ id }) => ids.has(id)).length;
  return shared / Math.min(members.length, ids.size);
}

export async function evidenceFor({ learning }: Store, instincts: readonly string[]): Promise<Evidence[]> {
  return evidenceOf(await learning.findings.ofInstincts(instincts));
}

/** Where the artifact lies that an item is of. */
export function placeOfItem({ kind, path }: Item): string {
  return kind === "skill" ? dirname(path) : path;
}

/** A text without its secrets, that may be written; or why it may not. */
async function cleaned(
  { redactor }: PublishDeps,
  kind: EvolvedKind,
  text: string,
): Promise<{ readonly text: string; readonly concerns: readonly Concern[] } | string> {
  const [clean = ""] = await redactor.scrub([{ label: kind, text }]);
  const { skill, problems } = parse(clean);
  if (skill === null || skill.description.trim() === "")
    return `it is no valid ${kind}: ${problems[0]?.message ?? "it says nothing of itself"}`;
  const wrong = kind === "skill" ? [...problems, ...problemsOf(skill)] : [];
  const first = wrong.find(({ severity }) => severity === "error");
  if (first) return `it is no valid skill: ${first.message}`;
  const concerns = concernsIn(kind, clean, skill);
  return mayBeWritten(concerns) ? { text: clean, concerns } : refusal(concerns);
}

function concernsIn(kind: EvolvedKind, text: string, skill: Skill): Concern[] {
  if (kind === "skill") return scanSkill(skill);
  const tooLong = scan(skill.body).filter(({ code }) => code === "too-long");
  return [...tooLong, ...scan(text, { most: Number.POSITIVE_INFINITY })];
}

/** Where something of a kind goes; null where that is not on this machine. */
async function targetsFor(
  deps: PublishDeps,
  kind: EvolvedKind,
  reach: Reach,
  root: string | null,
  members: readonly Instinct[],
): Promise<Place[] | null> {
  if (reach === "draft") {
    const place = draftsPlace(deps, kind);
    return place ? [place] : null;
  }
  if (kind !== "skill") return deps.places.files(kind, reach, root);
  const findings = await deps.store.learning.findings.ofInstincts(members.map(({ id }) => id));
  return deps.places.skills(reach, root, await formatsOf(deps.store, findings));
}

/** What making something new of a cluster would do, after what makes way for it. */
export async function planNew(
  deps: PublishDeps,
  cluster: Cluster,
  { kind, name, text }: Evolved,
  ground: Ground,
  away: readonly Step[],
): Promise<Plan> {
  const { choice, history, known } = ground;
  const root = rootOf(cluster, ground);
  const targets = await targetsFor(deps, kind, choice.reach, root, cluster.members);
  if (targets === null) return no(notHere);
  const project = isFarAway(cluster, choice) ? ground.projects.get(cluster.realm) : undefined;
  const clean = await cleaned(deps, kind, project ? placedIn(text, project.name) : text);
  if (typeof clean === "string") return no(clean);
  const steps = targets.map((target) => {
    const free = freeName(name, (one) => isTaken(target, kind, one, history, known));
    return createStep(deps, { kind, name: free, text: clean.text }, cluster, choice.reach, target, history);
  });
  return { ok: true, steps: [...away, ...steps], concerns: clean.concerns, belongsTo: null };
}

/** The folder of the project that a cluster was learned in. */
export function rootOf({ realm, members }: Cluster, { projects }: Pick<Ground, "projects">): string | null {
  return (projects.get(realm) ?? projects.get(members[0]?.project ?? ""))?.root ?? null;
}

/** Whether a project's lessons go where other projects read them. */
function isFarAway({ realm }: Cluster, { reach }: EvolveChoice): boolean {
  return reach === "everywhere" && realm !== "user";
}

/** Names are taken by what is there, and by what people call the same way. */
function isTaken(
  { folder }: Place,
  kind: EvolvedKind,
  name: string,
  { kept }: History,
  { items }: Known,
): boolean {
  const path = pathIn(folder, kind, name);
  return kept.some((one) => one.path === path) || items.some((item) => placeOfItem(item) === path);
}

function pathIn(folder: string, kind: EvolvedKind, name: string): string {
  return kind === "skill" ? `${folder}/${name}` : `${folder}/${name}.md`;
}

function createStep(
  { versions }: PublishDeps,
  { kind, name, text }: { readonly kind: EvolvedKind; readonly name: string; readonly text: string },
  source: { readonly id: string; readonly members: readonly { readonly id: string }[] },
  reach: Reach,
  target: Place,
  history: History,
  marks: Pick<Artifact, "proposal"> = {},
): Step {
  const own = renamed(text, kind, name, reach === "draft" ? "draft" : "active");
  const files = kind === "skill" ? packageOf(own) : fileOf(name, own);
  const artifact: Artifact = {
    ...{ kind, name, path: pathIn(target.folder, kind, name), root: target.root, reach },
    ...{ instinct: source.id, members: source.members.map(({ id }) => id), ...marks },
  };
  return {
    change: changeOf(artifact, null, versions.hashOf(files), "create", history),
    files,
    diff: diffOf(fileIn(artifact), null, own),
  };
}

/** What adding to something that Knack wrote would do: what it does not say yet, and nothing else. */
export async function planGrowth(
  deps: PublishDeps,
  cluster: Cluster,
  own: readonly Kept[],
  { history, pinned }: Ground,
): Promise<Plan> {
  const steps: Step[] = [];
  for (const one of own) {
    const ids = [...new Set([...(one.members ?? [one.instinct]), ...cluster.members.map(({ id }) => id)])];
    const evidence = await evidenceFor(deps.store, ids);
    const found = await filesAt(deps, one);
    if (found?.hash !== one.content) return no(`${one.name} was changed by hand`);
    if (pinned.has(one.path)) return no(`${one.name} is pinned`);
    const before = textOfPackage(found.files);
    const text = grown(before, cluster.kind, { members: cluster.members, evidence });
    if (text === before) continue;
    const clean = await cleaned(deps, cluster.kind, text);
    if (typeof clean === "string") return no(clean);
    if (clean.text === before) continue;
    const files = found.files.map((file) =>
      file.path === fileIn(one).replace(/^.*\//, "") ? { ...file, bytes: bytesOf(clean.text) } : file,
    );
    const change = changeOf(
      { ...one, members: ids },
      found.hash,
      deps.versions.hashOf(files),
      "update",
      history,
    );
    steps.push({ change, files, diff: diffOf(fileIn(one), before, clean.text) });
  }
  return { ok: true, steps, concerns: [], belongsTo: null };
}

/** A draft beside something that a person wrote, with what accepting it would change there. */
export async function planProposal(
  deps: PublishDeps,
  cluster: Cluster,
  evolved: Evolved,
  near: Item,
  ground: Ground,
): Promise<Plan> {
  const { history, known } = ground;
  const place = draftsPlace(deps, cluster.kind);
  if (!place) return no("there is no folder for drafts");
  const isIts = ({ proposal, members }: Artifact) =>
    proposal === true && shareOf(cluster, members ?? []) >= policy.evolve.again;
  const takenBack = history.changes.some(({ change }) => isIts(change) && isTakingBack(change));
  if (takenBack) return no("its proposal was taken back");
  const waits = history.kept.find(isIts);
  if (waits) return no(`${waits.name} waits for your word on it (knack skills diff ${waits.name})`);
  const clean = await cleaned(deps, cluster.kind, evolved.text);
  if (typeof clean === "string") return no(clean);
  const path = placeOfItem(near);
  const name = freeName(evolved.name, (one) => isTaken(place, cluster.kind, one, history, known));
  const text = withTarget(clean.text, path);
  const step = createStep(deps, { kind: cluster.kind, name, text }, cluster, "draft", place, history, {
    proposal: true,
  });
  const current = await filesAt(deps, { kind: near.kind, path, name: near.name });
  const before = current ? textOfPackage(current.files) : "";
  const lesson = parse(clean.text).skill as Skill;
  const diff = diffOf(fileIn(near), before, withSection(before, learnedSection(lesson)));
  return { ok: true, steps: [{ ...step, diff }], concerns: clean.concerns, belongsTo: near.path };
}

/** Says in a draft what it belongs to. */
function withTarget(text: string, path: string): string {
  return text.replace(/^metadata:$/m, `metadata:\n  belongs-to: ${JSON.stringify(path)}`);
}

/** What making a draft live would do, in place of what its members became alone: they go before it comes. */
export async function planLive(
  deps: PublishDeps,
  draft: Kept,
  reach: Reach,
  history: History,
  cluster?: Cluster,
): Promise<Plan> {
  const kind = draft.kind as EvolvedKind;
  const found = await filesAt(deps, draft);
  if (!found) return no(`the draft ${draft.name} is gone`);
  const members = await deps.store.learning.instincts.get([...(draft.members ?? [])]);
  const [first] = members;
  if (!first) return no(`nothing is known any more about ${draft.name}`);
  const [project] = await deps.store.projects.get([first.project]);
  const targets = await targetsFor(deps, kind, reach, project?.root ?? null, members);
  if (targets === null) return no(notHere);
  const ids = [...new Set([...members, ...(cluster?.members ?? [])].map(({ id }) => id))];
  const evidence = await evidenceFor(deps.store, ids);
  const text = grown(textOfPackage(found.files), kind, { members: cluster?.members ?? members, evidence });
  const isFar = reach === "everywhere" && first.scope === "project";
  const clean = await cleaned(deps, kind, isFar ? placedIn(text, project?.name ?? first.project) : text);
  if (typeof clean === "string") return no(clean);
  const source = { id: draft.instinct, members: ids.map((id) => ({ id })) };
  const away = await singlesOf(deps, ids, { ...draft, reach }, targets, history);
  const steps: Step[] = [];
  for (const target of targets) {
    const name = await freeNameIn(deps, target, kind, draft.name, history);
    steps.push(createStep(deps, { kind, name, text: clean.text }, source, reach, target, history));
  }
  const gone = removal(draft, found.hash, history, textOfPackage(found.files));
  return { ok: true, steps: [...away, ...steps, gone], concerns: clean.concerns, belongsTo: null };
}

async function freeNameIn(
  deps: PublishDeps,
  { folder }: Place,
  kind: EvolvedKind,
  name: string,
  { kept }: History,
): Promise<string> {
  for (let next = name, n = 2; ; next = `${name.slice(0, 60)}-${n++}`) {
    const path = pathIn(folder, kind, next);
    const isThere = kept.some((one) => one.path === path);
    if (!isThere && (await filesAt(deps, { kind, path, name: next })) === null) return next;
  }
}

/** The steps by which what members became alone makes way for something live. */
export async function singlesAway(
  deps: PublishDeps,
  cluster: Cluster,
  name: string,
  ground: Ground,
): Promise<Step[]> {
  const { choice, history } = ground;
  if (choice.reach === "draft") return [];
  const { id, kind, members } = cluster;
  const targets = (await targetsFor(deps, kind, choice.reach, rootOf(cluster, ground), members)) ?? [];
  const ids = members.map((member) => member.id);
  return singlesOf(deps, ids, { name, instinct: id, reach: choice.reach }, targets, history);
}

/**
 * What was made of these instincts alone, put away for what they grew into. A rule stays: it is read in every session,
 * and a skill only where it fits. So does what a person changed or pinned, and what reaches people whom this does not.
 */
async function singlesOf(
  deps: PublishDeps,
  ids: readonly string[],
  { name, instinct, reach }: Pick<Kept, "name" | "instinct" | "reach">,
  targets: readonly Place[],
  history: History,
): Promise<Step[]> {
  const members = new Set(ids);
  const pinned = await pinnedPlaces(deps.store, history.kept);
  const steps: Step[] = [];
  for (const one of history.kept) {
    if (one.kind === "rule" || one.members || one.proposal || !members.has(one.instinct)) continue;
    const reaches =
      one.reach === "draft" || reach === "everywhere" || targets.some(({ root }) => root === one.root);
    if (!reaches || pinned.has(one.path)) continue;
    const because = `${name} says it together with what else is known about it`;
    const step = await archiveStep(deps, one, because, history, instinct);
    if (step) steps.push(step);
  }
  return steps;
}

export async function archivings(
  deps: PublishDeps,
  own: readonly Kept[],
  because: string,
  { instinct }: Kept,
  { history }: Ground,
): Promise<Step[]> {
  const steps: Step[] = [];
  for (const one of own) {
    const step = await archiveStep(deps, one, because, history, instinct);
    if (step) steps.push(step);
  }
  return steps;
}
