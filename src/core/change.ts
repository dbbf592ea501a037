import type { ArtifactKind } from "./finding.ts";

/** Whom something kept reaches: nobody yet, this person in this project, everybody in it, or this person everywhere. */
export type Reach = "draft" | "me" | "repository" | "everywhere";

/** Something kept: a skill's folder, or one rule in a file of instructions. */
export interface Artifact {
  readonly kind: ArtifactKind;
  readonly name: string;
  /** The folder of a skill, or the file that a rule stands in. */
  readonly path: string;
  /** The repository or home folder that it belongs to. */
  readonly root: string;
  readonly reach: Reach;
  /** The instinct it comes from. */
  readonly instinct: string;
  /** For a draft: a lesson for a skill that a person wrote, which waits for their yes. */
  readonly proposal?: true;
  /** The instinct in whose favour it is taken out: undoing one undoes the other. */
  readonly replacedBy?: string;
  /** For a rule: Knack made the file it stands in, which goes with the last rule. */
  readonly newFile?: true;
}

/** One change of an artifact, made or meant; its opposite undoes it. */
export interface Change extends Artifact {
  readonly id: string;
  readonly why: "create" | "update" | "undo" | "remove";
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

/** The artifacts that a list of changes, in the order of time, leaves. */
export function keptBy(changes: readonly { readonly change: Change; readonly at: number }[]): Kept[] {
  const kept = new Map<string, { changes: Change[]; at: number }>();
  for (const { change, at } of changes) {
    const place = placeOf(change);
    kept.set(place, { changes: [...(kept.get(place)?.changes ?? []), change], at });
  }
  return [...kept.values()].flatMap(({ changes, at }) => {
    const last = changes[changes.length - 1] as Change;
    const { id: _, why: __, before: ___, after, ...artifact } = last;
    // What Knack only added to, and took back, is not Knack's.
    return after === null || undoable(changes) === null ? [] : [{ ...artifact, content: after, changes, at }];
  });
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
