import type { ArtifactKind } from "./finding.ts";

/** Whom something kept reaches: nobody yet, this person in this project, everybody in it, or this person everywhere. */
export type Reach = "draft" | "me" | "repository" | "everywhere";

/** The same for what is live. */
export type LiveReach = Exclude<Reach, "draft">;

/** What something published was made of. */
export interface Origin {
  readonly kind: OriginKind;
  readonly id: string;
}

/** A lesson, a cluster of lessons, a gap, an agent's session that wrote it, a reviewer's proposal, or an import. */
type OriginKind = "lesson" | "cluster" | "gap" | "session" | "proposal" | "import";

/** Something kept: a skill's folder, the file of a command or an agent, or one rule in a file of instructions. */
export interface Artifact {
  readonly kind: ArtifactKind;
  readonly name: string;
  /** The folder of a skill, the file of a command or an agent, or the file that a rule stands in. */
  readonly path: string;
  /** The repository or home folder that it belongs to. */
  readonly root: string;
  readonly reach: Reach;
  /** What it was made of. */
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

/** What is there now, by everything that was changed. */
export interface KeptArtifact extends Artifact {
  /** What Knack last wrote: a package's hash, a rule's line. */
  readonly content: string;
  readonly changes: readonly Change[];
  readonly at: number;
}

/** Something that was put away, and can be brought back as it was. */
export interface ArchivedArtifact extends Artifact {
  /** What was there: a package's hash. */
  readonly content: string;
  readonly because: string;
  readonly at: number;
}

interface Dated {
  readonly change: Change;
  readonly at: number;
}

/** The artifacts that a list of changes, in the order of time, leaves. */
export function foldKept(changes: readonly Dated[]): KeptArtifact[] {
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
export function foldArchived(changes: readonly Dated[]): ArchivedArtifact[] {
  const there = new Set(foldKept(changes).map(({ origin, name }) => `${origin.id} ${name}`));
  return groupByArtifact(changes).flatMap(({ changes: own, last, at }) => {
    const archiving = findUndoable(own);
    if (last.after !== null || archiving?.why !== "archive" || archiving.before === null) return [];
    if (there.has(`${last.origin.id} ${last.name}`)) return [];
    const because = archiving.because ?? "";
    return [{ ...pickArtifact(archiving), content: archiving.before, because, at }];
  });
}

function groupByArtifact(changes: readonly Dated[]): { changes: Change[]; last: Change; at: number }[] {
  const places = new Map<string, { changes: Change[]; last: Change; at: number }>();
  for (const { change, at } of changes) {
    const place = artifactKey(change);
    places.set(place, { changes: [...(places.get(place)?.changes ?? []), change], last: change, at });
  }
  return [...places.values()];
}

function pickArtifact({
  id: _,
  why: __,
  before: ___,
  after: ____,
  because: _____,
  ...artifact
}: Change): Artifact {
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

export interface StoredChange {
  readonly change: Change;
  readonly state: "intended" | "made" | "dropped";
  readonly at: number;
}
