import { existsSync, realpathSync } from "node:fs";
import { agents } from "./agents/index.ts";
import { homeOf, userHome } from "./config.ts";
import type { Event } from "./core/event.ts";
import type { Instinct } from "./core/instinct.ts";
import type { Diagnostic } from "./core/session.ts";
import { diagnosticsOf, type IngestOptions, ingest } from "./engine/ingest.ts";
import {
  type Drift,
  eachEvent,
  eventsOf,
  findDrift,
  rebuild,
  type SessionView,
  unreadableRows,
  viewSessions,
} from "./engine/inspect.ts";
import { type Learned, type LearnOptions, learn } from "./engine/learn.ts";
import type { Clock, Redactor } from "./engine/ports.ts";
import { createRecorder, type Recorder, type RecorderOptions } from "./recorder.ts";
import { createRedactor } from "./redaction/secretlint.ts";
import { createCheckouts } from "./sources/checkouts.ts";
import { createTranscripts } from "./sources/transcripts.ts";
import { openSqlite } from "./store/sqlite.ts";

export interface KnackOptions {
  /** The environment that decides where things are; this process's by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** What takes secrets out; by default on this thread. */
  readonly redactor?: Redactor;
  /** Keep nothing: work in memory and forget it at the end. */
  readonly dryRun?: boolean;
}

/** Knack, opened on one home. Close it when done. */
export interface Knack {
  /** Reads these files and folders, or the sessions of all agents on this machine, and answers with what they hold. */
  sessions(
    paths?: readonly string[],
    options?: IngestOptions,
  ): Promise<{ sessions: SessionView[]; diagnostics: Diagnostic[] }>;
  /** Reads the same and keeps what is worth keeping as instincts; no skill or rule is written. */
  learn(
    paths?: readonly string[],
    options?: IngestOptions & { onLook?: LearnOptions["onProgress"] },
  ): Promise<Learned>;
  /** Everything learned, the surest first. */
  instincts(): Promise<Instinct[]>;
  events(session: SessionView): Promise<Event[]>;
  /** The same, a few at a time. */
  eachEvent(session: SessionView): AsyncIterable<Event>;
  /** Hands the events of one session over from a program. */
  recorder(options?: RecorderOptions): Recorder;
  /** What is wrong with Knack's own state. */
  check(): Promise<{ damage: string[]; drift: Drift[]; entries: number }>;
  rebuild(): Promise<Drift[]>;
  close(): Promise<void>;
}

export async function openKnack({
  env = process.env,
  clock = { now: Date.now },
  dryRun = false,
  redactor = createRedactor(),
}: KnackOptions = {}): Promise<Knack> {
  const home = homeOf(env);
  const store = await openSqlite({ path: dryRun ? ":memory:" : home.database, clock });
  const transcripts = createTranscripts({ passOver: [home.folder] });
  const deps = { store, transcripts, redactor, checkouts: createCheckouts(), clock };
  const knack: Knack = {
    sessions: async (paths, options) => {
      const { files, diagnostics } = await transcripts.find(
        paths ?? present([...sessionFolders(env), home.spool]),
      );
      // Beside their sessions agents keep other files; only a person who names a folder wants to hear of them.
      const found = paths ? files : files.filter(({ path }) => path.endsWith(".jsonl"));
      await ingest(deps, found, options);
      const sessions = await viewSessions(
        store,
        found.map(({ path }) => path),
      );
      const told = new Set(
        sessions.flatMap(({ path, alsoFrom }) => [path, ...alsoFrom.map((other) => other.path)]),
      );
      const rest = (await diagnosticsOf(store, found)).filter(({ path }) => !told.has(path));
      return { sessions, diagnostics: [...diagnostics, ...rest] };
    },
    learn: async (paths, { onLook, ...options } = {}) => {
      const { sessions } = await knack.sessions(paths, options);
      const refuses = async ({ cwd }: SessionView) =>
        cwd !== null && isWithin(home.folder, cwd) ? "Knack's own work" : null;
      return learn(deps, sessions, { refuses, ...(onLook ? { onProgress: onLook } : {}) });
    },
    instincts: () => store.learning.instincts.list(),
    events: (session) => eventsOf(store, session),
    eachEvent: (session) => eachEvent(store, session),
    recorder: (options) => createRecorder({ spool: home.spool, clock, ...options }),
    check: async () => ({
      damage: [...(await store.check()), ...(await unreadableRows(store))],
      drift: await findDrift(store),
      entries: (await store.ledger.all()).length,
    }),
    rebuild: () => rebuild(store),
    close: async () => {
      await store.close();
      await redactor.close();
    },
  };
  return knack;
}

/** Where the agents of this machine leave their sessions. */
export function sessionFolders(env: Readonly<Record<string, string | undefined>>): string[] {
  return agents.flatMap((agent) => agent.sessionFolders({ home: userHome(env), env }));
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
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
