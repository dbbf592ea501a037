import { type Json, type JsonObject, sha256 } from "../base/index.ts";

/**
 * The id of a session as one transcript file tells it: the file's path, and within a file of several sessions which
 * one. A plain string may become one; a `SessionId` may not.
 */
export type TranscriptId = string & { readonly idKind?: "transcript" };

/** The agent's own id of a session, by which hooks know it. Several transcripts may tell the same session. */
export type SessionId = string & { readonly idKind?: "session" };

/** The agent that wrote a transcript, or its event source. */
// biome-ignore format: a list of names reads better in rows
export type Format =
  | "claude-code" | "codex" | "copilot-cli" | "gemini" | "opencode" | "pi" | "cursor" | "swe-agent"
  | "mini-swe-agent" | "hook" | "program";

/** A part of a file that could not be parsed. */
export interface Diagnostic {
  readonly path: string;
  /** The 1-based line, where there is one. */
  readonly line: number | null;
  readonly code: DiagnosticCode;
  readonly message: string;
}

// biome-ignore format: a list of names reads better in rows
export type DiagnosticCode =
  | "cut-line" | "invalid-json" | "not-an-object" | "line-too-long" | "too-large" | "encoding" | "binary"
  | "empty" | "unreadable" | "unknown-format" | "more";

