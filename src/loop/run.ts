import { createHash } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, errorMessage } from "../base/index.ts";
import { recordSpend, reserveSpend } from "../models/index.ts";
import type { Env, Settings } from "../settings/index.ts";
import type { Store } from "../store/index.ts";
import { type Redactor, scrubAll } from "../trust/index.ts";
import {
  type Brief,
  briefWorker,
  listEarlierArtifacts,
  nameArtifact,
  type RunPlaces,
  readArtifact,
} from "./brief.ts";
import { type CheckPlace, checkAttempt, runCheck } from "./checks.ts";
import type { CheckResult } from "./execution.ts";
import type { WorkerOutcome } from "./harness/harness.ts";
import { curateState, promoteChanges } from "./learn-state.ts";
import {
  advance,
  type Dispatch,
  findCutOff,
  findPending,
  findPhase,
  type LoopState,
  listArtifacts,
  type Move,
  type Pending,
} from "./machine.ts";
import { recordMove, type StoredRun } from "./record.ts";
import { renderWork } from "./render.ts";
import { clearArtifact, findMissing, listStrays, readWorkersFile, syncWork } from "./work-folder.ts";

export interface RunDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly env: Env;
  readonly settings: Settings;
  /** What is seen to at the end: that a state folder stayed as it was, and what there is to adopt, or to merge. */
  readonly conclude: (begun: StoredRun["begun"]) => Promise<RunOutcome>;
}

export type RunOutcome = Pick<Extract<Move, { kind: "verified" }>, "violation" | "candidate">;

type Unmarked<Type> = Type extends unknown ? Omit<Type, "at"> : never;

/** A run that goes on: what is to be done, and what came of it. One thing is recorded at a time. */
export class LoopRun {
  readonly #deps: RunDeps;
  #stored: StoredRun;
  #recording: Promise<unknown> = Promise.resolve();
  /** By the worker's id, what lay there before it began. */
  readonly #straysBefore = new Map<string, readonly string[]>();

  constructor(deps: RunDeps, stored: StoredRun) {
    this.#deps = deps;
    this.#stored = stored;
    mkdirSync(this.places.workspace, { recursive: true, mode: 0o700 });
    // What an agent's own workers leave lies there until they are submitted.
    this.#sync({ tidies: stored.begun.harness !== clientHarness });
  }

  get begun(): StoredRun["begun"] {
    return this.#stored.begun;
  }

  get state(): LoopState {
    return this.#stored.state;
  }

  get pending(): Pending {
    return findPending(this.state);
  }

  get places(): RunPlaces {
    const { work, workspace, state } = this.begun;
    return { work, workspace, state };
  }

  /** When the work at hand has to stop; consolidation has until the deadline itself, and a run may always end. */
  get cutOff(): number | null {
    const { setup } = this.state;
    const phase = findPhase(this.state);
    if (phase === null) return null;
    return phase === "memory-consolidation" ? setup.goal.deadline : findCutOff(setup);
  }

