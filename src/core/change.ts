import type { ArtifactKind } from "./finding.ts";

/** Whom something kept reaches: nobody yet, this person in this project, everybody in it, or this person everywhere. */
export type Reach = "draft" | "me" | "repository" | "everywhere";

/** The same for what is live. */
export type LiveReach = Exclude<Reach, "draft">;

/** Something kept: a skill's folder, the file of a command or an agent, or one rule in a file of instructions. */
export interface Artifact {
  readonly kind: ArtifactKind;
  readonly name: string;
  /** The folder of a skill, the file of a command or an agent, or the file that a rule stands in. */
  readonly path: string;
  /** The repository or home folder that it belongs to. */
  readonly root: string;
  readonly reach: Reach;
  /** The instinct it comes from, or the gap, the cluster of instincts, the learning or the proposal. */
  readonly instinct: string;
  /** The instincts it comes from, where they are several. */
  readonly members?: readonly string[];
  /** For a draft: a lesson for a skill that a person wrote, which waits for their yes. */
  readonly proposal?: true;
  /** The instinct in whose favour it is taken out: undoing one undoes the other. */
  readonly replacedBy?: string;
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
export interface Kept extends Artifact {
  /** What Knack last wrote: a package's hash, a rule's line. */
  readonly content: string;
  readonly changes: readonly Change[];
  readonly at: number;
}

/** Something that was put away, and can be brought back as it was. */
export interface Archived extends Artifact {
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
export function keptBy(changes: readonly Dated[]): Kept[] {
  return placesOf(changes).flatMap(({ changes: own, last, at }) => {
    const holding = undoable(own);
    // What Knack only added to, and took back, is not Knack's.
    if (last.after === null || holding === null) return [];
    return [{ ...artifactOf(last), instinct: holding.instinct, content: last.after, changes: own, at }];
  });
}

/** Whether Knack made something, and did not only change what was there. */
export function isMade({ changes }: Pick<Kept, "changes">): boolean {
  return changes.some(({ before }) => before === null);
}

/** What was put away and is not there again, also not as a draft of the same lesson. */
export function archivedBy(changes: readonly Dated[]): Archived[] {
  const there = new Set(keptBy(changes).map(({ instinct, name }) => `${instinct} ${name}`));
  return placesOf(changes).flatMap(({ changes: own, last, at }) => {
    const archiving = undoable(own);
    if (last.after !== null || archiving?.why !== "archive" || archiving.before === null) return [];
    if (there.has(`${last.instinct} ${last.name}`)) return [];
    const because = archiving.because ?? "";
    return [{ ...artifactOf(archiving), content: archiving.before, because, at }];
  });
}

function placesOf(changes: readonly Dated[]): { changes: Change[]; last: Change; at: number }[] {
  const places = new Map<string, { changes: Change[]; last: Change; at: number }>();
  for (const { change, at } of changes) {
    const place = placeOf(change);
    places.set(place, { changes: [...(places.get(place)?.changes ?? []), change], last: change, at });
  }
  return [...places.values()];
}

function artifactOf({
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
export function placeOf({ kind, path, name }: Artifact): string {
  return kind === "rule" ? `${path}#${name}` : path;
}

/** The change that an undo takes back: the latest that was not itself taken back. */
export function undoable(changes: readonly Change[]): Change | null {
  let skip = 0;
  for (const change of [...changes].reverse()) {
    if (change.why === "undo") skip++;
    else if (skip > 0) skip--;
    else return change;
  }
  return null;
}
