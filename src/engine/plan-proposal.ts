import type { Change, LiveReach, Reach } from "../core/change.ts";
import { policy as defaults } from "../core/policy.ts";
import { proposalId } from "../core/protocol.ts";
import type { Draft, Proposal, ProposedFile } from "../core/review.ts";
import { applyEdits, packageFor } from "../core/reviewer.ts";
import { type Format, threadOf } from "../core/session.ts";
import { parse, skillFile } from "../core/skill.ts";
import { pinnedPlaces } from "./archive.ts";
import {
  asText,
  duplicateFault,
  examinePackage,
  finalFiles,
  ownerAt,
  placeAt,
  planWritten,
  type Ready,
} from "./plan-learned.ts";
import { isOurs, listAll, settled } from "./plan-skill.ts";
import type { PackageFile, Place, SkillPackage, Store } from "./ports.ts";
import {
  bytesOf,
  dirname,
  type History,
  historyOf,
  ifDamaged,
  isTakingBack,
  no,
  notHere,
  type Plan,
  type PublishDeps,
  type Step,
  textsIn,
} from "./step.ts";

/** What a review proposes from: the project, and what the review rests on. */
export interface ProposalGround {
  readonly review: string;
  readonly project: { readonly id: string; readonly root: string | null };
  readonly model: string;
  /** The events that a dossier's ids mean. */
  readonly eventsOf: (ids: readonly string[]) => Proposal["evidence"];
}

/** What may be proposed, with its files; or why it may not. */
export type Proposable =
  | {
      readonly proposal: Proposal;
      readonly files: readonly PackageFile[];
      /** What they take the place of; null for something new. */
      readonly base: readonly PackageFile[] | null;
    }
  /** `later`: it may be another time, when the same is looked at again. */
  | { readonly because: string; readonly later?: true };

/** What would be proposed of a draft: nothing that could not be published is. */
export async function proposable(
  deps: PublishDeps,
  draft: Draft,
  ground: ProposalGround,
): Promise<Proposable> {
  const found = await (draft.do === "create" ? created : patched)(deps, draft as never, ground);
  if ("because" in found) return found;
  const planned = await plan(deps, found.proposal, found.files, "draft");
  return planned.ok ? found : { because: planned.because };
}

async function created(
  deps: PublishDeps,
  draft: Extract<Draft, { do: "create" }>,
  ground: ProposalGround,
): Promise<Proposable> {
  const prefix = await deps.prefixOf(ground.project.root);
  const name = draft.name.startsWith(prefix) ? draft.name : `${prefix}${draft.name}`;
  const drafts = draftsOf(deps);
  if (!drafts) return { because: "there is no folder for drafts" };
  const files = packageFor({ ...draft, name }).map(asFile);
  const place = { path: `${drafts.folder}/${name}`, before: null, name };
  return { proposal: proposalOf(deps, draft, ground, place, files), files, base: null };
}

async function patched(
  deps: PublishDeps,
  draft: Extract<Draft, { do: "patch" }>,
  ground: ProposalGround,
): Promise<Proposable> {
  const { skill: name, base } = draft;
  const existing = await packageCalled(deps, ground.project.root, name, base);
  if (typeof existing === "string") return { because: existing, later: true };
  if (existing.owner === "core") return { because: `${name} is not to be changed` };
  const current = await deps.library.read(existing.path);
  if (current?.hash !== base) return { because: otherNow(name), later: true };
  const files = patchedFiles(current.files, draft);
  if (typeof files === "string") return { because: files };
  if (deps.versions.hashOf(files) === base) return { because: "nothing would change" };
  const place = { path: existing.path, before: base, name };
  return { proposal: proposalOf(deps, draft, ground, place, files), files, base: current.files };
}