  brief(asked: Dispatch): Brief {
    return briefWorker(asked, this.state, this.places, this.#deps.clock.now());
  }

  /** Makes room for what workers will leave. What lies there beside it is not theirs. */
  prepare(workers: readonly Dispatch[]): void {
    const strays = this.#listStrays();
    for (const asked of workers) {
      clearArtifact(this.begun.work, nameArtifact(asked));
      this.#straysBefore.set(asked.id, strays);
    }
  }

  /** Takes what a worker left; a worker that nobody waits for any more is ignored. */
  async take(asked: Dispatch, outcome: WorkerOutcome): Promise<void> {
    const usd = outcome.usd ?? 0;
    if (outcome.kind === "failed") {
      const because = `${outcome.reason}: ${outcome.detail}`;
      return this.#record(asked, { kind: "failed", worker: asked.id, because, usd });
    }
    const read = await this.#read(asked);
    if ("because" in read)
      return this.#record(asked, { kind: "failed", worker: asked.id, because: read.because, usd });
    const { brought } = await scrubAll(this.#deps.redactor, { brought: read.brought });
    const summary = outcome.summary || "no summary";
    return this.#record(asked, { kind: "returned", worker: asked.id, brought, summary, usd });
  }

  async #read(asked: Dispatch) {
    const before = this.#straysBefore.get(asked.id) ?? [];
    const findStray = () => this.#listStrays().find((path) => !before.includes(path));
    // Others that are at it may be about to rename what they write.
    if (findStray() !== undefined && this.#listAwaited().length > 1) await sleep(renameMs);
    // Nobody can tell which of them it was: it is the fault of each.
    const extra = findStray();
    if (extra !== undefined) return { because: `it left another artifact: ${extra}` };
    const artifact = nameArtifact(asked);
    const file = readWorkersFile(this.begun.work, artifact);
    if ("because" in file) return file;
    const read = readArtifact(asked, this.state, file.value);
    return "misfit" in read ? { because: `${artifact} is malformed: ${read.misfit}` } : read;
  }

  /** Files among a run's own that are neither its artifacts nor awaited: some worker left them. */
  #listStrays(state = this.state): readonly string[] {
    const own = [...renderWork(state, digestText).keys(), ...listEarlierArtifacts(state)];
    return listStrays(this.begun.work, state.setup, new Set([...own, ...this.#listAwaited()]));
  }

  #listDispatched(): readonly Dispatch[] {
    return this.pending.kind === "dispatch" ? this.pending.workers : [];
  }

  /** The artifacts of the workers that are at it. */
  #listAwaited(): readonly string[] {
    return this.#listDispatched().map(nameArtifact);
  }

  /** Does what is Knack's own to do, and nobody else's. */
  async work(kind: "check" | "assess" | "promote" | "curate" | "verify", signal: AbortSignal): Promise<void> {
    const move = await this.#doOwn(kind, signal);
    if (!signal.aborted) await this.record(move);
  }

  async #doOwn(kind: Parameters<LoopRun["work"]>[0], signal: AbortSignal): Promise<Unmarked<Move>> {
    const { state } = this;
    const place: CheckPlace = { ...this.places, env: this.#deps.env, signal };
    switch (kind) {
      case "check": {
        const group = state.execution?.group ?? [];
        return { kind: "checked", results: await Promise.all(group.map((one) => checkAttempt(one, place))) };
      }
      case "assess":
        return { kind: "assessed", results: await this.#assess(place) };
      case "promote":
        return this.#commit(async () => ({
          kind: "promoted",
          improved: await promoteChanges(this.#stateDeps()),
        }));
      case "curate":
        return this.#commit(async () => ({ kind: "curated", curated: await curateState(this.#stateDeps()) }));
      case "verify":
        this.#sync({ tidies: true });
        return {
          kind: "verified",
          missing: findMissing(this.begun.work, listArtifacts(state.setup)),
          ...(await this.#deps.conclude(this.begun)),
        };
    }
  }

  async #assess(place: CheckPlace): Promise<readonly CheckResult[]> {
    const results: CheckResult[] = [];
    for (const { id, check } of this.state.strategy?.successCriteria ?? []) {
      const found = await runCheck(check, place);
      if (found !== null) results.push({ id, ...found });
    }
    return results;
  }

  #stateDeps() {
    const { run, state: folder, work, workspace, branch } = this.begun;
    const { clock, env } = this.#deps;
    const result = branch === null ? null : workspace;
    return { run, folder, work, result, state: this.state, at: clock.now(), searchPath: env.PATH };
  }

