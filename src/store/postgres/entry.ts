import { createHash } from "node:crypto";

/** Whether and what a member may do: look, share, or manage the team and run its jobs. */
export type TeamRole = "reader" | "member" | "maintainer";

/** An entry of a team's ledger as it travels: the JSON that was signed, and its signature. */
export interface SignedEntry {
  readonly id: string;
  /** JSON with at least `team`, `repository` (or null), `machine`, `author`, `sequence`, `at` and `kind`. */
  readonly content: string;
  readonly signature: string;
}

/** An entry as it arrived at the database, with the time of the database's clock. */
export interface ArrivedEntry extends SignedEntry {
  readonly receivedAt: number;
}

/** What a maintainer's worker computed from entries: JSON with at least `team`, `repository` (or null) and `kind`. */
export interface SignedDigest extends Omit<SignedEntry, "id"> {
  readonly madeAt: number;
}

export interface TeamMember {
  readonly id: string;
  readonly name: string;
  readonly role: TeamRole;
  /** The repositories that the member sees; null for all. */
  readonly repositories: readonly string[] | null;
  readonly invitedAt: number;
  readonly removedAt: number | null;
}

/** Which entries are wanted: those that arrived after a cursor. 0 is before the first. */
export interface EntryQuery {
  readonly after: number;
  readonly most: number;
  /** Those of these repositories and those of none; all that the member may see when it is not given. */
  readonly repositories?: readonly string[];
  readonly kinds?: readonly string[];
  /** Leaves out what machines count, of which a worker makes digests: it is most of what there is. */
  readonly withoutCounts?: boolean;
}

/** By its content and signature: the same on every machine, and nobody can put another in its place. */
export function computeEntryId({ content, signature }: Omit<SignedEntry, "id">): string {
  return createHash("sha256").update(`${content}\n${signature}`).digest("hex");
}
