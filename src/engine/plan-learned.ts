import type { Artifact, Kept, Reach } from "../core/change.ts";
import { diffOf } from "../core/diff.ts";
import {
  changedLines,
  type Examined,
  examine,
  ownFacts,
  type PackageText,
  packageText,
  passagesOf,
  placeIn,
} from "../core/package.ts";
import { policy } from "../core/policy.ts";
import { type Fault, faultOf } from "../core/protocol.ts";
import { type Concern, mayBeWritten, scan, scanSkill } from "../core/scan.ts";
import { type Owner, ownerOf, parse, render, type Skill, skillFile } from "../core/skill.ts";
import { archivedLike } from "./archive.ts";
import { originsOf } from "./learnings.ts";
import { createStep, draftsAway, listAll, nearest, settled, takenBack } from "./plan-skill.ts";
import type { PackageFile, Place } from "./ports.ts";
import {
  bytesOf,
  changeOf,
  diffOfOthers,
  dirname,
  fileIn,
  type History,
  historyOf,
  no,
  notHere,
  othersIn,
  type Plan,
  type PublishDeps,
  refusal,
  type Step,
  textOfPackage,
} from "./step.ts";

/** The files of a package, and what is no file among them. */
export interface Handed {
  readonly files: readonly PackageFile[];
  readonly links: readonly string[];
}

/** Looks at a package that an agent or a review wrote, in place of what is there: its form, its sizes, its secrets, its words. */
export async function examinePackage(
  { redactor }: Pick<PublishDeps, "redactor">,
  name: string,
  { files, links }: Handed,
  { before, owner }: { readonly before: readonly PackageFile[] | null; readonly owner: Owner },
): Promise<Examined> {
  const submitted = { name, files: files.map(asText), links, before: before?.map(asText) ?? null, owner };
  const examined = examine(submitted);
  const passages = passagesOf(submitted);
  const clean = await redactor.scrub(passages.map(({ text }) => ({ label: "text", text })));
  const secrets = passages.flatMap((passage, at) => {
    const { text, before: old } = passage;
    const lines = clean[at] === text ? [] : changedLines(text, clean[at] ?? "");
    const was = new Set(old.split(/\r?\n/));
    return lines.map((line) => ({
      where: `${placeIn(passage, line)}: `,
      isTheirs: owner !== "learned" && was.has(text.split(/\r?\n/)[line - 1] ?? ""),
    }));
  });
  const known = [...examined.faults, ...examined.remarks];
  const say = (isTheirs: boolean) => [
    ...new Set(
      secrets
        .filter((one) => one.isTheirs === isTheirs)
        .filter(({ where }) => !known.some((told) => told.startsWith(`${where}It holds a secret`)))
        .map(({ where }) => `${where}It holds a secret: take it out, and say where it is to be had instead.`),
    ),
  ];
  return {
    ...examined,
    faults: [...examined.faults, ...say(false)],
    remarks: [...examined.remarks, ...say(true)],
  };
}

/** A file as text; null for what is none. */
export function asText({ path, bytes }: PackageFile): PackageText {
  return packageText(path, bytes);
}

/** Whose a package is, as far as its text tells. */
export function ownerAt(path: string, files: readonly PackageFile[] | null): Owner {
  return files === null ? "learned" : ownerOf(path, parse(textOfPackage(files)).skill);
}

/** Where something new is to go, and for whom. */
export interface Wanted {
  readonly skill: Skill;
  /** What it goes by. */
  readonly id: string;
  readonly path: string;
  readonly project: string;
  readonly root: string | null;
  /** When the person asked for it in so many words; null where they did not. */
  readonly asked: number | null;
}

/** Why a new skill is not needed: something live, a draft, or something that was put away or taken back is about the same. */
export async function duplicateFault(deps: PublishDeps, wanted: Wanted): Promise<Fault | null> {
  const { skill, id, path, project, root, asked } = wanted;
  const listed = await listAll(deps.library, deps.places.all(root));
  if (typeof listed === "string")
    return faultOf("publish_failed", listed, "See that the folder can be read, and call again.");
  const near = nearest(
    skill,
    listed.skills.filter((one) => one.path !== path),
  );
  if (near)
    return faultOf(
      "skill_near_duplicate",
      `${near.name} is about the same already.`,
      `Load ${near.name}; if it lacks what you learned, start an update of it; otherwise finish with aborted.`,
      [near.path],
    );
  const history = await historyOf(deps.store);
  const old = await archivedLike(deps, skill, { instinct: id, realm: project }, history);
  if (old)
    return faultOf(
      "skill_near_duplicate",
      `${old.name}, which was put away, is about the same.`,
      `Finish with aborted, and tell the person that it can be brought back: knack skills restore ${old.name}`,
      [`put away: ${old.because}`],
    );
  const gone = await takenBack(deps, skill, id, history);
  if (gone === null || (await isAllowedAgain(deps, gone, history))) return null;
  if (asked !== null && asked > changedAt(gone, history)) return null;
  return faultOf(
    "skill_near_duplicate",
    `A person took ${gone} back, which is about the same.`,
    `Finish with aborted. Only when the person has asked for it since, start again with the reason explicit_user_request and their words among the events; they can allow it for good: knack skills unskip ${gone}`,
    [gone],
  );
}

