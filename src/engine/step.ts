import { type Artifact, type Change, type Kept, keptBy, placeOf, type Reach } from "../core/change.ts";
import { diffOf } from "../core/diff.ts";
import { KnackError } from "../core/errors.ts";
import { idOf } from "../core/ids.ts";
import type { Instinct } from "../core/instinct.ts";
import type { Actor } from "../core/ledger.ts";
import type { Concern } from "../core/scan.ts";
import type { Format } from "../core/session.ts";
import { skillFile } from "../core/skill.ts";
import type {
  Clock,
  KeptChange,
  KeptFinding,
  Library,
  PackageFile,
  Places,
  Redactor,
  Store,
  Versions,
} from "./ports.ts";

export interface PublishDeps {
  readonly store: Store;
  readonly library: Library;
  readonly versions: Versions;
  readonly places: Places;
  readonly redactor: Redactor;
  readonly clock: Clock;
  /** What the names of learned skills begin with in a project. */
  readonly prefixOf: (root: string | null) => Promise<string>;
  /** Whether the library, looked through anew, has what was just written: what nobody can be given is not live. */
  readonly isFound: (written: Artifact) => Promise<boolean>;
}

/** How an instinct is to be kept. */
export interface Choice {
  readonly reach: Reach;
  readonly actor: Actor;
  /** The text a person made of it: of a skill's file, or a rule's line. */
  readonly text?: string;
  /** Make a skill of its own, even where a person wrote one like it. */
  readonly alongside?: boolean;
}

/** A change with what it writes. */
export interface Step {
  readonly change: Change;
  /** The files of the package; null for a rule, and for what is taken away. */
  readonly files: readonly PackageFile[] | null;
  /** What it does, for a person to read. */
  readonly diff: string;
  /** The topmost folder above it that was not there before an agent began to write it. */
  readonly missing?: string;
}

/** What keeping an instinct would do. Nothing learned is lost when the answer is no: the instinct stays. */
export type Plan =
  | {
      readonly ok: true;
      readonly steps: readonly Step[];
      readonly concerns: readonly Concern[];
      /** A skill that a person wrote, or changed, which this lesson belongs to; the plan leaves a proposal beside it. */
      readonly belongsTo: string | null;
    }
  | { readonly ok: false; readonly because: string };

/** Every change so far, and what those that were made left. Instincts are named as they are now. */
export interface History {
  readonly changes: readonly KeptChange[];
  readonly kept: readonly Kept[];
}

/** Instincts that grew together go by one id: what was kept of any of them is kept of that one. */
export async function historyOf({ learning }: Store): Promise<History> {
  const all = await learning.changes.list();
  const ids = all.flatMap(({ change: { instinct, members = [] } }) => [instinct, ...members]);
  const named = await learning.findings.instinctsOf([...new Set(ids)]);
  const nameOf = (id: string) => named.get(id) ?? id;
  const changes = all.map((one) => {
    const { instinct, members } = one.change;
    const own = members ? { members: [...new Set(members.map(nameOf))] } : {};
    return { ...one, change: { ...one.change, instinct: nameOf(instinct), ...own } };
  });
  return { changes, kept: keptBy(changes.filter(({ state }) => state === "made")) };
}

/** The latest changes that were made where something was kept of an instinct; those of one go are together. */
export function latestOf({ changes }: History, instinct: string): Change[] {
  const places = new Set(
    changes.flatMap(({ change }) => (change.instinct === instinct ? [placeOf(change)] : [])),
  );
  const made = changes.filter(({ change, state }) => state === "made" && places.has(placeOf(change)));
  return made.filter(({ at }) => at === made.at(-1)?.at).map(({ change }) => change);
}

/** Whether a change takes back what was written; an undo may as well bring back what was taken away, or only undo tidying. */
export function isTakingBack({ why, before, because }: Change): boolean {
  return why === "undo" && before !== null && because === undefined;
}

/** What is planned for: an instinct, and everything about it that decides. */
export interface Subject {
  readonly instinct: Instinct;
  readonly choice: Choice;
  readonly findings: readonly KeptFinding[];
  readonly formats: readonly Format[];
  readonly root: string | null;
  readonly projectName: string;
}

/** Why nothing can be written into a project. */
export const notHere = "the project's folder is not on this machine";

/** The change that takes an artifact away. */
export function removal(artifact: Artifact, before: string, history: History, text: string | null): Step {
  const diff =
    artifact.kind === "rule"
      ? diffOf(withinRoot(artifact), `- ${before}\n`, null)
      : diffOf(fileIn(artifact), text, null);
  return { change: changeOf(artifact, before, null, "remove", history), files: null, diff };
}

