import { type Clock, keepPrivate } from "./base/index.ts";
import { identifyProject, resolveProjectIds } from "./records/index.ts";
import { type Home, resolveHome } from "./settings/index.ts";
import {
  createBackgroundWork,
  openCopy,
  openScratch,
  openSqlite,
  readLedger,
  rememberReads,
  type Store,
} from "./store/index.ts";
import { findCheckout } from "./transcripts/index.ts";
import type { Redactor } from "./trust/index.ts";

export interface KnackOptions {
  /** The environment that decides where things are; this process's by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** Removes secrets; by default on this thread. */
  readonly redactor?: Redactor;
  /** Keep nothing: work in a database that is gone at the end. */
  readonly dryRun?: boolean;
  /** With `dryRun`: start empty, not with what is known. */
  readonly blank?: boolean;
  /** Work in this store instead of the home's own. */
  readonly store?: Store;
  /** Read a copy of the database, where the home cannot be written. */
  readonly copy?: boolean;
  /** A word that changes whenever the database does: lessons and entries are read again only then. */
  readonly mark?: () => string;
  /** Who judges sessions, whatever the settings say. */
  readonly judge?: string;
  /** The folder of the plugin's template, for Knack's own skills. */
  readonly template?: string;
  /** Where requests to a model are written, and where its answers are: with either, nothing is sent anywhere. */
  readonly modelDump?: string;
  readonly modelAnswers?: string;
}

/** The part of Knack that everything else is built on: where things are, the database, the clock and the projects. */
export async function openBase(options: KnackOptions) {
  const { env = process.env, clock = { now: Date.now }, dryRun = false } = options;
  const home = resolveHome(env);
  const opened = options.store ?? (await openStore(home, clock, options));
  const store = options.mark ? rememberReads(opened, options.mark) : opened;
  // A person may have made the folder, or copied it, with a wider mode. Only with a database is it Knack's for certain.
  if (!dryRun && !options.copy) keepPrivate(home.folder);
  return {
    ...{ env, clock, dryRun, home, store },
    work: createBackgroundWork(store, clock),
    projectAt: async (cwd: string) => {
      const project = identifyProject(cwd, null, findCheckout(cwd));
      return { ...project, id: resolveProjectIds(await store.sessions.places())(project.id) };
    },
  };
}

async function openStore({ database }: Home, clock: Clock, options: KnackOptions): Promise<Store> {
  const path = { path: database, clock };
  if (!options.dryRun) return options.copy ? openCopy(path) : openSqlite(path);
  const store = await openScratch(clock);
  // A dry run must know what is kept and rejected already.
  if (!options.blank) {
    const { recordEntries } = await import("./lessons/index.ts");
    const entries = await readLedger(database, clock);
    await store.transaction((tx) => recordEntries(tx, entries));
  }
  return store;
}
