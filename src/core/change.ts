import type { ArtifactKind } from "./finding.ts";

/** Whom something kept reaches: nobody yet, this person in this project, everybody in it, or this person everywhere. */
export type Reach = "draft" | "me" | "repository" | "everywhere";

/** One change of one file or package that Knack made or means to make; what it does can be undone by its opposite. */
export interface Change {
  readonly id: string;
  readonly kind: ArtifactKind;
  readonly name: string;
  /** The folder of a skill, or the file that a rule stands in. */
  readonly path: string;
  readonly reach: Reach;
  /** The instinct it comes from. */
  readonly instinct: string;
  /** What is there before and after, by digest; null where there is nothing. */
  readonly before: string | null;
  readonly after: string | null;
  readonly why: "create" | "update" | "undo" | "remove" | "accept";
}