/** The file of an artifact as a diff names it. */
export function fileIn({ kind, name }: Pick<Artifact, "kind" | "name">): string {
  return kind === "skill" ? `${name}/${skillFile}` : `${name}.md`;
}

/** A file as it is called within what it belongs to. */
export function withinRoot({ path, root }: Pick<Artifact, "path" | "root">): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path.replace(/^\//, "");
}

/** Whether a project's lesson goes where other projects read it, so that it must name its own. */
export function isFarAway({ instinct, choice }: Subject): boolean {
  return instinct.scope === "project" && choice.reach === "everywhere";
}

/** A name that is not taken: the same with a number. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(name)) return name;
  for (let n = 2; ; n++) {
    const next = `${name.slice(0, 60)}-${n}`;
    if (!isTaken(next)) return next;
  }
}

/** Why a text may not be written. */
export function refusal(concerns: readonly Concern[]): string {
  const first = concerns.find(({ severity }) => severity === "block");
  return `it may not be written: ${first?.message ?? "it looks dangerous"} (${first?.where ?? ""})`;
}

/** A plan that does nothing, and why. */
export function no(because: string): Plan {
  return { ok: false, because };
}

/** A change with its id. */
export function changeOf(
  { kind, name, path, root, reach, instinct, members, proposal, newFile, newFolder, replacedBy }: Artifact,
  before: string | null,
  after: string | null,
  why: Change["why"],
  history: History,
  because?: string,
): Change {
  const marks = {
    ...(members ? { members } : {}),
    ...(proposal ? { proposal } : {}),
    ...(newFile ? { newFile } : {}),
    ...(newFolder ? { newFolder } : {}),
    ...(replacedBy ? { replacedBy } : {}),
  };
  const artifact = { kind, name, path, root, reach, instinct, ...marks };
  const id = idFor({ ...artifact, before, after, why }, history);
  return { ...artifact, id, why, before, after, ...(because === undefined ? {} : { because }) };
}

/** How often the place changed is part of the id: doing, undoing and doing again are three changes. */
export function idFor(change: Omit<Change, "id">, { changes }: History): string {
  const { before, after, why } = change;
  const place = placeOf(change);
  const times = changes.filter((one) => one.state !== "intended" && placeOf(one.change) === place).length;
  return idOf("c", JSON.stringify([place, before, after, why, times]));
}

export function packageOf(text: string): PackageFile[] {
  return [{ path: skillFile, bytes: bytesOf(text), mode: 0o644 }];
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The files of a command or an agent, of which there is one. */
export function fileOf(name: string, text: string): PackageFile[] {
  return [{ path: `${name}.md`, bytes: bytesOf(text), mode: 0o644 }];
}

/** What lies where something is kept, with its hash; null for nothing. Rules have no files of their own. */
export async function filesAt(
  { library, versions }: Pick<PublishDeps, "library" | "versions">,
  { kind, path, name }: Pick<Artifact, "kind" | "path" | "name">,
): Promise<{ readonly files: readonly PackageFile[]; readonly hash: string } | null> {
  if (kind === "skill") return library.read(path);
  const read = await library.readText(path);
  if (read.found === "missing") return null;
  if (read.found === "unreadable") throw new KnackError("LIBRARY_UNAVAILABLE", `Cannot read ${read.message}`);
  const files = fileOf(name, read.text);
  return { files, hash: versions.hashOf(files) };
}

/** The text of a package's `SKILL.md`, or of the one file that there is. */
export function textOfPackage(files: readonly PackageFile[]): string {
  const file = files.find(({ path }) => path === skillFile) ?? (files.length === 1 ? files[0] : undefined);
  return file ? new TextDecoder().decode(file.bytes) : "";
}

/** A command or an agent is its one file; a skill may have others. */
export function othersIn(files: readonly PackageFile[]): readonly PackageFile[] {
  return files.some(({ path }) => path === skillFile) ? files.filter(({ path }) => path !== skillFile) : [];
}

/** What is different in the files beside the text, each of them: a script is where the harm would be. */
export function diffOfOthers(
  name: string,
  before: readonly PackageFile[],
  files: readonly PackageFile[],
  isWhole = false,
): string {
  const [old, fresh] = [textsIn(before), textsIn(othersIn(files))];
  const gone = isWhole ? [...old.keys()].filter((path) => !fresh.has(path)) : [];
  return [...fresh.keys(), ...gone]
    .map((path) => diffOf(`${name}/${path}`, old.get(path) ?? null, fresh.get(path) ?? null))
    .join("");
}

export function textsIn(files: readonly PackageFile[]): ReadonlyMap<string, string> {
  return new Map(files.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)]));
}

/** For a copy that is only looked at: a damaged one is told of when it is needed. */
export function ifDamaged(error: unknown): null {
  if (error instanceof KnackError) return null;
  throw error;
}

export function dirname(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

export function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
