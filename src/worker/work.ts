import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { setPriority } from "node:os";
import { dirname, join } from "node:path";
import {
  type Clock,
  errorMessage,
  jsonBytes,
  KnackError,
  removeStaleDrafts,
  writeFileAtomically,
} from "../base/index.ts";
import { type Knack, openKnack } from "../open.ts";
import type { HookNote } from "../recall/index.ts";
import { getSessionId } from "../records/index.ts";
import { type Home, resolveHome } from "../settings/index.ts";
import {
  type Note,
  readWorkerState,
  type WorkerSign,
  wakeWorker,
  workerStateFile,
  writeVerdict,
} from "../spool/index.ts";
import type { SessionView } from "../transcripts/index.ts";
import { type Redactor, redact } from "../trust/index.ts";
import { openInbox, type TakenNote } from "./inbox.ts";

const longestMs = 60_000;
/** How long a worker with an empty inbox waits for more, and how long it waits for another where no note is left. */
const lingerMs = 400;
const turnWaitMs = 3_000;
/** How long a worker begins to have sessions judged, and how long the last of them may take beyond that. */
const judgeMs = 5 * 60_000;
const lastJudgeMs = 3 * 60_000;
/** How long a worker takes part in a team's exchange, and how long it leaves the team alone after that. */
const syncMs = 30_000;
const syncEveryMs = 10 * 60_000;
/** Days that session marks and recorded sessions (of agents without transcripts) are kept. */
const seenDays = 7;
const recordedDays = 30;
/** No call to a model takes this long. */
const askedDays = 1;

interface WorkOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly redactor: Redactor;
  /** Nobody waits for it. */
  readonly lowPriority?: boolean;
  /** The command line's script, with which a worker whose time is over starts the next. */
  readonly program?: string;
  /** Whether models may be asked afterwards, which takes long. */
  readonly asksModels?: boolean;
}

/**
 * Handles the hooks' notes: reads transcripts, learns, publishes drafts, renews the snapshot, reviews what is due, and
 * ends. One worker runs per home; it may be killed at any point, and the next one continues from there.
 */
export async function work(options: WorkOptions) {
  const { env, redactor, lowPriority = true, asksModels = true, program } = options;
  const home = resolveHome(env);
  const clock = { now: Date.now };
  if (lowPriority) lowerPriority();
  try {
    const knack = await openKnack({ env, redactor, clock });
    const worker = new Worker(knack, home, clock, lowPriority);
    const worked = await worker.run(asksModels).finally(() => knack.close());
    if (!worked.busy) updateState(home, { doneAt: clock.now(), failures: 0, error: null });
    // Hooks that saw its sign have started nobody.
    if (worker.leavesWork && program !== undefined) wakeWorker(home, program, env, clock.now());
    return worked;
  } catch (error) {
    recordFailure(home, error, clock.now());
    throw error;
  }
}

class Worker {
  /** `busy`: another worker is running. */
  private readonly worked = {
    ...{ busy: false, notes: 0, sessions: 0, lessons: 0, drafts: 0, snapshot: false },
    ...{ judged: 0, reviews: 0, synced: false },
  };
  /** The projects that were worked in. */
  private readonly projects = new Set<string>();
  /** The agents' own ids of the sessions that have ended. */
  private readonly ended = new Set<string>();
  /** Sessions in hand that may have something new. */
  private readonly latest: SessionView[] = [];
  /** Thrown at the end, so that no note stops another. */
  private readonly faults: unknown[] = [];
  private readonly knack: Knack;
  private readonly home: Home;
  private readonly clock: Clock;
  private readonly inbox: ReturnType<typeof openInbox>;
  private readonly isPatient: boolean;
  /** The sizes at which recorded sessions were read. */
  private readonly recorded = new Map<string, number>();
  private until = Number.POSITIVE_INFINITY;
  /** Its time was over before the work was, and it got somewhere, so that workers do not follow one another for ever. */
  leavesWork = false;

  constructor(knack: Knack, home: Home, clock: Clock, isPatient: boolean) {
    this.knack = knack;
    this.home = home;
    this.clock = clock;
    this.inbox = openInbox(home.spool);
    this.isPatient = isPatient;
  }

  async run(asksModels: boolean) {
    const { knack, home, worked } = this;
    if (!(await this.takeTurn())) return { ...worked, busy: true };
    await this.handleUntilDone().finally(async () => {
      rmSync(home.worker, { force: true });
      await knack.giveBack("work");
    });
    // From here on another worker may handle new notes: a network and a model take long.
    await this.syncDue();
    if (asksModels) await this.judgeDue().finally(() => this.reviewDue());
    return worked;
  }

  /** Exchanges what is shared with the team, where the person is in one and it is time. */
  private async syncDue(): Promise<void> {
    const { knack, worked, clock } = this;
    const until = clock.now() + syncMs;
    try {
      if (!knack.isSyncDue(syncEveryMs)) return;
      worked.synced = !(await knack.syncTeam({ until: () => clock.now() > until })).busy;
    } catch {
      // Why is kept with the team's state, which `knack team` shows. Nothing here waits for the network.
      return;
    }
    if (await knack.renewSnapshot()) worked.snapshot = true;
  }

