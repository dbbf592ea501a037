import { existsSync } from "node:fs";
import { join } from "node:path";
import { bindAll } from "../base/index.ts";
import type { PublishDeps, Stock } from "../library/index.ts";
import { getSessionId, getThreadId, type Project } from "../records/index.ts";
import type { Home } from "../settings/index.ts";
import type { Store } from "../store/index.ts";
import { findCheckout, recordPath, type SessionView } from "../transcripts/index.ts";
import {
  type ActiveCaller,
  type AuthoringDeps,
  type FoundSession,
  type HostCall,
  latestEvents,
} from "./caller.ts";
import { finishWriting } from "./finish.ts";
import { signalVerbs } from "./give-signals.ts";
import { readingVerbs } from "./read.ts";
import { lessonVerbs } from "./remember.ts";
import { staging } from "./staging.ts";
import { startWriting } from "./start.ts";

interface AuthoringVerbDeps extends Pick<CallerDeps, "projectAt" | "modelIn"> {
  readonly home: Home;
  readonly dryRun: boolean;
  readonly publishing: PublishDeps;
  readonly stock: Stock;
  readonly refuses: AuthoringDeps["refuses"];
  readonly learnable: (sessions: readonly SessionView[]) => Promise<SessionView[]>;
  readonly sessions: (
    paths: readonly string[],
    options: { readonly refresh: true },
  ) => Promise<{ sessions: SessionView[] }>;
  /** The session of an agent that makes a call, by its transcript. */
  readonly runningSession: (call: HostCall) => Promise<FoundSession>;
  /** Knack's own skills: their names, and the folder of the plugin's template that has them. */
  readonly ownSkills: readonly string[];
  readonly template: string | undefined;
}

/** The operations that agents call while they work. */
export function openAuthoring(deps: AuthoringVerbDeps) {
  const { home, publishing, projectAt, modelIn } = deps;
  const context = createContext(deps);
  const calling: CallerDeps = {
    ...{ store: publishing.store, projectAt, modelIn },
    /** The session that calls: in what a program records, or in an agent's transcript. */
    runningOf: async (call) => {
      const isProgram = call.format === null && call.session !== null;
      const recorded = isProgram ? recordPath(home.spool, call.session ?? "") : null;
      return recorded !== null && existsSync(recorded)
        ? { path: recorded, session: call.session, model: null }
        : deps.runningSession(call);
    },
    sessionsIn: async (path) => (await deps.sessions([path], { refresh: true })).sessions,
    worktreeOf: (cwd) => findCheckout(cwd)?.worktree ?? null,
  };
  const { deriveSignals, ...verbs } = bindAll(context, { ...signalVerbs, ...readingVerbs, ...lessonVerbs });
  return {
    /** Who calls, by the host's word, with its session as it is by now. */
    resolveCaller: (call: HostCall) => resolveCaller(calling, call),
    ...bindAll(context, { startWriting, finishWriting, sweepStaging: staging.sweep }),
    ...verbs,
    /** Records what sessions show that they should have learned. */
    deriveSignals: async (sessions: readonly SessionView[]) => deriveSignals(await deps.learnable(sessions)),
  };
}

function createContext(deps: AuthoringVerbDeps): AuthoringDeps {
  const { home, dryRun, stock, publishing, refuses, ownSkills, template } = deps;
  return {
    ...publishing,
    // A database that was deleted under a running server can still be written to, and is gone all the same.
    refuses: async (root, id) =>
      dryRun || existsSync(home.database)
        ? refuses(root, id)
        : `${home.database} is not there any more; Knack must be started again`,
    inLibrary: async (name) => {
      if (ownSkills.includes(name.replace(/^knack:/, ""))) return "core";
      const isCalled = (one: string) => one === name || one.endsWith(`:${name}`);
      const items = await stock.items();
      return items.find((item) => item.kind === "skill" && isCalled(item.name))?.owner ?? null;
    },
    staging: (root) => ({
      folder: root === null ? join(home.folder, "staging") : join(root, ".knack", "staging"),
      root: root ?? home.folder,
    }),
    catalog: (cwd) => stock.catalog(cwd ?? undefined),
    ownSkills: template === undefined ? [] : ownSkills.map((name) => join(template, "skills", name)),
  };
}

// --- Who calls ---

/** How the session of a call is found. */
interface CallerDeps {
  readonly store: Store;
  readonly runningOf: (call: HostCall) => Promise<FoundSession>;
  /** The model that answered last in a transcript; null where it does not say. */
  readonly modelIn: (path: string) => string | null;
  /** Reads what is new in a file, and gives its sessions. */
  readonly sessionsIn: (path: string) => Promise<readonly SessionView[]>;
  readonly projectAt: (cwd: string) => Promise<Project>;
  /** The worktree of a folder, where that is not its project's root. */
  readonly worktreeOf: (cwd: string) => string | null;
}

/** Who calls, by the host's word alone, with its session as it is now. */
async function resolveCaller(deps: CallerDeps, said: HostCall): Promise<ActiveCaller> {
  const found = await findSession(deps, said);
  // A session that may be another one counts as none.
  const running = found === "unsure" ? null : found;
  const call = found === "unsure" ? { ...said, session: null } : said;
  const session = running === null ? null : pickSession(running, call, await deps.sessionsIn(running.path));
  const id = session === null ? call.session : getSessionId(session);
  const invocation = session
    ? `${getThreadId(session)}#${(await latestEvents(deps.store, session, 1)).at(-1)?.turn ?? 0}`
    : `${id ?? "nobody"}#${call.turn ?? 0}`;
  const model = call.model ?? running?.model ?? (running === null ? null : deps.modelIn(running.path));
  const format = call.format ?? session?.format ?? null;
  // The server's own project where the session does not say.
  const isKnown = session !== null && session.project.root !== null;
  const project = isKnown ? session.project : await deps.projectAt(call.cwd);
  const worktree = deps.worktreeOf(isKnown ? (session.cwd ?? call.cwd) : call.cwd);
  const place = worktree === null ? { project } : { project, worktree };
  return { caller: { session: id, invocation, kind: call.kind, ...place, format, model }, session };
}

/** A known host keeps its files in a known place; for another, an earlier reading says where they are. */
async function findSession(deps: CallerDeps, call: HostCall): Promise<FoundSession> {
  return call.format === null
    ? ((await findRecorded(deps, call)) ?? deps.runningOf(call))
    : ((await deps.runningOf(call)) ?? findRecorded(deps, call));
}

async function findRecorded(
  { store }: CallerDeps,
  { session }: HostCall,
): Promise<Extract<FoundSession, object> | null> {
  if (session === null) return null;
  const known = (await store.sessions.list()).filter(({ sessionId }) => sessionId === session);
  const trusted = known.find(({ format }) => format !== "hook" && format !== "program") ?? known[0];
  return trusted ? { path: trusted.path, session, model: null } : null;
}

/** The named session of a file, or its most recent one. */
function pickSession(
  { session }: Extract<FoundSession, object>,
  { trace }: HostCall,
  sessions: readonly SessionView[],
): SessionView | null {
  const named = sessions.find((one) => getSessionId(one) === session) ?? null;
  // A session found by its trace is that one, and no other of the same file.
  if (named !== null || (trace !== undefined && session !== null)) return named;
  return [...sessions].sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0))[0] ?? null;
}