/** The files of a package as a patch leaves them; or why it does not fit. */
function patchedFiles(
  current: readonly PackageFile[],
  // What an earlier Knack noted has edits alone.
  { edits, files = [], removed = [] }: Extract<Draft, { do: "patch" }>,
): PackageFile[] | string {
  const edited = applyEdits(textsOf(current), edits);
  if (typeof edited === "string") return edited;
  // A reviewer is told the names of some files only.
  const there = files.find(({ path }) => current.some((file) => file.path === path));
  if (there !== undefined) return `${there.path} is there, and was not read`;
  const left = current.filter(({ path }) => !removed.includes(path));
  const changed = left.map((file) => {
    const text = edited.get(file.path);
    return text === undefined ? file : { ...file, bytes: bytesOf(text) };
  });
  return [...changed, ...files.map(asFile)];
}

/** Why no change of a package could be written, whatever it says: the person has put into it what is theirs alone. */
export async function whyUnchangeable(
  deps: Pick<PublishDeps, "library" | "redactor">,
  { name, path }: Pick<SkillPackage, "name" | "path">,
): Promise<string | null> {
  const found = await deps.library.read(path);
  if (found === null) return "it is gone";
  const { files, links } = found;
  if (links.length > 0) return `it has a link in it (${links[0]}), which no copy would have`;
  const as = { before: files, owner: ownerAt(path, files) };
  return (await examinePackage(deps, name, { files, links }, as)).faults[0] ?? null;
}

function otherNow(name: string): string {
  return `${name} is not what the review has read`;
}

/** The package of a name that has a hash, of those that a project's agents may have; or why there is none. */
async function packageCalled(
  deps: PublishDeps,
  root: string | null,
  name: string,
  hash: string,
): Promise<SkillPackage | string> {
  const listed = await listAll(deps.library, deps.places.all(root));
  if (typeof listed === "string") return listed;
  return listed.skills.find((one) => one.name === name && one.hash === hash) ?? otherNow(name);
}

/** What it says and where decides what it is, so that the same is known again. */
function proposalOf(
  deps: PublishDeps,
  draft: Draft,
  { review, project, model, eventsOf }: ProposalGround,
  place: Pick<Proposal, "path" | "before" | "name">,
  files: readonly PackageFile[],
): Proposal {
  const after = deps.versions.hashOf(files);
  return {
    id: proposalId(JSON.stringify([project.id, place.path, place.before, after])),
    ...{ review, do: draft.do, project: project.id, ...place, after, because: draft.because, model },
    evidence: eventsOf(draft.refs),
  };
}

/** What publishing one by itself would do: a draft of what is new, the change of what is there. */
export async function planPublished(deps: PublishDeps, proposal: Proposal): Promise<Plan> {
  return planKept(deps, proposal, "draft");
}

/** What accepting one would do: what is new goes live, for this person in its project unless told otherwise; a change stays where the skill is. */
export async function planAccepted(
  deps: PublishDeps,
  proposal: Proposal,
  where: LiveReach | null,
): Promise<Plan> {
  if (where !== null && proposal.before !== null) return no(`a change is made where ${proposal.name} is`);
  // Where there is no project to put it in, it is the person's.
  return planKept(
    deps,
    proposal,
    where ?? ((await rootOf(deps.store, proposal.project)) === null ? "everywhere" : "me"),
  );
}

async function planKept(deps: PublishDeps, proposal: Proposal, reach: Reach): Promise<Plan> {
  const files = await deps.versions.restore(proposal.after);
  return files === null ? no(`the files of ${proposal.name} are gone`) : plan(deps, proposal, files, reach);
}

