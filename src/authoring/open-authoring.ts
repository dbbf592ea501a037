import { existsSync } from "node:fs";
import { join } from "node:path";
import { bindAll } from "../base/index.ts";
import type { PublishDeps, Stock } from "../library/index.ts";
import type { Project } from "../records/index.ts";
import type { Home } from "../settings/index.ts";
import { findCheckout, recordPath, type SessionView } from "../transcripts/index.ts";
import { type CallerDeps, type FoundSession, type HostCall, resolveCaller } from "./caller.ts";
import type { AuthoringDeps } from "./deps.ts";
import { finishWriting } from "./finish.ts";
import { expandEvents, loadSkill, type ReadDeps } from "./read.ts";
import { deriveSignals } from "./signals/derive.ts";
import { giveSignal, takeReply } from "./signals/give.ts";
import { sweepStaging } from "./staging.ts";
import { startWriting } from "./start.ts";
import { useSkill } from "./use.ts";

interface AuthoringVerbDeps {
  readonly home: Home;
  readonly dryRun: boolean;
  readonly publishing: PublishDeps;
  readonly stock: Stock;
  readonly projectAt: (cwd: string) => Promise<Project>;
  readonly refuses: AuthoringDeps["refuses"];
  readonly learnable: (sessions: readonly SessionView[]) => Promise<SessionView[]>;
  readonly sessions: (
    paths: readonly string[],
    options: { readonly refresh: true },
  ) => Promise<{ sessions: SessionView[] }>;
  /** The session of an agent that makes a call, by its transcript. */
  readonly runningSession: (call: HostCall) => Promise<FoundSession>;
  readonly modelIn: CallerDeps["modelIn"];
  /** Knack's own skills: their names, and the folder of the plugin's template that has them. */
  readonly ownSkills: readonly string[];
  readonly template: string | undefined;
}

/** What agents do themselves while they work. */
export function openAuthoring(deps: AuthoringVerbDeps) {
  const { home, publishing, stock, projectAt, learnable, template } = deps;
  const authoring = createAuthoringDeps(deps);
  const reading: ReadDeps = {
    ...authoring,
    catalog: (cwd) => stock.catalog(cwd ?? undefined),
    own: template === undefined ? [] : deps.ownSkills.map((name) => join(template, "skills", name)),
  };
  const calling: CallerDeps = {
    store: publishing.store,
    modelIn: deps.modelIn,
    projectOf: projectAt,
    /** The session that calls: in what a program records, or in an agent's transcript. */
    runningOf: async (call) => {
      const recorded =
        call.format === null && call.session !== null ? recordPath(home.spool, call.session) : null;
      return recorded !== null && existsSync(recorded)
        ? { path: recorded, session: call.session, model: null }
        : deps.runningSession(call);
    },
    sessionsIn: async (path) => (await deps.sessions([path], { refresh: true })).sessions,
    worktreeOf: async (cwd) => findCheckout(cwd)?.worktree ?? null,
  };
  return {
    /** Who calls, by the host's word, with its session as it is by now. */
    resolveCaller: (call: HostCall) => resolveCaller(calling, call),
    ...bindAll(authoring, { startWriting, finishWriting, useSkill, giveSignal, takeReply }),
    /** Records what sessions show that they should have learned. */
    deriveSignals: async (sessions: readonly SessionView[]) =>
      deriveSignals(authoring, await learnable(sessions)),
    ...bindAll(reading, { loadSkill, expandEvents }),
    /** Removes what was staged and never finished. */
    sweepStaging: () => sweepStaging(authoring),
  };
}

function createAuthoringDeps(deps: AuthoringVerbDeps): AuthoringDeps {
  const { home, dryRun, stock, publishing, refuses, ownSkills } = deps;
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
  };
}
