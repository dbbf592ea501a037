/** What an entry of a team's ledger says; `subject` is what it says that about. */
export type TeamEntryKind =
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

/**
 * An entry of a team's ledger. It is appended once and never changed. The id is the hash of all that is signed, so the
 * same entry has one id wherever it comes from, and `previous` chains the entries of one machine.
 */
export interface TeamEntry {
  readonly id: string;
  readonly team: string;
  /** The remote of the repository that it is about; null for what holds everywhere. */
  readonly repository: string | null;
  /** The hash of the machine's public key. */
  readonly machine: string;
  /** The name of the member, who is a login of the database. */
  readonly author: string;
  /** Its place in the machine's chain, from 1, and the id of the one before; "" for the first. */
  readonly sequence: number;
  readonly previous: string;
  /** When it happened, by the author's clock. */
  readonly at: number;
  readonly kind: TeamEntryKind;
  readonly subject: string;
  /** JSON, exactly as it was signed. */
  readonly body: string;
  readonly signature: string;
}

/** An entry with the time at which the team's database took it; null for one that was not sent yet. */
export interface StoredTeamEntry extends TeamEntry {
  readonly recordedAt: number | null;
}

export type TeamRole = "reader" | "member" | "maintainer";

export interface TeamMember {
  readonly name: string;
  readonly role: TeamRole;
  /** Null while they are a member. */
  readonly removedAt: number | null;
}

/** A machine as the database knows it: only a member's own login can register one for them. */
export interface TeamMachine {
  readonly machine: string;
  readonly member: string;
  /** The public key, as base64 of its DER form. */
  readonly key: string;
}

/** The team's database, as one member's login sees it. */
export interface TeamDatabase {
  /** The member that this login is. */
  readonly self: () => Promise<TeamMember & { readonly team: string }>;
  readonly members: () => Promise<TeamMember[]>;
  readonly machines: () => Promise<TeamMachine[]>;
  /** Registers a machine for the member that this login is. */
  readonly register: (machine: Pick<TeamMachine, "machine" | "key">) => Promise<void>;
  /** Appends what is not there yet. */
  readonly append: (entries: readonly TeamEntry[]) => Promise<void>;
  /**
   * Entries after a cursor ("" for all), at most so many and of at most so many characters each, with the cursor to go
   * on from. No entry is missed that a slower writer commits later. Those of `except`, by author, are left out.
   */
  readonly read: (
    cursor: string,
    most: { readonly entries: number; readonly chars: number },
    except: readonly string[],
  ) => Promise<{ readonly entries: StoredTeamEntry[]; readonly cursor: string }>;
  /** Makes a login for a new member, or a new password for one who is there, and answers with the password. */
  readonly invite: (name: string, role: TeamRole) => Promise<string>;
  /** Takes a member's login away. What they shared stays until a maintainer says otherwise. */
  readonly remove: (name: string) => Promise<void>;
  /** Removes the team with every entry and login. */
  readonly destroy: () => Promise<void>;
  readonly close: () => Promise<void>;
}
