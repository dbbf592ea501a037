import { existsSync, realpathSync } from "node:fs";
import { sessionFoldersOn, sessionsOn } from "../agents/index.ts";
import type { Event } from "../core/event.ts";
import type { ProjectFold } from "../core/ledger.ts";
import type { Diagnostic } from "../core/session.ts";
import { type Capture, captured } from "../engine/captured.ts";
import { diagnosticsOf, type IngestOptions, ingest } from "../engine/ingest.ts";
import { eachEvent, eventsOf, type SessionView, viewSessions } from "../engine/inspect.ts";
import { createRecorder, type Recorder, type RecorderOptions } from "../recorder.ts";
import { isWithin, type Opened } from "./home.ts";

/** What happened: sessions, their events, and the projects they were in. */
export interface SessionVerbs {
  /** Reads these files and folders, or the sessions of all agents on this machine, and answers with what they hold. */
  sessions(
    paths?: readonly string[],
    options?: IngestOptions,
  ): Promise<{ sessions: SessionView[]; diagnostics: Diagnostic[]; unread: number }>;
  events(session: SessionView): Promise<Event[]>;
  /** The same, a few at a time. */
  eachEvent(session: SessionView): AsyncIterable<Event>;
  /** The agents' own ids of all sessions. */
  runs(): Promise<string[]>;
  /** The agents' transcripts, and what of them was read and looked through. */
  captured(): Promise<Capture[]>;
  projects(): Promise<ProjectFold[]>;
  /** The project that a folder belongs to. */
  projectOf(cwd: string): Promise<string>;
  /** Hands the events of one session over from a program. */
  recorder(options?: RecorderOptions): Recorder;
}

export function sessionVerbs(opened: Opened): SessionVerbs {
  const { home, surroundings, store, transcripts, clock, isRefused, projectAt } = opened;
  return {
    sessions: async (paths, options) => {
      const { files, diagnostics } = await transcripts.find(
        paths ?? present([...sessionFoldersOn(surroundings), home.spool]),
      );
      // Beside their sessions agents keep other files; only a person who names a folder wants to hear of them.
      const isSession = sessionsOn(surroundings);
      const found = paths ? files : files.filter(({ path }) => isWithin(home.spool, path) || isSession(path));
      const unread = await ingest(opened, found, options);
      const sessions = await viewSessions(
        store,
        found.map(({ path }) => path),
      );
      const told = new Set(
        sessions.flatMap(({ path, alsoFrom }) => [path, ...alsoFrom.map((other) => other.path)]),
      );
      const rest = (await diagnosticsOf(store, found)).filter(({ path }) => !told.has(path));
      return { sessions, diagnostics: [...diagnostics, ...rest], unread };
    },
    events: (session) => eventsOf(store, session),
    eachEvent: (session) => eachEvent(store, session),
    runs: async () => (await store.sessions.list()).map(({ sessionId, id }) => sessionId ?? id),
    captured: async () => {
      const { files } = await transcripts.find(present(sessionFoldersOn(surroundings)));
      const isSession = sessionsOn(surroundings);
      const sessions = files.filter(({ path }) => isSession(path));
      return captured(store, sessions, { refuses: isRefused });
    },
    projects: () => store.projects.list(),
    projectOf: async (cwd) => (await projectAt(cwd)).id,
    recorder: (options) => createRecorder({ spool: home.spool, clock, ...options }),
  };
}

/** The folders that are there, each once, though one may be a link to another. */
function present(folders: readonly string[]): string[] {
  const real = new Map(
    folders
      .filter(existsSync)
      .map((folder) => [realpathSync(folder), folder])
      .reverse() as [string, string][],
  );
  return [...real.values()];
}
