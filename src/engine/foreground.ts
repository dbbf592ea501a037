import type { Answer, LearningFinish, LearningStart } from "../core/protocol.ts";
import type { Present } from "./caller.ts";
import type { Place } from "./ports.ts";
import type { PublishDeps } from "./step.ts";

export interface ForegroundDeps extends PublishDeps {
  /** Where packages of a project are written before they are live; a folder for each learning goes below it. */
  readonly staging: (root: string | null) => Place;
  /** Why nothing is learned in a project; null where it is. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
}

/** Where an agent is to write, and how. */
export interface Started {
  readonly learning: string;
  /** The package's folder. */
  readonly staging: string;
  /** What to show the person. */
  readonly message: string;
  readonly rules: readonly string[];
}

export interface Finished {
  readonly status: "created" | "updated" | "aborted" | "failed";
  /** What to show the person; null where nothing was learned. */
  readonly receipt: string | null;
  /** Where the skill is; null where nothing was learned. */
  readonly path: string | null;
  /** What else is worth knowing: concerns, how to take it back. */
  readonly notes: readonly string[];
}

/** Begins a learning: notes it, keeps what is there for undo, and prepares a folder to write in. */
export async function startLearning(
  _deps: ForegroundDeps,
  _present: Present,
  _start: LearningStart,
): Promise<Answer<Started>> {
  throw new Error("to be built");
}

/** Ends it: what the agent wrote is checked and goes live, or nothing changes and it is told what to repair. */
export async function finishLearning(
  _deps: ForegroundDeps,
  _present: Present,
  _finish: LearningFinish,
): Promise<Answer<Finished>> {
  throw new Error("to be built");
}

/** Notes that a learned skill guided the work, once for a turn; the receipt is null for what needs none. */
export async function useSkill(
  _deps: ForegroundDeps,
  _present: Present,
  _used: { readonly skill: string; readonly message: string | null },
): Promise<Answer<{ readonly receipt: string | null; readonly already: boolean }>> {
  throw new Error("to be built");
}
