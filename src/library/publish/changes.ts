import { type Clock, KnackError, makeId } from "../../base/index.ts";
import {
  type Actor,
  type Artifact,
  artifactKey,
  type Change,
  foldKept,
  type ItemKind,
  type KeptArtifact,
  type Origin,
  type Reach,
  type StoredChange,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { renderDiff } from "../../text/index.ts";
import type { Concern, Redactor } from "../../trust/index.ts";
import type { AgentFolders, Library, PackageFile, SkillFolder } from "../files/library.ts";
import type { Versions } from "../files/versions.ts";
import { parseSkill, renderSkill, skillFile } from "../skill.ts";
import { setFrontMatter } from "./render.ts";

export interface PublishDeps {
  readonly store: Store;
  readonly library: Library;
  readonly versions: Versions;
  readonly places: AgentFolders;
  readonly redactor: Redactor;
  readonly clock: Clock;
  /** The prefix of learned skills' names in a project. */
  readonly prefixOf: (root: string | null) => Promise<string>;
  /** Whether a fresh scan of the library finds what was just written; what agents cannot find is not live. */
  readonly isFound: (written: Artifact) => Promise<boolean>;
}

/** How a lesson is to be kept. */
export interface KeepOptions {
  readonly reach: Reach;
  readonly actor: Actor;
  /** A person's own text: of the skill's file, or of the rule's line. */
  readonly text?: string;
  /** Make a new skill even when a person wrote a similar one. */
  readonly alongside?: boolean;
}

/** A change with what it writes. */
export interface PlannedChange {
  readonly change: Change;
  /** The files of the package; null for a rule, and for a removal. */
  readonly files: readonly PackageFile[] | null;
  /** For a person to read. */
  readonly diff: string;
  /** The topmost folder above it that did not exist before an agent began to write it. */
  readonly missing?: string;
}

/** What publishing something would change, or why it is refused. A refusal loses nothing: the lesson stays. */
export type Plan =
  | {
      readonly ok: true;
      readonly steps: readonly PlannedChange[];
      readonly concerns: readonly Concern[];
      /** The person's own skill that this belongs to; the plan writes a proposal beside it. */
      readonly belongsTo: string | null;
    }
  | { readonly ok: false; readonly because: string };

export function accept(
  steps: readonly PlannedChange[],
  more: { readonly concerns?: readonly Concern[]; readonly belongsTo?: string | null } = {},
): Extract<Plan, { ok: true }> {
  return { ok: true, steps, concerns: more.concerns ?? [], belongsTo: more.belongsTo ?? null };
}

export function refuse(because: string): Extract<Plan, { ok: false }> {
  return { ok: false, because };
}

export const projectMissing = "the project's folder is not on this machine";

/** Every change so far, and what those that were made left behind. */
export interface ChangeHistory {
  readonly changes: readonly StoredChange[];
  readonly kept: readonly KeptArtifact[];
}

/** Lessons that were merged go by one id: what was made of any of them counts as made of that one. */
export async function readHistory({ learning }: Store): Promise<ChangeHistory> {
  const all = await learning.changes.list();
  const ids = all.flatMap(({ change: { origin, members = [] } }) => [origin.id, ...members]);
  const current = await learning.findings.lessonIds([...new Set(ids)]);
  const rename = (id: string) => current.get(id) ?? id;
  const changes = all.map((one) => {
    const { origin, members } = one.change;
    const lessons = members ? { members: [...new Set(members.map(rename))] } : {};
    return { ...one, change: { ...one.change, origin: { ...origin, id: rename(origin.id) }, ...lessons } };
  });
  return { changes, kept: foldKept(changes.filter(({ state }) => state === "made")) };
}

/** The latest changes made, in one go, to the places where something was published from an origin. */
export function findLatestChanges({ changes }: ChangeHistory, { id }: Pick<Origin, "id">): Change[] {
  const own = new Set(changes.flatMap(({ change }) => (change.origin.id === id ? artifactKey(change) : [])));
  const made = changes.filter(({ change, state }) => state === "made" && own.has(artifactKey(change)));
  return made.filter(({ at }) => at === made.at(-1)?.at).map(({ change }) => change);
}

/** Whether a change takes back what was written. Undoing a removal or a curation does not. */
export function isTakeBack({ why, before, because }: Change): boolean {
  return why === "undo" && before !== null && because === undefined;
}

/** Whether Knack once wrote exactly this to a path; a file that a person changed is theirs. */
export function isWrittenByKnack(path: string, hash: string, { changes }: ChangeHistory): boolean {
  return changes.some(({ change }) => change.path === path && change.after === hash);
}

export function makeChange(
  artifact: Artifact,
  before: string | null,
  after: string | null,
  why: Change["why"],
  history: ChangeHistory,
  because?: string,
): Change {
  const { kind, name, path, root, reach, origin, members, proposal, newFile, newFolder, replacedBy } =
    artifact;
  const change = {
    ...{ kind, name, path, root, reach, origin },
    ...(members ? { members } : {}),
    ...(proposal ? { proposal } : {}),
    ...(newFile ? { newFile } : {}),
    ...(newFolder ? { newFolder } : {}),
    ...(replacedBy ? { replacedBy } : {}),
    ...{ why, before, after },
    ...(because === undefined ? {} : { because }),
  };
  return { ...change, id: changeId(change, history) };
}

/** Counts the changes at the same place: doing, undoing and doing again are three changes. */
export function changeId(change: Omit<Change, "id">, { changes }: ChangeHistory): string {
  const { before, after, why } = change;
  const key = artifactKey(change);
  const times = changes.filter((one) => one.state !== "intended" && artifactKey(one.change) === key).length;
  return makeId("c", JSON.stringify([key, before, after, why, times]));
}

/** A skill, command or agent that is to be written. */
export interface NewArtifact {
  readonly kind: ItemKind;
  readonly name: string;
  /** Of its main file. */
  readonly text: string;
  /** Files beside it. */
  readonly others?: readonly PackageFile[];
  readonly origin: Origin;
  readonly members?: readonly string[] | undefined;
  readonly reach: Reach;
  readonly proposal?: true;
  readonly why?: "create" | "restore";
  readonly because?: string;
}

/** Plans to write something new into a folder, under a name that is free there. */
export async function planCreate(
  deps: PublishDeps,
  wanted: NewArtifact,
  { folder, root }: SkillFolder,
  history: ChangeHistory,
): Promise<PlannedChange> {
  const { kind, origin, members, reach, proposal, why = "create", because } = wanted;
  const name = await findFreeName(deps, wanted, { folder, root });
  const text = stampText(kind, wanted.text, name, reach);
  const files = kind === "skill" ? [...skillFiles(text), ...(wanted.others ?? [])] : singleFile(name, text);
  const artifact: Artifact = {
    ...{ kind, name, path: artifactPath(folder, kind, name), root, reach, origin },
    ...(members ? { members } : {}),
    ...(proposal ? { proposal } : {}),
  };
  const change = makeChange(artifact, null, deps.versions.hashOf(files), why, history, because);
  return { change, files, diff: renderDiff(mainFileName(artifact), null, text) };
}

async function findFreeName(
  { library }: PublishDeps,
  { kind, name }: Pick<NewArtifact, "kind" | "name">,
  place: SkillFolder,
): Promise<string> {
  for (let n = 1; ; n++) {
    const next = n === 1 ? name : `${name.slice(0, 60)}-${n}`;
    const file = basename(artifactPath(place.folder, kind, next));
    if ((await library.entryKind(place, file)) === "nothing") return next;
  }
}

function artifactPath(folder: string, kind: ItemKind, name: string): string {
  return kind === "skill" ? `${folder}/${name}` : `${folder}/${name}.md`;
}

/** The text with another name and another quality. */
export function stampText(kind: ItemKind, text: string, name: string, reach: Reach): string {
  const quality = reach === "draft" ? "draft" : "active";
  const skill = kind === "skill" ? parseSkill(text).skill : null;
  if (skill) return renderSkill({ ...skill, name, metadata: { ...skill.metadata, quality } });
  return setFrontMatter(text, { ...(kind === "command" ? {} : { name }), "metadata.quality": quality });
}

/** Plans to replace the main text of something published; its other files stay. */
export function planRewrite(
  { versions }: Pick<PublishDeps, "versions">,
  artifact: Artifact,
  current: { readonly files: readonly PackageFile[]; readonly hash: string },
  text: string,
  history: ChangeHistory,
  because?: string,
): PlannedChange {
  const main = basename(mainFileName(artifact));
  const files = current.files.map((file) =>
    file.path === main ? { ...file, bytes: encodeText(text) } : file,
  );
  return {
    change: makeChange(artifact, current.hash, versions.hashOf(files), "update", history, because),
    files,
    diff: renderDiff(mainFileName(artifact), mainText(current.files), text),
  };
}

/** Plans to remove something; `text` is what the diff shows of it. */
export function planRemove(
  artifact: Artifact,
  before: string,
  history: ChangeHistory,
  text: string | null,
): PlannedChange {
  const change = makeChange(artifact, before, null, "remove", history);
  return {
    change,
    files: null,
    diff: diffArtifact(artifact, artifact.kind === "rule" ? before : text, null),
  };
}

/** The difference between two texts of an artifact: of a rule its line. */
export function diffArtifact(artifact: Artifact, before: string | null, after: string | null): string {
  if (artifact.kind !== "rule") return renderDiff(mainFileName(artifact), before, after);
  const line = (text: string | null) => (text === null ? null : `- ${text}\n`);
  return renderDiff(pathWithinRoot(artifact), line(before), line(after));
}

/** The main file of an artifact as a diff names it. */
export function mainFileName({ kind, name }: Pick<Artifact, "kind" | "name">): string {
  return kind === "skill" ? `${name}/${skillFile}` : `${name}.md`;
}

export function pathWithinRoot({ path, root }: Pick<Artifact, "path" | "root">): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path.replace(/^\//, "");
}

/** Why the scanner's concerns keep a text from being written. */
export function describeRefusal(concerns: readonly Concern[]): string {
  const first = concerns.find(({ severity }) => severity === "block");
  return `it may not be written: ${first?.message ?? "it looks dangerous"} (${first?.where ?? ""})`;
}

function skillFiles(text: string): PackageFile[] {
  return [{ path: skillFile, bytes: encodeText(text), mode: 0o644 }];
}

/** A command or an agent is one file. */
export function singleFile(name: string, text: string): PackageFile[] {
  return [{ path: `${name}.md`, bytes: encodeText(text), mode: 0o644 }];
}

export function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The files of a skill, command or agent on disk, with their hash; null when there is nothing. */
export async function readFiles(
  { library, versions }: Pick<PublishDeps, "library" | "versions">,
  { kind, path, name }: Pick<Artifact, "kind" | "path" | "name">,
): Promise<{ readonly files: readonly PackageFile[]; readonly hash: string } | null> {
  if (kind === "skill") return library.read(path);
  const read = await library.readText(path);
  if (read.found === "missing") return null;
  if (read.found === "unreadable") throw new KnackError("LIBRARY_UNAVAILABLE", `Cannot read ${read.message}`);
  const files = singleFile(name, read.text);
  return { files, hash: versions.hashOf(files) };
}

/** The text of a package's `SKILL.md`, or of its only file. */
export function mainText(files: readonly PackageFile[]): string {
  const file = files.find(({ path }) => path === skillFile) ?? (files.length === 1 ? files[0] : undefined);
  return file ? new TextDecoder().decode(file.bytes) : "";
}

/** The files beside a skill's `SKILL.md`. */
export function otherFiles(files: readonly PackageFile[]): readonly PackageFile[] {
  return files.some(({ path }) => path === skillFile) ? files.filter(({ path }) => path !== skillFile) : [];
}

/** The difference between two packages, file by file: a script is where harm would be. */
export function diffPackage(
  artifact: Pick<Artifact, "kind" | "name">,
  before: readonly PackageFile[] | null,
  after: readonly PackageFile[] | null,
): string {
  const [old, fresh] = [decodeFiles(otherFiles(before ?? [])), decodeFiles(otherFiles(after ?? []))];
  const main = renderDiff(mainFileName(artifact), before && mainText(before), after && mainText(after));
  const others = [...new Set([...fresh.keys(), ...old.keys()])].map((path) =>
    renderDiff(`${artifact.name}/${path}`, old.get(path) ?? null, fresh.get(path) ?? null),
  );
  return [main, ...others].join("");
}

export function decodeFiles(files: readonly PackageFile[]): ReadonlyMap<string, string> {
  return new Map(files.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)]));
}

/** For a stored version that is only compared with: a damaged one is reported when it is needed. */
export function nullIfDamaged(error: unknown): null {
  if (error instanceof KnackError) return null;
  throw error;
}

export function dirname(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

export function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
