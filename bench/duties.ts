import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { recordEntries } from "../src/lessons/index.ts";
import type { LedgerEntry } from "../src/records/index.ts";
import { openSqlite } from "../src/store/index.ts";
import { atMost, type Figure, inTempFolder, median, root } from "./measure.ts";

const goals = 20_000;

/** The processor time of `knack goal check` beside a ledger of 100,000 entries of goals, beyond starting node. */
export async function checkingDuties(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const [home, project] = [join(folder, ".knack"), join(folder, "harbor")];
    for (const made of [home, project]) mkdirSync(made);
    const store = await openSqlite({ path: join(home, "knack.db"), clock: { now: Date.now } });
    for (let from = 0; from < goals; from += 1_000)
      await store.transaction((tx) => recordEntries(tx, makeGoals(project, from, from + 1_000)));
    await store.close();
    const env = { HOME: folder, KNACK_HOME: home, PATH: process.env.PATH };
    const knack = (...words: string[]) =>
      spawnSync(process.execPath, [join(root, "dist/cli.js"), "goal", ...words, "--json"], {
        cwd: project,
        env,
      });
    const { goal } = JSON.parse(String(knack("open", "Measure the depth at the pier").stdout));
    const tellCpu = join(dirname(fileURLToPath(import.meta.url)), "tell-cpu.mjs");
    const measure = (...words: string[]) => {
      const stdio = ["ignore", "ignore", "inherit", "pipe"] as const;
      const done = spawnSync(process.execPath, ["--import", tellCpu, ...words], {
        cwd: project,
        env,
        stdio: [...stdio],
      });
      return Number(done.output[3]) * 1_000;
    };
    const works = [
      ["-e", "0"],
      [join(root, "dist/cli.js"), "goal", "check", "--goal", goal, "--json"],
    ];
    const times: [number[], number[]] = [[], []];
    for (let round = 0; round < 11; round++)
      for (const [at, words] of works.entries()) {
        const took = measure(...words);
        if (round > 0) times[at as 0 | 1].push(took);
      }
    const [node, check] = times.map(median) as [number, number];
    console.log(`  node -e 0 ${node.toFixed(0)} ms, knack goal check ${check.toFixed(0)} ms`);
    return [
      atMost(
        "knack goal check at 100,000 ledger entries, beyond node -e 0",
        check - node,
        200,
        " ms of processor time",
      ),
    ];
  });
}

/** Goals of five entries each: opened, seen, kept, measured, closed. */
function makeGoals(project: string, from: number, to: number): LedgerEntry[] {
  return Array.from({ length: to - from }, (_, n) => from + n).flatMap((n) => {
    const at = Date.UTC(2026, 0, 1) + n * 60_000;
    const make = (type: string, later: number, data: object) =>
      ({
        ...{
          at: at + later,
          project,
          session: `s${n >> 3}`,
          actor: "knack",
          type,
          key: `goal:g${n}:${type}`,
        },
        data: { goal: `g${n}`, ...data },
      }) as LedgerEntry;
    const factors = { novelty: 1, impact: 0.5, surprise: 0.5, relevance: 0.5, repetition: 0 };
    const facts = {
      ...{ calls: 9, failed: 2, outputChars: 900, overcome: 1, corrections: 0, retries: 1, reverted: 0 },
      ...{ dependencies: 0, tiers: ["code"], end: "ok", excerpt: "failed: node tides.mjs --mnth may" },
    };
    return [
      make("goal.opened", 0, {
        ...{ text: `Measure the depth at buoy ${n}`, category: "workflow", by: "prompt", ref: "e1" },
        ...{
          transcript: `/s/${n}.jsonl`,
          deadline: null,
          batch: null,
          prefetch: [],
          root: project,
          reader: false,
          again: null,
        },
      }),
      make("goal.observed", 1_000, {
        ...{
          observation: `o${n}`,
          text: `The lead line ${n} is short`,
          factors,
          score: 0.6,
          lead: null,
          excerpt: "",
        },
      }),
      make("goal.kept", 2_000, {
        observation: `o${n}`,
        how: "goal",
        name: `g${n}`,
        insight: `Line ${n} is short`,
      }),
      make("goal.measured", 3_000, {
        zone: "fresh",
        usedTokens: 9_000,
        windowTokens: 200_000,
        because: "5 %",
      }),
      make("goal.closed", 4_000, { outcome: "done", path: "turn-end", lesson: "kept", facts }),
    ];
  });
}
