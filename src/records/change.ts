import { makeId } from "../base/index.ts";
import type { ArtifactKind, Finding } from "./lesson.ts";

/** Whom something kept reaches: nobody yet, this person in this project, everybody in it, or this person everywhere. */
export type Reach = "draft" | "me" | "repository" | "everywhere";

export type LiveReach = Exclude<Reach, "draft">;

/** What something published was made of. */
export interface Origin {
  /** `session`: an agent wrote it at work. `proposal`: a reviewer did. */
  readonly kind: "lesson" | "cluster" | "gap" | "session" | "proposal" | "import";
  readonly id: string;
}

/** Something kept: a skill's folder, the file of a command or an agent, or one rule in a file of instructions. */
export interface Artifact {
  readonly kind: ArtifactKind;
  readonly name: string;
  /** The folder of a skill, the file of a command or an agent, or the file that a rule stands in. */
  readonly path: string;
  /** The repository or home folder that it belongs to. */
  readonly root: string;
  readonly reach: Reach;
  readonly origin: Origin;
  /** The lessons it was made of, where they are several. */
  readonly members?: readonly string[];
  /** For a draft: a lesson for a skill that a person wrote, which waits for their yes. */
  readonly proposal?: true;
  /** The origin of what took its place: undoing one undoes the other. */
  readonly replacedBy?: Origin;
  /** For a rule: Knack made the file it stands in, which goes with the last rule. */
  readonly newFile?: true;
  /** The topmost folder above it that Knack made; with the last thing in them, it and those below go. */
  readonly newFolder?: string;
}

/** One change of an artifact, made or meant; its opposite undoes it. */
export interface Change extends Artifact {
  readonly id: string;
  readonly why: "create" | "update" | "undo" | "remove" | "archive" | "restore";
  /** For what keeps the library small and true: the reason. Neither it nor its undo is a word about the lesson. */
  readonly because?: string;
  /** What is there before and after: a package's hash, a rule's line; null for nothing. */
  readonly before: string | null;
  readonly after: string | null;
}

interface StoredArtifact extends Artifact {
  /** What Knack last wrote: a package's hash, a rule's line. */
  readonly content: string;
  readonly at: number;
}

/** What is there now, by everything that was changed. */
export interface KeptArtifact extends StoredArtifact {
  readonly changes: readonly Change[];
}

/** Something that was put away, and can be brought back as it was. */
export interface ArchivedArtifact extends StoredArtifact {
  readonly because: string;
}

export interface StoredChange {
  readonly change: Change;
  readonly state: "intended" | "made" | "dropped";
  readonly at: number;
}

type DatedChange = Pick<StoredChange, "change" | "at">;

/** The artifacts that a list of changes, in the order of time, leaves. */
export function foldKept(changes: readonly DatedChange[]): KeptArtifact[] {
  return groupByArtifact(changes).flatMap(({ changes: own, last, at }) => {
    const holding = findUndoable(own);
    // What Knack only added to, and took back, is not Knack's.
    if (last.after === null || holding === null) return [];
    return [{ ...pickArtifact(last), origin: holding.origin, content: last.after, changes: own, at }];
  });
}

/** Whether Knack made something, and did not only change what was there. */
export function isMadeByKnack({ changes }: Pick<KeptArtifact, "changes">): boolean {
  return changes.some(({ before }) => before === null);
}

/** What was put away and is not there again, also not as a draft of the same lesson. */
export function foldArchived(changes: readonly DatedChange[]): ArchivedArtifact[] {
  const there = new Set(foldKept(changes).map(({ origin, name }) => `${origin.id} ${name}`));
  return groupByArtifact(changes).flatMap(({ changes: own, last, at }) => {
    const archiving = findUndoable(own);
    if (last.after !== null || archiving?.why !== "archive" || archiving.before === null) return [];
    if (there.has(`${last.origin.id} ${last.name}`)) return [];
    const because = archiving.because ?? "";
    return [{ ...pickArtifact(archiving), content: archiving.before, because, at }];
  });
}

function groupByArtifact(changes: readonly DatedChange[]): { changes: Change[]; last: Change; at: number }[] {
  const places = new Map<string, { changes: Change[]; last: Change; at: number }>();
  for (const { change, at } of changes) {
    const place = artifactKey(change);
    places.set(place, { changes: [...(places.get(place)?.changes ?? []), change], last: change, at });
  }
  return [...places.values()];
}

function pickArtifact(change: Change): Artifact {
  const { id: _id, why: _why, before: _before, after: _after, because: _because, ...artifact } = change;
  return artifact;
}

