/** A run of the learning loop. */
export type RunId = string & { readonly idKind?: "run" };

/** How a run began. */
export interface RunBegun {
  readonly run: RunId;
  /** In a few words, for lists. */
  readonly goal: string;
  readonly kind: string | null;
  readonly mode: string;
  readonly harness: string;
  /** Its work folder, where the steps work, and the state folder. */
  readonly work: string;
  readonly workspace: string;
  readonly state: string;
  /** The state folder that is in force: another one, where the run learns on a copy. */
  readonly active: string;
  /** The branch that its changes to a repository are on, that repository, and the commit it begins with. */
  readonly branch: { readonly name: string; readonly repository: string; readonly base: string } | null;
  /** The most that it may cost. */
  readonly usd: number;
  /** What it is to do, as the loop reads it. */
  readonly setup: object;
}

/** Something that came back in a run. */
export interface RunMoved {
  readonly run: RunId;
  /** Its number: two processes cannot both go on from the same place. */
  readonly n: number;
  /** What it was, as the loop reads it. */
  readonly move: object;
}

/** A person put what a run learned on a copy in force. */
export interface RunAdopted {
  readonly run: RunId;
  readonly state: string;
  readonly sha: string;
}

/** How a run ended. */
export interface RunEnded {
  readonly run: RunId;
  readonly end: "completed" | "aborted" | "incomplete" | "withheld";
  readonly because: string;
  readonly met: "yes" | "no" | "partial" | null;
  /** The share of its success criteria that held. */
  readonly score: number | null;
  readonly usd: number;
  readonly workers: number;
}
