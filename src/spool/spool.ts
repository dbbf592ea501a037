import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeId } from "../base/index.ts";
import type { HookNote } from "../recall/index.ts";
import type { Home } from "../settings/index.ts";

/** A note from the hook to the worker: a small spool file, written atomically and handled once. */
export type Note =
  | HookNote
  /** A transcript has something new. The latest note of a session replaces the one before. */
  | {
      readonly type: "place";
      readonly session: string;
      readonly transcript: string;
      readonly cwd: string | null;
      readonly event: string;
      readonly at: number;
    };

/** A unique file name for a text, safe in any file system. */
export function makeFileName(text: string): string {
  if (/^\w[\w-]{0,99}$/.test(text)) return text;
  const readable = text.slice(0, 60).replace(/[^\w-]/g, "_");
  return `${readable}.${makeId("n", text)}`;
}

/** Adds a note to the spool, renamed into place so that the worker never reads half of one. */
export function writeNote(folder: string, note: Note): void {
  const unique =
    note.type === "place" ? "" : `-${note.at}-${process.pid}-${makeFileName(describeSubject(note))}`;
  const name = `${note.type}-${makeFileName(note.session)}${unique}`;
  const draft = join(folder, `${name}.${process.pid}.new`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, JSON.stringify(note), { mode: 0o600 });
    renameSync(draft, join(folder, `${name}.json`));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Distinguishes notes of one kind that a hook writes at the same time. */
function describeSubject(note: HookNote): string {
  if (note.type === "offered") return note.skill;
  if (note.type === "withheld") return note.id;
  if (note.type === "unmatched") return "prompt";
  if (note.type === "offer") return note.kept === null ? "offer" : "answer";
  if (note.type === "held") return note.goal;
  return note.type === "asked" && note.over ? `${note.lessonId}-over` : note.lessonId;
}

/** Written by a worker while it runs: it ends at `until` at the latest, in epoch milliseconds. */
export interface WorkerSign {
  readonly pid: number;
  readonly until: number;
}

/** Starts a detached worker, which outlives the hook, unless one is running. */
export function wakeWorker(home: Home, program: string, env: NodeJS.ProcessEnv, now: number): void {
  if (isWorkerRunning(home, now)) return;
  // Runs at low priority from the start; without `nice` the worker lowers it itself.
  const words = [process.execPath, program, "work"];
  const [command = "", ...rest] = existsSync(nice) ? [nice, "-n", "10", ...words] : words;
  const worker = loadChildProcess().spawn(command, rest, {
    cwd: home.folder,
    detached: true,
    stdio: "ignore",
    windowsHide: true,
    env: { ...env, KNACK_HOME: home.folder },
  });
  // Nobody to report to here; the doctor sees the spool grow.
  worker.on("error", () => {});
  worker.unref();
}

const nice = "/usr/bin/nice";

/** A sign that ends later than this was written by a clock that was ahead. */
const longestSignMs = 10 * 60_000;

/** The file is enough: a worker checks the spool once more after removing it. */
function isWorkerRunning({ worker }: Home, now: number): boolean {
  try {
    const { pid, until }: WorkerSign = JSON.parse(readFileSync(worker, "utf8"));
    if (until < now || until > now + longestSignMs) return false;
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** When the worker last finished and what failed since, for hooks and the doctor. */
interface WorkerState {
  readonly doneAt: number | null;
  readonly failures: number;
  readonly error: string | null;
  readonly failedAt: number | null;
}

export function workerStateFile({ log }: Pick<Home, "log">): string {
  return join(log, "worker.json");
}

export function readWorkerState(home: Pick<Home, "log">): WorkerState {
  try {
    return JSON.parse(readFileSync(workerStateFile(home), "utf8"));
  } catch {
    return { doneAt: null, failures: 0, error: null, failedAt: null };
  }
}

/** Loaded on demand: it takes milliseconds, and most hooks start no process. */
export function loadChildProcess(): typeof import("node:child_process") {
  return process.getBuiltinModule("node:child_process");
}