/** What a change is about: rules share a file. */
export function artifactKey({ kind, path, name }: Artifact): string {
  return kind === "rule" ? `${path}#${name}` : path;
}

/** The change that an undo takes back: the latest that was not itself taken back. */
export function findUndoable(changes: readonly Change[]): Change | null {
  let skip = 0;
  for (const change of [...changes].reverse()) {
    if (change.why === "undo") skip++;
    else if (skip > 0) skip--;
    else return change;
  }
  return null;
}

/** What agents can be given by name. */
export type ItemKind = "skill" | "command" | "agent";

/** Something in the library: a skill, a command or an agent, wherever it lies. */
export interface Item {
  /** The same as long as its name and whom it is for stay the same, wherever its file is moved. */
  readonly id: string;
  readonly kind: ItemKind;
  /** As an agent calls it: `release-notes`, or `plugin:release-notes`. */
  readonly name: string;
  /** Whom it is for: a project, or "user". */
  readonly scopeId: string;
  readonly owner: Owner;
  /** A draft is nobody's but Knack's, and reaches agents by recall alone. */
  readonly draft: boolean;
  /** What Knack made it of, a lesson or a gap; null for what others made. */
  readonly source: string | null;
  /** The file that holds its text. */
  readonly path: string;
  /** Other files of the same name that this one goes before, for the same people. */
  readonly copies: readonly string[];
  /** Of its text: another hash, another text. */
  readonly hash: string;
  readonly description: string;
  /** When it is to be used, where its front matter says so beside the description. */
  readonly when: string;
  readonly tags: readonly string[];
  readonly body: string;
  /** A person's word on whether it is given whole; `person` is for what only a person may call. */
  readonly load: "always" | "never" | "fit" | "person";
  /** Whether its text may be put before an agent unasked. */
  readonly harmless: boolean;
  readonly changedAt: number;
}

/** What is wrong with a file of the library. An error keeps it out of the library, a warning does not. */
export interface ItemProblem {
  readonly path: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly hint: string;
}

/** One file of the library as it was read. */
export interface ItemFile {
  readonly path: string;
  /** The file itself, where `path` leads through links. */
  readonly real: string;
  /** The same as long as the file and the way it is read are the same. */
  readonly stamp: string;
  /** Of two files for one name, the one of the lower rank goes before. */
  readonly rank: number;
  /** Null where nothing can be made of it. */
  readonly item: Item | null;
  readonly problems: readonly ItemProblem[];
}

export function itemId(scopeId: string, kind: ItemKind, name: string): string {
  return makeId("k", `${scopeId} ${kind} ${name}`);
}

/** A skill package's `SKILL.md`, by the open Agent Skills format. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly allowedTools?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Markdown, without blank lines around it. */
  readonly body: string;
}

/** Who made a skill, which decides who may change it. */
export type Owner = "core" | "hand-written" | "learned" | "imported";

/** Where a skill departs from the format: an error where agents may refuse it, a warning where they will not. */
export interface SkillProblem {
  readonly code: ProblemCode;
  readonly severity: "error" | "warning";
  readonly message: string;
}

// biome-ignore format: a list of names reads better in rows
export type ProblemCode =
  | "front-matter-missing" | "front-matter-unclosed" | "front-matter-too-long" | "front-matter-broken"
  | "key-unknown" | "value-wrong" | "name-missing" | "name-wrong" | "name-not-folder" | "description-missing"
  | "description-too-long" | "description-has-tags" | "compatibility-too-long" | "body-empty" | "body-long";

interface ImportSource {
  readonly id: string;
  /** The file it came in, and the go in which it was read. */
  readonly from: string;
  readonly batch: string;
}

/** A lesson that came from elsewhere. Nobody is told of it, and nothing follows from it, before a person says yes. */
export interface ImportedLesson extends ImportSource {
  readonly type: "lesson";
  readonly scopeId: string;
  readonly project: string;
  readonly domain: string;
  readonly foundAt: number;
  readonly finding: Finding;
}

/** A skill, command or agent that came from elsewhere: its files are kept by their hash, where no agent looks. */
export interface ImportedSkill extends ImportSource {
  readonly type: "skill";
  /** A skill where nothing else is said. */
  readonly kind?: ItemKind;
  readonly name: string;
  readonly description: string;
  readonly hash: string;
}

export type Imported = ImportedLesson | ImportedSkill;

/** What was said of something imported; `offered` is for what comes again after it was withdrawn. */
export type ImportWord = "offered" | "accepted" | "rejected" | "withdrawn";

/** One thing that the ledger says of an import. */
export interface ImportRow {
  readonly key: string;
  readonly id: string;
  readonly at: number;
  readonly said: Imported | ImportWord;
}
