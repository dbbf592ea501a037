import { asObject, asString } from "../base/index.ts";
import {
  type Caller,
  type Event,
  type Format,
  getSessionId,
  getThreadId,
  type Project,
  parseRef,
  type SessionId,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import type { SessionView } from "../transcripts/index.ts";

/** What a host says about a call, beside the arguments that its model gives. */
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

/** What a call leaves in the files of the agent that makes it. */
export interface CallTrace {
  /** When the server started: its calls were made since. */
  readonly startedAt: number;
  readonly call: MadeCall;
  /** The call before, and when it was answered: some agents write a call down only then. */
  readonly before: (MadeCall & { readonly answeredAt: number }) | null;
}

/** The other end of the server; `client` is what the host calls itself. */
export interface HostConnection extends CallTrace {
  readonly client: string | null;
}

type Env = Readonly<Record<string, string | undefined>>;
type Meta = Readonly<Record<string, unknown>>;
type CallWithoutKind = Omit<HostCall, "kind">;

/**
 * What a host says of who calls: by the `_meta` of each call, then by the environment in which it started the server,
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

/** Set by whoever starts the server for an agent that says nothing itself. */
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

/** Where the calling session is recorded. */
export interface RunningSession {
  readonly path: string;
  /** The agent's own id, where the file holds several sessions or the host named none. */
  readonly session: SessionId | null;
  /** The model that does its work, where that is known. */
  readonly model: string | null;
}

/** `unsure` where the session that the host names may have been left since. */
export type FoundSession = RunningSession | "unsure" | null;

export interface CallerDeps {
  readonly store: Store;
  readonly runningOf: (call: HostCall) => Promise<FoundSession>;
  /** The model that answered last in a transcript; null where it does not say. */
  readonly modelIn: (path: string) => string | null;
  /** Reads what is new in a file, and gives its sessions. */
  readonly sessionsIn: (path: string) => Promise<readonly SessionView[]>;
  readonly projectOf: (cwd: string) => Promise<Project>;
  /** The worktree of a folder, where that is not its project's root. */
  readonly worktreeOf: (cwd: string) => Promise<string | null>;
}

/** Who calls, by the host's word alone, with its session as it is now. */
export async function resolveCaller(deps: CallerDeps, said: HostCall): Promise<ActiveCaller> {
  const found = await findSession(deps, said);
  // A session that may be another one counts as none.
  const running = found === "unsure" ? null : found;
  const call = found === "unsure" ? { ...said, session: null } : said;
  const session = running === null ? null : pickSession(running, call, await deps.sessionsIn(running.path));
  const id = session === null ? call.session : getSessionId(session);
  const invocation = session
    ? nameTurn(getThreadId(session), (await latestEvents(deps.store, session, 1)).at(-1)?.turn ?? 0)
    : `${id ?? "nobody"}#${call.turn ?? 0}`;
  const model = call.model ?? running?.model ?? (running === null ? null : deps.modelIn(running.path));
  const format = call.format ?? session?.format ?? null;
  const place = await findProject(deps, session, call);
  return { caller: { session: id, invocation, kind: call.kind, ...place, format, model }, session };
}

/** A known host keeps its files in a known place; for another, an earlier reading says where they are. */
async function findSession(deps: CallerDeps, call: HostCall): Promise<FoundSession> {
  return call.format === null
    ? ((await findRecorded(deps, call)) ?? deps.runningOf(call))
    : ((await deps.runningOf(call)) ?? findRecorded(deps, call));
}

async function findRecorded({ store }: CallerDeps, { session }: HostCall): Promise<RunningSession | null> {
  if (session === null) return null;
  const known = (await store.sessions.list()).filter(({ sessionId }) => sessionId === session);
  const trusted = known.find(({ format }) => format !== "hook" && format !== "program") ?? known[0];
  return trusted ? { path: trusted.path, session, model: null } : null;
}

/** The session's project; the server's own where the session does not say. */
async function findProject(
  { projectOf, worktreeOf }: CallerDeps,
  session: SessionView | null,
  { cwd }: HostCall,
): Promise<Pick<Caller, "project" | "worktree">> {
  const isKnown = session !== null && session.project.root !== null;
  const project = isKnown ? session.project : await projectOf(cwd);
  const worktree = await worktreeOf(isKnown ? (session.cwd ?? cwd) : cwd);
  return worktree === null ? { project } : { project, worktree };
}

/** Of a file's sessions the named one, or the one that went on last. */
function pickSession(
  { session }: RunningSession,
  { trace }: HostCall,
  sessions: readonly SessionView[],
): SessionView | null {
  const named = sessions.find((one) => getSessionId(one) === session) ?? null;
  // A session found by its trace is that one, and no other of the same file.
  if (named !== null || (trace !== undefined && session !== null)) return named;
  return [...sessions].sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0))[0] ?? null;
}

/** A turn of a session, by the name that a host's call in it has. */
export function nameTurn(run: string, turn: number): string {
  return `${run}#${turn}`;
}

/** The folder of the caller's project, or of its worktree. */
export function getCallerRoot({ caller }: Pick<ActiveCaller, "caller">): string | null {
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
