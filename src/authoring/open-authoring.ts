import { existsSync } from "node:fs";
import { join } from "node:path";
import { bindAll } from "../base/index.ts";
import { asksToRemember } from "../learning/index.ts";
import { decisionEntry, recordEntries } from "../lessons/index.ts";
import type { PublishDeps, Stock } from "../library/index.ts";
import {
  type AuthoringFault,
  type Event,
  getSessionId,
  getThreadId,
  isPersons,
  type Project,
} from "../records/index.ts";
import type { Home } from "../settings/index.ts";
import type { Store } from "../store/index.ts";
import { findCheckout, readEvents, recordPath, type SessionView } from "../transcripts/index.ts";
import { ownWords } from "../trust/index.ts";
import {
  type ActiveCaller,
  type AuthoringDeps,
  type FoundSession,
  type HostCall,
  latestEvents,
} from "./caller.ts";
import { finishWriting } from "./finish.ts";
import { signalVerbs } from "./give-signals.ts";
import { findCallerFault } from "./protocol.ts";
import { readingVerbs } from "./read.ts";
import { staging } from "./staging.ts";
import { startWriting } from "./start.ts";

interface AuthoringVerbDeps {
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
  /** The model that answered last in a transcript; null where it does not say. */
  readonly modelIn: (path: string) => string | null;
  readonly projectAt: (cwd: string) => Promise<Project>;
  /** Knack's own skills: their names, and the folder of the plugin's template that has them. */
  readonly ownSkills: readonly string[];
  readonly template: string | undefined;
}

/** The operations that agents call while they work. */
export function openAuthoring(deps: AuthoringVerbDeps) {
  const context = createContext(deps);
  const { deriveSignals, ...verbs } = bindAll(context, {
    ...signalVerbs,
    ...readingVerbs,
    findLessonFault,
    acceptRequested,
  });
  return {
    /** Who calls, by the host's word, with its session as it is by now. */
    resolveCaller: (call: HostCall) => resolveCaller(deps, call),
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

/** Who calls, by the host's word alone, with its session as it is now. */
async function resolveCaller(deps: AuthoringVerbDeps, said: HostCall): Promise<ActiveCaller> {
  const { store } = deps.publishing;
  const found = await findSession(deps, said);
  // A session that may be another one counts as none.
  const running = found === "unsure" ? null : found;
  const call = found === "unsure" ? { ...said, session: null } : said;
  const recorded = running === null ? null : await deps.sessions([running.path], { refresh: true });
  const session = running && recorded && pickSession(running, call, recorded.sessions);
  const id = session === null ? call.session : getSessionId(session);
  const invocation = session
    ? `${getThreadId(session)}#${(await latestEvents(store, session, 1)).at(-1)?.turn ?? 0}`
    : `${id ?? "nobody"}#${call.turn ?? 0}`;
  const model = call.model ?? running?.model ?? (running === null ? null : deps.modelIn(running.path));
  const format = call.format ?? session?.format ?? null;
  // The server's own project where the session does not say.
  const isKnown = session !== null && session.project.root !== null;
  const project = isKnown ? session.project : await deps.projectAt(call.cwd);
  const checkout = findCheckout(isKnown ? (session.cwd ?? call.cwd) : call.cwd);
  const place = checkout?.worktree === undefined ? { project } : { project, worktree: checkout.worktree };
  return { caller: { session: id, invocation, kind: call.kind, ...place, format, model }, session };
}

/** A known host keeps its files in a known place; for another, an earlier reading says where they are. */
async function findSession(deps: AuthoringVerbDeps, call: HostCall): Promise<FoundSession> {
  const { store } = deps.publishing;
  return call.format === null
    ? ((await findRead(store, call)) ?? findRunning(deps, call))
    : ((await findRunning(deps, call)) ?? findRead(store, call));
}

/** The session that calls: in what a program records, or in an agent's transcript. */
async function findRunning(
  { home, runningSession }: AuthoringVerbDeps,
  call: HostCall,
): Promise<FoundSession> {
  const { format, session } = call;
  const recorded = format === null && session !== null ? recordPath(home.spool, session) : null;
  return recorded !== null && existsSync(recorded)
    ? { path: recorded, session, model: null }
    : runningSession(call);
}

async function findRead(store: Store, { session }: HostCall): Promise<FoundSession> {
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

// --- An agent that hands in lessons ---

/** Why this caller cannot hand in lessons; null where it can. Those of earlier sessions need no session of its own. */
async function findLessonFault(
  deps: AuthoringDeps,
  { caller, session }: ActiveCaller,
  needsSession: boolean,
): Promise<AuthoringFault | null> {
  const refused = await deps.refuses(caller.project.root, caller.project.id);
  const known = needsSession ? caller : { ...caller, session: caller.session ?? "any" };
  return findCallerFault(known, !needsSession || session !== null, refused);
}

/**
 * Accepts those of the lessons that rest on a prompt of this session in which the person asks to remember something,
 * and that the hook saw too: their own words are the yes. Returns their ids.
 */
async function acceptRequested(
  { store, clock }: AuthoringDeps,
  { session }: ActiveCaller,
  lessonIds: readonly string[],
  wasSeen: (prompt: string) => boolean,
): Promise<string[]> {
  if (session === null) return [];
  const events = await readEvents(store, session);
  const requests = new Set(events.filter((event) => isRequest(event, wasSeen)).map(({ ref }) => ref));
  const findings = await store.learning.findings.ofLessons(lessonIds);
  const requested = findings.filter(
    (one) => one.session === session.id && one.finding.refs.some((ref) => requests.has(ref)),
  );
  const accepted = [...new Set(requested.map(({ lessonId }) => lessonId))];
  const entries = accepted.map((id) => decisionEntry(id, "accepted", clock.now()));
  await store.transaction((tx) => recordEntries(tx, entries));
  return accepted;
}

function isRequest(event: Event, wasSeen: (prompt: string) => boolean): boolean {
  return isPersons(event) && asksToRemember(ownWords(event.text)) && wasSeen(event.text);
}