/** Everything that a package must pass before it is written, each time that it is to be. */
async function plan(
  deps: PublishDeps,
  proposal: Proposal,
  files: readonly PackageFile[],
  reach: Reach,
): Promise<Plan> {
  const { name, path } = proposal;
  const ready = await readyFor(deps, proposal, files, reach);
  if (typeof ready === "string") return no(ready);
  const [first] = ready;
  const before = first?.base ?? null;
  const owner = ownerAt(path, before);
  const { faults, skill } = await examinePackage(deps, name, { files, links: [] }, { before, owner });
  if (faults.length > 0 || skill === null) return no(faults.join("; "));
  if (proposal.before === null) {
    const root = await rootOf(deps.store, proposal.project);
    const wanted = {
      skill,
      id: proposal.id,
      path,
      project: proposal.project,
      root,
      asked: reach === "draft" ? null : Number.POSITIVE_INFINITY,
    };
    const twin = await duplicateFault(deps, wanted);
    if (twin !== null) return no(twin.message.replace(/\.$/, ""));
  }
  const steps: Step[] = [];
  for (const one of ready) {
    const planned = await planWritten(deps, one);
    if (!planned.ok) return planned;
    steps.push(...planned.steps);
  }
  return settled(steps, null);
}

/** A proposal as it is to be written, wherever that is; or why it cannot be. */
async function readyFor(
  deps: PublishDeps,
  proposal: Proposal,
  files: readonly PackageFile[],
  reach: Reach,
): Promise<Ready[] | string> {
  const { name, path } = proposal;
  const common = readyAs(proposal, files);
  const root = await rootOf(deps.store, proposal.project);
  if (proposal.before !== null) {
    const current = await deps.library.read(path);
    if (current?.hash !== proposal.before) return `${name} has changed since, so the proposal is outdated`;
    const place = placeAt(path, deps.places.all(root));
    if (!place) return notHere;
    const reached = root !== null && path.startsWith(`${root}/`) ? "repository" : "everywhere";
    return [{ ...common, place, reach: reached, base: current.files }];
  }
  const places = deps.places.skills(reach, root, await formatsOf(deps, proposal));
  if (places === null) return notHere;
  return places.map((place) => ({ ...common, path: `${place.folder}/${name}`, place, reach, base: null }));
}

/** What is the same wherever it is written. */
function readyAs(
  { id, name, path, model, evidence }: Proposal,
  files: readonly PackageFile[],
): Pick<Ready, "id" | "name" | "files" | "path" | "facts"> {
  const session = evidence[0]?.run ?? null;
  const events = evidence.flatMap(({ run, ref }) => (run === session ? ref : []));
  return { id, name, files, path, facts: { author: "review", session, events, model } };
}

/** Where a project is; null where nobody knows. */
export async function rootOf({ projects }: Pick<Store, "projects">, project: string): Promise<string | null> {
  return (await projects.get([project]))[0]?.root ?? null;
}

/** Whether one may be published without anybody's yes: it is new, or leaves most of what is as Knack left it, not pinned and never taken back. */
export async function isOwn(deps: PublishDeps, proposal: Proposal): Promise<boolean> {
  if (proposal.before === null) return true;
  const root = await rootOf(deps.store, proposal.project);
  const existing = await packageCalled(deps, root, proposal.name, proposal.before);
  if (typeof existing === "string" || existing.path !== proposal.path) return false;
  const history = await historyOf(deps.store);
  if (!isOurs(existing, history) || isTakenBackAt(proposal.path, history)) return false;
  if ((await pinnedPlaces(deps.store, history.kept)).has(existing.path)) return false;
  return staysMostly(await keptFiles(deps, proposal.before), await keptFiles(deps, proposal.after));
}

/** The files of a kept version; null where they are gone, or not what was kept. */
async function keptFiles(
  { versions }: Pick<PublishDeps, "versions">,
  hash: string,
): Promise<readonly PackageFile[] | null> {
  return versions.restore(hash).catch(ifDamaged);
}

/** Whether the latest change of a place is that somebody took one back: they may not want it in other words either. */
function isTakenBackAt(place: string, { changes }: Pick<History, "changes">): boolean {
  const latest = changes.findLast(({ change, state }) => state === "made" && change.path === place);
  return latest !== undefined && isTakingBack(latest.change);
}

