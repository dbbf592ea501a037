import { existsSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { install } from "../agents/claude-install.ts";
import { type Home, homeOf, isDisabled } from "../config.ts";
import { messageIn } from "../core/errors.ts";
import { policy } from "../core/policy.ts";
import { several } from "../core/words.ts";
import { installDeps } from "../install.ts";
import { type Knack, openKnack } from "../open.ts";
import { createThreadRedactor } from "../redaction/thread.ts";
import { work } from "../worker/work.ts";
import type { Check } from "./check.ts";
import { asideIn, waitingIn } from "./check-worker.ts";
import { type Installation, reachOf } from "./installation.ts";
import type { Surroundings } from "./main.ts";
import { short } from "./terminal.ts";

/** What is wrong, and what was installed. */
export interface Patient {
  readonly checks: readonly Check[];
  readonly installation: Installation;
}

/** What would be done, what was, and what could not be. */
export interface Mended {
  readonly would: readonly string[];
  readonly done: readonly string[];
  readonly failed: readonly string[];
}

/** Something that can be mended without asking anybody. */
interface Mending {
  /** `make the snapshot anew`, and the same when it is done. */
  readonly what: string;
  readonly done: string;
  /** Does it; a word for how it went, or null. */
  readonly run: () => Promise<string | null>;
}

/** Mends what is safe to mend of what is wrong, or only says what it would. */
export async function mend(
  patient: Patient,
  surroundings: Surroundings,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Mended> {
  const all = mendings(patient, surroundings);
  if (dryRun) return { would: all.map(({ what }) => what), done: [], failed: [] };
  const [done, failed]: [string[], string[]] = [[], []];
  for (const mending of all) {
    try {
      const how = await mending.run();
      done.push(how === null ? mending.done : `${mending.done}: ${how}`);
    } catch (error) {
      failed.push(`could not ${mending.what}: ${messageIn(error)}`);
    }
  }
  return { would: [], done, failed };
}

/** In the order in which one needs the other. */
function mendings({ checks, installation }: Patient, surroundings: Surroundings): Mending[] {
  const { env } = surroundings;
  const home = homeOf(env);
  const isWrong = (...names: string[]) => checks.some(({ name, ok }) => !ok && names.includes(name));
  if (isWrong("home", "database")) return [];
  const aside = asideIn(home.spool);
  const mayWork = !isDisabled(env);
  const log = short(oldLog(home), env);
  const all: [isNeeded: boolean, mending: Mending][] = [
    [
      isWrong("ledger"),
      {
        what: "compute anew what follows from the ledger",
        done: "computed anew what follows from the ledger",
        run: () => withKnack(async (knack) => several((await knack.rebuild()).length, "row")),
      },
    ],
    [
      isWrong("changes"),
      {
        what: "end what was begun",
        done: "ended what was begun",
        run: () => withKnack(async (knack) => several((await knack.repair()).length, "change")),
      },
    ],
    [
      // What a person has taken out of their settings is not put back.
      isWrong("plugin", "program", "server") && reachOf(installation) !== "nobody",
      {
        what: "generate the plugin anew",
        done: "generated the plugin anew",
        run: () => reinstall(surroundings, installation),
      },
    ],
    [
      aside.length > 0,
      {
        what: `put ${several(aside.length, "note")} back for another try`,
        done: `put ${several(aside.length, "note")} back for another try`,
        run: async () => {
          for (const path of aside) renameSync(path, join(home.spool, basename(path)));
          return null;
        },
      },
    ],
    [
      mayWork && (isWrong("worker") || aside.length + waitingIn(home.spool).length > 0),
      {
        what: "let a worker handle what waits",
        done: "let a worker handle what waits",
        run: async () => {
          const { busy, notes } = await work({ env, redactor: redactor(), humble: false });
          return busy ? "another one is at it" : several(notes, "note");
        },
      },
    ],
    [
      isWrong("upkeep"),
      {
        what: "do once more what is to be done once a day",
        done: "did once more what is to be done once a day",
        run: () =>
          withKnack(async (knack) => (await knack.maintain({ again: true }))?.errors.join("; ") || null),
      },
    ],
    [
      mayWork && isWrong("captured", "learned"),
      {
        what: "read and look through what was missed since the install",
        done: "read and looked through what was missed since the install",
        run: () => withKnack((knack) => learnMissed(knack, installation.at ?? 0)),
      },
    ],
    [
      isWrong("library"),
      {
        what: "make the index of the library anew",
        done: "made the index of the library anew",
        run: () =>
          withKnack(async (knack) => {
            const stocked = await knack.stock({ anew: true });
            return stocked === null ? "another process is at it" : several(stocked.added, "entry", "entries");
          }),
      },
    ],
    [
      isWrong("snapshot"),
      {
        what: "make the snapshot anew",
        done: "made the snapshot anew",
        run: () =>
          withKnack(async (knack) => {
            // One that only looks sound would be left as it is.
            if (existsSync(home.snapshot)) rmSync(home.snapshot);
            await knack.renewSnapshot();
            return null;
          }),
      },
    ],
    [
      isWrong("hook.log"),
      {
        what: `put the hook's log away as ${log}`,
        done: `put the hook's log away as ${log}`,
        run: async () => {
          renameSync(join(home.log, "hook.log"), oldLog(home));
          return null;
        },
      },
    ],
  ];
  return all.flatMap(([isNeeded, mending]) => (isNeeded ? mending : []));

  function redactor() {
    return createThreadRedactor(surroundings.redactionThread);
  }
  async function withKnack<T>(does: (knack: Knack) => Promise<T>): Promise<T> {
    const knack = await openKnack({ env, redactor: redactor() });
    try {
      return await does(knack);
    } finally {
      await knack.close();
    }
  }
}

async function learnMissed(knack: Knack, since: number): Promise<string> {
  const missed = (await knack.captured()).filter(
    ({ isRead, isDue, modifiedAt }) => (!isRead || isDue) && modifiedAt > since,
  );
  const until = Date.now() + policy.work.longestMs;
  const isLate = () => Date.now() > until;
  const paths = missed.map(({ path }) => path);
  const { looked, findings, sessions } = await knack.learn(paths, { until: isLate, lookUntil: isLate });
  await knack.publishOwn({ sessions, until: isLate });
  await knack.renewSnapshot();
  return `${several(looked, "session")}, ${several(findings.length, "lesson")} in them`;
}

function oldLog({ log }: Home): string {
  return join(log, "hook.log.old");
}

/** Generates the plugin anew for the Knack that runs now, wherever it is switched on. */
async function reinstall({ env, program }: Surroundings, { files }: Installation): Promise<string | null> {
  const deps = installDeps(env, program);
  for (const { isOn, root } of files) if (isOn === true) await install(deps, root);
  return null;
}