  /** Takes the lease on the spool; false where another worker has it and has taken every note. */
  private async takeTurn(): Promise<boolean> {
    const { clock, knack, inbox, isPatient } = this;
    const giveUp = clock.now() + turnWaitMs;
    for (;;) {
      this.until = clock.now() + longestMs;
      if (await knack.claim("work", this.until)) return true;
      // A note that is left came after the other one had looked for the last time.
      if (clock.now() > giveUp && (inbox.isEmpty() || !isPatient)) return false;
      await sleep(100);
    }
  }

  private readonly isLate = () => this.clock.now() > this.until;

  private async handleUntilDone(): Promise<void> {
    const { knack, home, until, isLate } = this;
    await knack.repair();
    // Its failures are recorded in the ledger, and learning goes on.
    await knack.maintain().catch(() => {});
    const hasNews = () => !this.inbox.isEmpty() || this.listRecorded().length > 0;
    for (;;) {
      writeFileAtomically(home.worker, jsonBytes({ pid: process.pid, until } satisfies WorkerSign));
      await this.learnRecorded();
      await this.handleInbox();
      if (!hasNews()) await sleep(lingerMs);
      if (hasNews() && !isLate()) continue;
      // Hooks that write a note from here on start a new worker; earlier notes are seen now.
      rmSync(home.worker, { force: true });
      if (isLate() || !hasNews()) break;
    }
    this.leavesWork = isLate() && this.worked.sessions > 0 && (this.leavesWork || hasNews());
    removeOldFiles(home, await knack.eventNow());
    if (this.faults.length > 0) throw this.faults[0];
  }

  /** Learns from the recordings of agents without transcripts, which are in the spool itself and have no note. */
  private async learnRecorded(): Promise<void> {
    const { knack, isLate, recorded } = this;
    const fresh = this.listRecorded();
    for (const { path, size } of fresh) recorded.set(path, size);
    if (fresh.length === 0) return;
    const paths = fresh.map(({ path }) => path);
    await knack.learn(paths, { until: isLate, lookUntil: isLate }).catch((error) => this.faults.push(error));
  }

