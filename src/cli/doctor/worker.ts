import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { asObject, asString } from "../../base/index.ts";
import type { Home } from "../../settings/index.ts";
import { readWorkerState } from "../../spool/index.ts";
import { several } from "../../text/index.ts";
import { oneLine } from "../screen/text.ts";
import { type CheckResult, type CheckResults, type DoctorContext, right, wrong } from "./check.ts";
import { changedAt, readJson } from "./installation.ts";

/** How long a note may wait for a worker, and a transcript be ahead of what Knack has read: a turn takes time. */
export const patienceMs = 600_000;
/** Notes from which the queue counts as stuck. */
const mostQueued = 1_000;
/** How long an error of a hook counts. */
const errorMs = 86_400_000;

/** Checks that what the hooks queue is processed. */
export async function checkWorker(context: DoctorContext): Promise<CheckResults> {
  const upkeep = await checkUpkeep(context);
  return {
    spool: checkQueue(context),
    "dead-letters": checkDeadLetters(context),
    worker: checkLastRun(context),
    "hook.log": checkHookLog(context),
    ...(upkeep === null ? {} : { upkeep }),
  };
}

interface QueuedNote {
  readonly path: string;
  readonly at: number;
  /** Whether a worker was started for it; at the start of a session, or when something is shown, none is. */
  readonly hasWorker: boolean;
}

/** The notes that wait for a worker, or that a killed worker has left. */
export function listQueued({ spool }: Home): QueuedNote[] {
  return [spool, join(spool, "taken")].flatMap((folder) =>
    listFiles(folder)
      .filter((path) => path.endsWith(".json"))
      .map((path) => {
        const note = asObject(readJson(path));
        const isCalled = note?.type === "place" && asString(note.event) !== "SessionStart";
        return { path, at: changedAt(path) ?? 0, hasWorker: isCalled || folder !== spool };
      }),
  );
}

/** The notes that no worker could process. */
export function listDeadLetters({ spool }: Home): string[] {
  return listFiles(join(spool, "aside"));
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => join(folder, name));
  } catch {
    return []; // A folder that does not exist is empty; one that cannot be read is reported by the home's check.
  }
}

function checkQueue({ home, fix, now, age }: DoctorContext): CheckResult {
  const notes = listQueued(home);
  if (notes.length === 0) return right("empty");
  const oldest = Math.min(...notes.map(({ at }) => at));
  const says = `${several(notes.length, "note")} queued, the oldest from ${age(oldest)}`;
  const late = notes.filter(({ at, hasWorker }) => hasWorker && now - at > patienceMs).length;
  if (findWorker(home, now) !== null || (late === 0 && notes.length < mostQueued)) return right(says);
  const because = late > 0 ? `no worker has processed ${late} of them` : "the queue grows";
  return wrong(`${says}; ${because}`, fix);
}

function checkDeadLetters({ home, path, fix }: DoctorContext): CheckResult {
  const count = listDeadLetters(home).length;
  if (count === 0) return right("none");
  const folder = path(join(home.spool, "aside"));
  return wrong(
    `${several(count, "note")} given up after 3 tries, or not readable`,
    `${fix} tries once more; what it cannot read may be deleted from ${folder}`,
  );
}

/** The process id of the worker that runs now. */
function findWorker({ worker }: Home, now: number): number | null {
  const { pid, until } = asObject(readJson(worker)) ?? {};
  if (typeof pid !== "number" || typeof until !== "number" || until < now) return null;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? pid : null;
  }
}

function checkLastRun({ home, screen, fix, now, age }: DoctorContext): CheckResult {
  const { doneAt, failures, error, failedAt } = readWorkerState(home);
  const last = doneAt === null ? "has not run yet" : `last finished ${age(doneAt)}`;
  if (failures > 0)
    return wrong(
      `failed ${several(failures, "time")}, last ${age(failedAt ?? now)} (${oneLine(error ?? "", 200)}); ${last}`,
      `${fix}, or ${screen.knack} work to see it fail`,
    );
  const pid = findWorker(home, now);
  return right(pid === null ? `${last}; none is running` : `running as process ${pid}; ${last}`);
}

/** Whether the daily maintenance ran without errors. */
async function checkUpkeep({ knack, fix, now, age }: DoctorContext): Promise<CheckResult | null> {
  if (knack === null) return null;
  const last = await knack.maintained();
  if (last === null) return right("not due yet; the next worker does it");
  const { faded, purged, pruned, errors } = last.data;
  const when = `last ${age(last.at ?? now)}`;
  if (errors.length > 0) return wrong(`${when}: ${oneLine(errors.join("; "), 300)}`, fix);
  return right(
    `${when}: ${several(purged, "old event")} deleted, ${several(pruned, "lesson")} retired, ${faded} faded`,
  );
}

function checkHookLog({ home, fix, now, age }: DoctorContext): CheckResult {
  const errors = readHookErrors(home);
  const last = errors.at(-1);
  if (!last) return right("no errors");
  const says = `${several(errors.length, "error")}, the last ${age(last.at)}: ${oneLine(last.says, 200)}`;
  if (now - last.at > errorMs) return right(says);
  return wrong(says, `${fix} moves the log away; if the error comes back, report it`);
}

function readHookErrors({ log }: Home): { readonly at: number; readonly says: string }[] {
  let text = "";
  try {
    text = readFileSync(join(log, "hook.log"), "utf8");
  } catch {
    return []; // No hook has failed.
  }
  return (
    [...text.matchAll(/^(\d{4}-\d\d-\d\dT[\d:.]+Z) (.*)$/gm)]
      .map(([, at = "", says = ""]) => ({ at: Date.parse(at), says }))
      // Before anything was learned there is no snapshot to read.
      .filter(({ says }) => !/ENOENT.*knack\.table/.test(says))
  );
}
