import { accessSync, constants, existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { agents } from "../agents/index.ts";
import { type Home, homeOf, userHome } from "../config.ts";
import { KnackError, messageIn } from "../core/errors.ts";
import { several } from "../core/words.ts";
import { type Knack, openKnack } from "../open.ts";
import { brokenSettings } from "../settings.ts";
import { createCheckouts } from "../sources/checkouts.ts";
import { type Check, right, wrong } from "./check.ts";
import { checkChain } from "./check-chain.ts";
import { checkClaude } from "./check-claude.ts";
import { checkModel } from "./check-model.ts";
import { checkReviews } from "./check-review.ts";
import { checkServer } from "./check-server.ts";
import { checkUpkeep, checkWorker } from "./check-worker.ts";
import { type Installation, installationOf } from "./installation.ts";
import { defineVerb, type Env, type Surroundings } from "./main.ts";
import { type Mended, mend } from "./mend.ts";
import { calledAs, paintFor, printJson, printLines } from "./terminal.ts";
import { version } from "./version.ts";

export const doctor = defineVerb({
  about:
    "Does everything work on this machine, link by link, and what to do if not. Exit 1 when a link is broken.",
  args: {
    fix: { type: "boolean", description: "mend what is safe to mend, and say what was done" },
    rebuild: { type: "boolean", description: "compute anew what follows from the ledger and the events" },
    "dry-run": { type: "boolean", description: "with --fix or --rebuild: only say what would change" },
    json: { type: "boolean", description: "print one JSON object" },
  },
  run: async ({ args, ...surroundings }) => {
    const dryRun = args["dry-run"] === true;
    let seen = await look(surroundings, args.rebuild === true && !dryRun);
    let mended: Mended = { would: [], done: [], failed: [] };
    if (args.fix) {
      mended = await mend(seen, surroundings, { dryRun });
      if (!dryRun && mended.done.length > 0) seen = await look(surroundings, false);
    }
    const { checks, error } = seen;
    const ok = checks.every((check) => check.ok);
    const fixes = dryRun ? { fixed: [], would: mended.would } : { fixed: mended.done };
    if (args.json) printJson({ ok, checks, ...fixes });
    else print(checks, [...mended.would.map((what) => `would ${what}`), ...mended.done], surroundings.env);
    const troubles = [...mended.failed, ...(error === null ? [] : [error.message])];
    if (troubles.length > 0)
      printLines(
        troubles.map((text) => `knack: ${text}`),
        process.stderr,
      );
    return error?.exitCode ?? (ok ? 0 : 1);
  },
});

interface Seen {
  readonly checks: readonly Check[];
  readonly installation: Installation;
  /** Why the database cannot be used. */
  readonly error: KnackError | null;
}

/** Every link as it is now. */
async function look({ env, redactionThread }: Surroundings, rebuilding: boolean): Promise<Seen> {
  const home = homeOf(env);
  const now = Date.now();
  const opened = await open(home, env);
  try {
    const { knack } = opened;
    const known = knack ? (await knack.projects()).map(({ root }) => root) : [];
    const roots = [(await createCheckouts().of(process.cwd()))?.root ?? null, ...known];
    const installation = installationOf(home, roots, env);
    const running = { version, hook: fileURLToPath(new URL("./hook.cjs", redactionThread)) };
    const checks = [
      checkHome(home.folder),
      checkSettings(home, roots),
      ...(knack ? await checkStore(knack, rebuilding, env) : [opened.check]),
      ...(await checkAgents(env)),
      ...checkClaude(installation, running, env),
      await checkServer(installation, env),
      ...(await checkChain({ knack, home, installation, env, now })),
      ...checkWorker(home, env, now),
      ...(await checkModel(knack, env, now)),
      ...(knack ? await checkReviews(knack, env, now) : []),
      ...(knack ? [checkUpkeep(await knack.maintained(), env, now)] : []),
    ];
    return { checks, installation, error: opened.error };
  } finally {
    await opened.knack?.close();
  }
}

type Opened =
  | { readonly knack: Knack; readonly error: null }
  | { readonly knack: null; readonly check: Check; readonly error: KnackError | null };

/** Opens what is kept; in a home that cannot be written, a copy of it. */
async function open(home: Home, env: Env, copy = false): Promise<Opened> {
  if (!existsSync(home.database))
    return { knack: null, check: right("database", "none yet; knack sessions makes it"), error: null };
  try {
    return { knack: await openKnack({ env, copy }), error: null };
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    if (error.code === "STORE_UNAVAILABLE" && !copy) return open(home, env, true);
    return { knack: null, check: wrong("database", error.message, error.hint ?? ""), error };
  }
}

function checkHome(folder: string): Check {
  // The folder itself, or the one that it would be made in.
  let place = folder;
  while (!existsSync(place) && place !== dirname(place)) place = dirname(place);
  try {
    if (!statSync(place).isDirectory()) throw new Error("is not a folder");
    accessSync(place, constants.W_OK);
    return right("home", folder);
  } catch (error) {
    const says = `${folder} cannot be written: ${messageIn(error)}`;
    return wrong("home", says, "set KNACK_HOME to a folder that you can write to");
  }
}

function checkSettings(home: Home, roots: readonly (string | null)[]): Check {
  const broken = brokenSettings(home, roots);
  return broken.length === 0
    ? right("settings", "can be read")
    : wrong("settings", broken.join(" "), "mend the file, or delete it; until then nothing is learned there");
}

async function checkStore(knack: Knack, rebuilding: boolean, env: Env): Promise<Check[]> {
  const rebuilt = rebuilding ? await knack.rebuild() : [];
  const { damage, drift, entries } = await knack.check();
  const [worst] = drift;
  const mended = rebuilt.length > 0 ? `; ${several(rebuilt.length, "row")} computed anew` : "";
  return [
    damage.length === 0
      ? right("database", "sound")
      : wrong(
          "database",
          damage.join("; "),
          "move knack.db away and run knack sessions: transcripts are read anew",
        ),
    worst
      ? wrong(
          "ledger",
          `${several(drift.length, "row")} wrong, first ${worst.what}: ${worst.is}, should be ${worst.shouldBe}`,
          `${calledAs(env)} doctor --rebuild`,
        )
      : right(
          "ledger",
          `${several(entries, "entry").replace("entrys", "entries")}, all rows follow from it${mended}`,
        ),
  ];
}

async function checkAgents(env: Env): Promise<Check[]> {
  const checks: Check[] = [];
  const unused: string[] = [];
  for (const agent of agents) {
    const folders = agent.sessionFolders({ home: userHome(env), env }).filter((folder) => existsSync(folder));
    let files = 0;
    const unreadable: string[] = [];
    for (const folder of folders) {
      try {
        const names = statSync(folder).isFile() ? [""] : await readdir(folder, { recursive: true });
        files += names.filter((name) => agent.isSession(join(folder, name))).length;
      } catch (error) {
        unreadable.push(`${folder}: ${messageIn(error)}`);
      }
    }
    if (unreadable.length > 0)
      checks.push(wrong(agent.name, unreadable.join("; "), "make the folder readable for you"));
    else if (folders.length === 0) unused.push(agent.name);
    else checks.push(right(agent.name, `${several(files, "transcript")} in ${folders.join(", ")}`));
  }
  if (unused.length > 0) checks.push(right("agents", `no sessions of ${unused.join(", ")} on this machine`));
  return checks;
}

function print(checks: readonly Check[], before: readonly string[], env: Env): void {
  const paint = paintFor(process.stdout, env);
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, ok, says, repair }, at) => {
    const state = !ok ? paint.red("wrong") : repair === null ? "ok   " : paint.dim("--   ");
    // What several links need is said once.
    const isSaid = repair === null || checks[at - 1]?.repair === repair;
    return [
      `${state}  ${name.padEnd(width)}  ${says}`,
      ...(isSaid ? [] : [`${" ".repeat(width + 9)}${ok ? "to have it" : "repair"}: ${repair}`]),
    ];
  });
  printLines([...before, ...lines]);
}
