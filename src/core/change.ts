import type { ArtifactKind } from "./finding.ts";

/** Where something kept is: a draft nobody has seen, in one person's copy of a project, in the project for all, or in every project. */
export type Place = "draft" | "me" | "repository" | "everywhere";

/** One change of one file or package that Knack made or means to make; what it does can be undone by its opposite. */
export interface Change {
  readonly id: string;
  readonly kind: ArtifactKind;
  readonly name: string;
  /** The folder of a skill, or the file that a rule stands in. */
  readonly path: string;
  readonly place: Place;
  /** The instinct it comes from. */
  readonly instinct: string;
  /** What is there before and after, by digest; null where there is nothing. */
  readonly before: string | null;
  readonly after: string | null;
  readonly why: "create" | "update" | "undo" | "remove" | "accept";
}