/** Session metadata. */
export interface SessionFacts {
  readonly sessionId: SessionId | null;
  /** Which subagent of that session, for a subagent's own file. */
  readonly agentId: string | null;
  readonly subagent: boolean;
  readonly cwd: string | null;
  /** The repository's remote, where the transcript names it. */
  readonly remote: string | null;
  /** The transcript a hook event points to. */
  readonly transcriptPath: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

/** One run of an agent, as one file tells it. */
export interface Session extends SessionFacts {
  readonly id: TranscriptId;
  readonly path: string;
  readonly format: Format;
  readonly project: Project;
  readonly counts: Counts;
}

/** The agent's own id of a session; the transcript's where the agent gives none. */
export function getSessionId({ sessionId, id }: Pick<Session, "sessionId" | "id">): SessionId {
  return sessionId ?? (id as string);
}

/** The id of a session or, for a subagent's transcript, of the subagent within it: it has turns of its own. */
export function getThreadId(session: Pick<Session, "sessionId" | "id" | "agentId">): SessionId {
  return session.agentId === null ? getSessionId(session) : `${getSessionId(session)}/${session.agentId}`;
}

/** The read position in a transcript: bytes and lines read, and a digest. Files read whole have no lines. */
export interface ReadPosition {
  readonly offset: number;
  readonly line: number;
  readonly digest: string;
}

/** State for resuming a thread; its events are in the store. */
export interface ThreadState {
  readonly facts: SessionFacts;
  readonly last: number;
  readonly turn: number;
  readonly counts: Counts;
  /** Calls without a result: the agent's call id and the ref. */
  readonly open: readonly (readonly [string, string])[];
  /** Commands that go on after their call returned: the process and the ref. */
  readonly running: readonly (readonly [string, string])[];
  /** The branch that the last event with one was on. */
  readonly branch?: string;
}

export interface ReadingState {
  readonly threads: readonly (readonly [string, ThreadState])[];
  /** The reader's own; it may hold words that are not in an event yet. */
  readonly rest: Json;
  /** Change stamps by session name, for a file that holds several sessions. */
  readonly marks?: readonly (readonly [string, string])[];
  /** How often the file was begun to be read from its beginning. */
  readonly begun?: number;
  /** Marks of the secrets that the file has shown, by which they are known again; not the secrets. */
  readonly secrets?: readonly string[];
}

export interface Reading {
  readonly path: string;
  readonly format: Format | null;
  readonly size: number;
  readonly modifiedAt: number;
  readonly position: ReadPosition;
  readonly state: ReadingState;
  readonly diagnostics: readonly Diagnostic[];
  /** When its events were last written to the cache; null once they are purged. */
  readonly cachedAt: number | null;
}

/** The repository or folder that sessions belong to. */
export interface Project {
  /** The normalised remote, or the root folder where there is none. */
  readonly id: string;
  readonly name: string;
  readonly root: string | null;
}

/** The Git checkout of a working folder. */
export interface Checkout {
  /** The folder that holds the repository; for a worktree, its main repository's. */
  readonly root: string;
  /** The worktree that the folder is in, where that is another than the root. */
  readonly worktree?: string;
  /** The branch that is checked out, where one is. */
  readonly branch?: string;
  readonly remote: string | null;
}

/** Which project a session that ran in `cwd` belongs to: by origin remote, then git root, then folder. */
export function identifyProject(
  cwd: string | null,
  remote: string | null,
  checkout: Checkout | null,
): Project {
  const root = checkout?.root ?? (cwd === null ? null : withoutWorktree(trimSlash(cwd)));
  const origin = normaliseRemote(checkout?.remote ?? remote ?? "");
  if (origin !== null) return { id: origin, name: lastPart(origin), root };
  if (root !== null) return { id: root, name: lastPart(root) || root, root };
  return { id: "unknown", name: "unknown", root: null };
}

/**
 * One name for all spellings of a remote: `host/owner/repo`, without scheme, credentials, port and `.git`.
 * Null if it is not a remote.
 */
export function normaliseRemote(remote: string): string | null {
  const url = remote.trim();
  if (url === "") return null;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url);
  if (scheme?.[1]?.toLowerCase() === "file") return tidy(url.slice(scheme[0].length));
  if (scheme) {
    // Credentials end at the last @ before the host; a password may hold a slash, and a path an @.
    const rest = url
      .slice(scheme[0].length)
      .replace(/[?#].*$/s, "")
      .replace(/^(?:[^/]*|[^/@:]*:(?!\d+\/)[^@]*)@/, "");
    const named = tidy(rest.replace(/^([^/:]+):\d+/, "$1").toLowerCase());
    // A host alone is no repository.
    return named !== null && /\/[^/.]|\/\.+[^/.]/.test(named) ? named : null;
  }
  // scp form: user@host:path. A Windows drive (`C:\`) and a plain path are local.
  const scp = /^(?:[^@/\s]+@)?([^:/\\\s]{2,}):(?!\\)(.+)$/.exec(url);
  return scp ? tidy(`${scp[1]}/${(scp[2] ?? "").replace(/^\/+/, "")}`.toLowerCase()) : tidy(url);
}

/**
 * By which id each project is to be counted. A session that brought no remote, and whose folder is gone, knows only
 * that folder: where a project with a remote has it, or one above it, they are one project. One that is known by the
 * hash of its folder alone is that of the folder. A worktree that an agent keeps in its own folder is known by the
 * repository's name, if one repository of that person has it.
 */
export function resolveProjectIds(places: Iterable<Pick<Project, "id" | "root">>): (id: string) => string {
  const remotes = new Map<string, string>();
  const names = new Map<string, Set<string>>();
  const all = [...places];
  for (const { id, root } of all) {
    if (root === null || root === id || isHome(root)) continue;
    const known = remotes.get(root);
    // Of two remotes that were in one folder, the one that sorts first: whichever was seen first.
    if (known === undefined || id < known) remotes.set(root, id);
  }
  const resolveFolder = (project: string) => {
    for (let at = project; at.length > 1; at = at.slice(0, Math.max(0, at.search(/[/\\][^/\\]*$/)))) {
      const found = remotes.get(at);
      if (found !== undefined) return found;
    }
    return project;
  };
  const roots = new Map(all.map(({ id, root }) => [id, root]));
  for (const { id, root } of all) {
    if (root === null || agentWorktree.test(root)) continue;
    const key = `${findOwner(root)} ${lastPart(root)}`;
    names.set(key, (names.get(key) ?? new Set()).add(root === id ? resolveFolder(id) : id));
  }
  return (project) => {
    if ((roots.get(project) ?? project) !== project) return project;
    const hashed = findHashedFolder(project, roots.values());
    if (hashed !== null) return resolveFolder(hashed);
    const worktree = agentWorktree.exec(project);
    if (!worktree) return resolveFolder(project);
    const found = [...(names.get(`${worktree[1]} ${worktree[2] ?? worktree[3]}`) ?? [])];
    return found.length === 1 && found[0] !== undefined ? found[0] : project;
  };
}

/** The remote of a project of which only the SHA-256 of its folder is known. */
export function nameHashedProject(hash: string): string {
  return `gemini:project-${hash.slice(0, 12)}`;
}

/** The folder, among some, after whose hash a project is named; as a project's id the name has a slash for its colon. */
export function findHashedFolder(project: string, folders: Iterable<string | null>): string | null {
  const name = project.replace("/", ":");
  if (!name.startsWith(nameHashedProject(""))) return null;
  for (const folder of folders)
    if (folder !== null && nameHashedProject(sha256(folder)) === name) return folder;
  return null;
}

/** A folder in which sessions of a project took place. */
export interface ProjectPlace extends Pick<Project, "id" | "root"> {
  /** The sessions there in which a person spoke. */
  readonly spoken: number;
  readonly firstAt: number | null;
}

/** Sessions in a further folder that names the same remote until it counts as the person's checkout of it. */
const sessionsInOwn = 2;

/**
 * The folders that may be taken for what their remote says: the first that was met with it, and others once a person
 * has worked there in several sessions. Any folder can claim any remote.
 */
export function findOwnCheckouts(places: Iterable<ProjectPlace>): ReadonlySet<string> {
  const sorted = [...places].sort((a, b) => (a.firstAt ?? Infinity) - (b.firstAt ?? Infinity));
  const met = new Set<string>();
  const own = new Set<string>();
  for (const { id, root, spoken } of sorted) {
    if (root === null || root === id) continue;
    if (!met.has(id) || spoken >= sessionsInOwn) own.add(root);
    met.add(id);
  }
  return own;
}

/** Whose folder it is: worktrees below `~/.codex` are of repositories in the same home. */
function findOwner(root: string): string {
  return /^(?:~|\/(?:home|Users)\/[^/]+|\/root|[A-Za-z]:\\Users\\[^\\]+)(?=[/\\])/.exec(root)?.[0] ?? "";
}

/** A worktree in the folder of an agent: Codex names it by an id and the repository, Cursor the other way round. */
const agentWorktree =
  /^(.*)[/\\]\.(?:codex[/\\]worktrees[/\\][^/\\]+[/\\]([^/\\]+)|cursor[/\\]worktrees[/\\]([^/\\]+)[/\\][^/\\]+)$/;

/** Who keeps a whole home folder in a repository has other projects in it. */
function isHome(root: string): boolean {
  return /^(?:\/(?:home|Users)\/[^/]+|\/root|[A-Za-z]:\\Users\\[^\\]+|\/|[A-Za-z]:\\?)$/.test(root);
}

function tidy(path: string): string | null {
  return trimSlash(path).replace(/\.git$/i, "") || null;
}

function trimSlash(path: string): string {
  return path.length > 1 ? path.replace(/[/\\]+$/, "") : path;
}

function lastPart(path: string): string {
  return path.split(/[/\\]/).pop() ?? path;
}

/** The repository of a worktree that is gone from disk: made inside it, or in a folder beside it that is named for it. */
function withoutWorktree(path: string): string {
  const inside = path.replace(/[/\\]\.(?:claude[/\\])?worktrees[/\\][^/\\]+.*$/, "") || path;
  return inside.replace(/([^/\\])(?:__|[._-])worktrees[/\\][^/\\]+.*$/, "$1");
}

/** The kind of an event: a person's prompt, an agent's reply, a tool call, or another notable event. */
export type EventKind = "prompt" | "reply" | "call" | "mark";

export type Outcome = "ok" | "failed" | "masked" | "rejected" | "cancelled" | "unknown";

/** Where a text came from, the most trusted first; of a text that is made of several, the last of theirs. */
// biome-ignore format: a list of names reads better in rows
export const provenances = [
  "person", "agent", "program", "repository", "file", "web", "mcp", "import",
] as const;

export type Provenance = (typeof provenances)[number];

/** One thing that happened in a session. A tool call and its result are one event. */
export interface Event {
  /** `e17`: stable when the transcript grows. */
  readonly ref: string;
  /** Where it stands in its file: the 1-based line for JSONL. */
  readonly key: string;
  /** Where a call's result stands, when it has one. */
  readonly resultKey: string | null;
  /** Milliseconds since 1970; null where the agent gives no time. */
  readonly at: number | null;
  readonly endedAt: number | null;
  /** How many prompts came before or with it: 0 until a person speaks. */
  readonly turn: number;
  /** How Knack came to know: the agent's own record, a hook, a program that handed it over, or an import. */
  readonly source: "transcript" | "hook" | "tool-hook" | "imported";
  readonly kind: EventKind;
  /** Done by a subagent whose lines stand in its parent's file. */
  readonly sidechain: boolean;
  readonly tool: string | null;
  readonly input: JsonObject | null;
  readonly command: string | null;
  readonly files: readonly string[];
  readonly cwd: string | null;
  readonly outcome: Outcome | null;
  readonly exitCode: number | null;
  /** The words of a prompt or reply, the output of a call. */
  readonly text: string;
  /** The agent's id of the call: how its result, and the same call seen by a hook, find it. */
  readonly callId: string | null;
  /** The agent's id of the record: how a line repeated by a resume or shared by a fork is known. */
  readonly origin: string | null;
  /** The skill, command or agent it is attributed to, if known; for a person's turn, what they invoked. */
  readonly skill?: string;
  /** For a prompt that no session shows a person to have typed: a program gave it. */
  readonly given?: "program";
  /** The branch that was checked out, where the agent tells; only at the first event on it. */
  readonly branch?: string;
  /** How full the model's window was with this event, where the agent tells. */
  readonly context?: ContextUse;
}

/** Tokens in a model's window, and how many fit in; null where that is not known. */
export interface ContextUse {
  readonly tokens: number;
  readonly window: number | null;
}

/** Whether it is a prompt in a person's own words, as far as anybody can tell. */
export function isPersons({ kind, given, sidechain }: Pick<Event, "kind" | "given" | "sidechain">): boolean {
  return kind === "prompt" && given === undefined && !sidechain;
}

export interface Counts {
  readonly events: number;
  /** Those of a person. */
  readonly prompts: number;
  readonly calls: number;
  readonly failed: number;
  readonly rejected: number;
}

export const noCounts: Counts = { events: 0, prompts: 0, calls: 0, failed: 0, rejected: 0 };

export function countEvents(events: Iterable<Event>): Counts {
  const counts = { ...noCounts };
  for (const event of events) {
    counts.events++;
    if (isPersons(event)) counts.prompts++;
    if (event.kind === "call") counts.calls++;
    if (event.outcome === "failed") counts.failed++;
    if (event.outcome === "rejected") counts.rejected++;
  }
  return counts;
}

/** `e17` for 17, and back. */
export const formatRef = (n: number): string => `e${n}`;
export const parseRef = (ref: string): number => Number(ref.slice(1));

/** Characters of an event's text, command and input that are kept; what is longer is cut. */
export const eventChars = 5_000;

/** Cuts text to a length, keeping its head and its tail: a command says what it is first and what went wrong last. */
export function shorten(text: string, max: number): string {
  return text.length <= max ? text : abridge(text, text, text.length, max);
}

/** Like `shorten`, given only the head and the tail of the text. */
export function abridge(head: string, tail: string, length: number, max: number): string {
  const mark = `\n…[${length - max} characters left out]…\n`;
  const first = Math.ceil((max - mark.length) * 0.6);
  const last = max - mark.length - first;
  return `${head.slice(0, first)}${mark}${tail.slice(-last)}`;
}

/** An event without its words: little enough to look at a whole session at once. */
export interface EventOutline {
  /** 17 for `e17`. */
  readonly n: number;
  readonly kind: EventKind;
  readonly sidechain: boolean;
  /** The rest is null except for calls. */
  readonly outcome: Outcome | null;
  readonly tool: string | null;
  readonly head: string | null;
  /** The first of the files that it is about. */
  readonly file: string | null;
}

export function outlineEvent({ ref, kind, sidechain, outcome, tool, command, files }: Event): EventOutline {
  const known = { n: parseRef(ref), kind, sidechain };
  if (kind !== "call") return { ...known, outcome: null, tool: null, head: null, file: null };
  // Characters as a database counts them: a surrogate pair is one.
  const head =
    command && [...command.slice(0, 2 * outlinedCommandChars)].slice(0, outlinedCommandChars).join("");
  return { ...known, outcome, tool, head, file: files[0] ?? null };
}

/** Characters of a command that say what it is. */
export const outlinedCommandChars = 120;

export type Actor = "person" | "agent" | "knack";
