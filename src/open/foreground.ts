import { existsSync } from "node:fs";
import { join } from "node:path";
import { pluginSkills } from "../agents/claude-plugin.ts";
import { modelIn, runningSession } from "../agents/running.ts";
import type { HostWord } from "../core/host.ts";
import type { Answer, LearningFinish, LearningStart } from "../core/protocol.ts";
import type { Claim, SignalGiven } from "../core/signal.ts";
import { type Found, type Present, present } from "../engine/caller.ts";
import { type Finished, finishLearning } from "../engine/finish-learning.ts";
import type { ForegroundDeps } from "../engine/foreground.ts";
import type { SessionView } from "../engine/inspect.ts";
import { expandEvents, type LookDeps, loadSkill } from "../engine/look.ts";
import { deriveSignals, giveSignal, type ReplyTaken, takeReply } from "../engine/signal.ts";
import { type Started, startLearning } from "../engine/start-learning.ts";
import { useSkill } from "../engine/use-skill.ts";
import { recordOf } from "../recorder.ts";
import { lookInto } from "../store/foreign.ts";
import type { Parts } from "./parts.ts";
import type { SessionVerbs } from "./sessions.ts";

/** What agents do themselves while they work. */
export interface ForegroundVerbs {
  /** Who calls, by the host's word, with its session as it is by now. */
  present(word: HostWord): Promise<Present>;
  /** An agent begins to write a skill, and ends it. */
  startLearning(present: Present, start: LearningStart): Promise<Answer<Started>>;
  finishLearning(present: Present, finish: LearningFinish): Promise<Answer<Finished>>;
  /** An agent says that a learned skill guided its work. */
  useSkill(...of: Rest<typeof useSkill>): ReturnType<typeof useSkill>;
  /** An agent says what it should have learned, by a call or in its structured reply. */
  giveSignal(present: Present, signal: Claim): Promise<Answer<SignalGiven>>;
  takeReply(present: Present, reply: unknown): Promise<ReplyTaken>;
  /** Notes what sessions show that they should have learned. */
  deriveSignals(sessions: readonly SessionView[]): Promise<SignalGiven[]>;
  /** A skill, or one of its files, for an agent. */
  loadSkill(...of: Rest<typeof loadSkill>): ReturnType<typeof loadSkill>;
  /** More of some events of the session that calls. */
  expandEvents(...of: Rest<typeof expandEvents>): ReturnType<typeof expandEvents>;
}

/** What a verb takes beside its dependencies. */
type Rest<Verb extends (...all: never[]) => unknown> =
  Parameters<Verb> extends [unknown, ...infer Others] ? Others : never;

/** `template` is the folder of the plugin's template, for Knack's own skills. */
export function foregroundVerbs(
  parts: Parts,
  { sessions }: SessionVerbs,
  template: string | undefined,
): ForegroundVerbs {
  const { home, surroundings, store, stock, checkouts, projectAt, learnable } = parts;
  const deps = foregroundDeps(parts);
  const looking: LookDeps = {
    ...deps,
    catalog: (cwd) => stock.catalog(cwd ?? undefined),
    own: template === undefined ? [] : pluginSkills.map((name) => join(template, "skills", name)),
  };
  /** The session that calls: in an agent's transcript, or in what a program records. */
  const runningOf = async (word: HostWord): Promise<Found> => {
    const recorded =
      word.format === null && word.session !== null ? recordOf(home.spool, word.session) : null;
    if (recorded !== null && existsSync(recorded))
      return { path: recorded, session: word.session, model: null };
    return runningSession(word, surroundings, lookInto);
  };
  const sessionsIn = async (path: string) => (await sessions([path], { refresh: true })).sessions;
  const worktreeOf = async (cwd: string) => (await checkouts.of(cwd))?.worktree ?? null;
  const calling = { store, runningOf, modelIn, sessionsIn, projectOf: projectAt, worktreeOf };
  return {
    present: (word) => present(calling, word),
    startLearning: (present, start) => startLearning(deps, present, start),
    finishLearning: (present, finish) => finishLearning(deps, present, finish),
    useSkill: (present, used) => useSkill(deps, present, used),
    giveSignal: (present, signal) => giveSignal(deps, present, signal),
    takeReply: (present, reply) => takeReply(deps, present, reply),
    deriveSignals: async (sessions) => deriveSignals(deps, await learnable(sessions)),
    loadSkill: (present, wanted) => loadSkill(looking, present, wanted),
    expandEvents: (present, refs) => expandEvents(looking, present, refs),
  };
}

export function foregroundDeps(parts: Parts): ForegroundDeps {
  const { home, surroundings, dryRun, stock, publishing, refuses } = parts;
  return {
    ...publishing,
    home: surroundings.home,
    // A database that was taken away under a running server can be written to, and is gone all the same.
    refuses: async (root, id) =>
      dryRun || existsSync(home.database)
        ? refuses(root, id)
        : `${home.database} is not there any more; Knack must be started again`,
    inLibrary: async (name) => {
      if (pluginSkills.includes(name.replace(/^knack:/, ""))) return "core";
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
