import { KnackError } from "../core/errors.ts";
import { callerFault, type Fault, faultOf, faulty, type LearningStart } from "../core/protocol.ts";
import type { Owner } from "../core/skill.ts";
import { type Present, rootIn, threadIn } from "./caller.ts";
import { endOf, type Learning } from "./learnings.ts";
import type { Place } from "./ports.ts";
import type { PublishDeps } from "./step.ts";

export interface ForegroundDeps extends PublishDeps {
  /** The person's own folder, which agents call `~`. */
  readonly home: string;
  /** Where packages of a project are written before they are live; a folder for each learning goes below it. */
  readonly staging: (root: string | null) => Place;
  /** Why nothing is learned in a project; null where it is. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  /** Whose a skill is that agents have by this name, wherever it lies: plugins have theirs elsewhere. Null for none. */
  readonly inLibrary?: (name: string) => Promise<Owner | null>;
}

/** What the disk refuses is told to the agent; everything else is a bug, and keeps its stack. */
export function ifDiskRefuses(error: unknown): { readonly ok: false; readonly fault: Fault } {
  const codes: readonly string[] = ["LIBRARY_UNAVAILABLE", "BAD_PACKAGE", "VERSION_DAMAGED"];
  if (!(error instanceof KnackError) || !codes.includes(error.code)) throw error;
  return faulty(faultOf("publish_failed", error.message, error.hint ?? "See what is there, and call again."));
}

/** Why nothing can be learned by this caller; null where it can. What was begun may be given up wherever it may not be finished. */
export async function unavailable(
  deps: ForegroundDeps,
  present: Present,
  isGivenUp = false,
): Promise<Fault | null> {
  const { caller, session } = present;
  const { root, id } = caller.project;
  const refused = isGivenUp ? null : await deps.refuses(root, id);
  const here = rootIn(present);
  return callerFault(caller, session !== null, refused) ?? (here === null ? null : rootFault(deps, here));
}

/** A project that was taken away is not made again. */
async function rootFault({ library }: ForegroundDeps, root: string): Promise<Fault | null> {
  if ((await library.holds({ folder: root, root }, ".")) !== "nothing") return null;
  return faultOf(
    "learning_unavailable",
    `${root} is not there any more.`,
    "Go on without it; where the project is elsewhere now, work there and start again.",
    [root],
  );
}

/** Whether a learning is the caller's own: what a subagent begins, that one ends. */
export function isIts(
  { session, started }: Learning,
  present: Present,
  { action, skill }: Pick<LearningStart, "action" | "skill">,
): boolean {
  return session === threadIn(present) && started.action === action && started.skill === skill;
}

/** Whether a learning that goes on is of the same session: its subagent's, or that of the agent it works for. */
export function isKins(
  learning: Learning,
  { caller }: Present,
  { action, skill }: Pick<LearningStart, "action" | "skill">,
): boolean {
  const { session, started } = learning;
  const isNear = session !== null && (session === caller.session || session.startsWith(`${caller.session}/`));
  return isNear && started.action === action && started.skill === skill && endOf(learning) === null;
}

export async function scrubbed({ redactor }: ForegroundDeps, texts: readonly string[]): Promise<string[]> {
  return redactor.scrub(texts.map((text) => ({ label: "text", text })));
}
