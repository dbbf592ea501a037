import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { setPriority } from "node:os";
import { dirname, join } from "node:path";
import { type Home, homeOf } from "../config.ts";
import { KnackError, messageIn } from "../core/errors.ts";
import { policy } from "../core/policy.ts";
import { redact } from "../core/redact.ts";
import type { Word } from "../engine/hear.ts";
import type { SessionView } from "../engine/inspect.ts";
import type { Clock, Redactor } from "../engine/ports.ts";
import type { Note, Place } from "../hook/note.ts";
import type { WorkerSign } from "../hook/wake.ts";
import { stateFile, stateOf, type WorkerState } from "../hook/worker-state.ts";
import { type Knack, openKnack } from "../open.ts";
import { dropDrafts, jsonBytes, writeWhole } from "../store/whole-file.ts";
import { type Inbox, inboxAt, type Taken } from "./inbox.ts";

export interface WorkOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly redactor: Redactor;
  readonly clock?: Clock;
  /** Whether other programs go first. */
  readonly humble?: boolean;
}

/** What a worker did. */
export interface Worked {
  /** Another one is at it. */
  readonly busy: boolean;
  readonly notes: number;
  readonly sessions: number;
  readonly lessons: number;
  readonly drafts: number;
  readonly snapshot: boolean;
  /** Reviews that came to an end. */
  readonly reviews: number;
}

/**
 * Handles what the hooks handed over: reads, learns, publishes drafts, renews the snapshot, reviews what is due, and
 * ends. One at a time for a home; may be killed at any point, and the next one goes on from there.
 */
export async function work({
  env,
  redactor,
  clock = { now: Date.now },
  humble = true,
}: WorkOptions): Promise<Worked> {
  const home = homeOf(env);
  if (humble) yieldToOthers();
  try {
    const worked = await inTurn(home, await openKnack({ env, redactor, clock }), clock);
    if (!worked.busy)
      noteState(home, (state) => ({ ...state, doneAt: clock.now(), failures: 0, error: null }));
    return worked;
  } catch (error) {
    noteFailure(home, error, clock.now());
    throw error;
  }
}

async function inTurn(home: Home, knack: Knack, clock: Clock): Promise<Worked> {
  const until = clock.now() + policy.work.longestMs;
  try {
    if (!(await takeTurn(knack, until, clock))) return { ...nothing, busy: true };
    const projects = new Set<string>();
    const worked = await handleAll(knack, home, until, clock, projects).finally(async () => {
      rmSync(home.worker, { force: true });
      await knack.giveBack("work");
    });
    // Others may handle what comes from here on: a model takes its time.
    return { ...worked, reviews: await reviewDue(knack, [...projects]) };
  } finally {
    await knack.close();
  }
}

/** Reviews the projects that were worked in, as far as a person allows it and it is due. */
async function reviewDue(knack: Knack, projects: readonly string[]): Promise<number> {
  const done = await knack.review({ projects }).catch(async (error) => {
    // Another project's may have come to something before.
    await knack.renewSnapshot();
    throw error;
  });
  const ended = done.filter((one) => one.ended !== null);
  // What was published is to be known to the next session.
  if (ended.some((one) => one.ended?.outcome === "published")) await knack.renewSnapshot();
  return ended.length;
}

const nothing: Worked = {
  busy: false,
  notes: 0,
  sessions: 0,
  lessons: 0,
  drafts: 0,
  snapshot: false,
  reviews: 0,
};

/** The lease on the spool, from another that is about to end, or from one that died. */
async function takeTurn(knack: Knack, until: number, clock: Clock): Promise<boolean> {
  const giveUp = clock.now() + policy.work.waitMs;
  for (;;) {
    if (await knack.claim("work", until)) return true;
    if (clock.now() > giveUp) return false;
    await pause(100);
  }
}

async function handleAll(
  knack: Knack,
  home: Home,
  until: number,
  clock: Clock,
  projects: Set<string>,
): Promise<Worked> {
  const inbox = inboxAt(home.spool, policy.work);
  const isLate = () => clock.now() > until;
  const faults: unknown[] = [];
  let worked = nothing;
  await knack.repair();
  // What goes wrong in it is on the ledger, and no reason not to learn.
  await knack.maintain().catch(() => {});
  // What hooks recorded of agents that leave no transcript has no note: it lies here itself.
  const recorded = recordedIn(home.spool);
  if (recorded.length > 0)
    await knack.learn(recorded, { until: isLate, lookUntil: isLate }).catch((error) => faults.push(error));
  for (;;) {
    writeWhole(home.worker, jsonBytes({ pid: process.pid, until } satisfies WorkerSign));
    worked = add(worked, await handle(knack, inbox, isLate, faults, projects));
    if (inbox.isEmpty()) await pause(policy.work.lingerMs);
    if (!inbox.isEmpty() && !isLate()) continue;
    // Whoever leaves a note from here on sees no worker and starts one; what came before is seen now.
    rmSync(home.worker, { force: true });
    if (isLate() || inbox.isEmpty()) break;
  }
  tidy(home, clock.now());
  // Told at the very end: no note stops another.
  if (faults.length > 0) throw faults[0];
  return worked;
}