/** When something of a name was last changed. */
function changedAt(name: string, { changes }: History): number {
  return changes.findLast(({ change }) => change.name === name)?.at ?? 0;
}

/** Whether a person said that what they took back may be made again. */
async function isAllowedAgain({ store }: PublishDeps, name: string, { changes }: History): Promise<boolean> {
  const made = changes.findLast(({ change }) => change.name === name)?.change.instinct;
  const decided = await store.ledger.since("instinct.decided", 0);
  return decided.findLast(({ data }) => data.instinct === made)?.data.decision === "unskipped";
}

/** What Knack says of a skill that an agent or a review wrote. */
export interface Facts {
  readonly author: "agent" | "review";
  /** The agent's session; null where it is not known. */
  readonly session: string | null;
  readonly events: readonly string[];
  readonly model: string | null;
}

/** Something that was written and found good. */
export interface Ready {
  /** What it goes by: a learning's id, or a proposal's. */
  readonly id: string;
  readonly name: string;
  readonly files: readonly PackageFile[];
  readonly path: string;
  readonly place: Place;
  /** Whom it reaches where Knack has not kept it yet. */
  readonly reach: Reach;
  /** What it takes the place of, as it was when it was written; null for something new. */
  readonly base: readonly PackageFile[] | null;
  /** The topmost folder above it that was not there when it was begun. */
  readonly missing?: string;
  readonly facts: Facts;
}

/** The files as they go live: a learned skill says where it is from, a person's is left in their words. */
export function finalFiles({ path, files, base, facts, reach }: Ready): PackageFile[] {
  const plain = files.map((file) => ({ ...file, mode: file.mode & 0o111 ? 0o755 : 0o644 }));
  const { skill } = parse(textOfPackage(files));
  if (skill === null || ownerAt(path, base) !== "learned") return plain;
  const once = base === null ? null : parse(textOfPackage(base)).skill;
  const text = render({ ...skill, metadata: metadataOf(skill, once, facts, reach) });
  return plain.map((file) => (file.path === skillFile ? { ...file, bytes: bytesOf(text) } : file));
}

function metadataOf(
  skill: Skill,
  once: Skill | null,
  { author, session, events, model }: Facts,
  reach: Reach,
): Record<string, string> {
  const before = Number(once?.metadata.evidence ?? 0) || 0;
  // Who wrote what was there before did not write this.
  const { model: _, ...known } = factsIn(once?.metadata ?? {}, true);
  return {
    ...factsIn(skill.metadata, false),
    quality: reach === "draft" ? "draft" : "active",
    ...known,
    origin: "knack",
    evidence: String(before + events.length),
    ...(session === null ? {} : { session }),
    events: events.join(" "),
    ...(model === null ? {} : { model }),
    author,
  };
}

/** Whether two packages differ in nothing but what Knack itself says of them. */
export function saysTheSame(
  { versions }: Pick<PublishDeps, "versions">,
  ...two: readonly [readonly PackageFile[], readonly PackageFile[]]
): boolean {
  const [one, other] = two.map((files) => versions.hashOf(files.map(withoutFacts)));
  return one === other;
}

function withoutFacts({ path, bytes, mode }: PackageFile): PackageFile {
  const plain = { path, bytes, mode: mode & 0o111 ? 0o755 : 0o644 };
  const text = path === skillFile ? packageText(path, bytes).text : null;
  const skill = text === null ? null : parse(text).skill;
  if (skill === null) return plain;
  return { ...plain, bytes: bytesOf(render({ ...skill, metadata: factsIn(skill.metadata, false) })) };
}

/** Of what a skill says of itself what is Knack's own, or what is not. */
function factsIn(metadata: Skill["metadata"], isOwn: boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => ownFacts.has(key) === isOwn));
}

