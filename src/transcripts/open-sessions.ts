import { existsSync, realpathSync } from "node:fs";
import type { Diagnostic } from "../records/index.ts";
import { isWithin } from "../settings/index.ts";
import type { Store } from "../store/index.ts";
import { type IngestDeps, type IngestOptions, ingest } from "./ingest.ts";
import { createRecorder, type RecorderOptions } from "./recorder.ts";
import { eachEvent, readEvents, type SessionView, viewSessions } from "./sessions.ts";

interface SessionDeps extends IngestDeps {
  readonly spool: string;
  readonly agentSessions: AgentSessions;
}

/** Where the agents on this machine keep their sessions, and which of the files there are such. */
interface AgentSessions {
  folders(): string[];
  matcher(): (path: string) => boolean;
}

/** Sessions, their events, and the projects they were in. */
export function openSessions(deps: SessionDeps) {
  const { store, transcripts, clock, spool, agentSessions } = deps;
  return {
    /** Reads these files and folders, or the sessions of all agents on this machine, and returns what they hold. */
    sessions: async (
      paths?: readonly string[],
      options?: IngestOptions,
    ): Promise<{ sessions: SessionView[]; diagnostics: Diagnostic[]; unread: number }> => {
      const { files, diagnostics } = await transcripts.find(
        paths ?? dropMissing([...agentSessions.folders(), spool]),
      );
      // Agents keep other files beside their sessions; only a person who names a folder wants to hear of them.
      const isSession = agentSessions.matcher();
      const found = paths ? files : files.filter(({ path }) => isWithin(spool, path) || isSession(path));
      const unread = await ingest(deps, found, options);
      const sessions = await viewSessions(
        store,
        found.map(({ path }) => path),
      );
      const told = new Set(
        sessions.flatMap(({ path, alsoFrom }) => [path, ...alsoFrom.map((other) => other.path)]),
      );
      const readings = await store.readings.of(found.map(({ path }) => path));
      const rest = readings.flatMap((one) => one.diagnostics).filter(({ path }) => !told.has(path));
      return { sessions, diagnostics: [...diagnostics, ...rest], unread };
    },
    /** The transcripts of agents on this machine. */
    agentTranscripts: async () => {
      const { files } = await transcripts.find(dropMissing(agentSessions.folders()));
      const isSession = agentSessions.matcher();
      return files.filter(({ path }) => isSession(path));
    },
    events: (session: SessionView) => readEvents(store, session),
    /** The events of a session, a few at a time. */
    eachEvent: (session: SessionView) => eachEvent(store, session),
    /** The agents' own ids of all sessions. */
    runs: () => listRuns(store),
    projects: () => store.projects.list(),
    /** Records the events of one session that a program hands over. */
    recorder: (options?: RecorderOptions) => createRecorder({ spool, clock, ...options }),
  };
}

async function listRuns({ sessions }: Store): Promise<string[]> {
  return (await sessions.list()).map(({ sessionId, id }) => sessionId ?? id);
}

/** The folders that exist, each once, though one may be a link to another. */
function dropMissing(folders: readonly string[]): string[] {
  const real = folders.filter(existsSync).map((folder) => [realpathSync(folder), folder] as const);
  return [...new Map(real.reverse()).values()];
}
