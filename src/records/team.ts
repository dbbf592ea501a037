/** What an entry of a team's ledger says; `subject` is what it says that about. */
export type TeamEntryKind =
  /** A machine's public key, with what shows that its member was invited. */
  | "machine.registered"
  /** The public key of an invitation, and whether whom it is for is a maintainer: the subject is the member. */
  | "member.invited"
  /** A lesson or a package that a member shared: the subject is the hash of its words. */
  | "lesson.shared"
  | "skill.shared"
  /** The author takes a share back. */
  | "share.withdrawn"
  /** A member's yes or no to exactly this text. */
  | "vote"
  /** How a shared thing did on one machine, all sessions so far. */
  | "outcomes"
  /** Sessions of one day in a repository on one machine, and in how many a shared lesson's failure was met. */
  | "measured"
  /** A maintainer's word: what is accepted without being asked, and who is no longer believed. */
  | "policy"
  | "member.distrusted";

/** An entry of a team's ledger, read. It is appended once and never changed; `previous` chains those of one machine. */
export interface TeamEntry {
  /** The hash of content and signature. */
  readonly id: string;
  /** The text that was signed, with all that follows in it. */
  readonly content: string;
  readonly signature: string;
  readonly team: string;
  /** The remote of the repository that it is about; null for what holds everywhere. */
  readonly repository: string | null;
  /** The hash of the machine's public key. */
  readonly machine: string;
  /** The member, by the id that the team's database knows them by. */
  readonly author: string;
  /** Its place in the machine's chain, from 1, and the id of the one before; "" for the first. */
  readonly sequence: number;
  readonly previous: string;
  /** When it happened, by the author's clock. */
  readonly at: number;
  readonly kind: TeamEntryKind;
  readonly subject: string;
  /** JSON. */
  readonly body: string;
}

/** An entry with the time at which the team's database took it; null for one that was not sent yet. */
export interface StoredTeamEntry extends TeamEntry {
  readonly recordedAt: number | null;
}
