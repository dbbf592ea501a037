import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isHeldBack, readSnapshot, type Snapshot } from "../recall/index.ts";
import { type Checkout, identifyProject, type Occasion, type Project } from "../records/index.ts";
import { type Home, readRepositoryWish } from "../settings/index.ts";
import { makeFileName, type Note, writeNote } from "../spool/index.ts";
import { findCheckout } from "../transcripts/index.ts";
import { clean } from "./clean.ts";
import type { HookEvent } from "./event.ts";

/** Marks of what already happened in a session: files, each of which only one of several concurrent hooks can create. */
export function openMarks({ seen }: Home, session: string) {
  const own = join(seen, makeFileName(session));
  const told = join(own, "told");
  const fileFor = (what: string) => join(own, makeFileName(what));
  const has = (what: string) => existsSync(fileFor(what));
  return {
    /** Marks something as told; true if the agent does not have it in context yet. */
    tells: (what: string) => createFile(join(told, makeFileName(what))),
    /** Marks something that may happen once in a session, with a note; true the first time. */
    once: (what: string, note?: string) => createFile(fileFor(what), note),
    readNote: (what: string) => (has(what) ? readFileSync(fileFor(what), "utf8") : null),
    has,
    /** Removes a mark; true if it existed. */
    take: (what: string) => {
      const existed = has(what);
      rmSync(fileFor(what), { force: true });
      return existed;
    },
    /** Marks from when on the agent has what it does in its context: since the prompt, or since that was lost. */
    beginTurn: (now: number) => {
      mkdirSync(own, { recursive: true, mode: 0o700 });
      writeFileSync(fileFor("turn"), String(now), { mode: 0o600 });
    },
    /** When the turn began; 0 if nobody saw that. */
    turnBegan: () => (has("turn") ? Number(readFileSync(fileFor("turn"), "utf8")) : 0),
    /** Clears what was told: the agent has lost its context. */
    forget: () => rmSync(told, { recursive: true, force: true }),
  };
}

/** False if the file exists already. */
function createFile(file: string, content = ""): boolean {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, content, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** The snapshot that the worker wrote last, and the current project. */
export interface OpenSnapshot extends Snapshot {
  readonly project: string;
  readonly branch: string | undefined;
}

/** Reads from the snapshot; null if there is none or the project is muted. Throws if it is damaged. */
export async function withSnapshot<Result>(
  call: HookEvent,
  look: (known: OpenSnapshot) => Promise<Result>,
): Promise<Result | null> {
  const { snapshot } = call.home;
  // There is none until the first worker has finished.
  if (!existsSync(snapshot)) return null;
  return readSnapshot(snapshot, async (known) => {
    const { branch, ...claimed } = identifyHere(call);
    // A folder that claims another repository's remote has neither its lessons nor what was allowed for it.
    const isOwn = claimed.root === null || known.get("checkout", claimed.root) === true;
    const project = isOwn ? claimed : { ...claimed, id: claimed.root ?? claimed.id };
    const id = known.get("alias", project.id) ?? project.id;
    return isAllowed(known, project) ? look({ ...known, project: id, branch }) : null;
  });
}

export function identifyHere({ cwd }: HookEvent): Project & Pick<Checkout, "branch"> {
  const checkout = cwd === null ? null : findCheckout(cwd);
  const project = identifyProject(cwd, null, checkout);
  return checkout?.branch === undefined ? project : { ...project, branch: checkout.branch };
}

/** Whether agents are told anything in a project: the person allows it, and the repository does not ask for less. */
function isAllowed({ head: { show, exceptions } }: Snapshot, { id, root }: Project): boolean {
  const isException = exceptions.includes(id) || (root !== null && exceptions.includes(root));
  return show !== isException && (root === null || readRepositoryWish(root).show);
}

/** A lesson or skill that fits. */
interface FittingItem {
  readonly kind: "lesson" | "skill";
  readonly id: string;
  readonly name: string;
}

/** Whether something that fits is held back from this session to measure what showing is worth; if so, records it once. */
export function holdBack(
  call: HookEvent,
  { head, project }: OpenSnapshot,
  occasion: Occasion,
  { kind, id, name }: FittingItem,
): boolean {
  const { session, home, now: at } = call;
  if (!isHeldBack(head.holdout, session, id)) return false;
  // A subagent's marks are its own.
  if (openMarks(home, markSession(call)).once(`held ${id}`))
    writeNote(home.spool, { type: "withheld", session, project, kind, id, name, occasion, at });
  return true;
}

/** The session whose context counts: a subagent has its own. */
export function markSession({ event, session, payload }: HookEvent): string {
  const agent = event === "PostToolUseFailure" ? payload.agent_id : null;
  return typeof agent === "string" ? `${session} ${agent}` : session;
}

type ShownNote = Extract<Note, { type: "shown" }>;
type OfferedNote = Extract<Note, { type: "offered" }>;

/**
 * Records that a lesson or skill is shown, and returns the text to show: it was redacted when it was learned, and is
 * redacted again before an agent sees it.
 */
export function show(
  call: HookEvent,
  project: string,
  shown:
    | Pick<ShownNote, "type" | "lessonId" | "occasion" | "text">
    | Pick<OfferedNote, "type" | "skill" | "name" | "how" | "text">,
): string {
  const { session, transcript, home, now: at } = call;
  const text = clean(call, shown.text);
  writeNote(home.spool, { ...shown, session, transcript, project, text, at });
  return text;
}