/** Whether a change leaves every file of a skill, and enough of each; what nobody can compare does not. */
function staysMostly(before: readonly PackageFile[] | null, after: readonly PackageFile[] | null): boolean {
  if (before === null || after === null) return false;
  const [old, left] = [textsIn(before), textsIn(after)];
  return [...old].every(([path, text]) => {
    const now = left.get(path);
    return now !== undefined && (now === text || isMostlyLeft(path, text, now));
  });
}

/**
 * Of a skill's text the words of its description and of its body, each: the rest of the front matter is Knack's to
 * change. Of other files whole lines: the words of a script may be left, and all of it turned round.
 */
function isMostlyLeft(path: string, text: string, now: string): boolean {
  if (path !== skillFile) return leavesMostly(linesIn(text), linesIn(now));
  const [old, left] = [parse(text).skill, parse(now).skill];
  if (old === null || left === null) return leavesMostly(wordsIn(text), wordsIn(now));
  return (["description", "body"] as const).every((part) =>
    leavesMostly(wordsIn(old[part]), wordsIn(left[part])),
  );
}

function leavesMostly(old: ReadonlySet<string>, left: ReadonlySet<string>): boolean {
  return [...old].filter((part) => left.has(part)).length >= old.size * defaults.review.mostlyLeft;
}

function wordsIn(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ""));
}

function linesIn(text: string): ReadonlySet<string> {
  return new Set(text.split(/\r?\n/).filter((line) => line.trim() !== ""));
}

/**
 * Whether what one proposes was written, and whether that was taken back since: a process that was killed right after
 * has not said so.
 */
export async function writtenAs(
  deps: PublishDeps,
  proposal: Proposal,
  { changes }: Pick<History, "changes">,
): Promise<"written" | "taken-back" | null> {
  const made = changes.flatMap(({ change, state }) => (state === "made" ? change : []));
  const isIts = await writingOf(deps, proposal, made);
  const last = made.findLastIndex(isIts);
  const written = made[last];
  if (written === undefined) return null;
  const isBack = (change: Change) =>
    isTakingBack(change) && change.path === written.path && change.before === written.after;
  return made.slice(last + 1).some(isBack) ? "taken-back" : "written";
}

/** Which changes write what one proposes: something new goes by its id, a change of what is there by what comes of it. */
async function writingOf(
  deps: PublishDeps,
  proposal: Proposal,
  made: readonly Change[],
): Promise<(change: Change) => boolean> {
  const { id, path, before, after } = proposal;
  // What changes, archives or removes it later bears its id too.
  if (before === null) return ({ instinct, why }) => instinct === id && why === "create";
  const isOf = (change: Change) => change.path === path && change.before === before;
  if (!made.some(isOf)) return () => false;
  const [files, base] = [await keptFiles(deps, after), await keptFiles(deps, before)];
  if (files === null || base === null) return () => false;
  const place = { folder: dirname(path), root: "" };
  const hash = deps.versions.hashOf(finalFiles({ ...readyAs(proposal, files), place, base, reach: "me" }));
  return (change) => isOf(change) && change.after === hash;
}

/** The agents in whose sessions the evidence lies. */
async function formatsOf({ store }: PublishDeps, { evidence }: Proposal): Promise<Format[]> {
  const runs = new Set(evidence.map(({ run }) => run));
  const sessions = (await store.sessions.list()).filter((session) => runs.has(threadOf(session)));
  return [...new Set(sessions.map(({ format }) => format))];
}

function draftsOf({ places }: PublishDeps): Place | undefined {
  return places.skills("draft", null, [])?.[0];
}

function asFile({ path, text }: ProposedFile): PackageFile {
  return { path, bytes: bytesOf(text), mode: path.startsWith("scripts/") ? 0o755 : 0o644 };
}

/** The texts of a package; what is no text cannot be edited. */
function textsOf(files: readonly PackageFile[]): Map<string, string> {
  const texts = files.map(asText);
  return new Map(texts.flatMap(({ path, text }) => (text === null ? [] : [[path, text]])));
}