  async #commit(work: () => Promise<Unmarked<Move>>): Promise<Unmarked<Move>> {
    try {
      return await work();
    } catch (error) {
      return { kind: "refused", because: errorMessage(error) };
    }
  }

  /** Stops a run whose time or money is up. */
  stop(because: string): Promise<void> {
    const { deadline } = this.state.setup.goal;
    const mayConsolidate = deadline === null || this.#deps.clock.now() < deadline;
    return this.record({ kind: "stopped", because, mayConsolidate });
  }

  /** Records a worker's move, if it is still waited for. */
  #record(asked: Dispatch, move: Unmarked<Move>): Promise<void> {
    const isOpen = () => this.#listDispatched().some(({ id }) => id === asked.id);
    return this.#queue(async () => {
      if (!isOpen()) return;
      // Who works beside it is not to be blamed for what it left.
      const artifact = nameArtifact(asked);
      if (move.kind === "failed" && !listEarlierArtifacts(this.state).includes(artifact))
        rmSync(join(this.begun.work, artifact), { recursive: true, force: true });
      await this.#append(move);
    });
  }

  record(move: Unmarked<Move>): Promise<void> {
    return this.#queue(() => this.#append(move));
  }

  #queue(work: () => Promise<void>): Promise<void> {
    const next = this.#recording.then(work);
    this.#recording = next.catch(() => {});
    return next;
  }

  async #append(move: Unmarked<Move>): Promise<void> {
    const at = this.#deps.clock.now();
    const before = this.#listDispatched().map(({ id }) => id);
    const marked = { ...move, at } as Move;
    const next = advance(this.state, marked);
    // Nobody goes on with what has ended, so that its files are there before it has.
    if (next.place.kind === "ended") this.#sync({ tidies: true }, next);
    this.#stored = await recordMove(this.#deps.store, this.#stored, marked);
    const fresh = this.#listDispatched().filter(({ id }) => !before.includes(id));
    this.#sync({ tidies: fresh.length === this.#listDispatched().length });
    this.prepare(fresh);
  }

  /** Brings the work folder to what the run is; with `tidies`, while no worker is at it, removes what is not its own. */
  #sync({ tidies }: { readonly tidies: boolean }, state = this.state): void {
    const { work } = this.begun;
    if (tidies) for (const path of this.#listStrays(state)) rmSync(join(work, path), { force: true });
    syncWork(work, renderWork(state, digestText), this.#listAwaited());
  }

  /** Sets aside what a worker may cost, has it run, and records what it did cost. */
  async spend(
    harness: string,
    run: (maxUsd: number) => Promise<WorkerOutcome>,
  ): Promise<WorkerOutcome | { readonly hold: string }> {
    const { clock, settings, store } = this.#deps;
    const { begun } = this;
    const [at, perWorker] = [clock.now(), settings["loop.budgetCall"]];
    const purpose = `loop:${begun.run}`;
    const limits = { usdPerDay: settings["loop.budgetDay"], usdPerCall: perWorker, from: "loop" } as const;
    const call = { call: `w${begun.run}-${++this.#calls}-${at}`, model: harness, purpose };
    const together = { purpose, usd: begun.usd, since: this.state.setup.startedAt, setting: "loop.budget" };
    const estimate = Math.min(leastUsd, perWorker);
    const who = { project: this.#stored.project, session: null };
    const wanted = { call, at, together, estimate, extraUsd: perWorker - estimate };
    const reserved = await reserveSpend({ store, limits }, wanted, who);
    if ("hold" in reserved) return reserved;
    const outcome = explainSpend(await run(reserved.usdAtMost), reserved.usdAtMost < perWorker);
    const ok = outcome.kind === "returned";
    // A command is a person's own; an agent that does not say what it cost may have cost all of it, if it was there.
    const isFree = harness.startsWith("command:") || (!ok && outcome.reason === "unavailable");
    const usd = outcome.usd ?? (isFree ? 0 : reserved.usdAtMost);
    const end = {
      inputTokens: 0,
      outputTokens: 0,
      usd,
      estimated: outcome.usd === null,
      ms: clock.now() - at,
    };
    const because = ok ? null : `${outcome.reason}: ${outcome.detail}`;
    await recordSpend({ store, clock }, call, { ...end, ok, because }, who);
    return { ...outcome, usd };
  }

  #calls = 0;
}

/** The harness of runs whose workers are somebody's own subagents. */
export const clientHarness = "client";

/** Names the limit that a worker went beyond, so that a person knows which one to change. */
function explainSpend(outcome: WorkerOutcome, isRest: boolean): WorkerOutcome {
  if (outcome.kind !== "failed" || outcome.reason !== "spend") return outcome;
  const limit = isRest ? "what was left of loop.budget or loop.budgetDay" : "loop.budgetCall";
  return { ...outcome, detail: `${outcome.detail} (${limit})` };
}

/** How long a file may be there that a worker is about to rename. */
const renameMs = 200;

/** A worker that has less than this left is not started. */
const leastUsd = 0.02;

export function digestText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
