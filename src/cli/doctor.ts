import { accessSync, constants, existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname } from "node:path";
import { agents } from "../agents/index.ts";
import { type Home, homeOf, userHome } from "../config.ts";
import { type Knack, openKnack } from "../open.ts";
import { brokenSettings } from "../settings.ts";
import { createCheckouts } from "../sources/checkouts.ts";
import { defineVerb, type Env } from "./main.ts";
import { counted, paintFor, printLines } from "./terminal.ts";

export const doctor = defineVerb({
  about: "Is Knack itself in order, and what to do if not. Exit 1 when something is wrong.",
  args: {
    rebuild: { type: "boolean", description: "compute anew what follows from the ledger and the events" },
    "dry-run": { type: "boolean", description: "with --rebuild: only say what would change" },
    json: { type: "boolean", description: "print one JSON object" },
  },
  run: async ({ args, env }) => {
    const home = homeOf(env);
    const checks: Check[] = [checkHome(home.folder)];
    const roots = [(await createCheckouts().of(process.cwd()))?.root ?? null];
    if (existsSync(home.database)) {
      const knack = await openKnack({ env });
      try {
        checks.push(...(await checkStore(knack, args.rebuild === true && args["dry-run"] !== true)));
        roots.push(...(await knack.projects()).map(({ root }) => root));
      } finally {
        await knack.close();
      }
    } else
      checks.push({ name: "database", ok: true, says: "none yet; knack sessions makes it", repair: null });
    checks.push(checkSettings(home, roots), ...(await checkAgents(env)));
    const ok = checks.every((check) => check.ok);
    if (args.json) process.stdout.write(`${JSON.stringify({ ok, checks }, null, 2)}\n`);
    else print(checks, env);
    return ok ? 0 : 1;
  },
});

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly says: string;
  readonly repair: string | null;
}

function checkHome(folder: string): Check {
  // The folder itself, or the one that it would be made in.
  let place = folder;
  while (!existsSync(place) && place !== dirname(place)) place = dirname(place);
  try {
    if (!statSync(place).isDirectory()) throw new Error("is not a folder");
    accessSync(place, constants.W_OK);
    return { name: "home", ok: true, says: folder, repair: null };
  } catch (error) {
    const says = `${folder} cannot be written: ${error instanceof Error ? error.message : error}`;
    return { name: "home", ok: false, says, repair: "set KNACK_HOME to a folder that you can write to" };
  }
}

function checkSettings(home: Home, roots: readonly (string | null)[]): Check {
  const broken = brokenSettings(home, roots);
  if (broken.length === 0) return { name: "settings", ok: true, says: "can be read", repair: null };
  return {
    name: "settings",
    ok: false,
    says: broken.join(" "),
    repair: "mend the file, or delete it; until then nothing is learned there",
  };
}

async function checkStore(knack: Knack, rebuilding: boolean): Promise<Check[]> {
  const rebuilt = rebuilding ? await knack.rebuild() : [];
  const { damage, drift, entries } = await knack.check();
  const [worst] = drift;
  const wrong =
    worst &&
    `${counted(drift.length, "row")} wrong, first ${worst.what}: ${worst.is}, should be ${worst.shouldBe}`;
  const mended = rebuilt.length > 0 ? `; ${counted(rebuilt.length, "row")} computed anew` : "";
  return [
    {
      name: "database",
      ok: damage.length === 0,
      says: damage.length === 0 ? "sound" : damage.join("; "),
      repair:
        damage.length === 0 ? null : "move knack.db away and run knack sessions: transcripts are read anew",
    },
    {
      name: "ledger",
      ok: drift.length === 0,
      says:
        wrong ??
        `${counted(entries, "entry").replace("entrys", "entries")}, all rows follow from it${mended}`,
      repair: worst ? "knack doctor --rebuild" : null,
    },
  ];
}

async function checkAgents(env: Env): Promise<Check[]> {
  const checks: Check[] = [];
  for (const agent of agents) {
    const folders = agent.sessionFolders({ home: userHome(env), env }).filter((folder) => existsSync(folder));
    let files = 0;
    const unreadable: string[] = [];
    for (const folder of folders) {
      try {
        files += (await readdir(folder, { recursive: true })).filter((name) =>
          name.endsWith(".jsonl"),
        ).length;
      } catch (error) {
        unreadable.push(`${folder}: ${error instanceof Error ? error.message : error}`);
      }
    }
    const found =
      folders.length === 0
        ? "no sessions on this machine"
        : `${counted(files, "transcript")} in ${folders.join(", ")}`;
    checks.push({
      name: agent.name,
      ok: unreadable.length === 0,
      says: unreadable.length === 0 ? found : unreadable.join("; "),
      repair: unreadable.length === 0 ? null : "make the folder readable for you",
    });
  }
  return checks;
}

function print(checks: readonly Check[], env: Env): void {
  const paint = paintFor(process.stdout, env);
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, ok, says, repair } of checks) {
    const state = ok ? "ok   " : paint.red("wrong");
    printLines([
      `${state}  ${name.padEnd(width)}  ${says}`,
      ...(repair ? [`${" ".repeat(width + 9)}repair: ${repair}`] : []),
    ]);
  }
}
