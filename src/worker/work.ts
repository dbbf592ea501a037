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
import { type Home, resolveHome } from "../settings/index.ts";
import {
  type Inbox,
  type Note,
  openInbox,
  readWorkerState,
  type TakenNote,
  type TranscriptNote,
  type WorkerSign,
  type WorkerState,
  workerStateFile,
} from "../spool/index.ts";
import type { SessionView } from "../transcripts/index.ts";
import { type Redactor, redact } from "../trust/index.ts";

const longestMs = 60_000;
/** How long a worker with an empty inbox waits for more. */
const lingerMs = 400;
/** How long a worker waits for another that is about to end. */
const turnWaitMs = 3_000;
/** Days that session marks and recorded sessions (of agents without transcripts) are kept. */
const seenDays = 7;
const recordedDays = 30;
/** No call to a model takes this long. */
const askedDays = 1;

export interface WorkOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly redactor: Redactor;
  readonly clock?: Clock;
  readonly lowPriority?: boolean;
}

export interface WorkResult {
  /** Another worker is running. */
  readonly busy: boolean;
  readonly notes: number;
  readonly sessions: number;
  readonly lessons: number;
  readonly drafts: number;
  readonly snapshot: boolean;
  /** Finished reviews. */
  readonly reviews: number;
}

/**
 * Handles the hooks' notes: reads transcripts, learns, publishes drafts, renews the snapshot, reviews what is due, and
 * ends. One worker runs per home; it may be killed at any point, and the next one continues from there.
 */
export async function work({
  env,
  redactor,
  clock = { now: Date.now },
  lowPriority = true,
}: WorkOptions): Promise<WorkResult> {
  const home = resolveHome(env);
  if (lowPriority) lowerPriority();
  try {
    const worked = await workInTurn(home, await openKnack({ env, redactor, clock }), clock);
    if (!worked.busy)
      updateState(home, (state) => ({ ...state, doneAt: clock.now(), failures: 0, error: null }));
    return worked;
  } catch (error) {
    recordFailure(home, error, clock.now());
    throw error;
  }
}

async function workInTurn(home: Home, knack: Knack, clock: Clock): Promise<WorkResult> {
  const until = clock.now() + longestMs;
  try {
    if (!(await takeTurn(knack, until, clock))) return { ...nothing, busy: true };
    const projects = new Set<string>();
    const worked = await handleUntilDone(knack, home, until, clock, projects).finally(async () => {
      rmSync(home.worker, { force: true });
      await knack.giveBack("work");
    });
    // From here on another worker may handle new notes: a review takes long.
    return { ...worked, reviews: await reviewDue(knack, [...projects]) };
  } finally {
    await knack.close();
  }
}

/** Reviews the projects that were worked in, if the user allows it and it is due. */
async function reviewDue(knack: Knack, projects: readonly string[]): Promise<number> {
  const done = await knack.review({ projects }).catch(async (error) => {
    // Another project's review may have published something before.
    await knack.renewSnapshot();
    throw error;
  });
  const ended = done.filter((one) => one.ended !== null);
  // The next session must know what was published.
  if (ended.some((one) => one.ended?.outcome === "published")) await knack.renewSnapshot();
  return ended.length;
}

const nothing: WorkResult = {
  busy: false,
  notes: 0,
  sessions: 0,
  lessons: 0,
  drafts: 0,
  snapshot: false,
  reviews: 0,
};

/** Takes the lease on the spool, waiting for a worker that is about to end. */
async function takeTurn(knack: Knack, until: number, clock: Clock): Promise<boolean> {
  const giveUp = clock.now() + turnWaitMs;
  for (;;) {
    if (await knack.claim("work", until)) return true;
    if (clock.now() > giveUp) return false;
    await sleep(100);
  }
}

async function handleUntilDone(
  knack: Knack,
  home: Home,
  until: number,
  clock: Clock,
  projects: Set<string>,
): Promise<WorkResult> {
  const inbox = openInbox(home.spool);
  const isLate = () => clock.now() > until;
  const faults: unknown[] = [];
  let worked = nothing;
  await knack.repair();
  // Its failures are recorded in the ledger, and learning goes on.
  await knack.maintain().catch(() => {});
  // Recordings of agents without transcripts are in the spool itself and have no note.
  const recorded = listRecorded(home.spool);
  if (recorded.length > 0)
    await knack.learn(recorded, { until: isLate, lookUntil: isLate }).catch((error) => faults.push(error));
  for (;;) {
    writeFileAtomically(home.worker, jsonBytes({ pid: process.pid, until } satisfies WorkerSign));
    worked = add(worked, await handle(knack, inbox, isLate, faults, projects));
    if (inbox.isEmpty()) await sleep(lingerMs);
    if (!inbox.isEmpty() && !isLate()) continue;
    // Hooks that write a note from here on start a new worker; earlier notes are seen now.
    rmSync(home.worker, { force: true });
    if (isLate() || inbox.isEmpty()) break;
  }
  removeOldFiles(home, clock.now());
  // Thrown at the end, so that no note stops another.
  if (faults.length > 0) throw faults[0];
  return worked;
}

/**
 * Handles the inbox: new notes together, then one by one those that failed before or now. A KnackError is for the user
 * to fix and no note's fault: it ends the work and counts against none.
 */
