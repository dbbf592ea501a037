import { asObject, asString, KnackError } from "../base/index.ts";
import type { CatalogReading, PublishDeps, SkillFolder } from "../library/index.ts";
import {
  type AuthoringFault,
  type Caller,
  createFault,
  type Event,
  type Format,
  getThreadId,
  type Owner,
  parseRef,
  type Reach,
  type SessionId,
} from "../records/index.ts";
import type { Env } from "../settings/index.ts";
import type { Store } from "../store/index.ts";
import type { SessionView } from "../transcripts/index.ts";
import { findCallerFault, refuse } from "./protocol.ts";

/** A host's facts about a call, beside the arguments that its model gives. */
export interface HostCall {
  /** The agent's own id of the session. */
  readonly session: string | null;
  /** The host's id of this call, which is also in the transcript of the session that makes it. */
  readonly callId: string | null;
  /** The host's id of the turn. */
  readonly turn: string | null;
  readonly kind: Caller["kind"];
  readonly cwd: string;
  readonly format: Format | null;
  readonly model: string | null;
  /** How the session is found in the agent's own files, where the host does not name it. */
  readonly trace?: CallTrace;
}

/** A call as it came to the server: the transcript that holds the same one is that of the calling session. */
export interface MadeCall {
  readonly tool: string;
  readonly args: unknown;
  readonly at: number;
}

/** Traces of a call in the files of the agent that makes it. */
export interface CallTrace {
  /** When the server started: its calls were made since. */
  readonly startedAt: number;
  readonly call: MadeCall;
  /** The call before, and when it was answered: some agents write a call down only then. */
  readonly before: (MadeCall & { readonly answeredAt: number }) | null;
}

/** The other end of the server; `client` is what the host calls itself. */
interface HostConnection extends CallTrace {
  readonly client: string | null;
}

type Meta = Readonly<Record<string, unknown>>;
type CallWithoutKind = Omit<HostCall, "kind">;

/**
 * Identifies the calling host: by the `_meta` of each call, then by the environment in which it started the server,
 * then by its own name. Nothing is taken from the model's arguments.
 */
export function readHostCall(
  meta: Meta,
  env: Env,
  cwd: string,
  connection: HostConnection | null = null,
): HostCall {
  // Any other word means that no person is there.
  const isForeground = (readText(env.KNACK_KIND) ?? "foreground").toLowerCase() === "foreground";
  const call =
    readCodex(meta, cwd) ??
    readClaude(meta, env, cwd, connection?.client ?? null) ??
    readTraced(env, cwd, connection) ??
    readEnvironment(env, cwd);
  return { ...call, kind: isForeground ? "foreground" : "background" };
}

/** Agents that name no session with a call, by what they call themselves: their files tell. */
const tracedClients: ReadonlyMap<string, Format> = new Map([
  ["copilot-cli", "copilot-cli"],
  ["gemini-cli-mcp-client", "gemini"],
  ["opencode", "opencode"],
]);

/** Codex names the thread and the turn of every call. */
function readCodex(meta: Meta, cwd: string): CallWithoutKind | null {
  const turn = asObject(meta["x-codex-turn-metadata"]);
  // A subagent has its own thread and transcript within its parent's session.
  const session = readText(meta.threadId) ?? readText(turn?.thread_id) ?? readText(turn?.session_id);
  if (turn === null || session === null) return null;
  return {
    ...{ session, callId: readText(meta.callId), turn: readText(turn.turn_id), cwd },
    ...{ format: "codex", model: readText(turn.model) },
  };
}

/** Claude Code names the call, and in the environment the session that it began with. */
function readClaude(meta: Meta, env: Env, cwd: string, client: string | null): CallWithoutKind | null {
  const callId = readText(meta["claudecode/toolUseId"]);
  // Another agent that runs inside a Claude Code inherits its environment.
  const isOther = readText(env.KNACK_SESSION) !== null || (client !== null && client !== "claude-code");
  const session = callId === null && isOther ? null : readText(env.CLAUDE_CODE_SESSION_ID);
  if (callId === null && session === null) return null;
  const folder = readText(env.CLAUDE_PROJECT_DIR) ?? cwd;
  return { session, callId, turn: null, cwd: folder, format: "claude-code", model: null };
}

