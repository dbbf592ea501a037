import { randomUUID } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import type { Surroundings } from "../agents/index.ts";
import { createPlaces } from "../agents/places.ts";
import { type Home, homeOf, userHome } from "../config.ts";
import { identify, type Project } from "../core/project.ts";
import type { IngestDeps } from "../engine/ingest.ts";
import type { SessionView } from "../engine/inspect.ts";
import { note } from "../engine/note.ts";
import type { Clock, Library, Places, Redactor, Store } from "../engine/ports.ts";
import { createLibrary } from "../library/index.ts";
import { whyNotLearn } from "../settings.ts";
import { createCheckouts } from "../sources/checkouts.ts";
import { createTranscripts } from "../sources/transcripts.ts";
import { lookInto } from "../store/foreign.ts";
import { ledgerAt, openCopy, openScratch, openSqlite } from "../store/sqlite.ts";
import { isRunning } from "../store/whole-file.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** How a home is opened; `KnackOptions` says what each means. */
export interface HomeOptions {
  readonly env: Environment;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly dryRun: boolean;
  readonly blank: boolean;
  readonly copy: boolean;
}

/** A home that is open: what there is before anything is read, searched or written. */
export interface Opened extends IngestDeps, Work {
  readonly home: Home;
  readonly surroundings: Surroundings;
  readonly dryRun: boolean;
  readonly library: Library;
  readonly places: Places;
  /** Why nothing is learned in a project; null where it is. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  /** The same for a session. */
  readonly isRefused: (session: Pick<SessionView, "cwd" | "project">) => Promise<string | null>;
  /** Those of them that are learned from. */
  readonly learnable: (sessions: readonly SessionView[]) => Promise<SessionView[]>;
  readonly projectAt: (cwd: string) => Promise<Project>;
}

/** Background work, which one process does at a time. */
export interface Work {
  /** Takes a piece of background work on, until a time; false while another process, which lives, has it. */
  claim(work: string, until: number): Promise<boolean>;
  giveBack(work: string): Promise<void>;
}

export async function openHome(options: HomeOptions): Promise<Opened> {
  const { env, clock, redactor, dryRun } = options;
  const home = homeOf(env);
  const surroundings = { home: userHome(env), env };
  const store = await openStore(home, options);
  const checkouts = createCheckouts();
  const refuses: Opened["refuses"] = async (root, id) => whyNotLearn(home, root, id);
  const isRefused: Opened["isRefused"] = async ({ cwd, project }) =>
    cwd !== null && isBelowHome(home, cwd) ? "Knack's own work" : refuses(project.root, project.id);
  return {
    ...{ home, surroundings, dryRun, store, redactor, clock, checkouts, refuses, isRefused },
    ...workOn(store, clock),
    transcripts: createTranscripts({
      passOver: [home.folder],
      openDatabase: lookInto,
      roots: async () => (await store.projects.list()).flatMap(({ root }) => root ?? []),
    }),
    library: createLibrary(),
    places: createPlaces({ ...surroundings, drafts: { folder: home.drafts, root: home.folder } }),
    learnable: async (sessions) => {
      const heard: SessionView[] = [];
      for (const session of sessions) if ((await isRefused(session)) === null) heard.push(session);
      return heard;
    },
    projectAt: async (cwd) => identify(cwd, null, await checkouts.of(cwd)),
  };
}

async function openStore({ database }: Home, { clock, dryRun, blank, copy }: HomeOptions): Promise<Store> {
  if (!dryRun) return copy ? openCopy({ path: database, clock }) : openSqlite({ path: database, clock });
  const store = await openScratch(clock);
  if (!blank) {
    // What is kept and refused already must be known, also to somebody who only looks.
    const entries = await ledgerAt(database, clock);
    await store.transaction((tx) => note(tx, entries));
  }
  return store;
}

function workOn({ leases }: Store, clock: Clock): Work {
  const self = `${process.pid} ${randomUUID()}`;
  return {
    claim: async (work, until) => {
      const held = await leases.holder(work);
      const dead = held && !isAlive(held.holder) ? held.holder : undefined;
      return leases.take(work, { holder: self, now: clock.now(), until, insteadOf: dead });
    },
    giveBack: (work) => leases.release(work, self),
  };
}

/** Whether the process that holds a lease still runs. */
export function isAlive(holder: string): boolean {
  return isRunning(Number.parseInt(holder, 10));
}

/** The folder of this process; the topmost where it is gone. */
export function whereWeAre(): string {
  try {
    return process.cwd();
  } catch {
    return "/";
  }
}

/** Whether something lies in Knack's own home, by its name or by where that leads: agents note the real one. */
export function isBelowHome({ folder }: Home, path: string): boolean {
  return isWithin(folder, path) || isWithin(existsSync(folder) ? realpathSync(folder) : folder, path);
}

export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
