import { groupBy, makeId } from "../base/index.ts";
import type { ArtifactKind, Finding } from "./lesson.ts";

/** Who receives an artifact: nobody yet, this person in this project, everybody in it, or this person everywhere. */
export type Reach = "draft" | "me" | "repository" | "everywhere";

export type LiveReach = Exclude<Reach, "draft">;

/** The source of a published artifact. */
export interface Origin {
  /** `session`: an agent wrote it at work. `proposal`: a reviewer did. */
  readonly kind: "lesson" | "cluster" | "gap" | "session" | "proposal" | "import" | "page";
  readonly id: string;
}

/** Something kept: a skill's folder, the file of a command, an agent or a page, or one rule in a file of instructions. */
export interface Artifact {
  readonly kind: ArtifactKind | "page";
  readonly name: string;
  /** The folder of a skill, the file of a command, an agent or a page, or the file that a rule stands in. */
  readonly path: string;
  /** The repository or home folder that it belongs to. */
  readonly root: string;
  readonly reach: Reach;
  readonly origin: Origin;
  /** The lessons it was made of, where they are several. */
  readonly members?: readonly string[];
  /** For a draft: a lesson for a skill that a person wrote, which waits for their yes. */
  readonly proposal?: true;
  /** For a draft: why no agent is given it, and why it does not go live by itself, before a person's yes. */
  readonly held?: string;
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
  /** The reason for a maintenance change. Neither it nor its undo is a verdict on the lesson. */
  readonly because?: string;
  /** The content before and after: a package's hash or a rule's line; null for none. */
  readonly before: string | null;
  readonly after: string | null;
}

interface StoredArtifact extends Artifact {
  /** Content last written: a package's hash, a rule's line. */
  readonly content: string;
  readonly at: number;
}

/** A present artifact, derived from its changes. */
export interface KeptArtifact extends StoredArtifact {
  readonly changes: readonly Change[];
}

/** An archived artifact, which can be restored unchanged. */
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
    // A file changed and then changed back is not Knack's.
    if (last.after === null || holding === null) return [];
    return [{ ...pickArtifact(last), origin: holding.origin, content: last.after, changes: own, at }];
  });
}

/** Whether Knack created an artifact, not just changed it. */
export function isMadeByKnack({ changes }: Pick<KeptArtifact, "changes">): boolean {
  return changes.some(({ before }) => before === null);
}

/** Archived artifacts not present again, not even as a draft of the same lesson. */
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

function groupByArtifact(changes: readonly DatedChange[]) {
  const groups = groupBy(changes, ({ change }) => artifactKey(change));
  return [...groups.values()].map((own) => {
    const { change: last, at } = own.at(-1) as DatedChange;
    return { changes: own.map(({ change }) => change), last, at };
  });
}

function pickArtifact(change: Change): Artifact {
  const { id: _id, why: _why, before: _before, after: _after, because: _because, ...artifact } = change;
  return artifact;
}

/** An artifact's key; rules share a file. */
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

/** The kinds of library items. */
export type ItemKind = "skill" | "command" | "agent";

/** Something in the library: a skill, a command or an agent, wherever it lies. */
export interface Item {
  /** Depends on scope, kind and name alone, so it survives moving the file. */
  readonly id: string;
  readonly kind: ItemKind;
  /** As an agent calls it: `release-notes`, or `plugin:release-notes`. */
  readonly name: string;
  /** Whom it is for: a project, or "user". */
  readonly scopeId: string;
  readonly owner: Owner;
  /** A draft belongs to Knack and reaches agents by recall alone. */
  readonly draft: boolean;
  /** The lesson or gap Knack made it from; null if others made it. */
  readonly source: string | null;
  /** The file that holds its text. */
  readonly path: string;
  /** Files of the same name and scope that this one takes precedence over. */
  readonly copies: readonly string[];
  /** Of its text: another hash, another text. */
  readonly hash: string;
  readonly description: string;
  /** When it is to be used, where its front matter says so beside the description. */
  readonly when: string;
  readonly tags: readonly string[];
  readonly body: string;
  /** Whether it is loaded whole, as a person set it; `person` if only a person may call it. */
  readonly load: "always" | "never" | "fit" | "person";
  /** Whether the scan found nothing that may not be put before an agent. */
  readonly harmless: boolean;
  /** Whether the scan found anything at all, also what only a person should look at. */
  readonly doubted: boolean;
  /** The checkout that it came with; null for what the person has on this machine. */
  readonly checkout: string | null;
  /** The hash of the whole package, where Knack wrote these very files or a person accepted them; else null. */
  readonly accepted: string | null;
  readonly told: Told;
  readonly changedAt: number;
}

/**
 * How much of an item agents are told unasked: all of it where it fits well, its name alone, or nothing. A draft and
 * what a repository brought along are only named until a person accepts them.
 */
export type Told = "whole" | "name" | "nothing";

/** A problem with a library file. An error keeps it out of the library, a warning does not. */
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
  /** Changes with the file or the way it is read. */
  readonly stamp: string;
  /** Of two files for one name, the one of the lower rank goes before. */
  readonly rank: number;
  /** Null if the file is unusable. */
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
  /** The team that shares it, and by which name; then it came from that member. */
  readonly share?: { readonly team: string; readonly name: string };
}

/** An imported lesson. It is not shown and has no effect until a person accepts it. */
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

/** A decision about an import; `offered` if it is imported again after it was withdrawn. */
export type ImportWord = "offered" | "accepted" | "rejected" | "withdrawn";

/** A ledger record of an import. */
export interface ImportRow {
  readonly key: string;
  readonly id: string;
  readonly at: number;
  readonly said: Imported | ImportWord;
}
