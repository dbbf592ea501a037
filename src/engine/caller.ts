import { invocationOf } from "../core/derived-signal.ts";
import type { Event } from "../core/event.ts";
import { numberOf } from "../core/event.ts";
import type { HostWord } from "../core/host.ts";
import type { Project } from "../core/project.ts";
import type { Caller } from "../core/protocol.ts";
import { runOf, threadOf } from "../core/session.ts";
import type { SessionView } from "./inspect.ts";
import type { Store } from "./ports.ts";

/** A caller, with what is known of its session by now; null where there is none to be found. */
export interface Present {
  readonly caller: Caller;
  readonly session: SessionView | null;
}

/** Where a session is that goes on at this moment. */
export interface Running {
  readonly path: string;
  /** The agent's own id of it, where the file holds several or the host named none. */
  readonly session: string | null;
  /** The model that does its work, where that is known already. */
  readonly model: string | null;
}

/** The session that calls: null where none is found, unsure where the one that the host names may have been left. */
export type Found = Running | "unsure" | null;

export interface CallerDeps {
  readonly store: Store;
  readonly runningOf: (word: HostWord) => Promise<Found>;
  /** The model that answered last, by the file of a session; null where it does not say. */
  readonly modelIn: (path: string) => string | null;
  /** Reads what is new in a file, and answers with its sessions. */
  readonly sessionsIn: (path: string) => Promise<readonly SessionView[]>;
  readonly projectOf: (cwd: string) => Promise<Project>;
  /** The worktree that a folder is in, where that is another than its project's root. */
  readonly worktreeOf: (cwd: string) => Promise<string | null>;
}

/** Who calls, by the host's word alone, with its session as it is by now. */
export async function present(deps: CallerDeps, said: HostWord): Promise<Present> {
  const found = await foundBy(deps, said);
  // A session that may be another one is none.
  const running = found === "unsure" ? null : found;
  const word = found === "unsure" ? { ...said, session: null } : said;
  const session = running === null ? null : meantBy(running, word, await deps.sessionsIn(running.path));
  const { project, worktree } = await workplaceOf(deps, session, word);
  const run = session === null ? word.session : runOf(session);
  return {
    caller: {
      session: run,
      invocation: session
        ? invocationOf(threadOf(session), await turnOf(deps.store, session))
        : `${run ?? "nobody"}#${word.turn ?? 0}`,
      kind: word.kind,
      project,
      ...(worktree === null ? {} : { worktree }),
      format: word.format ?? session?.format ?? null,
      model: word.model ?? running?.model ?? (running === null ? null : deps.modelIn(running.path)),
    },
    session,
  };
}

/** A host that is known has its files in a place that is known; for another, what was read before says where. */
async function foundBy(deps: CallerDeps, word: HostWord): Promise<Found> {
  return word.format === null
    ? ((await recordedAt(deps, word)) ?? deps.runningOf(word))
    : ((await deps.runningOf(word)) ?? recordedAt(deps, word));
}

/** What a session works on, and where; the server's own where the session does not say. */
async function workplaceOf(
  { projectOf, worktreeOf }: CallerDeps,
  session: SessionView | null,
  { cwd }: HostWord,
): Promise<{ readonly project: Project; readonly worktree: string | null }> {
  if (session === null || session.project.root === null)
    return { project: await projectOf(cwd), worktree: await worktreeOf(cwd) };
  return { project: session.project, worktree: await worktreeOf(session.cwd ?? cwd) };
}

/** The folder in which a caller's agent has what is the project's. */
export function rootIn({ caller: { worktree, project } }: Pick<Present, "caller">): string | null {
  return worktree ?? project.root;
}

/** Whose doing a call is: the session's, or within it a subagent's; null where nobody knows. */
export function threadIn({ caller, session }: Present): string | null {
  return session === null ? caller.session : threadOf(session);
}

/** The latest events of a session, in order, as far as they are kept; at most so many. */
export async function latestEvents(store: Store, session: SessionView, most: number): Promise<Event[]> {
  // Of so many events with numbers from 1, the last few have at least these.
  const { events } = await store.events.count(session.id);
  const found: Event[] = [];
  for (let after = Math.max(0, events - most); ; ) {
    const page = await store.events.page(session.id, after, most);
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined) return found.slice(-most);
    after = numberOf(last.ref);
  }
}

async function turnOf(store: Store, session: SessionView): Promise<number> {
  return (await latestEvents(store, session, 1)).at(-1)?.turn ?? 0;
}

/** Where a session of this id was read before: a program's, or that of an agent whose files have other names. */
async function recordedAt({ store }: CallerDeps, { session }: HostWord): Promise<Running | null> {
  if (session === null) return null;
  const known = (await store.sessions.list()).filter(({ sessionId }) => sessionId === session);
  const trusted = known.find(({ format }) => format !== "hook" && format !== "program") ?? known[0];
  return trusted ? { path: trusted.path, session, model: null } : null;
}

/** Of a file's sessions the one that is named, or the one that went on last. */
function meantBy(
  { session }: Running,
  { trace }: HostWord,
  sessions: readonly SessionView[],
): SessionView | null {
  const named = sessions.find((one) => runOf(one) === session) ?? null;
  // What was found by its trace is that session, and no other of the same file.
  if (named !== null || (trace !== undefined && session !== null)) return named;
  return [...sessions].sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0))[0] ?? null;
}