function readTraced(env: Env, cwd: string, connection: HostConnection | null): CallWithoutKind | null {
  const format = tracedClients.get(connection?.client ?? "");
  if (connection === null || format === undefined || readText(env.KNACK_SESSION) !== null) return null;
  const { startedAt, call, before } = connection;
  const trace = { startedAt, call, before };
  return { session: null, callId: null, turn: null, cwd, format, model: null, trace };
}

/** Reads the environment variables for agents that do not identify themselves. */
function readEnvironment(env: Env, cwd: string): CallWithoutKind {
  const [session, turn] = [readText(env.KNACK_SESSION), readText(env.KNACK_INVOCATION)];
  return { session, callId: null, turn, cwd, format: null, model: null };
}

function readText(value: unknown): string | null {
  return asString(value)?.trim() || null;
}

// --- The session of the call ---

/** A caller with its session as it is now; null where none is found. */
export interface ActiveCaller {
  readonly caller: Caller;
  readonly session: SessionView | null;
}

/** Where the calling session is recorded; `unsure` where the session that the host names may have been left since. */
export type FoundSession =
  | {
      readonly path: string;
      /** The agent's own id, where the file holds several sessions or the host named none. */
      readonly session: SessionId | null;
      /** The model that does its work, where that is known. */
      readonly model: string | null;
    }
  | "unsure"
  | null;

/** The folder of the caller's project, or of its worktree. */
export function getCallerRoot({ caller }: ActiveCaller): string | null {
  return caller.worktree ?? caller.project.root;
}

/** The session or the subagent that calls; null where it is unknown. */
export function getCallerThread({ caller, session }: ActiveCaller): string | null {
  return session === null ? caller.session : getThreadId(session);
}

/** The latest cached events of a session, in order. */
export async function latestEvents(store: Store, session: SessionView, most: number): Promise<Event[]> {
  // Events are numbered from 1.
  const { events } = await store.events.count(session.id);
  const found: Event[] = [];
  for (let after = Math.max(0, events - most); ; ) {
    const page = await store.events.page(session.id, after, most);
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined) return found.slice(-most);
    after = parseRef(last.ref);
  }
}

// --- What a caller may do ---

/** Dependencies of the operations for agents. */
export interface AuthoringDeps extends PublishDeps {
  /** Where packages of a project are written before they are live; each writing has a folder below it. */
  readonly staging: (root: string | null) => SkillFolder;
  /** Why learning is off in a project; null where it is on. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  /** Who made the skill of this name that agents have from elsewhere, such as a plugin; null for none. */
  readonly inLibrary: (name: string) => Promise<Owner | null>;
  /** The library, seen from a folder. */
  readonly catalog: (cwd: string | null) => Promise<CatalogReading>;
  /** The folders of Knack's own skills, which an agent without its plugin has nowhere else. */
  readonly ownSkills: readonly string[];
}

/** Why this caller cannot write skills. A writing may be given up even where learning was turned off since. */
export async function findUnavailable(
  deps: AuthoringDeps,
  active: ActiveCaller,
  isGivenUp = false,
): Promise<AuthoringFault | null> {
  const { root, id } = active.caller.project;
  const refused = isGivenUp ? null : await deps.refuses(root, id);
  const fault = findCallerFault(active.caller, active.session !== null, refused);
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

/** A refusal by the disk is told to the agent; other errors are bugs and keep their stack. */
export function convertDiskError(error: unknown): { readonly ok: false; readonly fault: AuthoringFault } {
  const codes: readonly string[] = ["LIBRARY_UNAVAILABLE", "BAD_PACKAGE", "VERSION_DAMAGED"];
  if (!(error instanceof KnackError) || !codes.includes(error.code)) throw error;
  return refuse("publish_failed", error.message, error.hint ?? "See what is there, and call again.");
}

export async function scrubTexts({ redactor }: AuthoringDeps, texts: readonly string[]): Promise<string[]> {
  return redactor.scrub(texts.map((text) => ({ label: "text", text })));
}

/** The skill folder that the caller's agent writes to, and all of them: its own, the project's, drafts last. */
export function listSkillFolders(
  { places }: AuthoringDeps,
  active: ActiveCaller,
): { readonly own: SkillFolder; readonly all: readonly SkillFolder[]; readonly reach: Reach } {
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
  return { own: own[0] as SkillFolder, all, reach: here === null ? "everywhere" : "me" };
}
