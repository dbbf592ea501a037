import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../config.ts";
import { objectOf, textOf } from "../core/json.ts";
import type { EntryOf } from "../core/ledger.ts";
import { policy } from "../core/policy.ts";
import { several } from "../core/words.ts";
import { stateOf } from "../hook/worker-state.ts";
import { ago, type Check, right, wrong } from "./check.ts";
import { readJson } from "./installation.ts";
import type { Env } from "./main.ts";
import { calledAs, onOneLine, short } from "./terminal.ts";

/** Whether what the hooks hand over is taken on, and by whom. */
export function checkWorker(home: Home, env: Env, now: number): Check[] {
  return [
    checkSpool(home, env, now),
    checkAside(home, env),
    checkState(home, env, now),
    checkLog(home, env, now),
  ];
}

export interface Waiting {
  readonly path: string;
  readonly at: number;
  /** Whether a worker was called for it: at the start of a session, or when something is shown, none is. */
  readonly isCalled: boolean;
}

/** The notes that wait, or that a killed worker has left. */
export function waitingIn(spool: string): Waiting[] {
  return [spool, join(spool, "taken")].flatMap((folder) =>
    filesIn(folder)
      .filter((path) => path.endsWith(".json"))
      .map((path) => {
        const note = objectOf(readJson(path));
        const isCalled = note?.type === "place" && textOf(note.event) !== "SessionStart";
        return { path, at: changedAt(path), isCalled: isCalled || folder !== spool };
      }),
  );
}

function checkSpool(home: Home, env: Env, now: number): Check {
  const notes = waitingIn(home.spool);
  if (notes.length === 0) return right("spool", "empty");
  const oldest = Math.min(...notes.map(({ at }) => at));
  const says = `${several(notes.length, "note")}, the oldest from ${ago(oldest, now)}`;
  const late = notes.filter(({ at, isCalled }) => isCalled && now - at > policy.doctor.patienceMs);
  if (workerIn(home, now) !== null || (late.length === 0 && notes.length < policy.doctor.notes))
    return right("spool", says);
  const because = late.length > 0 ? `${late.length} of them wait in vain for a worker` : "it grows";
  return wrong("spool", `${says}; ${because}`, `${calledAs(env)} doctor --fix`);
}

/** The notes that nobody could handle. */
export function asideIn(spool: string): string[] {
  return filesIn(join(spool, "aside"));
}

function checkAside({ spool }: Home, env: Env): Check {
  const aside = asideIn(spool);
  if (aside.length === 0) return right("aside", "no note was given up");
  return wrong(
    "aside",
    `${several(aside.length, "note")} given up after ${policy.work.tries} tries, or not readable`,
    `${calledAs(env)} doctor --fix tries once more; what it cannot read may be deleted from ${short(join(spool, "aside"), env)}`,
  );
}

/** The worker that runs now. */
function workerIn({ worker }: Home, now: number): number | null {
  const { pid, until } = objectOf(readJson(worker)) ?? {};
  if (typeof pid !== "number" || typeof until !== "number" || until < now) return null;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? pid : null;
  }
}

function checkState(home: Home, env: Env, now: number): Check {
  const { doneAt, failures, error, failedAt } = stateOf(home);
  const last = doneAt === null ? "never done" : `last done ${ago(doneAt, now)}`;
  if (failures > 0)
    return wrong(
      "worker",
      `failed ${several(failures, "time")}, last ${ago(failedAt ?? now, now)} (${onOneLine(error ?? "", 200)}); ${last}`,
      `${calledAs(env)} doctor --fix, or ${calledAs(env)} work to see it fail`,
    );
  const pid = workerIn(home, now);
  return right("worker", pid === null ? `${last}; none runs` : `runs as process ${pid}; ${last}`);
}

/** Whether what is to be done once a day is done. */
export function checkUpkeep(last: EntryOf<"maintained"> | null, env: Env, now: number): Check {
  if (last === null) return right("upkeep", "not due yet; the next worker does it");
  const { faded, purged, pruned, errors } = last.data;
  const when = `last ${ago(last.at ?? now, now)}`;
  if (errors.length > 0)
    return wrong("upkeep", `${when}: ${onOneLine(errors.join("; "), 300)}`, `${calledAs(env)} doctor --fix`);
  return right(
    "upkeep",
    `${when}: ${several(purged, "old event")} dropped, ${several(pruned, "instinct")} retired, ${faded} faded`,
  );
}

/** When a hook failed, and what it said. */
export function errorsIn({ log }: Home): { readonly at: number; readonly says: string }[] {
  let text = "";
  try {
    text = readFileSync(join(log, "hook.log"), "utf8");
  } catch {
    return []; // The best log is none.
  }
  const lines = [...text.matchAll(/^(\d{4}-\d\d-\d\dT[\d:.]+Z) (.*)$/gm)];
  return (
    lines
      .map(([, at = "", says = ""]) => ({ at: Date.parse(at), says }))
      // Before anything was learned there is nothing to look things up in.
      .filter(({ says }) => !/ENOENT.*knack\.table/.test(says))
  );
}

function checkLog(home: Home, env: Env, now: number): Check {
  const errors = errorsIn(home);
  const last = errors.at(-1);
  if (!last) return right("hook.log", "no hook failed");
  const says = `${several(errors.length, "error")}, the last ${ago(last.at, now)}: ${onOneLine(last.says, 200)}`;
  return now - last.at > policy.doctor.errorMs
    ? right("hook.log", says)
    : wrong("hook.log", says, `${calledAs(env)} doctor --fix puts the log away; if it comes back, report it`);
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => join(folder, name));
  } catch {
    return []; // A folder that is not there holds nothing; one that cannot be read is told of elsewhere.
  }
}

export function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