async function handle(
  knack: Knack,
  inbox: Inbox,
  isLate: () => boolean,
  faults: unknown[],
  projects: Set<string>,
): Promise<WorkResult> {
  const taken = inbox.take();
  const places = taken.filter(({ note }) => !isHookNote(note));
  const [alone, through]: [TakenNote[], TakenNote[]] = [[], []];
  const heard: SessionView[] = [];
  let worked: WorkResult = { ...nothing, notes: taken.length };
  const learnFrom = async (notes: readonly TakenNote[]): Promise<boolean> => {
    const { inTime, sessions, looked, lessons } = await learnFromNotes(knack, notes, isLate);
    heard.push(...sessions);
    worked = add(worked, { ...nothing, sessions: looked, lessons });
    return inTime;
  };
  for (const kind of [taken.filter(({ note }) => isHookNote(note)), places]) {
    const fresh = kind.filter(({ suspect }) => !suspect);
    try {
      if (await learnFrom(fresh)) through.push(...fresh);
    } catch (error) {
      if (error instanceof KnackError) throw error;
      alone.push(...fresh);
    }
    alone.push(...kind.filter(({ suspect }) => suspect));
  }
  for (const one of alone) {
    if (isLate()) break;
    const begun = inbox.begin(one);
    if (begun === null) continue;
    try {
      const inTime = await learnFrom([begun]);
      const cleared = inbox.giveBack(begun);
      if (inTime) through.push(cleared);
    } catch (error) {
      if (error instanceof KnackError) {
        inbox.giveBack(begun);
        throw error;
      }
      faults.push(error);
    }
  }
  for (const { project } of heard) projects.add(project.id);
  // Repeated in case a worker was killed after reading these sessions.
  if (places.length > 0) await knack.deriveSignals(heard);
  const own = places.length > 0 ? await knack.publishOwn({ sessions: heard, until: isLate }) : [];
  const snapshot = await knack.renewSnapshot();
  // Only now: if this worker is killed before, the next one must publish.
  through.forEach(inbox.done);
  return { ...worked, drafts: own.length, snapshot };
}

interface NotesResult {
  readonly sessions: readonly SessionView[];
  /** Sessions with something new. */
  readonly looked: number;
  readonly lessons: number;
  /** Whether there was time for all of it. */
  readonly inTime: boolean;
}

/** Records the hooks' notes and learns from the transcripts that they name. */
async function learnFromNotes(
  knack: Knack,
  taken: readonly TakenNote[],
  isLate: () => boolean,
): Promise<NotesResult> {
  const notes = taken.map(({ note }) => note);
  await knack.hear(notes.filter(isHookNote));
  const paths = notes.flatMap((note) => (note.type === "place" ? listTranscriptFiles(note) : []));
  if (paths.length === 0) return { sessions: [], looked: 0, lessons: 0, inTime: true };
  const { sessions, looked, findings, unread, unlooked, uncredited } = await knack.learn(paths, {
    until: isLate,
    lookUntil: isLate,
  });
  return { sessions, looked, lessons: findings.length, inTime: unread + unlooked + uncredited === 0 };
}

function listRecorded(spool: string): string[] {
  if (!existsSync(spool)) return [];
  return readdirSync(spool)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(spool, name));
}

function isHookNote(note: Note): note is HookNote {
  return note.type !== "place";
}

/** A session's transcript and those of its subagents, if they still exist. */
function listTranscriptFiles({ transcript }: TranscriptNote): string[] {
  // A folder would be read with everything in it.
  if (!existsSync(transcript) || !statSync(transcript).isFile()) return [];
  const subagents = transcript.replace(/\.jsonl$/, "");
  return subagents !== transcript && existsSync(subagents) ? [transcript, subagents] : [transcript];
}

function add(a: WorkResult, b: WorkResult): WorkResult {
  return {
    busy: false,
    notes: a.notes + b.notes,
    sessions: a.sessions + b.sessions,
    lessons: a.lessons + b.lessons,
    drafts: a.drafts + b.drafts,
    snapshot: a.snapshot || b.snapshot,
    reviews: a.reviews + b.reviews,
  };
}

/** Removes old marks, recorded sessions, dead letters, caches and logs, and temporary files of killed processes. */
function removeOldFiles({ folder, seen, spool, log, cache, snapshot, models }: Home, now: number): void {
  drop(seen, (name, age) => name !== "projects" && age > seenDays);
  drop(spool, (name, age) => name.endsWith(".jsonl") && age > recordedDays);
  drop(join(spool, "aside"), (_, age) => age > recordedDays);
  drop(cache, (_, age) => age > seenDays);
  drop(models, (name, age) => name.startsWith("asked-") && age > askedDays);
  drop(log, (name, age) => name === "hook.log" && age > seenDays);
  for (const place of [folder, spool, log, cache, dirname(snapshot)]) removeStaleDrafts(place, now);
  function drop(place: string, isOld: (name: string, days: number) => boolean): void {
    if (!existsSync(place)) return;
    for (const name of readdirSync(place)) {
      const path = join(place, name);
      const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
      if (isOld(name, (now - changed) / 86_400_000)) rmSync(path, { recursive: true, force: true });
    }
  }
}

function updateState(home: Home, next: (state: WorkerState) => WorkerState): void {
  writeFileAtomically(workerStateFile(home), jsonBytes(next(readWorkerState(home))));
}

function recordFailure(home: Home, error: unknown, now: number): void {
  const said = errorMessage(error);
  try {
    updateState(home, (state) => ({
      ...state,
      failures: state.failures + 1,
      error: redact(said).slice(0, 300),
      failedAt: now,
    }));
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