  /** The recordings that are new or have grown. */
  private listRecorded() {
    const { spool } = this.home;
    if (!existsSync(spool)) return [];
    return readdirSync(spool)
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => join(spool, name))
      .map((path) => ({ path, size: statSync(path, { throwIfNoEntry: false })?.size ?? 0 }))
      .filter(({ path, size }) => this.recorded.get(path) !== size);
  }

  /** Handles the inbox: new notes together, then one by one those that failed before or now. */
  private async handleInbox(): Promise<void> {
    const { knack, inbox, worked, isLate } = this;
    const taken = inbox.take();
    worked.notes += taken.length;
    const places = taken.filter(({ note }) => note.type === "place");
    // An answer counts if its session has it, so the sessions are read first.
    const answers = taken.filter(({ note }) => note.type === "offer" && note.kept !== null);
    const others = taken.filter((one) => !places.includes(one) && !answers.includes(one));
    const heard: SessionView[] = [];
    const [alone, through]: [TakenNote[], TakenNote[]] = [[], []];
    for (const kind of [others, places, answers]) {
      const fresh = kind.filter(({ suspect }) => !suspect);
      try {
        if (await this.learn(fresh, heard)) through.push(...fresh);
      } catch (error) {
        // A KnackError is for the user to fix and no note's fault: it ends the work and counts against none.
        if (error instanceof KnackError) throw error;
        alone.push(...fresh);
      }
      alone.push(...kind.filter(({ suspect }) => suspect));
    }
    for (const one of alone) if (!isLate()) through.push(...(await this.handleAlone(one, heard)));
    for (const { project } of heard) this.projects.add(project.id);
    if (places.length > 0) {
      // Repeated in case a worker was killed after reading these sessions.
      await knack.deriveSignals(heard);
      worked.drafts += (await knack.publishOwn({ sessions: this.latest.splice(0), until: isLate })).length;
    }
    if (heard.length > 0) await this.trackGoals(heard, places);
    if (heard.length > 0) await knack.tellChronic("start");
    if (await knack.renewSnapshot()) worked.snapshot = true;
    // Only now: if this worker is killed before, the next one must publish.
    through.forEach(inbox.done);
  }

  /** Opens and closes the goals of these sessions, and leaves for the hook what the latest of each owes. */
  private async trackGoals(heard: readonly SessionView[], places: readonly TakenNote[]): Promise<void> {
    const { knack, home } = this;
    const notes = new Map(places.map(({ note }) => [note.session, note]));
    const noteOf = (session: SessionView) => notes.get(getSessionId(session));
    const tracked = await knack.trackGoals(heard, (session) => {
      const note = noteOf(session);
      const event = note?.type === "place" ? note.event : null;
      return { over: event === "Stop" ? "turn" : event === "SessionEnd" ? "session" : null };
    });
    for (const { session, verdict } of tracked) {
      const note = noteOf(session);
      if (note) writeVerdict(home, note.session, { ...verdict, at: note.at });
    }
  }

  /** Handles one note that may be at fault, and returns it if that succeeded. */
  private async handleAlone(one: TakenNote, heard: SessionView[]): Promise<TakenNote[]> {
    const begun = this.inbox.begin(one);
    if (begun === null) return [];
    try {
      const isInTime = await this.learn([begun], heard);
      const cleared = this.inbox.giveBack(begun);
      return isInTime ? [cleared] : [];
    } catch (error) {
      if (error instanceof KnackError) {
        this.inbox.giveBack(begun);
        throw error;
      }
      this.faults.push(error);
      return [];
    }
  }

  /** Records the hooks' notes and learns from the transcripts that they name; false if there was no time for all of it. */
  private async learn(taken: readonly TakenNote[], heard: SessionView[]): Promise<boolean> {
    const { knack, worked, isLate } = this;
    const notes = taken.map(({ note }) => note);
    const hear = () => knack.hear(notes.filter((note): note is HookNote => note.type !== "place"));
    for (const note of notes)
      if (note.type === "place" && note.event === "SessionEnd") this.ended.add(note.session);
    const paths = notes.flatMap(listTranscriptFiles);
    if (paths.length === 0) return hear();
    const learned = await knack.learn(paths, { until: isLate, lookUntil: isLate });
    heard.push(...learned.sessions);
    this.latest.push(...learned.latest);
    worked.sessions += learned.looked;
    worked.lessons += learned.findings.length;
    const isInTime = learned.unread + learned.unlooked + learned.uncredited === 0;
    if (!isInTime) this.leavesWork = true;
    return (await hear()) && isInTime;
  }

  /** Has the sessions judged that have ended or gone quiet, if the user turned a judge on; one worker at a time. */
  private async judgeDue(): Promise<void> {
    const { knack, worked, clock, ended } = this;
    const until = clock.now() + judgeMs;
    if (!(await knack.claim("judge", until + lastJudgeMs))) return;
    try {
      const { judged } = await knack.judgeWaiting({ ended, until: () => clock.now() > until });
      worked.judged = judged.length;
    } finally {
      await knack.giveBack("judge");
    }
    // The next session offers what was learned.
    if (worked.judged > 0) await knack.renewSnapshot();
  }

  /** Reviews the projects that were worked in, if the user allows it and it is due. */
  private async reviewDue(): Promise<void> {
    const { knack, worked } = this;
    const done = await knack.review({ projects: [...this.projects] }).catch(async (error) => {
      // Another project's review may have published something before.
      await knack.renewSnapshot();
      throw error;
    });
    worked.reviews = done.filter(({ ended }) => ended !== null).length;
    // The next session must know what was published.
    if (done.some(({ ended }) => ended?.outcome === "published")) await knack.renewSnapshot();
  }
}

/** A session's transcript and those of its subagents, if they still exist. */
function listTranscriptFiles(note: Note): string[] {
  const transcript = note.type === "place" || note.type === "offer" ? note.transcript : null;
  // A folder would be read with everything in it.
  if (!transcript || !existsSync(transcript) || !statSync(transcript).isFile()) return [];
  const subagents = transcript.replace(/\.jsonl$/, "");
  return subagents !== transcript && existsSync(subagents) ? [transcript, subagents] : [transcript];
}

/** Removes old marks, recorded sessions, dead letters, caches and logs, and temporary files of killed processes. */
function removeOldFiles({ folder, seen, spool, log, cache, snapshot, models }: Home, now: number): void {
  const removeOld = (place: string, days: number, isMeant: (name: string) => boolean = () => true) => {
    for (const name of existsSync(place) ? readdirSync(place) : []) {
      const path = join(place, name);
      const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
      if (isMeant(name) && now - changed > days * 86_400_000) rmSync(path, { recursive: true, force: true });
    }
  };
  removeOld(seen, seenDays, (name) => name !== "projects");
  removeOld(spool, recordedDays, (name) => name.endsWith(".jsonl"));
  removeOld(join(spool, "aside"), recordedDays);
  removeOld(cache, seenDays);
  removeOld(models, askedDays, (name) => name.startsWith("asked-"));
  removeOld(log, seenDays, (name) => name === "hook.log");
  for (const place of [folder, spool, log, cache, dirname(snapshot)]) removeStaleDrafts(place, now);
}

function updateState(home: Home, next: Partial<ReturnType<typeof readWorkerState>>): void {
  writeFileAtomically(workerStateFile(home), jsonBytes({ ...readWorkerState(home), ...next }));
}

function recordFailure(home: Home, error: unknown, now: number): void {
  try {
    const failures = readWorkerState(home).failures + 1;
    updateState(home, { failures, error: redact(errorMessage(error)).slice(0, 300), failedAt: now });
  } catch {
    // The folder is not writable; the next session's start reports that.
  }
}

function lowerPriority(): void {
  try {
    setPriority(10);
  } catch {
    // Not permitted: it runs at normal priority.
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
