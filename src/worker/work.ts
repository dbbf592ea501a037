import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { type Home, homeOf } from "../config.ts";
import { policy } from "../core/policy.ts";
import type { Word } from "../engine/hear.ts";
import type { Clock, Redactor } from "../engine/ports.ts";
import type { Note, Place } from "../hook/note.ts";
import type { WorkerSign } from "../hook/wake.ts";
import type { WorkerState } from "../hook/worker-state.ts";
import { type Knack, openKnack } from "../open.ts";
import { jsonBytes, writeWhole } from "../store/whole-file.ts";
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
}

/**
 * Handles what the hooks handed over: reads, learns, publishes drafts, renews the snapshot, and ends. One at a time
 * for a home; may be killed at any point, and the next one goes on from there.
 */
export async function work({
  env,
  redactor,
  clock = { now: Date.now },
  humble = true,
}: WorkOptions): Promise<Worked> {
  const home = homeOf(env);
  if (humble) yieldToOthers();
  const knack = await openKnack({ env, redactor, clock });
  const until = clock.now() + policy.work.longestMs;
  const nothing: Worked = { busy: false, notes: 0, sessions: 0, lessons: 0, drafts: 0, snapshot: false };
  try {
    if (!(await takeTurn(knack, until, clock))) return { ...nothing, busy: true };
    try {
      const worked = await handleAll(knack, home, until, clock);
      noteState(home, (state) => ({ ...state, doneAt: clock.now(), failures: 0, error: null }));
      return worked;
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      noteState(home, (state) => ({
        ...state,
        failures: state.failures + 1,
        error: said.slice(0, 300),
        failedAt: clock.now(),
      }));
      throw error;
    } finally {
      rmSync(home.worker, { force: true });
      await knack.giveBack("work");
    }
  } finally {
    await knack.close();
  }
}

/** The lease on the spool, from another that is about to end, or from one that died. */
async function takeTurn(knack: Knack, until: number, clock: Clock): Promise<boolean> {
  const giveUp = clock.now() + policy.work.waitMs;
  for (;;) {
    if (await knack.claim("work", until)) return true;
    if (clock.now() > giveUp) return false;
    await pause(100);
  }
}

async function handleAll(knack: Knack, home: Home, until: number, clock: Clock): Promise<Worked> {
  const inbox = inboxAt(home.spool, policy.work);
  const isLate = () => clock.now() > until;
  let worked: Worked = { busy: false, notes: 0, sessions: 0, lessons: 0, drafts: 0, snapshot: false };
  await knack.repair();
  for (;;) {
    writeWhole(home.worker, jsonBytes({ pid: process.pid, until } satisfies WorkerSign));
    const taken = inbox.take();
    worked = add(worked, await handle(knack, inbox, taken, isLate));
    if (inbox.isEmpty()) await pause(policy.work.lingerMs);
    if (!inbox.isEmpty() && !isLate()) continue;
    // Whoever leaves a note from here on sees no worker and starts one; what came before is seen now.
    rmSync(home.worker, { force: true });
    if (isLate() || inbox.isEmpty()) break;
  }
  tidy(home, clock.now());
  return worked;
}

async function handle(
  knack: Knack,
  inbox: Inbox,
  taken: readonly Taken[],
  isLate: () => boolean,
): Promise<Worked> {
  const said = taken.filter(({ note }) => note.type !== "place");
  await knack.hear(said.map(({ note }) => note).filter(isWord));
  for (const one of said) inbox.done(one);
  const places = taken.filter(({ note }) => note.type === "place");
  const { sessions, lessons } = await readAll(knack, inbox, places, isLate);
  const drafts = places.length > 0 ? (await knack.publishOwn()).length : 0;
  const snapshot = await knack.renewSnapshot();
  return { busy: false, notes: taken.length, sessions, lessons, drafts, snapshot };
}

function isWord(note: Note): note is Word {
  return note.type !== "place";
}

/** Learns from the transcripts at these places: all together, and where that fails one by one, so that one bad file stops no other. */
async function readAll(
  knack: Knack,
  inbox: Inbox,
  places: readonly Taken[],
  isLate: () => boolean,
): Promise<Pick<Worked, "sessions" | "lessons">> {
  if (places.length === 0) return { sessions: 0, lessons: 0 };
  try {
    const paths = places.flatMap(({ note }) => (note.type === "place" ? filesOf(note) : []));
    const { looked, findings, unread, unlooked } = await knack.learn(paths, {
      until: isLate,
      lookUntil: isLate,
    });
    // What there was no time for stays where it is.
    if (unread + unlooked === 0) for (const one of places) inbox.done(one);
    return { sessions: looked, lessons: findings.length };
  } catch (error) {
    const [only, another] = places;
    if (only && !another) {
      inbox.failed(only);
      throw error;
    }
    let total = { sessions: 0, lessons: 0 };
    let first: unknown = null;
    for (const one of places) {
      try {
        const read = await readAll(knack, inbox, [one], isLate);
        total = { sessions: total.sessions + read.sessions, lessons: total.lessons + read.lessons };
      } catch (reason) {
        first ??= reason;
      }
    }
    if (first !== null) throw first;
    return total;
  }
}

/** A session's transcript, and those of its subagents; what is gone has nothing to say. */
function filesOf({ transcript }: Place): string[] {
  return [transcript, transcript.replace(/\.jsonl$/, "")].filter(
    (path, at, all) => all.indexOf(path) === at && existsSync(path),
  );
}

function add(a: Worked, b: Worked): Worked {
  return {
    busy: false,
    notes: a.notes + b.notes,
    sessions: a.sessions + b.sessions,
    lessons: a.lessons + b.lessons,
    drafts: a.drafts + b.drafts,
    snapshot: a.snapshot || b.snapshot,
  };
}

/** Takes away what nobody needs any more: old marks, recorded sessions that were read long ago, drafts of killed hooks. */
function tidy({ seen, spool, log, cache }: Home, now: number): void {
  const { seenDays, recordedDays } = policy.work;
  drop(seen, (name, age) => name !== "projects" && age > seenDays);
  drop(
    spool,
    (name, age) => (name.endsWith(".new") && age > 1) || (name.endsWith(".jsonl") && age > recordedDays),
  );
  drop(cache, (_, age) => age > seenDays);
  drop(log, (name, age) => name === "hook.log" && age > seenDays);
  function drop(folder: string, isOld: (name: string, days: number) => boolean): void {
    if (!existsSync(folder)) return;
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
      if (isOld(name, (now - changed) / 86_400_000)) rmSync(path, { recursive: true, force: true });
    }
  }
}

/** How the worker fared the last times. */
export function stateOf({ log }: Home): WorkerState {
  try {
    return JSON.parse(readFileSync(join(log, "worker.json"), "utf8"));
  } catch {
    return { doneAt: null, failures: 0, error: null, failedAt: null };
  }
}

function noteState(home: Home, next: (state: WorkerState) => WorkerState): void {
  writeWhole(join(home.log, "worker.json"), jsonBytes(next(stateOf(home))));
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
