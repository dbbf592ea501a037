import { KnackError } from "../base/index.ts";
import { findWritingEnd, type PublishDeps, type SkillFolder, type SkillWriting } from "../library/index.ts";
import {
  type AuthoringFault,
  createFault,
  type Owner,
  type Reach,
  type WritingStart,
} from "../records/index.ts";
import { type ActiveCaller, getCallerRoot, getCallerThread } from "./caller.ts";
import { findCallerFault, refuseWith } from "./protocol.ts";

/** Time after which a staged package that was never finished is put away. */
export const stagingMs = 7 * 86_400_000;

export interface AuthoringDeps extends PublishDeps {
  /** Where packages of a project are written before they are live; each writing has a folder below it. */
  readonly staging: (root: string | null) => SkillFolder;
  /** Why nothing is learned in a project; null where something is. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  /** Who made the skill of this name that agents have from elsewhere, such as a plugin; null for none. */
  readonly inLibrary?: (name: string) => Promise<Owner | null>;
}

/** A refusal by the disk is told to the agent; other errors are bugs and keep their stack. */
export function convertDiskError(error: unknown): { readonly ok: false; readonly fault: AuthoringFault } {
  const codes: readonly string[] = ["LIBRARY_UNAVAILABLE", "BAD_PACKAGE", "VERSION_DAMAGED"];
  if (!(error instanceof KnackError) || !codes.includes(error.code)) throw error;
  return refuseWith(
    createFault("publish_failed", error.message, error.hint ?? "See what is there, and call again."),
  );
}

/** Why this caller cannot write skills. A writing may be given up even where learning was turned off since. */
export async function findUnavailable(
  deps: AuthoringDeps,
  active: ActiveCaller,
  isGivenUp = false,
): Promise<AuthoringFault | null> {
  const { caller, session } = active;
  const { root, id } = caller.project;
  const refused = isGivenUp ? null : await deps.refuses(root, id);
  const fault = findCallerFault(caller, session !== null, refused);
  const here = getCallerRoot(active);
  if (fault !== null || here === null) return fault;
  // A project that was removed is not made again.
  if ((await deps.library.entryKind({ folder: here, root: here }, ".")) !== "nothing") return null;
  return createFault(
    "learning_unavailable",
    `${here} no longer exists.`,
    "Go on without it; if the project was moved, work there and start again.",
    [here],
  );
}

type WritingSubject = Pick<WritingStart, "action" | "skill">;

/** Whether a writing is the caller's own: what a subagent starts, that subagent finishes. */
export function isOwnedByCaller(
  { session, started }: SkillWriting,
  active: ActiveCaller,
  { action, skill }: WritingSubject,
): boolean {
  return session === getCallerThread(active) && started.action === action && started.skill === skill;
}

/** Whether an unfinished writing belongs to the same session: to a subagent, or to the agent that it works for. */
export function isOwnedBySession(
  writing: SkillWriting,
  { caller }: ActiveCaller,
  { action, skill }: WritingSubject,
): boolean {
  const { session, started } = writing;
  const isNear = session !== null && (session === caller.session || session.startsWith(`${caller.session}/`));
  return isNear && started.action === action && started.skill === skill && findWritingEnd(writing) === null;
}

export async function scrubTexts({ redactor }: AuthoringDeps, texts: readonly string[]): Promise<string[]> {
  return redactor.scrub(texts.map((text) => ({ label: "text", text })));
}

/** The folders of skills that the caller's agent reads, and all that there are: its own, the project's, drafts last. */
export function listSkillFolders(
  { places }: Pick<AuthoringDeps, "places">,
  active: ActiveCaller,
): { readonly own: readonly SkillFolder[]; readonly all: readonly SkillFolder[]; readonly reach: Reach } {
  const { format } = active.caller;
  const formats = format === null ? [] : [format];
  const root = getCallerRoot(active);
  const here = places.skills("me", root, formats);
  const own = here ?? places.skills("everywhere", null, formats) ?? [];
  const drafts = places.skills("draft", null, [])?.[0]?.folder;
  const rank = ({ folder }: SkillFolder) =>
    (root !== null && folder.startsWith(`${root}/`) ? 0 : 1) + (folder === drafts ? 2 : 0);
  const sorted = [...places.all(root)].sort((a, b) => rank(a) - rank(b));
  const all = [...new Map([...own, ...sorted].map((place) => [place.folder, place])).values()];
  return { own, all, reach: here === null ? "everywhere" : "me" };
}
