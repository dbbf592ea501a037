import { accessSync, constants, existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { agents } from "../../agents/index.ts";
import { errorMessage, KnackError } from "../../base/index.ts";
import { type Knack, openKnack } from "../../open.ts";
import { findBrokenSettings, type Home, resolveHome, userHome } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import { findCheckout } from "../../transcripts/index.ts";
import { type AnyCall, type CliEnv, type CommandCall, defineCommand, jsonArg } from "../command.ts";
import type { Screen } from "../screen/screen.ts";
import { formatAge, wrapColumn } from "../screen/text.ts";
import { type CheckResult, type CheckResults, type DoctorContext, right, wrong } from "./check.ts";
import { fixProblems } from "./fix.ts";
import { type PluginInstallation, readInstallation } from "./installation.ts";
import { checkLibrary } from "./library.ts";
import { checkModels } from "./models.ts";
import { checkPlugin } from "./plugin.ts";
import { checkSessions } from "./sessions.ts";
import { checkWorker } from "./worker.ts";

const args = {
  fix: { type: "boolean", description: "fix what is safe to fix, and say what was done" },
  rebuild: {
    type: "boolean",
    description: "recompute everything that follows from the ledger and the events",
  },
  "dry-run": { type: "boolean", description: "with --fix or --rebuild: only say what would change" },
  ...jsonArg,
} as const;

export const doctor = defineCommand({
  about:
    "Check that everything works on this machine, and how to fix what does not. Exit 1 when a check fails.",
  args,
  run: async (call: CommandCall<typeof args>) => {
    const { screen, dryRun } = call;
    let found = await examine(call, call.args.rebuild === true && !dryRun);
    const fixed = call.args.fix ? await fixProblems(call, found) : { planned: [], done: [], failed: [] };
    if (fixed.done.length > 0) found = await examine(call, false);
    const { checks, error } = found;
    const ok = checks.every((check) => check.ok);
    call.answer({ ok, checks, fixed: fixed.done, ...(dryRun ? { would: fixed.planned } : {}) }, [
      ...fixed.planned.map((what) => `would ${what}`),
      ...fixed.done,
      ...describeChecks(checks, screen),
    ]);
    const failures = [...fixed.failed, ...(error === null ? [] : [error.message])];
    if (failures.length > 0) screen.warn(failures.map((text) => `knack: ${text}`));
    return error?.exitCode ?? (ok ? 0 : 1);
  },
});

interface Check extends CheckResult {
  readonly name: string;
}

/** All checks, and what was found on the way. */
export interface Examination {
  readonly checks: readonly Check[];
  readonly installation: PluginInstallation;
  /** Why the database cannot be used. */
  readonly error: KnackError | null;
}

async function examine({ env, screen, redactionThread }: AnyCall, rebuilding: boolean): Promise<Examination> {
  const home = resolveHome(env);
  const { knack, result, error } = await open(home, env);
  try {
    const known = knack ? (await knack.projects()).map(({ root }) => root) : [];
    const roots = [findCheckout(process.cwd())?.root ?? null, ...known];
    const installation = readInstallation(home, roots, env);
    const now = Date.now();
    const context: DoctorContext = {
      ...{ env, screen, home, installation, knack, now, path: screen.path },
      install: `${screen.knack} install claude`,
      fix: `${screen.knack} doctor --fix`,
      age: (at) => formatAge(at, now),
    };
    const results: CheckResults = {
      home: checkHome(home.folder),
      settings: checkSettings(home, roots),
      ...(knack ? await checkStore(knack, rebuilding, screen) : { database: result }),
      ...(await checkAgents(env)),
      ...checkPlugin(context, fileURLToPath(new URL("./hook.cjs", redactionThread))),
      ...(await checkSessions(context)),
      ...(await checkLibrary(context)),
      ...(await checkWorker(context)),
      ...(await checkModels(context)),
    };
    const checks = Object.entries(results).map(([name, one]) => ({ name, ...one }));
    return { checks, installation, error };
  } finally {
    await knack?.close();
  }
}

interface Opened {
  readonly knack: Knack | null;
  readonly result: CheckResult;
  readonly error: KnackError | null;
}

/** Opens the database; where the home cannot be written, a copy of it. */
async function open(home: Home, env: CliEnv, copy = false): Promise<Opened> {
  const none = { knack: null, result: right("none yet; knack sessions makes it"), error: null };
  if (!existsSync(home.database)) return none;
  try {
    return { ...none, knack: await openKnack({ env, copy }) };
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    if (error.code === "STORE_UNAVAILABLE" && !copy) return open(home, env, true);
    return { ...none, result: wrong(error.message, error.hint ?? ""), error };
  }
}

function checkHome(folder: string): CheckResult {
  // The folder itself, or the one that it would be made in.
  let place = folder;
  while (!existsSync(place) && place !== dirname(place)) place = dirname(place);
  try {
    if (!statSync(place).isDirectory()) throw new Error("it is not a folder");
    accessSync(place, constants.W_OK);
    return right(folder);
  } catch (error) {
    const says = `cannot write to ${folder}: ${errorMessage(error)}`;
    return wrong(says, "set KNACK_HOME to a folder that you can write to");
  }
}

function checkSettings(home: Home, roots: readonly (string | null)[]): CheckResult {
  const broken = findBrokenSettings(home, roots);
  if (broken.length === 0) return right("readable");
  return wrong(broken.join(" "), "fix the file, or delete it; until then Knack does not learn there");
}

async function checkStore(knack: Knack, rebuilding: boolean, screen: Screen): Promise<CheckResults> {
  const rebuilt = rebuilding ? await knack.rebuild() : [];
  const { damage, drift, entries } = await knack.check();
  const [first] = drift;
  const recomputed = rebuilt.length > 0 ? `; ${several(rebuilt.length, "row")} recomputed` : "";
  const again = "move knack.db away and run knack sessions: transcripts are read again";
  return {
    database: damage.length === 0 ? right("sound") : wrong(damage.join("; "), again),
    ledger: first
      ? wrong(
          `${several(drift.length, "row")} wrong, first ${first.what}: ${first.is}, should be ${first.shouldBe}`,
          `${screen.knack} doctor --rebuild`,
        )
      : right(`${several(entries, "entry", "entries")}, all rows follow from it${recomputed}`),
  };
}

async function checkAgents(env: CliEnv): Promise<CheckResults> {
  const results: Record<string, CheckResult> = {};
  const unused: string[] = [];
  for (const agent of agents) {
    const folders = agent.sessionFolders({ home: userHome(env), env }).filter((folder) => existsSync(folder));
    try {
      let files = 0;
      for (const folder of folders) {
        const names = statSync(folder).isFile() ? [""] : await readdir(folder, { recursive: true });
        files += names.filter((name) => agent.isSession(join(folder, name))).length;
      }
      if (folders.length === 0) unused.push(agent.name);
      else results[agent.name] = right(`${several(files, "transcript")} in ${folders.join(", ")}`);
    } catch (error) {
      results[agent.name] = wrong(errorMessage(error), "make the folder readable for you");
    }
  }
  if (unused.length === 0) return results;
  return { ...results, agents: right(`no sessions of ${unused.join(", ")} on this machine`) };
}

function describeChecks(checks: readonly Check[], screen: Screen): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const indent = " ".repeat(width + 9);
  return checks.flatMap(({ name, ok, says, repair }, at) => {
    const state = !ok ? screen.red("wrong") : repair === null ? "ok   " : screen.dim("--   ");
    // A repair that several checks in a row share is printed once.
    const isPrinted = repair === null || checks[at - 1]?.repair === repair;
    return [
      wrapColumn(`${state}  ${name.padEnd(width)}  `, says, screen.columns),
      ...(isPrinted
        ? []
        : [wrapColumn(indent, `${ok ? "to have it" : "repair"}: ${repair}`, screen.columns)]),
    ];
  });
}