/** What making it live would do; what is there already as it should be needs nothing. */
export async function planWritten(deps: PublishDeps, ready: Ready): Promise<Plan> {
  const { name, path, place, base, missing } = ready;
  const history = await historyOf(deps.store);
  const files = finalFiles(ready);
  const after = deps.versions.hashOf(files);
  const found = await deps.library.read(path);
  // A folder with nothing in it is no package.
  const current = found === null || found.files.length + found.links.length === 0 ? null : found;
  if (current?.hash === after) return settled([], null);
  if (base === null && current !== null) return no(`there is another skill at ${path}`);
  if (base !== null && current === null) return no(`${path} is gone`);
  // Whatever else was made of it meanwhile, by whomever, would be lost without a word.
  const isBase = current?.hash === deps.versions.hashOf(base ?? []);
  if (current !== null && !isBase && !saysTheSame(deps, current.files, files))
    return no(`${path} was changed meanwhile`);
  const known = base === null ? undefined : history.kept.find((one) => one.path === path);
  const artifact: Artifact = known ?? {
    ...{ kind: "skill", name, path, root: place.root, reach: ready.reach, instinct: ready.id },
  };
  const text = textOfPackage(files);
  const step = (one: Artifact, before: string | null, old: string | null): Step => ({
    change: changeOf(one, before, after, base === null ? "create" : "update", history),
    files,
    diff: diffOf(fileIn(one), old, text) + diffOfOthers(name, othersIn(base ?? []), files, true),
    ...(missing === undefined ? {} : { missing }),
  });
  const old = current ? textOfPackage(current.files) : null;
  const steps = [step(artifact, current?.hash ?? null, old)];
  // What lies in several folders for several agents stays one skill.
  for (const twin of known ? twinsOf(known, history) : []) {
    const there = await deps.library.read(twin.path);
    if (there?.hash === current?.hash) steps.push(step(twin, there?.hash ?? null, old));
  }
  return settled(steps, null);
}

function twinsOf({ path, name, instinct, reach }: Kept, { kept }: History): Kept[] {
  return kept.filter(
    (one) => one.path !== path && one.name === name && one.instinct === instinct && one.reach === reach,
  );
}

/** What accepting the draft of something that an agent or a review wrote would do: it goes live as it stands there. */
export async function planAcceptWritten(
  deps: PublishDeps,
  draft: Kept,
  found: { readonly files: readonly PackageFile[]; readonly hash: string },
  reach: Reach,
): Promise<Plan> {
  const { skill } = parse(textOfPackage(found.files));
  if (skill === null) return no(`the draft ${draft.name} cannot be read`);
  const origin = (await originsOf(deps.store, [draft.instinct])).get(draft.instinct);
  const [project] = origin ? await deps.store.projects.get([origin.project]) : [];
  const targets = deps.places.skills(reach, project?.root ?? null, origin?.format ? [origin.format] : []);
  if (targets === null) return no(notHere);
  const listed = await listAll(deps.library, targets);
  if (typeof listed === "string") return no(listed);
  // The draft may have been edited since it was looked at.
  const concerns = concernsIn(found.files);
  if (!mayBeWritten(concerns)) return no(refusal(concerns));
  const history = await historyOf(deps.store);
  const active = { ...skill, metadata: { ...skill.metadata, quality: "active" } };
  const source = { instinct: { id: draft.instinct }, choice: { reach } };
  const steps = targets.map((target) => {
    const step = createStep(deps, source, active, target, listed, history, null);
    const files = [...(step.files ?? []), ...found.files.filter(({ path }) => path !== skillFile)];
    const change = changeOf(step.change, null, deps.versions.hashOf(files), "create", history);
    return { ...step, files, change };
  });
  const away = await draftsAway(deps, draft.instinct, history);
  return settled([...steps, ...away], null);
}

/** What is dangerous in the words of a package, whosever it is. */
export function concernsIn(files: readonly PackageFile[]): Concern[] {
  const { skill } = parse(textOfPackage(files));
  const others = files.map(asText).flatMap(({ path, text }) => {
    return text === null || path === skillFile
      ? []
      : scan(text, { most: policy.protocol.fileBytes, file: path });
  });
  return [...(skill === null ? [] : scanSkill(skill)), ...others];
}

/** Where a path lies, of the places that there are. */
export function placeAt(path: string, places: readonly Place[]): Place | null {
  return places.find(({ folder }) => folder === dirname(path)) ?? null;
}
