import { type Clock, KnackError, makeId } from "../../base/index.ts";
import {
  type Actor,
  type Artifact,
  artifactKey,
  type Change,
  type Format,
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
import {
  type createVersions,
  type Library,
  type PackageContent,
  type PackageFile,
  type PackageFileList,
  type SkillFolder,
  toContent,
} from "../files/packages.ts";
import { parseRules } from "../rule.ts";
import { parseSkill, renderSkill, skillFile } from "../skill.ts";
import { setFrontMatter } from "./render.ts";

/** Where agents look for skills and rules; null for a project whose folder is not on this machine. */
export interface AgentFolders {
  skills(reach: Reach, root: string | null, formats: readonly Format[]): SkillFolder[] | null;
  /** Folders for commands or agents, each of which is one Markdown file. */
  files(kind: "command" | "agent", reach: Reach, root: string | null): SkillFolder[] | null;
  rules(reach: Reach, root: string | null, formats: readonly Format[]): RulesFile[] | null;
  /** Every folder whose skills an agent may get: the project's, the person's, the drafts. */
  all(root: string | null): SkillFolder[];
}

export interface RulesFile {
  readonly path: string;
  readonly root: string;
  /** Other projects read this file too, so a rule must name its project. */
  readonly named: boolean;
}

export interface PublishDeps {
  readonly store: Store;
  readonly library: Library;
  readonly versions: ReturnType<typeof createVersions>;
  readonly places: AgentFolders;
  readonly redactor: Redactor;
  readonly clock: Clock;
  /** The prefix of learned skills' names in a project. */
  readonly prefixOf: (root: string | null) => Promise<string>;
  /** Whether a fresh scan of the library finds what was just written; what agents cannot find is not live. */
  readonly isFound: (written: Artifact) => Promise<boolean>;
}

export interface KeepOptions {
  readonly reach: Reach;
  readonly actor: Actor;
  /** A person's own text: of the skill's file, or of the rule's line. */
  readonly text?: string;
  /** Make a new skill even when a person wrote a similar one. */
  readonly alongside?: boolean;
}

export interface PlannedChange {
  readonly change: Change;
  /** The files of the package; null for a rule, and for a removal. */
  readonly files: PackageFileList | null;
  readonly diff: string;
  /** The topmost folder above it that did not exist before an agent began to write it. */
  readonly missing?: string;
}

/** The changes that publishing would make, or why it is refused. A refused lesson is kept. */
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

/** The content of an artifact: a package, possibly with its files gone, or a rule's line. */
type Content = PackageContent | { readonly hash: string; readonly files: null } | string;

/** Every step of every plan is made here: the change with its id, what it writes, and the difference to read. */
export function planChange(
  history: ChangeHistory,
  artifact: Artifact,
  why: Change["why"],
  before: Content | null,
  after: Content | null,
  because?: string,
): PlannedChange {
  const { kind, name, path, root, reach, origin } = artifact;
  const { members, proposal, held, newFile, newFolder, replacedBy } = artifact;
  const change = {
    ...{ kind, name, path, root, reach, origin },
    ...(members && { members }),
    ...(proposal && { proposal }),
    ...(held !== undefined && reach === "draft" && { held }),
    ...(newFile && { newFile }),
    ...(newFolder && { newFolder }),
    ...(replacedBy && { replacedBy }),
    ...{ why, before: contentKey(before), after: contentKey(after) },
    ...(because !== undefined && { because }),
  };
  const files = typeof after === "string" ? null : (after?.files ?? null);
  return {
    change: { ...change, id: changeId(change, history) },
    files,
    diff: diffContent(artifact, before, after),
  };
}

/** Identity of a content: a package's hash or a rule's line. */
export function contentKey(content: Content | null): string | null {
  return typeof content === "string" ? content : (content?.hash ?? null);
}

/** Counts the changes at the same place: doing, undoing and doing again are three changes. */
export function changeId(change: Omit<Change, "id">, { changes }: ChangeHistory): string {
  const { before, after, why } = change;
  const key = artifactKey(change);
  const times = changes.filter((one) => one.state !== "intended" && artifactKey(one.change) === key).length;
  return makeId("c", JSON.stringify([key, before, after, why, times]));
}

/** The difference between two states of an artifact: of a rule its line, else file by file. */
export function diffContent(artifact: Artifact, before: Content | null, after: Content | null): string {
  const readFiles = (content: Content | null) =>
    typeof content === "string" ? null : (content?.files ?? null);
  if (artifact.kind !== "rule") return diffPackage(artifact, readFiles(before), readFiles(after));
  const line = (content: Content | null) => (content === null ? null : `- ${contentKey(content)}\n`);
  return renderDiff(pathWithinRoot(artifact), line(before), line(after));
}

function pathWithinRoot({ path, root }: Pick<Artifact, "path" | "root">): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path.replace(/^\//, "");
}

/** The difference between two packages, file by file: a script is where harm would be. */
export function diffPackage(
  { kind, name }: Pick<Artifact, "kind" | "name">,
  before: PackageFileList | null,
  after: PackageFileList | null,
): string {
  const main = kind === "skill" ? `${name}/${skillFile}` : `${name}.md`;
  const [old, fresh] = [decodeFiles(otherFiles(before ?? [])), decodeFiles(otherFiles(after ?? []))];
  const others = [...new Set([...fresh.keys(), ...old.keys()])].map((path) =>
    renderDiff(`${name}/${path}`, old.get(path) ?? null, fresh.get(path) ?? null),
  );
  return [renderDiff(main, before && mainText(before), after && mainText(after)), ...others].join("");
}

export interface NewArtifact {
  readonly kind: ItemKind;
  readonly name: string;
  readonly text: string;
  readonly others?: PackageFileList;
  readonly origin: Origin;
  readonly members?: readonly string[] | undefined;
  readonly reach: Reach;
  readonly proposal?: true;
  /** For a draft: why it waits for a person. */
  readonly held?: string | undefined;
  readonly why?: "create" | "restore";
  readonly because?: string;
}

/** Names that are tried. */
const mostNames = 100;

/** Plans to write something new into a folder, under a name that is free there. */
export async function planCreate(
  { library, store }: PublishDeps,
  wanted: NewArtifact,
  place: SkillFolder,
  history: ChangeHistory,
): Promise<PlannedChange> {
  const { kind, origin, members, reach, proposal, held, why = "create", because, others = [] } = wanted;
  const ending = kind === "skill" ? "" : ".md";
  const toPath = (name: string) => `${place.folder}/${name}${ending}`;
  let name = wanted.name;
  // A folder that leads out of its repository has no free name; writing there is refused.
  for (let n = 2; n < mostNames && (await library.entryKind(place, `${name}${ending}`)) !== "nothing"; n++) {
    // What another run is just writing there makes this plan outdated: no second name, it is made again.
    if (await isBeingWritten(store, toPath(name), history)) break;
    name = `${wanted.name.slice(0, 60)}-${n}`;
  }
  const main = mainFile(kind, name, nameText(kind, wanted.text, name));
  const artifact: Artifact = {
    ...{ kind, name, path: toPath(name), root: place.root, reach, origin },
    ...(members && { members }),
    ...(proposal && { proposal }),
    ...(held !== undefined && { held }),
  };
  return planChange(history, artifact, why, null, toContent([main, ...others]), because);
}

/** Whether a change at a place is under way, or was made since the history was read. */
async function isBeingWritten(store: Store, path: string, { changes }: ChangeHistory): Promise<boolean> {
  const here = changes.filter(({ change }) => change.path === path);
  if (here.some(({ state }) => state === "intended")) return true;
  const now = (await readHistory(store)).changes.filter(({ change }) => change.path === path);
  return now.length !== here.length;
}

/** A text under the name that it gets. */
export function nameText(kind: ItemKind, text: string, name: string): string {
  const skill = kind === "skill" ? parseSkill(text).skill : null;
  if (skill) return renderSkill({ ...skill, name });
  return kind === "command" ? text : setFrontMatter(text, { name });
}

/** Plans to replace the main text of something published; its other files stay. */
export function planRewrite(
  history: ChangeHistory,
  artifact: Artifact,
  current: PackageContent,
  text: string,
  because?: string,
): PlannedChange {
  const main = nameMainFile(artifact.kind, artifact.name);
  const files = current.files.map((file) =>
    file.path === main ? { ...file, bytes: encodeText(text) } : file,
  );
  return planChange(history, artifact, "update", current, toContent(files), because);
}

export function describeRefusal(concerns: readonly Concern[]): string {
  const first = concerns.find(({ severity }) => severity === "block");
  return `it may not be written: ${first?.message ?? "it looks dangerous"} (${first?.where ?? ""})`;
}

/** A skill's `SKILL.md`, or the only file of a command or an agent. */
export function mainFile(kind: Artifact["kind"], name: string, text: string): PackageFile {
  return { path: nameMainFile(kind, name), bytes: encodeText(text), mode: 0o644 };
}

export function nameMainFile(kind: Artifact["kind"], name: string): string {
  return kind === "skill" ? skillFile : `${name}.md`;
}

/** The content of a page, which is one file. */
export function toPageContent(name: string, text: string): PackageContent {
  return toContent([mainFile("page", name, text)]);
}

export function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The files of a skill, command or agent on disk, with their hash; null when there is nothing. */
export async function readFiles(
  { library }: Pick<PublishDeps, "library">,
  { kind, path, name }: Pick<Artifact, "kind" | "path" | "name">,
): Promise<PackageContent | null> {
  if (kind === "skill") return library.read(path);
  const read = await library.readText(path);
  if (read.found === "unreadable") throw new KnackError("LIBRARY_UNAVAILABLE", `Cannot read ${read.message}`);
  return read.found === "missing" ? null : toContent([mainFile(kind, name, read.text)]);
}

/** Reads an artifact's current content; null if missing. */
export async function readContent(
  deps: Pick<PublishDeps, "library">,
  artifact: Artifact,
): Promise<Content | null> {
  if (artifact.kind !== "rule") return readFiles(deps, artifact);
  const read = await deps.library.readText(artifact.path);
  if (read.found === "unreadable") throw new KnackError("LIBRARY_UNAVAILABLE", `Cannot read ${read.message}`);
  const rules = read.found === "text" ? parseRules(read.text).rules : [];
  return rules.find(({ id }) => id === artifact.name)?.line ?? null;
}

/** The text of a package's `SKILL.md`, or of its only file. */
export function mainText(files: PackageFileList): string {
  const file = files.find(({ path }) => path === skillFile) ?? (files.length === 1 ? files[0] : undefined);
  return file ? new TextDecoder().decode(file.bytes) : "";
}

/** The files beside a skill's `SKILL.md`. */
export function otherFiles(files: PackageFileList): PackageFileList {
  return files.some(({ path }) => path === skillFile) ? files.filter(({ path }) => path !== skillFile) : [];
}

export function decodeFiles(files: PackageFileList): ReadonlyMap<string, string> {
  return new Map(files.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)]));
}

/** For a stored version that is only compared with: a damaged one is reported when it is needed. */
export function nullIfDamaged(error: unknown): null {
  if (error instanceof KnackError) return null;
  throw error;
}

/** The file that a person opens to see something published. */
export function changedFile({ kind, path }: Pick<Artifact, "kind" | "path">): string {
  return kind === "skill" ? `${path}/${skillFile}` : path;
}

/** Whether a change is worth telling: a draft that makes room for its skill is not, a removed rule is. */
export function isNews({ change }: Pick<PlannedChange, "change">): boolean {
  return change.why !== "remove" || change.kind === "rule";
}
