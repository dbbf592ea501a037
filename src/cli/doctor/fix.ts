import { renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { install } from "../../agents/index.ts";
import { errorMessage } from "../../base/index.ts";
import type { Knack } from "../../open.ts";
import { isDisabled, resolveHome } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import { createThreadRedactor } from "../../trust/index.ts";
import { work } from "../../worker/index.ts";
import type { AnyCall } from "../command.ts";
import { installDeps } from "../commands/install.ts";
import { withKnack } from "../knack.ts";
import type { Examination } from "./doctor.ts";
import { findReach, listEnabling } from "./installation.ts";
import { listDeadLetters, listQueued } from "./worker.ts";

/** What would be fixed, what was, and what could not be. */
interface FixResult {
  readonly planned: readonly string[];
  readonly done: readonly string[];
  readonly failed: readonly string[];
}

/** Something that can be fixed without asking anybody. */
interface DoctorFix {
  readonly isNeeded: boolean;
  /** Before and after: `rebuild`, `rebuilt`. */
  readonly verb: readonly [string, string];
  readonly what: string;
  /** Fixes it. Returns how it went, or null. */
  readonly run: () => Promise<string | null>;
}

/** Fixes what is safe to fix; with --dry-run only says what. */
export async function fixProblems(call: AnyCall, found: Examination): Promise<FixResult> {
  const result = { planned: [] as string[], done: [] as string[], failed: [] as string[] };
  for (const { isNeeded, verb, what, run } of listFixes(call, found)) {
    if (!isNeeded) continue;
    if (call.dryRun) {
      result.planned.push(`${verb[0]} ${what}`);
      continue;
    }
    try {
      const how = await run();
      result.done.push(`${verb[1]} ${what}${how === null ? "" : `: ${how}`}`);
    } catch (error) {
      result.failed.push(`could not ${verb[0]} ${what}: ${errorMessage(error)}`);
    }
  }
  return result;
}

/** All fixes, in the order in which one needs the other. */
function listFixes(call: AnyCall, { checks, installation }: Examination): DoctorFix[] {
  const { env, screen, redactionThread } = call;
  const home = resolveHome(env);
  const isWrong = (...names: string[]) => checks.some(({ name, ok }) => !ok && names.includes(name));
  if (isWrong("home", "database")) return [];
  const deadLetters = listDeadLetters(home);
  const mayWork = !isDisabled(env);
  const oldLog = join(home.log, "hook.log.old");
  const inKnack = (run: (knack: Knack) => Promise<string | null>) => () =>
    withKnack(call, run, { reads: true, repair: false });
  return [
    {
      isNeeded: isWrong("ledger"),
      verb: ["recompute", "recomputed"],
      what: "what follows from the ledger",
      run: inKnack(async (knack) => several((await knack.rebuild()).length, "row")),
    },
    {
      isNeeded: isWrong("changes"),
      verb: ["finish", "finished"],
      what: "interrupted changes",
      run: inKnack(async (knack) => several((await knack.repair()).length, "change")),
    },
    {
      // What a person has removed from their settings is not put back.
      isNeeded: isWrong("plugin", "program", "server") && findReach(installation) !== "nowhere",
      verb: ["regenerate", "regenerated"],
      what: "the plugin",
      run: async () => {
        for (const { root } of listEnabling(installation)) await install(installDeps(call), root);
        return null;
      },
    },
    {
      isNeeded: deadLetters.length > 0,
      verb: ["queue", "queued"],
      what: `${several(deadLetters.length, "dead letter")} again`,
      run: async () => {
        for (const path of deadLetters) renameSync(path, join(home.spool, basename(path)));
        return null;
      },
    },
    {
      isNeeded: mayWork && (isWrong("worker") || deadLetters.length + listQueued(home).length > 0),
      verb: ["run", "ran"],
      what: "a worker on the queue",
      run: async () => {
        const redactor = createThreadRedactor(redactionThread);
        const { busy, notes } = await work({ env, redactor, lowPriority: false });
        return busy ? "another one is running" : several(notes, "note");
      },
    },
    {
      isNeeded: isWrong("upkeep"),
      verb: ["repeat", "repeated"],
      what: "the daily maintenance",
      run: inKnack(async (knack) => (await knack.maintain({ again: true }))?.errors.join("; ") || null),
    },
    {
      isNeeded: mayWork && isWrong("captured", "learned"),
      verb: ["learn", "learned"],
      what: "from the sessions since the install that were missed",
      run: inKnack((knack) => learnMissed(knack, installation.at ?? 0)),
    },
    {
      isNeeded: isWrong("library"),
      verb: ["rebuild", "rebuilt"],
      what: "the index of the library",
      run: inKnack(async (knack) => {
        const stocked = await knack.stock({ anew: true });
        return stocked === null ? "another process is doing it" : several(stocked.added, "entry", "entries");
      }),
    },
    {
      isNeeded: isWrong("snapshot"),
      verb: ["rebuild", "rebuilt"],
      what: "the snapshot",
      run: inKnack(async (knack) => {
        // One that only looks valid would not be replaced.
        rmSync(home.snapshot, { force: true });
        await knack.renewSnapshot();
        return null;
      }),
    },
    {
      isNeeded: isWrong("hook.log"),
      verb: ["move", "moved"],
      what: `the hook's log to ${screen.path(oldLog)}`,
      run: async () => {
        renameSync(join(home.log, "hook.log"), oldLog);
        return null;
      },
    },
  ];
}

/** How long missed sessions are read; `knack learn` reads the rest. */
const learnMs = 60_000;

async function learnMissed(knack: Knack, since: number): Promise<string> {
  const missed = (await knack.captured()).filter(
    ({ isRead, isDue, modifiedAt }) => (!isRead || isDue) && modifiedAt > since,
  );
  const until = Date.now() + learnMs;
  const isLate = () => Date.now() > until;
  const paths = missed.map(({ path }) => path);
  const { looked, findings, sessions } = await knack.learn(paths, { until: isLate, lookUntil: isLate });
  await knack.publishOwn({ sessions, until: isLate });
  await knack.renewSnapshot();
  return `${several(looked, "session")}, ${several(findings.length, "finding")}`;
}