/**
 * Handles what lies in the inbox: new notes together, and one by one what did not come through before or now. What a
 * person has to mend is no note's fault: it ends the work, and counts against none.
 */
async function handle(
  knack: Knack,
  inbox: Inbox,
  isLate: () => boolean,
  faults: unknown[],
  projects: Set<string>,
): Promise<Worked> {
  const taken = inbox.take();
  const [words, places] = [
    taken.filter(({ note }) => isWord(note)),
    taken.filter(({ note }) => !isWord(note)),
  ];
  const [alone, through]: [Taken[], Taken[]] = [[], []];
  const heard: SessionView[] = [];
  let worked: Worked = { ...nothing, notes: taken.length };
  for (const kind of [words, places]) {
    const fresh = kind.filter(({ suspect }) => !suspect);
    try {
      const { inTime, sessions, ...read } = await takeIn(knack, fresh, isLate);
      heard.push(...sessions);
      worked = add(worked, { ...nothing, sessions: read.looked, lessons: read.lessons });
      if (inTime) through.push(...fresh);
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
      const { inTime, sessions, ...read } = await takeIn(knack, [begun], isLate);
      heard.push(...sessions);
      worked = add(worked, { ...nothing, sessions: read.looked, lessons: read.lessons });
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
  // Once more for who goes on where another was killed after these were looked at.
  if (places.length > 0) await knack.deriveSignals(heard);
  const own = places.length > 0 ? await knack.publishOwn({ sessions: heard, until: isLate }) : [];
  const snapshot = await knack.renewSnapshot();
  // Only now: whoever takes over from a killed worker must know that there is something to publish.
  through.forEach(inbox.done);
  return { ...worked, drafts: own.length, snapshot };
}

/** What came of some notes. */
interface TakenIn {
  readonly sessions: readonly SessionView[];
  /** How many of them had something new, and how much they taught. */
  readonly looked: number;
  readonly lessons: number;
  /** Whether there was time for all of it. */
  readonly inTime: boolean;
}

/** Hears what the hooks said, and learns from the transcripts that they name. */
async function takeIn(knack: Knack, taken: readonly Taken[], isLate: () => boolean): Promise<TakenIn> {
  const notes = taken.map(({ note }) => note);
  await knack.hear(notes.filter(isWord));
  const paths = notes.flatMap((note) => (note.type === "place" ? filesOf(note) : []));
  if (paths.length === 0) return { sessions: [], looked: 0, lessons: 0, inTime: true };
  const { sessions, looked, findings, unread, unlooked, uncredited } = await knack.learn(paths, {
    until: isLate,
    lookUntil: isLate,
  });
  return { sessions, looked, lessons: findings.length, inTime: unread + unlooked + uncredited === 0 };
}

function recordedIn(spool: string): string[] {
  if (!existsSync(spool)) return [];
  return readdirSync(spool)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(spool, name));
}

function isWord(note: Note): note is Word {
  return note.type !== "place";
}

/** A session's transcript, and those of its subagents; what is gone has nothing to say. */
function filesOf({ transcript }: Place): string[] {
  // A folder is no transcript: whatever lies in one was not meant.
  if (!existsSync(transcript) || !statSync(transcript).isFile()) return [];
  const subagents = transcript.replace(/\.jsonl$/, "");
  return subagents !== transcript && existsSync(subagents) ? [transcript, subagents] : [transcript];
}

function add(a: Worked, b: Worked): Worked {
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

/** Takes away what nobody needs any more: old marks, recorded sessions that were read long ago, drafts and papers of killed processes. */
function tidy({ folder, seen, spool, log, cache, snapshot, models }: Home, now: number): void {
  const { seenDays, recordedDays, askedDays } = policy.work;
  drop(seen, (name, age) => name !== "projects" && age > seenDays);
  drop(spool, (name, age) => name.endsWith(".jsonl") && age > recordedDays);
  drop(join(spool, "aside"), (_, age) => age > recordedDays);
  drop(cache, (_, age) => age > seenDays);
  drop(models, (name, age) => name.startsWith("asked-") && age > askedDays);
  drop(log, (name, age) => name === "hook.log" && age > seenDays);
  for (const place of [folder, spool, log, cache, dirname(snapshot)]) dropDrafts(place, now);
  function drop(place: string, isOld: (name: string, days: number) => boolean): void {
    if (!existsSync(place)) return;
    for (const name of readdirSync(place)) {
      const path = join(place, name);
      const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
      if (isOld(name, (now - changed) / 86_400_000)) rmSync(path, { recursive: true, force: true });
    }
  }
}

function noteState(home: Home, next: (state: WorkerState) => WorkerState): void {
  writeWhole(stateFile(home), jsonBytes(next(stateOf(home))));
}

function noteFailure(home: Home, error: unknown, now: number): void {
  const said = messageIn(error);
  try {
    noteState(home, (state) => ({
      ...state,
      failures: state.failures + 1,
      error: redact(said).slice(0, 300),
      failedAt: now,
    }));
  } catch {
    // Where even that cannot be written, the next session's start says so.
  }
}

function yieldToOthers(): void {
  try {
    setPriority(10);
  } catch {
    // Where that is not allowed it works as others do.
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
